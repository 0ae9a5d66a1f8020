"""The peak rates that operators are compared with, and the names by which users choose them."""

from __future__ import annotations

import re
from math import inf
from shlex import quote
from typing import TYPE_CHECKING, Final, NamedTuple

from profile_analyze.advice.names import did_you_mean, likely_names, similar_names
from profile_analyze.advice.peaks import missing_rate_advice
from profile_analyze.advice.words import DTYPE_WORDS
from profile_analyze.errors import PeaksError, QuantityError
from profile_analyze.roofline.devices import CONFIDENCES, DEVICES, DTYPES, Device
from profile_analyze.units import parse_quantity

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from profile_analyze.model.terms import DeviceKind

_LEAST_RATE: Final = 1e-30
_LARGEST_RATE: Final = 1e30
_LEAST_WITHOUT_UNIT: Final = 1e9
"""Lower rates need a unit: users who write `19.5:1555` mean TFLO/s and GB/s."""
_PROBABLE_PREFIXES: Final[Mapping[str, tuple[tuple[float, str], ...]]] = {
    "FLO/s": ((1e4, "T"), (1e7, "G"), (_LEAST_WITHOUT_UNIT, "M")),
    "byte/s": ((10.0, "T"), (1e5, "G"), (_LEAST_WITHOUT_UNIT, "M")),
}
"""For each unit: limits, and the prefix that a bare number below the limit probably lacks. Data
sheets write `19.5` for TFLO/s, `1555` for GB/s, and `2.04` for TB/s."""
DEFAULT_DTYPE: Final = "fp32"
TF32: Final = "tf32"
"""Tensor cores may use this precision for operators in FP32. No profile has it as a dtype."""
STABLE_DOUBT: Final = 0.03
"""A measured rate is stable if its doubt is at most this."""
_KINDS: Final[Mapping[str, tuple[str, float]]] = {
    "G": (" for a CPU", 1e12),
    "T": (" for a GPU", 1e14),
}
"""For each prefix of a rate in FLO/s: the kind of device that has such rates, and a limit in bytes
per second. The bandwidth of such a device is below the limit."""
PLAUSIBLE_RIDGES: Final = (0.5, 1000.0)
"""FLO/byte. The ridge points of all known devices are between these limits."""
VENDORS: Final = frozenset(("nvidia", "amd", "tesla", "geforce", "instinct"))
"""Words that drivers and shops write before the name of a device."""
_MOST_SUGGESTIONS: Final = 4
ANY_DTYPE: Final = "any"
"""Stands for every dtype if only one rate is known, as in `19.5T:1555G`."""
AS_GIVEN: Final = "as given"
"""The `source` of peaks that the user typed as two rates."""


class Peaks(NamedTuple):
    """The peak rates of a device."""

    name: str
    flops: tuple[tuple[str, float], ...]
    """FLO/s by dtype. The dtype `any` stands for every dtype."""
    bandwidth: float
    """Bytes per second."""
    source: str
    """The source of the rates, for people."""
    dtype: str = DEFAULT_DTYPE
    """The dtype that operators of unknown dtype are assumed to have."""
    device_kind: DeviceKind | None = None
    """`cpu` or `gpu`; None if it is unknown."""
    threads: int | None = None
    """The number of CPU threads that reach the rates; None if it is unknown."""
    doubt: float = 0.0
    """How much too low the rates may be, as a share of the real rates; 0 if they were not
    measured."""
    measured_by: str = ""
    """The value of `--peaks` that measures the rates again, such as `here!`; empty if the rates
    were not measured."""
    dtype_is_named: bool = False
    """Whether the user named `dtype`. It may then replace FP32: see `replaces_fp32`."""
    typed: str = "DEVICE"
    """The value of `--peaks` without a dtype, such as `a100-40gb`; the placeholder `DEVICE` if that
    value names no device."""

    def rate(self, dtype: str | None) -> float:
        """Return the peak FLO/s in `dtype`; None means `self.dtype`. NaN if the rate is unknown."""
        rates = dict(self.flops)
        return rates.get(dtype or self.dtype, rates.get(ANY_DTYPE, float("nan")))

    def has_faster_tf32(self) -> bool:
        """Return whether TF32 is faster than FP32 on this device."""
        return dict(self.flops).get(TF32, 0.0) > self.rate(DEFAULT_DTYPE)

    def with_rate_of(self, dtype: str) -> str:
        """Return the option that chooses the rate of `dtype`: `--peaks a100-40gb:tf32`."""
        return f"--peaks {quote(f'{self.typed}:{dtype}')}"

    def ridge(self, dtype: str | None = None) -> float:
        """Return the ridge point in FLO/byte: operators of a lower intensity are memory-bound."""
        return self.rate(dtype) / self.bandwidth


class Measured(NamedTuple):
    """The rates that `threads` threads of this machine reach: see `roofline.measure`."""

    threads: int
    flops: float
    """FLO/s in the fastest product of single-precision matrices."""
    bandwidth: float
    """Bytes read and written per second in the fastest copy or triad."""
    flops_doubt: float
    """How much too low `flops` may be, as a share of the real rate."""
    bandwidth_doubt: float
    flops_when: str = ""
    """The local date and time at which `flops` was measured, for people."""
    bandwidth_when: str = ""
    """The same for `bandwidth`."""


def parse_peaks(spec: str) -> Peaks:
    """Parse the name of a device, or two rates.

    Examples of names are `a100-80gb-sxm` and, with a dtype, `h100-sxm:fp16`. Two rates look like
    `19.5T:1555G`: FLO/s and bytes per second. Only the command line accepts files, `here` and
    `auto`. Raises `PeaksError` for any other text.
    """
    if not isinstance(spec, str):
        raise PeaksError(f"{spec!r} is not a text that names peaks, such as 19.5T:1555G")
    first, colon, second = (part.strip() for part in spec.partition(":"))
    if colon and not (_starts_with_letter(first) and _starts_with_letter(second)):
        return _two_rates(spec, first, second)
    return peaks_of(DEVICES, first, second or None)


def _starts_with_letter(text: str) -> bool:
    """Return whether `text` may name a device or a dtype. Rates start with a digit."""
    return text[:1].isalpha()


def peaks_of(devices: Iterable[Device], name: str, dtype: str | None) -> Peaks:
    """Return the peak rates of the device called `name`, with `dtype` as the default dtype.

    Without a `dtype`, the default is FP32, or `any` if the device has one rate for every dtype.
    Raises `PeaksError` if no single device matches, or if the device has no rate for the dtype.
    """
    device = find_device(name, devices)
    flops = tuple((name, rate * 1e12) for name, rate in device.rates.items())
    confidence = CONFIDENCES.get(device.confidence, "")
    source = "; ".join(filter(None, (device.source, confidence, device.remark)))
    bandwidth = device.bandwidth_gb_s * 1e9
    typed = "-".join(words_of(device.name))
    peaks = _checked(
        Peaks(device.name, flops, bandwidth, source, device_kind=device.kind, typed=typed)
    )
    return _with_dtype(peaks, dtype)


def _two_rates(spec: str, flops: str, bandwidth: str) -> Peaks:
    try:
        rate, bytes_per_s = parse_quantity(flops, "FLO/s"), parse_quantity(bandwidth, "byte/s")
    except QuantityError as error:
        raise PeaksError(
            f"{spec!r}: {error}; write FLO/s and bytes per second, as in 19.5T:1555G, or a device "
            f"and one of {', '.join(DTYPES)}, as in h100-sxm:fp16"
        ) from None
    peaks = _checked(Peaks(spec, ((ANY_DTYPE, rate),), bytes_per_s, AS_GIVEN, ANY_DTYPE))
    if lacking_prefix(flops, "FLO/s") or lacking_prefix(bandwidth, "byte/s"):
        advice = did_you_mean(_plausible_rates(flops, bandwidth))
        raise PeaksError(
            f"{spec!r}: a rate without a unit is in FLO/s or bytes per second, and no device is "
            f"that slow; {advice or 'write both units, as in 19.5T:1555G'}"
        )
    return peaks


def _plausible_rates(flops: str, bandwidth: str) -> list[str]:
    """Return the pairs of rates with units that the user may have meant, as values of `--peaks`.

    A bare number may be in GFLO/s, as for most CPUs, or in TFLO/s, as for most GPUs. A pair is
    plausible if some device could have both rates. If two pairs are plausible, the kind of device
    follows each of them: `500G:900G for a CPU`.
    """
    second = f"{bandwidth}{lacking_prefix(bandwidth, 'byte/s')}"
    bytes_per_s = parse_quantity(second, "byte/s")
    prefix = lacking_prefix(flops, "FLO/s")
    kinds = _KINDS if prefix == "T" else {prefix: ("", inf)}
    lowest, highest = (ridge * bytes_per_s for ridge in PLAUSIBLE_RIDGES)
    pairs = {
        f"{flops}{one}:{second}": kind
        for one, (kind, limit) in kinds.items()
        if bytes_per_s < limit and lowest <= parse_quantity(flops + one, "FLO/s") <= highest
    }
    return [f"{pair}{kind}" if len(pairs) > 1 else pair for pair, kind in pairs.items()]


def lacking_prefix(text: str, unit: str) -> str:
    """Return the prefix, such as `T`, that a rate in `unit` probably lacks, or an empty text."""
    has_unit = text.strip()[-1:] not in "0123456789."
    rate = parse_quantity(text, unit)
    probable = (prefix for limit, prefix in _PROBABLE_PREFIXES[unit] if rate < limit)
    return "" if has_unit else next(probable, "")


def is_plausible_rate(rate: float) -> bool:
    """Return whether a device can have this rate. Beyond the limits, ratios could overflow."""
    return _LEAST_RATE < rate < _LARGEST_RATE


def _checked(peaks: Peaks) -> Peaks:
    if not all(map(is_plausible_rate, (peaks.bandwidth, *dict(peaks.flops).values()))):
        raise PeaksError(f"{peaks.name!r}: a rate must be between 1e-30 and 1e30")
    return peaks


def _with_dtype(peaks: Peaks, dtype: str | None) -> Peaks:
    """Return `peaks` with `dtype` as the default. Raises `PeaksError` without a rate for it."""
    rates = dict(peaks.flops)
    chosen = dtype.lower() if dtype else ANY_DTYPE if ANY_DTYPE in rates else DEFAULT_DTYPE
    if chosen not in rates and ANY_DTYPE not in rates:
        known = ", ".join(rates)
        example = next(iter([*likely_names(chosen, rates, DTYPE_WORDS), *rates]))
        two_rates = rates_for_every_dtype(peaks, chosen)
        advice = f"; {missing_rate_advice(two_rates, chosen)}" if two_rates else ""
        raise PeaksError(
            f"{peaks.name} has no known rate for {chosen}; name one of {known}, as in "
            f"{'-'.join(words_of(peaks.name))}:{example}{advice}"
        )
    return peaks._replace(dtype=chosen, dtype_is_named=dtype is not None)


def rates_for_every_dtype(peaks: Peaks, dtype: str) -> str:
    """Return the value of `--peaks` with a rate for every dtype, for peaks that lack a rate.

    The rate is a placeholder: `FLOPS:1555G`. Empty for an unknown dtype.
    """
    return f"FLOPS:{peaks.bandwidth / 1e9:.9g}G" if dtype in DTYPES else ""


_CPU_WORDS: Final = frozenset(
    (
        *("xeon", "epyc", "ryzen", "threadripper", "i3", "i5", "i7", "i9"),
        *("atom", "pentium", "celeron", "cortex", "neoverse", "graviton", "altra"),
        *("snapdragon", "apple", "m1", "m2", "m3", "m4"),
    )
)
"""Words of the names of CPUs."""


def find_device(name: str, devices: Iterable[Device]) -> Device:
    """Return the device with this name or alias, or the only device whose name starts with it.

    Case and punctuation do not matter. Raises `PeaksError` if no device or several devices match.
    The message suggests names.
    """
    named = _by_name(devices)
    found = _matching(name, named)
    if len(found) == 1:
        return found[0]
    if found:
        names = as_typed([device.name for device in found])
        raise PeaksError(f"{name!r} is ambiguous; write {', '.join(names[:-1])} or {names[-1]}")
    is_in_a_name = any(name.strip() in words_of(one) for one, _ in named)  # such as 4090
    if name[:1].isdigit() and not is_in_a_name:
        raise PeaksError(
            f"{name!r} is neither a device nor two rates; write FLO/s and bytes per second, with a "
            "colon between them, as in 19.5T:1555G, or a device that --peaks list shows"
        )
    raise PeaksError(f"there is no device {name!r}; {_suggestion(name, named)}")


def names_of_devices(name: str) -> Sequence[str]:
    """Return the full names of the known devices that `name` may mean; empty if there is none."""
    return as_typed([device.name for device in _matching(name, _by_name(DEVICES))])


def _by_name(devices: Iterable[Device]) -> list[tuple[str, Device]]:
    """Return each device with each of its names."""
    return [(one, device) for device in devices for one in (device.name, *device.aliases)]


def _matching(name: str, named: Sequence[tuple[str, Device]]) -> Sequence[Device]:
    """Return the devices of `named` that `name` may mean. `named` is a result of `_by_name`."""
    # An exact match wins, so that a file may have both `my-card` and `my card`.
    for normalized in (str.strip, _without_punctuation):
        found = {id(device): device for one, device in named if normalized(one) == normalized(name)}
        if found:
            return [*found.values()]
    words = [word for word in words_of(name) if word not in VENDORS] or words_of(name)
    starting = (pair for pair in named if words and words_of(pair[0])[: len(words)] == words)
    return [*{id(device): device for _, device in starting}.values()]


def as_typed(names: Sequence[str]) -> Sequence[str]:
    """Return the names with hyphens, which need no quotes.

    If two names would become equal, return `names` unchanged.
    """
    short = ["-".join(words_of(one)) for one in names]
    return short if len({*short}) == len(names) else names


def words_of(name: str) -> list[str]:
    """Return the words of a name, without punctuation and in lower case."""
    return re.findall(r"[^\W_]+", name.casefold())


def _without_punctuation(name: str) -> str:
    return "".join(words_of(name))


def _suggestion(name: str, named: Iterable[tuple[str, Device]]) -> str:
    """Return advice with similar names, preferably of devices whose first word is in `name`."""
    by_name = {_without_punctuation(one): device for one, device in named}
    words = set(words_of(name))
    if words & _CPU_WORDS:
        return (
            "the list has no CPUs; --peaks here measures this machine, --peaks auto shows the "
            "highest rates in the profile, and --peaks 768G:51G gives FLO/s and bytes per second"
        )
    # The first word of a device, such as `h100`, matters most. Drivers add words, as in
    # `NVIDIA H100 80GB HBM3`, and these words resemble the names of other devices by chance.
    same_first_word = [
        one for one, device in by_name.items() if words & {*words_of(device.name)[:1]}
    ]
    wanted = _without_punctuation(name)
    most = len(by_name)  # several similar names may belong to one device
    near = similar_names(wanted, same_first_word, limit=most, cutoff=0) or similar_names(
        wanted, by_name, limit=most
    )
    names = as_typed([*dict.fromkeys(by_name[one].name for one in near)][:_MOST_SUGGESTIONS])
    start = f"{did_you_mean(names)} " if names else ""
    return (
        f"{start}--peaks list shows all devices, --peaks here measures this machine, and "
        "--peaks 19.5T:1555G gives FLO/s and bytes per second"
    )

"""The peak rates of this machine: `--peaks here` measures them once and caches them."""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from profile_analyze.cli.inputs.cache_folder import user_cache_folder
from profile_analyze.cli.output.progress import status_line
from profile_analyze.cli.output.standard import write_file
from profile_analyze.errors import OutputError, PeaksError
from profile_analyze.model.terms import CPU
from profile_analyze.roofline.peaks import Measured, Peaks, is_plausible_rate
from profile_analyze.units import counted, percent

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from profile_analyze.model.profile import Profile

_MEASURING: Final = (
    "measuring the peaks takes up to 10 s for each number of threads that is tried; leave the "
    "machine idle"
)
_CACHE: Final = "peaks-here.json"
_DATES: Final = ("flops_when", "bandwidth_when")
"""The fields of `Measured` that are not numbers."""
_CHILD: Final = (
    "import sys\n"
    "sys.path[0] = sys.argv[2]\n"  # replaces the current folder, which may have a json.py
    "import json\n"
    "from profile_analyze.roofline.measure import measure\n"
    "say = lambda text: print(text, file=sys.stderr, flush=True)\n"
    "print(json.dumps(measure(int(sys.argv[1]), say)._asdict()))\n"
)


class PeaksOfMachine(NamedTuple):
    """The peak rates of this machine."""

    threads: Sequence[int]
    """The numbers of threads to measure with. The highest rates count."""
    afresh: bool
    """Whether to measure even if the cache has the rates."""

    @classmethod
    def of(cls, spec: str) -> PeaksOfMachine:
        """Return the peaks that `spec` asks for.

        `here` measures with one thread and with all cores. `here:2` measures with two threads. With
        `!` at the end, rates in the cache are measured again.

        Raises `PeaksError` if the number of threads is wrong.
        """
        _, _, rest = spec.partition(":")
        cores = _cores()
        digits = rest.removesuffix("!")
        if not digits and ":" not in spec:
            return cls(sorted({1, cores}), "!" in spec)
        if re.fullmatch("[0-9]{1,6}", digits) and 1 <= int(digits) <= cores:
            return cls([int(digits)], "!" in spec)
        raise PeaksError(
            f"{spec}: write here, or here:N with a number of threads from 1 to {cores}, the cores "
            "of this machine; ! at the end measures again"
        )

    def find(self, _profile: Profile, /) -> Peaks:
        """Return the peaks. Measuring takes seconds, so a line on the terminal shows each step."""
        with status_line("measuring ", _MEASURING) as show:
            return _measured(self.threads, show, afresh=self.afresh)


def _machine() -> str:
    """Return a name for this machine: several machines may share a home folder and its cache."""
    return f"{platform.node()} {platform.machine()} {os.cpu_count()} {_cpu_model()}"


def _cpu_model() -> str:
    with suppress(OSError, ValueError):
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
        model = re.search(r"^model name\s*:(.*)$", text, re.MULTILINE)
        if model is not None:
            return model[1].strip()
    return platform.processor()


def _cores() -> int:
    """Return how many cores this process may use."""
    if sys.platform != "linux":  # macOS and Windows lack `sched_getaffinity`
        return os.cpu_count() or 1
    return len(os.sched_getaffinity(0))


def _measured(threads: Sequence[int], say: Callable[[str], None], *, afresh: bool) -> Peaks:
    """Return the highest rates among all numbers of threads in `threads`.

    Rates that are not in the cache are measured. With `afresh`, all rates are measured.
    """
    machine = _machine()
    cached = _cached(machine)
    measured = {count: _measure(count, say) for count in threads if afresh or count not in cached}
    best = cached | {
        count: _faster(cached[count], rates) if count in cached else rates
        for count, rates in measured.items()
    }
    if measured:
        _cache(machine, best)
    again = f"here:{threads[0]}!" if len(threads) == 1 else "here!"
    remarks = [
        _change_text(cached[count], measured[count]) for count in measured if count in cached
    ]
    return _peaks([best[count] for count in threads], remarks, again)


def _faster(kept: Measured, new: Measured) -> Measured:
    """Return the higher FLO/s and the higher bandwidth: disturbances only lower a measured rate."""
    flops = max(kept, new, key=lambda one: one.flops)
    bandwidth = max(kept, new, key=lambda one: one.bandwidth)
    return Measured(
        kept.threads,
        flops.flops,
        bandwidth.bandwidth,
        _doubt_of_best((kept.flops, kept.flops_doubt), (new.flops, new.flops_doubt)),
        _doubt_of_best(
            (kept.bandwidth, kept.bandwidth_doubt), (new.bandwidth, new.bandwidth_doubt)
        ),
        flops.flops_when,
        bandwidth.bandwidth_when,
    )


def _doubt_of_best(*rates: tuple[float, float]) -> float:
    """Return the doubt of the higher of two rates. Each argument is a rate and its doubt.

    The doubt is the share by which a rate may be too low. If the lower rate is close to the higher
    rate and has less doubt, it confirms the higher rate, and the result is a smaller doubt.
    """
    (lower, lower_doubt), (higher, doubt) = sorted(rates)
    return min(doubt, max(lower_doubt, 1 - lower / higher))


def _change_text(kept: Measured, new: Measured) -> str:
    """Return how the new rates differ from the cached rates, and which of the two count."""
    rates = (
        ("FLO/s", kept.flops, new.flops, new.flops_doubt),
        ("bandwidth", kept.bandwidth, new.bandwidth, new.bandwidth_doubt),
    )
    changes = [
        f"{name} {percent(now / before - 1)} higher than before, so the new rate counts"
        if now > before
        else f"{name} {percent(1 - now / before)} lower than before ({_doubt_text(doubt)}), so the "
        "earlier rate counts"
        for name, before, now, doubt in rates
    ]
    return f"measured again with {counted(new.threads, 'thread')}: {', and '.join(changes)}"


def _doubt_text(doubt: float) -> str:
    how_much = percent(doubt)
    return "may be far too low" if how_much == percent(1) else f"may be up to {how_much} too low"


def _peaks(tried: Sequence[Measured], remarks: Sequence[str], again: str) -> Peaks:
    """Return the highest FLO/s and the highest bandwidth in `tried` as the peaks to use.

    `again` is the value of `--peaks` that measures them again.
    """
    flops = max(tried, key=lambda one: one.flops)
    bandwidth = max(tried, key=lambda one: one.bandwidth)
    doubt = max(flops.flops_doubt, bandwidth.bandwidth_doubt)
    if flops.threads == bandwidth.threads:
        how = f"measured with {counted(flops.threads, 'thread')}"
    else:
        how = (
            f"FLO/s measured with {counted(flops.threads, 'thread')}, bandwidth with "
            f"{counted(bandwidth.threads, 'thread')}"
        )
    if len(tried) > 1:
        how += f", the faster of {' and '.join(str(one.threads) for one in tried)}"
    when = f"measured on {flops.flops_when}"
    if flops.flops_when != bandwidth.bandwidth_when:
        when = f"FLO/s {when}, bandwidth on {bandwidth.bandwidth_when}"
    return Peaks(
        "this machine",
        (("fp32", flops.flops),),
        bandwidth.bandwidth,
        f"{how}: the best of NumPy's single-precision matrix products and of copies of large "
        f"arrays; {_doubt_text(doubt)}; {when}; "
        f"{'; '.join([*remarks, f'{again} measures again'])}",
        device_kind=CPU,
        threads=max(flops.threads, bandwidth.threads),
        doubt=doubt,
        measured_by=again,
    )


def _measure(threads: int, say: Callable[[str], None]) -> Measured:
    """Measure in a child process, because NumPy reads the number of threads at import."""
    environment = os.environ | dict.fromkeys(
        ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"), str(threads)
    )
    with subprocess.Popen(
        [sys.executable, "-c", _CHILD, str(threads), str(Path(__file__).parents[2])],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        assert process.stdout is not None
        last = ""
        for line in process.stderr:
            last = line.strip()
            say(last)
        measured = process.stdout.read()
    if process.returncode:
        raise PeaksError(f"this machine cannot be measured: {last or process.returncode}")
    when = time.strftime("%Y-%m-%d %H:%M")
    return Measured(**json.loads(measured))._replace(flops_when=when, bandwidth_when=when)


def _cache_file() -> Path | None:
    folder = user_cache_folder()
    return None if folder is None else folder / _CACHE


def _whole_cache() -> dict[str, Any]:
    """Return the unchecked cache, by machine; empty if it cannot be read."""
    file = _cache_file()
    with suppress(OSError, ValueError, RecursionError):
        found = json.loads(file.read_text(encoding="utf-8")) if file is not None else None
        return found if isinstance(found, dict) else {}
    return {}


def _cached(machine: str) -> dict[int, Measured]:
    """Return the cached rates of this machine, by number of threads."""
    found = _whole_cache().get(machine)
    entries = found.values() if isinstance(found, dict) else ()
    return {entry["threads"]: Measured(**entry) for entry in entries if _is_valid(entry)}


def _is_valid(entry: object) -> bool:
    """Return whether a cache entry is valid. Older versions wrote other fields."""
    if not isinstance(entry, dict) or entry.keys() != {*Measured._fields}:
        return False
    numbers = [value for name, value in entry.items() if name not in _DATES]
    if not all(type(value) in (int, float) for value in numbers):
        return False
    rates = Measured(**entry)
    return (
        type(rates.threads) is int
        and all(re.fullmatch("[0-9: -]{16}", str(entry[name])) for name in _DATES)
        and is_plausible_rate(rates.flops)
        and is_plausible_rate(rates.bandwidth)
        and 0 <= rates.flops_doubt <= 1
        and 0 <= rates.bandwidth_doubt <= 1
    )


def _cache(machine: str, rates: dict[int, Measured]) -> None:
    """Cache the rates. Errors are ignored, because the answer does not depend on the cache."""
    file = _cache_file()
    if file is None:
        return
    entries = {str(count): one._asdict() for count, one in rates.items()}
    with suppress(OSError, OutputError):
        file.parent.mkdir(parents=True, exist_ok=True)
        whole = _whole_cache() | {machine: entries}
        write_file(str(file), [json.dumps(whole).encode()], force=True)

"""The peaks that `--peaks` names: a known device, two rates, a file, or this machine."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from profile_analyze.analysis.device_files import read_devices
from profile_analyze.analysis.devices import DTYPES
from profile_analyze.analysis.peaks import ANY_DTYPE, Peaks, parse_peaks, peaks_of
from profile_analyze.cli.output import write_file
from profile_analyze.errors import InputError, OutputError, PeaksError
from profile_analyze.readers.source import Source

if TYPE_CHECKING:
    from collections.abc import Callable

HERE: Final = "here"
PLACEHOLDER: Final = Peaks("", ((ANY_DTYPE, 1.0),), 1.0, "", ANY_DTYPE)
"""Peaks to check a query with before this machine is measured."""
_SUFFIX: Final = ".toml"
_CACHE: Final = Path("profile_analyze") / "peaks-here.json"
# BLAS fixes its number of threads when it is loaded, so a child process measures.
_CHILD: Final = (
    "import sys\n"
    "sys.path[0] = sys.argv[2]\n"  # not the current folder, which may have a json.py
    "import json\n"
    "from profile_analyze.analysis.measure import measure\n"
    "say = lambda text: print(text, file=sys.stderr, flush=True)\n"
    "print(json.dumps(measure(int(sys.argv[1]), say)))\n"
)


def is_measured_here(spec: str) -> bool:
    """Return whether `spec` names this machine."""
    return spec.partition(":")[0] in (HERE, f"{HERE}!")


def resolve(spec: str, say: Callable[[str], None]) -> Peaks:
    """Return the peaks that `spec` names. `say` is called with messages about slow steps.

    Raises `PeaksError`.
    """
    name, _, rest = spec.partition(":")
    if is_measured_here(spec):
        return _of_this_machine(rest, afresh=name.endswith("!"), say=say)
    file, suffix, rest = spec.partition(_SUFFIX)
    if suffix and rest[:1] in ("", ":"):
        return _in_file(file + suffix, rest.removeprefix(":"))
    return parse_peaks(spec)


def _in_file(file: str, rest: str) -> Peaks:
    """Return the peaks in a file. `rest` may choose one: `NAME`, `NAME:DTYPE` or `DTYPE`."""
    try:
        text = Source(file).content().decode()
    except UnicodeDecodeError:
        raise PeaksError(f"{file}: is not text in UTF-8, as TOML is") from None
    except InputError as error:
        raise PeaksError(str(error)) from None
    devices = read_devices(file, text)
    # Without a colon, `rest` is a dtype if there is one of that name, and a device otherwise.
    name, _, dtype = rest.rpartition(":") if rest.lower() not in DTYPES else ("", "", rest)
    if not name and dtype.lower() not in DTYPES:
        name, dtype = dtype, ""
    if not name and len(devices) > 1:
        known = ", ".join(device.name for device in devices)
        raise PeaksError(f"{file}: has several devices; write {file}:NAME with one of {known}")
    return peaks_of(devices, name or devices[0].name, dtype or None)


def _of_this_machine(threads: str, *, afresh: bool, say: Callable[[str], None]) -> Peaks:
    """Return the peaks of this machine, with all cores, or with one if `threads` is `1`.

    They are measured once and cached; `afresh` measures again.
    """
    if threads not in ("", "1"):
        raise PeaksError(f"here:{threads}: write here (all cores) or here:1 (one thread)")
    # Several machines may share a home folder, and with it the cache.
    machine = f"{platform.node()} {platform.machine()} {os.cpu_count()}"
    key = threads or "all"
    cached = _cached(machine)
    if afresh or key not in cached:
        cached[key] = _measure(1 if threads else os.cpu_count() or 1, say)
        _store(machine, cached)
    count, flops, bandwidth, flops_spread, bandwidth_spread = cached[key]
    return Peaks(
        "this machine",
        (("fp32", flops),),
        bandwidth,
        f"measured with {count} thread{'s' if count > 1 else ''}: the best of "
        "NumPy's single-precision matrix products and of copies of large arrays; the rounds "
        f"differ by {flops_spread:.0%} (FLOPS) and {bandwidth_spread:.0%} (bandwidth)",
    )


def _measure(threads: int, say: Callable[[str], None]) -> list[float]:
    """Return a `Measured` as a list. `say` is called with each line of progress."""
    # NumPy may be built with any of three BLAS libraries.
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
        # Read after standard error: the output is one short line, which the pipe can hold.
        measured = process.stdout.read()
    if process.returncode:
        raise PeaksError(f"this machine cannot be measured: {last or process.returncode}")
    rates: list[float] = json.loads(measured)
    return rates


def _cache_file() -> Path | None:
    folder = os.environ.get("XDG_CACHE_HOME")
    with suppress(RuntimeError):  # there is no home
        return (Path(folder) if folder else Path.home() / ".cache") / _CACHE
    return None


def _whole_cache() -> dict[str, dict[str, Any]]:
    """Return all cached measurements by machine; none if the cache cannot be read."""
    file = _cache_file()
    with suppress(OSError, ValueError, RecursionError, AttributeError):
        if file is not None:
            cache = json.loads(file.read_text(encoding="utf-8"))
            return {machine: dict(rates) for machine, rates in cache.items()}
    return {}


def _cached(machine: str) -> dict[str, Any]:
    """Return the cached measurements of this machine."""
    entries = _whole_cache().get(machine, {})
    return {key: value for key, value in entries.items() if _is_measured(value)}


def _is_measured(value: object) -> bool:
    """Return whether `value` is a cached `Measured`: threads, two rates, two spreads."""
    if not isinstance(value, list) or len(value) != 5:
        return False
    # Not `isinstance`, because a bool is an int. NaN fails the comparison.
    if not all(type(one) in (int, float) and 0 <= one < 1e30 for one in value):
        return False
    threads, flops, bandwidth, *spreads = value
    return type(threads) is int and threads > 0 < min(flops, bandwidth) and max(spreads) <= 1


def _store(machine: str, rates: dict[str, Any]) -> None:
    """Write the measurements to the cache, if possible. The answer does not depend on it."""
    file = _cache_file()
    if file is None:
        return
    # If two calls write at once, one measurement is lost, and measured again by a later call.
    everything = _whole_cache() | {machine: rates}
    with suppress(OSError, OutputError):
        file.parent.mkdir(parents=True, exist_ok=True)
        write_file(str(file), [json.dumps(everything).encode()], force=True)

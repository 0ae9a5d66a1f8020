"""The peaks that `--peaks` names: a known device, two rates, a file, or this machine."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from profile_analyze.analysis.device_files import read_devices
from profile_analyze.analysis.devices import DTYPES
from profile_analyze.analysis.peaks import ANY_DTYPE, Peaks, parse_peaks, peaks_of
from profile_analyze.cli.machine_peaks import measurement
from profile_analyze.errors import InputError, PeaksError, QueryError
from profile_analyze.readers.source import Source

if TYPE_CHECKING:
    from collections.abc import Sequence

    from profile_analyze.cli.machine_peaks import Measurement

_PLACEHOLDER: Final = Peaks("", ((ANY_DTYPE, 1.0),), 1.0, "", ANY_DTYPE)
"""Stands for the peaks of this machine while the query is checked, before the measurement."""
_SUFFIX: Final = ".toml"
_HERE_WORDS: Final = ("cpu", "local", "localhost", "host", "this", "machine", "auto", "me")
"""Words that people write instead of `here`."""


def find_peaks(spec: str) -> tuple[Peaks, Measurement | None]:
    """Return the peaks that `spec` names, and for `here` a function that measures this machine.

    For `here`, the peaks are a placeholder. For any other peaks, the function is None.

    Raises `PeaksError`.
    """
    measure = measurement(spec)
    return (resolve(spec), None) if measure is None else (_PLACEHOLDER, measure)


def check_that_they_are_one_value(spec: str, files: Sequence[str]) -> None:
    """Raise `QueryError` if the user wrote `--peaks here 1` instead of `--peaks here:1`.

    argparse then takes 1 for the name of a file.
    """
    for name in filter(None, files):
        whole = f"{spec}:{name}"
        with suppress(PeaksError):
            if not os.path.exists(name) and find_peaks(whole):  # noqa: PTH110  # `Path` changes some names
                raise QueryError(f"argument --peaks: has one value; did you mean --peaks {whole}?")


def resolve(spec: str) -> Peaks:
    """Return the peaks that `spec` names by a device, a file or two rates. Raises `PeaksError`."""
    file, suffix, rest = spec.partition(_SUFFIX)
    if suffix and rest[:1] in ("", ":"):
        return _in_file(file + suffix, rest.removeprefix(":"))
    if match := re.fullmatch(r"here\s*(\d+)", spec):
        raise PeaksError(f"there is no device {spec!r}; did you mean here:{match[1]}?")
    if spec.lower() in _HERE_WORDS:
        raise PeaksError(f"there is no device {spec!r}; --peaks here measures this machine")
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
    # Without a colon, `rest` is a dtype if it is the name of a dtype, and a device otherwise.
    name, _, dtype = rest.rpartition(":") if rest.lower() not in DTYPES else ("", "", rest)
    if not name and dtype.lower() not in DTYPES:
        name, dtype = dtype, ""
    if not name and len(devices) > 1:
        known = ", ".join(device.name for device in devices)
        raise PeaksError(f"{file}: has several devices; write {file}:NAME with one of {known}")
    return peaks_of(devices, name or devices[0].name, dtype or None)

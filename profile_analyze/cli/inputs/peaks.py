"""Finds the peaks for `--peaks`.

They come from the name of a device, two rates, a file, this machine (`here`), or the device that
the profile names (`auto`).
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from profile_analyze.advice.peaks import cpu_peaks_advice
from profile_analyze.cli.options.values import DEVICE_FILE
from profile_analyze.errors import InputError, PeaksError, QueryError
from profile_analyze.model.levels.levels import at_level
from profile_analyze.model.terms import CPU, DEVICE
from profile_analyze.query.fit_of_peaks import highest_rates
from profile_analyze.query.question import Query
from profile_analyze.query.rows import OperatorRows
from profile_analyze.readers.input.source import Source
from profile_analyze.roofline.device_files import read_devices
from profile_analyze.roofline.devices import DTYPES
from profile_analyze.roofline.peaks import ANY_DTYPE, Peaks, parse_peaks, peaks_of
from profile_analyze.roofline.reported_devices import peaks_of_reported

if TYPE_CHECKING:
    from collections.abc import Sequence

    from profile_analyze.model.profile import Profile

_PLACEHOLDER: Final = Peaks("", ((ANY_DTYPE, 1.0),), 1.0, "", ANY_DTYPE)
"""Stands for peaks that are found later: by a measurement, or from the device in the profile."""
_HERE: Final = "here"
_HERE_WORDS: Final = ("cpu", "local", "localhost", "host", "this", "machine", "me")
"""Words that people write instead of `here`."""
_AUTO: Final = "auto"


class PeaksToFind(Protocol):
    """Peaks that are found after the profile is read."""

    def find(self, profile: Profile, /) -> Peaks:
        """Return the peaks. Raises `PeaksError`."""


class PeaksOfDevice(NamedTuple):
    """The peaks of the device that a profile names."""

    dtype: str | None

    def find(self, profile: Profile, /) -> Peaks:
        """See `PeaksToFind.find`."""
        try:
            return peaks_of_reported(profile.origin.hardware, self.dtype)._replace(typed=_AUTO)
        except PeaksError:
            if {track.device_kind for track in profile.tracks if track.side == DEVICE} != {CPU}:
                raise
            rows = OperatorRows(at_level(profile, None, keep_nested=True), Query())
            raise PeaksError(
                "--peaks auto: the operators ran on a CPU, and the list of devices has no CPUs; "
                f"{cpu_peaks_advice(highest_rates(rows, CPU))}"
            ) from None


def find_peaks(spec: str) -> tuple[Peaks, PeaksToFind | None]:
    """Return the peaks that `spec` names, or a placeholder and the peaks to find after reading.

    Raises `PeaksError`.
    """
    name, _, dtype = (part.strip() for part in spec.partition(":"))
    if name.lower() == _AUTO:
        _check_dtype(spec, dtype)
        return _PLACEHOLDER, PeaksOfDevice(dtype or None)
    if name.lower().removesuffix("!") == _HERE:  # `here!` measures even if the rates are cached
        # Imported here, because only this value needs the modules that start a process.
        from profile_analyze.cli.inputs.machine_peaks import PeaksOfMachine

        return _PLACEHOLDER, PeaksOfMachine.of(spec.lower())
    return resolve(spec), None


def _check_dtype(spec: str, dtype: str) -> None:
    """Raise `PeaksError` for an unknown dtype in `auto:DTYPE`, before a file is read."""
    if dtype and dtype.lower() not in DTYPES:
        raise PeaksError(f"{spec}: write auto, or auto: and one of {', '.join(DTYPES)}")


def check_that_value_is_not_split(spec: str, files: Sequence[str]) -> None:
    """Raise `QueryError` if the user wrote `--peaks here 1` instead of `--peaks here:1`.

    argparse then takes 1 for the name of a file.
    """
    for name in filter(None, files):
        whole = f"{spec}:{name}"
        with suppress(PeaksError):
            if not os.path.exists(name) and find_peaks(whole):  # noqa: PTH110  # `Path` changes some names
                raise QueryError(
                    f"argument --peaks: takes one value; did you mean --peaks {whole}?"
                )


def resolve(spec: str) -> Peaks:
    """Return the peaks that `spec` names by a device, a file or two rates. Raises `PeaksError`."""
    if match := DEVICE_FILE.fullmatch(spec):
        return _in_file(match["file"], match["rest"] or "")
    if match := re.fullmatch(r"here\s*(\d+)", spec):
        raise PeaksError(f"there is no device {spec!r}; did you mean here:{match[1]}?")
    if spec.lower() in _HERE_WORDS:
        raise PeaksError(
            f"there is no device {spec!r}; --peaks here measures this machine, and --peaks auto "
            "shows the highest rates in the profile of a CPU"
        )
    return parse_peaks(spec)


def _in_file(file: str, rest: str) -> Peaks:
    """Return the peaks of a device in a file. `rest` is `NAME`, `NAME:DTYPE`, `DTYPE` or empty."""
    try:
        text = Source(file).content().decode()
    except UnicodeDecodeError:
        raise PeaksError(f"{file}: is not UTF-8, but TOML files must be") from None
    except InputError as error:
        raise PeaksError(str(error)) from None
    devices = read_devices(file, text)
    name, _, dtype = rest.rpartition(":")
    # Without a colon, `rest` is a dtype if it is the name of a dtype, and a device otherwise.
    if not name and dtype.lower() not in DTYPES:
        name, dtype = dtype, ""
    if not name and len(devices) > 1:
        known = ", ".join(device.name for device in devices)
        raise PeaksError(f"{file}: has several devices; write {file}:NAME with one of {known}")
    peaks = peaks_of(devices, name or devices[0].name, dtype or None)
    return peaks._replace(typed=f"{file}:{name}" if name else file)

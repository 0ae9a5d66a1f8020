"""The files that are asked about, from their names to what was read."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, NamedTuple

from profile_analyze.cli.arguments import in_options
from profile_analyze.cli.progress import Progress
from profile_analyze.errors import InputError, QueryError
from profile_analyze.readers.paths import LIST, files_in

if TYPE_CHECKING:
    import argparse

    from profile_analyze.model.comparison import Comparison
    from profile_analyze.model.profile import Profile

_MOST_PROCESSES: Final = 8


class Inputs(NamedTuple):
    """Which files are asked about, and which they are compared with."""

    files: list[str]
    base: list[str]
    lists: list[str]
    """The files that the names of others were read from."""

    @property
    def all(self) -> list[str]:
        """What is asked about, and what that is compared with."""
        return [*self.files, *self.base]


def inputs_of(arguments: argparse.Namespace) -> Inputs:
    """The files that are named, folders and lists being opened. Raises `InputError`."""
    named = [*arguments.files, *arguments.compare]
    lists = [name.removeprefix(LIST) for name in named if name.startswith(LIST)]
    files, base = (
        files_in(names, max_size=arguments.max_size)
        for names in (arguments.files, arguments.compare)
    )
    inputs = Inputs(files, base, lists)
    if inputs.all.count("-") > 1:
        raise InputError("standard input", "is named twice; it can be read once")
    return inputs


class Reading:
    """Reads what is asked about."""

    def __init__(
        self, inputs: Inputs, arguments: argparse.Namespace, wanted: frozenset[str]
    ) -> None:
        """Prepare to read what of `OPTIONAL_COLUMNS` is `wanted`."""
        self._inputs = inputs
        self._max_size: int = arguments.max_size
        self._skip_bad: bool = arguments.skip_bad
        self._match: str = arguments.match
        self._correct_drift: bool = arguments.correct_drift
        self._skip_runs: int = arguments.skip_runs
        self._level: str | None = arguments.level
        self._wanted = wanted

    def source(self) -> Profile | Comparison:
        """What is asked about, of the level that is asked for.

        Raises `InputError`, and `QueryError` if there is no such level, or no run is left.
        """
        profile, *base = (self._prepared(profile) for profile in self._profiles())
        if not base:
            return self._corrected(profile)
        from profile_analyze.model.comparison import compare

        return self._corrected(compare(profile, base[0], self._match))

    def _profiles(self) -> list[Profile]:
        """What is asked about, and what that is compared with."""
        if len(self._inputs.all) == 1:
            from profile_analyze.readers.loading import load

            return [load(self._inputs.files[0], wanted=self._wanted, max_size=self._max_size)]
        if self._inputs.base:
            from profile_analyze.model.comparison import COMPARISON_COLUMNS

            self._wanted |= COMPARISON_COLUMNS
        progress = Progress(len(self._inputs.all))
        sides = (self._inputs.files, self._inputs.base)
        try:
            return [self._profile(files, progress) for files in sides if files]
        finally:
            progress.clear()

    def _prepared(self, profile: Profile) -> Profile:
        """The profile without the runs to skip, of the level that is asked for."""
        from profile_analyze.model.iterations import without_first_runs
        from profile_analyze.model.levels import at_level

        try:
            return at_level(without_first_runs(profile, self._skip_runs), self._level)
        except QueryError as error:
            raise in_options(error) from None

    def _profile(self, files: list[str], progress: Progress) -> Profile:
        from profile_analyze.readers.many import load_runs

        try:
            return load_runs(
                files,
                wanted=self._wanted,
                skip_bad=self._skip_bad,
                progress=progress.of_next(len(files)),
                processes=1 if "-" in files else _processes(),
                max_size=self._max_size,
            )
        except InputError as error:
            if self._skip_bad or len(files) == 1:
                raise
            advice = "; --skip-bad leaves out what cannot be read"
            raise type(error)(error.file, error.reason + advice) from None

    def _corrected(self, source: Profile | Comparison) -> Profile | Comparison:
        if not self._correct_drift:
            return source
        from profile_analyze.analysis.drift import without_drift

        return without_drift(source)


def _processes() -> int:
    """How many processes may read at once."""
    if hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    else:
        cores = os.cpu_count() or 1
    return min(cores, _MOST_PROCESSES)

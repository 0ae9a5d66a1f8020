"""Finds the inputs of a call: the files that the arguments stand for, and their data sets."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from profile_analyze.cli.option_values import LOCAL
from profile_analyze.errors import InputError, QueryError
from profile_analyze.readers.paths import LIST, Inputs, inputs_in

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

    from profile_analyze.errors import ProfileAnalyzeError
    from profile_analyze.model.notes import Note


class Sources(NamedTuple):
    """The files to read."""

    named: tuple[str, ...]
    """The names of the profiles, with the names of files in place of patterns."""
    named_baseline: tuple[str, ...]
    """The names of the baseline, as in `named`."""
    files: list[str]
    baseline: list[str]
    data_sets: list[str]
    """The data sets among `files` and `baseline`."""
    lists: list[str]
    """The files that list names of other files (`@FILE`)."""
    models: list[str]
    """The file that `--model` names; empty without `--model`."""
    error: ProfileAnalyzeError | None
    """The first error about files that cannot be found or read; None without such an error. Wrong
    options are reported first, so `answer` raises this error."""
    notes: tuple[Note, ...] = ()
    """Notes on the choice of the files."""

    @property
    def all(self) -> list[str]:
        """All profiles and models."""
        return [*self.files, *self.baseline, *self.models]


def find_sources(arguments: argparse.Namespace) -> Sources:
    """Return the files to read: the named files, and the files in named folders and lists.

    Each name is looked up once, because asking a remote store takes time, and a pipe can be read
    only once.
    """
    errors: list[ProfileAnalyzeError] = []
    profiles, baseline = (
        _found(names, arguments.max_size, errors) for names in (arguments.files, arguments.compare)
    )
    models = arguments.model[:1]
    read = [*profiles.files, *baseline.files, *models]
    if read.count("-") > 1:
        errors.append(InputError("standard input", "is named twice; it can be read once"))
    if "-" in read and arguments.engine != LOCAL:
        errors.append(
            QueryError(
                "argument --engine: the workers of Dask cannot read standard input; save it to a "
                "file, or leave --engine out"
            )
        )
    named = (*profiles.names, *baseline.names)
    return Sources(
        named=tuple(profiles.names),
        named_baseline=tuple(baseline.names),
        files=profiles.files,
        baseline=baseline.files,
        data_sets=[*profiles.data_sets, *baseline.data_sets],
        lists=[name.removeprefix(LIST) for name in named if name.startswith(LIST)],
        models=models,
        error=next(iter(errors), None),
    )


def _found(names: Iterable[str], max_size: int, errors: list[ProfileAnalyzeError]) -> Inputs:
    """Return the inputs that `names` stand for. Add the error of each wrong name to `errors`."""
    found = Inputs([], [], [])
    for name in names:
        try:
            of_name = inputs_in([name], max_size=max_size)
        except InputError as error:
            errors.append(error)
            continue
        for whole, part in zip(found, of_name, strict=True):
            whole.extend(part)
    return found

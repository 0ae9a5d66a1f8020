"""Finds the inputs of a call: the files that the arguments stand for, and their data sets."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from profile_analyze.cli.option_values import LOCAL
from profile_analyze.errors import InputError, QueryError
from profile_analyze.readers.paths import LIST, inputs_in

if TYPE_CHECKING:
    import argparse

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
    notes: tuple[Note, ...] = ()
    """Notes on the choice of the files."""

    @property
    def all(self) -> list[str]:
        """All profiles and models."""
        return [*self.files, *self.baseline, *self.models]


def find_sources(arguments: argparse.Namespace) -> Sources:
    """Return the files to read: the named files, and the files in named folders and lists.

    Each name is looked up once, because asking a store takes time, and a pipe can be read once.

    Raises `InputError`, and `QueryError` if the engine cannot read a source.
    """
    profiles, baseline = (
        inputs_in(names, max_size=arguments.max_size)
        for names in (arguments.files, arguments.compare)
    )
    named = (*profiles.names, *baseline.names)
    sources = Sources(
        named=tuple(profiles.names),
        named_baseline=tuple(baseline.names),
        files=profiles.files,
        baseline=baseline.files,
        data_sets=[*profiles.data_sets, *baseline.data_sets],
        lists=[name.removeprefix(LIST) for name in named if name.startswith(LIST)],
        models=arguments.model[:1],
    )
    if sources.all.count("-") > 1:
        raise InputError("standard input", "is named twice; it can be read once")
    if "-" in sources.all and arguments.engine != LOCAL:
        raise QueryError(
            "argument --engine: the workers of Dask cannot read standard input; save it to a file, "
            "or leave --engine out"
        )
    return sources

"""Loads files with the options of a call, and selects the part and the level that it wants."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, NamedTuple

from profile_analyze.cli.inputs.part import WHOLE
from profile_analyze.cli.options.asking import naming_option
from profile_analyze.cli.options.values import LOCAL, dask_address
from profile_analyze.errors import QueryError
from profile_analyze.fleet import entry
from profile_analyze.model.joining.iterations import without_first_runs
from profile_analyze.model.levels.levels import at_level
from profile_analyze.readers.loading import load

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from profile_analyze.cli.options.reading import Reading
    from profile_analyze.cli.output.progress import Progress
    from profile_analyze.model.notes import Note
    from profile_analyze.model.profile import Profile
    from profile_analyze.readers.base import Engine
    from profile_analyze.readers.model_inputs import ModelInputs

_MOST_PROCESSES: Final = 8


class Wanted(NamedTuple):
    """What the answer needs of each profile."""

    columns: frozenset[str]
    """The optional columns."""
    level: str | None
    """The level of the rows: see `at_level`."""
    all_levels: bool
    """Whether the rows of all levels are needed, whatever `level` is."""
    keeps_nested: bool
    """Whether the profile before `at_level` is needed, too."""


@contextmanager
def engine_of(reading: Reading) -> Iterator[Engine | None]:
    """Yield the engine that reads several files; None for the default engine.

    A local Dask cluster starts when several files are first read, because this process reads a
    single file itself. The cluster ends with the `with` block.
    """
    if reading.engine == LOCAL:
        yield None
        return
    address = dask_address(reading.engine) or None
    with entry.DaskEngine(address, workers=available_cores(), quiet=True) as engine:
        yield engine


def load_model(reading: Reading, wanted: Wanted, progress: Progress) -> Profile | None:
    """Return the model of `--model`; None without this option."""
    if reading.model is None:
        return None
    return load_file(reading, reading.model, reading.inputs, wanted, progress)


def load_file(
    reading: Reading, file: str, inputs: ModelInputs, wanted: Wanted, progress: Progress
) -> Profile:
    """Return the profile or the model in one file."""
    return load(
        file,
        wanted=wanted.columns,
        max_size=reading.max_size,
        progress=progress.count_bytes,
        inputs=inputs,
        # With `--model`, a description of the model in the profile's folder is ignored.
        beside=reading.model in (None, file),
        cache=reading.cache,
    )


def prepared(
    reading: Reading,
    loaded: Sequence[Profile],
    model: Profile | None,
    wanted: Wanted,
    notes: Sequence[Note],
) -> list[Profile]:
    """Return each loaded profile at the wanted level, after the options on parts and work.

    The first profile gets the notes on the choice of the files.

    Raises `QueryError` if a profile lacks what the options name, or if no run is left.
    """
    _check_that_names_are_known(loaded)
    profile, *others = [_prepared(reading, one, model, wanted) for one in loaded]
    return [profile.changed(notes=(*profile.notes, *notes)) if notes else profile, *others]


def _check_that_names_are_known(profiles: Sequence[Profile]) -> None:
    """Raise `QueryError` if the caller names an input or a symbol that every model lacks."""
    lacks = [{} if one.model is None else one.model.lacks for one in profiles]
    for option, message in lacks[0].items():
        if all(option in others for others in lacks):
            raise QueryError(message)


def _prepared(reading: Reading, profile: Profile, model: Profile | None, wanted: Wanted) -> Profile:
    """Select the part, the runs and the level, and apply the options on work."""
    is_whole = reading.part == WHOLE
    if is_whole and reading.work is None and model is None:
        return _at_level(reading, profile, wanted)
    # Imported here, because only calls with one of these options need it.
    from profile_analyze.cli.inputs.adjustments import adjusted, part_of

    try:
        part = part_of(profile, reading.part)
    except QueryError as error:
        raise naming_option(error) from None
    return adjusted(_at_level(reading, part, wanted), model, reading.work)


def _at_level(reading: Reading, profile: Profile, wanted: Wanted) -> Profile:
    """Return the profile at the wanted level, without the runs to skip."""
    try:
        remaining = without_first_runs(profile, reading.skip_runs)
        if wanted.all_levels:
            return remaining
        return at_level(remaining, wanted.level, keep_nested=wanted.keeps_nested)
    except QueryError as error:
        raise naming_option(error) from None


def available_cores() -> int:
    """Return the number of cores that this process may use, up to `_MOST_PROCESSES`.

    In a container or on a cluster, the machine may have more cores.
    """
    if hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    else:
        cores = os.cpu_count() or 1
    return min(cores, _MOST_PROCESSES)

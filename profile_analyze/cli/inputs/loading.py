"""Loads files with the options of a request, and selects the part that the request asks for."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from profile_analyze.cli.inputs.part import WHOLE
from profile_analyze.cli.options.model_options import check_that_names_are_known
from profile_analyze.cli.options.values import LOCAL, dask_address
from profile_analyze.cli.queries import naming_option
from profile_analyze.errors import QueryError
from profile_analyze.fleet import entry
from profile_analyze.model.joining.iterations import without_first_runs
from profile_analyze.model.levels.levels import at_level
from profile_analyze.readers.loading import load
from profile_analyze.readers.model_inputs import NO_INPUTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from profile_analyze.cli.output.progress import Progress
    from profile_analyze.cli.request import Request
    from profile_analyze.model.notes import Note
    from profile_analyze.model.profile import Profile
    from profile_analyze.readers.base import Engine

_MOST_PROCESSES: Final = 8


@contextmanager
def engine_of(request: Request) -> Iterator[Engine | None]:
    """Yield the engine that reads several files; None for the default engine.

    A local Dask cluster starts when several files are first read, because this process reads a
    single file itself. The cluster ends with the `with` block.
    """
    if request.engine == LOCAL:
        yield None
        return
    address = dask_address(request.engine) or None
    with entry.DaskEngine(address, workers=available_cores(), quiet=True) as engine:
        yield engine


def with_sizes_for_profiles(request: Request, sides: int = 1) -> Request:
    """Return the request with the input sizes that apply to FILE and to the files of `--compare`.

    With `--model`, the sizes belong to its file, so none apply. In a comparison of models, which
    has two sides, it is not an error if one model lacks an input that the other model has.
    """
    if request.model is not None:
        return request._replace(inputs=NO_INPUTS)
    if request.inputs == NO_INPUTS:
        return request
    return request._replace(inputs=request.inputs._replace(may_lack=sides > 1))


def load_model(request: Request, wanted: frozenset[str], progress: Progress) -> Profile | None:
    """Return the model of `--model`; None without this option."""
    return None if request.model is None else load_file(request, request.model, wanted, progress)


def load_file(request: Request, file: str, wanted: frozenset[str], progress: Progress) -> Profile:
    """Return the profile or the model in one file."""
    return load(
        file,
        wanted=wanted,
        max_size=request.max_size,
        progress=progress.count_bytes,
        inputs=request.inputs,
        # With `--model`, a description of the model in the profile's folder is ignored.
        beside=request.model in (None, file),
        cache=request.cache,
    )


def prepared(
    request: Request, loaded: Sequence[Profile], model: Profile | None, notes: Sequence[Note]
) -> list[Profile]:
    """Return each loaded profile at the requested level, after the options on parts and work.

    The first profile gets the notes on the choice of the files.

    Raises `QueryError` if a profile lacks what the options name, or if no run is left.
    """
    check_that_names_are_known(loaded)
    profile, *others = [_prepared(request, one, model) for one in loaded]
    return [profile.changed(notes=(*profile.notes, *notes)) if notes else profile, *others]


def _prepared(request: Request, profile: Profile, model: Profile | None) -> Profile:
    """Select the part, the runs and the level, and apply the options on work."""
    is_whole = request.part == WHOLE
    if is_whole and request.work is None and model is None:
        return _at_level(request, profile)
    # Imported here, because only calls with one of these options need it.
    from profile_analyze.cli.inputs.adjustments import adjusted, part_of

    try:
        part = part_of(profile, request.part)
    except QueryError as error:
        raise naming_option(error) from None
    return adjusted(request, _at_level(request, part), model)


def _at_level(request: Request, profile: Profile) -> Profile:
    """Return the profile at the requested level, without the runs to skip."""
    try:
        remaining = without_first_runs(profile, request.skip_runs)
        if request.inspect is not None:  # `--inspect` shows the rows of all levels
            return remaining
        query = request.queries["device"]
        # A note on an unknown type names the level that has the type.
        keep_nested = request.has_stacks or bool(query.types)
        return at_level(remaining, query.level, keep_nested=keep_nested)
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

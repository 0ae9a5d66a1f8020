"""Reads several files: runs of one model, the two sides of a comparison, and files with labels.

A call with one file, no labels and no `--correct-drift` does not import this module.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from profile_analyze.cli.inputs.loading import (
    available_cores,
    engine_of,
    load_file,
    load_model,
    prepared,
    with_sizes_for_profiles,
)
from profile_analyze.comparison.comparison import COMPARISON_COLUMNS, compare
from profile_analyze.comparison.drift import without_drift
from profile_analyze.errors import InputError
from profile_analyze.fleet import entry
from profile_analyze.readers.input.many import load_runs

if TYPE_CHECKING:
    from collections.abc import Callable

    from profile_analyze.cli.inputs.files import Sources
    from profile_analyze.cli.output.progress import Progress
    from profile_analyze.cli.request import Request
    from profile_analyze.comparison.comparison import Comparison
    from profile_analyze.model.profile import Profile
    from profile_analyze.readers.base import Engine


class _Side(NamedTuple):
    """The files of one side of a comparison; without a comparison, all files."""

    files: list[str]
    data_sets: frozenset[str]
    is_baseline: bool


def read_several(
    request: Request, sources: Sources, wanted: frozenset[str], progress: Progress
) -> Profile | Comparison:
    """Return the profile or the comparison, as `read` in `cli/inputs/sources.py` describes."""
    data_sets = frozenset(sources.data_sets)
    sides = [_Side(sources.files, data_sets, is_baseline=False)]
    if sources.baseline:
        sides.append(_Side(sources.baseline, data_sets, is_baseline=True))
        wanted |= COMPARISON_COLUMNS
    model = load_model(request, wanted, progress)
    sized = with_sizes_for_profiles(request, len(sides))
    with engine_of(request) as engine:
        loaded = [_loaded(sized, side, wanted, progress, engine) for side in sides]
    profile, *baseline = prepared(request, loaded, model, sources.notes)
    joined = compare(profile, baseline[0], request.match) if baseline else profile
    return without_drift(joined) if request.correct_drift else joined


def _loaded(
    request: Request,
    side: _Side,
    wanted: frozenset[str],
    progress: Progress,
    engine: Engine | None,
) -> Profile:
    """Return one profile that has the runs of all files of a side, with the labels of the files."""
    profile = _joined(request, side, wanted, progress, engine)
    if request.labels is None:
        return profile
    return request.labels.labelled(profile, side.files, is_baseline=side.is_baseline)


def _load_with_data_sets(
    request: Request, side: _Side, progress: Progress
) -> Callable[..., Profile]:
    """Return the function that loads files and those parts of data sets that labels choose."""
    load_all = partial(
        entry.load_with_data_sets, data_sets=side.data_sets, found=progress.add_data_set
    )
    if request.labels is None:
        return load_all
    return partial(load_all, keeps=partial(request.labels.keeps, is_baseline=side.is_baseline))


def _joined(
    request: Request,
    side: _Side,
    wanted: frozenset[str],
    progress: Progress,
    engine: Engine | None,
) -> Profile:
    """Return one profile that has the runs of all files of a side."""
    files = side.files
    has_data_set = not side.data_sets.isdisjoint(files)
    if len(files) == 1 and not has_data_set:
        return load_file(request, files[0], wanted, progress)
    load_all = _load_with_data_sets(request, side, progress) if has_data_set else load_runs
    try:
        return load_all(
            files,
            wanted=wanted,
            skip_bad=request.skip_bad,
            progress=progress.counter_of_next(len(files)),
            # Only this process can read standard input.
            processes=1 if "-" in files else available_cores(),
            engine=engine,
            max_size=request.max_size,
            inputs=request.inputs,
            beside=request.model is None,
            cache=request.cache,
        )
    except InputError as error:
        if request.skip_bad or len(files) == 1:
            raise
        advice = "; --skip-bad leaves out what cannot be read"
        raise type(error)(error.file, error.reason + advice) from None

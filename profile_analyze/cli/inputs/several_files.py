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
)
from profile_analyze.comparison.comparison import COMPARISON_COLUMNS, compare
from profile_analyze.comparison.drift import without_drift
from profile_analyze.errors import InputError
from profile_analyze.fleet import entry
from profile_analyze.readers.input.many import load_runs

if TYPE_CHECKING:
    from collections.abc import Callable

    from profile_analyze.cli.inputs.files import Sources
    from profile_analyze.cli.inputs.labels import LabelOptions
    from profile_analyze.cli.inputs.loading import Wanted
    from profile_analyze.cli.options.reading import Reading
    from profile_analyze.cli.output.progress import Progress
    from profile_analyze.comparison.comparison import Comparison
    from profile_analyze.model.profile import Profile
    from profile_analyze.readers.base import Engine
    from profile_analyze.readers.model_inputs import ModelInputs


class _Side(NamedTuple):
    """The files of one side of a comparison; without a comparison, all files."""

    files: list[str]
    data_sets: frozenset[str]
    inputs: ModelInputs
    is_baseline: bool


def read_several(
    reading: Reading, sources: Sources, wanted: Wanted, progress: Progress
) -> Profile | Comparison:
    """Return the profile or the comparison, as `read` in `cli/inputs/sources.py` describes."""
    of_sides = [sources.files, sources.baseline] if sources.baseline else [sources.files]
    data_sets, inputs = frozenset(sources.data_sets), reading.inputs_of_profiles(len(of_sides))
    sides = [
        _Side(files, data_sets, inputs, is_baseline=files is sources.baseline) for files in of_sides
    ]
    if sources.baseline:
        wanted = wanted._replace(columns=wanted.columns | COMPARISON_COLUMNS)
    model = load_model(reading, wanted, progress)
    with engine_of(reading) as engine:
        loaded = [_loaded(reading, side, wanted, progress, engine) for side in sides]
    profile, *baseline = prepared(reading, loaded, model, wanted, sources.notes)
    joined = compare(profile, baseline[0], reading.match) if baseline else profile
    return without_drift(joined) if reading.correct_drift else joined


def _loaded(
    reading: Reading,
    side: _Side,
    wanted: Wanted,
    progress: Progress,
    engine: Engine | None,
) -> Profile:
    """Return one profile that has the runs of all files of a side, with the labels of the files."""
    profile = _joined(reading, side, wanted, progress, engine)
    if reading.labels is None:
        return profile
    return reading.labels.labelled(profile, side.files, is_baseline=side.is_baseline)


def _load_with_data_sets(
    labels: LabelOptions | None, side: _Side, progress: Progress
) -> Callable[..., Profile]:
    """Return the function that loads files and those parts of data sets that labels choose."""
    load_all = partial(
        entry.load_with_data_sets, data_sets=side.data_sets, found=progress.add_data_set
    )
    if labels is None:
        return load_all
    return partial(load_all, keeps=partial(labels.keeps, is_baseline=side.is_baseline))


def _joined(
    reading: Reading,
    side: _Side,
    wanted: Wanted,
    progress: Progress,
    engine: Engine | None,
) -> Profile:
    """Return one profile that has the runs of all files of a side."""
    files = side.files
    has_data_set = not side.data_sets.isdisjoint(files)
    if len(files) == 1 and not has_data_set:
        return load_file(reading, files[0], side.inputs, wanted, progress)
    load_all = _load_with_data_sets(reading.labels, side, progress) if has_data_set else load_runs
    try:
        return load_all(
            files,
            wanted=wanted.columns,
            skip_bad=reading.skip_bad,
            progress=progress.counter_of_next(len(files)),
            # Only this process can read standard input.
            processes=1 if "-" in files else available_cores(),
            engine=engine,
            max_size=reading.max_size,
            inputs=side.inputs,
            beside=reading.model is None,
            cache=reading.cache,
        )
    except InputError as error:
        if reading.skip_bad or len(files) == 1:
            raise
        advice = "; --skip-bad leaves out what cannot be read"
        raise type(error)(error.file, error.reason + advice) from None

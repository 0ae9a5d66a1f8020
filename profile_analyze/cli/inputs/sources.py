"""Reads the files of a request into a profile or a comparison."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from profile_analyze.cli.inputs.loading import load_file, load_model, prepared
from profile_analyze.cli.inputs.names_of_sides import sides_of
from profile_analyze.cli.options.values import LOCAL
from profile_analyze.cli.output.progress import Progress
from profile_analyze.model.findings import Finding, Kind
from profile_analyze.readers.input.content import display_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from profile_analyze.cli.inputs.files import Sources
    from profile_analyze.cli.inputs.labels import LabelOptions
    from profile_analyze.cli.inputs.loading import Wanted
    from profile_analyze.cli.options.reading import Reading
    from profile_analyze.comparison.comparison import Comparison
    from profile_analyze.model.notes import Note
    from profile_analyze.model.profile import Profile


def chosen_by_label(labels: LabelOptions | None, sources: Sources) -> Sources:
    """Return only the sources that the options on labels choose. Raises `QueryError`."""
    if labels is None:
        return sources
    files = labels.choose(sources.files)
    baseline = labels.choose(sources.baseline) if sources.baseline else []
    notes = [*labels.left_out_notes([*sources.files, *sources.baseline])]
    if labels.baseline:
        chosen = files
        files, baseline = labels.sides(chosen)
        notes += labels.on_neither_side_notes(chosen)
    notes = [*sources.notes, *notes]
    return sources._replace(files=files, baseline=baseline, notes=tuple(notes))


def notes_on_merged_sides(files: Sequence[str], baseline: Sequence[str]) -> Iterator[Note]:
    """Yield a note if names such as `old.json new.json` suggest that `--compare` is missing."""
    # More than two files probably come from patterns such as `old/*.json new/*.json`. Then, the
    # names of the folders are compared.
    files = [*map(display_name, files)]
    names = files if len(files) == 2 else list(dict.fromkeys(map(os.path.dirname, files)))
    if baseline or len(names) != 2:
        return
    sides = sides_of(*names)
    if sides is not None:
        old, new = sides
        yield Finding.of("sides-without-compare", Kind.WRONG, old=old, new=new)


def read(reading: Reading, sources: Sources, wanted: Wanted) -> Profile | Comparison:
    """Return the profile or the comparison, at the wanted level.

    `sources` are those of `reading` that labels choose, with notes on them.

    Raises `InputError`, and the errors of `prepared`.
    """
    sources = sources._replace(notes=(*sources.notes, *_notes_on_engine(reading.engine, sources)))
    progress = Progress(len(sources.files) + len(sources.baseline))
    try:
        is_one_file = len(sources.files) == 1 and not (sources.data_sets or sources.baseline)
        if is_one_file and reading.labels is None and not reading.correct_drift:
            model = load_model(reading, wanted, progress)
            inputs = reading.inputs_of_profiles()
            loaded = load_file(reading, sources.files[0], inputs, wanted, progress)
            return prepared(reading, [loaded], model, wanted, sources.notes)[0]
        # Imported here, because most calls have one file: they neither join runs nor compare.
        from profile_analyze.cli.inputs.several_files import read_several

        return read_several(reading, sources, wanted, progress)
    finally:
        progress.clear()


def _notes_on_engine(engine: str, sources: Sources) -> Iterator[Note]:
    """Yield a note if the user chose an engine, but no side has several files for it to read."""
    is_needed = sources.data_sets or max(len(sources.files), len(sources.baseline)) > 1
    if engine != LOCAL and not is_needed:
        yield Finding.of("idle-engine", Kind.CONTEXT, compared=bool(sources.baseline))

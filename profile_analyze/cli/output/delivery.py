"""Delivers the answer to standard output or to a file, and writes pictures and models."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from profile_analyze.cli.output.standard import NewFiles, check_destination, show
from profile_analyze.cli.output.terminal import is_terminal
from profile_analyze.errors import OutputError
from profile_analyze.model.visible import escaped
from profile_analyze.report.formats.output_formats import find_renderer, picture_format_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

    from profile_analyze.cli.inputs.files import Sources
    from profile_analyze.cli.options.writing import Writing
    from profile_analyze.cli.output.appearance import Appearance
    from profile_analyze.cli.output.further_files import FurtherFiles
    from profile_analyze.model.notes import NoteChoice
    from profile_analyze.report.base import Renderer, Report
    from profile_analyze.writers import WrittenModel

_CHUNK_SIZE: Final = 16 << 20  # bytes


def files_written(writing: Writing, notes: NoteChoice) -> list[str]:
    """Return a sentence on each file that the answered call wrote.

    Only people need these sentences, so the result is empty if standard error is not a terminal. It
    is also empty with `--notes none`.
    """
    if notes == "none" or not is_terminal(sys.stderr):
        return []
    return [f"wrote {file}" for file in writing.files.values()]


def check_destinations(writing: Writing, sources: Sources) -> None:
    """Raise `OutputError` if a problem with the output files can be found before reading."""
    named: dict[str, str] = {}
    for option, file in writing.files.items():
        check_destination(file, sources.not_to_replace, force=writing.force)
        other = named.setdefault(os.path.realpath(file), option)
        if other != option:
            raise OutputError(f"{file}: {other} and {option} name the same file; name two files")


def deliver(
    report: Report,
    further: FurtherFiles | None,
    renderer: Renderer,
    appearance: Appearance,
    writing: Writing,
) -> None:
    """Print or write the report, and write further files. New files appear together or not at all.

    Raises `OutputError`. Raises `QueryError` if the output format cannot show the report.
    """
    display = appearance.display(writing.output)
    with NewFiles(force=writing.force) as files:
        # Further files come first, because printing cannot be undone if writing fails.
        if writing.plot is not None and further is not None and further.picture is not None:
            drawer = find_renderer(picture_format_of(writing.plot))
            files.write(writing.plot, drawer.pieces(further.picture, display))
        if writing.write_model is not None and further is not None and further.model is not None:
            _write_model(writing.write_model, further.model, files)
        pieces = renderer.pieces(report, display)
        if writing.output is None:
            show(pieces, paged=appearance.paged)
        else:
            files.write(writing.output, pieces)


def _write_model(file: str, model: WrittenModel, files: NewFiles) -> None:
    """Write a model, and copy the files with its external data beside it. Raises `OutputError`."""
    folder = Path(file).parent
    # With the same name, the model and a file with its values would overwrite each other.
    names = [name for name in model.external if "\0" not in name]
    if os.path.realpath(file) in [os.path.realpath(folder / name) for name in names]:
        raise OutputError(
            f"{file}: the model has values in a file of this name; choose another name"
        )
    files.write(file, [model.data])
    if model.folder is None or folder.resolve() == model.folder.path.resolve():
        return
    for name in names:
        # A damaged or hostile model can name any file of the machine.
        if model.folder.is_outside(name):
            raise OutputError(
                f"{file}: the model has values in {escaped(name)}, and values outside of its "
                f"folder are not copied; write the new model to {model.folder.path}"
            )
        copy = str(folder / name)
        # A missing file is not an error: the original model lacks it, too.
        if (stream := model.folder.open(name)) is not None:
            with stream:
                check_destination(copy, [str(model.folder.path / name)], force=files.force)
                files.write(copy, _chunks(stream))


def _chunks(stream: BinaryIO) -> Iterator[bytes]:
    while chunk := stream.read(_CHUNK_SIZE):
        yield chunk

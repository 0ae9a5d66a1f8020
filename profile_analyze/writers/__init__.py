"""Writes models. `splitter` needs the package `onnx`, so it is imported only to write a model."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from profile_analyze.model.notes import Note
    from profile_analyze.readers.input.source import Source
    from profile_analyze.readers.onnx.safety.external_data import ModelFolder


class WrittenModel(NamedTuple):
    """A new model, ready to be written to a file."""

    data: bytes
    folder: ModelFolder | None
    """The folder of the original model; None if it was not read from a local file."""
    external: tuple[str, ...]
    """The files with external data, relative to the folder of the model. Some may be missing."""
    notes: tuple[Note, ...]


def split_model(source: Source) -> WrittenModel:
    """Return the model in `source`, with its matrix products split into tiles.

    `source.inputs` has the size of the tiles. Raises `InputError` if the model cannot be read, or
    if the new model is larger than 2 GiB. Raises `QueryError` if it would have too many products.
    """
    made: WrittenModel = import_module(f"{__name__}.splitter").split_model(source)
    return made

"""Finds the reader that recognises an input."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from profile_analyze.readers.input.source import HEAD_SIZE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from profile_analyze.readers.base import Reader
    from profile_analyze.readers.input.source import Source

ASCEND: Final = (
    "a profile of an Ascend NPU (torch_npu), which is not supported; open it in MindStudio Insight"
)
"""What a file of torch_npu looks like. Read as a PyTorch trace, which has the same events of
operators, it would show host times as device times."""

_LONG_HEAD: Final = 16 << 20
"""If no reader recognises the first 64 KiB, the readers get this many bytes. A file may begin with
more than 64 KiB of metadata."""


def reader_among(readers: Sequence[Reader], source: Source) -> Reader | None:
    """Return the first of `readers` that recognises `source`; None if no reader does."""
    head = source.head()
    reader = first_reader(readers, head, source.name)
    if reader is None and len(head) == HEAD_SIZE:  # a shorter head is the whole file
        reader = first_reader(readers, source.head(_LONG_HEAD), source.name)
    return reader


def first_reader(readers: Iterable[Reader], head: bytes, name: str) -> Reader | None:
    """Return the first reader that recognises `head` and `name`; None if no reader does."""
    return next((reader for reader in readers if reader.recognises(head, name)), None)

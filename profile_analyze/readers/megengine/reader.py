"""The MegEngine reader: recognises files, decodes them, and explains what is wrong with them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec
import numpy as np

from profile_analyze.errors import MalformedProfileError
from profile_analyze.gc_pause import gc_paused
from profile_analyze.model.executions import Run
from profile_analyze.model.findings import Finding, Kind
from profile_analyze.model.origin import Origin
from profile_analyze.model.profile import Profile
from profile_analyze.model.visible import visible
from profile_analyze.readers.base import BatchReader, Reader, ReadTogether
from profile_analyze.readers.input.second_document import (
    advice_to_split,
    second_document_before_repair,
)
from profile_analyze.readers.json_errors import TOO_DEEP, detail_of
from profile_analyze.readers.megengine.executions import read_executions
from profile_analyze.readers.megengine.graph import graph_tables
from profile_analyze.readers.megengine.operators import read_operators
from profile_analyze.readers.megengine.sections import (
    BrokenValueError,
    decode_document,
    decode_times,
)
from profile_analyze.units import counted

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

    from profile_analyze.model.executions import Executions, Track
    from profile_analyze.model.notes import Note
    from profile_analyze.model.operators import Operators
    from profile_analyze.model.tables import Tensors, Uses
    from profile_analyze.model.terms import Side
    from profile_analyze.readers.input.source import Source
    from profile_analyze.readers.megengine.operators import DecodedOperators
    from profile_analyze.readers.megengine.sections import Intervals

# JSON allows these bytes nowhere. Tabs and line breaks are left out, because JSON allows them
# between values, and the writer escapes them in strings.
_RAW_CONTROL: Final = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_FIRST_KEY: Final = re.compile(rb'\{\s*"profiler"\s*:')
_OWN_KEY: Final = re.compile(rb'"(graph_exec|opr_footprint)"\s*:')  # no other format has these

_ORIGIN: Final = Origin(format="MegEngine GraphProfiler JSON")
_GRAPH_TABLES: Final = frozenset({"tensors", "uses"})


class MegEngineReader(Reader, BatchReader):
    """Reads GraphProfiler JSON, as `load_and_run --profile` writes it."""

    format = _ORIGIN.format
    default_output_format = "table"  # what MegEngine's own profile_analyze prints

    def recognises(self, head: bytes, name: str) -> bool:  # noqa: ARG002  # part of `Recogniser`
        """See `Recogniser.recognises`."""
        if not head.startswith(b"{"):
            return False
        return (_FIRST_KEY.match(head) or _OWN_KEY.search(head)) is not None

    def read(self, source: Source, wanted: Collection[str]) -> Profile:
        """See `Reader.read`.

        Accepts raw control characters in strings. JSON forbids them, but MegEngine writes them on
        x86.
        """
        data = source.content()
        with gc_paused():
            _check_memory(len(data))
            try:
                return _read_file(source.name, data, wanted)
            except BrokenValueError as error:
                failure = error
            # Escaping copies the whole file, so only files that fail to decode are escaped.
            escaped, count = _RAW_CONTROL.subn(lambda control: b"\\u%04x" % ord(control[0]), data)
            note = Finding.of("raw-control-characters", Kind.CONTEXT, characters=count)
            try:
                if count:
                    return _read_file(source.name, escaped, wanted, note)
            except BrokenValueError as error:
                failure = error
            second = second_document_before_repair(data, escaped)
            reason = _explain(failure, data) if second is None else advice_to_split(second)
            raise MalformedProfileError(source.name, visible(reason, "utf-8"))

    def read_together(
        self, sources: Sequence[Source], wanted: Collection[str]
    ) -> ReadTogether | None:
        """See `BatchReader.read_together`."""
        contents = [source.content() for source in sources]
        with gc_paused():
            _check_memory(sum(map(len, contents)))
            try:
                return _read_files([source.name for source in sources], contents, wanted)
            except BrokenValueError:
                # The files are then read one by one: `read` repairs or names the damaged file.
                return None


def _read_file(file: str, data: bytes, wanted: Collection[str], *first_notes: Note) -> Profile:
    """Return the profile in the JSON `data`; `first_notes` precede its other notes.

    Raises `BrokenValueError`.
    """
    decoded = _decode([data], wanted)
    return _profile(file, [file], decoded, (*first_notes, *decoded.notes[0]))


def _read_files(
    files: Sequence[str], contents: Sequence[bytes], wanted: Collection[str]
) -> ReadTogether:
    """Return one profile of all files, with a run for each file. Raises `BrokenValueError`."""
    # A profile of several files has no tables of tensors and uses.
    decoded = _decode(contents, frozenset(wanted) - _GRAPH_TABLES)
    profile = _profile(counted(len(files), "file"), files, decoded)
    return ReadTogether(profile, decoded.file_of, decoded.notes)


class _Decoded(NamedTuple):
    """The tables of files, one file after another, with a run for each file."""

    operators: Operators
    executions: Executions
    tracks: tuple[Track, ...]
    graph: tuple[Tensors | None, Uses | None]
    """The tensors and uses of the first file's graph; None if they were not decoded."""
    file_of: NDArray[np.int64]
    """See `ReadTogether.file_of`."""
    notes: Sequence[Sequence[Note]]
    """The notes on each file."""


def _profile(
    name: str, files: Sequence[str], decoded: _Decoded, notes: tuple[Note, ...] = ()
) -> Profile:
    """Return the profile of `files`, whose name is `name`."""
    tensors, uses = decoded.graph
    return Profile(
        file=name,
        origin=_ORIGIN,
        operators=decoded.operators,
        executions=decoded.executions,
        tracks=decoded.tracks,
        runs=tuple(map(Run, range(len(files)))),
        processes=tuple(files),
        tensors=tensors,
        uses=uses,
        not_loaded=_GRAPH_TABLES if tensors is None else frozenset(),
        notes=notes,
    )


def _decode(contents: Sequence[bytes], wanted: Collection[str]) -> _Decoded:
    """Return the tables of all files. Raises `BrokenValueError`."""
    operators, times, graph = _decode_documents(contents, wanted)
    executions, tracks, notes = read_executions(operators, times)
    return _Decoded(operators.operators, executions, tracks, graph, operators.file_of, notes)


def _decode_documents(
    contents: Sequence[bytes], wanted: Collection[str]
) -> tuple[DecodedOperators, dict[Side, Intervals], tuple[Tensors | None, Uses | None]]:
    """Return the operators and times of all files, and the tables of the first file's graph.

    Raises `BrokenValueError`.
    """
    # The objects that msgspec makes are freed when this function returns. The executions then reuse
    # their memory.
    documents = list(map(decode_document, contents))
    # Times are decoded first: operators then reuse the memory of the decoded intervals.
    times = decode_times([document.profiler for document in documents])
    decoded = read_operators(documents, wanted)
    with_graph = not _GRAPH_TABLES.isdisjoint(wanted)
    return decoded, times, graph_tables(documents[0].graph_exec) if with_graph else (None, None)


def _check_memory(size: int) -> None:
    """Raise `MemoryError` if there is too little memory to decode `size` bytes.

    Decoding usually takes more than half of `size`. msgspec may crash if memory runs out meanwhile.
    Nothing is written to the array, so allocating it takes almost no time.
    """
    np.empty(size // 2, np.uint8)


def _explain(failure: BrokenValueError, data: bytes) -> str:
    """Return what is wrong with a file, where, and what to do."""
    error, path = failure.error, failure.path
    if isinstance(error, RecursionError):
        return TOO_DEEP
    if isinstance(error, UnicodeDecodeError):
        return f"at {path}: text that is not UTF-8, {error.object[error.start :][:8]!r}"
    text = str(error)
    if isinstance(error, msgspec.ValidationError):
        what, _, inner = text.partition(" - at `$")  # msgspec: "Expected ... - at `$.path`"
        # msgspec describes the texts for inf and nan as an enum, which users would not expect.
        what = what.replace("Invalid enum value", "Expected a number, inf, -inf or nan, got")
        return f"at {path}{inner.removesuffix('`')}: {what[0].lower()}{what[1:]}"
    if "truncated" in text:
        return (
            f"truncated: the JSON ends in the middle, at byte {len(data)}; "
            "the program that wrote it may have died: profile again"
        )
    return f"is not valid JSON: {detail_of(error)}"

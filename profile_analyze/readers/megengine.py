"""The JSON of MegEngine's GraphProfiler. `docs/formats.md` describes it field by field."""

from __future__ import annotations

import re
from contextlib import suppress
from functools import lru_cache
from itertools import chain, count, repeat
from math import prod
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

import msgspec
import numpy as np

from profile_analyze.errors import MalformedProfileError
from profile_analyze.gc_pause import gc_paused
from profile_analyze.model.categorical import Categorical
from profile_analyze.model.executions import Executions, Run
from profile_analyze.model.numbers import difference
from profile_analyze.model.operators import OPTIONAL_COLUMNS, Operators
from profile_analyze.model.profile import Origin, Profile
from profile_analyze.model.terms import DEVICE
from profile_analyze.model.visible import visible
from profile_analyze.readers.base import BatchReader, Reader, ReadTogether
from profile_analyze.readers.megengine_sections import (
    FOOTPRINTS,
    FOOTPRINTS_WITH_PARAMETERS,
    IN_LAYOUTS,
    IN_SHAPES,
    INFERRED_SHAPE,
    INPUTS,
    MEMORY_PLAN,
    NO_FOOTPRINT,
    NO_VARIABLE,
    OPERATORS,
    OUT_SHAPES,
    PARAMETERS,
    REMEMBERED,
    BrokenPartError,
    Footprint,
    Operator,
    column,
    document_in,
    numbers,
    texts,
    times_of,
)
from profile_analyze.readers.megengine_terms import bytes_of, category_of, dtype_of, track_of
from profile_analyze.units import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from profile_analyze.model.executions import Track
    from profile_analyze.model.operators import Dtypes, Parameters, Shape
    from profile_analyze.model.tables import Tensors, Uses
    from profile_analyze.model.terms import Side
    from profile_analyze.readers.megengine_sections import (
        Document,
        Graph,
        IntervalColumns,
        TimeColumns,
        Variable,
    )
    from profile_analyze.readers.source import Source

_Note: TypeAlias = tuple[int, str]  # the index of the file it is about, and the text

_STRANGER: Final = -1  # the row of an entry that belongs to no operator

# Control characters that JSON allows nowhere, not even as blanks. (The writer escapes the others.)
_CONTROL: Final = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_FIRST_KEY: Final = re.compile(rb'\{\s*"profiler"\s*:')
_OWN_KEY: Final = re.compile(rb'"(graph_exec|opr_footprint)"\s*:')  # no other format has these


ORIGIN: Final = Origin(format="MegEngine GraphProfiler JSON")

_GRAPH_TABLES: Final = frozenset({"tensors", "uses"})


class MegEngineReader(Reader, BatchReader):
    """Reads GraphProfiler JSON, of `load_and_run --profile` and its like."""

    format = ORIGIN.format
    hallmark = "an object with the keys profiler and graph_exec"
    default_output_format = "table"  # as the tool that this one replaces prints it

    def recognises(self, head: bytes, name: str) -> bool:  # noqa: ARG002  # of `Recogniser`
        """See `Recogniser.recognises`."""
        if not head.startswith(b"{"):
            return False
        return (_FIRST_KEY.match(head) or _OWN_KEY.search(head)) is not None

    def read(self, source: Source, wanted: Collection[str]) -> Profile:
        """See `Reader.read`.

        Accepts raw control characters in strings, which JSON forbids and the x86 writer emits.
        """
        file, data = source.name, source.content()
        with gc_paused():
            _check_memory(len(data))
            try:
                return _profile(file, data, wanted)
            except BrokenPartError as error:
                broken = error
            escaped, count = _CONTROL.subn(_escaped, data)
            note = f"read {counted(count, 'raw control character')} in strings, which JSON forbids"
            try:
                if count:
                    return _profile(file, escaped, wanted, note)
            except BrokenPartError as error:
                broken = error
            reason = _reason(broken.path, broken.error, data)
            raise MalformedProfileError(file, visible(reason, "utf-8"))

    def read_together(
        self, sources: Sequence[Source], wanted: Collection[str]
    ) -> ReadTogether | None:
        """See `BatchReader.read_together`."""
        contents = [source.content() for source in sources]
        with gc_paused():
            _check_memory(sum(map(len, contents)))
            try:
                documents = list(map(document_in, contents))
                times = times_of([document.profiler for document in documents])
                told = _told(documents, wanted)
            except BrokenPartError:  # or one has raw control characters
                return None
            executions, tracks, notes = _executions(told, times)
            files = tuple(source.name for source in sources)
            profile = Profile(
                file=counted(len(files), "file"),
                origin=ORIGIN,
                operators=told.operators,
                executions=executions,
                tracks=tracks,
                runs=tuple(map(Run, range(len(files)))),
                processes=files,
            )
            notes_of_files = [[text for of, text in notes if of == n] for n in range(len(files))]
            return ReadTogether(profile, told.file_of, notes_of_files)


def _check_memory(size: int) -> None:
    """Raise `MemoryError` if there is too little memory to decode `size` bytes.

    The decoder may crash if memory runs out while it works. What is allocated here is never written
    to.
    """
    np.empty(size // 2, np.uint8)


def _escaped(control: re.Match[bytes]) -> bytes:
    return b"\\u%04x" % ord(control[0])


def _reason(path: str, error: Exception, data: bytes) -> str:
    """What is wrong with the part at `path` of `data`, and what to do."""
    if isinstance(error, RecursionError):
        return "is nested too deeply for a profile"
    if isinstance(error, UnicodeDecodeError):
        return f"at {path}: text that is not UTF-8, {error.object[error.start :][:8]!r}"
    text = str(error)
    if isinstance(error, msgspec.ValidationError):
        what, _, inner = text.partition(" - at `$")
        what = what.replace("Invalid enum value", "Expected a number, inf, -inf or nan, got")
        return f"at {path}{inner.removesuffix('`')}: {what[0].lower()}{what[1:]}"
    if "truncated" in text:
        return (
            f"truncated: the JSON ends in the middle, at byte {len(data)}; "
            "the program that wrote it may have died: profile again"
        )
    return f"is not valid JSON: {text.removeprefix('JSON is malformed: ')}"


def _profile(file: str, data: bytes, wanted: Collection[str], *first_notes: str) -> Profile:
    """The profile in the text `data`; `first_notes` come before its own notes.

    Raises `BrokenPartError`.
    """
    document = document_in(data)
    times = times_of([document.profiler])  # first: the memory of its objects is used again
    told = _told([document], wanted)
    executions, tracks, notes = _executions(told, times)
    return Profile(
        file=file,
        origin=ORIGIN,
        operators=told.operators,
        executions=executions,
        tracks=tracks,
        runs=(Run(),),
        processes=(file,),
        tensors=told.tensors,
        uses=told.uses,
        not_loaded=frozenset(() if told.tensors else _GRAPH_TABLES),
        notes=(*first_notes, *(text for _, text in notes)),
    )


class _Told(NamedTuple):
    """What files say about their operators, except times; the operators of all files in turn."""

    operators: Operators
    tensors: Tensors | None
    uses: Uses | None
    notes: list[_Note]
    file_of: NDArray[np.int64]
    """Shape (operators,): the index of each one's file."""
    row_of: list[dict[str, int]]
    """For each file the rows of its operators in the columns, by their ids."""


def _told(documents: Sequence[Document], wanted: Collection[str]) -> _Told:
    """What is in `documents`, except times. Raises `BrokenPartError`."""
    graphs = [document.graph_exec for document in documents]
    row_of = _rows([graph.operator for graph in graphs])
    file_of = np.repeat(np.arange(len(graphs)), [len(graph.operator) for graph in graphs])
    operators = list(chain.from_iterable(graph.operator.values() for graph in graphs))
    of_files, notes = _footprints(documents, wanted)
    footprints = list(chain.from_iterable(of_files))
    computation, computation_notes = _work(footprints, "computation", file_of)
    computation[computation == 0] = np.nan  # the writer's sign for a type without a formula
    memory, memory_notes = _work(footprints, "memory", file_of)
    stale_notes = [
        (file, note)
        for file, (of_file, graph) in enumerate(zip(of_files, graphs, strict=True))
        for note in _on_stale_footprints(of_file, graph)
    ]
    types = Categorical.of(column(operators, "type"))
    is_graph_wanted = len(graphs) == 1 and not _GRAPH_TABLES.isdisjoint(wanted)
    tensors, uses = _tensors(graphs[0]) if is_graph_wanted else (None, None)
    return _Told(
        operators=Operators.of(
            key=_ids(list(chain.from_iterable(row_of))),
            name=Categorical.of(column(operators, "name")),
            type=types,
            category=types.mapped(category_of),
            computation=computation,
            memory=memory,
            optional=_optional_columns(wanted, footprints, graphs),
            not_loaded=frozenset(OPTIONAL_COLUMNS) - frozenset(wanted),
        ),
        tensors=tensors,
        uses=uses,
        notes=[*notes, *computation_notes, *memory_notes, *stale_notes],
        file_of=file_of,
        row_of=row_of,
    )


def _rows(files: Iterable[Mapping[str, Operator]]) -> list[dict[str, int]]:
    """For each file, the rows of its operators. Rows are numbered over all files."""
    rows = count()
    return [dict(zip(operators, rows)) for operators in files]  # noqa: B905  # rows have no end


def _footprints(
    documents: Iterable[Document], wanted: Collection[str]
) -> tuple[list[list[Footprint]], list[_Note]]:
    """The footprints of all operators of each file, and notes."""
    section = FOOTPRINTS_WITH_PARAMETERS if "parameters" in wanted else FOOTPRINTS
    of_files: list[list[Footprint]] = []
    notes: list[_Note] = []
    for file, document in enumerate(documents):
        operators = document.graph_exec.operator
        found = section.of(document.profiler.opr_footprint)
        of_files.append(list(map(found.get, operators, repeat(NO_FOOTPRINT))))
        strangers = len(found) - sum(map(found.__contains__, operators))
        if strangers:
            notes.append((file, _on_strangers("opr_footprint", strangers)))
    return of_files, notes


def _ids(texts: Sequence[str]) -> NDArray[np.int64]:
    digits = "".join(texts)
    if not texts or (digits.isascii() and digits.isdecimal()):  # `int` takes " 1_0" too
        with suppress(ValueError, OverflowError):
            return np.fromiter(map(int, texts), np.int64, len(texts))
    wrong = [text for text in texts if not re.fullmatch(r"[0-9]{1,18}", text)]
    bad = min(wrong, key=str.isdecimal)  # one that is too long only if no other is wrong
    error = msgspec.ValidationError(f"the operator id {bad!r} is not a whole number")
    raise BrokenPartError(OPERATORS.path, error)


def _texts(entries: Iterable[object], field: str) -> Categorical[bytes]:
    """A field of every entry that is not decoded, as the text it is; empty where it is missing."""
    return Categorical.of(texts(entries, field))


def _executions(
    told: _Told, times: TimeColumns
) -> tuple[Executions, tuple[Track, ...], list[_Note]]:
    """When operators ran on device and host, the tracks of both, and all notes."""
    device = _of_side("device", times.device, told)
    host = _of_side("host", times.host, told)
    operator, run, track, start_s, duration_s, first_kernel_s = (
        np.concatenate(both)
        for both in zip(
            device.columns,
            host.columns._replace(track=host.columns.track + len(device.tracks)),
            strict=True,
        )
    )
    executions = Executions.of(
        operator,
        duration_s,
        run=run,
        track=track,
        start_s=start_s,
        first_kernel_s=first_kernel_s,
    )
    tracks = (*device.tracks, *host.tracks)
    on_zero_times = _on_zero_times(executions, tracks, len(told.row_of))
    return executions, tracks, [*device.notes, *host.notes, *told.notes, *on_zero_times]


class _Columns(NamedTuple):
    """The columns of `Executions` that the format has."""

    operator: NDArray[np.int64]
    run: NDArray[np.int64]
    track: NDArray[np.int64]
    start_s: NDArray[np.float64]
    duration_s: NDArray[np.float64]
    first_kernel_s: NDArray[np.float64]


class _OfSide(NamedTuple):
    """The times on one side, device or host."""

    columns: _Columns
    tracks: tuple[Track, ...]
    notes: list[_Note]


def _of_side(side: Side, columns: IntervalColumns, told: _Told) -> _OfSide:
    ids, sizes, lane, start_s, kern_s, end_s = columns
    found = (
        map(rows.get, of_file, repeat(_STRANGER))
        for rows, of_file in zip(told.row_of, ids, strict=True)
    )
    rows = np.fromiter(chain.from_iterable(found), np.int64, len(sizes))
    operator = np.repeat(rows, sizes)
    known = operator != _STRANGER
    if not known.all():
        operator, start_s, kern_s, end_s = (
            values[known] for values in (operator, start_s, kern_s, end_s)
        )
        lane = Categorical.of(lane.values()[known].tolist())  # without the tracks of strangers
    # no kernel on this thread: the writer says -1 then
    kern_s = np.where(kern_s < start_s, np.nan, kern_s)
    end_s = np.where(end_s < start_s, np.nan, end_s)
    is_late = kern_s > end_s
    kern_s[is_late] = np.nan
    found_columns = _Columns(
        operator=operator,
        run=told.file_of[operator],
        track=lane.codes,
        start_s=start_s,
        duration_s=difference(end_s, start_s),
        first_kernel_s=difference(kern_s, start_s),
    )
    return _OfSide(
        found_columns,
        tuple(track_of(name, side) for name in lane.categories),
        [
            *_on_entries(side, columns, rows),
            *_on_times(side, found_columns, is_late, told.file_of),
        ],
    )


def _on_zero_times(executions: Executions, tracks: Sequence[Track], runs: int) -> Iterator[_Note]:
    """A note for each file in which OpenCL measured nothing."""
    is_opencl = [track.side == DEVICE and "opencl" in track.name for track in tracks]
    if not any(is_opencl):
        return
    chosen = np.array(is_opencl)[executions.track]
    run, duration_s = executions.run[chosen], np.nan_to_num(executions.duration_s[chosen])
    totals = np.bincount(run, duration_s, minlength=runs)
    known = np.bincount(run[~np.isnan(executions.duration_s[chosen])], minlength=runs)
    for file in np.flatnonzero((totals == 0) & (known > 0)).tolist():
        yield file, "OpenCL measures only after CompNode::enable_opencl_profile(true)"


def _on_entries(side: str, columns: IntervalColumns, rows: NDArray[np.int64]) -> Iterator[_Note]:
    """Notes on entries that were left out; `rows` are the operators' rows of all entries."""
    is_stranger, is_empty = rows == _STRANGER, columns.sizes == 0
    if not (is_stranger.any() or is_empty.any()):
        return
    file_of = np.repeat(np.arange(len(columns.ids)), list(map(len, columns.ids)))
    yield from _said(file_of[is_stranger], lambda count: _on_strangers(side, count))
    yield from _said(
        file_of[is_empty],
        lambda count: (
            f"left out {counted(count, 'entry', 'entries')} of {side} without a thread or comp node"
        ),
    )


def _on_times(
    side: str, columns: _Columns, is_late: NDArray[np.bool_], file_of: NDArray[np.int64]
) -> Iterator[_Note]:
    """Notes on times that are N/A, and on wait times without the executions that are late."""
    is_unknown = np.isnan(columns.duration_s)
    if is_unknown.any():
        unknown = np.zeros(len(file_of), np.bool_)
        unknown[columns.operator[is_unknown]] = True
        yield from _said(
            file_of[unknown],
            lambda count: (
                f"the {side} time of {counted(count, 'operator')} is N/A: in the file "
                "it is missing, not a finite number, or ends before it starts"
            ),
        )
    if is_late.any():
        late = np.zeros(len(file_of), np.bool_)
        late[columns.operator[is_late]] = True
        yield from _said(
            file_of[late],
            lambda count: (
                f"the {side} wait time of {counted(count, 'operator')} leaves out where, "
                "in the file, the first kernel starts after the end"
            ),
        )


def _said(file_of: NDArray[np.int64], text: Callable[[int], str]) -> Iterator[_Note]:
    """A note on each file in `file_of`; `text` makes it from how often the file occurs."""
    for file, times in enumerate(np.bincount(file_of).tolist()):
        if times:
            yield file, text(times)


def _on_strangers(section: str, count: int) -> str:
    entries = counted(count, "entry", "entries")
    return f"left out {entries} of {section} that belong to no operator of the graph"


def _work(
    footprints: Iterable[Footprint], field: str, file_of: NDArray[np.int64]
) -> tuple[NDArray[np.float64], Iterable[_Note]]:
    """The computation or memory of operators, and notes on negative values."""
    amounts = numbers(footprints, field)
    is_negative = amounts < 0
    if not is_negative.any():
        return np.abs(amounts), ()  # -0 becomes 0
    amounts[is_negative] = np.nan
    notes = _said(
        file_of[is_negative],
        lambda count: (
            f"the {field} of {counted(count, 'operator')} is N/A: in the file it is negative"
        ),
    )
    return np.abs(amounts), notes


def _optional_columns(
    asked: Collection[str],
    footprints: Sequence[Footprint],
    graphs: Sequence[Graph],
) -> dict[str, Any]:
    """The optional columns that are asked for, by name. Raises `BrokenPartError`."""
    makers: dict[str, Callable[[], Categorical[Any]]] = {
        "in_shapes": lambda: _texts(footprints, "in_shapes").mapped(IN_SHAPES.of_optional),
        "in_strides": lambda: _layouts(footprints).mapped(IN_LAYOUTS.of_optional),
        "out_shapes": lambda: _texts(footprints, "out_shapes").mapped(OUT_SHAPES.of_optional),
        "input_dtypes": lambda: _input_dtypes(graphs),
        "compute_dtype": lambda: _input_dtypes(graphs).mapped(_compute_dtype),
        "parameters": lambda: _texts(footprints, "param").mapped(_parameters),
    }
    return {name: make() for name, make in makers.items() if name in asked}


def _compute_dtype(dtypes: Dtypes) -> str | None:
    """The canonical dtype of the first input whose dtype is known."""
    known = next(filter(None, dtypes), None)
    return None if known is None else dtype_of(known)


def _layouts(footprints: Iterable[Footprint]) -> Categorical[bytes]:
    """The strides as JSON. The writer leaves them out where all inputs are contiguous: `[]`."""
    return Categorical.of(
        [
            bytes(one.in_layouts) or (b"[]" if memoryview(one.in_shapes).nbytes else b"")
            for one in footprints
        ]
    )


def _parameters(text: bytes) -> Parameters | None:
    """The parameters in `text` by name, those of an array by index; null is left out."""
    found = PARAMETERS.of_optional(text)
    if found is None:
        return None
    named = (
        found.items() if isinstance(found, dict) else ((str(n), one) for n, one in enumerate(found))
    )
    return tuple((name, _scalar(value)) for name, value in sorted(named) if value is not None)


def _scalar(value: Any) -> int | float | str:
    """A number or a text; JSON for anything else, and for whole numbers of over 64 bits."""
    if isinstance(value, (str, float)):
        return value
    if isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63:
        return value
    return msgspec.json.encode(value).decode()


def _on_stale_footprints(footprints: Sequence[Footprint], graph: Graph) -> Iterator[str]:
    """A note if shapes changed between runs: footprints are the first run's, times the last's.

    The variables have the shapes of the last run. Only the first output of each operator is
    compared, because workspaces may follow it, which footprints leave out. If any has changed, all
    inputs are compared too: some operators (a sum) have the same output shape for any input.
    """
    operators, variables = graph.operator.values(), graph.var
    outputs = [operator.output[0] if operator.output else "" for operator in operators]
    try:
        computed = _inferred_shapes(outputs, variables)
        recorded = texts(footprints, "out_shapes")
        pairs = set(zip(recorded, computed, strict=True))
        if not any(_has_changed(*pair) for pair in pairs):
            return
        stale = np.array([_has_changed(*pair) for pair in zip(recorded, computed, strict=True)])
        stale |= _stale_inputs(_texts(footprints, "in_shapes"), _inputs(operators), variables)
    except AttributeError:  # null instead of an object
        yield "the shapes of the runs cannot be compared: static_infer_tags are null"
        return
    yield (
        f"the shapes of {counted(int(stale.sum()), 'operator')} changed between runs: "
        "computation, memory and shapes are of the first run, times of the last, and so FLOPS "
        "and bandwidth are wrong there"
    )


@lru_cache(maxsize=REMEMBERED)
def _has_changed(recorded: bytes, computed: bytes) -> bool:
    """Whether the first of the `recorded` shapes is another than the `computed` one."""
    then, now = OUT_SHAPES.of_optional(recorded), _shape(computed)
    return bool(then and now is not None and then[0] != now)


def _stale_inputs(
    in_shapes: Categorical[bytes],
    inputs: Iterable[tuple[str, ...]],
    variables: Mapping[str, Variable],
) -> NDArray[np.bool_]:
    """Shape (operators,): whether some input had another shape than in the footprint.

    Operators whose footprint has another number of inputs are not judged.
    """
    shapes = in_shapes.mapped(IN_SHAPES.of_optional).values()
    judged = [
        (row, id_, then)
        for row, (ids, known) in enumerate(zip(inputs, shapes, strict=True))
        if known and len(known) == len(ids)
        for id_, then in zip(ids, known, strict=True)
    ]
    computed = map(_shape, _inferred_shapes([id_ for _, id_, _ in judged], variables))
    stale = np.zeros(len(in_shapes), np.bool_)
    for (row, _, then), now in zip(judged, computed, strict=True):
        stale[row] |= now is not None and then != now
    return stale


def _inferred_shapes(ids: Sequence[str], variables: Mapping[str, Variable]) -> list[bytes]:
    """The JSON of the shape of each variable in the last run, empty where it is not known.

    Raises `AttributeError` if there is null instead of an object.
    """
    found = map(variables.get, ids, repeat(NO_VARIABLE))
    return texts(found, "static_infer_tags.SHAPE.inferred_result")


def _shape(text: bytes) -> Shape | None:
    """The shape in `text`; None if it is no shape, such as one too large for the writer."""
    try:
        return INFERRED_SHAPE.of_optional(text)
    except BrokenPartError:
        return None


def _inputs(operators: Iterable[Operator]) -> list[tuple[str, ...]]:
    """The ids of each operator's inputs."""
    return [INPUTS.of_optional(bytes(operator.input)) or () for operator in operators]


def _input_dtypes(graphs: Iterable[Graph]) -> Categorical[Dtypes]:
    dtypes: list[Dtypes] = []
    for graph in graphs:
        dtype_of = {id_: _dtype(bytes(variable.mem_plan)) for id_, variable in graph.var.items()}
        dtypes += (tuple(map(dtype_of.get, ids)) for ids in _inputs(graph.operator.values()))
    return Categorical.of(dtypes)


def _dtype(memory_plan: bytes) -> str | None:
    plan = MEMORY_PLAN.of(memory_plan) if memory_plan else None
    return plan.layout.dtype if plan and plan.layout else None


def _tensors(graph: Graph) -> tuple[Tensors, Uses]:
    """The variables of the graph, with the shapes of the last run, and which operators use them."""
    from profile_analyze.model.tables import Tensors, Uses  # few questions need them

    ids = list(graph.var)
    row_of = {id_: row for row, id_ in enumerate(ids)}
    shapes = list(map(_shape, _inferred_shapes(ids, graph.var)))
    dtypes = [
        None if name is None else dtype_of(name)
        for name in (_dtype(bytes(variable.mem_plan)) for variable in graph.var.values())
    ]
    sizes = [
        np.nan if shape is None else prod(shape) * bytes_of(dtype)
        for shape, dtype in zip(shapes, dtypes, strict=True)
    ]
    operators = list(graph.operator.values())
    uses = [
        (row, row_of[id_], is_output)
        for row, (inputs, operator) in enumerate(zip(_inputs(operators), operators, strict=True))
        for is_output, used in ((False, inputs), (True, operator.output or ()))
        for id_ in used
        if id_ in row_of
    ]
    columns = list(zip(*uses, strict=True)) or [(), (), ()]
    return (
        Tensors(
            Categorical.of(ids), Categorical.of(shapes), Categorical.of(dtypes), np.array(sizes)
        ),
        Uses(
            np.array(columns[0], np.int32),
            np.array(columns[1], np.int32),
            np.array(columns[2], np.bool_),
        ),
    )

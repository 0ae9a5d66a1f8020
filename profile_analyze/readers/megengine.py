"""The JSON of MegEngine's GraphProfiler. `docs/formats.md` describes it field by field."""

from __future__ import annotations

import re
from contextlib import suppress
from functools import cached_property, lru_cache
from itertools import chain, compress, repeat
from operator import attrgetter
from typing import TYPE_CHECKING, Annotated, Any, Final, Generic, Literal, TypeAlias, TypeVar

import msgspec
import numpy as np

from profile_analyze.collector import collector_paused
from profile_analyze.errors import MalformedProfileError
from profile_analyze.model.coded import Coded
from profile_analyze.model.numbers import difference
from profile_analyze.model.profile import LaneTimes, Profile, Shape, Shapes, Strides, Timings
from profile_analyze.model.visible import visible
from profile_analyze.units import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from profile_analyze.model.profile import Dtypes, Parameters
    from profile_analyze.readers.base import Content

# What of the file is decoded; field names are the file's. The graph is decoded at once; the
# sections of the profiler one after another, each from its raw text, so that the objects of one
# are gone, and their memory is used again, when the next is decoded. gc=False: none of these can
# be in a reference cycle.


class _Operator(msgspec.Struct, gc=False):
    name: str
    type: str
    input: msgspec.Raw = msgspec.Raw()
    output: list[str] | None = None


# The writer prints a time that is not finite as a string.
_Seconds: TypeAlias = float | Literal["inf", "-inf", "nan"] | None


class _Interval(msgspec.Struct, gc=False):
    start: _Seconds = None
    kern: _Seconds = None
    end: _Seconds = None


class _Footprint(msgspec.Struct, gc=False):
    computation: float | None = None
    memory: float | None = None
    in_shapes: msgspec.Raw = msgspec.Raw()
    out_shapes: msgspec.Raw = msgspec.Raw()
    in_layouts: msgspec.Raw = msgspec.Raw()


class _FootprintWithParameters(_Footprint, gc=False):
    param: msgspec.Raw = msgspec.Raw()


class _InferredShape(msgspec.Struct, gc=False, frozen=True):
    inferred_result: msgspec.Raw = msgspec.Raw()


class _InferenceTags(msgspec.Struct, gc=False, frozen=True):
    SHAPE: _InferredShape | None = _InferredShape()


class _Variable(msgspec.Struct, gc=False):
    static_infer_tags: _InferenceTags | None = _InferenceTags()
    mem_plan: msgspec.Raw = msgspec.Raw()


class _Profiler(msgspec.Struct, gc=False):
    device: msgspec.Raw = msgspec.Raw()
    host: msgspec.Raw = msgspec.Raw()
    opr_footprint: msgspec.Raw = msgspec.Raw()


class _Graph(msgspec.Struct, gc=False):
    operator: dict[str, _Operator]
    var: dict[str, _Variable] = {}


class _Document(msgspec.Struct, gc=False):
    profiler: _Profiler
    graph_exec: _Graph


class _RawGraph(msgspec.Struct, gc=False):
    operator: msgspec.Raw = msgspec.Raw()
    var: msgspec.Raw = msgspec.Raw()


class _RawDocument(msgspec.Struct, gc=False):
    graph_exec: _RawGraph


class _Layout(msgspec.Struct, gc=False):
    dtype: str | None = None


class _MemoryPlan(msgspec.Struct, gc=False):
    layout: _Layout | None = None


T = TypeVar("T")

_REMEMBERED: Final = 4096
"""How many short texts are remembered with what they mean."""

_OF_ONE_VALUE: Final = (msgspec.ValidationError, UnicodeDecodeError)
"""What a decoder raises about a value, the rest being sound."""


class _Part(Generic[T]):
    """Some kind of value in the file, and where it stands."""

    def __init__(self, path: str, kind: Any) -> None:
        self.path = path
        self._kind = kind
        # the same shapes stand in the file again and again, and in the files of other runs
        self.of_optional = lru_cache(maxsize=_REMEMBERED)(self._of_optional)

    @cached_property
    def _decoder(self) -> msgspec.json.Decoder[T]:
        return msgspec.json.Decoder(self._kind)

    def of(self, text: bytes | msgspec.Raw) -> T:
        """The value in `text`. Raises `_BrokenPartError`."""
        try:
            return self._decoder.decode(text)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise _BrokenPartError(self.path, error) from None
        except SystemError:  # what the decoder says now and then where memory ends
            raise MemoryError from None

    def _of_optional(self, text: bytes) -> T | None:
        """The value in `text`, None if that is empty. Raises `_BrokenPartError`."""
        return self.of(text) if text else None


class _Section(_Part[dict[str, T]]):
    """A part with an entry for each id."""

    def __init__(self, path: str, entry: type[T]) -> None:
        super().__init__(path, dict[str, entry])  # type: ignore[valid-type]  # it is a value
        self._entry = entry
        self._entries = _Part[dict[str, msgspec.Raw]](path, dict[str, msgspec.Raw])

    def of(self, text: bytes | msgspec.Raw) -> dict[str, T]:
        """The entries in `text`; none if the section is missing. Raises `_BrokenPartError`."""
        if not memoryview(text).nbytes:
            return {}
        try:
            return super().of(text)
        except _BrokenPartError as error:
            if isinstance(error.error, _OF_ONE_VALUE):
                self.find_broken_entry(text)
            raise

    def find_broken_entry(self, text: bytes | msgspec.Raw) -> None:
        """Raise `_BrokenPartError` with the id, which the decoder of a section does not tell.

        What is wrong with the section itself, such as a key that is not UTF-8, has no id.
        """
        if not memoryview(text).nbytes:
            return
        for id_, entry in self._entries.of(text).items():
            _Part[T](f"{self.path}.{id_}", self._entry).of(entry)


class _BrokenPartError(Exception):
    """What a decoder said, and of which part of the file."""

    def __init__(self, path: str, error: Exception) -> None:
        super().__init__(path, error)
        self.path = path
        self.error = error


_DOCUMENT: Final = _Part[_Document]("$", _Document)
_RAW_DOCUMENT: Final = _Part[_RawDocument]("$", _RawDocument)
_OPERATORS: Final = _Section("$.graph_exec.operator", _Operator)
_VARIABLES: Final = _Section("$.graph_exec.var", _Variable)
_FOOTPRINTS: Final = _Section("$.profiler.opr_footprint", _Footprint)
_FOOTPRINTS_WITH_PARAMETERS: Final = _Section(_FOOTPRINTS.path, _FootprintWithParameters)
_DEVICE: Final = _Section("$.profiler.device", dict[str, _Interval])
_HOST: Final = _Section("$.profiler.host", dict[str, _Interval])
_OF_FOOTPRINT: Final = "$.profiler.opr_footprint[...]"
_Extent: TypeAlias = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
_Extents: TypeAlias = tuple[_Extent, ...]
_IN_SHAPES: Final = _Part[Shapes | None](f"{_OF_FOOTPRINT}.in_shapes", tuple[_Extents, ...] | None)
_OUT_SHAPES: Final = _Part[Shapes | None](
    f"{_OF_FOOTPRINT}.out_shapes", tuple[_Extents, ...] | None
)
_IN_LAYOUTS: Final = _Part[Strides | None](
    f"{_OF_FOOTPRINT}.in_layouts", tuple[_Extents | None, ...] | None
)
_PARAMETERS: Final = _Part[dict[str, Any] | list[Any] | None](
    f"{_OF_FOOTPRINT}.param", dict[str, Any] | list[Any] | None
)
_INPUTS: Final = _Part[tuple[str, ...] | None](
    "$.graph_exec.operator[...].input", tuple[str, ...] | None
)
_INFERRED_SHAPE: Final = _Part[Shape | None](
    "$.graph_exec.var[...].static_infer_tags.SHAPE.inferred_result", Shape | None
)
_MEMORY_PLAN: Final = _Part[_MemoryPlan | None](
    "$.graph_exec.var[...].mem_plan", _MemoryPlan | None
)

_NO_FOOTPRINT: Final = _FootprintWithParameters()
_NO_VARIABLE: Final = _Variable()
_STRANGER: Final = -1  # the row of an entry that belongs to no operator

# All but the blanks of JSON, so legal nowhere in it. The writer escapes tabs and line breaks.
_CONTROL: Final = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_FIRST_KEY: Final = re.compile(rb'\s*\{\s*"(profiler|graph_exec)"\s*:')


class MegEngineReader:
    """Reads GraphProfiler JSON, of `load_and_run --profile` and its like."""

    format = "MegEngine GraphProfiler JSON"
    hallmark = "an object with the keys profiler and graph_exec"

    def recognises(self, data: bytes) -> bool:
        """See `Reader.recognises`: by its first key, or by both keys wherever they stand."""
        return _FIRST_KEY.match(data) is not None or (
            data.lstrip()[:1] == b"{" and b'"graph_exec"' in data and b'"opr_footprint"' in data
        )

    def read(self, content: Content, details: Collection[str]) -> Profile:
        """See `Reader.read`.

        Raw control characters in strings, which JSON forbids and the x86 writer emits, are read.
        """
        with collector_paused():
            _check_memory(len(content.data))
            try:
                return _profile(content.file, content.data, details)
            except _BrokenPartError as error:
                broken = error
            escaped, count = _CONTROL.subn(_escaped, content.data)
            note = f"read {counted(count, 'raw control character')} in strings, which JSON forbids"
            try:
                if count:
                    return _profile(content.file, escaped, details, [note])
            except _BrokenPartError as error:
                broken = error
            reason = _reason(broken.path, broken.error, content.data)
            raise MalformedProfileError(content.file, visible(reason, "utf-8"))


def _check_memory(size: int) -> None:
    """Raise `MemoryError` if there is less than it takes at least to decode so many bytes.

    The decoder may crash where memory ends in its middle. Nothing is written to what is taken here.
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


def _profile(
    file: str, data: bytes, details: Collection[str], notes: Sequence[str] = ()
) -> Profile:
    """The profile in the text `data`, whose `notes` are the first. Raises `_BrokenPartError`."""
    document = _document(data)
    operators, variables = document.graph_exec.operator, document.graph_exec.var
    row_of = dict(zip(operators, range(len(operators)), strict=True))
    device, device_notes = _timings("device", _DEVICE.of(document.profiler.device), row_of)
    host, host_notes = _timings("host", _HOST.of(document.profiler.host), row_of)
    section = _FOOTPRINTS_WITH_PARAMETERS if "parameters" in details else _FOOTPRINTS
    entries = section.of(document.profiler.opr_footprint)
    footprints = list(map(entries.get, row_of, repeat(_NO_FOOTPRINT)))
    computation, computation_notes = _work(footprints, "computation")
    computation[computation == 0] = np.nan  # the writer's sign for a type without a formula
    memory, memory_notes = _work(footprints, "memory")
    return Profile(
        file=file,
        source=MegEngineReader.format,
        id=_ids(operators),
        name=Coded.of(_column(operators.values(), "name")),
        type=Coded.of(_column(operators.values(), "type")),
        computation=computation,
        memory=memory,
        device=device,
        host=host,
        **_details(details, footprints, operators.values(), variables),
        notes=(
            *notes,
            *device_notes,
            *host_notes,
            *_strangers("opr_footprint", len(entries.keys() - row_of.keys())),
            *computation_notes,
            *memory_notes,
            *_stale_footprints(footprints, operators.values(), variables),
        ),
    )


def _document(data: bytes) -> _Document:
    try:
        return _DOCUMENT.of(data)
    except _BrokenPartError as error:
        if isinstance(error.error, _OF_ONE_VALUE):
            graph = _RAW_DOCUMENT.of(data).graph_exec
            _OPERATORS.find_broken_entry(graph.operator)
            _VARIABLES.find_broken_entry(graph.var)
        raise


def _ids(operators: Iterable[str]) -> NDArray[np.int64]:
    texts = list(operators)
    digits = "".join(texts)
    if not texts or (digits.isascii() and digits.isdecimal()):  # `int` takes " 1_0" too
        with suppress(ValueError, OverflowError):
            return np.fromiter(map(int, texts), np.int64, len(texts))
    wrong = [text for text in texts if not re.fullmatch(r"[0-9]{1,18}", text)]
    bad = min(wrong, key=str.isdecimal)  # one that is too long only if no other is wrong
    error = msgspec.ValidationError(f"the operator id {bad!r} is not a whole number")
    raise _BrokenPartError(_OPERATORS.path, error)


def _column(entries: Iterable[object], field: str) -> list[Any]:
    """A field of every entry; `a.b` is the field b of the field a."""
    return list(map(attrgetter(field), entries))


def _texts(entries: Iterable[object], field: str) -> Coded[bytes]:
    """A field of every entry that is not decoded, as the text it is; empty where it is missing."""
    return Coded.of(_bytes(entries, field))


def _bytes(entries: Iterable[object], field: str) -> list[bytes]:
    """The same, one by one."""
    return list(map(bytes, map(attrgetter(field), entries)))


def _numbers(entries: Iterable[object], field: str) -> NDArray[np.float64]:
    """A field of every entry; None and whatever is not finite is NaN."""
    numbers = np.array(_column(entries, field), dtype=np.float64)
    numbers[~np.isfinite(numbers)] = np.nan
    return numbers


def _timings(
    side: str, entries: Mapping[str, dict[str, _Interval]], row_of: Mapping[str, int]
) -> tuple[Timings, list[str]]:
    """The times of one side, and notes on them."""
    rows = np.fromiter(map(row_of.get, entries, repeat(_STRANGER)), np.int64, len(entries))
    sizes = np.fromiter(map(len, entries.values()), np.int64, len(entries))
    operator = np.repeat(rows, sizes)
    known = operator != _STRANGER
    intervals = list(chain.from_iterable(map(dict.values, entries.values())))
    start_s = _numbers(intervals, "start")[known]
    kern_s = _numbers(intervals, "kern")[known]
    end_s = _numbers(intervals, "end")[known]
    kern_s[kern_s < start_s] = np.nan  # no kernel on this thread: the writer says -1 then
    end_s[end_s < start_s] = np.nan
    is_late = kern_s > end_s
    kern_s[is_late] = np.nan
    lanes = LaneTimes(
        operator=operator[known],
        run=np.zeros(len(start_s), np.int64),
        lane=Coded.of(list(compress(chain.from_iterable(entries.values()), known))),
        start_s=start_s,
        kern_s=kern_s,
        end_s=end_s,
    )
    timings = Timings(lanes, operators=len(row_of))
    notes = list(_strangers(side, int((rows == _STRANGER).sum())))
    empty = int((sizes == 0).sum())
    if empty:
        notes.append(f"left out {counted(empty, 'entry', 'entries')} of {side} without a lane")
    if np.isnan(difference(end_s, start_s)).any():
        unknown = int((timings.recorded & np.isnan(timings.time_s[:, 0])).sum())
        notes.append(
            f"the {side} time of {counted(unknown, 'operator')} is N/A: in the file it is "
            "missing, not a finite number, or ends before it starts"
        )
    if is_late.any():
        late = len(set(lanes.operator[is_late].tolist()))
        notes.append(
            f"the {side} wait time of {counted(late, 'operator')} leaves out where, in the file, "
            "the first kernel starts after the end"
        )
    return timings, notes


def _strangers(section: str, count: int) -> Iterator[str]:
    if count:
        entries = counted(count, "entry", "entries")
        yield f"left out {entries} of {section} that belong to no operator of the graph"


def _work(footprints: Iterable[_Footprint], field: str) -> tuple[NDArray[np.float64], list[str]]:
    """What operators compute or move, and a note on what cannot be."""
    amounts = _numbers(footprints, field)
    is_negative = amounts < 0
    if not is_negative.any():
        return np.abs(amounts), []  # of -0
    amounts[is_negative] = np.nan
    several = counted(int(is_negative.sum()), "operator")
    return np.abs(amounts), [f"the {field} of {several} is N/A: in the file it is negative"]


def _details(
    asked: Collection[str],
    footprints: Sequence[_Footprint],
    operators: Iterable[_Operator],
    variables: Mapping[str, _Variable],
) -> dict[str, Any]:
    """What is asked for of `profile.DETAILS`, by name. Raises `_BrokenPartError`."""
    makers: dict[str, Callable[[], Coded[Any]]] = {
        "in_shapes": lambda: _texts(footprints, "in_shapes").mapped(_IN_SHAPES.of_optional),
        "in_layouts": lambda: _layouts(footprints).mapped(_IN_LAYOUTS.of_optional),
        "out_shapes": lambda: _texts(footprints, "out_shapes").mapped(_OUT_SHAPES.of_optional),
        "input_dtypes": lambda: _input_dtypes(operators, variables),
        "parameters": lambda: _texts(footprints, "param").mapped(_parameters),
    }
    return {name: make() for name, make in makers.items() if name in asked}


def _layouts(footprints: Iterable[_Footprint]) -> Coded[bytes]:
    """The strides as JSON. The writer leaves them out where all inputs are contiguous: `[]`."""
    return Coded.of(
        [
            bytes(one.in_layouts) or (b"[]" if memoryview(one.in_shapes).nbytes else b"")
            for one in footprints
        ]
    )


def _parameters(text: bytes) -> Parameters | None:
    """The parameters in `text` by name, those of an array by place; null is none."""
    found = _PARAMETERS.of_optional(text)
    if found is None:
        return None
    named = (
        found.items() if isinstance(found, dict) else ((str(n), one) for n, one in enumerate(found))
    )
    return tuple((name, _scalar(value)) for name, value in sorted(named) if value is not None)


def _scalar(value: Any) -> int | float | str:
    """A number or a text; anything else as JSON, and so is a whole number of over 64 bits."""
    if isinstance(value, (str, float)):
        return value
    if isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63:
        return value
    return msgspec.json.encode(value).decode()


def _stale_footprints(
    footprints: Sequence[_Footprint],
    operators: Collection[_Operator],
    variables: Mapping[str, _Variable],
) -> Iterator[str]:
    """A note if shapes changed between runs: footprints are the first run's, times the last's.

    What the last run computed is in the variables. The first output is compared, because behind it
    there may be workspaces, which footprints leave out; where one has changed somewhere, all
    inputs are too, for what is of one shape whatever its input (a sum) changes no output.
    """
    outputs = [operator.output[0] if operator.output else "" for operator in operators]
    try:
        computed = _inferred_shapes(outputs, variables)
        recorded = _bytes(footprints, "out_shapes")
        pairs = set(zip(recorded, computed, strict=True))
        if not any(_has_changed(*pair) for pair in pairs):
            return
        stale = np.array([_has_changed(*pair) for pair in zip(recorded, computed, strict=True)])
        stale |= _stale_inputs(_texts(footprints, "in_shapes"), _inputs(operators), variables)
    except AttributeError:  # null in place of an object
        yield "the shapes of the runs cannot be compared: static_infer_tags are null"
        return
    yield (
        f"the shapes of {counted(int(stale.sum()), 'operator')} changed between runs: "
        "computation, memory and shapes are of the first run, times of the last, and so FLOPS "
        "and bandwidth are wrong there"
    )


@lru_cache(maxsize=_REMEMBERED)
def _has_changed(recorded: bytes, computed: bytes) -> bool:
    """Whether the first of the `recorded` shapes is another than the `computed` one."""
    then, now = _OUT_SHAPES.of_optional(recorded), _shape(computed)
    return bool(then and now is not None and then[0] != now)


def _stale_inputs(
    in_shapes: Coded[bytes], inputs: Iterable[tuple[str, ...]], variables: Mapping[str, _Variable]
) -> NDArray[np.bool_]:
    """Shape (operators,): whether some input had another shape than in the footprint.

    Operators whose footprint has another number of inputs are not judged.
    """
    shapes = in_shapes.mapped(_IN_SHAPES.of_optional).values()
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


def _inferred_shapes(ids: Sequence[str], variables: Mapping[str, _Variable]) -> list[bytes]:
    """The JSON of the shape of each variable in the last run, empty where it is not told.

    Raises `AttributeError` where null stands in place of an object.
    """
    found = map(variables.get, ids, repeat(_NO_VARIABLE))
    return _bytes(found, "static_infer_tags.SHAPE.inferred_result")


def _shape(text: bytes) -> Shape | None:
    """The shape in `text`; None for what is none, as where the writer left it out for its size."""
    try:
        return _INFERRED_SHAPE.of_optional(text)
    except _BrokenPartError:
        return None


def _inputs(operators: Iterable[_Operator]) -> list[tuple[str, ...]]:
    """The ids of each operator's inputs."""
    return [_INPUTS.of_optional(bytes(operator.input)) or () for operator in operators]


def _input_dtypes(
    operators: Iterable[_Operator], variables: Mapping[str, _Variable]
) -> Coded[Dtypes]:
    dtype_of = {id_: _dtype(bytes(variable.mem_plan)) for id_, variable in variables.items()}
    return Coded.of([tuple(map(dtype_of.get, ids)) for ids in _inputs(operators)])


def _dtype(memory_plan: bytes) -> str | None:
    plan = _MEMORY_PLAN.of(memory_plan) if memory_plan else None
    return plan.layout.dtype if plan and plan.layout else None

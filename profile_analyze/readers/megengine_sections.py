"""The sections of GraphProfiler JSON, each as columns of what stands in it."""

from __future__ import annotations

from functools import cached_property, lru_cache
from itertools import chain
from operator import attrgetter
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Final,
    Generic,
    Literal,
    NamedTuple,
    TypeAlias,
    TypeVar,
)

import msgspec
import numpy as np

from profile_analyze.model.categorical import Categorical
from profile_analyze.model.operators import Shape, Shapes, Strides

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

# What of the file is decoded; field names are the file's. The graph is decoded at once; the
# sections of the profiler one after another, each from its raw text, so that the objects of one
# are gone, and their memory is used again, when the next is decoded. gc=False: none of these can
# be in a reference cycle.


class Operator(msgspec.Struct, gc=False):
    """An operator of the graph."""

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


class Footprint(msgspec.Struct, gc=False):
    """What an operator works on."""

    computation: float | None = None
    memory: float | None = None
    in_shapes: msgspec.Raw = msgspec.Raw()
    out_shapes: msgspec.Raw = msgspec.Raw()
    in_layouts: msgspec.Raw = msgspec.Raw()


class FootprintWithParameters(Footprint, gc=False):
    """The same with what a few questions need."""

    param: msgspec.Raw = msgspec.Raw()


class _InferredShape(msgspec.Struct, gc=False, frozen=True):
    inferred_result: msgspec.Raw = msgspec.Raw()


class _InferenceTags(msgspec.Struct, gc=False, frozen=True):
    SHAPE: _InferredShape | None = _InferredShape()


class Variable(msgspec.Struct, gc=False):
    """What the last run knew of a variable."""

    static_infer_tags: _InferenceTags | None = _InferenceTags()
    mem_plan: msgspec.Raw = msgspec.Raw()


class Profiler(msgspec.Struct, gc=False):
    """The sections of what was measured, as the texts that they are."""

    device: msgspec.Raw = msgspec.Raw()
    host: msgspec.Raw = msgspec.Raw()
    opr_footprint: msgspec.Raw = msgspec.Raw()


class Graph(msgspec.Struct, gc=False):
    """Operators and variables, by their ids."""

    operator: dict[str, Operator]
    var: dict[str, Variable] = {}


class Document(msgspec.Struct, gc=False):
    """A file."""

    profiler: Profiler
    graph_exec: Graph


class _RawGraph(msgspec.Struct, gc=False):
    operator: msgspec.Raw = msgspec.Raw()
    var: msgspec.Raw = msgspec.Raw()


class _RawDocument(msgspec.Struct, gc=False):
    graph_exec: _RawGraph


class _Measured(msgspec.Struct, gc=False):
    profiler: Profiler


class _Layout(msgspec.Struct, gc=False):
    dtype: str | None = None


class _MemoryPlan(msgspec.Struct, gc=False):
    layout: _Layout | None = None


T = TypeVar("T")

REMEMBERED: Final = 4096
"""How many short texts are remembered with what they mean."""

_OF_ONE_VALUE: Final = (msgspec.ValidationError, UnicodeDecodeError)
"""What a decoder raises about a value, the rest being sound."""


class Part(Generic[T]):
    """Some kind of value in the file, and where it stands."""

    def __init__(self, path: str, kind: Any) -> None:
        self.path = path
        self._kind = kind
        # the same shapes stand in the file again and again, and in the files of other runs
        self.of_optional = lru_cache(maxsize=REMEMBERED)(self._of_optional)

    @cached_property
    def _decoder(self) -> msgspec.json.Decoder[T]:
        return msgspec.json.Decoder(self._kind)

    def of(self, text: bytes | msgspec.Raw) -> T:
        """The value in `text`. Raises `BrokenPartError`."""
        try:
            return self._decoder.decode(text)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise BrokenPartError(self.path, error) from None
        except SystemError:  # what the decoder says now and then where memory ends
            raise MemoryError from None

    def _of_optional(self, text: bytes) -> T | None:
        """The value in `text`, None if that is empty. Raises `BrokenPartError`."""
        return self.of(text) if text else None


class Section(Part[dict[str, T]]):
    """A part with an entry for each id."""

    def __init__(self, path: str, entry: type[T]) -> None:
        super().__init__(path, dict[str, entry])  # type: ignore[valid-type]  # it is a value
        self._entry = entry
        self._entries = Part[dict[str, msgspec.Raw]](path, dict[str, msgspec.Raw])

    def of(self, text: bytes | msgspec.Raw) -> dict[str, T]:
        """The entries in `text`; none if the section is missing. Raises `BrokenPartError`."""
        if not memoryview(text).nbytes:
            return {}
        try:
            return super().of(text)
        except BrokenPartError as error:
            if isinstance(error.error, _OF_ONE_VALUE):
                self.find_broken_entry(text)
            raise

    def find_broken_entry(self, text: bytes | msgspec.Raw) -> None:
        """Raise `BrokenPartError` with the id, which the decoder of a section does not tell.

        What is wrong with the section itself, such as a key that is not UTF-8, has no id.
        """
        if not memoryview(text).nbytes:
            return
        for id_, entry in self._entries.of(text).items():
            Part[T](f"{self.path}.{id_}", self._entry).of(entry)


class BrokenPartError(Exception):
    """What a decoder said, and of which part of the file."""

    def __init__(self, path: str, error: Exception) -> None:
        super().__init__(path, error)
        self.path = path
        self.error = error


_DOCUMENT: Final = Part[Document]("$", Document)
_RAW_DOCUMENT: Final = Part[_RawDocument]("$", _RawDocument)
OPERATORS: Final = Section("$.graph_exec.operator", Operator)
_VARIABLES: Final = Section("$.graph_exec.var", Variable)
FOOTPRINTS: Final = Section("$.profiler.opr_footprint", Footprint)
FOOTPRINTS_WITH_PARAMETERS: Final = Section(FOOTPRINTS.path, FootprintWithParameters)
_DEVICE: Final = Section("$.profiler.device", dict[str, _Interval])
_HOST: Final = Section("$.profiler.host", dict[str, _Interval])
_OF_FOOTPRINT: Final = "$.profiler.opr_footprint[...]"
_Extent: TypeAlias = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
_Extents: TypeAlias = tuple[_Extent, ...]
IN_SHAPES: Final = Part[Shapes | None](f"{_OF_FOOTPRINT}.in_shapes", tuple[_Extents, ...] | None)
OUT_SHAPES: Final = Part[Shapes | None](f"{_OF_FOOTPRINT}.out_shapes", tuple[_Extents, ...] | None)
IN_LAYOUTS: Final = Part[Strides | None](
    f"{_OF_FOOTPRINT}.in_layouts", tuple[_Extents | None, ...] | None
)
PARAMETERS: Final = Part[dict[str, Any] | list[Any] | None](
    f"{_OF_FOOTPRINT}.param", dict[str, Any] | list[Any] | None
)
INPUTS: Final = Part[tuple[str, ...] | None](
    "$.graph_exec.operator[...].input", tuple[str, ...] | None
)
INFERRED_SHAPE: Final = Part[Shape | None](
    "$.graph_exec.var[...].static_infer_tags.SHAPE.inferred_result", Shape | None
)
MEMORY_PLAN: Final = Part[_MemoryPlan | None]("$.graph_exec.var[...].mem_plan", _MemoryPlan | None)

NO_FOOTPRINT: Final = FootprintWithParameters()
NO_VARIABLE: Final = Variable()


class IntervalColumns(NamedTuple):
    """When operators ran on one side, in the order of the files. Seconds, NaN is N/A."""

    ids: list[list[str]]
    """Of the operators with an entry, a list for each file."""
    sizes: NDArray[np.int64]
    """How many intervals each of them has; the others are the intervals' own."""
    lane: Categorical[str]
    start_s: NDArray[np.float64]
    kern_s: NDArray[np.float64]
    end_s: NDArray[np.float64]


class TimeColumns(NamedTuple):
    """The same of both sides."""

    device: IntervalColumns
    host: IntervalColumns


def document_in(data: bytes) -> Document:
    """The file whose text is `data`. Raises `BrokenPartError`."""
    try:
        return _DOCUMENT.of(data)
    except BrokenPartError as error:
        if isinstance(error.error, _OF_ONE_VALUE):
            graph = _RAW_DOCUMENT.of(data).graph_exec
            OPERATORS.find_broken_entry(graph.operator)
            _VARIABLES.find_broken_entry(graph.var)
        raise


def times_of(files: Sequence[Profiler]) -> TimeColumns:
    """The times in each of `files`. Raises `BrokenPartError`."""
    return TimeColumns(
        device=_interval_columns([_DEVICE.of(file.device) for file in files]),
        host=_interval_columns([_HOST.of(file.host) for file in files]),
    )


def _interval_columns(files: Sequence[dict[str, dict[str, _Interval]]]) -> IntervalColumns:
    entries = list(chain.from_iterable(map(dict.values, files)))
    intervals = list(chain.from_iterable(map(dict.values, entries)))
    return IntervalColumns(
        ids=list(map(list, files)),
        sizes=np.fromiter(map(len, entries), np.int64, len(entries)),
        lane=Categorical.of(list(chain.from_iterable(entries))),
        start_s=numbers(intervals, "start"),
        kern_s=numbers(intervals, "kern"),
        end_s=numbers(intervals, "end"),
    )


def column(entries: Iterable[object], field: str) -> list[Any]:
    """A field of every entry; `a.b` is the field b of the field a."""
    return list(map(attrgetter(field), entries))


def texts(entries: Iterable[object], field: str) -> list[bytes]:
    """A field of every entry that is not decoded, as the text it is; empty where it is missing."""
    return list(map(bytes, map(attrgetter(field), entries)))


def numbers(entries: Iterable[object], field: str) -> NDArray[np.float64]:
    """A field of every entry; None and whatever is not finite is NaN."""
    found = np.array(column(entries, field), dtype=np.float64)
    found[~np.isfinite(found)] = np.nan
    return found

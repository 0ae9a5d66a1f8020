"""Decodes the sections of GraphProfiler JSON, and turns times into columns.

Fields have the names that the file uses. The graph is decoded first. The profiler's sections stay
raw text at first, and are decoded one after another. The objects of one section are freed before
the next section is decoded, so that their memory is reused.
"""

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
from profile_analyze.model.terms import DEVICE, HOST

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from profile_analyze.model.terms import Side

# Fields of type `Raw` stay JSON text, because few questions need their values. When a question
# needs them, equal texts are decoded only once. `gc=False` makes each object smaller, because the
# garbage collector then ignores it. This is safe: no object here can be part of a reference cycle.


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
    """The work of an operator, and the shapes and strides of its tensors."""

    computation: float | None = None
    memory: float | None = None
    in_shapes: msgspec.Raw = msgspec.Raw()
    out_shapes: msgspec.Raw = msgspec.Raw()
    in_layouts: msgspec.Raw = msgspec.Raw()


class FootprintWithParameters(Footprint, gc=False):
    """A footprint with the parameters of the operator, which few questions need."""

    param: msgspec.Raw = msgspec.Raw()


class _InferredShape(msgspec.Struct, gc=False, frozen=True):
    inferred_result: msgspec.Raw = msgspec.Raw()


class _InferenceTags(msgspec.Struct, gc=False, frozen=True):
    SHAPE: _InferredShape | None = _InferredShape()


class Variable(msgspec.Struct, gc=False):
    """The shape and dtype of a variable in the last run."""

    static_infer_tags: _InferenceTags | None = _InferenceTags()
    mem_plan: msgspec.Raw = msgspec.Raw()


class Profiler(msgspec.Struct, gc=False):
    """The measured sections, as JSON text."""

    device: msgspec.Raw = msgspec.Raw()
    host: msgspec.Raw = msgspec.Raw()
    opr_footprint: msgspec.Raw = msgspec.Raw()


class Graph(msgspec.Struct, gc=False):
    """Operators and variables by id."""

    operator: dict[str, Operator]
    var: dict[str, Variable] = {}


class Document(msgspec.Struct, gc=False):
    """A whole file."""

    profiler: Profiler
    graph_exec: Graph


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

CACHE_SIZE: Final = 4096
"""How many results each cache keeps."""

_VALUE_ERRORS: Final = (msgspec.ValidationError, UnicodeDecodeError)
"""Errors about a single value in JSON that is otherwise valid."""


class BrokenValueError(Exception):
    """A value that cannot be decoded, with its path in the file."""

    def __init__(self, path: str, error: Exception) -> None:
        super().__init__(path, error)
        self.path = path
        self.error = error


class ValueDecoder(Generic[T]):
    """Decodes one kind of value. Its errors name the path of the value in the file."""

    def __init__(self, path: str, kind: Any) -> None:
        self.path = path
        self._kind = kind
        # Shapes repeat within a file and between the files of several runs.
        self.decode_cached = lru_cache(maxsize=CACHE_SIZE)(self._decode_optional)

    @cached_property
    def _decoder(self) -> msgspec.json.Decoder[T]:
        return msgspec.json.Decoder(self._kind)

    def decode(self, text: bytes | msgspec.Raw) -> T:
        """Return the value in `text`. Raises `BrokenValueError`."""
        try:
            return self._decoder.decode(text)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise BrokenValueError(self.path, error) from None
        except SystemError:  # msgspec sometimes raises it if memory runs out
            raise MemoryError from None

    def _decode_optional(self, text: bytes) -> T | None:
        """Return the value in `text`; None if `text` is empty. Raises `BrokenValueError`."""
        return self.decode(text) if text else None


class SectionDecoder(ValueDecoder[dict[str, T]]):
    """Decodes a section with an entry for each id."""

    def __init__(self, path: str, entry: type[T]) -> None:
        super().__init__(path, dict[str, entry])  # type: ignore[valid-type]  # a type at run time
        self._entry = entry
        self._entries = ValueDecoder[dict[str, msgspec.Raw]](path, dict[str, msgspec.Raw])

    def decode(self, text: bytes | msgspec.Raw) -> dict[str, T]:
        """Return the entries by id; no entries if `text` is empty. Raises `BrokenValueError`."""
        if not memoryview(text).nbytes:  # older writers leave sections out
            return {}
        try:
            return super().decode(text)
        except BrokenValueError as error:
            if isinstance(error.error, _VALUE_ERRORS):
                self.find_broken_entry(text)
            raise

    def find_broken_entry(self, text: bytes | msgspec.Raw) -> None:
        """Raise `BrokenValueError` with the path of the first broken entry, if there is one.

        The errors of msgspec do not have the id of the entry. If the section itself is broken, for
        example by a key that is not UTF-8, the error has the path of the section.
        """
        if not memoryview(text).nbytes:
            return
        for id_, entry in self._entries.decode(text).items():
            ValueDecoder[T](f"{self.path}.{id_}", self._entry).decode(entry)


_DOCUMENT: Final = ValueDecoder[Document]("$", Document)
_RAW_DOCUMENT: Final = ValueDecoder[_RawDocument]("$", _RawDocument)
OPERATORS: Final = SectionDecoder("$.graph_exec.operator", Operator)
_VARIABLES: Final = SectionDecoder("$.graph_exec.var", Variable)
FOOTPRINTS: Final = SectionDecoder("$.profiler.opr_footprint", Footprint)
FOOTPRINTS_WITH_PARAMETERS: Final = SectionDecoder(FOOTPRINTS.path, FootprintWithParameters)
_DEVICE: Final = SectionDecoder("$.profiler.device", dict[str, _Interval])
_HOST: Final = SectionDecoder("$.profiler.host", dict[str, _Interval])
_FOOTPRINT_PATH: Final = "$.profiler.opr_footprint[...]"
# msgspec accepts larger integers, which neither NumPy nor orjson can represent.
_Extent: TypeAlias = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
_Extents: TypeAlias = tuple[_Extent, ...]
IN_SHAPES: Final = ValueDecoder[Shapes | None](
    f"{_FOOTPRINT_PATH}.in_shapes", tuple[_Extents, ...] | None
)
OUT_SHAPES: Final = ValueDecoder[Shapes | None](
    f"{_FOOTPRINT_PATH}.out_shapes", tuple[_Extents, ...] | None
)
IN_LAYOUTS: Final = ValueDecoder[Strides | None](
    f"{_FOOTPRINT_PATH}.in_layouts", tuple[_Extents | None, ...] | None
)
PARAMETERS: Final = ValueDecoder[dict[str, Any] | list[Any] | None](
    f"{_FOOTPRINT_PATH}.param", dict[str, Any] | list[Any] | None
)
INPUTS: Final = ValueDecoder[tuple[str, ...] | None](
    "$.graph_exec.operator[...].input", tuple[str, ...] | None
)
INFERRED_SHAPE: Final = ValueDecoder[Shape | None](
    "$.graph_exec.var[...].static_infer_tags.SHAPE.inferred_result", Shape | None
)
MEMORY_PLAN: Final = ValueDecoder[_MemoryPlan | None](
    "$.graph_exec.var[...].mem_plan", _MemoryPlan | None
)

NO_FOOTPRINT: Final = FootprintWithParameters()
NO_VARIABLE: Final = Variable()


class Intervals(NamedTuple):
    """The intervals on one side (device or host) in all files. Times are in seconds; NaN is N/A."""

    ids: list[list[str]]
    """For each file, the ids of its entries. Usually they are ids of operators."""
    sizes: NDArray[np.int64]
    """Shape (entries,): the number of intervals in each entry. The columns below have a row for
    each interval."""
    lane: Categorical[str]
    """The comp node or host thread."""
    start_s: NDArray[np.float64]
    kern_s: NDArray[np.float64]
    """The start of the first kernel."""
    end_s: NDArray[np.float64]


def decode_document(data: bytes) -> Document:
    """Return the decoded file. Raises `BrokenValueError` with the path of the broken value."""
    try:
        return _DOCUMENT.decode(data)
    except BrokenValueError as error:
        if isinstance(error.error, _VALUE_ERRORS):
            graph = _RAW_DOCUMENT.decode(data).graph_exec
            OPERATORS.find_broken_entry(graph.operator)
            _VARIABLES.find_broken_entry(graph.var)
        raise


def decode_times(files: Sequence[Profiler]) -> dict[Side, Intervals]:
    """Return the times in all files. Raises `BrokenValueError`."""
    return {
        DEVICE: _intervals([_DEVICE.decode(file.device) for file in files]),
        HOST: _intervals([_HOST.decode(file.host) for file in files]),
    }


def _intervals(files: Sequence[dict[str, dict[str, _Interval]]]) -> Intervals:
    entries = list(chain.from_iterable(map(dict.values, files)))
    intervals = list(chain.from_iterable(map(dict.values, entries)))
    return Intervals(
        ids=list(map(list, files)),
        sizes=np.fromiter(map(len, entries), np.int64, len(entries)),
        lane=Categorical.of(list(chain.from_iterable(entries))),
        start_s=number_column(intervals, "start"),
        kern_s=number_column(intervals, "kern"),
        end_s=number_column(intervals, "end"),
    )


# The functions below loop in C, by `map` with `attrgetter`: a file may have millions of entries.


def field_values(entries: Iterable[object], field: str) -> list[Any]:
    """Return the value of `field` in every entry. `a.b` is the field b of the field a."""
    return list(map(attrgetter(field), entries))


def raw_column(entries: Iterable[object], field: str) -> list[bytes]:
    """Return the JSON text of a `Raw` field in every entry; empty if the field is missing."""
    return list(map(bytes, map(attrgetter(field), entries)))


def number_column(entries: Iterable[object], field: str) -> NDArray[np.float64]:
    """Return the value of `field` in every entry as a number; NaN if it is None or not finite."""
    # NumPy parses the texts "inf" and "nan", and turns None into NaN.
    numbers = np.array(field_values(entries, field), dtype=np.float64)
    numbers[~np.isfinite(numbers)] = np.nan
    return numbers

"""The table of operators: a row for each operator, stored by column."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import numpy as np

from profile_analyze.errors import QueryError
from profile_analyze.model.categorical import Categorical
from profile_analyze.model.frozen import constant, freeze_arrays
from profile_analyze.model.terms import MEASURED, UNIQUE_NAME, UNKNOWN
from profile_analyze.units import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    Indices: TypeAlias = NDArray[np.int64] | NDArray[np.int32]

Shape: TypeAlias = tuple[int, ...]
Shapes: TypeAlias = tuple[Shape, ...]
Strides: TypeAlias = tuple[Shape | None, ...]
Dtypes: TypeAlias = tuple[str | None, ...]
Parameters: TypeAlias = tuple[tuple[str, int | float | str], ...]
Scope: TypeAlias = tuple[str, ...]

Keys: TypeAlias = "NDArray[np.int64] | Categorical[str]"
OptionalValues: TypeAlias = "NDArray[np.float64] | Categorical[Any]"
State: TypeAlias = Literal["loaded", "not loaded", "absent"]

OPTIONAL_COLUMNS: Final = (
    "in_shapes",
    "in_strides",
    "out_shapes",
    "input_dtypes",
    "compute_dtype",
    "parameters",
)
"""The optional columns that several formats have. A reader may add others.

- `in_shapes`, `out_shapes`: the shape of each input and output. If one is unknown, all of them are.
  `()` is a scalar. One format also writes it for an unknown shape: see `docs/formats.md`. Sizes
  are as in the file.
- `in_strides`: the strides of each input in elements, None for a contiguous input; empty if all
  inputs are contiguous.
- `input_dtypes`: the dtype of each input, as the file names it; None if it is unknown.
- `compute_dtype`: the canonical name (`terms.DTYPES`) of the dtype that the operator computes in.
- `parameters`: pairs such as `("stride_h", 2)`, sorted by name.
"""
_HOLDS_GRAPH: Final = "holds_graph"
"""The optional column that is 1 for an operator that runs a graph of operators, and NaN for others.

For example, a provider of ONNX Runtime or a delegate of TensorFlow Lite may run a whole model as
one node. The file does not list the operators inside.
"""


def graphs_column(holds_graph: Iterable[bool]) -> Mapping[str, OptionalValues]:
    """Return the optional column of `hold_graphs`; `{}` if no operator holds a graph."""
    column = np.array([1.0 if holds else np.nan for holds in holds_graph])
    return {} if np.isnan(column).all() else {_HOLDS_GRAPH: column}


@dataclass(frozen=True, eq=False, repr=False)
class Operators:
    """The table of operators, in the order of the file. All columns have shape (operators,).

    Numbers are in base units. N/A is NaN in a column of numbers, and code -1 in a categorical
    column.
    """

    key: Keys
    """The identifier of each operator in the file: numbers if all are whole numbers, otherwise
    texts."""
    name: Categorical[str]
    type: Categorical[str]
    category: Categorical[str]
    """One of `terms.CATEGORIES`."""
    level: Categorical[str]
    """`operator`, `module`, `kernel`, `runtime` or `frame`: see `model.levels`."""
    scope: Categorical[Scope]
    """The path of modules or regions around the operator, outermost first."""
    computation: NDArray[np.float64]
    """Floating-point operations of one call, two for a multiply-add."""
    memory: NDArray[np.float64]
    """Bytes that one call reads and writes: inputs, weights and outputs, each counted once."""
    computation_source: Categorical[str]
    """The source of a known computation: `measured` (reported by the runtime) or `derived`."""
    memory_source: Categorical[str]
    optional: Mapping[str, OptionalValues] = field(default_factory=dict)
    """The loaded optional columns, by name."""
    not_loaded: frozenset[str] = frozenset()
    """The optional columns that the file may have, but that were not loaded."""

    def __post_init__(self) -> None:
        freeze_arrays(self)
        # `freeze_arrays` covers the fields of the class, but not the arrays in `optional`.
        for values in self.optional.values():
            if isinstance(values, np.ndarray):
                values.flags.writeable = False

    @classmethod
    def of(  # noqa: PLR0913  # one argument for each column, most of them optional
        cls,
        *,
        key: Keys,
        name: Categorical[str],
        type: Categorical[str] | None = None,  # noqa: A002  # the name of the column
        category: Categorical[str] | None = None,
        level: Categorical[str] | str = "operator",
        scope: Categorical[Scope] | None = None,
        computation: NDArray[np.float64] | None = None,
        memory: NDArray[np.float64] | None = None,
        source: str = MEASURED,
        memory_source: Categorical[str] | None = None,
        optional: Mapping[str, OptionalValues] | None = None,
        not_loaded: frozenset[str] = frozenset(),
    ) -> Operators:
        """Return operators with the given columns. All other columns are N/A.

        `source` is the source of all known computation and memory. `memory_source` can give the
        source of each operator's memory instead.
        """
        rows = len(name)
        unknown = constant(np.float64(np.nan), rows)
        missing: Categorical[Any] = Categorical.missing(rows)
        return cls(
            key=key,
            name=name,
            type=missing if type is None else type,
            category=missing if category is None else category,
            level=Categorical.constant(level, rows) if isinstance(level, str) else level,
            scope=missing if scope is None else scope,
            computation=unknown if computation is None else np.asarray(computation, np.float64),
            memory=unknown if memory is None else np.asarray(memory, np.float64),
            computation_source=Categorical.constant(source, rows),
            memory_source=(
                Categorical.constant(source, rows) if memory_source is None else memory_source
            ),
            optional=optional or {},
            not_loaded=not_loaded,
        )

    def __len__(self) -> int:
        return len(self.name)

    def __repr__(self) -> str:
        return f"Operators({counted(len(self), 'operator')}, optional={tuple(self.optional)})"

    def state(self, name: str) -> State:
        """Return whether an optional column is loaded, not loaded, or absent from the format."""
        if name in self.optional:
            return "loaded"
        return "not loaded" if name in self.not_loaded else "absent"

    def categorical(self, name: str) -> Categorical[Any]:
        """Return an optional column of texts or tuples; all N/A if the format lacks it.

        Raises `QueryError` if the profile was loaded without the column.
        """
        missing: Categorical[Any] = Categorical.missing(len(self))
        column: Categorical[Any] = self._optional(name, missing)
        return column

    def numbers(self, name: str) -> NDArray[np.float64]:
        """Return an optional column of numbers; all NaN if the format lacks it.

        Raises `QueryError` if the profile was loaded without the column.
        """
        missing = constant(np.float64(np.nan), len(self))
        column: NDArray[np.float64] = self._optional(name, missing)
        return column

    def _optional(self, name: str, if_absent: Any) -> Any:
        if name in self.not_loaded:
            raise QueryError(f"{name}: the profile was loaded without this column")
        return self.optional.get(name, if_absent)

    def are_at(self, *levels: str) -> NDArray[np.bool_]:
        """Return whether each operator has one of `levels`, shape (operators,)."""
        return self.level.where(one in levels for one in self.level.categories)

    @property
    def hold_graphs(self) -> NDArray[np.bool_]:
        """Which operators run a graph of other operators, which are no rows of their level."""
        result: NDArray[np.bool_] = self.numbers(_HOLDS_GRAPH) == 1
        return result

    def source_of(self, work: Literal["computation", "memory"]) -> Categorical[str]:
        """Return the source of each operator's computation or memory; `unknown` for N/A."""
        column: Categorical[str] = getattr(self, f"{work}_source")
        # The source of an N/A value is unknown, even if the reader states a source.
        categories = (*column.categories, UNKNOWN)
        is_unknown = np.isnan(getattr(self, work)) | (column.codes < 0)
        return Categorical(np.where(is_unknown, len(categories) - 1, column.codes), categories)

    def key_texts(self) -> Categorical[str]:
        """Return the text that identifies each operator in its file: the column `key` of tables."""
        key = self.key
        texts = (
            key if isinstance(key, Categorical) else Categorical.of(list(map(str, key.tolist())))
        )
        names = self.optional.get(UNIQUE_NAME)
        if not isinstance(names, Categorical):
            return texts
        pairs = zip(names.values().tolist(), texts.values().tolist(), strict=True)
        return Categorical.of([text if name is None else name for name, text in pairs])

    def key_ranks(self) -> NDArray[np.float64] | NDArray[np.int64]:
        """Return a number for each operator, which orders operators by key: conv2 before conv10."""
        return self.key.ranks(natural=True) if isinstance(self.key, Categorical) else self.key

    def take(self, rows: Indices) -> Operators:
        """Return only `rows`, in that order."""
        columns = {name: _taken(getattr(self, name), rows) for name in _REQUIRED}
        optional = {name: _taken(values, rows) for name, values in self.optional.items()}
        return Operators(**columns, optional=optional, not_loaded=self.not_loaded)

    @classmethod
    def concatenated(cls, parts: Sequence[Operators]) -> Operators:
        """Return the operators of all `parts`, one part after the other.

        If a part did not load an optional column, the column is not loaded in the result. If the
        format of a part lacks the column, the rows of this part are N/A.
        """
        if len(parts) == 1:
            return parts[0]
        columns: dict[str, Any] = {
            name: _concatenated([getattr(part, name) for part in parts]) for name in _REQUIRED
        }
        not_loaded = frozenset().union(*(part.not_loaded for part in parts))
        names = dict.fromkeys(name for part in parts for name in part.optional)
        optional = {
            name: _concatenated([part._or_missing(name, parts) for part in parts])  # noqa: SLF001  # same class
            for name in names
            if name not in not_loaded
        }
        return cls(**columns, optional=optional, not_loaded=not_loaded)

    def _or_missing(self, name: str, parts: Sequence[Operators]) -> OptionalValues:
        """Return an optional column, or N/A values if the format lacks the column.

        The N/A values are categorical if the column is categorical in a part that has it.
        """
        known = next(part.optional[name] for part in parts if name in part.optional)
        is_text = isinstance(known, Categorical)
        return self.categorical(name) if is_text else self.numbers(name)


_REQUIRED: Final = (
    "key",
    "name",
    "type",
    "category",
    "level",
    "scope",
    "computation",
    "memory",
    "computation_source",
    "memory_source",
)
"""The columns that every profile has."""


def _taken(values: Any, rows: Indices) -> Any:
    return values.take(rows) if isinstance(values, Categorical) else values[rows]


def _concatenated(columns: Sequence[Any]) -> Any:
    are_categorical = [isinstance(column, Categorical) for column in columns]
    if all(are_categorical):
        return Categorical.concatenated(columns)
    if any(are_categorical):  # possible for keys: numbers in some profiles, texts in others
        return Categorical.concatenated(
            [
                column
                if isinstance(column, Categorical)
                else Categorical.of(list(map(str, column.tolist())))
                for column in columns
            ]
        )
    return np.concatenate(columns)

"""Which variables operators use, and what the graph says about variables: shapes and dtypes."""

from __future__ import annotations

from itertools import repeat
from typing import TYPE_CHECKING

from profile_analyze.model.categorical import Categorical
from profile_analyze.readers.megengine.sections import (
    INFERRED_SHAPE,
    INPUTS,
    MEMORY_PLAN,
    NO_VARIABLE,
    BrokenValueError,
    raw_column,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from profile_analyze.model.operators import Dtypes, Shape
    from profile_analyze.readers.megengine.sections import Graph, Operator, Variable


def input_ids(operators: Iterable[Operator]) -> list[tuple[str, ...]]:
    """Return the ids of each operator's inputs."""
    return [INPUTS.decode_cached(bytes(operator.input)) or () for operator in operators]


def input_dtypes(graphs: Iterable[Graph]) -> Categorical[Dtypes]:
    """Return the dtypes of each operator's inputs, in MegEngine's terms."""
    dtypes: list[Dtypes] = []
    for graph in graphs:
        dtype_of = {id_: variable_dtype(variable) for id_, variable in graph.var.items()}
        inputs = input_ids(graph.operator.values())
        dtypes += (tuple(map(dtype_of.get, ids)) for ids in inputs)
    return Categorical.of(dtypes)


def variable_dtype(variable: Variable) -> str | None:
    """Return the dtype of a variable in MegEngine's terms, or None if the file has none."""
    text = bytes(variable.mem_plan)
    plan = MEMORY_PLAN.decode(text) if text else None
    return plan.layout.dtype if plan and plan.layout else None


def last_shapes(ids: Sequence[str], variables: Mapping[str, Variable]) -> list[bytes]:
    """Return the shape of each variable in the last run as JSON; empty if it is not known.

    Raises `AttributeError` if the file has null instead of an object.
    """
    found = map(variables.get, ids, repeat(NO_VARIABLE))
    return raw_column(found, "static_infer_tags.SHAPE.inferred_result")


def decode_shape(text: bytes) -> Shape | None:
    """Return the shape in `text`, or None if it is not a shape."""
    try:
        return INFERRED_SHAPE.decode_cached(text)
    except BrokenValueError:  # the writer prints "Large Array" instead of very long shapes
        return None

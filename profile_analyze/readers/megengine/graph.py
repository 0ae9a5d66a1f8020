"""Decodes the graph: variables with their shapes and dtypes, and which operators use them."""

from __future__ import annotations

from itertools import repeat
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from profile_analyze.model.categorical import Categorical
from profile_analyze.readers.megengine import sections
from profile_analyze.readers.megengine.terms import bytes_of, dtype_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from profile_analyze.model.operators import Dtypes, Shape
    from profile_analyze.model.tables import Tensors, Uses


def input_ids(operators: Iterable[sections.Operator]) -> list[tuple[str, ...]]:
    """Return the ids of each operator's inputs."""
    return [sections.INPUTS.decode_cached(bytes(operator.input)) or () for operator in operators]


def input_dtypes(graphs: Iterable[sections.Graph]) -> Categorical[Dtypes]:
    """Return the dtypes of each operator's inputs, with MegEngine's names such as `Float32`."""
    dtypes: list[Dtypes] = []
    for graph in graphs:
        dtypes_of_ids = {id_: _dtype(variable) for id_, variable in graph.var.items()}
        inputs = input_ids(graph.operator.values())
        dtypes += (tuple(map(dtypes_of_ids.get, ids)) for ids in inputs)
    return Categorical.of(dtypes)


def _dtype(variable: sections.Variable) -> str | None:
    """Return MegEngine's name of a variable's dtype; None if the file lacks it."""
    text = bytes(variable.mem_plan)
    plan = sections.MEMORY_PLAN.decode(text) if text else None
    return plan.layout.dtype if plan and plan.layout else None


def last_shapes(ids: Sequence[str], variables: Mapping[str, sections.Variable]) -> list[bytes]:
    """Return, as JSON, the shape of each variable in the last run; empty if the shape is unknown.

    Raises `AttributeError` if the file has null instead of an object.
    """
    entries = map(variables.get, ids, repeat(sections.NO_VARIABLE))
    return sections.raw_column(entries, "static_infer_tags.SHAPE.inferred_result")


def decode_shape(text: bytes) -> Shape | None:
    """Return the shape in `text`, or None if it is not a shape."""
    try:
        return sections.INFERRED_SHAPE.decode_cached(text)
    except sections.BrokenValueError:  # MegEngine writes "Large Array" instead of a long shape
        return None


def _last_shape(variable: sections.Variable) -> Shape | None:
    """Return the shape of a variable in the last run; None if it is not known."""
    tags = variable.static_infer_tags
    if tags is None or tags.SHAPE is None:  # null instead of an object
        return None
    return decode_shape(bytes(tags.SHAPE.inferred_result))


def graph_tables(graph: sections.Graph) -> tuple[Tensors, Uses]:
    """Return the variables of the graph, with their shapes in the last run, and their uses."""
    # Few questions need these tables, and a plain call should not import them.
    from profile_analyze.model.tables import Tensors, Uses

    ids = list(graph.var)
    shapes = list(map(_last_shape, graph.var.values()))
    dtypes = [None if name is None else dtype_of(name) for name in map(_dtype, graph.var.values())]
    sizes = [
        np.nan if shape is None else prod(shape) * bytes_of(dtype)
        for shape, dtype in zip(shapes, dtypes, strict=True)
    ]
    tensor_of = {id_: row for row, id_ in enumerate(ids)}
    operators = graph.operator.values()
    uses = [
        (row, tensor_of[id_], is_output)
        for row, (inputs, operator) in enumerate(zip(input_ids(operators), operators, strict=True))
        for is_output, used in ((False, inputs), (True, operator.output or ()))
        for id_ in used
        if id_ in tensor_of  # edited files may lack variables
    ]
    # If there are no uses, `zip` yields no columns.
    operator_rows, tensor_rows, is_output = list(zip(*uses, strict=True)) or [(), (), ()]
    return (
        Tensors(
            Categorical.of(ids), Categorical.of(shapes), Categorical.of(dtypes), np.array(sizes)
        ),
        Uses(
            np.array(operator_rows, np.int32),
            np.array(tensor_rows, np.int32),
            np.array(is_output, np.bool_),
        ),
    )

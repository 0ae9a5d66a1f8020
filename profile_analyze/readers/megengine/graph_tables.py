"""The tables of the graph: tensors, and which operators read and write them."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from profile_analyze.model.categorical import Categorical
from profile_analyze.model.tables import Tensors, Uses
from profile_analyze.readers.megengine.graph import (
    decode_shape,
    input_ids,
    last_shapes,
    variable_dtype,
)
from profile_analyze.readers.megengine.terms import bytes_of, dtype_of

if TYPE_CHECKING:
    from profile_analyze.readers.megengine.sections import Graph


def graph_tables(graph: Graph) -> tuple[Tensors, Uses]:
    """Return the variables of the graph, with their shapes in the last run, and their uses."""
    ids = list(graph.var)
    shapes = list(map(decode_shape, last_shapes(ids, graph.var)))
    dtypes = [
        None if name is None else dtype_of(name) for name in map(variable_dtype, graph.var.values())
    ]
    sizes = [
        np.nan if shape is None else prod(shape) * bytes_of(dtype)
        for shape, dtype in zip(shapes, dtypes, strict=True)
    ]
    tensors = Tensors(
        Categorical.of(ids), Categorical.of(shapes), Categorical.of(dtypes), np.array(sizes)
    )
    return tensors, _uses(graph, {id_: row for row, id_ in enumerate(ids)})


def _uses(graph: Graph, tensor_of: dict[str, int]) -> Uses:
    """Return the inputs and outputs of operators; `tensor_of` has the row of each tensor."""
    operators = graph.operator.values()
    uses = [
        (row, tensor_of[id_], is_output)
        for row, (inputs, operator) in enumerate(zip(input_ids(operators), operators, strict=True))
        for is_output, used in ((False, inputs), (True, operator.output or ()))
        for id_ in used
        if id_ in tensor_of  # edited files may lack variables
    ]
    operator, tensor, is_output = list(zip(*uses, strict=True)) or [(), (), ()]
    return Uses(
        np.array(operator, np.int32), np.array(tensor, np.int32), np.array(is_output, np.bool_)
    )

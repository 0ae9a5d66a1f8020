"""The table of operators: a row for each instruction, for each group, or for all instructions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from profile_analyze.model.categorical import Categorical
from profile_analyze.model.constants import CONSTANT_BYTES
from profile_analyze.model.numbers import floats
from profile_analyze.model.operators import Operators
from profile_analyze.model.terms import DERIVED
from profile_analyze.readers.keys import distinct_keys
from profile_analyze.readers.migraphx.shapes import sizes_of
from profile_analyze.work.tensor import compute_dtype

if TYPE_CHECKING:
    from collections.abc import Sequence

    from profile_analyze.readers.migraphx.rows import Row


def operators_of(rows: Sequence[Row]) -> Operators:
    """Return the table of operators."""
    return Operators.of(
        key=Categorical.of(distinct_keys(row.name for row in rows)),
        name=Categorical.of([row.name for row in rows]),
        type=Categorical.of([row.type for row in rows]),
        category=Categorical.of([row.cost.category if row.type else None for row in rows]),
        scope=Categorical.of([(row.module,) if row.module else None for row in rows]),
        computation=floats(row.cost.work.computation for row in rows),
        memory=floats(row.cost.work.memory for row in rows),
        source=DERIVED,
        optional={
            "in_shapes": Categorical.of([_in_shapes(row) for row in rows]),
            "in_strides": Categorical.of([_in_strides(row) for row in rows]),
            "out_shapes": Categorical.of(
                [sizes_of(row.outputs) if row.outputs else None for row in rows]
            ),
            "input_dtypes": Categorical.of([_input_dtypes(row) for row in rows]),
            "compute_dtype": Categorical.of([_compute_dtype(row) for row in rows]),
            "parameters": Categorical.of([row.parameters for row in rows]),
            "macs": floats(row.cost.work.macs for row in rows),
            "derived_computation": floats(row.cost.work.computation for row in rows),
            "derived_memory": floats(row.cost.work.memory for row in rows),
            CONSTANT_BYTES: floats(row.constant_bytes for row in rows),
        },
    )


def _in_shapes(row: Row) -> tuple[tuple[int, ...], ...] | None:
    return None if row.inputs is None else sizes_of([value.shape for value in row.inputs])


def _in_strides(row: Row) -> tuple[tuple[int, ...] | None, ...] | None:
    """Return the strides of each input, with None for a contiguous input.

    The result is empty if all inputs are contiguous, and None if the inputs are unknown.
    """
    if row.inputs is None:
        return None
    strides = tuple(
        None if value.shape.is_contiguous else value.shape.strides for value in row.inputs
    )
    return strides if any(strides) else ()


def _input_dtypes(row: Row) -> tuple[str, ...] | None:
    return None if row.inputs is None else tuple(value.shape.type for value in row.inputs)


def _compute_dtype(row: Row) -> str | None:
    return compute_dtype(
        [value.shape.dtype for value in row.inputs or ()], [shape.dtype for shape in row.outputs]
    )

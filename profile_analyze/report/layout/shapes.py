"""Shapes and strides as text."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING

from profile_analyze.columns.wording import shape_text, stride_text
from profile_analyze.units import NOT_AVAILABLE

if TYPE_CHECKING:
    from profile_analyze.model.operators import Shapes, Strides
    from profile_analyze.query.table import Table


def shape_lines(shapes: Shapes | None, strides: Strides | None = None) -> list[str]:
    """Return a line such as `{1,3,224,224}` for each shape; N/A for unknown shapes.

    If a tensor is not contiguous, a line with its strides follows, such as `-[150528,1,672,3]`.
    """
    if shapes is None:
        return [NOT_AVAILABLE]
    # A damaged profile may list more strides than shapes.
    lines = []
    for shape, stride in zip_longest(shapes, (strides or ())[: len(shapes)]):
        lines.append(shape_text(shape))
        if stride:
            lines.append(stride_text(stride))
    return lines


def shape_columns(table: Table) -> tuple[list[list[str]], list[list[str]]]:
    """Return the lines of the input shapes and of the output shapes of every row."""
    if table.query.grouped:
        return _group_shapes(table, "in_shapes"), _group_shapes(table, "out_shapes")
    return (
        list(map(shape_lines, table["in_shapes"], table["in_strides"])),
        list(map(shape_lines, table["out_shapes"])),
    )


def _group_shapes(table: Table, name: str) -> list[list[str]]:
    """Return the lines of the shapes of each group.

    Groups have shapes only if the shapes are a group key. Otherwise, all groups get the text
    `None`, as in the original.
    """
    if name in table.query.by:
        return list(map(shape_lines, table[name]))
    return [["None"]] * len(table)

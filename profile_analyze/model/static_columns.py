"""Columns of models that have not run: the counts of onnx-tool, and the zeros in weights.

Their formulas return the optional columns of the same names, which profiles of a runtime lack.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from profile_analyze.model.columns import AGGREGATED, Column

_onnx_tool = partial(Column, of_groups=AGGREGATED, worked="by the formulas of onnx-tool")

_ONNX_TOOL: Final = (
    _onnx_tool(
        "onnx_tool_macs",
        "1",
        "the multiply-adds as onnx-tool 1.0.1 counts them: a bias, an activation and a "
        "normalization count, too",
        shown_as="count",
        optional="onnx_tool_macs",
    ),
    _onnx_tool(
        "onnx_tool_memory",
        "byte",
        "the memory as onnx-tool 1.0.1 counts it: outputs and weights, a weight only at its first "
        "operator",
        optional="onnx_tool_memory",
    ),
    _onnx_tool(
        "onnx_tool_params",
        "1",
        "the elements of initializers, as onnx-tool 1.0.1 counts them: each only at its first "
        "operator",
        shown_as="count",
        optional="onnx_tool_params",
    ),
)

_SPARSITY: Final = (
    Column(
        "sparsity",
        "1",
        "the share of zeros in the largest weight of at least two dimensions",
        optional="sparsity",
        worked="counted in the values of the weight",
    ),
    Column(
        "sparsity_pattern",
        "",
        "the largest blocks that the zeros of this weight come in, such as 1x4: counting only "
        "blocks of zeros loses at most 10 percentage points; N/A up to a sparsity of 10 %",
        kind="text",
        is_key=True,
        optional="sparsity_pattern",
        worked="the largest of all shapes that divide the weight",
    ),
    Column(
        "sparsity_block",
        "1",
        "the share of these blocks that have only zeros",
        optional="sparsity_block",
        worked="counted in the values of the weight",
    ),
)

STATIC_COLUMNS: Final = (*_ONNX_TOOL, *_SPARSITY)
ONNX_TOOL_NAMES: Final = tuple(column.name for column in _ONNX_TOOL)
SPARSITY_NAMES: Final = tuple(column.name for column in _SPARSITY)

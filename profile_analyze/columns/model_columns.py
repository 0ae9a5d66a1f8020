"""The columns on the cost of a model.

A profile without a model has only those that follow from the layers and shapes in the profile.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from profile_analyze.columns.column import AGGREGATED, SAME, Column, RatioOfSums

_amount = partial(Column, of_groups=AGGREGATED)

_COSTS: Final = (
    _amount(
        "macs",
        "count",
        "multiply-adds of all calls in a run; a bias, an activation or a normalization has none",
        timed=True,
        worked="{calls_in_a_run} * {macs_of_a_call}; derived from shapes",
    ),
    Column(
        "macs_share",
        "1",
        "macs / macs of all operators of the profile; in a model, the bodies of If, Loop and "
        "Scan count as if each ran once; N/A if a model has operators of unknown macs",
        SAME,
        timed=True,
        worked="{macs} / {macs_of_all_operators_including_bodies}",
    ),
    _amount(
        "macs_with_bias",
        "count",
        "macs, and one more for each output element that a bias is added to",
        timed=True,
        worked="{macs} + the output elements that a bias is added to",
    ),
    _amount(
        "macs_without_padding",
        "count",
        "macs of a convolution, without the products with values that the padding adds; N/A for "
        "all other operators",
        timed=True,
        worked="{macs} - the products with values that the padding adds",
    ),
    Column(
        "conv_kind",
        "",
        "the kind of convolution, the first of these that applies: depthwise (several groups "
        "of one input channel each), grouped, pointwise (each side of the kernel is 1), full",
        kind="text",
        is_key=True,
        worked="from the number of groups and the shape of the weight",
    ),
    _amount(
        "backward_macs",
        "count",
        "multiply-adds of the gradients that training needs: of the weights, and of the inputs "
        "that depend on weights",
        timed=True,
        worked="macs for each gradient: of the weights, and of the inputs that depend on weights",
    ),
    _amount(
        "params",
        "count",
        "the number of elements of the operator's weights; scales, shapes, indices and single "
        "numbers are not weights; a weight of several operators counts only at the first one",
        worked="the elements of the weights that no earlier operator uses",
    ),
    Column(
        "param_share",
        "1",
        "params / params of all operators of the profile",
        SAME,
        worked="{params} / {total_params}",
    ),
    _amount(
        "param_bytes",
        "byte",
        "bytes of the weights that params counts",
        worked="the bytes of the weights that no earlier operator uses",
    ),
    Column(
        "reused_weights",
        "",
        "the names of weights that an earlier operator also uses; params counts them at that "
        "operator",
        kind="text",
        worked="the names of the weights that an earlier operator uses",
    ),
    _amount(
        "input_bytes",
        "byte",
        "bytes of the inputs that are not constant, each once",
        worked="the sum over the inputs that are not constant",
    ),
    _amount(
        "output_bytes",
        "byte",
        "bytes of the outputs that are not constant, each once",
        worked="the sum over the outputs that are not constant",
    ),
)

_onnx_tool = partial(Column, of_groups=AGGREGATED, worked="by the formulas of onnx-tool")

_ONNX_TOOL: Final = (
    _onnx_tool(
        "onnx_tool_macs",
        "count",
        "the multiply-adds as onnx-tool 1.0.1 counts them: a bias, an activation and a "
        "normalization count, too",
        optional="onnx_tool_macs",
    ),
    _onnx_tool(
        "onnx_tool_memory",
        "byte",
        "the memory as onnx-tool 1.0.1 counts it: outputs and weights, each weight only at its "
        "first operator",
        optional="onnx_tool_memory",
    ),
    _onnx_tool(
        "onnx_tool_params",
        "count",
        "the elements of initializers, as onnx-tool 1.0.1 counts them: each initializer only at "
        "its first operator",
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
        "the shape of the blocks that zeros form, such as 1x4: the largest shape for which at most "
        "10 % of the weight's elements are zeros outside of such blocks; N/A if sparsity is at "
        "most 10 %",
        kind="text",
        is_key=True,
        optional="sparsity_pattern",
        worked="the largest shape, of those that divide the weight and have powers of two as "
        "sides, for which at most 10 % of the elements are zeros outside of blocks of zeros",
    ),
    Column(
        "sparsity_block",
        "1",
        "the share of blocks with only zeros, for blocks of the shape sparsity_pattern",
        optional="sparsity_block",
        worked="counted in the values of the weight",
    ),
)

_tile_amount = partial(_amount, timed=True)

_TILES: Final = (
    _tile_amount(
        "tiles",
        "1",
        "the number of tiles that --split-matmul cuts the matrix products of the operator into",
        shown_as="count",
        worked="{tiles_m} * {tiles_n} * {tiles_k} * the number of matrix products in a run",
    ),
    *(
        Column(
            f"tiles_{axis}",
            "1",
            f"the number of tiles along {axis.upper()}, {what}",
            shown_as="count",
            worked=f"{axis.upper()} / the size of a tile, rounded up",
        )
        for axis, what in (
            ("m", "the rows of A and of the result"),
            ("n", "the columns of B and of the result"),
            ("k", "the columns of A and the rows of B"),
        )
    ),
    _tile_amount(
        "tiled_macs",
        "count",
        "macs if each tile is padded to its full size",
        worked="{tiles} * the multiply-adds of a full tile",
    ),
    Column(
        "tile_efficiency",
        "1",
        "macs / tiled_macs: the share of tiled_macs that is not padding",
        RatioOfSums("macs", "tiled_macs"),
        worked="{macs} / {tiled_macs}",
    ),
    _tile_amount(
        "untiled_memory",
        "byte",
        "bytes of A, B and the result of a matrix product, each once: without tiles, the operator "
        "reads and writes these bytes, and needs them in memory at once",
        worked="bytes of A + bytes of B + bytes of the result",
    ),
    _tile_amount(
        "tiled_memory",
        "byte",
        "bytes that the tiles read and write: each tile reads its part of A and B; partial sums "
        "are written at the first step along K, and read and written at each further step",
        worked="A * {tiles_n} + B * {tiles_m} + the result * (2 * {tiles_k} - 1); matrices in "
        "bytes",
    ),
    _tile_amount(
        "padded_memory",
        "byte",
        "tiled_memory if each tile is padded to its full size",
        worked="as tiled_memory, with full tiles",
    ),
    Column(
        "tile_peak",
        "byte",
        "bytes of the largest tile: its parts of A and B, and its partial sums",
        worked="the part of A + the part of B + the part of the result, in bytes",
    ),
)

COLUMNS: Final = (*_COSTS, *_ONNX_TOOL, *_SPARSITY, *_TILES)
TILE_NAMES: Final = tuple(column.name for column in _TILES)

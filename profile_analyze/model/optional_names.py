"""The names of optional columns of operators that readers, levels, graphs and columns share."""

from __future__ import annotations

from typing import Final

ONNX_TOOL_NAMES: Final = (
    "onnx_tool_macs",
    "onnx_tool_memory",
    "onnx_tool_params",
)
"""The counts of the tool onnx-tool."""
SPARSITY_NAMES: Final = (
    "sparsity",
    "sparsity_pattern",
    "sparsity_block",
)
TILE_AMOUNTS: Final = (
    "tiles",
    "tiled_macs",
    "untiled_memory",
    "tiled_memory",
    "padded_memory",
)
"""The columns on tiles whose values are multiplied by the calls in a run. In a fused operator, the
values of all matrix products are added up."""
MESSAGE_TEXTS: Final = ("collective", "group_size")
MESSAGE_AMOUNTS: Final = ("message_bytes", "bus_bytes")
"""Amounts of messages between ranks. Operators hold the mean amount per call."""
FUSED_NAMES: Final = "fused_names"
"""The names of all operators of the model that a fused layer runs."""
UNIQUE_NAME: Final = "unique_name"
"""The text that tells each operator apart in the terms of the file, such as a node's path. Formats
whose `key` only counts rows have this column."""

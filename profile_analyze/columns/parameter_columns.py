"""The columns of parameters, such as `param.stride_h`."""

from __future__ import annotations

from typing import Final

from profile_analyze.columns.column import Column, Parameter
from profile_analyze.model.terms import NODES

PARAMETER: Final = "param."
_OF_NODES: Final = "the nodes of the model that the operator executes"
_NODES_WORKED: Final = "the nodes of --model that match the operator; N/A if no node matches"
_WORKED: Final = "as in the file, or in the model of --model"


def parameter_column(name: str) -> Column:
    """Return the column of the parameter `name`."""
    is_nodes = name == NODES
    return Column(
        f"{PARAMETER}{name}",
        "",
        _OF_NODES if is_nodes else f"the operator's parameter {name}",
        of_operators=Parameter(name),
        worked=_NODES_WORKED if is_nodes else _WORKED,
        kind="mixed",
        is_key=True,
        optional="parameters",
    )

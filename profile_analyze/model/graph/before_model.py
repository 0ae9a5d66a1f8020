"""Keeps what a profile had before a model added facts. Comparisons match operators by these values.

A model adds types, shapes and parameters only to operators that match its nodes. Two builds of one
network differ in the operators that match. If added values counted, an operator that has them on
only one side would look like another operator.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from profile_analyze.model.terms import NODES, SHAPES

if TYPE_CHECKING:
    from profile_analyze.model.categorical import Categorical
    from profile_analyze.model.operators import Operators, Parameters
    from profile_analyze.model.profile import Profile

MAIN_NODE: Final = "main_node"
"""The optional column with the name of the node that has the same kind as the operator."""
_BEFORE: Final = "before_model."
"""The prefix of the optional columns that keep earlier values."""
_OPTIONAL: Final = (*SHAPES, "parameters")


def with_earlier_values(
    operators: Operators, earlier: Operators, main_nodes: Categorical[str]
) -> Operators:
    """Return `operators`, to which a model added facts, with the values of `earlier` beside them.

    `main_nodes` is the column `MAIN_NODE`. If `earlier` has values from before another model, these
    are kept instead.
    """
    kept: dict[str, Any] = {MAIN_NODE: main_nodes}
    if MAIN_NODE not in earlier.optional:
        kept[_BEFORE + "type"] = earlier.type
        loaded = (name for name in _OPTIONAL if name in earlier.optional)
        kept |= {_BEFORE + name: earlier.optional[name] for name in loaded}
    return replace(operators, optional={**operators.optional, **kept})


def before_model(profile: Profile) -> Profile:
    """Return the profile with the types, shapes and parameters that no model added."""
    operators = profile.operators
    optional: dict[str, Any] = dict(operators.optional)
    own_type = optional.pop(_BEFORE + "type", operators.type)
    if MAIN_NODE in optional:
        for name in _OPTIONAL:
            optional.pop(name, None)
            if _BEFORE + name in optional:  # otherwise, the format lacks the column
                optional[name] = optional.pop(_BEFORE + name)
    if "parameters" in optional:  # an execution graph may have added the names of nodes
        optional["parameters"] = optional["parameters"].mapped(without_nodes)
    return profile.changed(operators=replace(operators, type=own_type, optional=optional))


def without_nodes(parameters: Parameters) -> Parameters:
    """Return the parameters without the names of nodes."""
    return tuple(pair for pair in parameters if pair[0] != NODES)

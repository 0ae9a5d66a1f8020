"""Rules on a profile with a model beside it (--model)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from profile_analyze.findings.rule import Rule
from profile_analyze.units import counted

if TYPE_CHECKING:
    from profile_analyze.findings.rule import Words

_OTHER_BUILD: Final = "perhaps this graph is of another build of the model"


def _other_dtype(
    words: Words, *, operators: int, dtype: str, described: str, is_execution_graph: bool
) -> str:
    doubt = f"; {_OTHER_BUILD}" if is_execution_graph else ""
    return (
        f"the compute dtype of {counted(operators, 'operator')}{words.sized} is {dtype} in the "
        f"profile, but {described} in this model: memory and bandwidth are those of "
        f"{described}{doubt}"
    )


def _matched_nodes(
    words: Words,
    *,
    by_name: int,
    by_order: int,
    left: int,
    expected: int,
    other_shapes: int,
    doubtful: bool,
    is_execution_graph: bool,
    instead: str,
) -> str:
    """Return how many operators match a node, and how many of the expected operators are left.

    `instead` describes operators without a model; it may be empty.
    """
    without, matched = f"{counted(left, 'operator')}{words.sized}", by_name + by_order
    if not expected:
        text = "no operator matches a node of this model"
    elif not matched and left == 1:
        text = f"{without} matches no node of this model"
    elif not matched:
        text = f"none of {without} matches a node of this model"
    else:
        text = f"{counted(by_name, 'operator')} matched by name, {by_order} by order"
        text += f", {without} not matched" if left else ""
    if doubtful and not is_execution_graph:
        text += "; perhaps this is not the model that ran"
        text += ", so the work of the matched operators may be wrong" if matched else ""
    if left and is_execution_graph:
        text += f"; {_OTHER_BUILD}"
        text += f": without --model, {instead} would describe the operators" if instead else ""
    if other_shapes:
        text += (
            f"; the shapes of {counted(other_shapes, 'operator')} differ from the model's: set the "
            "model's shapes with --input-shape or --dim, if this is the model that ran"
        )
    return text


RULES: Final = (
    Rule("matched-nodes", "a model was added to a profile", _matched_nodes),
    Rule(
        "other-dtype",
        "operators ran in another dtype than the model describes",
        _other_dtype,
    ),
    Rule(
        "whole-model-in-one-operator",
        "one operator runs the whole model",
        "the run is one operator, which gets the computation and the parameters of the whole model",
    ),
    Rule(
        "other-shapes-of-whole-model",
        "the only operator may have run other shapes than the model's",
        "the shapes of the only operator are unknown, or differ from the model's: set the model's "
        "shapes with --input-shape or --dim, if this is the model that ran",
    ),
    Rule(
        "derived-work",
        "computation or memory is derived from shapes",
        "the {amount} of {operators:operator}{size} is derived from shapes",
    ),
    Rule(
        "unknown-work",
        "computation or memory is unknown",
        "the {amount} of {operators:operator}{size} is unknown",
    ),
)

"""Rules on ONNX models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from profile_analyze.findings.rule import Rule
from profile_analyze.units import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from profile_analyze.findings.rule import Words

_WHY_UNKNOWN: Final = {
    "computed": "nodes compute the values",
    "unreadable": "the values cannot be read",
}


def _unknown_types(_: Words, *, operators: int, types: Sequence[str], more: int) -> str:
    which = f"{', '.join(types)}{f' and {more} more' if more > 0 else ''}"
    return (
        "work, and output shapes that the file does not store, are N/A for "
        f"{counted(operators, 'operator')} of unknown type: {which}"
    )


def _dynamic_inputs(
    _: Words, *, inputs: int, names: str, options: str, replacements: Sequence[str]
) -> str:
    return (
        f"shapes that depend on {counted(inputs, 'dynamic input')} are N/A: {names}; give all "
        f"sizes, with {' and '.join(replacements)}: {options}"
    )


def _weights_in_other_files(
    _: Words, *, tensors: int, first: str, files: int, where: Literal["url", "elsewhere", "missing"]
) -> str:
    others = files - 1
    more = f" and {counted(others, 'other file')}" if others else ""
    them = "files" if others else "file"
    values = f"the values of {counted(tensors, 'tensor')} are in {first}{more}"
    if where == "url":
        return (
            f"{values}, not read from a URL; to get the sparsity of these values, copy the model "
            f"and the {them} to a local folder"
        )
    place = "not a regular file in the folder of" if where == "elsewhere" else "not found beside"
    return (
        f"{values}, {place} the model; to get the sparsity of these values, copy the {them} there"
    )


def _unknown_sparsity(_: Words, *, weights: int, reason: Literal["computed", "unreadable"]) -> str:
    return f"the sparsity of {counted(weights, 'weight')} is N/A: {_WHY_UNKNOWN[reason]}"


RULES: Final = (
    Rule("unknown-types", "operators have unknown types", _unknown_types),
    Rule("dynamic-inputs", "inputs have unknown sizes", _dynamic_inputs),
    Rule(
        "changed-sizes",
        "given sizes differ from the fixed sizes of the model",
        "sizes differ from the model's: {changes}; values of operators that cannot run with these "
        "sizes are N/A",
    ),
    Rule(
        "several-sizes",
        "given shapes give several sizes to a symbol",
        "{symbols:symbol} with several sizes: {names}; each axis has the size that its own "
        "--input-shape gives",
    ),
    Rule(
        "empty-inputs",
        "inputs have no elements",
        "{inputs:input} of size 0: {names}; operators do no work on tensors without elements",
    ),
    Rule(
        "contradicting-sizes",
        "operators cannot run with the sizes of their inputs",
        "{operators:operator} cannot run with these sizes: {names}; this work, and all work that "
        "depends on it, is N/A",
    ),
    Rule(
        "weights-in-other-files",
        "the sparsity of weights needs files that are missing",
        _weights_in_other_files,
    ),
    Rule("unknown-sparsity", "the values of weights are unknown", _unknown_sparsity),
    Rule(
        "convolutions-without-tiles",
        "the columns on tiles leave out convolutions",
        "the columns on tiles leave out {convolutions:convolution}; {option} counts convolutions "
        "as the products that im2col makes",
    ),
)

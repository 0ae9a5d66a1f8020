"""The kinds of attention: what they cost, from the sizes of queries, keys and values."""

from __future__ import annotations

from math import nan, prod
from typing import TYPE_CHECKING, Final

from profile_analyze.model import terms
from profile_analyze.work.kind import (
    Kind,
    attribute,
    every_tensor,
    output_elements,
)

if TYPE_CHECKING:
    from profile_analyze.work.operation import Operation

PER_SCORE: Final = 6
"""The operations on each score: one for the scale, and five for the softmax."""


def _product(operation: Operation, *names: str) -> float:
    """Return the product of attributes; NaN if one of them is unknown."""
    return prod((attribute(operation, name, nan) for name in names), start=1.0)


def _scores(operation: Operation) -> float:
    return _product(operation, "batch", "heads", "query_length", "key_length")


def _core_macs(operation: Operation) -> float:
    """Return the multiply-adds of two products: queries with keys, and scores with values."""
    head_size = attribute(operation, "head_size", nan)
    return _scores(operation) * (head_size + attribute(operation, "value_head_size", nan))


def _macs(operation: Operation) -> float:
    return _core_macs(operation) + attribute(operation, "projection_macs", 0)


def _other(operation: Operation) -> float:
    return _scores(operation) * (PER_SCORE + attribute(operation, "has_mask", 0))


def _state_updates(operation: Operation) -> float:
    """Return the elements of the state of one head, counted once for each token."""
    return _product(operation, "batch", "query_length", "head_size", "value_head_size")


def _linear_macs(operation: Operation) -> float:
    """Return the multiply-adds of linear attention.

    For each token, each query head has one product with the state. Each key head has one product
    with the state, or two with a delta rule.
    """
    kv_heads = attribute(operation, "kv_heads", nan)
    per_key_head = 2 if operation.attributes.get("has_delta", False) else 1
    products = attribute(operation, "heads", nan) + per_key_head * kv_heads
    return _state_updates(operation) * products


def _linear_other(operation: Operation) -> float:
    decays = operation.attributes.get("has_decay", False)
    decayed = _state_updates(operation) * attribute(operation, "kv_heads", nan) if decays else 0.0
    return output_elements(operation) + decayed


def _bias_elements(operation: Operation) -> float:
    return attribute(operation, "bias_elements", 0)


KINDS: Final = (
    Kind(
        "attention",
        terms.ATTENTION,
        _macs,
        _other,
        every_tensor,
        "any; batch, heads (of queries), query_length, key_length, head_size, value_head_size, "
        "has_mask, projection_macs, bias_elements",
        "MACs: batch * heads * query length * key length * (head size of queries + head size "
        "of values), plus the MACs of fused projections; a causal mask does not halve "
        "these MACs. In addition, 6 FLO for each score (scale, softmax), 1 more with a mask",
        "ONNX Attention; two products of matrices and a softmax",
        activation_macs=_core_macs,
        bias_elements=_bias_elements,
    ),
    Kind(
        "linear attention",
        terms.ATTENTION,
        _linear_macs,
        _linear_other,
        every_tensor,
        "any; batch, heads (of queries), kv_heads, query_length, head_size, value_head_size, "
        "has_delta, has_decay",
        "MACs: batch * length * head size * value head size * (heads + heads of keys), or * (heads "
        "+ 2 * heads of keys) with a delta rule. In addition, for each token, 1 FLO for each "
        "output element and, if the state decays, for each element of the state",
        "ONNX LinearAttention, one token after the other",
        activation_macs=_linear_macs,
    ),
)

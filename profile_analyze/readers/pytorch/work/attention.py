"""Computes the work of attention operators, forward and backward."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Final

from profile_analyze.readers.pytorch.calls import UnknownError, shape_of
from profile_analyze.readers.pytorch.work.costs import Cost, Entry, possible
from profile_analyze.work.kinds import backward_macs, work_of
from profile_analyze.work.operation import Operation, Work
from profile_analyze.work.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Mapping

    from profile_analyze.readers.pytorch.calls import Call

_ATTENTION: Final = "attention"
_FURTHER: Final = ("dropout_mask", "alibi_slopes", "seqused_k", "seqlen_k")
"""The names of tensors that only some operators read."""


def _forward(call: Call, *, is_heads_last: bool) -> Operation:
    """Return the operation of the forward pass, even for a call of a backward operator.

    Queries, keys and values have shape (batch, heads, length, size). With `is_heads_last`, their
    shape is (batch, length, heads, size).
    """
    offsets = call.optional("offsets")
    if offsets is not None and offsets.elements != 0:
        raise UnknownError  # one tensor holds sequences of different lengths
    query, key, value = (call.tensor(name) for name in ("query", "key", "value"))
    q, k, v = map(shape_of, (query, key, value))
    if min(len(q), len(k), len(v)) < 3 or (is_heads_last and len(q) != 4):
        raise UnknownError
    heads, length = (-2, -3) if is_heads_last else (-3, -2)
    mask = call.optional("mask")
    return Operation(
        _ATTENTION,
        (query, key, value, mask, *map(call.optional, _FURTHER)),
        (Tensor((*q[:-1], v[-1]), query.dtype),),
        {
            "batch": prod(q[:-3]),
            "heads": q[heads],
            "query_length": q[length],
            "key_length": k[length],
            "head_size": q[-1],
            "value_head_size": v[-1],
            "has_mask": mask is not None,
        },
    )


def _attention(call: Call) -> Cost:
    operation = _forward(call, is_heads_last=call.name in _HEADS_LAST)
    return Cost(work_of(operation), possible(one for one in operation.outputs if one is not None))


def _attention_backward(call: Call) -> Cost:
    operation = _forward(call, is_heads_last=call.name in _HEADS_LAST)
    macs = backward_macs(operation, input_gradients=1, weight_gradients=0)
    # The gradients have the shapes and dtypes of the inputs.
    gradients = possible(call.tensor(name) for name in ("query", "key", "value"))
    memory = sum(one.bytes for one in (*call.every_tensor(), *gradients))
    return Cost(Work(macs, 2 * macs, memory), gradients)


_HEADS_LAST: Final = frozenset(
    f"_{kind}_attention_{direction}"
    for kind in ("flash", "efficient")
    for direction in ("forward", "backward")
)
_QUERIES: Final = "Tensor query, Tensor key, Tensor value"
_DROPOUT: Final = "dropout_p, is_causal"
_SEEDS: Final = "Tensor? philox_seed, Tensor? philox_offset"
_OFFSETS: Final = "Tensor? offsets, Tensor? key_offsets, max_q, max_k"
_GRADIENTS: Final = f"Tensor grad_out, {_QUERIES}"
_OF_ATTENTION: Final = {
    "scaled_dot_product_attention": f"{_QUERIES}, Tensor? mask, {_DROPOUT}, scale, enable_gqa",
    "_scaled_dot_product_attention_math": f"{_QUERIES}, Tensor? mask, {_DROPOUT}, "
    "Tensor? dropout_mask, scale, enable_gqa",
    "_scaled_dot_product_flash_attention": f"{_QUERIES}, {_DROPOUT}, return_debug_mask, scale",
    "_scaled_dot_product_flash_attention_for_cpu": f"{_QUERIES}, {_DROPOUT}, Tensor? mask, scale",
    "_scaled_dot_product_efficient_attention": f"{_QUERIES}, Tensor? mask, compute_log_sumexp, "
    f"{_DROPOUT}, scale",
    "_scaled_dot_product_cudnn_attention": f"{_QUERIES}, Tensor? mask, compute_log_sumexp, "
    f"{_DROPOUT}, return_debug_mask, scale",
    "_scaled_dot_product_fused_attention_overrideable": f"{_QUERIES}, Tensor? mask, {_DROPOUT}, "
    "return_debug_mask, scale",
    "_flash_attention_forward": f"{_QUERIES}, {_OFFSETS}, {_DROPOUT}, return_debug_mask, scale, "
    "window_size_left, window_size_right, Tensor? seqused_k, Tensor? alibi_slopes",
    "_efficient_attention_forward": f"{_QUERIES}, Tensor? mask, {_OFFSETS}, dropout_p, "
    "custom_mask_type, compute_log_sumexp, scale, Tensor? seqlen_k, window_size",
    "_cudnn_attention_forward": f"{_QUERIES}, Tensor? mask, {_OFFSETS}, compute_log_sumexp, "
    f"{_DROPOUT}, return_debug_mask, scale",
}
_OF_ATTENTION_BACKWARD: Final = {
    "_scaled_dot_product_flash_attention_backward": f"{_GRADIENTS}, Tensor out, "
    f"Tensor logsumexp, {_OFFSETS}, {_DROPOUT}, {_SEEDS}, scale",
    "_scaled_dot_product_flash_attention_for_cpu_backward": f"{_GRADIENTS}, Tensor out, "
    f"Tensor logsumexp, {_DROPOUT}, Tensor? mask, scale",
    "_scaled_dot_product_efficient_attention_backward": f"{_GRADIENTS}, Tensor? mask, Tensor out, "
    f"Tensor logsumexp, {_SEEDS}, dropout_p, grad_input_mask, is_causal, scale",
    "_scaled_dot_product_cudnn_attention_backward": f"{_GRADIENTS}, Tensor out, "
    f"Tensor logsumexp, {_SEEDS}, Tensor? mask, {_OFFSETS}, {_DROPOUT}, scale",
    "_flash_attention_backward": f"{_GRADIENTS}, Tensor out, Tensor logsumexp, {_OFFSETS}, "
    f"{_DROPOUT}, {_SEEDS}, scale, window_size_left, window_size_right",
    "_efficient_attention_backward": f"{_GRADIENTS}, Tensor? mask, Tensor out, {_OFFSETS}, "
    f"Tensor logsumexp, dropout_p, {_SEEDS}, custom_mask_type, bias_requires_grad, scale, "
    "num_splits_key, window_size, shared_storage_dqdkdv",
    "_cudnn_attention_backward": f"{_GRADIENTS}, Tensor out, Tensor logsumexp, {_SEEDS}, "
    f"Tensor? mask, {_OFFSETS}, {_DROPOUT}, scale",
}

TABLE: Final[Mapping[str, Entry]] = {
    **{name: Entry(_ATTENTION, (one,), _attention) for name, one in _OF_ATTENTION.items()},
    **{
        name: Entry(_ATTENTION, (one,), _attention_backward)
        for name, one in _OF_ATTENTION_BACKWARD.items()
    },
    # The work of this operator is counted in the operators that it calls.
    "_native_multi_head_attention": Entry(_ATTENTION),
}
"""The entry of each operator. Keys are names without the namespace."""

"""Translates the operators of ONNX models that compute attention."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from profile_analyze.readers.onnx.call import product, quotient, total

if TYPE_CHECKING:
    from profile_analyze.readers.onnx.call import Call
    from profile_analyze.work.operation import Operation


def attention(call: Call) -> Operation:
    """Translate ONNX Attention. Queries have shape (B, L, heads * D) or (B, heads, L, D)."""
    batch, heads, length, head_size = _split(call, 0, call.attribute("q_num_heads"))
    _, _, keys, _ = _split(call, 1, call.attribute("kv_num_heads"))
    _, _, _, value_size = _split(call, 2, call.attribute("kv_num_heads"))
    past = call.size(4, 2) if call.has_input(4) else 0
    return _attention(
        call,
        batch=batch,
        heads=heads,
        query_length=length,
        key_length=total(keys, past),
        head_size=head_size,
        value_head_size=value_size,
        has_mask=call.has_input(3),
    )


def flexible_attention(call: Call) -> Operation:
    """Translate FlexAttention. `has_mask` is unknown: functions in the model can mask scores."""
    operation = attention(call)
    return operation._replace(attributes={**operation.attributes, "has_mask": None})


def multi_head_attention(call: Call) -> Operation:
    """Translate com.microsoft MultiHeadAttention.

    One input can hold keys and values together, or queries, keys and values together.
    """
    heads = call.attribute("num_heads")
    queries = call.dims(0) or ()
    is_packed = len(queries) == 5  # (B, L, heads, 3, D)
    batch, length = call.size(0, 0), call.size(0, 1)
    head_size = call.size(0, 4) if is_packed else quotient(call.size(0, 2), heads)
    keys, value_size = (length, head_size) if is_packed else _keys_and_values(call, heads)
    past = call.size(6, 2) if call.has_input(6) else 0
    if call.has_input(8):  # this input says how much of the past buffer is used in a run
        past = None
    return _attention(
        call,
        batch=batch,
        heads=heads,
        query_length=length,
        key_length=total(keys, past),
        head_size=head_size,
        value_head_size=value_size,
        has_mask=call.has_input(4) or call.has_input(5),
    )


def _keys_and_values(call: Call, heads: int | None) -> tuple[int | None, int | None]:
    """Return the number of keys, and the size of a value in each head; None if unknown."""
    rank = len(call.dims(1) or ())
    if rank == 5:  # (B, L, heads, 2, D)
        return call.size(1, 1), call.size(1, 4)
    if rank == 4:  # (B, heads, L, D)
        return call.size(1, 2), call.size(2, 3)
    return call.size(1, 1), quotient(call.size(2, 2), heads)


def grouped_query_attention(call: Call) -> Operation:
    """Translate com.microsoft GroupQueryAttention. Output 1 has all keys: past and new ones."""
    heads, groups = call.attribute("num_heads"), call.attribute("kv_num_heads")
    is_packed = not call.has_input(1)
    all_heads = total(heads, groups, groups) if is_packed else heads
    head_size = quotient(call.size(0, 2), all_heads)
    keys = call.output_size(1, 2)
    if keys is None and not is_packed and call.has_input(3):
        keys = total(call.size(3, 2), call.size(1, 1))
    return _attention(
        call,
        batch=call.size(0, 0),
        heads=heads,
        query_length=call.size(0, 1),
        key_length=keys,
        head_size=head_size,
        value_head_size=head_size,
        has_mask=call.has_input(10),
    )


def projected_attention(call: Call) -> Operation:
    """Translate com.microsoft Attention, which multiplies its input by weights first."""
    return _projected(call, mask=3, past=4, attention_bias=5, past_length=6)


def quantized_attention(call: Call) -> Operation:
    """Translate com.microsoft QAttention, the quantized form of Attention."""
    return _projected(call, mask=5, past=8)


def _projected(
    call: Call, *, mask: int, past: int, attention_bias: int = -1, past_length: int = -1
) -> Operation:
    """Translate an attention with projections.

    `mask`, `past` and so on are the positions of inputs; -1 if the operator has no such input.
    """
    batch, length, inputs = (call.size(0, axis) for axis in range(3))
    columns, heads = call.size(1, 1), call.attribute("num_heads")
    sizes = call.attribute("qkv_hidden_sizes")
    if not sizes or len(sizes) != 3:
        sizes = (quotient(columns, 3),) * 3
    past_keys = call.size(past, 3) if call.has_input(past) else 0  # (2, B, heads, P, D)
    if call.has_input(past_length):  # this input says how much of the past buffer is used in a run
        past_keys = None
    return _attention(
        call,
        batch=batch,
        heads=heads,
        query_length=length,
        key_length=total(length, past_keys),
        head_size=quotient(sizes[0], heads),
        value_head_size=quotient(sizes[2], heads),
        has_mask=call.has_input(mask) or call.has_input(attention_bias),
        projection_macs=product(batch, length, inputs, columns),
        bias_elements=product(batch, length, columns) if call.has_input(2) else 0,
    )


def linear_attention(call: Call) -> Operation:
    """Translate LinearAttention. Each head keeps a matrix of key size x value size."""
    heads, groups = call.attribute("q_num_heads"), call.attribute("kv_num_heads")
    rule = call.attribute("update_rule", "gated_delta")
    return _with(
        call,
        "linear attention",
        batch=call.size(0, 0),
        heads=heads,
        kv_heads=groups,
        query_length=call.size(0, 1),
        head_size=quotient(call.size(0, 2), heads),
        value_head_size=quotient(call.size(2, 2), groups),
        has_delta="delta" in rule,
        has_decay="gated" in rule,
    )


def _split(call: Call, index: int, heads: int | None) -> tuple[int | None, ...]:
    """Return the sizes (batch, heads, length, head size) of an input; None for unknown sizes."""
    dims = call.dims(index)
    if dims is not None and len(dims) == 4:
        return dims
    size = quotient(call.size(index, 2), heads)
    return (call.size(index, 0), heads, call.size(index, 1), size)


def _attention(call: Call, **attributes: Any) -> Operation:
    return _with(call, "attention", **attributes)


def _with(call: Call, kind: str, **attributes: Any) -> Operation:
    return call.as_operation(kind, attributes=attributes)

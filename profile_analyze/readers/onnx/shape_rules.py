"""Infers the types of outputs for operators that `onnx` cannot infer.

These are operators of ONNX Runtime, and old versions of Dropout.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from onnx import NodeProto

from profile_analyze.readers.onnx.types import Scope, attributes_of, tensor_type

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from onnx import TypeProto

    from profile_analyze.readers.onnx.types import Sizes

_MICROSOFT: Final = "com.microsoft"
_FLOAT, _INT32, _BOOL = 1, 6, 9
_BOOL_MASK_SINCE: Final = 10
"""From this operator set version on, the mask of Dropout has dtype bool."""


class _Node:
    """A node with the types of its inputs."""

    def __init__(self, node: NodeProto, scope: Scope) -> None:
        self._node = node
        self._scope = scope
        self.attributes: Mapping[str, Any] = attributes_of(node)
        self.input_count = len(node.input)
        self.opset = scope.opsets.get("", 1)

    def has(self, position: int) -> bool:
        return position < self.input_count and bool(self._node.input[position])

    def sizes(self, position: int) -> Sizes | None:
        return self._scope.sizes(self._node.input[position]) if self.has(position) else None

    def dtype(self, position: int) -> int:
        return self._scope.dtype(self._node.input[position]) if self.has(position) else 0

    def number(self, position: int) -> int | None:
        """Return the value of an integer input with one element; None if it is unknown."""
        array = self._scope.array(self._node.input[position]) if self.has(position) else None
        return int(array.ravel()[0]) if array is not None and array.size == 1 else None


def standard_node(node: NodeProto) -> NodeProto:
    """Return a node that `onnx` can infer, with the same types of outputs as `node`.

    For example, FusedConv becomes Conv. Nodes without such a replacement are returned unchanged.
    """
    standard = _STANDARD.get(node.op_type) if node.domain == _MICROSOFT else None
    if standard is None:
        return node
    same = NodeProto()
    same.CopyFrom(node)
    same.op_type = standard
    same.domain = ""
    # The standard operator has no inputs after the bias.
    del same.input[3:]
    return same


def types_by_rule(node: NodeProto, scope: Scope) -> list[TypeProto | None]:
    """Return the types of the outputs; an empty list if there is no rule for the node."""
    rule = _RULES.get((node.domain, node.op_type))
    if rule is None:
        return []
    try:
        found = rule(_Node(node, scope))
    # In a damaged model, a node may have too few inputs, dimensions or attributes.
    except (IndexError, KeyError, TypeError, ValueError):
        return []
    return [tensor_type(dtype, sizes) if dtype else None for dtype, sizes in found]


def _same(node: _Node) -> Any:
    return [(node.dtype(0), node.sizes(0))]


def _dropout(node: _Node) -> Any:
    mask = _BOOL if node.opset >= _BOOL_MASK_SINCE else node.dtype(0)
    return [(node.dtype(0), node.sizes(0)), (mask, node.sizes(0))]


def _normalized(node: _Node) -> Any:
    """Outputs: normalized data, row means, inverse standard deviations of rows, sum of inputs."""
    sizes = node.sizes(0)
    rows = None if sizes is None else (*sizes[:-1], 1)
    return [(node.dtype(0), sizes), (_FLOAT, rows), (_FLOAT, rows), (node.dtype(0), sizes)]


def _embedded(node: _Node) -> Any:
    ids, words = node.sizes(0), node.sizes(2)
    if ids is None or words is None:
        return [(node.dtype(2), None)]
    embedded = (*ids, words[1])
    return [(node.dtype(2), embedded), (_INT32, ids[:1]), (node.dtype(2), embedded)]


def broadcast(left: Sizes | None, right: Sizes | None) -> Sizes | None:
    """Return the shape that two shapes are broadcast to."""
    if left is None or right is None:
        return None
    rank = max(len(left), len(right))
    pairs = zip((1,) * (rank - len(left)) + left, (1,) * (rank - len(right)) + right, strict=True)
    return tuple(_broadcast_size(*pair) for pair in pairs)


def _broadcast_size(left: int | str | None, right: int | str | None) -> int | str | None:
    """Return the size that two sizes are broadcast to; None if it is unknown."""
    # A 1 is stretched to the other size.
    if left in (1, right):
        return right
    if right == 1:
        return left
    # A size that is not a number can be 1 or the other size. Two different numbers do not fit.
    numbers = [size for size in (left, right) if isinstance(size, int)]
    return numbers[0] if len(numbers) == 1 else None


def _product(left: Sizes | None, right: Sizes | None) -> Sizes | None:
    """Return the shape of a matrix product, by the rules of MatMul."""
    if not left or not right:
        return None
    outer = broadcast(left[:-2], right[:-2])
    rows = left[-2:-1]
    columns = right[-1:] if len(right) > 1 else ()
    return None if outer is None else (*outer, *rows, *columns)


def _transposed(sizes: Sizes | None, flag: Any) -> Sizes | None:
    if not flag or sizes is None or len(sizes) < 2:  # a vector has no transpose
        return sizes
    return (*sizes[:-2], sizes[-1], sizes[-2])


def _fused_matmul(node: _Node) -> Any:
    left = _transposed(node.sizes(0), node.attributes.get("transA"))
    right = _transposed(node.sizes(1), node.attributes.get("transB"))
    if node.attributes.get("transBatchA") or node.attributes.get("transBatchB"):
        return [(node.dtype(0), None)]
    return [(node.dtype(0), _product(left, right))]


def _integer_matmul(scale_at: int) -> Callable[[_Node], Any]:
    return lambda node: [(node.dtype(scale_at), _product(node.sizes(0), node.sizes(1)))]


def _packed_matmul(node: _Node) -> Any:
    """Output: the product of the input and packed weights.

    The weights are a matrix of N rows and K columns, which is transposed unless `transB` is 0.
    """
    left = node.sizes(0)
    columns = node.attributes["N" if node.attributes.get("transB", 1) else "K"]
    return [(node.dtype(0), None if left is None else (*left[:-1], columns))]


def _quantized_gemm(node: _Node) -> Any:
    left = _transposed(node.sizes(0), node.attributes.get("transA"))
    right = _transposed(node.sizes(3), node.attributes.get("transB"))
    return [(node.dtype(8) if node.has(8) else _FLOAT, _product(left, right))]


def _quantized_binary(node: _Node) -> Any:
    return [(node.dtype(0), broadcast(node.sizes(0), node.sizes(3)))]


def _quantized_concat(node: _Node) -> Any:
    # Inputs: scale and zero point of the output, then value, scale and zero point of each part.
    parts = [node.sizes(position) for position in range(2, node.input_count, 3)]
    if not parts or any(part is None for part in parts):
        return [(node.dtype(1), None)]
    first = list(parts[0] or ())
    axis = node.attributes["axis"]
    along = [part[axis] for part in parts if part is not None]
    known = all(isinstance(size, int) for size in along)
    first[axis] = sum(along) if known else None
    return [(node.dtype(1), tuple(first))]


def _global_pool(node: _Node) -> Any:
    sizes = node.sizes(0)
    if sizes is None:
        return [(node.dtype(0), None)]
    ones = (1,) * (len(sizes) - 2)
    last = node.attributes.get("channels_last")
    pooled = (sizes[0], *ones, sizes[-1]) if last else (*sizes[:2], *ones)
    return [(node.dtype(0), pooled)]


def _quantized(node: _Node) -> Any:
    dtype = node.dtype(2) if node.has(2) else 2
    return [(dtype, node.sizes(0))]


def _dequantized(node: _Node) -> Any:
    return [(node.dtype(1), node.sizes(0))]


def _divided(size: int | str | None, by: int | None) -> int | None:
    return size // by if isinstance(size, int) and by else None


def _times(size: int | str | None, by: int | str | None) -> int | None:
    return size * by if isinstance(size, int) and isinstance(by, int) else None


def _plus(size: int | str | None, more: int | str | None) -> int | str | None:
    if size == 0:
        return more
    return size + more if isinstance(size, int) and isinstance(more, int) else None


def _past_length(node: _Node, position: int, axis: int) -> int | str | None:
    """Return the number of past keys: 0 without the input that has them; None if it is unknown."""
    if not node.has(position):
        return 0
    past = node.sizes(position)
    return None if past is None else past[axis]


def _present_length(
    node: _Node, position: int, axis: int, new: int | str | None, *, is_shared: object
) -> int | str | None:
    """Return the length of the output that has the past keys (input `position`) and the new keys.

    `is_shared` says whether this output and the input share a buffer, whose length is fixed.
    """
    past = _past_length(node, position, axis)
    return past if is_shared and node.has(position) else _plus(past, new)


def _attention(node: _Node) -> Any:
    """Outputs: the result of shape (batch, sequence, size of v), and all keys and values."""
    data, weight = node.sizes(0), node.sizes(1)
    if data is None or weight is None:
        return [(node.dtype(0), None)]
    heads = node.attributes.get("num_heads")
    of_each = node.attributes.get("qkv_hidden_sizes")
    hidden = of_each[2] if of_each else _divided(weight[-1], 3)
    is_shared = node.attributes.get("past_present_share_buffer")
    length = _present_length(node, 4, 3, data[1], is_shared=is_shared)
    present = (2, data[0], heads, length, _divided(hidden, heads))
    return [(node.dtype(0), (*data[:2], hidden)), (node.dtype(0), present)]


def _multi_head_attention(node: _Node) -> Any:
    query = node.sizes(0)
    if query is None:
        return [(node.dtype(0), None)]
    heads = node.attributes.get("num_heads")
    hidden, new = _size_and_length_of_values(node, heads)
    # Input 8 says how much of the shared buffer is used.
    length = _present_length(node, 6, 2, new, is_shared=node.has(8))
    present = (query[0], heads, length, _divided(hidden, heads))
    output = (*query[:2], hidden)
    return [(node.dtype(0), output), (node.dtype(0), present), (node.dtype(0), present)]


def _size_and_length_of_values(node: _Node, heads: int | None) -> Any:
    """Return the size of a value in all heads, and the number of values; None for unknown numbers.

    The last given input of query, key and value has the values. Query and key can have them, too:
    their shape is then (batch, length, heads, 2 or 3, size).
    """
    given = max(position for position in (0, 1, 2) if node.has(position))
    sizes = node.sizes(given)
    if sizes is None:
        return None, None
    if given < 2:
        return _times(sizes[-1], heads), sizes[1]
    if len(sizes) == 4:  # (batch, heads, length, size)
        return _times(sizes[1], sizes[3]), sizes[2]
    return sizes[-1], sizes[1]


def _grouped_query_attention(node: _Node) -> Any:
    query = node.sizes(0)
    heads, kv_heads = node.attributes["num_heads"], node.attributes["kv_num_heads"]
    if query is None:
        return [(node.dtype(0), None)]
    packed = not node.has(2)
    size = _divided(query[-1], heads + 2 * kv_heads if packed else heads)
    hidden = heads * size if packed and size is not None else query[-1]
    total = node.number(6)
    before = _past_length(node, 3, 2)
    length = max(before, total) if isinstance(before, int) and total is not None else None
    present = (query[0], kv_heads, length, size)
    output = (*query[:2], hidden)
    return [(node.dtype(0), output), (node.dtype(0), present), (node.dtype(0), present)]


def _dynamic_lstm(node: _Node) -> Any:
    data = node.sizes(0)
    if data is None:
        return [(node.dtype(0), None)]
    directions = 2 if node.attributes.get("direction") == "bidirectional" else 1
    hidden = node.attributes.get("hidden_size")
    state = (directions, data[1], hidden)
    dtype = node.dtype(0)
    return [(dtype, (data[0], directions, data[1], hidden)), (dtype, state), (dtype, state)]


_OF_MICROSOFT: Final[Mapping[str, Callable[[_Node], Any]]] = {
    **dict.fromkeys(
        ("Gelu", "FastGelu", "BiasGelu", "QuickGelu", "RotaryEmbedding", "QLinearSigmoid",
         "QLinearLeakyRelu", "QLinearSoftmax", "BiasSoftmax", "BiasAdd", "GroupNorm", "Trilu",
         "Inverse"), _same),
    **dict.fromkeys(("SkipLayerNormalization", "SkipSimplifiedLayerNormalization"), _normalized),
    **dict.fromkeys(("QLinearAdd", "QLinearMul"), _quantized_binary),
    **dict.fromkeys(("MatMulNBits", "MatMulBnb4"), _packed_matmul),
    "Attention": _attention, "DequantizeLinear": _dequantized,
    "DynamicQuantizeLSTM": _dynamic_lstm, "DynamicQuantizeMatMul": _integer_matmul(2),
    "EmbedLayerNormalization": _embedded, "FusedMatMul": _fused_matmul,
    "GroupQueryAttention": _grouped_query_attention, "MatMulIntegerToFloat": _integer_matmul(2),
    "MultiHeadAttention": _multi_head_attention, "QGemm": _quantized_gemm,
    "QLinearConcat": _quantized_concat, "QLinearGlobalAveragePool": _global_pool,
    "QuantizeLinear": _quantized, "TransposeMatMul": _fused_matmul,
}  # fmt: skip

_STANDARD: Final[Mapping[str, str]] = {"FusedConv": "Conv", "FusedGemm": "Gemm"}
"""Operators of ONNX Runtime that fuse a standard operator and an activation."""

_RULES: Final[Mapping[tuple[str, str], Callable[[_Node], Any]]] = {
    ("", "Dropout"): _dropout,
    ("", "SimplifiedLayerNormalization"): _normalized,
    **{(_MICROSOFT, name): rule for name, rule in _OF_MICROSOFT.items()},
}
"""The rule for each operator, by its domain and type."""

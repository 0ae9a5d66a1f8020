"""Derives what the nodes of a profile compute, from their types and shapes.

`readers.onnx.operations` translates nodes into operations. A profile lacks some facts that an ONNX
model has:

- attributes
- the positions of inputs, because optional inputs may be left out
- weights that were packed when the session was created
"""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from profile_analyze.model import terms
from profile_analyze.readers.onnx.graph import Node, Value
from profile_analyze.readers.onnx.work.operations import known_operators, operation_of
from profile_analyze.work.kinds import KINDS, work_of
from profile_analyze.work.operation import Work
from profile_analyze.work.tensor import Tensor, known_shape

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from profile_analyze.work.operation import Operation

    Inputs = list[Tensor | None]
    Completion = Callable[[Inputs, Sequence[Tensor]], "_Completed"]


class NodeWork(NamedTuple):
    """The category of a node, and the work of one call."""

    category: str
    work: Work = Work()
    packed_bytes: float = 0.0
    """The bytes of the weights that the file lacks, because they were packed in advance."""
    moves_nothing: bool = False
    """Whether the node only makes a view of its tensors, or only controls other nodes."""


_REORDERING: Final = {"ReorderInput", "ReorderOutput"}
"""Nodes that change the layout of images to or from blocks of channels (NCHWc)."""
_DOMAINS: Final = ("", "com.microsoft", "ai.onnx.ml", "ai.onnx.preview.training")
_UNKNOWN_WITHOUT_ATTRIBUTES: Final = frozenset(
    ("Resize", "Upsample", "GridSample", "RotaryEmbedding", "GemmaRotaryEmbedding")
)
"""Nodes whose computation depends on an attribute. A profile has no attributes, and the default of
the attribute must not be assumed. The computation is therefore unknown."""


def work_of_node(
    type_: str | None, inputs: Sequence[Tensor] | None, outputs: Sequence[Tensor] | None
) -> NodeWork:
    """Return the category of a node and the work of one call.

    Amounts that do not follow from the node's shapes are NaN.
    """
    if type_ in _REORDERING:
        return NodeWork(terms.DATA_MOVEMENT, Work(0.0, 0.0))
    domain = _domain_of(type_)
    if type_ is None or domain is None:
        return NodeWork(terms.OTHER)
    completed = _completed(type_, list(inputs or ()), list(outputs or ()))
    operation = _operation(type_, domain, completed, outputs or ())
    if operation is None:
        return NodeWork(terms.OTHER)
    kind = KINDS[operation.kind]
    moves_nothing = kind.name in {"view", "control"}
    if inputs is None or outputs is None:
        work = Work(0.0, 0.0, 0.0) if moves_nothing else Work()
        return NodeWork(kind.category, work, moves_nothing=moves_nothing)
    work = work_of(operation)
    if type_ in _UNKNOWN_WITHOUT_ATTRIBUTES:
        work = work._replace(computation=nan)
    return NodeWork(kind.category, work, completed.packed_bytes, moves_nothing=moves_nothing)


def is_known_type(type_: str) -> bool:
    """Return whether nodes of this type are single operators of ONNX or ONNX Runtime."""
    return _domain_of(type_) is not None


def _domain_of(type_: str | None) -> str | None:
    return next((one for one in _DOMAINS if type_ in known_operators(one)), None)


class _Completed(NamedTuple):
    """The inputs of a node at the positions that its ONNX definition gives them.

    The other fields are facts that follow from the shapes.
    """

    inputs: Inputs
    packed_bytes: float = 0.0
    attributes: Mapping[str, Any] = {}
    """Attributes of the ONNX node."""
    of_operation: Mapping[str, Any] = {}
    """Attributes of the `Operation`."""


def _operation(
    type_: str, domain: str, completed: _Completed, outputs: Sequence[Tensor]
) -> Operation | None:
    values = {f"in{n}": one for n, one in enumerate(completed.inputs) if one is not None}
    input_names = tuple("" if one is None else f"in{n}" for n, one in enumerate(completed.inputs))
    results = {f"out{n}": one for n, one in enumerate(outputs)}
    node = Node("", type_, domain, input_names, tuple(results), completed.attributes)
    named = {**values, **results}
    operation = operation_of(
        node, {name: Value(name, one.shape, one.dtype) for name, one in named.items()}
    )
    if operation is None or not completed.of_operation:
        return operation
    return operation._replace(attributes={**operation.attributes, **completed.of_operation})


def _completed(type_: str, inputs: Inputs, outputs: Sequence[Tensor]) -> _Completed:
    complete = _COMPLETIONS.get(type_)
    shapes_are_known = bool(inputs and outputs) and all(
        one is not None and one.shape is not None and None not in one.shape
        for one in (*inputs, *outputs)
    )
    if complete is None or not shapes_are_known:
        return _Completed(inputs)
    return complete(inputs, outputs)


def _dtype(tensor: Tensor | None) -> str | None:
    return None if tensor is None else tensor.dtype


def _convolution(
    at: int = 1,
    *,
    has_added: bool = False,
    is_transposed: bool = False,
    channels_last: bool = False,
) -> Completion:
    """Return a function that completes the inputs of a convolution with its weight at index `at`.

    `has_added` says whether another input may follow the optional bias. The node adds this input
    to the result.
    """

    def complete(inputs: Inputs, outputs: Sequence[Tensor]) -> _Completed:
        data, result = known_shape(inputs[0]), known_shape(outputs[0])
        weight = known_shape(inputs[at]) if at < len(inputs) else ()
        if not len(weight) == len(data) == len(result) >= 3:
            # The weight was packed in advance, so the size of the convolution kernel is unknown.
            return _Completed([*inputs[:at], None, *inputs[at:]])
        if has_added and at + 1 < len(inputs) and len(known_shape(inputs[at + 1])) == len(data):
            inputs = [*inputs[: at + 1], None, *inputs[at + 1 :]]  # there is no bias
        channels = (result if is_transposed else data)[-1 if channels_last else 1]
        is_whole = weight[1] and channels % weight[1] == 0
        return _Completed(inputs, attributes={"group": channels // weight[1]} if is_whole else {})

    return complete


def _matmul(at: int = 1, packed_dtype: str | None = None) -> Completion:
    """Return a function that completes a product with its second matrix at index `at`.

    `packed_dtype` is the dtype of a packed second matrix; None for the dtype of the first matrix.
    """

    def complete(inputs: Inputs, outputs: Sequence[Tensor]) -> _Completed:
        a, result = known_shape(inputs[0]), known_shape(outputs[0])
        b = known_shape(inputs[at]) if at < len(inputs) else ()
        if not result or (len(b) == 1 and len(result) < len(a)):  # `b` is a vector
            return _Completed(inputs)
        depth = _depth(a, b, result)
        if depth is not None:
            return _Completed(inputs, of_operation={"k": depth})
        if len(a) < 2 or len(b) > 2:
            return _Completed(inputs)
        # The second matrix was packed in advance, so the file lacks it. The next input, such as a
        # bias, is at index `at` instead. If the first matrix is transposed, its last size is the
        # number of rows of the result.
        is_transposed = len(result) > 1 and result[-2] == a[-1] != a[-2]
        depth = a[-2] if is_transposed else a[-1]
        packed = Tensor((depth, result[-1]), packed_dtype or _dtype(inputs[0]))
        return _Completed(
            [*inputs[:at], packed, *inputs[at:]], packed.bytes, of_operation={"k": depth}
        )

    return complete


def _depth(a: tuple[int, ...], b: tuple[int, ...], result: tuple[int, ...]) -> int | None:
    """Return the size K that two matrices share; None if their product does not fit `result`."""
    if not a or len(b) < 2:
        return None
    # The first matrix may be transposed, but only if its last size is the number of rows of the
    # result. Without this condition, a bias with several rows would look like a second matrix.
    is_transposed = len(a) > 1 and len(result) > 1 and a[-1] == result[-2]
    for depth in (a[-1], a[-2]) if is_transposed else (a[-1],):
        if b[-2:] in {(depth, result[-1]), (result[-1], depth)}:
            return depth
    return None


def _packed_matmul(inputs: Inputs, outputs: Sequence[Tensor]) -> _Completed:
    """Complete a product with a packed matrix, which has as many columns as the result.

    This number is the attribute N or, if `transB` is 0, the attribute K. The profile lacks
    `transB`, so both attributes get the number. Only one of them is read.
    """
    result = known_shape(outputs[0])
    if not result:  # only in a damaged file
        return _Completed(inputs)
    return _Completed(inputs, attributes=dict.fromkeys(("N", "K"), result[-1]))


def _recurrent(gates: int) -> Completion:
    """Return a function that completes the inputs of a recurrent layer with this many gates."""

    def complete(inputs: Inputs, outputs: Sequence[Tensor]) -> _Completed:
        data, result = known_shape(inputs[0]), known_shape(outputs[0])
        if len(data) != 3 or len(result) not in {3, 4}:
            return _Completed(inputs)
        units = result[-1]
        sizes = [(gates * units, size) for size in (data[-1], units)]
        # If the weights are missing, states follow the data instead. States also have three
        # dimensions, so the sizes must be compared.
        if [known_shape(one)[1:] for one in inputs[1:3]] == sizes:
            return _Completed(inputs)
        # The result is (steps, directions, batch, units), (batch, steps, directions, units), or
        # (directions, batch, units) of the last step.
        is_time_first = len(result) == 4 and result[2] == data[1]
        directions = result[0] if len(result) == 3 else result[1 if is_time_first else 2]
        weights = [Tensor((directions, *one), _dtype(inputs[0])) for one in sizes]
        size = sum(one.bytes for one in weights)
        return _Completed([inputs[0], *weights, *inputs[1:]], size)

    return complete


_COMPLETIONS: Final[Mapping[str, Completion]] = {
    **dict.fromkeys(("Conv", "ConvInteger", "DeformConv"), _convolution()),
    "FusedConv": _convolution(has_added=True),
    "NhwcConv": _convolution(channels_last=True),
    "NhwcFusedConv": _convolution(has_added=True, channels_last=True),
    "QLinearConv": _convolution(3),
    "ConvTranspose": _convolution(is_transposed=True),
    **dict.fromkeys(
        ("MatMul", "FusedMatMul", "TransposeMatMul", "FusedMatMulActivation", "MatMulInteger"),
        _matmul(),
    ),
    **dict.fromkeys(("Gemm", "FusedGemm", "GemmFastGelu", "MatMulIntegerToFloat"), _matmul()),
    "DynamicQuantizeMatMul": _matmul(packed_dtype="int8"),
    **dict.fromkeys(("QLinearMatMul", "QGemm"), _matmul(3)),
    **dict.fromkeys(("MatMulNBits", "MatMulBnb4"), _packed_matmul),
    "LSTM": _recurrent(4),
    "GRU": _recurrent(3),
    "RNN": _recurrent(1),
}

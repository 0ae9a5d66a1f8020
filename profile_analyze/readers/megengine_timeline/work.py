"""Translates operators of the imperative runtime, and derives what one call costs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from profile_analyze.readers.megengine.terms import category_of, dtype_of, is_constant
from profile_analyze.readers.megengine.work import Call, operation_of
from profile_analyze.work.kinds import work_of
from profile_analyze.work.operation import Work
from profile_analyze.work.tensor import Tensor, compute_dtype, is_possible_shape

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from profile_analyze.model.operators import Parameters, Shapes
    from profile_analyze.readers.megengine_timeline.recording import Facts, TensorArguments

_TYPES: Final[Mapping[str, str]] = {
    "Convolution": "ConvolutionForward",
    "ConvBias": "ConvBiasForward",
    "Pooling": "PoolingForward",
    "Softmax": "SoftmaxForward",
    "AddAxis": "AxisAddRemove",
    "RemoveAxis": "AxisAddRemove",
    "TypeCvtV2": "TypeCvt",
    "HostToDevice": "Copy",
}
"""Maps types of the imperative runtime to types of the graph runtime, where the names differ."""
_SHAPE: Final = re.compile(r"\{(\d{1,18}(?:,\s*\d{1,18})*)?\}")

_INTEGER: Final = re.compile(r"-?\d{1,18}")
_NUMBER: Final = re.compile(r"-?\d{1,18}\.\d{1,18}(?:[eE][-+]?\d{1,3})?")
_decode_parameters: Final = msgspec.json.Decoder(dict[str, str | int | float | bool | None]).decode


class Cost(NamedTuple):
    """The work of one call of an operator, with the facts from which the work follows."""

    category: str
    work: Work
    in_shapes: Shapes | None
    out_shapes: Shapes | None
    dtypes: tuple[str, ...] | None
    parameters: Parameters
    compute_dtype: str | None


def cost_of(facts: Facts) -> Cost:
    """Return the cost of one call. Amounts that do not follow from the shapes are NaN."""
    parameters = _parameters(facts.arguments)
    by_name = dict(parameters)
    # Elementwise operators are named after their mode.
    is_elementwise = by_name.get("mode") == facts.name
    type_ = "Elemwise" if is_elementwise else _TYPES.get(facts.name, facts.name)
    in_shapes, out_shapes = _shapes(facts.inputs), _shapes(facts.outputs)
    dtypes = tuple(one.dtype for one in facts.inputs)
    return Cost(
        category_of(type_),
        _work(type_, in_shapes, facts, by_name),
        in_shapes,
        out_shapes,
        dtypes or None,
        parameters,
        compute_dtype(
            *([dtype_of(one.dtype) for one in tensors] for tensors in (facts.inputs, facts.outputs))
        ),
    )


def _work(
    type_: str, in_shapes: Shapes | None, facts: Facts, parameters: Mapping[str, int | float | str]
) -> Work:
    if is_constant(type_):
        return Work(memory=0.0)
    out_shapes = _shapes(facts.outputs)
    if in_shapes is None or out_shapes is None or not out_shapes:
        return Work()
    outputs = tuple(
        Tensor(shape, dtype_of(one.dtype))
        for shape, one in zip(out_shapes, facts.outputs, strict=True)
    )
    # `Call` needs `true` or `false` for transpositions. The imperative runtime writes 1 or 0.
    translated = {
        name: _as_word(value) if name.startswith("transpose") else value
        for name, value in parameters.items()
    }
    dtypes = tuple(one.dtype for one in facts.inputs)
    operation = operation_of(Call(type_, in_shapes, out_shapes, dtypes, translated))
    if operation is not None:
        return work_of(operation._replace(outputs=outputs))
    # The computation is unknown. Each input is read once, and each output is written once.
    inputs = (
        Tensor(shape, dtype_of(dtype)) for shape, dtype in zip(in_shapes, dtypes, strict=True)
    )
    return Work(memory=sum(one.bytes for one in (*inputs, *outputs)))


def _as_word(value: float | str) -> str:
    word = str(value).lower()
    return {"1": "true", "0": "false"}.get(word, word)


def _shapes(tensors: Sequence[TensorArguments]) -> Shapes | None:
    """Return the shapes in texts such as `{4,3,32,32}`; None if any text is not a valid shape."""
    result = []
    for tensor in tensors:
        found = _SHAPE.fullmatch(tensor.shape)
        if found is None:
            return None
        shape = tuple(map(int, found[1].split(","))) if found[1] else ()
        if not is_possible_shape(shape):
            return None
        result.append(shape)
    return tuple(result)


def _parameters(arguments: bytes) -> Parameters:
    """Return the parameters of an operator. The file writes numbers as texts."""
    try:
        found = _decode_parameters(arguments) if arguments else {}
    except (msgspec.DecodeError, UnicodeDecodeError):
        return ()
    return tuple(
        (name, _value(value))
        for name, value in sorted(found.items())
        if not name.startswith("__") and value is not None
    )


def _value(value: Any) -> int | float | str:
    if not isinstance(value, str):
        is_too_large = isinstance(value, int) and abs(value) >= 1 << 63
        return str(value).lower() if isinstance(value, bool) or is_too_large else value
    if _INTEGER.fullmatch(value):
        return int(value)
    return float(value) if _NUMBER.fullmatch(value) else value

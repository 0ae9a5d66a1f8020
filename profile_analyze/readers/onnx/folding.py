"""Computes small tensors that shapes depend on, such as the new shape for a Reshape node."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Array = Any  # NumPy's types are too narrow for tensors of any dtype
    Inputs = Sequence[Any]  # arrays, None for an optional input that is left out
    Attributes = Mapping[str, Any]

LARGEST: Final = 4096
"""Tensors with more elements than this are not computed."""

NUMBERS: Final = "biuf"
"""The kinds of dtype in NumPy that are computed: booleans, integers and floats."""
_DTYPES: Final = {
    1: np.float32, 2: np.uint8, 3: np.int8, 4: np.uint16, 5: np.int16, 6: np.int32, 7: np.int64,
    9: np.bool_, 10: np.float16, 11: np.float64, 12: np.uint32, 13: np.uint64,
}  # fmt: skip
"""Maps ONNX's number of a dtype to NumPy's dtype."""


def fold(type_: str, inputs: Inputs, attributes: Attributes) -> list[Array] | None:
    """Return the outputs of a standard node of ONNX; None if they cannot be computed here.

    `inputs` has the value of each input; None for an optional input that is left out.
    """
    function = FOLDED.get(type_)
    if function is None:
        return None
    try:
        # Overflow and division of floats by zero are allowed, as on the hardware. NumPy's warnings
        # would only confuse users.
        with np.errstate(all="ignore"):
            result = function(inputs, attributes)
    # These errors occur if an input is missing, or has an unsuitable shape, dtype or value.
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        return None
    outputs = result if isinstance(result, list) else [result]
    # A damaged Constant can have a number or a text where a tensor should be.
    if any(not isinstance(one, (np.ndarray, np.generic)) or one.size > LARGEST for one in outputs):
        return None
    arrays = [np.asarray(one) for one in outputs]
    # Attributes of wrong types can make arrays of Python objects.
    return arrays if all(one.dtype.kind in NUMBERS for one in arrays) else None


def _given(inputs: Inputs, position: int) -> Any:
    return inputs[position] if position < len(inputs) else None


def _axes(inputs: Inputs, attributes: Attributes, position: int = 1) -> tuple[int, ...] | None:
    """Return the axes: an attribute in old versions of an operator, an input in new versions."""
    given = _given(inputs, position)
    axes = attributes.get("axes") if given is None else given.ravel().tolist()
    return None if axes is None else tuple(axes)


def _small(shape: Sequence[int]) -> tuple[int, ...]:
    """Return `shape`. Raises `ValueError` if a tensor of this shape is too large to compute."""
    if any(size < 0 for size in shape) or prod(shape) > LARGEST:
        raise ValueError
    return tuple(shape)


def _elementwise(function: Callable[..., Any]) -> Callable[[Inputs, Attributes], Any]:
    def folded(inputs: Inputs, _: Attributes) -> Any:
        _small(np.broadcast_shapes(*(one.shape for one in inputs if one is not None)))
        return function(*inputs)

    return folded


def _of_all(function: Callable[..., Any]) -> Callable[[Inputs, Attributes], Any]:
    """Return a function that combines any number of inputs, two at a time."""

    def combined(*inputs: Array) -> Array:
        result = inputs[0]
        for one in inputs[1:]:
            result = function(result, one)
        return result

    return _elementwise(combined)


def _divide(left: Array, right: Array) -> Array:
    if left.dtype.kind not in "iu":
        return np.divide(left, right)
    # A quotient of integers is truncated towards zero, not rounded down.
    if not np.all(right):
        raise ZeroDivisionError
    whole = np.floor_divide(np.abs(left), np.abs(right))
    return (np.sign(left) * np.sign(right) * whole).astype(left.dtype)


def _modulo(inputs: Inputs, attributes: Attributes) -> Array:
    if not np.all(inputs[1]):
        raise ZeroDivisionError
    function = np.fmod if attributes.get("fmod") else np.mod
    result: Array = function(inputs[0], inputs[1])
    return result


def _cast(inputs: Inputs, attributes: Attributes) -> Array:
    result: Array = inputs[0].astype(_DTYPES[attributes["to"]])
    return result


def _gather(inputs: Inputs, attributes: Attributes) -> Array:
    data, indices = inputs[0], inputs[1]
    result: Array = np.take(data, indices, axis=attributes.get("axis", 0))
    return result


def _slice(inputs: Inputs, attributes: Attributes) -> Array:
    data = inputs[0]
    if len(inputs) > 1:
        starts, ends = inputs[1].tolist(), inputs[2].tolist()
    else:
        starts, ends = attributes["starts"], attributes["ends"]
    axes = _axes(inputs, attributes, 3) or tuple(range(len(starts)))
    given = _given(inputs, 4)
    steps = [1] * len(starts) if given is None else given.tolist()
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        size = data.shape[axis]
        index = [slice(None)] * data.ndim
        # With a negative step, a start below -size means the first element, but a slice of Python
        # would select nothing.
        index[axis] = slice(max(start, -size) if step < 0 else start, end, step)
        data = data[tuple(index)]
    return data


def _squeeze(inputs: Inputs, attributes: Attributes) -> Array:
    return np.squeeze(inputs[0], _axes(inputs, attributes))


def _unsqueeze(inputs: Inputs, attributes: Attributes) -> Array:
    return np.expand_dims(inputs[0], _axes(inputs, attributes) or ())


def _reshape(inputs: Inputs, attributes: Attributes) -> Array:
    data, given = inputs[0], _given(inputs, 1)
    shape = list(attributes["shape"]) if given is None else given.tolist()
    if not attributes.get("allowzero"):
        shape = [data.shape[axis] if size == 0 else size for axis, size in enumerate(shape)]
    return data.reshape(shape)


def _constant_of_shape(inputs: Inputs, attributes: Attributes) -> Array:
    value = attributes.get("value", np.zeros(1, np.float32))
    return np.full(_small(inputs[0].tolist()), value.ravel()[0], value.dtype)


def _expand(inputs: Inputs, _: Attributes) -> Array:
    data, shape = inputs[0], inputs[1]
    return np.broadcast_to(data, _small(np.broadcast_shapes(data.shape, tuple(shape.tolist()))))


def _tile(inputs: Inputs, _: Attributes) -> Array:
    data, repeats = inputs[0], inputs[1]
    _small([size * times for size, times in zip(data.shape, repeats.tolist(), strict=True)])
    return np.tile(data, repeats.tolist())


def _range(inputs: Inputs, _: Attributes) -> Array:
    start, limit, delta = (one.item() for one in inputs)
    count = max(int(np.ceil((limit - start) / delta)), 0)
    _small((count,))
    dtype = inputs[0].dtype
    result: Array = (start + delta * np.arange(count)).astype(dtype)
    return result


def _reduce(function: Callable[..., Any]) -> Callable[[Inputs, Attributes], Any]:
    def folded(inputs: Inputs, attributes: Attributes) -> Any:
        axes = _axes(inputs, attributes)
        if not axes and attributes.get("noop_with_empty_axes"):
            return inputs[0]
        keeps = bool(attributes.get("keepdims", 1))
        data = inputs[0]
        result = function(data, axis=axes or None, keepdims=keeps)
        return np.asarray(result).astype(data.dtype)

    return folded


def _concat(inputs: Inputs, attributes: Attributes) -> Array:
    return np.concatenate(inputs, attributes.get("axis", 1))


def _transpose(inputs: Inputs, attributes: Attributes) -> Array:
    return np.transpose(inputs[0], attributes.get("perm"))


def _split(inputs: Inputs, attributes: Attributes) -> list[Array]:
    axis, given = attributes.get("axis", 0), _given(inputs, 1)
    sizes = attributes.get("split") if given is None else given.tolist()
    if sizes is not None:
        return np.split(inputs[0], np.cumsum(sizes)[:-1], axis)
    (count,) = _small((attributes["num_outputs"],))
    part = -(-inputs[0].shape[axis] // count)  # the last part may be smaller
    return np.split(inputs[0], [part * end for end in range(1, count)], axis)


def _clip(inputs: Inputs, attributes: Attributes) -> Array:
    low, high = _given(inputs, 1), _given(inputs, 2)
    low = attributes.get("min") if low is None else low
    high = attributes.get("max") if high is None else high
    data = inputs[0]
    if low is not None:
        data = np.maximum(data, low)
    if high is not None:
        data = np.minimum(data, high)
    result: Array = data.astype(inputs[0].dtype)
    return result


def _non_zero(inputs: Inputs, _: Attributes) -> Array:
    return np.array(np.nonzero(np.atleast_1d(inputs[0])), np.int64)


def _cumulative_sum(inputs: Inputs, attributes: Attributes) -> Array:
    if attributes.get("exclusive") or attributes.get("reverse"):
        raise ValueError
    return np.cumsum(inputs[0], int(inputs[1].item()), dtype=inputs[0].dtype)


def _constant(_: Inputs, attributes: Attributes) -> Array:
    """Return the value of a Constant node, which has exactly one attribute."""
    ((name, value),) = attributes.items()
    dtypes = {"value_float": np.float32, "value_floats": np.float32}
    if name == "value":
        result: Array = value
        return result
    if name not in ("value_int", "value_ints", *dtypes):
        raise ValueError
    return np.array(value, dtypes.get(name, np.int64))


FOLDED: Final[Mapping[str, Callable[[Inputs, Attributes], Any]]] = {
    **{name: _elementwise(function) for name, function in (
        ("Identity", np.copy), ("Abs", np.abs), ("Neg", np.negative), ("Floor", np.floor),
        ("Ceil", np.ceil), ("Round", np.rint), ("Sqrt", np.sqrt), ("Not", np.logical_not),
        ("Sign", np.sign), ("Exp", np.exp), ("Log", np.log), ("Reciprocal", np.reciprocal),
        ("Add", np.add), ("Sub", np.subtract), ("Mul", np.multiply), ("Div", _divide),
        ("Equal", np.equal), ("Less", np.less), ("LessOrEqual", np.less_equal),
        ("Greater", np.greater), ("GreaterOrEqual", np.greater_equal), ("And", np.logical_and),
        ("Or", np.logical_or), ("Xor", np.logical_xor), ("Where", np.where),
        ("Pow", lambda base, power: np.power(base, power).astype(base.dtype)),
    )},
    **{name: _of_all(function) for name, function in (
        ("Min", np.minimum), ("Max", np.maximum), ("Sum", np.add),
    )},
    **{name: _reduce(function) for name, function in (
        ("ReduceProd", np.prod), ("ReduceSum", np.sum), ("ReduceMax", np.max),
        ("ReduceMin", np.min),
    )},
    "Cast": _cast, "Clip": _clip, "Concat": _concat, "Constant": _constant,
    "ConstantOfShape": _constant_of_shape, "CumSum": _cumulative_sum, "Expand": _expand,
    "Gather": _gather, "Mod": _modulo, "NonZero": _non_zero, "Range": _range,
    "Reshape": _reshape, "Slice": _slice, "Split": _split, "Squeeze": _squeeze, "Tile": _tile,
    "Transpose": _transpose, "Unsqueeze": _unsqueeze,
}  # fmt: skip

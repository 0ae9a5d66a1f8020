"""Translates ONNX operators that need little translation, such as elementwise operators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    from profile_analyze.readers.onnx.call import Call
    from profile_analyze.work.operation import Operation

    Translation = Callable[[Call], Operation]


def kind(name: str, *order: int, **attributes: Any) -> Translation:
    """Return a translation to the kind `name`. For `order` see `Call.as_operation`."""
    return lambda call: call.as_operation(name, order, attributes)


def of_all_inputs(extra: int = 0) -> Translation:
    """Return the translation of an operator such as Max, which combines n inputs.

    The operator computes n - 1 + `extra` operations for each element. Without inputs, which ONNX
    does not allow, the number of operations is unknown.
    """

    def translate(call: Call) -> Operation:
        count = len(call.node.inputs)
        per_element = count - 1 + extra if count else None
        return call.as_operation("elementwise", attributes={"per_element": per_element})

    return translate


def with_bias(call: Call) -> Operation:
    """Translate an activation with an optional bias."""
    return call.as_operation("activation", attributes={"per_element": 1 + call.has_input(1)})


def rotary(call: Call) -> Operation:
    """Translate a rotary embedding, which can rotate only a part of each head."""
    rotated = call.attribute("rotary_embedding_dim", 0)
    if not rotated:
        return call.as_operation("rotary embedding", attributes={"per_element": 3})
    dims = call.dims(0)
    heads = call.attribute("num_heads", 0)
    size = call.size(0, -1)
    if dims is not None and len(dims) == 3:
        size = size // heads if size and heads else None
    per_element = None if not size else 3 * rotated / size
    return call.as_operation("rotary embedding", attributes={"per_element": per_element})


def gather(call: Call) -> Operation:
    """Translate Gather to an embedding if it reads rows of a constant table, else to a gather."""
    dims = call.dims(0)
    is_table = call.is_constant(0) and dims is not None and len(dims) == 2
    on_rows = call.attribute("axis", 0) in {0, -2}
    return call.as_operation("embedding" if is_table and on_rows else "gather")


def embedding_by_indices(call: Call) -> Operation:
    """Translate com.microsoft TorchEmbedding. Only the table and the indices are kept as inputs."""
    operation = call.as_operation("embedding")
    return operation._replace(inputs=operation.inputs[:2])


def embedding_normalization(call: Call) -> Operation:
    """Translate com.microsoft EmbedLayerNormalization, which reads two or three tables."""
    operation = call.as_operation("embedding normalization", (0, 5, 6, 1, 7, 8))
    return operation._replace(
        inputs=operation.inputs[:6], attributes={"tables": 2 + call.has_input(4)}
    )


def dropout(call: Call) -> Operation:
    """Translate Dropout to a view. If an input can turn on training, the work is unknown."""
    if call.has_input(2):
        return call.as_operation("elementwise", attributes={"per_element": None})
    return call.as_operation("view")


def batch_normalization(call: Call) -> Operation:
    """Translate BatchNormalization."""
    is_training = bool(call.attribute("training_mode", 0))
    return call.as_operation("batch normalization", attributes={"is_training": is_training})


def window_normalization(call: Call) -> Operation:
    """Translate LRN, which divides by a function of the neighbouring channels."""
    return call.as_operation(
        "local response normalization", attributes={"window": call.attribute("size")}
    )


def pooling(per_element: int = 1) -> Translation:
    """Return the translation of a pooling with windows."""

    def translate(call: Call) -> Operation:
        kernel = call.attribute("kernel_shape")
        known = None if kernel is None else tuple(kernel)
        return call.as_operation(
            "pooling", attributes={"kernel": known, "per_element": per_element}
        )

    return translate


_TAPS: Final = {
    "nearest": 0,
    "linear": 2,
    "bilinear": 2,
    "cubic": 4,
    "bicubic": 4,
}
"""How many values an interpolation combines along each axis, by the mode of the operator; 0 if the
mode only copies values."""


def resize(call: Call) -> Operation:
    """Translate Resize and Upsample, which interpolate only along axes whose size changes."""
    taps = _TAPS.get(call.attribute("mode", "nearest"))
    output = call.output(0)
    before, after = call.dims(0), None if output is None else output.shape
    known: int | None = None
    if taps == 0:
        known = 0
    elif call.attribute("antialias", 0) or taps is None or before is None or after is None:
        known = None
    elif None not in before and None not in after:
        changed = sum(old != new for old, new in zip(before, after, strict=False))
        known = taps**changed
    return call.as_operation("resize", attributes={"taps": known})


def grid_sample(call: Call) -> Operation:
    """Translate GridSample to a resize. An input, the grid, has the positions to read."""
    taps = _TAPS.get(call.attribute("mode", "linear"))
    dims = call.dims(0)
    if taps and dims is not None:
        taps **= max(0, len(dims) - 2)
    elif taps:
        taps = None
    return call.as_operation("resize", attributes={"taps": taps})


def affine_grid(call: Call) -> Operation:
    """Translate AffineGrid, which multiplies coordinates by matrices of D x (D + 1) elements."""
    rank = call.size(0, 1)
    per_element = None if rank is None else 2 * rank
    return call.as_operation("elementwise", attributes={"per_element": per_element})


def optimizer(per_parameter: int, tensors: int) -> Translation:
    """Return the translation of an optimizer step.

    Each parameter needs `per_parameter` operations. `tensors` is the number of outputs that
    have an element for each parameter.
    """
    return kind("optimizer step", per_element=per_parameter, tensors_per_parameter=tensors)

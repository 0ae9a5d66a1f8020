"""Kinds of operator that compute a few operations for each element, none of them multiply-adds."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING, Final

from profile_analyze.model import terms
from profile_analyze.work.kind import (
    Kind,
    attribute,
    elements,
    every_tensor,
    given,
    input_elements,
    nothing,
    output_elements,
    tensor_at,
    unknown,
    volume,
)

if TYPE_CHECKING:
    from profile_analyze.work.kind import Formula
    from profile_analyze.work.operation import Operation

_PER_ELEMENT: Final = "any; per_element (operations for each element, 1 unless it is given)"


def _per_output(operation: Operation) -> float:
    return output_elements(operation) * attribute(operation, "per_element", 1)


def _per_input(operation: Operation) -> float:
    return input_elements(operation) * attribute(operation, "per_element", 1)


def _with_parameters(per_element: int, *, optional: tuple[int, ...]) -> Formula:
    """Return a formula with `per_element` operations for each output element.

    `optional` has positions of optional inputs. Each such input adds one operation if it is given.
    """

    def formula(operation: Operation) -> float:
        given_inputs = given(tensor_at(operation.inputs, index) for index in optional)
        return output_elements(operation) * (per_element + len(given_inputs))

    return formula


def _batch_normalization(operation: Operation) -> float:
    is_training = operation.attributes.get("is_training", False)
    return output_elements(operation) * (7 if is_training else 2)


def _window_normalization(operation: Operation) -> float:
    return output_elements(operation) * (attribute(operation, "window", nan) + 5)


def _pooling(operation: Operation) -> float:
    if operation.attributes.get("is_global", False):
        return _per_input(operation)
    return _per_output(operation) * volume(operation.attributes.get("kernel"))


def _resize(operation: Operation) -> float:
    taps = attribute(operation, "taps", nan)
    return 2 * taps * output_elements(operation) if taps else 0.0


def _softmax(operation: Operation) -> float:
    return output_elements(operation) * attribute(operation, "per_element", 5)


def _embedding_normalization(operation: Operation) -> float:
    return output_elements(operation) * (6 + attribute(operation, "tables", nan))


def _memory_with_tables(operation: Operation) -> float:
    output = tensor_at(operation.outputs, 0)
    bytes_per_table = nan if output is None else output.bytes
    return every_tensor(operation) + attribute(operation, "tables", nan) * bytes_per_table


def _loss(operation: Operation) -> float:
    of_scores = input_elements(operation) * attribute(operation, "per_element", nan)
    return of_scores + elements(tensor_at(operation.inputs, 1))


def _optimizer(operation: Operation) -> float:
    written = sum(tensor.elements for tensor in given(operation.outputs))
    per_parameter = attribute(operation, "per_element", nan)
    return written / attribute(operation, "tensors_per_parameter", nan) * per_parameter


def _of(
    name: str,
    category: str,
    other_operations: Formula,
    meaning: str,
    inputs: str = "data",
    source: str = "our convention",
) -> Kind:
    return Kind(name, category, nothing, other_operations, every_tensor, inputs, meaning, source)


KINDS: Final = (
    _of(
        "elementwise",
        terms.ELEMENTWISE,
        _per_output,
        "per_element FLO for each output element, whatever the function and dtype",
        _PER_ELEMENT,
    ),
    _of(
        "activation",
        terms.ELEMENTWISE,
        _per_output,
        "as elementwise; 1 more for a fused bias or product",
        _PER_ELEMENT,
    ),
    _of(
        "rotary embedding",
        terms.ELEMENTWISE,
        _per_output,
        "3 FLO for each rotated element: two products and a sum",
        "any; per_element (3 if all elements are rotated, less if only a part is)",
        "ONNX RotaryEmbedding",
    ),
    _of(
        "quantize",
        terms.ELEMENTWISE,
        _with_parameters(2, optional=(2,)),
        "2 FLO for each element (division, rounding), 1 more with a zero point",
        "data, scale, zero point",
        "ONNX QuantizeLinear",
    ),
    _of(
        "dynamic quantize",
        terms.ELEMENTWISE,
        lambda operation: 5 * input_elements(operation),
        "5 FLO for each element: minimum, maximum, division, rounding, zero point",
        source="ONNX DynamicQuantizeLinear",
    ),
    _of(
        "dequantize",
        terms.ELEMENTWISE,
        _with_parameters(1, optional=(2,)),
        "1 FLO for each element (product), 1 more with a zero point",
        "data, scale, zero point",
        "ONNX DequantizeLinear",
    ),
    _of(
        "batch normalization",
        terms.NORMALIZATION,
        _batch_normalization,
        "2 FLO for each element (scale and shift); 7 in training",
        "data; is_training",
        "ONNX BatchNormalization",
    ),
    _of(
        "layer normalization",
        terms.NORMALIZATION,
        _with_parameters(5, optional=(1, 2, 3, 4)),
        "5 FLO for each element (sum, difference, square, sum of squares, product), 1 more each "
        "for scale, bias, and inputs that are added first; also group and instance normalization",
        "data, scale, bias, added inputs",
        "ONNX LayerNormalization",
    ),
    _of(
        "RMS normalization",
        terms.NORMALIZATION,
        _with_parameters(3, optional=(1, 2, 3, 4)),
        "3 FLO for each element (square, sum, product), 1 more each for scale, bias, and inputs "
        "that are added first",
        "data, scale, bias, added inputs",
        "ONNX RMSNormalization; also LpNormalization",
    ),
    _of(
        "local response normalization",
        terms.NORMALIZATION,
        _window_normalization,
        "for each element, 5 FLO, and 1 for each channel of its window",
        "data; window",
        "ONNX LRN",
    ),
    Kind(
        "embedding normalization",
        terms.NORMALIZATION,
        nothing,
        _embedding_normalization,
        _memory_with_tables,
        "indices, scale, bias, but not the embedding tables; tables (how many tables are read)",
        "7 FLO for each element (5 as in layer normalization, 1 each for scale and bias), 1 more "
        "for each table after the first; bytes: inputs, outputs, and for each table as many bytes "
        "as the output",
        "com.microsoft EmbedLayerNormalization",
    ),
    _of(
        "softmax",
        terms.SOFTMAX,
        _softmax,
        "5 FLO for each element: maximum, difference, exponential, sum, division",
        "data; per_element (5 unless it is given)",
        source="ONNX Softmax and LogSoftmax",
    ),
    _of(
        "reduction",
        terms.REDUCTION,
        _per_input,
        "1 FLO for each input element; 2 if each element goes through a function first",
        _PER_ELEMENT,
    ),
    _of(
        "pooling",
        terms.POOLING,
        _pooling,
        "1 FLO for each element of each window, including padding; 2 for LpPool",
        "data; kernel, is_global, per_element",
    ),
    _of(
        "region pooling",
        terms.POOLING,
        unknown,
        "N/A: the regions are known only when the network runs",
        "data, regions",
    ),
    _of(
        "resize",
        terms.DATA_MOVEMENT,
        _resize,
        "2 FLO for each input value that an output element uses: linear uses 2 values in each "
        "interpolated dimension (4 in 2-D), cubic uses 4 (16 in 2-D); nearest counts 0 FLO",
        "data, grid; taps (input values for each output element)",
        "ONNX Resize and GridSample",
    ),
    _of(
        "loss",
        terms.REDUCTION,
        _loss,
        "1 FLO for each target, and 5 for each score if a softmax is included",
        "scores, targets; per_element",
        "ONNX SoftmaxCrossEntropyLoss",
    ),
    _of(
        "optimizer step",
        terms.ELEMENTWISE,
        _optimizer,
        "for each parameter, 14 FLO (Adam), 9 (Adagrad) or 7 (Momentum)",
        "any; per_element, tensors_per_parameter (tensors written for each parameter)",
        "equations of ONNX Adam, Adagrad and Momentum",
    ),
)

"""Derives what instructions compute and move, from their names and shapes."""

from __future__ import annotations

import re
from math import nan
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from profile_analyze.model import terms
from profile_analyze.readers.migraphx import names
from profile_analyze.readers.migraphx.instruction import CODE_OBJECT
from profile_analyze.readers.migraphx.products import attention, convolution, depth, sizes_of
from profile_analyze.readers.migraphx.tensors import Value
from profile_analyze.work.kinds import KINDS, work_of
from profile_analyze.work.operation import Operation, Work

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from profile_analyze.readers.migraphx.names import Contents
    from profile_analyze.readers.migraphx.shapes import Shape
    from profile_analyze.work.tensor import Tensor

_NUMBER: Final = re.compile(r"\d{1,9}")
_FUSED: Final = (names.ELEMENTWISE, names.CAST, names.VIEW, names.LAYOUT)
"""Kinds that a kernel can contain in addition to its main operator: they work on each element of
the result, or compute nothing."""
_BY_IMPORTANCE: Final = (
    *(names.ATTENTION, names.CONVOLUTION, names.TRANSPOSED, names.PRODUCT),
    *(names.NORMALIZATION, names.RMS_NORMALIZATION, names.BATCH_NORMALIZATION),
    *(names.LOCAL_NORMALIZATION, names.SOFTMAX, names.POOLING, names.REDUCTION),
    *(names.DATA_DEPENDENT, names.ELEMENTWISE, names.CAST, names.GATHER, names.CONCAT),
    *(names.COPY, names.LAYOUT, names.FILL, names.VIEW, names.CONTROL),
)
"""The kind of a kernel is the first kind in this list that any operator of the kernel has."""
_BETWEEN_DEVICES: Final = re.compile(r"hip::copy(?:_to|_from)?_gpu")


class InstructionWork(NamedTuple):
    """The category of an instruction, and the work of one call."""

    category: str
    work: Work = Work()


class _Kernel(NamedTuple):
    contents: Contents
    inputs: Sequence[Value]
    """Each tensor once."""
    outputs: Sequence[Shape]
    attributes: Mapping[str, Any]

    @property
    def result(self) -> tuple[int, ...]:
        """The sizes of the first output; empty if any size is unknown or 0."""
        return sizes_of(Value(self.outputs[0])) if self.outputs else ()

    @property
    def fused(self) -> int:
        """How many elementwise operators are applied to each element of the result."""
        return self.contents.kinds[names.ELEMENTWISE]

    @property
    def output(self) -> tuple[Tensor, ...]:
        """A tuple with the first output; empty if there is no output."""
        return tuple(shape.tensor for shape in self.outputs[:1])

    def operation(self, kind: str, *inputs: Tensor, **attributes: Any) -> Operation:
        return Operation(kind, inputs, self.output, attributes)


def work_of_instruction(
    type_: str,
    inputs: Sequence[Value] | None,
    outputs: Sequence[Shape],
    attributes: Mapping[str, Any],
) -> InstructionWork:
    """Return the category of an instruction and the work of one call.

    Amounts that do not follow from the name and the shapes are NaN. `inputs` has one entry for each
    tensor that the instruction reads; None if the tensors are unknown.
    """
    contents = names.contents_of(type_)
    kind = _kind(contents, is_kernel=type_.startswith(f"{CODE_OBJECT}::"))
    category = terms.COPY if _BETWEEN_DEVICES.fullmatch(type_) else KINDS[kind].category
    if kind in {names.VIEW, names.CONTROL}:
        return InstructionWork(category, Work(0.0, 0.0, 0.0))
    kernel = _Kernel(contents, inputs or (), outputs, attributes)
    operation = _operation(kernel, kind) if contents.is_complete else None
    costs = Work() if operation is None else work_of(operation)
    return InstructionWork(category, costs._replace(memory=_memory(kind, inputs, outputs)))


def _kind(contents: Contents, *, is_kernel: bool) -> str:
    kinds = contents.kinds
    if kinds[names.PRODUCT] > 1 and kinds[names.SOFTMAX]:
        return names.ATTENTION
    kind = next((one for one in _BY_IMPORTANCE if kinds[one]), "other")
    # The instruction `transpose` only makes a view, but a kernel with this name moves the tensor.
    return names.LAYOUT if is_kernel and kind == names.VIEW else kind


def _memory(kind: str, inputs: Sequence[Value] | None, outputs: Sequence[Shape]) -> float:
    if inputs is None or not outputs:
        return nan
    tensors = tuple(value.shape.stored for value in inputs)
    return KINDS[kind].memory(Operation(kind, tensors, tuple(one.stored for one in outputs)))


def _operation(kernel: _Kernel, kind: str) -> Operation | None:
    """Return the operation of a kernel; None if name and shapes do not determine it."""
    translate = _TRANSLATIONS.get(kind)
    if translate is not None:
        return translate(kernel)
    return kernel.operation(kind)


def _convolution(kernel: _Kernel) -> Operation | None:
    is_transposed = kernel.contents.kinds[names.TRANSPOSED] > 0
    kind = names.TRANSPOSED if is_transposed else names.CONVOLUTION
    if kernel.contents.kinds[kind] != 1 or not kernel.contents.only(kind, *_FUSED):
        return None
    factors = convolution(kernel.inputs, kernel.result, is_transposed=is_transposed)
    if factors is None:
        return None
    data, weight = (one.shape.tensor for one in factors)
    return kernel.operation(kind, data, weight, fused=kernel.fused)


def _product(kernel: _Kernel) -> Operation | None:
    kinds = kernel.contents.kinds
    if kinds[names.PRODUCT] != 1 or not kernel.contents.only(names.PRODUCT, *_FUSED):
        return None
    is_reshaped = bool(kinds[names.VIEW] or kinds[names.LAYOUT])
    common = depth(kernel.inputs, kernel.result, is_reshaped=is_reshaped)
    return kernel.operation(names.PRODUCT, k=common, fused=kernel.fused)


def _attention(kernel: _Kernel) -> Operation | None:
    sizes = attention(kernel.inputs, kernel.result)
    if sizes is None:
        return None
    return kernel.operation(names.ATTENTION, batch=1, **sizes._asdict())


def _normalization(kernel: _Kernel) -> Operation | None:
    kind = names.NORMALIZATION
    if not kernel.contents.only(kind, *_FUSED) or kernel.fused > 4:
        return None
    # Each fused elementwise operator reads one more tensor: a scale, a bias, or a tensor that is
    # added before the normalization. The formula only counts these tensors, up to four, so copies
    # of the result stand for them.
    return kernel.operation(kind, *(kernel.output * (1 + kernel.fused)))


def _softmax(kernel: _Kernel) -> Operation | None:
    if not kernel.contents.only(names.SOFTMAX, *_FUSED):
        return None
    return kernel.operation(names.SOFTMAX, per_element=5 + kernel.fused)


def _reduction(kernel: _Kernel) -> Operation | None:
    if not kernel.contents.only(names.REDUCTION, names.CAST, names.VIEW) or not kernel.inputs:
        return None
    return kernel.operation(names.REDUCTION, kernel.inputs[0].shape.tensor)


def _pooling(kernel: _Kernel) -> Operation | None:
    lengths = _NUMBER.findall(str(kernel.attributes.get("lengths", "")))
    if not lengths or not kernel.contents.only(names.POOLING):
        return None
    return kernel.operation(names.POOLING, kernel=tuple(map(int, lengths)))


def _elementwise(kernel: _Kernel) -> Operation | None:
    if not kernel.contents.only(names.GATHER, names.CONCAT, names.COPY, *_FUSED):
        return None
    return kernel.operation(names.ELEMENTWISE, per_element=kernel.fused)


def _single_operator(kernel: _Kernel) -> Operation | None:
    kinds = kernel.contents.kinds
    return kernel.operation(next(iter(kinds))) if kinds.total() == 1 else None


_TRANSLATIONS: Final[Mapping[str, Callable[[_Kernel], Operation | None]]] = {
    **dict.fromkeys((names.CONVOLUTION, names.TRANSPOSED), _convolution),
    names.PRODUCT: _product,
    names.ATTENTION: _attention,
    names.NORMALIZATION: _normalization,
    **dict.fromkeys(
        (names.RMS_NORMALIZATION, names.BATCH_NORMALIZATION, names.LOCAL_NORMALIZATION),
        _single_operator,
    ),
    names.SOFTMAX: _softmax,
    names.REDUCTION: _reduction,
    names.POOLING: _pooling,
    names.ELEMENTWISE: _elementwise,
    "other": lambda _: None,
}

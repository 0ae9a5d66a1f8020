"""Defines `Cost` and `Entry`, and the functions for costs that several modules use.

- `Cost`: the work and the outputs of one call of an operator
- `Entry`: the signatures of an operator, and the function that computes the cost of its calls
"""

from __future__ import annotations

from functools import reduce
from math import nan
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from profile_analyze.readers.pytorch.calls import UnknownError, shape_of
from profile_analyze.work.kind import nothing
from profile_analyze.work.kinds import KINDS, work_of
from profile_analyze.work.operation import Operation, Work
from profile_analyze.work.tensor import Tensor, is_possible_shape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from profile_analyze.model.operators import Shape
    from profile_analyze.readers.pytorch.calls import Call

    Translate: TypeAlias = Callable[[Call], "Cost"]

_CATEGORIES: Final = (
    ("bool",),
    ("uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64"),
    ("fp8", "fp16", "bf16", "fp32", "fp64"),
    ("complex32", "complex64", "complex128"),
)
"""All dtypes in the categories of torch: booleans, integers, floats and complex numbers.

If inputs have different dtypes, the result has the dtype that comes last in these lists, except for
the pairs in `_COMMON`. Source: the table of `torch.promote_types`."""
_CATEGORY_OF: Final = {
    dtype: category for category, dtypes in enumerate(_CATEGORIES) for dtype in dtypes
}
_ORDER: Final = (*_CATEGORY_OF,)
_INTEGERS: Final = frozenset((*_CATEGORIES[0], *_CATEGORIES[1]))
"""The dtypes that functions such as `exp` turn into a float. Booleans count as integers."""
_FLOAT, _COMPLEX = 2, 3
_COMMON: Final = {
    frozenset(("fp16", "bf16")): "fp32",
    frozenset(("uint8", "int8")): "int16",
    frozenset(("fp64", "complex64")): "complex128",
}
"""The dtype of the result for pairs of dtypes that do not hold each other's values."""
_AS_COMPLEX: Final = {"fp16": "complex32", "fp64": "complex128"}
"""The complex dtype for a float dtype. It is complex64 for other float dtypes."""
_AS_NUMBER: Final = {"bool": "bool", "int64": "int64", "fp64": "fp32", "complex128": "complex64"}
"""The dtype with which a Python number is promoted, by the dtype that the trace has for it. A float
has the default dtype of torch, which is nearly always fp32."""


class Cost(NamedTuple):
    """The work and the outputs of one call of an operator."""

    work: Work = Work()
    outputs: tuple[Tensor, ...] | None = None
    """The output tensors; None if they are unknown."""
    kind: str | None = None
    """The kind of work; None stands for the kind in the operator's entry."""


def unknown(_: Call) -> Cost:
    """Raise `UnknownError`, for operators whose cost does not follow from their arguments."""
    raise UnknownError


class Entry(NamedTuple):
    """How to name the arguments of an operator, and how to compute the cost of a call."""

    kind: str
    """The name of a kind in `kinds.KINDS`."""
    signatures: tuple[str, ...] = ()
    """The signatures of the operator's variants, the likeliest first."""
    translate: Translate = unknown
    """Returns the cost of a call. Raises `UnknownError` if the cost does not follow from the
    arguments."""
    category: str | None = None
    """One of `terms.CATEGORIES`; None stands for the category of the kind."""

    def category_of(self, kind: str | None = None) -> str:
        """Return the category of the entry.

        If the entry has no category, return the category of `kind`, by default the entry's kind.
        """
        return self.category or KINDS[kind or self.kind].category


def work_without_shapes(kind: str) -> Work:
    """Return the work of a call whose shapes are unknown.

    Work that `kind` never has is 0: a copy computes nothing. All other work is N/A.
    """
    formulas = KINDS[kind]
    macs = 0.0 if formulas.macs is nothing else nan
    computation = macs if formulas.other_operations is nothing else nan
    return Work(macs, computation, 0.0 if formulas.memory is nothing else nan)


def cost(
    kind: str,
    inputs: Sequence[Tensor | None],
    outputs: Sequence[Tensor],
    *,
    written: Sequence[Tensor] | None = None,
    **attributes: Any,
) -> Cost:
    """Return the cost of a call of `kind`.

    If the call writes only parts of its outputs, `written` has these parts. `attributes` are the
    attributes of the operation. Raises `UnknownError` if an output has an impossible shape.
    """
    checked = possible(outputs)
    moved = checked if written is None else possible(written)
    return Cost(work_of(Operation(kind, tuple(inputs), moved, attributes)), checked, kind)


def possible(tensors: Iterable[Tensor]) -> tuple[Tensor, ...]:
    """Return `tensors`, which a call writes, without strides: it writes each element.

    Raises `UnknownError` if one of them has an impossible shape. The reason is a damaged file, or a
    signature that does not belong to the call.
    """
    found = tuple(one._replace(strides=None) for one in tensors)
    for one in found:
        sizes = shape_of(one)
        if any(size < 0 for size in sizes) or not is_possible_shape(sizes):
            raise UnknownError
    return found


def ignored(_: Call) -> Cost:
    """Return the cost of a call that neither computes nor moves anything."""
    return Cost(Work(0.0, 0.0, 0.0))


def broadcast(*shapes: Shape) -> Shape:
    """Return the shape of an elementwise result. Raises `UnknownError` if `shapes` do not fit."""
    rank = max((len(shape) for shape in shapes), default=0)
    aligned = [(1,) * (rank - len(shape)) + shape for shape in shapes]
    sizes = [{size for size in dimension if size != 1} for dimension in zip(*aligned, strict=True)]
    if any(len(of_one) > 1 for of_one in sizes):
        raise UnknownError
    return tuple(of_one.pop() if of_one else 1 for of_one in sizes)


def promoted(tensors: Iterable[Tensor], *, to_float: bool = False) -> str | None:
    """Return the dtype of an elementwise result; None if it is unknown.

    A trace has Python numbers as tensors without dimensions. The dtype is unknown if it depends on
    whether an input is a number or a tensor. With `to_float`, the result of integers is fp32.
    """
    found = list(tensors)
    results = {one.dtype for one in found}
    if len(results) > 1:  # a single dtype need not be in the table
        results = _possible_dtypes(found) if results <= _CATEGORY_OF.keys() else set()
    if to_float:
        results = {"fp32" if one in _INTEGERS else one for one in results}
    return results.pop() if len(results) == 1 else None


def _possible_dtypes(tensors: Sequence[Tensor]) -> set[str | None]:
    """Return the dtype of the result without Python numbers, and with as many as possible.

    The dtypes of `tensors` are in `_CATEGORY_OF`.
    """
    known = [(one.dtype, one.shape == ()) for one in tensors if one.dtype in _CATEGORY_OF]
    first = [dtype for dtype, is_scalar in known if not is_scalar]
    scalars = [dtype for dtype, is_scalar in known if is_scalar]
    surely_tensors = [dtype for dtype in scalars if dtype not in _AS_NUMBER]
    numbers = [_AS_NUMBER[dtype] for dtype in scalars if dtype in _AS_NUMBER]
    return {_of_groups(first, scalars), _of_groups(first, surely_tensors, numbers)}


def _of_groups(*groups: Sequence[str]) -> str:
    """Return the dtype of the result of tensors with dimensions, other tensors, and numbers.

    A group changes the dtype only if its category is higher than the categories before.
    """
    return reduce(_with_lower, (reduce(_promoted_pair, one) for one in groups if one))


def _with_lower(higher: str, lower: str) -> str:
    if _CATEGORY_OF[lower] <= _CATEGORY_OF[higher]:
        return higher
    is_complex = (_CATEGORY_OF[higher], _CATEGORY_OF[lower]) == (_FLOAT, _COMPLEX)
    return _AS_COMPLEX.get(higher, "complex64") if is_complex else lower


def _promoted_pair(one: str, other: str) -> str:
    return _COMMON.get(frozenset((one, other))) or max(one, other, key=_ORDER.index)


def axis_of(dimension: int, rank: int) -> int:
    """Return a dimension as an index from 0 on. The `dimension` -1 stands for the last one."""
    if not -max(rank, 1) <= dimension < max(rank, 1):
        raise UnknownError
    return dimension % max(rank, 1)


def reduced(shape: Shape, dimensions: Shape | None, *, keeps: bool) -> Shape:
    """Return the shape of a reduction over `dimensions`; None or () stands for all dimensions.

    If `keeps` is true, these dimensions have size 1 in the result. Otherwise, they are removed.
    """
    rank = len(shape)
    chosen = {*range(rank)} if not dimensions else {axis_of(one, rank) for one in dimensions}
    if keeps:
        return tuple(1 if axis in chosen else size for axis, size in enumerate(shape))
    return tuple(size for axis, size in enumerate(shape) if axis not in chosen)


def entries(kind: str, names: str, *signatures: str, translate: Translate) -> dict[str, Entry]:
    """Return the same entry for each name. `names` are separated by spaces."""
    return dict.fromkeys(names.split(), Entry(kind, signatures, translate))

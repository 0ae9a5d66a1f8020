"""Translates operators of PyTorch, and derives what one call costs."""

from __future__ import annotations

import re
from math import isfinite
from typing import TYPE_CHECKING, Final, NamedTuple

from profile_analyze.model import terms
from profile_analyze.readers.pytorch import (
    work_attention,
    work_convolutions,
    work_elementwise,
    work_indexing,
    work_movement,
    work_pooling,
    work_products,
    work_recurrent,
    work_reductions,
)
from profile_analyze.readers.pytorch.arguments import arguments_of, is_contiguous
from profile_analyze.readers.pytorch.calls import Call, UnknownError, call_of, shape_of
from profile_analyze.readers.pytorch.costs import Cost, Entry, work_without_shapes
from profile_analyze.readers.pytorch.facts import OPERATOR_EVENT
from profile_analyze.readers.pytorch.kernel_names import category_by_words
from profile_analyze.work.operation import Work
from profile_analyze.work.tensor import all_known, compute_dtype

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from profile_analyze.model.operators import Dtypes, Parameters, Shapes, Strides
    from profile_analyze.readers.pytorch.arguments import Argument, Value
    from profile_analyze.readers.pytorch.facts import HostFacts
    from profile_analyze.work.tensor import Tensor

_TABLE: Final[Mapping[str, Entry]] = {
    **work_convolutions.TABLE,
    **work_pooling.TABLE,
    **work_products.TABLE,
    **work_recurrent.TABLE,
    **work_attention.TABLE,
    **work_reductions.TABLE,
    **work_elementwise.TABLE,
    **work_indexing.TABLE,
    **work_movement.TABLE,
}
_BY_FLAT_NAME: Final = {name.replace("_", ""): entry for name, entry in _TABLE.items()}
"""Entries by names such as `maxpool2dwithindices`, as they are in the names of gradients."""
_NAMESPACES: Final = frozenset(("", "aten", "mkldnn", "torchvision"))
"""The namespaces whose operators have the arguments that the entries state."""
_LISTS: Final = "_foreach_"
_ENGINE: Final = "autograd::engine::evaluate_function: "
_GRADIENT: Final = re.compile(r"([A-Z]\w*?)Backward\d+")
"""A node of the graph of gradients. It calls the operators that compute the gradients."""
_ACCUMULATION: Final = "torch::autograd::AccumulateGrad"
_BACKWARD: Final = "_backward"
_COLLECTIVE: Final = re.compile(r"(?:nccl|gloo|mpi|ucc|xccl|hccl):")
"""The start of the names of regions around collectives, by the library that runs them."""
_OPTIMIZER: Final = "Optimizer."
_GENERATED: Final = "triton_"
"""The start of the names of kernels that the compiler generates."""
_NOTHING: Final = Work(0.0, 0.0, 0.0)


class Described(NamedTuple):
    """What is known of an operator besides its times. None is unknown."""

    category: str
    """One of `terms.CATEGORIES`."""
    work: Work = Work()
    """What one call costs if no operator inside does it."""
    in_shapes: Shapes | None = None
    in_strides: Strides | None = None
    """The strides of each input in elements, None for a contiguous input; empty if all inputs are
    contiguous."""
    input_dtypes: Dtypes | None = None
    """The dtype of each input, as the file names it."""
    out_shapes: Shapes | None = None
    compute_dtype: str | None = None
    parameters: Parameters | None = None
    """Arguments that are no tensors, by name."""


def described(facts: HostFacts) -> Described:
    """Return what one call of an operator costs, and what it works on."""
    if facts.kind != OPERATOR_EVENT:
        return _of_region(facts.name)
    arguments = arguments_of(facts)
    name = facts.name.removeprefix(_ENGINE)
    if name != facts.name or name == _ACCUMULATION or _GRADIENT.fullmatch(name):
        return _with_arguments(Described(_category_of_gradient(name), _NOTHING), arguments)
    namespace, _, last = name.rpartition("::")
    if namespace in _NAMESPACES and not name.startswith(_GENERATED):
        return _of_call(last, _entry(last) or _entry_by_words(name), arguments)
    return _with_arguments(_of_custom(name, last, arguments), arguments)


def _of_region(name: str) -> Described:
    """Return the description of a region, which does nothing besides the operators inside.

    The regions of collectives are an exception: what they move depends on the group.
    """
    if _COLLECTIVE.match(name):
        return Described(terms.COMMUNICATION)
    is_optimizer = name.startswith(_OPTIMIZER)
    return Described(terms.ELEMENTWISE if is_optimizer else terms.OTHER, _NOTHING)


def _category_of_gradient(name: str) -> str:
    """Return the category of a node that calls operators: that of the operator before it."""
    found = _GRADIENT.fullmatch(name)
    entry = _BY_FLAT_NAME.get(found[1].lower()) if found else None
    return category_by_words(name) if entry is None else entry.category_of()


def _of_custom(name: str, last: str, arguments: Sequence[Argument]) -> Described:
    """Return the description of an operator whose arguments are not known by name."""
    category = category_by_words(name)
    if name.startswith(_GENERATED):
        tensors = (tensor for one in arguments for tensor in one.tensors or ())
        return Described(category, Work(memory=sum(one.bytes for one in tensors)))
    if category == terms.OTHER:
        entry = _entry(last) or Entry("other")
        return Described(entry.category_of(), work_without_shapes(entry.kind))
    return Described(category)


def _entry(name: str) -> Entry | None:
    """Return the entry of an operator, whether it works in place or not."""
    plain = name.rstrip("_")
    found = _TABLE.get(name) or _TABLE.get(plain)
    if found is None and name.startswith(_LISTS):
        return _TABLE[_LISTS]
    if found is None and plain.endswith(_BACKWARD):
        forward = _TABLE.get(plain.removesuffix(_BACKWARD))
        return None if forward is None else Entry("other", category=forward.category_of())
    return found


def _entry_by_words(name: str) -> Entry:
    """Return the entry of an operator that is not in the table."""
    category = category_by_words(name)
    return Entry("control") if category == terms.CONTROL else Entry("other", category=category)


def _of_call(name: str, entry: Entry, arguments: Sequence[Argument]) -> Described:
    likeliest: Call | None = None
    for call in call_of(name, entry.signatures, arguments):
        likeliest = likeliest or call
        try:
            cost = entry.translate(call)
        except UnknownError:
            continue
        return _with_call(entry, cost, call)
    unknown = Cost(work_without_shapes(entry.kind))
    if likeliest is None:
        return _with_arguments(Described(entry.category_of(), unknown.work), arguments)
    return _with_call(entry, unknown, likeliest)


def _with_call(entry: Entry, cost: Cost, call: Call) -> Described:
    """Return the description of a call with known names of arguments."""
    outputs = cost.outputs
    found = Described(
        entry.category_of(cost.kind),
        cost.work,
        out_shapes=None if outputs is None else tuple(map(shape_of, outputs)),
        parameters=_parameters(call.arguments),
    )
    return _with_arguments(found, tuple(call.arguments.values()), outputs or ())


def _with_arguments(
    found: Described, arguments: Sequence[Argument], outputs: Sequence[Tensor] = ()
) -> Described:
    """Return a description with the shapes, strides and dtypes of the inputs."""
    if not arguments or any(one.is_list and one.tensors is None for one in arguments):
        return found
    tensors = [tensor for one in arguments for tensor in one.tensors or ()]
    shapes = all_known(None if one.shape is None else all_known(one.shape) for one in tensors)
    return found._replace(
        in_shapes=shapes,
        in_strides=None if shapes is None else _strides(shapes, arguments),
        input_dtypes=tuple(dtype for one in arguments for dtype in one.dtypes),
        compute_dtype=compute_dtype([one.dtype for one in tensors], [one.dtype for one in outputs]),
    )


def _strides(shapes: Shapes, arguments: Sequence[Argument]) -> Strides | None:
    strides = all_known(one for argument in arguments for one in argument.strides)
    if strides is None:
        return None
    found = [
        None if is_contiguous(shape, steps) else steps
        for shape, steps in zip(shapes, strides, strict=True)
    ]
    return tuple(found) if any(one is not None for one in found) else ()


def _parameters(arguments: Mapping[str, Argument]) -> Parameters:
    """Return the values among the arguments. Names with an underscore are not those of torch."""
    return tuple(
        sorted(
            (name, _shown(argument.value))
            for name, argument in arguments.items()
            if argument.value is not None and not name.startswith("_")
        )
    )


def _shown(value: Value) -> int | float | str:
    if isinstance(value, bool) or (isinstance(value, float) and not isfinite(value)):
        return str(value)
    return f"[{', '.join(map(str, value))}]" if isinstance(value, tuple) else value

"""Describes operators of PyTorch: their category, their tensors, and the work of one call.

The entry of an operator has its signatures and its category. It also has a function that computes
the cost of a call from the shapes of the inputs.
"""

from __future__ import annotations

import re
from math import inf, isfinite, nan, prod
from typing import TYPE_CHECKING, Final, NamedTuple

from profile_analyze.model import terms
from profile_analyze.readers.computed_once import computed_once
from profile_analyze.readers.pytorch.arguments import arguments_of, is_contiguous
from profile_analyze.readers.pytorch.calls import Call, UnknownError, calls_of, shape_of
from profile_analyze.readers.pytorch.facts import OPERATOR_EVENT, HostFacts
from profile_analyze.readers.pytorch.kernel_names import category_by_words
from profile_analyze.readers.pytorch.work import attention as work_attention
from profile_analyze.readers.pytorch.work import convolutions as work_convolutions
from profile_analyze.readers.pytorch.work import elementwise as work_elementwise
from profile_analyze.readers.pytorch.work import indexing as work_indexing
from profile_analyze.readers.pytorch.work import movement as work_movement
from profile_analyze.readers.pytorch.work import pooling as work_pooling
from profile_analyze.readers.pytorch.work import products as work_products
from profile_analyze.readers.pytorch.work import recurrent as work_recurrent
from profile_analyze.readers.pytorch.work import reductions as work_reductions
from profile_analyze.readers.pytorch.work.costs import Cost, Entry, unknown, work_without_shapes
from profile_analyze.work.operation import Work
from profile_analyze.work.tensor import all_known, compute_dtype

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from profile_analyze.model.operators import Dtypes, Parameters, Shapes, Strides
    from profile_analyze.readers.pytorch.arguments import Argument, Value
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
"""Entries by name without underscores. The entry of the node `MaxPool2DWithIndicesBackward0` has
the key `maxpool2dwithindices`."""
_NAMESPACES: Final = frozenset(("", "aten", "mkldnn", "torchvision"))
"""The namespaces to which the signatures in `_TABLE` apply. In other namespaces, an operator of the
same name can have other arguments."""
_LISTS: Final = "_foreach_"
_ENGINE: Final = "autograd::engine::evaluate_function: "
_GRADIENT: Final = re.compile(r"([A-Z]\w*?)Backward\d+")
"""The name of a node of the autograd graph, such as `AddmmBackward0`. The node calls the operators
that compute the gradients."""
_ACCUMULATION: Final = "torch::autograd::AccumulateGrad"
_BACKWARD: Final = "_backward"
COLLECTIVE: Final = re.compile(r"(?:nccl|rccl|gloo|mpi|ucc|xccl|hccl|c10d):")
"""The start of the name of a region around a collective: the library that runs the collective."""
_OPTIMIZER: Final = "Optimizer."
_GENERATED: Final = "triton_"
"""The start of the name of a kernel that `torch.compile` generates."""
_LOOPS: Final = ("triton_poi_", "triton_per_", "triton_red_")
"""The starts of the names of generated kernels whose values are the sizes of their loops."""
_NOTHING: Final = Work(0.0, 0.0, 0.0)


class Described(NamedTuple):
    """All facts about an operator except its times. Unknown facts are None."""

    category: str
    """One of `terms.CATEGORIES`."""
    work: Work = Work()
    """The work of one call. The rows of inner operators can include the same work: see
    `model.levels.owned_work`."""
    in_shapes: Shapes | None = None
    in_strides: Strides | None = None
    """The strides of each input in elements, or None for a contiguous input. The tuple is empty if
    all inputs are contiguous."""
    input_dtypes: Dtypes | None = None
    """The dtype of each input, as the file names it."""
    out_shapes: Shapes | None = None
    compute_dtype: str | None = None
    parameters: Parameters | None = None
    """The name and value of each argument that is not a tensor."""


def described(facts: HostFacts) -> Described:
    """Return the category, work and tensors of one call of an operator or region."""
    return _of_operator(*facts[1:]) if facts.kind == OPERATOR_EVENT else _of_region(facts.name)


def follows_from_shapes(name: str) -> bool:
    """Return whether the work of an operator follows from the shapes of its inputs."""
    namespace, _, last = name.rpartition("::")
    entry = _entry(last) if namespace in _NAMESPACES else None
    return entry is not None and entry.translate is not unknown


@computed_once
def _of_operator(full_name: str, *texts: bytes) -> Described:
    """Describe a call of an operator. `texts` are the fields of `HostFacts` from `shapes` on."""
    arguments = arguments_of(HostFacts(OPERATOR_EVENT, full_name, *texts))
    name = full_name.removeprefix(_ENGINE)
    if name != full_name or name == _ACCUMULATION or _GRADIENT.fullmatch(name):
        return _with_arguments(Described(_category_of_gradient(name), _NOTHING), arguments)
    namespace, _, last = name.rpartition("::")
    if namespace in _NAMESPACES and not name.startswith(_GENERATED):
        return _of_call(last, _entry(last) or _entry_by_words(name), arguments)
    return _with_arguments(_of_custom(name, last, arguments), arguments)


def _of_region(name: str) -> Described:
    """Describe a region. Its work is 0, because the operators inside do the work.

    The work of a region around a collective is N/A instead: it depends on the group of ranks.
    """
    if COLLECTIVE.match(name):
        return Described(terms.COMMUNICATION)
    is_optimizer = name.startswith(_OPTIMIZER)
    return Described(terms.ELEMENTWISE if is_optimizer else terms.OTHER, _NOTHING)


def _category_of_gradient(name: str) -> str:
    """Return the category of a node of the autograd graph.

    `ConvolutionBackward0` has the category of `convolution`.
    """
    found = _GRADIENT.fullmatch(name)
    entry = _BY_FLAT_NAME.get(found[1].lower()) if found else None
    return category_by_words(name) if entry is None else entry.category_of()


def _of_custom(name: str, last: str, arguments: Sequence[Argument]) -> Described:
    """Describe an operator whose signature is unknown, so that its arguments have no names."""
    category = category_by_words(name)
    if name.startswith(_GENERATED):
        return Described(category, Work(memory=_memory_of_generated(name, arguments)))
    if category == terms.OTHER:
        entry = _entry(last) or Entry("other")
        return Described(entry.category_of(), work_without_shapes(entry.kind))
    return Described(category)


def _memory_of_generated(name: str, arguments: Sequence[Argument]) -> float:
    """Return the bytes of the tensors of a generated kernel; nan if it may read only a part of one.

    A tensor with more elements than the loops have passes may be read in part, such as the table
    of an embedding.
    """
    tensors = [tensor for one in arguments for tensor in one.tensors or ()]
    sizes = [int(one.value) for one in arguments if type(one.value) is int]
    passes = prod(sizes) if sizes and name.startswith(_LOOPS) else inf
    is_partial = any(one.elements > passes for one in tensors)
    return nan if is_partial else sum(one.bytes for one in tensors)


def _entry(name: str) -> Entry | None:
    """Return the entry of an operator; None if the operator is unknown.

    `add` and the in-place `add_` share an entry. The backward operator of a known operator has an
    entry with the same category.
    """
    plain = name.rstrip("_")
    found = _TABLE.get(name) or _TABLE.get(plain)
    if found is None and name.startswith(_LISTS):
        return _TABLE[_LISTS]
    if found is None and plain.endswith(_BACKWARD):
        forward = _TABLE.get(plain.removesuffix(_BACKWARD))
        return None if forward is None else Entry("other", category=forward.category_of())
    return found


def _entry_by_words(name: str) -> Entry:
    """Return an entry for an operator that is not in the table. Its name decides its category."""
    category = category_by_words(name)
    return Entry("control") if category == terms.CONTROL else Entry("other", category=category)


def _of_call(name: str, entry: Entry, arguments: Sequence[Argument]) -> Described:
    """Describe a call by the first signature from which its cost follows.

    If the cost follows from no signature, the call has the work of `work_without_shapes`.
    """
    likeliest: Call | None = None
    for call in calls_of(name, entry.signatures, arguments):
        likeliest = likeliest or call
        try:
            cost = entry.translate(call)
        except UnknownError:
            continue
        return _with_call(entry, cost, call)
    without_shapes = Cost(work_without_shapes(entry.kind))
    if likeliest is None:
        return _with_arguments(Described(entry.category_of(), without_shapes.work), arguments)
    return _with_call(entry, without_shapes, likeliest)


def _with_call(entry: Entry, cost: Cost, call: Call) -> Described:
    """Describe a call that fits a signature, so that its arguments have names."""
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
    """Return `found` with the shapes, strides and dtypes of the inputs added."""
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
    strides = all_known(one.strides for argument in arguments for one in argument.tensors or ())
    if strides is None:
        return None
    found = [
        None if is_contiguous(shape, steps) else steps
        for shape, steps in zip(shapes, strides, strict=True)
    ]
    return tuple(found) if any(one is not None for one in found) else ()


def _parameters(arguments: Mapping[str, Argument]) -> Parameters:
    """Return the name and value of each argument that is not a tensor.

    Names that start with an underscore are left out. They are placeholders in our signatures, not
    names that torch uses.
    """
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

"""Computes the work of operators that read or write by index, embed, sort or select."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from profile_analyze.readers.pytorch.calls import UnknownError, shape_of
from profile_analyze.readers.pytorch.work.costs import Cost, Entry, axis_of, cost, entries, possible
from profile_analyze.work.operation import Work
from profile_analyze.work.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Mapping

    from profile_analyze.readers.pytorch.calls import Call
    from profile_analyze.readers.pytorch.work.costs import Translate
    from profile_analyze.work.tensor import Dims


def _index_select(call: Call) -> Cost:
    data, index = call.tensor("self"), call.tensor("index")
    sizes = list(shape_of(data))
    if sizes:
        sizes[axis_of(call.integer("dim"), len(sizes))] = int(Tensor(shape_of(index)).elements)
    return cost("gather", [data, index], [Tensor(tuple(sizes), data.dtype)])


def _gather(call: Call) -> Cost:
    data, index = call.tensor("self"), call.tensor("index")
    return cost("gather", [data, index], [Tensor(index.shape, data.dtype)])


def _scatter(kind: str) -> Translate:
    """Return a function that computes the cost of writing values to a tensor, or of adding them.

    `kind` is `copy` if the values are written, and `elementwise` if they are added.
    """

    def translate(call: Call) -> Cost:
        data, values, index = call.tensor("self"), call.optional("src"), call.optional("index")
        # `scatter` writes one element for each index, even if there are more values than indices.
        sizes = index if "scatter" in call.name else values
        if sizes is None or (data.shape and not sizes.shape):
            raise UnknownError  # for example one value that is written to several elements
        part = Tensor(sizes.shape, data.dtype)
        read = [] if values is None else [_part(values, sizes.shape)]
        # An addition reads the values that it replaces.
        replaced = [part] if kind == "elementwise" else []
        return cost(kind, [*read, index, *replaced], [data], written=[part])

    return translate


def _part(tensor: Tensor, shape: Dims | None) -> Tensor:
    """Return the part of a tensor that has `shape`."""
    strides = tensor.strides
    is_known = strides is not None and shape is not None and len(strides) == len(shape)
    return Tensor(shape, tensor.dtype, strides if is_known else None)


def _embedding(call: Call) -> Cost:
    table, indices = call.tensor("weight"), call.tensor("indices")
    sizes = (*shape_of(indices), *shape_of(table)[1:])
    return cost("embedding", [table, indices], [Tensor(sizes, table.dtype)])


def _embedding_bag(call: Call) -> Cost:
    """Return the cost of adding up the rows of each bag.

    Each value that the call reads from the table costs one operation.
    """
    table, indices, offsets = (call.tensor(name) for name in ("weight", "indices", "offsets"))
    width, rows = shape_of(table)[1:], shape_of(indices)
    if len(width) != 1 or not rows:
        raise UnknownError
    bags = rows[:1]
    if len(rows) == 1:
        has_end = call.flag("include_last_offset", default=False)
        bags = (shape_of(offsets)[0] - has_end,) if offsets.shape else ()
    read = possible([Tensor((*rows, *width), table.dtype)])[0]
    result = Tensor((*bags, *width), table.dtype)
    moved = [read, indices, offsets, *call.listed("per_sample_weights"), result]
    memory = sum(one.bytes for one in moved)
    return Cost(Work(0.0, read.elements, memory), possible([result]))


def _embedding_backward(call: Call) -> Cost:
    gradient, indices = call.tensor("grad_output"), call.tensor("indices")
    table = Tensor((call.integer("num_weights"), *shape_of(gradient)[-1:]), gradient.dtype)
    done = cost("embedding", [], [table])
    memory = gradient.bytes + indices.bytes + table.bytes
    return done._replace(work=Work(0.0, gradient.elements, memory))


def _sort(call: Call) -> Cost:
    data = call.tensor("self")
    sizes = list(shape_of(data))
    if "k" in call and sizes:
        sizes[axis_of(call.integer("dim", -1), len(sizes))] = call.integer("k")
    results = [Tensor(tuple(sizes), dtype) for dtype in (data.dtype, "int64")]
    return cost("data-dependent", [data], results)


_DEPENDENT: Final = (
    "argsort msort nonzero masked_select unique _unique _unique2 unique_dim unique_consecutive "
    "multinomial bincount histc searchsorted bucketize median nanmedian mode kthvalue "
    "nms randperm isin"
)

TABLE: Final[Mapping[str, Entry]] = {
    "index_select": Entry("gather", ("Tensor self, dim, Tensor index",), _index_select),
    "gather": Entry("gather", ("Tensor self, dim, Tensor index, sparse_grad",), _gather),
    # The indices of these operators are a list of tensors, whose shapes are not in the file.
    **dict.fromkeys(("index", "_unsafe_index"), Entry("gather")),
    **entries(
        "copy",
        "index_put _index_put_impl _unsafe_index_put",
        "Tensor self, any indices, Tensor src, accumulate, unsafe",
        translate=_scatter("copy"),
    ),
    **entries(
        "copy",
        "index_copy scatter",
        "Tensor self, dim, Tensor index, any src, any _reduce",
        translate=_scatter("copy"),
    ),
    **entries(
        "elementwise",
        "index_add scatter_add scatter_reduce",
        "Tensor self, dim, Tensor index, Tensor src, any _alpha, any _include_self",
        translate=_scatter("elementwise"),
    ),
    "embedding": Entry(
        "embedding",
        ("Tensor weight, Tensor indices, padding_idx, scale_grad_by_freq, sparse",),
        _embedding,
    ),
    **entries(
        "embedding",
        "embedding_bag _embedding_bag _embedding_bag_forward_only",
        "Tensor weight, Tensor indices, Tensor offsets, scale_grad_by_freq, mode, sparse, "
        "Tensor? per_sample_weights, include_last_offset, padding_idx",
        translate=_embedding_bag,
    ),
    **entries(
        "embedding",
        "embedding_dense_backward embedding_backward",
        "Tensor grad_output, Tensor indices, num_weights, padding_idx, scale_grad_by_freq, sparse",
        translate=_embedding_backward,
    ),
    **entries("data-dependent", "topk", "Tensor self, k, dim, largest, sorted", translate=_sort),
    **entries(
        "data-dependent",
        "sort",
        "Tensor self, dim, descending",
        "Tensor self, any _stable, dim, descending",
        translate=_sort,
    ),
    **dict.fromkeys(_DEPENDENT.split(), Entry("data-dependent")),
}
"""The entry of each operator. Keys are names without the namespace, and without the underscore at
the end of in-place operators."""

"""Computes the work of reductions, normalizations, softmax and losses."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING, Final

from profile_analyze.readers.pytorch.calls import UnknownError, shape_of
from profile_analyze.readers.pytorch.work.costs import (
    Cost,
    Entry,
    broadcast,
    cost,
    entries,
    promoted,
    reduced,
)
from profile_analyze.work.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Mapping

    from profile_analyze.model.operators import Shape
    from profile_analyze.readers.pytorch.calls import Call
    from profile_analyze.readers.pytorch.work.costs import Translate

_REDUCTION: Final = "reduction"
_BATCH: Final = "batch normalization"
_LAYER: Final = "layer normalization"
_SOFTMAX: Final = "softmax"
_NO_ADDED: Final = (None, None)
"""Layer and RMS normalization have two optional inputs that are added to the data first. Operators
of torch have no such inputs."""


def _reduction(per_element: int = 1, *dtypes: str | None) -> Translate:
    """Return a function that computes the cost of a reduction.

    `per_element` is the number of operations for each element of the input. `dtypes` has the dtype
    of each output, or None for the dtype of the input. By default, there is one output with the
    dtype of the input. If a call has the argument `dtype`, every output has that dtype instead.
    """

    def translate(call: Call) -> Cost:
        data = call.tensor("self")
        # A call without `dim`, or with None as `dim`, reduces all dimensions.
        chosen = call.integers("dim") if "dim" in call else None
        keeps = call.flag("keepdim", default=False)
        shape = reduced(shape_of(data), chosen, keeps=keeps)
        outputs = [
            Tensor(shape, call.dtype("dtype", dtype or data.dtype)) for dtype in dtypes or (None,)
        ]
        return cost(_REDUCTION, [data], outputs, per_element=per_element)

    return translate


def _sum(call: Call) -> Cost:
    """Return the cost of a sum or product."""
    return _reduction(1, _dtype_of_sum(call.tensor("self")))(call)


def _dtype_of_sum(data: Tensor) -> str | None:
    """Return the dtype of a sum or product: int64 for integers and booleans."""
    is_whole = data.dtype in {"bool", "uint8", "int8", "int16", "int32"}
    return "int64" if is_whole else data.dtype


def _largest(call: Call) -> Cost:
    """Return the cost of `max` or `min`.

    With one tensor, the call is a reduction. With two tensors, it is elementwise.
    """
    other = call.optional("other")
    if other is not None:
        tensors = call.every_tensor()
        result = Tensor(broadcast(*map(shape_of, tensors)), promoted(tensors))
        return cost("elementwise", tensors, [result])
    return _reduction(1, None, *(["int64"] if "dim" in call else []))(call)


def _scan(call: Call) -> Cost:
    data = call.tensor("self")
    result = Tensor(data.shape, call.dtype("dtype", _dtype_of_sum(data)))
    return cost(_REDUCTION, [data], [result])


def _batch_normalization(call: Call) -> Cost:
    data = call.tensor("input")
    is_training = "no_training" not in call.name and call.flag("training")
    others = [call.optional(name) for name in ("weight", "bias", "running_mean", "running_var")]
    return cost(_BATCH, [data, *others], [data], is_training=is_training)


def _normalization(kind: str) -> Translate:
    """Return a function that computes the cost of a normalization of `kind`."""

    def translate(call: Call) -> Cost:
        data = call.tensor("input")
        parameters = [call.optional("weight"), call.optional("bias")]
        statistics = [call.optional("running_mean"), call.optional("running_var")]
        return cost(kind, [data, *parameters, *_NO_ADDED, *statistics], [data])

    return translate


def _gradient(kind: str) -> Translate:
    """Return a function that computes the cost of the gradient of a normalization.

    The number of operations is N/A, because no rule for counting them is defined.
    """

    def translate(call: Call) -> Cost:
        weight = call.optional("weight")
        # The bias is as large as the weight, so `weight` stands for the gradients of both.
        gradients = [call.tensor("input"), *([] if weight is None else [weight, weight])]
        mask = call.value("output_mask") if "output_mask" in call.arguments else (True,) * 3
        if not isinstance(mask, tuple):
            raise UnknownError
        outputs = [one for one, is_needed in zip(gradients, mask, strict=False) if is_needed]
        done = cost(kind, call.every_tensor(), outputs)
        return done._replace(work=done.work._replace(computation=nan))

    return translate


def _softmax(call: Call) -> Cost:
    data = call.tensor("self")
    to_float = call.flag("half_to_float", default=False)
    result = Tensor(data.shape, "fp32" if to_float else call.dtype("dtype", data.dtype))
    return cost(_SOFTMAX, [data, call.optional("mask")], [result])


def _softmax_backward(call: Call) -> Cost:
    """Return the cost of the gradient of a softmax or its logarithm: 4 operations per element.

    - softmax: a product, a sum, a product and a difference
    - logarithm: an exponential, a sum, a product and a difference
    """
    gradient, output = call.tensor("grad_output"), call.tensor("output")
    return cost(_SOFTMAX, [gradient, output], [gradient], per_element=4)


def _loss(per_element: int, *, reduces_classes: bool = False) -> Translate:
    """Return a function that computes the cost of a loss.

    The loss takes `per_element` operations for each score, and one for each target.
    With `reduces_classes`, scores have one dimension more than targets: the classes.
    """

    def translate(call: Call) -> Cost:
        scores, target = call.tensor("self"), call.tensor("target")
        # 0 stands for no reduction, 1 for the mean and 2 for the sum.
        is_reduced = call.integer("reduction") != 0
        shape: Shape = shape_of(target if reduces_classes else scores)
        output = Tensor(() if is_reduced else shape, scores.dtype)
        inputs = [scores, target, call.optional("weight")]
        return cost("loss", inputs, [output], per_element=per_element)

    return translate


def _loss_backward(call: Call) -> Cost:
    """Return the cost of the gradient of a loss: one operation for each target."""
    scores, target = call.tensor("self"), call.tensor("target")
    done = cost("loss", call.every_tensor(), [scores], per_element=0)
    return done._replace(work=done.work._replace(computation=target.elements))


_ALL: Final = "Tensor self, dtype"
_SOME: Final = "Tensor self, dim, keepdim, dtype"
_DIM: Final = "Tensor self, dim, keepdim"
_SPREAD: Final = ("Tensor self, unbiased", "Tensor self, dim, _correction, keepdim")
_STATISTICS: Final = "Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var"
_TARGETS: Final = "Tensor self, Tensor target"


def _of(names: str, *signatures: str, translate: Translate) -> dict[str, Entry]:
    return entries(_REDUCTION, names, *signatures, translate=translate)


TABLE: Final[Mapping[str, Entry]] = {
    **_of("sum nansum prod", _ALL, _SOME, translate=_sum),
    **_of("mean nanmean", _ALL, _SOME, translate=_reduction()),
    **_of("max min", "Tensor self, Tensor other", _DIM, translate=_largest),
    **_of("amax amin", _DIM, translate=_reduction()),
    **_of("argmax argmin", _DIM, translate=_reduction(1, "int64")),
    **_of("any all", _DIM, translate=_reduction(1, "bool")),
    **_of("count_nonzero", _DIM, translate=_reduction(1, "int64")),
    **_of("logsumexp", _DIM, translate=_reduction(4)),
    **_of("aminmax", _DIM, translate=_reduction(2, None, None)),
    **_of("std var", *_SPREAD, translate=_reduction(4)),
    **_of("std_mean var_mean", *_SPREAD, translate=_reduction(4, None, None)),
    **_of(
        "norm",
        "Tensor self, p, dtype",
        "Tensor self, p, dim, keepdim, dtype",
        translate=_reduction(2),
    ),
    **_of(
        "linalg_norm linalg_vector_norm",
        "Tensor self, ord, dim, keepdim, dtype",
        translate=_reduction(2),
    ),
    **_of("cumsum cumprod logcumsumexp", "Tensor self, dim, dtype", translate=_scan),
    **entries(
        _BATCH,
        "batch_norm native_batch_norm _batch_norm_impl_index _native_batch_norm_legit",
        f"Tensor input, {_STATISTICS}, training, momentum, eps, cudnn_enabled",
        "Tensor input, Tensor? weight, Tensor? bias, training, momentum, eps",
        translate=_batch_normalization,
    ),
    **entries(
        _BATCH,
        "cudnn_batch_norm miopen_batch_norm",
        f"Tensor input, {_STATISTICS}, training, exponential_average_factor, epsilon",
        translate=_batch_normalization,
    ),
    "_native_batch_norm_legit_no_training": Entry(
        _BATCH, (f"Tensor input, {_STATISTICS}, momentum, eps",), _batch_normalization
    ),
    **entries(
        _BATCH,
        "native_batch_norm_backward",
        "Tensor grad_out, Tensor input, Tensor? weight, Tensor? running_mean, "
        "Tensor? running_var, Tensor? save_mean, Tensor? save_invstd, train, eps, output_mask",
        translate=_gradient(_BATCH),
    ),
    **entries(
        _BATCH,
        "cudnn_batch_norm_backward miopen_batch_norm_backward",
        "Tensor input, Tensor grad_output, Tensor weight, Tensor? running_mean, "
        "Tensor? running_var, Tensor? save_mean, Tensor? save_var, epsilon, "
        "Tensor? reserve",
        translate=_gradient(_BATCH),
    ),
    **entries(
        _LAYER,
        "layer_norm native_layer_norm",
        "Tensor input, normalized_shape, Tensor? weight, Tensor? bias, eps, cudnn_enable",
        translate=_normalization(_LAYER),
    ),
    "native_layer_norm_backward": Entry(
        _LAYER,
        (
            "Tensor grad_out, Tensor input, normalized_shape, Tensor mean, Tensor rstd, "
            "Tensor? weight, Tensor? bias, output_mask",
        ),
        _gradient(_LAYER),
    ),
    "group_norm": Entry(
        _LAYER,
        ("Tensor input, num_groups, Tensor? weight, Tensor? bias, eps, cudnn_enabled",),
        _normalization(_LAYER),
    ),
    "native_group_norm": Entry(
        _LAYER,
        ("Tensor input, Tensor? weight, Tensor? bias, N, C, HxW, group, eps",),
        _normalization(_LAYER),
    ),
    "native_group_norm_backward": Entry(
        _LAYER,
        (
            "Tensor grad_out, Tensor input, Tensor mean, Tensor rstd, Tensor? weight, N, C, HxW, "
            "group, output_mask",
        ),
        _gradient(_LAYER),
    ),
    "instance_norm": Entry(
        _LAYER,
        (f"Tensor input, {_STATISTICS}, use_input_stats, momentum, eps, cudnn_enabled",),
        _normalization(_LAYER),
    ),
    **entries(
        "RMS normalization",
        "rms_norm",
        "Tensor input, normalized_shape, Tensor? weight, eps",
        translate=_normalization("RMS normalization"),
    ),
    **entries(
        "RMS normalization",
        "_fused_rms_norm",
        "Tensor input, normalized_shape_ndim, Tensor weight, eps",
        translate=_normalization("RMS normalization"),
    ),
    **entries(
        _SOFTMAX,
        "softmax log_softmax _safe_softmax",
        "Tensor self, dim, dtype",
        translate=_softmax,
    ),
    **entries(
        _SOFTMAX, "_softmax _log_softmax", "Tensor self, dim, half_to_float", translate=_softmax
    ),
    "_masked_softmax": Entry(_SOFTMAX, ("Tensor self, Tensor mask, dim, mask_type",), _softmax),
    **entries(
        _SOFTMAX,
        "_softmax_backward_data _log_softmax_backward_data",
        "Tensor grad_output, Tensor output, dim, input_dtype",
        translate=_softmax_backward,
    ),
    **_of(
        "nll_loss nll_loss_nd nll_loss_forward nll_loss2d nll_loss2d_forward",
        f"{_TARGETS}, Tensor? weight, reduction, ignore_index",
        translate=_loss(0, reduces_classes=True),
    ),
    **_of(
        "cross_entropy_loss",
        f"{_TARGETS}, Tensor? weight, reduction, ignore_index, label_smoothing",
        translate=_loss(5, reduces_classes=True),
    ),
    # Each score needs a difference and a square. In addition, all losses add up one value for each
    # target.
    **_of("mse_loss", f"{_TARGETS}, reduction", translate=_loss(2)),
    **_of(
        "nll_loss_backward nll_loss2d_backward",
        f"Tensor grad_output, {_TARGETS}, Tensor? weight, reduction, ignore_index, "
        "Tensor total_weight",
        translate=_loss_backward,
    ),
    **_of(
        "mse_loss_backward", f"Tensor grad_output, {_TARGETS}, reduction", translate=_loss_backward
    ),
}
"""The entry of each operator. Keys are names without the namespace."""

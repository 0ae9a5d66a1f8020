"""Computes the work of elementwise operators and fused optimizers.

A fused optimizer updates all parameters in one call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from profile_analyze.readers.pytorch.calls import UnknownError, shape_of
from profile_analyze.readers.pytorch.work.costs import (
    Cost,
    Entry,
    broadcast,
    cost,
    entries,
    ignored,
    possible,
    promoted,
)
from profile_analyze.work.operation import Work
from profile_analyze.work.tensor import Tensor

if TYPE_CHECKING:
    from collections.abc import Mapping

    from profile_analyze.readers.pytorch.calls import Call
    from profile_analyze.readers.pytorch.work.costs import Translate

_ELEMENTWISE: Final = "elementwise"
_SCALARS: Final = ("state_steps", "lr", "grad_scale", "found_inf")
"""The arguments of fused optimizers that can be scalars in tensors."""


def _result(call: Call, dtype: str | None) -> Tensor:
    """Return the result of a call. An in-place operator writes its result to its first input."""
    tensors = call.every_tensor()
    if not tensors:
        raise UnknownError
    if call.is_in_place:
        return tensors[0]
    return Tensor(broadcast(*map(shape_of, tensors)), dtype)


def elementwise(call: Call) -> Cost:
    """Return the cost of an operator that computes each element of its result from its inputs."""
    tensors = call.every_tensor()
    return cost(_ELEMENTWISE, tensors, [_result(call, promoted(tensors))])


def _function(call: Call) -> Cost:
    """Return the cost of a function whose result is a float, even if its inputs are integers."""
    tensors = call.every_tensor()
    return cost(_ELEMENTWISE, tensors, [_result(call, promoted(tensors, to_float=True))])


def _division(call: Call) -> Cost:
    """Return the cost of a division.

    With a rounding mode, two integers give an integer. Otherwise, they give a float.
    """
    return elementwise(call) if "rounding_mode" in call.arguments else _function(call)


def _comparison(call: Call) -> Cost:
    return cost(_ELEMENTWISE, call.every_tensor(), [_result(call, "bool")])


def _selection(call: Call) -> Cost:
    """Return the cost of `where`, whose first input is a condition."""
    tensors = call.every_tensor()
    return cost(_ELEMENTWISE, tensors, [_result(call, promoted(tensors[1:]))])


def _filled(call: Call) -> Cost:
    """Return the cost of `masked_fill`, whose result has the dtype of its first input."""
    return cost(_ELEMENTWISE, call.every_tensor(), [_result(call, call.tensor("self").dtype)])


def _dropout(call: Call) -> Cost:
    if not call.flag("train"):
        return ignored(call)
    data = call.tensor("self")
    # The second output says which elements were kept.
    masks = [Tensor(data.shape, "bool")] if call.name == "native_dropout" else []
    return cost(_ELEMENTWISE, [data], [data, *masks])


def _of_lists(call: Call) -> Cost:
    """Return the cost of a call that applies an elementwise operator to each tensor of a list."""
    outputs = possible(call.tensors("self"))
    tensors = call.every_tensor()
    computation = sum(one.elements for one in outputs)
    return Cost(Work(0.0, computation, sum(one.bytes for one in (*tensors, *outputs))), outputs)


def _norms_of_lists(call: Call) -> Cost:
    tensors = call.tensors("self")
    outputs = possible(Tensor((), one.dtype) for one in tensors)
    computation = 2 * sum(one.elements for one in tensors)
    moved = sum(one.bytes for one in (*tensors, *outputs))
    return Cost(Work(0.0, computation, moved), outputs, "reduction")


def _optimizer(per_element: int, *states: str) -> Translate:
    """Return a function that computes the cost of a fused optimizer.

    `per_element` is the number of operations for each element of a parameter. `states` are the
    names of the arguments with the states of the optimizer.
    """

    def translate(call: Call) -> Cost:
        of_states = [one for name in states for one in call.listed(name)]
        others = [one for name in _SCALARS for one in call.listed(name)]
        parameters = call.tensors("self")
        written = [*parameters, *of_states]
        return cost(
            "optimizer step",
            [*written, *call.tensors("grads"), *others],
            written,
            per_element=per_element,
            tensors_per_parameter=len(written) / len(parameters),
        )

    return translate


_ADAM: Final = (
    "Tensor[] self, Tensor[] grads, Tensor[] exp_avgs, Tensor[] exp_avg_sqs, "
    "any max_exp_avg_sqs, any state_steps, any lr, beta1, beta2, weight_decay, eps, amsgrad, "
    "maximize, any grad_scale, any found_inf"
)
_SGD: Final = (
    "Tensor[] self, Tensor[] grads, Tensor[] momentum_buffer_list, weight_decay, momentum, "
    "any lr, dampening, nesterov, maximize, is_first_step, any grad_scale, any found_inf"
)
_ADAGRAD: Final = (
    "Tensor[] self, Tensor[] grads, Tensor[] state_sums, any state_steps, any lr, lr_decay, "
    "weight_decay, eps, maximize, any grad_scale, any found_inf"
)

_UNARY: Final = (
    "relu relu6 neg abs sign sgn ceil floor trunc frac square bitwise_not positive "
    "conj_physical real imag hardswish hardsigmoid selu silu mish log_sigmoid logical_not"
)
_FUNCTIONS: Final = (
    "exp exp2 expm1 log log2 log10 log1p sqrt rsqrt sin cos tan asin acos atan sinh cosh tanh "
    "asinh acosh atanh sigmoid erf erfc erfinv reciprocal digamma lgamma sinc"
)
_BINARY: Final = (
    "maximum minimum fmax fmin atan2 bitwise_and bitwise_or bitwise_xor hypot copysign logaddexp "
    "__and__ __or__ __xor__ __lshift__ __rshift__ bitwise_left_shift bitwise_right_shift remainder "
    "fmod floor_divide xlogy float_power prelu _prelu_kernel clamp_min clamp_max"
)
_BACKWARD: Final = (
    "sigmoid_backward tanh_backward threshold_backward gelu_backward silu_backward "
    "hardswish_backward hardsigmoid_backward hardtanh_backward leaky_relu_backward "
    "softplus_backward mish_backward logit_backward log_sigmoid_backward native_dropout_backward"
)


def _of(names: str, *signatures: str, translate: Translate = elementwise) -> dict[str, Entry]:
    return entries(_ELEMENTWISE, names, *signatures, translate=translate)


TABLE: Final[Mapping[str, Entry]] = {
    **_of("add sub rsub mul subtract multiply", "Tensor self, any other, alpha"),
    **_of(
        "div divide true_divide",
        "Tensor self, any other",
        "Tensor self, any other, rounding_mode",
        translate=_division,
    ),
    **_of(_UNARY, "Tensor self"),
    **_of(_FUNCTIONS, "Tensor self", translate=_function),
    **_of("round", "Tensor self, decimals"),
    **_of(_BINARY, "any self, any other"),
    **_of("pow", "any self, any exponent"),
    **_of(
        "eq ne lt le gt ge logical_and logical_or logical_xor",
        "Tensor self, any other",
        translate=_comparison,
    ),
    **_of("isnan isinf isfinite isposinf isneginf signbit", "Tensor self", translate=_comparison),
    **_of("where", "Tensor condition, any self, any other", translate=_selection),
    **_of("clamp clip", "Tensor self, any min, any max"),
    **_of("addcmul addcdiv", "Tensor self, Tensor tensor1, Tensor tensor2, value"),
    **_of("lerp", "Tensor self, Tensor end, any weight"),
    **_of("gelu", "Tensor self, approximate"),
    **_of("leaky_relu", "Tensor self, negative_slope"),
    **_of("hardtanh", "Tensor self, min_val, max_val"),
    **_of("elu celu", "Tensor self, alpha, scale, input_scale"),
    **_of("softplus", "Tensor self, beta, threshold"),
    **_of("threshold", "Tensor self, threshold, value"),
    **_of("hardshrink softshrink", "Tensor self, lambd"),
    **_of("nan_to_num", "Tensor self, nan, posinf, neginf"),
    **_of("logit", "Tensor self, eps", translate=_function),
    **_of("masked_fill", "Tensor self, Tensor mask, any value", translate=_filled),
    **_of("dropout native_dropout feature_dropout", "Tensor self, p, train", translate=_dropout),
    **_of(_BACKWARD, "Tensor grad_output, Tensor self, any _a, any _b, any _c, any _d"),
    **_of(
        "elu_backward",
        "Tensor grad_output, alpha, scale, input_scale, is_result, Tensor self_or_result",
    ),
    **dict.fromkeys(("glu", "isclose", "rrelu", "rrelu_with_noise"), Entry(_ELEMENTWISE)),
    "_foreach_": Entry(_ELEMENTWISE, ("Tensor[] self, any _a, any _b, any _c",), _of_lists),
    "_foreach_norm": Entry("reduction", ("Tensor[] self, ord, dtype",), _norms_of_lists),
    **entries(
        "optimizer step",
        "_fused_adam _fused_adamw",
        _ADAM,
        translate=_optimizer(14, "exp_avgs", "exp_avg_sqs", "max_exp_avg_sqs"),
    ),
    "_fused_sgd": Entry("optimizer step", (_SGD,), _optimizer(7, "momentum_buffer_list")),
    "_fused_adagrad": Entry("optimizer step", (_ADAGRAD,), _optimizer(9, "state_sums")),
}
"""The entry of each operator. Keys are names without the namespace, and without the underscore at
the end of in-place operators. `_foreach_` is the entry of all other operators on lists."""

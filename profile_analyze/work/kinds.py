"""All kinds of operator by name, and the work of one operator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from profile_analyze.work import attention, convolutions, elementwise, movement, products
from profile_analyze.work.operation import Work

if TYPE_CHECKING:
    from profile_analyze.work.operation import Operation

_ALL: Final = (
    *convolutions.KINDS,
    *products.KINDS,
    *attention.KINDS,
    *elementwise.KINDS,
    *movement.KINDS,
)

KINDS: Final = {kind.name: kind for kind in _ALL}


def work_of(operation: Operation) -> Work:
    """Return the work of one call of `operation`."""
    kind = KINDS[operation.kind]
    macs = kind.macs(operation)
    return Work(macs, 2 * macs + kind.other_operations(operation), kind.memory(operation))


def backward_macs(operation: Operation, *, input_gradients: int, weight_gradients: int) -> float:
    """Return the multiply-adds of one backward call.

    Each gradient costs as many multiply-adds as the forward call. A product of two activations has
    two gradients, both of inputs. No result of the forward call is computed again.
    """
    kind = KINDS[operation.kind]
    gradients = input_gradients + weight_gradients
    if not gradients:
        return 0.0
    macs, between_activations = kind.macs(operation), kind.activation_macs(operation)
    of_weights = macs - between_activations
    # Without gradients of inputs, the gradients of activations are needed only for fused weights.
    if not input_gradients and of_weights == 0:
        return 0.0
    return gradients * of_weights + 2 * between_activations


def bias_elements(operation: Operation) -> float:
    """Return the number of elements to which a bias is added; 0 without a bias."""
    return KINDS[operation.kind].bias_elements(operation)

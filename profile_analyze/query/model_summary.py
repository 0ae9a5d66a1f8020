"""The summary of a model that has not run: its size, its work and the memory of its activations."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from profile_analyze.analysis.liveness import activation_memory
from profile_analyze.model.categorical import MISSING_CODE
from profile_analyze.model.numbers import total
from profile_analyze.model.terms import CONSTANT_ROLES, WEIGHT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from profile_analyze.analysis.liveness import ActivationMemory
    from profile_analyze.model.notes import Note
    from profile_analyze.model.profile import Profile
    from profile_analyze.model.static import StaticModel
    from profile_analyze.model.tables import Tensors


class AliveTensor(NamedTuple):
    """A tensor that is alive at the peak."""

    name: str
    size: float


class DtypeBytes(NamedTuple):
    """The weights of one dtype."""

    dtype: str | None
    params: float
    size: float


class ModelSummary(NamedTuple):
    """The size and the work of a model. NaN is N/A."""

    facts: StaticModel
    operators: int
    """How many operators there are outside of bodies, without constant ones."""
    types: tuple[tuple[str, int], ...]
    """How many operators have each type, the most frequent first."""
    params: float
    params_by_dtype: tuple[DtypeBytes, ...]
    """The weights by dtype, the largest bytes first."""
    param_bytes: float
    macs: float
    """The multiply-adds of one run, without bodies."""
    activations: ActivationMemory
    peak_operator: str | None
    alive: tuple[AliveTensor, ...]
    """The tensors that are alive at the peak, the largest first."""
    notes: tuple[Note, ...] = ()


def model_summary(profile: Profile) -> ModelSummary | None:
    """Return the summary of a model; None for a profile of a run, and without its tensors."""
    if profile.model is None or profile.tensors is None:
        return None
    tensors: Tensors = profile.tensors
    assert tensors.role is not None, "tensors of models have roles"
    assert tensors.elements is not None, "tensors of models have elements"
    is_weight = tensors.role.where(role == WEIGHT for role in tensors.role.categories)
    activations = activation_memory(profile)
    names = profile.operators.name.values()
    keys = tensors.key.values()
    outside = profile.operators.scope.codes == MISSING_CODE
    types = _types(profile, outside)
    return ModelSummary(
        facts=profile.model,
        operators=sum(count for _, count in types),
        types=types,
        params=_sum(tensors.elements[is_weight]),
        params_by_dtype=tuple(_by_dtype(tensors, is_weight)),
        param_bytes=_sum(tensors.size[is_weight]),
        macs=total(profile.operators.numbers("macs")[outside]),
        activations=activations,
        peak_operator=(
            None if activations.peak_operator is None else names[activations.peak_operator]
        ),
        alive=tuple(
            AliveTensor(keys[index], float(tensors.size[index])) for index in activations.alive
        ),
    )


def _types(profile: Profile, outside: NDArray[np.bool_]) -> tuple[tuple[str, int], ...]:
    """Return how many operators outside of bodies have each type, without constant ones."""
    counted = outside & ~_is_constant(profile)
    types = profile.operators.type.values()[counted]
    return tuple(Counter(types.tolist()).most_common())


def _is_constant(profile: Profile) -> NDArray[np.bool_]:
    """Return whether each operator computes a constant, shape (operators,)."""
    tensors, uses = profile.table("tensors"), profile.table("uses")
    is_constant = tensors.role.where(role in CONSTANT_ROLES for role in tensors.role.categories)
    makes_constant = np.zeros(len(profile), np.bool_)
    makes_constant[uses.operator[uses.is_output & is_constant[uses.tensor]]] = True
    return makes_constant


def _by_dtype(tensors: Tensors, is_weight: NDArray[np.bool_]) -> Iterator[DtypeBytes]:
    assert tensors.elements is not None, "models have elements"
    found = []
    for code, dtype in enumerate((*tensors.dtype.categories, None)):
        chosen = is_weight & (tensors.dtype.codes == (MISSING_CODE if dtype is None else code))
        if chosen.any():
            found.append(
                DtypeBytes(dtype, _sum(tensors.elements[chosen]), _sum(tensors.size[chosen]))
            )
    yield from sorted(found, key=lambda one: -one.size)


def _sum(values: NDArray[np.float64]) -> float:
    """Return the sum of `values`; NaN if one of them is unknown."""
    return float(values.sum())

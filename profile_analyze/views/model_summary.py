"""The summary of a model that has not run: its size, its work and the memory of its activations."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from profile_analyze.model.categorical import MISSING_CODE
from profile_analyze.model.findings import Finding, Kind
from profile_analyze.model.numbers import total
from profile_analyze.model.terms import CONSTANT_ROLES, DERIVED_CONSTANT, WEIGHT
from profile_analyze.views.liveness import activation_memory
from profile_analyze.views.tiling_summary import tiling_summary

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from profile_analyze.comparison.comparison import Comparison
    from profile_analyze.model.profile import Profile
    from profile_analyze.model.static import StaticModel
    from profile_analyze.model.tables import Tensors
    from profile_analyze.views.liveness import ActivationMemory
    from profile_analyze.views.tiling_summary import TilingSummary


class AliveTensor(NamedTuple):
    """A tensor that is in memory at the peak of the activation memory."""

    name: str
    size: float


class DtypeBytes(NamedTuple):
    """The weights of one dtype."""

    dtype: str | None
    params: float
    size: float


class RoleConstants(NamedTuple):
    """The constants of one role, such as shapes. Weights are not counted here."""

    role: str
    tensors: int
    elements: float
    size: float


class BaseWork(NamedTuple):
    """The work of the baseline, which is also a model that has not run."""

    file: str
    macs: float
    params: float
    memory: float
    unknown_macs: int
    """How many operators are left out of `macs`."""
    unknown_memory: int
    """How many operators are left out of `memory`."""


class ModelSummary(NamedTuple):
    """The size and the work of a model. NaN is N/A."""

    facts: StaticModel
    operators: int
    """The number of operators outside of the bodies of If, Loop and Scan. Operators that compute
    constants are not counted."""
    types: tuple[tuple[str, int], ...]
    """For each type, how many of these operators have it. The most frequent type comes first."""
    params: float
    params_by_dtype: tuple[DtypeBytes, ...]
    """The weights by dtype. The dtype with the most bytes comes first."""
    param_bytes: float
    constants: tuple[RoleConstants, ...]
    """The stored constants by role, without weights."""
    macs: float
    """The sum of the known multiply-adds of one run, without bodies."""
    unknown_macs: int
    """How many operators outside of bodies have unknown multiply-adds."""
    unknown_computation: int
    """How many operators outside of bodies have unknown computation."""
    unknown_memory: int
    """How many operators outside of bodies have unknown memory."""
    activations: ActivationMemory
    peak_operator: str | None
    alive: tuple[AliveTensor, ...]
    """The tensors that are in memory at the peak, the largest first."""
    memory: float
    """The bytes that operators outside of bodies read and write."""
    base: BaseWork | None
    """The work of the baseline; None without a baseline."""
    tiling: TilingSummary | None = None
    """The cost of the matrix products when they are split into tiles; None if the caller gave no
    tile size."""
    notes: tuple[Finding, ...] = ()

    @property
    def weights_and_peak(self) -> float:
        """The bytes of the weights plus the peak bytes of the activations."""
        return self.param_bytes + self.activations.peak_bytes


def model_summary(profile: Profile, comparison: Comparison | None = None) -> ModelSummary | None:
    """Return the summary of a model; None for a profile of a run, or if tensors were not loaded.

    `comparison` compares `profile` with a baseline. It is None without a baseline.
    """
    if profile.model is None or profile.tensors is None:
        return None
    tensors: Tensors = profile.tensors
    assert tensors.elements is not None, "tensors of models have elements"
    is_weight = _are_weights(tensors)
    activations = activation_memory(profile)
    peak, keys = activations.peak_operator, tensors.key.values()
    types = _types(profile)
    outside, is_of_model = ~profile.in_bodies(), are_of_model(profile)
    rows = outside & is_of_model
    inside = int((~outside & is_of_model).sum())
    return ModelSummary(
        facts=profile.model,
        operators=sum(count for _, count in types),
        types=types,
        params=_sum(tensors.elements[is_weight]),
        params_by_dtype=tuple(_by_dtype(tensors, is_weight)),
        param_bytes=_sum(tensors.size[is_weight]),
        constants=tuple(_by_role(tensors)),
        macs=total(profile.operators.numbers("macs")[outside]),
        unknown_macs=_unknown(profile.operators.numbers("macs"), rows),
        unknown_computation=_unknown(profile.operators.computation, rows),
        unknown_memory=_unknown(profile.operators.memory, rows),
        activations=activations,
        peak_operator=None if peak is None else profile.operators.name.values()[peak],
        alive=tuple(AliveTensor(keys[n], float(tensors.size[n])) for n in activations.alive),
        memory=total(profile.operators.memory[outside]),
        base=None if comparison is None else _base_work(comparison, outside),
        tiling=tiling_summary(profile, outside),
        notes=tuple(_bodies(inside, int(profile.never_run().sum()))),
    )


def _bodies(inside: int, idle: int) -> Iterator[Finding]:
    """Yield a finding on operators in bodies, which totals leave out. `idle` of them never run."""
    if inside:
        yield Finding.of("left-out-bodies", Kind.CONTEXT, operators=inside, idle=idle)


def _unknown(values: NDArray[np.float64], rows: NDArray[np.bool_]) -> int:
    """Return how many of the operators in the mask `rows` have an unknown value."""
    return int((np.isnan(values) & rows).sum())


def are_of_model(profile: Profile) -> NDArray[np.bool_]:
    """Return a mask of the operators that are in this model, shape (operators,).

    In a comparison, some rows are operators that only the baseline has. They use no tensor of this
    model.
    """
    return np.bincount(profile.table("uses").operator, minlength=len(profile)) > 0


def _base_work(comparison: Comparison, outside: NDArray[np.bool_]) -> BaseWork:
    base = comparison.base
    operators, tensors = base.operators, base.table("tensors")
    rows = comparison.on_sides()[1] & outside
    return BaseWork(
        base.file,
        total(operators.numbers("macs")[outside]),
        _sum(tensors.elements[_are_weights(tensors)]),
        total(operators.memory[outside]),
        _unknown(operators.numbers("macs"), rows),
        _unknown(operators.memory, rows),
    )


def _are_weights(tensors: Tensors) -> NDArray[np.bool_]:
    assert tensors.role is not None, "tensors of models have roles"
    return tensors.role.where(role == WEIGHT for role in tensors.role.categories)


def _types(profile: Profile) -> tuple[tuple[str, int], ...]:
    """Return `ModelSummary.types`."""
    chosen = ~profile.in_bodies() & ~_is_constant(profile) & are_of_model(profile)
    types = profile.operators.type.values()[chosen]
    return tuple(Counter(types.tolist()).most_common())


def _is_constant(profile: Profile) -> NDArray[np.bool_]:
    """Return a mask of the operators that compute a constant, shape (operators,)."""
    tensors, uses = profile.table("tensors"), profile.table("uses")
    is_constant = tensors.role.where(role in CONSTANT_ROLES for role in tensors.role.categories)
    makes_constant = np.zeros(len(profile), np.bool_)
    makes_constant[uses.operator[uses.is_output & is_constant[uses.tensor]]] = True
    return makes_constant


def _by_role(tensors: Tensors) -> Iterator[RoleConstants]:
    assert tensors.role is not None, "tensors of models have roles"
    assert tensors.elements is not None, "tensors of models have elements"
    for role in CONSTANT_ROLES:
        chosen = tensors.role.where(one == role for one in tensors.role.categories)
        if chosen.any() and role not in {WEIGHT, DERIVED_CONSTANT}:
            yield RoleConstants(
                role,
                int(chosen.sum()),
                _sum(tensors.elements[chosen]),
                _sum(tensors.size[chosen]),
            )


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

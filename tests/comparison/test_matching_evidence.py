"""Which matched operators show that both sides of a comparison ran one model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import profile_analyze as pa
from profile_analyze.comparison.matching_evidence import evidence_of
from tests.findings.found import why
from tests.in_memory import profile_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from profile_analyze.model.operators import Shapes

Row = tuple[str, str, float | None, "Shapes | None"]
"""A name, a type, milliseconds (None for an operator without a time), and shapes of inputs."""


def side(*rows: Row) -> pa.Profile:
    return profile_of(
        [{"name": name, "type": kind} for name, kind, _, _ in rows],
        [
            {"operator": n, "start_s": n * 1e-3, "duration_s": ms * 1e-3}
            for n, (_, _, ms, _) in enumerate(rows)
            if ms is not None
        ],
        columns={"optional": {"in_shapes": pa.Categorical.of([row[3] for row in rows])}},
        processes=(f"{rows[0][2]}.json",),
    )


def network(batch: int, *channels: int, ms: float = 1.0) -> list[Row]:
    """Return convolutions with so many output channels, each followed by an activation.

    The names are the types, as in traces of PyTorch.
    """
    rows: list[Row] = []
    for before, after in zip((3, *channels), channels, strict=False):
        image, weight = (batch, before, 8, 8), (after, before, 3, 3)
        rows += [
            ("conv", "conv", ms, (image, weight)),
            ("relu", "relu", ms, ((batch, after, 8, 8),)),
        ]
    return rows


def judged(new: Sequence[Row], base: Sequence[Row]) -> tuple[int, int, int, bool]:
    """Return the first three numbers of the evidence, and whether the models look different."""
    comparison = pa.compare(side(*new), side(*base))
    evidence = evidence_of(comparison)
    return (*evidence[:3], comparison.mismatch is not None)


OTHER: list[Row] = [(f"other{n}", f"other{n}", 1.0, ((7,),)) for n in range(2)]
"""Operators of one side, so that names alone are not enough."""


def test_equal_names_of_kinds_with_other_shapes_are_no_evidence() -> None:
    resnet, mobilenet = network(4, 64, 128, 256, 512), network(1, 16, 24, 40, 80)
    assert judged([*resnet, *OTHER], mobilenet) == (0, 8, 8, True)
    comparison = pa.compare(side(*resnet, *OTHER), side(*mobilenet))
    assert why(comparison.mismatch) == (
        "none of 8 operators matched with the baseline, not counting constants and other "
        "bookkeeping, nor 8 operators with the same name but other shapes: these look like different models"
    )


def test_a_larger_batch_is_the_same_model() -> None:
    """The weights have the same shapes, so the convolutions count."""
    large, small = network(64, 64, 128, 256, 512), network(1, 64, 128, 256, 512)
    assert judged([*large, *OTHER], small) == (4, 8, 4, False)


def test_names_are_enough_if_almost_all_of_the_time_is_matched() -> None:
    """A pruned network has other shapes in each layer, but the same operators."""
    pruned, whole = network(1, 60, 120, 250), network(1, 64, 128, 256)
    little: list[Row] = [("other", "other", 0.5, ((7,),))]
    much: list[Row] = [("other", "other", 0.7, ((7,),))]
    assert judged([*pruned, *little], whole) == (6, 6, 0, False)
    # Only the image that the first convolution reads has the same shape.
    assert judged([*pruned, *much], whole) == (1, 6, 5, True)
    assert judged(whole, [*pruned, *much]) == (1, 6, 5, True)


def test_operators_of_unknown_shapes_count() -> None:
    known = network(4, 64, 128)
    unknown: list[Row] = [(name, kind, ms, None) for name, kind, ms, _ in known]
    assert judged([*unknown, *OTHER], network(1, 16, 24)) == (4, 4, 0, False)


def test_names_that_identify_an_operator_count_whatever_the_shapes() -> None:
    new: list[Row] = [("conv1", "conv", 1.0, ((4, 4),)), ("conv2", "conv", 1.0, ((5, 5),)), *OTHER]
    base: list[Row] = [("conv1", "conv", 1.0, ((6, 6),)), ("conv2", "conv", 1.0, ((7, 7),))]
    assert judged(new, base) == (2, 2, 0, False)
    # A repeated name identifies no operator, on either side.
    again: list[Row] = [*new, ("conv1", "conv", 1.0, ((4, 4),)), *OTHER]
    assert judged(again, base) == (1, 2, 1, False)
    assert judged(base, again) == (1, 2, 1, False)


def test_single_numbers_in_common_are_no_evidence() -> None:
    new: list[Row] = [("add", "add", 1.0, ((4, 4), ())), *OTHER]
    assert judged(new, [("add", "add", 1.0, ((5, 5), ()))]) == (0, 1, 1, True)
    assert judged(new, [("add", "add", 1.0, ((4, 4), (), ()))]) == (1, 1, 0, False)


@pytest.mark.parametrize("free", [1.0, None])
def test_operators_without_a_time_do_not_count(free: float | None) -> None:
    """Views and the like are in each model, and launch nothing."""
    views: list[Row] = [(f"view{n}", "view", free, None) for n in range(3)]
    new: list[Row] = [*views, *network(1, 4, 5), *OTHER]
    base: list[Row] = [*views, *(("odd", f"odd{n}", 1.0, None) for n in range(5))]
    assert judged(new, base) == ((3, 8, 0, False) if free else (0, 5, 0, True))
    comparison = pa.compare(side(*new), side(*base))
    assert ("with a device time" in why(comparison.mismatch)) == (free is None)


def test_all_operators_count_if_a_side_has_no_times() -> None:
    untimed = [(name, kind, None, shapes) for name, kind, _, shapes in network(1, 4, 5)]
    assert judged(network(1, 4, 5), untimed) == (4, 4, 0, False)

"""Notes on a comparison: what both sides have in common, and whether they ran one model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple

import numpy as np

from profile_analyze.comparison.iteration_counts import factor_of_calls
from profile_analyze.comparison.matching_evidence import evidence_of, factor_of_computation
from profile_analyze.model.findings import BASELINE, Finding, Kind
from profile_analyze.model.numbers import over_runs, ratio, totals_of_chosen
from profile_analyze.model.origin import FORMAT_SEPARATOR
from profile_analyze.model.terms import DEVICE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from profile_analyze.comparison.comparison import Comparison
    from profile_analyze.model.notes import Note
    from profile_analyze.model.profile import Profile

_LEAST_SHARED: Final = 0.25
"""If a smaller share of the operators is matched, the two sides look like different models. The
share is relative to the side with fewer operators. Graph optimisation leaves about this share of
the operators unchanged: `torch.compile` left 6 of 19 operators of a GPT-2. Of the operators of two
different models, at most 4% matched in recorded profiles of PyTorch. `matching_evidence` says which
operators count."""
_LEAST_TIME: Final = 0.5
"""If the runtime renames operators, matched operators must take this share of the time of a side.
Otherwise, the two sides look like different models."""
_OTHER_WORK: Final = 3.0
"""If few operators of two formats match, and the computation of a run differs by more than this
factor, the sides are not comparable. For one model and one size of inputs, formats differ less: a
multiplication and an addition may count as one operation or as two, and some runtimes pad channels.
"""
_MUCH_UNMATCHED: Final = 0.1
"""If operators without a match take at least this share of the time of a side, the note on the
matching is among the most important notes."""
_MOSTLY_HELD: Final = 0.5
"""If operators that hold a graph take at least this share of the time of a side, the few others do
not show whether the sides are of one model."""


class Mismatch(NamedTuple):
    """Why a change between the two sides means nothing."""

    finding: Finding
    """What shows this. `findings.rules.comparison.reason_of` returns it in words, with advice."""
    kind: Literal["runs", "iterations", "models"]
    """What does not fit together: the same runs are on both sides, the numbers of iterations in a
    run differ, or the models differ."""
    is_certain: bool = True
    """Whether verdicts on changes are left out. If not, the sides may well be of one model."""


def mismatch_of(comparison: Comparison) -> Mismatch | None:
    """Return why a change between the two sides means nothing; usually None.

    There is a mismatch in four cases:

    - The sides have runs in common.
    - The runs of one side are of different models.
    - The sides are runs of different models.
    - A run of one side has more iterations than a run of the other side.

    Few matches do not count as a mismatch in three cases:

    - Operators that hold a graph take most of the time of a side: the file does not list the
      operators inside, so these cannot match.
    - The formats differ, and the computation of both sides is similar or unknown. Few operators
      may then match even if the model is the same. Calls are not compared either.
    - The sides are models that have not run. They are often compared to choose one of two designs.
    """
    if found := _same_runs(comparison) or _unlike_runs(comparison):
        return found
    if comparison.profile.model is not None:
        return None
    if other_model := _other_model(comparison):
        return other_model if other_model.is_certain else None
    return None if _have_different_formats(comparison) else _other_iterations(comparison)


def doubt_of(comparison: Comparison) -> Mismatch | None:
    """Return why the two sides may be different models, although changes get verdicts.

    Usually None. Few operators of two formats may match even if the model is the same, because two
    runtimes name and fuse operators differently. Nobody but the user can tell.
    """
    if comparison.mismatch is not None or comparison.profile.model is not None:
        return None
    return _other_model(comparison)


def notes_on_base(base: Profile) -> Iterator[Note]:
    """Return the notes on the baseline."""
    return (note.about(BASELINE) for note in (*base.notes, *base.notes_on_runs))


def _same_runs(comparison: Comparison) -> Mismatch | None:
    """Return a mismatch that says which runs are on both sides; None if there are none."""
    shared = comparison.shared
    if shared is None:
        return None
    finding = Finding.of(
        *("same-runs", Kind.ANSWER),
        named=shared.named, copies=shared.copies, processes=shared.processes,
    )  # fmt: skip
    return Mismatch(finding, kind="runs")


def notes_on_sides(comparison: Comparison) -> Iterator[Note]:
    """Yield the notes on how the two sides fit together."""
    if same_runs := _same_runs(comparison):
        yield same_runs.finding
    mismatch = comparison.mismatch
    if mismatch is not None and mismatch.kind == "iterations":
        yield mismatch.finding
    if _have_different_formats(comparison):
        ours, base = map(_formats, (comparison.profile, comparison.base))
        yield Finding.of("different-formats", Kind.ANSWER, ours=ours, base=base)
    yield from _notes_on_matching(comparison)


def _unlike_runs(comparison: Comparison) -> Mismatch | None:
    """Return a mismatch if the runs of one side do not belong together; None otherwise."""
    for side, name in ((comparison.profile, "profile"), (comparison.base, "baseline")):
        if what := side.unlike:
            finding = Finding.of("unlike-runs", Kind.ANSWER, side=name, kinds=what)
            return Mismatch(finding, kind="models")
    return None


def _other_iterations(comparison: Comparison) -> Mismatch | None:
    """Return a mismatch that says how much more often operators were called; None if as often."""
    found = factor_of_calls(comparison.profile, comparison.base)
    if found is None:
        return None
    finding = Finding.of("other-iterations", Kind.ANSWER, part=found.share, factor=found.factor)
    return Mismatch(finding, kind="iterations")


def _have_different_formats(comparison: Comparison) -> bool:
    return {*_formats(comparison.profile)} != {*_formats(comparison.base)}


def _formats(side: Profile) -> list[str]:
    return side.origin.format.split(FORMAT_SEPARATOR)


def _notes_on_matching(comparison: Comparison) -> Iterator[Note]:
    """Yield a note if some operators are not matched."""
    if other_model := _other_model(comparison):
        yield other_model.finding
        return
    in_profile, in_base = comparison.on_sides()
    added, removed = ~in_base, ~in_profile
    if not (added.any() or removed.any()):
        return
    sides = (comparison.profile, comparison.base)
    added_share, removed_share = sides[0].share_of(added), sides[1].share_of(removed)
    largest = max(np.nan_to_num([added_share, removed_share]).tolist())
    yield Finding.of(
        "unmatched-operators",
        Kind.ANSWER if largest >= _MUCH_UNMATCHED else Kind.CONTEXT,
        matched=(in_profile & in_base).sum(),
        added=(added.sum(), added_share, _untimed(sides[0], added)),
        removed=(removed.sum(), removed_share, _untimed(sides[1], removed)),
        holds_graphs=any(bool(side.operators.hold_graphs.any()) for side in sides),
    )


def _untimed(side: Profile, chosen: NDArray[np.bool_]) -> int:
    """Return how many of the operators have no time; 0 if no operator of the side has one.

    The verdicts of the summary count only operators with a time. If all operators are without a
    time, another finding says so.
    """
    recorded = side.recorded(DEVICE)
    return int((chosen & ~recorded).sum()) if recorded.any() else 0


def _other_model(comparison: Comparison) -> Mismatch | None:
    """Return a mismatch that says how few operators match; None if enough of them match.

    None also if operators that hold a graph take most of the time of a side.
    """
    if _is_mostly_held(comparison.profile) or _is_mostly_held(comparison.base):
        return None
    few = _few_matches(comparison)
    if few is None:
        return None
    several_formats = _have_different_formats(comparison)
    # The computation of one model with inputs of one size does not differ that much.
    factor = factor_of_computation(comparison) if several_formats else np.nan
    is_certain = not several_formats or max(factor, 1 / factor) > _OTHER_WORK  # NaN is not
    finding = Finding.of(
        *("few-matches", Kind.ANSWER),
        **few._asdict(),
        factor=factor if is_certain else np.nan,
        several_formats=several_formats,
    )
    return Mismatch(finding, kind="models", is_certain=is_certain)


def _is_mostly_held(side: Profile) -> bool:
    """Return whether operators that hold a graph take at least half of the time of a side.

    This is the device time, or the host time if no operator has a device time.
    """
    chosen = side.operators.hold_graphs
    if not chosen.any():
        return False
    measure = "time" if side.recorded(DEVICE).any() else "host_time"
    totals_s = side.totals_s(measure)
    held_s = totals_of_chosen(side.measured(measure), chosen, totals_s)
    share = ratio(*(over_runs(one[np.newaxis], "median") for one in (held_s, totals_s)))
    return bool(share[0] >= _MOSTLY_HELD)


class _FewMatches(NamedTuple):
    """How few operators match: the values of the finding `few-matches`."""

    matched: int | None
    """None if no operator matches, not even constants and other bookkeeping."""
    counted_operators: int = 0
    only_names: int = 0
    timed: bool = False
    parts: tuple[float, ...] = ()
    """How little of the time of both sides the matched operators take; usually empty."""


def _few_matches(comparison: Comparison) -> _FewMatches | None:
    """Return how few operators match; None if enough of them match."""
    if comparison.matches_none:
        return _FewMatches(matched=None)
    evidence = evidence_of(comparison)
    parts: tuple[float, ...] = ()
    if evidence.matched >= _LEAST_SHARED * evidence.counted:
        in_profile, in_base = comparison.on_sides()
        parts = _little_time_matched(comparison, in_profile & in_base)
        if not parts:
            return None
    return _FewMatches(
        evidence.matched, evidence.counted, evidence.only_names, evidence.have_times, parts
    )


def _little_time_matched(comparison: Comparison, both: NDArray[np.bool_]) -> tuple[float, ...]:
    """Return how little of the time is matched if names were made by the runtime; usually nothing.

    A runtime may give operators of different models the same names, such as `r41_nchwc`. Other
    names show that operators belong together, even if most of the time was added or removed.
    """
    sides = (comparison.profile, comparison.base)
    shares = [side.share_of(both) for side in sides]
    if not all(
        side.origin.renaming and share < _LEAST_TIME
        for side, share in zip(sides, shares, strict=True)
    ):
        return ()
    return tuple(shares)

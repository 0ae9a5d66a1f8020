"""Notes on a comparison: what both sides have in common, and whether they ran one model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple

import numpy as np

from profile_analyze.comparison.iteration_counts import factor_of_calls
from profile_analyze.comparison.matching_evidence import evidence_of, factor_of_computation
from profile_analyze.model.findings import BASELINE
from profile_analyze.model.notes import Importance, Note, TextNote
from profile_analyze.model.numbers import over_runs, ratio, totals_of_chosen
from profile_analyze.model.origin import FORMAT_SEPARATOR
from profile_analyze.model.terms import DEVICE
from profile_analyze.units import counted, percent, small_percent, three_digits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from profile_analyze.comparison.comparison import Comparison
    from profile_analyze.comparison.matching_evidence import Evidence
    from profile_analyze.model.joining.run_copies import SharedRuns
    from profile_analyze.model.profile import Profile

_SAME_RUNS: Final = "the same runs are compared with themselves"
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

    found: str
    """What shows this, with numbers, such as `only 3 of 90 operators matched`."""
    meaning: str
    """What this probably means, such as `these look like different models`."""
    advice: str
    kind: Literal["runs", "iterations", "models"]
    """What does not fit together: the same runs are on both sides, the numbers of iterations in a
    run differ, or the models differ."""
    is_certain: bool = True
    """Whether verdicts on changes are left out. If not, the sides may well be of one model."""

    def __str__(self) -> str:
        return f"{self.found}: {self.meaning}"


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
    return Mismatch(
        ", and ".join(_shared_files(shared)),
        f"probably copies, so {_SAME_RUNS}" if shared.copies else _SAME_RUNS,
        "name other files for one side",
        kind="runs",
    )


def _shared_files(shared: SharedRuns) -> Iterator[str]:
    """Yield which files are on both sides under one name, and which under two names."""
    named, copies = shared.named, shared.copies
    if named:
        yield f"{counted(len(named), 'file')} on both sides, such as {named[0]}"
    if shared.processes == len(copies) == 1:
        yield f"{copies[0][0]} has exactly the times of {copies[0][1]} of the baseline"
    elif copies:
        others = "a file" if len(copies) == 1 else "files"
        yield (
            f"{len(copies)} of {shared.processes} files with exactly the times of {others} of the "
            f"baseline, such as {' and '.join(copies[0])}"
        )


def notes_on_sides(comparison: Comparison) -> Iterator[Note]:
    """Yield the notes on how the two sides fit together."""
    if same_runs := _same_runs(comparison):
        yield TextNote(str(same_runs), Importance.ANSWER)
    mismatch = comparison.mismatch
    if mismatch is not None and mismatch.kind == "iterations":
        yield TextNote(f"{mismatch}; {mismatch.advice}", Importance.ANSWER)
    if _have_different_formats(comparison):
        yield TextNote(
            f"the two sides are of different formats: {_formats(comparison.profile)} in the "
            f"profile, {_formats(comparison.base)} in the baseline; their times may differ in kind",
            Importance.ANSWER,
        )
    yield from _notes_on_matching(comparison)


def _unlike_runs(comparison: Comparison) -> Mismatch | None:
    """Return a mismatch if the runs of one side do not belong together; None otherwise."""
    for side, name in ((comparison.profile, "profile"), (comparison.base, "baseline")):
        if what := side.unlike:
            return Mismatch(
                f"the runs of the {name} have few operators in common",
                f"these look like {what}",
                "name runs of one model on each side",
                kind="models",
            )
    return None


def _other_iterations(comparison: Comparison) -> Mismatch | None:
    """Return a mismatch that says how much more often operators were called; None if as often."""
    found = factor_of_calls(comparison.profile, comparison.base)
    if found is None:
        return None
    is_whole = found.factor.is_integer()
    factor = f"{found.factor:.0f}" if is_whole else three_digits(found.factor)
    return Mismatch(
        f"operators with {percent(found.share)} of the time were called "
        f"{factor} times as often in a run as in the baseline",
        "the sides probably have different numbers of iterations in a run",
        "record equally many iterations on both sides; if both sides have a module or region for "
        "each iteration, --step-region NAME makes each execution of it a run",
        kind="iterations",
    )


def _have_different_formats(comparison: Comparison) -> bool:
    profile, base = (
        set(side.origin.format.split(FORMAT_SEPARATOR))
        for side in (comparison.profile, comparison.base)
    )
    return profile != base


def _formats(side: Profile) -> str:
    """Return the formats of the files of a side: `A`, `A and B`, or `A, B and C`."""
    *others, last = side.origin.format.split(FORMAT_SEPARATOR)
    return " and ".join(filter(None, (", ".join(others), last)))


def _notes_on_matching(comparison: Comparison) -> Iterator[Note]:
    """Yield a note if some operators are not matched."""
    if other_model := _other_model(comparison):
        by_kind = "--aggregate-by type compares them by kind"
        if _have_different_formats(comparison):
            # Types of different formats are hardly ever equal.
            by_kind = f"{other_model.advice}; --aggregate-by category compares them by kind"
        yield TextNote(f"{other_model}; {by_kind}", Importance.ANSWER)
        return
    in_profile, in_base = comparison.on_sides()
    both = int((in_profile & in_base).sum())
    added, removed = int((~in_base).sum()), int((~in_profile).sum())
    if added or removed:
        added_share = comparison.profile.share_of(~in_base)
        removed_share = comparison.base.share_of(~in_profile)
        largest = max(np.nan_to_num([added_share, removed_share]).tolist())
        yield TextNote(
            f"{counted(both, 'operator')} matched with the baseline, "
            f"{added} added{_details(comparison.profile, ~in_base, 'the time')}, "
            f"{removed} removed{_details(comparison.base, ~in_profile, 'the time of the baseline')}"
            f"; {_unmatched_advice(comparison)}",
            Importance.ANSWER if largest >= _MUCH_UNMATCHED else Importance.CONTEXT,
        )


def _details(side: Profile, chosen: NDArray[np.bool_], whole: str) -> str:
    """Return the share of `whole` that operators take, and how many have no time, in brackets.

    The verdicts of the summary count only operators with a time. Empty if there is nothing to say.
    """
    share, without = side.share_of(chosen), chosen & ~side.recorded(DEVICE)
    of_time = f"{small_percent(share)} of {whole}" if share > 0 else ""
    # If all operators are without a time, another note says so.
    some = without.any() and side.recorded(DEVICE).any()
    without_time = f"{int(without.sum())} without a device time" if some else ""
    details = ", ".join(filter(None, (of_time, without_time)))
    return f" ({details})" if details else ""


def _other_model(comparison: Comparison) -> Mismatch | None:
    """Return a mismatch that says how few operators match; None if enough of them match.

    None also if operators that hold a graph take most of the time of a side.
    """
    if _is_mostly_held(comparison.profile) or _is_mostly_held(comparison.base):
        return None
    found = _few_matches(comparison)
    if not found:
        return None
    if _have_different_formats(comparison):
        return _other_model_of_format(comparison, found)
    meaning = f"these {'are' if comparison.matches_none else 'look like'} different models"
    return Mismatch(found, meaning, "name profiles of the same model on both sides", kind="models")


def _unmatched_advice(comparison: Comparison) -> str:
    sides = (comparison.profile, comparison.base)
    if any(side.operators.hold_graphs.any() for side in sides):
        return "operators inside of a graph that runs as one node cannot match"
    return "the column match says how"


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


def _other_model_of_format(comparison: Comparison, found: str) -> Mismatch:
    """Return the mismatch of two formats of which few operators match.

    It is certain if the computation differs too much for one model with inputs of one size.
    """
    factor = factor_of_computation(comparison)
    larger, smaller = "profile", "baseline"
    if factor < 1:
        factor, larger, smaller = 1 / factor, smaller, larger
    if not factor > _OTHER_WORK:  # NaN is not
        advice = "check that both sides are of one model"
        meaning = "these may be different models"
        return Mismatch(found, meaning, advice, kind="models", is_certain=False)
    return Mismatch(
        f"{found}, and a run of the {larger} computes {three_digits(factor)} times as much as a "
        f"run of the {smaller}",
        "these are different models, or their inputs or iterations differ",
        "name profiles of one model, with equal inputs and equally many iterations in a run",
        kind="models",
    )


def _few_matches(comparison: Comparison) -> str:
    """Return how few operators match, with numbers; empty if enough of them match."""
    if comparison.matches_none:
        if _have_different_formats(comparison):
            return "no operator matches between the two formats"
        return "no operator of the baseline was matched, so all are added or removed"
    evidence = evidence_of(comparison)
    takes = ""
    if evidence.matched >= _LEAST_SHARED * evidence.counted:
        in_profile, in_base = comparison.on_sides()
        takes = _little_time_matched(comparison, in_profile & in_base)
        if not takes:
            return ""
    return _matches_in_words(evidence, takes)


def _matches_in_words(evidence: Evidence, takes: str) -> str:
    """Return how few operators match, what share of the time they take, and what does not count."""
    few = f"only {evidence.matched}" if evidence.matched else "none"
    operators = counted(evidence.counted, "operator")
    with_time = " with a device time" if evidence.have_times else ""
    names = counted(evidence.only_names, "operator")
    nor = f", nor {names} with the same name but other shapes" if evidence.only_names else ""
    return (
        f"{few} of {operators}{with_time} matched with the baseline{takes}, "
        f"not counting constants and other bookkeeping{nor}"
    )


def _little_time_matched(comparison: Comparison, both: NDArray[np.bool_]) -> str:
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
        return ""
    ours, base = map(percent, shares)
    return f", with {ours} of the time and {base} of the time of the baseline"

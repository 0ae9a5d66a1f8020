"""Notes on a comparison: what both sides have in common, and whether they ran one model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from profile_analyze.model.notes import Importance, Note
from profile_analyze.model.run_copies import digests_of
from profile_analyze.model.terms import CONTROL
from profile_analyze.units import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from profile_analyze.model.comparison import Comparison
    from profile_analyze.model.profile import Profile

SAME_RUNS: Final = "the same runs are compared with themselves"
_LEAST_SHARED: Final = 0.25
"""If a smaller share of the operators is matched, the two sides look like different models. The
share is relative to the side with fewer operators. Graph optimisation leaves about this share of
the operators unchanged."""


class Mismatch(NamedTuple):
    """Why a change between the two sides means nothing."""

    found: str
    """What the two sides have in common, with numbers."""
    meaning: str
    """What this probably means, such as `these look like different models`."""
    advice: str

    def __str__(self) -> str:
        return f"{self.found}: {self.meaning}"


def mismatch_of(comparison: Comparison) -> Mismatch | None:
    """Return why a change between the two sides means nothing; usually None.

    There is a mismatch if the sides have files in common, or if they are runs of different models.
    Few matches do not count as a mismatch in two cases:

    - The formats differ. Few operators may then match even if the model is the same.
    - The sides are models that have not run. They are often compared to choose one of two designs.
    """
    if same_runs := _same_runs(comparison):
        return same_runs
    if _have_different_formats(comparison) or comparison.profile.model is not None:
        return None
    return _other_model(comparison)


def notes_of(base: Profile) -> Iterator[Note]:
    """Return the notes on the baseline."""
    return (note.about("baseline") for note in (*base.notes, *base.notes_on_runs))


def _same_runs(comparison: Comparison) -> Mismatch | None:
    """Return a mismatch that says which files are on both sides; None if there are none."""
    shared = _shared_files(comparison)
    if not shared:
        return None
    return Mismatch(
        f"{counted(len(shared), 'file')} on both sides, such as {min(shared)}",
        SAME_RUNS,
        "name other files for one side",
    )


def notes_on(comparison: Comparison) -> Iterator[Note]:
    """Yield the notes on how the two sides fit together."""
    if same_runs := _same_runs(comparison):
        yield Note(str(same_runs), Importance.WRONG)
    if _have_different_formats(comparison):
        yield Note(
            f"the two sides are of different formats, {comparison.profile.origin.format} and "
            f"{comparison.base.origin.format}: their times may differ in kind",
            Importance.WRONG,
        )
    yield from _notes_on_matching(comparison)


def _shared_files(comparison: Comparison) -> set[str]:
    """Return the names of the files that are on both sides.

    Files with the same name but different recorded times count as different files. For example, the
    names of two URLs are the same if only their query strings differ.
    """
    sides = comparison.profile, comparison.base
    if not {*sides[0].processes} & {*sides[1].processes}:
        return set()
    ours, theirs = ({*zip(side.processes, digests_of(side), strict=True)} for side in sides)
    return {name for name, _ in ours & theirs}


def _have_different_formats(comparison: Comparison) -> bool:
    return comparison.profile.origin.format != comparison.base.origin.format


def _notes_on_matching(comparison: Comparison) -> Iterator[Note]:
    """Yield a note if some operators are not matched."""
    if other_model := _other_model(comparison):
        # Types of different formats are hardly ever equal.
        kind = "category" if _have_different_formats(comparison) else "type"
        yield Note(f"{other_model}; --aggregate-by {kind} compares them by kind", Importance.ANSWER)
        return
    in_profile, in_base = comparison.on_sides()
    both = int((in_profile & in_base).sum())
    added, removed = int((~in_base).sum()), int((~in_profile).sum())
    if added or removed:
        yield Note(
            f"{counted(both, 'operator')} matched with the baseline, {added} added, {removed} "
            "removed; the column match says how",
            Importance.CONTEXT,
        )


def _other_model(comparison: Comparison) -> Mismatch | None:
    """Return a mismatch that says how few operators match; None if enough of them match."""
    in_profile, in_base = comparison.on_sides()
    advice = "name profiles of the same model on both sides"
    if not (in_profile & in_base).any():
        found = "no operator of the baseline was matched, so all are added or removed"
        return Mismatch(found, "these are different models", advice)
    # Constants do not count, because constants of different models often match by their shapes.
    category = comparison.profile.operators.category
    works = ~category.where(one == CONTROL for one in category.categories)
    shared = int((in_profile & in_base & works).sum())
    fewest = min(int((side & works).sum()) for side in (in_profile, in_base))
    if shared >= _LEAST_SHARED * fewest:
        return None
    return Mismatch(
        f"{f'only {shared}' if shared else 'none'} of {counted(fewest, 'operator')} matched with "
        "the baseline, not counting constants and other bookkeeping",
        "these look like different models",
        advice,
    )

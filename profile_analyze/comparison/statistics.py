"""The names of verdicts, the number of runs that tests need, and the correction of p-values."""

from __future__ import annotations

from math import comb
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TypeAlias

    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]

LEAST_RUNS: Final = 4
"""The fewest runs of each side for a verdict. Three runs against three never give p < 0.1."""

SUGGESTED_RUNS: Final = 8
"""The number of runs of each side that messages advise. `docs/statistics.md` shows which changes
eight runs detect."""

SIGNIFICANT: Final = 0.05
"""A row counts as changed if its p, corrected for the number of rows, is at most this."""

FASTER: Final = "faster"
SLOWER: Final = "slower"
SAME: Final = "same"
UNCERTAIN: Final = "uncertain"
VERDICTS: Final = (FASTER, SLOWER, SAME, UNCERTAIN)


def too_few_runs(noun: str, runs: int, base_runs: int | None = None) -> str:
    """Return which side has too few runs for a verdict; empty if no side has too few.

    `noun` is the plural of what counts as a run. `base_runs` is None without a baseline.
    """
    if runs >= LEAST_RUNS and (base_runs is None or base_runs >= LEAST_RUNS):
        return ""
    of_required = f"of the {LEAST_RUNS} required {noun}"
    if base_runs is None or base_runs >= LEAST_RUNS:
        return f"only {runs} {of_required}"
    if runs >= LEAST_RUNS:
        return f"only {base_runs} {of_required} of the baseline"
    if runs == base_runs:
        return f"only {runs} {of_required} on each side"
    return f"only {runs} {of_required}, and {base_runs} of the baseline"


def least_p(runs: int, base_runs: int) -> float:
    """Return the smallest p that is possible with these numbers of runs on the two sides.

    p is the share of all assignments of runs to sides that are at least as extreme as the observed
    assignment, which counts itself. With equal numbers of runs, the assignment with the two sides
    swapped counts, too.
    """
    return (2 if runs == base_runs else 1) / comb(runs + base_runs, runs)


def by_known_runs(
    values: Floats, base: Floats
) -> Iterator[tuple[NDArray[np.int64], Floats, Floats]]:
    """Group the rows by how many runs each side has, such as 5 against 4. Yield each group.

    A group is the indices of its rows, the known values of `values`, and the known values of
    `base`. The values of each row are in ascending order. Runs with NaN do not count. Rows with
    fewer than `LEAST_RUNS` runs on a side are left out.
    """
    ours, theirs = np.sort(values, axis=1), np.sort(base, axis=1)  # NaN comes last
    # One number encodes both counts of a row; `divmod` decodes it.
    counts = (~np.isnan(ours)).sum(axis=1) * (base.shape[1] + 1) + (~np.isnan(theirs)).sum(axis=1)
    for count in sorted(set(counts.tolist())):
        n, m = divmod(count, base.shape[1] + 1)
        if min(n, m) >= LEAST_RUNS:
            rows = np.flatnonzero(counts == count)
            yield rows, ours[rows, :n], theirs[rows, :m]


def adjusted(p_values: Floats, weights: Floats | None = None) -> Floats:
    """Return p corrected for the number of rows, shape (rows,). NaN stays NaN and is not counted.

    This is the step-up procedure of Benjamini and Hochberg (1995). Take the rows whose corrected p
    is at most 0.05: on average, at most one in twenty of them differs only by chance. `weights`,
    which are 1 on average, divide p before the correction (Genovese, Roeder and Wasserman, 2006).
    """
    corrected = np.full(len(p_values), np.nan)
    rows = np.flatnonzero(~np.isnan(p_values))
    weighted = p_values[rows] if weights is None else p_values[rows] / weights[rows]
    descending = np.argsort(-weighted, kind="stable")
    rank = np.arange(len(rows), 0, -1)  # the largest p has the highest rank
    scaled = np.minimum(weighted[descending] * len(rows) / rank, 1)
    corrected[rows[descending]] = np.minimum.accumulate(scaled)
    return corrected

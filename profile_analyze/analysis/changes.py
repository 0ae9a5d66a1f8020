"""What has changed between a base and a profile: the columns of a comparison."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from profile_analyze.model.columns import AGGREGATED, Column

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from profile_analyze.analysis.statistics import Interval
    from profile_analyze.model.categorical import Categorical
    from profile_analyze.model.columns import Rows, Values
    from profile_analyze.model.comparison import Comparison

    Floats: TypeAlias = NDArray[np.float64]

BOTH: Final = "both"


def _comparison(rows: Rows) -> Comparison:
    assert rows.comparison is not None, "a column that needs a base was asked for without"
    return rows.comparison


def _base(rows: Rows) -> Values:
    return _comparison(rows).base(rows.side).chosen_s(rows.end_key)


def _difference(rows: Rows) -> Values:
    """What only one side has counts whole."""
    import numpy as np

    from profile_analyze.model.numbers import difference

    is_new, in_base = rows.on_sides
    both = difference(rows["time"], rows["base"])
    return np.where(in_base, np.where(is_new, both, -rows["base"]), rows["time"])


def _absolute_difference(rows: Rows) -> Values:
    values: Values = abs(rows["difference"])
    return values


def _change(rows: Rows) -> Values:
    from profile_analyze.model.numbers import difference, ratio

    return ratio(difference(rows["time"], rows["base"]), rows["base"])


def _ratio(rows: Rows) -> Values:
    from profile_analyze.model.numbers import ratio

    return ratio(rows["time"], rows["base"])


def _interval(rows: Rows) -> Interval:
    from profile_analyze.analysis.statistics import ratio_interval

    return ratio_interval(rows.per_run("time"), rows.per_run("base"))


def _p_value(rows: Rows) -> Values:
    from profile_analyze.analysis.statistics import adjusted, permutation_test

    return adjusted(permutation_test(rows.per_run("time"), rows.per_run("base")))


def _verdict(rows: Rows) -> Categorical[str]:
    import numpy as np

    from profile_analyze.analysis.statistics import VERDICTS, verdict_codes
    from profile_analyze.model.categorical import Categorical
    from profile_analyze.model.comparison import ADDED, REMOVED
    from profile_analyze.model.numbers import quantile_of_runs, ratio

    is_new, in_base = rows.on_sides
    times, base = rows.per_run("time"), rows.per_run("base")
    ratios = ratio(quantile_of_runs(times, 0.5), quantile_of_runs(base, 0.5))
    codes = verdict_codes(ratios, rows["p_value"], rows.once(_interval), rows.threshold)
    codes = np.where(in_base, codes, len(VERDICTS))
    return Categorical(np.where(is_new, codes, len(VERDICTS) + 1), (*VERDICTS, ADDED, REMOVED))


def _match_of_groups(rows: Rows) -> Categorical[str]:
    import numpy as np

    from profile_analyze.model.categorical import Categorical
    from profile_analyze.model.comparison import ADDED, REMOVED

    is_new, in_base = rows.on_sides
    return Categorical(np.where(in_base, np.where(is_new, 0, 2), 1), (BOTH, ADDED, REMOVED))


_column = partial(Column, needs_base=True)


def _same(name: str, unit: str, meaning: str, formula: Any, **more: Any) -> Column:
    """A column that is worked out in the same way for operators and for groups."""
    return _column(name, unit, meaning, formula, formula, **more)


COLUMNS: Final = (
    _column("base", "s", "the time in the base", _base, AGGREGATED, timed=True),
    _same(
        "difference",
        "s",
        "time - base; what only one side has counts whole",
        _difference,
        signed=True,
    ),
    _same("absolute_difference", "s", "the size of the difference", _absolute_difference),
    _same("change", "1", "(time - base) / base", _change, signed=True),
    _same("ratio", "", "time / base: above 1 is slower", _ratio),
    _same(
        "ratio_low",
        "",
        "the lower end of the 95 % interval of the ratio of medians",
        lambda rows: rows.once(_interval).low,
    ),
    _same(
        "ratio_high",
        "",
        "the upper end of the 95 % interval of the ratio of medians",
        lambda rows: rows.once(_interval).high,
    ),
    _same(
        "p_value",
        "",
        "how often chance alone would set the runs of the two sides apart as far, corrected for "
        "the number of rows",
        _p_value,
    ),
    _same(
        "verdict",
        "",
        "slower, faster, same, uncertain, added or removed; N/A with fewer than four runs a side, "
        "or a base of 0",
        _verdict,
        kind="text",
    ),
    _column(
        "match",
        "",
        "how the operator was matched with one of the base: by name or structure, or added, "
        "removed; of groups, which side has them: both, or added, removed",
        lambda rows: _comparison(rows).match,
        _match_of_groups,
        kind="text",
        is_key=True,
    ),
)
"""The columns that need a base."""

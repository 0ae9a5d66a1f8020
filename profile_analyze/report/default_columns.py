"""The columns that output formats show by default."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from profile_analyze.query.question import Query
    from profile_analyze.query.table import Table


def rates(query: Query, *, several_runs: bool) -> tuple[str, ...]:
    """The columns that formats show beside the time.

    There are more with peaks, with a baseline, and with several runs.
    """
    return (
        *compared_of(query),
        *varying(several_runs=several_runs),
        *("share", "computation", "flops", "memory", "bandwidth"),
        *judged_of(query),
    )


def compared_of(query: Query) -> tuple[str, ...]:
    """The columns on the difference to the baseline; none without one."""
    compared = ("base", "difference", "change", "ratio", "verdict") if query.compared else ()
    return tuple(name for name in compared if name not in query.by)


def judged_of(query: Query) -> tuple[str, ...]:
    """The columns on the distance to the roof; none without peaks."""
    judged = ("bound", "efficiency", "lost", "gain") if query.peaks else ()
    return tuple(name for name in judged if name not in query.by)


def varying(*, several_runs: bool) -> tuple[str, ...]:
    """The columns on how the time varies from run to run; none with one run."""
    return ("spread",) if several_runs else ()


def columns_of_groups(query: Query, *, several_runs: bool) -> tuple[str, ...]:
    """The default columns of groups, in formats where each has a column of its own."""
    return (*query.by, "count", *query.times, *rates(query, several_runs=several_runs))


def with_values(names: tuple[str, ...], table: Table) -> tuple[str, ...]:
    """Those of `names` that have a value in some row, and the group keys.

    Calls are added if operators have several in a run, and work if there are no times. If nothing
    would be left, as in a table without rows, all of `names` are kept.
    """
    candidates = _with_others(names, table)
    left = tuple(name for name in candidates if table.has_values(name))
    if not left:
        return names
    return tuple(name for name in candidates if name in left or name in table.query.by)


def _with_others(names: tuple[str, ...], table: Table) -> tuple[str, ...]:
    calls = ("calls",) if table.several_calls else ()
    work = () if table.has_times else ("computation", "memory", "intensity")
    others = (*calls, *work)
    before = names.index("share") if "share" in names else len(names)
    return tuple(dict.fromkeys((*names[:before], *others, *names[before:])))

"""Which columns formats show by themselves, unless others are asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from profile_analyze.query.question import Query
    from profile_analyze.query.table import Table


def rates(query: Query, *, several_runs: bool) -> tuple[str, ...]:
    """What formats show of a row beside its time.

    More where there are peaks or a base to compare with, and where the time varies from run to run.
    """
    return (
        *compared_of(query),
        *varying(several_runs=several_runs),
        *("share", "computation", "flops", "memory", "bandwidth"),
        *judged_of(query),
    )


def compared_of(query: Query) -> tuple[str, ...]:
    """What is shown of how far a row is from its base; nothing without one."""
    compared = ("base", "difference", "change", "ratio", "verdict") if query.compared else ()
    return tuple(name for name in compared if name not in query.by)


def judged_of(query: Query) -> tuple[str, ...]:
    """What is shown of how far a row is from its roof; nothing without peaks."""
    judged = ("bound", "efficiency", "lost", "gain") if query.peaks else ()
    return tuple(name for name in judged if name not in query.by)


def varying(*, several_runs: bool) -> tuple[str, ...]:
    """What is shown of how a row's time varies from run to run; nothing where there is one run."""
    return ("spread",) if several_runs else ()


def columns_of_groups(query: Query, *, several_runs: bool) -> tuple[str, ...]:
    """What formats with a column for each show of groups."""
    return (*query.by, "count", *query.times, *rates(query, several_runs=several_runs))


def with_values(names: tuple[str, ...], table: Table) -> tuple[str, ...]:
    """Those of `names` that have a value in some row, and what groups are by.

    Also the calls, where operators have several in a run, and the work where there are no times.
    All of `names` where nothing would be left, as in a table without rows.
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

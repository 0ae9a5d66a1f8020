"""Answers a question about a profile or a comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from profile_analyze.columns.column import LabelOf
from profile_analyze.columns.derived_columns import part_of_label
from profile_analyze.errors import QueryError
from profile_analyze.model.joining.labels import label_of
from profile_analyze.model.levels.levels import at_level
from profile_analyze.model.levels.splitting import split
from profile_analyze.model.profile import Profile
from profile_analyze.model.terms import ABSENT, LABEL, OPERATOR
from profile_analyze.query.arranging import in_order
from profile_analyze.query.filters import evaluate, meeting_all, select
from profile_analyze.query.group_rows import GroupRows
from profile_analyze.query.grouping import Grouping
from profile_analyze.query.notes.answer import findings_on
from profile_analyze.query.notes.filters import group_findings
from profile_analyze.query.notes.sums import split_sum_findings
from profile_analyze.query.order import Order
from profile_analyze.query.rows import OperatorRows
from profile_analyze.query.shown_rows import ShownRows
from profile_analyze.query.table import Asked, Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from profile_analyze.comparison.comparison import Comparison
    from profile_analyze.query.filters import Unjudged
    from profile_analyze.query.question import Query


def run(query: Query, source: Profile | Comparison) -> Table:
    """Return the answer to `query` about a profile or a comparison.

    Raises `QueryError` if `source` cannot answer the question.
    """
    if query.compared != (not isinstance(source, Profile)):
        wanted = "a comparison, from compare()" if query.compared else "a profile"
        raise QueryError(f"compared: this question needs {wanted}; got {source!r}")
    whole = _at_level(source, query)
    operators = OperatorRows(_split(whole, query), query)
    profile = operators.profile
    selection = select(query, operators)
    rows, candidates, unjudged_groups = _rows(operators, selection.operators)
    ordered = in_order(_orders(query, profile), rows, candidates)
    if query.has_default_order and isinstance(rows, OperatorRows):
        ordered = _idle_last(profile, ordered)
    shown = ShownRows(rows, ordered[: query.top or None])
    asked = Asked(
        query,
        shown,
        recorded=selection.recorded,
        matched=len(selection.operators),
        without_times=selection.not_recorded,
        without_memory=int(np.isnan(profile.operators.memory[selection.operators]).sum()),
    )
    return Table(
        kind=query.kind,
        values=shown,
        size=len(shown.sizes),
        available=len(candidates),
        notes=(
            *profile.notes,
            *profile.notes_on_runs,
            *(() if isinstance(source, Profile) else source.notes),
            *split_sum_findings(whole if isinstance(whole, Profile) else whole.profile, operators),
            *findings_on(operators, rows, shown, selection),
            *(
                group_findings(rows, unjudged_groups, len(candidates))
                if isinstance(rows, GroupRows)
                else ()
            ),
        ),
        asked=asked,
    )


def _rows(
    operators: OperatorRows, selected: NDArray[np.int64]
) -> tuple[OperatorRows | GroupRows, NDArray[np.int64], Unjudged]:
    """Return the rows of the question, the indices of those to show, and `Selection.unjudged`."""
    query = operators.query
    if not query.grouped:
        return operators, selected, ()
    groups = GroupRows(operators, Grouping.of(selected, [operators[key] for key in query.by]))
    evaluated = evaluate(query.group_conditions, groups)
    matching, unjudged = meeting_all(evaluated, np.ones(len(groups.sizes), np.bool_))
    return groups, np.flatnonzero(matching), unjudged


def _orders(query: Query, profile: Profile) -> tuple[Order, ...]:
    """Return the order of `query`, or else the default order.

    - Without times, the default order is by work. A comparison is first ordered by the difference
      of the work. If the caller gave the size of tiles, the products of a model with the most work
      in full tiles come first.
    - In a comparison with times, rows with equal differences are ordered by time.
    """
    if query.has_default_order and profile.origin.times == ABSENT:
        has_tiles = profile.model is not None and profile.model.tile is not None
        of_tiles = ("tiled_macs",) if has_tiles else ()
        names = ("absolute_macs_difference",) if query.compared else of_tiles
        return tuple(
            Order(query.kind.find(name), unknown_before_zero=True)
            for name in (*names, "macs", "computation")
        )
    if query.has_default_order and query.compared:
        return (*query.parsed_order, Order(query.kind.find("time")))
    return query.parsed_order


def _idle_last(profile: Profile, in_order: NDArray[np.int64]) -> NDArray[np.int64]:
    """Move the operators of a model that a run never executes to the end."""
    never_runs = profile.never_run()[in_order]
    return np.concatenate((in_order[~never_runs], in_order[never_runs]))


def _at_level(source: Profile | Comparison, query: Query) -> Profile | Comparison:
    """Return `source` at the level of `query`. Raises `QueryError` if it has no such level."""
    if isinstance(source, Profile):
        return at_level(source, query.level, keep_nested=True)
    level = source.profile.level or OPERATOR
    if query.level not in (None, level):
        raise QueryError(
            f"level: the comparison has rows of level {level}, not {query.level}; pass the level "
            "to compare()"
        )
    return source


def _split(source: Profile | Comparison, query: Query) -> Profile | Comparison:
    """Return `source` with its operators split by the keys of `query`."""
    if isinstance(source, Profile):
        return split(_with_parts_of_labels(source, query), query.split_by)
    return source.split(query.split_by)


def _with_parts_of_labels(profile: Profile, query: Query) -> Profile:
    """Return the profile with a label for each key such as `label.date~^[0-9]+`."""
    labels = dict(profile.labels)
    for key in query.split_by:
        rule = query.kind.find(key).of_operators if key.startswith(LABEL) else None
        if isinstance(rule, LabelOf) and rule.pattern:
            whole = label_of(profile, rule.key.removeprefix(LABEL))
            labels[key.removeprefix(LABEL)] = part_of_label(whole, rule)
    return profile.changed(labels=labels) if len(labels) > len(profile.labels) else profile

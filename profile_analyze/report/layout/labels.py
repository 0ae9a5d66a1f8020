"""Labels of times and of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from profile_analyze.model.measures import MEASURES
from profile_analyze.model.terms import TOP
from profile_analyze.units import NOT_AVAILABLE

if TYPE_CHECKING:
    from profile_analyze.query.table import Table

_ALL_OPERATORS: Final = "all"
"""The label of the single group if there is no group key."""


def time_title(table: Table) -> str:
    """Return which kind of time a table shows: `device self time`, `host wait time`."""
    title = MEASURES[table.query.measure].title
    # The time of an outermost operator includes the operators inside it, so "self" would be wrong.
    return title.replace("self ", "") if table.level == TOP else title


def row_labels(table: Table) -> list[tuple[str, ...]]:
    """Return the label of each row: name, type and id. For groups: the keys, the count and N/A."""
    if not table.query.grouped:
        return list(zip(*(table.texts(name) for name in ("name", "type", "id")), strict=True))
    keys = [table.key_texts(key) for key in table.query.by] or [[_ALL_OPERATORS] * len(table)]
    counts = map(str, table["count"].tolist())
    # As in the tables of the original tool, the last text is the id. Groups have no id.
    return list(zip(*keys, counts, [NOT_AVAILABLE] * len(table), strict=True))


def join_keys(label: tuple[str, ...]) -> tuple[str, str, str]:
    """Return a label of `row_labels` with all group keys in one text."""
    *keys, second, third = label
    return ", ".join(keys), second, third

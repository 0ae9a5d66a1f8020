"""Conditions on labels, such as `date >= 2026-11-01`. They choose runs, not operators."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from profile_analyze.columns.kinds import RowKind
from profile_analyze.errors import QueryError
from profile_analyze.model.joining.iterations import only_runs
from profile_analyze.model.joining.labels import labels_of_runs
from profile_analyze.model.terms import LABEL
from profile_analyze.query.conditions import Condition, check_contradictions

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from profile_analyze.model.profile import Profile


def is_about_label(text: str, labels: Iterable[str]) -> bool:
    """Return whether a condition is about one of `labels`, such as `date == 2026-11-01`."""
    name = re.match(rf"\s*(?:{re.escape(LABEL)})?(\w+)", text)
    return name is not None and name[1] in labels


def parse_label_conditions(texts: Iterable[str], labels: Sequence[str]) -> tuple[Condition, ...]:
    """Parse conditions on labels. Raises `QueryError` for a wrong condition."""
    kind = RowKind(None, split_by=tuple(map(LABEL.__add__, labels)), labels=tuple(labels))
    conditions = tuple(Condition.parse(text, kind) for text in dict.fromkeys(texts))
    for one in conditions:
        if not one.column.is_label:
            known = ", ".join(labels)
            raise QueryError(
                f"'{one.text}': {one.column.name} is not a label; the labels are {known}"
            )
    check_contradictions(conditions)
    return conditions


def name_of(condition: Condition) -> str:
    """Return the name of the label that a condition is about."""
    return condition.column.export_name


def meets_all(values: Mapping[str, str | None], conditions: Iterable[Condition]) -> bool:
    """Return whether a file with these labels meets all conditions. N/A meets no condition."""
    for condition in conditions:
        value = values[name_of(condition)]
        if value is None or not all(condition.holds_for([value])):
            return False
    return True


def runs_with_labels(profile: Profile, where: str | Iterable[str]) -> Profile:
    """Return the profile with only the runs whose labels meet `where`: one condition, or several.

    Raises `QueryError` for a wrong condition, or if no run meets all conditions.
    """
    texts = (where,) if isinstance(where, str) else tuple(where)
    return runs_meeting(profile, parse_label_conditions(texts, tuple(profile.labels)))


def runs_meeting(profile: Profile, conditions: Iterable[Condition]) -> Profile:
    """Return the profile with only the runs that meet all conditions on labels.

    Raises `QueryError` if no run is left.
    """
    keeps = np.ones(len(profile.runs), np.bool_)
    for condition in conditions:
        values = labels_of_runs(profile, name_of(condition))
        keeps &= values.where(condition.holds_for(values.categories))
    if not keeps.any():
        raise QueryError(f"no run meets {' and '.join(one.text for one in conditions)}")
    return profile if keeps.all() else only_runs(profile, np.flatnonzero(keeps))

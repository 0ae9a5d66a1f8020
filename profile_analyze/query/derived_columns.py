"""Computes columns that take a part of another column, such as `param.stride_h` or `scope/2`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from profile_analyze.model.categorical import Categorical
from profile_analyze.model.columns import FirstOf, PartOf
from profile_analyze.query.catalog import find_column
from profile_analyze.query.patterns import parts

if TYPE_CHECKING:
    from profile_analyze.model.columns import Parameter
    from profile_analyze.model.rows import OperatorRows


def derived_values(rule: Parameter | PartOf | FirstOf, rows: OperatorRows) -> Categorical[Any]:
    """Return the column that `rule` describes, shape (operators,).

    It is N/A where the other column is N/A or has no such part.
    """
    if isinstance(rule, PartOf):
        return _pattern_parts(rule, rows)
    if isinstance(rule, FirstOf):
        paths: Categorical[tuple[str, ...]] = rows[rule.column]
        return paths.mapped(lambda path: path[: rule.levels])
    return rows.profile.operators.categorical("parameters").mapped(
        lambda parameters: dict(parameters).get(rule.name)
    )


def _pattern_parts(rule: PartOf, rows: OperatorRows) -> Categorical[str]:
    values = rows[rule.column]
    if not isinstance(values, Categorical):  # the ids of some formats are integers
        values = Categorical.of(values.tolist())
    as_text = find_column(rule.column).as_text
    matched = parts(rule.pattern, map(as_text, values.categories))
    # `mapped` goes through the categories in the same order as `matched`.
    return values.mapped(lambda _: next(matched))

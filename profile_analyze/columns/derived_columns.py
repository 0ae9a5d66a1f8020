"""Computes columns that take a part of another column, such as `param.stride_h` or `scope/2`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from profile_analyze.columns.catalog import find_column
from profile_analyze.columns.column import FirstOf, LabelOf, PartOf
from profile_analyze.columns.patterns import parts
from profile_analyze.model.categorical import Categorical

if TYPE_CHECKING:
    from profile_analyze.columns.column import Parameter
    from profile_analyze.columns.rows import OperatorRows


def derived_values(
    rule: Parameter | PartOf | FirstOf | LabelOf, rows: OperatorRows
) -> Categorical[Any]:
    """Return the column that `rule` describes, shape (operators,).

    A value is N/A if the value of the other column is N/A, or has no such part. A path with fewer
    levels than `FirstOf` asks for stays whole.
    """
    if isinstance(rule, PartOf):
        return _pattern_parts(rule, rows)
    if isinstance(rule, LabelOf):
        split_by = rows.profile.split_by
        part = f"{rule.key}~{rule.pattern}"
        # Rows may be split by the part itself, or by the whole label.
        return split_by[part] if part in split_by else part_of_label(split_by[rule.key], rule)
    if isinstance(rule, FirstOf):
        paths: Categorical[tuple[str, ...]] = rows[rule.column]
        return paths.mapped(lambda path: path[: rule.levels])
    return rows.profile.operators.categorical("parameters").mapped(
        lambda parameters: dict(parameters).get(rule.name)
    )


def part_of_label(values: Categorical[str], rule: LabelOf) -> Categorical[str]:
    """Return the parts of a label that the pattern of `rule` finds; without a pattern, `values`."""
    if not rule.pattern:
        return values
    matched = parts(rule.pattern, values.categories)
    return values.mapped(lambda _: next(matched))


def _pattern_parts(rule: PartOf, rows: OperatorRows) -> Categorical[str]:
    values = rows[rule.column]
    if not isinstance(values, Categorical):  # the ids of some formats are integers
        values = Categorical.of(values.tolist())
    as_text = find_column(rule.column).as_text
    matched = parts(rule.pattern, map(as_text, values.categories))
    # `mapped` goes through the categories in the same order as `matched`.
    return values.mapped(lambda _: next(matched))

"""The findings on filters: what they leave out, and what the user meant if they keep nothing."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import numpy as np

from profile_analyze.advice.conditions import PATTERN_OF, advice_on_missing
from profile_analyze.advice.names import similar_texts
from profile_analyze.columns.catalog import find_column
from profile_analyze.columns.column import PartOf
from profile_analyze.columns.parameter_columns import PARAMETER
from profile_analyze.columns.patterns import SUGGESTION_LIMIT_S, matches, meant_by_wildcards
from profile_analyze.errors import PatternError
from profile_analyze.model.categorical import distinct
from profile_analyze.model.findings import Finding, Kind, on_operators
from profile_analyze.model.levels.owned_work import leaves_work_inside
from profile_analyze.model.measures import MEASURES
from profile_analyze.model.terms import ABSENT, LEVELS
from profile_analyze.query.conditions import Condition
from profile_analyze.query.meant import Meant, meant_pattern
from profile_analyze.query.missing_times import no_times
from profile_analyze.query.time_shares import share_of
from profile_analyze.units import parse_quantity, suitable_unit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from profile_analyze.model.profile import Profile
    from profile_analyze.query.filters import Selection, Unjudged
    from profile_analyze.query.group_rows import GroupRows
    from profile_analyze.query.question import Query
    from profile_analyze.query.rows import OperatorRows

ON_CONDITION: Final = ("unmatched-value", "unmatched-number", "unjudged-condition")
"""The codes of findings on one condition, the most helpful first if it keeps no operator."""
_MOST_SUGGESTIONS: Final = 8
"""The largest number of names in one suggestion."""


def filter_findings(operators: OperatorRows, selection: Selection) -> Iterator[Finding]:
    """Yield the findings on what filters leave out, and on texts that match nothing."""
    query, profile = operators.query, operators.profile
    yield from _unknown_types(query, profile)
    yield from _input_dtypes(query, operators, selection)
    for condition, left_out in selection.unjudged:
        if left_out.any():
            is_all = bool(left_out[operators.recorded].all())
            share = share_of(operators, left_out)
            yield _unjudged(condition, left_out, "operator", is_all=is_all, share=share)
    if len(selection.operators):
        yield from wildcard_findings(query)
    yield from _unmatched_values(query, operators)


def empty_findings(operators: OperatorRows, selection: Selection) -> Iterator[Finding]:
    """Yield the findings on conditions on numbers, on parameters, and on an answer without rows."""
    query, profile = operators.query, operators.profile
    yield from _numbers(query.conditions, operators, selection.candidates)
    yield from _unknown_parameters(query, profile)
    yield from _empty_answer(query, profile, selection)
    # In a comparison, it is enough if the time of the baseline is within the limits.
    if not len(selection.operators):
        yield from _numbers(_time_limits(query), operators, operators.recorded)


def group_findings(rows: GroupRows, unjudged: Unjudged, matching: int) -> Iterator[Finding]:
    """Yield findings on conditions that filter groups. `matching` groups meet them all."""
    groups = len(rows.sizes)
    yield from _numbers(rows.query.group_conditions, rows, np.ones(groups, np.bool_))
    yield from row_findings(unjudged, groups, matching, "group")


def row_findings(unjudged: Unjudged, rows: int, matching: int, noun: str) -> Iterator[Finding]:
    """Yield findings on conditions that filter rows of any kind. `noun` says what they are."""
    for condition, left_out in unjudged:
        if left_out.any():
            yield _unjudged(condition, left_out, noun, is_all=bool(left_out.all()))
    if rows and not matching:
        yield Finding.of(
            *("nothing-matches", Kind.ANSWER),
            rows=rows, noun=noun, side="", untimed=0, inside=False,
        )  # fmt: skip


def _unknown_types(query: Query, profile: Profile) -> Iterator[Finding]:
    known = distinct(profile.operators.type) if query.types else []
    for name in query.types:
        if name not in known:
            yield _unknown_type(name, known, profile)


def _unknown_type(name: str, known: Sequence[str], profile: Profile) -> Finding:
    """Return what to write instead of an unknown type. `known` are the types at this level.

    The first rule that applies decides: the type is at another level, the text names several types,
    it is a pattern, a type is similar, a similar type is at another level, the most frequent types.
    """

    def of(
        *, level: str = "", other: str = "", pattern: str = "", meant: Sequence[str] = (),
        common: Sequence[str] = (),
    ) -> Finding:  # fmt: skip
        return Finding.of(
            *("unknown-type", Kind.ANSWER), type=name, rows_level=profile.level, level=level,
            other=other, pattern=pattern, meant=meant, common=common,
        )  # fmt: skip

    if level := _level_with_type(name, profile):
        return of(level=level)
    if "," in name:
        return of()
    if pattern := meant_pattern(name, known):
        return of(pattern=pattern)
    if near := similar_texts(name, known):
        return of(meant=near)
    others = distinct(profile.nested.operators.type) if profile.nested else ()
    for one in similar_texts(name, others):
        if level := _level_with_type(one, profile):
            return of(level=level, other=one)
    types = profile.operators.type
    counts = np.bincount(types.codes[types.codes >= 0])
    most_frequent = np.argsort(-counts, kind="stable")[:_MOST_SUGGESTIONS]
    return of(common=[types.categories[code] for code in most_frequent if counts[code]])


def _level_with_type(name: str, profile: Profile) -> str:
    """Return a level that has rows of a type.

    Empty if no level has them, or if `profile` has the rows of one level only.
    """
    if profile.nested is None:
        return ""
    operators = profile.nested.operators
    has_type = operators.type.where(one == name for one in operators.type.categories)
    levels = distinct(operators.level.take(np.flatnonzero(has_type)))
    return next((level for level in LEVELS if level in levels), "")


def _input_dtypes(query: Query, operators: OperatorRows, selection: Selection) -> Iterator[Finding]:
    """Yield findings on an input dtype that no input has, or that is unknown for operators."""
    if not query.input_dtype:
        return
    dtypes = operators.profile.operators.categorical("input_dtypes")
    known = sorted({dtype for inputs in dtypes.categories for dtype in inputs if dtype})
    if known and query.input_dtype not in known:
        meant = [one for one in known if _same_dtype(one, query.input_dtype)]
        peaks, dtype = query.peaks, query.input_dtype.lower()
        # The user may mean a peak rate.
        has_rate = peaks is not None and dtype in dict(peaks.flops)
        yield Finding.of(
            "unmatched-dtype",
            Kind.ANSWER,
            dtype=query.input_dtype,
            meant=meant,
            known=known,
            option=peaks.with_rate_of(dtype) if peaks is not None and has_rate else "",
        )
        if meant:  # a misspelt dtype says nothing about the inputs of unknown dtype
            return
    left_out = selection.unknown_dtype
    if count := int(left_out.sum()):
        share = share_of(operators, left_out)
        yield from on_operators(
            *("unjudged-dtype", Kind.INCOMPLETE), count, share, dtype=query.input_dtype
        )


def _same_dtype(one: str, other: str) -> bool:
    """Whether two names of dtypes have the same first letter and number, such as fp32, Float32."""
    first, second = (re.findall(r"^[a-z]|\d+", name.lower()) for name in (one, other))
    return first == second


def _unjudged(
    condition: Condition,
    left_out: NDArray[np.bool_],
    noun: str,
    *,
    is_all: bool,
    share: float = np.nan,
) -> Finding:
    """Return the finding on a condition whose column is N/A for rows: the mask `left_out`."""
    return Finding.of(
        "unjudged-condition",
        Kind.ANSWER if is_all else Kind.INCOMPLETE,
        share=share,
        condition=condition.text,
        rows=int(left_out.sum()),
        noun=noun,
        texts=condition.leaves_out_texts,
    )


def wildcard_findings(query: Query) -> Iterator[Finding]:
    """Yield a finding on each pattern that looks like a name with wildcards of a shell: `conv*`."""
    keys = (key.of_operators for key in query.by_columns)
    conditions = (*query.conditions, *query.group_conditions)
    for before, pattern in (
        ("", query.name or ""),
        *((f"{key.column}~", key.pattern) for key in keys if isinstance(key, PartOf)),
        *((f"{c.column.name} {c.operator} ", c.value) for c in conditions if "~" in c.operator),
    ):
        if meant := meant_by_wildcards(pattern):
            yield Finding.of(
                *("wildcards", Kind.ANSWER), pattern=before + pattern, meant=before + meant
            )


def _unmatched_values(query: Query, operators: OperatorRows) -> Iterator[Finding]:
    """Yield a finding on each condition whose text or pattern matches no value of its column."""
    for condition in query.conditions:
        if condition.column.kind == "number" or condition.compares_numbers:
            continue
        name = condition.column.name
        values = distinct(operators[name])
        if values and condition.matches_none(values):
            yield Finding.of(
                "unmatched-value",
                Kind.ANSWER,
                condition=condition.text,
                column=name,
                operator=condition.operator,
                value=condition.value,
                **_meant_by(condition, list(map(condition.column.as_text, values)))._asdict(),
                renaming=renaming_of(operators.profile, name),
            )


def _meant_by(condition: Condition, texts: Sequence[str]) -> Meant:
    """Return what is meant by a condition that matches none of the texts."""
    name, operator, text = condition.column.name, condition.operator, condition.value
    before = f"{name} {PATTERN_OF.get(operator, operator)} "
    if advice_on_missing(name, text, is_text=True):
        return Meant()
    if "~" in operator:
        return Meant.by_pattern(text, texts, before)
    if pattern := meant_pattern(text, texts):
        return Meant(("whole",), (f"'{before}{pattern}'",))
    similar = [f"'{one}'" if ", " in one else one for one in similar_texts(text, texts)]
    return Meant.similar(texts, similar)


def renaming_of(profile: Profile, column: str) -> str:
    """Return why the values of `column` have other names than in the program; often empty.

    If the runtime renames operators, users look for names that they know from the program.
    """
    return profile.origin.renaming if column == "name" else ""


def _numbers(
    conditions: Iterable[Condition], rows: OperatorRows | GroupRows, candidates: NDArray[np.bool_]
) -> Iterator[Finding]:
    """Yield findings on numeric conditions that keep no row of `candidates`.

    Rows whose value is N/A do not count. There is a finding on a condition whose number lacks its
    unit, such as `time < 5`, also if it keeps all rows.
    """
    of_operators = rows.operators is rows
    noun = "operator" if of_operators else rows.query.kind.noun.removesuffix("s")
    for condition in conditions:
        if condition.column.kind != "number":
            continue
        values = rows[condition.column.name][candidates]
        known = values[~np.isnan(values)]
        holds = condition.holds_for_numbers(known)
        if len(known) and holds.any() == holds.all():
            for_groups = rows.query.grouped and of_operators
            yield from _unmatched_number(condition, known, noun, for_groups=for_groups)


def _unmatched_number(
    condition: Condition, known: NDArray[np.float64], noun: str, *, for_groups: bool
) -> Iterator[Finding]:
    """Yield what is wrong with a condition that holds for all or for none of `known`, if clear."""
    is_met = bool(condition.holds_for_numbers(known).all())
    is_equality = condition.operator in ("==", "!=")
    is_above = condition.operator in (">", ">=")
    closest = None if is_met or is_equality else float(known.max() if is_above else known.min())
    unit = condition.assumed_unit if condition.bound else ""
    if not unit and closest is None:
        return
    meant = ""
    if unit:
        largest = float(known.max())
        with_unit = condition.value + ("%" if unit == "1" else suitable_unit(largest, unit))
        better = condition._replace(bound=parse_quantity(with_unit, unit))
        kept = better.holds_for_numbers(known)
        meant = with_unit if kept.any() and not kept.all() else ""
    column = condition.column
    yield Finding.of(
        "unmatched-number",
        Kind.ANSWER,
        condition=condition.text,
        limit_s=condition.bound if condition.text.startswith("--") else None,
        value=condition.value,
        bound=condition.bound,
        assumed_unit=unit,
        meets_all=is_met,
        meant=meant,
        largest=is_above,
        closest=closest,
        unit="%" if column.unit == "1" and column.shown_as == "percent" else column.unit,
        noun=noun,
        for_groups=for_groups,
    )


def _time_limits(query: Query) -> Iterator[Condition]:
    """Yield the limits of the time, `--min-time` and `--max-time`, as conditions."""
    for side, operator, limit in (("min", ">=", query.min_time_s), ("max", "<=", query.max_time_s)):
        if limit is not None:
            yield Condition(f"--{side}-time", find_column("time"), operator, f"{limit}s", limit)


def _unknown_parameters(query: Query, profile: Profile) -> Iterator[Finding]:
    """Yield a finding on each parameter in the question that no operator has."""
    names = (column.name for column in query.used)
    asked = dict.fromkeys(name for name in names if name.startswith(PARAMETER))
    if not asked:
        return
    parameters = profile.operators.categorical("parameters")
    known = {name for of_operator in parameters.categories for name, _ in of_operator}
    for name in asked:
        if name.removeprefix(PARAMETER) not in known:
            yield Finding.of("unknown-parameter", Kind.ANSWER, name=name, known=sorted(known))


def _empty_answer(query: Query, profile: Profile, selection: Selection) -> Iterator[Finding]:
    """Yield findings on an answer without rows.

    Either the profile has no times on this side, or no operator passes the filters.
    """
    side = MEASURES[query.measure].side
    if not selection.recorded:
        yield no_times(profile, side)
    elif not len(selection.operators):
        untimed = selection.not_recorded
        yield Finding.of(
            "nothing-matches",
            Kind.ANSWER,
            rows=selection.recorded,
            noun="operator",
            side="" if profile.origin.times == ABSENT else side,
            untimed=len(untimed),
            inside=bool(leaves_work_inside(profile.operators)[untimed].any()),
        )
        if query.name:
            yield from _unmatched_name(query.name, profile)


def _unmatched_name(pattern: str, profile: Profile) -> Iterator[Finding]:
    """Yield a finding if `pattern`, which selects operators by name, matches no name."""
    names = profile.operators.name.categories
    with suppress(PatternError):
        if not any(matches(pattern, names, limit_s=SUGGESTION_LIMIT_S)):
            yield Finding.of(
                "unmatched-name",
                Kind.ANSWER,
                pattern=pattern,
                **Meant.by_pattern(pattern, names, from_start=True)._asdict(),
                renaming=renaming_of(profile, "name"),
            )

"""The question: a plain value, checked when it is made, before any file is read."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, fields
from math import inf, isinf, isnan
from numbers import Real
from operator import index
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from profile_analyze.errors import QueryError, UnknownColumnError
from profile_analyze.model.columns import DEFAULT_ORDER, RUN_STATISTICS, RowKind
from profile_analyze.model.measures import MEASURES
from profile_analyze.model.terms import LEVELS, RUN_KEYS, SPLIT_KEYS, UNITS
from profile_analyze.query.aggregates import (
    AGGREGATES,
    COUNT,
    DEFAULT_AGGREGATE,
    canonical_name,
    find_aggregate,
)
from profile_analyze.query.catalog import (
    check_needs,
    columns_of,
    find_column,
    group_keys,
    orderable_names,
    split_names,
)
from profile_analyze.query.conditions import TIME_TOLERANCE_S, Condition, check_together
from profile_analyze.query.patterns import compile_pattern

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from profile_analyze.analysis.peaks import Peaks
    from profile_analyze.model.columns import Column
    from profile_analyze.model.iterations import Unit


ORDER_OF_CHANGES: Final = "absolute_difference"
DEFAULT_THRESHOLD: Final = 0.03


class Order(NamedTuple):
    """One column to sort by."""

    column: Column
    ascending: bool = False

    @classmethod
    def parse(cls, text: str, kind: RowKind) -> Order:
        """The order that `[+]COLUMN` stands for; `+` is ascending.

        Raises `UnknownColumnError` for a column that does not exist, `QueryError` for one that
        rows of that kind cannot be ordered by.
        """
        name = text.removeprefix("+")
        choices = ", ".join(orderable_names(kind))
        what = kind.noun
        if not name:
            raise QueryError(
                f"no column to order by in {text!r}; {what} can be ordered by {choices}"
            )
        try:
            column = find_column(name)
        except UnknownColumnError:
            raise UnknownColumnError(
                f"there is no column {name!r} to order by; {what} can be ordered by {choices}"
            ) from None
        check_needs(column, kind)
        if not (column.orderable and kind.has(column)):
            raise QueryError(
                f"{what} cannot be ordered by {name!r}; they can be ordered by {choices}"
            )
        return cls(column, text.startswith("+"))


class _Parsed:
    """What a question says, parsed once when it is made.

    These attributes follow from the fields of `Query` and are no fields themselves: equality, hash
    and `changed` ignore them.
    """

    by_columns: tuple[Column, ...]
    """The columns that `by` names."""
    conditions: tuple[Condition, ...]
    """The conditions of `where`."""
    group_conditions: tuple[Condition, ...]
    """The conditions of `having`."""
    parsed_order: tuple[Order, ...]
    """The columns of `order`, the most important first."""
    used: tuple[Column, ...]
    """The columns that the question names."""
    has_default_order: bool
    """Whether no order was asked for."""
    wanted: frozenset[str]
    """The optional columns that the answer needs, beside those that are to be shown."""


@dataclass(frozen=True, init=False)
class Query(_Parsed):
    """What is asked of a profile.

    Parameters
    ----------
    measure
        Which time is asked for: `time` (on the device), `host_time`, `wait` and `host_wait` (until
        the first kernel), `queue`, `self`; see `model.measures`.
    level
        What a row is, where the profile has several levels: `operator`, `top`, `kernel` or
        `module`. By default operators, or else the first level that it has. See `model.levels`.
    types
        Keep operators of this type, or of one of these; empty keeps all.
    name
        Keep operators whose name matches this regular expression, a text, from its start on.
    input_dtype
        Keep operators with an input of this dtype, such as `Float32`.
    min_time_s, max_time_s
        Keep operators that took at least, or at most, so many seconds (to half a nanosecond). In a
        comparison, the time in either the profile or the baseline counts.
    where
        Keep operators for which this holds, or all of these: `COLUMN OPERATOR VALUE`, such as
        `time > 1ms`, `share >= 5%`, `type != Copy`, `name ~ conv`. N/A passes no comparison.
    by
        Group by this column, or by several: `type`, `name`, `in_shapes`, `out_shapes`,
        `input_dtype`, `category`, `scope`, `parameters`, `bound` (with peaks), `match` (of a
        comparison), `param.NAME` (a parameter), and `name~REGEX`, the part of the name that the
        pattern finds. The keys `device`, `track`, `stream`, `rank`, `phase`, `file`, `run` and
        `step` are those of executions, and split operators. Rows are then groups, in order of first
        appearance. Operators without a value are a group of their own.
    aggregates
        How the values of a group become one: `sum` (the default with `by`), `mean`, `max`, `min`,
        `median`, `std`, `count`, or a percentile such as `p90`. The first one other than `count`
        applies to all columns. Each further one adds a column of the time, such as `time.p90`.
        Without `by` all operators are one group.
    having
        Keep groups for which this holds, or all of these, in the grammar of `where`.
    order
        The column to sort by, or several, the most important first: largest first, with a `+`
        before the name smallest first. N/A comes last, and ties keep the file's order.
    top
        Give only so many rows, the first ones; 0 gives all.
    peaks
        The peak rates to compare with, from `parse_peaks`. They add columns.
    run_statistic
        How the values of several runs become one: `median`, `mean`, `min` or `max`. A group's
        values are computed in each run first. Comparisons are of medians.
    split_by
        Split operators by these keys of executions. Keys in `by` or in conditions are added. With
        `run`, for example, each run has rows of its own.
    compared
        Whether the question is about a `Comparison`. It adds columns, and the default order is by
        the size of the difference.
    threshold
        The smallest change that the column `verdict` calls slower or faster, as a fraction of the
        baseline.
    unit
        What statistics count: `process`, each by the median of its runs, or `iteration`: each run,
        as if those of one process were independent.

    A text with commas stands for several keys, aggregates or columns.

    Raises
    ------
    QueryError
        When the question makes no sense, whatever the profile.
    """

    measure: str
    level: str | None
    types: tuple[str, ...]
    name: str | None
    input_dtype: str | None
    min_time_s: float | None
    max_time_s: float | None
    where: tuple[str, ...]
    by: tuple[str, ...]
    aggregates: tuple[str, ...]
    having: tuple[str, ...]
    order: tuple[str, ...]
    top: int
    peaks: Peaks | None
    run_statistic: str
    split_by: tuple[str, ...]
    compared: bool
    threshold: float
    unit: Unit

    def __init__(  # noqa: PLR0913  # all by keyword, most of them left out
        self,
        *,
        measure: str = DEFAULT_ORDER,
        level: str | None = None,
        types: str | Iterable[str] = (),
        name: str | None = None,
        input_dtype: str | None = None,
        min_time_s: float | None = None,
        max_time_s: float | None = None,
        where: str | Iterable[str] = (),
        by: str | Iterable[str] = (),
        aggregates: str | Iterable[str] = (),
        having: str | Iterable[str] = (),
        order: str | Iterable[str] | None = None,
        top: int = 0,
        peaks: Peaks | None = None,
        run_statistic: str = RUN_STATISTICS[0],
        split_by: str | Iterable[str] = (),
        compared: bool = False,
        threshold: float = DEFAULT_THRESHOLD,
        unit: Unit = "process",
    ) -> None:
        kind = RowKind((), peaks is not None, compared, split_by=SPLIT_KEYS)
        keys = {column.name: column for column in _group_keys(by, kind)}
        object.__setattr__(self, "has_default_order", order is None)
        if order is None:
            order = ORDER_OF_CHANGES if compared else DEFAULT_ORDER
        values = {
            "measure": measure,
            "level": level,
            "types": _texts("types", types),
            "name": name,
            "input_dtype": input_dtype,
            "min_time_s": min_time_s,
            "max_time_s": max_time_s,
            "where": tuple(dict.fromkeys(_texts("where", where))),
            "by": tuple(keys),
            "aggregates": _aggregates(aggregates) or ((DEFAULT_AGGREGATE,) if keys else ()),
            "having": tuple(dict.fromkeys(_texts("having", having))),
            "order": _names("order", order),
            "top": _count(top),
            "peaks": peaks,
            "run_statistic": run_statistic,
            "split_by": tuple(dict.fromkeys(_names("split_by", split_by) if split_by else ())),
            "compared": compared,
            "threshold": threshold,
            "unit": unit,
        }
        for field, value in values.items():
            object.__setattr__(self, field, value)
        self._check_kinds()
        self._check_choices()
        self._check_numbers()
        if self.name:
            compile_pattern(self.name)
        self._parse(tuple(keys.values()))
        self._split()
        self._check_runs()

    def _parse(self, keys: tuple[Column, ...]) -> None:
        """Set what `_Parsed` has."""
        keys_of_one_run = tuple(key for key in SPLIT_KEYS if key not in RUN_KEYS)
        possible = keys_of_one_run if self.compared else SPLIT_KEYS
        groups = self.kind._replace(split_by=possible)  # split by what is named
        conditions = _conditions("where", self.where, groups._replace(keys=None))
        group_conditions = _conditions("having", self.having, groups)
        order = tuple(Order.parse(text, groups) for text in self.order)
        used = (
            *keys,
            *(one.column for one in order),
            *(one.column for one in (*conditions, *group_conditions)),
        )
        wanted = {column.optional for column in used if column.optional}
        values = {
            "by_columns": keys,
            "conditions": conditions,
            "group_conditions": group_conditions,
            "parsed_order": order,
            "used": used,
            "wanted": frozenset(wanted | ({"input_dtypes"} if self.input_dtype else set())),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def _split(self) -> None:
        """Split by the keys of executions that the question names."""
        named = [column.base_name for column in self.by_columns if column.splits]
        named += [column.base_name for column in self.used if column.needs_split]
        split_by = dict.fromkeys((*self.split_by, *named))
        if "run" in split_by:  # a run has one file and one step
            split_by |= dict.fromkeys(RUN_KEYS)
        object.__setattr__(self, "split_by", tuple(split_by))

    def _check_runs(self) -> None:
        if not self.compared:
            return
        apart = [key for key in self.split_by if key in RUN_KEYS]
        if apart:
            raise QueryError(
                f"{apart[0]}: a comparison takes the runs of a side together, not one by one"
            )
        if self.run_statistic != RUN_STATISTICS[0]:
            raise QueryError(
                f"run_statistic: {self.run_statistic}: a comparison is of medians, as its verdicts "
                "are"
            )

    def _check_kinds(self) -> None:
        for field in ("name", "input_dtype"):
            value = getattr(self, field)
            if not isinstance(value, str | None):
                raise QueryError(f"{field}: {value!r} is not a text")
        if self.peaks is not None:
            from profile_analyze.analysis.peaks import Peaks

            if not isinstance(self.peaks, Peaks):
                raise QueryError(f"peaks: {self.peaks!r} are none; parse_peaks gives them")
        for field in ("min_time_s", "max_time_s"):
            value = getattr(self, field)
            if isinstance(value, str):
                raise QueryError(f"{field}: a number of seconds; parse_time reads {value!r}")
            if not isinstance(value, Real | None):
                raise QueryError(f"{field}: {value!r} is not a number of seconds")
        self._check_threshold()

    def _check_threshold(self) -> None:
        threshold: Any = self.threshold
        if not (isinstance(threshold, Real) and 0 <= float(threshold) < inf):
            raise QueryError(f"threshold: {threshold!r} is not a fraction such as 0.03")

    def _check_choices(self) -> None:
        choices = [
            ("measure", self.measure, tuple(MEASURES)),
            ("level", self.level, (None, *LEVELS)),
            ("run_statistic", self.run_statistic, RUN_STATISTICS),
            ("unit", self.unit, UNITS),
            *(("split_by", key, SPLIT_KEYS) for key in self.split_by),
        ]
        for field, value, allowed in choices:
            if value not in allowed:
                choice = ", ".join(filter(None, allowed))
                raise QueryError(f"{field}: {value!r} is not one of {choice}")
        if self.having and not self.grouped:
            raise QueryError("having: there are no groups; group by something, or use where")

    def _check_numbers(self) -> None:
        if self.top < 0:
            raise QueryError(f"top: {self.top} rows cannot be shown; 0 shows all")
        if any(bound is not None and isnan(bound) for bound in (self.min_time_s, self.max_time_s)):
            raise QueryError("a time to compare with cannot be NaN")
        self._check_range()

    def _check_range(self) -> None:
        """Raise `QueryError` if no time is at least the one, and at most the other."""
        low, high = self.min_time_s or 0.0, inf if self.max_time_s is None else self.max_time_s
        if isinf(low) and low > 0:
            raise QueryError("min_time_s: nothing takes infinitely long")
        if high < -TIME_TOLERANCE_S:
            raise QueryError(f"max_time_s: {high:g} s: nothing takes less than no time")
        if low - TIME_TOLERANCE_S > high + TIME_TOLERANCE_S:
            raise QueryError(
                f"min_time_s: {low:g} s is more than the most that is asked for, {high:g} s; "
                "nothing is between them"
            )

    @property
    def keys_of_one(self) -> tuple[str, ...]:
        """The keys of `by` that operators of any one profile have."""
        return tuple(
            column.name for column in self.by_columns if not (column.needs_base or column.splits)
        )

    @property
    def grouped(self) -> bool:
        """Whether the rows of the answer are groups, not operators."""
        return bool(self.aggregates)

    @property
    def keys(self) -> tuple[str, ...] | None:
        """The group keys, possibly none; None if rows are operators."""
        return self.by if self.grouped else None

    @property
    def kind(self) -> RowKind:
        """What the rows of the answer are."""
        return RowKind(self.keys, self.peaks is not None, self.compared, self.split_by)

    @property
    def aggregate(self) -> str:
        """The aggregate of every column of a group."""
        return next((name for name in self.aggregates if name != COUNT), DEFAULT_AGGREGATE)

    @property
    def times(self) -> tuple[str, ...]:
        """The columns of a group's time: `time`, and `time.p90` for what else was asked for."""
        others = (name for name in self.aggregates if name != self.aggregate)
        return (DEFAULT_ORDER, *(f"{DEFAULT_ORDER}.{name}" for name in others))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the answer's rows."""
        return columns_of(self.kind, self.times[1:])

    def changed(self, **changes: Any) -> Query:
        """A copy of the question with the fields in `changes` replaced."""
        asked = {one.name: getattr(self, one.name) for one in fields(self)}
        if self.has_default_order:
            asked["order"] = None
        return Query(**asked | changes)


def _aggregates(value: str | Iterable[str]) -> tuple[str, ...]:
    names = _names("aggregates", value)
    for name in names:
        if find_aggregate(name) is None:
            raise QueryError(f"aggregates: {name!r} is not one of {', '.join(AGGREGATES)}, pN")
    return tuple(dict.fromkeys(map(canonical_name, names)))


def _group_keys(by: str | Iterable[str], kind: RowKind) -> Iterator[Column]:
    return (_group_key(text, kind) for text in _names("by", by))


def _group_key(text: str, kind: RowKind) -> Column:
    with suppress(UnknownColumnError):
        column = find_column(text)
        if column.is_key:
            check_needs(column, kind)
            return column
    keys = ", ".join(group_keys())
    raise QueryError(f"by: {text!r} is not one of {keys}, param.NAME, name~REGEX")


def _conditions(field: str, texts: Iterable[str], kind: RowKind) -> tuple[Condition, ...]:
    try:
        conditions = tuple(Condition.parse(text, kind) for text in texts)
        check_together(conditions)
    except QueryError as error:
        raise QueryError(f"{field}: {error}") from None
    return conditions


def _names(field: str, value: str | Iterable[str]) -> tuple[str, ...]:
    """Several names; a text has them between commas."""
    return split_names(value) if isinstance(value, str) else _texts(field, value)


def _texts(field: str, value: str | Iterable[str]) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    try:
        texts = tuple(value)
    except TypeError:
        texts = (value,)  # type: ignore[assignment]  # to be refused
    if not all(isinstance(text, str) for text in texts):
        raise QueryError(f"{field}: {value!r} is neither a text nor several")
    return texts


def _count(value: int) -> int:
    try:
        return index(value)
    except TypeError:
        raise QueryError(f"top: {value!r} is not a number of rows") from None

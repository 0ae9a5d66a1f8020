"""The question that a call asks. It is checked when it is made, before any file is read."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Final

from profile_analyze.columns.aggregates import COUNT, DEFAULT_AGGREGATE
from profile_analyze.columns.column import DEFAULT_ORDER, RUN_STATISTICS
from profile_analyze.columns.kinds import RowKind
from profile_analyze.columns.patterns import compile_pattern
from profile_analyze.errors import QueryError
from profile_analyze.model.terms import LABEL, RUN_KEYS, SPLIT_KEYS, is_run_key
from profile_analyze.query.conditions import parse_conditions
from profile_analyze.query.order import parse_orders
from profile_analyze.query.question_fields import (
    check_values,
    group_key_columns,
    label_names,
    normalized_fields,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from profile_analyze.columns.column import Column
    from profile_analyze.model.joining.iterations import SampleUnit
    from profile_analyze.query.conditions import Condition
    from profile_analyze.query.order import Order
    from profile_analyze.roofline.peaks import Peaks

DEFAULT_THRESHOLD: Final = 0.03
"""The smallest change that counts as slower or faster by default: 3 % of the baseline."""


class _Parsed:
    """The attributes of a question that are computed from its fields when it is made.

    They are not fields themselves, so equality, hash and `changed` ignore them.
    """

    kind: RowKind
    """The kind of rows in the answer, which decides their columns."""
    by_columns: tuple[Column, ...]
    """The columns that `by` names."""
    conditions: tuple[Condition, ...]
    """The conditions of `where`."""
    group_conditions: tuple[Condition, ...]
    """The conditions of `having`."""
    parsed_order: tuple[Order, ...]
    """The columns of `order`, the most important first."""
    used: tuple[Column, ...]
    """All columns that the question names."""
    has_default_order: bool
    """Whether `order` was left out."""
    wanted: frozenset[str]
    """The optional columns of the profile that filters, groups and the order need. The columns that
    are shown may need more."""


@dataclass(frozen=True, init=False)
class Query(_Parsed):
    """A question about a profile or a comparison.

    Parameters
    ----------
    measure
        The kind of time: `time` (on the device), `host_time`, `wait` and `host_wait` (time to the
        first kernel), `time_median`, `self`, `queue` or `thread_wait`. See `model.measures`.
    level
        What a row is, if the profile has several levels: `operator`, `top`, `kernel` or `module`.
        The default is `operator`. A profile without this level uses its first level. See
        `model.levels`.
    types
        Keep operators of this type, or of one of these types. Empty keeps all.
    name
        Keep operators with a name that matches this regular expression from the start of the name.
    input_dtype
        Keep operators with an input of this dtype, such as `Float32`.
    min_time_s, max_time_s
        Keep operators that took at least, or at most, this many seconds. The tolerance is half a
        nanosecond. A comparison keeps an operator if its time in the profile or in the baseline is
        within the limits.
    where
        Keep operators that meet this condition, or all of these: `COLUMN OPERATOR VALUE`, such as
        `time > 1ms`, `share >= 5%`, `type != Copy`, `name ~ conv`. N/A meets no condition.
    by
        Group by this column, or by several, such as `type`, `name`, `in_shapes`, `scope`, `bound`
        (with peaks), `match` (in a comparison), `scope/N` (the first N levels of the scope),
        `param.NAME` (a parameter), and `name~REGEX`, the part of the name that the pattern matches.
        The keys `device`, `track`, `stream`, `rank`, `phase`, `kernel`, `file`, `run` and `step`
        belong to executions: an operator is first split into a row for each value. Operators
        without a value form a group of their own. With `by`, the rows of the answer are groups.
        Groups that tie in `order` are in order of first appearance.
    aggregates
        How the values of a group become one: `sum` (the default with `by`), `mean`, `max`, `min`,
        `median`, `std`, `count`, or a percentile such as `p90`. The first aggregate other than
        `count` applies to all columns. Each further aggregate adds a column of the time, such as
        `time.p90`. Without `by`, all operators form one group.
    having
        Keep groups that meet this condition, or all of these, in the grammar of `where`.
    order
        The column to sort by, or several, the most important first. Rows are sorted in descending
        order, or ascending with a `+` before the name. N/A comes last; ties keep the file's order.
    top
        Return only the first `top` rows; 0 returns all.
    peaks
        The peak rates to compare with, from `parse_peaks`. They add columns.
    run_statistic
        How the values of several runs become one: `median`, `mean`, `min` or `max`. A group's
        values are computed per run first. Comparisons use medians.
    split_by
        Split operators by these keys of executions. Keys in `by` are added. So are `run`, `file`,
        `step` and `phase` in `where` or `order`. With `run`, each run has rows of its own.
    compared
        Whether the question is about a `Comparison`. If so, there are more columns, and the default
        order is by the size of the difference, then by time.
    threshold
        The smallest change that the column `verdict` calls slower or faster, as a fraction of the
        baseline.
    unit
        What statistics count as one sample. `process`: each process, by the median of its runs.
        `iteration`: each run, as if the runs of one process were independent.
    labels
        The names of the labels that the profile has (`with_labels`). In this question, `date` is
        short for the column `label.date`. Groups by label are in the order of the labels, unless
        `order` says otherwise.
    host_rates
        Whether FLOPS and bandwidth of host times are the work divided by the host time, as in the
        original tool. By default, they are N/A, because the host only launches the work.

    A text with commas stands for several keys, aggregates or columns.

    Raises
    ------
    QueryError
        If the question makes no sense for any profile.
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
    unit: SampleUnit
    labels: tuple[str, ...]
    host_rates: bool

    def __init__(  # noqa: PLR0913  # keyword arguments with defaults, of which calls pass few
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
        unit: SampleUnit = "process",
        labels: str | Iterable[str] = (),
        host_rates: bool = False,
    ) -> None:
        # This must be the first statement, so that the only local variables are the arguments.
        arguments = dict(locals())
        del arguments["self"]
        keys = group_key_columns(by, _kind_of_keys(arguments))
        self._set(**normalized_fields(arguments, keys), has_default_order=order is None)
        self._set_kind()
        check_values(self)
        if self.name:
            compile_pattern(self.name)
        self._parse(tuple(keys.values()))
        self._add_split_keys()  # reads the columns that `_parse` found
        if self.compared:
            self._check_comparison()

    def _set(self, **values: Any) -> None:
        """Set attributes. A frozen class does not allow plain assignments."""
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def _set_kind(self) -> None:
        has_peaks = self.peaks is not None
        kind = RowKind(self.keys, has_peaks, self.compared, self.split_by, self.labels)
        self._set(kind=kind)

    def _parse(self, keys: tuple[Column, ...]) -> None:
        """Set the attributes of `_Parsed`."""
        # A comparison combines all runs of a side, so it has no values of `run`, `file` and `step`.
        possible_keys = [
            *(key for key in SPLIT_KEYS if not (self.compared and key in RUN_KEYS)),
            *(LABEL + name for name in self.labels if not self.compared),
        ]
        groups = self.kind._replace(split_by=tuple(possible_keys))
        # `where` filters operators before they are grouped, so it cannot use columns of groups.
        conditions = parse_conditions("where", self.where, groups._replace(keys=None))
        for one in conditions:
            if one.column.is_label:
                raise QueryError(
                    f"where: '{one.text}': {one.column.export_name} is a label of files, not of "
                    "operators; choose files first, with --where or runs_with_labels()"
                )
        group_conditions = parse_conditions("having", self.having, groups)
        order = parse_orders(self.order, groups)
        used = (
            *keys,
            *(one.column for one in order),
            *(one.column for one in (*conditions, *group_conditions)),
        )
        wanted = {column.optional for column in used if column.optional}
        if self.input_dtype:
            wanted.add("input_dtypes")
        self._set(
            by_columns=keys,
            conditions=conditions,
            group_conditions=group_conditions,
            parsed_order=order,
            used=used,
            wanted=frozenset(wanted),
        )

    def _add_split_keys(self) -> None:
        """Add the keys of executions that the question names to `split_by`."""
        # Grouping by any split key splits rows. Conditions and orders split rows only by keys such
        # as `run`, which unsplit rows lack. `--where 'track ~ cpu'` filters whole operators.
        named = [column.base_name for column in self.by_columns if column.is_split_key]
        named += [column.base_name for column in self.used if column.needs_split_rows]
        split_by = dict.fromkeys((*self.split_by, *named))
        if self.grouped:
            # A group has the runs with its own labels. Splitting by any other label would divide
            # these runs, although the group does not show that label.
            keys = [column.base_name for column in self.by_columns]
            split_by = dict.fromkeys(
                key for key in split_by if key in keys or not key.startswith(LABEL)
            )
        # Each run has one file and one step. Adding these keys gives values to their columns, and
        # splits rows no further.
        if "run" in split_by:
            split_by |= dict.fromkeys(RUN_KEYS)
        self._set(split_by=tuple(split_by))
        self._set_kind()
        self.kind.found.update((column.name, column) for column in self.used)

    def _check_comparison(self) -> None:
        run_keys = [key for key in self.split_by if is_run_key(key)]
        if run_keys:
            raise QueryError(
                f"{run_keys[0].removeprefix(LABEL)}: a comparison combines all runs of a side and "
                "cannot show them one by one"
            )
        if self.run_statistic != RUN_STATISTICS[0]:
            raise QueryError(
                f"run_statistic: {self.run_statistic}: a comparison uses medians, as its verdicts "
                "do"
            )

    @property
    def plain_keys(self) -> tuple[str, ...]:
        """The keys of `by` that need neither a baseline nor split operators."""
        return tuple(
            column.name
            for column in self.by_columns
            if not (column.needs_base or column.is_split_key)
        )

    @property
    def grouped(self) -> bool:
        """Whether the rows of the answer are groups instead of operators."""
        return bool(self.aggregates)

    @property
    def selects_rows(self) -> bool:
        """Whether filters of operators, or `top`, may leave out rows."""
        limits = (self.min_time_s, self.max_time_s)
        filters = (self.types, self.name, self.input_dtype, self.where, self.top)
        return any(filters) or any(limit is not None for limit in limits)

    @property
    def keys(self) -> tuple[str, ...] | None:
        """The group keys, which may be an empty tuple; None if rows are operators."""
        return self.by if self.grouped else None

    @property
    def aggregate(self) -> str:
        """The aggregate that applies to all columns of groups."""
        return next((name for name in self.aggregates if name != COUNT), DEFAULT_AGGREGATE)

    @property
    def times(self) -> tuple[str, ...]:
        """The time columns of groups: `time`, and `time.p90` if p90 is a further aggregate."""
        others = (name for name in self.aggregates if name != self.aggregate)
        return (DEFAULT_ORDER, *(f"{DEFAULT_ORDER}.{name}" for name in others))

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns of the answer."""
        return self.kind.names(self.times[1:])

    def changed(self, **changes: Any) -> Query:
        """Return a copy of the question with the fields in `changes` replaced."""
        arguments = {field.name: getattr(self, field.name) for field in fields(self)}
        if self.has_default_order:  # the default depends on `compared`, which may change
            arguments["order"] = None
        changed = Query(**arguments | changes)
        if changed.kind == self.kind:  # then no column is looked up again
            changed._set(kind=self.kind)
        return changed


def _kind_of_keys(arguments: Mapping[str, Any]) -> RowKind:
    """Return the kind of rows for which the group keys are looked up.

    `arguments` are the arguments of `Query`. A group key may be any split key, because
    `_add_split_keys` later adds it to `split_by`.
    """
    labels = label_names(arguments["labels"])
    split_by = (*SPLIT_KEYS, *map(LABEL.__add__, labels))
    return RowKind((), arguments["peaks"] is not None, arguments["compared"], split_by, labels)

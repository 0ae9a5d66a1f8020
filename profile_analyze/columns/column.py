"""Defines `Column`, the rules for the values of a column, and `Kind`, what rows are.

`registry.py` declares the columns of operators and groups, and `formulas.py` has their formulas.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Protocol, TypeAlias

from profile_analyze.model.terms import is_split_key

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

DEFAULT_ORDER: Final = "time"

RUN_STATISTICS: Final = ("median", "mean", "min", "max")
"""The statistics that turn the values of several runs into one value. The first is the default."""

# The rules for the values of a column follow. `OperatorRule` lists the rules for operators, and
# `GroupRule` lists the rules for groups.

FORMULA: Final = "formula"
"""A formula with the name of the column computes the values: see `columns.rows.Formulas`."""

SAME: Final = "same"
"""One formula computes the values of operators and of groups."""

AGGREGATED: Final = "aggregated"
"""A group's value is the requested aggregate (`--aggregate`) of its operators' values."""


class AggregateOf(NamedTuple):
    """A group's value is one particular aggregate of another column."""

    column: str
    aggregate: str


class RatioOfSums(NamedTuple):
    """A group's value is the ratio of two sums, over the operators that have both values.

    Only the aggregates `sum` and `mean` use this ratio. Any other aggregate, such as `max`, is
    computed from the operators' own ratios: the largest numerator and the largest denominator may
    belong to different operators. Numerator and denominator are names of columns, such as
    `tiled_macs` for `tile_efficiency`.
    """

    numerator: str
    denominator: str


class RunningSum(NamedTuple):
    """A row's value is the sum of a column from the top row of the table to this row.

    If rows are split by labels, the sum includes only rows with the same labels.

    The sum depends on which rows are shown and in which order, so it can neither filter nor order
    rows. It is N/A before the first row with a known value. After that row, N/A counts as 0.
    """

    column: str


class Parameter(NamedTuple):
    """An operator's value is the value of one of its parameters."""

    name: str


class PartOf(NamedTuple):
    """An operator's value is the text that `pattern` finds in the value of another column."""

    column: str
    pattern: str


class FirstOf(NamedTuple):
    """An operator's value is the first `levels` of the path in another column."""

    column: str
    levels: int


class LabelOf(NamedTuple):
    """A row's value is a label of the files that its runs were read from."""

    key: str
    """The key that splits rows by the label: see `model.levels.splitting`."""
    pattern: str = ""
    """If this is not empty, the value is the part of the label that the pattern finds."""


OperatorRule: TypeAlias = "Literal['formula'] | RunningSum | Parameter | PartOf | FirstOf | LabelOf"
GroupRule: TypeAlias = "Literal['formula', 'same', 'aggregated'] | AggregateOf | RatioOfSums"

ValueKind: TypeAlias = Literal["number", "text", "mixed", "truth"]


# Named tuples, because importing `dataclasses` would take a fifth of the time of `--help`.
class Column(NamedTuple):
    """The declaration of one column: its name, unit and meaning, and the rules for its values."""

    name: str
    unit: str
    """`s`, `byte`, `FLO`, `FLO/s`, `byte/s`, `FLO/byte`, `count`, `1`; empty for texts. `count` is
    for numbers that are shown with a prefix, such as `2M`. `1` is for all other numbers without a
    unit."""
    meaning: str
    of_groups: GroupRule | None = None
    """How a group's value is computed. None if groups do not have the column, or have it only as a
    group key."""
    of_operators: OperatorRule | None = FORMULA
    """How an operator's value is computed. None if only groups have the column."""
    kind: ValueKind = "number"
    """A `number` column is an array, or categorical if integers may be N/A. Columns of texts, of
    texts and numbers (`mixed`), and of truth values (with `truth_text` as `as_text`) are
    categorical."""
    has_side: bool = True
    """Whether values belong to the time on one side (device or host). A table that is ordered or
    filtered by a column without a side also has the operators that have a value other than 0, but
    no time on the side of the table."""
    as_text: Callable[[Any], str] = str
    """Returns the text of a value that is not a number."""
    has_whole_numbers: bool = False
    """Whether all values of a categorical column are whole numbers. In SQL and Parquet, they then
    stay integers."""
    is_key: bool = False
    """Whether operators can be grouped by this column. A group has the value that its operators
    share."""
    timed: bool = False
    """Whether the formulas return a value for each run, shape (rows, runs). The run statistic
    (`--run-stat`) turns the values of each row into one value."""
    measured: bool = False
    """Whether values are differences of two clock readings, which carry rounding noise.

    Examples are `time` and `time_max`. Conditions treat two such values as equal if they differ by
    at most half a nanosecond. Values that are computed from several of them, such as `lost` and
    `difference`, are not measured: they are compared exactly."""
    optional: str = ""
    """The optional column of the profile that the formula reads, directly or through another
    column; empty if it reads none."""
    needs_peaks: bool = False
    """Whether the formula needs the peak rates of a device (`--peaks`)."""
    needs_base: bool = False
    """Whether the formula needs a baseline (`--compare`)."""
    needs_times: bool = False
    """Whether the formula needs times although `worked` names no column of times. A formula such as
    `{computation} / {time}` needs no declaration: see `columns.formula_words`."""
    needs_two_runs: bool = False
    """Whether a value needs the time of the row in at least two runs."""
    needs_split_rows: bool = False
    """Whether the column exists only if rows are split by it: see `model.levels.splitting`. Other
    split keys, such as `track`, also exist for rows that are not split. Each row then lists all
    tracks of its operator."""
    shown_as: Literal["percent", "digits", "six digits", "decimals", "count"] = "percent"
    """How a number without a unit is shown to people: `8.5%`, `0.998` (three digits), `0.998123`
    (six digits), `1.00` (two decimals) or `12`."""
    heading: str = ""
    """The heading for people; empty for the name, with blanks for `_` if it is a number."""
    heading_compared: str = ""
    """The heading in a comparison; empty if it is the same as in other tables."""
    signed: bool = False
    """Whether numbers above 0 are shown to people with a plus sign."""
    has_order: bool = True
    """Whether rows can be ordered by the values. Shapes, for example, have no order."""
    has_natural_order: bool = False
    """Whether digits in texts are ordered as numbers: conv2 before conv10. Conditions such as
    `date >= 2026-11-01` use this order, too."""
    worked: str = ""
    """The text with which `--explain` explains the value of an operator: a formula, or the source
    of the value. `{name}` stands for another column or for one of `views.figures`. A remark follows
    after a semicolon and a blank. With the rule `SAME`, the text holds for groups, too."""
    worked_of_groups: str = ""
    """The text with which `--explain` explains the value of a group with the rule `FORMULA`. Groups
    with other rules need no text."""
    export_name: str = ""
    """The name in output formats for programs, before the unit is added; empty for the plain name.
    A plain name that looks like an aggregate needs another name: `time_min` is
    `time_of_fastest_run`, because `time_min_s` already means the minimum over a group. A column of
    texts has this name in output for people, too."""

    @property
    def running(self) -> RunningSum | None:
        """The rule of a running sum; None for all other columns."""
        return self.of_operators if isinstance(self.of_operators, RunningSum) else None

    @property
    def is_split_key(self) -> bool:
        """Whether each execution has its own value, so that grouping splits operators."""
        return is_split_key(self.base_name)

    @property
    def is_label(self) -> bool:
        """Whether the values are a label of files, or a part of a label."""
        return isinstance(self.of_operators, LabelOf)

    @property
    def base_name(self) -> str:
        """The name of the column; for a `PartOf`, the name of the column with the whole text."""
        return self.of_operators.column if isinstance(self.of_operators, PartOf) else self.name

    @property
    def orderable(self) -> bool:
        """Whether rows can be ordered by this column."""
        return self.has_order and not self.running

    def __repr__(self) -> str:
        return f"Column({self.name!r}, unit={self.unit!r}, meaning={self.meaning!r})"


class Kind(Protocol):
    """What the rows of a table are, and which columns they have: see `columns.kinds`."""

    @property
    def noun(self) -> str:
        """The plural noun for the rows, for messages. It is also the name of the table."""

    @property
    def keys(self) -> tuple[str, ...] | None:
        """The group keys, which may be empty. None if the rows are not groups."""

    @property
    def catalog(self) -> Mapping[str, Column]:
        """The columns with a fixed name, by name. The rows may lack some of them."""

    def find(self, text: str) -> Column:
        """Return the column that `text` names.

        Raises `UnknownColumnError`, with a suggestion, if there is no such column.
        """

    def has(self, column: Column) -> bool:
        """Return whether these rows have the column."""

    def check_needs(self, column: Column) -> None:
        """Raise `QueryError` if these rows lack what `column` needs, such as peak rates."""

    def names(self) -> tuple[str, ...]:
        """Return the names of the columns that these rows have."""

    def orderable(self) -> tuple[str, ...]:
        """Return the names of the columns that these rows can be ordered by."""

"""The register of columns: whatever can be shown, filtered, ordered by or exported is an entry.

An entry says what the column is called, its unit, its meaning, by which rule an operator's value
comes about, and by which the value of a group of operators does. The formulas that it promises are
in `column_formulas.py`, so that `--help` can list the columns without NumPy. What can be asked for
besides, such as `param.NAME`, is made from these in `query/catalog.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias

from profile_analyze.model.terms import CATEGORIES, SPLIT_KEYS
from profile_analyze.model.wording import parameters_text, shapes_text, strides_text

if TYPE_CHECKING:
    from collections.abc import Callable

DEFAULT_ORDER: Final = "time"

RUN_STATISTICS: Final = ("median", "mean", "min", "max")
"""How the values of several runs become one; the first unless asked otherwise."""

FORMULA: Final = "formula"
"""There is a formula of the column's name for these rows: see `model.rows.Formulas`."""

SAME: Final = "same"
"""A group's value comes about as an operator's does."""

AGGREGATED: Final = "aggregated"
"""A group's value is the aggregate that was asked for, over its operators' values."""


class AggregateOf(NamedTuple):
    """A group's value is one particular aggregate of another column."""

    column: str
    aggregate: str


class RatioOfSums(NamedTuple):
    """A group's value is the sum of one column over the sum of another, over those with both.

    For an aggregate that does not add up (max, min), it is that aggregate over the operators' own
    ratios: never one operator's numerator over another's denominator.
    """

    numerator: str
    denominator: str


class RunningSum(NamedTuple):
    """The value of a row is the sum of a column from the first row shown down to it, in each run.

    So it depends on which rows are shown, and in which order: it can neither choose nor order them.
    It is N/A down to the first row whose value is known; after that, N/A adds nothing.
    """

    column: str
    is_share: bool = False
    """Whether it is divided by the total of all operators."""


class Parameter(NamedTuple):
    """An operator's value is its parameter of that name."""

    name: str


class PartOf(NamedTuple):
    """An operator's value is what a pattern finds in another column."""

    column: str
    pattern: str


OperatorRule: TypeAlias = "Literal['formula'] | RunningSum | Parameter | PartOf"
GroupRule: TypeAlias = "Literal['formula', 'same', 'aggregated'] | AggregateOf | RatioOfSums"

Kind: TypeAlias = Literal["number", "text", "mixed"]


# Named tuples: importing the module of the data classes would take a fifth of the time of --help.
class Column(NamedTuple):
    """One entry of the register."""

    name: str
    unit: str
    """`s`, `byte`, `FLO`, `FLO/s`, `byte/s`, `FLO/byte`, `1` for a bare number, empty for none."""
    meaning: str
    of_groups: GroupRule | None = None
    """How a group's value comes about; None where groups have it only as a key, or not at all."""
    of_operators: OperatorRule | None = FORMULA
    """How the operators' values come about; None where only groups have the column."""
    kind: Kind = "number"
    """`number`: an array of numbers. Otherwise values are categorical: `text`, or `mixed`, which
    has texts and numbers."""
    as_text: Callable[[Any], str] = str
    """A value that is no number, as text."""
    is_key: bool = False
    """Whether operators can be grouped by it: then what they share is the group's value."""
    timed: bool = False
    """Whether each run has values of its own: see `has_runs`."""
    measured: bool = False
    """Whether its values are differences of two clock readings, which carry rounding noise.

    Conditions then take what is nearer than half a nanosecond as equal. What is worked out from
    such differences and from other numbers is compared exactly."""
    optional: str = ""
    """The optional column of the profile that it is made from."""
    needs_peaks: bool = False
    """Whether it compares with the peak rates of a device, so that those must be given."""
    needs_base: bool = False
    """Whether it compares with another profile, so that one must be given."""
    needs_split: bool = False
    """Whether only executions have it, so that rows must be split by it: `model.splitting`."""
    shown_as: Literal["percent", "digits", "count"] = "percent"
    """How people see a bare number: as `8.5%`, as `1.07` in three digits, or as `12`."""
    signed: bool = False
    """Whether people are shown the sign of what is above 0 too."""
    has_order: bool = True
    """Whether one value is before another; shapes are not."""
    has_natural_order: bool = False
    """Whether digits within texts count as numbers when rows are ordered by it."""
    for_programs: str = ""
    """What programs call it, without the unit, where its name would be that of an aggregate."""

    @property
    def running(self) -> RunningSum | None:
        """The rule of a running sum; None for a column whose values do not depend on the order."""
        return self.of_operators if isinstance(self.of_operators, RunningSum) else None

    @property
    def splits(self) -> bool:
        """Whether operators are split by it where groups are formed by it."""
        return self.base_name in SPLIT_KEYS

    @property
    def base_name(self) -> str:
        """The name of the column that it is made from, its own unless it is a part of another."""
        return self.of_operators.column if isinstance(self.of_operators, PartOf) else self.name

    @property
    def orderable(self) -> bool:
        """Whether rows can be ordered by it."""
        return self.has_order and not self.running

    @property
    def has_runs(self) -> bool:
        """Whether its formulas give shape (rows, runs).

        The statistic that is asked for then makes one value a row.
        """
        return self.timed or self.running is not None

    def __repr__(self) -> str:
        return f"Column({self.name!r}, unit={self.unit!r}, meaning={self.meaning!r})"


class RowKind(NamedTuple):
    """What the rows of an answer are, and so which columns they have."""

    keys: tuple[str, ...] | None
    """None for operators; otherwise what groups are by, nothing perhaps."""
    has_peaks: bool = False
    """Whether there are peak rates to compare with."""
    has_base: bool = False
    """Whether there is another profile to compare with."""
    split_by: tuple[str, ...] = ()
    """By which keys of executions rows are split."""

    @property
    def noun(self) -> str:
        """What they are called."""
        return "operators" if self.keys is None else "groups"

    def has(self, column: Column) -> bool:
        """Whether they have this column."""
        if column.needs_peaks and not self.has_peaks:
            return False
        if column.needs_base and not self.has_base:
            return False
        if column.needs_split and column.base_name not in self.split_by:
            return False
        if self.keys is None:
            return column.of_operators is not None
        return column.of_groups is not None or (column.is_key and column.name in self.keys)


COLUMNS: Final = (
    Column(
        "id",
        "",
        "what tells the operator from all others in the file: a number, or a text, of which conv2 "
        "comes before conv10",
        kind="mixed",
        has_natural_order=True,
    ),
    Column(
        "name",
        "",
        "the operator's name",
        kind="text",
        is_key=True,
    ),
    Column(
        "type",
        "",
        "the kind of operator",
        kind="text",
        is_key=True,
    ),
    Column(
        "category",
        "",
        "what kind of work it is, in the same words for every runtime: " + ", ".join(CATEGORIES),
        kind="text",
        is_key=True,
    ),
    Column(
        "scope",
        "",
        "the modules or regions around the operator, outermost first",
        kind="text",
        as_text="/".join,
        is_key=True,
    ),
    Column(
        "count",
        "1",
        "how many operators are in the group; in a comparison, of either side",
        FORMULA,
        shown_as="count",
        of_operators=None,
    ),
    Column(
        "time",
        "s",
        "from start to end on the device, or the time that is asked for instead; calls in a run "
        "are added up; of several runs the median, or what --run-stat says; a group's times are "
        "added up in each run first",
        AGGREGATED,
        timed=True,
        measured=True,
    ),
    Column(
        "runs",
        "1",
        "in how many runs the time is known; 0 if in none",
        SAME,
        shown_as="count",
    ),
    Column(
        "spread",
        "1",
        "how much the time varies from run to run: half the interquartile range over the median",
        SAME,
    ),
    Column(
        "time_min",
        "s",
        "the time in the fastest run",
        SAME,
        for_programs="time_of_fastest_run",
        measured=True,
    ),
    Column(
        "time_max",
        "s",
        "the time in the slowest run",
        SAME,
        for_programs="time_of_slowest_run",
        measured=True,
    ),
    Column(
        "share",
        "1",
        "time over the total time of all operators of the profile, in each run",
        SAME,
        timed=True,
    ),
    Column(
        "cumulative_time",
        "s",
        "running sum of time over the rows shown, in each run; N/A down to the first row whose "
        "time is known",
        SAME,
        of_operators=RunningSum("time"),
    ),
    Column(
        "cumulative_share",
        "1",
        "running sum of share over the rows shown, in each run; N/A as cumulative_time is",
        SAME,
        of_operators=RunningSum("time", is_share=True),
    ),
    Column(
        "device_time",
        "s",
        "from start to end on the device, whichever time is asked for",
        AGGREGATED,
        timed=True,
        measured=True,
    ),
    Column(
        "host_time",
        "s",
        "from start to end on the host, whichever time is asked for",
        AGGREGATED,
        timed=True,
        measured=True,
    ),
    Column(
        "wait",
        "s",
        "on the device, from the start to the first kernel: how long the operator waited for it; "
        "one that started after the end does not count",
        AGGREGATED,
        timed=True,
        measured=True,
    ),
    Column(
        "queue",
        "s",
        "on the device, from the end of the call that launched it to the start",
        AGGREGATED,
        timed=True,
        measured=True,
    ),
    Column(
        "self",
        "s",
        "the time without what ran nested inside, on the host or, where there is no device, on the "
        "CPU threads",
        AGGREGATED,
        timed=True,
        measured=True,
    ),
    Column(
        "calls",
        "1",
        "how often it was called in a run",
        AGGREGATED,
        timed=True,
        shown_as="count",
    ),
    Column(
        "computation",
        "FLO",
        "floating-point operations of all calls in a run, two for a multiply-add",
        AGGREGATED,
        timed=True,
    ),
    Column(
        "computation_source",
        "",
        "where the computation is from: measured (the runtime says it), derived or unknown",
        kind="text",
        is_key=True,
    ),
    Column(
        "flops",
        "FLO/s",
        "computation / time",
        RatioOfSums("computation", "time"),
    ),
    Column(
        "memory",
        "byte",
        "bytes of all inputs and outputs of all calls in a run, each counted once",
        AGGREGATED,
        timed=True,
    ),
    Column(
        "memory_source",
        "",
        "where the memory is from, likewise",
        kind="text",
        is_key=True,
    ),
    Column(
        "bandwidth",
        "byte/s",
        "memory / time",
        RatioOfSums("memory", "time"),
    ),
    Column(
        "intensity",
        "FLO/byte",
        "computation / memory",
        RatioOfSums("computation", "memory"),
    ),
    Column(
        "in_shapes",
        "",
        "the shape of each input",
        kind="text",
        is_key=True,
        as_text=shapes_text,
        optional="in_shapes",
        has_order=False,
    ),
    Column(
        "in_strides",
        "",
        "the strides, in elements, of each input; or contiguous, where they are those of its shape",
        kind="text",
        is_key=True,
        as_text=strides_text,
        optional="in_strides",
        has_order=False,
    ),
    Column(
        "out_shapes",
        "",
        "the shape of each output",
        kind="text",
        is_key=True,
        as_text=shapes_text,
        optional="out_shapes",
        has_order=False,
    ),
    Column(
        "input_dtype",
        "",
        "the dtypes of the inputs, each once; then N/A if the profile does not tell that of some, "
        "as in `Float32, N/A`; N/A alone if it tells none",
        kind="text",
        is_key=True,
        optional="input_dtypes",
    ),
    Column(
        "device",
        "",
        "the devices that the operator ran on",
        kind="text",
        is_key=True,
    ),
    Column(
        "track",
        "",
        "the streams, threads and the like that the operator ran on",
        kind="text",
        is_key=True,
    ),
    Column(
        "stream",
        "",
        "the streams among them",
        kind="text",
        is_key=True,
    ),
    Column(
        "rank",
        "",
        "the ranks of the processes of a distributed job that the operator ran in",
        kind="mixed",
        is_key=True,
    ),
    Column(
        "parameters",
        "",
        "the operator's parameters, such as mode and stride; param.NAME is one of them",
        kind="text",
        is_key=True,
        as_text=parameters_text,
        optional="parameters",
        has_order=False,
    ),
    Column(
        "file",
        "",
        "the file that the run was read from",
        kind="text",
        is_key=True,
        needs_split=True,
    ),
    Column(
        "run",
        "",
        "the number of the run, from 1 on in the order in which the files are named",
        kind="mixed",
        is_key=True,
        needs_split=True,
    ),
    Column(
        "step",
        "",
        "the number that the file gives the run, where several are in a file",
        kind="mixed",
        is_key=True,
        needs_split=True,
    ),
    Column(
        "phase",
        "",
        "the part of a training step: forward, backward, optimizer",
        kind="text",
        is_key=True,
        needs_split=True,
    ),
)

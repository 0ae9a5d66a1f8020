"""The register of columns: whatever can be shown, filtered, ordered by or exported is an entry.

An entry has the column's name, unit and meaning, and the rules for the values of operators and of
groups. The formulas are in `column_formulas.py`, so that `--help` can list the columns without
NumPy. `query/catalog.py` makes further columns, such as `param.NAME`, from these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias

from profile_analyze.model.terms import CATEGORIES, SPLIT_KEYS
from profile_analyze.model.wording import parameters_text, shapes_text, strides_text

if TYPE_CHECKING:
    from collections.abc import Callable

DEFAULT_ORDER: Final = "time"

RUN_STATISTICS: Final = ("median", "mean", "min", "max")
"""How the values of several runs become one; the first is the default."""

FORMULA: Final = "formula"
"""There is a formula of the column's name for these rows: see `model.rows.Formulas`."""

SAME: Final = "same"
"""A group's value is computed like an operator's."""

AGGREGATED: Final = "aggregated"
"""A group's value is the aggregate that was asked for, over its operators' values."""


class AggregateOf(NamedTuple):
    """A group's value is one particular aggregate of another column."""

    column: str
    aggregate: str


class RatioOfSums(NamedTuple):
    """A group's value is the ratio of two sums, over the operators that have both values.

    For an aggregate that does not add up (max, min), it is that aggregate of the operators' own
    ratios. One operator's numerator is never divided by another's denominator.
    """

    numerator: str
    denominator: str


class RunningSum(NamedTuple):
    """The value of a row is the sum of a column from the first row shown down to it, in each run.

    It depends on which rows are shown, and in which order, so it can neither filter nor order them.
    It is N/A before the first row with a known value. After that row, N/A adds nothing.
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
    """How a group's value is computed; None where groups have it only as a key, or not at all."""
    of_operators: OperatorRule | None = FORMULA
    """How the operators' values are computed; None where only groups have the column."""
    kind: Kind = "number"
    """`number`: an array of numbers. Otherwise values are categorical: `text`, or `mixed`, which
    has texts and numbers."""
    as_text: Callable[[Any], str] = str
    """Gives the text of a value that is not a number."""
    is_key: bool = False
    """Whether operators can be grouped by it. The group's value is then the one that they share."""
    timed: bool = False
    """Whether each run has values of its own: see `has_runs`."""
    measured: bool = False
    """Whether its values are differences of two clock readings, which carry rounding noise.

    Conditions then take values as equal that differ by at most half a nanosecond. Values computed
    from such differences and from other numbers are compared exactly."""
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
    """Whether people see numbers above 0 with a plus sign."""
    has_order: bool = True
    """Whether its values have an order; shapes have none."""
    has_natural_order: bool = False
    """Whether digits within texts count as numbers when rows are ordered by it."""
    for_programs: str = ""
    """The name for programs, without the unit, if the plain name would be that of an aggregate."""

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
        """The name of the column that it is a part of; its own name if it is no such part."""
        return self.of_operators.column if isinstance(self.of_operators, PartOf) else self.name

    @property
    def orderable(self) -> bool:
        """Whether rows can be ordered by it."""
        return self.has_order and not self.running

    @property
    def has_runs(self) -> bool:
        """Whether its formulas give shape (rows, runs).

        The run statistic then makes one value of those in each row.
        """
        return self.timed or self.running is not None

    def __repr__(self) -> str:
        return f"Column({self.name!r}, unit={self.unit!r}, meaning={self.meaning!r})"


class RowKind(NamedTuple):
    """What the rows of an answer are, and so which columns they have."""

    keys: tuple[str, ...] | None
    """The group keys, possibly none; None if rows are operators."""
    has_peaks: bool = False
    """Whether there are peak rates to compare with."""
    has_base: bool = False
    """Whether there is another profile to compare with."""
    split_by: tuple[str, ...] = ()
    """The keys of executions that rows are split by."""

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
        "identifies the operator within its file: a number or a text; texts are ordered naturally, "
        "conv2 before conv10",
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
        "from start to end on the device, or another time if one is asked for; all calls in a run "
        "are added up; with several runs it is the median, or what --run-stat says, of the values "
        "in each run",
        AGGREGATED,
        timed=True,
        measured=True,
    ),
    Column(
        "runs",
        "1",
        "the number of runs in which the time is known",
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
        "running sum of time over the rows shown, in each run; N/A before the first row with a "
        "known time",
        SAME,
        of_operators=RunningSum("time"),
    ),
    Column(
        "cumulative_share",
        "1",
        "running sum of share over the rows shown, in each run; N/A where cumulative_time is",
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
        "time to first kernel on the device: from the operator's start to its first kernel; a "
        "kernel that started after the operator's end does not count",
        AGGREGATED,
        timed=True,
        measured=True,
    ),
    Column(
        "queue",
        "s",
        "queue delay: from the end of the host call that launched it to its start on the device",
        AGGREGATED,
        timed=True,
        measured=True,
    ),
    Column(
        "self",
        "s",
        "the time without the executions nested inside, on the host; on the CPU threads if there "
        "is no device",
        AGGREGATED,
        timed=True,
        measured=True,
    ),
    Column(
        "calls",
        "1",
        "how often the operator was called in a run",
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
        "the source of the computation: measured (the runtime says it), derived or unknown",
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
        "the source of the memory: measured (the runtime says it), derived or unknown",
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
        "the strides of each input in elements, or contiguous if they follow from its shape",
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
        "the dtypes of the inputs, each once; `Float32, N/A` if some are unknown; N/A if all are "
        "unknown",
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
        "the tracks (streams, threads and the like) that the operator ran on",
        kind="text",
        is_key=True,
    ),
    Column(
        "stream",
        "",
        "the streams that the operator ran on",
        kind="text",
        is_key=True,
    ),
    Column(
        "rank",
        "",
        "the ranks of the operator's processes in a distributed job",
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
        "the number of the run, counted from 1 in the order of the files",
        kind="mixed",
        is_key=True,
        needs_split=True,
    ),
    Column(
        "step",
        "",
        "the number that the file gives the run, if a file has several runs",
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

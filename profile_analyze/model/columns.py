"""The register of columns: whatever can be shown, filtered, ordered by or exported is an entry.

An entry says what the column is called, its unit, its meaning, how an operator's value comes
about, and how the value of a group of operators does. It imports no NumPy until a formula runs,
so that `--help` can list the columns at once. What can be asked for besides, such as `param.NAME`,
is made from these in `query/catalog.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Protocol, TypeAlias, TypeVar

from profile_analyze.model.wording import parameters_text, shapes_text, strides_text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from profile_analyze.model.categorical import Categorical
    from profile_analyze.model.comparison import Comparison
    from profile_analyze.model.profile import EndKey, Profile, Side

DEFAULT_ORDER: Final = "time"

RUN_STATISTICS: Final = ("median", "mean", "min", "max")
"""How the values of several runs become one; the first unless asked otherwise."""

T = TypeVar("T")

Values: TypeAlias = "NDArray[np.float64] | NDArray[np.int64] | Categorical[Any]"


class Rows(Protocol):
    """What a formula sees: the rows of one question, operators or groups, by column."""

    @property
    def profile(self) -> Profile:
        """The profile that is asked."""

    @property
    def side(self) -> Side:
        """Whether device or host times are asked for."""

    @property
    def end_key(self) -> EndKey:
        """Whether times last to the end or to the first kernel (the wait time)."""

    @property
    def peaks(self) -> Any:
        """The peak rates that rows are compared with, None if none were given."""

    @property
    def comparison(self) -> Comparison | None:
        """What the profile is compared with, None if with nothing."""

    @property
    def threshold(self) -> float:
        """Which change of a time counts as one, as a fraction of the base."""

    @property
    def total_s(self) -> float:
        """Seconds of all operators of the profile: what a share of 1 is. NaN if unknown."""

    @property
    def totals_s(self) -> NDArray[np.float64]:
        """Shape (runs,): the same in each run."""

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Shape (rows,): how many operators each row stands for."""

    @property
    def on_sides(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Shape (rows,) each, of a comparison: whether the profile has it, whether the base has."""

    def __getitem__(self, column: str) -> Any:
        """The values of another column, shape (rows,)."""

    def per_run(self, column: str) -> NDArray[np.float64]:
        """The values of a column that is `timed` in each run, shape (rows, runs)."""

    def once(self, work: Callable[[Any], T]) -> T:
        """What `work` makes of these rows, worked out when it is first asked for."""


Formula: TypeAlias = Callable[[Rows], Values]


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


GroupRule: TypeAlias = "Literal['aggregated'] | AggregateOf | RatioOfSums | Formula"

Kind: TypeAlias = Literal["number", "text", "mixed"]


# Named tuples: importing the module of the data classes would take a fifth of the time of --help.
class Column(NamedTuple):
    """One entry of the register."""

    name: str
    unit: str
    """`s`, `byte`, `FLO`, `FLO/s`, `byte/s`, `FLO/byte`, `1` for a bare number, empty for none."""
    meaning: str
    of_operators: Formula | None
    """How the operators' values come about; None where only groups have the column."""
    of_groups: GroupRule | None
    """How a group's value comes about; None where groups have it only as a key, or not at all."""
    kind: Kind = "number"
    """`number`: an array of numbers. Otherwise values are categorical: `text`, or `mixed`, which
    has texts and numbers."""
    as_text: Callable[[Any], str] = str
    """A value that is no number, as text."""
    is_key: bool = False
    """Whether operators can be grouped by it: then what they share is the group's value."""
    timed: bool = False
    """Whether each run has values of its own. Formulas then give shape (rows, runs), of which the
    statistic that is asked for makes one value a row."""
    detail: str = ""
    """What of `profile.DETAILS` it is made from."""
    needs_peaks: bool = False
    """Whether it compares with the peak rates of a device, so that those must be given."""
    needs_base: bool = False
    """Whether it compares with another profile, so that one must be given."""
    needs_runs_apart: bool = False
    """Whether it tells runs apart, so that there must be a row for each."""
    signed: bool = False
    """Whether people are shown the sign of what is above 0 too."""
    orderable: bool = True
    ranked: bool = False
    """Whether it depends on which rows are shown and in which order (a running sum)."""
    aliases: tuple[str, ...] = ()
    for_programs: str = ""
    """What programs call it, without the unit, where its name would be that of an aggregate."""

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
    runs_apart: bool = False
    """Whether each run has rows of its own."""

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
        if column.needs_runs_apart and not self.runs_apart:
            return False
        if self.keys is None:
            return column.of_operators is not None
        return column.of_groups is not None or (column.is_key and column.name in self.keys)


def _time(rows: Rows) -> Values:
    return rows.profile.timings(rows.side).chosen_s(rows.end_key)


def _wait(rows: Rows) -> Values:
    return rows.profile.device.chosen_s("kern")


def _of_the_runs(statistic: str) -> Formula:
    def formula(rows: Rows) -> Values:
        from profile_analyze.model.numbers import over_runs

        return over_runs(rows.per_run("time"), statistic)

    return formula


def _runs(rows: Rows) -> Values:
    import numpy as np

    known: Values = (~np.isnan(rows.per_run("time"))).sum(axis=1)
    return known


def _spread(rows: Rows) -> Values:
    from profile_analyze.model.numbers import spread_of_runs

    return spread_of_runs(rows.per_run("time"))


def _device(rows: Rows) -> Values:
    """The base tells it of what only the base has."""
    own = rows.profile.device.lanes_of_operators()
    if rows.comparison is None:
        return own
    from profile_analyze.model.categorical import Categorical

    others = rows.comparison.base_device.lanes_of_operators()
    both = zip(own.values().tolist(), others.values().tolist(), strict=True)
    return Categorical.of([ours or theirs for ours, theirs in both])


def _run(rows: Rows) -> Values:
    from profile_analyze.model.categorical import Categorical

    run_of = rows.profile.run_of
    assert run_of is not None, "runs are not kept apart"
    return Categorical(run_of, tuple(range(1, len(rows.profile.files) + 1)))


def _file(rows: Rows) -> Values:
    from profile_analyze.model.categorical import Categorical

    run_of = rows.profile.run_of
    assert run_of is not None, "runs are not kept apart"
    files: Categorical[str] = Categorical.of(rows.profile.files)
    return files.take(run_of)


def _share(rows: Rows) -> Values:
    from profile_analyze.model.numbers import ratio

    return ratio(rows.per_run("time"), rows.totals_s)


def _cumulative_time(rows: Rows) -> Values:
    from profile_analyze.model.numbers import running_total

    return running_total(rows.per_run("time"))


def _cumulative_share(rows: Rows) -> Values:
    from profile_analyze.model.numbers import ratio

    return ratio(rows.per_run("cumulative_time"), rows.totals_s)


def _rate(work: str) -> Formula:
    """Work per second of running. A wait time does no work: there the rate is N/A."""

    def formula(rows: Rows) -> Values:
        import numpy as np

        from profile_analyze.model.numbers import ratio

        if rows.end_key == "kern":
            return np.full(len(rows["time"]), np.nan)
        return ratio(rows[work], rows["time"])

    return formula


def _intensity(rows: Rows) -> Values:
    from profile_analyze.model.numbers import ratio

    return ratio(rows["computation"], rows["memory"])


def _distinct_dtypes(rows: Rows) -> Values:
    def text(dtypes: tuple[str | None, ...]) -> str | None:
        known = dict.fromkeys(filter(None, dtypes))
        return ", ".join([*known, *["N/A"] * (None in dtypes)]) if known else None

    return rows.profile.detail("input_dtypes").mapped(text)


COLUMNS: Final = (
    Column(
        "id",
        "",
        "the operator's number in the graph",
        lambda rows: rows.profile.id,
        None,
        aliases=("opr_id",),
    ),
    Column(
        "name",
        "",
        "the operator's name",
        lambda rows: rows.profile.name,
        None,
        kind="text",
        is_key=True,
    ),
    Column(
        "type",
        "",
        "the kind of operator",
        lambda rows: rows.profile.type,
        None,
        kind="text",
        is_key=True,
    ),
    Column(
        "count",
        "1",
        "how many operators are in the group; in a comparison, of either side",
        None,
        lambda rows: rows.sizes,
    ),
    Column(
        "time",
        "s",
        "end - start, the largest over the operator's comp nodes or threads "
        "(kern - start where wait times are asked for); of several runs the median, or what "
        "--run-stat says, and of a group that of its times in each run",
        _time,
        AGGREGATED,
        timed=True,
    ),
    Column(
        "runs",
        "1",
        "in how many runs the time is known",
        _runs,
        _runs,
    ),
    Column(
        "spread",
        "1",
        "how much the time varies from run to run: half the interquartile range over the median",
        _spread,
        _spread,
    ),
    Column(
        "time_min",
        "s",
        "the time in the fastest run",
        _of_the_runs("min"),
        _of_the_runs("min"),
        for_programs="time_of_fastest_run",
    ),
    Column(
        "time_max",
        "s",
        "the time in the slowest run",
        _of_the_runs("max"),
        _of_the_runs("max"),
        for_programs="time_of_slowest_run",
    ),
    Column(
        "share",
        "1",
        "time over the total time of all operators of the profile, in each run",
        _share,
        _share,
        timed=True,
    ),
    Column(
        "cumulative_time",
        "s",
        "running sum of time over the rows shown, in each run",
        _cumulative_time,
        _cumulative_time,
        timed=True,
        orderable=False,
        ranked=True,
    ),
    Column(
        "cumulative_share",
        "1",
        "running sum of share over the rows shown, in each run",
        _cumulative_share,
        _cumulative_share,
        timed=True,
        orderable=False,
        ranked=True,
    ),
    Column(
        "device_time",
        "s",
        "end - start on the device, whichever time is asked for",
        lambda rows: rows.profile.device.chosen_s("end"),
        AGGREGATED,
        timed=True,
    ),
    Column(
        "host_time",
        "s",
        "end - start on the host, whichever time is asked for",
        lambda rows: rows.profile.host.chosen_s("end"),
        AGGREGATED,
        timed=True,
    ),
    Column(
        "wait",
        "s",
        "kern - start on the device: how long the operator waited for its first kernel",
        _wait,
        AGGREGATED,
        timed=True,
    ),
    Column(
        "computation",
        "FLO",
        "floating-point operations, two for a multiply-add",
        lambda rows: rows.profile.computation,
        AGGREGATED,
    ),
    Column(
        "flops",
        "FLO/s",
        "computation / time",
        _rate("computation"),
        RatioOfSums("computation", "time"),
    ),
    Column(
        "memory",
        "byte",
        "bytes of all inputs and outputs, each counted once",
        lambda rows: rows.profile.memory,
        AGGREGATED,
    ),
    Column(
        "bandwidth",
        "byte/s",
        "memory / time",
        _rate("memory"),
        RatioOfSums("memory", "time"),
    ),
    Column(
        "intensity",
        "FLO/byte",
        "computation / memory",
        _intensity,
        RatioOfSums("computation", "memory"),
    ),
    Column(
        "in_shapes",
        "",
        "the shape of each input",
        lambda rows: rows.profile.detail("in_shapes"),
        None,
        kind="text",
        is_key=True,
        as_text=shapes_text,
        detail="in_shapes",
        orderable=False,
    ),
    Column(
        "in_layouts",
        "",
        "the strides, in elements, of each input; or contiguous, where they are those of its shape",
        lambda rows: rows.profile.detail("in_layouts"),
        None,
        kind="text",
        is_key=True,
        as_text=strides_text,
        detail="in_layouts",
        orderable=False,
    ),
    Column(
        "out_shapes",
        "",
        "the shape of each output",
        lambda rows: rows.profile.detail("out_shapes"),
        None,
        kind="text",
        is_key=True,
        as_text=shapes_text,
        detail="out_shapes",
        orderable=False,
    ),
    Column(
        "input_dtype",
        "",
        "the dtypes of the inputs, each once, and N/A if the profile does not tell all",
        _distinct_dtypes,
        None,
        kind="text",
        is_key=True,
        detail="input_dtypes",
    ),
    Column(
        "device",
        "",
        "the comp nodes that the operator ran on",
        _device,
        None,
        kind="text",
        is_key=True,
    ),
    Column(
        "parameters",
        "",
        "the operator's parameters, such as mode and stride; param.NAME is one of them",
        lambda rows: rows.profile.detail("parameters"),
        None,
        kind="text",
        is_key=True,
        as_text=parameters_text,
        detail="parameters",
        orderable=False,
    ),
    Column(
        "file",
        "",
        "the file that the run was read from",
        _file,
        None,
        kind="text",
        is_key=True,
        needs_runs_apart=True,
    ),
    Column(
        "run",
        "",
        "the number of the run, from 1 on in the order in which the files are named",
        _run,
        None,
        kind="mixed",
        is_key=True,
        needs_runs_apart=True,
    ),
)

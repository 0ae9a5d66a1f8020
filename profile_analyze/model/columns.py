"""The register of columns: whatever can be shown, ordered by or exported is one entry here.

An entry says what the column is called, its unit, its meaning, how an operator's value comes
about, and how the value of a group of operators does. It imports no NumPy until a formula runs,
so that `--help` can list the columns at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Protocol, TypeAlias

from profile_analyze.errors import UnknownColumnError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from profile_analyze.model.coded import Coded
    from profile_analyze.model.profile import EndKey, Profile, Side

DEFAULT_ORDER: Final = "time"

Values: TypeAlias = "NDArray[np.float64] | NDArray[np.int64] | Coded[Any]"


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
    def total_s(self) -> float:
        """Seconds of all operators of the profile: what a share of 1 is. NaN if unknown."""

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Shape (rows,): how many operators each row stands for."""

    def __getitem__(self, column: str) -> Any:
        """The values of another column, shape (rows,)."""


Formula: TypeAlias = Callable[[Rows], Values]


AGGREGATED: Final = "aggregated"
"""A group's value is the aggregate that was asked for, over its operators' values."""

GROUP_KEY: Final = "group key"
"""A group has a value only if it was grouped by this column."""


class RatioOfSums(NamedTuple):
    """A group's value is the sum of one column over the sum of another, over those with both.

    For an aggregate that does not add up (max, min), it is that aggregate over the operators' own
    ratios: never one operator's numerator over another's denominator.
    """

    numerator: str
    denominator: str


GroupRule: TypeAlias = "Literal['aggregated', 'group key'] | RatioOfSums | Formula"


# Named tuples: importing the module of the data classes would take a fifth of the time of --help.
class Column(NamedTuple):
    """One entry of the register."""

    name: str
    unit: str
    """`s`, `byte`, `FLO`, `FLO/s`, `byte/s`, `1` for a bare number, empty for text."""
    meaning: str
    of_operators: Formula | None
    """How the operators' values come about; None where only groups have the column."""
    of_groups: GroupRule | None
    """How a group's value comes about; None where only operators have the column."""
    orderable: bool = True
    ranked: bool = False
    """Whether it depends on which rows are shown and in which order (a running sum)."""
    aliases: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"Column({self.name!r}, unit={self.unit!r}, meaning={self.meaning!r})"

    def belongs_to(self, *, groups: bool) -> bool:
        """Whether a table of groups (else of operators) has this column."""
        return (self.of_groups if groups else self.of_operators) is not None


def _time(rows: Rows) -> Values:
    return rows.profile.timings(rows.side).of_the_run_s(rows.end_key)


def _share(rows: Rows) -> Values:
    from profile_analyze.model.numbers import ratio

    return ratio(rows["time"], rows.total_s)


def _cumulative_time(rows: Rows) -> Values:
    from profile_analyze.model.numbers import running_total

    return running_total(rows["time"])


def _cumulative_share(rows: Rows) -> Values:
    from profile_analyze.model.numbers import ratio

    return ratio(rows["cumulative_time"], rows.total_s)


def _rate(work: str) -> Formula:
    """Work per second of running. A wait time does no work: there the rate is N/A."""

    def formula(rows: Rows) -> Values:
        import numpy as np

        from profile_analyze.model.numbers import ratio

        if rows.end_key == "kern":
            return np.full(len(rows["time"]), np.nan)
        return ratio(rows[work], rows["time"])

    return formula


COLUMNS: Final = (
    Column(
        "id",
        "",
        "the operator's number in the graph",
        lambda rows: rows.profile.id,
        None,
        aliases=("opr_id",),
    ),
    Column("name", "", "the operator's name", lambda rows: rows.profile.name, None),
    Column("type", "", "the kind of operator", lambda rows: rows.profile.type, GROUP_KEY),
    Column("count", "1", "how many operators are in the group", None, lambda rows: rows.sizes),
    Column(
        "time",
        "s",
        "end - start, the largest over the operator's comp nodes or threads "
        "(kern - start where wait times are asked for)",
        _time,
        AGGREGATED,
    ),
    Column(
        "share",
        "1",
        "time over the total time of all operators of the profile",
        _share,
        _share,
    ),
    Column(
        "cumulative_time",
        "s",
        "running sum of time over the rows shown",
        _cumulative_time,
        _cumulative_time,
        orderable=False,
        ranked=True,
    ),
    Column(
        "cumulative_share",
        "1",
        "running sum of share over the rows shown",
        _cumulative_share,
        _cumulative_share,
        orderable=False,
        ranked=True,
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
        "in_shapes",
        "",
        "the shape of each input",
        lambda rows: rows.profile.in_shapes,
        None,
        orderable=False,
    ),
    Column(
        "in_layouts",
        "",
        "the strides, in elements, of each input that is not contiguous",
        lambda rows: rows.profile.in_layouts,
        None,
        orderable=False,
    ),
    Column(
        "out_shapes",
        "",
        "the shape of each output",
        lambda rows: rows.profile.out_shapes,
        None,
        orderable=False,
    ),
)

_BY_NAME: Final = {name: column for column in COLUMNS for name in (column.name, *column.aliases)}


def find_column(name: str) -> Column:
    """The column of that name or alias.

    Raises `UnknownColumnError`, which lists the columns that there are.
    """
    try:
        return _BY_NAME[name]
    except KeyError:
        known = ", ".join(column.name for column in COLUMNS)
        raise UnknownColumnError(f"there is no column {name!r}; the columns are {known}") from None


def group_keys() -> tuple[str, ...]:
    """What operators can be grouped by."""
    return tuple(column.name for column in COLUMNS if column.of_groups == GROUP_KEY)


def orderable_names(*, groups: bool) -> tuple[str, ...]:
    """What a table of groups (else of operators) can be ordered by, in the register's order."""
    return tuple(
        column.name for column in COLUMNS if column.orderable and column.belongs_to(groups=groups)
    )

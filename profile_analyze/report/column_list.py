"""The list of all columns: `--columns help` prints it, and it is `docs/columns.md`."""

from __future__ import annotations

from textwrap import TextWrapper, fill
from typing import TYPE_CHECKING, Final

from profile_analyze.model.columns import AGGREGATED, RatioOfSums
from profile_analyze.model.wording import machine_name
from profile_analyze.query.catalog import CATALOG

if TYPE_CHECKING:
    from profile_analyze.model.columns import Column

_WIDTH: Final = 100

_INTRODUCTION: Final = """\
# Columns

What can be shown (`--columns`), filtered (`--where`, `--having`) and ordered by (`--order-by`);
this is what `profile-analyze --columns help` prints. Running sums can only be shown, shapes and
parameters as a whole have no order. In brackets: the unit, and the name in the forms for programs
(csv, json, jsonl), where numbers are in that unit.

N/A means that the profile does not say. It is never 0, passes no comparison, and comes last.
"""

_TOLERANCE: Final = """\
In conditions, measured times are equal if they differ by at most half a nanosecond, because
differences of clock readings carry rounding noise. They are {}, and aggregates of these. All other
numbers are compared exactly, also times that are worked out, such as memory_time and lost.
"""

_CONVENTIONS: Final = """\
## What the numbers count

- Computation: two floating-point operations for a multiply-add. Memory: each input and output once,
  a lower bound of the traffic, as caches may be too small to read everything only once.
- Copy, Concat and Dimshuffle move data: what the profile calls their computation counts elements,
  so that only the bandwidth bounds them.
- Not held against a roof: times of the host, wait times, times of 0, those below the clock's
  resolution (1 us where a CPU worked), operators without a formula or a footprint, and dtypes for
  which the device has no known rate. An efficiency over 100% is shown: see the note beside it.
"""

_MADE: Final = """\
## Made from these

- `param.NAME`: one of the operator's parameters, such as `param.stride_h` or `param.mode`. Numbers
  are compared as numbers: 1 and 1.0 are equal. Booleans, lists and objects are texts, as JSON
  writes them without blanks: `--where 'param.flag == true'`, `--where 'param.axes == [0,1]'`.
- `name~REGEX`: the part of the name that the pattern finds, or its first group if it has one; N/A
  where it finds nothing. For other texts likewise: `type~^(Conv)`. Commas separate columns, but for
  those within brackets or behind a backslash. `--where` has `name ~ REGEX` instead.
- `time.p90` and the like, for groups: another aggregate of time, device_time, host_time, wait,
  computation or memory than `--aggregate` asks for; of flops, bandwidth and intensity likewise, but
  not their sum or mean, which mean nothing. Percentiles are interpolated linearly between
  neighbours; `std` is the sample standard deviation (n - 1); `count` is how many operators have a
  value.
"""


def column_list() -> str:
    """Every column with its unit, its meaning, and what it is of groups, in Markdown."""
    of_operators = [column for column in CATALOG if column.of_operators]
    plain = [one for one in of_operators if not (one.needs_peaks or one.needs_base)]
    sections = {
        "Texts, which groups can be formed by": [one for one in plain if one.is_key],
        "Numbers": [one for one in plain if not one.is_key],
        "With --peaks": [one for one in of_operators if one.needs_peaks],
        "With --compare": [one for one in of_operators if one.needs_base],
        "Of groups alone": [column for column in CATALOG if not column.of_operators],
    }
    return "\n".join(
        [
            _INTRODUCTION,
            _tolerance(),
            *(
                f"## {title}\n\n" + "".join(map(_entry, columns))
                for title, columns in sections.items()
            ),
            _CONVENTIONS,
            _MADE,
        ]
    )


def _tolerance() -> str:
    """Which columns conditions compare with a tolerance."""
    names = [column.name for column in CATALOG if column.measured]
    text = _TOLERANCE.format(f"{', '.join(names[:-1])} and {names[-1]}")
    return fill(text, _WIDTH, break_long_words=False, break_on_hyphens=False) + "\n"


def _entry(column: Column) -> str:
    wrapper = TextWrapper(_WIDTH, subsequent_indent="  ", break_long_words=False)
    wrapper.break_on_hyphens = False
    return (
        wrapper.fill(f"- `{column.name}`{_brackets(column)}: {column.meaning}{_of_groups(column)}.")
        + "\n"
    )


def _brackets(column: Column) -> str:
    unit = {"1": "", "": ""}.get(column.unit, column.unit)
    name = machine_name(column)
    parts = [part for part in (unit, f"`{name}`" if name != column.name else "") if part]
    also = [f"also `{alias}`" for alias in column.aliases]
    return f" ({', '.join([*parts, *also])})" if parts or also else ""


def _of_groups(column: Column) -> str:
    """What a group's value is, where that is worth a word."""
    if column.of_groups == AGGREGATED:
        return "; of a group: as `--aggregate` says, its sum otherwise"
    if isinstance(column.of_groups, RatioOfSums):
        above, below = column.of_groups
        return (
            f"; of a group: sum of {above} / sum of {below} over the operators that have both, for "
            "aggregates other than sum and mean that of the operators' own"
        )
    if column.of_groups is None and not column.is_key:
        return "; operators only"
    return ""

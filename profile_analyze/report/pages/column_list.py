"""The list of all columns, for `--columns help` and `docs/columns.md`."""

from __future__ import annotations

from textwrap import TextWrapper
from typing import TYPE_CHECKING, Final

from profile_analyze.columns.catalog import CATALOG
from profile_analyze.columns.column import AGGREGATED
from profile_analyze.columns.wording import machine_name

if TYPE_CHECKING:
    from collections.abc import Iterable

    from profile_analyze.columns.column import Column

_POINT_WRAPPER: Final = TextWrapper(
    100, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
)

_INTRODUCTION: Final = """\
# Columns

`--columns`, `--where`, `--having` and `--order-by` use these names. Running sums can only be shown.
Rows cannot be ordered by shapes, strides or `parameters`. `--explain flops` shows how a column is
computed, with the numbers of the first row.

The brackets have the unit, and the name in csv, json, jsonl and parquet if it differs. `Operators
only`: groups do not have the column.

N/A: the profile does not have the value. N/A is not 0 and meets no condition. It comes last in
every order except the default order of a model.

In conditions, measured times, such as time, queue and base, are equal if they differ by at most
half a nanosecond, because differences of clock readings have rounding errors. All other numbers are
compared exactly, including computed times such as memory_time and lost.
"""

_CONVENTIONS: Final = """\
## What the numbers count

- Memory counts each input and output once. This is a lower bound of the traffic: data that does
  not fit into the caches is read more than once.
- Operators of the category copy only move data. So do operators of the category data movement,
  unless their computation is unknown: such an operator may be a view, which moves nothing. The
  roofline ignores the computation of operators that only move data, because some runtimes report
  the number of elements as computation.
- The roofline does not judge host times, wait times, times of 0, or times below the clock's
  resolution.
- The roofline does not judge operators that do no work, such as views and allocations. In a profile
  with a GPU, it judges no copies, because a link may limit them.
- The roofline does not judge operators of unknown memory. For operators that do more than move
  data, it also needs the computation, and the device's rate for their dtype.
- The roofline does not judge operators whose work and times were recorded in different runs, with
  different shapes.

## Groups

- In a comparison, an operator that both sides have is grouped by its values in the profile, even if
  the baseline has other values, such as another input_dtype.
- These columns are added up over the operators of a group, or aggregated as `--aggregate` says:
  {aggregated}.
- A ratio of two of these columns, such as flops, is the ratio of the two sums, over the operators
  that have both values. With an aggregate other than sum or mean, the column is that aggregate of
  the operators' ratios.
- In output, an aggregate other than sum is part of the column's name: `--aggregate max` shows
  `time` as `device self time max`, and in csv, json, jsonl and parquet as `time_max_s`. A name that
  already has its unit gets no second one: `input_bytes_max`. The column `time_max` is another
  number: the time in the slowest run. In conditions and orders, the name stays `time`.
"""

_FAMILIES: Final = """\
## Column families

- `param.NAME`: one of the operator's parameters, such as `param.stride_h` or `param.mode`. Numbers
  are compared as numbers: 1 and 1.0 are equal. Booleans, lists and objects are compared as JSON
  text without blanks: `--where 'param.flag == true'`, `--where 'param.axes == [0,1]'`.
- `name~REGEX`: the part of the name that matches the pattern, or the first capture group if the
  pattern has one; N/A without a match. Other columns of texts work in the same way: `type~^(Conv)`.
  In `--where`, write `name ~ REGEX` instead.
- `scope/N`: the first N levels of the scope. With `scope/2`, `encoder/layer1/attention` counts as
  `encoder/layer1`, and `head` as `head`.
- `date` and the like: a label that `--label` gives to the files. Its full name is `label.date`.
  Rows with a label have the medians and shares of the runs with this label.
- `time.p90` and the like, for groups: any aggregate of a column that is added up, whatever
  `--aggregate` says. Ratios of two such columns have all aggregates except sum and mean.
  Percentiles are interpolated linearly. `std` is the sample standard deviation (n - 1). `count` is
  the number of operators that have a value.

## Which columns are shown

- By default, csv, json, jsonl and parquet show these columns of operators: id, name, type, time,
  share, computation, flops, memory, bandwidth, in_shapes, in_strides and out_shapes. For groups,
  they show the keys, count, time and its aggregates, share, computation, flops, memory and
  bandwidth. For a model that has not run, they show columns of work, such as macs, params and
  memory.
- Several runs add spread to these columns. `--level kernel` adds full_name and launched_by.
  `--peaks` adds bound, efficiency, lost and gain. `--compare` adds base, difference, change, ratio,
  ratio_low, ratio_high, relative_ratio, relative_low, relative_high, p_value, work_ratio,
  ratio_per_work, match, test, verdict and runs_needed.
- In csv, json, jsonl and parquet, calls follows these columns if an operator has several calls in a
  run. The last column of operators is key.
- `--columns all` shows all columns; formats that people read leave out columns without any value.
- csv and the formats that people read escape some characters in names, as in `\\x1b`: control
  characters, invisible characters and characters that reorder text. json, jsonl and parquet have
  the original characters.
"""


def column_list() -> str:
    """Return the page as Markdown, with the unit and the meaning of each column."""
    of_operators = [column for column in CATALOG if column.of_operators]
    plain = [one for one in of_operators if not (one.needs_peaks or one.needs_base)]
    sections = {
        "Group keys": [one for one in plain if one.is_key],
        "Numbers": [one for one in plain if not one.is_key],
        "Roofline columns (--peaks)": [one for one in of_operators if one.needs_peaks],
        "Comparison columns (--compare)": [one for one in of_operators if one.needs_base],
        "Columns of groups only": [column for column in CATALOG if not column.of_operators],
    }
    return "\n".join(
        [
            _INTRODUCTION,
            *(
                f"## {title}\n\n" + "".join(map(_entry, columns))
                for title, columns in sections.items()
            ),
            _conventions(),
            _FAMILIES,
        ]
    )


def _conventions() -> str:
    """Return the sections on numbers and groups, with the names of the columns that add up."""
    aggregated = _enumerated(column.name for column in CATALOG if column.of_groups == AGGREGATED)
    # The first line is wrapped like the others, because `_CONVENTIONS` indents it by two blanks.
    names = _POINT_WRAPPER.fill(f"  {aggregated}").strip()
    return _CONVENTIONS.format(aggregated=names)


def _enumerated(names: Iterable[str]) -> str:
    *most, last = names
    return f"{', '.join(most)} and {last}"


def _entry(column: Column) -> str:
    text = f"- `{column.name}`{brackets(column)}: {column.meaning}{remark_on_groups(column)}."
    return _POINT_WRAPPER.fill(text) + "\n"


def brackets(column: Column) -> str:
    """Return the unit and the name for programs, in brackets.

    The unit 1 is left out. The name is left out if programs use the same name as people.
    """
    unit = "" if column.unit == "1" else column.unit
    name = machine_name(column)
    parts = [part for part in (unit, f"`{name}`" if name != column.name else "") if part]
    return f" ({', '.join(parts)})" if parts else ""


def remark_on_groups(column: Column) -> str:
    """Return a remark that groups lack the column; empty if groups have it."""
    return "; operators only" if column.of_groups is None and not column.is_key else ""

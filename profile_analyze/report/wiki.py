"""Pipe tables for a wiki page, one line a row: the original's `--confluence`."""

from __future__ import annotations

import re
from math import isnan
from typing import TYPE_CHECKING, Final

from profile_analyze.model.visible import visible
from profile_analyze.report.base import compared_of, judged_of, parts, varying
from profile_analyze.report.cells import cells_of, heading_in
from profile_analyze.report.drawing import LIBRARIES, draw
from profile_analyze.report.grid import GridRenderer
from profile_analyze.report.labels import (
    gate_sentence,
    label_in_one,
    row_labels,
    summary_lines,
    summary_sentences,
)
from profile_analyze.report.shapes import shape_columns
from profile_analyze.units import mebi, mega, percent, seconds, six_digits

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from profile_analyze.query.question import Query
    from profile_analyze.query.result import Result
    from profile_analyze.query.summary import Summary
    from profile_analyze.report.base import Display, Report

_BAR_LENGTH: Final = 15
_RATIO_TO_BASE: Final = "ratio to base"  # the original calls the share of the time `ratio`
_MARKUP: Final = re.compile(
    r"""[|`*~!$^]
    | \\ (?= [!-/:-@\[-`{-~])        # an escape already
    | < (?= [A-Za-z/!?])             # a tag
    | & (?= [#A-Za-z])               # an entity
    | (?<= \]) \(                    # [text](address)
    | \{ (?= [A-Za-z])               # a macro
    | (?<= :) / (?= /) | (?<= www) \. | (?<= mailto) :   # an address by itself
    | (?<! [A-Za-z0-9]) _ | _ (?! [A-Za-z0-9])
    """,
    re.VERBOSE | re.IGNORECASE,
)
_NUMERIC: Final = (
    "#",
    "time",
    "wait time",
    "cum-time",
    "cum-time ratio",
    "opr count",
    "opr id",
    "computation (MFLO)",
    "MFLOPS",
    "memory (MB)",
    "bandwidth (MiB/s)",
)


class WikiRenderer:
    """See `Renderer`."""

    name = "wiki"
    for_programs = False
    libraries = LIBRARIES

    def columns(self, query: Query, *, several_runs: bool = False) -> tuple[str, ...]:
        """See `Renderer.columns`: those of the other form for people, and bars."""
        return GridRenderer().columns(query, several_runs=several_runs)

    def pieces(self, report: Report, display: Display) -> Iterator[str]:
        """See `Renderer.pieces`."""
        return parts(
            report,
            display,
            gate=lambda verdicts: "\n\n".join(escaped(gate_sentence(one)) for one in verdicts),
            summary=_summary,
            table=lambda result: [_table(result, report.shown_of(result.query), display)],
        )


def _summary(summary: Summary) -> str:
    lines = [(name, escaped(value)) for name, value in summary_lines(summary)]
    table = _draw(("name", "value"), lines, numeric=(1,))
    return "\n\n".join([table, *map(escaped, summary_sentences(summary))])


def _table(result: Result, names: Sequence[str], display: Display) -> str:
    if names:
        return _chosen(result, names, display)
    in_shapes, out_shapes = shape_columns(result)
    columns = {
        "#": list(map(str, range(len(result)))),
        **_time_columns(result),
        **_label_columns(result, display),
        **{
            _RATIO_TO_BASE if name == "ratio" else heading_in(result, name): result.texts(name)
            for name in (*compared_of(result.query), *varying(several_runs=result.several_runs))
        },
        "computation (MFLO)": list(map(mega, result["computation"].tolist())),
        "MFLOPS": list(map(mega, result["flops"].tolist())),
        "MFLOPS-bar": _bars(result["flops"].tolist()),
        "memory (MB)": list(map(mebi, result["memory"].tolist())),
        "bandwidth (MiB/s)": list(map(mebi, result["bandwidth"].tolist())),
        "bandwidth bar": _bars(result["bandwidth"].tolist()),
        **{heading_in(result, name): result.texts(name) for name in judged_of(result.query)},
        "in_shapes": list(map(_shapes, in_shapes)),
        "out_shapes": list(map(_shapes, out_shapes)),
    }
    numeric = [place for place, header in enumerate(columns) if header in _NUMERIC]
    return _draw(tuple(columns), list(zip(*columns.values(), strict=True)), numeric=numeric)


def _chosen(result: Result, names: Sequence[str], display: Display) -> str:
    """A table of the columns `names`."""
    columns = cells_of(result, names, display._replace(color=False))
    rows = zip(*([_cell(text, display) for text in cells.texts] for cells in columns), strict=True)
    headers = [_cell(cells.header, display) for cells in columns]
    right = [place for place, cells in enumerate(columns) if cells.is_number]
    return _draw(headers, list(rows), right=right)


def _time_columns(result: Result) -> dict[str, list[str]]:
    times = result["time"].tolist()
    return {
        "time" if result.query.end_key == "end" else "wait time": list(map(seconds, times)),
        "ratio": list(map(percent, result["share"].tolist())),
        "time bar": _bars(times),
        "cum-time": list(map(six_digits, result["cumulative_time"].tolist())),
        "cum-time ratio": list(map(six_digits, result["cumulative_share"].tolist())),
        **{heading_in(result, name): result.texts(name) for name in result.query.times[1:]},
    }


def _label_columns(result: Result, display: Display) -> dict[str, list[str]]:
    headers = ("opr type", "opr count") if result.query.grouped else ("opr name", "opr type")
    labels = list(map(label_in_one, row_labels(result)))
    return {
        header: [_cell(label[place], display) for label in labels]
        for place, header in enumerate((*headers, "opr id"))
    }


def _bars(values: list[float]) -> list[str]:
    """A bar for each value, the largest at full length; nothing for N/A."""
    longest = max((value for value in values if not isnan(value)), default=0.0)
    return [
        "" if isnan(value) or longest <= 0 else "#" * int(value / longest * _BAR_LENGTH)
        for value in values
    ]


def _shapes(lines: list[str]) -> str:
    """The shapes in one line; strides follow their shape after a blank."""
    return ", ".join(lines).replace(", -[", " -[")


def _cell(text: str, display: Display) -> str:
    """`text` as a cell of one line."""
    return escaped(visible(text.strip(), display.encoding))


def escaped(text: str) -> str:
    """`text` with a backslash before what would end the cell, or be markup of Markdown or a wiki.

    What names are full of stays as the original has it: `[3443]`, `{1,8}`, `const<1>`, `a_b`.
    """
    return _MARKUP.sub(r"\\\g<0>", text)


def _draw(
    headers: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    numeric: Sequence[int] = (),
    right: Sequence[int] = (),
) -> str:
    lines = draw(rows, style="orgtbl", headers=headers, numeric=numeric, right=right).split("\n")
    lines[1] = lines[1].replace("+", "|")  # the rule that Markdown knows
    return "\n".join(lines)

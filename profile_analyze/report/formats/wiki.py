"""Pipe tables for a wiki page, one line per row: the original's `--confluence`."""

from __future__ import annotations

import re
from math import isnan
from typing import TYPE_CHECKING, Final

from profile_analyze.model.measures import MEASURES
from profile_analyze.model.visible import visible
from profile_analyze.report.formats.grid import GridRenderer, original_times
from profile_analyze.report.layout.cells import cells_of
from profile_analyze.report.layout.default_columns import roofline_columns, variation_columns
from profile_analyze.report.layout.drawing import draw
from profile_analyze.report.layout.labels import join_keys, row_labels
from profile_analyze.report.layout.shapes import shape_columns

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from profile_analyze.query.table import Table
    from profile_analyze.report.base import Display
    from profile_analyze.report.layout.cells import Cells, ColumnTexts
    from profile_analyze.report.layout.column_fitting import Removal
    from profile_analyze.report.sections import Line, TableSection

_BAR_LENGTH: Final = 15
_RATIO_TO_BASE: Final = "ratio to baseline"  # in the original, `ratio` is the share
# Matches characters of Markdown or wiki markup, but only in positions where they act as markup.
_MARKUP: Final = re.compile(
    r"""[|`*~!$^]
    | \\ (?= [!-/:-@\[-`{-~])        # a backslash that would escape
    | < (?= [A-Za-z/!?])             # a tag
    | & (?= [#A-Za-z])               # an entity
    | (?<= \]) \(                    # [text](address)
    | \{ (?= [A-Za-z])               # a macro
    | (?<= :) / (?= /) | (?<= www) \. | (?<= mailto) :   # an address
    | (?<! [A-Za-z0-9]) _ | _ (?! [A-Za-z0-9])
    """,
    re.VERBOSE | re.IGNORECASE,
)
# The original aligns these columns at the decimal point.
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


class WikiRenderer(GridRenderer):
    """Renderer of pipe tables; see `Renderer`. The default columns include bars."""

    name = "wiki"
    suffixes: tuple[str, ...] = (".wiki",)
    before_sentences = "\n\n"

    def facts(self, lines: Sequence[Line], display: Display) -> str:  # noqa: ARG002  # markup has no width
        """Return the facts as a table of two columns."""
        rows = [(name, escaped(value)) for name, value in lines]
        return _draw(("name", "value"), rows, numeric=(1,))

    def sentences(self, texts: Sequence[str], display: Display) -> str:  # noqa: ARG002  # markup has no width
        """Return a paragraph per sentence."""
        return "\n\n".join(map(escaped, texts))

    def titled(
        self,
        title: str,
        columns: Sequence[Cells],
        removal: Removal,  # noqa: ARG002  # markup has no width
        display: Display,
    ) -> str:
        """Return a short table with a title."""
        return f"{escaped(title)}:\n\n{_draw_cells(columns, display)}"

    def rows(self, columns: Sequence[Cells], display: Display, chooser: str) -> Iterable[str]:  # noqa: ARG002  # markup has no width
        """Return a line per row."""
        return [_draw_cells(columns, display)]

    def table(self, section: TableSection, display: Display) -> Iterable[str]:
        """Return a line per row."""
        table, names, _ = section
        texts = self.column_texts(table, names or original_times(table), display)
        return [_table(texts, names, display)]


def _table(texts: ColumnTexts, names: Sequence[str], display: Display) -> str:
    if names:
        return _chosen_columns(texts, names, display)
    table = texts.table
    in_shapes, out_shapes = shape_columns(table)
    columns = {
        "#": list(map(str, range(len(table)))),
        **_time_columns(texts),
        **_label_columns(table, display),
        **{
            _RATIO_TO_BASE if name == "ratio" else texts.title(name): texts.texts(name)
            for name in variation_columns(table.query, several_runs=table.several_runs)
        },
        "computation (MFLO)": table.texts("computation", "fixed"),
        "MFLOPS": table.texts("flops", "fixed"),
        "MFLOPS-bar": _bars(table["flops"].tolist()),
        "memory (MB)": table.texts("memory", "fixed"),
        "bandwidth (MiB/s)": table.texts("bandwidth", "fixed"),
        "bandwidth bar": _bars(table["bandwidth"].tolist()),
        **{texts.title(name): texts.texts(name) for name in roofline_columns(table.query)},
        "in_shapes": list(map(_join_shapes, in_shapes)),
        "out_shapes": list(map(_join_shapes, out_shapes)),
    }
    numeric = [index for index, header in enumerate(columns) if header in _NUMERIC]
    # Times with a unit may be `<0.001`, which has no place in a column that is aligned at the
    # decimal point. Columns of such times are therefore aligned on the right.
    unit = f" ({texts.times.unit})"
    right = [index for index, header in enumerate(columns) if header.endswith(unit)]
    return _draw(
        tuple(columns), list(zip(*columns.values(), strict=True)), numeric=numeric, right=right
    )


def _chosen_columns(texts: ColumnTexts, names: Sequence[str], display: Display) -> str:
    """Return a table of the columns `names`."""
    return _draw_cells(cells_of(texts, names, display._replace(color=False)), display)


def _draw_cells(columns: Sequence[Cells], display: Display) -> str:
    rows = zip(*([_cell(text, display) for text in cells.texts] for cells in columns), strict=True)
    headers = [_cell(cells.header, display) for cells in columns]
    right = [index for index, cells in enumerate(columns) if cells.is_number]
    return _draw(headers, list(rows), right=right)


def _time_columns(texts: ColumnTexts) -> dict[str, list[str]]:
    table = texts.table
    title = "time" if MEASURES[table.query.measure].is_run_time else "wait time"
    return {
        texts.times.original_title(title): texts.texts("time"),
        "ratio": table.texts("share"),
        "time bar": _bars(table["time"].tolist()),
        texts.times.original_title("cum-time"): texts.texts("cumulative_time", "digits"),
        "cum-time ratio": table.texts("cumulative_share", "digits"),
        **{texts.title(name): texts.texts(name) for name in table.query.times[1:]},
    }


def _label_columns(table: Table, display: Display) -> dict[str, list[str]]:
    headers = ("opr type", "opr count") if table.query.grouped else ("opr name", "opr type")
    labels = list(map(join_keys, row_labels(table)))
    return {
        header: [_cell(label[index], display) for label in labels]
        for index, header in enumerate((*headers, "opr id"))
    }


def _bars(values: list[float]) -> list[str]:
    """Return a bar for each value; empty for N/A. The bar of the largest value has full length."""
    # N/A is left out, because `max` may return NaN if a value is NaN.
    longest = max((value for value in values if not isnan(value)), default=0.0)
    return [
        "" if isnan(value) or longest <= 0 else "#" * int(value / longest * _BAR_LENGTH)
        for value in values
    ]


def _join_shapes(lines: list[str]) -> str:
    """Return all shapes in one line. Strides follow the shape that they belong to."""
    return ", ".join(lines).replace(", -[", " -[")


def _cell(text: str, display: Display) -> str:
    """Return `text` as a cell of one line."""
    return escaped(visible(text.strip(), display.encoding))


def escaped(text: str) -> str:
    """Return `text` with a backslash before characters that would end the cell or be markup.

    Frequent and harmless parts of names stay as in the original: `[3443]`, `{1,8}`, `const<1>`,
    `a_b`.
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
    lines[1] = lines[1].replace("+", "|")  # Markdown wants pipes in the rule
    return "\n".join(lines)

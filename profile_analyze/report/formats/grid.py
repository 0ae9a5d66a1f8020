"""Boxed tables: the default format, as the original tool prints it (docs/compatibility.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from profile_analyze.model.terms import RELATIVE
from profile_analyze.report.formats.people import PeopleRenderer
from profile_analyze.report.layout.aligned_columns import fitted_widths, without_blank_header_lines
from profile_analyze.report.layout.cells import Cells, cells_of, intervals
from profile_analyze.report.layout.colors import bar, colored_word, dim
from profile_analyze.report.layout.column_fitting import (
    Removal,
    fit_columns,
    fitting_columns,
    left_out_columns,
    ordering_columns,
)
from profile_analyze.report.layout.default_columns import (
    columns_beside_time,
    group_columns,
    roofline_columns,
)
from profile_analyze.report.layout.drawing import draw, draw_boxes
from profile_analyze.report.layout.labels import row_labels, time_title
from profile_analyze.report.layout.paragraphs import labelled_lines, wrapped_headers
from profile_analyze.report.layout.shapes import shape_columns
from profile_analyze.report.layout.text_layout import wrapped
from profile_analyze.units import NOT_AVAILABLE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from profile_analyze.query.question import Query
    from profile_analyze.query.table import Table
    from profile_analyze.report.base import Display
    from profile_analyze.report.layout.cells import ColumnTexts
    from profile_analyze.report.sections import Line, TableSection

_INFO: Final = "operator info"
_INFO_WIDTH: Final = 30  # as in the original
_PREFIX_WIDTH: Final = 3  # the width of `-  ` before further lines of a wrapped text
_HEADER_PADDING: Final = 2  # tabulate makes a column this much wider than its header
_HEADER_WIDTH: Final = 16  # if headers do not fit, they are wrapped to this width
_CHOSEN_HEADER_WIDTH: Final = 12  # replaces `_HEADER_WIDTH` for columns that the user chose
_MIN_WIDTH: Final = 8  # no text is wrapped to less than this
_MIN_INFO_WIDTH: Final = len(_INFO) + _HEADER_PADDING - _PREFIX_WIDTH
"""Narrower texts would not help, because the column is at least as wide as its header."""
_CONTINUATION: Final = "\n-  "
_BOX_CHARACTER: Final = "\N{BOX DRAWINGS DOWN SINGLE AND HORIZONTAL DOUBLE}"


# A box is a drawn column. It shows one or more columns of the answer. Code and messages call the
# box by the name of the first of these columns, because `--columns` may not accept its title.
# These boxes are shown by default. On a narrow terminal, they are left out in this order.
_EXTRAS: Final = (
    *("in_shapes", "out_shapes", "cumulative_time", "spread", "memory", "computation"),
    *("bandwidth", "flops"),
)
# Columns that are shown in the box of another column.
_BOXES: Final = {
    "cumulative_share": "cumulative_time",
    **dict.fromkeys(("difference", "change"), "base"),
    **dict.fromkeys(("ratio_low", "ratio_high", "verdict"), "ratio"),
    **dict.fromkeys(("relative_ratio", "relative_low", "relative_high", "test"), "ratio"),
}
_RATES: Final = ("computation", "flops", "memory", "bandwidth")
# The boxes that --compare and --peaks add. They are left out last.
_ASKED_FOR: Final = ("bound", "efficiency", "base", "gain", "lost", "ratio")


class GridRenderer(PeopleRenderer):
    """Renderer of boxed tables; see `Renderer`."""

    name = "table"
    suffixes: tuple[str, ...] = (".txt", ".log", ".out")
    follows_original = True

    def columns(self, query: Query, *, several_runs: bool = False) -> tuple[str, ...]:
        """Return the default columns, some of which share a box; see `Renderer.columns`."""
        if query.keys is None:
            return (
                "time",
                *columns_beside_time(query, several_runs=several_runs),
                "name",
                "type",
                "id",
                "in_shapes",
                "in_strides",
                "out_shapes",
            )
        return group_columns(query, several_runs=several_runs)

    def facts(self, lines: Sequence[Line], display: Display) -> str:
        """Return the facts between two rules."""
        return draw(labelled_lines(lines, display), style="simple", numeric=(1,))

    def rows(self, columns: Sequence[Cells], display: Display, chooser: str) -> Iterable[str]:
        """Yield a table with lines between its rows.

        On a terminal, texts are wrapped, and the last columns are left out if they do not fit.
        """
        if display.width is not None:
            columns = [
                column
                if column.is_number
                else column._replace(
                    texts=[_wrap([text], _INFO_WIDTH, display) for text in column.texts]
                )
                for column in columns
            ]
        widths = _widths(columns)
        shown, about_others = fitting_columns(columns, widths, _frame_width, display, chooser)
        yield from draw_boxes(
            list(zip(*(column.texts for column in shown), strict=True)),
            headers=[column.header for column in shown],
            right=[index for index, column in enumerate(shown) if column.is_number],
            style=_box_style(display),
        )
        yield from about_others

    def narrowed(
        self, columns: Sequence[Cells], available: int, display: Display
    ) -> tuple[Sequence[Cells], Iterable[str]]:
        """Return the columns of a short table with wrapped texts; see `PeopleRenderer.narrowed`."""
        widths = fitted_widths(columns, available)
        fitting = [
            column
            if width == column.width()
            else column._replace(
                texts=[_wrap([text], width - _PREFIX_WIDTH, display) for text in column.texts]
            )
            for column, width in zip(columns, widths, strict=True)
        ]
        return fitting, ()

    def table(self, section: TableSection, display: Display) -> Iterable[str]:
        """Yield a table with lines between its rows: ASCII lines if the encoding needs them."""
        table, names, _ = section
        shown = names or original_times(table)
        return _table(self.column_texts(table, shown, display), names, display)


def original_times(table: Table) -> tuple[str, ...]:
    """Return the columns of times in the original's layout, then the columns that options add.

    The times in these columns decide the unit.
    """
    compared = ("base", "difference") if table.query.compared else ()
    return (
        *("time", "cumulative_time", *table.query.times[1:], *compared),
        *roofline_columns(table.query),
    )


def _table(texts: ColumnTexts, names: Sequence[str], display: Display) -> Iterator[str]:
    by_name = _columns(texts, names, display, _INFO_WIDTH)
    columns = [*by_name.values()]
    removal = _removal(texts.table, names, [*by_name])
    available = display.width
    # Measuring the columns of a long table takes time, so it is done only if there is a limit.
    widths = [0] * len(columns) if available is None else _widths(columns)
    shown, excess = fit_columns(widths, available, _frame_width, removal.extras)
    if excess > 0:  # texts must be narrower; continuation lines also have a prefix
        widest = max((one.width() for one in columns if _is_wrapped(one, names)), default=0)
        narrower = max(widest - excess - _PREFIX_WIDTH, _MIN_WIDTH if names else _MIN_INFO_WIDTH)
        columns = _narrow_columns(texts, names, display, narrower)
        shown, excess = fit_columns(
            _widths(columns), available, _frame_width, removal.asked_for, shown
        )
        # Texts can use the width of columns that were left out.
        wider = min(_INFO_WIDTH, narrower + max(-excess, 0))
        columns = _narrow_columns(texts, names, display, wider)
    drawn = without_blank_header_lines([columns[index] for index in shown])
    yield from draw_boxes(
        list(zip(*(column.texts for column in drawn), strict=True)),
        headers=[column.header for column in drawn],
        right=[position for position, column in enumerate(drawn) if column.is_number],
        style=_box_style(display),
    )
    # The plain format is narrower than boxes.
    plain = "--format plain" if names else ""
    yield from left_out_columns([*by_name], shown, display, narrower=plain)


def _box_style(display: Display) -> str:
    return "fancy_grid" if display.can_show(_BOX_CHARACTER) else "grid"


def _narrow_columns(
    texts: ColumnTexts, names: Sequence[str], display: Display, text_width: int
) -> list[Cells]:
    """Return the columns with narrow headers, and with texts wrapped to `text_width`."""
    columns = [*_columns(texts, names, display, text_width).values()]
    width = _CHOSEN_HEADER_WIDTH if names else _HEADER_WIDTH
    headers = wrapped_headers([column.header for column in columns], width)
    return [column._replace(header=header) for column, header in zip(columns, headers, strict=True)]


def _is_wrapped(column: Cells, names: Sequence[str]) -> bool:
    """Return whether the texts of a column are wrapped."""
    return not column.is_number if names else column.header == _INFO


def _widths(columns: Sequence[Cells]) -> list[int]:
    return [column.width(_HEADER_PADDING) for column in columns]


def _removal(table: Table, chosen: Sequence[str], names: Sequence[str]) -> Removal:
    """Return the order in which columns or boxes are left out.

    `chosen` has the columns that the user chose, and `names` has all columns or boxes.
    """
    if chosen:
        return Removal.of_chosen(names, table)
    query = table.query
    # Boxes of further aggregates of the time, such as `time.p90`, from the last to the first.
    more_times = reversed(query.times[1:])
    extras, asked_for = (
        [names.index(name) for name in order if name in names]
        for order in (_EXTRAS, (*more_times, *_ASKED_FOR))
    )
    boxes = [_BOXES.get(name, name) for name in ordering_columns(query)]
    return Removal(extras, asked_for).keeping([names.index(box) for box in boxes if box in names])


def _frame_width(columns: int) -> int:
    """Return the width of the lines around and between columns, with their blanks."""
    # A line and two blanks for each column, and the line at the end.
    return 3 * columns + 1


def _columns(
    texts: ColumnTexts, names: Sequence[str], display: Display, text_width: int
) -> dict[str, Cells]:
    """Return the columns `names` by name, with texts wrapped to `text_width`.

    If `names` is empty, return the boxes of the original's layout.
    """
    if not names:
        return _original_columns(texts, display, text_width)
    return {
        name: cells if cells.is_number else _wrapped(texts, name, display, text_width)
        for name, cells in zip(names, cells_of(texts, names, display), strict=True)
    }


def _wrapped(texts: ColumnTexts, name: str, display: Display, text_width: int) -> Cells:
    """Return a column of wrapped texts. Colours are added last: wrapping would break them."""
    if name == "verdict":  # verdicts are too short to need wrapping
        return cells_of(texts, [name], display)[0]
    (cells,) = cells_of(texts, [name], display._replace(color=False))
    return cells._replace(
        texts=[_colored(_wrap([text], text_width, display), display) for text in cells.texts]
    )


def _original_columns(texts: ColumnTexts, display: Display, text_width: int) -> dict[str, Cells]:
    """Return the boxes of the original's layout, with the boxes that the question adds."""
    table = texts.table
    in_shapes, out_shapes = shape_columns(table)
    titles = {
        "time": texts.times.original_title(time_title(table)),
        "cumulative_time": texts.times.original_title("cumulative"),
        "base": texts.times.original_title("baseline time"),
        "ratio": "ratio",
        "name": _INFO,
        **{name: name for name in (*_RATES, "in_shapes", "out_shapes")},
        "flops": "FLOPS",
    }
    boxes = {
        "time": _times(texts, display),
        "cumulative_time": _cumulative(texts),
        **{name: texts.texts(name) for name in table.query.times[1:]},
        **_comparison_boxes(texts, display),
        **({"spread": texts.texts("spread")} if table.several_runs else {}),
        "name": [_wrap(label, text_width, display) for label in row_labels(table)],
        **{name: texts.texts(name, "stacked") for name in _RATES},
        **{name: texts.texts(name) for name in roofline_columns(table.query)},
        "in_shapes": ["\n".join(lines) for lines in in_shapes],
        "out_shapes": ["\n".join(lines) for lines in out_shapes],
    }
    return {
        name: Cells(
            titles[name] if name in titles else texts.title(name),
            [_colored(text, display) for text in cells],
            is_number=False,
        )
        for name, cells in boxes.items()
    }


def _comparison_boxes(texts: ColumnTexts, display: Display) -> dict[str, list[str]]:
    """Return two boxes on the difference to the baseline; empty without a baseline."""
    if not texts.table.query.compared:
        return {}
    base = zip(*(texts.texts(name) for name in ("base", "difference", "change")), strict=True)
    verdict = texts.texts("verdict")
    if display.color:
        verdict = list(map(colored_word, verdict))
    ratio = zip(texts.texts("ratio"), intervals(texts.table), verdict, strict=True)
    relative = zip(
        texts.texts("relative_ratio"), intervals(texts.table, "relative_ratio"), strict=True
    )
    # The box has the relative ratio only where the verdict is based on it.
    boxes = (
        (*own, *(("relative:", *others) if test == RELATIVE else ()))
        for own, others, test in zip(ratio, relative, texts.texts("test"), strict=True)
    )
    return {"base": list(map("\n".join, base)), "ratio": list(map("\n".join, boxes))}


def _times(columns: ColumnTexts, display: Display) -> list[str]:
    """Return the index, time and share of each row; on a colour display, also a bar."""
    shares = columns.table["share"].tolist()
    bars = [f" {bar(share)}" if display.color else "" for share in shares]
    parts = zip(columns.texts("time"), columns.texts("share"), bars, strict=True)
    return [f"#{index}\n{time}\n{share}{bar}" for index, (time, share, bar) in enumerate(parts)]


def _cumulative(columns: ColumnTexts) -> list[str]:
    sums = (columns.texts("cumulative_time"), columns.texts("cumulative_share"))
    return list(map("\n".join, zip(*sums, strict=True)))


def _wrap(texts: Iterable[str], width: int, display: Display) -> str:
    return "\n".join(_CONTINUATION.join(wrapped(text, width, display.encoding)) for text in texts)


def _colored(text: str, display: Display) -> str:
    if not display.color:
        return text
    lines = text.split("\n")
    return "\n".join(dim(line) if line == NOT_AVAILABLE else line for line in lines)

"""All output formats by name. The module of a format is imported when the format is used."""

from __future__ import annotations

import re
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Final

from profile_analyze.columns.catalog import split_names
from profile_analyze.errors import QueryError
from profile_analyze.report.base import Display, Report
from profile_analyze.report.sections import ALL_COLUMNS, TableSection

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from profile_analyze.query.table import Table
    from profile_analyze.report.base import Renderer

TABLE: Final = "table"
PLAIN: Final = "plain"
WIKI: Final = "wiki"
OPERATORS: Final = "operators"

# The module and the class of each format.
_RENDERERS: Final[Mapping[str, tuple[str, str]]] = {
    TABLE: ("grid", "GridRenderer"),
    PLAIN: ("plain", "PlainRenderer"),
    "markdown": ("markdown", "MarkdownRenderer"),
    WIKI: ("wiki", "WikiRenderer"),
    "csv": ("comma_separated", "CsvRenderer"),
    "json": ("json_formats", "JsonRenderer"),
    "jsonl": ("json_formats", "JsonLinesRenderer"),
    "github": ("github", "GithubRenderer"),
    "junit": ("junit", "JunitRenderer"),
    "collapsed": ("collapsed", "CollapsedRenderer"),
    OPERATORS: ("operator_list", "OperatorListRenderer"),
}
_TABLE_RENDERERS: Final[Mapping[str, tuple[str, str]]] = {
    "parquet": ("parquet", "ParquetRenderer"),
}
_PICTURE_RENDERERS: Final[Mapping[str, tuple[str, str]]] = {
    "svg": ("picture", "SvgRenderer"),
    "png": ("picture", "PngRenderer"),
    "pdf": ("picture", "PdfRenderer"),
}

OUTPUT_FORMATS: Final = tuple(_RENDERERS)
"""The names of all output formats that are text."""

TABLE_FORMATS: Final = tuple(_TABLE_RENDERERS)
"""The names of the binary output formats, which show tables."""

PICTURE_FORMATS: Final = tuple(_PICTURE_RENDERERS)
"""The names of the picture formats, which are also the suffixes of their files."""

_ADVICE_ON_SUFFIXES: Final = {
    **dict.fromkeys(("xls", "xlsx", "ods"), "spreadsheets open .csv"),
    **dict.fromkeys(("html", "htm"), "write .md for a page, or --plot result.svg for a picture"),
}


def find_renderer(output_format: str) -> Renderer:
    """Return the renderer of one of `OUTPUT_FORMATS`, `TABLE_FORMATS` or `PICTURE_FORMATS`.

    Raises `QueryError` for another format.
    """
    renderers = {**_RENDERERS, **_TABLE_RENDERERS, **_PICTURE_RENDERERS}
    if output_format not in renderers:
        known = ", ".join(OUTPUT_FORMATS)
        raise QueryError(f"output_format: {output_format!r} is not one of {known}")
    module, name = renderers[output_format]
    renderer: Renderer = getattr(import_module(f"{__package__}.{module}"), name)()
    return renderer


def find_explanation_renderer(name: str) -> Renderer:
    """Return the renderer that explains a column, or the finding with a code."""
    module = import_module(f"{__package__}.explanation")
    renderer: Renderer = module.explanation_renderer(name)
    return renderer


def output_format_of(file: str) -> str | None:
    """Return the output format for the suffix of `file`; None for a name without a suffix.

    Raises `QueryError` if no format has the suffix.
    """
    # The dot of a hidden file such as `.json` begins its name, not a suffix.
    _, dot, suffix = file.rpartition("/")[2].lstrip(".").rpartition(".")
    if not dot:
        return None
    known: list[str] = []
    ending = suffix.lower()
    if ending in TABLE_FORMATS:  # their modules need packages that may be missing
        return ending
    # Most formats have the same name as their suffix. Such a format is tried first, to avoid
    # importing the others.
    for output_format in sorted(OUTPUT_FORMATS, key=lambda name: name != ending):
        suffixes = find_renderer(output_format).suffixes
        if f".{ending}" in suffixes:
            return output_format
        known += suffixes
    known += [f".{name}" for name in TABLE_FORMATS]
    if ending in PICTURE_FORMATS:
        raise QueryError(f"{file}: -o writes tables; --plot {file} draws a picture")
    any_suffix = f"choose a format by --format, or use one of these suffixes: {', '.join(known)}"
    raise QueryError(
        f"{file}: no format has the suffix .{suffix}; {_ADVICE_ON_SUFFIXES.get(ending, any_suffix)}"
    )


def format_by_suffix(file: str) -> str | None:
    """Return the output format for the suffix of `file`; None if no format has it."""
    with suppress(QueryError):
        return output_format_of(file)
    return None


_KINDS_OF_CHART: Final = ("bar", "barplot", "chart", "line", "pie", "roofline", "timeline")
"""What people write after `--plot` although the kind of picture follows from other options."""


def picture_format_of(file: str) -> str:
    """Return the picture format for the suffix of `file`. Raises `QueryError` for other files."""
    _, dot, suffix = file.lower().rpartition(".")
    if not dot or suffix not in PICTURE_FORMATS:
        known = ", ".join(f".{name}" for name in PICTURE_FORMATS)
        if file == "-":
            raise QueryError(
                "a picture cannot be written to standard output; write a file name, such as "
                "result.svg"
            )
        # The advice for both out.jpg and out.svg.gz is out.svg.
        stem = re.sub(r"(?<=.)(\.(svg|png|pdf))?\.\w*$", "", file, flags=re.IGNORECASE)
        # `--plot png` asks for a format, not for a file png.svg.
        write = f"chart.{file.lower()}" if file.lower() in PICTURE_FORMATS else f"{stem}.svg"
        if file.lower().rstrip("s") in _KINDS_OF_CHART:
            raise QueryError(
                f"{file!r} is not the name of a picture; write a name such as chart.svg; the "
                "picture shows the roofline of a profile with --peaks, and bars otherwise"
            )
        raise QueryError(f"{file!r} has none of the suffixes {known}; write {write}")
    return suffix


def render(
    answer: Report | Table,
    output_format: str = TABLE,
    *,
    columns: str | Iterable[str] = (),
    display: Display | None = None,
) -> str:
    """Return an answer as text in one of `OUTPUT_FORMATS`.

    `columns` are the columns that tables show, in this order. `all` alone stands for all columns;
    formats for people then leave out columns without any value. If `columns` is empty, tables show
    the default columns of the format.

    Raises `QueryError` for an unknown format or column.
    """
    report = answer if isinstance(answer, Report) else Report.of(None, (answer,))
    names = split_names(columns) if isinstance(columns, str) else tuple(columns)
    if names:
        sections = (
            section._replace(columns=names) if isinstance(section, TableSection) else section
            for section in report.sections
        )
        report = report._replace(sections=tuple(sections))
    for section in report.tables:
        if section.columns != ALL_COLUMNS:
            for name in section.columns:
                section.table.column(name)
    if output_format in TABLE_FORMATS:
        raise QueryError(
            f"output_format: {output_format} is not text; `profile-analyze -o "
            f"FILE.{output_format}` writes a file"
        )
    renderer = find_renderer(output_format)
    display = display or Display()
    encoding = "utf-8" if renderer.for_programs else display.encoding
    return b"".join(renderer.pieces(report, display)).decode(encoding)

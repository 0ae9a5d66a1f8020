"""All output formats by name. Each is imported when it is used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

from profile_analyze.errors import QueryError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from profile_analyze.query.table import Table
    from profile_analyze.report.base import Display, Renderer, Report

TABLE: Final = "table"
PLAIN: Final = "plain"
WIKI: Final = "wiki"
OPERATORS: Final = "operators"

_HOMES: Final[Mapping[str, tuple[str, str]]] = {
    TABLE: ("grid", "GridRenderer"),
    PLAIN: ("plain", "PlainRenderer"),
    "markdown": ("markdown", "MarkdownRenderer"),
    WIKI: ("wiki", "WikiRenderer"),
    "csv": ("comma_separated", "CsvRenderer"),
    "json": ("json_forms", "JsonRenderer"),
    "jsonl": ("json_forms", "JsonLinesRenderer"),
    "github": ("github", "GithubRenderer"),
    "junit": ("junit", "JunitRenderer"),
    OPERATORS: ("operator_list", "OperatorListRenderer"),
}

_PICTURES: Final[Mapping[str, tuple[str, str]]] = {
    "svg": ("picture", "SvgRenderer"),
    "png": ("picture", "PngRenderer"),
    "pdf": ("picture", "PdfRenderer"),
}

FORMS: Final = tuple(_HOMES)
"""The names of all formats but pictures."""

PICTURES: Final = tuple(_PICTURES)
"""The kinds of pictures, which are the suffixes of their files too."""


def find_renderer(form: str) -> Renderer:
    """The renderer of one of `FORMS` or `PICTURES`. Raises `QueryError` for another."""
    homes = _PICTURES if form in PICTURES else _HOMES
    if form not in homes:
        raise QueryError(f"form: {form!r} is not one of {', '.join(FORMS)}")
    module, name = homes[form]
    renderer: Renderer = getattr(import_module(f"{__package__}.{module}"), name)()
    return renderer


def form_for(file: str) -> str | None:
    """The format that a file's suffix asks for, None for a name without one.

    Raises `QueryError` for a suffix that no format has.
    """
    _, dot, suffix = file.rpartition("/")[2].lstrip(".").rpartition(".")
    if not dot:
        return None
    known: list[str] = []
    ending = suffix.lower()
    for form in sorted(FORMS, key=lambda form: form != ending):  # most are called like their files
        suffixes = find_renderer(form).suffixes
        if f".{ending}" in suffixes:
            return form
        known += suffixes
    raise QueryError(
        f"{file}: no format has the suffix .{suffix}; choose one by --format, or use "
        f"{', '.join(known)}"
    )


def render(
    answer: Report | Table,
    form: str = TABLE,
    *,
    columns: str | Iterable[str] = (),
    display: Display | None = None,
) -> str:
    """An answer as text in one of `FORMS`.

    `columns` are what the tables show, in that order, `all` being all that they have; without
    them it is what the format shows by itself.

    Raises `QueryError` for a format or a column that there is not.
    """
    from profile_analyze.query.catalog import check_columns, split_names
    from profile_analyze.report.base import Display, Report, chosen_columns
    from profile_analyze.report.sections import TableSection

    report = answer if isinstance(answer, Report) else Report.of(None, (answer,))
    names = split_names(columns) if isinstance(columns, str) else tuple(columns)
    if names:
        sections = (
            one._replace(columns=chosen_columns(names, one.table))
            if isinstance(one, TableSection)
            else one
            for one in report.sections
        )
        report = report._replace(sections=tuple(sections))
    for section in report.all_of(TableSection):
        check_columns(section.columns, section.table.query.kind)
    renderer = find_renderer(form)
    shown = display or Display()
    encoding = "utf-8" if renderer.for_programs else shown.encoding
    return b"".join(renderer.pieces(report, shown)).decode(encoding)


def kind_of_picture(file: str) -> str:
    """What kind of picture `file` is to be, by its suffix. Raises `QueryError` for another."""
    kind = file.lower().rpartition(".")[2]
    if kind not in PICTURES:
        known = ", ".join(f".{suffix}" for suffix in PICTURES)
        raise QueryError(f"argument --plot: {file!r} has none of the suffixes {known}")
    return kind

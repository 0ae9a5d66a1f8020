"""All output forms by name. Each is imported when it is used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

from profile_analyze.errors import QueryError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from profile_analyze.query.result import Result
    from profile_analyze.report.base import Display, Renderer, Report

TABLE: Final = "table"
WIKI: Final = "wiki"
OPERATORS: Final = "operators"
GITHUB: Final = "github"
JUNIT: Final = "junit"

VERDICTS_ONLY: Final = (GITHUB, JUNIT)
"""Forms with what became of conditions, and no tables."""

WITHOUT_SUMMARY: Final = ("csv", "jsonl")
"""Forms with rows alone, unless only the summary is asked for."""

_HOMES: Final[Mapping[str, tuple[str, str]]] = {
    TABLE: ("grid", "GridRenderer"),
    "plain": ("plain", "PlainRenderer"),
    "markdown": ("markdown", "MarkdownRenderer"),
    WIKI: ("wiki", "WikiRenderer"),
    "csv": ("comma_separated", "CsvRenderer"),
    "json": ("json_forms", "JsonRenderer"),
    "jsonl": ("json_forms", "JsonLinesRenderer"),
    GITHUB: ("github", "GithubRenderer"),
    JUNIT: ("junit", "JunitRenderer"),
    OPERATORS: ("operator_list", "OperatorListRenderer"),
}

FORMS: Final = tuple(_HOMES)
"""The names of all forms."""

_BY_SUFFIX: Final[Mapping[str, str]] = {
    ".csv": "csv",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".md": "markdown",
    ".markdown": "markdown",
    ".wiki": WIKI,
    ".xml": JUNIT,
    ".txt": TABLE,
    ".log": TABLE,
    ".out": TABLE,
}


PICTURES: Final = ("svg", "png", "pdf")
"""The suffixes of pictures."""


def find_renderer(form: str) -> Renderer:
    """The renderer of one of `FORMS`. Raises `QueryError` for another."""
    if form not in FORMS:
        raise QueryError(f"form: {form!r} is not one of {', '.join(FORMS)}")
    module, name = _HOMES[form]
    renderer: Renderer = getattr(import_module(f"{__package__}.{module}"), name)()
    return renderer


def form_for(file: str) -> str | None:
    """The form that a file's suffix asks for, None for a name without one.

    Raises `QueryError` for a suffix that no form has.
    """
    _, dot, suffix = file.rpartition("/")[2].lstrip(".").rpartition(".")
    if not dot:
        return None
    form = _BY_SUFFIX.get(f".{suffix.lower()}")
    if form is None:
        known = ", ".join(_BY_SUFFIX)
        raise QueryError(
            f"{file}: no form has the suffix .{suffix}; choose one by --format, or use {known}"
        )
    return form


def render(
    answer: Report | Result,
    form: str = "table",
    *,
    columns: str | Iterable[str] = (),
    display: Display | None = None,
) -> str:
    """An answer as text in one of `FORMS`.

    `columns` are what the tables show, in that order, `all` being all that they have; without
    them it is what the form shows by itself.

    Raises `QueryError` for a form or a column that there is not.
    """
    from profile_analyze.query.catalog import check_columns, split_names
    from profile_analyze.report.base import Display, Report

    report = answer if isinstance(answer, Report) else Report(None, (answer,))
    names = split_names(columns) if isinstance(columns, str) else tuple(columns)
    if names:
        report = report._replace(columns=names)
    for result in report.results:
        check_columns(report.shown_of(result.query), result.query.kind)
    return "".join(find_renderer(form).pieces(report, display or Display()))


def kind_of_picture(file: str) -> str:
    """What kind of picture `file` is to be, by its suffix. Raises `QueryError` for another."""
    kind = file.lower().rpartition(".")[2]
    if kind not in PICTURES:
        known = ", ".join(f".{suffix}" for suffix in PICTURES)
        raise QueryError(f"argument --plot: {file!r} has none of the suffixes {known}")
    return kind

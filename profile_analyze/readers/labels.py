"""The labels of files, from their paths (`nightly/{date}/{host}/*.json`) or from a table."""

from __future__ import annotations

import csv
import os
import re
from io import StringIO
from typing import TYPE_CHECKING, Final, NamedTuple

from profile_analyze.errors import InputError, QueryError
from profile_analyze.model.terms import LABEL_NAME
from profile_analyze.readers.input.content import MAX_SIZE, display_name
from profile_analyze.readers.input.paths import absolute_path
from profile_analyze.readers.input.source import Source
from profile_analyze.readers.input.suffixes import is_label_table
from profile_analyze.readers.input.urls import is_http, is_url
from profile_analyze.units import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

_FILE: Final = "file"
"""The column of a table that names the files."""

_WILDCARDS: Final = {
    "**/": "(?:[^/]+/)*",
    "**": ".*",
    "*": "[^/]*",
    "?": "[^/]",
}
_TOKEN: Final = r"\{[^{}]*\}|\*\*/|\*\*|."


class LabelPattern(NamedTuple):
    """Labels from the path of a file: `nightly/{date}/{host}/*.json`."""

    text: str
    names: tuple[str, ...]
    regex: re.Pattern[str]
    """Matches whole paths, without the first slash if the pattern is relative. It has a group for
    each name."""

    @classmethod
    def parse(cls, text: str) -> LabelPattern:
        """Parse a pattern. Raises `QueryError`."""
        tokens = re.findall(_TOKEN, text.replace(os.sep, "/"), re.DOTALL)
        names = [token[1:-1] for token in tokens if token[0] == "{" and token != "{"]
        lone_brace = next((token for token in tokens if token in ("{", "}")), None)
        if lone_brace is not None:
            other = {"{": "}", "}": "{"}[lone_brace]
            raise QueryError(
                f"{text!r} has a {lone_brace} without its {other}; write the names of labels in "
                "braces, as in 'nightly/{date}/{host}/*.json'"
            )
        if not names:
            raise QueryError(
                f"{text!r} has no label; write the names of labels in braces, as in "
                "'nightly/{date}/{host}/*.json', or name a table, such as labels.csv"
            )
        for name in names:
            if not re.fullmatch(LABEL_NAME, name):
                raise QueryError(
                    f"{text!r}: {{{name}}} is not a label; write one name in braces, a letter "
                    "followed by letters, digits or _"
                )
            if names.count(name) > 1:
                raise QueryError(f"{text!r} has {{{name}}} twice; rename one of them")
        # A relative pattern matches the end of a path.
        start = "" if text.startswith("/") else "(?:.*/)?"
        # A folder may have a line break in its name.
        regex = re.compile(start + "".join(map(_as_regex, tokens)), re.DOTALL)
        return cls(text, tuple(names), regex)

    def values_of(self, path: str) -> Mapping[str, str]:
        """Return the labels of the file at an absolute `path`; empty if the path does not match."""
        if is_url(path):  # labels must not contain a password, or the query of a URL
            shown = display_name(path)
            path = shown.partition("?")[0] if is_http(path) else shown
        path = path.replace(os.sep, "/")
        if not self.text.startswith("/"):
            # Otherwise `*` would match the empty text before the first slash.
            path = path.lstrip("/")
        found = self.regex.fullmatch(path)
        return found.groupdict() if found else {}


def _as_regex(token: str) -> str:
    if token.startswith("{"):
        return f"(?P<{token[1:-1]}>[^/]+)"
    return _WILDCARDS.get(token) or re.escape(token)


class LabelTable(NamedTuple):
    """Labels from a table in a CSV file with the column `file` and a column for each label."""

    text: str
    names: tuple[str, ...]
    rows: Mapping[str, Mapping[str, str]]
    """The labels of each file, by its absolute path."""

    @classmethod
    def read(cls, name: str, max_size: int = MAX_SIZE) -> LabelTable:
        """Read a table. Names of files are relative to the current folder. Raises `InputError`."""
        lines = _lines_of(name, max_size)
        _, first_line = next(lines, (1, []))
        columns = _checked_columns(name, first_line)
        rows: dict[str, Mapping[str, str]] = {}
        line_of: dict[str, int] = {}
        for line, values in lines:
            if len(values) != len(columns):
                numbers = counted(len(values), "value"), counted(len(columns), "column")
                reason = f"has {numbers[0]}, but the first line names {numbers[1]}"
                raise InputError(name, f"line {line} {reason}")
            labels = dict(zip(columns, values, strict=True))
            file = labels.pop(_FILE)
            if not file:
                raise InputError(name, f"line {line} names no file")
            path = absolute_path(file)
            if path in rows:
                reason = f"names {file}, as line {line_of[path]} does; leave one of them out"
                raise InputError(name, f"line {line} {reason}")
            rows[path] = {label: value for label, value in labels.items() if value}
            line_of[path] = line
        return cls(name, tuple(column for column in columns if column != _FILE), rows)

    def values_of(self, path: str) -> Mapping[str, str]:
        """Return the labels of the file at an absolute `path`; empty if the table lacks it."""
        return self.rows.get(path, {})


def _lines_of(name: str, max_size: int) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the values of each line of a CSV file. Blank lines are left out."""
    try:
        text = Source(name, max_size=max_size).content().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(name, "the table of labels is not UTF-8") from None
    reader = csv.reader(StringIO(text, newline=""), strict=True)
    try:
        for values in reader:
            if values:
                yield reader.line_num, values
    except csv.Error as error:
        raise InputError(name, f"line {reader.line_num}: {error}") from None


def _checked_columns(name: str, first_line: list[str]) -> list[str]:
    """Return the names in the first line of a table. Raises `InputError` for wrong names."""
    if not first_line:
        raise InputError(name, "is empty; write a first line such as file,date,host")
    columns = [column.strip() for column in first_line]
    if _FILE not in columns:
        listed = ", ".join(filter(None, columns))
        names = f"names: {listed}" if listed else "has no names"
        raise InputError(name, f"has no column {_FILE!r}; its first line {names}")
    if len(columns) < 2:
        raise InputError(name, "has no column of labels; write a first line such as file,date,host")
    twice = next((column for column in columns if columns.count(column) > 1), None)
    if twice is not None:
        raise InputError(name, f"names the column {twice!r} twice in its first line")
    return columns


class Labels(NamedTuple):
    """The labels of files, from all patterns and tables that a call names."""

    sources: Sequence[LabelPattern | LabelTable]

    @classmethod
    def of(cls, texts: Iterable[str], max_size: int = MAX_SIZE) -> Labels:
        """Parse patterns, and read tables, whose names end with `.csv`.

        Raises `QueryError` for a wrong pattern, and `InputError` for a wrong table.
        """
        return cls(
            [
                LabelTable.read(text, max_size)
                if is_label_table(text)
                else LabelPattern.parse(text)
                for text in texts
            ]
        )

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all labels, each once."""
        return tuple(dict.fromkeys(name for source in self.sources for name in source.names))

    def values_of(self, file: str) -> dict[str, str | None]:
        """Return each label of a file; None for a label that no source gives.

        If several sources give the same label, the first source decides.
        """
        path = absolute_path(file)
        values: dict[str, str | None] = dict.fromkeys(self.names)
        for source in reversed(self.sources):
            values |= source.values_of(path)
        return values

"""Reads performance counters (times of layers), which benchmark_app writes as CSV or JSON."""

from __future__ import annotations

import csv
import re
from functools import partial
from typing import TYPE_CHECKING, Annotated, Final, NamedTuple

import msgspec

from profile_analyze.errors import MalformedProfileError
from profile_analyze.readers.input.second_document import advice_to_split, second_document
from profile_analyze.readers.json_errors import TOO_DEEP, detail_of, problem_and_path

if TYPE_CHECKING:
    from collections.abc import Callable

    from profile_analyze.readers.input.source import Source

_HEADER: Final = re.compile(r"layerName(?P<separator>[;,])execStatus[;,]")
_COLUMNS: Final = 6
_TOTAL: Final = re.compile(r'"?Total(;;|,,| (CPU )?time:)')
_TOTAL_OF_SORTED: Final = re.compile(r'"?Total time: ([^ ]+) milliseconds')
_DECIMAL_COMMA: Final = re.compile(r"(?<=\d),(?=\d+$)")
_STATUS: Final = re.compile(r"(Status\.)?(EXECUTED|NOT_RUN|OPTIMIZED_OUT)")


class Counter(NamedTuple):
    """A layer in a report, with its times."""

    name: str
    type: str
    primitive: str
    real_ms: float
    cpu_ms: float
    ran: bool


class Section(NamedTuple):
    """The layers of one inference request, or the means over all requests."""

    counters: list[Counter]
    total_ms: float | None
    """The total time in the file; None if the file has no total."""


class Report(NamedTuple):
    """The content of a file."""

    sections: list[Section]
    is_sorted: bool = False
    """Whether the layers are sorted by time. Otherwise, they are in the order of execution."""
    broken_lines: tuple[int, ...] = ()
    """The numbers of lines that were left out because they are not layers."""
    is_cut_by_tool: bool = False
    """Whether benchmark_app wrote only the first layer, as it does in JSON of average counters."""
    is_json: bool = False
    """Whether the file is JSON, which shows that it is whole, even without a total."""


_Time = Annotated[float, msgspec.Meta(ge=0, le=1e300)]


class _Node(msgspec.Struct, gc=False):
    name: str
    node_type: str
    status: str
    exec_type: str
    real_time: _Time
    cpu_time: _Time


class _Part(msgspec.Struct, gc=False):
    nodes: list[_Node]
    total_real_time: _Time | None = None


class _Document(msgspec.Struct, gc=False):
    report_type: str = ""
    detailed_performance: list[_Part] | None = None
    avg_performance: _Part | None = None


# benchmark_app writes numbers as texts, which only a decoder with `strict=False` reads as numbers.
_decode: Final = msgspec.json.Decoder(_Document, strict=False).decode


def read_report(source: Source) -> Report:
    """Return the report in `source`. Raises `MalformedProfileError` if `source` has no report."""
    data = source.content()
    if not data.lstrip().startswith(b"{"):
        return _of_csv(data.decode("utf-8", "replace"))
    try:
        return _of_json(data)
    except msgspec.ValidationError as error:
        problem, path = problem_and_path(error)
        reason = f"at ${path}: {problem}" if path else problem
    except msgspec.DecodeError as error:
        reason = _reason(error, data)
    except UnicodeDecodeError:
        reason = "is not valid JSON: a text in it is not UTF-8"
    except RecursionError:
        reason = TOO_DEEP
    raise MalformedProfileError(source.name, reason)


def _reason(error: msgspec.DecodeError, data: bytes) -> str:
    second = second_document(data)
    if second is not None:
        return advice_to_split(second)
    text = detail_of(error)
    return f"is not valid JSON: {text[:1].lower()}{text[1:]}"


def _of_csv(text: str) -> Report:
    sections: list[Section] = []
    broken: list[int] = []
    is_sorted = False
    split: Callable[[str], list[str]] = _of_semicolons
    for number, line in enumerate(text.split("\n"), 1):
        row = line.rstrip("\r")
        header = _HEADER.match(row.lstrip())
        if header is not None:
            is_sorted = "%" in row  # only sorted reports have a seventh column: shares
            # In Python, sorted reports have commas. Spreadsheets may write commas in any report.
            has_commas = header["separator"] == ","
            split = _of_commas if has_commas else partial(_of_semicolons, has_shares=is_sorted)
            sections.append(Section([], None))
        elif _TOTAL.match(row) and sections:
            total = _total(row, split)
            if total is not None:
                sections[-1] = sections[-1]._replace(total_ms=total)
        elif row.strip(' ";,'):  # the header of a sorted report goes on with a line `"`
            counter = _counter_of_row(split(row))
            if counter is None or not sections:  # only a damaged file has rows before the header
                broken.append(number)
            else:
                sections[-1].counters.append(counter)
    return Report(sections, is_sorted, tuple(broken))


def _of_semicolons(line: str, *, has_shares: bool = False) -> list[str]:
    """Return the fields of a line; no fields if the line has too few.

    The name, which comes first, may contain semicolons. The share, which comes last, is left out.
    """
    columns = _COLUMNS + has_shares
    fields = line.removesuffix(";").rsplit(";", columns - 1)
    return fields[:_COLUMNS] if len(fields) == columns else []


def _of_commas(line: str) -> list[str]:
    try:
        rows: list[list[str]] = [*csv.reader([line])]
    except csv.Error:  # a field of over 131,072 characters, or a carriage return in the line
        return []
    return rows[0][:_COLUMNS] if rows else []


def _counter_of_row(fields: list[str]) -> Counter | None:
    if len(fields) != _COLUMNS:
        return None
    name, status, type_, primitive, real, cpu = fields
    times = [_milliseconds(one) for one in (real, cpu)]
    if not _STATUS.fullmatch(status) or None in times:
        return None
    return Counter(name, type_, primitive, times[0] or 0.0, times[1] or 0.0, _ran(status))


def _ran(status: str) -> bool:
    return status.endswith("EXECUTED")


def _total(line: str, split: Callable[[str], list[str]]) -> float | None:
    """Return the total time in a line; None if the line is cut or has only the total CPU time."""
    of_sorted = _TOTAL_OF_SORTED.match(line)
    if of_sorted is not None:
        return _milliseconds(of_sorted[1])
    fields = split(line)
    return _milliseconds(fields[4]) if len(fields) == _COLUMNS else None


def _milliseconds(text: str) -> float | None:
    """Return the time in `text`; None if `text` is not a time.

    A comma is a decimal point: in some countries, spreadsheets save `0.018` as `0,018`.
    """
    try:
        milliseconds = float(_DECIMAL_COMMA.sub(".", text, count=1))
    except ValueError:
        return None
    return milliseconds if 0 <= milliseconds < float("inf") else None


def _of_json(data: bytes) -> Report:
    document = _decode(data)
    parts = document.detailed_performance
    if parts is None:
        parts = [] if document.avg_performance is None else [document.avg_performance]
    sections = [Section([*map(_counter_of, part.nodes)], part.total_real_time) for part in parts]
    is_cut = document.report_type == "average" and all(len(one.counters) < 2 for one in sections)
    is_sorted = document.report_type == "sorted"
    return Report(sections, is_sorted, is_cut_by_tool=is_cut, is_json=True)


def _counter_of(node: _Node) -> Counter:
    times = (node.real_time, node.cpu_time)
    return Counter(node.name, node.node_type, node.exec_type, *times, _ran(node.status))

"""Reads the output of benchmark_model line by line: its tables of nodes, and facts about the runs.

The output has a section for the initialisation and a section for the runs. Each section has a part
for the main graph, a part for each subgraph, and a part for nodes inside of delegates. The tables
of one part list the same nodes in different orders.
"""

from __future__ import annotations

import re
from math import isfinite, nan
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MAIN: Final = ""
"""The name of the part for the main graph."""
DELEGATE: Final = "delegate"
"""The name of the part for nodes that ran inside of delegates."""
_RUN_ORDER: Final = "Run Order"

_PREFIX: Final = re.compile(
    r"(?:\d\d-\d\d \d\d:\d\d:\d\d\.\d+ +\d+ +\d+ )?[VDIWEF](?:/| )\S+ *(?:\( *\d+\))?:(?: |$)"
    r"|[IWEF]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ \S+:\d+\](?: |$)"
    r"|(?:VERBOSE|INFO|WARNING|ERROR):(?: |$)"
)
"""The prefix of a line in the logs of Android, glog and TensorFlow Lite."""
_SECTION: Final = re.compile(
    r"Profiling Info for (Benchmark Initialization|Regular Benchmark Runs)"
)
_SUBGRAPH: Final = re.compile(r"Subgraph \(index: (\d{1,9})(?:, name: (.*))?\) profile:\s*$")
_TITLE: Final = re.compile(r"\s*={5,} (.+?) ={5,}")
_TIMINGS: Final = "Timings (microseconds): "
_COUNT: Final = re.compile(r"count=(\d+) (?:.*\bavg=|curr=)([\d.,eE+]+)")
_EXECUTED: Final = re.compile(r"Number of nodes executed: (\d+)")
_INFERENCE: Final = re.compile(r"Inference timings in us: .*Inference \(avg\): (\S+)")
_THREADS: Final = re.compile(r"(?:Num threads|#threads used for CPU inference): \[(\d{1,4})\]")
_NUMBER: Final = re.compile(r"-?\d[\d,]*(?:\.\d+)?(?:[eE][-+]?\d+)?$")
_MOST_DIGITS: Final = 15
"""A number with more digits does not count as an integer."""
_LONGEST_ROW: Final = 1 << 16
"""A line with more characters is not read as a row, because splitting it would take much memory."""
_ALL_PERCENT: Final = 99.9995
"""The smallest share that is printed as 100.000%."""


class Node(NamedTuple):
    """A row of a table."""

    type: str
    name: str
    start_ms: float
    """The mean time from the start of a run to the start of the node. NaN if the table lacks it, as
    all tables do since about 2021."""
    first_ms: float
    """The time of the first call; in LiteRT's tables, the start of this call."""
    mean_ms: float
    """The mean time of a call."""
    share: float
    """The node's share of the time of all nodes in the table, from 0 to 1."""
    cumulative_percent: float
    """The share of the nodes up to this one, in per cent, with three decimals."""
    calls: int
    """The number of calls in a run, rounded down; in LiteRT's tables, the calls of all runs."""


class Part:
    """The nodes of the main graph, of a subgraph, or inside of delegates."""

    def __init__(self) -> None:
        self.tables: dict[str, list[Node]] = {}
        """The nodes of each table, by its title."""
        self.executed: int | None = None
        """The number of nodes according to the file. A truncated table has fewer nodes."""
        self.runs: int | None = None
        self.mean_us = nan
        """The time of all nodes together in a run, averaged over the runs."""

    @property
    def nodes(self) -> list[Node]:
        """The nodes in the order of execution.

        If the table with this order is missing, these are the nodes of the first table.
        """
        return self.tables.get(_RUN_ORDER) or next(iter(self.tables.values()), [])


class Section:
    """The initialisation or the runs of one benchmark."""

    def __init__(self, *, is_initialisation: bool = False) -> None:
        self.is_initialisation = is_initialisation
        self.parts: dict[str, Part] = {}
        """The parts by name: `MAIN`, `DELEGATE`, or the name of a subgraph."""
        self.runs: int | None = None
        """The number of runs, from the lines before the section; None if it is missing there."""
        self.wall_us = nan
        """The mean wall time of a run, from the lines before the section; NaN if it is missing."""
        self.threads: int | None = None

    def part(self, name: str) -> Part:
        """Return the part with this name. If it is missing, add an empty part."""
        return self.parts.setdefault(name, Part())


class Log(NamedTuple):
    """The output of one or several benchmarks."""

    sections: list[Section]
    """The sections with at least one node."""
    is_complete: bool
    """Whether the last table in the file is complete: its last row says that the rows have 100 % of
    the time, or a line follows that ends a table. Such a line is empty, has the number of nodes, or
    begins a section, a part or another table."""
    unread: list[int]
    """The numbers of lines that are inside of tables, but are not rows."""


class _Columns(NamedTuple):
    """The columns of a table."""

    is_csv: bool
    has_start: bool


def read_log(text: str) -> Log:
    """Return the sections in the output of benchmark_model."""
    reading = _Reading()
    for number, line in enumerate(text.removesuffix("\n").split("\n"), 1):
        reading.add(number, line.rstrip("\r"))
    sections = [
        section
        for section in reading.sections
        if any(part.nodes for part in section.parts.values())
    ]
    # Without a final newline, the name in the last row may be truncated.
    has_all_rows = reading.has_all_time and text.endswith("\n")
    return Log(sections, has_all_rows or not reading.is_in_table, reading.unread)


class _Reading:
    """The state of the reader between two lines."""

    def __init__(self) -> None:
        self.sections = [Section()]
        self.unread: list[int] = []
        self._part = MAIN
        self._title = ""
        self._columns: _Columns | None = None
        """The columns of the current table; None outside of tables."""
        self.has_all_time = False
        """Whether the last row ends the table: its cumulative share of the time is 100 %."""
        self._runs: int | None = None
        self._wall_us = nan
        self._threads: int | None = None

    @property
    def is_in_table(self) -> bool:
        """Whether the last line is in a table."""
        return self._columns is not None

    def add(self, number: int, line: str) -> None:
        """Read the next line."""
        prefix = _PREFIX.match(line)
        body = line[prefix.end() :] if prefix else line
        columns = _columns_of(body)
        if columns is not None:
            self._columns = columns
            self.has_all_time = False
        elif not body or self._moves_on(body):
            self._columns = None
        elif self._columns is None or _EXECUTED.match(body):
            self._columns = None
            self._add_number(body)
        elif body.strip():  # the file may end in the blanks before a row
            self._add_row(number, body)

    def _add_row(self, number: int, body: str) -> None:
        assert self._columns is not None
        node = _node(body, self._columns)
        if node is None:
            self.unread.append(number)
            return
        part = self.sections[-1].part(self._part)
        part.tables.setdefault(self._title, []).append(node)
        self.has_all_time = node.cumulative_percent >= _ALL_PERCENT

    def _moves_on(self, body: str) -> bool:
        """If the line begins a section, a part or a table, move on to it and return True."""
        if found := _SECTION.search(body):
            self._start_section(is_initialisation=found[1].endswith("Initialization"))
        elif found := _TITLE.match(body):
            self._title = found[1]
        elif body.startswith("Primary graph") and body.rstrip().endswith("profile:"):
            self._part = MAIN
        elif found := _SUBGRAPH.match(body):
            self._part = found[2] or f"subgraph {found[1]}"
        elif body.startswith("Delegate internal:"):
            self._part = DELEGATE
        else:
            return False
        return True

    def _add_number(self, body: str) -> None:
        part = self.sections[-1].part(self._part)
        _, timings, after = body.rpartition(_TIMINGS)
        if found := _COUNT.match(after):
            if timings:
                part.runs, part.mean_us = _integer(found[1]), _float(found[2])
            else:  # the number of runs, in the lines before their section
                self._runs = _integer(found[1])
        elif found := _EXECUTED.match(body):
            part.executed = _integer(found[1])
        elif found := _INFERENCE.match(body):
            self._wall_us = _float(found[1])
        elif found := _THREADS.match(body):
            self._threads = _integer(found[1])

    def _start_section(self, *, is_initialisation: bool) -> None:
        self.sections.append(Section(is_initialisation=is_initialisation))
        section = self.sections[-1]
        section.runs, section.wall_us, section.threads = self._runs, self._wall_us, self._threads
        self._part, self._title = MAIN, ""


def _columns_of(body: str) -> _Columns | None:
    """Return the columns if the line is the header of a table of nodes; otherwise None."""
    if "[node type]" in body and "[avg ms]" in body:
        return _Columns(is_csv=False, has_start="[start]" in body)
    if body.startswith("node type, ") and "avg_ms" in body and body.rstrip().endswith("name"):
        return _Columns(is_csv=True, has_start=body.startswith("node type, start, "))
    return None


def _node(body: str, columns: _Columns) -> Node | None:
    """Return the node in a line; None if the line is not a row.

    Types and names may contain blanks and commas, so the cells cannot be counted. The two adjacent
    percentages show which cells are the numbers.
    """
    if len(body) > _LONGEST_ROW:
        return None
    cells = [*_cells(body, is_csv=columns.is_csv)]
    before = 3 if columns.has_start else 2
    for index in range(before + 1, len(cells) - 4):
        is_here = cells[index][0].endswith("%") and cells[index + 1][0].endswith("%")
        if not is_here:
            continue
        texts = [text.rstrip("%") for text, _, _ in cells[index - before : index + 4]]
        calls = _integer(texts[-1])
        if calls is None or not all(map(_is_number, texts)):
            continue
        numbers = texts if columns.has_start else ["nan", *texts]
        start_ms, first_ms, mean_ms, percent, cumulative = map(_float, numbers[:5])
        type_ = body[cells[0][1] : cells[index - before - 1][2]].strip()
        name = body[cells[index + 4][1] :].strip()
        if columns.is_csv:
            name = name.replace("\t", ",")  # in CSV, the writer replaces commas with tabs
        return Node(type_, name, start_ms, first_ms, mean_ms, percent / 100, cumulative, calls)
    return None


def _cells(body: str, *, is_csv: bool) -> Iterator[tuple[str, int, int]]:
    """Yield the text, start and end of each cell."""
    found: Iterable[re.Match[str]] = re.finditer(r"[^,]+" if is_csv else r"\S+", body)
    for one in found:
        yield one[0].strip(), one.start(), one.end()


def _is_number(text: str) -> bool:
    return _NUMBER.match(text) is not None or text.lstrip("-") in {"nan", "inf"}


def _float(text: str) -> float:
    """Return the number in `text`, such as 1,234.5; NaN if `text` is not a finite number."""
    plain = text.replace(",", "")
    value = float(plain) if _is_number(plain) else nan
    return value if isfinite(value) else nan


def _integer(text: str) -> int | None:
    digits = text.replace(",", "")
    return int(digits) if digits.isdecimal() and len(digits) <= _MOST_DIGITS else None

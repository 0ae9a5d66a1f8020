"""Finds the parts of a report in a text: instructions, the summary, and the totals at its end."""

from __future__ import annotations

import re
from math import inf, nan
from typing import TYPE_CHECKING, Final, NamedTuple

from profile_analyze.readers.migraphx.instruction import closing, parsed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from profile_analyze.readers.migraphx.instruction import Instruction

_NUMBER: Final = r"[-+]?(?:\d+(?:\.\d*)?(?:[eE][-+]?\d{1,4})?|nan|inf)"
# Some builds print full-width colons and commas.
_COLON: Final = r"\s?[:\uff1a]\s*"
_COMMA: Final = r"\s*[,\uff0c]\s*"
_TIMED: Final = re.compile(
    rf"(?P<what>.*?){_COLON}(?P<ms>{_NUMBER})ms"
    rf"(?P<mean>\s*/\s*(?P<calls>\d{{1,9}})\s*=\s*{_NUMBER}ms)?{_COMMA}{_NUMBER}%"
)
_RETURN: Final = re.compile(r"\s*(?:[^\s(]+ = )?(?:[^\s(]+:)?@return(?=\()")
_COLOURS: Final = re.compile(r"\x1b\[[\d;]*m")
_VERSION: Final = re.compile(r"MIGraphX Version: ([\w.+-]+)")
_SUMMARY: Final = re.compile(rf"Summary{_COLON}$")

_TOTALS: Final = tuple(
    (re.compile(rf"(?:^|.*\s){pattern}"), names)
    for pattern, names in (
        (rf"Batch size{_COLON}(\d{{1,15}})$", ("batch_size",)),
        (rf"Rate{_COLON}({_NUMBER})\s*(?:inferences)?/sec", ("inferences_per_s",)),
        (rf"Total time{_COLON}({_NUMBER})ms", ("total",)),
        (rf"Total instructions time{_COLON}({_NUMBER})ms", ("instructions",)),
        (rf"Overhead time{_COLON}({_NUMBER})ms{_COMMA}({_NUMBER})ms", ("dry_run", "difference")),
    )
)
_SPREAD: Final = re.compile(
    rf"\(Min{_COLON}({_NUMBER})ms{_COMMA}Max{_COLON}({_NUMBER})ms{_COMMA}"
    rf"Mean{_COLON}({_NUMBER})ms{_COMMA}Median{_COLON}({_NUMBER})ms\)"
)
_SPREAD_NAMES: Final = ("min", "max", "mean", "median")
_PERCENTILES: Final = re.compile(rf"Percentiles \(([^()]*)\){_COLON}\(([^()]*)\)")
_PERCENT: Final = re.compile(r"(\d{1,2}(?:\.\d{1,3})?)%")
_MS: Final = re.compile(rf"({_NUMBER})ms")
_NO_UNIT: Final = "batch_size"
"""The total that is printed without a unit. At the end of a truncated file, it may lack digits."""


class Timed(NamedTuple):
    """An instruction with its time."""

    instruction: Instruction
    time_ms: float


class Group(NamedTuple):
    """A line of the summary, for all instructions of one type."""

    name: str
    time_ms: float
    """The time of all instructions in the group."""
    calls: int | None
    """How many instructions the group has; None if the file does not say (versions before 2022)."""


class Report:
    """The parts of one report."""

    def __init__(self) -> None:
        self.instructions: list[Timed] = []
        self.groups: list[Group] = []
        self.totals: dict[str, float] = {}
        """Numbers about the whole program, by name: see `_totals`. Times are in milliseconds."""

    @property
    def is_empty(self) -> bool:
        """Whether the report has no times of instructions, neither single times nor sums."""
        has_sum = self.totals.get("instructions", nan) >= 0
        return not (self.instructions or self.groups or has_sum)


class Text(NamedTuple):
    """The reports in a text, and the facts outside of reports."""

    reports: list[Report]
    """The reports that have times of instructions, in the order of the text; may be empty."""
    version: str | None
    untimed: int
    """How many instructions are listed without a time."""


def read_text(text: str) -> Text:
    """Return the reports in a text. All other lines are ignored."""
    reports = [Report()]
    version = None
    untimed = 0
    in_summary = False
    for line in _lines(text):
        found = _VERSION.search(line)
        if found is not None:
            version = found[1]
        if _SUMMARY.fullmatch(line):
            in_summary = True
            continue
        timed = _timed(line, in_summary=in_summary)
        if timed is not None:
            in_summary = isinstance(timed, Group)
            _add_timed(reports, timed)
        elif totals := _totals(line):
            _add_totals(reports, totals)
        elif " -> " in line and parsed(line) is not None:
            untimed += 1
    return Text([report for report in reports if not report.is_empty], version, untimed)


def _lines(text: str) -> Iterator[str]:
    """Yield the lines of a text, without `@return(...)` and without blank lines.

    MIGraphX prints no line break after `@return(...)`, so the next line follows it directly.
    """
    for line in _COLOURS.sub("", _without_cut_number(text)).replace("\r", "\n").split("\n"):
        start = 0
        while (found := _RETURN.match(line, start)) and (end := closing(line, found.end())) > 0:
            start = end + 1
        rest = line[start:].strip()
        if rest:
            yield rest


def _without_cut_number(text: str) -> str:
    """Return the text. Leave out the last line if its number may lack digits."""
    last = text.rpartition("\n")[2]
    found = _totals(last.strip())
    return text.removesuffix(last) if _NO_UNIT in found else text


def _timed(line: str, *, in_summary: bool) -> Timed | Group | None:
    """Return the instruction or group in a line that has a time; None for any other line."""
    # The pattern is slow on long lines, and few lines of a log end with a percentage.
    found = _TIMED.fullmatch(line) if line.endswith("%") else None
    if found is None:
        return None
    time_ms = _number(found["ms"])
    if found["mean"]:
        return Group(found["what"], time_ms, int(found["calls"]))
    instruction = parsed(found["what"]) if " -> " in found["what"] else None
    if instruction is not None:
        return Timed(instruction, time_ms)
    return Group(found["what"], time_ms, None) if in_summary else None


def _add_timed(reports: list[Report], timed: Timed | Group) -> None:
    """Add an instruction or group to the last report.

    If the last report already has a later part, such as totals, a new report begins.
    """
    report = reports[-1]
    if report.totals or (isinstance(timed, Timed) and report.groups):
        report = Report()
        reports.append(report)
    if isinstance(timed, Timed):
        report.instructions.append(timed)
    else:
        report.groups.append(timed)


def _add_totals(reports: list[Report], totals: dict[str, float]) -> None:
    if totals.keys() & reports[-1].totals.keys():
        reports.append(Report())
    reports[-1].totals.update(totals)


def _totals(line: str) -> dict[str, float]:
    """Return the numbers about the whole program in a line, by name; empty for other lines."""
    for pattern, names in _TOTALS:
        found = pattern.match(line)
        if found is not None:
            totals = dict(zip(names, map(_number, found.groups()), strict=True))
            spread = _SPREAD.search(line)
            if spread is not None:
                totals |= dict(zip(_SPREAD_NAMES, map(_number, spread.groups()), strict=True))
            return totals
    found = _PERCENTILES.search(line)
    if found is None:
        return {}
    percents, times = _PERCENT.findall(found[1]), _MS.findall(found[2])
    return {f"p{percent}": _number(ms) for percent, ms in zip(percents, times, strict=False)}


def _number(text: str) -> float:
    """Return a number; NaN if it is not finite."""
    number = float(text)
    return nan if number in (inf, -inf) else number

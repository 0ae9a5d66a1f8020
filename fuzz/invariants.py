"""The invariants of every call of the command. `docs/reliability.md` explains them.

Each invariant is a function of the input and of the outcome. The function yields a sentence for
each way in which the outcome breaks the invariant.
"""

from __future__ import annotations

import csv
import io
import json
import re
import zlib
from functools import cache
from itertools import groupby, pairwise
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Final
from xml.etree import ElementTree as ET

from profile_analyze.columns.catalog import find_column
from profile_analyze.columns.wording import machine_name
from profile_analyze.errors import QueryError
from profile_analyze.model.natural_order import natural_sort_key
from profile_analyze.readers.input.paths import DATA_SET_MANIFEST

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeAlias

    from fuzz.cases import Case
    from fuzz.running import Outcome

    _Order: TypeAlias = tuple[int, bool, Callable[[Any], Any]]
    """The index of a column, whether the smallest value comes first, and the sort key."""

SCHEMA: Final = Path(__file__).parent.parent / "docs" / "report.schema.json"

_ERROR: Final = "profile_analyze: error: "
_NOTE: Final = "note: "
_FORBIDDEN: Final = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
_COLORS: Final = re.compile("\x1b\\[(?:0|2|3[1236]|44)m")
_NOT_FINITE: Final = re.compile(r"(?<![^\W_])(?:nan|inf|infinity)(?![^\W_])", re.IGNORECASE)
_TIME_NOT_FINITE: Final = re.compile(rb'"(?:start|kern|end)"\s*:\s*"(?:-?inf|nan)"')
_EXPECTED: Final = "expected a number, inf, -inf or nan"
"""Words of an error message, which may name `inf` and `nan`."""
_STACK: Final = re.compile(r"[^;]+(;[^;]+)* [1-9]\d*")
_ANNOTATION: Final = re.compile(r"::(error|warning|notice) title=profile_analyze::.")
_PIPE: Final = re.compile(r"(?<!\\)\|")
_BOX_EDGES: Final = ("╒", "│", "├", "╞", "╘", "+", "|")


def exit_code(case: Case, outcome: Outcome) -> Iterator[str]:
    """The exit code is 0, 1 or 2, or with `--fail-if` also 3 or 4. There is no traceback."""
    if outcome.traceback:
        yield outcome.traceback.strip()
    elif outcome.code not in ((0, 1, 2, 3, 4) if "--fail-if" in case.arguments else (0, 1, 2)):
        yield f"exit code {outcome.code}"
    if "Traceback (most recent" in outcome.out + outcome.err:
        yield "a traceback is printed"


def one_error_line(case: Case, outcome: Outcome) -> Iterator[str]:  # noqa: ARG001  # one signature for all
    """Standard error has one line `error:` if the exit code is 1 or 2, and otherwise only notes."""
    lines = outcome.err.split("\n")
    if lines.pop():
        yield f"standard error does not end with a line end: {outcome.err!r}"
    if outcome.code in (1, 2):
        if len(lines) != 1 or not lines[0].startswith(_ERROR):
            yield f"not one error line: {outcome.err!r}"
    elif not all(line.startswith(_NOTE) for line in lines):
        yield f"not only notes: {outcome.err!r}"


def whole_or_nothing(case: Case, outcome: Outcome) -> Iterator[str]:
    """A failed call writes nothing. Others write only named files, and change no input file.

    `--export` names a folder. Even a failed export may leave a manifest there: it is written first.
    """
    data_sets = {value for option, value in pairwise(case.arguments) if option == "--export"}
    manifests = {f"{data_set}/{DATA_SET_MANIFEST}" for data_set in data_sets}
    if outcome.code in (1, 2) and (outcome.out or not manifests.issuperset(outcome.written)):
        yield f"an error after output: {outcome.out[:80]!r}, {list(outcome.written)}"
    for name in outcome.written:
        folders = {parent.as_posix() for parent in PurePosixPath(name).parents}
        is_named = name in case.arguments or not data_sets.isdisjoint(folders)
        if name in case.files or not is_named:
            yield f"wrote {name}, which is an input file, or which no argument names"


def no_control_sequences(case: Case, outcome: Outcome) -> Iterator[str]:
    """No control character, escape sequence, bidi override or lone surrogate is printed."""
    if case.output_format == "text":  # help, and other texts that are not reports
        return
    for where, text in _texts(case, outcome).items():
        shown = _COLORS.sub("", text) if case.colored else text
        if case.output_format == "csv":
            shown = shown.replace("\r\n", "\n")
        match = _FORBIDDEN.search(shown)
        if match:
            near = shown[max(match.start() - 30, 0) : match.end() + 30]
            yield f"{match[0]!r} in {where}, near {near!r}"


def finite_numbers(case: Case, outcome: Outcome) -> Iterator[str]:
    """`nan` and `inf` are printed only if they are texts of the input."""
    if outcome.code in (1, 2) or case.output_format == "text" or _has_such_text(case):
        return
    for where, text in _texts(case, outcome).items():
        for line in text.splitlines():
            if _NOT_FINITE.search(line.replace(_EXPECTED, "")):
                yield f"{line!r} in {where}"


def _has_such_text(case: Case) -> bool:
    """Return whether an argument, or a field other than a time, has `nan` or `inf`."""
    if any(map(_NOT_FINITE.search, case.arguments)):
        return True
    for data in (*case.files.values(), case.stdin):
        plain = _TIME_NOT_FINITE.sub(b"", _unpacked(data))
        if _NOT_FINITE.search(plain.decode("utf-8", "replace")):
            return True
    return False


def _unpacked(data: bytes) -> bytes:
    if data.startswith(b"\x1f\x8b"):
        try:
            return zlib.decompressobj(31).decompress(data)
        except zlib.error:
            return data
    if data.startswith(b"\x28\xb5\x2f\xfd"):
        import zstandard  # optional: only inputs compressed with zstd need it

        try:
            return zstandard.ZstdDecompressor().decompressobj().decompress(data)
        except zstandard.ZstdError:
            return data
    return data


def valid_output(case: Case, outcome: Outcome) -> Iterator[str]:
    """JSON matches its schema, CSV and tables have rows of one length, XML is well-formed."""
    check = _FORMAT_CHECKS.get(case.output_format)
    if check is None or outcome.code in (1, 2, None):
        return
    for where, text in _reports(case, outcome).items():
        for sentence in check(case, _COLORS.sub("", text) if case.colored else text):
            yield f"{where}: {sentence}"
    for name, data in outcome.written.items():
        if name.endswith(".svg"):
            yield from _xml(case, data.decode())


def _texts(case: Case, outcome: Outcome) -> dict[str, str]:
    """Return all texts of the outcome. The key is the file or the stream that a text went to."""
    return {"standard error": outcome.err, **_reports(case, outcome)}


def _reports(case: Case, outcome: Outcome) -> dict[str, str]:
    """Return the reports of the outcome, with keys as in `_texts`; no files of data sets."""
    files = {
        name: data.decode("utf-8", "surrogateescape")
        for name, data in outcome.written.items()
        if not name.startswith("picture.") and "/" not in name
    }
    reports = files or ({"standard output": outcome.out} if outcome.code not in (1, 2) else {})
    # In JSON Lines, a table without rows is an empty text. So is a collapsed report without stacks.
    if reports == {"standard output": ""} and case.output_format in ("jsonl", "collapsed"):
        return {}
    return reports


def _json(case: Case, text: str) -> Iterator[str]:  # noqa: ARG001  # one signature for all
    try:
        report = json.loads(text, parse_constant=_refuse)
    except ValueError as error:
        yield f"not JSON: {error}"
        return
    yield from _schema_errors(report)
    for table in report["tables"]:
        yield from out_of_order(table)


def _refuse(word: str) -> Any:
    raise ValueError(f"{word} is not JSON")


@cache
def _validator() -> Any:
    import jsonschema  # optional: only this check needs it

    return jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))


def _schema_errors(report: Any) -> Iterator[str]:
    for error in _validator().iter_errors(report):
        yield f"does not match the schema: {error.json_path}: {error.message[:200]}"


def out_of_order(table: dict[str, Any]) -> Iterator[str]:
    """Rows have the order of the query: largest first, or with + smallest first. N/A is last."""
    names = [column["name"] for column in table["columns"]]
    orders = []
    for text in table["query"]["order"]:
        column = _column_index(text.removeprefix("+"), names, table["query"]["aggregates"])
        if column is None:  # rows may be ordered by a column that is not shown
            break
        orders.append((column, text.startswith("+"), _sort_key_of(names[column])))
    for before, after in pairwise(table["rows"]):
        if orders and _is_before(after, before, orders[0]):
            yield f"not ordered by {table['query']['order']}: {before} before {after}"
            return
        if not _in_order(before, after, orders):
            yield f"ties not ordered by {table['query']['order']}: {before} before {after}"
            return


def _in_order(before: list[Any], after: list[Any], orders: list[_Order]) -> bool:
    for order in orders:
        if before[order[0]] != after[order[0]]:
            return not _is_before(after, before, order)
    return True


def _is_before(one_row: list[Any], other_row: list[Any], order: _Order) -> bool:
    """Return whether `one_row` must come first. Rows with equal values may come in any order."""
    column, up, sort_key = order
    one, other = one_row[column], other_row[column]
    if one is None or other is None:
        return one is not None and other is None
    return bool(sort_key(one) < sort_key(other) if up else sort_key(one) > sort_key(other))


def _sort_key_of(shown: str) -> Callable[[Any], Any]:
    """Return the sort key of the values in a column: see `Column.has_natural_order`."""
    try:
        is_natural = find_column(shown).has_natural_order
    except QueryError:  # the unit is a part of the name, as in `time_s`
        is_natural = False
    return natural_sort_key if is_natural else lambda value: (isinstance(value, str), value)


def _column_index(name: str, names: list[str], aggregates: list[str]) -> int | None:
    """Return the index of the column `name` among the shown `names`, or None."""
    # With several aggregates, `time` orders by the first aggregate that is not the count.
    first = [one for one in aggregates if one != "count"][:1] or aggregates[:1]
    for written in (name, *(f"{name}.{aggregate}" for aggregate in first)):
        try:
            shown = machine_name(find_column(written))
        except QueryError:
            continue
        if shown in names:
            return names.index(shown)
    return None


def _json_lines(case: Case, text: str) -> Iterator[str]:  # noqa: ARG001  # one signature for all
    try:
        rows = [json.loads(line, parse_constant=_refuse) for line in text.split("\n")[:-1]]
    except ValueError as error:
        yield f"not JSON Lines: {error}"
        return
    for _, rows_of_table in groupby(rows, key=lambda row: row.get("measure")):
        keys = [tuple(row) for row in rows_of_table]
        if len(set(keys)) != 1:
            yield f"rows with different keys: {set(keys)}"


def _comma_separated(case: Case, text: str) -> Iterator[str]:  # noqa: ARG001  # one signature for all
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except csv.Error as error:
        yield f"not CSV: {error}"
        return
    if len(set(map(len, rows))) != 1:
        yield f"rows of several lengths: {rows}"
    for formula in [cell for row in rows for cell in row if cell.startswith(("=", "+", "@"))]:
        yield f"a spreadsheet takes {formula!r} for a formula"


def _xml(case: Case, text: str) -> Iterator[str]:  # noqa: ARG001  # one signature for all
    try:
        ET.fromstring(text)  # our own output, so it is trusted
    except ET.ParseError as error:
        yield f"not XML: {error}"


def _junit(case: Case, text: str) -> Iterator[str]:
    yield from _xml(case, text)
    conditions = {value for option, value in pairwise(case.arguments) if option == "--fail-if"}
    if text.count("<testcase ") != len(conditions):
        yield f"not one test case for each of {conditions}: {text}"


def _github(case: Case, text: str) -> Iterator[str]:  # noqa: ARG001  # one signature for all
    for line in text.split("\n")[:-1]:
        if not _ANNOTATION.match(line):
            yield f"not an annotation: {line!r}"


def _collapsed(case: Case, text: str) -> Iterator[str]:  # noqa: ARG001  # one signature for all
    for line in text.split("\n")[:-1]:
        if not _STACK.fullmatch(line):
            yield f"not a stack with microseconds: {line!r}"


def _pipe_table(case: Case, text: str) -> Iterator[str]:  # noqa: ARG001  # one signature for all
    """Every line of a Markdown or wiki table has as many cells as the first."""
    for is_table, lines in groupby(text.split("\n"), key=lambda line: line.startswith("|")):
        if is_table:
            cells = [(len(_PIPE.findall(line)), line) for line in lines]
            if len({count for count, _ in cells}) != 1:
                yield f"rows with more cells than others: {cells}"


def _boxes(case: Case, text: str) -> Iterator[str]:  # noqa: ARG001  # one signature for all
    """Every line of a box is as wide on a terminal as the first."""
    import wcwidth  # only this check needs it

    for is_box, lines in groupby(text.split("\n"), key=lambda line: line.startswith(_BOX_EDGES)):
        if is_box:
            widths = {wcwidth.wcswidth(line): line for line in lines}
            if len(widths) != 1:
                yield f"lines of several widths: {widths}"


_FORMAT_CHECKS: Final[dict[str, Callable[[Case, str], Iterator[str]]]] = {
    "json": _json,
    "jsonl": _json_lines,
    "csv": _comma_separated,
    "junit": _junit,
    "collapsed": _collapsed,
    "github": _github,
    "markdown": _pipe_table,
    "wiki": _pipe_table,
    "table": _boxes,
}

CALL_INVARIANTS: Final[tuple[Callable[[Case, Outcome], Iterator[str]], ...]] = (
    exit_code,
    one_error_line,
    whole_or_nothing,
    no_control_sequences,
    finite_numbers,
    valid_output,
)
"""The invariants of a call of the command."""

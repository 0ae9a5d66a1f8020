"""What holds of every call of the command, whatever it is given. `docs/reliability.md` tells why.

Each invariant is a function of the input and of what came of it, and gives a sentence for each way
in which it does not hold.
"""

from __future__ import annotations

import csv
import io
import json
import re
import zlib
from functools import cache
from itertools import groupby, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from xml.etree import ElementTree as ET

from profile_analyze.errors import QueryError
from profile_analyze.model.wording import machine_name
from profile_analyze.query.catalog import find_column

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fuzz.cases import Case
    from fuzz.running import Outcome

SCHEMA: Final = Path(__file__).parent.parent / "docs" / "report.schema.json"

_ERROR: Final = "profile_analyze: error: "
_NOTE: Final = "note: "
_FORBIDDEN: Final = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
_COLORS: Final = re.compile("\x1b\\[(?:2|44|0)m")
_NOT_FINITE: Final = re.compile(r"(?<![^\W_])(?:nan|inf|infinity)(?![^\W_])", re.IGNORECASE)
_TIME_NOT_FINITE: Final = re.compile(rb'"(?:start|kern|end)"\s*:\s*"(?:-?inf|nan)"')
_EXPECTED: Final = "expected a number, inf, -inf or nan"
_ANNOTATION: Final = re.compile(r"::(error|warning|notice) title=profile_analyze::.")
_PIPE: Final = re.compile(r"(?<!\\)\|")
_BOX_EDGES: Final = ("╒", "│", "├", "╞", "╘", "+", "|")


def exit_code(case: Case, outcome: Outcome) -> Iterator[str]:
    """0, 1 or 2; 3 and 4 only if `--fail-if` asks for them; never a traceback."""
    if outcome.traceback:
        yield outcome.traceback.strip()
    elif outcome.code not in ((0, 1, 2, 3, 4) if "--fail-if" in case.arguments else (0, 1, 2)):
        yield f"exit code {outcome.code}"
    if "Traceback (most recent" in outcome.out + outcome.err:
        yield "a traceback is printed"


def one_error_line(case: Case, outcome: Outcome) -> Iterator[str]:  # noqa: ARG001  # as its like
    """With 1 and 2 one line `error:` on standard error and no other, otherwise only notes."""
    lines = outcome.err.split("\n")
    if lines.pop():
        yield f"standard error does not end with a line end: {outcome.err!r}"
    if outcome.code in (1, 2):
        if len(lines) != 1 or not lines[0].startswith(_ERROR):
            yield f"not one line of error: {outcome.err!r}"
    elif not all(line.startswith(_NOTE) for line in lines):
        yield f"not only notes: {outcome.err!r}"


def whole_or_nothing(case: Case, outcome: Outcome) -> Iterator[str]:
    """With 1 and 2 nothing is printed or written; a file that is read is never changed."""
    if outcome.code in (1, 2) and (outcome.out or outcome.written):
        yield f"an error after output: {outcome.out[:80]!r}, {list(outcome.written)}"
    for name in outcome.written:
        if name in case.files or name not in case.arguments:
            yield f"the file {name} was written, which nothing asks for"


def nothing_that_acts(case: Case, outcome: Outcome) -> Iterator[str]:
    """No control character, escape sequence, bidi override or half of a character is printed."""
    texts = {"standard error": outcome.err, **_answers(case, outcome)}
    for place, text in texts.items():
        shown = _COLORS.sub("", text) if case.colored else text
        if case.form == "csv":
            shown = shown.replace("\r\n", "\n")
        found = _FORBIDDEN.search(shown) if case.form != "words" else None
        if found:
            near = shown[max(found.start() - 30, 0) : found.end() + 30]
            yield f"{found[0]!r} in {place}, near {near!r}"


def finite_numbers(case: Case, outcome: Outcome) -> Iterator[str]:
    """No `nan` and no `inf` is printed that is not a text of the input."""
    if outcome.code in (1, 2) or case.form == "words" or _has_the_word(case):
        return
    for place, text in {"standard error": outcome.err, **_answers(case, outcome)}.items():
        for line in text.splitlines():
            if _NOT_FINITE.search(line.replace(_EXPECTED, "")):
                yield f"{line!r} in {place}"


def _has_the_word(case: Case) -> bool:
    """Whether the input has the words elsewhere than as a time."""
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
        import zstandard

        try:
            return zstandard.ZstdDecompressor().decompressobj().decompress(data)
        except zstandard.ZstdError:
            return data
    return data


def form_holds(case: Case, outcome: Outcome) -> Iterator[str]:
    """JSON fits its schema, CSV and tables have rows of one length, XML is well-formed."""
    check = _FORM_CHECKS.get(case.form)
    if check is None or outcome.code in (1, 2, None):
        return
    for place, text in _answers(case, outcome).items():
        for sentence in check(case, _COLORS.sub("", text) if case.colored else text):
            yield f"{place}: {sentence}"
    for name, data in outcome.written.items():
        if name.endswith(".svg"):
            yield from _xml(case, data.decode())


def _answers(case: Case, outcome: Outcome) -> dict[str, str]:
    """What was answered, by where it stands."""
    files = {
        name: data.decode("utf-8", "surrogateescape")
        for name, data in outcome.written.items()
        if not name.startswith("picture.")
    }
    answer = files or ({"standard output": outcome.out} if outcome.code not in (1, 2) else {})
    if answer == {"standard output": ""} and case.form == "jsonl":
        return {}
    return answer


def _json(case: Case, text: str) -> Iterator[str]:  # noqa: ARG001  # as its like
    try:
        found = json.loads(text, parse_constant=_refuse)
    except ValueError as error:
        yield f"no JSON: {error}"
        return
    yield from _unlike_schema(found)
    for table in found["tables"]:
        yield from out_of_order(table)


def _refuse(word: str) -> Any:
    raise ValueError(f"{word} is no JSON")


@cache
def _validator() -> Any:
    import jsonschema

    return jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))


def _unlike_schema(found: Any) -> Iterator[str]:
    for error in _validator().iter_errors(found):
        yield f"unlike the schema: {error.json_path}: {error.message[:200]}"


def out_of_order(table: dict[str, Any]) -> Iterator[str]:
    """The order asked for is the order of the rows: largest first, with + smallest, N/A last."""
    names = [column["name"] for column in table["columns"]]
    orders = []
    for text in table["query"]["order"]:
        place = _place_of(text.removeprefix("+"), names, table["query"]["aggregates"])
        if place is None:
            break
        orders.append((place, text.startswith("+")))
    for before, after in pairwise(table["rows"]):
        if any(_is_before(after[place], before[place], up=up) for place, up in orders[:1]):
            yield f"not ordered by {table['query']['order']}: {before} before {after}"
            return
        if not _in_order(before, after, orders):
            yield f"ties not ordered by {table['query']['order']}: {before} before {after}"
            return


def _in_order(before: list[Any], after: list[Any], orders: list[tuple[int, bool]]) -> bool:
    for place, up in orders:
        if before[place] != after[place]:
            return not _is_before(after[place], before[place], up=up)
    return True


def _is_before(one: Any, other: Any, *, up: bool) -> bool:
    """Whether `one` has to come before `other`, which differs from it or not."""
    if one is None or other is None:
        return one is not None and other is None
    one_key, other_key = (isinstance(one, str), one), (isinstance(other, str), other)
    return bool(one_key < other_key if up else one_key > other_key)


def _place_of(name: str, names: list[str], aggregates: list[str]) -> int | None:
    """The place of the column `name` in a table of these columns; None if it is not shown."""
    of_columns = [how for how in aggregates if how != "count"] or aggregates
    for written in (name, *(f"{name}.{aggregate}" for aggregate in of_columns[:1])):
        try:
            shown = machine_name(find_column(written))
        except QueryError:
            continue
        if shown in names:
            return names.index(shown)
    return None


def _json_lines(case: Case, text: str) -> Iterator[str]:  # noqa: ARG001  # as its like
    try:
        rows = [json.loads(line, parse_constant=_refuse) for line in text.split("\n")[:-1]]
    except ValueError as error:
        yield f"no JSON lines: {error}"
        return
    for _, of_table in groupby(rows, key=lambda row: row.get("measure")):
        keys = [tuple(row) for row in of_table]
        if len(set(keys)) != 1:
            yield f"rows with other keys: {set(keys)}"


def _comma_separated(case: Case, text: str) -> Iterator[str]:  # noqa: ARG001  # as its like
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except csv.Error as error:
        yield f"no CSV: {error}"
        return
    if len(set(map(len, rows))) != 1:
        yield f"rows of several lengths: {rows}"
    for formula in [cell for row in rows for cell in row if cell.startswith(("=", "+", "@"))]:
        yield f"a spreadsheet takes {formula!r} for a formula"


def _xml(case: Case, text: str) -> Iterator[str]:  # noqa: ARG001  # as its like
    try:
        ET.fromstring(text)  # our own output
    except ET.ParseError as error:
        yield f"no XML: {error}"


def _junit(case: Case, text: str) -> Iterator[str]:
    yield from _xml(case, text)
    places = [place for place, one in enumerate(case.arguments) if one == "--fail-if"]
    conditions = {case.arguments[place + 1] for place in places}
    if text.count("<testcase ") != len(conditions):
        yield f"not a test case for each of {conditions}: {text}"


def _github(case: Case, text: str) -> Iterator[str]:  # noqa: ARG001  # as its like
    for line in text.split("\n")[:-1]:
        if not _ANNOTATION.match(line):
            yield f"no annotation: {line!r}"


def _pipe_table(case: Case, text: str) -> Iterator[str]:  # noqa: ARG001  # as its like
    """Markdown and wiki: every line of a table has as many cells as its first."""
    for is_table, lines in groupby(text.split("\n"), key=lambda line: line.startswith("|")):
        if is_table:
            cells = [(len(_PIPE.findall(line)), line) for line in lines]
            if len({count for count, _ in cells}) != 1:
                yield f"rows with more cells than others: {cells}"


def _boxes(case: Case, text: str) -> Iterator[str]:  # noqa: ARG001  # as its like
    """Every line of a box takes as much room on a terminal as its first."""
    import wcwidth

    for is_box, lines in groupby(text.split("\n"), key=lambda line: line.startswith(_BOX_EDGES)):
        if is_box:
            widths = {wcwidth.wcswidth(line): line for line in lines}
            if len(widths) != 1:
                yield f"lines of several widths: {widths}"


_FORM_CHECKS: Final[dict[str, Callable[[Case, str], Iterator[str]]]] = {
    "json": _json,
    "jsonl": _json_lines,
    "csv": _comma_separated,
    "junit": _junit,
    "github": _github,
    "markdown": _pipe_table,
    "wiki": _pipe_table,
    "table": _boxes,
}

OF_CALLS: Final[tuple[Callable[[Case, Outcome], Iterator[str]], ...]] = (
    exit_code,
    one_error_line,
    whole_or_nothing,
    nothing_that_acts,
    finite_numbers,
    form_holds,
)
"""The invariants of a call of the command."""

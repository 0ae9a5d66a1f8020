"""Random inputs, the same in every run, and outcomes that break each invariant."""

from __future__ import annotations

import json
import re
import sys
from itertools import islice
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import profile_analyze as pa
from fuzz import __main__ as fuzz_command
from fuzz import arithmetic, campaign, command_lines, data_sets, invariants, truncation
from fuzz.arithmetic import PROFILE_INVARIANTS
from fuzz.cases import SMALLEST_REAL, Case, make_case
from fuzz.invariants import CALL_INVARIANTS
from fuzz.recorded import FIXTURES, FOLDERS, recorded_files, with_wrong_words
from fuzz.running import Outcome, run_case
from profile_analyze.model.operators import OPTIONAL_COLUMNS
from profile_analyze.readers.input.source import Source
from profile_analyze.readers.loading import read_profile
from tests.conftest import IS_FULL
from tests.small import Operator, profile_of
from tests.strategies import documents

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

RELIABILITY = Path(__file__).parent.parent / "docs" / "reliability.md"
OTHER_FIXTURES = {
    "cases",
    "calls",
    "classifiers",
    "hostile",
    "make",
    "onnx-tool",
    "reports",
    "runs",
}
"""Folders with texts, or with files in formats that other folders have, too."""
PARTS = 8 if IS_FULL else 2
INPUTS = 2000 if IS_FULL else 30
BYTES_PER_CUT = 1 if IS_FULL else 17


def test_recorded_files_of_every_format_are_among_the_inputs() -> None:
    folders = {path.name for path in FIXTURES.iterdir() if path.is_dir()}
    assert {*FOLDERS, "profiles"} | OTHER_FIXTURES == folders
    inputs = [make_case(3, number).files.get("run.json") for number in range(300)]
    assert len({*recorded_files()} & {*inputs}) > 5


def test_recorded_files_have_formats_that_are_read() -> None:
    contents = recorded_files()
    assert len(contents) > 60
    assert [data[:100] for data in contents if "supported formats" in refusal(data)] == []


def refusal(data: bytes) -> str:
    """Return why no reader accepts the content of a file; empty if one does."""
    try:
        read_profile(Source.of_bytes("run.json", data), OPTIONAL_COLUMNS)
    except pa.InputError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    ("inputs", "batches"),
    [("0", []), ("3", [range(7, 10)]), ("300", [range(7, 257), range(257, 307)])],
)
def test_a_run_ends_after_the_given_number_of_inputs(
    inputs: str, batches: list[range], monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[range] = []

    def run(_seed: int, next_batch: Callable[[], range | None], *_: object) -> None:
        taken.extend(islice(iter(next_batch, None), 9))

    monkeypatch.setattr(fuzz_command, "_run", run)
    monkeypatch.setattr(sys, "argv", ["fuzz", "--first", "7", "--inputs", inputs])
    assert fuzz_command.main() == 0
    assert taken == batches


def test_words_are_replaced() -> None:
    random = Random(1)
    changed = {with_wrong_words(random, b'{"a": 1}') for _ in range(1000)}
    assert {b'{"a": a}', b'{"1": 1}', b'{"a": nan}'} <= changed
    assert with_wrong_words(random, b"{}") == b"{}"


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_no_input_breaks_an_invariant(part: int) -> None:
    tally = campaign.check_inputs(20, range(part, INPUTS, PARTS))
    assert tally.broken == []
    assert tally.profiles > INPUTS / PARTS / 10
    if IS_FULL:
        assert set(tally.codes) >= {"0", "1", "2", "4"}


@pytest.mark.slowest
@pytest.mark.parametrize("part", range(PARTS))
def test_no_data_set_label_or_query_breaks_an_invariant(part: int) -> None:
    tally = data_sets.check_inputs(20, range(part, INPUTS, PARTS))
    assert tally.broken == []
    assert {*tally.codes} == {"0", "1", "2"}


def test_random_command_lines_use_every_output_format() -> None:
    assert set(pa.OUTPUT_FORMATS) <= set(command_lines._FORMATS)


def test_a_seed_gives_the_same_inputs_again() -> None:
    first, again = ([make_case(3, number) for number in range(50)] for _ in range(2))
    assert first == again
    assert make_case(3, 1) != make_case(4, 1)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_a_profile_truncated_at_any_byte_gives_a_one_line_error(part: int) -> None:
    data = SMALLEST_REAL.read_bytes().rstrip()
    lengths = range(part * BYTES_PER_CUT, len(data), 4 * BYTES_PER_CUT)
    assert list(truncation.check_lengths(data, lengths)) == []


def test_the_truncation_check_reports_a_file_that_can_be_read() -> None:
    data = SMALLEST_REAL.read_bytes()
    assert list(truncation.check_lengths(data, [len(data)])) == [f"{len(data)} bytes: exit code 0"]


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)


@given(documents(), st.data())
def test_a_section_of_any_kind_is_read_or_refused(
    document: dict[str, Any], data: st.DataObject
) -> None:
    section = data.draw(st.sampled_from(["device", "host", "opr_footprint", "operator", "var"]))
    half = document["graph_exec" if section in ("operator", "var") else "profiler"]
    half[section] = data.draw(JSON)
    assert is_read_or_refused(json.dumps(document).encode())


@given(st.binary(max_size=200))
def test_any_bytes_after_the_first_key_are_read_or_refused(rest: bytes) -> None:
    assert is_read_or_refused(b'{"profiler":' + rest)


def is_read_or_refused(data: bytes) -> bool:
    """Return whether the reader returns a profile or raises an error of one line."""
    try:
        return isinstance(
            read_profile(Source.of_bytes("generated.json", data), OPTIONAL_COLUMNS), pa.Profile
        )
    except pa.InputError as error:
        return str(error).splitlines() == [str(error)]


RIGHT = Outcome(code=0, out="", err="", written={})
ERROR = "profile_analyze: error: a\n"


def case_of(output_format: str, *arguments: str, **more: Any) -> Case:
    return Case({"run.json": b"{}"}, ("run.json", *arguments), output_format=output_format, **more)


TABLE = {"columns": [{"name": "time_s"}, {"name": "name"}]}
BROKEN: list[tuple[Callable[[Case, Outcome], Iterable[str]], Case, Outcome]] = [
    (invariants.exit_code, case_of("table"), RIGHT._replace(code=None, traceback="ValueError")),
    (invariants.exit_code, case_of("table"), RIGHT._replace(code=3)),
    (invariants.exit_code, case_of("table", "--fail-if", "a"), RIGHT._replace(code=5)),
    (invariants.exit_code, case_of("table"), RIGHT._replace(err="Traceback (most recent call last):\n")),
    (invariants.one_error_line, case_of("table"), RIGHT._replace(code=1)),
    (invariants.one_error_line, case_of("table"), RIGHT._replace(code=2, err=ERROR + ERROR)),
    (invariants.one_error_line, case_of("table"), RIGHT._replace(code=1, err="note: a\n")),
    (invariants.one_error_line, case_of("table"), RIGHT._replace(err=ERROR)),
    (invariants.one_error_line, case_of("table"), RIGHT._replace(err="note: a")),
    (invariants.whole_or_nothing, case_of("table"), RIGHT._replace(code=1, out="total")),
    (invariants.whole_or_nothing, case_of("table"), RIGHT._replace(code=2, written={"out.csv": b""})),
    (invariants.whole_or_nothing, case_of("table"), RIGHT._replace(written={"run.json": b"changed"})),
    (invariants.whole_or_nothing, case_of("table"), RIGHT._replace(written={".tmp": b""})),
    (invariants.whole_or_nothing, case_of("table", "set"), RIGHT._replace(written={"set/x": b""})),
    (invariants.whole_or_nothing, case_of("plain", "--export", "set"), RIGHT._replace(written={"new/x": b""})),
    (
        invariants.whole_or_nothing,
        case_of("plain", "--export", "set"),
        RIGHT._replace(code=1, written={"set/part=000001/_part.json": b""}),
    ),
    (
        invariants.whole_or_nothing,
        Case({"set/_profile_analyze.json": b"{}"}, ("run.json", "--export", "set")),
        RIGHT._replace(written={"set/_profile_analyze.json": b"changed"}),
    ),
    (invariants.no_control_sequences, case_of("table"), RIGHT._replace(out="a\x1b[2J")),
    (invariants.no_control_sequences, case_of("csv"), RIGHT._replace(out="a\rb\r\n")),
    (invariants.no_control_sequences, case_of("json"), RIGHT._replace(written={"a": "\u202e".encode()})),
    (invariants.no_control_sequences, case_of("table"), RIGHT._replace(code=1, err="\x9b\n")),
    (invariants.no_control_sequences, case_of("table", colored=True), RIGHT._replace(out="\x1b[35m")),
    (invariants.finite_numbers, case_of("plain"), RIGHT._replace(out="time  nan\n")),
    (invariants.finite_numbers, case_of("csv"), RIGHT._replace(out="time\r\n-inf\r\n")),
    (invariants.finite_numbers, case_of("plain"), RIGHT._replace(err="note: NaN of 3\n")),
    (invariants.valid_output, case_of("json"), RIGHT._replace(out='{"a": NaN}')),
    (invariants.valid_output, case_of("json"), RIGHT._replace(out='{"tables": []}')),
    (invariants.valid_output, case_of("jsonl"), RIGHT._replace(out='{"a": 1}\n{"b": 1}\n')),
    (invariants.valid_output, case_of("jsonl"), RIGHT._replace(out='{"a": Infinity}\n')),
    (invariants.valid_output, case_of("csv"), RIGHT._replace(out="a,b\r\n1\r\n")),
    (invariants.valid_output, case_of("csv"), RIGHT._replace(out='a\r\n"b\r\n')),
    (invariants.valid_output, case_of("csv"), RIGHT._replace(out="name\r\n=1+2\r\n")),
    (invariants.valid_output, case_of("collapsed"), RIGHT._replace(out="a;b 0\n")),
    (invariants.valid_output, case_of("junit"), RIGHT._replace(out="<testsuite>")),
    (invariants.valid_output, case_of("junit", "--fail-if", "a"), RIGHT._replace(out="<testsuite/>")),
    (invariants.valid_output, case_of("github"), RIGHT._replace(out="::error::a\n")),
    (invariants.valid_output, case_of("markdown"), RIGHT._replace(out="| a | b |\n| a |\n")),
    (invariants.valid_output, case_of("wiki"), RIGHT._replace(out="| a | b |\n| a | b | c |\n")),
    (invariants.valid_output, case_of("table"), RIGHT._replace(out="│ a │\n│ 卷 │\n")),
    (invariants.valid_output, case_of("table"), RIGHT._replace(written={"picture.svg": b"<svg>"})),
]  # fmt: skip


@pytest.mark.parametrize(("invariant", "given_case", "outcome"), BROKEN)
def test_broken_invariants_of_calls_are_found(
    invariant: Callable[[Case, Outcome], Iterable[str]], given_case: Case, outcome: Outcome
) -> None:
    assert list(invariant(given_case, outcome))


@pytest.mark.parametrize(
    ("order", "rows", "is_found"),
    [
        (["time"], [[2.0, "a"], [1.0, "b"], [None, "c"]], False),
        (["time"], [[1.0, "a"], [2.0, "b"]], True),
        (["+time"], [[2.0, "a"], [1.0, "b"]], True),
        (["time"], [[None, "a"], [1.0, "b"]], True),
        (["+time", "name"], [[1.0, "b"], [1.0, "a"]], False),
        (["+time", "name"], [[1.0, "a"], [1.0, "b"]], True),
        (["memory"], [[1.0, "a"], [2.0, "b"]], False),
    ],
)
def test_rows_out_of_order_are_found(order: list[str], rows: list[Any], *, is_found: bool) -> None:
    table = TABLE | {"query": {"order": order, "aggregates": []}, "rows": rows}
    assert bool(list(invariants.out_of_order(table))) == is_found


@pytest.mark.parametrize(("ids", "is_found"), [(["v10", "v2"], False), (["v2", "v10"], True)])
def test_texts_with_numbers_have_natural_order(ids: list[str], *, is_found: bool) -> None:
    table = {"columns": [{"name": "id"}], "query": {"order": ["id"], "aggregates": []}}
    assert bool(list(invariants.out_of_order(table | {"rows": [[one] for one in ids]}))) == is_found


def test_every_invariant_of_calls_has_an_outcome_that_breaks_it() -> None:
    assert {invariant for invariant, _, _ in BROKEN} == set(CALL_INVARIANTS)


def test_wrong_arithmetic_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    profile = profile_of(
        [Operator("a", "Conv", 2), Operator("b", "Add", 1), Operator("c", "Add", 4)]
    )
    assert [list(invariant(profile)) for invariant in PROFILE_INVARIANTS] == [[], [], [], []]
    right = pa.run

    def wrong(query: pa.Query, source: pa.Profile) -> Any:
        return _Changed(right(query, source))

    monkeypatch.setattr(arithmetic, "run", wrong)
    assert [bool(list(invariant(profile))) for invariant in PROFILE_INVARIANTS] == [True] * 4


def test_a_value_of_a_group_of_unknown_values_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    right = pa.run

    def wrong(query: pa.Query, source: pa.Profile) -> Any:
        table = right(query, source)
        return _Queued(table) if query.by == ("type",) else table

    profile = profile_of([Operator("a", "Conv", 2), Operator("b", "Add", 1)])
    monkeypatch.setattr(arithmetic, "run", wrong)
    assert [*arithmetic.groups_add_up(profile)] == [
        "queue of groups by ('type',) adds up to 2.0, not to nan"
    ]


class _Queued:
    """A table with a queue delay of 1 s in each row."""

    def __init__(self, result: pa.Table) -> None:
        self._result = result

    def __getitem__(self, name: str) -> Any:
        return np.ones(len(self._result)) if name == "queue" else self._result[name]


class _Changed:
    """A table with wrong numbers."""

    def __init__(self, result: pa.Table) -> None:
        self._result = result
        self.rows = result.rows

    def __len__(self) -> int:
        return len(self._result)

    def __getitem__(self, name: str) -> Any:
        values = self._result[name]
        if name in ("type", "id"):
            return values
        return values * np.arange(1, 2 * len(values), 2)[::-1] * len(values)


@pytest.mark.parametrize(
    ("grown_bytes", "seconds", "words"),
    [
        (0, 0.9, []),
        (campaign.MEMORY_FLOOR_BYTES * 2, 0.1, ["bytes of memory"]),
        (0, 1e6, [" s; valid files "]),
    ],
)
def test_calls_that_cost_too_much_are_found(
    grown_bytes: int, seconds: float, words: list[str]
) -> None:
    outcome = RIGHT._replace(grown_bytes=grown_bytes, seconds=seconds)
    found = list(campaign.cost(case_of("table"), outcome))
    assert len(found) == len(words)
    assert all(word in sentence for word, sentence in zip(words, found, strict=True))


def test_inputs_that_break_an_invariant_are_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        campaign, "CALL_INVARIANTS", (lambda _case, _outcome: iter(["never holds"]),)
    )
    monkeypatch.setattr(campaign, "PROFILE_INVARIANTS", (lambda _profile: 1 / 0,))
    tally = campaign.check_inputs(20, [5, 7], save_to=tmp_path)
    assert [number for number, _ in tally.broken] == [5, 7]
    assert {path.name for path in tmp_path.iterdir()} == {"20-5", "20-7"}
    saved = {path.name: path.read_bytes() for path in (tmp_path / "20-5").iterdir()}
    one = make_case(20, 5)
    assert saved.keys() == {*one.files, *(["stdin"] if one.stdin else []), "case.json"}


def test_each_command_runs_in_its_own_folder() -> None:
    before = Path.cwd()
    outcome = run_case(
        Case(
            {"run.json": SMALLEST_REAL.read_bytes()},
            ("run.json", "-o", "out.csv"),
            output_format="csv",
        )
    )
    assert (outcome.code, outcome.out, list(outcome.written)) == (0, "", ["out.csv"])
    assert Path.cwd() == before


@pytest.mark.parametrize("is_damaged", [False, True])
def test_an_export_changes_only_the_data_set_that_it_names(*, is_damaged: bool) -> None:
    data = b"{" if is_damaged else SMALLEST_REAL.read_bytes()
    case = Case({"run.json": data}, ("run.json", "--export", "set"), output_format="plain")
    outcome = run_case(case)
    assert outcome.code == is_damaged
    assert ("set/part=000001/_part.json" in outcome.written) != is_damaged
    assert list(campaign.check_call(case, outcome)) == []


@pytest.mark.slowest
def test_random_exports_add_profiles_to_new_and_to_existing_data_sets() -> None:
    cases = [data_sets.make_case(3, number) for number in range(400)]
    exports = [case for case in cases if "--export" in case.arguments]
    added = {case.arguments[-1] for case in exports[:20] if run_case(case).code == 0}
    assert added == {"other", "set"}


def test_the_invariants_are_documented() -> None:
    named = re.findall(r"^\| `(\w+)` \|", RELIABILITY.read_text(encoding="utf-8"), re.MULTILINE)
    assert named == [one.__name__ for one in (*CALL_INVARIANTS, *PROFILE_INVARIANTS, campaign.cost)]

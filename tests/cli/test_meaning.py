"""Well-formed files with senseless values. docs/formats.md states how they are handled."""

from __future__ import annotations

import json
import tracemalloc
from math import nan
from typing import TYPE_CHECKING, Any

import pytest

import profile_analyze as pa
from profile_analyze.findings.sentences import as_text
from profile_analyze.model.findings import Finding, Kind
from profile_analyze.readers.input.source import Source
from profile_analyze.readers.megengine import MegEngineReader
from tests.conftest import run_command
from tests.small import Operator, document

if TYPE_CHECKING:
    from pathlib import Path

ABOUT_TIMES = (
    "note: the device time of 1 operator is N/A: in the file, it is missing or not finite, or "
    "its end is before its start\n"
)
ABOUT_KERNELS = (
    "note: the device wait time of 1 operator (50.0% of the time) leaves out executions "
    "that end before their first kernel starts\n"
)
ROW_OF_B = "1,b,2.0,,4.0,2.0,8.0,4.0,"
"""The row of `b` in `answer`, without its share."""


def written(path: Path, document: dict[str, Any]) -> str:
    """Write a decoded document to `path` and return the path."""
    path.write_text(json.dumps(document))
    return str(path)


def two_operators() -> dict[str, Any]:
    """Return a profile in which `a` takes 1 s and `b` takes 2 s. Tests damage the data of `a`."""
    return document(
        [
            Operator("a", "A", 1e6, shape=[2], work=(2, 4)),
            Operator("b", "B", 2e6, shape=[2], work=(4, 8)),
        ]
    )


def answer(path: str) -> tuple[list[str], str]:
    """Return all rows with all numbers, and the notes."""
    columns = "id,name,time,wait,computation,flops,memory,bandwidth,share"
    call = (path, "-t", "0", "--order-by", "+id", "--format", "csv", "--columns", columns)
    outcome = run_command(*call)
    assert outcome.code == 0
    # New versions of orjson write a plus before exponents. The oldest version allowed does not.
    return outcome.out.replace("e+", "e").split("\r\n")[1:-1], outcome.err


TIMES = [
    ({"start": 0, "kern": 0.5, "end": 2}, "0,a,2.0,0.5,2.0,1.0,4.0,2.0,0.5", "0.5", ""),
    ({"start": -1, "kern": -0.5, "end": 1}, "0,a,2.0,0.5,2.0,1.0,4.0,2.0,0.5", "0.5", ""),
    ({"start": 0, "kern": -1, "end": 2}, "0,a,2.0,,2.0,1.0,4.0,2.0,0.5", "0.5", ""),
    ({"start": 0, "kern": "nan", "end": 2}, "0,a,2.0,,2.0,1.0,4.0,2.0,0.5", "0.5", ""),
    ({"start": 0, "kern": "inf", "end": 2}, "0,a,2.0,,2.0,1.0,4.0,2.0,0.5", "0.5", ""),
    ({"start": 0, "end": 2}, "0,a,2.0,,2.0,1.0,4.0,2.0,0.5", "0.5", ""),
    ({"start": 0, "kern": 3, "end": 2}, "0,a,2.0,,2.0,1.0,4.0,2.0,0.5", "0.5", ABOUT_KERNELS),
    ({"start": 2, "kern": 2.5, "end": 1}, "0,a,,0.5,2.0,,4.0,,", "1.0", ABOUT_TIMES),
    ({"start": 0, "kern": 0.5, "end": "inf"}, "0,a,,0.5,2.0,,4.0,,", "1.0", ABOUT_TIMES),
    ({"start": 0, "kern": 0.5, "end": "nan"}, "0,a,,0.5,2.0,,4.0,,", "1.0", ABOUT_TIMES),
    ({"start": "-inf", "kern": 0.5, "end": 1}, "0,a,,,2.0,,4.0,,", "1.0", ABOUT_TIMES),
    ({"start": None, "end": 1}, "0,a,,,2.0,,4.0,,", "1.0", ABOUT_TIMES),
    ({"start": -1.7e308, "end": 1.7e308}, "0,a,,,2.0,,4.0,,", "1.0", ABOUT_TIMES),
]


@pytest.mark.parametrize(("interval", "row_of_a", "share_of_b", "note"), TIMES)
def test_senseless_times_are_not_available(
    tmp_path: Path, interval: dict[str, Any], row_of_a: str, share_of_b: str, note: str
) -> None:
    document = two_operators()
    document["profiler"]["device"]["0"] = {"gpu0:0": interval}
    rows = [row_of_a, ROW_OF_B + share_of_b]
    assert answer(written(tmp_path / "a.json", document)) == (rows, note)


def test_a_late_kernel_on_two_threads_counts_as_one_operator(tmp_path: Path) -> None:
    document = two_operators()
    late = {"start": 0, "kern": 3, "end": 2}
    document["profiler"]["host"] = {
        "0": {"a": late, "b": late, "c": {"start": 0, "kern": 1, "end": 2}}
    }
    profile = pa.load(written(tmp_path / "a.json", document))
    assert profile.notes == (Finding.of("late-kernels", Kind.INCOMPLETE, operators=1, side="host"),)
    assert profile.measured("host_wait")[0].tolist() == [1.0]


NEGATIVE = "note: the {} of 1 operator (33.3% of the time) is N/A: in the file it is negative\n"
WORK = [
    ({"computation": None}, "0,a,1.0,,,,4.0,4.0,", ""),
    ({"computation": 0}, "0,a,1.0,,,,4.0,4.0,", ""),
    ({"computation": -2}, "0,a,1.0,,,,4.0,4.0,", NEGATIVE.format("computation")),
    ({"computation": 0.5}, "0,a,1.0,,0.5,0.5,4.0,4.0,", ""),
    ({"computation": 10**30}, "0,a,1.0,,1e30,1e30,4.0,4.0,", ""),
    ({"memory": None}, "0,a,1.0,,2.0,2.0,,,", ""),
    ({"memory": 0}, "0,a,1.0,,2.0,2.0,0.0,0.0,", ""),
    ({"memory": -0.0}, "0,a,1.0,,2.0,2.0,0.0,0.0,", ""),
    ({"memory": -4}, "0,a,1.0,,2.0,2.0,,,", NEGATIVE.format("memory")),
    ({"memory": 0.25}, "0,a,1.0,,2.0,2.0,0.25,0.25,", ""),
]


@pytest.mark.parametrize(("work", "row_of_a", "note"), WORK)
def test_negative_and_missing_work_is_not_available(
    tmp_path: Path, work: dict[str, Any], row_of_a: str, note: str
) -> None:
    document = two_operators()
    document["profiler"]["opr_footprint"]["0"] |= work
    rows, notes = answer(written(tmp_path / "a.json", document))
    third, two_thirds = "0.3333333333333333", "0.6666666666666666"
    assert (rows, notes) == ([row_of_a + third, ROW_OF_B + two_thirds], note)


def test_a_sum_of_times_that_overflows_is_not_available(tmp_path: Path) -> None:
    document = two_operators()
    for id_ in "01":
        document["profiler"]["device"][id_] = {"gpu0:0": {"start": 0, "end": 1.7e308}}
    path = written(tmp_path / "a.json", document)
    note = "note: the total device time is N/A: the sum of the times is too large to represent\n"
    row = "{},1.7e308,,{}.0,{},{}.0,{},"
    first = row.format("0,a", 2, "1.176470588235294e-308", 4, "2.3529411764705885e-308")
    second = row.format("1,b", 4, "2.3529411764705885e-308", 8, "4.705882352941177e-308")
    assert answer(path) == ([first, second], note)
    outcome = run_command(path, "--print-only", "summary")
    assert outcome.out == (
        "-----------------  ---\n"
        "total device time  N/A\n"
        "total host time    N/A\n"
        "-----------------  ---\n"
    )
    assert outcome.err == note


def test_shares_are_not_available_if_all_times_are_0(tmp_path: Path) -> None:
    document = two_operators()
    for id_ in "01":
        document["profiler"]["device"][id_] = {"gpu0:0": {"start": 1, "end": 1}}
    note = "note: the total device time is 0, so shares of it are N/A\n"
    rows = ["0,a,0.0,,2.0,,4.0,,", "1,b,0.0,,4.0,,8.0,,"]
    assert answer(written(tmp_path / "a.json", document)) == (rows, note)


def test_a_sum_of_work_that_overflows_is_not_available(tmp_path: Path) -> None:
    document = two_operators()
    for id_ in "01":
        document["profiler"]["opr_footprint"][id_] |= {"computation": 1e308, "memory": 1e308}
    path = written(tmp_path / "a.json", document)
    columns = "count,time,computation,flops,memory,bandwidth"
    outcome = run_command(path, "--aggregate", "sum", "--format", "csv", "--columns", columns)
    assert outcome.out.split("\r\n")[1:-1] == ["2,3.0,,,,"]


def test_operators_with_the_same_name_have_a_row_each(tmp_path: Path) -> None:
    document = two_operators()
    document["graph_exec"]["operator"]["1"] |= {"name": "a"}
    rows, note = answer(written(tmp_path / "a.json", document))
    assert ([row[:4] for row in rows], note) == (["0,a,", "1,a,"], "")


def test_the_last_of_two_equal_keys_is_used(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(two_operators()).replace('"name": "a"', '"name": "x", "name": "a"'))
    assert answer(str(path))[0] == answer(written(tmp_path / "b.json", two_operators()))[0]


@pytest.mark.parametrize("id_", ["-1", "+1", " 1", "1_0", "\u0663", "1.0", "0x1", ""])
def test_ids_that_are_not_whole_numbers_are_errors(tmp_path: Path, id_: str) -> None:
    document = two_operators()
    document["graph_exec"]["operator"][id_] = {"name": "c", "type": "C"}
    path = written(tmp_path / "a.json", document)
    reason = f"at $.graph_exec.operator: the operator id {id_!r} is not a whole number of 0 or more"
    assert run_command(path).err == f"profile_analyze: error: {path}: {reason}\n"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            '"name": "\\ud800xxxx", "type": "A"',
            "is not valid JSON: unexpected end of escaped utf-16 ",
        ),
        (
            '"name": 5, "type": "A"',
            "at $.graph_exec.operator.0.name: expected `str`, got `int`",
        ),
        (
            '"name": "a", "type": null',
            "at $.graph_exec.operator.0.type: expected `str`, got `null`",
        ),
    ],
)
def test_names_that_are_not_texts_are_errors(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(two_operators()).replace('"name": "a", "type": "A"', text))
    outcome = run_command(str(path))
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.startswith(f"profile_analyze: error: {path}: {reason}")


@pytest.mark.parametrize("value", ["1e400", "-1e400", "1" + "0" * 400])
def test_numbers_that_are_too_large_are_refused(tmp_path: Path, value: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(two_operators()).replace('"memory": 4', f'"memory": {value}'))
    reason = "at $.profiler.opr_footprint.0.memory: number out of range"
    assert run_command(str(path)).err == f"profile_analyze: error: {path}: {reason}\n"


@pytest.mark.slowest
def test_twenty_thousand_comp_nodes_are_one_operator() -> None:
    document = two_operators()
    interval = {"start": 0, "kern": 0.25, "end": 1}
    document["profiler"]["device"]["0"] = {f"gpu{n}:0": interval for n in range(20_000)}
    data = json.dumps(document).encode()
    tracemalloc.start()
    profile = MegEngineReader().read(Source.of_bytes("a.json", data), ())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert profile.measured("time").tolist() == [[1.0], [2.0]]
    assert len(profile.tracks) == 20_000
    assert peak < 30 * len(data)
    (note,) = pa.summarise(profile).notes
    text = "the device time is of 20000 comp nodes, which may have run "
    assert as_text(note).startswith(text)


@pytest.mark.parametrize("depth", [100, 100_000])
def test_only_deep_nesting_is_an_error(tmp_path: Path, depth: int) -> None:
    path = tmp_path / "a.json"
    deep = "[" * depth + "]" * depth
    path.write_text(json.dumps(two_operators()).replace('"param": {}', f'"param": {{"x": {deep}}}'))
    outcome = run_command(str(path), "--columns", "param.x", "--format", "csv")
    if depth == 100:
        assert (outcome.code, outcome.out) == (0, f"param.x\r\n{deep}\r\n{deep}\r\n")
    else:
        assert (
            outcome.err == f"profile_analyze: error: {path}: is nested too deeply for a profile\n"
        )


def test_the_total_of_a_comp_node_that_overflows_is_not_available(tmp_path: Path) -> None:
    document = two_operators()
    huge, short = {"start": 0, "end": 1.5e308}, {"start": 0, "end": 1}
    document["profiler"]["device"] = {"0": {"gpu0": huge, "gpu1": short}, "1": {"gpu0": huge}}
    path = written(tmp_path / "a.json", document)
    totals = {track.name: total for track, total in pa.load(path).total_by_track("device").items()}
    assert totals == {
        "gpu0": pytest.approx(nan, nan_ok=True),
        "gpu1": 1,
    }
    note = (
        "is of 2 comp nodes, which may have run at the same time: N/A on gpu0, 1.00 s on gpu1; for "
        "an operator on several, only the slowest counts\n"
    )
    assert note in run_command(path).err
    assert run_command(path, path).code == 0  # a warning of NumPy would be an error

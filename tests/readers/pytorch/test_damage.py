"""Damaged, odd and hostile traces: readable events are read, and a note counts all others."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

import profile_analyze as pa
from profile_analyze.findings.sentences import sentence
from profile_analyze.model.findings import Finding, Kind
from profile_analyze.readers.input.source import Source
from profile_analyze.readers.loading import READERS, read_profile
from profile_analyze.readers.recognition import first_reader
from tests.conftest import IS_FULL, PROFILES, run_command, some_of
from tests.findings.found import codes_in
from tests.readers.pytorch.events import call, document, event, kernel, no_steps, op
from tests.readers.tiny_file import failure, write_bytes

if TYPE_CHECKING:
    from pathlib import Path

    from profile_analyze.model.notes import Note

A, B = op("a"), op("b", 10)


def cut(*, has_kernels: bool = False, uses_device: bool = False) -> Finding:
    return Finding.of("cut-trace", Kind.DAMAGED, has_kernels=has_kernels, uses_device=uses_device)


def damaged(parts: int) -> Finding:
    return Finding.of("damaged-events", Kind.WRONG, parts=parts)


def untimed(events: int) -> Finding:
    return Finding.of("untimed-events", Kind.INCOMPLETE, events=events)


def mistyped(events: int) -> Finding:
    return Finding.of("mistyped-fields", Kind.INCOMPLETE, events=events)


ENDS, BEFORE_KERNELS = cut(), cut(uses_device=True)
AMONG_KERNELS = cut(has_kernels=True, uses_device=True)
REPAIRED = Finding.of("repaired-events", Kind.CONTEXT, events=1)
NOTHING = "has no operator and no kernel; record with activities=[ProfilerActivity.CPU]"
NO_LIST = 'has no "traceEvents"; export the trace again'
UNESCAPED = '{"ph":"X","cat":"cpu_op","name":"C:\\dir\\new\x01\n"quoted" é","pid":1,"tid":1,"ts":10,"dur":3}'
Found = dict[str, float]


def read(content: bytes, folder: Path) -> tuple[Found, list[Note]]:
    """Return the time of each row in microseconds, and the findings on the profile."""
    profile = pa.load(write_bytes(folder, content))
    assert profile.check() == ()
    table = pa.run(pa.Query(), profile)
    times_us = [round(time_s * 1e6, 3) for time_s in table["time"].tolist()]
    return dict(zip(table["name"].tolist(), times_us, strict=True)), [*profile.notes]


BOTH: Found = {"a": 5, "b": 5}
CASES: list[tuple[str, bytes, Found, list[Finding]]] = [
    # the layout of the file
    ("an empty event last", document(A, B, {}), BOTH, []),
    ("empty events everywhere", document({}, {}, A, {}, op("x", None), {}, {}, B, {}), BOTH,
        [untimed(1), mistyped(1)]),
    ("a name with braces", document(op("f({}, {})"), op("x", None), op("g([{}, {}], {})", 10)),
        {"f({}, {})": 5, "g([{}, {}], {})": 5}, [untimed(1), mistyped(1)]),
    ("a comma too many", document(A, json.dumps(B) + ","), BOTH, []),
    ("CRLF", json.dumps({"schemaVersion": 1, "traceEvents": [A, B]}, indent=1)
        .replace("\n", "\r\n").encode(), BOTH, []),
    ("no spaces", json.dumps({"schemaVersion": 1, "traceEvents": [A, B]}, separators=(",", ":"))
        .encode(), BOTH, []),
    ("sorted keys", json.dumps({"schemaVersion": 1, "traceEvents": [A, B]}, sort_keys=True)
        .encode(), BOTH, []),
    ("the list first", json.dumps({"traceEvents": [A, B], "schemaVersion": 1}).encode(), BOTH, []),
    ("metadata like events", document(A, B, tail=', "x": [{"name": "x"}, {"name": "y"}]'),
        BOTH, []),
    ("deep metadata", document(A, B, head='"schemaVersion": 1, "x": ' + "[" * 9999 + "]" * 9999),
        BOTH, []),
    ("metadata of wrong types", document(A, B, head='"schemaVersion": 1, '
        '"deviceProperties": 5, "distributedInfo": {"rank": "zero"}'), BOTH, []),
    ("a key twice", document('{"ph":"X","cat":"cpu_op","name":"a","name":"b","ts":1,"ts":2,'
        '"dur":1,"pid":1,"tid":1}'), {"b": 1}, []),
    # wrong values
    ("other phases", document(A, {"ph": "B", "name": "x"}, {"ph": "P"}, B), BOTH, []),
    ("no phase", document(A, {"name": "x"}, {"ph": 5, "name": "y"}, B), BOTH,
        [damaged(2)]),
    # No event follows A directly, so all of `7, [1], B` counts as one damaged event.
    ("not an event", document(A, 7, [1], B), {"a": 5}, [damaged(1)]),
    ("unusual process ids", document({**A, "pid": "x", "tid": None}, {**B, "pid": 1.5}), BOTH, []),
    ("process ids of wrong types", document({**A, "pid": [1]}, {**B, "tid": {}}), BOTH,
        [mistyped(2)]),
    ("no process id", document({"ph": "X", "cat": "cpu_op", "name": "a", "ts": 1, "dur": 5}), {"a": 5},
        []),
    ("times as texts", document(op("a", "3.5", "5"), B), BOTH, [mistyped(1)]),
    ("no times", document(A, op("x", None), op("y", 9, None), {"ph": "X", "cat": "cpu_op"}, B),
        BOTH, [untimed(3), mistyped(2)]),
    ("impossible times", document(A, op("x", 1e300), op("y", 1, 1e300), op("z", 1, -1), B), BOTH,
        [untimed(3)]),
    ("impossible times of allocations", document(A, *(
        {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 1, **time,
         "args": {"Bytes": 8, "Device Type": 0, "Device Id": -1}}
        for time in ({"ts": 1e300}, {"ts": 2}, {})
    ), B), BOTH, [untimed(2)]),
    ("NaN", document(A, op("x", float("nan")), B), BOTH,
        [untimed(1), mistyped(1)]),
    ("huge times", document(A, op("x", 10**400), B), BOTH,
        [untimed(1), mistyped(1)]),
    ("huge numbers", document(A, op("b", 10, **{"External id": 2**63, "Sequence number": -(2**70)})),
        BOTH, [mistyped(1)]),
    ("wrong arguments", document({**A, "args": [1]}, {**B, "args": "x"}), BOTH,
        [mistyped(2)]),
    ("arguments of wrong types", document(A, op("b", 10, **{"Sequence number": [7],
        "External id": None, "Input Dims": {"x": 5}})), BOTH, [mistyped(1)]),
    ("no arguments", document({**A, "args": None}, B), BOTH, []),
    ("deep arguments", document(A, '{"ph": "X", "args": {"x": ' + "[" * 99999 + "]" * 99999 + "}}",
        B), BOTH, [damaged(1)]),
    ("a name of a thread", document(A, {"ph": "M", "name": "thread_name", "pid": 1, "tid": 1,
        "args": {"name": {"a": [1]}}}, B), BOTH, []),
    # texts
    ("unescaped", document(A, UNESCAPED), {"a": 5, 'C:\\dir\\new\x01\n"quoted" é': 3},
        [REPAIRED]),
    ("unescaped and last", document(A, UNESCAPED, tail=', "traceName": "x"'),
        {"a": 5, 'C:\\dir\\new\x01\n"quoted" é': 3}, [REPAIRED]),
    ("not UTF-8", document(A, op("b#", 10)).replace(b"#", b"\xe9"), {"a": 5, "b\ufffd": 5},
        [REPAIRED]),
    ("half of a surrogate pair", document(A, op("\ud800b", 10)), {"a": 5, "?b": 5},
        [mistyped(1)]),
    ("a NUL", document(A, json.dumps(B).replace('"b"', '"b\0"')), {"a": 5, "b\0": 5},
        [REPAIRED]),
    ("no name", document(A, {**B, "name": ""}), {"a": 5, "unnamed": 5}, []),
    # kinds of events, and their names
    ("only modules", document(event("python_function", "nn.Module: Net_0")), {"Net_0": 5}, []),
    ("only regions", document(event("user_annotation", "mine")), {"mine": 5}, []),
    ("only steps", document(event("user_annotation", "ProfilerStep#1")), {"ProfilerStep*": 5}, []),
    ("only kernels", document(kernel("k", 1, 5, 9)), {"k": 5}, []),
    ("names of 2022", document(
        event("Operator", "aten::add", 0, 20, **{"Input dims": [[2, 2]], "external id": 4}),
        {**call(5, 9), "cat": "Runtime"},
        {**kernel("k", 30, 4, 9), "cat": "Kernel"},
    ), {"aten::add": 4}, []),
]  # fmt: skip


def test_braces_in_names_end_no_event_of_a_large_trace(tmp_path: Path) -> None:
    """The reader cuts a file of several MiB into blocks between events."""
    events = [op("f({}, {})", 10.0 * index) for index in range(20_000)]
    times, notes = read(document(*events), tmp_path)
    assert times == {"f({}, {})": 100_000}
    assert notes == [no_steps(20_000)]


@pytest.mark.parametrize(
    ("content", "found", "notes"),
    [case[1:] for case in CASES],
    ids=[case[0] for case in CASES],
)
def test_the_readable_part_of_a_damaged_trace_is_read(
    content: bytes, found: Found, notes: list[Finding], tmp_path: Path
) -> None:
    assert read(content, tmp_path) == (found, notes)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (document(), NOTHING),
        (document({}), NOTHING),
        (document(event("python_function", "f.py(1): g")), NOTHING),
        (
            document(op("a", None)),
            "has no event with a valid time: the times of 1 event are missing or impossible",
        ),
        (b'{"schemaVersion": 1, "traceEvents": null}', NO_LIST),
        (b'{"schemaVersion": 1, "traceEvents": {}}', NO_LIST),
        (b'{"schemaVersion": 1}', NO_LIST),
        (
            document('{"ph": "X", "cat": "cpu_op", "name": }'),
            "has no event that is valid JSON: invalid character (byte 38); export the trace again",
        ),
        (
            document(A)[:60],
            "truncated: ends before the end of the first event; copy or export it again",
        ),
    ],
)
def test_unreadable_traces_are_refused(content: bytes, reason: str, tmp_path: Path) -> None:
    assert failure(write_bytes(tmp_path, content), pa.MalformedProfileError) == reason


@pytest.mark.slow
def test_a_trace_that_ends_at_any_byte_is_read_or_refused(tmp_path: Path) -> None:
    whole = document(A, B, call(12, 9), kernel("k", 20, 3, 9), tail=', "traceName": "x"')
    end_of_list = whole.index(b"]", whole.index(b'"k"'))
    notes = {0: ENDS, 1: ENDS, 2: ENDS, 3: BEFORE_KERNELS, 4: AMONG_KERNELS}
    rows: list[int] = []
    reasons: list[str] = []
    for size in some_of(range(len(whole)), 23):
        source = Source.of_bytes("x.json", whole[:size])
        try:
            profile = read_profile(source, ())
        except pa.InputError as error:
            reasons.append(error.reason)
            rows.append(0)
            continue
        rows.append(len(profile.executions))
        expected = [] if size > end_of_list else [notes[rows[-1]]]
        assert [*profile.notes] == expected
    assert rows == sorted(rows)
    assert set(rows) == {0, 1, 2, 3, 4}
    assert all(re.fullmatch(r"[^\n]{10,320}", reason) for reason in reasons)
    done = run_command(write_bytes(tmp_path, whole[:end_of_list]))
    assert (done.code, done.err) == (0, f"note: {sentence(AMONG_KERNELS)}\n")


DEVICE = '"deviceProperties": [{"id": 0, "name": "NVIDIA H200"}]'
QUERY = {**call(12, 9), "name": "cudaGetErrorString"}
NO_KERNEL = Finding.of(
    "no-kernels", Kind.INCOMPLETE, untimed=0, shown_by="launches", name=None, events=1
)


@pytest.mark.parametrize(
    ("content", "side", "notes"),
    [
        pytest.param(document(A, B, call(12, 9)), "host", [NO_KERNEL], id="launches"),
        pytest.param(document(A, B, QUERY, head=DEVICE), "device", [], id="no launch"),
        pytest.param(document(A, B, call(12, 9))[:-2], "host", [BEFORE_KERNELS], id="cut"),
        pytest.param(document(A, B, QUERY)[:-2], "device", [ENDS], id="cut without device"),
        pytest.param(
            document(A, B, op("cut"), head=DEVICE)[:-9], "host", [BEFORE_KERNELS],
            id="cut before driver calls, on a machine with a device",
        ),
    ],
)  # fmt: skip
def test_without_kernels_times_are_device_times_only_if_nothing_was_launched(
    content: bytes, side: str, notes: list[Finding], tmp_path: Path
) -> None:
    profile = pa.load(write_bytes(tmp_path, content))
    assert {track.side for track in profile.tracks} == {side}
    assert [*profile.notes] == notes
    times = pa.run(pa.Query(), profile)
    host_times = pa.run(pa.Query(measure="host_time"), profile)
    shown = {"device": times, "host": host_times}[side]
    assert shown["name"].tolist() == ["a", "b"]
    assert len(times) + len(host_times) == 2


@pytest.mark.parametrize("size", [1 << 10, 1 << 20])
def test_the_border_between_two_events_can_be_anywhere_in_a_block(
    size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("profile_analyze.readers.pytorch.blocks.BLOCK_SIZE", size)
    for blanks in (0, 1, 7, 3000):
        separator = "," + " " * blanks
        events = separator.join(
            json.dumps(op("x" * length, 9 * length)) for length in range(1, 300)
        )
        head = '"schemaVersion": 1, "x": "' + "y" * 5000 + '"'
        found, notes = read(document(events, head=head), tmp_path)
        assert found == {"x" * length: 5 for length in range(1, 300)}
        assert notes == []


FORMAT_OF_HEAD = {
    b'[{"schemaVersion": 1, "cat": "kernel"}]': None,
    b'{"schemaVersion": "1.0.2", "span_index": 0, "cat": "kernel"}': None,
    b'{"metadata": {"highres-ticks": true}, "x": {"cat": "kernel"}}': None,
    b'{"traceEvents": [{"ph": "X", "name": "a"}]}': None,
    b'{"traceEvents": [{"ph": "X", "cat": "cpu_op"}]}': "PyTorch trace",
    b'{"traceEvents": [{"ph": "X", "cat": "cuda_driver"}]}': "PyTorch trace",
    b'{ "schemaVersion" : 1': "PyTorch trace",
    b'{"a": "' + b"x" * 100_000 + b'", "deviceProperties": []': "PyTorch trace",
}


@pytest.mark.parametrize("head", FORMAT_OF_HEAD, ids=lambda head: head[:30].decode())
def test_only_traces_of_pytorch_are_recognised(head: bytes) -> None:
    reader = first_reader(READERS, head, "x.json")
    assert (reader and reader.format) == FORMAT_OF_HEAD[head]


@pytest.mark.slow
@pytest.mark.parametrize("part", [b"{", b'"', b" ", b'"cat" : "x"', b'"cat":' + b" " * 99, b"\0"])
def test_a_long_hostile_head_is_refused(part: bytes) -> None:
    size = 16 << 20 if IS_FULL else 2 << 20
    head = b'{"a": ' + part * (size // len(part))
    [reader] = [one for one in READERS if one.format == "PyTorch trace"]
    assert not reader.recognises(head, "x.json")


def test_no_note_on_a_real_trace_is_about_damage() -> None:
    files = (PROFILES.parent / "pytorch").glob("*.gz")
    codes = {code for file in files for code in codes_in(pa.load(file).notes)}
    assert codes == {"no-steps", "no-shapes"}

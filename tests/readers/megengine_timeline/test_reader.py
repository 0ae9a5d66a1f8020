"""Tiny timelines written by hand: whole answers, joins, runs, and damage."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from unittest.mock import Mock

import numpy as np
import pytest

import profile_analyze as pa
from profile_analyze.errors import InputError
from profile_analyze.model.findings import Finding, Kind
from profile_analyze.model.levels.levels import at_level
from profile_analyze.readers.input.source import Source
from profile_analyze.readers.loading import read_profile
from profile_analyze.readers.megengine_timeline.recording import Facts, TensorArguments
from profile_analyze.readers.megengine_timeline.work import cost_of
from tests.conftest import IS_FULL, run_command
from tests.findings.found import codes_in, rounded, with_code
from tests.readers.megengine_timeline.events import (
    DEVICE,
    DISPATCHER,
    document,
    event,
    names,
    op,
    scope,
    tensor,
)
from tests.readers.tiny_file import write_bytes

if TYPE_CHECKING:
    from pathlib import Path

    from tests.readers.megengine_timeline.events import Event

CONV = {
    "format": "NCHW",
    "sparse": "DENSE",
    "stride_h": "2",
    "workspace_limit": "18446744073709551615",
}
ADD = op("ADD", 3, 10, 14, (12, 22), params={"mode": "ADD"})
CONVOLUTION = op(
    "Convolution",
    4,
    20,
    24,
    (22, 52),
    ins=("{1,3,8,8}", "{4,3,3,3}"),
    outs=("{1,4,6,6}",),
    params=CONV,
)
near = pytest.approx


def shown(folder: Path, content: bytes, *options: str) -> tuple[str, str]:
    done = run_command(write_bytes(folder, content), *options)
    assert done.code == 0, done.err
    return done.out, done.err


def rows(
    content: bytes, folder: Path, *columns: str, level: str | None = None
) -> list[tuple[Any, ...]]:
    profile = pa.load(write_bytes(folder, content))
    table = pa.run(pa.Query(order="+id", level=level), profile)
    return list(zip(*(table[column].tolist() for column in columns), strict=True))


def test_a_timeline_has_times_rates_modules_and_parameters(tmp_path: Path) -> None:
    content = document(*ADD, *scope("net", 19, 30, *CONVOLUTION), *names())
    assert shown(tmp_path, content) == (
        "total device time   40.000 us\n"
        "total host time     8.000 us\n"
        "wall time of a run  42.000 us (device busy: 95.2%, idle: 2.000 us)\n"
        "\n"
        "device self time (us)  share          flops    bandwidth  type         name\n"
        "               30.000  75.0%  259.20 MFLOPS  56.46 MiB/s  Convolution  net.Convolution\n"
        "               10.000  25.0%  600.00 KFLOPS   4.58 MiB/s  ADD          ADD\n",
        "",
    )
    columns = "id,type,category,scope,time,host_time,calls,macs,memory,in_shapes,input_dtype,"
    table, _ = shown(
        tmp_path, content, "--format", "csv", "--columns", f"{columns}param.stride_h,device"
    )
    assert table.replace("\r\n", "\n") == (
        "id,type,category,scope,time_s,host_time_s,calls,macs,memory_bytes,in_shapes,"
        "input_dtype,param.stride_h,device\n"
        "net.Convolution,Convolution,convolution,net,0.00003,4e-6,1.0,3888,1776.0,"
        '"{1,3,8,8}, {4,3,3,3}",Float32,2,xpux:0\n'
        'ADD,ADD,elementwise,,0.00001,4e-6,1.0,0,48.0,"{2,3}",Float32,,xpux:0\n'
    )


def test_the_origin_and_the_names_of_tracks_are_read(tmp_path: Path) -> None:
    profile = pa.load(write_bytes(tmp_path, document(*ADD, *names())))
    assert (profile.origin.format, profile.origin.times) == (
        "MegEngine timeline",
        "of each execution",
    )
    assert [
        (one.name, one.side, one.device, one.device_kind, one.threads) for one in profile.tracks
    ] == [("worker", "host", None, None, None), ("xpux:0", "device", "xpux:0", "cpu", 1)]
    assert profile.check() == ()
    # without the events that name the threads
    nameless = pa.load(write_bytes(tmp_path, document(*ADD)))
    assert [one.name for one in nameless.tracks] == ["worker", "device 2"]


def test_kernels_and_modules_have_rows_of_their_own(tmp_path: Path) -> None:
    content = document(
        *scope(
            "block", 1, 60, *scope("net", 19, 30, *CONVOLUTION), *op("ABS", 5, 40, 42, (52, 55))
        ),
        *ADD,
        *names(),
    )
    kernels = rows(content, tmp_path, "id", "name", "time", level="kernel")
    assert kernels == [
        ("ADD [kernel]", "ADD", near(10e-6)),
        ("block.ABS [kernel]", "block.ABS", near(3e-6)),
        ("block.net.Convolution [kernel]", "block.net.Convolution", near(30e-6)),
    ]
    modules = rows(content, tmp_path, "id", "time", "host_time", level="module")
    assert modules == [
        ("block", near(3e-6), near(48e-6)),
        ("block.net", near(30e-6), near(11e-6)),
    ]


def test_calls_with_the_same_shapes_are_one_operator(tmp_path: Path) -> None:
    content = document(
        *ADD,
        *op("ADD", 6, 30, 31, (31, 32), params={"mode": "ADD"}),
        *op("ADD", 7, 40, 41, (41, 43), ins=("{9}",), outs=("{9}",), params={"mode": "ADD"}),
    )
    assert rows(content, tmp_path, "id", "calls", "time") == [
        ("ADD(2x3) [Float32 -> 2x3]", 2, near(11e-6)),
        ("ADD(9) [Float32 -> 9]", 1, near(2e-6)),
    ]


def test_overlapping_kernels_of_one_name_end_in_order(tmp_path: Path) -> None:
    def kernel(phase: str, at: float, id_: int) -> Event:
        args = {} if phase == "B" else {"args": {"__id__": id_}}
        return event(phase, "ADD", at, DEVICE, cat="Kernel", **args)

    content = document(
        *op("ADD", 1, 10, 11, ins=("{1}",)),
        *op("ADD", 2, 12, 13, ins=("{2}",)),
        *(kernel("B", 20, 1), kernel("B", 21, 2), kernel("E", 25, 1), kernel("E", 29, 2)),
    )
    assert rows(content, tmp_path, "in_shapes", "time") == [
        (((1,),), near(5e-6)),
        (((2,),), near(8e-6)),
    ]


def test_the_queue_delay_is_never_negative(tmp_path: Path) -> None:
    assert rows(document(*op("ABS", 1, 10, 14, (8, 20))), tmp_path, "queue") == [(0.0,)]


STEP = [event("i", "StopStep", 29, DISPATCHER), event("i", "StopStep", 30)]


@pytest.mark.parametrize(
    ("events", "steps", "walls_us"),
    [
        ([*ADD, *CONVOLUTION], [(1, None)], [42]),
        ([*ADD, *STEP, *op("ABS", 9, 40, 41)], [(1, None), (2, None)], [12, 1]),
        ([*STEP, *ADD, *STEP], [(1, None)], [12]),
        (
            [*scope("iter0", 9, 16, *ADD), *scope("iter1", 19, 26, *CONVOLUTION)],
            [(1, "iter0"), (2, "iter1")],
            [12, 32],
        ),
        # modules are not iterations, nor are scopes around only some of the operators
        ([*scope("conv1", 9, 16, *ADD), *scope("conv2", 19, 26, *CONVOLUTION)], [(1, None)], [43]),
        ([*scope("iter0", 9, 16, *ADD), *CONVOLUTION], [(1, None)], [43]),
    ],
)
def test_steps_and_scopes_of_iterations_are_runs(
    events: list[Event], steps: list[tuple[int, str | None]], walls_us: list[float], tmp_path: Path
) -> None:
    profile = pa.load(write_bytes(tmp_path, document(*events, *names())))
    assert [(run.step, run.label) for run in profile.runs] == steps
    assert [run.wall_s * 1e6 for run in profile.runs] == pytest.approx(walls_us)


def test_all_runs_are_found_in_one_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scan = Mock(wraps=np.flatnonzero)
    monkeypatch.setattr(np, "flatnonzero", scan)
    counts = []
    for steps in (1, 30):
        events = [one for _ in range(steps) for one in (*ADD, *STEP)]
        profile = pa.load(write_bytes(tmp_path, document(*events, *names())))
        assert [run.step for run in profile.runs] == [*range(1, steps + 1)]
        counts.append(scan.call_count)
        scan.reset_mock()
    assert 0 < counts[0] == counts[1]


CUT = Finding.of("cut-timeline", Kind.DAMAGED, left_out=1)
UNMATCHED = Finding.of("unmatched-events", Kind.INCOMPLETE, events=1)
ITERATIONS = (
    *scope("iter0", 9, 16, *op("ABS", 1, 10, 11, (12, 40))),
    event("B", "iter1", 19),
    *op("ABS", 2, 20, 23, (41, 44)),
    event("B", "HostToDevice", 45, DEVICE),
    event("E", "HostToDevice", 46, DEVICE, args={"shape": "{4}"}),
)
STEPS = (*op("ABS", 1, 10, 11, (12, 40)), *STEP, *op("ABS", 2, 20, 23, (41, 44)))


@pytest.mark.parametrize(
    ("events", "end", "note"),
    [
        (ITERATIONS, "", CUT),
        (ITERATIONS, "]}", Finding.of("open-iteration", Kind.INCOMPLETE, executions=1)),
        (STEPS, "", CUT),
    ],
)
def test_an_incomplete_iteration_is_left_out(
    events: list[Event], end: str, note: Finding, tmp_path: Path
) -> None:
    profile = pa.load(write_bytes(tmp_path, document(*events, end=end)))
    assert with_code(profile.notes, "cut-timeline", "open-iteration") == [note]
    assert len(profile.runs) == 1
    assert at_level(profile).measured("time").tolist() == [pytest.approx([28e-6])]


def test_an_iteration_stays_if_no_other_is_complete(tmp_path: Path) -> None:
    content = document(event("B", "iter0", 9), *op("ABS", 1, 10, 11, (12, 13)), end="")
    profile = pa.load(write_bytes(tmp_path, content))
    assert Finding.of("cut-timeline", Kind.DAMAGED, left_out=0) in profile.notes
    assert at_level(profile).measured("time").tolist() == [pytest.approx([1e-6])]


def test_a_kernel_belongs_to_the_run_of_its_operator(tmp_path: Path) -> None:
    """The kernel may run after the next step has begun on the host."""
    content = document(*op("ABS", 1, 10, 11, (40, 45)), *STEP, *op("ABS", 2, 31, 32, (50, 52)))
    profile = at_level(pa.load(write_bytes(tmp_path, content)))
    assert profile.measured("time").tolist() == [pytest.approx([5e-6, 2e-6])]


def test_the_names_of_iterations_are_left_out_of_paths(tmp_path: Path) -> None:
    content = document(
        *scope("iter0", 9, 16, *op("ABS", 1, 10, 11)),
        *scope("iter1", 19, 26, *op("ABS", 2, 20, 23)),
    )
    profile = at_level(pa.load(write_bytes(tmp_path, content)))
    assert profile.measured("host_time").tolist() == [pytest.approx([1e-6, 3e-6])]


def test_copies_to_the_device_are_operators(tmp_path: Path) -> None:
    args = {"device": "", "dtype": "Int32", "nr_elements": 4.0, "shape": "{4}"}
    copy = [
        event("B", "HostToDevice", 30, DEVICE),
        event("E", "HostToDevice", 33, DEVICE, args=args),
    ]
    found = rows(document(*ADD, *copy), tmp_path, "id", "category", "time", "memory", "in_shapes")
    assert found == [
        ("ADD", "elementwise", near(10e-6), 48, ((2, 3),)),
        ("HostToDevice", "copy", near(3e-6), 32, ((4,),)),
    ]


def test_each_process_in_a_file_is_a_run(tmp_path: Path) -> None:
    """`merge_trace_events` writes the events of several processes into one file."""
    content = document(*ADD, *op("ADD", 3, 10, 15, (12, 32), params={"mode": "ADD"}, pid=8))
    profile = at_level(pa.load(write_bytes(tmp_path, content)))
    name = profile.file
    assert profile.processes == (f"{name}, process 7", f"{name}, process 8")
    assert profile.measured("time").tolist() == [pytest.approx([10e-6, 20e-6])]
    assert [run.process for run in profile.runs] == [0, 1]


def test_kernels_without_an_operator_are_left_out_with_a_note(tmp_path: Path) -> None:
    kernel = op("ABS", 9, 10, 11, (40, 45))
    lost = [one for one in kernel if one["tid"] == DEVICE]
    _, notes = shown(tmp_path, document(*ADD, *lost), "--notes", "all")
    assert notes == (
        "note: left out 1 kernel, 5.00 us (33.3% of the time), whose launch is not in the file; --level "
        "kernel has them\n"
    )


@pytest.mark.parametrize(
    ("events", "note"),
    [
        (
            op("ABS", 1, 10, 11),
            Finding.of("no-device-times", Kind.INCOMPLETE),
        ),
        ([*ADD, event("E", "lost", 30)], UNMATCHED),
        ([*ADD, event("B", "open", 30)], UNMATCHED),
        (
            op("BatchNorm", 1, 10, 11, (12, 13)),
            Finding.of(
                *("underivable-work", Kind.INCOMPLETE),
                share=1.0,
                dropped_beside="model",
                operators=1,
                facts=["type", "shapes", "parameters"],
            ),
        ),
    ],
)
def test_odd_timelines_have_notes(events: list[Event], note: Finding, tmp_path: Path) -> None:
    assert note in rounded(pa.load(write_bytes(tmp_path, document(*events))).notes)


@pytest.mark.parametrize(
    "content",
    [
        document(*scope("conv", 3, 4), event("B", "TensorWaitProp", 5), *names()),
        b'{"traceEvents":[{"name":"train_time_ratio","ph":"C","ts":0}],"metadata":{}}',
    ],
)
def test_replays_of_a_trace_have_no_operators(content: bytes, tmp_path: Path) -> None:
    done = run_command(path := write_bytes(tmp_path, content))
    what = "no operator" if b"conv" in content else "no event"
    assert (done.code, done.err) == (
        1,
        f"profile_analyze: error: {path}: has {what}: replays of trace() leave no events; profile "
        "traced code with GraphProfiler, or run it without trace()\n",
    )


@pytest.mark.parametrize("more", ["", "x" * 5000])
def test_a_document_may_have_other_keys_after_its_events(more: str, tmp_path: Path) -> None:
    end = f'],"displayTimeUnit":"ns","other":{{"a":["{more}"]}}}}'
    profile = pa.load(write_bytes(tmp_path, document(*ADD, *names(), end=end)))
    assert profile.notes == pa.load(write_bytes(tmp_path, document(*ADD, *names()))).notes
    assert at_level(profile).measured("time").shape == (1, 1)


def test_a_timeline_that_ends_before_its_first_operator_is_truncated(tmp_path: Path) -> None:
    content = document(*scope("conv", 3, 4), *ADD)
    path = write_bytes(tmp_path, content[: content.index(b"ADD")])
    done = run_command(path)
    assert (done.code, done.err) == (
        1,
        f"profile_analyze: error: {path}: truncated: the file ends before the first whole operator; "
        "copy it again\n",
    )


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (b'"ts":10', b'"ts":"soon"', "has an event that cannot be read: Expected `float`, got `str` "
         "- at `$[1].ts`; profile again"),
        (b'"ph":"B"', b'"ph":NaN', "has an event that cannot be read: invalid character; profile "
         "again"),
        (b'"name":"ADD"', b'"name":"\xff"', "has an event with text that is not UTF-8; profile "
         "again"),
        (b'"shape":"{2,3}"', b'"shape":[2,3]', "has arguments that cannot be read: Expected `str`, "
         "got `array` - at `$.shape`; profile again"),
        (b'"value":0.0', b'"value":' + b"[" * 100_000 + b"]" * 100_000, "is nested too deeply for a "
         "profile"),
    ],
)  # fmt: skip
def test_broken_events_are_refused(old: bytes, new: bytes, reason: str, tmp_path: Path) -> None:
    done = run_command(path := write_bytes(tmp_path, document(*ADD).replace(old, new)))
    assert (done.code, done.err) == (1, f"profile_analyze: error: {path}: {reason}\n")


def test_deeply_nested_scopes_are_refused(tmp_path: Path) -> None:
    deep = [event("B", "scope", 5)] * 300
    done = run_command(path := write_bytes(tmp_path, document(*deep, *ADD)))
    assert (done.code, done.err) == (
        1,
        f"profile_analyze: error: {path}: is nested too deeply for a profile\n",
    )


def test_times_that_overflow_are_unknown(tmp_path: Path) -> None:
    profile = pa.load(write_bytes(tmp_path, document(*op("ABS", 1, -1e308, 1.7e308))))
    assert str(profile.executions.duration_s[0]) == "nan"
    assert str(profile.runs[0].wall_s) == "nan"


def test_parameters_that_cannot_be_read_are_left_out(tmp_path: Path) -> None:
    content = document(*op("ABS", 1, 10, 11, (12, 13), params={"mode": "?"}))
    profile = pa.load(write_bytes(tmp_path, content.replace(b'"?"', b'"\xff"')))
    assert profile.operators.categorical("parameters").values()[0] == ()


@pytest.mark.parametrize("number", [2**64, -(2**63) - 1])
def test_a_parameter_over_64_bits_is_a_text(tmp_path: Path, number: int) -> None:
    content = document(*op("ABS", 1, 10, 11, (12, 13), params={"mode": "?"}))
    path = write_bytes(tmp_path, content.replace(b'"?"', str(number).encode()))
    assert pa.load(path).operators.categorical("parameters").values()[0] == (("mode", str(number)),)


def test_a_shape_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    content = document(*op("ABS", 1, 10, 11, (12, 13))).replace(b'"{2,3}"', b'"\xff"')
    done = run_command(path := write_bytes(tmp_path, content))
    assert (done.code, done.err) == (
        1,
        f"profile_analyze: error: {path}: has arguments that cannot be read: 'utf-8' codec can't "
        "decode byte 0xff in position 0: invalid start byte; profile again\n",
    )


@pytest.mark.parametrize(
    ("shape", "read"),
    [
        ("{2,3}", ((2, 3),)),
        ("{}", ((),)),
        ("{2, 3}", ((2, 3),)),
        ("{0,3}", ((0, 3),)),
        ("{-1}", None),
        ("invalid", None),
        ("{" + ",".join(["9" * 18] * 9) + "}", None),
        ("{" + "9" * 99 + "}", None),
    ],
)
def test_shapes_are_read_or_unknown(shape: str, read: object, tmp_path: Path) -> None:
    assert rows(document(*op("ABS", 1, 10, 11, (12, 13), ins=(shape,))), tmp_path, "in_shapes") == [
        (read,)
    ]


@pytest.mark.parametrize(
    "name", ['},{"args":', "a\nb", "|", "", "a" * 5000, "\u0430", "Input", "E 5"]
)
def test_hostile_names_are_read(name: str, tmp_path: Path) -> None:
    content = document(*scope(name, 5, 30, *op(name, 1, 10, 11, (12, 13))))
    assert rows(content, tmp_path, "name") == [(f"{name}.{name or 'unnamed'}",)]


@pytest.mark.parametrize(
    "change",
    [
        json.dumps,
        lambda whole: json.dumps(whole, indent=1),
        lambda whole: json.dumps(whole["traceEvents"]),
        lambda whole: json.dumps({"displayTimeUnit": "ns", **whole}),
    ],
)
def test_other_layouts_of_the_json_give_the_same_rows(change: Any, tmp_path: Path) -> None:
    content = document(*ADD, *CONVOLUTION, *names())
    changed = change(json.loads(content)).encode()
    assert rows(changed, tmp_path, "id", "time") == rows(content, tmp_path, "id", "time")
    assert shown(tmp_path, changed)[1] == ""


def test_chunks_of_any_size_give_the_same_profile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = document(*ADD, *CONVOLUTION, *names())
    whole = pa.load(write_bytes(tmp_path, content))
    for size in range(60, 900, 13):
        monkeypatch.setattr(
            "profile_analyze.readers.input.source.Source.chunks.__defaults__", (size,)
        )
        parts = pa.load(write_bytes(tmp_path, content))
        assert parts.executions.start_s.tolist() == whole.executions.start_s.tolist()
        assert (parts.tracks, parts.notes) == (whole.tracks, whole.notes)


def outcome(content: bytes) -> tuple[str, tuple[str, ...]]:
    """Return the error about a file (empty if it can be read), and the notes."""
    try:
        return "", read_profile(Source.of_bytes("run.json", content), ()).notes
    except InputError as error:
        return str(error), ()


@pytest.mark.slow
def test_truncation_at_every_byte_is_noted_or_refused() -> None:
    """Each truncated file is either read, with a note, or fails with one line of error."""
    content = document(*ADD, *scope("net", 19, 30, *CONVOLUTION), *tensor("Output", 40), *names())
    end_of_events = content.index(b'],"metadata"') + 1
    for end in [*range(20, len(content) - 1, 1 if IS_FULL else 23), end_of_events]:
        error, notes = outcome(content[:end])
        if error:
            assert "\n" not in error, end
        else:
            assert "cut-timeline" in codes_in(notes) or end == end_of_events, end


@pytest.mark.parametrize(
    ("transposed", "macs"),
    [("1", 30.0), (1, 30.0), (True, 30.0), ("True", 30.0), ("0", 45.0), (False, 45.0)],
)
def test_a_transposition_may_be_a_number_a_text_or_a_boolean(transposed: Any, macs: float) -> None:
    arguments = json.dumps({"transposeA": transposed, "format": "DEFAULT"}).encode()
    data, weight, result = (
        TensorArguments(shape, "Float32") for shape in ("{2,3}", "{2,5}", "{3,5}")
    )
    facts = Facts("MatrixMul", arguments, (data, weight), (result,))
    assert cost_of(facts).work.macs == macs

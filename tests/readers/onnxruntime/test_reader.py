"""Tiny profiles written by hand: whole tables, nesting, kernels, and runs that are incomplete."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from unittest.mock import Mock

import numpy as np
import pytest

import profile_analyze as pa
from profile_analyze.model.findings import Finding, Kind, on_operators
from profile_analyze.model.levels.levels import at_level
from tests.conftest import FIXTURES, IS_FULL, PROFILES, run_command
from tests.findings.found import codes_in, rounded
from tests.readers.onnxruntime.events import STATISTICS, document, event, kernel, node, run
from tests.readers.tiny_file import write_bytes

if TYPE_CHECKING:
    from pathlib import Path

    from profile_analyze.model.notes import Note

ADD = node("add", "Add", 10, 5, ins=[(2, 3), (3,)], outs=[(2, 3)], sizes=(24, 12, 24))
CONV = node(
    "conv",
    "Conv",
    20,
    30,
    ins=[(1, 3, 8, 8), (4, 3, 3, 3)],
    outs=[(1, 4, 6, 6)],
    sizes=(768, 432, 576),
    args={"thread_scheduling_stats": STATISTICS},
)
CUT = Finding.of("cut-session", Kind.DAMAGED, nodes=0, kernels=0, runs=1)
COLUMNS = "id,type,category,scope,time,thread_wait,calls,macs,computation,computation_source,memory"


def shown(folder: Path, content: bytes, *options: str) -> tuple[str, str]:
    """Return what the command prints about a file: the table, and standard error."""
    done = run_command(write_bytes(folder, content), *options)
    assert done.code == 0, done.err
    return done.out, done.err


def notes_on(folder: Path, content: bytes) -> list[Note]:
    """Return the findings on a file."""
    return rounded(pa.load(write_bytes(folder, content)).notes)


def on(code: str, kind: Kind, operators: int, share: float, **values: Any) -> Note:
    """Return a finding on operators."""
    return rounded(on_operators(code, kind, operators, share, **values))[0]


def launching(operators: int, share: float) -> Note:
    return on("unrecorded-kernels", Kind.WRONG, operators, share)


def no_shapes(share: float, *, damaged: bool = False) -> Note:
    file_format = None if damaged else "ONNX Runtime profile"
    values = {"dropped_beside": "model", "file_format": file_format}
    return on("no-shapes", Kind.INCOMPLETE, 1, share, **values)


def test_a_profile_has_times_rates_and_derived_work(tmp_path: Path) -> None:
    lines = (event("session_initialization", 0, 9), ADD, CONV, run(9, 50))
    assert shown(tmp_path, document(*lines)) == (
        "total device time   35.000 us\n"
        "total host time     N/A\n"
        "wall time of a run  50.000 us (operators: 70.0%, outside of them: 15.000 us)\n"
        "\n"
        "device self time (us)  share          flops    bandwidth  type  name\n"
        "               30.000  85.7%  259.20 MFLOPS  56.46 MiB/s  Conv  conv\n"
        "                5.000  14.3%    1.20 MFLOPS  11.44 MiB/s  Add   add\n",
        "",
    )
    table, _ = shown(tmp_path, document(*lines), "--format", "csv", "--columns", COLUMNS)
    assert table.replace("\r\n", "\n") == (
        "id,type,category,scope,time_s,thread_wait_s,calls,macs,computation_flo,"
        "computation_source,memory_bytes\n"
        "conv,Conv,convolution,,0.00003,3e-6,1.0,3888,7776.0,derived,1776.0\n"
        "add,Add,elementwise,,5e-6,,1.0,0,6.0,derived,60.0\n"
    )


def test_each_provider_has_a_track(tmp_path: Path) -> None:
    lines = (ADD, CONV, node("x", "Abs", 60, 1, args={"provider": "XnnpackExecutionProvider"}))
    profile = pa.load(write_bytes(tmp_path, document(*lines, run(9, 60))))
    assert profile.origin.format == "ONNX Runtime profile"
    assert [(one.name, one.side, one.device, one.threads) for one in profile.tracks] == [
        ("thread 1", "device", "CPU", None),
        ("thread 1", "device", "Xnnpack", None),
    ]
    first = pa.load(write_bytes(tmp_path, document(CONV, run(9, 60))))
    assert first.tracks[0].threads == 2


def rows(
    content: bytes, folder: Path, *columns: str, level: str | None = None
) -> list[tuple[Any, ...]]:
    profile = pa.load(write_bytes(folder, content))
    table = pa.run(pa.Query(order="+id", level=level), profile)
    return list(zip(*(table[column].tolist() for column in columns), strict=True))


LOOP = [
    node("mul", "Mul", 13, 2),
    node("mul", "Mul", 17, 2),
    node("loop", "Loop", 12, 10),
    node("mul", "Mul", 30, 4),
    run(10, 30),
]


@pytest.mark.parametrize("lines", [LOOP, [LOOP[2], LOOP[0], LOOP[1], *LOOP[3:]]])
def test_nodes_inside_a_loop_have_rows_of_their_own(lines: list[str], tmp_path: Path) -> None:
    """The order in the file does not matter: some builds sort events by their start."""
    found = rows(document(*lines), tmp_path, "id", "scope", "time", "calls")
    near = pytest.approx
    assert found == [
        ("loop", None, near(6e-6), 1.0),
        ("loop/mul", ("loop",), near(4e-6), 2.0),
        ("mul", None, near(4e-6), 1.0),
    ]
    top = rows(document(*lines), tmp_path, "id", "time", level="top")
    assert top == [("loop", near(10e-6)), ("mul", near(4e-6))]


@pytest.mark.parametrize(
    "outer", ["If", "Scan", "BeamSearch", "GreedySearch", "Sampling", "WhisperBeamSearch"]
)
def test_all_types_with_bodies_contain_nodes_in_files_sorted_by_start(
    outer: str, tmp_path: Path
) -> None:
    lines = (node("outer", outer, 12, 10), node("mul", "Mul", 13, 2), run(10, 30))
    assert rows(document(*lines), tmp_path, "id") == [("outer",), ("outer/mul",)]


@pytest.mark.parametrize("duration", [4, 7, 30])
def test_nodes_that_overlap_because_a_time_was_changed_are_not_nested(
    duration: int, tmp_path: Path
) -> None:
    """People change durations to try `--fail-if`, and leave the starts as they are."""
    lines = (node("conv", "Conv", 12, duration), node("mul", "Mul", 16, 2), run(10, 40))
    found = rows(document(*lines), tmp_path, "id", "time")
    expected = {"conv": duration * 1e-6, "mul": 2e-6}
    assert dict(found) == pytest.approx(expected)


def test_a_node_of_less_than_a_microsecond_is_not_inside_the_next_node(tmp_path: Path) -> None:
    lines = (node("shape", "Reshape", 12, 0), node("mul", "Mul", 12, 4), run(10, 30))
    assert rows(document(*lines), tmp_path, "id") == [("mul",), ("shape",)]
    lines = (node("shape", "Reshape", 12, 0), node("loop", "Loop", 12, 4), run(10, 30))
    assert rows(document(*lines), tmp_path, "id") == [("loop",), ("loop/shape",)]


def test_rounded_times_do_not_move_a_node_out_of_its_loop(tmp_path: Path) -> None:
    """The last node of a loop may seem to start when the loop has ended."""
    lines = (node("mul", "Mul", 21, 1), node("loop", "Loop", 12, 9), run(10, 30))
    assert rows(document(*lines), tmp_path, "id") == [("loop",), ("loop/mul",)]
    # In a file sorted by start, a node that starts at the loop's end is not inside the loop.
    lines = (node("loop", "Loop", 12, 9), node("mul", "Mul", 21, 1), run(10, 30))
    assert rows(document(*lines), tmp_path, "id") == [("loop",), ("mul",)]
    by_start = (LOOP[2], LOOP[0], node("abs", "Abs", 22, 1), run(10, 30))
    assert rows(document(*by_start), tmp_path, "id") == [("abs",), ("loop",), ("loop/mul",)]


def test_rounded_times_do_not_move_a_node_out_of_its_run(tmp_path: Path) -> None:
    lines = (node("abs", "Abs", 20, 1), node("mul", "Mul", 22, 1), run(10, 9), run(21, 9))
    profile = pa.load(write_bytes(tmp_path, document(*lines)))
    assert profile.executions.run.tolist() == [0, 1]
    assert rows(document(*lines[:3]), tmp_path, "id") == [("abs",)]


@pytest.mark.parametrize(
    ("lines", "memory", "source"),
    [
        ([node("a", "Abs", 10, 1, ins=[(2,)], outs=[(2,)], sizes=(8, 0, 8))], 16, "measured"),
        ([node("a", "Abs", 10, 1, ins=[(2,)], outs=[(2,)])], 16, "derived"),
        ([node("a", "Abs", 10, 1, sizes=(8, 4, 8))], 20, "measured"),
        ([node("a", "Reshape", 10, 1, ins=[(2,)], outs=[(2,)], sizes=(8, 8, 8))], 0, "derived"),
        (
            [node("a", "MatMul", 10, 1, ins=[(2, 3)], outs=[(2, 5)], sizes=(24, 0, 40))],
            124,
            "derived",
        ),
        ([node("a", "MatMul", 10, 1, ins=[(2, 3)], outs=[(2, 5)])], 124, "derived"),
    ],
)
def test_memory_is_measured_or_derived(
    lines: list[str], memory: float, source: str, tmp_path: Path
) -> None:
    content = document(*lines, run(9, 9))
    assert rows(content, tmp_path, "memory", "memory_source") == [(memory, source)]


def test_a_node_with_other_shapes_is_another_operator(tmp_path: Path) -> None:
    lines = [
        *(node("abs", "Abs", 10, 1, ins=[(2,)], outs=[(2,)]), run(9, 5)),
        *(node("abs", "Abs", 20, 2, ins=[(4,)], outs=[(4,)]), run(19, 5)),
        *(node("abs", "Abs", 30, 3, ins=[(2,)], outs=[(2,)]), run(29, 5)),
    ]
    found = rows(document(*lines), tmp_path, "id", "time_min", "time_max", "in_shapes")
    near = pytest.approx
    assert found == [
        ("abs", near(1e-6), near(3e-6), ((2,),)),
        ("abs #2", near(2e-6), near(2e-6), ((4,),)),
    ]
    several_shapes = on("several-shapes", Kind.CONTEXT, 2, 1.0)
    assert notes_on(tmp_path, document(*lines)) == [several_shapes]
    _, notes = shown(tmp_path, document(*lines))
    assert notes.startswith("note: the runs have 2 sets of input shapes: ")


def test_generated_names_do_not_keep_sessions_apart(tmp_path: Path) -> None:
    """The counters of the two nodes differ between the sessions, in the order and in the values."""
    files = []
    for counters in ((7, 12), (12, 9)):
        nodes = [
            node(f"ReorderOutput_token_{counter}", "ReorderOutput", 10 * n, n, ins=[(n,)])
            for n, counter in enumerate(counters, 1)
        ]
        files.append(tmp_path / f"{counters[0]}.json")
        files[-1].write_bytes(document(*nodes, node("my_token_4", "Abs", 40, 1), run(9, 40)))
    joined = pa.load_runs(files)
    assert joined.operators.name.values().tolist() == ["ReorderOutput"] * 2 + ["my_token_4"]
    both = [pytest.approx([us * 1e-6] * 2) for us in (1, 2, 1)]
    assert joined.measured("time").tolist() == both
    assert "several-shapes" not in codes_in(joined.notes)
    compared = pa.compare(pa.load(files[0]), pa.load(files[1]))
    assert compared.match.values().tolist() == ["name"] * 3


def test_runs_on_several_threads_stay_apart(tmp_path: Path) -> None:
    lines = [
        *(node("a", "Abs", 12, 4, tid=1), node("a", "Abs", 13, 5, tid=2)),
        *(run(10, 20, tid=1), run(11, 30, tid=2)),
    ]
    profile = pa.load(write_bytes(tmp_path, document(*lines)))
    assert profile.measured("time").tolist() == [pytest.approx([4e-6, 5e-6])]
    assert [run.wall_s for run in profile.runs] == pytest.approx([20e-6, 30e-6])


GPU = {"args": {"provider": "CUDAExecutionProvider"}}


def test_kernels_are_the_device_time_of_the_node_that_launched_them(tmp_path: Path) -> None:
    lines = [
        node("conv", "Conv", 12, 4, **GPU),
        kernel("gemm<float>", 12, 9, parent_name="conv_kernel_time", stream="7"),
        kernel("relu", 44, 1, op_name="Conv", stream="7"),  # after the end of the run
        kernel("lost", 25, 1),
        run(10, 20),
    ]
    found = rows(document(*lines), tmp_path, "id", "time", "host_time", "device")
    near = pytest.approx
    assert found == [("conv", near(10e-6), near(4e-6), "CUDA")]
    kernels = rows(document(*lines), tmp_path, "id", "time", "track", level="kernel")
    assert kernels == [
        ("gemm<float>", near(9e-6), "stream 7"),
        ("lost", near(1e-6), "stream"),
        ("relu", near(1e-6), "stream 7"),
    ]
    assert notes_on(tmp_path, document(*lines)) == [no_shapes(1.0)]
    _, notes = shown(tmp_path, document(*lines), "--notes", "all")
    assert "note: left out 1 kernel, 1.00 us (9.1% of the time), whose launch is not in" in notes


@pytest.mark.parametrize(
    "launched", [{"parent_name": "conv_kernel_time"}, {"op_name": "Conv"}], ids=["named", "before"]
)
def test_kernels_of_an_incomplete_run_are_left_out(
    launched: dict[str, str], tmp_path: Path
) -> None:
    lines = [
        *(node("conv", "Conv", 10, 5, **GPU), kernel("gemm", 16, 7, **launched), run(9, 20)),
        # the event of this run is missing
        *(node("conv", "Conv", 100, 5, **GPU), kernel("gemm", 106, 9, **launched)),
        kernel("lost", 120, 1),
    ]
    left_out = {"nodes": 1, "kernels": 2}
    for content, note in (
        (document(*lines), Finding.of("incomplete-runs", Kind.INCOMPLETE, **left_out)),
        (document(*lines)[:-3], Finding.of("cut-session", Kind.DAMAGED, **left_out, runs=1)),
    ):
        assert rows(content, tmp_path, "id", "time") == [("conv", pytest.approx(7e-6))]
        kernels = rows(content, tmp_path, "id", "time", level="kernel")
        assert kernels == [("gemm", pytest.approx(7e-6))]
        assert note in notes_on(tmp_path, content)


def test_the_number_of_searches_does_not_grow_with_the_number_of_kernels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    search = Mock(wraps=np.searchsorted)
    monkeypatch.setattr(np, "searchsorted", search)
    counts = []
    for executions in (1, 30):
        lines = []
        for start in range(10, 10 + 20 * executions, 20):
            launched = {"parent_name": "conv_kernel_time", "stream": "7"}
            lines += [
                node("conv", "Conv", start + 2, 4, **GPU),
                kernel("gemm", start + 3, 9, **launched),
                run(start, 19),
            ]
        found = rows(document(*lines), tmp_path, "id", "time", "track", level="kernel")
        assert found == [("gemm", pytest.approx(9e-6), "stream 7")]
        counts.append(search.call_count)
        search.reset_mock()
    assert 0 < counts[0] == counts[1]


def test_a_launch_is_no_device_time(tmp_path: Path) -> None:
    lines = (node("conv", "Conv", 12, 4, **GPU), node("abs", "Abs", 17, 1), run(10, 20))
    profile = pa.load(write_bytes(tmp_path, document(*lines)))
    assert profile.measured("host_time").tolist() == [pytest.approx([4e-6]), pytest.approx([1e-6])]
    assert not profile.recorded("device").any()
    assert launching(1, 0.8) in notes_on(tmp_path, document(*lines))


def test_damaged_shapes_are_no_reason_to_record_with_a_newer_version(tmp_path: Path) -> None:
    shapes = {"ins": [(2, 3), (3, 4)], "outs": [(2, 4)]}
    damaged = node("a", "MatMul", 11, 3, **shapes).encode().replace(b'"float"', b'"fl\xffat"', 1)
    content = document("DAMAGED", node("b", "MatMul", 15, 1, **shapes), run(10, 20))
    content = content.replace(b"DAMAGED", damaged)
    assert notes_on(tmp_path, content) == [no_shapes(0.75, damaged=True)]


@pytest.mark.parametrize(
    ("names", "side"),
    [
        ("CUDA ROCM Tensorrt NvTensorRTRTX MIGraphX Dml WebGpu Js CANN", "host"),
        ("CPU Xnnpack Dnnl OpenVINO QNN CoreML Nnapi VitisAI ACL ArmNN Azure SNPE", "device"),
    ],
)
def test_the_provider_decides_the_side(names: str, side: str, tmp_path: Path) -> None:
    """The names are from `onnxruntime/core/graph/constants.h`, without `ExecutionProvider`."""
    for name in names.split():
        provider = {"provider": f"{name}ExecutionProvider"}
        content = document(node("conv", "Conv", 12, 4, args=provider), run(10, 20))
        tracks = pa.load(write_bytes(tmp_path, content)).tracks
        assert [(one.device, one.side) for one in tracks] == [(name, side)]
        assert (launching(1, 1.0) in notes_on(tmp_path, content)) == (side == "host")


@pytest.mark.parametrize(
    ("lines", "note"),
    [
        (
            [ADD, run(9, 10), node("next", "Abs", 30, 2)],
            Finding.of("incomplete-runs", Kind.INCOMPLETE, nodes=1, kernels=0),
        ),
        (
            [ADD, "{broken}", run(9, 10)],
            Finding.of("unread-lines", Kind.WRONG, lines=1, first=3, lacking="json"),
        ),
        (
            [node('a"b', "Abs", 10, 2), run(9, 10)],
            Finding.of("repaired-names", Kind.CONTEXT, names=1, first=2),
        ),
    ],
)
def test_odd_files_have_notes(lines: list[str], note: Finding, tmp_path: Path) -> None:
    assert note in notes_on(tmp_path, document(*lines))


@pytest.mark.parametrize("runs", [1, 2])
def test_a_file_that_ends_in_a_run_has_one_note(runs: int, tmp_path: Path) -> None:
    again = node("add", "Add", 30, 5, ins=[(2, 3), (3,)], outs=[(2, 3)], sizes=(24, 12, 24))
    complete = (ADD, run(9, 10), again, run(29, 10))[: 2 * runs]
    begun = node("next", "Abs", 50, 2), node("last", "Abs", 53, 2)
    content = document(*complete, *begun)
    cut = Finding.of("cut-session", Kind.DAMAGED, nodes=1, kernels=0, runs=runs)
    assert notes_on(tmp_path, content[:-20]) == [cut]


def test_a_file_with_the_most_possible_events_has_a_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("profile_analyze.readers.onnxruntime.notes.MOST_EVENTS", 2)
    limit = Finding.of("event-limit", Kind.INCOMPLETE, events=2, most=2)
    assert notes_on(tmp_path, document(ADD, run(9, 10))) == [limit]


@pytest.mark.parametrize(
    ("name", "read"),
    [
        (r"a\nb", "a\nb"),  # read as escaped, because all names in the file are valid JSON
        (r"\server\x", r"\server\x"),
        (r"a\"b\\c", r'a"b\c'),  # escaped, as ONNX Runtime 1.31 writes names
        ('a"},{"b', 'a"},{"b'),
        ("\xff", "\xff"),
        ("", "Abs"),
        ("x_kernel_time", "x_kernel_time"),
        ("a" * 5000, "a" * 5000),
    ],
)
def test_hostile_names_are_read(name: str, read: str, tmp_path: Path) -> None:
    content = document(node(name, "Abs", 10, 2), run(9, 10))
    assert rows(content, tmp_path, "name") == [(read,)]


def test_one_unescaped_name_shows_that_no_name_is_escaped(tmp_path: Path) -> None:
    # `kernel` would escape a backslash in `parent_name`, so the backslash is added afterwards.
    lines = [
        node(r"C:\new", "Abs", 10, 2, **GPU),
        kernel(r"C:\fast", 10, 1, parent_name="C:new_kernel_time").replace("C:new", r"C:\new"),
        run(9, 10),
    ]
    assert rows(document(*lines), tmp_path, "name") == [("C:\new",)]
    proof = document(*lines, node(r"\x", "Abs", 30, 1))
    assert rows(proof, tmp_path, "name") == [(r"C:\new",)]
    times = rows(proof, tmp_path, "name", "time", level="kernel")
    assert times == [(r"C:\fast", pytest.approx(1e-6))]
    repaired = Finding.of("repaired-names", Kind.CONTEXT, names=3, first=2)
    assert repaired in notes_on(tmp_path, proof)
    _, notes = shown(tmp_path, proof, "--notes", "all")
    assert "whose launch is not in the file" not in notes


@pytest.mark.parametrize("indent", [None, 1])
def test_events_need_not_be_on_lines_of_their_own(indent: int | None, tmp_path: Path) -> None:
    """Programs that edit a profile may write JSON with other line breaks."""
    events = json.loads(document(node(r"caf\u00e9\n", "Abs", 10, 2), ADD, run(9, 10)))
    content = json.dumps(events, indent=indent).encode()
    assert rows(content, tmp_path, "name") == [("add",), ("caf\u00e9\n",)]
    assert codes_in(notes_on(tmp_path, content)) == ["no-shapes"]


def test_several_events_in_a_broken_line_are_not_repaired(tmp_path: Path) -> None:
    content = document(f"{node(chr(92) + 'x', 'Abs', 10, 2)},{ADD}", CONV, run(9, 10))
    assert rows(content, tmp_path, "name") == [("conv",)]
    unread = Finding.of("unread-lines", Kind.WRONG, lines=1, first=2, lacking="json")
    assert unread in notes_on(tmp_path, content)


def test_bytes_that_are_not_utf8_are_replaced(tmp_path: Path) -> None:
    content = document(node("a?b", "Abs", 10, 2), run(9, 10)).replace(b"?", b"\xff")
    assert rows(content, tmp_path, "name") == [("a\ufffdb",)]


@pytest.mark.parametrize("change", [(b"\n", b"\r\n"), (b"\n", b""), (b"\n{", b"\n  {")])
def test_other_line_breaks_give_the_same_rows(change: tuple[bytes, bytes], tmp_path: Path) -> None:
    content = document(ADD, CONV, run(9, 50)).replace(*change)
    assert rows(content, tmp_path, "id") == [("add",), ("conv",)]
    assert notes_on(tmp_path, content) == []


def test_chunks_of_any_size_give_the_same_profile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = document(ADD, CONV, run(9, 50), "{broken}", node(r"\x", "Abs", 50, 1))
    whole = pa.load(write_bytes(tmp_path, content))
    for size in range(60, 400, 7):
        monkeypatch.setattr(
            "profile_analyze.readers.input.source.Source.chunks.__defaults__", (size,)
        )
        parts = pa.load(write_bytes(tmp_path, content))
        names = (parts.operators.name.categories, whole.operators.name.categories)
        assert names == (("add", "conv", r"\x"),) * 2
        assert parts.notes == whole.notes


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (
            [event("session_initialization", 0, 9)],
            "has no run (event model_run); call run() of the session before end_profiling()",
        ),
        ([run(1, 9)], "has no node inside its 1 run"),
        (
            [ADD, CONV],
            "has 2 executions of nodes, but no run (event model_run); call end_profiling() of the "
            "session after run() returns",
        ),
        (
            ['{"cat" : "Node","name": 1}'],
            "at $[0].name: expected `str`, got `int`; profile again",
        ),
    ],
)
def test_files_without_anything_to_analyse_are_refused(
    lines: list[str], reason: str, tmp_path: Path
) -> None:
    done = run_command(path := write_bytes(tmp_path, document(*lines)))
    assert (done.code, done.err) == (1, f"profile_analyze: error: {path}: {reason}\n")


@pytest.mark.parametrize("kept", [20, 150, 10_000])
def test_a_file_that_is_cut_before_the_end_of_its_first_run_is_refused(
    kept: int, tmp_path: Path
) -> None:
    whole = document(ADD, CONV, run(9, 50))
    content = whole[: min(kept, whole.index(b"model_run"))]
    done = run_command(path := write_bytes(tmp_path, content))
    assert (done.code, done.err) == (
        1,
        f"profile_analyze: error: {path}: truncated: the file ends in the middle, and no "
        "complete run (event model_run) can be read; copy it again, or end the session's profiling "
        "before the program ends\n",
    )


def test_events_without_arguments_are_read() -> None:
    """The nodes of DirectML only launch work, so the times are host times."""
    path = PROFILES.parent / "onnxruntime" / "no-arguments.json"
    done = run_command(str(path), "--print-only", "host")
    assert (done.code, done.out.replace("\r\n", "\n")) == (
        0,
        "host self time (ms)  share  name\n"
        "              8.298  88.9%  DmlFusedNode_2_45\n"
        "              0.661   7.1%  /0/0.0/STFT\n"
        "              0.378   4.0%  DmlFusedNode_0_41\n",
    )
    profile = pa.load(path)
    share = (8.298 + 0.378) / (8.298 + 0.661 + 0.378)
    assert rounded(profile.notes, 3) == rounded(
        [
            launching(2, share),
            on("whole-graphs", Kind.INCOMPLETE, 2, share, provider="Dml"),
            no_shapes(1 - share),
        ],
        3,
    )
    assert [run.wall_s for run in profile.runs] == [pytest.approx(0.031038)]
    assert np.isnan(at_level(profile).measured("time")).all()


PLAIN = '{"cat" : "Node","dur" :5,"ts" :12,"name" :"%s_kernel_time"}'
PLAIN_RUN = '{"cat" : "Session","dur" :9,"ts" :11,"name" :"model_run"}'


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (f"[{PLAIN % 'a'},\n{PLAIN_RUN}]", "a"),
        (f"[{PLAIN % 'a'}, {PLAIN_RUN}]", "a"),
        (f"[{PLAIN_RUN},\n{PLAIN % 'a'}]\n", "a"),
        (f"[{PLAIN_RUN},\n" + PLAIN % r"C:\dir" + "]", r"C:\dir"),
        (f"[{PLAIN_RUN},\n" + PLAIN % 'of "a"' + "]", 'of "a"'),
        (f"[{PLAIN % 'a'},\n" + PLAIN_RUN.replace(',"name"', ',"args" : {}, "name"') + "]", "a"),
        (f"[{PLAIN % 'a'},\n" + PLAIN_RUN.replace("}", ',"args" : null}') + "]", "a"),
    ],
)
def test_a_list_is_complete_whatever_its_last_event_has(
    content: str, name: str, tmp_path: Path
) -> None:
    profile = pa.load(write_bytes(tmp_path, content.encode()))
    assert profile.operators.name.categories == (name,)
    assert "cut-session" not in codes_in(profile.notes)


def test_the_end_of_shapes_is_not_the_end_of_the_list(tmp_path: Path) -> None:
    content = document(run(9, 9), ADD, ADD)
    cut = content[: content.rindex(b"}]") + 2]
    assert cut.endswith(b'[{"float": [2, 3]}]')
    assert notes_on(tmp_path, cut)[0] == CUT


@pytest.mark.slow
def test_truncation_at_every_byte_is_noted_or_refused(tmp_path: Path) -> None:
    """Each truncated file is either read, with a note, or fails with one line of error."""
    content = document(ADD, run(9, 9), CONV, run(19, 50))
    last = len(content) - 2
    for end in [*range(0, last, 1 if IS_FULL else 23), last]:
        done = run_command(write_bytes(tmp_path, content[:end]))
        assert done.err.count("\n") >= 1, end
        if done.code == 0:
            codes = codes_in(notes_on(tmp_path, content[:end]))
            assert "cut-session" in codes or end == last, end
        else:
            assert (done.code, done.err.count("\n")) == (1, 1), end
    profile = at_level(pa.load(write_bytes(tmp_path, content[:-40])))
    assert list(profile.operators.name.categories) == ["add"]


def test_a_dtype_that_is_not_utf8_makes_the_shapes_unknown(tmp_path: Path) -> None:
    content = document(ADD, run(9, 10)).replace(b'"float"', b'"fl\xd8at"', 1)
    table, _ = shown(tmp_path, content, "--columns", "time,in_shapes,out_shapes")
    assert table.splitlines()[-1].split() == ["5.000", "N/A", "{2,3}"]
    assert notes_on(tmp_path, content) == [no_shapes(1.0)]


def test_a_thread_over_64_bits_is_refused() -> None:
    file = str(FIXTURES / "hostile" / "onnxruntime-thread.json")
    outcome = run_command(file)
    reason = "at $[1].tid: expected `int` <= 9223372036854775807; profile again"
    assert (outcome.code, outcome.out, outcome.err) == (
        1,
        "",
        f"profile_analyze: error: {file}: {reason}\n",
    )


@pytest.mark.parametrize("size", [2**64, -(2**63) - 1])
def test_a_size_over_64_bits_makes_the_shape_unknown(tmp_path: Path, size: int) -> None:
    content = document(node("conv", "Conv", 12, 4, outs=[(1, size)]), run(10, 30))
    file = write_bytes(tmp_path, content)
    outcome = run_command(file, "--columns", "name,out_shapes", "--format", "csv")
    assert (outcome.code, outcome.out) == (0, "name,out_shapes\r\nconv,\r\n")

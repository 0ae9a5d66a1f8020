"""Benchmark logs: whole answers, layouts, nesting, what is left out, and damage."""

from __future__ import annotations

import re
from math import nan
from typing import TYPE_CHECKING

import pytest

import profile_analyze as pa
from profile_analyze.errors import InputError
from profile_analyze.model.categorical import Categorical
from profile_analyze.model.findings import Finding, Kind, on_operators
from profile_analyze.model.levels.levels import at_level
from profile_analyze.readers.input.source import Source
from profile_analyze.readers.loading import read_profile
from tests.conftest import PROFILES, run_command, some_of
from tests.findings.found import codes_in, rounded
from tests.readers.tflite.independent import expected
from tests.readers.tflite.tables import RUNS, Layout, Row, log, part
from tests.readers.tiny_file import write_bytes

if TYPE_CHECKING:
    from pathlib import Path

    from profile_analyze.model.profile import Profile

COLUMNS = "id,type,category,device,calls"
FOLDER = PROFILES.parent / "tflite"
CONV = Row("CONV_2D", "[net/conv;net/bias]:0", 2.5, first=5.0)
POOL = Row("Max Pooling (NHWC, S8)", "Delegate/Max Pooling (NHWC, S8):1", 0.25, 4)
NO_SHAPES = Finding.of(
    *("no-shapes", Kind.CONTEXT), share=1.0, dropped_beside="model",
    operators=7, file_format="TensorFlow Lite benchmark",
)  # fmt: skip


def loaded(folder: Path, text: str) -> Profile:
    return pa.load(write_bytes(folder, text.encode()))


def seconds_by_type(profile: Profile) -> dict[str, float]:
    profile = at_level(profile)
    found: dict[str, float] = {}
    for type_, time_s in zip(
        profile.operators.type.values(), profile.measured("time")[:, 0], strict=True
    ):
        found[type_] = found.get(type_, 0.0) + float(time_s)
    return found


def test_an_answer_shows_nodes_and_delegates() -> None:
    path = str(FOLDER / "delegates-old.txt")
    done = run_command(path, "--top", "3", "--columns", "time,share,device,name")
    assert (done.code, done.out) == (
        0,
        "total device time   5.936 ms\n"
        "total host time     N/A\n"
        "wall time of a run  8.000 ms (operators: 74.2%, outside of them: 2.064 ms)\n"
        "\n"
        "device self time (ms)  share  device  name\n"
        "                2.031  34.2%  CPU     net/conv1/Relu\n"
        "                1.377  23.2%  CPU     net/logits/BiasAdd\n"
        "                1.204  20.3%  Gpu     net/block1/add, net/block1/aux\n",
    )
    (closed,) = on_operators("closed-delegates", Kind.INCOMPLETE, 2, 0.363)
    assert rounded(pa.load(path).notes, 3) == [
        Finding.of("initialisation", Kind.CONTEXT, time_s=0.007, nodes=2),
        closed,
        Finding.of("slow-first-run", Kind.CONTEXT, factor=1.247),
        NO_SHAPES,
    ]


def test_a_delegate_that_names_its_operators_has_rows_for_them() -> None:
    path = str(FOLDER / "xnnpack-new.txt")
    done = run_command(path, "--format", "csv", "--top", "99", "--columns", COLUMNS)
    assert done.out.replace("\r\n", "\n") == (
        "id,type,category,device,calls\n"
        '"call:3, call:2, call:1, call:0",TFLite_Detection_PostProcess,other,CPU,1.0\n'
        '"Delegate/Convert (NC, QS8, F32):4","Convert (NC, QS8, F32)",elementwise,XNNPack,'
        "1.0\n"
        '"Delegate/Convolution (NHWC, QC8) DWConv:1","Convolution (NHWC, QC8) DWConv",'
        "convolution,XNNPack,13.0\n"
        '"Delegate/Convolution (NHWC, QC8) IGEMM:0","Convolution (NHWC, QC8) IGEMM",'
        "convolution,XNNPack,1.0\n"
        '"Delegate/Convolution (NHWC, QC8) GEMM:2","Convolution (NHWC, QC8) GEMM",'
        "convolution,XNNPack,13.0\n"
        "tfl.quantize,QUANTIZE,elementwise,CPU,1.0\n"
        '"Delegate/Add (ND, QS8):3","Add (ND, QS8)",elementwise,XNNPack,1.0\n'
        "fpn/resample;fpn/up,RESIZE_NEAREST_NEIGHBOR,data movement,CPU,1.0\n"
    )


@pytest.mark.parametrize("name", ["delegates-old.txt", "xnnpack-new.txt", "run.csv"])
def test_the_sums_by_type_equal_an_independent_count(name: str) -> None:
    profile = pa.load(FOLDER / name)
    assert seconds_by_type(profile) == pytest.approx(expected(FOLDER / name), rel=1e-12)
    assert (profile.origin.times, profile.origin.averaged_over) == ("mean", 50)
    assert profile.check() == ()


def test_subgraphs_and_the_inside_of_delegates_are_nested() -> None:
    path = FOLDER / "subgraphs.txt"
    profile = at_level(pa.load(path))
    us = pytest.approx
    assert [
        (name, scope and "/".join(scope), time_s * 1e6)
        for name, scope, time_s in zip(
            profile.operators.name.values(),
            profile.operators.scope.values(),
            profile.measured("time")[:, 0].tolist(),
            strict=True,
        )
    ] == [
        ("while", None, us(500)),
        ("out", None, us(200)),
        ("sum", None, us(100)),
        ("body/fc", "while/while_body", us(4000)),
        ("body/tanh", "while/while_body", us(500)),
        ("Delegate/Fully Connected (NC, F32) GEMM:0", "out", us(1200)),
        ("Delegate/Softmax (NC, F32):1", "out", us(600)),
    ]
    top = at_level(pa.load(path), "top")
    assert top.measured("time")[:3, 0].tolist() == pytest.approx([5e-3, 2e-3, 1e-4])
    assert not top.recorded("device")[3:].any()


@pytest.mark.parametrize("layout", ["old", "new", "spaces", "csv", "old csv"])
@pytest.mark.parametrize(
    "prefix",
    [
        "",
        "INFO: ",
        "11-22 12:01:02.003  4242  4243 I tflite  : ",
        "I/tflite  ( 4242): ",
        "I1122 12:01:02.003456    4242 benchmark.cc:12] ",
    ],
)
def test_every_layout_and_prefix_is_read(layout: Layout, prefix: str, tmp_path: Path) -> None:
    profile = loaded(tmp_path, log(part([CONV, POOL], layout), prefix=prefix))
    assert seconds_by_type(profile) == pytest.approx(
        {"CONV_2D": 2.5e-3, "Max Pooling (NHWC, S8)": 1e-3}
    )
    operators = profile.operators
    assert [*operators.name.values()] == ["net/conv;net/bias", "Delegate/Max Pooling (NHWC, S8):1"]
    assert [*operators.categorical("compute_dtype").values()] == [None, "int8"]
    assert operators.numbers("first_s").tolist() == pytest.approx([5e-3, 0.25e-3])
    assert profile.runs[0].wall_s == 8e-3
    assert [track.threads for track in profile.tracks] == [4, 4]
    assert profile.executions.start_s.tolist() == pytest.approx(
        [0.0, 2.5e-3] if "old" in layout else [float("nan")] * 2, nan_ok=True
    )
    assert codes_in(profile.notes) == ["slow-first-run", "no-shapes"]


def test_numbers_may_have_thousands_separators(tmp_path: Path) -> None:
    text = log(part([Row("CONV_2D", "[a]:0", 1234.5)])).replace("1234.500", "1,234.500")
    assert seconds_by_type(loaded(tmp_path, text)) == {"CONV_2D": 1.2345}


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("[a]:0", "a"),
        ("[]:0", "[]:0"),
        ("[a b;c, d]:0", "a b;c, d"),
        ("[50% 60% 7 8]:0", "50% 60% 7 8"),
        ("[\u0430\u2028\x0b|]:0", "\u0430\u2028\x0b|"),
        ("AllocateTensors/0", "AllocateTensors/0"),
        ("[" + "a" * 5000 + "]:0", "a" * 5000),
    ],
)
def test_hostile_names_are_read(name: str, shown: str, tmp_path: Path) -> None:
    for layout in ("old", "spaces", "csv"):
        profile = loaded(tmp_path, log(part([Row("A 1% 2%", name, 1.0)], layout)))
        assert [*profile.operators.name.values()] == [shown]
        assert [*profile.operators.type.values()] == ["A 1% 2%"]


def test_nodes_with_the_same_name_get_distinct_keys(tmp_path: Path) -> None:
    rows = [Row("ADD", "[a]:0", 1.0), Row("ADD", "[a]:1", 1.0)]
    profile = loaded(tmp_path, log(part(rows)))
    assert isinstance(profile.operators.key, Categorical)
    assert [*profile.operators.key.values()] == ["a", "a #2"]


def test_the_total_gives_the_time_of_a_node_with_0_calls(tmp_path: Path) -> None:
    rows = [Row("CONV_2D", "[a]:0", 1.0), Row("IF", "[b]:1", 0.5, 1)]
    text = log(part(rows)).replace("        1\t[b]:1", "        0\t[b]:1")
    assert seconds_by_type(loaded(tmp_path, text)) == pytest.approx(
        {"CONV_2D": 1e-3, "IF": 0.5e-3}, rel=1e-4
    )
    # Without the line `Timings`, the number of runs and the total time are unknown.
    profile = loaded(tmp_path, text.replace("Timings (micro", "Times (micro"))
    assert profile.measured("time")[:, 0].tolist() == pytest.approx(
        [1e-3, float("nan")], nan_ok=True
    )
    (unknown,) = on_operators("unknown-times", Kind.INCOMPLETE, 1, 0.0)
    assert profile.notes[0] == unknown


def test_tables_of_litert_count_the_calls_of_all_runs(tmp_path: Path) -> None:
    text = log(part([Row("CONV_2D", "[Unknown]:0", 0.1, 50)], "spaces"))
    profile = loaded(tmp_path, text)
    assert (profile.measured("time")[0, 0], profile.calls()[0, 0]) == (pytest.approx(1e-4), 1)


WHILE = Row("WHILE", "[w]:0", 3.0)
DELEGATE = Row("TfLiteHexagonDelegate", "[d]:1", 2.0)
CYCLES = Row("DelegateOpInvoke", "Delegate/Conv:0", 900.0)


@pytest.mark.parametrize(
    "parts",
    [
        # two nodes that may have run the subgraph
        [part([WHILE, WHILE]), "Subgraph (index: 1) profile:\n", part([CONV])],
        # nodes of a delegate that have cycles instead of times
        [part([DELEGATE, WHILE]), "Delegate internal: \n", part([CYCLES])],
        # older versions list inner and outer nodes in one table
        [part([DELEGATE, WHILE, CYCLES])],
    ],
)
def test_inner_nodes_whose_outer_node_is_unknown_are_left_out(
    parts: list[str], tmp_path: Path
) -> None:
    profile = loaded(tmp_path, log(*parts))
    assert len(profile) == 2
    assert profile.notes[0] == Finding.of("unowned-nodes", Kind.INCOMPLETE, nodes=1)


MISSING = Finding.of("missing-nodes", Kind.DAMAGED, part=None, nodes=2, executed=9)


def unread_lines(lines: int, first: int) -> Finding:
    return Finding.of("unread-lines", Kind.INCOMPLETE, lines=lines, first=first, lacking="node")


@pytest.mark.parametrize(
    ("text", "note"),
    [
        (
            log(part([CONV, POOL])).replace("[Name]", "[Name]\nbroken", 1),
            unread_lines(1, 14),
        ),
        (
            log(part([CONV, CONV._replace(name="x" * 65_536)])),
            unread_lines(2, 15),
        ),
        (
            log(part([CONV, POOL])).replace("executed: 2", "executed: 9"),
            MISSING,
        ),
        (  # a program has removed the empty lines
            re.sub("\n+", "\n", log(part([CONV, POOL])).replace("executed: 2", "executed: 9")),
            MISSING,
        ),
        (
            log(part([CONV])) + log(part([POOL])),
            Finding.of("other-benchmarks", Kind.INCOMPLETE, benchmarks=1),
        ),
    ],
)
def test_odd_files_have_notes(text: str, note: Finding, tmp_path: Path) -> None:
    assert note in loaded(tmp_path, text).notes


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            log().partition(RUNS)[0],
            "has no table of nodes; run benchmark_model with --enable_op_profiling=true",
        ),
        (
            log(initialisation=[CONV]),
            "has the tables of the initialisation, but not those of the runs; copy the whole log, "
            "or run benchmark_model again",
        ),
        (
            log(part([POOL]), initialisation=[CONV]).partition("Max Pooling")[0].rstrip(),
            "truncated: the file ends before the first row of the table of the runs; copy it again",
        ),
        (
            "\t[node type]\t[first]\t[avg ms]\t[Name]\nCONV_2D 1 2\n",
            "line 2 is in a table, but is not a row of it",
        ),
        (
            log(part([CYCLES])),
            "has no node of the main graph",
        ),
    ],
)
def test_files_without_anything_to_analyse_are_refused(
    text: str, reason: str, tmp_path: Path
) -> None:
    done = run_command(path := write_bytes(tmp_path, text.encode()))
    assert (done.code, done.err) == (1, f"profile_analyze: error: {path}: {reason}\n")


def outcome(content: bytes) -> tuple[str, list[str]]:
    """Return the error about a file (empty if it can be read), and the codes of findings."""
    try:
        return "", codes_in(read_profile(Source.of_bytes("run.txt", content), ()).notes)
    except InputError as error:
        return str(error), []


@pytest.mark.slow
@pytest.mark.parametrize("layout", ["old", "csv"])
def test_truncation_at_every_byte_is_noted_or_refused(layout: Layout) -> None:
    """Each truncated file is either read, with a note, or fails with one line of error."""
    content = log(part([CONV, POOL], layout)).encode()
    start = content.index(b"node type")
    end_of_table = content.index(b"\n\n", start)
    for end in some_of(range(start, len(content) - 1), 23):
        error, codes = outcome(content[:end])
        if error:
            assert "\n" not in error, end
        else:
            assert "cut-table" in codes or end > end_of_table, end


def test_a_table_with_all_of_the_time_is_complete() -> None:
    """A log may end with the row where the cumulative share reaches 100 %. If the newline after
    this row is missing, the name in it may be truncated."""
    content = log(part([CONV, POOL])).encode()
    table, _, _ = content[content.index(b"=====") :].partition(b"\n\n")
    rows = content[: content.index(table)] + table
    assert "cut-table" not in outcome(rows + b"\n")[1]
    assert "cut-table" in outcome(rows)[1]
    assert "cut-table" in outcome(rows[: rows.rindex(b"\n") + 1])[1]


@pytest.mark.parametrize("text", ["nan", "-nan", "inf", "1e999", "1.7e308", "-5"])
def test_impossible_times_are_unknown(text: str, tmp_path: Path) -> None:
    whole = log(part([CONV, POOL])).replace("0.250", text)
    profile = loaded(tmp_path, whole)
    assert profile.check() == ()
    assert profile.measured("time")[:, 0].tolist() == pytest.approx([2.5e-3, nan], nan_ok=True)
    assert run_command(write_bytes(tmp_path, whole.encode())).code == 0


def test_bytes_that_are_not_utf8_are_replaced(tmp_path: Path) -> None:
    content = log(part([Row("ADD", "[a?b]:0", 1.0)])).encode().replace(b"?", b"\xff")
    profile = pa.load(write_bytes(tmp_path, content))
    assert [*profile.operators.name.values()] == ["a\ufffdb"]

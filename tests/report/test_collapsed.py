"""Collapsed stacks, in the library and on the command line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import profile_analyze as pa
from profile_analyze.report.formats.collapsed import _rounded
from tests.conftest import FIXTURES, PROFILES, run_command
from tests.in_memory import CPU, nested, profile_of

if TYPE_CHECKING:
    from pathlib import Path

TINY = str(PROFILES / "tiny.json")
LOOP = str(FIXTURES / "onnxruntime" / "loop-1.14.json.gz")


def collapsed(profile: pa.Profile, **question: Any) -> str:
    return pa.render(pa.run(pa.Query(**question), profile), "collapsed")


def test_stacks_have_times_in_microseconds() -> None:
    assert collapsed(nested()) == "net;linear;addmm;gemm 3000\nnet;relu;relu_kernel 1000\n"
    assert collapsed(nested(), measure="host_time") == (
        "net 5000\nnet;linear 2000\nnet;linear;addmm 3000\nnet;relu 2000\n"
    )


def test_a_name_stays_in_one_frame_and_equal_stacks_share_a_line() -> None:
    names = ["a;b", "a:b", "line\nbreak", "", "卷积 \x1b"]
    profile = profile_of(
        [{"name": name, "scope": ("x;y", "")} for name in names],
        [{"operator": index, "duration_s": 1e-6} for index in range(len(names))],
        tracks=(CPU,),
    )
    assert collapsed(profile) == (
        "x:y;unnamed;a:b 2\n"
        "x:y;unnamed;line\\nbreak 1\n"
        "x:y;unnamed;unnamed 1\n"
        "x:y;unnamed;卷积 \\x1b 1\n"
    )


def test_impossible_times_are_refused() -> None:
    profile = profile_of([{"name": "a"}], [{"operator": 0, "duration_s": 1e303}], tracks=(CPU,))
    with pytest.raises(pa.QueryError) as caught:
        collapsed(profile)
    assert str(caught.value) == (
        "collapsed: the times are too large for microseconds; use another format"
    )


def test_short_times_are_rounded_together() -> None:
    times_us = {"a": 0.4, "b": 0.4, "c": 0.4, "d": 0.2, "e": 2.0}
    profile = profile_of(
        [{"name": name} for name in times_us],
        [
            {"operator": index, "duration_s": one * 1e-6}
            for index, one in enumerate(times_us.values())
        ],
        tracks=(CPU,),
    )
    assert collapsed(profile) == "a 1\ne 2\n"  # 3.4 us in total


@given(st.dictionaries(st.text(max_size=2), st.floats(0, 1e9), max_size=20))
def test_rounded_times_are_close_and_have_the_rounded_sum(times: dict[str, float]) -> None:
    whole = _rounded(times)
    assert sum(whole.values()) == pytest.approx(sum(times.values()), abs=0.501)
    for text, time in times.items():
        assert abs(whole[text] - time) < 1
        assert whole[text] == time or time != int(time)


def test_an_answer_without_stacks_is_empty() -> None:
    assert collapsed(profile_of([])) == ""
    outcome = run_command(TINY, "--format", "collapsed", "--where", "time < 0")
    assert (outcome.code, outcome.out) == (0, "")
    assert outcome.err.endswith(
        "note: no stack: no execution with a time on the device was selected\n"
    )


def test_bodies_of_loops_are_inside_the_loops() -> None:
    out = run_command(LOOP, "--format", "collapsed").out
    assert out.splitlines()[:4] == [
        "Relu_1 10",
        "main/Loop 215",
        "main/Loop;Cast_1 25",
        "main/Loop;Identity_3 32",
    ]
    assert re.fullmatch(r"([^;\n]+(;[^;\n]+)* [1-9]\d*\n)+", out)


def test_all_rows_are_written_unless_the_call_selects_some() -> None:
    everything = run_command(str(PROFILES / "resnet18.json"), "-o", "-", "--format", "collapsed")
    assert (everything.code, everything.out.count("\n")) == (0, 71)
    some = run_command(str(PROFILES / "resnet18.json"), "-t", "2", "--format", "collapsed")
    assert some.out.splitlines() == sorted(
        sorted(everything.out.splitlines(), key=lambda line: -int(line.split()[-1]))[:2]
    )


def test_a_note_on_what_a_level_leaves_out_is_only_for_selected_rows() -> None:
    gpu = str(FIXTURES / "pytorch" / "gpu.json")
    left_out = "left out 1 kernel in 2 runs, 1.50 us per run on average (0.9% of the time), whose launch is not in the file"
    whole = run_command(gpu, "--format", "collapsed", "--notes", "all")
    assert "kernel_of_nobody 3\n" in whole.out
    assert left_out not in whole.err
    some = run_command(gpu, "--format", "collapsed", "--notes", "all", "-t", "1")
    assert left_out in some.err


def test_host_stacks_are_written_if_only_the_host_is_printed(tmp_path: Path) -> None:
    file = tmp_path / "host.folded"
    outcome = run_command(TINY, "--print-only", "host", "-o", str(file))
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "")
    stacks = "ADD 2\nconst<1>[2] 1\ndata 1\noutput_callback(ADD)[11] {}\n"
    assert file.read_text() == stacks.format(2)
    assert run_command(TINY, "--format", "collapsed").out == stacks.format(1)


@pytest.mark.parametrize(
    ("options", "option"),
    [
        (("--compare", TINY), "--compare"),
        (("--aggregate-by", "type"), "--aggregate-by"),
        (("--aggregate", "sum"), "--aggregate"),
        (("--show-host",), "--show-host"),
        (("--print-only", "summary"), "--print-only summary"),
        (("--top-end-key", "kern"), "--top-end-key kern"),
        (("--correct-drift",), "--correct-drift"),
    ],
)
def test_options_that_do_not_apply_are_refused(options: tuple[str, ...], option: str) -> None:
    outcome = run_command(TINY, "--format", "collapsed", *options)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == (
        "profile_analyze: error: collapsed has the recorded times of the stacks of one profile, "
        f"so {option} does not apply; leave one out\n"
    )


def test_other_wrong_calls_are_refused() -> None:
    model = str(FIXTURES / "models" / "branches.onnx")
    for call, message in (
        ((TINY, "--time-unit", "ms"), "collapsed has times in microseconds, so --time-unit has no "
         "effect; leave it out"),
        ((TINY, "--columns", "name"), "collapsed has no tables and no totals, so --columns has no "
         "effect"),
        ((model,), f"--format collapsed needs times, and {model} is a model that has not run; leave "
         "the option out"),
    ):  # fmt: skip
        outcome = run_command(*call, "--format", "collapsed")
        assert (outcome.code, outcome.out) == (2, "")
        assert outcome.err == f"profile_analyze: error: {message}\n"

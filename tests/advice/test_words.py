"""If a user writes another tool's word for a column, a hint gives our name of that column."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import profile_analyze as pa
from profile_analyze.advice import words
from profile_analyze.advice.words import meant_column
from profile_analyze.columns.catalog import CATALOG, find_column
from tests.conftest import PROFILES, run_command

RESNET = str(PROFILES / "resnet18.json")

WORDS = {
    # PyTorch: key_averages() in code and as a table
    "time": ("self_cuda_time", "self_cuda_time_total", "Self CUDA", "self_device_time_total"),
    "device_time": ("cuda_time", "CUDA total", "CUDA time avg", "kernel_time", "gpu_time_ms"),
    "self": ("self_cpu_time", "Self CPU", "self_cpu_ms", "self_cpu_time_total"),
    "host_time": ("cpu_time", "CPU total", "CPU time avg", "cpuTime"),
    "share": ("Self CPU %", "Self CUDA %", "CPU total %", "Time (%)", "percentage", "%", "pct"),
    "calls": ("# of Calls", "ncalls", "num_calls", "Instances", "times called"),
    "computation": ("Total MFLOPs", "gflop", "total_flops"),
    "flops": ("GFLOPS", "mflops", "GFLOP/s"),
    "in_shapes": ("Input Shapes",),
    "compute_dtype": ("Precision", "runtimePrecision"),
    # nsys, trtexec, OpenVINO, TensorFlow Lite, cProfile
    "time_min": ("Min (ns)", "fastest", "min_time"),
    "time_max": ("Max (ns)", "max", "max_latency"),
    "spread": ("StdDev (ns)", "stddev", "cv", "std_dev"),
    "type": ("execType", "layerType", "node type"),
    "cumulative_share": ("cdf%",),
    "cumulative_time": ("cumtime",),
    "memory": ("mem KB", "bytes_read", "dram_bytes"),
}
TIMES = (
    *("duration", "dur", "latency", "avg", "Avg", "mean_ms", "Avg (ns)", "Med (ns)", "us", "ms"),
    *("Total Time (ns)", "averageMs", "medianMs", "timeMs", "realTime", "avg ms", "tottime"),
    *("latency_us", "exec_time", "seconds", "mean", "median"),
)


@pytest.mark.parametrize(
    ("word", "column"),
    [*((word, name) for name, words in WORDS.items() for word in words)]
    + [(word, "time") for word in TIMES],
)
def test_a_word_of_another_tool_gets_our_name(word: str, column: str) -> None:
    with pytest.raises(pa.UnknownColumnError) as error:
        find_column(word)
    assert str(error.value) == f"there is no column {word!r}; did you mean {column}?"


def test_the_hint_is_the_same_in_every_option() -> None:
    for options, begin in (
        (("--columns", "Avg"), "there is no column 'Avg'"),
        (("--order-by", "Avg"), "there is no column 'Avg' to order by"),
        (
            ("--where", "Avg > 1ms"),
            "argument --where: 'Avg > 1ms', at character 1: there is no column 'Avg'",
        ),
    ):
        outcome = run_command(RESNET, *options)
        assert (outcome.code, outcome.out) == (2, "")
        assert outcome.err == f"profile_analyze: error: {begin}; did you mean time?\n"


@pytest.mark.parametrize(
    ("word", "advice"),
    [
        (
            "start_time",
            "--inspect NAME shows when an operator ran; --from and --to select a part of the profile",
        ),
        (
            "p99",
            "groups have percentiles: --aggregate-by type --columns type,time.p90",
        ),
        ("wall_time", "the summary has the wall time of a run"),
        ("fps", "the summary has rates, if the profile has them"),
    ],
)
def test_words_without_a_column_get_advice(word: str, advice: str) -> None:
    outcome = run_command(RESNET, "--columns", f"name,{word}")
    assert outcome.err == f"profile_analyze: error: there is no column {word!r}; {advice}\n"


def test_each_pattern_of_words_has_a_column_that_exists() -> None:
    meant = {column for _, column in words._FAMILIES}
    assert meant - {column.name for column in CATALOG} == set()


@given(st.text(max_size=30) | st.sampled_from(TIMES))
def test_any_text_gets_a_column_or_nothing(text: str) -> None:
    meant = meant_column(text)
    assert not meant or find_column(meant).name == meant

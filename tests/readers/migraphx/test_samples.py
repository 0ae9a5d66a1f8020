"""Whole reports: sums equal an independent count, and answers equal the expected texts."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING

import pytest

import profile_analyze as pa
from profile_analyze.model.findings import Finding, Kind
from profile_analyze.model.levels.levels import at_level
from tests.conftest import FIXTURES, run_command
from tests.findings.found import rounded
from tests.readers.migraphx.independent import expected

if TYPE_CHECKING:
    from pathlib import Path

FOLDER = FIXTURES / "migraphx"
SAMPLES = sorted(FOLDER.iterdir())


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_the_sums_by_type_equal_an_independent_count(path: Path) -> None:
    profile = pa.load(path)
    found: dict[str, float] = defaultdict(float)
    types = profile.operators.type.values().tolist()
    for row, time_s in zip(
        profile.executions.operator.tolist(), profile.executions.duration_s.tolist(), strict=True
    ):
        found[str(types[row])] += time_s
    assert found == pytest.approx(expected(path))


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_shares_add_up_to_the_whole(path: Path) -> None:
    shares = pa.run(pa.Query(), pa.load(path))["share"]
    assert sum(share for share in shares.tolist() if share == share) == pytest.approx(1)


def test_an_answer_shows_what_the_report_says_about_whole_runs() -> None:
    done = run_command(str(FOLDER / "current.txt"), "-t", "4", "--notes", "all")
    assert (done.code, done.out) == (
        0,
        "total device time    87.250 us\n"
        "total host time      N/A\n"
        "wall time of a run   60.900 us (operators take longer: measured one by one, or in other "
        "runs)\n"
        "batch size           2\n"
        "rate                 32840.7 inferences/s\n"
        "whole runs           min 58.800 us, median 60.800 us, mean 61.300 us, mean of the middle "
        "half 60.900 us, max 71.200 us, p90 64.100 us, p95 65.500 us, p99 70.100 us\n"
        "sum of instructions  87.250 us\n"
        "overhead             dry run 4.100 us, whole run minus instructions -26.350 us\n"
        "\n"
        "device self time (us)  share         flops    bandwidth  type                                         name\n"
        "               42.000  48.1%  43.69 GFLOPS   1.75 GiB/s  gpu::code_object::mlir_convolution_add_relu  @7\n"
        "               12.500  14.3%   2.62 GFLOPS   6.10 GiB/s  gpu::pooling                                 @9\n"
        "                9.500  10.9%  67.37 MFLOPS  42.56 MiB/s  gpu::code_object::mlir_dot                   @16\n"
        "                8.800  10.1%  11.36 MFLOPS   8.67 MiB/s  gpu::code_object::softmax_kernel             @18\n",
    )
    assert done.err == (
        "note: the runtime waited for each operator before the next, so times include that wait: "
        "all operators together take 1.43 times as long as a whole run\n"
        "note: times are means over several inferences; how much they vary is not known\n"
    )


@pytest.mark.parametrize(
    ("name", "notes"),
    [
        (
            "summary.txt",
            [
                Finding.of("rows-from-summary", Kind.INCOMPLETE, has_some=False),
                Finding.of(
                    *("no-shapes", Kind.INCOMPLETE),
                    share=0.931805158,
                    operators=5,
                    dropped_beside="model",
                    file_format="MIGraphX report",
                ),
            ],
        ),
        ("totals.txt", [Finding.of("totals-only", Kind.INCOMPLETE)]),
        ("old.txt", []),
        ("fork.txt", []),
        (
            "branches.txt",
            [
                Finding.of("untimed-instructions", Kind.INCOMPLETE, share=0.0, operators=1),
                Finding.of("nested-instructions", Kind.CONTEXT, share=0.357142857, operators=3),
            ],
        ),
    ],
)
def test_each_sample_has_its_notes(name: str, notes: list[Finding]) -> None:
    assert rounded(pa.load(FOLDER / name).notes) == notes


def test_the_dialect_of_a_fork_has_the_same_operators() -> None:
    fork, current = (pa.load(FOLDER / f"{name}.txt") for name in ("fork", "current"))
    for column in ("name", "category", "computation", "memory"):
        of_fork, of_current = (getattr(one.operators, column) for one in (fork, current))
        if column in ("name", "category"):
            of_fork, of_current = of_fork.values(), of_current.values()
        assert of_fork.tolist() == of_current.tolist()
    assert fork.origin.recorded[:2] == current.origin.recorded[:2]
    assert fork.origin.version is None
    assert current.origin.version == "2.15.0.20260101-1-g0123456"


def test_detailed_groups_have_shapes_and_calls() -> None:
    table = pa.run(pa.Query(), pa.load(FOLDER / "detailed.txt"))
    assert list(zip(table["type"], table["calls"], table["macs"], strict=True))[:2] == [
        ("gpu::code_object::mlir_convolution_add_relu", 2, 2 * 2 * 16 * 32 * 32 * 27),
        ("gpu::gemm", 1, 2 * 16 * 10),
    ]
    assert table["in_shapes"][1] == ((2, 16), (16, 10))
    assert table["in_strides"][1] == (None, (1, 16))


def test_the_branch_of_an_if_counts_once() -> None:
    profile = at_level(pa.load(FOLDER / "branches.txt"))
    table = pa.run(pa.Query(), profile)
    rows = zip(table["name"], table["scope"], table["time"].tolist(), strict=True)
    near = pytest.approx
    assert list(rows)[:3] == [
        ("main:If_0_then:@1", ("main:If_0_then",), near(22e-6)),
        ("@3", None, near(15e-6)),
        ("main:If_0_then:@0", ("main:If_0_then",), near(3e-6)),
    ]
    assert profile.totals_s("time").tolist() == [near(45e-6)]


def test_what_the_runtime_printed_is_in_the_json() -> None:
    done = run_command(str(FOLDER / "current.txt"), "--format", "json")
    document = json.loads(done.out)
    assert document["profile"]["synchronised"] is True
    assert (document["profile"]["times"], document["profile"]["format"]) == (
        "mean",
        "MIGraphX report",
    )
    assert document["summary"]["recorded"]["numbers"] == pytest.approx(
        {
            "batch_size": 2,
            "inferences_per_s": 32840.7,
            "min_s": 58.8e-6,
            "median_s": 60.8e-6,
            "mean_s": 61.3e-6,
            "total_s": 60.9e-6,
            "max_s": 71.2e-6,
            "p90_s": 64.1e-6,
            "p95_s": 65.5e-6,
            "p99_s": 70.1e-6,
            "instructions_s": 87.25e-6,
            "dry_run_s": 4.1e-6,
            "difference_s": -26.35e-6,
        }
    )
    assert document["summary"]["wall_time_s"] == pytest.approx(60.9e-6)
    assert document["summary"]["outside_operators_s"] is None

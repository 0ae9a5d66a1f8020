"""Questions about models that have not run, as a user asks them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from profile_analyze import Query, compare, load, parse_peaks, run
from profile_analyze.columns.catalog import CATALOG
from profile_analyze.columns.model_columns import TILE_NAMES
from profile_analyze.model.findings import Finding, Kind
from profile_analyze.views.summary import summarise
from tests.conftest import ROOT, run_command
from tests.findings.found import with_code
from tests.readers.onnx.models import model, write_model

SMALL = "tests/fixtures/classifiers/classifier.onnx"
WIDE = "tests/fixtures/classifiers/classifier-wide.onnx"
DYNAMIC = "tests/fixtures/models/cnn_script.onnx"
PEAKS = ("--peaks", "a100-80gb-sxm")


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        (("--min-time", "1ms"), "--min-time"),
        (("--max-time", "1ms"), "--max-time"),
        (("--run-stat", "max"), "--run-stat"),
        (("--copy-time",), "--copy-time"),
        (("--top-end-key", "kern"), "--top-end-key kern"),
        (("--print-only", "host"), "--print-only host"),
        (("--show-host",), "--show-host"),
        (("--where", "macs > 1", "--where", "time_max > 1ms"), "--where 'time_max > 1ms'"),
        (("--where", "bandwidth > 1G"), "--where 'bandwidth > 1G'"),
        (("--aggregate-by", "type", "--having", "share > 5%"), "--having 'share > 5%'"),
        ((*PEAKS, "--where", "efficiency > 0.5"), "--where 'efficiency > 0.5'"),
        ((*PEAKS, "--where", "lost > 1us"), "--where 'lost > 1us'"),
        ((*PEAKS, "--where", "gain > 1.5"), "--where 'gain > 1.5'"),
        (("--where", "spread > 5%"), "--where 'spread > 5%'"),
        (
            (*PEAKS, "--aggregate-by", "type", "--having", "lost.max > 1us"),
            "--having 'lost.max > 1us'",
        ),
        (("--compare", WIDE, "--where", "ratio > 1"), "--where 'ratio > 1'"),
    ],
)
def test_options_that_need_times_are_refused(arguments: tuple[str, ...], option: str) -> None:
    outcome = run_command(SMALL, *arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == (
        f"profile_analyze: error: {option} needs times, and {SMALL} is a model that has not run; "
        "leave the option out\n"
    )


NOT_FOR_LACK_OF_TIMES = frozenset({"calls", "allocated", "device_allocated"})
"""Columns of numbers that all models lack for another reason."""


def test_a_note_names_all_columns_that_need_times() -> None:
    columns = [
        one
        for one in CATALOG
        # Models may lack optional columns, and without --split-matmul, the columns on tiles.
        if one.kind == "number"
        and one.of_operators is not None
        and one.name not in TILE_NAMES
        and (one.needs_peaks or not one.optional)
    ]
    names = [one.name for one in columns]
    outcome = run_command(SMALL, *PEAKS, "--compare", WIDE, "--columns", ",".join(names))
    (found,) = re.findall("N/A in all rows: (.*); a model that has not run has no", outcome.err)
    named = found.split(", ")
    query = Query(compared=True, peaks=parse_peaks("a100-80gb-sxm"))
    tables = [run(query, compare(load(ROOT / one), load(ROOT / WIDE))) for one in (SMALL, DYNAMIC)]
    unknown = [name for name in names if all(np.isnan(one[name]).all() for one in tables)]
    assert named == [name for name in unknown if name not in NOT_FOR_LACK_OF_TIMES]
    assert {"time", "share", "efficiency", "lost", "gain", "spread", "ratio_low"} <= {*named}


PROFILE = "tests/fixtures/profiles/tiny.json"


@pytest.mark.parametrize("sides", [(SMALL, "--compare", PROFILE), (PROFILE, "--compare", SMALL)])
def test_a_model_is_not_compared_with_a_profile(sides: tuple[str, ...]) -> None:
    outcome = run_command(*sides)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == (
        f"profile_analyze: error: {SMALL} is a model that has not run, so it has no times to "
        f"compare with the times of {PROFILE}; name the profile, and the model after --model\n"
    )


@pytest.mark.parametrize(
    "arguments",
    [
        (SMALL, WIDE),
        (SMALL, WIDE, "--aggregate-by", "file"),
        (SMALL, WIDE, "--compare", PROFILE),
        (PROFILE, SMALL, "--skip-bad"),
    ],
)
def test_models_are_not_joined(arguments: tuple[str, ...]) -> None:
    outcome = run_command(*arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == (
        f"profile_analyze: error: {SMALL} is a model that has not run, so it has no runs to join "
        "with the runs of other files; to compare two models, name one of them after --compare; to "
        "add a model to a profile, name the model after --model\n"
    )


def test_the_least_times_follow_from_the_peaks() -> None:
    peaks = parse_peaks("1T:100G")
    table = run(Query(peaks=peaks, types="Conv"), load(ROOT / SMALL))
    assert table["least_time"].tolist() == pytest.approx([4718592e-12, 4718592e-12, 116480e-11])
    assert table["bound"].tolist() == ["compute", "compute", "memory"]
    judgement = summarise(load(ROOT / SMALL), judged_by=Query(peaks=peaks)).judgement
    assert judgement is not None
    whole = run(Query(peaks=peaks, aggregates="sum"), load(ROOT / SMALL))
    assert judgement.least_s == pytest.approx(whole["least_time"][0])


def least_time_lines(model: str, peaks: str) -> list[str]:
    """Return the lines of the summary that depend on the dtype of the peaks."""
    outcome = run_command(model, "--peaks", peaks, "--print-only", "summary", "--notes", "none")
    assert outcome.code == 0
    starts = ("roof", "least", "operators in")
    return [one for one in outcome.out.splitlines() if one.startswith(starts)]


@pytest.mark.parametrize(
    ("model", "peaks", "lines"),
    [
        (
            SMALL,
            "a100-80gb-sxm",
            [
                "roof fp32             19.50 TFLOPS, at 9.56 FLO/byte or more",
                "least possible time   862.9 ns, each operator on its own",
                "operators in fp32 use the rate of fp32; --peaks a100-80gb-sxm:tf32 uses the "
                "rate of tf32",
            ],
        ),
        (
            SMALL,
            "b200:tf32",
            [
                "roof tf32             1.12 PFLOPS, at 146 FLO/byte or more",
                "least possible time   136.8 ns, each operator on its own",
                "operators in fp32 use the rate of tf32; their memory is still counted in fp32",
            ],
        ),
        (
            SMALL,
            "19.5T:2039G",
            [
                "roof                  19.50 TFLOPS, at 9.56 FLO/byte or more",
                "least possible time   862.9 ns, each operator on its own",
            ],
        ),
        (
            "tests/fixtures/models/cnn_script.onnx",
            "a100-80gb-sxm:tf32",
            [
                "roof tf32             156.00 TFLOPS, at 76.5 FLO/byte or more",
                "least possible time   N/A, unknown for 11 operators",
            ],
        ),
        (
            "tests/fixtures/models/scans.onnx",
            "a100-80gb-sxm:tf32",
            [
                "roof tf32             156.00 TFLOPS, at 76.5 FLO/byte or more",
                "least possible time   N/A, unknown for 1 operator",
            ],
        ),
        (
            "tests/fixtures/models/quantized_dynamic.onnx",
            "a100-80gb-sxm:tf32",
            [
                "roof tf32             156.00 TFLOPS, at 76.5 FLO/byte or more",
                "roof int8             624.00 TFLOPS, at 306 FLO/byte or more",
                "least possible time   64.6 ns, unknown for 3 operators",
                "operators in fp32 use the rate of tf32; their memory is still counted in fp32",
            ],
        ),
    ],
)
def test_the_dtype_of_peaks_replaces_fp32(model: str, peaks: str, lines: list[str]) -> None:
    assert least_time_lines(model, peaks) == lines


@pytest.mark.parametrize(
    ("model", "operators", "in_bodies"),
    [("cnn_script", 11, 0), ("scans", 2, 1), ("quantized_dynamic", 3, 0)],
)
def test_operators_without_a_least_time_are_counted(
    model: str, operators: int, in_bodies: int
) -> None:
    profile = load(ROOT / f"tests/fixtures/models/{model}.onnx")
    notes = run(Query(peaks=parse_peaks("a100-80gb-sxm:tf32")), profile).notes
    assert with_code(notes, "unknown-least-time") == [
        Finding.of("unknown-least-time", Kind.INCOMPLETE, operators=operators, in_bodies=in_bodies)
    ]


def test_a_dtype_of_peaks_may_have_no_effect(tmp_path: Path) -> None:
    text = "g (float16[2, 4] x, float16[4, 4] w) => (float16[2, 4] y) { y = MatMul (x, w) }"
    profile = load(write_model(tmp_path, model(text)))
    notes = run(Query(peaks=parse_peaks("h100-sxm:fp8")), profile).notes
    unused = {"operators": 1, "dtype": "fp8", "replaces_fp32": False, "dtypes": ("fp16",)}
    assert notes == (Finding.of("unused-dtype", Kind.CONTEXT, **unused),)


def test_conditions_judge_the_work_of_models(tmp_path: Path) -> None:
    copy = tmp_path / "copy.onnx"
    copy.write_bytes(Path(SMALL).read_bytes())
    conditions = ("params > 5K", "params > +0", "type=Conv: macs < -10%", "memory > 1GiB")
    failing = [argument for text in conditions for argument in ("--fail-if", text)]
    outcome = run_command(SMALL, "--compare", str(copy), "--print-only", "summary", *failing)
    assert outcome.code == 3
    assert outcome.out.splitlines()[-4:] == [
        "FAILED: params > 5K: 5.26 K: beyond the limit",
        "passed: params > +0: 5.26 K against 5.26 K of the baseline: not beyond the limit",
        "passed: type=Conv: macs < -10%: 5.16 M against 5.16 M of the baseline: not beyond the limit",
        "passed: memory > 1GiB: 1.00 MiB: not beyond the limit",
    ]


def test_unknown_work_is_not_judged() -> None:
    outcome = run_command("tests/fixtures/profiles/tiny.json", "--fail-if", "macs > 5")
    assert outcome.out.splitlines()[-1] == (
        "cannot be judged: macs > 5: macs is N/A for 4 operators; --model FILE adds macs from "
        "the model that ran"
    )


def test_conditions_judge_the_work_of_profiles() -> None:
    conditions = (
        *("computation > +1%", "computation < 3GFLO", "computation > +500MFLO", "memory > +5%"),
        *("type=ConvolutionForward: memory > +1%", "type=ImmutableTensor: computation > 0"),
    )
    failing = [argument for text in conditions for argument in ("--fail-if", text)]
    runs = "tests/fixtures/runs"  # one run a side: work needs no statistics
    call = (f"{runs}/changed/01.json.gz", "--compare", f"{runs}/base/01.json.gz", *failing)
    not_counted = "; not counted: 42 operators of unknown work (0.0% of the time)"
    expected = [
        "FAILED: computation > +1%: 4.04 GFLO against 3.63 GFLO of the baseline: beyond the limit"
        + not_counted,
        f"passed: computation < 3GFLO: 4.04 GFLO: not beyond the limit{not_counted}",
        "passed: computation > +500MFLO: 4.04 GFLO against 3.63 GFLO of the baseline: not beyond "
        f"the limit{not_counted}",
        "passed: memory > +5%: 93.54 MiB against 92.54 MiB of the baseline: not beyond the limit",
        "FAILED: type=ConvolutionForward: memory > +1%: 61.40 MiB against 60.40 MiB of the "
        "baseline: beyond the limit",
        "cannot be judged: type=ImmutableTensor: computation > 0: computation is N/A for 39 "
        "operators (100.0% of the time)",
    ]
    # Tables in the format `table` count constants as memory. Conditions never count them.
    for output_format in ("table", "plain"):
        outcome = run_command(*call, "--print-only", "summary", "--format", output_format)
        assert (outcome.code, outcome.out.splitlines()[-6:]) == (3, expected)


def test_a_removed_operator_without_weights_has_a_difference_of_0() -> None:
    outcome = run_command(
        "tests/fixtures/models/cnn_script.onnx", "--compare", SMALL, "-t", "1", "--format", "markdown",
        "--notes", "none", "--columns", "match,base_params,params_difference",
        "--where", "match == removed", "--where", "base_params == 0",
    )  # fmt: skip
    assert outcome.out.splitlines()[-1] == "| removed |             0 |                   0 |"


@pytest.mark.parametrize(
    ("sides", "macs", "memory"),
    [
        (
            (DYNAMIC, SMALL),
            "N/A, unknown for 4 operators (difference N/A: baseline 5.16 M)",
            "56.00 byte, unknown for 11 operators (difference N/A: baseline 1.00 MiB)",
        ),
        (
            (SMALL, DYNAMIC),
            "5.16 M (difference N/A: baseline N/A, unknown for 4 operators)",
            "1.00 MiB (difference N/A: baseline 56.00 byte, unknown for 11 operators)",
        ),
    ],
)
def test_partial_totals_have_no_difference(sides: tuple[str, str], macs: str, memory: str) -> None:
    outcome = run_command(sides[0], "--compare", sides[1], "--print-only", "summary")
    lines = outcome.out.splitlines()
    assert [line for line in lines if line.startswith(("MACs ", "memory "))] == [
        f"MACs                 {macs}",
        f"memory traffic       {memory}",
    ]


def test_json_counts_operators_that_baseline_totals_leave_out() -> None:
    outcome = run_command(
        SMALL, "--compare", DYNAMIC, "--print-only", "summary", "--format", "json"
    )
    assert json.loads(outcome.out)["summary"]["model"]["base"] == {
        "file": DYNAMIC,
        "macs": 0,
        "params": 486,
        "memory_bytes": 56,
        "unknown_operators": {"macs": 4, "memory": 11},
    }


def test_removed_operators_have_negative_differences() -> None:
    columns = "name,match,macs,base_macs,macs_difference,params_difference,memory_difference"
    outcome = run_command(
        "tests/fixtures/models/cnn_script.onnx", "--compare", SMALL, "-t", "0", "--format", "csv",
        "--columns", columns, "--where", "macs_difference < -1",
    )  # fmt: skip
    assert outcome.out.splitlines()[1:] == [
        "block.conv1,removed,,2359296,-2359296,-2320,-140352.0",
        "block.conv2,removed,,2359296,-2359296,-2320,-140352.0",
        "stem,removed,,442368,-442368,-448,-116480.0",
        "linear,removed,,160,-160,-170,-784.0",
    ]


PARTLY_DYNAMIC = """g (float[N, 3] x, float[3, 4] a, float[4, 2] b, float[2, 3] c) => (float[N, 2] y, float[2, 4] z) {
    n = Relu (x)
    u = MatMul (n, a)
    y = MatMul (u, b)
    z = MatMul (c, a)
    t = Abs (c)
}"""


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ((), ["24 MatMul_3", "N/A MatMul_1", "N/A MatMul_2", "0 Abs_4", "0 Relu_0"]),
        (
            ("--order-by", "macs"),
            ["24 MatMul_3", "0 Relu_0", "0 Abs_4", "N/A MatMul_1", "N/A MatMul_2"],
        ),
        (
            ("--order-by", "+macs"),
            ["0 Relu_0", "0 Abs_4", "24 MatMul_3", "N/A MatMul_1", "N/A MatMul_2"],
        ),
        (
            ("--aggregate-by", "name"),
            ["24 MatMul_3", "N/A MatMul_1", "N/A MatMul_2", "0 Abs_4", "0 Relu_0"],
        ),
    ],
)
def test_by_default_unknown_work_is_shown_before_zero_work(
    tmp_path: Path, order: tuple[str, ...], expected: list[str]
) -> None:
    file = write_model(tmp_path, model(PARTLY_DYNAMIC))
    options = ("--format", "csv", "--columns", "macs,name", "--notes", "none", "-t", "0")
    outcome = run_command(file, *options, *order)
    rows = [line.split(",") for line in outcome.out.splitlines()[1:]]
    assert [f"{macs or 'N/A'} {name}" for macs, name in rows] == expected


def test_attributes_can_be_group_keys() -> None:
    outcome = run_command(
        "tests/fixtures/models/cnn_script.onnx", "--format", "csv", "-t", "0",
        *("--aggregate-by", "type,param.kernel_shape,param.group", "--having", "params > 0"),
        *("--columns", "type,param.kernel_shape,param.group,count,params"),
    )  # fmt: skip
    assert outcome.out.splitlines() == [
        "type,param.kernel_shape,param.group,count,params",
        "Conv,3x3,1,1,224",
        "Conv,3x3,8,1,80",
        "ConvTranspose,2x2,1,1,132",
        "Gemm,,,1,50",
    ]

"""`--model`: a model beside a profile of its run, as a user asks for it."""

from __future__ import annotations

import json
from pathlib import Path
from shutil import copyfile
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

import profile_analyze as pa
from tests.conftest import ROOT, run_command
from tests.readers.onnx.models import model, write_model
from tests.readers.onnxruntime.events import document, node, run

if TYPE_CHECKING:
    from collections.abc import Sequence

PROFILE = "tests/fixtures/profiles/smallcnn.json"
MODEL = "tests/fixtures/classifiers/smallcnn.onnx"
OTHER = "tests/fixtures/classifiers/classifier.onnx"
TENSORRT = "tests/fixtures/tensorrt/net.profile.json"
PADDED = (1, 16, 8, 8)
MATCHED = (
    f"{MODEL}: 6 operators matched by name, 2 by order, 11 operators (6.0% of the time) not matched"
)


def test_the_model_adds_attributes_work_and_weights() -> None:
    outcome = run_command(
        PROFILE, "--model", MODEL, "-t", "0", "--format", "csv", "--where", "macs >= 0",
        "--columns", "name,computation,computation_source,macs,params,param_bytes,param.group",
        "--notes", "all",
    )  # fmt: skip
    assert outcome.out.splitlines() == [
        "name,computation_flo,computation_source,macs,params,param_bytes,param.group",
        "c3.Convolution,2359296.0,measured,1179648,4640,18560.0,1",
        "c2.Convolution,4718592.0,measured,2359296,2320,9280.0,1",
        "c1.Convolution,884736.0,measured,442368,448,1792.0,1",
        "dw.Convolution,36864.0,measured,18432,320,1280.0,32",
        "c4.Convolution,131072.0,measured,65536,1056,4224.0,1",
        "p.Pooling,8192.0,measured,0,0,0.0,",
        "Softmax,50.0,derived,0,0,0.0,",
        "fc.MatrixMul,640.0,measured,320,330,1320.0,",
    ]
    assert outcome.err == (
        f"note: {MATCHED}\n"
        "note: macs >= 0: left out 24 operators (16.5% of the time) where the value is N/A\n"
    )


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ("measured", ""),
        ("derived", "50.0"),
        ("best", "50.0"),
    ],
)
def test_the_option_work_chooses_the_source_of_work(choice: str, expected: str) -> None:
    arguments = ("--where", "name ~ ^(c1.Conv|Softmax)", "--columns", "name,computation")
    outcome = run_command(
        PROFILE, "--model", MODEL, "--work", choice, "--format", "csv", *arguments
    )
    rows = ["name,computation_flo", "c1.Convolution,884736.0", f"Softmax,{expected}"]
    assert outcome.out.splitlines() == rows


def test_both_sides_of_a_comparison_have_the_model() -> None:
    outcome = run_command(
        PROFILE, "--model", MODEL, "--compare", PROFILE, "--fail-if", "macs > +0",
        "--print-only", "summary",
    )  # fmt: skip
    assert f"note: on both sides: {MATCHED}\n" in outcome.err


@pytest.mark.parametrize(
    ("arguments", "code", "verdict"),
    [
        (
            (),
            4,
            "cannot be judged: params > 100: params is N/A for 24 operators, which match no node of "
            "the model; --where 'params >= 0' leaves them out",
        ),
        (("--where", "params >= 0"), 3, "FAILED: params > 100: 9.11 K: beyond the limit"),
        (
            ("--compare", "{other}", "--fail-if", "params > +0"),
            4,
            "cannot be judged: params > +0: params is N/A for 24 operators, which match no node of "
            "the model",
        ),
    ],
)
def test_conditions_on_work_need_a_filter(
    arguments: tuple[str, ...], code: int, verdict: str, tmp_path: Path
) -> None:
    document = json.loads(Path(PROFILE).read_bytes())
    first, *_ = document["profiler"]["device"].values()
    interval, *_ = first.values()
    interval["end"] += 1e-6  # a baseline with the same times counts as a copy and is not judged
    other = tmp_path / "other.json"
    other.write_text(json.dumps(document), "utf-8")
    outcome = run_command(
        PROFILE,
        "--model",
        MODEL,
        "--print-only",
        "summary",
        "--fail-if",
        "params > 100",
        *(argument.format(other=other) for argument in arguments),
    )
    assert (outcome.code, outcome.out.splitlines()[-1]) == (code, verdict)


@pytest.fixture
def dynamic(tmp_path: Path) -> Path:
    """Return the file of a model like `MODEL`, with the batch as a symbol."""
    proto = onnx.load(ROOT / MODEL)
    proto.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "batch"
    for output in proto.graph.output:
        output.type.CopyFrom(helper.make_tensor_type_proto(1, ["batch", 10]))
    path = tmp_path / "dynamic.onnx"
    onnx.save(proto, path)
    return path


@pytest.mark.parametrize(
    ("arguments", "note"),
    [
        (
            ("--dim", "batch=1"),
            "6 operators matched by name, 2 by order, 11 operators (6.0% of the time) not matched",
        ),
        (
            ("--input-shape", "data:2x3x32x32"),
            "none of 19 operators (89.4% of the time) matches a node of this model; perhaps this is "
            "not the model that ran; the shapes of 6 operators differ from the model's: set the "
            "model's shapes with --input-shape or --dim, if this is the model that ran",
        ),
    ],
)
def test_the_options_on_sizes_apply_to_the_model(
    dynamic: Path, arguments: tuple[str, ...], note: str
) -> None:
    outcome = run_command(PROFILE, "--model", str(dynamic), *arguments)
    assert (outcome.code, outcome.err) == (0, f"note: {dynamic}: {note}\n")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (
            (PROFILE, "--model", MODEL, "--model", OTHER),
            2,
            "--model names 2 models; name the one that ran",
        ),
        (
            (PROFILE, "--model", MODEL, OTHER),
            2,
            f"--model takes one model, so {OTHER} counts as a profile; name the model that ran",
        ),
        (
            (PROFILE, "--model", PROFILE),
            2,
            f"{PROFILE}: is named as a profile and as its --model; this file is a profile, and "
            "--model needs the model that ran, such as model.onnx",
        ),
        (
            (TENSORRT, "--model", TENSORRT),
            2,
            f"{TENSORRT}: is named as a profile and as its --model; this file is a profile, and "
            "--model needs the model that ran, such as net.graph.json",
        ),
        (
            (TENSORRT, "--model", PROFILE),
            2,
            f"{PROFILE}: is a profile of a run; name the model that ran, such as model.onnx, or "
            "the graph that the runtime wrote",
        ),
        (
            (MODEL, "--model", f"./{MODEL}"),
            2,
            f"./{MODEL}: is named as a profile and as its --model; name a profile of its run, or "
            "leave --model out",
        ),
        (
            (PROFILE, "--model", "tests/fixtures/profiles/tiny.json"),
            2,
            "tests/fixtures/profiles/tiny.json: is a profile of a run; name the model that ran, "
            "such as model.onnx, or the graph that the runtime wrote",
        ),
        (
            (MODEL, "--model", PROFILE),
            2,
            f"{PROFILE}: is a profile of a run; write {PROFILE} --model {MODEL}",
        ),
        (
            (OTHER, "--model", MODEL),
            2,
            f"{OTHER}: is a model that has not run; name a profile of its run, or leave out the "
            "second model",
        ),
        ((PROFILE, "--model", "tests"), 1, "tests: is a directory; name a file in it"),
        (
            (PROFILE, "--model", "tests/fixtures/classifiers/smalcnn.onnx"),
            1,
            f"tests/fixtures/classifiers/smalcnn.onnx: no such file; did you mean {MODEL}?",
        ),
        (("-", "--model", "-"), 1, "standard input: is named twice; it can be read once"),
        (
            (PROFILE, "--model", MODEL, "--plot", MODEL),
            2,
            f"argument --plot: '{MODEL}' has none of the suffixes .svg, .png, .pdf; write "
            f"{MODEL.removesuffix('.onnx')}.svg",
        ),
    ],
)
def test_wrong_calls_get_one_line(arguments: tuple[str, ...], code: int, message: str) -> None:
    outcome = run_command(*arguments)
    assert (outcome.code, outcome.out) == (code, "")
    assert outcome.err == f"profile_analyze: error: {message}\n"


@pytest.mark.parametrize(
    "names", [["{runs}"], ["{runs}/*.json"], ["{runs}/graph.json", "{runs}/run1.json"], ["@{list}"]]
)
def test_a_folder_or_a_pattern_does_not_stand_for_the_model(
    names: list[str], tmp_path: Path
) -> None:
    runs = tmp_path / "runs"
    runs.mkdir()
    model = runs / "graph.json"
    copyfile("tests/fixtures/tensorrt/net.graph.json", model)
    copyfile(TENSORRT, runs / "run1.json")
    listed = tmp_path / "list.txt"
    listed.write_text(f"{model}\n{runs}/run1.json\n", "utf-8")
    named = [name.format(runs=runs, list=listed) for name in names]
    options = ("--model", str(runs / ".." / "runs" / "graph.json"), "--print-only", "summary")
    for arguments in (
        named,
        ["--compare", *named, "--", TENSORRT],
        [TENSORRT, "--compare", *named],
    ):
        outcome = run_command(*options, *arguments)
        assert (outcome.code, " matched by name, 0 by order" in outcome.err) == (0, True)
    outcome = run_command(PROFILE, MODEL, "--model", f"./{MODEL}", "--notes", "all")
    assert (outcome.code, outcome.err) == (0, f"note: ./{MATCHED}\n")


def test_the_model_is_never_overwritten(tmp_path: Path) -> None:
    model = tmp_path / "model.txt"
    model.write_bytes((ROOT / MODEL).read_bytes())
    outcome = run_command(PROFILE, "--model", str(model), "-o", str(model), "--force")
    assert outcome.err == (
        f"profile_analyze: error: {model}: is one of the input files; write to another file\n"
    )


def test_a_profile_with_a_model_is_still_the_profile_of_a_run() -> None:
    profile = pa.with_model(
        pa.load(ROOT / PROFILE, wanted=("in_shapes", "out_shapes")), pa.load(ROOT / MODEL)
    )
    assert profile.model is None
    assert profile.origin.times == "of each execution"


def test_the_description_of_another_engine_is_noticed(tmp_path: Path) -> None:
    def note(profiles: Sequence[str], model: Path) -> str:
        files = [str(tmp_path / f"{name}.profile.json") for name in profiles]
        lines = run_command(*files, "--model", str(model), "--notes", "all").err.splitlines()
        return next(line for line in lines if " matched by name" in line)

    a, b, c, copy, wrong = (tmp_path / f"{name}.graph.json" for name in ("a", "b", "c", "d", "e"))
    for graph in (a, b, c, copy):
        copyfile("tests/fixtures/tensorrt/net.graph.json", graph)
    for name in "abce":
        copyfile(TENSORRT, tmp_path / f"{name}.profile.json")
    content = a.read_text(encoding="utf-8").replace('"Name": "fc', '"Name": "f')
    wrong.write_text(content, encoding="utf-8")

    doubt = " not matched; perhaps this graph is of another build of the model"
    # Without --model, the graph with the same letter describes each profile. For e, it is `wrong`.
    would = f"{doubt}: without --model, {{}} would describe the operators"
    assert note("a", wrong).endswith(would.format(a))
    assert note("abc", wrong).endswith(would.format(f"{a} and 2 more"))
    assert note("aeb", wrong).endswith(would.format(f"{a} and 1 more"))
    assert note("e", wrong).endswith(doubt)
    for complete in (a, copy):
        assert note("a", complete).endswith(" matched by name, 0 by order")


def test_a_condition_says_how_many_operators_match_no_node(dynamic: Path) -> None:
    options = ("--print-only", "summary", "--fail-if", "macs > 1")
    outcome = run_command(PROFILE, "--model", str(dynamic), *options)
    assert (outcome.code, outcome.out.splitlines()[-1]) == (
        4,
        "cannot be judged: macs > 1: macs is N/A for 32 operators, 26 of them match no node of the "
        "model",
    )


GRAPH = "tests/fixtures/openvino/resnet50-2026.4.xml.gz"
SQUEEZENET = "tests/fixtures/onnxruntime/squeezenet-1.31.json.gz"
LIGHT = str(Path(onnx.__file__).parent / "backend/test/data/light/light_squeezenet.onnx")


@pytest.mark.parametrize(
    ("arguments", "macs", "computation"),
    [((), 349_844_160, 699_688_320), (("--model", LIGHT), 349_151_936, 700_893_224)],
)
def test_padding_of_blocked_layouts_is_not_counted(
    arguments: tuple[str, ...], macs: int, computation: int
) -> None:
    # In place of `conv`, ONNX Runtime executes `conv_nchwc`, whose channels fill blocks of 8 or 16.
    # This operator also adds the bias and applies the activation.
    outcome = run_command(
        SQUEEZENET, *arguments, *("--type", "Conv", "--aggregate-by", "type", "--format", "csv"),
        *("--columns", "count,macs,computation"),
    )  # fmt: skip
    assert outcome.out.splitlines() == ["count,macs,computation_flo", f"26,{macs},{computation}.0"]
    matched = "39 operators matched by name, 0 by order, 1 operator (1.0% of the time) not matched"
    notes = run_command(SQUEEZENET, *arguments, "--notes", "all").err
    assert (matched in notes) == bool(arguments)


@pytest.mark.parametrize(
    ("profile", "model", "expected"),
    [
        (
            SQUEEZENET,
            LIGHT,
            f"note: {LIGHT}: 39 operators matched by name, 0 by order, 1 operator (1.0% of the "
            "time) not matched\n"
            "note: the wall time of run 1 is 1.6 times the median; --skip-runs 1 leaves it out\n",
        ),
        (
            "tests/fixtures/onnxruntime/squeezenet-1.8.json.gz",
            LIGHT,
            f"note: {LIGHT}: 39 operators matched by name, 0 by order, 1 operator (2.1% of the "
            "time) not matched\n"
            "note: the wall time of run 1 is 1.5 times the median; --skip-runs 1 leaves it out\n",
        ),
        (
            "tests/fixtures/openvino/resnet50-2026.4.csv.gz",
            GRAPH,
            f"note: {GRAPH}: the computation of 2 operators (0.1% of the time) cannot be "
            "derived from type and shapes; the ONNX model that ran may give it: --model "
            "model.onnx\n"
            f"note: {GRAPH}: the computation of 1 operator (0.0% of the time) is unknown: a "
            "Subgraph runs several operators in one, and the file does not say which\n"
            f"note: {GRAPH}: 59 operators matched by name, 0 by order\n"
            "note: times are means over several inferences; how much they vary is not known\n",
        ),
    ],
)
def test_no_note_reports_data_as_missing_that_the_model_adds(
    profile: str, model: str, expected: str
) -> None:
    outcome = run_command(profile, "--model", model, "--print-only", "summary", "--notes", "all")
    assert outcome.err == expected


def test_convolutions_with_padded_channels_get_the_work_of_the_model(tmp_path: Path) -> None:
    """The exporter writes an Identity after each Add, as Paddle does.

    The runtime pads 12 channels to 16, fuses bias and Relu, removes each Identity, and fuses the
    Pad into the second convolution.
    """
    proto = model(
        """g (float[1, 3, 8, 8] x) => (float[1, 12, 8, 8] y) {
            [Conv_0] c0 = Conv <pads = [1, 1, 1, 1]> (x, w0)
            [Add_0] a0 = Add (c0, b) [Identity_0] i0 = Identity (a0) [Relu_0] r0 = Relu (i0)
            [Pad_0] p0 = Pad (r0, pads)
            [Conv_1] c1 = Conv (p0, w1)
            [Add_1] a1 = Add (c1, b) [Identity_1] i1 = Identity (a1) [Relu_1] r1 = Relu (i1)
            [Dropout_0] d1 = Dropout (r1) [Identity_2] y = Identity (d1)
        }"""
    )
    arrays: dict[str, Any] = {
        "w0": np.ones((12, 3, 3, 3), np.float32),
        "w1": np.ones((12, 12, 2, 2), np.float32),
        "b": np.ones((1, 12, 1, 1), np.float32),
        "pads": np.array([0, 0, 0, 0, 0, 0, 1, 1], np.int64),
    }
    for name, array in arrays.items():
        proto.graph.initializer.append(numpy_helper.from_array(array, name))
    lines = (
        node("r0_nchwc", "Conv", 10, 20, ins=[(1, 3, 8, 8), (16, 3, 3, 3), (16,)], outs=[PADDED]),
        node("y_nchwc", "Conv", 30, 30, ins=[PADDED, (16, 16, 2, 2), (16,)], outs=[PADDED]),
        node("ReorderOutput", "ReorderOutput", 60, 5, ins=[PADDED], outs=[(1, 12, 8, 8)]),
    )
    profile = tmp_path / "run.json"
    profile.write_bytes(document(*lines, run(0, 70)))
    columns = ("--columns", "name,macs,param.nodes", "--format", "csv", "--order-by", "+id")
    alone = run_command(str(profile), *columns[:1], "name,macs", *columns[2:])
    assert alone.out.splitlines()[1:] == ["ReorderOutput,0", "r0_nchwc,27648", "y_nchwc,65536"]
    outcome = run_command(str(profile), "--model", write_model(tmp_path, proto), *columns)
    assert outcome.out.splitlines()[1:] == [
        "ReorderOutput,0,",
        "r0_nchwc,20736,Conv_0 + Add_0 + Identity_0 + Relu_0",
        "y_nchwc,36864,Conv_1 + Add_1 + Identity_1 + Relu_1 + Dropout_0 + Identity_2",
    ]


def test_a_name_that_no_file_can_have_is_reported_beside_a_model() -> None:
    outcome = run_command("\ud800", "--model", MODEL)
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.startswith("profile_analyze: error: ")
    assert outcome.err.count("\n") == 1

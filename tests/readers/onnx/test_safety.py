"""Hostile models cannot stop or crash the command: each gives an answer, or one line of error."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest
from onnx import ModelProto, helper

import profile_analyze as pa
from profile_analyze.readers.input.source import Source
from profile_analyze.readers.onnx.loading import read_model
from profile_analyze.readers.onnx.safety import onnx_calls
from profile_analyze.readers.onnx.safety.onnx_calls import INFER, OnnxCalls, OnnxError
from tests.conftest import FIXTURES, PROFILES, run_command
from tests.readers.onnx.models import HEAD, RELU, model, write_model

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

HOSTILE = FIXTURES / "hostile"
DATA = model(RELU).SerializeToString()


def error_of(*arguments: str) -> str:
    """Return the reason in the line of error that a call prints."""
    outcome = run_command(*arguments)
    start = "profile_analyze: error: "
    assert (outcome.code, outcome.out, outcome.err.count("\n")) == (1, "", 1)
    assert outcome.err.startswith(start)
    return outcome.err.removeprefix(start).rstrip("\n")


def test_an_equation_with_which_onnx_loops_is_refused() -> None:
    file = str(HOSTILE / "einsum_hang.onnx")
    reason = f"{file}: an Einsum node has an invalid equation: '....a,b->ab'"
    assert error_of(file) == reason
    assert error_of(str(PROFILES / "tiny.json"), "--model", file) == reason


def with_equation(equation: str, domain: str = "") -> Any:
    proto = model("g (float[2, 3] a, float[3, 4] b) => (float[M, N] y) { [e] y = Einsum (a, b) }")
    node = proto.graph.node[0]
    node.domain = domain
    node.attribute.append(helper.make_attribute("equation", equation))
    return proto


@pytest.mark.parametrize("domain", ["", "ai.onnx"])
@pytest.mark.parametrize(
    "equation", ["a1,1b->ab", "ab,bé", "....,...", "a..b,bc", "ab,bc->a.c", "ab,bc->ac->c", "a\t,b"]
)
def test_invalid_equations_are_refused(tmp_path: Path, equation: str, domain: str) -> None:
    file = write_model(tmp_path, with_equation(equation, domain))
    shown = equation.replace("\t", "\\t")
    assert error_of(file) == f"{file}: the node 'e' (Einsum) has an invalid equation: '{shown}'"


@pytest.mark.parametrize(
    ("equation", "dims"),
    [
        ("ab,bc->ac", (2, 4)),
        (" a b , b c ", (2, 4)),
        ("...b,bC->...C", (2, 4)),
        ("a...,...c->...", (3,)),
        ("", None),
        ("ab", None),
    ],
)
def test_valid_equations_are_read(equation: str, dims: object) -> None:
    data = with_equation(equation).SerializeToString()
    found = read_model(Source.of_bytes("m", data)).graph.values["y"].dims
    assert found == dims or (dims is None and found in ((None, None), None))


def test_an_equation_in_a_function_or_a_body_is_refused(tmp_path: Path) -> None:
    proto = model("g (float[2] x) => (float[2] y) { y = own.f (x) }")
    proto.opset_import.add(domain="own", version=1)
    function = proto.functions.add(name="f", domain="own", input=["a"], output=["b"])
    function.opset_import.add(domain="", version=18)
    node = helper.make_node("Einsum", ["a"], ["b"], "e", equation="a1->a")
    function.node.append(node)
    reason = "has an invalid equation: 'a1->a'"
    assert reason in error_of(write_model(tmp_path, proto))
    proto = model(
        """g (float[2] x, bool c) => (float[2] y) { y = If (c) <
            then_branch = t () => (float[2] p) { p = Relu (x) },
            else_branch = e () => (float[2] q) { q = Einsum <equation = "a1->a"> (x) }>
        }"""
    )
    assert reason in error_of(write_model(tmp_path, proto))


def with_functions(*bodies: Sequence[str]) -> Any:
    """Return a model that calls the last of these functions. Function i calls those in bodies[i]."""
    proto = model(f"g (float[2] x) => (float[2] y) {{ y = own.f{len(bodies) - 1} (x) }}")
    proto.opset_import.add(domain="own", version=1)
    for index, body in enumerate(bodies):
        function = proto.functions.add(name=f"f{index}", domain="own", input=["v0"])
        function.output.append(f"v{len(body)}")
        function.opset_import.add(domain="", version=18)
        function.opset_import.add(domain="own", version=1)
        for at, name in enumerate(body):
            domain = "" if name == "Relu" else "own"
            node = helper.make_node(name, [f"v{at}"], [f"v{at + 1}"], domain=domain)
            function.node.append(node)
    return proto


@pytest.mark.parametrize(
    ("proto", "reason"),
    [
        (with_functions(["f0"]), "the local function 'f0' of the ONNX model calls itself"),
        (with_functions(["f1"], ["f0"]), "the local function 'f0' of the ONNX model calls itself"),
        (
            with_functions(["Relu"], *([f"f{index}"] * 2 for index in range(60))),
            "the local function 'f19' of the ONNX model stands for more than 1,000,000 nodes",
        ),
        (
            with_functions(["Relu"], *([f"f{index}"] for index in range(200))),
            "the local function 'f100' of the ONNX model has more than 100 levels of calls",
        ),
    ],
)
def test_functions_that_stand_for_too_much_are_refused(
    tmp_path: Path, proto: Any, reason: str
) -> None:
    file = write_model(tmp_path, proto)
    assert error_of(file) == f"{file}: {reason}"


def test_a_model_that_calls_functions_too_often_is_refused(tmp_path: Path) -> None:
    proto = with_functions(["Relu"] * 1000, ["f0"] * 500)
    proto.graph.node.extend([proto.graph.node[0]] * 3)
    file = write_model(tmp_path, proto)
    reason = "the local functions of the ONNX model stand for more than 1,000,000 nodes"
    assert error_of(file) == f"{file}: {reason}"


def test_a_node_with_which_onnx_crashes_has_an_unknown_shape() -> None:
    # Some versions of `onnx` read the missing input of EyeLike, and crash.
    proto = model("g (float[N, 3] x) => (float[M] y, float[A, B] z) { z = Relu (x) }")
    proto.graph.input[0].type.tensor_type.shape.dim[0].dim_value = 2
    proto.graph.node.append(helper.make_node("EyeLike", [], ["y"], dtype=1))
    values = read_model(Source.of_bytes("m", proto.SerializeToString())).graph.values
    assert (values["y"].dims, values["z"].dims) == ((None,), (2, 3))


def doing(monkeypatch: pytest.MonkeyPatch, action: Callable[[], object]) -> None:
    """Let the function INFER do something else. A forked child does it, too."""

    def function(data: bytes) -> Any:
        action()
        return ModelProto.FromString(data)

    monkeypatch.setattr(onnx_calls, "_FUNCTIONS", {INFER: function})


def test_a_crash_costs_only_the_call(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    once = tmp_path / "once"

    def crash() -> None:
        if not once.exists():
            once.touch()
            os.abort()

    doing(monkeypatch, crash)
    with OnnxCalls("m") as calls:
        with pytest.raises(OnnxError, match="onnx crashed"):
            calls.call(INFER, DATA)
        assert calls.call(INFER, DATA).SerializeToString() == DATA


def test_the_number_of_crashes_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    doing(monkeypatch, os.abort)
    monkeypatch.setattr(onnx_calls, "_MOST_CRASHES", 2)
    with OnnxCalls("m") as calls:
        for reason in ("onnx crashed", "onnx crashed", "onnx crashed too often"):
            with pytest.raises(OnnxError, match=f"^{reason}$"):
                calls.call(INFER, DATA)


def children() -> set[int]:
    """Return the child processes, also those that ended and that nobody waited for.

    Other tests of this process may have left a server of worker processes.
    """
    return {one.pid for one in psutil.Process().children()}


def test_a_call_that_does_not_return_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    doing(monkeypatch, lambda: time.sleep(1000))
    reason = "m: onnx did not answer within 0.1 s: the ONNX model may be damaged"
    before = children()
    with OnnxCalls("m", 0.1) as calls, pytest.raises(pa.MalformedProfileError, match=reason):
        calls.call(INFER, DATA)
    assert children() == before


def test_ctrl_c_ends_the_child(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt() -> None:
        os.kill(os.getppid(), signal.SIGINT)
        time.sleep(1000)

    doing(monkeypatch, interrupt)
    before = children()
    with OnnxCalls("m") as calls, pytest.raises(KeyboardInterrupt):
        calls.call(INFER, DATA)
    assert children() == before


def test_the_child_has_no_files_and_prints_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    found = tmp_path / "found"

    def look() -> None:
        os.write(1, b"out")
        os.write(2, b"err")
        found.write_text(str(len(list(Path("/proc/self/fd").iterdir()))))

    doing(monkeypatch, look)
    with found.open("w"), OnnxCalls("m") as calls:
        calls.call(INFER, DATA)
    # Standard input, output and error, two pipes, and the folder that is listed.
    assert (found.read_text(), capfd.readouterr()) == ("6", ("", ""))


def test_where_no_process_can_be_forked_this_process_calls_onnx(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(os, "fork")
    values = read_model(Source.of_bytes("m", DATA)).graph.values
    assert values["y"].dims == (None, 3)
    broken = model("g (float[2] x) => (float[2] y) { y = Concat (x) }", HEAD).SerializeToString()
    assert read_model(Source.of_bytes("m", broken)).graph.values["y"].dims == (2,)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (
            "foreign_opset",
            "has version 1099511627776 of the operator set com.microsoft, which no operator set has",
        ),
        ("empty_output_name", "no node writes the output '' of the ONNX model"),
    ],
)
def test_numbers_and_names_that_onnx_cannot_store_are_refused(name: str, reason: str) -> None:
    file = str(HOSTILE / f"{name}.onnx")
    assert error_of(file) == f"{file}: {reason}"


@pytest.mark.parametrize("output_format", ["json", "jsonl", "csv"])
def test_counts_over_64_bits_are_written_as_floats(output_format: str) -> None:
    columns = ("--columns", "macs,params", "--format", output_format)
    outcome = run_command(str(HOSTILE / "int_over_64_bits.onnx"), *columns)
    assert (outcome.code, outcome.err) == (0, "")
    row = {"csv": "\n%s,0\r\n", "json": '"rows":[[%s,0]]', "jsonl": '"macs":%s,"params":0}'}
    printed = outcome.out.replace("e+40", "e40")  # as older versions of orjson write it
    assert row[output_format] % "1.2250165209153785e40" in printed


@pytest.mark.parametrize("size", [1.5, [2, 3], "x", 2**63 - 1])
def test_a_size_in_an_attribute_of_a_wrong_type_is_unknown(size: Any) -> None:
    head = '<ir_version: 8, opset_import: ["" : 18, "com.microsoft" : 1]>'
    proto = model(
        """g (float[5, 2, 3] x, float[1, 3, 16] w, float[1, 4, 16] r) => (float[A, B, C, D] y)
        { y = com.microsoft.DynamicQuantizeLSTM (x, w, r) }""",
        head,
    )
    proto.graph.node[0].attribute.append(helper.make_attribute("hidden_size", size))
    values = read_model(Source.of_bytes("m", proto.SerializeToString())).graph.values
    hidden = size if isinstance(size, int) else None
    assert values["y"].dims == (5, 1, 2, hidden)


@pytest.mark.parametrize("end", [1.5, [1], b"\xff"])
def test_an_attribute_of_a_wrong_type_makes_counts_of_onnx_tool_unknown(
    tmp_path: Path, end: Any
) -> None:
    proto = model("g (float[2, 3] x, float[3, 4] w) => (float[2, 4] y) { y = Gemm (x, w) }")
    proto.graph.node[0].attribute.append(helper.make_attribute("transB", end))
    outcome = run_command(write_model(tmp_path, proto), "--columns", "onnx_tool_macs")
    assert outcome.code == 0


@pytest.mark.parametrize("place", ["operator set", "function"])
def test_a_domain_that_is_not_utf8_is_refused(tmp_path: Path, place: str) -> None:
    proto = model(RELU)
    if place == "function":
        proto.functions.add(name="f", domain="QQQQ")
    else:
        proto.opset_import.add(domain="QQQQ", version=1)
    file = tmp_path / "m.onnx"
    file.write_bytes(proto.SerializeToString().replace(b"QQQQ", b"Q\xffQQ"))
    reason = "damaged: a name in the ONNX model is not UTF-8: b'Q\\xffQQ'"
    assert error_of(str(file)) == f"{file}: {reason}"


def test_a_parent_that_ignores_the_end_of_children_reads_models() -> None:
    """The system then waits for the child, and nobody else can."""
    code = (
        "import os, signal, sys\n"
        "signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
        "os.execv(sys.executable, [sys.executable, '-m', 'profile_analyze', *sys.argv[1:]])\n"
    )
    arguments = ["--no-cache", str(FIXTURES / "classifiers" / "classifier.onnx")]
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False
    )
    assert (done.returncode, "total computation" in done.stdout) == (0, True), done.stderr

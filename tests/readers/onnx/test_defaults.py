"""An omitted attribute has its default value, so that the models of two exporters match."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from onnx import defs

from profile_analyze.readers.onnx.defaults import with_defaults
from profile_analyze.readers.onnx.graph import Node
from tests.conftest import FIXTURES, run_command
from tests.readers.onnx.models import model, write_model

if TYPE_CHECKING:
    from pathlib import Path

NODES = {
    "Conv (x, w)": "auto_pad=NOTSET, group=1",
    "Conv <kernel_shape = [3, 3]> (x, w)": (
        "auto_pad=NOTSET, dilations=1x1, group=1, kernel_shape=3x3, pads=0x0x0x0, strides=1x1"
    ),
    "Conv <kernel_shape = [3, 3], auto_pad = 'SAME_UPPER', strides = [2, 2]> (x, w)": (
        "auto_pad=SAME_UPPER, dilations=1x1, group=1, kernel_shape=3x3, strides=2x2"
    ),
    "ConvTranspose <kernel_shape = [3, 3]> (x, w)": (
        "auto_pad=NOTSET, dilations=1x1, group=1, kernel_shape=3x3, output_padding=0x0, "
        "pads=0x0x0x0, strides=1x1"
    ),
    "ConvTranspose <kernel_shape = [3, 3], output_shape = [9, 9]> (x, w)": (
        "auto_pad=NOTSET, dilations=1x1, group=1, kernel_shape=3x3, output_padding=0x0, "
        "output_shape=9x9, strides=1x1"
    ),
    "Softmax (x)": "axis=-1",
    "Relu (x)": "",
    "com.microsoft.Gelu (x)": "",
}


@pytest.mark.parametrize("call", NODES)
def test_parameters_have_the_defaults(tmp_path: Path, call: str) -> None:
    text = f"""g (float[1, 3, 8, 8] x, float[3, 3, 3, 3] w) => (float[A] y) {{
        y = {call.replace("'", '"')}
    }}"""
    outcome = run_command(
        write_model(tmp_path, model(text)), "--format", "csv", "--columns", "parameters"
    )
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.splitlines()[1].strip('"') == NODES[call]


def test_all_default_values_are_numbers_texts_or_tuples() -> None:
    for schema in defs.get_all_schemas_with_history():
        node = Node("n", schema.name, schema.domain, (), (), {})
        for value in with_defaults(node, {schema.domain: schema.since_version}).values():
            assert isinstance(value, (int, float, str, tuple)), schema.name


def test_two_exports_of_one_network_match() -> None:
    base, other = (str(FIXTURES / "models" / f"cnn_{name}.onnx") for name in ("dynamo", "script"))
    sizes = ("--input-shape", "x:4x3x16x16", "--where", "macs > 0", "--format", "plain")
    columns = ("--columns", "match,macs,base_macs,name", "--print-only", "device", "-t", "4")
    outcome = run_command(other, "--compare", base, *sizes, *columns)
    assert (outcome.code, outcome.out) == (
        0,
        """\
match         macs  base macs  name
structure  55.30 K    55.30 K  /first/Conv
structure  32.77 K    32.77 K  /up/ConvTranspose
structure  18.43 K    18.43 K  /depthwise/Conv
structure      160        160  /linear/Gemm
""",
    )

"""The columns `onnx_tool_*` equal the tables that onnx-tool wrote, row by row."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import numpy as np
import pytest

import profile_analyze as pa
from profile_analyze.model.terms import ONNX_TOOL_NAMES
from profile_analyze.work.onnx_tool import NOT_LISTED
from tests.conftest import FIXTURES, ROOT, some_of
from tests.readers.onnx.onnx_tool_models import tiny_transformer, with_stored_weights

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from onnx import ModelProto

Table = dict[str, tuple[str, list[float]]]

MODELS: dict[str, Callable[[], ModelProto]] = {
    **{
        name: lambda name=name: with_stored_weights(name)  # type: ignore[misc]
        for name in ("resnet50", "shufflenet", "squeezenet")
    },
    "tiny_transformer": tiny_transformer,
}


def recorded(name: str) -> Table:
    """Return the type and the numbers of each name in a table that onnx-tool 1.0.1 wrote."""
    with (FIXTURES / "onnx-tool" / f"{name}.csv").open() as file:
        return {
            row["Name"]: (
                row["Type"],
                [float(row[key]) for key in ("Forward_MACs", "Memory", "Params")],
            )
            for row in csv.DictReader(file)
        }


def ours(model: ModelProto, folder: Path) -> Table:
    """Return our values of these columns and their totals, for the operators in the table."""
    path = folder / "model.onnx"
    path.write_bytes(model.SerializeToString())
    operators = pa.load(path, wanted=ONNX_TOOL_NAMES).operators
    numbers = np.transpose([operators.numbers(name) for name in ONNX_TOOL_NAMES])
    is_listed = ~operators.type.where(one in NOT_LISTED for one in operators.type.categories)
    listed = operators.take(np.flatnonzero(is_listed))
    rows = zip(listed.type.values(), numbers[is_listed].tolist(), strict=True)
    total = ("_", numbers[is_listed].sum(axis=0).tolist())
    return {**dict(zip(listed.name.values(), rows, strict=True)), "Total": total}


@pytest.mark.slow
@pytest.mark.parametrize("name", some_of(reversed(MODELS), 2))
def test_each_row_equals_the_row_of_onnx_tool(name: str, tmp_path: Path) -> None:
    assert ours(MODELS[name](), tmp_path) == recorded(name)


@pytest.mark.slowest
def test_the_page_has_the_figures_of_the_tables(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "onnx-tool.md").read_text(encoding="utf-8").replace("\n", " ")
    table = recorded("resnet50")
    products = sum(numbers[0] for type_, numbers in table.values() if type_ in ("Conv", "Gemm"))
    path = tmp_path / "model.onnx"
    path.write_bytes(MODELS["resnet50"]().SerializeToString())
    macs = np.nansum(pa.run(pa.Query(), pa.load(path, wanted=("macs",)))["macs"])
    assert (
        f"onnx-tool counts {table['Total'][1][0]:,.0f} multiply-adds. {products:,.0f} of them are "
        "in convolutions and the linear layer. "
        f"For these, `macs` is {macs:,.0f}: it leaves out the bias"
    ) in text

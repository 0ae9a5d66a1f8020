"""Traces of an Ascend NPU: only the events of operators look like those of PyTorch."""

from __future__ import annotations

import json
from typing import Any

import pytest

from profile_analyze.errors import UnknownFormatError
from profile_analyze.readers.input.source import Source
from profile_analyze.readers.loading import read_profile
from tests.readers.pytorch.events import document, op

PROCESSES = [
    {"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": name}}
    for pid, name in ((1, "Python"), (2, "CANN"), (3, "Ascend Hardware"))
]
START = "1699529623106000.120"
FLOW = {"name": "torch_to_npu", "id": "1699529623106300000", "cat": "async_npu"}
EVENTS: list[dict[str, Any]] = [
    *PROCESSES,
    {"ph": "X", "name": "aten::mm", "pid": 1, "tid": 11, "ts": START, "dur": "200.000",
     "cat": "cpu_op", "args": {"Input Dims": "1024,1024;1024,1024", "Input type": "float;float"}},
    {"ph": "X", "name": "MatMulV2", "pid": 3, "tid": 2, "ts": "1699529623106300.000",
     "dur": "400.000", "args": {"Task Type": "AI_CORE", "Stream Id": 2, "Task Id": 3}},
    {"ph": "s", "bp": "e", "pid": 1, "tid": 11, "ts": START, **FLOW},
    {"ph": "f", "bp": "e", "pid": 3, "tid": 2, "ts": "1699529623106300.000", **FLOW},
]  # fmt: skip
LONG = [op("aten::add", start, 1, text="x" * 1000) for start in range(100)]
"""More than the 64 KiB in which readers look for typical texts."""
KERNELS = "Step Id,Model ID,Task ID,Stream ID,Name,Type,OP State,Accelerator Core,Start Time(us),"
OPERATORS = "Device_id,Model Name,Model ID,Task ID,Stream ID,Infer ID,Op Name,OP Type,Task Type,"


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(json.dumps(EVENTS), id="the whole file of torch_npu"),
        pytest.param(json.dumps(EVENTS[3:4] + LONG + PROCESSES), id="processes at the end"),
        pytest.param(json.dumps({"traceEvents": EVENTS}), id="wrapped"),
        pytest.param(json.dumps({"traceEvents": EVENTS[3:]}), id="wrapped, only flows"),
        pytest.param(document(*LONG, *PROCESSES).decode(), id="wrapped, processes at the end"),
        pytest.param(f"{KERNELS}Duration(us)\r\n", id="table of kernels"),
        pytest.param(f"{OPERATORS}Task Start Time(us)\r\n", id="table of operators"),
    ],
)
def test_profiles_of_an_ascend_npu_are_refused_by_name(content: str) -> None:
    with pytest.raises(UnknownFormatError) as caught:
        read_profile(Source.of_bytes("trace_view.json", content.encode()), ())
    assert str(caught.value) == (
        "trace_view.json: looks like a profile of an Ascend NPU (torch_npu), which is not supported; "
        "open it in MindStudio Insight"
    )

"""Functions of Python in a trace appear in stacks, and nowhere else."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import profile_analyze as pa
from profile_analyze.readers.input.source import Source
from profile_analyze.readers.loading import read_profile
from tests.conftest import run_command
from tests.readers.pytorch.events import no_shapes

if TYPE_CHECKING:
    from pathlib import Path


def event(cat: str, name: str, start: float, end: float, tid: int = 1, **args: int) -> Any:
    times = {"ts": 1e6 + start, "dur": end - start}
    return {"ph": "X", "cat": cat, "name": name, "pid": 9, "tid": tid, **times, "args": args}


def trace(*events: Any) -> bytes:
    return json.dumps({"schemaVersion": 1, "traceEvents": events}).encode()


ON_CPU = (
    event("python_function", "train.py(1): <module>", 0, 100),
    event("python_function", "<built-in method enter of A object at 0x7f01>", 5, 12),
    event("user_annotation", "my_region", 10, 80),
    event("python_function", "import of the first call", 11, 12),
    event("python_function", "nn.Module: Net_0", 20, 70),
    event("python_function", "net.py(7): forward", 25, 65),
    event("cpu_op", "aten::conv2d", 30, 60),
    event("cpu_op", "aten::convolution", 35, 55),
    event("python_function", "<built-in method exit of A object at 0x7f02>", 78, 83),
    event("python_function", "<built-in method exit of A object at 0x7f03>", 90, 95),
)
STACKS = """\
train.py(1): <module> 20
train.py(1): <module>;<built-in method enter of A object> 5
train.py(1): <module>;<built-in method exit of A object> 5
train.py(1): <module>;my_region 17
train.py(1): <module>;my_region;<built-in method exit of A object> 2
train.py(1): <module>;my_region;Net_0 10
train.py(1): <module>;my_region;Net_0;net.py(7): forward 10
train.py(1): <module>;my_region;Net_0;net.py(7): forward;aten::conv2d 10
train.py(1): <module>;my_region;Net_0;net.py(7): forward;aten::conv2d;aten::convolution 20
train.py(1): <module>;my_region;import of the first call 1
"""


def test_functions_are_in_stacks_without_addresses(tmp_path: Path) -> None:
    # Two functions partly overlap the region, but each microsecond counts once: 100 us in total.
    path = tmp_path / "run.json"
    path.write_bytes(trace(*ON_CPU))
    outcome = run_command(str(path), "--format", "collapsed")
    assert (outcome.code, outcome.out) == (0, STACKS)
    assert pa.load(path).notes == (no_shapes(2, 1.0),)


def test_functions_change_no_rows(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_bytes(trace(*ON_CPU))
    without, with_functions = pa.load(path), pa.load(path, wanted=("frames",))
    assert without.operators.level.categories == ("operator", "module")
    assert with_functions.operators.level.categories == ("operator", "module", "frame")
    assert pa.levels_of(with_functions) == pa.levels_of(without) == ("operator", "top", "module")
    for level in pa.levels_of(without):
        one, other = (pa.at_level(profile, level) for profile in (without, with_functions))
        for query in (pa.Query(), pa.Query(measure="self")):
            assert pa.run(query, one).to_dict() == pa.run(query, other).to_dict()


def test_kernels_are_below_the_functions_that_launched_them() -> None:
    events = (
        event("python_function", "main.py(1): main", 0, 50),
        event("user_annotation", "ProfilerStep#3", 1, 49),
        event("cpu_op", "aten::mm", 10, 40),
        event("cuda_runtime", "cudaLaunchKernel", 20, 30, correlation=5),
        event("kernel", "gemm", 60, 85, 7, correlation=5),
        event("kernel", "lost", 90, 97, 7, correlation=6),
    )
    source = Source.of_bytes("a", trace(*events))
    profile = read_profile(source, ("frames",))
    assert pa.render(pa.run(pa.Query(), profile), "collapsed") == (
        "lost 7\nmain.py(1): main;aten::mm;gemm 25\n"
    )
    assert pa.render(pa.run(pa.Query(measure="host_time"), profile), "collapsed") == (
        "main.py(1): main 2\nmain.py(1): main;ProfilerStep* 18\nmain.py(1): main;aten::mm 30\n"
    )

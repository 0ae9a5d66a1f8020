"""Rules on profiles of ONNX Runtime."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from profile_analyze.findings.rule import Rule
from profile_analyze.units import counted

if TYPE_CHECKING:
    from profile_analyze.findings.rule import Words


def _cut_session(_: Words, *, nodes: int, kernels: int, runs: int) -> str:
    left_out = _executions(nodes, kernels)
    lost = f": left out {left_out} in an incomplete run" if left_out else ", so runs may be missing"
    # Profiling begins with the session, so the first run in the file warms the session up.
    warm_up = (
        "; the only complete run is the first, and first runs are usually slower"
        if runs == 1
        else ""
    )
    return (
        f"the file ends in the middle{lost}; copy it again, or end the session's profiling before "
        f"the program ends{warm_up}"
    )


def _incomplete_runs(_: Words, *, nodes: int, kernels: int) -> str:
    return f"left out {_executions(nodes, kernels)} outside of complete runs (events model_run)"


def _executions(nodes: int, kernels: int) -> str:
    counts = {"nodes": nodes, "kernels": kernels}
    return " and ".join(
        f"{counted(count, 'execution')} of {what}" for what, count in counts.items() if count
    )


RULES: Final = (
    Rule("cut-session", "the file of a session ends in the middle", _cut_session),
    Rule(
        "event-limit",
        "the file has as many events as ONNX Runtime records",
        "the file has {events} events, and ONNX Runtime records no more than {most}: runs may be "
        "missing; profile fewer runs",
        threshold="one million events, the limit of ONNX Runtime",
    ),
    Rule("incomplete-runs", "nodes or kernels ran outside of complete runs", _incomplete_runs),
    Rule(
        "repaired-names",
        "names are not valid JSON, but can be read",
        "read {names:name} with quotes, backslashes or bytes that JSON forbids, the first in line "
        "{first}; ONNX Runtime 1.31 and later write valid names",
    ),
    Rule(
        "unrecorded-kernels",
        "operators launch work on a device, but the file has no kernels",
        "{operators:operator}{size} launching work on a device: host times only; builds of ONNX "
        "Runtime that profile the GPU record its kernels",
    ),
    Rule(
        "whole-graphs",
        "operators run a whole graph inside of another library",
        "{operators:operator}{size} running a whole graph: the profiler of {provider} shows what "
        "is inside",
    ),
    Rule(
        "padded-channels",
        "operators have channels in blocks",
        "{operators:operator}{size} have channels in blocks of 8 or 16 (NCHWc): computation and "
        "memory include channels that only pad a block, and the names are those of tensors; "
        "--model model.onnx --columns time,name,param.nodes shows the nodes of the model",
    ),
    Rule(
        "packed-weights",
        "weights of operators were packed in advance",
        "weights of {operators:operator}{size} were packed in advance: their shapes are derived; "
        "the session option session.disable_prepacking=1 records these shapes",
    ),
    Rule(
        "several-shapes",
        "nodes ran with several shapes",
        "{operators:operator}{size} belong to nodes with several shapes, which have a row for each "
        "shape; the column in_shapes tells the rows apart",
    ),
)

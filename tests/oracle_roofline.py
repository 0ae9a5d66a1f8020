"""Computes the roofline, and the category of a type of operators, for the oracle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.oracle_arithmetic import Number, divided, over_runs

if TYPE_CHECKING:
    from profile_analyze import Query
    from tests.oracle_reading import Operator

IN_EACH_RUN = "in each run"
"""The key of a row's values in each run."""


def roofline(
    operator: Operator, query: Query, row: dict[str, Any], totals: list[Number]
) -> dict[str, Any]:
    """Return the columns that need peak rates. Add `lost` in each run to `row`.

    `query.peaks` must have one FLOPS rate for all dtypes.
    """
    assert query.peaks is not None
    ((_, rate),) = query.peaks.flops
    category = row["category"]
    is_known = operator.computation is not None
    mover = category == "copy" or (category == "data movement" and is_known)
    time, on_cpu = row["time"], any("cpu" in track for track in operator.tracks)
    # The clock of CPUs has a resolution of 1 us. Shorter times are not judged.
    judged = query.measure == "time" and bool(time) and not (on_cpu and time < 0.999999e-6)
    judged = judged and not (mover and operator.memory == 0)
    has_both = operator.computation and operator.memory is not None
    compute = operator.computation / rate if judged and has_both and not mover else None  # type: ignore[operator]
    has_roof = judged and (mover or compute is not None)
    memory = None
    if has_roof and operator.memory is not None:
        memory = operator.memory / query.peaks.bandwidth
    least = memory if mover or compute is None or memory is None else max(compute, memory)
    if not mover and compute is None:
        least = None
    reachable = None if row["intensity"] is None else row["intensity"] * query.peaks.bandwidth
    if mover or (reachable is None and operator.memory != 0):
        attainable = reachable
    else:
        attainable = rate if reachable is None else min(rate, reachable)
    in_each_run = [
        None if least is None or one is None else one - least for one in row[IN_EACH_RUN]["time"]
    ]
    lost = over_runs(in_each_run, query.run_statistic)
    row[IN_EACH_RUN]["lost"] = in_each_run
    return {
        "bound": bound(compute, memory, least),
        "attainable": None if least is None else attainable,
        "compute_time": compute,
        "memory_time": memory,
        "least_time": least,
        "efficiency": divided(least, time),
        "lost": lost,
        "gain": gain(own_total(row[IN_EACH_RUN]["time"], totals, query), lost),
    }


def category_of(type_: str) -> str:
    """Return the category of a type. All types that occur in tests are known."""
    return next((category for begin, category in _CATEGORIES if type_.startswith(begin)), "other")


_CATEGORIES = (
    ("Conv", "convolution"),
    ("MatrixMul", "matmul"),
    ("Softmax", "softmax"),
    ("Pooling", "pooling"),
    ("AdaptivePooling", "pooling"),
    ("Elemwise", "elementwise"),
    ("TypeCvt", "elementwise"),
    ("Reduce", "reduction"),
    ("Argmax", "reduction"),
    ("Cumsum", "reduction"),
    ("TopK", "reduction"),
    ("Indexing", "embedding"),
    ("Concat", "data movement"),
    ("Dimshuffle", "data movement"),
    ("Reshape", "data movement"),
    ("AxisAddRemove", "data movement"),
    ("Broadcast", "data movement"),
    ("Subtensor", "data movement"),
    ("Host2DeviceCopy", "data movement"),
    ("ResizeForward", "data movement"),
    ("Copy", "copy"),
    ("ImmutableTensor", "control"),
    ("GetVarShape", "control"),
    ("InputCallback", "control"),
    ("OutputCallback", "control"),
)


def bound(compute: Number, memory: Number, least: Number) -> str | None:
    if not least:
        return None
    is_compute = compute is not None and memory is not None and compute >= memory
    return "compute" if is_compute else "memory"


def own_total(times: list[Number], totals: list[Number], query: Query) -> Number:
    """Return the total time of the runs in which a row has a time."""
    ran = [total for time, total in zip(times, totals, strict=True) if time is not None]
    return over_runs(ran, query.run_statistic)


def gain(total: Number, lost: Number) -> Number:
    if lost is None or total is None or total - lost <= 0:
        return None
    return total / (total - lost)

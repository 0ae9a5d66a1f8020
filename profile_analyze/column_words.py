"""Words of other tools for columns, such as `duration` and `Self CUDA`, with this tool's names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from profile_analyze.suggestions import LONGEST_ADVISED, plain_name

if TYPE_CHECKING:
    from collections.abc import Mapping

# The words are in lower case, with _ for a blank, a hyphen or a bracket: `runtimePrecision` is
# looked up as `runtimeprecision`, and `CUDA time` as `cuda_time`.

COLUMN_WORDS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("duration", "dur", "latency", "elapsed", "runtime", "total_time"), "time"),
    **dict.fromkeys(("total", "slowest", "longest", "worst"), "time"),
    **dict.fromkeys(("cpu_time", "host_self_time"), "host_time"),
    "self_time": "self",
    **dict.fromkeys(
        ("operator", "op", "op_name", "layer", "node", "operator_info", "opr_name"), "name"
    ),
    **dict.fromkeys(("kind", "op_type", "opr_type", "class"), "type"),
    "cuda_time_total": "time",
    **dict.fromkeys(("device_time_total", "cpu_time_total", "self_cpu_time_total"), "time"),
    **dict.fromkeys(("new_time", "candidate_time", "device_self_time"), "time"),
    **dict.fromkeys(("module", "region", "path", "stack", "call_stack"), "scope"),
    "fraction": "share",
    **dict.fromkeys(("num", "number", "n", "occurrences"), "count"),
    **dict.fromkeys(("invocations", "instances", "hits", "times_called"), "calls"),
    **dict.fromkeys(("ops", "flos", "work", "operations"), "computation"),
    **dict.fromkeys(("gflops", "tflops", "flop/s", "flo/s", "performance", "speed"), "flops"),
    **dict.fromkeys(("bytes", "mem", "size", "traffic", "footprint"), "memory"),
    **dict.fromkeys(("throughput", "gb/s", "bytes_per_second"), "bandwidth"),
    **dict.fromkeys(("arithmetic_intensity", "oi", "ai"), "intensity"),
    **dict.fromkeys(("shape", "shapes", "input_shape", "input_shapes"), "in_shapes"),
    **dict.fromkeys(("output_shape", "output_shapes"), "out_shapes"),
    **dict.fromkeys(("strides", "input_strides", "layout"), "in_strides"),
    **dict.fromkeys(("dtype", "dtypes", "data_type"), "input_dtype"),
    **dict.fromkeys(("precision", "runtimeprecision", "compute_type"), "compute_dtype"),
    **dict.fromkeys(("param", "attributes", "attrs", "args"), "parameters"),
    "thread": "track",
    "gpu": "device",
    **dict.fromkeys(("iteration", "iter"), "run"),
    **dict.fromkeys(("std", "stddev", "variance", "noise", "iqr"), "spread"),
    **dict.fromkeys(("min", "fastest", "best"), "time_min"),
    "max": "time_max",
    **dict.fromkeys(("baseline", "before", "old", "base_time", "baseline_time"), "base"),
    **dict.fromkeys(("old_time", "time_base"), "base"),
    **dict.fromkeys(("diff", "delta", "regression", "slowdown", "increase"), "difference"),
    "speedup": "ratio",
    **dict.fromkeys(("p", "pvalue", "significance"), "p_value"),
    **dict.fromkeys(("utilization", "mfu", "percent_of_peak"), "efficiency"),
    **dict.fromkeys(("bottleneck", "limit"), "bound"),
    "roof": "attainable",
    "opr_id": "id",
    **dict.fromkeys(("tottime", "percall", "new", "candidate"), "time"),
    **dict.fromkeys(("cdf", "cdf%", "cumulative_%"), "cumulative_share"),
    **dict.fromkeys(("node_type", "layer_type", "operator_type", "opcode"), "type"),
    **dict.fromkeys(("module_name", "module_path", "hierarchy"), "scope"),
    **dict.fromkeys(("tid", "thread_id"), "track"),
    **dict.fromkeys(("index", "node_index", "idx"), "id"),
    **dict.fromkeys(("weights", "weight_count", "parameter_count"), "params"),
    **dict.fromkeys(("cumulative", "cumtime", "running_total"), "cumulative_time"),
}

_DEVICE: Final = "(cuda|gpu|xpu|npu|hip|device)"
_STATISTIC: Final = "(avg|average|mean|med|median|total)"
_UNIT: Final = "(n|u|m|micro|milli|nano)?(s|secs?|seconds?)"
_FAMILIES: Final = (
    (rf"((self_)?(cpu|{_DEVICE})_)?((time|total)_?)*(%|percent|percentage|pct)", "share"),
    (rf"self_{_DEVICE}(_time)?(_{_STATISTIC})?", "time"),
    (rf"({_DEVICE}|kernel)_time(_{_STATISTIC})?|{_DEVICE}_{_STATISTIC}", "device_time"),
    (rf"self_cpu(_time)?(_{_STATISTIC})?", "self"),
    (rf"cpu_(time_)?{_STATISTIC}|cputime", "host_time"),
    (r"(#|n|num|no|number)(_?of)?_?calls|calls?_count", "calls"),
    (r"total_[kmgt]?flops?|[kmgt]flop", "computation"),
    (r"[kmgt]flops(_per_s|/s)?", "flops"),
    (r"(num|number_of|total)_param(eter)?s", "params"),
    (r"(total_|dram_)?bytes(_(read|written|moved|accessed))?", "memory"),
    (
        rf"({_STATISTIC}|elapsed|exec|execution|real|run)?_?(time|latency|duration|dur)?_?"
        rf"({_UNIT}|{_STATISTIC})?(_per_call)?",
        "time",
    ),
    (r"(min|minimum|fastest|best)_?(time|latency|duration)?", "time_min"),
    (r"(max|maximum)_?(time|latency|duration)?", "time_max"),
    (r"(std|stdev|stddev|variance|cv|jitter)(_?(time|dev))?", "spread"),
)
"""Patterns of words, each with the name of a column. The first pattern that matches a whole word is
used."""


_ABSENT: Final = (
    (
        r"(start|end|begin)(_?time(stamp)?)?|ts|timestamps?",
        "no column says when an operator ran, but --inspect NAME does; --from and --to select a "
        "part of the profile",
    ),
    (
        r"wall(_?clock)?(_?time)?",
        "a wall time is of a whole run, so the summary has it, not a table of operators",
    ),
    (
        r"(time_)?p\d\d?",
        "percentiles exist only for groups, as in --aggregate-by type --columns type,time.p90",
    ),
    (
        rf"((self|peak|max)_)?((cpu|{_DEVICE})_)?(memory|mem)_?(usage|allocated|reserved|peak)",
        "no column says how much memory was allocated; memory is what an operator reads and writes",
    ),
    (r"all", "--columns all shows all columns, and takes no other name"),
    (r"defaults?", "without --columns, the default columns are shown"),
    (
        r"(fps|qps|ips|rps|inferences_per_second|queries_per_second)",
        "rates of the whole program are in the summary, if the profile has them",
    ),
)
"""Patterns of words for which there is no column, each with advice."""


def advice_on_absent_column(text: str) -> str:
    """Return advice on a word for which no column exists, such as `start`; otherwise empty."""
    word = plain_name(text)
    is_short = len(word) <= LONGEST_ADVISED
    fitting = (advice for pattern, advice in _ABSENT if is_short and re.fullmatch(pattern, word))
    return next(fitting, "")


def meant_column(text: str) -> str:
    """Return this tool's name for a column that another tool calls `text`; empty if unknown.

    A unit in brackets may follow the word, as in `Total Time (ns)`.
    """
    if len(text) > LONGEST_ADVISED:
        return ""
    word = plain_name(re.sub(r"[\s_]*[(\[](.*?)[)\]]", r"_\1", text))
    without_unit = re.sub(rf"_({_UNIT}|[kmg]i?b)$", "", word)
    for one in (word, without_unit):
        if one in COLUMN_WORDS:
            return COLUMN_WORDS[one]
    families = (
        column
        for one in (word, without_unit)
        for pattern, column in _FAMILIES
        if one and re.fullmatch(pattern, one)
    )
    return next(families, "")

"""Words of other tools, such as `duration` and `--sort`, with the names that this tool has.

Words are in lower case, with `_` for a blank, a hyphen or a bracket: `CUDA time` is `cuda_time`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from profile_analyze.advice.names import LONGEST_ADVISED, plain_name

if TYPE_CHECKING:
    from collections.abc import Mapping

OPTION_WORDS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("sort", "sort_by", "order", "s", "metric"), "--order-by"),
    **dict.fromkeys(("reverse", "ascending", "asc"), "--order-by +time"),
    **dict.fromkeys(("group", "group_by", "groupby", "by", "g"), "--aggregate-by"),
    **dict.fromkeys(("n", "limit", "top_k", "topk", "head", "rows", "row_limit", "count"), "-t"),
    **dict.fromkeys(("all", "no_limit"), "-t 0"),
    **dict.fromkeys(("filter", "query", "condition"), "--where"),
    **dict.fromkeys(("name", "regex", "pattern", "grep", "include", "kernel_name"), "--opr-name"),
    **dict.fromkeys(("op", "op_type", "kind", "opr_type"), "--type"),
    **dict.fromkeys(("onnx", "layer_info", "exportlayerinfo"), "--model"),
    "dtype": "--input-dtype",
    **dict.fromkeys(("column", "fields", "select", "show", "metrics"), "--columns"),
    **dict.fromkeys(("list_columns", "help_columns"), "--columns help"),
    **{name: f"--format {name}" for name in ("json", "jsonl", "csv", "markdown", "junit")},
    "md": "--format markdown",
    **dict.fromkeys(("collapsed", "folded", "flamegraph", "stacks"), "--format collapsed"),
    **dict.fromkeys(("output_format", "fmt", "f"), "--format"),
    **dict.fromkeys(("out", "save", "save_as", "output_file"), "-o"),
    **dict.fromkeys(("overwrite", "yes"), "--force"),
    **dict.fromkeys(("base", "baseline", "diff", "reference", "against", "vs"), "--compare"),
    **dict.fromkeys(("tolerance", "epsilon"), "--threshold"),
    **dict.fromkeys(
        ("fail_on", "assert", "gate", "fail_on_regression", "max_regression", "ci"),
        "--fail-if 'total > +5%'",
    ),
    "strict": "--fail-uncertain not-ruled-out",
    **dict.fromkeys(("warmup", "skip", "skip_first"), "--skip-runs"),
    **dict.fromkeys(("stat", "statistic", "run_statistic"), "--run-stat"),
    **{unit: f"--time-unit {unit}" for unit in ("ms", "us", "ns")},
    "exclude": "--where 'name !~ PATTERN'",
    **dict.fromkeys(("run", "iteration"), "--where 'run == NUMBER'"),
    **{name: f"--aggregate {name}" for name in ("mean", "median", "std", "sum")},
    **dict.fromkeys(("percentile", "percentiles"), "--aggregate p90"),
    **dict.fromkeys(("batch", "batch_size"), "--dim SYMBOL=8 for an ONNX model"),
    **dict.fromkeys(("shape", "shapes", "input_shapes"), "--input-shape"),
    **dict.fromkeys(("gpu", "hardware", "roofline", "device", "gpu_type"), "--peaks"),
    "list_devices": "--peaks list",
    **dict.fromkeys(("kernel", "kernels"), "--level kernel"),
    **dict.fromkeys(("module", "modules", "layers"), "--level module"),
    **dict.fromkeys(("inclusive", "top_level_events_only"), "--level top"),
    "host": "--show-host",
    "group_by_input_shape": "--aggregate-by type,in_shapes",
    "key_averages": "--aggregate-by name",
    **dict.fromkeys(("group_by_stack_n", "group_by_module"), "--aggregate-by scope"),
    **dict.fromkeys(("verdict", "only_changed"), "--where 'verdict !~ same|uncertain'"),
    **dict.fromkeys(("summary", "total", "totals"), "--print-only summary"),
    **dict.fromkeys(("chart", "graph", "picture", "svg", "png"), "--plot"),
    **dict.fromkeys(("no_color", "no_colour", "nocolor"), "--color never"),
    **dict.fromkeys(("verbose", "debug"), "--notes all"),
    **dict.fromkeys(("quiet", "q", "silent"), "--notes none"),
    "v": "--version",
}
"""Each entry begins with an option. A message completes an option with the user's value."""

_RECORDER: Final = "it is an option of the recorder; name the file that it wrote without an option"
ABSENT_OPTIONS: Final[Mapping[str, str]] = {
    **dict.fromkeys(
        ("i", "input", "in", "file", "files", "filename", "profile", "path", "loadprofile"),
        "name the file without an option",
    ),
    **dict.fromkeys(
        ("alpha", "confidence", "significance"),
        "verdicts need a p-value of at most 0.05; --threshold 5% ignores smaller changes",
    ),
    **dict.fromkeys(("precision", "digits"), "--format csv and --format json have all digits"),
    **dict.fromkeys(("timeline", "trace", "chrome"), "https://ui.perfetto.dev draws a trace"),
    **dict.fromkeys(("cuda", "use_cuda", "cpu", "use_cpu"), "device times are always shown"),
    **dict.fromkeys(("delimiter", "separator", "sep"), "--format csv separates by commas"),
    **dict.fromkeys(("exporttimes", "exportprofile", "dumpprofile"), _RECORDER),
    **dict.fromkeys(("report_type", "pc", "nireq", "niter", "enable_profiling"), _RECORDER),
    **dict.fromkeys(("with_stack", "record_shapes", "profile_memory", "activities"), _RECORDER),
}
"""Options of other tools that this tool lacks, each with advice."""

SUBCOMMANDS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("analyze", "analyse", "show", "report", "run", "stats", "view"), ""),
    "summary": "--print-only summary",
    "top": "-t 5",
    "roofline": "--peaks a100-80gb-sxm",
    "explain": "--explain time",
}
"""Subcommands of other tools, each with this tool's option; empty if no option is needed."""

CHOICE_WORDS: Final[Mapping[str, str]] = {
    "md": "markdown",
    **dict.fromkeys(("ndjson", "jsonlines"), "jsonl"),
    **dict.fromkeys(("folded", "flamegraph", "speedscope", "stacks"), "collapsed"),
    **dict.fromkeys(("excel", "xlsx"), "csv"),
    **dict.fromkeys(("text", "txt", "simple"), "plain"),
    **dict.fromkeys(("run", "runs", "step", "steps"), "iteration"),
    **dict.fromkeys(("op", "layer"), "operator"),
    **dict.fromkeys(("layers", "scope"), "module"),
    "gpu": "kernel",
    **dict.fromkeys(("verdict", "totals"), "summary"),
    **dict.fromkeys(("tables", "rows"), "device"),
    **dict.fromkeys(("estimated", "computed"), "derived"),
    **dict.fromkeys(("average", "avg"), "mean"),
    "p50": "median",
    **dict.fromkeys(("yes", "on", "true"), "always"),
    **dict.fromkeys(("no", "off", "false", "none"), "never"),
}
"""Words for the choices of all options. A choice is suggested only for options that have it."""

AGGREGATE_WORDS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("average", "avg"), "mean"),
    **dict.fromkeys(("stddev", "stdev"), "std"),
    "total": "sum",
    **dict.fromkeys(("n", "len"), "count"),
    "maximum": "max",
    "minimum": "min",
}

METRIC_WORDS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("total_time", "sum"), "total"),
    **dict.fromkeys(("latency", "run_time", "runtime", "elapsed", "wall_time"), "wall"),
    **dict.fromkeys(("duration", "dur"), "time"),
    **dict.fromkeys(("gpu_time", "cuda_time"), "device_time"),
    "cpu_time": "host_time",
    "flop": "computation",
}

OPERATOR_WORDS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("=", "===", "is", "equals"), "=="),
    **dict.fromkeys(("<>", "=!", "is_not", "\N{NOT EQUAL TO}"), "!="),
    **dict.fromkeys(("=<", "\N{LESS-THAN OR EQUAL TO}"), "<="),
    **dict.fromkeys(("=>", "\N{GREATER-THAN OR EQUAL TO}"), ">="),
    **dict.fromkeys(("=~", "~=", "like", "contains", "matches", "in"), "~"),
    **dict.fromkeys(("startswith", "endswith"), "~"),
    **dict.fromkeys(("not_like", "not_in"), "!~"),
}
"""Words and signs that other languages use for the operators of conditions."""

DTYPE_WORDS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("half", "float16", "f16"), "fp16"),
    **dict.fromkeys(("float", "float32", "f32"), "fp32"),
    **dict.fromkeys(("double", "float64", "f64"), "fp64"),
    "bfloat16": "bf16",
}

UNIT_WORDS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("sec", "second", "seconds"), "s"),
    **dict.fromkeys(("msec", "millis", "millisecond", "milliseconds"), "ms"),
    **dict.fromkeys(("usec", "micros", "microsecond", "microseconds"), "us"),
    **dict.fromkeys(("nsec", "nanosecond", "nanoseconds"), "ns"),
    **dict.fromkeys(("minute", "minutes"), "min"),
    **dict.fromkeys(("hour", "hours"), "h"),
    **dict.fromkeys(("percent", "pct"), "%"),
}

COLUMN_WORDS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("elapsed", "runtime", "total", "slowest", "tottime", "percall"), "time"),
    **dict.fromkeys(("cpu_time", "cputime"), "host_time"),
    "self_time": "self",
    **dict.fromkeys(("operator", "op", "op_name", "layer", "node", "operator_info"), "name"),
    **dict.fromkeys(("kind", "op_type", "node_type", "layertype", "exectype", "class"), "type"),
    **dict.fromkeys(("module", "region", "path", "stack", "module_path"), "scope"),
    **dict.fromkeys(("fraction", "%", "percent", "percentage", "pct"), "share"),
    **dict.fromkeys(("num", "occurrences"), "count"),
    **dict.fromkeys(
        ("invocations", "instances", "ncalls", "#_of_calls", "num_calls", "times_called"), "calls"
    ),
    **dict.fromkeys(("ops", "work", "gflop", "total_mflops", "total_flops"), "computation"),
    **dict.fromkeys(("gflops", "tflops", "mflops", "performance", "speed"), "flops"),
    **dict.fromkeys(
        ("bytes", "mem", "size", "traffic", "footprint", "dram_bytes", "bytes_read"), "memory"
    ),
    **dict.fromkeys(("throughput", "gb/s"), "bandwidth"),
    **dict.fromkeys(("arithmetic_intensity", "ai"), "intensity"),
    **dict.fromkeys(("shape", "shapes", "input_shape", "input_shapes"), "in_shapes"),
    **dict.fromkeys(("output_shape", "output_shapes"), "out_shapes"),
    **dict.fromkeys(("strides", "layout"), "in_strides"),
    **dict.fromkeys(("dtype", "dtypes", "data_type"), "input_dtype"),
    **dict.fromkeys(("precision", "runtimeprecision"), "compute_dtype"),
    **dict.fromkeys(("param", "attributes", "attrs", "args"), "parameters"),
    **dict.fromkeys(("weights", "num_params"), "params"),
    **dict.fromkeys(("thread", "tid"), "track"),
    "gpu": "device",
    **dict.fromkeys(("iteration", "iter"), "run"),
    **dict.fromkeys(("index", "opr_id"), "id"),
    **dict.fromkeys(("std", "stddev", "std_dev", "variance", "noise", "cv"), "spread"),
    **dict.fromkeys(("min", "fastest", "min_time", "min_latency"), "time_min"),
    **dict.fromkeys(("max", "max_time", "max_latency"), "time_max"),
    **dict.fromkeys(("baseline", "before", "old", "base_time"), "base"),
    **dict.fromkeys(("diff", "delta", "regression", "slowdown"), "difference"),
    "speedup": "ratio",
    **dict.fromkeys(("p", "pvalue", "significance"), "p_value"),
    **dict.fromkeys(("utilization", "mfu", "percent_of_peak"), "efficiency"),
    **dict.fromkeys(("bottleneck", "limit"), "bound"),
    **dict.fromkeys(("cumulative", "cumtime"), "cumulative_time"),
    **dict.fromkeys(("cdf", "cdf%"), "cumulative_share"),
}

_DEVICE: Final = "(cuda|gpu|xpu|device)"
_STATISTIC: Final = "(avg|average|mean|med|median|total)"
_UNIT: Final = "(n|u|m)?s(ec|econds?)?"
_FAMILIES: Final = (
    (rf"((self_)?(cpu|{_DEVICE})_)?((time|total)_)?(%|percent|pct)", "share"),
    (rf"self_{_DEVICE}(_time)?(_{_STATISTIC})?", "time"),
    (rf"({_DEVICE}|kernel)_time(_{_STATISTIC})?|{_DEVICE}_{_STATISTIC}", "device_time"),
    (rf"self_cpu(_time)?(_{_STATISTIC})?", "self"),
    (rf"cpu_(time_)?{_STATISTIC}", "host_time"),
    (
        rf"({_STATISTIC}|exec|real)?_?(time|latency|duration|dur)?_?({_UNIT}|{_STATISTIC})?",
        "time",
    ),
)
"""Patterns of words, each with the name of a column. The first pattern that matches a whole word is
used."""

_ABSENT: Final = (
    (
        r"(start|end)(_?time(stamp)?)?|ts|timestamp",
        "--inspect NAME shows when an operator ran; --from and --to select a part of the profile",
    ),
    (r"wall(_?clock)?(_?time)?", "the summary has the wall time of a run"),
    (r"(time_)?p\d\d?", "groups have percentiles: --aggregate-by type --columns type,time.p90"),
    (r"(fps|qps|inferences_per_second)", "the summary has rates, if the profile has them"),
)
"""Patterns of words for which there is no column, each with advice."""


def meant_column(text: str) -> str:
    """Return this tool's name for a column that another tool calls `text`; empty if unknown.

    A unit in brackets may follow the word, as in `Total Time (ns)`.
    """
    if len(text) > LONGEST_ADVISED:
        return ""
    word = plain_name(re.sub(r"[\s_]*[(\[](.*?)[)\]]", r"_\1", text))
    without_unit = re.sub(rf"_({_UNIT}|[kmg]i?b)$", "", word)
    for one in filter(None, (word, without_unit)):
        if one in COLUMN_WORDS:
            return COLUMN_WORDS[one]
        for pattern, column in _FAMILIES:
            if re.fullmatch(pattern, one):
                return column
    return ""


def advice_on_absent_column(text: str) -> str:
    """Return advice on a word for which no column exists, such as `start`; otherwise empty."""
    word = plain_name(text)
    is_short = len(word) <= LONGEST_ADVISED
    fitting = (advice for pattern, advice in _ABSENT if is_short and re.fullmatch(pattern, word))
    return next(fitting, "")

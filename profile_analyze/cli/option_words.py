"""Maps words for options, such as those of other tools, to options of this tool or to advice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from profile_analyze.query.catalog import group_keys

if TYPE_CHECKING:
    from collections.abc import Mapping

# The words are in lower case, with _ for a blank or a hyphen.

OPTION_WORDS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("sort", "sort_by", "sortby", "orderby", "order", "s", "metric"), "--order-by"),
    **dict.fromkeys(("reverse", "ascending", "asc", "r", "fastest"), "--order-by +time"),
    **dict.fromkeys(("descending", "desc"), "--order-by time"),
    **dict.fromkeys(("group", "group_by", "groupby", "by", "g"), "--aggregate-by"),
    **dict.fromkeys(("agg", "func"), "--aggregate"),
    **dict.fromkeys(("n", "limit", "top_k", "topk", "head", "rows", "num", "row_limit"), "-t"),
    **dict.fromkeys(("max_rows", "max_number", "count", "k", "l", "slow", "slowest"), "-t"),
    "longest": "-t",
    **dict.fromkeys(("all", "a", "no_limit"), "-t 0"),
    **dict.fromkeys(("filter", "query", "condition", "if"), "--where"),
    **dict.fromkeys(("name", "regex", "pattern", "grep", "include", "e"), "--opr-name"),
    **dict.fromkeys(("op", "op_type", "kind", "opr_type"), "--type"),
    "dtype": "--input-dtype",
    **dict.fromkeys(("onnx", "layer_info"), "--model"),
    **dict.fromkeys(("column", "fields", "select", "show", "metrics"), "--columns"),
    **dict.fromkeys(("list_columns", "help_columns"), "--columns help"),
    **dict.fromkeys(("wide", "all_columns"), "--columns all"),
    **dict.fromkeys(("threads", "num_threads"), "--peaks here:{1}"),
    **{name: f"--format {name}" for name in ("json", "jsonl", "csv", "markdown", "junit")},
    **dict.fromkeys(("collapsed", "folded", "flamegraph", "stacks"), "--format collapsed"),
    **dict.fromkeys(("output_format", "out_format", "fmt", "f"), "--format"),
    "md": "--format markdown",
    "text": "--format plain",
    "github": "--format github",
    **dict.fromkeys(("out", "save", "save_as", "outfile", "output_file"), "-o"),
    **dict.fromkeys(("overwrite", "y", "yes"), "--force"),
    **dict.fromkeys(("base", "baseline", "diff", "reference", "ref", "against"), "--compare"),
    **dict.fromkeys(("vs", "before", "old"), "--compare"),
    **dict.fromkeys(("tolerance", "epsilon"), "--threshold"),
    **dict.fromkeys(("fail_on", "assert", "gate", "fail"), "--fail-if"),
    **dict.fromkeys(("ci", "exit_code", "exit_status", "error_exitcode"), "--fail-if"),
    "strict": "--fail-uncertain not-ruled-out",
    **dict.fromkeys(("only_changed", "changed", "changes"), "--where 'verdict !~ same|uncertain'"),
    **dict.fromkeys(
        ("fail_on_regression", "max_regression", "fail_if_slower", "fail_slower", "fail_above"),
        "--fail-if 'total > +{5%}'",
    ),
    **dict.fromkeys(("warmup", "warm_up", "skip", "skip_first", "skip_warmup"), "--skip-runs"),
    **dict.fromkeys(("stat", "statistic", "run_statistic", "run_statistics"), "--run-stat"),
    **{unit: f"--time-unit {unit}" for unit in ("ms", "us", "ns")},
    **dict.fromkeys(
        ("exclude", "ignore"),
        "--where 'type != {TYPE}' for a type, or --where 'name !~ {PATTERN}' for names",
    ),
    **dict.fromkeys(("run", "iteration"), "--where 'run == {NUMBER}'"),
    **{name: f"--aggregate {name}" for name in ("mean", "median", "std", "sum")},
    **dict.fromkeys(("percentile", "percentiles"), "--aggregate p{90}"),
    **dict.fromkeys(
        ("batch", "batch_size", "batchsize", "bs"),
        "--dim SYMBOL={8} with a symbol of the model (--dim {8} lists its symbols)",
    ),
    **dict.fromkeys(("shape", "shapes", "input_shapes", "input_size"), "--input-shape"),
    **dict.fromkeys(("gpu", "hardware", "roofline", "peak", "roof", "roofs"), "--peaks"),
    **dict.fromkeys(("gpu_type", "gpu_model", "gpu_name", "device_type"), "--peaks"),
    "device": "--peaks SPEC for peak rates, or --where 'device == {NAME}' for its operators",
    "flops": (
        "--columns name,time,flops for the column, or --peaks {FLOPS}:BANDWIDTH for peak rates"
    ),
    "bandwidth": (
        "--columns name,time,bandwidth for the column, or --peaks FLOPS:{BANDWIDTH} for peak rates"
    ),
    **dict.fromkeys(("list_devices", "devices"), "--peaks list"),
    **dict.fromkeys(("kernel", "kernels"), "--level kernel"),
    **dict.fromkeys(("module", "modules"), "--level module"),
    **dict.fromkeys(("layer", "layers"), "--level operator or --level module"),
    "host": "--show-host",
    **dict.fromkeys(("only", "kernel_regex", "kernel_name"), "--where 'name ~ {PATTERN}'"),
    **dict.fromkeys(
        ("group_by_input_shape", "group_by_input_shapes"), "--aggregate-by type,in_shapes"
    ),
    "key_averages": "--aggregate-by name",
    **dict.fromkeys(
        ("group_by_stack_n", "group_by_stack", "group_by_module"), "--aggregate-by scope"
    ),
    "top_level_events_only": "--level top",
    **dict.fromkeys(("units", "time_units"), "--time-unit"),
    **dict.fromkeys(("verdict", "verdicts"), "--where 'verdict == {slower}'"),
    **dict.fromkeys(("summary", "summary_only", "total", "totals"), "--print-only summary"),
    **dict.fromkeys(("stack", "collapse", "speedscope"), "--format collapsed"),
    **dict.fromkeys(("inclusive", "total_time"), "--level top"),
    **dict.fromkeys(("exclusive", "self_time"), "--level operator"),
    **dict.fromkeys(("percent", "percentage", "percentages"), "--columns name,time,share"),
    **dict.fromkeys(("chart", "graph", "picture", "svg", "png", "pdf"), "--plot"),
    **dict.fromkeys(("no_color", "no_colour", "nocolor", "nocolour"), "--color never"),
    "monochrome": "--color never",
    "colour": "--color",
    **dict.fromkeys(("completion", "completions"), "--print-completion"),
    **dict.fromkeys(("meaning", "describe", "info"), "--explain"),
    **dict.fromkeys(("verbose", "debug"), "--notes all"),
    **dict.fromkeys(("quiet", "q", "silent"), "--notes none"),
    "v": "--version",
    "?": "--help",
}
"""Each entry maps a word to an option, or to a text that begins with an option.

A message completes the option with the value that the user gave, or with an example: it suggests
`-t 5` for `--limit 5`. In a text, the user's value replaces the word in braces.
"""

_CONDITION: Final = "--fail-if 'total > +5%'"
_BY: Final = "(?:group_by|groupby|by|per)"
_KEY: Final = f"(?:{'|'.join(group_keys())})"
SIZES_OF_A_PROFILE: Final = (
    "a profile has the sizes that its model ran with; --columns name,time,in_shapes shows them; "
    "--dim and --input-shape are only for an ONNX model"
)
"""Advice on an option that sets the sizes of inputs, if no file is a model."""
OPTION_WORDS_OF_VALUE: Final = (
    (r"only (slower|faster|within noise|added|removed)", r"--where 'verdict == \1'"),
    (
        r"(?:fail\w*|gate|assert|max_regression) \+?(\d+(?:\.\d*)?)%?",
        r"--fail-if 'total > +\1%'",
    ),
    (r"(?:fail|fail_on|gate|assert) (?:uncert\w*|noise)", f"{_CONDITION} --fail-uncertain yes"),
    (r"(?:fail|fail_on|gate|assert|ci|exit_code|exit_status|error_exitcode) [^<>]*", _CONDITION),
    (r"(?:filter|query|condition|if) ([\w.]+)", r"--where 'name ~ \1'"),
    (r"top_?(\d+) .*", r"-t \1"),
    (r"report cuda_gpu_kern\w*", "--level kernel --aggregate-by name"),
    (rf"{_BY}_({_KEY}) .*", r"--aggregate-by \1"),
    (rf"(?:agg|func) ({_KEY}(?:,{_KEY})*)", r"--aggregate-by \1"),
    (rf"{_BY}_modules? .*|{_BY} modules?", "--aggregate-by scope"),
    (
        rf"{_BY}_layers? .*|{_BY} layers?",
        "--aggregate-by scope, or --aggregate-by 'name~PATTERN' if names contain the layers",
    ),
    (rf"{_BY}_(input_)?shapes? .*", "--aggregate-by type,in_shapes"),
    (
        r"(?:export|to|as|write|save|dump|print)_(json|jsonl|csv|markdown|junit|parquet) .*",
        r"--format \1",
    ),
    (r"(only|just|show)_(summary|totals?) .*", "--print-only summary"),
    (r"(no|hide|disable)_(notes?|warnings?) .*", "--notes none"),
    (r"(no|hide|without)_(host|cpu) .*", "--print-only device"),
    (
        r"(?:\w*graph|layers?|\w*layer_?info) ([\w./:-]+\.(?:json|xml|onnx)(?:\.gz|\.zst)?)",
        r"--model \1",
    ),
)
"""Each entry has a pattern, and what to write instead of a text that matches. Such a text has a
word, a blank and the value after the word, which may be empty. These entries take precedence over
the other tables of options."""

_FIXED_CONFIDENCE: Final = (
    "verdicts need a p-value of at most 0.05, and all confidence intervals are 95% intervals; "
    "--threshold sets the smallest change that counts, such as --threshold 5%"
)
_OPTIONS_OF_RECORDERS: Final = {
    "trtexec": (
        *("exportprofile", "exporttimes", "exportlayerinfo", "exportoutput", "loadengine"),
        *("saveengine", "loadinputs", "dumplayerinfo", "dumpoutput", "separateprofilerun"),
        *("profilingverbosity", "minshapes", "optshapes", "maxshapes", "usecudagraph"),
        *("nodatatransfers", "usespinwait", "infstreams", "timingcachefile", "mempoolsize"),
        *("builderoptimizationlevel", "layerprecisions", "precisionconstraints", "notf32"),
        *("usedlacore", "allowgpufallback", "skipinference", "buildonly", "stronglytyped"),
        *("staticplugins", "fp16", "int8", "iterations", "duration"),
    ),
    "benchmark_app": (
        *("pc", "pcsort", "report_type", "report_folder", "exec_graph_path", "json_stats"),
        *("nireq", "niter", "nstreams", "nthreads", "infer_precision", "data_shape"),
        *("latency_percentile", "load_config", "dump_config"),
    ),
    "ONNX Runtime": (
        *("enable_profiling", "profile_file_prefix", "profile_file", "execution_mode"),
        *("intra_op_num_threads", "inter_op_num_threads", "graph_optimization_level"),
        *("optimized_model_filepath", "execution_provider", "execution_providers"),
    ),
    "torch.profiler": ("acc_events", "experimental_config", "execution_trace_observer"),
}
"""Options of the tools that record profiles, which people add to the call of this tool."""
CHOOSING_A_VIEW: Final = ("view", "views", "display")
"""Options that choose a view in other tools. The advice depends on the view, such as `kernels`."""
ABSENT_OPTIONS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("alpha", "confidence", "confidence_level", "significance"), _FIXED_CONFIDENCE),
    "html": "write --format markdown or --format wiki for a page, --plot run.svg for a picture",
    **dict.fromkeys(
        ("precision", "digits", "decimals", "round"),
        "--format csv and --format json have all digits; --time-unit us has more for short times",
    ),
    **dict.fromkeys(
        ("plot_type", "plot_kind", "chart_type"),
        "--plot draws the roofline of a profile with --peaks, and bars otherwise",
    ),
    **dict.fromkeys(
        ("title", "dpi", "figsize"),
        "--plot sets title and size itself; the texts and the size of an .svg can be edited",
    ),
    **dict.fromkeys(
        ("min_runs", "min_samples", "min_iterations"),
        "a verdict needs four runs or more on each side, and this number is fixed",
    ),
    "tree": (
        "--aggregate-by scope/2 groups by the outer modules; --format collapsed writes the stacks"
    ),
    **dict.fromkeys(
        ("timeline", "gantt", "trace", "chrome", "chrome_trace", "perfetto"),
        "the tool draws no timeline; https://ui.perfetto.dev shows a trace as a timeline, and "
        "--format collapsed writes stacks",
    ),
    **dict.fromkeys(
        ("stats", "statistics", "describe_times", "histogram"),
        "--columns name,time,spread,time_min,time_max shows how much times vary",
    ),
    **dict.fromkeys(("stdio", "tui"), "leave it out: the answer is text on standard output"),
    **dict.fromkeys(
        ("width", "max_width", "max_name_column_width", "max_src_column_width"),
        "tables fit the terminal; COLUMNS=80 before the command sets the width; --format csv has "
        "whole names",
    ),
    "no_header": "--format jsonl has no header; tail -n +2 removes the header of --format csv",
    **dict.fromkeys(
        ("delimiter", "separator", "sep"),
        "--format csv separates by commas, --format jsonl has a JSON object in each line",
    ),
    **dict.fromkeys(
        ("idle", "exclude_idle", "show_idle"),
        "rows are operators, so no row is idle time; the summary has the time of a run outside of "
        "all operators, if the profile has it",
    ),
    "report": "there are no named reports; --aggregate-by, --level and --columns choose the rows",
    **dict.fromkeys(
        ("avgruns", "avg_runs"),
        "a time is the median of all runs in the profile; --run-stat mean takes their mean, "
        "--skip-runs 1 leaves out the first",
    ),
    **dict.fromkeys(
        ("export_chrome_trace", "export_stacks", "export_memory_timeline"),
        "it is a method of torch.profiler that writes a trace; name the trace without an option, "
        "and write the answer with -o report.json or -o report.csv",
    ),
    **dict.fromkeys(
        (
            *("record_shapes", "with_stack", "with_modules", "with_flops", "profile_memory"),
            *("activities", "schedule", "on_trace_ready", "trace_handler"),
            "tensorboard_trace_handler",
        ),
        "it belongs to torch.profiler, which records the trace; name the file of the trace "
        "without an option",
    ),
    **dict.fromkeys(
        ("cpu", "cpu_only", "use_cpu"),
        "--show-host adds the times of the CPU that launches work; if the work itself ran on a "
        "CPU, its times are device times, which are always shown",
    ),
    **dict.fromkeys(
        ("cuda", "use_cuda", "cuda_only"),
        "device times are always shown; --level kernel shows the kernels of a GPU",
    ),
    **dict.fromkeys(
        CHOOSING_A_VIEW,
        "--aggregate-by and --level choose what a row is, --columns what it shows; --plot draws a "
        "picture",
    ),
    "dumpprofile": "leave it out: the profile is always shown",
    **{
        option: f"it is an option of {tool}, which records the profile; name its file without an "
        "option"
        for tool, options in _OPTIONS_OF_RECORDERS.items()
        for option in options
    },
}
"""Options of other tools for settings that this tool lacks, each with the advice to print."""


def absent_option(word: str) -> str:
    """Return the advice on an option that this tool lacks; empty for other words.

    The words of an option may be separated or not: `--export-profile` is `--exportProfile`.
    """
    joined = {name.replace("_", ""): advice for name, advice in ABSENT_OPTIONS.items()}
    return ABSENT_OPTIONS.get(word) or joined.get(word.replace("_", ""), "")

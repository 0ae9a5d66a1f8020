"""Suggests names in place of a wrong name: similar names, or our names for other tools' words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

# Each table maps the words of other tools (SQL, pandas, profilers, Unix commands) to the names of
# this tool. The words are in lower case, with _ for a blank or a hyphen. `column_words.py`
# has the words for columns.

OPTION_WORDS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("sort", "sort_by", "orderby", "order", "s", "metric"), "--order-by"),
    **dict.fromkeys(("reverse", "ascending", "asc", "r", "fastest"), "--order-by +time"),
    **dict.fromkeys(("descending", "desc"), "--order-by time"),
    **dict.fromkeys(("group", "group_by", "groupby", "by", "g"), "--aggregate-by"),
    **dict.fromkeys(("agg", "func"), "--aggregate"),
    **dict.fromkeys(("n", "limit", "top_k", "topk", "head", "rows", "num", "row_limit"), "-t"),
    **dict.fromkeys(("max_rows", "max_number", "count", "k", "l", "slowest", "longest"), "-t"),
    **dict.fromkeys(("all", "a", "no_limit"), "-t 0"),
    **dict.fromkeys(("filter", "query", "condition", "if"), "--where"),
    **dict.fromkeys(("name", "regex", "pattern", "grep", "include", "e"), "--opr-name"),
    **dict.fromkeys(("op", "op_type", "kind", "opr_type"), "--type"),
    "dtype": "--input-dtype",
    **dict.fromkeys(("column", "fields", "select", "show"), "--columns"),
    **dict.fromkeys(("list_columns", "help_columns"), "--columns help"),
    **dict.fromkeys(("wide", "all_columns"), "--columns all"),
    **dict.fromkeys(("threads", "num_threads"), "--peaks here:{1}"),
    **{name: f"--format {name}" for name in ("json", "jsonl", "csv", "markdown", "junit")},
    **dict.fromkeys(("collapsed", "folded", "flamegraph", "stacks"), "--format collapsed"),
    **dict.fromkeys(("output_format", "out_format", "fmt", "f"), "--format"),
    "md": "--format markdown",
    "text": "--format plain",
    "github": "--format github",
    **dict.fromkeys(("out", "save", "outfile", "output_file"), "-o"),
    **dict.fromkeys(("overwrite", "y", "yes"), "--force"),
    **dict.fromkeys(("base", "baseline", "diff", "reference", "ref", "against"), "--compare"),
    **dict.fromkeys(("vs", "before", "old"), "--compare"),
    **dict.fromkeys(("tolerance", "epsilon"), "--threshold"),
    **dict.fromkeys(("fail_on", "assert", "gate", "fail"), "--fail-if"),
    **dict.fromkeys(
        ("fail_on_regression", "max_regression", "fail_if_slower", "fail_slower", "fail_above"),
        "--fail-if 'total > +{5%}'",
    ),
    **dict.fromkeys(("warmup", "warm_up", "skip", "skip_first", "skip_warmup"), "--skip-runs"),
    **dict.fromkeys(("stat", "statistic"), "--run-stat"),
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
        "--dim SYMBOL={8}, with a symbol of the model, which --dim {8} names",
    ),
    **dict.fromkeys(("shape", "shapes", "input_shapes", "input_size"), "--input-shape"),
    **dict.fromkeys(("gpu", "hardware", "roofline", "peak", "roof", "roofs"), "--peaks"),
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
    **dict.fromkeys(("summary", "summary_only"), "--print-only summary"),
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

OPTION_WORDS_OF_VALUE: Final = (
    (r"only (slower|faster|within noise|added|removed)", r"--where 'verdict == \1'"),
    (
        r"(?:fail\w*|gate|assert|max_regression) \+?(\d+(?:\.\d*)?)%?",
        r"--fail-if 'total > +\1%'",
    ),
    (r"(?:filter|query|condition|if) ([\w.]+)", r"--where 'name ~ \1'"),
    (r"top_?(\d+) .*", r"-t \1"),
    (r"report cuda_gpu_kern\w*", "--level kernel --aggregate-by name"),
)
"""Each entry has a pattern, and what to write instead of a text that matches. Such a text has a
word, a blank and the value after the word, which may be empty. These entries take precedence over
the other tables of options."""

_NO_OTHER_LEVEL: Final = (
    "verdicts need a p-value of at most 0.05, and all confidence intervals are 95% intervals; "
    "--threshold sets the smallest change that counts, such as --threshold 5%"
)
ABSENT_OPTIONS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("alpha", "confidence", "confidence_level", "significance"), _NO_OTHER_LEVEL),
    "html": "write --format markdown or --format wiki for a page, --plot run.svg for a picture",
    **dict.fromkeys(
        ("precision", "digits", "decimals", "round"),
        "--format csv and --format json have all digits; --time-unit us has more for short times",
    ),
    **dict.fromkeys(
        ("plot_type", "plot_kind", "chart_type"),
        "--plot draws the roofline with --peaks, and the longest times as bars without",
    ),
    **dict.fromkeys(
        ("title", "dpi", "figsize"),
        "--plot sets title and size itself; the texts and the size of an .svg can be edited",
    ),
    "flamegraph": (
        "--plot times.svg draws the longest times as bars; --aggregate-by scope adds up modules"
    ),
    "tree": (
        "--aggregate-by scope/2 groups by the outer modules; --format collapsed writes the stacks"
    ),
    **dict.fromkeys(
        ("timeline", "gantt", "trace"),
        "the tool draws no timeline; https://ui.perfetto.dev shows one of a trace, --format "
        "collapsed writes stacks",
    ),
    **dict.fromkeys(
        ("stats", "statistics", "describe_times", "histogram"),
        "--columns name,time,spread,time_min,time_max shows how much times vary",
    ),
    **dict.fromkeys(("stdio", "tui"), "leave it out: the answer is text on standard output"),
    **dict.fromkeys(
        ("width", "max_width", "max_name_column_width", "max_src_column_width"),
        "tables fit the terminal, whose width COLUMNS=80 before the command sets; --format csv "
        "has whole names",
    ),
    "no_header": "--format jsonl has no header; of --format csv, tail -n +2 leaves it out",
    **dict.fromkeys(
        ("delimiter", "separator", "sep"),
        "--format csv separates by commas, --format jsonl has a JSON object in each line",
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
            *("activities", "schedule", "on_trace_ready"),
        ),
        "it is an argument of torch.profiler.profile, which records the trace; name its file "
        "without an option",
    ),
    "dumpprofile": "leave it out: the profile is always shown",
    **dict.fromkeys(
        ("exportprofile", "exporttimes"),
        "it is an option of trtexec, which records the profile; name its file without an option",
    ),
}
"""Options of other tools for settings that this tool lacks, each with the advice to print."""

CHOICE_WORDS: Final[Mapping[str, str]] = {
    "md": "markdown",
    "ndjson": "jsonl",
    "jsonlines": "jsonl",
    "xml": "junit",
    **dict.fromkeys(("folded", "flamegraph", "flame", "speedscope", "stacks"), "collapsed"),
    **dict.fromkeys(("excel", "xlsx", "spreadsheet"), "csv"),
    **dict.fromkeys(
        ("run", "runs", "step", "steps"),
        "process (one value for each process) or iteration (one value for each run, which reports "
        "slower and faster too often)",
    ),
    **dict.fromkeys(("text", "txt", "simple"), "plain"),
    **dict.fromkeys(("box", "boxes", "grid"), "table"),
    **dict.fromkeys(("jira", "confluence"), "wiki"),
    **dict.fromkeys(("layer", "layers", "op", "ops"), "operator"),
    "gpu": "kernel",
    **dict.fromkeys(("verdict", "verdicts", "totals", "total"), "summary"),
    **dict.fromkeys(("tables", "table", "rows", "operators"), "device"),
    "shape": "shapes",
    **dict.fromkeys(("estimated", "computed", "theoretical"), "derived"),
    **dict.fromkeys(("reported", "actual", "runtime"), "measured"),
    **dict.fromkeys(("average", "avg"), "mean"),
    **dict.fromkeys(("yes", "on", "true"), "always"),
    **dict.fromkeys(("no", "off", "false", "none"), "never"),
    # choices of --fail-uncertain
    **dict.fromkeys(("always", "strict"), "not-ruled-out"),
    "never": "no",
}

KEY_WORDS: Final[Mapping[str, str]] = dict.fromkeys(
    ("layer", "layers", "block", "blocks", "stage", "stages"),
    "layers are parts of names: write 'name~PATTERN', such as 'name~layer\\d+', or scope if the "
    "profile has modules",
)
"""Words that are never group keys, each with the advice on what to write instead."""

AGGREGATE_WORDS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("average", "avg"), "mean"),
    **dict.fromkeys(("stddev", "stdev", "sd", "deviation"), "std"),
    **dict.fromkeys(("total", "add"), "sum"),
    **dict.fromkeys(("n", "size", "len"), "count"),
    "maximum": "max",
    "minimum": "min",
    **dict.fromkeys(("q50", "50%"), "median"),
}

METRIC_WORDS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("total_time", "sum", "all"), "total"),
    **dict.fromkeys(("duration", "latency", "dur"), "time"),
    **dict.fromkeys(("gpu_time", "cuda_time"), "device_time"),
    "cpu_time": "host_time",
    **dict.fromkeys(("flo", "flop"), "computation"),
}

OPERATOR_WORDS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("=", "===", "is", "eq", "equals"), "=="),
    **dict.fromkeys(("<>", "!", "=!", "ne", "not", "\N{NOT EQUAL TO}"), "!="),
    **dict.fromkeys(("=<", "le", "\N{LESS-THAN OR EQUAL TO}"), "<="),
    **dict.fromkeys(("=>", "ge", "\N{GREATER-THAN OR EQUAL TO}"), ">="),
    **dict.fromkeys(
        ("=~", "~=", "~~", "like", "contains", "startswith", "endswith", "matches", "in", "has"),
        "~",
    ),
    **dict.fromkeys(("<<", "lt", "below", "under"), "<"),
    **dict.fromkeys((">>", "gt", "above", "over"), ">"),
}
"""Words and signs that other languages use for the operators of conditions."""

UNIT_WORDS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("sec", "secs", "second", "seconds"), "s"),
    **dict.fromkeys(("msec", "msecs", "millis", "millisecond", "milliseconds"), "ms"),
    **dict.fromkeys(("usec", "usecs", "micros", "microsecond", "microseconds"), "us"),
    **dict.fromkeys(("nsec", "nsecs", "nanosecond", "nanoseconds"), "ns"),
    **dict.fromkeys(("mins", "minute", "minutes"), "min"),
    **dict.fromkeys(("hr", "hrs", "hour", "hours"), "h"),
    **dict.fromkeys(("percent", "pct"), "%"),
}


MOST_SIMILAR_TEXTS: Final = 3
"""The largest number of texts that a message lists. If more texts contain the wrong text, the
message suggests a pattern instead."""

LONGEST_ADVISED: Final = 200
"""A wrong text with more characters gets no suggestion. Nobody types a name that long, and the
search for similar names could be slow."""


def similar_names(
    name: str, known: Iterable[str], *, limit: int = 3, cutoff: float = 0.6
) -> list[str]:
    """Return up to `limit` known names with a similar spelling, the closest first."""
    # Imported here because it takes milliseconds and only a misspelt name needs it.
    from difflib import get_close_matches

    return get_close_matches(name, known, n=limit, cutoff=cutoff)


def similar_texts(text: str, known: Iterable[str]) -> list[str]:
    """Return up to `MOST_SIMILAR_TEXTS` known texts that contain `text`, ignoring case.

    If no known text contains `text`, return known texts with a similar spelling.
    """
    texts = list(known)
    containing = [one for one in texts if text.lower() in one.lower()] if text else []
    return containing[:MOST_SIMILAR_TEXTS] or similar_names(text, texts)


def likely_names(
    name: str, known: Collection[str], words: Mapping[str, str], *, cutoff: float = 0.6
) -> list[str]:
    """Return the names that `name` may stand for, the likeliest first; empty if no name fits.

    The first rule that finds a name decides:

    1. a known name that differs from `name` only in case, hyphens or blanks
    2. the entry for `name` in `words`, a table of words of other tools. The entry may be a known
       name with a value, such as `--format json`.
    3. known names with a similar spelling
    4. known names that begin with `name`
    """
    if len(name) > LONGEST_ADVISED:
        return []
    plain_names = {plain_name(one): one for one in known}
    plain = plain_name(name)
    if plain in plain_names:
        return [plain_names[plain]]
    meant = words.get(plain, "")
    if meant.partition(" ")[0] in known:
        return [meant]
    near = similar_names(plain, plain_names, cutoff=cutoff)
    starting = [one for one in plain_names if plain and one.startswith(plain)]
    return [plain_names[one] for one in near or starting[:3]]


def suggestion(
    name: str, known: Collection[str], words: Mapping[str, str], *, cutoff: float = 0.6
) -> str:
    """Return `did you mean X?` for a wrong name; an empty text if no name is similar."""
    return did_you_mean(likely_names(name, known, words, cutoff=cutoff))


def did_you_mean(names: Sequence[str]) -> str:
    """Return `did you mean X, Y or Z?`; an empty text if `names` is empty."""
    *first, last = names or ("",)
    return f"did you mean {' or '.join(filter(None, (', '.join(first), last)))}?" if last else ""


def plain_name(name: str) -> str:
    """Return `name` in lower case, without leading hyphens, with _ for blanks and hyphens."""
    return name.strip().lower().lstrip("-").replace("-", "_").replace(" ", "_")

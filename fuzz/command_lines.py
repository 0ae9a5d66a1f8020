"""Random command lines: mostly options that make sense together, and sometimes wrong values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from fuzz.documents import HOSTILE_TEXTS
from profile_analyze.columns.catalog import (
    CATALOG,
    find_column,
    group_keys,
)
from profile_analyze.columns.kinds import RowKind
from profile_analyze.columns.model_columns import TILE_NAMES
from profile_analyze.model.terms import RUN_KEYS
from profile_analyze.report.formats.output_formats import OUTPUT_FORMATS, find_renderer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random

# A format that is listed several times is chosen more often.
_FORMATS: Final = (*OUTPUT_FORMATS, "table", "csv", "json", "json", "text")
_TEXT_OPTIONS: Final = (
    ("--help",),
    ("--version",),
    ("--columns", "help"),
    ("--peaks", "list"),
    ("--print-completion", "bash"),
    ("--print-completion", "zsh"),
    ("--print-completion", "fish"),
)
"""Options that print a text instead of a report."""

_TIMES: Final = ("0", "1us", "0.5ms", "20 us", "1e-3", "inf", "-1", "1h")
_WRONG_TIMES: Final = ("nan", "", "1 fortnight", "\u0661ms", "1e400", "0x1")
_USUAL: Final = 3 * ("time", "share", "flops", "memory")
"""Columns that are chosen more often."""
_OF_OPERATORS: Final = ("opr_id", "param.mode", "param.axis", "name~conv(.)", "track~([cg]pu)")
"""Columns of operators that no list of columns has. The user makes them up, except `opr_id`: it is
the original tool's name of `id`."""
_OF_GROUPS: Final = ("time.p90", "time.std", "memory.max", "calls.mean", "self.max")
_MADE_UP_KEYS: Final = (
    *("param.mode", "param.axis", "name~conv.", r"name~(\d)", "device~u.", "scope/1", "scope/02"),
)
_AGGREGATES: Final = ("sum", "mean", "max", "min", "median", "std", "count", "p90", "p0", "p12.5")
_CONDITIONS: Final = (
    *("time > 1us", "time >= 0", "share >= 5%", "flops < 2GFLOPS", "memory != 4", "wait > 1us"),
    *("memory > 1KiB", "computation >= 1", "intensity < 1e3", "spread < 5%", "runs >= 1"),
    *("calls == 1", "self > 1us", "queue >= 0s"),
)
_OPERATOR_CONDITIONS: Final = (
    *("id == 3", "type == Elemwise", "type != Copy", "name ~ conv", "type ~ (a+)+$"),
    *("param.mode == ADD", "param.axis > 0", "in_shapes == {}", "name !~ ^a", "device ~ 0"),
    *("category == elementwise", "category != copy", "track ~ cpu", "scope == a", "id == x"),
    *("stream != s", "rank == 0", "memory_source == measured", "in_strides == contiguous"),
    *("step == 1", "phase == forward"),
)
_WRONG_CONDITIONS: Final = (
    *("name !~ [", "time ~ 1", "file ~ json", "tme", "tme > 1", "time > 1 fortnight", "run == x"),
    *("verdict == slower", "efficiency < 50%", "count >= 1", "time > nan", "time", ""),
    *("id > x", "scope > a", "calls > 1ms", "phase < 2"),
)
_FAIL_IFS: Final = (
    *("total > 1us", "time > 1s", "time < 0s", "device_time > 2ms", "host_time > 1h", "wait > 0s"),
    *("name ~ a: time>1s", "type=Elemwise: time < 1ms"),
)
_BASELINE_FAIL_IFS: Final = (
    *("total > +5%", "time > -50%", "time > +2ms", "type=Elemwise: time > +3%", "wait < -1us"),
)
_WRONG_FAIL_IFS: Final = (
    *("total", "tme > 1s", "time >= 1s", "time > 1e400s", "time > infs", ": time > 1s"),
    "total > 5",
)
_PEAKS: Final = (
    *("19.5T:1555G", "1FLOPS:1B/s", "9e29:1B/s", "1FLOPS:9e29", "a100-80gb-sxm", "h100-sxm:fp16"),
)
_WRONG_PEAKS: Final = (
    *("1e300:1e-300", "", "0:1", "nan:1", "1e400:1", "xyz", "a:b:c", "no.toml", "run.json.toml"),
    *("19.5:1555", "a100-80gb-sxm:fp12", "auto", "auto:fp12"),
)
_RARE_CHOICES: Final = (
    (
        "--inspect",
        ("0", "3", "6@1", "a", "MatMul_1", "conv2.Convolution", "aten::mm", "model/relu"),
    ),
    ("--work", ("measured", "derived", "best")),
    ("--step-region", ("forward", "a", "ProfilerStep#3")),
    ("--input-shape", ("x:1x3x8x8", "input:2x3", "ids:1x16", "x:0", "x:")),
    ("--dim", ("batch=2", "sequence=0", "N=4", "batch=x")),
    ("--split-matmul", ("16,16,16", "1,1,1", "0,1,1", "16")),
)
"""Options that suit few inputs, each with its values."""
# The columns on tiles need --split-matmul, which needs a model. Few inputs are models.
_ANYTHING: Final = (
    *(column.name for column in CATALOG if column.name not in TILE_NAMES),
    *(*_OF_OPERATORS, *_OF_GROUPS, *_MADE_UP_KEYS),
)
"""Columns that are chosen at random, even where they make no sense."""


class CommandLine(NamedTuple):
    """The options of a call, in random order."""

    options: tuple[str, ...]
    output_format: str
    """The output format; `text` for help and other texts that are not reports."""
    encoding: str = "utf-8"
    """The encoding of standard output."""
    width: int | None = None
    """The width of the terminal; None if standard output is not a terminal."""
    colored: bool = False


class _Vocabulary(NamedTuple):
    """The words that make sense in one command line."""

    grouped: bool
    has_peaks: bool
    has_baseline: bool
    has_run_keys: bool
    """Whether the call may group by `RUN_KEYS`. A comparison rejects these keys."""
    has_tables: bool

    @property
    def kind(self) -> RowKind:
        """The kind of rows that the answer has."""
        return RowKind(("type",) if self.grouped else None, self.has_peaks, self.has_baseline)

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys that can group rows."""
        left_out = () if self.has_run_keys else RUN_KEYS
        return (
            *(name for name in group_keys() if self._has(name) and name not in left_out),
            *_MADE_UP_KEYS,
        )

    @property
    def orders(self) -> tuple[str, ...]:
        """The columns that can order rows."""
        made_up = _OF_GROUPS if self.grouped else _OF_OPERATORS
        names = (name for name in self.kind.orderable() if self._has(name))
        return (*names, *_USUAL, *made_up)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that tables can show."""
        return (*self.orders, *filter(self._has, self.kind.names()))

    def _has(self, name: str) -> bool:
        """Return whether the call has the options that the column needs."""
        column = find_column(name)
        return (
            name not in TILE_NAMES
            and (self.has_peaks or not column.needs_peaks)
            and (self.has_baseline or not column.needs_base)
        )

    @property
    def conditions(self) -> tuple[str, ...]:
        """The conditions that select operators."""
        return (*_CONDITIONS, *_OPERATOR_CONDITIONS, *(f"{key} ~ [a-f]" for key in self.keys))

    @property
    def fail_ifs(self) -> tuple[str, ...]:
        """The conditions of `--fail-if`."""
        return (*_FAIL_IFS, *(3 * _BASELINE_FAIL_IFS if self.has_baseline else ()))


def _appearance(random: Random) -> list[list[str]]:
    options = []
    if random.random() < 0.2:
        options.append(["--notes", random.choice(("few", "all", "none"))])
    if random.random() < 0.1:  # rare, because formats for programs reject this option
        options.append(["--time-unit", random.choice(("auto", "s", "ms", "us", "ns"))])
    return options


def command_line(random: Random, baselines: list[str]) -> CommandLine:
    """Return random options. `baselines` are the files to compare with; there may be none."""
    output_format = random.choice(_FORMATS)
    if output_format == "text":
        return CommandLine(random.choice(_TEXT_OPTIONS), output_format)
    vocabulary = _Vocabulary(
        grouped=random.random() < 0.5,
        has_peaks=random.random() < 0.25,
        has_baseline=bool(baselines),
        has_run_keys=not baselines and random.random() < 0.2,
        has_tables=find_renderer(output_format).has_tables,
    )
    options = [
        *_output(random, output_format),
        *_rows(random, vocabulary),
        *_view(random, vocabulary),
    ]
    if vocabulary.grouped:
        options += _groups(random, vocabulary)
    if output_format in ("junit", "github") or random.random() < 0.15:
        options += _fail_ifs(random, vocabulary)
    if baselines:
        options += [["--compare", *baselines], *_comparison(random)]
    if vocabulary.has_peaks:
        options.append(["--peaks", _choice(random, _PEAKS, _WRONG_PEAKS)])
    width = random.choice((*(4 * (None,)), 20, 80, 200))
    always_colored = random.random() < 0.05
    if always_colored:
        options.append(["--color", "always"])
    options += _appearance(random)
    random.shuffle(options)
    return CommandLine(
        options=tuple(word for option in options for word in option),
        output_format=output_format,
        encoding=random.choice((*(5 * ("utf-8",)), "ascii", "latin-1", "cp1252", "gbk")),
        width=width,
        colored=always_colored or width is not None,
    )


def _choice(random: Random, usual: tuple[str, ...], wrong: tuple[str, ...] = ()) -> str:
    """Return one of the usual texts, rarely a wrong one, and very rarely a hostile one."""
    kind = random.random()
    if kind < 0.01:
        return random.choice(HOSTILE_TEXTS).replace("\x00", "")  # no argument can have a NUL
    return random.choice(wrong if wrong and kind < 0.03 else usual)


def _list(random: Random, usual: tuple[str, ...], wrong: tuple[str, ...], most: int = 3) -> str:
    return ",".join(_choice(random, usual, wrong) for _ in range(random.randint(1, most)))


def _output(random: Random, output_format: str) -> Iterator[list[str]]:
    suffixes = find_renderer(output_format).suffixes
    if output_format == "operators":
        yield ["--dump-only-opr"]
    elif suffixes and random.random() < 0.15:
        yield ["-o", f"out{random.choice(suffixes)}"]
    elif output_format == "wiki" and random.random() < 0.5:
        yield ["--wiki"]
    elif output_format != "table" or random.random() < 0.2:
        yield ["--format", output_format]
        if random.random() < 0.05:
            yield ["--output", random.choice(("out", "-", "nowhere/out", "run.json", "."))]
    # Pictures are rare, because a picture takes a hundred times as long as a table.
    if random.random() < 0.004:
        yield ["--plot", f"picture.{random.choice(('svg', 'svg', 'png', 'pdf', 'gif'))}"]


def _rows(random: Random, vocabulary: _Vocabulary) -> Iterator[list[str]]:
    if random.random() < 0.1:
        yield ["--type", _choice(random, ("Elemwise", "ConvolutionForward", "Copy"))]
    if random.random() < 0.1:
        yield [
            "--opr-name",
            _choice(random, (".*conv", "", "[a-z]+$", "(a+)+$"), ("[", "(?P<", "*")),
        ]
    if random.random() < 0.05:
        yield ["--input-dtype", _choice(random, ("Float32", "Int32"))]
    for option in ("--min-time", "--max-time"):
        if random.random() < 0.07:
            yield [f"{option}={_choice(random, _TIMES, _WRONG_TIMES)}"]
    if random.random() < 0.2:
        yield ["--where", _choice(random, vocabulary.conditions, _WRONG_CONDITIONS)]


def _groups(random: Random, vocabulary: _Vocabulary) -> Iterator[list[str]]:
    has_keys = random.random() < 0.9
    if has_keys:
        yield ["--aggregate-by", _list(random, vocabulary.keys, _ANYTHING)]
    if not has_keys or random.random() < 0.4:
        yield ["--aggregate", _list(random, _AGGREGATES, _ANYTHING)]
    if random.random() < 0.15:
        yield ["--having", _choice(random, (*_CONDITIONS, "count >= 2"), _WRONG_CONDITIONS)]


def _fail_ifs(random: Random, vocabulary: _Vocabulary) -> Iterator[list[str]]:
    for _ in range(random.choice((1, 1, 2))):
        yield ["--fail-if", _choice(random, vocabulary.fail_ifs, _WRONG_FAIL_IFS)]
    if random.random() < 0.2:
        yield ["--fail-uncertain", random.choice(("yes", "unjudged", "no"))]


def _view(random: Random, vocabulary: _Vocabulary) -> Iterator[list[str]]:
    if random.random() < 0.6:
        yield ["-t", _choice(random, ("0", "0", "0", "1", "2", "99999"), ("-1", "x", "1.5"))]
    if random.random() < 0.35:
        plus = random.choice(("", "+"))
        yield ["--order-by", plus + _list(random, vocabulary.orders, _ANYTHING, 2)]
    if vocabulary.has_tables and random.random() < 0.3:
        columns = _list(random, vocabulary.columns, _ANYTHING, 5)
        yield ["--columns", random.choice(("all", columns, columns))]
    yield from _rare_options(random, vocabulary)
    for option in ("--skip-bad", "--correct-drift", "--correct-sync"):
        if random.random() < 0.04:
            yield [option]
    for option, choices in _RARE_CHOICES:
        if random.random() < 0.03:
            yield [option, _choice(random, choices)]


def _rare_options(random: Random, vocabulary: _Vocabulary) -> Iterator[list[str]]:
    for option, share in (("--show-host", 0.15), ("--copy-time", 0.03), ("--force", 0.1)):
        if random.random() < share:
            yield [option]
    for option, choices in (
        ("--top-end-key", ("end", "kern")),
        ("--print-only", ("summary", "device", "host")),
        (
            "--run-stat",
            ("median", "median") if vocabulary.has_baseline else ("median", "mean", "min"),
        ),
        ("--level", ("operator", "operator", "kernel", "module", "top")),
        ("--skip-runs", ("0", "0", "0", "1")),
        ("--from", ("0", "0", "1us", "1ms")),
        ("--to", ("1s", "1s", "1ms", "10us")),
        ("--step", ("0-99", "0-99", "1")),
    ):
        if random.random() < 0.1:
            yield [option, _choice(random, choices)]


def _comparison(random: Random) -> Iterator[list[str]]:
    if random.random() < 0.3:
        yield ["--match", random.choice(("auto", "name", "structure", "shapes"))]
    if random.random() < 0.3:
        yield ["--threshold", _choice(random, ("3%", "0", "0.5"), ("3", "nan", "-1"))]
    if random.random() < 0.3:
        yield ["--unit", _choice(random, ("process", "iteration"), ("run",))]

"""One input: files, and a command line that asks about them. A seed and a number give it again."""

from __future__ import annotations

import gzip
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from fuzz.documents import HOSTILE_TEXTS, another_run, document
from fuzz.mutations import with_wrong_bytes, with_wrong_values, written

if TYPE_CHECKING:
    from collections.abc import Iterator

SMALLEST_REAL: Final = (
    Path(__file__).parent.parent / "tests" / "fixtures" / "profiles" / "tiny.json"
)

_SUFFIXES: Final = {
    "csv": "csv",
    "json": "json",
    "jsonl": "ndjson",
    "markdown": "md",
    "wiki": "wiki",
    "junit": "xml",
    "table": "txt",
}
_MORE_RUNS: Final = (*(17 * (0,)), 1, 1, 4)
_BASE: Final = "base"
_FORMS: Final = (
    *("table", "table", "plain", "markdown", "wiki", "csv", "csv", "json", "json", "json"),
    *("jsonl", "operators", "github", "junit", "words"),
)
_ENCODINGS: Final = (*(5 * ("utf-8",)), "ascii", "latin-1", "cp1252", "gbk")
_WORDS: Final = (
    ("--help",),
    ("--version",),
    ("--columns", "help"),
    ("--peaks", "list"),
    ("--print-completion", "bash"),
    ("--print-completion", "zsh"),
    ("--print-completion", "fish"),
)

_TIMES: Final = ("0", "1us", "0.5ms", "20 us", "1e-3", "inf", "-1", "1h")
_WRONG_TIMES: Final = ("nan", "", "1 fortnight", "\u0661ms", "1e400", "0x1")
_NUMBERS: Final = (
    *("time", "time", "share", "runs", "spread", "time_min", "time_max", "device_time", "wait"),
    *("host_time", "queue", "self", "calls", "computation", "flops", "memory", "bandwidth"),
    "intensity",
)
_RUNNING: Final = ("cumulative_time", "cumulative_share")
_TEXTS: Final = (
    *("name", "type", "id", "opr_id", "input_dtype", "device", "param.mode", "name~conv(.)"),
    *("param.axis", "category", "scope", "track", "stream", "rank", "computation_source"),
    *("memory_source", "track~([cg]pu)"),
)
_DETAILS: Final = ("in_shapes", "out_shapes", "in_strides", "parameters")
_OF_GROUPS: Final = ("count", "time.p90", "time.std", "memory.max", "calls.mean", "self.max")
_OF_PEAKS: Final = ("bound", "efficiency", "lost", "gain", "least_time")
_OF_BASE: Final = ("base", "difference", "ratio", "verdict", "match", "p_value", "change")
_OF_RUNS: Final = ("file", "run", "step")
_OF_EXECUTIONS: Final = ("phase",)
_KEYS: Final = (
    *("type", "type", "name", "in_shapes", "out_shapes", "input_dtype", "device", "parameters"),
    *("param.mode", "param.axis", "name~conv.", r"name~(\d)", "category", "category", "scope"),
    *("track", "stream", "rank", "in_strides", "computation_source", "memory_source", "device~u."),
    *_OF_EXECUTIONS,
)
_AGGREGATES: Final = ("sum", "mean", "max", "min", "median", "std", "count", "p90", "p0", "p12.5")
_CONDITIONS: Final = (
    *("time > 1us", "time >= 0", "share >= 5%", "flops < 2GFLOPS", "memory != 4", "wait > 1us"),
    *("memory > 1KiB", "computation >= 1", "intensity < 1e3", "spread < 5%", "runs >= 1"),
    *("calls == 1", "self > 1us", "queue >= 0s"),
)
_CONDITIONS_ON_OPERATORS: Final = (
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
_FAIL_IFS_ON_A_BASE: Final = (
    *("total > +5%", "time > -50%", "time > +2ms", "type=Elemwise: time > +3%", "wait < -1us"),
)
_WRONG_FAIL_IFS: Final = (
    *(
        "total",
        "tme > 1s",
        "time >= 1s",
        "time > 1e400s",
        "time > infs",
        ": time > 1s",
        "total > 5",
    ),
)
_PEAKS: Final = ("19.5T:1555G", "1:1", "9e29:1", "1:9e29", "a100-80gb-sxm", "h100-sxm:fp16")
_WRONG_PEAKS: Final = (
    "1e300:1e-300",
    "",
    "0:1",
    "nan:1",
    "1e400:1",
    "xyz",
    "a:b:c",
    "no.toml",
    "run.json.toml",
)


class Case(NamedTuple):
    """Files by name, and the command line that is to be answered in their folder."""

    files: dict[str, bytes]
    arguments: tuple[str, ...]
    form: str = "table"
    """In which form the answer is, if there is one; `words` where it is neither."""
    stdin: bytes = b""
    encoding: str = "utf-8"
    """Of standard output."""
    width: int | None = None
    """Of the terminal; None where standard output is none."""
    colored: bool = False
    is_valid: bool = False
    """Whether nothing in the files was made wrong."""

    @property
    def size(self) -> int:
        """How many bytes are read."""
        return sum(map(len, self.files.values())) + len(self.stdin)


def case(seed: int, number: int) -> Case:
    """The input of that number of that seed."""
    random = Random(f"{seed}:{number}")
    first = document(random)
    is_valid = random.random() < 0.25
    files = {"run.json": _content(random, first, is_valid=is_valid)}
    more_runs = random.choice(_MORE_RUNS)
    base_runs = random.choice((0, 1, max(more_runs, 1))) if random.random() < 0.3 else 0
    # of many runs each must be read for an answer, so that fewer are made wrong
    is_valid |= more_runs > 1 and random.random() < 0.8
    for name in (
        *(f"run{run}.json" for run in range(2, 2 + more_runs)),
        *(f"{_BASE}{run}.json" for run in range(1, 1 + base_runs)),
    ):
        files[name] = _content(random, another_run(random, first), is_valid=is_valid)
    return _asked(random, Case(files, (), is_valid=is_valid))


def _content(random: Random, found: dict[str, Any], *, is_valid: bool) -> bytes:
    if is_valid:
        data = written(random, found)
        return gzip.compress(data, mtime=0) if random.random() < 0.1 else data
    kind = random.random()
    if kind < 0.1:
        return with_wrong_bytes(random, SMALLEST_REAL.read_bytes())
    if kind < 0.65:
        found = with_wrong_values(random, found)
    data = written(random, found)
    return with_wrong_bytes(random, data) if kind > 0.6 else data


class _Words(NamedTuple):
    """What makes sense in one command line, besides what always does."""

    grouped: bool
    has_peaks: bool
    has_base: bool
    has_runs: bool
    has_tables: bool

    @property
    def keys(self) -> tuple[str, ...]:
        """What can be grouped by."""
        return (
            *_KEYS,
            *(("bound",) if self.has_peaks else ()),
            *(("match",) if self.has_base else ()),
            *(_OF_RUNS if self.has_runs else ()),
        )

    @property
    def orders(self) -> tuple[str, ...]:
        """What rows can be ordered by."""
        return (
            *_NUMBERS,
            *(_OF_GROUPS if self.grouped else _TEXTS),
            *(_OF_PEAKS[1:] if self.has_peaks else ()),
            *(_OF_BASE[1:4] if self.has_base else ()),
        )

    @property
    def columns(self) -> tuple[str, ...]:
        """What tables can show."""
        return (*self.orders, *_RUNNING, *(() if self.grouped else _DETAILS))

    @property
    def conditions(self) -> tuple[str, ...]:
        """What operators can be kept by."""
        return (*_CONDITIONS, *_CONDITIONS_ON_OPERATORS)

    @property
    def fail_ifs(self) -> tuple[str, ...]:
        """What a pipeline can fail for."""
        return (*_FAIL_IFS, *(3 * _FAIL_IFS_ON_A_BASE if self.has_base else ()))


_ANYTHING: Final = (
    *(*_OF_PEAKS, *_OF_BASE, *_OF_RUNS, *_OF_EXECUTIONS, *_OF_GROUPS, *_DETAILS, *_RUNNING),
    *_TEXTS,
)


def _asked(random: Random, found: Case) -> Case:
    """The files of `found`, with a command line and what it is answered on."""
    names, given = _named(random, found)
    form = random.choice(_FORMS)
    if form == "words":
        return given._replace(form=form, arguments=(*names, *random.choice(_WORDS)))
    base = [name for name in found.files if name.startswith(_BASE)]
    has_base = bool(base)
    words = _Words(
        grouped=random.random() < 0.5,
        has_peaks=random.random() < 0.25,
        has_base=has_base,
        has_runs=not has_base and random.random() < 0.2,
        has_tables=form not in ("github", "junit"),
    )
    options = [*_form(random, form), *_rows(random, words), *_view(random, words)]
    if words.grouped:
        options += _groups(random, words)
    if form in ("junit", "github") or random.random() < 0.15:
        options += _fail_ifs(random, words)
    if has_base:
        options += [["--compare", *base], *_comparison(random)]
    if words.has_peaks:
        options.append(["--peaks", _some(random, _PEAKS, _WRONG_PEAKS)])
    width = random.choice((*(4 * (None,)), 20, 80, 200))
    always = random.random() < 0.05
    if always:
        options.append(["--color", "always"])
    random.shuffle(options)
    return given._replace(
        form=form,
        arguments=(*names, *(one for option in options for one in option)),
        encoding=random.choice(_ENCODINGS),
        width=width,
        colored=always or width is not None,
    )


def _named(random: Random, found: Case) -> tuple[list[str], Case]:
    """How the profile is named, and the files that this takes."""
    runs = [name for name in found.files if not name.startswith(_BASE)]
    way = random.random()
    if way < 0.1 and len(runs) == 1:
        rest = {name: data for name, data in found.files.items() if name != "run.json"}
        return ["-"], found._replace(files=rest, stdin=found.files["run.json"])
    if way < 0.14:
        names = "\n".join(runs) + random.choice(("", "\n# rest\n", "\n" + HOSTILE_TEXTS[4]))
        files = found.files | {"list": names.encode("utf-8", "surrogatepass")}
        return ["@list"], found._replace(files=files)
    if way < 0.18:
        return [*runs, random.choice(("nothing.json", "a\nb\x1b[1m", "\ud800", "", "."))], found
    return runs, found


def _some(random: Random, usual: tuple[str, ...], wrong: tuple[str, ...] = ()) -> str:
    kind = random.random()
    if kind < 0.01:
        return random.choice(HOSTILE_TEXTS).replace("\x00", "")
    return random.choice(wrong if wrong and kind < 0.03 else usual)


def _list(random: Random, usual: tuple[str, ...], wrong: tuple[str, ...], most: int = 3) -> str:
    return ",".join(_some(random, usual, wrong) for _ in range(random.randint(1, most)))


def _form(random: Random, form: str) -> Iterator[list[str]]:
    if form == "operators":
        yield ["--dump-only-opr"]
    elif form in _SUFFIXES and random.random() < 0.15:
        yield ["-o", f"out.{_SUFFIXES[form]}"]
    elif form == "wiki" and random.random() < 0.5:
        yield ["--wiki"]
    elif form != "table" or random.random() < 0.2:
        yield ["--format", form]
        if random.random() < 0.05:
            yield ["--output", random.choice(("out", "-", "nowhere/out", "run.json", "."))]
    if random.random() < 0.004:
        yield ["--plot", f"picture.{random.choice(('svg', 'svg', 'png', 'pdf', 'gif'))}"]


def _rows(random: Random, words: _Words) -> Iterator[list[str]]:
    if random.random() < 0.1:
        yield ["--type", _some(random, ("Elemwise", "ConvolutionForward", "Copy"))]
    if random.random() < 0.1:
        yield ["--opr-name", _some(random, (".*conv", "", "[a-z]+$", "(a+)+$"), ("[", "(?P<", "*"))]
    if random.random() < 0.05:
        yield ["--input-dtype", _some(random, ("Float32", "Int32"))]
    for option in ("--min-time", "--max-time"):
        if random.random() < 0.07:
            yield [f"{option}={_some(random, _TIMES, _WRONG_TIMES)}"]
    if random.random() < 0.2:
        yield ["--where", _some(random, words.conditions, _WRONG_CONDITIONS)]


def _groups(random: Random, words: _Words) -> Iterator[list[str]]:
    keyed = random.random() < 0.9
    if keyed:
        yield ["--aggregate-by", _list(random, words.keys, _ANYTHING)]
    if not keyed or random.random() < 0.4:
        yield ["--aggregate", _list(random, _AGGREGATES, _ANYTHING)]
    if random.random() < 0.15:
        yield ["--having", _some(random, (*_CONDITIONS, "count >= 2"), _WRONG_CONDITIONS)]


def _fail_ifs(random: Random, words: _Words) -> Iterator[list[str]]:
    for _ in range(random.choice((1, 1, 2))):
        yield ["--fail-if", _some(random, words.fail_ifs, _WRONG_FAIL_IFS)]
    if random.random() < 0.2:
        yield ["--fail-uncertain", random.choice(("yes", "no"))]


def _view(random: Random, words: _Words) -> Iterator[list[str]]:
    if random.random() < 0.6:
        yield ["-t", _some(random, ("0", "0", "0", "1", "2", "99999"), ("-1", "x", "1.5"))]
    if random.random() < 0.35:
        plus = random.choice(("", "+"))
        yield ["--order-by", plus + _list(random, words.orders, _ANYTHING, 2)]
    if words.has_tables and random.random() < 0.3:
        columns = _list(random, words.columns, _ANYTHING, 5)
        yield ["--columns", random.choice(("all", columns, columns))]
    yield from _sides(random, words)


def _sides(random: Random, words: _Words) -> Iterator[list[str]]:
    for option, share in (("--show-host", 0.15), ("--copy-time", 0.03), ("--force", 0.1)):
        if random.random() < share:
            yield [option]
    for option, choices in (
        ("--top-end-key", ("end", "kern")),
        ("--print-only", ("summary", "device", "host")),
        ("--run-stat", ("median", "median") if words.has_base else ("median", "mean", "min")),
        ("--level", ("operator", "operator", "operator", "kernel", "module")),
        ("--skip-runs", ("0", "0", "0", "1")),
    ):
        if random.random() < 0.1:
            yield [option, _some(random, choices)]
    for option in ("--skip-bad", "--correct-drift"):
        if random.random() < 0.04:
            yield [option]


def _comparison(random: Random) -> Iterator[list[str]]:
    if random.random() < 0.3:
        yield ["--match", random.choice(("auto", "name", "structure"))]
    if random.random() < 0.3:
        yield ["--threshold", _some(random, ("3%", "0", "0.5"), ("3", "nan", "-1"))]
    if random.random() < 0.3:
        yield ["--unit", _some(random, ("process", "iteration"), ("run",))]

"""`python -m fuzz.data_sets`: damaged data sets, random labels and random SQL.

Every invariant of calls must hold. The manifest of a part has the sizes of its files, and Parquet
files have checksums. After the damage, these sizes and checksums are usually corrected. Otherwise,
they would reveal all damage at once.
"""

from __future__ import annotations

import argparse
import io
import json
import sys
from functools import cache
from itertools import count
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from fuzz.campaign import Tally, check_call, save
from fuzz.cases import Case
from fuzz.documents import HOSTILE_TEXTS
from fuzz.mutations import to_json, with_wrong_bytes, with_wrong_values
from fuzz.running import contents_of, run_case
from profile_analyze.fleet.exporting import export
from profile_analyze.readers.input.content import MAX_SIZE
from profile_analyze.report.formats.output_formats import OPERATORS, OUTPUT_FORMATS, find_renderer

if TYPE_CHECKING:
    from collections.abc import Iterable

FOUND: Final = Path(__file__).parent / "found"
_FIXTURES: Final = Path(__file__).parent.parent / "tests" / "fixtures"
_FILES: Final = ("profiles/tiny.json", "pytorch/cnn-shapes.json.gz", "pytorch/gpu.json")
_SET: Final = "set"
_SHOWN: Final = 20

_QUESTIONS: Final = (
    *((), ("--aggregate-by", "type"), ("-t", "0", "--columns", "all"), ("--level", "kernel")),
    *(("--aggregate-by", "date,run"), ("--where", "date >= d1"), ("--compare-label", "date=d1")),
    *(("--compare", _SET), ("--export", _SET), ("--inspect", "0"), ("--label", "{date}/*.json")),
)
_FORMATS: Final = tuple(
    name for name in OUTPUT_FORMATS if name != OPERATORS and find_renderer(name).has_tables
)
_LABELS: Final = (
    *("{date}", "{date}/*", "*{date}*.json", "**/{date}/{host}/*.json", "{date}{host}", "{}", "{"),
    *("labels.csv", "{date}-{date}", "{type}", "{da te}", "[{date}", "**", "{date}?", ""),
)
_TABLE: Final = "file,date\nset,d1\nprofiles/tiny.json,d2\n"
_SQL: Final = (
    *("select", "from", "where", "group by", "order by", "limit 3", "*", "(", ")", ",", ";", "--"),
    *(
        "operators",
        "executions",
        "runs",
        "origin",
        "tracks",
        "name",
        "type",
        "device_time_s",
        "run",
    ),
    *("union all", "join", "using (run)", "as", '"a""b"', "'x'", "null", "1", "-1", "1e400", "[1]"),
    *("{'a': 1}", "date 'infinity'", "interval 1 day", "uuid()", "'\\xff'::blob", "now()", "?"),
    *("cast(", "as varchar)", "map {1: 2}", "170141183460469231731687303715884105727::hugeint"),
    *("with t as (", "explain", "describe", "summarize", "pivot", "unpivot", "on", "values", "$1"),
    *("'nan'::double", "sum(", "list(", "count(*)", "over ()", "/*", "*/", "\x00", "\x1b[1m"),
    *HOSTILE_TEXTS,
)
_QUERIES: Final = (
    "select type, sum(device_time_s) as t from operators group by type order by t desc",
    "select o.name, e.* from executions e join operators o using (operator, run)",
    "select date 'infinity' as a, interval 1 month as b, [1] as c, {'x': null} as d from runs",
    "summarize operators",
)


def make_case(seed: int, number: int) -> Case:
    """Return input `number` of `seed`: a data set, and a command line."""
    random = Random(f"{seed}:{number}")
    files = dict(random.choice(_data_sets()))
    kind = random.random()
    output_format = random.choice(_FORMATS)
    options = [*random.choice(_QUESTIONS), "--format", output_format]
    if kind < 0.2:
        options = ["--sql", _query(random), "--format", output_format, "--sql-timeout", "5s"]
    elif kind < 0.3:
        table = _TABLE.encode()
        files["labels.csv"] = with_wrong_bytes(random, table) if random.random() < 0.7 else table
        options += ["--label", random.choice(_LABELS)]
    else:
        for path in random.sample([*files], random.choice((1, 1, 1, 2))):
            _damage(random, files, path)
    if "--export" in options:
        return _export(random, files)
    return Case(files=files, arguments=(_SET, *options), output_format=output_format)


def _export(random: Random, files: dict[str, bytes]) -> Case:
    """Return a case that exports a profile, to a new data set or to the one in `files`."""
    data = (_FIXTURES / random.choice(_FILES)).read_bytes()
    files["run.json"] = with_wrong_bytes(random, data) if random.random() < 0.4 else data
    arguments = ("run.json", "--export", random.choice(("other", _SET)))
    return Case(files=files, arguments=arguments, output_format="plain")  # it prints only notes


@cache
def _data_sets() -> tuple[dict[str, bytes], ...]:
    """Return the files of some data sets with labels, by their paths."""
    data_sets = []
    sources = [str(_FIXTURES / name) for name in _FILES]
    for files in (sources[:1], sources[1:2], sources):
        with TemporaryDirectory() as name:
            folder = Path(name) / _SET
            labels = {file: {"date": f"d{n}"} for n, file in enumerate(files, 1)}
            export(str(folder), files, max_size=MAX_SIZE, labels=labels)
            data_sets.append(contents_of(Path(name)))
    return tuple(data_sets)


def _damage(random: Random, files: dict[str, bytes], path: str) -> None:
    """Damage a file of a data set. Usually, write its new size to the manifest of the part."""
    data = files[path]
    if path.endswith(".json") and random.random() < 0.7:
        files[path] = to_json(random, with_wrong_values(random, json.loads(data)))
    elif path.endswith(".parquet") and random.random() < 0.6:
        files[path] = _with_wrong_rows(random, data)
    else:
        files[path] = with_wrong_bytes(random, data)
    if path.endswith(".parquet") and random.random() < 0.95:
        _state_size(files, path)


def _state_size(files: dict[str, bytes], path: str) -> None:
    """Write the size of a file to the manifest of its part."""
    part, _, name = path.rpartition("/")
    try:
        manifest = json.loads(files[f"{part}/_part.json"])
        manifest["sizes"][name.partition(".")[0]] = len(files[path])
    except (ValueError, KeyError, TypeError, RecursionError):  # the manifest is damaged, too
        return
    files[f"{part}/_part.json"] = json.dumps(manifest).encode("utf-8", "surrogatepass")


def _with_wrong_rows(random: Random, data: bytes) -> bytes:
    """Return a Parquet file with other values, rows or columns. All of its checksums are right."""
    table = pq.read_table(io.BytesIO(data))
    index = random.randrange(table.num_columns)
    name, values = table.column_names[index], table.column(index).to_pylist()
    kind = random.random()
    if kind < 0.1:
        table = table.remove_column(index)
    elif kind < 0.2:
        table = table.slice(0, random.randrange(len(table) + 1))
    elif kind < 0.3:
        table = pa.concat_tables([table] * random.choice((2, 3)))
    elif kind < 0.4:
        table = table.rename_columns(
            [*table.column_names[:index], "x", *table.column_names[index + 1 :]]
        )
    else:
        table = table.set_column(index, name, _wrong_column(random, table.column(index), values))
    out = io.BytesIO()
    pq.write_table(table, out, compression="zstd", write_page_checksum=True)
    return out.getvalue()


def _wrong_column(random: Random, column: pa.ChunkedArray, values: list[Any]) -> pa.Array:
    """Return a column with one wrong value, or with values of another type."""
    wrong = (0, -1, 2**31 - 1, -(2**31), 2**62, 1e308, -1e308, float("inf"), float("nan"), None)
    texts = ("", "[", "[1]", "[[]]", "{}", "null", "[" * 3000, "1e999", "\x1b[1m", "\x00", "\u202e")
    if random.random() < 0.2:
        return pa.array([random.choice((True, 1, 1.5, "x", b"\xff", [1], None))] * len(values))
    changed = [*values]
    if changed:
        position = random.randrange(len(changed))
        changed[position] = random.choice(texts if isinstance(values[position], str) else wrong)
    try:
        return pa.array(changed, column.type)
    except (pa.ArrowException, TypeError, OverflowError):
        return pa.array([None] * len(values), column.type)


def _query(random: Random) -> str:
    """Return a valid query, a query with wrong bytes, or words in a random order."""
    if random.random() < 0.5:
        return " ".join(random.choices(_SQL, k=random.choice((2, 5, 9))))
    data = random.choice(_QUERIES).encode()
    text = with_wrong_bytes(random, data) if random.random() < 0.8 else data
    return text.decode("utf-8", "surrogateescape").replace("\x00", "")


def check_inputs(seed: int, numbers: Iterable[int], *, save_to: Path | None = None) -> Tally:
    """Check these inputs and return their tally. Inputs that break an invariant are saved."""
    tally = Tally()
    for number in numbers:
        case = make_case(seed, number)
        outcome = run_case(case)
        tally.inputs += 1
        tally.codes[str(outcome.code)] += 1
        tally.slowest_s = max(tally.slowest_s, outcome.seconds)
        if sentences := list(check_call(case, outcome)):
            tally.broken.append((number, sentences))
            if save_to is not None:
                save(save_to / f"data-set-{seed}-{number}", case, sentences)
    return tally


def main() -> int:
    """Run inputs for a while and print the tally. Return 1 if an input breaks an invariant."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.data_sets", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="the number of the first input")
    parser.add_argument(
        "--inputs", type=int, help="how many inputs (default: as many as time allows)"
    )
    parser.add_argument(
        "--minutes", type=float, default=3.0, help="the time limit, unless --inputs is given"
    )
    arguments = parser.parse_args()
    start, tally = monotonic(), Tally()
    for number in count(arguments.first):
        if arguments.inputs is None:
            is_over = monotonic() - start > 60 * arguments.minutes
        else:
            is_over = tally.inputs >= arguments.inputs
        if is_over:
            break
        tally.add(check_inputs(arguments.seed, [number], save_to=FOUND))
    minutes = (monotonic() - start) / 60
    print(f"seed {arguments.seed}: {tally.inputs} inputs in {minutes:.1f} minutes", end="; ")
    print(f"exit codes {dict(tally.codes)}; the slowest call took {tally.slowest_s:.2f} s")
    print(f"inputs that break an invariant: {len(tally.broken)}")
    for number, sentences in tally.broken[:_SHOWN]:
        print(f"  {number}: {json.dumps(sentences[0][-300:])}")
    return 1 if tally.broken else 0


if __name__ == "__main__":
    sys.exit(main())

"""`--explain COLUMN`: each column has its formula, worked through with the numbers of a row.

python -m tests.cli.test_explain    records the answers anew; review the difference
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import profile_analyze as pa
from profile_analyze.columns.catalog import CATALOG, find_column
from profile_analyze.columns.column import FORMULA, SAME
from profile_analyze.columns.formula_words import Formula
from profile_analyze.model.executions import Run
from profile_analyze.model.terms import ABSENT
from profile_analyze.report.layout.times import time_text
from profile_analyze.views.figures import FIGURES
from profile_analyze.views.worked import worked_through
from tests import in_memory
from tests.conftest import FIXTURES, IS_FULL, run_command, some_of
from tests.recorded_calls import answer, in_fixtures, record, recorded
from tests.small import Operator, profile_of, runs_of

FILE = "profiles/resnet18.json"
PEAKS = f"{FILE} --peaks a100-80gb-sxm"
RUNS = "runs/changed --compare runs/base"

CALLS = (
    *(f"--explain {name}" for name in ("flops", "efficiency", "verdict", "count", "name~^(l.)")),
    "--explain opr_id",
    *(f"{FILE} --explain {name}" for name in ("flops", "share", "time", "in_shapes", "spread")),
    f"{FILE} --explain bandwidth --order-by +id",
    f"{FILE} --explain flops --where 'time > 5s'",
    f"{FILE} --explain time --print-only host",
    f"{FILE} --explain flops --top-end-key kern",
    f"{FILE} --explain param.mode --type PoolingForward",
    f"{FILE} --explain opr_id",
    *(f"{FILE} --aggregate-by type --explain {name}" for name in ("flops", "share", "count")),
    f"{FILE} --aggregate-by type --explain type",
    f"{FILE} --aggregate-by type --aggregate max,p90 --explain flops",
    f"{FILE} --aggregate-by type --explain time.p90",
    f"{FILE} --aggregate mean --explain intensity",
    *(f"{PEAKS} --explain {name}" for name in ("efficiency", "bound", "attainable", "gain")),
    *(f"{PEAKS} --aggregate-by type --explain {name}" for name in ("bound", "efficiency", "gain")),
    *(f"{RUNS} --explain {name}" for name in ("ratio", "verdict", "share", "spread", "p_value")),
    *(f"runs/base --explain {name}" for name in ("runs", "time_min", "time_max")),
    f"{RUNS} --aggregate-by type --explain change",
    f"{FILE} --compare {FILE} --explain verdict",
    f"{FILE} --explain efficiency",
    f"{FILE} --explain count",
    "none.json --explain count",
    f"{FILE} --explain share --columns time",
    f"{FILE} --explain time --time-unit us",
    *(f"{FILE} --explain time --format {name}" for name in ("plain", "table", "csv")),
)


def test_all_calls_are_recorded() -> None:
    assert list(recorded("explain")) == list(CALLS)


@pytest.mark.slow
@pytest.mark.parametrize("call", some_of(CALLS, 3))
def test_the_answer_is_the_recorded_one(call: str) -> None:
    assert answer(call) == recorded("explain")[call]


@pytest.mark.parametrize("column", CATALOG, ids=lambda column: column.name)
def test_each_column_explains_how_its_value_is_computed(column: pa.Column) -> None:
    if column.of_operators is not None or column.of_groups == SAME:
        assert column.worked
    if column.of_groups == FORMULA:
        assert column.worked_of_groups
    for keys in (None, ()):  # of operators, and of one group of all operators
        names = Formula.of(column, keys, "sum").names
        assert all(name in FIGURES or find_column(name) for name in names)


def test_every_figure_is_used() -> None:
    texts = " ".join(f"{column.worked} {column.worked_of_groups}" for column in CATALOG)
    names = set(re.findall(r"\{([\w.]+)\}", texts))
    assert set(FIGURES) <= names
    assert not set(FIGURES) & {column.name for column in CATALOG}


def _four_runs(side: str) -> str:
    """Return the names of four files: as few as a verdict needs, because more take longer."""
    return " ".join(f"runs/{side}/0{number}.json.gz" for number in range(1, 5))


FOUR_RUNS = f"{_four_runs('changed')} --compare {_four_runs('base')} --peaks v100-sxm2"


@pytest.mark.slow
@pytest.mark.parametrize(
    "call",
    some_of(
        [
            pytest.param("profiles/tiny.json", id="operators"),
            pytest.param(FOUR_RUNS, id="compared"),
            pytest.param(f"{PEAKS} --order-by +computation", id="peaks"),
            pytest.param(
                f"{FOUR_RUNS} --aggregate-by type --aggregate median", id="compared groups"
            ),
            pytest.param("profiles/tiny.json --aggregate-by type", id="groups"),
        ],
        4,
    ),
)
def test_every_column_of_every_answer_is_explained(call: str) -> None:
    has_groups = "--aggregate-by" in call
    for column in CATALOG:
        # A comparison takes long. The other calls explain the other columns.
        if "--compare" in call and not (IS_FULL or column.needs_base or column.needs_peaks):
            continue
        has_column = column.of_groups if has_groups else column.of_operators
        lacks_input = (
            column.needs_split_rows
            or (column.needs_base and "--compare" not in call)
            or (column.needs_peaks and "--peaks" not in call)
        )
        if has_column and not lacks_input:
            with in_fixtures():
                outcome = run_command(*call.split(), "--explain", column.name)
            assert outcome.code == 0, outcome.err
            first, row, worked, *_ = outcome.out.splitlines()
            assert first.startswith(column.name)
            assert row.startswith("The first row of this answer is ")
            assert worked.startswith(f"  {column.name} = ")
            # no name of a column is left in braces; shapes, which are numbers, have braces, too
            assert not re.search(r"\{[a-z]", worked)


def worked(profile: pa.Profile, column: str, **question: object) -> list[str]:
    table = pa.run(pa.Query(**question), profile)  # type: ignore[arg-type]
    return list(worked_through(table, find_column(column), time_text))


def test_a_group_rate_uses_only_operators_with_both_work_and_time() -> None:
    profile = profile_of(
        [Operator("a", "A", 100, work=(10**6, 10)), Operator("b", "A", 300)]  # b has no work
    )
    assert worked(profile, "flops", by="type") == [
        "flops = sum of computation / sum of time = 1.00 MFLO / 100.000 us = 10.00 GFLOPS; over the "
        "operators that have both (1)",
        "computation.sum = 1.00 MFLO: sum of computation in the group",
        "time.sum = 400.000 us: sum of time in the group",
    ]


def test_an_explanation_names_the_unknown_number() -> None:
    profile = profile_of([Operator("b", "A", 300)])
    assert worked(profile, "flops")[0] == (
        "flops = computation / time = N/A / 300.000 us = N/A; because computation is N/A"
    )
    with_work = profile_of([Operator("a", "A", 300, work=(1, 1))])
    assert worked(with_work, "flops", measure="wait")[0] == (
        "flops = computation / time = 1.00 FLO / N/A = N/A; because time is N/A"
    )


def _called(*calls: int, columns: dict[str, Any] | None = None) -> pa.Profile:
    """Return a profile with one operator. `calls` has how often it was called in each run."""
    return in_memory.profile_of(
        [{"name": "a", "computation": 3.0}],
        [
            {"operator": 0, "run": run, "duration_s": 1.0, "calls": count}
            for run, count in enumerate(calls)
        ],
        runs=[Run()] * len(calls),
        columns=columns,
    )


def test_work_is_the_work_of_a_call_times_the_calls() -> None:
    formula = "computation = calls in a run * computation of a call"
    source = "; its source: measured"
    for calls in ((4,), (4, 4)):  # equal runs need no example of one run
        assert worked(_called(*calls), "computation") == [
            f"{formula} = 4 * 3.00 FLO = 12.00 FLO{source}"
        ]
    assert worked(_called(2, 4), "computation") == [
        f"{formula} = 2 * 3.00 FLO = 6.00 FLO in run 1, 9.00 FLO over all runs{source}; the median "
        "of 2 runs, 6.00 FLO to 12.00 FLO"
    ]
    assert worked(_called(4), "memory") == [
        "memory = calls in a run * memory of a call = 4 * N/A = N/A; because memory of a call is "
        "N/A; its source: unknown"
    ]
    origin = pa.Origin("model", times=ABSENT)
    model = in_memory.profile_of([{"name": "a", "computation": 3.0}], origin=origin)
    assert worked(model, "computation") == [f"{formula} = 1 * 3.00 FLO = 3.00 FLO{source}"]


def test_messages_are_the_message_of_a_call_times_the_calls() -> None:
    profile = _called(2, columns={"optional": {"message_bytes": np.array([1024.0])}})
    assert worked(profile, "message_size")[1] == (
        "message_bytes = calls in a run * message bytes of a call = 2 * 1.00 KiB = 2.00 KiB; bytes "
        "of a call: elements * bytes of their dtype, the mean over the calls"
    )


def test_formulas_on_several_runs_have_medians_and_quartiles() -> None:
    assert worked(runs_of("a", [100, 200, 400]), "share") == [
        "share = time / total time = 200.000 us / 200.000 us = 100.0%",
        "time = 200.000 us: as measured; the device self time, with the calls in a run added up; the "
        "median of 3 runs, 100.000 us to 400.000 us",
    ]
    assert worked(runs_of("a", [100, 200, 400]), "spread") == [
        "spread = (third quartile - first quartile) / 2 / median time = (300.000 us - 150.000 us) / 2 "
        "/ 200.000 us = 37.5%"
    ]


def test_one_run_has_no_spread() -> None:
    assert worked(runs_of("a", [100]), "spread") == [
        "spread = (third quartile - first quartile) / 2 / median time = N/A: there is only one run"
    ]


def test_a_time_in_one_of_several_runs_has_no_spread() -> None:
    without, with_time = (
        profile_of([Operator("a", "A", time), Operator("b", "B", 100)], f"{time}.json")
        for time in (None, 100)
    )
    formula = "spread = (third quartile - first quartile) / 2 / median time"
    one = pa.join_runs([without, with_time, without])
    assert worked(one, "spread", types="A") == [
        f"{formula} = N/A: the time is known in only one of 3 runs"
    ]


def test_the_total_of_a_share_leaves_out_runs_without_the_row() -> None:
    first = profile_of([Operator("a", "A", None), Operator("b", "B", 100)], "1.json")
    second = profile_of([Operator("a", "A", 100), Operator("b", "B", 300)], "2.json")
    joined = pa.join_runs([first, second])
    assert worked(joined, "share", types="A")[0] == (
        "share = time / total time = 100.000 us / 400.000 us = 25.0%"
    )


@pytest.mark.parametrize("file", ["", str(FIXTURES / FILE)])
@pytest.mark.parametrize(
    ("word", "page"),
    [
        *(
            (word, "reading")
            for word in (
                "wall_time",
                "wall",
                "idle",
                "Copy time",
                "residual",
                "difference by cause",
            )
        ),
        *((word, "roofline") for word in ("judged", "least_possible_time")),
        *((word, "models") for word in ("activations", "weights and peak")),
        *((word, "statistics") for word in ("uncertain", "slower", "drift", "threshold")),
    ],
)
def test_a_word_of_the_summary_is_no_column(word: str, page: str, file: str) -> None:
    outcome = run_command(*filter(None, (file,)), "--explain", word)
    message = f"{word!r} is a word of summaries and notes, not a column; docs/{page}.md explains it"
    assert (outcome.code, outcome.err) == (2, f"profile_analyze: error: {message}\n")


@pytest.mark.parametrize(
    ("word", "column"),
    [("total", "time"), ("host time", "host_time"), ("baseline", "base (with --compare)")],
)
def test_a_word_that_also_stands_for_a_column_gets_the_column(word: str, column: str) -> None:
    outcome = run_command("--explain", word)
    assert outcome.err.endswith(f"there is no column {word!r}; did you mean {column}?\n")


def test_lines_fit_the_width_of_the_terminal() -> None:
    table = pa.run(pa.Query(), profile_of([Operator("a", "A", 100, work=(10**6, 10))]))
    from profile_analyze.report.formats.explanation import ExplanationRenderer

    pieces = ExplanationRenderer("flops").pieces(pa.Report.of(None, [table]), pa.Display(width=60))
    lines = b"".join(pieces).decode().splitlines()
    assert max(map(len, lines)) <= 60
    assert [line for line in lines if line.startswith("  flops")] == [
        "  flops = computation / time = 1.00 MFLO / 100.000 us ="
    ]


if __name__ == "__main__":
    record("explain", CALLS)

"""An SQL query reads the tables of the profile, and can do nothing else."""

from __future__ import annotations

import re
import resource
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from profile_analyze.fleet import sql
from tests.conftest import PROFILES, ROOT, run_command, some_of

if TYPE_CHECKING:
    from pathlib import Path

TINY = str(PROFILES / "tiny.json")
ERROR = "profile_analyze: error: argument --sql: "


def refusal(query: str, *options: str) -> str:
    """Run a query that must fail, and return the message."""
    outcome = run_command(TINY, "--sql", query, *options)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith(ERROR)
    assert outcome.err.count("\n") == 1
    return outcome.err.removeprefix(ERROR).rstrip("\n")


@pytest.mark.slow
@pytest.mark.parametrize(
    "query",
    some_of(
        [
            "from read_csv('{file}')",
            "from read_text('{file}')",
            "from read_blob('{file}')",
            "from read_json('{file}')",
            "from read_parquet('{file}')",
            "from sniff_csv('{file}')",
            "from glob('{folder}/*')",
            "from parquet_metadata('{file}')",
            "from '{file}'",
            "from 'https://example.org/a.csv'",
            "from read_csv('https://example.org/a.csv')",
            "from read_csv('s3://bucket/a.csv')",
            "select content from read_text('/proc/self/environ')",
            "select getenv('HOME')",
            "select * from query('from read_text(''{file}'')')",
        ],
        3,
    ),
)
def test_a_query_reads_no_file_and_no_address(query: str, tmp_path: Path) -> None:
    file = tmp_path / "secret.csv"
    file.write_text("secret\n1\n", encoding="utf-8")
    message = refusal(query.format(file=file, folder=tmp_path))
    assert message.endswith("; --sql help lists tables and columns")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("query", "kind"),
    some_of(
        [
            ("copy operators to '{folder}/a.csv'", "COPY"),
            ("copy operators to '{folder}/a.parquet'", "COPY"),
            ("attach '{folder}/a.db'", "ATTACH"),
            ("export database '{folder}/a'", "EXPORT"),
            ("create table a as from operators", "CREATE"),
            ("drop view operators", "DROP"),
            ("install httpfs", "LOAD"),
            ("load httpfs", "LOAD"),
            ("set threads = 4", "SET"),
            ("set enable_external_access = true", "SET"),
            ("call pragma_version()", "CALL"),
        ],
        3,
    ),
)
def test_a_query_changes_nothing(query: str, kind: str, tmp_path: Path) -> None:
    message = refusal(query.format(folder=tmp_path))
    assert message == f"{kind} is not allowed; SQL only reads: write a SELECT"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("", "is empty; write a SELECT, such as 'from operators'"),
        ("select 1; select 2", "has 2 statements; write one"),
        ("select '\udcff'", "is not valid Unicode; write it as UTF-8"),
        (
            "pivot operators on type using count(*)",
            "PIVOT has no list of values; write one, such as ON type IN ('Conv', 'Relu')",
        ),
        ("selec 1", 'syntax error at or near "selec"; --sql help lists tables and columns'),
        (
            "select name + 1 from operators",
            "No function matches the given name and argument types '+(VARCHAR, INTEGER_LITERAL)'. "
            "You might need to add explicit type casts; --sql help lists tables and columns",
        ),
        (
            "select error(repeat('x', 9999))",
            f"{'x' * 400}...; --sql help lists tables and columns",
        ),
        ("select 1 as a, [2] as a", "two columns are called 'a'; rename one: a AS other"),
        ("select 1 as a, 2 as a", "two columns are called 'a'; rename one: a AS other"),
    ],
)
def test_a_wrong_query_gets_one_line(query: str, message: str) -> None:
    assert refusal(query) == message


@pytest.mark.parametrize(
    ("query", "ending"),
    [
        ("select nme from operators", "; did you mean name?"),
        ("select type from executions", "; it is a column of operators; join that table"),
        ("select wall_s from operators", "; it is a column of runs; join that table"),
        ("select name, time from operators", "; did you mean device_time_s?"),
        ("select o.Duration from OPERATORS o", "; did you mean device_time_s?"),
        ("select duration from executions", "; did you mean duration_s?"),
        ("with a as (select 1 as b) select c from a", '; Candidate bindings: "b"'),
        ("from 'a.json'", " are in the tables operators, executions, tracks, runs, origin"),
        ("from operator", "; did you mean operators?"),
        ("from profile", " exist; the tables are operators, executions, tracks, runs, origin"),
        ('from "my profile"', " exist; the tables are operators, executions, tracks, runs, origin"),
    ],
)
def test_unknown_columns_and_tables_get_suggestions(query: str, ending: str) -> None:
    assert refusal(query).endswith(f"{ending}; --sql help lists tables and columns")


def test_an_interrupt_ends_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: object) -> None:
        raise RuntimeError("Query interrupted")  # what DuckDB raises after Ctrl-C

    monkeypatch.setattr("profile_analyze.fleet.sql._fetched", interrupted)
    outcome = run_command(TINY, "--sql", "from runs")
    assert (outcome.code, outcome.out, outcome.err) == (130, "", "")


# The real limits take seconds to reach, so `make test` tries smaller ones.
@pytest.mark.slow
@pytest.mark.parametrize("most", some_of([10_000, sql._MOST_VALUES], 2))
def test_values_of_an_answer_are_limited(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sql, "_MOST_VALUES", most)
    message = refusal(f"select range from range({2 * most})")
    assert message == f"the answer has more than {most:,} values; aggregate them, or add LIMIT"


@pytest.mark.slow
@pytest.mark.parametrize("most", some_of([5_000_000, sql._MOST_CHARACTERS], 2))
def test_texts_of_an_answer_are_limited(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sql, "_MOST_CHARACTERS", most)
    message = refusal(f"select repeat('x', {most // 500}) from range(600)")
    assert message == f"the answer has more than {most:,} characters; aggregate them, or add LIMIT"


def test_the_documented_limits_are_current() -> None:
    page = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
    assert f"the answer has more than {sql._MOST_VALUES:,} values;" in page
    assert f"`{sql._MOST_CHARACTERS:,} characters`" in page


@pytest.mark.parametrize(
    "query",
    [
        "select [repeat('x', 100000)] from range(5000)",
        # DuckDB does not count the memory of lists.
        "select list_sort(range(100000000))[1]",
        "select list_reverse(range(60000000))[1]",
    ],
)
def test_memory_of_the_process_is_limited(query: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = resource.getrlimit(resource.RLIMIT_DATA)
    monkeypatch.setattr("profile_analyze.fleet.sql._MOST_MEMORY", 100 << 20)
    limit = "needs more than 100.00 MiB of memory; filter or aggregate earlier"
    assert refusal(query) == limit
    assert resource.getrlimit(resource.RLIMIT_DATA) == before


@pytest.mark.slow
@pytest.mark.parametrize("memory", some_of(["100MB", sql._MEMORY], 2))
def test_memory_is_limited(memory: str, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = [setting.replace(f"'{sql._MEMORY}'", f"'{memory}'") for setting in sql._SETTINGS]
    assert f"SET memory_limit = '{memory}'" in settings
    monkeypatch.setattr(sql, "_SETTINGS", settings)
    message = refusal("select list(range) from range(2_000_000_000)")
    assert message == "needs more than 2GB of memory in DuckDB; filter or aggregate earlier"


@pytest.mark.slowest
def test_time_is_limited() -> None:
    query = "with recursive t(n) as (select 1 union all select n + 1 from t) select max(n) from t"
    message = refusal(query, "--sql-timeout", "200ms")
    assert message == "took longer than 200 ms; --sql-timeout raises the limit"


@pytest.mark.parametrize("limit", ["0", "0ms"])
def test_a_time_limit_is_above_0(limit: str) -> None:
    outcome = run_command("profiles", "--sql", "from runs", "--sql-timeout", limit)
    assert outcome.err == (
        f"profile_analyze: error: argument --sql-timeout: '{limit}' is not a valid time limit; "
        "write a time above 0, such as 60 or 5min\n"
    )


@pytest.mark.slowest
def test_a_function_that_cannot_be_interrupted_ends_with_the_process() -> None:
    query = "select levenshtein(repeat('a', 1000000), repeat('b', 1000000))"  # takes many minutes
    message = "took longer than 200 ms; --sql-timeout raises the limit"
    # A short `_GRACE_S` saves time: the command gives up sooner.
    code = (
        "from profile_analyze.__main__ import run\n"
        "from profile_analyze.fleet import sql\n"
        "sql._GRACE_S = 0.3\n"
        "run()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, TINY, "--sql", query, "--sql-timeout", "200ms"],
        capture_output=True,
        encoding="utf-8",
        cwd=ROOT,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"{ERROR}{message}\n")


@pytest.mark.parametrize(
    "query",
    [
        *("from runs", "describe operators", "show tables", "summarize runs", "explain from runs"),
        *(
            "explain analyze from runs",
            "EXPLAIN (FORMAT json) select 1",
            "explain(analyze)from runs",
        ),
        *(
            "-- a\n/* b */ explain /* c */ analyze -- d\n select 1;",
            "explain select 'explain drop'",
        ),
    ],
)
def test_queries_that_only_read_are_answered(query: str) -> None:
    outcome = run_command(TINY, "--sql", query, "--format", "csv")
    assert (outcome.code, outcome.err) == (0, "")


@pytest.mark.parametrize(
    "query",
    [
        "explain analyze create table x as from runs",
        "EXPLAIN drop view runs",
        "explain (analyze, format json) insert into runs select 1",
        "/* a */ explain -- b\n analyze /* c */ update runs set run = 1",
        "explain/* /* nested */ */ analyze create table x(a int)",
        "explain analyze set threads = 4",
        "explain analyze copy runs to 'x.csv'",
        "explain analyze explain analyze create table x(a int)",
    ],
)
def test_explain_of_a_change_is_refused(query: str) -> None:
    assert re.search(r"is not allowed; SQL only reads: write a SELECT|syntax error", refusal(query))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--sql-timeout", "5"), "--sql-timeout needs --sql, whose time it limits"),
        (
            ("--sql", "from runs", "--aggregate-by", "type"),
            "--sql shows the answer to a query, so --aggregate-by has no effect; leave one out",
        ),
        (
            ("--sql", "from runs", "--compare", TINY),
            "--sql shows the answer to a query, so --compare has no effect; leave one out",
        ),
        (
            ("--sql", "from runs", "--export", "set"),
            "--export adds profiles to a data set, so --sql has no effect; leave one out",
        ),
    ],
)
def test_options_without_effect_are_refused(options: tuple[str, ...], message: str) -> None:
    outcome = run_command(TINY, *options)
    assert (outcome.code, outcome.out, outcome.err) == (
        2,
        "",
        f"profile_analyze: error: {message}\n",
    )

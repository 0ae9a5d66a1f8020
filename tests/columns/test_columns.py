"""The declarations of columns, their formulas, and the page that lists them."""

from __future__ import annotations

import pickle
from math import nan
from typing import TYPE_CHECKING

import pytest

import profile_analyze as pa
from profile_analyze.columns import formulas as column_formulas
from profile_analyze.columns import model_columns
from profile_analyze.columns.aggregates import find_aggregate
from profile_analyze.columns.catalog import CATALOG, find_column
from profile_analyze.columns.column import AGGREGATED, FORMULA, SAME, Column, RunningSum
from profile_analyze.columns.kinds import RowKind
from profile_analyze.columns.registry import COLUMNS
from profile_analyze.columns.rows import Formulas
from profile_analyze.columns.wording import heading, machine_name, value_text
from profile_analyze.comparison import formulas as comparison_formulas
from profile_analyze.model.terms import ONNX_TOOL_NAMES, SPARSITY_NAMES, TILE_AMOUNTS
from profile_analyze.query.rows import formulas_of
from profile_analyze.report.formats.programs import program_columns
from profile_analyze.report.pages.column_list import column_list
from profile_analyze.roofline import formulas as roofline
from tests.conftest import PROFILES, run_command
from tests.small import Operator, document, profile_of, profile_of_document, written

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from profile_analyze.columns.rows import GroupRows, OperatorRows, Rows, Values

UNITS = ("", "1", "count", "s", "byte", "FLO", "FLO/s", "byte/s", "FLO/byte")
RESNET = str(PROFILES / "resnet18.json")
MODULES = (column_formulas, roofline, comparison_formulas)


def test_declared_columns_are_consistent() -> None:
    for column in COLUMNS:
        split_by = (column.name,) if column.needs_split_rows else ()
        assert RowKind(None, split_by=split_by).has(column) == (column.name != "count")
        assert RowKind(None).has(column) == (column.name != "count" and not column.needs_split_rows)
        is_key_or_aggregated = column.is_key or column.of_groups is not None
        assert RowKind((column.name,), split_by=split_by).has(column) == is_key_or_aggregated
        assert RowKind(()).has(column) == (column.of_groups is not None)
        assert column.meaning[0].islower()
        assert not column.meaning.endswith(".")  # the page adds it
        assert column.unit in UNITS
        assert (column.kind == "number") == (
            not column.is_key and column.name not in ("id", "key", "reused_weights")
        )


@pytest.mark.parametrize("module", MODULES)
def test_columns_have_the_formulas_that_their_rules_need(module: object) -> None:
    formulas: Formulas = module.FORMULAS  # type: ignore[attr-defined]
    columns = [column for column in CATALOG if formulas_of(column) is formulas]
    assert columns

    def with_rules(*pairs: tuple[object, ...]) -> set[str]:
        """Return the columns whose rules for operators and for groups are one of the pairs."""
        return {one.name for one in columns if (one.of_operators, one.of_groups) in pairs}

    others = {one.of_groups for one in columns} - {SAME}
    assert formulas.of_rows.keys() == with_rules((FORMULA, SAME))
    assert formulas.of_operators.keys() == with_rules(*((FORMULA, rule) for rule in others))
    assert formulas.of_groups.keys() == with_rules((FORMULA, FORMULA), (None, FORMULA))


def test_running_sums_can_neither_filter_nor_order() -> None:
    running = [column for column in CATALOG if column.running]
    assert [(column.name, column.running) for column in running] == [
        ("cumulative_time", RunningSum("time")),
        ("cumulative_share", RunningSum("share")),
    ]
    for column in running:
        assert column.of_groups == SAME
        assert (column.timed, column.orderable, column.is_key) == (False, False, False)
        message = f"{column.name} depends on the rows shown, and cannot filter them"
        with pytest.raises(pa.QueryError, match=message):
            pa.Query(where=f"{column.name} > 0")
        with pytest.raises(pa.QueryError, match=f"cannot be ordered by '{column.name}'"):
            pa.Query(order=column.name)


def test_running_sums_add_up_the_values_shown() -> None:
    runs = pa.join_runs(
        profile_of([Operator("a", "T", first), Operator("b", "T", 4.0)], f"{first}.json")
        for first in (None, 2.0)
    )
    result = pa.run(pa.Query(order="+name", run_statistic="max"), runs)
    assert result["cumulative_time"] == pytest.approx([2e-6, 6e-6])
    # The total is 4 us in the first run, in which a did not run, and 6 us in the second.
    assert result["share"] == pytest.approx([2 / 6, 4 / 6])
    assert result["cumulative_share"] == pytest.approx([2 / 6, 1.0])


def test_a_share_is_the_quotient_of_the_times_shown() -> None:
    runs = pa.join_runs(
        profile_of([Operator("a", "T", first), Operator("b", "T", 4.0)], f"{first}.json")
        for first in (1.0, 2.0, 12.0)
    )
    result = pa.run(pa.Query(order="+name"), runs)
    assert result["time"] == pytest.approx([2e-6, 4e-6])
    assert result["share"] == pytest.approx([2 / 6, 4 / 6])


def test_running_sums_are_not_available_before_the_first_known_value() -> None:
    profile = profile_of([Operator("b", "T", 4.0)])
    base = profile_of([Operator("a", "T", 1.0), Operator("b", "T", 4.0)])
    result = pa.run(pa.Query(order="+name", compared=True), pa.compare(profile, base))
    assert result["cumulative_time"] == pytest.approx([nan, 4e-6], nan_ok=True)
    assert result["cumulative_share"] == pytest.approx([nan, 1.0], nan_ok=True)


def test_only_measured_times_have_a_tolerance() -> None:
    assert find_column("time").measured
    assert not find_column("lost").measured
    assert find_column("time.p90").measured
    assert not find_column("time.count").measured
    assert not find_column("lost.max").measured


@pytest.mark.parametrize(
    ("column", "where", "found"),
    [
        ("memory_time", "memory_time > 1.2ns", True),
        ("memory_time", "memory_time <= 1.2ns", False),
        ("memory_time", "memory_time == 1.337ns", True),
        ("memory_time", "memory_time == 1.336ns", False),
        ("least_time", "least_time != 1.336ns", True),
        ("time", "time > 2999.6ns", False),
        ("time", "time == 2999.6ns", True),
        ("time", "time == 2999.4ns", False),
        ("lost", "lost > 2998.6ns", True),
    ],
)
def test_only_measured_times_are_compared_with_a_tolerance(
    column: str, where: str, *, found: bool
) -> None:
    profile = profile_of([Operator("a", "T", 3.0, work=(1, 1337))])
    peaks = pa.parse_peaks("1T:1T")
    result = pa.run(pa.Query(where=where, peaks=peaks), profile)
    assert len(result) == found, pa.run(pa.Query(peaks=peaks), profile)[column]
    assert len(pa.run(pa.Query(having=where, by="name", peaks=peaks), profile)) == found


def test_numbers_without_a_unit_have_the_unit_1() -> None:
    bare = {column.name: column.shown_as for column in CATALOG if column.unit == "1"}
    ratios = (
        *("ratio", "ratio_low", "ratio_high", "relative_ratio", "relative_low", "relative_high"),
        *("ratio_per_work", "ratio_per_work_low", "ratio_per_work_high"),
    )
    factors = dict.fromkeys((*ratios, "work_ratio", "p_value"), "digits")
    counts = dict.fromkeys(
        ("calls", "count", "runs", "registers", "tiles", "tiles_m", "tiles_n", "tiles_k"), "count"
    )
    shares = (
        *("spread", "share", "cumulative_share", "efficiency", "change"),
        *("macs_share", "param_share", "sparsity", "sparsity_block"),
        *("occupancy", "rank_spread", "tile_efficiency"),
    )
    assert bare == {"gain": "decimals"} | factors | counts | dict.fromkeys(shares, "percent")
    assert not [column for column in CATALOG if not column.unit and column.kind == "number"]
    gains = [value_text(find_column("gain"), gain) for gain in (1.0666, 1.0, 0.998, 462.018)]
    assert gains == ["1.07", "1.00", "1.00", "462.02"]
    assert value_text(find_column("p_value"), 0.04567) == "0.0457"
    assert value_text(find_column("efficiency"), 1.0666) == "106.7%"
    (condition,) = pa.Query(peaks=pa.parse_peaks("100G:20G"), where="gain > 1.01").conditions
    assert condition.bound == 1.01


def test_mypy_rejects_group_formulas_that_use_the_profile() -> None:
    """Checked by mypy, which reports each `type: ignore` that is not needed."""

    def of_operators(rows: OperatorRows) -> Values:
        return rows.profile.operators.key

    def of_groups(rows: GroupRows) -> Values:
        return rows.sizes

    def of_any(rows: Rows) -> Values:
        return rows.profile.operators.memory  # type: ignore[attr-defined, no-any-return]

    def wrong(rows: GroupRows) -> Values:
        return rows.profile.operators.memory  # type: ignore[attr-defined, no-any-return]

    Formulas({"x": of_any}, {"x": of_operators}, {"x": wrong})
    Formulas({}, {"x": of_groups}, {})  # type: ignore[dict-item]
    Formulas({}, {}, {"x": of_operators})  # type: ignore[dict-item]


@pytest.mark.parametrize("name", ["time", "param.mode", "name~^c", "memory.p90", "in_shapes"])
def test_columns_and_queries_can_be_pickled(name: str) -> None:
    column = find_column(name)
    copy: Column = pickle.loads(pickle.dumps(column))
    assert copy == column == find_column(name)
    query = pa.Query(by=["type", r"name~(\d)", "param.mode"], order="+count", having="count > 1")
    again = pickle.loads(pickle.dumps(query))
    assert (again, again.used, again.group_conditions) == (
        query,
        query.used,
        query.group_conditions,
    )


PAGE = " ".join(column_list().split())


def listed(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"


def test_a_repeated_column_is_shown_once() -> None:
    outcome = run_command(RESNET, "--columns", "time,id,time,opr_id", "-t1", "--format", "csv")
    assert outcome.out.splitlines() == ["time_s,id", "0.008782000000000012,324"]


def test_the_page_lists_the_columns_that_an_aggregate_renames() -> None:
    query = pa.Query(by="type", aggregates="max", peaks=pa.parse_peaks("100G:20G"))
    result = pa.run(query, pa.load(RESNET))
    names = {name: result.shown_column(name) for name in result.columns}
    renamed = [name for name, column in names.items() if column.name != name]
    aggregated = [column.name for column in CATALOG if column.of_groups == AGGREGATED]
    of_comparisons = ("base", "base_computation", "base_macs", "base_params", "base_memory")
    assert aggregated == [*renamed, *of_comparisons]
    assert all(names[name].name == f"{name}.max" for name in renamed)
    assert f"as `--aggregate` says: {listed(aggregated)}." in PAGE
    assert (heading(names["time"]), machine_name(names["time"])) == ("time max (s)", "time_max_s")
    sums = pa.run(query.changed(aggregates="sum"), pa.load(RESNET))
    assert [sums.shown_column(name).name for name in sums.columns] == list(sums.columns)


def test_the_page_lists_the_columns_for_programs() -> None:
    operators = program_columns(pa.Query(), several_runs=False)
    assert f"of operators: {listed(operators)}." in PAGE
    groups = program_columns(pa.Query(by="type"), several_runs=False)
    assert groups == ("type", "count", *operators[3:9])
    assert operators[4] == "share"
    assert operators[8] == "bandwidth"
    several = program_columns(pa.Query(), several_runs=True)
    assert several == (*operators[:4], "spread", *operators[4:])
    judged = program_columns(pa.Query(peaks=pa.parse_peaks("100G:20G")), several_runs=False)
    assert (judged[:9], judged[13:]) == (operators[:9], operators[9:])
    assert f"`--peaks` adds {listed(judged[9:13])}." in PAGE
    compared = program_columns(pa.Query(compared=True), several_runs=False)
    assert (compared[:4], compared[20:]) == (operators[:4], operators[4:])
    assert f"`--compare` adds {listed(compared[4:20])}." in PAGE


def test_control_characters_are_escaped_in_formats_for_programs(tmp_path: Path) -> None:
    path = written(tmp_path / "run.json", [Operator("a\x1b[1mb", "T", 1.0)])
    csv, lines = (
        run_command(path, "--columns", "name", "--format", one) for one in ("csv", "jsonl")
    )
    assert csv.out == "name\r\na\\x1b[1mb\r\n"
    assert lines.out == '{"measure":"time","name":"a\\u001b[1mb"}\n'


def test_missing_times_and_dtypes_are_not_available() -> None:
    """`b` has no device time, `a` ends before its first kernel, and one dtype is unknown."""
    found = document([Operator("a", "T", 1.0), Operator("b", "T", None)])
    found["profiler"]["device"]["0"]["gpu0:0"]["kern"] = 2e-6
    found["profiler"]["host"] = {"1": {"thread": {"start": 0, "end": 1e-6}}}
    dtypes = {"v0": "Float32", "v1": None, "v2": "Float32", "v3": "Int8"}
    found["graph_exec"]["var"] = {
        name: {"mem_plan": {"layout": {"dtype": dtype}} if dtype else None}
        for name, dtype in dtypes.items()
    }
    found["graph_exec"]["operator"]["0"]["input"] = ["v1", "v0", "v3", "v2"]
    found["graph_exec"]["operator"]["1"]["input"] = ["v1"]
    profile = profile_of_document(found)
    (a,) = pa.run(pa.Query(), profile).rows
    assert (a["runs"], a["wait"], a["input_dtype"]) == (1, None, "Float32, Int8, N/A")
    assert a["compute_dtype"] == "fp32"
    (b,) = pa.run(pa.Query(measure="host_time"), profile).rows
    assert (b["name"], b["runs"], b["input_dtype"]) == ("b", 1, None)
    assert b["compute_dtype"] is None
    (b,) = pa.run(pa.Query(measure="host_wait"), profile).rows
    assert (b["time"], b["runs"]) == (None, 0)
    equal = pa.run(pa.Query(where="input_dtype == Float32"), profile)
    assert len(equal) == 0
    assert len(pa.run(pa.Query(where="input_dtype ~ Float32"), profile)) == 1


def test_operators_of_unknown_dtype_are_a_group_of_their_own() -> None:
    path = str(PROFILES / "int8.json")
    groups = pa.run(pa.Query(by="compute_dtype"), pa.load(path))
    assert list(zip(groups["compute_dtype"], groups["count"], strict=True)) == [
        ("int8", 4),
        (None, 17),
    ]
    arguments = (path, "--aggregate-by", "compute_dtype", "--columns", "compute_dtype,count")
    csv, lines = (run_command(*arguments, "--format", one).out for one in ("csv", "jsonl"))
    assert csv.splitlines() == ["compute_dtype,count", "int8,4", ",17"]
    assert '"compute_dtype":null,"count":17' in lines
    found = pa.run(pa.Query(where="compute_dtype == int8"), pa.load(path))
    assert set(found["type"]) == {"ConvBiasForward"}


def test_names_for_programs_do_not_look_like_aggregates_of_other_columns() -> None:
    """The aggregate `time.max` has the name `time_max_s`, so `time_max` needs an `export_name`."""
    names = {column.name for column in CATALOG}
    checked = []
    for column in CATALOG:
        base, _, last = column.name.rpartition("_")
        if find_aggregate(last) and base in names:
            assert column.export_name, f"{column.name} needs an export_name"
            checked.append(column.name)
    assert checked == ["time_min", "time_max", "time_median"]


def test_shared_names_of_optional_columns_are_those_of_the_columns() -> None:
    def names(prefix: str) -> tuple[str, ...]:
        return tuple(column.name for column in CATALOG if column.name.startswith(prefix))

    tiles = [column for column in model_columns.COLUMNS if column.name in model_columns.TILE_NAMES]
    assert names("onnx_tool_") == ONNX_TOOL_NAMES
    assert names("sparsity") == SPARSITY_NAMES
    assert tuple(column.name for column in tiles if column.timed) == TILE_AMOUNTS

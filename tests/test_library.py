"""The library, as a notebook uses it."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import FrozenInstanceError
from importlib import metadata
from math import inf, nan

import numpy as np
import pytest

import profile_analyze as pa
from profile_analyze.columns.catalog import group_keys
from profile_analyze.model.findings import Finding, Kind
from tests.conftest import PROFILES
from tests.findings.found import with_code
from tests.small import Operator, profile_of

TINY = str(PROFILES / "tiny.json")


KEYS = f"{', '.join(group_keys())}, scope/N, param.NAME, name~REGEX"


def test_public_names_are_listed_and_documented() -> None:
    assert dir(pa) == sorted(pa.__all__)
    assert len(set(pa.__all__)) == len(pa.__all__)
    for name in pa.__all__:
        exported = getattr(pa, name)
        if callable(exported):
            # data classes and named tuples without a docstring get one such as "Run(name)"
            assert not (exported.__doc__ or name).startswith(name), name
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = pa.nothing


def test_a_star_import_gives_the_public_names() -> None:
    names: dict[str, object] = {}
    exec("from profile_analyze import *", names)
    assert names.keys() - {"__builtins__"} == set(pa.__all__)


def test_the_version_is_the_version_of_the_installed_package() -> None:
    assert metadata.version("profile_analyze") == pa.__version__


def test_importing_the_package_imports_no_numpy() -> None:
    code = "import sys, profile_analyze; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_rows_and_columns_have_the_values_of_operators() -> None:
    profile = pa.load(TINY)
    assert (len(profile), profile.file) == (4, TINY)
    assert profile.origin.format == "MegEngine GraphProfiler JSON"
    assert profile.measured("time").shape == (4, 1)
    result = pa.run(pa.Query(order="+memory", top=2), profile)
    assert [tuple(row) for row in result.rows] == [result.columns] * 2
    first = result.rows[0]
    assert (first["id"], first["name"], first["out_shapes"]) == (6, "data", ((), ()))
    assert (first["time"], first["share"]) == pytest.approx((1e-6, 0.2))
    assert (first["memory"], first["computation"], first["scope"]) == (0.0, None, None)
    np.testing.assert_array_equal(result["computation"], [nan, nan])
    assert result["id"].dtype == np.int64
    assert result["name"].tolist() == ["data", "const<1>[2]"]
    assert (result.recorded, result.matched, result.available, len(result)) == (4, 4, 4, 2)
    assert (result.without_memory, result.notes) == (0, ())
    assert result.total_s == pytest.approx(5e-6)


def test_groups_have_columns_of_their_own() -> None:
    result = pa.run(pa.Query(by="type", aggregates="max,count"), pa.load(TINY))
    assert result["count"].tolist() == [1, 1, 1, 1]
    with pytest.raises(pa.UnknownColumnError, match="groups have no column 'name'"):
        _ = result["name"]
    assert result["time.count"].tolist() == [1, 1, 1, 1]
    assert result["time.count"].dtype == np.int64
    everything = pa.run(pa.Query(aggregates="sum"), pa.load(TINY))
    assert everything["count"].tolist() == [4]
    with pytest.raises(pa.UnknownColumnError, match="groups have no column 'type'"):
        _ = everything["type"]


def test_repeated_keys_aggregates_and_conditions_are_dropped() -> None:
    query = pa.Query(
        by="type,type",
        aggregates="p50.0,sum,p50,sum",
        where=["time > 0"] * 2,
        having=["count > 0"] * 2,
    )
    assert (query.by, query.aggregates) == (("type",), ("p50", "sum"))
    assert (query.where, query.having) == (("time > 0",), ("count > 0",))


def test_a_query_is_parsed_only_when_it_is_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    query = pa.Query(by=["type", "type"], where="time > 1us", having="count > 1", order="+time")
    assert [column.name for column in query.by_columns] == ["type"]
    assert [(one.column.name, one.bound) for one in query.conditions] == [("time", 1e-6)]
    assert [(one.column.name, one.bound) for one in query.group_conditions] == [("count", 1.0)]
    assert [(one.column.name, one.ascending) for one in query.parsed_order] == [("time", True)]
    assert [column.name for column in query.used] == ["type", "time", "time", "count"]

    def refuse(*_: object) -> float:
        raise AssertionError

    monkeypatch.setattr("profile_analyze.query.conditions.parse_quantity", refuse)
    monkeypatch.setattr("profile_analyze.query.order.find_column", refuse)
    assert pa.run(query, pa.load(TINY)).rows == []


def test_equality_and_repr_of_a_query_ignore_parsed_fields() -> None:
    fields = {"where": ("time > 1us",), "by": ("type",), "order": ("count",), "top": 3}
    query = pa.Query(**fields)  # type: ignore[arg-type]
    again = pa.Query().changed(**fields, aggregates="sum")
    assert (query, hash(query), repr(query)) == (again, hash(again), repr(again))
    assert query != query.changed(where="time > 1.0us")
    assert "Condition" not in repr(query)
    assert "order=('count',), top=3" in repr(query)
    changed = query.changed(where=(), by=("name",), order="name")
    assert changed == pa.Query(by="name", order="name", top=3)
    assert changed.wanted == frozenset()
    assert (changed.conditions, changed.by_columns) == ((), changed.used[:1])


def test_queries_are_frozen_values() -> None:
    query = pa.Query(types="Elemwise", by=["type"], order=["+time", "count"])
    assert query == pa.Query(types=("Elemwise",), by=("type",), order=("+time", "count"))
    assert query.aggregate == "sum"
    assert hash(query) == hash(
        pa.Query(types=("Elemwise",), by=("type",), order=("+time", "count"))
    )
    with pytest.raises(FrozenInstanceError):
        query.top = 3  # type: ignore[misc]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            {"measure": "gpu"},
            "measure: 'gpu' is not one of time, wait, host_time, host_wait, time_median, self, queue, thread_wait",
        ),
        ({"level": "layer"}, "level: 'layer' is not one of operator, top, kernel, module"),
        ({"unit": "run"}, "unit: 'run' is not one of process, iteration"),
        (
            {"split_by": "device,name"},
            "split_by: 'name' is not one of run, file, step, track, stream, device, rank, kernel, phase",
        ),
        ({"split_by": 5}, "split_by: 5 is not a text or several texts"),
        ({"by": "memory"}, f"by: 'memory' is not one of {KEYS}"),
        ({"by": "type,xyz"}, f"by: 'xyz' is not one of {KEYS}"),
        (
            {"aggregates": ["sum", "most"]},
            "aggregates: 'most' is not one of sum, mean, max, min, median, std, count, or a "
            "percentile such as p90",
        ),
        ({"top": -1}, "top: -1 rows cannot be shown; 0 shows all"),
        ({"top": 2.5}, "top: 2.5 is not a number of rows"),
        ({"types": [5]}, "types: [5] is not a text or several texts"),
        ({"order": 5}, "order: 5 is not a text or several texts"),
        (
            {"run_statistic": "mode"},
            "run_statistic: 'mode' is not one of median, mean, min, max",
        ),
        ({"threshold": -0.1}, "threshold: -0.1 is not a fraction such as 0.03"),
        ({"threshold": inf}, "threshold: inf is not a fraction such as 0.03"),
        ({"threshold": nan}, "threshold: nan is not a fraction such as 0.03"),
        ({"threshold": "3%"}, "threshold: '3%' is not a fraction such as 0.03"),
        (
            {"by": "file", "compared": True},
            "file: a comparison combines all runs of a side and cannot show them one by one",
        ),
        (
            {"split_by": "run", "compared": True},
            "run: a comparison combines all runs of a side and cannot show them one by one",
        ),
        (
            {"split_by": ["device", "step"], "compared": True},
            "step: a comparison combines all runs of a side and cannot show them one by one",
        ),
        (
            {"order": "difference"},
            "difference needs a profile to compare with; add --compare FILE",
        ),
        ({"name": 5}, "name: 5 is not a text"),
        (
            {"min_time_s": "1ms"},
            "min_time_s: '1ms' is a text, not a number of seconds; parse_time converts it",
        ),
        ({"max_time_s": []}, "max_time_s: [] is not a number of seconds"),
        ({"min_time_s": nan}, "min_time_s and max_time_s cannot be NaN"),
        ({"max_time_s": nan}, "min_time_s and max_time_s cannot be NaN"),
    ],
)
def test_wrong_queries_are_refused(fields: dict[str, object], message: str) -> None:
    with pytest.raises(pa.QueryError) as caught:
        pa.Query(**fields)  # type: ignore[arg-type]
    assert str(caught.value) == message
    assert caught.value.exit_code == 2


def test_a_query_takes_numbers_of_numpy() -> None:
    query = pa.Query(top=np.int64(3), min_time_s=np.float64(0.5), by=iter(()))  # type: ignore[arg-type]
    assert (query.top, query.min_time_s, query.aggregates) == (3, 0.5, ())


def test_infinite_bounds_keep_all_operators() -> None:
    profile = pa.load(TINY)
    assert len(pa.run(pa.Query(min_time_s=-inf, max_time_s=inf), profile)) == 4


def test_optional_columns_can_be_left_out() -> None:
    profile = pa.load(TINY, wanted=())
    assert profile.operators.state("input_dtypes") == "not loaded"
    with pytest.raises(pa.QueryError) as caught:
        pa.run(pa.Query(input_dtype="Float32"), profile)
    assert str(caught.value) == "input_dtypes: the profile was loaded without this column"
    assert not {"in_shapes", "parameters"} & set(pa.run(pa.Query(), profile).columns)


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        (pa.Query(), set()),
        (pa.Query(input_dtype="Float32"), {"input_dtypes"}),
        (pa.Query(by="param.mode"), {"parameters"}),
        (pa.Query(by="in_shapes", order="+count"), {"in_shapes"}),
        (pa.Query(where="out_shapes == {1}"), {"out_shapes"}),
        (pa.Query(order="param.stride_h"), {"parameters"}),
        (pa.Query(by="input_dtype", having="input_dtype ~ F"), {"input_dtypes"}),
        (pa.Query(by="compute_dtype"), {"compute_dtype"}),
    ],
)
def test_a_query_names_the_optional_columns_that_it_needs(
    query: pa.Query, wanted: set[str]
) -> None:
    assert query.wanted == wanted
    path = str(PROFILES / "resnet18.json")
    partly = pa.run(query, pa.load(path, wanted=query.wanted))
    assert partly["time"].tolist() == pa.run(query, pa.load(path))["time"].tolist()


def test_operators_have_the_dtypes_of_their_inputs() -> None:
    static = pa.load(str(PROFILES / "direct-static.json"))
    dtypes = static.operators.categorical("input_dtypes")
    assert ("Float32", "Float32") in dtypes.categories


def test_a_report_prints_like_the_command() -> None:
    from tests.conftest import run_command

    profile = pa.counting_constants(pa.load(TINY))
    report = pa.Report.of(pa.summarise(profile), (pa.run(pa.Query(top=3), profile),))
    assert pa.render(report) == run_command(TINY).out
    assert pa.render(report, "wiki") == run_command(TINY, "--wiki").out
    assert pa.render(report, "operators") == run_command(TINY, "--dump-only-opr").out


def test_values_are_read_only() -> None:
    profile = pa.load(TINY)
    result = pa.run(pa.Query(), profile)
    key = profile.operators.key
    assert isinstance(key, np.ndarray)
    for values in (
        result["time"],
        result["name"],
        result["id"],
        key,
        profile.operators.memory,
        profile.operators.type.codes,
        profile.measured("time"),
        profile.executions.start_s,
    ):
        with pytest.raises(ValueError, match="read-only"):
            values[0] = values[1]


def test_values_have_a_short_repr() -> None:
    profile = pa.load(TINY)
    assert repr(profile) == f"Profile({TINY!r}, 4 operators, 'MegEngine GraphProfiler JSON')"
    assert repr(profile.executions) == "Executions(8 executions)"
    assert repr(profile.operators.type) == "Categorical(4 values, 4 distinct)"
    result = pa.run(pa.Query(aggregates="sum"), profile)
    assert repr(result) == f"Table(1 group of 1, columns={result.columns})"
    assert repr(pa.COLUMNS[0]) == (
        "Column('id', unit='', meaning='the number or the text that identifies the operator in its "
        "file; numbers within texts are ordered by size: conv2 before conv10')"
    )


def test_a_table_iterates_over_its_rows() -> None:
    result = pa.run(pa.Query(), pa.load(TINY))
    assert list(result) == result.rows
    assert result.rows[0]["name"] == "ADD"


def test_an_unknown_output_format_is_refused() -> None:
    report = pa.Report()
    with pytest.raises(
        pa.QueryError,
        match="output_format: 'html' is not one of table, plain, markdown, ",
    ):
        pa.render(report, "html")


def test_a_table_has_the_notes_of_its_profile() -> None:
    profile = pa.load(str(PROFILES / "trace-dyn.json"))
    assert len(profile.notes) == 1
    assert pa.run(pa.Query(), profile).notes == profile.notes


def test_a_slow_pattern_is_stopped() -> None:
    from profile_analyze.columns.patterns import matches

    with pytest.raises(pa.PatternError) as caught:
        list(matches("(a|aa|b)+$", ["a" * 60 + "c"], limit_s=0.05))
    assert str(caught.value) == (
        "pattern '(a|aa|b)+$' took more than 0.05 s; repetitions inside repetitions, as in "
        "(a+)+, make it slow"
    )
    with pytest.raises(pa.PatternError, match=r"took more than 0\.05 s"):
        list(matches("(a|aa|b)+$", ["a" * 21 + "c"] * 10_000, limit_s=0.05))
    with pytest.raises(pa.PatternError, match="took more than 0 s"):
        list(matches("a", ["a"], limit_s=0.0))


def test_a_type_has_a_note_if_the_profile_has_no_operators() -> None:
    (finding,) = with_code(pa.run(pa.Query(types="Conv"), profile_of([])).notes, "unknown-type")
    assert (finding["type"], finding["meant"], finding["common"]) == ("Conv", (), ())


def test_quotes_stand_for_an_empty_text() -> None:
    profile = profile_of([Operator("", "T", 1), Operator("''", "T", 2)])
    for where in ("name == ''", 'name == ""'):
        assert pa.run(pa.Query(where=where), profile)["name"].tolist() == [""]


def test_rows_can_be_ordered_by_parts_of_shapes() -> None:
    profile = profile_of([Operator("a", "T", 1, shape=[size]) for size in (3, 5, 4)])
    part = r"in_shapes~\d+"
    assert pa.run(pa.Query(by=part, order=part), profile)[part].tolist() == ["5", "4", "3"]


@pytest.mark.parametrize(("unknown_us", "is_most"), [(5, False), (6, True)])
def test_an_order_that_leaves_out_most_of_the_time_has_a_note(
    unknown_us: int, *, is_most: bool
) -> None:
    known = Operator("a", "T", 5, work=(1, 1))
    profile = profile_of([known, Operator("b", "T", unknown_us)])
    unranked = {"operators": 1, "column": "computation"}
    finding = Finding.of("unranked-rows", Kind.ANSWER, share=0.545, **unranked)
    for query in (pa.Query(order="computation"), pa.Query(order="computation", where="name == a")):
        expected = [finding] if is_most and not query.where else []
        notes = pa.run(query, profile).notes
        assert with_code(notes, "unranked-rows", decimals=3) == expected


def test_an_order_without_effect_has_a_note_from_two_rows_on() -> None:
    idle = {"column": "computation", "of_host": False, "has_times": True}
    for count, notes in ((1, ()), (2, (Finding.of("idle-order", Kind.ANSWER, **idle),))):
        profile = profile_of([Operator(f"a{number}", "T", 1) for number in range(count)])
        assert pa.run(pa.Query(order="computation"), profile).notes == notes

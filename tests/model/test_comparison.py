"""A profile beside its base: what is matched, what changed, and whether that is told rightly."""

from __future__ import annotations

import json
from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given

import profile_analyze as pa
from profile_analyze.cli.arguments import parser
from profile_analyze.model.comparison import MATCHES
from profile_analyze.model.terms import RUN_KEYS
from profile_analyze.query.catalog import CATALOG
from profile_analyze.query.question import DEFAULT_THRESHOLD
from tests.conftest import examples, run_command
from tests.small import Operator, document, profile_of, profile_of_document, runs_of, written
from tests.strategies import documents, runs_of_one

if TYPE_CHECKING:
    from pathlib import Path

# name, type, microseconds
BASE = [Operator("conv", "Conv", 100), Operator("relu", "Relu", 20), Operator("old", "Add", 5)]
NEW = [Operator("conv", "Conv", 150), Operator("relu", "Relu", 18), Operator("new", "Mul", 7)]


def compared(**options: Any) -> pa.Table:
    comparison = pa.compare(profile_of(NEW), profile_of(BASE))
    return pa.run(pa.Query(compared=True, **options), comparison)


def test_all_rows_of_a_small_comparison() -> None:
    names = ("name", "time", "base", "difference", "change", "ratio", "verdict", "match")
    rows = [tuple(row[name] for name in names) for row in compared().rows]
    assert rows == [
        ("conv", us(150), us(100), us(50), near(0.5), near(1.5), None, "name"),
        ("new", us(7), None, us(7), None, None, "added", "added"),
        ("old", None, us(5), us(-5), None, None, "removed", "removed"),
        ("relu", us(18), us(20), us(-2), near(-0.1), near(0.9), None, "name"),
    ]


def test_groups_of_a_comparison() -> None:
    names = ("type", "count", "time", "base", "difference", "ratio", "match")
    assert [
        tuple(row[name] for name in names) for row in compared(by="type", order="+type").rows
    ] == [
        ("Add", 1, None, us(5), us(-5), None, "removed"),
        ("Conv", 1, us(150), us(100), us(50), near(1.5), "both"),
        ("Mul", 1, us(7), None, us(7), None, "added"),
        ("Relu", 1, us(18), us(20), us(-2), near(0.9), "both"),
    ]
    (whole,) = compared(aggregates="sum").rows
    assert (whole["time"], whole["base"], whole["difference"]) == (us(175), us(125), us(50))
    assert whole["match"] == "both"


def test_time_limits_apply_to_either_side() -> None:
    kept = compared(min_time_s=19e-6, order="+name")
    assert kept["name"].tolist() == ["conv", "relu"]
    assert compared(where="time > 19us")["name"].tolist() == ["conv"]
    assert compared(where="ratio < 1")["name"].tolist() == ["relu"]
    assert compared(where="match == removed")["name"].tolist() == ["old"]
    assert compared(by="match", order="+match")["match"].tolist() == ["added", "name", "removed"]


def test_renamed_operators_match_by_structure() -> None:
    base = profile_of([Operator("a", "Conv", 10, shape=[3]), Operator("b", "Conv", 20, shape=[4])])
    new = profile_of([Operator("x", "Conv", 21, shape=[4]), Operator("y", "Conv", 11, shape=[3])])
    matched = {"auto": "structure", "structure": "structure", "name": "added"}
    assert set(matched) == set(MATCHES)
    for rule, how in matched.items():
        result = pa.run(pa.Query(compared=True, order="+time"), pa.compare(new, base, rule))
        found = {row["name"]: (row["match"], row["base"]) for row in result.rows}
        if how == "structure":
            assert found == {"x": (how, us(20)), "y": (how, us(10))}
        else:
            removed = {"a": ("removed", us(10)), "b": ("removed", us(20))}
            assert found == {"x": (how, None), "y": (how, None)} | removed


def test_equal_operators_match_in_the_order_of_execution() -> None:
    base = profile_of([Operator("c", "Conv", 10, start=5), Operator("c", "Conv", 20, start=1)])
    new = profile_of([Operator("c", "Conv", 21, start=2), Operator("c", "Conv", 11, start=3)])
    result = pa.run(pa.Query(compared=True, order="time"), pa.compare(new, base))
    assert [(row["time"], row["base"]) for row in result.rows] == [
        (us(21), us(20)),
        (us(11), us(10)),
    ]


def test_different_parameters_do_not_match() -> None:
    base = profile_of([Operator("a", "Conv", 10, parameters={"stride": 1})])
    new = profile_of([Operator("b", "Conv", 10, parameters={"stride": 2})])
    assert pa.compare(new, base).match.values().tolist() == ["added", "removed"]


def test_an_unknown_way_to_match() -> None:
    profile = profile_of(BASE)
    with pytest.raises(pa.QueryError, match="match: 'id' is not one of auto, name, structure"):
        pa.compare(profile, profile, "id")


def test_a_comparison_needs_a_compared_query() -> None:
    comparison = pa.compare(profile_of(NEW), profile_of(BASE))
    with pytest.raises(pa.QueryError, match="compared: this question needs a profile; got Comp"):
        pa.run(pa.Query(), comparison)
    with pytest.raises(pa.QueryError, match=r"compared: .* a comparison, from compare\(\); got"):
        pa.run(pa.Query(compared=True), profile_of(NEW))


def test_notes_on_matching() -> None:
    comparison = pa.compare(profile_of(NEW, "new.json"), profile_of(BASE))
    assert comparison.notes == (
        "2 operators matched with the base, 1 added, 1 removed; the column match says how",
    )
    other = pa.compare(profile_of(NEW, "new.json"), profile_of([Operator("z", "Pool", 1)]))
    assert other.notes == (
        "no operator of the base was matched, so that all are added or removed: these are "
        "different models; --aggregate-by type compares them by kind",
    )
    assert pa.compare(profile_of(NEW), profile_of(NEW)).notes == (
        "1 file on both sides, such as small.json",
    )
    assert (
        repr(comparison)
        == "Comparison(Profile('new.json', 4 operators, 'MegEngine GraphProfiler JSON'), base='small.json')"
    )


SLOW = [110, 111, 112, 113, 114, 115, 116, 117]
FAST = [100, 101, 102, 103, 104, 105, 106, 107]
WIDE = [80, 85, 90, 100, 105, 110, 120, 130]


@pytest.mark.parametrize(
    ("new", "base", "verdict"),
    [
        (SLOW, FAST, "slower"),
        (FAST, SLOW, "faster"),
        (FAST, FAST, "uncertain"),
        ([100] * 8, [100] * 8, "same"),
        ([101] * 8, [100] * 8, "same"),
        (WIDE, FAST, "uncertain"),
        (SLOW[:4], FAST[:4], "slower"),
        (SLOW[:3], FAST, None),
        (SLOW, FAST[:3], None),
    ],
)
def test_verdicts(new: list[int], base: list[int], verdict: str | None) -> None:
    comparison = pa.compare(runs_of("conv", new), runs_of("conv", base))
    result = pa.run(pa.Query(compared=True), comparison)
    assert result["verdict"].tolist() == [verdict]
    change = pa.summarise(comparison).change
    assert change is not None
    assert change.verdict == verdict
    assert change.ratio == pytest.approx(np.median(new) / np.median(base))
    assert bool(change.notes) == (verdict is None)
    if verdict:
        assert change.low <= change.ratio <= change.high
    else:
        assert isnan(change.low)
        assert isnan(change.p_value)


def test_the_threshold_of_verdicts() -> None:
    comparison = pa.compare(runs_of("conv", SLOW), runs_of("conv", FAST))
    for threshold, verdict in ((0.03, "slower"), (0.2, "same"), (0.1, "uncertain")):
        result = pa.run(pa.Query(compared=True, threshold=threshold), comparison)
        assert result["verdict"].tolist() == [verdict]


def test_the_summary_explains_the_difference() -> None:
    comparison = pa.compare(profile_of(NEW), profile_of(BASE))
    change = pa.summarise(comparison, judged_by=pa.Query(compared=True)).change
    assert change is not None
    assert (change.base_file, change.base_runs) == ("small.json", 1)
    assert (change.base_time_s, change.difference_s) == (us(125), us(50))
    assert (change.verdicts, change.of_groups) == (
        (("added", 1), ("removed", 1), ("N/A", 2)),
        False,
    )
    assert [(one.label, one.difference_s, one.share) for one in change.contributions] == [
        ("Conv", us(50), near(1.0)),
        ("Mul", us(7), near(0.14)),
        ("Add", us(-5), near(-0.1)),
    ]


@pytest.mark.parametrize(
    ("new", "base", "shown"),
    [
        (
            FAST,
            SLOW,
            "faster than the base: 0.000114 s instead of 0.000125 s, -8.8%\n"
            "largest differences by type: Conv -1e-05 s, 90.9% of the difference (faster); "
            "Relu -1e-06 s, 9.1% of the difference (faster)\n"
            "faster: conv -1e-05 s, 0.912 times the base\n"
            "faster: relu -1e-06 s, 0.912 times the base\n"
            "2 operators with a time: 2 faster\n",
        ),
        (
            SLOW,
            FAST,
            "slower than the base: 0.000125 s instead of 0.000114 s, +9.7%\n"
            "largest differences by type: Conv +1e-05 s, 90.9% of the difference (slower); "
            "Relu +1e-06 s, 9.1% of the difference (slower)\n"
            "slower: conv +1e-05 s, 1.1 times the base\n"
            "slower: relu +1e-06 s, 1.1 times the base\n"
            "2 operators with a time: 2 slower\n",
        ),
    ],
)
def test_the_text_of_a_clear_change(new: list[int], base: list[int], shown: str) -> None:
    def runs(times_us: list[int]) -> pa.Profile:
        return pa.join_runs(
            profile_of([Operator("conv", "Conv", one), Operator("relu", "Relu", one / 10)])
            for one in times_us
        )

    query = pa.Query(compared=True)
    summary = pa.summarise(pa.compare(runs(new), runs(base)), judged_by=query)
    text = pa.render(pa.Report.of(summary, ()), "plain")
    assert text[text.index("verdict  ") :].partition("\n")[2] == shown


def test_a_comparison_without_times() -> None:
    empty = profile_of([Operator("a", "Conv", None)])
    comparison = pa.compare(empty, empty)
    change = pa.summarise(comparison).change
    assert change is not None
    assert (change.verdict, change.contributions, change.verdicts) == (None, (), ())
    assert isnan(change.difference_s)
    assert pa.render(pa.Report.of(pa.summarise(comparison), ()), "plain") == (
        "total device time  N/A\n"
        "total host time    N/A\n"
        "runs               1\n"
        "base device time   N/A\n"
        "base runs          1\n"
        "difference         N/A\n"
        "ratio              N/A\n"
        "verdict            N/A\n"
    )


def test_equal_sides_have_no_change() -> None:
    @examples(100)
    @given(runs=runs_of_one())
    def check(runs: list[dict[str, Any]]) -> None:
        profile = pa.join_runs(map(profile_of_document, runs))
        comparison = pa.compare(profile, profile)
        assert comparison.match.values().tolist() == ["name"] * len(profile)
        result = pa.run(pa.Query(compared=True), comparison)
        assert not result["difference"][~np.isnan(result["difference"])].any()
        assert set(result["verdict"].tolist()) <= {None, "same", "uncertain"}

    check()


@examples(150)
@given(new=documents(), base=documents())
def test_sides_can_be_swapped(new: dict[str, Any], base: dict[str, Any]) -> None:
    ours, theirs = profile_of_document(new), profile_of_document(base)
    one, other = pa.compare(ours, theirs, "name"), pa.compare(theirs, ours, "name")
    kinds = one.match.values().tolist()
    assert len(kinds) == kinds.count("added") + kinds.count("removed") + kinds.count("name")
    assert kinds.count("added") + kinds.count("name") == len(ours)
    assert kinds.count("removed") + kinds.count("name") == len(theirs)
    there, back = ({key(row): row for row in rows_of(side)} for side in (one, other))
    assert there.keys() == {swapped(found) for found in back}
    for found, row in there.items():
        reverse = back[swapped(found)]
        assert (row["time"], row["base"]) == (reverse["base"], reverse["time"])
        assert row["difference"] == (None if (d := reverse["difference"]) is None else -d)
        if row["ratio"] and reverse["ratio"]:
            assert row["ratio"] * reverse["ratio"] == near(1.0)


def rows_of(comparison: pa.Comparison) -> list[dict[str, Any]]:
    return pa.run(pa.Query(compared=True, by="match", aggregates="sum"), comparison).rows


def key(row: dict[str, Any]) -> str:
    return str(row["match"])


def swapped(match: str) -> str:
    return {"added": "removed", "removed": "added"}.get(match, match)


def us(microseconds: float) -> Any:
    return pytest.approx(microseconds * 1e-6)


def near(value: float) -> Any:
    return pytest.approx(value)


def test_every_format_shows_a_comparison(tmp_path: Path) -> None:
    new, base = written(tmp_path / "new.json", NEW), written(tmp_path / "base.json", BASE)
    for form in pa.FORMS:
        if form in ("operators", "junit"):
            continue
        outcome = run_command(new, "--compare", base, "--format", form, "--aggregate-by", "type")
        assert outcome.code == 0
        assert "nan" not in outcome.out
        if form not in ("csv", "jsonl", "github"):
            assert "0.000175" in outcome.out
    assert (
        "::notice title=profile_analyze::largest differences by type: Conv +5e-05 s"
        in run_command(new, "--compare", base, "--format", "github").out
    )
    found = json.loads(run_command(new, "--compare", base, "--format", "json").out)
    origin = {
        "format": "MegEngine GraphProfiler JSON",
        "format_version": None,
        "times": "of each execution",
        "averaged_over": None,
        "hardware": None,
    }
    track = {
        "name": "gpu0:0",
        "side": "device",
        "kind": "comp node",
        "device": "gpu0:0",
        "process": None,
        "rank": None,
    }
    sizes = {"operators": 3, "processes": 1, "runs": 1}
    assert found["base"] == {**origin, "file": base, "files": [base], **sizes}
    assert found["profile"] == {
        **origin,
        "file": new,
        "files": [new],
        "level": "operator",
        **sizes,
        "executions": 3,
        "tracks": [track],
    }
    assert found["summary"]["comparison"]["difference_s"] == us(50)
    assert found["summary"]["comparison"]["verdict"] is None


def test_a_comparison_in_the_plain_format(tmp_path: Path) -> None:
    new, base = written(tmp_path / "new.json", NEW), written(tmp_path / "base.json", BASE)
    outcome = run_command(new, "--compare", base, "--format", "plain", "-t", "0")
    assert (
        outcome.out
        == """\
total device time  0.000175
total host time    N/A
runs               1
base device time   0.000125
base runs          1
difference         +5e-05 s (+40.0%)
ratio              1.4
verdict            N/A
no verdict: 0.000175 s instead of 0.000125 s, +40.0%
largest differences by type: Conv +5e-05 s; Mul +7e-06 s (added); Add -5e-06 s (removed)
4 operators with a time: 1 added, 1 removed, 2 N/A

  device self time (s)    base (s)    difference (s)    change    ratio  verdict      share  type    name
               0.00015      0.0001            +5e-05    +50.0%      1.5  N/A          85.7%  Conv    conv
                 7e-06         N/A            +7e-06       N/A      N/A  added         4.0%  Mul     new
                   N/A       5e-06            -5e-06       N/A      N/A  removed        N/A  Add     old
               1.8e-05       2e-05            -2e-06    -10.0%      0.9  N/A          10.3%  Relu    relu
"""
    )
    assert outcome.err == (
        "note: 2 operators matched with the base, 1 added, 1 removed; the column match says how\n"
        "note: verdicts are N/A: they need 4 runs or more on each side, and here are 1 and 1 of "
        "the base; with so few, large differences often occur by chance\n"
    )


def test_work_in_a_comparison_is_from_the_profile_only() -> None:
    def of(*names: str) -> pa.Profile:
        return profile_of([Operator(name, "Conv", 1, work=(10, 100)) for name in names])

    comparison = pa.compare(of("a", "b"), of("b", "c", "d"), "name")
    rows = {row["name"]: row for row in pa.run(pa.Query(compared=True), comparison).rows}
    assert [rows[name]["computation"] for name in "abcd"] == [10, 10, None, None]
    (whole,) = pa.run(pa.Query(compared=True, by="type"), comparison).rows
    assert (whole["count"], whole["computation"], whole["memory"]) == (4, 20, 200)
    assert whole["flops"] == pytest.approx(10e6)


def test_removed_operators_have_the_device_of_the_baseline() -> None:
    for key in ("device", "device~^(gpu)"):
        result = compared(by=key)
        (row,) = result.rows
        assert (row["time"], row["base"], row["match"]) == (us(175), us(125), "both")


@pytest.mark.parametrize("peaks", [None, pa.parse_peaks("1T:1G")])
def test_a_comparison_can_be_grouped_by_every_key(peaks: pa.Peaks | None) -> None:
    comparison = pa.compare(profile_of(NEW), profile_of(BASE))
    for column in CATALOG:
        if not column.is_key or column.name in RUN_KEYS or (column.needs_peaks and not peaks):
            continue
        for name in (column.name, f"{column.name}~(.)"):
            query = pa.Query(compared=True, by=name, peaks=peaks)
            result = pa.run(query, comparison)
            assert set(result["verdict"].tolist()) <= {None, "added", "removed"}
            change = pa.summarise(comparison, judged_by=query).change
            assert change is not None
            assert change.difference_s == us(50)
    named = pa.run(pa.Query(compared=True, by="match", order="+match"), comparison)
    assert named.labels == ["match=added", "match=name", "match=removed"]


def test_a_comparison_uses_medians() -> None:
    with pytest.raises(pa.QueryError, match="run_statistic: max: a comparison is of medians"):
        pa.Query(compared=True, run_statistic="max")


def test_summaries_for_programs_have_the_verdict(tmp_path: Path) -> None:
    new, base = written(tmp_path / "new.json", NEW), written(tmp_path / "base.json", BASE)
    call = [new, "--compare", base, "--print-only", "summary"]
    head, line = run_command(*call, "--format", "csv").out.splitlines()
    found = dict(zip(head.split(","), line.split(","), strict=True))
    assert (found["verdict"], found["ratio"], found["p_value"]) == ("", "1.4", "")
    assert json.loads(run_command(*call, "--format", "jsonl").out)["verdict"] is None


def test_an_unknown_order_lists_the_columns_of_a_comparison() -> None:
    with pytest.raises(pa.QueryError) as caught:
        pa.Query(compared=True, order="bogus")
    assert "match" in str(caught.value)
    assert "run," not in str(caught.value)


def test_rows_with_a_verdict_are_listed_by_name() -> None:
    def side(times: list[int]) -> pa.Profile:
        return pa.join_runs(
            profile_of([Operator("conv", "Conv", time), Operator("relu", "Relu", 50)], f"{time}")
            for time in times
        )

    comparison = pa.compare(side(SLOW), side(FAST))
    summary = pa.summarise(comparison, judged_by=pa.Query(compared=True))
    assert summary.change is not None
    assert [(one.label, one.verdict) for one in summary.change.called] == [("conv", "slower")]
    text = pa.render(pa.Report.of(summary, ()), "plain")
    assert (
        "slower: conv +1e-05 s, 1.1 times the base\n2 operators with a time: 1 slower, 1 same\n"
        in text
    )


@pytest.mark.parametrize(("runs", "told"), [(4, True), (5, False)])
def test_a_note_if_no_single_row_can_have_a_verdict(runs: int, told: bool) -> None:  # noqa: FBT001
    def side(shift: int) -> pa.Profile:
        return pa.join_runs(
            profile_of([Operator(name, "Conv", shift + run) for name in "abcde"], f"{shift}-{run}")
            for run in range(runs)
        )

    comparison = pa.compare(side(200), side(100))
    for by, what in (((), "operators"), (("name",), "groups")):
        query = pa.Query(compared=True, by=by)
        change = pa.summarise(comparison, judged_by=query).change
        assert change is not None
        note = (
            f"so few runs, 4 and 4 of the base, cannot show a change of just one of 5 {what}, "
            "however large; 5 on each side can"
        )
        assert change.notes == ((note,) if told else ())


def test_the_command_offers_every_way_to_match() -> None:
    (option,) = (one for one in parser()._actions if one.dest == "match")
    assert tuple(option.choices or ()) == tuple(MATCHES)
    assert f"default: {DEFAULT_THRESHOLD:.0%}" in parser().format_help()


@pytest.mark.parametrize(
    ("new", "base", "sentence"),
    [
        (NEW, [], "the base has none of these operators: 0.000175 s instead of N/A, N/A"),
        (
            [],
            BASE,
            "the profile has none of the operators of the base: N/A instead of 0.000125 s, N/A",
        ),
    ],
)
def test_one_side_without_operators(
    tmp_path: Path, new: list[Operator], base: list[Operator], sentence: str
) -> None:
    files = written(tmp_path / "new.json", new), written(tmp_path / "base.json", base)
    outcome = run_command(files[0], "--compare", files[1], "--print-only", "summary")
    assert outcome.code == 0
    assert sentence in outcome.out.splitlines()


def test_names_in_any_script_are_shown(tmp_path: Path) -> None:
    new = written(tmp_path / "new.json", [Operator("\u5377\u79ef", "\u5377", 3.0)])
    base = written(tmp_path / "base.json", [Operator("\u5377\u79ef", "\u5377", 1.0)])
    outcome = run_command(new, "--compare", base, "--format", "plain")
    assert "largest differences by type: \u5377 +2e-06 s, 100.0% of the difference\n" in outcome.out
    called = [
        written(tmp_path / f"{n}.json", [Operator("\u5377\u79ef", "\u5377", n + n % 7 / 100)])
        for n in (*range(10, 18), *range(40, 48))
    ]
    outcome = run_command(*called[8:], "--compare", *called[:8], "--format", "plain")
    assert "slower: \u5377\u79ef +" in outcome.out


def test_an_operator_with_a_host_time_only(tmp_path: Path) -> None:
    found = document([Operator("a", "A", None)])
    found["profiler"]["host"] = {"0": {"x": {"start": 0, "end": 1}}}
    path = tmp_path / "a.json"
    path.write_text(json.dumps(found))
    assert run_command(str(path), "--print-only", "device").err == (
        "note: no operator has a device time; 1 has one on the host\n"
    )


def test_shares_of_the_difference_are_left_out_above_100_percent(tmp_path: Path) -> None:
    new = written(tmp_path / "new.json", [Operator("a", "A", 5.0), Operator("b", "B", 1.0)])
    base = written(tmp_path / "base.json", [Operator("a", "A", 2.0), Operator("b", "B", 2.0)])
    outcome = run_command(new, "--compare", base, "--format", "plain")
    assert "largest differences by type: A +3e-06 s; B -1e-06 s\n" in outcome.out

"""Comparisons with a baseline: which operators match, and what changed."""

from __future__ import annotations

from math import isnan
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import profile_analyze as pa
from profile_analyze.cli.options.parser import parser
from profile_analyze.columns.catalog import CATALOG
from profile_analyze.comparison.matching import MATCHES
from profile_analyze.findings.sentences import as_text
from profile_analyze.model.notes import Importance
from profile_analyze.model.terms import RUN_KEYS
from profile_analyze.query.question import DEFAULT_THRESHOLD
from tests import in_memory
from tests.comparison.comparisons import BASE, FAST, NEW, SLOW, compared, near, us
from tests.conftest import examples, some_of
from tests.findings.found import said
from tests.small import Operator, profile_of, profile_of_document, runs_of
from tests.strategies import documents, runs_of_one


def test_all_rows_of_a_small_comparison_by_hand() -> None:
    names = ("name", "time", "base", "difference", "change", "ratio", "verdict", "match")
    rows = [tuple(row[name] for name in names) for row in compared().rows]
    assert rows == [
        ("conv", us(150), us(100), us(50), near(0.5), near(1.5), None, "name"),
        ("new", us(7), None, us(7), None, None, "added", "added"),
        ("old", None, us(5), us(-5), None, None, "removed", "removed"),
        ("relu", us(18), us(20), us(-2), near(-0.1), near(0.9), None, "name"),
    ]


def test_groups_of_a_comparison_by_hand() -> None:
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


def test_the_heading_says_that_count_includes_both_sides() -> None:
    assert "<th>count on either side</th>" in compared(by="type")._repr_html_()
    groups = pa.run(pa.Query(by="type"), profile_of([Operator("a", "T", 1)]))
    assert "<th>count</th>" in groups._repr_html_()


def test_time_limits_apply_to_either_side() -> None:
    kept = compared(min_time_s=19e-6, order="+name")
    assert kept["name"].tolist() == ["conv", "relu"]
    assert compared(where="time > 19us")["name"].tolist() == ["conv"]
    assert compared(where="ratio < 1")["name"].tolist() == ["relu"]
    assert compared(where="match == removed")["name"].tolist() == ["old"]
    assert compared(by="match", order="+match")["match"].tolist() == ["added", "name", "removed"]


def test_operators_with_equal_names_match_by_shapes_first() -> None:
    old = [Operator("mm", "mm", 10 * size, start=size, shape=[size]) for size in (1, 2, 3)]
    new = [Operator("mm", "mm", 10 * size, start=size, shape=[size]) for size in (2, 3, 4)]
    for rule in ("auto", "name"):
        result = pa.run(
            pa.Query(compared=True, order="+time"),
            pa.compare(profile_of(new), profile_of(old), rule),
        )
        found = [(row["in_shapes"], row["time"], row["base"], row["match"]) for row in result.rows]
        # The other operators match in the order of execution, whatever their shapes.
        assert found == [
            (((2,),), us(20), us(20), "name"),
            (((3,),), us(30), us(30), "name"),
            (((4,),), us(40), us(10), "name"),
        ]


def matched_work(new: list[tuple[int, int]], base: list[tuple[int, int]]) -> list[tuple[Any, Any]]:
    """Return the memory of operators, and of the operators of the baseline that they match.

    All operators have one name, and run in the order of the lists. Each has its computation and
    memory, and a shape that no other operator has. Rows without a match are last.
    """

    def side(amounts: list[tuple[int, int]], first_size: int) -> pa.Profile:
        return profile_of(
            [
                Operator("mm", "mm", 10, start=row, shape=[first_size + row], work=one)
                for row, one in enumerate(amounts)
            ],
            f"{first_size}.json",
        )

    table = pa.run(pa.Query(compared=True), pa.compare(side(new, 10), side(base, 100)))
    rows = [(row["memory"], row["base_memory"]) for row in table.rows]
    return sorted(rows, key=lambda row: (None in row, row[0] is None, *filter(None, row)))


def test_operators_of_one_name_do_not_match_if_their_work_differs_a_thousandfold() -> None:
    small, large = (1, 24), (20_000_000, 9000)
    # Small operators match small ones, whatever the order.
    assert matched_work([large, small], [small, (2, 48), large]) == [
        (24, 24),
        (9000, 9000),
        (None, 48),
    ]
    assert matched_work([large, large], [small]) == [(9000, None), (9000, None), (None, 24)]
    # The works of `steps` have no gap, but its last operator still does not match the first one.
    steps = [(10**power, power) for power in range(1, 8)]
    assert matched_work(steps, [*steps[:3], steps[6]]) == [
        *((power, power) for power in (1, 2, 3)),
        (4, 7),
        *((power, None) for power in (5, 6, 7)),
    ]
    assert matched_work(steps[6:], steps) == [
        (7, None),
        *((None, power) for power in range(1, 8)),
    ]


def test_a_larger_batch_changes_the_work_by_less() -> None:
    layers = [(100, 7), (30, 8), (5000, 9)]
    batch = [(1000 * flo, 10 * size) for flo, size in layers]
    assert matched_work(batch, layers) == [(10 * size, size) for _, size in layers]


def test_a_name_that_occurs_once_matches_whatever_the_work() -> None:
    assert matched_work([(5_000_000, 1)], [(1, 2)]) == [(1, 2)]


def test_operators_that_compute_nothing_are_told_apart_by_memory() -> None:
    assert matched_work([(0, 9000), (0, 3)], [(0, 1), (0, 2)]) == [
        (3, 1),
        (9000, None),
        (None, 2),
    ]
    # If some work is unknown, all operators match in the order of execution.
    assert matched_work([(0, 0), (9, 3)], [(90_000, 4), (5, 5)]) == [(3, 5), (0, 4)]


def test_the_work_of_one_name_does_not_affect_other_names() -> None:
    work = {"mm": [(1, 1), (10**7, 2)], "add": [(10**4, 3), (10**4, 4)], "fill": [(0, 5), (0, 6)]}

    def side(step: int, first_size: int) -> pa.Profile:
        amounts = [(name, one) for name, pair in work.items() for one in pair[::step]]
        return profile_of(
            [
                Operator(name, name, 10, start=row, shape=[first_size + row], work=one)
                for row, (name, one) in enumerate(amounts)
            ]
        )

    table = pa.run(pa.Query(compared=True), pa.compare(side(1, 10), side(-1, 100), "name"))
    # The order of execution decides, except for `mm`, whose work differs a thousandfold.
    found = sorted((row["memory"], row["base_memory"]) for row in table.rows)
    assert found == [(1, 1), (2, 2), (3, 4), (4, 3), (5, 6), (6, 5)]


def matched_types(
    new: list[tuple[str, str | None]], base: list[tuple[str, str | None]]
) -> list[tuple[int, int]]:
    """Return the pairs of matched operators, by their positions in the lists of name and type."""

    def side(operators: list[tuple[str, str | None]]) -> pa.Profile:
        rows = [{"name": name, "type": type_} for name, type_ in operators]
        starts = [
            {"operator": row, "start_s": float(row), "duration_s": row + 1.0}
            for row in range(len(rows))
        ]
        return in_memory.profile_of(rows, starts)

    table = pa.run(pa.Query(compared=True), pa.compare(side(new), side(base)))
    return sorted(
        (round(row["time"]) - 1, round(row["base"]) - 1)
        for row in table.rows
        if row["match"] == "name"
    )


def test_a_type_that_only_one_side_has_does_not_keep_equal_names_apart() -> None:
    typed: list[tuple[str, str | None]] = [("a", "Conv"), ("b", "Relu"), ("a", "Conv")]
    untyped: list[tuple[str, str | None]] = [("b", None), ("a", None), ("a", None), ("c", None)]
    assert matched_types(typed, untyped) == [(0, 1), (1, 0), (2, 2)]
    assert matched_types(untyped, typed) == [(0, 1), (1, 0), (2, 2)]
    # Known types that differ still keep operators apart, and equal types come first.
    assert matched_types([("a", "Conv")], [("a", "Relu")]) == []
    assert matched_types([("a", "Conv")], [("a", None), ("a", "Conv")]) == [(0, 1)]
    some: list[tuple[str, str | None]] = [("a", None), ("a", "Relu"), ("a", "Add")]
    other: list[tuple[str, str | None]] = [("a", "Conv"), ("a", None), ("a", "Relu"), ("a", "Mul")]
    assert matched_types(some, other) == [(0, 1), (1, 2)]
    assert matched_types(some[:1], other[2:]) == [(0, 0)]
    assert matched_types([("a", None), ("a", "Add")], [("a", "Mul"), ("a", "Conv")]) == [(0, 0)]


def test_renamed_operators_match_by_structure() -> None:
    base = profile_of([Operator("a", "Conv", 10, shape=[3]), Operator("b", "Conv", 20, shape=[4])])
    new = profile_of([Operator("x", "Conv", 21, shape=[4]), Operator("y", "Conv", 11, shape=[3])])
    matched = {"auto": "structure", "structure": "structure", "name": "added", "shapes": "shapes"}
    assert set(matched) == set(MATCHES)
    for rule, how in matched.items():
        result = pa.run(pa.Query(compared=True, order="+time"), pa.compare(new, base, rule))
        found = {row["name"]: (row["match"], row["base"]) for row in result.rows}
        if how in {"structure", "shapes"}:
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


def test_an_unknown_way_to_match_is_an_error() -> None:
    profile = profile_of(BASE)
    with pytest.raises(
        pa.QueryError, match="match: 'id' is not one of auto, name, structure, shapes"
    ):
        pa.compare(profile, profile, "id")


def test_a_comparison_needs_a_compared_query() -> None:
    comparison = pa.compare(profile_of(NEW), profile_of(BASE))
    with pytest.raises(pa.QueryError, match="compared: this question needs a profile; got Comp"):
        pa.run(pa.Query(), comparison)
    with pytest.raises(pa.QueryError, match=r"compared: .* a comparison, from compare\(\); got"):
        pa.run(pa.Query(compared=True), profile_of(NEW))


def test_the_note_on_matching_counts_operators_without_a_time() -> None:
    new = [*NEW, Operator("unused", "NoOp", None)]
    base = [*BASE, Operator("gone", "Copy", None), Operator("left", "Copy", None)]
    (finding,) = pa.compare(profile_of(new, "new.json"), profile_of(base)).notes
    note = as_text(finding)
    assert note == (
        "2 operators matched with the baseline, 2 added (4.0% of the time, 1 without a device "
        "time), 3 removed (4.0% of the time of the baseline, 2 without a device time); the column "
        "match says how"
    )


def test_notes_say_how_many_operators_matched() -> None:
    comparison = pa.compare(profile_of(NEW, "new.json"), profile_of(BASE))
    assert said(comparison.notes) == (
        "2 operators matched with the baseline, 1 added (4.0% of the time), 1 removed (4.0% of "
        "the time of the baseline); the column match says how",
    )
    other = pa.compare(profile_of(NEW, "new.json"), profile_of([Operator("z", "Pool", 1)]))
    assert said(other.notes) == (
        "no operator of the baseline was matched, so all are added or removed: these are "
        "different models; --aggregate-by type compares them by kind",
    )
    assert said(pa.compare(profile_of(NEW), profile_of(NEW)).notes) == (
        "1 file on both sides, such as small.json: the same runs are compared with themselves",
    )
    # URLs are shown without their queries, so the names of different files may be equal.
    slow, fast = (profile_of([Operator("a", "Conv", time)], "url?***") for time in (1, 2))
    assert pa.compare(slow, fast).notes == ()
    assert repr(comparison) == (
        "Comparison(Profile('new.json', 4 operators, 'MegEngine GraphProfiler JSON'), "
        "base='small.json')"
    )


@pytest.mark.parametrize(
    ("added", "removed", "shown", "importance"),
    [
        (9, 0, "1 added (9.0% of the time), 0 removed", Importance.CONTEXT),
        (10, 0, "1 added (9.9% of the time), 0 removed", Importance.CONTEXT),
        (0, 11, "0 added, 1 removed (10.8% of the time of the baseline)", Importance.ANSWER),
        (
            25,
            1,
            "1 added (21.6% of the time), 1 removed (1.1% of the time of the",
            Importance.ANSWER,
        ),
    ],
)
def test_the_note_on_matching_is_important_if_much_time_is_not_matched(
    added: int, removed: int, shown: str, importance: Importance
) -> None:
    def side(name: str, time: int) -> pa.Profile:
        conv = Operator("conv", "Conv", 91)
        return profile_of([conv, Operator(name, name, time)] if time else [conv], f"{name}.json")

    (finding,) = pa.compare(side("new", added), side("old", removed)).notes
    note = as_text(finding)
    assert f"1 operator matched with the baseline, {shown}" in note
    assert finding.importance == importance


@pytest.mark.parametrize(
    ("shared", "constants", "note"),
    [
        (0, 9, "none of 6 operators matched with the baseline, not counting"),
        (1, 9, "only 1 of 7 operators matched with the baseline, not counting"),
        (
            *(2, 0),
            "2 operators matched with the baseline, 6 added (75.0% of the time), 30 removed (93.8% "
            "of the time of the baseline); the column match",
        ),
        (
            *(2, 9),
            "11 operators matched with the baseline, 6 added (67.4% of the time), 30 removed "
            "(91.2% of the time of the baseline); the column match",
        ),
    ],
)
def test_models_that_share_few_operators_except_constants_look_different(
    shared: int, constants: int, note: str
) -> None:
    both = [Operator(f"both{n}", "Conv", 10) for n in range(shared)]
    both += [Operator(f"const{n}", "ImmutableTensor", 1) for n in range(constants)]
    new, base = (
        profile_of([*both, *(Operator(f"{side}{n}", f"{side}{n}", 10) for n in range(size))], side)
        for side, size in (("New", 6), ("Base", 30))
    )
    counting = (
        " constants and other bookkeeping: these look like different models; --aggregate-by type "
        "compares them by kind"
    )
    end = counting if "not counting" in note else " says how"
    assert said(pa.compare(new, base).notes) == (note + end,)


QUIET = [100 + run / 100 for run in range(8)]
WIDE = [80, 85, 90, 100, 105, 110, 120, 130]


@pytest.mark.parametrize(
    ("new", "base", "verdict"),
    [
        (SLOW, FAST, "slower"),
        (FAST, SLOW, "faster"),
        (FAST, FAST, "same"),
        (QUIET, QUIET, "same"),
        ([time + 1 for time in QUIET], QUIET, "same"),
        ([100] * 8, FAST, None),  # equal runs are copies, which count as one run
        (WIDE, FAST, "uncertain"),
        (SLOW[:4], FAST[:4], "slower"),
        (SLOW[:3], FAST, None),
        (SLOW, FAST[:3], None),
    ],
)
def test_rows_and_the_total_have_the_same_verdict_for_one_operator(
    new: list[float], base: list[float], verdict: str | None
) -> None:
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


def test_the_threshold_changes_the_verdict() -> None:
    comparison = pa.compare(runs_of("conv", SLOW), runs_of("conv", FAST))
    for threshold, verdict in ((0.03, "slower"), (0.2, "same"), (0.1, "uncertain")):
        result = pa.run(pa.Query(compared=True, threshold=threshold), comparison)
        assert result["verdict"].tolist() == [verdict]


@examples(100)
@given(runs=runs_of_one())
def test_equal_sides_have_no_change(runs: list[dict[str, Any]]) -> None:
    profile = pa.join_runs(map(profile_of_document, runs))
    comparison = pa.compare(profile, profile)
    assert comparison.match.values().tolist() == ["name"] * len(profile)
    result = pa.run(pa.Query(compared=True), comparison)
    assert not result["difference"][~np.isnan(result["difference"])].any()
    assert set(result["verdict"].tolist()) <= {None, "same", "uncertain"}


# Two runs of one graph have operators in common. Two random documents rarely do.
SIDES = st.tuples(documents(), documents()) | runs_of_one().map(lambda runs: (runs[0], runs[-1]))


@examples(150)
@given(SIDES)
def test_sides_can_be_swapped(sides: tuple[dict[str, Any], dict[str, Any]]) -> None:
    ours, theirs = map(profile_of_document, sides)
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


def test_work_in_a_comparison_is_from_the_profile_only() -> None:
    def with_operators(*names: str) -> pa.Profile:
        return profile_of([Operator(name, "Conv", 1, work=(10, 100)) for name in names])

    comparison = pa.compare(with_operators("a", "b"), with_operators("b", "c", "d"), "name")
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


@pytest.mark.slow
@pytest.mark.parametrize("peaks", [None, pa.parse_peaks("1T:1G")])
def test_a_comparison_can_be_grouped_by_every_key(peaks: pa.Peaks | None) -> None:
    comparison = pa.compare(profile_of(NEW), profile_of(BASE))
    keys = [
        column
        for column in CATALOG
        if column.is_key and column.name not in RUN_KEYS and (peaks or not column.needs_peaks)
    ]
    for column in some_of(keys, 6):
        for name in (column.name, f"{column.name}~(.)"):
            query = pa.Query(compared=True, by=name, peaks=peaks)
            result = pa.run(query, comparison)
            assert len(result)
            assert set(result["verdict"].tolist()) <= {None, "added", "removed"}
            change = pa.summarise(comparison, judged_by=query).change
            assert change is not None
            assert change.difference_s == us(50)
    named = pa.run(pa.Query(compared=True, by="match", order="+match"), comparison)
    assert named.labels == ["match=added", "match=name", "match=removed"]


def test_a_comparison_uses_medians() -> None:
    with pytest.raises(pa.QueryError, match="run_statistic: max: a comparison uses medians"):
        pa.Query(compared=True, run_statistic="max")


def test_a_comparison_can_be_ordered_by_its_own_columns() -> None:
    names = pa.Query(compared=True).kind.orderable()
    assert {"match", "difference"} <= set(names)
    assert "run" not in names
    with pytest.raises(pa.QueryError, match=r"operators can be ordered by id, .* more "):
        pa.Query(compared=True, order="nonsense")


def test_rows_with_equal_differences_are_ordered_by_time() -> None:
    one = profile_of([Operator("short", "Relu", 1), Operator("long", "Conv", 9)])
    comparison = pa.compare(one, one)
    for by, column in ((), "name"), (("type",), "type"):
        labels = pa.run(pa.Query(compared=True, by=by), comparison)[column].tolist()
        assert labels == (["long", "short"] if column == "name" else ["Conv", "Relu"])
    # If the question names the order, rows with equal differences stay in file order.
    query = pa.Query(compared=True, order="absolute_difference")
    assert pa.run(query, comparison)["name"].tolist() == ["short", "long"]


def test_the_command_offers_every_way_to_match() -> None:
    (option,) = (one for one in parser()._actions if one.dest == "match")
    assert tuple(option.choices or ()) == tuple(MATCHES)


def test_the_help_states_the_default_threshold() -> None:
    assert f"default: {DEFAULT_THRESHOLD:.0%}" in parser().format_help()

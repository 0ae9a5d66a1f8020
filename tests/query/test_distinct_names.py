"""Operators with equal names have details that tell them apart, in pictures and sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

import profile_analyze as pa
from profile_analyze.model.categorical import Categorical
from profile_analyze.query.distinct_names import details_of, variants_of
from profile_analyze.report.pictures.bar_chart import draw_times
from profile_analyze.report.pictures.chart_texts import names_with_details
from profile_analyze.report.pictures.charts import draw_roofline
from profile_analyze.report.sections import Chart
from tests.conftest import PROFILES, run_command
from tests.in_memory import profile_of

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    import pytest
    from numpy.typing import NDArray

ROWS: list[dict[str, Any]] = [
    {"name": "conv", "scope": ("net", "a"), "in_shapes": ((8, 3), (3, 3))},
    {"name": "conv", "scope": ("net", "b"), "in_shapes": ((8, 3), (3, 3))},
    {"name": "conv", "scope": ("net", "b"), "in_shapes": ((8, 3), (5, 5))},
    {"name": "relu", "scope": ("net", "a"), "in_shapes": ((8, 3),)},
    {"name": "add", "scope": ("net", "a", "x"), "in_shapes": ()},
    {"name": "add", "scope": ("net", "b", "x"), "in_shapes": ()},
    {"name": "mul", "scope": ("net",), "in_shapes": ()},
    {"name": "mul", "scope": ("net",), "in_shapes": ()},
    {"name": "exp", "scope": None, "in_shapes": ((8,),)},
    {"name": "exp", "scope": ("net", "c"), "in_shapes": ((8,),)},
    {"name": "exp", "scope": None, "in_shapes": ((9,),)},
]


def table_of(rows: list[dict[str, Any]], query: pa.Query | None = None) -> pa.Table:
    """Return the table of a profile with these operators.

    Each operator is faster than the operator before it, so the table keeps their order.
    """
    columns = {"optional": {"in_shapes": Categorical.of([row["in_shapes"] for row in rows])}}
    operators = [
        {
            "type": "T",
            "computation": 1e9,
            "memory": 1e6,
            **row,
            "scope": row["scope"] and tuple(row["scope"]),
        }
        for row in rows
    ]
    executions = [
        {"operator": index, "duration_s": 1.0 / (index + 1)} for index in range(len(rows))
    ]
    return pa.run(query or pa.Query(), profile_of(operators, executions, columns=columns))


def test_only_equal_names_have_details() -> None:
    assert names_with_details(table_of(ROWS)) == [
        ("conv", "a, {8,3}, {3,3}"),
        ("conv", "b, {8,3}, {3,3}"),
        ("conv", "b, {8,3}, {5,5}"),
        ("relu", ""),
        ("add", "a/x"),
        ("add", "b/x"),
        ("mul", "id 6"),
        ("mul", "id 7"),
        ("exp", "{8}"),
        ("exp", "c, {8}"),
        ("exp", "{9}"),
    ]
    groups = table_of(ROWS, pa.Query(by="name"))
    assert names_with_details(groups) == [
        (name, "") for name in ("conv", "add", "exp", "mul", "relu")
    ]


def variants(*full_names: str | None, **more: Any) -> list[tuple[str, str]]:
    """Return the variants of kernels that share a name, and their details in pictures."""
    rows = [{"name": "f<float>", "level": "kernel"} for _ in full_names]
    executions = [{"operator": row, "duration_s": 9.0 - row} for row in range(len(rows))]
    optional = {"full_name": Categorical.of(full_names), **more}
    profile = profile_of(rows, executions, columns={"optional": optional})
    table = pa.run(pa.Query(), profile)
    details = (detail for _, detail in names_with_details(table))
    return [*zip(variants_of(table), details, strict=True)]


def test_kernels_have_the_words_that_tell_their_full_names_apart() -> None:
    def both(*texts: str) -> list[tuple[str, str]]:
        return [(text, text) for text in texts]

    assert variants("f<int, 128, true>(int)", "f<int, 32, true>(int)") == both("128", "32")
    assert variants("f<x, false, 0u>", "f<x, true, 5u>") == both("false, 0u", "true, 5u")
    assert variants("a_128x64_nn", "a_64x64_nn") == both("128x64", "64x64")
    assert variants("f<x>", "f<x, 2>") == both("", "2")
    assert variants("f<x>", "f<x, >") == both("", ", ")
    assert variants("f<1>", "f<2>", None) == both("f<1>", "f<2>", "")
    # The middle of a long part is left out, unless only the middle differs.
    ends = "ab" * 20
    assert variants(f"f<1{ends}2>", f"f<2{ends}1>") == both(
        f"1{ends[:17]}...{ends[-17:]}2", f"2{ends[:17]}...{ends[-17:]}1"
    )
    assert variants(f"f<{ends}1{ends}>", f"f<{ends}2{ends}>") == both(
        f"{ends}1{ends}", f"{ends}2{ends}"
    )


def test_kernels_that_another_column_tells_apart_have_no_variant() -> None:
    launched_by = Categorical.of(["aten::add", "aten::mul", "aten::mul"])
    assert variants("f<1>", "f<2>", "f<2>", launched_by=launched_by) == [
        ("", "aten::add, id 0"),
        ("", "aten::mul, id 1"),
        ("", "aten::mul, id 2"),
    ]
    assert variants("f<1>", "f<1>") == [("", "id 0"), ("", "id 1")]


def test_a_kernel_with_another_full_name_in_the_baseline_has_both_parts() -> None:
    def side(*full_names: str | None) -> pa.Profile:
        return profile_of(
            [{"name": "f<float>", "level": "kernel"} for _ in full_names],
            [{"operator": row, "duration_s": 9.0 - row} for row in range(len(full_names))],
            columns={"optional": {"full_name": Categorical.of(full_names)}},
        )

    def both(profile: pa.Profile, base: pa.Profile, **options: Any) -> list[tuple[str, str]]:
        query = pa.Query(compared=True, order="+id", **options)
        table = pa.run(query, pa.compare(profile, base))
        return [*zip(variants_of(table), details_of(table, range(len(table))), strict=True)]

    def same(*texts: str) -> list[tuple[str, str]]:
        return [(text, text) for text in texts]

    ours, base = side("f<32>", "f<256>", "f<512>"), side("f<32>", "f<1024>", "f<64>")
    changed = same("32", "256, was 1024", "512, was 64")
    assert both(ours, base) == changed
    assert both(ours, base, top=2) == changed[:2]
    assert both(ours, base, max_time_s=8.5) == changed[1:]
    # Operators that only one side has, unknown names, and names without a part of their own.
    assert both(side("f<1>", "f<2>"), side("f<1>")) == same("1", "2")
    assert both(side("f<1>", "f<2>"), side(None, "f<2>")) == same("1", "2")
    assert both(side("f<x>", "f<x, 2>"), side("f<x, 2>", "f<x>")) == same("", "2")
    assert both(side("f<x>", "f<x>"), side("f<x>", "f<x, 2>")) == same("", "was 2")
    assert both(side("f<x>", "f<x, 2>"), side("f<x>", "f<x>")) == same("", "2, was without")


def test_a_name_that_is_only_a_number_is_followed_by_the_type() -> None:
    names = ["@7", "main:@7", "12", "x@7", "conv2"]
    rows = [{"name": name, "scope": None, "in_shapes": ()} for name in names]
    rows += [{"name": "@8", "type": None, "scope": None, "in_shapes": ()}]
    assert [name for name, _ in names_with_details(table_of(rows))] == [
        *("@7 T", "main:@7 T", "12 T", "x@7", "conv2", "@8"),
    ]
    migraphx = pa.run(pa.Query(), pa.load(PROFILES.parent / "migraphx/current.txt"))
    assert names_with_details(migraphx)[1] == ("@9 gpu::pooling", "")


def test_bars_and_the_list_of_the_roofline_have_the_details() -> None:
    bars, roofline = Figure(), Figure()
    draw_times(bars, Chart("times", table_of(ROWS[1:4])))
    assert [label.get_text() for label in bars.axes[0].get_yticklabels()] == [
        "conv ({8,3}, {3,3})",
        "conv ({8,3}, {5,5})",
        "relu",
    ]
    query = pa.Query(peaks=pa.parse_peaks("1T:1G"))
    draw_roofline(roofline, Chart("roofline", table_of(ROWS[1:4], query)))
    (listed,) = [
        text.get_text() for text in roofline.axes[0].texts if text.get_text().startswith("1  ")
    ]
    assert listed.splitlines() == [
        "1  conv",
        "     {8,3}, {3,3}",
        "     1.000 s, 54.5%",
        "2  conv",
        "     {8,3}, {5,5}",
        "     0.500 s, 27.3%",
        "3  relu",
        "     0.333 s, 18.2%",
    ]


@given(
    st.lists(
        st.fixed_dictionaries(
            {
                "name": st.sampled_from("ab"),
                "scope": st.none() | st.lists(st.sampled_from("xy"), min_size=1, max_size=2),
                "in_shapes": st.sampled_from([None, (), ((1,),), ((2,),)]),
            }
        ),
        min_size=1,
        max_size=8,
    )
)
def test_no_two_rows_have_the_same_name_and_detail(rows: list[dict[str, Any]]) -> None:
    found = names_with_details(table_of(rows))
    names = [row["name"] for row in rows]
    assert [name for name, _ in found] == names
    assert len({*found}) == len(rows)
    assert not any(detail for name, detail in found if names.count(name) == 1)


def test_only_rows_with_the_same_names_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [
        {"name": f"n{index // 2}", "scope": ("net", "ab"[index % 2]), "in_shapes": ()}
        for index in range(2000)
    ]
    table = table_of(rows)
    looked_at: list[int] = []

    original = pa.Table.texts

    def texts(table: pa.Table, name: str, rows: NDArray[np.int64]) -> list[str]:
        looked_at.append(len(rows))
        return original(table, name, rows=rows)

    monkeypatch.setattr(pa.Table, "texts", texts)
    assert details_of(table, [0, 3, 4]) == ["a", "b", "a"]
    assert details_of(table, []) == []
    assert {*looked_at} == {6}  # both operators with each of the names n0, n1 and n2


def test_a_picture_has_shapes_that_its_table_does_not_show(tmp_path: Path) -> None:
    file = tmp_path / "times.svg"
    outcome = run_command(
        *("tests/fixtures/pytorch/cnn-train.json.gz", "--columns", "name,time", "-t", "8"),
        *("--plot", str(file)),
    )
    assert outcome.code == 0
    assert ">aten::convolution_backward ({2,16,28,28}, {2,16,28,28}, {16,16,3,3})<" in (
        file.read_text(encoding="utf-8")
    )


def test_the_summary_of_a_comparison_tells_equal_names_apart() -> None:
    def side(times_us: tuple[int, ...], files: str, work: float = 10.0) -> pa.Profile:
        return pa.join_runs(
            profile_of(
                [
                    {"name": "conv", "type": "Conv", "scope": (layer,), "computation": amount}
                    for layer, amount in (("first", 10.0), ("last", work))
                ],
                [
                    {"operator": row, "duration_s": (time_us + index / 100) * 1e-6}
                    for row, time_us in enumerate(times_us)
                ],
                processes=(f"{files}{index}.json",),
            )
            for index in range(8)
        )

    comparison = pa.compare(side((100, 200), "new", 20.0), side((100, 100), "base"))
    text = pa.render(pa.Report.of(pa.summarise(comparison), ()), "plain")
    assert text.splitlines()[-4:] == [
        "difference by cause: more work +100.035 us (conv (last))",
        "largest differences by type: Conv +100.000 us, 100.0% of the difference (more work)",
        "more work: conv (last) +100.000 us, 2.00 times the baseline with 2.00 times the work",
        "verdicts on 2 operators with a time: more work 1 (66.7% of the time), same 1 (33.3%)",
    ]


def test_an_added_and_a_removed_operator_may_be_equal_in_all_columns() -> None:
    profile, base = (
        profile_of([{"name": "conv", "type": kind}], [{"operator": 0, "duration_s": 1.0}])
        for kind in ("Conv", "Convolution")
    )
    table = pa.run(pa.Query(compared=True), pa.compare(profile, base))
    assert table.texts("match") == ["added", "removed"]
    assert details_of(table, [0, 1]) == ["", ""]

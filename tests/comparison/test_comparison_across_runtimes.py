"""Comparisons of two runtimes: operators match by category and shapes, whatever their names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import profile_analyze as pa
from profile_analyze.findings.sentences import as_text
from profile_analyze.model.terms import FUSED_NAMES
from tests.comparison.comparisons import us
from tests.conftest import PROFILES, run_command
from tests.findings.found import said
from tests.in_memory import CPU, profile_of

if TYPE_CHECKING:
    from collections.abc import Sequence

FIXTURES = PROFILES.parent
ORT = FIXTURES / "onnxruntime/resnet50-1.31.json.gz"
OPENVINO = FIXTURES / "openvino/resnet50-2026.4.xml.gz"
IMAGE = (1, 4, 8, 8)


def run_of(format_: str, *rows: dict[str, Any]) -> pa.Profile:
    """Return a profile of operators that took 10 us, 20 us and so on, in this order.

    By default, each operator is a 3x3 convolution on images. The value `fused` of a row names the
    layers that the operator executes.
    """
    whole = [
        {"category": "convolution", "weight": (4, 4, 3, 3), "work": 1.0, **row} for row in rows
    ]
    shapes = [(IMAGE, row["weight"]) if row["weight"] else (IMAGE,) for row in whole]
    optional = {
        "in_shapes": pa.Categorical.of(shapes),
        "out_shapes": pa.Categorical.of([(IMAGE,)] * len(whole)),
        FUSED_NAMES: pa.Categorical.of([row.get("fused") for row in whole]),
    }
    profile = profile_of(
        [
            {"name": row["name"], "type": format_ + row["category"], "category": row["category"]}
            for row in whole
        ],
        [
            {"operator": n, "start_s": n * 1e-3, "duration_s": (n + 1) * 1e-5}
            for n in range(len(whole))
        ],
        tracks=(CPU,),
        columns={
            "optional": optional,
            "computation": np.array([row["work"] for row in whole]),
        },
    )
    return profile.changed(file=f"{format_}.json", origin=pa.Origin(format_), processes=(format_,))


def matched(comparison: pa.Comparison) -> list[tuple[Any, ...]]:
    table = pa.run(pa.Query(compared=True, order="+id"), comparison)
    names = ("name", "base_name", "match", "time", "base")
    return [tuple(row[name] for name in names) for row in table.rows]


def conv(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, **more}


def relu(name: str) -> dict[str, Any]:
    return {"name": name, "category": "elementwise", "weight": None}


def test_every_convolution_of_resnet50_is_matched() -> None:
    comparison = pa.compare(pa.load(OPENVINO), pa.load(ORT))
    table = pa.run(pa.Query(compared=True, where="category == convolution"), comparison)
    assert len(table) == 53
    assert set(table["match"].tolist()) == {"shapes"}
    assert table["macs"].tolist() == table["base_macs"].tolist()
    assert sum(table["macs"].tolist()) == 4_087_136_256
    assert len({row["base_name"] for row in table.rows}) == 53
    assert "59 operators matched with the baseline" in str(said(comparison.notes))


def test_both_names_are_shown() -> None:
    outcome = run_command(str(OPENVINO), "--compare", str(ORT), "--opr-name", "Multiply_8749")
    *_, heading, row = outcome.out.splitlines()
    assert heading.split()[-3:] == ["type", "name", "base_name"]
    assert row.split()[-3:] == ["Convolution", "Multiply_8749", "r2_nchwc"]


def test_operators_match_by_category_and_shapes_in_order() -> None:
    new = run_of("new", conv("a"), conv("point", weight=(4, 4, 1, 1)), conv("b"), relu("r"))
    old = run_of("old", conv("p", weight=(4, 4, 1, 1)), conv("x"), relu("y"), conv("z"))
    assert matched(pa.compare(new, old)) == [
        ("a", "x", "shapes", us(10), us(20)),
        ("point", "p", "shapes", us(20), us(10)),
        ("b", "z", "shapes", us(30), us(40)),
        ("r", "y", "shapes", us(40), us(30)),
    ]
    assert {how for _, _, how, *_ in matched(pa.compare(new, old, "structure"))} == {
        "added",
        "removed",
    }
    same = old.changed(origin=new.origin)
    assert "shapes" not in {how for _, _, how, *_ in matched(pa.compare(new, same))}
    assert "shapes" in {how for _, _, how, *_ in matched(pa.compare(new, same, "shapes"))}


@pytest.mark.parametrize(
    ("new", "old"),
    [
        ([conv("a"), conv("b")], [conv("x")]),  # either a or b could be the added operator
        ([conv("a", work=9.0)], [conv("x", weight=None)]),
        ([conv("a", category="other")], [conv("x", category="other")]),
        ([conv("a", category="control")], [conv("x", category="control")]),
    ],
)
def test_operators_that_may_do_different_work_do_not_match(
    new: Sequence[dict[str, Any]], old: Sequence[dict[str, Any]]
) -> None:
    comparison = pa.compare(run_of("new", *new), run_of("old", *old))
    assert {how for _, _, how, *_ in matched(comparison)} == {"added", "removed"}


@pytest.mark.parametrize(("work", "base_work"), [(1.05, 1.0), (0.0, 0.0), (float("nan"), 1.0)])
def test_operators_match_if_the_weight_is_unknown_on_one_side(
    work: float, base_work: float
) -> None:
    comparison = pa.compare(
        run_of("new", conv("a", work=work)),
        run_of("old", conv("x", weight=None, work=base_work)),
    )
    assert matched(comparison) == [("a", "x", "shapes", us(10), us(10))]


def test_fused_layers_count_once() -> None:
    fused = run_of("new", conv("c+r", fused=("c", "r")))
    apart = run_of("old", conv("c"), relu("r"), relu("s"))
    comparison = pa.compare(fused, apart)
    assert matched(comparison) == [
        ("c+r", "c", "shapes", us(10), us(30)),
        ("s", None, "removed", None, us(30)),
    ]
    assert as_text(comparison.notes[-1]) == (
        "baseline: the times of 1 operator (33.3% of the time) are added to other operators, "
        "because the other side runs them in fused layers"
    )
    other = pa.compare(apart, fused)
    assert matched(other) == [
        ("c", "c+r", "shapes", us(30), us(10)),
        ("s", None, "added", us(30), None),
    ]
    table = pa.run(pa.Query(compared=True, order="+id"), other)
    assert (table["calls"].tolist(), table["computation"].tolist()) == ([1, 1], [1, 1])


def test_an_operator_named_by_two_fused_layers_is_added_to_neither() -> None:
    fused = run_of("new", conv("a", fused=("c", "r")), conv("b", fused=("d", "r")))
    comparison = pa.compare(fused, run_of("old", conv("c"), conv("d"), relu("r")))
    assert [how for _, _, how, *_ in matched(comparison)] == ["shapes", "shapes", "removed"]


CSV_AND_XML = tuple(
    str(FIXTURES / f"openvino/resnet50-2026.4.{suffix}.gz") for suffix in ("csv", "xml")
)


def test_two_formats_of_one_runtime_match_by_name_and_category() -> None:
    profile, base = map(pa.load, CSV_AND_XML)
    rows = pa.run(pa.Query(compared=True), pa.compare(profile, base)).rows
    assert {row["match"] for row in rows}.isdisjoint(("added", "removed"))
    notes = pa.compare(profile, base, match="structure").notes
    assert any("--aggregate-by category compares them by kind" in as_text(note) for note in notes)


@pytest.mark.parametrize("files", [CSV_AND_XML, CSV_AND_XML[::-1]])
def test_runs_of_two_formats_are_different_kinds_of_file(files: tuple[str, ...]) -> None:
    note = as_text(pa.load_runs(files).notes_on_runs[0])
    assert note.endswith(
        ": these look like different kinds of file, so the totals make no sense; if one of them "
        "describes the model that ran, name it after --model; --aggregate-by file shows each file "
        "on its own"
    )


def test_only_a_file_that_describes_a_model_may_belong_after_the_option_model() -> None:
    files = [
        str(FIXTURES / name) for name in ("profiles/resnet18.json", "tensorrt/old.profile.json")
    ]
    note = as_text(pa.load_runs(files).notes_on_runs[0])
    assert note.endswith(
        ": these look like different kinds of file, so the totals make no sense; --aggregate-by "
        "file shows each file on its own"
    )


@pytest.mark.parametrize(
    ("formats", "base_formats", "expected"),
    [
        ("A", "B", "A in the profile, B in the baseline"),
        ("AB", "A", "A and B in the profile, A in the baseline"),
        ("A", "ABC", "A in the profile, A, B and C in the baseline"),
    ],
)
def test_a_note_says_which_side_has_which_formats(
    formats: str, base_formats: str, expected: str
) -> None:
    profile, base = (
        pa.join_runs(run_of(one, conv("c")) for one in side) for side in (formats, base_formats)
    )
    notes = said(pa.compare(profile, base).notes)
    assert (
        f"the two sides are of different formats: {expected}; their times may differ in kind"
    ) in notes


def test_the_order_of_the_files_does_not_make_formats_differ() -> None:
    profile, base = (pa.join_runs(run_of(one, conv("c")) for one in side) for side in ("AB", "BA"))
    assert not [
        note for note in said(pa.compare(profile, base).notes) if "different formats" in note
    ]

"""Comparisons with a runtime that pads the channels of images to whole blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import profile_analyze as pa
from profile_analyze.model.graph.padded_channels import CHANNEL_BLOCKS, BlockedShapes
from tests.comparison.comparisons import us
from tests.conftest import PROFILES
from tests.in_memory import CPU, profile_of

if TYPE_CHECKING:
    from profile_analyze.model.operators import Shape

FIXTURES = PROFILES.parent / "onnxruntime"
BLOCKS = (8, 16)


def conv(name: str, outputs: int, inputs: int = 512, **more: Any) -> dict[str, Any]:
    """Return a convolution of 1x1 with a bias."""
    batch = more.pop("batch", 1)
    weights = ((outputs, inputs, 1, 1), (outputs,))
    return {
        "name": name,
        "in_shapes": ((batch, inputs, 13, 13), *weights),
        "out_shapes": ((batch, outputs, 13, 13),),
        **more,
    }


def blocked(name: str, outputs: int, inputs: int = 512, **more: Any) -> dict[str, Any]:
    """Return a convolution whose runtime pads channels to blocks."""
    return conv(name, outputs, inputs, **{CHANNEL_BLOCKS: BLOCKS, **more})


def run_of(*rows: dict[str, Any], format_: str = "a runtime") -> pa.Profile:
    """Return a profile of convolutions that took 10 us, 20 us and so on, in this order."""
    names = ("in_shapes", "out_shapes", CHANNEL_BLOCKS)
    return profile_of(
        [{"type": "Conv", "category": "convolution", **row} for row in rows],
        [
            {"operator": n, "start_s": n * 1e-3, "duration_s": (n + 1) * 1e-5}
            for n in range(len(rows))
        ],
        tracks=(CPU,),
        origin=pa.Origin(format_),
        columns={
            "optional": {name: pa.Categorical.of([row.get(name) for row in rows]) for name in names}
        },
    )


def matched(comparison: pa.Comparison) -> list[tuple[Any, ...]]:
    """Return the name, the name in the baseline and the match of each row."""
    base_names = comparison.base_name.values().tolist()
    names = comparison.profile.operators.name.values().tolist()
    return list(zip(names, base_names, comparison.match.values().tolist(), strict=True))


def test_an_operator_matches_the_same_operator_in_blocks() -> None:
    plain, in_blocks = run_of(conv("n62", 1000)), run_of(blocked("r64_nchwc", 1008))
    assert matched(pa.compare(plain, in_blocks)) == [("n62", "r64_nchwc", "structure")]
    assert matched(pa.compare(in_blocks, plain)) == [("r64_nchwc", "n62", "structure")]
    assert matched(pa.compare(plain, in_blocks, "structure")) == [("n62", "r64_nchwc", "structure")]
    assert matched(pa.compare(plain, in_blocks, "name")) == [
        ("n62", None, "added"),
        ("r64_nchwc", None, "removed"),
    ]


@pytest.mark.parametrize(
    ("plain", "in_blocks"),
    [
        (conv("a", 1000), conv("b", 1008)),  # no side has blocks
        (conv("a", 1000), blocked("b", 1016)),
        (conv("a", 1000), blocked("b", 992)),
        (conv("a", 20), blocked("b", 24, inputs=528)),
        (conv("a", 1000), blocked("b", 1008, batch=8)),
        (conv("a", 1000), blocked("b", 1008, type="Sum")),
        (conv("a", 1000), blocked("b", 1008, out_shapes=None)),
        (blocked("a", 1000), blocked("b", 1008)),
    ],
)
def test_operators_that_differ_by_more_than_padding_do_not_match(
    plain: dict[str, Any], in_blocks: dict[str, Any]
) -> None:
    assert matched(pa.compare(run_of(plain), run_of(in_blocks))) == [
        ("a", None, "added"),
        ("b", None, "removed"),
    ]


def test_neighbours_decide_which_of_several_equal_operators_match() -> None:
    plain = run_of(conv("p", 20), conv("q", 64), conv("r", 20))
    in_blocks = run_of(conv("q", 64), blocked("s", 24))
    assert matched(pa.compare(plain, in_blocks)) == [
        ("p", None, "added"),
        ("q", None, "name"),
        ("r", "s", "structure"),
    ]


def test_operators_with_and_without_padding_match_in_order() -> None:
    channels = (20, 24, 20, 24)
    plain = run_of(*[conv(f"p{n}", count) for n, count in enumerate(channels)])
    in_blocks = run_of(*[blocked(f"q{n}", 24) for n in range(len(channels))])
    pairs = [(f"p{n}", f"q{n}", "structure") for n in range(len(channels))]
    assert matched(pa.compare(plain, in_blocks)) == pairs
    assert matched(pa.compare(in_blocks, plain)) == [(q, p, match) for p, q, match in pairs]


def test_the_operator_that_fits_matches_whatever_the_order() -> None:
    base = run_of(conv("z", 20))
    for names in ("xy", "yx"):
        rows = {"x": conv("x", 21), "y": blocked("y", 24)}
        found = {
            row[:2] for row in matched(pa.compare(run_of(*[rows[one] for one in names]), base))
        }
        assert found == {("x", None), ("y", "z")}


def test_operators_of_two_runtimes_match_if_only_one_fits() -> None:
    other = {"format_": "another runtime"}
    plain = run_of(conv("a", 1000, type="Convolution"), **other)
    assert matched(pa.compare(plain, run_of(blocked("b", 1008)))) == [("a", "b", "shapes")]
    twice = run_of(conv("a", 20, type="Convolution"), conv("c", 20, type="Convolution"), **other)
    assert matched(pa.compare(twice, run_of(blocked("b", 24)))) == [
        ("a", None, "added"),
        ("c", None, "added"),
        ("b", None, "removed"),
    ]
    for category in ("other", "control", None):
        assert matched(
            pa.compare(
                run_of(conv("a", 1000, type="Odd", category=category), **other),
                run_of(blocked("b", 1008, category=category)),
            )
        ) == [("a", None, "added"), ("b", None, "removed")]


def test_only_channels_are_padded() -> None:
    plain = BlockedShapes(((1, 9, 5, 5),), ((9, 9, 3, 3),), ())
    shapes: list[tuple[Shape, Shape]] = [
        ((1, 16, 5, 5), (16, 16, 3, 3)),
        ((1, 16, 5, 5), (16, 9, 3, 3)),
        ((1, 9, 5, 5), (9, 9, 3, 3)),
        ((1, 16, 5, 5), (9, 9, 3, 16)),
        ((1, 16, 5, 16), (16, 16, 3, 3)),
        ((16, 16, 5, 5), (16, 16, 3, 3)),
        ((1, 24, 5, 5), (16, 16, 3, 3)),
        ((1, 16, 5), (16, 16, 3, 3)),
    ]
    in_blocks = [BlockedShapes((image,), (weight,), BLOCKS) for image, weight in shapes]
    assert [one.pads(plain) for one in in_blocks] == [True] * 3 + [False] * 5
    assert [plain.pads(one) for one in in_blocks] == [False] * 8


def test_an_operator_in_blocks_does_not_pad_another_operator_in_blocks() -> None:
    narrow, wide = (BlockedShapes(((1, n, 5, 5),), ((n, n, 3, 3),), BLOCKS) for n in (8, 16))
    assert not wide.pads(narrow)


def test_all_dimensions_are_padded_to_blocks_of_one_size() -> None:
    plain = BlockedShapes(((1, 17, 5, 5),), ((20, 17, 1, 1), (20,)), ())
    assert BlockedShapes(((1, 24, 5, 5),), ((24, 24, 1, 1), (24,)), BLOCKS).pads(plain)
    assert BlockedShapes(((1, 32, 5, 5),), ((32, 32, 1, 1), (32,)), BLOCKS).pads(plain)
    assert not BlockedShapes(((1, 24, 5, 5),), ((32, 24, 1, 1), (32,)), BLOCKS).pads(plain)


def test_the_last_convolution_of_squeezenet_is_matched() -> None:
    comparison = pa.compare(
        pa.load(FIXTURES / "squeezenet-unoptimised-1.31.json.gz"),
        pa.load(FIXTURES / "squeezenet-1.31.json.gz"),
    )
    query = pa.Query(compared=True, where="base_name == r64_nchwc")
    (row,) = pa.run(query, comparison).rows
    names = ("name", "time", "base", "difference", "macs", "base_macs", "match")
    expected = ("n62", us(432), us(364), us(68), 86_528_000, 87_220_224, "structure")
    assert tuple(row[name] for name in names) == expected
    match = comparison.match.values().tolist()
    convolutions = comparison.profile.operators.category.values() == "convolution"
    assert [how for how, found in zip(match, convolutions, strict=True) if found] == [
        "structure"
    ] * 26

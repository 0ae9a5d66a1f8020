"""Suggestions in place of wrong names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from profile_analyze.advice.names import similar_texts
from tests.conftest import FIXTURES, run_command
from tests.small import Operator, written

if TYPE_CHECKING:
    from pathlib import Path

TYPES = ("CONV_2D", "DEPTHWISE_CONV_2D", "ADD", "RESIZE_NEAREST_NEIGHBOR", "Conv-2d")


@pytest.mark.parametrize(
    ("text", "similar"),
    [
        ("Conv2D", ["CONV_2D", "Conv-2d"]),
        ("conv-2d", ["CONV_2D", "Conv-2d"]),
        ("DepthwiseConv2d", ["DEPTHWISE_CONV_2D"]),
        ("resizenearest", ["RESIZE_NEAREST_NEIGHBOR"]),
        ("conv", ["CONV_2D", "Conv-2d", "DEPTHWISE_CONV_2D"]),
        ("add", ["ADD"]),
        ("Cnov2D", ["CONV_2D", "Conv-2d"]),
        ("Softmax", []),
        ("_", []),
        ("", []),
    ],
)
def test_similar_texts_differ_in_case_hyphens_and_underscores(
    text: str, similar: list[str]
) -> None:
    assert similar_texts(text, TYPES) == similar


def test_texts_that_begin_or_end_with_the_wrong_text_come_first() -> None:
    known = ("aten::addmm", "ADD(conv[1])", "aten::bmm", "conv(a)", "aten::mm", "MmBackward0")
    assert similar_texts("mm", known) == ["aten::mm", "MmBackward0", "aten::addmm"]
    assert similar_texts("conv", known) == ["conv(a)", "ADD(conv[1])"]


def test_a_text_without_letters_is_similar_to_nothing() -> None:
    assert similar_texts("", ["_", "-", "a-b"]) == similar_texts("-", ["_", "a-b"]) == []


def test_a_type_in_another_spelling_is_suggested(tmp_path: Path) -> None:
    operators = [Operator("a", "CONV_2D", 3.0), Operator("b", "ADD", 1.0)]
    done = run_command(written(tmp_path / "run.json", operators), "--type", "Conv2D")
    assert done.err.splitlines()[0] == (
        "note: type Conv2D: the profile has no such operator; did you mean CONV_2D?"
    )


@pytest.mark.parametrize(
    ("level", "name", "text"),
    [
        ("operator", "Conv2d", "no row of level operator has it; it is a type at --level module"),
        ("module", "aten::add", "no row of level module has it; it is a type at --level operator"),
        ("operator", "conv2d", "the profile has no such operator; did you mean aten::conv2d?"),
        ("module", "conv2d", "the profile has no such operator; did you mean Conv2d?"),
        (
            "operator",
            "block",
            "the profile has no such operator; Block is a type at --level module",
        ),
        ("module", "Q", "the profile has no such operator; the most frequent are {}"),
    ],
)
def test_a_type_at_another_level_gets_this_level(level: str, name: str, text: str) -> None:
    profile = str(FIXTURES / "pytorch/cnn-shapes.json.gz")
    done = run_command(profile, "--level", level, "--type", name, "--print-only", "device")
    modules = "Conv2d, BatchNorm2d, Block, region, Net, MaxPool2d, Identity, AdaptiveAvgPool2d"
    assert done.err.splitlines()[0] == f"note: type {name}: {text.format(modules)}"

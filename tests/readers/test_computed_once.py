"""Facts that files of one model share are computed once, and only short texts are kept."""

from __future__ import annotations

from unittest.mock import Mock

import pytest

import profile_analyze as pa
from profile_analyze.readers import computed_once as module
from profile_analyze.readers.computed_once import LONGEST_TEXTS, computed_once
from tests.conftest import FIXTURES
from tests.readers.same_profiles import difference


@pytest.mark.parametrize(
    ("file", "derivation"),
    [
        ("onnxruntime/quirks-1.31.json", "onnxruntime.operators.work_of_node"),
        ("onnxruntime/squeezenet-1.31.json.gz", "onnxruntime.operators.tensors_of"),
        ("pytorch/gpu.json", "pytorch.work.operators.arguments_of"),
        ("pytorch/cnn-shapes.json.gz", "pytorch.work.operators.arguments_of"),
        ("migraphx/current.txt", "migraphx.instruction._with_parts"),
        ("tensorrt/net.graph.json", "tensorrt.tensors._DTYPE"),
    ],
)
def test_a_second_file_of_a_model_derives_nothing_again(
    file: str, derivation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = pa.load(str(FIXTURES / file), beside=False)
    # `search` is for derivations that are compiled patterns.
    unused = Mock(side_effect=AssertionError, search=Mock(side_effect=AssertionError))
    monkeypatch.setattr(f"profile_analyze.readers.{derivation}", unused)
    second = pa.load(str(FIXTURES / file), beside=False)
    assert difference(first, second) is None


def test_equal_arguments_are_computed_once() -> None:
    function = Mock(side_effect=lambda *texts: texts, __name__="function")
    kept = computed_once(function)
    arguments = [("a", b"b"), ("a", b"b"), ("a", None), ("a",), ("ab",), ("a", None)]
    assert [kept(*one) for one in arguments] == arguments
    assert [call.args for call in function.call_args_list] == [
        ("a", b"b"),
        ("a", None),
        ("a",),
        ("ab",),
    ]


def test_long_texts_are_not_kept() -> None:
    function = Mock(side_effect=len, __name__="function")
    kept = computed_once(function)
    lengths = [LONGEST_TEXTS, LONGEST_TEXTS + 1] * 2
    assert [kept("a" * length) for length in lengths] == lengths
    assert [len(call.args[0]) for call in function.call_args_list] == [2048, 2049, 2049]


def test_only_the_latest_results_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_RESULTS", 2)
    function = Mock(side_effect=str.upper, __name__="function")
    kept = computed_once(function)
    assert "".join(map(kept, "abacab")) == "ABACAB"
    assert "".join(call.args[0] for call in function.call_args_list) == "abcb"

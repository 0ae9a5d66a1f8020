"""The work derived from shapes equals the measured work, and `--work` chooses one of them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import profile_analyze as pa
from profile_analyze.model.operators import OPTIONAL_COLUMNS
from profile_analyze.model.terms import CONVOLUTION, DERIVED_WORK, MATMUL
from profile_analyze.readers.megengine.work import derived_work
from tests.conftest import PROFILES, run_command

if TYPE_CHECKING:
    from pathlib import Path

NAN = float("nan")
BROKEN = {"derived-huge.json", "derived-infstring.json", "derived-zero.json"}
"""Profiles whose computation was edited."""
REAL = sorted(path for path in PROFILES.glob("*.json") if path.name not in BROKEN)


def products(path: Path) -> tuple[pa.Operators, np.ndarray[Any, Any]]:
    """Return the operators of a profile, and which of them are convolutions or matrix products."""
    operators = pa.load(path, wanted=(*OPTIONAL_COLUMNS, *DERIVED_WORK)).operators
    names = operators.category.categories
    return operators, operators.category.where(name in (CONVOLUTION, MATMUL) for name in names)


@pytest.mark.parametrize("path", REAL, ids=lambda path: path.stem)
def test_convolutions_and_products_have_the_work_that_was_measured(path: Path) -> None:
    operators, chosen = products(path)
    computation, memory = (operators.numbers(name)[chosen] for name in DERIVED_WORK)
    np.testing.assert_array_equal(computation, operators.computation[chosen])
    # The dtypes of quantized outputs are not in the file.
    known = ~np.isnan(memory)
    np.testing.assert_array_equal(memory[known], operators.memory[chosen][known])


IMAGES = {"format": "NCHW"}


@pytest.mark.parametrize(
    ("type_", "in_shapes", "out_shapes", "dtypes", "parameters", "work"),
    [
        # (1, 4, 8, 8) with 6 filters of 4x3x3, and a bias
        (
            *("ConvBiasForward", ((1, 4, 8, 8), (6, 4, 3, 3), (1, 6, 1, 1)), ((1, 6, 8, 8),)),
            *((None, "Float32", None), IMAGES, (13_824, 28_032, 3_448)),
        ),
        (
            *("ConvolutionForward", ((1, 8, 8, 4), (2, 3, 3, 3, 2)), ((1, 8, 8, 6),)),
            *((None, "Float16"), IMAGES | {"format": "NHWC"}, (6_912, 13_824, 1_496)),
        ),
        (
            *("ConvolutionForward", ((1, 4, 8, 8), (6, 4, 3, 3)), ((1, 6, 8, 8),)),
            *((None, "QuantizedS8"), IMAGES, (13_824, 27_648, NAN)),
        ),
        (
            *("ConvolutionForward", ((1, 4, 8, 8), (6, 4, 3, 3)), ((1, 6, 8, 8),)),
            *((None, None), IMAGES | {"format": "CHWN4"}, (NAN, NAN, NAN)),
        ),
        ("ConvolutionForward", ((1, 4, 8, 8),), ((1, 6, 8, 8),), (), IMAGES, (NAN, NAN, NAN)),
        (
            *("ConvolutionBackwardData", ((8, 4, 2, 2), (1, 8, 16, 16)), ((1, 4, 32, 32),)),
            *(("Float32", None), IMAGES, (32_768, 65_536, 25_088)),
        ),
        (
            *("BatchedMatrixMul", ((3, 5, 2), (3, 5, 7)), ((3, 2, 7),), ("Float32", "Float32")),
            *({"format": "DEFAULT", "transposeA": "true"}, (210, 420, 708)),
        ),
        (
            *("MatrixMul", ((2, 5), (5, 7)), ((2, 7),), (None, None)),
            *({"format": "MK4", "transposeA": "false"}, (NAN, NAN, NAN)),
        ),
        (
            *("PoolingForward", ((1, 4, 8, 8),), ((1, 4, 4, 4),), ("Float32",)),
            *({"window_h": 2, "window_w": 3}, (0, 384, NAN)),
        ),
        ("SoftmaxForward", ((2, 10),), ((2, 10),), ("Float32",), {}, (0, 100, NAN)),
        ("Reshape", ((2, 10), (1,)), ((20,),), (None, None), {}, (0, 0, 0)),
        ("ImmutableTensor", (), ((4,),), (), {}, (NAN, NAN, NAN)),
        ("Unheard", ((4,),), ((4,),), ("Float32",), {}, (NAN, NAN, NAN)),
        ("Elemwise", None, None, ("Float32",), {}, (NAN, NAN, NAN)),
        ("Elemwise", ((4,), (4,)), ((4,),), ("Float32",), None, (0, 4, NAN)),
    ],
)
def test_work_is_derived_from_type_shapes_dtypes_and_parameters(
    type_: str, in_shapes: Any, out_shapes: Any, dtypes: Any, parameters: Any, work: Any
) -> None:
    pairs = None if parameters is None else tuple(parameters.items())
    found = derived_work(type_, in_shapes, out_shapes, dtypes, pairs)
    np.testing.assert_array_equal(found, work)


def counted_sources(choice: str) -> list[str]:
    """Count the operators of a profile by their type and by the sources of their work."""
    path = PROFILES / "resnet18.json"
    profile = pa.load(path, wanted=(*OPTIONAL_COLUMNS, *DERIVED_WORK))
    operators = pa.choose_work(profile, choice).operators
    sources = (operators.source_of(name).values() for name in ("computation", "memory"))
    counts = Counter(zip(operators.type.values(), *sources, strict=True))
    return sorted(f"{count} {' '.join(key)}" for key, count in counts.items())


def test_each_choice_of_work_decides_its_sources() -> None:
    assert counted_sources("measured") == [
        "1 Concat unknown unknown",
        "1 GetVarShape unknown unknown",
        "1 Host2DeviceCopy unknown unknown",
        "1 InputCallback unknown measured",
        "1 MatrixMul measured measured",
        "1 OutputCallback unknown measured",
        "1 Reshape unknown measured",
        "1 Subtensor unknown unknown",
        "2 PoolingForward measured measured",
        "20 ConvolutionForward measured measured",
        "26 Elemwise measured measured",
        "41 ImmutableTensor unknown derived",
    ]
    assert counted_sources("derived") == [
        "1 Concat unknown unknown",
        "1 GetVarShape unknown unknown",
        "1 Host2DeviceCopy unknown unknown",
        "1 InputCallback unknown unknown",
        "1 MatrixMul derived derived",
        "1 OutputCallback unknown unknown",
        "1 Reshape derived derived",
        "1 Subtensor unknown unknown",
        "2 PoolingForward derived unknown",
        "20 ConvolutionForward derived derived",
        "26 Elemwise derived unknown",
        "41 ImmutableTensor unknown derived",
    ]
    assert counted_sources("best") == [
        "1 Concat unknown unknown",
        "1 GetVarShape unknown unknown",
        "1 Host2DeviceCopy unknown unknown",
        "1 InputCallback unknown measured",
        "1 MatrixMul measured measured",
        "1 OutputCallback unknown measured",
        "1 Reshape derived measured",
        "1 Subtensor unknown unknown",
        "2 PoolingForward measured measured",
        "20 ConvolutionForward measured measured",
        "26 Elemwise measured measured",
        "41 ImmutableTensor unknown derived",
    ]


def test_an_unknown_choice_is_an_error() -> None:
    message = "work: 'all' is not one of measured, derived, best"
    with pytest.raises(pa.QueryError, match=message):
        pa.choose_work(pa.load(PROFILES / "tiny.json"), "all")


def test_derived_work_must_be_loaded() -> None:
    profile = pa.load(PROFILES / "tiny.json")
    assert len(pa.choose_work(profile, "measured")) == len(profile)
    with pytest.raises(pa.QueryError, match="derived_computation: the profile was loaded without"):
        pa.choose_work(profile, "best")


OUTPUTS = {
    "measured": (
        "type,computation_flo,memory_bytes\n"
        "ConvBiasForward,148480.0,4288.0\n"
        "ConvBiasForward,295936.0,4416.0\n"
        "ConvBiasForward,149504.0,3392.0\n"
        "ConvBiasForward,25344.0,2032.0\n"
        "TypeCvt,,5120.0\n"
        "ImmutableTensor,,0.0\n"
        "InputCallback,,0.0\n"
        "ImmutableTensor,,0.0\n"
        "ImmutableTensor,,0.0\n"
        "ElemwiseMultiType,,3072.0\n"
        "note: the computation of 15 operators (13.7% of the time) is unknown\n"
        "note: the memory of 8 operators (5.9% of the time) is derived from shapes\n"
    ),
    "derived": (
        "type,computation_flo,memory_bytes\n"
        "ConvBiasForward,148480.0,\n"
        "ConvBiasForward,295936.0,\n"
        "ConvBiasForward,149504.0,\n"
        "ConvBiasForward,25344.0,\n"
        "TypeCvt,0.0,\n"
        "ImmutableTensor,,0.0\n"
        "InputCallback,,\n"
        "ImmutableTensor,,0.0\n"
        "ImmutableTensor,,0.0\n"
        "ElemwiseMultiType,1024.0,\n"
        "note: the memory of 11 operators (94.1% of the time) is unknown\n"
        "note: the computation of 10 operators (7.8% of the time) is unknown\n"
        "note: the computation of 11 operators (92.2% of the time) is derived from shapes\n"
        "note: the memory of 10 operators (5.9% of the time) is derived from shapes\n"
    ),
    "best": (
        "type,computation_flo,memory_bytes\n"
        "ConvBiasForward,148480.0,4288.0\n"
        "ConvBiasForward,295936.0,4416.0\n"
        "ConvBiasForward,149504.0,3392.0\n"
        "ConvBiasForward,25344.0,2032.0\n"
        "TypeCvt,0.0,5120.0\n"
        "ImmutableTensor,,0.0\n"
        "InputCallback,,0.0\n"
        "ImmutableTensor,,0.0\n"
        "ImmutableTensor,,0.0\n"
        "ElemwiseMultiType,1024.0,3072.0\n"
        "note: the computation of 10 operators (7.8% of the time) is unknown\n"
        "note: the memory of 8 operators (5.9% of the time) is derived from shapes\n"
        "note: the computation of 5 operators (5.9% of the time) is derived from shapes\n"
    ),
}


@pytest.mark.parametrize("choice", OUTPUTS)
def test_the_option_work_decides_values_and_notes(choice: str) -> None:
    answer = run_command(
        *(str(PROFILES / "int8.json"), "--work", choice, "--notes", "all", "--format", "csv"),
        *("--columns", "type,computation,memory", "--where", "share > 1%", "-t", "0"),
    )
    assert (answer.out + answer.err).replace("\r", "") == OUTPUTS[choice]


def test_measured_is_the_default_of_a_profile() -> None:
    path = str(PROFILES / "resnet18.json")
    columns = ("--columns", "name,computation,memory,flops,bandwidth", "-t", "0")
    answers = [run_command(path, *columns, *work) for work in ((), ("--work", "measured"))]
    assert [answer.code for answer in answers] == [0, 0]
    assert answers[0].out == answers[1].out

"""The category, dtype and device of XNNPACK's operators, by their types."""

from __future__ import annotations

import pytest

from profile_analyze.readers.tflite.types import INSIDE, kind_of


@pytest.mark.parametrize(
    ("type_", "category", "dtype"),
    [
        ("Convolution (NHWC, QC8) IGEMM", "convolution", "int8"),
        ("Convolution (NHWC, QDU8, F32, QC8W) GEMM", "convolution", "uint8"),
        ("Deconvolution (NC, QS8, QC8W) IGEMM", "convolution", "int8"),
        ("Fully Connected (NC, QD8, F32, QC8W) GEMM", "matmul", "int8"),
        ("Fully Connected (NC, QP8, F32, QB4W) GEMM", "matmul", "int8"),
        ("Fully Connected (NC, F32, QC4W) GEMM", "matmul", "fp32"),
        ("Fully Connected (NC, PF32) GEMM", "matmul", "fp32"),
        ("Batch Matrix Multiply (NC, QD8, F32, QC8W) GEMM", "matmul", "int8"),
        ("Dynamic Fully Connected (NC, F16) GEMM", "matmul", "fp16"),
        ("Scaled Dot-Product Attention (NHTC, F16)", "attention", "fp16"),
        ("RoPE (NTHC, F32)", "elementwise", "fp32"),
        ("Unary Elementwise (NC)", "elementwise", None),
        ("Binary Elementwise (ND)", "elementwise", None),
        ("Reciprocal Square Root (NC)", "elementwise", None),
        ("Convert (NC, F16, QD8)", "elementwise", "fp16"),
        ("Mean (ND) Mean", "reduction", None),
        ("Sum (ND)", "reduction", None),
        ("Depth To Space (NCHW2NHWC, X32)", "data movement", None),
        ("Pack LH (X32)", "data movement", None),
        ("Max Pooling (NHWC, S8)", "pooling", "int8"),
    ],
)
def test_operators_of_xnnpack_have_a_category_a_dtype_and_a_device(
    type_: str, category: str, dtype: str | None
) -> None:
    kind = kind_of(INSIDE, f"Delegate/{type_}:3")
    assert (kind.type, kind.category, kind.compute_dtype) == (type_, category, dtype)
    assert kind.device == "XNNPack"


@pytest.mark.parametrize("type_", ["My Operator ()", "My Operator (fast)", "My Operator (F32"])
def test_other_types_inside_of_a_delegate_belong_to_an_unknown_device(type_: str) -> None:
    kind = kind_of(INSIDE, f"Delegate/{type_}:3")
    assert (kind.category, kind.compute_dtype, kind.device) == ("other", None, None)

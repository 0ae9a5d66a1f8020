"""Short names and categories of kernels."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profile_analyze.model.terms import CATEGORIES
from profile_analyze.readers.pytorch.kernel_names import (
    category_by_words,
    kernel_category,
    short_name,
)

LAMBDA = "(at::TensorIteratorBase&)::{lambda()#2}::operator()() const::{lambda()#7}::operator()() const::{lambda(float)#1}"
COPY = f"at::native::direct_copy_kernel_cuda{LAMBDA}"
ADD = "at::native::BinaryFunctor<c10::Half, c10::Half, c10::Half, at::native::AddFunctor<float> >"
SUM = "at::native::func_wrapper_t<float, at::native::sum_functor<float, float, float>::operator()(at::TensorIterator&)::{lambda(float, float)#1}>"
NAMES = {
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3> >(int, at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3>)": (
        "vectorized_elementwise_kernel<CUDAFunctor_add<float>>",
        "elementwise",
    ),
    f"void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl<{ADD} >(at::TensorIteratorBase&, {ADD} const&)::{{lambda(int)#1}}>(int, at::native::gpu_kernel_impl<{ADD} >(at::TensorIteratorBase&, {ADD} const&)::{{lambda(int)#1}})": (
        "elementwise_kernel<AddFunctor<float>>",
        "elementwise",
    ),
    f"void at::native::unrolled_elementwise_kernel<{COPY}, at::detail::Array<char*, 2>, TrivialOffsetCalculator<1, unsigned int>, at::native::memory::LoadWithCast<1> >(int, {COPY})": (
        "unrolled_elementwise_kernel<direct_copy_kernel_cuda<float>>",
        "data movement",
    ),
    f"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, {SUM}, unsigned int, float, 4> >(at::native::ReduceOp<float, {SUM}, unsigned int, float, 4>)": (
        "reduce_kernel<sum_functor<float>>",
        "reduction",
    ),
    "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::NormTwoOps<float, float>, unsigned int, float, 4> >(int)": (
        "reduce_kernel<NormTwoOps<float>>",
        "reduction",
    ),
    "void at::native::(anonymous namespace)::CatArrayBatchedCopy<float, unsigned int, 1, 128, 1>(float*, int)": (
        "CatArrayBatchedCopy<float>",
        "data movement",
    ),
    "void (anonymous namespace)::softmax_warp_forward<float, float, float, 10, true, false>(float*, float const*, int)": (
        "softmax_warp_forward<float>",
        "softmax",
    ),
    "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::Half, float>(int, float)": (
        "vectorized_layer_norm_kernel<Half>",
        "normalization",
    ),
    "void cudnn::bn_fw_tr_1C11_singleread<float, 512, true, 1, 2, 0>(cudnn::bn_fw_tr_1C11_args<float>)": (
        "bn_fw_tr_1C11_singleread<float>",
        "normalization",
    ),
    "void at::native::(anonymous namespace)::max_pool_forward_nchw<float>(int)": (
        "max_pool_forward_nchw<float>",
        "pooling",
    ),
    "void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_128x128_32x3_nn_align4>(cutlass_80_tensorop_s1688gemm_128x128_32x3_nn_align4::Params)": (
        "cutlass_80_tensorop_s1688gemm_128x128_32x3_nn_align4",
        "matmul",
    ),
    "ampere_sgemm_128x64_nn": ("ampere_sgemm_128x64_nn", "matmul"),
    "Cijk_Ailk_Bjlk_SB_Bias_AS_SAV_UserArgs_MT64x16x16_MI16x16x1_SN_LDSB0_WSGRB0_WS64_WG64_4_1": (
        "Cijk_Ailk_Bjlk_SB_Bias_AS_SAV_UserArg...WSGRB0_WS64_WG64_4_1",
        "matmul",
    ),
    "void cublasLt::splitKreduce_kernel<32, 16, int, float, float, float, float, true, true, false>(int)": (
        "splitKreduce_kernel<float>",
        "matmul",
    ),
    "std::enable_if<!(false), void>::type internal::gemvx::kernel<int, int, float, float, float, float, false, 7, cublasGemvParams<float> >(cublasGemvParams<float>)": (
        "gemvx::kernel<float>",
        "matmul",
    ),
    "void gemvx::kernel<int>(int)": ("gemvx::kernel<int>", "matmul"),
    "cudnn_infer_volta_scudnn_128x64_relu_small_nn_v1": (
        "cudnn_infer_volta_scudnn_128x64_relu_small_nn_v1",
        "convolution",
    ),
    "void cask_cudnn_infer::computeOffsetsKernel<true, false>(cask_cudnn_infer::ComputeOffsetsParams)": (
        "computeOffsetsKernel",
        "convolution",
    ),
    "void cudnn::ops::nchwToNhwcKernel<float, float, float, false, true, (cudnnKernelDataType_t)2>(cudnn::ops::nchw2nhwc_params_t<float>, float const*, float*)": (
        "nchwToNhwcKernel<float>",
        "data movement",
    ),
    "void fft2d_r2c_32x32<float, false, 0u, false>(float2*, float const*, cudnn::reduced_divisor)": (
        "fft2d_r2c_32x32<float>",
        "other",
    ),
    "void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4, false, false, cutlass::half_t> >(pytorch_flash::Flash_fwd_params)": (
        "flash_fwd_kernel<Flash_fwd_kernel_traits<half_t>>",
        "attention",
    ),
    "ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)": (
        "ncclKernel_AllReduce_RING_LL_Sum_float",
        "communication",
    ),
    "void cub::DeviceRadixSortOnesweepKernel<cub::DeviceRadixSortPolicy<long, int, int>::Policy800, false, long, int, int, int>(int*)": (
        "DeviceRadixSortOnesweepKernel<long>",
        "other",
    ),
    "void fbgemm_gpu::permute_2D_data_kernel<false, int, int, decltype(nullptr)>(int)": (
        "permute_2D_data_kernel<int>",
        "data movement",
    ),
    "void fbgemm_gpu::_offsets_range_cuda_kernel<int>(long)": ("_offsets_range_cuda_kernel<int>", "other"),
    "void split_embedding_codegen_forward_weighted_kernel<c10::Half, c10::Half, float, false, long, 2ul, 32ul>(int)": (
        "split_embedding_codegen_forward_weighted_kernel<Half>",
        "embedding",
    ),
    "triton_poi_fused_add_cos_sin_0": ("triton_poi_fused_add_cos_sin_0", "elementwise"),
    "triton_red_fused_native_batch_norm_0": ("triton_red_fused_native_batch_norm_0", "normalization"),
    "void my_kernel(float*) [clone .kd]": ("my_kernel", "other"),
    "at::cuda::(anonymous namespace)::spin_kernel(long)": ("spin_kernel", "other"),
    "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIfEENS_6detail5ArrayIPcLi3EEEEEviT0_T1_": (
        "vectorized_elementwise_kernel<CUDAFunctor_add>",
        "elementwise",
    ),
    "_ZN19cutlass_cudnn_train6KernelINS_4conv6kernel23ImplicitGemmConvolutionINS1_11threadblock22ImplicitGemmMultistageEEEEEvNT_6ParamsE": (
        "ImplicitGemmConvolution",
        "convolution",
    ),
    "_Z15fft2d_r2c_32x32IfLb0ELj0ELb0EEvP6float2PKfi": ("fft2d_r2c_32x32", "other"),
}  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_kernels_have_short_names_and_categories(name: str) -> None:
    assert (short_name(name), kernel_category(name, "kernel")) == NAMES[name]


@pytest.mark.parametrize(
    ("name", "event", "category"),
    [
        ("Memcpy HtoD (Pageable -> Device)", "gpu_memcpy", "copy"),
        ("Memcpy DtoH (Device -> Pinned)", "Memcpy", "copy"),
        ("Memcpy PtoP (Device -> Device)", "gpu_memcpy", "copy"),
        ("CopyHostToDevice", "gpu_memcpy", "copy"),
        ("Memcpy DtoD (Device -> Device)", "gpu_memcpy", "data movement"),
        ("Memset (Device)", "gpu_memset", "data movement"),
    ],
)
def test_copies_between_devices_differ_from_copies_within_one(
    name: str, event: str, category: str
) -> None:
    assert (short_name(name), kernel_category(name, event)) == (name, category)


def test_the_first_pattern_that_matches_decides_the_category() -> None:
    assert category_by_words("at::native::normal_and_transform") == "other"
    assert category_by_words("convert_index") == "data movement"


@pytest.mark.parametrize(
    "name",
    [
        "",
        "_Z",
        "_ZN",
        "_ZN9999x",
        "void ",
        "<",
        ">",
        "a<",
        "a<b(",
        "::",
        "f(",
        "(f)",
        "{}",
        "a::<b>",
        "operator<(a)",
    ],
)
def test_incomplete_names_raise_no_error(name: str) -> None:
    assert isinstance(short_name(name), str)


@pytest.mark.parametrize(
    "part", ["<", "a<", "a::", "(", "a,", "_ZN1a", "1a", "a<b,", "{lambda(", " "]
)
def test_very_long_names_are_shortened(part: str) -> None:
    million = part * (1_000_000 // len(part))
    assert len(short_name(million)) <= 60
    assert len(short_name(f"_Z{million}")) <= 60
    assert kernel_category(million, "kernel") in CATEGORIES


@given(st.text("ab_:<>(){},. *&0123456789INES[]-", max_size=80))
def test_every_name_has_a_short_name_and_a_category(name: str) -> None:
    found = short_name(name)
    assert len(found) <= 60
    assert bool(found) == bool(name.strip())
    assert kernel_category(name, "kernel") in CATEGORIES

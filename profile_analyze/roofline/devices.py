"""The peak rates of known devices, with their sources. All rates are without structured sparsity.

Each rate of computation needs a second source, because a wrong roof makes people optimize the wrong
operator. `confirmed` means that at least two published tables or data sheets agree. A table that
cites a data sheet counts as two. `derived` means that the rate was computed as compute units * rate
per clock * boost clock, and agrees with a published figure if there is one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from profile_analyze.model.terms import GPU

if TYPE_CHECKING:
    from collections.abc import Mapping

    from profile_analyze.model.terms import DeviceKind

DTYPES: Final = ("fp64", "fp32", "tf32", "fp16", "bf16", "fp8", "int8")
"""The dtypes that have rates. `fp64` and `fp32` are rates of vector units; `fp16` and `bf16` are
rates of matrix units that accumulate in FP32."""


CONFIDENCES: Final[Mapping[str, str]] = {
    "confirmed": "at least two sources agree",
    "derived": "computed from units and clock rate",
}
"""What each value of `Device.confidence` means, in words to print after the source."""


class Device(NamedTuple):
    """The peak rates of one device."""

    name: str
    rates: Mapping[str, float]
    """TFLO/s by dtype (for int8, tera-operations per second)."""
    bandwidth_gb_s: float
    """Bandwidth in 1e9 bytes per second."""
    source: str
    confidence: str = "confirmed"
    """`confirmed` or `derived`; empty for a device from a user's file."""
    aliases: tuple[str, ...] = ()
    remark: str = ""
    kind: DeviceKind | None = GPU
    """`cpu` or `gpu`; None if a user's file does not say."""
    dies: int = 1
    """The number of dies that have these rates together. Profiles show each die as a device."""


_LIGHTNING: Final = "PyTorch Lightning's throughput table, which cites the data sheet"
_A100: Final = {"fp32": 19.5, "tf32": 156.0, "fp16": 312.0, "bf16": 312.0, "int8": 624.0}
_H100_SXM: Final = {
    "fp32": 67.0, "tf32": 495.0, "fp16": 989.0, "bf16": 989.0, "fp8": 1979.0, "int8": 1979.0,
}  # fmt: skip
_MI300X: Final = {
    "fp64": 81.7, "fp32": 163.4, "tf32": 653.7, "fp16": 1307.4, "bf16": 1307.4, "fp8": 2614.9,
    "int8": 2614.9,
}  # fmt: skip

DEVICES: Final = (
    Device("V100 SXM2", {"fp64": 7.8, "fp32": 15.7, "fp16": 125.0}, 900.0,
           f"{_LIGHTNING}; FP16 derived as 125.3"),
    Device("V100 PCIe", {"fp64": 7.0, "fp32": 14.0, "fp16": 112.0}, 900.0,
           f"{_LIGHTNING}; bandwidth: nsys-ai"),
    Device("V100S", {"fp64": 8.2, "fp32": 16.4, "fp16": 130.0}, 1134.0,
           f"{_LIGHTNING}; bandwidth: nsys-ai"),
    Device("T4", {"fp32": 8.1, "fp16": 65.0, "int8": 130.0}, 320.0,
           f"{_LIGHTNING}; FP16 derived as 65.1", remark="some documents say 300 GB/s"),
    Device("A100 40GB", _A100, 1555.0,
           "PyTorch Lightning's, PyTorch's and nsys-ai's tables; FP16 derived as 311.9",
           aliases=("A100 40GB SXM", "A100 40GB PCIe", "A100 SXM4 40GB", "A100 SXM 40GB",
                    "A100 PCIe 40GB")),
    Device("A100 80GB SXM", _A100, 2039.0, "PyTorch Lightning's, PyTorch's and nsys-ai's tables",
           aliases=("A100 SXM4 80GB", "A100 SXM 80GB")),
    Device("A100 80GB PCIe", _A100, 1935.0, "PyTorch Lightning's, PyTorch's and nsys-ai's tables",
           aliases=("A100 PCIe 80GB",)),
    Device("A10", {"fp32": 31.2, "fp16": 125.0, "bf16": 125.0}, 600.0, _LIGHTNING),
    Device("L4", {"fp32": 30.3, "fp16": 121.0, "bf16": 121.0, "fp8": 242.0, "int8": 242.0}, 300.0,
           "nsys-ai; FP16 derived as 121.2; half of PyTorch's figures, which count sparsity"),
    Device("L40S", {"fp16": 362.0, "bf16": 362.0}, 864.0,
           "torchtitan, citing the data sheet, and nsys-ai; FP16 derived as 366"),
    Device("H100 SXM", _H100_SXM, 3350.0,
           "PyTorch Lightning's table (half its sparse figures), torchtitan; FP16 derived as 989.4",
           aliases=("H100 SXM5",)),
    Device("H100 PCIe",
           {"fp32": 51.0, "tf32": 378.0, "fp16": 756.0, "bf16": 756.0, "fp8": 1513.0,
            "int8": 1513.0}, 2000.0,
           "PyTorch Lightning's table, torchtitan and xprof's tests; FP16 derived as 756.4",
           remark="tables give a bandwidth of 2000 to 2039 GB/s"),
    Device("H200 SXM", _H100_SXM, 4800.0, "torchtitan, nsys-ai and a pull request of PyTorch"),
    Device("B200", {"tf32": 1125.0, "fp16": 2250.0, "bf16": 2250.0, "fp8": 4500.0, "int8": 4500.0},
           7700.0, "torchtitan, citing the data sheet, and pull requests of PyTorch",
           remark="tables give a bandwidth of 7700 to 8000 GB/s"),
    Device("RTX 3090", {"fp32": 35.6, "tf32": 35.6, "fp16": 71.0, "bf16": 71.0}, 936.0,
           "xprof's rates per clock; FP16 derived as 71.2, half of nsys-ai's 142 with FP16 "
           "accumulation; bandwidth: nsys-ai",
           confidence="derived"),
    Device("RTX 4090",
           {"fp64": 1.29, "fp32": 82.6, "tf32": 82.6, "fp16": 165.2, "bf16": 165.2, "fp8": 330.0,
            "int8": 660.6}, 1008.0,
           "waredb and onnx-tool; FP16 derived as 330.3 with FP16 accumulation",
           remark="accumulation in FP16 doubles the rates of FP16 and FP8"),
    Device("MI210", {"fp64": 22.6, "fp32": 22.6, "fp16": 181.0, "bf16": 181.0, "int8": 181.0},
           1600.0, "PyTorch's table, citing the brochure; FP16 derived as 181.0"),
    Device("MI250X", {"fp64": 47.9, "fp32": 47.9, "fp16": 383.0, "bf16": 383.0, "int8": 383.0},
           3200.0, "torchtitan (191.5 for each of the two dies); derived as 383.0 and 47.9",
           remark="rates of both dies together; one die has half", dies=2),
    Device("MI300X", _MI300X, 5300.0,
           "PyTorch's table, citing the data sheet, and xprof's tests; derived too"),
    Device("MI325X", _MI300X, 6000.0,
           "torchtitan and a cloud's documentation; rates as of the MI300X"),
    Device("MI350X", {"fp64": 72.0, "fp16": 2307.0, "bf16": 2307.0, "fp8": 4614.0, "int8": 4614.0},
           8000.0, "256 compute units at 2.2 GHz; PyTorch's table says 2309.6 and 4614",
           confidence="derived"),
    Device("MI355X", {"fp64": 78.6, "fp16": 2516.6, "bf16": 2516.6, "fp8": 5033.0, "int8": 5033.0},
           8000.0, "256 compute units at 2.4 GHz", confidence="derived"),
)  # fmt: skip

"""Writes tiny files as trtexec does."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from profile_analyze.model.profile import Profile

LINEAR = "Row major linear FP32"


def tensor(name: str, dims: list[int] | None, format_: str = LINEAR) -> dict[str, Any]:
    """Return a tensor of a layer."""
    return {"Name": name, "Location": "Device", "Dimensions": dims, "Format/Datatype": format_}


def layer(
    name: str, type_: str, ins: list[dict[str, Any]], outs: list[dict[str, Any]], **values: Any
) -> dict[str, Any]:
    """Return a layer. `values` may have a `ParameterType`."""
    return {"Name": name, "LayerType": type_, "Inputs": ins, "Outputs": outs, **values}


def convolution(
    name: str,
    ins: list[dict[str, Any]],
    outs: list[dict[str, Any]],
    kernel: list[int],
    weights: int,
    **values: Any,
) -> dict[str, Any]:
    """Return a layer that convolves, with a bias for each output channel."""
    maps = outs[0]["Dimensions"][1]
    common = {
        "ParameterType": "Convolution",
        "Kernel": kernel,
        "PrePadding": [0] * len(kernel),
        "Stride": [1] * len(kernel),
        "Dilation": [1] * len(kernel),
        "OutMaps": maps,
        "Groups": 1,
        "Weights": {"Type": "Float", "Count": weights},
        "Bias": {"Type": "Float", "Count": maps},
        "Activation": "NONE",
    }
    return layer(name, values.pop("LayerType", "CaskConvolution"), ins, outs, **common | values)


def description(*layers: dict[str, Any] | str, bindings: list[str] | None = None) -> bytes:
    """Return a file of `--exportLayerInfo`."""
    document: dict[str, Any] = {"Layers": [*layers]}
    if bindings is not None:
        document["Bindings"] = bindings
    return json.dumps(document, indent=1).encode()


def times(
    *layers: tuple[str, float, float | None], count: int | None = 10, with_mean: bool = True
) -> bytes:
    """Return a file of `--exportProfile`: layers with the mean and the median in milliseconds.

    Names are not escaped.
    """
    lines = [f'  {{ "count" : {count} }}']
    total = sum(mean for _, mean, _ in layers) or 1.0
    for name, mean, median in layers:
        values = {"timeMs": mean * (count or 0), "percentage": 100 * mean / total}
        if with_mean:
            values["averageMs"] = mean
        if median is not None:
            values["medianMs"] = median
        numbers = "".join(f', "{key}" : {value:.6g}' for key, value in values.items())
        lines.append(f', {{ "name" : "{name}"{numbers} }}')
    return ("[\n" + "\n".join(lines) + "\n]\n").encode()


def written(folder: Path, profile: bytes, graph: bytes | None = None) -> Path:
    """Write `net.profile.json`, and the description beside it. Return the path of the profile."""
    path = folder / "net.profile.json"
    path.write_bytes(profile)
    if graph is not None:
        (folder / "net.graph.json").write_bytes(graph)
    return path


def macs(profile: Profile) -> list[float]:
    """Return the multiply-adds of each operator, with -1 for N/A, so that lists can be compared."""
    found = profile.operators.numbers("macs").tolist()
    return [-1 if one != one else one for one in found]  # NaN

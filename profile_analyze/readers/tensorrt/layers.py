"""The layers of an engine, from the file that describes the engine."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import msgspec

from profile_analyze.errors import MalformedProfileError
from profile_analyze.readers.tensorrt.decoding import converted, decoded
from profile_analyze.readers.tensorrt.tensors import EngineTensor, canonical_dtype
from profile_analyze.units import counted
from profile_analyze.work.tensor import LARGEST_SIZE, Tensor

if TYPE_CHECKING:
    from profile_analyze.model.operators import Parameters
    from profile_analyze.readers.input.source import Source

_ONNX_LAYER: Final = re.compile(r"\[ONNX Layer: (.*?)\](?=[\x1e\x1f\s]*(?:\[|$))", re.DOTALL)
_OTHER_PROFILE: Final = re.compile(r" \[profile ([1-9][0-9]*)\]$")
_IN_COLUMNS: Final = frozenset(("Name", "ParameterType", "Inputs", "Outputs", "Metadata"))
"""Keys that do not become parameters, because a column or another parameter has their values."""
_SIZE_LIMIT: Final = 1 << 31


class Layer(msgspec.Struct, gc=False):
    """A layer, with its name, its tensors, and all its keys in the file."""

    name: str = msgspec.field(name="Name")
    layer_type: str | None = msgspec.field(default=None, name="LayerType")
    parameter_type: str | None = msgspec.field(default=None, name="ParameterType")
    inputs: list[EngineTensor] = msgspec.field(default_factory=list, name="Inputs")
    outputs: list[EngineTensor] = msgspec.field(default_factory=list, name="Outputs")
    values: dict[str, Any] = {}
    """The value of each key of the layer in the file."""

    @property
    def type(self) -> str | None:
        """What the layer computes; if that is unknown, how it is implemented."""
        return self.parameter_type or self.layer_type or None

    @property
    def scope(self) -> tuple[str, ...] | None:
        """The optimization profile that the layer belongs to; None for the first profile."""
        return scope_of(self.name)

    def sizes(self, key: str) -> tuple[int, ...] | None:
        """Return the value of `key` as a list of sizes; None if it is not such a list."""
        found = self.values.get(key)
        if not isinstance(found, list) or not all(map(_is_size, found)):
            return None
        return tuple(found)

    def size(self, key: str) -> int | None:
        """Return the value of `key` as a size; None if it is not a size."""
        found = self.values.get(key)
        return found if _is_size(found) else None

    def constant(self, key: str) -> Tensor | None:
        """Return the `Weights` or `Bias` as a tensor with one dimension; None if missing."""
        found = self.values.get(key)
        if not isinstance(found, dict):
            return None
        count = found.get("Count")
        if type(count) is not int or not 0 < count <= LARGEST_SIZE:
            return None
        dtype = found.get("Type")
        return Tensor((count,), canonical_dtype(dtype) if isinstance(dtype, str) else None)

    @property
    def constants(self) -> list[Tensor]:
        """The weights and the bias, if the layer has any."""
        return [one for key in ("Weights", "Bias") if (one := self.constant(key)) is not None]

    @property
    def parameters(self) -> Parameters:
        """The parameters, with the names in the file. Lists of sizes become texts such as `3x3`."""
        found = {name: _text(value) for name, value in self.values.items()}
        parameters = {name: value for name, value in found.items() if name not in _IN_COLUMNS}
        for name, tensors in (("InputFormats", self.inputs), ("OutputFormats", self.outputs)):
            if any(one.format for one in tensors):
                parameters[name] = ", ".join(one.format for one in tensors)
        if metadata := found.get("Metadata"):
            # A control character, or nothing, separates two names.
            names = _ONNX_LAYER.findall(str(metadata))
            parameters["OnnxLayers"] = ", ".join(names) or metadata
        return tuple(sorted((name, one) for name, one in parameters.items() if one is not None))


class Engine(msgspec.Struct):
    """The description of an engine."""

    layers: list[Layer]
    bindings: list[str]
    """The names of the inputs and outputs of the engine; empty for early versions of TensorRT."""


class _Document(msgspec.Struct):
    layers: list[dict[str, Any] | str] = msgspec.field(name="Layers")
    bindings: list[str] = msgspec.field(default_factory=list, name="Bindings")


def scope_of(name: str) -> tuple[str, ...] | None:
    """Return the optimization profile of the layer with this name; None for the first profile."""
    found = _OTHER_PROFILE.search(name)
    return None if found is None else (f"profile {found[1]}",)


def read_engine(source: Source) -> Engine:
    """Return the description in `source`. Raises `MalformedProfileError`."""
    document = converted(decoded(source), _Document, source.name)
    if not document.layers:
        raise MalformedProfileError(source.name, "describes no layer; build the engine again")
    described = [one for one in document.layers if isinstance(one, dict)]
    if len(described) < len(document.layers):
        raise MalformedProfileError(
            source.name,
            f"has only the names of {counted(len(document.layers), 'layer')}; build the engine and "
            "export it again with --profilingVerbosity=detailed",
        )
    layers = []
    for index, values in enumerate(described):
        layer = converted(values, Layer, source.name, f"$.Layers[{index}]")
        layer.values = values
        layers.append(layer)
    return Engine(layers, document.bindings)


def _is_size(value: Any) -> bool:
    return type(value) is int and 0 <= value < _SIZE_LIMIT


def _text(value: Any) -> int | float | str | None:
    """Return a value as a parameter: `3x3` for a list of integers, otherwise JSON."""
    if value is None or isinstance(value, str) or type(value) is float:
        return value
    if type(value) is int and abs(value) <= LARGEST_SIZE:
        return value
    if isinstance(value, list) and value and all(type(one) is int for one in value):
        return "x".join(map(str, value))
    return msgspec.json.encode(value).decode()

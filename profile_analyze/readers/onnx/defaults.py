"""Adds the default values of attributes, which some exporters write and other exporters omit."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final

from onnx import defs, helper

if TYPE_CHECKING:
    from collections.abc import Mapping

    from profile_analyze.readers.onnx.graph import Node

_OF_WINDOWS: Final[Mapping[str, int]] = {
    "dilations": 1,
    "output_padding": 0,
    "pads": 0,
    "strides": 1,
}
"""Defaults that the schemas describe only in words. Each axis of a kernel has the same default."""


def with_defaults(node: Node, opsets: Mapping[str, int]) -> Mapping[str, Any]:
    """Return the attributes of a node. Attributes that the file omits have their default values."""
    defaults, names = _schema(node.type, node.domain, opsets.get(node.domain, 1))
    attributes = {**defaults, **node.attributes}
    kernel = attributes.get("kernel_shape")
    if not isinstance(kernel, tuple):
        return attributes
    # With automatic padding, the padding depends on the shape of the data.
    is_automatic = attributes.get("auto_pad", "NOTSET") != "NOTSET" or "output_shape" in attributes
    for name, value in _OF_WINDOWS.items():
        if name in names and not (name == "pads" and is_automatic):
            sides = 2 if name == "pads" else 1
            attributes.setdefault(name, (value,) * (sides * len(kernel)))
    return attributes


@cache
def _schema(type_: str, domain: str, version: int) -> tuple[dict[str, Any], frozenset[str]]:
    """Return the default values in the schema of an operator, and the names of all attributes."""
    try:
        schema = defs.get_schema(type_, version, domain)
    except defs.SchemaError:  # `onnx` does not define this operator
        return {}, frozenset()
    defaults = {
        name: _plain(helper.get_attribute_value(attribute.default_value))
        for name, attribute in schema.attributes.items()
        if attribute.default_value.type
    }
    return defaults, frozenset(schema.attributes)


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return tuple(value) if isinstance(value, list) else value

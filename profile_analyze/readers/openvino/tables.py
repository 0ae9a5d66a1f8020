"""The layers of an execution graph as rows, with the tables of tensors and uses.

Inputs and results are rows only if an inference executed them. Constants, and layers that depend
only on constants, are never rows: OpenVINO runs them once, when it compiles the model.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from profile_analyze.model.categorical import Categorical
from profile_analyze.model.tables import Tensors, Uses
from profile_analyze.model.terms import (
    ACTIVATION,
    DERIVED_CONSTANT,
    INPUT,
    SCALAR,
    STRUCTURE,
    UNUSED,
    WEIGHT,
)
from profile_analyze.readers.keys import distinct_keys
from profile_analyze.readers.openvino.terms import CONSTANTS, INPUTS, NEVER_CONSTANT, RESULTS
from profile_analyze.readers.openvino.work import tensor_of
from profile_analyze.work.tensor import Tensor, all_known

if TYPE_CHECKING:
    from collections.abc import Iterator

    from profile_analyze.readers.openvino.layers import ExecutionGraph, Layer

_UNKNOWN = Tensor(None)


class Port(NamedTuple):
    """An input or output of the whole model."""

    name: str
    tensor: Tensor


class GraphTables:
    """The rows and tensors of a graph."""

    def __init__(self, graph: ExecutionGraph) -> None:
        self._graph = graph
        self._writer = {
            (edge.to_layer, edge.to_port): (edge.from_layer, edge.from_port) for edge in graph.edges
        }
        self._inputs_of = {layer.id: [port.id for port in layer.inputs] for layer in graph.layers}
        self._constant = self._constant_layers()
        self.rows: list[Layer] = [layer for layer in graph.layers if self._is_row(layer)]
        self.run_once: list[Layer] = [
            layer
            for layer in graph.layers
            if layer.id in self._constant and layer.time_us is not None
        ]
        """The layers that ran once, when OpenVINO compiled the model."""
        self._tensors: dict[tuple[str, str], Tensor] = {}
        self._names: list[str] = []
        for layer in graph.layers:
            for port in layer.outputs:
                self._tensors.setdefault((layer.id, port.id), tensor_of(port) or _UNKNOWN)
                self._names.append(layer.name)
        self._index = {one: index for index, one in enumerate(self._tensors)}

    def _constant_layers(self) -> frozenset[str]:
        """Return the ids of constants and of layers that depend only on constants."""
        readers: dict[str, list[str]] = {}
        for (layer, port), (writer, _) in self._writer.items():
            if port in self._inputs_of.get(layer, ()):
                readers.setdefault(writer, []).append(layer)
        found = [layer.id for layer in self._graph.layers if layer.type.lower() in CONSTANTS]
        # How many inputs of a layer are not yet known to be constant. Layers may be in any order.
        unknown = {
            layer.id: len(layer.inputs)
            for layer in self._graph.layers
            if layer.type.lower() not in CONSTANTS | NEVER_CONSTANT
        }
        for one in found:  # `found` grows meanwhile
            for reader in readers.get(one, ()):
                unknown[reader] = unknown.get(reader, 0) - 1
                if unknown[reader] == 0:
                    found.append(reader)
        return frozenset(found)

    def _is_row(self, layer: Layer) -> bool:
        if layer.id in self._constant:
            return False
        return layer.time_us is not None or layer.type.lower() not in INPUTS | RESULTS

    def weights(self) -> list[list[Tensor]]:
        """Return, for each row, the weights that no earlier row uses."""
        seen: set[tuple[str, str]] = set()
        result = []
        for layer in self.rows:
            own = []
            for port in layer.inputs:
                for key in self._stored(layer.id, port.id):
                    if key not in seen and self._role(key) == WEIGHT:
                        seen.add(key)
                        own.append(self._tensors[key])
            result.append(own)
        return result

    def _stored(self, layer: str, port: str) -> Iterator[tuple[str, str]]:
        """Yield the keys of the constants from which an input of a layer is computed.

        Nothing is yielded if the input is not constant.
        """
        waiting = [self._writer.get((layer, port))]
        visited: set[tuple[str, str]] = set()
        while waiting:
            key = waiting.pop()
            if key is None or key[0] not in self._constant or key in visited:
                continue
            visited.add(key)
            inputs = self._inputs_of[key[0]]
            if not inputs:
                yield key
            waiting += [self._writer.get((key[0], one)) for one in inputs]

    def constants(self) -> list[Tensor]:
        """Return all constants in the file, used or not."""
        return [
            tensor_of(port) or _UNKNOWN
            for layer in self._graph.layers
            if layer.type.lower() in CONSTANTS
            for port in layer.outputs
        ]

    def ports(self) -> tuple[tuple[Port, ...], tuple[Port, ...]]:
        """Return the inputs and outputs of the model."""
        inputs, outputs = [], []
        for layer in self._graph.layers:
            type_ = layer.type.lower()
            if type_ in INPUTS:
                inputs += [Port(layer.name, tensor_of(one) or _UNKNOWN) for one in layer.outputs]
            elif type_ in RESULTS:
                outputs += [Port(layer.name, tensor_of(one) or _UNKNOWN) for one in layer.inputs]
        return tuple(inputs), tuple(outputs)

    def _role(self, key: tuple[str, str]) -> str | None:
        if key[0] not in self._constant or key not in self._tensors:
            return ACTIVATION
        if self._inputs_of[key[0]]:
            return DERIVED_CONSTANT
        tensor = self._tensors[key]
        if tensor == _UNKNOWN:  # the placeholder of an optional input that is left out
            return UNUSED
        if (tensor.dtype or "").startswith(("int32", "int64", "uint32", "uint64", "bool")):
            return STRUCTURE
        return WEIGHT if tensor.elements > 1 else SCALAR

    def tensors(self) -> Tensors:
        """Return the table of tensors: the outputs of all layers."""
        results = {
            self._writer.get((layer.id, port.id))
            for layer in self._graph.layers
            if layer.type.lower() in RESULTS
            for port in layer.inputs
        }
        inputs = {layer.id for layer in self._graph.layers if layer.type.lower() in INPUTS}
        known = self._tensors.values()
        shapes = [_known_shape(one) for one in known]
        return Tensors(
            key=Categorical.of(distinct_keys(self._names)),
            shape=Categorical.of(shapes),
            dtype=Categorical.of([one.dtype for one in known]),
            size=np.array([one.bytes for one in known], np.float64),
            role=Categorical.of(
                [INPUT if key[0] in inputs else self._role(key) for key in self._tensors]
            ),
            elements=np.array([one.elements for one in known], np.float64),
            is_result=np.array([key in results for key in self._tensors], np.bool_),
        )

    def uses(self) -> Uses:
        """Return the table of uses: the tensors that each row reads and writes."""
        found = []
        for row, layer in enumerate(self.rows):
            for port in layer.inputs:
                index = self._index.get(self._writer.get((layer.id, port.id), ("", "")))
                if index is not None:
                    found.append((row, index, False))
            found += [(row, self._index[layer.id, port.id], True) for port in layer.outputs]
        rows, tensors, is_output = zip(*found, strict=True) if found else ((), (), ())
        return Uses(
            operator=np.array(rows, np.int32),
            tensor=np.array(tensors, np.int32),
            is_output=np.array(is_output, np.bool_),
        )


def _known_shape(tensor: Tensor) -> tuple[int, ...] | None:
    return None if tensor.shape is None else all_known(tensor.shape)

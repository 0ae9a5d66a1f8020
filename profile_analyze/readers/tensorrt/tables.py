"""The tables of tensors and of their uses by layers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from profile_analyze.model.categorical import Categorical
from profile_analyze.model.tables import Tensors, Uses
from profile_analyze.model.terms import ACTIVATION, INPUT, WEIGHT
from profile_analyze.readers.keys import distinct_keys

if TYPE_CHECKING:
    from profile_analyze.readers.tensorrt.layers import Engine
    from profile_analyze.readers.tensorrt.tensors import EngineTensor
    from profile_analyze.work.tensor import Tensor


class EngineTables:
    """The tensors that layers read or write, and the weights that belong to one layer.

    Only the layers of the first optimization profile are kept, because all profiles execute the
    same network.
    """

    def __init__(self, engine: Engine) -> None:
        self._layers = [(n, one) for n, one in enumerate(engine.layers) if one.scope is None]
        self._tensors: dict[str, EngineTensor] = {}
        read: set[str] = set()
        written: set[str] = set()
        for _, layer in self._layers:
            for one in (*layer.inputs, *layer.outputs):
                self._tensors.setdefault(one.name, one)
            read.update(one.name for one in layer.inputs)
            written.update(one.name for one in layer.outputs)
        bindings = _bindings(engine) if self._tensors.keys() >= _bindings(engine) else set()
        # Early versions of TensorRT list no bindings, or a binding may not be a tensor of a layer.
        # In both cases, the inputs are the tensors that no layer writes, and the results are the
        # tensors that no layer reads.
        inputs = (bindings or self._tensors.keys()) - written
        results = (bindings or self._tensors.keys() - read) & written
        self._roles = {
            name: INPUT if name in inputs else ACTIVATION if name in written else WEIGHT
            for name in self._tensors
        }
        self.inputs = [one for name, one in self._tensors.items() if name in inputs]
        self.results = [one for name, one in self._tensors.items() if name in results]
        self._own_weights = [
            (f"{layer.name}:{number}", constant, row)
            for row, layer in self._layers
            for number, constant in enumerate(layer.constants)
        ]

    def weights(self) -> dict[int, list[Tensor]]:
        """Return the weights of each layer, by its row.

        A weight that several layers read counts only for the first of them.
        """
        found = {row: [*layer.constants] for row, layer in self._layers}
        seen: set[str] = set()
        for row, layer in self._layers:
            for one in layer.inputs:
                if self._roles[one.name] == WEIGHT and one.name not in seen:
                    seen.add(one.name)
                    found[row].append(one.tensor)
        return found

    def tensors(self) -> Tensors:
        """Return the table of tensors."""
        between, own = [*self._tensors.values()], [one for _, one, _ in self._own_weights]
        names = [*self._tensors, *(name for name, _, _ in self._own_weights)]
        tensors = [*(one.tensor for one in between), *own]
        stored = [*(one.stored for one in between), *own]
        results = {one.name for one in self.results}
        return Tensors(
            key=Categorical.of(distinct_keys(names)),
            shape=Categorical.of(
                [*(one.shape for one in between), *((int(one.elements),) for one in own)]
            ),
            dtype=Categorical.of([one.dtype for one in tensors]),
            size=np.array([one.bytes for one in stored], np.float64),
            role=Categorical.of([*self._roles.values(), *(WEIGHT for _ in own)]),
            elements=np.array([one.elements for one in tensors], np.float64),
            is_result=np.array(
                [*(one.name in results for one in between), *(False for _ in own)], np.bool_
            ),
        )

    def uses(self) -> Uses:
        """Return the table that says which layers read and write which tensors."""
        index = {name: row for row, name in enumerate(self._tensors)}
        uses = [
            (row, index[one.name], is_output)
            for row, layer in self._layers
            for tensors, is_output in ((layer.inputs, False), (layer.outputs, True))
            for one in tensors
        ]
        first = len(self._tensors)
        uses += [(row, first + n, False) for n, (_, _, row) in enumerate(self._own_weights)]
        return Uses(
            np.array([row for row, _, _ in uses], np.int32),
            np.array([tensor for _, tensor, _ in uses], np.int32),
            np.array([is_output for _, _, is_output in uses], np.bool_),
        )


def _bindings(engine: Engine) -> set[str]:
    """Return the names of the engine's inputs and outputs in the first optimization profile."""
    return {name for name in engine.bindings if " [profile " not in name}

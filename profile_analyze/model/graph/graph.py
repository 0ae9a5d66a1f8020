"""The graph of a model: which node writes a tensor, and which nodes read it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from profile_analyze.model.terms import CONSTANT_ROLES

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from profile_analyze.model.profile import Profile

    Group: TypeAlias = tuple[int, ...]
    """Nodes that one operator executes, in the order of the model."""


class MovedBytes(NamedTuple):
    """The bytes of the tensors that a group reads or writes, each tensor once; NaN is N/A."""

    memory: float
    input_bytes: float
    """The bytes of the inputs that are not constant."""
    output_bytes: float


class ModelGraph:
    """The nodes of a model and the tensors between them."""

    def __init__(self, model: Profile) -> None:
        self._reads: list[list[int]] = [[] for _ in range(len(model))]
        self._writes: list[list[int]] = [[] for _ in range(len(model))]
        self._readers: dict[int, set[int]] = {}
        self.writer: dict[int, int] = {}
        """The node that writes each tensor."""
        tensors, uses = model.table("tensors"), model.table("uses")
        self.tensor_names: list[str] = [] if tensors is None else tensors.key.values().tolist()
        self._sizes: list[float] = [] if tensors is None else tensors.size.tolist()
        roles = None if tensors is None else tensors.role
        self._roles = [None] * len(self._sizes) if roles is None else roles.values().tolist()
        self._dtypes = [] if tensors is None else tensors.dtype.values().tolist()
        results = None if tensors is None else tensors.is_result
        self._is_result = [False] * len(self._sizes) if results is None else results.tolist()
        if uses is not None:
            columns = (uses.operator.tolist(), uses.tensor.tolist(), uses.is_output.tolist())
            for node, tensor, is_output in zip(*columns, strict=True):
                (self._writes if is_output else self._reads)[node].append(tensor)
                if is_output:
                    self.writer[tensor] = node
                else:
                    self._readers.setdefault(tensor, set()).add(node)

    def node_before(self, node: int) -> int | None:
        """Return the node before `node` if a runtime can fuse the two nodes, otherwise None.

        The node before writes the only input of `node`; constants do not count. No other node reads
        this tensor, and it is not an output of the model.
        """
        reads = [tensor for tensor in self._reads[node] if not self._is_constant(tensor)]
        if len(reads) != 1 or self._is_result[reads[0]] or self._readers[reads[0]] != {node}:
            return None
        return self.writer.get(reads[0])

    def are_connected(self, group: Sequence[int]) -> bool:
        """Return whether each node after the first reads an output of an earlier node."""
        written: set[int] = set()
        for node in group:
            if written and written.isdisjoint(self._reads[node]):
                return False
            written.update(self._writes[node])
        return True

    def moved_bytes(self, group: Sequence[int]) -> MovedBytes:
        """Return the bytes that fused nodes move. Tensors between the nodes do not count."""
        nodes = {*group}
        written = {tensor for node in group for tensor in self._writes[node]}
        read = {tensor for node in group for tensor in self._reads[node]} - written
        outputs = {
            one
            for one in written
            if self._is_result[one]
            or not self._readers.get(one, set())
            or self._readers[one] - nodes
        }
        inputs = {tensor for tensor in read if not self._is_constant(tensor)}
        return MovedBytes(*map(self._total, (read | outputs, inputs, outputs)))

    def first_dtype(self, group: Sequence[int]) -> str | None:
        """Return the dtype of the first input of fused nodes; None if it is unknown."""
        reads = self._reads[group[0]]
        return self._dtypes[reads[0]] if reads else None

    def _is_constant(self, tensor: int) -> bool:
        return self._roles[tensor] in CONSTANT_ROLES

    def _total(self, tensors: set[int]) -> float:
        return sum((self._sizes[tensor] for tensor in sorted(tensors)), 0.0)

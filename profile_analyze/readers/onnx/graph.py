"""Classes for an ONNX model with all shapes, which the modules of this reader share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from profile_analyze.model.findings import Finding
    from profile_analyze.readers.model_inputs import Tile
    from profile_analyze.work.tensor import Dims


class Weight(NamedTuple):
    """The values of an initializer, or of a Constant or ConstantOfShape node.

    The values are read only on demand.
    """

    proto: Any
    """The `TensorProto` or `SparseTensorProto`."""


class Value(NamedTuple):
    """A named value: an input of the graph, an initializer, or an output of a node."""

    name: str
    dims: Dims | None
    """See `Tensor.shape`. For sparse tensors, the shape of the dense tensor."""
    dtype: str | None
    """One of `terms.DTYPES`, or the name in ONNX for any other dtype. None if the dtype is unknown,
    or if the value is not a tensor."""
    symbols: tuple[str | None, ...] = ()
    """For each dimension, its symbol or None; empty if no dimension has a symbol."""
    is_constant: bool = False
    """Whether the value does not depend on inputs of the graph."""
    is_initializer: bool = False
    is_graph_input: bool = False
    """Whether the value is an input of the main graph, and has no initializer."""
    is_shape_arithmetic: bool = False
    """Whether a node of shape arithmetic writes the value."""


class Body(NamedTuple):
    """A graph inside a node, such as a branch of If or the body of Loop."""

    attribute: str
    """The attribute of the node that contains the graph, such as `then_branch`."""
    graph: Graph
    trip_count: int | None = None
    """How often one call of the node executes the body; None if that is unknown before a run."""


class Node(NamedTuple):
    """A node of the graph."""

    name: str
    """A unique name: the name in the file, or the type and position of a node without a name."""
    type: str
    domain: str
    """Empty for the operators of ONNX itself."""
    inputs: tuple[str, ...]
    """The names of values; empty for an optional input that is left out."""
    outputs: tuple[str, ...]
    attributes: Mapping[str, Any]
    """Numbers, texts and tuples of these. Tensors and graphs are left out."""
    is_constant: bool = False
    """Whether all inputs of the node, and all values that its bodies capture, are constant."""
    is_shape_arithmetic: bool = False
    """Whether the node is Shape or Size, or computes integers or booleans only from constants and
    results of shape arithmetic. False for constant nodes."""
    bodies: tuple[Body, ...] = ()
    contradiction: str | None = None
    """Why the node cannot run with the shapes of its inputs; None if it can run."""


class Graph(NamedTuple):
    """The main graph, or a body."""

    nodes: tuple[Node, ...]
    """In the order of the file."""
    values: Mapping[str, Value]
    """All values that the nodes read or write, including values of outer graphs."""
    inputs: tuple[str, ...]
    """The inputs without an initializer."""
    outputs: tuple[str, ...]
    initializers: Mapping[str, Weight]
    constants: Mapping[str, Weight] = {}
    """The tensors that Constant nodes write, by the name of their output."""
    fills: Mapping[str, Weight] = {}
    """The value that each ConstantOfShape node repeats, by the name of its output. Nodes with the
    default value 0 are left out."""


class OnnxModel(NamedTuple):
    """A model after shape inference."""

    graph: Graph
    opsets: Mapping[str, int]
    """The version of each domain's operators."""
    producer: str
    """The program that wrote the file, with its version; empty if the file does not say."""
    problems: tuple[Finding, ...] = ()
    """Findings about the inference, for example which inputs have unknown sizes."""
    lacks: Mapping[str, str] = {}
    """See `StaticModel.lacks`."""
    problem_of_values: Finding | None = None
    """A finding for users who ask about the values of weights; None if no values are missing."""
    tile: Tile | None = None
    """The largest matrices that the hardware multiplies; None if the caller gives no sizes."""

"""Reads the layers and connections in an execution graph."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple, NoReturn
from xml.parsers import expat

from profile_analyze.errors import MalformedProfileError
from profile_analyze.model.visible import escaped

if TYPE_CHECKING:
    from collections.abc import Mapping

    from profile_analyze.readers.input.source import Source
    from profile_analyze.work.tensor import Dims

_LAYER: Final = ("net", "layers", "layer")
_DATA: Final = (*_LAYER, "data")
_PORTS: Final = {(*_LAYER, "input", "port"): "inputs", (*_LAYER, "output", "port"): "outputs"}
_DIMS: Final = {(*path, "dim"): side for path, side in _PORTS.items()}
_EDGE: Final = ("net", "edges", "edge")
_INTEGER: Final = re.compile(r"-?[0-9]{1,18}")
_LONGEST_SIZE: Final = 64
"""A text with more characters is not a size. Error messages cut the text to this length."""
_NOT_EXECUTED: Final = "not_executed"
_AT_THE_END: Final = frozenset(
    expat.errors.codes[message]
    for message in (
        expat.errors.XML_ERROR_NO_ELEMENTS,
        expat.errors.XML_ERROR_UNCLOSED_TOKEN,
        expat.errors.XML_ERROR_PARTIAL_CHAR,
        expat.errors.XML_ERROR_UNCLOSED_CDATA_SECTION,
    )
)
"""The errors of expat that occur only at the end of a file."""


class LayerPort(NamedTuple):
    """An input or output of a layer."""

    id: str
    precision: str
    """The name in the file: `FP32`, `U8`."""
    dims: Dims
    """The sizes; None for a size that changes from run to run."""


class Layer(NamedTuple):
    """A layer of the graph."""

    id: str
    name: str
    type: str
    data: Mapping[str, str]
    """The attributes of the XML element `data`, which say how the layer was executed."""
    inputs: tuple[LayerPort, ...]
    outputs: tuple[LayerPort, ...]
    time_us: float | None
    """The mean time in an inference; None if the layer was not executed."""
    order: int | None
    """The position of the layer in the order of execution; None if the file does not say."""


class Edge(NamedTuple):
    """A connection from an output of one layer to an input of another layer. All fields are ids."""

    from_layer: str
    from_port: str
    to_layer: str
    to_port: str


class ExecutionGraph(NamedTuple):
    """The content of a file."""

    layers: tuple[Layer, ...]
    """In the order of execution if it is known, otherwise in the order of the file."""
    edges: tuple[Edge, ...]


class _Unreadable(Exception):  # noqa: N818  # it is caught in this module
    """The file is not an execution graph. The text of the exception says why."""


def read_graph(source: Source) -> ExecutionGraph:
    """Return the graph in `source`. Raises `MalformedProfileError` if `source` has no graph."""
    handler = _Handler()
    # The encoding of the file is UTF-8, whatever its first line says.
    parser = expat.ParserCreate("UTF-8")
    parser.StartElementHandler = handler.start
    parser.EndElementHandler = handler.end
    parser.CharacterDataHandler = handler.text
    parser.StartDoctypeDeclHandler = _refuse_declarations
    lines_before = 0
    is_start = True
    try:
        for chunk in source.chunks():
            # expat refuses white space before `<?xml`.
            content = chunk.lstrip() if is_start else chunk
            lines_before += chunk[: len(chunk) - len(content)].count(b"\n")
            is_start = is_start and not content
            parser.Parse(content)
        parser.Parse(b"", True)  # noqa: FBT003  # it takes no keywords
    except expat.ExpatError as error:
        if handler.has_open_root and error.code in _AT_THE_END:
            reason = "truncated: the file ends before the end of its root element; copy it again"
            raise MalformedProfileError(source.name, reason) from None
        where = f"line {lines_before + error.lineno}, column {error.offset + 1}"
        text = expat.ErrorString(error.code)
        raise MalformedProfileError(source.name, f"is not valid XML: {text} ({where})") from None
    except _Unreadable as error:
        reason = f"{error} (line {lines_before + parser.CurrentLineNumber})"
        raise MalformedProfileError(source.name, reason) from None
    layers = handler.layers
    if all(layer.order is not None for layer in layers):
        layers.sort(key=lambda layer: layer.order or 0)
    return ExecutionGraph(tuple(layers), tuple(handler.edges))


def _refuse_declarations(*_: object) -> NoReturn:
    # XML entities may grow without end, or name files to read. OpenVINO declares none.
    raise _Unreadable("declares a document type, which no execution graph does")


class _Handler:
    """Collects the layers and edges of a file, while it is parsed."""

    def __init__(self) -> None:
        self.layers: list[Layer] = []
        self.edges: list[Edge] = []
        self._ids: set[str] = set()
        self.has_open_root = True
        """Whether the end of the root element is still to come."""
        self._path: tuple[str, ...] = ()
        self._layer: Mapping[str, str] = {}
        self._data: Mapping[str, str] = {}
        self._ports: dict[str, list[LayerPort]] = {}
        self._dims: list[int | None] = []
        self._text = ""
        self._below = 0
        """How many open elements are ignored, because they are nested too deeply."""

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        if self._below or len(self._path) > len(_LAYER) + 2:
            self._below += 1  # the reader ignores elements at this depth and deeper
            return
        self._path = (*self._path, name)
        self._text = ""
        if self._path == _LAYER:
            self._layer, self._data = attributes, {}
            self._ports = {"inputs": [], "outputs": []}
        elif self._path == _DATA:
            self._data = attributes
        elif self._path in _PORTS:
            self._dims = []
            port = LayerPort(attributes.get("id", ""), attributes.get("precision", ""), ())
            self._ports[_PORTS[self._path]].append(port)
        elif self._path == _EDGE:
            names = ("from-layer", "from-port", "to-layer", "to-port")
            self.edges.append(Edge(*(attributes.get(one, "") for one in names)))

    def text(self, text: str) -> None:
        # expat may call this several times for one text, for example for each line.
        if self._path in _DIMS and len(self._text) <= _LONGEST_SIZE:
            self._text = (self._text + text)[: _LONGEST_SIZE + 1]

    def end(self, _: str) -> None:
        if self._below:
            self._below -= 1
            return
        if self._path in _DIMS:
            self._dims.append(self._dimension())
        elif self._path in _PORTS:
            ports = self._ports[_PORTS[self._path]]
            ports[-1] = ports[-1]._replace(dims=tuple(self._dims))
        elif self._path == _LAYER:
            self.layers.append(self._whole_layer())
        self._path = self._path[:-1]
        self.has_open_root = bool(self._path)

    def _dimension(self) -> int | None:
        text = self._text[:_LONGEST_SIZE].strip()
        if len(self._text) > _LONGEST_SIZE or not _INTEGER.fullmatch(text):
            raise _Unreadable(f"{self._who()}: the size '{escaped(text)}' is not a whole number")
        return None if text.startswith("-") else int(text)

    def _whole_layer(self) -> Layer:
        if "id" not in self._layer or "name" not in self._layer:
            raise _Unreadable("has a layer without id or name")
        self._check_ids()
        order = self._data.get("execOrder", "")
        return Layer(
            self._layer["id"],
            self._layer["name"],
            self._layer.get("type", ""),
            self._data,
            tuple(self._ports["inputs"]),
            tuple(self._ports["outputs"]),
            self._time_us(),
            int(order) if _INTEGER.fullmatch(order) else None,
        )

    def _check_ids(self) -> None:
        """Raise `_Unreadable` if ids occur twice, because then edges have unknown ends."""
        id_ = self._layer["id"]
        if id_ in self._ids:
            raise _Unreadable(f"{self._who()} has the id '{escaped(id_)}' of an earlier layer")
        self._ids.add(id_)
        for side, ports in self._ports.items():
            if len({port.id for port in ports}) < len(ports):
                raise _Unreadable(f"{self._who()} has several {side} with the same id")

    def _time_us(self) -> float | None:
        text = self._data.get("execTimeMcs", _NOT_EXECUTED)
        if text == _NOT_EXECUTED:
            return None
        with suppress(ValueError):
            time_us = float(text)
            if 0 <= time_us < float("inf"):
                return time_us
        raise _Unreadable(f"{self._who()}: execTimeMcs '{escaped(text)}' is not a time")

    def _who(self) -> str:
        return f"layer '{escaped(self._layer.get('name', ''))}'"

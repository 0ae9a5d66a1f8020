"""Counts the seconds of each type of layer in a file of OpenVINO, without profile_analyze."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def expected(path: Path) -> dict[str, float]:
    """Return the seconds of each type of layer. Several streams are averaged."""
    data = path.read_bytes()
    text = (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode()
    if text.startswith("<"):
        return _summed(_of_graph(text))
    parts = [*(_of_json(text) if text.startswith("{") else _of_csv(text))]
    found = [_summed(iter(part)) for part in parts]
    types = dict.fromkeys(type_ for one in found for type_ in one)
    return {type_: sum(one.get(type_, 0.0) for one in found) / len(found) for type_ in types}


def _summed(layers: Iterator[tuple[str, float]]) -> dict[str, float]:
    found: dict[str, float] = defaultdict(float)
    for type_, seconds in layers:
        found[type_] += seconds
    return dict(found)


def _of_graph(text: str) -> Iterator[tuple[str, float]]:
    root = ET.fromstring(text)
    layers = {layer.attrib["id"]: layer for layer in root.iter("layer")}
    writers: dict[str, set[str]] = {id_: set() for id_ in layers}
    for edge in root.iter("edge"):
        writers[edge.attrib["to-layer"]].add(edge.attrib["from-layer"])
    once = {id_ for id_, layer in layers.items() if layer.attrib["type"] == "Const"}
    for _ in layers:  # a layer with only constant inputs runs once, at compilation
        once |= {id_ for id_, found in writers.items() if found and found <= once}
    for id_, layer in layers.items():
        data = layer.find("data")
        assert data is not None
        if id_ not in once and data.attrib["execTimeMcs"] != "not_executed":
            yield layer.attrib["type"], int(data.attrib["execTimeMcs"]) / 1e6


def _of_json(text: str) -> Iterator[list[tuple[str, float]]]:
    document = json.loads(text)
    for part in document.get("detailed_performance") or [document["avg_performance"]]:
        yield [
            (node["node_type"], float(node["real_time"]) / 1e3)
            for node in part["nodes"]
            if node["status"].endswith("EXECUTED")
        ]


def _of_csv(text: str) -> Iterator[list[tuple[str, float]]]:
    for block in text.strip().split("layerName;")[1:]:
        rows = [line.split(";") for line in block.splitlines()[1:] if line]
        yield [(row[2], float(row[4]) / 1e3) for row in rows if row[1].endswith("EXECUTED")]

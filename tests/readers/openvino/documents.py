"""Writes tiny files as OpenVINO does."""

from __future__ import annotations

from typing import Any, TypeAlias
from xml.sax.saxutils import quoteattr

Port: TypeAlias = "tuple[str, tuple[int, ...]]"
"""The precision and the sizes of a tensor."""
HEADER = "layerName;execStatus;layerType;execType;realTime (ms);cpuTime (ms)"


def layer(
    id_: int, name: str, type_: str, time: int | str = "not_executed", **more: Any
) -> tuple[int, str]:
    """Return the id and the text of a layer. `ins` and `outs` are its ports."""
    ins: list[Port] = more.pop("ins", [])
    outs: list[Port] = more.pop("outs", [])
    data = {
        "execOrder": id_,
        "execTimeMcs": time,
        "primitiveType": "jit_avx512_f32",
        "runtimePrecision": "f32",
        **more,
    }
    attributes = " ".join(f"{key}={quoteattr(str(value))}" for key, value in data.items())
    ports = [
        f"<{tag}>{''.join(_port(first + index, *one) for index, one in enumerate(sides))}</{tag}>"
        for tag, sides, first in (("input", ins, 0), ("output", outs, len(ins)))
        if sides
    ]
    return id_, (
        f'<layer id="{id_}" name={quoteattr(name)} type="{type_}"><data {attributes}/>'
        f"{''.join(ports)}</layer>"
    )


def _port(index: int, precision: str, sizes: tuple[int, ...]) -> str:
    dims = "".join(f"<dim>{size}</dim>" for size in sizes)
    return f'<port id="{index}" precision="{precision}">{dims}</port>'


def graph(*layers: tuple[int, str], edges: str = "") -> bytes:
    """Return a file. An edge such as `0:0-1:0` has the layer and the port of both ends."""
    lines = []
    for edge in edges.split():
        ends = [end.split(":") for end in edge.split("-")]
        lines.append(
            '<edge from-layer="{}" from-port="{}" to-layer="{}" to-port="{}"/>'.format(
                *ends[0], *ends[1]
            )
        )
    body = "\n".join(text for _, text in layers)
    return (
        f'<?xml version="1.0"?>\n<net name="n" version="11">\n<layers>\n{body}\n</layers>\n'
        f"<edges>{''.join(lines)}</edges>\n</net>\n"
    ).encode()


def row(name: str, type_: str, real: float, cpu: float | None = None, **more: str) -> str:
    """Return the line of a layer in a report of counters."""
    status, primitive = more.get("status", "EXECUTED"), more.get("primitive", "jit_avx512_f32")
    times = f"{real:.3f};{real if cpu is None else cpu:.3f}"
    return f"{name};{more.get('dialect', 'Status.')}{status};{type_};{primitive};{times}"


def report(*rows: str, total: float | None = None) -> bytes:
    """Return a report with these rows; the total is their sum unless it is given."""
    fields = [one.rsplit(";", 2) for one in rows]
    real, cpu = (
        sum(float(one[index]) for one in fields) if total is None else total for index in (1, 2)
    )
    return "\n".join((HEADER, *rows, f"Total;;;;{real:.3f};{cpu:.3f}\n\n")).encode()

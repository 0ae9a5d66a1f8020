"""The same answers, worked out slowly and plainly: Python loops over a decoded JSON document.

It shares no code with the package. Tests compare the two on real and on generated profiles.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from profile_analyze import Query

Number = float | None


@dataclass
class Operator:
    """One operator, as a person would read it out of the file; None is N/A."""

    id: int
    name: str
    type: str
    recorded: dict[str, bool]
    time: dict[str, Number]
    wait: dict[str, Number]
    computation: Number
    memory: Number
    in_shapes: Any
    out_shapes: Any
    in_layouts: Any
    dtypes: list[str | None]


def read(document: dict[str, Any]) -> list[Operator]:
    """The operators of a decoded profile, in its order."""
    profiler, graph = document["profiler"], document["graph_exec"]
    operators = []
    for id_, entry in graph["operator"].items():
        footprint = profiler.get("opr_footprint", {}).get(id_, {})
        lanes = {side: profiler.get(side, {}).get(id_) for side in ("device", "host")}
        operators.append(
            Operator(
                id=int(id_),
                name=entry["name"],
                type=entry["type"],
                recorded={side: bool(lanes[side]) for side in lanes},
                time={side: _time(lanes[side] or {}) for side in lanes},
                wait={side: _wait(lanes[side] or {}) for side in lanes},
                computation=footprint.get("computation") or None,
                memory=footprint.get("memory"),
                in_shapes=_tuples(footprint.get("in_shapes")),
                out_shapes=_tuples(footprint.get("out_shapes")),
                in_layouts=_tuples(footprint.get("in_layouts")),
                dtypes=[_dtype(graph.get("var", {}).get(var)) for var in entry.get("input", [])],
            )
        )
    return operators


def read_file(path: str) -> list[Operator]:
    """The operators in a file, in which strings may hold raw control characters."""
    return read(json.loads(Path(path).read_text(encoding="utf-8"), strict=False))


def _number(value: Any) -> Number:
    return float(value) if isinstance(value, (int, float)) else None


def _time(lanes: dict[str, Any]) -> Number:
    times = []
    for lane in lanes.values():
        start, end = _number(lane.get("start")), _number(lane.get("end"))
        if start is None or end is None or end < start:
            return None
        times.append(end - start)
    return max(times) if times else None


def _wait(lanes: dict[str, Any]) -> Number:
    times = []
    for lane in lanes.values():
        start, kern = _number(lane.get("start")), _number(lane.get("kern"))
        if start is not None and kern is not None and kern != -1 and kern >= start:
            times.append(kern - start)
    return max(times) if times else None


def _dtype(variable: dict[str, Any] | None) -> str | None:
    plan = (variable or {}).get("mem_plan")
    return plan["layout"]["dtype"] if plan else None


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def answer(operators: list[Operator], query: Query) -> list[dict[str, Any]]:
    """The rows that answer `query`."""
    chosen = [operator for operator in operators if _passes(operator, query)]
    times = [time for operator in operators if (time := _asked(operator, query)) is not None]
    total = sum(times) if times else None
    rows = _groups(chosen, query) if query.aggregate else [_row(one, query) for one in chosen]
    for row in rows:
        row["share"] = _divided(row["time"], total)
    for text in reversed(query.order):
        column = text.lstrip("+").replace("opr_id", "id")
        rows = _sorted(rows, column, ascending=text.startswith("+"))
    rows = rows[: query.top] if query.top else rows
    running = 0.0
    for row in rows:
        running += row["time"] or 0.0
        row["cumulative_time"] = running
        row["cumulative_share"] = _divided(running, total)
    return rows


def _asked(operator: Operator, query: Query) -> Number:
    return (operator.time if query.end_key == "end" else operator.wait)[query.side]


def _passes(operator: Operator, query: Query) -> bool:
    time = _asked(operator, query)
    lowest, highest = query.min_time_s, query.max_time_s
    return (
        operator.recorded[query.side]
        and (not query.types or operator.type in query.types)
        and (not query.name or re.match(query.name, operator.name) is not None)
        and (not query.input_dtype or query.input_dtype in operator.dtypes)
        and (lowest is None or (time is not None and time >= lowest - 0.5e-9))
        and (highest is None or (time is not None and time <= highest + 0.5e-9))
    )


def _row(operator: Operator, query: Query) -> dict[str, Any]:
    time = _asked(operator, query)
    run_time = time if query.end_key == "end" else None
    return {
        "id": operator.id,
        "name": operator.name,
        "type": operator.type,
        "time": time,
        "computation": operator.computation,
        "flops": _divided(operator.computation, run_time),
        "memory": operator.memory,
        "bandwidth": _divided(operator.memory, run_time),
        "in_shapes": operator.in_shapes,
        "in_layouts": operator.in_layouts,
        "out_shapes": operator.out_shapes,
    }


def _groups(chosen: list[Operator], query: Query) -> list[dict[str, Any]]:
    members: dict[Any, list[dict[str, Any]]] = {}
    for operator in chosen:
        row = _row(operator, query)
        members.setdefault(tuple(row[key] for key in query.by), []).append(row)
    assert query.aggregate is not None
    return [
        {
            "type": key[0] if query.by else None,
            "count": len(rows),
            "time": _aggregated(query.aggregate, [row["time"] for row in rows]),
            "computation": _aggregated(query.aggregate, [row["computation"] for row in rows]),
            "memory": _aggregated(query.aggregate, [row["memory"] for row in rows]),
            "flops": _group_rate(query.aggregate, rows, "computation", "flops"),
            "bandwidth": _group_rate(query.aggregate, rows, "memory", "bandwidth"),
        }
        for key, rows in members.items()
    ]


def _group_rate(aggregate: str, rows: list[dict[str, Any]], work: str, rate: str) -> Number:
    if aggregate in ("max", "min"):
        return _aggregated(aggregate, [row[rate] for row in rows])
    if all(row[rate] is None for row in rows):
        return None
    both = [row for row in rows if row[work] is not None and row["time"] is not None]
    return _divided(sum(row[work] for row in both), sum(row["time"] for row in both))


def _aggregated(aggregate: str, values: Iterable[Number]) -> Number:
    known = [value for value in values if value is not None]
    if not known:
        return None
    if aggregate == "mean":
        return math.fsum(known) / len(known)
    if aggregate == "sum":
        return math.fsum(known)
    return max(known) if aggregate == "max" else min(known)


def _divided(numerator: Number, denominator: Number) -> Number:
    if numerator is None or not denominator:
        return None
    return numerator / denominator


def _sorted(rows: list[dict[str, Any]], column: str, *, ascending: bool) -> list[dict[str, Any]]:
    known = [row for row in rows if row[column] is not None]
    unknown = [row for row in rows if row[column] is None]
    values = sorted({row[column] for row in known}, reverse=not ascending)
    return [row for value in values for row in known if row[column] == value] + unknown

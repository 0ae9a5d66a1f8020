"""Reads decoded JSON documents in plain loops, for the oracle: operators, runs, splitting."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from profile_analyze import Query
    from tests.oracle_arithmetic import Number

SIDES = ("device", "host")


@dataclass
class Operator:
    """One operator, as a person would read it in the file; None is N/A."""

    id: int
    name: str
    type: str
    recorded: dict[str, bool]
    time: dict[str, list[Number]]
    wait: dict[str, list[Number]]
    started: float
    computation: Number
    memory: Number
    in_shapes: Any
    out_shapes: Any
    in_layouts: Any
    dtypes: list[str | None]
    tracks: list[str]
    host_tracks: list[str]
    track_order: dict[str, list[str]]
    """All tracks of the profile on each side."""
    on_tracks: dict[str, list[dict[str, dict[str, Any]]]]
    """The entries of the file by side, run and track."""
    ran: list[bool]
    """Whether each run has an entry on either side."""
    parameters: Any
    split: dict[str, str | None] = field(default_factory=dict)
    """The values of the keys that the operator was split by."""


def read(document: dict[str, Any]) -> list[Operator]:
    """Return the operators of a decoded profile, in file order."""
    profiler, graph = document["profiler"], document["graph_exec"]
    order = {
        side: list(
            dict.fromkeys(
                track
                for id_, of_id in profiler.get(side, {}).items()
                if id_ in graph["operator"]
                for track in of_id
            )
        )
        for side in SIDES
    }
    return [_operator(id_, document, order) for id_ in graph["operator"]]


def _operator(id_: str, document: dict[str, Any], track_order: dict[str, list[str]]) -> Operator:
    profiler, graph = document["profiler"], document["graph_exec"]
    entry = graph["operator"][id_]
    footprint = profiler.get("opr_footprint", {}).get(id_, {})
    tracks = {side: profiler.get(side, {}).get(id_) or {} for side in SIDES}
    return Operator(
        id=int(id_),
        name=entry["name"],
        type=entry["type"],
        recorded={side: bool(tracks[side]) for side in SIDES},
        time={side: [_time(tracks[side])] for side in SIDES},
        wait={side: [_wait(tracks[side])] for side in SIDES},
        started=_started(tracks["device"]),
        computation=footprint.get("computation") or None,
        memory=_moved(entry["type"], footprint.get("memory")),
        in_shapes=_tuples(footprint.get("in_shapes")),
        out_shapes=_tuples(footprint.get("out_shapes")),
        in_layouts=_tuples(footprint.get("in_layouts", [] if "in_shapes" in footprint else None)),
        dtypes=[_dtype(graph.get("var", {}).get(var)) for var in entry.get("input", [])],
        tracks=list(tracks["device"]),
        host_tracks=list(tracks["host"]),
        track_order=track_order,
        on_tracks={side: [tracks[side]] for side in SIDES},
        ran=[any(tracks.values())],
        parameters=_parameters(footprint.get("param")),
    )


def _moved(type_: str, memory: float | None) -> float | None:
    """Return the bytes that an operator moves: 0 for a constant, whatever the file has."""
    return 0.0 if is_constant(type_) else memory


def is_constant(type_: str) -> bool:
    return type_ in ("ImmutableTensor", "SharedDeviceTensor", "MultipleDeviceTensorHolder")


def read_file(path: str) -> list[Operator]:
    """Return the operators in a file, whose strings may have raw control characters."""
    return read(json.loads(Path(path).read_text(encoding="utf-8"), strict=False))


def join_runs(runs: list[list[Operator]]) -> list[Operator]:
    """Return the operators of several runs of one graph, with their times in all runs."""
    joined: dict[Any, Operator] = {}
    order = {
        side: list(
            dict.fromkeys(
                track for run in runs for one in run[:1] for track in one.track_order[side]
            )
        )
        for side in SIDES
    }
    for index, operators in enumerate(runs):
        keys = _identities(operators)
        for one, key in zip(operators, keys, strict=True):
            if key not in joined:
                joined[key] = replace(
                    one,
                    recorded=dict.fromkeys(SIDES, False),
                    time={side: [None] * len(runs) for side in SIDES},
                    wait={side: [None] * len(runs) for side in SIDES},
                    tracks=[],
                    host_tracks=[],
                    track_order=order,
                    on_tracks={side: [{} for _ in runs] for side in SIDES},
                    ran=[False] * len(runs),
                )
            known = joined[key]
            known.computation = known.computation if known.computation else one.computation
            known.memory = one.memory if known.memory is None else known.memory
            known.tracks = list(dict.fromkeys([*known.tracks, *one.tracks]))
            known.host_tracks = list(dict.fromkeys([*known.host_tracks, *one.host_tracks]))
            known.ran[index] = one.ran[0]
            for side in SIDES:
                known.recorded[side] |= one.recorded[side]
                known.time[side][index] = one.time[side][0]
                known.wait[side][index] = one.wait[side][0]
                known.on_tracks[side][index] = one.on_tracks[side][0]
    return list(joined.values())


def _identities(operators: list[Operator]) -> list[Any]:
    """Return name, type and shapes of each operator, and its number among equal operators."""
    seen: dict[Any, int] = {}
    found = {}
    for one in sorted(operators, key=lambda one: (one.started, one.id)):
        key = (one.name, one.type, one.in_shapes, one.out_shapes)
        seen[key] = seen.get(key, 0) + 1
        found[one.id] = (*key, seen[key])
    return [found[one.id] for one in operators]


def _started(tracks: dict[str, Any]) -> float:
    starts = [_number(track.get("start")) for track in tracks.values()]
    return min((start for start in starts if start is not None), default=math.inf)


def split(operators: list[Operator], query: Query) -> list[Operator]:
    """Return a row for each device or track of each operator, if the question splits by these."""
    if not query.split_by:
        return operators
    return [row for one in operators for row in _split(one, query.split_by)]


def _split(operator: Operator, keys: tuple[str, ...]) -> Iterator[Operator]:
    """Yield a row for each combination of values of `keys`.

    If an operator ran on exactly one device, its host entries count for this device.
    """
    device = operator.tracks[0] if len(operator.tracks) == 1 else None
    cells: dict[tuple[str | None, ...], dict[str, list[dict[str, Any]]]] = {}
    for side, runs in operator.on_tracks.items():
        for index, entries in enumerate(runs):
            for track in entries:
                values = {"track": track, "device": track if side == "device" else device}
                cell = tuple(values[key] for key in keys)
                here = cells.setdefault(cell, {one: [{} for _ in runs] for one in SIDES})
                here[side][index][track] = entries[track]
    order = [*operator.track_order["device"], *operator.track_order["host"], None]
    for cell in sorted(cells, key=lambda cell: list(map(order.index, cell))):
        on_tracks = cells[cell]
        device_tracks, host_tracks = (
            [track for track in tracks if any(track in entries for entries in on_tracks[side])]
            for side, tracks in (("device", operator.tracks), ("host", operator.host_tracks))
        )
        yield replace(
            operator,
            split=dict(zip(keys, cell, strict=True)),
            tracks=device_tracks,
            host_tracks=host_tracks,
            recorded={side: any(on_tracks[side]) for side in SIDES},
            time={side: list(map(_time, on_tracks[side])) for side in SIDES},
            wait={side: list(map(_wait, on_tracks[side])) for side in SIDES},
            ran=[any(entries) for entries in zip(*on_tracks.values(), strict=True)],
            on_tracks=on_tracks,
        )


def _number(value: Any) -> Number:
    return float(value) if isinstance(value, (int, float)) else None


def _time(tracks: dict[str, Any]) -> Number:
    times = []
    for track in tracks.values():
        start, end = _number(track.get("start")), _number(track.get("end"))
        if start is None or end is None or end < start:
            return None
        times.append(end - start)
    return max(times) if times else None


def _wait(tracks: dict[str, Any]) -> Number:
    times = []
    for track in tracks.values():
        start, kern, end = (_number(track.get(key)) for key in ("start", "kern", "end"))
        if start is None or kern is None or kern == -1 or kern < start:
            continue
        if end is None or end < start or kern <= end:
            times.append(kern - start)
    return max(times) if times else None


def _dtype(variable: dict[str, Any] | None) -> str | None:
    plan = (variable or {}).get("mem_plan")
    return plan["layout"]["dtype"] if plan else None


def _parameters(value: Any) -> Any:
    if value is None:
        return None
    if isinstance(value, list):
        value = {str(index): one for index, one in enumerate(value)}
    return {name: _scalar(value[name]) for name in sorted(value) if value[name] is not None}


def _scalar(value: Any) -> Any:
    simple = isinstance(value, (int, float, str)) and not isinstance(value, bool)
    return value if simple else json.dumps(value, separators=(",", ":"))


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value

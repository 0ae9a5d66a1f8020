"""The same answers, worked out slowly and plainly: Python loops over a decoded JSON document.

It shares no code with the package. Tests compare the two on real and on generated profiles.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from profile_analyze import Query

Number = float | None
SIDES = ("device", "host")
IN_EACH_RUN = "in each run"


@dataclass
class Operator:
    """One operator, as a person would read it out of the file; None is N/A."""

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
    lanes: list[str]
    host_lanes: list[str]
    lane_order: dict[str, list[str]]
    """All lanes of the profile on each side."""
    on_lanes: dict[str, list[dict[str, dict[str, Any]]]]
    """What the file says of each lane of each side, in each run."""
    ran: list[bool]
    """Whether there is an entry on either side, in each run."""
    parameters: Any
    split: dict[str, str | None] = field(default_factory=dict)
    """The keys by which it was split."""


def read(document: dict[str, Any]) -> list[Operator]:
    """The operators of a decoded profile, in its order."""
    profiler, graph = document["profiler"], document["graph_exec"]
    operators = []
    order = {
        side: [
            lane
            for id_, of_id in profiler.get(side, {}).items()
            if id_ in graph["operator"]
            for lane in of_id
        ]
        for side in SIDES
    }
    for id_, entry in graph["operator"].items():
        footprint = profiler.get("opr_footprint", {}).get(id_, {})
        lanes = {side: profiler.get(side, {}).get(id_) for side in ("device", "host")}
        operators.append(
            Operator(
                id=int(id_),
                name=entry["name"],
                type=entry["type"],
                recorded={side: bool(lanes[side]) for side in lanes},
                time={side: [_time(lanes[side] or {})] for side in lanes},
                wait={side: [_wait(lanes[side] or {})] for side in lanes},
                started=_started(lanes["device"] or {}),
                computation=footprint.get("computation") or None,
                memory=footprint.get("memory"),
                in_shapes=_tuples(footprint.get("in_shapes")),
                out_shapes=_tuples(footprint.get("out_shapes")),
                in_layouts=_tuples(
                    footprint.get("in_layouts", [] if "in_shapes" in footprint else None)
                ),
                dtypes=[_dtype(graph.get("var", {}).get(var)) for var in entry.get("input", [])],
                lanes=list(lanes["device"] or {}),
                host_lanes=list(lanes["host"] or {}),
                lane_order={side: list(dict.fromkeys(order[side])) for side in SIDES},
                on_lanes={side: [lanes[side] or {}] for side in SIDES},
                ran=[bool(lanes["device"] or lanes["host"])],
                parameters=_parameters(footprint.get("param")),
            )
        )
    return operators


def read_file(path: str) -> list[Operator]:
    """The operators in a file, in which strings may hold raw control characters."""
    return read(json.loads(Path(path).read_text(encoding="utf-8"), strict=False))


def join_runs(runs: list[list[Operator]]) -> list[Operator]:
    """The operators of several runs of one graph, each with its times in all of them."""
    joined: dict[Any, Operator] = {}
    order = {
        side: list(
            dict.fromkeys(lane for run in runs for one in run[:1] for lane in one.lane_order[side])
        )
        for side in SIDES
    }
    for place, operators in enumerate(runs):
        keys = _identities(operators)
        for one, key in zip(operators, keys, strict=True):
            if key not in joined:
                joined[key] = replace(
                    one,
                    recorded=dict.fromkeys(SIDES, False),
                    time={side: [None] * len(runs) for side in SIDES},
                    wait={side: [None] * len(runs) for side in SIDES},
                    lanes=[],
                    host_lanes=[],
                    lane_order=order,
                    on_lanes={side: [{} for _ in runs] for side in SIDES},
                    ran=[False] * len(runs),
                )
            known = joined[key]
            known.computation = known.computation if known.computation else one.computation
            known.memory = one.memory if known.memory is None else known.memory
            known.lanes = list(dict.fromkeys([*known.lanes, *one.lanes]))
            known.host_lanes = list(dict.fromkeys([*known.host_lanes, *one.host_lanes]))
            known.ran[place] = one.ran[0]
            for side in SIDES:
                known.recorded[side] |= one.recorded[side]
                known.time[side][place] = one.time[side][0]
                known.wait[side][place] = one.wait[side][0]
                known.on_lanes[side][place] = one.on_lanes[side][0]
    return list(joined.values())


def _identities(operators: list[Operator]) -> list[Any]:
    """Name, type, shapes, and which of those that have the same it is in order of execution."""
    seen: dict[Any, int] = {}
    found = {}
    for one in sorted(operators, key=lambda one: (one.started, one.id)):
        key = (one.name, one.type, one.in_shapes, one.out_shapes)
        seen[key] = seen.get(key, 0) + 1
        found[one.id] = (*key, seen[key])
    return [found[one.id] for one in operators]


def _started(lanes: dict[str, Any]) -> float:
    starts = [_number(lane.get("start")) for lane in lanes.values()]
    return min((start for start in starts if start is not None), default=math.inf)


def split(operators: list[Operator], query: Query) -> list[Operator]:
    """A row for each device or track of an operator, where the question is split by it."""
    if not query.split_by:
        return operators
    return [row for one in operators for row in _split(one, query.split_by)]


def _split(operator: Operator, keys: tuple[str, ...]) -> Iterator[Operator]:
    """What the host did belongs to the device, if there is one."""
    device = operator.lanes[0] if len(operator.lanes) == 1 else None
    cells: dict[tuple[str | None, ...], dict[str, list[dict[str, Any]]]] = {}
    for side, runs in operator.on_lanes.items():
        for place, entries in enumerate(runs):
            for lane in entries:
                values = {"track": lane, "device": lane if side == "device" else device}
                cell = tuple(values[key] for key in keys)
                here = cells.setdefault(cell, {one: [{} for _ in runs] for one in SIDES})
                here[side][place][lane] = entries[lane]
    tracks = [*operator.lane_order["device"], *operator.lane_order["host"], None]
    for cell in sorted(cells, key=lambda cell: list(map(tracks.index, cell))):
        on_lanes = cells[cell]
        device_lanes, host_lanes = (
            [lane for lane in lanes if any(lane in entries for entries in on_lanes[side])]
            for side, lanes in (("device", operator.lanes), ("host", operator.host_lanes))
        )
        yield replace(
            operator,
            split=dict(zip(keys, cell, strict=True)),
            lanes=device_lanes,
            host_lanes=host_lanes,
            recorded={side: any(on_lanes[side]) for side in SIDES},
            time={side: list(map(_time, on_lanes[side])) for side in SIDES},
            wait={side: list(map(_wait, on_lanes[side])) for side in SIDES},
            ran=[any(entries) for entries in zip(*on_lanes.values(), strict=True)],
            on_lanes=on_lanes,
        )


def _over_runs(values: list[Number], statistic: str) -> Number:
    known = [value for value in values if value is not None]
    if statistic == "mean":
        return _added_up(known) / len(known) if known else None
    return _aggregated(statistic, values)


def _spread(values: list[Number]) -> Number:
    if sum(value is not None for value in values) < 2:
        return None
    high, low = _aggregated("p75", values), _aggregated("p25", values)
    assert high is not None
    assert low is not None
    return _divided((high - low) / 2, _aggregated("median", values))


def _varying(values: list[Number]) -> dict[str, Any]:
    """What the columns on runs say of the times in each."""
    return {
        "runs": sum(value is not None for value in values),
        "spread": _spread(values),
        "time_min": _aggregated("min", values),
        "time_max": _aggregated("max", values),
    }


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
        start, kern, end = (_number(lane.get(key)) for key in ("start", "kern", "end"))
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
        value = {str(place): one for place, one in enumerate(value)}
    return {name: _scalar(value[name]) for name in sorted(value) if value[name] is not None}


def _scalar(value: Any) -> Any:
    simple = isinstance(value, (int, float, str)) and not isinstance(value, bool)
    return value if simple else json.dumps(value, separators=(",", ":"))


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def answer(operators: list[Operator], query: Query) -> list[dict[str, Any]]:
    """The rows that answer `query`, with every column that they have."""
    runs = len(operators[0].time["device"]) if operators else 1
    has_host = any(one.recorded["host"] for one in operators)
    operators = split(operators, query)
    totals = [
        _aggregated("sum", [_asked(one, query)[run] for one in operators]) for run in range(runs)
    ]
    chosen = [
        row
        for one in operators
        if (row := _row(one, query, totals, has_host=has_host)) and _passes(one, query)
    ]
    chosen = [row for row in chosen if all(_holds(text, row) for text in query.where)]
    rows = chosen
    if query.aggregates:
        rows = [_group(members, query, totals) for members in _grouped(chosen, query)]
        rows = [row for row in rows if all(_holds(text, row) for text in query.having)]
    for text in reversed(query.order):
        column = text.lstrip("+")
        rows = _sorted(rows, column, ascending=text.startswith("+"))
    rows = rows[: query.top] if query.top else rows
    running: list[Number] = [None] * runs
    for row in rows:
        times = row[IN_EACH_RUN]["time"]
        running = [
            sum_ if time is None else (sum_ or 0.0) + time
            for sum_, time in zip(running, times, strict=True)
        ]
        shares = list(map(_divided, running, totals))
        row["cumulative_time"] = _over_runs(running, query.run_statistic)
        row["cumulative_share"] = _over_runs(shares, query.run_statistic)
    return [{name: row[name] for name in row if name != IN_EACH_RUN} for row in rows]


def _asked(operator: Operator, query: Query) -> list[Number]:
    side = side_of(query)
    return (operator.wait if query.measure.endswith("wait") else operator.time)[side]


def side_of(query: Query) -> str:
    return "host" if query.measure.startswith("host") else "device"


def _passes(operator: Operator, query: Query) -> bool:
    time = _over_runs(_asked(operator, query), query.run_statistic)
    lowest, highest = query.min_time_s, query.max_time_s
    return (
        operator.recorded[side_of(query)]
        and (not query.types or operator.type in query.types)
        and (not query.name or re.match(query.name, operator.name) is not None)
        and (not query.input_dtype or query.input_dtype in operator.dtypes)
        and (lowest is None or (time is not None and time >= lowest - 0.5e-9))
        and (highest is None or (time is not None and time <= highest + 0.5e-9))
    )


def _row(
    operator: Operator, query: Query, totals: list[Number], *, has_host: bool
) -> dict[str, Any]:
    ran = operator.ran if any(operator.ran) else [True] * len(operator.ran)
    work = {
        name: [value if here else None for here in ran]
        for name, value in (("computation", operator.computation), ("memory", operator.memory))
    }
    in_each_run: dict[str, list[Number]] = {
        **work,
        "self": operator.time["host" if has_host else "device"],
        "queue": [None] * len(ran),
        "calls": [1.0 if here else None for here in operator.ran],
        "time": _asked(operator, query),
        "device_time": operator.time["device"],
        "host_time": operator.time["host"],
        "wait": operator.wait["device"],
    }
    collapsed = {
        name: _over_runs(values, query.run_statistic) for name, values in in_each_run.items()
    }
    time = collapsed["time"]
    run_time = None if query.measure.endswith("wait") else time
    known = list(dict.fromkeys(dtype for dtype in operator.dtypes if dtype))
    parameters = operator.parameters
    row = {
        "id": operator.id,
        "name": operator.name,
        "type": operator.type,
        "category": _category(operator.type),
        "scope": None,
        "time": time,
        "share": _share(in_each_run["time"], totals, query),
        **collapsed,
        **_varying(in_each_run["time"]),
        IN_EACH_RUN: in_each_run,
        "computation_source": "unknown" if operator.computation is None else "measured",
        "memory_source": "unknown" if operator.memory is None else "measured",
        "flops": _divided(operator.computation, run_time),
        "bandwidth": _divided(operator.memory, run_time),
        "intensity": _divided(operator.computation, operator.memory),
        "in_shapes": operator.in_shapes,
        "in_strides": operator.in_layouts,
        "out_shapes": operator.out_shapes,
        "input_dtype": ", ".join(known + ["N/A"] * (None in operator.dtypes)) if known else None,
        "device": ", ".join(operator.lanes) or None,
        "track": ", ".join(operator.lanes if side_of(query) == "device" else operator.host_lanes)
        or None,
        "stream": None,
        "rank": None,
        "parameters": None if parameters is None else tuple(parameters.items()),
    } | operator.split
    if query.peaks is not None:
        row |= _roofline(operator, query, row, _over_runs(totals, query.run_statistic))
    return row | {key: _made(key, row) for key in query.by if key not in row}


def _roofline(
    operator: Operator, query: Query, row: dict[str, Any], total: Number
) -> dict[str, Any]:
    """For peaks of any dtype."""
    assert query.peaks is not None
    ((_, rate),) = query.peaks.flops
    category = row["category"]
    is_known = operator.computation is not None
    mover = category == "copy" or (category == "data movement" and is_known)
    time, on_cpu = row["time"], any("cpu" in lane for lane in operator.lanes)
    judged = query.measure == "time" and bool(time) and not (on_cpu and time < 0.999999e-6)
    has_both = operator.computation and operator.memory is not None
    compute = operator.computation / rate if judged and has_both and not mover else None  # type: ignore[operator]
    has_roof = judged and (mover or compute is not None)
    memory = None
    if has_roof and operator.memory is not None:
        memory = operator.memory / query.peaks.bandwidth
    least = memory if mover or compute is None or memory is None else max(compute, memory)
    if not mover and compute is None:
        least = None
    reachable = None if row["intensity"] is None else row["intensity"] * query.peaks.bandwidth
    if mover or (reachable is None and operator.memory != 0):
        attainable = reachable
    else:
        attainable = rate if reachable is None else min(rate, reachable)
    in_each_run = [
        None if least is None or one is None else one - least for one in row[IN_EACH_RUN]["time"]
    ]
    lost = _over_runs(in_each_run, query.run_statistic)
    row[IN_EACH_RUN]["lost"] = in_each_run
    return {
        "bound": _bound(compute, memory, least),
        "attainable": None if least is None else attainable,
        "compute_time": compute,
        "memory_time": memory,
        "least_time": least,
        "efficiency": _divided(least, time),
        "lost": lost,
        "gain": _gain(total, lost),
    }


def _category(type_: str) -> str:
    """Those of the types that tests have."""
    return next((category for begin, category in _CATEGORIES if type_.startswith(begin)), "other")


_CATEGORIES = (
    ("Conv", "convolution"),
    ("MatrixMul", "matmul"),
    ("Softmax", "softmax"),
    ("Pooling", "pooling"),
    ("AdaptivePooling", "pooling"),
    ("Elemwise", "elementwise"),
    ("TypeCvt", "elementwise"),
    ("Reduce", "reduction"),
    ("Argmax", "reduction"),
    ("Cumsum", "reduction"),
    ("TopK", "reduction"),
    ("Indexing", "embedding"),
    ("Concat", "data movement"),
    ("Dimshuffle", "data movement"),
    ("Reshape", "data movement"),
    ("AxisAddRemove", "data movement"),
    ("Broadcast", "data movement"),
    ("Subtensor", "data movement"),
    ("Host2DeviceCopy", "data movement"),
    ("ResizeForward", "data movement"),
    ("Copy", "copy"),
    ("ImmutableTensor", "control"),
    ("GetVarShape", "control"),
    ("InputCallback", "control"),
    ("OutputCallback", "control"),
)


def _bound(compute: Number, memory: Number, least: Number) -> str | None:
    if least is None:
        return None
    is_compute = compute is not None and memory is not None and compute >= memory
    return "compute" if is_compute else "memory"


def _share(times: list[Number], totals: list[Number], query: Query) -> Number:
    return _over_runs(list(map(_divided, times, totals)), query.run_statistic)


def _gain(total: Number, lost: Number) -> Number:
    if lost is None or total is None or total - lost <= 0:
        return None
    return total / (total - lost)


def _made(key: str, row: dict[str, Any]) -> Any:
    if key.startswith("param."):
        return dict(row["parameters"] or ()).get(key.removeprefix("param."))
    column, pattern = key.split("~", 1)
    found = re.search(pattern, row[column] or "")
    if found is None or row[column] is None:
        return None
    return found[1] if found.re.groups else found[0]


def _holds(condition: str, row: dict[str, Any]) -> bool:
    column, operator, value = re.fullmatch(r"([\w.]+) (\S+) (.*)", condition).groups()  # type: ignore[union-attr]
    found = row[column] if column in row else _made(column, row)
    if found is None:
        return False
    if operator in ("~", "!~"):
        return (re.search(value, found) is not None) == (operator == "~")
    if isinstance(found, str):
        return operator in ("==", "!=") and (found == value) == (operator == "==")
    if isinstance(found, tuple):
        text = ", ".join("{" + ",".join(map(str, shape)) + "}" for shape in found)
        return (text.replace(" ", "") == value.replace(" ", "")) == (operator == "==")
    if value.isalpha():  # a parameter that is a number here, and a text elsewhere
        return operator == "!="
    measured = (
        *("time", "time_min", "time_max", "device_time", "host_time", "wait", "queue", "self"),
    )
    bound, near = _quantity(value), 0.5e-9 if column.split(".")[0] in measured else 0
    answers = {
        "==": abs(found - bound) <= near,
        "!=": abs(found - bound) > near,
        "<": found < bound - near,
        "<=": found <= bound + near,
        ">": found > bound + near,
        ">=": found >= bound - near,
    }
    return bool(answers[operator])


def _quantity(text: str) -> float:
    number, unit = re.fullmatch(r"([\d.e-]+)(.*)", text).groups()  # type: ignore[union-attr]
    factors = {"": "1", "%": "1e-2", "us": "1e-6", "ms": "1e-3", "KiB": "1024", "KFLO": "1000"}
    return float(Fraction(number) * Fraction(factors[unit]))


def _grouped(chosen: list[dict[str, Any]], query: Query) -> list[list[dict[str, Any]]]:
    members: dict[Any, list[dict[str, Any]]] = {}
    for row in chosen:
        members.setdefault(tuple(row[key] for key in query.by), []).append(row)
    return list(members.values())


def _group(rows: list[dict[str, Any]], query: Query, totals: list[Number]) -> dict[str, Any]:
    aggregate = query.aggregate
    group: dict[str, Any] = {key: rows[0][key] for key in query.by}
    group["count"] = len(rows)
    for column in (
        *("time", "device_time", "host_time", "wait", "queue", "self", "calls"),
        *("computation", "memory"),
    ):
        group[column] = _timed(aggregate, rows, column, query)
    group |= _varying(_in_each_run(aggregate, rows, "time"))
    for other in query.aggregates:
        if other != aggregate:
            group[f"time.{other}"] = _timed(other, rows, "time", query)
    group[IN_EACH_RUN] = {"time": _in_each_run(aggregate, rows, "time")}
    group["share"] = _share(group[IN_EACH_RUN]["time"], totals, query)
    group["flops"] = _group_ratio(query, rows, "computation", "time", "flops")
    group["bandwidth"] = _group_ratio(query, rows, "memory", "time", "bandwidth")
    if query.peaks is not None:
        for column in ("compute_time", "memory_time", "least_time"):
            group[column] = _aggregated(aggregate, [row[column] for row in rows])
        group["lost"] = _timed(aggregate, rows, "lost", query)
        sums = {
            column: _aggregated("sum", [row[column] for row in rows])
            for column in ("compute_time", "memory_time", "least_time")
        }
        group.setdefault(
            "bound", _bound(sums["compute_time"], sums["memory_time"], sums["least_time"])
        )
        total = _over_runs(totals, query.run_statistic)
        group["gain"] = _gain(total, _timed("sum", rows, "lost", query))
        ratios = (("attainable", "computation", "least_time"), ("efficiency", "least_time", "time"))
        for own, above, below in ratios:
            group[own] = _group_ratio(query, rows, above, below, own)
    group["intensity"] = _group_ratio(query, rows, "computation", "memory", "intensity")
    return group


def _in_each_run(aggregate: str, rows: list[dict[str, Any]], column: str) -> list[Number]:
    """A group's value in each run."""
    by_run = zip(*(row[IN_EACH_RUN][column] for row in rows), strict=True)
    return [_aggregated(aggregate, list(values)) for values in by_run]


def _timed(aggregate: str, rows: list[dict[str, Any]], column: str, query: Query) -> Number:
    """A group's value of a column that each run has a value of."""
    if aggregate == "count":
        return _aggregated("count", [row[column] for row in rows])
    return _over_runs(_in_each_run(aggregate, rows, column), query.run_statistic)


def _group_ratio(
    query: Query, rows: list[dict[str, Any]], above: str, below: str, own: str
) -> Number:
    aggregate = query.aggregate
    if aggregate not in ("sum", "mean"):
        return _aggregated(aggregate, [row[own] for row in rows])
    if all(row[own] is None for row in rows):
        return None
    runs = len(rows[0][IN_EACH_RUN]["time"])
    sums: dict[str, list[Number]] = {above: [], below: []}
    for run in range(runs):
        worked = [
            {name: _in_run(row, name, run) for name in (above, below)}
            for row in rows
            if None not in (_in_run(row, above, run), _in_run(row, below, run))
        ]
        for name, found in sums.items():
            found.append(_aggregated("sum", [one[name] for one in worked]))
    numerator, denominator = (_over_runs(found, query.run_statistic) for found in sums.values())
    return _divided(numerator, denominator)


def _in_run(row: dict[str, Any], column: str, run: int) -> Number:
    """What is the same in each run, or the value in one."""
    found: Number = row[IN_EACH_RUN][column][run] if column in row[IN_EACH_RUN] else row[column]
    return found


def _added_up(values: list[float]) -> float:
    """The sum, rounded at each step; `sum` rounds once since Python 3.12, and differs in a bit."""
    total = 0.0
    for value in values:
        total += value
    return total


def _deviation(known: list[float]) -> Number:
    """As in a textbook, adding up one by one: groups that are equally spread must come out equal."""
    if len(known) < 2:
        return None
    apart = [value - known[0] for value in known]  # equal values are exactly 0 apart
    mean = float(np.sum(apart)) / len(known)  # of ratios, whose sums depend on the order
    squares = 0.0
    for value in apart:
        squares += (value - mean) ** 2
    return math.sqrt(squares / (len(known) - 1))


def _aggregated(aggregate: str, values: list[Number]) -> Number:
    known = sorted(value for value in values if value is not None)
    if aggregate == "count":
        return len(known)
    if not known:
        return None
    if aggregate == "std":
        return _deviation([value for value in values if value is not None])
    if aggregate == "mean":
        return math.fsum(known) / len(known)
    if aggregate == "sum":
        return math.fsum(known)
    shares = {"max": 1.0, "min": 0.0, "median": 0.5}
    share = shares[aggregate] if aggregate in shares else float(aggregate[1:]) / 100
    place = (len(known) - 1) * share
    below = math.floor(place)
    if place == below:
        return known[below]
    return known[below] + (known[below + 1] - known[below]) * (place - below)


def _divided(numerator: Number, denominator: Number) -> Number:
    if numerator is None or not denominator:
        return None
    return numerator / denominator


def _sorted(rows: list[dict[str, Any]], column: str, *, ascending: bool) -> list[dict[str, Any]]:
    found = [row[column] if column in row else _made(column, row) for row in rows]
    known = [value for value in found if value is not None]
    values = sorted(
        set(known), key=lambda value: (isinstance(value, str), value), reverse=not ascending
    )
    in_order = [
        row for value in values for row, one in zip(rows, found, strict=True) if one == value
    ]
    return in_order + [row for row, one in zip(rows, found, strict=True) if one is None]

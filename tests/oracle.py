"""Computes the answers of the package a second time, slowly, in plain loops over decoded JSON.

This module shares no code with the package. Tests compare the answers of this module with the
answers of the package, on real and on generated profiles.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from tests.oracle_arithmetic import Number, aggregated, divided, over_runs, varying
from tests.oracle_reading import Operator, is_constant, join_runs, read, read_file, split
from tests.oracle_roofline import IN_EACH_RUN, bound, category_of, gain, own_total, roofline

if TYPE_CHECKING:
    from profile_analyze import Query

__all__ = ["answer", "join_runs", "read", "read_file", "side_of", "split"]


_MACS = ("macs", "macs_with_bias", "macs_without_padding", "backward_macs")
_SIZES = ("params", "param_bytes", "input_bytes", "output_bytes")
"""The columns in `_MACS` and `_SIZES` need a model: the profile of a run alone lacks them."""
_TILES = ("tiles", "tiled_macs", "untiled_memory", "tiled_memory", "padded_memory")
_OF_TILES = ("tiles_m", "tiles_n", "tiles_k", "tile_efficiency", "tile_peak")
"""The columns in `_TILES` and `_OF_TILES` need `--split-matmul`. The columns in `_TILES` count all
calls in a run."""
_MESSAGES = ("message_bytes", "bus_bytes")
_DEVICE = (
    *("full_name", "launched_by", "grid", "block", "registers", "shared_memory", "occupancy"),
    *("collective", "group_size", "message_size", "bus_bandwidth", "rank_spread"),
)
"""Columns that profiles of MegEngine do not have."""
_CANONICAL_DTYPES = {
    "Float32": "fp32",
    "Int32": "int32",
    "QuantizedS8": "int8",
    "QuantizedS32": "int32",
}
"""The canonical names of the dtypes in the documents of the tests."""
_TOLERANCE_S = 0.5e-9
"""Measured times that differ by at most this count as equal in conditions."""


def answer(operators: list[Operator], query: Query) -> list[dict[str, Any]]:
    """Return the rows that answer `query`, with all their columns."""
    runs = len(operators[0].time["device"]) if operators else 1
    has_host = any(one.recorded["host"] for one in operators)
    operators = split(operators, query)
    totals = [
        aggregated("sum", [_asked(one, query)[run] for one in operators]) for run in range(runs)
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
    for column in ("time", "share"):
        running: Number = None
        for row in rows:
            running = running if row[column] is None else (running or 0.0) + row[column]
            row[f"cumulative_{column}"] = running
    return [{name: row[name] for name in row if name != IN_EACH_RUN} for row in rows]


def _asked(operator: Operator, query: Query) -> list[Number]:
    """Return the operator's values of `query.measure`, one for each run."""
    side = side_of(query)
    return (operator.wait if query.measure.endswith("wait") else operator.time)[side]


def side_of(query: Query) -> str:
    return "host" if query.measure.startswith("host") else "device"


def _passes(operator: Operator, query: Query) -> bool:
    time = over_runs(_asked(operator, query), query.run_statistic)
    lowest, highest = query.min_time_s, query.max_time_s
    return (
        operator.recorded[side_of(query)]
        and (not query.types or operator.type in query.types)
        and (not query.name or re.match(query.name, operator.name) is not None)
        and (not query.input_dtype or query.input_dtype in operator.dtypes)
        and (lowest is None or (time is not None and time >= lowest - _TOLERANCE_S))
        and (highest is None or (time is not None and time <= highest + _TOLERANCE_S))
    )


def _values_in_each_run(
    operator: Operator, query: Query, *, has_host: bool
) -> dict[str, list[Number]]:
    ran = operator.ran if any(operator.ran) else [True] * len(operator.ran)
    return {
        "computation": [operator.computation if here else None for here in ran],
        "memory": [operator.memory if here else None for here in ran],
        "self": operator.time["host" if has_host else "device"],
        **{name: [None] * len(ran) for name in ("time_median", "queue", "thread_wait")},
        **{name: [None] * len(ran) for name in ("allocated", "device_allocated")},
        **{name: [None] * len(ran) for name in (*_MACS, *_TILES, *_MESSAGES)},
        "calls": [1.0 if here else None for here in operator.ran],
        "time": _asked(operator, query),
        "device_time": operator.time["device"],
        "host_time": operator.time["host"],
        "wait": operator.wait["device"],
    }


# MegEngine profiles have none of these columns.
ONNX_TOOL = ("onnx_tool_macs", "onnx_tool_memory", "onnx_tool_params")
SPARSITY = ("sparsity", "sparsity_pattern", "sparsity_block")


def _row(
    operator: Operator, query: Query, totals: list[Number], *, has_host: bool
) -> dict[str, Any]:
    in_each_run = _values_in_each_run(operator, query, has_host=has_host)
    collapsed = {
        name: over_runs(values, query.run_statistic) for name, values in in_each_run.items()
    }
    time = collapsed["time"]
    has_rates = not query.measure.endswith("wait") and (
        query.host_rates or side_of(query) == "device"
    )
    run_time = time if has_rates else None
    known = list(dict.fromkeys(dtype for dtype in operator.dtypes if dtype))
    tracks = operator.tracks if side_of(query) == "device" else operator.host_tracks
    row = {
        "id": operator.id,
        "key": str(operator.id),
        "name": operator.name,
        "type": operator.type,
        "category": category_of(operator.type),
        "scope": None,
        "time": time,
        "share": _share(in_each_run["time"], totals, query),
        **collapsed,
        **varying(in_each_run["time"]),
        IN_EACH_RUN: in_each_run,
        **dict.fromkeys((*_SIZES, "macs_share", "param_share", "conv_kind", "reused_weights")),
        "computation_source": "unknown" if operator.computation is None else "measured",
        "memory_source": _memory_source(operator),
        "flops": divided(operator.computation, run_time),
        "bandwidth": divided(operator.memory, run_time),
        "intensity": divided(operator.computation, operator.memory),
        "in_shapes": operator.in_shapes,
        "in_strides": operator.in_layouts,
        "out_shapes": operator.out_shapes,
        "input_dtype": ", ".join(known + ["N/A"] * (None in operator.dtypes)) if known else None,
        "compute_dtype": _CANONICAL_DTYPES.get(known[0], known[0]) if known else None,
        "device": ", ".join(operator.tracks) or None,
        "track": ", ".join(tracks) or None,
        "stream": None,
        "rank": None,
        "kernel": None,
        "parameters": None if operator.parameters is None else tuple(operator.parameters.items()),
        **dict.fromkeys((*ONNX_TOOL, *SPARSITY, *_OF_TILES, *_DEVICE)),
    } | operator.split
    if query.peaks is not None:
        row |= roofline(operator, query, row, totals)
    return row | {key: _made(key, row) for key in query.by if key not in row}


def _memory_source(operator: Operator) -> str:
    if operator.memory is None:
        return "unknown"
    return "derived" if is_constant(operator.type) else "measured"


def _share(times: list[Number], totals: list[Number], query: Query) -> Number:
    return divided(over_runs(times, query.run_statistic), own_total(times, totals, query))


def _made(key: str, row: dict[str, Any]) -> Any:
    """Return the value of a key that is computed from a column, such as `name~[a-z]+`."""
    if key.startswith("param."):
        return dict(row["parameters"] or ()).get(key.removeprefix("param."))
    if key.startswith("scope/"):
        return None  # MegEngine profiles have no scopes
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
        return (re.search(value, str(found)) is not None) == (operator == "~")
    if isinstance(found, str):
        return operator in ("==", "!=") and (found == value) == (operator == "==")
    if isinstance(found, tuple):
        text = ", ".join("{" + ",".join(map(str, shape)) + "}" for shape in found)
        return (text.replace(" ", "") == value.replace(" ", "")) == (operator == "==")
    if not value[0].isdigit():  # the row has a number; other rows may have texts
        return operator == "!="
    measured = (
        *("time", "time_min", "time_max", "device_time", "time_median", "host_time", "wait"),
        *("queue", "self", "thread_wait"),
    )
    bound, near = _quantity(value), _TOLERANCE_S if column.split(".")[0] in measured else 0
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
        *("time", "device_time", "time_median", "host_time", "wait", "queue", "self"),
        *("thread_wait", "calls", "allocated", "device_allocated", "computation", "memory"),
        *_MACS,
        *_TILES,
        *_MESSAGES,
    ):
        group[column] = _timed(aggregate, rows, column, query)
    for column in _SIZES:
        group[column] = aggregated(aggregate, [row[column] for row in rows])
    group |= dict.fromkeys(
        ("macs_share", "param_share", "tile_efficiency", "message_size", "bus_bandwidth")
    )
    group |= varying(_in_each_run(aggregate, rows, "time"))
    for other in query.aggregates:
        if other != aggregate:
            group[f"time.{other}"] = _timed(other, rows, "time", query)
    group[IN_EACH_RUN] = {"time": _in_each_run(aggregate, rows, "time")}
    group["share"] = _share(group[IN_EACH_RUN]["time"], totals, query)
    group["flops"] = _group_ratio(query, rows, "computation", "time", "flops")
    group["bandwidth"] = _group_ratio(query, rows, "memory", "time", "bandwidth")
    if query.peaks is not None:
        for column in ("compute_time", "memory_time", "least_time"):
            group[column] = aggregated(aggregate, [row[column] for row in rows])
        group["lost"] = _timed(aggregate, rows, "lost", query)
        sums = {
            column: aggregated("sum", [row[column] for row in rows])
            for column in ("compute_time", "memory_time", "least_time")
        }
        group.setdefault(
            "bound", bound(sums["compute_time"], sums["memory_time"], sums["least_time"])
        )
        lost_in_each_run = _in_each_run("sum", rows, "lost")
        total = own_total(lost_in_each_run, totals, query)
        group["gain"] = gain(total, _timed("sum", rows, "lost", query))
        ratios = (("attainable", "computation", "least_time"), ("efficiency", "least_time", "time"))
        for own, above, below in ratios:
            group[own] = _group_ratio(query, rows, above, below, own)
    group["intensity"] = _group_ratio(query, rows, "computation", "memory", "intensity")
    group |= {name: aggregated(aggregate, [row[name] for row in rows]) for name in ONNX_TOOL}
    return group


def _in_each_run(aggregate: str, rows: list[dict[str, Any]], column: str) -> list[Number]:
    """Return a group's value in each run."""
    by_run = zip(*(row[IN_EACH_RUN][column] for row in rows), strict=True)
    return [aggregated(aggregate, list(values)) for values in by_run]


def _timed(aggregate: str, rows: list[dict[str, Any]], column: str, query: Query) -> Number:
    """Return a group's value of a column, over all runs."""
    if aggregate == "count":
        return aggregated("count", [row[column] for row in rows])
    return over_runs(_in_each_run(aggregate, rows, column), query.run_statistic)


def _group_ratio(
    query: Query, rows: list[dict[str, Any]], above: str, below: str, own: str
) -> Number:
    aggregate = query.aggregate
    if aggregate not in ("sum", "mean"):
        return aggregated(aggregate, [row[own] for row in rows])
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
            found.append(aggregated("sum", [one[name] for one in worked]))
    numerator, denominator = (over_runs(found, query.run_statistic) for found in sums.values())
    return divided(numerator, denominator)


def _in_run(row: dict[str, Any], column: str, run: int) -> Number:
    """Return a row's value in one run. Some columns have the same value in all runs."""
    found: Number = row[IN_EACH_RUN][column][run] if column in row[IN_EACH_RUN] else row[column]
    return found


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

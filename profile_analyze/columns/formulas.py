"""The formulas of all columns in `column_registry.COLUMNS`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from profile_analyze.columns.device_columns import DEVICE_NUMBERS, DEVICE_TEXTS
from profile_analyze.columns.rows import Formulas
from profile_analyze.large_arrays import run_by_run
from profile_analyze.model.categorical import Categorical
from profile_analyze.model.frozen import frozen
from profile_analyze.model.graph.before_model import without_nodes
from profile_analyze.model.joining.ranks import rank_spread, times_of_ranks
from profile_analyze.model.levels.splitting import joined_values
from profile_analyze.model.measuring import amounts, side_of
from profile_analyze.model.numbers import finite, over_runs, ratio, spread_of_runs
from profile_analyze.model.terms import (
    ABSENT,
    DEVICE,
    MESSAGE_AMOUNTS,
    ONNX_TOOL_NAMES,
    TILE_AMOUNTS,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from numpy.typing import NDArray

    from profile_analyze.columns.rows import GroupRows, OperatorRows, Rows, Values
    from profile_analyze.model.profile import Profile
    from profile_analyze.model.terms import Side

    Floats: TypeAlias = NDArray[np.float64]


def _runs(rows: Rows) -> NDArray[np.int64]:
    return np.asarray((~np.isnan(rows.per_run("time"))).sum(axis=1), np.int64)


def _spread(rows: Rows) -> Floats:
    return spread_of_runs(rows.per_run("time"))


def _time_min(rows: Rows) -> Floats:
    return over_runs(rows.per_run("time"), "min")


def _time_max(rows: Rows) -> Floats:
    return over_runs(rows.per_run("time"), "max")


def _share(rows: Rows) -> Floats:
    return ratio(rows["time"], rows.own_totals_s())


def _count(rows: GroupRows) -> NDArray[np.int64]:
    return rows.sizes


def _measured(name: str) -> Callable[[OperatorRows], Values]:
    def formula(rows: OperatorRows) -> Floats:
        return rows.profile.measured(name)

    return formula


def _work(name: str) -> Callable[[OperatorRows], Values]:
    """Return a formula for the work of all calls in a run: see `work_in_runs`."""
    return lambda rows: work_in_runs(rows.profile, name, side_of(rows.profile, rows.measure))


def work_in_runs(profile: Profile, name: str, side: Side = DEVICE) -> Floats:
    """Return the work of the calls on `side` in each run, shape (operators, runs).

    `name` is `computation`, `memory` or an optional column of work. In a profile without times,
    such as a static model, the result is the work of one call, shape (operators, 1).
    """
    return profile.once(f"{name} on {side}", lambda: _work_in_runs(profile, name, side))


def _work_in_runs(profile: Profile, name: str, side: Side) -> Floats:
    operators = profile.operators
    is_required = name in ("computation", "memory")
    of_call: Floats = getattr(operators, name) if is_required else operators.numbers(name)
    work = of_call[:, np.newaxis]
    if profile.origin.times == ABSENT:  # there are no calls to multiply by
        return work
    calls = profile.calls(side)
    with np.errstate(all="ignore"):
        return frozen(run_by_run(lambda block: finite(work * block), calls))


def _rate(work: str) -> Callable[[OperatorRows], Values]:
    """Return a formula for work per second; N/A if the question has no rates."""

    def formula(rows: OperatorRows) -> Floats:
        if not rows.has_rates:
            return np.full(len(rows["time"]), np.nan)
        return rows.ratio(work, "time")

    return formula


def _intensity(rows: OperatorRows) -> Floats:
    return rows.ratio("computation", "memory")


def _categorical(name: str) -> Callable[[OperatorRows], Values]:
    def formula(rows: OperatorRows) -> Values:
        return rows.profile.operators.categorical(name)

    return formula


def _parameters(rows: OperatorRows) -> Values:
    """Return the parameters without `NODES`.

    Each operator has its own nodes, so operators with equal parameters would never be in one group.
    """
    return rows.profile.operators.categorical("parameters").mapped(without_nodes)


def _numbers(name: str) -> Callable[[OperatorRows], Values]:
    def formula(rows: OperatorRows) -> Floats:
        return rows.profile.operators.numbers(name)

    return formula


def _input_dtype(rows: OperatorRows) -> Categorical[str]:
    def text(dtypes: tuple[str | None, ...]) -> str | None:
        known = dict.fromkeys(filter(None, dtypes))  # distinct, in order
        return ", ".join([*known, *["N/A"] * (None in dtypes)]) if known else None

    return rows.profile.operators.categorical("input_dtypes").mapped(text)


def _split_key(key: str) -> Callable[[OperatorRows], Values]:
    def formula(rows: OperatorRows) -> Categorical[Any]:
        return rows.profile.split_by[key]

    return formula


def _joined_key(key: str) -> Callable[[OperatorRows], Values]:
    """Return a formula for a split key that rows have even if they are not split by it.

    If rows are split by the key, each row has one value. If not, commas join the values of a row.
    """

    def formula(rows: OperatorRows) -> Categorical[Any]:
        if key in rows.profile.split_by:
            return rows.profile.split_by[key]
        side = side_of(rows.profile, rows.measure) if key == "track" else DEVICE
        in_profile = joined_values(rows.profile, key, side)
        if rows.comparison is None:
            return in_profile
        # An operator that only the baseline has gets its value from the baseline.
        in_base = joined_values(rows.comparison.base, key, side)
        pairs = zip(in_profile.values().tolist(), in_base.values().tolist(), strict=True)
        return Categorical.of([value or base_value for value, base_value in pairs])

    return formula


# A test checks that each declared column has exactly the formulas that its rules ask for.
FORMULAS: Final = Formulas(
    of_rows={
        "runs": _runs,
        "spread": _spread,
        "time_min": _time_min,
        "time_max": _time_max,
        "share": _share,
        "macs_share": lambda rows: ratio(rows.per_run("macs"), rows.total_of("macs")),
        "param_share": lambda rows: ratio(rows["params"], rows.total_of("params")),
    },
    of_operators={
        "id": lambda rows: rows.profile.operators.key,
        "key": lambda rows: rows.profile.operators.key_texts(),
        "name": lambda rows: rows.profile.operators.name,
        "type": lambda rows: rows.profile.operators.type,
        "category": lambda rows: rows.profile.operators.category,
        "scope": lambda rows: rows.profile.operators.scope,
        "time": lambda rows: rows.profile.measured(rows.measure.name),
        "device_time": _measured("time"),
        "time_median": _measured("time_median"),
        "host_time": _measured("host_time"),
        "wait": _measured("wait"),
        "queue": _measured("queue"),
        "self": _measured("self"),
        "thread_wait": _measured("thread_wait"),
        "calls": lambda rows: rows.profile.calls(side_of(rows.profile, rows.measure)),
        "allocated": lambda rows: amounts(rows.profile, "allocated_bytes"),
        "device_allocated": lambda rows: amounts(rows.profile, "device_allocated_bytes"),
        "computation": _work("computation"),
        "computation_source": lambda rows: rows.profile.operators.source_of("computation"),
        "flops": _rate("computation"),
        "memory": _work("memory"),
        "memory_source": lambda rows: rows.profile.operators.source_of("memory"),
        "bandwidth": _rate("memory"),
        "intensity": _intensity,
        **{name: _work(name) for name in ("macs", "macs_with_bias", "backward_macs")},
        "macs_without_padding": _work("macs_without_padding"),
        "conv_kind": _categorical("conv_kind"),
        **{name: _numbers(name) for name in ("params", "param_bytes")},
        **{name: _numbers(name) for name in ("input_bytes", "output_bytes")},
        "reused_weights": _categorical("reused_weights"),
        **{name: _numbers(name) for name in ONNX_TOOL_NAMES},
        **{name: _numbers(name) for name in ("sparsity", "sparsity_block")},
        "sparsity_pattern": _categorical("sparsity_pattern"),
        **{name: _work(name) for name in TILE_AMOUNTS},
        **{name: _numbers(name) for name in ("tiles_m", "tiles_n", "tiles_k", "tile_peak")},
        "tile_efficiency": lambda rows: rows.ratio("macs", "tiled_macs"),
        "in_shapes": _categorical("in_shapes"),
        "in_strides": _categorical("in_strides"),
        "out_shapes": _categorical("out_shapes"),
        "input_dtype": _input_dtype,
        "compute_dtype": _categorical("compute_dtype"),
        **{key: _joined_key(key) for key in ("device", "track", "stream", "rank", "kernel")},
        **{name: _categorical(name) for name in DEVICE_TEXTS},
        **{name: _numbers(name) for name in DEVICE_NUMBERS},
        **{name: _work(name) for name in MESSAGE_AMOUNTS},
        "message_size": lambda rows: rows.ratio("message_bytes", "calls"),
        "bus_bandwidth": lambda rows: rows.ratio("bus_bytes", "device_time"),
        "rank_spread": lambda rows: rank_spread(times_of_ranks(rows.profile, rows.measure.name)),
        "parameters": _parameters,
        **{key: _split_key(key) for key in ("file", "run", "step", "phase")},
    },
    of_groups={"count": _count},
)

"""How the columns come about that need nothing but a profile; `columns.py` declares them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from profile_analyze.model.categorical import Categorical
from profile_analyze.model.numbers import over_runs, ratio, spread_of_runs
from profile_analyze.model.rows import Formulas

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from numpy.typing import NDArray

    from profile_analyze.model.rows import GroupRows, OperatorRows, Rows, Values

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
    return ratio(rows.per_run("time"), rows.totals_s)


def _count(rows: GroupRows) -> NDArray[np.int64]:
    return rows.sizes


def _time(rows: OperatorRows) -> Floats:
    return rows.profile.timings(rows.side).chosen_s(rows.end_key)


def _device_time(rows: OperatorRows) -> Floats:
    return rows.profile.device.chosen_s("end")


def _host_time(rows: OperatorRows) -> Floats:
    return rows.profile.host.chosen_s("end")


def _wait(rows: OperatorRows) -> Floats:
    return rows.profile.device.chosen_s("kern")


def _rate(work: str) -> Callable[[OperatorRows], Values]:
    """Work per second of running. A wait time does no work: there the rate is N/A."""

    def formula(rows: OperatorRows) -> Floats:
        if rows.end_key == "kern":
            return np.full(len(rows["time"]), np.nan)
        return ratio(rows[work], rows["time"])

    return formula


def _intensity(rows: OperatorRows) -> Floats:
    return ratio(rows["computation"], rows["memory"])


def _detail(name: str) -> Callable[[OperatorRows], Values]:
    def formula(rows: OperatorRows) -> Values:
        return rows.profile.detail(name)

    return formula


def _input_dtype(rows: OperatorRows) -> Categorical[str]:
    def text(dtypes: tuple[str | None, ...]) -> str | None:
        known = dict.fromkeys(filter(None, dtypes))
        return ", ".join([*known, *["N/A"] * (None in dtypes)]) if known else None

    return rows.profile.detail("input_dtypes").mapped(text)


def _device(rows: OperatorRows) -> Categorical[str]:
    """The base tells it of what only the base has."""
    own = rows.profile.device.lanes_of_operators()
    if rows.comparison is None:
        return own
    others = rows.comparison.base_device.lanes_of_operators()
    both = zip(own.values().tolist(), others.values().tolist(), strict=True)
    return Categorical.of([ours or theirs for ours, theirs in both])


def _run_of(rows: OperatorRows) -> NDArray[np.int64]:
    run_of = rows.profile.run_of
    assert run_of is not None, "runs are not kept apart"
    return run_of


def _file(rows: OperatorRows) -> Categorical[str]:
    files: Categorical[str] = Categorical.of(rows.profile.files)
    return files.take(_run_of(rows))


def _run(rows: OperatorRows) -> Categorical[int]:
    return Categorical(_run_of(rows), tuple(range(1, len(rows.profile.files) + 1)))


FORMULAS: Final = Formulas(
    of_rows={
        "runs": _runs,
        "spread": _spread,
        "time_min": _time_min,
        "time_max": _time_max,
        "share": _share,
    },
    of_operators={
        "id": lambda rows: rows.profile.id,
        "name": lambda rows: rows.profile.name,
        "type": lambda rows: rows.profile.type,
        "time": _time,
        "device_time": _device_time,
        "host_time": _host_time,
        "wait": _wait,
        "computation": lambda rows: rows.profile.computation,
        "flops": _rate("computation"),
        "memory": lambda rows: rows.profile.memory,
        "bandwidth": _rate("memory"),
        "intensity": _intensity,
        "in_shapes": _detail("in_shapes"),
        "in_layouts": _detail("in_layouts"),
        "out_shapes": _detail("out_shapes"),
        "input_dtype": _input_dtype,
        "device": _device,
        "parameters": _detail("parameters"),
        "file": _file,
        "run": _run,
    },
    of_groups={"count": _count},
)

"""Chooses the columns that output formats show by default."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from profile_analyze.columns.model_columns import TILE_NAMES
from profile_analyze.model.categorical import Categorical
from profile_analyze.model.measuring import side_of
from profile_analyze.model.terms import ABSENT, LESS_WORK, MORE_WORK, TELLING_APART

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from profile_analyze.query.question import Query
    from profile_analyze.query.table import Table


WORK_COMPARED: Final = ("work_ratio", "ratio_per_work")
"""Columns that say whether the work explains a change of the time."""


def columns_beside_time(query: Query, *, several_runs: bool) -> tuple[str, ...]:
    """Return the columns that follow the time in most formats.

    A baseline, several runs, and peaks add columns.
    """
    return (
        *variation_columns(query, several_runs=several_runs),
        *("share", "computation", "flops", "memory", "bandwidth"),
        *roofline_columns(query),
    )


def variation_columns(query: Query, *, several_runs: bool) -> tuple[str, ...]:
    """Return the columns that a comparison adds, and the column that several runs add."""
    compared: tuple[str, ...] = ()
    if query.compared:
        ratios = ("ratio", "relative_ratio", "test", "verdict")
        compared = ("base", "difference", "change", *ratios)
    return (*compared, "spread") if several_runs else compared


def roofline_columns(query: Query) -> tuple[str, ...]:
    """Return the columns that say how near operators are to the roofline; empty without peaks.

    `bound` is left out if it is a group key: tables show all keys anyway.
    """
    names = ("bound", "efficiency", "lost", "gain") if query.peaks else ()
    return tuple(name for name in names if name not in query.by)


def group_columns(query: Query, *, several_runs: bool) -> tuple[str, ...]:
    """Return the default columns of groups in most formats."""
    beside_time = columns_beside_time(query, several_runs=several_runs)
    return (*query.by, "count", *query.times, *beside_time)


def columns_with_values(names: tuple[str, ...], table: Table) -> tuple[str, ...]:
    """Return the group keys, and the columns of `names` that have a value in at least one row.

    - `type` is left out if it only repeats the names.
    - `calls` is added if operators have several calls in a run.
    - The columns of `work_columns` are added if there are no times.
    - `WORK_COMPARED` is added if a row has the verdict `more work` or `less work`.
    - The columns on tiles are added with `--split-matmul`.
    - Columns that tell operators with equal names apart are added after `name`.

    If no column has a value, as in a table without rows, all columns of `names` are kept.
    """
    candidates = _with_calls_and_work(names, table)
    filled = filled_columns(candidates, table, if_none=names)
    shown = (name for name in filled if name != "type" or not _type_repeats_name(table))
    return tuple(
        column
        for name in shown
        for column in ((name, *_telling_apart(table)) if name == "name" else (name,))
    )


def _telling_apart(table: Table) -> Iterator[str]:
    """Yield the columns that tell operators with equal names apart.

    - `launched_by`, if the table has kernels.
    - The first other column of `TELLING_APART` that tells more operators apart.

    Groups need no such column. A table without kernels needs such a column only if several
    operators of the profile share a name that the table shows.
    """
    operators = table.shown.profile.operators
    if table.query.keys is not None:
        return
    chosen = [operators.name.codes]
    if table.has_values("launched_by"):
        yield "launched_by"
        chosen.append(operators.categorical("launched_by").codes)
    elif not _has_names_of_several(table, operators.name):
        return
    for column in TELLING_APART[1:]:
        values = operators.scope if column == "scope" else operators.optional.get(column)
        if not isinstance(values, Categorical) or not table.has_values(column):
            continue
        if _distinct(*chosen, values.codes) > _distinct(*chosen):
            yield column
            return


def _has_names_of_several(table: Table, names: Categorical[str]) -> bool:
    """Return whether a row has a name that several operators of the profile have."""
    if len(names.categories) == len(names):
        return False
    shown = {*table["name"].tolist()}
    several = np.bincount(names.codes, minlength=len(names.categories)) > 1
    return any(names.categories[code] in shown for code in np.flatnonzero(several).tolist())


def _distinct(*codes: NDArray[np.int64]) -> int:
    """Return the number of distinct combinations of values in the columns `codes`."""
    return len({*zip(*(column.tolist() for column in codes), strict=True)})


def _type_repeats_name(table: Table) -> bool:
    """Return whether every type in the table only repeats the name; false without rows.

    The type of a kernel may lack the template arguments of the name. Return false if rows are
    groups, or if the question uses types.
    """
    query = table.query
    if query.keys is not None or query.types or any(one.base_name == "type" for one in query.used):
        return False
    pairs = {*zip(table["name"].tolist(), table["type"].tolist(), strict=True)}
    return bool(pairs) and all(
        name == type_ or str(name).startswith(f"{type_}<") for name, type_ in pairs
    )


def filled_columns(
    names: tuple[str, ...], table: Table, if_none: tuple[str, ...] | None = None
) -> tuple[str, ...]:
    """Return the group keys, and the columns of `names` that have a value in at least one row.

    If no column has a value, return `if_none`; without `if_none`, return all of `names`.
    """
    filled = {name for name in names if table.has_values(name)}
    if not filled:
        return names if if_none is None else if_none
    return tuple(name for name in names if name in filled or name in (table.kind.keys or ()))


def columns_of_short_table(table: Table) -> tuple[str, ...]:
    """Return the columns of a short table. A key that only repeats the names is left out."""
    columns = table.columns
    names = [table.texts(name) for name in ("name", "kernel") if name in columns]
    repeats = "key" in columns and table.texts("key") in names
    return tuple(name for name in columns if name != "key" or not repeats)


def every_column(table: Table) -> tuple[str, ...]:
    """Return the names of all columns of a table, also of those that were not loaded."""
    return table.columns if table.asked is None else table.query.columns


def calls_column(table: Table) -> tuple[str, ...]:
    """Return the column `calls` if operators have several calls in a run; otherwise none."""
    profile = table.shown.profile
    has_several = (profile.calls(side_of(profile, table.shown.measure)) > 1).any()
    return ("calls",) if has_several else ()


def _with_calls_and_work(names: tuple[str, ...], table: Table) -> tuple[str, ...]:
    calls = calls_column(table)
    if table.shown.profile.origin.times != ABSENT:
        work = (*_work_compared(table), *_tile_columns(table))
    else:
        work = work_columns(table)
    # The added columns follow the times.
    index = names.index("share") if "share" in names else len(names)
    # Each column stays only where it comes first.
    return tuple(dict.fromkeys((*names[:index], *calls, *work, *names[index:])))


def _work_compared(table: Table) -> tuple[str, ...]:
    """Return the columns on the work of both sides if a verdict is about work; otherwise none."""
    if not table.query.compared or {MORE_WORK, LESS_WORK}.isdisjoint(table["verdict"].tolist()):
        return ()
    return WORK_COMPARED


def work_columns(table: Table) -> tuple[str, ...]:
    """Return the columns to show instead of times, for a profile without times."""
    if not table.is_of_model:
        return ("computation", "memory", "intensity")
    shapes = () if table.query.grouped else ("out_shapes",)
    least_time = ("least_time", "bound") if table.query.peaks else ()
    if table.query.compared:
        differences = ("macs_difference", "params_difference", "memory_difference")
        return ("macs", "base_macs", *differences, "match", *least_time)
    if tiles := _tile_columns(table):
        return ("macs", *tiles, *least_time, *shapes)
    return ("macs", "macs_share", "params", "memory", *least_time, *shapes)


def _tile_columns(table: Table) -> tuple[str, ...]:
    """Return the columns on the cost of tiles; empty without `--split-matmul`."""
    if not _has_tiles(table):
        return ()
    sizes = () if table.query.grouped else ("tile_peak",)
    return ("tiles", "tiled_macs", "tile_efficiency", "untiled_memory", "tiled_memory", *sizes)


def _has_tiles(table: Table) -> bool:
    return "tiles" in table.shown.profile.operators.optional


def model_columns(table: Table) -> tuple[str, ...]:
    """Return the columns that formats for programs show by default for a model that has not run."""
    query = table.query
    compared = (
        *("match", "base_macs", "macs_difference", "base_params", "params_difference"),
        *("base_memory", "memory_difference"),
    )
    of_operators = ("conv_kind", "reused_weights", "in_shapes", "out_shapes", "parameters")
    names = (
        *(("id", "name", "type", "category", "scope") if query.keys is None else query.by),
        *(() if query.keys is None else ("count",)),
        *("macs", "macs_share", "macs_with_bias", "macs_without_padding", "backward_macs"),
        *("params", "param_share", "param_bytes", "computation", "memory", "intensity"),
        *("input_bytes", "output_bytes"),
        *(_every_tile_column(query) if _has_tiles(table) else ()),
        *(("compute_time", "memory_time", "least_time", "bound") if query.peaks else ()),
        *(compared if query.compared else ()),
        *(of_operators if query.keys is None else ()),
    )
    return tuple(dict.fromkeys(names))


def _every_tile_column(query: Query) -> tuple[str, ...]:
    """Return all columns on tiles that the rows of a question have."""
    return tuple(name for name in TILE_NAMES if query.kind.has(query.kind.find(name)))

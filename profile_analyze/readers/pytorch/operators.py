"""Makes the table of operators of a trace from its rows."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from profile_analyze.model.categorical import Categorical
from profile_analyze.model.numbers import floats
from profile_analyze.model.operators import Operators, graphs_column
from profile_analyze.model.terms import CONTROL, DERIVED, EARLIER, KERNEL, MEASURED, RUNTIME
from profile_analyze.readers.keys import distinct_keys, dtypes_key, shapes_key
from profile_analyze.readers.pytorch.device_facts import columns_of_facts
from profile_analyze.readers.pytorch.kernel_names import kernel_category, short_name
from profile_analyze.readers.pytorch.rows import variant

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from profile_analyze.model.operators import OptionalValues
    from profile_analyze.readers.pytorch.rows import Row
    from profile_analyze.readers.pytorch.work.operators import Described

_GRAPH_LAUNCHES: Final = ("cudaGraphLaunch", "cuGraphLaunch", "hipGraphLaunch")
"""The calls that launch a recorded graph of kernels."""


def operators_of(rows: Sequence[Row]) -> Operators:
    """Return the table of operators."""
    names = [_name(row) for row in rows]
    return Operators.of(
        key=Categorical.of(_keys(rows, names)),
        name=Categorical.of(names),
        type=Categorical.of([_type(row, name) for row, name in zip(rows, names, strict=True)]),
        category=Categorical.of([_category(row) for row in rows]),
        level=Categorical.of([EARLIER if row.is_earlier else row.level for row in rows]),
        scope=Categorical.of([row.scope for row in rows]),
        computation=_numbers(rows, lambda found: found.work.computation),
        memory=np.where(
            [row.level == KERNEL for row in rows],
            floats(row.amounts.memory for row in rows),
            _numbers(rows, lambda found: found.work.memory),
        ),
        source=DERIVED,
        memory_source=Categorical.of(
            [MEASURED if row.level == KERNEL else DERIVED for row in rows]
        ),
        optional={
            **{
                name: _described(rows, name)
                for name in (
                    *("in_shapes", "in_strides", "out_shapes"),
                    *("input_dtypes", "compute_dtype", "parameters"),
                )
            },
            "macs": _numbers(rows, lambda found: found.work.macs),
            **_kernel_columns(rows),
            **graphs_column(row.name.startswith(_GRAPH_LAUNCHES) for row in rows),
        },
    )


def _kernel_columns(rows: Sequence[Row]) -> dict[str, OptionalValues]:
    """Return the optional columns that only kernels fill; none for a trace without kernels."""
    if not any(row.level == KERNEL for row in rows):
        return {}
    facts, amounts = [row.device_facts for row in rows], [row.amounts for row in rows]
    return {
        "full_name": Categorical.of([row.name if row.level == KERNEL else None for row in rows]),
        "launched_by": Categorical.of([row.launched_by for row in rows]),
        **columns_of_facts(facts, amounts),
    }


def _name(row: Row) -> str:
    return (short_name(row.name) if row.level == KERNEL else row.name) or "unnamed"


def _type(row: Row, name: str) -> str:
    # Variants of a kernel share a type. Their names differ after the `<` of template arguments.
    return name.partition("<")[0] or name if row.level == KERNEL else row.type


def _path(row: Row, name: str) -> str:
    """Return the key of a row: its scope, launcher, name and input shapes.

    An operator has the same key in other traces, too.
    """
    launched_by = () if row.launched_by is None else (row.launched_by,)
    if row.is_earlier:  # keeps the keys of other rows as in other traces
        launched_by = (EARLIER,)
    shapes = row.described.in_shapes if row.described is not None else None
    text = shapes_key(shapes)
    if row.level == KERNEL and name != row.name:  # add a hash: short names can be equal
        full = row.name.encode("utf-8", "surrogatepass")
        text = f" #{blake2b(full, digest_size=3).hexdigest()}"
    return "/".join((*(row.scope or ()), *launched_by, name)) + text


def _keys(rows: Sequence[Row], names: Sequence[str]) -> list[str]:
    return distinct_keys(
        map(_path, rows, names), list(map(_detail, rows)), list(map(_variant_text, rows))
    )


def _detail(row: Row) -> str:
    """Return what tells a row from others with its path: dtypes and output shapes, or the level."""
    if row.described is None:
        return f" [{row.level}]"
    return dtypes_key(row.described.input_dtypes, row.described.out_shapes)


def _variant_text(row: Row) -> str:
    """Return the parameters that decide how an operator works, as a part of a key."""
    parameters = () if row.described is None else variant(row.described)
    texts = ", ".join(f"{name}={value}" for name, value in parameters)
    return f" [{texts}]" if texts else ""


def _category(row: Row) -> str | None:
    if row.level == KERNEL:
        return kernel_category(row.name, row.type)
    if row.described is not None:
        return row.described.category
    return CONTROL if row.level == RUNTIME else None


def _described(rows: Sequence[Row], name: str) -> Categorical[Any]:
    return Categorical.of(
        [None if row.described is None else getattr(row.described, name) for row in rows]
    )


def _numbers(rows: Sequence[Row], number: Callable[[Described], float]) -> Any:
    return floats(np.nan if row.described is None else number(row.described) for row in rows)

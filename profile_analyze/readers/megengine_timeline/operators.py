"""The table of operators of a timeline."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from profile_analyze.model.categorical import Categorical
from profile_analyze.model.operators import Operators
from profile_analyze.model.terms import DERIVED, KERNEL, OPERATOR
from profile_analyze.readers.keys import distinct_keys, dtypes_key, shapes_key
from profile_analyze.readers.megengine_timeline.work import Cost, cost_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from profile_analyze.readers.megengine_timeline.recording import Facts


class Row(NamedTuple):
    """A row of the table: a scope, a kernel or an operator.

    Operators with equal `Facts` in the same scopes share a row.
    """

    path: tuple[str, ...]
    scope: str | None
    """The name of a scope; None for an operator or a kernel."""
    facts: int
    """The index in `Recording.facts`; -1 for a scope."""
    level: str


def operators_of(rows: Sequence[Row], facts: Sequence[Facts]) -> Operators:
    """Return the table of operators."""
    known = {row.facts: cost_of(facts[row.facts]) for row in rows if row.facts >= 0}
    costs = [known.get(row.facts) if row.level == OPERATOR else None for row in rows]
    types = [facts[row.facts].name if row.facts >= 0 else None for row in rows]
    names = [
        ".".join((*row.path, row.scope or type_ or "unnamed"))
        for row, type_ in zip(rows, types, strict=True)
    ]
    details = [_detail(row, known) for row in rows]
    return Operators.of(
        key=Categorical.of(distinct_keys(map(_path, rows, names), details)),
        name=Categorical.of(names),
        type=Categorical.of(types),
        category=Categorical.of(_each(costs, lambda cost: cost.category)),
        level=Categorical.of([row.level for row in rows]),
        scope=Categorical.of([row.path or None for row in rows]),
        computation=_numbers(costs, lambda cost: cost.work.computation),
        memory=_numbers(costs, lambda cost: cost.work.memory),
        source=DERIVED,
        optional={
            "in_shapes": Categorical.of(_each(costs, lambda cost: cost.in_shapes)),
            "out_shapes": Categorical.of(_each(costs, lambda cost: cost.out_shapes)),
            "input_dtypes": Categorical.of(_each(costs, lambda cost: cost.dtypes)),
            "compute_dtype": Categorical.of(_each(costs, lambda cost: cost.compute_dtype)),
            "parameters": Categorical.of(_each(costs, lambda cost: cost.parameters)),
            "macs": _numbers(costs, lambda cost: cost.work.macs),
            "derived_computation": _numbers(costs, lambda cost: cost.work.computation),
            "derived_memory": _numbers(costs, lambda cost: cost.work.memory),
        },
    )


def _path(row: Row, name: str) -> str:
    """Return the key of a row, unless it repeats. A kernel has the name of its operator."""
    return f"{name} [{KERNEL}]" if row.level == KERNEL else name


def _detail(row: Row, known: Mapping[int, Cost]) -> str:
    """Return what tells a row from others with the same path: shapes and dtypes, or the level."""
    if row.facts < 0:
        return f" [{row.level}]"
    cost = known[row.facts]
    return shapes_key(cost.in_shapes) + dtypes_key(cost.dtypes, cost.out_shapes)


def _each(costs: Iterable[Cost | None], value: Callable[[Cost], Any]) -> list[Any]:
    return [None if cost is None else value(cost) for cost in costs]


def _numbers(costs: Iterable[Cost | None], value: Callable[[Cost], float]) -> NDArray[np.float64]:
    return np.array([nan if cost is None else value(cost) for cost in costs], np.float64)

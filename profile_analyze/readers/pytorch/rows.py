"""Makes the rows of the table of operators, and finds the row of each event.

The docstring of the package defines host events, driver calls and work. Rows of work have the level
`KERNEL`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import numpy as np

from profile_analyze.model.numbers import numbered
from profile_analyze.model.terms import FRAME, KERNEL, MODULE, OPERATOR, RUNTIME
from profile_analyze.readers.pytorch.device_facts import Amounts
from profile_analyze.readers.pytorch.facts import (
    FUNCTION_EVENT,
    MODULE_EVENT,
    OPERATOR_EVENT,
    DeviceFacts,
    HostFacts,
)
from profile_analyze.readers.pytorch.steps import STEPS, step_number
from profile_analyze.readers.pytorch.work.operators import COLLECTIVE, described

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from profile_analyze.model.operators import Parameters, Scope
    from profile_analyze.readers.pytorch.work.operators import Described

    Indices: TypeAlias = NDArray[np.int64]

_INSTANCE: Final = re.compile(r"_\d+$")
_ADDRESS: Final = re.compile(r" at 0x[0-9a-fA-F]+")
"""The address of an object in the name of a function. Without it, equal calls share a row."""
_CODES: Final = 1 << 31
"""Larger than any index of a scope, name or fact: `a * _CODES + b` differs for each pair."""


_FLAGS: Final = ("False", "True")
_VARIANTS: Final = frozenset(
    (
        *("is_causal", "custom_mask_type", "mask_type", "window_size", "dropout_p"),
        *("window_size_left", "window_size_right", "train", "training", "mode", "algorithm"),
        *("kernel_size", "stride", "padding", "dilation", "output_padding", "groups"),
        *("dim", "dims", "ord", "reduction", "rounding_mode", "approximate", "attr"),
        *("interpolation_mode", "padding_mode", "memory_format", "dtype", "out_dtype"),
    )
)
"""Parameters with few values that decide how an operator works: which elements it reads, or which
algorithm it uses. Some versions of torch write flags as 0 or 1, so some flags are here, too."""


class Row(NamedTuple):
    """A row of the table of operators."""

    level: str
    name: str
    type: str
    scope: Scope | None = None
    described: Described | None = None
    device_facts: tuple[DeviceFacts, ...] = ()
    """The distinct facts of the executions of a kernel; empty for other rows."""
    launched_by: str | None = None
    """The name of the operator or driver call that launched a kernel; None if it is unknown."""
    amounts: Amounts = Amounts()
    """The mean numbers of bytes that an execution of a kernel moves."""
    is_earlier: bool = False
    """Whether a kernel was launched before the recording."""


class HostKind(NamedTuple):
    """The level, name and type of the row of a host event."""

    level: str
    name: str
    type: str
    is_scope: bool
    """Whether the name is part of the scopes of the events inside."""


def host_kind(facts: HostFacts) -> HostKind:
    """Return the level, name and type of a host event."""
    name = facts.name or "unnamed"
    if facts.kind == OPERATOR_EVENT or COLLECTIVE.match(name):
        return HostKind(OPERATOR, name, name, is_scope=False)
    if facts.kind == FUNCTION_EVENT:
        return HostKind(FRAME, _ADDRESS.sub("", name), "function", is_scope=False)
    if facts.kind == MODULE_EVENT:
        return HostKind(MODULE, name, _INSTANCE.sub("", name), is_scope=True)
    if step_number(name) is not None:
        return HostKind(MODULE, STEPS, STEPS, is_scope=False)
    return HostKind(MODULE, name, "region", is_scope=True)


class Named(NamedTuple):
    """The names of events."""

    names: list[str]
    code: Indices
    """The index in `names` of the name of each event, or -1, shape (events,)."""


class Assigned(NamedTuple):
    """The rows of all host events, all driver calls or all work."""

    row: Indices
    """The index in `rows` of each event, shape (events,)."""
    rows: list[Row]


def host_rows(
    facts: Sequence[HostFacts], fact: Indices, scope: Indices, scopes: Sequence[Scope]
) -> Assigned:
    """Return the rows of the host events.

    `fact` has indices in `facts`, and `scope` has indices in `scopes`. Both have shape (events,).
    """
    kinds = [host_kind(one) for one in facts]
    found = [
        described(one) if kind.level == OPERATOR else None
        for one, kind in zip(facts, kinds, strict=True)
    ]
    identities: dict[object, int] = {}
    identity = np.array(
        [
            identities.setdefault(_identity(kind, description), len(identities))
            for kind, description in zip(kinds, found, strict=True)
        ],
        np.int64,
    )
    row, first = numbered(identity[fact] * _CODES + scope)
    examples = zip(fact[first].tolist(), scope[first].tolist(), strict=True)
    rows = [
        Row(kinds[one].level, kinds[one].name, kinds[one].type, _scope(scopes, path), found[one])
        for one, path in examples
    ]
    return Assigned(row, rows)


def _identity(kind: HostKind, found: Described | None) -> tuple[object, ...]:
    """Return a key. Events share a row if their keys are equal and their scopes are equal."""
    if found is None:
        return (kind.level, kind.name)
    # NaN differs from itself, so numbers are compared as texts.
    work = (str(found.work.computation), str(found.work.memory))
    return (kind.level, kind.name, found.in_shapes, found.input_dtypes, *work, variant(found))


def variant(found: Described) -> Parameters:
    """Return the parameters that decide how an operator works: flags, and those in `_VARIANTS`.

    Other parameters, such as a learning rate or an index, may differ in each call.
    """
    return tuple(
        (name, value)
        for name, value in found.parameters or ()
        if name in _VARIANTS or value in _FLAGS
    )


def call_rows(
    calls: Named, is_inside: NDArray[np.bool_], scope: Indices, scopes: Sequence[Scope]
) -> Assigned:
    """Return the rows of the driver calls. `is_inside` is true for calls inside an operator.

    Calls outside all operators have the level of operators, and a scope. Other calls have no scope.
    """
    scope = np.where(is_inside, -1, scope)
    row, first = numbered((calls.code * 2 + is_inside) * _CODES + scope)
    rows = []
    for index in first.tolist():
        name = calls.names[calls.code[index]]
        level = RUNTIME if is_inside[index] else OPERATOR
        rows.append(Row(level, name, name, _scope(scopes, scope[index])))
    return Assigned(row, rows)


def work_rows(
    facts: Sequence[DeviceFacts],
    fact: Indices,
    launchers: Named,
    scope: Indices,
    scopes: Sequence[Scope],
    is_earlier: NDArray[np.bool_],
) -> Assigned:
    """Return the rows of the work on devices.

    Work with the same name has one row for each pair of a scope and a launcher. `fact` has indices
    in `facts`, shape (events,). `launchers` has the name of the launcher of each event, which is an
    operator or a driver call. Work in `is_earlier` was launched before the recording, and has rows
    of its own.
    """
    names: dict[tuple[str, str], int] = {}
    name = np.array(
        [names.setdefault((one.category, one.name), len(names)) for one in facts], np.int64
    )
    # Equal names get equal codes.
    by_name = {text: code for code, text in enumerate(launchers.names)}
    codes = np.array([*(by_name[text] for text in launchers.names), -1], np.int64)
    launcher = np.where(is_earlier, -2, codes[launchers.code])
    pair, _ = numbered(name[fact] * _CODES + launcher)
    row, first = numbered(pair * _CODES + scope)
    _, examples = numbered(row * _CODES + fact)
    facts_of: list[list[DeviceFacts]] = [[] for _ in first]
    for index in examples.tolist():
        facts_of[row[index]].append(facts[fact[index]])
    rows = []
    for number, index in enumerate(first.tolist()):
        one, by = facts[fact[index]], launcher[index]
        launched_by = launchers.names[by] if by >= 0 else None
        rows.append(
            Row(
                KERNEL, one.name, one.category, _scope(scopes, scope[index]),
                device_facts=tuple(facts_of[number]), launched_by=launched_by,
                is_earlier=bool(is_earlier[index]),
            )
        )  # fmt: skip
    return Assigned(row, rows)


def _scope(scopes: Sequence[Scope], index: int) -> Scope | None:
    return scopes[index] if index >= 0 else None

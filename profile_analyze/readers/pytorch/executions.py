"""Makes the executions, runs and tracks of a trace, and the rows of its table of operators.

The docstring of the package defines host events, driver calls and work. Executions are in this
order: host events, driver calls, work.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from profile_analyze.model.categorical import Categorical
from profile_analyze.model.executions import Executions
from profile_analyze.model.levels.ancestors import innermost_above
from profile_analyze.model.numbers import numbered
from profile_analyze.model.terms import OPERATOR
from profile_analyze.readers.pytorch.device_facts import mean_amounts
from profile_analyze.readers.pytorch.facts import REGION_EVENT
from profile_analyze.readers.pytorch.phases import (
    Autograd,
    at_or_above,
    backward_above,
    forward_of,
    phases_of,
)
from profile_analyze.readers.pytorch.rows import (
    Named,
    call_rows,
    host_kind,
    host_rows,
    work_rows,
)
from profile_analyze.readers.pytorch.scopes import scopes_of
from profile_analyze.readers.pytorch.steps import Work, steps_of
from profile_analyze.readers.pytorch.timeline import integers, timeline_of, waits
from profile_analyze.readers.pytorch.tracks import launches_kernel, processes_of, tracks_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from profile_analyze.model.executions import Run, Track
    from profile_analyze.model.operators import Scope
    from profile_analyze.readers.overlaps import Overlaps
    from profile_analyze.readers.pytorch.columns import Events
    from profile_analyze.readers.pytorch.rows import Row
    from profile_analyze.readers.pytorch.steps import Steps
    from profile_analyze.readers.pytorch.timeline import Clipped, Timeline

    Indices: TypeAlias = NDArray[np.int64]
    Flags: TypeAlias = NDArray[np.bool_]

_NS_PER_S = 1e9
_GRADIENT = "autograd::engine::evaluate_function: "
"""Names of nodes of the autograd graph start with this text."""
_OPTIMIZER = "Optimizer."
"""Names of the regions around the operators of an optimizer start with this text."""


class Recorded(NamedTuple):
    """The rows, executions, tracks and runs of a trace."""

    rows: list[Row]
    executions: Executions
    tracks: tuple[Track, ...]
    runs: tuple[Run, ...]
    outermost: Indices
    """The executions of operators outside of all operators, as indices."""
    outside: Indices
    """The executions of outermost operators outside all steps, as indices; empty without steps."""
    repetitions: int
    """The greatest common divisor of the numbers of calls of the outermost operators. It is 1 in a
    trace with steps."""
    clipped: Clipped
    overlaps: Overlaps
    lost_launches: tuple[int, int]
    """How many launches have no kernel in the file, and how many launches there are."""


class _Host(NamedTuple):
    """The scopes, phases, processes and steps of the host events. Columns have shape (events,)."""

    is_operator: Flags
    scope: Indices
    inner_scope: Indices
    """The scope of the events directly inside each event."""
    scopes: list[Scope]
    phase: Categorical[str]
    process: Indices
    """The number of the process of each event, as in `processes_of`."""
    steps: Steps


def recorded(events: Events, rank: int | None, *, is_of_cpu: bool) -> Recorded:
    """Return the rows, executions, tracks and runs of a trace.

    `rank` is None if it is unknown. If `is_of_cpu` is true, the CPU did all the work.
    """
    timeline = timeline_of(events)
    host = _host(events, timeline)
    launching = _launching_hosts(timeline)
    operator = np.append(at_or_above(timeline.parent, host.is_operator), -1)
    work = _work(timeline, host, processes_of(events), launching, operator[launching])
    unlinked = _launches_without_work(events, timeline)
    is_earlier = _is_earlier(work, timeline.calls.start_ns[unlinked])
    rows, row = _rows(events, timeline, host, launching, operator, is_earlier)
    of_hosts, of_calls, of_work = timeline.host, timeline.calls, timeline.work
    start_ns = np.concatenate([one.start_ns for one in (of_hosts, of_calls, of_work)])
    end_ns = np.concatenate([one.end_ns for one in (of_hosts, of_calls, of_work)])
    tracks, track = tracks_of(events, rank, is_of_cpu=is_of_cpu)
    executions = Executions.of(
        row,
        (end_ns - start_ns) / _NS_PER_S,
        run=_runs(timeline, host, processes_of(events), work),
        track=track,
        start_s=start_ns / _NS_PER_S,
        submitted_s=_submitted_s(timeline, len(start_ns)),
        parent=np.concatenate(
            [timeline.parent, timeline.call_parent, np.full(len(of_work.start_ns), -1)]
        ),
        launched_by=_launched_by(timeline),
        phase=_phases(host.phase, timeline, launching),
        **waits(events, timeline),
        **_allocated_bytes(events, timeline, len(start_ns)),
    )
    is_outermost = host.is_operator & (innermost_above(timeline.parent, host.is_operator) < 0)
    outermost = np.flatnonzero(is_outermost)
    outside = np.flatnonzero(is_outermost & host.steps.are_outside(of_hosts.start_ns, host.process))
    outermost_rows = row[: len(is_outermost)][is_outermost]
    repetitions = 1 if host.steps.numbers else _common_factor(outermost_rows)
    launches = _launches_with_known_work(events)
    lost = unlinked[launches[unlinked]]
    lost_at = _launch_times(timeline, processes_of(events), operator, lost)
    runs = host.steps.runs_with(work, *lost_at)
    counts = (len(lost), int(launches.sum()))
    wrong = (timeline.clipped, timeline.overlaps)
    return Recorded(rows, executions, tracks, runs, outermost, outside, repetitions, *wrong, counts)


def _launches_without_work(events: Events, timeline: Timeline) -> Indices:
    """Return the driver calls that launch kernels, but launched no kernel in the file."""
    has_work = np.zeros(len(events.calls) + 1, np.bool_)
    has_work[timeline.launching_call] = True
    return np.flatnonzero(launches_kernel(events) & ~has_work[:-1])


def _launches_with_known_work(events: Events) -> Flags:
    """Return which driver calls launch a kernel that names them if it is in the file."""
    if not (integers(events.work.correlation) > 0).any():
        return np.zeros(len(events.calls), np.bool_)  # no kernel says which call launched it
    return np.asarray(launches_kernel(events) & (integers(events.calls.correlation) > 0))


def _launch_times(
    timeline: Timeline, processes: Indices, operator: Indices, calls: Indices
) -> tuple[Indices, Indices]:
    """Return when each of the `calls` launched work, and its process, both as in `_work`."""
    outer, starts = operator[timeline.call_parent[calls]], np.append(timeline.host.start_ns, -1)
    return (
        np.where(outer >= 0, starts[outer], timeline.calls.start_ns[calls]),
        processes[timeline.calls.thread[calls]],
    )


def _common_factor(rows: Indices) -> int:
    """Return the greatest common divisor of the frequencies of all values; 1 if `rows` is empty."""
    counts = np.bincount(rows)
    return int(np.gcd.reduce(counts[counts > 0])) if len(rows) else 1


class _Names(NamedTuple):
    """The name of each host event, and flags from its facts. All columns have shape (events,)."""

    is_operator: Flags
    is_scope: Flags
    """Whether the event is a region or module whose name is part of scopes; false for steps."""
    is_optimizer: Flags
    is_gradient: Flags
    name: Indices
    """The index in `names`."""
    names: list[str]
    """Names of steps include their numbers: `ProfilerStep#3`, not `ProfilerStep*`."""


def _names(events: Events) -> _Names:
    facts = integers(events.host.facts)
    names: dict[str, int] = {}
    rows = []
    for one in events.host_facts:
        kind = host_kind(one)
        is_region = one.kind == REGION_EVENT
        name = one.name if is_region else kind.name
        flags = (
            kind.level == OPERATOR,
            kind.is_scope,
            is_region and name.startswith(_OPTIMIZER),
            name.startswith(_GRADIENT),
        )
        rows.append((*flags, names.setdefault(name, len(names))))
    columns = np.array(rows, np.int64).reshape(-1, 5)[facts].T
    is_operator, is_scope, is_optimizer, is_gradient = columns[:4].astype(np.bool_)
    return _Names(is_operator, is_scope, is_optimizer, is_gradient, columns[4], [*names])


def _host(events: Events, timeline: Timeline) -> _Host:
    """Return the scopes, phases, processes and steps of the host events."""
    found = _names(events)
    process = processes_of(events)[timeline.host.thread]
    autograd = Autograd(
        _sequence(integers(events.host.sequence), process),
        integers(events.host.forward_thread) > 0,
    )
    scope, inner_scope, scopes = scopes_of(timeline.parent, found.is_scope, found.name, found.names)
    if autograd.is_backward.any():  # backward operators get the scope of their forward operator
        forward = forward_of(autograd, timeline.host.start_ns)
        root = backward_above(timeline.parent, autograd)
        known = np.append(scope, -1)[np.append(forward, -1)[root]]
        scope, inner_scope = (np.where(known >= 0, known, one) for one in (scope, inner_scope))
    return _Host(
        found.is_operator,
        scope,
        inner_scope,
        scopes,
        phases_of(
            timeline.parent, autograd, found.is_gradient, found.is_optimizer, found.is_operator
        ),
        process,
        steps_of(timeline.host, process, found.name, found.names),
    )


def _sequence(sequence: Indices, process: Indices) -> Indices:
    """Return the sequence number of each host event, or -1. No two processes share a number.

    In the file, two processes can have equal numbers, because each process counts separately.
    """
    processes = int(process.max(initial=0)) + 1
    if processes == 1:
        return sequence
    small, _ = numbered(sequence)  # multiplying the numbers in the file might overflow
    return np.where(sequence >= 0, small * processes + process, -1)


def _launching_hosts(timeline: Timeline) -> Indices:
    """Return, for each piece of work, the host event that launched it, or -1."""
    call = timeline.launching_call
    return np.where(call >= 0, np.append(timeline.call_parent, -1)[call], timeline.launching_host)


def _rows(
    events: Events,
    timeline: Timeline,
    host: _Host,
    launching: Indices,
    operator: Indices,
    is_earlier: Flags,
) -> tuple[list[Row], Indices]:
    """Return all rows, and the row of each execution.

    `launching` has the host event that launched each piece of work, or -1. For each host event,
    `operator` has the event itself if it is an operator, else the innermost operator around it, or
    -1. An extra last entry is -1. `is_earlier` says which work was launched before the recording.
    """
    inner_scope = np.append(host.inner_scope, -1)
    facts = [*events.host_facts]
    of_hosts = host_rows(facts, integers(events.host.facts), host.scope, host.scopes)
    calls = Named([*events.call_names], integers(events.calls.facts))
    is_inside = operator[timeline.call_parent] >= 0
    of_calls = call_rows(calls, is_inside, inner_scope[timeline.call_parent], host.scopes)
    # The launcher is an operator, or a driver call outside all operators.
    outer = operator[launching]
    names = [host_kind(one).name for one in facts] + calls.names
    by_call = np.append(calls.code + len(facts), -1)[timeline.launching_call]
    by_host = np.append(integers(events.host.facts), -1)[outer]
    launchers = Named(names, np.where(outer >= 0, by_host, by_call))
    of_work = work_rows(
        [*events.device_facts],
        integers(events.work.facts),
        launchers,
        inner_scope[launching],
        host.scopes,
        is_earlier,
    )
    amounts = mean_amounts(events, of_work.row, len(of_work.rows))
    kernels = [row._replace(amounts=one) for row, one in zip(of_work.rows, amounts, strict=True)]
    rows = [*of_hosts.rows, *of_calls.rows, *kernels]
    first_call, first_work = len(of_hosts.rows), len(of_hosts.rows) + len(of_calls.rows)
    return rows, np.concatenate([of_hosts.row, of_calls.row + first_call, of_work.row + first_work])


def _work(
    timeline: Timeline, host: _Host, processes: Indices, launching: Indices, operator: Indices
) -> Work:
    """Return when and where work ran, and what launched it.

    The operator that launched the work decides, even if it started in an earlier run than the
    driver call. Outside all operators, the driver call decides. Without a driver call, the host
    event decides.

    `processes` has the number of the process of each thread. `launching` has the host event that
    launched each piece of work, or -1. `operator` has the innermost operator at or around this host
    event, or -1.
    """
    work, call = timeline.work, timeline.launching_call
    starts, process = (np.append(one, -1) for one in (timeline.host.start_ns, host.process))
    call_starts = np.append(timeline.calls.start_ns, -1)
    call_processes = np.append(processes[timeline.calls.thread], -1)
    known = [operator >= 0, call >= 0, launching >= 0]
    return Work(
        processes[work.thread],
        work.start_ns,
        work.end_ns,
        np.select(known, [starts[operator], call_starts[call], starts[launching]], work.start_ns),
        np.select(known, [process[operator], call_processes[call], process[launching]], -1),
    )


def _is_earlier(work: Work, unlinked_ns: Indices) -> Flags:
    """Return which work was probably launched before the recording, shape (events,).

    Its launch is not in the file, and it ended before all work of its device whose launch is. No
    launch before it lacks its kernel: such launches have the starts `unlinked_ns`.
    """
    is_launched = work.process >= 0
    device = work.device[is_launched]
    first_ns = np.full(int(work.device.max(initial=0)) + 1, np.iinfo(np.int64).max)
    np.minimum.at(first_ns, device, work.start_ns[is_launched])
    has_launches = np.bincount(device, minlength=len(first_ns)) > 0
    is_before = has_launches[work.device] & (work.end_ns <= first_ns[work.device])
    is_before &= work.start_ns < unlinked_ns.min(initial=np.iinfo(np.int64).max)
    return np.asarray(is_before & ~is_launched)


def _runs(timeline: Timeline, host: _Host, processes: Indices, work: Work) -> Indices:
    """Return the run of each execution. Work belongs to the run that launched it.

    If the launch is unknown, the start of the work decides. `processes` has the number of the
    process of each thread.
    """
    steps, calls = host.steps, timeline.calls
    return np.concatenate(
        [
            steps.runs_at(timeline.host.start_ns, host.process),
            steps.runs_at(calls.start_ns, processes[calls.thread]),
            # Work without a launch has no process: the `pid` of a stream in the file is a device.
            steps.runs_at(work.launched_ns, work.process),
        ]
    )


def _submitted_s(timeline: Timeline, size: int) -> NDArray[np.float64]:
    """Return, in seconds, the time at which the launching call of each execution ended.

    If the execution started earlier, the time is its start. The time is NaN for host events, for
    driver calls, and for work without such a call. `size` is the number of executions.
    """
    result = np.full(size, np.nan)
    call = timeline.launching_call
    ends_s = np.append(timeline.calls.end_ns / _NS_PER_S, np.nan)[call]
    # Work that starts before its launching call returns did not wait.
    result[size - len(call) :] = np.minimum(ends_s, timeline.work.start_ns / _NS_PER_S)
    return result


def _allocated_bytes(
    events: Events, timeline: Timeline, size: int
) -> dict[str, NDArray[np.float64]]:
    """Return the bytes that each host event allocated, less the bytes that it freed.

    There is one column for host memory, and one for device memory, shape (size,). A column without
    allocations is left out. Driver calls and work have NaN.
    """
    found = {}
    is_inside = timeline.allocating >= 0
    is_on_host = integers(events.allocations.device) < 0
    for name, is_on_side in (
        ("allocated_bytes", is_on_host),
        ("device_allocated_bytes", ~is_on_host),
    ):
        chosen = np.flatnonzero(is_inside & is_on_side)
        if len(chosen):
            sizes = np.array(events.allocations.size, np.float64)[chosen]
            found[name] = np.full(size, np.nan)
            found[name][: len(timeline.parent)] = np.bincount(
                timeline.allocating[chosen], sizes, minlength=len(timeline.parent)
            )
    return found


def _launched_by(timeline: Timeline) -> Indices:
    """Return, for each execution, the execution that launched it, or -1 if that is unknown.

    Host events and driver calls have -1, because nothing launches them.
    """
    hosts, calls = len(timeline.parent), len(timeline.call_parent)
    call = timeline.launching_call
    of_work = np.where(call >= 0, call + hosts, timeline.launching_host)
    return np.concatenate([np.full(hosts + calls, -1), of_work])


def _phases(phase: Categorical[str], timeline: Timeline, launching: Indices) -> Categorical[str]:
    """Return the phase of each execution.

    A driver call has the phase of the host event around it. Work has the phase of the host event
    that launched it. `launching` has the index of this event, or -1.
    """
    if not phase.categories:
        return Categorical.missing(
            len(timeline.parent) + len(timeline.call_parent) + len(launching)
        )
    codes = np.append(phase.codes, -1)
    return Categorical(
        np.concatenate([phase.codes, codes[timeline.call_parent], codes[launching]]),
        phase.categories,
    )

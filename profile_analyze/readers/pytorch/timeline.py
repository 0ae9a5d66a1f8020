"""Finds when the events of a trace ran, in whole nanoseconds, and how they are nested and linked.

The docstring of the package defines host events, driver calls and work.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import numpy as np

from profile_analyze.readers.pytorch.facts import FUNCTION_EVENT, REGION_EVENT
from profile_analyze.readers.pytorch.nesting import clipped, innermost, parents, rows_by_start

if TYPE_CHECKING:
    from array import array

    from numpy.typing import NDArray

    from profile_analyze.readers.pytorch.columns import Columns, Events

    Indices: TypeAlias = NDArray[np.int64]

_NS_PER_US: Final = 1000
_NS_PER_S: Final = 1e9
_WAIT: Final = "Synchronize"
"""Driver calls with this text in their names do nothing but wait for the device. Examples are
`cudaStreamSynchronize` and `hipDeviceSynchronize`."""


class Spans(NamedTuple):
    """When and where host events, driver calls or work ran. All columns have shape (events,)."""

    start_ns: Indices
    """Counted from the start of the first event of the trace."""
    end_ns: Indices
    thread: Indices
    """The index in `Events.threads`."""


class Timeline(NamedTuple):
    """When all events ran, which host events were around them, and what launched the work.

    The index of a host event is its position in the columns of `host`. The index of a driver call
    is its position in the columns of `calls`.
    """

    host: Spans
    calls: Spans
    work: Spans
    parent: Indices
    """The innermost host event around each host event, or -1."""
    call_parent: Indices
    """The innermost host event around each driver call, or -1."""
    launching_call: Indices
    """The driver call that launched each piece of work, or -1 if it is unknown."""
    launching_host: Indices
    """The host event that launched each piece of work without a known `launching_call`, or -1."""
    allocating: Indices
    """The innermost host event around each allocation, or -1."""


def timeline_of(events: Events) -> Timeline:
    """Return the times, nesting and launches of the events of a trace."""
    kinds = (events.host, events.calls, events.work)
    first_us = min((min(kind.start_us) for kind in kinds if len(kind)), default=0.0)
    host, calls, work = (_spans(kind, first_us) for kind in kinds)
    if any(one.kind == FUNCTION_EVENT for one in events.host_facts):
        host = _with_shorter_functions(events, host)
    parent = _parents(host)
    call = _launching_calls(events, calls, work)
    return Timeline(
        host,
        calls,
        work,
        parent,
        around(host, parent, calls.thread, calls.start_ns),
        call,
        np.where(call >= 0, -1, _launching_hosts(events, host, work)),
        around(host, parent, integers(events.allocations.thread), _allocated_ns(events, first_us)),
    )


def waits(events: Events, timeline: Timeline) -> dict[str, NDArray[np.float64]]:
    """Return the column `thread_wait_s` of executions; nothing for a trace without waits.

    Driver calls that only wait have their duration. All other executions have NaN: the file does
    not say, for example, how long a copy waited. Executions are in this order: host events, driver
    calls, work.
    """
    is_wait = np.array([_WAIT in name for name in events.call_names], np.bool_)
    is_wait = is_wait[integers(events.calls.facts)]
    if not is_wait.any():
        return {}
    durations_s = (timeline.calls.end_ns - timeline.calls.start_ns) / _NS_PER_S
    of_hosts, of_work = (
        np.full(len(one.start_ns), np.nan) for one in (timeline.host, timeline.work)
    )
    of_calls = np.where(is_wait, durations_s, np.nan)
    return {"thread_wait_s": np.concatenate([of_hosts, of_calls, of_work])}


def integers(values: array[int]) -> Indices:
    """Return `values` as an array of NumPy that shares their memory."""
    return np.frombuffer(values, np.int64) if len(values) else np.empty(0, np.int64)


def around(host: Spans, parent: Indices, thread: Indices, times: Indices) -> Indices:
    """Return, for each of `times`, the innermost host event that is open on its thread, or -1.

    `thread` has the thread of each time. `thread` and the result have shape (times,).
    """
    result = np.full(len(times), -1)
    by_thread = np.argsort(thread, kind="stable")
    threads = thread[by_thread]
    end_ns = clipped(host.end_ns, parent)
    for rows in rows_by_start(host.thread, host.start_ns, host.end_ns):
        one = host.thread[rows[0]]
        inside = by_thread[slice(*np.searchsorted(threads, [one, one + 1]).tolist())]
        result[inside] = innermost(rows, host.start_ns, end_ns, times[inside])
    return result


def _spans(columns: Columns, first_us: float) -> Spans:
    start_us, duration_us = (
        np.frombuffer(values, np.float64) if len(values) else np.empty(0)
        for values in (columns.start_us, columns.duration_us)
    )
    start_ns = np.rint((start_us - first_us) * _NS_PER_US).astype(np.int64)
    end_ns = start_ns + np.rint(duration_us * _NS_PER_US).astype(np.int64)
    return Spans(start_ns, end_ns, integers(columns.thread))


def _allocated_ns(events: Events, first_us: float) -> Indices:
    start_us = np.array(events.allocations.start_us, np.float64)
    return np.rint((start_us - first_us) * _NS_PER_US).astype(np.int64)


def _with_shorter_functions(events: Events, host: Spans) -> Spans:
    """Return the spans of host events. Shorten the functions of Python that overlap a region.

    The call of `__enter__` that starts a region returns inside the region: it is cut at the start
    of the region. The call of `__exit__` returns after the region: it is cut at the region's end.
    """
    kinds = [one.kind for one in events.host_facts]
    facts = integers(events.host.facts)
    functions, regions = (
        np.flatnonzero(np.array([one == kind for one in kinds])[facts])
        for kind in (FUNCTION_EVENT, REGION_EVENT)
    )
    ends = host.end_ns.copy()
    region = _around_each(host, regions, functions)
    is_inside = region >= 0
    ends[functions[is_inside]] = np.minimum(
        ends[functions[is_inside]], host.end_ns[region[is_inside]]
    )
    parent = np.full(len(ends), -1)
    parent[functions] = np.append(functions, -1)[_parents(_chosen(host, functions))]
    function = _around_each(host, functions, regions)
    while True:  # each pass looks at the functions around the functions of the last pass
        is_ended = (function >= 0) & (np.append(host.end_ns, 0)[function] < host.end_ns[regions])
        if not is_ended.any():
            return host._replace(end_ns=ends)
        regions, function = regions[is_ended], function[is_ended]
        np.minimum.at(ends, function, host.start_ns[regions])
        function = parent[function]


def _parents(spans: Spans) -> Indices:
    return parents(spans.thread, spans.start_ns, spans.end_ns)


def _chosen(spans: Spans, events: Indices) -> Spans:
    return Spans(*(column[events] for column in spans))


def _around_each(host: Spans, chosen: Indices, events: Indices) -> Indices:
    """Return, for each of `events`, the innermost of the `chosen` events around it, or -1."""
    spans = _chosen(host, chosen)
    found = around(spans, _parents(spans), host.thread[events], host.start_ns[events])
    return np.append(chosen, -1)[found]


def _launching_calls(events: Events, calls: Spans, work: Spans) -> Indices:
    """Return, for each piece of work, the driver call with the same correlation, or -1."""
    of_calls, of_work = integers(events.calls.correlation), integers(events.work.correlation)
    return _last_before(of_calls, of_work, calls.start_ns, work.start_ns)


def _launching_hosts(events: Events, host: Spans, work: Spans) -> Indices:
    """Return, for each piece of work, the host event with the same external id, or -1.

    In older traces, the external id of work may belong to an unrelated event. If this event starts
    after the work, return -1.
    """
    of_hosts, of_work = integers(events.host.external_id), integers(events.work.external_id)
    found = _last_before(of_hosts, of_work, host.start_ns, work.start_ns)
    is_earlier = (found >= 0) & (np.append(host.start_ns, 0)[found] <= work.start_ns)
    return np.where(is_earlier, found, -1)


def _last_before(values: Indices, wanted: Indices, starts: Indices, times: Indices) -> Indices:
    """Return, for each wanted number, the index of an equal number in `values`, or -1.

    `starts` has the start of each value, and `times` has the time of each wanted number. Each
    process counts from 1, so `values` may have several equal numbers. Of these, choose the last one
    that starts before or at the time. If all start later, choose the first. For a wanted number
    below 1, which stands for unknown, return -1.
    """
    order = np.argsort(values, kind="stable")  # far faster than sorting by two keys
    ascending = values[order]
    if ((ascending[1:] == ascending[:-1]) & (ascending[1:] > 0)).any():
        order = np.lexsort((starts, values))
    starts = starts[order]
    first = np.searchsorted(ascending, wanted)
    after = np.where(wanted > 0, np.searchsorted(ascending, wanted, side="right"), first)
    low, high = first, after
    while (high - low > 1).any():  # one binary search for all wanted numbers
        middle = (low + high) // 2
        is_before = starts[np.minimum(middle, len(starts) - 1)] <= times
        low, high = np.where(is_before, middle, low), np.where(is_before, high, middle)
    return np.where(after > first, np.append(order, -1)[low], -1)

"""Finds when the events of a trace ran, in whole nanoseconds, and how they are nested and linked.

The docstring of the package defines host events, driver calls and work.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import numpy as np

from profile_analyze.readers.overlaps import Overlaps, of_nested
from profile_analyze.readers.pytorch.facts import FUNCTION_EVENT, REGION_EVENT
from profile_analyze.readers.pytorch.nesting import clipped, innermost, parents, rows_by_start

if TYPE_CHECKING:
    from array import array

    from numpy.typing import NDArray

    from profile_analyze.readers.pytorch.columns import Columns, Events

    Indices: TypeAlias = NDArray[np.int64]

_NS_PER_US: Final = 1000
_NS_PER_S: Final = 1e9
_BLOCKS: Final = re.compile(r"Synchronize|^[a-z]+Memcpy(?!.*Async)")
"""The names of driver calls that wait for the device contain this pattern. Examples are
`cudaStreamSynchronize`, `hipMemcpyWithStream` and `cuMemcpyDtoH_v2`."""
_MAY_BLOCK: Final = re.compile(r"^[a-z]+Memcpy.*Async")
"""These calls wait for the device if they copy from or to pageable memory of the host."""
_IS_OF_PAGEABLE: Final = re.compile(
    r"Pageable|^(?!.*(?:Pinned|Managed)).*(?:Memcpy (?:Hto|.toH)|HostTo|ToHost)"
)
"""The names of copies on the device that may block. Old traces do not say the kind of memory, such
as `Memcpy HtoD (Host -> Device)` or `CopyDeviceToHost`."""
_ROUNDING_NS: Final = 1000
"""Because times are rounded, work may seem to overlap by up to this time."""
_MOST_OVERLAP_NS: Final = 30_000
_MOST_OVERLAP: Final = 0.1
"""Work of one stream may overlap by this share of the shorter piece, such as a kernel that starts
while the kernel before it ends (programmatic dependent launch)."""


class Spans(NamedTuple):
    """When and where host events, driver calls or work ran. All columns have shape (events,)."""

    start_ns: Indices
    """Counted from the start of the first event of the trace."""
    end_ns: Indices
    thread: Indices
    """The index in `Events.threads`."""


class Clipped(NamedTuple):
    """The work that seems to run longer than the stream allows."""

    kernels: int
    excess_s: float
    """The time that was removed from the durations."""


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
    clipped: Clipped
    overlaps: Overlaps
    """The host events and driver calls that end after the host event around them."""


def timeline_of(events: Events) -> Timeline:
    """Return the times, nesting and launches of the events of a trace."""
    kinds = (events.host, events.calls, events.work)
    first_us = min((min(kind.start_us) for kind in kinds if len(kind)), default=0.0)
    host, calls, work = (_spans(kind, first_us) for kind in kinds)
    work, clipped_work = _without_overlaps(work, integers(events.work.correlation))
    if any(one.kind == FUNCTION_EVENT for one in events.host_facts):
        host = _with_shorter_functions(events, host)
    parent = _parents(host)
    call_parent = around(host, parent, calls.thread, calls.start_ns)
    call = _launching_calls(events, calls, work)
    return Timeline(
        host,
        calls,
        work,
        parent,
        call_parent,
        call,
        np.where(call >= 0, -1, _launching_hosts(events, host, work)),
        around(host, parent, integers(events.allocations.thread), _allocated_ns(events, first_us)),
        clipped_work,
        _overlaps(host, parent, calls, call_parent),
    )


def _overlaps(host: Spans, parent: Indices, calls: Spans, call_parent: Indices) -> Overlaps:
    end = np.append(host.end_ns, calls.end_ns)
    excess = of_nested(end, np.append(parent, call_parent))
    excess = excess[excess > _ROUNDING_NS]
    return Overlaps(len(excess), int(excess.sum()) / _NS_PER_S)


def waits(events: Events, timeline: Timeline) -> dict[str, NDArray[np.float64]]:
    """Return the column `thread_wait_s` of executions; nothing for a trace without driver calls.

    A driver call that blocks waits from its start to its end. All other driver calls and host
    events have 0, and work has NaN. Executions are in this order: host events, driver calls, work.
    """
    if not len(events.calls):
        return {}
    durations_s = (timeline.calls.end_ns - timeline.calls.start_ns) / _NS_PER_S
    of_calls = np.where(_blocks(events, timeline), durations_s, 0.0)
    of_hosts = np.zeros(len(timeline.host.start_ns))
    of_work = np.full(len(timeline.work.start_ns), np.nan)
    return {"thread_wait_s": np.concatenate([of_hosts, of_calls, of_work])}


def _blocks(events: Events, timeline: Timeline) -> NDArray[np.bool_]:
    """Return which driver calls block until a device has done some work, shape (calls,).

    An asynchronous copy of pageable memory blocks if its call ends when the copy has ended, or
    later. Calls of other copies may end as late, but without a wait: a device without other work
    copies a little memory within the call.
    """
    facts = integers(events.calls.facts)
    blocks, may_block = (
        np.array([pattern.search(name) is not None for name in events.call_names], np.bool_)[facts]
        for pattern in (_BLOCKS, _MAY_BLOCK)
    )
    call, ends_ns = timeline.launching_call, timeline.calls.end_ns
    names = [one.name for one in events.device_facts]
    is_of_pageable = np.array([bool(_IS_OF_PAGEABLE.search(one)) for one in names], np.bool_)
    known = (call >= 0) & is_of_pageable[integers(events.work.facts)]
    last_ns = np.full(len(ends_ns), -1)
    np.maximum.at(last_ns, call[known], timeline.work.end_ns[known])
    return blocks | (may_block & (last_ns >= 0) & (ends_ns >= last_ns))


def _without_overlaps(work: Spans, correlation: Indices) -> tuple[Spans, Clipped]:
    """End each piece of work at the start of the next launch of its stream if they overlap by much.

    One stream runs one launch after another, so such an end is wrong. The kernels of one graph have
    the same correlation, and may run at the same time.
    """
    rows = _by_stream(work)
    if len(rows) < 2:
        return work, Clipped(0, 0.0)
    starts, ends = work.start_ns[rows], work.end_ns[rows]
    stream, launch = work.thread[rows], correlation[rows]
    # `last` has the last piece of each launch, and `following` the first piece after the launch.
    is_last = (stream[1:] != stream[:-1]) | (launch[1:] != launch[:-1]) | (launch[1:] <= 0)
    last = np.append(np.flatnonzero(is_last), len(rows) - 1)
    following = np.repeat(last + 1, np.diff(last, prepend=-1)) % len(rows)
    overlap = np.minimum(ends, ends[following]) - starts[following]
    shorter = np.minimum(ends - starts, (ends - starts)[following])
    is_wrong = (stream == stream[following]) & (following > np.arange(len(rows)))
    is_wrong &= overlap > _ROUNDING_NS
    is_wrong &= (overlap > _MOST_OVERLAP_NS) | (overlap > _MOST_OVERLAP * shorter)
    clipped_ends = work.end_ns.copy()
    clipped_ends[rows[is_wrong]] = starts[following[is_wrong]]
    excess_s = int((work.end_ns - clipped_ends).sum()) / _NS_PER_S
    return work._replace(end_ns=clipped_ends), Clipped(int(is_wrong.sum()), excess_s)


def _by_stream(work: Spans) -> Indices:
    """Return the pieces of work that took time, sorted by stream, then start, then end."""
    rows = np.flatnonzero(work.end_ns > work.start_ns)
    # NumPy sorts 16-bit numbers several times as fast as 64-bit numbers.
    stream = work.thread[rows]
    small = stream.astype(np.int16) if stream.max(initial=0) < 1 << 15 else stream
    rows = rows[np.argsort(small, kind="stable")]
    stream, starts, ends = work.thread[rows], work.start_ns[rows], work.end_ns[rows]
    is_later = (starts[1:] > starts[:-1]) | ((starts[1:] == starts[:-1]) & (ends[1:] >= ends[:-1]))
    if (is_later | (stream[1:] != stream[:-1])).all():
        return rows
    return rows[np.lexsort((ends, starts, stream))]


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

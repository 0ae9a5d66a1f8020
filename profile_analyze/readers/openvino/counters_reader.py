"""The reader of reports of performance counters."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Final

import numpy as np

from profile_analyze.errors import MalformedProfileError
from profile_analyze.gc_pause import gc_paused
from profile_analyze.model.categorical import Categorical
from profile_analyze.model.executions import Executions, Run, Track
from profile_analyze.model.findings import Finding, Kind
from profile_analyze.model.operators import Operators
from profile_analyze.model.origin import Origin
from profile_analyze.model.profile import Profile
from profile_analyze.model.terms import GPU, HOST, MEAN, UNIQUE_NAME
from profile_analyze.readers.keys import distinct_keys
from profile_analyze.readers.openvino.counters import read_report
from profile_analyze.readers.openvino.notes import reduced_precision
from profile_analyze.readers.openvino.terms import device_track, dtype_of_primitive
from profile_analyze.readers.openvino.work import category_of
from profile_analyze.units import MS_PER_S, counted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from profile_analyze.model.notes import Note
    from profile_analyze.readers.input.source import Source
    from profile_analyze.readers.openvino.counters import Counter, Report

FORMAT: Final = "OpenVINO counters"
_HOST_TRACK: Final = Track("host", HOST, kind="thread")
_ROUNDING_MS: Final = 0.0005
"""Times have three decimals of a millisecond, so each may be wrong by this much."""
_ROUNDING_OF_SORTED_TOTAL_MS: Final = 0.005
"""The total of a sorted report in CSV has two decimals."""


def read(source: Source, wanted: Collection[str]) -> Profile:  # noqa: ARG001  # all columns cost little
    """Return the profile in `source`. See `Reader.read`."""
    with gc_paused():
        report = read_report(source)
        _check(source.name, report)
        # All requests of a stream have the same counters, so sections with equal counters belong
        # to one stream. Each stream is one run.
        streams = [*dict.fromkeys(tuple(section.counters) for section in report.sections)]
        operators: dict[tuple[Counter, int], int] = {}
        rows = [
            (row, run, counter)
            for run, stream in enumerate(streams)
            for row, counter in _rows_of(stream, operators)
        ]
        counters = [counter for counter, _ in operators]
        device = device_track(one.primitive for one in counters)
        is_gpu = device.device_kind == GPU
        return Profile(
            file=source.name,
            origin=Origin(FORMAT, times=MEAN),
            operators=_table(counters),
            executions=_executions(rows, has_host=is_gpu),
            tracks=(device, _HOST_TRACK) if is_gpu else (device,),
            runs=tuple(Run(0, step) for step in range(1, len(streams) + 1)),
            processes=(source.name,),
            notes=tuple(_notes(report, rows)),
        )


def _check(file: str, report: Report) -> None:
    """Raise `MalformedProfileError` if there is nothing to analyse, and say why."""
    if any(counter.ran for section in report.sections for counter in section.counters):
        return
    if report.is_cut_by_tool:
        raise MalformedProfileError(
            file,
            "has one layer, which did not run: benchmark_app writes only the first layer of "
            "average counters as JSON; use detailed_counters, or CSV (without -json_stats)",
        )
    count = sum(len(section.counters) for section in report.sections)
    layers = f"{counted(count, 'layer')}, but none that ran" if count else "no layers"
    raise MalformedProfileError(file, f"has {layers}; record again with -pc")


def _rows_of(
    stream: Iterable[Counter], operators: dict[tuple[Counter, int], int]
) -> Iterator[tuple[int, Counter]]:
    """Yield the row and the counter of each layer that ran. New layers are added to `operators`.

    Layers that differ only in their times are told apart by their order.
    """
    seen: dict[Counter, int] = {}
    for counter in stream:
        if counter.ran:
            identity = counter._replace(real_ms=0.0, cpu_ms=0.0)
            number = seen[identity] = seen.get(identity, -1) + 1
            yield operators.setdefault((identity, number), len(operators)), counter


def _table(counters: Sequence[Counter]) -> Operators:
    return Operators.of(
        key=np.arange(len(counters)),
        name=Categorical.of([one.name for one in counters]),
        type=Categorical.of([one.type or None for one in counters]),
        category=Categorical.of([category_of(one.type) for one in counters]),
        optional={
            UNIQUE_NAME: Categorical.of(distinct_keys(one.name for one in counters)),
            "compute_dtype": Categorical.of(
                [dtype_of_primitive(one.primitive) for one in counters]
            ),
            "parameters": Categorical.of(
                [(("primitive", one.primitive),) if one.primitive else () for one in counters]
            ),
        },
    )


def _executions(rows: Sequence[tuple[int, int, Counter]], *, has_host: bool) -> Executions:
    """Return the executions on the device and, if `has_host` is set, on the host."""
    found = [(row, run, 0, one.real_ms) for row, run, one in rows]
    if has_host:
        found += [(row, run, 1, one.cpu_ms) for row, run, one in rows]
    operator, run, track, milliseconds = zip(*found, strict=True)
    return Executions.of(
        operator, np.array(milliseconds, np.float64) / MS_PER_S, run=run, track=track
    )


def _notes(report: Report, rows: Sequence[tuple[int, int, Counter]]) -> Iterator[Note]:
    if lines := report.broken_lines:
        yield Finding.of(
            "unread-lines", Kind.WRONG, lines=len(lines), first=lines[0], lacking="layer"
        )
    yield from _notes_on_totals(report)
    counters = [counter for _, _, counter in rows]
    dtypes = [dtype_of_primitive(one.primitive) for one in counters]
    yield from reduced_precision(dtypes, [one.real_ms for one in counters], stored=None)
    yield Finding.of("counters-without-shapes", Kind.INCOMPLETE, dropped_beside="model")
    if report.is_sorted:
        yield Finding.of("unknown-order", Kind.INCOMPLETE)


def _notes_on_totals(report: Report) -> Iterator[Note]:
    """Yield notes if the file shows that layers are missing or were changed."""
    if report.is_cut_by_tool:
        yield Finding.of("one-layer-of-average-counters", Kind.DAMAGED)
    rounding_of_total_ms = _ROUNDING_OF_SORTED_TOTAL_MS if report.is_sorted else _ROUNDING_MS
    for section in report.sections:
        found_ms = sum(counter.real_ms for counter in section.counters)
        rounding_ms = _ROUNDING_MS * len(section.counters) + rounding_of_total_ms
        if section.total_ms is None:
            if not report.is_json:
                yield Finding.of("cut-counters", Kind.DAMAGED)
        elif inf > abs(found_ms - section.total_ms) > rounding_ms:
            yield Finding.of(
                *("other-total", Kind.DAMAGED),
                found_s=found_ms / 1e3,
                stated_s=section.total_ms / 1e3,
            )

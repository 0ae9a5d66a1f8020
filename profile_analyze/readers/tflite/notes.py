"""Findings on a benchmark: what was left out, and what the numbers include."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Final

import numpy as np

from profile_analyze.model.findings import Finding, Kind, on_operators
from profile_analyze.readers.counted_times import share_of_total
from profile_analyze.readers.tflite.log import MAIN
from profile_analyze.readers.tflite.rows import closed_delegates
from profile_analyze.units import MS_PER_S

if TYPE_CHECKING:
    from collections.abc import Iterator

    from profile_analyze.readers.tflite.log import Log, Section
    from profile_analyze.readers.tflite.rows import Row, Rows

_SLOW_START: Final = 1.2
"""If the first run takes more than this many times the mean, there is a finding."""


def notes_on(log: Log, section: Section, found: Rows) -> Iterator[Finding]:
    """Yield the findings on the profile of a section."""
    yield from _on_file(log, section)
    if found.left_out:
        yield Finding.of("unowned-nodes", Kind.INCOMPLETE, nodes=found.left_out)
    yield from _on_rows(found.rows)


def _on_file(log: Log, section: Section) -> Iterator[Finding]:
    if not log.is_complete:
        yield Finding.of("cut-table", Kind.DAMAGED)
    for name, part in section.parts.items():
        executed, found = part.executed or 0, len(part.nodes)
        if executed > found > 0:
            yield Finding.of(
                "missing-nodes", Kind.DAMAGED, part=name or None, nodes=found, executed=executed
            )
    if lines := log.unread:
        yield Finding.of(
            "unread-lines", Kind.INCOMPLETE, lines=len(lines), first=lines[0], lacking="node"
        )
    others = [one for one in log.sections if one is not section]
    if benchmarks := sum(not one.is_initialisation for one in others):
        yield Finding.of("other-benchmarks", Kind.INCOMPLETE, benchmarks=benchmarks)
    nodes = [node for one in others if one.is_initialisation for node in one.part(MAIN).nodes]
    if nodes:
        time_s = sum(node.mean_ms * node.calls for node in nodes) / MS_PER_S
        yield Finding.of("initialisation", Kind.CONTEXT, time_s=time_s, nodes=len(nodes))


def _on_rows(rows: list[Row]) -> Iterator[Finding]:
    time_s = np.array([row.duration_s for row in rows], np.float64)
    is_outer = np.array([row.parent < 0 for row in rows], np.bool_)
    total_s = float(np.nansum(time_s[is_outer]))
    is_closed = np.array(closed_delegates(rows), np.bool_)
    for code, is_affected in (("closed-delegates", is_closed), ("unknown-times", np.isnan(time_s))):
        share = share_of_total(float(np.nansum(time_s[is_affected])), total_s)
        yield from on_operators(code, Kind.INCOMPLETE, int(is_affected.sum()), share)
    yield from _on_first_run(rows)
    yield from on_operators(
        *("no-shapes", Kind.CONTEXT, len(rows), share_of_total(total_s, total_s)),
        dropped_beside="model",  # an ONNX model may have the shapes
        file_format="TensorFlow Lite benchmark",
    )


def _on_first_run(rows: list[Row]) -> Iterator[Finding]:
    """Yield a finding if the first run was slow. Only nodes with one call in each run count."""
    once = [row for row in rows if row.parent < 0 and row.calls == 1 and row.first_s == row.first_s]
    first_s = sum(row.first_s for row in once)
    mean_s = sum(row.duration_s for row in once)
    if mean_s > 0 and inf > first_s / mean_s > _SLOW_START:
        yield Finding.of("slow-first-run", Kind.CONTEXT, factor=first_s / mean_s)

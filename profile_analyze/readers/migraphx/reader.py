"""The reader of MIGraphX reports."""

from __future__ import annotations

from math import isnan, nan
from typing import TYPE_CHECKING, Final

from profile_analyze.errors import MalformedProfileError
from profile_analyze.model.executions import Executions, Run, Track
from profile_analyze.model.origin import Origin
from profile_analyze.model.profile import Profile
from profile_analyze.model.terms import CPU, GPU, MEAN
from profile_analyze.readers.migraphx.lines import read_text
from profile_analyze.readers.migraphx.notes import notes_on_file, notes_on_rows
from profile_analyze.readers.migraphx.operators import operators_of
from profile_analyze.readers.migraphx.rows import rows_of
from profile_analyze.readers.migraphx.totals import recorded_facts
from profile_analyze.units import MS_PER_S, counted

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from profile_analyze.model.terms import DeviceKind
    from profile_analyze.readers.input.source import Source
    from profile_analyze.readers.migraphx.lines import Text
    from profile_analyze.readers.migraphx.rows import Row

FORMAT: Final = "MIGraphX report"
_GPU: Final = ("gpu::", "hip::")
_CPU: Final = ("cpu::", "dnnl::", "ref::")


def read(source: Source, wanted: Collection[str]) -> Profile:  # noqa: ARG001  # all columns cost little
    """Return the profile in `source`. See `Reader.read`."""
    text = read_text(source.content().decode("utf-8", "replace"))
    if not text.reports:
        raise MalformedProfileError(source.name, _nothing_to_analyse(text))
    report = text.reports[-1]
    found = rows_of(report)
    parents = _parents(found.rows)
    device = _device(found.rows)
    nested = [row for row, parent in zip(found.rows, parents, strict=True) if parent >= 0]
    total_ms = report.totals.get("total", nan)
    return Profile(
        file=source.name,
        origin=Origin(
            FORMAT,
            text.version,
            MEAN,
            synchronised=True,
            recorded=tuple(recorded_facts(report.totals)),
        ),
        operators=operators_of(found.rows),
        executions=_executions(found.rows, parents),
        tracks=(Track("instructions", device=device, kind="sequence", device_kind=device),),
        runs=(Run(wall_s=total_ms / MS_PER_S if total_ms > 0 else nan),),
        processes=(source.name,),
        notes=(*notes_on_file(text.reports, found), *notes_on_rows(found, nested)),
    )


def _nothing_to_analyse(text: Text) -> str:
    if text.untimed:
        return (
            f"lists {counted(text.untimed, 'instruction')} without times; record with "
            "migraphx-driver perf, or copy the whole report if this one was cut"
        )
    return (
        "has no line of an instruction, no summary and no Total instructions time; keep the whole "
        "output of migraphx-driver perf"
    )


def _device(rows: Sequence[Row]) -> DeviceKind | None:
    """Return the kind of device; None if no operator has a prefix that names it."""
    for kind, prefixes in ((GPU, _GPU), (CPU, _CPU)):
        if any((row.type or "").startswith(prefixes) for row in rows):
            return kind  # type: ignore[return-value]  # one of the two constants
    return None


def _executions(rows: Sequence[Row], parents: Sequence[int]) -> Executions:
    """Return an execution for each row that has a time. `parents` has the parent of each row."""
    ran = [index for index, row in enumerate(rows) if not isnan(row.time_s)]
    execution_of = {index: execution for execution, index in enumerate(ran)}
    return Executions.of(
        ran,
        [rows[index].time_s for index in ran],
        calls=[rows[index].calls or 1 for index in ran],
        parent=[execution_of.get(parents[index], -1) for index in ran],
    )


def _parents(rows: Sequence[Row]) -> list[int]:
    """Return, for each row, the index of the row that runs its module; -1 if no row does.

    In the file, the line that runs a module precedes the lines of the module.
    """
    runs_module: dict[str, int] = {}
    parents = []
    for index, row in enumerate(rows):
        parents.append(runs_module.get(row.module, -1))
        for module in row.modules:
            runs_module.setdefault(module.strip(), index)
    return parents

"""The reader of ONNX Runtime profiles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from profile_analyze.errors import MalformedProfileError
from profile_analyze.gc_pause import gc_paused
from profile_analyze.model.executions import Run
from profile_analyze.model.origin import Origin
from profile_analyze.model.profile import Profile
from profile_analyze.readers.onnxruntime.decoding import read_events
from profile_analyze.readers.onnxruntime.executions import recorded
from profile_analyze.readers.onnxruntime.notes import notes_on_file, notes_on_operators, renaming
from profile_analyze.readers.onnxruntime.operators import operators_of
from profile_analyze.readers.onnxruntime.timeline import order_by_start
from profile_analyze.units import US_PER_S, counted

if TYPE_CHECKING:
    from collections.abc import Collection

    from profile_analyze.readers.input.source import Source
    from profile_analyze.readers.onnxruntime.events import Events

FORMAT: Final = "ONNX Runtime profile"


def read(source: Source, wanted: Collection[str]) -> Profile:  # noqa: ARG001  # all columns cost little
    """Return the profile in `source`. See `Reader.read`."""
    with gc_paused():
        events = read_events(source)
        _check(source.name, events)
        order_by_start(events.runs)
        found = recorded(events)
        if not found.operators:
            raise MalformedProfileError(
                source.name, f"has no node inside its {counted(len(events.runs.start_us), 'run')}"
            )
        walls_s = [duration_us / US_PER_S for duration_us in events.runs.duration_us]
        return Profile(
            file=source.name,
            origin=Origin(FORMAT, renaming=renaming(found)),
            operators=operators_of(found.operators),
            executions=found.executions,
            tracks=found.tracks,
            runs=tuple(Run(0, step, wall_s=wall_s) for step, wall_s in enumerate(walls_s, 1)),
            processes=(source.name,),
            notes=(*notes_on_file(events, found), *notes_on_operators(found)),
        )


def _check(file: str, events: Events) -> None:
    """Raise `MalformedProfileError` if there is nothing to analyse, and say why."""
    if events.runs.start_us:
        return
    if not events.has_end:
        reason = (
            "truncated: the file ends in the middle, and no complete run (event model_run) can be "
            "read; copy it again, or end the session's profiling before the program ends"
        )
    elif events.nodes.start_us:
        nodes = counted(len(events.nodes.start_us), "execution")
        reason = (
            f"has {nodes} of nodes, but no run (event model_run); call end_profiling() of the "
            "session after run() returns"
        )
    else:
        reason = "has no run (event model_run); call run() of the session before end_profiling()"
    raise MalformedProfileError(file, reason)

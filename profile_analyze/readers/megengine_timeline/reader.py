"""The reader of the Chrome timelines of MegEngine's imperative profiler."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from profile_analyze.errors import MalformedProfileError
from profile_analyze.gc_pause import gc_paused
from profile_analyze.model.origin import Origin
from profile_analyze.model.profile import Profile
from profile_analyze.readers.json_errors import TOO_DEEP
from profile_analyze.readers.megengine_timeline.decoding import Timeline
from profile_analyze.readers.megengine_timeline.executions import recorded
from profile_analyze.readers.megengine_timeline.incomplete import leave_out_incomplete
from profile_analyze.readers.megengine_timeline.notes import notes_on
from profile_analyze.readers.megengine_timeline.operators import operators_of
from profile_analyze.readers.megengine_timeline.recording import Recording, TooDeepError

if TYPE_CHECKING:
    from collections.abc import Collection

    from profile_analyze.readers.input.source import Source

FORMAT: Final = "MegEngine timeline"


def read(source: Source, wanted: Collection[str]) -> Profile:  # noqa: ARG001  # all columns cost little
    """Return the profile in `source`. See `Reader.read`."""
    with gc_paused():
        timeline, recording = Timeline(source), Recording()
        try:
            for events in timeline.parts():
                recording.add(events)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            reason = f"has arguments that cannot be read: {error}; profile again"
            raise MalformedProfileError(source.name, reason) from None
        except TooDeepError:
            raise MalformedProfileError(source.name, TOO_DEEP) from None
        if not any(facts >= 0 for facts in recording.spans.facts):
            raise MalformedProfileError(
                source.name, _nothing(recording, is_cut=not timeline.is_complete)
            )
        incomplete = leave_out_incomplete(recording, is_cut=not timeline.is_complete)
        found = recorded(recording)
        operators = operators_of(found.rows, [*recording.facts])
        several = len(found.pids) > 1
        return Profile(
            file=source.name,
            origin=Origin(FORMAT),
            operators=operators,
            executions=found.executions,
            tracks=found.tracks,
            runs=found.runs,
            processes=tuple(
                f"{source.name}, process {pid}" if several else source.name for pid in found.pids
            ),
            notes=tuple(notes_on(timeline, recording, found, operators, incomplete)),
        )


def _nothing(recording: Recording, *, is_cut: bool) -> str:
    """Return why there is nothing to analyse. `is_cut` says whether the file is truncated."""
    if is_cut:
        return "truncated: the file ends before the first whole operator; copy it again"
    what = "no operator" if recording.spans.name or recording.thread_names else "no event"
    return (
        f"has {what}: replays of trace() leave no events; profile traced code with GraphProfiler, "
        "or run it without trace()"
    )

"""The reader of layer times: what `trtexec --exportProfile` writes."""

from __future__ import annotations

from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import msgspec
import numpy as np

from profile_analyze.errors import InputError, MalformedProfileError
from profile_analyze.model.categorical import Categorical
from profile_analyze.model.executions import Executions, Run, Track
from profile_analyze.model.notes import Importance, Note
from profile_analyze.model.operators import Operators
from profile_analyze.model.profile import Origin, Profile
from profile_analyze.model.terms import GPU, MEAN
from profile_analyze.model.with_model import with_model
from profile_analyze.readers.companions import companions_of
from profile_analyze.readers.tensorrt import engine
from profile_analyze.readers.tensorrt.decoding import converted, decoded

if TYPE_CHECKING:
    from collections.abc import Collection

    from profile_analyze.readers.source import Source

FORMAT: Final = "TensorRT profile"

_MS_PER_S: Final = 1e3
_DESCRIPTION: Final = "trtexec --exportLayerInfo=graph.json --profilingVerbosity=detailed"


class _Entry(msgspec.Struct, gc=False):
    """The first entry has the count, each other one a layer. Times are in milliseconds."""

    count: Annotated[int, msgspec.Meta(ge=0)] | None = None
    name: str | None = None
    total_ms: Annotated[float, msgspec.Meta(ge=0)] | None = msgspec.field(
        default=None, name="timeMs"
    )
    mean_ms: Annotated[float, msgspec.Meta(ge=0)] | None = msgspec.field(
        default=None, name="averageMs"
    )
    median_ms: Annotated[float, msgspec.Meta(ge=0)] | None = msgspec.field(
        default=None, name="medianMs"
    )


def read(source: Source, wanted: Collection[str]) -> Profile:
    """Return the profile in `source`, with the description of the engine beside it."""
    entries = converted(decoded(source), list[_Entry], source.name)
    layers = [entry for entry in entries if entry.name is not None]
    count = next((entry.count for entry in entries if entry.count is not None), None)
    if not layers or count == 0:
        what = "no layer" if not layers else "layers, but no inference (count 0)"
        raise MalformedProfileError(
            source.name,
            f"has {what}; run trtexec again with --separateProfileRun and at least one inference "
            "(--iterations=10)",
        )
    profile = Profile(
        file=source.name,
        origin=Origin(FORMAT, times=MEAN, averaged_over=count),
        operators=Operators.of(
            key=np.arange(len(layers)),
            name=Categorical.of([entry.name for entry in layers]),
        ),
        executions=Executions.of(
            range(len(layers)),
            [_mean_ms(entry, count) / _MS_PER_S for entry in layers],
            median_s=[
                nan if entry.median_ms is None else entry.median_ms / _MS_PER_S for entry in layers
            ],
        ),
        tracks=(Track("engine", device_kind=GPU),),
        runs=(Run(),),
        processes=(source.name,),
    )
    return _with_description(profile, source, wanted)


def _mean_ms(entry: _Entry, count: int | None) -> float:
    if entry.mean_ms is not None:
        return entry.mean_ms
    return nan if entry.total_ms is None or not count else entry.total_ms / count


def _with_description(profile: Profile, source: Source, wanted: Collection[str]) -> Profile:
    """Return the profile with what the description beside it says, and a note about that."""
    beside = _description_beside(source)
    if beside is None:
        return _with_note_on_lack(
            profile, f": pass --model graph.json, which {_DESCRIPTION} writes"
        )
    try:
        with beside:
            model = engine.read(beside, wanted)
    except InputError as error:
        return _with_note_on_lack(profile, f", because the description cannot be read: {error}")
    return with_model(profile, model, f"types, shapes and work are from {model.file}")


def _description_beside(source: Source) -> Source | None:
    """Return the description beside the profile; None if there is none."""
    names = companions_of(Path(source.name).name)
    return next((beside for name in names if (beside := source.neighbour(name))), None)


def _with_note_on_lack(profile: Profile, why: str) -> Profile:
    text = f"no types, shapes or work{why}"
    return profile.changed(notes=(Note(text, Importance.INCOMPLETE, is_without_model=True),))

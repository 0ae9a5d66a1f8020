"""The reader of layer times, which `trtexec --exportProfile` writes."""

from __future__ import annotations

from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import msgspec
import numpy as np

from profile_analyze.errors import InputError, MalformedProfileError
from profile_analyze.model.categorical import Categorical
from profile_analyze.model.executions import Executions, Run, Track
from profile_analyze.model.findings import Finding, Kind, on_operators
from profile_analyze.model.graph.with_model import with_model
from profile_analyze.model.numbers import ratio, total
from profile_analyze.model.operators import Operators, graphs_column
from profile_analyze.model.origin import Origin
from profile_analyze.model.profile import Profile
from profile_analyze.model.terms import GPU, MEAN, UNIQUE_NAME
from profile_analyze.readers.input.companions import (
    descriptions_of,
    inference_times_of,
    metadata_of,
)
from profile_analyze.readers.keys import distinct_keys
from profile_analyze.readers.tensorrt import engine
from profile_analyze.readers.tensorrt.decoding import converted, decoded
from profile_analyze.readers.tensorrt.inferences import (
    mean_compute_s,
    read_inferences,
    recorded_facts,
)
from profile_analyze.readers.tensorrt.layers import scope_of
from profile_analyze.readers.tensorrt.metadata import Metadata, read_metadata
from profile_analyze.units import MS_PER_S

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from typing import TypeAlias

    from profile_analyze.model.notes import Note
    from profile_analyze.readers.input.source import Source

    _Layer: TypeAlias = tuple[str, "_Entry"]
    """The name of a layer, and its entry."""

FORMAT: Final = "TensorRT profile"

_FOREIGN: Final = "{ForeignNode["
"""The start of the name of a layer that the Myelin compiler made of a part of the network."""


class _Entry(msgspec.Struct, gc=False):
    """An entry of the file. The first has the number of inferences, each later entry a layer."""

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
    """Return the profile in `source`.

    Files beside `source` add the description of the engine, and the times of whole inferences.
    """
    entries = converted(decoded(source), list[_Entry], source.name)
    layers = _layers_among(entries, source.name)
    count = next((entry.count for entry in entries if entry.count is not None), None)
    if not layers or count == 0:
        what = "no layer" if not layers else "layers, but no inference (count 0)"
        raise MalformedProfileError(
            source.name,
            f"has {what}; run trtexec again with --separateProfileRun and at least one inference "
            "(--iterations=10)",
        )
    layers, notes = _of_one_profile(layers, count)
    profile = Profile(
        file=source.name,
        origin=Origin(FORMAT, times=MEAN, averaged_over=count),
        operators=Operators.of(
            key=np.arange(len(layers)),
            name=Categorical.of([name for name, _ in layers]),
            scope=Categorical.of([scope_of(name) for name, _ in layers]),
            optional={
                UNIQUE_NAME: Categorical.of(distinct_keys(name for name, _ in layers)),
                **graphs_column(_FOREIGN in name for name, _ in layers),
            },
        ),
        executions=Executions.of(
            range(len(layers)),
            [_mean_ms(entry, count) / MS_PER_S for _, entry in layers],
            median_s=[
                nan if one.median_ms is None else one.median_ms / MS_PER_S for _, one in layers
            ],
        ),
        tracks=(Track("engine", device_kind=GPU),),
        runs=(Run(),),
        processes=(source.name,),
        notes=tuple(notes),
    )
    profile = _with_inferences(_with_metadata(profile, source), source)
    return _with_description(profile, source, wanted)


def _layers_among(entries: Sequence[_Entry], file: str) -> list[_Layer]:
    """Return the layers. Raises `MalformedProfileError` for a layer without a name."""
    for index, entry in enumerate(entries):
        has_time = (entry.total_ms, entry.mean_ms, entry.median_ms) != (None, None, None)
        if entry.name is None and has_time:  # without this layer, the total would be wrong
            raise MalformedProfileError(
                file, f"at $[{index}]: object missing required field `name`"
            )
    return [(entry.name, entry) for entry in entries if entry.name is not None]


def _with_metadata(profile: Profile, source: Source) -> Profile:
    """Return the profile with the device, wall time and latencies from files beside it."""
    found, notes = Metadata(), list(profile.notes)
    for names in metadata_of(Path(source.name).name):
        beside = _first_beside(source, names)
        if beside is None:
            continue
        with beside:
            try:
                found = found.completed_by(read_metadata(beside))
            except InputError as error:
                notes.append(_unread("unread-metadata", error))
    return profile.changed(
        origin=profile.origin._replace(hardware=found.hardware, recorded=found.recorded),
        runs=(Run(wall_s=nan if found.mean_compute_s is None else found.mean_compute_s),),
        notes=tuple(notes),
    )


def _with_inferences(profile: Profile, source: Source) -> Profile:
    """Return the profile with the times of whole inferences, if a file beside it has them."""
    beside = _first_beside(source, inference_times_of(Path(source.name).name))
    if beside is None:
        return profile
    with beside:
        try:
            found = read_inferences(beside)
        except InputError as error:
            return profile.changed(notes=(*profile.notes, _unread("unread-inferences", error)))
    if not found:
        return profile
    note = Finding.of("inferences-beside", Kind.CONTEXT, file=beside.name, inferences=len(found))
    return profile.changed(
        notes=(*profile.notes, note),
        origin=profile.origin._replace(recorded=tuple(recorded_facts(found))),
        runs=(Run(wall_s=mean_compute_s(found)),),
    )


def _unread(code: str, error: InputError) -> Finding:
    """Return the finding that a file beside the profile cannot be read."""
    return Finding.of(code, Kind.CONTEXT, file=error.file, reason=error.reason)


def _mean_ms(entry: _Entry, count: int | None) -> float:
    if entry.mean_ms is not None:
        return entry.mean_ms
    return nan if entry.total_ms is None or not count else entry.total_ms / count


def _of_one_profile(layers: Sequence[_Layer], count: int | None) -> tuple[list[_Layer], list[Note]]:
    """Return the layers of one optimization profile, and a finding on the layers left out.

    An inference uses only one optimization profile. The layers of TensorRT's first optimization
    profile are kept. If the file has none of these layers, its first layer decides which
    optimization profile is kept.
    """
    scopes = [scope_of(name) for name, _ in layers]
    used = None if None in scopes else scopes[0]
    kept = [layer for layer, scope in zip(layers, scopes, strict=True) if scope == used]
    if len(kept) == len(layers):
        return kept, []
    kept_ms, all_ms = (
        total(np.array([_mean_ms(entry, count) for _, entry in one])) for one in (kept, layers)
    )
    left_out, share = len(layers) - len(kept), 1 - float(ratio(np.array(kept_ms), all_ms))
    return kept, [
        *on_operators("other-optimization-profiles", Kind.INCOMPLETE, left_out, share, shown=False)
    ]


def _with_description(profile: Profile, source: Source, wanted: Collection[str]) -> Profile:
    """Return the profile with columns from the description beside it.

    If the description is missing or cannot be read, the profile gets a finding instead.
    """
    beside = _description_beside(source)
    if beside is None:
        return _without_description(profile)
    try:
        with beside:
            model = engine.read(beside, wanted)
    except InputError as error:
        return _without_description(profile, file=error.file, reason=error.reason)
    return with_model(profile, model, f"types, shapes and work are from {model.file}")


def _description_beside(source: Source) -> Source | None:
    """Return the description beside the profile; None if it is missing or is not to be read."""
    if not source.beside:
        return None
    return _first_beside(source, descriptions_of(Path(source.name).name))


def _first_beside(source: Source, names: Iterable[str]) -> Source | None:
    return next((beside for name in names if (beside := source.neighbour(name))), None)


def _without_description(
    profile: Profile, *, file: str | None = None, reason: str | None = None
) -> Profile:
    note = Finding.of(
        "no-description", Kind.INCOMPLETE, dropped_beside="model", file=file, reason=reason
    )
    return profile.changed(notes=(*profile.notes, note))

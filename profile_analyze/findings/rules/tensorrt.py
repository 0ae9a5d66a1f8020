"""Rules on profiles and engines of TensorRT."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from profile_analyze.findings.rule import Rule
from profile_analyze.model.visible import escaped
from profile_analyze.units import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from profile_analyze.findings.rule import Words

_MOST_TYPES: Final = 4
"""The sentence names at most this many types of operator."""


def _engine_without_times(_: Words, *, beside: str | None) -> str:
    where = (
        f"{beside} beside it has them; name that file"
        if beside
        else "name the file that trtexec --exportProfile=FILE writes, and this one after --model"
    )
    return f"a description of an engine has no times; {where}"


def _other_optimization_profiles(words: Words, *, operators: int, shown: bool) -> str:
    others = f"{counted(operators, 'operator')}{words.sized} of other optimization profiles"
    if shown:
        return f"totals leave out {others}; the column scope names the profile"
    return f"left out {others}: an inference uses only one profile"


def _undescribed_work(_: Words, *, operators: int, types: Sequence[str]) -> str:
    more = f" and {len(types) - _MOST_TYPES} more" if len(types) > _MOST_TYPES else ""
    return (
        f"the description does not say what {counted(operators, 'operator')} "
        f"{'computes' if operators == 1 else 'compute'}, so the computation is N/A: "
        f"{', '.join(map(escaped, types[:_MOST_TYPES]))}{more}"
    )


def _no_description(_: Words, *, file: str | None, reason: str | None) -> str:
    why = (
        ": pass --model graph.json, which trtexec --exportLayerInfo=graph.json "
        "--profilingVerbosity=detailed writes"
        if file is None
        else f", because the description cannot be read: {file}: {reason}"
    )
    return f"no types, shapes or work{why}"


RULES: Final = (
    Rule(
        "engine-without-times",
        "the file describes an engine, which has no times",
        _engine_without_times,
    ),
    Rule(
        "other-optimization-profiles",
        "the engine has layers of several optimization profiles",
        _other_optimization_profiles,
    ),
    Rule(
        "undescribed-work",
        "the description does not say what layers compute",
        _undescribed_work,
    ),
    Rule(
        "no-description",
        "the description of the engine is missing or cannot be read",
        _no_description,
    ),
    Rule(
        "unread-metadata",
        "a file with the device or latencies cannot be read",
        "no device or latencies from a file beside the profile: {file}: {reason}",
    ),
    Rule(
        "unread-inferences",
        "the file with the times of whole inferences cannot be read",
        "no times of whole inferences, because they cannot be read: {file}: {reason}",
    ),
    Rule(
        "inferences-beside",
        "a file beside the profile has the times of whole inferences",
        "the wall time and the latency are from {file}: {inferences:inference}, perhaps with the "
        "warm-up of trtexec",
    ),
)

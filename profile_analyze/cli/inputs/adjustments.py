"""Applies the options that select a part of a profile or add data to it."""

from __future__ import annotations

import os
from math import inf
from typing import TYPE_CHECKING

from profile_analyze.advice.names import did_you_mean, similar_texts
from profile_analyze.errors import QueryError
from profile_analyze.model.graph.with_model import with_model
from profile_analyze.model.levels.regions import regions_of, with_step_region
from profile_analyze.model.levels.windows import only_steps, within_times
from profile_analyze.model.work_sources import choose_work
from profile_analyze.readers.input.companions import descriptions_of

if TYPE_CHECKING:
    from profile_analyze.cli.inputs.part import Part
    from profile_analyze.model.profile import Profile


def part_of(profile: Profile, part: Part) -> Profile:
    """Return the part of the profile that the options ask for.

    Steps are selected first. In each process and on each clock, `from_s` and `to_s` count from the
    first execution of these steps. Raises `QueryError` if the profile has no such part.
    """
    if part.step_region is not None:
        profile = _with_step_region(profile, part.step_region)
    if part.steps is not None:
        profile = only_steps(profile, *part.steps)
    if part.from_s is None and part.to_s is None:
        return profile
    return within_times(profile, part.from_s or 0.0, inf if part.to_s is None else part.to_s)


def _with_step_region(profile: Profile, name: str) -> Profile:
    """Return the profile with one run for each execution of the region `name`.

    Raises `QueryError` if there is no such region.
    """
    known = regions_of(profile)
    similar = [] if name in known else similar_texts(name, known)
    if similar:
        raise QueryError(
            f"step_region: no region {name!r} in {profile.file}; {did_you_mean(similar)}"
        )
    return with_step_region(profile, name)


def adjusted(profile: Profile, model: Profile | None, work: str | None) -> Profile:
    """Add the data of `model`, and choose `work`, the source of computation and memory.

    None leaves out either.
    """
    if model is not None:
        profile = with_model(profile, model, instead=_other_descriptions(profile, model))
    return profile if work is None else choose_work(profile, work)


def _other_descriptions(profile: Profile, model: Profile) -> str:
    """Return which files beside the profiles would describe the operators without `model`.

    The result is a text such as `run.graph.json and 2 more`; empty if there are no such files.
    A profile with `model` itself among the files beside it does not count.
    """
    own = [_descriptions_beside(file) for file in profile.processes]
    real_path = os.path.realpath(model.file)
    others = dict.fromkeys(
        paths[0] for paths in own if paths and real_path not in map(os.path.realpath, paths)
    )
    more = f" and {len(others) - 1} more" if len(others) > 1 else ""
    return next(iter(others), "") + more


def _descriptions_beside(file: str) -> list[str]:
    """Return the files beside a profile that describe its operators according to their names."""
    folder, name = os.path.split(file)
    paths = (os.path.join(folder, one) for one in descriptions_of(name))  # noqa: PTH118  # `Path` changes some names
    return [path for path in paths if os.path.exists(path)]  # noqa: PTH110  # `Path` changes some names

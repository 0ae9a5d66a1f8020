"""Applies the options `--correct-sync`, `--model` and `--work` to a profile."""

from __future__ import annotations

from typing import TYPE_CHECKING

from profile_analyze.analysis.synchronisation import without_synchronisation
from profile_analyze.model.with_model import with_model
from profile_analyze.model.work_sources import choose_work

if TYPE_CHECKING:
    from profile_analyze.cli.request import Request
    from profile_analyze.model.profile import Profile


def adjusted(request: Request, profile: Profile, model: Profile | None) -> Profile:
    """Return the profile with corrected times, the data of `model` and the requested work.

    Each of these changes is made only if the request has its option.
    """
    if request.correct_sync:
        profile = without_synchronisation(profile)
    if model is not None:
        profile = with_model(profile, model)
    return profile if request.work is None else choose_work(profile, request.work)

"""Adds the work that `--model` and `--work` ask for, which few calls do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from profile_analyze.model.with_model import with_model
from profile_analyze.model.work_sources import choose_work

if TYPE_CHECKING:
    from profile_analyze.model.profile import Profile


def with_derived_work(profile: Profile, model: Profile | None, choice: str | None) -> Profile:
    """Return the profile with the facts of the model, and with the work that `choice` selects."""
    if model is not None:
        profile = with_model(profile, model)
    return profile if choice is None else choose_work(profile, choice)

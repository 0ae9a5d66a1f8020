"""Counts the bytes of constants in a profile, or on both sides of a comparison."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, overload

from profile_analyze.model.constants import operators_counting_constants
from profile_analyze.model.profile import Profile

if TYPE_CHECKING:
    from profile_analyze.comparison.comparison import Comparison


@overload
def counting_constants(source: Profile) -> Profile: ...
@overload
def counting_constants(source: Comparison) -> Comparison: ...
def counting_constants(source: Profile | Comparison) -> Profile | Comparison:
    """Return a copy in which the memory of a constant is its size; N/A if the file lacks it."""
    if isinstance(source, Profile):
        return source.changed(operators=operators_counting_constants(source.operators))
    return replace(
        source, profile=counting_constants(source.profile), base=counting_constants(source.base)
    )

"""The origin of a profile that is joined from several files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from profile_analyze.model.profile import Origin
from profile_analyze.model.terms import EACH, MEAN

if TYPE_CHECKING:
    from collections.abc import Sequence

FORMAT_SEPARATOR: Final = ", "
"""The text between the formats of a joined profile."""


def common_origin(origins: Sequence[Origin]) -> Origin:
    """Return the origin of a joined profile. Facts that differ between files are left out."""
    first = origins[0]
    if len(origins) == 1:
        return first
    same = {
        name: value
        for name, value in first._asdict().items()
        if all(getattr(origin, name) == value for origin in origins)
    }
    formats = FORMAT_SEPARATOR.join(dict.fromkeys(origin.format for origin in origins))
    kinds = {origin.times for origin in origins}
    # A single file of means is enough for the joined times to count as means.
    times = MEAN if MEAN in kinds else EACH if EACH in kinds else first.times
    # Likewise, a single synchronised file is enough for the joined times to count as synchronised.
    synchronised = any(origin.synchronised for origin in origins)
    return Origin(**{**same, "format": formats, "times": times, "synchronised": synchronised})

"""The numbers about the whole program at the end of a report."""

from __future__ import annotations

from math import isnan, nan
from typing import TYPE_CHECKING, Final

from profile_analyze.model.origin import RecordedFact
from profile_analyze.units import MS_PER_S

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_WHOLE_RUNS: Final = "whole runs"
_OVERHEAD: Final = "overhead"

_LINES: Final = {
    "batch_size": ("batch size", ""),
    "inferences_per_s": ("rate", ""),
    "min": (_WHOLE_RUNS, "min"),
    "median": (_WHOLE_RUNS, "median"),
    "mean": (_WHOLE_RUNS, "mean"),
    "total": (_WHOLE_RUNS, "mean of the middle half"),
    "max": (_WHOLE_RUNS, "max"),
    "instructions": ("sum of instructions", ""),
    "dry_run": (_OVERHEAD, "dry run"),
    "difference": (_OVERHEAD, "whole run minus instructions"),
}
"""For each number, the label of the line in which it is shown, and its name within the line."""
_UNITS: Final = {"batch_size": "", "inferences_per_s": "inferences/s"}
"""The units of the numbers that are not times. Times are in milliseconds."""


def recorded_facts(totals: Mapping[str, float]) -> Iterator[RecordedFact]:
    """Yield the known numbers about the whole program.

    The wall time of a run is `total`, the mean of the middle half of the runs. `total` is only
    yielded if the report also has other statistics of whole runs, such as the median.
    """
    is_alone = isnan(totals.get("median", nan))
    # The names of percentiles are like p90.
    percentiles = {name: (_WHOLE_RUNS, name) for name in totals if name[1:2].isdigit()}
    for name, (label, part) in ({**_LINES, **percentiles}).items():
        value = totals.get(name)
        if value is None or isnan(value) or (name == "total" and is_alone):
            continue
        if name in _UNITS:
            yield RecordedFact(name, value, _UNITS[name], label, part)
        else:
            yield RecordedFact(f"{name}_s", value / MS_PER_S, "s", label, part)

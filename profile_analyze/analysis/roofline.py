"""How far operators are from what the hardware allows: the roofline.

(Williams, Waterman and Patterson, "Roofline: an insightful visual performance model for multicore
architectures", Communications of the ACM 52(4), 2009.) An operator cannot take less time than its
computation takes at the peak rate, nor less than its memory takes at the peak bandwidth: the larger
of the two is its least possible time.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from profile_analyze.model.columns import AGGREGATED, Column, RatioOfSums

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from profile_analyze.analysis.peaks import Peaks
    from profile_analyze.model.categorical import Categorical
    from profile_analyze.model.columns import Rows, Values
    from profile_analyze.model.profile import Profile

    Floats = NDArray[np.float64]

MOVERS: Final = ("Copy", "Concat", "Dimshuffle")
"""Types that only move data: what MegEngine calls their computation counts elements, so that only
the bandwidth bounds them."""

CLOCK_S: Final = 1e-6
"""What the clock of a CPU's comp node resolves; a shorter time there says nothing."""
_CPU_LANES: Final = ('CompNode("cpu', 'CompNode("multithread')

COMPUTE: Final = "compute"
MEMORY: Final = "memory"

_DTYPES: Final[Mapping[str, str]] = {
    "Float32": "fp32",
    "Float16": "fp16",
    "BFloat16": "bf16",
    "Int8": "int8",
    "Uint8": "int8",
    "QuantizedS8": "int8",
    "Quantized8Asymm": "int8",
}
"""The runtime's names of dtypes as those of rates."""


def rate_dtypes(profile: Profile) -> Categorical[str]:
    """Shape (operators,): the dtype that each computes in, N/A where the profile does not say.

    It is that of the first input whose dtype is known; one that no device has a rate for (Int32)
    is given under its own name.
    """

    def first(dtypes: tuple[str | None, ...]) -> str | None:
        known = next(filter(None, dtypes), None)
        return _DTYPES.get(known, known) if known else None

    return profile.detail("input_dtypes").mapped(first)


def is_judged(rows: Rows) -> NDArray[np.bool_]:
    """Shape (operators,): whether the time of each is one that can be held against a roof.

    Not that of the host, nor a wait time; not one shorter than the clock resolves, nor zero.
    """
    import numpy as np

    times: Floats = rows["time"]
    if rows.side == "host" or rows.end_key == "kern":
        return np.zeros(len(times), np.bool_)
    judged: NDArray[np.bool_] = ~np.isnan(times) & (times > 0) & ~below_the_clock(rows)
    return judged


def below_the_clock(rows: Rows) -> NDArray[np.bool_]:
    """Shape (operators,): whether the time is shorter than the clock of its comp node resolves."""
    lanes = rows["device"]
    on_cpu = lanes.where(word.startswith(_CPU_LANES) for word in lanes.categories)
    short: NDArray[np.bool_] = rows["time"] < CLOCK_S * (1 - 1e-6)  # but for rounding noise
    found: NDArray[np.bool_] = on_cpu & short
    return found


def _peaks(rows: Rows) -> Peaks:
    assert rows.peaks is not None, "a column that needs peaks was asked for without"
    peaks: Peaks = rows.peaks
    return peaks


def _rates(rows: Rows) -> Floats:
    """Shape (operators,): FLO/s of each operator's dtype; NaN where the device has none."""
    import numpy as np

    peaks, dtypes = _peaks(rows), rate_dtypes(rows.profile)
    rates = [peaks.rate(dtype) for dtype in dtypes.categories]
    return np.array([*rates, peaks.rate(None)])[dtypes.codes]  # the last is that of N/A


def moves_only(rows: Rows) -> NDArray[np.bool_]:
    """Shape (operators,): whether the operator is of one of `MOVERS`."""
    types = rows.profile.type
    return types.where(word in MOVERS for word in types.categories)


def _compute_time(rows: Rows) -> Values:
    import numpy as np

    from profile_analyze.model.numbers import ratio

    time = ratio(rows["computation"], _rates(rows))
    has_roof = is_judged(rows) & ~moves_only(rows) & ~np.isnan(rows["memory"])
    return np.where(has_roof, time, np.nan)


def _memory_time(rows: Rows) -> Values:
    import numpy as np

    from profile_analyze.model.numbers import ratio

    has_roof = ~np.isnan(rows["compute_time"]) | (is_judged(rows) & moves_only(rows))
    return np.where(has_roof, ratio(rows["memory"], _peaks(rows).bandwidth), np.nan)


def _least_time(rows: Rows) -> Values:
    import numpy as np

    memory: Floats = rows["memory_time"]
    return np.where(moves_only(rows), memory, np.maximum(rows["compute_time"], memory))


def _attainable(rows: Rows) -> Values:
    import numpy as np

    from profile_analyze.model.numbers import finite

    with np.errstate(all="ignore"):
        reachable: Floats = finite(rows["intensity"] * _peaks(rows).bandwidth)
    return np.where(moves_only(rows), reachable, np.minimum(_rates(rows), reachable))


def _efficiency(rows: Rows) -> Values:
    from profile_analyze.model.numbers import ratio

    return ratio(rows["least_time"], rows["time"])


def _lost(rows: Rows) -> Values:
    from profile_analyze.model.numbers import difference

    return difference(rows.per_run("time"), rows["least_time"][:, None])


def _gain(rows: Rows) -> Values:
    return _speed_up(rows, rows["lost"])


def _gain_of_groups(rows: Rows) -> Values:
    return _speed_up(rows, rows["lost.sum"])


def _speed_up(rows: Rows, lost: Floats) -> Floats:
    """How many times as fast the whole would be without `lost` seconds."""
    import numpy as np

    from profile_analyze.model.numbers import ratio

    rest = rows.total_s - lost
    return ratio(np.full(len(lost), rows.total_s), np.where(rest > 0, rest, np.nan))


def _bound(rows: Rows) -> Values:
    return _larger(rows["compute_time"], rows["memory_time"], rows["least_time"])


def _bound_of_groups(rows: Rows) -> Values:
    return _larger(rows["compute_time.sum"], rows["memory_time.sum"], rows["least_time.sum"])


def _larger(compute: Floats, memory: Floats, least: Floats) -> Categorical[str]:
    """Which of the two bounds each row; N/A where the least time is."""
    import numpy as np

    from profile_analyze.model.categorical import MISSING_CODE, Categorical

    is_compute = np.nan_to_num(compute) >= np.nan_to_num(memory)
    codes = np.where(is_compute, 0, 1)
    return Categorical(np.where(np.isnan(least), MISSING_CODE, codes), (COMPUTE, MEMORY))


_column = partial(Column, detail="input_dtypes", needs_peaks=True)


COLUMNS: Final = (
    _column(
        "bound",
        "",
        "compute or memory: which of the two least times is larger",
        _bound,
        _bound_of_groups,
        kind="text",
        is_key=True,
    ),
    _column(
        "attainable",
        "FLO/s",
        "the lesser of the peak rate and intensity * peak bandwidth",
        _attainable,
        RatioOfSums("computation", "least_time"),
    ),
    _column(
        "compute_time",
        "s",
        "computation / peak rate of the operator's dtype",
        _compute_time,
        AGGREGATED,
    ),
    _column("memory_time", "s", "memory / peak bandwidth", _memory_time, AGGREGATED),
    _column(
        "least_time",
        "s",
        "the least possible time: the larger of compute_time and memory_time",
        _least_time,
        AGGREGATED,
    ),
    _column(
        "efficiency",
        "1",
        "least_time / time: how much of the time was needed",
        _efficiency,
        RatioOfSums("least_time", "time"),
    ),
    _column(
        "lost", "s", "time - least_time: what could be won at most", _lost, AGGREGATED, timed=True
    ),
    _column(
        "gain",
        "",
        "total time / (total time - lost): how many times as fast the whole would be",
        _gain,
        _gain_of_groups,
    ),
)
"""The columns that need peaks."""

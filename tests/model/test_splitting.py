"""Operators split by run, step, track or phase."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from profile_analyze.comparison.comparison import compare
from profile_analyze.model.executions import Run, Track
from profile_analyze.model.joining.runs import join_runs
from profile_analyze.model.levels.levels import at_level
from profile_analyze.model.levels.splitting import joined_values, split
from profile_analyze.model.terms import SPLIT_KEYS
from tests.in_memory import THREAD, four_steps, nested, profile_of

if TYPE_CHECKING:
    from profile_analyze.model.profile import Profile

TWO_DEVICES = [
    Track("stream 1", "device", "gpu 0", "stream", rank=0),
    Track("stream 2", "device", "gpu 1", "stream", rank=1),
    THREAD,
]


def two_devices() -> Profile:
    return profile_of(
        [{"name": "a"}, {"name": "b"}, {"name": "never ran"}],
        [
            {"operator": 1, "duration_s": 1.0, "track": 0},
            {"operator": 0, "duration_s": 2.0, "track": 1},
            {"operator": 0, "duration_s": 4.0, "track": 0, "phase": "forward"},
            {"operator": 1, "duration_s": 0.5, "track": 2},
        ],
        tracks=TWO_DEVICES,
    )


def rows_of(profile: Profile, measure: str = "time") -> list[tuple[Any, ...]]:
    keys = [column.values().tolist() for column in profile.split_by.values()]
    times = profile.measured(measure).tolist()
    names = profile.operators.name.values().tolist()
    return [
        (*key, name, *times_of) for *key, name, times_of in zip(*keys, names, times, strict=True)
    ]


def test_operators_are_split_by_track_keys() -> None:
    assert rows_of(split(two_devices(), ["device"])) == [
        ("gpu 0", "a", 4),
        ("gpu 1", "a", 2),
        ("gpu 0", "b", 1),
    ]
    ranks = [row[:2] for row in rows_of(split(two_devices(), ["rank"]))]
    assert ranks == [(0, "a"), (1, "a"), (0, "b")]
    streams = [row[:2] for row in rows_of(split(two_devices(), ["stream"]))]
    assert streams == [("stream 1", "a"), ("stream 2", "a"), ("stream 1", "b")]
    tracks = [row[:2] for row in rows_of(split(two_devices(), ["track"]))]
    assert tracks == [("stream 1", "a"), ("stream 2", "a"), ("stream 1", "b"), ("thread 1", "b")]


def test_rows_are_split_once() -> None:
    profile = two_devices()
    assert split(profile, ["device", "rank", "device"]) is split(profile, ("device", "rank"))
    assert split(profile, ["rank"]) is not split(profile, ["device"])
    assert split(profile, ()) is profile


def test_host_time_belongs_to_the_device_of_its_operator() -> None:
    found = rows_of(split(two_devices(), ["device"]), "host_time")
    assert found[2] == ("gpu 0", "b", 0.5)
    by_track = rows_of(split(two_devices(), ["track"]), "host_time")
    assert by_track[3] == ("thread 1", "b", 0.5)


def test_operators_are_split_by_several_keys_or_none() -> None:
    profile = two_devices()
    assert split(profile, []) is profile
    assert [row[:3] for row in rows_of(split(profile, ["phase", "rank"]))] == [
        ("forward", 0, "a"),
        (None, 1, "a"),
        (None, 0, "b"),
    ]


def test_the_tracks_of_an_operator_are_joined_into_one_text() -> None:
    profile = two_devices()
    assert joined_values(profile, "device", "device").values().tolist() == [
        "gpu 1, gpu 0",
        "gpu 0",
        None,
    ]
    assert joined_values(profile, "track", "host").values().tolist() == [None, "thread 1", None]


def two_files() -> Profile:
    return join_runs([four_steps("a.json"), four_steps("b.json", scale=2.0)])


def test_splitting_by_a_run_key_leaves_fewer_runs() -> None:
    profile = two_files()
    assert [run.process for run in profile.runs] == [0, 0, 0, 0, 1, 1, 1, 1]
    by_step = split(profile, ["step"])
    assert by_step.runs == (Run(0), Run(1))
    found = rows_of(by_step)
    assert [row[:2] for row in found] == [
        (step, name) for name in ("attention", "mlp") for step in (10, 11, 12, 13)
    ]
    np.testing.assert_allclose(found[0][2:], [18e-3, 36e-3])
    by_file = split(profile, ["file"])
    assert len(by_file.runs) == 4
    np.testing.assert_allclose(rows_of(by_file)[3][2:], [16e-3, 8e-3, 8e-3, 8e-3])
    by_run = split(profile, ["run"])
    assert by_run.runs == (Run(),)
    assert len(by_run) == 16
    assert [row[:2] for row in rows_of(by_run)] == [
        (run, name) for name in ("attention", "mlp") for run in range(1, 9)
    ]
    assert split(profile, ["file", "step"]).runs == (Run(),)


@pytest.mark.parametrize("key", SPLIT_KEYS)
def test_nothing_is_lost_by_splitting(key: str) -> None:
    for profile in (two_devices(), two_files(), nested()):
        found = split(profile, [key])
        assert found.check() == ()
        assert np.nansum(found.measured("time")) == pytest.approx(
            np.nansum(profile.measured("time"))
        )


def test_a_comparison_is_split_on_both_sides() -> None:
    base = profile_of(
        [{"name": "a"}, {"name": "gone"}],
        [{"operator": 0, "duration_s": 3.0}, {"operator": 1, "duration_s": 5.0, "track": 1}],
        tracks=[TWO_DEVICES[0], TWO_DEVICES[1]],
    )
    comparison = compare(two_devices(), base)
    assert comparison.split([]) is comparison
    found = comparison.split(["device"])
    match = found.match.values().tolist()
    nan = pytest.approx(np.nan, nan_ok=True)
    rows = [
        (*row, base_s, how)
        for row, (base_s,), how in zip(
            rows_of(found.profile), found.base.measured("time").tolist(), match, strict=True
        )
    ]
    assert rows == [
        ("gpu 0", "a", 4, 3, "name"),
        ("gpu 1", "a", 2, nan, "added"),
        ("gpu 0", "b", 1, nan, "added"),
        ("gpu 1", "gone", nan, 5, "removed"),
    ]


def of_kernels(level: str) -> Profile:
    """Return two operators. `conv` launched `pad` and `gemm`. `relu` launched only `gemm`."""
    profile = profile_of(
        [
            {"name": "conv", "computation": 8.0},
            {"name": "relu", "computation": 1.0},
            {"name": "pad", "level": "kernel"},
            {"name": "gemm", "level": "kernel"},
        ],
        [
            {"operator": 0, "duration_s": 5.0, "track": 2},
            {"operator": 1, "duration_s": 1.0, "track": 2},
            {"operator": 2, "duration_s": 1.0, "launched_by": 0},
            {"operator": 3, "duration_s": 2.0, "launched_by": 0},
            {"operator": 3, "duration_s": 4.0, "launched_by": 1},
        ],
        tracks=TWO_DEVICES,
    )
    return at_level(profile, level)


def test_operators_are_split_by_the_kernels_that_they_launched() -> None:
    profile = of_kernels("operator")
    assert joined_values(profile, "kernel", "device").values().tolist() == ["pad, gemm", "gemm"]
    found = split(profile, ["kernel"])
    nan = pytest.approx(np.nan, nan_ok=True)
    assert rows_of(found) == [
        ("pad", "conv", 1.0),
        ("gemm", "conv", 2.0),
        (None, "conv", nan),
        ("gemm", "relu", 4.0),
    ]
    # The call and the host time of `relu` belong to `gemm`, the only kernel that it launched.
    assert found.measured("host_time")[:, 0].tolist() == [nan, nan, 5.0, 1.0]
    assert found.calls()[:, 0].tolist() == [nan, nan, 1.0, 1.0]


def test_a_kernel_has_its_own_name_as_key() -> None:
    profile = of_kernels("kernel")
    assert joined_values(profile, "kernel", "device").values().tolist() == ["pad", "gemm"]
    assert rows_of(split(profile, ["kernel"])) == [("pad", "pad", 1.0), ("gemm", "gemm", 6.0)]

"""Real timelines: their sums equal an independent count that uses `json` alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import profile_analyze as pa
from profile_analyze.model.levels.levels import at_level
from tests.conftest import PROFILES
from tests.readers.megengine_timeline.independent import events_in, expected, expected_on_host

if TYPE_CHECKING:
    from pathlib import Path

    from profile_analyze.model.profile import Profile

FOLDER = PROFILES.parent / "megengine-timeline"
SAMPLES = sorted(path for path in FOLDER.iterdir() if path.name != "trace.json.gz")  # no operator


def seconds_by_type(profile: Profile, measure: str) -> dict[str, float]:
    found: dict[str, float] = {}
    for type_, times_s in zip(
        profile.operators.type.values(), profile.measured(measure).tolist(), strict=True
    ):
        known = [time_s for time_s in times_s if time_s == time_s]
        if known:
            found[type_] = found.get(type_, 0.0) + sum(known)
    return found


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_the_sums_by_type_equal_an_independent_count(path: Path) -> None:
    profile = at_level(pa.load(path))
    assert seconds_by_type(profile, "time") == pytest.approx(expected(path))
    assert seconds_by_type(profile, "host_time") == pytest.approx(expected_on_host(path))
    assert profile.check() == ()


@pytest.mark.parametrize(
    ("name", "runs"), [("modules", 2), ("plain", 1), ("steps", 3), ("train", 2)]
)
def test_every_kernel_is_joined_with_its_operator(name: str, runs: int) -> None:
    path = FOLDER / f"{name}.json.gz"
    profile = pa.load(path)
    kernels = [one for one in events_in(path) if one.get("cat") == "Kernel" and one["ph"] == "E"]
    assert int((profile.executions.launched_by >= 0).sum()) == len(kernels)
    assert [run.step for run in profile.runs] == [*range(1, runs + 1)]


def test_multiply_adds_follow_from_the_layers() -> None:
    """The batch has 4 images of 32x32. The kernels are 3x3. conv1 reads 3 channels, and conv2 reads
    4 channels per group."""
    profile = pa.load(FOLDER / "steps.json.gz")
    macs = profile.operators.numbers("macs")
    found = [
        (name, float(macs[row]))
        for row, name in enumerate(profile.operators.name.values())
        if macs[row] > 0
    ]
    assert found == [
        ("conv1.Convolution", 4 * 16 * 32 * 32 * 27),
        ("conv2.Convolution", 4 * 32 * 16 * 16 * 36),
        ("fc.MatrixMul", 4 * 2048 * 10),
    ]

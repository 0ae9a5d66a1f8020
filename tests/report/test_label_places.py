"""Labels of rooflines: they hide no dot and no other text, and their leaders do not cross."""

from __future__ import annotations

from functools import cache
from itertools import combinations
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.text import Annotation, Text

import profile_analyze as pa
from profile_analyze.report.charts import draw_roofline
from profile_analyze.report.sections import Chart
from tests.in_memory import profile_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection
    from matplotlib.transforms import Bbox

    Point = tuple[float, float, float]  # intensity, FLO/s, seconds

RANDOM = np.random.default_rng(0)
# The peaks are 100 GFLO/s and 20 GB/s, so the ridge is at 5 FLO/byte.
POINTS: dict[str, list[Point]] = {
    "one": [(1.0, 5e9, 1.0)],
    "far apart": [(0.1, 1e8, 1.0), (1.0, 3e9, 2.0), (20.0, 6e10, 0.1)],
    "in one place": [(1.0, 5e9, 1.0 / n) for n in range(1, 11)],
    "in a column": [(0.25, 1e9 * 1.15**n, 1.0 + n / 10) for n in range(10)],
    "along the flat roof": [(5.0 * 1.4**n, 9.5e10, 1.0) for n in range(12)],
    "along the slope": [(0.1 * 1.4**n, 1.9e9 * 1.4**n, 0.5 + n / 10) for n in range(11)],
    "at the right end of the roof": [(50.0, 1e11, 3.0), (0.1, 1e9, 0.1), (0.11, 1e9, 0.09)],
    "at the left end of the slope": [(0.1, 1e9, 3.0), (0.12, 8e8, 3.0), (50.0, 9e10, 0.1)],
    "small dots beside each other": [(9, 9e10, 1.0), *((1, 5e9 * 1.1**n, 1e-3) for n in range(9))],
    "in a dense cloud": [
        (20 * 1.12**n, 4e10 * 1.3**m, 1.0 - n / 99) for n in range(10) for m in range(3)
    ],
    "in two clouds": [
        *((10 * 1.1**n, 5e10, 1.0 + n / 9) for n in range(6)),
        *((0.3, 2e9 * 1.2**n, 1.0 + n / 9) for n in range(6)),
    ],
    "anywhere": [
        (float(10**x), float(10**y), float(time))
        for x, y, time in RANDOM.uniform((-1, 8, 0), (2, 11, 1), (60, 3))
    ],
}


def drawn(
    points: Sequence[Point],
    peaks: str = "100G:20G",
    dtypes: Sequence[str | None] | None = None,
    inches: float = 11.0,
) -> Axes:
    """Return the roofline of operators at these points."""
    profile = profile_of(
        [
            {"name": str(n), "computation": flops * time, "memory": flops * time / intensity}
            for n, (intensity, flops, time) in enumerate(points)
        ],
        [{"operator": n, "duration_s": time} for n, (_, _, time) in enumerate(points)],
        columns={"optional": {"compute_dtype": pa.Categorical.of(dtypes or [None] * len(points))}},
    )
    figure = Figure(figsize=(inches, inches * 7 / 11))
    table = pa.run(pa.Query(peaks=pa.parse_peaks(peaks)), profile)
    draw_roofline(figure, Chart("roofline", table))
    return figure.axes[0]


@cache
def example(name: str) -> Axes:
    """Return the roofline of some `POINTS`, with final positions of all texts."""
    axes = drawn(POINTS[name])
    cast("Figure", axes.figure).draw_without_rendering()
    return axes


def labels(axes: Axes) -> list[Annotation]:
    """Return the texts at roofs, then the numbers."""
    return [text for text in axes.texts if isinstance(text, Annotation)]


def discs(axes: Axes) -> list[tuple[Any, float]]:
    """Return the centre and the radius of each dot, in pixels."""
    found: list[tuple[Any, float]] = []
    for dots in cast("Sequence[PathCollection]", axes.collections):
        centers = axes.transData.transform(np.asarray(dots.get_offsets()))
        radii = np.sqrt(dots.get_sizes()) / 2 * axes.figure.dpi / 72
        found += zip(centers, np.broadcast_to(radii, len(centers)), strict=True)
    return found


def distance(box: Bbox, disc: tuple[Any, float]) -> float:
    """Return the distance of a box from a dot; below 0 if they overlap."""
    center, radius = disc
    nearest = np.clip(center, box.min, box.max)
    return float(np.hypot(*(center - nearest)) - radius)


def leader(text: Annotation) -> Any:
    """Return points on the visible part of the leader of a number; None without a leader."""
    patch = text.arrow_patch
    if patch is None or not patch.get_visible():
        return None
    # The line is the first curve of the path: its start, a control point and its end.
    vertices = np.asarray(patch.get_path().vertices)[:3]
    start, _, end = np.asarray(patch.get_transform().transform(vertices))
    return start + np.linspace(0, 1, 200)[:, None] * (end - start)


@pytest.mark.parametrize("name", POINTS)
def test_labels_hide_nothing(name: str) -> None:
    axes = example(name)
    roofs, numbers = labels(axes)[:2], labels(axes)[2:]
    assert [text.get_text() for text in roofs] == ["20 GB/s", "100.00 GFLOPS"]
    assert [text.get_text() for text in numbers] == [
        str(n + 1) for n in range(len(POINTS[name][:10]))
    ]
    boxes = [Text.get_window_extent(text) for text in labels(axes)]
    legend = axes.get_legend()
    assert legend is not None
    for one, other in combinations([*boxes, legend.get_window_extent()], 2):
        assert not one.overlaps(other)
    frame = axes.get_window_extent()
    for box in boxes:
        assert frame.contains(*box.min)
        assert frame.contains(*box.max)
        assert min(distance(box, disc) for disc in discs(axes)) > 0


@pytest.mark.parametrize("name", POINTS)
def test_each_number_is_nearest_to_its_dot_or_has_a_leader_to_it(name: str) -> None:
    axes = example(name)
    numbers = labels(axes)[2:]
    boxes = [Text.get_window_extent(text) for text in labels(axes)]
    leaders = []
    for text, box in zip(numbers, boxes[2:], strict=True):
        center = axes.transData.transform(text.xy)
        line = leader(text)
        if line is None:
            beside = [
                middle for middle, radius in discs(axes) if distance(box, (middle, radius)) < 8
            ]
            np.testing.assert_allclose(beside, [center])
            continue
        assert abs(line[0, 1] - line[-1, 1]) > 3  # a horizontal line looks like a hyphen
        radius = max(radius for middle, radius in discs(axes) if np.allclose(middle, center))
        assert np.hypot(*(line[-1] - center)) < radius + 3
        others = [other for other in boxes if other is not box]
        assert not any(other.contains(*point) for other in others for point in line)
        leaders.append(line)
    for one, other in combinations(leaders, 2):
        gaps = np.hypot(*(one[:, None] - other).T)
        is_apart = np.hypot(*(one - one[-1]).T) > 14  # leaders to one place meet at their ends
        assert (gaps.T[is_apart] > 0.5).all()


def test_a_number_is_left_out_if_there_is_no_place() -> None:
    points = [(1.0, 5e9, 1.0)] * 10
    assert len(labels(drawn(points))) == 12
    assert 2 <= len(labels(drawn(points, inches=1.2))) < 12


def test_a_roofs_text_is_not_over_the_dot_of_another_roof() -> None:
    """With the text of its fp32 roof over it, a dot of bf16 would look too fast."""
    points = [(650.0, 9e13, 1.0), (0.2, 5e11, 0.1)]
    axes = drawn(points, "h200-sxm", ["bf16", "fp32"])
    cast("Figure", axes.figure).draw_without_rendering()
    for text in labels(axes):
        box = Text.get_window_extent(text)
        assert min(distance(box, disc) for disc in discs(axes)) > 0


@pytest.mark.parametrize(
    ("dtypes", "has_colors"), [(["fp32", "bf16", "bf16"], True), (["bf16"] * 3, False)]
)
def test_dots_and_numbers_have_the_colour_of_their_flat_roof(
    dtypes: list[str], *, has_colors: bool
) -> None:
    points = [(50.0, 3e13, 3.0), (650.0, 9e13, 2.0), (10.0, 1e12, 1.0)]
    axes = drawn(points, "h200-sxm", dtypes)
    slope, *flat = [to_hex(str(line.get_color())) for line in axes.lines]
    rates = [float(np.asarray(line.get_ydata())[0]) for line in axes.lines[1:]]
    assert len(set(flat)) == (2 if has_colors else 1)
    assert (slope not in flat) == has_colors
    # The last dot is limited by the slope; without fp32, the first one is, too.
    of_rate = {67e12: "", **dict(zip(rates, flat, strict=True))}
    expected = [of_rate[67e12] if has_colors else slope, of_rate[989e12], slope]
    texts = labels(axes)
    colors = [to_hex(str(text.get_color())) for text in texts]
    assert colors == [slope, *flat, *expected]
    (dots,) = axes.collections
    edges = [to_hex(tuple(color)) for color in np.asarray(dots.get_edgecolor()).tolist()]
    white = to_hex("white")
    wanted = [white if color == slope else color for color in expected]
    assert edges == wanted

"""Finds places for labels in a picture, so that they hide no dot, no line and no other text."""

from __future__ import annotations

from math import cos, inf, radians, sin
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
from matplotlib.path import Path
from matplotlib.text import Text
from matplotlib.transforms import Bbox

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D
    from matplotlib.text import Annotation
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

# Distances in pixels:
_GAP: Final = 3.0  # from a label to what it labels
_TOO_NEAR: Final = 2.0  # from a label to what it would hide; below `_GAP`, to tolerate rounding
_BETWEEN_TEXTS: Final = 6.0  # between numbers side by side, so that they do not look like one
_CLEAR: Final = 9.0  # from a number without a leader to all other dots
_LEADERS: Final = range(14, 300, 6)  # from the edge of a dot to a number that has a leader
_STEP: Final = 6  # from one place along a roof to the next
_TIP: Final = 8.0  # leaders may meet this close to a dot: several dots may have the same centre
_SMALL_RADIUS: Final = 6.0  # the leader of a smaller dot ends at its edge, so that it is visible

# Directions from a dot to its number, in degrees. No leader is horizontal, because it would look
# like the hyphen of a range: `5-7`.
_WITH_LEADER: Final = (30, -30, 60, -60, 150, -150, 90, -90, 120, -120)
_WITHOUT_LEADER: Final = (0, 30, -30, 60, -60, 180, 150, -150, 90, -90, 120, -120)

# How bad a place is, in pixels: as bad as a place that is otherwise good, but so far away.
_PASSES_A_DOT: Final = 30.0
_HIDES_A_ROOF: Final = 60.0
_HIDES_A_DOT: Final = 1e3
_CROSSES_A_LEADER: Final = 1e4
_HIDES_A_TEXT: Final = 1e6

_LEADER: Final[dict[str, Any]] = {
    "arrowstyle": "-|>,head_length=0.25,head_width=0.12",
    "linewidth": 0.8,
    "shrinkA": 0,
}
_STYLE: Final[dict[str, Any]] = {
    "textcoords": "offset points",
    "fontsize": 9,
    "ha": "center",
    "va": "center",
    "bbox": {"boxstyle": "square,pad=0", "color": "white", "alpha": 0.8, "linewidth": 0},
    "zorder": 4,
}


class _Place(NamedTuple):
    """A place for a label."""

    distance: float
    """How far the place is from the best one, in pixels."""
    box: Bbox
    has_leader: bool = False


class LabelPlaces:
    """Puts labels into axes. The layout must be final, because places are in pixels.

    Each label gets the place with the least cost. Of equal places, it gets the first one.
    """

    def __init__(
        self, axes: Axes, roofs: Sequence[Line2D], dots: Floats, sizes_pt2: Floats
    ) -> None:
        """Avoid `roofs` and `dots`. The dots have the shape (dots, 2), in data coordinates."""
        self._axes, self._dots = axes, dots
        self._frame = axes.get_window_extent()
        self._px_per_pt = axes.figure.dpi / 72
        self._centers: Floats = np.asarray(axes.transData.transform(dots))
        self._radii = np.sqrt(sizes_pt2) / 2 * self._px_per_pt
        # `_dots_near` finds dots by their x, because many dots would take long.
        self._by_x = np.argsort(self._centers[:, 0], kind="stable")
        self._sorted_x = self._centers[self._by_x, 0]
        self._reach = max(self._radii.tolist(), default=0.0) + _CLEAR
        self._roofs = [Path(axes.transData.transform(roof.get_xydata())) for roof in roofs]
        legend = axes.get_legend()
        self._texts = [legend.get_window_extent()] if legend else []
        self._leaders: list[Path] = []
        self._tips: dict[int, Bbox] = {}

    def label_roof(self, words: str, roof: Line2D) -> None:
        """Write `words` at a roof, in its colour.

        The best place is above the right end of a flat roof, or below the left end of the slope. If
        there are dots, the text moves along the roof, or to its other side.
        """
        points = np.asarray(roof.get_xydata())
        if is_flat := points[0, 1] == points[1, 1]:
            points = points[::-1]
        text, box = self._new_text(words, points[0], str(roof.get_color()))
        start, end = self._axes.transData.transform(points)
        places: list[_Place] = []
        for side in (1, -1) if is_flat else (-1, 1):  # 1 is above the roof
            # A text above the slope ends at it, and a text below the slope begins at it.
            x = -1 if is_flat else -side
            beside = box.translated(x * (box.width / 2 + _GAP), side * (box.height / 2 + _GAP))
            for share in np.arange(0, 1, _STEP / np.hypot(*(end - start))):
                moved = beside.translated(*(share * (end - start)))
                places.append(_Place(len(places) * _STEP, moved))
        place, _ = self._best(places)
        self._put(text, place)

    def label_dots(self, dots: Sequence[int], colors: Sequence[str]) -> None:
        """Write the numbers from 1 on beside these dots; with a leader, if other dots are near.

        `colors` has the colour of each dot's number. A dot gets no number if all places hide other
        texts.
        """
        self._tips = {dot: Bbox([self._centers[dot]] * 2).padded(_GAP) for dot in dots}
        for number, dot in enumerate(dots, 1):
            radius, color = float(self._radii[dot]), colors[dot]
            shrink = (radius + 1) / self._px_per_pt if radius < _SMALL_RADIUS else 0.0
            leader = {**_LEADER, "color": color, "shrinkB": shrink}
            text, box = self._new_text(str(number), self._dots[dot], color, arrowprops=leader)
            places = []
            for gap in (_GAP, *_LEADERS):
                for degrees in _WITHOUT_LEADER if gap == _GAP else _WITH_LEADER:
                    x, y = cos(radians(degrees)), sin(radians(degrees))
                    far = radius + gap + (abs(x) * box.width + abs(y) * box.height) / 2
                    places.append(_Place(gap - _GAP, box.translated(far * x, far * y), gap > _GAP))
            place, cost = self._best(places, dot)
            if cost < _HIDES_A_TEXT:
                self._put(text, place, dot)
            else:
                text.remove()

    def _new_text(
        self, words: str, point: Floats, color: str, **style: Any
    ) -> tuple[Annotation, Bbox]:
        """Return a text with its centre at `point`, and its box."""
        text = self._axes.annotate(
            words, tuple(point), xytext=(0, 0), color=color, **_STYLE, **style
        )
        text.get_window_extent()  # moves the text to its position
        return text, Text.get_window_extent(text)  # without the leader

    def _best(self, places: Sequence[_Place], dot: int | None = None) -> tuple[_Place, float]:
        """Return the place with the least cost, and its cost. `places` are in order of distance."""
        best, least = places[0], inf
        for place in places:
            if place.distance >= least:
                break
            cost = place.distance + self._cost_of_text(place, dot)
            if dot is not None and place.has_leader:
                cost += self._cost_of_leader(self._leader(place.box, dot), dot)
            if cost < least:
                best, least = place, cost
        return best, least

    def _cost_of_text(self, place: _Place, dot: int | None) -> float:
        """Return how bad it is to put a text at this place; `dot` is the dot that it labels."""
        box, wide = place.box.padded(_TOO_NEAR), place.box.padded(_BETWEEN_TEXTS, _TOO_NEAR)
        is_inside = self._frame.contains(*box.min) and self._frame.contains(*box.max)
        is_free = is_inside and not any(wide.overlaps(text) for text in self._texts)
        gap = _CLEAR if dot is not None and not place.has_leader else _TOO_NEAR
        near = self._dots_near(place.box, gap)
        return (
            (0 if is_free else _HIDES_A_TEXT)
            + _HIDES_A_DOT * np.count_nonzero(near != dot)  # a number is always beside its own dot
            + _HIDES_A_ROOF * _count_in(place.box, self._roofs)
            + _CROSSES_A_LEADER * _count_in(box, self._leaders)
        )

    def _dots_near(self, box: Bbox, gap: float) -> NDArray[np.int64]:
        """Return the dots that are less than `gap` pixels from a box."""
        ends = np.searchsorted(self._sorted_x, [box.x0 - self._reach, box.x1 + self._reach])
        near: NDArray[np.int64] = self._by_x[slice(*ends.tolist())]
        centers = self._centers[near]
        outside = np.maximum(np.maximum(box.min - centers, centers - box.max), 0)
        return near[np.hypot(outside[:, 0], outside[:, 1]) < self._radii[near] + gap]

    def _cost_of_leader(self, leader: Path, dot: int) -> float:
        """Return how bad it is to draw this leader to this dot."""
        others = [tip for numbered, tip in self._tips.items() if numbered != dot]
        crossed = sum(leader.intersects_path(other, filled=False) for other in self._leaders)
        crossed += sum(leader.intersects_bbox(text, filled=False) for text in self._texts)
        passed = sum(leader.intersects_bbox(tip, filled=False) for tip in others)
        return _CROSSES_A_LEADER * crossed + _PASSES_A_DOT * passed

    def _leader(self, box: Bbox, dot: int) -> Path:
        """Return the line from the centre of a number's box to a dot, without its tip."""
        center = self._centers[dot]
        line = _center(box) - center
        return Path([center + line, center + line * (_TIP / np.hypot(*line))])

    def _put(self, text: Annotation, place: _Place, dot: int | None = None) -> None:
        """Move a text to a place, which is then no longer free."""
        start = self._axes.transData.transform(text.xy)
        text.xyann = tuple((_center(place.box) - start) / self._px_per_pt)
        self._texts.append(place.box)
        if dot is not None and place.has_leader:
            self._leaders.append(self._leader(place.box, dot))
        elif text.arrow_patch is not None:
            text.arrow_patch.set_visible(False)


def _count_in(box: Bbox, lines: Iterable[Path]) -> int:
    """Return how many lines go through a box."""
    return sum(line.intersects_bbox(box, filled=False) for line in lines)


def _center(box: Bbox) -> Floats:
    return np.array([box.x0 + box.x1, box.y0 + box.y1]) / 2

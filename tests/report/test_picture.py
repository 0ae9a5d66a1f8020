"""Pictures: the dots, lines and texts in them, and their files."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from functools import cache
from itertools import combinations, product
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Literal, cast
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.text import Text

import profile_analyze as pa
from profile_analyze.cli.output.plot import picture_of
from profile_analyze.model.executions import Run
from profile_analyze.model.findings import Finding, Kind
from profile_analyze.model.notes import Importance, TextNote
from profile_analyze.report.facts.roofline import roofline_caption
from profile_analyze.report.layout.text_layout import text_width
from profile_analyze.report.pictures.bar_chart import by_style, draw_times
from profile_analyze.report.pictures.chart_texts import notes_of_picture
from profile_analyze.report.pictures.charts import draw_roofline
from profile_analyze.report.pictures.roofs import draw_roofs
from profile_analyze.report.sections import Chart
from profile_analyze.roofline.peaks import Peaks
from tests.conftest import PROFILES, run_command, some_of
from tests.in_memory import profile_of
from tests.readers.pytorch.events import document, op

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection
    from matplotlib.patches import Rectangle
    from matplotlib.text import Annotation

    from profile_analyze.model.notes import Note
    from profile_analyze.report.layout.times import TimeUnit

RESNET = str(PROFILES / "resnet18.json")
PEAKS = pa.parse_peaks("100G:20G")


@cache
def roofline(
    query: pa.Query, name: str = "resnet18", layout: Literal["constrained"] | None = None
) -> tuple[pa.Table, Axes]:
    """Return the answer and its picture. Computing a layout takes long: few tests need one."""
    profile = pa.load(str(PROFILES / f"{name}.json"))
    result = pa.run(query, profile)
    figure = Figure(figsize=(11, 7), layout=layout)
    caption = roofline_caption(pa.summarise(profile, judged_by=query))
    draw_roofline(figure, Chart("roofline", result, caption))
    return result, figure.axes[0]


# Taking every fourth pair tests each profile and each key once.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "by"),
    some_of(product(("resnet18", "mobilenet", "odd-ops"), ((), ("type",), ("param.mode",))), 4),
)
def test_each_row_with_flops_has_a_dot(name: str, by: tuple[str, ...]) -> None:
    result, axes = roofline(pa.Query(by=by, peaks=PEAKS), name)
    with np.errstate(invalid="ignore"):
        rows = (result["flops"] > 0) & (result["intensity"] > 0)
    expected = sorted(zip(result["intensity"][rows], result["flops"][rows], strict=True))
    series = cast("Sequence[PathCollection]", axes.collections)
    drawn = np.concatenate([np.asarray(dots.get_offsets()) for dots in series])
    np.testing.assert_allclose(sorted(map(tuple, drawn.tolist())), expected)
    sizes = np.concatenate([dots.get_sizes() for dots in series])
    assert sizes.max() == pytest.approx(900.0)


@pytest.mark.slowest
def test_types_beyond_the_first_nine_are_grey() -> None:
    work = {"computation": 1.0, "memory": 1.0}
    profile = profile_of(
        [{"name": str(n), "type": f"T{n}"} | work for n in range(12)],
        [{"operator": n, "duration_s": 12.0 - n} for n in range(12)],
    )
    figure = Figure()
    draw_roofline(figure, Chart("roofline", pa.run(pa.Query(peaks=PEAKS), profile)))
    *types, others = figure.axes[0].collections
    assert others.get_label() == "3 more types"
    colors = [tuple(np.asarray(dots.get_facecolor())[0, :3]) for dots in types]
    assert len(set(colors)) == 9
    assert all(max(color) - min(color) > 0.2 for color in colors)


@pytest.mark.parametrize(
    ("peaks", "dtypes", "expected"),
    [
        ("a100-80gb-sxm", ["fp16", "fp32", None], {"fp32": 19.5e12, "fp16": 312e12}),
        ("a100-80gb-sxm", ["fp16", "bf16"], {"fp16, bf16": 312e12}),
        ("a100-80gb-sxm:int8", [None], {"int8": 624e12}),
        ("a100-80gb-sxm:tf32", ["fp32", "uint8"], {"tf32": 156e12, "int8": 624e12}),
        ("100G:20G", ["fp16", None], {"": 100e9}),
        # The list of devices has no fp64 rate for this one, so all its rates are drawn.
        (
            "a100-80gb-sxm",
            ["fp64"],
            {"fp32": 19.5e12, "tf32": 156e12, "fp16, bf16": 312e12, "int8": 624e12},
        ),
    ],
)
def test_each_rate_that_operators_use_has_a_roof_with_its_name(
    peaks: str, dtypes: list[str | None], expected: dict[str, float]
) -> None:
    work = {"computation": 1e9, "memory": 1e6}
    moves = {"computation": 0.0, "memory": 1e6}  # no computation, so its dtype, fp8, has no roof
    profile = profile_of(
        [*({"name": str(n)} | work for n in range(len(dtypes))), {"name": "copy"} | moves],
        [{"operator": n, "duration_s": 1.0} for n in range(len(dtypes) + 1)],
        columns={"optional": {"compute_dtype": pa.Categorical.of([*dtypes, "fp8"])}},
    )
    figure = Figure()
    table = pa.run(pa.Query(peaks=pa.parse_peaks(peaks)), profile)
    draw_roofline(figure, Chart("roofline", table))
    axes = figure.axes[0]
    assert table.query.peaks
    slope, *roofs = [np.asarray(line.get_xydata()) for line in axes.lines]
    bandwidth = table.query.peaks.bandwidth
    np.testing.assert_allclose(slope[:, 1] / slope[:, 0], bandwidth)
    assert [line[0][1] for line in roofs] == [*expected.values()]
    np.testing.assert_allclose([line[0][1] / line[0][0] for line in roofs], bandwidth)
    # A roof with a name has the text `fp32 19.50 TFLOPS`, and one without a name `100.00 GFLOPS`.
    labels = [text.get_text().rsplit(" ", 2)[0] for text in axes.texts[1 : len(roofs) + 1]]
    named = sorted(filter(None, expected), key=lambda name: expected[name])
    assert [label for label in labels if not label[:1].isdigit()] == named


def test_long_rows_without_a_dot_are_in_the_list() -> None:
    works = [(1e9, 1e6), (None, 1e6), (1e9, None), (0.0, 1e6), (1e9, 1e6), (None, 1e6)]
    profile = profile_of(
        [
            {"name": f"op{n}", "computation": computation, "memory": memory}
            for n, (computation, memory) in enumerate(works)
        ],
        [{"operator": n, "duration_s": 6.0 - n} for n in range(len(works))],
    )
    figure = Figure()
    draw_roofline(figure, Chart("roofline", pa.run(pa.Query(peaks=PEAKS), profile)))
    (listed,) = [text.get_text() for text in figure.axes[0].texts if "\n" in text.get_text()]
    assert listed.splitlines() == [
        "1  op0",
        "     6.000 s, 28.6%",
        "-  op1",
        "     5.000 s, 23.8%",
        "     no dot: computation unknown",
        "-  op2",
        "     4.000 s, 19.0%",
        "     no dot: memory unknown",
        "-  op3",
        "     3.000 s, 14.3%",
        "     no dot: no computation",
        "2  op4",
        "     2.000 s, 9.5%",
    ]


NO_RATE = "for which RTX 3090 has no known rate"
NO_INT8 = f"operators of int8, {NO_RATE}"


@pytest.mark.parametrize(
    ("dtypes", "by", "hollow", "remark"),
    [
        ("fp32 fp16 fp32", (), [], ""),
        ("int8 int8 int8", (), [0, 1, 2], f"3 hollow dots are not judged: {NO_INT8}"),
        ("int8 fp16 fp32", (), [0], f"1 hollow dot is not judged: {NO_INT8}"),
        (
            *("int8 fp16 fp64", (), [0, 2]),
            f"2 hollow dots are not judged: {NO_INT8}; of fp64, {NO_RATE}",
        ),
        # The first two operators have the same type.
        ("int8 fp16 fp32", ("type",), [], f"1 dot is judged only in part: {NO_INT8}"),
        (
            *("int8 fp32 int8", ("type",), [1]),
            f"1 hollow dot is not judged, 1 dot is judged only in part: {NO_INT8}",
        ),
    ],
)
def test_dots_without_a_roof_are_hollow(
    dtypes: str, by: tuple[str, ...], hollow: list[int], remark: str
) -> None:
    work = {"computation": 1e9, "memory": 1e6}
    profile = profile_of(
        [
            *({"name": str(n), "type": type_} | work for n, type_ in enumerate("AAB")),
            {"name": "view", "type": "A", "computation": 0.0, "memory": 0.0},  # has no dot
        ],
        [{"operator": n, "duration_s": 4.0 - n} for n in range(4)],
        columns={"optional": {"compute_dtype": pa.Categorical.of([*dtypes.split(), "int8"])}},
    )
    table = pa.run(pa.Query(by=by, peaks=pa.parse_peaks("rtx-3090")), profile)
    figure = Figure()
    draw_roofline(figure, Chart("roofline", table))
    (axes,) = figure.axes
    unfilled = [dots for dots in axes.collections if not len(dots.get_facecolor())]
    assert sum(len(np.asarray(dots.get_offsets())) for dots in axes.collections) == (2 if by else 3)
    drawn = np.concatenate([[], *(np.asarray(dots.get_offsets())[:, 1] for dots in unfilled)])
    assert sorted(drawn) == sorted(table["flops"][hollow])
    legend = axes.get_legend()
    assert legend is not None
    labels = [text.get_text() for text in legend.get_texts()]
    assert sorted(labels) == ["A", "B", *(["not judged"] if hollow else [])]
    _, *remarks = axes.get_title(loc="left").splitlines()
    assert " ".join(line for line in remarks if "no dot" not in line) == remark


@pytest.mark.slowest
def test_the_ten_largest_dots_have_numbers_that_do_not_overlap() -> None:
    result, axes = roofline(pa.Query(peaks=PEAKS), layout="constrained")
    bandwidth, rate, names, *numbers = axes.texts
    assert names.get_text().splitlines()[:4] == [
        "1  conv(l.7.RELU[0],f\N{HORIZONTAL ELLIPSIS}2773]@2774)[3443]",
        "     8.782 ms, 8.5%",
        "2  conv(l.1.RELU[0],f\N{HORIZONTAL ELLIPSIS}1972]@1973)[3314]",
        "     8.270 ms, 8.0%",
    ]
    lines = names.get_text().splitlines()[::2]
    assert [line.split()[1][:14] for line in lines] == [name[:14] for name in result["name"][:10]]
    assert [text.get_text() for text in numbers] == ["1, 3, 4", "2, 5, 7", "6", "8", "9, 10"]
    assert Text.get_window_extent(names).x0 > axes.get_window_extent().x1
    boxes = [text.get_window_extent() for text in (bandwidth, rate, *numbers)]
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
    for box in boxes:
        assert axes.get_window_extent().contains(box.x0, box.y0)
        assert axes.get_window_extent().contains(box.x1, box.y1)


def test_each_number_is_at_its_dot_and_hides_no_small_one() -> None:
    works = [(2.0, 5e9, 2.0), (0.2, 1e9, 1e-3), (0.2, 1e9, 1e-4)]
    axes = roofline_of_dots(works)
    *_, large, small = cast("Sequence[Annotation]", axes.texts)
    assert (large.get_text(), small.get_text()) == ("1", "2, 3")
    small_x, _ = axes.transData.transform((0.2, 1e9))
    box = large.get_window_extent()
    middle = [(box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2]
    np.testing.assert_allclose(middle, axes.transData.transform((2.0, 5e9)), atol=1)
    assert 3 < small.get_window_extent().x0 - small_x < 9
    (dots,) = cast("Sequence[PathCollection]", axes.collections)
    assert small.xy == pytest.approx(tuple(np.asarray(dots.get_offsets())[1]))


def test_texts_of_near_roofs_are_beside_each_other() -> None:
    rates = {"fp32": 60e12, "bf16": 62e12, "fp16": 64e12, "int8": 200e12}
    axes = Figure(figsize=(11, 7)).add_subplot()
    draw_roofs(axes, rates, Peaks("made up", (*rates.items(),), 1e12, "tests"), [1.0], [1e12])
    slope, *texts = axes.texts
    assert slope.get_text() == "1000 GB/s"
    assert [text.get_text().split()[0] for text in texts] == ["fp32", "bf16", "fp16", "int8"]
    boxes = [text.get_window_extent() for text in axes.texts]
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
    assert texts[3].get_window_extent().x1 == pytest.approx(texts[0].get_window_extent().x1)


@pytest.mark.parametrize(
    ("dtypes", "has_colors"), [(["fp32", "bf16", "bf16"], True), (["bf16"] * 3, False)]
)
def test_edges_of_dots_have_the_colour_of_their_flat_roof(
    dtypes: list[str], *, has_colors: bool
) -> None:
    works = [(50.0, 3e13, 3.0), (650.0, 9e13, 2.0), (10.0, 1e12, 1.0)]
    axes = roofline_of_dots(works, "h200-sxm", dtypes)
    slope, *flat = [to_hex(str(line.get_color())) for line in axes.lines]
    rates = [float(np.asarray(line.get_ydata())[0]) for line in axes.lines[1:]]
    assert len(set(flat)) == (2 if has_colors else 1)
    assert (slope not in flat) == has_colors
    colors = {to_hex(str(text.get_color())) for text in axes.texts[: len(flat) + 1]}
    assert colors == {slope, *flat}
    # The last dot is limited by the slope; without fp32, the first one is, too.
    of_rate = dict(zip(rates, flat, strict=True))
    white = to_hex("white")
    expected = [of_rate[67e12], of_rate[989e12], white] if has_colors else [white] * 3
    (dots,) = axes.collections
    edges = [to_hex(tuple(color)) for color in np.asarray(dots.get_edgecolor()).tolist()]
    assert edges == expected


def roofline_of_dots(
    works: Sequence[tuple[float, float, float]],
    peaks: str = "100G:20G",
    dtypes: Sequence[str] | None = None,
) -> Axes:
    """Return the roofline of operators with these intensities, FLO/s and seconds."""
    profile = profile_of(
        [
            {"name": str(n), "computation": flops * time, "memory": flops * time / intensity}
            for n, (intensity, flops, time) in enumerate(works)
        ],
        [{"operator": n, "duration_s": time} for n, (_, _, time) in enumerate(works)],
        columns={"optional": {"compute_dtype": pa.Categorical.of(dtypes or [None] * len(works))}},
    )
    figure = Figure(figsize=(11, 7))
    table = pa.run(pa.Query(peaks=pa.parse_peaks(peaks)), profile)
    draw_roofline(figure, Chart("roofline", table))
    return figure.axes[0]


def test_a_long_list_below_a_high_title_fits_into_the_picture() -> None:
    result, axes = roofline(pa.Query(peaks=PEAKS))
    figure = Figure(figsize=(11, 6.5), layout="constrained")
    draw_roofline(figure, Chart("roofline", result, "many words " * 250))
    ours, usual = figure.axes[0].texts[2], axes.texts[2]
    assert ours.get_text() == usual.get_text()
    assert 3 < float(ours.get_fontsize()) < float(usual.get_fontsize()) == 8
    assert ours.get_window_extent().y0 > 0


def test_the_title_says_how_many_rows_have_no_dot() -> None:
    _, axes = roofline(pa.Query(peaks=PEAKS))
    assert axes.get_title(loc="left").splitlines()[1:] == [
        "At the roof, the operators would take 35.8% of their time. Judged: 100.0% of the time. Unknown memory: 0.0%.",
        "26 dots are above their roof: caches, inputs that are read in part, or peaks that are too low (device, dtype)",
        "42 of 91 rows have no FLOPS or no intensity, and so no dot",
    ]


def test_long_lines_of_the_title_are_wrapped() -> None:
    caption = "the columns efficiency, lost and gain mean nothing " * 4
    figure = Figure()
    result, _ = roofline(pa.Query(peaks=PEAKS))
    draw_roofline(figure, Chart("roofline", result, caption))
    _, *lines = figure.axes[0].get_title(loc="left").splitlines()
    assert " ".join(lines).startswith(caption)
    assert max(map(len, lines)) == 113


def test_the_title_says_if_one_dot_is_above_its_roof() -> None:
    _, axes = roofline(pa.Query(where="type == PoolingForward", peaks=PEAKS))
    assert axes.get_title(loc="left").splitlines()[-1] == (
        "1 dot is above its roof: caches, inputs that are read in part, or peaks that are too low (device, dtype)"
    )
    _, axes = roofline(pa.Query(peaks=pa.parse_peaks("10T:2T")))
    assert "above" not in axes.get_title(loc="left")


def test_bars_show_the_longest_times_and_their_shares() -> None:
    result = pa.run(pa.Query(), pa.load(RESNET))
    figure = Figure()
    draw_times(figure, Chart("times", result))
    bars, shares = figure.axes
    widths = [bar.get_width() for bar in cast("Sequence[Rectangle]", bars.patches)]
    assert widths == pytest.approx((result["time"][:30] * 1e3).tolist())
    assert bars.get_xlabel() == "device self time (ms)"
    assert [text.get_text() for text in bars.texts][:3] == ["8.782", "8.270", "8.163"]
    texts = [label.get_text() for label in shares.get_yticklabels()]
    assert texts[:3] == [
        "8.5% (8.5% in sum)",
        "8.0% (16.4% in sum)",
        "7.9% (24.3% in sum)",
    ]
    assert len(texts) == 30
    assert shares.get_ylabel() == "share of all operators' time (and the sum from the top)"
    assert shares.get_ylim() == bars.get_ylim()
    assert figure.get_suptitle().endswith(
        "resnet18.json: 103.739 ms\nthe 30 longest of 91 rows; a picture has 30 at most"
    )


def test_bars_have_the_chosen_unit() -> None:
    figure = Figure()
    draw_times(figure, Chart("times", pa.run(pa.Query(), pa.load(RESNET)), most_rows=2), "s")
    bars = figure.axes[0]
    assert len(bars.patches) == 2
    assert bars.get_xlabel() == "device self time (s)"
    title = figure.get_suptitle()
    assert title.endswith("resnet18.json: 0.103739 s\nthe 2 longest of 91 rows")


@pytest.mark.parametrize(
    ("most", "inches", "drawn"),
    [
        (1, 3.25, "the longest of 91 rows"),
        (3, 3.25, "the 3 longest of 91 rows"),
        (5, 4.75, "the 5 longest of 91 rows"),
        (8, 7.0, "the 8 longest of 91 rows"),
        (30, 7.0, "the 30 longest of 91 rows; a picture has 30 at most"),
    ],
)
def test_a_picture_of_few_bars_is_low(most: int, inches: float, drawn: str) -> None:
    figure = Figure(figsize=(11, 7))
    draw_times(figure, Chart("times", pa.run(pa.Query(), pa.load(RESNET)), most_rows=most))
    assert figure.get_figheight() == inches
    assert figure.get_suptitle().splitlines()[1] == drawn
    title = figure.axes[1].get_ylabel()
    assert title.replace("\n", " ") == "share of all operators' time (and the sum from the top)"
    assert title.count("\n") == (most < 5)


def test_shares_that_do_not_add_up_have_no_sums() -> None:
    # Each operator ran in one run only, and its share is relative to the total of this run.
    profile = profile_of(
        [{"name": "a", "type": "A"}, {"name": "b", "type": "B"}],
        [{"operator": n, "run": n, "duration_s": 3.0 - n} for n in range(2)],
        runs=(Run(), Run()),
    )
    table = pa.run(pa.Query(), profile)
    assert table["cumulative_share"].tolist() == [1.0, 2.0]
    figure = Figure()
    draw_times(figure, Chart("times", table))
    shares = figure.axes[1]
    assert [label.get_text() for label in shares.get_yticklabels()] == ["100.0%", "100.0%"]
    assert shares.get_ylabel() == "share of all operators' time"


@pytest.mark.parametrize(
    ("most", "remark"),
    [
        (1, "the longest of 3 rows"),
        (2, "1 row has a time in only some of the runs: the time shown is of these runs"),
        (3, "2 rows have a time in only some of the runs: the time shown is of these runs"),
    ],
)
@pytest.mark.parametrize("compared", [False, True])
def test_the_title_counts_drawn_rows_that_ran_in_only_some_of_the_runs(
    most: int, remark: str, *, compared: bool
) -> None:
    times = {(0, 0): 9.0, (0, 1): 9.0, (1, 0): 5.0, (2, 1): 4.0}  # (operator, run)
    profile = profile_of(
        [{"name": name, "computation": 1.0, "memory": 1.0} for name in "abc"],
        [{"operator": n, "run": run, "duration_s": one} for (n, run), one in times.items()],
        runs=[Run(), Run(), Run(wall_s=1.0)],  # the last run has no device times
    )
    source = pa.compare(profile, profile) if compared else profile
    table = pa.run(pa.Query(compared=compared, order="time", peaks=PEAKS), source)
    for draw in (draw_times, draw_roofline):
        figure = Figure()
        draw(figure, Chart("times", table, most_rows=most))
        title = figure.get_suptitle() or figure.axes[0].get_title(loc="left")
        which = "largest difference" if compared and draw == draw_times else "longest"
        assert remark.replace("longest", which) in title
        assert ("only some of the runs" in title) == (most > 1)


def test_rows_with_different_labels_may_cover_different_runs() -> None:
    day = pa.Categorical.of(["d1", "d2"])
    profile = profile_of(
        [{"name": "a"}, {"name": "b"}],
        [{"operator": n, "run": run, "duration_s": 1.0} for n, run in ((0, 0), (0, 1), (1, 0))],
        runs=[Run(0), Run(1)],
        processes=("a.json", "b.json"),
    ).changed(labels={"day": day})
    figure = Figure()
    draw_times(figure, Chart("times", pa.run(pa.Query(by=("day", "name"), labels="day"), profile)))
    assert "only some" not in figure.get_suptitle()


@pytest.mark.parametrize(
    ("efficiency", "text"), [(0.0004, "<0.1%"), (0.0006, "0.1%"), (0.358, "35.8%")]
)
def test_the_caption_of_a_roofline_has_no_share_of_0(efficiency: float, text: str) -> None:
    profile = profile_of(
        [{"name": "a", "computation": efficiency * 100e9, "memory": 1.0}],
        [{"operator": 0, "duration_s": 1.0}],
    )
    caption = roofline_caption(pa.summarise(profile, judged_by=pa.Query(peaks=PEAKS)))
    assert caption.startswith(f"At the roof, the operators would take {text} of their time. ")


def test_the_caption_of_a_roofline_names_the_judged_operators_if_others_are_not_judged() -> None:
    profile = profile_of(
        [{"name": "a", "computation": 10e9, "memory": 1.0}, {"name": "b"}],
        [{"operator": n, "duration_s": 1.0} for n in range(2)],
    )
    caption = roofline_caption(pa.summarise(profile, judged_by=pa.Query(peaks=PEAKS)))
    assert caption.startswith(
        "At the roof, the judged operators would take 10.0% of their time. Judged: 50.0% of the "
        "time. "
    )


@pytest.mark.parametrize(
    ("most", "last_line"),
    [
        (1, "the longest of 49 rows with FLOPS and intensity"),
        (2, "the 2 longest of 49 rows with FLOPS and intensity"),
    ],
)
def test_the_title_of_a_roofline_says_which_rows_are_drawn(most: int, last_line: str) -> None:
    result, _ = roofline(pa.Query(peaks=PEAKS))
    figure = Figure()
    draw_roofline(figure, Chart("roofline", result, most_rows=most))
    assert figure.axes[0].get_title(loc="left").splitlines()[-1] == last_line


@pytest.mark.parametrize(
    ("top", "bars"), [([], 30), (["-t", "0"], 30), (["-t", "3"], 3), (["-t", "99"], 30)]
)
def test_top_limits_the_bars(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, top: list[str], bars: int
) -> None:
    drawn: list[int] = []

    def draw(figure: Figure, chart: Chart, time_unit: TimeUnit) -> None:
        draw_times(figure, chart, time_unit)
        assert time_unit == "us"
        drawn.append(len(figure.axes[0].patches))
        figure.clear()  # the file does not matter

    monkeypatch.setattr("profile_analyze.report.pictures.charts.draw_times", draw)
    file = str(tmp_path / "a.svg")
    assert run_command(RESNET, *top, "--time-unit", "us", "--plot", file).code == 0
    assert drawn == [bars]


@pytest.mark.slowest
def test_top_limits_the_dots(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    drawn: list[tuple[list[int], str]] = []
    listed: list[str] = []

    def draw(figure: Figure, chart: Chart, time_unit: TimeUnit) -> None:
        draw_roofline(figure, chart, time_unit)
        axes = figure.axes[0]
        dots = [len(np.asarray(dots.get_offsets())) for dots in axes.collections]
        drawn.append((dots, axes.get_title(loc="left").splitlines()[-1]))
        listed.append(next(text.get_text() for text in axes.texts if "\n" in text.get_text()))
        figure.clear()  # the file does not matter

    monkeypatch.setattr("profile_analyze.report.pictures.charts.draw_roofline", draw)
    without = "42 of 91 rows have no FLOPS or no intensity, and so no dot"
    cases = [
        ([], [20, 26, 2, 1], without),
        (["-t", "0"], [20, 26, 2, 1], without),
        (["-t", "49"], [20, 26, 2, 1], without),
        (["-t", "3"], [3], "the 3 longest of 49 rows with FLOPS and intensity"),
    ]
    for number, (top, dots, last_line) in enumerate(cases):
        file = str(tmp_path / f"{number}.svg")
        arguments = (*top, "--order-by", "+time", "--peaks", "100G:20G", "--plot", file)
        assert run_command(RESNET, *arguments).code == 0
        assert drawn[-1] == (dots, last_line)
        assert listed[-1].startswith("1  conv(l.7.RELU[0],")  # the longest row has a dot


def test_long_names_are_cut_in_the_middle() -> None:
    names = [f"{'layer.' * 40}{n}" for n in range(3)] + ["short", "卷积" * 60]
    profile = profile_of(
        [{"name": name, "type": "T"} for name in names],
        [{"operator": n, "duration_s": 9.0 - n} for n in range(5)],
    )
    figure = Figure()
    draw_times(figure, Chart("times", pa.run(pa.Query(), profile)))
    shown = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert [name[-8:] for name in shown[:3]] == [".layer.0", ".layer.1", ".layer.2"]
    assert all(text_width(name) <= 75 for name in shown)
    assert shown[3] == "short"
    assert (shown[4][:2], shown[4][-2:]) == ("卷积", "卷积")


LAYER = "/features/features.{}/block/block.{}/Conv_output_0_nchwc"
LAYERS = [LAYER.format(n, m) for n in (9, 10, 11) for m in (0, 1)]


@pytest.mark.parametrize("draw", [draw_times, draw_roofline])
@pytest.mark.parametrize("times", [1, 5])
def test_long_names_and_types_stay_different(
    draw: Callable[[Figure, Chart], None], times: int
) -> None:
    names = [f"{'/model' * 9 * (times - 1)}{name}{'/weight' * 9 * (times - 1)}" for name in LAYERS]
    profile = profile_of(
        [{"name": name, "type": name, "computation": 8e9, "memory": 1e9} for name in names],
        [{"operator": n, "duration_s": 9.0 - n} for n in range(len(names))],
    )
    figure = Figure(figsize=(11, 7))
    draw(figure, Chart("times", pa.run(pa.Query(peaks=PEAKS), profile)))
    axes = figure.axes[0]
    shown = [label.get_text() for label in axes.get_yticklabels()]
    if draw == draw_roofline:
        (listed,) = [text.get_text() for text in axes.texts if "\n" in text.get_text()]
        lines = [line[2:].strip() for line in listed.splitlines()]
        assert max(map(len, lines)) <= 36
        ends = [index for index, line in enumerate(lines) if line.endswith("%")]
        starts = [0, *(end + 1 for end in ends)]
        shown = ["".join(lines[slice(*ends_of)]) for ends_of in zip(starts, ends, strict=False)]
        legend = axes.get_legend()
        assert legend is not None
        types = [text.get_text() for text in legend.get_texts()]
        assert len({*types}) == len(types) == len(names)
        assert max(map(len, types)) <= 28
    assert len({*shown}) == len(names)
    if times == 1:
        assert shown == names
    assert all(name.split("/")[2] in short for name, short in zip(LAYERS, shown, strict=True))


def test_names_in_the_list_have_at_most_two_lines() -> None:
    shape, channels = "{64,1024,14,14}", "{1024}, {1024}, {1024}, {1024}"
    names = [f"{shape}, {shape}, {{{size}}}, {channels}" for size in (1024, 2048)]
    profile = profile_of(
        [{"name": name, "computation": 8e9, "memory": 1e9} for name in names],
        [{"operator": 0, "duration_s": 2.0}, {"operator": 1, "duration_s": 1.0}],
    )
    figure = Figure()
    draw_roofline(figure, Chart("roofline", pa.run(pa.Query(peaks=PEAKS), profile)))
    (listed,) = [text.get_text() for text in figure.axes[0].texts if "\n" in text.get_text()]
    lines = [line[2:].strip() for line in listed.splitlines()]
    assert [line.endswith("%") for line in lines] == [False, False, True] * 2
    assert max(map(len, lines)) <= 36
    assert lines[1] != lines[4]


@pytest.mark.parametrize("compared", [False, True])
@pytest.mark.parametrize(
    ("name", "time_s"),
    [("short", 1.0), ("layer." * 40, 1.11616e-4), ("W" * 90, 1.11616e-4), ("W" * 90, 123456.789)],
)
def test_texts_beside_bars_do_not_overlap(name: str, time_s: float, *, compared: bool) -> None:
    def side(factor: float, file: str) -> pa.Profile:
        return profile_of(
            [{"name": f"{name}{n}"} for n in range(3)],
            [{"operator": n, "duration_s": factor * time_s / 10**n} for n in range(3)],
            processes=[file],
        )

    new = side(1.07, "new.json")
    source = pa.compare(new, side(1.0, "old.json")) if compared else new
    figure = Figure(figsize=(11, 7), layout="constrained")
    draw_times(figure, Chart("times", pa.run(pa.Query(compared=compared), source)), "us")
    figure.draw_without_rendering()
    axes, right = figure.axes
    frame = axes.get_window_extent()
    at_bars = [Text.get_window_extent(text) for text in axes.texts if text.get_text()]
    assert len(at_bars) == (6 if compared else 3)
    assert frame.x1 - 10 < max(box.x1 for box in at_bars) < frame.x1
    longest = max(bar.get_window_extent().x1 for bar in axes.patches)
    assert frame.width * 0.6 < longest - frame.x0
    beside = [text.get_window_extent() for text in right.get_yticklabels()]
    assert min(box.x0 for box in beside) > frame.x1
    names = [text.get_window_extent() for text in axes.get_yticklabels()]
    assert max(box.x1 for box in names) < frame.x0
    assert max(box.width for box in names) <= figure.bbox.width / 2
    # The file has the figure's width: texts beyond it would be cut off.
    assert min(box.x0 for box in names) >= 0
    assert right.yaxis.label.get_window_extent().x1 <= figure.bbox.x1


PEAKS_OPTIONS: tuple[list[str], ...] = ([], ["--peaks", "1T:1G"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("peaks", "suffix", "start"),
    some_of(
        (
            (peaks, suffix, start)
            for peaks in PEAKS_OPTIONS
            for suffix, start in (("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF"))
        ),
        5,
    ),
)
def test_a_picture_is_written_beside_the_same_answer(
    tmp_path: Path, suffix: str, start: bytes, peaks: list[str]
) -> None:
    file = tmp_path / f"a.{suffix}"
    outcome = run_command(RESNET, "-t", "1", "--plot", str(file), *peaks)
    assert outcome.code == 0
    assert file.read_bytes().startswith(start)
    assert outcome.out == run_command(RESNET, "-t", "1", *peaks).out
    again = run_command(RESNET, "--plot", str(file))
    assert (again.code, again.out) == (1, "")


@pytest.mark.slowest
@pytest.mark.parametrize(
    ("name", "peaks"),
    # All times of derived-zero are 0, so it has no roofline.
    [
        *((name, []) for name in ("derived-zero", "derived-utf8names", "names")),
        *((name, ["--peaks", "1T:1G"]) for name in ("derived-utf8names", "names")),
    ],
)
def test_odd_profiles_can_be_drawn(tmp_path: Path, name: str, peaks: list[str]) -> None:
    path = str(PROFILES / f"{name}.json")
    outcome = run_command(path, "--plot", str(tmp_path / "a.svg"), *peaks)
    assert outcome.code == 0, outcome.err
    assert outcome.err == run_command(path, *peaks).err
    text = (tmp_path / "a.svg").read_text(encoding="utf-8")
    texts = list(ET.fromstring(text).itertext())
    assert ("nan" in text) == (name == "names" and not peaks)  # an operator is called nan
    assert any("卷积" in text for text in texts) == (name == "derived-utf8names")


def test_a_roofline_without_dots_is_not_drawn(tmp_path: Path) -> None:
    path, file = str(PROFILES / "derived-zero.json"), tmp_path / "a.svg"
    outcome = run_command(path, "--plot", str(file), "--peaks", "1T:1G")
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err == (
        f"profile_analyze: error: {file}: not drawn: no operator has known work and a time; without "
        "--peaks, --plot draws times\n"
    )
    assert not file.exists()


@pytest.mark.slowest
def test_names_are_shown_without_markup(tmp_path: Path) -> None:
    document = json.loads(Path(RESNET).read_text())
    document["graph_exec"]["operator"]["324"]["name"] = "<b>$x^2$&--></b>\x1b"
    (tmp_path / "a.json").write_text(json.dumps(document))
    run_command(str(tmp_path / "a.json"), "--plot", str(tmp_path / "a.svg"))
    texts = ET.fromstring((tmp_path / "a.svg").read_text()).itertext()
    assert r"<b>$x^2$&--></b>\x1b" in {text.strip() for text in texts}


def test_picture_and_answer_need_two_files(tmp_path: Path) -> None:
    file = str(tmp_path / "a.svg")
    outcome = run_command(RESNET, "--plot", file, "-o", file, "--format", "csv", "--force")
    assert outcome.code == 1
    assert outcome.err.endswith("a.svg: -o and --plot name the same file; name two files\n")
    assert list(tmp_path.iterdir()) == []


def svg_of(folder: Path, *arguments: str) -> str:
    """Return the picture of a call. The layout takes long: tests that use it are marked slowest."""
    file = folder / "a.svg"
    outcome = run_command(RESNET, *arguments, "-t", "0", "--force", "--plot", str(file))
    assert outcome.code == 0, outcome.err
    return file.read_text(encoding="utf-8")


@pytest.mark.slowest
def test_the_longest_rows_are_drawn_in_any_order(tmp_path: Path) -> None:
    first, second = (svg_of(tmp_path, "--order-by", order) for order in ("time", "+time"))
    assert first == second


@pytest.mark.slowest
def test_the_roofline_shows_the_device_if_the_host_is_printed(tmp_path: Path) -> None:
    peaks = ("--peaks", "1T:1G")
    first, second = (svg_of(tmp_path, *peaks, "--print-only", one) for one in ("device", "host"))
    assert first == second


def test_an_unknown_suffix_is_refused() -> None:
    outcome = run_command("none", "--plot", "a.gif")
    assert outcome.code == 2
    assert outcome.err.endswith(
        "argument --plot: 'a.gif' has none of the suffixes .svg, .png, .pdf; write a.svg\n"
    )


@pytest.mark.parametrize(
    ("name", "options", "reason"),
    [
        (
            "smallcnn",
            ["--where", "time > 99"],
            "time > 99: 99 means 99 s, which no operator meets; did you mean "
            "99us?; none of 32 operators with a device time matches",
        ),
        (
            "smallcnn",
            ["--aggregate-by", "type", "--having", "time > 99s"],
            "time > 99s: no group meets this; the largest value is 234 us; none of 10 groups "
            "matches",
        ),
        (
            "resnet18-onlywait",
            [],
            "no operator has a device time; profile again with device times",
        ),
    ],
)
@pytest.mark.parametrize("peaks", [[], ["--peaks", "1T:1G"]])
def test_nothing_is_written_if_nothing_can_be_drawn(
    tmp_path: Path, name: str, options: list[str], reason: str, peaks: list[str]
) -> None:
    file, answer = str(tmp_path / "a.svg"), str(tmp_path / "a.csv")
    path = str(PROFILES / f"{name}.json")
    outcome = run_command(path, *options, *peaks, "--plot", file, "-o", answer)
    message = f"profile_analyze: error: {file}: not drawn: {reason}\n"
    assert (outcome.code, outcome.out, outcome.err) == (1, "", message)
    assert list(tmp_path.iterdir()) == []
    notes = run_command(path, *options, *peaks).err
    assert [part for part in reason.split("; none of") if part not in notes] == []


COMPARED = pa.compare(
    profile_of(
        [
            {"name": name, "type": "T", "computation": 8e9, "memory": 1e9}
            for name in ("slower", "added")
        ],
        [{"operator": 0, "duration_s": 4.0}, {"operator": 1, "duration_s": 1.0}],
        processes=["new.json"],
    ),
    profile_of(
        [
            {"name": name, "type": "T", "computation": 8e9, "memory": 1e9}
            for name in ("slower", "removed")
        ],
        [{"operator": 0, "duration_s": 2.0}, {"operator": 1, "duration_s": 3.0}],
        processes=["old.json"],
    ),
)


def test_a_comparison_has_a_second_bar_for_the_baseline() -> None:
    figure = Figure(layout="constrained")
    draw_times(figure, Chart("times", pa.run(pa.Query(compared=True, order="time"), COMPARED)))
    axes, ratios = figure.axes
    bars, baseline = axes.containers
    assert [bar.get_width() for bar in bars] == pytest.approx([4.0, 1.0, np.nan], nan_ok=True)
    assert [bar.get_width() for bar in baseline] == pytest.approx([2.0, np.nan, 3.0], nan_ok=True)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["profile", "baseline"]
    assert [label.get_text() for label in ratios.get_yticklabels()] == [
        "2.00",
        "N/A added",
        "N/A removed",
    ]
    title = figure.get_suptitle()
    assert title == "new.json: 5.000 s; baseline old.json: 5.000 s"


def test_a_comparison_shows_verdicts_in_the_order_of_its_table(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    figures: list[Figure] = []

    def draw(figure: Figure, chart: Chart, time_unit: TimeUnit) -> None:
        draw_times(figure, chart, time_unit)
        figures.append(figure)

    monkeypatch.setattr("profile_analyze.report.pictures.charts.draw_times", draw)
    monkeypatch.chdir(PROFILES.parent)
    file = str(tmp_path / "a.svg")
    arguments = ("runs/changed", "--compare", "runs/base", "-t", "3", "--plot", file)
    assert run_command(*arguments).code == 0
    (figure,) = figures
    axes, ratios = figure.axes
    assert [label.get_text() for label in ratios.get_yticklabels()] == [
        "2.71 (2.28 to 2.92) more work",
        "0.846 (0.780 to 1.00) uncertain",
        "0.906 (0.886 to 1.06) uncertain",
    ]
    others, more_work, baseline = axes.containers
    assert [bar.get_width() for bar in others] == pytest.approx(
        [np.nan, 8.691, 12.193], abs=1e-3, nan_ok=True
    )
    assert [bar.get_width() for bar in more_work] == pytest.approx(
        [25.843, np.nan, np.nan], abs=1e-3, nan_ok=True
    )
    assert [bar.get_width() for bar in baseline] == pytest.approx([9.530, 10.270, 13.457], abs=1e-3)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        "profile",
        "more work",
        "baseline",
    ]
    assert figure.get_suptitle().splitlines() == [
        "24 files of runs/changed: 182.470 ms; baseline 24 files of runs/base: 184.548 ms",
        "device time: ratio 0.989 (95 %: 0.968 to 1.18), verdict uncertain (p 0.121, threshold 3.0%)",
        "the 3 largest differences of 91 rows",
    ]


@pytest.mark.parametrize(
    ("operators", "runs", "noise", "verdict", "basis"),
    [
        (
            *(21, 4, 0.0, "uncertain"),
            "p corrected for the number of rows and times relative to the other operators",
        ),
        (5, 4, 0.0, "uncertain", "p corrected for the number of rows"),
        (21, 8, 0.1, "slower", "times relative to the other operators"),
        (1, 8, 0.0, "slower", ""),
        (1, 8, 0.013, "uncertain", "a threshold of 21.0%"),
    ],
)
def test_the_title_says_why_a_verdict_differs_from_its_interval(
    operators: int, runs: int, noise: float, verdict: str, basis: str
) -> None:
    def side(first_s: float, name: str) -> pa.Profile:
        times_s = [first_s, *[1.0] * (operators - 1)]
        return pa.join_runs(
            profile_of(
                [{"name": f"n{row}"} for row in range(operators)],
                [
                    {
                        "operator": row,
                        "duration_s": time_s * (1 + run / 1e3 + noise * (3 * run % runs)),
                    }
                    for row, time_s in enumerate(times_s)
                ],
                processes=[f"{name}{run}.json"],
            )
            for run in range(runs)
        )

    threshold = 0.21 if "threshold" in basis else 0.03
    comparison = pa.compare(side(1.2, "new"), side(1.0, "old"))
    table = pa.run(pa.Query(compared=True, threshold=threshold, top=1), comparison)
    assert table["verdict"].tolist() == [verdict]
    figure = Figure()
    draw_times(figure, Chart("times", table))
    *_, last_line = figure.get_suptitle().splitlines()
    assert last_line.partition("verdicts are based on ")[2] == basis


def test_the_legend_has_the_styles_of_the_drawn_rows() -> None:
    amounts = np.array([1.0, 2.0])
    assert list(by_style(amounts, ["slower", "profile"], "profile")) == ["profile", "slower"]
    assert list(by_style(amounts, ["slower", "slower"], "profile")) == ["slower"]


def test_the_title_names_a_single_difference() -> None:
    figure = Figure()
    draw_times(figure, Chart("times", pa.run(pa.Query(compared=True), COMPARED), most_rows=1))
    assert figure.get_suptitle().endswith("the largest difference of 3 rows")


LONG_FILES = tuple(f"{'experiment/' * 12}{side}/relu-fused-into-convolution.json" for side in "ab")


SHORT_FILES = (
    "experiment/experiment/experiment/expe\N{HORIZONTAL ELLIPSIS}nt/a/relu-fused-into-convolution.json",
    "baseline experiment/experiment/experi\N{HORIZONTAL ELLIPSIS}nt/b/relu-fused-into-convolution.json",
)


@pytest.mark.parametrize(
    ("draw", "lines"),
    [
        (draw_times, [f"{name}: 5.000 s" for name in SHORT_FILES]),
        (
            draw_roofline,
            [
                "Roofline: 100G:20G",
                *SHORT_FILES,
                "1 of 3 rows has no FLOPS or no intensity, and so no dot",
            ],
        ),
    ],
)
def test_a_title_with_long_file_names_fits_into_the_picture(
    draw: Callable[[Figure, Chart], None], lines: list[str]
) -> None:
    sides = [
        replace(side, file=file, processes=(file,))
        for side, file in zip((COMPARED.profile, COMPARED.base), LONG_FILES, strict=True)
    ]
    compared = replace(COMPARED, profile=sides[0], base=sides[1])
    figure = Figure(figsize=(11, 7), layout="constrained")
    chart = Chart("times", pa.run(pa.Query(compared=True, peaks=PEAKS), compared))
    draw(figure, chart)
    figure.draw_without_rendering()
    (title,) = (text for text in figure.findobj(Text) if str(text.get_text()).startswith(lines[0]))
    assert title.get_text().splitlines() == lines
    box = Text.get_window_extent(title)
    assert box.x0 >= 0
    legends = [legend.get_window_extent() for legend in figure.legends]
    assert box.x1 <= min([figure.bbox.x1, *(legend.x0 for legend in legends)])


@pytest.mark.parametrize(
    ("repeats", "is_damaged", "line"),
    [
        (2, False, "iterations: perhaps 2 in the run; times and calls are their sums"),
        (2, True, "the file ends in the middle, so events are missing; copy or export it again"),
        (1, False, ""),
    ],
)
def test_the_title_says_what_the_times_are(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, repeats: int, line: str, *, is_damaged: bool
) -> None:
    drawn: list[str] = []
    monkeypatch.setattr(
        "profile_analyze.report.pictures.charts.draw_times",
        lambda figure, chart, unit: drawn.append(title_of(figure, chart, unit)),
    )
    names = [f"aten::{name}" for name in ("relu", "add", "mul", "sum", "cat")] * repeats
    content = document(*(op(name, 20 * n, 10 + n) for n, name in enumerate(names)))
    path = tmp_path / "trace.json"
    path.write_bytes(content[: -len(content) // 20] if is_damaged else content)
    assert run_command(str(path), "--plot", str(tmp_path / "a.svg")).code == 0
    assert drawn[0].splitlines()[1:] == ([line] if line else [])


def title_of(figure: Figure, chart: Chart, unit: TimeUnit) -> str:
    draw_times(figure, chart, unit)
    return str(figure.get_suptitle())


def lines_of_notes(*notes: str) -> tuple[str, ...]:
    """Return what a picture shows of notes that numbers are wrong."""
    summary = pa.summarise(pa.load(RESNET))
    return notes_of_picture(summary, [TextNote(text, Importance.WRONG) for text in notes])


def test_notes_that_are_too_long_are_cut_after_a_clause() -> None:
    text = "the device time is the sum of 2 streams, which may have run at the same time"
    assert lines_of_notes(f"{text}; {'advice ' * 10}") == (text,)
    words = "words " * 12  # two lines have space for three of these
    assert lines_of_notes(f"a, so {words * 2}: {words * 2}") == (f"a, so {words * 2}",)
    # No clause ends inside brackets, before `but`, or after a subject such as `on both sides`.
    start = f"{words}(1, which b), c"
    assert lines_of_notes(f"{start}, so {words * 3}") == (start,)
    assert lines_of_notes(f"{words}(1, which {words * 3})") == ()
    assert lines_of_notes(f"{words}, but {words * 3}") == ()
    assert lines_of_notes(f"on both sides: {words * 4}", "b") == ("b",)


def test_each_note_has_a_line_and_the_most_important_may_have_two() -> None:
    first, second = "f" * 60, "s" * 60
    longest = f"{first}: {second}"
    assert lines_of_notes(*(f"{n}{longest}" for n in range(4))) == (
        f"0{longest}",
        f"1{first}",
        f"2{first}",
    )
    assert lines_of_notes("0", f"1{longest}", "2") == ("0", f"1{longest}", "2")
    # The second note has no clause that fits into a line, and the third has no space then.
    word = "long " * 40
    assert lines_of_notes(longest, word, "third") == (longest, word)


def test_a_picture_has_the_most_important_notes_first() -> None:
    texts = {one: one.name for one in Importance if one >= Importance.DAMAGED}
    notes = [TextNote(text, importance) for importance, text in reversed(texts.items())]
    summary = pa.summarise(pa.load(RESNET))
    assert notes_of_picture(summary, notes) == ("DAMAGED", "ANSWER", "WRONG")
    # Notes on dots are not needed, and notes on hardly any time are unimportant.
    few: list[Note] = [
        TextNote("on few", Importance.WRONG, 0.0001),
        Finding.of("faster-than-roof", Kind.WRONG),
    ]
    assert notes_of_picture(summary, [*few, *notes]) == ("DAMAGED", "ANSWER", "WRONG")


@pytest.mark.parametrize("peaks", [False, True])
def test_the_title_of_a_comparison_says_if_only_the_operators_became_faster(*, peaks: bool) -> None:
    def side(device_s: float, file: str) -> pa.Profile:
        return profile_of(
            [{"name": "a", "computation": 1.0, "memory": 1.0}],
            [{"operator": 0, "run": n, "duration_s": device_s * (1 + n / 1e3)} for n in range(8)],
            runs=[Run(n, wall_s=10.0 + n / 1e3) for n in range(8)],
            processes=[f"{file}{n}" for n in range(8)],
        )

    compared = pa.compare(side(1.0, "new"), side(2.0, "old"))
    query = pa.Query(compared=True, peaks=PEAKS if peaks else None)
    asking: Any = SimpleNamespace(queries={"device": query}, query=query, asked_side="device")
    showing: Any = SimpleNamespace(most_rows=0, appearance=SimpleNamespace(time_unit="ms"))
    (chart,) = picture_of(compared, asking, showing, "a.svg").all_of(Chart)
    assert chart.notes[0].startswith(
        "operators take 1000 ms less than in the baseline, but a whole run takes as long: "
    )


def test_a_picture_of_the_host_has_no_verdict_on_the_device(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    drawn: list[Chart] = []
    monkeypatch.setattr(
        "profile_analyze.report.pictures.charts.draw_times",
        lambda _, chart, __: drawn.append(chart),
    )
    runs = [str(PROFILES.parent / "runs" / side) for side in ("changed", "base")]
    arguments = ("--print-only", "host", "--plot", str(tmp_path / "a.svg"))
    assert run_command(runs[0], "--compare", runs[1], *arguments).code == 0
    assert [chart.caption for chart in drawn] == [""]


@pytest.mark.parametrize("by", [(), ("type", "name")])
def test_a_line_leads_from_each_dot_to_the_baseline(by: tuple[str, ...]) -> None:
    figure = Figure(layout="constrained")
    query = pa.Query(compared=True, order="time", peaks=PEAKS, by=by)
    draw_roofline(figure, Chart("roofline", pa.run(query, COMPARED)))
    (axes,) = figure.axes
    dots, baseline = axes.collections
    np.testing.assert_allclose(np.asarray(dots.get_offsets()), [[8.0, 2e9], [8.0, 8e9]])
    # `added` has no dot for the baseline: the operator exists only in the profile.
    np.testing.assert_allclose(np.asarray(baseline.get_offsets()), [[8.0, 4e9], [np.nan, np.nan]])
    _, _, line, _ = axes.lines  # the first two are roofs
    np.testing.assert_allclose(np.asarray(line.get_xydata()), [[8.0, 4e9], [8.0, 2e9]])
    legend = axes.get_legend()
    assert legend is not None
    assert legend.get_texts()[-1].get_text() == "baseline"
    title = axes.get_title(loc="left").splitlines()[0]
    assert title == "Roofline: 100G:20G, new.json, baseline old.json"


@pytest.mark.slowest
def test_pictures_do_not_count_constants_as_memory(tmp_path: Path) -> None:
    """Tables in the format `table` count them, as the original does."""
    call = ("--where", "memory > 0", "--peaks", "1T:1G", "--format")
    first, second = (svg_of(tmp_path, *call, style) for style in ("table", "plain"))
    assert first == second


def test_a_missing_matplotlib_is_an_error(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from profile_analyze.cli.main import main\n"
        "sys.exit(main(sys.argv[1:]))"
    )
    arguments = [sys.executable, "-c", code, RESNET, "--plot", str(tmp_path / "a.svg")]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "profile_analyze: error: --plot needs matplotlib; install the extra plot: "
        "pip install 'profile_analyze[plot]'\n"
    )

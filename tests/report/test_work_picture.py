"""Pictures of models: bars of multiply-adds, and of least possible times."""

from __future__ import annotations

from functools import partial
from math import nan
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from matplotlib.figure import Figure

from profile_analyze import Query, compare, load, parse_peaks, run
from profile_analyze.report.pictures.work_chart import draw_work
from profile_analyze.report.sections import Chart
from tests.conftest import ROOT, run_command
from tests.readers.onnx.models import model, write_model

SMALL = "tests/fixtures/classifiers/classifier.onnx"
WIDE = "tests/fixtures/classifiers/classifier-wide.onnx"
approx = partial(pytest.approx, nan_ok=True)
PEAKS = ("--peaks", "1T:100G")


def texts(file: Path) -> list[str]:
    """Return the texts of an SVG file."""
    elements = ET.fromstring(file.read_text()).iter("{http://www.w3.org/2000/svg}text")
    return ["".join(element.itertext()) for element in elements]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (
            (SMALL, "-t", "3"),
            [
                *("0", "500 K", "1 M", "1.50 M", "2 M", "multiply-adds"),
                *("block.conv1", "block.conv2", "stem"),
                *("2.36 M", "2.36 M", "442.37 K"),
                *(
                    "45.7% (45.7% in sum)",
                    "45.7% (91.4% in sum)",
                    "8.6% (100.0% in sum)",
                    "share of all multiply-adds (and the",
                    "sum from the top)",
                ),
                *(
                    Path(SMALL).name,
                    "multiply-adds: 5.16 M",
                    "the 3 largest of 4 rows",
                ),
                "14 of 18 rows have no multiply-adds, and so no bar",
            ],
        ),
        (
            (SMALL, *PEAKS, "-t", "3", "--time-unit", "us"),
            [
                *("0", "1", "2", "3", "4", "least possible time (us)"),
                *(
                    "block.conv1",
                    "block.conv2",
                    "block.add",
                    "4.719",
                    "4.719",
                    "1.966",
                    "27.5% (27.5% in sum)",
                    "27.5% (55.0% in sum)",
                    "11.5% (66.4% in sum)",
                ),
                *("share of all least possible time", "(and the sum from the top)"),
                *(
                    Path(SMALL).name,
                    "least possible time: 17.164 us, each operator on its own",
                ),
                "the 3 longest of 9 rows",
                "9 of 18 rows have no least possible time, and so no bar",
                *("compute-bound", "memory-bound"),
            ],
        ),
        (
            (WIDE, "--compare", SMALL, "--aggregate-by", "type"),
            [
                *("0", "2 M", "4 M", "6 M", "8 M", "10 M", "multiply-adds"),
                *("Conv", "Gemm", "11.28 M", "240", "5.16 M", "160"),
                *("2.19", "1.50", "ratio to the baseline"),
                f"{Path(WIDE).name}; baseline {Path(SMALL).name}",
                "multiply-adds: 11.28 M (+6.12 M, +118.6%: 5.16 M in the baseline)",
                "5 of 7 rows have no multiply-adds, and so no bar",
                *("model", "baseline"),
            ],
        ),
    ],
)
def test_pictures_of_models_have_these_texts(
    tmp_path: Path, arguments: tuple[str, ...], expected: list[str]
) -> None:
    file = tmp_path / "a.svg"
    outcome = run_command(*arguments, "--plot", str(file))
    assert (outcome.code, outcome.out) == (0, run_command(*arguments).out)
    assert texts(file) == expected


def test_each_bound_has_its_own_bars() -> None:
    table = run(Query(peaks=parse_peaks("1T:100G"), order="least_time"), load(ROOT / SMALL))
    figure = Figure()
    draw_work(figure, Chart("work", table, most_rows=3, column="least_time"))
    compute, memory = figure.axes[0].containers
    assert [bar.get_width() for bar in compute][:2] == approx([4.718592, 4.718592])
    assert [bar.get_width() for bar in memory][2:] == approx([1.96608])


def test_a_legend_names_the_bound_even_if_it_is_the_same_for_all() -> None:
    query = Query(peaks=parse_peaks("1G:100T"), order="least_time")
    figure = Figure()
    chart = Chart("work", run(query, load(ROOT / SMALL)), most_rows=3, column="least_time")
    draw_work(figure, chart)
    assert len(figure.axes[0].containers) == 1
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["compute-bound"]


def test_added_and_removed_rows_have_one_bar(tmp_path: Path) -> None:
    graph = "g (float[2, 3] x, float[3, 3] w) => (float[2, 3] y) {{ y = {} (x, w) }}"
    new, old = (
        load(write_model(tmp_path, model(graph.format(kind)), f"{kind}.onnx"))
        for kind in ("MatMul", "Gemm")
    )
    table = run(Query(compared=True, by="type"), compare(new, old))
    figure = Figure()
    draw_work(figure, Chart("work", table, column="macs"))
    axes, right = figure.axes
    widths = [[bar.get_width() for bar in bars] for bars in axes.containers]
    assert widths == [[18, approx(nan)], [approx(nan), 18]]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["MatMul", "Gemm"]
    assert [label.get_text() for label in right.get_yticklabels()] == ["added", "removed"]


def test_nothing_is_drawn_without_work(tmp_path: Path) -> None:
    file = tmp_path / "a.svg"
    outcome = run_command("tests/fixtures/models/decoder_dynamo.onnx", "--plot", str(file))
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err == (
        f"profile_analyze: error: {file}: not drawn: macs is 0 or N/A in all rows; without "
        "--plot, notes say why\n"
    )
    assert not file.exists()

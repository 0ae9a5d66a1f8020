"""Real files: their sums equal an independent count, and their work follows from their shapes."""

from __future__ import annotations

import gzip
from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np
import pytest

import profile_analyze as pa
from profile_analyze.model.findings import Finding, Kind
from profile_analyze.model.levels.levels import at_level
from tests.conftest import PROFILES
from tests.findings.found import said
from tests.readers.openvino.independent import expected

if TYPE_CHECKING:
    from pathlib import Path

FOLDER = PROFILES.parent / "openvino"
SAMPLES = sorted(path for path in FOLDER.iterdir() if "average" not in path.name)


def seconds_by_type(path: Path) -> dict[str, float]:
    profile = at_level(pa.load(path))
    found: dict[str, float] = defaultdict(float)
    # A layer that took less than 1 us in a stream has no time in that stream.
    times_s = np.nansum(profile.measured("time"), axis=1) / len(profile.runs)
    for type_, time_s in zip(profile.operators.type.values(), times_s.tolist(), strict=True):
        if time_s:
            found[type_] += time_s
    return found


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_the_sums_by_type_equal_an_independent_count(path: Path) -> None:
    assert pa.load(path).check() == ()
    assert seconds_by_type(path) == pytest.approx(
        {type_: time for type_, time in expected(path).items() if time}
    )


@pytest.mark.parametrize("name", ["layers-f32", "layers-bf16", "resnet50"])
def test_a_graph_and_the_counters_of_the_same_run_have_equal_totals(name: str) -> None:
    graph, counters = (
        sum(seconds_by_type(FOLDER / f"{name}-2026.4.{suffix}.gz").values())
        for suffix in ("xml", "csv")
    )
    assert graph == pytest.approx(counters, rel=1e-12)


def sums(name: str, column: str, *categories: str) -> float:
    operators = at_level(pa.load(FOLDER / name)).operators
    values = operators.numbers(column)
    known = operators.category.categories
    return float(values[operators.category.where(one in categories for one in known)].sum())


def test_resnet50_has_its_known_multiply_adds_and_parameters() -> None:
    assert sums("resnet50-2026.4.xml.gz", "macs", "convolution") == 4_087_136_256
    assert sums("resnet50-2026.4.xml.gz", "macs", "matmul") == 2048 * 1000
    # weights of 53 convolutions and one product, and their biases
    assert sums("resnet50-2026.4.xml.gz", "params", "convolution") == 23_454_912 + 26_560
    assert sums("resnet50-2026.4.xml.gz", "params", "matmul") == 2048 * 1000 + 1000


@pytest.mark.parametrize("precision", ["f32", "bf16"])
def test_each_type_of_layer_has_the_multiply_adds_of_its_formula(precision: str) -> None:
    operators = at_level(pa.load(FOLDER / f"layers-{precision}-2026.4.xml.gz")).operators
    macs = dict(zip(operators.name.values(), operators.numbers("macs").tolist(), strict=True))
    image = 16 * 16
    assert {name: count for name, count in macs.items() if count > 0} == {
        "conv": 16 * image * 16 * 9,
        "group": 16 * image * 4 * 9,
        "depthwise": 16 * image * 9,
        "transposed": 16 * image * 8 * 4,
        "matmul": 32 * 24 * 64,
        "product": 32 * 32 * 24,
        "lstm": 6 * 2 * 32 * (16 + 8),
        "gru": 6 * 2 * 24 * (16 + 8),
    }


def test_counters_joined_with_the_graph_have_multiply_adds() -> None:
    profile = at_level(pa.load(FOLDER / "resnet50-2026.4.csv.gz"))
    joined = pa.with_model(profile, pa.load(FOLDER / "resnet50-2026.4.xml.gz"))
    macs = joined.operators.numbers("macs")
    assert np.nansum(macs) == 4_087_136_256 + 2048 * 1000
    name = str(FOLDER / "resnet50-2026.4.xml.gz")
    assert f"{name}: 59 operators matched by name, 0 by order" in said(joined.notes)


def test_requests_of_several_streams_are_runs() -> None:
    profile = pa.load(FOLDER / "layers-requests-2026.4.json.gz")
    assert (len(profile.processes), [run.step for run in profile.runs]) == (1, [1, 2])
    assert profile.origin.times == "mean"


def test_a_report_that_the_tool_cut_is_refused_or_noted(tmp_path: Path) -> None:
    with pytest.raises(pa.MalformedProfileError) as error:
        pa.load(FOLDER / "layers-average-2026.4.json.gz")
    assert error.value.reason == (
        "has one layer, which did not run: benchmark_app writes only the first layer of average "
        "counters as JSON; use detailed_counters, or CSV (without -json_stats)"
    )
    data = gzip.decompress((FOLDER / "layers-average-2026.4.json.gz").read_bytes())
    path = tmp_path / "ran.json"
    path.write_bytes(data.replace(b"NOT_RUN", b"EXECUTED"))
    notes = pa.load(path).notes
    assert notes[0] == Finding.of("one-layer-of-average-counters", Kind.DAMAGED)

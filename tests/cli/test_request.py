"""The four values of a request: what to read, to ask, how to show, where to write."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import pytest

from profile_analyze.cli.inputs.part import Part
from profile_analyze.cli.options.asking import Asking, SqlQuestion
from profile_analyze.cli.options.parser import parse
from profile_analyze.cli.options.reading import Reading
from profile_analyze.cli.options.showing import Showing
from profile_analyze.cli.options.writing import Writing
from profile_analyze.cli.output.appearance import Appearance
from profile_analyze.cli.request import Request
from profile_analyze.query.question import Query
from profile_analyze.readers.input.content import MAX_SIZE
from profile_analyze.readers.model_inputs import NO_INPUTS
from profile_analyze.report.formats.output_formats import find_renderer
from tests.small import Operator, written

if TYPE_CHECKING:
    from pathlib import Path

MOST_IN_COMMON = 3


@pytest.mark.parametrize(("one", "other"), [*combinations((Reading, Asking, Showing, Writing), 2)])
def test_two_values_have_few_fields_in_common(one: type[Request], other: type[Request]) -> None:
    assert len({*one._fields} & {*other._fields}) <= MOST_IN_COMMON


def test_a_call_is_four_values(tmp_path: Path) -> None:
    file = written(tmp_path / "a.json", [Operator("conv", "Conv", 1)])
    arguments = parse(
        [
            *(file, "-t", "2", "--columns", "time,name,time", "--show-host", "-o", "b.csv"),
            *("--force", "--skip-runs=1", "--no-cache", "--from=1ms", "--notes=all"),
        ]
    )
    reading, asking, showing, writing = Request.of(arguments)
    assert reading.sources.files == [file]
    assert reading == Reading(
        sources=reading.sources,
        labels=None,
        max_size=MAX_SIZE,
        cache=None,
        engine="local",
        skip_bad=False,
        skip_runs=1,
        part=Part(from_s=1e-3),
        inputs=NO_INPUTS,
        model=None,
        work=None,
        match="auto",
        correct_drift=False,
    )
    queries = {"device": Query(top=2), "host": Query(measure="host_time", top=2)}
    assert asking == Asking(
        queries=queries,
        peaks=None,
        asked_side="device",
        sides=("device", "host"),
        chooses_side=True,
        leaves_out_host=False,
        copy_time=False,
        gate=None,
        explain=None,
        sql=None,
        inspect=None,
        view=None,
    )
    assert showing.renderer is not None
    assert showing.renderer.name == find_renderer("csv").name
    assert showing == Showing(
        renderer=showing.renderer,
        columns=("time", "name"),
        summary=True,
        most_rows=2,
        appearance=Appearance(
            "auto", "auto", "all", paged=True, codes=frozenset(), ignored=frozenset()
        ),
    )
    assert writing == Writing("b.csv", force=True, plot=None, write_model=None, export=None)
    assert writing.files == {"-o": "b.csv"}


def test_standard_output_is_no_file() -> None:
    arguments = parse(["a.json", "-o", "-", "--sql", "select 1", "--sql-timeout=2min"])
    request = Request.of(arguments)
    assert request.writing == Writing(None, force=False, plot=None, write_model=None, export=None)
    assert request.asking.sql == SqlQuestion("select 1", 120.0)


def test_conditions_on_labels_choose_files_and_others_choose_rows() -> None:
    label = ["--label", "nightly/{date}.json", "--where", "date == 1", "--where", "time > 1ms"]
    arguments = parse(["nightly/1.json", *label])
    request = Request.of(arguments)
    assert request.reading.labels is not None
    assert [one.text for one in request.reading.labels.chosen] == ["date == 1"]
    assert request.asking.query.where == ("time > 1ms",)
    assert arguments.where == ["date == 1", "time > 1ms"]

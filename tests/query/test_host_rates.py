"""FLOPS and bandwidth of host times: only the formats of the original tool show them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import profile_analyze as pa
from profile_analyze.columns.catalog import find_column
from profile_analyze.model.findings import Finding, Kind
from profile_analyze.report.formats.output_formats import OPERATORS, find_renderer
from profile_analyze.report.layout.times import time_text
from profile_analyze.views.worked import worked_through
from tests.conftest import FORMATS_FOR_PEOPLE, PROFILES, run_command
from tests.in_memory import CPU, STREAM, THREAD, profile_of

RATES = ("flops", "bandwidth")
HOST = pa.Query(measure="host_time")


def launched() -> pa.Profile:
    """Return an operator that works 2 s on the device, and is launched in 1 s by the host."""
    return profile_of(
        [{"name": "mm", "computation": 6.0, "memory": 4.0}],
        [{"operator": 0, "track": track, "duration_s": 2.0 - track} for track in (0, 1)],
        tracks=(STREAM, THREAD),
    )


def rates(query: pa.Query, profile: pa.Profile) -> list[float]:
    table = pa.run(query, profile)
    return [float(table[name][0]) for name in RATES]


@pytest.mark.parametrize("groups", [{}, {"by": "type"}, {"aggregates": "max"}])
def test_host_times_have_no_rates_unless_the_question_asks_for_them(
    groups: dict[str, Any],
) -> None:
    profile = launched()
    assert rates(pa.Query(**groups), profile) == [3.0, 2.0]
    assert np.isnan(rates(HOST.changed(**groups), profile)).all()
    assert rates(HOST.changed(**groups, host_rates=True), profile) == [6.0, 4.0]


def test_the_self_time_has_rates_only_where_it_is_the_time_of_the_device() -> None:
    query = pa.Query(measure="self")
    assert np.isnan(rates(query, launched())).all()
    on_cpu = profile_of(
        [{"name": "mm", "computation": 6.0, "memory": 4.0}],
        [{"operator": 0, "duration_s": 2.0}],
        tracks=(CPU,),
    )
    assert rates(query, on_cpu) == [3.0, 2.0]


def test_an_explanation_says_why_a_host_time_has_no_rate() -> None:
    first, *_ = worked_through(pa.run(HOST, launched()), find_column("flops"), time_text)
    assert first == (
        "flops = computation / time = 6.00 FLO / 1.000 s = N/A; the row does its work outside of "
        "the host self time"
    )


def test_an_order_says_which_times_have_no_rate() -> None:
    profile = profile_of(
        [{"name": name, "computation": 6.0} for name in "ab"],
        [{"operator": row, "duration_s": 1.0} for row in (0, 1)],
        tracks=(THREAD,),
    )
    idle = {"column": "flops", "of_host": True, "has_times": True}
    assert pa.run(HOST.changed(order="flops"), profile).notes == (
        Finding.of("idle-order", Kind.ANSWER, **idle),
    )


@pytest.mark.parametrize("output_format", [one for one in FORMATS_FOR_PEOPLE if one != OPERATORS])
def test_only_formats_of_the_original_tool_show_rates_of_the_host(output_format: str) -> None:
    call = (str(PROFILES / "resnet18.json"), "-t", "3", "--format", output_format, "--print-only")
    device, host = (run_command(*call, side).out.lower() for side in ("device", "host"))
    assert "flops" in device
    assert ("flops" in host) == find_renderer(output_format).follows_original

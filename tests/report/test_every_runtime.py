"""Whole reports in every output format, on profiles as different runtimes write them.

The profiles are made in memory (`tests/in_memory.py`), so that nothing depends on a file format.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import profile_analyze as pa
from profile_analyze.findings.sentences import as_text
from tests import in_memory
from tests.conftest import FIXTURES, TABLE_FORMATS, without_version
from tests.report.json_schema import check_report

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

OUTPUTS = FIXTURES / "reports" / "every_runtime"


def eight_files() -> pa.Profile:
    """Return eight processes of four iterations each. Each process is slower than the one before."""
    return pa.join_runs(in_memory.four_steps(f"{i}.json", 1 + i / 100) for i in range(8))


def slower_files() -> pa.Profile:
    return pa.join_runs(in_memory.four_steps(f"new{i}.json", 1.2 + i / 100) for i in range(8))


def answer(profile: pa.Profile | pa.Comparison, **question: Any) -> pa.Report:
    """Return a report as the command makes it."""
    compared = isinstance(profile, pa.Comparison)
    query = pa.Query(compared=compared, **question)
    summary = pa.summarise(profile, judged_by=query)
    table = pa.run(query, profile)
    return pa.Report.of(
        summary,
        (table,),
        source=profile,
        notes=tuple(dict.fromkeys((*summary.notes, *table.notes))),
    )


REPORTS: Mapping[str, Callable[[], pa.Report]] = {
    "static": lambda: answer(in_memory.static()),
    "static_by_type": lambda: answer(in_memory.static(), by="type"),
    "averages": lambda: answer(in_memory.averages()),
    "synchronised": lambda: answer(in_memory.synchronised()),
    "nested_operator": lambda: answer(in_memory.nested()),
    "nested_operator_host": lambda: answer(in_memory.nested(), measure="host_time"),
    "nested_top": lambda: answer(in_memory.nested(), level="top"),
    "nested_kernel": lambda: answer(in_memory.nested(), level="kernel"),
    "nested_module": lambda: answer(in_memory.nested(), level="module"),
    "nested_by_scope": lambda: answer(in_memory.nested(), by="scope,type"),
    "four_steps": lambda: answer(in_memory.four_steps()),
    "four_steps_by_step": lambda: answer(in_memory.four_steps(), by="step,type", order="+step"),
    "eight_files": lambda: answer(eight_files()),
    "eight_files_by_file": lambda: answer(eight_files(), by="file", order="+file"),
    "two_devices": lambda: answer(in_memory.two_devices()),
    "two_devices_by_device": lambda: answer(in_memory.two_devices(), by="device,category"),
    "two_ranks": lambda: answer(in_memory.two_ranks()),
    "two_ranks_by_rank": lambda: answer(in_memory.two_ranks(), by="rank,phase"),
    "bare": lambda: answer(in_memory.bare()),
    "bare_by_type": lambda: answer(in_memory.bare(), by="type"),
    "roofline_without_dtypes": lambda: answer(
        in_memory.four_steps(), peaks=pa.parse_peaks("2T:1G")
    ),
    "processes_compared": lambda: answer(pa.compare(slower_files(), eight_files())),
    "iterations_compared": lambda: answer(
        pa.compare(in_memory.four_steps("new.json", 1.5), in_memory.four_steps()),
        unit="iteration",
    ),
    "two_formats_compared": lambda: answer(
        pa.compare(in_memory.averages(), in_memory.two_devices()), by="category"
    ),
}


def recorded_file(name: str) -> Path:
    """Return the file with a recorded report in all formats."""
    return OUTPUTS / f"{name}.txt"


def in_all_formats(name: str) -> str:
    """Return a report in each format, below the name of the format, and its notes."""
    report = REPORTS[name]()
    parts = [
        f"=== {output_format}\n{pa.render(report, output_format)}"
        for output_format in TABLE_FORMATS
    ]
    notes = "".join(f"note: {as_text(note)}\n" for note in report.notes)
    return without_version("".join([*parts, f"=== notes\n{notes}"]))


@pytest.mark.parametrize("name", REPORTS)
def test_reports_match_the_recorded_ones(name: str) -> None:
    assert in_all_formats(name) == recorded_file(name).read_bytes().decode()


@pytest.mark.parametrize("name", REPORTS)
def test_json_matches_the_schema(name: str) -> None:
    check_report(json.loads(pa.render(REPORTS[name](), "json")))


if __name__ == "__main__":  # records them again; review the difference
    OUTPUTS.mkdir(exist_ok=True)
    for report_name in REPORTS:
        recorded_file(report_name).write_bytes(in_all_formats(report_name).encode())

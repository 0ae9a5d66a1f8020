"""Whole reports with rooflines, comparisons and gates, in every output format."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import profile_analyze as pa
from tests.conftest import FIXTURES, TABLE_FORMATS, some_of, without_version
from tests.small import Operator, profile_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

PEAKS = pa.Peaks("card", (("fp32", 1e12),), 1e11, "by hand")


def roofline() -> pa.Report:
    """Return a report on operators bound by each rate, one that moves data, and one without work."""
    profile = profile_of(
        [
            Operator("conv", "Conv", 400, shape=[2, 3], work=(10**8, 10**6)),
            Operator("a|b", "Conv", 100, work=(10**6, 10**6)),
            Operator("copy", "Copy", 200, shape=[4], work=(10**3, 10**7)),
            Operator("shape", "Reshape", 50),
        ]
    )
    query = pa.Query(peaks=PEAKS, top=3)
    result = pa.run(query, profile)
    summary = pa.summarise(profile, query, judged_by=query)
    return pa.Report.of(summary, (result,), source=profile, notes=summary.notes)


def comparison(by: tuple[str, ...], texts: tuple[str, ...]) -> pa.Report:
    """Return a comparison with the verdicts slower, faster, same, uncertain, added and removed."""

    def runs(times_us: Mapping[str, Sequence[float]], file: str) -> pa.Profile:
        return pa.join_runs(
            profile_of(
                [
                    Operator(f"{type_.lower()}_1", type_, times[i], work=(10**6, 10**4))
                    for type_, times in times_us.items()
                ],
                f"{file}{i}.json",
            )
            for i in range(5)
        )

    new = {"Conv": [230, 232, 234, 236, 238], "Relu": [50, 51, 52, 53, 54], "Mul": [7] * 5}
    base = {"Conv": [200, 201, 202, 203, 204], "Relu": [60, 61, 62, 63, 64], "Add": [5] * 5}
    same = {"Pool": [20, 20, 20, 20, 20], "Gelu": [10, 30, 12, 14, 16]}
    source = pa.compare(runs({**new, **same}, "new"), runs({**base, **same}, "old"))
    query = pa.Query(compared=True, by=by, aggregates="sum" if by else ())
    summary = pa.summarise(source, query, judged_by=query)
    gate = pa.judge_conditions(
        [pa.FailCondition.parse(text, query) for text in texts], query, source
    )
    return pa.Report.of(
        summary, (pa.run(query, source),), source=source, notes=summary.notes, verdicts=gate
    )


def comparison_of_operators() -> pa.Report:
    return comparison((), ("total > +2%", "time > 1s", "type=None: time > +1%"))


def comparison_of_types() -> pa.Report:
    return comparison(("type",), ("type=Conv: time > +20us", "total < -3%"))


REPORTS: dict[str, Callable[[], pa.Report]] = {
    "roofline": roofline,
    "operators": comparison_of_operators,
    "types": comparison_of_types,
}


def recorded_file(name: str, output_format: str) -> Path:
    """Return the file with the recorded report `name` in `output_format`."""
    return FIXTURES / "reports" / f"{name}.{output_format}.txt"


def rendered(name: str, output_format: str) -> str:
    """Return the report `name` in `output_format`, without the version of this package."""
    return without_version(pa.render(REPORTS[name](), output_format))


@pytest.mark.slow
@pytest.mark.parametrize("output_format", TABLE_FORMATS)
@pytest.mark.parametrize("name", some_of(REPORTS, 2))
def test_reports_match_the_recorded_ones(name: str, output_format: str) -> None:
    recorded = recorded_file(name, output_format).read_bytes().decode()
    assert rendered(name, output_format) == recorded


if __name__ == "__main__":  # records them again; review the difference
    for report_name in REPORTS:
        for format_name in TABLE_FORMATS:
            text = rendered(report_name, format_name)
            recorded_file(report_name, format_name).write_bytes(text.encode())

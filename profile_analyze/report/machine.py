"""Forms for programs: raw numbers in base units, with full precision."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from profile_analyze.model.wording import machine_name
from profile_analyze.report.base import columns_of_groups, rates

if TYPE_CHECKING:
    from collections.abc import Sequence

    from profile_analyze.query.question import Query
    from profile_analyze.query.result import Result
    from profile_analyze.query.summary import Summary
    from profile_analyze.report.base import Report


class ProgramRenderer:
    """What the renderers of forms for programs have in common; see `Renderer`."""

    for_programs = True

    def columns(self, query: Query) -> tuple[str, ...]:
        """See `Renderer.columns`."""
        return columns(query)


def columns(query: Query) -> tuple[str, ...]:
    """The columns that a form for programs has by itself."""
    if query.keys is None:
        return (
            "id",
            "name",
            "type",
            "time",
            *rates(query),
            "in_shapes",
            "in_layouts",
            "out_shapes",
        )
    return columns_of_groups(query)


def columns_in(report: Report, result: Result) -> list[str]:
    """The columns of a table, with their own names, not the aliases that were asked for."""
    return [
        result.column(name).name for name in report.shown_of(result.query) or columns(result.query)
    ]


def names_of(result: Result, names: Sequence[str]) -> list[str]:
    """What programs call the columns: with the unit."""
    return [as_utf8(machine_name(result.shown_column(name))) for name in names]


def summary_values(summary: Summary) -> dict[str, float | None]:
    """The totals by name; None for N/A, and for copies if they were not asked for."""
    copy = summary.copy
    values = {
        "device_time_s": summary.device_time_s,
        "host_time_s": summary.host_time_s,
        "copy_time_s": copy and copy.total_s,
        "copy_time_mean_s": copy and copy.mean_s,
        "copy_wait_time_s": copy and copy.wait_total_s,
        "copy_wait_time_mean_s": copy and copy.wait_mean_s,
    }
    return {name: _plain(value) for name, value in values.items()}


def flat_summary_values(summary: Summary) -> dict[str, float | None]:
    """The same for forms without nesting, with the numbers of the verdict, if there is one."""
    judgement = summary.judgement
    if judgement is None:
        return summary_values(summary)
    return summary_values(summary) | {
        "covered": _plain(judgement.covered),
        "judged": _plain(judgement.judged),
        "efficiency": _plain(judgement.efficiency),
        "lost_s": _plain(judgement.lost_s),
    }


def _plain(value: Any) -> float | None:
    return None if value is None or value != value else float(value)  # noqa: PLR0124  # NaN


def as_utf8(text: str) -> str:
    """`text` without halves of characters, as file names and arguments may have them."""
    return text.encode("utf-8", "backslashreplace").decode()


def dumped(value: Any) -> str:
    """`value` as JSON, null for NaN."""
    import orjson

    return orjson.dumps(value).decode()


def numbers(values: list[Any], *, missing: str) -> list[str]:
    """Each number with as many digits as tell it from all others, `missing` for None and NaN.

    Written as JSON, which takes a fifth of the time of `repr`.
    """
    texts = dumped(values)[1:-1].split(",") if values else []
    return [missing if text == "null" else text for text in texts]

"""Forms for programs: raw numbers in base units, with full precision."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from profile_analyze.model.visible import escaped_in_json
from profile_analyze.model.wording import machine_name
from profile_analyze.report.base import columns_of_groups, rates

if TYPE_CHECKING:
    from collections.abc import Sequence

    from profile_analyze.query.change import Change
    from profile_analyze.query.question import Query
    from profile_analyze.query.result import Result
    from profile_analyze.query.summary import Summary
    from profile_analyze.report.base import Report


class ProgramRenderer:
    """What the renderers of forms for programs have in common; see `Renderer`."""

    for_programs = True
    libraries: tuple[str, ...] = ("orjson",)  # which writes the numbers of csv too

    def columns(self, query: Query, *, several_runs: bool = False) -> tuple[str, ...]:
        """See `Renderer.columns`."""
        return columns(query, several_runs=several_runs)


class VerdictRenderer:
    """The same of forms that tell what became of conditions, and have no tables."""

    for_programs = True
    libraries: tuple[str, ...] = ()

    def columns(
        self,
        query: Query,  # noqa: ARG002  # of the interface
        *,
        several_runs: bool = False,  # noqa: ARG002  # of the interface
    ) -> tuple[str, ...]:
        """See `Renderer.columns`."""
        return ()


def columns(query: Query, *, several_runs: bool) -> tuple[str, ...]:
    """The columns that a form for programs has by itself; it has room for what verdicts rest on."""
    shown = _columns(query, several_runs=several_runs)
    if not query.compared:
        return shown
    after = shown.index("ratio") + 1
    rest = [
        name for name in ("ratio_low", "ratio_high", "p_value", "match") if name not in query.by
    ]
    return (*shown[:after], *rest, *shown[after:])


def _columns(query: Query, *, several_runs: bool) -> tuple[str, ...]:
    if query.keys is None:
        return (
            "id",
            "name",
            "type",
            "time",
            *rates(query, several_runs=several_runs),
            "in_shapes",
            "in_layouts",
            "out_shapes",
        )
    return columns_of_groups(query, several_runs=several_runs)


def columns_in(report: Report, result: Result) -> list[str]:
    """The columns of a table, with their own names, not the aliases that were asked for."""
    return [
        result.column(name).name
        for name in report.shown_of(result.query)
        or columns(result.query, several_runs=result.several_runs)
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
        "runs": summary.runs,
        "spread": summary.spread,
        "copy_time_s": copy and copy.total_s,
        "copy_time_mean_s": copy and copy.mean_s,
        "copy_wait_time_s": copy and copy.wait_total_s,
        "copy_wait_time_mean_s": copy and copy.wait_mean_s,
    }
    return {name: _plain(value) for name, value in values.items()}


def flat_summary_values(summary: Summary) -> dict[str, float | str | None]:
    """The same for forms without nesting, with numbers on the peaks and on the base, if any."""
    values: dict[str, float | str | None] = {**summary_values(summary)}
    if summary.change is not None:
        values |= change_values(summary.change) | {"verdict": summary.change.verdict}
    if summary.judgement is not None:
        judgement = summary.judgement
        values |= {
            "covered": _plain(judgement.covered),
            "judged": _plain(judgement.judged),
            "efficiency": _plain(judgement.efficiency),
            "lost_s": _plain(judgement.lost_s),
        }
    return values


def change_values(change: Change) -> dict[str, float | None]:
    """The numbers of a comparison by name; None for N/A."""
    values = {
        "base_device_time_s": change.base_time_s,
        "base_runs": change.base_runs,
        "base_spread": change.base_spread,
        "difference_s": change.difference_s,
        "change": change.change,
        "ratio": change.ratio,
        "ratio_low": change.low,
        "ratio_high": change.high,
        "p_value": change.p_value,
    }
    return {name: _plain(value) for name, value in values.items()}


def _plain(value: Any) -> float | None:
    if value is None or value != value:  # noqa: PLR0124  # NaN
        return None
    return value if isinstance(value, int) else float(value)


def as_utf8(text: str) -> str:
    """`text` without halves of characters, as file names and arguments may have them."""
    return text.encode("utf-8", "backslashreplace").decode()


def dumped(value: Any) -> str:
    """`value` as JSON, null for NaN; nothing in its texts acts on a terminal."""
    import orjson

    return escaped_in_json(orjson.dumps(value).decode())


def numbers(values: list[Any], *, missing: str) -> list[str]:
    """Each number with as many digits as tell it from all others, `missing` for None and NaN.

    Written as JSON, which takes a fifth of the time of `repr`.
    """
    texts = dumped(values)[1:-1].split(",") if values else []
    return [missing if text == "null" else text for text in texts]

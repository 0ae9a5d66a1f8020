"""Forms for programs: raw numbers in base units, with full precision."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from profile_analyze.model.visible import escaped_in_json
from profile_analyze.model.wording import machine_name
from profile_analyze.report.default_columns import columns_of_groups, rates
from profile_analyze.report.sections import Facts, TableSection

if TYPE_CHECKING:
    from collections.abc import Sequence

    from profile_analyze.query.question import Query
    from profile_analyze.query.table import Table
    from profile_analyze.report.base import Need, Report


class ProgramRenderer:
    """What the renderers of formats for programs have in common; see `Renderer`."""

    for_programs = True
    libraries: tuple[str, ...] = ("orjson",)  # which writes the numbers of csv too
    suffixes: tuple[str, ...] = ()
    has_tables = True
    has_summary_beside_tables = False
    needs: Need = ""

    def columns(self, query: Query, *, several_runs: bool = False) -> tuple[str, ...]:
        """See `Renderer.columns`."""
        return columns(query, several_runs=several_runs)


class VerdictRenderer:
    """The same of formats that tell what became of conditions, and have no tables."""

    for_programs = True
    libraries: tuple[str, ...] = ()
    suffixes: tuple[str, ...] = ()
    has_tables = False
    has_summary_beside_tables = True

    def columns(
        self,
        query: Query,  # noqa: ARG002  # of the interface
        *,
        several_runs: bool = False,  # noqa: ARG002  # of the interface
    ) -> tuple[str, ...]:
        """See `Renderer.columns`."""
        return ()


def facts_alone(report: Report) -> dict[str, Any] | None:
    """The values of the facts if a report has them and no table; otherwise None."""
    groups = report.all_of(Facts)
    if not groups or report.all_of(TableSection):
        return None
    return {name: value for group in groups for name, value in group.flat_values.items()}


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
            "in_strides",
            "out_shapes",
        )
    return columns_of_groups(query, several_runs=several_runs)


def columns_in(section: TableSection) -> list[str]:
    """The columns of a table, with their own names."""
    table = section.table
    names = section.columns or columns(table.query, several_runs=table.several_runs)
    return [table.column(name).name for name in names]


def names_of(table: Table, names: Sequence[str]) -> list[str]:
    """What programs call the columns: with the unit."""
    return [as_utf8(machine_name(table.shown_column(name))) for name in names]


def as_utf8(text: str) -> str:
    """`text` without halves of characters, as file names and arguments may have them."""
    return text.encode("utf-8", "backslashreplace").decode()


def plain(value: Any) -> Any:
    """`value` as JSON can hold it: file names and arguments may have halves of characters."""
    if isinstance(value, str):
        return as_utf8(value)
    if isinstance(value, dict):
        return {plain(name): plain(one) for name, one in value.items()}
    return list(map(plain, value)) if isinstance(value, list | tuple) else value


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

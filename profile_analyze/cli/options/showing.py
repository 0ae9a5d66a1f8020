"""How a call shows its answer: the output format, columns, and appearance."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from profile_analyze.cli.output.appearance import Appearance
from profile_analyze.cli.output.requested_format import has_stacks
from profile_analyze.columns.catalog import column_of, split_names
from profile_analyze.errors import QueryError
from profile_analyze.report.layout.times import AUTO
from profile_analyze.report.sections import ALL_COLUMNS

if TYPE_CHECKING:
    import argparse

    from profile_analyze.columns.column import Kind
    from profile_analyze.report.base import Renderer


class Showing(NamedTuple):
    """How to show the answer."""

    renderer: Renderer | None
    """The renderer of the output format; None if the profile's format decides."""
    columns: tuple[str, ...]
    """The columns that the tables show; empty for the default columns of the output format."""
    summary: bool
    """Whether to show the summary."""
    most_rows: int
    """The largest number of rows that `--top` allows in a chart; 0 if `--top` sets no limit."""
    appearance: Appearance

    @classmethod
    def of(cls, arguments: argparse.Namespace, renderer: Renderer | None, kind: Kind) -> Showing:
        """Return how to show rows of this kind. `renderer` is the `requested_renderer`.

        Raises `QueryError` for a column that the rows lack, for unknown codes of findings, and
        if options contradict each other.
        """
        if arguments.print_only == "summary" and arguments.columns:
            raise QueryError(
                "--print-only summary shows no table, so --columns has no effect; leave one out"
            )
        if renderer is not None and renderer.for_programs and arguments.time_unit != AUTO:
            units = "has times in seconds" if renderer.has_tables else "chooses the units of times"
            units = "has times in microseconds" if renderer.has_stacks else units
            raise QueryError(f"{renderer.name} {units}, so --time-unit has no effect; leave it out")
        return cls(
            renderer=renderer,
            columns=_columns(arguments.columns, kind),
            summary=arguments.print_only in (None, "summary"),
            most_rows=arguments.top or 0,
            appearance=Appearance.of(arguments),
        )

    @property
    def has_stacks(self) -> bool:
        """Whether the output format shows stacks."""
        return has_stacks(self.renderer)


def _columns(names: str | None, kind: Kind) -> tuple[str, ...]:
    """Return the columns that the tables show; empty for the default columns of the output format.

    If a column is named several times, perhaps by an alias, only its first position counts.

    Raises `QueryError` for a column that rows of this kind do not have.
    """
    if names is None:
        return ()
    if (names,) == ALL_COLUMNS:
        return ALL_COLUMNS
    return tuple(dict.fromkeys(column_of(kind, name).name for name in split_names(names)))

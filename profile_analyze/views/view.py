"""Defines `View`: rows other than operators and groups, such as gaps or steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from profile_analyze.columns.kinds import FixedKind
from profile_analyze.query.arranging import arranged
from profile_analyze.query.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from profile_analyze.columns.column import Column
    from profile_analyze.columns.rows import Values
    from profile_analyze.model.profile import Profile
    from profile_analyze.query.arrangement import Arrangement


class View(NamedTuple):
    """Rows with columns of their own. Options such as `--where` arrange them as they do operators.

    `register` lists all views.
    """

    noun: str
    """The plural noun for the rows, which is also the name of the table: `gaps`."""
    columns: tuple[Column, ...]
    """The columns in the order in which they are shown. The last ones are left out first if a
    terminal is too narrow. `Column.optional` names what a column needs of the profile."""
    values: Callable[[Profile], Mapping[str, Values]]
    """Returns the values of each column, in the order of the rows without `--order-by`."""

    @property
    def kind(self) -> FixedKind:
        """What the rows are."""
        return FixedKind(self.noun, {column.name: column for column in self.columns})

    @property
    def wanted(self) -> frozenset[str]:
        """The optional columns of the profile that the view reads."""
        return frozenset({column.optional for column in self.columns} - {""})

    def table(self, profile: Profile, arrangement: Arrangement) -> Table:
        """Return the rows of a profile that `arrangement` chooses. It must be of this kind."""
        values = self.values(profile)
        size = len(next(iter(values.values())))
        notes = (*profile.notes, *profile.notes_on_runs)
        return arranged(Table(self.kind, values, size, size, notes=notes), arrangement)

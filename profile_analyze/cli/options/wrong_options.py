"""Reports unknown options and choices, with what the user probably meant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from profile_analyze.advice.options import advice_on_choice, advice_on_option
from profile_analyze.cli.options.table import OPTION_OF
from profile_analyze.columns.catalog import CATALOG
from profile_analyze.errors import QueryError
from profile_analyze.readers.input.suffixes import SUFFIXES

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["advice_on_choice", "check_unknown"]

_COLUMNS: Final = frozenset(column.name for column in CATALOG)


def check_unknown(unknown: Sequence[str], arguments: Sequence[str]) -> None:
    """Raise `QueryError` with advice on an unknown argument; return if there is no advice."""
    for argument in unknown:
        # argparse may have split an argument such as `-xt5`.
        start = arguments.index(argument) + 1 if argument in arguments else len(arguments)
        following = arguments[start:]
        advice = argument.startswith("-") and advice_on_option(
            argument, following, OPTION_OF, _COLUMNS, SUFFIXES
        )
        if advice:
            raise QueryError(f"there is no option {argument.partition('=')[0]}; {advice}")

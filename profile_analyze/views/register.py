"""The register of views, which `--view` chooses from. The option exists if there is a view."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from profile_analyze.views.view import View

DEFAULT_VIEW: Final = "operators"
"""The rows of calls without `--view`: operators or groups, which a `Query` asks for."""

VIEWS: Final[dict[str, tuple[str, str]]] = {}
"""For each view, a module in this package, and what its rows are, for `--help`. The module has a
`View` with the name VIEW, and is imported when the view is used."""


def find_view(name: str) -> View:
    """Return one of `VIEWS`."""
    view: View = import_module(f"{__package__}.{VIEWS[name][0]}").VIEW
    return view

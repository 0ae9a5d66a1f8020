"""The register of views, which `--view` chooses from. The option exists if there is a view."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from profile_analyze.views.view import View

OPERATORS: Final = "operators"
"""The rows of calls without `--view`: operators or groups, which a `Query` asks for."""

VIEWS: Final[dict[str, str]] = {}
"""The module of each view in this package, by the name of the view. Its `VIEW` is a `View`."""


def find_view(name: str) -> View:
    """Return one of `VIEWS`. Its module is imported now."""
    view: View = import_module(f"{__package__}.{VIEWS[name]}").VIEW
    return view

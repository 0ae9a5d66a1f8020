"""The text of `--version`. It names the extras: optional features that need further packages."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from profile_analyze.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Mapping

_FLEET: Final = ("dask", "distributed", "fsspec", "pyarrow")
EXTRAS: Final[Mapping[str, tuple[str, ...]]] = {
    "fleet": _FLEET,
    "onnx": ("onnx",),
    "plot": ("matplotlib",),
    "sql": (*_FLEET, "duckdb"),
    "zstd": ("compression.zstd" if sys.version_info >= (3, 14) else "zstandard",),
}
"""The modules of each extra. If all of them can be found, the extra counts as installed."""


def version_text() -> str:
    """Return the line that `--version` prints, with the installed and the missing extras.

    The modules of the extras are not imported: importing them would take longer than an answer.
    """
    installed = [extra for extra, modules in EXTRAS.items() if all(map(find_spec, modules))]
    missing = [extra for extra in EXTRAS if extra not in installed]
    parts = [
        f"{title}: {', '.join(extras)}"
        for title, extras in (("extras", installed), ("not installed", missing))
        if extras
    ]
    return f"profile_analyze {VERSION} ({'; '.join(parts)})\n"

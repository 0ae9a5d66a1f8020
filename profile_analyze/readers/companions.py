"""The names of files that belong to a profile in the same folder."""

from __future__ import annotations

import re
from typing import Final

_PROFILE: Final = re.compile(r"(|.*[._-])profile\.json(\.gz|\.zst)?", re.DOTALL)
_COMPRESSED: Final = ("", ".gz", ".zst")


def companions_of(name: str) -> tuple[str, ...]:
    """Return the names of files that may describe the operators of the profile `name`.

    `X.graph.json` describes the layers in `X.profile.json`, a profile of TensorRT.
    """
    found = _PROFILE.fullmatch(name)
    return () if found is None else tuple(f"{found[1]}graph.json{one}" for one in _COMPRESSED)

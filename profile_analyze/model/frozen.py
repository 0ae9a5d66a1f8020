"""Arrays that cannot be changed, as frozen values hold them."""

from __future__ import annotations

from typing import Any

import numpy as np


def freeze_arrays(value: Any) -> None:
    """Forbid writing to the arrays that the data class `value` holds, for whoever gets them."""
    for name in value.__dataclass_fields__:
        inner = getattr(value, name)
        if isinstance(inner, np.ndarray):
            inner.flags.writeable = False

"""Arrays that cannot be changed, as frozen values hold them."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np


def freeze_arrays(value: Any) -> None:
    """Forbid writing to the arrays that the data class `value` holds, for whoever gets them."""
    for field in fields(value):
        inner = getattr(value, field.name)
        if isinstance(inner, np.ndarray):
            inner.flags.writeable = False

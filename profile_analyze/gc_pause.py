"""Pauses garbage collection."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def gc_paused() -> Iterator[None]:
    """Pause garbage collection inside the `with` block.

    Decoding makes millions of objects without reference cycles. Each collection would visit them
    all and free nothing.
    """
    # The caller may have disabled garbage collection, and it must then stay disabled.
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()

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
    # If the caller has disabled garbage collection, it must stay disabled after the block.
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()

"""The reader of MegEngine's GraphProfiler JSON. `docs/formats.md` describes the fields."""

from profile_analyze.readers.megengine.reader import MegEngineReader

__all__ = ["MegEngineReader"]

"""The reader of MegEngine's GraphProfiler JSON."""

from profile_analyze.readers.megengine.reader import MegEngineReader

__all__ = ["MegEngineReader"]

"""The suffixes of profiles and models."""

from __future__ import annotations

from typing import Final

SUFFIXES: Final = (".json", ".json.gz", ".json.zst")
"""The suffixes of the files in a folder that count as profiles."""

MODEL_SUFFIX: Final = ".onnx"

"""The suffixes of profiles, models and tables of labels."""

from __future__ import annotations

from typing import Final

SUFFIXES: Final = (".json", ".json.gz", ".json.zst")
"""The suffixes of the files in a folder that count as profiles."""

MODEL_SUFFIX: Final = ".onnx"

_LABEL_TABLE_SUFFIX: Final = ".csv"


def is_label_table(text: str) -> bool:
    """Return whether a value of `--label` is the name of a table. Otherwise, it is a pattern."""
    return text.endswith(_LABEL_TABLE_SUFFIX) and "{" not in text

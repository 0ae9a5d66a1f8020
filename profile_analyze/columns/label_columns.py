"""The columns of labels, such as `label.date~^[0-9]+`: see `model.joining.labels`."""

from __future__ import annotations

import re

from profile_analyze.columns.column import Column, LabelOf
from profile_analyze.columns.patterns import compile_pattern
from profile_analyze.model.terms import LABEL, LABEL_NAME


def is_label(text: str) -> bool:
    """Return whether `text` is the name of a label with its prefix, such as `label.date`."""
    return re.fullmatch(re.escape(LABEL) + LABEL_NAME, text) is not None


def label_column(key: str, pattern: str = "") -> Column:
    """Return the column of the label `key`, or of the part of the label that `pattern` finds.

    Raises `PatternError` for an invalid pattern.
    """
    name = key.removeprefix(LABEL)
    meaning = f"the label {name} of the file that the run was read from"
    if pattern:
        compile_pattern(pattern)  # raises `PatternError` before any file is read
        meaning = f"the part of {name} that {pattern} finds"
    suffix = f"~{pattern}" if pattern else ""
    return Column(
        key + suffix,
        "",
        meaning,
        of_operators=LabelOf(key, pattern),
        kind="text",
        is_key=True,
        needs_split_rows=True,
        has_natural_order=True,
        worked="the label that --label or a data set gives the file",
        export_name=name + suffix,
    )

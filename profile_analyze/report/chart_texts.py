"""Texts of pictures: names of rows and of the sides of a comparison."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from profile_analyze.model.visible import visible
from profile_analyze.report.labels import join_keys, row_labels
from profile_analyze.report.text_layout import shortened, text_width

if TYPE_CHECKING:
    from profile_analyze.model.profile import Profile
    from profile_analyze.query.table import Table

ELLIPSIS: Final = "\N{HORIZONTAL ELLIPSIS}"


def sides(table: Table) -> list[str]:
    """Return the name of the profile, and the name of its baseline if there is one."""
    comparison = table.shown.comparison
    baseline = [f"baseline {_side(comparison.base)}"] if comparison else []
    return [visible(side, "utf-8") for side in (_side(table.shown.profile), *baseline)]


def _side(profile: Profile) -> str:
    """Return the name of the file, or how many files there are and their folder, if it is one."""
    folders = set(map(os.path.dirname, profile.processes))
    folder = folders.pop() if len(folders) == 1 else ""
    return f"{profile.file} of {folder}" if folder and len(profile.processes) > 1 else profile.file


def names(table: Table, width: int) -> list[str]:
    """Return the name of each row, in at most `width` columns."""
    labels = (join_keys(label)[0] for label in row_labels(table))
    return [_middle_cut(visible(label, "utf-8"), width) for label in labels]


def _middle_cut(text: str, width: int) -> str:
    """Return `text` in at most `width` columns. Long names often differ only at their end."""
    if text_width(text) <= width:
        return text
    tail_width = (width - 1) // 2
    head = shortened(text, width - tail_width, ELLIPSIS)
    return head + shortened(text[::-1], tail_width, "")[::-1]

"""Texts of pictures: names of rows and of sides. Also finds the rows that a roofline draws."""

from __future__ import annotations

import os
import re
from itertools import takewhile
from typing import TYPE_CHECKING, Final

import numpy as np

from profile_analyze.findings.rules.roofline import unjudged_reason
from profile_analyze.findings.sentences import as_text
from profile_analyze.model.findings import Finding, Kind
from profile_analyze.model.notes import most_important
from profile_analyze.model.origin import ITERATIONS
from profile_analyze.model.profile import Profile
from profile_analyze.model.visible import visible
from profile_analyze.query.distinct_names import details_of
from profile_analyze.query.fit_of_peaks import unjudged
from profile_analyze.report.facts.recorded import lines_of
from profile_analyze.report.facts.sentence_parts import in_brackets
from profile_analyze.report.layout.labels import join_keys, row_labels
from profile_analyze.report.layout.short_names import ELLIPSIS
from profile_analyze.report.layout.text_layout import shortened_in_middle, text_width, wrapped
from profile_analyze.report.layout.times import AUTO, ORIGINAL
from profile_analyze.units import NOT_AVAILABLE, counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from profile_analyze.comparison.comparison import Comparison
    from profile_analyze.model.notes import Note
    from profile_analyze.query.group_rows import GroupRows
    from profile_analyze.query.rows import OperatorRows
    from profile_analyze.query.table import Table
    from profile_analyze.report.layout.times import TimeUnit
    from profile_analyze.views.summary import Summary

_NUMBER: Final = re.compile(r"(?:.*:)?@?\d+")
"""A name that says nothing about the operator, such as `@7` and `main:@7` of MIGraphX."""
_TITLE_WIDTH: Final = 95
"""The most characters of a line of the title. A longer line would reach the legend on the right."""
_LONGEST_LINE: Final = 115
"""The most characters of a line below the title. A longer line would not fit the picture."""
_MOST_NOTE_LINES: Final = 4
"""The most lines of all notes above a picture."""
_MOST_LINES_OF_NOTE: Final = 2
"""The most lines of one note above a picture."""
_LEAST_CLAUSE: Final = 30
"""A clause with fewer characters may be only the subject of a note: `on both sides`."""
_CLAUSE_END: Final = re.compile(r": |, (?=(?:because|so|which|while)\b)")
"""The end of a clause of a note. Other commas may separate the parts of a list. There is no end
before `but` and `although`: without what follows them, a note may mislead."""
_SHOWN_BY_DOTS: Final = ("faster-than-roof", "no-row-judged")
"""Findings that a picture does not need: dots above the roof and hollow dots show the same, and the
title explains them."""
_SIDE_WIDTH: Final = 75
"""The most characters of a profile's name. After a longer name, the line may have no space for the
time."""


def sides(table: Table) -> list[str]:
    """Return the name of the profile of a table, and the name of its baseline if there is one."""
    comparison = table.shown.comparison
    return names_of_sides(table.shown.profile if comparison is None else comparison)


def names_of_sides(source: Profile | Comparison) -> list[str]:
    """Return the name of the profile, and the name of its baseline if there is one.

    The folder of a single file is left out, unless both sides have the same name. Several files
    are shown as their number and what their names have in common. If this is the same on both
    sides, they are shown as the first file and the number of others. Long names are cut in the
    middle.
    """
    profiles = [source] if isinstance(source, Profile) else [source.profile, source.base]
    short, long = zip(*map(_names_of_files, profiles), strict=True)
    chosen = short if len({what for what, _ in short}) == len(short) else long
    return [
        fitted(f"{side}{name}", _SIDE_WIDTH)
        for side, (_, name) in zip(("", "baseline "), chosen, strict=False)
    ]


def title(parts: Sequence[str], separator: str, further: Sequence[str]) -> str:
    """Return a title that fits into a picture: the parts in one line, then `further` lines.

    If the line would be too long, each part has a line of its own. Long lines of `further` are
    wrapped.
    """
    first = separator.join(parts)
    lines = [line for text in further for line in wrapped(text, _LONGEST_LINE, "utf-8")]
    return "\n".join([*([first] if text_width(first) <= _TITLE_WIDTH else parts), *lines])


def _names_of_files(profile: Profile) -> tuple[tuple[str, str], tuple[str, str]]:
    """Return a short and a long name for the files of a profile.

    Each is a pair: the text that tells the profile from another, and the name. For several files,
    the short name has what their names have in common. If this is nothing, the short name is like
    the long name, which has the name of the first file.
    """
    first, *others = files = [*dict.fromkeys(profile.processes)]
    if not others or all(one.startswith(profile.file) for one in files):  # one file
        file = profile.file if others else first
        name = os.path.split(file)[1]
        return (name, name), (file, file)
    long = (first, f"{first} and {len(others)} more")
    common = _in_common(files)
    return ((common, f"{profile.file} of {common}") if common else long), long


def _in_common(files: Sequence[str]) -> str:
    """Return the start that all names have, with `*`, or else the folder of all files.

    The result is empty if the names have neither of them in common.
    """
    # In alphabetical order, all other names are between the first and the last name.
    pairs = zip(min(files), max(files), strict=False)
    start = "".join(one for one, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    folders = {*map(os.path.dirname, files)}
    if os.path.split(start)[1]:
        return f"{start}*"
    return folders.pop() if len(folders) == 1 else ""


def names(table: Table) -> list[str]:
    """Return the name of each row, without control characters.

    If several rows have the same name, a detail that tells them apart follows the name. If a name
    is only a number, the type follows it.
    """
    return [
        visible(f"{name}{in_brackets(detail)}", "utf-8")
        for name, detail in names_with_details(table)
    ]


def names_with_details(table: Table) -> list[tuple[str, str]]:
    """Return the name of each row, and a detail that tells it apart from rows with this name.

    If the name of an operator is only a number, the name is followed by the type.
    """
    if table.query.grouped:
        return [(join_keys(label)[0], "") for label in row_labels(table)]
    names_of_rows = [
        f"{name} {type_}" if _NUMBER.fullmatch(name) and type_ != NOT_AVAILABLE else name
        for name, type_, _ in row_labels(table)
    ]
    return [*zip(names_of_rows, details_of(table, range(len(table))), strict=True)]


def fitted(text: str, width: int) -> str:
    """Return `text` without control characters, cut in the middle to at most `width` columns."""
    return shortened_in_middle(visible(text, "utf-8"), width, ELLIPSIS)


def rows_with_dots(table: Table) -> NDArray[np.int64]:
    """Return the indices of the rows with a dot on the roofline: FLOPS and intensity above 0."""
    with np.errstate(invalid="ignore"):
        return np.flatnonzero((table["flops"] > 0) & (table["intensity"] > 0))


def first_rows(count: int, first: str) -> str:
    """Return which rows are drawn: `the 5 longest`, or `the longest` for one row.

    `first` says which rows come first, in the plural.
    """
    which = f"{count} {first}" if count > 1 else first.removesuffix("s")
    return f"the {which}"


def notes_of_picture(
    summary: Summary, notes: Iterable[Note], time_unit: TimeUnit = AUTO
) -> tuple[str, ...]:
    """Return the notes to write above a picture, the most important first.

    These are the notes without which the picture may mislead: on damaged files, on answers that may
    mislead, and on numbers that are not what they seem to be. The recorded number of iterations
    follows the notes on damaged files. All notes together have at most `_MOST_NOTE_LINES` lines, so
    long notes are cut after a clause.
    """
    needed = [
        note for note in notes if not (isinstance(note, Finding) and note.code in _SHOWN_BY_DOTS)
    ]
    ordered = [note for note in most_important(needed) if note.importance <= Kind.WRONG]
    texts = [as_text(note, time_unit) for note in ordered]
    iterations = [
        f"{label}: {text}"
        for label, text in lines_of(summary.recorded, ORIGINAL)
        if label == ITERATIONS
    ]
    damaged = sum(note.importance <= Kind.DAMAGED for note in ordered)
    return tuple(_fitting([*texts[:damaged], *iterations, *texts[damaged:]]))


def _fitting(texts: Sequence[str]) -> Iterator[str]:
    """Yield `texts` in at most `_MOST_NOTE_LINES` lines: whole clauses of each.

    A text leaves a line to each of the following texts, unless not even its first clause would fit.
    """
    available = _MOST_NOTE_LINES
    for index, text in enumerate(texts, 1):
        following = len(texts) - index
        possible = (
            _whole_clauses(visible(text, "utf-8"), min(lines, _MOST_LINES_OF_NOTE))
            for lines in (available - following, available)
        )
        if shown := next(filter(None, possible), ""):
            available -= _lines_of(shown)
            yield shown


def _whole_clauses(text: str, lines: int) -> str:
    """Return as many clauses of `text` as fit into the lines; empty if not even the first one fits.

    Advice, which follows a semicolon, is left out if the whole text does not fit into one line.
    """
    if _lines_of(text) <= min(lines, 1):
        return text
    text = text.partition("; ")[0]
    ends = [found.start() for found in _CLAUSE_END.finditer(text) if found.start() >= _LEAST_CLAUSE]
    clauses = (text[:end] for end in (len(text), *reversed(ends)))
    fitting = (one for one in clauses if _lines_of(one) <= lines)
    return next((one for one in fitting if one.count("(") == one.count(")")), "")


def _lines_of(text: str) -> int:
    """Return how many lines a text has above a picture."""
    return len(wrapped(text, _LONGEST_LINE, "utf-8"))


def not_judged_text(table: Table, drawn: NDArray[np.int64]) -> str:
    """Return a remark on drawn dots without a roof, with the reasons; empty without such dots.

    The dots of rows that are not judged are hollow. A group may be judged only in part: some of its
    operators have FLOPS and intensity, but no roof.
    """
    hollow = np.isnan(table["efficiency"][drawn])
    partial = np.zeros_like(hollow)
    reasons = []
    for has_operators, reason in table.shown.of_all_rows(_rows_with_unjudged):
        found = has_operators[table.shown.chosen[drawn]]
        partial |= found & ~hollow
        if found.any():
            reasons.append(reason)
    count, in_part = int(hollow.sum()), int(partial.sum())
    texts = []
    if count:
        texts.append(f"{counted(count, 'hollow dot')} {'is' if count == 1 else 'are'} not judged")
    if in_part:
        are = "is" if in_part == 1 else "are"
        texts.append(f"{counted(in_part, 'dot')} {are} judged only in part")
    why = f": operators {'; '.join(reasons)}" if reasons else ""
    return f"{', '.join(texts)}{why}"


def _rows_with_unjudged(rows: OperatorRows | GroupRows) -> list[tuple[NDArray[np.bool_], str]]:
    """Return which rows have operators that are not judged: a mask of rows for each reason.

    Only operators with FLOPS and intensity count, because the others have no part in a dot.
    """
    operators = rows.operators
    with np.errstate(invalid="ignore"):
        have_dots = (operators["flops"] > 0) & (operators["intensity"] > 0)
    found = []
    for chosen, reason in unjudged(operators):
        of_rows = rows.row_of_operator[chosen & have_dots]
        count = np.bincount(of_rows[of_rows >= 0], minlength=len(rows.sizes))
        found.append((count > 0, visible(unjudged_reason(reason), "utf-8")))
    return found


def not_drawn_text(count: int, rows: int, lacking: str, mark: str) -> str:
    """Return a remark on rows that lack something: `1 of 3 rows has no FLOPS, and so no dot`.

    It is empty if `count` is 0.
    """
    has = "has" if count == 1 else "have"
    return f"{count} of {rows} rows {has} no {lacking}, and so no {mark}" if count else ""


def partial_rows_text(table: Table, drawn: NDArray[np.int64]) -> str:
    """Return a remark on drawn rows without a time in some of the runs; empty without such rows.

    Runs in which no operator has a time do not count, because totals leave them out, too.
    """
    shown = table.shown
    sides_of_rows = [shown, shown.of_base()] if table.query.compared else [shown]
    is_partial = np.zeros(len(drawn), np.bool_)
    for side in sides_of_rows:
        lacks_time = np.isnan(side.per_run("time")[drawn])
        is_counted = ~np.isnan(side.totals_in_runs[drawn])
        is_partial |= ~lacks_time.all(axis=1) & (lacks_time & is_counted).any(axis=1)
    if not (count := int(is_partial.sum())):
        return ""
    have = f"{counted(count, 'row')} {'has' if count == 1 else 'have'}"
    return f"{have} a time in only some of the runs: the time shown is of these runs"

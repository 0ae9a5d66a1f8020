"""Rules on the call: files, labels, options without effect, and what a format does not show."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Final

from profile_analyze.findings.rule import Rule
from profile_analyze.units import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from profile_analyze.findings.rule import Words


def _left_out_by_suffix(_: Words, *, first: str, files: int) -> str:
    if files == 1:
        return f"{first} may be a profile, but was left out because of its suffix; name it, too"
    return (
        f"{files} files may be profiles, but were left out because of their suffixes: {first} and "
        f"{files - 1} more; name the files to read them, too"
    )


def _repeated_names(_: Words, *, name: str, file: str, names: int) -> str:
    if names > 1:
        return f"left out {names} further names of files, such as {name}: the file {file}"
    if name == file:
        return f"{name} is named more than once, and counts once"
    return f"left out {name}, because it is the same file as {file}"


def _files_of_profiles(_: Words, *, file: str, profile: str, files: int) -> str:
    return (
        f"not read as {'a profile' if files == 1 else 'profiles'}: {counted(files, 'file')} that "
        f"{'belongs' if files == 1 else 'belong'} to a named profile, such as {file}, which "
        f"belongs to {profile}"
    )


def _sides_without_compare(_: Words, *, old: str, new: str) -> str:
    better = shlex.join((new, "--compare", old))
    return f"{old} and {new} count as runs of one profile; to compare them, write {better}"


def _missing_labels(
    _: Words, *, labels: Sequence[str], missing: int, files: int, first: str
) -> str:
    noun = "label" if len(labels) == 1 else "labels"
    return (
        f"without the {noun} {' and '.join(labels)}: {missing} of {counted(files, 'file')}, such "
        f"as {first}"
    )


def _idle_engine(_: Words, *, compared: bool) -> str:
    return (
        "--engine has no effect: workers share the reading of several files, and there is only "
        f"one{' on each side' if compared else ''}"
    )


def _idle_arrangement(_: Words, *, groups: bool, order: bool) -> str:
    idle = [*(["groups"] if groups else []), *(["the order"] if order else [])]
    have = "have" if groups else "has"
    return f"without a table, {' and '.join(idle)} {have} no effect"


def _repeated_content(_: Words, *, data_set: str, first: str, files: int) -> str:
    more = f" and {files - 1} more" if files > 1 else ""
    return (
        f"left out {counted(files, 'file')} whose content is already in {data_set} or in an "
        f"earlier file: {first}{more}"
    )


def _split_products(_: Words, *, split: int, smaller: int, tile: str, fitting: int) -> str:
    fit = f"; products that fit into one tile: {fitting}" if fitting else ""
    if not split:
        return f"no product was split into tiles of {tile}{fit}"
    return (
        f"the written model has {counted(split, 'product')} split into {smaller} smaller ones, "
        f"for tiles of {tile}{fit}"
    )


RULES: Final = (
    Rule(
        "left-out-by-suffix",
        "a folder has files that may be profiles but have another suffix",
        _left_out_by_suffix,
    ),
    Rule("repeated-names", "a file is named several times", _repeated_names),
    Rule(
        "files-of-profiles",
        "named files belong to a profile, so they are not profiles of their own",
        _files_of_profiles,
    ),
    Rule(
        "files-by-label",
        "conditions on labels choose some of the files",
        "read {read} of {files:file}, the files that meet {conditions}",
    ),
    Rule(
        "on-neither-side",
        "files lack the label that splits a comparison",
        "left out {files:file} without the label {label}, such as {first}",
    ),
    Rule("missing-labels", "files lack a label", _missing_labels),
    Rule(
        "sides-without-compare",
        "the names of two inputs suggest a comparison, but they are joined",
        _sides_without_compare,
    ),
    Rule("idle-engine", "--engine is given, but there is one file to read", _idle_engine),
    Rule(
        "columns-without-times",
        "named columns need times, and a model has none",
        "N/A in all rows: {names:list}; a model that has not run has no times",
    ),
    Rule("repeated-content", "the data set has the content of a file already", _repeated_content),
    Rule("split-products", "a model with split products was written", _split_products),
    Rule(
        "unsplit-unknown-shapes",
        "products were not split, because their shapes are unknown",
        "not split in the written model: {names}; their shapes are unknown or contradict each "
        "other; --dim and --input-shape give sizes",
    ),
    Rule(
        "unsplit-unsupported",
        "products were not split, because their type or an input does not allow it",
        "not split in the written model: {names}; their type, or an input such as a zero point "
        "for each row, does not allow it",
    ),
    Rule(
        "totals-ignore-filters",
        "an answer without a table has filters",
        "the totals cover all operators, whatever the filters",
    ),
    Rule(
        "host-rows",
        "no operator has a device time, so the table has host times",
        "no operator has a device time, so the rows have host times; profile again with device "
        "times",
    ),
    Rule(
        "host-left-out",
        "--print-only leaves out what --show-host asks for",
        "--print-only leaves out the host times that --show-host asks for",
    ),
    Rule(
        "idle-having",
        "a call has both --fail-if and --having",
        "--fail-if judges operators, so it does not use --having",
    ),
    Rule("idle-arrangement", "an answer without a table has groups or an order", _idle_arrangement),
    Rule(
        "file-named-like-format",
        "the output file has the name of a format",
        "{file}: the answer is in a file of this name; --format {file} chooses a format",
    ),
    Rule(
        "suffix-of-other-format",
        "the suffix of the output file stands for another format",
        "{file}: written as {format}, which the options ask for, although its suffix stands for "
        "{by_suffix}",
    ),
    Rule(
        "more-rows",
        "a table for programs leaves out rows",
        "{side}: the first {shown} of {available} rows; -t 0 gives all",
    ),
)

"""The sentences of the rules on the call."""

from __future__ import annotations

import pytest

from profile_analyze.findings.sentences import sentence
from profile_analyze.model.findings import Finding, Kind
from tests.findings.rules import codes_of, untested

SENTENCES = (
    (
        Finding.of("left-out-by-suffix", Kind.ANSWER, first="a.txt", files=1),
        "a.txt may be a profile, but was left out because of its suffix; name it, too",
    ),
    (
        Finding.of("left-out-by-suffix", Kind.ANSWER, first="a.txt", files=3),
        "3 files may be profiles, but were left out because of their suffixes: a.txt and 2 more; "
        "name the files to read them, too",
    ),
    (
        Finding.of("repeated-names", Kind.ANSWER, name="a", file="b", names=2),
        "left out 2 further names of files, such as a: the file b",
    ),
    (
        Finding.of("repeated-names", Kind.ANSWER, name="a", file="a", names=1),
        "a is named more than once, and counts once",
    ),
    (
        Finding.of("repeated-names", Kind.ANSWER, name="a", file="b", names=1),
        "left out a, because it is the same file as b",
    ),
    (
        Finding.of("files-of-profiles", Kind.CONTEXT, file="a", profile="b", files=1),
        "not read as a profile: 1 file that belongs to a named profile, such as a, which belongs "
        "to b",
    ),
    (
        Finding.of("files-of-profiles", Kind.CONTEXT, file="a", profile="b", files=2),
        "not read as profiles: 2 files that belong to a named profile, such as a, which belongs "
        "to b",
    ),
    (
        Finding.of("files-by-label", Kind.CONTEXT, read=2, files=5, conditions="'date >= 2026'"),
        "read 2 of 5 files, the files that meet 'date >= 2026'",
    ),
    (
        Finding.of("on-neither-side", Kind.INCOMPLETE, files=1, label="date", first="a"),
        "left out 1 file without the label date, such as a",
    ),
    (
        Finding.of(
            "missing-labels",
            Kind.INCOMPLETE,
            labels=["date", "host"],
            missing=1,
            files=5,
            first="a",
        ),
        "without the labels date and host: 1 of 5 files, such as a",
    ),
    (
        Finding.of(
            "missing-labels", Kind.INCOMPLETE, labels=["date"], missing=1, files=1, first="a"
        ),
        "without the label date: 1 of 1 file, such as a",
    ),
    (
        Finding.of("sides-without-compare", Kind.WRONG, old="old", new="my new"),
        "old and my new count as runs of one profile; to compare them, write 'my new' --compare "
        "old",
    ),
    (
        Finding.of("idle-engine", Kind.CONTEXT, compared=False),
        "--engine has no effect: workers share the reading of several files, and there is only one",
    ),
    (
        Finding.of("idle-engine", Kind.CONTEXT, compared=True),
        "--engine has no effect: workers share the reading of several files, and there is only one "
        "on each side",
    ),
    (
        Finding.of("columns-without-times", Kind.ANSWER, names=["time", "share"]),
        "N/A in all rows: time, share; a model that has not run has no times",
    ),
    (
        Finding.of("repeated-content", Kind.ANSWER, data_set="d", first="a", files=1),
        "left out 1 file whose content is already in d or in an earlier file: a",
    ),
    (
        Finding.of("repeated-content", Kind.ANSWER, data_set="d", first="a", files=3),
        "left out 3 files whose content is already in d or in an earlier file: a and 2 more",
    ),
    (
        Finding.of("split-products", Kind.ANSWER, split=0, smaller=0, tile="1x4x3", fitting=0),
        "no product was split into tiles of 1x4x3",
    ),
    (
        Finding.of("split-products", Kind.CONTEXT, split=1, smaller=2, tile="1x4x3", fitting=2),
        "the written model has 1 product split into 2 smaller ones, for tiles of 1x4x3; products "
        "that fit into one tile: 2",
    ),
    (
        Finding.of("unsplit-unknown-shapes", Kind.INCOMPLETE, names="fc"),
        "not split in the written model: fc; their shapes are unknown or contradict each other; "
        "--dim and --input-shape give sizes",
    ),
    (
        Finding.of("unsplit-unsupported", Kind.INCOMPLETE, names="fc"),
        "not split in the written model: fc; their type, or an input such as a zero point for each "
        "row, does not allow it",
    ),
    (
        Finding.of("totals-ignore-filters", Kind.ANSWER),
        "the totals cover all operators, whatever the filters",
    ),
    (
        Finding.of("host-rows", Kind.ANSWER),
        "no operator has a device time, so the rows have host times; profile again with device "
        "times",
    ),
    (
        Finding.of("host-left-out", Kind.ANSWER),
        "--print-only leaves out the host times that --show-host asks for",
    ),
    (
        Finding.of("idle-having", Kind.ANSWER),
        "--fail-if judges operators, so it does not use --having",
    ),
    (
        Finding.of("idle-arrangement", Kind.CONTEXT, groups=True, order=True),
        "without a table, groups and the order have no effect",
    ),
    (
        Finding.of("idle-arrangement", Kind.CONTEXT, groups=True, order=False),
        "without a table, groups have no effect",
    ),
    (
        Finding.of("idle-arrangement", Kind.CONTEXT, groups=False, order=True),
        "without a table, the order has no effect",
    ),
    (
        Finding.of("file-named-like-format", Kind.ANSWER, file="json"),
        "json: the answer is in a file of this name; --format json chooses a format",
    ),
    (
        Finding.of(
            "suffix-of-other-format",
            Kind.ANSWER,
            file="a.csv",
            format="json",
            by_suffix="csv",
        ),
        "a.csv: written as json, which the options ask for, although its suffix stands for csv",
    ),
    (
        Finding.of("more-rows", Kind.INCOMPLETE, side="device", shown=1, available=4),
        "device: the first 1 of 4 rows; -t 0 gives all",
    ),
)


@pytest.mark.parametrize(("finding", "text"), SENTENCES)
def test_sentences(finding: Finding, text: str) -> None:
    assert sentence(finding) == text


def test_each_rule_has_a_sentence_here() -> None:
    assert untested(codes_of("command"), SENTENCES) == []

"""Labels from the paths of files, and from tables in CSV files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

import profile_analyze as pa
from profile_analyze.readers.labels import LabelPattern, Labels, LabelTable
from tests.conftest import examples

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("pattern", "path", "labels"),
    [
        ("nightly/{date}/{host}/*.json", "/data/nightly/d1/alpha/x.json", ("d1", "alpha")),
        ("nightly/{date}/{host}/*.json", "/nightly/d1/alpha/x.json", ("d1", "alpha")),
        ("nightly/{date}/{host}/*.json", "/data/nightly/d1/x.json", None),
        ("nightly/{date}/{host}/*.json", "/data/nightly/d1/alpha/deep/x.json", None),
        ("nightly/{date}/*.json", "/data/mynightly/d1/x.json", None),
        ("/data/{date}/*.json", "/data/d1/x.json", ("d1",)),
        ("/data/{date}/*.json", "/more/data/d1/x.json", None),
        ("{model}-{batch}.json", "/a/resnet-50-8.json", ("resnet-50", "8")),
        ("{date}/**/*.json", "/d1/x.json", ("d1",)),
        ("nightly/{date}/**/*.json", "/nightly/d1/a/b/x.json", ("d1",)),
        ("nightly/{date}/**", "/nightly/d1/a/b/x.json", ("d1",)),
        ("{date}/run?.json", "/d1/run7.json", ("d1",)),
        ("{date}/run?.json", "/a\nb/d1/run7.json", ("d1",)),
        ("{date}/run?.json", "/d1/run12.json", None),
        ("{date}/a[1].json", "/d1/a[1].json", ("d1",)),
        ("x{date}.json", "/x.json", None),
        ("*/{date}/*.json", "/d1/x.json", None),
    ],
)
def test_patterns_take_labels_from_paths(
    pattern: str, path: str, labels: tuple[str, ...] | None
) -> None:
    parsed = LabelPattern.parse(pattern)
    found = parsed.values_of(path.replace("/", os.sep))
    assert found == ({} if labels is None else dict(zip(parsed.names, labels, strict=True)))


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        (
            "nightly/*.json",
            "'nightly/.*' has no label; write the names of labels in braces, as in 'nightl",
        ),
        (
            "{}/*.json",
            r"'\{\}/.*': \{\} is not a label; write one name in braces, a letter followe",
        ),
        ("{a b}/x", r"'\{a b\}/x': \{a b\} is not a label; write one name in braces"),
        (
            "{date/x",
            r"'\{date/x' has a \{ without its \}; write the names of labels in braces, as in 'ni",
        ),
        ("{date}/{host/x", r"'\{date\}/\{host/x' has a \{ without its \}; write the names"),
        ("{date}}/x", r"'\{date\}\}/x' has a \} without its \{; write the names"),
        ("{date}/{date}/x", r"has \{date\} twice; rename one of them"),
    ],
)
def test_wrong_patterns_are_refused(pattern: str, message: str) -> None:
    with pytest.raises(pa.QueryError, match=message):
        LabelPattern.parse(pattern)


PARTS = st.sampled_from(["a", "b", "ab", "a.json", "b.json"])


@examples(200)
@given(
    st.lists(st.sampled_from(["a", "*", "{x}", "**", "*.json"]), min_size=1, max_size=4).filter(
        lambda parts: parts.count("{x}") == 1
    ),
    st.lists(PARTS, min_size=1, max_size=5),
)
def test_patterns_fit_the_end_of_a_path(pattern: list[str], path: list[str]) -> None:
    def fits(pattern: list[str], path: list[str]) -> bool:
        if not pattern or not path:
            return not pattern and not path
        if pattern == ["**"]:
            return True
        if pattern[0] == "**":
            return fits(pattern[1:], path) or fits(pattern, path[1:])
        is_same = {"a": path[0] == "a", "*.json": path[0].endswith(".json")}
        return is_same.get(pattern[0], True) and fits(pattern[1:], path[1:])

    expected = any(fits(pattern, path[start:]) for start in range(len(path)))
    found = LabelPattern.parse("/".join(pattern)).values_of("/" + "/".join(path))
    assert bool(found) == expected
    assert set(found.values()) <= set(path)


def write_table(folder: Path, content: str | bytes) -> str:
    data = content.encode() if isinstance(content, str) else content
    (folder / "labels.csv").write_bytes(data)
    return str(folder / "labels.csv")


def test_tables_have_a_row_for_each_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    name = write_table(
        tmp_path, '\ufeffhost, file ,note\r\nalpha,x/1.json,"a, b"\r\n\r\nbeta,/far/2.json,\r\n'
    )
    table = LabelTable.read(name)
    assert table.names == ("host", "note")
    assert table.values_of(str(tmp_path / "x" / "1.json")) == {"host": "alpha", "note": "a, b"}
    assert table.values_of(os.path.abspath("/far/2.json")) == {"host": "beta"}  # noqa: PTH100  # as the reader does
    assert table.values_of(str(tmp_path / "1.json")) == {}


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "is empty; write a first line such as file,date,host"),
        ("path,date\na,b\n", "has no column 'file'; its first line names: path, date"),
        (" \n", "has no column 'file'; its first line has no names"),
        (" ,\n", "has no column 'file'; its first line has no names"),
        ("a,,b\n", "has no column 'file'; its first line names: a, b"),
        ("file\na\n", "has no column of labels; write a first line such as file,date,host"),
        ("file,date,date\n", "names the column 'date' twice in its first line"),
        ("file,date\na,b,c\n", "line 2 has 3 values, but the first line names 2 columns"),
        ("file,date\na\n", "line 2 has 1 value, but the first line names 2 columns"),
        ("file,date\n,b\n", "line 2 names no file"),
        ("file,date\na,b\nc,d\n./a,e\n", "line 4 names ./a, as line 2 does; leave one of them out"),
        ('file,date\na,"b\n', "line 2: unexpected end of data"),
        (b"file,date\na,\xff\n", "the table of labels is not UTF-8"),
    ],
)
def test_wrong_tables_are_refused(tmp_path: Path, content: str | bytes, reason: str) -> None:
    name = write_table(tmp_path, content)
    with pytest.raises(pa.InputError) as caught:
        LabelTable.read(name)
    assert (caught.value.file, caught.value.reason) == (name, reason)


def test_the_first_source_of_a_label_decides(tmp_path: Path) -> None:
    name = write_table(tmp_path, f"file,host,date\n{tmp_path}/d1/x.json,alpha,\n")
    labels = Labels.of([name, "{date}/*.json", "{host}/{date}/*.json"])
    assert labels.names == ("host", "date")
    assert labels.values_of(str(tmp_path / "d1" / "x.json")) == {"host": "alpha", "date": "d1"}
    assert labels.values_of("/d2/y.json") == {"host": None, "date": "d2"}
    assert labels.values_of("/h/d2/y.json") == {"host": "h", "date": "d2"}
    assert labels.values_of("/y.csv") == {"host": None, "date": None}

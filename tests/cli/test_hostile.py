"""Hostile names, in every field of a profile and every argument of a call.

The tests parse the outputs of all formats for which there is a parser.
"""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any, Final
from xml.etree import ElementTree as ET

import pytest
import wcwidth

import profile_analyze as pa
from profile_analyze.model.visible import visible
from profile_analyze.report.formats.output_formats import OPERATORS
from profile_analyze.report.formats.wiki import escaped
from profile_analyze.report.layout.text_layout import wrapped
from tests.conftest import FORMATS_FOR_PEOPLE, IS_FULL, TABLE_FORMATS, run_command, some_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

HOSTILE: Final = {
    "colours": "\x1b[31mred\x1b[0m",
    "title": "\x1b]0;title\x07",
    "c1": "\u009b31m \u0085 \u0090",
    "override": "a\u202eb\u202dc",
    "isolates": "a\u2066b\u2067c\u2069",
    "newline": "a\nb",
    "newline-command": "a\n::error::b",
    "return": "a\rb\r\nc",
    "tab": "\ta\tb",
    "separators": "a\u2028b\u2029c\x0bd\x0ce",
    "pipe": "a|b||c\\|d\\",
    "backticks": "`a``b```",
    "script": "<script>alert(1)</script>",
    "comment": "--><!-- ]]> <![CDATA[ <?x ?>",
    "entity": "&lt;&#60;&amp;",
    "quotes": '"a\' onload=\'x" y="',
    "link": "[a](javascript:x) ![b](http://a.b/c.png) http://a.b www.a.b",
    "macro": "{html}x{html} [a|http://a.b] !a.png!",
    "emphasis": "*a* _b_ ~~c~~ $d$ ^e^",
    "formula": "=1+1",
    "plus": "+1",
    "minus": "-1",
    "at": "@SUM(A1)",
    "blank-formula": "  =1+1",
    "tab-formula": "\t=1+1",
    "return-formula": "\r=1+1",
    "no-break-formula": "\u00a0=1+1",
    "semicolon-formula": 'a;=1+1;"=2+2"',
    "wide-formula": "\uff1d1\uff0b1",
    "wide-minus": "\uff0d1",
    "wide-at": "\uff20SUM(A1)",
    "command": "::error file=a,line=1::b%0A::error::c",
    "old-command": "##[error]a",
    "property": "a,b:c%0D%0A%25",
    "nul": "a\x00b",
    "zero-width": "a\u200bb\u200dc\u2060d\ufeffe\u00adf\u034fg",
    "no-shape": "\u115f\u3164\U000e0041\U0001d173",
    "no-character": "a\ufffeb\uffffc",
    "combining": "e\u0301\u0301\u0301 \u0338x",
    "wide": "卷积層 \uff21",
    "emoji": "\U0001f468\u200d\U0001f469\u200d\U0001f467 \u2764\ufe0f \U0001f1e9\U0001f1ea",
    "rule": "---|---\n| x |",
    "empty": "",
    "long": "conv\u0301-" * 300,
}

WITH_COLUMNS: Final = [
    name for name in TABLE_FORMATS if name not in ("github", "junit", "operators")
]
FOR_PEOPLE: Final = [name for name in FORMATS_FOR_PEOPLE if name != OPERATORS]

# Unicode categories of characters that a terminal acts on, or that are invisible.
ACTING: Final = ("Cc", "Cf", "Cs", "Zl", "Zp")


def document(texts: Iterable[str]) -> dict[str, Any]:
    """Return a profile. Each text is the name, type, parameter and so on of one operator."""
    document: dict[str, Any] = {
        "profiler": {"device": {}, "host": {}, "opr_footprint": {}},
        "graph_exec": {"operator": {}, "var": {}},
    }
    profiler, graph = document["profiler"], document["graph_exec"]
    for index, text in enumerate(texts):
        id_ = str(index)
        graph["operator"][id_] = {"name": text, "type": text, "input": [id_], "output": [id_]}
        graph["var"][id_] = {"mem_plan": {"layout": {"dtype": text}}}
        profiler["opr_footprint"][id_] = {
            "computation": 100 + index,
            "memory": 10,
            "in_shapes": [[1]],
            "out_shapes": [[1]],
            "param": {text: text, "mode": text, "nested": {text: [text]}},
        }
        times = {"start": 0, "kern": 0.5, "end": 2}
        profiler["device"][id_] = profiler["host"][id_] = {text: times}
    return document


def written(path: Path, *texts: str) -> str:
    """Write a profile with `texts` and return its path."""
    path.write_text(json.dumps(document(texts)), encoding="utf-8")
    return str(path)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A profile with all texts of `HOSTILE`, and with a hostile file name."""
    name = "\x1b[31m\u202e\n|`<b>&\"' ::x::,;=1 ![a](b) \u00e9.json"
    return written(tmp_path_factory.mktemp("hostile") / name, *HOSTILE.values())


@pytest.fixture(params=some_of(HOSTILE, 6))
def text(request: pytest.FixtureRequest) -> str:
    """Each text of `HOSTILE`."""
    return HOSTILE[request.param]


def only_visible(shown: str, *, newline: str = "\n") -> None:
    """Fail if `shown` has anything but visible text and line breaks."""
    bad = {
        character
        for character in {*shown.replace(newline, "")} - {"\n"}
        if unicodedata.category(character) in ACTING or 0xE0000 <= ord(character) <= 0xE0FFF
    }
    assert bad == set()


# Calls that show many columns of operators and groups, and echo the question. `default` shows the
# columns that an output format chooses.
CALLS: Final = {
    "operators": ("--columns", "name,type,input_dtype,device,parameters,param.mode,file,time"),
    "all": ("--columns", "all"),
    "default": (),
    "host": ("--print-only", "host"),
    "groups": ("--aggregate-by", "name,type,device,input_dtype,parameters,param.mode,file"),
    "roofline": ("--peaks", "1T:1G", "--aggregate-by", "type"),
    "gate": ("--fail-if", "type=x: time > 1s", "--fail-if", "time > 1s"),
    "inspect": ("--inspect", "0"),
}


def shown(file: str, output_format: str, call: str, *, encoding: str = "utf-8") -> str:
    """Return what the command prints. Its messages must be visible text."""
    outcome = run_command(
        file, "-t", "0", "--format", output_format, *CALLS[call], encoding=encoding
    )
    assert outcome.code in (0, 3, 4), outcome.err
    only_visible(outcome.err)
    return outcome.out


@pytest.mark.slow
@pytest.mark.parametrize("call", some_of(CALLS, 2))
def test_tables_have_only_visible_text(file: str, call: str) -> None:
    for output_format in FOR_PEOPLE:
        only_visible(shown(file, output_format, call))
        assert shown(file, output_format, call, encoding="ascii").isascii()


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_a_list_of_operators_has_a_line_for_each(file: str, encoding: str) -> None:
    for options in ([], ["--aggregate-by", "name,device"], ["--print-only", "host"]):
        printed = run_command(file, "-t", "0", "--dump-only-opr", *options, encoding=encoding).out
        only_visible(printed)
        assert printed.isascii() or encoding == "utf-8"
        rows = printed.split("\n\n")[-1]
        assert rows.count("\n") == len(HOSTILE)


@pytest.mark.slow
@pytest.mark.parametrize("call", some_of(CALLS, 2))
def test_names_add_no_markup_to_markdown_tables(file: str, call: str) -> None:
    page = shown(file, "markdown", call)
    only_visible(page)
    for table in tables(page):
        counts = {len(cells(line)) for line in table}
        assert len(counts) == 1
    for line in page.splitlines():
        # A digit after < cannot begin a tag, as in `<0.001 s`.
        assert not re.search(r"<(?!\d)|[&`*~!\[\]\\$^{]|http:|www\.", outside_code_spans(line))


@pytest.mark.slow
@pytest.mark.parametrize("call", some_of(CALLS, 2))
def test_names_add_no_markup_to_wiki_tables(file: str, call: str) -> None:
    page = shown(file, "wiki", call)
    only_visible(page)
    for table in tables(page):
        assert len({len(cells(line)) for line in table}) == 1
    bare = re.sub(r"\\[!-/:-@\[-`{-~]", "", page)
    assert not re.search(r"<[A-Za-z/!?]|&[#A-Za-z]|\]\(|\{[A-Za-z]|://|www\.|[`*~!$^]", bare)


def tables(page: str) -> Iterator[list[str]]:
    """Yield the lines of each table."""
    for part in page.split("\n\n"):
        lines = [line for line in part.splitlines() if line.startswith("|")]
        if lines:
            yield lines


def cells(line: str) -> list[str]:
    """Return the cells of a Markdown row. An escaped pipe ends no cell."""
    return re.split(r"(?<!\\)\|", line)


def outside_code_spans(line: str) -> str:
    """Return `line` without code spans. The separator below a table's header becomes empty."""
    # A code span ends at as many backticks as it begins with.
    rest = re.sub(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)", "", line)
    return re.sub(r"^\|[-:|]+\|$", "", rest)


@pytest.mark.slow
@pytest.mark.parametrize("call", some_of(sorted({*CALLS} - {"inspect"}), 2))  # it has no table
def test_no_cell_of_csv_is_a_formula(file: str, call: str) -> None:
    printed = shown(file, "csv", call)
    only_visible(printed, newline="\r\n")
    rows = list(csv.reader(io.StringIO(printed), strict=True))
    assert len({len(row) for row in rows}) == 1
    numbers = re.compile(r"[-+]?[0-9.]+(e[-+]?[0-9]+)?")
    for separator in ",;":  # spreadsheets separate by ; where a comma is the decimal point
        for row in csv.reader(io.StringIO(printed), delimiter=separator):
            for cell in row:
                plain = cell.strip().strip('"').strip()
                assert not re.match(r"[=+@\uff1d\uff0b\uff0d\uff20-]", plain) or numbers.fullmatch(
                    plain
                )


def test_json_keeps_every_text_exactly(file: str) -> None:
    rows = json.loads(shown(file, "json", "operators"))["tables"][0]["rows"]
    for row, text in zip(rows, HOSTILE.values(), strict=True):
        nested = row[4].pop("nested")
        assert json.loads(nested) == {text: [text]}
        assert row[:5] == [text, text, text or None, text, {text: text, "mode": text}]
        assert row[6] == file
    lines = list(map(json.loads, shown(file, "jsonl", "operators").split("\n")[:-1]))
    assert [line["name"] for line in lines] == list(HOSTILE.values())
    assert {line["file"] for line in lines} == {file}


@pytest.mark.slow
@pytest.mark.parametrize("call", ["gate", "roofline"])
def test_junit_is_xml_without_added_elements(file: str, call: str, text: str) -> None:
    condition = f"type={text or 'x'}: time > 1s"
    options = (*CALLS[call], "--fail-if", condition)
    printed = run_command(file, "--format", "junit", *options).out
    suite = ET.fromstring(printed)
    only_visible(printed)
    assert {element.tag for element in suite.iter()} <= {
        "testsuite", "testcase", "failure", "skipped", "system-out"
    }  # fmt: skip
    assert len(suite.findall("testcase")) == int(suite.get("tests", ""))


@pytest.mark.slow
@pytest.mark.parametrize("call", ["gate", "roofline"])
def test_github_reads_one_command_a_line(file: str, call: str, text: str) -> None:
    condition = f"type={text or 'x'}: time > 1s"
    outcome = run_command(file, "--format", "github", *CALLS[call], "--fail-if", condition)
    only_visible(outcome.out)
    for line in outcome.out.splitlines():
        match = re.fullmatch(r"::(error|warning|notice) title=profile_analyze::(.*)", line)
        assert match
        assert not re.search("%(?!25)", match[2])


# Only the texts of an SVG can be read back.
PICTURES: Final = {"svg": b"<?xml"} | ({"png": b"\x89PNG", "pdf": b"%PDF"} if IS_FULL else {})


@pytest.mark.slow
@pytest.mark.parametrize("call", ["default", "roofline"])
@pytest.mark.parametrize("half", some_of([0, 1], 2))
def test_pictures_have_names_as_text(tmp_path: Path, call: str, half: int) -> None:
    profile = written(tmp_path / "<b>&\x1b.json", *list(HOSTILE.values())[half::2])
    for kind, start in PICTURES.items():
        picture = tmp_path / f"a.{kind}"
        outcome = run_command(profile, "--plot", str(picture), "-t", "1", *CALLS[call])
        assert outcome.code == 0
        assert picture.read_bytes().startswith(start)
    drawn = ET.fromstring((tmp_path / "a.svg").read_bytes())
    only_visible("".join(drawn.itertext()))
    tags = {element.tag.rpartition("}")[2] for element in drawn.iter()}
    assert not tags & {"script", "foreignObject", "image", "a"}
    keys = [key.rpartition("}")[2] for element in drawn.iter() for key in element.attrib]
    assert not [key for key in keys if key.startswith("on")]


class _Tags(HTMLParser):
    """The tags and the text of a page."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: set[str] = set()
        self.texts: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag if not attrs else f"{tag} {attrs}")

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def handle_comment(self, data: str) -> None:
        self.tags.add(f"<!--{data}-->")


@pytest.mark.slow
def test_names_add_no_markup_to_notebooks(text: str, tmp_path: Path) -> None:
    page = pa.run(pa.Query(), pa.load(written(tmp_path / "a.json", text)))._repr_html_()
    only_visible(page)
    parsed = _Tags(page)
    assert parsed.tags <= {"table", "tr", "th", "td"}
    assert not text or visible(text, "utf-8") in parsed.texts


@pytest.mark.slow
def test_arguments_are_echoed_as_visible_text(text: str, tmp_path: Path) -> None:
    profile = written(tmp_path / "a.json", "x")
    for option in (
        "--type", "--opr-name", "--input-dtype", "--min-time", "--where", "--aggregate-by",
        "--order-by", "--columns", "--peaks", "--fail-if", "--plot", "--format", "-t", "--threshold",
        "--color", "--aggregate", "--having",
    ):  # fmt: skip
        outcome = run_command(profile, f"{option}={text}" if len(option) > 2 else f"-t{text}")
        only_visible(outcome.out + outcome.err)
        assert "Traceback" not in outcome.err
        assert len(outcome.err) < 20_000
    for column in (f"name~{text}", f"param.{text}"):
        for output_format in WITH_COLUMNS:
            outcome = run_command(profile, "--columns", column, "--format", output_format)
            only_visible(outcome.err)
            if "json" not in output_format:  # JSON keeps every text as it is
                only_visible(outcome.out, newline="\r\n")
    outcome = run_command(f"{text}.json")
    assert outcome.code in (1, 2)
    only_visible(outcome.err)


@pytest.mark.slow
def test_paths_in_error_messages_are_visible_text(text: str, tmp_path: Path) -> None:
    broken = document(["x"])
    broken["profiler"]["device"][text] = {text: {"start": text + "soon"}}
    path = tmp_path / "a.json"
    path.write_text(json.dumps(broken), encoding="utf-8")
    outcome = run_command(str(path))
    assert (outcome.code, outcome.err.count("\n"), outcome.out) == (1, 1, "")
    only_visible(outcome.err)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("conv(l.7.RELU[0],fuse[2773@2774])[3443]", "conv(l.7.RELU[0],fuse[2773@2774])[3443]"),
        ("const<1>[2] {1,8} a_b 3 - 4", "const<1>[2] {1,8} a_b 3 - 4"),
        ("a|b", r"a\|b"),
        (r"a\|b", r"a\\\|b"),
        (r"a\nb", r"a\nb"),
        ("<b>&amp;</b>", r"\<b>\&amp;\</b>"),
        ("[a](b) ![c](d)", r"[a]\(b) \![c]\(d)"),
        ("http://a.b www.a.b", r"http:\//a.b www\.a.b"),
        ("{html}", r"\{html}"),
        ("_a_ *b* `c`", r"\_a\_ \*b\* \`c\`"),
    ],
)
def test_markup_in_a_wiki_is_escaped(name: str, shown: str) -> None:
    assert escaped(name) == shown


def test_arguments_that_are_not_unicode_are_echoed(tmp_path: Path) -> None:
    path = written(tmp_path / "\udcff.json", "x")
    for output_format in WITH_COLUMNS:
        call = (path, "--format", output_format, "--columns", "file,name", "--opr-name", "x|\udcff")
        outcome = run_command(*call)
        assert (outcome.code, outcome.err) == (0, "")
        assert "udcff" in re.sub(r"[\s\u2502-]", "", outcome.out)  # a line may break inside it


def test_long_messages_lose_their_middle(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    broken = document(["x"])
    broken["graph_exec"]["operator"]["y" * 1_000_000] = {"name": "", "type": ""}
    path.write_text(json.dumps(broken))
    outcome = run_command(str(path))
    assert outcome.err.startswith("profile_analyze: error: ")
    assert re.search(r"yyyy \[\.\.\. \d+ characters \.\.\.\] yyyy", outcome.err)
    assert outcome.err.endswith("yyyy' is not a whole number of 0 or more\n")
    assert len(outcome.err) < 8100


@pytest.mark.parametrize("output_format", FOR_PEOPLE)
def test_sentences_are_in_the_encoding_of_the_terminal(tmp_path: Path, output_format: str) -> None:
    path = written(tmp_path / "a.json", "卷")
    call = (path, "--format", output_format, "--peaks", "1T:1G", "--fail-if", "type=卷: time > 1s")
    ascii_only = run_command(*call, encoding="ascii").out
    # in the table, in the sentence on gains, and in the verdict
    assert ascii_only.count(r"\u5377") >= 3
    assert run_command(*call).out.count("卷") == ascii_only.count(r"\u5377")


@pytest.mark.parametrize("word", ["卷", "卷积 ", "e\u0301x"])
def test_long_texts_are_wrapped_as_by_wcwidth(word: str) -> None:
    lines = wrapped(word * 500, 30, "utf-8")
    assert lines == [line.strip() for line in wcwidth.wrap(word * 500, 30)]

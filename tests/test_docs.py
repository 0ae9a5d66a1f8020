"""The documents are true: commands work, outputs are current, options, names and links exist."""

from __future__ import annotations

import ast
import contextlib
import io
import re
from collections import Counter, defaultdict
from functools import cache
from itertools import count, pairwise
from typing import TYPE_CHECKING, Any, Final

import pytest

from benchmarks.noise import TABLES
from profile_analyze import COLUMNS
from profile_analyze.cli.options.parser import parser
from profile_analyze.columns.patterns import TIME_LIMIT_S
from profile_analyze.readers.loading import READERS
from profile_analyze.version import VERSION
from tests.conftest import PROFILES, ROOT, run_command, some_of
from tests.document_sessions import DOCUMENTS, answer, recorded, sessions
from tests.format_capabilities import HEADINGS
from tests.generated_parts import GENERATED, PAGES, PARTS, current_documents
from tests.terminal_picture import PICTURE, drawn, lines_in, screen

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

README = (ROOT / "README.md").read_text(encoding="utf-8")
COOKBOOK = (ROOT / "docs" / "cookbook.md").read_text(encoding="utf-8")


@pytest.fixture(autouse=True)
def in_the_project(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


SESSIONS = [
    pytest.param(session, path, id=f"{path.stem}-{number}")
    for path in DOCUMENTS
    for number, session in enumerate(sessions(path), start=1)
]


@pytest.mark.parametrize(("session", "path"), SESSIONS)
def test_the_output_of_commands_is_current(session: str, path: Path) -> None:
    assert recorded(session, path) == session


def test_documents_have_commands_with_output() -> None:
    documents = {str(session.id).partition("-")[0] for session in SESSIONS}
    named = {
        "README",
        "ci",
        "cookbook",
        "fleet",
        "models",
        "output",
        "pytorch",
        "reading",
        "roofline",
    }
    assert documents == named


QUESTIONS = re.findall(
    r"`(profile-analyze (?:run|new|a)\*?\.json[^`]*)`",
    README + COOKBOOK,
)
RUNS = PROFILES.parent / "runs"
STANDING_FOR = {
    "run*.json": str(RUNS / "base"),
    "new*.json": str(RUNS / "changed"),
    "old*.json": str(RUNS / "base"),
    "run.json.gz": str(PROFILES.parent / "pytorch" / "cnn-train.json.gz"),
    "run.json": str(PROFILES / "resnet18.json"),
    "a.json": str(PROFILES / "resnet18.json"),
    "b.json": str(PROFILES / "mobilenet.json"),
}


@pytest.mark.slow
@pytest.mark.parametrize("command", some_of(QUESTIONS, 3))
def test_the_commands_of_the_common_questions_succeed(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, file in STANDING_FOR.items():
        command = command.replace(f" {name}", f" {file}")
    answer(command)


@pytest.mark.parametrize("name", ["docs/library.md", "docs/cookbook.md"])
def test_the_output_of_library_examples_is_current(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    names: dict[str, object] = {}
    for code, printed in re.findall(
        r"^```python\n(.*?)^```$(?:\n\n^```text\n(.*?)^```$)?", text, re.DOTALL | re.MULTILINE
    ):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(code, names)
        assert out.getvalue().replace("\r\n", "\n") == printed, code
    assert names


def test_the_cookbook_has_all_its_questions() -> None:
    assert len(re.findall(r"^### .*\?$", COOKBOOK, re.MULTILINE)) == 7
    assert COOKBOOK.count("```console") == 7
    assert COOKBOOK.count("```python") == COOKBOOK.count("```text") + 1 == 8


def test_generated_pages_and_parts_are_current() -> None:
    for path, text in current_documents():
        assert path.read_text(encoding="utf-8") == text, "make docs"


def test_each_generated_part_is_in_one_document() -> None:
    texts = (path.read_text(encoding="utf-8") for path in DOCUMENTS)
    found = [part[3] for text in texts for part in GENERATED.finditer(text)]
    assert sorted(found) == sorted({*PARTS, *TABLES, "costs"})


def test_the_table_of_formats_has_all_formats() -> None:
    assert set(HEADINGS) == {reader.format for reader in READERS}


def test_the_list_of_columns_has_all_columns() -> None:
    outcome = run_command("--columns", "help")
    assert (outcome.code, outcome.err) == (0, "")
    for column in COLUMNS:
        assert f"- `{column.name}`" in outcome.out


MOST_WORDS = 1500
"""The most words that a person wrote on a page."""
MOST_WORDS_OF: Final = {"docs/architecture.md": 2500}
MOST_WORDS_IN_ALL = 30_000
HISTORY = "CHANGELOG.md"  # grows with every version


def hand_written() -> dict[str, int]:
    """Return the number of hand-written words of each document, also those of tables and code."""
    return {
        path.relative_to(ROOT).as_posix(): len(
            GENERATED.sub("", path.read_text(encoding="utf-8")).split()
        )
        for path in DOCUMENTS
        if path not in PAGES and path.name != HISTORY
    }


def test_documents_have_few_words() -> None:
    words = hand_written()
    assert {
        page: count for page, count in words.items() if count > MOST_WORDS_OF.get(page, MOST_WORDS)
    } == {}
    assert sum(words.values()) <= MOST_WORDS_IN_ALL, words


def test_pages_that_are_short_are_no_exceptions() -> None:
    words = hand_written()
    assert [page for page in MOST_WORDS_OF if words[page] <= MOST_WORDS] == []


OPTION = re.compile(r"(?<![\w-])--?[a-z][a-z-]*")
OPTIONS = {option for action in parser()._actions for option in action.option_strings}


def test_the_questions_have_options_that_exist() -> None:
    assert {option for question in QUESTIONS for option in OPTION.findall(question)} <= OPTIONS


@pytest.mark.parametrize("page", ["README.md", "docs/cookbook.md"])
def test_the_question_about_pipelines_has_all_options_that_a_gate_needs(page: str) -> None:
    lines = (ROOT / page).read_text(encoding="utf-8").splitlines()
    (row,) = (line for line in lines if line.startswith("| How do I make a pipeline fail"))
    for option in ("--fail-if", "--print-only summary", "--fail-uncertain yes"):
        assert option in row


def test_the_picture_of_a_terminal_is_current() -> None:
    svg = PICTURE.read_text(encoding="utf-8")
    assert lines_in(svg) == lines_in(drawn(screen()))
    assert "url(http" not in svg
    assert f"]({PICTURE.relative_to(ROOT).as_posix()})" in README


def test_the_output_in_the_readme_fits_most_terminals() -> None:
    texts = sessions(ROOT / "README.md")
    assert len(texts) == 3
    assert max(len(line) for text in texts for line in text.splitlines()) <= 90


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) <= 150
    assert len(README.split()) <= 1000


def anchors(path: Path) -> set[str]:
    headings = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}


def test_no_test_and_no_recorded_report_depends_on_the_version() -> None:
    tests = ROOT / "tests"
    version = re.compile(rf"profile_analyze[ -]{re.escape(VERSION)}")
    recorded = (tests / "fixtures" / name for name in ("calls", "reports"))
    files = [*tests.rglob("*.py"), *tests.glob("*/screens/*.txt")]
    files += (path for folder in recorded for path in folder.rglob("*.txt"))
    wrong = [path for path in files if version.search(path.read_text(encoding="utf-8"))]
    assert wrong == [], "use `without_version`, or `pa.__version__`"


MOST_CHARACTERS = 150  # as CONTRIBUTING.md says


def too_long(document: str) -> list[str]:
    """Return the lines of prose that are too long. A single long word, as a link, is not counted."""
    without_code = re.sub(r"^( *)```.*?^\1```$", "", document, flags=re.DOTALL | re.MULTILINE)
    lines = without_code.split("\n")
    prose = [line for line in lines if not line.lstrip().startswith("|")]
    return [line for line in prose if len(line) > MOST_CHARACTERS and " " in line.strip("-* ")]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_lines_of_documents_are_not_too_long(path: Path) -> None:
    assert too_long(path.read_text(encoding="utf-8")) == []


def test_long_lines_are_found_outside_tables_code_and_links() -> None:
    text = "word " * 31
    link = f"- [text](https://{'x' * MOST_CHARACTERS})"
    document = f"{text}\n| {text} |\n{link}\n```sh\n{text}\n```\n  - {text}"
    assert too_long(document) == [text, f"  - {text}"]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_have_a_target(path: Path) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", path.read_text(encoding="utf-8")):
        if not link.startswith("https://"):
            name, _, anchor = link.partition("#")
            target = path.parent / name if name else path
            assert target.exists(), link
            assert not anchor or anchor in anchors(target), link


def test_the_changelog_has_a_section_for_the_version() -> None:
    assert f"## [{VERSION}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_shown_version_is_current() -> None:
    text = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    assert f"\nprofile_analyze {VERSION} (extras: " in text


def test_the_documented_time_limit_of_patterns_is_current() -> None:
    assert f"took more than {TIME_LIMIT_S:g} s;" in (ROOT / "docs" / "errors.md").read_text()


SOURCES = [
    path
    for folder in ("profile_analyze", "tests", "benchmarks", "fuzz")
    for path in (ROOT / folder).rglob("*.py")
]
WORD_OF_CODE = re.compile(r"[A-Za-z_]+")
NAMED_SOURCES = [
    (path.stem, name)
    for path in DOCUMENTS
    for name in sorted(set(re.findall(r"`((?:\w+/)*\w+\.py)`", path.read_text(encoding="utf-8"))))
]


def test_the_files_that_documents_name_exist() -> None:
    sources = [source.as_posix() for source in SOURCES]
    missing = [
        f"{document}: {name}"
        for document, name in NAMED_SOURCES
        if not any(source.endswith(f"/{name}") for source in sources)
    ]
    assert not missing, "\n".join(missing)


PACKAGE = ROOT / "profile_analyze"
NAMED_MODULE = re.compile(
    r"`(?P<file>(?:\w+/)*\w+\.py)`"
    r"|`(?P<package>cli|columns|comparison|fleet|gate|model|readers|views|work)\.(?P<name>\w+)"
)


def test_the_modules_that_docstrings_name_exist() -> None:
    sources = [source.as_posix() for source in SOURCES]

    def exists(named: re.Match[str]) -> bool:
        if named["file"]:
            return any(source.endswith(f"/{named['file']}") for source in sources)
        module = PACKAGE / named["package"] / named["name"]
        return module.is_dir() or module.with_suffix(".py").exists()

    missing = [
        f"{path.relative_to(ROOT)}: {named[0]}"
        for path in PACKAGE.rglob("*.py")
        for named in NAMED_MODULE.finditer(path.read_text(encoding="utf-8"))
        if not exists(named)
    ]
    assert not missing, "\n".join(missing)


@pytest.mark.parametrize("name", ["docs/architecture.md", "CONTRIBUTING.md"])
def test_names_in_developer_documents_exist(name: str) -> None:
    names = re.findall(
        r"`([A-Za-z_]+(?:\.[A-Za-z_]+)*)`", (ROOT / name).read_text(encoding="utf-8")
    )
    known = {word for source in SOURCES for word in WORD_OF_CODE.findall(source.read_text("utf-8"))}
    assert set(names)
    assert {part for one in names for part in one.split(".")} <= known | {"md", "json"}


def test_developer_documents_name_source_files() -> None:
    documents = {document for document, _ in NAMED_SOURCES}
    assert documents >= {"architecture", "CONTRIBUTING", "SECURITY"}


WORD = re.compile(r"[A-Za-z][A-Za-z-]*|\0")
VARIABLE = re.compile(
    r"""
    \.\.\.                        # left out
    | '[^']*'                     # a quoted value
    | [\w./@*-]*[\d@$]\S*         # a number, an address in the file, a list of files
    | \S+\.(?:json|csv|toml|gif)  # a file
    | \b[A-Z]+\b                  # a placeholder
    | --\S+                       # an option
    | [:;,]                       # what joins two messages
    """,
    re.VERBOSE,
)
# Messages of Python, msgspec or the system, and messages made of several strings.
NOT_IN_ONE_STRING = {
    "FILE: damaged gzip: ...",
    "FILE: at PATH: expected `object`, got `array`",
    "FILE: inconsistent: operators: computation has 3 values for 97 rows; and 2 more",
}


def pairs(text: str) -> set[tuple[str, str]]:
    """Return the pairs of neighbouring words. NUL stands for a value and is in no pair."""
    return {pair for pair in pairwise(WORD.findall(text)) if "\0" not in pair}


def strings_in(tree: ast.AST) -> Iterator[str]:
    """Yield the strings of a module except docstrings, with NUL for each value in an f-string."""
    nodes = list(ast.walk(tree))
    left_out = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    formatted = [node for node in nodes if isinstance(node, ast.JoinedStr)]
    left_out |= {id(value) for node in formatted for value in node.values}
    for one in formatted:
        parts = [part.value if isinstance(part, ast.Constant) else "\0" for part in one.values]
        yield "".join(map(str, parts))
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from () if id(node) in left_out else (node.value,)


@cache
def strings_by_pair() -> dict[tuple[str, str], list[int]]:
    """Return, for each pair of words, the numbers of the package's strings that have the pair."""
    found: dict[tuple[str, str], list[int]] = defaultdict(list)
    number = count()
    for path in (ROOT / "profile_analyze").rglob("*.py"):
        for string in strings_in(ast.parse(path.read_text(encoding="utf-8"))):
            index = next(number)
            for pair in pairs(string):
                found[pair].append(index)
    return found


def share_in_the_source(message: str) -> float:
    """Return the largest share of a message's word pairs that one string of the package has."""
    found = pairs(VARIABLE.sub("\0", message))
    shared = Counter(index for pair in found for index in strings_by_pair().get(pair, ()))
    return max(shared.values(), default=0) / len(found) if found else 1.0


MESSAGES = [
    (in_two or in_one).strip()
    for line in (ROOT / "docs" / "errors.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("| ")
    for in_two, in_one in re.findall(r"``(.+?)``|`([^`]+)`", re.split(r"(?<!\\)\|", line)[1])
]


def test_documented_messages_are_in_the_source() -> None:
    # An example has values where the source has placeholders, so half of the pairs are enough.
    found = (one for one in MESSAGES if one not in NOT_IN_ONE_STRING)
    missing = [message for message in found if share_in_the_source(message) < 0.5]
    assert not missing, "\n".join(missing)


def test_documented_messages_missing_in_the_source_are_detected() -> None:
    assert len(MESSAGES) > 30
    assert set(MESSAGES) >= NOT_IN_ONE_STRING
    assert share_in_the_source("FILE: is a folder, but a file is needed") < 0.5
    assert share_in_the_source("FILE: the JSON breaks off before its end, at byte N; ...") < 0.5


def test_the_reader_that_architecture_shows_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    names: dict[str, Any] = {}
    exec(code, names)
    readers = (names["MadeUpReader"](), *READERS)
    monkeypatch.setattr("profile_analyze.readers.loading.READERS", readers)
    file = tmp_path / "run.txt"
    file.write_text("made-up\nconv1 Conv 3000\nrelu Relu 10\nconv2 Conv 5\n", encoding="utf-8")
    outcome = run_command(str(file), "--columns", "time,type", "--format", "csv", "-t", "1")
    assert (outcome.code, outcome.out) == (0, "time_s,type\r\n0.003,Conv\r\n")


def test_the_help_examples_work() -> None:
    text = run_command("--help").out
    examples = re.findall(r"^  (profile-analyze run\.json.*)$", text, re.MULTILINE)
    assert len(examples) == 5
    for example in examples:
        resnet = str(PROFILES / "resnet18.json")
        answer(example.replace("run.json", resnet))

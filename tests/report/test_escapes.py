"""Escapes of names: no section in any format passes on characters that control a terminal."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Final, get_args
from xml.etree import ElementTree as ET

import pytest

import profile_analyze as pa
from profile_analyze.gate.conditions import FailCondition
from profile_analyze.gate.judge import FailVerdict
from profile_analyze.model.notes import Importance, TextNote
from profile_analyze.model.visible import escaped, escaped_lines
from profile_analyze.query.table import Table
from profile_analyze.report import sections as kinds
from profile_analyze.report.base import Display, Report, encoded
from profile_analyze.report.formats.output_formats import (
    OUTPUT_FORMATS,
    find_explanation_renderer,
    find_renderer,
)
from profile_analyze.report.layout.colors import SEQUENCES
from profile_analyze.report.sections import (
    Chart,
    Facts,
    FactValue,
    Sentences,
    TableSection,
    Verdicts,
)
from tests.in_memory import profile_of

if TYPE_CHECKING:
    from profile_analyze.report.base import Renderer
    from profile_analyze.report.sections import Section

HOSTILE: Final = "a\x1b[31m\x1b]0;t\x07b\u202ec\u2066\nd\re\u200bf\x9bg\u2028h"
PROFILE: Final = profile_of(
    [{"name": HOSTILE, "type": HOSTILE, "scope": (HOSTILE,), "category": "other"}],
    [{"operator": 0, "duration_s": 1.0}],
    processes=[HOSTILE],
)
CONDITION: Final = FailCondition(HOSTILE, HOSTILE, "time", above=True, limit=1.0, limit_unit="s")
OWN: Final = (pa.Column(HOSTILE, "", HOSTILE, kind="text"), pa.Column("time", "s", HOSTILE))
SHORT: Final = Table.of("stack", OWN, [(HOSTILE, 1.0)], title=HOSTILE, available=2)
SECTIONS: Final[tuple[Section, ...]] = (
    Facts("totals", (FactValue("name", HOSTILE, lambda _: ((HOSTILE, HOSTILE),)),)),
    Sentences(lambda _: (HOSTILE,)),
    TableSection(pa.run(pa.Query(), PROFILE)),
    TableSection(pa.run(pa.Query(), PROFILE), ("all",)),
    TableSection(pa.run(pa.Query(by="name,type,scope,file"), PROFILE)),
    Facts("inspection", (), (SHORT,)),
    TableSection(Table.of("sql", OWN, [(HOSTILE, 1.0)])),
    TableSection(Table.of("kernels", OWN, [(HOSTILE, 1.0)]), (HOSTILE,)),
    Verdicts((FailVerdict(CONDITION, "met", HOSTILE),)),
)


def test_every_kind_of_section_is_tried() -> None:
    assert {type(section) for section in SECTIONS} | {Chart} == set(get_args(kinds.Section))


@pytest.mark.parametrize("output_format", [*OUTPUT_FORMATS, "explanation"])
@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: type(section).__name__)
def test_sections_have_only_visible_text(section: Section, output_format: str) -> None:
    is_of_operators = isinstance(section, TableSection) and section.table.asked is not None
    if output_format == "explanation" and not is_of_operators:
        return
    if output_format == "collapsed" and isinstance(section, TableSection):
        section = SECTIONS[2]  # groups have no stacks
    renderer = (
        find_explanation_renderer("time")
        if output_format == "explanation"
        else find_renderer(output_format)
    )
    for display in (
        Display(),
        Display(width=40),
        Display("ascii"),
        Display(color=True),
        Display(width=40, color=True),
    ):
        shown = printed(renderer, Report((section,), PROFILE, NOTES), display)
        if display.color:
            shown = re.sub("|".join(map(re.escape, SEQUENCES)), "", shown)
        assert acting(shown.replace("\r\n", "\n") if output_format == "csv" else shown) == set()


NOTES: Final = (TextNote(HOSTILE, Importance.WRONG),)


def printed(renderer: Renderer, report: Report, display: Display) -> str:
    """Return what a renderer prints."""
    encoding = "utf-8" if renderer.for_programs else display.encoding
    return b"".join(renderer.pieces(report, display)).decode(encoding)


def acting(text: str) -> set[str]:
    """Return the characters of `text` that act on a terminal or are invisible, but line ends."""
    return {
        one for one in {*text} - {"\n"} if unicodedata.category(one) in ("Cc", "Cf", "Zl", "Zp")
    }


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["times", "roofline"])
def test_pictures_have_only_visible_text(kind: str) -> None:
    pytest.importorskip("matplotlib")
    table = pa.run(pa.Query(peaks=pa.parse_peaks("1T:1G")), PROFILE)
    chart = Chart(kind, table, HOSTILE, (HOSTILE,))  # type: ignore[arg-type]  # a literal
    shown = b"".join(find_renderer("svg").pieces(Report((chart,)), Display()))
    assert acting("".join(ET.fromstring(shown).itertext())) == set()


@pytest.mark.slow
def test_a_chart_cannot_forget_to_escape(monkeypatch: pytest.MonkeyPatch) -> None:
    charts = pytest.importorskip("profile_analyze.report.pictures.charts")
    monkeypatch.setattr(charts, "draw_times", lambda figure, *_: figure.text(0.5, 0.5, HOSTILE))
    chart = Chart("times", pa.run(pa.Query(), PROFILE))
    shown = b"".join(find_renderer("svg").pieces(Report((chart,)), Display()))
    assert acting("".join(ET.fromstring(shown).itertext())) == set()


def test_only_our_own_colours_pass_and_only_if_wanted() -> None:
    text = "\x1b[31ma\x1b[0m\x1b[5mb\x1b]c\n"
    colored = "\x1b[31ma\x1b[0m\\x1b[5mb\\x1b]c\n"
    assert b"".join(encoded([text], "utf-8", color=True)).decode() == colored
    plain = "\\x1b[31ma\\x1b[0m\\x1b[5mb\\x1b]c\n"
    assert b"".join(encoded([text], "utf-8")).decode() == plain
    assert b"".join(encoded(["", "a"], "utf-8", color=True)) == b"a"
    assert b"".join(encoded(["a\r\nb\x00"], "utf-8", line_end="\r\n")) == b"a\r\nb\\x00"


@pytest.mark.parametrize("text", ["a\nb", "é\n\u2500\u202e", "\x1b[31m\n", "\ud800\n", "a\tb"])
def test_long_texts_are_escaped_as_short_ones(text: str) -> None:
    for but in (("\n",), ("\n", "\x1b[31m")):
        assert escaped_lines(text, but) == escaped(text, but)

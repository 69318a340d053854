"""Attention lines are well-formed, escaped, and darkest where the system looks most."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

from unswayed.papers.nature.attention import Look, attention_lines
from unswayed.report.charts import luminance
from unswayed.report.study import Picture, Section, SectionTable, as_markdown, as_page, as_text
from unswayed.report.tables import Figure

BAD = "<script>alert('&')</script>"


def test_words_are_escaped_and_shaded_by_their_share() -> None:
    svg = str(attention_lines([Look("original", ["play", BAD, "now"], [0.1, 0.7, 0.2])], f"title {BAD}"))
    root = ET.fromstring(svg)
    assert "<script" not in svg
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert texts[:3] == ["original", "play", "0.10"]
    fills = [element.attrib["fill"] for element in root.iter("{http://www.w3.org/2000/svg}rect")]
    light = [luminance([int(part, 16) for part in re.findall("..", fill[1:])]) for fill in fills]
    assert light[1] < light[2] < light[0]


def test_an_utterance_without_words_is_a_line_without_words() -> None:
    ET.fromstring(str(attention_lines([Look("nothing", [], [])], "none")))


def test_sections_are_escaped_in_every_form() -> None:
    picture = Picture(BAD, attention_lines([Look(BAD, [BAD], [1.0])], BAD))
    section = Section(BAD, [BAD], [SectionTable(BAD, [{"name": BAD, BAD: Figure("1.0 [0.9, 1.1]")}])], [picture])
    page = as_page(BAD, [section])
    assert "<script" not in page
    assert page.count("&lt;script&gt;") >= 8
    assert "<script" not in as_markdown(BAD, [section])
    assert "1.0 [0.9, 1.1]" in as_markdown(BAD, [section])
    assert BAD in as_text([section])

"""The pages in every language: nothing is missing, nothing is left over, and every phrase that a page uses is there."""

from __future__ import annotations

import re

import httpx
import pytest

from unswayed.collect.site import PAGES
from unswayed.collect.words import languages, phrases

ENGLISH = phrases("en")


def test_the_languages():
    assert {"en", "zh", "de", "es", "pt", "hi", "ar"} <= set(languages())
    assert {code for code in languages() if phrases(code)["_direction"] == "rtl"} == {"ar"}


@pytest.mark.parametrize("code", languages())
def test_a_language_has_every_phrase(code):
    own = phrases(code)
    assert sorted(ENGLISH.keys() - own.keys()) == [], "missing"
    assert sorted(own.keys() - ENGLISH.keys()) == [], "not in English"
    assert all(text.strip() for text in own.values())
    for name, text in own.items():
        assert set(re.findall(r"\{\w*\}", text)) == set(re.findall(r"\{\w*\}", ENGLISH[name])), name


def test_every_phrase_that_a_page_uses_is_there():
    static = PAGES.parent / "static"
    files = [*PAGES.rglob("*.html"), *static.rglob("*.js")]
    used = {name for file in files for name in re.findall(r"\bwords\.(\w+)", file.read_text("utf-8"))}
    assert len(used) > 40
    assert used - ENGLISH.keys() == set()


def test_errors_are_in_the_persons_language(make, serve):
    server = serve(*make(lang="de")[:2])
    assert phrases("de")["need_link"] in httpx.get(server.url).text
    with httpx.Client(base_url=server.url, follow_redirects=True) as http:
        page = http.get("/language/ar").text
        assert '<html lang="ar" dir="rtl">' in page
        assert phrases("ar")["need_link"] in page
        reply = http.get("/task", headers={"accept": "application/json"})
        assert reply.json() == {"error": phrases("ar")["need_link"]}

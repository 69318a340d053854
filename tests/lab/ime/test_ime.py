"""Every input method keeps one contract: the same keys give the same list, and no keys bring the process down."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from hypothesis import given, settings, strategies as st

from unswayed.base.errors import UnknownName
from unswayed.vary.keyboard import ime
from unswayed.vary.keyboard.ime import EngineMissing, engines, is_typable, open_engine


@pytest.fixture(params=engines.names(), scope="module")
def method(request: pytest.FixtureRequest) -> ime.PinyinEngine:
    lacks = ime.missing_file(request.param)
    if lacks:
        pytest.skip(f"no {lacks} here; install it with: {ime.install_line(request.param)}")
    return open_engine(request.param)


def test_it_knows_common_words(method: ime.PinyinEngine) -> None:
    assert method.candidates("beijing", 5)[0] == ("北京", 7)
    assert "事实" in [c.text for c in method.candidates("shishi", 8)]
    assert method.candidates("woxihuanpingguo", 1)[0] == ("我喜欢苹果", 15)
    assert method.rank("北京", ("bei", "jing")) == 0
    assert method.rank("背景", ("bei", "jing")) > 0


def test_letters_stand_for_syllables(method: ime.PinyinEngine) -> None:
    offered = method.candidates("bj", 30)
    assert "北京" in [c.text for c in offered]
    assert all(1 <= c.used <= 2 for c in offered)


def test_what_was_asked_before_changes_nothing(method: ime.PinyinEngine) -> None:
    keys = ["huabei", "sq", "yjl", "xian", "zenm", "licheng"]
    first = {k: method._look_up(k, 10) for k in keys}
    for k in ["shenqing", "sq", *reversed(keys)]:
        method._look_up(k, 10)
    assert {k: method._look_up(k, 10) for k in keys} == first


def test_odd_keys_give_nothing(method: ime.PinyinEngine) -> None:
    for keys in ("", "'", "a'", "'a", "a''b", "花", "A", "a1", "a b", "a\0b", "x" * 61):
        assert not is_typable(keys)
        assert method.candidates(keys) == []
    assert method.candidates("beijing", 0) == []


_SYLLABLES = [
    "a",
    "an",
    "ang",
    "e",
    "en",
    "er",
    "o",
    "gan",
    "gang",
    "xian",
    "fan",
    "fang",
    "nan",
    "nang",
    "min",
    "i",
    "v",
]
_KEYS = st.one_of(
    st.text("abcdefghijklmnopqrstuvwxyz'", min_size=1, max_size=60),
    st.lists(st.sampled_from(_SYLLABLES), max_size=20).map(lambda parts: "".join(parts)[:60]),
)


@given(keys=_KEYS)
@settings(max_examples=60, deadline=None)
def test_any_keys_are_survived(method: ime.PinyinEngine, keys: str) -> None:
    for text, used in method.candidates(keys, 10):
        assert text
        assert 0 < used <= len(keys)


def test_ambiguous_runs_do_not_abort_google() -> None:
    if ime.missing_file("google"):
        pytest.skip("libgooglepinyin0 is not installed")
    code = "from unswayed.vary.keyboard.ime import open_engine; e = open_engine('google')\n"
    code += "for n in range(1, 61): [e.candidates((k * n)[:60]) for k in ('a', 'an', 'ang', 'er', 'gan', 'xian')]"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_the_process_ends_well_and_leaves_nothing(
    method: ime.PinyinEngine, tmp_path_factory: pytest.TempPathFactory
) -> None:
    place = tmp_path_factory.mktemp("tmp")
    code = (
        "from unswayed.vary.keyboard.ime import open_engine; "
        f"print(open_engine({method.name!r}).candidates('beijing', 1)[0].text)"
    )
    environment = {**os.environ, "TMPDIR": str(place)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "北京" in done.stdout
    assert list(place.iterdir()) == []


def test_what_is_missing_is_named_with_the_line_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines.get("google"), "files", ("lib/not/there.so",))
    open_engine.cache_clear()
    with pytest.raises(EngineMissing, match="apt-get install .*libgooglepinyin0"):
        open_engine("google")
    with pytest.raises(UnknownName, match="google"):
        open_engine("gogle")

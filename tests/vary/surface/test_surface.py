"""Surface noise changes how a text looks, leaves alone what has a form of its own, and keeps labels true."""

from __future__ import annotations

import re
import unicodedata
from difflib import SequenceMatcher

import pytest
from hypothesis import given, settings, strategies as st

from unswayed import vary_text
from unswayed.base.errors import UsageError, WrongLanguage
from unswayed.base.options import OperatorSpec
from unswayed.base.values import Example, Json
from unswayed.vary import operators
from unswayed.vary.engine import Variation, vary
from unswayed.vary.presets import members

NAMES = members("surface")
TEXTS = {
    "en": "I don't think it's open, please call me tomorrow! It costs 3.50 at www.shop.com/A?b=C 😂",
    "de": "Können Sie mir bitte für morgen die Straße zum Café zeigen?",
    "fr": "C'est l'été, il n'est pas là aujourd'hui.",
    "es": "¿Dónde está la estación más próxima, señor?",
    "tr": "Işık İstanbul'da yarın için bir şey var mı?",
    "el": "Πού είναι ο σταθμός; Ευχαριστώ πολύ.",
    "ru": "Ещё раз спасибо, когда приедет поезд?",
    "zh": "iPhone 15多少钱，为什么不能用5G？花呗未开通。",
    "ja": "スマートフォンでPayPayは使えますか？本当にありがとうございます。",
    "ko": "내일 서울 날씨 어때요? 5G 되나요?",
    "ar": "أين المحطة رقم 12، شكراً جداً؟",
    "he": "איפה התחנה, בבקשה?",
    "hi": "कल मौसम कैसा रहेगा? 25 तारीख को ज़रूर बताना।",
    "th": "ร้านเปิดกี่โมงครับ ขอบคุณมาก",
    "vi": "Bạn có biết ga tàu ở đâu không?",
}


def made(name: str, text: str, language: str = "en", draws: int = 1, seed: int = 0, **params: Json) -> list[str]:
    variation = Variation(
        operators=(OperatorSpec(f"surface/{name}", params),), task="text", language=language, draws=draws, seed=seed
    )
    return [variant.inputs["text"] for variant in vary([Example(0, "e", {"text": text})], variation)]


@pytest.mark.parametrize(
    ("name", "language", "kind", "before", "after"),
    [
        ("case", "en", "upper", "It's on www.x.com/A", "IT'S ON www.x.com/A"),
        ("case", "en", "lower", "Call NASA", "call nasa"),
        ("case", "en", "title", "don't stop well-known songs", "Don't Stop Well-Known Songs"),
        ("case", "en", "title", "the 17th table(s)", "The 17th Table(s)"),
        ("case", "en", "sentence", "When can I go? To Paris. ok", "When can I go? To paris. Ok"),
        ("case", "de", "upper", "Straße", "STRASSE"),
        ("case", "tr", "upper", "ısı ister", "ISI İSTER"),
        ("case", "tr", "lower", "ISI İSTER", "ısı ister"),
        ("case", "el", "upper", "πού είναι ο σταθμός", "ΠΟΥ ΕΙΝΑΙ Ο ΣΤΑΘΜΟΣ"),
        ("case", "el", "lower", "Ο ΣΤΑΘΜΟΣ", "ο σταθμος"),
        ("case", "nl", "title", "ijs eten", "IJs Eten"),
        ("accents", "de", "spelled", "FÜR Übung, Straße", "FUER Uebung, Strasse"),
        ("accents", "de", "dropped", "für Übung", "fur Ubung"),
        ("accents", "it", "spelled", "È già così, perché no?", "E' gia' cosi', perche' no?"),
        ("accents", "es", "dropped", "el año próximo", "el año proximo"),
        ("accents", "pl", "dropped", "źdźbło łąki", "zdzblo laki"),
        ("accents", "tr", "dropped", "ışık", "isik"),
        ("accents", "vi", "dropped", "đâu", "dau"),
        ("accents", "fr", "dropped", "cœur e\u0301te\u0301", "coeur ete"),
        ("accents", "ru", "dropped", "мой ещё", "мой еще"),
        ("accents", "ar", "dropped", "أهلاً", "اهلا"),
        ("apostrophe", "en", "dropped", "I don't, we're", "I dont, we're"),
        ("apostrophe", "en", "curly", "the '90s don't", "the '90s don’t"),
        ("apostrophe", "fr", "dropped", "j'aime l'oro", "jaime l'oro"),
        ("punctuation", "en", "dropped", "at 3:45 it costs 1,200.50.", "at 3:45 it costs 1,200.50"),
        ("punctuation", "en", "dropped", "mail a.b@c.org , thanks", "mail a.b@c.org thanks"),
        ("punctuation", "en", "doubled", "Dr. Who left.", "Dr. Who left.."),
        ("punctuation", "ru", "doubled", "это странно т.к. нет ответа.", "это странно т.к. нет ответа.."),
        ("punctuation", "fr", "dropped", "note\u00a0: non", "note non"),
        ("punctuation", "de", "dropped", "am 5. Oktober, bitte", "am 5. Oktober bitte"),
        ("punctuation", "zh", "dropped", "好的，谢谢3.5", "好的 谢谢3.5"),
        ("script", "ja", "half", "ガード", "ｶﾞｰﾄﾞ"),
        ("script", "ja", "full", "abc", "ａｂｃ"),
        ("script", "zh", "full", "(如圖所示)", "（如圖所示）"),
        ("script", "zh", "full", "(alligator pear)。", "（ａｌｌｉｇａｔｏｒ ｐｅａｒ）。"),
        ("script", "zh", "full", "（約 3.14)", None),
        ("script", "ko", "full", "seek (기본값).", "ｓｅｅｋ (기본값)."),
        ("script", "fa", "any", "۱۲", "12"),
        ("script", "ar", "any", "12.5", "١٢.٥"),
        ("emoji", "en", "replaced", "nice 😢", "nice 😭"),
        ("emoji", "en", "removed", "so nice 👩‍👩‍👧 today", "so nice today"),
        ("spaces", "en", "lost", "not able 5 10", None),
        ("spaces", "en", "inside", "nowhere"[:3], None),
        ("spaces", "en", "inside", "XXXIII NASA", None),
    ],
)
def test_each_kind_does_what_it_says(name: str, language: str, kind: str, before: str, after: str | None) -> None:
    found = {text for seed in range(4) for text in made(name, before, language, draws=4, seed=seed, kind=kind)}
    if name == "emoji" and kind == "replaced":
        assert after in found
    else:
        assert found == ({after} if after is not None else set())


def test_a_kind_that_is_not_there_is_named() -> None:
    with pytest.raises(UsageError, match="upper"):
        made("case", "x", kind="uper")


@pytest.mark.parametrize("language", ["zh", "ar", "hi", "ja", "ko", "th", "he", "ka"])
def test_case_does_not_apply_where_letters_have_none(language: str) -> None:
    with pytest.raises(WrongLanguage):
        made("case", "abc", language)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_to_change_gives_nothing(name: str) -> None:
    cls = operators.get(name)
    language = next((known for known in cls.languages if known != "*"), "en")
    for text in ("", " ", "\n"):
        assert made(name.partition("/")[2], text, language, draws=3) == []


def test_a_question_stays_a_question() -> None:
    for text in made("punctuation", "Ele vem?", "pt", draws=30, kind="other"):
        assert "?" in text


def test_no_digit_becomes_another_digit_and_english_words_no_other_words() -> None:
    for text in made("ocr", "0123456789", draws=60):
        assert all(a == b or not b.isdigit() for a, b in zip("0123456789", text, strict=True))
    assert "eat" not in made("ocr", "cat", draws=60)


def test_two_texts_of_a_pair_are_written_in_one_way() -> None:
    example = Example(0, "p", {"a": "Where Is it", "b": "Who Is it"})
    variation = Variation(operators=(OperatorSpec("surface/case"),), task="text", language="en", draws=20)
    for variant in vary([example], variation):
        a, b = (part.partition(": ")[2] for part in variant.note.split("; "))
        assert a == b


def test_a_name_is_not_shortened() -> None:
    assert made("abbreviation", "a trip to Great Britain", draws=20) == []
    assert "gr8" in made("abbreviation", "a great trip", draws=20)[0]


def test_short_forms_are_habits() -> None:
    variation = Variation(operators=(OperatorSpec("surface/abbreviation"),), task="text", language="en", draws=4)
    texts = [Example(i, str(i), {"text": f"please {i}"}) for i in range(6)]
    by_draw: dict[int, set[str]] = {}
    for variant in vary(texts, variation):
        by_draw.setdefault(variant.draw, set()).add(variant.inputs["text"].split()[0])
    assert all(len(forms) == 1 for forms in by_draw.values())


def test_no_short_form_is_longer() -> None:
    from unswayed.vary.surface.abbreviation import _short_forms

    for language in operators.get("surface/abbreviation").languages:
        short, _ = _short_forms(language)
        for word, forms in short.items():
            assert word == word.lower()
            assert all(form and form != word and len(form) <= len(word) for form in forms), (language, word)


_pieces = st.one_of(
    st.sampled_from(
        [*" ".join(TEXTS.values()).split(), "👩‍👩‍👧", "👍🏽", "e\u0301", "نام‌ه", "क्षि", "3,14", "{x}", "U.S.", "…"]
    ),
    st.text(max_size=4),
)
_texts = st.lists(_pieces, max_size=9).map(" ".join)
_BROKEN = re.compile(r"(?:^|\s)[\u200d\ufe0f\U0001f3fb-\U0001f3ff]")


@pytest.mark.parametrize("name", NAMES)
@given(text=_texts, language=st.sampled_from(sorted(TEXTS)), seed=st.integers(0, 99))
@settings(max_examples=40, deadline=None, derandomize=True)
def test_on_any_text(name: str, text: str, language: str, seed: int) -> None:
    short = name.partition("/")[2]
    try:
        found = made(short, text, language, draws=2, seed=seed)
    except WrongLanguage:
        return
    assert found == made(short, text, language, draws=2, seed=seed)
    for new in found:
        assert new.strip()
        assert new != text
        assert len(_BROKEN.findall(new)) <= len(_BROKEN.findall(text)), "an emoji was taken apart"
        if short not in ("accents", "punctuation", "emoji"):
            assert _orphans(new) <= _orphans(text), "a mark lost its letter"
        for fixed in re.findall(r"(?<!\S)www\.\S+|(?<!\S)\{x\}(?!\S)", text):
            assert fixed in new


def _orphans(text: str) -> int:
    """Combining marks that stand on nothing."""
    return sum(unicodedata.category(c) == "Mn" and (i == 0 or text[i - 1].isspace()) for i, c in enumerate(text))


@pytest.mark.parametrize("name", NAMES)
@given(seed=st.integers(0, 99), language=st.sampled_from(sorted(TEXTS)), data=st.data())
@settings(max_examples=25, deadline=None, derandomize=True)
def test_answers_move_with_the_context(name: str, seed: int, language: str, data: st.DataObject) -> None:
    context = f"{TEXTS[language]} {TEXTS['en']}"
    start = data.draw(st.integers(0, len(context) - 2))
    end = data.draw(st.integers(start + 1, len(context)))
    gold = {"answers": [{"text": context[start:end], "start": start}]}
    example = Example(0, "q", {"question": "what?", "context": context}, gold)
    try:
        variation = Variation(
            operators=(OperatorSpec(name),), task="qa", language=language, draws=2, seed=seed, fields=("context",)
        )
        variants = list(vary([example], variation))
    except WrongLanguage:
        return
    for variant in variants:
        (answer,) = variant.gold["answers"]
        new = variant.inputs["context"]
        assert new.startswith(answer["text"], answer["start"])
        outside = new[: answer["start"]] + new[answer["start"] + len(answer["text"]) :]
        # nothing came into the answer or left it: either side has the letters that it had
        assert _alike(context[:start] + context[end:], outside) or _alike(context[start:end], answer["text"])


def _alike(a: str, b: str) -> bool:
    """The same letters, but for accents, case, width, and what one of a hundred letters may become."""
    plain_a, plain_b = _letters(a), _letters(b)
    return plain_a == plain_b or SequenceMatcher(None, plain_a, plain_b, autojunk=False).ratio() > 0.99


def _letters(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text).casefold()
    plain = "".join(str(unicodedata.digit(c)) if c.isdigit() else c for c in plain if c.isalnum())
    for old, new in (("ı", "i"), ("đ", "d"), ("ae", "a"), ("oe", "o"), ("ue", "u")):
        plain = plain.replace(old, new)
    return plain


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("language", ["en", "de", "zh"])
def test_slots_keep_their_words(name: str, language: str) -> None:
    text = "Play the album Für Elise by Miles Davis please , I don't know 北京 上海 😂"
    slots = "O O B-object B-name I-name O B-artist I-artist O O O O O B-city B-city O"
    tokens, tags = text.split(" "), slots.split(" ")
    example = Example(0, "s", {"text": " ".join(tokens)}, {"intent": "i", "slots": tags})
    try:
        variation = Variation(operators=(OperatorSpec(name),), task="slu", language=language, draws=40)
        variants = list(vary([example], variation))
    except WrongLanguage:
        return
    for variant in variants:
        new = variant.inputs["text"].split(" ")
        assert all(new)
        assert len(new) == len(variant.gold["slots"])
        assert [t for t in variant.gold["slots"] if t != "O"] == [t for t in tags if t != "O"]
        for slot, letters in _slot_letters(new, variant.gold["slots"]).items():
            assert abs(len(letters) - len(_slot_letters(tokens, tags)[slot])) <= 5, "a slot took in other words"


def _slot_letters(tokens: list[str], tags: list[str]) -> dict[tuple[int, str], str]:
    """The letters of each slot, by its number and kind."""
    found: dict[tuple[int, str], str] = {}
    at = -1
    for token, tag in zip(tokens, tags, strict=True):
        if tag.startswith("B-"):
            at += 1
        if tag != "O":
            found[at, tag[2:]] = found.get((at, tag[2:]), "") + token
    return found


def test_brackets_change_around_letters_that_change() -> None:
    """A pair of brackets is one place with two ends, and what stands between them changes too."""
    whole = OperatorSpec("surface/script", {"kind": "half", "rate": 1.0})
    (variant,) = vary_text("彼は「カタカナ」で書いた", whole, language="ja", seed=1)
    assert variant.inputs["text"] == "彼は｢ｶﾀｶﾅ｣で書いた"

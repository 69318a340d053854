"""Languages: how often one sentence, or a file of ten, is given the right language, is left unsure, or is called wrong;
and the same of the encoding of such a file.

Sentences of people are from FRMT, xSID and RUSpellRU; of other languages, messages of programs as Debian ships them in
/usr/share/locale, translated by people, and spaCy's example sentences.
"""

from __future__ import annotations

import contextlib
import gettext
import io
import random
import re
import tempfile
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from benchmarks._measure import SHARED, LeftOut, Row, cpu_seconds, needs, show
from unswayed.base.errors import DataError
from unswayed.base.language import UNSURE, identifier_installed, identify
from unswayed.data import read_examples

EACH, FILES, ROWS = 50, 20, 10
MESSAGES = ("es", "fr", "it", "nl", "sv", "da", "pl", "cs", "hu", "fi", "tr", "uk", "el", "ja", "ar")
DIALECTS = {"de-ba": "Bavarian", "de-muc": "of Munich", "de-st": "South Tyrolean", "gsw": "Swiss German"}
ENCODINGS = {  # in which people have files that are not UTF-8
    "gbk": "zh", "cp1251": "ru uk", "koi8_r": "ru", "cp1252": "de fr es pt it nl sv da fi", "cp1250": "pl cs hu",
    "cp1253": "el", "cp1254": "tr", "cp1256": "ar", "cp932": "ja", "euc_jp": "ja",
}  # fmt: skip
LOCALE = Path("/usr/share/locale")
_ODD = re.compile(r"[%<>{}\\\[\]|=`$@_\n\t/~]|--|\d|[A-Z]{3}")  # marks of what is no sentence


def sentences() -> dict[str, list[str]]:
    """Fifty of each of 20 languages."""
    frmt = needs(SHARED / "frmt" / "lexical_bucket")
    russian = needs(SHARED / "typing_ru" / "corrections.txt").read_text(encoding="utf-8").splitlines()
    pairs = {tag: _frmt(frmt, tag) for tag in ("pt-PT", "zh-TW")}
    found = {
        "en": [english for english, _ in pairs["pt-PT"]],
        "pt": [text for _, text in pairs["pt-PT"]],
        "zh": [text for _, text in pairs["zh-TW"]],
        "de": xsid("de"),
        "ru": russian,
        **{language: messages(language) for language in MESSAGES},
    }
    return {language: random.Random(7).sample(texts, EACH) for language, texts in found.items()}


def _frmt(folder: Path, tag: str) -> list[list[str]]:
    (file,) = folder.glob(f"*_test_en_{tag}.tsv")
    lines = [line.split("\t") for line in file.read_text(encoding="utf-8").splitlines()]
    return [[text.strip() for text in line] for line in lines if len(line) == 2]


def xsid(name: str) -> list[str]:
    lines = needs(SHARED / "xsid" / f"{name}.valid.conll").read_text(encoding="utf-8").splitlines()
    return [line.removeprefix("# text = ") for line in lines if line.startswith("# text = ")]


def messages(language: str) -> list[str]:
    """Messages of five words or more in a language, without marks of code."""
    texts = set(import_module(f"spacy.lang.{language}.examples").sentences)
    catalogue: dict[object, str] = {}
    for file in sorted(needs(LOCALE / language / "LC_MESSAGES").glob("*.mo")):
        if file.stem.startswith(("iso_", "xkey")) or "properties" in file.stem:
            continue  # names of countries and of keys
        with file.open("rb") as opened, contextlib.suppress(UnicodeDecodeError):
            catalogue |= gettext.GNUTranslations(opened)._catalog  # type: ignore[attr-defined]
    for said, text in catalogue.items():
        if isinstance(said, str) and said != text and len(said.split()) >= 5 and 20 <= len(text) <= 160:
            texts |= set() if _ODD.search(text) or _ODD.search(said) else {text}
    if len(texts) < EACH:
        raise LeftOut(f"{LOCALE} has too few messages in {language}")
    return sorted(texts)


def rows() -> Iterator[Row]:
    if not identifier_installed():
        raise LeftOut("the extra lang is not installed")
    corpus = sentences()
    told = [(language, text, identify([text]).language) for language, texts in corpus.items() for text in texts]
    wrong = [(language, said, text) for language, text, said in told if said not in (language, UNSURE)]
    right = sum(said == language for language, _, said in told)
    count = len(told)
    calls = ", ".join(f"{a} as {b} ({n})" for (a, b), n in Counter((a, b) for a, b, _ in wrong).most_common(6))
    what = f"one sentence of {len(corpus)} languages, {count:,} in all"
    yield Row("sentences", f"{what}: right or unsure", 100 * (1 - len(wrong) / count), "%", asked=99, note=calls)
    yield Row("sentences: right", f"{what}: right", 100 * right / count, "%", note="the others are unsure")
    german = [*xsid("de"), *messages("de")[:1000]]
    english = sum(identify([text]).language == "en" for text in german)
    yield Row("german", f"{len(german):,} German sentences called English", english, more=False, asked=0)
    seconds = cpu_seconds(lambda: [identify([text]) for _, text, _ in told])
    yield Row("speed", "sentences identified", count / seconds, "sentences/CPU s")
    yield from files(corpus)
    yield from encodings(corpus)


def encodings(corpus: dict[str, list[str]]) -> Iterator[Row]:
    """Tables of ten rows in each encoding, as `unswayed vary` reads them."""
    draw, told = random.Random(13), Counter[str]()
    for encoding, languages in ENCODINGS.items():
        for language in languages.split():
            fitting = [text for text in corpus[language] if text.encode(encoding, "replace").decode(encoding) == text]
            for _ in range(FILES):
                told[_decoded(draw.sample(fitting, ROWS), encoding)] += 1
    what = f"the encoding of a file of {ROWS} rows, {told.total() - told['ascii']} in {len(ENCODINGS)} encodings"
    count = told.total() - told["ascii"]
    yield Row("encodings", f"{what}: right or asked for", 100 * (1 - told["wrong"] / count), "%", asked=99)
    yield Row("encodings: right", f"{what}: right", 100 * told["right"] / count, "%", note="else unswayed asks for it")


def _decoded(texts: list[str], encoding: str) -> str:
    content = "".join(["text\n", *(f"{text}\n" for text in texts)]).encode(encoding)
    if content.isascii():
        return "ascii"
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(io.StringIO()):
        (file := Path(folder) / "a.txt").write_bytes(content)
        try:
            read = [example.inputs["text"] for example in read_examples(file)]
        except DataError:
            return "asked for"
    return "right" if read == ["text", *texts] else "wrong"


def files(corpus: dict[str, list[str]]) -> Iterator[Row]:
    draw = random.Random(11)
    told = [
        (language, identify(draw.sample(texts, ROWS)).language)
        for language, texts in corpus.items()
        for _ in range(FILES)
    ]
    wrong = [(language, said) for language, said in told if said not in (language, UNSURE)]
    unsure = sum(said == UNSURE for _, said in told)
    what = f"a file of {ROWS} rows, {len(told)} in {len(corpus)} languages"
    note = f"{unsure} unsure; wrong: {', '.join(f'{a} as {b}' for a, b in wrong) or 'none'}"
    yield Row("files", f"{what}: right", 100 * (1 - (len(wrong) + unsure) / len(told)), "%", asked=99, note=note)
    for name, called in DIALECTS.items():
        texts = xsid(name)
        said = Counter(identify([text]).language for text in texts)
        each = ", ".join(f"{language} {n}" for language, n in said.most_common(5))
        yield Row(
            f"dialect: {name}", f"xSID {name} ({called}): sentences called German, or unsure",
            100 * (said["de"] + said[UNSURE] + said["bar"] + said["gsw"]) / len(texts), "%",
            note=f"the file: {identify(texts).language}; sentences: {each}",
        )  # fmt: skip


def main() -> None:
    show("languages", rows())


if __name__ == "__main__":
    main()

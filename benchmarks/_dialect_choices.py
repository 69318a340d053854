"""What people did where a dialect operator edits: said it as the operator does, kept the word, or neither."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from benchmarks._measure import SHARED, needs
from unswayed.base.edits import Edit, apply
from unswayed.base.options import OperatorSpec
from unswayed.base.seeds import Seeds
from unswayed.papers.dialect.corpora import FrmtSegment, read_pairs, read_segments
from unswayed.vary.dialect import WordExchange
from unswayed.vary.dialect.african_american import AfricanAmerican
from unswayed.vary.dialect.indian_english import IndianEnglish
from unswayed.vary.dialect.us_uk import exchange_table
from unswayed.vary.engine import make_operator
from unswayed.vary.operator import Operator, Text

MADE, KEPT, NEITHER = "made", "kept", "neither"


class Choice(NamedTuple):
    """One edit of an operator, what a person did there, and where it comes from."""

    feature: str
    old: str
    new: str
    did: str
    bucket: str = ""
    half: int = 0
    text: str = ""


class Share(NamedTuple):
    """Of the edits where a person had the choice, how many that person made too."""

    made: int
    kept: int
    neither: int

    @property
    def value(self) -> float | None:
        return self.made / (self.made + self.kept) if self.made + self.kept else None


def share(choices: Iterable[Choice]) -> Share:
    did = Counter(choice.did for choice in choices)
    return Share(did[MADE], did[KEPT], did[NEITHER])


# Two translations of the same English: FRMT


def frmt(language: str, splits: Sequence[str]) -> Iterator[FrmtSegment]:
    folder = needs(SHARED / "frmt")
    for split in splits:
        yield from read_segments(folder, split, [language])


def translated(name: str, source: str, target: str, **params: object) -> Iterator[Choice]:
    """Every edit to the text in one dialect, judged by the translation into the other. Halves are blocks of 25 lines,
    since neighbouring lines are of one article."""
    operator = make_operator(OperatorSpec(name, {"rate": 1.0, **params}))
    language = source[:2]
    for segment in frmt(language, ("exemplars", "dev", "test")):
        text, other = segment.texts[source], segment.texts[target]
        for old, new in _words(operator, text, language):
            did = MADE if _times(new, other) > _times(new, text) else KEPT if _times(old, other) else NEITHER
            yield Choice(name, old, new, did, segment.bucket, segment.line // 25 % 2, text)


def _words(operator: Operator, text: str, language: str) -> Iterator[tuple[str, str]]:
    change = operator.change(Text(text, language), Seeds(0, "score", 1).stream(text, 0))
    for start, end, new in change.edits if change else ():
        yield text[start:end], new


def _times(word: str, text: str) -> int:
    bounded = word if re.search(r"[\u3400-\u9fff]", word) else rf"(?<![\w-]){re.escape(word)}(?![\w-])"
    return len(re.findall(bounded, text, re.IGNORECASE))


# One text, whose other spellings show where its author is from: American and British English


def english_texts() -> Iterator[tuple[str, str]]:
    """Texts by people, each with the name of its half: from FRMT, MLQE-PE, NoiseQA and RTE."""
    for language in ("pt", "zh"):
        for segment in frmt(language, ("exemplars", "dev", "test")):
            yield ("score" if segment.split == "test" else "fit"), segment.source
    for text in needs(SHARED / "mlqe_pe/train.src").read_text("utf-8").splitlines():
        yield "score", text
    lines = needs(SHARED / "noiseqa/people.jsonl").read_text("utf-8").splitlines()
    for paragraph in dict.fromkeys(json.loads(line)["context"] for line in lines):
        yield "score", paragraph
    for file in sorted(needs(SHARED / "rte").glob("*.xml")):
        for text in dict.fromkeys(re.findall(r"<t>(.*?)</t>", file.read_text("utf-8", "replace"), re.DOTALL)):
            yield "fit" if "dev" in file.name else "score", text


_IZE = re.compile(r"[iy][sz](?:e|es|ed|ing|er|ers|ation|ations)$")
# British words that mean other things too: a text that has one need not have meant the American word.
_OTHER_SENSES = frozenset(
    re.findall(
        r"\w+",
        "got flat flats tap lift lifts torch football sweets jumper trainers mobile chips crisps holiday holidays",
    )
)

_WRITTEN_IN_BOTH = frozenset(
    re.findall(r"\w+", "theatre theatres dialogue dialogues catalogue catalogues grey moustache orthopaedic cancelled")
)


def spelled(to: str, half: str) -> Iterator[Choice]:
    """Words that have a form in both, in texts whose other spellings are of the dialect `to`."""
    table = exchange_table(to == "us")
    inverse = WordExchange(
        (new, old, feature) for old, (new, feature) in table.other.items() if new not in _OTHER_SENSES
    )
    for of, text in english_texts():
        if of != half:
            continue
        kept = [_Word(text[p.edit.start : p.edit.end], p.edit.new, KEPT, p.feature) for p in table.places(text)]
        made = [_Word(p.edit.new, text[p.edit.start : p.edit.end], MADE, p.feature) for p in inverse.places(text)]
        every = [word for word in [*kept, *made] if word.new.lower() not in _OTHER_SENSES]
        for i, word in enumerate(every):
            others = [one for k, one in enumerate(every) if k != i and one.old.lower()[:4] != word.old.lower()[:4]]
            if {one.did for one in others if one.tells()} == {MADE}:
                yield Choice("dialect/us_uk", word.old, word.new, word.did)


class _Word(NamedTuple):
    old: str
    new: str
    did: str
    feature: str

    def tells(self) -> bool:
        """Does the spelling tell where its author is from? Words in -ize, and some others, don't."""
        both = _IZE.search(self.old) or {self.old.lower(), self.new.lower()} & _WRITTEN_IN_BOTH
        return self.feature == "spelling" and not both


# A text and the same as a speaker would say it: ReDial


class Said(NamedTuple):
    """A problem, how a speaker of African American English says it, and whether its writer uses the dialect densely."""

    text: str
    other: str
    dense: bool


_DENSE = re.compile(r"\w{3,}in['’]")
_NEAR, _ENOUGH = 3, 3  # rows on each side, which are mostly by the same writer, and how many of them have *-in'*


def said_by_speakers(half: str) -> Iterator[Said]:
    """ReDial's pairs. The halves are blocks of 25 rows, since neighbouring rows share a writer."""
    rows = json.loads(needs(SHARED / "redial/math.json").read_text("utf-8"))["vanilla"]
    pairs = [
        (_question(a["prompt"]), _question(b["prompt"])) for a, b in zip(rows["original"], rows["aave"], strict=True)
    ]
    signs = [bool(_DENSE.search(other)) for _, other in pairs]
    for i, (text, other) in enumerate(pairs):
        near = sum(signs[max(0, i - _NEAR) : i]) + sum(signs[i + 1 : i + 1 + _NEAR])
        if half in ("both", "fit" if i // 25 % 2 == 0 else "score"):
            yield Said(text, other, near >= _ENOUGH)


def _question(prompt: str) -> str:
    return prompt.split("Question:", 1)[1].rsplit("Answer:", 1)[0].strip()


def rewritten(half: str, dense: bool = True) -> Iterator[Choice]:
    """Every edit of the operator, in the texts of writers who use the dialect densely, or in those of the others."""
    operator = AfricanAmerican()
    for said in said_by_speakers(half):
        if said.dense != dense:
            continue
        for feature, places in operator.places(said.text).items():
            words = _plain if feature == "-in' for -ing" else _levelled
            for edits in places:
                yield Choice(feature, *_did(said.text, edits, said.other, words))


# Minimal pairs: Indian English


def paired() -> Iterator[Choice]:
    """Every edit of a feature to a sentence that people rewrote with that feature."""
    operator = IndianEnglish()
    versions: dict[tuple[str, str], list[str]] = {}
    for pair in read_pairs(needs(SHARED / "dialect_indian_english")):
        if pair.standard != pair.dialect:
            versions.setdefault((_feature(pair.feature), pair.standard), []).append(pair.dialect)
    for (feature, text), others in versions.items():
        for edits in operator.places(text).get(feature, ()):
            judged = [_did(text, edits, other, _plain) for other in others]
            exact = any(_plain(apply(text, sorted(edits))) == _plain(other) for other in others)
            old, new, did = min(judged, key=lambda one: (MADE, KEPT, NEITHER).index(one[2]))
            yield Choice(feature, old, new, MADE if exact else did)


def _feature(named: str) -> str:
    """The name in the pairs, as *General Extender "and all"*, and ours."""
    plain = re.split('["“]', named.lower())[0].strip()
    return {"general extender": "general extender and all"}.get(plain, plain)


# Words as they are compared

_GON = re.compile(r"\b(?:gon|gonna|gunna|finna|boutta)\b'?")


def _plain(text: str) -> list[str]:
    return re.findall(r"[\w'$%.]*[\w%']", text.lower().replace("’", "'"))


def _levelled(text: str) -> list[str]:
    """Words with one spelling for each of the features that are not being judged."""
    low = re.sub(r"(\w{3,}in)'(?!\w)", r"\1g", text.lower().replace("’", "'"))
    return _plain(re.sub(r"(?<![\w'])em\b", "'em", _GON.sub("gon", low)))


def _did(text: str, edits: Sequence[Edit], other: str, words: Callable[[str], list[str]]) -> tuple[str, str, str]:
    """What the edit changes, and whether the other text has the new words, or the old, beside a word that stayed."""
    before, after, there = words(text), words(apply(text, sorted(edits))), words(other)
    shorter = min(len(before), len(after))
    start = next((i for i in range(shorter) if before[i] != after[i]), shorter)
    tail = 0
    while tail < shorter - start and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    left, right = ["", *before][start], [*before, ""][len(before) - tail]
    old, new = before[start : len(before) - tail], after[start : len(after) - tail]
    here, said = _runs(before), _runs(there)
    made = any(said[run] > here[run] for run in _beside(left, new, right))
    kept = any(said[run] for run in _beside(left, old, right))
    return " ".join(old), " ".join(new), MADE if made else KEPT if kept else NEITHER


def _beside(left: str, words: list[str], right: str) -> list[tuple[str, ...]]:
    return [(left, *words), (*words, right)] if words else [(left, right)]


def _runs(words: list[str]) -> Counter[tuple[str, ...]]:
    every = ["", *words, ""]
    return Counter(tuple(every[i : i + n]) for n in range(2, 7) for i in range(len(every) - n + 1))

"""Commands and questions as other people would say them: another frame, another order, other words, short forms."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from unswayed.base.edits import Edit, apply
from unswayed.base.errors import UnknownName
from unswayed.base.seeds import Stream
from unswayed.base.values import Example
from unswayed.vary.english import tagged
from unswayed.vary.operator import Change, Operator, Text
from unswayed.vary.paraphrase._alike import Alike, edits_between
from unswayed.vary.paraphrase._carriers import Carriers, put_around
from unswayed.vary.paraphrase._frames import (
    DATA,
    FRAMES,
    Asked,
    Frame,
    Reframed,
    Relative,
    embedded,
    reframings,
    relative,
    written_out,
)
from unswayed.vary.paraphrase.rules import Rules
from unswayed.vary.sentence import LONGEST, MONTHS, WEEKDAYS, Sentence, sentences
from unswayed.vary.words import cased, checked_rate, sounds_as_vowel

Made = tuple[list[Edit], str]  # edits that belong together, and a note

KINDS = ("borrowed", "frame", "order", "words", "polite", "short")
_WORDS = {old.removesuffix("/V"): new.split("|") for old, new in DATA["words"].items()}
_VERBS = frozenset(old.removesuffix("/V") for old in DATA["words"] if old.endswith("/V"))
_SHORT = {old: new.split("|") for old, new in DATA["short"].items()}


def _any_of(words: Iterable[str]) -> re.Pattern[str]:
    listed = "|".join(sorted(map(re.escape, words), key=len, reverse=True))
    return re.compile(rf"(?<![\w'])(?:{listed})(?![\w'])", re.I)


_FINDS, _CUTS = _any_of(_WORDS), _any_of(_SHORT)
_DAY = "|".join(sorted(WEEKDAYS | {f"{day}s" for day in WEEKDAYS}))
_PART = "(?:morning|afternoon|evening|night)"
_TIMES = (
    rf"(?:today|tonight|tomorrow|yesterday)(?: {_PART})?",
    rf"(?:on|this|next|every) (?:{_DAY})(?: {_PART})?",
    rf"(?:on|in) (?:{'|'.join(sorted(MONTHS))})(?: [0-9]{{1,2}}(?:st|nd|rd|th)?)?",
    "(?:this|next|last|every) (?:week|weekend|month|year|day|morning|afternoon|evening)",
    "in the (?:morning|afternoon|evening)|in [0-9]{4}|at [0-9]{1,2}(?::[0-9]{2})? ?(?:am|pm|o'clock)?",
)
_TIME = re.compile(rf" (?:{'|'.join(_TIMES)})$", re.I)
_OTHER_TIME = re.compile(rf"\b(?:am|pm|o'clock|{_DAY}|today|tomorrow|tonight|{_PART}|[0-9:]+)\b", re.I)
_ENDS = ".?!"
_WHICH = {"what": "which", "which": "what"}
_SHORT_TEXT = 300  # characters of texts that are said as others
_BORROW = 0.98  # how often another row is followed, where there is one
_FRONT, _POLITE = 0.5, 0.1  # how often a time is put in front, and something polite at the end
_ORDERED = 0.6  # how often an order gets another frame: most people give it plainly
_LONG = 5  # words of a sentence whose order changes, at least


class Command(Operator):
    """Says a command or a question otherwise: *are there any flights* for *show me flights*, *can you play* for *play*.

    `kinds` lists what it may do, separated by commas: borrowed (the words of another row that asks the same), frame
    (how it begins), order (times in front), words, polite, short (*pls*, *tmrw*); or `all`. `rate` is the share of
    words with another word that are replaced, `short` how often words are shortened. Nothing inside labelled spans
    changes, and a text with labels keeps its order.
    """

    version = 2
    languages = ("en",)
    pool = 20_000
    example = ("show me flights from boston to denver", "are there any flights going from boston to denver")

    def __init__(self, kinds: str = "all", rate: float = 0.4, short: float = 0.04) -> None:
        chosen = list(KINDS) if kinds == "all" else [kind.strip() for kind in kinds.split(",")]
        for kind in chosen:
            if kind not in KINDS:
                raise UnknownName("kind of rewrite", kind, KINDS)
        self._carriers, self._texts = Carriers(), tuple[str, ...]()
        self._rules = Rules("nominal,contraction,expression,synonym")  # for texts that are neither
        self.kinds, self.rate, self.short = frozenset(chosen), checked_rate(rate), checked_rate(short)

    def take_pool(self, examples: Sequence[Example]) -> None:
        self._carriers = Carriers.of(examples)
        self.__dict__.pop("_alike", None)
        self._texts = tuple(text for e in examples for text in e.inputs.values() if isinstance(text, str))

    @cached_property
    def _alike(self) -> Alike:
        return Alike(self._texts)

    def change(self, text: Text, rng: Stream) -> Change | None:
        if "borrowed" in self.kinds and rng.random() < _BORROW:
            for edits in self._borrowed(text, rng):
                if text.keeps(edits) and apply(text.text, edits) != text.text:
                    return Change(tuple(edits), "said as another row")
        return self._rewritten(text, rng)

    def _borrowed(self, text: Text, rng: Stream) -> Iterator[list[Edit]]:
        """What would say the text as other rows do: by their labels, or by what their texts seem to ask."""
        if others := self._carriers.others(text.text, text.gold):
            yield put_around(text.text, text.gold, rng.choice(others))
        elif (
            self._texts
            and len(text.text) <= _SHORT_TEXT
            and "  " not in text.text
            and (said := self._alike.others(text.text))
        ):
            edits = edits_between(text.text, _written_as(rng.choice(said), text.text))
            if not any(edit.start < end and start < edit.end for edit in edits for start, end in text.marked):
                yield edits

    def _rewritten(self, text: Text, rng: Stream) -> Change | None:
        found = sentences(text.text) if len(text.text) <= LONGEST else ()
        if not found:
            return None
        done = _Done(text)
        asks = found[-1]  # of several sentences, the last one asks
        if "order" in self.kinds and not text.marked and rng.random() < _FRONT:
            done.add(_fronted(asks))
        if "frame" in self.kinds:
            done.add(self._framed(text, asks, rng))
        if "words" in self.kinds:
            done.add(self._reworded(text, rng, self.rate if done.edits else 1.0))
            if not done.edits and "frame" in self.kinds:
                done.add(self._framed(text, asks, rng))
        if "short" in self.kinds:
            done.add(self._shortened(text, rng))
        if "polite" in self.kinds and rng.random() < (_POLITE if done.edits else 1.0):
            done.add(self._ended(text, asks, rng))
        if not done.edits and len(self.kinds) == len(KINDS):
            return self._rules.change(text, rng)
        edits = sorted(done.edits)
        if not edits or apply(text.text, edits) == text.text or not text.keeps(edits):
            return None
        return Change(tuple(edits), "; ".join(done.notes))

    def _framed(self, text: Text, sentence: Sentence, rng: Stream) -> Iterator[Made]:
        """The sentence in another frame."""
        ways = [
            way for way in reframings(sentence, text.text.lower()) if way.kind != "order" or rng.random() < _ORDERED
        ]
        asked, about = embedded(sentence), relative(sentence)
        if about is not None and rng.random() < 0.6:
            frames = [f for f in FRAMES["see"] if "D" in f.takes]
            yield _related(text.text, sentence, about, _drawn(frames, text, rng))
        elif asked is not None and (not ways or rng.random() < 0.3):
            yield _told(text.text, sentence, asked, _drawn(FRAMES["know"], text, rng))
        elif ways:
            way = rng.choice(ways)
            frame = _drawn(way.frames, text, rng)
            yield _put(text.text, sentence, way, frame), f"frame: {frame.said or 'none'}"
        elif [word.tag in ("NN", "NNS") for word in sentence.words[1:2]] == [True]:
            start, end, first, _ = sentence.words[0]
            if first in _WHICH:
                yield [Edit(start, end, cased(_WHICH[first], text.text[start:end]))], f"frame: {_WHICH[first]}"

    def _reworded(self, text: Text, rng: Stream, rate: float) -> Iterator[Made]:
        tags = {word.start: word.tag for word in tagged(text.text)}
        for match in _FINDS.finditer(text.text):
            old = match.group().lower()
            verb = tags.get(match.start(), "")[:2] == "VB"
            if rng.random() < rate and (verb or old not in _VERBS):
                new = cased(rng.choice(_WORDS[old]), match.group())
                if not _article_before(text.text, match.start(), new):
                    yield [Edit(*match.span(), new)], f"{match.group()}→{new}"

    def _shortened(self, text: Text, rng: Stream) -> Iterator[Made]:
        tags = {word.start: word.tag for word in tagged(text.text)}
        for match in _CUTS.finditer(text.text):
            before_verb = match.group().lower() == "to" and tags.get(match.end() + 1, "VB")[:2] == "VB"
            if rng.random() < self.short and not before_verb:
                new = rng.choice(_SHORT[match.group().lower()])
                yield [Edit(*match.span(), new)], f"{match.group()}→{new}"

    def _ended(self, text: Text, sentence: Sentence, rng: Stream) -> Iterator[Made]:
        """Something polite after an order, or after words without a verb."""
        verbs = text.text.rstrip()[-1:] in _ENDS or any(w.tag in ("VBZ", "VBD", "MD", "W") for w in sentence.words)
        if (sentence.words[0].tag not in ("VB", "MD") and verbs) or "please" in text.text.lower():
            return
        ends = [f for f in FRAMES["ends"] if "me" not in f.said or " me" not in text.text.lower()]
        end = rng.weighted(ends, [f.weight for f in ends]).said
        yield [Edit(sentence.end, sentence.end, f" {end}")], f'"{end}" at the end'


def _written_as(said: str, text: str) -> str:
    """Words of another text with the capitals and the mark at the end that this one has."""
    said = said.strip(" .?!")
    if text.islower():
        said = said.lower()
    elif text[0].isupper():
        said = said[:1].upper() + re.sub(r"\bi\b", "I", said[1:])
    mark = text[-1] if text[-1] in _ENDS else ""
    return said + ("" if not mark else "?" if _ASKS.match(said.lower()) else "." if mark == "?" else mark)


class _Done:
    """The edits that were made so far, none of which touches another one or a label."""

    def __init__(self, text: Text) -> None:
        self.text = text
        self.edits: list[Edit] = []
        self.notes: list[str] = []

    def add(self, found: Iterable[Made]) -> None:
        for edits, note in found:
            if all(map(self._free, edits)) and not ("please" in note and any("please" in n for n in self.notes)):
                self.edits += edits
                self.notes.append(note)

    def _free(self, edit: Edit) -> bool:
        apart = all(edit.end < other.start or other.end < edit.start for other in self.edits)
        return apart and not any(edit.start < end and start < edit.end for start, end in self.text.marked)


def _article_before(text: str, start: int, new: str) -> bool:
    """Does an article stand before this place that does not go with the new word?"""
    before = text[:start].rstrip().rpartition(" ")[2].lower()
    return before in ("a", "an") and (before == "an") != sounds_as_vowel(new)


def _opening(said: str, text: str, sentence: Sentence) -> str:
    """A frame as it is written where the sentence begins."""
    if text.islower() and "'" not in text:
        said = written_out(said)
    elif not text.islower():
        said = re.sub(r"\bi\b", "I", said)
    return said[:1].upper() + said[1:] if text[sentence.start].isupper() else said


def _drawn(frames: list[Frame], text: Text, rng: Stream) -> Frame:
    """One of the frames; none says *please* a second time."""
    asked = "please" in text.text[1:].lower()
    fit = [f for f in frames if not asked or "please" not in f.said] or frames
    return rng.weighted(fit, [f.weight for f in fit])


def _told(text: str, sentence: Sentence, asked: Asked, frame: Frame) -> Made:
    """The question after *tell me*."""
    opening = _opening(frame.said, text, sentence) + " "
    edit = Edit(asked.start, asked.end, opening + asked.said)
    if not asked.said and text[asked.start].isupper():
        edit = Edit(asked.start, asked.start + 1, opening + text[asked.start].lower())
    return [edit, *_closed(text, sentence, frame.said)], f"frame: {frame.said}"


def _related(text: str, sentence: Sentence, about: Relative, frame: Frame) -> Made:
    """*show me the flights that leave* for *what flights leave*."""
    opening = Edit(sentence.start, about.noun, _opening(frame.said, text, sentence) + " the ")
    return [
        opening,
        Edit(about.verb, about.verb, "that "),
        *_closed(text, sentence, frame.said),
    ], f"frame: {frame.said}"


def _put(text: str, sentence: Sentence, way: Reframed, frame: Frame) -> list[Edit]:
    """The frame in place of the old one, with the case of the words and the mark at the end made to fit."""
    start, end = sentence.start, way.end
    said = _opening(frame.said, text, sentence)
    if not said:
        follows = text[end].upper() if text[start].isupper() else text[end]
        return [Edit(start, end + 1, follows), *_closed(text, sentence, "")]
    if end > start:
        return [Edit(start, end - 1, said), *_closed(text, sentence, frame.said)]
    first = sentence.words[0]
    plain = text[start].isupper() and first.tag != "NNP" and text[start + 1 : first.end].islower()
    small = [Edit(start, start + 1, text[start].lower())] if plain else []
    return [Edit(start, start, said + " "), *small, *_closed(text, sentence, frame.said)]


_ASKS = re.compile(r"(?:what|which|who|when|where|why|how|can|could|would|will|do|does|did|is|are|was|may)\b")
_QUESTIONS = re.compile(r"(?:what|can|could|would|will|do|is|are|how|may)\b")


def _closed(text: str, sentence: Sentence, said: str) -> list[Edit]:
    """The mark at the end, where another one goes with the frame."""
    mark = text[sentence.end : sentence.end + 1]
    wanted = "?" if _QUESTIONS.match(said) else "."
    return [Edit(sentence.end, sentence.end + 1, wanted)] if mark and mark in _ENDS and mark != wanted else []


def _fronted(sentence: Sentence) -> Iterator[Made]:
    """A time at the end is put in front."""
    whole = sentence.text[sentence.start : sentence.end]
    match = _TIME.search(whole)
    if match is None or len(sentence.words) < _LONG or _OTHER_TIME.search(whole[: match.start()]):
        return
    before = next(word for word in reversed(sentence.words) if word.end <= sentence.start + match.start())
    if before.tag in ("IN", "TO", "VBG", "VBZ", "DT"):
        return
    time = match.group().strip()
    comma = " " if sentence.text.islower() else ", "
    at = sentence.start
    new = (time[0].upper() + time[1:] if sentence.text[at].isupper() else time) + comma
    small = sentence.moved(0, 1)[0]
    edits = [Edit(at, at + 1, new + small), Edit(at + match.start(), sentence.end, "")]
    yield edits, f"“{time}” in front"

"""Commands and questions as other people would say them: another frame, another order, other words, short forms."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from importlib.resources import files
from typing import NamedTuple

from unswayed.base.edits import Edit, apply
from unswayed.base.seeds import Stream
from unswayed.base.values import Example
from unswayed.vary.english import BE, HAVE, forms, tagged, tagger
from unswayed.vary.operator import Change, Operator, Text
from unswayed.vary.paraphrase._borrowed import LabelledRows, UnlabelledRows, edits_between, put_around
from unswayed.vary.paraphrase.rules import Rules, changes_label, chosen_kinds
from unswayed.vary.sentence import LONGEST, MONTHS, WEEKDAYS, Sentence, sentences
from unswayed.vary.words import cased, checked_rate, sounds_as_vowel

Made = tuple[list[Edit], str]  # edits that belong together, and a note


class Frame(NamedTuple):
    """What may stand in front, before which noun phrases, and how often."""

    said: str
    takes: str
    weight: float


class Reframed(NamedTuple):
    """Another way to begin: characters up to `end` become one of `frames`; the words from there on stay."""

    end: int
    frames: list[Frame]
    kind: str


def _any_of(words: Iterable[str]) -> re.Pattern[str]:
    listed = "|".join(sorted(map(re.escape, words), key=len, reverse=True))
    return re.compile(rf"(?<![\w'])(?:{listed})(?![\w'])", re.I)


KINDS = ("borrowed", "frame", "order", "words", "polite", "short")
_DATA = tomllib.loads((files("unswayed.vary.paraphrase") / "data" / "commands.toml").read_text("utf-8"))
_FRAMES = {
    name: [
        Frame(said, "".join(takes), float(weight)) for said, *takes, weight in (row.split(":") for row in _DATA[name])
    ]
    for name in ("see", "told", "have", "exist", "order", "wish", "know", "ends")
}
_DOABLE = frozenset(_DATA["doable"].split())
_WORDS = {old.removesuffix("/V"): new.split("|") for old, new in _DATA["words"].items()}
_VERBS = frozenset(old.removesuffix("/V") for old in _DATA["words"] if old.endswith("/V"))
_SHORT = {old: new.split("|") for old, new in _DATA["short"].items()}
_FINDS, _CUTS = _any_of(_WORDS), _any_of(_SHORT)

# How commands and questions begin.
_POLITE = r"(?:(?:please|hey|hi|hello|okay|ok|now|so|and|well|yes|alright|then|just|kindly) )*"
_CAN = r"(?:(?:can|could|would|will) you (?:please |kindly |just )*)?"
_WANT = r"(?:i (?:need|want|wish|would like|d like|would love|'d like)|i'd (?:like|love)|i wanna)"
_SEEN = "|".join((
    _CAN + r"(?:show|list|give|display|get|bring|find) (?:me|us)",
    _CAN + r"(?:list|display|show|pull up|look up|let me see|search for|look for|find)",
    _WANT + r" to (?:see|view|look at|get|find)",
    r"(?:i need )?information (?:on|about)",
))  # fmt: skip
_TOLD = "|".join((
    _CAN + r"(?:tell (?:me|us)(?: about)?|find out|let me know)",
    _WANT + r" to (?:know|find out)",
    r"what(?:'s| s| is| are| was| were)|whats|(?:do|can) you know",
))  # fmt: skip
_HAD = "|".join((
    _WANT, r"(?:i(?:'m| m| am) )?looking for", r"(?:can|could|may) i (?:get|have)", _CAN + r"(?:get|find) me(?= an? )",
))  # fmt: skip
_THERE = r"(?:is|are) there|do you have|have you got"
_ASKED = re.compile(rf"{_POLITE}(?:(?P<told>{_TOLD})|(?P<have>{_HAD})|(?P<see>{_SEEN})|(?P<exist>{_THERE})) (?=\S)")
_WISH = re.compile(_POLITE + rf"(?:{_WANT} (?:to )?|(?:can|could|may) i |let me |{_CAN}help me |i have to )")
_ORDER = re.compile(_POLITE + rf"{_CAN}(?:{_WANT} you to )?")
_TAKES = {  # the kind of noun phrase that a word begins: in the singular, in the plural
    **dict.fromkeys(_DATA["definite"].split(), ("d", "D")),
    **dict.fromkeys(("a", "an", "another", "one"), ("i", "i")),
    **dict.fromkeys(("any", "some", "several"), ("", "a")),
}
_ALONE = ("show me", "i need", "find", "give me", "i'm looking for", "can you find me", "tell me about", "i want")
_INVERTED = BE | frozenset(_DATA["helpers"].split())
_AFTER = (("VB", "RB"), ("VBN", "VBD", "RB"))  # what follows the subject of a modal, and of *have*
_MAX_ASKED = 5  # words of what is asked for, as in *how many direct flights*
_INTERROGATIVE = re.compile(r"(?:what|which|who|when|where|why|how|can|could|would|will|do|does|did|is|are|was|may)\b")
_QUESTIONS = re.compile(r"(?:what|can|could|would|will|do|is|are|how|may)\b")

# Times at the end.
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
_MAX_BORROWING = 300  # characters of texts that are said as others
_BORROW = 0.98  # how often another row is followed, where there is one
_FRONT, _PLEASE = 0.5, 0.1  # how often a time is put in front, and something polite at the end
_ORDERED = 0.6  # how often an order gets another frame: most people give it plainly
_MIN_WORDS = 5  # of a sentence whose order changes


class Command(Operator):
    """Says a command or a question otherwise: *are there any flights* for *show me flights*, *can you play* for *play*.

    `kinds` lists what it may do, separated by commas: borrowed (the words of another row that asks the same), frame
    (how it begins), order (times in front), words, polite, short (*pls*, *tmrw*); or `all`. `rate` is the share of
    words with another word that are replaced, `short` how often words are shortened. Nothing inside labelled spans
    changes, and a text with labels keeps its order.
    """

    version = 2
    languages = ("en",)
    distinct = True
    pool = 20_000
    example = ("show me flights from boston to denver", "are there any flights going from boston to denver")

    def __init__(self, kinds: str = "all", rate: float = 0.4, short: float = 0.04) -> None:
        self.kinds = frozenset(chosen_kinds(kinds, KINDS))
        self.rate, self.short = checked_rate(rate), checked_rate(short)
        self._labelled, self._texts = LabelledRows(), tuple[str, ...]()
        self._rules = Rules("nominal,contraction,expression,synonym")  # for texts that are neither

    def take_pool(self, examples: Sequence[Example]) -> None:
        self._labelled = LabelledRows(examples)
        self.__dict__.pop("_unlabelled", None)
        self._texts = tuple(text for e in examples for text in e.inputs.values() if isinstance(text, str))

    @cached_property
    def _unlabelled(self) -> UnlabelledRows:
        return UnlabelledRows(self._texts)

    def change(self, text: Text, rng: Stream) -> Change | None:
        if "borrowed" in self.kinds and rng.random() < _BORROW:
            edits = self._borrowed(text, rng)
            if apply(text.text, edits) != text.text and text.keeps(edits):
                return Change(tuple(edits), "said as another row")
        return self._rewritten(text, rng)

    def _borrowed(self, text: Text, rng: Stream) -> list[Edit]:
        """What would say the text as other rows do: by their labels, or by what their texts seem to ask."""
        if others := self._labelled.others(text.text, text.gold):
            return put_around(text.text, text.gold, rng.choice(others))
        if not self._texts or len(text.text) > _MAX_BORROWING or "  " in text.text:
            return []
        if not (found := self._unlabelled.others(text.text)):
            return []
        # The words of the other text get the capitals and the mark at the end that this one has.
        said = rng.choice(found).strip(" .?!")
        if text.text.islower():
            said = said.lower()
        elif text.text[0].isupper():
            said = said[:1].upper() + re.sub(r"\bi\b", "I", said[1:])
        mark = text.text[-1] if text.text[-1] in _ENDS else ""
        mark = mark and ("?" if _INTERROGATIVE.match(said.lower()) else "." if mark == "?" else mark)
        edits = edits_between(text.text, said + mark)
        return [] if any(changes_label(edit, text) for edit in edits) else edits

    def _rewritten(self, text: Text, rng: Stream) -> Change | None:
        found = sentences(text.text) if len(text.text) <= LONGEST else ()
        if not found:
            return None
        done = _Rewriting(text)
        asks = found[-1]  # of several sentences, the last one asks
        if "order" in self.kinds and not text.marked and rng.random() < _FRONT:
            done.add(_time_in_front(asks))
        if "frame" in self.kinds:
            done.add(_in_other_frame(text, asks, rng))
        if "words" in self.kinds:
            done.add(self._reworded(text, rng, self.rate if done.edits else 1.0))
            if not done.edits and "frame" in self.kinds:
                done.add(_in_other_frame(text, asks, rng))
        if "short" in self.kinds:
            tags = {word.start: word.tag for word in tagged(text.text)}
            for match in _CUTS.finditer(text.text):
                before_verb = match.group().lower() == "to" and tags.get(match.end() + 1, "VB")[:2] == "VB"
                if rng.random() < self.short and not before_verb:
                    new = rng.choice(_SHORT[match.group().lower()])
                    done.add([([Edit(*match.span(), new)], f"{match.group()}→{new}")])
        if "polite" in self.kinds and rng.random() < (_PLEASE if done.edits else 1.0):
            verbs = text.text.rstrip()[-1:] in _ENDS or any(w.tag in ("VBZ", "VBD", "MD", "W") for w in asks.words)
            if (asks.words[0].tag in ("VB", "MD") or not verbs) and "please" not in text.text.lower():
                ends = [f for f in _FRAMES["ends"] if "me" not in f.said or " me" not in text.text.lower()]
                end = rng.weighted(ends, [f.weight for f in ends]).said
                done.add([([Edit(asks.end, asks.end, f" {end}")], f'"{end}" at the end')])
        if not done.edits and len(self.kinds) == len(KINDS):
            return self._rules.change(text, rng)
        edits = sorted(done.edits)
        if not edits or apply(text.text, edits) == text.text or not text.keeps(edits):
            return None
        return Change(tuple(edits), "; ".join(done.notes))

    def _reworded(self, text: Text, rng: Stream, rate: float) -> Iterator[Made]:
        tags = {word.start: word.tag for word in tagged(text.text)}
        for match in _FINDS.finditer(text.text):
            old = match.group().lower()
            verb = tags.get(match.start(), "")[:2] == "VB"
            if rng.random() < rate and (verb or old not in _VERBS):
                new = cased(rng.choice(_WORDS[old]), match.group())
                article = text.text[: match.start()].rstrip().rpartition(" ")[2].lower()
                if article not in ("a", "an") or (article == "an") == sounds_as_vowel(new):
                    yield [Edit(*match.span(), new)], f"{match.group()}→{new}"


class _Rewriting:
    """The edits that were made so far, none of which touches another one or a label."""

    def __init__(self, text: Text) -> None:
        self.text = text
        self.edits: list[Edit] = []
        self.notes: list[str] = []

    def add(self, found: Iterable[Made]) -> None:
        for edits, note in found:
            apart = all(edit.end < other.start or other.end < edit.start for edit in edits for other in self.edits)
            free = apart and not any(changes_label(edit, self.text) for edit in edits)
            if free and not ("please" in note and any("please" in n for n in self.notes)):
                self.edits += edits
                self.notes.append(note)


def _in_other_frame(text: Text, sentence: Sentence, rng: Stream) -> Iterator[Made]:
    """The sentence begun in another way, with the case of its words and the mark at its end made to fit."""
    whole, start, words = text.text, sentence.start, sentence.words
    ways = [way for way in other_frames(sentence, whole.lower()) if way.kind != "order" or rng.random() < _ORDERED]
    asked, about = embed_question(sentence), find_relative(sentence)
    if about is not None and rng.random() < 0.6:
        way = Reframed(about[0], [f for f in _FRAMES["see"] if "D" in f.takes], "relative")
    elif asked is not None and (not ways or rng.random() < 0.3):
        way = Reframed(asked.end, _FRAMES["know"], "embedded")
    elif ways:
        way = rng.choice(ways)
    else:
        first = words[0]
        if [word.tag in ("NN", "NNS") for word in words[1:2]] == [True] and first.lower in _WHICH:
            new = _WHICH[first.lower]
            yield [Edit(first.start, first.end, cased(new, whole[first.start : first.end]))], f"frame: {new}"
        return
    fit = [f for f in way.frames if "please" not in whole[1:].lower() or "please" not in f.said] or way.frames
    frame = rng.weighted(fit, [f.weight for f in fit])
    opening = frame.said
    if whole.islower() and "'" not in whole:
        opening = written_out(opening)
    elif not whole.islower():
        opening = re.sub(r"\bi\b", "I", opening)
    opening = cased(opening, whole[start])
    if way.kind == "relative" and about is not None:
        edits = [Edit(start, way.end, opening + " the "), Edit(about[1], about[1], "that ")]
    elif way.kind == "embedded" and asked is not None:
        edits = [asked._replace(new=f"{opening} {asked.new}")]
        if not asked.new and whole[start].isupper():
            edits = [Edit(start, start + 1, f"{opening} {whole[start].lower()}")]
    elif not opening:
        edits = [Edit(start, way.end + 1, cased(whole[way.end], whole[start]))]
    elif way.end > start:
        edits = [Edit(start, way.end - 1, opening)]
    else:
        plain = whole[start].isupper() and words[0].tag != "NNP" and whole[start + 1 : words[0].end].islower()
        edits = [Edit(start, start, opening + " "), *([Edit(start, start + 1, whole[start].lower())] if plain else [])]
    mark, wanted = whole[sentence.end : sentence.end + 1], "?" if _QUESTIONS.match(frame.said) else "."
    if mark and mark in _ENDS and mark != wanted:
        edits.append(Edit(sentence.end, sentence.end + 1, wanted))
    yield edits, f"frame: {frame.said or 'none'}"


def _time_in_front(sentence: Sentence) -> Iterator[Made]:
    """A time at the end is put in front."""
    whole, start = sentence.text[sentence.start : sentence.end], sentence.start
    match = _TIME.search(whole)
    if match is None or len(sentence.words) < _MIN_WORDS or _OTHER_TIME.search(whole[: match.start()]):
        return
    before = next(word for word in reversed(sentence.words) if word.end <= start + match.start())
    if before.tag not in ("IN", "TO", "VBG", "VBZ", "DT"):
        time = match.group().strip()
        new = cased(time, whole[0]) + (" " if sentence.text.islower() else ", ")
        edits = [Edit(start, start + 1, new + sentence.moved(0, 1)[0]), Edit(start + match.start(), sentence.end, "")]
        yield edits, f"“{time}” in front"


def other_frames(sentence: Sentence, small: str) -> Iterator[Reframed]:
    """Other ways to begin the sentence, whose text in small letters is given."""
    words, start = sentence.words, sentence.start
    places = {word.start: i for i, word in enumerate(words)}
    # What is asked for before a noun phrase: *show me*, *what are*, *i need*, *are there*.
    asked = _ASKED.match(small, start)
    if asked is not None and (first := places.get(asked.end())) is not None:
        kind, takes, end = str(asked.lastgroup), _phrase_kind(sentence, first), sentence.noun_phrase(first) or first
        clause = any(word.tag in ("MD", "VBZ", "VBD") for word in words[first : first + 2])
        going = sentence.word_at(end) in ("going", "like")
        old = written_out(sentence.text[start : asked.end()].lower().strip())
        fitting = [f for f in _FRAMES[kind] if takes and takes in f.takes and written_out(f.said) != old]
        if fitting and not clause and not going:
            yield Reframed(asked.end(), fitting, kind)
            return
    # A wish to do something, or an order.
    opening = _WISH.match(small, start) or _ORDER.match(small, start)
    at = places.get(opening.end()) if opening else None
    if opening and at is not None and words[at].tag == "VB":
        old, verb = small[start : opening.end()].strip(), words[at].lower
        if opening.re is _WISH:
            frames = [f for f in _FRAMES["wish"] if f.said != old]
            if verb in _DOABLE and "help" not in old:
                frames += [Frame("", "", 12), Frame("please", "", 5), Frame("can you", "", 5)]
            yield Reframed(opening.end(), frames, "wish")
        elif verb not in BE | {"do", "have"}:
            frames = [f for f in _FRAMES["order"] if f.said != old]
            yield Reframed(opening.end(), [*frames, Frame("", "", 30)] if old else frames, "order")
    # A noun phrase alone, as in *flights from boston* or *what flights from boston*, is asked to be shown.
    which = words[0].lower in ("what", "which") and len(words) > 1
    takes = _phrase_kind(sentence, int(which))
    verbs = any(word.tag in ("VB", "VBZ", "VBD", "MD", "W") for word in words[int(which) :])
    closed = sentence.text[sentence.end : sentence.end + 1] in (".", "!")
    if takes and not verbs and not closed and not (takes == "s" and tagger().could_be(words[0].lower, "VB")):
        alone = [Frame(said, "", 1) for said in _ALONE]
        frames = alone if takes == "s" else [f for f in _FRAMES["see"] if takes in f.takes]
        yield Reframed(words[1].start if which else start, frames, "see")


def _phrase_kind(sentence: Sentence, first: int) -> str:
    """Which kind of noun phrase begins at a word; nothing if none does."""
    end, word = sentence.noun_phrase(first), sentence.words[first]
    if end is None or word.tag == "PRP":
        return ""
    plural = sentence.plural(first, end)
    if word.lower in _TAKES:
        return _TAKES[word.lower][plural]
    return "" if word.lower.endswith("'s") or word.tag == "NNP" else "p" if plural else "s"


def written_out(said: str) -> str:
    """A frame without short forms: *i would like* for *i'd like* and *i d like*."""
    said = f"{said} "
    for short, long in (("'d ", " would "), ("'m ", " am "), ("'s ", " is "), (" d ", " would "), (" s ", " is ")):
        said = said.replace(short, long)
    return said.strip()


def embed_question(sentence: Sentence) -> Edit | None:
    """The question as it is said after *tell me*; None where its parts are not plain.

    *what did he say* becomes *what he said*, *is it open* becomes *if it is open*.
    """
    words, n = sentence.words, len(sentence.words)
    if (words[0].tag != "W" and words[0].lower not in _INVERTED) or sentence.word_at(1) == "you":
        return None
    i = 0
    while i < min(n, _MAX_ASKED) and words[i].lower not in _INVERTED:
        if i and words[i].tag in ("VBD", "VBZ", "VB") and words[i - 1].tag in ("W", "NN", "NNS"):
            return Edit(sentence.start, sentence.start, "")  # *who wrote it*, *which flights leave*
        i += 1
    if i + 1 >= n or words[i].lower not in _INVERTED or (i == 1 and words[0].lower == "which"):
        return None
    subject = i + 2 if words[i + 1].lower == "there" else sentence.noun_phrase(i + 1)
    if subject is None or not all(sentence.joined(k) for k in range(1, min(subject + 1, n))):
        return None
    # The helper goes behind its subject; *do* goes into the verb.
    helper, said, follows = words[i].lower, sentence.said(i + 1, subject), sentence.tag_at(subject)
    end = words[subject - 1].end
    if follows == "CC":
        return None
    if helper in ("do", "does", "did"):
        if follows not in ("VB", "NN", "NNP"):
            return None
        verb = forms().inflected(words[subject].lower, {"do": "VB", "does": "VBZ", "did": "VBD"}[helper])
        end = words[subject].end
    else:
        fits = (follows or i > 0) if helper in BE else follows in _AFTER[helper in HAVE]
        verb = helper if fits else None
    before = sentence.said(0, i) + " " if i else "if "
    return None if verb is None else Edit(sentence.start, end, f"{before[0].lower()}{before[1:]}{said} {verb}")


def find_relative(sentence: Sentence) -> tuple[int, int] | None:
    """Where the noun and the verb of a question about its subject begin; None for other questions.

    *what flights leave* becomes *the flights that leave*.
    """
    words = sentence.words
    end = sentence.noun_phrase(1) if words[0].lower in ("what", "which") and len(words) >= 4 else None
    if end is None or sentence.tag_at(end) not in ("VB", "VBP") or words[end].lower in _INVERTED - BE:
        return None
    there = words[end].lower == "are" and (sentence.tag_at(end + 1) == "PRP" or sentence.word_at(end + 1) == "there")
    return (words[1].start, words[end].start) if sentence.plural(1, end) and not there else None

"""Operators for how people speak: fillers, synonyms, words that sound alike; and where the verbs of a text are."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, ClassVar

from unswayed.base.edits import Edit, OneEach
from unswayed.base.seeds import Stream, Streams
from unswayed.vary.block import BlockOperator, SingleEdits, Texts
from unswayed.vary.english import BE, DO, HAVE, SHORT, Line, line_of
from unswayed.vary.operator import Change, Text

_AUXILIARY = BE | HAVE | DO
_OBJECTS = frozenset(["me", "us", "it", "them", "him", "her", "you", "s"])
_CLITICS = frozenset(["s", "m", "re", "ve"])  # as recognisers write *what's*: nothing is said before them
_BETWEEN = frozenset(("PRP", "EX", "RB"))  # what may stand between auxiliary and participle

_VERBS = frozenset(("VB", "VBD", "VBG", "VBN", "VBZ"))
_NOUNS = frozenset(("NN", "NNS", "NNP"))
_NOMINAL = _NOUNS | {"DT", "PDT", "PRP$", "JJ", "JJR", "JJS", "CD", "POS"}

Words = tuple[str, ...]

# What may be said at a place of a text: the place, the fillers, how many, the token that they go before, and the notes
# on them. A token of -1 is not between tokens, or was not looked at. Texts share them, so that they are found quickly;
# thousands are remembered, and Python's collector need not look at plain tuples of words and numbers over and over.
Said = tuple[int, Words, int, int, Words]

# What may be said at a verb; the tokens that the verb begins and ends in, where single spaces separate them, with what
# belongs to it; and where it is.
Verb = tuple[Said, int, int, int, int]

_NOTHING: Said = (0, (), 0, -1, ())
_KEPT = 8192  # texts whose verbs are remembered


def said_at(at: int, fillers: Words, notes: Words, token: int = -1) -> Said:
    return at, fillers, len(fillers), token, notes


def _like(at: int, token: int = -1) -> Said:
    return said_at(at, ("like ",), ('"like" before the first slot',), token)


Options = tuple[Sequence[int], Sequence[Words], Sequence[int], Sequence[int], Sequence[Words]]  # Said as columns


class VerbFiller(BlockOperator):
    """Says a filler at the utterance's verb: the first one outside labelled spans, for a verb in a song's title is
    not the utterance's. Without one, *like* goes before the first labelled value."""

    languages = ("en",)
    objects: ClassVar[bool] = False  # does the verb's object belong to it?
    kept: ClassVar[dict[str, tuple[Verb, ...]]]  # the verbs of short texts, remembered

    def __init_subclass__(cls) -> None:
        cls.kept = {}

    @classmethod
    def verbs(cls, line: Line) -> tuple[Verb, ...]:
        """The verbs of a text, auxiliaries last, and what may be said at each."""
        found = tuple([cls._verb(line, *phrase) for phrase in verb_phrases(line, cls.objects)])
        if len(line.text) <= SHORT:
            if len(cls.kept) >= _KEPT:
                cls.kept.clear()
            cls.kept[line.text] = found
        return found

    @classmethod
    def _verb(cls, line: Line, first: int, end: int) -> Verb:
        text, (start, stop) = line.text, line.stretch(first, end)
        at, fillers, notes = cls.said(text, start, stop, line.lowers[first], line.lowers[end - 1])
        before = at == start
        if line.plain:
            return said_at(at, fillers, notes, first if before else end), first, end - 1, start, stop
        first, last = text.count(" ", 0, start), text.count(" ", 0, stop - 1)
        beside = text[start - 1 : start] if before else text[stop : stop + 1]
        token = -1 if beside not in ("", " ") else first if before else last + 1
        return said_at(at, fillers, notes, token), first, last, start, stop

    @classmethod
    def said(cls, text: str, start: int, end: int, first: str, last: str) -> tuple[int, Words, Words]:
        """Where something may be said at a verb that begins and ends here, with these words; what, and the notes on
        it. Extend."""
        raise NotImplementedError

    def change(self, text: Text, rng: Stream) -> Change | None:
        at, fillers, count, _, notes = self._options(text)
        if not fillers:
            return None
        n = rng.below(count)
        return Change((Edit(at, at, fillers[n]),), notes[n])

    def block(self, texts: Texts, streams: Streams) -> Sequence[Change | None]:
        places, fillers, sizes, tokens, notes = texts.once(self._options_each)
        chosen = streams.below(0, sizes)
        news = [its[n] if its else None for its, n in zip(fillers, chosen, strict=True)]
        return SingleEdits(
            OneEach(places, places, news, tokens),
            lambda: [its[n] if its else "" for its, n in zip(notes, chosen, strict=True)],
        )

    def _options_each(self, texts: Texts) -> Options:
        """What `_options` gives, sooner where nothing at the first verb is labelled."""
        each = list(map(self.kept.get, texts.strings))
        if None in each:
            from unswayed.vary.lines import read

            lines = read(texts)
            for i in [i for i, verbs in enumerate(each) if verbs is None]:
                each[i] = self.verbs(lines[i])
        plain = texts.task is None
        found: list[Said] = []
        for i, (verbs, tags) in enumerate(zip(each, texts.tags, strict=True)):
            if not verbs:
                found.append(self._options(texts[i]) if tags is None else _before_slot(texts.strings[i], tags))
                continue
            said, first, last, _, _ = verbs[0]
            if tags is None:
                found.append(said if plain else self._options(texts[i]))
            elif tags[first] == "O" == tags[last]:
                found.append(said)
            else:
                found.append(self._among(verbs, tags, texts, i))
        columns: Any = zip(*found, strict=True)
        return tuple(columns)

    def _among(self, verbs: Sequence[Verb], tags: Sequence[str], texts: Texts, i: int) -> Said:
        """What may be said in a text whose tokens have these tags."""
        text = texts.strings[i]
        for verb in verbs:
            if tags[verb[1]] == "O":
                whole = tags[verb[2]] == "O" or _ends(text, tags, verb)
                return verb[0] if whole else self.at(verb, texts[i])
        return _before_slot(text, tags)

    def _options(self, text: Text) -> Said:
        """What may be said in this text, with its labels."""
        verbs = self.kept.get(text.text)
        for verb in self.verbs(line_of(text.text)) if verbs is None else verbs:
            if not text.labelled(verb[3]):
                return self.at(verb, text)
        return _like(text.marked[0][0]) if text.marked else _NOTHING

    def at(self, verb: Verb, text: Text) -> Said:
        """What may be said at the utterance's verb."""
        return verb[0]


def _ends(text: str, tags: Sequence[str], verb: Verb) -> bool:
    """Does the slot that the verb's last token is in end with it?"""
    _, _, last, _, end = verb
    after = tags[last + 1 : last + 2]
    return text[end : end + 1] in ("", " ") and not (after and after[0][:1] in ("I", "E"))


def _before_slot(text: str, tags: Sequence[str]) -> Said:
    """What may be said before the first token that is in a slot."""
    at = 0
    for i, tag in enumerate(tags):
        if tag != "O":
            return _like(at, i)
        at = text.find(" ", at) + 1
    return _NOTHING


def verb_phrases(line: Line, objects: bool = False) -> list[tuple[int, int]]:
    """The verbs of a text, auxiliaries last: where each begins among the words, and where what belongs to it ends.

    It is *play*, *show me*, *turn it off*; with `objects` also *play some jazz*.
    """
    words, tags = line.lowers, line.tags
    verbs = [i for i, tag in enumerate(tags) if tag in _VERBS]
    helping = [i for i, main in pairwise(verbs) if words[i] in _AUXILIARY and _helps(words, tags, i, main)]
    if helping:
        verbs = [i for i in verbs if i not in helping] + helping
    found = []
    for i in verbs:
        first, end = _phrase(words, tags, i)
        found.append((first, _with_object(line, end) if objects else end))
    return found


def _with_object(line: Line, first: int) -> int:
    """The end of the nouns that follow a phrase, with their articles, numbers and adjectives, up to a mark."""
    tags, end, plain = line.tags, first, line.plain
    while end < len(tags) and tags[end] in _NOMINAL and (plain or line.spaced(end)):
        end += 1
    while end > first and tags[end - 1] not in _NOUNS:
        end -= 1
    return end


def _helps(words: Sequence[str], tags: Sequence[str], i: int, main: int) -> bool:
    """Is this form of *be*, *have* or *do* the auxiliary of the verb that follows, as in *does it stop*?"""
    if words[i] in DO:
        return tags[main] == "VB" and tags[main - 1] not in ("TO", "W")
    return tags[main] in ("VBG", "VBN") and _BETWEEN.issuperset(tags[i + 1 : main])


def _phrase(words: Sequence[str], tags: Sequence[str], i: int) -> tuple[int, int]:
    """Where the verb begins, and where what belongs to it ends."""
    end, verb = i + 1, words[i]
    if verb in BE:
        end += end < len(words) and tags[end] in ("EX", "PRP")  # *is there*, *is it*
    else:
        while end < len(words) and (tags[end] == "RP" or words[end] in _OBJECTS):
            end += 1
    return i - (i > 0 and verb in _CLITICS), end

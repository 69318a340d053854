"""Operators for how people speak: fillers, synonyms, words that sound alike; and where the verbs of a text are."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import ClassVar

from unswayed.base.edits import Edit
from unswayed.base.seeds import Stream
from unswayed.vary.english import BE, DO, HAVE, SHORT, Line, line_of
from unswayed.vary.operator import Change, Operator, Text

_BE_OR_HAVE = BE | HAVE
_PARTICIPLES = ("VBG", "VBN")
_OBJECTS = frozenset(["me", "us", "it", "them", "him", "her", "you", "s"])
_CLITICS = frozenset(["s", "m", "re", "ve"])  # as recognisers write *what's*: nothing is said before them
_BETWEEN = frozenset(("PRP", "EX", "RB"))  # what may stand between auxiliary and participle

_VERBS = frozenset(("VB", "VBD", "VBG", "VBN", "VBZ"))
_NOUNS = frozenset(("NN", "NNS", "NNP"))
_NOMINAL = _NOUNS | {"DT", "PDT", "PRP$", "JJ", "JJR", "JJS", "CD", "POS"}

Words = tuple[str, ...]
Verb = tuple[int, int, str, str]  # where a verb begins, where what belongs to it ends, and the words there
Fillers = tuple[int, Words, Words]  # a place of a text, what may be said there, and the notes on it


class VerbFiller(Operator):
    """Says a filler at the utterance's verb: the first one outside labelled spans, for a verb in a song's title is
    not the utterance's. Without one, *like* goes before the first labelled value."""

    languages = ("en",)
    distinct = True
    quick = True
    objects: ClassVar[bool] = False  # does the verb's object belong to it?

    def fillers_at(self, verb: Verb, text: Text) -> Fillers:
        """What may be said at the utterance's verb. Extend."""
        raise NotImplementedError

    def change(self, text: Text, rng: Stream) -> Change | None:
        # One by one: for a block of texts as columns this was 1.12 times faster end to end.
        verbs = (_verbs if len(text.text) <= SHORT else _verbs.__wrapped__)(text.text, self.objects)
        verb = next((verb for verb in verbs if not text.labelled(verb[0])), None)
        if verb is not None:
            at, fillers, notes = self.fillers_at(verb, text)
        elif text.marked:
            at, fillers, notes = text.marked[0][0], ("like ",), ('"like" before the first slot',)
        else:
            return None
        n = rng.below(len(fillers))
        return Change((Edit(at, at, fillers[n]),), notes[n])


@lru_cache(8192)  # draws come back to a text
def _verbs(text: str, objects: bool) -> tuple[Verb, ...]:
    """The verbs of a text, auxiliaries last."""
    line = line_of(text)
    words, found = line.lowers, verb_phrases(line, objects)
    return tuple([(*line.stretch(first, end), words[first], words[end - 1]) for first, end in found])


def verb_phrases(line: Line, objects: bool = False) -> list[tuple[int, int]]:
    """The verbs of a text, auxiliaries last: where each begins among the words, and where what belongs to it ends.

    It is *play*, *show me*, *turn it off*; with `objects` also *play some jazz*.
    """
    words, tags = line.lowers, line.tags
    verbs = [i for i, tag in enumerate(tags) if tag in _VERBS]
    helping = []  # forms of *be*, *have* and *do* that are auxiliaries of the verb that follows, as in *does it stop*
    for i, main in pairwise(verbs):
        if words[i] in DO:
            helps = tags[main] == "VB" and tags[main - 1] not in ("TO", "W")
        else:
            helps = words[i] in _BE_OR_HAVE and tags[main] in _PARTICIPLES and _BETWEEN.issuperset(tags[i + 1 : main])
        if helps:
            helping.append(i)
    if helping:
        verbs = [i for i in verbs if i not in helping] + helping
    found = []
    for i in verbs:
        end, verb = i + 1, words[i]
        if verb in BE:
            end += end < len(words) and tags[end] in ("EX", "PRP")  # *is there*, *is it*
        else:
            while end < len(words) and (tags[end] == "RP" or words[end] in _OBJECTS):
                end += 1
        if objects:  # the nouns that follow, with their articles, numbers and adjectives, up to a mark
            first = end
            while end < len(tags) and tags[end] in _NOMINAL and (line.plain or line.spaced(end)):
                end += 1
            while end > first and tags[end - 1] not in _NOUNS:
                end -= 1
        found.append((i - (i > 0 and verb in _CLITICS), end))
    return found

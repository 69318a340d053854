"""Features of Indian English around nouns: articles, prepositions, pronouns, focus; one a function."""

from __future__ import annotations

from collections.abc import Iterator

from unfazed.core.edits import Edit
from unfazed.vary.paraphrase._sentence import Sentence

Edits = tuple[Edit, ...]
_LISTS = {
    "times": "yesterday today tomorrow now here there morning evening night week month year",
    "mass": "information music grammar furniture equipment advice research software luggage feedback homework evidence",
    "abstract": "money pressure experience work life education business traffic",
    "time": "year years day days month months week weeks time times night morning hour hours",
    "women": "mother daughter sister wife aunt woman girl niece grandmother queen actress",
    "men": "father son brother husband uncle man boy nephew grandfather king teacher roommate",
    "where": "in at from near on",
    "before_time": "for on in at",
}
_IN = {name: frozenset(words.split()) for name, words in _LISTS.items()}
_BE = ("is", "was", "are", "were", "has", "had", "did", "does")
_VERBS = ("VBZ", "VBD", "VB", "MD")


def focus_only(s: Sentence) -> Iterator[Edits]:
    """*I was there yesterday* → *I was there yesterday only*."""
    if _says_when_or_where(s):
        yield (Edit(s.end, s.end, " only"),)


def focus_itself(s: Sentence) -> Iterator[Edits]:
    """*He lives in Delhi* → *He lives in Delhi itself*."""
    for i in range(2, len(s.words) - 1):
        end = s.noun_phrase(i + 1) if s.words[i].lower in _IN["where"] else None
        if end is not None and s.words[end - 1].tag in ("NN", "NNP"):
            at = s.words[end - 1].end
            yield (Edit(at, at, " itself"),)


def _says_when_or_where(s: Sentence) -> bool:
    return len(s.words) > 2 and (s.words[-1].lower in _IN["times"] or _ends_in_place(s))


def _ends_in_place(s: Sentence) -> bool:
    return any(
        s.words[i].lower in _IN["where"] and s.noun_phrase(i + 1) == len(s.words) for i in range(2, len(s.words) - 1)
    )


def article_omission(s: Sentence) -> Iterator[Edits]:
    """*the main reason* → *main reason*."""
    for i in range(len(s.words) - 1):
        word, after = s.words[i], s.words[i + 1]
        if word.lower not in ("the", "a", "an") or after.tag not in ("NN", "NNS", "JJ") or not s.joined(i + 1):
            continue
        if i == 0 and s.text[word.start].isupper():
            yield (Edit(word.start, after.start + 1, s.text[after.start].upper()),)
        else:
            yield (Edit(word.start, after.start, ""),)


def extraneous_article(s: Sentence) -> Iterator[Edits]:
    """*she has business experience* → *she has a business experience*."""
    for i in range(1, len(s.words)):
        word, before = s.words[i], s.words[i - 1]
        if word.lower in _IN["abstract"] and word.tag == "NN" and before.tag in ("VB", "VBZ", "VBD", "IN", "RB"):
            article = "the " if before.tag in ("IN", "RB") else "a "
            yield (Edit(word.start, word.start, article),)


def mass_as_count(s: Sentence) -> Iterator[Edits]:
    """*some information* → *some informations*."""
    for i, word in enumerate(s.words):
        after = s.words[i + 1] if i + 1 < len(s.words) else None
        single = i > 0 and s.words[i - 1].lower in ("a", "an", "this", "that", "each", "every", "much")
        name = s.text[word.start].isupper() and i > 0
        if word.lower not in _IN["mass"] or single or name or (after is not None and after.tag in ("NN", "NNS")):
            continue
        plural = Edit(word.end, word.end, "s")
        agreeing = {"is": "are", "was": "were", "has": "have"}.get(after.lower) if after else None
        yield (plural, Edit(after.start, after.end, agreeing)) if after and agreeing else (plural,)


def preposition_omission(s: Sentence) -> Iterator[Edits]:
    """*for two years I stayed* → *two years I stayed*."""
    for i in range(len(s.words) - 1):
        word, end = s.words[i], s.noun_phrase(i + 1, of=False)
        if word.lower not in _IN["before_time"] or end is None or s.words[end - 1].lower not in _IN["time"]:
            continue
        after = s.words[i + 1]
        if end < len(s.words) and s.words[end].lower == "of":
            continue
        if i == 0 and s.text[word.start].isupper():
            yield (Edit(word.start, after.start + 1, s.text[after.start].upper()),)
        elif s.joined(i + 1):
            yield (Edit(word.start, after.start, ""),)


def _subject(s: Sentence) -> tuple[int, str] | None:
    """Where the subject ends with which the sentence begins, and the pronoun for it."""
    first = s.words[0]
    end = s.noun_phrase(0, of=False)
    if first.tag not in ("DT", "PRP$") or end is None or end >= len(s.words) or not s.joined(end):
        return None
    if s.words[end].tag not in _VERBS:
        return None
    head = s.words[end - 1]
    if s.plural(0, end):
        return end, "they"
    if head.lower in _IN["women"] or head.lower in _IN["men"]:
        return end, "she" if head.lower in _IN["women"] else "he"
    person = head.lower.endswith(("er", "or", "ist", "person", "ant", "ent", "ian"))
    return (end, "it") if head.tag == "NN" and not person else None


def resumptive_subject(s: Sentence) -> Iterator[Edits]:
    """*my daughter is away* → *my daughter she is away*."""
    if (found := _subject(s)) is not None:
        yield (Edit(s.words[found[0]].start, s.words[found[0]].start, f"{found[1]} "),)


def left_dislocation(s: Sentence) -> Iterator[Edits]:
    """*my father works here* → *my father, he works here*."""
    if (found := _subject(s)) is not None:
        end, pronoun = found
        yield (Edit(s.words[end - 1].end, s.words[end].start, f", {pronoun} "),)


def resumptive_object(s: Sentence) -> Iterator[Edits]:
    """*the bag which I left in the room* → *the bag which I left it in the room*."""
    for i in range(1, len(s.words) - 3):
        relative = s.words[i].lower in ("which", "that") and s.words[i - 1].tag in ("NN", "NNS")
        if (
            relative
            and s.words[i + 1].tag == "PRP"
            and s.words[i + 2].tag == "VBD"
            and s.words[i + 3].tag in ("IN", "RB")
        ):
            at = s.words[i + 2].end
            yield (Edit(at, at, " them" if s.words[i - 1].tag == "NNS" else " it"),)


def object_drop(s: Sentence) -> Iterator[Edits]:
    """*she doesn't like it* → *she doesn't like*."""
    for i in range(2, len(s.words)):
        verb, after = s.words[i - 1], s.words[i + 1].lower if i + 1 < len(s.words) else ""
        last = after in ("", "here", "there", "for") or (
            after == "to" and verb.lower in ("give", "gave", "sent", "show")
        )
        denied = s.words[i - 2].lower in ("don't", "doesn't", "didn't")  # *doesn't like*: no *like a*
        doing = (denied or verb.tag in ("VB", "VBD", "VBZ")) and "n't" not in verb.lower and verb.lower not in _BE
        if s.words[i].lower in ("it", "them") and doing and last and s.joined(i):
            yield (Edit(s.words[i - 1].end, s.words[i].end, ""),)


def general_extender(s: Sentence) -> Iterator[Edits]:
    """*we had no TV* → *we had no TV and all*."""
    if 2 < len(s.words) <= 20 and s.words[-1].tag in ("NN", "NNS"):
        yield (Edit(s.end, s.end, " and all"),)


def non_initial_existential(s: Sentence) -> Iterator[Edits]:
    """*there are five balls* → *five balls are there*."""
    for i in range(len(s.words) - 2):
        there, verb = s.words[i], s.words[i + 1]
        if there.lower != "there" or verb.lower not in ("is", "are", "was", "were"):
            continue
        if s.noun_phrase(i + 2) == len(s.words) and s.words[i + 2].lower != "no":
            said = s.text[s.words[i + 2].start : s.end]
            said = said[0].upper() + said[1:] if s.text[there.start].isupper() else said
            yield (Edit(there.start, s.end, f"{said} {verb.lower} there"),)

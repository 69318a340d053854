"""Rewrites of sentences by rule: clauses in another order or voice, contractions, expressions, nouns for verbs.

Each yields the rewrites that are possible, of which `paraphrase/rules` takes some.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files

from unswayed.vary.english import BE, forms
from unswayed.vary.sentence import MONTHS, WEEKDAYS, Rewrite, Sentence, capital
from unswayed.vary.words import cased, word_lists

_DATA = files("unswayed.vary.paraphrase") / "data"
_IN = word_lists(_DATA / "words.toml")
_PHRASES = tomllib.loads((_DATA / "phrases.toml").read_text("utf-8"))

# Orders
_SUBORDINATORS = ("because", "although", "though", "when", "while", "after", "before", "if", "since", "unless", "until")
_TIME = re.compile(
    rf"(?:in (?:(?:early|late|mid) )?(?:(?:{'|'.join(sorted(MONTHS))}) )?(?:1[0-9]|20)[0-9]{{2}}"
    rf"|on (?:{'|'.join(sorted(WEEKDAYS))})|on (?:{'|'.join(sorted(MONTHS))}) [0-9]{{1,2}}"
    r"|(?:last|next|this) (?:week|month|year|summer|winter|spring|autumn)|yesterday|today)",
    re.I,
)
_TIME_STARTS = frozenset(("in", "on", "last", "next", "this", "yesterday", "today"))
_MOVED = _TIME_STARTS.union(_SUBORDINATORS)  # where a part begins that may go to the front
_SAID = ("said", "says", "reported", "reports", "announced", "announces", "claimed", "claims")
_SOURCES = frozenset((*_SAID, "according"))
_MAX_CLAUSE = 14  # words of a clause that something is put at the end of
_MARKS = re.compile(r"[\"“”`?:;()]|''|--")

# Voices
_SELVES = ("himself", "herself", "itself", "themselves", "each", "it")
_WAS = {"was": "VBD", "were": "VBD", "is": "VBZ", "are": "VBZ"}
_MODALS = ("will", "would", "can", "could", "may", "might", "must")
_NOT_DOERS = WEEKDAYS | MONTHS | _IN["no_doers"]

# Contractions
_AUX = ("do", "does", "did", "is", "are", "was", "were", "has", "have", "had", "could", "would", "should")
_SHORT = {f"{word} not": f"{word}n't" for word in _AUX}
_SHORT |= {"will not": "won't", "cannot": "can't", "can not": "can't"}
_SHORT |= {"i am": "i'm", "you are": "you're", "we are": "we're", "they are": "they're"}
_SHORT |= {f"{word} is": f"{word}'s" for word in ("it", "he", "she", "that", "there")}
_SHORT |= {f"{word} will": f"{word}'ll" for word in ("i", "you", "he", "she", "we", "they", "it")}
_LONG = {short: long for long, short in reversed(_SHORT.items())} | {"can't": "cannot"}
_LONG |= {f"{word} n't": f"{word} not" for word in _AUX} | {"ca n't": "cannot", "wo n't": "will not"}
_LONG_WORDS = frozenset(("not", "cannot", "am", "are", "is", "will"))
_COMPARED = re.compile(r"\b(?:as|than|what|where|how|who|whatever) $", re.I)  # *as poor as they are in France*

# Expressions
_NUMBER = (
    r"[$£€]?\s?\d|(?:a |two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|sixty)\b"
)
_NUMBER += r"|(?:half|one (?:hundred|thousand|million|billion|third|quarter)|seventy|eighty|ninety|hundred|thousand)"
_FOLLOWS = {e: re.compile(rf" (?:{pattern.replace('N', _NUMBER)})") for e, pattern in _PHRASES["follows"].items()}
_UNLESS = {e: re.compile(rf"{pattern} $", re.I) for e, pattern in _PHRASES["unless"].items()}
_INSIDE_A_WORD = re.compile(r"[\w'’-]")
_ALONE = frozenset(expression.lower() for expression in _PHRASES["alone"])
# By expression those that may stand for it. Words that say much else besides are only ever put in.
_EXPRESSIONS: dict[str, list[str]] = {}
for _group in (line.split("|") for line in _PHRASES["alike"]):
    for _one in (one for one in _group if one not in _PHRASES["put_in"]):
        _others = [other for other in _group if other != _one and other not in _PHRASES["taken_out"]]
        _EXPRESSIONS.setdefault(_one.lower(), []).extend(_others)
# The expressions by their first word, or the one after *the*; the longest first.
_BY_WORD: dict[str, list[str]] = {}
for _one in sorted(_EXPRESSIONS, key=lambda e: (-len(e), e)):
    _BY_WORD.setdefault(_one.removeprefix("the ").split()[0].rstrip("."), []).append(_one)

# A verb and what follows it, with the same said with a noun; and by the verb before the noun, what stands for both.
_LIGHT = {tuple(verb.split()): light for verb, light in _PHRASES["light"].items()}
_BACK: dict[str, dict[tuple[str, ...], tuple[str, ...]]] = {}
for _verb_and_after, _said in reversed(_LIGHT.items()):
    _BACK.setdefault(_said.split()[0], {})[tuple(_said.split())] = _verb_and_after
_LIGHT_VERBS = frozenset([*(verb for verb, _ in _LIGHT), *_BACK])
_OWNED = frozenset(_PHRASES["owned"].split())
_LASTING = ("own", "lead", "head", "produce", "make", "publish", "sponsor", "manage", "rule")  # as long as one is it


@cache
def _verb_forms(lemmas: frozenset[str], *more: str) -> frozenset[str]:
    """All forms of verbs, and more words."""
    tags = ("VB", "VBD", "VBN", "VBG", "VBZ")
    return lemmas.union(more).union(form for lemma in lemmas for tag in tags if (form := forms().inflected(lemma, tag)))


def reorder_clauses(sentence: Sentence) -> Iterator[Rewrite]:
    """The sentence with a part of it moved to the other end. Quotations and questions are left alone."""
    whole, words, n = sentence.text[sentence.start : sentence.end], sentence.words, len(sentence.words)
    if _MARKS.search(sentence.text[sentence.start : sentence.end + 3]) or n < 5 or not sentence.sure_of_case:
        return
    commas = [i for i in range(1, n) if "," in sentence.gap(i)] if "," in whole else []
    found: list[tuple[str, str]] = []
    if len(commas) == 1 and sentence.has_verb(commas[0], n):  # *After the war, he left* → *He left after the war*
        at = commas[0]
        opening, rest = sentence.said(0, at), sentence.said(at, n)
        moves = words[0].lower in _SUBORDINATORS or _TIME.fullmatch(opening)
        if moves and words[at].tag not in ("CC", "CD") and words[at].lower != "then" and _is_simple(sentence, at, n):
            found.append((f"{capital(rest)} {opening[0].lower()}{opening[1:]}", f"“{opening}” at the end"))
    if not commas and not sentence.lower.isdisjoint(_MOVED) and (at := _last_part(sentence)):
        closing = sentence.said(at, n)
        found.append((f"{capital(closing)}, {sentence.moved(0, at)}", f"“{closing}” in front"))
    if not sentence.lower.isdisjoint(_SOURCES):
        # *It rained, officials said* → *Officials said that it rained*; *According to X, …* → *…, according to X*
        if commas and words[-1].lower in _SAID and sentence.noun_phrase(commas[-1]) == n - 1:
            at = commas[-1]
            found.append((f"{capital(sentence.said(at, n))} that {sentence.moved(0, at)}", "the source in front"))
        if len(commas) == 1 and [w.lower for w in words[:2]] == ["according", "to"] and sentence.has_verb(commas[0], n):
            source = sentence.said(2, commas[0])
            new = f"{capital(sentence.said(commas[0], n))}, according to {source}"
            found.append((new, "the source at the end"))
        end = sentence.noun_phrase(0)
        if end is not None and end + 3 < n and words[end].lower in _SAID and not commas:
            that = end + 1 + (words[end + 1].lower == "that")
            timed = words[that].lower in WEEKDAYS or words[that].lower in ("today", "yesterday")
            sure = not timed and (that > end + 1 or words[end].lower in ("said", "says"))
            if sure and words[that].tag != "PRP" and sentence.noun_phrase(that) and sentence.has_verb(that, n):
                new = f"{capital(sentence.said(that, n))}, {sentence.moved(0, end + 1)}"
                found.append((new, "the source at the end"))
    for new, note in found:
        if new != whole:
            yield Rewrite(sentence.start, sentence.end, new, note)


def _is_simple(sentence: Sentence, first: int, end: int) -> bool:
    """One short clause: what is put at its end can belong to nothing else in it."""
    inside = sentence.words[first:end]
    verbs = sum(word.tag in ("VBD", "VBZ", "MD") for word in inside)
    nested = any(word.tag in ("W", "TO", "VBG") or word.lower in (*_SUBORDINATORS, "that", "as") for word in inside)
    return len(inside) <= _MAX_CLAUSE and verbs <= 1 and not nested


def _last_part(sentence: Sentence) -> int:
    """Where the clause or time begins with which the sentence ends, after one clause; 0 if there is none."""
    words, n = sentence.words, len(sentence.words)
    for i in range(2, n - 1):
        if words[i].lower not in _SUBORDINATORS or not sentence.joined(i):
            continue
        # A subject and a verb must follow the subordinator, and one verb must stand before it.
        end, before = sentence.noun_phrase(i + 1), words[i - 1]
        follows = end is not None and sentence.tag_at(end) in ("VBZ", "VBD", "MD")
        alone = before.tag not in ("IN", "RB", "CC", "CD") and before.lower not in _IN["measured"]
        if follows and alone and sentence.has_verb(0, i) and _is_simple(sentence, 0, i):
            return i
    for i in range(max(3, n - 4), n):
        if words[i].lower not in _TIME_STARTS or not _TIME.fullmatch(sentence.said(i, n)) or not sentence.joined(i):
            continue
        # One clause must stand before the time, whole and not in the perfect, which goes with no point in time.
        before, perfect = words[i - 1], any(word.lower in ("has", "have") for word in words[:i])
        entire = before.tag not in ("IN", "RB", "CC") and before.lower not in BE and sentence.has_verb(0, i)
        if entire and not perfect and _is_simple(sentence, 0, i):
            return i
    return 0


def change_voice(sentence: Sentence) -> Iterator[Rewrite]:
    """The sentence's first clause in the other voice, where its parts are plain to see."""
    words = sentence.words
    if sentence.lower.isdisjoint(_verb_forms(_IN["transitive"])):
        return
    firsts = [0]  # where the subject may begin: also after an opening *In 2011,*
    if words[0].tag == "IN" and "," in sentence.text:
        firsts += [i for i in range(1, min(8, len(words))) if "," in sentence.gap(i)][:1]
    for first in firsts:
        end = sentence.noun_phrase(first)
        if end is not None and end < len(words) and sentence.joined(end):
            yield from _to_passive(sentence, first, end)
            yield from _to_active(sentence, first, end)


def _to_passive(sentence: Sentence, first: int, end: int) -> Iterator[Rewrite]:
    words = sentence.words
    if end + 1 >= len(words):
        return
    # The word after the verb of the active clause, the verb's lemma, and what stands before the participle.
    verb, after, plural, joined = words[end], words[end + 1], sentence.plural(first, end), sentence.joined(end + 1)
    past = forms().lemma(verb.lower, "VBD")
    if verb.lower in ("has", "have", "had") and after.tag in ("VBN", "VBD") and joined:
        at, lemma, aux = end + 2, forms().lemma(after.lower, "VBN"), "had been" if verb.lower == "had" else "HAVE been"
    elif verb.tag == "MD" and after.tag == "VB" and joined:
        at, lemma, aux = end + 2, after.lower, f"{verb.lower} be"
    elif verb.tag in ("VBD", "VBN") and forms().inflected(past, "VBD") == verb.lower:
        at, lemma, aux = end + 1, past, "WAS"
    elif verb.tag == ("VB" if plural else "VBZ"):
        at, lemma, aux = end + 1, forms().lemma(verb.lower, verb.tag), "IS"
    else:
        return
    participle = forms().inflected(lemma, "VBN")
    last = sentence.noun_phrase(at) if at < len(words) and sentence.joined(at) else None
    if lemma not in _IN["transitive"] or participle is None or last is None or not _is_whole_at(sentence, last):
        return
    if words[first].tag == "PRP" or (first == 0 and not sentence.sure_of_case):
        return  # *by him* is said for a reason
    if words[at].lower in _SELVES or words[at].tag == "PRP$" or {word.lower for word in words[at:last]} & _NOT_DOERS:
        return
    head = words[last - 1]
    if head.tag == "NN" and head.lower.endswith("s") and words[at].tag != "DT":
        return  # *teens* and *news*: one, or many?
    many = sentence.plural(at, last)
    for form, one, several in (("WAS", "was", "were"), ("IS", "is", "are"), ("HAVE", "has", "have")):
        aux = aux.replace(form, several if many else one)
    thing = sentence.subject_form(at, last)
    new = f"{capital(thing) if first == 0 else thing} {aux} {participle} by {sentence.object_form(first, end)}"
    yield Rewrite(words[first].start, words[last - 1].end, new, "passive")


def _is_whole_at(sentence: Sentence, i: int) -> bool:
    """Is the noun phrase whole at this word? What may follow goes with the verb, or ends the sentence.

    A verb that follows, as in *showed growth in sales slowed* or *buys food and sells it*, has lost its subject.
    """
    words, n = sentence.words, len(sentence.words)
    if i == n:
        return True
    word, after = words[i].lower, words[i + 1] if i + 1 < n else None
    if not sentence.joined(i) or word not in _IN["loose"] or after is None or after.tag in ("W", "VB", "VBG"):
        return False
    timed = after.lower in WEEKDAYS or after.lower in MONTHS or after.tag == "CD"
    if not timed and (word == "on" or (word == "in" and words[i - 1].lower in _IN["takes_in"])):
        return False  # it goes with the noun
    for k in range(i, n):
        if not sentence.joined(k) and k > i:
            return not any(word.tag == "CC" for word in words[k : k + 1])
        if words[k].tag == "CC" or (words[k].tag in ("W", "VBD", "VBZ", "MD", "VB", "VBN") and k > i):
            return False
        if words[k].lower in _IN["clauses"]:
            return True
    return True


def _to_active(sentence: Sentence, first: int, end: int) -> Iterator[Rewrite]:
    words, n = sentence.words, len(sentence.words)
    by = next((i for i in range(end + 1, min(end + 4, n)) if words[i].lower == "by"), None)
    if by is None or not all(sentence.joined(i) for i in range(end, by + 1)) or by + 1 >= n:
        return
    aux, participle = [word.lower for word in words[end : by - 1]], words[by - 1].lower
    last, lemma = sentence.noun_phrase(by + 1) if sentence.joined(by + 1) else None, forms().lemma(participle, "VBN")
    if last is None or words[by - 1].tag not in ("VBN", "VBD") or words[by + 1].tag == "CD":
        return
    doers = {word.lower for word in words[by + 1 : last]}
    if lemma not in _IN["transitive"] or not _is_whole_at(sentence, last) or doers & _NOT_DOERS:
        return
    plural, verb = sentence.plural(by + 1, last), None
    if len(aux) == 1 and aux[0] in _WAS:
        verb = forms().inflected(lemma, "VB" if plural and _WAS[aux[0]] == "VBZ" else _WAS[aux[0]])
    elif aux[-1:] == ["been"] and aux[0] in ("has", "have", "had"):
        verb = f"{'had' if aux[0] == 'had' else 'have' if plural else 'has'} {participle}"
    elif aux[-1:] == ["be"] and len(aux) == 2 and aux[0] in _MODALS:
        verb = f"{aux[0]} {lemma}"
    if verb is not None:
        doer = sentence.subject_form(by + 1, last)
        new = f"{capital(doer) if first == 0 else doer} {verb} {sentence.object_form(first, end)}"
        yield Rewrite(words[first].start, words[last - 1].end, new, "active")


def _any_of(listed: dict[str, str]) -> re.Pattern[str]:
    longest_first = sorted(listed, key=lambda e: (-len(e), e))
    return re.compile(rf"(?<![\w'’-])(?:{'|'.join(map(re.escape, longest_first))})(?![\w'’-])", re.I)


_IN_SHORT, _IN_FULL = _any_of(_SHORT), _any_of(_LONG)


def change_contractions(sentence: Sentence) -> Iterator[Rewrite]:
    """Contracted words in full, and words in full contracted, where something follows that they go with."""
    text, question = sentence.text, "?" in sentence.text[sentence.end : sentence.end + 3]
    short, full = not sentence.lower.isdisjoint(_LONG_WORDS), "'" in text or "’" in text  # else nothing is found
    for pattern, table in ((_IN_SHORT, _SHORT),) * short + ((_IN_FULL, _LONG),) * full:
        for found in pattern.finditer(text.replace("’", "'"), sentence.start, sentence.end):
            old = text[found.start() : found.end()]
            follows = re.match(r" (\w+)", text[found.end() : found.end() + 20])
            awkward = table is _SHORT and follows is not None and follows[1] in ("not", "so", "too", "to")
            compared = _COMPARED.search(text[max(0, found.start() - 10) : found.start()])
            if follows is None or awkward or compared or question:
                continue
            new = table[found[0].lower()]
            if new.endswith(" is") and follows[1].lower() in ("been", "got", "had"):
                new = new.removesuffix("is") + "has"
            new = "I" + new[1:] if new[:2] in ("i'", "i ") else new
            new = cased(new, old) if not old.isupper() else new
            yield Rewrite(found.start(), found.end(), new.replace("'", "’") if "’" in text else new, f"{old}→{new}")


def exchange_expressions(sentence: Sentence) -> Iterator[Rewrite]:
    """Short expressions with each of those that may stand for them."""
    text = sentence.text
    for word in sentence.words:
        for expression in _BY_WORD.get(word.lower.rstrip("."), ()):
            start = word.start - (4 if expression.startswith("the ") else 0)
            end = start + len(expression)
            old = text[start:end]
            if start < sentence.start or old.lower() != expression or _INSIDE_A_WORD.match(text, end):
                continue
            if expression.endswith(".") and not text[end : end + 2].strip():
                break  # its dot ends the sentence
            # It must say there what it mostly says; some only where no noun, nor an adjective before one, begins.
            follows, unless = _FOLLOWS.get(expression), _UNLESS.get(expression)
            fits = follows is None or follows.match(text, end) is not None
            fits = fits and (unless is None or not unless.search(text[max(0, start - 12) : start]))
            after = next((word for word in sentence.words if word.start > end), None)
            noun = after is not None and after.tag in ("NN", "NNS", "NNP", "JJ", "VBG") and after.start - end < 3
            for other in _EXPRESSIONS[expression] if fits and not (noun and expression in _ALONE) else ():
                new = other if other[0].isupper() or old.isupper() else cased(other, old)
                new = "The" + new[3:] if old.startswith("The ") else new
                yield Rewrite(start, end, new, f"{old}→{new}")
            break


def exchange_nominals(sentence: Sentence) -> Iterator[Rewrite]:
    """Nouns for verbs and verbs for nouns; *'s* for *of* and back."""
    words, verbs = sentence.words, _verb_forms(_LIGHT_VERBS, "is", "was")
    listed = [] if sentence.lower.isdisjoint(verbs) else words[1:-1]
    for i in [i for i, word in enumerate(listed, 1) if word.lower in verbs]:
        yield from _verb_to_noun(sentence, i)
        yield from _noun_to_verb(sentence, i)
        yield from _doer_to_verb(sentence, i)
    owned = "'" in sentence.text or "’" in sentence.text
    if not owned and "of" not in sentence.lower and "POS" not in [word.tag for word in words]:
        return
    n = len(words)  # *the capital of France* → *France's capital*, and back
    for i in range(n - 3):
        if words[i].lower == "the" and words[i + 1].lower in _OWNED and words[i + 2].lower == "of":
            end = _name_end(sentence, i + 3)
            titled = i == 0 and sentence.text[words[1].start].isupper()  # *The Queen of Holland* may be a ship
            if end == i + 3 or titled or not all(sentence.joined(k) for k in range(i + 1, i + 4)):
                continue
            owner = sentence.said(i + 3, end)
            if _phrase_ends(sentence, end) and "'" not in owner and "’" not in owner:
                new = f"{owner}{'’' if '’' in sentence.text else chr(39)}s {sentence.said(i + 1, i + 2)}"
                yield Rewrite(words[i].start, words[end - 1].end, new, "’s for of")
    for i in range(n):
        thing = _name_end(sentence, i)
        if thing == i or (i and words[i - 1].tag in ("NNP", "DT", "JJ", "PRP$")):
            continue
        name = sentence.said(i, thing)
        if sentence.tag_at(thing) == "POS":
            thing += 1
        elif name[-2:] in ("'s", "’s") and len(name) > 2:
            name = name[:-2]
        else:
            continue
        if thing < n and words[thing].lower in _OWNED and _phrase_ends(sentence, thing + 1):
            new = f"the {sentence.said(thing, thing + 1)} of {name}"
            yield Rewrite(words[i].start, words[thing].end, capital(new) if i == 0 else new, "of for ’s")


def _verb_to_noun(sentence: Sentence, i: int) -> Iterator[Rewrite]:
    """*decided to* → *made the decision to*."""
    word, after = sentence.words[i], sentence.words[i + 1]
    asked = word.tag == "VB" and sentence.words[i - 1].tag in ("TO", "MD")
    if not (word.tag == "VBD" or asked) or not sentence.joined(i + 1):
        return
    lemma = forms().lemma(word.lower, word.tag)
    follows = after.lower if (lemma, after.lower) in _LIGHT else "NP" if sentence.noun_phrase(i + 1) else ""
    if (lemma, follows) not in _LIGHT or sentence.words[i - 1].tag in ("DT", "JJ", "PRP$", "POS"):
        return
    verb, _, rest = _LIGHT[lemma, follows].partition(" ")
    said = forms().inflected(verb, word.tag)
    if said:
        yield Rewrite(word.start, word.end, f"{said} {rest}", f"{word.lower}→{said} {rest}")


def _noun_to_verb(sentence: Sentence, i: int) -> Iterator[Rewrite]:
    """*made the decision to* → *decided to*."""
    word = sentence.words[i]
    if word.tag not in ("VBD", "VBZ", "VB", "VBG", "VBN"):
        return
    for light, (verb, after) in _BACK.get(forms().lemma(word.lower, word.tag), {}).items():
        end = i + len(light)
        if tuple(w.lower for w in sentence.words[i + 1 : end]) != light[1:]:
            continue
        if end >= len(sentence.words) or not all(sentence.joined(k) for k in range(i + 1, end + 1)):
            continue
        fits = sentence.noun_phrase(end) is not None if after == "NP" else sentence.words[end].lower == after
        said = forms().inflected(verb, word.tag)
        if fits and said:
            yield Rewrite(word.start, sentence.words[end - 1].end, said, f"{' '.join(light)}→{verb}")
            return


def _doer_to_verb(sentence: Sentence, i: int) -> Iterator[Rewrite]:
    """*is the author of* → *wrote*. What one has done stays done, so its verb is in the past."""
    words = sentence.words
    if i + 4 >= len(words) or words[i].lower not in ("is", "was") or words[i + 1].lower != "the":
        return
    verb = _PHRASES["doers"].get(words[i + 2].lower)
    if verb is None or words[i + 3].lower != "of" or not all(sentence.joined(k) for k in range(i, i + 5)):
        return
    said = forms().inflected(verb, "VBZ" if words[i].lower == "is" and verb in _LASTING else "VBD")
    if said and sentence.noun_phrase(i + 4) is not None:
        yield Rewrite(words[i].start, words[i + 3].end, said, f"{sentence.said(i, i + 4)}→{said}")


def _name_end(sentence: Sentence, i: int) -> int:
    """Where a name that begins at a word ends."""
    end = i
    while sentence.tag_at(end) == "NNP" and (end == i or sentence.joined(end)):
        end += 1
    return end


def _phrase_ends(sentence: Sentence, i: int) -> bool:
    """Does no noun, number, *and* or apposition go on here?"""
    goes_on = sentence.tag_at(i) in ("NN", "NNS", "NNP", "CD", "CC", "POS", "JJ") or sentence.word_at(i) == "of"
    return i >= len(sentence.words) or (sentence.joined(i) and not goes_on)

"""Fits a speaker's profile to pairs of clean texts and what a recogniser made of them.

Differences are counted by class of word and kind of mark. Then the fitted speaker reads the same texts, its differences
are counted by the same rules, and the rates are corrected until both counts agree.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain, pairwise

import msgspec

from unswayed.base.edits import apply
from unswayed.base.seeds import Seeds
from unswayed.lab.calibration import EventCounts
from unswayed.vary.chinese import han, lexicon
from unswayed.vary.chinese_slips import blocks
from unswayed.vary.people import SPOKEN_CLASSES, SpeakerProfile, spoken_class
from unswayed.vary.speech import mandarin
from unswayed.vary.speech._mandarin_recogniser import pronounce_word, split_syllable

_WORD_PRIOR = 40.0  # words' worth of the speaker's mean rate that each class starts with
_MARK_PRIOR = 5.0  # marks' worth of the chances below
_MARK = {"lost": 0.3, "comma": 0.3, "stop": 0.0}  # what becomes of a mark, as far as the pairs don't tell
_MARKS = {"stop": {"lost": 0.05, "comma": 0.35, "stop": 0.5}, "ask": {"lost": 0.05, "comma": 0.2, "stop": 0.1}}
_SELVES = 20  # speakers of one profile, so that the habits of none of them decide
_SAME = 0.6  # share of mishearings that repeat
# By rate, the places' worth of it that each correction starts with.
_PRIORS = {"spread": 10, "gap": 10, "shrink": 10, "grow": 10, "stray": 100, "clause": 20, "digits": 20}


class SpeechCounts(EventCounts):
    """What was seen in the pairs of one speaker, also the sounds that were heard, by what was said."""

    def __init__(self) -> None:
        super().__init__()
        self.heard: Counter[tuple[str, str]] = Counter()
        self.spread = 0.0  # variance of the words misheard in a sentence over their mean


def fit_speaker(clean: Sequence[str], said: Sequence[str], rounds: int = 4) -> SpeakerProfile:
    """The profile under which a speaker is heard like this."""
    seen, rates = count_speech(clean, said), {}
    for name in ("misheard", "lost"):
        every = [f"{name}{c}" for c in range(SPOKEN_CLASSES)]
        mean = sum(seen.seen[key] for key in every) / max(1, sum(seen.places[key] for key in every))
        rates[name] = [seen.share(key, _WORD_PRIOR, mean) for key in every]
    totals: Counter[str] = Counter()
    for (one, _), n in seen.heard.items():
        totals[one] += n
    profile = SpeakerProfile(  # as counted, before it is corrected
        words=[seen.places[f"misheard{c}"] for c in range(SPOKEN_CLASSES)],
        misheard=rates["misheard"],
        lost=rates["lost"],
        spread=seen.share("spread") / 2,
        gap=seen.share("gap"),
        shrink=seen.share("shrink", 10, 0.1),
        grow=seen.share("grow", 10, 0.02),
        stray=seen.share("stray", 100, 0.002),
        clause=seen.share("clause", 20, 0.01),
        same=_SAME,
        start=1.2,
        pace=0.5,
        marks={
            m: {o: seen.share(f"{o}/{m}", _MARK_PRIOR, p) for o, p in _MARKS.get(m, _MARK).items()}
            for m in mandarin.MARKS
        },
        commas={place: seen.share(f"commas/{place}", 20, 0.02) for place in ("plain", "beside")},
        end=seen.share("end", 2, 0.95),
        foreign={"english": seen.share("english", 4, 0.4), "lost": seen.share("foreign_lost", 4, 0.3)},
        digits=seen.share("digits", 20, 0.05),
        writes={kind: seen.share(kind, 4, 0.5) for kind in mandarin.WRITINGS},
        # the chance of each sound, given the one that was said, of all pairs that came up more than once
        heard={f"{a}>{b}": n / (totals[a] + 5) for (a, b), n in sorted(seen.heard.items()) if n > 1 or a == b},
    )
    for n in range(rounds):
        speaker, seeds = mandarin.MandarinSpeaker(profile), Seeds(n, "calibrate/speech", 1)
        made = [apply(text, speaker.say(text, seeds.stream(str(i), i % _SELVES))) for i, text in enumerate(clean)]
        profile = _correct_profile(profile, seen, count_speech(clean, made))
    return profile


def count_speech(clean: Sequence[str], said: Sequence[str]) -> SpeechCounts:
    """What differs between the texts and what was heard, counted."""
    seen = SpeechCounts()
    wrong = [_count_text(seen, before, after) for before, after in zip(clean, said, strict=True)]
    sizes = list(map(len, clean))
    rate = sum(wrong) / max(1, sum(sizes))
    seen.spread = sum((n - rate * s) ** 2 for n, s in zip(wrong, sizes, strict=True)) / max(1e-9, rate * sum(sizes))
    return seen


def _count_text(seen: SpeechCounts, text: str, after: str) -> int:
    """Counts what differs in one text; gives the number of its words that were not heard right."""
    found = blocks(text, after)
    state = ["ok"] * len(text)
    for start, end, new in found:
        state[start:end] = ["lost" if not new else "wrong"] * (end - start)
    # Clauses that were lost whole are counted as such and as nothing else.
    pieces: list[mandarin.SpokenPiece] = []
    for i, clause in enumerate(mandarin.split_clauses(mandarin.split_text(text))):
        places = [at for piece in clause if piece.kind != "mark" for at in range(piece.start, piece.end)]
        gone = len(places) >= 4 and sum(state[at] == "lost" for at in places) >= 0.9 * len(places)
        if i and places:
            seen.add("clause", gone)
        pieces += [] if gone else clause
    writings = mandarin.other_writings(text)
    rewritten = {i for start, end, _, _ in writings for i in range(start, end)}
    words = _count_words(seen, [p for p in pieces if not rewritten & set(range(p.start, p.end))], state)
    for start, end, new in found:
        old = text[start:end]
        if not new or not all(map(han, old + new)):
            continue
        if not old:
            seen.seen["stray"] += 1
            continue
        if len(old) > 1:
            seen.add("shrink", len(new) < len(old))
        seen.add("grow", len(new) > len(old))
        parts = [[pronounce_word(word) for word in lexicon().segment(said)] for said in (old, new)]
        if len(old) == len(new) and parts[0] and parts[1] and None not in parts[0] + parts[1]:
            for a, b in zip(*(chain.from_iterable(filter(None, its)) for its in parts), strict=True):
                seen.heard[str(a.tone), str(b.tone)] += 1
                seen.heard.update(zip(split_syllable(a.plain), split_syllable(b.plain), strict=True))
    spoken = max((piece.end for piece in pieces if piece.kind != "mark"), default=0)
    for piece in pieces:
        if piece.kind == "mark" and piece.end < spoken:  # the marks that close a text are another matter
            kind = mandarin.mark_class(piece.text)
            block = next((block for block in found if block[0] <= piece.start < block[1]), None)
            comma, stop = (block is not None and mark in block[2] and block[0] == piece.start for mark in "，。")
            seen.add(f"comma/{kind}", comma)
            seen.add(f"stop/{kind}", stop)
            seen.add(f"lost/{kind}", block is not None and not comma and not stop)
        elif piece.kind == "number" and piece.start not in rewritten:
            seen.add("digits", state[piece.start] != "ok")
        elif piece.kind == "foreign":
            heard = "".join(b for s, e, b in found if s < piece.end and e > piece.start)
            seen.add("english", "英" in heard or "应用" in heard)
            seen.add("foreign_lost", not heard)
    added = {start for start, end, new in found if start == end and "，" in new}  # where commas came from nowhere
    for one, two in pairwise(pieces):
        if one.kind != "mark" and two.kind == "word" and one.end == two.start:
            beside = (state[one.end - 1] == "ok") != (state[two.start] == "ok")
            seen.add("commas/beside" if beside else "commas/plain", two.start in added)
    if text[-1:].isalnum():
        seen.add("end", not after[-1:].isalnum())
    for _, end, kind, new in writings:
        seen.add(kind, new + text[end : end + 1] in after)
    return words


def _count_words(seen: SpeechCounts, pieces: list[mandarin.SpokenPiece], state: list[str]) -> int:
    wrong, last = 0, ""
    early = next((piece.start for piece in pieces if piece.kind == "word"), 0) + mandarin.EARLY
    for i, piece in enumerate(pieces):
        if piece.kind != "word":
            last = ""
            continue
        around = [*pieces[max(0, i - 1) : i], *pieces[i + 1 : i + 2]]
        c = spoken_class(piece.text, any(p.kind == "word" and len(p.text) == 1 for p in around))
        states = set(state[piece.start : piece.end])
        now = "ok" if states == {"ok"} else "lost" if states == {"lost"} else "misheard"
        for name in ("misheard", "lost"):
            seen.add(f"{name}{c}", now == name)
        if last in ("misheard", "lost"):
            seen.add("spread" if last == "misheard" else "gap", now == last)
        seen.add("early" if piece.start < early else "late", now != "ok")
        wrong += now != "ok"
        last = now
    seen.places["stray"] += sum(piece.kind == "word" for piece in pieces)
    return wrong


def _correct_profile(profile: SpeakerProfile, seen: SpeechCounts, made: SpeechCounts) -> SpeakerProfile:
    """Each rate times what was seen over what was made, half of the way in logs."""

    def near(rate: float, name: str, weight: float, most: float = 0.95) -> float:
        want, got = seen.share(name, weight, rate), made.share(name, weight, rate)
        return float(max(1e-5, min(most, rate * (max(want, 1e-6) / max(got, 1e-6)) ** 0.7)))

    marks = {m: {o: near(p, f"{o}/{m}", _MARK_PRIOR, 1.0) for o, p in its.items()} for m, its in profile.marks.items()}
    pace = profile.pace * max(0.6, min(1.6, (max(seen.spread - 1, 0.05) / max(made.spread - 1, 0.05)) ** 0.5))
    # how many times likelier the first words go wrong than the others
    early = [counted.share("early", 20, 0.2) / counted.share("late", 20, 0.2) for counted in (seen, made)]
    return msgspec.structs.replace(
        profile,
        misheard=[near(rate, f"misheard{c}", _WORD_PRIOR) for c, rate in enumerate(profile.misheard)],
        lost=[near(rate, f"lost{c}", _WORD_PRIOR) for c, rate in enumerate(profile.lost)],
        marks={m: {o: chance / max(1.0, sum(its.values())) for o, chance in its.items()} for m, its in marks.items()},
        commas={place: near(rate, f"commas/{place}", 20) for place, rate in profile.commas.items()},
        start=max(0.5, min(3.0, profile.start * (early[0] / early[1]) ** 0.7)),
        pace=max(0.05, min(1.2, pace)),
        **{name: near(getattr(profile, name), name, weight) for name, weight in _PRIORS.items()},
    )

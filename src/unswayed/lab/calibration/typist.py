"""Fits a profile of typists to texts that people typed again: counts their slips, then checks the counts by typing.

People and their texts differ by gammas of slips, and by habits of capitals and marks.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from math import log
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from unswayed.base.edits import apply
from unswayed.base.errors import UsageError
from unswayed.base.seeds import Seeds
from unswayed.lab.calibration import STEADY_SHAPE, four_digits, gamma_steps, round_numbers
from unswayed.vary import slips as slip_rules
from unswayed.vary.hands import Hands
from unswayed.vary.keyboard.layouts import Layout
from unswayed.vary.words import FREQUENT, frequency_class

_MAX_PEOPLE = 240  # people that a profile keeps
_MIN_PEOPLE = 5  # people below whom nothing is said of how they differ
_MAX_CHANCE = 0.97  # chance of a habit that shows nearly always
_WAYS = ("capital", "lost", "changed")

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
TextCounts = tuple[str, Mapping[str, int], Mapping[str, int]]  # who, opportunities of a text, and slips in it
Choices = dict[str, dict[str, float]]  # by kind of slip what was chosen, and how often
ABORTED = 0.3  # share of characters above which a text was given up, or is another one
_MIN_TEXTS = 20  # texts below which nothing can be said
_PRIOR_SLIPS = 8.0  # slips that a weight starts from, as if it were like any other
_MAX_WEIGHT = 2.5  # times that a letter is likelier than others: more is one person's broken key
_ALIKE = 0.05  # log weights that are not worth writing down
_LOCKED = 3  # raised letters above which the key for capitals was locked
_CLOSE = 3  # letters between two slips of one burst
_ROUNDS, _TYPED = 3, 3_000  # times that counts are checked, and texts that are typed for it
_BY_LETTER = ("omit", "near", "far", "vowel", "double", "insert")
_LISTED = 2  # times that a pair of letters or an added word must have been seen


def fit_people(made: Sequence[TextCounts], rates: Mapping[str, float]) -> tuple[float, list[list[float]]]:
    """The shape of the gamma by which one person's texts differ, and people as `SlipProfile.people` has them.

    Fitted by moments: what two texts of one person share is the person's, the rest of the excess is the text's.
    """
    plain = [kind for kind in rates if kind.rsplit("_", 1)[0] not in slip_rules.STYLES]
    expected = np.array([sum(rates[kind] * here[slip_rules.PER[kind]] for kind in plain) for _, here, _ in made])
    counts = np.array([sum(events[kind] for kind in plain) for _, _, events in made], float)
    names = sorted({who for who, _, _ in made})
    if len(names) < _MIN_PEOPLE:
        return _fit_text_shape(counts, expected, np.ones(1)), []
    index = {name: k for k, name in enumerate(names)}
    who = np.array([index[name] for name, _, _ in made])
    n, m = np.bincount(who, counts), np.bincount(who, expected)
    pairs = (m**2 - np.bincount(who, expected**2)).sum()
    excess = ((n**2 - np.bincount(who, counts**2)).sum() / pairs if pairs else 1.0) - 1
    shape = 1 / excess if excess > 1 / STEADY_SHAPE else STEADY_SHAPE
    rng = np.random.Generator(np.random.PCG64(7))
    factors = rng.gamma(shape + n, 1 / (shape + m))
    kept = np.sort(rng.permutation(len(names))[:_MAX_PEOPLE])
    columns = [(factors, 1.0)]
    for style in slip_rules.STYLES:  # for each person a chance of the habit, drawn from the beta that all texts leave
        seen = [(here[style], sum(events[f"{style}_{way}"] for way in _WAYS)) for _, here, events in made]
        n = np.bincount(who, np.array([min(times, most) for most, times in seen], float))
        m = np.bincount(who, np.array([most for most, _ in seen], float))
        mean = n.sum() / max(m.sum(), 1.0)
        if not mean:
            columns.append((np.zeros(len(n)), 0.0))
            continue
        pairs = (m * (m - 1)).sum()
        both = (n * (n - 1)).sum() / pairs if pairs else mean**2
        alike = min(max((both - mean**2) / (mean - mean**2), 0.002), 0.95)  # correlation within a person
        strength = 1 / alike - 1
        chances = rng.beta(mean * strength + n, (1 - mean) * strength + m - n)
        columns.append((np.minimum(chances, _MAX_CHANCE), float(mean)))
    scaled = []
    for values, mean in columns:  # those who are kept get the mean of all
        chosen = values[kept]
        found = float(chosen.mean())
        scaled.append(chosen * (mean / found) if found else chosen)
    rows = [[float(f"{value:.3g}") for value in row] for row in np.stack(scaled, axis=1)]
    return _fit_text_shape(counts, expected, scaled[0]), rows


def _fit_text_shape(counts: Floats, expected: Floats, people: Floats) -> float:
    """The shape of the gamma of haste at which as many texts have no slip as have none."""
    right = float((counts == 0).mean())
    sizes = np.quantile(expected, np.linspace(0.01, 0.99, 50))
    means = np.outer(sizes * expected.mean() / max(sizes.mean(), 1e-9), people).ravel()
    low, high = 0.05, STEADY_SHAPE
    for _ in range(40):
        middle = (low * high) ** 0.5
        none = float(((1 + means / middle) ** -middle).mean())
        low, high = (middle, high) if none > right else (low, middle)
    return round(low, 3)


class RetypedRow(NamedTuple):
    """A text, what a person made of it, who, and the slips."""

    meant: str
    typed: str
    person: str
    slips: list[slip_rules.KeySlip]


def fit_typist(
    meant: Sequence[str], typed: Sequence[str], people: Sequence[str], board: Layout, words: Mapping[str, int],
    source: str = "",
) -> slip_rules.SlipProfile:  # fmt: skip
    """How these people slip. `people` names who typed each text; empty if nobody knows."""
    rows = aligned_rows(meant, typed, people, board)
    if len(rows) < _MIN_TEXTS:
        raise UsageError(
            f"A profile needs at least {_MIN_TEXTS} texts that were typed to the end. There are {len(rows)}."
        )
    if not any(row.slips for row in rows):
        raise UsageError(f"None of {len(rows)} texts has a slip, so there is nothing to fit.")
    profile, shape = _count_profile(rows, board, words, source)
    seeds, times = Seeds(0, "calibrate/typist", 1), max(1, _TYPED // len(rows))
    human = Counter(slip.kind for row in rows for slip in row.slips)
    for _ in range(_ROUNDS):  # until its own typing gives people's counts, real words, and texts without a slip
        hands = Hands(profile, board, words)
        made: Counter[str] = Counter()
        pairs = []
        for draw in range(times):
            for i, row in enumerate(rows):
                if edits := hands.type(row.meant, seeds.stream(str(i), draw)):
                    one = apply(row.meant, edits).strip()
                    made.update(slip.kind for slip in slip_rules.slips(row.meant, one, board))
                    pairs.append((row.meant, one))
        altered = sum(bool(row.slips) for row in rows) * times / max(len(pairs), 1)
        shape = min(max(shape * min(max(altered**4, 0.4), 2.5), 0.1), 50.0)
        rates = {}
        for kind, rate in profile.rates.items():
            factor = (human[kind] + 1) / (made[kind] / times + 1)
            habit = kind.endswith(("_capital", "_lost", "_changed")) and kind not in ("space_lost", "word_lost")
            rates[kind] = rate if habit else min(rate * min(max(factor, 0.5), 2.0), 1.0)
        # The share of slips without a word as a result that people put right, from how many of theirs are left.
        noticed = profile.noticed if words else 0.0
        if words and (ours := _nonword_odds(pairs, words)):
            theirs = _nonword_odds([(row.meant, row.typed) for row in rows if row.slips], words)
            noticed = round(min(max(1 - (1 - noticed) * theirs / ours, 0.0), 0.9), 4)
        profile = msgspec.structs.replace(
            profile, rates=round_numbers(rates), noticed=noticed, haste=gamma_steps(shape)
        )
    return profile


def aligned_rows(meant: Sequence[str], typed: Sequence[str], people: Sequence[str], board: Layout) -> list[RetypedRow]:
    """The rows with their slips, without texts that were given up or are other texts."""
    rows = []
    for i, (a, b) in enumerate(zip(meant, typed, strict=True)):
        a, b = a.strip(), b.strip()
        if a and abs(len(a) - len(b)) <= ABORTED * len(a):
            found = slip_rules.slips(a, b, board) if a != b else []
            raised = sum(slip.kind == "raised" for slip in found)
            if len(found) <= ABORTED * len(a) and raised <= _LOCKED:
                rows.append(RetypedRow(a, b, people[i] if people else "", found))
    return rows


def _count_profile(
    rows: list[RetypedRow], board: Layout, words: Mapping[str, int], source: str
) -> tuple[slip_rules.SlipProfile, float]:
    """The profile as it is counted, before the counts are checked, and the shape of its gamma of haste."""
    chances: Counter[str] = Counter()
    seen: Counter[str] = Counter()
    for row in rows:
        chances.update(slip_rules.opportunities(row.meant))
        seen.update(c.lower() for c in row.meant if c.isalnum())
    # All slips, but of slips of letters that follow each other closely in one word, the first.
    bursts: list[list[slip_rules.KeySlip]] = [[] for _ in rows]
    for row, firsts in zip(rows, bursts, strict=True):
        last = -_CLOSE - 1
        for slip in row.slips:
            of_letter = slip.kind in slip_rules.LETTER_KINDS
            if not of_letter or slip.at - last > _CLOSE or " " in row.meant[last : slip.at]:
                firsts.append(slip)
            last = slip.at if of_letter else last
    first = [(row.meant, slip) for row, firsts in zip(rows, bursts, strict=True) for slip in firsts]
    letters = [(text, slip) for text, slip in first if slip.kind in slip_rules.LETTER_KINDS]
    every = sum(slip.kind in slip_rules.LETTER_KINDS for row in rows for slip in row.slips)
    kinds = Counter(slip.kind for _, slip in first)
    rates = {kind: kinds[kind] / chances[per] for kind, per in slip_rules.PER.items() if kinds[kind] and chances[per]}
    each = [
        (r.person, slip_rules.opportunities(r.meant), Counter(slip.kind for slip in firsts))
        for r, firsts in zip(rows, bursts, strict=True)
    ]
    shape, people = fit_people(each, rates)
    # For each kind, how much likelier each letter is than others, drawn towards 1 where little was seen.
    by_letter: dict[str, dict[str, float]] = {}
    for kind in _BY_LETTER:
        counts = Counter(text[s.at].lower() for text, s in letters if s.kind == kind and s.at < len(text))
        share = counts.total() / max(seen.total(), 1)
        weights = {c: (counts[c] + _PRIOR_SLIPS) / (seen[c] * share + _PRIOR_SLIPS) for c in sorted(seen)}
        by_letter[kind] = {c: four_digits(min(w, _MAX_WEIGHT)) for c, w in weights.items() if abs(log(w)) > _ALIKE}

    def by_class(of: Callable[[str, int], int], size: int, kind: str = "") -> list[float]:
        """How much likelier slips are in each class of letters than in all; `of` gives the class of a place."""
        counts, places = [0.0] * size, [0.0] * size
        for text, slip in letters:
            if slip.kind == kind or not kind:
                counts[of(text, min(slip.at, len(text) - 1))] += 1
        for text in dict.fromkeys(row.meant for row in rows):
            for at, c in enumerate(text):
                if c.isalnum():
                    places[of(text, at)] += 1
        share = sum(counts) / max(sum(places), 1)
        pairs = zip(counts, places, strict=True)
        return [four_digits((n + _PRIOR_SLIPS) / (m * share + _PRIOR_SLIPS)) for n, m in pairs]

    word_at = slip_rules.word_at
    profile = slip_rules.SlipProfile(
        source=source,
        texts=len(rows),
        rates=round_numbers(rates),
        letters=by_letter,
        places={kind: by_class(slip_rules.place, 3, kind) for kind in _BY_LETTER if kinds[kind]},
        lengths=by_class(lambda text, at: min((len(word_at(text, at)) - 1) // 3, 3), 4),
        frequencies=by_class(lambda text, at: frequency_class(words.get(word_at(text, at).lower())), 5)
        if words
        else [1.0] * 5,
        choices=_count_choices(rows, board, words),
        burst=round((every - len(letters)) / max(every, 1), 4),
        noticed=0.0,
        haste=gamma_steps(shape),
        people=people,
    )
    return profile, shape


def _count_choices(rows: list[RetypedRow], board: Layout, words: Mapping[str, int]) -> Choices:
    """What was chosen in slips of each kind, and how often; of what is rare, nothing."""
    chosen: dict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        for slip in row.slips:
            if name := _name_choice(row.meant, slip, board, words):
                chosen[slip.kind][name] += 1
    for kind in ("far", "vowel", "word_more"):
        chosen[kind] = Counter({name: n for name, n in chosen[kind].items() if n >= _LISTED})
    return {kind: dict(sorted(counts.items())) for kind, counts in sorted(chosen.items()) if counts}


def _name_choice(text: str, slip: slip_rules.KeySlip, board: Layout, words: Mapping[str, int]) -> str:
    """What was chosen in a slip, as the profile names it; empty if that is not counted."""
    old, new = text[slip.at : slip.at + 1], slip.typed
    if slip.kind == "near":
        return slip_rules.near(board, old, new)
    if slip.kind in ("far", "vowel") and (old + new).isalpha():
        return (old + new).lower()
    if slip.kind == "swap":
        return "hands" if slip_rules.crosses(board, *text[slip.at : slip.at + 2]) else "hand"
    if slip.kind == "insert":
        before = text[max(slip.at - 2, 0) : slip.at]
        if any(slip_rules.near(board, c, new) for c in before[-1:] + old):
            return "near"
        return "next" if new.lower() in text[slip.at : slip.at + 3].lower() else "before" if new in before else "other"
    if slip.kind == "word_lost":
        gone = text[slip.at : slip.at + slip.length].strip().lower()
        return "frequent" if words.get(gone, FREQUENT) < FREQUENT else "other"
    if slip.kind == "word_more":
        return new.strip().lower() if words.get(new.strip().lower(), FREQUENT) < FREQUENT else ""
    marks = slip.kind.endswith("_changed") or slip.kind in ("mark_added", "mark_end")
    return new if marks and len(new) == 1 and new.isprintable() and not new.isalnum() and new != "\ufffd" else ""


def _nonword_odds(pairs: list[tuple[str, str]], words: Mapping[str, int]) -> float:
    """Of words that became others, how many times as many are no words as are."""
    real = other = 0
    for meant, typed in pairs:
        a, b = meant.lower().split(), typed.lower().split()
        if len(a) == len(b):
            for one, two in zip(a, b, strict=True):
                one, two = one.strip(".,;:?!'\"()"), two.strip(".,;:?!'\"()")
                if one != two and one in words:
                    real, other = real + (two in words), other + (two not in words)
    return (other + 1) / (real + 1)

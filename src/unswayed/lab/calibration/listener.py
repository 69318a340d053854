"""Fits a profile of `speech/english` to texts that people read aloud and to what a recogniser wrote.

Differences are counted; then the fitted listener hears the same texts, its differences are counted by the same rules,
and the rates are corrected until both counts agree.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec

from unswayed.base.edits import apply
from unswayed.base.seeds import Seeds
from unswayed.lab.calibration.people import gamma_steps
from unswayed.lab.calibration.transcripts import Counts, counted
from unswayed.vary.listeners import ACCENTS, CLASSES, NUMBER, ListenerProfile
from unswayed.vary.speech._english_speaker import EnglishSpeaker

_ROUNDS = 8
_SHAPE, _LEVEL = 1.8, 0.4  # what the gamma of haste and the level of noise start from
_LEVELS = 1.5  # shape of the gamma by which mishearings differ
_FEW = 30  # words on which a rate is as much its own class's as that of words as common
_SWAPS = 2  # times that a common word must be written for another
_STRAYS = 8
_MARKED = 0.01  # share of pauses that a recogniser with marks marks at least


def fit_listener(clean: Sequence[str], heard: Sequence[str], source: str = "") -> ListenerProfile:
    """The profile of a recogniser that wrote `heard` for `clean`."""
    real = counted(clean, heard)
    profile, shape, level = _first(real, source), _SHAPE, _LEVEL
    for turn in range(_ROUNDS):
        made = counted(clean, simulated(profile, clean, turn))
        shape = min(
            6.0, max(0.8, shape * ((made.right + 1) / (made.texts + 2)) / ((real.right + 1) / (real.texts + 2)))
        )
        level = min(5.0, level * _times(*(counts.apart / max(1, counts.sounds.total()) for counts in (real, made))))
        profile = _varied(_corrected(profile, real, made), shape, level)
    return _rounded(profile)


def _varied(profile: ListenerProfile, shape: float, level: float) -> ListenerProfile:
    levels = [level * step for step in gamma_steps(_LEVELS)]
    return msgspec.structs.replace(profile, haste=gamma_steps(shape), levels=levels)


def simulated(profile: ListenerProfile, clean: Sequence[str], seed: int) -> list[str]:
    """What the listener hears, each text from a speaker of another group in turn."""
    seeds = Seeds(seed, "calibrate/listener", 1)
    listeners = [EnglishSpeaker(profile, accent) for accent in ACCENTS]
    made = []
    for k, text in enumerate(clean):
        edits = listeners[k % len(listeners)].say(text, [], seeds.stream(str(k), k % len(listeners)))
        made.append(apply(text, edits) if edits else text)
    return made


def _first(real: Counts, source: str) -> ListenerProfile:
    """Rates as counted, before they are corrected."""
    total = max(1, real.words.total())
    swaps = {
        word: {new: float(n) for new, n in news.items() if n >= _SWAPS} for word, news in sorted(real.swaps.items())
    }  # fmt: skip
    swaps = {word: news for word, news in swaps.items() if news}
    strays = dict(real.strays.most_common(_STRAYS)) or {"the": 1}
    return ListenerProfile(
        source=source,
        texts=real.texts,
        misheard=_by_class(real.wrong, real.words),
        places=[1.0, 1.0, 1.0],
        lost=_by_class(real.lost, real.alone),
        spread=[_more(real.lengths, size) for size in (1, 2, 3)],
        haste=gamma_steps(_SHAPE),
        levels=[_LEVEL * step for step in gamma_steps(_LEVELS)],
        each=20.0,
        heard={change: n / max(1, real.sounds[change.split(">")[0]] or real.sounds.total())
               for change, n in sorted(real.changes.items()) if n >= 2},
        swaps=swaps,
        swapped=min(0.9, sum(sum(news.values()) for news in swaps.values()) / max(1, _common_alone(real))),
        inflected=min(0.8, real.inflected / max(1, _other_alone(real))),
        stray=real.strays.total() / total,
        strays={word: float(n) for word, n in sorted(strays.items())},
        writes={kind: (done + 0.2) / (possible + 1) for kind, (done, possible) in sorted(real.written.items())},
        marks=_marks(real.marks),
    )  # fmt: skip


def _marks(counted: dict[str, Counter[str]]) -> dict[str, dict[str, float]]:
    """Shares of what is written for each kind of pause; none for a recogniser that writes hardly any marks."""
    total, none = (sum(n[""] if k else n.total() for n in counted.values()) for k in (0, 1))
    if total - none < _MARKED * total:
        return {}
    return {
        kind: {mark: n / seen.total() for mark, n in sorted(seen.items()) if n > 1} or {"": 1.0}
        for kind, seen in sorted(counted.items())
    }


def _common_alone(counts: Counts) -> int:
    return sum(n - counts.lost[kind] for kind, n in counts.alone.items() if kind < 4)


def _other_alone(counts: Counts) -> int:
    return sum(n - counts.lost[kind] for kind, n in counts.alone.items() if 4 <= kind < NUMBER)


def _by_class(part: Counter[int], whole: Counter[int]) -> list[float]:
    """Rates by class, drawn to that of words as common where little was seen."""
    overall = part.total() / max(1, whole.total())
    found = []
    for kind in range(CLASSES):
        twin = kind ^ 1 if kind < NUMBER else kind
        both = (part[kind] + part[twin] + 5 * overall) / (whole[kind] + whole[twin] + 5)
        found.append((part[kind] + _FEW * both) / (whole[kind] + _FEW))
    return found


def _more(lengths: Counter[int], size: int) -> float:
    at_least = sum(n for length, n in lengths.items() if length >= size)
    return sum(n for length, n in lengths.items() if length > size) / max(1, at_least)


def _corrected(profile: ListenerProfile, real: Counts, made: Counts) -> ListenerProfile:
    aim, got = _by_class(real.wrong, real.words), _by_class(made.wrong, made.words)
    spread = [
        min(0.9, rate * _times(_more(real.lengths, k), _more(made.lengths, k)))
        for k, rate in enumerate(profile.spread, 1)
    ]
    return msgspec.structs.replace(
        profile,
        misheard=[min(0.9, rate * _times(a, b)) for rate, a, b in zip(profile.misheard, aim, got, strict=True)],
        places=_placed(profile, real, made),
        lost=[min(0.9, rate * _times(a, b)) for rate, a, b in zip(
            profile.lost, _by_class(real.lost, real.alone), _by_class(made.lost, made.alone), strict=True)],
        spread=spread,
        heard=_balanced(profile.heard, _times(real.longer / real.sounds.total(), made.longer / made.sounds.total())),
        each=min(60.0, max(0.0, profile.each + 20 * (made.heard / max(1, made.said) - real.heard / max(1, real.said)))),
        inflected=min(0.8, profile.inflected * _times(real.inflected + 1, made.inflected + 1)),
        stray=profile.stray * _times(real.strays.total() + 1, made.strays.total() + 1),
    )  # fmt: skip


def _balanced(heard: dict[str, float], longer: float) -> dict[str, float]:
    """More sounds from nowhere and fewer that are lost, or the other way round."""
    return {
        change: rate * (longer**2 if change[0] == ">" else longer**-2 if change[-1] == ">" else 1.0)
        for change, rate in heard.items()
    }


def _placed(profile: ListenerProfile, real: Counts, made: Counts) -> list[float]:
    rates = [[counts.places[k] / max(1, counts.wrong.total()) for k in range(3)] for counts in (real, made)]
    found = [profile.places[k] * _times(rates[0][k], rates[1][k]) for k in range(3)]
    return [rate / found[2] for rate in found]


def _times(aim: float, got: float) -> float:
    return min(1.6, max(0.6, (aim + 1e-3) / (got + 1e-3)))


def _rounded(profile: ListenerProfile) -> ListenerProfile:
    def short(value: object) -> object:
        if isinstance(value, float):
            return float(f"{value:.4g}")
        if isinstance(value, dict):
            return {name: short(inner) for name, inner in value.items()}
        return [short(inner) for inner in value] if isinstance(value, list) else value

    return msgspec.convert(short(msgspec.to_builtins(profile)), ListenerProfile)

"""What the judge looks at: numbers of a clean text and what became of it. Two sets, made in two ways."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher

import numpy as np

from unfazed.measure.realism.trees import Floats
from unfazed.vary.chinese import KINDS, alike, han, lexicon, slips, sounds, spelled

_FUNCTION = frozenset("的了是在有和我你他不一个这那也就都很到说要去会着没吗呢吧")


def features(clean: Sequence[str], noisy: Sequence[str]) -> Floats:
    """A row of numbers for each pair."""
    return np.array([[*_by_kind(c, n), *_by_shape(c, n)] for c, n in zip(clean, noisy, strict=True)], dtype=np.float64)


def _by_kind(clean: str, noisy: str) -> list[float]:
    """From slips aligned by sound and explained."""
    found = slips(clean, noisy)
    size = max(1, len(clean))
    kinds = Counter(slip.kind for slip in found)
    changed = [slip for slip in found if slip.new and slip.end > slip.start and han(slip.new[0])]
    pairs = Counter((min(3, s.end - s.start), min(4, len(s.new))) for s in found)
    new = "".join(slip.new for slip in found)
    old = "".join(clean[slip.start : slip.end] for slip in found)
    gaps = np.diff([slip.start for slip in found]) if len(found) > 1 else np.array([size])
    twice = [n for n in Counter((clean[s.start : s.end], s.new) for s in found).values() if n > 1]
    return [
        *(kinds[kind] / size for kind in KINDS),
        *(kinds[kind] for kind in ("false_start", "stray", "omitted", "letters", "mark_lost")),
        *(
            pairs[pair] / size
            for pair in ((1, 1), (2, 2), (0, 1), (1, 0), (3, 3), (3, 4), (0, 2), (1, 2), (2, 3), (2, 1))
        ),
        len(found) / size,
        float(np.mean([s.start / size for s in found])) if found else -1.0,
        float(gaps.mean()),
        float(gaps.min()),
        sum(twice),
        _mean_frequency(new),
        _mean_frequency(old),
        _mean_word(changed, clean, after=True),
        _mean_word(changed, clean, after=False),
        max((len(s.new) for s in found), default=0),
        max((s.end - s.start for s in found), default=0),
        float(np.mean([alike(a, b) for a, b in _keys(changed, clean)])) if changed else -1.0,
    ]


def _keys(changed: Sequence[object], clean: str) -> list[tuple[str, str]]:
    made = [(spelled(clean[s.start : s.end]) or "", spelled(s.new) or "") for s in changed]  # type: ignore[attr-defined]
    return [(a, b) for a, b in made if a and b] or [("a", "b")]


def _mean_word(changed: Sequence[object], clean: str, after: bool) -> float:
    """How common the words are that were typed wrong, or that came out; unknown ones count little."""
    frequency = lexicon().frequency
    texts = [s.new if after else clean[s.start : s.end] for s in changed]  # type: ignore[attr-defined]
    return float(np.mean([frequency.get(text, -3.0) for text in texts])) if texts else -9.0


def _mean_frequency(text: str) -> float:
    frequency = lexicon().frequency
    values = [frequency.get(c, 0.0) for c in text if han(c)]
    return float(np.mean(values)) if values else -1.0


def _by_shape(clean: str, noisy: str) -> list[float]:
    """From the longest common stretches, as a reader would mark them, with no look at how they came about."""
    codes = [c for c in SequenceMatcher(None, clean, noisy, autojunk=False).get_opcodes() if c[0] != "equal"]
    size = max(1, len(clean))
    tags = Counter(code[0] for code in codes)
    replaced = [(clean[i:j], noisy[k:m]) for tag, i, j, k, m in codes if tag == "replace"]
    inserted = "".join(noisy[k:m] for tag, _, _, k, m in codes if tag == "insert")
    deleted = "".join(clean[i:j] for tag, i, j, _, _ in codes if tag == "delete")
    even = [(a, b) for a, b in replaced if len(a) == len(b)]
    same = [all(sounds(x) & sounds(y) for x, y in zip(a, b, strict=True)) for a, b in even]
    first = [bool(_starts(a) & _starts(b)) for a, b in replaced]
    words_clean, words_noisy = _word_sizes(clean), _word_sizes(noisy)
    return [
        *(tags[tag] / size for tag in ("replace", "insert", "delete")),
        *(tags[tag] for tag in ("replace", "insert", "delete")),
        len(noisy) / size,
        size,
        sum(len(a) for a, _ in replaced) / max(1, len(replaced)),
        sum(len(b) for _, b in replaced) / max(1, len(replaced)),
        len(even) / max(1, len(replaced)),
        sum(same) / max(1, len(same)),
        sum(first) / max(1, len(first)),
        sum(han(c) for c in inserted),
        sum(c in _FUNCTION for c in inserted) / max(1, len(inserted)),
        sum(c in _FUNCTION for c in deleted) / max(1, len(deleted)),
        sum(not han(c) and not c.isalnum() for c in deleted),
        sum(not han(c) and not c.isalnum() for c in inserted),
        sum(c.isascii() and c.isalpha() for c in noisy) - sum(c.isascii() and c.isalpha() for c in clean),
        sum(c.isspace() for c in noisy) - sum(c.isspace() for c in clean),
        sum(c.isdigit() for c in noisy) - sum(c.isdigit() for c in clean),
        float(clean[-1:] != noisy[-1:]),
        float(clean[:1] != noisy[:1]),
        codes[0][1] / size if codes else -1.0,
        codes[-1][2] / size if codes else -1.0,
        words_noisy[0] - words_clean[0],
        words_noisy[1] - words_clean[1],
        len(set(inserted) & set(clean)) / max(1, len(set(inserted))),
        _mean_frequency(inserted),
        _mean_frequency(deleted),
        _mean_frequency("".join(b for _, b in replaced)),
    ]


def _starts(text: str) -> set[str]:
    return {s[0] for s in sounds(text[0])} if text else set()


def _word_sizes(text: str) -> tuple[float, float]:
    """Mean length and mean log frequency of a text's words: fluent text has longer and commoner ones."""
    words = lexicon().segment("".join(c for c in text if han(c)))
    if not words:
        return 0.0, 0.0
    frequency = lexicon().frequency
    return sum(map(len, words)) / len(words), sum(frequency.get(w, -3.0) for w in words) / len(words)

"""What the judge looks at in Chinese: named numbers of a clean text and of what became of it, counted in two ways.

`slip.…` comes from slips aligned by sound and explained; `shape.…` from the longest common stretches, as a reader would
mark them, whatever their cause.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from unswayed.vary.chinese import han, lexicon, sounds, spelled
from unswayed.vary.chinese_slips import KINDS, Kind, Slip, alike, slips

Floats = npt.NDArray[np.float64]
Named = dict[str, float]

_FUNCTION_WORDS = frozenset("的了是在有和我你他不一个这那也就都很到说要去会着没吗呢吧")
_COUNTED_KINDS: tuple[Kind, ...] = ("false_start", "stray", "omitted", "letters", "mark_lost")
_LENGTHS = ((1, 1), (2, 2), (0, 1), (1, 0), (3, 3), (3, 4), (0, 2), (1, 2), (2, 3), (2, 1))
_LONGEST_OLD, _LONGEST_NEW = 3, 4  # longer stretches count as these
_NONE = -1.0  # where a mean has nothing to be taken of
_RARE_WORD, _NO_WORD = -3.0, -9.0  # log frequencies of a word that is not in the list, and of no word at all


def named_features(clean: str, noisy: str) -> Named:
    """All features of one pair of texts by name."""
    found, shape = slips(clean, noisy), _Shape.of(clean, noisy)
    groups = {
        "slip": (_kinds(clean, found), _lengths(clean, found), _spread(clean, found), _words(clean, found)),
        "shape": (_counts(shape), _replaced(shape), _characters(shape), _places(shape), _fluency(shape)),
    }
    return {f"{way}.{name}": value for way, parts in groups.items() for part in parts for name, value in part.items()}


def _kinds(clean: str, found: Sequence[Slip]) -> Named:
    kinds, size = Counter(slip.kind for slip in found), _size(clean)
    rates = {f"{kind}.rate": kinds[kind] / size for kind in KINDS}
    return {**rates, **{f"{kind}.count": kinds[kind] for kind in _COUNTED_KINDS}, "rate": len(found) / size}


def _lengths(clean: str, found: Sequence[Slip]) -> Named:
    """How many characters became how many."""
    pairs = Counter((min(_LONGEST_OLD, s.end - s.start), min(_LONGEST_NEW, len(s.new))) for s in found)
    return {
        **{f"length.{old}→{new}.rate": pairs[old, new] / _size(clean) for old, new in _LENGTHS},
        "longest.new": max((len(slip.new) for slip in found), default=0),
        "longest.old": max((slip.end - slip.start for slip in found), default=0),
    }


def _spread(clean: str, found: Sequence[Slip]) -> Named:
    """Where slips stand, how far from each other, and how many are made twice."""
    starts = [slip.start for slip in found]
    gaps = np.diff(starts) if len(starts) > 1 else np.array([_size(clean)])
    times = Counter((clean[slip.start : slip.end], slip.new) for slip in found).values()
    return {
        "mean_place": _mean(start / _size(clean) for start in starts),
        "mean_gap": float(gaps.mean()),
        "least_gap": float(gaps.min()),
        "repeated": sum(count for count in times if count > 1),
    }


def _words(clean: str, found: Sequence[Slip]) -> Named:
    """How common the characters and words are that were typed wrong and that came out, and how alike their keys."""
    changed = [slip for slip in found if slip.new and slip.end > slip.start and han(slip.new[0])]
    old, new = [clean[slip.start : slip.end] for slip in changed], [slip.new for slip in changed]
    keys = [(spelled(a), spelled(b)) for a, b in zip(old, new, strict=True)]
    known = [alike(a, b) for a, b in keys if a and b] or [alike("a", "b")]
    return {
        "new_characters.frequency": _mean_frequency("".join(slip.new for slip in found)),
        "old_characters.frequency": _mean_frequency("".join(clean[slip.start : slip.end] for slip in found)),
        "new_words.frequency": _mean(map(_word_frequency, new), otherwise=_NO_WORD),
        "old_words.frequency": _mean(map(_word_frequency, old), otherwise=_NO_WORD),
        "keys_alike": _mean(known) if changed else _NONE,
    }


class _Shape(NamedTuple):
    """The stretches in which two texts differ, with no explanation."""

    clean: str
    noisy: str
    stretches: list[tuple[str, int, int, int, int]]  # as difflib gives them, without the equal ones
    replaced: list[tuple[str, str]]
    inserted: str
    deleted: str

    @classmethod
    def of(cls, clean: str, noisy: str) -> _Shape:
        opcodes = SequenceMatcher(None, clean, noisy, autojunk=False).get_opcodes()
        stretches = [code for code in opcodes if code[0] != "equal"]
        return cls(
            clean,
            noisy,
            [(str(tag), i, j, k, m) for tag, i, j, k, m in stretches],
            [(clean[i:j], noisy[k:m]) for tag, i, j, k, m in stretches if tag == "replace"],
            "".join(noisy[k:m] for tag, _, _, k, m in stretches if tag == "insert"),
            "".join(clean[i:j] for tag, i, j, _, _ in stretches if tag == "delete"),
        )


def _counts(shape: _Shape) -> Named:
    tags, size = Counter(stretch[0] for stretch in shape.stretches), _size(shape.clean)
    kinds = ("replace", "insert", "delete")
    return {
        **{f"{tag}.rate": tags[tag] / size for tag in kinds},
        **{f"{tag}.count": tags[tag] for tag in kinds},
        "growth": len(shape.noisy) / size,
        "size": size,
    }


def _replaced(shape: _Shape) -> Named:
    """How long replaced stretches are, and how they sound."""
    even = [(old, new) for old, new in shape.replaced if len(old) == len(new)]
    return {
        "replaced.old_length": _share(len(old) for old, _ in shape.replaced),
        "replaced.new_length": _share(len(new) for _, new in shape.replaced),
        "replaced.same_length": _share(len(old) == len(new) for old, new in shape.replaced),
        "replaced.same_sound": _share(all(map(_sound_alike, old, new)) for old, new in even),
        "replaced.same_initial": _share(bool(_initials(old) & _initials(new)) for old, new in shape.replaced),
    }


def _characters(shape: _Shape) -> Named:
    """What sort of characters came, went, or became more or fewer."""
    return {
        "inserted.chinese": _how_many(shape.inserted, han),
        "inserted.function_words": _share(c in _FUNCTION_WORDS for c in shape.inserted),
        "deleted.function_words": _share(c in _FUNCTION_WORDS for c in shape.deleted),
        "deleted.marks": _how_many(shape.deleted, _mark),
        "inserted.marks": _how_many(shape.inserted, _mark),
        "more.latin": _more(shape, lambda c: c.isascii() and c.isalpha()),
        "more.spaces": _more(shape, str.isspace),
        "more.digits": _more(shape, str.isdigit),
        "inserted.already_there": _share(c in shape.clean for c in set(shape.inserted)),
    }


def _places(shape: _Shape) -> Named:
    size = _size(shape.clean)
    return {
        "other_end": float(shape.clean[-1:] != shape.noisy[-1:]),
        "other_start": float(shape.clean[:1] != shape.noisy[:1]),
        "first_place": shape.stretches[0][1] / size if shape.stretches else _NONE,
        "last_place": shape.stretches[-1][2] / size if shape.stretches else _NONE,
    }


def _fluency(shape: _Shape) -> Named:
    """Fluent text has longer and commoner words."""
    before, after = (lexicon().segment("".join(filter(han, text))) for text in (shape.clean, shape.noisy))
    return {
        "more.word_length": _share(map(len, after)) - _share(map(len, before)),
        "more.word_frequency": _share(map(_word_frequency, after)) - _share(map(_word_frequency, before)),
        "inserted.frequency": _mean_frequency(shape.inserted),
        "deleted.frequency": _mean_frequency(shape.deleted),
        "replaced.frequency": _mean_frequency("".join(new for _, new in shape.replaced)),
    }


def _size(text: str) -> int:
    return max(1, len(text))


def _mean(values: Iterable[float], otherwise: float = _NONE) -> float:
    listed = list(values)
    return float(np.mean(listed)) if listed else otherwise


def _share(values: Iterable[float]) -> float:
    """The mean, which is 0 of nothing."""
    listed = list(values)
    return sum(listed) / max(1, len(listed))


def _how_many(text: str, is_such: Callable[[str], bool]) -> int:
    return sum(map(is_such, text))


def _more(shape: _Shape, is_such: Callable[[str], bool]) -> int:
    return _how_many(shape.noisy, is_such) - _how_many(shape.clean, is_such)


def _mark(c: str) -> bool:
    return not han(c) and not c.isalnum()


def _sound_alike(one: str, other: str) -> bool:
    return bool(sounds(one) & sounds(other))


def _initials(text: str) -> set[str]:
    """The letters that the readings of a text's first character begin with."""
    return {syllable[0] for syllable in sounds(text[0])} if text else set()


def _word_frequency(word: str) -> float:
    return lexicon().frequency.get(word, _RARE_WORD)


def _mean_frequency(text: str) -> float:
    """Mean log frequency of a text's Chinese characters."""
    frequency = lexicon().frequency
    return _mean(frequency.get(c, 0.0) for c in text if han(c))

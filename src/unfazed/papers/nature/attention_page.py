"""Where a system looks in an utterance, as one line of shaded words; each word has its share below it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

from markupsafe import Markup

from unfazed.report import columns_of, label, typeset
from unfazed.report.charts import heat, svg

_LETTER, _PAD, _WORD, _ROW, _NAME = 8, 12, 24, 66, 16
_LONGEST = 24  # letters of a word that are shown


class Look(NamedTuple):
    """An utterance, what to call it, and how much each of its tokens is looked at; the shares sum to 1."""

    name: str
    tokens: Sequence[str]
    shares: Sequence[float]


def attention_lines(looks: Sequence[Look], title: str) -> Markup:
    """One line an utterance. The darker a word, the more it is looked at."""
    parts, widest = [], 0
    for row, look in enumerate(looks):
        words = [label(token, _LONGEST) for token in look.tokens]
        widths = [max(columns_of(word), 4) * _LETTER + _PAD for word in words]
        lefts = [0, *accumulate(widths)]
        widest, top = max(widest, lefts[-1], len(look.name) * _LETTER), row * _ROW
        parts.append(Markup('<text x="0" y="{}" class="tick">{}</text>').format(top + 12, label(look.name, 200)))
        # Attention that is spread evenly is to look pale, so the scale never ends below twice the even share.
        most = max(*look.shares, 2 / len(look.shares)) if look.shares else 0.0
        for word, left, width, share in zip(words, lefts, widths, look.shares, strict=False):
            parts.append(_word(word, (left, top + _NAME, width), share, most))
    told = f"How much of its attention a system gives to each word of {len(looks)} utterances."
    return svg(title, told, _ROW * len(looks), parts, str(widest + 4))


def _word(word: str, place: tuple[int, int, int], share: float, most: float) -> Markup:
    left, top, width = place
    fill, ink = heat(share, most)
    middle = left + width / 2
    return Markup(
        '<rect x="{}" y="{}" width="{}" height="{}" rx="3" fill="{}"/>'
        '<text x="{}" y="{}" text-anchor="middle" fill="{}" class="{}">{}</text>'
        '<text x="{}" y="{}" text-anchor="middle" font-size="11" class="tick">{}</text>'
    ).format(
        *(left + 1, top, width - 2, _WORD, fill),
        *(middle, top + 17, ink, "on-dark" if ink == "#ffffff" else "on-light", word),
        *(middle, top + _WORD + 13, typeset(f"{share:.2f}")),
    )

"""Where a system looks in utterances that it gets wrong, as in the paper's Figure 4, and how that is drawn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate, islice
from typing import NamedTuple

from markupsafe import Markup

from unswayed.base import Inputs, Json
from unswayed.measure import flips
from unswayed.papers.nature.tables import OPERATORS
from unswayed.report import columns_of, label, typeset
from unswayed.report.charts import heat, svg
from unswayed.run import Run
from unswayed.systems import System

_SHOWN = ("EOS Filler", "Syn. Adj.", "Speako")  # of which the paper shows examples
_EACH = 2


def looks(run: Run, system: System, name: str) -> list[Json]:
    """A few originals that are wrong, and a few that became wrong by being altered; none without attention."""
    if not hasattr(system, "attention"):
        return []
    return [*islice(_wrong_originals(run, system, name), _EACH), *_became_wrong(run, system, name)]


def _wrong_originals(run: Run, system: System, name: str) -> Iterator[Json]:
    for example, clean, _ in run.items():
        if clean.ok and clean.value != example.gold:
            line = _line(system, "original", example.inputs)
            if line:
                yield {"title": f"{name}, original, wrong: {_mistake(example.gold, clean.value)}", "lines": [line]}


def _became_wrong(run: Run, system: System, name: str) -> Iterator[Json]:
    labels = {operator: label for label, operator in OPERATORS.items() if label in _SHOWN}
    seen: Counter[str] = Counter()
    for flip in flips(run, "end_to_end"):
        label = labels.get(flip.variant.source)
        if label is None or seen[label] == _EACH or not flip.right_before or flip.right_after:
            continue
        pair = (("original", flip.example.inputs), ("altered", flip.variant.inputs))
        lines = [line for line in (_line(system, *said) for said in pair) if line]
        if lines:
            seen[label] += 1
            told = _mistake(flip.variant.gold, flip.varied.value)
            yield {"title": f"{name}, {label}, right before and wrong after: {told}", "lines": lines}


def _mistake(gold: Json, said: Json) -> str:
    same = gold["intent"] == said["intent"]
    return f"{gold['intent']}, its slots are wrong" if same else f"{gold['intent']} taken for {said['intent']}"


def _line(system: System, name: str, inputs: Inputs) -> Json:
    """The tokens with the attention that each gets: from the intent, or on average from all tokens."""
    found = system.attention(inputs)  # type: ignore[attr-defined]
    if found is None:
        return None
    rows: Sequence[Sequence[float]] = found.weights
    shares = [sum(column) / len(rows) for column in zip(*rows, strict=True)]
    return {"name": name, "tokens": list(found.tokens), "shares": shares}


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

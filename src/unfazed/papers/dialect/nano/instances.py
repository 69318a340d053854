"""What NANO learns from: sentences that do or do not belong to a tag, and candidates with scores, as input texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from unfazed.core import DataError, Stream, UsageError
from unfazed.papers.dialect.nano.config import Format
from unfazed.papers.dialect.nano.corpus import Rating, Sentence

ANY = "any"  # the region of a tag that names a language alone: pt-any


class Instance(NamedTuple):
    """An input text and the number that it should give."""

    text: str
    target: float


class Tags:
    """The tags of a corpus, from which wrong ones are drawn."""

    def __init__(self, sentences: Sequence[Sentence]) -> None:
        self.dialects = sorted({s.dialect for s in sentences if s.dialect != s.language})
        self.languages = sorted({f"{s.language}-{ANY}" for s in sentences})
        if len(self.dialects) < 2 and len(self.languages) < 2:
            raise UsageError("Acceptability needs sentences of two languages or two dialects; this corpus has one.")

    def instance(self, sentence: Sentence, rng: Stream, dialects: float, positive: float) -> Instance:
        """The sentence with a right or a wrong tag. Where its kind has no wrong one, the other kind is taken."""
        by_dialect = rng.random() * (1 + dialects) < dialects
        belongs = rng.random() < positive
        kinds = [(sentence.dialect, self.dialects), (f"{sentence.language}-{ANY}", self.languages)]
        if not by_dialect:
            kinds.reverse()
        if dialects == 0:
            kinds = kinds[:1]
        for right, known in kinds:
            wrong = [tag for tag in known if tag != right]
            if right in known and (belongs or wrong):
                tag = right if belongs else rng.choice(wrong)
                return Instance(acceptability(sentence.text, tag), float(belongs))
        right = f"{sentence.language}-{ANY}"
        return Instance(acceptability(sentence.text, right), 1.0)


def acceptability(text: str, tag: str) -> str:
    return f"candidate: {text} language: {tag}"


def judged(rating: Rating, form: Format, tag: str | None = None) -> str:
    """The input of a rating in one of the three formats. The tag is the language's unless a dialect's is given."""
    parts = [f"candidate: {rating.candidate}"]
    if form in ("reference", "both"):
        parts.append(f"reference: {_there(rating.reference, 'reference', form)}")
    if form in ("source", "both"):
        parts.append(f"source: {_there(rating.source, 'source', form)}")
    parts.append(f"language: {tag or f'{rating.language}-{ANY}'}")
    return " ".join(parts)


def _there(text: str, what: str, form: Format) -> str:
    if not text:
        raise DataError(f"the format {form!r} needs a {what} for every candidate, and one has none.", "ratings")
    return text

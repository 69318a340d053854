"""Pairs of texts that people compared, and the pairs of a run's answers that they could compare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from unswayed.base.errors import DataError
from unswayed.base.ids import content_id
from unswayed.storage.judgements import Judgement, read_judgements

KIND = "same_meaning"


class ComparedPair(NamedTuple):
    """Two texts, what people said of them, and where the pair comes from."""

    reference: str
    answer: str
    question: str
    source: str
    ratings: dict[str, float]

    def same(self, threshold: float) -> bool:
        """What people say together: the mean of their ratings reaches the threshold."""
        return sum(self.ratings.values()) / len(self.ratings) >= threshold


class _Asked(msgspec.Struct):
    a: str
    b: str
    question: str = ""


class _Rated(msgspec.Struct):
    similarity: float


def read_pairs(path: str | Path) -> list[ComparedPair]:
    """The pairs that people compared, each with the answers that count."""
    found: dict[tuple[str, str, str], ComparedPair] = {}
    judgements = read_judgements(path, KIND, _by_hand, asked=_Asked, answer=_Rated)
    for n, one in enumerate(judgements):
        if not one.counted:
            continue
        asked = msgspec.convert(one.asked, _Asked)
        new = ComparedPair(asked.a, asked.b, asked.question, str(one.origin.get("source", "")), {})
        pair = found.setdefault((asked.a, asked.b, asked.question), new)
        pair.ratings[one.person or f"row {n}"] = float(one.answer["similarity"])
    if not found:
        raise DataError("there is no answer that counts in it." if judgements else "there is no answer in it.", path)
    return list(found.values())


def _by_hand(row: Mapping[str, Any]) -> Judgement:
    """The record of an answer that a user wrote by hand."""
    texts = [_text(row, names) for names in (("reference", "original", "a"), ("answer", "paraphrase", "b"))]
    asked = dict(zip("ab", texts, strict=True)) | {"question": str(row.get("question") or "")}
    person, origin = str(row.get("person") or ""), {"source": str(row.get("source") or "")}
    item = content_id(asked) if person else ""
    return Judgement(
        person=person, kind=KIND, item=item, asked=asked, answer={"similarity": _similarity(row)}, origin=origin
    )  # fmt: skip


def _text(row: Mapping[str, Any], names: Sequence[str]) -> str:
    found = next((row[name] for name in names if isinstance(row.get(name), str)), None)
    if found is None:
        raise DataError(f"there is no {names[0]!r} in this row.")
    return str(found)


def _similarity(row: Mapping[str, Any]) -> float:
    if row.get("same") not in (None, ""):
        said = str(row["same"]).strip().casefold()
        if said not in ("true", "yes", "1", "1.0", "false", "no", "0", "0.0"):
            raise DataError(f"same must be true or false, not {said!r:.40}.")
        return 100.0 if said in ("true", "yes", "1", "1.0") else 0.0
    try:
        value = float(row["similarity"])
    except (KeyError, TypeError, ValueError):
        raise DataError(
            f"same must be true or false, or similarity a number, not {row.get('similarity')!r:.40}."
        ) from None
    if not 0 <= value <= 100:
        raise DataError(f"similarity must be from 0 to 100, not {value:g}.")
    return value

"""What people said of paraphrases: the mean of their 0 to 100 for the meaning, and whether most find it grammatical."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from unswayed.base import DataError
from unswayed.papers.parte.filters import Rating, Ratings
from unswayed.papers.parte.mturk import is_mturk, read_mturk
from unswayed.storage import Judgement, read_judgements

_YES, _NO = ("true", "1", "yes", "1.0"), ("false", "0", "no", "0.0")


class _RatedPair(msgspec.Struct):
    a: str
    b: str


class _Answer(msgspec.Struct):
    similarity: float
    grammatical: bool


def read_ratings(path: str | Path) -> Ratings:
    """The ratings of each pair by the people whose answers count.

    The file is what `unswayed collect export` wrote for a `same_meaning` study, JSON lines or CSV with `original`,
    `paraphrase`, `similarity` and, if it was asked, `grammatical`, or the results of P̂aRTE's tasks on Mechanical Turk.
    """
    ratings: dict[tuple[str, str], list[tuple[float, bool]]] = {}
    for pair, rating in read_mturk(Path(path)) if is_mturk(Path(path)) else _judged(path):
        ratings.setdefault(pair, []).append(rating)
    if not ratings:
        raise DataError("there is no rating that counts in it.", path)
    return {
        pair: Rating(sum(s for s, _ in given) / len(given), 2 * sum(g for _, g in given) > len(given))
        for pair, given in ratings.items()
    }


def _judged(path: str | Path) -> Iterator[tuple[tuple[str, str], tuple[float, bool]]]:
    judgements = read_judgements(path, "same_meaning", _by_hand, asked=_RatedPair, answer=_Answer)
    if not judgements:
        raise DataError("there is no rating in it.", path)
    for judgement in judgements:
        if judgement.counted:
            asked, answer = judgement.asked, judgement.answer
            yield (asked["a"], asked["b"]), (answer["similarity"], answer["grammatical"])


def _by_hand(row: Mapping[str, Any]) -> Judgement:
    """The record of a rating that a user wrote by hand; nobody's name is known."""
    pair = {"a": _text(row, "original"), "b": _text(row, "paraphrase")}
    answer = {"similarity": _similarity(row), "grammatical": _grammar(row)}
    return Judgement(person="", kind="same_meaning", item="", asked=pair, answer=answer)


def _text(row: Mapping[str, Any], name: str) -> str:
    value = row.get(name)
    if not isinstance(value, str):
        raise DataError(f"there is no {name!r} in this row.")
    return value


def _similarity(row: Mapping[str, Any]) -> float:
    try:
        value = float(row["similarity"])
    except (KeyError, TypeError, ValueError):
        raise DataError(f"similarity must be a number, not {row.get('similarity')!r:.40}.") from None
    if not 0 <= value <= 100:
        raise DataError(f"similarity must be from 0 to 100, not {value:g}.")
    return value


def _grammar(row: Mapping[str, Any]) -> bool:
    value = str(row.get("grammatical", True)).lower()
    if value not in (*_YES, *_NO):
        raise DataError(f"grammatical must be true or false, not {value!r:.40}.")
    return value in _YES

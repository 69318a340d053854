"""READIN's scores: CMRC 2018's, accuracy by class, and Spider's exact set match."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from functools import lru_cache
from typing import Any, ClassVar

import msgspec

from unswayed.base import Json, Task, canonical
from unswayed.papers.readin.sql_compare import Rule, same
from unswayed.papers.readin.sql_parser import SqlQuery, Unparseable, parse, words_of
from unswayed.score import Accuracy, MeanScorer, label_among, texts_of

# The script also lists the ellipsis, but as two characters in one, which never equal a single one: it stays.
_DROPPED = str.maketrans("", "", "-:_*^/\\~`+=，。：？！“”；’《》·、「」（）－～『』")
_HAN_OR_RUN = re.compile(r"[\u4e00-\u9fa5]|[^\u4e00-\u9fa5]+")


def bare(text: str) -> str:
    """The answer in lower case, without spaces around it and without the punctuation that does not count."""
    return text.lower().strip().translate(_DROPPED)


def units(text: str) -> list[str]:
    """A Chinese character is a unit of its own, other text is split into words."""
    return [word for part in _HAN_OR_RUN.findall(bare(text)) for word in words_of(part)]


class CmrcF1(MeanScorer):
    """The F1 of the longest shared stretch of characters and words, with the gold answer that gives the most."""

    name = "cmrc_f1"

    def key(self, value: Json, task: Task) -> Hashable:
        return texts_of(value)

    def item(self, output: Json, gold: Json, task: Task) -> float:
        said = texts_of(output) or ()
        if len(said) != 1:
            return 0.0
        words = units(said[0])
        return max((_f1(words, units(text)) for text in texts_of(gold) or ()), default=0.0)


def _f1(said: Sequence[str], gold: Sequence[str]) -> float:
    shared = _longest_shared(said, gold)
    return 2 * shared / (len(said) + len(gold)) if shared else 0.0


def _longest_shared(a: Sequence[str], b: Sequence[str]) -> int:
    """The length of the longest stretch that stands in both."""
    longest, before = 0, [0] * (len(b) + 1)
    for x in a:
        here = [0]
        here += [before[j] + 1 if x == y else 0 for j, y in enumerate(b)]
        longest, before = max(longest, max(here)), here
    return longest


class CmrcExactMatch(MeanScorer):
    """The answer is one of the gold answers, whatever their capitals and the punctuation that CMRC2018 drops."""

    name = "cmrc_exact_match"

    def key(self, value: Json, task: Task) -> Hashable:
        texts = texts_of(value)
        return None if texts is None else tuple(map(bare, texts))

    def item(self, output: Json, gold: Json, task: Task) -> float:
        said = texts_of(output) or ()
        return float(len(said) == 1 and bare(said[0]) in {bare(text) for text in texts_of(gold) or ()})


class CmrcExactMatchRaw(CmrcExactMatch):
    """The answer is one of the gold answers as they are written, capitals and punctuation too, as READIN compares."""

    name = "cmrc_exact_match_raw"

    def key(self, value: Json, task: Task) -> Hashable:
        return texts_of(value)

    def item(self, output: Json, gold: Json, task: Task) -> float:
        said = texts_of(output) or ()
        return float(len(said) == 1 and said[0] in (texts_of(gold) or ()))


class PositiveAccuracy(Accuracy):
    """The share of items with gold 1, true, yes or positive whose label is right."""

    name = "positive_accuracy"

    def gold_key(self, gold: Json, task: Task) -> Hashable:
        return label_among(("1", "true", "yes", "positive"), gold, task)


class NegativeAccuracy(Accuracy):
    """The share of items with gold 0, false, no or negative whose label is right."""

    name = "negative_accuracy"

    def gold_key(self, gold: Json, task: Task) -> Hashable:
        return label_among(("0", "false", "no", "negative"), gold, task)


class SqlMatch(MeanScorer):
    """Equal to Spider's official scorer: values and DISTINCT do not count; what can't be read is an empty query."""

    name = "sql_match"
    rule: ClassVar[Rule] = "current"

    def key(self, value: Json, task: Task) -> Hashable:
        if isinstance(value, str):
            return value
        return canonical(value) if _gold(value) else None

    def item(self, output: Json, gold: Json, task: Task) -> float:
        if not _gold(gold):
            return 0.0
        schema = canonical(gold["schema"])
        true = _parsed(gold["sql"], schema)
        said = _parsed(output, schema) if isinstance(output, str) else SqlQuery()
        return float(true != SqlQuery() and same(said, true, _schema(schema)["keys"], self.rule))


def _gold(value: Json) -> bool:
    return isinstance(value, dict) and isinstance(value.get("sql"), str) and isinstance(value.get("schema"), dict)


@lru_cache(maxsize=1 << 12)
def _parsed(sql: str, schema: bytes) -> SqlQuery:
    try:
        return parse(sql, _schema(schema)["tables"])
    except Unparseable:
        return SqlQuery()


@lru_cache(maxsize=256)
def _schema(schema: bytes) -> dict[str, Any]:
    decoded: dict[str, Any] = msgspec.json.decode(schema)
    return decoded


class SqlMatchFirst(SqlMatch):
    """As sql_match, but FROM is compared only where gold joins tables, so a wrong single table goes unseen."""

    name = "sql_match_first"
    rule = "first"

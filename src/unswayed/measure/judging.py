"""How far a judge, or another rule for when two answers are the same, agrees with people who compared them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from unswayed.base.errors import DataError, StoredFileError, UsageError, option
from unswayed.base.ids import content_id, decode
from unswayed.base.task import task_named
from unswayed.base.values import Estimate
from unswayed.measure.definitions import estimate_of
from unswayed.score import Comparing
from unswayed.stats import Array, Observations, Ratio, Resampling, Statistic, ratio, sign
from unswayed.stats.agreement import krippendorff_alpha
from unswayed.storage.files import write_atomically, write_json_lines
from unswayed.storage.judgements import Judgement, read_judgements
from unswayed.storage.untrusted_files import read_bounded

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
    texts = []
    for names in (("reference", "original", "a"), ("answer", "paraphrase", "b")):
        found = next((row[name] for name in names if isinstance(row.get(name), str)), None)
        if found is None:
            raise DataError(f"there is no {names[0]!r} in this row.")
        texts.append(str(found))
    if row.get("same") not in (None, ""):
        said = str(row["same"]).strip().casefold()
        if said not in ("true", "yes", "1", "1.0", "false", "no", "0", "0.0"):
            raise DataError(f"same must be true or false, not {said!r:.40}.")
        similarity = 100.0 if said in ("true", "yes", "1", "1.0") else 0.0
    else:
        try:
            similarity = float(row["similarity"])
        except (KeyError, TypeError, ValueError):
            raise DataError(
                f"same must be true or false, or similarity a number, not {row.get('similarity')!r:.40}."
            ) from None
        if not 0 <= similarity <= 100:
            raise DataError(f"similarity must be from 0 to 100, not {similarity:g}.")
    asked = dict(zip("ab", texts, strict=True)) | {"question": str(row.get("question") or "")}
    person, origin = str(row.get("person") or ""), {"source": str(row.get("source") or "")}
    item = content_id(asked) if person else ""
    return Judgement(
        person=person, kind=KIND, item=item, asked=asked, answer={"similarity": similarity}, origin=origin
    )  # fmt: skip


VERSION = 1
THRESHOLD = 75.0  # of 100, from which on a person finds that two texts mean the same
ALL = "all"


class Agreement(msgspec.Struct, frozen=True):
    """How far a judge and people agree on some pairs.

    `share` is of the pairs on which the judge says what people say together, `kappa` the same beyond chance. `one` is
    of the single answers of people that the judge agrees with, `people` of the pairs of answers in which two people
    agree, and `alpha` Krippendorff's alpha of people's verdicts. `too_same` counts pairs that only the judge finds the
    same, `too_different` those that only people do. `swapped` is the share of verdicts that change if the two texts
    change places; None if that was not asked.
    """

    pairs: int
    share: Estimate
    kappa: Estimate
    one: Estimate
    people: Estimate
    alpha: Estimate
    too_same: int
    too_different: int
    swapped: Estimate | None = None


class JudgeAgreement(msgspec.Struct, frozen=True):
    """How far a rule agrees with people: on all pairs, and by what made the second text of a pair.

    `rule` identifies the judge with its rubric. `unjudged` pairs are those on which it said neither yes nor no.
    """

    equivalent: str
    rubric: str
    rule: str
    threshold: float
    persons: int
    pairs: int
    unjudged: int
    same: float  # the share of pairs that people find the same
    by: dict[str, Agreement]
    used: dict[str, float] = {}

    @property
    def whole(self) -> Agreement:
        return self.by[ALL]

    def rows(self) -> list[dict[str, object]]:
        """A row for all pairs, and for each source if there are several."""
        shown = self.by if len(self.by) > 2 else {ALL: self.whole}
        return [
            {"pairs of": name, "pairs": a.pairs, "agreement": a.share, "kappa": a.kappa, "with one person": a.one,
             "people with each other": a.people, "people's alpha": a.alpha,
             "only judge: same": a.too_same, "only people: same": a.too_different,
             **({"changes if swapped": a.swapped} if a.swapped is not None else {})}
            for name, a in shown.items()
        ]  # fmt: skip

    def sentence(self) -> str:
        """What a report says of it."""
        found, among = self.whole.share, self.whole.people
        if found.value is None:
            return f"The judge answered none of the {self.pairs:,} pairs that people compared."
        between = f" [{found.low:.0%}, {found.high:.0%}]" if found.low is not None and found.high is not None else ""
        told = f"The judge agrees with people in {found.value:.0%}{between} of {self.whole.pairs:,} pairs"
        kappa = self.whole.kappa.value
        told += "" if kappa is None else f" (kappa {kappa:.2f})"
        told += "." if among.value is None else f"; two people agree with each other in {among.value:.0%}."
        turned = self.whole.swapped
        if turned is not None and turned.value is not None:
            told += f" If the two answers change places, {turned.value:.0%} of its verdicts change."
        return told if not self.unjudged else f"{told} On {self.unjudged:,} more it said neither yes nor no."


def judge_agreement(
    people: str | Path, equivalent: str, rubric: str | None = None, threshold: float = THRESHOLD, level: float = 0.95,
    store: str | Path | None = None, pairs_to: str | Path | None = None, swap: bool = False,
) -> JudgeAgreement:  # fmt: skip
    """How far the rule `equivalent`, such as `judge:my:judge`, agrees with people.

    `people` is what `unswayed collect export` wrote for a `same_meaning` study, or JSON lines or CSV with `reference`,
    `answer`, and `same` or `similarity`. A person finds two texts the same from `threshold` of 100 on. Intervals are
    by original text. The judge's answers are kept in the file `store`, so that it gets no pair twice. `pairs_to` is a
    file for the pairs with both verdicts, from which `vary` makes a suite for the judge itself. `swap` asks it about
    each pair the other way round, too.
    """
    settings = Resampling(level)
    if not 0 <= threshold <= 100:
        raise UsageError(f"{option('threshold')} must be from 0 to 100, not {threshold:g}.")
    pairs = read_pairs(people)
    with Comparing(task_named("generate"), "", equivalent, rubric).cache_judgements(store) as comparing:
        said = comparing.verdicts([(p.answer, p.reference, {"question": p.question}) for p in pairs])
        turned: list[bool | None] = [None] * len(pairs)
        if swap:
            turned = comparing.verdicts([(p.reference, p.answer, {"question": p.question}) for p in pairs])
        rule, used = comparing.rule, comparing.used()
    if rule is None:
        raise UsageError(f"{option('equivalent')} {equivalent} can't be told from another rule, so no result is kept.")
    if pairs_to is not None:
        told = {True: "yes", False: "no", None: ""}
        rows = []  # the pairs as data for a judge: people's verdict is the gold
        for pair, verdict in zip(pairs, said, strict=True):
            question = {"question": pair.question} if pair.question else {}
            row = {**question, "reference": pair.reference, "answer": pair.answer}
            rows.append({**row, "label": told[pair.same(threshold)], "judge": told[verdict], "source": pair.source})
        write_json_lines(Path(pairs_to), rows)
    texts = [[p.reference, p.answer, p.question, sorted(p.ratings.items())] for p in pairs]
    signed = {"judge": content_id(rule), "people": content_id(texts), "threshold": threshold}
    chosen = {ALL: list(range(len(pairs)))}
    for i, pair in enumerate(pairs):
        chosen.setdefault(pair.source or "unknown", []).append(i)
    return JudgeAgreement(
        equivalent=equivalent, rubric=comparing.rubric, rule=rule, threshold=threshold,
        persons=len({person for p in pairs for person in p.ratings}), pairs=len(pairs), unjudged=said.count(None),
        same=sum(p.same(threshold) for p in pairs) / len(pairs), used=used,
        by={
            name: _agreement(
                [(pairs[i], said[i]) for i in own], threshold, settings, {**signed, "of": name},
                [turned[i] for i in own] if swap else None,
            )
            for name, own in chosen.items()
        },
    )  # fmt: skip


class _Kappa(Statistic):
    """Cohen's kappa of sums of four kinds of pairs: both say the same, only the judge, only people, neither."""

    def __call__(self, sums: Array, n: int) -> Array:
        both, judge, people, neither = sums.T
        total = sums.sum(axis=1)
        by_chance = (both + judge) * (both + people) + (people + neither) * (judge + neither)
        return ratio((both + neither) * total - by_chance, total**2 - by_chance)


def _agreement(
    all_: Sequence[tuple[ComparedPair, bool | None]], threshold: float, settings: Resampling,
    signed: Mapping[str, object], turned: Sequence[bool | None] | None,
) -> Agreement:  # fmt: skip
    pairs = [pair for pair, _ in all_]
    judged = [(pair, verdict) for pair, verdict in all_ if verdict is not None]
    both = [(verdict, pair.same(threshold)) for pair, verdict in judged]
    kinds = [[j and p, j and not p, p and not j, not j and not p] for j, p in both]
    rows = np.array(kinds, dtype=float).reshape(-1, 4)
    own = [[(rating >= threshold) == verdict for rating in pair.ratings.values()] for pair, verdict in judged]
    two = [
        [(one >= threshold) == (other >= threshold) for one, other in combinations(pair.ratings.values(), 2)]
        for pair in pairs
    ]
    left = len(pairs) - len(judged)
    units = [pair.reference for pair, _ in judged]

    def found(
        name: str, values: Array, statistic: Statistic, of: Sequence[str], missing: int, least: float
    ) -> Estimate:
        signature = sign({"measure": f"judge.{name}:{VERSION}", **signed}, level=settings.level)
        rows = values
        if len(values):  # the rows of one original text together, since its pairs stand or fall together
            _, place = np.unique(np.array(of, dtype=object).astype(str), return_inverse=True)
            rows = np.zeros((int(place.max()) + 1, values.shape[1]))
            np.add.at(rows, place, values)
        column = Observations(np.arange(len(rows)), rows, statistic, np.array([missing]), (least, 1.0))
        estimate = estimate_of(column, signature, settings.level)
        if estimate.value is None or np.isnan(estimate.value):  # kappa has none where chance alone agrees on all
            return msgspec.structs.replace(estimate, value=None, low=None, high=None, n=0, over="pairs like these")
        return msgspec.structs.replace(estimate, n=len(values), over="pairs like these")

    shares = np.column_stack([rows[:, 0] + rows[:, 3], np.ones(len(rows))])
    verdicts = {str(n): {who: r >= threshold for who, r in p.ratings.items()} for n, p in enumerate(pairs)}
    several = [pair.reference for pair, answers in zip(pairs, two, strict=True) if answers]
    swapped = None
    if turned is not None:  # the share of verdicts that change with the order, of the pairs that were judged both ways
        asked = [
            (pair.reference, one != other)
            for (pair, one), other in zip(all_, turned, strict=True)
            if one is not None and other is not None
        ]
        changed = np.array([(change, 1) for _, change in asked], dtype=float).reshape(-1, 2)
        swapped = found("swapped", changed, Ratio(), [text for text, _ in asked], len(all_) - len(asked), 0.0)
    return Agreement(
        pairs=len(judged),
        share=found("share", shares, Ratio(), units, left, 0.0),
        kappa=found("kappa", rows, _Kappa(), units, left, -1.0),
        one=found("one", _counted(own), Ratio(), units, left, 0.0),
        people=found("people", _counted(two), Ratio(), several, 0, 0.0),
        alpha=krippendorff_alpha(verdicts, confidence=settings.level),
        too_same=int(rows[:, 1].sum()),
        too_different=int(rows[:, 2].sum()),
        swapped=swapped,
    )


def _counted(answers: Sequence[Sequence[bool]]) -> Array:
    """For each pair that has any: how many answers agree, and how many there are."""
    return np.array([(sum(one), len(one)) for one in answers if one], dtype=float).reshape(-1, 2)


def save_agreement(found: JudgeAgreement, to: str | Path) -> None:
    write_atomically(Path(to), msgspec.json.format(msgspec.json.encode(found), indent=1) + b"\n")


def cited(file: str | None, comparing: Comparing) -> JudgeAgreement | None:
    """The agreement in a file that `unswayed measure judge -o` wrote; raises if it is another judge's or rubric's."""
    if file is None:
        return None
    try:
        found = decode(read_bounded(Path(file)), JudgeAgreement)
    except OSError as error:
        raise UsageError(f"{option('agreement')} {file}: the file can't be read ({error.strerror}).") from error
    except msgspec.DecodeError as error:
        raise StoredFileError(f"{file} was not written by `unswayed measure judge -o`: {error}.") from error
    if found.rule != comparing.rule:
        raise UsageError(
            f"{option('agreement')} {file} is of {found.equivalent}, and this run is compared by "
            f"{comparing.equivalent or 'no judge'}: the judge or its rubric differs. Measure this judge with "
            f"`unswayed measure judge`."
        )
    return found

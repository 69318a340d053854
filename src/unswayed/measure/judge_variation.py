"""A judge under variation: how many of its verdicts change with order, length, layout, politeness, typos and rubric."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec
import numpy as np

from unswayed.base.errors import DataError, NothingEvaluated, UsageError, option
from unswayed.base.ids import content_id
from unswayed.base.language import identify
from unswayed.base.task import task_named
from unswayed.base.text import figure, p_value
from unswayed.base.values import Estimate
from unswayed.measure.judging import ComparedPair, read_pairs
from unswayed.run.texts import vary_texts
from unswayed.score import Comparing
from unswayed.stats import Array, correct, mean_interval, numbers_of, sign, sign_flip_p
from unswayed.storage.untrusted_files import read_json_lines
from unswayed.systems.template import Template

VERSION = 1
AGAIN = "asked again"
_LONGER = "I hope this helps. Please let me know if you have any other question about it."
_POLITE = "Thank you very much for your question! Sure, here you are:"
_OPENING = "Please read the following carefully, and then do what it asks."
_WORDS = {"compare": "look at", "same": "equal", "reply": "respond", "answer": "response", "question": "query",
          "does": "would", "whether": "if", "choose": "select", "says": "states", "give": "provide"}  # fmt: skip


class VariedJudge(msgspec.Struct, frozen=True):
    """What one change of the input does to a judge.

    `changed` is the share of verdicts that are another one, `more_yes` how much more often it finds two answers the
    same, and `p` is corrected (Holm) that more change than if the judge is asked again. `agreement` is with people.
    """

    changed: Estimate
    more_yes: float
    p: float | None
    agreement: float | None = None
    example: dict[str, str] = {}


class JudgeVariation(msgspec.Struct, frozen=True):
    """A judge's verdicts on the same pairs, said differently. `skipped` says which changes were not made, and why."""

    equivalent: str
    pairs: int
    by: dict[str, VariedJudge]
    skipped: dict[str, str] = {}

    def rows(self) -> list[dict[str, object]]:
        people = any(one.agreement is not None for one in self.by.values())
        return [
            {"change": name, "pairs": one.changed.n, "verdicts that change": figure(one.changed),
             "yes, more often by": f"{one.more_yes:+.3f}", "p": "" if one.p is None else p_value(one.p),
             **({"agreement with people": one.agreement} if people else {})}
            for name, one in self.by.items()
        ]  # fmt: skip

    def sentences(self) -> list[str]:
        again = self.by[AGAIN].changed.value or 0.0
        moved = {name: one for name, one in self.by.items() if one.p is not None and one.p < 0.05}
        said = [f"Asked again, the judge changes {again:.0%} of {self.pairs:,} verdicts."]
        if moved:
            named = ", ".join(f"{name} {one.changed.value or 0:.0%}" for name, one in moved.items())
            said.append(f"More than that change with {named}.")
        else:
            said.append("No change of the input is shown to change more than that.")
        return said + [f"{name} was not tried: {why}." for name, why in self.skipped.items()]


class _PlainPair(msgspec.Struct):
    reference: str
    answer: str
    question: str = ""


Saying = Callable[[Sequence[ComparedPair]], list[tuple[str, str]]]  # the answer and the reference of each


def judge_variation(
    pairs: str | Path, equivalent: str, rubric: str | None = None, threshold: float = 75.0, level: float = 0.95,
    store: str | Path | None = None, seed: int = 0,
) -> JudgeVariation:  # fmt: skip
    """Asks the judge `equivalent` about each pair as it is, once more, and said differently in each way.

    `pairs` is what `judge_agreement` takes, or JSON lines with `reference` and `answer` alone. The judge's answers are
    kept in the file `store`, but for those to the same pair asked again.
    """
    try:
        given = read_pairs(pairs)
    except DataError:
        rows = list(read_json_lines(Path(pairs), _PlainPair))
        given = [ComparedPair(row.reference, row.answer, row.question, "", {}) for _, row in rows]
        if not given:
            raise
    skipped: dict[str, str] = {}
    changes = _changes(given, seed, skipped)
    judged: dict[str, list[bool | None]] = {}

    def verdicts(texts: Sequence[tuple[str, str]], rubric: str | None, kept: str | Path | None) -> list[bool | None]:
        with Comparing(task_named("generate"), "", equivalent, rubric).cache_judgements(kept) as comparing:
            if comparing.rule is None or not equivalent.startswith("judge:"):
                raise UsageError(f"{option('vary')} is for a judge, as in {option('equivalent')} judge:SYSTEM.")
            asked = [(*pair, {"question": p.question}) for pair, p in zip(texts, given, strict=True)]
            return comparing.verdicts(asked)

    with tempfile.TemporaryDirectory() as folder:
        plain = [(pair.answer, pair.reference) for pair in given]
        before = verdicts(plain, rubric, store)
        judged[AGAIN] = verdicts(plain, rubric, None)
        texts = {name: change(given) for name, change in changes.items()}
        for name, said in texts.items():
            judged[name] = verdicts(said, rubric, store)
        other = Path(folder) / "rubric.txt"
        other.write_text(_reworded(Template.read(rubric).text if rubric else _default_rubric()), encoding="utf-8")
        judged["rubric wording"] = verdicts(plain, str(other), store)
    found: dict[str, VariedJudge] = {}
    changed = {name: _changed(before, after) for name, after in judged.items()}
    raw: dict[str, float] = {}
    for name, one in changed.items():
        both = ~np.isnan(one) & ~np.isnan(changed[AGAIN])
        if name != AGAIN and both.any():
            raw[name] = sign_flip_p((one - changed[AGAIN])[both])
    corrected = dict(zip(raw, correct(list(raw.values()), "holm"), strict=True))
    for name, after in judged.items():
        known = ~np.isnan(changed[name])
        if not known.any():
            raise NothingEvaluated("The judge said neither yes nor no about any pair.")
        own = changed[name][known]
        units = numbers_of(own, clusters=np.unique([p.reference for p in given], return_inverse=True)[1][known])
        low, high = mean_interval(units, level=level)
        signed = sign({"measure": f"judge.varied:{VERSION}", "change": name, "level": level, "seed": seed,
                       "pairs": content_id([[p.reference, p.answer, p.question] for p in given])})  # fmt: skip
        estimate = Estimate(float(own.mean()), low, high, int(known.sum()), int((~known).sum()), signed,
                            over="pairs like these")  # fmt: skip
        yes = [(bool(b), bool(a)) for b, a in zip(before, after, strict=True) if b is not None and a is not None]
        rated = [(a, p) for a, p in zip(after, given, strict=True) if a is not None and p.ratings]
        agreement = float(np.mean([a == p.same(threshold) for a, p in rated])) if rated else None
        example: dict[str, str] = {}
        if name in texts and (moved := np.flatnonzero(changed[name] == 1)).size:
            at = int(moved[0])
            example = {"before": plain[at][0], "after": texts[name][at][0], "reference": plain[at][1]}
        more = float(np.mean([a - b for b, a in yes]))
        found[name] = VariedJudge(estimate, more, corrected.get(name), agreement, example)
    return JudgeVariation(equivalent, len(given), found, skipped)


def _changed(before: Sequence[bool | None], after: Sequence[bool | None]) -> Array:
    """1 where a verdict is another one, 0 where it is the same; not a number if one of the two is no verdict."""
    pairs = zip(before, after, strict=True)
    return np.array([float("nan") if a is None or b is None else float(a != b) for a, b in pairs], dtype=np.float64)


def _changes(pairs: Sequence[ComparedPair], seed: int, skipped: dict[str, str]) -> dict[str, Saying]:
    """The ways to say pairs differently. Those that add words are for English."""

    def of_answer(change: Callable[[str], str]) -> Saying:
        return lambda given: [(change(pair.answer), pair.reference) for pair in given]

    def typed(given: Sequence[ComparedPair]) -> list[tuple[str, str]]:
        answers = [pair.answer for pair in given]
        ids = [content_id([pair.reference, pair.answer]) for pair in given]
        plan: Mapping[str, Mapping[str, str]] = {"vary": {"keep_facts": "yes"}}
        texts = vary_texts(answers, "keyboard/adjacent", ids=ids, seed=seed, language=language, plan=plan)
        return [(text, pair.reference) for text, pair in zip(texts, given, strict=True)]

    language = identify([text for pair in pairs for text in (pair.answer, pair.reference)], rows=False).language
    made: dict[str, Saying] = {
        "order": lambda given: [(pair.reference, pair.answer) for pair in given],
        "layout": of_answer(lambda text: f"**Answer**\n\n- {text}"),
    }
    if language == "en":
        made["length"] = of_answer(lambda text: f"{text} {_LONGER}")
        made["politeness"] = of_answer(lambda text: f"{_POLITE} {text}")
    else:
        skipped["length and politeness"] = "their words are English, and the answers are not"
    if language == "und":
        skipped["typos"] = "the language of the answers is not clear"
    else:
        made["typos"] = typed
    return made


def _reworded(rubric: str) -> str:
    """The rubric with an opening sentence, and other words outside its fields."""
    parts = re.split(r"(\{\w+\})", rubric)
    for at in range(0, len(parts), 2):
        for old, new in _WORDS.items():
            parts[at] = re.sub(rf"\b{old}\b", new, parts[at])
            parts[at] = re.sub(rf"\b{old.capitalize()}\b", new.capitalize(), parts[at])
    return f"{_OPENING}\n\n{''.join(parts)}"


def _default_rubric() -> str:
    from unswayed.systems.template import PROMPTS

    return (PROMPTS / "judge.txt").read_text(encoding="utf-8")

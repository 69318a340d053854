"""SD-QA, as DialectBench published it: questions read aloud by speakers of varieties, and what GPT models answered."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from unswayed.base import DataError, Json, UsageError, option_name, task_named
from unswayed.measure import Results, mixed_effects
from unswayed.papers.findings.pictures import Dot, dots
from unswayed.papers.findings.published import Key, Published, measure, records_of, stem_of
from unswayed.report import NONE, Figure, Picture, Printed, Row, Section, SectionTable
from unswayed.score import scorer_named

FOLDER = "dialectbench_sdqa"
_SYSTEMS = {"gpt4": "GPT-4", "gpt35": "GPT-3.5"}
_REFERENCES = {"english": "usa"}  # what varieties of a language are compared with, unless chosen otherwise
_NAMES = {
    "aus": "Australia", "gbr": "Great Britain", "ind_n": "North India", "ind_s": "South India", "irl": "Ireland",
    "kenya": "Kenya", "nga": "Nigeria", "nzl": "New Zealand", "phl": "Philippines", "usa": "US", "zaf": "South Africa",
    "bhr": "Bahrain", "dza": "Algeria", "egy": "Egypt", "jor": "Jordan", "mar": "Morocco", "sau": "Saudi Arabia",
    "tun": "Tunisia", "dhaka": "Dhaka", "ind": "India", "tanzania": "Tanzania",
}  # fmt: skip
_CODES = {"english": "en", "arabic": "ar", "bengali": "bn", "korean": "ko", "swahili": "sw"}
_NO_ANSWER = "no answer"
_LONGER = 3  # words more than the answer to the reference: a longer answer
_NEAR_END, _CUT_SHARE = 0.85, 0.12  # answers are cut if so many are nearly as long as the longest (99th percentile),
_BEYOND_SHARE = 0.05  # and so many right answers are longer;
_BEGUN_SHARE, _FEW = 0.08, 50  # or if so many end inside a word of a right answer, and there are some to tell by
NOT_SHOWN = (
    "What this does not show: speaker, recogniser and style of answer vary, and dialect words do not. One person may "
    "have read many of a variety's questions, so intervals are for these recordings as these recognisers wrote them."
)


class _SpokenRow(msgspec.Struct):
    """A row of the publisher's table."""

    language: str
    variety: str
    question: int | str
    response: str | None
    true_labels: list[str]


class Spoken(NamedTuple):
    """The answers in one language: by system, and of each of them by variety and question."""

    language: str
    golds: dict[str, list[str]]
    answers: dict[str, dict[str, dict[str, str]]]
    repeated: int  # rows that say again what another row says
    empty: int


def read_spoken(folder: Path) -> list[Spoken]:
    """Every language of the systems' files in a folder."""
    files = sorted([*folder.glob("*.jsonl"), *folder.glob("*.jsonl.gz")])
    if not files:
        raise DataError("there are no systems' answers here: files that end in .jsonl or .jsonl.gz.", folder)
    found: dict[str, Spoken] = {}
    for file in files:
        system = _SYSTEMS.get(stem_of(file), stem_of(file))
        for number, row in records_of(file, _SpokenRow):
            one = found.setdefault(row.language, Spoken(row.language, {}, {}, 0, 0))
            question, variety = str(row.question), row.variety.removeprefix(f"{row.language}-")
            if not row.true_labels:
                raise DataError("there is no right answer in true_labels.", file, number)
            if one.golds.setdefault(question, row.true_labels) != row.true_labels:
                what = f"question {question} has other right answers than in an earlier row."
                raise DataError(f"{what} Questions must have the same number in all varieties.", file, number)
            own = one.answers.setdefault(system, {}).setdefault(variety, {})
            response = row.response or ""
            if question in own:
                if own[question] != response:
                    what = f"there is another answer of {variety} to question {question} before."
                    raise DataError(f"{what} Keep one of them.", file, number)
                found[row.language] = one._replace(repeated=one.repeated + 1)
                continue
            own[question] = response
            found[row.language] = found[row.language]._replace(empty=found[row.language].empty + (not response.strip()))
    return [found[language] for language in sorted(found)]


def references(chosen: Sequence[str]) -> dict[str, str]:
    """`LANGUAGE=VARIETY` of an option, above those that are known."""
    wanted = dict(_REFERENCES)
    for text in chosen:
        language, equals, variety = text.partition("=")
        if not equals or not variety:
            raise UsageError(f"{option_name('reference')} must be LANGUAGE=VARIETY, such as english=usa, not {text!r}.")
        wanted[language] = variety
    return wanted


def findings(folder: Path, to: Path, chosen: Sequence[str]) -> Printed:
    """A section and a picture for each language; the first sentence of English at the top of the page."""
    spoken, wanted = read_spoken(folder), references(chosen)
    if unknown := set(wanted) - {one.language for one in spoken} - set(_REFERENCES):
        raise UsageError(f"{option_name('reference')}: there is no language {sorted(unknown)[0]!r} in {folder}.")
    value: dict[str, Json] = {}
    sections, first = list[Section](), list[str]()
    for one in spoken:
        entry, section = _language(one, wanted.get(one.language, ""), to)
        value[one.language] = entry
        sections.append(section)
        if one.language == "english" and not entry["cut"]:
            first += entry["sentences"][:2]
    return Printed(value, sections, first)


def _language(one: Spoken, reference: str, to: Path) -> tuple[dict[str, Any], Section]:
    varieties = sorted({variety for by in one.answers.values() for variety in by})
    if reference and reference not in varieties:
        raise UsageError(
            f"{option_name('reference')}: {one.language} has no variety {reference!r}; it has {', '.join(varieties)}."
        )
    lengths = np.array([len(text) for by in one.answers.values() for own in by.values() for text in own.values()])
    longest = float(np.percentile(lengths, 99))
    begun = [
        _begun(text, one.golds[q]) for by in one.answers.values() for own in by.values() for q, text in own.items()
    ]
    near = float((lengths >= _NEAR_END * longest).mean())
    beyond = float(np.mean([max(map(len, golds)) > longest for golds in one.golds.values()]))  # right ones, even longer
    ended = (near > _CUT_SHARE and beyond > _BEYOND_SHARE) or float(np.mean(begun)) > _BEGUN_SHARE
    cut = len(lengths) >= _FEW and ended
    assumed = not reference and len(varieties) > 2  # of two, either may be the reference
    reference = reference or varieties[0]
    title = f"{one.language.capitalize()}: spoken questions, F1 of answers by the speaker's variety"
    told = [] if one.repeated == 0 else [f"{one.repeated:,} rows say again what another row says; they count once."]
    told += [f"{one.empty:,} answers are empty; they count as answers."] if one.empty else []
    texts: dict[Key, dict[str, str] | None] = {}
    answers: dict[str, dict[Key, Json]] = {system: {} for system in one.answers}
    for question in one.golds:
        for variety in (reference, *(v for v in varieties if v != reference)):
            key = question, "" if variety == reference else variety
            for system, by in one.answers.items():
                if question in by.get(variety, {}):
                    texts[key] = None
                    answers[system][key] = by[variety][question]
    published = Published(
        f"sdqa-{one.language}", "qa", _CODES.get(one.language, "und"), "speaker", reference, one.golds, texts, answers
    )
    results = measure(published, to, "f1")
    entry: dict[str, Any] = {"reference": reference, "cut": cut, "systems": {}}
    rows: list[Row] = []
    picture: dict[str, dict[str, Dot]] = defaultdict(dict)
    sentences = []
    for system, by in one.answers.items():
        if system not in results:
            told.append(f"{system} has no answer that could be compared with those to {_name(reference)}.")
            continue
        found = _system(one, by, reference, results[system], cut or assumed)
        entry["systems"][system] = found
        for variety, own in found["varieties"].items():
            rows.append(_row(system, variety, own, reference))
            if own["drop"] is not None:
                low, high = (None if end is None else -100 * end for end in (own["together_high"], own["together_low"]))
                picture[_name(variety)][system] = Dot(-100 * own["drop"], low, high, bool(own["verdict"]))
        sentences.append(_sentence(system, found, reference, cut, assumed))
    entry["sentences"] = sentences
    if cut:
        told.append(
            f"Most likely these answers were cut off: {near:.0%} are nearly as long as the longest ({longest:.0f} "
            f"characters), and {np.mean(begun):.1%} end inside a word of a right answer. So no verdict is given."
        )
    elif assumed:
        told.append(
            f"No reference variety is known for {one.language}: {_name(reference)} is the first by name, so that no "
            f"verdict is given. Choose one with {option_name('reference')} {one.language}=VARIETY."
        )
    note = (
        "F1 is SQuAD's, the best over the right answers. A loss is that variety's F1 minus the reference's, in points, "
        "over the same questions, with its own 95% interval (paired t). 'All together' holds for all varieties at "
        "once, and p is from a paired sign-flip test, corrected by Holm's method. 'As no answer' is the part of the "
        "loss from questions that only one of the two was refused with 'No answer'; 'as longer' that from answers of "
        f"at least {_LONGER} words more. 'As printed' is what DialectBench calls F1 for language models: exact match "
        "but for capitals."
    )
    picture = dict(sorted(picture.items(), key=lambda item: min(dot.value for dot in item[1].values())))
    drawn = [Picture(title, dots(picture, title, "points of F1 lost or won", _name(reference)))] if picture else []
    command = f"unswayed study findings --data FOLDER --only sdqa (DialectBench, Apache-2.0: FOLDER/{FOLDER})"
    return entry, Section(title, [*sentences, note, *told, NOT_SHOWN, command], [SectionTable(title, rows)], drawn)


def _system(
    one: Spoken, by: Mapping[str, Mapping[str, str]], reference: str, results: Results, silent: bool
) -> dict[str, Any]:
    """What one system does with each variety; `silent` leaves out verdicts."""
    scorer, task = scorer_named("f1"), task_named("qa")
    scored: dict[str, dict[str, float]] = {}
    for variety, texts in by.items():
        golds = [task.own_gold(one.golds[question]) for question in texts]
        rows = scorer.stats(list(texts.values()), golds, task)
        scored[variety] = dict(zip(texts, rows[:, 0].tolist(), strict=True))
    base, said = scored[reference], by[reference]
    varieties: dict[str, dict[str, Any]] = {}
    against = results.against.sets if results.against else {}
    for variety in sorted(scored, key=lambda v: (v != reference, v)):
        own, texts = scored[variety], by[variety]
        entry: dict[str, Any] = {
            "n": len(own),
            "f1": float(np.mean(list(own.values()))),
            "contained": _share(lambda q, t: any(_inside(gold, t) for gold in one.golds[q]), texts),
            "printed": _share(lambda q, t: any(t.strip().lower() == g.strip().lower() for g in one.golds[q]), texts),
            "drop": None,
            "verdict": "",
        }
        varieties[variety] = entry
        shared = [question for question in own if question in base]
        if variety == reference or variety not in against:
            continue
        loss = {question: base[question] - own[question] for question in shared}
        entry["drop"], entry["p_holm"] = float(np.mean(list(loss.values()))), against[variety].p_holm
        entry["together_low"], entry["together_high"] = against[variety].low, against[variety].high
        entry["verdict"] = None if silent else against[variety].verdict
        entry["low"] = entry["high"] = None
        if len(shared) > 1 and len(set(loss.values())) > 1:
            paired = mixed_effects(
                [*shared, *shared],
                [reference] * len(shared) + [variety] * len(shared),
                [*(base[q] for q in shared), *(own[q] for q in shared)],
                reference,
            ).coefficients[variety]
            entry["low"], entry["high"] = (None if end is None else -end for end in (paired.high, paired.low))
        silences = {q: tuple(_plain(t) == _NO_ANSWER for t in (said[q], texts[q])) for q in shared}
        longer = [q for q in shared if not any(silences[q]) and len(texts[q].split()) - len(said[q].split()) >= _LONGER]
        entry["as_no_answer"] = sum(loss[q] for q in shared if len(set(silences[q])) == 2) / len(shared)
        entry["as_longer"] = sum(loss[q] for q in longer) / len(shared)
    others = [entry["f1"] for variety, entry in varieties.items() if variety != reference]
    worst = results.worst
    return {
        "f1": varieties[reference]["f1"],
        "others": float(np.mean(others)) if others else None,
        "worst": {"of": results.worst_of, "value": worst.value, "low": worst.low, "high": worst.high},
        "varieties": varieties,
    }


def _begun(text: str, golds: Sequence[str]) -> bool:
    """Does an answer stop inside a word of a right answer?"""
    text = text.strip()
    return any(gold.startswith(text) and gold[len(text) : len(text) + 1].isalnum() for gold in golds) and bool(text)


def _inside(gold: str, text: str) -> bool:
    """Do the words of a right answer stand in an answer?"""
    return bool(_plain(gold)) and f" {_plain(gold)} " in f" {_plain(text)} "


def _plain(text: str) -> str:
    return " ".join(re.sub(r"[^\w\s]", "", text.casefold()).split())


def _share(right: Any, texts: Mapping[str, str]) -> float:
    return float(np.mean([right(question, text) for question, text in texts.items()]))


def _name(variety: str) -> str:
    return _NAMES.get(variety, variety)


def _points(value: float | None, sign: bool = True) -> str:
    if value is None:
        return NONE
    return f"{100 * value:+.1f}".replace("-", "−") if sign else f"{100 * value:.1f}"


def _row(system: str, variety: str, own: Mapping[str, Any], reference: str) -> Row:
    row: dict[str, Any] = {"system": system, "speakers": _name(variety), "questions": own["n"]}
    row["F1"] = Figure(f"{100 * own['f1']:.1f}")
    if own["drop"] is None:
        row |= {f"against {_name(reference)}": NONE, "all together": NONE, "p (Holm)": NONE, "verdict": ""}
    else:
        span = "" if own["low"] is None else f" [{_points(-own['high'])}, {_points(-own['low'])}]"
        row[f"against {_name(reference)}"] = Figure(_points(-own["drop"]) + span)
        together = own["together_low"], own["together_high"]
        shown = NONE if None in together else f"{_points(-together[1])} to {_points(-together[0])}"
        p = None if own["verdict"] is None else own["p_holm"]
        row |= {
            "all together": Figure(shown),
            "p (Holm)": Figure(NONE if p is None else "<0.001" if p < 0.001 else f"{p:.3f}"),
            "verdict": "no verdict" if own["verdict"] is None else own["verdict"] or "may be chance",
            "as no answer": Figure(_points(-own["as_no_answer"])),
            "as longer": Figure(_points(-own["as_longer"])),
        }
    row |= {"contained": Figure(_points(own["contained"], False)), "as printed": Figure(_points(own["printed"], False))}
    return row


def _sentence(system: str, found: Mapping[str, Any], reference: str, cut: bool, assumed: bool) -> str:
    """What may be quoted: who is answered worse, and who is not shown to be."""
    tested = {v: own for v, own in found["varieties"].items() if own["drop"] is not None}
    n = max(own["n"] for own in found["varieties"].values())
    start = f"{system}, the same {n:,} questions: F1 {found['f1']:.3f} for speakers from {_name(reference)}"
    if found["others"] is not None:
        start += f", {found['others']:.3f} on average over {len(found['varieties']) - 1} other varieties"
    if cut or assumed or not tested:
        return f"{start}."
    worse = sorted((v for v in tested if tested[v]["verdict"] == "worse"), key=lambda v: -tested[v]["drop"])
    better = [v for v in tested if tested[v]["verdict"] == "better"]

    def shown(variety: str) -> str:
        own = tested[variety]
        return (
            f"{_name(variety)} ({_points(-own['drop'])} [{_points(own['low'], False)}, {_points(own['high'], False)}])"
        )

    parts = [f"Lower for {', '.join(map(shown, worse))}" if worse else "For no variety is it shown to be lower"]
    if better:
        parts.append(f"higher for {', '.join(_name(v) for v in better)}")
    if rest := Counter(own["verdict"] for own in tested.values())[""]:
        unsure = [_name(v) for v in tested if not tested[v]["verdict"]]
        parts.append(f"not shown for {', '.join(unsure) if worse or better else f'any of the {rest}'}")
    return f"{start}. {'; '.join(parts)}."

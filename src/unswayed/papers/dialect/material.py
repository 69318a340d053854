"""What the dialect study compares: a reference, the same in another dialect, a control, and machine translation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from unswayed.base import DataError, NothingEvaluated, Seeds, UsageError, apply_edits, option_name
from unswayed.collect import study_template
from unswayed.papers.dialect.corpora import BASES, SENTENCES, pairs_file, read_pairs, read_segments
from unswayed.papers.dialect.translation import Translate, read_translations
from unswayed.storage import Judgement, read_judgements, write_atomically, write_json_lines
from unswayed.vary import Operator, OperatorSpec, Text, make_operator

OTHERS = {"pt": "pt-PT", "zh": "zh-TW_Simplified"}  # as in the paper, Taiwan's Mandarin is read in simplified script
WAYS = ("replace", "insert", "delete")
QUESTION = "Does the edit change the meaning?"
CHANGED, SAME = "yes", "no"


class Trial(NamedTuple):
    """One example. `mt` is None where nothing was translated; `judged` is what people compare to judge the control."""

    id: str
    group: str
    source: str | None
    reference: str
    dialect: str
    perturbed: str
    mt: str | None
    note: str
    judged: tuple[str, str]


class Trials(NamedTuple):
    """A language's examples, how many controls of each kind are possible, and why some are left out."""

    language: str
    tags: tuple[str, str]
    used: list[Trial]
    controls: list[Trial]  # those that people are to judge, also where they refused the control
    counts: dict[str, int]
    excluded: Counter[str]
    texts: dict[str, list[str]]  # for each example: its English, that with its control, and both by machine
    translated: bool  # are the controls translations of changed English, as in the paper?


class ControlVerdict(NamedTuple):
    """What people found of a control, and its text, None where it is not known."""

    changed: bool
    text: str | None


class TrialFiles(NamedTuple):
    """By language, translations in files or a system that translates; and what people judged, by a control's id."""

    mt: Mapping[str, Path] = {}
    perturbed: Mapping[str, Path] = {}
    judged: Mapping[str, ControlVerdict] = {}
    translators: Mapping[str, Translate] = {}


def read_trials(data: Path, given: TrialFiles, seed: int = 0, split: str = "test") -> list[Trials]:
    """All languages that the folder holds: FRMT's, and English where there are Indian-English pairs."""
    found = []
    pairs, folder = data_folders(data, split)
    if pairs is not None:
        found.append(_english(pairs, given, seed))
    if folder is not None:
        languages = dict.fromkeys(segment.language for segment in read_segments(folder, split))
        found += [_portuguese_or_chinese(folder, split, language, given, seed) for language in languages]
    if not found:
        raise NothingEvaluated(
            f"{data} holds neither FRMT's {split} files nor {SENTENCES}. Fetch them: `unswayed data pull frmt`, "
            f"`unswayed data pull indian_english`."
        )
    here = {trials.language for trials in found if trials.language != "en"}
    unknown = {*given.mt, *given.perturbed, *given.translators} - here
    if unknown:
        raise UsageError(
            f"There are translations for {', '.join(sorted(unknown))}, for which {data} holds no English segments."
        )
    if given.judged and not any(trial.id in given.judged for trials in found for trial in trials.controls):
        raise UsageError(
            f"The judgements are of other items, such as {next(iter(given.judged))!r}, not of these controls."
        )
    return found


def data_folders(data: Path, split: str) -> tuple[Path | None, Path | None]:
    """The folder or one in it that holds pairs of English, and the one that holds FRMT's files."""
    places = [data, *(sorted(place for place in data.iterdir() if place.is_dir()) if data.is_dir() else ())]
    pairs = next((place for place in places if pairs_file(place).is_file()), None)
    return pairs, next((place for place in places if next(read_segments(place, split), None)), None)


def _english(folder: Path, given: TrialFiles, seed: int) -> Trials:
    pairs = [(f"en/{p.line}", p.feature, None, p.standard, p.dialect) for p in read_pairs(folder)]
    return _trials("en", ("en-US", "en-IN"), pairs, given, seed)


def _portuguese_or_chinese(folder: Path, split: str, language: str, given: TrialFiles, seed: int) -> Trials:
    base, other = BASES.get(language), OTHERS.get(language)
    if base is None or other is None:
        raise UsageError(f"FRMT has no two dialects of {language!r}; it has {', '.join(BASES)}.")
    rows = []
    for segment in read_segments(folder, split, [language]):
        absent = next((tag for tag in (base, other) if tag not in segment.texts), None)
        if absent:
            raise DataError(f"there is no {absent} for {segment.id}.", folder)
        rows.append((segment.id, segment.bucket, segment.source, segment.texts[base], segment.texts[other]))
    return _trials(language, (base, other.partition("_")[0]), rows, given, seed)


_Row = tuple[str, str, str | None, str, str]


def _trials(language: str, tags: tuple[str, str], rows: Sequence[_Row], given: TrialFiles, seed: int) -> Trials:
    english = [_controls("en", id, source, seed) if source else {} for id, _, source, _, _ in rows]
    texts = {
        "source": [source or reference for _, _, source, reference, _ in rows],
        "perturbed": [next(iter(ways.values()), ("", ""))[0] for ways in english],
    }
    mt, made = _translated(language, texts, given)
    translated = language in given.perturbed or language in given.translators
    counts: Counter[str] = Counter({"all": len(rows)})
    excluded: Counter[str] = Counter()
    used: list[Trial] = []
    controls: list[Trial] = []
    for row, ways, machine, perturbed in zip(rows, english, mt, made, strict=True):
        id, group, source, reference, dialect = row
        if not translated:
            ways = _controls(language, id, reference, seed)
        counts.update(way for way in WAYS if way in ways)
        control, note = next(iter(ways.values()), ("", "translated"))
        judged = (source or reference, control) if translated and control else (reference, perturbed or control)
        text = perturbed if translated else control
        why = _left_out(reference, dialect, text, machine if translated else None)
        if why:
            excluded[why] += 1
            continue
        controls.append(Trial(id, group, source, reference, dialect, text or "", machine, note, judged))
        verdict = given.judged.get(id, ControlVerdict(True, judged[1]))
        if verdict.text not in (None, judged[1]):
            raise UsageError(
                f"People judged another control of {id} than today's: {verdict.text!r:.80}, not {judged[1]!r:.80}. Use "
                f"the data and {option_name('seed')} of the study that they took part in."
            )
        if not verdict.changed:
            excluded["people say the control means the same"] += 1
        else:
            used.append(controls[-1])
    counts["used"] = len(used)
    if language in given.translators:
        texts |= {"mt": [text or "" for text in mt], "mt.perturbed": [text or "" for text in made]}
    return Trials(language, tags, used, controls, dict(counts), excluded, texts, translated)


def _left_out(reference: str, dialect: str, control: str | None, machine: str | None) -> str:
    """Why an example can't be used, if it can't."""
    if dialect == reference:
        return "the dialects do not differ"
    if not control:
        return "no control"
    return "the translation of the control is that of the original" if control == machine else ""


def _translated(
    language: str, texts: Mapping[str, list[str]], given: TrialFiles
) -> tuple[list[str | None], list[str | None]]:
    """The English and the changed English in the language, by file or by system."""
    if translate := given.translators.get(language):
        both = translate([*texts["source"], *texts["perturbed"]])
        return both[: len(texts["source"])], both[len(texts["source"]) :]
    mt, perturbed = (read_translations(files.get(language), len(texts["source"])) for files in given[:2])
    return mt, perturbed


def _controls(language: str, id: str, text: str, seed: int) -> dict[str, tuple[str, str]]:
    """The text under each control that is possible, with what was done, in the order in which they are preferred."""
    found = {}
    for way in WAYS:
        operator, seeds = _operator(way, seed)
        change = operator.change(Text(text, language), seeds.stream(id, 0, "text"))
        if change is not None:
            found[way] = (apply_edits(text, change.edits), change.note)
    return found


@cache
def _operator(way: str, seed: int) -> tuple[Operator, Seeds]:
    operator = make_operator(OperatorSpec(f"meaning/{way}"))
    return operator, Seeds(seed, operator.name, operator.version)


class _Choice(msgspec.Struct):
    choice: list[str]


def read_judged(file: Path | None) -> dict[str, ControlVerdict]:
    """By a control's id: does a majority of the people whose answers count find that it changes the meaning?

    The file is what `unswayed collect export` wrote for the study in `judge.toml`, or lines of {"id": ID, "changed":
    false}.
    """
    votes: dict[str, list[bool]] = {}
    texts: dict[str, Any] = {}
    for judgement in read_judgements(file, "choice", _by_hand, answer=_Choice) if file else ():
        if judgement.counted:
            votes.setdefault(judgement.item, []).append(judgement.answer["choice"] == [CHANGED])
            texts[judgement.item] = judgement.asked.get("text")
    return {id: ControlVerdict(2 * sum(changed) > len(changed), texts[id]) for id, changed in votes.items()}


def _by_hand(row: Mapping[str, Any]) -> Judgement:
    """The record of an answer that a user wrote by hand; nobody's name is known."""
    id, changed = row.get("id"), row.get("changed")
    if not isinstance(id, str) or not isinstance(changed, bool):
        raise DataError('a line must be {"id": ID, "changed": true or false}.')
    answer = {"choice": [CHANGED if changed else SAME]}
    return Judgement(person="", kind="choice", item=id, asked={}, answer=answer)


def write_material(to: Path, all_trials: Sequence[Trials]) -> None:
    """What people are to judge, with a key that they must not see, and the English with its translations by machine.

    A control that is a translation is judged by its English, before and after.

    A study in the collection app, `judge.toml`, is written once, since users edit it.
    """
    items: list[dict[str, str]] = []
    keys: list[dict[str, str]] = []
    for trials in all_trials:
        for trial in trials.controls:
            original, text = trial.judged
            items.append({"id": trial.id, "group": trials.language, "original": original, "text": text})
            keys.append({"id": trial.id, "note": trial.note})
        for name, texts in trials.texts.items():
            if trials.language != "en":
                write_atomically(to / f"{trials.language}.{name}.txt", _text(texts))
    write_json_lines(to / "judge.jsonl", items)
    write_json_lines(to / "judge.key.jsonl", keys)
    study = to / "judge.toml"
    if not study.exists():
        languages = [trials.language for trials in all_trials if trials.controls]
        options = {"question": QUESTION, "answers": [CHANGED, SAME]}
        write_atomically(study, study_template(study, "choice", "judge.jsonl", languages, options=options).encode())


def _text(lines: Sequence[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def groups_of(trials: Trials) -> Iterator[str]:
    return iter(dict.fromkeys(trial.group for trial in trials.used))

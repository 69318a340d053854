"""NorSID: utterances that translators wrote in Norwegian dialects, with the outputs of systems of a shared task."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from unswayed.base import DataError, Json, UsageError, option_name, task_named
from unswayed.measure import Results
from unswayed.papers.findings.pictures import slopes
from unswayed.papers.findings.published import Key, Published, jackknifed, lines_of, measure, stem_of
from unswayed.report import NONE, Figure, Picture, Printed, Row, Section, SectionTable
from unswayed.score import scorer_named
from unswayed.stats import Array, Statistic, correct

FOLDER = "norsid"
_REFERENCE = "B"
_AREAS = {"B": "Bokmål", "N": "North", "T": "Trøndelag", "V": "West"}
_ORIGINS = {
    "1": "Tromsø", "2": "Tromsø", "3": "Trondheim", "4": "Trondheim", "5": "Sunndal", "6": "Ålesund", "7": "Haugesund",
    "8": "Stavanger", "9": "Stavanger", "10": "Bergen",
}  # fmt: skip
_SYSTEMS = {
    "mbert_en": "multilingual BERT", "nbbert_en": "NB-BERT", "nbbert_en_norsid_11epochs": "NB-BERT, fine-tuned",
    "sid1": "HiTZ 1",
}  # fmt: skip
_SURE = 0.05
_SLOTS, _INTENTS = "slot_f1_xsid", "intent_accuracy"
NOT_SHOWN = (
    "What this does not show: each dialect is one translator's, so that the dialect, the person and the way of "
    "translating can't be told apart. Intervals are for these translators and utterances like these, unless they say "
    "'translators like these'."
)


class Utterance(NamedTuple):
    """An utterance of a file in CoNLL's form, with its comments."""

    line: int
    words: list[str]
    tags: list[str]
    comments: dict[str, str]

    @property
    def intent(self) -> str:
        return self.comments.get("intent", "")


def read_sentences(file: Path) -> list[Utterance]:
    """The sentences of a file: comments `# name = value`, then number, word, intent and tag, separated by tabs."""
    found, begun = list[Utterance](), Utterance(1, [], [], {})
    for number, line in enumerate([*lines_of(file), ""], 1):
        if not line.strip():
            found += [begun] if begun.words else []
            begun = Utterance(number + 1, [], [], {})
        elif line.startswith("# "):
            name, equals, value = line[2:].partition("=")
            if equals:
                begun.comments[name.strip()] = value.strip()
        else:
            cells = line.split("\t")
            if len(cells) < 4:
                raise DataError(
                    f"this line has {len(cells)} columns of the 4 (number, word, intent, tag).", file, number
                )
            begun.words.append(cells[1])
            begun.tags.append(cells[3])
            begun.comments.setdefault("intent", cells[2])
    return found


def read_norsid(folder: Path) -> Published:
    """The gold file, which alone has ids `UTTERANCE/TRANSLATOR`, and the outputs of the other files."""
    files = sorted([*folder.glob("*.conll"), *folder.glob("*.conll.gz")])
    read = {file: read_sentences(file) for file in files}
    golds = [file for file, own in read.items() if own and all("/" in s.comments.get("id", "") for s in own)]
    golds = [file for file in golds if "test" in file.name] or golds[:1]
    if len(golds) != 1 or len(files) < 2:
        what = "there must be one file with ids and gold whose name has 'test', and others with systems' outputs"
        raise DataError(f"{what}: {', '.join(file.name for file in files) or 'there is no file'}.", folder)
    gold = read.pop(golds[0])
    texts: dict[Key, dict[str, str] | None] = {}
    right: dict[str, Json] = {}
    own: dict[Key, Json] = {}
    groups: dict[str, dict[str, str]] = {}
    keys = []
    for sentence in gold:
        id, _, translator = sentence.comments["id"].rpartition("/")
        area = sentence.comments.get("dialect", "")
        origin = _ORIGINS.get(translator, "")
        person = f"{_AREAS.get(area, area)} {translator}{f' ({origin})' if origin else ''}".strip()
        person = "" if translator == _REFERENCE else person
        if (id, person) in texts:
            raise DataError(f"the id {id}/{translator} comes twice.", golds[0], sentence.line)
        keys.append((id, person))
        texts[id, person] = {"text": " ".join(sentence.words)}
        own[id, person] = {"intent": sentence.intent, "slots": sentence.tags}
        if not person:
            right[id], groups[id] = own[id, person], {"intent": sentence.intent}
    if not right:
        raise DataError(
            f"no utterance has an id that ends in /{_REFERENCE}, which all others are compared with.", golds[0]
        )
    texts = {key: text for key, text in texts.items() if key[0] in right}
    answers = {
        _SYSTEMS.get(stem_of(file), stem_of(file)): _matched(file, said, gold, keys) for file, said in read.items()
    }
    return Published("norsid", "slu", "nb", "translator", "Bokmål", right, texts, answers, groups, own)


def _matched(file: Path, said: list[Utterance], gold: list[Utterance], keys: list[Key]) -> dict[Key, Json]:
    """The outputs by utterance and translator: by id where there are ids, else in the order of the gold."""
    places = {sentence.comments["id"]: place for place, sentence in enumerate(gold)}
    by_id = all("id" in one.comments for one in said)
    if not by_id and len(said) != len(gold):
        raise DataError(f"there are {len(said):,} utterances without ids, but {len(gold):,} with gold.", file)
    found: dict[Key, Json] = {}
    for n, one in enumerate(said):
        place = places.get(one.comments["id"]) if by_id else n
        if place is None:
            raise DataError(f"the id {one.comments['id']} is not in the gold.", file, one.line)
        if len(one.tags) != len(gold[place].tags):
            what = f"there are {len(one.tags)} tags, but the text has {len(gold[place].tags)} tokens."
            raise DataError(what, file, one.line)
        if keys[place] in found:
            raise DataError(f"the id {one.comments['id']} comes twice.", file, one.line)
        found[keys[place]] = {"intent": one.intent, "slots": one.tags}
    return found


def findings(folder: Path, to: Path) -> Printed:
    """Intents and slots by translator, and which system loses less."""
    published = read_norsid(folder)
    slots, intents = (measure(published, to, score) for score in (_SLOTS, _INTENTS))
    if not slots:
        raise UsageError(f"{option_name('data')}: no system of {folder} has outputs for Bokmål and a dialect.")
    value: dict[str, Any] = {}
    rows: list[Row] = []
    overall: list[dict[str, Any]] = []
    panels: dict[str, tuple[float, dict[str, tuple[str, float]]]] = {}
    for system in slots:
        entry: dict[str, Any] = {"all": _whole(published, system)}
        for what, results in (("slots", slots[system]), ("intents", intents[system])):
            entry[what] = _entry(results)
            rows += _rows(system, what, results)
        value[system] = entry
        one = entry["slots"]
        panels[system] = (
            100 * one["reference"],
            {p: (p.partition(" ")[0], 100 * own["score"]) for p, own in one["people"].items()},
        )
        like = entry["intents"]["like_these"]
        overall.append({
            "system": system,
            "slot F1, all": Figure(f"{entry['all']['slots']:.4f}"),
            "intents, all": Figure(f"{entry['all']['intents']:.4f}"),
            "slots lost": "",
            "intents lost": Figure(_points(*(entry["intents"][name] for name in ("drop", "low", "high")))),
            "intents lost, translators like these": Figure(_points(*like) if like else NONE),
        })  # fmt: skip
    losses = _losses(published, list(value))
    for system, sums in losses.items():  # over translators that weigh the same, whatever they wrote
        one = value[system]["slots"]
        one["drop"], one["low"], one["high"], _ = jackknifed(sums, _LostSlots())
    for row in overall:
        row["slots lost"] = Figure(_points(*(value[row["system"]]["slots"][name] for name in ("drop", "low", "high"))))
    pairs = _sturdier(losses)
    most = max(value, key=lambda name: value[name]["slots"]["worst"]["drop"])
    worst = value[most]["slots"]["worst"]
    steadiest = min(value, key=lambda name: value[name]["slots"]["drop"])
    said = [
        f"Norwegian dialects: slot F1 of {most} is {100 * value[most]['slots']['reference']:.1f} on Bokmål, "
        f"{_points(worst['drop'], worst['low'], worst['high'])} points with translator {worst['person']}. "
        f"{steadiest} loses least over all translators: "
        f"{_points(*(value[steadiest]['slots'][name] for name in ('drop', 'low', 'high')))} points."
    ]
    note = (
        "Slots are counted by the rule of xSID's own script, as the shared task printed them. A loss is the score on "
        "Bokmål minus the score on the dialects, in points, with a 95% interval over utterances; those of single "
        "translators are tested together (Holm)."
    )
    tables = [
        SectionTable("All outputs as the shared task counts them, and what dialects cost", overall),
        SectionTable("By translator", rows),
        SectionTable(
            "Which system is sturdier? Differences between losses of slot F1, paired, corrected (Holm)", pairs
        ),
    ]
    drawn = [Picture("Slot F1 from Bokmål to each translator", slopes(panels, "Slot F1", "Bokmål", "slot F1"))]
    command = f"unswayed study findings --data FOLDER --only norsid (NorSID, CC BY-SA 4.0: FOLDER/{FOLDER})"
    return Printed(value, [Section("Norwegian dialects", [*said, note, NOT_SHOWN, command], tables, drawn)], said)


def _whole(published: Published, system: str) -> dict[str, float]:
    """The scores over all of a system's outputs, Bokmål and dialects together."""
    answers = published.answers[system]
    keys = [key for key in published.texts if key in answers]
    outputs, golds = [answers[key] for key in keys], [published.own_golds[key] for key in keys]
    found = {}
    for what, name in (("slots", _SLOTS), ("intents", _INTENTS)):
        scorer = scorer_named(name)
        found[what] = float(scorer.aggregate(scorer.stats(outputs, golds, task_named("slu")).sum(axis=0)))
    return found


def _entry(results: Results) -> dict[str, Any]:
    against = results.against.sets if results.against else {}
    blocks = results.sets["operator"]
    people: dict[str, dict[str, Any]] = {
        name: {"score": blocks[name].average.value, "drop": one.drop.value, "low": one.drop.low, "high": one.drop.high,
               "together": [one.low, one.high], "p_holm": one.p_holm, "verdict": one.verdict, "n": one.drop.n}
        for name, one in against.items()
    }  # fmt: skip
    worst = max(people, key=lambda name: people[name]["drop"])
    sampled = results.people.measures.get("drop") if results.people else None
    like = sampled.like_these if sampled else None
    return {
        "reference": results.clean.value,
        "drop": results.drop.value,
        "low": results.drop.low,
        "high": results.drop.high,
        "people": people,
        "worst": {"person": worst, **people[worst]},
        "like_these": None if like is None else [like.value, like.low, like.high],
    }


def _points(value: float | None, low: float | None, high: float | None) -> str:
    """A loss as points won: `−6.4 [−7.8, −4.9]`."""
    if value is None:
        return NONE
    shown = [f"{-100 * v:+.1f}".replace("-", "−") for v in (value, high, low) if v is not None]
    return shown[0] if len(shown) < 3 else f"{shown[0]} [{shown[1]}, {shown[2]}]"


def _rows(system: str, what: str, results: Results) -> list[Row]:
    found = results.against.sets if results.against else {}
    return [
        {
            "system": system,
            "of": what,
            "translator": name,
            "score": Figure(f"{100 * (results.sets['operator'][name].average.value or 0):.1f}"),
            "against Bokmål": Figure(_points(one.drop.value, one.drop.low, one.drop.high)),
            "all together": Figure(_points(None if one.low is None else one.drop.value, one.low, one.high)),
            "p (Holm)": Figure(NONE if one.p_holm is None else "<0.001" if one.p_holm < 0.001 else f"{one.p_holm:.3f}"),
            "verdict": one.verdict or "may be chance",
            "utterances": one.drop.n,
        }
        for name, one in found.items()
    ]


def _losses(published: Published, systems: Iterable[str]) -> dict[str, Array]:
    """Of each system and utterance, what it adds to slots right, predicted and in gold: of Bokmål, then of each person.

    Only utterances count for which every system has all of the others' texts.
    """
    scorer, task = scorer_named(_SLOTS), task_named("slu")
    both = [key for key in published.texts if all(key in published.answers[name] for name in systems)]
    places = {id: n for n, id in enumerate(id for id, person in both if not person)}
    both = [key for key in both if key[0] in places]
    people = ["", *sorted({person for _, person in both if person})]
    found = {}
    for name in systems:
        rows = scorer.stats([published.answers[name][k] for k in both], [published.own_golds[k] for k in both], task)
        sums = np.zeros((len(places), len(people), rows.shape[1]))
        for (id, person), row in zip(both, rows, strict=True):
            sums[places[id], people.index(person)] = row
        found[name] = sums.reshape(len(places), -1)
    return found


class _LostSlots(Statistic):
    """The score on Bokmål minus the mean of the scores on each person's texts."""

    def __call__(self, sums: Array, n: int) -> Array:
        scores = scorer_named(_SLOTS).aggregate(sums.reshape(*sums.shape[:-1], -1, 3))
        lost: Array = scores[..., 0] - np.nanmean(scores[..., 1:], axis=-1)
        return lost


class _LostMore(Statistic):
    """How much more the first half of the sums loses than the second."""

    def __call__(self, sums: Array, n: int) -> Array:
        one, other = (_LostSlots()(half, n) for half in np.split(sums, 2, axis=-1))
        more: Array = one - other
        return more


def _sturdier(losses: Mapping[str, Array]) -> list[Row]:
    """Each two systems: whose slots suffer less."""
    pairs = list(combinations(losses, 2))
    made = [jackknifed(np.hstack([losses[a], losses[b]]), _LostMore()) for a, b in pairs]
    corrected = correct([p for *_, p in made])
    return [
        {
            "A": a,
            "B": b,
            "A minus B": Figure(_points(value, low, high)),
            "p (Holm)": Figure(NONE if p is None else "<0.001" if p < 0.001 else f"{p:.3f}"),
            "sturdier": (b if value > 0 else a) if p is not None and p <= _SURE else "may be chance",
        }
        for (a, b), (value, low, high, _), p in zip(pairs, made, corrected, strict=True)
    ]

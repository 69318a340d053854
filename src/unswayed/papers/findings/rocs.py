"""RoCS-MT: Reddit posts as people wrote them and normalised by hand, with the outputs of systems of WMT 2023."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from itertools import combinations
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from unswayed.base import DataError, Json, task_named
from unswayed.papers.findings.pictures import Dot, dots
from unswayed.papers.findings.published import Key, Published, jackknifed, lines_of, write_rows
from unswayed.report import NONE, Figure, Picture, Printed, Row, Section, SectionTable
from unswayed.score import Scorer, scorer_named
from unswayed.stats import Array, Statistic, binomial_tail, correct

FOLDER = "rocs_mt"
_RAW, _CLEAN = "raw", "normalised"
_LONG_WORDS = 8  # of a reference that nobody writes word for word by chance
_TIMES, _SURE = 3.0, 0.01  # a system copies if its share is so many times the others' middle one, and surely above it
_SAME_SHARE = 0.95  # of the outputs of two systems, from which on they are one system
_SYSTEMS = {"GPT4-5shot": "GPT-4"}
_LANGUAGES = {"cs": "Czech", "de": "German", "fr": "French", "ja": "Japanese", "ru": "Russian", "uk": "Ukrainian"}
NOT_SHOWN = (
    "What this does not show: references were written for the normalised text, by people who may have begun from a "
    "system's output; a system whose outputs copy them is flagged and not compared. Posts are in English and from one "
    "site; one person normalised them."
)


def read_outputs(folder: Path) -> tuple[Published, dict[str, int], int]:
    """Both versions of every sentence and what systems made of them; the empty outputs; and the documents."""
    sources = {}
    for kind, name in ((_CLEAN, "norm"), (_RAW, "raw")):
        found = sorted(folder.glob(f"*.src.{name}-manseg.*"))
        if len(found) != 1:
            raise DataError(f"there must be one file *.src.{name}-manseg.LANGUAGE, but there are {len(found)}.", folder)
        sources[kind] = [line.strip() for line in lines_of(found[0])]
    files = sorted(folder.glob("*.ref.*"))
    if len(files) != 1:
        raise DataError(f"there must be one file *.ref.LANGUAGE, but there are {len(files)}.", folder)
    language = re.sub(r"(\.gz|\.txt)+$", "", files[0].name).rpartition(".")[2]
    references = [line.strip() for line in lines_of(files[0])]
    if {len(references)} != {len(own) for own in sources.values()}:
        counts = ", ".join(f"{len(own):,} {kind}" for kind, own in sources.items())
        raise DataError(f"there are {len(references):,} references, but {counts} sentences.", files[0])
    answers: dict[str, dict[Key, Json]] = {}
    documents: list[str] = []
    for file in sorted(folder.glob("*.ids.txt*")):
        system = re.sub(rf"(\.[a-z]+-{re.escape(language)})?\.ids\.txt(\.gz)?$", "", file.name)
        said = lines_of(folder / file.name.replace(".ids.txt", ".txt"))
        ids = lines_of(file)
        if len(said) != len(ids):
            raise DataError(f"there are {len(said):,} outputs, but {len(ids):,} ids.", file)
        by_kind = {
            kind: [
                (id.partition("-")[2], text) for id, text in zip(ids, said, strict=True) if id.startswith(f"{code}-")
            ]
            for kind, code in ((_CLEAN, "nm"), (_RAW, "rm"))
        }
        for kind, own in by_kind.items():
            if len(own) != len(references):
                what = f"{len(own):,} outputs are of {kind} sentences, but there are {len(references):,} of these."
                raise DataError(f"{what} Ids begin with nm- (normalised) or rm- (raw).", file)
            here = [document for document, _ in own]
            documents = documents or here
            if here != documents:
                raise DataError("the ids name other documents than those of another system.", file)
        answers[_SYSTEMS.get(system, system)] = {
            (str(n), "" if kind == _CLEAN else _RAW): text.strip()
            for kind, own in by_kind.items()
            for n, (_, text) in enumerate(own)
        }
    if not answers:
        raise DataError("there is no system's output here: SYSTEM.ids.txt with SYSTEM.txt.", folder)
    golds: dict[str, Json] = {str(n): text for n, text in enumerate(references)}
    texts: dict[Key, dict[str, str] | None] = {}
    groups = {}
    for n, document in enumerate(documents):
        texts[str(n), ""] = {"source": sources[_CLEAN][n]}
        texts[str(n), _RAW] = {"source": sources[_RAW][n]}
        groups[str(n)] = {"document": document, "change": change_of(sources[_CLEAN][n], sources[_RAW][n])}
    empty = {name: sum(not text for (_, who), text in own.items() if who) for name, own in answers.items()}
    published = Published("rocs-mt", "translate", language, "writer", _CLEAN, golds, texts, answers, groups)
    return published, empty, len(set(documents))


def plain(text: str) -> str:
    """The text in small letters and without marks."""
    kept = "".join(" " if unicodedata.category(c)[0] in "PS" else c for c in text.lower())
    return " ".join(kept.split())


def change_of(clean: str, raw: str) -> str:
    """What a person's text differs in: nothing, case and marks, the spelling of words, or also how many there are."""
    if clean == raw:
        return "nothing"
    one, other = plain(clean).split(), plain(raw).split()
    if one == other:
        return "case and marks"
    if "".join(one) == "".join(other):
        return "spaces"
    return "spelling" if len(one) == len(other) else "words"


def copying(answers: Mapping[str, Mapping[Key, Json]], golds: Mapping[str, Json]) -> dict[str, dict[str, Any]]:
    """How often each system's outputs for normalised texts are a long reference, word for word; and which copy."""
    long = [id for id, gold in golds.items() if len(gold.split()) >= _LONG_WORDS]
    counts = {name: sum(own.get((id, "")) == golds[id] for id in long) for name, own in answers.items()}
    found: dict[str, dict[str, Any]] = {}
    tails = []
    for name, count in counts.items():
        others = [c for other, c in counts.items() if other != name]
        usual = max(median(others), 1) / max(len(long), 1) if others else 1.0
        tails.append(binomial_tail(count, len(long), min(usual, 1.0)) if long else 1.0)
        found[name] = {"same": count, "of": len(long), "usual": usual}
    for (name, one), p in zip(found.items(), correct(tails), strict=True):
        one["copies"] = p is not None and p <= _SURE and counts[name] >= _TIMES * one["usual"] * len(long)
    return found


def same_outputs(answers: Mapping[str, Mapping[Key, Json]]) -> list[tuple[str, str, float]]:
    """Pairs of systems with nearly all of their outputs the same, and the share."""
    found = []
    for a, b in combinations(answers, 2):
        shared = answers[a].keys() & answers[b].keys()
        share = sum(answers[a][key] == answers[b][key] for key in shared) / max(len(shared), 1)
        if share >= _SAME_SHARE:
            found.append((a, b, share))
    return found


def findings(folder: Path, to: Path) -> Printed:
    """BLEU and chrF of every system for both versions, with and without case and marks."""
    published, empty, documents = read_outputs(folder)
    write_rows(published, to)
    measured = _measured(published)
    copied, same = copying(published.answers, published.golds), same_outputs(published.answers)
    counts = Counter(sorted(group["change"] for group in published.groups.values()))
    value: dict[str, Any] = {}
    rows: list[Row] = []
    kinds: list[Row] = []
    picture: dict[str, dict[str, Dot]] = {}
    for system, entry in sorted(measured.items(), key=lambda one: one[1]["chrf"]["drop"]):
        entry |= {"empty": empty[system], **copied[system]}
        value[system] = entry
        chrf = entry["chrf"]
        rows.append({
            "system": f"{system} (copies the reference)" if entry["copies"] else system,
            "BLEU": Figure(f"{entry['bleu']['clean']:.1f} → {entry['bleu']['raw']:.1f}"),
            "chrF": Figure(f"{chrf['clean']:.1f} → {chrf['raw']:.1f}"),
            "chrF, raw minus normalised": Figure(_points(chrf)),
            "without case and marks": Figure(_points(entry["plain chrf"])),
            "empty for raw": empty[system],
            "is the reference": Figure(f"{entry['same']:,} of {entry['of']:,}"),
        })  # fmt: skip
        kinds.append({"system": system, **{kind: Figure(_points(entry["kinds"][kind])) for kind in counts}})
        if not entry["copies"]:
            low, high = (None if end is None else -end for end in (chrf["high"], chrf["low"]))
            picture[system] = {"chrF": Dot(-chrf["drop"], low, high, high is not None and high < 0)}
    fair = {name: one for name, one in value.items() if not one["copies"]}
    least, most = (f(fair or value, key=lambda name: value[name]["chrf"]["drop"]) for f in (min, max))
    into = _LANGUAGES.get(published.language, published.language)
    said = [
        f"Raw Reddit into {into}, {len(published.golds):,} sentences: chrF of {least} falls from "
        f"{value[least]['chrf']['clean']:.1f} to {value[least]['chrf']['raw']:.1f} "
        f"({_points(value[least]['chrf'])}), the least of {len(fair)} systems; {most} falls most "
        f"({_points(value[most]['chrf'])}). Without case and marks {least} still falls by "
        f"{value[least]['plain chrf']['drop']:.1f}."
    ]
    flagged = [name for name in value if value[name]["copies"]]
    notes = [
        f"{name}: {value[name]['same']:,} of {value[name]['of']:,} outputs for long normalised sentences are the "
        f"reference, word for word, where {value[name]['usual']:.1%} is usual. The references may derive from it."
        for name in flagged
    ]
    notes += [
        f"{a} and {b} give the same output to {share:.0%} of the texts: count them as one." for a, b, share in same
    ]
    notes += [
        f"{empty[name]:,} outputs of {name} for raw texts are empty; they count." for name in value if empty[name]
    ]
    how = (
        f"BLEU and chrF are sacreBLEU's, both against the same reference. Intervals are 95%, over {documents:,} "
        "documents. The kinds compare the two source texts word by word: the sentence differs in nothing, in case "
        "and marks, in spaces, in spelling (as many words), or in its words."
    )
    caption = f"chrF lost by what raw sentences differ in ({', '.join(f'{kind}: {n:,}' for kind, n in counts.items())})"
    tables = [SectionTable("Raw against normalised", rows), SectionTable(caption, kinds)]
    drawn = (
        [Picture("chrF, raw minus normalised", dots(picture, "RoCS-MT", "points of chrF", _CLEAN))] if picture else []
    )
    command = f"unswayed study findings --data FOLDER --only rocs (RoCS-MT, no licence stated: FOLDER/{FOLDER})"
    sections = [Section("Raw Reddit in translation", [*said, *notes, how, NOT_SHOWN, command], tables, drawn)]
    return Printed(value, sections, said)


class _LostScore(Statistic):
    """A score of the first half of the sums minus that of the second."""

    def __init__(self, scorer: Scorer) -> None:
        self._scorer = scorer

    def __call__(self, sums: Array, n: int) -> Array:
        clean, raw = (self._scorer.aggregate(half) for half in np.split(sums, 2, axis=-1))
        lost: Array = clean - raw
        return lost


def _measured(published: Published) -> dict[str, dict[str, Any]]:
    """BLEU and chrF of both versions and their difference, by system; chrF also by what the sources differ in."""
    task, ids = task_named(published.task), list(published.golds)
    documents = np.unique([published.groups[id]["document"] for id in ids], return_inverse=True)[1]
    change = np.array([published.groups[id]["change"] for id in ids])
    golds = [published.golds[id] for id in ids]
    found: dict[str, dict[str, Any]] = {}
    for name, score, changed in (("bleu", "bleu", str), ("chrf", "chrf", str), ("plain chrf", "chrf", plain)):
        scorer, right = scorer_named(score), [changed(gold) for gold in golds]
        drop = _LostScore(scorer)
        for system, answers in published.answers.items():
            sums = [scorer.stats([changed(answers[id, who]) for id in ids], right, task) for who in ("", _RAW)]
            rows = np.hstack(sums)
            one = found.setdefault(system, {"kinds": {}})
            one[name] = _entry(rows, documents, drop)
            one[name] |= {
                kind: float(scorer.aggregate(own.sum(axis=0))) for kind, own in zip(("clean", "raw"), sums, strict=True)
            }
            for kind in sorted(set(change)) if name == "chrf" else ():
                inside = change == kind
                one["kinds"][kind] = _entry(rows[inside], documents[inside], drop)
    return found


def _entry(rows: Array, documents: Any, drop: _LostScore) -> dict[str, Any]:
    _, place = np.unique(documents, return_inverse=True)
    sums = np.zeros((int(place.max()) + 1, rows.shape[1]))
    np.add.at(sums, place, rows)
    return dict(zip(("drop", "low", "high", "p"), jackknifed(sums, drop), strict=True))


def _points(found: Mapping[str, Any]) -> str:
    if found["drop"] is None:
        return NONE
    shown = [f"{-found[name]:+.1f}".replace("-", "−") for name in ("drop", "high", "low") if found[name] is not None]
    return shown[0] if len(shown) < 3 else f"{shown[0]} [{shown[1]}, {shown[2]}]"

"""Compares simulated noise with people's: what the judge tells, how the slips look, and the harm to systems.

Harm is accuracy and flips of systems under both kinds of noise, with intervals.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np

from unswayed.base.edits import apply
from unswayed.base.options import OperatorSpec
from unswayed.base.seeds import Seeds
from unswayed.base.values import Estimate, Inputs, Json
from unswayed.lab.realism import Aligned, read_column, read_versions
from unswayed.lab.realism.features import known_words, letter_looks
from unswayed.lab.realism.judge import Channel, RealismJudge, TextScript, keyboard_of, script_of
from unswayed.measure.files import distances
from unswayed.stats import Array, mean_interval, numbers_of
from unswayed.systems.system import Failed, System
from unswayed.vary.chinese_slips import KINDS, slips
from unswayed.vary.engine import make_operator
from unswayed.vary.operator import Text, Texts

_LEVEL = 0.95
_FOLDS = 5
_MIN_LABELLED = 2 * _FOLDS  # examples of a label, below which no classifier is trained
_FAILED = "\0failed"

Ask = Callable[[Sequence[Inputs]], list[str]]


class Files(NamedTuple):
    """Clean rows, each person's, and each draw's; they align."""

    clean: Aligned
    people: Sequence[Aligned]
    simulated: Sequence[Aligned]


def open_asker(system: str | System) -> Ask:
    """The answers of a system, by name or opened."""
    from unswayed.systems.opening import open_system

    opened = open_system(system)

    def ask(rows: Sequence[Inputs]) -> list[str]:
        answers: list[str] = []
        for at in range(0, len(rows), opened.batch_size):
            batch = opened.predict(rows[at : at + opened.batch_size])
            answers += [_FAILED if isinstance(answer, Failed) else str(answer) for answer in batch]
        return answers

    return ask


def measure_harm(ask: Ask, files: Files, by: Sequence[str] | None = None) -> list[dict[str, Any]]:
    """A row for all examples and one for each label: accuracy and flips in per cent, under both kinds of noise.

    `by` names the person or article of each row, over which intervals then are.
    """
    clean = files.clean
    before = ask(clean.rows)
    human, made = [ask(one.rows) for one in files.people], [ask(one.rows) for one in files.simulated]
    gold = [str(g) for g in clean.gold]
    labels = sorted({str(g) for g in clean.gold if g is not None})
    rows = []
    for label in (None, *labels) if 1 < len(labels) <= _MIN_LABELLED else (None,):
        places = np.array([i for i, g in enumerate(gold) if label is None or g == label])
        units = None if by is None else np.unique([by[i] for i in places], return_inverse=True)[1]
        row: dict[str, Any] = {"label": label or "all", "n": len(places)}
        if labels:
            right = [_share_wanted(answers, gold)[places] for answers in ([before], human, made)]
            row["accuracy"] = {"clean": _mean_in_percent(right[0], units), **_compare_both(right[1], right[2], units)}
        flips = [1 - _share_wanted(answers, before)[places] for answers in (human, made)]
        row["flips"] = _compare_both(flips[0], flips[1], units)
        rows.append(row)
    return rows


def _share_wanted(answers: Sequence[Sequence[str]], wanted: Sequence[str]) -> Array:
    """Of each row, the share of people or draws whose answer is the wanted one."""
    same: Array = np.mean([[a == w for a, w in zip(given, wanted, strict=True)] for given in answers], axis=0)
    return same


def _compare_both(human: Array, made: Array, units: Any) -> dict[str, Estimate]:
    return {
        "human": _mean_in_percent(human, units),
        "simulated": _mean_in_percent(made, units),
        "difference": _mean_in_percent(made - human, units, (-1.0, 1.0)),
    }


def _mean_in_percent(values: Array, units: Any, span: tuple[float, float] = (0.0, 1.0)) -> Estimate:
    """The mean in per cent, with its interval over rows, or over people or articles."""
    low, high = mean_interval(numbers_of(values, clusters=units), span, _LEVEL, "share" if span[0] == 0 else "contrast")
    ends = [None if end is None else 100 * end for end in (low, high)]
    return Estimate(100 * float(values.mean()), ends[0], ends[1], len(values), 0, "")


def built_in_systems(
    files: Files, script: TextScript, documents: Sequence[str] | None, seed: int
) -> dict[str, tuple[Ask, Files]]:
    """What needs no system: a classifier where rows have labels, else a retriever; and the files with their gold.

    The retriever looks for the document of each row or, without documents, for the clean text of the row itself.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer

    labels = Counter(str(g) for g in files.clean.gold if g is not None)
    if documents is None and len(labels) > 1 and min(labels.values()) >= _MIN_LABELLED:
        return {"classifier": (_train_classifier(files.clean, script, seed), files)}
    texts = [_join_texts(row) for row in files.clean.rows] if documents is None else documents
    places = {text: str(k) for k, text in enumerate(dict.fromkeys(texts))}
    gold = [places[text] for text in texts]
    clean = Aligned(files.clean.rows, gold, files.clean.ids)
    by = {"analyzer": "char", "ngram_range": (1, 2)} if script.name == "han" else {"token_pattern": r"(?u)\b\w+\b"}
    vectors = TfidfVectorizer(sublinear_tf=True, **by)
    known = vectors.fit_transform(list(places))

    def ask(rows: Sequence[Inputs]) -> list[str]:
        """The number of the document that shares the rarest words with each text, by TF-IDF."""
        alike = vectors.transform([_join_texts(row) for row in rows]) @ known.T
        return [str(k) for k in np.asarray(alike.argmax(axis=1)).ravel()]

    return {"retriever": (ask, files._replace(clean=clean))}


def _join_texts(row: Inputs) -> str:
    return " ".join(row.values())


def _train_classifier(clean: Aligned, script: TextScript, seed: int) -> Ask:
    """Logistic regression on stretches of letters, which answers a row from what it learnt of other clean rows."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    numbers: dict[str, int] = {}
    group = np.array([numbers.setdefault(_join_texts(row), len(numbers)) for row in clean.rows])
    rng = Seeds(seed, "measure/realism", 1).stream("classifier", 0).numpy()
    fold = rng.permutation(np.arange(len(numbers)) % _FOLDS)[group]
    han = script.name == "han"
    by = {"analyzer": "char" if han else "char_wb", "ngram_range": (1, 2) if han else (2, 4)}
    texts, gold = [_join_texts(row) for row in clean.rows], [str(g) for g in clean.gold]
    models = []
    for k in range(_FOLDS):
        learnt = np.flatnonzero(fold != k)
        vectors = TfidfVectorizer(sublinear_tf=True, **by).fit([texts[i] for i in learnt])
        model = LogisticRegression(C=10.0, max_iter=300)
        models.append((vectors, model.fit(vectors.transform([texts[i] for i in learnt]), [gold[i] for i in learnt])))

    def ask(rows: Sequence[Inputs]) -> list[str]:
        answers = np.empty(len(rows), dtype=object)
        for k, (vectors, model) in enumerate(models):
            own = np.flatnonzero(fold == k).tolist()
            answers[own] = model.predict(vectors.transform([_join_texts(rows[i]) for i in own])) if len(own) else []
        return [str(answer) for answer in answers]

    return ask


def realism(
    clean: str, real: Sequence[str], simulated: Sequence[str], fields: Sequence[str] = (),
    systems: Sequence[str] = (), seed: int = 0, language: str | None = None, channel: Channel = "typing",
    by: str = "", documents: str = "", baselines: bool = True,
) -> dict[str, Any]:  # fmt: skip
    """Everything about files of clean texts, of what people made of them, and of what a simulation did."""
    before, people, draws = read_versions(clean, real, simulated, fields)
    texts, typed = before.texts(), [person.texts() for person in people]
    made = [draw.texts() for draw in draws]
    script = script_of(texts, language, channel)
    units = read_column(clean, by, before) if by else None
    each = None if units is None else [unit for unit, row in zip(units, before.rows, strict=True) for _ in row]
    judge = RealismJudge(texts, typed, seed, script.language, each, channel)
    found: dict[str, Any] = {"language": script.language, "channel": channel, "by": by}
    found["auc"] = judge.against_people(made)
    if len(typed) > 1:
        found["person"] = [judge.one_person(k) for k in range(len(typed))]
    if baselines:  # doing nothing at all, and a stress test of the same language, judged in the same way
        found["baselines"] = {"nothing": judge.against_people([texts])}
        if name := script.baseline():
            rate = sum(error_rate(texts, t) for t in typed) / len(typed)
            params: dict[str, Json] = {"protect": "none"}  # people err in addresses, numbers and names, too
            params |= {"rate": min(1.0, max(0.01, rate))} if name == "keyboard/homophone" else {}
            operator = make_operator(OperatorSpec(name, params))
            views = Texts.of([Text(text, script.language) for text in texts])
            streams = Seeds(seed, name, operator.version).streams(views.ids, 0, [""] * len(texts))
            changes = zip(texts, operator.change_many(views, streams), strict=True)
            stressed = [apply(text, change.edits) if change else text for text, change in changes]
            found["baselines"][name] = judge.against_people([stressed])
    found["looks"] = {"human": _mean_looks(script, texts, typed), "simulated": _mean_looks(script, texts, made)}
    found["told_by"] = judge.told_by(made)
    files = Files(before, people, draws)
    answering = built_in_systems(files, script, read_column(clean, documents, before) if documents else None, seed)
    answering |= {name: (open_asker(name), files) for name in systems}
    found["harm"] = {name: measure_harm(ask, its, units) for name, (ask, its) in answering.items()}
    return dict(msgspec.to_builtins(found))


def _mean_looks(script: TextScript, texts: Sequence[str], versions: Sequence[Sequence[str]]) -> dict[str, float]:
    """How versions of the texts look, the mean of all: by slips of pinyin, or by letters and words."""
    if script.name == "han":
        rows = [looks(texts, version) for version in versions]
    else:
        seen = script.seen(texts)
        lexicon, board = known_words(seen, script.language), keyboard_of(script.language)
        rows = [letter_looks(seen, script.seen(version), lexicon, board) for version in versions]
    return {name: sum(row[name] for row in rows) / len(rows) for name in rows[0]}


def rows_of(found: dict[str, Any]) -> list[list[dict[str, Any]]]:
    """The same as tables for people: judged, looks, what tells them apart, and the harm."""
    judged = [("simulated", found["auc"])]
    judged += [(f"person {k + 1}", value) for k, value in enumerate(found.get("person", ()))]
    judged += [(f"baseline: {name}", value) for name, value in found.get("baselines", {}).items()]
    human, made = found["looks"]["human"], found["looks"]["simulated"]
    tables: list[list[dict[str, Any]]] = [
        [{"told from people": name, "auc": v["value"], "low": v["low"], "high": v["high"]} for name, v in judged],
        [{"looks": name, "human": human[name], "simulated": made[name]} for name in human],
        found["told_by"],
    ]
    tables = [[{k: round(v, 3) if isinstance(v, float) else v for k, v in row.items()} for row in t] for t in tables]
    for name, rows in found["harm"].items():
        tables += [[
            {"system": name, "label": row["label"], "n": row["n"], "per cent": what,
             **{k: Estimate(v["value"], v["low"], v["high"], row["n"], 0, "") for k, v in row[what].items()}}
            for row in rows for what in ("accuracy", "flips") if what in row
        ]]  # fmt: skip
    return tables


_LENGTHS = ("1→1", "2→2", "0→1", "1→0", "3→3", "1→2", "2→3", "0→2")


def looks(clean: Sequence[str], noisy: Sequence[str]) -> dict[str, float]:
    """Rates per hundred characters, and shares, of what differs between aligned texts."""
    found = [(text, slip) for text, other in zip(clean, noisy, strict=True) for slip in slips(text, other)]
    size = sum(map(len, clean)) / 100
    kinds = Counter(slip.kind for _, slip in found)
    lengths = Counter(f"{slip.end - slip.start}→{len(slip.new)}" for _, slip in found)
    words = sum(kinds[kind] for kind in ("select_full", "select_abbr", "input_full", "input_abbr"))
    # READIN's Table 10, inferred from the texts: typed out or abbreviated, wrong keys or wrong choice.
    cells = {
        "full.wrong_input": kinds["input_full"] + kinds["letters"],
        "full.wrong_selection": kinds["select_full"],
        "abbr.wrong_input": kinds["input_abbr"],
        "abbr.wrong_selection": kinds["select_abbr"],
    }
    total = sum(cells.values())
    return {
        "error_rate": error_rate(clean, noisy),
        "unchanged": sum(a == b for a, b in zip(clean, noisy, strict=True)) / len(clean),
        **{f"kind.{kind}": kinds[kind] / size for kind in KINDS},
        **{f"length.{length}": lengths[length] / size for length in _LENGTHS},
        "same_sound": kinds["select_full"] / words if words else 0.0,
        **{name: count / total if total else 0.0 for name, count in cells.items()},
    }


def error_rate(clean: Sequence[str], noisy: Sequence[str]) -> float:
    """Mean over texts of the characters to change, by Levenshtein, over the length of the clean text."""
    sizes = np.array([max(1, len(text)) for text in clean])
    return float((distances(clean, noisy) / sizes).mean())


def drops(
    system: System, clean: Aligned, people: Sequence[Aligned], simulated: Sequence[Aligned]
) -> list[dict[str, Any]]:
    """The harm to one system, for all examples and for each label, as plain numbers in per cent."""
    found = measure_harm(open_asker(system), Files(clean, people, simulated))
    return [
        {"label": row["label"], "n": row["n"]}
        | {f"{what}.{k}": e.value for what in ("accuracy", "flips") for k, e in row.get(what, {}).items()}
        for row in found
    ]

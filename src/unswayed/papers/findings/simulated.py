"""Does simulated noise predict what people's costs? Retrieval under people's texts and under simulated ones."""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from unswayed.base import DataError, Example, MissingExtra, NothingEvaluated, UsageError, option_name
from unswayed.papers.findings.pictures import Dot, scatter
from unswayed.papers.findings.published import records_of
from unswayed.report import Figure, Picture, Printed, Row, Section, SectionTable
from unswayed.run import make_suite
from unswayed.stats import Array, mean_interval, numbers_of
from unswayed.systems import Embeddings, minilm_folder

_DRAWS, _MOST = 3, 150  # simulated texts of each original, and originals of a set without passages
_FIRST = 10  # passages whose rank counts: the score is MRR@10
_K1, _B = 1.2, 0.75
Search = Callable[[Sequence[str]], Sequence[Sequence[int]]]  # queries to passages, the best first
NOT_SHOWN = (
    "What this does not show: two retrievers stand for all systems. Except for NoiseQA, where passages are its own "
    "paragraphs, the task is to find the original text among the originals, which no noise leaves at 1.0."
)


class People(NamedTuple):
    """Originals, the passage that is right for each, people's versions of them, and the operators that simulate these.

    A version is its name, each person's texts in the order of the originals, and the operator.
    """

    name: str
    language: str
    originals: list[str]
    passages: list[str]
    right: list[int]
    versions: list[tuple[str, list[list[str]], str]]


class _NoiseRow(msgspec.Struct):
    id: str
    context: str
    question: str
    keyboard: str
    asr: str
    translated: str


def noiseqa(folder: Path) -> People:
    """NoiseQA's questions over their own paragraphs."""
    rows = [row for _, row in records_of(folder / "people.jsonl", _NoiseRow)]
    passages = list(dict.fromkeys(row.context for row in rows))
    versions = [("typed", [[row.keyboard for row in rows]], "keyboard/typist"),
                ("spoken", [[row.asr for row in rows]], "speech/english"),
                ("translated there and back", [[row.translated for row in rows]], "paraphrase/rules")]  # fmt: skip
    right = [passages.index(row.context) for row in rows]
    return People("NoiseQA", "en", [row.question for row in rows], passages, right, versions)


def disfluent(folder: Path) -> People:
    """Disfl-QA: questions that people made disfluent."""
    found: dict[str, dict[str, str]] = json.loads((folder / "dev.json").read_text(encoding="utf-8"))
    rows = list(found.values())[:_MOST]
    originals = [row["original"].strip() for row in rows]
    return _itself(
        "Disfl-QA", "en", originals, [("disfluent", [[row["disfluent"] for row in rows]], "spoken/disfluency")]
    )


def misheard(folder: Path) -> People:
    """Topical-Chat: turns read aloud, as two recognisers wrote them."""
    file = next(iter(sorted(folder.glob("*.json"))), None)
    if file is None:
        raise DataError("there is no table of dialogues here.", folder)
    dialogues = json.loads(file.read_text(encoding="utf-8")).values()
    turns = [
        turn for one in dialogues for turn in one["content"] if turn.get("message_asr_A") and turn.get("message_asr_B")
    ]
    turns = [turn for turn in turns if len(turn["message"].split()) > 3][:_MOST]
    heard = [[turn[f"message_asr_{which}"] for turn in turns] for which in "AB"]
    return _itself("Topical-Chat", "en", [turn["message"] for turn in turns], [("spoken", heard, "speech/english")])


def rewritten(folder: Path) -> People:
    """ReDial: maths questions rewritten by speakers of African American English."""
    own = json.loads((folder / "math.json").read_text(encoding="utf-8"))["vanilla"]
    texts = [[_question(row["prompt"]) for row in own[name]] for name in ("original", "aave")]
    pairs = [(one, other) for one, other in zip(*texts, strict=True) if one and other][:_MOST]
    versions = [("in African American English", [[other for _, other in pairs]], "dialect/african_american")]
    return _itself("ReDial", "en", [one for one, _ in pairs], versions)


def _question(prompt: str) -> str:
    found = re.search(r"Question:\s*(.*?)\s*Answer:", prompt, re.S)
    return found[1] if found else ""


def chinese(folder: Path) -> People:
    """READIN's sentences to translate, typed and read aloud by three people each."""
    texts: dict[str, dict[str, str]] = {}
    for file in sorted((folder / "nmt").glob("test_*.json")):
        with file.open(encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines if line.strip()]
        texts[file.stem.removeprefix("test_")] = {str(row["id"]): row["zh"].strip() for row in rows}
    clean = texts.pop("clean", {})
    ids = [id for id in clean if all(id in own for own in texts.values())][:_MOST]
    versions = []
    for kind, what, operator in (("keyboard", "typed", "keyboard/pinyin"), ("asr", "spoken", "speech/mandarin")):
        people = [[own[id] for id in ids] for name, own in texts.items() if f"_{kind}_" in name]
        versions += [(what, people, operator)] if people else []
    return _itself("READIN", "zh", [clean[id] for id in ids], versions)


def _itself(name: str, language: str, originals: list[str], versions: list[tuple[str, list[list[str]], str]]) -> People:
    """Originals among which each is to be found; of several that are the same, only the first counts."""
    kept = [n for n, text in enumerate(originals) if originals.index(text) == n]
    own = [(what, [[texts[n] for n in kept] for texts in people], operator) for what, people, operator in versions]
    return People(
        name, language, [originals[n] for n in kept], [originals[n] for n in kept], list(range(len(kept))), own
    )


SETS: Mapping[str, Callable[[Path], People]] = {
    "noiseqa": noiseqa, "disfl_qa": disfluent, "asr_en": misheard, "redial": rewritten, "readin": chinese,
}  # fmt: skip


def words_of(text: str, language: str) -> list[str]:
    """Words in small letters without marks; in Chinese, each two characters that follow each other."""
    kept = "".join(
        c if unicodedata.category(c)[0] in "LNM" else " " for c in unicodedata.normalize("NFKC", text).lower()
    )
    if language == "zh":
        joined = kept.replace(" ", "")
        return [joined[i : i + 2] for i in range(len(joined) - 1)] or list(joined)
    return kept.split()


def bm25(passages: Sequence[str], language: str) -> Search:
    """Okapi BM25 over the passages; passages that score alike stay in their order."""
    counts = [Counter(words_of(text, language)) for text in passages]
    lengths = np.array([sum(own.values()) for own in counts], dtype=np.float64)
    usual = max(float(lengths.mean()), 1.0)
    held: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for n, own in enumerate(counts):
        for word, many in own.items():
            held[word].append((n, many))

    def search(queries: Sequence[str]) -> list[list[int]]:
        found = []
        for query in queries:
            scores = np.zeros(len(passages))
            for word in set(words_of(query, language)):
                inside = held.get(word, ())
                rare = math.log(1 + (len(passages) - len(inside) + 0.5) / (len(inside) + 0.5))
                for n, many in inside:
                    scores[n] += rare * many * (_K1 + 1) / (many + _K1 * (1 - _B + _B * lengths[n] / usual))
            best = np.argsort(-scores, kind="stable")[:_FIRST]
            found.append([int(n) for n in best if scores[n] > 0])
        return found

    return search


def minilm(passages: Sequence[str]) -> Search:
    """The cosine of MiniLM's embeddings."""
    encoder = Embeddings(minilm_folder())
    held = encoder.of(passages)
    table = np.stack([held[text].numpy() for text in passages])

    def search(queries: Sequence[str]) -> list[list[int]]:
        own = encoder.of(sorted(queries, key=len))  # texts of one length need no padding
        asked = np.stack([own[text].numpy() for text in queries])
        return [np.argsort(-row, kind="stable")[:_FIRST].tolist() for row in asked @ table.T]

    return search


def _ranks(found: Sequence[Sequence[int]], right: Sequence[int]) -> Array:
    """The reciprocal rank of the right passage; 0 if it is not among the first."""
    return np.array(
        [1 / (1 + list(own).index(one)) if one in own else 0.0 for own, one in zip(found, right, strict=True)]
    )


def simulate(people: People, operator: str, seed: int) -> list[list[str]]:
    """Each draw's text of every original; an original that an operator leaves alone stands for itself."""
    examples = [Example(n, str(n), {"text": text}) for n, text in enumerate(people.originals)]
    draws = [list(people.originals) for _ in range(_DRAWS)]
    try:
        suite = make_suite(examples, [operator], task="text", language=people.language, draws=_DRAWS, seed=seed)
    except NothingEvaluated:  # there was nothing to change
        return draws
    for variant in suite.variants():
        draws[variant.draw][variant.row] = variant.inputs["text"]
    return draws


def findings(data: Path, given: Iterable[str], seed: int = 0) -> Printed:
    """People's loss beside the simulated one, for every set that is there and both retrievers."""
    there = {name: read for name, read in SETS.items() if (data / name).is_dir()}
    if not there:
        raise UsageError(f"{option_name('data')}: {data} has none of the folders {', '.join(SETS)}.")
    others = _texts_of(given)
    rows: list[Row] = []
    points: dict[str, dict[str, tuple[Dot, Dot]]] = defaultdict(dict)
    value: dict[str, Any] = {}
    told = []
    for name, read in there.items():
        people = read(data / name)
        searches: dict[str, Search] = {"BM25": bm25(people.passages, people.language)}
        if people.language == "en":
            try:
                searches["MiniLM"] = minilm(people.passages)
            except MissingExtra as error:
                told.append(f"MiniLM is left out: {error}")
        made = {operator: simulate(people, operator, seed) for _, _, operator in people.versions}
        for system, search in searches.items():
            clean = _ranks(search(people.originals), people.right)

            def lost(texts: Sequence[Sequence[str]], clean: Array = clean, people: People = people,
                     search: Search = search) -> Array:  # fmt: skip
                loss: Array = clean - np.mean([_ranks(search(own), people.right) for own in texts], axis=0)
                return loss

            for what, versions, operator in people.versions:
                real, simulated = lost(versions), {operator: lost(made[operator])}
                if people.name == "NoiseQA" and what == "typed":
                    simulated |= {other: lost([texts]) for other, texts in _aligned(others, data / name).items()}
                key = f"{people.name}, {what}, {system}"
                value[key] = {"clean": float(clean.mean()), "people": _dot(real, people)._asdict(), "simulated": {}}
                for by, loss in simulated.items():
                    dot, gap = _dot(loss, people), _dot(real - loss, people)
                    apart = None not in (gap.low, gap.high) and not (gap.low or 0) <= 0 <= (gap.high or 0)
                    value[key]["simulated"][by] = dot._asdict() | {"people more": gap._asdict(), "differs": apart}
                    rows.append({
                        "set": people.name, "people's": what, "system": system, "clean": Figure(f"{clean.mean():.3f}"),
                        "lost with people": _shown(_dot(real, people)), "simulated by": by,
                        "lost when simulated": _shown(dot), "people minus simulated": _shown(gap),
                    })  # fmt: skip
                    family = by if "/" not in by else f"{by.partition('/')[0]} operators"
                    points[family][f"{people.name} {what}, {system}"] = dot, _dot(real, people)
    ours = [dot for one in value.values() for by, dot in one["simulated"].items() if "/" in by]
    gaps = [abs(dot["people more"]["value"]) for dot in ours]
    sure = sum(dot["differs"] for dot in ours)
    said = [
        f"Simulated noise beside people's, {len(ours)} comparisons on {len(there)} sets: the losses of MRR differ by "
        f"{100 * float(np.mean(gaps)):.1f} points on average, and by more than chance in {sure}."
    ]
    note = (
        "A loss is the mean reciprocal rank (first ten) on the originals minus that on the versions, with 95% "
        f"intervals by passage. Simulated losses are means over {_DRAWS} draws. Points above the dotted line: people "
        "cost more than the simulation says. 'People minus simulated' is paired, question by question."
    )
    drawn = [Picture("Lost with people, by what simulation says", scatter(points, "Does simulation predict people?",
             "MRR lost when simulated", "MRR lost with people"))]  # fmt: skip
    command = "unswayed study findings --data FOLDER --only simulated"
    section = Section("Does simulation predict people?", [*said, note, *told, NOT_SHOWN, command],
                      [SectionTable("Lost by retrieval: people beside simulation", rows)], drawn)  # fmt: skip
    return Printed(value, [section], said)


def _dot(loss: Array, people: People) -> Dot:
    """The mean loss with Student's interval over passages; where nothing varies, one that allows for rare losses."""
    numbers = numbers_of(loss, clusters=np.array(people.right))
    end = math.inf if float(np.ptp(loss)) else 1.0
    low, high = mean_interval(numbers, (-end, end), kind="difference")
    return Dot(float(loss.mean()), low, high, True)


def _shown(dot: Dot) -> Figure:
    if dot.low is None or dot.high is None:
        return Figure(f"{dot.value:.3f}")
    return Figure(f"{dot.value:.3f} [{dot.low:.3f}, {dot.high:.3f}]".replace("-", "−"))


class _Text(msgspec.Struct):
    id: str
    text: str


def _texts_of(given: Iterable[str]) -> dict[str, dict[str, str]]:
    """`NAME=FILE` of an option: another simulator's texts by the id of NoiseQA's question."""
    found = {}
    for one in given:
        name, equals, file = one.partition("=")
        if not equals or not file:
            raise UsageError(f"{option_name('texts')} must be NAME=FILE, not {one!r:.60}.")
        found[name] = {row.id: row.text for _, row in records_of(Path(file), _Text)}
    return found


def _aligned(others: Mapping[str, Mapping[str, str]], folder: Path) -> dict[str, list[str]]:
    rows = [row for _, row in records_of(folder / "people.jsonl", _NoiseRow)] if others else []
    return {name: [texts.get(row.id, row.question) for row in rows] for name, texts in others.items()}

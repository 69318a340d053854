"""`spoken/disfluency` beside the people of Disfl-QA: fitted on one half of the articles, judged on the other half.

Needs ../shared/data/disfl_qa and the extra sklearn.
"""

from __future__ import annotations

import json
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from benchmarks._apart import Pair, told_apart
from benchmarks._measure import SHARED, Row, cpu_seconds, needs, show
from unswayed.base.options import OperatorSpec
from unswayed.base.seeds import Seeds
from unswayed.base.values import Example
from unswayed.lab.calibration.profiles import fit_disfluency
from unswayed.vary.engine import Variation, vary

DATA = SHARED / "disfl_qa"
WORDS = tomllib.loads((Path(__file__).parent / "disfl_qa_articles.toml").read_text("utf-8"))
NAME = "spoken/disfluency"
TESTED = 1500  # questions a half
_MINUTES = 15 * 60  # in which one annotator stays with an article


def questions(part: str) -> dict[str, tuple[str, str]]:
    """Fluent and disfluent form by id; rows that a spreadsheet broke are left out."""
    rows = json.loads(needs(DATA / f"{part}.json").read_text("utf-8"))
    return {
        id: (row["original"].strip(), row["disfluent"].strip())
        for id, row in rows.items()
        if "#VALUE" not in row["disfluent"]
    }


def articles(found: dict[str, tuple[str, str]]) -> dict[str, str]:
    """The article of each question, by the words of those written in the same minutes: ids begin with the time."""
    votes: dict[str, Counter[str]] = defaultdict(Counter)
    for id, (text, _) in found.items():
        small = text.lower()
        votes[id[:8]].update({name: n for name, words in WORDS.items() if (n := sum(small.count(w) for w in words))})
    times = sorted(votes)
    article = {}
    for i, time in enumerate(times):
        near = [t for t in times[max(0, i - 2) : i + 3] if abs(int(t, 16) - int(time, 16)) < _MINUTES]
        total: Counter[str] = Counter()
        for other in near:
            total.update({name: n * (3 if other == time else 1) for name, n in votes[other].items()})
        article[time] = total.most_common(1)[0][0] if total else "unknown"
    return {id: article[id[:8]] for id in found}


def made_of(texts: list[str], profile: str) -> list[str]:
    examples = [Example(i, str(i), {"text": text}) for i, text in enumerate(texts)]
    spec = OperatorSpec(NAME, {"profile": profile} if profile else {})
    plan = Variation(operators=(spec,), task="text", language="en", seed=5, pools={NAME: tuple(examples)})
    said = {variant.row: variant.inputs["text"] for variant in vary(examples, plan)}
    return [said.get(i, text) for i, text in enumerate(texts)]


def long_rows() -> Iterator[Row]:
    train, dev = questions("train"), questions("dev")
    every = {**train, **dev}
    about = articles(every)
    names = sorted(set(about.values()))
    with TemporaryDirectory() as folder:
        for half in (0, 1):
            fitted = [every[id] for id in train if about[id] in names[half::2]]
            profile = Path(folder) / f"{half}.json"
            rates = fit_disfluency([clean for clean, _ in fitted], [said for _, said in fitted])
            profile.write_bytes(msgspec.json.encode(rates))
            others = sorted(id for id in every if about[id] not in names[half::2])
            ids = Seeds(half, "benchmarks/disfluency", 1).stream("", 0).sample(others, TESTED)
            yield _row(half, [(about[id], *every[id]) for id in ids], str(profile))


def _row(half: int, rows: list[tuple[str, str, str]], profile: str) -> Row:
    said = made_of([clean for _, clean, _ in rows], profile)
    people = [Pair(clean, disfluent, article) for article, clean, disfluent in rows]
    auc = told_apart(people, [Pair(clean, new, a) for (a, clean, _), new in zip(rows, said, strict=True)])
    return Row(
        name=f"half {half + 1}",
        what=f"`{NAME}` told from people of Disfl-QA on other articles, half {half + 1}",
        ours=auc.value,
        unit="AUC",
        more=False,
        asked=0.75,
        note=f"95% interval {auc.low:.3f} to {auc.high:.3f}, {len(rows):,} questions",
        by_chance=auc.high - auc.value,
    )


def rows() -> Iterator[Row]:
    texts = [clean for clean, _ in questions("dev").values()]
    made_of(texts[:2], "")
    speed = len(texts) / cpu_seconds(lambda: made_of(texts, ""))
    yield Row("speed", f"`{NAME}`, {len(texts)} questions", speed, "texts/CPU s")


def main() -> None:
    show("disfluency", (*rows(), *long_rows()))


if __name__ == "__main__":
    main()

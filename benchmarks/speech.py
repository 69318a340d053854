"""Speech: how real simulated Mandarin is on held-out rows of READIN, and how fast both operators are."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from functools import partial
from statistics import median

from benchmarks._blocks import Varied, by_person
from benchmarks._measure import SHARED, Row, cpu_seconds, needs, show
from unswayed.base.edits import apply
from unswayed.base.seeds import Seeds
from unswayed.base.values import Estimate
from unswayed.lab.realism import read_people
from unswayed.lab.realism.compare import error_rate
from unswayed.lab.realism.judge import RealismJudge
from unswayed.measure.files import distances
from unswayed.vary.keyboard.homophone import Homophone
from unswayed.vary.operator import Operator, Text
from unswayed.vary.speech.mandarin import Mandarin
from unswayed.vary.speech.roundtrip import Roundtrip

READIN = SHARED / "readin/nmt"
SEEDS = (7, 8)
ENGLISH = ["play some music by the beatles", "what flights leave from boston", "turn off the light in the kitchen"]


def said(operator: Operator, texts: Sequence[str], seed: int, draw: int, language: str = "zh") -> list[str]:
    seeds = Seeds(seed, "speech", operator.version)
    changes = [operator.change(Text(t, language), seeds.stream(str(i), draw)) for i, t in enumerate(texts)]
    return [apply(t, change.edits) if change else t for t, change in zip(texts, changes, strict=True)]


def texts(first: int = 1) -> tuple[list[str], list[list[str]]]:
    """Odd rows, which nothing was fitted on: clean, and as each of three people's speech was heard."""
    needs(READIN)
    before, people = read_people(
        str(READIN / "test_clean.json"), [str(READIN / f"test_noisy_asr_{k}.json") for k in (1, 2, 3)]
    )
    return before.texts()[first::2], [person.texts()[first::2] for person in people]


def long_rows() -> Iterator[Row]:
    """How well a judge tells simulated mishearing from people's: 0.5 is not at all."""
    clean, human = texts()
    judge = RealismJudge(clean, human)
    random = [said(Homophone(sum(error_rate(clean, t) for t in human) / 3), clean, 7, draw) for draw in range(3)]
    peer = judge.against_people(random).value
    for k in range(3):
        yield _row(f"person {k + 1} of three", judge.one_person(k), _rates(clean, [human[k]]), peer)
    for seed in SEEDS:
        draws = [said(Mandarin(), clean, seed, draw) for draw in range(3)]
        yield _row(f"`speech/mandarin`, seed {seed}", judge.against_people(draws), _rates(clean, draws), peer, 0.85)


def _row(name: str, auc: Estimate, rates: str, peer: float | None, asked: float | None = None) -> Row:
    return Row(
        name=name,
        what=f"told from the speech of people, {name}, WMT2021",
        unit="AUC",
        ours=auc.value,
        peer="homophones at random",
        theirs=peer,
        more=False,
        asked=asked,
        note=f"{auc.low:.3f} to {auc.high:.3f}; error rate in per cent, average and worst: {rates}",
    )


def _rates(clean: list[str], versions: list[list[str]]) -> str:
    """Average and worst error rates in per cent, as READIN gives them."""
    rates = [distances(clean, texts) / [max(1, len(t)) for t in clean] for texts in versions]
    worst = [max(row) for row in zip(*rates, strict=True)]
    return f"{100 * sum(map(sum, rates)) / len(clean) / len(rates):.1f}, {100 * sum(worst) / len(worst):.1f}"


def rows() -> Iterator[Row]:
    for name, operator, some, language in _timed(texts()[0]):
        said(operator, some[:2], 1, 0, language)  # tables are read and models loaded
        # each draw is another voice, so that nothing is remembered
        spent = median(cpu_seconds(partial(said, operator, some, 7, draw, language)) for draw in range(3))
        note = f"{sum(map(len, some)) / spent:,.0f} characters"
        yield Row(f"speed: {name}", f"{name}, {len(some)} sentences", len(some) / spent, "texts/CPU s", note=note)

    yield _unseen()


def _unseen() -> Row:
    """The same speakers on sentences that they have not said, after as many others: only words may be remembered."""
    say_all, others, clean, people = Varied("speech/mandarin", "zh"), texts(0)[0], texts()[0], range(12)
    for person in people:
        say_all(others, person)
    rates = [len(clean) / cpu_seconds(partial(say_all, clean, person)) for person in people]
    return Row(
        name="speed: speech/mandarin, unseen",
        what=f"speech/mandarin, {len(clean)} sentences not seen before, after others",
        ours=median(rates),
        unit="texts/CPU s",
        asked=1_000,
        note=by_person(rates, "speakers"),
    )


def _timed(clean: list[str]) -> list[tuple[str, Operator, list[str], str]]:
    found: list[tuple[str, Operator, list[str], str]] = [("speech/mandarin", Mandarin(), clean, "zh")]
    try:
        import pocketsphinx  # noqa: F401
    except ImportError:
        return found
    if shutil.which("espeak-ng"):
        found.append(("speech/roundtrip, espeak-ng and pocketsphinx", Roundtrip(asr="pocketsphinx"), ENGLISH, "en"))
    return found


def main() -> None:
    show("speech", (*rows(), *long_rows()))


if __name__ == "__main__":
    main()

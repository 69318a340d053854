"""Speech: how real simulated Mandarin is on held-out rows of READIN, and how fast both operators are."""

from __future__ import annotations

import shutil
import time
from collections.abc import Sequence
from pathlib import Path

from unfazed.core.edits import apply
from unfazed.core.seeds import Seeds
from unfazed.core.values import Estimate
from unfazed.measure.error_rate import distances
from unfazed.measure.realism.judge import Judge
from unfazed.measure.realism.looks import error_rate
from unfazed.measure.realism.reading import read_people
from unfazed.vary.keyboard.homophone import Homophone
from unfazed.vary.operator import Operator, Text
from unfazed.vary.speech.mandarin import Mandarin
from unfazed.vary.speech.roundtrip import Roundtrip

READIN = Path(__file__).parents[1] / "../shared/data/readin/nmt"
SEEDS = (7, 8)
ENGLISH = ["play some music by the beatles", "what flights leave from boston", "turn off the light in the kitchen"]


def said(operator: Operator, texts: Sequence[str], seed: int, draw: int, language: str = "zh") -> list[str]:
    seeds = Seeds(seed, "speech", operator.version)
    changes = [operator.change(Text(t, language), seeds.stream(str(i), draw)) for i, t in enumerate(texts)]
    return [apply(t, change.edits) if change else t for t, change in zip(texts, changes, strict=True)]


def main() -> None:
    if not READIN.is_dir():
        print(f"Left out: there is no {READIN}.")
        return
    before, people = read_people(
        str(READIN / "test_clean.json"), [str(READIN / f"test_noisy_asr_{k}.json") for k in (1, 2, 3)]
    )
    clean, human = before.texts()[1::2], [person.texts()[1::2] for person in people]
    _realism(clean, human)
    print()
    _speed(clean)


def _realism(clean: list[str], human: list[list[str]]) -> None:
    judge = Judge(clean, human)
    print(f"WMT2021, {len(clean)} odd rows, fitted on the even ones.\n")
    print("| told from people | AUC | interval | error rate, average | worst |\n|---|---:|---|---:|---:|")
    print(f"| three people pooled | | | {_rates(clean, human)} |")
    for k in range(3):
        print(_row(f"person {k + 1}", judge.one_person(k), _rates(clean, [human[k]])))
    for seed in SEEDS:
        draws = [said(Mandarin(), clean, seed, draw) for draw in range(3)]
        print(_row(f"speech/mandarin, 3 draws, seed {seed}", judge.against_people(draws), _rates(clean, draws)))
    rate = sum(error_rate(clean, texts) for texts in human) / 3
    random = [said(Homophone(rate), clean, 7, draw) for draw in range(3)]
    print(_row("random homophones", judge.against_people(random), _rates(clean, random)))


def _row(name: str, auc: Estimate, rates: str) -> str:
    return f"| {name} | {auc.value:.3f} | {auc.low:.3f}–{auc.high:.3f} | {rates} |"


def _rates(clean: list[str], versions: list[list[str]]) -> str:
    """Average and worst error rates in per cent, as READIN gives them."""
    rates = [distances(clean, texts) / [max(1, len(t)) for t in clean] for texts in versions]
    worst = [max(row) for row in zip(*rates, strict=True)]
    return f"{100 * sum(map(sum, rates)) / len(clean) / len(rates):.1f} | {100 * sum(worst) / len(worst):.1f}"


def _speed(clean: list[str]) -> None:
    print("| operator | sentences a CPU-second | characters |\n|---|---:|---:|")
    for name, operator, texts, language in _timed(clean):
        said(operator, texts[:2], 1, 0, language)  # tables are read and models loaded
        began = time.process_time()
        for draw in range(3):
            said(operator, texts, 7, draw, language)
        spent = (time.process_time() - began) / 3
        print(f"| {name} | {len(texts) / spent:,.1f} | {sum(map(len, texts)) / spent:,.0f} |")


def _timed(clean: list[str]) -> list[tuple[str, Operator, list[str], str]]:
    found: list[tuple[str, Operator, list[str], str]] = [("speech/mandarin", Mandarin(), clean, "zh")]
    try:
        import pocketsphinx  # noqa: F401
    except ImportError:
        return found
    if shutil.which("espeak-ng"):
        found.append(("speech/roundtrip, espeak-ng and pocketsphinx", Roundtrip(asr="pocketsphinx"), ENGLISH, "en"))
    return found


if __name__ == "__main__":
    main()

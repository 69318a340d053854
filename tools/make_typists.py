"""Makes `vary/keyboard/data/typing_*.json`: how people slip when they type, as numbers.

Each is fitted to all of the people there are; `python -m benchmarks typing` tests fits on people who were left out.
Run it with: `python tools/make_typists.py ../shared/data`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import msgspec

from unswayed.lab.calibration.profiles import (
    TypedText,
    encode_profiles,
    fit_typed_texts,
    type_again,
)
from unswayed.lab.realism.compare import error_rate
from unswayed.vary.keyboard.layouts import Layout, layout
from unswayed.vary.slips import Profiles, SlipProfile

OUT = Path(__file__).parents[1] / "src/unswayed/vary/keyboard/data"
NOISEQA = "NoiseQA's keyboard questions (Ravichander et al. 2021), MIT licence"
RUSSIAN = "RUSpellRU (Sorokin et al. 2016), blog sentences and their corrections, MIT licence"
UNCORRECTED = 0.053  # share of characters that are wrong before backspace, as counted in Aalto's keystrokes


def noiseqa(data: Path) -> list[TypedText]:
    lines = (data / "noiseqa/people.jsonl").read_text("utf-8").splitlines()
    return [TypedText("", row["question"], row["keyboard"]) for row in map(json.loads, lines)]


def russian(data: Path) -> list[TypedText]:
    """Corrections have nearly no marks, so marks are taken from both texts."""
    files = [(data / "typing_ru" / name).read_text("utf-8").splitlines() for name in ("corrections.txt", "sources.txt")]
    return [TypedText("", bare(meant), bare(typed)) for meant, typed in zip(*files, strict=True)]


def bare(text: str) -> str:
    """A text without marks, but for hyphens inside words, as RUSpellRU's corrections are."""
    kept = "".join(c if c.isalnum() or c == " " or _inside(text, at) else " " for at, c in enumerate(text))
    return " ".join(kept.split())


def _inside(text: str, at: int) -> bool:
    return text[at] in "-" and text[at - 1 : at].isalnum() and text[at + 1 : at + 2].isalnum()


def scaled(profile: SlipProfile, texts: list[str], board: Layout, language: str) -> SlipProfile:
    """The profile with so many slips that the share of wrong characters is that of first attempts."""
    low, high = 1.0, 12.0
    made = profile
    for _ in range(12):
        times = (low + high) / 2
        rates = {kind: min(float(f"{rate * times:.4g}"), 0.5) for kind, rate in profile.rates.items()}
        made = msgspec.structs.replace(profile, rates=rates, noticed=0.0)
        more = error_rate(texts, type_again(made, board, language, texts)) < UNCORRECTED
        low, high = (times, high) if more else (low, times)
    return made


def write(name: str, made: Profiles) -> None:
    (OUT / f"typing_{name}.json").write_bytes(encode_profiles(made))
    print(name, {mode: profile.texts for mode, profile in made.modes.items()}, flush=True)


def plain(name: str, rows: list[TypedText], language: str, source: str, unseen: tuple[str, ...] = ()) -> None:
    """A profile of texts without keystrokes: its uncorrected mode is scaled. Kinds that texts can't show are left out."""
    board = layout(language)
    fitted = fit_typed_texts(rows, board, language, source)
    rates = {kind: rate for kind, rate in fitted.rates.items() if not kind.startswith(unseen)}
    corrected = msgspec.structs.replace(fitted, rates=rates) if unseen else fitted
    texts = [row.sentence.strip() for row in rows if row.sentence.strip()]
    write(name, Profiles({"corrected": corrected, "uncorrected": scaled(corrected, texts, board, language)}, language))


def main() -> None:
    data = Path(sys.argv[1])
    plain("noiseqa", noiseqa(data), "en", NOISEQA)
    plain("ruspellru", russian(data), "ru", RUSSIAN, ("comma", "mark", "end", "apostrophe"))


if __name__ == "__main__":
    main()

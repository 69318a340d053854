"""Makes `vary/keyboard/data/typing_noiseqa.json` and `typing_aalto.json`: how English typists slip, as rates.

Each is fitted on one half of the people, or of the articles, so that the other half can test it. Run it with:
`python tools/make_typists.py ../shared/data`.
"""

from __future__ import annotations

import gzip
import json
import sys
from hashlib import blake2b
from pathlib import Path

import msgspec

from unfazed.vary.slips import Profiles, SlipProfile, first_attempt, fitted

OUT = Path(__file__).parents[1] / "src/unfazed/vary/keyboard/data"
NOISEQA = "NoiseQA's keyboard questions (MIT licence), first and third quarter of the file"
AALTO = "136M Keystrokes, Aalto University (Dhakal et al. 2018), for non-commercial research; one half of a sample of people"
UNCORRECTED = 5.0  # how many times more slips are made than left standing, as found in Aalto's keystrokes


def quarters(rows: list[dict[str, str]]) -> list[dict[str, str]]:
    """Neighbouring rows share an article and a typist, so halves are made of long stretches."""
    return [row for i, row in enumerate(rows) if i * 4 // len(rows) % 2 == 0]


def first_half(person: str) -> bool:
    return blake2b(person.encode()).digest()[0] < 128


def scaled(profile: SlipProfile, times: float) -> SlipProfile:
    rates = {kind: min(float(f"{rate * times:.4g}"), 0.5) for kind, rate in profile.rates.items()}
    return msgspec.structs.replace(profile, rates=rates)


def write(name: str, **modes: SlipProfile) -> None:
    (OUT / f"typing_{name}.json").write_bytes(msgspec.json.format(msgspec.json.encode(Profiles(modes))) + b"\n")
    print(name, {mode: (p.texts, p.haste, p.people) for mode, p in modes.items()})


def main() -> None:
    data = Path(sys.argv[1])
    lines = (data / "noiseqa/people.jsonl").read_text("utf-8").splitlines()
    rows = quarters([json.loads(line) for line in lines])
    corrected = fitted([r["question"] for r in rows], [r["keyboard"] for r in rows], source=NOISEQA)
    write("noiseqa", corrected=corrected, uncorrected=scaled(corrected, UNCORRECTED))

    with gzip.open(data / "typing_en/people.tsv.gz", "rt", encoding="utf-8") as file:
        table = [line.rstrip("\n").split("\t") for line in file][1:]
    half = [row for row in table if len(row) == 4 and first_half(row[0])]
    people, meant, typed, keys = (list(column) for column in zip(*half, strict=True))
    tried = [first_attempt(k) for k in keys]
    write(
        "aalto",
        corrected=fitted(meant, typed, people, source=AALTO),
        uncorrected=fitted(meant, tried, people, source=AALTO),
    )


if __name__ == "__main__":
    main()

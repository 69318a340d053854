"""Makes `vary/speech/data/listener_*.json`: how English is misheard, as rates, in NoiseQA and Topical-Chat.

Run it with `python tools/make_listeners.py ../shared/data`; it takes a few minutes. `python -m benchmarks listener` fits on
one half of each corpus and tests on the other.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import msgspec

from unswayed.lab.calibration.english_listener import fit_listener
from unswayed.vary.people import LISTENERS_FOLDER

NOISEQA = "NoiseQA's spoken questions (Ravichander et al. 2021, MIT licence)"
TOPICAL_CHAT = "Topical-Chat ASR, test_freq, recogniser {} (Amazon; CDLA-Sharing 1.0)"


def read(data: Path) -> dict[str, tuple[str, list[tuple[str, str]]]]:
    """By profile: its source, and pairs of a text and of what was written for it."""
    lines = (data / "noiseqa/people.jsonl").read_text("utf-8").splitlines()
    questions = [json.loads(line) for line in lines]
    chats = json.loads((data / "asr_en/topicalchat_test_freq_audio.json").read_text("utf-8"))
    turns = [
        turn
        for chat in chats.values()
        for turn in chat["content"]
        if turn.get("message_asr_A") and turn.get("message_asr_B")
    ]
    return {
        "noiseqa": (NOISEQA, [(q["question"], q["asr"]) for q in questions]),
        "topicalchat_a": (TOPICAL_CHAT.format("A"), [(t["message"], t["message_asr_A"]) for t in turns]),
        "topicalchat_b": (TOPICAL_CHAT.format("B"), [(t["message"], t["message_asr_B"]) for t in turns]),
    }


def main() -> None:
    for name, (source, pairs) in read(Path(sys.argv[1])).items():
        if sys.argv[2:] and name not in sys.argv[2:]:
            continue
        said, heard = ([pair[k].strip() for pair in pairs] for k in (0, 1))
        profile = fit_listener(said, heard, source)
        made = msgspec.json.format(msgspec.json.encode(profile))
        (LISTENERS_FOLDER / f"listener_{name}.json").write_bytes(made + b"\n")
        print(f"{name}: {profile.texts} texts, {len(made):,} bytes")


if __name__ == "__main__":
    main()

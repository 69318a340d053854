"""Asks a small chat model about the same requests under many prompts, and writes which answers were right.

    python tools/make_prompt_grid.py FOLDER [EXAMPLES] [PROMPTS]     # writes benchmarks/prompt_grid.json

The benchmark of the spread over prompts estimates this whole table from a few of its cells. Needs what
`tools/make_llm_study.py` needs. The requests are SNIPS's and stay in FOLDER; a folder that has been begun is resumed.
"""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

from make_llm_study import DATA, ROOT, served, weights

from unswayed.cli import unswayed as command
from unswayed.run.record import Run

GRID = ROOT / "benchmarks" / "prompt_grid.json"
INTENTS = {"PlayMusic": "music", "GetWeather": "weather", "BookRestaurant": "restaurant", "RateBook": "book"}
GRAMMAR = json.dumps({"grammar": "root ::= " + " | ".join(f'"{topic}"' for topic in INTENTS.values())})
PROMPT = "Request: {text}\nTopics: music, weather, restaurant, book\nTopic:"


def main(folder: Path, examples: int = 80, prompts: int = 40) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    rows = [json.dumps(row) for row in requests(examples)]
    (folder / "requests.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")
    (folder / "topic.txt").write_text(PROMPT, encoding="utf-8")
    suite, run = folder / "suite", folder / "run"
    asked = f"--option {shlex.quote(f'body={GRAMMAR}')} --concurrency 1 --no-sanity"
    with served(weights(), 8932) as url:
        run_line(f"vary {folder}/requests.jsonl --lang en --with prompt/format --draws {prompts} --seed 1 -o {suite}")
        line = f"run {suite} --system {url} --model smollm2 --prompt {folder}/topic.txt {asked}"
        run_line(f"{line} -o {run}")
    grid = [
        [o.value == e.gold for o in (clean, *(o for _, o in sorted(varied, key=lambda one: one[0].draw)))]
        for e, clean, varied in Run(run).items()
    ]
    own, *others = ("".join("01"[right] for right in column) for column in zip(*grid, strict=True))
    GRID.write_text(json.dumps({"own": own, "prompts": others}, indent=1) + "\n", encoding="utf-8")
    print(f"{len(others)} prompts, {len(own)} examples: {GRID}")


def requests(many: int) -> list[dict[str, str]]:
    """As many requests of each intent, in the order of SNIPS's test set."""
    said, labels = ((DATA / "slu/snips/test" / name).read_text("utf-8").splitlines() for name in ("seq.in", "label"))
    left = dict.fromkeys(INTENTS, many // len(INTENTS))
    chosen = []
    for text, intent in zip(said, labels, strict=True):
        if left.get(intent, 0):
            left[intent] -= 1
            chosen.append({"text": text, "label": INTENTS[intent]})
    return chosen


def run_line(line: str) -> None:
    command.main(shlex.split(line), standalone_mode=False)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:]))

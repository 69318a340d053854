"""A newcomer: 200 support messages, a function, and at most four commands to a verdict that concludes something."""

from __future__ import annotations

import csv
import json
import re
import time
from pathlib import Path

import pytest
from commands import unswayed

NLU = Path(__file__).parents[3] / "shared/data/nlu_ed/KFold_1/trainset"
MESSAGES = 200
LIMIT = 60  # seconds for all commands; far above what they take, so that a loaded machine passes

SYSTEM = """
import json
from collections import Counter, defaultdict

seen = defaultdict(Counter)  # words of each queue in the messages to learn from
for line in open("learn.jsonl", encoding="utf-8"):
    row = json.loads(line)
    seen[row["queue"]].update(set(row["message"].lower().split()))


def predict(batch):
    def queue(text):
        words = set(text.lower().split())
        total = {w: 1 + sum(seen[name][w] for name in seen) for w in words}
        return max(sorted(seen), key=lambda name: sum(seen[name][w] / total[w] for w in words))

    return [queue(item["message"]) for item in batch]
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """200 messages with the queue that each belongs to, and other messages that the system has learnt from."""
    if not NLU.is_dir():
        pytest.skip("NLU-ED's files are not here (../shared/data/nlu_ed)")
    rows: dict[str, str] = {}
    for file in sorted(NLU.glob("*.csv")):
        with file.open(encoding="utf-8", newline="") as lines:
            for row in csv.DictReader(lines, delimiter=";"):
                if row["answer_from_user"] and row["answer_from_user"].strip():
                    rows[row["answer_from_user"]] = row["scenario"]
    kept = sorted(rows.items(), key=lambda item: (len(item[0]) * 7919 + sum(map(ord, item[0]))) % 10007)
    for name, some in (("messages", kept[:MESSAGES]), ("learn", kept[MESSAGES : MESSAGES + 3000])):
        lines_ = (json.dumps({"message": text, "queue": queue}) for text, queue in some)
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines_) + "\n", "utf-8")
    (tmp_path / "support.py").write_text(SYSTEM, "utf-8")
    return tmp_path


def test_three_commands_from_a_file_to_a_verdict_and_a_page(place: Path) -> None:
    began = time.monotonic()
    made = ("vary", "messages.jsonl", "--input", "message", "--gold", "queue", "--lang", "en")
    unswayed(*made, "--with", "@typing", "--draws", 3, "-o", "suite/", cwd=place, check=True)
    said = unswayed("run", "suite/", "--system", "support:predict", "-o", "run/", cwd=place, check=True).stdout
    unswayed("report", "run/", "-o", "report.html", cwd=place, check=True)
    assert time.monotonic() - began < LIMIT
    verdict = said.splitlines()[0]
    assert re.match(r"More than chance \(p [<=] 0\.\d+\), (moderate|serious): accuracy falls by ", verdict)
    assert "too few" not in said
    assert re.search(r"^Next: read the changed answers .*augment --with keyboard/", said, re.M)
    page = (place / "report.html").read_text("utf-8")
    assert page.index("More than chance") < page.index('<article class="flip') < page.index('<h2 id="measures-h">')
    assert "changes 1 letter in" in page, "how strong the noise is"

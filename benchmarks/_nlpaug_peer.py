"""Runs in nlpaug's own environment: alters the texts on standard input by each strategy and prints what it cost.

nltk's tagger data can't be had offline, so words are tagged by a look-up that costs next to nothing: a gift to nlpaug.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

WORDNET = Path("/usr/share/wordnet")
KINDS = {"verb": "VB", "adj": "JJ", "adv": "RB", "noun": "NN"}


def give_wordnet(place: Path) -> None:
    """Debian's WordNet where nltk looks for it, and tags by the part of speech in which it lists a word first."""
    import nltk

    corpus = place / "corpora" / "wordnet"
    corpus.mkdir(parents=True)
    for file in WORDNET.glob("*.*"):
        if file.suffix in (".exc", ".rev") or file.stem in ("data", "index"):
            (corpus / file.name).write_bytes(file.read_bytes())
    (corpus / "index.sense").touch()  # nltk wants the file and reads nothing in it here
    (corpus / "lexnames").write_text("".join(f"{i:02}\tfile{i}\t1\n" for i in range(45)))
    nltk.data.path.insert(0, str(place))
    tags: dict[str, str] = {}
    for kind, tag in KINDS.items():
        for line in (WORDNET / f"index.{kind}").read_text().splitlines():
            tags.setdefault(line.split(" ", 1)[0], tag)
    nltk.pos_tag = lambda tokens, **more: [(token, tags.get(token.lower(), "DT")) for token in tokens]
    nltk.download = lambda *names, **more: True


def augmenters(texts: list[str]) -> dict[str, Callable[[], Any]]:
    import nlpaug.augmenter.char as characters
    import nlpaug.augmenter.word as words
    import nlpaug.model.word_stats as stats

    def tfidf() -> Any:
        model = stats.TfIdf()
        model.train([text.split(" ") for text in texts])
        with tempfile.TemporaryDirectory() as place:
            model.save(place)
            return words.TfIdfAug(model_path=place, tokenizer=lambda text: text.split(" "))

    return {
        "keyboard": characters.KeyboardAug,
        "misspelling": words.SpellingAug,
        "synonym": lambda: words.SynonymAug(aug_src="wordnet"),
        "antonym": words.AntonymAug,
        "tfidf": tfidf,
    }


def main() -> None:
    texts = json.load(sys.stdin)
    results = {}
    with tempfile.TemporaryDirectory() as place:
        if WORDNET.is_dir():
            give_wordnet(Path(place))
        for name, make in augmenters(texts).items():
            try:
                augmenter = make()
                augmenter.augment(texts[0])  # what it loads at its first use is not counted
                began = time.process_time()
                altered = [augmenter.augment(text) for text in texts]
                seconds = time.process_time() - began
            except Exception as error:
                results[name] = {"error": f"{type(error).__name__}: {error}".strip().splitlines()[0][:200]}
                continue
            flat = [one[0] if isinstance(one, list) and one else str(one or "") for one in altered]
            results[name] = {"seconds": seconds, "texts": flat}
    json.dump(results, sys.stdout)


if __name__ == "__main__":
    main()

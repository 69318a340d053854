"""How far our tagger and spaCy's agree on ATIS and SNIPS: `python tools/score_tagger.py PATH_OF_en_core_web_sm`.

spaCy takes the verb of many commands for a name (*book a table*). So it also tags each utterance after *please*, and
where a first word that can be a verb is one then, that reading counts. Both agreements are shown.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from make_tagger import MERGED

from unswayed.vary.english import tagger

CORPORA = Path(__file__).parents[1] / "../shared/data/slu"
HOSTS = {
    "i",
    "you",
    "he",
    "she",
    "we",
    "they",
    "it",
    "that",
    "what",
    "there",
    "where",
    "who",
    "how",
    "let",
    "when",
    "here",
}
CLITICS = {"s", "d", "m", "re", "ll", "ve"}


def pieces(words: Sequence[str]) -> tuple[list[str], list[int]]:
    """The words as spaCy splits them, *i'd* and *i d* alike into *I 'd*; and which piece stands for each word."""
    made: list[str] = []
    places = []
    for i, word in enumerate(words):
        host, mark, clitic = word.partition("'")
        if i and word in CLITICS and words[i - 1] in HOSTS:
            made.append("'" + word)
        elif host and mark and clitic in CLITICS:
            made += [host, "'" + clitic]
        elif word.endswith("n't"):
            made += [word[:-3], "n't"]
        else:
            made.append("I" if word == "i" else word)
        places.append(len(made) - (2 if word.endswith("n't") else 1))
    return made, places


def spacy_tags(model: str, utterances: Sequence[Sequence[str]]) -> Iterator[list[str]]:
    import spacy
    from spacy.tokens import Doc

    nlp: Any = spacy.load(model, exclude=["ner", "lemmatizer", "senter"])
    split = [pieces(words) for words in utterances]
    docs = nlp.pipe(Doc(nlp.vocab, words=made) for made, _ in split)
    for (_, places), doc in zip(split, docs, strict=True):
        yield [MERGED.get(doc[i].tag_, doc[i].tag_) for i in places]


def kind(tag: str) -> str:
    """Verb, noun, adjective, adverb or stop-word."""
    return tag[0] if tag[0] in "VNJ" or tag == "RB" else "stop"


def first_verb(tags: Sequence[str], slots: Sequence[str]) -> int:
    return next((i for i, tag in enumerate(tags) if tag.startswith("VB") and slots[i] == "O"), -1)


def score(name: str, model: str) -> str:
    texts, slots = ((CORPORA / name / "test" / file).read_text().splitlines() for file in ("seq.in", "seq.out"))
    words, labels = [line.split() for line in texts], [line.split() for line in slots]
    plain = list(spacy_tags(model, words))
    after_please = [tags[1:] for tags in spacy_tags(model, [["please", *line] for line in words])]
    ours = [tagger().tags(line) for line in words]
    told = [
        please if please[0] == "VB" and first[0][0] in "NJ" and tagger().could_be(line[0], "VB") else first
        for line, first, please in zip(words, plain, after_please, strict=True)
    ]
    pairs = [
        (kind(a), kind(b), label)
        for line in zip(ours, told, labels, strict=True)
        for a, b, label in zip(*line, strict=True)
    ]
    outside = [(a, b) for a, b, label in pairs if label == "O"]
    both = sum(a == b == "V" for a, b in outside)
    same = [
        sum(first_verb(a, s) == first_verb(b, s) for a, b, s in zip(ours, other, labels, strict=True))
        for other in (told, plain)
    ]
    shares = (
        sum(a == b for a, b, _ in pairs) / len(pairs),
        sum(a == b for a, b in outside) / len(outside),
        both / sum(a == "V" for a, _ in outside),
        both / sum(b == "V" for _, b in outside),
        same[0] / len(words),
        same[1] / len(words),
    )
    return f"| {name} | " + " | ".join(f"{share:.1%}" for share in shares) + " |"


def main() -> None:
    print(
        "| corpus | tokens | tokens outside slots | verbs: precision | recall | first verb | first verb, spaCy without *please* |"
    )
    print("|---|---|---|---|---|---|---|")
    for name in ("atis", "snips"):
        print(score(name, sys.argv[1]))


if __name__ == "__main__":
    main()

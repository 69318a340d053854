"""Makes `vary/spoken/data/pos.tsv.gz`: which tags English words have, and which of them in which context.

Learns from WordNet's definitions and examples as tagged by spaCy, and from commands and questions made from
`tagger_templates.txt`, so that it knows imperatives, which written text lacks. Run it with:
`pip install spacy lemminflect wordfreq`, `apt-get install wordnet-base`, then
`python tools/make_tagger.py PATH_OF_en_core_web_sm`.
"""

from __future__ import annotations

import csv
import gzip
import json
import random
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import accumulate
from pathlib import Path
from tempfile import gettempdir

import lemminflect
from wordfreq import zipf_frequency

TOOLS = Path(__file__).parent
OUT = TOOLS.parent / "src/unswayed/vary/spoken/data/pos.tsv.gz"
WORDNET = Path("/usr/share/wordnet")
RAREST = 1.8  # Zipf frequency of words that are listed
COMMANDS = 60_000  # made from the templates
KINDS = {"noun": "NN", "verb": "VB", "adj": "JJ", "adv": "RB"}
MERGED = {
    **dict.fromkeys(("WDT", "WP", "WP$", "WRB"), "W"),
    **dict.fromkeys(("NNPS", "FW", "SYM", "XX", "ADD", "GW"), "NNP"),
    "VBP": "VB",
    "RBR": "RB",
    "RBS": "RB",
    "PDT": "DT",
    "LS": "CD",
    "AFX": "JJ",
}
START = "."
Sentence = list[tuple[str, str]]  # words and their tags


# --- what is learnt from


def wordnet_texts() -> Iterator[tuple[str, str]]:
    """Definitions, with their part of speech, and examples of use."""
    for kind in KINDS:
        for line in (WORDNET / f"data.{kind}").read_text("latin-1").splitlines():
            if line.startswith("  "):
                continue
            gloss = line.split("|", 1)[1]
            yield from (("example", e.strip(" ;,-")) for e in re.findall(r'"([^"]+)"', gloss))
            bare = re.sub(r'"[^"]*"?|\([^)]*\)', "", gloss)
            yield from ((kind, part.strip(" ,")) for part in bare.split(";") if part.strip(" ,"))


def tagged_texts(model: str) -> Iterator[Sentence]:
    """The texts as spaCy tags them. A verb's definition is a command once `to` is taken off: *give a list of*."""
    import spacy

    nlp = spacy.load(model, exclude=["ner", "lemmatizer", "senter"])
    texts = (("to " + text if kind == "verb" else text, kind) for kind, text in wordnet_texts())
    for doc, kind in nlp.pipe(texts, as_tuples=True, batch_size=512):
        tokens = [(t.text, t.tag_) for t in doc]
        yield from sentences(tokens[1:] if kind == "verb" else tokens)


def sentences(tokens: Iterable[tuple[str, str]]) -> Iterator[Sentence]:
    """Lower-case words without punctuation, as recognisers write them."""
    now: Sentence = []
    for text, tag in tokens:
        word = text.lower().replace("’", "'")
        if tag in (".", ":") and "-" not in text:
            yield now
            now = []
        elif word == "n't" and now:
            now[-1] = now[-1][0] + word, now[-1][1]
        elif any(c.isalnum() for c in text) and tag.isalpha() | tag.endswith("$") and tag not in ("HYPH", "NFP"):
            now.append((word.lstrip("'"), MERGED.get(tag, tag)))
    yield now


def dictionary() -> dict[str, set[str]]:
    """The tags that lemminflect's and WordNet's lists give each word; capitals make a name."""
    found: dict[str, set[str]] = defaultdict(set)

    def add(forms: str, tag: str) -> None:
        for form in filter(None, forms.split("/")):
            if form.replace("'", "").isalpha():
                found[form.lower()].add(tag if form.islower() else "NNP")

    tags = {"verb": ("VBD", "VBN", "VBG", "VBZ"), "noun": ("NNS",), "adj": ("JJR", "JJS"), "adv": ("RB", "RB")}
    table = Path(lemminflect.__file__).parent / "resources/infl_lu.csv.gz"
    with gzip.open(table, "rt") as rows:
        for lemma, kind, *forms in csv.reader(rows):
            add(lemma, KINDS[kind])
            if kind == "verb" and len(forms) > 1 and not forms[1]:
                forms[1] = forms[0]
            for tag, form in zip(tags[kind], forms, strict=False):
                add("/".join(f for f in form.split("/") if f != lemma or kind == "verb"), tag)
    for kind, tag in KINDS.items():
        for line in (WORDNET / f"data.{kind}").read_text("latin-1").splitlines():
            fields = line.split("|")[0].split()
            for lemma in fields[4 : 4 + 2 * int(fields[3], 16) : 2] if not line.startswith("  ") else ():
                for part in lemma.split("(")[0].split("_"):
                    if "_" not in lemma or (tag == "NN" and part[:1].isupper()):
                        add(part, tag)
    return found


def closed_class() -> dict[str, list[str]]:
    lines = (TOOLS / "tagger_closed.txt").read_text("utf-8").splitlines()[1:]
    rows = (line.split(": ") for line in lines)
    return {word: tags.split() for tags, words in rows for word in words.split()}


class Commands:
    """Commands and questions with their tags, words drawn by how common they are."""

    FIXED = {  # noqa: RUF012
        "DT": "the a an some this that these all any every",
        "PRP$": "my our your his her",
        "CD": "one two three four five 10 7 2020 1",
        "RP": "up on off out in down",
        "PRP": "it them him",
        "IN": "in on at for from with by",
    }

    def __init__(self, known: dict[str, set[str]], counts: dict[str, Counter[str]]) -> None:
        self.rng = random.Random(0)
        lines = [line for line in (TOOLS / "tagger_templates.txt").read_text("utf-8").splitlines() if line[0] != "#"]
        *self.templates, last = lines
        self.verbs = last.split("= ")[1].split()
        self.pools: dict[str, tuple[list[str], list[float]]] = {}
        pools: dict[str, list[tuple[str, float]]] = defaultdict(list)
        for word in sorted(known):
            zipf, total = zipf_frequency(word, "en"), sum(counts[word].values())
            for tag in known[word] if zipf >= 3 else ():
                share = (counts[word][tag] + 0.5) / (total + 2)
                if share > (0.03 if tag == "VB" else 0.15):
                    pools[tag].append((word, 10 ** (zipf / 2) * share))
        pools["COMMAND"] = [(word, 1.0) for word in self.verbs]
        pools["COMMANDN"] = [(word, 1.0) for word in self.verbs if counts[word]["NN"] > counts[word]["VB"] / 4]
        for tag, words in self.FIXED.items():
            pools[tag] = [(word, 1.0) for word in words.split()]
        for tag, pairs in pools.items():
            self.pools[tag] = [word for word, _ in pairs], list(accumulate(weight for _, weight in pairs))

    def one(self) -> Sentence:
        rng, made = self.rng, []
        pattern = r"\[([^][]*)\]"
        text = re.sub(pattern, lambda m: _one_of(m[1], rng) if rng.random() < 0.5 else "", rng.choice(self.templates))
        for item in re.findall(r"\{[^}]*\}|\S+", text):
            if "/" in item:
                made.append(tuple(item.rsplit("/", 1)))
                continue
            for tag in rng.choice(item.strip("{}").split("|")).split():
                words, weights = self.pools[tag]
                shown = {"COMMAND": "VB", "COMMANDN": "NN"}.get(tag, tag)
                made.append((rng.choices(words, cum_weights=weights)[0], shown))
        return made


def _one_of(choices: str, rng: random.Random) -> str:
    return rng.choice(re.split(r"\|(?![^{]*\})", choices))


# --- the model


class Model:
    """Tags by word and context. A class is a set of tags with the likeliest first and how sure that one is."""

    def __init__(self, known: dict[str, set[str]], closed: dict[str, list[str]], counts: dict[str, Counter[str]]):
        self.closed, self.known, self.counts = closed, known, counts
        self.classes: dict[str, str] = {word: "|".join((word, *tags)) for word, tags in closed.items()}
        for word in sorted(known.keys() | counts.keys()):
            letters = word.replace("'", "").isalpha()
            if letters and word not in closed and zipf_frequency(word, "en") >= RAREST:
                self.classes[word] = self._class(word)
        for word, tags in closed.items():
            if len(tags) == 1:
                self.classes[word] = tags[0]

    def _class(self, word: str) -> str:
        seen, listed = self.counts[word], self.known.get(word, set())
        total = sum(seen.values())
        weight = {t: seen[t] + (0.3 + 0.02 * total if t in listed else 0) for t in {*seen, *listed}}
        total = sum(weight.values())
        # A tag that no dictionary gives must be common in text, for taggers err.
        kept = {t: n for t, n in weight.items() if n / total >= (0.015 if t in listed else 0.10)}
        first, *rest = sorted(kept, key=lambda t: (-kept[t], t))
        if not rest:
            return first
        sure = (seen[first] + 0.5) / (sum(seen[t] for t in kept) + 0.5 * len(kept))
        mark = "!!" if sure >= 0.97 else "!" if sure >= 0.88 else "+" if sure >= 0.7 else ""
        return "|".join((first + mark, *sorted(rest)))

    def mark_commands(self, verbs: Iterable[str]) -> None:
        """Verbs that people command with are of classes of their own: definitions say little of how those are used."""
        for word in verbs:
            if "|" in self.classes[word] and word not in self.closed:
                first, *rest = self.classes[word].split("|")
                self.classes[word] = "|".join(("*" + first.rstrip("!+"), *rest))

    def learn(self, sentences: Iterable[Sentence]) -> dict[tuple[str, ...], str]:
        """The decisions that differ from those of a shorter context, by (class), (class, tag before), …"""
        seen: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
        for sentence in sentences:
            before = last = START
            for i, (word, tag) in enumerate(sentence):
                kind = self.classes.get(word, "")
                if "|" in kind and tag in tags_of(kind):
                    after = view(self.classes, sentence[i + 1][0]) if i + 1 < len(sentence) else START
                    for key in ((kind,), (kind, last), (kind, last, after), (kind, last, after, before)):
                        seen[key][tag] += 1
                    if word not in self.closed:
                        seen[word, last, after, "word"][tag] += 1
                before, last = last, tag
        return self._differing(seen)

    def _differing(self, seen: dict[tuple[str, ...], Counter[str]]) -> dict[tuple[str, ...], str]:
        shares: dict[tuple[str, ...], dict[str, float]] = {}
        made = {}
        for key in sorted(seen, key=lambda k: (len(k), k)):
            by_word = key[-1] == "word"
            shorter = (self.classes[key[0]], *key[1:-1]) if by_word else key[:-1]
            base = shares.get(shorter, {})
            strength = 6 if by_word else 4
            total = sum(seen[key].values()) + (strength if base else 0)
            shares[key] = {t: (seen[key][t] + strength * base.get(t, 0)) / total for t in {*seen[key], *base}}
            enough = 2 if by_word else 4 if len(key) == 4 else 0
            if best(shares[key]) != best(base) and sum(seen[key].values()) >= enough:
                made[key] = best(shares[key])
        return made


def best(shares: dict[str, float]) -> str:
    return max(shares, key=lambda t: (shares[t], t), default="")


def tags_of(kind: str) -> list[str]:
    """The tags of a class. That of a closed-class word begins with the word, others' marks come off."""
    parts = [part.strip("!+*") for part in kind.split("|")]
    return parts[1:] if parts[0].islower() else parts


def view(classes: dict[str, str], word: str) -> str:
    """What the word before sees of a word."""
    from unswayed.vary.english import class_of, seen_as

    return seen_as(class_of(word, classes))


def main() -> None:
    stored = Path(gettempdir()) / "unswayed_tagged_wordnet.json"  # tagging takes minutes
    if not stored.exists():
        stored.write_text(json.dumps([s for s in tagged_texts(sys.argv[1]) if s]))
    texts: list[Sentence] = [[(w, t) for w, t in s] for s in json.loads(stored.read_text())]
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for sentence in texts:
        for word, tag in sentence:
            counts[word][tag] += 1
    known = dictionary()
    commands = Commands(known, counts)
    model = Model(known, closed_class(), counts)
    model.mark_commands(commands.verbs)
    decisions = model.learn([*texts, *(commands.one() for _ in range(COMMANDS))])
    by_class: dict[str, list[str]] = defaultdict(list)
    for word, kind in model.classes.items():
        by_class[kind].append(word)
    lines = [f"{kind}\t{' '.join(sorted(by_class[kind]))}" for kind in sorted(by_class)]
    lines += ["", *("\t".join((tag, *key)) for key, tag in decisions.items())]
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_bytes(gzip.compress(("\n".join(lines) + "\n").encode(), mtime=0))
    print(f"{len(model.classes):,} words, {len(decisions):,} decisions, {OUT.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()

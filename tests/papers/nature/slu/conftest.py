from __future__ import annotations

from pathlib import Path

import pytest

from unswayed.base.values import Example

pytest.importorskip("torch", reason="needs the extra hf")

VERBS = {"play": "music", "rain in": "weather", "book": "table"}
THINGS = ["jazz", "rock", "blues", "paris", "london", "rome", "dinner"]


def examples() -> list[Example]:
    """Every verb with every thing: the intent is the verb's, the slot the thing's. One intent is a joined one."""
    found = []
    for verb, intent in VERBS.items():
        for thing in THINGS:
            for polite in ("", " please"):
                text = f"{verb} old {thing}{polite}"
                before = ["O"] * len(verb.split(" "))
                tags = [*before, f"B-{intent}", f"I-{intent}", *(["O"] if polite else [])]
                gold = {"intent": "table#eat" if intent == "table" else intent, "slots": tags}
                found.append(Example(len(found), str(len(found)), {"text": text}, gold))
    return found


@pytest.fixture(scope="session")
def toy() -> list[Example]:
    return examples()


@pytest.fixture(scope="session")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BERT with random weights and a WordPiece tokenizer trained on the toy texts."""
    from samples.utterances import MARKS, save_tiny_bert
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    folder = tmp_path_factory.mktemp("bert")
    tokenizer = Tokenizer(models.WordPiece(unk_token=MARKS["unk_token"]))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.WordPieceTrainer(vocab_size=80, special_tokens=list(MARKS.values()), show_progress=False)
    tokenizer.train_from_iterator((e.inputs["text"] for e in examples()), trainer)
    save_tiny_bert(folder, tokenizer.model)
    return folder

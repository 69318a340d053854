"""Sub-character tokens: a vocabulary over the sounds or strokes of characters, in a file to train a BERT with."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from unfazed.core import DataError, Json, MissingExtra, StoredFileError, UsageError, decode_json, write_atomically
from unfazed.papers.readin.charsmap import charsmap
from unfazed.papers.readin.codes import Codes

Kind = Literal["unigram", "bpe"]
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
_BYTES = [f"<0x{byte:02X}>" for byte in range(256)]
_NEVER = -1e6  # score of a byte: taken only where nothing else will do
_PRINTABLE = [chr(code) for code in range(0x20, 0x7F)]
_SPLIT = {"type": "Split", "pattern": {"Regex": r"\s+"}, "behavior": "MergedWithNext", "invert": False}


class Card(msgspec.Struct, frozen=True):
    """`subchar.json`: how characters were written when the vocabulary was made."""

    encoding: str
    index: bool
    model: str
    format: int = 1


class SubChar:
    """A vocabulary over codes. `decode(encode(text))` is the text; without an index, with homophones folded."""

    def __init__(self, card: Card, tokenizer: Json) -> None:
        self.card, self._json = card, tokenizer
        self.codes = Codes(card.encoding, card.index)
        self._tokenizer = _tokenizers().Tokenizer.from_str(_text({**tokenizer, "normalizer": None}))

    @classmethod
    def train(
        cls,
        texts: Iterable[str],
        encoding: str = "pinyin",
        index: bool = True,
        model: Kind = "unigram",
        size: int = 8000,
    ) -> SubChar:
        """A vocabulary of at most `size` tokens, plus single bytes for what the texts do not have."""
        codes = Codes(encoding, index)
        coded = [codes.encode(text) for text in texts]
        if not any(coded):
            raise DataError("there is no text to learn a vocabulary from.")
        room = size - len(SPECIAL) - len(_BYTES)
        if room < len(_PRINTABLE):
            raise UsageError(f"A vocabulary needs at least {len(SPECIAL) + len(_BYTES) + len(_PRINTABLE)} tokens.")
        learnt = _learnt(coded, model, room)
        normalizer = base64.b64encode(charsmap(codes.replacements)).decode()
        return cls(Card(encoding, index, model), _whole(learnt, model, normalizer))

    def __len__(self) -> int:
        return int(self._tokenizer.get_vocab_size())

    def encode(self, text: str) -> list[int]:
        """The text's tokens, without [CLS] and [SEP]."""
        return list(self._tokenizer.encode(self.codes.encode(text), add_special_tokens=False).ids)

    def decode(self, ids: Sequence[int]) -> str:
        return self.codes.decode(self._tokenizer.decode(list(ids), skip_special_tokens=False))

    def save(self, folder: str | Path) -> Path:
        """Writes `tokenizer.json` and `tokenizer_config.json` for transformers, and `subchar.json`."""
        folder = Path(folder)
        config = {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 512}
        config |= {f"{token[1:-1].lower()}_token": token for token in SPECIAL}
        (folder / "subchar.json").unlink(missing_ok=True)  # comes last, so that it never names another's tokens
        for name, content in (
            ("tokenizer.json", self._json),
            ("tokenizer_config.json", config),
            ("subchar.json", msgspec.to_builtins(self.card)),
        ):
            write_atomically(folder / name, _text(content).encode() + b"\n")
        return folder

    @classmethod
    def load(cls, folder: str | Path) -> SubChar:
        folder = Path(folder)
        try:
            card = decode_json((folder / "subchar.json").read_bytes(), Card)
            return cls(card, decode_json((folder / "tokenizer.json").read_bytes()))
        except (OSError, msgspec.MsgspecError, TypeError, ValueError) as error:
            raise StoredFileError(f"{folder}: this is no saved vocabulary ({error}). Train it again.") from error


def _tokenizers() -> Any:
    try:
        import tokenizers
    except ImportError as error:
        raise MissingExtra("Sub-character tokenisation", "hf") from error
    return tokenizers


def _learnt(coded: list[str], model: Kind, room: int) -> Json:
    """What the library's trainer learns: a vocabulary with scores, or with merges."""
    library = _tokenizers()
    unigram = model == "unigram"
    tokenizer = library.Tokenizer(library.models.Unigram() if unigram else library.models.BPE())
    tokenizer.pre_tokenizer = library.pre_tokenizers.Split(library.Regex(r"\s+"), "merged_with_next")
    options = {"vocab_size": room, "show_progress": False, "initial_alphabet": _PRINTABLE}
    trainers = library.trainers
    trainer = (
        trainers.UnigramTrainer(unk_token=SPECIAL[1], special_tokens=[SPECIAL[1]], **options)
        if unigram
        else trainers.BpeTrainer(**options)
    )
    tokenizer.train_from_iterator(coded, trainer)
    return msgspec.json.decode(tokenizer.to_str())["model"]


def _whole(learnt: Json, model: Kind, normalizer: str) -> Json:
    """The whole `tokenizer.json`: codes for characters, then the vocabulary, then [CLS] and [SEP] as BERT has them."""
    before: list[str] = [*SPECIAL, *_BYTES]
    if model == "unigram":
        pieces = [(piece, score) for piece, score in learnt["vocab"] if piece not in before]
        known = {piece for piece, _ in pieces}
        least = min((score for _, score in pieces), default=0.0)
        pieces += [(letter, least) for letter in _PRINTABLE if letter not in known]
        vocabulary = [[token, _NEVER if token in _BYTES else 0.0] for token in before] + [list(p) for p in pieces]
        filled = {"type": "Unigram", "unk_id": 1, "vocab": vocabulary, "byte_fallback": True}
    else:
        tokens = [*before, *(t for t in sorted(learnt["vocab"], key=learnt["vocab"].get) if t not in before)]
        numbers = {token: number for number, token in enumerate(tokens)}
        filled = {**learnt, "vocab": numbers, "unk_token": SPECIAL[1], "byte_fallback": True, "fuse_unk": False}
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    special = [{"id": i, "content": token, **flags, "special": True} for i, token in enumerate(SPECIAL)]
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": special,
        "normalizer": {"type": "Precompiled", "precompiled_charsmap": normalizer},
        "pre_tokenizer": _SPLIT,
        "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]},
        "decoder": {"type": "Sequence", "decoders": [{"type": "ByteFallback"}, {"type": "Fuse"}]},
        "model": filled,
    }


def _text(value: Json) -> str:
    return msgspec.json.encode(value).decode()

"""Sub-character tokenizers for Chinese: the code of each character, and a SentencePiece-like model over the codes."""

from __future__ import annotations

import base64
import sys
from array import array
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from unswayed.base import DataError, Json, MissingExtra, StoredFileError, UsageError, decode_json
from unswayed.papers.readin.fold import Codes
from unswayed.storage import write_atomically

_BLOCK = 256  # children of a node are one XORed byte away from its base, so they stand in the base's block
_RECENT = 8 * _BLOCK
_LEAF, _VALUE, _OFFSET = 1 << 8, 1 << 31, 10

Node = dict[int, Any]  # byte → node; 0 → where the replacement stands


def charsmap(replacements: Mapping[str, str]) -> bytes:
    """The table for `tokenizers.normalizers.Precompiled`. No side may hold a NUL."""
    pool = bytearray()
    root: Node = {}
    for old, new in sorted(replacements.items()):
        node = root
        for byte in old.encode():
            node = node.setdefault(byte, {})
        node[0] = len(pool)
        pool += new.encode() + b"\0"
    units = _Units(root).units
    if sys.byteorder == "big":
        units.byteswap()
    return len(units.tobytes()).to_bytes(4, "little") + units.tobytes() + bytes(pool)


class _Units:
    """The trie's nodes: a node's children stand at its base XOR their bytes, and no two nodes share a base."""

    def __init__(self, root: Node) -> None:
        self.units = array("I")
        self._taken, self._base = bytearray(), bytearray()
        self._hole = 0
        self._grow()
        self._taken[0] = self._base[0] = 1
        waiting = [(0, root)]
        while waiting:
            at, node = waiting.pop()
            base = self._free_base(node)
            self.units[at] |= (at ^ base) << _OFFSET | (_LEAF if 0 in node else 0)
            for byte, child in node.items():
                self._taken[base ^ byte] = 1
                self.units[base ^ byte] = _VALUE | child if byte == 0 else byte
                if byte:
                    waiting.append((base ^ byte, child))

    def _free_base(self, node: Node) -> int:
        """A base whose places are free. Nodes with one child fill the holes; others look in the last blocks only."""
        labels = list(node)
        start = self._hole if len(labels) == 1 else max(0, len(self.units) - _RECENT)
        for base in range(start, len(self.units) + _BLOCK):
            if base == len(self.units):
                self._grow()
            if not self._base[base] and not any(self._taken[base ^ label] for label in labels):
                self._base[base] = 1
                if len(labels) == 1:
                    self._hole = base
                return base
        raise AssertionError("an empty block has room for any node")

    def _grow(self) -> None:
        self.units.extend([0] * _BLOCK)
        self._taken.extend(bytes(_BLOCK))
        self._base.extend(bytes(_BLOCK))


VocabularyModel = Literal["unigram", "bpe"]
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
_BYTES = [f"<0x{byte:02X}>" for byte in range(256)]
_NEVER = -1e6  # score of a byte: taken only where nothing else will do
_PRINTABLE = [chr(code) for code in range(0x20, 0x7F)]
_SPLIT = {"type": "Split", "pattern": {"Regex": r"\s+"}, "behavior": "MergedWithNext", "invert": False}


class SubcharCard(msgspec.Struct, frozen=True):
    """`subchar.json`: how characters were written when the vocabulary was made."""

    encoding: str
    index: bool
    model: str
    format: int = 1


class SubChar:
    """A vocabulary over codes. `decode(encode(text))` is the text; without an index, with homophones folded."""

    def __init__(self, card: SubcharCard, tokenizer: Json) -> None:
        self.card, self.tokenizer = card, tokenizer
        self.codes = Codes(card.encoding, card.index)
        self._tokenizer = _tokenizers().Tokenizer.from_str(_text({**tokenizer, "normalizer": None}))

    @classmethod
    def train(
        cls, texts: Iterable[str], encoding: str = "pinyin", index: bool = True, model: VocabularyModel = "unigram",
        size: int = 8000,
    ) -> SubChar:  # fmt: skip
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
        return cls(SubcharCard(encoding, index, model), _whole(learnt, model, normalizer))

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
            ("tokenizer.json", self.tokenizer),
            ("tokenizer_config.json", config),
            ("subchar.json", msgspec.to_builtins(self.card)),
        ):
            write_atomically(folder / name, _text(content).encode() + b"\n")
        return folder

    @classmethod
    def load(cls, folder: str | Path) -> SubChar:
        folder = Path(folder)
        try:
            card = decode_json((folder / "subchar.json").read_bytes(), SubcharCard)
            return cls(card, decode_json((folder / "tokenizer.json").read_bytes()))
        except (OSError, msgspec.MsgspecError, TypeError, ValueError) as error:
            raise StoredFileError(f"{folder}: this is not a saved vocabulary ({error}). Train it again.") from error


def _tokenizers() -> Any:
    try:
        import tokenizers
    except ImportError as error:
        raise MissingExtra("Sub-character tokenisation", "hf") from error
    return tokenizers


def _learnt(coded: list[str], model: VocabularyModel, room: int) -> Json:
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


def _whole(learnt: Json, model: VocabularyModel, normalizer: str) -> Json:
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

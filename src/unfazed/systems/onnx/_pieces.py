"""`tokenizer.json`, called as transformers' tokenizers are, as far as the systems call them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

_GENERIC = ("TokenizersBackend", "PreTrainedTokenizerFast")  # which have no types of tokens unless told so


class Encoded(dict[str, Any]):
    """Numbers by name; where there are windows, a list of each."""

    def __init__(self, windows: Sequence[Any], types: bool, many: bool) -> None:
        rows = {
            "input_ids": [window.ids for window in windows],
            "attention_mask": [window.attention_mask for window in windows],
            **({"token_type_ids": [window.type_ids for window in windows]} if types else {}),
            "offset_mapping": [window.offsets for window in windows],
        }
        super().__init__(rows if many else {name: row[0] for name, row in rows.items() if name != "offset_mapping"})
        self._windows = windows

    def word_ids(self) -> list[int | None]:
        return list(self._windows[0].word_ids)

    def sequence_ids(self, number: int) -> list[int | None]:
        return list(self._windows[number].sequence_ids)


class Pieces:
    """One text, two, or a list of words, as pieces."""

    def __init__(self, file: Path, settings: Mapping[str, Any]) -> None:
        from tokenizers import Tokenizer

        self.backend_tokenizer = Tokenizer.from_file(str(file))
        self.backend_tokenizer.no_padding()
        names = settings.get("model_input_names")
        self._types = "token_type_ids" in names if names else settings.get("tokenizer_class") not in _GENERIC

    def __call__(
        self,
        *texts: Any,
        truncation: bool | str = False,
        max_length: int = 0,
        stride: int = 0,
        is_split_into_words: bool = False,
        add_special_tokens: bool = True,
        return_overflowing_tokens: bool = False,
        **_: bool,
    ) -> Encoded:
        if truncation:
            strategy = "longest_first" if truncation is True else truncation
            self.backend_tokenizer.enable_truncation(max_length, stride=stride, strategy=strategy)
        else:
            self.backend_tokenizer.no_truncation()
        told = {"is_pretokenized": is_split_into_words, "add_special_tokens": add_special_tokens}
        found = self.backend_tokenizer.encode(*texts, **told)
        windows = [found, *found.overflowing] if return_overflowing_tokens else [found]
        return Encoded(windows, self._types, return_overflowing_tokens)

    def decode(self, ids: Sequence[int]) -> str:
        return str(self.backend_tokenizer.decode(list(ids), skip_special_tokens=False))

"""The page on data names every reader and every corpus."""

from __future__ import annotations

from pathlib import Path

from unswayed.data import corpora, readers

PAGE = Path(__file__).resolve().parents[2] / "docs" / "data.md"


def test_every_reader_and_corpus_is_documented() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for name in [*readers.names(), *(corpus.name for corpus in corpora())]:
        assert f"`{name}`" in text, f"{name} is not on docs/data.md"

"""FRMT and the Indian-English pairs: what the real files hold, and how files that do not match are named."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from unswayed.base.errors import DataError, UsageError
from unswayed.data import DataKind, ReadOptions, import_corpus, read_examples, task_and_language
from unswayed.papers.dialect.corpora import read_pairs, read_segments

SHARED = Path(__file__).parents[3] / "../shared/data"
needs_shared = pytest.mark.skipif(not (SHARED / "frmt").is_dir(), reason="../shared/data is not here")
BR = "The bus is late.\tO ônibus está atrasado.\nA train.\tUm trem.\n"
PT = "The bus is late.\tO autocarro está atrasado.\nA train.\tUm comboio.\n"


def frmt(place: Path, *texts: str, tags: tuple[str, ...] = ("pt-BR", "pt-PT"), bucket: str = "lexical") -> Path:
    folder = place / f"{bucket}_bucket"
    folder.mkdir(parents=True)
    for text, tag in zip(texts, tags, strict=True):
        (folder / f"{tag[:2]}_{bucket}_test_en_{tag}.tsv").write_text(text, encoding="utf-8")
    return place


def test_examples_are_the_base_and_variants_the_other_dialect(tmp_path: Path) -> None:
    folder = frmt(tmp_path / "frmt", BR, PT)
    found = list(read_examples(folder))
    assert [e.inputs for e in found] == [{"text": "O ônibus está atrasado."}, {"text": "Um trem."}]
    assert found[1].id == "pt/lexical/test/2"
    assert found[0].groups == {"bucket": "lexical", "split": "test"}
    variants = list(import_corpus(folder, tmp_path / "suite", language="pt").variants())
    assert [(v.inputs["text"], v.note) for v in variants] == [
        ("O autocarro está atrasado.", "pt-PT"),
        ("Um comboio.", "pt-PT"),
    ]


def test_the_file_that_is_named_is_the_base(tmp_path: Path) -> None:
    file = frmt(tmp_path, BR, PT) / "lexical_bucket/pt_lexical_test_en_pt-PT.tsv"
    first = next(read_examples(file, ReadOptions(format="frmt")))
    assert first.inputs == {"text": "O autocarro está atrasado."}
    with pytest.raises(DataError, match="named as pt_lexical_test_en_pt-BR"):
        list(read_examples(Path(__file__), ReadOptions(format="frmt")))


@pytest.mark.parametrize(
    ("other", "line", "message"),
    [
        (PT + "More.\tMais.\n", 3, "has 3 lines, but pt_lexical_test_en_pt-BR.tsv has 2"),
        (PT.replace("A train", "The train"), 2, "the English is not that of pt_lexical_test_en_pt-BR.tsv:2"),
        ("The bus is late.\nA train.\tUm comboio.\n", 1, "a line must hold the English, a tab and the translation"),
        ("The bus is late.\t\nA train.\tUm comboio.\n", 1, "a line must hold the English"),
    ],
)
def test_files_that_do_not_match_are_named(tmp_path: Path, other: str, line: int, message: str) -> None:
    folder = frmt(tmp_path, BR, other)
    with pytest.raises(DataError, match=rf"pt-PT\.tsv:{line}: .*{message}"):
        list(read_segments(folder))


def test_a_set_has_one_language(tmp_path: Path) -> None:
    folder = frmt(tmp_path, BR, PT)
    frmt(folder / "more", "The bus.\t巴士。\n", tags=("zh-CN",))
    (folder / "more/lexical_bucket").rename(folder / "other_bucket")
    with pytest.raises(DataError, match="holds pt and zh, but a set has one language.*format= to frmt"):
        list(read_examples(folder))


def test_indian_english_pairs(tmp_path: Path) -> None:
    text = (
        "feature\tdialect_sentence\tmatched_standard_sentence\n"
        '"General Extender ""and all"""\tSo I came and all.\tSo I came.\n'
        "Focus Only\tSo I came only.\tSo I came.\n"
        "Focus Only\tI go\tI go\n"
    )
    (tmp_path / "pairs_derived.tsv").write_text(text, encoding="utf-8")
    assert [e.inputs["text"] for e in read_examples(tmp_path)] == ["So I came.", "I go"]
    assert task_and_language(tmp_path) == DataKind("text", "en", False)
    variants = list(import_corpus(tmp_path, tmp_path.parent / "ie").variants())
    assert [(v.draw, v.note) for v in variants] == [(0, 'General Extender "and all"'), (1, "Focus Only")]
    (tmp_path / "pairs_derived.tsv").write_text(text + "Focus Only\t\tI go\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"pairs_derived\.tsv:5: a row needs the sentence in both dialects"):
        list(read_pairs(tmp_path))
    with pytest.raises(UsageError, match="no fields to choose"):
        list(read_examples(tmp_path, ReadOptions(gold="feature")))


def test_pairs_are_made_of_the_public_sentences(tmp_path: Path) -> None:
    rows = ["Example,Feature", "I go there daily,None of the Above", "I was there just yesterday,None of the Above",
            "I was there yesterday only,Focus Only", "daily I go there,Object Fronting"]  # fmt: skip
    (tmp_path / "indian_english_dialect.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    assert [tuple(pair) for pair in read_pairs(tmp_path)] == [
        (2, "Focus Only", "I was there yesterday only", "I was there just yesterday"),
        (3, "Object Fronting", "daily I go there", "I go there daily"),
    ]
    assert [e.inputs["text"] for e in read_examples(tmp_path)] == ["I was there just yesterday", "I go there daily"]
    (tmp_path / "indian_english_dialect.csv").write_text("Example,Feature\nI go,Focus Only\n", encoding="utf-8")
    with pytest.raises(DataError, match="no sentence has the feature 'None of the Above'"):
        list(read_pairs(tmp_path))


@needs_shared
def test_the_public_sentences_give_the_pairs_that_the_study_was_made_with() -> None:
    folder = SHARED / "dialect_indian_english"
    assert list(read_pairs(folder / "indian_english_dialect.csv")) == list(read_pairs(folder / "pairs_derived.tsv"))


@needs_shared
def test_the_real_files_are_whole() -> None:
    counts = Counter((s.language, s.bucket) for s in read_segments(SHARED / "frmt"))
    assert counts == {("pt", "entity"): 985, ("pt", "lexical"): 874, ("zh", "entity"): 932, ("zh", "lexical"): 538}
    segment = next(read_segments(SHARED / "frmt", "dev", ["zh"]))
    assert list(segment.texts) == ["zh-CN", "zh-TW", "zh-TW_Simplified"]
    pairs = list(read_pairs(SHARED / "dialect_indian_english"))
    assert len(pairs) == 149
    assert len({pair.feature for pair in pairs}) == 22
    assert sum(pair.dialect == pair.standard for pair in pairs) == 4

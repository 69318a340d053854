"""The shipped sample: made by its generator, sound, and neither trivial nor hopeless."""

from __future__ import annotations

import runpy
from collections import Counter
from pathlib import Path

import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from unswayed.base.errors import UnknownName
from unswayed.data import DataKind, read_examples, sample_path, task_and_language


def test_the_generator_gives_the_shipped_files_byte_for_byte() -> None:
    make = runpy.run_path(str(Path(__file__).with_name("make_sample.py")))["make"]
    for name, text in make().items():
        assert sample_path(name.removesuffix(".jsonl")).read_bytes() == text.encode()


def test_it_is_sound_and_in_slices() -> None:
    train, test = (list(read_examples(sample_path(name))) for name in ("home_train", "home_test"))
    assert (len(train), len(test)) == (605, 154)
    assert task_and_language(sample_path("home_test")) == DataKind("slu", "en", True)
    assert set(Counter(e.gold["intent"] for e in test).values()) == {14}
    assert len({e.groups["domain"] for e in test}) == 7
    texts = [e.inputs["text"] for e in train + test]
    assert len(set(texts)) == len(texts)
    assert all(text == text.lower() for text in texts)


def test_a_bag_of_words_is_right_on_most_of_it_but_not_all() -> None:
    train, test = (list(read_examples(sample_path(name))) for name in ("home_train", "home_test"))
    model = make_pipeline(CountVectorizer(ngram_range=(1, 2)), LogisticRegression(max_iter=1000))
    model.fit([e.inputs["text"] for e in train], [e.gold["intent"] for e in train])
    right = model.score([e.inputs["text"] for e in test], [e.gold["intent"] for e in test])
    assert 0.88 < right < 0.98


def test_an_unknown_sample_is_named() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'home_test'"):
        sample_path("home_tst")

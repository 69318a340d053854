"""A masked language model that is trained here fills in words, and synonym operators and the NATURE study take it."""

from __future__ import annotations

from pathlib import Path

import commands
import pytest

torch = pytest.importorskip("torch", reason="needs the extra hf")

ROWS = [
    (f"{verb} a {adjective} {noun} in the city", "find")
    for verb in ("find", "show", "book")
    for adjective in ("cheap", "nice", "new", "big")
    for noun in ("hotel", "restaurant", "room")
]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("masked")
    for part in ("train", "test"):
        folder = place / "data/tiny" / part
        folder.mkdir(parents=True)
        rows = ROWS if part == "train" else ROWS[:6]
        (folder / "seq.in").write_text("".join(f"{text}\n" for text, _ in rows))
        (folder / "label").write_text("".join(f"{label}\n" for _, label in rows))
        (folder / "seq.out").write_text("".join(" ".join("O" for _ in text.split()) + "\n" for text, _ in rows))
    command = ["train", "masked", place / "data/tiny/train", "--epochs", 12, "--patience", 12, "--batch-size", 8]
    done = commands.unswayed(*command, "--lr", 0.003, "-o", place / "bert")
    assert done.returncode == 0, done.stderr
    assert "of hidden words on dev, 12 epochs" in done.stderr
    return place


def test_words_of_the_same_place_are_its_synonyms(place: Path) -> None:
    file = place / "mine.txt"
    file.write_text("find a cheap hotel in the city\n")
    command = ["vary", file, "--lang", "en", "--with", "spoken/synonym_adjective", "--param", f"model={place / 'bert'}"]
    done = commands.unswayed(*command, "--draws", 6, "-o", place / "suite")
    assert done.returncode == 0, done.stderr
    shown = commands.unswayed("suite", "show", place / "suite", "--variants", 6, "--format", "jsonl").stdout
    assert any(f"cheap→{word} (adjective)" in shown for word in ("nice", "new", "big"))


def test_the_study_takes_it(place: Path) -> None:
    command = ["study", "nature", "--data", place / "data", "--datasets", "tiny", "--only", "classes", "--no-guard"]
    command += ["--model", "linear", "--seeds", 1, "--param", f"model={place / 'bert'}", "-o", place / "out"]
    done = commands.unswayed(*command)
    assert done.returncode == 0, done.stderr
    assert "adjective" in done.stdout


def test_the_same_each_time_and_never_over_other_files(place: Path, tmp_path: Path) -> None:
    from unswayed.lab.training.masked import train_masked

    texts = [text for text, _ in ROWS]
    for name in ("a", "b"):
        train_masked(texts, tmp_path / name, epochs=1)
    files = [(tmp_path / name / "model.safetensors").read_bytes() for name in ("a", "b")]
    assert files[0] == files[1]
    done = commands.unswayed("train", "masked", place / "data/tiny/train", "-o", tmp_path / "a")
    assert done.returncode == 4
    assert "exists. Choose another folder" in done.stderr

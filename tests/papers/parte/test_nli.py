"""P̂aRTE's bag of words and BiLSTM over word vectors that the tests make."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from unswayed.base.errors import DataError, UsageError
from unswayed.base.values import Example
from unswayed.papers.parte.vectors import Vectors, words_of
from unswayed.systems.opening import open_system
from unswayed.systems.system import Failed

torch = pytest.importorskip("torch", reason="needs the extra hf")

from unswayed.lab.training.models import TrainingSettings  # noqa: E402
from unswayed.papers.parte.models import NliBilstm, NliBow  # noqa: E402
from unswayed.papers.parte.networks import BowPairNetwork  # noqa: E402

ANIMALS, TOOLS = ["cat", "dog", "cow", "hen", "fox", "pig"], ["saw", "axe", "drill", "file", "plane", "lathe"]


def vectors_file(place: Path, header: bool = False) -> Path:
    """Animals point one way and tools the other, with a little of their own."""
    rng = np.random.Generator(np.random.PCG64(0))
    lines = []
    for word, way in [*((w, 1.0) for w in ANIMALS), *((w, -1.0) for w in TOOLS), ("the", 0.0), ("sees", 0.0)]:
        row = np.r_[way, rng.normal(0, 0.1, 7)]
        lines.append(f"{word} {' '.join(f'{x:.4f}' for x in row)}\n")
    file = place / ("v.vec" if header else "v.txt")
    file.write_text((f"{len(lines)} 8\n" if header else "") + "".join(lines), encoding="utf-8")
    return file


def pairs(words: list[str]) -> list[Example]:
    """Entailed where both are animals or both tools."""
    found = []
    for a in words:
        for b in words:
            gold = "entailed" if (a in ANIMALS) == (b in ANIMALS) else "not_entailed"
            inputs = {"premise": f"The {a} sees", "hypothesis": f"the {b} sees"}
            found.append(Example(len(found), str(len(found)), inputs, gold))
    return found


LEARNT, ASKED = pairs(ANIMALS[:4] + TOOLS[:4]), pairs(ANIMALS[4:] + TOOLS[4:])


@pytest.mark.parametrize(("model", "options"), [(NliBow, {}), (NliBilstm, {"hidden": 8, "layers": 1})])
def test_unseen_words_are_understood_by_their_vectors(model: type[NliBow], options: dict, tmp_path: Path) -> None:
    options = {"epochs": 60, "patience": 20, "batch_size": 8, "lr": 0.01, **options}
    system = model.train(LEARNT, LEARNT, vectors=vectors_file(tmp_path), to=tmp_path / "model", **options)
    answers = system.predict([e.inputs for e in ASKED])
    assert sum(a == e.gold for a, e in zip(answers, ASKED, strict=True)) / len(ASKED) > 0.9
    opened = open_system(str(tmp_path / "model"))
    assert opened.identity == system.identity
    assert list(opened.predict([e.inputs for e in ASKED])) == list(answers)
    assert sorted(f.name for f in (tmp_path / "model").iterdir()) == ["system.json", "weights.safetensors"]
    assert isinstance(opened.predict([{"premise": "x"}])[0], Failed)
    hostile = [{"premise": "", "hypothesis": "🙂 שלום " + "x " * 999}, {"premise": "猫", "hypothesis": "zzz"}]
    assert set(opened.predict(hostile)) <= {"entailed", "not_entailed"}


def test_a_training_that_learnt_nothing_is_done_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first training's answers are replaced by one label for all pairs."""
    monkeypatch.setattr("unswayed.papers.parte.models._FEW", 10)
    predict, failing = NliBow.predict, {0}

    def one_label(self, batch):
        return ["entailed"] * len(batch) if self.card.settings.seed in failing else predict(self, batch)

    monkeypatch.setattr(NliBow, "predict", one_label)
    options = {"epochs": 20, "batch_size": 8, "lr": 0.01, "vectors": vectors_file(tmp_path), "to": tmp_path / "model"}
    system = NliBow.train(LEARNT, LEARNT, **options)
    assert system.card.settings.seed == 1000
    told = capsys.readouterr().err
    assert "nli/bow, seed 0: it calls every pair entailed, so it has learnt nothing; training again with seed" in told
    assert open_system(str(tmp_path / "model")).identity == system.identity
    assert NliBow.train(LEARNT, LEARNT, **options).identity == system.identity  # nothing is trained twice
    assert capsys.readouterr().err == ""
    failing |= {1000, 2000}
    NliBow.train(LEARNT, LEARNT, **{**options, "to": tmp_path / "other"})
    assert capsys.readouterr().err.count("learnt nothing") == 3


def test_the_layers_see_what_the_paper_says(tmp_path: Path) -> None:
    vectors = Vectors.read(vectors_file(tmp_path), [["cat", "axe"]])
    network = BowPairNetwork(vectors, 2, TrainingSettings(dropout=0.0))
    seen = []
    network.judge.register_forward_hook(lambda module, given, out: seen.append(given[0]))
    cat, axe = ([network.vectors.find(word) + 2] for word in ("cat", "axe"))
    network(network.collate([(cat + axe, axe)]))
    p = (vectors.rows[cat[0] - 2] + vectors.rows[axe[0] - 2]) / 2
    h = vectors.rows[axe[0] - 2]
    np.testing.assert_allclose(seen[0][0], np.r_[p, h, abs(p - h), p * h], rtol=1e-5)
    sizes = [layer.weight.shape for layer in network.judge if hasattr(layer, "weight")]
    assert [tuple(size) for size in sizes] == [(8, 32), (8, 8), (8, 8), (2, 8)]


def test_the_same_each_time_and_another_with_another_seed(tmp_path: Path) -> None:
    file = vectors_file(tmp_path, header=True)
    made = [NliBow.train(LEARNT, vectors=file, epochs=2, seed=seed).identity for seed in (1, 1, 2)]
    assert made[0] == made[1] != made[2]


KILLED = """
import sys
sys.path.insert(0, {here!r})
from pathlib import Path
from test_nli import LEARNT
from unswayed.papers.parte.models import NliBow
NliBow.train(LEARNT, LEARNT, vectors=sys.argv[1], to=sys.argv[2], epochs={epochs}, patience=999, lr=1e-5)
"""


@pytest.mark.slow
def test_a_killed_training_goes_on(tmp_path: Path) -> None:
    file, epochs = vectors_file(tmp_path), 60
    options = {"vectors": file, "epochs": epochs, "patience": 999, "lr": 1e-5}
    whole = NliBow.train(LEARNT, LEARNT, to=tmp_path / "whole", **options)
    command = [sys.executable, "-c", KILLED.format(here=str(Path(__file__).parent), epochs=epochs), file]
    process = subprocess.Popen([*map(str, command), str(tmp_path / "killed")])
    checkpoint = tmp_path / "killed/training.safetensors"
    while not checkpoint.exists() and process.poll() is None:
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert NliBow.train(LEARNT, LEARNT, to=tmp_path / "killed", **options).identity == whole.identity
    assert not checkpoint.exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("cat 1 2 3\ndog 1 2\n", ":2: a line must be a word and 3 numbers; this has 3 parts"),
        ("cat 1 2 x\n", ":1: a line must be a word and 3 numbers"),
        ("cat 1 2 nan\n", ":1: a number is not finite"),
        ("cat\n", ":1: a line must be a word and 2 numbers"),
        ("", ": none of the words to learn from has a vector here"),
        ("zebra 1 2 3\n", ": none of the words to learn from has a vector here"),
    ],
)
def test_a_bad_file_of_vectors_is_named(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "v.txt").write_text(content)
    with pytest.raises(DataError, match="v.txt" + message):
        Vectors.read(tmp_path / "v.txt", [["cat"]])
    with pytest.raises(DataError, match="can't be read"):
        Vectors.read(tmp_path / "no.txt", [["cat"]])


def test_vectors_of_the_words_learnt_come_first(tmp_path: Path) -> None:
    (tmp_path / "v.txt").write_text("The 1 1 1\n. . . 1 2 3\ncat 2 2 2\nthe 3 3 3\ncat 9 9 9\n")
    found = Vectors.read(tmp_path / "v.txt", [["Cat", "The", "The"]], most=3)
    assert found.words == ["The", "cat", "the"]
    assert found.find("CAT") == 1
    assert found.rows[1].tolist() == [2, 2, 2]
    assert Vectors.read(tmp_path / "v.txt", [["cat"]], most=2).words == ["cat", "The"]


def test_words_are_cut_as_vectors_have_them() -> None:
    assert words_of("Don’t say it's 花呗!", 50) == ["Do", "n't", "say", "it", "'s", "花", "呗", "!"]
    assert len(words_of("a " * 100, 50)) == 50


def test_wrong_use(tmp_path: Path) -> None:
    file = vectors_file(tmp_path)
    with pytest.raises(DataError, match="needs the texts premise and hypothesis"):
        NliBow.train([Example(0, "0", {"text": "x"}, "yes")], vectors=file)
    with pytest.raises(UsageError, match="no examples"):
        NliBow.train([], vectors=file)
    with pytest.raises(UsageError, match="no option 'hiden'. Did you mean 'hidden'"):
        NliBow.train(LEARNT, vectors=file, hiden=3)


@pytest.mark.slow
def test_the_command(tmp_path: Path) -> None:
    vectors_file(tmp_path)
    rows = [f'{{"premise": "{e.inputs["premise"]}", "hypothesis": "{e.inputs["hypothesis"]}", "label": "{e.gold}"}}'
            for e in LEARNT]  # fmt: skip
    (tmp_path / "pairs.jsonl").write_text("\n".join(rows))
    for more in (["-o", "small"], ["--model", "bow", "--vectors", "v.txt", "--epochs", "2", "-o", "bow"]):
        command = [sys.executable, "-m", "unswayed", "train", "nli", "pairs.jsonl", *more]
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
        assert open_system(str(tmp_path / more[-1])).predict([LEARNT[0].inputs])
    wrong = [sys.executable, "-m", "unswayed", "train", "nli", "pairs.jsonl", "--model", "bow", "-o", "x"]
    done = subprocess.run(wrong, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 4
    assert "needs --vectors FILE" in done.stderr

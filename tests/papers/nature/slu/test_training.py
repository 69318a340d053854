"""What a training promises: it learns, is the same each time, and goes on after a kill as if nothing had happened."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from unswayed.base.errors import DataError, MissingExtra, UsageError
from unswayed.base.values import Example
from unswayed.papers.nature.slu.models import Bilstm, Birnn, Jointbert, Stackprop
from unswayed.systems.opening import open_system

SMALL = {"words": 16, "letters": 8, "filters": 16, "hidden": 16, "min_count": 1, "batch_size": 8, "patience": 99}
SLU = Path(__file__).parents[4].parent / "shared/data/slu"


def share_right(system: object, examples: list[Example]) -> float:
    outputs = system.predict([e.inputs for e in examples])  # type: ignore[attr-defined]
    return sum(o == e.gold for o, e in zip(outputs, examples, strict=True)) / len(examples)


@pytest.mark.parametrize(
    ("model", "on_bert", "lr"),
    [
        (Bilstm, False, 2e-2),
        (Birnn, False, 2e-2),
        (Stackprop, False, 2e-2),
        (Stackprop, True, 5e-3),
        (Jointbert, True, 5e-3),
    ],
)
def test_learns_what_it_is_shown(
    model: type[Bilstm], on_bert: bool, lr: float, toy: list[Example], bert: Path, tmp_path: Path
) -> None:
    options = {**SMALL, "epochs": 60, "patience": 20, "dropout": 0.1, "average": 0.9, "lr": lr}
    system = model.train(toy, toy, encoder=bert if on_bert else None, **options)
    system.save(tmp_path / "model")
    assert share_right(system, toy) > 0.97
    opened = open_system(str(tmp_path / "model"))
    assert opened.identity == system.identity
    texts = [{"text": t} for t in ("play old jazz", "", "zzz  QQ", "rain in old rome please")]
    assert list(opened.predict(texts)) == list(system.predict(texts))
    assert sorted(f.name for f in (tmp_path / "model").iterdir()) == ["system.json", "weights.safetensors"]


@pytest.mark.parametrize("model", [Bilstm, Birnn])
def test_same_data_and_seed_same_model(model: type[Bilstm], toy: list[Example]) -> None:
    made = [model.train(toy, toy, **SMALL, epochs=2, seed=seed).identity for seed in (3, 3, 4)]
    assert made[0] == made[1] != made[2]
    assert model.train(toy[1:], toy, **SMALL, epochs=2, seed=3).identity != made[0]


def test_training_leaves_torch_as_it_was(toy: list[Example]) -> None:
    torch.manual_seed(5)
    expected, threads = torch.rand(3), torch.get_num_threads()
    torch.manual_seed(5)
    Bilstm.train(toy, toy, **SMALL, epochs=1).predict([{"text": "play"}])
    assert torch.equal(torch.rand(3), expected)
    assert torch.get_num_threads() == threads


KILLED = """
import sys
from pathlib import Path
sys.path.insert(0, {here!r})
from conftest import examples
from unswayed.papers.nature.slu.models import Birnn
Birnn.train(examples(), examples(), to=sys.argv[1], epochs=8, **{small!r})
"""


def test_a_killed_training_ends_with_the_same_weights(toy: list[Example], tmp_path: Path) -> None:
    place, checkpoint = tmp_path / "killed", tmp_path / "killed/training.safetensors"
    code = KILLED.format(here=str(Path(__file__).parent), small=SMALL)
    running = subprocess.Popen([sys.executable, "-c", code, str(place)])
    while not checkpoint.exists() and running.poll() is None:
        time.sleep(0.002)
    os.kill(running.pid, signal.SIGKILL)
    assert running.wait() == -signal.SIGKILL, "it was done before it was killed"
    assert not (place / "system.json").exists()
    Birnn.train(toy, toy, to=place, epochs=8, **SMALL)
    Birnn.train(toy, toy, to=tmp_path / "whole", epochs=8, **SMALL)
    assert (place / "weights.safetensors").read_bytes() == (tmp_path / "whole/weights.safetensors").read_bytes()
    assert not checkpoint.exists()


def test_training_stops_when_dev_gets_no_better_and_keeps_the_best(toy: list[Example]) -> None:
    wrong = [Example(0, "0", {"text": "play"}, {"intent": "never seen", "slots": ["O"]})]
    stopped = Bilstm.train(toy, wrong, **{**SMALL, "patience": 2}, epochs=50)
    assert stopped.card.dev_scores == [0.0, 0.0, 0.0]
    longer = Bilstm.train(toy, wrong, **{**SMALL, "patience": 3}, epochs=50)
    kept = [system.network.state_dict() for system in (stopped, longer)]
    assert all(torch.equal(kept[0][name], kept[1][name]) for name in kept[0]), "the first epoch's, as none was better"


def test_nothing_is_trained_twice_or_overwritten_unasked(toy: list[Example], tmp_path: Path) -> None:
    first = Bilstm.train(toy, toy, to=tmp_path / "model", **SMALL, epochs=1)
    written = (tmp_path / "model/system.json").stat().st_mtime_ns
    assert Bilstm.train(toy, toy, to=tmp_path / "model", **SMALL, epochs=1).identity == first.identity
    assert (tmp_path / "model/system.json").stat().st_mtime_ns == written
    with pytest.raises(UsageError, match="holds another system"):
        Bilstm.train(toy, toy, to=tmp_path / "model", **SMALL, epochs=2)
    other = Bilstm.train(toy, toy, to=tmp_path / "model", overwrite=True, **SMALL, epochs=2)
    assert open_system(str(tmp_path / "model")).identity == other.identity != first.identity
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/letter.txt").write_text("dear")
    with pytest.raises(UsageError, match="is not a saved system"):
        Bilstm.train(toy, toy, to=tmp_path / "mine", overwrite=True, **SMALL, epochs=1)


def test_an_unfinished_training_of_something_else_is_refused(toy: list[Example], tmp_path: Path) -> None:
    from unswayed.lab.training.loop import Checkpoint

    Checkpoint(tmp_path / "model/training.safetensors", "another plan").write({"a": torch.zeros(1)}, b"{}")
    with pytest.raises(UsageError, match="unfinished training"):
        Bilstm.train(toy, toy, to=tmp_path / "model", **SMALL, epochs=1)
    Bilstm.train(toy, toy, to=tmp_path / "model", overwrite=True, **SMALL, epochs=1)


def test_what_can_not_be_learnt_from_is_named(toy: list[Example], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no examples"):
        Bilstm.train([])
    with pytest.raises(DataError, match=r"'x9' \(row 9\)"):
        Bilstm.train([*toy, Example(9, "x9", {"text": "t"}, {"intent": "a", "slots": []})])
    with pytest.raises(UsageError, match="Did you mean 'epochs'"):
        Bilstm.train(toy, epoch=3)
    with pytest.raises(UsageError, match="epochs to be 1 or more"):
        Bilstm.train(toy, epochs=0)
    with pytest.raises(UsageError, match="uses a Hugging Face encoder"):
        Jointbert.train(toy)
    with pytest.raises(UsageError, match=r"no config\.json"):
        Jointbert.train(toy, encoder=tmp_path)


def test_dev_is_held_out_by_text(toy: list[Example]) -> None:
    card = Bilstm.train([*toy, *toy], **SMALL, epochs=1).card
    assert card.examples + card.dev_examples == 2 * len(toy)
    assert 0 < card.dev_examples < len(toy)
    assert card.dev_examples % 2 == 0, "a text and its double are on the same side"
    alone = Bilstm.train(toy[:1], **SMALL, epochs=1)
    assert alone.card.examples == alone.card.dev_examples == 1


def test_without_the_extra_the_install_line_is_shown(toy: list[Example], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unswayed.systems.device.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"pip install 'bert-score"):
        Bilstm.train(toy)


def test_registry_and_help_import_no_torch() -> None:
    code = "import sys; from unswayed.systems import systems; systems.get('slu/bilstm'); import unswayed.cli.train"
    subprocess.run([sys.executable, "-c", f"{code}; assert 'torch' not in sys.modules"], check=True)


def test_the_command_takes_a_folder_with_train_and_valid(toy: list[Example], tmp_path: Path) -> None:
    from click.testing import CliRunner

    from unswayed.cli.train import command

    for part, some in (("train", toy), ("valid", toy[:5])):
        (tmp_path / "data" / part).mkdir(parents=True)
        columns = {
            "seq.in": [e.inputs["text"] for e in some],
            "seq.out": [" ".join(e.gold["slots"]) for e in some],
            "label": [e.gold["intent"] for e in some],
        }
        for name, lines in columns.items():
            (tmp_path / "data" / part / name).write_text("\n".join(lines) + "\n")
    arguments = ["slu", str(tmp_path / "data"), "-o", str(tmp_path / "model"), "--epochs", "1", "--batch-size", "16"]
    done = CliRunner().invoke(command, arguments)
    assert done.exit_code == 0, done.output
    assert "end to end on dev, 1 epochs" in done.stderr
    system = open_system(str(tmp_path / "model"))
    assert isinstance(system, Bilstm)
    assert (system.card.examples, system.card.dev_examples) == (len(toy), 5)
    assert system.card.settings.batch_size == 16
    assert "table#eat" in system.network.labels.intents


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_a_few_epochs_on_atis_are_worth_something(tmp_path: Path) -> None:
    if not SLU.exists():
        pytest.skip(f"needs the SLU files in {SLU}")
    from unswayed.data import read_examples

    train, dev, test = (list(read_examples(SLU / "atis" / part)) for part in ("train", "valid", "test"))
    system = Bilstm.train(train, dev, epochs=5, lr=4e-3)
    assert share_right(system, test) > 0.70

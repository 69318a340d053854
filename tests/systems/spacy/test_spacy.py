"""Small pipelines that are trained on the spot."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

pytest.importorskip("spacy", reason="needs the extra spacy")

import spacy
from samples.pipelines import SAID, save_tiny

from unswayed.base.errors import MissingExtra, StoredFileError, UsageError
from unswayed.base.task import task_named
from unswayed.run.engine import run_system
from unswayed.run.making import make_suite
from unswayed.systems.opening import open_system
from unswayed.systems.system import Failed

TEXTS = [
    "play some loud jazz",
    "will it rain on friday, please",
    "",
    "  ",
    "🙂 شلون",
    "花呗怎么还款",
    "rain  on monday",
    "\ud800 a",
]


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("both") / "pipeline"
    save_tiny(folder)
    return folder


def test_labels_are_those_of_the_pipeline_itself(both: Path) -> None:
    nlp = spacy.load(both)
    system = open_system(f"spacy:{both}", answer="label")
    texts = [text.encode("utf-8", "replace").decode() for text in TEXTS]
    expected = [max(doc.cats, key=doc.cats.__getitem__) for doc in nlp.pipe(texts)]
    assert list(system.predict([{"text": text} for text in TEXTS])) == expected
    assert list(system.predict([{"text": text} for text, _, _ in SAID])) == [label for _, label, _ in SAID]


def test_entities_are_tags_of_our_tokens(both: Path) -> None:
    system = open_system(str(both))  # a folder alone, and no suite that says otherwise
    outputs = list(system.predict([{"text": text} for text in TEXTS]))
    for text, output in zip(TEXTS, outputs, strict=True):
        assert task_named("slu").output_problem(output, {"text": text}) is None
    assert outputs[0] == {"intent": "music", "slots": ["O", "O", "O", "B-genre"]}
    assert outputs[1] == {"intent": "weather", "slots": ["O", "O", "O", "O", "B-day", "O"]}
    assert outputs[::-1] == [system.predict([{"text": text}])[0] for text in TEXTS[::-1]]


def test_the_task_decides_what_is_answered(both: Path, tmp_path: Path) -> None:
    (tmp_path / "label.jsonl").write_text('{"text": "play some loud jazz", "label": "music"}\n')
    (tmp_path / "tags.jsonl").write_text(
        '{"text": "play some loud jazz", "label": {"intent": "music", "slots": ["O", "O", "O", "B-genre"]}}\n'
    )
    (tmp_path / "entities.jsonl").write_text(
        '{"text": "play some loud jazz.", "entities": [{"start": 15, "end": 19, "label": "genre"}]}\n'
    )
    identities = set()
    for task, name in (("classify", "label"), ("slu", "tags"), ("tag", "entities")):
        suite = make_suite(tmp_path / f"{name}.jsonl", ["keyboard/adjacent"], to=tmp_path / name)
        assert suite.manifest.task == task
        system = open_system(f"spacy:{both}")
        run_system(suite, system, to=tmp_path / f"{name}-run")
        identities.add(system.identity)
    assert len(identities) == 3


def test_one_text_is_read(both: Path) -> None:
    system = open_system(f"spacy:{both}", answer="label")
    assert list(system.predict([{"said": "play jazz"}])) == ["music"]
    [failed] = system.predict([{"a": "play", "b": "rain"}])
    assert isinstance(failed, Failed)
    named = open_system(f"spacy:{both}", answer="label", field="a")
    assert list(named.predict([{"a": "play jazz", "b": "rain"}])) == ["music"]
    assert named.identity != system.identity


def test_identity_is_the_content_and_not_the_place(both: Path, tmp_path: Path) -> None:
    copied = shutil.copytree(both, tmp_path / "copied")
    assert open_system(f"spacy:{copied}").identity == open_system(f"spacy:{both}").identity
    weights = copied / "ner" / "model"
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(content)
    assert open_system(f"spacy:{copied}").identity != open_system(f"spacy:{both}").identity


def test_what_can_not_be_opened_says_why(both: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match=r"nowhere holds no spaCy pipeline\. Save one with nlp\.to_disk"):
        open_system("spacy:nowhere")
    with pytest.raises(UsageError, match="label, tags or entities, not 'cats'"):
        open_system(f"spacy:{both}", answer="cats")
    spacy.blank("en").to_disk(tmp_path / "blank")
    with pytest.raises(UsageError, match="has nothing in it, but not a textcat"):
        open_system(f"spacy:{tmp_path / 'blank'}").predict([{"text": "a"}])
    broken = shutil.copytree(both, tmp_path / "broken")
    (broken / "ner" / "model").write_bytes(b"?")
    with pytest.raises(StoredFileError, match="broken: spaCy can't open this"):
        open_system(f"spacy:{broken}").predict([{"text": "a"}])
    monkeypatch.setattr("unswayed.systems.spacy.pipeline.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"pip install 'spacy"):
        open_system(f"spacy:{both}").predict([{"text": "a"}])

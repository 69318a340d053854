"""What the systems answer, beside what the models themselves say when they are asked one text at a time."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

from unswayed.base.edits import slots_of
from unswayed.base.errors import UsageError
from unswayed.base.task import task_named
from unswayed.run.making import make_suite
from unswayed.systems.opening import open_system
from unswayed.systems.system import Failed

Tiny = Callable[..., Path]
TEXTS = ["花呗怎么还款", "play jazz", "借呗额度为什么没有", "rain on monday ?", "", "🙂 شلون"]


def parts(folder: Path, auto: str) -> tuple[Any, Any]:
    model = getattr(transformers, auto).from_pretrained(folder).eval()
    return transformers.AutoTokenizer.from_pretrained(folder), model


@torch.inference_mode()
def test_labels_of_texts_and_pairs(tiny: Tiny) -> None:
    folder = tiny("hf/classify")
    tokenizer, model = parts(folder, "AutoModelForSequenceClassification")
    names = ["yes", "no", "maybe"]
    system = open_system(f"hf:{folder}")
    single = [names[model(**tokenizer(t, return_tensors="pt")).logits.argmax()] for t in TEXTS]
    assert list(system.predict([{"text": t} for t in TEXTS])) == single
    pairs = list(zip(TEXTS, TEXTS[::-1], strict=True))
    double = [names[model(**tokenizer(a, b, return_tensors="pt")).logits.argmax()] for a, b in pairs]
    assert list(system.predict([{"premise": a, "hypothesis": b} for a, b in pairs])) == double
    [failed] = system.predict([{"a": "x", "b": "y", "c": "z"}])
    assert isinstance(failed, Failed)


def test_numbered_labels_are_numbers_and_given_ones_are_theirs(tiny: Tiny) -> None:
    folder = tiny("hf/classify", labels=["LABEL_0", "LABEL_1", "LABEL_2"])
    [said] = open_system(str(folder)).predict([{"text": "play"}])
    assert said in ("0", "1", "2")
    renamed = open_system(str(folder), labels="a,b,c")
    assert list(renamed.predict([{"text": "play"}])) == ["abc"[int(said)]]
    assert renamed.identity != open_system(str(folder)).identity


@torch.inference_mode()
def test_tags_of_tokens_in_windows_of_any_length(tiny: Tiny) -> None:
    system = open_system(str(tiny("hf/tag")))
    texts = ["play jazz on monday", "", "a  b", "rain " * 300, "花呗 怎么", "\x00 play"]
    outputs = system.predict([{"text": text} for text in texts])
    for text, output in zip(texts, outputs, strict=True):
        assert task_named("slu").output_problem(output, {"text": text}) is None
    tokenizer, model = parts(system.folder.path, "AutoModelForTokenClassification")  # type: ignore[attr-defined]
    best = model(**tokenizer("play jazz on monday", return_tensors="pt")).logits[0, 1:5].argmax(1).tolist()
    assert outputs[0]["slots"] == [["O", "B-thing", "I-thing"][n] for n in best]


@pytest.mark.parametrize("scheme", ["hf", "onnx"])
def test_a_byte_level_tokenizer_is_shown_words_that_follow_a_space(scheme: str, tiny: Tiny) -> None:
    """Saved as RoBERTa's are, without `add_prefix_space`, which transformers must be told for lists of words."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    folder = tiny("hf/tag")
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    letters = pre_tokenizers.ByteLevel.alphabet()
    marks = {"initial_alphabet": letters, "show_progress": False, "special_tokens": ["<s>", "<pad>", "</s>", "<unk>"]}
    tokenizer.train_from_iterator(["play jazz on monday"] * 9, trainers.BpeTrainer(**marks))
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text('{"tokenizer_class": "RobertaTokenizer"}')
    if scheme == "onnx":
        pytest.importorskip("onnxruntime", reason="needs the extra onnx")
        (folder / "model.onnx").touch()  # only its tokenizer is asked here
    system: Any = open_system(f"{scheme}:{folder}", max_length=64)
    system.__dict__["room"] = 64
    [window] = system.windows(0, "jazz  on monday")
    told = transformers.AutoTokenizer.from_pretrained(folder, add_prefix_space=True)
    words = told(["jazz", "on", "monday"], is_split_into_words=True, add_special_tokens=False)["input_ids"]
    assert [window.row["input_ids"][first] for first in window.firsts if first is not None] == words
    assert window.firsts[1] is None  # nothing stands between two spaces


@torch.inference_mode()
def test_answers_stand_in_the_context_also_beyond_one_window(tiny: Tiny) -> None:
    folder = tiny("hf/read")
    system = open_system(str(folder))
    context = "花呗怎么还款，借呗额度。 play jazz on monday " * 20
    short, long = system.predict([{"question": "什么 ?", "context": c} for c in (context[:20], context)])
    tokenizer, model = parts(folder, "AutoModelForQuestionAnswering")
    encoded = tokenizer("什么 ?", context[:20], return_tensors="pt", return_offsets_mapping=True)
    places, sides = encoded.pop("offset_mapping")[0].tolist(), encoded.sequence_ids(0)
    out = model(**encoded)
    inside = [n for n, side in enumerate(sides) if side == 1]
    scores = {(a, b): float(out.start_logits[0, a] + out.end_logits[0, b]) for a in inside for b in inside if a <= b}
    a, b = max(scores, key=scores.__getitem__)
    assert short == context[places[a][0] : places[b][1]]
    assert long
    assert long in context


@torch.inference_mode()
def test_generated_texts_whatever_goes_with_them(tiny: Tiny, tmp_path: Path) -> None:
    folder = tiny("hf/seq2seq")
    tokenizer, model = parts(folder, "AutoModelForSeq2SeqLM")
    system = open_system(str(folder), prompt="select {source} ?", max_new_tokens=6)
    expected = []
    for text in TEXTS:
        ids = tokenizer(f"select {text} ?", return_tensors="pt").input_ids
        out = model.generate(ids, max_new_tokens=6, do_sample=False)
        expected.append(tokenizer.decode(out[0], skip_special_tokens=True).strip())
    assert list(system.predict([{"source": text} for text in TEXTS])) == expected
    (tmp_path / "prompt.txt").write_text("select {source} ?")
    assert open_system(str(folder), prompt=str(tmp_path / "prompt.txt"), max_new_tokens=6).identity == system.identity
    sql = open_system(str(folder), max_new_tokens=4)
    assert isinstance(sql.predict([{"question": "a ?", "db_id": "d", "schema": "a(b)"}])[0], str)
    [failed] = sql.predict([{"one": "a", "other": "b"}])
    assert isinstance(failed, Failed)


@torch.inference_mode()
def test_a_causal_model_goes_on_from_the_prompt(tiny: Tiny) -> None:
    folder = tiny("hf/causal")
    tokenizer, model = parts(folder, "AutoModelForCausalLM")
    system = open_system(str(folder), max_new_tokens=5)
    texts = ["play jazz", "rain on monday ?"]
    expected = []
    for text in texts:
        ids = tokenizer(text, return_tensors="pt").input_ids
        out = model.generate(ids, max_new_tokens=5, do_sample=False, pad_token_id=0)[0, ids.shape[1] :]
        expected.append(tokenizer.decode(out, skip_special_tokens=True).strip())
    assert list(system.predict([{"text": text} for text in texts])) == expected


def test_mbart_is_told_its_languages(mbart: Path) -> None:
    system = open_system(str(mbart), source_language="zh_CN", target_language="en_XX", max_new_tokens=4)
    assert isinstance(system.predict([{"source": "play jazz"}])[0], str)
    assert system.tokenizer("play")["input_ids"][0] == system.tokenizer.convert_tokens_to_ids("zh_CN")  # type: ignore[attr-defined]
    other = open_system(str(mbart), source_language="zz_ZZ")
    with pytest.raises(UsageError, match="zz_ZZ"):
        other.predict([{"source": "play"}])


def test_identity_is_the_content_and_not_the_place(tiny: Tiny, tmp_path: Path) -> None:
    folder = tiny("hf/classify")
    copied = shutil.copytree(folder, tmp_path / "copied")
    assert open_system(str(copied)).identity == open_system(f"hf:{folder}").identity
    weights = copied / "model.safetensors"
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(content)
    assert open_system(str(copied)).identity != open_system(str(folder)).identity


def test_what_can_not_be_opened_says_why(tiny: Tiny, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such folder"):
        open_system("hf:nowhere")
    folder = tiny("hf/classify")
    with pytest.raises(UsageError, match="has no option 'lables'"):
        open_system(str(folder), lables="a")
    bare = shutil.copytree(folder, tmp_path / "bare")
    config = json.loads((bare / "config.json").read_text())
    (bare / "config.json").write_text(json.dumps(config | {"architectures": ["BertModel"]}))
    with pytest.raises(UsageError, match="holds a BertModel"):
        open_system(f"hf:{bare}")
    (bare / "config.json").write_text(json.dumps(config | {"architectures": ["BertForQuestionAnswering"]}))
    with pytest.raises(UsageError, match="without weights for qa_outputs"):
        open_system(str(bare)).predict([{"question": "a", "context": "b"}])
    (bare / "model.safetensors").rename(bare / "pytorch_model.bin")
    with pytest.raises(UsageError, match="pickle"):
        open_system(f"hf:{bare}")


def test_the_task_must_fit(tiny: Tiny, tmp_path: Path) -> None:
    (tmp_path / "data.jsonl").write_text('{"text": "play jazz", "label": "yes"}\n')
    suite = make_suite(tmp_path / "data.jsonl", ["keyboard/adjacent"], to=tmp_path / "suite")
    open_system(str(tiny("hf/classify"))).prepare(suite)
    with pytest.raises(UsageError, match="2 labels for the model's 3 outputs"):
        open_system(str(tmp_path / "model"), labels="a,b").prepare(suite)
    with pytest.raises(UsageError, match=r"BertForTokenClassification, which answers the task tag or slu .* classify"):
        open_system(str(tiny("hf/tag", "tag"))).prepare(suite)


def test_entities_are_found_in_texts_that_are_not_in_tokens(tiny: Tiny, tmp_path: Path) -> None:
    folder, text = tiny("hf/tag"), "Play jazz, loud jazz!  will it rain?"
    entities = [{"start": 5, "end": 9, "label": "thing"}]
    (tmp_path / "a.jsonl").write_text(json.dumps({"text": text, "entities": entities}) + "\n")
    suite = make_suite(tmp_path / "a.jsonl", ["keyboard/adjacent"], to=tmp_path / "s", language="en")
    by_character, by_token = open_system(str(folder)), open_system(str(folder))
    by_character.prepare(suite)
    assert by_character.identity != by_token.identity
    [found] = by_character.predict([{"text": text}])
    [tags] = by_token.predict([{"text": "Play jazz , loud jazz ! will it rain ?"}])
    words = ["Play", "jazz", ",", "loud", "jazz", "!", "will", "it", "rain", "?"]
    expected = [(kind, words[a:b]) for kind, a, b in slots_of(tags["slots"])]
    assert expected, "the sample model finds something"
    assert [
        (e["label"], re.findall(r"\w+|[^\w\s]", text[e["start"] : e["end"]])) for e in found["entities"]
    ] == expected
    assert task_named("tag").output_problem(found, {"text": text}) is None
    assert list(by_character.predict([{"text": ""}])) == [{"entities": []}]

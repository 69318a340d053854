"""The part of an answer that is compared, on tasks with labels and on free answers, against gold that is plain."""

from __future__ import annotations

import json

import pytest

import unswayed as package
from unswayed.base.errors import UsageError

NAMES = {"lamp": "lights", "light": "lights", "radio": "music", "song": "music", "oven": "kitchen", "stove": "kitchen"}
ROWS = [
    {"text": f"{verb} the {thing} now", "label": label}
    for verb in ("turn on", "switch off", "dim")
    for thing, label in NAMES.items()
]


def label_for(text: str) -> str:
    return next((label for thing, label in NAMES.items() if thing in text), "kitchen")


FORMS = {
    "json.category": lambda label: {"category": label},
    "json.found.0": lambda label: f"Sure:\n```json\n{json.dumps({'found': [label]})}\n```",
    r"regex:is (\w+)": lambda label: f"it is {label}!",
    "after:Answer:": lambda label: f"Let me think. Answer: {label.title()}",
}


def checked(answer, task="classify", **measure):
    def predict(batch):
        return [answer(label_for(inputs["text"])) for inputs in batch]

    predict.unswayed_identity, predict.unswayed_deterministic = "labels", True
    rows = [{"text": row["text"], "gold": row["label"]} for row in ROWS]
    plan = {"measure": measure}
    return package.check(predict, rows, "keyboard/adjacent", gold="gold", task=task, language="en", seed=3, plan=plan)


@pytest.mark.parametrize("task", ["classify", "generate"])
@pytest.mark.parametrize("extract", FORMS)
def test_plain_gold_is_compared_whole(extract, task) -> None:
    found = checked(FORMS[extract], task, extract=extract)
    whole = checked(lambda label: label, task)
    assert found.clean.value == 1.0
    assert found.sanity == []
    assert found.average.value == whole.average.value < 1
    assert len(found.flips()) == len(whole.flips()) > 0
    assert found.validity["unreadable"] == found.validity["unseen_labels"]["count"] == 0


def test_gold_with_the_part_is_compared_by_it() -> None:
    rows = [{"question": f"what is {n} and {n}", "answer": f"Half of it is {n}. Answer: {2 * n}"} for n in range(9)]

    def predict(batch):
        return [f"Answer: {2 * int(inputs['question'].split()[-1])}" for inputs in batch]

    plan = {"measure": {"extract": "after:Answer:"}}
    found = package.check(predict, rows, "spoken/filler_begin", task="generate", language="en", plan=plan)
    assert found.clean.value == 1.0


@pytest.mark.parametrize("extract", ["number", "choice"])
def test_a_number_or_a_choice_must_be_in_the_gold(extract) -> None:
    """Nothing is compared with gold that can't be a number or a letter, no score is made up, and it is no success."""
    found = checked(lambda label: f"{label} 7 (B)", "generate", extract=extract)
    assert found.clean.value is None
    assert found.sanity[0] == f"No gold has the part {extract}, so no answer can be scored."


def test_the_sanity_check_judges_what_was_extracted() -> None:
    names = {"lights": "A", "music": "B", "kitchen": "C"}
    [sign] = checked(lambda label: {"category": names[label]}, extract="json.category").sanity
    assert "a label that no gold has" in sign
    assert "'a'" in sign
    assert "'lights'" in sign
    signs = checked(lambda label: {"kind": label}, extract="json.category").sanity
    assert signs[0] == "Most answers to clean inputs have no part json.category, or can't be read: 18 of 18."
    [sign] = checked(lambda label: {"category": "music"}, extract="json.category").sanity
    assert sign == "The system gives one answer to all inputs: 'music'."


def test_a_score_of_whole_answers_is_refused() -> None:
    with pytest.raises(UsageError, match="The score macro_f1 reads whole answers, so it can't be used with"):
        checked(FORMS["json.category"], extract="json.category", scores=["macro_f1"])


def test_the_page_shows_the_part(tmp_path) -> None:
    from unswayed.report.view import Confusion
    from unswayed.run.block import in_blocks
    from unswayed.score import comparing_for

    results = checked(FORMS["json.category"], extract="json.category")
    confusion = Confusion(comparing_for(results.run.suite, "json.category"))
    for block in in_blocks(results.run.items()):
        confusion.see(block)
    assert set(confusion.table()["labels"]) == {"kitchen", "lights", "music"}
    assert package.write_view(results.run.save(tmp_path / "run"), tmp_path / "view.html").exists()


@pytest.mark.parametrize("kind", ["server", "chat"])
def test_as_written(kind, unswayed, scripted, tmp_path) -> None:
    """`unswayed run suite/ --system URL --extract json.category`, with gold "lights" and {"category": "lights"}."""
    (tmp_path / "mine.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    unswayed("vary", tmp_path / "mine.jsonl", "--with", "keyboard/adjacent", "--lang", "en", "-o", tmp_path / "suite")

    def reply(body):
        if kind == "server":
            return scripted.reply({"outputs": [{"category": label_for(inputs["text"])} for inputs in body["inputs"]]})
        return scripted.chat(json.dumps({"category": label_for(body["messages"][-1]["content"])}))

    more = ["--model", "small"] if kind == "chat" else []
    words = ["run", tmp_path / "suite", "--system", scripted(reply).url, *more, "--extract", "json.category"]
    said = json.loads(unswayed(*words, "-o", tmp_path / "run", "--format", "json"))
    assert said["clean"]["value"] == 1.0
    assert said["sanity"] == []
    assert said["validity"]["failed"] == 0
    unswayed("report", tmp_path / "run", "--extract", "json.category", "-o", tmp_path / "report.html")

"""Operators on prompts: what they change of a template, that a draw is one prompt, and whole runs with them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given, strategies as st

from benchmarks._http_server import Server
from unswayed.base.chat import chat_inputs, chat_of
from unswayed.base.errors import UnswayedError, UsageError
from unswayed.base.options import OperatorSpec
from unswayed.base.values import Example, Variant
from unswayed.cli import unswayed as command
from unswayed.run.record import Run
from unswayed.storage.suite import Suite
from unswayed.systems.template import PROMPT, Reprompt, Template, prompt_of
from unswayed.vary import operators
from unswayed.vary.engine import Variation, vary

NAMES = [name for name in operators.names() if name.startswith("prompt/")]
TEMPLATE = "Answer the question.\nQuestion: {question}\n\nAnswer:"
EXAMPLES = [Example(i, f"e{i}", {"question": f"what is {i} and {i}?"}, str(2 * i)) for i in range(40)]


def variants(
    name: str, examples: list[Example] = EXAMPLES, draws: int = 3, seed: int = 0, **params: Any
) -> list[Variant]:
    pools = {name: tuple(examples)}
    settings = {"task": "generate", "language": "en", "draws": draws, "seed": seed, "pools": pools}
    return list(vary(examples, Variation(operators=(OperatorSpec(name, params),), **settings)))  # type: ignore[arg-type]


def test_formats_differ_in_form_alone() -> None:
    made = {prompt_of(Template(TEMPLATE), v.inputs) for v in variants("prompt/format", EXAMPLES[:1], draws=100)}
    assert len(made) > 60
    plain = {"".join(c for c in text.casefold() if c.isalnum()) for text in made}
    assert plain == {"answerthequestionquestionwhatis0and0answer"}


def test_a_draw_is_one_prompt_for_all_examples_and_seeds_differ() -> None:
    made = variants("prompt/format")
    assert len(made) == 120
    assert len({(v.draw, v.inputs[PROMPT]) for v in made}) == 3
    assert {v.inputs[PROMPT] for v in variants("prompt/format", seed=1)} != {v.inputs[PROMPT] for v in made}
    assert variants("prompt/format", EXAMPLES[::-1]) == sorted(made, key=lambda v: (-v.row, v.draw))


def test_each_part_of_a_format() -> None:
    text = "Pick one:\nA. {a}\nB. {b}\nThe question: {q}\nAnswer:"
    assert Reprompt(separator=" - ").applied(text) == "Pick one -\nA. {a}\nB. {b}\nThe question - {q}\nAnswer -"
    assert (
        Reprompt(case="upper").applied("Text: {text}\n12:30 it is. See http://x")
        == "TEXT: {text}\n12:30 it is. See http://x"
    )
    assert Reprompt(enumerator="({})").applied(text) == text.replace("A.", "(A)").replace("B.", "(B)")
    assert (
        Reprompt(gap="\n\n").applied("Read.\n- one\n- two\n{text}\nSay it.")
        == "Read.\n- one\n- two\n\n{text}\n\nSay it."
    )
    assert Reprompt(label=True).applied("{text}\nIs it so?") == "Text: {text}\nIs it so?"
    assert Reprompt(end=" ").applied("{text}") == "{text} "
    assert Reprompt(gap=" ").applied("{text}") == "{text}\n"  # what would stay as it is gets at least that


FORMATS = [json.loads(v.inputs[PROMPT]) for v in variants("prompt/format", EXAMPLES[:1], draws=100)]


@given(st.text(alphabet="aZ:{}\n .🙂ש-", max_size=40), st.sampled_from(FORMATS))
def test_any_template_can_be_formatted(text: str, change: dict[str, Any]) -> None:
    assert Reprompt(**change).applied(text) != text


def test_a_share_asks_each_example_with_as_many_prompts() -> None:
    made = variants("prompt/format", draws=100, share=0.05)
    assert set(Counter(v.example_id for v in made).values()) == {5}
    assert len({v.draw for v in made}) > 80
    with pytest.raises(UsageError, match="share must be more than 0"):
        variants("prompt/format", share=0)


def test_a_share_of_too_few_prompts_is_told() -> None:
    with pytest.raises(UsageError, match="one of 20 prompts, but there are 5"):
        variants("prompt/format", draws=5, share=0.05)


@pytest.mark.parametrize("name", ["prompt/format", "prompt/instruction"])
def test_of_a_chat_the_system_message_is_varied(name: str) -> None:
    messages = [{"role": "system", "content": "Task: be short."}, {"role": "user", "content": "hello"}]
    chat = [Example(0, "e", chat_inputs(messages), "hi")]
    spec = OperatorSpec(name)
    (made,) = vary(chat, Variation(operators=(spec,), task="chat", language="en"))
    system, user = chat_of(made.inputs)["messages"]
    assert system["content"] != "Task: be short."
    assert user == messages[1]
    none = [Example(0, "e", chat_inputs(messages[1:]), "hi")]
    assert not list(vary(none, Variation(operators=(spec,), task="chat", language="en")))


MY = """
def answer(batch):
    return [f"{inputs['question']} as {inputs['prompt']}" for inputs in batch]
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rows = [json.dumps({"question": f"what is {i} & {i}?", "answer": f"the double of {i}"}) for i in range(8)]
    Path("questions.jsonl").write_text("\n".join(rows))
    Path("p.txt").write_text('Answer as {"answer": 1}.\nQuestion: {question}\nAnswer:\n')
    Path("prompt_system.py").write_text(MY)
    return tmp_path


def invoke(*arguments: str, code: int = 0) -> str:
    """In this process; what goes wrong comes back as its message, as words."""
    result = CliRunner().invoke(command, list(arguments))
    if isinstance(result.exception, UnswayedError):
        assert result.exception.exit_code == code, result.exception
        return " ".join(str(result.exception).split())
    assert result.exit_code == code, result.output
    return result.output


def test_a_chat_model_under_formats(place: Path) -> None:
    invoke(
        "vary",
        "questions.jsonl",
        "--with",
        "keyboard/adjacent",
        "--with",
        "prompt/format",
        "--draws",
        "3",
        "-o",
        "suite",
    )
    with Server() as server:
        asked = [
            "run",
            "suite",
            "--system",
            server.url,
            "--model",
            "m",
            "--prompt",
            "p.txt",
            "-o",
            "run",
            "--format",
            "json",
        ]
        found = json.loads(CliRunner().invoke(command, asked).stdout)
        assert CliRunner().invoke(command, [*asked, "--canary", "0"]).exit_code == 0
    assert set(found["by"]["operator"]) == {"keyboard/adjacent", "prompt/format"}
    run = Run("run")
    kept = Path("p.txt").read_text().rstrip("\n")
    assert run.manifest.prompts == {"prompt": kept}
    assert Path("run/prompt.txt").read_text() == Path("p.txt").read_text()
    invoke("report", "run", "-o", "page.html")
    page = Path("page.html").read_text()
    assert "The <bdi>prompt</bdi>" in page
    assert "Answer as {&#34;answer&#34;: 1}." in page
    flips = [json.loads(line) for line in Path("page.flips.jsonl").read_text().splitlines()]
    formats = [flip for flip in flips if flip["source"] == "prompt/format"]
    assert formats
    for flip in formats:
        assert flip["inputs"]["prompt"] == kept
        assert flip["varied"]["prompt"] != kept
        assert PROMPT not in flip["varied"]
    saved = run.save("copy")
    assert (saved.path / "prompt.txt").exists()


def test_a_function_gets_the_filled_prompt(place: Path) -> None:
    invoke("vary", "questions.jsonl", "--with", "prompt/format", "--draws", "2", "-o", "suite")
    told = invoke("run", "suite", "--system", "prompt_system:answer", "-o", "none", code=4)
    assert "prompt/format varies the prompt, and prompt_system:answer has none. Set --prompt to its file" in " ".join(
        told.split()
    )
    system = ["--system", "prompt_system:answer", "--prompt", "p.txt"]
    invoke("run", "suite", *system, "--equivalent", "exact", "-o", "run")
    clean, varied = next((c.value, [o.value for _, o in v]) for _, c, v in Run("run").items())
    assert clean == 'what is 0 & 0? as Answer as {"answer": 1}.\nQuestion: what is 0 & 0?\nAnswer:'
    assert len({clean, *varied}) == 3


@pytest.mark.parametrize(
    ("prompt", "told"),
    [
        ("{quesiton}", "p.txt, line 1: there is no text for {quesiton}. Did you mean {question}? There is {question}."),
        ("\n{context} {question}", "p.txt, line 2: there is no text for {context}. There is {question}."),
        ("Say: {{question}}", "The prompt has no {question}, in which the suite's variants differ."),
    ],
)
def test_bad_prompts(place: Path, prompt: str, told: str) -> None:
    invoke("vary", "questions.jsonl", "--with", "keyboard/adjacent", "-o", "suite")
    Path("p.txt").write_text(prompt)
    url = ["--system", "http://127.0.0.1:9", "--model", "m"]
    assert told in " ".join(invoke("run", "suite", *url, "--prompt", "p.txt", "-o", "run", code=4).split())


def test_training_data_has_no_prompt(place: Path) -> None:
    assert "varies prompts" in invoke(
        "augment", "questions.jsonl", "--with", "prompt/format", "-o", "more.jsonl", code=4
    )


@pytest.mark.parametrize("name", NAMES)
def test_it_says_what_it_is(name: str) -> None:
    cls = operators.get(name)
    assert cls.summary().endswith(".")
    assert all(p.default is not p.empty for p in cls.parameters().values())


def test_the_examples_of_operators_are_what_they_do() -> None:
    for name in ("prompt/format", "prompt/instruction"):
        before, after = operators.get(name).example
        (made,) = variants(name, EXAMPLES[:1], draws=1)
        assert Reprompt(**json.loads(made.inputs[PROMPT])).applied(before) == after
    before, after = operators.get("prompt/options").example
    (made,) = variants("prompt/options", [Example(0, "e", {"question": "?", "choices": before}, "A")], draws=1)
    assert (made.inputs["choices"], made.gold) == (after, after[after.index("red") - 3])


def test_instructions_by_rule_keep_the_fields() -> None:
    template = "Answer with one word.\nAnswer: {question}"
    made = {prompt_of(Template(template), v.inputs) for v in variants("prompt/instruction", EXAMPLES[:1], draws=30)}
    assert len(made) > 10
    assert all(text.endswith("\nAnswer: what is 0 and 0?") for text in made)
    assert any("Respond with one word." in text for text in made)
    german = Variation(operators=(OperatorSpec("prompt/instruction"),), task="generate", language="de")
    with pytest.raises(UsageError, match="rules of prompt/instruction are for English"):
        list(vary(EXAMPLES, german))


def test_instructions_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "wordings.txt"
    file.write_text('Q: {question}\n---\nSay it: {question}\nin JSON: {"a": 1}\n---\n\n', encoding="utf-8")
    made = variants("prompt/instruction", EXAMPLES[:2], draws=2, file=str(file))
    sent = {prompt_of(Template("{question}"), v.inputs) for v in made}
    texts = [e.inputs["question"] for e in EXAMPLES[:2]]
    assert sent == {f"Q: {t}" for t in texts} | {f'Say it: {t}\nin JSON: {{"a": 1}}' for t in texts}
    for text, told in (
        ("Say it.", "wording 1: {question} is not in it"),
        ("{question} {contxt}", "wording 1, line 1: there is no text for {contxt}"),
        ("---\n", "has no wordings"),
    ):
        file.write_text(text)
        with pytest.raises(UsageError, match=told):
            variants("prompt/instruction", EXAMPLES[:1], file=str(file))
    with pytest.raises(UsageError, match="There is no file of wordings none.txt"):
        variants("prompt/instruction", EXAMPLES[:1], file="none.txt")


REWRITER = """
def reword(batch):
    return [["Reply: {question}", "Reply!", "{question}: {other}", "Say {question}"][: int(i["n"])] for i in batch]
"""


def test_instructions_by_a_model_are_filtered(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("rewriter.py").write_text(REWRITER)
    Path("p.txt").write_text("Answer: {question}")
    made = variants("prompt/instruction", EXAMPLES[:1], 4, system="rewriter:reword", prompt="p.txt", n=4)
    assert {json.loads(v.inputs[PROMPT])["template"] for v in made} == {"Reply: {question}", "Say {question}"}
    assert "dropped 6 wordings that lost or gained a field; 2 kept" in capsys.readouterr().err
    with pytest.raises(UsageError, match="needs the prompt that the model rewrites"):
        variants("prompt/instruction", EXAMPLES[:1], system="http://127.0.0.1:9/v1")


def test_shots_are_never_the_example_itself() -> None:
    made = variants("prompt/fewshot", EXAMPLES[:6], draws=20, n=3)
    assert len(made) == 120
    chosen = set()
    for variant in made:
        shots = json.loads(variant.inputs[PROMPT])["shots"]
        assert len({shot["inputs"]["question"] for shot in shots}) == 3
        assert variant.inputs["question"] not in {shot["inputs"]["question"] for shot in shots}
        chosen.add(tuple(shot["answer"] for shot in shots))
    assert len(chosen) > 20
    (prompt,) = {
        prompt_of(Template("Q: {question}\nA:"), v.inputs) for v in variants("prompt/fewshot", EXAMPLES[:4], 1)[:1]
    }
    assert prompt.count("Q: what is") == 4
    assert prompt.endswith("Q: what is 0 and 0?\nA:")
    assert "Q: what is 1 and 1?\nA: 2\n\n" in prompt
    with pytest.raises(UsageError, match="takes at least 4 examples with answers; there are 3"):
        variants("prompt/fewshot", EXAMPLES[:3])


def test_shots_in_another_order_are_the_same_shots() -> None:
    made = variants("prompt/fewshot", EXAMPLES, draws=6, vary="order")
    last = [json.loads(v.inputs[PROMPT])["shots"] for v in made if v.row == 39]
    assert len({frozenset(shot["answer"] for shot in shots) for shots in last}) == 1
    assert len({tuple(shot["answer"] for shot in shots) for shots in last}) > 1


def test_shots_in_a_chat_are_turns() -> None:
    chats = [
        Example(
            i, f"e{i}", chat_inputs([{"role": "system", "content": "s"}, {"role": "user", "content": f"u{i}"}]), f"a{i}"
        )
        for i in range(5)
    ]
    spec = OperatorSpec("prompt/fewshot", {"n": 2})
    settings = {"task": "chat", "language": "en", "pools": {"prompt/fewshot": tuple(chats)}}
    made = next(vary(chats, Variation(operators=(spec,), **settings)))  # type: ignore[arg-type]
    roles = [message["role"] for message in chat_of(made.inputs)["messages"]]
    assert roles == ["system", "user", "assistant", "user", "assistant", "user"]


def test_choices_move_with_the_gold_and_a_flip_is_another_choice(place: Path) -> None:
    rows = [
        {"question": f"Where is {name}?", "choices": ["Rome", f"near {name}", "Bonn", "Kyiv"], "answer": 1}
        for name in ("Ada", "Bob", "Cy", "Di", "Ed", "Flo")
    ]
    rows[1]["answer"], rows[2]["answer"], rows[3]["answer"] = "B", "near Cy", 0
    Path("mmlu.jsonl").write_text("\n".join(map(json.dumps, rows)))
    Path("chooses.py").write_text(
        "def choose(batch):\n"
        "    lines = [[line for line in i['choices'].split('\\n') if 'near' in line] for i in batch]\n"
        "    first = [i['choices'][0] for i in batch]\n"
        "    return [f if 'Flo' in i['question'] else f'It is {l[0][0]}.' for i, l, f in zip(batch, lines, first)]\n"
    )
    options = ["--with", "prompt/options", "--param", "vary=both", "--draws", "4"]
    invoke("vary", "mmlu.jsonl", "--with", "keyboard/adjacent", *options, "-o", "suite")
    asked = ["run", "suite", "--system", "chooses:choose", "-o", "run", "--format", "json"]
    found = json.loads(CliRunner().invoke(command, asked).stdout)
    assert (found["task"], found["score"]) == ("generate", "match(choice then exact)")
    assert found["clean"]["value"] == pytest.approx(4 / 6)  # all but the one whose gold is Rome, and Flo's
    moved = found["by"]["operator"]["prompt/options"]
    flips = {r["example"]: r for r in Run("run").flips().to_dict("records")}
    assert 0 < moved["flips"]["value"] <= 1 / 6  # of Flo's, who is always sent to the first
    assert len(flips) == 1
    assert all("Flo" in e.inputs["question"] for e, _, _ in Run("run").items() if e.id in flips)


@pytest.mark.parametrize(
    ("row", "told"),
    [
        (
            {"question": "q", "choices": ["a", "b"], "answer": 2},
            "must be the place, the letter or the text of a choice, not 2",
        ),
        ({"question": "q", "choices": ["a", "b"], "answer": "D"}, "must be the place, the letter or the text"),
        ({"question": "q", "choices": ["a"], "answer": 0}, "choices must be a list of 2 to 10 texts"),
    ],
)
def test_bad_choices_are_told_with_their_row(place: Path, row: dict[str, Any], told: str) -> None:
    good = {"question": "🙂 שלום", "choices": ["a", "b"], "answer": 0}
    Path("bad.jsonl").write_text("\n".join(json.dumps(r) for r in [good] * 6 + [row]), encoding="utf-8")
    assert told in (error := invoke("vary", "bad.jsonl", "--with", "prompt/options", "-o", "suite", code=4))
    assert "bad.jsonl:7" in error


def test_what_an_operator_needs_is_told(place: Path) -> None:
    told = invoke("vary", "questions.jsonl", "--with", "prompt/options", "-o", "suite", code=5)
    assert "prompt/options needs rows with choices" in told


def test_arc_and_inspect_rows(place: Path) -> None:
    arc = {"question": "q", "choices": {"text": ["x", "y"], "label": ["1", "2"]}, "answerKey": "2"}
    Path("arc.jsonl").write_text(json.dumps(arc))
    Path("inspect.jsonl").write_text(json.dumps({"input": "q", "choices": ["x", "y"], "target": "B"}))
    for name in ("arc", "inspect"):
        invoke("vary", f"{name}.jsonl", "--with", "prompt/options", "-o", name)
        (made,) = Suite(name)
        assert (made.inputs["choices"], made.gold) == ("A. y\nB. x", "A")

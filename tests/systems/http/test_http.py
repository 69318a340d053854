"""Systems behind a URL: what is sent, what is made of the answer, what is counted and what is kept secret."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from unswayed.base.errors import SystemBroken, UsageError
from unswayed.base.values import Example, Inputs, Json, Variant
from unswayed.cli import unswayed as command
from unswayed.run.engine import run_system
from unswayed.run.record import Run
from unswayed.storage.suite import Manifest, Suite, write_suite
from unswayed.systems.asking import Asking
from unswayed.systems.opening import open_system
from unswayed.systems.prompted import ChatSystem
from unswayed.systems.system import Failed, System

pytestmark = pytest.mark.usefixtures("asked_once")

Make = Callable[..., Any]
PAIR = {"premise": "It rains.", "hypothesis": "It is {wet}."}


@pytest.fixture
def opened() -> Iterator[Callable[..., System]]:
    made: list[System] = []

    def make(url: str, **options: Any) -> System:
        made.append(open_system(url, **{"backoff": 0.001, **options}))
        return made[-1]

    yield make
    for system in made:
        system.close()


@pytest.fixture
def suite(tmp_path: Path) -> Callable[..., Suite]:
    def make(golds: list[Json], task: str = "classify", varied: str = "premise", **inputs: str) -> Suite:
        texts: Inputs = inputs or PAIR
        examples = [
            Example(i, f"e{i}", {k: f"{v} {i}" for k, v in texts.items()}, gold) for i, gold in enumerate(golds)
        ]
        variants = [
            Variant(e.row, e.id, 0, "x/y", "x", "same", {**e.inputs, varied: "other " + e.inputs[varied]}, e.gold, "n")
            for e in examples
        ]
        folder = tmp_path / f"suite{len(list(tmp_path.iterdir()))}"
        return write_suite(folder, Manifest(task=task, language="en"), lambda: examples, lambda: variants)

    return make


def test_a_model_is_asked_with_the_prompt(scripted: Make, opened: Make, tmp_path: Path) -> None:
    (tmp_path / "nli.txt").write_text("P {premise} H {hypothesis}\n")
    server = scripted(scripted.chat(" Yes.\n"), scripted.chat("no"), scripted.chat("maybe"), scripted.chat(None))
    system = opened(
        server.url + "/v1",
        model="m",
        prompt=str(tmp_path / "nli.txt"),
        answers="yes=entailed,no=not_entailed",
        system_message="Be short.",
        body={"seed": 3, "stream": None},
    )
    outputs = system.predict([PAIR] * 4)
    assert outputs[:2] == ["entailed", "not_entailed"]
    assert [output.error for output in outputs[2:]] == [
        "can't be read: the answer 'maybe' is none of: yes, no",
        "the model gave no answer, only a refusal or a call",
    ]
    assert all(output.final for output in outputs[2:])
    assert server.heads[0].startswith("POST /v1/chat/completions HTTP/1.1\r\n")
    assert server.bodies[0] == {
        "model": "m",
        "messages": [
            {"role": "system", "content": "Be short."},
            {"role": "user", "content": "P It rains. H It is {wet}."},
        ],
        "temperature": 0.0,
        "max_tokens": 1,
        "seed": 3,
    }


def test_streaming_is_off_and_texts_are_free_without_answers(scripted: Make, opened: Make) -> None:
    server = scripted(scripted.chat(" Bonjour. "), scripted.chat("Bonjour à", "length"))
    system = opened(server.url, model="m")
    assert system.predict([{"text": "Hello."}]) == ["Bonjour."]
    assert server.bodies[0]["stream"] is False
    assert server.bodies[0]["messages"] == [{"role": "user", "content": "Hello."}]
    (cut,) = system.predict([{"text": "Hello."}])
    assert cut.error == "the answer was cut off after 1024 tokens: 'Bonjour à'"
    (failed,) = system.predict([PAIR])
    assert "{premise} and {hypothesis}" in failed.error


@pytest.mark.parametrize(
    ("golds", "prompt", "said", "output", "tokens"),
    [
        (["entailed", "not_entailed"], "nli.txt", "NO", "not_entailed", 1),
        (["not-entailment", "entailment"], "nli.txt", "**Yes**", "entailment", 1),
        ([True, False], "nli.txt", "yes", "true", 1),
        ([0, 1], "nli.txt", "no", "0", 1),
        (["entailed", "not_entailed"], "own.txt", "Not_entailed.", "not_entailed", 16),
        (["entailed", "not_entailed"], "own.txt", "yes", "yes", 16),
        (["a", "b", "c"], "nli.txt", "B", "b", 1),
        (["neutral", "entailment", "contradiction"], "nli.txt", "Neutral", "neutral", 16),
    ],
)
def test_the_labels_say_what_may_be_answered(
    scripted: Make,
    opened: Make,
    suite: Make,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    golds: list[Json],
    prompt: str,
    said: str,
    output: str | None,
    tokens: int,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("own.txt").write_text("{premise} {hypothesis} Is it entailed or not_entailed?")
    server = scripted(scripted.chat(said))
    run = run_system(suite(golds), opened(server.url, model="m", prompt=prompt), tmp_path / "run")
    outputs = [clean for _, clean, _ in run.items()]
    assert {o.value for o in outputs} == {output}
    assert all(o.ok == (output != "yes") for o in outputs)  # which is none of the labels, and kept
    assert {body["max_tokens"] for body in server.bodies} == {tokens}


def test_a_prompt_that_does_not_fit_the_suite_is_told_before_anything_is_asked(
    scripted: Make, opened: Make, suite: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("typo.txt").write_text("{premiss} {hypothesis}")
    Path("half.txt").write_text("{hypothesis}")
    server = scripted(scripted.chat("yes"))
    pairs = suite(["entailed", "not_entailed"])
    others = suite(["a", "b"], varied="one", one="x", two="y")
    for asked, prompt, told in (
        (pairs, "typo.txt", "Did you mean {premise}"),
        (pairs, "half.txt", "no {premise}, in which"),
        (others, None, "needs prompt=, a file that has {one} and {two}"),
    ):
        with pytest.raises(UsageError, match=told):
            run_system(asked, opened(server.url, model="m", prompt=prompt), tmp_path / "run")
    assert server.bodies == []
    assert not (tmp_path / "run").exists()
    unvaried = suite(["entailed", "not_entailed"], varied="hypothesis")
    assert run_system(
        unvaried, opened(server.url, model="m", prompt="half.txt", answers="yes=entailed"), tmp_path / "run"
    )


def test_premise_and_hypothesis_need_no_prompt(scripted: Make, opened: Make, suite: Make, tmp_path: Path) -> None:
    server = scripted(scripted.chat("yes"))
    pairs = suite(["entailed", "not_entailed"])
    runs = [
        run_system(pairs, opened(server.url, model="m", prompt=prompt), tmp_path / f"run {prompt}")
        for prompt in (None, "nli.txt")
    ]
    assert runs[0].identity == runs[1].identity
    assert {clean.value for _, clean, _ in runs[0].items()} == {"entailed"}
    prompts = [body["messages"][0]["content"] for body in server.bodies]
    assert sorted(prompts[:4]) == sorted(prompts[4:])


def test_the_identity_holds_all_that_decides(tmp_path: Path) -> None:
    file = tmp_path / "p.txt"
    file.write_text("{text}")
    told: dict[str, Any] = {"url": "http://host/v1", "model": "m", "prompt": str(file)}
    changes: list[dict[str, Any]] = [{}, {"model": "n"}, {"url": "http://other/v1"}, {"url": "http://host/v1?x=y"}]
    changes += [{"answers": "yes=1"}, {"temperature": 1.0}, {"max_tokens": 2}, {"body": {"seed": 1}}, {"prompt": None}]
    changes += [{"system_message": "s"}, {"identity": "mine"}]
    same: list[dict[str, Any]] = [{}, {"price_in": 1.0}, {"read_timeout": 1.0}]
    identities = [ChatSystem(**{**told, **change}).identity for change in changes]
    assert len(set(identities)) == len(identities)
    assert {ChatSystem(**{**told, **change}).identity for change in same} == {identities[0]}
    file.write_text("{text}!")
    assert ChatSystem(**told).identity not in identities


def test_urls_are_opened(opened: Make) -> None:
    assert opened("http://127.0.0.1:1/v1#org/model:7b").name == "http://127.0.0.1:1/v1#org/model:7b"
    assert opened("https://host/predict?key=x").name == "https://host/predict"
    with pytest.raises(UsageError, match="promt"):
        opened("http://host/v1", model="m", promt="x")
    with pytest.raises(UsageError, match="model"):
        opened("http://host/v1", model="")
    with pytest.raises(UsageError, match="needs a model: add model="):
        opened("http://host/v1", prompt="nli.txt")
    for wrong in ("yes", "yes=1,=2", "yes=1,YES=2"):
        with pytest.raises(UsageError, match="answers"):
            opened("http://host/v1", model="m", answers=wrong)


def test_a_server_of_ones_own(scripted: Make, opened: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sesame")
    said = {"outputs": ["a", {"label": 1}, None], "errors": [None, None, "no"], "usage": {"prompt_tokens": 5}}
    server = scripted(scripted.reply(b"busy", 503), scripted.reply(said))
    system = opened(server.url + "/predict")
    batch = [{"text": str(i)} for i in range(3)]
    outputs = system.predict(batch)
    assert outputs[:2] == ["a", {"label": 1}]
    assert outputs[2].error == "no"
    assert server.bodies == [{"inputs": batch}] * 2
    assert "sesame" not in "".join(server.heads), "that key was not named for this server"
    assert system.used() == {"requests": 2, "retries": 1, "5xx": 1, "tokens in": 5}
    server.replies = [scripted.reply({"outputs": ["a"]})]
    with pytest.raises(SystemBroken, match="1 outputs for 3 inputs"):
        system.predict(batch)


def test_one_bad_item_does_not_fail_its_batch(scripted: Make, opened: Make, suite: Make, tmp_path: Path) -> None:
    def answer(request: Any) -> bytes:
        texts = [item["text"] for item in request["inputs"]]
        if any("7" in text for text in texts):
            return bytes(scripted.reply({"error": "I do not like 7"}, 500))
        return bytes(scripted.reply({"outputs": texts}))

    server = scripted(answer)
    asked = suite([None] * 10, task="text", varied="text", text="t")
    run = run_system(asked, opened(server.url), tmp_path / "run", plan={"run": {"asking": Asking(retries=1)}})
    outputs = [output for _, clean, varied in run.items() for output in (clean, varied[0][1])]
    assert sum(output.ok for output in outputs) == 18
    assert {output.error for output in outputs if not output.ok} == {
        "the server answered 500: 'I do not like 7' (asked 2 times)"
    }


def test_tokens_and_cost_are_added_up_over_a_run_that_was_stopped(
    scripted: Make, opened: Make, suite: Make, tmp_path: Path
) -> None:
    from unswayed.measure.measuring import measure_run
    from unswayed.report.html import facts

    answered = [scripted.chat("yes", tokens=(100, 2))] * 5
    server = scripted(*answered, scripted.reply({}, 401))
    told = {"model": "m", "prompt": "nli.txt", "price_in": 2.5, "price_out": 10}
    pairs = suite(["entailed", "not_entailed"] * 5)
    with pytest.raises(SystemBroken, match="401"):
        run_system(pairs, opened(server.url, **told), tmp_path / "run", plan={"run": {"asking": Asking(concurrency=1)}})
    server.replies = [scripted.reply({}, 500), scripted.chat("no", tokens=(100, 2))]
    run = run_system(
        pairs, opened(server.url, **told), tmp_path / "run", plan={"run": {"asking": Asking(concurrency=1, canary=0)}}
    )
    used = run.used()
    assert used.pop("cost") == pytest.approx(20 * (100 * 2.5 + 2 * 10) / 1e6)
    assert used == {"requests": 22, "retries": 1, "5xx": 1, "tokens in": 2000, "tokens out": 40}
    shown = facts(run, measure_run(run))
    assert {name: shown[name] for name in ("requests", "retries", "tokens in", "cost")} == {
        "requests": "22",
        "retries": "1",
        "tokens in": "2,000",
        "cost": "0.0054",
    }


def test_a_batch_of_failures_is_final(scripted: Make, opened: Make) -> None:
    system = opened(scripted(scripted.reply({}, 422)).url)
    (failed,) = system.predict([{"text": "x"}])
    assert isinstance(failed, Failed)
    assert failed.final
    (unsendable,) = system.predict([{"text": "\ud800"}])
    assert isinstance(unsendable, Failed)
    assert "not a text" in unsendable.error


HOSTILE = [
    "",
    " ",
    "\n",
    "two\nlines",
    "🙂👩‍👩‍👧",
    "שלום",
    "\x00",
    "x" * 1_000_000,
    '{"inputs": []}',
    "{text}",
    "\u2028",
]


def test_hostile_texts_come_through(scripted: Make, opened: Make) -> None:
    def answer(request: Any) -> bytes:
        return bytes(scripted.reply({"outputs": [[item["text"]] for item in request["inputs"]]}))

    batch = [{"text": text} for text in HOSTILE]
    assert opened(scripted(answer).url).predict(batch) == [[text] for text in HOSTILE]
    system = opened(scripted(lambda request: scripted.chat("=" + request["messages"][0]["content"])).url, model="m")
    assert system.predict(batch) == [("=" + text).strip() for text in HOSTILE]
    assert list(system.predict([])) == []
    system.close()
    system.close()


def test_answers_may_be_json(scripted: Make, opened: Make, suite: Make, tmp_path: Path) -> None:
    said = {"intent": "play", "slots": ["O", "O"]}
    server = scripted(scripted.chat(f"```json\n{json.dumps(said)}\n```"), scripted.chat("play"), scripted.chat("NaN"))
    system = opened(server.url, model="m", json=True)
    outputs = system.predict([{"text": "play it"}] * 3)
    assert outputs[0] == said
    assert outputs[1].error.startswith("can't be read: the answer 'play' is not JSON")
    assert outputs[1].value == "play"
    assert outputs[2].final
    server.replies = [scripted.chat('{"label": "b"}')]
    run = run_system(
        suite(["a", "b"], varied="text", text="t"), opened(server.url, model="m", json=True), tmp_path / "run"
    )
    assert [clean.value for _, clean, _ in run.items()] == [{"label": "b"}] * 2


def test_a_plan_and_the_command_line_say_the_same(
    scripted: Make, suite: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MY_KEY", "sesame")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    server = scripted(scripted.chat("good", tokens=(1000, 10)))
    place = suite(["positive", "negative"] * 5).path
    Path("mine.txt").write_text("{premise} {hypothesis}")
    answers = "good=positive,bad=negative"
    Path("plan.toml").write_text(
        f'[run]\nsystem = "{server.url}/v1"\nsuite = "{place}"\n[run.options]\nmodel = "m"\nprompt = "mine.txt"\n'
        'answers = {good = "positive", bad = "negative"}\nkey_env = "MY_KEY"\nprice_in = 2.0\nprice_out = 8.0\n'
        "[measure]\nsanity = false\n"
    )
    given = ["--system", f"{server.url}/v1", "--model", "m", "--prompt", "mine.txt", "--answers", answers]
    given += ["--key-env", "MY_KEY", "--price-in", "2", "--price-out", "8", "--no-sanity"]  # it has one answer
    ran = [
        CliRunner().invoke(command, ["run", *arguments], standalone_mode=False)
        for arguments in (["--plan", "plan.toml", "-o", "planned"], [str(place), *given, "-o", "said"])
    ]
    assert [(done.exception, done.return_value) for done in ran] == [(None, 0)] * 2
    assert Run("planned").identity == Run("said").identity
    assert len(server.bodies) == 40
    assert all("Bearer sesame" in head for head in server.heads)
    for done in ran:
        assert "Used: requests 20, retries 0, tokens in 20,000, tokens out 200, cost 0.0416.\n" in done.output
    assert [
        (i, file.name) for i in ("planned", "said") for file in Path(i).rglob("*") if b"sesame" in file.read_bytes()
    ] == []

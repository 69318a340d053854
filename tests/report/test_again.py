"""To make it again: the printed commands hold every option, and make the same bytes for every kind of system."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner

from benchmarks._http_server import Server
from unswayed.base.options import Asking, OperatorSpec, options_of
from unswayed.cli import unswayed as command
from unswayed.report import again
from unswayed.run.plan import DataPlan, Engine, GatePlan, MeasurePlan, Plan, SystemPlan, VaryPlan, given_options
from unswayed.run.record import Run

SECTIONS: dict[str, type[msgspec.Struct]] = {
    "data": DataPlan, "vary": VaryPlan, "run": SystemPlan, "measure": MeasurePlan, "gate": GatePlan, "engine": Engine,
}  # fmt: skip
USED = {"vary": ("data", "vary"), "run": ("run", "measure", "gate", "engine"), "report": ("measure", "gate")}


@pytest.mark.parametrize("name", USED)
def test_every_field_of_a_plan_is_an_option_of_the_command(name: str) -> None:
    parameters = command.get_command(None, name).params  # type: ignore[arg-type, union-attr]
    known = {flag for parameter in parameters for flag in parameter.opts}
    for path, option in options_of(Plan).items():
        if path[0] in USED[name] and path not in again.LEFT_OUT:
            assert option.flag in known, path
    if name == "run":
        assert {"--" + flag.replace("_", "-") for flag in again.FLAGS} <= known


def other(value: Any, field: str) -> Any:
    """A value that is not the default."""
    chosen = {"operators": ["a/b", {"name": "c/d", "params": {"k": "7", "l": 0.5}}], "sanity": False, "level": 0.9}
    chosen |= {
        "options": {"model": "m", "k": "v v"},
        "fail_under": {"worst": 0.5},
        "max_drop": {"all": 0.1, "x=y": 0.2},
    }
    chosen["labels"] = ["a", "b"]
    if field in chosen:
        return chosen[field]
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + 3
    several = isinstance(value, (list, tuple)) or field == "groups"
    return [f"{field} 1", f"{field} 2"] if several else f"some {field}"


def test_every_value_that_is_not_the_default_appears() -> None:
    for section, struct in SECTIONS.items():
        usual = msgspec.to_builtins(struct())
        for field, value in usual.items():
            if (section, field) in again.LEFT_OUT or field == "asking":
                continue
            words = list(again._words({section: {field: other(value, field)}}, (section,)))
            assert words, f"{section}.{field}"
            plain = [word for word in words if not word.startswith("--")]
            texts = other(value, field)
            texts = ["a,b"] if field == "labels" else texts if isinstance(texts, list) else [texts]
            if isinstance(texts[0], str) and field != "operators":
                assert plain == texts
    assert list(again._words({"vary": {"operators": other([], "operators")}}, ("vary",))) == [
        *("--with", "a/b", "--with", "c/d", "--param", 'c/d:k="7"', "--param", "c/d:l=0.5")
    ]
    assert list(again._words({"run": {"options": {"model": "m", "k": "v v"}}}, ("run",))) == [
        *("--model", "m", "--option", "k=v v")
    ]


WHOLE = {
    "data": {
        "path": "my data.jsonl", "format": "jsonl", "task": "generate", "language": "en", "input": ["a", "b c"],
        "gold": "g", "id": "i", "groups": ["x", "y"], "cluster": "x", "labels": ["p", "q r"], "turn": "all",
        "encoding": "latin-1", "sheet": "2",
    },
    "vary": {
        "operators": [{"name": "keyboard/adjacent", "params": {"rate": 0.2}},
                      {"name": "prompt/format", "params": {"parts": "case,end", "share": 0.5}}],
        "set": "hard", "draws": 4, "seed": 9, "fields": ["a"], "keep_facts": "yes",
        "guard": "train set", "selector": "my:f",
        "options": {"k": "v v", "n": 3, "s": "3", "l": [1, 2], "t": True},
        "asking": {"batch_size": 3, "concurrency": 2, "retries": 1},
    },
    "run": {
        "system": "http://127.0.0.1:1/v1",
        "options": {"model": "m", "prompt": "p.txt", "answers": {"yes": "a b", "no": "c"}, "key_env": "K",
                    "insecure": True, "price_in": 0.5, "price_out": 1.5, "body": {"a": [1, "x"]}, "seed": 3},
        "asking": {"batch_size": 3, "concurrency": 2, "retries": 1},
        "name": "mine", "limit": 7, "stop_when": ["drop±0.02", "flips±0.1"], "repeats": 2, "budget": 2.5,
        "judge_price_in": 0.1, "judge_price_out": 0.2, "device": "cpu", "dtype": "float32",
    },
    "measure": {
        "scores": ["accuracy", "macro_f1"], "extract": "regex:(a b)", "equivalent": "judge:my:f", "rubric": "r.txt",
        "agreement": "a.json", "level": 0.9, "bootstrap": 50, "seed": 2, "sanity": False, "missing": "wrong",
        "cluster": "x", "weigh": "variants", "worst_of": 2, "within": 0.02, "reference": "clean", "groups": ["x"],
    },
    "gate": {
        "fail_under": {"worst": 0.5, "keyboard/adjacent:worst": 0.4}, "max_drop": {"all": 0.1, "x=a b": 0.2},
        "max_flips": {"all": 0.3}, "on": "at-worst", "allow_missing": 0.1,
    },
    "engine": {"name": "ray", "workers": 2},
}  # fmt: skip


def test_the_words_of_a_whole_plan_are_read_as_the_same_plan() -> None:
    """Every option of `vary` and `run`, through the printed words and the command line's own parser."""
    from unswayed.cli import run as run_module, vary as vary_module

    for section, fields in WHOLE.items():
        left = {path[1] for path in again.LEFT_OUT if path[0] == section and len(path) == 2}
        assert set(SECTIONS[section].__struct_fields__) - left - {"path", "system"} <= set(fields), section
    for module, sections, first in ((vary_module, ("data", "vary"), []), (run_module, USED["run"], ["suite"])):
        words = [*first, *again._words(WHOLE, sections), "-o", "there"]
        if module is vary_module:
            words = [WHOLE["data"]["path"], *words]
        else:
            words += ["--system", WHOLE["run"]["system"]]
        context = module.command.make_context("x", words)
        given = dict(context.params)
        for name in ("to", "overwrite", "format_", "junit", "estimate"):
            given.pop(name, None)
        with context:  # an engine that the plan names is in use until the command ends
            plan = module._plan(given.pop("data" if module is vary_module else "suite"), given.pop("plan_file"), given)
        read = given_options(plan)
        for section in sections:
            wanted = {**WHOLE[section]}
            found = {name: value for name, value in read[section].items() if name != "suite"}
            if section == "run":  # the same answers, spelt as the option spells them
                wanted["options"] = {**wanted["options"], "answers": "yes=a b,no=c"}
            assert found == wanted, section


def test_what_is_kept_of_a_plan_is_what_was_chosen() -> None:
    plan = Plan(
        run=SystemPlan(system="a:b", asking=Asking(concurrency=3)), vary=VaryPlan(operators=(OperatorSpec("x"),))
    )
    assert given_options(plan) == {
        "vary": {"operators": [{"name": "x", "params": {}}]},
        "run": {"system": "a:b", "asking": {"concurrency": 3}},
    }
    assert given_options(Plan()) == {}


ROWS = [
    ("play jazz on friday", "music"),
    ("rain on monday ?", "weather"),
    ("play rock", "music"),
    ("rain on a", "weather"),
]
MY = """
import json, sys
def answer(batch):
    return ["music" if "pla" in i["text"] else "weather" for i in batch]
def asked(batch):
    return ["music" if "pla" in i["prompt"].lower() else "weather" for i in batch]
def chats(batch):
    return [" ".join(m["content"] for m in i["messages"])[-3:] + " ok" for i in batch]
def judge(batch):
    return ["yes" if i["answer"] == i["reference"] else "no" for i in batch]
if __name__ == "__main__":
    for line in sys.stdin:
        request = json.loads(line)
        print(json.dumps({"id": request["id"], "output": answer([request["inputs"]])[0]}), flush=True)
"""


def invoke(*words: str) -> str:
    result = CliRunner().invoke(command, list(words))
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code in (0, 1, 5), result.output
    return result.stderr


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "my_again", raising=False)
    monkeypatch.syspath_prepend(str(tmp_path))
    Path("my data.jsonl").write_text("\n".join(json.dumps({"text": t, "label": g, "who": g[0]}) for t, g in ROWS * 3))
    Path("my_again.py").write_text(MY)
    Path("p.txt").write_text('Is {"this": 1} it?\nText: {text}\n')
    Path("rubric.txt").write_text("{question} {reference} {answer} yes?")
    return tmp_path


VARY = [
    "--with",
    "keyboard/adjacent",
    "--param",
    "rate=0.2",
    "--draws",
    "2",
    "--seed",
    "5",
    "--group",
    "who",
    "--lang",
    "en",
]


def made_again(vary: list[str], run: list[str], kept: tuple[str, ...] = ()) -> None:
    """Makes suite and run, makes them again as the command line that is printed says, and compares all."""
    invoke("vary", "my data.jsonl", *vary, "-o", "suite one")
    told = invoke("run", "suite one", *run, "--no-sanity", "-o", "run")
    line = next(line for line in told.splitlines() if line.startswith("To make it again: "))
    for name in {"p.txt", "rubric.txt"} - set(kept):
        Path(name).unlink(missing_ok=True)  # the run has its own
    words = shlex.split(line.removeprefix("To make it again: "))
    at = words.index("&&")
    first, second = words[1:at], words[at + 2 :]
    assert first[-2:] == ["-o", str(Path("suite one").resolve())]
    assert second[-2:] == ["-o", "run"]
    invoke(*first[:-1], "suite two")
    second[1] = "suite two"
    invoke(*second[:-1], "again")
    for name in ("examples.parquet", "variants.parquet", "manifest.json"):
        assert (Path("suite two") / name).read_bytes() == (Path("suite one") / name).read_bytes()
    assert results("again") == results("run")
    answers = [[(c.value, [o.value for _, o in v]) for _, c, v in Run(name).items()] for name in ("run", "again")]
    assert answers[0] == answers[1]


def results(folder: str) -> Any:
    from unswayed.measure.measuring import measure_run

    found = CliRunner().invoke(command, ["measure", "run", folder, "--format", "json", "--no-sanity"]).stdout
    assert measure_run(folder, {"measure": {"sanity": False}}).clean.value is not None
    shown = json.loads(found)
    shown.pop("requests", None)  # their seconds
    shown.get("compared", {}).pop("rubric_file", None)
    return shown


def test_a_function_with_every_option(place: Path) -> None:
    measured = ["--score", "macro_f1", "--score", "accuracy", "--level", "0.9", "--bootstrap", "200", "--worst-of", "1"]
    measured += ["--weigh", "variants", "--missing", "wrong", "--within", "0.3", "--cluster", "who", "--seed", "4"]
    gates = ["--fail-under", "all:worst=0.0", "--max-drop", "who=m:1.0", "--max-flips", "1.0", "--gate-on", "at-worst"]
    asked = ["--limit", "9", "--batch-size", "2", "--concurrency", "1", "--retries", "0", "--allow-missing", "0.5"]
    made_again(
        [*VARY, "--with", "prompt/format"],
        ["--system", "my_again:asked", "--prompt", "p.txt", *measured, *gates, *asked],
    )


def test_a_judge_and_its_rubric(place: Path) -> None:
    judged = ["--extract", "last-line", "--equivalent", "judge:my_again:judge", "--rubric", "rubric.txt"]
    made_again([*VARY, "--task", "generate"], ["--system", "my_again:answer", *judged])


def test_a_judge_as_the_system(place: Path) -> None:
    rows = [{"reference": "a", "answer": x, "label": "yes" if x == "a" else "no"} for x in "ab" * 4]
    Path("my data.jsonl").write_text("\n".join(map(json.dumps, rows)))
    judge = ["--system", "judge:my_again:judge", "--option", "rubric=rubric.txt"]
    made_again(["--with", "keyboard/adjacent", "--field", "answer", "--lang", "en"], judge, kept=("rubric.txt",))


def test_chats(place: Path) -> None:
    said = [{"messages": [{"role": "system", "content": "Be short."}, {"role": "user", "content": t}]} for t, _ in ROWS]
    Path("my data.jsonl").write_text("\n".join(json.dumps({**row, "answer": "ok"}) for row in said))
    chats = ["--turn", "all", "--with", "spoken/filler_begin", "--with", "prompt/instruction", "--lang", "en"]
    made_again(chats, ["--system", "my_again:chats", "--extract", "regex:(o.)", "--equivalent", "exact"])


def test_a_hard_set(place: Path) -> None:
    hard = ["--set", "hard", "--selector", "my_again:answer", "--with", "keyboard/adjacent", "--draws", "3"]
    made_again([*hard, "--lang", "en", "--seed", "2"], ["--system", "my_again:answer"])


def test_a_program(place: Path) -> None:
    made_again(VARY, ["--system", f"cmd:{shlex.quote(sys.executable)} my_again.py", "--option", "timeout=50"])


def test_a_chat_model(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "sk-verysecret123")
    with Server() as server:
        chat = ["--system", server.url, "--model", "m", "--prompt", "p.txt", "--answers", "yes=music,no=weather"]
        made_again(VARY, [*chat, "--key-env", "MY_KEY", "--price-in", "0.5", "--repeats", "2"])
    for file in Path("run").iterdir():
        assert b"verysecret" not in file.read_bytes()


def test_a_json_server(place: Path) -> None:
    with Server() as server:
        made_again(VARY, ["--system", f"{server.url}/answer", "--option", "timeout=50", "--rate", "200"])


def test_a_corrector_before_the_system(place: Path) -> None:
    made_again(VARY, ["--system", "mitigate/correct:my_again:answer"])


def test_a_saved_baseline(place: Path) -> None:
    from unswayed.base.values import Example
    from unswayed.systems.baselines.intent import Intent

    rows = [Example(i, str(i), {"text": t}, g) for i, (t, g) in enumerate(ROWS * 3)]
    Intent.train(rows, "classify").save(place / "saved model")
    made_again(VARY, ["--system", "saved model", "--device", "cpu", "--dtype", "float32", "--stop-when", "drop±0.5"])


def test_logged_answers(place: Path) -> None:
    invoke("vary", "my data.jsonl", *VARY, "-o", "asked")
    from unswayed.storage.suite import Suite

    inputs = [thing.inputs for e, varied in Suite("asked").groups() for thing in (e, *varied)]
    rows = [json.dumps({"inputs": i, "output": "music" if "pla" in i["text"] else "weather"}) for i in inputs]
    Path("log.jsonl").write_text("\n".join(rows))
    made_again(VARY, ["--system", "logged:log.jsonl"])


def _skops(place: Path) -> str:
    io = pytest.importorskip("skops.io", reason="needs the extra sklearn")
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    model = make_pipeline(CountVectorizer(), LogisticRegression()).fit([t for t, _ in ROWS], [g for _, g in ROWS])
    io.dump(model, place / "model.skops")
    return "sklearn:model.skops"


def _hf(place: Path) -> str:
    pytest.importorskip("torch", reason="needs the extra hf")
    from samples.hf import save_tiny

    save_tiny(place / "hf model", "hf/classify", ["play", "jazz", "rock", "rain", "on", "monday", "a", "?"])
    return "hf:hf model"


def _onnx(place: Path) -> str:
    pytest.importorskip("onnxruntime", reason="needs the extra onnx")
    _hf(place)
    from samples.graphs import export

    export(place / "hf model", place / "graph")
    return "onnx:graph"


def _spacy(place: Path) -> str:
    pytest.importorskip("spacy", reason="needs the extra spacy")
    from samples.pipelines import save_tiny

    save_tiny(place / "pipe")
    return "spacy:pipe"


@pytest.mark.parametrize("make", [_skops, _hf, _onnx, _spacy])
def test_saved_models(place: Path, make: Callable[[Path], str]) -> None:
    made_again(VARY, ["--system", make(place)])


def test_a_run_that_was_made_in_python_says_what_is_known(place: Path) -> None:
    import unswayed

    results = unswayed.check(
        lambda batch: [i["text"][:3] for i in batch],
        "my data.jsonl",
        "keyboard/adjacent",
        plan={"measure": {"sanity": False}},
    )
    run: Any = results.run
    (line,) = again.commands(run)
    assert line.startswith("unswayed vary 'my data.jsonl' --with keyboard/adjacent -o ")


def test_the_device_of_a_selector_is_said_again(place: Path) -> None:
    invoke("vary", "my data.jsonl", *VARY, "--device", "cpu", "--dtype", "float32", "-o", "suite one")
    told = invoke("run", "suite one", "--system", "my_again:answer", "--no-sanity", "-o", "run")
    line = next(line for line in told.splitlines() if line.startswith("To make it again: "))
    assert "--device cpu --dtype float32 -o" in line.partition("&&")[0]

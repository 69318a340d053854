"""The commands as a user gives them: what they print, where, and the code they exit with."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from pathlib import Path

import commands
import pytest

SHARED = Path(__file__).parents[2] / "../shared/data"
PREDICT = """
import math, os
def right(batch): return ["lights" if "light" in x["text"] else "music" for x in batch]
def short(batch): return ["lights"]
def nan(batch): return [math.nan for x in batch]
def raises(batch): raise RuntimeError("no model loaded")
def some_fail(batch):
    if any("jazz" in x["text"] for x in batch): raise RuntimeError("jazz is too much")
    return right(batch)
def wrong_label(batch): return ["lihgts" for x in batch]
def slow(batch):
    import time; time.sleep(0.2); return right(batch)
"""
MINE = [
    {"text": "turn off the lights", "label": "lights"},
    {"text": "play some jazz", "label": "music"},
    {"text": "more light please", "label": "lights"},
    {"text": "put on a song", "label": "music"},
]


def unswayed(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return commands.unswayed(*arguments, cwd=cwd)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "mine.jsonl").write_text("".join(json.dumps(row) + "\n" for row in MINE))
    (tmp_path / "texts.txt").write_text("play jazz\n\n播放音乐 now\n")
    (tmp_path / "my_module.py").write_text(PREDICT)
    return tmp_path


@pytest.fixture
def suite(place: Path) -> Path:
    done = unswayed("vary", "mine.jsonl", "--with", "spoken/filler_end", "--draws", "2", "-o", "suite/", cwd=place)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert "8 variants of 4 examples (classify, en)" in done.stderr
    return place


def run(place: Path, *more: str, system: str = "my_module:right") -> subprocess.CompletedProcess[str]:
    return unswayed("run", "suite/", "--system", system, "-o", "run/", "--format", "json", *more, cwd=place)


def test_variants_as_json_lines(place: Path) -> None:
    words = ["texts.txt", "--lang", "en", "--with", "keyboard/adjacent", "--draws", "3", "--seed", "7", "-o", "-"]
    done = unswayed("vary", *words, cwd=place)
    assert done.returncode == 0
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["row"] for line in lines] == [0, 0, 0, 2, 2, 2]
    assert [line["draw"] for line in lines] == [0, 1, 2, 0, 1, 2]
    assert list(lines[0]) == ["row", "example_id", "draw", "source", "family", "meaning", "inputs", "gold", "note"]
    assert lines[0]["source"] == "keyboard/adjacent"
    assert lines[0]["family"] == "keyboard"
    assert lines[0]["meaning"] == "same"
    assert lines[0]["inputs"]["text"] != "play jazz"
    assert "keyboard/adjacent: nothing to change in 1 examples" in done.stderr


def test_a_run_prints_estimates(suite: Path) -> None:
    done = run(suite)
    assert done.returncode == 0, done.stderr
    results = json.loads(done.stdout)
    for name in ("clean", "average", "worst", "flips", "drop", "consistency"):
        fields = ["value", "low", "high", "n", "missing", "signature", "over", *(["p"] if name == "drop" else [])]
        assert list(results[name]) == fields
    assert results["clean"]["value"] == 1.0
    assert results["clean"]["n"] == 4
    assert set(results["by"]["operator"]) == {"spoken/filler_end"}
    assert set(results["by"]["family"]) == {"spoken"}


@pytest.mark.parametrize("format_", ["table", "md", "jsonl"])
def test_other_formats_are_data_on_stdout(suite: Path, format_: str) -> None:
    done = unswayed("run", "suite", "--system", "my_module:right", "-o", "run", "--format", format_, cwd=suite)
    assert done.returncode == 0
    assert "spoken/filler_end" in done.stdout
    if format_ == "jsonl":
        assert all(json.loads(line) for line in done.stdout.splitlines())


@pytest.mark.skipif(not SHARED.exists(), reason="the real corpora are not beside the project (../shared/data)")
def test_the_slu_files_as_they_are(place: Path) -> None:
    data = str((SHARED / "slu/snips/test").resolve())
    done = unswayed(
        "vary",
        data,
        "--task",
        "slu",
        "--with",
        "spoken/filler_end",
        "--draws",
        "2",
        "--seed",
        "7",
        "-o",
        "s/",
        cwd=place,
    )
    assert done.returncode == 0, done.stderr
    (place / "slu_module.py").write_text(
        "def predict(batch):\n"
        '    return [{"intent": "AddToPlaylist", "slots": ["O"] * len(x["text"].split(" "))} for x in batch]\n'
    )
    asked = ("run", "s/", "--system", "slu_module:predict", "-o", "r/", "--format", "json")
    assert unswayed(*asked, cwd=place).returncode == 5  # one intent and no slots for every text
    done = unswayed(*asked, "--no-sanity", cwd=place)
    assert done.returncode == 0, done.stderr
    results = json.loads(done.stdout)
    assert results["score"] == "end_to_end"
    assert results["flips"]["value"] == 0
    assert results["flips"]["n"] == 700
    assert set(results["scores"]) >= {"intent_accuracy", "slot_f1"}


def test_gates_and_their_codes(suite: Path) -> None:
    assert run(suite, "--fail-under", "worst=0.60", "--max-drop", "0.10", "--max-flips", "0.05").returncode == 0
    done = run(suite, "--fail-under", "worst=0.99", "--gate-on", "at-worst")
    assert done.returncode == 1
    assert "worst" in done.stderr
    assert run(suite, "--fail-under", "worts=0.9").returncode == 4
    assert run(suite, "--fail-under", "worst").returncode == 4
    assert run(suite, "--fail-under", "worst=high").returncode == 4


def test_gates_by_operator_family_and_slice(place: Path) -> None:
    rows = [{**row, "domain": "home" if row["label"] == "lights" else "work"} for row in MINE]
    (place / "cut.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with_typos = ("--with", "spoken/filler_end", "--with", "keyboard/adjacent")
    made = unswayed("vary", "cut.jsonl", *with_typos, "--group", "domain", "-o", "suite/", cwd=place)
    assert made.returncode == 0, made.stderr
    asked = ("run", "suite/", "--system", "my_module:right", "-o", "run", "--allow-missing", "0")
    never = unswayed(*asked, "--fail-under", "keyboard/adjacnt:worst=0.8", cwd=place)
    assert never.returncode == 4
    assert "Did you mean 'keyboard/adjacent'" in never.stderr
    assert not (place / "run" / "run.json").exists()  # nothing was asked
    gates = ("--fail-under", "spoken/*:worst=1", "--fail-under", "keyboard/adjacent:worst=1.01",
             "--max-drop", "1", "--max-drop", "domain=home:1", "--max-flips", "domain=*:1")  # fmt: skip
    done = unswayed(*asked, *gates, "--junit", "out.xml", cwd=place)
    assert done.returncode == 1, done.stderr
    assert "worst on keyboard/adjacent is" in done.stderr
    cases = ET.parse(place / "out.xml").getroot().findall(".//testcase")
    assert [(case.get("name"), case.find("failure") is None) for case in cases] == [
        ("spoken/filler_end:worst", True),
        ("keyboard/adjacent:worst", False),
        ("drop", True),
        ("domain=home:drop", True),
        ("domain=home:flips", True),
        ("domain=work:flips", True),
    ]
    (place / "plan.toml").write_text(
        '[run]\nsystem = "my_module:right"\nsuite = "suite/"\n[gate.fail_under]\n"spoken/*:worst" = 1\n'
        '[gate.max_drop]\nall = 1\n"domain=home" = -0.01\n'
    )
    done = unswayed("run", "--plan", "plan.toml", "-o", "run", cwd=place)
    assert done.returncode == 1
    assert "drop on domain=home is" in done.stderr
    assert done.stderr.count("Gate failed: ") == 1


def test_junit(suite: Path) -> None:
    done = run(suite, "--max-flips", "0", "--fail-under", "clean=1.1", "--junit", "out.xml")
    assert done.returncode == 1
    root = ET.parse(suite / "out.xml").getroot()
    assert len(root.findall(".//testcase")) == 2
    assert len(root.findall(".//failure")) == 1


@pytest.mark.parametrize(
    ("system", "code", "message"),
    [
        ("my_module:short", 3, "returned 1 outputs for"),
        ("my_module:nan", 5, "NaN"),
        ("my_module:raises", 3, "no model loaded"),
        ("my_module:some_fail", 3, "Incomplete"),
        ("my_module:rigth", 4, "right"),
        ("no_such_module:f", 4, "no module"),
        ("somewhere/else", 4, "module:function"),
    ],
)
def test_systems_that_go_wrong(suite: Path, system: str, code: int, message: str) -> None:
    done = run(suite, system=system)
    assert message in done.stderr, done.stderr
    assert "Traceback" not in done.stderr
    assert done.returncode == code


def test_a_share_of_failures_can_be_allowed(suite: Path) -> None:
    assert run(suite, "--allow-missing", "0.5", system="my_module:some_fail").returncode == 0


def test_labels_are_held_to_their_set(place: Path) -> None:
    done = unswayed(
        "vary", "mine.jsonl", "--with", "spoken/filler_end", "--labels", "lights,muzak", "-o", "s", cwd=place
    )
    assert done.returncode == 4
    assert "mine.jsonl:2" in done.stderr
    assert "muzak" in done.stderr
    unswayed("vary", "mine.jsonl", "--with", "spoken/filler_end", "--labels", "lights,music", "-o", "suite", cwd=place)
    done = run(place, system="my_module:wrong_label")
    assert done.returncode == 5
    assert "'lihgts' is not in the set" in done.stderr


def test_the_same_suite_again_is_left_and_another_is_refused(suite: Path) -> None:
    before = (suite / "suite/variants.parquet").stat().st_mtime_ns
    again = unswayed("vary", "mine.jsonl", "--with", "spoken/filler_end", "--draws", "2", "-o", "suite/", cwd=suite)
    assert again.returncode == 0
    assert (suite / "suite/variants.parquet").stat().st_mtime_ns == before
    other = unswayed("vary", "mine.jsonl", "--with", "spoken/filler_end", "--seed", "1", "-o", "suite/", cwd=suite)
    assert other.returncode == 4
    assert "--overwrite" in other.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["vary", "gone.jsonl", "--with", "keyboard/adjacent", "-o", "s"], "gone.jsonl"),
        (["vary", "mine.jsonl", "--with", "keybord/adjacent", "-o", "s"], "Did you mean 'keyboard/adjacent'"),
        (["vary", "mine.jsonl", "-o", "s"], "unswayed list operators"),
        (
            ["vary", "mine.jsonl", "--with", "spoken/filler_end", "--lang", "zh", "-o", "s"],
            "spoken/filler_end varies en",
        ),
        (["vary", "mine.jsonl", "--with", "keyboard/adjacent", "--param", "rat=1", "-o", "s"], "rate"),
        (["vary", "empty.jsonl", "--with", "keyboard/adjacent", "-o", "s"], "empty.jsonl"),
        (["run", "mine.jsonl", "--system", "my_module:right", "-o", "r"], "suite"),
        (["run", "nowhere", "--system", "my_module:right", "-o", "r"], "unswayed vary"),
        (["report", "nowhere"], "unswayed run"),
        (["frobnicate"], "frobnicate"),
        (["run", "--plan", "bad.toml", "-o", "r"], "bad.toml"),
    ],
)
def test_mistakes_are_told_and_taught(place: Path, arguments: list[str], message: str) -> None:
    (place / "empty.jsonl").write_text("")
    (place / "bad.toml").write_text("[vary]\ndrawz = 3\n")
    done = unswayed(*arguments, cwd=place)
    assert done.returncode in (3, 4)
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_a_plan_does_it_all_and_options_go_before_it(place: Path) -> None:
    (place / "plan.toml").write_text(
        '[data]\npath = "mine.jsonl"\n[vary]\noperators = ["spoken/filler_end"]\ndraws = 2\n'
        '[run]\nsystem = "my_module:right"\n[measure]\nlevel = 0.9\n[gate]\nfail_under = {clean = 0.9}\n'
    )
    done = unswayed("run", "--plan", "plan.toml", "-o", "r", "--format", "json", cwd=place)
    assert done.returncode == 0, done.stderr
    assert "level=0.9|" in json.loads(done.stdout)["clean"]["signature"]
    done = unswayed("run", "--plan", "plan.toml", "-o", "r", "--fail-under", "clean=1.01", cwd=place)
    assert done.returncode == 1


def test_two_runs_are_compared(suite: Path) -> None:
    assert run(suite).returncode == 0
    unswayed("run", "suite", "--system", "my_module:some_fail", "-o", "other", cwd=suite)
    done = unswayed("compare", "run", "other", cwd=suite)
    assert done.returncode == 0, done.stderr
    assert "worst" in done.stdout


def test_the_report_and_a_second_look(suite: Path) -> None:
    run(suite)
    done = unswayed("report", "run", "-o", "out/report.html", cwd=suite)
    assert done.returncode == 0, done.stderr
    assert "<html" in (suite / "out/report.html").read_text(encoding="utf-8")
    done = unswayed("measure", "run", "run", "--score", "macro_f1", "--format", "json", cwd=suite)
    assert json.loads(done.stdout)["score"] == "macro_f1"


def test_suites_go_out_and_come_in(suite: Path) -> None:
    assert unswayed("suite", "export", "suite", "-o", "s.jsonl", cwd=suite).returncode == 0
    done = unswayed("suite", "import", "s.jsonl", "-o", "again", cwd=suite)
    assert done.returncode == 0, done.stderr
    shown = [json.loads(unswayed("suite", "show", s, "--format", "json", cwd=suite).stdout) for s in ("suite", "again")]
    assert shown[0]["content"] == shown[1]["content"]


def test_ctrl_c_exits_with_2_and_goes_on(suite: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "unswayed",
        "run",
        "suite",
        "--system",
        "my_module:slow",
        "--batch-size",
        "1",
        "-o",
        "r",
    ]
    process = subprocess.Popen(
        command,
        cwd=suite,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a job in the background starts without it
    )
    while not (suite / "r/outputs.sqlite").exists():
        time.sleep(0.02)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate()
    assert process.returncode == 2, errors
    assert "rerun to resume" in errors
    assert subprocess.run(command, cwd=suite, capture_output=True).returncode == 0


@pytest.mark.parametrize(
    "command", ["list operators", "list scorers", "list readers", "list systems", "list tasks", "doctor"]
)
def test_what_there_is(place: Path, command: str) -> None:
    done = unswayed(*command.split(), "--format", "json", cwd=place)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)


def test_help_is_quick_and_imports_nothing_heavy() -> None:
    script = (
        "import sys; sys.argv = ['unswayed', '--help']\n"
        "import unswayed.cli\n"
        "try: unswayed.cli.main()\n"
        "except SystemExit: pass\n"
        "heavy = {'numpy', 'torch', 'jinja2', 'arro3', 'sqlite3', 'multiprocessing'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for name in ("vary", "run", "report", "compare", "list", "doctor"):
        assert f"\n  {name}" in done.stdout


def test_importing_the_package_is_light() -> None:
    script = "import sys, unswayed; assert not {'numpy', 'click', 'msgspec'} & set(sys.modules); unswayed.Example"
    subprocess.run([sys.executable, "-c", script], check=True)


def test_output_can_be_cut_off_by_its_reader(place: Path) -> None:
    (place / "many.txt").write_text("play some jazz\n" * 20_000)
    script = f"{sys.executable} -m unswayed vary many.txt --with keyboard/adjacent -o - | head -1"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", script], cwd=place, capture_output=True, text=True)
    assert done.returncode in (0, 141)
    assert "Traceback" not in done.stderr


def test_no_variant_at_all_is_nothing_evaluated(place: Path) -> None:
    (place / "digits.txt").write_text("123\n456\n")
    done = unswayed("vary", "digits.txt", "--lang", "en", "--with", "keyboard/adjacent", "-o", "s", cwd=place)
    assert done.returncode == 5
    assert "nothing to change" in done.stderr


def test_a_read_only_place_is_a_clear_error(place: Path) -> None:
    if os.geteuid() == 0:
        target = "/proc/nowhere/suite"
    else:
        (place / "locked").mkdir(mode=0o500)
        target = "locked/suite"
    done = unswayed("vary", "mine.jsonl", "--with", "spoken/filler_end", "-o", target, cwd=place)
    assert done.returncode in (3, 4)
    assert "Traceback" not in done.stderr


def test_an_operator_with_parameters_after_its_name_names_the_option_for_them(place: Path) -> None:
    done = unswayed("vary", "texts.txt", "--with", "paraphrase/chat:url=x", "-o", "-", cwd=place)
    assert done.returncode == 4
    assert "--param" in done.stderr


def test_studies_are_listed(place: Path) -> None:
    done = unswayed("list", "studies", "--format", "json", cwd=place)
    assert [row["name"] for row in json.loads(done.stdout)] == ["dialect", "findings", "nature", "parte", "readin"]


def test_a_system_to_be_trained_names_the_command(suite: Path) -> None:
    done = run(suite, system="baselines/intent")
    assert done.returncode == 4
    assert "baselines/intent has to be trained. Train one with `unswayed train` and name the folder." in done.stderr

"""A pull request without a comparison has not passed: what is no baseline is said first, and ends with exit code 5."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from commands import unswayed

from unswayed.integrations.pull_request import check_pull_request
from unswayed.run.plan import plan_of

MODEL = """
BROKEN = {broken}
def predict(batch):
    return ["music" if "play" in x["text"] and not any(f"song {{i}} " in x["text"] for i in BROKEN) else "lights"
            for x in batch]
"""
PLAN = """
[data]
path = "d.jsonl"
language = "en"
[vary]
operators = ["spoken/filler_end"]
seed = 1
[run]
system = "model:predict"
[measure]
sanity = false
[gate]
max_drop = 0.9
[compare]
on = "value"
fail_if_worse = {{ average = {margin} }}
"""
ROWS = 40
NONE = "No comparison was made: "


def write(place: Path, broken: int = 0, rows: int = ROWS, margin: float = 0.05) -> None:
    lines = [{"text": f"play song {i} {'now' if i < ROWS else 'later'}", "label": "music"} for i in range(rows)]
    lines += [{"text": f"turn on light {i}", "label": "lights"} for i in range(ROWS)]
    (place / "d.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (place / "model.py").write_text(MODEL.format(broken=list(range(broken))))
    (place / "unswayed.toml").write_text(PLAN.format(margin=margin))


@pytest.fixture(scope="module")
def after_main(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("main")
    write(place)
    unswayed("pull-request", "--baseline", cwd=place, check=True)
    shutil.rmtree(place / ".unswayed/run")
    return place


@pytest.fixture
def project(after_main: Path, tmp_path: Path) -> Path:
    """A checkout in which the main branch's run is kept."""
    shutil.copytree(after_main, tmp_path / "project")
    return tmp_path / "project"


def test_no_baseline_is_said_first_and_is_no_success(project: Path) -> None:
    shutil.rmtree(project / ".unswayed")
    done = unswayed("pull-request", cwd=project)
    assert done.returncode == 5
    assert done.stdout.startswith(NONE)
    assert "--baseline-from REF" in done.stdout.splitlines()[0]
    write(project, broken=40)
    plan = (project / "unswayed.toml").read_text().replace("max_drop = 0.9", 'fail_under = { "average" = 0.9 }')
    (project / "unswayed.toml").write_text(plan)
    assert unswayed("pull-request", cwd=project).returncode == 5, "also where a gate failed besides"
    allowed = unswayed("pull-request", "--allow-no-baseline", cwd=project)
    assert allowed.returncode == 1
    assert allowed.stdout.startswith(NONE)
    write(project)
    assert unswayed("pull-request", "--allow-no-baseline", cwd=project).returncode == 0


@pytest.mark.parametrize("file", ["run.json", "outputs.sqlite", "suite/manifest.json", "suite/variants.parquet"])
def test_a_damaged_baseline_is_no_baseline(project: Path, file: str) -> None:
    content = (project / ".unswayed/main" / file).read_bytes()
    (project / ".unswayed/main" / file).write_bytes(content[: len(content) // 3] + b"x" * 50)
    for more in ((), ("--allow-no-baseline",)):
        done = unswayed("pull-request", *more, cwd=project)
        assert done.returncode == 5, done.stderr
        assert done.stdout.startswith(NONE)
        assert "can't be read" in done.stdout.splitlines()[0]
    assert not (project / ".unswayed/compare.html").exists()


def test_changed_rows_leave_a_comparison_of_those_that_are_shared(project: Path) -> None:
    write(project, rows=ROWS + 1)
    done = unswayed("pull-request", cwd=project)
    assert done.returncode == 0, done.stdout
    said = "Compared on 80 of 81 examples and 80 of 81 variants: those that both runs were asked."
    assert f"{said} The baseline has 80 examples" in done.stdout
    shutil.rmtree(project / ".unswayed/run")
    write(project, broken=10, rows=ROWS - 1)
    done = unswayed("pull-request", cwd=project)
    assert done.returncode == 1, done.stdout
    assert "Compared on 79 of 79 examples" in done.stdout
    assert "❌ average: B is worse" in done.stdout
    assert "10 are lost" in done.stdout


def test_where_nothing_is_shared_nothing_is_compared(project: Path) -> None:
    plan = (project / "unswayed.toml").read_text()
    for old, new, why in (
        ("seed = 1", "seed = 2", "the seed differs (1 and 2)"),
        ('["spoken/filler_end"]', '["keyboard/adjacent"]', "no operator is the same in both"),
    ):
        (project / "unswayed.toml").write_text(plan.replace(old, new))
        shutil.rmtree(project / ".unswayed/run", ignore_errors=True)  # a run on other data
        done = unswayed("pull-request", cwd=project)
        assert done.returncode == 5
        assert done.stdout.startswith(NONE)
        assert why in done.stdout.splitlines()[0]
    shutil.rmtree(project / ".unswayed/run")
    (project / "unswayed.toml").write_text(plan.replace('["sp', '["keyboard/adjacent", "sp'))
    done = unswayed("pull-request", cwd=project)
    assert done.returncode == 0, done.stdout
    assert "80 of 160 variants" in done.stdout
    assert "New or changed operators are left out: keyboard/adjacent." in done.stdout


def test_lost_answers_of_the_baseline_are_counted(project: Path) -> None:
    """A cache may be of a run that was killed."""
    write(project, rows=ROWS // 2)
    unswayed("pull-request", "--baseline", cwd=project, check=True)
    few = (project / ".unswayed/main/outputs.sqlite").read_bytes()
    shutil.rmtree(project / ".unswayed")
    write(project)
    unswayed("pull-request", "--baseline", cwd=project, check=True)
    (project / ".unswayed/main/outputs.sqlite").write_bytes(few)
    done = unswayed("pull-request", cwd=project)
    assert "Compared on 60 of 80 examples" in done.stdout


def test_a_request_that_changes_its_own_gates_is_told(project: Path) -> None:
    write(project, broken=10, margin=0.5)
    done = unswayed("pull-request", cwd=project)
    assert done.returncode == 0
    assert done.stdout.startswith(
        "⚠️ This pull request changes its own gates: compare.fail_if_worse.average from 0.05 to 0.5."
    )
    write(project)
    assert "changes its own gates" not in unswayed("pull-request", cwd=project).stdout


def git(place: Path, *words: str) -> str:
    known = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    own = ("-c", "user.name=me", "-c", "user.email=me@example.org")
    return subprocess.run(["git", *own, *words], cwd=place, check=True, capture_output=True, text=True,
                          env={**os.environ, **known}).stdout  # fmt: skip


def pull_request(place: Path, *words: str, path: tuple[Path, ...] = ()) -> subprocess.CompletedProcess[str]:
    """The command in a new process, which finds packages in `src`."""
    found = os.pathsep.join(map(str, [place / "src", *path, os.environ.get("PYTHONPATH", "")]))
    command = [sys.executable, "-m", "unswayed", "pull-request", *words]
    return subprocess.run(command, cwd=place, env={**os.environ, "PYTHONPATH": found}, capture_output=True, text=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A subfolder of a repository with a commit `main`, which has the model in a package of `src`."""
    place = tmp_path / "repository/app"
    (place / "src").mkdir(parents=True)
    write(place)
    (place / "model.py").rename(place / "src/model.py")
    (place.parent / ".gitignore").write_text(".unswayed\n__pycache__\n")
    git(place.parent, "init", "-q", "-b", "main")
    git(place, "add", "-A", str(place.parent))
    git(place, "commit", "-qm", "one")
    git(place, "switch", "-qc", "branch")
    return place


def test_a_commit_is_run_in_a_worktree_and_compared(repository: Path) -> None:
    (repository / "src/model.py").write_text(MODEL.format(broken=list(range(10))))
    before = git(repository, "status", "--porcelain")
    done = pull_request(repository, "--baseline-from", "main")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "❌ average: B is worse" in done.stdout
    assert "Compared on" not in done.stdout, "all rows are shared"
    assert git(repository, "worktree", "list").count("\n") == 1
    assert git(repository, "status", "--porcelain") == before
    assert pull_request(repository, "--pinned", "main", "--allow-no-baseline").returncode == 1
    write(repository)
    (repository / "model.py").rename(repository / "src/model.py")
    assert pull_request(repository, "--baseline-from", "main").returncode == 0


def test_a_commit_that_can_not_be_run_is_no_baseline(repository: Path) -> None:
    for reference, why in (("nowhere", "there is no commit nowhere here"), ("--help", "there is no commit --help")):
        done = pull_request(repository, f"--baseline-from={reference}")
        assert done.returncode == 5
        assert done.stdout.startswith(NONE)
        assert why in done.stdout
    (repository / "other.toml").write_text((repository / "unswayed.toml").read_text())
    done = pull_request(repository, "--plan", "other.toml", "--baseline-from", "main")
    assert done.returncode == 5
    assert "has no plan app/other.toml" in done.stdout
    git(repository, "switch", "-q", "main")
    (repository / "src/model.py").write_text("import nothing_of_that_name\n")
    git(repository, "commit", "-qam", "two")
    git(repository, "switch", "-q", "branch")
    done = pull_request(repository, "--baseline-from", "main")
    assert done.returncode == 5
    assert "nothing_of_that_name" in done.stdout
    assert git(repository, "worktree", "list").count("\n") == 1


def test_a_commit_that_runs_the_checkouts_code_is_no_baseline(repository: Path, tmp_path: Path) -> None:
    """As an editable install does whose finder is code."""
    (tmp_path / "hooks").mkdir()
    finder = f"""
import importlib.abc, importlib.util, sys
class Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == "model":
            return importlib.util.spec_from_file_location(name, {str(repository / "src/model.py")!r})
sys.meta_path.insert(0, Finder())
"""
    (tmp_path / "hooks/sitecustomize.py").write_text(finder)
    done = pull_request(repository, "--baseline-from", "main", path=(tmp_path / "hooks",))
    assert done.returncode == 5, done.stdout
    assert "is this checkout's code and not the commit's" in done.stdout


def test_ten_builds_that_each_lose_less_than_the_margin_fail_against_a_pinned_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    write(tmp_path)
    folder, lost_each = tmp_path / ".unswayed", 4  # of 80 examples, 5 %; the margin is 0.056
    failed: dict[str, list[bool]] = {"compare": [], "compare-pinned": []}
    for build in range(11):
        (tmp_path / f"model{build}.py").write_text(MODEL.format(broken=list(range(lost_each * build))))
        plan = plan_of(tmp_path / "unswayed.toml", {
            "run": {"system": f"model{build}:predict"},
            "compare": {"fail_if_worse": {"average": lost_each / 80 / 0.9}},
        })  # fmt: skip
        if not build:
            assert check_pull_request(plan, folder, keep=True).exit_code == 0
            shutil.copytree(folder / "main", tmp_path / "release")
            continue
        checked = check_pull_request(plan, folder, pinned="release")
        for name, found in failed.items():
            found.append(ElementTree.parse(folder / f"{name}.xml").getroot().get("failures") != "0")
        assert checked.exit_code == int(failed["compare-pinned"][-1])
        shutil.rmtree(folder / "main")  # it is merged all the same
        shutil.copytree(folder / "run", folder / "main")
        shutil.rmtree(folder / "run")
    assert failed == {"compare": [False] * 10, "compare-pinned": [False] + [True] * 9}
    missing = check_pull_request(plan, folder, keep=True, pinned="nowhere")
    assert missing.exit_code == 5
    assert missing.text.startswith(f"{NONE}the pinned run")

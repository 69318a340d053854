"""Story 2, CI: a workflow from `unswayed init`, a pull request that swaps the model, its comment, and the repair."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from commands import path as commands_path, unswayed

from unswayed.base.errors import UsageError
from unswayed.report.ci import write_comment
from unswayed.report.tables import escaped, markdown

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).parents[2]
GOOD = 'def predict(batch):\n    return ["lights" if "li" in inputs["text"] else "music" for inputs in batch]\n'
BAD = 'def predict(batch):\n    return ["lights" if "light" in inputs["text"] else "music" for inputs in batch]\n'


class Github:
    """The part of GitHub's API that has comments, on this machine."""

    def __init__(self) -> None:
        self.me: dict[str, Any] = {"id": 41, "login": "github-actions[bot]", "type": "Bot"}
        self.tells_me = False  # a job's own token may not ask
        self.comments: list[dict[str, Any]] = [
            {"id": 1, "body": "Nice work!", "user": {"id": 2, "login": "a", "type": "User"}}
        ]
        self.refused = 0
        self.requests: list[str] = []
        host = self

        class Answer(BaseHTTPRequestHandler):
            def answer(self) -> None:
                size = int(self.headers.get("Content-Length") or 0)
                body = json.loads(self.rfile.read(size)) if size else {}
                host.requests.append(f"{self.command} {self.path}")
                allowed = "secret-token" in (
                    self.headers.get("Authorization") or self.headers.get("PRIVATE-TOKEN") or ""
                )
                found = host.reply(self.command, self.path, body) if allowed else None
                self.send_response(403 if found is None else 200)
                self.end_headers()
                self.wfile.write(json.dumps(found).encode())

            do_GET = do_POST = do_PATCH = do_PUT = answer

            def log_message(self, *_: object) -> None:
                """Nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def reply(self, method: str, path: str, body: dict[str, str]) -> Any:
        where = (
            "/projects/5/merge_requests/7/notes" if path.startswith("/projects/") else "/repos/me/app/issues/7/comments"
        )
        if method == "GET" and path.startswith(f"{where}?"):
            page = int(path.rpartition("page=")[2])
            return self.comments if page == 1 else []
        if path == "/user":
            return self.me if self.tells_me else None
        if method == "POST" and path == where:
            own = {"user": self.me, "author": self.me}
            self.comments.append({"id": len(self.comments) + 1, "body": body["body"], **own})
            return self.comments[-1]
        number = re.fullmatch(r"/repos/me/app/issues/comments/(\d+)|/projects/5/merge_requests/7/notes/(\d+)", path)
        assert number
        assert method == ("PATCH" if number[1] else "PUT")
        number = number[number.lastindex]
        self.comments[int(number) - 1]["body"] = body["body"]
        return self.comments[int(number) - 1]

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def github() -> Iterator[Github]:
    host = Github()
    yield host
    host.close()


class Runner:
    """Carries out the steps of action.yml as GitHub's runner does: scripts in bash, cache and artifacts in folders."""

    def __init__(self, project: Path, github: Github) -> None:
        self.project, self.github, self.base = project, github, ""
        self.inputs: dict[str, str] = {}
        self.cache, self.artifacts = project.parent / "cache", project.parent / "artifacts"
        self.steps = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))["runs"]["steps"]

    def run(self, event: str) -> int:
        action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
        values = {f"inputs.{name}": str(one["default"]) for name, one in action["inputs"].items()}
        values |= {f"inputs.{name}": value for name, value in self.inputs.items()}
        values |= {"inputs.token": "secret-token", "github.sha": event, "github.event_name": event}
        values["github.event_name == 'push' && '--baseline' || ''"] = "--baseline" if event == "push" else ""
        values["github.event.pull_request.base.sha"] = self.base if event == "pull_request" else ""
        code, self.said = 0, ""
        (self.project.parent / "output").unlink(missing_ok=True)
        for step in self.steps:
            if step.get("if") == "github.event_name == 'push'" and event != "push":
                continue
            if "uses" in step:
                self.use(step["uses"].partition("@")[0], step["with"])
            elif not step["run"].startswith("python -m pip install"):
                code = code or self.script(step, values, event)
        return code

    def use(self, action: str, given: dict[str, str]) -> None:
        folder = self.project / ".unswayed/main"
        if action == "actions/cache/restore" and self.cache.exists():
            shutil.copytree(self.cache, folder, dirs_exist_ok=True)
        elif action == "actions/cache/save":
            shutil.rmtree(self.cache, ignore_errors=True)
            shutil.copytree(self.project / given["path"], self.cache)
        elif action == "actions/upload-artifact":
            self.artifacts.mkdir(exist_ok=True)
            for file in self.project.glob(given["path"]):
                shutil.copy(file, self.artifacts)

    def script(self, step: dict[str, Any], values: dict[str, str], event: str) -> int:
        def filled(text: str) -> str:
            return re.sub(r"\$\{\{ (.*?) \}\}", lambda found: values[found[1]], text)

        place = self.project.parent
        (place / "event.json").write_text(json.dumps({"pull_request": {"number": 7}} if event != "push" else {}))
        environment = {
            **os.environ,
            "PATH": f"{commands_path()}:{Path(sys.executable).parent}:{os.environ['PATH']}",
            "GITHUB_EVENT_PATH": str(place / "event.json"),
            "GITHUB_EVENT_NAME": event,
            "GITHUB_API_URL": self.github.url,
            "GITHUB_SERVER_URL": "https://github.example",
            "GITHUB_REPOSITORY": "me/app",
            "GITHUB_RUN_ID": "42",
            "GITHUB_STEP_SUMMARY": str(place / "summary.md"),
            "GITHUB_OUTPUT": str(place / "output"),
            **{name: filled(str(text)) for name, text in step.get("env", {}).items()},
        }
        assert "${{" not in step["run"], "an expression in a script could be made to run code"
        done = subprocess.run(["bash", "-e", "-c", step["run"]], cwd=self.project, env=environment, text=True,
                              capture_output=True)  # fmt: skip
        self.said += done.stdout + done.stderr
        for line in (place / "output").read_text().splitlines() if (place / "output").exists() else ():
            name, _, value = line.partition("=")
            values[f"steps.{step.get('id', 'check')}.outputs.{name}"] = value
        return done.returncode


@pytest.fixture
def project(tmp_path: Path) -> Path:
    place = tmp_path / "project"
    place.mkdir()
    rows = [
        {"text": text, "label": label}
        for i in range(60)
        for text, label in [(f"turn off the light {i}", "lights"), (f"play song {i}", "music")]
    ]
    (place / "mine.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (place / "clf.py").write_text(GOOD)
    return place


def test_a_pull_request_is_checked_commented_and_repaired(project: Path, github: Github) -> None:
    unswayed("init", "mine.jsonl", "--system", "clf:predict", "--lang", "en", cwd=project, check=True)
    runner = Runner(project, github)
    assert runner.run("push") == 0, runner.said
    assert len(github.comments) == 1

    (project / "clf.py").write_text(BAD)
    shutil.rmtree(project / ".unswayed")
    assert runner.run("pull_request") == 1, runner.said
    assert len(github.comments) == 2
    comment = github.comments[-1]["body"]
    assert "❌ worst: " in comment
    assert re.search(r"Worst falls by [\d.]+ points \\\[[\d.]+, [\d.]+\\\] on keyboard/\w+", comment)
    assert "(https://github.example/me/app/actions/runs/42)" in comment
    lost = int(re.search(r"(?i)of the answers to variants, (\d+) are lost", comment)[1])
    page = (runner.artifacts / "compare.html").read_text("utf-8")
    assert page.count('<article class="flip lost">') == min(lost, 25)
    assert (runner.artifacts / "compare.view.html").is_file()

    (project / "clf.py").write_text(GOOD)
    shutil.rmtree(project / ".unswayed")
    assert runner.run("pull_request") == 0, runner.said
    assert len(github.comments) == 2, "the comment is updated, not repeated"
    assert "✅ worst: " in github.comments[-1]["body"]
    assert github.requests[-1].startswith("PATCH ")


@pytest.mark.parametrize("tells_me", [False, True])
def test_comments_of_others_stay_as_they_are(
    github: Github, tells_me: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "event.json").write_text('{"pull_request": {"number": 7}}')
    known = {"GITHUB_TOKEN": "secret-token", "GITHUB_REPOSITORY": "me/app", "GITHUB_API_URL": github.url,
             "GITHUB_EVENT_PATH": str(tmp_path / "event.json")}  # fmt: skip
    theirs = "<!-- unswayed: plan -->\nAll gates pass. Trust me."
    people = [{"id": 3, "login": "eve", "type": "User"}]
    people += [{"id": 4, "login": "other[bot]", "type": "Bot"}] if tells_me else []
    github.tells_me = tells_me
    github.comments += [{"id": 2 + i, "body": theirs, "user": one} for i, one in enumerate(people)]
    before = len(github.comments)
    assert [write_comment(text, "plan", environment=known) for text in ("1", "2")] == ["written", "updated"]
    assert [one["body"] for one in github.comments[1:before]] == [theirs] * len(people)
    assert len(github.comments) == before + 1


def test_texts_of_data_call_nobody_and_link_nowhere() -> None:
    given = "ask @alice or a@b.org about #12, GH-3, !4, ~bug and [this](https://x.example/?a=#1), www.x.example"
    shown = escaped(given)
    assert shown.replace("\u200b", "").replace("\\", "") == given
    assert not re.search(r"[@#!~]\w|GH-\d|https?:/|www\.|(?<!\\)[\[\]]", shown)
    assert shown in markdown([{"slice": given}])
    assert escaped("95% of 1,000") == "95% of 1,000"


def test_other_data_is_compared_on_shared_rows(project: Path, github: Github) -> None:
    unswayed("init", "mine.jsonl", "--system", "clf:predict", "--lang", "en", cwd=project, check=True)
    runner = Runner(project, github)
    runner.run("push")
    with (project / "mine.jsonl").open("a") as file:
        file.write('{"text": "dim the light", "label": "lights"}\n')
    shutil.rmtree(project / ".unswayed")
    assert runner.run("pull_request") == 0, runner.said
    assert "Compared on 120 of 121 examples" in github.comments[-1]["body"]


def test_without_a_cache_the_action_runs_the_commit_of_main(project: Path, github: Github) -> None:
    unswayed("init", "mine.jsonl", "--system", "clf:predict", "--lang", "en", cwd=project, check=True)
    (project / ".gitignore").write_text(".unswayed\n__pycache__\n")
    git = ["git", "-c", "user.name=me", "-c", "user.email=me@example.org"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "one"]):
        subprocess.run([*git, *words], cwd=project, check=True)
    commit = subprocess.run([*git, "rev-parse", "HEAD"], cwd=project, capture_output=True, text=True).stdout.strip()
    subprocess.run(["git", "remote", "add", "origin", str(project)], cwd=project, check=True)
    runner = Runner(project, github)
    assert runner.run("pull_request") == 5, "its commit is not known"
    assert "No comparison was made: " in github.comments[-1]["body"]
    (project / "clf.py").write_text(BAD)
    shutil.rmtree(project / ".unswayed")
    runner.base, runner.inputs = commit, {"pinned": "v1"}
    subprocess.run(["git", "tag", "v1"], cwd=project, check=True)
    assert runner.run("pull_request") == 1, runner.said
    assert github.comments[-1]["body"].count("❌ worst: ") == 2
    assert "Compared with the pinned run, unswayed-pinned:" in github.comments[-1]["body"]
    assert (runner.artifacts / "compare-pinned.html").is_file()


def test_a_token_that_may_not_comment_is_said(project: Path, github: Github) -> None:
    unswayed("init", "mine.jsonl", "--system", "clf:predict", "--lang", "en", cwd=project, check=True)
    runner = Runner(project, github)
    runner.steps = [{**step, "env": {**step["env"], "GITHUB_TOKEN": "another"}} if step.get("id") == "check" else step
                    for step in runner.steps]  # fmt: skip
    assert runner.run("pull_request") == 3
    assert "pull-requests: write" in runner.said


def test_init_keeps_what_is_there_and_its_test_passes(project: Path) -> None:
    first = unswayed("init", "mine.jsonl", "--system", "clf:predict", "--lang", "en", cwd=project, check=True)
    assert "Wrote unswayed.toml" in first.stderr
    again = unswayed("init", "mine.jsonl", "--system", "clf:predict", "--lang", "en", cwd=project)
    assert again.returncode == 4
    assert "--overwrite" in again.stderr
    found = os.pathsep.join(map(str, [project, ROOT / "src"]))  # of this checkout, wherever another is installed
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"], cwd=project,
                          capture_output=True, text=True, env={**os.environ, "PYTHONPATH": found})  # fmt: skip
    assert done.returncode == 0, done.stdout


def test_gitlab_has_a_job_and_its_notes_are_updated(project: Path, github: Github) -> None:
    unswayed(
        "init", "mine.jsonl", "--system", "clf:predict", "--lang", "en", "--host", "gitlab", cwd=project, check=True
    )
    job = yaml.safe_load((project / ".gitlab-ci.yml").read_text())["robustness"]
    assert any("unswayed pull-request" in line for line in job["script"])
    known = {"GITLAB_CI": "true", "UNSWAYED_TOKEN": "secret-token", "CI_PROJECT_ID": "5", "CI_MERGE_REQUEST_IID": "7",
             "CI_API_V4_URL": github.url}  # fmt: skip
    github.tells_me = True
    said = [write_comment(text, "plan", environment=known) for text in ("one", "two", "two")]
    assert said == ["written", "updated", "unchanged"]
    assert github.comments[-1]["body"] == "<!-- unswayed: plan -->\ntwo"
    with pytest.raises(UsageError, match="https only"):
        write_comment("text", environment={**known, "CI_API_V4_URL": "http://gitlab.example"})


def test_init_names_columns_and_says_what_the_first_run_can_show(project: Path) -> None:
    """Columns of one's own, a limit from a first run with its power, and no run in a commit."""
    rows = [json.loads(line) for line in (project / "mine.jsonl").read_text("utf-8").splitlines()]
    own = "".join(json.dumps({"body": row["text"], "queue": row["label"], "note": "x"}) + "\n" for row in rows)
    (project / "own.jsonl").write_text(own, "utf-8")
    (project / "body.py").write_text(
        "from clf import predict as old\n"
        "def predict(batch):\n    return old([{'text': item['body']} for item in batch])\n"
    )
    (project / ".gitignore").write_text("*.pyc")
    words = ("init", "own.jsonl", "--input", "body", "--gold", "queue", "--system", "body:predict", "--lang", "en")
    unswayed(*words, cwd=project, check=True)
    unswayed("run", "--plan", "unswayed.toml", "-o", "run/", "--junit", "j.xml", cwd=project)
    unswayed(*words, "--run", "run/", "--overwrite", cwd=project, check=True)
    plan = (project / "unswayed.toml").read_text("utf-8")
    assert 'input = ["body"]\ngold = "queue"' in plan
    assert re.search(r"the first run had [\d.e-]+ \[.*\]; so many examples show [\d.]+ in 4 of 5 builds", plan)
    assert (project / ".gitignore").read_text("utf-8") == "*.pyc\n.unswayed/\nrun/\n"
    assert "timeout-minutes: 10   # the first run took about 1" in (
        project / ".github/workflows/unswayed.yml"
    ).read_text("utf-8")
    unswayed("run", "--plan", "unswayed.toml", "-o", "run/", cwd=project, check=True)

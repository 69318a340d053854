"""The run of another commit: its plan is carried out in a git worktree, by its own code, for a comparison with it."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from unswayed.api import carry_out
from unswayed.base.errors import NothingEvaluated, UnswayedError
from unswayed.base.own_code import error_summary, is_installed_code
from unswayed.base.secrets import masked
from unswayed.run.plan import read_plan

_OURS = Path(__file__).resolve().parents[2]


def run_of_commit(reference: str, plan_file: str, folder: Path) -> Path:
    """Runs the plan of a commit with the code of that commit, in `folder`, and returns the folder of the run.

    The commit is checked out to a temporary worktree, which is removed at the end. The command runs in the same
    subfolder of it. A later call for the same commit resumes the run.
    """
    top = Path(_git("rev-parse", "--show-toplevel")).resolve()
    commit = _git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{reference}^{{commit}}")
    below, plan = Path.cwd().resolve().relative_to(top), Path(plan_file)
    if plan.is_absolute() and plan.resolve().is_relative_to(top):
        plan = Path(os.path.relpath(plan.resolve()))
    to = folder.resolve() / f"commit-{commit[:12]}"
    with tempfile.TemporaryDirectory(prefix="unswayed-", ignore_cleanup_errors=True) as temporary:
        tree = Path(temporary).resolve() / "tree"
        try:
            _git("worktree", "add", "--quiet", "--detach", str(tree), commit)
            place = tree / below
            if not (place / plan).is_file():
                raise NothingEvaluated(f"{reference} ({commit[:12]}) has no plan {below / plan}.")
            command = [sys.executable, "-P", "-m", __name__, str(plan), str(to), str(top), str(tree)]
            done = subprocess.run(command, cwd=place, stdout=subprocess.PIPE, text=True)  # noqa: S603 - this module
            if done.returncode:
                raise NothingEvaluated(f"the run of {reference} ({commit[:12]}) failed: {done.stdout.strip()}")
        finally:
            with suppress(UnswayedError):
                _git("worktree", "remove", "--force", "--force", str(tree))
    with suppress(UnswayedError):
        _git("worktree", "prune")
    return to


def _git(*words: str) -> str:
    """What git prints; hooks of the repository are not run."""
    command = ["git", "-c", f"core.hooksPath={os.devnull}", *words]
    try:
        done = subprocess.run(command, capture_output=True, text=True)  # noqa: S603
    except OSError as error:
        raise NothingEvaluated(f"git can't be started: {error}.") from error
    if done.returncode:
        said = done.stderr.strip().splitlines()
        why = said[-1] if said else f"there is no commit {words[-1].removesuffix('^{commit}')} here. Fetch it first"
        raise NothingEvaluated(f"git {words[0]}: {why}.")
    return done.stdout.strip()


def _run_here(plan_file: str, to: str, top: Path, tree: Path) -> str:
    """Carries out the plan with the code in `tree` alone. Returns what went wrong, empty if nothing."""

    def moved(entry: str) -> str:
        """The same folder of the worktree, where packages are found in the checkout, as after `pip install -e .`."""
        place = Path(entry).resolve()
        own = place.is_relative_to(top) and not place.is_relative_to(tree) and place != _OURS
        return str(tree / place.relative_to(top)) if entry and own and not is_installed_code(place) else entry

    sys.path[:] = map(moved, sys.path)
    if given := os.environ.get("PYTHONPATH"):  # of worker processes and of programs
        os.environ["PYTHONPATH"] = os.pathsep.join(map(moved, given.split(os.pathsep)))
    try:
        carry_out(read_plan(plan_file), to)
    except UnswayedError as error:
        return str(error)
    except Exception as error:
        return error_summary(error)
    for module in list(sys.modules.values()):
        file = Path(getattr(module, "__file__", None) or os.devnull).resolve()
        own = file.is_relative_to(top) and not file.is_relative_to(tree)
        if own and not file.is_relative_to(_OURS / "unswayed") and not is_installed_code(file):
            return (
                f"it imported {file}, which is this checkout's code and not the commit's. Install the package without "
                f"-e, or put its folder on PYTHONPATH."
            )
    return ""


if __name__ == "__main__":
    if problem := _run_here(sys.argv[1], sys.argv[2], Path(sys.argv[3]), Path(sys.argv[4])):
        print(masked(problem))
        sys.exit(1)

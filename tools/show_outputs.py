"""Writes below the commands of a page what they print: `python tools/show_outputs.py docs/data.md …`.

Every example of the page is run, in order, twice and in two empty folders. Of what a command prints, lines are shown
that are the same both times, but no times, folders, ids, long numbers or very long lines, and only the first few.
Commands that have lines below them already are left as they are. With `--again`, lines that a command no longer prints
are replaced by the likest ones that it prints, or left out. The tests then hold the page to what it shows.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
from difflib import SequenceMatcher
from pathlib import Path

MOST_LINES, MOST_CHARACTERS = 8, 420
_ALIKE, _NEXT = 0.4, 0.2  # of two lines, from 0 to 1; the next line is the likelier one
_FENCE = re.compile(r"^```([\w.]+)?[^\n]*\n(.*?)^```", re.M | re.S)
_PASSING = re.compile(
    r"\d/s|examples/s|left$|\.\d{7}|^(?!\{).*[0-9a-f]{16}|/tmp/|127\.0\.0\.1|\bCPU\b|\d m?s\b|seconds|token=|password"
)
_SET_UP = ("make", "pip", "git", "cd", "sudo")


def printed(page: str, place: Path) -> list[list[str]]:
    """The lines that each command of the page's console blocks prints."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
    import commands

    path = f"{commands.path()}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**os.environ, "COLUMNS": "120", "PATH": path}
    names: dict[str, object] = {"__name__": "docs"}
    found = []
    os.chdir(place)
    sys.path.insert(0, str(place))
    for kind, text in _FENCE.findall(page):
        first, _, rest = text.partition("\n")
        if kind and first.startswith(("# file: ", "// file: ")):
            file = place / first.split("file: ", 1)[1].strip()
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(rest, encoding="utf-8")
        elif kind == "python":
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(text, "page", "exec"), names)
        elif kind == "console":
            for command in _commands(text):
                done = None
                if shlex.split(command)[0] not in _SET_UP:
                    call = ["bash", "-c", command]
                    done = subprocess.run(call, env=environment, capture_output=True, text=True)
                found.append((done.stdout + done.stderr).splitlines() if done else [])
    return found


def _commands(block: str) -> list[str]:
    parts = re.split(r"^\$ ", block.replace("\\\n", " "), flags=re.M)[1:]
    return [part.partition("\n")[0].partition("  #")[0] for part in parts]


def with_output(page: str, one: list[list[str]], other: list[list[str]], replace: bool = False) -> str:
    """The page, in which each bare command is followed by the lines that came both times."""
    outputs = iter(zip(one, other, strict=True))

    def block(match: re.Match[str]) -> str:
        if match.group(1) != "console":
            return match.group()
        head, *parts = re.split(r"^\$ ", match.group(2), flags=re.M)
        made = [head]
        for part in parts:
            again, lines = next(outputs)
            command = re.match(r"(?:[^\n]*\\\n)*[^\n]*\n?", part)
            assert command
            shown = part[command.end() :]
            if shown.strip():
                shown = _renewed(shown, again) if replace else shown
            elif not replace:
                shown = _shown(again, lines)
            made.append(f"$ {command.group()}{shown}")
        return match.group().replace(match.group(2), "".join(made))

    return _FENCE.sub(block, page)


def _renewed(shown: str, printed: list[str]) -> str:
    """The shown lines, each that is not printed any more replaced by the likest line that follows the one before it."""
    made: list[str] = []
    rest, lines = [line.rstrip() for line in printed], shown.splitlines()
    for line in lines:
        if not line.strip(" ─") or line.strip() == "…":
            made.append(line)
            continue
        if line.rstrip() in rest:
            at = rest.index(line.rstrip())
        else:
            likeness = [SequenceMatcher(None, line, one).ratio() if one else 0.0 for one in rest]
            likeness[:1] = [one + _NEXT for one in likeness[:1]]
            at = max(range(len(rest)), key=likeness.__getitem__, default=-1)
            if at < 0 or likeness[at] < _ALIKE:
                continue
        made.append(rest[at])
        rest = rest[at + 1 :]
    return "\n".join(made) + shown[len(shown.rstrip("\n")) :]


def _shown(again: list[str], lines: list[str]) -> str:
    """The first lines that may be shown; `…` stands for those that are left out."""
    shown: list[str] = []
    for line in map(str.rstrip, lines):
        if len(shown) >= MOST_LINES:
            shown.append("…")
            break
        if line in again and len(line) <= MOST_CHARACTERS and "```" not in line and not _PASSING.search(line):
            if shown or line:
                shown.append(line)
        elif shown and shown[-1] != "…":
            shown.append("…")
    while shown and not shown[-1].strip():
        shown.pop()
    return "\n".join([*shown, ""]) if any(line.strip(" …") for line in shown) else ""


def main() -> None:
    replace = "--again" in sys.argv
    for name in sys.argv[1:]:
        if name == "--again":
            continue
        page = Path(name).resolve()
        text = page.read_text(encoding="utf-8")
        home = Path.cwd()
        with tempfile.TemporaryDirectory() as a, tempfile.TemporaryDirectory() as b:
            runs = [printed(text, Path(place)) for place in (a, b)]
            os.chdir(home)
        page.write_text(with_output(text, *runs, replace), encoding="utf-8")
        print(page.name)


if __name__ == "__main__":
    main()

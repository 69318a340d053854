"""The README and the docs are true: every example in them is run, in order, in an empty directory."""

from __future__ import annotations

import ast
import contextlib
import inspect
import io
import os
import re
import runpy
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import FrameType

import commands
import pytest

import unswayed

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
_FENCE = re.compile(r"^```([\w.]+)?[^\n]*\n(.*?)^```", re.M | re.S)


def blocks(page: Path) -> list[tuple[str, str]]:
    return [(kind, text) for kind, text in _FENCE.findall(page.read_text(encoding="utf-8")) if kind]


def run_console(text: str, place: Path) -> None:
    """Runs the lines after `$ `. `# exits N` at the end of a line says that it must exit with N.

    The lines below a command are what it prints, in order; `…` stands for lines that are left out.
    """
    bin_folder = Path(sys.executable).parent
    for part in re.split(r"^\$ ", text.replace("\\\n", " "), flags=re.M)[1:]:
        line, _, shown = part.partition("\n")
        command, _, comment = line.partition("  #")
        expected = int(found.group(1)) if (found := re.search(r"exits (\d)", comment)) else 0
        if shlex.split(command)[0] in ("make", "pip", "git", "cd", "sudo"):
            continue  # the set-up itself, which has been done
        environment = {**os.environ, "COLUMNS": "120", "PATH": f"{commands.path()}:{bin_folder}:{os.environ['PATH']}"}
        done = subprocess.run(["bash", "-c", command], cwd=place, env=environment, capture_output=True, text=True)
        assert done.returncode == expected, f"$ {command}\n{done.stdout}\n{done.stderr}"
        check_shown(shown, done.stdout + done.stderr, command)


def check_shown(shown: str, printed: str, command: str) -> None:
    """Each line that a page shows below a command is one that the command prints, and in this order."""
    rest = iter([line.rstrip() for line in printed.splitlines()])
    for line in shown.splitlines():
        if line.strip(" ─") not in ("", "…"):  # rules are as wide as the widest row, also of those left out
            assert line.rstrip() in rest, f"$ {command}\ndoes not print the line\n{line}\nbut\n{printed}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_work(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    names: dict[str, object] = {"__name__": "docs"}
    for kind, text in blocks(page):
        first, _, rest = text.partition("\n")
        if first.startswith(("# file: ", "// file: ")):
            file = tmp_path / first.split("file: ", 1)[1].strip()
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(rest, encoding="utf-8")
        elif kind == "python":
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(text, str(page), "exec"), names)
        elif kind == "console":
            run_console(text, tmp_path)


def test_tests_and_tools_that_pages_name_are_there() -> None:
    for page in [*PAGES, ROOT / "CONTRIBUTING.md"]:
        text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
        named = re.findall(r"`((?:tests|tools|benchmarks)/[a-z_/\d]+\.py)`", text)
        assert [file for file in named if not (ROOT / file).exists()] == [], page.name


def test_every_command_and_operator_is_documented() -> None:
    from unswayed.cli import unswayed
    from unswayed.vary import operators

    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    for name in unswayed.list_commands(None):  # type: ignore[arg-type]
        assert f"unswayed {name}" in text, f"the command {name} is in no page"
    for name in operators.names():
        assert name in text, f"the operator {name} is in no page"


def test_links_between_pages_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_commands_of_the_how_to_are_ones_that_there_are() -> None:
    """Each names a command, and options that it has; the lists of tasks are not run, since they need people's data."""
    import click

    from unswayed.cli import unswayed as program

    text = (ROOT / "docs/howto.md").read_text(encoding="utf-8")
    found = re.findall(r"`unswayed ([^`]+)`", text)
    assert len(found) > 20
    for line in found:
        command: click.Command = program
        words = shlex.split(line)
        while isinstance(command, click.Group):
            name = words.pop(0)
            known = command.get_command(click.Context(command), name)
            if known is None:  # `measure run` and `measure RUN` are both there
                break
            command = known
        options = {option for one in command.params for option in one.opts}
        given = {word for word in words if re.match(r"-\w$|--", word)}
        assert given <= options, f"unswayed {line}: there is no {sorted(given - options)}"


def test_every_story_has_its_test() -> None:
    """The first ten users are in the list, each with a file that is there; and no file is forgotten."""
    text = (ROOT / "tests/stories/README.md").read_text(encoding="utf-8")
    numbers = [int(n) for n in re.findall(r"^\| (\d+) \|", text, re.M)]
    assert numbers == sorted(set(numbers))
    assert numbers[:10] == list(range(1, 11))
    there = {file.name for file in (ROOT / "tests/stories").glob("test_*.py")}
    assert set(re.findall(r"`(test_\w+\.py)`", text)) == there


def test_percentages_are_set_without_a_space() -> None:
    """`12%`, wherever people read: pages, templates, and the texts in the code."""
    spaced = re.compile(r"[\d}][ \u00a0\u202f]%(?!\}|[sd(])")
    texts = {page.name: page.read_text(encoding="utf-8") for page in [*PAGES, *ROOT.glob("*.md")]}
    for file in (ROOT / "src").rglob("*.py"):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        parts = [node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr | ast.Constant)]
        texts |= {f"{file.name}:{part.lineno}": _text_of(part) for part in parts}
    assert [name for name, text in texts.items() if spaced.search(text)] == []
    assert spaced.search(_text_of(ast.parse('f"{share} % of"', mode="eval").body))


def _text_of(node: ast.expr) -> str:
    """The text of a literal; values that are filled in are `{}`."""
    if isinstance(node, ast.JoinedStr):
        return "".join(str(v.value) if isinstance(v, ast.Constant) else "{}" for v in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def test_the_commands_page_is_made_from_the_commands() -> None:
    """In a process of its own: click remembers the help options of whoever asked first."""
    script = f"import runpy; print(runpy.run_path({str(ROOT / 'docs/make_cli_page.py')!r})['page'](), end='')"
    made = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, encoding="utf-8", check=True)
    assert (ROOT / "docs/cli.md").read_text(encoding="utf-8") == made.stdout, "run `make docs`"


def test_the_reference_page_is_made_from_the_docstrings() -> None:
    made = runpy.run_path(str(ROOT / "docs/make_reference_page.py"))
    assert (ROOT / "docs/reference.md").read_text(encoding="utf-8") == made["page"](), "run `make docs`"
    assert sorted(" ".join(made["SECTIONS"].values()).split()) == sorted(unswayed.__all__)


@pytest.mark.parametrize("name", unswayed.__all__)
def test_every_public_name_has_a_docstring_with_an_example(name: str) -> None:
    assert "Example: `" in (inspect.getdoc(getattr(unswayed, name)) or "")


def walk() -> list[str]:
    """The modules of docs/architecture.md's walk, in its order."""
    text = (ROOT / "docs/architecture.md").read_text(encoding="utf-8").split("## A walk in twelve modules")[1]
    return re.findall(r"^\d+\. `([\w/]+\.py)`", text.split("\n## ")[0], re.M)


def test_a_check_goes_through_the_walk_of_the_architecture(tmp_path: Path) -> None:
    assert 6 <= len(walk()) <= 12
    source = ROOT / "src/unswayed"
    assert [step for step in walk() if not (source / step).exists()] == []
    crossed = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_name != "<module>":
            crossed.add(frame.f_code.co_filename)

    rows = [{"text": f"play song number {n}", "label": "ab"[n % 2]} for n in range(40)]
    sys.setprofile(note)
    try:
        to = tmp_path / "run"
        print(unswayed.check(predict_letter, rows, "keyboard/adjacent", language="en", seed=7, to=to))
    finally:
        sys.setprofile(None)
    assert [step for step in walk() if str(source / step) not in crossed] == []


def predict_letter(batch: Sequence[Mapping[str, str]]) -> list[str]:
    return ["ab"[len(item["text"]) % 2] for item in batch]


def test_the_pages_are_few_and_short() -> None:
    """At most 40 pages and 75,000 words that people wrote.

    Not counted: pages and tables that `make docs` and `python -m benchmarks` write, and in the studies, tables and
    read-outs of stored results. Those of pages stand between marks, `<!-- NAME -->` and `<!-- end … -->`.
    """
    pages = [page for page in (ROOT / "docs").glob("*.md") if page.name not in MADE]
    words = {page.name: len(written(page).split()) for page in pages}
    assert len(pages) <= 40
    assert sum(words.values()) <= 75_000, sorted(words.items(), key=lambda item: -item[1])


MADE = {"cli.md", "names.md", "reference.md"}
STUDIES = {"nature.md", "readin.md", "parte.md", "nano.md", "llm_study.md", "realism.md", "dialect.md", "findings.md"}


def written(page: Path) -> str:
    """The text of a page that people wrote, with its examples."""
    text = re.sub(
        r"^<!-- \w[\w ]* -->\n.*?^<!-- end[\w ]* -->", "", page.read_text(encoding="utf-8"), flags=re.M | re.S
    )
    return re.sub(r"^\|.*\|$", "", text, flags=re.M) if page.name in STUDIES else text


def test_what_is_counted_as_written() -> None:
    page = ROOT / "docs/parte.md"
    assert "<!-- recounted -->" in page.read_text(encoding="utf-8")
    assert "<!-- recounted -->" not in written(page)
    assert "| hypothesis |" not in written(page)
    assert "## Models trained here" in written(page)


@pytest.mark.parametrize("name", ["operators", "typing"])
def test_tables_are_made_from_the_code(name: str) -> None:
    made = runpy.run_path(str(ROOT / "docs/make_tables.py"))
    assert (ROOT / f"docs/{name}.md").read_text(encoding="utf-8") == made["page"](name), "run `make docs`"


def test_llms_txt_names_every_page() -> None:
    text = (ROOT / "docs/llms.txt").read_text(encoding="utf-8")
    assert text == runpy.run_path(str(ROOT / "docs/make_llms_txt.py"))["page"](), "run `make docs`"
    listed = {name.removesuffix("/").removesuffix(".html") for name in re.findall(r"\]\(([^)]+)\)", text)}
    assert listed == {page.stem for page in (ROOT / "docs").glob("*.md")}


PLAIN = [page for page in PAGES if page.name not in MADE]


def sentences(text: str) -> list[str]:
    """The sentences of a page: without code, tables, headings and addresses of links."""
    text = re.sub(r"^```.*?^```", "\n\n", text, flags=re.M | re.S)
    text = re.sub(r"<!--.*?-->|<[^>]+>", " ", text, flags=re.S)
    text = re.sub(r"^(#|\s*\|| {4}\S).*$", "\n", text, flags=re.M)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"`[^`]*`", "Code", text)
    text = re.sub(
        r"\b(unswayed|nlpaug|transformers)\b", lambda name: name[0].title(), text
    )  # they may start a sentence
    blocks = re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )", text)
    ends = re.compile(r"(?<=[.!?:])[*)\"]*\s+(?=[A-Z*\[\"(])|(?<=[.!?])\s+(?=\d)")
    return [s for block in blocks for s in ends.split(" ".join(block.split())) if s]


@pytest.mark.parametrize("page", PLAIN, ids=lambda page: page.name)
def test_sentences_are_short(page: Path) -> None:
    """No sentence over 30 words in any page that people wrote."""
    found = sentences(written(page))
    assert found
    assert [s for s in found if len(re.findall(r"\w[\w'’./-]*", s)) > 30] == []

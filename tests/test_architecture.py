"""What holds the packages apart: doors, underscore modules that stay inside, and tests that mirror the source."""

from __future__ import annotations

import ast
import importlib
import runpy
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import unswayed

SOURCE = Path(unswayed.__file__).parent
ROOT = Path(__file__).parents[1]
NAMES = runpy.run_path(str(ROOT / "docs/make_names_page.py"))
DOORS, MODULES = NAMES["DOORS"], NAMES["MODULES"]


def imports(file: Path) -> Iterator[str]:
    """The dotted names that a file imports, `from a import b` as `a.b`."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file} has a relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def package_of(module: str) -> str:
    """The folder below unswayed that a module is in; each paper is a package of its own."""
    parts = module.split(".")
    return ".".join(parts[1:3] if parts[1:2] == ["papers"] else parts[1:2])


def crossings() -> Iterator[tuple[str, str]]:
    """(importer, underscore module of another package) for all of `src`."""
    for file in sorted(SOURCE.rglob("*.py")):
        here = ".".join(("unswayed", *file.relative_to(SOURCE).with_suffix("").parts))
        for name in imports(file):
            parts = name.split(".")
            hidden = next((i for i, p in enumerate(parts) if p.startswith("_") and not p.endswith("__")), None)
            fits = package_of(here) == "lab" and package_of(name) == "vary"  # the laboratory fits operators' insides
            if parts[0] == "unswayed" and hidden and package_of(name) != package_of(here) and not fits:
                yield here, ".".join(parts[: hidden + 1])


def test_no_package_imports_the_underscore_module_of_another() -> None:
    assert list(crossings()) == []


@pytest.mark.parametrize("name", [*DOORS, *MODULES])
def test_a_door_opens_to_every_name_it_lists(name: str) -> None:
    if name == "lab.training.loop":
        pytest.importorskip("torch", reason="needs the extra hf")
    door = importlib.import_module(f"unswayed.{name}")
    offered = NAMES["names_of"](door)
    assert len(set(offered)) == len(offered) > 0
    for each in offered:
        assert getattr(door, each) is not None
        assert NAMES["said"](each, getattr(door, each)), f"unswayed.{name}.{each} has no docstring"
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = door.nothing
    if Path(str(door.__file__)).name == "__init__.py":
        modules = {file.stem for file in Path(str(door.__file__)).parent.iterdir()}
        assert not modules & set(offered), "a name that is also a module's would mean one or the other by chance"


@pytest.mark.parametrize("name", ["", *DOORS])
def test_a_stub_shows_type_checkers_what_the_table_offers(name: str) -> None:
    door = importlib.import_module(f"unswayed.{name}".rstrip("."))
    stub = ast.parse(Path(str(door.__file__) + "i").read_text(encoding="utf-8"))
    imported = {
        alias.asname or alias.name: (node.module, alias.name)
        for node in stub.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    (listed,) = (node.value for node in stub.body if isinstance(node, ast.Assign))
    assert sorted(ast.literal_eval(listed)) == sorted(door.__all__)
    for each in set(door.__all__) & set(imported):
        module, inside = imported[each]
        assert getattr(importlib.import_module(str(module)), inside) is getattr(door, each)


def test_doors_are_light() -> None:
    names = ", ".join(f"unswayed.{name}" for name in DOORS if name != "score")
    script = f"import sys, {names}\nheavy = {{'numpy', 'torch', 'click', 'jinja2', 'arro3'}} & set(sys.modules)\n"
    subprocess.run([sys.executable, "-c", f"{script}assert not heavy, heavy"], check=True)


def test_making_variants_imports_no_measures_and_no_reports(tmp_path: Path) -> None:
    """Every reader is asked about the data, those of the papers too; they take half of a small command's time."""
    (tmp_path / "texts.txt").write_text("turn on the light\n" * 20)
    script = (
        "import sys\nfrom unswayed.cli import main\n"
        "try: main()\nfinally: print([m for m in sys.modules if m.split('.')[:2][-1] in ('measure', 'report')])"
    )
    words = ["vary", "texts.txt", "--with", "keyboard/adjacent", "--lang", "en", "-o", "suite"]
    done = subprocess.run([sys.executable, "-c", script, *words], cwd=tmp_path, capture_output=True, text=True)
    assert (done.stdout, done.returncode) == ("[]\n", 0), done.stderr


def test_every_package_has_a_door() -> None:
    packages = {file.parent.name for file in SOURCE.glob("*/__init__.py")}
    assert packages - {"cli", "integrations", "papers"} == set(DOORS)


def test_docs_and_contracts_list_the_same_doors() -> None:
    """What docs/extending.md says that one can import is what import-linter lets the papers import."""
    page = (ROOT / "docs/extending.md").read_text(encoding="utf-8")
    for name in (*DOORS, *MODULES):
        assert f"| `unswayed.{name}` |" in page
    assert (ROOT / "docs/names.md").read_text(encoding="utf-8") == NAMES["page"](), "run `make docs`"
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    (papers,) = (contract for contract in contracts if contract.get("source_modules") == ["unswayed.papers"])
    assert {f"unswayed.papers.** -> unswayed.{name}" for name in MODULES} == set(papers["ignore_imports"])
    assert {f"unswayed.{name}.**" for name in DOORS} | {"unswayed.api"} == set(papers["forbidden_modules"])
    (apart,) = (contract for contract in contracts if contract["type"] == "independence")
    assert {f"unswayed.papers.{f.parent.name}" for f in SOURCE.glob("papers/*/__init__.py")} == set(apart["modules"])


def test_a_paper_that_reaches_behind_a_door_is_caught(tmp_path: Path) -> None:
    """The contract itself, on a small package with one sin."""
    files = {"core/__init__.py": "", "core/edits.py": "", "papers/one.py": "import house.core.edits\n",
             "papers/two.py": "import house.core\n"}  # fmt: skip
    for name, text in files.items():
        file = tmp_path / "house" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    for folder in ("", "papers"):
        (tmp_path / "house" / folder / "__init__.py").write_text("")
    (tmp_path / ".importlinter").write_text(
        "[importlinter]\nroot_package = house\n[importlinter:contract:papers]\nname = papers\ntype = forbidden\n"
        "source_modules = house.papers\nforbidden_modules = house.core.**\nallow_indirect_imports = true\n"
    )
    lint = "from importlinter.cli import lint_imports_command as c; c(['--no-cache'])"
    done = subprocess.run([sys.executable, "-c", lint], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1, done.stderr
    assert "house.papers.one -> house.core.edits" in done.stdout
    assert "house.papers.two" not in done.stdout


TESTS = ROOT / "tests"
OF_THE_WHOLE = ("faults", "stories")  # folders of tests that go through all of src
EACH_MODULE = ("stats", "measure")  # folders of src in which every module has a test file of its own
TOPICS = {"measure/test_readins_way.py"}  # test files there that several modules are needed for


def modules_in(folder: str) -> set[str]:
    """The modules of a folder of src, as paths such as `measure/comparison/runs`."""
    files = (SOURCE / folder).rglob("*.py")
    return {file.relative_to(SOURCE).with_suffix("").as_posix() for file in files if file.name != "__init__.py"}


def modules_with_tests(folder: str) -> set[str]:
    """The modules that the test files of a folder are named after."""
    files = [file.relative_to(TESTS) for file in (TESTS / folder).rglob("test_*.py")]
    return {f"{file.parent.as_posix()}/{file.stem.removeprefix('test_')}" for file in files}


def test_folders_of_tests_mirror_the_folders_of_the_source() -> None:
    folders = {file.parent.relative_to(TESTS).as_posix() for file in TESTS.rglob("test_*.py")} - {"."}
    lost = {folder for folder in folders if not (SOURCE / folder).is_dir() and folder.split("/")[0] not in OF_THE_WHOLE}
    assert sorted(lost) == [], "these folders of tests mirror no folder of src/unswayed: move them with what they test"
    packages = {file.parent.name for file in SOURCE.glob("*/__init__.py")}
    untested = {package for package in packages if not any((TESTS / package).rglob("test_*.py"))}
    assert sorted(untested) == [], "these packages of src/unswayed have no folder of tests"


@pytest.mark.parametrize("folder", EACH_MODULE)
def test_every_module_that_makes_numbers_has_tests_of_its_own(folder: str) -> None:
    """An interval can't be broken without a failure in the file that is named after it."""
    without = sorted(
        f"tests/{Path(m).parent}/test_{Path(m).name}.py" for m in modules_in(folder) - modules_with_tests(folder)
    )
    assert without == [], "these files of tests are missing: write or rename them with their modules"
    topics = {name.replace("test_", "").removesuffix(".py") for name in TOPICS}
    gone = sorted(modules_with_tests(folder) - modules_in(folder) - topics)
    assert gone == [], "these have tests, but are no modules of src/unswayed: rename the tests with the modules"

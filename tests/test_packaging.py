"""The wheel and the source archive work in clean environments, on each version of Python that the metadata names."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
VERSIONS = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
pytestmark = pytest.mark.slow


def interpreter(version: str) -> str:
    """A Python of this version, on PATH or among pyenv's."""
    if sys.version.startswith(f"{version}."):
        return sys.executable
    roots = [Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))]
    found = [path for root in roots for path in root.glob(f"versions/{version}.*/bin/python{version}")]
    named = shutil.which(f"python{version}")
    for path in [*map(str, found), *([named] if named else [])]:
        if subprocess.run([path, "-c", "import venv"], capture_output=True).returncode == 0:
            return path
    pytest.skip(f"there is no Python {version} here")


def run(*words: object, cwd: Path, env: dict[str, str] | None = None) -> str:
    done = subprocess.run([str(word) for word in words], cwd=cwd, env=env, capture_output=True, text=True)
    assert done.returncode == 0, f"{words}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The source archive of this checkout, and the wheel that is built from nothing but that archive."""
    place = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", place, cwd=ROOT)
    (archive,) = place.glob("*.tar.gz")
    with tarfile.open(archive) as file:
        file.extractall(place / "unpacked", filter="data")
    (source,) = (place / "unpacked").iterdir()
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", place, cwd=source)
    (wheel,) = place.glob("*.whl")
    return wheel, archive


@pytest.fixture
def clean(tmp_path: Path) -> dict[str, str]:
    """An environment that knows nothing of this one, with a home of its own."""
    kept = ("PATH", "LANG", "SSL_CERT_FILE", "SSL_CERT_DIR", "http_proxy", "https_proxy", "no_proxy", "TMPDIR")
    given = {name: value for name, value in os.environ.items() if name in kept or name.startswith("PIP_")}
    home = tmp_path / "home"
    home.mkdir()
    cache = os.environ.get("PIP_CACHE_DIR", str(Path.home() / ".cache/pip"))
    certificates = next((f for f in ("/etc/ssl/certs/ca-certificates.crt",) if Path(f).is_file()), "")
    more = {"HOME": str(home), "PIP_CACHE_DIR": cache, "UV_CACHE_DIR": str(home / "uv"), "COLUMNS": "120"}
    return {**({"SSL_CERT_FILE": certificates} if certificates else {}), **given, **more}


def test_they_hold_the_package_and_nothing_else(built: tuple[Path, Path]) -> None:
    wheel, archive = built
    tracked = subprocess.run(["git", "ls-files", "src"], cwd=ROOT, capture_output=True, text=True)
    if tracked.returncode:
        pytest.skip("this is no git checkout")
    names = {name.removeprefix("src/") for name in tracked.stdout.split("\n") if (ROOT / name).is_file()} - {""}
    with zipfile.ZipFile(wheel) as file:
        held = set(file.namelist())
    ours = {name for name in held if not name.split("/")[0].endswith(".dist-info")}
    assert {name for name in names if not name.endswith(".gitignore")} - ours == set()
    assert {name.split("/")[0] for name in ours} == {"unswayed"}
    licences = {name.rpartition("licenses/")[2] for name in held if ".dist-info/licenses/" in name}
    assert {"LICENSE", "NOTICE", "src/unswayed/vary/spoken/data/speako_LICENSES.txt"} <= licences
    with tarfile.open(archive) as file:
        inside = {name.partition("/")[2] for name in file.getnames()}
    assert {"README.md", "LICENSE", "CHANGELOG.md", "CITATION.cff", "SECURITY.md", "pyproject.toml"} <= inside
    assert not any(name.startswith((".venv", "tests/", "site")) for name in inside)


VARIED = "import unswayed; print(unswayed.vary_text('turn off the lights', 'keyboard/adjacent'))"
CHECKED = """
import unswayed
rows = [{"text": f"turn {what} the lights in room {n}", "label": what} for n in range(10) for what in ("on", "off")]
f = lambda batch: ["off" if " off " in x["text"] else "on" for x in batch]
names = ["keyboard/adjacent", "keyboard/typist", "spoken/filler_end", "spoken/synonym_any", "surface/ocr"]
results = unswayed.check(f, rows, names, seed=7, language="en")
print(results)
assert results.by("operator").keys() >= set(names)
assert unswayed.systems.systems.names() and unswayed.data.readers.names() and unswayed.score.scorers.names()
"""


@pytest.mark.parametrize("way", ["zip", "pyc"])
def test_it_works_from_a_zip_and_without_its_sources(way: str, built: tuple[Path, Path], tmp_path: Path) -> None:
    """No source is read at run time, and no file of ours has to be one on disk."""
    place = built[0]
    if way == "pyc":
        place = tmp_path / "compiled"
        with zipfile.ZipFile(built[0]) as file:
            file.extractall(place)
        run(sys.executable, "-m", "compileall", "-q", "-b", place, cwd=tmp_path)
        for source in place.rglob("*.py"):
            source.unlink()
    env = {**os.environ, "PYTHONPATH": str(place)}
    where = run(sys.executable, "-c", "import unswayed; print(unswayed.__file__)", cwd=tmp_path, env=env)
    assert where.startswith(str(place))
    assert "Variant" in run(sys.executable, "-c", VARIED, cwd=tmp_path, env=env)
    code = CHECKED.replace("import unswayed", "import unswayed, unswayed.systems, unswayed.data, unswayed.score", 1)
    assert "clean" in run(sys.executable, "-c", code, cwd=tmp_path, env=env)
    shown = run(sys.executable, "-m", "unswayed", "list", "operators", cwd=tmp_path, env=env)
    assert "keyboard/adjacent" in shown


@pytest.mark.parametrize("version", VERSIONS)
def test_a_clean_environment(version: str, built: tuple[Path, Path], clean: dict[str, str], tmp_path: Path) -> None:
    """The wheel brings what it needs and runs the demo; the archive builds into the same files."""
    wheel, archive = built
    run(interpreter(version), "-m", "venv", tmp_path / "env", cwd=tmp_path, env=clean)
    python, program = (tmp_path / "env/bin" / name for name in ("python", "unswayed"))
    run(python, "-m", "pip", "install", "-q", wheel, cwd=tmp_path, env=clean)
    assert run(program, "--version", cwd=tmp_path, env=clean).split()[-1] == PROJECT["version"]
    said = run(program, "demo", "-o", "demo", cwd=tmp_path, env=clean)
    assert re.search(r"[\d.]+% \[[\d.]+%, [\d.]+%\] of answers change", said)
    assert (tmp_path / "demo/report.html").stat().st_size > 10_000
    first = files_of(python, tmp_path, clean)
    run(python, "-m", "pip", "install", "-q", "--no-deps", "--force-reinstall", archive, cwd=tmp_path, env=clean)
    assert files_of(python, tmp_path, clean) == first
    run(program, "list", "operators", cwd=tmp_path, env=clean)


def test_the_lowest_versions_that_are_allowed(clean: dict[str, str], tmp_path: Path) -> None:
    """The oldest release of each dependency that the metadata allows runs the demo, and lacks nothing by `doctor`.

    On the oldest Python: newer ones have no wheels of such old releases, which would be built for half an hour.
    """
    uv = Path(sys.executable).parent / "uv"
    env = {**clean, "UV_CACHE_DIR": os.environ.get("UV_CACHE_DIR", str(Path.home() / ".cache/uv"))}
    env |= {name: value for name, value in os.environ.items() if name.startswith("UV_")}
    python = tmp_path / "env/bin/python"
    run(uv, "venv", "-q", "-p", interpreter(min(VERSIONS)), tmp_path / "env", cwd=tmp_path, env=env)
    run(uv, "pip", "install", "-q", "-p", python, "--resolution", "lowest-direct", ".", cwd=ROOT, env=env)
    lowest = dict(wanted.split(">=") for wanted in PROJECT["dependencies"])
    installed = "from importlib.metadata import version; import sys; print(*map(version, sys.argv[1:]))"
    found = run(python, "-c", installed, *lowest, cwd=tmp_path, env=clean).split()
    for (name, wanted), got in zip(lowest.items(), found, strict=True):
        assert f"{got}.".startswith(f"{wanted}."), name
    said = run(tmp_path / "env/bin/unswayed", "demo", "-o", "demo", cwd=tmp_path, env=clean)
    assert re.search(r"[\d.]+% \[[\d.]+%, [\d.]+%\] of answers change", said)
    assert "need an extra that is absent" in run(tmp_path / "env/bin/unswayed", "doctor", cwd=tmp_path, env=clean)


def files_of(python: Path, place: Path, env: dict[str, str]) -> list[str]:
    code = (
        "from importlib.metadata import files; print(*sorted(str(f) for f in files('unswayed') "
        "if str(f).startswith('unswayed/') and '__pycache__' not in str(f)), sep='\\n')"
    )
    return run(python, "-c", code, cwd=place, env=env).split("\n")


@pytest.mark.parametrize("tool", ["uvx", "pipx run"])
def test_it_runs_uninstalled(tool: str, built: tuple[Path, Path], clean: dict[str, str], tmp_path: Path) -> None:
    name, *more = tool.split()
    program = Path(sys.executable).parent / name
    if not program.is_file():
        pytest.skip(f"{name} is not installed")
    given = ["--from" if name == "uvx" else "--spec", built[0], "--python", sys.executable]
    said = run(program, *more, *given, "unswayed", "--version", cwd=tmp_path, env=clean)
    assert said.split()[-1] == PROJECT["version"]


def test_the_version_is_the_same_wherever_it_is_written() -> None:
    cited = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text("utf-8"), re.M)
    assert cited is not None
    assert cited[1] == PROJECT["version"]
    assert f"## {PROJECT['version']}" in (ROOT / "CHANGELOG.md").read_text("utf-8")


def test_the_container_is_built_from_files_that_are_there() -> None:
    """Its steps name files of the checkout that .dockerignore lets through, and it does not run as root."""
    text = (ROOT / "Dockerfile").read_text("utf-8")
    let_through = {line[1:] for line in (ROOT / ".dockerignore").read_text("utf-8").split() if line.startswith("!")}
    for sources in re.findall(r"^COPY (?!--from)(.+) \S+$", text, re.M):
        for source in sources.split():
            assert (ROOT / source).exists()
            assert source in let_through
    assert re.search(r"^USER (?!root)\w+", text, re.M)
    assert re.findall(r"^FROM python:(3\.\d+)", text, re.M)[0] in VERSIONS


def test_a_newcomer_has_their_own_report_after_six_commands(
    built: tuple[Path, Path], clean: dict[str, str], tmp_path: Path
) -> None:
    """The README's way into CI, in an environment with nothing in it: files as shown, then command by command."""
    readme = (ROOT / "README.md").read_text("utf-8")
    start = readme.split("## Install")[1].split("**With a language model**")[0]
    for name, text in re.findall(r"^```\w+\n# file: (\S+)\n(.*?)^```", start, re.M | re.S):
        (tmp_path / name).write_text(text, encoding="utf-8")
    words = [line[2:] for block in re.findall(r"^```console\n(.*?)^```", start, re.M | re.S)
             for line in block.split("\n") if line.startswith("$ ")]  # fmt: skip
    assert 3 <= len(words) <= 6
    assert words[0].startswith("pip install '.[")
    run(sys.executable, "-m", "venv", tmp_path / "env", cwd=tmp_path, env=clean)
    env = {**clean, "PATH": f"{tmp_path / 'env/bin'}:{clean['PATH']}"}
    for command in words:
        run("bash", "-c", command.replace("'.[", f"'{built[0]}["), cwd=tmp_path, env=env)
    assert "of answers change" in (tmp_path / "report.html").read_text("utf-8")

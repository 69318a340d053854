"""Writes constraints.txt: the versions in .venv, and what else Pythons 3.11 to 3.13 need (`make constraints`; needs uv).

Run the tests afterwards: the file is the list of versions that the tests ran with.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

WHERE = [
    f"python_full_version >= '3.11.5' and python_version < '3.14' and sys_platform == '{system}'"
    for system in ("linux", "darwin")
]
HEADER = """# Versions that the tests ran with, for `make` and CI: pip install --constraint constraints.txt …
# Versions only, so that they fit any processor. To renew: `make constraints`, then `make test`.
"""
CUDA = re.compile("nvidia-|cuda-|triton")  # torch pins them itself


def resolved(root: Path) -> list[str]:
    """Pins with markers, those of this environment where they can be held."""
    freeze = [sys.executable, "-m", "pip", "freeze", "--exclude-editable"]
    held = subprocess.run(freeze, capture_output=True, text=True, check=True).stdout
    with tempfile.TemporaryDirectory() as folder:
        for name in ("README.md", "LICENSE"):
            shutil.copy(root / name, folder)
        project = (root / "pyproject.toml").read_text() + f"\n[tool.uv]\nenvironments = {WHERE}\n"
        Path(folder, "pyproject.toml").write_text(project)
        Path(folder, "held.txt").write_text("\n".join(re.findall(r"^[\w.-]+==[^+\s]+", held, re.M)))
        command = ["uv", "pip", "compile", "--quiet", "--default-index", "https://pypi.org/simple", "--universal"]
        command += ["--python-version", "3.11.5", "--all-extras", "--no-header", "--no-annotate"]
        command += ["--constraint", "held.txt", "pyproject.toml"]
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout.splitlines()


def main() -> None:
    root = Path(__file__).parent.parent
    pins = [line for line in resolved(root) if not CUDA.match(line)]
    often = Counter(line.partition("==")[0] for line in pins)
    kept = []
    for line in pins:
        pin, _, marker = line.partition(" ; ")
        twice = often[line.partition("==")[0]] > 1
        python = set(re.findall(r"python_full_version [<>=]+ '3\.1[123](?:\.\d+)?'", marker)) if twice else set()
        kept.append(" ; ".join([pin, " and ".join([*sorted(python), "python_version < '3.14'"])]))
    (root / "constraints.txt").write_text(HEADER + "\n".join(kept) + "\n")


if __name__ == "__main__":
    main()

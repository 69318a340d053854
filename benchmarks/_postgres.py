"""A PostgreSQL server of one's own, which can be restarted as roughly as after a crash."""

from __future__ import annotations

import os
import shutil
import subprocess
import uuid
from pathlib import Path


def programs() -> Path | None:
    """Where Debian puts initdb and pg_ctl, if they can be run: not as root without another user to run them as."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return found[-1].parent if found and (os.geteuid() != 0 or shutil.which("runuser")) else None


class Postgres:
    def __init__(self) -> None:
        found = programs()
        if found is None:
            raise FileNotFoundError("PostgreSQL is not installed")
        self.programs = found
        self.folder = Path(f"/tmp/unswayed-pg-{uuid.uuid4().hex[:8]}")
        self.folder.mkdir()
        self.user: list[str] = []
        if os.geteuid() == 0:
            shutil.chown(self.folder, "postgres")
            self.user = ["runuser", "-u", "postgres", "--"]
        self.url = f"postgresql://postgres@/postgres?host={self.folder}"
        data = str(self.folder / "data")
        self._run("initdb", "-D", data, "-U", "postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync")
        self.start()

    def start(self) -> None:
        options = f"-c listen_addresses= -c max_connections=200 -k {self.folder}"
        self._ctl("-w", "-l", str(self.folder / "log"), "-o", options, "start")

    def crash(self) -> None:
        """Ends it as a power cut would, and starts it again: it recovers from its log."""
        self._ctl("-m", "immediate", "-w", "stop")
        self.start()

    def stop(self) -> None:
        self._ctl("-m", "immediate", "stop")
        shutil.rmtree(self.folder, ignore_errors=True)

    def _ctl(self, *arguments: str) -> None:
        self._run("pg_ctl", "-D", str(self.folder / "data"), *arguments)

    def _run(self, program: str, *arguments: str) -> None:
        command = [*self.user, str(self.programs / program), *arguments]
        subprocess.run(command, check=True, capture_output=True, cwd="/tmp")

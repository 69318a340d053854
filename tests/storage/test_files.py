"""What stands at a place is replaced whole, only if unswayed wrote it, and by one process at a time."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from unswayed.base.errors import InUse, StoredFileError, UsageError
from unswayed.base.values import Example
from unswayed.storage.files import Lock, growing_folder, replacing, write_atomically
from unswayed.storage.suite import Manifest, Suite, write_suite

TEXT = Manifest(task="text", language="en")


def suite(path: Path, text: str = "hi", overwrite: bool = False) -> Suite:
    return write_suite(path, TEXT, lambda: [Example(0, "a", {"text": text})], list, overwrite)


def names(folder: Path) -> list[str]:
    return sorted(f.relative_to(folder).as_posix() for f in folder.rglob("*"))


def anything() -> None:
    """Whatever is there may be replaced."""


def test_a_web_apps_folder_is_never_replaced(tmp_path: Path) -> None:
    app = tmp_path / "app"
    (app / "src").mkdir(parents=True)
    (app / "src/index.ts").write_text("export {}")
    (app / "manifest.json").write_text('{"name": "My app", "icons": [], "start_url": "/"}')
    before = names(app)
    with pytest.raises(UsageError, match="not a suite"):
        suite(app, overwrite=True)
    assert names(app) == before
    assert names(tmp_path) == ["app", *(f"app/{name}" for name in before)]


@pytest.mark.parametrize("foreign", ["notes.txt", "src/index.ts", ".git/config"])
def test_a_suite_with_something_of_the_users_in_it_is_never_replaced(tmp_path: Path, foreign: str) -> None:
    suite(tmp_path / "s")
    file = tmp_path / "s" / foreign
    file.parent.mkdir(exist_ok=True)
    file.write_text("mine")
    with pytest.raises(UsageError, match=f"also {Path(foreign).parts[0]}.*unswayed did not write"):
        suite(tmp_path / "s", "ho", overwrite=True)
    assert file.read_text() == "mine"
    assert next(Suite(tmp_path / "s").examples()).inputs == {"text": "hi"}


def test_a_suite_with_an_empty_folder_or_a_link_in_it_is_not_replaced(tmp_path: Path) -> None:
    suite(tmp_path / "s")
    (tmp_path / "s/empty").mkdir()
    with pytest.raises(UsageError, match="also empty"):
        suite(tmp_path / "s", overwrite=True)
    (tmp_path / "s/empty").rmdir()
    (tmp_path / "s/variants.parquet").rename(tmp_path / "mine.parquet")
    (tmp_path / "s/variants.parquet").symlink_to(tmp_path / "mine.parquet")
    with pytest.raises(UsageError, match="also variants.parquet"):
        suite(tmp_path / "s", overwrite=True)


def test_a_link_to_a_folder_is_followed(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "here").mkdir()
    suite(tmp_path / "disk/real")
    link = tmp_path / "here/link"
    link.symlink_to(tmp_path / "disk/real")
    suite(link, "ho", overwrite=True)
    assert link.is_symlink()
    assert next(Suite(tmp_path / "disk/real").examples()).inputs == {"text": "ho"}
    assert os.listdir(tmp_path / "here") == ["link"]
    assert os.listdir(tmp_path / "disk") == ["real"]


def test_a_link_that_leads_nowhere_yet_is_followed(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "disk/new")
    suite(link)
    assert link.is_symlink()
    assert os.listdir(tmp_path / "disk") == ["new"]


def test_a_link_to_a_file_is_followed(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    link = tmp_path / "out.jsonl"
    link.symlink_to("disk/real.jsonl")
    write_atomically(link, b"one")
    write_atomically(link, b"two")
    assert link.is_symlink()
    assert (tmp_path / "disk/real.jsonl").read_bytes() == b"two"
    assert os.listdir(tmp_path / "disk") == ["real.jsonl"]


def test_a_device_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_atomically(pipe, b"through")
    assert os.read(reader, 100) == b"through"
    os.close(reader)
    assert pipe.is_fifo()
    assert os.listdir(tmp_path) == ["pipe"]


def test_a_second_writer_of_one_folder_is_told_who_is_there(tmp_path: Path) -> None:
    with growing_folder(tmp_path / "s", "the suite", anything) as new:
        (new / "half").write_text("mine")
        with pytest.raises(InUse, match=r"Another process is writing to .*s \(process \d+ on \S+ since 2.* UTC\)"):
            suite(tmp_path / "s")
        assert (new / "half").read_text() == "mine"
    assert names(tmp_path) == ["s", "s/half"]


WRITER = """
import os, sys
from pathlib import Path
os.getpid = lambda: 2  # as in a container of its own
from unswayed.storage.files import growing_folder
with growing_folder(Path(sys.argv[1]), "the suite", lambda: None) as new:
    (new / "half").write_text("mine")
    print(new, flush=True)
    sys.stdin.read()
"""


def writer(place: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, place], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def test_two_containers_do_not_delete_each_others_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getpid", lambda: 2)
    with writer(tmp_path / "s") as other:
        assert other.stdout is not None
        theirs = Path(other.stdout.readline().strip())
        with pytest.raises(InUse, match="process 2 on"):
            suite(tmp_path / "s")
        assert (theirs / "half").read_text() == "mine"
        other.communicate("")
    assert names(tmp_path) == ["s", "s/half"]


def test_what_a_killed_process_left_is_cleared_away(tmp_path: Path) -> None:
    with writer(tmp_path / "s") as other:
        assert other.stdout is not None
        theirs = Path(other.stdout.readline().strip())
        other.kill()
    assert theirs.exists()
    suite(tmp_path / "s")
    assert sorted(os.listdir(tmp_path)) == ["s"]


def test_a_file_that_another_process_is_writing_is_left_alone(tmp_path: Path) -> None:
    place = tmp_path / "out.txt"
    with replacing(place) as write:
        write(b"first")
        write_atomically(place, b"second")
        assert len(os.listdir(tmp_path)) == 2, "both files, as the first is still being written"
    assert place.read_bytes() == b"first"
    (tmp_path / ".out.txt.partial-0123456789abcdef").write_bytes(b"of a killed process")
    write_atomically(place, b"third")
    assert os.listdir(tmp_path) == ["out.txt"]


def test_without_locks_it_works_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def none(*_: int) -> None:
        raise OSError(38, "Function not implemented")

    left = tmp_path / ".s.partial-0123456789abcdef"
    left.mkdir()
    monkeypatch.setattr("unswayed.storage.files.fcntl.flock", none)
    suite(tmp_path / "s")
    assert "has no locks" in capsys.readouterr().err
    assert left.exists(), "whose it is can't be known"


def test_a_lock_is_not_put_where_a_link_leads(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("mine")
    (tmp_path / "lock").symlink_to(tmp_path / "precious")
    with pytest.raises(OSError, match="symbolic links"):
        Lock(tmp_path / "lock", tmp_path)
    assert (tmp_path / "precious").read_text() == "mine"


def test_a_fork_does_not_hold_the_lock_of_its_parent(tmp_path: Path) -> None:
    script = (
        "import os, sys, time\nfrom pathlib import Path\nfrom unswayed.storage.files import Lock\n"
        "place = Path(sys.argv[1])\nlock = Lock(place / 'lock', place)\n"
        "if os.fork() == 0:\n    print('forked', flush=True)\ntime.sleep(60)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", script, tmp_path], stdout=subprocess.PIPE, start_new_session=True
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.kill()
        process.wait()
        try:
            Lock(tmp_path / "lock", tmp_path).close()
        finally:
            os.killpg(process.pid, 9)


def test_a_folder_where_a_file_is_expected_is_named(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    with pytest.raises(StoredFileError, match="there: the file can't be written"):
        write_atomically(tmp_path / "there", b"x")
    assert os.listdir(tmp_path) == ["there"]

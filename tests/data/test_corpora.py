"""`pull` against a real server on this machine that serves right, wrong, cut, late or nothing."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import msgspec
import pytest

from unswayed.base.errors import PullError, UnknownName, UsageError
from unswayed.data import Corpus, CorpusFile, _corpora, corpora, corpus_named, pull
from unswayed.report.study import studies

CONTENT = {"train/label": b"go\nstay\n" * 1000, "test/label": b"go\n" * 50_000}


class Server(ThreadingHTTPServer):
    """Serves MIRROR/tiny/…; `behaviour` says how."""

    behaviour = "right"

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[str] = []
        self.released = threading.Event()
        self.url = f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def log_message(self, *_: object) -> None: ...

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        body = CONTENT.get(self.path.removeprefix("/tiny/"))
        how = self.server.behaviour
        if body is None or how == "missing":
            self.send_error(404)
            return
        if how == "hanging":
            self.server.released.wait(10)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write({"cut": body[:1000], "wrong": body[:-1] + b"!"}.get(how, body))


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.released.set()
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(autouse=True)
def tiny(monkeypatch: pytest.MonkeyPatch) -> Corpus:
    """A corpus of two files, in place of the catalogue."""
    files = tuple(CorpusFile(path, len(body), sha256(body).hexdigest()) for path, body in CONTENT.items())
    corpus = Corpus("tiny", "two files", "ours", "http://home.invalid", "http://home.invalid/data", files)
    real = corpus_named
    monkeypatch.setattr(_corpora, "corpus_named", lambda name: corpus if name == "tiny" else real(name))
    for variable in ("UNSWAYED_CACHE", "UNSWAYED_MIRROR", "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(variable, raising=False)
    return corpus


def files_under(folder: Path) -> dict[str, bytes]:
    return {str(f.relative_to(folder)): f.read_bytes() for f in sorted(folder.rglob("*")) if f.is_file()}


def test_fetches_all_files_and_none_twice(server: Server, tmp_path: Path) -> None:
    heard: list[int] = []
    folder = pull("tiny", tmp_path, server.url, heard.append)
    assert folder == tmp_path / "tiny"
    assert files_under(folder) == dict(sorted(CONTENT.items()))
    assert sum(heard) == sum(map(len, CONTENT.values()))
    server.asked.clear()
    pull("tiny", tmp_path, server.url)
    assert server.asked == []
    (folder / "test/label").write_bytes(b"spoilt")
    pull("tiny", tmp_path, server.url)
    assert server.asked == ["/tiny/test/label"]
    assert files_under(folder) == dict(sorted(CONTENT.items()))


def test_environment_says_where_from_and_where_to(server: Server, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("UNSWAYED_MIRROR", server.url + "/")
    monkeypatch.setenv("UNSWAYED_CACHE", str(tmp_path / "cache"))
    assert pull("tiny") == tmp_path / "cache" / "tiny"


@pytest.mark.parametrize(
    ("behaviour", "message"),
    [
        ("missing", r"tiny/train/label: the server answered 404 Not Found.*mirror="),
        ("wrong", r"tiny/train/label: the file is not the one that was expected \(SHA-256 .* Try again"),
        ("cut", r"tiny/train/label: the connection was cut after 1,000 of 8,000 bytes. Try again"),
        ("hanging", r"tiny/train/label: the server was silent for 0.2 seconds. Try again later"),
    ],
)
def test_failures_are_clear_and_leave_no_half_file(
    server: Server, tmp_path: Path, behaviour: str, message: str
) -> None:
    server.behaviour = behaviour
    with pytest.raises(PullError, match=message) as error:
        pull("tiny", tmp_path, server.url, timeout=0.2 if behaviour == "hanging" else 60)
    assert server.url in str(error.value)
    assert error.value.exit_code == 3
    assert files_under(tmp_path) == {}
    server.behaviour = "right"
    server.released.set()
    assert files_under(pull("tiny", tmp_path, server.url)) == dict(sorted(CONTENT.items()))


def test_a_failure_keeps_the_file_that_was_there(server: Server, tmp_path: Path) -> None:
    old = tmp_path / "tiny" / "train" / "label"
    old.parent.mkdir(parents=True)
    old.write_bytes(b"another version")
    server.behaviour = "cut"
    with pytest.raises(PullError):
        pull("tiny", tmp_path, server.url)
    assert files_under(tmp_path) == {"tiny/train/label": b"another version"}


def test_a_file_whose_hash_is_not_known_is_checked_by_its_characters(server: Server, tmp_path, monkeypatch) -> None:
    text = "água é vida\n"
    monkeypatch.setitem(CONTENT, "odd/place.tsv", text.encode())
    file = CorpusFile("place.tsv", 0, "", "odd/place.tsv", len(text))
    corpus = Corpus("tiny", "one file", "ours", "http://home.invalid", f"{server.url}/tiny", (file,))
    monkeypatch.setattr(_corpora, "corpus_named", lambda name: corpus)
    assert files_under(pull("tiny", tmp_path)) == {"place.tsv": text.encode()}
    assert server.asked == ["/tiny/odd/place.tsv"]
    pull("tiny", tmp_path)
    assert len(server.asked) == 1
    monkeypatch.setitem(CONTENT, "odd/place.tsv", text.encode()[:-1])
    with pytest.raises(PullError, match="11 characters, not 12"):
        pull("tiny", tmp_path / "other")
    with pytest.raises(ValueError, match="nothing to check it by"):
        CorpusFile("place.tsv", 0, "")


def test_nobody_listens(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(PullError, match=rf"http://127.0.0.1:{port}/tiny/train/label: no answer \(.*refused.*mirror="):
        pull("tiny", tmp_path, f"http://127.0.0.1:{port}")
    assert files_under(tmp_path) == {}


def test_stopping_leaves_no_half_file(server: Server, tmp_path: Path) -> None:
    def stop(count: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pull("tiny", tmp_path, server.url, stop)
    assert files_under(tmp_path) == {}


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    if os.geteuid() != 0 or not shutil.which("mount"):
        pytest.skip("a full disk can only be tried by root, who may mount a small one")
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(disk)], capture_output=True, text=True
    )
    if mounted.returncode:
        pytest.skip(f"no small disk can be mounted here: {mounted.stderr.strip()}")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def test_a_full_disk(server: Server, small_disk: Path) -> None:
    with pytest.raises(PullError, match=r"disk/tiny/test: the disk is full. Free some space, or set UNSWAYED_CACHE"):
        pull("tiny", small_disk, server.url)
    assert list(files_under(small_disk)) == ["tiny/train/label"]


def test_a_disk_that_fills_up_is_said_so_wherever_it_shows(server: Server, tmp_path: Path, monkeypatch) -> None:
    """The same without root: the error comes on closing, when the system writes what it had buffered."""
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full here")
    monkeypatch.setattr(_corpora, "_partial_path", lambda target: _link(target))
    with pytest.raises(PullError, match="the disk is full"):
        pull("tiny", tmp_path, server.url)
    assert files_under(tmp_path) == {}


def _link(target: Path) -> Path:
    target.parent.mkdir(parents=True, exist_ok=True)
    link = target.with_name(".full")
    link.unlink(missing_ok=True)
    link.symlink_to("/dev/full")
    return link


def test_a_cache_that_is_a_file(server: Server, tmp_path: Path) -> None:
    (tmp_path / "cache").write_bytes(b"")
    with pytest.raises(PullError, match=r"can't be written \(Not a directory\). Set UNSWAYED_CACHE"):
        pull("tiny", tmp_path / "cache", server.url)


@pytest.mark.parametrize("name", ["snps", "../snips", "/etc", "snips/../atis", ""])
def test_only_known_names_are_taken(tmp_path: Path, name: str) -> None:
    with pytest.raises(UnknownName):
        pull(name, tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("mirror", ["file:///etc", "ftp://host", "host/data"])
def test_mirrors_are_http(tmp_path: Path, mirror: str) -> None:
    with pytest.raises(UsageError, match="A mirror must be an http or https URL"):
        pull("tiny", tmp_path, mirror)


class TestCatalogue:
    def test_every_corpus_says_what_it_is(self) -> None:
        names = [corpus.name for corpus in corpora()]
        assert {"atis", "snips", "frmt"} <= set(names)
        assert names == sorted(names)
        for corpus in corpora():
            assert corpus.licence
            assert corpus.description
            assert corpus.base.startswith("https://")
            assert len({file.path for file in corpus.files}) == len(corpus.files)
            assert all((len(file.sha256) == 64 and file.size) or file.characters for file in corpus.files)

    @pytest.mark.parametrize("path", ["../x", "a/../../x", "/etc/passwd", "", "a\\..\\b"])
    def test_no_path_leads_out(self, path: str) -> None:
        with pytest.raises(msgspec.ValidationError, match="lead out"):
            msgspec.convert([path, 1, "0" * 64], CorpusFile)

    def test_every_study_names_corpora_that_there_are(self) -> None:
        for name in studies.names():
            assert {*studies.get(name).corpora} <= {corpus.name for corpus in corpora()}
            assert studies.get(name).corpora or name == "findings"  # which reads what its publishers offer, as it is

    @pytest.mark.parametrize("name", ["slu/atis", "slu/snips", "parte", "frmt", "nlu_ed", "readin"])
    def test_it_fits_the_real_files(self, name: str) -> None:
        folder = Path(__file__).resolve().parents[2] / "../shared/data" / name
        if not folder.is_dir():
            pytest.skip(f"the real corpus (../shared/data/{name}) is not here")
        files = corpus_named(name.rpartition("/")[2]).files
        there = [file for file in files if file.sha256 and (folder / file.path).is_file()]
        assert len(there) >= 4
        assert [file.path for file in there if file.fault(folder / file.path)] == []

"""Inspect's logs are read as Inspect reads them: both compressions, JSON, chunks, and logs that were stopped."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from samples.logs import deflated, inspect_log

from unswayed.base.errors import DataError
from unswayed.data.logs import Log, LogEntry, LoggedSystem
from unswayed.data.logs.inspect import _Archive

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
pytest.importorskip("inspect_ai")


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return inspect_log(tmp_path_factory.mktemp("logs"), wrong=(2, -3), epochs=2, n=6, cluster="topic")


def entries(path: Path, texts: bool = True) -> list[LogEntry]:
    return [entry for _, _, entry in Log(path).entries(texts)]


def as_inspect_reads_it(path: Path) -> list[tuple[Any, ...]]:
    from inspect_ai.log import read_eval_log
    from inspect_ai.scorer import value_to_float

    found = read_eval_log(str(path))
    number = value_to_float()
    return sorted(
        (str(s.id), s.input, s.target, s.output.completion, {k: number(v.value) for k, v in s.scores.items()})
        for s in found.samples
    )


def as_read_here(path: Path) -> list[tuple[Any, ...]]:
    return sorted((e.id, e.text, e.gold, e.output, dict(e.scores)) for e in entries(path))


def test_both_compressions_are_read_as_inspect_reads_them(log: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(log) as archive:
        assert {info.compress_type for info in archive.infolist()} == {93}
    old = deflated(log, tmp_path / "old.eval")
    assert as_read_here(log) == as_inspect_reads_it(log) == as_read_here(old)
    assert sum(e.scores["match"] for e in entries(log)) == 9
    assert {e.cluster for e in entries(log)} == {"t0", "t1", "t2"}
    assert [(e.id, dict(e.scores)) for e in entries(log, texts=False)] == [(e.id, dict(e.scores)) for e in entries(log)]
    assert Log(log).direction("match") is None
    read = Log(log)
    assert len(list(read.entries())) == 12
    assert read.direction("match") is True
    assert {(e.task, e.system) for e in entries(log)} == {("sums", "mockllm/model")}


def test_json_and_chunks_are_read_as_well(log: Path, tmp_path: Path) -> None:
    from inspect_ai.log import convert_eval_logs

    convert_eval_logs(str(log), "json", str(tmp_path / "json"))
    assert as_read_here(next((tmp_path / "json").glob("*.json"))) == as_inspect_reads_it(log)
    chunked = pytest.importorskip("inspect_ai.log._recorders.chunked")
    chunked.convert_eval_logs_to_chunked(str(log), str(tmp_path / "chunked"))
    file = next((tmp_path / "chunked").rglob("*.eval"))
    assert as_read_here(file) == as_inspect_reads_it(log)


def test_a_run_that_was_stopped_is_read_as_far_as_it_went(log: Path, tmp_path: Path) -> None:
    stopped = deflated(log, tmp_path / "stopped.eval", without=("summaries.json", "header.json", "reductions.json"))
    assert as_read_here(stopped) == as_read_here(log)


def test_any_zip_file_is_read_as_zipfile_reads_it(tmp_path: Path) -> None:
    file = tmp_path / "many.zip"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(70_000):  # more than the directory counts without zip64
            archive.writestr(f"samples/ü{number}", b"x" if number % 2 else b"")
        with archive.open("large", "w", force_zip64=True) as member:
            member.write(b"y" * 100_000)
        archive.writestr(zipfile.ZipInfo("stored"), "z")
        archive.comment = b"PK a comment"
    with open(file, "rb") as opened, zipfile.ZipFile(file) as oracle:
        archive_ = _Archive(opened)
        assert len(archive_.below("")) == 70_002
        for name in ("samples/ü0", "samples/ü69999", "large", "stored"):
            assert archive_.read(name) == oracle.read(name)


@pytest.mark.parametrize("method", ["zstd", "deflate"])
def test_a_damaged_log_is_an_error_that_names_it(log: Path, tmp_path: Path, method: str) -> None:
    whole = log if method == "zstd" else deflated(log, tmp_path / "whole.eval")
    content = bytearray(whole.read_bytes())
    with zipfile.ZipFile(whole) as archive:
        place = archive.getinfo("samples/q2_epoch_1.json").header_offset
    content[place + 60 : place + 90] = bytes(30)
    damaged, half = tmp_path / "damaged.eval", tmp_path / "half.eval"
    damaged.write_bytes(content)
    half.write_bytes(whole.read_bytes()[:-30])
    for file in (damaged, half):
        with pytest.raises(DataError, match=f"{file.name}: this is not a whole log of Inspect AI"):
            entries(file)


def test_without_a_package_for_zstd_a_line_installs_one(
    log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = deflated(log, tmp_path / "old.eval")
    for module in ("compression.zstd", "backports.zstd", "zstandard", "inspect_ai.log"):
        monkeypatch.setitem(sys.modules, module, None)
    assert len(entries(old)) == 12
    with pytest.raises(DataError, match="pip install zstandard"):
        entries(log)


def test_a_form_that_is_not_known_is_read_by_inspect(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: Any) -> None:
        raise ValueError("a form of 2030")

    wanted = as_read_here(log)
    monkeypatch.setattr("unswayed.data.logs.inspect._Archive", unknown)
    assert as_read_here(log) == wanted
    assert [dict(e.scores) for e in entries(log, texts=False)] == [dict(e.scores) for e in entries(log)]


def test_what_was_logged_answers_a_suite_by_its_texts(log: Path) -> None:
    system = LoggedSystem(str(log))
    assert system.predict([{"question": "What is 1 plus 1?"}, {"input": "What is 2 plus 2?"}]) == ["2", "I do not know"]

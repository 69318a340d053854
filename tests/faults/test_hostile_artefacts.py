"""Whatever can be sent to somebody, made hostile: refused by name, or read as data; nothing runs, hangs or is lost."""

from __future__ import annotations

import decimal
import hashlib
import io
import json
import lzma
import os
import shutil
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import commands
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import unswayed
from unswayed.base.errors import DataError, StoredFileError, UnswayedError, UsageError
from unswayed.base.values import Example, Variant
from unswayed.collect.study import read_study
from unswayed.data import read_examples
from unswayed.data.logs import LoggedSystem
from unswayed.mitigate.noisy_channel import NoisyChannel
from unswayed.run.plan import read_plan
from unswayed.storage.parquet import read_batches
from unswayed.storage.suite import Manifest, Suite, write_suite
from unswayed.storage.suite_jsonl import import_suite
from unswayed.systems.baselines.intent import Intent
from unswayed.vary.people import Typists, read_profiles

from .valid_files import FILES

TEXTS = [f"turn off the lights {i}" for i in range(10)]
ESCAPES = "\x1b[2J\x1b]0;owned\x07\u202eevil"


def a_pipe(file: Path) -> None:
    file.unlink(missing_ok=True)
    os.mkfifo(file)


def endless(file: Path) -> None:
    """A file of zeros that takes no room on the disk."""
    with file.open("wb") as out:
        out.truncate(5 << 30)


def deep(file: Path) -> None:
    file.write_text("[" * 1_000_000)


def not_utf8(file: Path) -> None:
    file.write_bytes(b"\xff\xfe" * 100)


READERS: dict[str, tuple[str, Callable[[Path], Any]]] = {
    "suite": ("manifest.json", lambda file: Suite(file.parent)),
    "run": ("run.json", lambda file: unswayed.Run(file.parent)),
    "plan": ("plan.toml", read_plan),
    "study": ("study.toml", read_study),
    "profile": ("typists.json", lambda file: read_profiles(file, Typists)),
    "trained system": ("system.json", lambda file: Intent.load(file.parent)),
    "corrector": ("system.json", lambda file: NoisyChannel.load(file.parent)),
    "log": ("log.jsonl", lambda file: LoggedSystem(str(file))),
    "suite as JSON lines": ("suite.jsonl", lambda file: import_suite(file, file.parent / "new")),
    "JSON lines": ("a.jsonl", lambda file: list(read_examples(file))),
    "CSV": ("a.csv", lambda file: list(read_examples(file))),
    "JSON": ("a.json", lambda file: list(read_examples(file))),
    "Parquet": ("a.parquet", lambda file: list(read_examples(file))),
    "Hugging Face folder": ("state.json", lambda file: list(read_examples(file.parent))),
}


@pytest.mark.parametrize("harm", [a_pipe, deep, not_utf8])
@pytest.mark.parametrize("name", READERS)
def test_a_file_of_the_wrong_nature_is_refused(tmp_path: Path, name: str, harm: Callable[[Path], None]) -> None:
    """Nothing waits for a pipe that nobody writes to, follows brackets for ever, or shows a traceback."""
    file, read = READERS[name]
    harm(tmp_path / file)
    with pytest.raises(UnswayedError):
        read(tmp_path / file)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["suite", "JSON lines", "log", "Hugging Face folder"])
def test_a_file_without_end_is_refused(tmp_path: Path, name: str) -> None:
    file, read = READERS[name]
    endless(tmp_path / file)
    with pytest.raises(UnswayedError):
        read(tmp_path / file)


COLUMNS: dict[str, tuple[Any, str | None]] = {
    "decimals": (pa.array([decimal.Decimal("1.5")] * 10), "gold must be"),
    "times": (pa.array([1] * 10, pa.timestamp("ns")), "gold must be"),
    "years without end": (pa.array([2**62] * 10, pa.int64()).view(pa.timestamp("us")), "out of range"),
    "spans of time": (pa.array([1] * 10, pa.duration("ns")), "gold must be"),
    "bytes": (pa.array([b"\xff\xfe"] * 10, pa.binary()), "gold must be"),
    "fixed bytes": (pa.array([b"0" * 16] * 10, pa.binary(16)), "gold must be"),
    "maps": (pa.array([[("a", 1)]] * 10, pa.map_(pa.string(), pa.int64())), "gold must be"),
    "NaN": (pa.array([float("nan")] * 10), "nan, so the label is missing"),
    "gaps": (pa.nulls(10), None),
    "a dictionary": (pa.array(["a", "b"] * 5).dictionary_encode(), None),
    "large texts": (pa.array(["a", "b"] * 5, pa.large_string()), None),
    "views": (pa.array(["a", "b"] * 5, pa.string_view()), None),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_odd_parquet_types_are_read_or_named(tmp_path: Path, name: str) -> None:
    column, problem = COLUMNS[name]
    pq.write_table(pa.table({"text": TEXTS, "label": column}), tmp_path / "a.parquet")
    if problem is None:
        assert len(list(read_examples(tmp_path / "a.parquet"))) == 10
    else:
        with pytest.raises(DataError, match=rf"(?s)a\.parquet.*{problem}"):
            list(read_examples(tmp_path / "a.parquet"))


def test_lists_of_structs_as_gold_are_refused_with_the_way_out(tmp_path: Path) -> None:
    pq.write_table(pa.table({"text": TEXTS, "label": pa.array([[{"label": "a"}]] * 10)}), tmp_path / "a.parquet")
    with pytest.raises(UsageError, match=r"a form that no task has\. Choose a column with gold="):
        list(read_examples(tmp_path / "a.parquet"))


@pytest.mark.parametrize(
    ("names", "problem"),
    [
        (["text", "text"], "two columns are named 'text'"),
        (["text", "label"], "text must be"),
        (["te\0xt", "label"], "has a NUL character"),  # the native reader would end the process
    ],
)
def test_odd_columns_are_named(tmp_path: Path, names: list[str], problem: str) -> None:
    arrays = [pa.array([{"a": {"b": text}} for text in TEXTS]), pa.array(TEXTS)]
    pq.write_table(pa.Table.from_arrays(arrays, names=names), tmp_path / "a.parquet")
    with pytest.raises(DataError, match=rf"a\.parquet.*{problem}"):
        list(read_examples(tmp_path / "a.parquet"))


def test_a_value_that_fills_the_memory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unswayed.storage.parquet.MOST_AT_ONCE", 5 << 20)
    text = pa.array(["x" * (6 << 20)], pa.large_string())
    pq.write_table(pa.table({"text": text, "label": ["a"]}), tmp_path / "a.parquet", use_dictionary=False)
    with pytest.raises(DataError, match="1 rows hold 6 MB; 5 MB are the most"):
        list(read_examples(tmp_path / "a.parquet"))


def test_a_small_dictionary_of_large_texts_is_read_in_small_pieces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("unswayed.storage.parquet.MOST_AT_ONCE", 5 << 20)
    text = pa.DictionaryArray.from_arrays(pa.array([0] * 100, pa.int32()), pa.array(["x" * (1 << 20)]))
    pq.write_table(pa.table({"text": text}), tmp_path / "a.parquet")
    assert max(len(columns["text"]) for _, columns in read_batches(tmp_path / "a.parquet")) < 11


@pytest.mark.parametrize("at", [-9, -20, -60, 4])
def test_a_footer_that_lies_is_refused_or_read(tmp_path: Path, at: int) -> None:
    pq.write_table(pa.table({"text": TEXTS, "label": ["a"] * 10}), tmp_path / "a.parquet")
    whole = bytearray((tmp_path / "a.parquet").read_bytes())
    for value in (0, 0x19, 0x7F, 0xFF):
        whole[at] = value
        (tmp_path / "a.parquet").write_bytes(whole)
        with suppress(DataError):
            list(read_examples(tmp_path / "a.parquet"))


def hf_folder(folder: Path, batch: Any, name: str = "data.arrow") -> Path:
    folder.mkdir()
    with pa.OSFile(str(folder / "data.arrow"), "wb") as out, pa.ipc.new_stream(out, batch.schema) as stream:
        stream.write_batch(batch)
    (folder / "state.json").write_text(json.dumps({"_data_files": [{"filename": name}]}))
    (folder / "dataset_info.json").write_text("{}")
    return folder


def test_a_hugging_face_folder_of_a_billion_rows_without_bytes(tmp_path: Path) -> None:
    rows = pa.RecordBatch.from_pydict({"text": pa.nulls(10**9), "label": pa.nulls(10**9)})
    with pytest.raises(DataError, match="text must be a text, not None"):
        list(read_examples(hf_folder(tmp_path / "data", rows)))


@pytest.mark.parametrize("name", ["../data.arrow", "/etc/passwd", "..", "link.arrow"])
def test_a_hugging_face_folder_leads_nowhere_else(tmp_path: Path, name: str) -> None:
    rows = pa.RecordBatch.from_pydict({"text": TEXTS, "label": ["a"] * 10})
    folder = hf_folder(tmp_path / "data", rows, name)
    (folder / "link.arrow").symlink_to("/etc/passwd")
    with pytest.raises(DataError, match="state.json names|damaged or cut off"):
        list(read_examples(folder))


def saved_system(folder: Path, arrays: dict[str, bytes]) -> Path:
    """A trained system with other weights, under their true hash."""
    FILES["a trained system"](folder)
    file, card = folder / "model/weights.npz", folder / "model/system.json"
    names = zipfile.ZipFile(file).namelist()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            archive.writestr(name, arrays["any"])
    hashed = hashlib.sha256(file.read_bytes()).hexdigest()
    card.write_text(json.dumps({**json.loads(card.read_text()), "weights": hashed}))
    return folder / "model"


def npy(shape: tuple[int, ...], content: bytes = b"") -> bytes:
    out = io.BytesIO()
    np.lib.format.write_array_header_1_0(out, {"descr": "<f8", "fortran_order": False, "shape": shape})
    return out.getvalue() + content


def test_weights_that_claim_a_petabyte_are_refused(tmp_path: Path) -> None:
    with pytest.raises(StoredFileError, match=r"weights\.npz: the weights can't be read"):
        Intent.load(saved_system(tmp_path, {"any": npy((10**15,))}))


def test_weights_that_unpack_to_gigabytes_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unswayed.systems.baselines._MOST_WEIGHT_BYTES", 1 << 20)
    with pytest.raises(StoredFileError, match=r"weights\.npz.*would take"):
        Intent.load(saved_system(tmp_path, {"any": npy((10**6,), bytes(8 * 10**6))}))


def test_counts_that_unpack_to_gigabytes_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unswayed.mitigate.noisy_channel._MAX_COUNTS_BYTES", 1 << 20)
    packed = lzma.compress(b'{"a": "' + bytes(5 << 20))
    (tmp_path / "counts.json.xz").write_bytes(packed)
    card = {"system": "mitigate/noisy_channel", "version": 1, "counts": hashlib.sha256(packed).hexdigest()}
    (tmp_path / "system.json").write_text(json.dumps(card))
    with pytest.raises(StoredFileError, match="would take more than 1 MB"):
        NoisyChannel.load(tmp_path)


def test_a_saved_system_names_no_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "evil.py").write_text(f"open({str(tmp_path / 'pwned')!r}, 'w')\n")
    (tmp_path / "model").mkdir()
    (tmp_path / "model/system.json").write_text('{"system": "evil:X", "version": 1}')
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StoredFileError, match="no system named 'evil:X'"):
        unswayed.open_system("model")
    assert not (tmp_path / "pwned").exists()


def test_a_study_names_no_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "evil.py").write_text(f"open({str(tmp_path / 'pwned')!r}, 'w')\n")
    monkeypatch.chdir(tmp_path)
    Path("study.toml").write_text('title="t"\nkind="evil:K"\nconsent="c"\ncontact="m"\n[items]\npath="i.jsonl"\n')
    with pytest.raises(UsageError, match="no kind of task named 'evil:K'"):
        read_study("study.toml")
    assert not (tmp_path / "pwned").exists()


def run_on(folder: Path, variants: list[Variant] | None = None) -> unswayed.Run:
    """A run whose every name is escapes of a terminal."""
    examples = [Example(i, f"{ESCAPES}{i}", {"text": f"turn off {i}"}, "ab"[i % 2], {"g": ESCAPES}) for i in range(4)]
    usual = [
        Variant(e.row, e.id, 0, f"{ESCAPES}/x", ESCAPES, "same", {"text": f"turm {e.row}"}, e.gold, ESCAPES)
        for e in examples
    ]
    manifest = Manifest(task="classify", language="en")
    suite = write_suite(folder / "suite", manifest, lambda: examples, lambda: usual if variants is None else variants)

    def predict(batch: list[dict[str, str]]) -> list[str]:
        return ["a" if inputs["text"][-1] in "02" else "b" for inputs in batch]

    return unswayed.run_system(suite, predict, folder / "run")


@pytest.mark.parametrize("command", ["measure run run", "suite show suite", "report run -o r.html"])
def test_names_from_a_run_do_not_control_a_terminal(tmp_path: Path, command: str) -> None:
    run_on(tmp_path)
    card = json.loads((tmp_path / "run/run.json").read_text()) | {"system": ESCAPES}
    (tmp_path / "run/run.json").write_text(json.dumps(card))
    done = commands.unswayed(*command.split(), cwd=tmp_path, env={"FORCE_COLOR": "1"})
    assert done.returncode == 0, done.stderr
    assert not set(done.stdout + done.stderr) & set("\x1b\x07\u202e")


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({"suite": ESCAPES}, "is not a suite"),
        ({"suite": "a\0b"}, "not the path of a suite"),
        ({"suite": "a/" * 100_000}, "not the path of a suite"),
        ({"suite": "/etc"}, "/etc is not a suite"),
        ({"suite_id": ESCAPES}, "the suite changed after"),
    ],
)
def test_a_run_that_names_another_suite_is_refused(tmp_path: Path, facts: dict[str, str], said: str) -> None:
    run_on(tmp_path)
    card = json.loads((tmp_path / "run/run.json").read_text()) | facts
    (tmp_path / "run/run.json").write_text(json.dumps(card))
    with pytest.raises(StoredFileError, match=said) as caught:
        unswayed.Run(tmp_path / "run")
    assert len(str(caught.value)) < 1_000


@pytest.mark.parametrize("name", ["results.json", "run.json"])
def test_a_link_in_a_run_is_not_written_through(tmp_path: Path, name: str) -> None:
    run = run_on(tmp_path)
    mine, link = tmp_path / "mine", tmp_path / "run" / name
    shutil.copyfile(link, mine) if link.exists() else mine.write_text("mine")
    before = mine.read_bytes()
    link.unlink(missing_ok=True)
    link.symlink_to(mine)
    unswayed.measure_run(unswayed.Run(run.path), {"measure": {"bootstrap": 20}})
    unswayed.run_system(run.suite, lambda batch: ["a"] * len(batch), run.path)
    assert mine.read_bytes() == before


def test_a_pipe_in_place_of_results_does_not_hang(tmp_path: Path) -> None:
    run = run_on(tmp_path)
    os.mkfifo(tmp_path / "run/results.json")
    assert unswayed.measure_run(run, {"measure": {"bootstrap": 20}}).clean.value == 1.0
    assert (tmp_path / "run/results.json").is_file()


def odd(row: int = 0, id: str = "0", meaning: str = "same", gold: Any = "a") -> Variant:
    return Variant(row, id, 0, "x/y", "x", meaning, {"text": "turm"}, gold, "")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("variant", "said"),
    [
        (odd(meaning="maybe"), "its meaning is 'maybe'"),
        (odd(id="7"), "a variant of another example"),
        (odd(row=77), "do not follow the order"),
    ],
)
def test_variants_that_belong_nowhere_are_refused(tmp_path: Path, variant: Variant, said: str) -> None:
    """Their hashes are right: somebody made the suite so."""
    made = write_suite(
        tmp_path / "suite",
        Manifest(task="classify", language="en"),
        lambda: [Example(0, "0", {"text": "turn"}, "a")],
        lambda: [variant],
    )
    with pytest.raises(StoredFileError, match=rf"variants\.parquet: .*{said}"):
        list(made.groups())


@pytest.mark.parametrize(
    "lines",
    [
        ['{"id": "a", "row": 99999999999999999999999, "inputs": {"text": "x"}}'],
        ['{"id": "a", "row": -5, "inputs": {"text": "x"}}'],
        ['{"id": "a", "inputs": {"text": "x"}}', '{"example_id": "a", "draw": 1e30, "inputs": {"text": "y"}}'],
        ['{"id": "a", "inputs": {"text": NaN}}'],
        ['{"id": "a", "inputs": {"text": "x"}}', '{"id": "a", "inputs": {"text": "y"}}'],
        ['{"suite": {"task": "text", "language": "en", "draws": 1e999}}', '{"id": "a", "inputs": {"text": "x"}}'],
    ],
)
def test_numbers_without_end_in_a_suite_as_json_lines(tmp_path: Path, lines: list[str]) -> None:
    (tmp_path / "s.jsonl").write_text("\n".join(lines))
    with pytest.raises(DataError):
        import_suite(tmp_path / "s.jsonl", tmp_path / "new")


def test_draws_are_bounded(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="from 1 to 100,000"):
        unswayed.make_suite(TEXTS, "keyboard/adjacent", draws=10**20, to=tmp_path / "suite")
    made = unswayed.make_suite(TEXTS[:2], "keyboard/adjacent", draws=1_000, to=tmp_path / "suite")
    assert len(made) > 1_000


def test_a_packed_log_that_grows_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("inspect_ai")
    monkeypatch.setattr("unswayed.data.logs.inspect.MOST_LOG_BYTES", 1 << 20)
    with zipfile.ZipFile(tmp_path / "l.eval", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", bytes(5 << 20))
    with pytest.raises(DataError, match="header.json would take 5 MB of memory"):
        LoggedSystem(str(tmp_path / "l.eval"))

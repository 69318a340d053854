"""Small files that would grow without end, and large ones: refused or read within bounds, and the machine stands."""

from __future__ import annotations

import io
import json
import resource
import subprocess
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from unswayed.base.errors import DataError, StoredFileError
from unswayed.data import ReadOptions, read_examples
from unswayed.systems.baselines.intent import Intent

from .conftest import COMMAND
from .valid_files import FILES

MEMORY = 3 << 30  # bytes of address space: enough for what is sound, and a bomb goes off against it


def bounded(*arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """A command that can't take the machine down."""
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=120,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)),
    )


def deep(n: int) -> str:
    return "[" * n + "]" * n


TEXTS = {
    "brackets": ("a.jsonl", deep(1_000_000)),
    "brackets inside": ("a.jsonl", f'{{"text": "a", "label": {deep(100_000)}}}'),
    "brackets that can be followed": ("a.jsonl", f'{{"text": "a", "label": {deep(400)}}}'),
    "objects": ("a.jsonl", '{"a":' * 1_000_000),
    "squad": ("a.json", '{"data": [{"paragraphs": ' + deep(1_000_000)),
    "entities": (
        "a.xml",
        '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">'
        '<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">]><entailment-corpus><pair id="1" value="TRUE"><t>&c;</t><h>x</h></pair>'
        "</entailment-corpus>",
    ),
    "an outside entity": (
        "a.xml",
        '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><entailment-corpus>'
        '<pair id="1" value="TRUE"><t>&a;</t><h>x</h></pair></entailment-corpus>',
    ),
    "elements": ("a.xml", "<entailment-corpus>" + "<a>" * 1_000_000),
    "quotes": ("a.csv", 'text,label\n"' + "x\n" * 1_000_000),
    "a number": ("a.jsonl", '{"text": "a", "label": ' + "9" * 1_000_000 + "}"),
    "an exponent": ("a.jsonl", '{"text": "a", "label": 1e999999999}'),
}


@pytest.mark.parametrize("name", TEXTS)
def test_texts_that_go_on_and_on_are_refused(tmp_path: Path, name: str) -> None:
    file, text = TEXTS[name]
    (tmp_path / file).write_text(text)
    with pytest.raises(DataError, match=file):
        list(read_examples(tmp_path / file, ReadOptions(format="rte" if file.endswith("xml") else None)))


@pytest.mark.slow
def test_a_line_of_30_megabytes_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(json.dumps({"text": "x" * 30_000_000, "label": "a"}))
    done = bounded("vary", "a.jsonl", "--lang", "en", "--with", "spoken/filler_end", "-o", "suite", cwd=tmp_path)
    assert done.returncode == 0, done.stderr


READ = """
import sys
from unswayed.data import read_examples
print(sum(len(example.inputs["text"]) for example in read_examples(sys.argv[1])))
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""


def test_a_parquet_file_that_grows_ten_thousand_times(tmp_path: Path) -> None:
    """Some kilobytes that hold 1.6 gigabytes of text are read, and never all of it at once."""
    text = pa.array(["x" * 40_000], pa.large_string())
    rows = pa.DictionaryArray.from_arrays(pa.array(np.zeros(40_000, dtype=np.int32)), text)
    pq.write_table(pa.table({"text": rows, "id": pa.array(range(40_000))}), tmp_path / "a.parquet")
    assert (tmp_path / "a.parquet").stat().st_size < 1_000_000
    done = subprocess.run(
        [*COMMAND[:1], "-c", READ, tmp_path / "a.parquet"], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    characters, kilobytes = map(int, done.stdout.split())
    assert characters == 1_600_000_000
    assert kilobytes < 700_000


def test_weights_that_would_unpack_without_end_are_refused(tmp_path: Path) -> None:
    """They are looked at only after their hash, so only what was saved is unpacked."""
    kind = FILES["a trained system"](tmp_path)
    assert "model/weights.npz" in kind.files
    with zipfile.ZipFile(tmp_path / "model/weights.npz", "w", zipfile.ZIP_DEFLATED) as bomb:
        bomb.writestr("weights.npy", bytes(200_000_000))
    with pytest.raises(StoredFileError, match=r"weights\.npz.*not the file that was saved"):
        Intent.load(tmp_path / "model")


def test_a_pickle_is_never_opened(tmp_path: Path) -> None:
    FILES["a trained system"](tmp_path)
    out = io.BytesIO()
    np.savez(out, weights=np.array([{"a": 1}], dtype=object))
    file = tmp_path / "model/weights.npz"
    file.write_bytes(out.getvalue())
    card = json.loads((tmp_path / "model/system.json").read_text())
    from unswayed.base.ids import file_hash

    (tmp_path / "model/system.json").write_text(json.dumps({**card, "weights": file_hash(file)}))
    with pytest.raises(StoredFileError, match=r"weights\.npz"):
        Intent.load(tmp_path / "model")

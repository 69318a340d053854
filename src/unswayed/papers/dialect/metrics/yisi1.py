"""YiSi-1: how much of each text is found in the other, by likeness of words, rare words counting more."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b
from math import log
from pathlib import Path

import numpy as np
import numpy.typing as npt

from unswayed.base import DataError, Json, file_hash
from unswayed.systems import Metric, Segment

Array = npt.NDArray[np.float32]
SIZE = 256  # of vectors made from letters
_NEARLY = np.float32(1 - 1e-6)  # the likeness of no two different units is above this
_UNIT = re.compile(r"[\u3400-\u9fff]|[^\W\u3400-\u9fff_]+(?:['’-][^\W\u3400-\u9fff_]+)*|[^\w\s]")


class Yisi1(Metric):
    """YiSi-1 from 0 to 1, over word vectors from a file, or vectors made of letters, which need none.

    A unit is a word, a Chinese character or a mark. Runs of `n` units are compared in order, each unit weighted by its
    inverse document frequency among the references. `alpha` is the weight of recall in the mean of precision and
    recall. `vectors` is a text file with a word and its numbers a line, as word2vec and fastText write them; a word
    that is not in it is like itself alone.
    """

    deterministic = True

    def __init__(self, vectors: str = "", alpha: float = 0.7, n: int = 2) -> None:
        if not 0 <= alpha <= 1 or n < 1:
            raise ValueError(f"alpha must lie from 0 to 1 and n be 1 or more, not {alpha} and {n}")
        self.alpha, self.n = alpha, n
        self._path = vectors
        self._vectors = _read(Path(vectors)) if vectors else None
        self._vector = lru_cache(65536)(self._made)
        self._documents: Counter[str] = Counter()
        self._count = 0

    def decides(self) -> Json:
        file = file_hash(Path(self._path)) if self._path else ""
        return [self.alpha, self.n, file]

    def count(self, references: Sequence[str]) -> None:
        self._documents = Counter(unit for text in references for unit in set(units(text)))
        self._count = len(references)

    def scores(self, segments: Sequence[Segment]) -> Sequence[float]:
        return [self._score(units(segment.candidate), units(segment.reference or "")) for segment in segments]

    def _score(self, candidate: list[str], reference: list[str]) -> float:
        if not candidate or not reference:
            return float(candidate == reference)
        alike = self._likeness(candidate, reference)
        precision = _found(alike, self._weights(candidate), self.n)
        recall = _found(alike.T, self._weights(reference), self.n)
        below = self.alpha * precision + (1 - self.alpha) * recall
        return precision * recall / below if below else 0.0

    def _likeness(self, candidate: list[str], reference: list[str]) -> npt.NDArray[np.float64]:
        vectors = [np.stack([self._vector(unit) for unit in text]) for text in (candidate, reference)]
        product: Array = np.einsum("ik,jk->ij", *vectors)  # as quick as BLAS on so few, and without its threads
        alike: npt.NDArray[np.float64] = np.minimum(np.maximum(product, 0), _NEARLY).astype(np.float64)
        place = {unit: i for i, unit in enumerate(dict.fromkeys(reference))}
        ours, theirs = (np.array([place.get(unit, -1) for unit in text]) for text in (candidate, reference))
        alike[ours[:, None] == theirs] = 1.0
        return alike

    def _weights(self, text: list[str]) -> npt.NDArray[np.float64]:
        return np.array([log(1 + (self._count + 1) / (self._documents[unit] + 1)) for unit in text])

    def _made(self, unit: str) -> Array:
        if self._vectors is None:
            return letters(unit)
        return self._vectors.get(unit, self._vectors[""])


def units(text: str) -> list[str]:
    return _UNIT.findall(text.lower())


def letters(unit: str) -> Array:
    """A vector of a word's runs of two to four letters, hashed; words that share many are alike."""
    padded = f"^{unit}$" if len(unit) > 1 else unit
    vector = np.zeros(SIZE, dtype=np.float32)
    for size in (1,) if len(padded) == 1 else (2, 3, 4):
        for i in range(len(padded) - size + 1):
            bits = int.from_bytes(
                blake2b(padded[i : i + size].encode("utf-8", "surrogatepass"), digest_size=8).digest()
            )
            vector[bits % SIZE] += 1 if bits >> 32 & 1 else -1
    length = float(np.linalg.norm(vector))
    return vector / np.float32(length) if length else vector


def _found(alike: npt.NDArray[np.float64], weights: npt.NDArray[np.float64], n: int) -> float:
    """The weighted mean, over runs of n units, of the likeness to the run on the other side that is likest."""
    size = min(n, *alike.shape)
    rows, columns = alike.shape[0] - size + 1, alike.shape[1] - size + 1
    together = sum(alike[k : k + rows, k : k + columns] * weights[k : k + rows, None] for k in range(size))
    total = np.array([weights[k : k + rows] for k in range(size)]).sum(axis=0)
    return float(np.asarray(together).max(axis=1).sum() / total.sum())


def _read(path: Path) -> dict[str, Array]:
    """Vectors by word, each of length one; the empty word's is zero and serves for all that are not there."""
    found: dict[str, Array] = {}
    size = 0
    try:
        with path.open(encoding="utf-8", newline="\n") as file:
            for number, line in enumerate(file, 1):
                word, *numbers = line.rstrip().split(" ")
                if number == 1 and len(numbers) == 1:
                    continue  # word2vec's head: how many, and how long
                with np.errstate(over="ignore"):  # what is too large has no finite length, which is told below
                    vector = np.array(numbers, dtype=np.float32)
                    length = float(np.linalg.norm(vector))
                size = size or len(vector)
                if len(vector) != size or not size:
                    raise DataError(f"this vector has {len(vector)} numbers, but the first has {size}.", path, number)
                if not np.isfinite(length):
                    raise DataError("a number is too large or not finite.", path, number)
                found[word] = vector / np.float32(length or 1)
    except (OSError, ValueError) as error:
        raise DataError(f"this is not a file of word vectors ({error}).", path) from error
    if not found:
        raise DataError("there is no vector in this file.", path)
    found[""] = np.zeros(size, dtype=np.float32)
    return found

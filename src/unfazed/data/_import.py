"""From a corpus that holds people's versions of its examples to a suite of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from unfazed.core.errors import DataError
from unfazed.core.ids import content_id, file_hash
from unfazed.core.suite import Manifest, Suite, plan_id, write_suite
from unfazed.core.values import Variant
from unfazed.data._read import find_reader, read_examples, task_and_language
from unfazed.data._reader import ReadOptions


def import_corpus(
    path: str | Path,
    to: str | Path,
    options: ReadOptions | None = None,
    language: str | None = None,
    overwrite: bool = False,
) -> Suite:
    """Makes a suite of a corpus whose reader knows variants, such as READIN's folders."""
    path, options = Path(path), options or ReadOptions()
    kind = task_and_language(path, options, language)

    def variants() -> Iterator[Variant]:
        count = 0
        for variant in find_reader(path, options).variants(path, options):
            count += 1
            yield variant
        if not count:
            raise DataError("this corpus has no variants. Make some with `unfazed vary`.", path)

    files = sorted(path.rglob("*")) if path.is_dir() else [path]
    source = content_id([[file.name, file_hash(file)] for file in files if file.is_file()], size=16)
    manifest = Manifest(task=kind.task, language=kind.language, plan=plan_id("corpus", source, options))
    return write_suite(to, manifest, lambda: read_examples(path, options), variants, overwrite)

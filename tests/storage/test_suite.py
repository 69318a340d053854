"""Suites come back from disk as they went, in any size, and damage is named."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from unswayed.base.errors import DataError, StoredFileError, UsageError
from unswayed.base.values import Example, Variant
from unswayed.storage.suite import Manifest, Suite, write_pieces, write_suite
from unswayed.storage.suite_jsonl import export_suite, import_suite
from unswayed.storage.suite_rows import Piece, pieces_of

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)


@st.composite
def suites(draw: st.DrawFn) -> tuple[list[Example], list[Variant]]:
    rows = sorted(draw(st.sets(st.integers(0, 1000), min_size=1, max_size=6)))
    examples = [
        Example(
            row,
            draw(texts) + f"-{row}",
            draw(st.dictionaries(texts, texts, max_size=3)),
            draw(json_values),
            draw(st.dictionaries(texts, texts, max_size=2)),
        )
        for row in rows
    ]
    variants = [
        Variant(
            e.row,
            e.id,
            draw_number,
            draw(texts),
            draw(texts),
            draw(st.sampled_from(["same", "changed"])),
            draw(st.dictionaries(texts, texts, max_size=3)),
            draw(json_values),
            draw(texts),
        )
        for e in examples
        for draw_number in range(draw(st.integers(0, 3)))
    ]
    return examples, variants


@given(suites())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50, deadline=None)
def test_a_suite_comes_back_as_it_went(tmp_path: Path, suite: tuple[list[Example], list[Variant]]) -> None:
    examples, variants = suite
    manifest = Manifest(task="text", language="en", seed=3)
    made = write_suite(tmp_path / "s", manifest, lambda: examples, lambda: variants, overwrite=True)
    assert list(made.examples()) == examples
    assert list(made.variants()) == variants
    assert [(e, vs) for e, vs in made.groups()] == [(e, [v for v in variants if v.row == e.row]) for e in examples]
    made.verify()
    export_suite(made, tmp_path / "s.jsonl")
    again = import_suite(tmp_path / "s.jsonl", tmp_path / "again", overwrite=True)
    assert again.id == made.id
    assert (tmp_path / "again/variants.parquet").read_bytes() == (tmp_path / "s/variants.parquet").read_bytes()


def small(path: Path, text: str = "hi") -> Suite:
    examples = [Example(0, "a", {"text": text}), Example(1, "b", {"text": text + "!"})]
    variants = [Variant(0, "a", 0, "x/y", "x", "same", {"text": text + "?"}, None, "n")]
    return write_suite(path, Manifest(task="text", language="en"), lambda: examples, lambda: variants)


def test_the_content_id_follows_the_content(tmp_path: Path) -> None:
    assert small(tmp_path / "a").id == small(tmp_path / "b").id != small(tmp_path / "c", "ho").id


def test_pieces_of_any_size_make_the_same_files(tmp_path: Path) -> None:
    """As blocks of workers are; a batch of the file has 16,384 rows."""
    count = 20_000
    example = Example(0, "a", {"text": "a"}, "x")
    variants = [Variant(0, "a", i, "s", "f", "same", {"text": f"text {i}"}, "x", "n") for i in range(count)]
    manifest = Manifest(task="classify", language="en")
    plain = write_suite(tmp_path / "plain", manifest, lambda: [example], lambda: variants)
    parts = [piece for at in range(0, count, 7_001) for piece in pieces_of(variants[at : at + 7_001])]
    columns = [[cell for part in parts for cell in part.columns[k]] for k in range(len(parts[0].columns))]
    whole = Piece(columns, b"".join(part.hashed for part in parts))
    for name, made in {"parts": parts, "whole": [whole]}.items():
        suite = write_pieces(tmp_path / name, manifest, lambda: [example], lambda made=made: made)  # type: ignore[misc]
        assert (suite.path / "variants.parquet").read_bytes() == (plain.path / "variants.parquet").read_bytes()
        assert suite.manifest == plain.manifest


def test_what_repeats_is_stored_once(tmp_path: Path) -> None:
    """Operators, their families and notes come up again and again, so Parquet has them as dictionaries."""
    from pyarrow.parquet import ParquetFile

    examples = [Example(i, str(i), {"text": f"text number {i}"}, "a") for i in range(500)]
    variants = [
        Variant(
            e.row, e.id, draw, "spoken/filler_end", "spoken", "same", e.inputs, "a", "the same note for all of them"
        )
        for e in examples
        for draw in range(4)
    ]
    write_suite(tmp_path / "suite", Manifest(task="text", language="en"), lambda: examples, lambda: variants)
    group = ParquetFile(tmp_path / "suite" / "variants.parquet").metadata.row_group(0)
    stored = {group.column(i).path_in_schema: group.column(i) for i in range(group.num_columns)}
    for name in ("draw", "source", "family", "meaning", "gold", "note"):
        assert stored[name].has_dictionary_page, name
        assert stored[name].total_uncompressed_size < len(variants), name  # less than a byte each


def test_another_suite_is_not_replaced_unless_asked(tmp_path: Path) -> None:
    small(tmp_path / "s")
    with pytest.raises(UsageError, match="overwrite="):
        small(tmp_path / "s")
    (tmp_path / "other").mkdir()
    (tmp_path / "other/thesis.doc").write_text("do not lose me")
    with pytest.raises(UsageError, match="not a suite"):
        write_suite(tmp_path / "other", Manifest(task="text", language="en"), list, list, overwrite=True)
    assert (tmp_path / "other/thesis.doc").exists()


def test_a_failure_in_the_middle_leaves_nothing(tmp_path: Path) -> None:
    def broken():  # type: ignore[no-untyped-def]
        yield Variant(0, "a", 0, "x/y", "x", "same", {"text": "?"}, None, "n")
        raise RuntimeError("in the middle")

    with pytest.raises(RuntimeError, match="in the middle"):
        write_suite(tmp_path / "s", Manifest(task="text", language="en"), lambda: [Example(0, "a", {})], broken)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["variants.parquet", "examples.parquet"])
@pytest.mark.parametrize("damage", ["cut", "flip", "gone", "empty"])
def test_damage_is_named(tmp_path: Path, name: str, damage: str) -> None:
    suite = small(tmp_path / "s")
    file = tmp_path / "s" / name
    content = file.read_bytes()
    if damage == "gone":
        file.unlink()
    else:
        middle = len(content) // 2
        flipped = content[:middle] + bytes([content[middle] ^ 255]) + content[middle + 1 :]
        file.write_bytes({"cut": content[:-20], "flip": flipped, "empty": b""}[damage])
    with pytest.raises(StoredFileError, match=name):
        suite.verify()
    if damage != "flip":
        with pytest.raises(StoredFileError, match=name):
            list(suite.groups())


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"format": 1}', '{"format": 99, "task": "text", "language": "en"}']
)
def test_a_damaged_manifest_is_named(tmp_path: Path, content: str) -> None:
    small(tmp_path / "s")
    (tmp_path / "s/manifest.json").write_text(content)
    with pytest.raises(StoredFileError, match=r"manifest\.json"):
        Suite(tmp_path / "s")


def test_what_is_no_suite_is_told_apart(tmp_path: Path) -> None:
    with pytest.raises(StoredFileError, match="unswayed vary"):
        Suite(tmp_path)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("not json", "mine.jsonl:2"),
        ('{"row": 5, "example_id": "nobody", "draw": 0}', "mine.jsonl:2"),
        ("[1]", "must be an object"),
        (
            json.dumps(
                {
                    "row": 5,
                    "example_id": "q",
                    "draw": 0,
                    "source": "s",
                    "family": "f",
                    "meaning": "same",
                    "inputs": {},
                    "gold": 1,
                    "note": "",
                }
            ),
            "not an example here",
        ),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, line: str, message: str) -> None:
    (tmp_path / "mine.jsonl").write_text('{"row": 0, "id": "a", "inputs": {"text": "hi"}}\n' + line + "\n")
    with pytest.raises(DataError, match=message):
        import_suite(tmp_path / "mine.jsonl", tmp_path / "s")


_MILLION = """
import sys
from unswayed.storage.suite import Manifest, write_suite
from unswayed.base.values import Example, Variant
def examples():
    for i in range(N // 4): yield Example(i, f"e{i}", {"text": f"example number {i} of very many"}, "label")
def variants():
    for i in range(N // 4):
        for d in range(4):
            text = f"variant {d} of number {i} of many"
            yield Variant(i, f"e{i}", d, "x/y", "x", "same", {"text": text}, "label", "n")
suite = write_suite(sys.argv[1], Manifest(task="text", language="en"), examples, variants)
assert sum(1 for _ in suite.variants()) == N
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""


@pytest.mark.slow
def test_a_million_variants_need_no_more_memory_than_fifty_thousand(tmp_path: Path) -> None:
    def peak(count: int) -> int:
        script = _MILLION.replace("N", str(count), 1).replace("== N", f"== {count}").replace("(N ", f"({count} ")
        shown = subprocess.run(
            [sys.executable, "-c", script, str(tmp_path / str(count))], capture_output=True, text=True, check=True
        )
        return int(shown.stdout)

    assert peak(1_000_000) < peak(100_000) * 1.5


def test_a_text_of_ten_megabytes_comes_back(tmp_path: Path) -> None:
    text = "长文本 " * 2_500_000
    suite = small(tmp_path / "s", text)
    assert next(suite.examples()).inputs["text"] == text


def test_people_leave_out_what_is_as_usual(tmp_path: Path) -> None:
    file = tmp_path / "people.jsonl"
    file.write_text(
        '{"id": "a", "inputs": {"text": "one"}, "gold": "x"}\n{"id": "b", "inputs": {"text": "two"}, "gold": "y"}\n'
        '{"example_id": "b", "source": "anna", "inputs": {"text": "tow"}}\n',
        encoding="utf-8",
    )
    suite = import_suite(file, tmp_path / "s", "classify", "en")
    assert [(e.row, e.id) for e in suite.examples()] == [(0, "a"), (1, "b")]
    (variant,) = suite.variants()
    assert (variant.row, variant.gold, variant.source, variant.family, variant.draw) == (1, "y", "anna", "people", 0)


def test_a_persons_version_must_have_labels_that_fit(tmp_path: Path) -> None:
    file = tmp_path / "people.jsonl"
    gold = '{"intent": "go", "slots": ["O", "B-to"]}'
    file.write_text(
        f'{{"id": "a", "inputs": {{"text": "to rome"}}, "gold": {gold}}}\n'
        '{"example_id": "a", "inputs": {"text": "please to rome"}}\n',
        encoding="utf-8",
    )
    with pytest.raises(DataError, match="2 tags for 3 tokens"):
        import_suite(file, tmp_path / "s", "slu", "en")

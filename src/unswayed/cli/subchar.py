"""`unswayed subchar`: vocabularies below the Chinese character, and what texts are in them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from unswayed.cli._options import stream_option

_ENCODINGS = ("pinyin", "pinyin_tone", "zhuyin", "wubi", "stroke")
_encoding = click.option(
    "--encoding", type=click.Choice(_ENCODINGS), default="pinyin", show_default=True, help="How to write a character."
)
_vocabulary = click.option("--with", "folder", required=True, metavar="FOLDER", help="A trained vocabulary.")


@click.group("subchar", short_help="Sub-character tokens of Chinese: train, encode, decode, fold.")
def command() -> None:
    """Tokens below the Chinese character: by sound, shape or strokes. `train` and `encode` need the extra hf."""


@command.command("train", short_help="Learn a vocabulary, in a file that transformers opens.")
@click.argument("data", nargs=-1, required=True, metavar="DATA…")
@_encoding
@click.option("--index/--no-index", default=True, show_default=True, help="Tell characters of one code apart.")
@click.option("--model", type=click.Choice(["unigram", "bpe"]), default="unigram", show_default=True, help="Its kind.")
@click.option("--size", type=int, default=8000, show_default=True, help="Tokens at most.")
@click.option("-o", "to", required=True, metavar="FOLDER", help="Where to save the vocabulary.")
def train(data: tuple[str, ...], to: str, **options: object) -> None:
    """Learn a vocabulary from all inputs of DATA and write tokenizer.json, to train a BERT with.

    \b
      unswayed subchar train train.jsonl --no-index -o tokens/
      python -c 'from transformers import AutoTokenizer; print(AutoTokenizer.from_pretrained("tokens/"))'
    """
    from unswayed.data import read_examples
    from unswayed.papers.readin.subchar import SubChar

    texts = (text for path in data for example in read_examples(path) for text in example.inputs.values())
    made = SubChar.train(texts, **options)  # type: ignore[arg-type]
    made.save(to)
    click.echo(f"{len(made):,} tokens in {to}", err=True)


@command.command("encode", short_help="Texts as token numbers, one text per line.")
@click.argument("texts", metavar="FILE")
@_vocabulary
@stream_option
def encode(texts: str, folder: str, to: str) -> None:
    """Write each line of FILE as the numbers of its tokens.

    \b
      unswayed subchar encode texts.txt --with vocabulary/ -o numbers.txt
    """
    _each_line(texts, folder, to, lambda vocabulary, line: " ".join(map(str, vocabulary.encode(line))))


@command.command("decode", short_help="Token numbers as texts, one text per line.")
@click.argument("numbers", metavar="FILE")
@_vocabulary
@stream_option
def decode(numbers: str, folder: str, to: str) -> None:
    """Write the text of each line of FILE; with an index, the very text that was encoded.

    \b
      unswayed subchar decode numbers.txt --with vocabulary/ -o texts.txt
    """
    _each_line(numbers, folder, to, lambda vocabulary, line: vocabulary.decode(_numbers(line, len(vocabulary))))


@command.command("fold", short_help="Data with characters of one code written as one, to train with.")
@click.argument("data", metavar="DATA")
@_encoding
@stream_option
def fold(data: str, encoding: str, to: str) -> None:
    """Write the examples of DATA with each character as the commonest of its code: homophones become one.

    \b
      unswayed subchar fold train.jsonl -o folded.jsonl
      unswayed train intent folded.jsonl -o model/
      unswayed run suite/ --system mitigate/fold:model/ -o run/
    """
    from unswayed.data import read_examples
    from unswayed.mitigate.augment import write_examples
    from unswayed.papers.readin.fold import Codes, fold_examples

    count = write_examples(fold_examples(read_examples(data), Codes(encoding, index=False)), to).total()
    click.echo(f"{count:,} examples in {to}", err=True)


def _each_line(path: str, folder: str, to: str, change: Callable[[Any, str], str]) -> None:
    """Writes each line as the vocabulary in `folder` changes it."""
    from pathlib import Path

    from unswayed.data import read_lines, without_break
    from unswayed.papers.readin.subchar import SubChar
    from unswayed.storage.files import replacing_or_printing

    vocabulary = SubChar.load(folder)
    with replacing_or_printing(to) as write:
        for number, line in enumerate(read_lines(Path(path)), 1):
            try:
                write(f"{change(vocabulary, without_break(line))}\n".encode())
            except ValueError as error:
                raise click.ClickException(f"{path}:{number}: {error}") from error


def _numbers(line: str, size: int) -> list[int]:
    found = [int(word) for word in line.split()]
    wrong = next((number for number in found if not 0 <= number < size), None)
    if wrong is not None:
        raise ValueError(f"{wrong} is not a token of this vocabulary, which has {size}")
    return found

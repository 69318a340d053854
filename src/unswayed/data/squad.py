"""Reading comprehension as SQuAD has it, also CMRC2018: paragraphs, questions on them, and answers in them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from unswayed.base.errors import DataError
from unswayed.base.ids import decode
from unswayed.base.options import ReadOptions
from unswayed.base.values import Example, Json
from unswayed.data._reader import Reader, open_bytes, read_lines


class _SquadAnswer(msgspec.Struct):
    text: str
    answer_start: int = -1


class _Question(msgspec.Struct):
    question: str
    id: str | int
    answers: list[_SquadAnswer] = []
    is_impossible: bool = False


class _Paragraph(msgspec.Struct):
    context: str
    qas: list[_Question]


class _Article(msgspec.Struct):
    paragraphs: list[_Paragraph]


class _SquadFile(msgspec.Struct):
    data: list[_Article]


class Squad(Reader):
    """One JSON file of articles. `line` counts the questions, as such a file is often a single line.

    An answer that does not stand where the file says is looked for nearby. One of fifty in CMRC2018's dev set stands
    nowhere in its paragraph; it is kept as a text without a place. A question that SQuAD 2.0 marks as impossible has an
    empty list of answers; one without answers that is not marked has no gold.
    """

    suffixes = (".json",)
    has_fields = False

    def accepts(self, path: Path) -> bool:
        return super().accepts(path) and is_squad(path)

    def read(self, path: Path, options: ReadOptions) -> Iterator[Example]:
        self.file = path
        try:
            articles = decode("".join(read_lines(path, options.encoding)), _SquadFile).data
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise DataError(f"this is not a file in SQuAD's form: {error}.", path) from error
        for paragraph in (paragraph for article in articles for paragraph in article.paragraphs):
            for question in paragraph.qas:
                self.line += 1
                inputs = {"question": question.question, "context": paragraph.context}
                answers = [
                    answer_at(answer.text, answer.answer_start, paragraph.context) for answer in question.answers
                ]
                gold = {"answers": answers} if answers or question.is_impossible else None
                yield Example(self.line - 1, str(question.id), inputs, gold)


def is_squad(path: Path) -> bool:
    """Does the file begin as SQuAD's do? Only its start is looked at."""
    with open_bytes(path) as file:
        start = file.read(1 << 14)
    return start.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"{") and b'"paragraphs"' in start


def answer_at(text: str, given: int, context: str) -> Json:
    """The answer with the start of its occurrence nearest to the one given; without a start if it has none."""
    if given >= 0 and context.startswith(text, given):
        return {"text": text, "start": given}
    before, after = context.rfind(text, 0, max(given, 0) + len(text)), context.find(text, max(given, 0))
    found = [start for start in (before, after) if start >= 0]
    return {"text": text, "start": min(found, key=lambda start: abs(start - given))} if found else {"text": text}

"""CoNLL's columns: a token a line, with its tag in one of the columns, and an empty line after each sentence."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

from unswayed.base.errors import DataError, UsageError, option
from unswayed.base.options import ReadOptions
from unswayed.base.values import Example, Json
from unswayed.data._forms import bio_tags, is_bio_tag, join_tokens
from unswayed.data._reader import Problem, Reader, open_bytes, read_lines, without_break

SUFFIXES = (".conll", ".conllu", ".conllup", ".conll03", ".conll2003", ".iob", ".iob2", ".bio", ".bioes")
_OTHER_SUFFIXES = (".txt", ".tsv", ".testa", ".testb", ".train", ".dev", ".test", "")  # which such files have too
_MAX_NAMED = 20  # sentences that are left out, with the line of each
_GUESSED_LINES = 4_000  # lines looked at to learn what the columns are
_DOCUMENT = "-DOCSTART-"
_COLUMNS = re.compile(r"#\s*global\.columns\s*=\s*(.+)")
_COMMENT = re.compile(r"#\s*([\w.:-]+)\s*[=:]\s*(.*)")
_NUMBER = re.compile(r"\d+([-.]\d+)?")
_PLAIN_NUMBER = re.compile(r"\d+")
_U_COLUMNS = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")
# Types of the syntactic chunks that CoNLL-2003 has in the column before its entities.
_CHUNKS = frozenset(("NP", "VP", "PP", "ADVP", "ADJP", "SBAR", "PRT", "INTJ", "CONJP", "LST", "UCP", "NC", "VC", "PC"))


class _Layout(NamedTuple):
    """What the columns are, counted from 0."""

    width: int
    word: int
    tag: int
    numbered: bool  # the first column counts the tokens of a sentence
    tabs: bool


class _Sentence(NamedTuple):
    line: int
    cells: list[list[str]]
    comments: dict[str, str]
    document: int


class ConllReader(Reader):
    """CoNLL-2003, CoNLL-U, CoNLL-U Plus and their like. Columns are separated by tabs or spaces.

    `gold` and `inputs` choose the columns of the tags and of the words: by number from 1, or by a name that
    `# global.columns` gives. A file whose sentences have a comment `# intent = …` is of the task slu.
    """

    suffixes = SUFFIXES
    _left_out: list[tuple[int, str]]  # the lines of sentences with an empty token, or with no word at all, and why

    def accepts(self, path: Path) -> bool:
        return super().accepts(path) or (path.suffix.lower() in _OTHER_SUFFIXES and looks_like_conll(path))

    def read(self, path: Path, options: ReadOptions) -> Iterator[Example]:
        self.file, self._left_out = path, []
        texts = map(without_break, read_lines(path, options.encoding))
        lines = ((number, text.rstrip(" \r")) for number, text in enumerate(texts, 1))
        head = list(islice(lines, _GUESSED_LINES))
        layout = _guess_layout(head, options, path)
        slu = None
        row = 0
        for sentence in self._sentences(chain(head, lines), layout):
            self.line = sentence.line
            if slu is None:
                slu = "intent" in sentence.comments and options.task in (None, "slu")
            words, tags = ([cells[at] for cells in sentence.cells] for at in (layout.word, layout.tag))
            empty = next((n for n, word in enumerate(words, 1) if not word), 0)
            if empty:
                self._left_out.append((sentence.line, f"token {empty} is empty"))
                continue
            comments = {**sentence.comments, **({"document": str(sentence.document)} if sentence.document else {})}
            try:
                gold: Json = {"tags": bio_tags(tags, len(words))}
                if slu:
                    if "intent" not in comments:
                        raise Problem("this sentence has no comment `# intent = …`, which the first sentence has.")
                    gold = {"intent": comments["intent"], "slots": gold["tags"]}
                if options.id and options.id not in comments:
                    raise Problem(f"this sentence has no comment `# {options.id} = …`, which {option('id')} names.")
                inputs = {"text": join_tokens(words)}
            except Problem as problem:
                raise DataError(str(problem), path, sentence.line) from None
            groups = {name: comments[name] for name in options.groups if name in comments}
            yield Example(row, comments.get(options.id or "", ""), inputs, gold, groups)
            row += 1
        if self._left_out and not row:
            line, why = self._left_out[0]
            raise DataError(
                f"{why}, and no other sentence is left. Fix it, or remove the token and its tag.", path, line
            )
        for line, why in self._left_out[:_MAX_NAMED]:
            print(f"unswayed: {path}:{line}: {why}; the sentence was left out.", file=sys.stderr)
        if more := [str(line) for line, _ in self._left_out[_MAX_NAMED:]]:
            many = f"{len(more):,} more sentence{'s' * (len(more) > 1)} left out, the first at line {more[0]}."
            print(f"unswayed: {path}: {many}", file=sys.stderr)

    def _sentences(self, lines: Iterator[tuple[int, str]], layout: _Layout) -> Iterator[_Sentence]:
        cells: list[list[str]] = []
        comments: dict[str, str] = {}
        first, document = 0, 0
        for number, line in chain(lines, [(0, "")]):
            if not line.strip():
                if len(cells) == 1 and not cells[0][layout.word]:
                    self._left_out.append((first, "there is no word here"))
                elif cells:
                    yield _Sentence(first, cells, comments, document)
                cells, comments = ([], {}) if cells else (cells, comments)
                continue
            row = _split_columns(line, layout.tabs)
            if row[0] == _DOCUMENT or (len(row) > layout.word and row[layout.word] == _DOCUMENT):
                document += 1
                continue
            # A line that begins with # is a token if it has a token's columns: CoNLL-2003 has such tokens.
            is_token = not layout.numbered and len(row) == layout.width and is_bio_tag(row[layout.tag])
            if line.startswith("#") and not is_token:
                if known := _COMMENT.match(line):
                    comments[known[1]] = known[2].strip()
                continue
            if layout.numbered and not _PLAIN_NUMBER.fullmatch(row[0]) and _NUMBER.fullmatch(row[0]):
                continue  # CoNLL-U's words of several tokens, and its empty nodes
            if len(row) != layout.width:
                what = f"this line has {len(row)} columns, but the first one has {layout.width}."
                raise DataError(f"{what} Fix it; an empty line must follow each sentence.", self.file, number)
            if not is_bio_tag(row[layout.tag]):
                what = f"the tag {row[layout.tag]!r:.60} in column {layout.tag + 1} is not O, B-…, I-…, E-… or S-…."
                how = f"Fix it, or choose another column with {option('gold')}."
                raise DataError(f"{what} {how}", self.file, number)
            first = first if cells else number
            cells.append(row)


def conll_sentence(example: Example) -> str:
    """The tokens and tags of a tagged example, one per line, with an empty line after them; an intent as a comment."""
    gold = example.gold if isinstance(example.gold, dict) else {}
    tags = gold.get("tags", gold.get("slots"))
    if tags is None:
        raise UsageError("Only texts with a tag for each token can be written as CoNLL. Write JSON lines instead.")
    intent = f"# intent = {gold['intent']}\n" if "intent" in gold else ""
    lines = (f"{token}\t{tag}\n" for token, tag in zip(example.inputs["text"].split(" "), tags, strict=True))
    return f"{intent}{''.join(lines)}\n"


def looks_like_conll(path: Path) -> bool:
    """Do the first lines have a token and a tag each, and an empty line between sentences?"""
    if not path.is_file():
        return False
    with open_bytes(path) as file:
        start = file.read(1 << 14)
    text = start.decode("utf-8", "ignore").removeprefix("\ufeff").replace("\r\n", "\n").strip("\n")
    lines = text.split("\n")[: -1 if len(start) == 1 << 14 else None]
    tokens = [line for line in lines if line.strip() and not line.startswith(("#", _DOCUMENT))]
    rows = [_split_columns(line, "\t" in line) for line in tokens]
    widths = Counter(map(len, rows))
    if len(rows) < 2 or len(widths) != 1 or next(iter(widths)) < 2 or not any(not line.strip() for line in lines):
        return False
    columns = [[row[at] for row in rows] for at in range(1, len(rows[0]))]
    return any(all(map(is_bio_tag, tags)) and any("-" in tag for tag in tags) for tags in columns)


def _split_columns(line: str, tabs: bool) -> list[str]:
    return [cell.strip() for cell in line.split("\t")] if tabs else line.split()


def _guess_layout(head: Sequence[tuple[int, str]], options: ReadOptions, path: Path) -> _Layout:
    lines = [line for _, line in head if line.strip() and not line.startswith(("#", _DOCUMENT))]
    if not lines:
        return _Layout(2, 0, 1, False, False)
    tabs = "\t" in lines[0]
    rows = [_split_columns(line, tabs) for line in lines]
    width = len(rows[0])
    same = [row for row in rows if len(row) == width]
    numbered = width > 1 and all(_NUMBER.fullmatch(row[0]) for row in same) and same[0][0] in ("1", "0", "1-2")
    named = next((found[1].split() for _, line in head if (found := _COLUMNS.match(line))), [])
    names = {name.upper(): at for at, name in enumerate(named or (_U_COLUMNS if numbered and width == 10 else ()))}
    word = names.get("FORM", int(numbered))
    if len(options.input) > 1:
        raise UsageError(f"{path}: the words are in one column. Name one with {option('input')}.")
    if options.input:
        word = _chosen_column(options.input[0], names, width, option("input"), path)
    if word >= width:
        raise DataError(f"the words should be in column {word + 1}, but there are {width}.", path, head[0][0])
    if options.gold:
        tag = _chosen_column(options.gold, names, width, option("gold"), path)
        return _Layout(width, word, tag, numbered, tabs)
    # The tags are in the column that holds some in every row; chunks count only where there is nothing else.
    others = [at for at in range(width) if at != word and not (numbered and at == 0)]
    fitting = [at for at in others if all(is_bio_tag(row[at]) for row in same)]
    types = {at: {row[at].partition("-")[2] for row in same if row[at] != "O"} for at in fitting}
    sure = [at for at in fitting if not types[at] or not types[at] <= _CHUNKS] or fitting
    several = [at for at in sure if types[at]] or sure
    if len(several) > 1:
        shown = "; ".join(f"{at + 1} ({', '.join(sorted(types[at])[:4]) or 'only O'})" for at in several)
        raise DataError(f"several columns hold tags: {shown}. Choose one with {option('gold')}, by its number.", path)
    if several and len(others) > 1:
        taken = f"the tags are in column {several[0] + 1} and the words in column {word + 1}"
        how = f"To choose others: {option('gold')} and {option('input')}, with a column's number."
        print(f"unswayed: {path}: {taken}. {how}", file=sys.stderr)
    # Else most rows decide, so that a wrong row is reported by its line and not as a file without tags.
    counts = {at: sum(is_bio_tag(row[at]) for row in same) for at in several or others}
    best = max(counts, key=lambda at: (counts[at], at), default=None)
    if best is None or 2 * counts[best] <= len(same):
        what = f"no column holds tags such as O and B-PER. Choose it with {option('gold')}, as a column's number."
        raise DataError(what, path)
    return _Layout(width, word, best, numbered, tabs)


def _chosen_column(chosen: str, names: dict[str, int], width: int, by: str, path: Path) -> int:
    if chosen.upper() in names:
        return names[chosen.upper()]
    if chosen.isdecimal() and 1 <= int(chosen) <= width:
        return int(chosen) - 1
    has = f" or one of {', '.join(names)}" if names else ""
    raise UsageError(f"{path}: {by} must be a column from 1 to {width}{has}, not {chosen!r}.")

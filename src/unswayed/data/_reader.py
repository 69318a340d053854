"""The reader contract: does this path look like mine, and which examples are in it? And files as text for readers,
whatever they are in: gzip is unpacked within bounds, and other encodings than UTF-8 are found and named.
"""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar, NamedTuple, cast

from unswayed.base.errors import DataError, StoredFileError, UnknownName, option
from unswayed.base.language import UNSURE, identifier_installed, identify
from unswayed.base.options import ReadOptions
from unswayed.base.progress import notices
from unswayed.base.registry import Registry
from unswayed.base.values import Example, Variant
from unswayed.storage.untrusted_files import MOST_LINE, bounded_lines, open_regular

if TYPE_CHECKING:
    from charset_normalizer import CharsetMatch

Record = Mapping[str, Any]
_BLOCK_EXAMPLES = 200  # as many as are looked at to guess the task, so that no more are read for it
_PACKED = ".gz"
MAX_UNPACKED_RATIO, UNPACKED_BYTES = 200, 64 << 20  # what grows more when unpacked, and beyond this size, is no text
_SAMPLE_BYTES = 1 << 20  # bytes, to find an encoding
_BYTES_AT_ONCE, _LINES_AT_ONCE = 1 << 16, 512
_CODEC_NAMES = {  # codecs that are looked for → what people call them
    "utf_16": "UTF-16", "utf_16_le": "UTF-16LE", "utf_16_be": "UTF-16BE", "utf_32": "UTF-32", "gb18030": "GB18030",
    "big5": "Big5", "cp932": "Shift_JIS", "euc_jis_2004": "EUC-JP", "cp949": "EUC-KR", "cp874": "Windows-874",
    "koi8_r": "KOI8-R", **{f"cp125{n}": f"Windows-125{n}" for n in range(9)},
}  # fmt: skip
_LANGUAGES = {  # that are written in an encoding; all others in Windows-1252
    "cp1250": "pl cs sk hu sl hr bs ro sq", "cp1251": "ru uk be bg sr mk kk ky tg mn tt", "cp1253": "el",
    "cp1254": "tr az ku", "cp1255": "he yi", "cp1256": "ar fa ur ckb ug", "cp1257": "lt lv et", "cp1258": "vi",
    "cp874": "th", "koi8_r": "ru uk bg", "gb18030": "zh", "big5": "zh", "cp932": "ja", "euc_jis_2004": "ja",
    "cp949": "ko",
}  # fmt: skip
_ELSEWHERE = frozenset(" ".join(_LANGUAGES.values()).split())
_COMMON_LEADS = {"gb18030": (0xA1, 0xD7), "big5": (0xA1, 0xC6)}  # first bytes of marks and of the common characters
_BYTE_ORDER_MARKS = {
    codecs.BOM_UTF32_LE: "utf_32", codecs.BOM_UTF32_BE: "utf_32", codecs.BOM_UTF16_LE: "utf_16",
    codecs.BOM_UTF16_BE: "utf_16",
}  # fmt: skip
_NEAR_DISORDER, _WIDER_DISORDER, _CLEAR_LEAD = 0.03, 0.15, 0.2  # in disorder, and in likeness to a language
_COMMON_SHARE = 0.95


class Problem(Exception):
    """What is wrong with a record, without its place."""


class ReadBlock(NamedTuple):
    """Examples that were read together, and where each stands."""

    examples: list[Example]
    files: list[Path]
    lines: list[int]

    def placed(self) -> Iterator[tuple[Example, Path, int]]:
        return zip(self.examples, self.files, self.lines, strict=True)


class Reader:
    """Extend, and put in `data/NAME.py` or behind the entry point `unswayed.readers`. One is made for each reading.

    Example: `class Toml(Reader)` with `suffixes = (".toml",)` and a method `read(self, path, options)`.

    Before it yields an example, `read` sets `file` and `line` to where the example stands, so that whatever is
    found wrong with it later can be said with its place. Examples without an id of their own get `id=""`.
    """

    suffixes: ClassVar[tuple[str, ...]] = ()  # in lower case, with the dot
    people: ClassVar[str] = ""  # what of a variant names the person who made it, if any: draw, source or note
    fallback: ClassVar[bool] = False  # True: read by this one only where no other reader knows the path
    has_fields: ClassVar[bool] = True  # False: there are no named fields to choose from
    task: ClassVar[str] = ""  # of all that it reads, where that is always the same
    language: str = ""  # of all that it reads, where the format says so, at the latest once reading began

    file: Path
    line: int = 0  # 1-based, as editors count
    fields: Any = None  # of a reader of records with named fields: the Fields that makes its examples, once begun
    equivalent: str = ""  # when an answer is the same as the gold, where the data says so, once reading began

    def accepts(self, path: Path) -> bool:
        """Does the path look like this format? Only the name, and the start of what is there, are looked at."""
        return path.is_file() and suffix_of(path) in self.suffixes

    def read(self, path: Path, options: ReadOptions) -> Iterator[Example]:
        """The examples as they stand, in order, without holding all of them. `row` counts them from 0."""
        raise NotImplementedError

    def blocks(self, path: Path, options: ReadOptions) -> Iterator[ReadBlock]:
        """What `read` gives, some at a time. Extend together with `read` where that is quicker.

        What is wrong with a row is raised once the rows before it were given.
        """
        return self._gathered(self.read(path, options))

    def _gathered(self, examples: Iterator[Example]) -> Iterator[ReadBlock]:
        while True:
            block = ReadBlock([], [], [])
            try:
                for example in islice(examples, _BLOCK_EXAMPLES):
                    block.examples.append(example)
                    block.files.append(self.file)
                    block.lines.append(self.line)
            except Exception:
                yield block
                raise
            if not block.examples:
                return
            yield block

    def variants(self, path: Path, options: ReadOptions) -> Iterator[Variant]:
        """The examples said another way, where the data has that, in the order of the examples and with their ids."""
        return iter(())


readers: Registry[Reader] = Registry("reader", Reader, "unswayed.data")


@contextmanager
def as_data_errors(path: Path) -> Iterator[None]:
    """Errors of a file as those of the user's data, with the path said once."""
    try:
        yield
    except StoredFileError as error:
        raise DataError(str(error).removeprefix(f"{path}: "), path) from error


def suffix_of(path: Path) -> str:
    """The suffix in lower case, without that of a packed file: `.jsonl` of `a.jsonl.gz`."""
    return Path(path.stem if path.suffix.lower() == _PACKED else path.name).suffix.lower()


def open_bytes(path: Path) -> BinaryIO:
    """The open file, unpacked; a `DataError` if it can't be opened, or is a pipe or a device, which may never end."""
    try:
        with as_data_errors(path):
            file = open_regular(path)
    except OSError as error:
        raise DataError(f"the file can't be read ({error.strerror}).", path) from error
    if path.suffix.lower() != _PACKED:
        return file
    return cast(BinaryIO, io.BufferedReader(_Unpacked(file, path)))


class _Unpacked(io.RawIOBase):
    """A gzip file's content. What is damaged, or grows out of all proportion, is a DataError."""

    def __init__(self, packed: BinaryIO, path: Path) -> None:
        self._packed, self._path, self._given = packed, path, 0
        self._most = max(UNPACKED_BYTES, MAX_UNPACKED_RATIO * path.stat().st_size)
        self._file = gzip.GzipFile(fileobj=packed)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer)  # type: ignore[arg-type]
        try:
            data = self._file.read(len(view))
        except (EOFError, OSError, zlib.error) as error:
            raise DataError(f"the gzip file is damaged or cut off ({error}).", self._path) from error
        self._given += len(data)
        if self._given > self._most:
            what = f"unpacked, the file is more than {MAX_UNPACKED_RATIO} times as large, as no text is."
            raise DataError(f"{what} Unpack it yourself.", self._path)
        view[: len(data)] = data
        return len(data)

    def close(self) -> None:
        if not self.closed:
            self._file.close()
            self._packed.close()
        super().close()


def read_lines(path: Path, encoding: str | None = None) -> Iterator[str]:
    """Each line with its line break. Only `\\n` ends a line: texts may hold other separators, such as U+2028.

    What is not UTF-8 is decoded from `encoding`, or from the one that is found.
    """
    return chain.from_iterable(read_line_blocks(path, encoding))


def read_line_blocks(path: Path, encoding: str | None = None) -> Iterator[list[str]]:
    """The same lines, some at a time, which is quicker."""
    if encoding:
        called = {name.casefold(): codec for codec, name in _CODEC_NAMES.items()}
        try:
            codec = called.get(encoding.casefold()) or codecs.lookup(encoding).name.replace("-", "_")
        except (LookupError, ValueError):
            raise UnknownName("encoding", encoding, ["UTF-8", *_CODEC_NAMES.values()]) from None
    else:  # that of a file of 16 or 32 bits a character is told by its mark or its zeros
        with open_bytes(path) as file:
            start = file.read(1 << 12)
        codec = next((codec for mark, codec in _BYTE_ORDER_MARKS.items() if start.startswith(mark)), "")
        if not codec and start.count(0) * 4 > len(start):
            codec = "utf_16_be" if start[::2].count(0) > start[1::2].count(0) else "utf_16_le"
        if codec:
            _report_codec(path, path.stat().st_mtime_ns, codec)
    utf8 = codec in ("", "utf_8", "utf_8_sig")
    return _utf8_blocks(path) if utf8 else _line_blocks(_decoded_lines(path, codec))


def _utf8_lines(path: Path) -> Iterator[str]:
    plain, offset = True, 0
    with open_bytes(path) as file, as_data_errors(path):
        for number, line in enumerate(bounded_lines(file, path), 1):
            if number == 1 and line.startswith(codecs.BOM_UTF8):
                plain, offset, line = False, len(codecs.BOM_UTF8), line[len(codecs.BOM_UTF8) :]
                if not line:
                    return
            try:
                yield line.decode("utf-8")
            except UnicodeDecodeError as error:
                at = error.start
                place = f"byte {at + 1} of this row (byte {offset + at + 1} of the file)"
                where = f"{place}, 0x{line[at]:02x}, is not UTF-8"
                if not plain:  # texts in UTF-8 came before, so this is damage
                    raise DataError(f"{where}, but the rows before are. Fix this row.", path, number) from error
                codec = _detect_codec(path, path.stat().st_mtime_ns, where, number)
                break
            plain = plain and line.isascii()
            offset += len(line)
        else:
            return
    # Those before are ASCII, and the same in both encodings.
    yield from islice(_decoded_lines(path, codec), number - 1, None)


def _utf8_blocks(path: Path) -> Iterator[list[str]]:
    given = 0
    begun: list[bytes] = []  # of a line whose end was not read yet
    with open_bytes(path) as file:
        while len(begun) * _BYTES_AT_ONCE <= MOST_LINE:
            part = file.read(_BYTES_AT_ONCE)
            end = part.rfind(b"\n") + 1
            if part and not end:
                begun.append(part)
                continue
            coded = b"".join((*begun, part[:end]))
            try:
                lines = (coded if given else coded.removeprefix(codecs.BOM_UTF8)).decode("utf-8").split("\n")
            except UnicodeDecodeError:
                break
            last = lines.pop()
            block = [f"{line}\n" for line in lines] + ([last] if last else [])
            yield block
            if not part:
                return
            given, begun = given + len(block), [part[end:]]
    yield from _line_blocks(islice(_utf8_lines(path), given, None))  # says what is wrong, or finds another encoding


def _line_blocks(lines: Iterator[str]) -> Iterator[list[str]]:
    while True:
        block: list[str] = []
        try:
            block.extend(islice(lines, _LINES_AT_ONCE))
        except DataError:
            yield block  # the lines before the one that is wrong
            raise
        if not block:
            return
        yield block


def _decoded_lines(path: Path, codec: str) -> Iterator[str]:
    number = 0
    with open_bytes(path) as file, io.TextIOWrapper(file, encoding=codec, newline="\n") as lines:
        try:
            for line in lines:
                number += 1
                yield line.removeprefix("\ufeff") if number == 1 else line
        except UnicodeError as error:
            name = _CODEC_NAMES.get(codec, codec)
            what = f"this row is not in {name}. Choose another encoding with {option('encoding')}."
            raise DataError(what, path, number + 1) from error


@lru_cache(maxsize=256)
def _report_codec(path: Path, changed: int, codec: str) -> str:
    """Names the encoding on standard error, once for a file."""
    how = f"If that is wrong, use {option('encoding')}."
    print(f"unswayed: {path}: read as {_CODEC_NAMES[codec]}, not UTF-8. {how}", file=notices())
    return codec


@lru_cache(maxsize=256)
def _detect_codec(path: Path, changed: int, where: str, row: int) -> str:
    """The codec of a file that is not UTF-8; raises where several fit about as well as the best of them."""
    from charset_normalizer import from_bytes

    with open_bytes(path) as file:
        sample = file.read(_SAMPLE_BYTES)
    if len(sample) == _SAMPLE_BYTES:
        sample = sample[: sample.rfind(b"\n") + 1] or sample
    ranked = sorted(from_bytes(sample, cp_isolation=list(_CODEC_NAMES)), key=lambda m: (m.chaos, -m.coherence))
    near = _similar_codecs(ranked, _NEAR_DISORDER)
    languages = {codec: _language_likeness(codec, str(match)) for codec, match in near.items()}
    if identifier_installed() and near and max(languages.values()) < _CLEAR_LEAD:
        near = _similar_codecs(ranked, _WIDER_DISORDER)
    common = []  # codecs in which nearly all characters are common ones; bytes of other encodings give mostly rare ones
    for codec in _COMMON_LEADS.keys() & near.keys():
        first, last = _COMMON_LEADS[codec]
        leads = [letter.encode(codec)[0] for letter in str(near[codec]) if not letter.isascii()]
        if sum(first <= lead <= last for lead in leads) >= _COMMON_SHARE * len(leads) > 0:
            common.append(codec)
    likely = [codec for codec in near if codec in common or not common or codec in ("cp932", "euc_jis_2004", "cp949")]
    for likeness in (_language_likeness, lambda codec, text: near[codec].coherence):
        scores = sorted(((likeness(codec, str(near[codec])), codec) for codec in likely), reverse=True)
        if len(likely) > 1 and scores[0][0] >= scores[1][0] + _CLEAR_LEAD:
            likely = [scores[0][1]]
    if len(likely) == 1:
        return _report_codec(path, changed, likely[0])
    names = ", ".join(_CODEC_NAMES[codec] for codec in likely[:5])
    if names:
        may = f"The file may be {names}: choose with {option('encoding')}."
    else:
        may = f"No known encoding fits: fix the row, or name the encoding with {option('encoding')}."
    raise DataError(f"{where}. {may}", path, row)


def _similar_codecs(ranked: Sequence[CharsetMatch], most: float) -> dict[str, CharsetMatch]:
    """Those that give hardly more disorder than the best, by the most usual of the codecs that give the same text."""
    usual = ("cp1252", "gb18030", "cp932", *_CODEC_NAMES)
    found = {}
    for match in ranked:
        if match.chaos <= ranked[0].chaos + most:
            same = match.could_be_from_charset
            found[next((codec for codec in usual if codec in same), same[0])] = match
    return found


def _language_likeness(codec: str, text: str) -> float:
    """How likely the text is to be in a language that is written in this encoding."""
    if not identifier_installed():
        return 0.0
    language, shares = identify(text.splitlines(), rows=False)
    if language == UNSURE:
        return 0.0
    written = _LANGUAGES.get(codec, "").split()
    return sum(share for tag, share in shares.items() if (tag in written if written else tag not in _ELSEWHERE))


def without_break(line: str) -> str:
    """The line without its `\\n` or `\\r\\n`."""
    return line[:-2] if line.endswith("\r\n") else line.removesuffix("\n")

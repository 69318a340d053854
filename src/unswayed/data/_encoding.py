"""Files as text, whatever they are in: gzip is unpacked within bounds, and other encodings are found and named."""

from __future__ import annotations

import codecs
import gzip
import io
import sys
import zlib
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from unswayed.base.errors import DataError, StoredFileError, UnknownName, option
from unswayed.base.language import UNSURE, identifier_installed, identify
from unswayed.storage.untrusted_files import MOST_LINE, bounded_lines, open_regular

if TYPE_CHECKING:
    from charset_normalizer import CharsetMatch

PACKED = ".gz"
_SAMPLE_BYTES = 1 << 20  # bytes, to find an encoding
_BYTES_AT_ONCE, _LINES_AT_ONCE = 1 << 16, 512
_MAX_UNPACKED_RATIO, _UNPACKED_BYTES = 200, 64 << 20  # a text that grows more, and beyond this size, is no text
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


def as_data_error(error: StoredFileError, path: Path) -> DataError:
    """The error of a file of ours as one of the user's data, with the path said once."""
    return DataError(str(error).removeprefix(f"{path}: "), path)


def suffix_of(path: Path) -> str:
    """The suffix in lower case, without that of a packed file: `.jsonl` of `a.jsonl.gz`."""
    return Path(path.stem if path.suffix.lower() == PACKED else path.name).suffix.lower()


def open_bytes(path: Path) -> BinaryIO:
    """The open file, unpacked; a `DataError` if it can't be opened, or is a pipe or a device, which may never end."""
    try:
        file = open_regular(path)
    except OSError as error:
        raise DataError(f"the file can't be read ({error.strerror}).", path) from error
    except StoredFileError as error:
        raise as_data_error(error, path) from error
    if path.suffix.lower() != PACKED:
        return file
    return cast(BinaryIO, io.BufferedReader(_Unpacked(file, path)))


class _Unpacked(io.RawIOBase):
    """A gzip file's content. What is damaged, or grows out of all proportion, is a DataError."""

    def __init__(self, packed: BinaryIO, path: Path) -> None:
        self._packed, self._path, self._given = packed, path, 0
        self._most = max(_UNPACKED_BYTES, _MAX_UNPACKED_RATIO * path.stat().st_size)
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
            raise DataError(
                f"unpacked, the file is more than {_MAX_UNPACKED_RATIO} times as large, as no text is. Unpack it "
                f"yourself.",
                self._path,
            )
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
    codec = codec_of(encoding) if encoding else _wide_codec(path)
    return _utf8_lines(path) if codec in ("", "utf_8", "utf_8_sig") else _decoded_lines(path, codec)


def read_line_blocks(path: Path, encoding: str | None = None) -> Iterator[list[str]]:
    """The same lines, some at a time, which is quicker."""
    codec = codec_of(encoding) if encoding else _wide_codec(path)
    if codec in ("", "utf_8", "utf_8_sig"):
        return _utf8_blocks(path)
    return _block_lines(_decoded_lines(path, codec))


def read_text(path: Path, encoding: str | None = None) -> str:
    """All of a file."""
    return "".join(read_lines(path, encoding))


def codec_of(encoding: str) -> str:
    """Python's name of an encoding that the user named."""
    called = {name.casefold(): codec for codec, name in _CODEC_NAMES.items()}
    try:
        return called.get(encoding.casefold()) or codecs.lookup(encoding).name.replace("-", "_")
    except (LookupError, ValueError):
        raise UnknownName("encoding", encoding, ["UTF-8", *_CODEC_NAMES.values()]) from None


def _utf8_lines(path: Path) -> Iterator[str]:
    plain, offset = True, 0
    with open_bytes(path) as file:
        try:
            for number, line in enumerate(bounded_lines(file, path), 1):
                size = len(line)
                if number == 1 and line.startswith(codecs.BOM_UTF8):
                    plain, offset, line = False, len(codecs.BOM_UTF8), line[len(codecs.BOM_UTF8) :]
                    size -= offset
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
                offset += size
            else:
                return
        except StoredFileError as error:
            raise as_data_error(error, path) from error
    # Those before are ASCII, and the same in both encodings.
    yield from islice(_decoded_lines(path, codec), number - 1, None)


def _utf8_blocks(path: Path) -> Iterator[list[str]]:
    given = 0
    with open_bytes(path) as file:
        try:
            for coded in _line_parts(file):
                lines = (coded if given else coded.removeprefix(codecs.BOM_UTF8)).decode("utf-8").split("\n")
                last = lines.pop()
                block = [f"{line}\n" for line in lines] + ([last] if last else [])
                yield block
                given += len(block)
            return
        except (UnicodeDecodeError, _LineTooLong):
            pass
    yield from _block_lines(islice(_utf8_lines(path), given, None))  # says what is wrong, or finds another encoding


class _LineTooLong(Exception):
    """A line is."""


def _line_parts(file: BinaryIO) -> Iterator[bytes]:
    """The content of a file in parts that end where a line does."""
    begun: list[bytes] = []  # of a line whose end was not read yet
    while part := file.read(_BYTES_AT_ONCE):
        end = part.rfind(b"\n") + 1
        if end:
            yield b"".join((*begun, part[:end]))
            begun = []
        begun.append(part[end:])
        if len(begun) * _BYTES_AT_ONCE > MOST_LINE:
            raise _LineTooLong
    yield b"".join(begun)


def _block_lines(lines: Iterator[str]) -> Iterator[list[str]]:
    return iter(lambda: list(islice(lines, _LINES_AT_ONCE)), [])


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


def _wide_codec(path: Path) -> str:
    """The codec of a file of 16 or 32 bits a character, by its mark or its zeros; else nothing."""
    with open_bytes(path) as file:
        start = file.read(1 << 12)
    marked = next((codec for mark, codec in _BYTE_ORDER_MARKS.items() if start.startswith(mark)), "")
    if not marked and start.count(0) * 4 > len(start):
        marked = "utf_16_be" if start[::2].count(0) > start[1::2].count(0) else "utf_16_le"
    return _report_codec(path, path.stat().st_mtime_ns, marked) if marked else ""


@lru_cache(maxsize=256)
def _report_codec(path: Path, changed: int, codec: str) -> str:
    """Names the encoding on standard error, once for a file."""
    print(f"unswayed: {path}: read as {_CODEC_NAMES[codec]}, not UTF-8. If that is wrong, use {option('encoding')}.",
          file=sys.stderr)  # fmt: skip
    return codec


@lru_cache(maxsize=256)
def _detect_codec(path: Path, changed: int, where: str, row: int) -> str:
    """The codec of a file that is not UTF-8; raises where several fit."""
    with open_bytes(path) as file:
        sample = file.read(_SAMPLE_BYTES)
    if len(sample) == _SAMPLE_BYTES:
        sample = sample[: sample.rfind(b"\n") + 1] or sample
    candidates = _likely_codecs(sample)
    if len(candidates) == 1:
        return _report_codec(path, changed, candidates[0])
    names = ", ".join(_CODEC_NAMES[codec] for codec in candidates[:5])
    if names:
        may = f"The file may be {names}: choose with {option('encoding')}."
    else:
        may = f"No known encoding fits: fix the row, or name the encoding with {option('encoding')}."
    raise DataError(f"{where}. {may}", path, row)


def _likely_codecs(sample: bytes) -> list[str]:
    """The codecs that fit a sample about as well as the best of them: one, if it is clear."""
    from charset_normalizer import from_bytes

    ranked = sorted(from_bytes(sample, cp_isolation=list(_CODEC_NAMES)), key=lambda m: (m.chaos, -m.coherence))
    near = _similar_codecs(ranked, _NEAR_DISORDER)
    if (
        identifier_installed()
        and near
        and max(_language_likeness(codec, str(m)) for codec, m in near.items()) < _CLEAR_LEAD
    ):
        near = _similar_codecs(ranked, _WIDER_DISORDER)
    common = []  # codecs in which nearly all characters are common ones; bytes of other encodings give mostly rare ones
    for codec in _COMMON_LEADS.keys() & near.keys():
        first, last = _COMMON_LEADS[codec]
        leads = [letter.encode(codec)[0] for letter in str(near[codec]) if not letter.isascii()]
        if sum(first <= lead <= last for lead in leads) >= _COMMON_SHARE * len(leads) > 0:
            common.append(codec)
    names = [codec for codec in near if codec in common or not common or codec in ("cp932", "euc_jis_2004", "cp949")]
    for likeness in (_language_likeness, lambda codec, text: near[codec].coherence):
        scores = sorted(((likeness(codec, str(near[codec])), codec) for codec in names), reverse=True)
        if len(names) > 1 and scores[0][0] >= scores[1][0] + _CLEAR_LEAD:
            return [scores[0][1]]
    return names


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

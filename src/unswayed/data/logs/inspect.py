"""What Inspect AI writes: .eval, an archive compressed with deflate or zstd, or JSON. Both are read directly."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Collection, Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO
from zipfile import ZipFile

import msgspec

from unswayed.base.errors import DataError
from unswayed.base.ids import decode
from unswayed.base.values import Json
from unswayed.data.logs import MOST_LOG_BYTES, LogEntry, LogReader, beginning, decode_constants, fields_of, text_of
from unswayed.storage.untrusted_files import open_regular, read_bounded
from unswayed.systems.system import Failed

_DEFLATE, _ZSTD = 8, 93
_ENTRY = struct.Struct("<10xHxxxxIIIHHH8xI")  # of the directory: what is needed of its 46 bytes
_FULL_16, _FULL_32 = 0xFFFF, 0xFFFFFFFF
_WORDS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0, "yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
_ATTACHMENT = "attachment://"


class _Score(msgspec.Struct, frozen=True):
    value: Json = None
    answer: str | None = None


class _Summary(msgspec.Struct):
    """A sample without its transcript; of long texts it has the beginning."""

    id: int | str
    epoch: int = 1
    input: msgspec.Raw = msgspec.Raw(b'""')
    target: Json = None
    scores: dict[str, _Score] | None = None
    error: Json = None
    metadata: msgspec.Raw = msgspec.Raw(b"{}")


class _Message(msgspec.Struct, frozen=True):
    content: Json = ""


class _OutputChoice(msgspec.Struct, frozen=True):
    message: _Message = _Message()


class _Output(msgspec.Struct, frozen=True):
    choices: list[_OutputChoice] = []
    completion: Json = None
    error: str | None = None


class _Sample(_Summary):
    output: _Output = _Output()
    attachments: dict[str, str] = {}


class _Header(msgspec.Struct):
    eval: dict[str, Json]
    samples: list[_Sample] | None = None


class InspectLog(LogReader):
    """Samples of any task; epochs are repeats. Those that `unswayed export` wrote have its labels as answers.

    Samples are grouped by the `cluster` of the task's own standard error, unless another field is named.
    """

    patterns = ("*.eval",)
    suffixes = (".eval", ".json")

    def recognises(self, file: Path) -> bool:
        head = beginning(file)
        return head.startswith(b"{") and b'"eval"' in head and b'"status"' in head

    def entries(
        self, file: Path, texts: bool = True, rows: Collection[int] | None = None, cluster: str | None = None
    ) -> Iterator[LogEntry]:
        begun = False
        try:
            if file.suffix == ".eval":
                with open_regular(file) as opened:
                    header, samples = _of_archive(_Archive(opened), texts, rows)
                    for entry in self._entries(header, samples, texts, cluster):
                        begun = True
                        yield entry
            else:
                whole = decode_constants(read_bounded(file, MOST_LOG_BYTES), _Header)
                kept = (sample for at, sample in enumerate(whole.samples or ()) if rows is None or at in rows)
                yield from self._entries(whole.eval, kept, True, cluster)
        except (msgspec.MsgspecError, OSError, LookupError, TypeError, ValueError, struct.error, zlib.error) as error:
            whole_form = not begun and not isinstance(error, _TooLarge)
            read = _read_by_inspect(file) if whole_form else None  # a form that is newer than this reader
            if read is None:
                what = f"this is not a whole log of Inspect AI ({type(error).__name__}: {error})."
                raise DataError(what, file) from error
            kept = (sample for at, sample in enumerate(read.samples or ()) if rows is None or at in rows)
            yield from self._entries(read.eval, kept, True, cluster)

    def _entries(
        self, header: dict[str, Any], samples: Iterator[_Summary], texts: bool, cluster: str | None
    ) -> Iterator[LogEntry]:
        words = (header.get("metadata") or {}).get("words") or {}
        labels = {word: label for label, word in words.items()}
        task, system = str(header.get("task", "")), str(header.get("model", ""))
        self.cluster = _cluster_of([header.get("scorers"), header.get("metrics")]) or ""
        field = cluster or self.cluster
        numbers: dict[tuple[str, str], float] = {}  # of the few values that most scores have
        for sample in samples:
            scores: dict[str, float] = {}
            for name, score in (sample.scores or {}).items():
                value = score.value
                if isinstance(value, str):
                    self.higher_is_better.add(name)
                    if (name, value) not in numbers:
                        numbers[name, value] = _number(value)
                    scores[name] = numbers[name, value]
                elif isinstance(value, dict):
                    scores |= {f"{name}/{key}": _number(part) for key, part in value.items()}
                elif isinstance(value, list):
                    scores |= {f"{name}/{key}": _number(part) for key, part in enumerate(value)}
                else:
                    scores[name] = _number(value)
            if sample.error:
                scores = {}
            output: Json | Failed = None
            inputs, text, within = {}, "", None
            metadata: dict[str, Any] = decode(sample.metadata) if texts or field else {}
            if field:
                within = str(metadata.get(field))
            if texts:
                output, text = self._answer(sample, labels, own := isinstance(metadata.get("inputs"), str))
                inputs = decode(metadata["inputs"], dict[str, str]) if own else fields_of(metadata) | {"input": text}
                text = next(iter(inputs.values())) if own and len(inputs) == 1 else text
            content = str(hash(bytes(sample.input)))
            gold = sample.target[0] if isinstance(sample.target, list) and len(sample.target) == 1 else sample.target
            yield LogEntry(str(sample.id), content, scores, output, inputs, text, gold, task, system, within)

    def _answer(self, sample: _Summary, labels: dict[str, str], own: bool) -> tuple[Json | Failed, str]:
        """What was said, and what was asked: as texts, with what the log keeps elsewhere in its place."""
        attachments = sample.attachments if isinstance(sample, _Sample) else {}

        def placed(value: Json) -> str:
            text = text_of(value)
            return attachments.get(text.removeprefix(_ATTACHMENT), text) if text.startswith(_ATTACHMENT) else text

        asked = decode(sample.input)
        asked = "\n".join(placed(part.get("content")) for part in asked) if isinstance(asked, list) else placed(asked)
        answer = next((score.answer for score in (sample.scores or {}).values()), None)
        if sample.error:
            why = sample.error if isinstance(sample.error, str) else sample.error.get("message")
            return Failed(str(why)[:2000], final=True), asked
        said = ""
        if isinstance(sample, _Sample):
            first = sample.output.choices[0].message.content if sample.output.choices else ""
            said = placed(sample.output.completion or first)
        if own:
            none = Failed(f"the answer {said!r:.200} is no label", final=True)
            return (none if answer is None else labels.get(answer, answer)), asked
        return said or answer or "", asked


class _TooLarge(ValueError):
    """It would take more memory than a log may."""


def _read_by_inspect(file: Path) -> _Header | None:
    """A log as Inspect itself reads it; None if it is not installed, can't read it either, or would take too much."""
    try:
        from inspect_ai.log import read_eval_log

        if file.suffix == ".eval":
            with ZipFile(file) as archive:
                if sum(entry.file_size for entry in archive.infolist()) > MOST_LOG_BYTES:
                    return None
        return decode(msgspec.json.encode(read_eval_log(str(file)).model_dump(mode="json")), _Header)
    except Exception:  # whatever a damaged log makes it raise
        return None


def _number(value: Json) -> float:
    """As Inspect counts it, but that what is no score is not a number, rather than 0."""
    if isinstance(value, str):
        if (found := _WORDS.get(value, _WORDS.get(value.lower()) if len(value) > 1 else None)) is not None:
            return found
        with suppress(ValueError):
            return float(value)
        return float("nan")
    return float(value) if isinstance(value, bool | int | float) else float("nan")


def _cluster_of(scorers: Json) -> str | None:
    """The field by which the task's own standard errors are clustered."""
    if isinstance(scorers, dict):
        if isinstance(found := scorers.get("cluster"), str):
            return found
        scorers = list(scorers.values())
    if isinstance(scorers, list):
        return next((found for part in scorers if (found := _cluster_of(part)) is not None), None)
    return None


class _Archive:
    """The members of a zip file by name. It reads the directory five times faster than `zipfile`, and knows zstd."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        size = file.seek(0, 2)
        file.seek(max(0, size - (1 << 16) - 22))
        tail = file.read()
        end = tail.rfind(b"PK\x05\x06")
        if end < 0 or end + 22 > len(tail):
            raise ValueError("it is not a whole zip file")
        count, length, start = struct.unpack_from("<HII", tail, end + 10)
        if _FULL_32 in (length, start) or count == _FULL_16:  # zip64: the numbers are in a record of its own
            at = tail.rfind(b"PK\x06\x07", 0, end)
            if at >= 0:
                file.seek(struct.unpack_from("<Q", tail, at + 8)[0])
                count, length, start = struct.unpack_from("<QQQ", file.read(56), 32)
        file.seek(start)
        directory, at = file.read(length), 0
        self._members: dict[str, tuple[int, int, int, int, int]] = {}
        for _ in range(count):
            method, crc, packed, whole, name, extra, comment, offset = _ENTRY.unpack_from(directory, at)
            begin, at = at + 46, at + 46 + name + extra + comment
            if _FULL_32 in (packed, whole, offset):
                packed, whole, offset = _large(directory[begin + name : begin + name + extra], packed, whole, offset)
            self._members[directory[begin : begin + name].decode("utf-8")] = method, crc, packed, whole, offset

    def __contains__(self, name: str) -> bool:
        return name in self._members

    def below(self, folder: str) -> list[str]:
        """The names of members in a folder, in the order of the numbers that they are."""
        return sorted((name for name in self._members if name.startswith(folder)), key=lambda name: (len(name), name))

    def read(self, name: str) -> bytes:
        method, crc, packed, whole, offset = self._members[name]
        if whole > MOST_LOG_BYTES:
            most = f"of which {MOST_LOG_BYTES >> 20:,} are the most"
            raise _TooLarge(f"{name} would take {whole >> 20:,} MB of memory, {most}")
        self._file.seek(offset + 26)
        self._file.seek(sum(struct.unpack("<HH", self._file.read(4))), 1)
        content = self._file.read(packed)
        if method == _ZSTD:
            content = _unpacked(content, whole)
        elif method == _DEFLATE:
            content = zlib.decompressobj(-15).decompress(content, whole + 1)
        elif method:
            raise ValueError(f"{name} is compressed in a way that is not known ({method})")
        if len(content) != whole or zlib.crc32(content) != crc:
            raise ValueError(f"{name} is damaged")
        return content


def _large(extra: bytes, *numbers: int) -> Iterator[int]:
    """Sizes and offset, of which those that 32 bits don't hold are in the extra field 1."""
    at = 0
    while at + 4 <= len(extra) and extra[at : at + 2] != b"\1\0":
        at += 4 + int.from_bytes(extra[at + 2 : at + 4], "little")
    at += 4
    packed, whole, offset = numbers
    found = []
    for number in (whole, packed, offset):  # the order in which the field has them
        if number == _FULL_32:
            number, at = int.from_bytes(extra[at : at + 8], "little"), at + 8
        found.append(number)
    return iter((found[1], found[0], found[2]))


def _unpacked(packed: bytes, size: int) -> bytes:
    """What zstd packed, by what is there: Python 3.14, backports.zstd or zstandard. It may be of several frames."""
    for module in ("compression.zstd", "backports.zstd"):
        with suppress(ImportError):
            zstd = import_module(module)
            try:
                content: bytes = zstd.ZstdFile(io.BytesIO(packed)).read(size + 1)
            except (zstd.ZstdError, EOFError) as error:
                raise ValueError(f"it is damaged ({error})") from error
            return content
    try:
        import zstandard
    except ImportError:
        raise ValueError("it is compressed with zstd; install what unpacks it:  pip install zstandard") from None
    try:
        content = zstandard.ZstdDecompressor().stream_reader(io.BytesIO(packed), read_across_frames=True).read(size + 1)
    except zstandard.ZstdError as error:
        raise ValueError(f"it is damaged ({error})") from error
    return content


def _of_archive(
    archive: _Archive, texts: bool, rows: Collection[int] | None
) -> tuple[dict[str, Any], Iterator[_Summary]]:
    """What the log is of, and its samples: whole ones for texts, else their summaries."""
    begun = "header.json" if "header.json" in archive else "_journal/start.json"
    header = decode_constants(archive.read(begun), _Header).eval
    # without a list of all, the run was stopped
    parts = ["summaries.json"] if "summaries.json" in archive else archive.below("_journal/summaries/")
    summaries: list[_Summary] = []
    for part in parts:
        summaries += decode_constants(archive.read(part), list[_Summary])

    def whole() -> Iterator[_Summary]:
        for at, summary in enumerate(summaries):
            if rows is not None and at not in rows:
                continue
            name = f"samples/{summary.id}_epoch_{summary.epoch}"
            if f"{name}.json" in archive:
                yield decode_constants(archive.read(f"{name}.json"), _Sample)
            elif f"{name}/sample.json" in archive:  # in chunks: what is long stands beside it, by number
                sample = decode_constants(archive.read(f"{name}/sample.json"), _Sample)
                for part in archive.below(f"{name}/attachments/"):
                    beside = decode(archive.read(part), list[str])
                    sample.attachments |= {str(n): text for n, text in enumerate(beside, int(Path(part).stem))}
                sample.metadata = summary.metadata
                if f"{name}/metadata.json" in archive:
                    sample.metadata = msgspec.Raw(archive.read(f"{name}/metadata.json"))
                yield sample
            else:
                raise ValueError(f"it lacks the sample {summary.id} of epoch {summary.epoch}")

    return header, whole() if texts else iter(summaries)

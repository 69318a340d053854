"""What NANO learns from: rated segments, sentences of dialects, and the instances that are made of them."""

from __future__ import annotations

import importlib
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from glob import glob
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple
from urllib.parse import urlsplit

import msgspec

from unswayed.base import (
    DataError,
    Json,
    MissingExtra,
    StoredFileError,
    Stream,
    UsageError,
    decode_json,
    identifier_installed,
    identify_row,
)
from unswayed.papers.dialect.nano.config import Format
from unswayed.storage import read_batches

ANY = "any"  # the region of a tag that names a language alone: pt-any


class Instance(NamedTuple):
    """An input text and the number that it should give."""

    text: str
    target: float


class Tags:
    """The tags of a corpus, from which wrong ones are drawn. `weights` say how often each is asked for."""

    def __init__(
        self, sentences: Sequence[TaggedSentence], weights: Mapping[str, float] = MappingProxyType({})
    ) -> None:
        self.dialects = sorted({s.dialect for s in sentences if s.dialect != s.language})
        self.languages = sorted({f"{s.language}-{ANY}" for s in sentences})
        if len(self.dialects) < 2 and len(self.languages) < 2:
            raise UsageError("Acceptability needs sentences of two languages or two dialects; this corpus has one.")
        known = [*self.languages, *self.dialects]
        if unknown := next((tag for tag in weights if tag not in known), None):
            raise UsageError(f"weights in [pretrain] has {unknown!r}. The tags of this corpus are {', '.join(known)}.")
        self._weights = weights

    def instance(self, sentence: TaggedSentence, rng: Stream, dialects: float, positive: float) -> Instance:
        """The sentence with a right or a wrong tag. Where its kind has no wrong one, the other kind is taken."""
        by_dialect = rng.random() * (1 + dialects) < dialects
        drawn = rng.random()
        kinds = [(sentence.dialect, self.dialects), (f"{sentence.language}-{ANY}", self.languages)]
        if not by_dialect:
            kinds.reverse()
        if dialects == 0:
            kinds = kinds[:1]
        for right, known in kinds:
            wrong = [tag for tag in known if tag != right]
            belongs = drawn < self._belongs(right, wrong, positive)
            if right in known and (belongs or wrong):
                tag = right if belongs else rng.weighted(wrong, [self._weights.get(tag, 1.0) for tag in wrong])
                return Instance(acceptability(sentence.text, tag), float(belongs))
        right = f"{sentence.language}-{ANY}"
        return Instance(acceptability(sentence.text, right), 1.0)

    def _belongs(self, right: str, wrong: Sequence[str], positive: float) -> float:
        """The chance of the right tag: `positive`, unless the wrong ones weigh more or less."""
        yes = positive * self._weights.get(right, 1.0)
        no = (1 - positive) * (sum(self._weights.get(tag, 1.0) for tag in wrong) / len(wrong) if wrong else 1.0)
        return yes / (yes + no)


def acceptability(text: str, tag: str) -> str:
    return f"candidate: {text} language: {tag}"


def judged(rating: RatedCandidate, form: Format, tag: str | None = None) -> str:
    """The input of a rating in one of the three formats. The tag is the language's unless a dialect's is given."""
    parts = [f"candidate: {rating.candidate}"]
    if form in ("reference", "both"):
        parts.append(f"reference: {_there(rating.reference, 'reference', form)}")
    if form in ("source", "both"):
        parts.append(f"source: {_there(rating.source, 'source', form)}")
    parts.append(f"language: {tag or f'{rating.language}-{ANY}'}")
    return " ".join(parts)


def _there(text: str, what: str, form: Format) -> str:
    if not text:
        raise DataError(f"the format {form!r} needs a {what} for every candidate, and one has none.", "ratings")
    return text


# The regions of each language that a page's address may name: those of the paper's Table 7, its zh-cmn-Hans, zh-yue and
# zh-cmn-Hant taken together, and Portuguese, which the paper adds in its appendix. A German page on `.cn` is German.
REGIONS = {
    "cs": "AT CZ PL SK",
    "de": "AT BE CH CZ DE DK FR HU IT LI LU NL PL RO SI SK",
    "en": "AU BM BR BZ CA CK CU DO FK GB GI GP GT GY HN IE IN KY LR MX NF PN SH SR US VE ZA",
    "ja": "JP",
    "km": "KH LA TH VN",
    "pl": "BY CZ DE LT PL RU SK UA",
    "ps": "PK",
    "ru": "BY CN EE FI GE KG KP KZ LT LV MD MN NO PL RO RU TM UA UZ",
    "ta": "IN LK",
    "zh": "CN HK KP LA MM MN RU TW VN",
    "pt": "AO BR CV GW MO MZ PT ST TL",
}
PAPER = "paper"  # stands for Table 7 among the languages, which has no Portuguese

# Top-level domains that are no region's letters.
_REGIONS = {"uk": "GB", "ac": "SH", "su": "RU"}
_NOT_REGIONS = {"eu", "tv", "io", "ai", "co", "me", "cc", "ws", "fm", "ly"}


class TaggedSentence(NamedTuple):
    """A text with its language, such as `pt`, and its dialect, such as `pt-BR`, or the language where none is known."""

    text: str
    language: str
    dialect: str
    key: str  # what is held for dev together: a segment's id, the document's URL, or the text itself


class RatedCandidate(NamedTuple):
    """A candidate with what it is judged by, and people's score of it."""

    candidate: str
    reference: str
    source: str
    language: str
    score: float


def _table_7() -> list[str]:
    return [f"{language}-{region}" for language in REGIONS if language != "pt" for region in REGIONS[language].split()]


def shards(patterns: Sequence[str]) -> list[Path]:
    """The files that the patterns name, in order."""
    found = [Path(name) for pattern in patterns for name in sorted(glob(pattern))]
    missing = next((pattern for pattern in patterns if not glob(pattern)), None)
    if missing:
        raise DataError("there is no such file.", missing)
    return found


def records(path: Path) -> Iterator[tuple[int, dict[str, Json]]]:
    """The rows of a shard, with their numbers; only one block of them is held."""
    if path.suffix.lower() in (".parquet", ".pq"):
        yield from _parquet(path)
        return
    try:
        with path.open("rb") as lines:
            for row, line in enumerate(lines, 1):
                if not line.strip():
                    continue
                try:
                    record = decode_json(line)
                except (msgspec.MsgspecError, UnicodeDecodeError) as error:
                    raise DataError(f"this is not JSON: {error}.", path, row) from error
                if not isinstance(record, dict):
                    raise DataError("a line must be an object.", path, row)
                yield row, record
    except OSError as error:
        raise DataError(f"the file can't be read ({error.strerror}).", path) from error


def _parquet(path: Path) -> Iterator[tuple[int, dict[str, Json]]]:
    row = 0
    try:
        for names, columns in read_batches(path):
            for cells in zip(*columns.values(), strict=True):
                row += 1
                yield row, dict(zip(names, cells, strict=True))
    except StoredFileError as error:
        raise DataError(str(error).removeprefix(f"{path}: "), path) from error


def url_region(url: str) -> str | None:
    """The region that a URL's top-level domain names: `https://x.com.br/…` → `BR`."""
    try:
        host = urlsplit(url if "//" in url else f"//{url}").hostname or ""
    except ValueError:
        return None
    last = host.rsplit(".", 1)[-1]
    if len(last) != 2 or not last.isalpha() or last in _NOT_REGIONS:
        return None
    return _REGIONS.get(last, last.upper())


Identify = Callable[[str], str]
LID = "lid.176"  # fastText's identifier, which knows languages and no locales

_END = re.compile(
    r"(?<=[。！？])(?![”’」』）。！？])|(?<=[。！？][”’」』）])"  # Chinese, with a quotation that ends there
    r"|(?<=[.!?…])[\"'”’»)\]]*\s+(?=[\"'“‘«(\[¿¡]*[^\W\d_a-zà-öø-ÿ])"  # before a capital, or a script without
    r"|\s*\n\s*"
)
_SHORT = re.compile(
    r"(?:^|[\s(])(?:[^\W\d_]|[Dd]ra?s?|[Ss]ra?s?|[Pp]rof|[Mm]rs?|[Ss]t|[Nn]o|[Aa]v|[Ee]x|vs|etc|Jr|art)\.$"
)


def sentences(text: str) -> list[str]:
    """The sentences of a text: at line breaks, and after an end mark, but not after an initial or an abbreviation."""
    found: list[str] = []
    at = 0
    for end in _END.finditer(text):
        if "\n" not in end[0] and _SHORT.search(text[at : end.start()]):
            continue
        found.append(text[at : end.end()].strip())
        at = end.end()
    return [sentence for sentence in (*found, text[at:].strip()) if sentence]


def identifier(name: str) -> Identify | None:
    """The identifier `lid.176`, or the function behind `module:function`; None where `name` is a field's."""
    if name == LID:
        if not identifier_installed():
            raise MissingExtra(f'identify = "{LID}"', "lang")
        return identify_row
    if ":" not in name:
        return None
    module, _, function = name.partition(":")
    try:
        found = getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError) as error:
        raise UsageError(f"The language identifier {name!r} can't be loaded: {error}.") from error
    if not callable(found):
        raise UsageError(f"The language identifier {name!r} is not a function.")
    return found  # type: ignore[no-any-return]


class Shards:
    """Sentences of shards. `dropped` counts those left out, by reason, in the last pass."""

    def __init__(
        self,
        patterns: Sequence[str],
        languages: Sequence[str] = (),
        identify: str = "",
        agree: Sequence[str] = (),
        split: bool = True,
    ) -> None:
        self.files = shards(patterns)
        self.languages = {tag for name in languages for tag in (_table_7() if name == PAPER else [name])}
        self.agree = set(agree)
        self.split = split
        self.dropped: Counter[str] = Counter()
        self._identify = identifier(identify)
        self._field = "" if self._identify else identify

    def __iter__(self) -> Iterator[TaggedSentence]:
        self.dropped = Counter()
        for file in self.files:
            for row, record in records(file):
                whole = record.get("text")
                if not isinstance(whole, str):
                    raise DataError('"text" must be a text.', file, row)
                for text in sentences(whole) if self.split and whole.strip() else [whole]:
                    found = self._sentence(file, row, text, record)
                    if isinstance(found, TaggedSentence):
                        yield found
                    else:
                        self.dropped[found] += 1

    def _sentence(self, file: Path, row: int, text: str, record: dict[str, Json]) -> TaggedSentence | str:
        """The sentence, or why it is left out."""
        if not text.strip():
            return "empty"
        said = self._said(text, record)
        if not isinstance(said, str) or not said:
            raise DataError('a language is needed: "tag" or "language", or `identify` in [pretrain].', file, row)
        if said == "und":
            return "the language is not sure"
        language, _, region = said.partition("-")
        if self.languages and language not in {tag.partition("-")[0] for tag in self.languages}:
            return "another language"
        url = record.get("url")
        from_url = url_region(url) if isinstance(url, str) else None
        if from_url and region and language in self.agree and from_url != region:
            return "URL and language identification disagree"
        if not self._spoken(language, from_url):
            from_url = None
        region = region or from_url or str(record.get("region") or "")
        if self.languages and not {language, f"{language}-{region}"} & self.languages:
            return "another region" if region else "no region"
        key = next((str(record[name]) for name in ("id", "url") if record.get(name) is not None), text)
        return TaggedSentence(text, language, f"{language}-{region}" if region else language, key)

    def _spoken(self, language: str, region: str | None) -> bool:
        """Is the language spoken in the region that an address names? Of one that has no list, the settings say so."""
        known = REGIONS.get(language, "").split()
        return region is None or region in known or f"{language}-{region}" in self.languages

    def _said(self, text: str, record: dict[str, Json]) -> Json:
        if self._identify:
            return self._identify(text)
        return record.get(self._field) if self._field else record.get("tag") or record.get("language")


def ratings(patterns: Sequence[str]) -> list[RatedCandidate]:
    """All ratings of shards: candidate, score, language, and reference or source or both."""
    found = []
    for file in shards(patterns):
        for row, record in records(file):
            texts = [record.get(name) or "" for name in ("candidate", "reference", "source", "language")]
            score = record.get("score")
            if not all(isinstance(text, str) for text in texts) or not texts[0]:
                raise DataError('"candidate", "reference", "source" and "language" must be texts.', file, row)
            if isinstance(score, bool) or not isinstance(score, int | float) or score != score:
                raise DataError(f'"score" must be a number, not {score!r:.40}.', file, row)
            candidate, reference, source, language = texts
            found.append(RatedCandidate(candidate, reference, source, language.split("-")[0], float(score)))
    if not found:
        raise DataError("there is no rating.", patterns[0])
    return found

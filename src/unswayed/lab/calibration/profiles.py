"""The files of profiles that `unswayed calibrate` writes, fitted to files of what people typed, said and were heard.

How people repair what they say is fitted here; each other fit is a module.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from rapidfuzz.distance import OSA

from unswayed.base.edits import apply
from unswayed.base.errors import DataError, UsageError, option
from unswayed.base.seeds import Seeds
from unswayed.base.values import Estimate
from unswayed.lab.calibration import EventCounts, round_numbers
from unswayed.lab.calibration.english_listener import fit_listener
from unswayed.lab.calibration.mandarin_speaker import fit_speaker
from unswayed.lab.calibration.pinyin_typist import SITTING, fit_pinyin_typist
from unswayed.lab.calibration.typist import fit_typist
from unswayed.lab.realism import read_aligned, read_people, read_tsv
from unswayed.lab.realism.judge import FOLDS, RealismJudge, require_chinese_noise
from unswayed.vary import disfluencies as repairs
from unswayed.vary.english import tagged
from unswayed.vary.hands import Hands
from unswayed.vary.keyboard import ime
from unswayed.vary.keyboard.layouts import Layout
from unswayed.vary.people import Speakers, Typists, read_profiles
from unswayed.vary.slips import Profiles, SlipProfile, first_attempt
from unswayed.vary.words import word_ranks

ROWS: dict[str, Callable[[int], bool]] = {
    "all": lambda row: True,
    "even": lambda row: row % 2 == 0,
    "odd": lambda row: row % 2 == 1,
    "blocks": lambda row: (row // SITTING + 1) // 2 % 2 == 0,  # the first hundred, the fourth and fifth, …
    "other-blocks": lambda row: (row // SITTING + 1) // 2 % 2 == 1,
}
_DIGITS = 5
_MIN_TRANSCRIPTS = 100  # texts: fewer say little about rare words
_COLUMNS = ("person", "sentence", "typed")
_UNWRITTEN = frozenset("⌃⌦⌥⇲⇱\ufffd")  # keys after which nobody knows where the next letter goes
_MAX_LOST_KEYS = 2  # keys that a log may lack before it is left out

# Disfluencies
_RARE = 3  # openings that fewer repairs have are left out; cues have nothing but words from a list
_THROUGH = 0.85  # share of a text's words after which it was said to the end
_MAX_WRONG, _MAX_PHRASE = 16, 9  # words of a false start, and of a wrong phrase, that are told apart
_MIN_REPAIRS = 50  # that a fit needs
# Repairs that also change other words can't be counted. They have more words said again, and more articles.
_MORE_AGAIN, _MORE_ARTICLES = 1.5, 2.0


def fit_pinyin_typists(
    clean: str | None, real: Sequence[str], fields: Sequence[str], rows: str, engine: str, onto: str | None
) -> tuple[bytes, int]:
    """The file's content, and how many people it holds."""
    before, people = read_people(clean, real, fields)
    require_chinese_noise(before, people, "unswayed calibrate keyboard", "unswayed calibrate typist")
    used = [row for row in range(len(before.rows)) if ROWS[rows](row)]
    found = list(read_profiles(onto, Typists).people) if onto else []
    for person in people:
        right, typed = ([list(file.rows[row].values()) for row in used] for file in (before, person))
        found.append(fit_pinyin_typist(right, typed, ime.open_engine(engine), [row // SITTING for row in used]))
    return encode_rounded(Typists(engine, found)), len(found)


def encode_rounded(profile: Any) -> bytes:
    """A file's content, with numbers of five digits after the point."""
    return msgspec.json.encode(round_numbers(msgspec.to_builtins(profile), lambda n: round(n, _DIGITS))) + b"\n"


def fit_mandarin_speakers(clean: str, real: Sequence[str], fields: Sequence[str], rows: str) -> bytes:
    """The file's content: a profile for each file of what was heard."""
    before, people = read_people(clean, real, fields)
    require_chinese_noise(before, people, "unswayed calibrate speech", "unswayed calibrate listener")
    texts, *heard = [
        [text for row, texts in enumerate(file.rows) if ROWS[rows](row) for text in texts.values()]
        for file in (before, *people)
    ]
    return encode_rounded(Speakers([fit_speaker(texts, said) for said in heard]))


class _RepairCounts(EventCounts):
    """What was seen in texts with a repair.

    The events are repairs of phrases, words said again before them, articles that these get, and capitals; restarts
    that begin as the sentence does, and those of them that are said to the end.
    """

    def __init__(self) -> None:
        super().__init__()
        self.kinds: Counter[str] = Counter()
        self.cues: dict[str, Counter[str]] = defaultdict(Counter)
        self.commas: dict[str, Counter[str]] = defaultdict(Counter)
        self.lengths: dict[str, Counter[str]] = defaultdict(Counter)
        self.openings: dict[str, Counter[str]] = defaultdict(Counter)

    def count(self, before: str, after: str) -> None:
        """Counts the repair in what became of a text, if there is one."""
        clean, said = tagged(before), tagged(after)
        found = repairs.find_repair(clean, said)
        repair = found or repairs.rough_repair(clean, said)  # of which only the kind can be told, and how it begins
        if repair is None:
            return
        self.kinds[repair.kind] += 1
        first, last = repair.cue, repair.end
        cue = [word.lower for word in said[first:last]]
        if found or repairs.cue_in(cue) == 0:
            self.cues[repair.kind][" ".join(cue)] += 1
        if repair.kind == "restart" or (found and repair.kind == "opening"):
            wrong = said[: repair.wrong] if found else said[:first]
            self.lengths[repair.kind][str(min(len(wrong), _MAX_WRONG))] += 1
            if repair.kind == "restart":
                same = [w.lower for w in said[:2]] == [w.lower for w in clean[:2]]
                self.add("same_start", same)
                if same:
                    self.add("through", len(wrong) > _THROUGH * len(clean))
            elif repairs.only_closed(wrong):
                self.openings[clean[0].lower][" ".join(word.lower for word in wrong)] += 1
            else:
                self.seen["borrowed"] += 1
            if found and before[clean[0].start].isupper():
                self.add("capital", after[said[last].start].isupper())
        if not found:
            return
        for phrase in repairs.phrases(before):
            self.places[f"phrase/{phrase.kind}"] += repair.kind in ("phrase", "late")
        if 0 < first < last < len(said):
            pre, post = ("," in after[said[k - 1].end : said[k].start] for k in (first, last))
            marks = "both" if pre and post else "before" if pre else "after" if post else ""
            for word in (said[first].lower, "*"):
                self.commas[word][marks] += 1
        if repair.kind == "phrase":
            size, again = repair.wrong, 0
            while again < size - 1 and said[repair.at + again].lower == clean[repair.at + again].lower:
                again += 1
            at = repair.at + again
            kind = next((p.kind for p in repairs.phrases(before) if p.first == at), None)
            if kind is not None:
                self.seen[f"phrase/{kind}"] += 1
                self.lengths[kind][str(min(size - again, _MAX_PHRASE))] += 1
                tag = clean[at - 1].tag if at else ""
                if tag in repairs.AGAIN:
                    self.add(f"again/{kind}", again > 0)
                if tag in repairs.BARE and kind in repairs.NAMING and not again:
                    self.add("article", repair.article)


def fit_disfluency(clean: Sequence[str], real: Sequence[str]) -> repairs.Disfluencies:
    """The rates of the people who said these texts, whose fluent forms are known."""
    counts = _RepairCounts()
    for before, after in zip(clean, real, strict=True):
        counts.count(before, after)
    total = counts.kinds.total()
    if total < _MIN_REPAIRS:
        raise UsageError(f"A fit needs {_MIN_REPAIRS} texts with a repair. {total} of {len(clean)} have one.")
    openings = {first: _frequent_only(found) for first, found in sorted(counts.openings.items())}
    openings["*"] = _frequent_only(sum(counts.openings.values(), Counter()))

    def corrected(name: str, more: float) -> float:
        return min(1, more * counts.seen[name] / max(1, counts.places[name]))

    return repairs.Disfluencies(
        {kind: counts.kinds[kind] / total for kind in repairs.KINDS},
        {kind: _frequent_only(counts.cues[kind], 1) for kind in repairs.KINDS},
        {word: _frequent_only(found) for word, found in sorted(counts.commas.items()) if found.total() >= _MIN_REPAIRS},
        {kind: counts.share(f"phrase/{kind}") for kind in repairs.PHRASE_KINDS},
        {kind: corrected(f"again/{kind}", _MORE_AGAIN) for kind in repairs.PHRASE_KINDS},
        {kind: dict(sorted(found.items())) for kind, found in sorted(counts.lengths.items())},
        {first: found for first, found in openings.items() if found},
        counts.seen["borrowed"] / max(1, counts.kinds["opening"]),
        counts.share("same_start"),
        counts.share("through"),
        corrected("article", _MORE_ARTICLES),
        counts.share("capital"),
    )


def _frequent_only(found: Mapping[str, int], least: int = _RARE) -> dict[str, int]:
    return {said: n for said, n in sorted(found.items(), key=lambda pair: (-pair[1], pair[0])) if n >= least}


def fit_disfluencies(clean: str, real: Sequence[str], fields: Sequence[str]) -> bytes:
    """The file's content: how the people who said these texts repaired what they said."""
    before, people = read_people(clean, real, fields)
    said = [text for person in people for text in person.texts()]
    return encode_rounded(fit_disfluency(before.texts() * len(people), said))


def fit_listener_file(clean: str, real: str, field: str | None, heard: str | None, source: str) -> tuple[bytes, int]:
    """The file's content, and how many texts it was fitted on."""
    if clean == real and field == heard:
        both = f"{option('clean')} and {option('real')}"
        fields = f"{option('input')} and {option('heard')}"
        raise UsageError(f"{both} are the same texts. Name their fields with {fields}.")
    texts = [text.strip() for text in read_aligned(clean, [field] if field else ()).texts()]
    others = [text.strip() for text in read_aligned(real, [heard] if heard else ()).texts()]
    if len(texts) != len(others):
        raise DataError(f"it has {len(others)} texts, but {clean} has {len(texts)}. Lines must align.", real)
    if len(texts) < _MIN_TRANSCRIPTS:
        raise UsageError(f"A listener needs at least {_MIN_TRANSCRIPTS} texts. {clean} has {len(texts)}.")
    profile = fit_listener(texts, others, source)
    return msgspec.json.format(msgspec.json.encode(profile)) + b"\n", profile.texts


class TypedText(NamedTuple):
    """One text: who typed it, what was meant, what stands there, and the log of keys, if there is one."""

    person: str
    sentence: str
    typed: str
    keys: str = ""


def read_typed(path: str | Path) -> list[TypedText]:
    """Rows of a TSV file, or a gzipped one, with the columns person, sentence, typed and perhaps keys."""
    header, rows = read_tsv(Path(path), *_COLUMNS)
    places = [header.index(name) for name in (*_COLUMNS, *(["keys"] if "keys" in header else []))]
    return [TypedText(*(row[k] for k in places)) for row in rows]


def typed_pairs(clean: str, real: Sequence[str], fields: Sequence[str] = (), by: str = "") -> list[TypedText]:
    """Rows of aligned files. Each REAL file is one person's; with `by`, that field of its rows names the person."""
    before, people = read_people(clean, real, fields)
    found: list[TypedText] = []
    for path, person in zip(real, people, strict=True):
        names = [row[by] for row in read_aligned(path, [by]).rows] if by else [path] * len(person.rows)
        if len(names) != len(person.rows):
            raise DataError(f"{option('by')} needs as many rows in {path} as in {clean}.", path)
        for name, one, other in zip(names, before.rows, person.rows, strict=True):
            found += [TypedText(name, one[field], other[field]) for field in one]
    return found


def first_attempts(rows: Sequence[TypedText]) -> list[TypedText]:
    """What stood there at first, of rows whose log of keys gives what stands there, but for a key or two."""
    found = []
    for row in rows:
        if row.keys and not _UNWRITTEN & set(row.keys):
            first, stands = first_attempt(row.keys)
            if OSA.distance(stands.strip(), row.typed.strip(), score_cutoff=_MAX_LOST_KEYS) <= _MAX_LOST_KEYS:
                found.append(row._replace(typed=first))
    return found


def fit_typed_texts(rows: Sequence[TypedText], board: Layout, language: str, source: str) -> SlipProfile:
    """One profile of all these people."""
    people, meant, typed = ([row[k] for row in rows] for k in range(3))
    return fit_typist(meant, typed, people if len(set(people)) > 1 else [], board, _word_ranks(language), source)


def _word_ranks(language: str) -> Mapping[str, int]:
    return word_ranks() if language.split("-")[0] == "en" else {}


def fit_typist_modes(rows: Sequence[TypedText], board: Layout, language: str, source: str) -> Profiles:
    """The profiles of a file: `corrected`, and `uncorrected` if keys were logged."""
    modes = {"corrected": fit_typed_texts(rows, board, language, source)}
    first = first_attempts(rows)
    if first:
        modes["uncorrected"] = fit_typed_texts(first, board, language, source)
    return Profiles(modes, language)


def encode_profiles(made: Profiles) -> bytes:
    return msgspec.json.encode(made) + b"\n"


def split_people(rows: Sequence[TypedText]) -> tuple[list[TypedText], list[TypedText]]:
    """The rows of one half of the people, and those of the other."""
    first, second = list[TypedText](), list[TypedText]()
    for row in rows:
        hashed = blake2b(row.person.encode("utf-8", "surrogatepass")).digest()[0]
        (first if hashed < 128 else second).append(row)
    return first, second


def type_again(profile: SlipProfile, board: Layout, language: str, texts: Sequence[str], seed: int = 0) -> list[str]:
    """The texts as someone would type them who slips as the profile says."""
    hands, seeds = Hands(profile, board, _word_ranks(language)), Seeds(seed, "keyboard/typist", 2)
    return [apply(text, hands.type(text, seeds.stream(str(i), 0))) for i, text in enumerate(texts)]


def test_profile(rows: Sequence[TypedText], board: Layout, language: str) -> Estimate:
    """How well a profile of one half of the people is told from the texts of the other half."""
    fitted, others = split_people(rows)
    if not fitted or not others:
        raise UsageError(f"A test on other people needs texts of several people. See {option('by')}.")
    profile = fit_typed_texts(fitted, board, language, "")
    texts = [row.sentence.strip() for row in others]
    people = [row.person for row in others]
    by = people if len(set(people)) >= FOLDS else None
    judge = RealismJudge(texts, [[row.typed.strip() for row in others]], language=language, by=by)
    return judge.against_people([type_again(profile, board, language, texts)])

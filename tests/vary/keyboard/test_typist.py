"""`keyboard/typist`: slips are found as they were made, a fit comes back, and texts look like those of other people."""

from __future__ import annotations

import gzip
import json
import tomllib
from collections import Counter, defaultdict
from importlib.resources import files
from pathlib import Path

import msgspec
import pytest
from commands import unswayed

from unswayed.base.edits import Edit, apply
from unswayed.base.errors import DataError, UsageError
from unswayed.base.options import OperatorSpec
from unswayed.base.seeds import Seeds
from unswayed.base.values import Example, Json
from unswayed.lab.calibration.profiles import (
    TypedText,
    first_attempts,
    fit_typed_texts,
    read_typed,
    split_people,
    type_again,
    typed_pairs,
)
from unswayed.vary.engine import Variation, vary
from unswayed.vary.hands import Keys
from unswayed.vary.keyboard.layouts import layout, layout_for
from unswayed.vary.keyboard.typist import Typist, autocorrected, nearest, on_phone
from unswayed.vary.operator import Text
from unswayed.vary.slips import (
    SHIPPED,
    STYLES,
    Profiles,
    SlipProfile,
    first_attempt,
    in_other_language,
    opportunities,
    profiles,
    slips,
)
from unswayed.vary.words import frequency_class, word_ranks

QWERTY = layout("en")
DATA = Path(__file__).parents[4] / "shared/data"
NOISEQA, AALTO = DATA / "noiseqa/people.jsonl", DATA / "typing_en/people.tsv.gz"
SENTENCES = tomllib.loads((files("unswayed.vary") / "sentences.toml").read_text("utf-8"))
TEXTS = [
    "How many people live in the capital of Australia?",
    "Remind me to call Anna's dentist on Thursday, please.",
    "What did the committee finally decide about the new bridge?",
    "Send all the letters to Mr. Jones before 5 o'clock.",
    "The weather will be better in September than in August.",
] * 60


@pytest.mark.parametrize(
    ("meant", "typed", "kinds"),
    [
        ("the game", "teh game", "swap"),
        ("the game", "the gane", "near"),
        ("the game", "the gme", "omit"),
        ("the game", "the gamme", "double"),
        ("the game", "thegame", "space_lost"),
        ("the game", "th egame", "space_moved"),
        ("the game", "the g ame", "space_added"),
        ("the game", "the  game", "space_twice"),
        ("the game.", "the game .", "space_mark"),
        ("letter", "leter", "halve"),
        ("better", "battar", "vowel vowel"),
        ("The Game?", "the game", "first_capital inner_capital end_lost"),
        ("don't, no", "dont. no", "apostrophe_lost comma_changed"),
        ("in the old house", "in old house", "word_lost"),
        ("in the house", "in the the house", "word_again"),
        ("in house", "in the house", "word_more"),
        ("its house is", "it's house is", "mark_added"),
        ("the house", "the houhouse", "retyped"),
        ("so?", "so?/", "mark_end"),
        ("same", "same", ""),
    ],
)
def test_slips_are_found_in_what_was_typed(meant: str, typed: str, kinds: str) -> None:
    assert [slip.kind for slip in slips(meant, typed, QWERTY)] == kinds.split()


def test_chances_are_counted() -> None:
    count = opportunities("Anna's  egg, ok.")
    assert (count["letter"], count["twin"], count["first"], count["inner"]) == (10, 2, 1, 0)
    assert (count["apostrophe"], count["comma"], count["end"], count["word"]) == (1, 1, 1, 3)


@pytest.mark.parametrize(
    ("keys", "first", "stands"),
    [
        ("⇧The bakc ⇧Tu⌫⌫⌫⌫⌫ck ⇧Tuesdya⌫⌫ay.", "The bakc Tuesdya.", "The back Tuesday."),
        (
            "⇧Hopefull th⌫⌫⌫y this can wait ⌫unti⌫⌫⌫⌫ until",
            "Hopefull this can wait until",
            "Hopefully this can wait until",
        ),
        ("⇪I⇪ will monet.⌫⌫y.", "I will monet.", "I will money."),
        ("⌫⌫abc", "abc", "abc"),
        ("", "", ""),
    ],
)
def test_a_first_attempt_keeps_what_was_deleted(keys: str, first: str, stands: str) -> None:
    assert first_attempt(keys) == (first, stands)


def of(name: str, mode: str = "corrected") -> SlipProfile:
    return profiles(name).modes[mode]


def wrong(texts: list[str], made: list[str]) -> float:
    """Slips per character."""
    return sum(len(slips(a, b, QWERTY)) for a, b in zip(texts, made, strict=True)) / sum(map(len, texts))


def test_a_fit_to_what_a_profile_typed_is_that_profile() -> None:
    texts = [f"{text[:-1]}, {i}." for i, text in enumerate(TEXTS * 2)]
    made = type_again(of("noiseqa", "uncorrected"), QWERTY, "en", texts)
    again = fit_typed_texts([TypedText("", a, b) for a, b in zip(texts, made, strict=True)], QWERTY, "en", "")
    twice = type_again(again, QWERTY, "en", texts, seed=1)
    assert wrong(texts, twice) == pytest.approx(wrong(texts, made), rel=0.15)
    for kind in ("omit", "near", "end_lost", "insert"):
        assert again.rates[kind] == pytest.approx(of("noiseqa", "uncorrected").rates[kind], rel=0.5), kind
    altered = [sum(a != b for a, b in zip(texts, other, strict=True)) / len(texts) for other in (made, twice)]
    assert altered[1] == pytest.approx(altered[0], abs=0.06)


def test_people_leave_one_character_in_a_hundred_wrong() -> None:
    for mode, least, most in (("corrected", 0.004, 0.03), ("uncorrected", 0.03, 0.08)):
        made = type_again(of("noiseqa", mode), QWERTY, "en", TEXTS)
        assert least < wrong(TEXTS, made) < most
        right = sum(a == b for a, b in zip(TEXTS, made, strict=True)) / len(TEXTS)
        assert (0.3 < right < 0.9) if mode == "corrected" else right < 0.5


def test_most_swaps_are_between_hands() -> None:
    found: Counter[bool] = Counter()
    for a, b in zip(TEXTS, type_again(of("noiseqa", "uncorrected"), QWERTY, "en", TEXTS), strict=True):
        for slip in slips(a, b, QWERTY):
            if slip.kind == "swap":
                keys = [QWERTY.strokes(c.lower())[0].key[1:] for c in a[slip.at : slip.at + 2]]  # type: ignore[index]
                found[(keys[0] < "06") != (keys[1] < "06")] += 1
    assert found[True] > found[False]


def test_people_differ_and_repeat_themselves(tmp_path: Path) -> None:
    """With `person=draw`, a draw is one person: some slip little, some much, and a word goes wrong in their own way."""
    people = [[0.1 * 1.25**n, *[0.1] * len(STYLES)] for n in range(20)]  # from few slips to many
    made_of = msgspec.structs.replace(of("noiseqa", "uncorrected"), people=people)
    (tmp_path / "people.json").write_bytes(msgspec.json.encode(Profiles({"uncorrected": made_of})))
    operator = Typist(mode="uncorrected", profile=str(tmp_path / "people.json"), person="draw")
    seeds, counts, ways = Seeds(1, "keyboard/typist", 2), [], defaultdict(list)
    for draw in range(30):
        made = 0
        for i, text in enumerate(TEXTS[:40]):
            change = operator.change(Text(text), seeds.stream(str(i), draw))
            made += len(change.edits) if change else 0
            for edit in change.edits if change else ():
                ways[draw, i % 5].append(edit)
        counts.append(made)
    assert max(counts) > 4 * (min(counts) + 1)
    same = Counter(edit for (draw, _), edits in ways.items() for edit in [(draw, *e) for e in edits])
    others = Counter(e for edits in ways.values() for e in set(edits))
    assert sum(n - 1 for n in same.values()) > sum(others.values()) * 0.2


def test_the_words_of_both_texts_of_a_pair_go_wrong_alike() -> None:
    examples = [Example(i, str(i), {"a": text, "b": text}) for i, text in enumerate(TEXTS)]
    spec = OperatorSpec("keyboard/typist", {"mode": "uncorrected"})
    variation = Variation(operators=(spec,), task="classify", language="en")
    both = alike = 0
    for variant in vary(examples, variation):
        a, b = variant.inputs["a"].split(), variant.inputs["b"].split()
        clean = examples[variant.row].inputs["a"].split()
        for one, two, word in zip(a, b, clean, strict=False):
            both, alike = both + (one != word and two != word), alike + (one == two != word)
    assert both > 20
    assert alike / both > 0.1  # tokens are compared by place, so lost spaces hide some


OTHERS = {language: SENTENCES[language] for language in ("kk", "ar", "tr", "da", "en")}
OTHERS["sr"] = "Gde je najbliža željeznička stanica? Želim dvije karte za Beograd sutra u 9 sati."  # in Latin script
PROSE = ".,;:?!'/-[،؛؟"


@pytest.mark.parametrize("language", OTHERS)
@pytest.mark.parametrize("more", [{}, {"mode": "uncorrected"}, {"device": "phone", "autocorrect": False}])
def test_letters_and_marks_are_those_of_the_language(language: str, more: dict[str, Json]) -> None:
    """All that comes in stands on the language's own keyboard; no word and no mark of English comes with it."""
    text = OTHERS[language]
    variation = Variation(operators=(OperatorSpec("keyboard/typist", more),), task="text", language=language)
    made = [v.inputs["text"] for v in vary([Example(i, str(i), {"text": text}) for i in range(1000)], variation)]
    assert len(made) == 1000
    assert sum(typed != text for typed in made) > 500
    board = layout_for(language, text)
    on_keys = {written for levels in board.keys.values() for written in levels[:2]}
    new = {c for typed in made for c in typed} - set(text)
    assert new <= on_keys
    assert {c for c in new if not c.isalnum()} <= set(PROSE)
    if language != "en":
        assert not any("/" in typed or "[" in typed or " the " in typed for typed in made)
    if language == "ar":
        assert not new & set("?,;")
        assert any("،" in typed for typed in made), "the comma of Arabic"


def test_a_question_in_arabic_gets_its_own_mark() -> None:
    keys = Keys(in_other_language(of("noiseqa")), layout("ar"), {})
    rng = Seeds(0, "t", 1).stream("", 0)
    assert {keys.mark_beside("؟", "mark_end", rng) for _ in range(200)} == {"؟", ".", ":"}


@pytest.mark.parametrize(("language", "small", "capital"), [("tr", "i", "İ"), ("tr", "ı", "I"),
                                                            ("en", "i", "I"),
                                                            ("kk", "қ", "Қ"),
                                                            ("ka", "ა", ""), ("ar", "ب", "")])  # fmt: skip
def test_capitals_are_those_of_the_shift_key(language: str, small: str, capital: str) -> None:
    keys = Keys(of("noiseqa"), layout(language), {})
    assert keys.other_case(small) == capital
    assert not capital or keys.other_case(capital) == small


def test_serbian_is_typed_on_the_layout_of_its_script() -> None:
    texts = [OTHERS["sr"], "Где је најближа железничка станица?"]
    assert [layout_for("sr", text).name for text in texts] == ["sr-Latn", "sr"]
    for name in ("keyboard/typist", "keyboard/adjacent"):
        variation = Variation(operators=(OperatorSpec(name),), task="text", language="sr", draws=40)
        made = list(vary([Example(i, str(i), {"text": text}) for i, text in enumerate(texts)], variation))
        altered = Counter(v.row for v in made if v.inputs["text"] != texts[v.row])
        assert min(altered[0], altered[1]) > 10, name


def test_tags_and_spans_stay_true() -> None:
    tags = ["O", "O", "O", "B-city", "I-city", "O", "O", "B-day"]
    examples = [
        Example(
            i, str(i), {"text": "flights from somewhere New York to Boston Tuesday"}, {"intent": "x", "slots": tags}
        )
        for i in range(400)
    ]
    variation = Variation(
        operators=(OperatorSpec("keyboard/typist", {"mode": "uncorrected"}),), task="slu", language="en"
    )
    made = list(vary(examples, variation))
    assert len(made) > 250
    for variant in made:
        slots = variant.gold["slots"]  # type: ignore[call-overload, index]
        assert len(variant.inputs["text"].split(" ")) == len(slots)
        assert [tag for tag in slots if tag[:2] == "B-"] == ["B-city", "B-day"]


def test_a_phone_corrects_words_in_english() -> None:
    assert nearest("teh") == "the"
    assert nearest("zzzzzz") == ""
    text = "call the dentist"
    assert autocorrected(text, [Edit(6, 7, "")]) == [Edit(6, 7, "")]  # te is on the list of words
    assert autocorrected(text, [Edit(9, 10, "r")]) == []  # rentist: back to dentist
    assert autocorrected(text, [Edit(4, 5, "")]) == [Edit(4, 5, "")]
    texts = TEXTS[:50]
    share = {}
    for corrects in (True, False):
        operator = Typist(mode="uncorrected", device="phone", autocorrect=corrects)
        made = [operator.change(Text(t), Seeds(2, "t", 1).stream(str(i), 0)) for i, t in enumerate(texts)]
        typed = [apply(t, change.edits) if change else t for t, change in zip(texts, made, strict=True)]
        share[corrects] = wrong(texts, typed)
    assert share[True] < share[False]
    assert on_phone(of("noiseqa"), autocorrect=True).rates["first_capital"] == 0
    with pytest.raises(UsageError, match="in English only, not in de"):
        Typist(device="phone").change(Text("Guten Tag zusammen", "de"), Seeds(0, "t", 1).stream("", 0))


def test_a_wrong_profile_or_mode_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="mode must be corrected or uncorrected"):
        Typist(mode="fast")
    with pytest.raises(UsageError, match="device must be desk or phone"):
        Typist(device="watch")
    with pytest.raises(DataError, match="No such file"):
        Typist(profile=str(tmp_path / "none.json"))
    with pytest.raises(UsageError, match=r"no profile of typists 'aalto'.*calibrate typist"):
        Typist(profile="aalto")
    (tmp_path / "bad.json").write_text("{}")
    with pytest.raises(DataError, match="not a file of profiles"):
        Typist(profile=str(tmp_path / "bad.json"))
    (tmp_path / "empty.json").write_text('{"modes": {}}')
    with pytest.raises(UsageError, match="has no mode corrected"):
        Typist(profile=str(tmp_path / "empty.json"))
    for change in ({"haste": []}, {"lengths": [1.0]}, {"burst": 2.0}, {"rates": {"omit": -1.0}}, {"people": [[1.0]]}):
        made = msgspec.structs.replace(of("noiseqa"), **change)  # type: ignore[arg-type]
        (tmp_path / "odd.json").write_bytes(msgspec.json.encode({"modes": {"corrected": made}}))
        profiles.cache_clear()
        with pytest.raises(DataError, match="not a profile of typists"):
            Typist(profile=str(tmp_path / "odd.json"))


@pytest.mark.parametrize("name", SHIPPED)
def test_profiles_that_ship_name_their_source_and_licence(name: str) -> None:
    for mode in ("corrected", "uncorrected"):
        assert "licence" in of(name, mode).source
        assert "non-commercial" not in of(name, mode).source


def test_words_have_classes_of_frequency() -> None:
    known = word_ranks()
    assert [frequency_class(known.get(word)) for word in ("the", "eight", "railway", "qzxv")] == [0, 1, 2, 4]


@pytest.mark.parametrize(
    "more",
    [[], ["mode=uncorrected"], ["layout=azerty"], ["profile=noiseqa"], ["device=phone"],
     ["device=phone", "autocorrect=false"], ["person=draw"]],
)  # fmt: skip
def test_the_command_types_a_file(tmp_path: Path, more: list[str]) -> None:
    (tmp_path / "texts.txt").write_text("\n".join(TEXTS[:40]), "utf-8")
    command = ["vary", "texts.txt", "--lang", "en", "--with", "keyboard/typist", "--draws", "3", "--seed", "7"]
    done = unswayed(*command, *(part for param in more for part in ("--param", param)), "-o", "-", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    made = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(row["row"], row["draw"]) for row in made] == [(row, draw) for row in range(40) for draw in range(3)]
    assert 10 < sum(row["inputs"]["text"] != TEXTS[row["row"]] for row in made) <= 120


def write_people(path: Path, people: int = 12) -> None:
    """A table of people who slip as NoiseQA's do, with a log of keys in which every third text has one correction."""
    rows = ["person\tsentence\ttyped\tkeys"]
    for person in range(people):
        texts = [f"{text[:-1]} {i}{text[-1]}" for i, text in enumerate(TEXTS[person : person + 25])]
        for i, (meant, typed) in enumerate(
            zip(texts, type_again(of("noiseqa"), QWERTY, "en", texts, seed=person), strict=True)
        ):
            keys = typed if i % 3 else typed[:5] + "x⌫" + typed[5:]
            rows.append(f"p{person}\t{meant}\t{typed}\t{keys}")
    data = "\n".join(rows).encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)


@pytest.mark.parametrize("name", ["people.tsv", "people.tsv.gz"])
def test_calibrate_writes_a_profile_that_types(tmp_path: Path, name: str) -> None:
    write_people(tmp_path / name)
    done = unswayed("calibrate", "typist", "--people", name, "-o", "typists.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "corrected: 300 texts" in done.stderr
    made = profiles(str(tmp_path / "typists.json")).modes
    assert len(made["corrected"].people) == 12
    slipped = [sum(profile.rates.get(kind, 0) for kind in ("insert", "near", "far")) for profile in made.values()]
    assert slipped[1] > 1.5 * slipped[0]
    (tmp_path / "texts.txt").write_text("\n".join(TEXTS[:20]), "utf-8")
    vary_ = ["vary", "texts.txt", "--lang", "en", "--with", "keyboard/typist", "--param", "profile=typists.json"]
    done = unswayed(*vary_, "--draws", "3", "-o", "-", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("keyboard/typist") > 3


def test_calibrate_reads_aligned_files_by_person(tmp_path: Path) -> None:
    write_people(tmp_path / "people.tsv")
    rows = read_typed(tmp_path / "people.tsv")
    clean, real = tmp_path / "c.jsonl", tmp_path / "h.jsonl"
    clean.write_text("\n".join(json.dumps({"text": row.sentence}) for row in rows), "utf-8")
    real.write_text("\n".join(json.dumps({"text": row.typed, "person": row.person}) for row in rows), "utf-8")
    assert typed_pairs(str(clean), [str(real)], ["text"], "person") == [row._replace(keys="") for row in rows]
    given = ["--clean", "c.jsonl", "--real", "h.jsonl", "--input", "text", "--by", "person"]
    done = unswayed("calibrate", "typist", *given, "--test", "-o", "typists.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "AUC against people who were not fitted: 0." in done.stderr


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([], "Give --people, or both --clean and --real"),
        (["--people", "none.tsv"], "No such file"),
        (["--people", "short.tsv"], "there is no column 'typed'"),
        (["--people", "ragged.tsv"], "ragged.tsv:3: this row has 2 cells"),
        (["--people", "few.tsv"], "at least 20 texts"),
        (["--people", "right.tsv"], "None of 30 texts has a slip"),
    ],
)
def test_what_cannot_be_fitted_is_refused(tmp_path: Path, given: list[str], message: str) -> None:
    (tmp_path / "short.tsv").write_text("person\tsentence\nme\tabc\n")
    (tmp_path / "ragged.tsv").write_text("person\tsentence\ttyped\nme\ta\tb\nme\ta\n")
    (tmp_path / "few.tsv").write_text("person\tsentence\ttyped\nme\tthe house\tthe huose\n")
    (tmp_path / "right.tsv").write_text("person\tsentence\ttyped\n" + "me\tthe house\tthe house\n" * 30)
    done = unswayed("calibrate", "typist", *given, "-o", "typists.json", cwd=tmp_path)
    assert done.returncode == 4, done.stderr
    assert message in done.stderr
    assert not (tmp_path / "typists.json").exists()


@pytest.mark.skipif(not AALTO.exists(), reason="Aalto's sample is not here (../shared/data/typing_en)")
def test_slips_are_about_those_of_people_who_were_not_fitted() -> None:
    fitted, others = split_people(read_typed(AALTO)[:4000])
    profile = fit_typed_texts(fitted, QWERTY, "en", "")
    meant = [row.sentence.strip() for row in others]
    made = type_again(profile, QWERTY, "en", meant)
    right = [sum(a == b.strip() for a, b in zip(meant, texts, strict=True)) / len(meant)
             for texts in (made, [row.typed for row in others])]  # fmt: skip
    assert right[0] == pytest.approx(right[1], abs=0.06)
    assert wrong(meant, made) == pytest.approx(wrong(meant, [row.typed.strip() for row in others]), rel=0.4)


@pytest.mark.skipif(not AALTO.exists(), reason="Aalto's sample is not here (../shared/data/typing_en)")
def test_first_attempts_have_five_times_as_many_slips() -> None:
    rows = first_attempts(read_typed(AALTO)[:1500])
    texts = [row.sentence.strip() for row in rows]
    assert 0.035 < wrong(texts, [row.typed.strip() for row in rows]) < 0.07

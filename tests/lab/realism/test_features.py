"""Noise in alphabets: what is counted, who is told from whom, what is refused, and the commands from file to number."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from commands import unswayed

from unswayed.base.edits import apply
from unswayed.base.errors import UsageError, WrongLanguage
from unswayed.base.options import OperatorSpec
from unswayed.base.seeds import Seeds
from unswayed.base.values import Estimate
from unswayed.lab.calibration.profiles import fit_mandarin_speakers, fit_pinyin_typists
from unswayed.lab.realism import Aligned
from unswayed.lab.realism.compare import Files, built_in_systems, measure_harm
from unswayed.lab.realism.features import known_words, letter_features, slips_of
from unswayed.lab.realism.judge import RealismJudge, areas_under_curve, keyboard_of, script_of
from unswayed.vary.engine import make_operator
from unswayed.vary.operator import Text, Texts

NOISEQA = Path(__file__).parents[3] / "../shared/data/noiseqa/people.jsonl"
RUSSIAN = Path(__file__).parents[3] / "../shared/data/typing_ru"
WORDS = [
    "train",
    "station",
    "money",
    "summer",
    "people",
    "evening",
    "garden",
    "letter",
    "window",
    "doctor",
    "history",
    "river",
    "market",
    "music",
    "number",
]
ENGLISH = known_words([], "en")
KEYS = keyboard_of("en")


def sentences(n: int) -> list[str]:
    rng = Seeds(1, "sentences", 1).stream("", 0)
    return [f"Where did the {' and the '.join(rng.sample(WORDS, 4))} go, after all that {i}?" for i in range(n)]


def varied(name: str, texts: list[str], seed: int, draw: int = 0) -> list[str]:
    operator, seeds = make_operator(OperatorSpec(name)), Seeds(seed, name, 1)
    block = Texts.of([Text(t, "en") for t in texts])
    made = operator.change_many(block, seeds.streams(block.ids, draw, [""] * len(texts)))
    return [apply(text, change.edits) if change else text for text, change in zip(texts, made, strict=True)]


@pytest.mark.parametrize(
    ("clean", "noisy", "kinds"),
    [
        ("the station", "the statoin", ["swap"]),
        ("the station", "the sttion", ["omit"]),
        ("the letter", "the leter", ["halve"]),
        ("the station", "the stattion", ["double"]),
        ("the station", "the statiom", ["near.row"]),
        ("the garden", "the gardxn", ["other"]),
        ("the garden", "the gardan", ["vowel"]),
        ("the garden", "thegarden", ["space.lost"]),
        ("the garden", "the gar den", ["space.added"]),
        ("In London.", "in london.", ["case", "case"]),
        ("In London.", "In London", ["end.lost"]),
        ("In London?", "In London.", ["end.other"]),
        ("it's here, now", "its here now", ["apostrophe", "comma"]),
        ("room 12", "room 13", ["digit"]),
        ("", "", []),
    ],
)
def test_slips_have_their_kinds(clean: str, noisy: str, kinds: list[str]) -> None:
    assert [slip.kind for slip in slips_of(clean, noisy, KEYS)] == kinds


def test_words_are_compared_by_sound_and_frequency() -> None:
    found = letter_features("they went to the sea", "they want to the see", ENGLISH, KEYS)
    assert found["word.same_sound"] == 0.5, "sea and see sound the same, went and want do not"
    assert letter_features("to the sea", "to the the sea", ENGLISH, KEYS)["word.again"] == 1
    assert found["word.new.known"] == 1
    assert letter_features("in the kitchen", "in the kit chen", ENGLISH, KEYS)["word.split"] == 1
    assert letter_features("in the kitchen", "inthe kitchen", ENGLISH, KEYS)["word.joined"] == 1
    for pair in (("", ""), ("a", ""), ("", "a"), ("?!", "🙂"), ("x" * 3000, "y")):
        assert np.isfinite(list(letter_features(*pair, ENGLISH, KEYS).values())).all()


def test_the_script_is_found_and_other_scripts_are_refused() -> None:
    assert script_of(["怎么提现到银行卡", "Alipay 账户"]).name == "han"
    assert script_of(["Wann fährt der Zug?", "Ich weiß es nicht."], "German") == ("letters", "de", "typing")
    assert script_of(["Где ты был вчера?"], "ru").baseline() == "keyboard/adjacent"
    with pytest.raises(WrongLanguage, match="language= is 'en', but most texts are in Chinese characters"):
        script_of(["怎么提现到银行卡"], "en")
    for texts, name in ((["これはペンです", "今日はいい天気ですね"], "Japanese"), (["วันนี้อากาศดี"], "Thai")):
        with pytest.raises(WrongLanguage, match=f"Noise in {name} can't be compared"):
            script_of(texts)
    with pytest.raises(WrongLanguage, match="no letters"):
        script_of(["12 + 3", "?"])


def test_equal_noise_is_not_told_apart_and_doing_nothing_is() -> None:
    pytest.importorskip("sklearn")
    texts = sentences(240)
    people = [varied("keyboard/typist", texts, 1, draw) for draw in range(3)]
    judge = RealismJudge(texts, people, language="en")
    alike = [
        judge.against_people([varied("keyboard/typist", texts, 2, draw) for draw in range(2)]),
        judge.one_person(1),
    ]
    for found in alike:
        assert found.low is not None
        assert found.low < 0.56
        assert _value(found) < 0.6
    assert _value(judge.against_people([texts])) > 0.62
    assert _value(judge.against_people([varied("keyboard/adjacent", texts, 3)])) > 0.9
    told = judge.told_by([varied("keyboard/adjacent", texts, 3)])
    assert any(row["feature"].startswith("slip.") for row in told)


def _value(found: Estimate) -> float:
    assert found.value is not None
    return found.value


def test_trees_are_tested_on_other_people_where_these_are_named() -> None:
    """A person types about so many words and has one habit: by sentence that is learnt, by person it is of no use."""
    pytest.importorskip("sklearn")
    who = [i % 20 for i in range(400)]
    texts = [f"{t} {'and the garden ' * k}{t}" for t, k in zip(sentences(400), who, strict=True)]
    habit = np.random.default_rng(1).permutation(np.arange(20) % 2)

    def typed(which: int) -> list[str]:
        return [t.replace(" the ", " teh " if habit[k] == which else " th ") for t, k in zip(texts, who, strict=True)]

    by_sentence = RealismJudge(texts, [typed(0)], language="en").against_people([typed(1)])
    by_person = RealismJudge(texts, [typed(0)], language="en", by=[str(k) for k in who]).against_people([typed(1)])
    assert (by_sentence.n, by_person.n) == (400, 20)
    assert _value(by_sentence) > 0.95
    assert _value(by_person) < 0.75
    with pytest.raises(UsageError, match="at least 5 people or articles"):
        RealismJudge(texts, [typed(0)], language="en", by=["one"] * 400)


def test_the_auc_is_that_of_scikit_learn() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(5)
    scores, labels = rng.integers(0, 30, 400).astype(float), rng.integers(0, 2, 400).astype(float)
    weights = [rng.integers(0, 4, 400).astype(float) for _ in range(3)]
    wanted = [metrics.roc_auc_score(labels, scores, sample_weight=weight) for weight in weights]
    assert areas_under_curve(scores, labels, weights) == pytest.approx(wanted, abs=1e-9)


def test_the_interval_of_harm_covers_the_true_difference() -> None:
    """Two kinds of noise that change 10% and 16% of answers: 95% intervals hold 6 points in 90% of 200 tries."""
    rng, covered = np.random.default_rng(3), 0
    for _ in range(200):
        clean = Aligned([{"text": "same"}] * 150, ["1", "0"] * 75)
        right = rng.random((2, 150)) >= np.array([[0.10], [0.16]])
        human, made = ([{"text": "same" if ok else "other"} for ok in row] for row in right)
        ask = lambda rows: ["1" if row["text"] == "same" else "x" for row in rows]  # noqa: E731
        [whole, *_] = measure_harm(ask, Files(clean, [Aligned(human, clean.gold)], [Aligned(made, clean.gold)]))
        difference = whole["flips"]["difference"]
        covered += difference.low <= 6 <= difference.high
    assert covered >= 180


def test_the_built_in_systems_find_documents_and_learn_labels() -> None:
    pytest.importorskip("sklearn")
    texts = sentences(60)
    rows = Aligned([{"text": t} for t in texts], [None] * 60)
    files = Files(rows, [rows], [Aligned([{"text": "nothing like it"}] * 60, rows.gold)])
    [(ask, its)] = built_in_systems(files, script_of(texts, "en"), None, 0).values()
    [whole] = measure_harm(ask, its)
    assert whole["accuracy"]["clean"].value == whole["accuracy"]["human"].value == 100
    assert whole["accuracy"]["simulated"].value < 10
    labelled = Aligned([{"text": f"{t} {'please' if i % 2 else 'never'}"} for i, t in enumerate(texts)],
                       ["yes" if i % 2 else "no" for i in range(60)])  # fmt: skip
    found = built_in_systems(Files(labelled, [labelled], [labelled]), script_of(texts, "en"), None, 0)
    [whole, *_] = measure_harm(*found["classifier"])
    assert whole["accuracy"]["clean"].value > 95, "of other rows than it learnt from"


def test_fits_for_chinese_refuse_english_and_texts_without_noise(tmp_path: Path) -> None:
    files = {
        "en": sentences(30),
        "typed": varied("keyboard/adjacent", sentences(30), 1),
        "zh": ["怎么提现到银行卡"] * 30,
    }
    for name, lines in files.items():
        (tmp_path / f"{name}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    at = {name: str(tmp_path / f"{name}.txt") for name in files}
    with pytest.raises(WrongLanguage, match="fits Chinese.*calibrate typist"):
        fit_pinyin_typists(at["en"], [at["typed"]], (), "all", "embedded", None)
    with pytest.raises(WrongLanguage, match="fits Chinese.*calibrate listener"):
        fit_mandarin_speakers(at["en"], [at["typed"]], (), "all")
    with pytest.raises(UsageError, match="person 1.* nothing to fit"):
        fit_pinyin_typists(at["zh"], [at["zh"]], (), "all", "embedded", None)
    done = unswayed("calibrate", "keyboard", "--clean", at["en"], "--real", at["typed"], "-o", tmp_path / "p.json")
    assert done.returncode == 4
    assert not (tmp_path / "p.json").exists()


@pytest.mark.skipif(not NOISEQA.exists(), reason="NoiseQA is not here (../shared/data/noiseqa)")
def test_from_what_people_typed_to_the_number(tmp_path: Path) -> None:
    """Every other question of NoiseQA, typed by people; the typist's draws are what `vary` prints."""
    pytest.importorskip("sklearn")
    rows = [json.loads(line) for line in NOISEQA.read_text("utf-8").splitlines()][::2]
    for name, field in (("c", "question"), ("h", "keyboard")):
        lines = [
            {"id": r["id"], "article": r["context"][:60], "context": r["context"], "question": r[field]} for r in rows
        ]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    vary = "vary c.jsonl --lang en --input question --with keyboard/typist --seed 7 -o -"
    made = unswayed(*vary.split(), cwd=tmp_path, check=True).stdout
    assert len(made.splitlines()) == len(rows), "who types right is there too"
    (tmp_path / "s.jsonl").write_text(made, "utf-8")
    line = "realism --clean c.jsonl --real h.jsonl --simulated s.jsonl --input question --lang en --format json"
    done = unswayed(*line.split(), "--by", "article", "--documents", "context", cwd=tmp_path, check=True)
    found = json.loads(done.stdout)
    assert found["language"] == "en"
    assert found["auc"]["n"] == len({row["context"][:60] for row in rows}), "articles, not sentences"
    stress, nothing = found["baselines"]["keyboard/adjacent"]["value"], found["baselines"]["nothing"]["value"]
    assert found["auc"]["value"] < nothing < stress
    assert stress > 0.95
    [harmed] = found["harm"]["retriever"]
    assert 80 < harmed["accuracy"]["clean"]["value"] < 97
    assert harmed["flips"]["human"]["low"] < harmed["flips"]["human"]["value"] < 10
    table = unswayed(*line.replace(" --format json", " --no-baselines").split(), cwd=tmp_path, check=True).stdout
    assert "told from people" in table
    assert "baseline" not in table


@pytest.mark.skipif(not RUSSIAN.exists(), reason="RUSpellRU is not here (../shared/data/typing_ru)")
def test_russian_is_compared_on_its_own_keyboard() -> None:
    pytest.importorskip("sklearn")
    clean, typed = (
        (RUSSIAN / name).read_text("utf-8").splitlines()[:200] for name in ("corrections.txt", "sources.txt")
    )
    judge = RealismJudge(clean, [typed], language="ru")
    assert judge.script.baseline() == "keyboard/adjacent"
    assert _value(judge.against_people([clean])) > 0.6

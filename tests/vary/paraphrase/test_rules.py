"""Paraphrases by rule: each kind on sentences where it must act and where it must not, and labels that stay true."""

from __future__ import annotations

import json
from pathlib import Path

import commands
import pytest
from hypothesis import given, settings, strategies as st

from unswayed.base.edits import apply
from unswayed.base.errors import UnknownName
from unswayed.base.seeds import Seeds
from unswayed.storage.suite import Suite
from unswayed.vary.operator import Text
from unswayed.vary.paraphrase.rules import KINDS, Rules, close_synonyms
from unswayed.vary.sentence import sentences
from unswayed.vary.words import jaccard


def said(text: str, kinds: str, draws: int = 12, **more: object) -> set[str]:
    """All that the operator makes of a text in a few draws."""
    operator = Rules(kinds=kinds, **more)  # type: ignore[arg-type]
    streams = (Seeds(0, "test", 1).stream("", draw) for draw in range(draws))
    changes = (operator.change(Text(text), stream) for stream in streams)
    return {apply(text, change.edits) for change in changes if change is not None}


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        ("voice", "Microsoft bought Skype in 2011.", "Skype was bought by Microsoft in 2011."),
        ("voice", "The movie was directed by him.", "He directed the movie."),
        ("voice", "The author has written two books .", "Two books have been written by the author ."),
        ("voice", "The company will build the houses.", "The houses will be built by the company."),
        ("voice", "Six people were killed by a storm in Utah.", "A storm killed six people in Utah."),
        ("voice", "Oil kills birds.", "Birds are killed by oil."),
        ("voice", "Ivan Getting invented the GPS.", "The GPS was invented by Ivan Getting."),
        ("voice", "In May, the Lakers won the title.", "In May, the title was won by the Lakers."),
        ("order", "When the war ended, he left.", "He left when the war ended."),
        ("order", "He left the country because he was tired.", "Because he was tired, he left the country."),
        ("order", "The Titanic sank in 1912.", "In 1912, the Titanic sank."),
        ("order", "On Monday, the talks began.", "The talks began on Monday."),
        ("order", "The fire spread quickly, officials said.", "Officials said that the fire spread quickly."),
        ("order", "According to Mr. Lee, prices will fall.", "Prices will fall, according to Mr. Lee."),
        ("nominal", "She decided to leave.", "She made the decision to leave."),
        ("nominal", "They made the decision to leave.", "They decided to leave."),
        ("nominal", "Rowling is the author of the book.", "Rowling wrote the book."),
        ("nominal", "Gates is the owner of the firm.", "Gates owns the firm."),
        ("nominal", "Paris is the capital of France.", "Paris is France's capital."),
        ("nominal", "France's capital is Paris.", "The capital of France is Paris."),
        ("contraction", "He does not know.", "He doesn't know."),
        ("contraction", "It's been cold.", "It has been cold."),
        ("contraction", "I’m not sure he will come today.", "I am not sure he will come today."),
        ("expression", "More than 20 came.", "Over 20 came."),
        ("synonym", "A lawyer arrived.", "An attorney arrived."),
        ("synonym", "Russian troops left.", "Russian soldiers left."),
        ("synonym", "He refused to speak.", "He declined to speak."),
        ("synonym", "The prize was awarded to her.", "The prize was given to her."),
    ],
)
def test_a_kind_says_it_another_way(kind: str, text: str, expected: str) -> None:
    assert expected in said(text, kind)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("voice", "It rained by Monday."),
        ("voice", "The vote was held by the end of May."),
        ("voice", "He killed himself."),
        ("voice", "Agnes was founded by Mo Siegel and John Hay."),  # both founded it
        ("voice", "He gave her a book."),
        ("voice", "She has written two books."),  # nobody says *by her* without a reason
        ("voice", "The FDA provided a list of states in which the pills were sold."),
        ("voice", "The report showed growth in sales slowed."),
        ("voice", "The agency purchases food from farms and distributes it."),
        ("voice", "The government banned flights to Kenya."),
        ("voice", "Saddam accepted an offer to flee."),
        ("voice", "The storm killed teens."),  # tagged as one
        ("voice", "A team conquered Mt. Kanchenjunga, the third highest peak."),
        ("order", "Police said Wednesday that they found it."),
        ("order", "The first crash was in 2000."),
        ("order", "Willesden will appear before the magistrates' court today."),
        ("order", "Did it rain when he left?"),
        ("order", "He has lived here since the men who came in 1990 left in 2000."),
        ("order", '"It rained," he said.'),
        ("nominal", "The city of Madras is large."),
        ("nominal", "He is on life support now."),
        ("contraction", "Don't you know?"),
        ("contraction", "He knows what it is."),
        ("contraction", "Why doesn't he know it?"),
        ("expression", "Tourism falls in the U.S."),
        ("nominal", "The Queen of Holland is a diamond."),
        ("contraction", "Women are as poor there as they are in France."),
        ("expression", "He was punished for not following the orders."),
        ("expression", "There are no more than 20."),
        ("expression", "The train is due to arrive."),
        ("expression", "They asked the US public."),
        ("synonym", "He was accused of theft."),
        ("synonym", "Two soldiers left."),
        ("synonym", "Inflation is declining."),
        ("synonym", "He happened to know it."),
        ("synonym", "They sit in each other's jails."),
        ("synonym", "They accelerate Japan's attempts to reform."),
        ("synonym", "The death penalty is old."),
        ("synonym", "Film Festival Movie Lawyer"),  # names
    ],
)
def test_it_leaves_alone_what_it_would_break(kind: str, text: str) -> None:
    assert said(text, kind) == set()


def test_names_keep_their_capitals() -> None:
    assert said("Celestial Seasonings bought a firm.", "voice") == {"A firm was bought by Celestial Seasonings."}
    assert said("Oracle sells software.", "voice") == set(), "it may be a name, or a word at the beginning"
    assert said("The army attacked the town.", "voice") == {"The town was attacked by the army."}


def test_only_the_wide_table_knows_most_words() -> None:
    assert said("play the new album", "synonym") == set()
    assert said("play the new album", "synonym", wide=True)


def test_every_goes_through_a_paragraph_sentence_by_sentence() -> None:
    """P̂aRTE's premises are paragraphs: one rewrite leaves nearly all of their words."""
    text = "A lawyer arrived. Russian troops left the city. More than 20 people refused to speak."
    once, every = said(text, "all", chance=1.0), said(text, "all", every=True, chance=1.0, rate=1.0)
    assert every
    for made in every:
        assert "attorney" in made
        assert "Over 20" in made
        assert "declined" in made
    assert min(jaccard(text, made) for made in every) < min(jaccard(text, made) for made in once)
    wide = said(text, "all", every=True, chance=1.0, rate=1.0, wide=True)
    assert min(jaccard(text, made) for made in wide) < 0.6
    assert said("", "all", every=True) == set()


def test_labelled_words_stay_and_nothing_moves() -> None:
    class Task:
        aligned = True

        def marked(self, gold: object, field: str, text: str) -> list[tuple[int, int]]:
            return [(text.index("movie"), text.index("movie") + 5)]

        def labelled(self, gold: object, field: str, text: str, at: int) -> bool:
            return self.marked(gold, field, text)[0][0] <= at < self.marked(gold, field, text)[0][1]

    text = "The movie was directed by a famous author and it did not win a prize."
    made = set()
    for draw in range(30):
        change = Rules().change(
            Text(text, task=Task()),  # type: ignore[arg-type]
            Seeds(0, "t", 1).stream("", draw),
        )
        if change:
            made.add(apply(text, change.edits))
    assert len(made) > 3
    assert all(new.startswith("The movie was directed by a") for new in made)


def test_the_command_as_the_docs_have_it(tmp_path: Path) -> None:
    rows = [
        {"premise": "Microsoft bought Skype in 2011.", "hypothesis": "A company did not buy Skype.", "label": "no"},
        {
            "premise": "The lawyer was arrested by police.",
            "hypothesis": "The police arrested a lawyer.",
            "label": "yes",
        },
    ]
    (tmp_path / "pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    command = ["vary", "pairs.jsonl", "--with", "paraphrase/rules", "--draws", "3", "-o", "suite/"]
    commands.unswayed(*command, cwd=tmp_path, check=True)
    suite = Suite(tmp_path / "suite")
    assert suite.manifest.variants == 6
    golds = {example.id: example.gold for example in suite.examples()}
    assert all(variant.gold == golds[variant.example_id] for variant in suite.variants())


def test_unknown_kinds_are_refused() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'voice'"):
        Rules(kinds="voices")


def test_the_list_of_synonyms_is_sound() -> None:
    table = close_synonyms()
    assert len(table) > 300
    assert {kind for kind, _ in table} == set("vnar")
    for (_, word), close in table.items():
        assert close.others
        assert word not in close.others
        assert not (close.only and close.never)


_WORDS = "the army attacked was by Paris 's of capital , . because it did not in 1990 said In He “ ” it's France is"
_parts = st.sampled_from([*_WORDS.split(), "\n", "🙂", "שלום"])


@given(st.lists(_parts, max_size=25), st.integers(0, 50))
@settings(max_examples=300, deadline=None)
def test_any_words_in_any_order(parts: list[str], draw: int) -> None:
    text = " ".join(parts)
    for sentence in sentences(text):
        for rewrites in KINDS.values():
            for rewrite in rewrites(sentence):
                assert sentence.start <= rewrite.start < rewrite.end <= sentence.end
    change = Rules(wide=True).change(Text(text), Seeds(0, "t", 1).stream("", draw))
    assert change is None or apply(text, change.edits) != text

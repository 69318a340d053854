"""Diffs, the sample of flips, sentences and charts, each by itself."""

from __future__ import annotations

from xml.etree import ElementTree

import msgspec
import pytest
from hypothesis import given, strategies as st
from markupsafe import Markup

import unswayed
from unswayed.base.text import label, spelled, title, visible
from unswayed.base.values import Example, Output, Variant
from unswayed.measure.changes import Flip, FlipBlock
from unswayed.measure.repeats import Repeats
from unswayed.measure.sentences import plain, verdict
from unswayed.report import charts
from unswayed.report.diff import diff
from unswayed.report.flips import FlipSample, marked
from unswayed.report.html import tables
from unswayed.report.junit import junit_xml
from unswayed.report.tables import render


@pytest.mark.parametrize(
    ("before", "after", "html"),
    [
        ("play some jazz", "play some jazx", "play some <del>jazz</del><ins>jazx</ins>"),
        ("北京明天会下雨", "北京名天会下鱼", "北京<del>明</del><ins>名</ins>天会下<del>雨</del><ins>鱼</ins>"),
        ("rain today", "rain today , you know", "rain today<ins> , you know</ins>"),
        ("don't stop", "dont stop", "<del>don&#39;t</del><ins>dont</ins> stop"),
        ("a b", "ab", "<del>a b</del><ins>ab</ins>"),
        ("a, b", "a,b", "a,<del>␣</del>b"),
        ("<b>", "<i>", "&lt;<del>b</del><ins>i</ins>&gt;"),
        ("café au lait", "cafe\u0301 au lait", "<del>café</del><ins>cafe\u0301</ins> au lait"),
        ("", "x", "<ins>x</ins>"),
    ],
)
def test_differences_are_marked(before, after, html):
    assert str(marked(diff(before, after))) == html


texts = st.text(st.sampled_from("ab 会明,.\n"), max_size=80)


@given(texts, texts)
def test_a_diff_holds_both_texts(before, after):
    pieces = diff(before, after)
    assert "".join(p.text for p in pieces if p.kind != "ins") == before
    assert "".join(p.text for p in pieces if p.kind != "del") == after


@given(texts, texts, st.integers(5, 40))
def test_a_diff_is_never_longer_than_asked(before, after, limit):
    pieces = diff(before, after, limit)
    for kinds in (("same", "del"), ("same", "ins")):
        assert sum(len(p.text) for p in pieces if p.kind in kinds) <= limit


def test_a_long_text_is_cut_around_the_change():
    pieces = diff("x " * 5_000_000 + "old end", "x " * 5_000_000 + "new end")
    assert pieces[0].text == "… 9,999,752 characters …"
    assert ("del", "old") in pieces
    assert ("ins", "new") in pieces


def test_a_text_without_spaces_is_diffed_quickly_enough_to_finish():
    pieces = diff("a" * 10_000_000, "b" * 10_000_000)
    assert [p.kind for p in pieces] == ["del", "ins", "cut"]


def test_what_hides_is_made_visible():
    assert visible("a\x00b\x1b[0m\u202ec\ud800\n") == "a␀b␛[0m⟨U+202E⟩c⟨U+D800⟩\n"
    assert visible("👩‍👧 می‌خواهم") == "👩‍👧 می‌خواهم"
    assert label("a\nb" * 100, 5) == "a␊ba…"


def test_slots_are_spelled_with_their_words():
    gold = {"intent": "PlayMusic", "slots": ["O", "B-artist", "I-artist"]}
    assert spelled(gold, {"text": "play miles davis"}) == "intent: PlayMusic · artist: miles davis"
    assert spelled(gold) == "intent: PlayMusic · slots: O | B-artist | I-artist"
    assert spelled([1, None]) == "[1,null]"


def make_flip(i, source, right_before=True, right_after=False):
    example = Example(i, f"e{i}", {"text": "a b"}, "x")
    variant = Variant(i, f"e{i}", 0, source, "f", "same", {"text": "a c"}, "x", "")
    return Flip(example, variant, Output("x"), Output("y"), right_before, right_after)


def test_the_sample_takes_operators_in_turn_and_right_then_wrong_first():
    sample = FlipSample(10)
    for i in range(500):
        sample.add(FlipBlock.of([make_flip(i, "common", right_before=i % 2 == 0)]))
    for i in range(3):
        sample.add(FlipBlock.of([make_flip(i, "rare")]))
    sample.add(FlipBlock.of([make_flip(9, "fixed", right_before=False, right_after=True)]))
    cards = sample.cards()
    assert len(cards) == 10
    assert [card.source for card in cards[:4]] == ["common", "rare", "common", "rare"]
    assert {card.rank for card in cards} == {0}
    assert sample.counts == {"common": 500, "rare": 3, "fixed": 1}


@given(st.permutations(range(30)))
def test_the_sample_does_not_depend_on_order(order):
    def chosen(ids):
        sample = FlipSample(7)
        for i in ids:
            sample.add(FlipBlock.of([make_flip(i, f"op{i % 2}")]))
        return [card.example for card in sample.cards()]

    assert chosen(order) == chosen(range(30))


def test_the_verdict_in_words(results):
    assert plain(verdict(results)) == (
        "More than chance, serious: accuracy falls by 13.0 points [11.0, 15.0] with typos, paraphrases or casual "
        "speech, from 0.940 to 0.810; 12% [10%, 14%] of answers change. Affected most: operator keyboard/adjacent "
        "(drop 0.230). Affected more than the rest: slice length = short (drop 0.210). Next: read the changed answers "
        "(unswayed view), then train with such texts (unswayed augment --with keyboard/adjacent) or correct the inputs."
    )


def test_a_drop_that_may_be_chance_is_called_so(make_results, make_estimate):
    results = make_results(average=make_estimate(0.935), drop=make_estimate(0.005), sets={}, grid={}, naming=None)
    said = plain(verdict(results))
    assert said.startswith(
        "May be chance for the score, serious for the answers: accuracy falls by 0.5 points [−1.5, 2.5]"
    )
    assert "from 0.940 to 0.935" in said
    assert "Affected most" not in said


def test_a_rise_a_standstill_and_missing_answers(make_results, make_estimate):
    rise = make_results(average=make_estimate(0.95), drop=make_estimate(-0.01))
    assert "rises by" in plain(verdict(rise))
    still = make_results(average=make_estimate(0.94), drop=make_estimate(0.0))
    assert "accuracy stays at 0.940" in plain(verdict(still))
    still = make_results(average=make_estimate(0.94, missing=7), drop=make_estimate(0.0))
    assert "on the inputs that were answered, accuracy is 0.940, and 0.940 with" in plain(verdict(still))
    assert "7 varied inputs failed and are left out" in plain(verdict(still))


def test_flips_without_a_score(make_results, make_estimate):
    none = make_estimate(None)
    results = make_results(clean=none, average=none, worst=none, drop=none)
    assert plain(verdict(results)).startswith("Serious: 12% [10%, 14%] of answers change with")


def test_gates_come_first(results, gates):
    assert plain(verdict(results, gates)).startswith("1 of 2 gates failed.")
    assert plain(verdict(results, gates[:1])).startswith("The gate passed.")


def check_svg(svg):
    root = ElementTree.fromstring(str(svg))
    assert root.get("role") == "img"
    names = [element.tag.rpartition("}")[2] for element in root]
    assert names[:2] == ["title", "desc"]
    assert "script" not in names
    return root


@given(st.text(st.characters(), max_size=30))
def test_charts_are_well_formed_for_any_name(name):
    from unswayed.base.values import Estimate

    some, none = Estimate(0.5, 0.4, 0.6, 9, 0, ""), Estimate(None, None, None, 0, 0, "")
    check_svg(charts.forest([(name, {"clean": some, "average": none, "worst": some})], name, name))
    check_svg(charts.bars([(name, some), (name, none)], name))
    check_svg(charts.grouped_bars({name: {name: some, "x": none}}, name, name))
    check_svg(charts.heat_map({name: {f"{name}={name}": some, "x=y": none}}, [f"{name}={name}", "x=y", "z"], name))


def test_a_heat_map_has_its_numbers(make_estimate):
    root = check_svg(
        charts.heat_map({"op": {"a=b": make_estimate(0.31), "a=c": make_estimate(-0.01)}}, ["a=b", "a=c"], "t")
    )
    words = [element.text for element in root.iter() if element.tag.endswith("}text")]
    assert words == ["a", "b", "a", "c", "op", "0.310", "−0.010"]


@given(st.floats(-2, 2), st.floats(0, 1))
def test_every_cell_can_be_read(value, most):
    fill, ink = charts.heat(value, most)
    light, dark = sorted(
        (charts.luminance([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) for colour in (fill, ink)), reverse=True
    )
    assert (light + 0.05) / (dark + 0.05) >= 4.5


@given(st.floats(-1e6, 1e6), st.floats(0, 1e6))
def test_an_axis_holds_its_values(low, spread):
    ticks = charts.axis(low, low + spread)
    assert 3 <= len(ticks) <= 12
    assert ticks[0] <= low + 1e-6 * abs(low) + 1e-6 * (1 + spread)
    assert ticks[-1] >= low + spread - 1e-6 * abs(low + spread) - 1e-6 * (1 + spread)


@pytest.mark.parametrize(
    ("flips", "drop", "said"),
    [
        (
            (0.31, 0.28, 0.34),
            (-0.02, -0.03, -0.01),
            "More than chance, serious: accuracy rises by 2.0 points",
        ),
        ((0.06, 0.05, 0.07), (0.00, -0.01, 0.01), "No fall for the score, moderate for the answers: accuracy stays"),
        ((0.06, 0.051, 0.08), (0.055, 0.051, 0.06), "More than chance, serious: "),  # almost all changes are losses
        ((0.01, 0.005, 0.015), (0.0, -0.005, 0.005), "No fall, minor: accuracy stays at 0.940 "),
        ((0.05, 0.01, 0.12), (0.0, -0.1, 0.1), "No fall for the score, moderate for the answers: "),
    ],
)
def test_chance_and_grade_lead(make_results, make_estimate, flips, drop, said):
    def ends(values):
        return msgspec.structs.replace(make_estimate(values[0]), low=values[1], high=values[2])

    average = make_estimate(0.94 - drop[0])
    results = make_results(average=average, flip_rate=ends(flips), drop=ends(drop))
    words = plain(verdict(results))
    assert words.startswith(said)
    assert results.severity is not None
    assert results.severity.partition(";")[0] in said.lower()
    assert words.index("accuracy") < words.index("of answers change")
    # the same words wherever a run is shown
    said = [render(results, "table"), render(results, "md").replace("\\", ""), junit_xml(results).decode()]
    assert all(words in " ".join(text.split()) for text in said)


def test_the_wording_of_translations_is_not_graded_only_their_score(make_results, make_estimate):
    flips, drop = make_estimate(0.9), msgspec.structs.replace(make_estimate(0.5), low=0.3, high=0.7)
    scores = {"clean": make_estimate(30.0), "average": make_estimate(29.5), "drop": drop}
    results = make_results(task="translate", score="bleu", **scores, flip_rate=flips)
    assert plain(verdict(results)).startswith("More than chance, minor: BLEU falls by 0.500 [0.300, 0.700] ")


def test_against_its_own_wavering_a_system_may_be_fine(make_results, make_estimate):
    def share(value, low, high):
        return msgspec.structs.replace(make_estimate(value), low=low, high=high)

    kept = {"agreement": share(0.8, 0.7, 0.9), "consistency": share(0, -0.1, 0.1), "drop": share(0, -0.005, 0.005)}
    flips = {"disagreement": share(0.13, 0.12, 0.14), "flips": share(0.005, -0.01, 0.015)}
    repeats = Repeats(repeats=3, of=3, **flips, **kept)
    said = plain(verdict(make_results(repeats=repeats, flip_rate=share(0.135, 0.12, 0.15))))
    assert "More than chance, minor: " in said  # beyond chance is said of the answers only if it was shown
    assert "minor beyond chance" not in said
    assert "13.0% of answers change when the same text is asked again" in said


@pytest.mark.parametrize(
    ("score", "words"),
    [
        ("accuracy", "Accuracy"),
        ("macro_f1", "Macro F1"),
        ("match(number then exact)", "Share of right answers"),
        ("match", "Share of right answers"),
        ("entity_f1(PER)", "Entity F1 (PER)"),
        ("chrf", "chrF"),
        ("sentence_bleu", "Sentence BLEU"),
        ("end_to_end", "End-to-end accuracy"),
    ],
)
def test_scores_have_plain_names(score, words):
    assert title(score) == words


def test_a_sentence_has_the_score_as_its_subject(make_results):
    results = make_results(score="match(number then exact)")
    assert "the share of right answers falls by 13.0 points" in plain(verdict(results))


def test_rankings_have_each_score_by_operator() -> None:
    """The same numbers as if each score were the main one."""
    things = ["phone", "film", "parcel", "guitar", "garden", "ticket"]
    rows = [{"query": f"where can I find a good {word} please", "relevant": [word]} for word in things * 2]
    suite = unswayed.make_suite(
        rows, ["keyboard/adjacent", "spoken/filler_end"], draws=2, seed=3, language="en", task="retrieve"
    )
    run = unswayed.run_system(
        suite, lambda batch: [[w for w in things[::-1] if w in x["query"]] or things for x in batch]
    )
    results = unswayed.measure_run(run)
    assert results.scores_by
    for name in ("recall@10", "mrr@10"):
        alone = unswayed.measure_run(run, {"measure": {"scores": [name]}})
        for operator, block in alone.sets["operator"].items():
            beside = results.scores_by[operator]
            assert (beside[f"{name}:average"].value, beside[f"{name}:average"].low) == (
                block.average.value, block.average.low,
            )  # fmt: skip
            assert beside[f"{name}:drop"].value == block.drop.value
    table = next(one for one in tables(results) if "Rankings by operator" in str(one.caption))
    assert [Markup(head).striptags() for head in table.heads] == [
        "nDCG@10", "nDCG@10, drop", "Recall@10", "Recall@10, drop", "MRR@10", "MRR@10, drop",
    ]  # fmt: skip
    assert len(table.rows) == 2
    plain = unswayed.check(
        lambda batch: ["a"] * len(batch), [{"text": t, "label": "a"} for t in things], "@typing", language="en"
    )
    assert not plain.scores_by

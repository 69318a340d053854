"""Story 1, a notebook: a DataFrame of 2,000 messages, a fitted scikit-learn pipeline, and one call."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any

import pytest

import unswayed

NLU = Path(__file__).parents[3] / "shared/data/nlu_ed/KFold_1/trainset"
MESSAGES = 2_000
REGIONS = ("north", "east", "south", "west")  # made up: the corpus has none
TYPING = ("adjacent", "misspell", "typist")

pytestmark = pytest.mark.skipif(not NLU.is_dir(), reason="NLU-ED's files are not here (../shared/data/nlu_ed)")


def messages() -> Any:
    """Real requests to an assistant at home; the queue that a message belongs to is its scenario."""
    pandas = pytest.importorskip("pandas")
    rows: list[dict[str, str]] = []
    for file in sorted(NLU.glob("*.csv")):
        with file.open(encoding="utf-8", newline="") as lines:
            for row in csv.DictReader(lines, delimiter=";"):
                rows.append({"message": row["answer_from_user"], "queue": row["scenario"]})
    frame = pandas.DataFrame(rows).dropna().drop_duplicates("message")
    return frame[frame["message"].str.strip() != ""].sample(frac=1, random_state=7).reset_index(drop=True)


@pytest.fixture(scope="module")
def data() -> tuple[Any, Any]:
    """What to learn from, and the DataFrame of the story."""
    whole = messages()
    df = whole.iloc[:MESSAGES].copy()
    df["region"] = [REGIONS[i % 4] for i in range(MESSAGES)]
    return whole.iloc[MESSAGES:], df


def fitted(data: Any, **features: Any) -> Any:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import SGDClassifier
    from sklearn.pipeline import make_pipeline

    return make_pipeline(TfidfVectorizer(**features), SGDClassifier(random_state=0)).fit(data["message"], data["queue"])


def test_a_notebook(data: tuple[Any, Any]) -> None:
    learned, df = data
    assert len(df) == MESSAGES
    pipe = fitted(learned)

    r = unswayed.check(pipe, df, "@typing", input="message", gold="queue", draws=3)
    shown = repr(r)
    assert len(shown) < 3_000
    assert shown.startswith("More than chance"), "the verdict comes first"
    assert re.search(r"worst of 3 +0\.\d+ \[0\.\d+, 0\.\d+\]", shown), "then a table with intervals"
    assert r._repr_html_().count("<tr>") > 3
    assert r.clean.low < r.clean.value < r.clean.high
    assert r.worst.high < r.clean.low, "typing errors hurt words as features"

    head = r.flips().head()
    assert len(head) == 5
    assert {"before", "after", "change", "answer_before", "answer_after"} <= set(head.columns)
    assert (head["before"] != head["after"]).all()
    assert (head["answer_before"] != head["answer_after"]).all()

    by_operator = r.by("operator").to_pandas()
    assert {f"keyboard/{name}" for name in TYPING} <= set(by_operator["name"])
    assert set(r.by("region")) == set(REGIONS)
    assert "north" in repr(r.by("region"))

    # They retrain the pipeline, in place, and call again: new numbers, never the old ones.
    better = fitted(learned, analyzer="char_wb", ngram_range=(2, 4))
    pipe.steps = better.steps
    r2 = unswayed.check(pipe, df, "@typing", input="message", gold="queue", draws=3)
    assert r2.suite == r.suite, "the same data and operators give the same suite"
    assert r2.worst.low > r.worst.high
    assert r2.worst.signature != r.worst.signature

    compared = unswayed.compare(r, r2)
    worst = next(d for d in compared.differences if d.measure == "worst" and d.set in ("", "all"))
    assert worst.low > 0
    assert worst.p_corrected < 0.01
    assert "worst" in repr(compared)
    assert len(compared.to_pandas()) == len(compared)


def test_a_retrained_pipeline_in_a_folder_of_its_own(data: tuple[Any, Any], tmp_path: Path) -> None:
    """With `to`, answers are reused; what they are reused for is decided by what the pipeline has learned."""
    learned, df = data
    few = df.iloc[:200]
    pipe = fitted(learned)
    told = {"input": "message", "gold": "queue", "to": tmp_path / "run"}
    first = unswayed.check(pipe, few, "keyboard/adjacent", **told)
    assert unswayed.check(pipe, few, "keyboard/adjacent", **told).clean == first.clean
    pipe.fit(few["message"], few["queue"])
    again = unswayed.check(pipe, few, "keyboard/adjacent", **told)
    assert again.clean.value == 1.0
    assert again.clean.value > first.clean.value

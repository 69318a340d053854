"""What must stay whole is found in a block of texts as it is in each of them."""

from __future__ import annotations

from hypothesis import given, strategies as st

from unswayed.base.protect import protected_spans, texts_with_protected

# Pieces of what is protected, and of what is not, so that texts on the border come up often.
PIECES = [
    *(
        "a",
        "B",
        "7",
        "20",
        "th",
        " ",
        "\n",
        "\t",
        "\0",
        ".",
        ",",
        "-",
        "--",
        "+",
        "(",
        ")",
        ":",
        ";",
        "'",
        "’",
        "%",
        "@",
    ),
    *("_", "=", "<", ">", "|", "8", "s", "am", "é", "İ", "ſelect", "select * from t", "👍", "\u0301", "\ud800", "D"),
    *("camelCaseWord", "12:30", "20th", "7pm", "a.b", "3.5", "555 1234", "1. item", "- item", "x = 1;", "import numpy"),
]
texts = st.lists(st.sampled_from(PIECES), max_size=7).map("".join)


@given(st.lists(texts, min_size=4, max_size=12))
def test_a_block_is_searched_as_its_texts_are(block: list[str]) -> None:
    each = {i: found for i, text in enumerate(block) if (found := protected_spans(text))}
    assert texts_with_protected(block) == each


def test_ordinals_and_times_are_plain_words() -> None:
    assert texts_with_protected(["on the 20th at 7pm", "the 1990s", "in 2010.", "a 3rd, 2nd or 1st one"] * 2) == {}
    assert protected_spans("20th-Century")
    assert protected_spans("b2b4")

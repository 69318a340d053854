"""Indian English, feature by feature."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from unfazed.core.edits import Edit, apply
from unfazed.core.seeds import Stream
from unfazed.vary.dialect import _indian_clause as clause
from unfazed.vary.dialect import _indian_noun as noun
from unfazed.vary.operator import Change, Operator, Text
from unfazed.vary.paraphrase._sentence import Sentence, sentences

FEATURES: dict[str, Callable[[Sentence], Iterator[tuple[Edit, ...]]]] = {
    "article omission": noun.article_omission,
    "copula omission": clause.copula_omission,
    "direct object pronoun drop": noun.object_drop,
    "extraneous article": noun.extraneous_article,
    "focus itself": noun.focus_itself,
    "focus only": noun.focus_only,
    "general extender and all": noun.general_extender,
    "habitual progressive": clause.habitual_progressive,
    "invariant tag": clause.invariant_tag,
    "inversion in embedded clause": clause.embedded_inversion,
    "lack of agreement": clause.lack_of_agreement,
    "lack of inversion in wh-questions": clause.lack_of_inversion,
    "left dislocation": noun.left_dislocation,
    "mass nouns as count nouns": noun.mass_as_count,
    "non-initial existential": noun.non_initial_existential,
    "object fronting": clause.object_fronting,
    "preposition omission": noun.preposition_omission,
    "prepositional phrase fronting with reduction": clause.fronting_with_reduction,
    "resumptive object pronoun": noun.resumptive_object,
    "resumptive subject pronoun": noun.resumptive_subject,
    "stative progressive": clause.stative_progressive,
    "topicalized non-argument constituent": clause.topicalisation,
}


class IndianEnglish(Operator):
    """Says a sentence with one feature of Indian English, such as *only* for focus, which the note names.

    `feature` asks for one of the 22; otherwise one of those that fit is drawn.
    """

    languages = ("en",)
    example = ("my daughter is attending the university", "my daughter is attending university")

    def __init__(self, feature: str = "") -> None:
        if feature and feature not in FEATURES:
            raise ValueError(f"there is no feature {feature!r}; there are {', '.join(FEATURES)}")
        self.feature = feature

    def change(self, text: Text, rng: Stream) -> Change | None:
        asked = [self.feature] if self.feature else list(FEATURES)
        found: dict[str, list[tuple[Edit, ...]]] = {}
        for sentence in sentences(text.text):
            for name in asked:
                edits = [one for one in FEATURES[name](sentence) if apply(text.text, one) != text.text]
                if edits:
                    found.setdefault(name, []).extend(edits)
        if not found:
            return None
        name = rng.choice(list(found))
        return Change(rng.choice(found[name]), name)

"""Indian English, feature by feature."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from unfazed.core.edits import Edit, apply
from unfazed.core.errors import UnknownName
from unfazed.core.seeds import Stream
from unfazed.vary.dialect import _indian as says
from unfazed.vary.operator import Change, Operator, Text
from unfazed.vary.sentence import Sentence, sentences

FEATURES: dict[str, Callable[[Sentence], Iterator[tuple[Edit, ...]]]] = {
    "article omission": says.article_omission,
    "copula omission": says.copula_omission,
    "direct object pronoun drop": says.object_drop,
    "extraneous article": says.extraneous_article,
    "focus itself": says.focus_itself,
    "focus only": says.focus_only,
    "general extender and all": says.general_extender,
    "habitual progressive": says.habitual_progressive,
    "invariant tag": says.invariant_tag,
    "inversion in embedded clause": says.embedded_inversion,
    "lack of agreement": says.lack_of_agreement,
    "lack of inversion in wh-questions": says.lack_of_inversion,
    "left dislocation": says.left_dislocation,
    "mass nouns as count nouns": says.mass_as_count,
    "non-initial existential": says.non_initial_existential,
    "object fronting": says.object_fronting,
    "preposition omission": says.preposition_omission,
    "prepositional phrase fronting with reduction": says.fronting_with_reduction,
    "resumptive object pronoun": says.resumptive_object,
    "resumptive subject pronoun": says.resumptive_subject,
    "stative progressive": says.stative_progressive,
    "topicalized non-argument constituent": says.topicalisation,
}


class IndianEnglish(Operator):
    """Rewrites a sentence with one feature of Indian English, such as *only* for focus. The note names the feature.

    `feature` chooses one of the 22. By default, the operator takes one at random of those that fit.
    """

    languages = ("en",)
    example = ("my daughter is attending the university", "my daughter is attending university")

    def __init__(self, feature: str = "") -> None:
        if feature and feature not in FEATURES:
            raise UnknownName("feature of dialect/indian_english", feature, FEATURES)
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

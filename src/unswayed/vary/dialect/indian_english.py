"""Indian English, feature by feature."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from unswayed.vary.dialect import _indian as says
from unswayed.vary.dialect._features import FeatureOperator, Rule


class IndianEnglish(FeatureOperator):
    """Rewrites a text with a feature of Indian English, such as *only* for focus. The note names the feature.

    `feature` chooses one or more of the 22, separated by commas. By default, the operator takes one at random of those
    that fit. With `rate`, each place changes with that probability.
    """

    example = ("my daughter is attending the university", "my daughter is attending university")
    features: ClassVar[Mapping[str, Rule]] = {
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

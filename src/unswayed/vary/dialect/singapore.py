"""Colloquial Singapore English, feature by feature."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from unswayed.vary.dialect import _indian as shared, _singapore as says
from unswayed.vary.dialect._features import FeatureOperator, Rule


class Singapore(FeatureOperator):
    """Rewrites a text with a feature of Colloquial Singapore English, such as *lah*. The note names the feature.

    `feature` chooses one or more, separated by commas. By default, the operator takes one at random of those that fit.
    With `rate`, each place changes with that probability. Not validated against texts by speakers.
    """

    example = ("there are many people here", "got many people here")
    features: ClassVar[Mapping[str, Rule]] = {
        "discourse particle": says.particle,
        "already for completed action": says.already_completive,
        "zero copula": says.zero_copula,
        "zero past tense": says.zero_past,
        "zero third person -s": says.zero_third_person,
        "zero plural": says.zero_plural,
        "zero article": shared.article_omission,
        "subject pronoun drop": says.subject_drop,
        "object pronoun drop": shared.object_drop,
        "topic fronting": shared.object_fronting,
        "existential got": says.existential_got,
        "is it tag": says.is_it_tag,
        "can or not": says.can_or_not,
        "wh-word in place": says.wh_in_situ,
        "never for past denial": says.never_past,
        "kena passive": says.kena_passive,
        "ever for experience": says.ever_experience,
        "condition without if": says.no_if,
        "sentence-final one": says.final_one,
        "mass nouns as count nouns": shared.mass_as_count,
    }

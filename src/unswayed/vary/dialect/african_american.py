"""African American English, feature by feature."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from unswayed.vary.dialect import _african_american as says
from unswayed.vary.dialect._features import FeatureOperator, Rule


class AfricanAmerican(FeatureOperator):
    """Rewrites a text with a feature of African American English, such as zero copula. The note names the feature.

    `feature` chooses one or more, separated by commas. By default, the operator takes one at random of those that fit.
    With `rate`, each place changes with that probability.
    """

    example = ("my sister has two dogs", "my sister got two dogs")
    features: ClassVar[Mapping[str, Rule]] = {
        "zero copula": says.zero_copula,
        "zero third person -s": says.zero_third_person,
        "possessive got": says.possessive_got,
        "habitual be": says.habitual_be,
        "completive done": says.completive_done,
        "remote past been": says.remote_been,
        "gon' future": says.gon_future,
        "was levelling": says.was_levelling,
        "wanna and gotta": says.reduced_to,
        "-in' for -ing": says.alveolar_ing,
        "no inversion in wh-questions": says.no_inversion,
        "existential it": says.existential_it,
        "ain't": says.aint,
        "invariant don't": says.invariant_dont,
        "negative concord": says.negative_concord,
        "negative inversion": says.negative_inversion,
        "zero possessive -s": says.zero_possessive,
        "possessive they": says.possessive_they,
        "demonstrative them": says.demonstrative_them,
        "y'all": says.yall,
        "'em": says.reduced_them,
    }

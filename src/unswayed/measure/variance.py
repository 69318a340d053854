"""Where the differences between scores come from: the examples, the people who varied them (or draws), and the rest.

Examples and people are both samples, crossed with each other; operators and families are not, so people are compared
within theirs. Components come from sums of squares (Henderson's first method), which allow for holes.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log, sqrt

import numpy as np

from unswayed.stats import Array, Ints, t_quantile


@dataclass(frozen=True)
class Cells:
    """One number for each variant: its example, the person who made it, the stratum of that person, the value.

    `cluster` is the cluster of its example, where examples are drawn together.
    """

    example: Ints
    person: Ints
    stratum: Ints
    value: Array
    cluster: Ints | None = None


@dataclass(frozen=True)
class Components:
    """The variance of one variant's number, and what the design makes of it in the mean over examples.

    The mean's variance is examples / n + people * people_share + rest * rest_share. A component may come out below
    zero, as any estimate may; `people` does so untouched, since the sum would be too large otherwise.
    """

    value: float
    n: int
    units: int  # examples, or clusters of them
    people_n: int
    strata: int
    examples: float
    people: float
    rest: float
    people_share: float
    rest_share: float
    people_df: float

    @property
    def of_people(self) -> float:
        """The part of the mean's variance that other people would change."""
        return max(self.people * self.people_share + self.rest * self.rest_share, 0.0)

    def interval(self, level: float, span: tuple[float, float], share: bool) -> tuple[float, float]:
        """The mean's interval for other examples and other people; a share's is made on the scale of log odds.

        Examples and people each widen it by their own t. Satterthwaite's single t is too narrow for three people.
        """
        tail = (1 + level) / 2
        examples = max(self.examples, 0.0) / self.n * t_quantile(tail, max(self.units - 1.0, 1.0)) ** 2
        wide = sqrt(examples + self.of_people * t_quantile(tail, max(self.people_df, 0.5)) ** 2)
        place = (self.value - span[0]) / (span[1] - span[0]) if share else 0.0
        if not 0 < place < 1:
            return max(self.value - wide, span[0]), min(self.value + wide, span[1])
        odds, wide = log(place / (1 - place)), wide / ((span[1] - span[0]) * place * (1 - place))
        low, high = (span[0] + (span[1] - span[0]) / (1 + exp(-x)) for x in (odds - wide, odds + wide))
        return low, high


def components(cells: Cells) -> Components | None:
    """The components of some cells; None if a stratum has but one person, or there is but one example."""
    _, example = np.unique(cells.example, return_inverse=True)
    _, person = np.unique(cells.person, return_inverse=True)
    _, stratum = np.unique(cells.stratum, return_inverse=True)
    n, y = int(example.max(initial=-1)) + 1, cells.value
    if n < 2:
        return None
    weight = 1 / (n * np.bincount(example))[example]
    value = float(weight @ y)
    _, unit = np.unique(cells.example if cells.cluster is None else cells.cluster, return_inverse=True)
    units = int(unit.max()) + 1
    by_unit = np.bincount(unit, weights=weight * (y - value))
    between = float((by_unit**2).sum()) * units / max(units - 1, 1)
    people = rest = people_share = rest_share = lost = freedom = 0.0
    for s in range(int(stratum.max()) + 1):
        inside = stratum == s
        found = _crossed(example[inside], person[inside], y[inside])
        if found is None:
            return None
        w = weight[inside]
        by_person = np.bincount(person[inside], weights=w)
        share, cells_share = float(by_person @ by_person), float(w @ w)
        people += found[0] * share
        rest += found[1] * cells_share
        people_share += share
        rest_share += cells_share
        lost += found[0] * (cells_share - share / n) + found[1] * cells_share
        part = max(found[0] * share + found[1] * cells_share, 0.0)
        freedom += part**2 / max(float(by_person.sum()) ** 2 / share - 1, 1e-9)
    of_people = max(people + rest, 0.0)
    return Components(
        value=value,
        n=n,
        units=units,
        people_n=int(person.max()) + 1,
        strata=int(stratum.max()) + 1,
        examples=n * (between - lost),
        people=people / people_share,
        rest=rest / rest_share,
        people_share=people_share,
        rest_share=rest_share,
        people_df=of_people**2 / freedom if freedom else 1.0,
    )


def _crossed(example: Ints, person: Ints, y: Array) -> tuple[float, float] | None:
    """The variances of people and of the rest within one stratum; None with one person.

    Sums of squares within examples, within people and in all have these expectations, with e examples, p people and
    N cells: (N - e)(P + R), (N - p)(E + R) and (N - 1)R + (N - Σmᵢ²/N)E + (N - Σnⱼ²/N)P.
    """
    _, example = np.unique(example, return_inverse=True)
    _, person = np.unique(person, return_inverse=True)
    m, k, cells = np.bincount(example), np.bincount(person), len(y)
    if len(k) < 2:
        return None
    inside = _within(example, m, y)
    if cells == len(m):  # one person an example: what is not the people's is the examples'
        within_people = _within(person, k, y) / max(cells - len(k), 1)
        total = float(((y - y.mean()) ** 2).sum())
        return (total - (cells - 1) * within_people) / (cells - float(k @ k) / cells), 0.0
    matrix = np.array(
        [
            [0.0, cells - len(m), cells - len(m)],
            [cells - len(k), 0.0, cells - len(k)],
            [cells - float(m @ m) / cells, cells - float(k @ k) / cells, cells - 1.0],
        ]
    )
    sums = np.array([inside, _within(person, k, y), float(((y - y.mean()) ** 2).sum())])
    _, people, rest = np.linalg.lstsq(matrix, sums, rcond=None)[0].tolist()
    if rest < 0:
        people, rest = people + rest, 0.0
    return people, rest


def _within(code: Ints, counts: Ints, y: Array) -> float:
    means = np.bincount(code, weights=y) / counts
    return float(((y - means[code]) ** 2).sum())

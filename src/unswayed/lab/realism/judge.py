"""The judge: boosted trees trained to tell simulated from human noise, tested on sentences that they have not seen.

Every comparison is of as many rows of one kind as of the other, on the same sentences, so that a person against the
others is judged by trees that learnt from as much as those for a simulation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from importlib.util import find_spec
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from unswayed.base.errors import MissingExtra, UsageError, WrongLanguage, option
from unswayed.base.ids import content_id
from unswayed.base.language import UNSURE, identify, language_name, language_tag
from unswayed.base.seeds import Seeds
from unswayed.lab.realism import Aligned
from unswayed.lab.realism.features import Named, chinese_features, known_words, letter_features, words_of
from unswayed.stats import Estimate, digest, interval, sign, t_quantile
from unswayed.vary.keyboard.layouts import LANGUAGES, Layout, layout_for

Channel = Literal["typing", "speech"]
_HAN = re.compile(r"[\u3400-\u9fff]")
# Written without spaces, or in blocks of several letters: neither way of counting fits them.
_NEITHER = re.compile(r"[\u3040-\u30ff\uac00-\ud7af\u1100-\u11ff\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff]")
_MAX_IDENTIFIED = 2_000  # texts
_WORDS_ALONE = ("letters", "speech")

Floats = npt.NDArray[np.float64]
Features = Callable[[str, str], Named]
FOLDS = 5
_MIN_REPEATS = 2  # of the folds
RESAMPLES = 400
_LEVEL = 0.95  # of intervals
_VERSION = 4  # of the features and the trees: goes up when the same texts would get another number
_MAX_SENTENCES = 6_000  # sentences looked at: more change little but the time
_MIN_SENTENCES = 4 * FOLDS
_MAX_TOLD = 8  # features that are named
_TREES = {"max_iter": 120, "max_depth": 4, "learning_rate": 0.08, "max_bins": 32, "l2_regularization": 1.0}


class TextScript(NamedTuple):
    """How texts are compared: by Chinese characters or letters. The language is `und` where it is not known."""

    name: Literal["han", "letters"]
    language: str

    channel: Channel = "typing"

    def features(self, clean: Sequence[str]) -> Features:
        """What gives the named numbers of a clean text and of what became of it. All clean texts tell known words."""
        if self.name == "han":
            return chinese_features
        lexicon, board = known_words(clean, self.language), keyboard_of(self.language)
        return lambda before, after: letter_features(before, after, lexicon, board)

    def seen(self, texts: Sequence[str]) -> list[str]:
        """The texts as they are compared: of speech in an alphabet the words alone, since a recogniser's capitals and
        marks are its settings."""
        return [" ".join(words_of(t)) for t in texts] if (self.name, self.channel) == _WORDS_ALONE else list(texts)

    def baseline(self) -> str:
        """The operator that is judged beside: a stress test for the same language and channel, or none."""
        if self.name == "han":
            return "keyboard/homophone"
        if self.channel == "speech":
            return "spoken/speako" if self.language.split("-")[0] == "en" else ""
        return "keyboard/adjacent" if keyboard_of(self.language) is not None else ""


@cache
def keyboard_of(language: str) -> Layout | None:
    """The keyboard of a language, if it has one."""
    return layout_for(language) if language.split("-")[0] in LANGUAGES else None


def script_of(texts: Sequence[str], language: str | None = None, channel: Channel = "typing") -> TextScript:
    """The script of these texts, and their language: the one that was named, or what they look like.

    Raises WrongLanguage where texts can't be compared, or are not in the script of the language.
    """
    sample = " ".join(texts[:_MAX_IDENTIFIED])
    han, neither = len(_HAN.findall(sample)), len(_NEITHER.findall(sample))
    letters = sum(map(str.isalpha, sample)) - han - neither
    said = language_tag(language) if language else None
    if neither > max(han, letters) / 5 or not han + letters:
        which = language_name(said or identify(texts[:_MAX_IDENTIFIED], rows=False).language)
        raise WrongLanguage(
            f"Noise in {which} can't be compared: unswayed counts slips in Chinese, and in alphabets whose words are "
            f"separated by spaces."
            if han + letters + neither
            else "The texts have no letters, so there is nothing to compare."
        )
    name: Literal["han", "letters"] = "han" if han > letters else "letters"
    if said is not None and (said.split("-")[0] == "zh") != (name == "han"):
        seen = "Chinese characters" if name == "han" else "an alphabet"
        raise WrongLanguage(f"{option('lang', 'language')} is {language!r}, but most texts are in {seen}.")
    if said is None:
        said = "zh" if name == "han" else identify(texts[:_MAX_IDENTIFIED], rows=False).language or UNSURE
    return TextScript(name, said, channel)


def require_chinese_noise(before: Aligned, people: Sequence[Aligned], command: str, instead: str) -> None:
    """Raises where a fit that knows Chinese alone is given other texts, or where somebody changed nothing."""
    if script_of(before.texts()).name != "han":
        raise WrongLanguage(
            f"`{command}` fits Chinese, and most of these texts are in an alphabet. Use `{instead}` for them."
        )
    same = next((number for number, person in enumerate(people, 1) if person.texts() == before.texts()), None)
    if same is not None:
        raise UsageError(
            f"All texts of person {same} ({option('real')}) equal the clean ones: there is nothing to fit."
        )


class RealismJudge:
    """Holds the features of some clean texts and of what people made of them, to judge one simulation or several."""

    def __init__(
        self, clean: Sequence[str], people: Sequence[Sequence[str]], seed: int = 0, language: str | None = None,
        by: Sequence[str] | None = None, channel: Channel = "typing",
    ) -> None:  # fmt: skip
        """`by` names the person or article of each text: trees are then tested on others than they learnt from."""
        if find_spec("sklearn") is None:
            raise MissingExtra("The judge of `unswayed realism`", "sklearn")
        self._stream = Seeds(seed, "measure/realism", _VERSION)
        self._kept = list(range(len(clean)))
        if len(clean) > _MAX_SENTENCES:
            self._kept = sorted(self._stream.stream("rows", 0).sample(self._kept, _MAX_SENTENCES))
        self._clean = [clean[i] for i in self._kept]
        if len(set(self._clean)) < _MIN_SENTENCES:
            raise UsageError(
                f"The judge needs at least {_MIN_SENTENCES} different sentences. There are {len(set(self._clean))}."
            )
        self.script = script_of(self._clean, language, channel)
        self._clean = self.script.seen(self._clean)
        self._named = self.script.features(self.script.seen(clean))
        self.names = list(self._named("", ""))
        numbers: dict[str, int] = {}
        units = self._clean if by is None else [by[i] for i in self._kept]
        self._groups = np.array([numbers.setdefault(unit, len(numbers)) for unit in units])
        if len(numbers) < FOLDS:
            raise UsageError(f"The judge needs at least {FOLDS} people or articles to split by, not {len(numbers)}.")
        self._people = [self._features(texts) for texts in people]
        self._texts = content_id("\n".join([*self._clean, *(t for texts in people for t in texts)]))
        self._seed = seed

    def _features(self, texts: Sequence[str]) -> Floats:
        pairs = zip(self._clean, self.script.seen([texts[i] for i in self._kept]), strict=True)
        return np.array([list(self._named(*pair).values()) for pair in pairs], dtype=np.float64)

    def against_people(self, simulated: Sequence[Sequence[str]]) -> Estimate:
        """How well simulated texts are told from everyone's: 0.5 is not at all, 1 is always."""
        made = content_id("\n".join(t for texts in simulated for t in texts))
        return self._tell(self._people, [self._features(texts) for texts in simulated], made)

    def one_person(self, k: int) -> Estimate:
        """How well one person is told from the others: what a perfect simulation of one person would get."""
        others = [rows for i, rows in enumerate(self._people) if i != k]
        return self._tell(others, [self._people[k]], f"person{k + 1}")

    def told_by(self, simulated: Sequence[Sequence[str]]) -> list[dict[str, float | str]]:
        """The features that alone tell simulated texts from people's best, with the mean of each."""
        human, made = np.concatenate(self._people), np.concatenate([self._features(texts) for texts in simulated])
        labels = np.repeat([0.0, 1.0], [len(human), len(made)])
        rows = np.concatenate([human, made])
        once = [np.ones(len(rows))]
        alone = [float(areas_under_curve(rows[:, k], labels, once)[0]) for k in range(rows.shape[1])]
        best = sorted(range(len(alone)), key=lambda k: (-abs(alone[k] - 0.5), self.names[k]))[:_MAX_TOLD]
        return [
            {"feature": self.names[k], "human": float(human[:, k].mean()), "simulated": float(made[:, k].mean()),
             "auc": alone[k]}
            for k in best
        ]  # fmt: skip

    def _tell(self, zeros: list[Floats], ones: list[Floats], what: str) -> Estimate:
        """The mean AUC over as many deals as there are people or draws, at least two, each with folds of its own.

        In a deal, every sentence is of one person or draw. Resampling sentences alone covered 20 of 24 nulls: it keeps
        the trees. So the interval is that of the corrected resampled t test (Nadeau and Bengio, 2003) over all folds,
        whose trees learnt from different sentences, and never narrower than that of resampled sentences.
        """
        from sklearn.ensemble import HistGradientBoostingClassifier
        from threadpoolctl import threadpool_limits

        n, count = len(self._clean), int(self._groups.max()) + 1
        rng = self._stream.stream("folds", 0).numpy()
        labels, start = np.repeat([0.0, 1.0], n), rng.integers(0, 1 << 16, n)
        repeats = max(len(zeros), len(ones), _MIN_REPEATS)
        folds = [rng.permutation(np.arange(count) % FOLDS)[np.tile(self._groups, 2)] for _ in range(repeats)]
        # For each sentence the rows of one version of either kind, by number.
        deals = [
            np.concatenate([np.stack(kind)[(start + k) % len(kind), np.arange(n)] for kind in (zeros, ones)])
            for k in range(repeats)
        ]
        # The log odds of each row, from trees that saw no row of its sentence.
        scores = [np.zeros(len(labels)) for _ in deals]
        by_fold: list[float] = []
        with threadpool_limits(1, user_api="openmp"):  # small trees: threads would only wait for each other
            for score, rows, fold in zip(scores, deals, folds, strict=True):
                for k in range(FOLDS):
                    inside = fold == k
                    trees = HistGradientBoostingClassifier(**_TREES, early_stopping=False, random_state=0)
                    score[inside] = trees.fit(rows[~inside], labels[~inside]).decision_function(rows[inside])
                    once = [np.ones(int(inside.sum()))]
                    by_fold.append(float(areas_under_curve(score[inside], labels[inside], once)[0]))
        times = [np.bincount(rng.integers(0, count, count), minlength=count) for _ in range(RESAMPLES)]
        weights = [times_of.astype(np.float64)[np.tile(self._groups, 2)] for times_of in times]
        areas = [areas_under_curve(score, labels, [np.ones(2 * n), *weights]) for score in scores]
        auc = float(np.mean([each[0] for each in areas]))
        low, high = interval(auc, np.mean([each[1:] for each in areas], axis=0), count, (0.0, 1.0), _LEVEL)
        spread = float(np.var(by_fold, ddof=1)) * (1 / len(by_fold) + 1 / (FOLDS - 1))
        wide = t_quantile((1 + _LEVEL) / 2, len(by_fold) - 1) * spread**0.5
        low = max(0.0, auc - wide if low is None else min(low, auc - wide))
        high = min(1.0, auc + wide if high is None else max(high, auc + wide))
        texts = {"texts": self._texts, "against": what, "features": digest(np.concatenate(deals), labels)}
        how = {"folds": FOLDS, "repeats": repeats, "level": _LEVEL, "bootstrap": RESAMPLES, "seed": self._seed}
        signature = sign({"measure": f"realism.auc:{_VERSION}", **texts, **how})
        return Estimate(auc, low, high, count, 0, signature)


def areas_under_curve(scores: Floats, labels: Floats, weights: Sequence[Floats]) -> Floats:
    """The chance that a row of the second class scores above one of the first, by each of several weights of the rows.

    Ties count half.
    """
    _, place = np.unique(scores, return_inverse=True)
    found = []
    for weight in weights:
        zeros, ones = (np.bincount(place, weight * (labels == label)) for label in (0.0, 1.0))
        below = np.cumsum(zeros) - zeros / 2
        found.append(float(ones @ below) / max(float(zeros.sum() * ones.sum()), 1e-12))
    return np.array(found)

"""Texts in, variants out, without a suite: of one text, or a list for a list."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from functools import lru_cache
from operator import index
from threading import get_ident
from typing import Literal

import msgspec

from unswayed.base.errors import UsageError, option
from unswayed.base.language import SEVERAL, identify, language_tag
from unswayed.base.options import OperatorSpec, options_in_plan
from unswayed.base.values import Example, Variant
from unswayed.run.plan import Plan, PlanLike, given_options, plan_of
from unswayed.vary.engine import Variation, Varier
from unswayed.vary.presets import expand

# Options of a plan that mean something without a suite, for several variants of a text and for one.
_USED = {"each": {"operators", "draws", "seed", "keep_facts"}, "random": {"operators", "seed", "keep_facts"}}


@options_in_plan(Plan, "vary", "data")
def vary_text(
    text: str, operators: str | OperatorSpec | Sequence[str | OperatorSpec], n: int | None = None, *,
    seed: int | None = None, language: str | None = None, plan: PlanLike = None,
) -> list[Variant]:  # fmt: skip
    """`n` variants of one text by each operator; fewer if an operator finds nothing to change.

    Example: `unswayed.vary_text("turn off the lights", "keyboard/adjacent", n=5, seed=7)`.

    The language is identified from the text unless you name it. A short text may need its name, such as `en`. For many
    texts, `vary_texts` is faster.
    """
    if not isinstance(text, str):
        raise UsageError(f"{option('text')} must be a text, not {text!r:.60}. For several texts, use vary_texts.")
    if n is not None and (not hasattr(n, "__index__") or isinstance(n, bool) or n < 1):
        raise UsageError(f"{option('n')} must be a whole number of 1 or more, not {n!r:.60}.")
    varier = _varier([text], operators, n, seed, language, plan, "each")
    return list(varier.block([Example(0, "text", {"text": text})])[0])


@options_in_plan(Plan, "vary", "data")
def vary_texts(
    texts: Iterable[str], operators: str | OperatorSpec | Sequence[str | OperatorSpec], *,
    ids: Iterable[str] | None = None, seed: int | None = None, language: str | None = None, plan: PlanLike = None,
) -> list[str]:  # fmt: skip
    """A variant of each text, in a list of the same length. A text in which nothing can change comes back as it is.

    Example: `unswayed.vary_texts(["turn off the lights", "play some jazz"], "keyboard/adjacent", seed=7)`.

    - `operators`: as in `make_suite`. If there are several, each text is varied by one of them, chosen at random.
    - `ids`: an id for each text; by default its place in the list. The same seed, id and text give the same variant.
      With the ids of a suite's examples, these are the variants of its first draw.
    - `language`: the language of all texts. It is identified from the texts unless you name it.
    - `plan`: other options, such as `{"vary": {"keep_facts": "yes"}}`.
    """
    if isinstance(texts, str):
        raise UsageError(f"{option('texts')} must be a list of texts, not {texts!r:.60}. For one text, use vary_text.")
    strings = list(texts)
    for i, text in enumerate(strings) if {*map(type, strings)} - {str} else ():
        if not isinstance(text, str):
            raise UsageError(f"{option('texts')} must be a list of texts, but texts[{i}] is {text!r:.60}.")
    names = list(map(str, range(len(strings)))) if ids is None else [str(id) for id in ids]
    if len(names) != len(strings):
        raise UsageError(f"{option('ids')} must have an id for each text: {len(strings)}, not {len(names)}.")
    return _varier(strings, operators, None, seed, language, plan, "random").texts(strings, names)


def _varier(
    texts: Sequence[str], operators: str | OperatorSpec | Sequence[str | OperatorSpec], draws: int | None,
    seed: int | None, language: str | None, plan: PlanLike, several: Literal["each", "random"],
) -> Varier:  # fmt: skip
    """What varies plain texts in this way; for calls that are alike, the same one. `several` is what several operators
    do."""
    given = [operators] if isinstance(operators, (str, OperatorSpec)) else operators
    plain = plan is None and type(seed) in (int, type(None)) and isinstance(language, (str, type(None)))
    if plain and isinstance(given, (list, tuple)) and all(isinstance(one, (str, OperatorSpec)) for one in given):
        specs = [OperatorSpec(one) if isinstance(one, str) else one for one in given]
        how = seed or 0, 1 if draws is None else index(draws), False
    else:
        made = plan_of(plan, operators=operators, draws=draws, seed=seed, language=language)
        if other := sorted(given_options(made.vary).keys() - _USED[several]):
            raise UsageError(f"{option(other[0])} is for suites. Leave it out, or use make_suite.")
        specs, language = list(made.vary.specs()), made.data.language
        how = made.vary.seed, made.vary.draws, made.vary.keep_facts == "yes"
    known = identify(texts).language if language is None else language_tag(language)
    if "+" in known or known == SEVERAL:
        raise UsageError(f"The texts are in {known}. Split them by language, or use make_suite.")
    # Files and servers may change between two calls, and operators of the user's own may hold what they like. A varier
    # is for one thread.
    params = [value for spec in specs for value in spec.params.values() if isinstance(value, str)]
    others = any("://" in value or os.path.exists(value) for value in params) or any(":" in spec.name for spec in specs)
    make = _kept_varier.__wrapped__ if others else _kept_varier
    key = msgspec.json.encode([[spec.name, spec.params] for spec in specs])
    return make(key, known, language is None, several, *how, get_ident())


@lru_cache(32)
def _kept_varier(
    key: bytes, language: str, guessed: bool, several: Literal["each", "random"], seed: int, draws: int,
    keep_facts: bool, thread: int,
) -> Varier:  # fmt: skip
    specs = [OperatorSpec(name, params) for name, params in msgspec.json.decode(key)]
    chosen = expand(specs, language, "text")[0]
    variation = Variation(
        operators=chosen,
        task="text",
        language=language,
        language_guessed=guessed,
        draws=draws,
        seed=seed,
        fields=("text",),
        set=several if len(chosen) > 1 else "each",
        keep_facts=keep_facts,
    )
    return Varier(variation)

"""Two runs on suites that differ, cut down to the rows that both have, so that they can be compared pair by pair."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from msgspec.structs import replace

from unswayed.base.errors import NothingEvaluated
from unswayed.base.values import Example, Variant
from unswayed.run.record import Run
from unswayed.storage.answers import AnswerStore
from unswayed.storage.keys import Keyer
from unswayed.storage.suite import Manifest, write_suite

_EXAMPLES_A_BLOCK = 200


class SharedRows(NamedTuple):
    """Two runs on one suite, and a sentence on how many of the rows that is; empty if it is all of both."""

    a: Run
    b: Run
    sentence: str


def on_shared_rows(a: Run, b: Run) -> SharedRows:
    """Both runs on what `a` was asked of the suite of `b`, with the gold of `b`'s.

    Answers are found by request, so an example is shared if both were asked its text and all of its variants. Only
    variants of operators that are the same in both, with the same seed, count: of an operator that changed, just those
    that it left unaltered would be the same, and to compare on these would say that nothing changed.
    """
    one, other = a.suite.manifest, b.suite.manifest
    same_suite = a.suite.id == b.suite.id
    if same_suite and (a.sample is not None or b.sample is not None):
        return SharedRows(a, b, "")  # what both were asked is compared anyway, and the comparison says how much that is
    draws = other.draws or 0
    if not same_suite:
        if why := _differences(one, other):
            raise NothingEvaluated(f"the runs share no variants, as {why}")
        draws = min(one.draws or 0, draws)
    entries = {str(entry.get("name")): entry for entry in one.operators}
    changed = {name for entry in other.operators if entries.get(name := str(entry.get("name"))) != entry}

    def groups() -> Iterator[tuple[Example, list[Variant]]]:
        """The shared examples with their variants, numbered anew."""
        row, every = 0, b.suite.groups()
        keys = Keyer(a.identity), Keyer(b.identity)
        with AnswerStore.reader(a.place) as first, AnswerStore.reader(b.place) as second:
            while block := list(islice(every, _EXAMPLES_A_BLOCK)):
                rows = [(e, [v for v in own if v.source not in changed and v.draw < (draws or v.draw + 1)])
                        for e, own in block]  # fmt: skip
                requests = [[example.inputs, *(variant.inputs for variant in own)] for example, own in rows]
                asked = []
                for key, store in zip(keys, (first, second), strict=True):
                    each = [key.each(group) for group in requests]
                    tried = store.tried([k for group in each for k in group])
                    asked.append([tried.issuperset(group) for group in each])
                for (example, own), in_a, in_b in zip(rows, *asked, strict=True):
                    if in_a and in_b:
                        yield replace(example, row=row), [replace(variant, row=row) for variant in own]
                        row += 1

    suite = write_suite(
        None, other, lambda: (e for e, _ in groups()), lambda: (v for _, own in groups() for v in own)
    )  # fmt: skip
    found = suite.manifest
    if same_suite and (found.examples, found.variants) == (other.examples, other.variants):
        return SharedRows(a, b, "")
    if not found.variants:
        raise NothingEvaluated("the runs share no example with variants. Was the data replaced?")
    of_a = "" if same_suite else f" The baseline has {one.examples:,} examples and {one.variants:,} variants."
    said = f"Compared on {found.examples:,} of {other.examples:,} examples and {found.variants:,} of "
    said += f"{other.variants:,} variants: those that both runs were asked.{of_a}"
    if changed:
        said += f" New or changed operators are left out: {', '.join(sorted(changed))}."
    whole = {"suite": "", "suite_id": suite.id, "order": None, "limit": None, "asked": None}
    cut_a, cut_b = (Run.in_memory(replace(run.manifest, **whole), suite, run.place) for run in (a, b))
    return SharedRows(cut_a, cut_b, said)


def _differences(one: Manifest, other: Manifest) -> str:
    """Why no variant of one suite can be taken for one of the other; empty if some can."""
    for name, what in (("task", "task"), ("seed", "seed"), ("set", "set of variants"), ("compared", "comparison")):
        values = getattr(one, name), getattr(other, name)
        if values[0] != values[1]:
            return f"the {what} differs ({values[0]} and {values[1]})."
    if one.operators and not any(entry in one.operators for entry in other.operators):
        return "no operator is the same in both."
    return ""

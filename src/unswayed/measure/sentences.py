"""What a run says, in sentences that need no statistics to be read, and how bad it is for users, in three grades."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

from markupsafe import Markup, escape

from unswayed.base.text import LABEL, interval, number, outside, p_value, percent, subject, typeset
from unswayed.base.values import Estimate, Json
from unswayed.measure.results import TO_100, Block, Results

if TYPE_CHECKING:
    from unswayed.measure.gates import GateResult

GRADES = ("minor", "moderate", "serious")
FLIPS = (0.02, 0.10)  # from here on moderate, and serious: shares of answers that change
DROP = (0.01, 0.05)  # the same for the drop, in parts of the greatest score
REWORDED = ("translate",)  # tasks whose answers may change in wording alone: the drop decides


class Severity(NamedTuple):
    """The grade at the estimates, the others that are not excluded, and how many more examples would exclude them."""

    grade: str
    not_excluded: tuple[str, ...] = ()
    more: int | None = None
    beyond_chance: bool = False  # it was shown that the changes go beyond the system's own

    def __str__(self) -> str:
        said = f"{self.grade} beyond chance" if self.beyond_chance else self.grade
        verb = "is" if len(self.not_excluded) == 1 else "are"
        return f"{said}; {' and '.join(self.not_excluded)} {verb} not excluded" if self.not_excluded else said


def severity(results: Results) -> Severity | None:
    """The grade of a run, or None if the set-up is broken or nothing could be compared.

    Another grade is not excluded if it begins within one standard error of an estimate.
    """
    repeats, wavering = results.repeats, results.wavering
    flips, drop, own = results.flip_rate, results.drop, False
    if repeats is not None and not repeats.steady and repeats.flips.value is not None:
        flips, drop, own = repeats.flips, repeats.drop or drop, True
    elif wavering is not None and wavering.changed and wavering.flips.value is not None:
        flips, own = wavering.flips, True
    top = 100.0 if results.score in TO_100 else 1.0
    held = [(drop, tuple(top * limit for limit in DROP))] + ([] if by_drop(results) else [(flips, FLIPS)])
    known = [(estimate, limits) for estimate, limits in held if estimate.value is not None]
    if results.sanity or not known:
        return None
    one = NormalDist().inv_cdf((1 + results.level) / 2)  # standard errors that an interval is wide, on each side
    lowest, middle, highest, more = 0, 0, 0, 0.0
    for e, limits in known:
        value = e.value or 0.0
        ends = [value if end is None else value + (end - value) / one for end in (e.low, e.high)]
        # where outputs are missing, also the bounds of what is known
        ends = [min([ends[0], *(e.bounds or ())]), max([ends[1], *(e.bounds or ())])]
        at = [sum(figure >= limit for limit in limits) for figure in (ends[0], value, ends[1])]
        lowest, middle, highest = (max(pair) for pair in zip((lowest, middle, highest), at, strict=True))
        for limit in limits:
            if ends[0] < limit <= ends[1] and not e.bounds:
                far = max(abs(limit - value), 1e-9)
                more = max(more, e.n * ((((ends[1] if limit > value else ends[0]) - value) / far) ** 2 - 1))
    others = tuple(GRADES[at] for at in range(lowest, highest + 1) if at != middle)
    shown = own and flips.low is not None and flips.low > 0
    return Severity(GRADES[middle], others, _rounded(more) if others else None, shown)


_MANY = 1_000_000  # examples beyond which no number is given


def _rounded(more: float) -> int | None:
    """To two digits, upwards; None for so many that no one would add them."""
    if not 0 < more < _MANY:
        return None
    step: int = 10 ** max(0, len(str(int(more))) - 2)
    return int(-(-more // step)) * step


def by_drop(results: Results) -> bool:
    """Does the drop alone decide, since answers that change may be worded otherwise and no rule compares them?"""
    return results.task in REWORDED and not results.compared.get("equivalent")


_SURELY = 0.05
_NAMED = 3  # sets in a sentence
_MOST_NAMED = 12  # of those that are tested against a reference
_WAYS = {
    "dialect": "dialect",
    "keyboard": "typos",
    "paraphrase": "paraphrases",
    "prompt": "other prompts",
    "speech": "speech recognition errors",
    "spoken": "casual speech",
    "surface": "surface noise",
}


def verdict(results: Results, gates: Sequence[GateResult] = ()) -> list[Markup]:
    """The outcome in a few sentences, the most important first."""
    said = []
    if results.sanity:  # before anything else: what follows means nothing
        reasons = Markup(" ").join(outside(sign, 1000) for sign in results.sanity)
        broken = Markup('<strong class="failed">The set-up looks broken, so the numbers mean nothing.</strong>')
        said.append(Markup("{} {}").format(broken, reasons))
    elif failed := sum(not gate.passed for gate in gates):
        which = f"{failed} of {len(gates)} gates" if len(gates) > 1 else "The gate"
        said.append(Markup('<strong class="failed">{} failed.</strong>').format(which))
    elif gates:
        said.append(Markup("All gates passed.") if len(gates) > 1 else Markup("The gate passed."))
    if sample := results.validity.get("sample"):
        said.append(outside(sample["sentence"], 1000))
    again = next((one.sentences(results.flip_rate) for one in (results.repeats, results.wavering) if one), [])
    flips = [_flips(results), *map(escape, again)]
    if results.average.value is None or results.clean.value is None:
        if flips[0] is None:
            return [*said, Markup("Nothing could be measured: no variant has an answer.")]
        found = [_graded(results, flips), _lost(results)]
        found.append(Markup("Nothing could be scored, so it is unknown whether they were right."))
        return said + [sentence for sentence in found if sentence]
    if results.altered is not None and results.altered.value is not None:
        share = _start(percent(1 - results.altered.value))
        flips.append(Markup("{} of variants have the example's own text: the clean answer counts.").format(share))
    change = [_change(results), _missing(results), _chance(results.drop)]
    first = [*change, *flips] if by_drop(results) else [*flips, *change]
    sampled = [spread.sentence(operator) for operator, spread in results.spread.items()]
    sampled += results.people.sentences() if results.people else []
    found = [_graded(results, first), _lost(results), *map(escape, sampled)]
    found += [_within(results), *_combined(results), _against(results) or _hurt(results)]
    return said + [sentence for sentence in found if sentence]


def _graded(results: Results, sentences: Sequence[Markup | None]) -> Markup:
    """The sentences, with the grade before them."""
    said = Markup(" ").join(sentence for sentence in sentences if sentence)
    grade = severity(results)
    if grade is None:
        return said
    name, settle = str(grade), f" (about {grade.more:,} more examples would settle it)" if grade.more else ""
    name = name[:1].upper() + name[1:]
    return Markup('<strong class="{}">{}</strong>{}: {}').format(grade.grade, name, settle, said)


def plain(sentences: Sequence[Markup]) -> str:
    """The sentences without markup, for terminals and files."""
    return " ".join(sentence.striptags() for sentence in sentences)


def _change(results: Results) -> Markup:
    clean, average, worst = results.clean.value, results.average, results.worst.value
    assert clean is not None
    assert average.value is not None
    # two decimals, or three where two would hide a difference
    known = {value for value in (clean, average.value, worst) if value is not None}
    digits = 2 if len({f"{value:.2f}" for value in known}) == len(known) else 3
    held = number(clean, digits) == number(average.value, digits)
    if average.missing or results.clean.missing:
        # where outputs are missing, nothing is said to hold or to fall: that is known of the answered inputs alone
        return Markup("On the inputs that were answered, {} is {}, and <strong>{}</strong> {}.").format(
            outside(subject(results.score)),
            typeset(number(results.clean.value, digits)),
            typeset(number(results.average.value, digits)),
            _ways(results),
        )
    moves = "stays at" if held else "falls from" if average.value < clean else "rises from"
    span = interval(average, digits).replace(" to ", "–" if (average.low or 0) >= 0 else " to ")
    figures = Markup("<strong>{}</strong>").format(typeset(number(average.value, digits)))
    if span:
        figures += f" ({span})"
    start = "" if held else f"{typeset(number(clean, digits))} to "
    said = Markup("{} {} {}{}").format(outside(_start(subject(results.score))), moves, start, figures)
    if by_drop(results):
        said += f" {_ways(results)}"
    if worst is not None and results.worst_of > 1:
        said += Markup("; on the worst of {} tries it is <strong>{}</strong>").format(
            results.worst_of, typeset(number(worst, digits))
        )
    return said + "."


def _start(text: str) -> str:
    """As a sentence starts; chrF and nDCG keep their letters."""
    return text if text.startswith(("chrF", "nDCG")) else text[:1].upper() + text[1:]


def _missing(results: Results) -> Markup | None:
    """How many outputs the average lacks, and what it could be with them."""
    average = results.average
    if not average.missing:
        return None
    if not average.bounds:
        return Markup("{:,} varied inputs failed and are left out, not counted as wrong.").format(average.missing)
    return Markup("{:,} varied inputs failed and are left out: with them it would lie between {} and {}.").format(
        average.missing, *(typeset(number(bound, 2)) for bound in average.bounds)
    )


def _lost(results: Results) -> Markup | None:
    """How many outputs can't be read, and whether more is lost of varied inputs than of clean ones."""
    said, validity = [], results.validity
    how = "are left out of the correlation" if results.task == "score" else "count as wrong"
    lost: Mapping[str, Json] = validity.get("lost") or {}
    items = validity.get("examples", 0) + validity.get("variants", 0)
    if unreadable := validity.get("unreadable", 0):
        said.append(Markup("{} of outputs can't be read and {}.").format(percent(unreadable / items), how))
    if wrong := validity.get("counted_wrong", 0):
        said.append(Markup("{} of inputs failed and count as wrong.").format(percent(wrong / items)))
    if lost and lost["p_corrected"] < _SURELY:
        more = "more" if lost["varied"] > lost["clean"] else "less"
        said.append(
            Markup("Varied inputs fail or have an unreadable answer {} often than clean ones: {} against {}.").format(
                more, percent(lost["varied"]), percent(lost["clean"])
            )
        )
    return Markup(" ").join(said) if said else None


def _ways(results: Results) -> str:
    """What was done to the inputs, such as `with typos or paraphrases`."""
    families = sorted(set(results.sets.get("family", {})) - {"meaning"})  # controls are not another way to say it
    if not families or len(families) > 3 or any(family not in _WAYS for family in families):
        return "when people say the same thing differently"
    *first, last = (_WAYS[family] for family in families)
    return f"with {', '.join(first)} or {last}" if first else f"with {last}"


def _chance(drop: Estimate) -> Markup | None:
    """Whether the drop is more than chance, with the p-value of its test."""
    if drop.value is None:
        return None
    if drop.low is None or drop.high is None:
        return Markup("There is no interval for that difference, so it may be chance.")
    p = "" if drop.p is None else f" ({p_value(drop.p)})"
    if drop.low <= 0 <= drop.high:
        return Markup("The drop's interval, {}, includes zero: the difference may be chance{}.").format(
            interval(drop), p
        )
    return Markup("The drop, {}, is more than chance{}.").format(interval(drop), p) if p else None


def _flips(results: Results) -> Markup | None:
    flips = results.flip_rate
    if flips.value is None:
        return None
    if flips.bounds:
        return Markup(
            "<strong>{}</strong> of the answers that can be compared change {}, and between {} and {} of all."
        ).format(percent(flips.value), _ways(results), *map(percent, flips.bounds))
    ends = None if flips.low is None or flips.high is None else (percent(flips.low), percent(flips.high))
    span = "" if ends is None else f" ({ends[0]} to {ends[1]})"
    rule, _, limit = results.compared.get("equivalent", "").partition("@")
    said = {
        "found": f"varied queries lose a relevant document from the first {limit}",
        "within": f"answers change by more than {limit}",
    }.get(rule, "answers change")
    sentence = Markup("<strong>{}</strong>{} of {} {}.").format(
        _start(percent(flips.value)), span, escape(said), _ways(results)
    )
    if results.gained is not None and results.gained.value is not None:
        sentence += Markup(" {} gain one there.").format(_start(percent(results.gained.value)))
    if results.change is not None and results.change.value is not None:
        sentence += Markup(" The mean absolute change is {}.").format(typeset(f"{results.change.value:.3g}"))
    return sentence


def slices(results: Results) -> dict[str, Mapping[str, Block]]:
    """The blocks by slice, without operators and families."""
    return {name: blocks for name, blocks in results.sets.items() if name not in ("operator", "family")}


def people(role: str) -> str:
    """Several of them: people, speakers."""
    return "people" if role == "person" else f"{role}s"


def _against(results: Results) -> Markup | None:
    """Who is answered worse than the reference, and who better, by a test of all of them together."""
    if not results.against:
        return None
    said, sets = [], results.against.sets
    for verdict in ("worse", "better"):
        named = [(name, one) for name, one in sets.items() if one.verdict == verdict]
        named = named if verdict == "worse" else named[::-1]
        shown = [
            Markup("{} ({} [{}, {}])").format(
                outside(name), *(typeset(number(v, 3)) for v in (one.drop.value, one.drop.low, one.drop.high))
            )
            for name, one in named[:_MOST_NAMED]
        ]
        if shown:
            more = f" and {len(named) - _MOST_NAMED} more" if len(named) > _MOST_NAMED else ""
            said.append(Markup("{} for {}{}").format(verdict, Markup(", ").join(shown), more))
    role, rest = results.makers, sum(not one.verdict for one in sets.values())
    who = people(role) if len(sets) != 1 else role
    head = Markup("Drop in {} against {}, tested for {} {} together (Holm): ").format(
        outside(subject(results.score)), outside(results.against.reference), len(sets), who
    )
    if not said:
        return head + "no difference is shown."
    return head + Markup("; ").join(said) + (f"; not shown for the other {rest}." if rest else ".")


def _hurt(results: Results) -> Markup | None:
    """The operators and slices that are surely affected more than the rest, or that none stands out."""
    sets = results.naming.sets if results.naming else {}
    said, same = [], []
    for kind, named in sets.items():
        if kind == "family":
            continue
        hurt = sorted((name for name, one in named.items() if one.hurt), key=lambda name: -(named[name].drop or 0.0))
        if not hurt:
            same.append(people(results.makers) if kind == "operator" else "slices")
            continue
        most = named[hurt[0]].hurt == "most"
        shown = []
        for name in hurt[:1] if most else hurt[:_NAMED]:
            drop = typeset(number(named[name].drop, 2))
            if kind == "operator":
                shown.append(Markup("{} {} (drop {})").format(results.maker(name), outside(name), drop))
            else:
                place = outside(kind, LABEL // 2), outside(name, LABEL // 2)
                shown.append(Markup("slice {} = {} (drop {})").format(*place, drop))
        more = f" and {len(hurt) - _NAMED} more" if len(hurt) > _NAMED and not most else ""
        said.append(
            Markup("{}: {}{}.").format(
                "Affected most" if most else "Affected more than the rest", Markup(", ").join(shown), more
            )
        )
    kinds = list(dict.fromkeys(same))
    if kinds and not said:
        said.append(Markup("No drop stands out among the {}.").format(" and the ".join(kinds)))
    return Markup(" ").join(said) if said else None


def _combined(results: Results) -> list[Markup]:
    """Whether each combination of operators does more than its parts together."""
    said = []
    for name, effects in list(results.combined.items())[:_NAMED]:
        measure, one = next(iter(effects.items()))
        alone = [Markup("{} {}").format(outside(part), typeset(number(v, 3))) for part, v in one.parts.items()]
        low, high = one.beyond.low, one.beyond.high
        more = low is not None and low > 0
        less = high is not None and high < 0
        verdict = "more than the sum of its parts" if more else "less than the sum of its parts" if less else ""
        verdict = verdict or "not clearly more or less than the sum of its parts"
        what = "The drop" if measure == "drop" else "The share of changed answers"
        figures = typeset(number(one.value, 3)), verdict, Markup(", ").join(alone), typeset(interval(one.beyond))
        said.append(Markup("{} under {} is {}, {} (alone: {}; difference {}).").format(what, outside(name), *figures))
    return said


def _within(results: Results) -> Markup | None:
    """Whether the drop is shown to lie within the margin that was asked for."""
    if (found := results.within) is None:
        return None
    whole = found.whole
    # A margin on scores from 0 to 1 as points of a hundred
    margin = found.margin
    points = f"{100 * margin:g}"
    within = f"{points} point" if points == "1" else f"{points} points"
    if whole.shown:
        who = "On the inputs that were answered, the system" if results.drop.missing else "The system"
        said = Markup("{} is <strong>robust within {}</strong>: the drop lies between {} and {}.").format(
            who, within, *(typeset(number(end, 3)) for end in (whole.low, whole.high))
        )
    elif whole.outside:
        said = Markup("The system is not robust within {}.").format(within)
    else:
        more = f": more examples are needed (about {whole.needed:,})" if whole.needed else ""
        said = Markup("The drop can't be shown to be within {}{}.").format(within, more)
    each = [name for name, one in found.operators.items() if one.shown]
    if len(found.operators) > 1:
        said += Markup(" By operator, {} of {} are.").format(len(each), len(found.operators))
    return said

"""What a run says, in sentences that need no statistics to be read, and how bad it is for users, in three grades."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

from markupsafe import Markup, escape

from unswayed.base.text import (
    LABEL,
    interval,
    number,
    outside,
    p_value,
    percent,
    percent_interval,
    subject,
    typeset,
)
from unswayed.base.values import Json
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

    Another grade is not excluded if it begins within half a standard error of an estimate.
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
    halves = 2 * NormalDist().inv_cdf((1 + results.level) / 2)  # half standard errors to each end of an interval
    lowest, middle, highest, more = 0, 0, 0, 0.0
    for e, limits in known:
        value = e.value or 0.0
        ends = [value if end is None else value + (end - value) / halves for end in (e.low, e.high)]
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
    """All that a run says in sentences: what to know first, what to do next, then notes."""
    step = next_step(results)
    return [*summary(results, gates), *([step] if step else []), *notes(results)]


def summary(results: Results, gates: Sequence[GateResult] = ()) -> list[Markup]:
    """What to know first: is it more than chance, how much is it, and for whom?"""
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
    found = [_outcome(results), _missing(results), *map(escape, again), _within(results)]
    found.append(_against(results) or _hurt(results))
    return said + [sentence for sentence in found if sentence]


def notes(results: Results) -> list[Markup]:
    """What else there is to know: other grades, lost answers, other prompts and people, combinations."""
    found = []
    grade = severity(results)
    if grade is not None and grade.not_excluded:
        others = " and ".join(grade.not_excluded)
        settle = f": about {grade.more:,} more examples would settle it" if grade.more else ""
        verb = "is" if len(grade.not_excluded) == 1 else "are"
        found.append(Markup("{} {} not excluded{}.").format(_start(others), verb, settle))
    if results.altered is not None and results.altered.value is not None:
        share = _start(percent(1 - results.altered.value))
        found.append(Markup("{} of variants have the example's own text: the clean answer counts.").format(share))
    sampled = [spread.sentence(operator) for operator, spread in results.spread.items()]
    sampled += results.people.sentences() if results.people else []
    return [sentence for sentence in [*found, _lost(results), *map(escape, sampled), *_combined(results)] if sentence]


def plain(sentences: Sequence[Markup]) -> str:
    """The sentences without markup, for terminals and files."""
    return " ".join(sentence.striptags() for sentence in sentences)


def _outcome(results: Results) -> Markup:
    """Is it more than chance, how bad is it, and how much: of the score, and of the answers that change."""
    grade, drop, flips = severity(results), results.drop, _flips(results)
    if results.average.value is None or results.clean.value is None:
        if flips is None:
            return Markup("Nothing could be measured: no variant has an answer.")
        said = _led(grade, "", Markup("{}.").format(flips))
        return said + Markup(" Nothing could be scored, so it is unknown whether they were right.")
    change = _change(results)
    said = Markup("{}.").format(Markup("; ").join([change] if by_drop(results) or flips is None else [change, flips]))
    if drop.low is None or drop.high is None or drop.value is None:
        return _led(grade, "", said + Markup(" There is no interval for the difference, so it may be chance."))
    p = "" if drop.p is None else f" ({p_value(drop.p)})"
    if results.average.missing or results.clean.missing:
        chance = "may be chance" if drop.low <= 0 <= drop.high else "is more than chance"
        return _led(grade, "", said + Markup(" On these inputs, the difference {}{}.").format(chance, p))
    if not drop.low <= 0 <= drop.high:
        return _led(grade, f"More than chance{p}", said)
    still = abs(drop.value) < _STILL * _top(results)
    lead = f"{'No fall' if still else 'May be chance'}{p}"
    if grade is None or grade.grade == "minor":
        return _led(grade, lead, said)
    alone = by_drop(results) or results.repeats is not None or results.wavering is not None
    if not alone and sum((results.flip_rate.value or 0.0) >= limit for limit in FLIPS) >= GRADES.index(grade.grade):
        # answers of a system that repeats itself change, whether or not the score falls
        return _led(grade, f"{lead} for the score", said, " for the answers")
    return _led(grade, lead, said, "" if still else " if not")


_STILL = 0.0005  # a change of the score that no table shows, as a part of the greatest score


def _top(results: Results) -> float:
    """The greatest value of the score."""
    return 100.0 if results.score in TO_100 else 1.0


def _led(grade: Severity | None, lead: str, said: Markup, of: str = "") -> Markup:
    """The sentence, after whether it is chance and how bad it is."""
    if grade is None:
        return Markup("{}: {}").format(lead, said) if lead else Markup("{}").format(_start(said))
    name = f"{grade.grade} beyond chance" if grade.beyond_chance else grade.grade
    graded = Markup('<strong class="{}">{}</strong>').format(grade.grade, name if lead else _start(name))
    return Markup("{}, {}{}: {}").format(lead, graded, of, said) if lead else Markup("{}: {}").format(graded, said)


def _change(results: Results) -> Markup:
    """How much the score changes, from what to what."""
    clean, average, drop = results.clean, results.average, results.drop
    name = outside(subject(results.score))
    figures = [typeset(number(one.value)) for one in (clean, average)]
    if average.missing or clean.missing:
        # where outputs are missing, nothing is said to hold or to fall: that is known of the answered inputs alone
        return Markup("on the inputs that were answered, {} is {}, and <strong>{}</strong> {}").format(
            name, *figures, _ways(results)
        )
    size, hundred = drop.value or 0.0, results.score in TO_100
    if abs(size) < _STILL * _top(results):
        return Markup("{} stays at <strong>{}</strong> {}").format(name, figures[1], _ways(results))
    ends = [] if drop.low is None or drop.high is None else [drop.low, drop.high]
    ends = ends if size > 0 else [-end for end in reversed(ends)]
    shown = [number(one) if hundred else f"{100 * one:z.1f}" for one in (abs(size), *ends)]
    unit = "" if hundred else " point" if shown[0] == "1.0" else " points"
    span = typeset(f" [{shown[1]}, {shown[2]}]") if ends else ""
    return Markup("{} {} by <strong>{}</strong>{} {}, from {} to {}").format(
        name, "falls" if size > 0 else "rises", shown[0] + unit, span, _ways(results), *figures
    )


def next_step(results: Results) -> Markup | None:
    """What to do next: get what is missing, add examples, train with such texts, or keep it as it is."""
    grade, drop = severity(results), results.drop
    if grade is None:
        return None
    if results.average.missing:
        return Markup("Next: rerun the command, which tries the missing answers again.")
    if drop.value is not None and drop.low is not None and drop.high is not None:
        if drop.low <= 0 <= drop.high and abs(drop.value) >= _STILL * _top(results):
            end = drop.low if drop.value > 0 else drop.high
            if more := _rounded(drop.n * (((drop.value - end) / drop.value) ** 2 - 1)):
                return Markup("Next: about {:,} more examples would settle whether it is chance.").format(more)
        elif drop.low > 0 and grade.grade != "minor":
            train = Markup("")
            blocks = results.sets.get("operator", {}) if results.makers == "operator" else {}
            if known := {name: one.drop.value for name, one in blocks.items() if one.drop.value is not None}:
                most = outside(max(known, key=lambda name: known[name]))
                train = Markup(" (<code>unswayed augment --with {}</code>)").format(most)
            return Markup(
                "Next: read the changed answers (<code>unswayed view</code>), then train with such texts{} or correct "
                "the inputs."
            ).format(train)
    if grade.not_excluded and grade.more:
        return Markup("Next: about {:,} more examples would settle how bad it is.").format(grade.more)
    if grade.grade != "minor":
        return Markup("Next: read the changed answers (<code>unswayed view</code>).")
    return Markup("Next: keep it so with a gate in CI (<code>unswayed init</code>).")


def _start(text: str) -> str:
    """As a sentence starts; chrF, nDCG and names in markup keep their letters."""
    return text if text.startswith(("chrF", "nDCG", "<")) else text[:1].upper() + text[1:]


def _missing(results: Results) -> Markup | None:
    """How many outputs the average lacks, and what it could be with them."""
    average = results.average
    if not average.missing:
        return None
    if not average.bounds:
        return Markup("{:,} varied inputs failed and are left out, not counted as wrong.").format(average.missing)
    return Markup("{:,} varied inputs failed and are left out: with them it would lie between {} and {}.").format(
        average.missing, *(typeset(number(bound)) for bound in average.bounds)
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


def _flips(results: Results) -> Markup | None:
    """The share of answers that change, as a clause."""
    flips = results.flip_rate
    if flips.value is None:
        return None
    scored = results.average.value is not None and not by_drop(results)
    ways = "" if scored else f" {_ways(results)}"  # which the score's clause says
    if flips.bounds:
        return Markup(
            "<strong>{}</strong> of the answers that can be compared change{}, and between {} and {} of all"
        ).format(percent(flips.value), ways, *map(percent, flips.bounds))
    rule, _, limit = results.compared.get("equivalent", "").partition("@")
    said = {
        "found": f"varied queries lose a relevant document from the first {limit}",
        "within": f"answers change by more than {limit}",
    }.get(rule, "answers change")
    value, bracket, span = percent_interval(flips).partition(" [")
    clause = Markup("<strong>{}</strong>{} of {}{}").format(value, bracket + span, escape(said), ways)
    if results.gained is not None and results.gained.value is not None:
        clause += Markup(", {} gain one there").format(percent(results.gained.value))
    if results.change is not None and results.change.value is not None:
        clause += Markup(", the mean absolute change is {}").format(typeset(f"{results.change.value:.3g}"))
    return clause


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
            drop = typeset(number(named[name].drop))
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

"""The comparison that `unfazed realism` prints: what the judge tells, how the slips look, and the harm to systems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np

from unfazed.core.edits import apply
from unfazed.core.seeds import Seeds
from unfazed.core.values import Estimate, Inputs
from unfazed.measure.error_rate import distances
from unfazed.measure.realism.aligned import Aligned, read_people
from unfazed.measure.realism.judge import Judge
from unfazed.systems.system import Failed, System
from unfazed.vary.chinese import KINDS, Slip, slips


def realism(
    clean: str, real: Sequence[str], simulated: Sequence[str], fields: Sequence[str] = (),
    systems: Sequence[str] = (), seed: int = 0, homophones: bool = True,
) -> dict[str, Any]:  # fmt: skip
    """Everything about files of clean texts, of what people made of them, and of what a simulation did."""
    before, people = read_people(clean, real, fields)
    _, draws = read_people(clean, simulated, fields)
    texts, typed = before.texts(), [person.texts() for person in people]
    made = [draw.texts() for draw in draws]
    judge = Judge(texts, typed, seed)
    found: dict[str, Any] = {"auc": msgspec.to_builtins(judge.against_people(made))}
    if len(typed) > 1:
        found["person"] = [msgspec.to_builtins(judge.one_person(k)) for k in range(len(typed))]
    if homophones:
        rate = sum(error_rate(texts, t) for t in typed) / len(typed)
        found["homophones"] = msgspec.to_builtins(_homophones(judge, texts, rate, seed))
    found["looks"] = {
        "human": _mean([looks(texts, t) for t in typed]),
        "simulated": _mean([looks(texts, m) for m in made]),
    }
    if systems:
        from unfazed.systems.opening import open_system

        found["drops"] = {name: drops(open_system(name), before, people, draws) for name in systems}
    return found


def _homophones(judge: Judge, texts: list[str], rate: float, seed: int) -> Estimate:
    """Random homophones of the same error rate, judged in the same way."""
    from unfazed.vary.keyboard.homophone import Homophone
    from unfazed.vary.operator import Text

    operator, seeds = Homophone(min(1.0, max(0.01, rate))), Seeds(seed, "keyboard/homophone", Homophone.version)
    made = []
    for i, text in enumerate(texts):
        change = operator.change(Text(text, "zh"), seeds.stream(str(i), 0))
        made.append(apply(text, change.edits) if change else text)
    return judge.against_people([made])


def _mean(rows: Sequence[dict[str, float]]) -> dict[str, float]:
    return {name: sum(row[name] for row in rows) / len(rows) for name in rows[0]}


def rows_of(found: dict[str, Any]) -> list[list[dict[str, Any]]]:
    """The same as tables for people: judged, looks, and harm."""
    judged = [("simulated", found["auc"])]
    judged += [(f"person {k + 1}", value) for k, value in enumerate(found.get("person", ()))]
    judged += [("homophones", found["homophones"])] if "homophones" in found else []
    tables: list[list[dict[str, Any]]] = [
        [
            {"told from people": name, "auc": _short(v["value"]), "low": _short(v["low"]), "high": _short(v["high"])}
            for name, v in judged
        ]
    ]
    human, made = found["looks"]["human"], found["looks"]["simulated"]
    tables.append([{"looks": name, "human": _short(human[name]), "simulated": _short(made[name])} for name in human])
    for name, rows in found.get("drops", {}).items():
        tables.append(
            [{"system": name, **{k: _short(v) if isinstance(v, float) else v for k, v in row.items()}} for row in rows]
        )
    return tables


def _short(value: float) -> float:
    return round(value, 3)


_LENGTHS = ("1→1", "2→2", "0→1", "1→0", "3→3", "1→2", "2→3", "0→2")


def looks(clean: Sequence[str], noisy: Sequence[str]) -> dict[str, float]:
    """Rates per hundred characters, and shares, of what differs between aligned texts."""
    found = [(text, slip) for text, other in zip(clean, noisy, strict=True) for slip in slips(text, other)]
    size = sum(map(len, clean)) / 100
    kinds = Counter(slip.kind for _, slip in found)
    lengths = Counter(f"{slip.end - slip.start}→{len(slip.new)}" for _, slip in found)
    words = sum(kinds[kind] for kind in ("select_full", "select_abbr", "input_full", "input_abbr"))
    return {
        "error_rate": error_rate(clean, noisy),
        "unchanged": sum(a == b for a, b in zip(clean, noisy, strict=True)) / len(clean),
        **{f"kind.{kind}": kinds[kind] / size for kind in KINDS},
        **{f"length.{length}": lengths[length] / size for length in _LENGTHS},
        "same_sound": kinds["select_full"] / words if words else 0.0,
        **_table([slip for _, slip in found]),
    }


def _table(found: list[Slip]) -> dict[str, float]:
    """READIN's Table 10, inferred from the texts: typed out or abbreviated, wrong keys or wrong choice."""
    kinds = Counter(slip.kind for slip in found)
    cells = {
        "full.wrong_input": kinds["input_full"] + kinds["letters"],
        "full.wrong_selection": kinds["select_full"],
        "abbr.wrong_input": kinds["input_abbr"],
        "abbr.wrong_selection": kinds["select_abbr"],
    }
    total = sum(cells.values())
    return {name: count / total if total else 0.0 for name, count in cells.items()}


def error_rate(clean: Sequence[str], noisy: Sequence[str]) -> float:
    """Mean over texts of the characters to change, by Levenshtein, over the length of the clean text."""
    sizes = np.array([max(1, len(text)) for text in clean])
    return float((distances(clean, noisy) / sizes).mean())


def drops(
    system: System, clean: Aligned, people: Sequence[Aligned], simulated: Sequence[Aligned]
) -> list[dict[str, Any]]:
    """A row for all examples and one for each label: accuracy and flips, clean, human and simulated, in per cent."""
    before = _answers(system, clean.rows)
    human = [_answers(system, person.rows) for person in people]
    made = [_answers(system, draw.rows) for draw in simulated]
    labels = sorted({str(g) for g in clean.gold if g is not None})
    rows = []
    for label in (None, *labels) if len(labels) > 1 else (None,):
        places = [i for i, g in enumerate(clean.gold) if label is None or str(g) == label]
        row: dict[str, Any] = {"label": label or "all", "n": len(places)}
        if labels:
            gold = [str(g) for g in clean.gold]
            row["accuracy.clean"] = _share([before], gold, places)
            row["accuracy.human"] = _share(human, gold, places)
            row["accuracy.simulated"] = _share(made, gold, places)
            row["accuracy.error"] = row["accuracy.simulated"] - row["accuracy.human"]
        row["flips.human"] = 100 - _share(human, before, places)
        row["flips.simulated"] = 100 - _share(made, before, places)
        row["flips.error"] = row["flips.simulated"] - row["flips.human"]
        rows.append(row)
    return rows


def _answers(system: System, rows: Sequence[Inputs]) -> list[str]:
    answers: list[str] = []
    for at in range(0, len(rows), system.batch_size):
        batch = system.predict(rows[at : at + system.batch_size])
        answers += ["\0failed" if isinstance(answer, Failed) else str(answer) for answer in batch]
    return answers


def _share(answers: Sequence[Sequence[str]], wanted: Sequence[str], places: Sequence[int]) -> float:
    """How many of these answers are the wanted ones, in per cent, over all people or draws."""
    right = sum(given[i] == wanted[i] for given in answers for i in places)
    return 100 * right / max(1, len(answers) * len(places))

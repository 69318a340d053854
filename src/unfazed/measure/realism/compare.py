"""The whole comparison that `unfazed realism` prints: judge, harm and looks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from unfazed.core.edits import apply
from unfazed.core.seeds import Seeds
from unfazed.core.values import Estimate
from unfazed.measure.realism.judge import Judge
from unfazed.measure.realism.looks import error_rate, looks
from unfazed.measure.realism.reading import read_people


def realism(
    clean: str,
    real: Sequence[str],
    simulated: Sequence[str],
    fields: Sequence[str] = (),
    systems: Sequence[str] = (),
    seed: int = 0,
    homophones: bool = True,
) -> dict[str, Any]:
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
        from unfazed.measure.realism.drop import drops
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

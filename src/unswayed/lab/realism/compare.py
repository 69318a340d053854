"""The comparison that `unswayed realism` prints: what the judge tells, how the slips look, and the harm to systems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np

from unswayed.base.edits import apply
from unswayed.base.seeds import Seeds
from unswayed.base.values import Estimate
from unswayed.lab.realism.aligned import Aligned, column, read_versions
from unswayed.lab.realism.harm import Files, asking, built_in, harm
from unswayed.lab.realism.judge import Judge
from unswayed.lab.realism.languages import Channel, Script, keyboard_of, script_of
from unswayed.lab.realism.letters import letter_looks, lexicon_of
from unswayed.measure.files import distances
from unswayed.systems.system import System
from unswayed.vary.chinese_slips import KINDS, Slip, slips
from unswayed.vary.engine import OperatorSpec
from unswayed.vary.operator import Text, Texts


def realism(
    clean: str, real: Sequence[str], simulated: Sequence[str], fields: Sequence[str] = (),
    systems: Sequence[str] = (), seed: int = 0, language: str | None = None, channel: Channel = "typing",
    by: str = "", documents: str = "", baselines: bool = True,
) -> dict[str, Any]:  # fmt: skip
    """Everything about files of clean texts, of what people made of them, and of what a simulation did."""
    before, people, draws = read_versions(clean, real, simulated, fields)
    texts, typed = before.texts(), [person.texts() for person in people]
    made = [draw.texts() for draw in draws]
    script = script_of(texts, language, channel)
    units = column(clean, by, before) if by else None
    each = None if units is None else [unit for unit, row in zip(units, before.rows, strict=True) for _ in row]
    judge = Judge(texts, typed, seed, script.language, each, channel)
    found: dict[str, Any] = {
        "language": script.language, "channel": channel, "by": by, "auc": judge.against_people(made),
    }  # fmt: skip
    if len(typed) > 1:
        found["person"] = [judge.one_person(k) for k in range(len(typed))]
    if baselines:
        found["baselines"] = _baselines(judge, script, texts, typed, seed)
    found["looks"] = {"human": _looks(script, texts, typed), "simulated": _looks(script, texts, made)}
    found["told_by"] = judge.told_by(made)
    files = Files(before, people, draws)
    answering = built_in(files, script, column(clean, documents, before) if documents else None, seed)
    answering |= {name: (asking(name), files) for name in systems}
    found["harm"] = {name: harm(ask, its, units) for name, (ask, its) in answering.items()}
    return dict(msgspec.to_builtins(found))


def _baselines(
    judge: Judge, script: Script, texts: list[str], typed: list[list[str]], seed: int
) -> dict[str, Estimate]:
    """Doing nothing at all, and a stress test of the same language, judged in the same way."""
    found = {"nothing": judge.against_people([texts])}
    name = script.baseline()
    if name:
        rate = sum(error_rate(texts, t) for t in typed) / len(typed)
        params: dict[str, float] = {"rate": min(1.0, max(0.01, rate))} if name == "keyboard/homophone" else {}
        operator = OperatorSpec(name, params).make()
        seeds = Seeds(seed, name, operator.version)
        views = Texts.of([Text(text, script.language) for text in texts])
        changes = operator.change_many(views, seeds.streams(views.ids, 0, [""] * len(texts)))
        found[name] = judge.against_people(
            [[apply(t, change.edits) if change else t for t, change in zip(texts, changes, strict=True)]]
        )
    return found


def _looks(script: Script, texts: Sequence[str], versions: Sequence[Sequence[str]]) -> dict[str, float]:
    """How versions of the texts look, the mean of all: by slips of pinyin, or by letters and words."""
    if script.name == "han":
        return _mean([looks(texts, version) for version in versions])
    seen = script.seen(texts)
    lexicon, board = lexicon_of(seen, script.language), keyboard_of(script.language)
    return _mean([letter_looks(seen, script.seen(version), lexicon, board) for version in versions])


def _mean(rows: Sequence[dict[str, float]]) -> dict[str, float]:
    return {name: sum(row[name] for row in rows) / len(rows) for name in rows[0]}


def rows_of(found: dict[str, Any]) -> list[list[dict[str, Any]]]:
    """The same as tables for people: judged, looks, what tells them apart, and harm."""
    judged = [("simulated", found["auc"])]
    judged += [(f"person {k + 1}", value) for k, value in enumerate(found.get("person", ()))]
    judged += [(f"baseline: {name}", value) for name, value in found.get("baselines", {}).items()]
    tables: list[list[dict[str, Any]]] = [[
        {"told from people": name, "auc": _short(v["value"]), "low": _short(v["low"]), "high": _short(v["high"])}
        for name, v in judged
    ]]  # fmt: skip
    human, made = found["looks"]["human"], found["looks"]["simulated"]
    tables.append([{"looks": name, "human": _short(human[name]), "simulated": _short(made[name])} for name in human])
    tables.append([{k: _short(v) if isinstance(v, float) else v for k, v in row.items()} for row in found["told_by"]])
    for name, rows in found["harm"].items():
        tables += [[
            {"system": name, "label": row["label"], "n": row["n"], "per cent": what,
             **{k: Estimate(v["value"], v["low"], v["high"], row["n"], 0, "") for k, v in row[what].items()}}
            for row in rows for what in ("accuracy", "flips") if what in row
        ]]  # fmt: skip
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
    """The harm to one system, for all examples and for each label, as plain numbers in per cent."""
    found = harm(asking(system), Files(clean, people, simulated))
    return [{"label": row["label"], "n": row["n"], **_flat(row, "accuracy"), **_flat(row, "flips")} for row in found]


def _flat(row: dict[str, Any], what: str) -> dict[str, float]:
    return {f"{what}.{name}": estimate.value for name, estimate in row.get(what, {}).items()}

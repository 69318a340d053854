"""A run as JUnit XML, which CI servers show as test results: a test case a gate or, without gates, an operator.

A broken set-up is an error before all others.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from xml.etree import ElementTree as Xml

from unswayed.base.text import figure
from unswayed.measure.comparison.outcome import Comparison, NotWorse
from unswayed.measure.gates import GateResult
from unswayed.measure.results import Block, Results
from unswayed.measure.sentences import plain, verdict
from unswayed.storage.files import write_atomically

# What XML 1.0 can't hold, even as a character reference.
_ILLEGAL = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_LONGEST, _WHOLE = 500, 10_000  # characters of a message, and of the verdict


def write_junit(path: str | Path, results: Results, gates: Iterable[GateResult] = (), seconds: float = 0.0) -> None:
    write_atomically(Path(path), junit_xml(results, gates, seconds))


def junit_xml(results: Results, gates: Iterable[GateResult] = (), seconds: float = 0.0) -> bytes:
    """One suite; `seconds` is how long the run took and stands on it whole, as gates take no time themselves."""
    gates = list(gates)
    operators = results.sets.get("operator", {})
    cases = [_sanity(results.sanity)] if results.sanity else []
    cases += [_gate(gate) for gate in gates] or [_operator(name, block) for name, block in operators.items()]
    name, said = f"unswayed: {results.system} on {results.suite}", plain(verdict(results))
    return _document(cases, results.task, name, said, seconds)


def write_comparison_junit(path: str | Path, comparison: Comparison) -> None:
    write_atomically(Path(path), comparison_xml(comparison))


def comparison_xml(comparison: Comparison) -> bytes:
    """A test case for each gate of each run; without gates, one for each difference over all variants."""
    cases = []
    for run, one in comparison.lettered():
        lead = f"{run} " if comparison.others else ""
        cases += [_sanity(one.sanity)] if one.sanity else []
        cases += [_gate(gate, lead) for gate in one.gates] or [
            _told(f"{lead}{d.measure}", d.sentence) for d in one.differences if d.set == "all"
        ]
    name = f"unswayed compare: {', '.join(one.b for _, one in comparison.lettered())} with {comparison.a}"
    return _document(cases, comparison.task, name, " ".join(comparison.sentences))


def _document(cases: list[Xml.Element], task: str, name: str, said: str, seconds: float = 0.0) -> bytes:
    for case in cases:
        case.set("classname", _legal(f"unswayed.{task}"))
        case.set("time", "0.000")
    counts = {
        "tests": str(len(cases)),
        "failures": str(sum(case.find("failure") is not None for case in cases)),
        "errors": str(sum(case.find("error") is not None for case in cases)),
        "skipped": "0",
        "time": f"{seconds:.3f}",
    }
    root = Xml.Element("testsuites", {"name": "unswayed", **counts})
    suite = Xml.SubElement(root, "testsuite", {"name": _legal(name), **counts})
    suite.extend(cases)
    Xml.SubElement(suite, "system-out").text = _legal(said, _WHOLE)
    Xml.indent(root)
    body: bytes = Xml.tostring(root, encoding="utf-8", xml_declaration=True)
    return body + b"\n"


def _sanity(signs: list[str]) -> Xml.Element:
    case = Xml.Element("testcase", {"name": "sanity"})
    message = _legal(" ".join(signs))
    Xml.SubElement(case, "error", {"message": message, "type": "NothingEvaluated"}).text = message
    return case


def _gate(gate: GateResult | NotWorse, lead: str = "") -> Xml.Element:
    if gate.passed:
        return _told(f"{lead}{gate.name}", gate.sentence)
    case = Xml.Element("testcase", {"name": _legal(f"{lead}{gate.name}")})
    sentence = _legal(gate.sentence)
    Xml.SubElement(case, "failure", {"message": sentence, "type": "GateFailed"}).text = sentence
    return case


def _told(name: str, sentence: str) -> Xml.Element:
    """A case that passes."""
    case = Xml.Element("testcase", {"name": _legal(name)})
    Xml.SubElement(case, "system-out").text = _legal(sentence)
    return case


def _operator(name: str, block: Block) -> Xml.Element:
    """Without a gate nothing is too low, so an operator's case fails only where there is no number at all."""
    case = Xml.Element("testcase", {"name": _legal(name)})
    if block.average.value is None:
        message = "Nothing could be measured: no variant of this operator has an answer that can be scored."
        Xml.SubElement(case, "error", {"message": message, "type": "NothingEvaluated"}).text = message
    else:
        said = ", ".join(f"{m} {figure(getattr(block, m))}" for m in ("clean", "average", "worst", "drop", "flips"))
        Xml.SubElement(case, "system-out").text = said
    return case


def _legal(text: str, most: int = _LONGEST) -> str:
    text = _ILLEGAL.sub("", text)
    return text if len(text) <= most else text[: most - 1] + "…"

"""A run as JUnit XML, which CI servers show as test results: a test case a gate or, without gates, an operator.

A broken set-up is an error before all others.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from xml.etree import ElementTree as Xml

from unfazed.core.files import write_atomically
from unfazed.core.text import figure
from unfazed.measure.gates import GateResult
from unfazed.measure.results import Block, Results
from unfazed.measure.sentences import plain, verdict

# What XML 1.0 can't hold, even as a character reference.
_ILLEGAL = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_LONGEST = 500


def write_junit(path: str | Path, results: Results, gates: Iterable[GateResult] = (), seconds: float = 0.0) -> None:
    write_atomically(Path(path), junit_xml(results, gates, seconds))


def junit_xml(results: Results, gates: Iterable[GateResult] = (), seconds: float = 0.0) -> bytes:
    """One suite; `seconds` is how long the run took and stands on it whole, as gates take no time themselves."""
    gates = list(gates)
    operators = results.sets.get("operator", {})
    cases = [_sanity(results.sanity)] if results.sanity else []
    cases += [_gate(gate) for gate in gates] or [_operator(name, block) for name, block in operators.items()]
    for case in cases:
        case.set("classname", _legal(f"unfazed.{results.task}"))
        case.set("time", "0.000")
    counts = {
        "tests": str(len(cases)),
        "failures": str(sum(case.find("failure") is not None for case in cases)),
        "errors": str(sum(case.find("error") is not None for case in cases)),
        "skipped": "0",
        "time": f"{seconds:.3f}",
    }
    name = _legal(f"unfazed: {results.system} on {results.suite}")
    root = Xml.Element("testsuites", {"name": "unfazed", **counts})
    suite = Xml.SubElement(root, "testsuite", {"name": name, **counts})
    suite.extend(cases)
    Xml.SubElement(suite, "system-out").text = _legal(plain(verdict(results)))
    Xml.indent(root)
    body: bytes = Xml.tostring(root, encoding="utf-8", xml_declaration=True)
    return body + b"\n"


def _sanity(signs: list[str]) -> Xml.Element:
    case = Xml.Element("testcase", {"name": "sanity"})
    message = _legal(" ".join(signs))
    Xml.SubElement(case, "error", {"message": message, "type": "NothingEvaluated"}).text = message
    return case


def _gate(gate: GateResult) -> Xml.Element:
    case = Xml.Element("testcase", {"name": _legal(gate.name)})
    sentence = _legal(gate.sentence)
    if gate.passed:
        Xml.SubElement(case, "system-out").text = sentence
    else:
        Xml.SubElement(case, "failure", {"message": sentence, "type": "GateFailed"}).text = sentence
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


def _legal(text: str) -> str:
    text = _ILLEGAL.sub("", text)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"

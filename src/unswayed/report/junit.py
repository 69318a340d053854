"""A run as JUnit XML, which CI servers show as test results: a test case a gate or, without gates, an operator.

A broken set-up is an error before all others.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from xml.etree import ElementTree as Xml

from unswayed.base.text import figure
from unswayed.measure.comparison.outcome import Comparison, NotWorse
from unswayed.measure.gates import GateResult
from unswayed.measure.results import Results
from unswayed.measure.sentences import plain, verdict
from unswayed.storage.files import write_atomically

# What XML 1.0 can't hold, even as a character reference.
_ILLEGAL = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_LONGEST, _WHOLE = 500, 10_000  # characters of a message, and of the verdict


def write_junit(path: str | Path, results: Results, gates: Iterable[GateResult] = (), seconds: float = 0.0) -> None:
    write_atomically(Path(path), junit_xml(results, gates, seconds))


def junit_xml(results: Results, gates: Iterable[GateResult] = (), seconds: float = 0.0) -> bytes:
    """One suite; `seconds` is how long the run took and stands on it whole, as gates take no time themselves."""
    signs, held = _verdicts(results.sanity, list(gates))
    if not held:
        for name, block in results.sets.get("operator", {}).items():
            # without a gate nothing is too low, so an operator's case fails only where there is no number at all
            measured = block.average.value is not None
            said = ", ".join(f"{m} {figure(getattr(block, m))}" for m in ("clean", "average", "worst", "drop", "flips"))
            none = "Nothing could be measured: no variant of this operator has an answer that can be scored."
            held.append(_case(name, said if measured else none, "" if measured else "error"))
    name, verdict_ = f"unswayed: {results.system} on {results.suite}", plain(verdict(results))
    return _document(signs + held, results.task, name, verdict_, seconds)


def write_comparison_junit(path: str | Path, comparison: Comparison) -> None:
    write_atomically(Path(path), comparison_xml(comparison))


def comparison_xml(comparison: Comparison) -> bytes:
    """A test case for each gate of each run; without gates, one for each difference over all variants."""
    cases = []
    for run, one in comparison.lettered():
        lead = f"{run} " if comparison.others else ""
        signs, held = _verdicts(one.sanity, one.gates, lead)
        overall = [_case(f"{lead}{d.measure}", d.sentence) for d in one.differences if d.set == "all"]
        cases += signs + (held or overall)
    name = f"unswayed compare: {', '.join(one.b for _, one in comparison.lettered())} with {comparison.a}"
    return _document(cases, comparison.task, name, " ".join(comparison.sentences))


def _document(cases: list[Xml.Element], task: str, name: str, said: str, seconds: float = 0.0) -> bytes:
    for case in cases:
        case.set("classname", _legal(f"unswayed.{task}"))
        case.set("time", f"{seconds / len(cases):.3f}")  # gates take no time themselves: each has its share
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


def _verdicts(
    sanity: list[str], gates: Sequence[GateResult | NotWorse], lead: str = ""
) -> tuple[list[Xml.Element], list[Xml.Element]]:
    """The case of a broken set-up, if it is, and those of the gates."""
    held = [_case(f"{lead}{gate.name}", gate.sentence, "" if gate.passed else "failure") for gate in gates]
    return [_case("sanity", " ".join(sanity), "error")] if sanity else [], held


def _case(name: str, text: str, problem: str = "") -> Xml.Element:
    """A case that passes, or one with an `error` or a `failure`."""
    case, text = Xml.Element("testcase", {"name": _legal(name)}), _legal(text)
    kind = {"error": "NothingEvaluated", "failure": "GateFailed"}.get(problem)
    Xml.SubElement(case, problem or "system-out", {"message": text, "type": kind} if kind else {}).text = text
    return case


def _legal(text: str, most: int = _LONGEST) -> str:
    text = _ILLEGAL.sub("", text)
    return text if len(text) <= most else text[: most - 1] + "…"

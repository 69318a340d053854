"""What of an answer is compared (*extract*, such as `number` or `after:Answer:`), and when two are the same
(*equivalent*: `exact`, `contains`, `rouge-l`, `embedding:FOLDER`, `nli:FOLDER`, `judge:SYSTEM`, or a function)."""

from __future__ import annotations

import json
import re
import sys
import unicodedata
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from threading import Event
from typing import ClassVar, NamedTuple

from rapidfuzz.distance import LCSseq

from unswayed.base.chat import standard
from unswayed.base.dependencies import Dependencies
from unswayed.base.errors import UnknownName, UsageError, option
from unswayed.base.ids import canonical, content_id, decode, file_hash
from unswayed.base.recorder import recorder_of
from unswayed.base.registry import import_reference
from unswayed.base.reply import json_within
from unswayed.base.values import Inputs, Json
from unswayed.storage.answers import AnswerStore
from unswayed.systems.asking import ask
from unswayed.systems.callable import fingerprint
from unswayed.systems.model_folder import MINILM, Embeddings, minilm_folder
from unswayed.systems.opening import open_system
from unswayed.systems.process import MAX_LINE, BrokeOff, ChildProcess
from unswayed.systems.prompted import JudgeSystem, verdict_of
from unswayed.systems.system import Failed, SystemAround

Extract = Callable[[Json], Json]  # None where the part is not there
EXTRACTS = ("number", "choice", "json", "regex:", "last-line", "after:", "none")
REGEX_SECONDS = 10.0  # that a regular expression may take for one answer
_MAX_KNOWN = 10_000  # answers whose matches are remembered

_NUMBER = re.compile(
    r"(?<![\w.,/])[-+−]?(?:[$€£¥]\s?)?"
    r"(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+,\d{1,2}(?![\d,])|\d*\.?\d+(?:[eE][-+]?\d+)?)(?:\s?/\s?(\d+)(?![\d/]))?"
)
_FINAL_MARK = "####"
_LETTER = r"[\(\[*_`]*\s*([A-J])\s*[\)\]*_`]*"
_CHOICES = (
    re.compile(rf"(?i:answer|choice|option)(?:\s+(?i:is|would be))?\s*[:=]?\s*(?i:option\s+)?{_LETTER}(?![\w'])"),
    re.compile(r"(?i:answer|choice|option)(?:\s+(?i:is|would be))?\s*[:=]?\s*\(?([a-j])\)?[.]?\s*$"),
    re.compile(rf"\A\s*{_LETTER}(?:[\).:,;\]]|\s*$|\s+[-–])"),
    re.compile(r"[\(\[]([A-J])[\)\]]"),
    re.compile(r"(?<![\w'])([A-J])\W*$"),
    re.compile(r"(?<![\w'])([B-HJ])(?![\w'])"),
)


def extract_named(spec: str) -> Extract:
    """What a spec names. Raises UsageError where it names nothing."""
    name, _, rest = spec.partition(":")
    if spec in ("", "none"):
        return lambda value: value
    if spec == "number":
        return lambda value: number_in(text_of(value))
    if spec == "choice":
        return lambda value: _choice_in(text_of(value))
    if spec == "last-line":
        return lambda value: next((s for line in reversed(text_of(value).splitlines()) if (s := line.strip())), None)
    if name == "json" or spec.startswith("json."):
        steps = [step for step in spec.removeprefix("json").split(".") if step]
        return lambda value: _value_at(steps, value)
    if name == "regex" and rest:
        search = BoundedRegex(rest)
        return lambda value: search(text_of(value))
    if name == "after" and rest:
        return lambda value: _text_after(rest, text_of(value))
    if name in ("after", "regex"):
        raise UsageError(f"{option('extract')} {name} needs something after the colon, as in {name}:answer.")
    raise UnknownName(f"part to {option('extract')}", spec, EXTRACTS)


def text_of(value: Json) -> str:
    """An answer as text: of a message its content, of anything else that is not text its JSON."""
    if isinstance(value, dict):
        for name in ("content", "text", "answer"):
            if isinstance(value.get(name), str):
                return str(value[name])
    if isinstance(value, str):
        return value
    return "" if value is None else canonical(value).decode()


def number_in(text: str) -> str | None:
    """The number after `####`, or else the last one: `The answer is 7.` has 7. Equal numbers give equal texts."""
    marked = text.rpartition(_FINAL_MARK)[2] if _FINAL_MARK in text else text
    found = list(_NUMBER.finditer(marked)) or list(_NUMBER.finditer(text))
    if not found:
        return None
    last = found[0] if _FINAL_MARK in text and marked != text else found[-1]
    digits = last[1]
    digits = digits.replace(",", "") if re.fullmatch(r"\d{1,3}(,\d{3})+(\.\d+)?", digits) else digits.replace(",", ".")
    value = Fraction(digits) / (int(last[2]) if last[2] and int(last[2]) else 1)
    value = -value if last[0][:1] in "-−" else value
    # As people write it: 7, 0.5, and 1/3 where no decimal is exact.
    rest = value.denominator
    while rest % 2 == 0 or rest % 5 == 0:
        rest //= 2 if rest % 2 == 0 else 5
    if rest != 1 or not 1 < value.denominator <= 10**15:
        return str(value)
    return format(Decimal(value.numerator) / Decimal(value.denominator), "f")


def _choice_in(text: str) -> str | None:
    """The letter of a choice: after the word answer, at the start, in brackets, or standing alone."""
    for pattern in _CHOICES:
        if found := pattern.findall(text):
            return str(found[-1]).upper()
    return None


def _value_at(steps: Sequence[str], value: Json) -> Json:
    """The value at a path such as `a.0.b` of the JSON in an answer, with or without words or a fence around it."""
    value = json_within(value) if isinstance(value, str) else value
    for step in steps:
        if isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list) and step.lstrip("-").isdigit() and -len(value) <= int(step) < len(value):
            value = value[int(step)]
        else:
            return None
    return value


def _text_after(mark: str, text: str) -> str | None:
    """What stands after the last place of a mark, in whatever case."""
    folded = text.casefold()  # whose places are those of the text only where no letter became two
    at = folded.rfind(mark.casefold()) if len(folded) == len(text) else text.rfind(mark)
    return text[at + len(mark) :].strip() if at >= 0 else None


_REGEX_PROGRAM = """
import json, re, sys
pattern = re.compile(json.loads(sys.stdin.readline()), re.S)
for line in sys.stdin:
    found = pattern.search(json.loads(line))
    print(json.dumps(None if found is None else found[1 if pattern.groups else 0]), flush=True)
"""


class BoundedRegex:
    """The first group, or else the whole match, of a regular expression.

    It is searched for in a process of its own: a pattern with nested repeats may take for ever, and Python can't stop
    that in the same process.
    """

    def __init__(self, pattern: str) -> None:
        self._child: ChildProcess | None = None
        try:
            re.compile(pattern)
        except re.error as error:
            raise UsageError(f"{option('extract')} regex:{pattern} is not a regular expression: {error}.") from error
        self.pattern = pattern
        self._known: dict[str, str | None] = {}

    def __call__(self, text: str) -> str | None:
        if text in self._known:
            return self._known[text]
        request = json.dumps(text) + "\n"  # which escapes lone surrogates and line breaks
        if self._child is None:
            self._child = ChildProcess([sys.executable, "-I", "-c", _REGEX_PROGRAM], MAX_LINE, Event())
            request = f"{json.dumps(self.pattern)}\n{request}"
        try:
            answer = next(self._child.exchange(request.encode(), lambda: REGEX_SECONDS))
        except BrokeOff:
            self.close()
            raise UsageError(
                f"{option('extract')} regex:{self.pattern} takes more than {REGEX_SECONDS:g} seconds on one answer, "
                f"{text!r:.60}. Write it without a repeat inside a repeat."
            ) from None
        if len(self._known) > _MAX_KNOWN:
            self._known.clear()
        self._known[text] = decode(answer)
        return self._known[text]

    def close(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.end()

    def __del__(self) -> None:
        self.close()


TASK_RULES = ("within", "found", "calls")  # rules for answers that are no texts
EQUIVALENTS = (
    *("exact", "contains", "rouge-l", "embedding:FOLDER", "embedding:minilm", "nli:FOLDER", "judge:SYSTEM"),
    *("within@0.05", "found@10"),
)
_SAME_ROUGE, _SAME_COSINE = 0.7, 0.85  # from which on two answers are the same, unless @THRESHOLD says otherwise

_UNSPACED = r"\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
REMEMBERED = 1 << 14  # texts, about as many as are in a block of a run, each of which is looked at several times
_WORD = re.compile(rf"\d+(?:[.,]\d+)*|[{_UNSPACED}]|[^\W{_UNSPACED}]+(?:['’][^\W{_UNSPACED}]+)*")
_STRIPPED_MARKS = " \t\r\n.,;:!?\"'`*_()[]{}。，、！？：；“”‘’「」…-"


class AnswerPair(NamedTuple):
    """Two answers to compare: one that was given, and the gold or clean answer. `inputs` are the example's."""

    said: Json
    reference: Json
    inputs: Inputs
    gold: bool  # is the reference the gold answer?
    due: Json = None  # the gold answer, where the reference is the clean one

    @property
    def texts(self) -> tuple[str, str]:
        return text_of(self.said), text_of(self.reference)


@lru_cache(REMEMBERED)
def normal_text(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).split()).casefold().strip(_STRIPPED_MARKS)


class EquivalentRule:
    """Says of pairs of answers whether they are the same; None where that can't be said.

    Extend with `alike`, or with `same` where many pairs are judged faster at once.
    """

    transitive: ClassVar[bool] = False  # same exactly where the keys are equal
    sees_inputs: ClassVar[bool] = False
    slow: ClassVar[bool] = False  # slower than to find a verdict in a file
    asks: ClassVar[bool] = False  # a system, whose answers are worth keeping
    matches: ClassVar[bool] = True  # is an answer that is the same as the gold right, so that `match` is the score?
    beside: ClassVar[str] = ""  # a second measure of the change, which `value_beside` gives
    rubric: str = ""

    @property
    def decides(self) -> str | None:
        """What decides verdicts beside the spec; None if that can't be known, so that no verdict is kept."""
        return ""

    def rests_on(self) -> Dependencies | None:
        """What else was found to decide verdicts, by code that is not unswayed's."""
        return None

    def key(self, value: Json) -> str:
        """What is compared: values of one key are always the same.

        Of a text, compatible characters as one, lower case, single spaces, and no punctuation or marks around.
        """
        return normal_text(value) if isinstance(value, str) else text_of(standard(value, str))

    def alike(self, pair: AnswerPair) -> bool | None:
        """A verdict on one pair."""
        return self.key(pair.said) == self.key(pair.reference)

    def value_beside(self, pair: AnswerPair) -> float:
        """The value of the measure that `beside` names; 0 for answers of one key."""
        return 0.0

    def same(self, pairs: Sequence[AnswerPair], store: AnswerStore | None = None) -> list[bool | None]:
        """A verdict on each pair. `store` caches the answers of a system that is asked."""
        return [self.alike(pair) for pair in pairs]


def equivalent_named(spec: str, rubric: str | None = None) -> EquivalentRule:
    """What a spec names. Raises UsageError where it names nothing."""
    if rubric is not None and not spec.startswith("judge:"):
        raise UsageError(f"{option('rubric')} is for {option('equivalent')} judge:SYSTEM.")
    kind, _, parameter = spec.partition("@")
    if kind in TASK_RULES:
        from unswayed.score._task_rules import task_rule  # which extends the rules here

        return task_rule(kind, parameter)
    bare, at, number = spec.rpartition("@")
    threshold = _SAME_ROUGE if spec.startswith("rouge-l") else _SAME_COSINE
    if at and bare.startswith(("rouge-l", "embedding:")):  # other names, such as a system's, may hold the sign
        try:
            threshold = float(number)
        except ValueError:
            threshold = -1.0
        if not 0 <= threshold <= 1:
            raise UsageError(
                f"{option('equivalent')} {spec}: the threshold must be a number from 0 to 1, not {number!r}."
            )
    else:
        bare = spec
    name, _, rest = bare.partition(":")
    if bare == "exact":
        return ExactRule()
    if bare == "contains":
        return ContainsRule()
    if bare == "rouge-l":
        return RougeRule(threshold)
    if name == "embedding" and rest:
        return EmbeddingRule(rest, threshold)
    if name == "nli" and rest:
        return NliRule(rest)
    if name == "judge" and rest:
        return JudgeRule(rest, rubric)
    if rest and name not in ("exact", "contains", "rouge-l"):
        return FunctionRule(spec)
    raise UnknownName(
        f"way to be {option('equivalent')}", spec, (*EQUIVALENTS, "within@TOLERANCE", "found@K", "module:function")
    )


def words_of(text: str) -> list[str]:
    """The words and numbers of a text in lower case; in scripts without spaces, its characters."""
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold().replace("’", "'"))


@lru_cache(REMEMBERED)
def _fenced_words(text: str) -> str:
    """The same words, each between two marks, so that some of them in order are a part of this text."""
    return f"\0{chr(0).join(words_of(text))}\0"


class ExactRule(EquivalentRule):
    """Equal after normalising: capitals, spaces, and punctuation around an answer make no difference."""

    transitive = True


class ContainsRule(EquivalentRule):
    """The words of the gold stand in the answer, in order and without others between; of two answers, either way."""

    def alike(self, pair: AnswerPair) -> bool | None:
        said, reference = map(_fenced_words, pair.texts)
        if "\0\0" in (said, reference):  # one has no words
            return super().alike(pair)
        return reference in said or (not pair.gold and said in reference)


class RougeRule(EquivalentRule):
    """The F1 of the longest common subsequence of words is at least the threshold."""

    def __init__(self, threshold: float) -> None:
        self.threshold = threshold

    def alike(self, pair: AnswerPair) -> bool | None:
        a, b = map(words_of, pair.texts)
        return (2 * LCSseq.similarity(a, b) / (len(a) + len(b)) if a and b else float(a == b)) >= self.threshold


class EmbeddingRule(EquivalentRule):
    """The cosine of the two answers' embeddings, the means of an encoder's token vectors, is at least the threshold."""

    slow = True

    def __init__(self, folder: str, threshold: float) -> None:
        if folder == MINILM and not Path(folder).exists():
            folder = str(minilm_folder())
        if not Path(folder).is_dir():
            raise UsageError(
                f"{option('equivalent')} embedding:{folder}: there is no such folder. Name one with an encoder of "
                f"Hugging Face's, or {MINILM}."
            )
        self.folder, self.threshold = folder, threshold
        self._embeddings: Embeddings | None = None

    @property
    def decides(self) -> str | None:
        files = sorted(f for f in Path(self.folder).iterdir() if f.is_file())
        return content_id([[f.name, file_hash(f)] for f in files])

    def same(self, pairs: Sequence[AnswerPair], store: AnswerStore | None = None) -> list[bool | None]:
        self._embeddings = self._embeddings or Embeddings(self.folder)
        return [c >= self.threshold - 1e-6 for c in self._embeddings.similarity([pair.texts for pair in pairs])]


class NliRule(EquivalentRule):
    """Each answer entails the other, says a model of entailment: one that labels a premise and a hypothesis."""

    slow = True
    asks = True

    def __init__(self, system: str) -> None:
        self._system = open_system(system)

    @property
    def decides(self) -> str | None:
        return self._system.identity

    def rests_on(self) -> Dependencies | None:
        return self._system.rests_on()

    def same(self, pairs: Sequence[AnswerPair], store: AnswerStore | None = None) -> list[bool | None]:
        both_ways = (texts for pair in pairs for texts in (pair.texts, pair.texts[::-1]))
        entailed: list[bool | None] = []
        for output in ask(self._system, ({"premise": a, "hypothesis": b} for a, b in both_ways), store):
            value = output.value if output.ok else ""
            label = str(value.get("label", "") if isinstance(value, dict) else value).casefold()
            entailed.append((label.startswith("entail") or label in ("yes", "true", "1")) if label else None)
        both = zip(entailed[::2], entailed[1::2], strict=True)
        return [None if one is None or other is None else one and other for one, other in both]


class _CountedJudge(SystemAround):
    """A judge whose calls are counted, apart from what the system under test used."""

    _calls = 0

    def predict(self, batch: Sequence[Inputs]) -> Sequence[Json | Failed]:
        self._calls += len(batch)
        return self.system.predict(batch)

    def used(self) -> dict[str, float]:
        calls, self._calls = self._calls, 0
        return {f"judge {name}": amount for name, amount in {"calls": calls, **self.system.used()}.items() if amount}


class JudgeRule(EquivalentRule):
    """Another system says yes or no to a rubric that is filled with the question and the two answers."""

    sees_inputs = True
    slow = True
    asks = True

    def __init__(self, system: str, rubric: str | None) -> None:
        self._judge = JudgeSystem(open_system(system), rubric)
        self.rubric = self._judge.template.text
        self._system = _CountedJudge(self._judge.system)

    @property
    def decides(self) -> str | None:
        return self._judge.identity

    def rests_on(self) -> Dependencies | None:
        return self._judge.rests_on()

    def same(self, pairs: Sequence[AnswerPair], store: AnswerStore | None = None) -> list[bool | None]:
        found = [self.alike(pair) for pair in pairs]  # stays where an answer is empty: that needs no judge
        due = [at for at, pair in enumerate(pairs) if self.key(pair.said) and self.key(pair.reference)]
        requests = []
        for pair in (pairs[at] for at in due):
            texts = dict(zip(("answer", "reference"), pair.texts, strict=True))
            requests.append(self._judge.request({**texts, "question": question_of(pair.inputs)}))
        for at, output in zip(due, ask(self._system, requests, store) if due else (), strict=True):
            found[at] = verdict_of(output.value) if output.ok else None
        return found


def question_of(inputs: Inputs) -> str:
    """What was asked, for a judge: the only text, or each text after its name."""
    texts = {name: text for name, text in inputs.items() if name != "chat"}
    return next(iter(texts.values())) if len(texts) == 1 else "\n".join(f"{n}: {t}" for n, t in texts.items())


class FunctionRule(EquivalentRule):
    """A function of (answer, reference, inputs) that returns whether they are the same, or a score from 0 to 1."""

    sees_inputs = True
    slow = True

    def __init__(self, reference: str) -> None:
        found = import_reference(reference)
        if not callable(found):
            raise UsageError(f"{option('equivalent')} {reference} can't be called.")
        self.reference, self._function, self._recorder = reference, found, recorder_of(found)

    @property
    def decides(self) -> str | None:
        return fingerprint(self._function)

    def rests_on(self) -> Dependencies | None:
        return None if self._recorder is None else self._recorder.record()

    def key(self, value: Json) -> str:
        return text_of(value)

    def alike(self, pair: AnswerPair) -> bool | None:
        try:
            with self._recorder or nullcontext():
                found = self._function(pair.said, pair.reference, dict(pair.inputs))
        except Exception as error:
            raise UsageError(
                f"{option('equivalent')} {self.reference} raised {type(error).__name__}: {error}. It is called "
                f"with an answer, the answer to compare it with, and the example's inputs."
            ) from error
        return found if isinstance(found, bool) or found is None else float(found) >= 0.5

"""*EquivalentRule*: when two answers are the same. `exact`, `contains`, `rouge-l`, `embedding:FOLDER`, `nli:FOLDER`,
`judge:SYSTEM`, or a function of one's own."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from rapidfuzz.distance import LCSseq

from unswayed.base.errors import UnknownName, UsageError, option
from unswayed.base.ids import content_id, file_hash
from unswayed.base.registry import import_reference
from unswayed.base.values import Inputs, Json
from unswayed.score._extract import text_of
from unswayed.storage.answers import AnswerStore
from unswayed.systems.asking import ask
from unswayed.systems.system import Failed, System, SystemAround

EQUIVALENTS = (
    *("exact", "contains", "rouge-l", "embedding:FOLDER", "embedding:minilm", "nli:FOLDER", "judge:SYSTEM"),
    "module:function",
)
_SAME_ROUGE, _SAME_COSINE = 0.7, 0.85  # from which on two answers are the same, unless @THRESHOLD says otherwise

_UNSPACED = r"\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"\d+(?:[.,]\d+)*|[{_UNSPACED}]|[^\W{_UNSPACED}]+(?:['’][^\W{_UNSPACED}]+)*")
_STRIPPED_MARKS = " \t\r\n.,;:!?\"'`*_()[]{}。，、！？：；“”‘’「」…-"


class AnswerPair(NamedTuple):
    """Two answers to compare: one that was given, and the gold or clean answer. `inputs` are the example's."""

    said: Json
    reference: Json
    inputs: Inputs
    gold: bool  # is the reference the gold answer?


class EquivalentRule:
    """Says of pairs of answers whether they are the same; None where that can't be said."""

    transitive: ClassVar[bool] = False  # same exactly where the keys are equal
    sees_inputs: ClassVar[bool] = False
    asks: ClassVar[bool] = False  # a system, whose answers are worth keeping
    rubric: str = ""

    @property
    def decides(self) -> str | None:
        """What decides verdicts beside the spec; None if that can't be known, so that no verdict is kept."""
        return ""

    def key(self, value: Json) -> str:
        """What is compared: values of one key are always the same."""
        return normal_form(text_of(value)) if isinstance(value, str) else text_of(_whole_numbers(value))

    def same(self, pairs: Sequence[AnswerPair], store: AnswerStore | None = None) -> list[bool | None]:
        """A verdict on each pair. `store` caches the answers of a system that is asked."""
        return [self.key(pair.said) == self.key(pair.reference) for pair in pairs]


def equivalent_named(spec: str, rubric: str | None = None) -> EquivalentRule:
    """What a spec names. Raises UsageError where it names nothing."""
    if rubric is not None and not spec.startswith("judge:"):
        raise UsageError(f"{option('rubric')} is for {option('equivalent')} judge:SYSTEM.")
    bare, at, number = spec.rpartition("@")
    threshold = None
    if at and bare.startswith(("rouge-l", "embedding:")):  # other names, such as a system's, may hold the sign
        with suppress(ValueError):
            threshold = float(number)
        if threshold is None or not 0 <= threshold <= 1:
            raise UsageError(
                f"{option('equivalent')} {spec}: the threshold must be a number from 0 to 1, not {number!r}."
            )
    else:
        bare = spec
    name, colon, rest = bare.partition(":")
    if bare == "exact":
        return ExactRule()
    if bare == "contains":
        return ContainsRule()
    if bare == "rouge-l":
        return RougeRule(_SAME_ROUGE if threshold is None else threshold)
    if name == "embedding" and rest:
        return EmbeddingRule(rest, _SAME_COSINE if threshold is None else threshold)
    if spec.startswith("nli:") and spec != "nli:":
        return NliRule(spec.removeprefix("nli:"))
    if spec.startswith("judge:") and spec != "judge:":
        return JudgeRule(spec.removeprefix("judge:"), rubric)
    if colon and rest and name not in ("embedding", "nli", "judge", "exact", "contains", "rouge-l"):
        return FunctionRule(spec)
    raise UnknownName(f"way to be {option('equivalent')}", spec, EQUIVALENTS)


def normal_form(text: str) -> str:
    """Compatible characters as one, lower case, single spaces, and no punctuation or marks around."""
    return " ".join(unicodedata.normalize("NFKC", text).split()).casefold().strip(_STRIPPED_MARKS)


def words_of(text: str) -> list[str]:
    """The words and numbers of a text in lower case; in scripts without spaces, its characters."""
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold().replace("’", "'"))


def _whole_numbers(value: Json) -> Json:
    """JSON in which 5.0 is 5."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_whole_numbers(item) for item in value]
    return {key: _whole_numbers(item) for key, item in value.items()} if isinstance(value, dict) else value


class ExactRule(EquivalentRule):
    """Equal after normalising: capitals, spaces, and punctuation around an answer make no difference."""

    transitive = True


class ContainsRule(EquivalentRule):
    """The words of the gold stand in the answer, in order and without others between; of two answers, either way."""

    def same(self, pairs: Sequence[AnswerPair], store: AnswerStore | None = None) -> list[bool | None]:
        found: list[bool | None] = []
        for pair in pairs:
            said, reference = words_of(text_of(pair.said)), words_of(text_of(pair.reference))
            if said and reference:
                inside = _contains_words(said, reference)
                found.append(inside or (not pair.gold and _contains_words(reference, said)))
            else:
                found.append(self.key(pair.said) == self.key(pair.reference))
        return found


def _contains_words(words: list[str], part: list[str]) -> bool:
    return f"\0{chr(0).join(part)}\0" in f"\0{chr(0).join(words)}\0"


class RougeRule(EquivalentRule):
    """The F1 of the longest common subsequence of words is at least the threshold."""

    def __init__(self, threshold: float) -> None:
        self.threshold = threshold

    def same(self, pairs: Sequence[AnswerPair], store: AnswerStore | None = None) -> list[bool | None]:
        found: list[bool | None] = []
        for pair in pairs:
            a, b = words_of(text_of(pair.said)), words_of(text_of(pair.reference))
            shared = float(LCSseq.similarity(a, b))
            found.append((2 * shared / (len(a) + len(b)) if a and b else float(a == b)) >= self.threshold)
        return found


class EmbeddingRule(EquivalentRule):
    """The cosine of the two answers' embeddings, the means of an encoder's token vectors, is at least the threshold."""

    def __init__(self, folder: str, threshold: float) -> None:
        from unswayed.systems.model_folder import MINILM, minilm_folder

        if folder == MINILM and not Path(folder).exists():
            folder = str(minilm_folder())
        if not Path(folder).is_dir():
            raise UsageError(
                f"{option('equivalent')} embedding:{folder}: there is no such folder. Name one with an encoder of "
                f"Hugging Face's, or {MINILM}."
            )
        self.folder, self.threshold = folder, threshold
        self._embeddings: Any = None

    @property
    def decides(self) -> str | None:
        files = sorted(f for f in Path(self.folder).iterdir() if f.is_file())
        return content_id([[f.name, file_hash(f)] for f in files])

    def same(self, pairs: Sequence[AnswerPair], store: AnswerStore | None = None) -> list[bool | None]:
        from unswayed.systems.model_folder import Embeddings

        self._embeddings = self._embeddings or Embeddings(self.folder)
        cosines = self._embeddings.similarity([(text_of(p.said), text_of(p.reference)) for p in pairs])
        return [cosine >= self.threshold - 1e-6 for cosine in cosines]


class NliRule(EquivalentRule):
    """Each answer entails the other, says a model of entailment: one that labels a premise and a hypothesis."""

    asks = True

    def __init__(self, system: str) -> None:
        from unswayed.systems.opening import open_system

        self._system = open_system(system)

    @property
    def decides(self) -> str | None:
        return self._system.identity

    def same(self, pairs: Sequence[AnswerPair], store: AnswerStore | None = None) -> list[bool | None]:
        texts = [(text_of(p.said), text_of(p.reference)) for p in pairs]
        requests = [{"premise": a, "hypothesis": b} for one, other in texts for a, b in ((one, other), (other, one))]
        entailed: list[bool | None] = []
        for output in ask(self._system, requests, store):
            value = output.value if output.ok else ""
            label = str(value.get("label", "") if isinstance(value, dict) else value).casefold()
            entailed.append((label.startswith("entail") or label in ("yes", "true", "1")) if label else None)
        both = zip(entailed[::2], entailed[1::2], strict=True)
        return [None if one is None or other is None else one and other for one, other in both]


class _CountedJudge(SystemAround):
    """A judge whose calls are counted, apart from what the system under test used."""

    def __init__(self, system: System) -> None:
        super().__init__(system)
        self._calls = 0

    @property
    def identity(self) -> str:
        return self.system.identity

    def predict(self, batch: Sequence[Inputs]) -> Sequence[Json | Failed]:
        self._calls += len(batch)
        return self.system.predict(batch)

    def used(self) -> dict[str, float]:
        calls, self._calls = self._calls, 0
        return {f"judge {name}": amount for name, amount in {"calls": calls, **self.system.used()}.items() if amount}


class JudgeRule(EquivalentRule):
    """Another system says yes or no to a rubric that is filled with the question and the two answers."""

    sees_inputs = True
    asks = True

    def __init__(self, system: str, rubric: str | None) -> None:
        from unswayed.systems.opening import open_system
        from unswayed.systems.prompted import JudgeSystem

        self._judge = JudgeSystem(open_system(system), rubric)
        self.rubric = self._judge.template.text
        self._system = _CountedJudge(self._judge.system)

    @property
    def decides(self) -> str | None:
        return self._judge.identity

    def same(self, pairs: Sequence[AnswerPair], store: AnswerStore | None = None) -> list[bool | None]:
        from unswayed.systems.prompted import verdict

        due = [pair for pair in pairs if self.key(pair.said) and self.key(pair.reference)]
        requests = [
            self._judge.request(
                {
                    "answer": text_of(pair.said),
                    "reference": text_of(pair.reference),
                    "question": question_of(pair.inputs),
                }
            )
            for pair in due
        ]
        outputs = iter(ask(self._system, requests, store) if due else ())
        found: list[bool | None] = []
        for pair in pairs:
            said, reference = self.key(pair.said), self.key(pair.reference)
            if said and reference:
                output = next(outputs)
                found.append(verdict(output.value) if output.ok else None)
            else:
                found.append(said == reference)  # an empty answer needs no judge
        return found


def question_of(inputs: Inputs) -> str:
    """What was asked, for a judge: the only text, or each text after its name."""
    texts = {name: text for name, text in inputs.items() if name != "chat"}
    return next(iter(texts.values())) if len(texts) == 1 else "\n".join(f"{n}: {t}" for n, t in texts.items())


class FunctionRule(EquivalentRule):
    """A function of (answer, reference, inputs) that returns whether they are the same, or a score from 0 to 1."""

    sees_inputs = True

    def __init__(self, reference: str) -> None:
        found = import_reference(reference)
        if not callable(found):
            raise UsageError(f"{option('equivalent')} {reference} can't be called.")
        self.reference, self._function = reference, found

    @property
    def decides(self) -> str | None:
        from unswayed.systems.fingerprint import fingerprint

        return fingerprint(self._function)

    def key(self, value: Json) -> str:
        return text_of(value)

    def same(self, pairs: Sequence[AnswerPair], store: AnswerStore | None = None) -> list[bool | None]:
        verdicts: list[bool | None] = []
        for pair in pairs:
            try:
                found = self._function(pair.said, pair.reference, dict(pair.inputs))
            except Exception as error:
                raise UsageError(
                    f"{option('equivalent')} {self.reference} raised {type(error).__name__}: {error}. It is called "
                    f"with an answer, the answer to compare it with, and the example's inputs."
                ) from error
            yes = found if isinstance(found, bool) or found is None else float(found) >= 0.5
            verdicts.append(yes)
        return verdicts

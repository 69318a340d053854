"""A spaCy pipeline in a folder, `spacy/pipeline`: the label of its categorizer, or its entities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unswayed.base.edits import Span, bio
from unswayed.base.errors import MissingExtra, StoredFileError, UsageError
from unswayed.base.ids import content_id, file_hash
from unswayed.base.values import Inputs, Json
from unswayed.systems.system import Failed, System

if TYPE_CHECKING:
    from unswayed.storage.suite import Suite

_LETTERS = 100_000  # of a text that are read
_CATEGORIZERS = ("textcat", "textcat_multilabel")
_ANSWERS = {"classify": "label", "slu": "tags", "tag": "entities"}


class SpacyPipeline(System):
    """A spaCy pipeline: its likeliest category, its entities, or these as tags with an intent, as the task wants."""

    name = "spacy/pipeline"
    deterministic = True

    def __init__(self, path: str | Path, answer: str | None = None, field: str | None = None) -> None:
        self.path = Path(path)
        if not (self.path / "config.cfg").is_file():
            raise UsageError(f"{self.path} holds no spaCy pipeline. Save one with nlp.to_disk({str(self.path)!r}).")
        if answer not in (None, *_ANSWERS.values()):
            raise UsageError(f"A spaCy pipeline's answer is label, tags or entities, not {answer!r}.")
        self.answer, self.field = answer, field

    @property
    def identity(self) -> str:
        return f"{type(self).name} {self._content} {content_id([self.answer, self.field])}"

    @cached_property
    def _content(self) -> str:
        files = sorted(f for f in self.path.rglob("*") if f.is_file())
        return content_id([[f.relative_to(self.path).as_posix(), file_hash(f)] for f in files], 16)

    def prepare(self, suite: Suite) -> None:
        task = suite.manifest.task
        if self.answer is None and task in _ANSWERS:
            self.answer = _ANSWERS[task]
        self._check()

    @cached_property
    def nlp(self) -> Any:
        if find_spec("spacy") is None:
            raise MissingExtra("A spaCy pipeline", "spacy")
        import spacy

        try:
            _refuse_others(self.path, spacy.util.load_config(self.path / "config.cfg"))
            return spacy.load(self.path)
        except UsageError:
            raise
        except Exception as error:  # a damaged file, a component of a package that is not here
            raise StoredFileError(f"{self.path}: spaCy can't open this ({str(error)[:300]}).") from error

    def _check(self) -> None:
        """Settles what is answered, and makes sure that the pipeline has what it takes."""
        entities = "ner" in self.nlp.pipe_names or "entity_ruler" in self.nlp.pipe_names
        has = {
            "label": bool({*_CATEGORIZERS} & {*self.nlp.pipe_names}),
            "tags": entities,
            "entities": entities,
        }
        self.answer = self.answer or ("tags" if has["tags"] else "label")
        if not has[self.answer]:
            lacks = "a textcat" if self.answer == "label" else "an ner"
            found = ", ".join(self.nlp.pipe_names) or "nothing"
            raise UsageError(f"{self.path} has {found} in it, but not {lacks}, which the answer is to come from.")

    def predict(self, batch: Sequence[Inputs]) -> Sequence[Json | Failed]:
        self._check()
        texts = [self._text(inputs) for inputs in batch]
        readable = [text[:_LETTERS] for text in texts if isinstance(text, str)]
        docs = iter(self.nlp.pipe(readable, batch_size=self.batch_size))
        return [self._answer(text, next(docs)) if isinstance(text, str) else text for text in texts]

    def _text(self, inputs: Inputs) -> str | Failed:
        field = self.field or ("text" if "text" in inputs else next(iter(inputs), "text"))
        if not self.field and field != "text" and len(inputs) > 1:
            names = ", ".join(sorted(inputs))
            return Failed(f"there are the texts {names}; choose with the option field", final=True)
        if field not in inputs:
            return Failed(f"the input has no {field!r}", final=True)
        return inputs[field].encode("utf-8", "replace").decode()

    def _answer(self, text: str, doc: Any) -> Json:
        # Rounded, as sums over a batch may differ in the last digits.
        label = max(sorted(doc.cats), key=lambda name: round(doc.cats[name], 4)) if doc.cats else ""
        if self.answer == "label":
            return label
        spans = [Span(entity.start_char, entity.end_char, entity.label_) for entity in doc.ents]
        if self.answer == "entities":
            return {"entities": [{"start": span.start, "end": span.end, "label": span.name} for span in spans]}
        return {"intent": label, "slots": bio(text, spans)}

    def close(self) -> None:
        self.__dict__.pop("nlp", None)


def _refuse_others(folder: Path, config: Mapping[str, Any]) -> None:
    """Raises where a pipeline would open another one, which may be a package and so code, or call back.

    Otherwise spaCy takes functions by name from installed packages, and only data from the folder.
    """
    for name, component in config.get("components", {}).items():
        if component.get("source"):
            raise UsageError(f"{folder}: {name} is copied from another pipeline. Save the whole one with nlp.to_disk.")
    for name, value in config.get("nlp", {}).items():
        if isinstance(value, Mapping) and "@callbacks" in value:
            raise UsageError(f"{folder}: config.cfg has a function called at {name}. Remove it from the file.")

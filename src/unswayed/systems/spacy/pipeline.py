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
from unswayed.systems.system import Failed, System, missing_input, predict_readable

if TYPE_CHECKING:
    from unswayed.storage.suite import Suite

_MAX_CHARS = 100_000  # of a text that are read
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
        self.answer = self.answer or _ANSWERS.get(suite.manifest.task)
        self._settle_answer()

    @cached_property
    def nlp(self) -> Any:
        if find_spec("spacy") is None:
            raise MissingExtra("A spaCy pipeline", "spacy")
        import spacy

        try:
            config = spacy.util.load_config(self.path / "config.cfg")
            # It may not open another pipeline, which may be a package and so code, or call back. Otherwise spaCy takes
            # functions by name from installed packages, and only data from the folder.
            for name, component in config.get("components", {}).items():
                if component.get("source"):
                    raise UsageError(
                        f"{self.path}: {name} is copied from another pipeline. Save the whole one with nlp.to_disk."
                    )
            for name, value in config.get("nlp", {}).items():
                if isinstance(value, Mapping) and "@callbacks" in value:
                    raise UsageError(
                        f"{self.path}: config.cfg has a function called at {name}. Remove it from the file."
                    )
            return spacy.load(self.path)
        except UsageError:
            raise
        except Exception as error:  # a damaged file, a component of a package that is not here
            raise StoredFileError(f"{self.path}: spaCy can't open this ({str(error)[:300]}).") from error

    def _settle_answer(self) -> None:
        """Settles what is answered, and makes sure that the pipeline has what it takes."""
        names = self.nlp.pipe_names
        entities = "ner" in names or "entity_ruler" in names
        self.answer = self.answer or ("tags" if entities else "label")
        if not ({*_CATEGORIZERS} & {*names} if self.answer == "label" else entities):
            lacks = "a textcat" if self.answer == "label" else "an ner"
            found = ", ".join(names) or "nothing"
            raise UsageError(f"{self.path} has {found} in it, but not {lacks}, which the answer is to come from.")

    def predict(self, batch: Sequence[Inputs]) -> Sequence[Json | Failed]:
        self._settle_answer()
        return predict_readable(batch, self._input_problem, self._answers)

    def _input_problem(self, inputs: Inputs) -> str | None:
        if not self.field and "text" not in inputs and len(inputs) > 1:
            return f"there are the texts {', '.join(sorted(inputs))}; choose with the option field"
        return missing_input(inputs, [self._field_of(inputs)])

    def _field_of(self, inputs: Inputs) -> str:
        return self.field or ("text" if "text" in inputs else next(iter(inputs), "text"))

    def _answers(self, batch: Sequence[Inputs]) -> list[Json]:
        texts = [inputs[self._field_of(inputs)].encode("utf-8", "replace").decode() for inputs in batch]
        found: list[Json] = []
        docs = self.nlp.pipe((text[:_MAX_CHARS] for text in texts), batch_size=self.batch_size)
        for text, doc in zip(texts, docs, strict=True):
            # Rounded, as sums over a batch may differ in the last digits.
            label = max(sorted(doc.cats), key=lambda name: round(doc.cats[name], 4)) if doc.cats else ""
            spans = [Span(entity.start_char, entity.end_char, entity.label_) for entity in doc.ents]
            if self.answer == "label":
                found.append(label)
            elif self.answer == "entities":
                found.append({"entities": [{"start": s.start, "end": s.end, "label": s.name} for s in spans]})
            else:
                found.append({"intent": label, "slots": bio(text, spans)})
        return found

    def close(self) -> None:
        self.__dict__.pop("nlp", None)

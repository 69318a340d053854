"""Hugging Face models, opened from a folder and never from a hub; the architecture decides the kind of system.

Here is what these systems share, and a pipeline of transformers' that was made in one's own Python.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import msgspec

from unswayed.base.edits import Span, bio
from unswayed.base.errors import StoredFileError, UsageError
from unswayed.base.ids import content_id
from unswayed.base.values import Inputs, Json
from unswayed.systems.device import Halving, beside, home, torch_threads
from unswayed.systems.model_folder import ModelFolder
from unswayed.systems.system import Failed, System, missing_input, predict_readable
from unswayed.systems.template import Template, prompt_of, texts_of

if TYPE_CHECKING:
    from unswayed.storage.suite import Suite

_POSITIONS = 512
_PIECE_CHARS = 24  # more of a text than would fill the model is not even cut into pieces
_MAX_PIECES = 8192  # that are asked at once, with their padding


class HfOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What, besides the model, decides the answers; kept in `system.json` where a model was trained here."""

    max_length: int | None = None  # pieces; the model's own if not given
    labels: list[str] | None = None  # in the order of the model's outputs; the model's own if not given
    fields: list[str] | None = None  # the texts that are read, in this order
    prompt: str | None = None  # what a generating model is given, with {names} of texts in it
    source_language: str | None = None  # codes of the tokenizer, such as zh_CN and en_XX
    target_language: str | None = None
    max_new_tokens: int = 256
    beams: int = 1

    @classmethod
    def read(cls, given: dict[str, Any]) -> HfOptions:
        """The options of these names; lists may be given as texts with commas, a prompt as its file."""
        given = dict(given)
        for name in ("labels", "fields"):
            if isinstance(given.get(name), str):
                given[name] = given[name].split(",")
        prompt = given.get("prompt")
        if isinstance(prompt, str) and "{" not in prompt:  # without a name in it, it is a file's
            given["prompt"] = Template.read(prompt).text
        unknown = next((name for name in given if name not in cls.__struct_fields__), None)
        if unknown:
            known = ", ".join(cls.__struct_fields__)
            raise UsageError(f"A Hugging Face model has no option {unknown!r}. It has: {known}.")
        try:
            return msgspec.convert(given, cls, strict=False)
        except msgspec.ValidationError as error:
            raise UsageError(f"A Hugging Face model can't have these options: {error}.") from None


class HfSystem(System):
    """Extend with the class of transformers' that opens it, the tasks that it fits, and the answers."""

    auto: ClassVar[str]
    tasks: ClassVar[tuple[str, ...]]
    needed: ClassVar[tuple[str, ...]] = ()  # texts that it reads by name
    reads: ClassVar[tuple[str, ...]] = ("input_ids", "attention_mask", "token_type_ids")  # of an encoded text
    batch_size = 64
    deterministic = True  # the likeliest label or words, never drawn at random

    def __init__(self, path: str | Path | ModelFolder, threads: int = 1, **options: Any) -> None:
        self.folder = path if isinstance(path, ModelFolder) else ModelFolder(path)
        if self.folder.kind != self.name:
            raise UsageError(
                f"{self.folder.path} holds a {self.folder.architecture}, which can't be opened as {self.name}."
            )
        self.options = HfOptions.read(options)
        self.threads = int(threads)
        self.halving = Halving(f"{self.name} {self.folder.path}")

    @property
    def identity(self) -> str:
        return f"{self.name} {self.folder.content} {content_id(self.options)}{self.folder.suffix}"

    def prepare(self, suite: Suite) -> None:
        task = suite.manifest.task
        if task not in self.tasks:
            raise UsageError(
                f"{self.folder.path} holds a {self.folder.architecture}, which answers the task "
                f"{' or '.join(self.tasks)}; the suite's task is {task}."
            )
        self.open()

    def open(self) -> None:
        """Opens all that answering needs, so that what is wrong is said before anything is asked."""
        _ = self.tokenizer
        outputs, labels = self.model.config.num_labels, self.labels
        if labels is not None and len(labels) != outputs:
            raise UsageError(f"{self.folder.path}: there are {len(labels)} labels for the model's {outputs} outputs.")

    @property
    def labels(self) -> list[str] | None:
        """The labels in the order of the model's outputs, for models that have some."""
        return None

    @cached_property
    def tokenizer(self) -> Any:
        return self.folder.tokenizer()

    @cached_property
    def model(self) -> Any:
        return self.folder.model(self.auto)

    def close(self) -> None:
        for part in ("model", "tokenizer"):
            self.__dict__.pop(part, None)

    @cached_property
    def room(self) -> int:
        """Pieces that fit into the model at once, with the marks around them."""
        config = self.model.config
        own = getattr(config, "max_position_embeddings", None) or getattr(config, "n_positions", None) or _POSITIONS
        if getattr(config, "model_type", "") in ("roberta", "xlm-roberta", "camembert"):
            own -= 2  # they begin to count positions at 2
        return int(min(own, self.options.max_length or own, max(_POSITIONS, self.options.max_length or 0)))

    def cut_text(self, text: str) -> str:
        """As much of a text as can matter, without halves of surrogate pairs."""
        return text[: self.room * _PIECE_CHARS].encode("utf-8", "replace").decode()

    @contextmanager
    def inference(self) -> Iterator[None]:
        """What holds while the model is asked."""
        import torch

        with torch_threads(self.threads), torch.inference_mode():
            yield

    def predict(self, batch: Sequence[Inputs]) -> Sequence[Json | Failed]:
        with self.inference():
            return predict_readable(batch, self.input_problem, lambda some: self.halving.over(self.answers, some))

    def input_problem(self, inputs: Inputs) -> str | None:
        """What the inputs lack, if anything."""
        return missing_input(inputs, self.needed or self.options.fields)

    def answers(self, batch: Sequence[Inputs]) -> list[Json]:
        raise NotImplementedError

    def padded(self, rows: Sequence[dict[str, list[int]]], side: str = "right") -> dict[str, Any]:
        """Encoded texts side by side in tensors."""
        tokenizer = self.tokenizer
        tokenizer.padding_side = side
        if tokenizer.pad_token_id is None:
            tokenizer.pad_token = tokenizer.eos_token
        names = [name for name in self.reads if name in rows[0]]
        padded = tokenizer.pad([{name: row[name] for name in names} for row in rows], return_tensors="pt")
        return dict(beside(self.model, dict(padded)))

    @classmethod
    def load(cls, folder: Path) -> Self:
        """A model that was trained here, with the options that it was trained with."""
        file = Path(folder) / "system.json"
        try:
            options = msgspec.json.decode(file.read_bytes())["options"]
        except (OSError, msgspec.MsgspecError, KeyError, TypeError) as error:
            raise StoredFileError(f"{file}: this can't be read ({error}). Train again.") from error
        return cls(folder, **options)


def length_groups(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Numbers of texts, those of like length together, as many as the most pieces allow with their padding."""
    group: list[int] = []
    for i in sorted(range(len(lengths)), key=lambda i: lengths[i]):
        if group and (len(group) + 1) * max(lengths[i], 1) > _MAX_PIECES:
            yield group
            group = []
        group.append(i)
    if group:
        yield group


_FIRST = ("premise", "question", "text", "sentence1")  # texts that stand first where names alone do not say it
# Texts of a task → the prompt where none is given.
_PROMPTS = {
    ("source",): "{source}",
    ("text",): "{text}",
    ("db_id", "question", "schema"): "{question}\n{schema}",
    ("db_id", "question"): "{question}",
    ("context", "question"): "{context}\n{question}",
}


def ordered_fields(inputs: Inputs) -> list[str]:
    """The texts' names in a fixed order: a premise before its hypothesis, others by name."""
    return sorted(inputs, key=lambda name: (name not in _FIRST, name))


def label_names(id2label: dict[Any, str]) -> list[str]:
    """A config's labels in the order of the outputs; where they are only numbered, the numbers."""
    names = [str(id2label[key]) for key in sorted(id2label, key=int)]
    numbered = [re.fullmatch(r"LABEL_(\d+)", name) for name in names]
    return [match[1] for match in numbered if match] if all(numbered) else names


def usual_prompt(inputs: Inputs) -> str | None:
    """The prompt for these texts where none is given; None where it can't be told."""
    names = tuple(sorted(inputs))
    return _PROMPTS.get(names) or (f"{{{names[0]}}}" if len(names) == 1 else None)


def bio_tag(tag: str) -> str:
    """A tag of BIOES as BIO has it."""
    return {"S-": "B-", "E-": "I-"}.get(tag[:2], tag[:2]) + tag[2:]


_NOT_PINNED = ("_name_or_path", "transformers_version")
# What a pipeline is for → the tasks that its answers fit.
_TASKS = {
    "text-classification": ("classify", "text"),
    "token-classification": ("tag", "slu", "text"),
    "text-generation": ("translate", "sql", "qa", "text"),
}


class HfPipeline(System):
    """Its label, its entities as BIO tags, or what it writes. Its identity is its weights, tokenizer and settings."""

    deterministic = True
    _task = ""

    def __init__(
        self, model: Any, name: str | None = None, fields: str | Sequence[str] | None = None,
        prompt: str | None = None, max_new_tokens: int = 256, identity: str | None = None,
    ) -> None:  # fmt: skip
        if model.task not in _TASKS:
            raise UsageError(
                f"A pipeline for {model.task} can't be asked; one for {', '.join(_TASKS)} can. For others give a "
                f"function that calls it, or name the model's folder: hf:FOLDER."
            )
        self.pipe, self.name = model, name or f"transformers.pipeline {model.task}"
        self.fields = fields.split(",") if isinstance(fields, str) else fields
        self.template = None if prompt is None else Template(prompt) if "{" in prompt else Template.read(prompt)
        self.max_new_tokens = int(max_new_tokens)
        if identity:
            self._identity = identity
            return
        # A hash of all that decides the answers.
        import torch

        weights = blake2b(digest_size=16)
        for part, tensor in sorted(model.model.state_dict().items()):
            weights.update(f"{part} {tensor.dtype} {tuple(tensor.shape)}".encode())
            weights.update(home(tensor).contiguous().reshape(-1).view(torch.uint8).numpy().tobytes())
        config = {n: str(value) for n, value in model.model.config.to_diff_dict().items() if n not in _NOT_PINNED}
        backend = getattr(model.tokenizer, "backend_tokenizer", None)
        tokenizer = backend.to_str() if backend is not None else sorted(model.tokenizer.get_vocab().items())
        settings: list[dict[str, str]] = []
        for stage in (model._preprocess_params, model._forward_params, model._postprocess_params):
            settings.append({})
            for option, value in stage.items():  # by content; what would show its address in memory, by type
                if callable(getattr(value, "to_diff_dict", None)):
                    shown = str({n: v for n, v in value.to_diff_dict().items() if n != "transformers_version"})
                else:
                    plain = isinstance(value, (str, int, float, bool, type(None), list, tuple, dict))
                    shown = repr(value) if plain else type(value).__qualname__
                settings[-1][option] = shown
        content = content_id([weights.hexdigest(), config, tokenizer, settings, type(model).__qualname__], 16)
        told = [self.fields, self.template and self.template.text, self.max_new_tokens]
        self._identity = f"hf/pipeline {model.task} {content} {content_id(told)}"

    def prepare(self, suite: Suite) -> None:
        fits, self._task = _TASKS[self.pipe.task], suite.manifest.task
        if suite.manifest.task not in fits:
            raise UsageError(
                f"{self.name} is for {self.pipe.task}, which answers the task {' or '.join(fits)}; "
                f"the suite's task is {suite.manifest.task}."
            )

    @property
    def prompts(self) -> dict[str, str]:
        return {"prompt": self.template.text} if self.template else {}

    def predict(self, batch: Sequence[Inputs]) -> Sequence[Json | Failed]:
        by_task = {"text-classification": self._label, "token-classification": self._entities}
        answer = by_task.get(self.pipe.task, self._written)
        return predict_readable(batch, lambda inputs: missing_input(inputs, self.fields), lambda b: [*map(answer, b)])

    def _label(self, inputs: Inputs) -> Json | Failed:
        names = self.fields or ordered_fields(inputs)
        if not 1 <= len(names) <= 2:
            return Failed(f"there are {len(names)} texts; choose with the option fields", final=True)
        found = self.pipe(dict(zip(("text", "text_pair"), (inputs[name] for name in names), strict=False)))
        best = max(found, key=lambda row: row["score"]) if isinstance(found, list) else found
        known = self.pipe.model.config.id2label
        raw = [str(known[key]) for key in sorted(known, key=int)]
        return dict(zip(raw, label_names(known), strict=True)).get(best["label"], best["label"])

    def _entities(self, inputs: Inputs) -> Json | Failed:
        if "text" not in inputs:
            return Failed("the input has no 'text'", final=True)
        text, found = inputs["text"], self.pipe(inputs["text"]) if inputs["text"] else []
        if any(row.get("start") is None for row in found):
            return Failed("the pipeline does not say where its entities stand: it needs a fast tokenizer", final=True)
        grouped = any("entity_group" in row for row in found)
        if grouped and self._task == "tag":
            return {"entities": [{"start": r["start"], "end": r["end"], "label": r["entity_group"]} for r in found]}
        if grouped:
            tags = bio(text, [Span(row["start"], row["end"], row["entity_group"]) for row in found])
            return {"intent": "", "slots": tags}
        # A token's tag is that of its first piece, which may begin at the space before it.
        tag_at = {row["start"]: bio_tag(row["entity"]) for row in found}
        tags, start = [], 0
        for token in text.split(" "):
            tags.append((token and (tag_at.get(start) or tag_at.get(start - 1))) or "O")
            start += len(token) + 1
        return {"intent": "", "slots": tags}

    def _written(self, inputs: Inputs) -> Json | Failed:
        template = self.template or Template(usual_prompt(texts_of(inputs)) or "")
        if self.template is None and not template.text:
            names = ", ".join(sorted(inputs))
            return Failed(f"there are the texts {names}; give the option prompt", final=True)
        sampling = {"return_full_text": False, "do_sample": False, "max_new_tokens": self.max_new_tokens}
        return str(self.pipe(prompt_of(template, inputs), **sampling)[0]["generated_text"]).strip()

"""A pipeline of transformers' that was made in one's own Python, asked as it is."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from unswayed.base.edits import Span, bio
from unswayed.base.errors import UsageError
from unswayed.base.ids import content_id
from unswayed.base.values import Inputs, Json
from unswayed.systems.hf.classify import label_names, ordered_fields
from unswayed.systems.hf.seq2seq import usual_prompt
from unswayed.systems.hf.tag import bio_tag
from unswayed.systems.system import Failed, System
from unswayed.systems.template import Template, prompt_of, texts_of

if TYPE_CHECKING:
    from unswayed.storage.suite import Suite

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
        told = [self.fields, self.template and self.template.text, self.max_new_tokens]
        self._identity = identity or f"hf/pipeline {model.task} {_content_id(model)} {content_id(told)}"

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
        answer = {
            "text-classification": self._label,
            "token-classification": self._entities,
            "text-generation": self._written,
        }[self.pipe.task]
        found: list[Json | Failed] = []
        for inputs in batch:
            absent = next((field for field in self.fields or () if field not in inputs), None)
            missing = None if absent is None else Failed(f"the input has no {absent!r}", final=True)
            found.append(missing or answer(inputs))
        return found

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


def _content_id(pipe: Any) -> str:
    """A hash of all that decides a pipeline's answers."""
    import torch

    weights = blake2b(digest_size=16)
    for name, tensor in sorted(pipe.model.state_dict().items()):
        weights.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        weights.update(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes())
    config = pipe.model.config.to_diff_dict()
    config = {
        name: str(value) for name, value in config.items() if name not in ("_name_or_path", "transformers_version")
    }
    backend = getattr(pipe.tokenizer, "backend_tokenizer", None)
    tokenizer = backend.to_str() if backend is not None else sorted(pipe.tokenizer.get_vocab().items())
    stages = [pipe._preprocess_params, pipe._forward_params, pipe._postprocess_params]
    settings = [{name: _setting(value) for name, value in stage.items()} for stage in stages]
    return content_id([weights.hexdigest(), config, tokenizer, settings, type(pipe).__qualname__], 16)


def _setting(value: Any) -> str:
    """A setting by its content; what would show its address in memory, by its type."""
    if callable(getattr(value, "to_diff_dict", None)):
        return str({name: v for name, v in value.to_diff_dict().items() if name != "transformers_version"})
    plain = isinstance(value, (str, int, float, bool, type(None), list, tuple, dict))
    return repr(value) if plain else type(value).__qualname__

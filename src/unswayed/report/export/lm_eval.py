"""A suite as tasks of EleutherAI's lm-evaluation-harness: a task for the clean texts and one for each operator."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import msgspec

from unswayed.base.errors import UsageError
from unswayed.base.values import Json
from unswayed.report.export import copy_code, safe_names
from unswayed.report.export._prompted import CLEAN, Prompted, PromptExporter, Way
from unswayed.storage.suite import Suite

CODE = "unswayed_lm_eval.py"  # beside the tasks; it reads the data and tells what is right
_UNSAFE = r"[^A-Za-z0-9_]+"

# How a task is asked and scored.
_METRICS: dict[Way, str | None] = {"choice": "acc", "match": "exact_match", "bleu": "bleu", "none": None}
_GENERATION = {"until": ["\n"], "do_sample": False, "max_gen_toks": 256}
_LONG_GENERATION = {**_GENERATION, "until": ["\n\n"]}


class LmEval(PromptExporter):
    """Tasks of lm-evaluation-harness, for `lm_eval --include_path FOLDER --tasks NAME`."""

    def __init__(self, name: str | None = None, prompt: str | None = None, answers: str | None = None) -> None:
        if name is not None and safe_names([name], _UNSAFE)[name] != name:
            raise UsageError(f"A task's name has letters, digits and underscores alone, so {name!r} can't be one.")
        super().__init__(prompt, answers)
        self._name = name

    def write(self, suite: Suite, folder: Path) -> tuple[str, dict[str, Json]]:
        prompted = Prompted(suite, self.prompt, self.answers)
        parts, words, encode = prompted.sources(), prompted.words, msgspec.json.Encoder().encode
        short, name = safe_names(parts, _UNSAFE), self._name or f"unswayed_{suite.id[:8]}"
        with ExitStack() as stack:
            files = {s: stack.enter_context((folder / f"{short[s]}.jsonl").open("wb")) for s in parts}
            for item in prompted.items():
                doc: dict[str, Json] = msgspec.to_builtins(item)
                if words:
                    targets, choices = doc.pop("targets"), list(words.values())
                    doc |= {"labels": list(words), "choices": choices}
                    doc["target"] = choices.index(targets[0]) if targets else -1
                files[item.source].write(encode(doc) + b"\n")
        copy_code(CODE, folder / CODE)
        is_choice, metric, metrics = prompted.way == "choice", _METRICS[prompted.way], list[Json]()
        generation = _LONG_GENERATION if prompted.way == "none" else _GENERATION
        if metric:
            aggregation = "mean" if metric != "bleu" else Function(f"bleu_{prompted.tokenizer}")
            metrics = [{"metric": metric, "aggregation": aggregation, "higher_is_better": True}]
        for source, part in parts.items():
            config: dict[str, Json] = {
                "task_alias": source,
                "custom_dataset": Function("load"),
                "dataset_kwargs": {"file": f"{short[source]}.jsonl"},
                "test_split": "test",
                "num_fewshot": 0,
                "output_type": "multiple_choice" if is_choice else "generate_until",
                "doc_to_text": "prompt",
                "doc_to_target": "target" if is_choice else "targets",
                "process_results": Function(f"score_{prompted.way}"),
                "metric_list": metrics,
                "metadata": {"version": 1, "suite": suite.id, "source": source, "part": part},
                **({"doc_to_choice": "choices"} if is_choice else {"generation_kwargs": generation}),
                "task": f"{name}_{short[source]}",
            }
            (folder / f"{short[source]}.yaml").write_text(yaml(config), encoding="ascii")
        # the whole suite under one name, in which the mean over the variants stands beside the clean score
        members = [f"{name}_{CLEAN}"]
        for part in ("variants", "controls"):
            if tasks := [f"{name}_{short[source]}" for source in parts if parts[source] == part]:
                group: dict[str, Json] = {"group": f"{name}_all_{part}", "group_alias": part, "task": tasks}
                if part == "variants" and metric and metric != "bleu":  # BLEU is no mean, and has none
                    group["aggregate_metric_list"] = [{"metric": metric, "aggregation": "mean", "weight_by_size": True}]
                members.append(group["group"])
                (folder / f"_{part}.yaml").write_text(yaml(group), encoding="ascii")
        (folder / "_group.yaml").write_text(yaml({"group": name, "task": members}), encoding="ascii")
        usage = f"Run a model with: lm_eval --include_path FOLDER --tasks {name} --log_samples --output_path LOGS …"
        return prompted.controls_note() + usage, {"name": name, "words": words, "sources": short}


class Function(str):
    """A function of the code beside the tasks."""


def yaml(value: Json) -> str:
    """YAML in which every text is quoted, and spelled in ASCII, so that nothing in it can be read as anything else."""
    return "".join(f"{key}: {_inline(item)}\n" for key, item in value.items())


def _inline(value: Json) -> str:
    if isinstance(value, Function):
        return f"!function {CODE.removesuffix('.py')}.{value}"
    if isinstance(value, str):
        return '"' + "".join(c if " " <= c <= "~" and c not in '"\\' else f"\\U{ord(c):08X}" for c in value) + '"'
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_inline(key)}: {_inline(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_inline, value)) + "]"
    return str(value)

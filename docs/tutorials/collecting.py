# %% [markdown]
# # Texts from people
# Three people retyped your examples. Make a suite of their texts: each person is a source.
# `unswayed collect` has a web app that collects such texts.

# %%
import json
from pathlib import Path

import unswayed
from unswayed.cli import unswayed as command

examples = {"1": ("turn off the lights", "lights"), "2": ("play some jazz", "music"), "3": ("dim the lamp", "lights")}
typed = {
    "ana": ["turn of the lights", "play some jaz", "dim the lamp"],
    "ben": ["turn off teh lights", "play some jazz", "dim teh lamp"],
    "cho": ["turn off the light", "plays some jazz", "dim the lmap"],
}
lines = [{"id": key, "inputs": {"text": text}, "gold": label} for key, (text, label) in examples.items()]
for person, texts in typed.items():
    lines += [
        {"example_id": key, "source": person, "draw": 0, "inputs": {"text": text}}
        for key, text in zip(examples, texts, strict=True)
    ]
written = Path("people.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))

# %%
code = command(
    ["suite", "import", "people.jsonl", "--task", "classify", "--lang", "en", "-o", "people"], standalone_mode=False
)

# %% [markdown]
# How much did each person get wrong?

# %%
code = command(["measure", "error-rate", "people"], standalone_mode=False)

# %% [markdown]
# Run a system on what they typed.


# %%
def predict(batch):
    return ["lights" if "light" in item["text"] or "lamp" in item["text"] else "music" for item in batch]


results = unswayed.measure_run(
    unswayed.run_system(unswayed.Suite("people"), predict, to="run"), {"measure": {"sanity": False}}
)
results.flips()[["operator", "after", "answer_after"]]

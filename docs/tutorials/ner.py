# %% [markdown]
# # Test a tagger (NER)
# Token tags move with the words, so the gold of each variant stays right. Here the tagger is a list of names.

# %%
import unswayed

NAMES = {"anna": "PER", "otto": "PER", "oslo": "LOC", "bonn": "LOC", "siemens": "ORG"}
sentences = [
    "Anna lives in Oslo .",
    "Otto works for Siemens in Bonn .",
    "In Bonn , Anna met Otto .",
    "Siemens left Oslo .",
]


def tags(text):
    return [f"B-{NAMES[word.lower()]}" if word.lower() in NAMES else "O" for word in text.split(" ")]


def tagger(batch):
    return [tags(item["text"]) for item in batch]


data = [{"tokens": text.split(" "), "tags": tags(text)} for text in sentences]

# %% [markdown]
# A typo in a name makes the tagger miss it. A filler moves every word, and the tags with it.

# %%
suite = unswayed.make_suite(
    data, ["keyboard/adjacent", "spoken/filler_begin"], task="tag", draws=3, seed=2, language="en"
)
for variant in list(suite.variants())[:4]:
    print(variant.source, "|", variant.inputs["text"], "|", variant.gold)

# %%
results = unswayed.measure_run(unswayed.run_system(suite, tagger, to="run"))
results

# %% [markdown]
# Entity F1 is also given by type.

# %%
{name: round(found["average"].value, 2) for name, found in results.scores.items()}

# %% [markdown]
# # Test a metric
# A good metric scores another dialect higher than a changed meaning. Write your metric as a function and a table of
# segments: reference, dialect, changed.

# %%
from pathlib import Path

from unswayed.cli import unswayed as command

module = Path("my_score.py").write_text('''
def score(items):
    """The share of the reference's words that the candidate has."""
    return [shared(item["candidate"].split(), item["reference"].split()) for item in items]


def shared(candidate, reference):
    return len(set(candidate) & set(reference)) / len(set(reference))
''')
verbs = {"knows": "is knowing", "wants": "is wanting", "likes": "is liking", "has": "is having", "owns": "is owning"}
things = ["the house", "a red car", "two dogs", "the old bike", "some money"]
rows = [
    f"she {verb} {thing}\tshe {dialect} {thing}\tshe {verb} no {thing}\n"
    for verb, dialect in verbs.items()
    for thing in things
]
table = Path("mine.tsv").write_text("reference\tdialect\tchanged\n" + "".join(rows))
len(rows)

# %% [markdown]
# The answer comes first. This metric prefers the changed meaning: it counts words, and *no* is one more word.

# %%
code = command(
    ["metrics", "check", "my_score:score", "--pairs", "mine.tsv", "--dialect", "Indian English", "--beside", "yisi1"],
    standalone_mode=False,
)

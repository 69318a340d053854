# %% [markdown]
# # Test a classifier
# You have a DataFrame of messages and a fitted scikit-learn pipeline. How many answers change when people mistype?

# %%
import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import unswayed

texts = {
    "delivery": [
        "where is my parcel",
        "the parcel has not come yet",
        "when will the package arrive",
        "my delivery is late",
    ],
    "refund": [
        "i want my money back",
        "please refund the order",
        "how do i return this shirt",
        "the refund did not arrive",
    ],
    "account": [
        "i forgot my password",
        "please change my email address",
        "my login does not work",
        "delete my account",
    ],
}
rows = [
    {"message": f"{start}{text}", "queue": queue, "channel": channel}
    for queue, some in texts.items()
    for text in some
    for channel, start in (("mail", ""), ("chat", "hello , "), ("phone", "hi , this is urgent , "))
]
df = pd.DataFrame(rows)
pipe = make_pipeline(TfidfVectorizer(), LogisticRegression(C=10)).fit(df["message"], df["queue"])

# %% [markdown]
# One call makes the variants, runs the pipeline and measures. The verdict comes first, then a table with intervals.

# %%
typos = unswayed.OperatorSpec(
    "keyboard/adjacent", {"rate": 0.2}
)  # one letter in five, so that 36 messages show something
results = unswayed.check(pipe, df, typos, input="message", gold="queue", draws=3, seed=1, language="en")
results

# %% [markdown]
# Which answers changed? `flips()` is a DataFrame.

# %%
results.flips()[["before", "after", "answer_before", "answer_after"]].head(5)

# %% [markdown]
# Other columns with few values are slices. Are people on one channel affected more?

# %%
results.by("channel").to_pandas()[["name", "measure", "value", "low", "high"]].query("measure == 'flips'")

# %% [markdown]
# Retrain with character n-grams and compare. The comparison is paired: the same variants, answer by answer.

# %%
letters = make_pipeline(TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4)), LogisticRegression(C=10))
letters.fit(df["message"], df["queue"])
after = unswayed.check(letters, df, typos, input="message", gold="queue", draws=3, seed=1, language="en")
comparison = unswayed.compare(results, after)
assert comparison.answers["variants"].gained >= comparison.answers["variants"].lost
print(comparison.sentences[0])

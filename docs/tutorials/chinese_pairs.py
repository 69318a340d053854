# %% [markdown]
# # Chinese sentence pairs
# Do two questions ask the same? People who type pinyin choose wrong characters that sound alike. Does the answer change?

# %%
import unswayed

pairs = [
    {"sentence1": "花呗怎么还款", "sentence2": "怎么还花呗", "label": "1"},
    {"sentence1": "花呗怎么还款", "sentence2": "花呗怎么开通", "label": "0"},
    {"sentence1": "借呗额度为什么没有了", "sentence2": "我的借呗额度怎么没了", "label": "1"},
    {"sentence1": "借呗额度为什么没有了", "sentence2": "借呗可以提前还款吗", "label": "0"},
    {"sentence1": "支付宝怎么改密码", "sentence2": "怎么修改支付宝密码", "label": "1"},
    {"sentence1": "支付宝怎么改密码", "sentence2": "支付宝怎么注销账户", "label": "0"},
]


def same(batch):
    """The same, if the pair shares more than half of its characters."""
    found = []
    for item in batch:
        a, b = set(item["sentence1"]), set(item["sentence2"])
        found.append("1" if len(a & b) / len(a | b) > 0.5 else "0")
    return found


# %% [markdown]
# `keyboard/homophone` writes other characters with the same sound.

# %%
suite = unswayed.make_suite(pairs, "keyboard/homophone", draws=3, seed=5, language="zh")
for variant in list(suite.variants())[:3]:
    print(variant.inputs["sentence1"], "|", variant.inputs["sentence2"])

# %%
results = unswayed.measure_run(unswayed.run_system(suite, same, to="run"), {"measure": {"sanity": False}})
results

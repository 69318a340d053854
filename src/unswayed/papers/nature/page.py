"""The NATURE study for people: its tables set side by side with the paper's, and where the two differ, said plainly."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from unswayed.base import Estimate, Json
from unswayed.papers.nature.attention import Look, attention_lines
from unswayed.papers.nature.tables import AVERAGE, CLASSES, OPERATORS, SCORES
from unswayed.report import NONE, Figure, Picture, Row, Section, SectionTable, scaled, typeset

TITLE = "NATURE: spoken-language variation of slot filling and intent detection"
_NAMES = {"atis": "ATIS", "snips": "SNIPS", "nlu_ed": "NLU-ED", AVERAGE: "average"}
_SHOWN = 3  # operators named as the most and the least harmful
_MODELS = ("Bi-RNN", "Stack-Prop+BERT")


def harm(table: Json) -> Iterator[str]:
    """The operators with the largest and the smallest losses that were measured, held against the paper."""
    corpora = [name for name in table["ours"] if name != AVERAGE]
    drops = table["drop"][AVERAGE if len(corpora) > 1 else corpora[0]]
    ours = {label: drops[label].value for label in OPERATORS if label in drops and drops[label].value is not None}
    paper = _paper_drops(table["paper"]["Bi-RNN"], corpora)
    order, theirs = (sorted(d, key=lambda label, d=d: -d[label]) for d in (ours, paper))
    where = " and ".join(_NAMES.get(name, name) for name in corpora)
    yield (
        f"End to end on {where}, the largest losses measured are {_listed(order[:_SHOWN], ours)}, the smallest "
        f"{_listed(order[: -_SHOWN - 1 : -1], ours)} (points, on the same utterances, not tested against each other)."
    )
    yield (
        f"In the paper (Bi-RNN) it is {_listed(theirs[:_SHOWN], paper)} most and "
        f"{_listed(theirs[: -_SHOWN - 1 : -1], paper)} least."
    )
    most, least = {"EOS Filler", "Syn. Adj.", "Syn. Adv."}, "Pre-V. Filler"
    same, other = sorted(most & set(order[:_SHOWN])), sorted(most - set(order[:_SHOWN]))
    ends = f"{least} hurts least, as in the paper" if order[-1] == least else f"not {least} but {order[-1]} hurts least"
    yield (
        f"Of the paper's three most harmful, ours has {_and(same)} among its own three"
        + (f", but not {_and(other)}" if other else "")
        + f"; {ends}."
    )


def _paper_drops(paper: Json, corpora: Sequence[str]) -> dict[str, float]:
    """The paper's losses, averaged over the data sets that we have too, or over all of its own."""
    shared = [name for name in corpora if name in paper] or [AVERAGE]
    lost = {label: [paper[n]["Orig"]["e2e"] - paper[n][label]["e2e"] for n in shared] for label in OPERATORS}
    return {label: sum(values) / len(values) for label, values in lost.items()}


def helped(table: Json) -> Iterator[str]:
    """What augmentation does, held against the paper."""
    for name, rows in table["ours"].items():
        paper = table["paper"].get(name)
        gains = []
        for row, words in (("Hard", "on Hard"), ("Rand", "on Random"), ("Orig", "on the original")):
            theirs = f", paper {_signed(paper[row]['with'] - paper[row]['without'])}" if paper else ""
            gains.append(f"{_gain(rows[row]['gain'])}{theirs} {words}")
        kept = [rows[row]["gain"].value or 0.0 for row in ("Hard", "Orig")]
        as_paper = "as in the paper" if kept[0] > 0 >= kept[1] else "unlike the paper"
        yield (
            f"Augmentation, {_NAMES.get(name, name)}: {'; '.join(gains)}. Its direction on Hard and on the original is "
            f"{as_paper}."
        )


def _listed(labels: Sequence[str], lost: Mapping[str, float]) -> str:
    return ", ".join(f"{label} ({100 * lost[label]:.1f})" for label in labels)


def _and(labels: Sequence[str]) -> str:
    return " and ".join(labels) or "none"


def sizes(table: Json) -> Section:
    rows: list[Row] = []
    for name, parts in table["ours"].items():
        for part, size in parts.items():
            paper = table["paper"].get(name, {}).get(part, {})
            both = {k: v for what in size for k, v in ((what, size[what]), (f"{what}, paper", paper.get(what)))}
            rows.append({"data set": _NAMES.get(name, name), "part": part, **both})
    return Section("Table 1: the data sets", tables=[SectionTable("Sentences, words and distinct words", rows)])


def chosen(table: Json) -> Section:
    rows: list[Row] = []
    for label in OPERATORS:
        row: dict[str, object] = {"operator": label}
        for name, found in table["ours"].items():
            row[_NAMES.get(name, name)] = scaled(found[label])
            paper = table["paper"].get(name, {}).get(label)
            row[f"{_NAMES.get(name, name)}, paper"] = _plain(paper)
            row[f"{_NAMES.get(name, name)}, agrees"] = _agrees(found[label], paper)
        rows.append(row)
    who = sorted(set(table["selector"].values()))
    told = f"Chosen by {', '.join(who)}, by its loss; in the paper by JointBERT. {_AGREES}"
    ties = ", ".join(f"{_NAMES.get(n, n)} {k:,} of {of:,}" for n, (k, of) in table["ties"].items() if k is not None)
    tables = [SectionTable("Per cent of the utterances of Hard", rows)]
    return Section("Table 2: operators in Hard", [told, f"Ties, broken at random: {ties}."], tables)


def mixture(table: Json) -> Section:
    rows: list[Row] = [
        {"operator": label, **{_NAMES.get(name, name): scaled(found[label]) for name, found in table.items()}}
        for label in OPERATORS
    ]
    told = (
        "Each draw gives every operator a tenth of the utterances, the rarest first. An operator that can change fewer "
        "has fewer, and the others share the rest evenly."
    )
    return Section("Random: which operators", [told], [SectionTable("Per cent of the utterances of Random", rows)])


def classes(table: Json, nouns: str) -> Section:
    rows: list[Row] = []
    for name, by_label in table.items():
        for label, found in by_label.items():
            total = sum(cell["n"] for cell in found.values())
            own = CLASSES.get(label)
            rule = "a verb, adjective, adverb or noun at random"
            if own is not None:
                rule = f"{_A[own]}; {_RULES[nouns].format(own)}"
            for kind, cell in found.items():
                rows.append({
                    "operator": label, "rule": rule, "data set": _NAMES.get(name, name), "class replaced": kind,
                    "utterances": f"{cell['n']} of {total}", "e2e, original": _plain(cell["original"]),
                    "e2e, altered": _plain(cell["altered"]),
                    "lost": Figure(_signed(cell["original"] - cell["altered"])),
                })  # fmt: skip
    told = (
        "Which class of words a synonym operator replaced, and what that cost end to end, in per cent of the same "
        "utterances. The rows of nouns say nothing about adjectives, adverbs or verbs."
    )
    return Section("Synonyms: which words", [told], [SectionTable("By the class of the word", rows)])


_A = {"verb": "a verb", "adjective": "an adjective", "adverb": "an adverb", "stop-word": "a stop-word"}
_RULES = {
    "absent": "a noun if the utterance has no {}",
    "unfit": "a noun if no {} has a synonym that fits",
    "never": "else nothing",
}


def judged(table: Json) -> Section:
    title = "Table 3: do people find the labels reasonable?"
    columns = list(table["paper"]["slots"])
    rows: list[Row] = []
    for question, printed in table["paper"].items():
        if table["ours"]:
            found = table["ours"][question]
            rows.append({"label": question, "whose": "ours", **{c: scaled(found.get(c)) for c in columns}})
        rows.append({"label": question, "whose": "paper", **{c: _plain(printed[c]) for c in columns}})
    told = list(table.get("warnings", ()))
    if not table["ours"]:
        told.append(f"Ours needs people. Export the utterances with: {table['needs']}")
        told.append("Collect answers with `unswayed collect`, and pass its export with --survey ANSWERS.")
    return Section(title, told, [SectionTable("Per cent found reasonable, by group", rows)])


def scores(table: Json) -> Section:
    tables = []
    for name, rows_of in table["ours"].items():
        rows: list[Row] = []
        for label, found in rows_of.items():
            row: dict[str, object] = {"test set": label}
            for score in SCORES:
                row[score] = scaled(found[score])
                for model in _MODELS:
                    printed = table["paper"][model].get(name, {}).get(label, {})
                    row[f"{score}, {model}"] = _plain(printed.get(score))
            lost = table["drop"][name].get(label)
            row["e2e lost"] = scaled(lost)
            row["agrees"] = _verdict(lost, table["paper"]["Bi-RNN"].get(name, {}), label)
            replaced = table["classes"].get(name, {}).get(label, {})
            kinds = ", ".join(f"{kind} {cell['n']}" for kind, cell in replaced.items())
            rows.append({**row, "n": found["e2e"].n, "class replaced": kinds or NONE})
        tables.append(SectionTable(_NAMES.get(name, name), rows))
    told = (
        "Slot F1, intent accuracy and end-to-end accuracy in per cent, ours with 95% intervals, then the paper's. "
        + _trainings(table["trainings"])
    )
    also = (
        "'e2e lost' compares each altered utterance with its own original, and n is how many could be altered. "
        "The column 'agrees' shows whether the loss of the paper's Bi-RNN is in our interval, or ours is less or more."
    )
    last = "Averages are unweighted and, the paper's too, over the data sets that are shown here."
    return Section(
        "Table 4: original and altered test sets", [told, also, *([last] if len(tables) > 1 else [])], tables
    )


def _verdict(lost: Estimate | None, paper: Mapping[str, Mapping[str, float]], label: str) -> str:
    """Is the paper's loss end to end in the interval of ours?"""
    if lost is None or lost.low is None or lost.high is None or label not in paper or "Orig" not in paper:
        return NONE
    theirs = paper["Orig"]["e2e"] - paper[label]["e2e"]
    said = _agrees(lost, theirs)
    return said if said == "yes" else f"{said} (paper {100 * theirs:.1f})"


_AGREES = "'agrees' shows whether the paper's number is in our interval, or ours is less or more."


def _agrees(ours: Estimate | None, theirs: float | None) -> str:
    if ours is None or ours.low is None or ours.high is None or theirs is None:
        return NONE
    return "yes" if ours.low <= theirs <= ours.high else "less" if theirs > ours.high else "more"


def _trainings(count: int) -> str:
    if count == 1:
        return "One training: intervals do not include how much another would differ."
    return f"Ours are means over {count} trainings, and intervals include how much these differ."


def fillers(table: Json) -> Section:
    names = list(table["ours"])
    said = {(place, filler): None for of in table["ours"].values() for place, found in of.items() for filler in found}
    rows: list[Row] = []
    for place, filler in said:
        row: dict[str, object] = {"test set": place, "filler": filler}
        for name in names:
            found = table["ours"][name].get(place, {}).get(filler)
            row[_NAMES.get(name, name)] = scaled(found)
            row[f"n, {_NAMES.get(name, name)}"] = None if found is None else found.n
        rows.append(row)
    return Section("By filler", tables=[SectionTable("End to end in per cent", rows)])


def families(table: Json) -> Section:
    rows: list[Row] = []
    for model, by_data in table["ours"].items():
        for name, sets in by_data.items():
            row: dict[str, object] = {"model": model, "data set": _NAMES.get(name, name)}
            for label, cells in sets.items():
                row[label] = scaled(cells["e2e"])
                row[f"{label}, gap"] = Figure(_gain(cells["gap"]) if "gap" in cells else NONE)
            paper = table["paper"].get(name, {}) if _pretrained(model) else {}
            row["gaps, paper"] = ", ".join(_signed(paper[label]) for label in sets) if paper else NONE
            row["agrees"] = ", ".join(_agrees(c.get("gap"), paper[s]) for s, c in sets.items()) if paper else NONE
            rows.append(row)
    sets = ", ".join(next(iter(next(iter(table["ours"].values())).values())))
    told = f"A gap is to {table['first']}, on the same utterances. The paper's are Stack-Prop+BERT to Bi-RNN: {sets}."
    return Section("Model families", [told, _AGREES], [SectionTable("End to end in per cent", rows)])


def _pretrained(model: str) -> bool:
    return model == "jointbert" or "+" in model


def augmented(table: Json) -> Section:
    rows: list[Row] = []
    for name, sets in (table["ours"] or {}).items():
        for label, found in sets.items():
            paper = table["paper"].get(name, {}).get(label, {})
            row: dict[str, object] = {"data set": _NAMES.get(name, name), "test set": label}
            row |= {"without": scaled(found["without"]), "with": scaled(found["with"])}
            row["gain"] = Figure(_gain(found["gain"]))
            row |= {f"{side}, paper": _plain(paper.get(side)) for side in ("without", "with")}
            gained = paper["with"] - paper["without"] if paper else None
            rows.append({**row, "gain, paper": Figure(_signed(gained)) if gained is not None else NONE,
                         "agrees": _agrees(found["gain"], gained)})  # fmt: skip
    title = "Table 5: with augmented training data"
    if not rows:
        return Section(title, ["Left out, because the study ran with --no-augmentation."])
    return Section(title, [_AGREES], [SectionTable("End to end in per cent", rows)])


def attention(looked: Sequence[Json]) -> Section:
    pictures = []
    for case in looked:
        lines = [Look(line["name"], line["tokens"], line["shares"]) for line in case["lines"]]
        pictures.append(Picture(case["title"], attention_lines(lines, case["title"])))
    told = "Utterances that come out wrong, as spoken and as altered. Darker words get more attention."
    return Section("Attention", [told], pictures=pictures)


def _plain(share: float | None) -> Figure:
    return Figure(NONE if share is None else f"{100 * share:.1f}")


def _signed(share: float) -> str:
    return typeset(f"{100 * share:+.1f}")


def _gain(found: Estimate) -> str:
    if found.value is None or found.low is None or found.high is None:
        return NONE
    return f"{_signed(found.value)} [{_signed(found.low)}, {_signed(found.high)}]"

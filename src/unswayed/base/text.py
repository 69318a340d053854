"""What people see: texts from outside made safe, numbers, DataFrames, and short tables for notebooks."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import msgspec
from markupsafe import Markup, escape

from unswayed.base.edits import slots_of
from unswayed.base.errors import import_extra
from unswayed.base.values import Estimate, Inputs, Json

LABEL = 80  # characters of a name that are shown
ANSWER = 300
CELL = 200

# C0 and C1 controls, invisible marks, direction overrides, line separators, surrogates, noncharacters. The joiners
# U+200C and U+200D stay, since Persian and emoji are spelled with them.
_UNSEEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    r"\ufff9-\ufffb\ufffe\uffff\ud800-\udfff]|[\U000e0000-\U000e0fff]"
)
_BREAKS = str.maketrans({"\n": "␊", "\t": "␉"})


def visible(text: str) -> str:
    """The text with every character that could hide, reorder or control something spelled out."""
    return text if text.isascii() and text.isprintable() else _UNSEEN.sub(_name, text)


def _name(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"⟨U+{code:04X}⟩"


def one_line(text: str) -> str:
    """As `visible`, and with line breaks and tabs spelled out too."""
    return visible(text).translate(_BREAKS)


def shorten(text: str, limit: int) -> str:
    """At most `limit` characters, then how many were left out."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]}… (+{len(text) - limit:,} characters)"


def outside(text: object, limit: int = LABEL) -> Markup:
    """A text from outside as HTML: shortened, visible, escaped, and isolated from the direction around it."""
    return Markup("<bdi>{}</bdi>").format(visible(shorten(str(text), limit)))


def label(text: object, limit: int = LABEL) -> str:
    """A name from outside as one plain line, for titles, charts and sentences."""
    plain = str(text)
    return one_line(plain if len(plain) <= limit else plain[: limit - 1] + "…")


def attribute(text: object, limit: int = LABEL) -> Markup:
    """A name from outside for an attribute or a `<title>`, where no element can isolate it."""
    return escape(label(text, limit))


def spelled(value: Json, inputs: Inputs | None = None) -> str:
    """A gold or an answer as people read it: texts as they are, slots with the words that they label, else JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict) and value and value.keys() <= {"tags", "entities"}:
        # `PER: Angela Merkel, LOC: Berlin`; tags as they are where the text is not known, or they are not of its tokens
        entities, tags, text = value.get("entities"), value.get("tags"), (inputs or {}).get("text")
        with suppress(TypeError, KeyError):  # not in the task's form
            if entities is None and tags is not None and text is not None and text.count(" ") + 1 == len(tags):
                return _entry("slots", tags, {"text": text}).replace("no slots", "no entities")
            if entities is not None and text is not None:
                return ", ".join(f"{e['label']}: {text[e['start'] : e['end']]}" for e in entities) or "no entities"
        return " ".join(map(str, entities or tags or ())) or "no entities"
    if isinstance(value, dict) and value.keys() == {"answers"} and isinstance(value["answers"], list):
        texts = [answer.get("text") if isinstance(answer, dict) else answer for answer in value["answers"]]
        return " | ".join(dict.fromkeys(map(str, texts))) or "no answer"
    if isinstance(value, dict):
        return " · ".join(_entry(str(key), part, inputs) for key, part in value.items())
    if isinstance(value, list) and value and all(isinstance(part, str) for part in value):
        return " | ".join(value)
    try:
        return msgspec.json.encode(value).decode()
    except (TypeError, ValueError, OverflowError):
        return repr(value)


def _entry(key: str, value: Json, inputs: Inputs | None) -> str:
    tokens = (inputs or {}).get("text", "").split(" ")
    tags = key == "slots" and isinstance(value, list) and all(isinstance(tag, str) for tag in value)
    if tags and len(tokens) == len(value):
        slots = [f"{kind}: {' '.join(tokens[first:last])}" for kind, first, last in slots_of(value)]
        return ", ".join(slots) or "no slots"
    return f"{key}: {spelled(value)}"


NONE = "–"  # nothing was measured, which is not zero


def number(value: float | None, digits: int = 3) -> str:
    """`0.812`; scores on another scale than 0 to 1 get fewer decimals; no negative zero."""
    if value is None:
        return NONE
    digits = max(0, digits - 1) if abs(value) >= 10 else digits
    text = f"{value:.{digits}f}"
    return text.lstrip("-") if float(text) == 0 else text


def interval(estimate: Estimate, digits: int = 3) -> str:
    """`0.790 to 0.833`, or nothing where there is no interval."""
    if estimate.low is None or estimate.high is None:
        return ""
    return typeset(f"{number(estimate.low, digits)} to {number(estimate.high, digits)}")


def figure(estimate: Estimate | None) -> str:
    """`0.812 [0.790, 0.833]`, for terminals and files; then, if outputs are missing, its bounds `{0.700, 0.850}`."""
    if estimate is None:
        return NONE
    shown = number(estimate.value)
    if estimate.value is not None and estimate.low is not None and estimate.high is not None:
        shown += f" [{number(estimate.low)}, {number(estimate.high)}]"
    return f"{shown} {bounds(estimate)}" if estimate.bounds else shown


def bounds(estimate: Estimate) -> str:
    """`{0.700, 0.850}`: the least and the greatest that a number could be with the outputs that are missing."""
    return f"{{{number(estimate.bounds[0])}, {number(estimate.bounds[1])}}}" if estimate.bounds else ""


def p_value(p: float) -> str:
    """`p = 0.012`, or `p < 0.001`."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def counted(count: int, what: str) -> str:
    """`1 example`, `1,200 examples`."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def percent(value: float | None) -> str:
    """A share with the digits that tables have: 0.285 is `28.5%`; one that is small but not zero is `under 0.1%`."""
    if value is None:
        return NONE
    if 0 < value < 0.0005:
        return "under 0.1%"
    return f"{100 * value:.1f}".removesuffix(".0") + "%"


def percent_interval(estimate: Estimate) -> str:
    """`28.5% [25.8%, 31.3%]`, for sentences."""
    if estimate.low is None or estimate.high is None:
        return percent(estimate.value)
    return f"{percent(estimate.value)} [{percent(estimate.low)}, {percent(estimate.high)}]"


def typeset(text: str) -> str:
    """Numbers with a true minus sign, for pages."""
    return text.replace("-", "−")


_SCORES = {
    "end_to_end": "End-to-end accuracy",
    "match": "Share of right answers",
    "tool_calls": "Share of right tool calls",
}
_CAPITALS = {word.lower(): word for word in ("BLEU", "chrF", "CMRC", "F1", "MRR", "nDCG", "SQL")}


def title(score: str) -> str:
    """A score in words, as a heading starts: `macro_f1` is `Macro F1`, `match(number)` the share of right answers."""
    if (known := _SCORES.get(score.partition("(")[0])) is not None:
        return known
    parts = (word.partition("@") for word in re.sub("[_/]", " ", score.replace("(", " (")).split())
    words = [_CAPITALS.get(word, word) + at + first for word, at, first in parts]  # recall@10
    first = words[0] if words else ""
    is_known = first.partition("@")[0] in _CAPITALS.values()
    return " ".join([first if is_known else first[:1].upper() + first[1:], *words[1:]])


def subject(score: str) -> str:
    """The same within a sentence: `accuracy`, `macro F1`, `the share of right answers`."""
    name = title(score)
    name = name if name[:2].isupper() or name.partition("@")[0] in _CAPITALS.values() else name[:1].lower() + name[1:]
    return f"the {name}" if name.startswith("share") else name


Columns = Mapping[str, Sequence[Any]]


def data_frame(library: str, columns: Columns) -> Any:
    """A DataFrame of pandas or polars; without the library, an error with the line that installs it."""
    module = import_extra(library, f"to_{library}()", library)
    more = {"strict": False} if library == "polars" else {}
    return module.DataFrame({name: list(values) for name, values in columns.items()}, **more)


def html_table(columns: Columns, caption: str = "", rows: int = 10, total: int | None = None) -> str:
    """The first rows as an HTML table. `total` is how many rows there are, where `columns` holds only some of them."""

    def cell(value: Any) -> str:
        text = "" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)
        return f"<td>{escape(text if len(text) <= CELL else text[: CELL - 1] + '…')}</td>"

    shown = list(zip(*(list(values)[:rows] for values in columns.values()), strict=True))
    total = len(next(iter(columns.values()), ())) if total is None else total
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    body = "".join(f"<tr>{''.join(map(cell, row))}</tr>" for row in shown)
    more = f"<p>{total - len(shown):,} more rows</p>" if total > len(shown) else ""
    title = f"<p><b>{escape(caption)}</b></p>" if caption else ""
    return f"<div>{title}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}</div>"

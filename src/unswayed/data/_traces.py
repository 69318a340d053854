"""Production traces as data for a suite: what people asked, once each, sampled, and masked on request."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from unswayed.base.chat import messages_problem
from unswayed.base.errors import DataError, UnknownName, UsageError, option
from unswayed.base.ids import canonical
from unswayed.base.text import counted
from unswayed.base.values import Json
from unswayed.data.logs import LogReader, log_readers

_CHATS = ("messages", "input_messages", "conversation", "turns")
_TEXTS = ("question", "query", "input", "inputs", "prompt", "text", "user_input", "utterance", "content")
_WITHIN = ("request", "body", "kwargs", "input", "inputs", "prompt", "data")  # objects that hold what was asked
# A text that looks like it, and what stands in its place: of the same kind, and the same for the same text
_SECRETS: dict[str, tuple[str, Callable[[int, str], str]]] = {
    "email": (r"[\w.+'-]+@[\w-]+(?:\.[\w-]+)+", lambda n, _: f"user{n}@example.com"),
    "url": (r"\bhttps?://[^\s<>\"')\]]+", lambda n, _: f"https://example.com/{n}"),
    "ip": (r"\b(?:\d{1,3}\.){3}\d{1,3}\b", lambda n, _: f"192.0.2.{n % 256}"),
    "iban": (r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?\b", lambda n, old: _digits(n, old)),
    "phone": (r"(?<![\w.])\+?\(?\d(?:[ ().\-/]{0,2}\d){6,14}(?!\w)", lambda n, old: _digits(n, old)),
    "number": (r"\b\d{6,}\b", lambda n, old: _digits(n, old)),
}
KINDS = tuple(_SECRETS)


class Traces(NamedTuple):
    """What became of the traces of a file: the rows of the new data, and how many were left out and masked."""

    rows: list[dict[str, Json]]
    read: int
    left_out: dict[str, int]
    masked: dict[str, int]

    @property
    def sentences(self) -> list[str]:
        said = [f"{counted(len(self.rows), 'example')} of {counted(self.read, 'trace')}"]
        if out := [f"{count:,} {why}" for why, count in self.left_out.items() if count]:
            said.append(f"Left out: {', '.join(out)}")
        if self.masked:
            said.append("Masked: " + ", ".join(f"{count:,} × {kind}" for kind, count in self.masked.items()))
        return said


def read_traces(
    path: str | Path, sample: int | None = None, seed: int = 0, mask: Sequence[str] = (), pattern: Sequence[str] = ()
) -> Traces:
    """The inputs in an export of traces, each once, in their order.

    `sample` rows are chosen at random by the seed, and stay the same when others are added before or after them with
    other hashes. `mask` names kinds of personal data, or `all`; `pattern` are regular expressions of one's own.
    """
    kinds = list(KINDS) if "all" in mask else list(dict.fromkeys(mask))
    for kind in kinds:
        if kind not in _SECRETS:
            raise UnknownName("kind of personal data", kind, [*KINDS, "all"])
    if sample is not None and sample < 1:
        raise UsageError(f"{option('sample')} must be 1 or more, not {sample}.")
    try:
        own = [re.compile(text) for text in pattern]
    except re.error as error:
        raise UsageError(f"{option('mask-pattern')} must be a regular expression ({error}).") from error
    read, out, masked = 0, Counter[str](), Counter[str]()
    rows: dict[bytes, dict[str, Json]] = {}
    for asked in _asked_in(Path(path)):
        read += 1
        row = _row_of(asked)
        if row is None:
            out["without a text"] += 1
            continue
        row = _masked(row, kinds, own, masked)
        key = " ".join(canonical(row).decode().casefold().split()).encode()
        if key in rows:
            out["duplicates"] += 1
        else:
            rows[key] = row
    shapes = Counter(tuple(sorted(row)) for row in rows.values())
    if not shapes:
        raise DataError("there is no trace with a text in this file.", path)
    [(usual, _)] = shapes.most_common(1)
    kept = {key: row for key, row in rows.items() if tuple(sorted(row)) == usual}
    out[f"with other fields than {', '.join(usual)}"] = len(rows) - len(kept)
    if sample is not None and sample < len(kept):
        own_seed = str(seed).encode()
        chosen = set(sorted(kept, key=lambda key: blake2b(key, key=own_seed, digest_size=16).digest())[:sample])
        out["not sampled"] = len(kept) - sample
        kept = {key: row for key, row in kept.items() if key in chosen}
    return Traces(list(kept.values()), read, dict(out), dict(masked))


def _asked_in(file: Path) -> Iterator[Any]:
    """What was asked in each trace, by the reader that recognises the file, or as a record has it."""
    if not file.is_file() or file.suffix not in (".json", ".jsonl"):
        raise DataError("an export of traces is a .jsonl or .json file.", file)
    readers = [log_readers.get(name)() for name in log_readers.names()]
    reader = next((reader for reader in readers if reader.recognises(file)), None)
    if reader is not None:
        for entry in reader.entries(file):
            yield {"input": entry.text} if entry.asked is None else {"input": entry.asked}
        return
    for _, record in LogReader().records(file):
        yield record


def _row_of(asked: Any, depth: int = 0) -> dict[str, Json] | None:
    """A chat as messages without the last answers, else the texts by name, else one text; None if it has none."""
    if isinstance(asked, str):
        return {"text": asked.strip()} if asked.strip() else None
    if isinstance(asked, list):
        if len(asked) == 1 and isinstance(asked[0], list):  # LangChain's batches of one
            asked = asked[0]
        messages = [_message(message) for message in asked]
        while messages and isinstance(messages[-1], dict) and messages[-1].get("role") not in ("user", "human"):
            messages.pop()
        whole = bool(messages) and messages_problem(messages) is None
        return {"messages": messages} if whole and any(_has_text(m) for m in messages if m["role"] == "user") else None
    if not isinstance(asked, dict) or depth > 3:
        return None
    for name in _CHATS:
        if isinstance(asked.get(name), list) and (row := _row_of(asked[name])) is not None:
            return row
    if depth == 0 and asked.keys() == {"input"}:
        return _row_of(asked["input"], 1)
    texts = {name: asked[name].strip() for name in _TEXTS if isinstance(asked.get(name), str) and asked[name].strip()}
    if texts:
        return texts
    for name in _WITHIN:
        if isinstance(asked.get(name), dict | list) and (row := _row_of(asked[name], depth + 1)) is not None:
            return row
    rest = {name: text.strip() for name, text in asked.items() if isinstance(text, str) and text.strip()}
    return rest if depth else None


def _message(message: Any) -> Any:
    """A message in OpenAI's form; LangChain's has its role in `type`, or in the name of its class."""
    if not isinstance(message, dict):
        return message
    inner: Any = message.get("kwargs", message.get("data", message))
    role = inner.get("role") or message.get("role") or inner.get("type") or message.get("type")
    role = {"human": "user", "ai": "assistant"}.get(str(role), role)
    kept = {"role": role, "content": inner.get("content")}
    return kept | {name: inner[name] for name in ("tool_calls", "tool_call_id", "name") if inner.get(name)}


def _has_text(message: Mapping[str, Any]) -> bool:
    content: Any = message.get("content")
    parts: Any = content if isinstance(content, list) else [{"text": content}]
    return any(isinstance(part.get("text"), str) and part["text"].strip() for part in parts)


def _masked(
    row: dict[str, Json], kinds: Sequence[str], own: Sequence[re.Pattern[str]], masked: Counter[str]
) -> dict[str, Json]:
    """The row with what looks like personal data replaced, the same text by the same within the row."""
    seen: dict[str, str] = {}
    known = re.compile("|".join(f"(?P<{kind}>{_SECRETS[kind][0]})" for kind in kinds)) if kinds else None

    def put(found: re.Match[str], kind: str) -> str:
        masked[kind] += 1
        instead = _SECRETS[kind][1] if kind in _SECRETS else lambda n, _: f"[masked {n}]"
        return seen.setdefault(found[0], instead(len(seen) + 1, found[0]))

    def one(text: str) -> str:
        for pattern in own:
            text = pattern.sub(lambda found: put(found, "pattern"), text)
        return text if known is None else known.sub(lambda found: put(found, str(found.lastgroup)), text)

    def walk(value: Json) -> Json:
        if isinstance(value, str):
            return one(value)
        if isinstance(value, list):
            return [walk(part) for part in value]
        if isinstance(value, dict):
            return {name: part if name == "role" else walk(part) for name, part in value.items()}
        return value

    return {name: walk(value) for name, value in row.items()} if kinds or own else row


def _digits(n: int, old: str) -> str:
    """As many digits and letters in the same places, of which none says what was there."""
    fill = iter(f"{n:0{len(old)}d}"[::-1])
    return "".join(next(fill) if c.isdigit() else "X" if c.isalpha() else c for c in reversed(old))[::-1]

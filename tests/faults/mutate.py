"""Valid files made invalid: bytes flipped, cut and swapped, values of other kinds, texts that break naive code."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, settings, strategies as st

DEEP = 3_000  # deeper than what reads it can go; 500 is what goes in and may not come out again
TEXTS = [
    *("", " ", "\t", "\r", "\n", "\r\n", "\0", "\x1c", "\x85", "\u2028", "\ufeff", "\ufffd", "\x1b[31m"),
    *("😀", "👩‍👩‍👧", "שלום", "\u202eabc\u202c", "e\u0301", "漢字", "\ud7ff", "\U0010ffff", "ﷺ" * 100, "a" * 70_000),
    *("=1+1", "@SUM(A1)", "../../x", "/etc/passwd", "<script>alert(1)</script>", "'; DROP TABLE x; --", "%s%n", "{0}"),
    *("NaN", "nan", "Infinity", "-1e999", "1e308", "9" * 400, "-0", "0x10", "1_000", "٣", "²", "True", "None", "null"),
]
VALUES = [
    *("null", "true", "0", "-1", "1.5", "1e400", "9" * 30, "-9223372036854775809", "NaN", "[]", "{}", '""', '"x"'),
    *('"\\ud800"', '"\\u0000"', '[""]', "[null]", '{"":null}', '{"a":1,"a":2}', "[[[[1]]]]", '"' + "y" * 5000 + '"'),
    *("[" * 500 + "]" * 500, "[" * DEEP + "]" * DEEP, '{"a":' * DEEP, "[" * DEEP),
]
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null|[^\s"{}\[\]:,;=<>()]+')
_BREAK = re.compile(rb"[{}\[\]:,;=<>\t\"'|]")

Draw = Callable[[st.SearchStrategy[Any]], Any]


def _place(draw: Draw, data: bytes) -> int:
    return int(draw(st.integers(0, len(data))))


def flipped(draw: Draw, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(draw(st.integers(1, 8))):
        if changed:
            changed[draw(st.integers(0, len(changed) - 1))] ^= draw(st.integers(1, 255))
    return bytes(changed)


def cut(draw: Draw, data: bytes) -> bytes:
    start, end = sorted((_place(draw, data), _place(draw, data)))
    return draw(st.sampled_from([data[:end], data[start:], data[:start] + data[end:]]))


def lines(draw: Draw, data: bytes) -> bytes:
    """Lines repeated, swapped, dropped or joined."""
    rows = data.split(b"\n")
    i, j = (draw(st.integers(0, len(rows) - 1)) for _ in "ij")
    return b"\n".join(
        draw(
            st.sampled_from(
                [
                    rows[:i] + [rows[j]] * draw(st.integers(1, 3)) + rows[i:],
                    rows[:i] + rows[i + 1 :],
                    [*rows[:i], b" ".join(rows[i : i + 2]), *rows[i + 2 :]],
                    rows[::-1],
                ]
            )
        )
    )


def inserted(draw: Draw, data: bytes) -> bytes:
    at = _place(draw, data)
    return data[:at] + draw(st.sampled_from(TEXTS)).encode() + data[at:]


def replaced(draw: Draw, data: bytes) -> bytes:
    """One value, or one mark between values, by something else."""
    found = list(draw(st.sampled_from([_TOKEN, _TOKEN, _BREAK])).finditer(data))
    if not found:
        return data
    place = found[draw(st.integers(0, len(found) - 1))]
    other = draw(st.sampled_from([*VALUES, *TEXTS, *(match[0].decode("latin-1") for match in found[:20])]))
    return data[: place.start()] + other.encode("utf-8", "surrogatepass") + data[place.end() :]


def encoded(draw: Draw, data: bytes) -> bytes:
    """As other programs and systems would have saved it."""
    text = data.decode("utf-8", "replace")
    kind = draw(
        st.sampled_from(["utf-8-sig", "utf-16", "utf-32", "latin-1", "gb18030", "shift-jis", "crlf", "cr", "nl"])
    )
    if kind in ("crlf", "cr", "nl"):
        return text.replace("\n", {"crlf": "\r\n", "cr": "\r", "nl": "\x85"}[kind]).encode()
    return text.encode(kind, "replace")


def random(draw: Draw, data: bytes) -> bytes:
    return bytes(draw(st.binary(max_size=200)))


@st.composite
def mutated(draw: Draw, valid: bytes) -> bytes:
    """The content after one to three harms."""
    data = valid
    for _ in range(draw(st.integers(1, 3))):
        harm = draw(st.sampled_from([flipped, cut, lines, inserted, replaced, replaced, replaced, encoded, random]))
        data = harm(draw, data)
    return data


LONG = int(os.environ.get("UNSWAYED_FUZZ", "0"))  # examples a test, for a long run by hand; new ones each time


def fuzz(examples: int) -> settings:
    """How often a test is tried: the same few examples in each run of the suite, or as many as UNSWAYED_FUZZ says."""
    return settings(
        max_examples=LONG or examples,
        derandomize=not LONG,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )

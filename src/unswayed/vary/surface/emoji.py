"""Emoji added, left out, or exchanged for one like it."""

from __future__ import annotations

import re

from unswayed.base.edits import Edit
from unswayed.base.seeds import Stream
from unswayed.vary.operator import Text
from unswayed.vary.surface import LONGEST, SurfaceOperator

_PICTURE = (
    "[\u203c\u2049\u2122\u2139\u2194-\u21aa\u231a-\u23ff\u25aa-\u27bf\u2934-\u2b55"
    "\u3030\u303d\u3297\u3299\U0001f000-\U0001faff]"
)
_TONE = "[\U0001f3fb-\U0001f3ff]"
_EMOJI = re.compile(
    "[\U0001f1e6-\U0001f1ff]{2}|[0-9#*]\ufe0f?\u20e3"
    f"|{_PICTURE}\ufe0f?{_TONE}?(?:\u200d{_PICTURE}\ufe0f?{_TONE}?)*[\U000e0020-\U000e007f]*"
)
_SMILEY = re.compile(r"(?<!\S)[:;=]-?[)(DP](?!\S)")
# They say nothing about how the writer feels, so that no judgement of the text changes.
_NEUTRAL = ["👀", "💬", "📝", "📌", "👉", "🔹", "🗨️", "📣"]
# Like for like.
_ALIKE = [
    group.split()
    for group in (
        "😂 🤣 😆 😹", "🙂 😊 ☺️ :) :-)", "😀 😃 😄 😁 :D", "😉 ;) ;-)", "😍 🥰 😻", "😢 😭 😿", "🙁 ☹️ 😞 :( :-(",
        "😠 😡 🤬", "❤️ ❤ 💕 💖 💗 💙 💚 💛 💜 🧡", "👍 👍🏻 👍🏽 👍🏿", "👎 👎🏻 👎🏽 👎🏿",
        "🙏 🙏🏻 🙏🏽 🙏🏿", "👏 👏🏻 👏🏽 👏🏿",
        "😛 😜 😝 :P", "😮 😲 😯", "🎉 🎊 🥳", "🎵 🎶 🎼", "☀️ ☀ 🌞", "🔥 🔥🔥", "✨ 🌟 ⭐ 💫", "😱 😨 😰", "😴 💤 😪",
    )
]  # fmt: skip
# Never the same with or without a tone or a variation sign, which would look like one that lost a part.
_OTHERS = {one: [other for other in group if other[0] != one[0]] for group in _ALIKE for one in group}
_OTHERS = {one: others for one, others in _OTHERS.items() if others}


class Emoji(SurfaceOperator):
    """Adds an emoji that says nothing new, leaves one out, or exchanges one for another like it.

    `kind` is added, removed or replaced; by default it is drawn. What is added says nothing about feelings. A text of
    fewer than two words keeps its emoji.
    """

    version = 2
    alters = ("emoji",)
    kinds = ("added", "removed", "replaced")
    example = ("see you at the concert tonight 🎵", "see you at the concert tonight")

    def of_kind(self, kind: str, text: Text, rng: Stream) -> list[list[Edit]]:
        written = text.text[:LONGEST]
        found = [match.span() for pattern in (_EMOJI, _SMILEY) for match in pattern.finditer(written)]
        if kind == "added":
            end = len(text.text.rstrip())
            return [[Edit(end, end, f" {rng.choice(_NEUTRAL)}")]] if end and len(text.text) <= LONGEST else []
        if kind == "replaced":
            known = [span for span in sorted(found) if written[slice(*span)] in _OTHERS]
            return [[Edit(start, end, rng.choice(_OTHERS[written[start:end]]))] for start, end in known]
        places = []
        for start, end in sorted(found) if len(re.findall(r"\w+", written)) >= 2 else ():
            # the emoji goes with one of the spaces around it
            before, after = written[start - 1 : start] == " ", written[end : end + 1]
            places.append([Edit(start - (before and after in ("", " ")), end + (start == 0 and after == " "), "")])
        return places

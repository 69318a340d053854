"""Variation of the prompt around an example, and what its operators share: a draw's change of the template or chat."""

from __future__ import annotations

from typing import ClassVar

from unswayed.base.chat import CHAT, is_chat
from unswayed.base.errors import UsageError
from unswayed.base.ids import canonical, decode
from unswayed.base.seeds import Stream
from unswayed.base.values import Example, Json
from unswayed.systems.template import PROMPT, Reprompt
from unswayed.vary.operator import PromptOperator, Rewritten

_SYSTEM = ("system", "developer")


class Reprompting(PromptOperator):
    """Extend with `reprompt`: the draw's change and a note. The change is made when the suite is run."""

    needs: ClassVar[str] = "a chat with a system message, or an example that is put into a prompt"

    def __init__(self, share: float = 1.0) -> None:
        self.share = checked_share(share)
        self._known: dict[int, tuple[Reprompt, str]] = {}

    def reprompt(self, example: Example, language: str, rng: Stream) -> tuple[Reprompt, str] | None:
        """By default the same for all examples of a draw: see `draw_reprompt`."""
        if rng.draw not in self._known:
            self._known[rng.draw] = self.draw_reprompt(language, rng)
        return self._known[rng.draw]

    def draw_reprompt(self, language: str, rng: Stream) -> tuple[Reprompt, str]:
        """Extend where a draw has one change for all examples: that change, and a note."""
        raise NotImplementedError

    def rewrite(self, example: Example, language: str, rng: Stream) -> Rewritten | None:
        made = self.reprompt(example, language, rng)
        if made is None:
            return None
        (reprompt, note), inputs = made, example.inputs
        if not is_chat(inputs):
            return Rewritten({**inputs, PROMPT: reprompt.encoded()}, example.gold, note)
        chat: dict[str, Json] = decode(inputs[CHAT])
        messages = list(chat["messages"])
        at = next((i for i, message in enumerate(messages) if message["role"] in _SYSTEM), None)
        content = None if at is None else messages[at].get("content")
        if reprompt.shots:
            turns = []
            for shot in reprompt.shots:
                turns += [{"role": "user", "content": next(iter(shot.inputs.values()))}]
                turns += [{"role": "assistant", "content": shot.answer}]
            start = 0 if at is None else at + 1
            messages[start:start] = turns
        elif isinstance(content, dict):  # the system message is itself among the varied texts
            name = content["input"]
            return Rewritten({**inputs, name: reprompt.applied(inputs[name])}, example.gold, note)
        elif at is None or not isinstance(content, str) or not content.strip():
            return None
        else:
            messages[at] = {**messages[at], "content": reprompt.applied(content)}
        changed = canonical({**chat, "messages": messages}).decode()
        return Rewritten({**inputs, CHAT: changed}, example.gold, note)


def checked_share(share: float) -> float:
    """A share as it is; raises where it is not above 0 and at most 1."""
    if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 < share <= 1:
        raise UsageError(f"share must be more than 0 and at most 1, such as 0.05, not {share!r:.40}.")
    return float(share)

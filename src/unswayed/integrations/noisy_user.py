"""A simulated user who mistypes or is misheard, around any other; and dialogues with an agent, clean and noisy.

The agent, the loop and the user are the caller's own: unswayed changes what the user says, and nothing else.
"""

from __future__ import annotations

import asyncio
import copy
import functools
import inspect
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from itertools import combinations, product
from typing import Any, NamedTuple, TypeVar

import msgspec
import numpy as np

from unswayed.base.chat import calls_of, standard
from unswayed.base.errors import UsageError, option
from unswayed.base.ids import canonical, content_id
from unswayed.base.language import UNSURE, identify
from unswayed.base.options import OperatorSpec
from unswayed.base.text import figure, p_value
from unswayed.base.values import Estimate, Json
from unswayed.measure.results import Cells, Tabular
from unswayed.run.texts import vary_texts
from unswayed.stats import mean_interval, numbers_of, pass_power, sign, sign_flip_interval

User = TypeVar("User")
Operators = str | OperatorSpec | Sequence[str | OperatorSpec]
# methods by which simulated users say their next turn: DeepEval's, tau-bench's, and usual names
_METHODS = (
    "generate_first_user_input", "generate_next_user_input", "a_generate_first_user_input",
    "a_generate_next_user_input", "reset", "step", "next_turn", "next_message", "respond", "reply", "say", "generate",
    "generate_reply", "__call__",
)  # fmt: skip
_inside: ContextVar[bool] = ContextVar("inside", default=False)  # a function that adds noise already
_SIGNAL = re.compile(r"#{2,}\w+#{2,}|<\|?/?\w+\|?>")  # such as ###STOP###, which loops look for


class _Noise:
    def __init__(self, operators: Operators, seed: int, draw: int, language: str | None) -> None:
        self.operators, self.seed, self.draw, self.language = operators, seed, draw, language
        self._heard: list[str] = []  # of texts whose language is clear, where it was not given

    def text(self, text: str) -> str:
        """The text as this user types it: the same for the same text, whatever was said before, in any order."""
        parts = re.split(f"({_SIGNAL.pattern})", text)
        for at in range(0, len(parts), 2):  # between signals
            if not parts[at].strip():
                continue
            language = self.language
            if language is None:
                found = identify([parts[at]]).language
                if found not in (UNSURE, *self._heard):
                    self._heard.append(found)
                language = self._heard[0] if found == UNSURE and self._heard else None  # as in longer turns
            id_ = f"{self.draw}/{content_id([parts[at]])}"
            [parts[at]] = vary_texts([parts[at]], self.operators, ids=[id_], seed=self.seed, language=language)
        return "".join(parts)

    def turn(self, said: Any) -> Any:
        """A turn of the user in any form: a text, a message, or an object with one; all else is as it was."""
        if isinstance(said, str):
            return self.text(said)
        if isinstance(said, Mapping) and isinstance(said.get("content"), str) and said.get("role", "user") == "user":
            return {**said, "content": self.text(said["content"])}
        if isinstance(getattr(said, "content", None), str) and getattr(said, "role", "user") == "user":
            changed = copy.copy(said)
            changed.content = self.text(said.content)
            return changed
        if isinstance(said, tuple) and said and isinstance(said[0], str):  # what was said, and more about it
            return (self.text(said[0]), *said[1:])
        return said

    def around(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """What says the user's turn, with noise; once, if one such function calls another."""

        @functools.wraps(function)
        async def say_later(*given: Any, **named: Any) -> Any:
            if _inside.get():
                return await function(*given, **named)
            token = _inside.set(True)
            try:
                said = await function(*given, **named)
            finally:
                _inside.reset(token)
            return await asyncio.to_thread(self.turn, said)

        @functools.wraps(function)
        def say(*given: Any, **named: Any) -> Any:
            if _inside.get():
                return function(*given, **named)
            token = _inside.set(True)
            try:
                said = function(*given, **named)
            finally:
                _inside.reset(token)
            return later(said) if inspect.isawaitable(said) else self.turn(said)

        async def later(said: Any) -> Any:
            return await asyncio.to_thread(self.turn, await said)

        return say_later if inspect.iscoroutinefunction(function) else say


def noisy(
    user: User, operators: Operators = "@typing", *, seed: int = 0, draw: int = 0, language: str | None = None,
    method: str | Sequence[str] | None = None,
) -> User:  # fmt: skip
    """The same simulated user, who mistypes, is misheard, or says things differently.

    Example: `user = unswayed.noisy(my_user, "@typing", seed=7)`.

    - `user`: a function or a coroutine function that returns the user's next turn, or an object with a method that
      does, such as DeepEval's `ConversationSimulator`. It stays as it is; the noisy one is a copy. A list of messages
      gives the messages with all of the user's turns changed, for loops that pass the whole chat to the agent.
    - `operators`: as in `vary_text`; if there are several, each turn is changed by one of them, chosen at random.
    - `draw`: another draw of the same noise. The same seed, draw and text give the same turn.
    - `method`: the method or methods that say the next turn, if their names are not the usual ones.

    A turn may be a text, a message, or an object with `content`. Signals such as `###STOP###` are not changed.
    """
    noise = _Noise(operators, seed, draw, language)
    if isinstance(user, list):
        return [noise.turn(message) if _is_user(message) else message for message in user]  # type: ignore[return-value]
    if inspect.isroutine(user) or isinstance(user, functools.partial):
        return noise.around(user)  # type: ignore[return-value]
    names = [method] if isinstance(method, str) else list(method or ())
    if missing := [name for name in names if not callable(getattr(user, name, None))]:
        raise UsageError(f"The user has no method {missing[0]!r}. Name the one that says the next turn.")
    names = names or [name for name in _METHODS if callable(getattr(user, name, None))]
    if not names or inspect.isclass(user):
        raise UsageError(
            f"{option('user')} must be a function that returns the user's next turn, or an object with a method that "
            f"does ({', '.join(_METHODS[:-1])}), not {user!r:.60}. Name another method with {option('method')}."
        )
    changed, of = copy.copy(user), type(user)
    own = {name: noise.around(getattr(of, name)) for name in names if callable(getattr(of, name, None))}
    changed.__class__ = type(of.__name__, (of,), {"__slots__": (), **own})  # so that calling it is changed as well
    for name in names:
        if name in getattr(user, "__dict__", {}):
            setattr(changed, name, noise.around(getattr(user, name)))
    return changed


def _is_user(message: Any) -> bool:
    role = message.get("role") if isinstance(message, Mapping) else getattr(message, "role", None)
    return role == "user"


class Dialogue(NamedTuple):
    """One dialogue as it was played: whether its goal was reached, and the agent's calls, turn by turn."""

    reached: bool
    calls: tuple[tuple[str, ...], ...]
    messages: Sequence[Mapping[str, Any]]

    @property
    def in_order(self) -> tuple[str, ...]:
        return tuple(call for turn in self.calls for call in turn)

    def parts_from(self, other: Dialogue) -> int | None:
        """The agent's turn, from 1, at which its calls are first not the same; None if they never part."""
        for turn, (one, two) in enumerate(zip(self.calls, other.calls, strict=False), 1):
            if one != two:
                return turn
        shorter, longer = sorted((self.calls, other.calls), key=len)
        return next((at + 1 for at in range(len(shorter), len(longer)) if longer[at]), None)


class DialogueComparison(Tabular, msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """Dialogues with a clean and with a noisy user. Iteration gives a row a measure.

    Example: `unswayed.compare_dialogues(play, scripts, trials=4).measures["pass^4"]`.

    Each of `measures` has the mean with the clean user, that with the noisy one, and their difference as an estimate
    over scripts. For calls, the clean value is how often two clean dialogues of one script have the same calls: the
    loop's own chance. `parted` counts the agent's turns at which calls first part, clean from clean and clean from
    noisy; 0 stands for never. `changed` are scripts whose goal is reached less often.
    """

    scripts: int
    trials: int
    draws: int
    measures: dict[str, tuple[float, float, Estimate]]
    parted: dict[str, dict[int, int]]
    changed: list[str]
    level: float = 0.95

    @property
    def sentences(self) -> list[str]:
        power = f"pass^{self.trials}"
        clean, varied, difference = self.measures["reached"]
        shown = difference.p is not None and difference.p < 1 - self.level
        said = [
            f"With the noisy user the goal is reached in {varied:.0%} of dialogues, with the clean one in {clean:.0%}: "
            f"{_moved(difference)}{'' if shown else ', which may be chance'} ({p_value(difference.p or 0.0)})."
        ]
        if power in self.measures:
            clean, varied, _ = self.measures[power]
            said.append(f"All {self.trials} trials of a script reach it in {varied:.0%} of scripts, clean {clean:.0%}.")
        clean, varied, difference = self.measures["same calls in order"]
        shown = difference.p is not None and difference.p < 1 - self.level
        beyond = "more than" if shown else "not shown to be more than"
        said.append(
            f"The agent's calls are the same in {varied:.0%} of pairs of a clean and a noisy dialogue, and in "
            f"{clean:.0%} of pairs of clean ones: {beyond} the loop's own chance."
        )
        found = {turn: count for turn, count in self.parted["noisy"].items() if turn}
        if found:
            most = max(found, key=lambda turn: found[turn])
            said.append(f"Where calls part, it is most often at the agent's turn {most}.")
        return said

    def _rows(self) -> list[Cells]:
        return [
            {"measure": name, "clean": clean, "noisy": varied, "difference": e.value, "low": e.low, "high": e.high,
             "p": e.p, "n": e.n}
            for name, (clean, varied, e) in self.measures.items()
        ]  # fmt: skip

    def _shown(self) -> tuple[list[str], list[Cells]]:
        return self.sentences, [
            {"measure": name, "clean": f"{clean:.3f}", "noisy": f"{varied:.3f}", "difference": figure(e)}
            for name, (clean, varied, e) in self.measures.items()
        ]


def _moved(difference: Estimate) -> str:
    """`12.5 points less [2.1, 20.0]`."""
    value, low, high = (100 * (part or 0.0) for part in (difference.value, difference.low, difference.high))
    turn = -1 if value < 0 else 1
    near, far = sorted((turn * low, turn * high))
    return f"{turn * value:.1f} points {'less' if value < 0 else 'more'} [{near:z.1f}, {far:z.1f}]"


def compare_dialogues(
    play: Callable[..., Any], scripts: Iterable[Mapping[str, Any]], user: Callable[..., Any] | None = None,
    operators: Operators = "@typing", *, trials: int = 4, draws: int = 1, seed: int = 0, language: str | None = None,
    level: float = 0.95,
) -> DialogueComparison:  # fmt: skip
    """Plays each script with a clean and with a noisy user, and compares goals and tool calls, paired by script.

    Example: `unswayed.compare_dialogues(play, scripts, MyUser, "@typing", trials=4, draws=3)`.

    - `play`: your loop: `play(user, script)` plays one dialogue and returns its messages in OpenAI's form, or
      `{"messages": […], "reached": true}`. It may be a coroutine function.
    - `scripts`: what each dialogue is about, as mappings. `calls`, where there are some, is the list of tool calls that
      the dialogue should end with; it decides whether the goal is reached if `play` does not say it.
    - `user`: makes the clean user of a script: `user(script)`. By default the user says the texts in `script["user"]`
      one after the other, and then `###STOP###`.
    - `trials`: how often each script is played with each user; `draws`: how many noisy users there are.
    """
    given = list(scripts)
    if not given or trials < 1 or draws < 1:
        raise UsageError("compare_dialogues needs at least one script, one trial and one draw.")
    make = user or ScriptedUser
    texts = [text for script in given for text in script.get("user") or () if isinstance(text, str)]
    if language is None and texts:
        language = identify(texts).language
        language = None if language == UNSURE else language
    played: list[tuple[list[Dialogue], list[list[Dialogue]]]] = []
    for script in given:
        clean = [_played(play, make(script), script) for _ in range(trials)]
        varied = [
            [_played(play, noisy(make(script), operators, seed=seed, draw=draw, language=language), script)
             for _ in range(trials)]
            for draw in range(draws)
        ]  # fmt: skip
        played.append((clean, varied))
    names = [str(script.get("id", at)) for at, script in enumerate(given)]
    columns: dict[str, tuple[list[float], list[float]]] = {}

    def put(name: str, clean: float, varied: float) -> None:
        both = columns.setdefault(name, ([], []))
        both[0].append(clean)
        both[1].append(varied)

    parted: dict[str, Counter[int]] = {"clean": Counter(), "noisy": Counter()}
    for clean, varied in played:
        passed = [sum(one.reached for one in trial) for trial in (clean, *varied)]
        put("reached", passed[0] / trials, sum(passed[1:]) / trials / draws)
        if trials > 1:
            power = pass_power(np.array(passed, dtype=np.float64), np.full(len(passed), trials), trials)
            put(f"pass^{trials}", float(power[0]), float(power[1:].mean()))
        own, across = list(combinations(clean, 2)), [pair for draw in varied for pair in product(clean, draw)]
        for name, key in (("same calls in order", _in_order), ("same calls in any order", _in_any_order)):
            alike = [sum(key(one) == key(two) for one, two in pairs) for pairs in (own, across)]
            put(name, alike[0] / len(own) if own else 1.0, alike[1] / len(across))
        for name, pairs in (("clean", own), ("noisy", across)):
            parted[name].update(one.parts_from(two) or 0 for one, two in pairs)
    measures = {}
    for name, sides in columns.items():
        one, two = np.array(sides[0]), np.array(sides[1])
        numbers = numbers_of(two - one)
        low, high, p = sign_flip_interval(numbers, mean_interval(numbers, (-1.0, 1.0), level, "difference"), level)
        signed = sign({"measure": name, "trials": trials, "draws": draws, "seed": seed, "level": level})
        estimate = Estimate(float((two - one).mean()), low, high, len(given), 0, signed, p=p)
        measures[name] = float(one.mean()), float(two.mean()), estimate
    worse = [name for name, one, two in zip(names, *columns["reached"], strict=True) if two < one]
    compared = DialogueComparison(
        scripts=len(given), trials=trials, draws=draws, measures=measures, changed=worse, level=level,
        parted={name: dict(sorted(counts.items())) for name, counts in parted.items()},
    )  # fmt: skip
    compared.__dict__["played"] = dict(zip(names, played, strict=True))
    return compared


def _in_order(dialogue: Dialogue) -> Json:
    return dialogue.in_order


def _in_any_order(dialogue: Dialogue) -> Json:
    return sorted(dialogue.in_order)


def _played(play: Callable[..., Any], user: Any, script: Mapping[str, Any]) -> Dialogue:
    said = play(user, script)
    said = asyncio.run(_awaited(said)) if inspect.isawaitable(said) else said
    messages, reached = said, None
    if isinstance(said, Mapping):
        messages, reached = said.get("messages"), said.get("reached")
    if not isinstance(messages, list) or not all(isinstance(message, Mapping) for message in messages):
        raise UsageError(
            f"play must return a list of messages, or {{'messages': […], 'reached': …}}, not {said!r:.60}."
        )
    calls = []
    for message in messages:
        if message.get("role") == "assistant":
            found = calls_of(list(message.get("tool_calls") or ()))
            calls.append(tuple(_spelled(call) for call in found or ()))
    if reached is None:
        if "calls" not in script:
            raise UsageError("Nothing says whether a goal is reached: return 'reached', or give 'calls' in the script.")
        wanted = sorted(_spelled(call) for call in calls_of(list(script["calls"])) or ())
        reached = sorted(call for turn in calls for call in turn) == wanted
    return Dialogue(bool(reached), tuple(calls), messages)


async def _awaited(said: Any) -> Any:
    return await said


def _spelled(call: Any) -> str:
    return f"{call.name}({canonical(standard(call.arguments)).decode()})"


class ScriptedUser:
    """A user who says the texts of a script one after the other, and then `###STOP###`."""

    def __init__(self, script: Mapping[str, Any]) -> None:
        texts = script.get("user")
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise UsageError(
                "A script needs 'user': a list of what the user says. Or give user=, which makes the user."
            )
        self._texts = iter(texts)

    def respond(self, *_: Any, **__: Any) -> str:
        return next(self._texts, "###STOP###")

    def __call__(self, *_: Any, **__: Any) -> str:
        return self.respond()

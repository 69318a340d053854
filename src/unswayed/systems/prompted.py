"""Systems that are asked by a prompt: chat models of any OpenAI-compatible server, any system with a prompt, judges."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from unswayed.base.chat import CHOICES, calls_of, chat_of, choices_in, is_chat
from unswayed.base.errors import UsageError, option
from unswayed.base.ids import content_id
from unswayed.base.reply import ChatAnswer, answer_key
from unswayed.base.secrets import masked_data, masked_url
from unswayed.base.values import CUT_OFF, REFUSED, UNREADABLE, Inputs, Json
from unswayed.storage.suite import Suite
from unswayed.systems.callable import unseen_variation
from unswayed.systems.clients import passed_client
from unswayed.systems.http import note_reasoning
from unswayed.systems.http.chat import ChatClient, ChatEndpoint
from unswayed.systems.http.client import HttpSettings, HttpSystem, Unanswered
from unswayed.systems.http.connection import checked_url
from unswayed.systems.system import Failed, System, SystemAround, plain, prices_of
from unswayed.systems.template import PROMPTS, Template, prompt_of, texts_of

_YES = (("yes", "no"), ("true", "false"), ("1", "0"))
_NLI = {"premise", "hypothesis"}
_LABEL_TOKENS = 16
_TEXT_TOKENS = 1024
_THOUGHT_TOKENS = 8192  # more, for a model that thinks before it answers


def json_in(text: str) -> Json:
    """The JSON that an answer is, with or without a fence around it. Raises ValueError where it is none."""
    fenced = re.fullmatch(r"\s*```\w*\n(.*)\n\s*```\s*", text, re.S)
    try:
        return msgspec.json.decode(fenced[1] if fenced else text)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise ValueError(str(error)) from error


class ChatSystem(HttpSystem):
    """Fills a prompt with each input's texts and asks the model at temperature 0.

    `answers` maps what the model may say to outputs; anything else is a failure that shows what it said. Without
    them, a suite of labels has its own labels as answers, or yes and no where the prompt speaks of them and the
    labels are such as *entailed* and *not_entailed*; other suites take the text as it is, or, with `json`, what it says
    as JSON. Where the answers are yes and no, or single characters, the model is given one token.
    """

    batch_size = 1
    concurrency = 8
    deterministic = False  # servers batch requests, so that even at temperature 0 an answer may differ
    _client: ChatEndpoint
    _calls = False  # are outputs tool calls?
    _whole = False  # are whole replies wanted, with more tokens, where labels would be due?
    _thinks = False  # does the model think before it answers?
    _own_settings: Json = None  # of a client that holds some; then only those that were chosen here are sent
    _bare: Template | None = None  # stands for a prompt where none was given: the only text as it is

    def __init__(
        self, url: Any, model: str, prompt: str | None = None, answers: Mapping[str, Json] | str | None = None,
        system_message: str | None = None, key_env: str | None = None, price_in: float | None = None,
        price_out: float | None = None, temperature: float | None = 0.0, max_tokens: int | None = None,
        reasoning_effort: str | None = None, body: dict[str, Json] | None = None, json: bool = False,
        identity: str | None = None, insecure: bool = False, seed: int | None = None, **waits: float,
    ) -> None:  # fmt: skip
        """`url` may also be a client that was made elsewhere, such as `openai.OpenAI()`."""
        settings = HttpSettings(**waits)  # type: ignore[arg-type]
        self.prices = prices_of(price_in, price_out)
        more = {"seed": seed, "reasoning_effort": reasoning_effort}
        body = {**{name: value for name, value in more.items() if value is not None}, **(body or {})} or body
        if isinstance(url, str):
            client = ChatClient(url, model, key_env, self.prices, body, settings, insecure=insecure)
            self._client, address = client, checked_url(url)._replace(query="").geturl()
            query = masked_url(client.url).partition("?")[2]
        else:
            passed = passed_client(url, model, self.prices, body, settings)
            self._client, self.concurrency, address, query = passed.endpoint, passed.threads, passed.address, ""
            self._own_settings = passed.decides
        self._body = masked_data(body or {})
        self.name = f"{address}#{model}"
        self._template = None if prompt is None else Template.read(prompt, PROMPTS)
        self._system, self._temperature, self._max_tokens = system_message, temperature, max_tokens
        self._json = json
        self._answers = None if answers is None else _answers_by_key(parsed_answers(answers))
        decides = [system_message, temperature, max_tokens, masked_data(body), json, self._answers, query]
        self._settings = content_id(decides if self._own_settings is None else [*decides, self._own_settings])
        self._named_identity = identity

    @property
    def identity(self) -> str:
        if self._named_identity is not None:
            return self._named_identity
        prompt = self._template.id if self._template else "none"
        shown = f"chat {self._client.shown} model={self._client.model} prompt={prompt} settings={self._settings}"
        return f"{shown} whole" if self._whole else shown

    @property
    def prompts(self) -> dict[str, str]:
        template = self._template or self._bare
        told = {"prompt": template.text if template else "", "system message": self._system or ""}
        return {name: text for name, text in told.items() if text}

    def prepare(self, suite: Suite) -> None:
        example = next(suite.examples(), None)
        if example is None:
            return
        self._calls = suite.manifest.task == "tools"
        self._whole = suite.manifest.task == "classify" and self.part_compared
        if is_chat(example.inputs):
            if self._template is not None:
                raise UsageError(f"The suite's chats are sent as they are: leave out {option('prompt')}.")
            return
        if self._template is None and example.inputs.keys() == _NLI:
            text = (PROMPTS / "nli.txt").read_text(encoding="utf-8")  # which may lie in a zip
            self._template = Template(text.rstrip("\n"), "nli.txt")
        named = [name for name in example.inputs if name != CHOICES]
        if self._template is None and len(named) == 1 and choices_in(example.inputs):
            self._template = Template(
                f"{{{named[0]}}}\n{{{CHOICES}}}\nAnswer with the letter of the right choice.\nAnswer:"
            )
        if self._template is None and len(example.inputs) > 1:
            raise UsageError(
                f"{self.name} needs {option('prompt')}, a file that has {_braced_names(example.inputs)} in it."
            )
        if self._template is not None:
            self._template.require(example.inputs)
            seen = [name for name in example.inputs if self._template.has(name)]
            if unseen := unseen_variation(suite, seen):  # where variants differ, all would be asked the same
                raise UsageError(f"The prompt has no {{{unseen}}}, in which the suite's variants differ. Put it in.")
        else:
            self._bare = Template(f"{{{next(iter(example.inputs))}}}")
        labels_wanted = suite.manifest.task == "classify" and not self.part_compared
        if self._answers is None and not self._json and labels_wanted:
            found = {suite.task.label(e.gold) for e in (() if suite.manifest.labels else suite.examples())}
            labels = list(suite.manifest.labels or sorted(label for label in found if label is not None))
            self._answers = expected_answers(labels, self._template.text if self._template else "")

    def predict(self, batch: Sequence[Inputs]) -> Sequence[Json | Failed]:
        self._client.retries = self.retries
        found: list[Json | Failed] = []
        for at, inputs in enumerate(batch):
            output, reasoning = self._answer_one(inputs)
            if reasoning:
                note_reasoning(at, reasoning)
            found.append(output)
        return found

    def settings(self) -> dict[str, Json]:
        """What is sent, in the form that the server takes."""
        sent = {"model": self._client.model, "temperature": self._temperature, "max_tokens": self._token_limit()}
        sent = self._client.sent({"seed": None, **sent, **self._body})
        told: dict[str, Json] = {"temperature": None, **{k: v for k, v in sent.items() if k != "stream_options"}}
        return {**told, "refused": self._client.adaptations()} if self._client.adapted else told

    def _answer_one(self, inputs: Inputs) -> tuple[Json | Failed, str]:
        """The output, and what the model thought before."""
        system = [{"role": "system", "content": self._system}] if self._system else []
        functions, tools = [], list[Json]()
        try:
            if not is_chat(inputs):
                template = self._template or self._bare
                if template is None and len(inputs) != 1:
                    raise UsageError(f"a prompt is needed that has {_braced_names(inputs)} in it")
                prompt = prompt_of(template, inputs) if template else next(iter(inputs.values()))
                messages = [*system, {"role": "user", "content": prompt}]
            else:
                chat = chat_of(inputs)
                messages = [*system, *chat["messages"]]
                functions = [tool.get("function", tool) for tool in chat.get("tools", ())]
            for function in functions:  # as OpenAI's API takes them: a name without dots, JSON Schema's names of types
                schema = {"parameters": _json_schema(function["parameters"])} if "parameters" in function else {}
                sent = {**function, "name": sent_name(function["name"]), **schema}
                tools.append({"type": "function", "function": sent})
            answer = self._ask(messages, tools)
        except (UsageError, Unanswered) as problem:
            return Failed(str(problem), final=True), ""
        calls = calls_of({"tool_calls": answer.calls}) if answer.calls else None
        if calls is not None:  # as outputs have them, with the names that the definitions have
            names = {sent_name(function["name"]): str(function["name"]) for function in functions}
            named = [{"name": names.get(call.name, call.name), "arguments": call.arguments} for call in calls]
            answer = answer._replace(calls=named)
        return self._read(answer), answer.reasoning

    def _ask(self, messages: list[Json], tools: list[Json]) -> ChatAnswer:
        """The answer to a chat; of a model that turns out to think first, with room for its thoughts."""
        limit = self._token_limit()
        settings = {"temperature": self._temperature, "tools": tools or None}
        if self._own_settings is not None:
            return self._client.ask(messages, max_tokens=self._max_tokens, **settings)
        answer = self._client.ask(messages, max_tokens=limit, **settings)
        silent = answer.cut and not answer.text and not answer.calls
        if silent and self._max_tokens is None and (answer.reasoning or "max_tokens" in self._client.adapted):
            self._thinks = True
            if self._token_limit() > limit:
                return self._client.ask(messages, max_tokens=self._token_limit(), **settings)
        return answer

    def _token_limit(self) -> int:
        if self._max_tokens is not None:
            return self._max_tokens
        room = _THOUGHT_TOKENS if self._thinks or "max_tokens" in self._client.adapted else 0
        if self._answers is None:
            return room + _TEXT_TOKENS
        return room + (1 if all(a in ("yes", "no") or len(a) == 1 for a in self._answers) else _LABEL_TOKENS)

    def _read(self, answer: ChatAnswer) -> Json | Failed:
        if answer.calls and (self._calls or not answer.text):
            return plain(answer.calls if self._calls else {"tool_calls": answer.calls})
        if answer.refusal and not answer.text:
            self._client.use(refusals=1)
            return Failed(f"{REFUSED}: {_quote_text(answer.refusal)}", final=True)
        text = "" if answer.text is None else answer.text.strip()
        if answer.cut and (not text or self._answers is None):
            self._client.use(cut=1)
            return Failed(f"{CUT_OFF} after {self._token_limit()} tokens: {_quote_text(text)}", final=True, value=text)
        if answer.text is None:
            return Failed("the model gave no answer, only a refusal or a call", final=True)
        if self._answers is not None:
            key = answer_key(text)
            if key in self._answers:
                return self._answers[key]
            known = ", ".join(list(self._answers)[:10]) + (", …" if len(self._answers) > 10 else "")
            problem = f"the answer {_quote_text(text)} is none of: {known}"
            return Failed(UNREADABLE + problem, final=True, value=text)
        if not self._json:
            return plain(text)
        try:
            return plain(json_in(text))
        except ValueError as error:
            problem = f"the answer {_quote_text(text)} is not JSON: {error}"
            return Failed(UNREADABLE + problem, final=True, value=text)


_JSON_TYPES = {"dict": "object", "float": "number", "tuple": "array", "any": "string"}  # of BFCL's own types


def _json_schema(value: Json) -> Json:
    if isinstance(value, list):
        return [_json_schema(item) for item in value]
    if not isinstance(value, dict):
        return value
    kind = value.get("type")
    known = {"type": _JSON_TYPES[kind]} if isinstance(kind, str) and kind in _JSON_TYPES else {}
    return {key: _json_schema(item) for key, item in value.items()} | known


def sent_name(name: str) -> str:
    return re.sub(r"[^\w-]", "_", name)[:64]


def parsed_answers(answers: Mapping[str, Json] | str) -> Mapping[str, Json]:
    """`yes=entailed,no=not_entailed` as a mapping."""
    if not isinstance(answers, str):
        return answers
    pairs = [part.partition("=") for part in answers.split(",")]
    wrong = next((said for said, equals, _ in pairs if not equals or not said.strip()), None)
    if wrong is not None:
        raise UsageError(f"answers are SAID=OUTPUT,SAID=OUTPUT; {wrong!r} is not.")
    return {said: output.strip() for said, _, output in pairs}


def _answers_by_key(answers: Mapping[str, Json]) -> dict[str, Json]:
    found = {answer_key(said): output for said, output in answers.items()}
    if len(found) < len(answers) or "" in found:
        raise UsageError(f"These answers are the same apart from case and punctuation: {', '.join(answers)}.")
    return found


def expected_answers(labels: list[str], prompt: str) -> dict[str, Json]:
    """What a model is expected to say where nobody said so: the labels, or yes and no if the prompt speaks of them."""
    if len(labels) == 2 and {"yes", "no"} <= set(re.findall(r"\w+", prompt.lower())):
        for yes, no in (labels, labels[::-1]):
            opposite = re.fullmatch(r"(not|non|no|un)[ _-]?" + re.escape(yes.lower()), no.lower())
            if opposite or (yes.lower(), no.lower()) in _YES:
                return {"yes": yes, "no": no}
    return _answers_by_key({label: label for label in labels})


def _braced_names(inputs: Inputs) -> str:
    return " and ".join(f"{{{name}}}" for name in inputs)


def _quote_text(text: str) -> str:
    return repr(text if len(text) <= 200 else text[:200] + "…")


class PromptedSystem(SystemAround):
    """Puts the prompt of each input into `prompt`, for a function, a program or a server."""

    def __init__(self, system: System, prompt: str) -> None:
        super().__init__(system)
        self._template, system.given_prompt = Template.read(prompt), True

    @property
    def identity(self) -> str:
        return f"{self.system.identity} prompt={self._template.id}"

    @property
    def prompts(self) -> dict[str, str]:
        return {"prompt": self._template.text}

    def prepare(self, suite: Suite) -> None:
        example = next(suite.examples(), None)
        if example is not None and is_chat(example.inputs):
            raise UsageError(f"The suite's chats are sent as they are: leave out {option('prompt')}.")
        if example is not None:
            self._template.require(example.inputs)
        super().prepare(suite)

    def predict(self, batch: Sequence[Inputs]) -> Sequence[Json | Failed]:
        texts = [{**texts_of(inputs), "prompt": prompt_of(self._template, inputs)} for inputs in batch]
        return self.system.predict(texts)


YES, NO = "yes", "no"
_SAID_YES, _SAID_NO = (YES, "true", "same", "1"), (NO, "false", "different", "0")
_ASKED = ("question", "reference", "answer")


class JudgeSystem(SystemAround):
    """Answers yes or no for inputs of a reference and an answer, and the question where there is one."""

    def __init__(self, system: System, rubric: str | None = None) -> None:
        super().__init__(system)
        self.template = Template.read(rubric or "judge.txt", PROMPTS if rubric is None else None)
        self.template.require(_ASKED)
        self.name = f"judge:{system.name}"
        self._only_prompt = isinstance(system, ChatSystem)  # which takes one text

    @property
    def identity(self) -> str:
        return f"judge {self.system.identity} rubric={self.template.id}"

    def prepare(self, suite: Suite) -> None:
        example = next(suite.examples(), None)
        missing = [name for name in _ASKED[1:] if example is not None and name not in example.inputs]
        if missing:
            raise UsageError(
                f"{self.name} compares two answers, and the examples have no input {missing[0]!r}. A row needs the "
                f"fields reference and answer, and may have a question."
            )

    def request(self, inputs: Inputs) -> Inputs:
        """The filled rubric; a system that is not a chat model also gets what was filled in, by name."""
        texts = {name: inputs.get(name, "") for name in _ASKED}
        prompt = self.template.fill(texts)
        return {"prompt": prompt} if self._only_prompt else {"prompt": prompt, **texts}

    def predict(self, batch: Sequence[Inputs]) -> Sequence[Json | Failed]:
        found: list[Json | Failed] = []
        for answer in self.system.predict([self.request(inputs) for inputs in batch]):
            same = None if isinstance(answer, Failed) else verdict_of(answer)
            if same is None and not isinstance(answer, Failed):
                answer = Failed(f"the judge said neither yes nor no: {str(answer)!r:.80}", final=True)
            found.append(answer if same is None else YES if same else NO)
        return found


def verdict_of(value: Json) -> bool | None:
    """Yes or no, also in words such as `Yes, both …`; None where it is neither."""
    if isinstance(value, dict):
        value = next((value[k] for k in ("same", "verdict", "label", "content", "text") if k in value), None)
    if isinstance(value, bool):
        return value
    words = re.findall(r"\w+", unicodedata.normalize("NFKC", str(value)).casefold())
    first = words[0] if words else ""
    return True if first in _SAID_YES else False if first in _SAID_NO else None

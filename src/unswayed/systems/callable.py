"""Functions as systems: what was made in one's own Python; and ids of what a system's answers rest on.

That is a program's sources, a function with what is bound to it, a fitted model. An id is equal in every process:
addresses, file names, line numbers and hash seeds leave no trace in it.
"""

from __future__ import annotations

import functools
import inspect
import re
import sys
import typing
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import is_dataclass
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from threading import Lock
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from unswayed.base.chat import as_sent, chat_of, is_chat
from unswayed.base.errors import SystemBroken, UnswayedError, UsageError, option
from unswayed.base.ids import content_id, file_hash
from unswayed.base.own_code import error_place, is_installed_code
from unswayed.base.recorder import Recorder, recorder_of
from unswayed.base.reply import answer_in, answer_key, as_data, joined_chunks, without_thoughts
from unswayed.base.values import CUT_OFF, REFUSED, Inputs, Json
from unswayed.storage.suite import Suite
from unswayed.systems.device import home
from unswayed.systems.http import note_reasoning, spend
from unswayed.systems.signature import Form, call_form, is_async, is_thread_safe, refers_to_model
from unswayed.systems.system import Failed, System, plain_each, prices_of


def declared_determinism(system: object) -> bool | None:
    """What a user's function or object says of itself by `unswayed_deterministic`; a method's object speaks for it."""
    for one in (system, getattr(system, "__self__", None)):
        deterministic: bool | None = getattr(one, "unswayed_deterministic", None)
        if deterministic is not None:
            return deterministic
    return None


class CallableSystem(System):
    """Asks `function(list of input mappings)`, or once for each item where its code says that it takes one.

    `takes` is batch, texts, text, messages, inputs or names; by default, it follows from the function's annotations and
    the names of its parameters (`signature.call_form`). An `async def` is awaited, several at once.

    Its identity is the hash of the function's module, of the files beside it that it imports or names, such as
    "model.joblib", and of what the arrays and models that it uses have learnt: an edited module, another file or a
    retrained model is a new system. What else it reads is recorded while it runs. Set `identity`, or
    `unswayed_identity` on the function, where something else decides. `deterministic` says that the same input always
    has the same answer, or that it may not; so does `unswayed_deterministic` on the function or its object.
    """

    prompted = True
    grows = True

    def __init__(
        self, function: Callable[..., Any], name: str | None = None, identity: str | None = None,
        batch_size: int | None = None, deterministic: bool | None = None, takes: Form | None = None,
        price_in: float | None = None, price_out: float | None = None,
    ) -> None:  # fmt: skip
        self.function = function
        self.deterministic = declared_determinism(function) if deterministic is None else deterministic
        self.name = name or qualified_name(function)
        form, self._names = call_form(function)
        if takes is not None and takes not in typing.get_args(Form):
            raise UsageError(f"takes must be one of {', '.join(typing.get_args(Form))}, not {takes!r:.40}.")
        self._form: Form = takes or form
        self._async = is_async(function)
        self.batch_size = batch_size or (1 if self._async and self._form not in ("batch", "texts") else 64)
        # A model may give other last digits in a batch of another size, so its batches are the same in every run.
        self.grows = self.grows and batch_size is None and not self.deterministic and not refers_to_model(function)
        self.concurrency = _AT_ONCE if self._async else 1
        self.threads_if_waiting = _AT_ONCE if not self._async and is_thread_safe(function) else 1
        self.prices = prices_of(price_in, price_out)
        self._used: Counter[str] = Counter()
        self._lock = Lock()
        self._listing = False  # has it taken a batch?
        self._classes: Suite | None = None  # whose labels a language model may say in its own spelling
        named = identity if identity is not None else getattr(function, "unswayed_identity", None)
        # Taken once: calls may change what an instance holds, and that makes no new system.
        self._identity = f"{qualified_name(function)} {fingerprint(function)}" if named is None else str(named)
        # Who names an identity says what decides. An object that the caller made may hold anything, and change.
        self._recorder = recorder_of(function) if named is None else None
        self.known_whole = named is None and name is not None and isinstance(function, FunctionType)

    @property
    def recorder(self) -> Recorder | None:
        return self._recorder

    def prepare(self, suite: Suite) -> None:
        """Refuses a suite whose inputs the function can't be given, before it is called."""
        if suite.manifest.task == "classify" and not self.part_compared:
            self._classes = suite
        example = next(suite.examples(), None)
        if example is None or self.given_prompt or self._form in ("batch", "inputs"):
            return
        names, chat = set(example.inputs), is_chat(example.inputs)
        parameters = " and ".join(map(repr, self._names))
        if self._form == "names" and (absent := [name for name in self._names if name not in names]):
            raise UsageError(
                f"{self.name} has the parameters {parameters}, and the examples have no input {absent[0]!r}; their "
                f"inputs are {', '.join(example.inputs)}. Name the parameters as the inputs are, or take a list of "
                f"inputs, as in def answer(batch)."
            )
        if self._form in ("text", "texts") and chat:
            raise UsageError(
                f"{self.name} takes one text ({parameters}), and the examples are chats. Name its parameter messages, "
                f"or take a list of inputs, as in def answer(batch)."
            )
        if self._form == "messages" and not chat and len(names) > 1:
            raise UsageError(
                f"{self.name} takes one chat, and the examples have the inputs {', '.join(example.inputs)}. Set "
                f"{option('prompt')}, or take a list of inputs, as in def answer(batch)."
            )
        seen = set(self._names) & names
        if self._form in ("text", "texts") and len(names) > 1 and not seen:
            raise UsageError(
                f"{self.name} takes one text ({parameters}), and the examples have the inputs "
                f"{', '.join(example.inputs)}. Name its parameters as the inputs are, set {option('prompt')}, or take "
                f"a list of inputs, as in def answer(batch)."
            )
        if self._form == "names" or len(names) > 1:
            unseen = unseen_variation(suite, seen) if self._form in ("names", "text") else None
            if unseen is not None:
                raise UsageError(
                    f"{self.name} does not see {unseen!r}, in which the suite's variants differ: its parameters are "
                    f"{parameters}. Add {unseen!r} to them."
                )

    def predict(self, batch: Sequence[Inputs]) -> Sequence[Json | Failed]:
        values = self.outputs(batch)
        kinds = set(map(type, values))
        if kinds == {str} and not any("think" in value for value in values):  # type: ignore[operator]
            return plain_each(values)  # as most are
        return plain_each([self._said(place, value) for place, value in enumerate(values)])

    def used(self) -> dict[str, float]:
        with self._lock:
            used, self._used = self._used, Counter()
        return {name: amount for name, amount in used.items() if amount}

    def outputs(self, batch: Sequence[Inputs]) -> Sequence[object]:
        """What the function returns, as it is."""
        if not batch:
            return []
        # Copies, as a function may well edit its inputs in place.
        if self._form in ("batch", "texts"):
            texts: Any = [self._argument(inputs) for inputs in batch] if self._form == "texts" else None
            try:
                returned = self._called(texts or [dict(as_sent(inputs)) for inputs in batch])
            except (AttributeError, TypeError) as error:
                if self._listing or "list" not in str(error):
                    raise
                raise SystemBroken(f"{self.name} raised {error_place(error)}.{_return_hint('')}") from error
            self._listing = True
            return self._listed(returned, len(batch))
        found: list[object] = []
        for inputs in batch:
            try:
                if self._form == "names":
                    returned = self._called(**{name: as_sent(inputs)[name] for name in self._names})
                else:
                    returned = self._called(self._argument(inputs))
                if inspect.iscoroutine(returned) or inspect.isasyncgen(returned):
                    raise SystemBroken(f"{self.name} returned a coroutine.{_return_hint(returned)}")
                found.append(returned)
            except UnswayedError:
                raise
            except Exception as error:
                if len(batch) == 1:
                    raise
                found.append(Failed(error_place(error)))  # asked again by itself; the others' answers are kept
        return found

    def _called(self, *given: Any, **named: Any) -> Any:
        returned = self.function(*given, **named)
        if self._async and inspect.isawaitable(returned):
            from unswayed.systems.background import run_coroutine  # asyncio takes longer to import than most calls

            return run_coroutine(returned)
        return returned

    def _argument(self, inputs: Inputs) -> Any:
        """What a function that takes one item is given."""
        if self._form == "inputs":
            return dict(as_sent(inputs))
        if self._form == "messages" and is_chat(inputs):
            return chat_of(inputs)["messages"]
        if self.given_prompt and "prompt" in inputs:
            text = inputs["prompt"]
        elif len(inputs) == 1:
            text = next(iter(inputs.values()))
        else:
            text = inputs[next(name for name in self._names if name in inputs)]
        return [{"role": "user", "content": text}] if self._form == "messages" else text

    def _said(self, place: int, value: object) -> object:
        """An output that may be a reply of a language model, as plain data: its thoughts and tokens are noted apart."""
        if isinstance(value, str):
            text, thoughts = without_thoughts(value)
            if thoughts:
                note_reasoning(place, thoughts)
            return text
        if isinstance(value, (int, float, list, tuple, Failed)) or value is None:
            return value
        if isinstance(value, Iterator):  # a stream of texts, or of a reply's pieces
            pieces = list(value)
            if all(isinstance(piece, str) for piece in pieces):
                return self._said(place, "".join(pieces))
            value = joined_chunks(map(as_data, pieces))
        data = as_data(value)
        try:
            answer = answer_in(data)
        except ValueError:
            answer = None
        if answer is None:
            return data if hasattr(value, "model_dump") or is_dataclass(value) else value
        if answer.reasoning:
            note_reasoning(place, answer.reasoning)
        spend(**answer.tokens)
        refused = bool(answer.refusal and not answer.text)
        cost = 0.0 if self.prices is None else self.prices.cost(*map(answer.tokens.get, ("tokens_in", "tokens_out")))
        took: dict[str, float] = {name.replace("_", " "): amount for name, amount in answer.tokens.items()}
        took |= {"cost": cost, "cut off": answer.cut, "refusals": refused}
        with self._lock:
            for name, amount in took.items():
                self._used[name] += amount  # type: ignore[assignment]
        if refused:
            return Failed(f"{REFUSED}: {answer.refusal!r:.200}", final=True)
        if not answer.calls and (key := answer_key(answer.text or "")) in self._labels:
            return self._labels[key]
        if answer.cut:
            return Failed(f"{CUT_OFF}: {answer.text or ''!r:.200}", final=True, value=answer.value)
        return answer.value

    @functools.cached_property
    def _labels(self) -> dict[str, str]:
        """The labels of a suite of labels, by what of them counts in a language model's words."""
        if self._classes is None:
            return {}
        declared, task = self._classes.manifest.labels, self._classes.task
        found = {task.label(example.gold) for example in (() if declared else self._classes.examples())}
        return {answer_key(label): label for label in declared or found if label is not None}

    def _listed(self, returned: Any, n: int) -> Sequence[object]:
        """The outputs of a batch of n, from what the function returned for it."""
        if callable(convert := getattr(returned, "tolist", None)):
            returned = convert()
        asked = f"{n} input{'s' * (n > 1)}"
        # A DataFrame goes through its columns and not its rows.
        table = len(getattr(returned, "shape", ())) == 2 and hasattr(returned, "columns")
        if not isinstance(returned, Iterable) or isinstance(returned, (str, bytes, Mapping, Set)) or table:
            hint = " Return one column, such as `list(frame['label'])`." if table else _return_hint(returned)
            raise SystemBroken(
                f"{self.name} returned {'None' if returned is None else type(returned).__qualname__} for {asked}; "
                f"it must return a list with one output for each input.{hint}"
            )
        whole = returned if isinstance(returned, (list, tuple)) else None
        outputs = list(islice(returned, n + 1)) if whole is None else whole
        if len(outputs) != n:
            endless = whole is None and len(outputs) > n  # it may never end
            many = f"more than {n} output{'s' * (n > 1)}" if endless else f"{len(outputs)} outputs"
            raise SystemBroken(
                f"{self.name} returned {many} for {asked}; it must return one output for each input, in order."
            )
        if outputs and inspect.iscoroutine(outputs[0]):
            raise SystemBroken(f"{self.name} returned coroutines.{max(map(_return_hint, outputs))}")
        return outputs


_AT_ONCE = 8  # calls of a function that waits, or that is asynchronous


def unseen_variation(suite: Suite, seen: Container[str]) -> str | None:
    """An input that is not among those seen, and in which a variant differs from its example; None if there is none."""
    for clean, variants in suite.groups():
        if all(name in seen for name in clean.inputs):
            return None
        for variant in variants:
            for name, text in clean.inputs.items():
                if name not in seen and variant.inputs.get(name) != text:
                    return name
    return None


def _return_hint(returned: object) -> str:
    """What may have gone wrong in a function that returned this in place of a list."""
    if returned is None:
        return " Does it end with `return`?"
    if inspect.iscoroutine(returned) or inspect.isasyncgen(returned):
        if inspect.iscoroutine(returned):
            returned.close()
        return " Make it an `async def`, which is awaited, or wrap it: `return asyncio.run(answer_all(batch))`."
    if isinstance(returned, (str, bytes, Mapping)):
        return (
            " It gets a list of inputs, such as [{'text': 'turn off the lights'}], and not one of them. If it takes "
            "one text, name its parameter text, annotate it as str, or set the option takes to text."
        )
    return ""


_QUOTED = re.compile(r"""["']([^"'\n]{1,300})["']""")
_IMPORT = re.compile(r"^[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import[ \t]+([\w, \t(]+)|import[ \t]+([\w., \t]+))", re.M)
_WRITES = re.compile(r"""["'][rb]?[wax]b?\+?["']|\.write|\.dump|\.save|\.to_(?:csv|json|parquet|pickle)|savez?\(""")
# What holds a model is read and not written while a system answers; of other files that is not certain.
_MODELS = re.compile(
    r"\.(joblib|pkl|pickle|skops|onnx|ptl?|pth|bin|safetensors|np[yz]|h5|hdf5|keras|model|gguf|ggml|tflite|ftz|vec|cbm|ubj"
    r"|crf|crfsuite|arpa|spm|bpe|pb|mar|torchscript)",
    re.I,
)
_SETTINGS = re.compile(r"\.(json|jsonl|ya?ml|toml|txt|ini|cfg|tsv|csv|vocab)", re.I)
_FOLDERS = ("config.json", "config.cfg", "system.json", "meta.json", "saved_model.pb", "modules.json", "tokens.txt")
_MOST_SOURCES = 200
_MOST_FILES = 500  # of a model's folder
_MOST_SOURCE_BYTES = 4 << 20  # of a source that are read for names


def source_id(file: Path) -> Json:
    """An id of a source file and of what it rests on; of an installed module, of the file alone.

    It rests on the files beside it that it imports, and on the models and settings that any of these name.
    """
    own = file_hash(file)
    if is_installed_code(file):
        return own
    start = file.resolve()
    waiting, sources, named = [start], {start}, set[Path]()
    while waiting and len(sources) <= _MOST_SOURCES:
        here = waiting.pop()
        try:
            with here.open("rb") as opened:
                text = opened.read(_MOST_SOURCE_BYTES).decode("utf-8", "replace")
        except OSError:
            text = ""
        named.update(_named_files(text, [here.parent, Path.cwd()]))
        for other in _imported_files(text, here):
            if other not in sources and not is_installed_code(other):
                sources.add(other)
                waiting.append(other)
    top = start.parent  # names are those from where the source is, so that a copied folder is the same system
    rests_on = sorted(
        [f.relative_to(top).as_posix() if f.is_relative_to(top) else f.name, file_hash(f)]
        for f in (sources | named) - {start}
        if f.is_file()
    )
    return [own, rests_on] if rests_on else own


def _named_files(text: str, folders: Sequence[Path]) -> Iterator[Path]:
    """The files and model folders that stand in quotes in a source: models, and settings if it writes no files."""
    kinds = (_MODELS,) if _WRITES.search(text) else (_MODELS, _SETTINGS)
    for name in dict.fromkeys(_QUOTED.findall(text)):
        for folder in folders:
            try:
                place = (folder / name).resolve()
                if place.is_file():
                    if any(kind.fullmatch(place.suffix) for kind in kinds):
                        yield place
                    break
                if place.is_dir() and any((place / mark).is_file() for mark in _FOLDERS):
                    inside = sorted(f for f in place.rglob("*") if f.is_file() and not f.name.startswith("."))
                    if len(inside) <= _MOST_FILES:
                        yield from inside
                    break
            except (OSError, ValueError):  # a text that can't be a path
                break


def _imported_files(text: str, file: Path) -> Iterator[Path]:
    """The source files that a Python source imports from its own folder or package, or from the current folder."""
    if file.suffix != ".py":
        return
    roots = [file.parent]
    while (roots[-1] / "__init__.py").is_file():
        roots.append(roots[-1].parent)
    for source, names, modules in _IMPORT.findall(text):
        places = [*roots, Path.cwd()]
        if source.startswith("."):
            level = len(source) - len(source.lstrip("."))
            places = [file.parents[level - 1]] if level <= len(file.parents) else []
            source = source.lstrip(".")
        inside = [f"{source}.{name}" if source else name for name in re.findall(r"\w+", names)] if names else []
        dotted = [source, *inside] if names else [part.split()[0] for part in modules.split(",") if part.split()]
        for module in dotted:
            parts = module.split(".")
            if not module or parts[0] in sys.stdlib_module_names:
                continue
            kinds = [[*parts[:-1], f"{parts[-1]}.py"], [*parts, "__init__.py"]]
            found = (place.joinpath(*kind) for place in places for kind in kinds)
            if (first := next((f for f in found if f.is_file()), None)) is not None:
                yield first.resolve()


_ID_BYTES = 16
_MOST_OBJECTS = 10_000  # in which something learnt is looked for


def qualified_name(function: Callable[..., Any]) -> str:
    """`module:qualname`; for an instance, its class's."""
    if isinstance(function, functools.partial):
        return f"partial of {qualified_name(function.func)}"
    named = function if hasattr(function, "__qualname__") else type(function)
    return f"{named.__module__}:{named.__qualname__}"


def fingerprint(function: Callable[..., Any]) -> str:
    """An id of a callable. It changes with its module's source, what was bound to it, and what its models learnt."""
    return content_id(_callable_parts(function), _ID_BYTES)


def _callable_parts(function: Callable[..., Any]) -> list[Json]:
    name = qualified_name(function)
    if isinstance(function, functools.partial):
        bound = []
        for value in (*function.args, *(x for pair in sorted(function.keywords.items()) for x in pair)):
            plain = isinstance(value, (str, int, float, bool, type(None), bytes, tuple, frozenset, FunctionType))
            bound.append(_setting_parts(value) if plain else learnt_state(value))
            if bound[-1] is None:
                raise UsageError(
                    f"{name} is bound to a {type(value).__qualname__}, whose content can't be identified. "
                    f"Name it: unswayed.open_system(…, identity='my-model-v1')."
                )
        return [name, _callable_parts(function.func), bound]
    if isinstance(function, FunctionType):
        source, known = _module_source(function.__module__), _global_values(function)
        # A file holds many lambdas and inner functions of the same name: their code tells them apart.
        if source and "<" not in function.__qualname__:
            return [name, source, known] if known else [name, source]
        return [name, source, *function_code(function), known]
    if isinstance(function, (type, BuiltinFunctionType)):
        return [name, _module_source(function.__module__)]
    # An instance: its class, and its state, which is numbers, texts, tuples of them, and what was learnt.
    instance = function.__self__ if isinstance(function, MethodType) else function
    cls = instance if isinstance(instance, type) else type(instance)
    methods = {name: value for name, value in sorted(vars(cls).items()) if isinstance(value, FunctionType)}
    code: Json = _module_source(cls.__module__) or {
        name: [*function_code(method), _global_values(method)] for name, method in methods.items()
    }
    learnt = None if isinstance(instance, System) else learnt_state(instance)
    state = {} if isinstance(instance, type) else getattr(instance, "__dict__", {})
    return [name, code, {str(n): _setting_parts(v) for n, v in sorted(state.items())} if learnt is None else learnt]


def _module_file(module: str) -> Path | None:
    """The file that a module came from; a module typed at a prompt has none."""
    file = getattr(sys.modules.get(module), "__file__", None)
    return Path(file) if file and Path(file).is_file() else None


def _module_source(module: str) -> Json:
    file = _module_file(module)
    return None if file is None else source_id(file)


def _global_values(function: FunctionType) -> dict[str, Json]:
    """What a function refers to: models by what they have learnt, and, at a prompt, also functions and settings."""
    known: dict[str, Json] = {}
    waiting, seen = [function], {function}
    while waiting:
        here = waiting.pop()
        in_file = _module_file(here.__module__) is not None  # its functions and settings are part of the source
        codes, names = [here.__code__], list[str]()  # also of the comprehensions and functions inside it
        while codes:
            code = codes.pop()
            names += code.co_names
            codes += [const for const in reversed(code.co_consts) if isinstance(const, CodeType)]
        for name in names:
            if name in known or name not in here.__globals__:
                continue
            value = here.__globals__[name]
            content = learnt_state(value) if in_file else _setting_parts(value)
            if content is not None:
                known[name] = content
            inside = isinstance(value, FunctionType) and value not in seen
            if inside and (value.__module__ == here.__module__ or not _module_file(value.__module__)):
                seen.add(value)
                waiting.append(value)
    return dict(sorted(known.items()))


def function_code(function: FunctionType) -> list[Json]:
    """What a function does, with what it was bound to."""
    cells = []
    for cell in function.__closure__ or ():
        try:
            cells.append(cell.cell_contents)
        except ValueError:  # it is not filled yet
            continue
    bound = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values(), *cells]
    return [_setting_parts(function.__code__), [_setting_parts(value) for value in bound]]


def _setting_parts(value: object) -> Json:
    """A setting, by content where it can't change by itself; of all else, such as a list that grows, the type."""
    if isinstance(value, (str, int, float, bool, type(None))):
        return [type(value).__name__, repr(value)]
    if isinstance(value, bytes):
        return ["bytes", value.hex()]
    if isinstance(value, tuple):
        return ["tuple", *map(_setting_parts, value)]
    if isinstance(value, frozenset):  # its order is the hash seed's
        return ["frozenset", *sorted(map(_setting_parts, value), key=repr)]
    if isinstance(value, CodeType):  # without what differs between processes
        return [value.co_code.hex(), [_setting_parts(const) for const in value.co_consts], list(value.co_names)]
    if isinstance(value, FunctionType):
        return [f"{value.__module__}:{value.__qualname__}", _setting_parts(value.__code__)]
    if (learnt := learnt_state(value)) is not None:
        return learnt
    return f"{type(value).__module__}.{type(value).__qualname__}"


def learnt_state(value: object) -> Json:
    """What an array or a model holds, also in lists, dicts and objects of one's own; None for anything else.

    A cache, a client or a log may change by itself.
    """
    try:
        return _learnt_in(value, set())
    except Exception:  # a proxy for something that is not there yet, whatever it raises when it is looked at
        return None


def _learnt_in(value: object, seen: set[int]) -> Json:
    if isinstance(value, (type, ModuleType, FunctionType, str, bytes, int, float, type(None))):
        return None
    if id(value) in seen or len(seen) > _MOST_OBJECTS:
        return None
    seen.add(id(value))
    if isinstance(value, MethodType):
        learnt = _learnt_in(value.__self__, seen)
        return None if learnt is None else [value.__name__, learnt]
    if isinstance(value, System):
        return value.identity
    if (torch := sys.modules.get("torch")) and isinstance(value, torch.nn.Module):
        digest = blake2b(digest_size=_ID_BYTES)
        for name, tensor in sorted(value.state_dict().items()):
            if callable(getattr(tensor, "detach", None)):
                content = home(tensor).contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()
                digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)} ".encode() + content)
        return [qualified_name(type(value)), digest.hexdigest()]
    if type(getattr(value, "model", None)).__module__.startswith("transformers."):  # a pipeline of transformers'
        return _learnt_in(value.model, seen)  # type: ignore[attr-defined]
    kind = type(value).__module__.partition(".")[0]
    if kind == "onnxruntime" and Path(graph := str(getattr(value, "_model_path", ""))).is_file():
        return file_hash(Path(graph))
    if kind in ("keras", "tensorflow", "tf_keras") and callable(weights := getattr(value, "get_weights", None)):
        return state_id(weights())
    learns = callable(getattr(value, "predict", None)) or callable(getattr(value, "get_params", None))
    if learns or _is_numpy(value, "ndarray"):
        return state_id(value)
    if isinstance(value, (list, tuple)):
        parts: dict[str, object] = {str(i): part for i, part in enumerate(value[:_MOST_OBJECTS])}
    elif isinstance(value, dict):
        parts = {str(name): part for name, part in islice(value.items(), _MOST_OBJECTS)}
    else:
        file = _module_file(type(value).__module__)
        if type(value).__module__ != "__main__" if file is None else is_installed_code(file):
            return None  # its class is not the user's own
        parts = dict(getattr(value, "__dict__", {}))
    found = {name: learnt for name, part in parts.items() if (learnt := _learnt_in(part, seen)) is not None}
    return dict(sorted(found.items())) or None


def _is_numpy(value: object, kind: str) -> bool:
    """There is none where numpy was not imported, which a worker then need not do either."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, getattr(numpy, kind))


_AGAIN = "…"  # an object inside itself
_ADDRESSES = ("_stop_words_id",)  # where scikit-learn notes an address in memory


def state_id(thing: object) -> str:
    """Changes with any parameter or learnt value, however deep; not with the order of keys or with addresses."""
    return content_id(_state_parts(thing, frozenset()), _ID_BYTES)


def _state_parts(value: Any, inside: frozenset[int]) -> Json:
    """`inside` are the ids of the objects that hold the value."""
    if isinstance(value, (str, int, float, bool, complex, type(None))) or _is_numpy(value, "generic"):
        return [type(value).__name__, repr(value)]
    if isinstance(value, bytes):
        return ["bytes", blake2b(value, digest_size=_ID_BYTES).hexdigest()]
    if isinstance(value, (type, BuiltinFunctionType)):
        return f"{value.__module__}:{value.__qualname__}"
    if isinstance(value, FunctionType):
        return [f"{value.__module__}:{value.__qualname__}", function_code(value)]
    if id(value) in inside:
        return _AGAIN
    inside |= {id(value)}
    kind = type(value).__name__
    if _is_numpy(value, "ndarray"):
        contiguous = sys.modules["numpy"].ascontiguousarray
        if value.dtype.names:  # a structure may have gaps, in which anything may stand
            content: Json = [[name, _state_parts(contiguous(value[name]), inside)] for name in value.dtype.names]
        elif value.dtype.hasobject:
            content = [_state_parts(item, inside) for item in value.ravel().tolist()]
        else:
            content = blake2b(contiguous(value).tobytes(), digest_size=_ID_BYTES).hexdigest()
        return ["array", value.dtype.str, list(value.shape), content]
    if type(value) in (list, tuple):
        return [kind, *(_state_parts(item, inside) for item in value)]
    if type(value) in (set, frozenset):
        return [kind, *sorted((_state_parts(item, inside) for item in value), key=repr)]
    if type(value) is dict:
        known = ((key, part) for key, part in value.items() if key not in _ADDRESSES)
        named_parts = ([_state_parts(key, inside), _state_parts(part, inside)] for key, part in known)
        return [kind, *sorted(named_parts, key=repr)]
    named = f"{type(value).__module__}:{type(value).__qualname__}"
    try:
        reduced = value.__reduce_ex__(2)  # what Python itself would copy the object by; nothing is called or loaded
    except Exception:  # a lock, a file: its type must do
        return [named, None]
    if isinstance(reduced, str):
        return [named, reduced]
    made, state, items, pairs = reduced[:2], *(*reduced[2:5], None, None, None)[:3]
    held = [list(items) if items is not None else None, dict(pairs) if pairs is not None else None]
    return [named, [_state_parts(part, inside) for part in (*made, state, *held)]]

"""The one grammar that opens whatever answers: models, metrics, recognisers, correctors, verifiers, judges."""

from __future__ import annotations

import inspect
import shlex
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from types import MethodType
from typing import Any, TypeVar, overload

import msgspec

from unswayed.base.errors import StoredFileError, UnknownName, UnswayedError, UsageError, nearest, option
from unswayed.base.ids import content_id
from unswayed.base.json import decode
from unswayed.base.own_code import traced, whole
from unswayed.base.registry import Registry, import_reference
from unswayed.base.secrets import masked_spec
from unswayed.base.values import Inputs, Json
from unswayed.systems import systems
from unswayed.systems.callable import CallableSystem, FittedModel
from unswayed.systems.device import chosen, using
from unswayed.systems.fingerprint import fingerprint
from unswayed.systems.model_folder import ModelFolder, trust_weights, trusted_hashes
from unswayed.systems.process import ProcessSystem
from unswayed.systems.prompted import Prompted
from unswayed.systems.suggestions import pickled, unknown_system, unpickled
from unswayed.systems.system import System

Options = Mapping[str, Any]
Spec = str | Callable[..., Any] | System
SPEECH = ("pocketsphinx", "whisper", "sherpa", "command")  # words that open a recogniser
_CHAT = ("prompt", "answers", "price_in", "price_out")  # options of a model at a URL
S = TypeVar("S", bound=System)


@overload
def open_system(spec: Spec, /, **options: Any) -> System: ...
@overload
def open_system(spec: Spec, kind: type[S], /, **options: Any) -> S: ...
def open_system(spec: Spec, kind: type[System] = System, /, **options: Any) -> System:
    """A system from a reference, a command, a folder, a name, a callable, or a system as it is.

    Example: `unswayed.open_system("hf:my-model/")`.

    `kind` is what it is to be asked as, such as `Metric`: its own names then come first, URLs and programs are
    spoken to as such, and any other system is adapted to it. `trust_weights` is an option of all: the SHA-256 of
    pickled weights, or several, that may be opened although that can run code. So are `device` (auto, cpu, cuda or
    mps) and `dtype` (auto, float32, float16 or bfloat16), for models that run here.
    """
    if "trust_weights" in options:
        with trust_weights(options.pop("trust_weights")):
            return open_system(spec, kind, **options)
    if "device" in options or "dtype" in options:
        with using(options.pop("device", None), options.pop("dtype", None)):
            return open_system(spec, kind, **options)
    if kind is not System:
        system = kind.opened(spec, options) if isinstance(spec, str) else None
        if system is None:
            system = open_system(spec, **options)
            system = system if isinstance(system, kind) else kind.adapted(system)
        if isinstance(spec, str):
            system.name, system.reference = masked_spec(spec), None
        return system
    if isinstance(spec, str):
        system = _opened(spec, options)
        system.reference = (
            spec,
            {
                **options,
                **({"trust_weights": trusted_hashes()} if trusted_hashes() else {}),
                **chosen().options(),
            },
        )
        return system
    system = _wrapped(spec, None, options)
    if system is not spec and (name := _importable(spec)):
        system.reference = name, options
    return system


def _opened(spec: str, options: Options) -> System:
    scheme, colon, rest = spec.partition(":")
    if colon and scheme in SCHEMES:
        return SCHEMES[scheme](rest, options)
    if scheme.partition("/")[0] in SPEECH:
        from unswayed.systems.recognise import Recogniser  # brings the client for URLs, which few need

        return open_system(spec, Recogniser, **options)
    registry = _registry(scheme)
    if colon and registry is not None:
        cls = registry.get(scheme)
        return _made(cls, spec, {**parameters_of(cls, scheme, rest), **options})
    if colon and not scheme.endswith(".py") and all(part.isidentifier() for part in scheme.split(".")):
        return _wrapped(_imported(spec), spec, options)
    if (Path(spec) / "system.json").is_file():
        return _load(Path(spec), options)
    if (Path(spec) / "config.json").is_file():
        return _open_model(Path(spec), options)
    if (Path(spec) / "config.cfg").is_file():
        return SCHEMES["spacy"](spec, options)
    if registry is not None:
        return _made(registry.get(spec), spec, options)
    raise unknown_system(spec)


def _registry(name: str) -> Registry[Any] | None:
    """The registry that has this name: that of systems, or that of metrics, which have no folder in their names."""
    from unswayed.systems.metrics import metrics

    return next((registry for registry in (systems, metrics) if name in registry), None)


def parameters_of(cls: type[System], name: str, text: str) -> dict[str, Any]:
    """What follows a registered name: `key=value,key=value`, or the system that it is put around."""
    known = inspect.signature(cls).parameters
    first = text.partition("=")[0]
    if "system" in known and first not in known:
        return {"system": text}
    told = dict(part.partition("=")[::2] for part in text.split(",") if part)
    wrong = next((key for key in told if key not in known), None)
    if wrong is not None and not _takes_any(known):
        raise UnknownName(f"parameter of {name}", wrong, known)
    return {key: _typed(known.get(key), name, key, value) for key, value in told.items()}


def _takes_any(parameters: Mapping[str, inspect.Parameter]) -> bool:
    return any(p.kind is p.VAR_KEYWORD for p in parameters.values())


def _typed(parameter: inspect.Parameter | None, name: str, key: str, text: str) -> Any:
    """A parameter's value from text: of the default's type, or, without one, JSON where it is such."""
    default = parameter.default if parameter else None
    if isinstance(default, str):
        return text
    try:
        if isinstance(default, (int, float)) and not isinstance(default, bool):
            return type(default)(text)
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text
    except ValueError as error:
        raise UsageError(f"{name} can't be made with {key}={text}: {error}.") from error


def _open_command(rest: str, options: Options) -> System:
    try:
        command = shlex.split(rest)
    except ValueError as error:
        raise UsageError(f"cmd:{rest} can't be split into words: {error}.") from error
    if not command:
        raise UsageError("cmd: needs a command, as in cmd:node answer.js.")
    return _made(ProcessSystem, f"cmd:{rest}", {"command": command, "name": f"cmd:{rest}", **options})


def _open_url(scheme: str, rest: str, options: Options) -> System:
    from unswayed.systems.url import ChatSystem, JsonSystem

    url, _, model = f"{scheme}:{rest}".partition("#")
    told = {"url": url, **({"model": model} if model else {}), **options}
    chats = [name for name in _CHAT if name in told]
    if chats and "model" not in told:
        raise UsageError(
            f"{_spelt(chats[0])} is for a server that chats as OpenAI's does, and that needs a model: add "
            f"{option('model')} with its name. Without a model, {url} is sent the inputs as JSON."
        )
    return _made(ChatSystem if "model" in told else JsonSystem, url, told)


def _open_hf(path: str, options: Options) -> System:
    folder = ModelFolder(path)
    if folder.kind is None:
        raise UsageError(
            f"{path} holds a {folder.architecture}, which answers nothing by itself. Train it: unswayed train hf."
        )
    return _made(systems.get(folder.kind), f"hf:{path}", {"path": path, **options})


def _open_model(folder: Path, options: Options) -> System:
    """A folder with a config.json: weights if it has some, else the graph."""
    graph = not list(folder.glob("model*.safetensors")) and any(folder.rglob("*.onnx"))
    return (_open_onnx if graph else _open_hf)(str(folder), options)


def _open_onnx(path: str, options: Options) -> System:
    from unswayed.systems.onnx._graph import OnnxFolder

    folder = OnnxFolder(path, options.get("file"))
    if folder.kind is None:
        raise UsageError(
            f"{path} holds a {folder.architecture}; of ONNX graphs, classifiers, taggers and readers can be asked."
        )
    return _made(systems.get(folder.kind), f"onnx:{path}", {"path": path, **options})


def _open_sklearn(path: str, options: Options) -> System:
    if pickled(path):
        raise unpickled(path)
    return _open_named("sklearn/skops", "sklearn", path, options)


def _open_named(name: str, scheme: str, path: str, options: Options) -> System:
    return _made(systems.get(name), f"{scheme}:{path}", {"path": path, **options})


def _open_logged(path: str, options: Options) -> System:
    from unswayed.systems.logged import LoggedSystem

    return _made(LoggedSystem, f"logged:{path}", {"path": path, **options})


def _open_judge(rest: str, options: Options) -> System:
    from unswayed.systems.judge import JudgeSystem

    own = {name: value for name, value in options.items() if name == "rubric"}
    others = {name: value for name, value in options.items() if name not in own}
    return _made(JudgeSystem, f"judge:{rest}", {"system": open_system(rest, **others), **own})


# What stands before the first colon → who opens the rest.
SCHEMES: dict[str, Callable[[str, Options], System]] = {
    "cmd": _open_command,
    "http": partial(_open_url, "http"),
    "https": partial(_open_url, "https"),
    "hf": _open_hf,
    "judge": _open_judge,
    "logged": _open_logged,
    "onnx": _open_onnx,
    "sklearn": _open_sklearn,
    "spacy": partial(_open_named, "spacy/pipeline", "spacy"),
}


def _imported(reference: str) -> object:
    try:
        return import_reference(reference)
    except UnswayedError:
        raise
    except (Exception, SystemExit) as error:  # the user's own module, whatever it raises
        raise UsageError(f"{reference} can't be imported:\n\n{traced(error)}\n\nFix the module.{whole()}") from error


def _importable(thing: object) -> str | None:
    """`module:name` where another process would find the same thing under it."""
    module, name = getattr(thing, "__module__", None), getattr(thing, "__qualname__", None)
    found: object = sys.modules.get(str(module)) if module != "__main__" else None
    for part in str(name).split("."):
        found = getattr(found, part, None)
    return f"{module}:{name}" if found is thing and thing is not None else None


def _wrapped(thing: object, name: str | None, options: Options) -> System:
    """A system, a class of systems, or anything that can be called, as a system."""
    shown = name or str(getattr(thing, "__qualname__", type(thing).__qualname__))
    if isinstance(thing, System):
        if options:
            raise UsageError(f"{shown} is made already and takes no options: {', '.join(options)}.")
        return thing
    if inspect.isclass(thing) and issubclass(thing, System):
        return _made(thing, name or "", options)
    if inspect.isclass(thing) and any("__call__" in vars(c) for c in thing.__mro__):
        thing = _call(thing, shown, {})
    if inspect.isclass(thing) and callable(getattr(thing, "predict", None)):
        raise UsageError(
            f"{shown} is a class. Make an object of it in its module, such as `model = {thing.__name__}()`, "
            f"and name that: {thing.__module__}:model."
        )
    if isinstance(thing, MethodType) and thing.__name__ == "predict" and hasattr(thing.__self__, "get_params"):
        thing = thing.__self__  # of a model like scikit-learn's, which reads texts or columns
    if corrects(thing):
        return _corrector(thing, shown, options)
    if kind := _known_object(thing):
        return _made(kind, shown, {"model": thing, "name": name, **options})
    if not callable(thing):
        raise UsageError(
            f"{name or 'The system'} is {thing!r:.60}, which can't be called. Give a function, a fitted model, or a "
            f"text such as module:function."
        )
    return _made(CallableSystem, shown, {"function": thing, "name": name, **options})


def corrects(thing: object) -> bool:
    """Does it correct texts as pycorrector's objects, or their classes, do?"""
    methods = ("correct_batch", "correct")
    return not isinstance(thing, System) and any(callable(getattr(thing, method, None)) for method in methods)


def _corrector(thing: Any, name: str, options: Options) -> System:
    """A library's corrector as a system of `{"text": …}`: all texts at once where it can, else one by one."""
    if inspect.isclass(thing):
        made = _call(thing, name, options)
        decides = [fingerprint(thing), options]
    elif options:
        raise UsageError(f"{name} is made already and takes no options: {', '.join(options)}.")
    else:
        made, decides = thing, [fingerprint(type(thing))]

    def answer(batch: list[Inputs]) -> list[Json]:
        if callable(getattr(made, "correct_batch", None)):
            return list(made.correct_batch([inputs["text"] for inputs in batch]))
        return [made.correct(inputs["text"]) for inputs in batch]

    return CallableSystem(answer, name=name, identity=f"{name} {content_id(decides, 16)}")


def _known_object(thing: object) -> type[System] | None:
    """The system for objects that are not simply called: pipelines of transformers', fitted ones with predict."""
    if any(f"{c.__module__}.{c.__qualname__}" == "transformers.pipelines.base.Pipeline" for c in type(thing).__mro__):
        from unswayed.systems.hf._pipeline import HfPipeline

        return HfPipeline
    if not callable(thing) and callable(getattr(thing, "predict", None)):
        return FittedModel
    return None


def _made(cls: type[System], name: str, options: Options) -> System:
    """An instance of the class, which knows all of the options."""
    parameters = inspect.signature(cls).parameters
    if "prompt" in options and "prompt" not in parameters and cls.prompted:
        prompt = options["prompt"]
        return Prompted(_made(cls, name, {k: v for k, v in options.items() if k != "prompt"}), prompt)
    if not _takes_any(parameters):
        unknown = [option for option in options if option not in parameters]
        if unknown:
            near = nearest(unknown[0], parameters)
            raise UsageError(
                f"{name or cls.__name__} has no option {', '.join(map(repr, unknown))}."
                + (f" Did you mean {near!r}?" if near else _offered(unknown[0], parameters))
            )
    missing = [
        p.name
        for p in parameters.values()
        if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD and p.name not in options
    ]
    if missing:
        raise UsageError(_train_first(cls, name) or f"{name or cls.__name__} needs {', '.join(missing)}.")
    system: System = _call(cls, name or cls.__name__, options)
    system.name = system.name or name
    return system


def _spelt(name: str) -> str:
    return option(name.replace("_", "-"))


def _offered(name: str, parameters: Iterable[str]) -> str:
    if name in ("model", *_CHAT):
        return f" {_spelt(name)} is for a URL, such as http://127.0.0.1:8000/v1."
    known = [p for p in parameters if p not in ("function", "command", "path", "url")]
    return f" It has: {', '.join(known) or 'none'}."


def _train_first(cls: type[System], name: str) -> str:
    if not hasattr(cls, "train"):
        return ""
    how = "`unswayed train`" if option("system").startswith("-") else f"{cls.__name__}.train(…), save it to a folder,"
    return f"{name or cls.__name__} has to be trained. Train one with {how} and name the folder."


def _call(cls: type[Any], name: str, options: Options) -> Any:
    try:
        return cls(**options)
    except UnswayedError:
        raise
    except (TypeError, ValueError) as error:
        raise UsageError(f"{name} can't be made with these options: {error}") from error


def _load(folder: Path, options: Options) -> System:
    if options:
        raise UsageError(f"{folder} is a saved system and takes no options: {', '.join(options)}.")
    file = folder / "system.json"
    try:
        name = str(decode(file.read_bytes())["system"])
    except (msgspec.MsgspecError, UnicodeDecodeError, KeyError, TypeError) as error:
        raise StoredFileError(f"{file}: this does not name its system ({error}). Train and save it again.") from error
    if name not in systems:
        raise StoredFileError(f"{file}: {UnknownName('system', name, systems.names(), 'unswayed list systems')}")
    return systems.get(name).load(folder)

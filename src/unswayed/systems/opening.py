"""The one grammar that opens whatever answers: models, metrics, recognisers, correctors, verifiers, judges."""

from __future__ import annotations

import inspect
import shlex
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from types import MethodType
from typing import Any, TypeVar, overload

import msgspec

from unswayed.base.errors import StoredFileError, UnknownName, UnswayedError, UsageError, nearest, option
from unswayed.base.ids import content_id, decode
from unswayed.base.own_code import debug_hint, own_traceback
from unswayed.base.registry import import_reference
from unswayed.base.secrets import masked_spec
from unswayed.base.values import Inputs, Json
from unswayed.systems import systems
from unswayed.systems.callable import CallableSystem, fingerprint
from unswayed.systems.clients import is_chat_client, model_of, require_model
from unswayed.systems.device import chosen, using
from unswayed.systems.model_folder import ModelFolder, trust_weights, trusted_hashes
from unswayed.systems.process import ProcessSystem
from unswayed.systems.runnable import RunnableSystem, is_runnable
from unswayed.systems.sklearn import FittedModel
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
        system = _open_spec(spec, options)
        trusted = {"trust_weights": trusted_hashes()} if trusted_hashes() else {}
        system.reference = (spec, {**options, **trusted, **chosen().options()})
        return system
    system = _open_object(spec, None, options)
    if system is not spec:
        # `module:name`, where another process would find the same thing under it.
        module, name = getattr(spec, "__module__", None), getattr(spec, "__qualname__", None)
        found: object = sys.modules.get(str(module)) if module != "__main__" else None
        for part in str(name).split("."):
            found = getattr(found, part, None)
        if found is spec:
            system.reference = f"{module}:{name}", options
    return system


def _open_spec(spec: str, options: Options) -> System:
    scheme, colon, rest = spec.partition(":")
    if colon and scheme in SCHEMES:
        return _open_scheme(scheme, rest, options)
    if scheme.partition("/")[0] in SPEECH:
        from unswayed.systems.recognise import Recogniser  # brings the client for URLs, which few need

        return open_system(spec, Recogniser, **options)
    from unswayed.systems.metrics import metrics

    # Metrics have no folder in their names.
    registry = next((registry for registry in (systems, metrics) if scheme in registry), None)
    if colon and registry is not None:
        cls = registry.get(scheme)
        return make_system(cls, spec, {**spec_parameters(cls, scheme, rest), **options})
    if colon and not scheme.endswith(".py") and all(part.isidentifier() for part in scheme.split(".")):
        try:
            thing = import_reference(spec)
        except UnswayedError:
            raise
        except (Exception, SystemExit) as error:  # the user's own module, whatever it raises
            raise UsageError(
                f"{spec} can't be imported:\n\n{own_traceback(error)}\n\nFix the module.{debug_hint()}"
            ) from error
        return _open_object(thing, spec, options)
    folder = Path(spec)
    card = folder / "system.json"
    if card.is_file() and options:
        raise UsageError(f"{folder} is a saved system and takes no options: {', '.join(options)}.")
    if card.is_file():
        try:
            name = str(decode(card.read_bytes())["system"])
        except (msgspec.MsgspecError, UnicodeDecodeError, KeyError, TypeError) as error:
            raise StoredFileError(
                f"{card}: this does not name its system ({error}). Train and save it again."
            ) from error
        if name not in systems:
            raise StoredFileError(f"{card}: {UnknownName('system', name, systems.names(), 'unswayed list systems')}")
        return systems.get(name).load(folder)
    if (folder / "config.json").is_file():  # weights if it has some, else the graph
        graph = not list(folder.glob("model*.safetensors")) and any(folder.rglob("*.onnx"))
        return _open_scheme("onnx" if graph else "hf", spec, options)
    if (folder / "config.cfg").is_file():
        return _open_scheme("spacy", spec, options)
    if registry is not None:
        return make_system(registry.get(spec), spec, options)
    # No text that opens a system: say the nearest one that would, or the forms that there are.
    # `module:function` for what was meant by my.answer, my.py:answer, src/my.py or my, if there is such a module.
    name = rest
    if scheme.endswith(".py"):
        module, name = scheme[:-3].strip("./").replace("/", "."), rest or "predict"
    elif colon:
        module = ""
    else:
        module, _, name = scheme.rpartition(".") if "." in scheme else (scheme, "", "predict")
    names = [*systems.names(), *metrics.names()]
    near = nearest(spec, names)
    if module and all(part.isidentifier() for part in [*module.split("."), name]):
        file = Path(*module.split("."))
        if file.with_suffix(".py").is_file() or (file / "__init__.py").is_file():
            near = f"{module}:{name}"
    what = f"The folder {spec!r} has no system.json." if folder.is_dir() else f"There is no system {spec!r}."
    if near:
        hint = f"Did you mean {near!r}?"
    elif folder.suffix.lower() in (".skops", *_PICKLES) and folder.is_file():
        hint = f"For a scikit-learn model, use sklearn:{spec}."
    else:
        hint = _FORMS.format(names=", ".join(names) or "none")
    raise UsageError(f"{what} {hint}")


def spec_parameters(cls: type[System], name: str, text: str) -> dict[str, Any]:
    """What follows a registered name: `key=value,key=value`, or the system that it is put around."""
    known = inspect.signature(cls).parameters
    if "system" in known and text.partition("=")[0] not in known:
        return {"system": text}
    given = dict(part.partition("=")[::2] for part in text.split(",") if part)
    wrong = next((key for key in given if key not in known), None)
    if wrong is not None and not any(p.kind is p.VAR_KEYWORD for p in known.values()):
        raise UnknownName(f"parameter of {name}", wrong, known)
    found: dict[str, Any] = {}
    for key, value in given.items():
        # Of the default's type, or, without one, JSON where it is such.
        default: Any = known[key].default if key in known else None
        number = isinstance(default, (int, float)) and not isinstance(default, bool)
        try:
            read = type(default) if number or isinstance(default, str) else msgspec.json.decode
            found[key] = read(value)
        except msgspec.DecodeError:
            found[key] = value
        except ValueError as error:
            raise UsageError(f"{name} can't be made with {key}={value}: {error}.") from error
    return found


SCHEMES = ("cmd", "http", "https", "hf", "judge", "logged", "onnx", "sklearn", "spacy")


def _open_scheme(scheme: str, rest: str, options: Options) -> System:
    """What `rest` names, by the scheme that stands before its colon."""
    name, given = f"{scheme}:{rest}", {"path": rest, **options}
    if scheme == "cmd":
        try:
            command = shlex.split(rest)
        except ValueError as error:
            raise UsageError(f"{name} can't be split into words: {error}.") from error
        if not command:
            raise UsageError("cmd: needs a command, as in cmd:node answer.js.")
        return make_system(ProcessSystem, name, {"command": command, "name": name, **options})
    if scheme in ("http", "https"):
        from unswayed.systems.http.client import JsonSystem
        from unswayed.systems.prompted import ChatSystem

        url, _, model = name.partition("#")
        given = {"url": url, **({"model": model} if model else {}), **options}
        chats = [name.replace("_", "-") for name in _CHAT if name in given]
        if chats and "model" not in given:
            raise UsageError(
                f"{option(chats[0])} is for a server that chats as OpenAI's does, and that needs a model: add "
                f"{option('model')} with its name. Without a model, {url} is sent the inputs as JSON."
            )
        return make_system(ChatSystem if "model" in given else JsonSystem, url, given)
    if scheme in ("hf", "onnx"):
        if scheme == "onnx":
            from unswayed.systems.onnx import OnnxFolder

            folder: ModelFolder = OnnxFolder(rest, options.get("file"))
            lacks = "; of ONNX graphs, classifiers, taggers and readers can be asked."
        else:
            folder, lacks = ModelFolder(rest), ", which answers nothing by itself. Train it: unswayed train hf."
        if folder.kind is None:
            raise UsageError(f"{rest} holds a {folder.architecture}{lacks}")
        return make_system(systems.get(folder.kind), name, given)
    if scheme == "judge":
        from unswayed.systems.prompted import JudgeSystem

        own = {key: value for key, value in options.items() if key == "rubric"}
        others = {key: value for key, value in options.items() if key != "rubric"}
        return make_system(JudgeSystem, name, {"system": open_system(rest, **others), **own})
    if scheme == "logged":  # by its name: data builds on systems, so that this module can't import from there
        return make_system(import_module("unswayed.data.logs").LoggedSystem, name, given)
    if scheme == "sklearn" and Path(rest).suffix.lower() in _PICKLES:
        new = f"{Path(rest).stem}.skops"
        load = f'"import joblib, skops.io as io; io.dump(joblib.load({rest!r}), {new!r})"'
        raise UsageError(
            f"{rest} is a pickle, and to open a pickle can run any code. If you trust the file, save the model with "
            f"skops:\n\n  pip install skops\n  python -c {load}\n\n"
            f"Then use sklearn:{new}. Or load the model in a function of your own, and use module:function."
        )
    return make_system(systems.get("sklearn/skops" if scheme == "sklearn" else "spacy/pipeline"), name, given)


def _open_object(thing: object, name: str | None, options: Options) -> System:
    """A system, a class of systems, or anything that can be called, as a system."""
    shown = name or str(getattr(thing, "__qualname__", type(thing).__qualname__))
    if isinstance(thing, System):
        if options:
            raise UsageError(f"{shown} is made already and takes no options: {', '.join(options)}.")
        return thing
    if inspect.isclass(thing) and issubclass(thing, System):
        return make_system(thing, name or "", options)
    if inspect.isclass(thing) and any("__call__" in vars(c) for c in thing.__mro__):
        thing = _construct(thing, shown, {})
    if inspect.isclass(thing) and callable(getattr(thing, "predict", None)):
        raise UsageError(
            f"{shown} is a class. Make an object of it in its module, such as `model = {thing.__name__}()`, "
            f"and name that: {thing.__module__}:model."
        )
    if is_chat_client(thing):
        from unswayed.systems.prompted import ChatSystem

        own = {"temperature": None} if model_of(thing) else {}  # it holds its own settings
        return make_system(ChatSystem, "", {"url": thing, **own, **options, "model": require_model(thing, options)})
    if is_runnable(thing):
        return make_system(RunnableSystem, shown, {"runnable": thing, "name": name, **options})
    if isinstance(thing, MethodType) and thing.__name__ == "predict" and hasattr(thing.__self__, "get_params"):
        thing = thing.__self__  # of a model like scikit-learn's, which reads texts or columns
    if any(callable(getattr(thing, method, None)) for method in ("correct_batch", "correct")):
        # A library's corrector, such as pycorrector's, or its class, as a system of `{"text": …}`.
        made: Any = thing
        decides: list[Json] = [fingerprint(thing if inspect.isclass(thing) else type(thing))]
        if inspect.isclass(thing):
            made, decides = _construct(thing, shown, options), [*decides, dict(options)]
        elif options:
            raise UsageError(f"{shown} is made already and takes no options: {', '.join(options)}.")

        def correct(batch: list[Inputs]) -> list[Json]:
            if callable(getattr(made, "correct_batch", None)):  # all at once where it can
                return list(made.correct_batch([inputs["text"] for inputs in batch]))
            return [made.correct(inputs["text"]) for inputs in batch]

        return CallableSystem(correct, name=shown, identity=f"{shown} {content_id(decides, 16)}")
    if any(f"{c.__module__}.{c.__qualname__}" == "transformers.pipelines.base.Pipeline" for c in type(thing).__mro__):
        from unswayed.systems.hf import HfPipeline

        return make_system(HfPipeline, shown, {"model": thing, "name": name, **options})
    if callable(thing):
        return make_system(CallableSystem, shown, {"function": thing, "name": name, **options})
    if callable(getattr(thing, "predict", None)):
        return make_system(FittedModel, shown, {"model": thing, "name": name, **options})
    raise UsageError(
        f"{name or 'The system'} is {thing!r:.60}, which can't be called. Give a function, a fitted model, or a "
        f"text such as module:function."
    )


def make_system(cls: type[System], name: str, options: Options) -> System:
    """An instance of the class, which knows all of the options."""
    parameters = inspect.signature(cls).parameters
    if "prompt" in options and "prompt" not in parameters and cls.prompted:
        from unswayed.systems.prompted import PromptedSystem

        others = {key: value for key, value in options.items() if key != "prompt"}
        return PromptedSystem(make_system(cls, name, others), options["prompt"])
    shown = name or cls.__name__
    unknown = [name for name in options if name not in parameters]
    if unknown and not any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        known = (
            ", ".join(p for p in parameters if p not in ("function", "command", "path", "url", "runnable")) or "none"
        )
        if near := nearest(unknown[0], parameters):
            hint = f"Did you mean {near!r}?"
        elif unknown[0] in ("model", *_CHAT):
            hint = f"{option(unknown[0].replace('_', '-'))} is for a URL, such as http://127.0.0.1:8000/v1."
        else:
            hint = f"It has: {known}."
        raise UsageError(f"{shown} has no option {', '.join(map(repr, unknown))}. {hint}")
    required = (p for p in parameters.values() if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD)
    missing = [p.name for p in required if p.name not in options]
    if missing and hasattr(cls, "train"):
        at_command_line = option("system").startswith("-")
        how = "`unswayed train`" if at_command_line else f"{cls.__name__}.train(…), save it to a folder,"
        raise UsageError(f"{shown} has to be trained. Train one with {how} and name the folder.")
    if missing:
        raise UsageError(f"{shown} needs {', '.join(missing)}.")
    system: System = _construct(cls, shown, options)
    system.name = system.name or name
    return system


def _construct(cls: type[Any], name: str, options: Options) -> Any:
    try:
        return cls(**options)
    except UnswayedError:
        raise
    except (TypeError, ValueError) as error:
        raise UsageError(f"{name} can't be made with these options: {error}") from error


_PICKLES = (".joblib", ".pkl", ".pickle", ".sav", ".p", ".pk", ".cloudpickle")

_FORMS = """A system is one of
  package.module:function   a function that takes a list of inputs and returns a list of outputs, or a fitted object
                            with predict, as scikit-learn's have, or a pipeline of transformers'
  cmd:COMMAND               a program that reads and writes JSON lines
  http(s)://HOST/PATH       a server; with a model, or PATH#MODEL, one that chats as OpenAI's does
  FOLDER                    a saved system, that is a folder with a system.json
  hf:FOLDER                 a Hugging Face model, or FOLDER alone where it has a config.json
  onnx:FOLDER               such a model as an ONNX graph, or FOLDER alone where it has nothing but the graph
  sklearn:FILE.skops        a scikit-learn model in a skops file
  spacy:FOLDER              a spaCy pipeline that was saved with to_disk, or FOLDER alone
  judge:SYSTEM              a system that says if two answers are the same: yes or no to a rubric
  logged:LOGS               answers that lm_eval or inspect logged, or JSON lines of inputs and outputs
  whisper:FOLDER            a recogniser of speech; also sherpa:FOLDER, sherpa/KIND:FOLDER, pocketsphinx and
                            command:COMMAND, a program that is run once for each file
  NAME                      a registered system: {names}
  NAME:key=value,key=value  a registered system with these parameters
  NAME:SYSTEM               a registered system around another one, as in mitigate/correct:FOLDER"""

"""What a text that opens no system was meant to be: the forms there are, and the nearest one that would work."""

from __future__ import annotations

from pathlib import Path

from unswayed.base.errors import UsageError, nearest
from unswayed.systems import systems

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


def pickled(path: str) -> bool:
    """Is it, by its name, a file that joblib or pickle wrote?"""
    return Path(path).suffix.lower() in _PICKLES


def unpickled(path: str) -> UsageError:
    """The refusal of a pickled model, with the lines that make another file of it."""
    new = f"{Path(path).stem}.skops"
    load = f'"import joblib, skops.io as io; io.dump(joblib.load({path!r}), {new!r})"'
    return UsageError(
        f"{path} is a pickle, and to open a pickle can run any code. If you trust the file, save the model with "
        f"skops:\n\n  pip install skops\n  python -c {load}\n\n"
        f"Then use sklearn:{new}. Or load the model in a function of your own, and use module:function."
    )


def unknown_system(spec: str) -> UsageError:
    from unswayed.systems.metrics import metrics

    names = [*systems.names(), *metrics.names()]
    near = _as_reference(spec) or nearest(spec, names)
    what = f"The folder {spec!r} has no system.json." if Path(spec).is_dir() else f"There is no system {spec!r}."
    if near:
        return UsageError(f"{what} Did you mean {near!r}?")
    if (Path(spec).suffix.lower() == ".skops" or pickled(spec)) and Path(spec).is_file():
        return UsageError(f"{what} For a scikit-learn model, use sklearn:{spec}.")
    return UsageError(f"{what} {_FORMS.format(names=', '.join(names) or 'none')}")


def _as_reference(spec: str) -> str | None:
    """`module:function` for what was meant by my.answer, my.py:answer, src/my.py or my, if there is such a module."""
    place, colon, name = spec.partition(":")
    if place.endswith(".py"):
        module, name = place[:-3].strip("./").replace("/", "."), name or "predict"
    elif colon:
        return None
    else:
        module, _, name = place.rpartition(".") if "." in place else (place, "", "predict")
    if not module or not all(part.isidentifier() for part in [*module.split("."), name]):
        return None
    file = Path(*module.split("."))
    return f"{module}:{name}" if file.with_suffix(".py").is_file() or (file / "__init__.py").is_file() else None

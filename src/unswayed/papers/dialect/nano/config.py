"""What a NANO training is told, as a TOML file says it."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, Literal

import msgspec

from unswayed.base import DataError

Format = Literal["reference", "source", "both"]


class Pretraining(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Acceptability: does a sentence belong to a language or dialect?

    `dialects` is the paper's λ: 1 takes dialect and language tags equally often, 0 only languages, 2 dialects twice as
    often. `weights` are how often tags are asked for, 1 where not named: with 6 for `zh-CN`, its own sentences have it
    in six of seven cases, and those of its only sister have it, wrongly, in six of seven. `agree` are the languages
    whose identified locale, where there is one, must agree with the region of the URL.
    """

    data: tuple[str, ...]
    dev: tuple[str, ...] = ()
    dialects: float = 1.0
    positive: float = 0.5
    weights: dict[str, float] = {}
    languages: tuple[str, ...] = ()  # only these, such as `pt` or `en-IN`; `paper` is Table 7; all where empty
    identify: str = ""  # `lid.176`, `module:function` from a text to a tag, or the name of a field that holds one
    split: bool = True  # texts into sentences
    agree: tuple[str, ...] = ("pt", "zh")
    hold: float = 0.05  # of the sentences for dev, where no dev is given
    rounds: int = 20  # of `steps` each; after a round the dev score is taken and a checkpoint left
    steps: int = 100
    batch_size: int = 32
    lr: float = 1e-4
    warm_up: int | None = None  # steps; the paper's are 10,000. None: a tenth of all, at most 200
    dropout: float | None = None  # the paper's is 0.1. None: the model's own
    patience: int = 1_000


class Finetuning(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Regression on people's ratings, in one of three input formats."""

    data: tuple[str, ...]
    dev: tuple[str, ...] = ()
    format: Format = "reference"
    hold: float = 0.1
    rounds: int = 20
    steps: int = 100
    batch_size: int = 32
    lr: float = 1e-4
    warm_up: int | None = None
    dropout: float | None = None
    patience: int = 1_000


class Config(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A model to start from, where to put the result, and one or both phases."""

    model: str
    to: str
    pretrain: Pretraining | None = None
    finetune: Finetuning | None = None
    length: int = 256  # tokens at most; 32 or more
    seed: int = 0
    threads: int = 1


def read_config(path: Path) -> Config:
    """The configuration in a file; paths in it are taken from the file's folder."""
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"the file can't be read ({error.strerror}).", path) from error
    except (ValueError, RecursionError) as error:  # also a number too long, brackets too deep
        raise DataError(f"this is not TOML: {error}.", path) from error
    try:
        config = msgspec.convert(given, Config)
    except msgspec.ValidationError as error:
        raise DataError(f"{error}.", path) from error
    _check(config, path)
    return _placed(config, path.parent)


def _check(config: Config, path: Path) -> None:
    if config.length < 32:
        raise DataError(f"length must be 32 tokens or more, not {config.length}.", path)
    if config.pretrain is None and config.finetune is None:
        raise DataError("there is neither [pretrain] nor [finetune], so there is nothing to train.", path)
    for name, phase in (("pretrain", config.pretrain), ("finetune", config.finetune)):
        if phase is None:
            continue
        if not phase.data:
            raise DataError(f"[{name}] names no data.", path)
        low = next((n for n in ("rounds", "steps", "batch_size") if getattr(phase, n) < 1), None)
        if low or phase.lr <= 0 or not 0 <= phase.hold < 1:
            raise DataError(
                f"[{name}] needs {low or 'lr above 0 and hold from 0 up to 1'}{' of 1 or more' * bool(low)}.", path
            )
        if (phase.warm_up or 0) < 0 or not 0 <= (phase.dropout or 0) < 1:
            raise DataError(f"[{name}] needs warm_up of 0 or more steps, and dropout from 0 up to 1.", path)
    if config.pretrain and (config.pretrain.dialects < 0 or not 0 < config.pretrain.positive < 1):
        raise DataError("[pretrain] needs dialects of 0 or more, and positive between 0 and 1.", path)
    if config.pretrain and not all(weight > 0 for weight in config.pretrain.weights.values()):
        raise DataError("[pretrain] needs weights above 0.", path)


def _placed(config: Config, folder: Path) -> Config:
    def phase(found: Any) -> Any:
        if found is None:
            return None
        return msgspec.structs.replace(
            found,
            data=tuple(str(folder / name) for name in found.data),
            dev=tuple(str(folder / name) for name in found.dev),
        )

    return msgspec.structs.replace(
        config,
        model=str(folder / config.model),
        to=str(folder / config.to),
        pretrain=phase(config.pretrain),
        finetune=phase(config.finetune),
    )

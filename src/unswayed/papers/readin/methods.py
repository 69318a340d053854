"""The systems of the READIN study: given, trained here, and each with every mitigation that it can have."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import cached_property
from pathlib import Path

from unswayed.base import Example, UsageError, guess_task, option_name
from unswayed.data import import_corpus
from unswayed.mitigate import EMBEDDED_CORRECTOR as EMBEDDED, Corrected, NoisyChannel, augment_examples
from unswayed.papers.readin.fold import Codes, Folded, fold_examples
from unswayed.papers.readin.layout import clean_file, part_file
from unswayed.papers.readin.reader import read_rows
from unswayed.papers.readin.transformer import CHARACTERS, TOKENS, Transformer
from unswayed.report import Given
from unswayed.run import Run, run_system
from unswayed.storage import Suite
from unswayed.systems import System, open_system, systems
from unswayed.vary import OperatorSpec, make_operator

PLAIN, CORRECTION = "plain", "correction"
NOISE = {"ada": "keyboard/homophone", "ada-simulated": "keyboard/pinyin"}
INDEXED = ("subchar-index", "subchar-index+ada")  # tokens that tell homophones apart, which only the transformer has
METHODS = (PLAIN, *NOISE, CORRECTION, "subchar", "subchar+ada", "subchar+ada-simulated", *INDEXED)
TRANSFORMER = "transformer"
MODELS = ("linear", TRANSFORMER)
_TRAINED = {"classify": "baselines/pair", "qa": "baselines/reader"}
_FOLDED = ("classify",)  # a reader's answers must stand in the paragraph, so it can't be asked about a folded one
_PEOPLE = 20  # simulated ones who type the noisy copies, each a share of them


class ReadinCorpus:
    """One corpus with its systems and what they answered; each is made when it is first needed and kept on disk."""

    def __init__(self, name: str, folder: Path, to: Path, given: Given) -> None:
        self.name, self.folder, self.to, self.given = name, folder, to, given
        self.seed, model = int(given.get("seed") or 0), given.get("model") or MODELS[0]
        if model not in MODELS:
            raise UsageError(f"{option_name('model')} takes {' or '.join(MODELS)}, not {model!r}.")
        first, _ = next(read_rows(clean_file(folder), strip=True))
        self.task = guess_task(first).name
        self.transforms = model == TRANSFORMER and self.task in _FOLDED

    def part(self, name: str) -> Path | None:
        return part_file(self.folder, name)

    def examples(self, part: Path) -> Iterator[Example]:
        return (example for example, _ in read_rows(part, strip=True))

    @cached_property
    def suite(self) -> Suite:
        print(f"{self.name}: making its test set", file=sys.stderr)
        return import_corpus(self.folder, self.to / "suites" / self.name, language="zh", overwrite=True)

    @cached_property
    def _given(self) -> dict[str, list[str]]:
        """The systems that were given for this corpus, by method: several are several trainings."""
        found: dict[str, list[str]] = {}
        for name, _, spec in (pair.partition("=") for pair in self.given.get("system") or ()):
            corpus, _, method = name.partition("+")
            if corpus == self.name:
                found.setdefault(method or PLAIN, []).append(spec)
        return found

    @property
    def trains(self) -> bool:
        return not self._given and self.task in _TRAINED and self.part("train") is not None

    @property
    def methods(self) -> list[str]:
        """What there is to compare: nothing where there is no system."""
        if self.trains:
            made = [m for m in METHODS if "subchar" not in m or self.task in _FOLDED]
            return [m for m in made if self._kept(m) and (m not in INDEXED or self.transforms)]
        found = [m for m in METHODS if m in self._given and self._kept(m)]
        corrects = PLAIN in found and CORRECTION not in found and self._kept(CORRECTION)
        return [*found, CORRECTION] if corrects else found

    def _kept(self, method: str) -> bool:
        """Was none of its parts left out by the user?"""
        return method == PLAIN or not set(method.split("+")) & set(self.given.get("without") or ())

    @cached_property
    def runs(self) -> dict[str, list[Run]]:
        """By method, one for each training."""
        return {method: [self._run(method, n) for n in range(self._trainings(method))] for method in self.methods}

    def _trainings(self, method: str) -> int:
        """Noisy copies are drawn again for each; a linear classifier without them is the same every time."""
        if method in self._given or (method == CORRECTION and PLAIN in self._given):
            return len(self._given.get(method) or self._given[PLAIN])
        drawn = self.task == "qa" or self.transforms or any(part in NOISE for part in method.split("+"))
        return int(self.given.get("seeds") or 3) if drawn else 1

    def _run(self, method: str, n: int) -> Run:
        print(f"{self.name}, {method}{f', training {n + 1}' if n else ''}: asking", file=sys.stderr)
        with closing(self._system(method, n)) as system:
            return run_system(self.suite, system, self._place("runs") / self.name / f"{method}{f'@{n}' if n else ''}")

    def _place(self, what: str) -> Path:
        return self.to / what / TRANSFORMER if self.transforms and not self._given else self.to / what

    def _system(self, method: str, n: int = 0) -> System:
        if method in self._given:
            return open_system(self._given[method][n])
        if method == CORRECTION:
            return Corrected(self._system(PLAIN, n), self._corrector())
        place = self._place("models") / f"{self.name}+{method}{f'@{n}' if n else ''}"
        if not (place / "system.json").is_file():
            print(f"{self.name}, {method}: training", file=sys.stderr)
            self._train(method, self.seed + n, place)
        if self.transforms:
            return Transformer.load(place)
        opened = open_system(str(place))
        return Folded(opened) if "subchar" in method else opened

    def _train(self, method: str, seed: int, place: Path) -> None:
        """The transformer is tested on the clean dev set after each epoch, and takes as many steps with ADA."""
        if not self.transforms:
            system = systems.get(_TRAINED[self.task])
            system.train(self._learnt(method, seed), self.task, seed=seed).save(place)  # type: ignore[attr-defined]
            return
        tokens, part = next((p for p in method.split("+") if p in TOKENS), CHARACTERS), self.part("dev")
        dev = None if part is None else list(self.examples(part))
        epochs = int(self.given.get("epochs") or Transformer.defaults.epochs)
        if any(p in NOISE for p in method.split("+")):
            epochs = -(-epochs // 2)
        Transformer.train(
            self._learnt(method, seed), dev, tokens=tokens, to=place, progress=True, seed=seed, epochs=epochs
        )

    def _learnt(self, method: str, seed: int) -> Iterable[Example]:
        """The training set; with ADA each example with a noisy copy; with SubChar and the linear model all folded."""
        part = self.part("train")
        assert part is not None
        examples: Iterable[Example] = self.examples(part)
        noise = next((NOISE[part] for part in method.split("+") if part in NOISE), None)
        if noise:
            operators = [make_operator(OperatorSpec(noise))]
            examples = augment_examples(examples, operators, seed, task=self.task, language="zh", people=_PEOPLE)
        folds = "subchar" in method and not self.transforms
        return fold_examples(examples, Codes("pinyin", index=False)) if folds else examples

    def _corrector(self) -> str:
        """The corrector that was given, or one that has learnt from the clean training texts, or the embedded one."""
        if self.given.get("corrector"):
            return str(self.given["corrector"])
        part = self.part("train")
        if part is None:
            return EMBEDDED
        place = self.to / "models" / f"{self.name}+corrector"
        if not (place / "system.json").is_file():
            print(f"{self.name}: training a corrector", file=sys.stderr)
            texts = (text for example in self.examples(part) for text in example.inputs.values())
            NoisyChannel.train(texts).save(place)
        return str(place)


def check_systems(given: Given, corpora: Mapping[str, object], names: Sequence[str]) -> None:
    """Raises where a system is given for a corpus or a mitigation that there is not."""
    for pair in given.get("system") or ():
        name, equals, _ = pair.partition("=")
        corpus, _, method = name.partition("+")
        if not equals or corpus not in names or (method or PLAIN) not in METHODS:
            raise UsageError(
                f"{option_name('system')} takes NAME=SYSTEM with a NAME of {', '.join(names)}, alone or with one of "
                f"+{', +'.join(METHODS[1:])} behind it, not {name!r}."
            )
        if corpus not in corpora:
            raise UsageError(
                f"{option_name('system')} {name}=…: the data has no {corpus}; it has {', '.join(corpora)}."
            )

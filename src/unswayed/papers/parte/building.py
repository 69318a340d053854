"""From a suite of candidate paraphrases to a set of pairs that can be trusted: filtered, then P′-H, P-H′ and P′-H′."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from unswayed.base import DataError, Example, NothingEvaluated, UsageError, Variant
from unswayed.papers.parte.filters import Counted, Paraphrase, Step, filtered
from unswayed.storage import Manifest, Suite, plan_id, write_suite
from unswayed.systems import System, ask

ENTAILED = ("entailed", "entailment", "yes", "true", "1")
NOT_ENTAILED = ("not_entailed", "not_entailment", "neutral", "contradiction", "unknown", "no", "false", "0")
BOTH = "both"


def candidates_of(suite: Suite) -> Iterator[Paraphrase]:
    """Every text of the suite's variants that is not the original's; where both texts were varied, each by itself."""
    for example, variants in suite.groups():
        for variant in variants:
            for field, text in variant.inputs.items():
                original = example.inputs.get(field)
                if variant.meaning == "same" and original is not None and text != original:
                    yield Paraphrase(example.row, example.id, field, original, text, variant.source, variant.draw)


def filter_suite(
    suite: Suite, steps: Sequence[Step], to: str | Path, overwrite: bool = False
) -> tuple[Suite, list[Counted]]:
    """A suite of the candidates that are left, one text varied in each, and the counts at each step."""
    left, counts = filtered(list(candidates_of(suite)), steps)
    if not left:
        table = ", ".join(f"{c.step} {c.candidates}" for c in counts)
        raise NothingEvaluated(f"No paraphrase is left ({table}).")
    made = _suite(suite, left, _alone, to, overwrite, ["filter", *(step.name for step in steps)])
    return made, counts


def build_suite(
    suite: Suite, to: str | Path, exclude: str | Path | None = None, overwrite: bool = False
) -> tuple[Suite, dict[str, int]]:
    """Pairs with the first text paraphrased, the second, and both, gold carried over; and how many of each.

    Of several paraphrases of one text the first is taken. `exclude` lists those whose gold people found not to
    hold any more: an example's id, a tab and the side (an input's name, or `both`) a line.
    """
    barred = set() if exclude is None else set(_excluded(Path(exclude), suite))

    def built(example: Example, own: Sequence[Paraphrase]) -> Iterator[Variant]:
        first: dict[str, Paraphrase] = {}
        for candidate in own:
            first.setdefault(candidate.field, candidate)
        sides = [{field: candidate} for field, candidate in sorted(first.items(), key=lambda item: item[0])]
        if len(first) > 1:
            sides.append(first)
        for side in sides:
            name = next(iter(side)) if len(side) == 1 else BOTH
            if (example.id, name) not in barred:
                inputs = example.inputs | {field: candidate.text for field, candidate in side.items()}
                note = "; ".join(f"{field}: {candidate.source}" for field, candidate in sorted(side.items()))
                yield Variant(
                    example.row, example.id, 0, f"side/{name}", "paraphrase", "same", inputs, example.gold, note
                )

    made = _suite(suite, list(candidates_of(suite)), built, to, overwrite, ["build", sorted(barred)])
    return made, made.sources()


_Make = Callable[[Example, Sequence[Paraphrase]], Iterator[Variant]]


def _alone(example: Example, own: Sequence[Paraphrase]) -> Iterator[Variant]:
    seen: dict[tuple[str, str], int] = {}
    for c in own:
        draw = seen.get((c.source, c.field), 0)
        seen[c.source, c.field] = draw + 1
        score = "" if c.score is None else f", rated {c.score:.0f}"
        inputs = example.inputs | {c.field: c.text}
        note = f"{c.field}{score}"
        yield Variant(example.row, example.id, draw, c.source, "paraphrase", "same", inputs, example.gold, note)


def _suite(
    suite: Suite,
    left: Sequence[Paraphrase],
    make: _Make,
    to: str | Path,
    overwrite: bool,
    decides: Iterable[object],
) -> Suite:
    by_row: dict[int, list[Paraphrase]] = {}
    for candidate in left:
        by_row.setdefault(candidate.row, []).append(candidate)

    def variants() -> Iterator[Variant]:
        for example in suite.examples():
            yield from make(example, by_row.get(example.row, []))

    old = suite.manifest
    manifest = Manifest(
        task=old.task,
        language=old.language,
        labels=old.labels,
        seed=old.seed,
        operators=old.operators,
        plan=plan_id("paraphrase", suite.id, list(decides)),
    )
    return write_suite(to, manifest, suite.examples, variants, overwrite)


def entails_by(system: System, fields: tuple[str, str] = ("premise", "hypothesis")) -> Callable[..., list[bool]]:
    """Whether the second text of each pair follows from the first, as a system says."""

    def entails(pairs: Sequence[tuple[str, str]]) -> list[bool]:
        outputs = ask(system, (dict(zip(fields, pair, strict=True)) for pair in pairs))
        failed = next((output.error for output in outputs if not output.ok), None)
        if failed is not None:
            raise UsageError(f"The verifier {system.name} has no answer: {failed}.")
        labels = [o.value.get("label") if isinstance(o.value, dict) else o.value for o in outputs]
        unknown = next((label for label in labels if str(label).lower() not in (*ENTAILED, *NOT_ENTAILED)), None)
        if unknown is not None or None in labels:
            raise UsageError(
                f"The verifier {system.name} answered {unknown!r:.60}. A verifier gets a premise and a hypothesis, and "
                f"answers one of {', '.join((*ENTAILED, *NOT_ENTAILED))}."
            )
        return [str(label).lower() in ENTAILED for label in labels]

    return entails


def _excluded(path: Path, suite: Suite) -> Iterator[tuple[str, str]]:
    """Pairs of an example's id and a side; raises for one that the suite does not have."""
    ids = {example.id for example in suite.examples()}
    first = next(iter(suite.examples()))
    sides = {*first.inputs, BOTH}
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"the file can't be read ({error}).", path) from error
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        id, _, side = line.strip("\r").rpartition("\t")
        if id not in ids or side not in sides:
            wanted = ", ".join(sorted(sides))
            raise DataError(f"this must be an example's id, a tab, and one of {wanted}: {line!r:.60}", path, number)
        yield id, side


def counted_rows(counts: Sequence[Counted]) -> list[dict[str, object]]:
    """The counts as rows of a table."""
    fields = sorted({field for count in counts for field in count.fields})
    return [
        {"step": c.step, "candidates": c.candidates, **{f: c.fields.get(f, 0) for f in fields}, "texts": c.texts}
        for c in counts
    ]

"""`unswayed survey`: utterances for people to judge, and what their answers say of each operator."""

from __future__ import annotations

import click

from unswayed.cli._options import (
    bootstrap_option,
    format_option,
    items_option,
    level_option,
    print_messages,
    print_values,
    seed_option,
)


@click.group("survey", short_help="Have people judge whether labels still hold.")
def command() -> None:
    """Check with people whether the labels of altered utterances are still reasonable."""


@command.command("export", short_help="Choose utterances to be judged.")
@click.argument("suites", nargs=-1, required=True, metavar="SUITE...")
@click.option("--per-operator", type=click.IntRange(min=1), default=12, show_default=True, help="Utterances each.")
@click.option("--controls", type=click.IntRange(min=0), default=12, show_default=True, help="Originals among them.")
@click.option("--groups", type=click.IntRange(min=1), default=2, show_default=True, help="Groups of people.")
@seed_option
@items_option
def export(suites: tuple[str, ...], per_operator: int, controls: int, groups: int, seed: int, to: str) -> None:
    """Choose altered utterances of SUITE... evenly by operator, suite and group, and originals as controls.

    \b
      unswayed survey export atis/ snips/ nlu_ed/ -o items.jsonl

    Each line of ITEMS is for one group: `utterance`, `marked` (with its slots in brackets), `slots` and `intent`. What
    people must not see, such as the operator, is in ITEMS' key file (`items.key.jsonl`).
    """
    from pathlib import Path

    from unswayed.collect import key_file
    from unswayed.papers.nature.survey import SurveyDesign, make_survey, write_survey
    from unswayed.storage.suite import Suite

    survey = make_survey([(path, Suite(path)) for path in suites], SurveyDesign(per_operator, controls, groups, seed))
    write_survey(survey, to)
    altered = sum(not key.control for key in survey.keys)
    click.echo(f"{altered} altered utterances and {len(survey.keys) - altered} controls in {to}", err=True)
    click.echo(f"What they are is in {key_file(Path(to))}: don't show it to annotators.", err=True)


@command.command("pairs", short_help="Pair human and simulated versions, to be judged for plausibility.")
@click.argument("human", metavar="HUMAN")
@click.argument("simulated", metavar="SIMULATED")
@click.option("--pairs", "count", type=click.IntRange(min=1), default=160, show_default=True, help="Pairs per family.")
@seed_option
@items_option
def pairs(human: str, simulated: str, count: int, seed: int, to: str) -> None:
    """Pair versions by people in the suite HUMAN with simulated ones of the same texts in the suite SIMULATED.

    \b
      unswayed suite import readin/afqmc_keyboard -o human/
      unswayed vary readin/afqmc_keyboard --with keyboard/pinyin -o simulated/
      unswayed survey pairs human/ simulated/ -o pairs.jsonl
      unswayed collect new study.toml --kind plausible --items pairs.jsonl
      unswayed collect export study.toml -o exported.jsonl
      unswayed survey prefer exported.jsonl

    This is READIN's section 3.3: annotators choose the version that is more likely what a person entered.
    """
    from unswayed.papers.readin.plausibility import make_pairs, write_pairs
    from unswayed.storage.suite import Suite

    made = make_pairs(Suite(human), Suite(simulated), count, seed)
    write_pairs(made, to)
    click.echo(f"{len(made.items)} pairs in {to}", err=True)


@command.command("prefer", short_help="How often people preferred the human version.")
@click.argument("answers", metavar="ANSWERS")
@format_option
def prefer(answers: str, format_: str) -> None:
    """Print, by family and operator, how often people chose the human version over the simulated one.

    ANSWERS is what `unswayed collect export` wrote for a `plausible` study of the pairs of `unswayed survey pairs`.

    \b
      unswayed survey prefer exported.jsonl
    """
    import msgspec

    from unswayed.papers.readin.plausibility import read_preferences

    found = read_preferences(answers)
    rows = found if format_ in ("json", "jsonl") else [msgspec.structs.asdict(row) for row in found]
    print_values(format_, rows)


@command.command("read", short_help="Summarise people's answers by operator.")
@click.argument("answers", metavar="ANSWERS")
@click.option("--items", metavar="ITEMS", help="The items, for answers written by hand; the key file is next to it.")
@click.option(
    "--min-control",
    type=click.FloatRange(0, 1),
    help="Leave out annotators who accept a smaller share of the controls.",
)
@level_option
@bootstrap_option
@format_option
def read(
    answers: str, items: str | None, min_control: float | None, level: float, bootstrap: int, format_: str
) -> None:
    """Print how many of the slots and intents people found reasonable, and how each person judged the controls.

    ANSWERS is what `unswayed collect export` wrote for a `labels` study of the items:

    \b
      unswayed survey export atis/ snips/ -o items.jsonl
      unswayed collect new study.toml --kind labels --items items.jsonl
      unswayed collect export study.toml -o exported.jsonl
      unswayed survey read exported.jsonl

    Answers of excluded people count nowhere. Lines written by hand are {"item": ID, "participant": NAME, "slots":
    "reasonable", "intent": "unreasonable"}; true and false work too, and null means no answer. They need --items.
    """
    import msgspec

    from unswayed.papers.nature.acceptance import read_acceptance
    from unswayed.stats import Resampling

    found = read_acceptance(answers, items, least_control=min_control, settings=Resampling(level, bootstrap))
    tables = ([msgspec.structs.asdict(row) for row in rows] for rows in (found.sets, found.participants))
    shown = [found] if format_ in ("json", "jsonl") else tables
    print_values(format_, *shown)
    print_messages(found.warnings)

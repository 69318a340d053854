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


_ACCESS = "[arrive]\nopen = true\n"


@command.command("make", short_help="Make a paper's human part, ready to be served.")
@click.argument("what", type=click.Choice(["nature", "readin", "readin-typing", "readin-speech"]))
@click.argument("suites", nargs=-1, required=True, metavar="SUITE...")
@click.option("--people", type=click.IntRange(min=2), default=10, show_default=True, help="People who will answer.")
@click.option("--contact", required=True, metavar="EMAIL", help="To whom people write to have answers deleted.")
@seed_option
@click.option("-o", "to", required=True, metavar="FOLDER", help="Where to put the study, its items and its database.")
def make(what: str, suites: tuple[str, ...], people: int, contact: str, seed: int, to: str) -> None:
    """Make the study that a paper had people answer, so that colleagues can answer it by a link.

    \b
    nature         12 utterances per operator of SUITE... and 12 controls, in two groups (Table 3)
    readin         160 pairs per family of the suites HUMAN SIMULATED (section 3.3)
    readin-typing  the texts of SUITE, typed by three people with different input methods
    readin-speech  the texts of SUITE, spoken by three people of different dialect groups

    \b
      unswayed survey make nature nature/suites/*/each --contact me@example.org -o survey/
      unswayed collect serve survey/study.toml           # people open /join
      unswayed survey read survey/study.toml             # with the paper's numbers; `survey prefer` for readin
    """
    from pathlib import Path

    from unswayed.collect.items import make_study
    from unswayed.collect.study import read_study, study_template
    from unswayed.storage.files import free, write_atomically
    from unswayed.storage.suite import Suite

    folder = Path(to)
    if not free(folder):
        raise click.UsageError(f"{to} exists. Choose another folder.")
    folder.mkdir(parents=True, exist_ok=True)
    study, opened = folder / "study.toml", [(path, Suite(path)) for path in suites]
    if what == "nature":
        from unswayed.papers.nature.survey import GROUP_QUESTION, SurveyDesign, make_survey, write_survey

        write_survey(make_survey(opened, SurveyDesign(seed=seed)), folder / "items.jsonl")
        text = study_template(study, "labels", strata=("1", "2"), gold_every=5) + GROUP_QUESTION  # 60 and 12 each
        text = text.replace("k = 3 ", f"k = {people // 2} ").replace('# by = "ime"  ', 'by = "group"  ')
    elif what == "readin":
        from unswayed.papers.readin.plausibility import make_pairs, write_pairs

        if len(opened) != 2:
            raise click.UsageError("Name two suites: HUMAN, then SIMULATED.")
        pairs = make_pairs(opened[0][1], opened[1][1], seed=seed)
        write_pairs(pairs, folder / "items.jsonl")
        share = -(-2 * len(pairs.items) // people)  # two people a pair, as in the paper
        text = study_template(study, "plausible", language="zh").replace("k = 3 ", "k = 2 ")
        text = text.replace("# per_person = 200", f"per_person = {share}")
    else:
        from unswayed.papers.readin.collection import study_of

        if len(opened) != 1:
            raise click.UsageError("Name one suite, whose texts people are to enter.")
        text = study_of("retype" if what == "readin-typing" else "read_aloud", study, str(Path(suites[0]).resolve()))
    write_atomically(study, f"{text}\n{_ACCESS}".replace("you@example.org", contact).encode())
    database, password, count = make_study(read_study(study))
    database.close()
    click.echo(f"{count} items in {study}. Serve it with `unswayed collect serve {study}`.", err=True)
    click.echo("The owner's password for /admin, shown this once:", err=True)
    click.echo(password)


def _exported(answers: str) -> str:
    """The file of answers; those of a study are exported beside it first."""
    from pathlib import Path

    if not answers.endswith(".toml"):
        return answers
    from unswayed.collect.database import open_database
    from unswayed.collect.export import answers_of
    from unswayed.collect.study import read_study
    from unswayed.storage import write_judgements

    study, to = read_study(answers), Path(answers).with_name("exported.jsonl")
    with open_database(study.place) as database:
        write_judgements(answers_of(study, database), to)
    return str(to)


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

    ANSWERS is what `unswayed collect export` wrote for a `plausible` study of the pairs of `unswayed survey pairs`, or
    the study's TOML file, whose answers are exported first.

    \b
      unswayed survey prefer exported.jsonl
    """
    import msgspec

    from unswayed.papers.readin.plausibility import read_preferences

    found = read_preferences(_exported(answers))
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

    ANSWERS is what `unswayed collect export` wrote for a `labels` study of the items, or the study's TOML file:

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
    from unswayed.papers.nature.tables import printed_shares
    from unswayed.stats import Resampling

    found = read_acceptance(_exported(answers), items, least_control=min_control, settings=Resampling(level, bootstrap))
    theirs = printed_shares()
    sets = [msgspec.structs.asdict(row) | theirs.get(row.name, {}) for row in found.sets]
    tables = (sets, [msgspec.structs.asdict(row) for row in found.participants])
    shown = [found] if format_ in ("json", "jsonl") else tables
    print_values(format_, *shown)
    print_messages(found.warnings)

"""`unswayed measure`: statistics of runs and of score files, computed anew without asking any system."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from unswayed.base.errors import UsageError
from unswayed.cli._options import (
    ENGINE,
    MEASURE,
    ONE_RUN,
    bootstrap_option,
    format_option,
    level_option,
    plan_from,
    plan_options,
    print_messages,
    print_values,
)


@click.group("measure", short_help="Measure a finished run again, with other scores or levels.")
def command() -> None:
    """Compute measures from stored outputs. No system runs."""


@command.command("run", short_help="Measure a run again.")
@click.argument("run", metavar="RUN")
@plan_options(MEASURE, ONE_RUN, "gate.allow_missing", ENGINE)
@format_option
def run_command(run: str, format_: str, **given: Any) -> int:
    """Print the measures of RUN.

    \b
      unswayed measure run run/ --score macro_f1 --level 0.99
    """
    from unswayed.measure.gates import judge
    from unswayed.run.record import Run

    verdict = judge(Run(run), plan_from(None, given))
    print_values(format_, verdict.results)
    print_messages(verdict.warnings)
    return verdict.exit_code


@command.command("error-rate", short_help="How far a suite's variants are from their examples, by characters.")
@click.argument("suite", metavar="SUITE")
@level_option
@format_option
def error_rate_command(suite: str, level: float, format_: str) -> None:
    """Print the character error rates of SUITE's variants, of all and of each family.

    \b
      unswayed measure error-rate suite/

    A variant's error rate is its Levenshtein distance from the original over the original's length. `average` is the
    mean over examples of their variants' mean, `worst` of their variants' highest; 0.2 is 20%.
    """
    from unswayed.measure.files import suite_error_rates
    from unswayed.storage.suite import Suite

    opened = Suite(suite)
    families = sorted({variant.family for variant in opened.variants()})
    rates = {family or "all": suite_error_rates(opened, family, level)._asdict() for family in [None, *families]}
    rows = [{"variants": name, **found} for name, found in rates.items()]
    print_values(format_, rates if format_ == "json" else rows)


@command.command("mixed", short_help="Mixed-effects regression of scores on conditions.")
@click.argument("table", metavar="TABLE")
@click.option("--example", default="id", show_default=True, help="Column that names the example.")
@click.option("--condition", default="condition", show_default=True, help="Column that names the condition.")
@click.option("--score", default="score", show_default=True, help="Column with the score.")
@click.option("--reference", help="Condition to compare with. Default: the first by name.")
@level_option
@format_option
def mixed_command(table: str, example: str, condition: str, score: str, format_: str, **given: Any) -> None:
    """Regress the scores of TABLE on their conditions, with a random intercept for each example.

    TABLE is a CSV or TSV file with a header and a row for each score. Coefficients are differences from the
    reference condition, estimated by REML. Standard errors, intervals and p-values let each condition have its own
    variance: the paired t-test if every example has one score under every condition, and the jackknife over examples
    with Satterthwaite's degrees of freedom if scores are missing. p_holm corrects for the number of conditions.
    pooled_se is the standard error that R's lme4 prints. A score that is empty or NaN is missing, and counted.

    \b
      unswayed measure mixed scores.csv --example id --condition condition --score score --format json
    """
    from unswayed.data import read_score_table
    from unswayed.measure.paired import mixed_effects

    found = mixed_effects(*read_score_table(Path(table), example, condition, score), **given)
    if format_ == "json":
        print_values(format_, found)
    else:
        rows = {f"{found.reference} (intercept)": found.intercept, **found.coefficients}
        print_values(format_, [{"condition": name, **_plain(one)} for name, one in rows.items()])
        variance = ", ".join(f"{name} {value:.6g}" for name, value in found.variance.items())
        click.echo(f"{found.method}; {found.examples} examples, {found.n} scores; variance: {variance}", err=True)
    if found.missing:
        click.echo(f"{found.missing} scores of {table} are missing or no finite number; they are left out.", err=True)
    if found.incomplete:
        click.echo(f"{found.incomplete} examples of {table} lack a condition; the others' scores count.", err=True)


@command.command("darr", short_help="Agreement of a metric with people, as WMT20 counts it.")
@click.argument("human", metavar="HUMAN")
@click.argument("metric", metavar="METRIC")
@click.option("--difference", type=float, default=25.0, show_default=True, help="Raw points that make a preference.")
@level_option
@bootstrap_option
@format_option
def darr_command(human: str, metric: str, difference: float, level: float, bootstrap: int, format_: str) -> None:
    """Compare the scores of METRIC with people's direct assessments in HUMAN.

    Both are tables with a header: system (SYS), segment (SID) and a score (RAW.SCR, or SCORE), separated by commas,
    tabs or blanks. daRR takes the pairs of translations of one segment whose raw scores are at least 25 apart;
    systems named Human… are left out. `tau` is (concordant - discordant) / pairs; a tie of the metric is discordant.
    Its interval resamples segments. Pearson and Kendall (tau-b) are over segments and over systems.

    \b
      unswayed measure darr human.csv metric.csv --format json
    """
    from unswayed.measure.metric_check import darr
    from unswayed.stats import Resampling

    found = darr(human, metric, Resampling(level, bootstrap), difference)
    print_values(format_, found if format_ == "json" else [_plain(found)])
    if found.missing:
        click.echo(f"{found.missing} pairs have no score in {metric}; they are left out.", err=True)


@command.command("judge", short_help="Agreement of a judge with people, and scores corrected by people.")
@click.argument("people", metavar="PEOPLE", required=False)
@click.option("--equivalent", metavar="RULE", help="judge:SYSTEM, or any other rule, as in `run --equivalent`.")
@click.option("--rubric", metavar="FILE", help="The judge's prompt, as in `run --rubric`.")
@click.option(
    "--threshold", type=float, default=75.0, show_default=True, help="Rating from which people find two texts the same."
)
@level_option
@click.option("-o", "to", metavar="FILE", help="Write the result here, for `report --agreement FILE`.")
@click.option("--swap", is_flag=True, help="Also ask about each pair the other way round: twice the calls.")
@click.option("--vary", is_flag=True, help="Ask again, and in another order, length, layout, …: eight times the calls.")
@click.option("--pairs", "pairs_to", metavar="FILE", help="Write the pairs and both verdicts here, as rows to vary.")
@click.option(
    "--correct",
    "runs",
    metavar="RUN",
    multiple=True,
    help="Correct the scores of RUN for the judge's errors. Give it twice to compare two runs.",
)
@click.option("--cluster", metavar="FIELD", help="With --correct: as in `run`. Default: the suite's.")
@format_option
def judge_command(
    people: str | None, to: str | None, format_: str, runs: tuple[str, ...], cluster: str | None, vary: bool,
    **given: Any,
) -> None:  # fmt: skip
    """Compare a judge with PEOPLE: what `collect export` wrote for a `same_meaning` study.

    \b
      unswayed measure judge people.jsonl --equivalent judge:my:judge -o agreement.json
      unswayed report run/ --equivalent judge:my:judge --agreement agreement.json

    PEOPLE may also be JSON lines or CSV with the columns reference, answer, and same (true or false) or similarity
    (0 to 100); person, question and source are optional. `agreement` is the share of pairs on which the judge and
    the mean of people's ratings say the same, and kappa the same beyond chance. For comparison, it prints how often
    the judge agrees with one person, and how often two people agree. Intervals are for original texts like these.
    --swap shows position bias: the share of verdicts that change if the two answers change places.

    --vary puts the judge under variation in one command. It prints the share of verdicts that change if the judge is
    asked again, if the two answers change places, if the answer is longer, in another layout, more polite or mistyped,
    and if the rubric is worded differently. PEOPLE then needs reference and answer only.

    \b
      unswayed measure judge people.jsonl --equivalent judge:my:judge --vary

    The rows of --pairs put the judge itself to the test, with people's verdicts as labels:

    \b
      unswayed vary pairs.jsonl --field answer --with keyboard/adjacent -o judged/
      unswayed run judged/ --system judge:my:judge -o judged-run/

    With -o, the judge's answers are stored in FILE.sqlite, so that the judge gets no pair twice.

    PEOPLE may also be a log of verdicts that a judge gave. Then --equivalent is not needed. Verdicts on single answers
    are JSON lines with verdict (true or false) and, in some, label. Of two answers, they are JSON lines with decision,
    decision_swapped and label, each A>B, B>A or A=B (or A, B, tie); or a row for each order, with pair_id and swapped.
    It prints how often the judge is right, its position bias, and the share that is right, or of pairs in which A is
    better, corrected by the rows that have a label.

    --correct prints the scores of a run with the judge's errors corrected by PEOPLE (prediction-powered inference,
    PPI++), the judge's own scores, and those of people's labels alone. PEOPLE must have compared a random sample of
    the run's answers. Without PEOPLE, it prints how many labels are worth asking for:

    \b
      unswayed measure judge --equivalent judge:my:judge --correct run/
      unswayed collect items same_meaning --run run/ --limit 100 -o items.jsonl
      unswayed measure judge people.jsonl --equivalent judge:my:judge --correct run/
    """
    from unswayed.measure.judging import judge_agreement, save_agreement

    if people is not None and not runs and not given["equivalent"]:
        from unswayed.measure.preferences import Preferences, has_preferences, judge_preferences
        from unswayed.measure.verdicts import has_verdicts, read_verdicts

        pairwise = has_preferences(people)
        if pairwise or has_verdicts(people):
            unused = {"-o": to, "--swap": given["swap"], "--pairs": given["pairs_to"], "--rubric": given["rubric"]}
            if wrong := [name for name, value in unused.items() if value]:
                raise UsageError(f"{wrong[0]} has no use with a table of decisions: no judge is asked.")
            log = judge_preferences(people, given["level"]) if pairwise else read_verdicts(people, given["level"])
            rows = log.rows() if isinstance(log, Preferences) else log.table()
            print_values(format_, *([log] if format_ == "json" else [[row] for row in rows]))
            for sentence in log.sentences():
                click.echo(sentence, err=True)
            return
    if not given["equivalent"]:
        raise UsageError("Choose the judge with --equivalent, such as --equivalent judge:my:judge.")
    if vary:
        if people is None or runs or given.pop("swap") or given.pop("pairs_to"):
            raise UsageError("--vary takes PEOPLE, --equivalent and --rubric. Run the command once more for the rest.")
        _print_varied(people, to, format_, **given)
        return
    if runs:
        unused = {"-o": to, "--swap": given.pop("swap"), "--pairs": given.pop("pairs_to")}
        if wrong := [name for name, value in unused.items() if value]:
            raise UsageError(f"{wrong[0]} has no use with --correct. Run the command once without --correct for it.")
        _print_corrected(people, runs, format_, cluster=cluster, **given)
        return
    if people is None:
        raise UsageError("Name the file PEOPLE, or use --correct RUN to plan how many labels to ask for.")
    if cluster is not None:
        raise UsageError("--cluster has no use without --correct.")
    found = judge_agreement(people, store=None if to is None else f"{to}.sqlite", **given)
    if to is not None:
        save_agreement(found, to)
    print_values(format_, found if format_ == "json" else found.rows())
    click.echo(found.sentence(), err=True)


def _print_varied(people: str, to: str | None, format_: str, **given: Any) -> None:
    from pathlib import Path

    import msgspec

    from unswayed.measure.judge_variation import judge_variation
    from unswayed.storage.files import write_atomically

    found = judge_variation(people, store=None if to is None else f"{to}.sqlite", **given)
    if to is not None:
        write_atomically(Path(to), msgspec.json.format(msgspec.json.encode(found), indent=1) + b"\n")
    print_values(format_, found if format_ == "json" else found.rows())
    for sentence in found.sentences():
        click.echo(sentence, err=True)


def _print_corrected(people: str | None, runs: tuple[str, ...], format_: str, **given: Any) -> None:
    from unswayed.measure.correcting import correct_runs, plan_labels

    if people is None:
        given.pop("threshold")
        plans = [plan_labels(run, **given) for run in runs]
        print_values(format_, *(plan if format_ == "json" else plan.table() for plan in plans))
        for plan in plans:
            click.echo(plan.sentence(), err=True)
        return
    found, differences = correct_runs(people, runs, **given)
    if format_ == "json":
        print_values(format_, {"runs": found, "differences": differences})
    else:
        rows = [row for one in found for row in one.rows()]
        print_values(format_, rows + [one.row(found[0].run, found[1].run) for one in differences])
    for one in found:
        for sentence in one.sentences():
            click.echo(sentence if len(found) == 1 else f"{one.run}: {sentence}", err=True)


@command.command("power", short_help="What a run could detect, or how many sentences a study needs.")
@click.option("--from", "run", metavar="RUN", help="Print what this run could have detected, and what would help most.")
@click.option("--wins", type=float, help="Win rate to find against a coin, such as 0.55.")
@click.option("--difference", type=float, help="Difference of means to find; needs --sd.")
@click.option("--sd", type=float, help="Standard deviation of the differences, example by example.")
@click.option("--alpha", type=float, default=0.05, show_default=True, help="Level of the test.")
@click.option("--power", "wanted", type=float, default=0.8, show_default=True, help="Wanted chance of finding it.")
@click.option("--tests", type=click.IntRange(min=1), default=1, show_default=True, help="Tests to correct for.")
@click.option("--correlation", type=float, default=0.5, show_default=True, help="With --from: of two systems' scores.")
@click.option("--limit", type=float, help="With --from: flips are to be shown above this share. Default: 0.02.")
@click.option("--cluster", metavar="FIELD", help="With --from: as in `run`. Default: the suite's.")
@format_option
def power_command(
    run: str | None, correlation: float, wins: float | None, difference: float | None, sd: float | None, alpha: float,
    wanted: float, tests: int, limit: float | None, cluster: str | None, format_: str,
) -> None:  # fmt: skip
    """Print how many sentences a study needs, by the exact binomial test (one-tailed) or by paired means.

    With --from, print the least drop, share of flips and difference between two systems that RUN could have detected,
    and the same with twice the examples and twice the draws or people. It uses the variances of RUN. Drops and
    differences are told from zero, flips from --limit.

    \b
      unswayed measure power --from run/
      unswayed measure power --wins 0.55
      unswayed measure power --difference 0.5 --sd 4 --tests 5
    """
    from unswayed.measure.paired import pairs_for_difference, pairs_for_wins

    if run is not None:
        from unswayed.measure import measure_run

        results = measure_run(run, {"measure": {"sanity": False, "cluster": cluster}})
        found = results.power(1 - alpha / tests, wanted, correlation, limit)
        print_values(format_, found if format_ == "json" else found.rows())
        return
    if limit is not None or cluster is not None:
        raise UsageError(f"{'--limit' if limit is not None else '--cluster'} has no use without --from.")
    needed = {}
    if wins is not None:
        needed["wins"] = pairs_for_wins(wins, alpha / tests, wanted)
    if difference is not None and sd is not None:
        needed["difference"] = pairs_for_difference(difference, sd, alpha / tests, wanted)
    if not needed:
        raise UsageError("Choose what to detect: --wins, --difference with --sd, or --from RUN.")
    rows = [{"find": name, "sentences": n} for name, n in needed.items()]
    print_values(format_, needed if format_ == "json" else rows)


def _plain(struct: Any) -> dict[str, Any]:
    """A flat row of a struct, with what lies inside it as `outer.inner`."""
    import msgspec

    row: dict[str, Any] = {}
    for name, value in msgspec.to_builtins(struct).items():
        if isinstance(value, dict):
            row |= {f"{name}.{inner}": one for inner, one in value.items()}
        elif name != "signature":
            row[name] = value
    return row

"""`unswayed run`: ask a system about a suite, measure, and hold the result against what was asked of it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from functools import partial
from time import monotonic
from typing import Any

import click

from unswayed.cli._options import (
    ASKING,
    DEVICE,
    ENGINE,
    GATE,
    MEASURE,
    ONE_RUN,
    format_option,
    key_values,
    plan_from,
    plan_option,
    plan_options,
    print_messages,
    secret_option,
    trust_option,
    write_besides,
)
from unswayed.run.plan import Plan, plan_of


@click.command("run", short_help="Run a system on a suite and measure what changed.")
@click.argument("suite", required=False, metavar="SUITE")
@plan_options("run.system run.options run.name")
@click.option("--model", metavar="NAME", help="For a URL: the model to chat with there, as OpenAI's API does.")
@click.option("--prompt", metavar="FILE", help="For a model: the prompt, with {INPUT} where a text of that name goes.")
@click.option(
    "--answers",
    metavar="SAID=OUTPUT,…",
    help="For a chat model: map its replies to outputs, such as yes=entailed,no=neutral.",
)
@click.option("--key-env", metavar="NAME", help="For a URL: the environment variable that holds the key.")
@click.option("--insecure", is_flag=True, default=None, help="Send the key over http to another machine.")
@click.option("--price-in", type=click.FloatRange(min=0), help="For a model: cost of a million tokens that it reads.")
@click.option("--price-out", type=click.FloatRange(min=0), help="For a model: cost of a million that it writes.")
@plan_options("run.judge_price_in run.judge_price_out run.budget")
@click.option(
    "--estimate", is_flag=True, help="Send the requests of up to 20 examples, print what the rest will cost, and stop."
)
@plan_options(*(f"run.asking.{name}" for name in ASKING.split()), DEVICE, ENGINE, MEASURE, ONE_RUN, GATE)
@plan_options("run.limit run.stop_when run.repeats run.fresh")
@click.option("--junit", type=click.Path(dir_okay=False), help="Also write JUnit XML for a CI server.")
@secret_option
@trust_option
@plan_option
@click.option("-o", "to", required=True, metavar="RUN", help="The folder of the run. A stopped run resumes in it.")
@format_option
def command(
    suite: str | None, to: str, plan_file: str | None, format_: str, junit: str | None, estimate: bool, **given: Any
) -> int:
    """Run SYSTEM on every example and variant in SUITE, save the outputs in RUN, and print the results.

    \b
      unswayed run suite/ --system my_module:predict -o run/
      unswayed run suite/ --system "cmd:node my_system.js" -o run/ --concurrency 2
      unswayed run suite/ --system model/ -o run/ --workers 4
      unswayed run suite/ --system http://127.0.0.1:8000/v1 --model NAME --prompt nli.txt -o run/ --concurrency 32
      unswayed run suite/ --system onnx:graph/ -o run/
      unswayed run suite/ --system my_module:predict -o run/ --fail-under worst=0.60 --max-drop 0.10 --gate-on at-worst

    `predict` takes a list of input mappings and returns a list of outputs. Each output is saved as it arrives. After
    Ctrl-C or a crash, rerun the command to resume. Before unswayed reuses stored outputs, it checks a few of them: if
    SYSTEM now answers differently, the command fails. With a plan that has [data] and [vary], leave out SUITE:
    unswayed makes it in RUN/suite.
    """
    import msgspec

    from unswayed.api import carry_out, estimate_cost
    from unswayed.report.again import commands
    from unswayed.report.junit import write_junit
    from unswayed.report.tables import gates_first, render, used_sentences

    began = monotonic()
    with _results_apart():
        plan = _plan(suite, plan_file, given)
        verdict: Any = estimate_cost(plan, to) if estimate else carry_out(plan, to)
    if estimate:
        content = msgspec.json.format(msgspec.json.encode(verdict), indent=2 if format_ == "json" else 0).decode()
        click.echo(content if format_ in ("json", "jsonl") else verdict.sentence)
        return 0
    run = verdict.results.run
    session, used = run.session, run.used()
    more = {"asked": session.asked, "reused": session.reused}
    more |= {"used": used, "used_now": session.used} if used else {}
    rendered = render(verdict.results, format_, more=more)
    click.echo(gates_first(rendered, verdict.gates) if format_ == "md" else rendered)
    print_messages(gate.sentence for gate in verdict.gates if format_ != "md")
    print_messages([session.sentence[:1].upper() + session.sentence[1:] + ".", *verdict.warnings])
    print_messages(used_sentences(used, session))
    if lines := commands(run):
        click.echo(f"To make it again: {' && '.join(lines)}", err=True)
    write = partial(write_junit, junit or "", verdict.results, verdict.gates, monotonic() - began)
    return write_besides(verdict.exit_code, write) if junit else int(verdict.exit_code)


@contextmanager
def _results_apart() -> Iterator[None]:
    """What a system prints, also past Python, goes to standard error: it must not stand among the results."""
    with suppress(OSError, ValueError):
        sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        # a file of its own: a system that closes its output must not close ours
        with open(os.dup(2), "w", buffering=1, errors="backslashreplace") as apart, redirect_stdout(apart):
            yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


def _plan(suite: str | None, plan_file: str | None, given: dict[str, Any]) -> Plan:
    """The plan with what options say, some of which are options of the system."""
    from unswayed.report.again import FLAGS

    named = {name: given[name] for name in FLAGS if given[name] is not None}
    options = plan_of(plan_file).run.options | key_values(given["run__options"], "--option") | named
    return plan_from(plan_file, given, {"run": {"suite": suite, "options": options}})

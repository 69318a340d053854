"""The plan: one place for options, whoever gives them, and the order in which they override each other."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import click
import msgspec
import pytest

import unswayed
from unswayed.base.errors import UsageError
from unswayed.base.options import options_of
from unswayed.cli import unswayed as command
from unswayed.run.plan import KEYWORDS, Engine, Plan, plan_of, using

ROWS = [{"text": f"turn it {'off' if i % 2 else 'on'} {i}", "label": "off" if i % 2 else "on"} for i in range(12)]


def answer(batch: list[dict[str, str]]) -> list[str]:
    return ["off" if " off " in x["text"] else "on" for x in batch]


def test_a_keyword_goes_before_the_plan_and_the_plan_before_the_default(tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text("[vary]\ndraws = 4\nseed = 3\n[measure]\nlevel = 0.9\n")
    made = plan_of(tmp_path / "plan.toml", draws=2)
    assert (made.vary.draws, made.vary.seed, made.measure.level, made.measure.weigh) == (2, 3, 0.9, "examples")
    assert plan_of({"vary": {"draws": 4}}, draws=None).vary.draws == 4
    assert plan_of(made) == made
    suite = unswayed.make_suite(ROWS, "keyboard/adjacent", draws=2, plan={"vary": {"draws": 4, "seed": 3}})
    assert (suite.manifest.draws, suite.manifest.seed) == (2, 3)


def test_the_same_options_in_every_form_are_the_same_plan(tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text(
        "[gate]\nfail_under = { worst = 0.6 }\nmax_drop = 0.1\n[run.asking]\nconcurrency = 3\n[engine]\nworkers = 2\n"
    )
    table = {"gate": {"fail_under": "worst=0.6", "max_drop": 0.1}, "run": {"asking": {"concurrency": 3}}}
    table["engine"] = {"workers": 2}
    assert plan_of(tmp_path / "plan.toml") == plan_of(table) == plan_of(str(tmp_path / "plan.toml"))


@pytest.mark.parametrize(
    ("toml", "told"),
    [
        ("[measure]\nlevle = 0.9\n", "There is no option of measure named 'levle'. Did you mean 'level'?"),
        ("[mesure]\nlevel = 0.9\n", "There is no section of a plan named 'mesure'. Did you mean 'measure'?"),
        ("level = 0.9\n", "There is no section of a plan named 'level'. It belongs to measure."),
        ("[measure]\nlevel = 90\n", "measure.level must be a number between 0 and 1, not 90."),
        ("[run]\nasking = 3\n", "run.asking must be a table of options, or Asking(…), not 3."),
        ("[engine]\nname = 'cloud'\n", "There is no engine 'cloud'."),
        ("[vary\n", "the plan can't be read"),
    ],
)
def test_what_is_wrong_in_a_file_is_named_with_the_file(tmp_path: Path, toml: str, told: str) -> None:
    (tmp_path / "plan.toml").write_text(toml)
    with pytest.raises(UsageError, match=re.escape(f"{tmp_path / 'plan.toml'}: ") + ".*" + re.escape(told)):
        plan_of(tmp_path / "plan.toml")


CALLS = {
    "check": unswayed.check, "make_suite": unswayed.make_suite, "run_system": unswayed.run_system,
    "measure_run": unswayed.measure_run, "compare": unswayed.compare, "vary_text": unswayed.vary_text,
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_calls_have_few_parameters_and_a_plan(name: str) -> None:
    parameters = inspect.signature(CALLS[name]).parameters
    assert len(parameters) <= 16
    assert "plan" in parameters
    assert not any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    assert set(parameters) & KEYWORDS.keys() <= {path[-1] for path in options_of(Plan)}


def test_check_has_the_parameters_of_its_page() -> None:
    asked = "system data operators input gold id groups task language draws seed scores name to plan"
    assert list(inspect.signature(unswayed.check).parameters) == asked.split()


def test_every_option_says_what_it_is() -> None:
    for path, option in options_of(Plan).items():
        assert option.help.endswith("."), path
        assert option.expects, path


def commands_with_plans() -> list[tuple[str, click.Command]]:
    context = click.Context(command)
    names = ("vary", "run", "report", "compare", "augment", "score")
    found = [(name, command.get_command(context, name)) for name in names]
    measure: Any = command.get_command(context, "measure")
    return [*found, ("measure run", measure.get_command(context, "run"))]  # type: ignore[list-item]


@pytest.mark.parametrize(("name", "made"), commands_with_plans(), ids=lambda one: one if isinstance(one, str) else "")
def test_the_command_line_is_made_from_the_plan(name: str, made: click.Command) -> None:
    """Every flag that a command has for a plan is the plan's, with its help; and no flag is declared twice."""
    known = {"__".join(path): option for path, option in options_of(Plan).items()}
    flags = [flag for param in made.params if isinstance(param, click.Option) for flag in param.opts]
    assert len(set(flags)) == len(flags), name
    for param in made.params:
        if isinstance(param, click.Option) and "__" in str(param.name):
            option = known[str(param.name)]
            assert param.opts == [option.flag]
            assert str(param.help).startswith(option.help)


def test_a_name_stands_for_the_system(tmp_path: Path) -> None:
    named = unswayed.check(answer, ROWS, "keyboard/adjacent", name="before retraining", to=tmp_path / "run")
    assert named.system == "before retraining"
    assert unswayed.Run(tmp_path / "run").system == "before retraining"
    other = unswayed.check(answer, ROWS, "keyboard/adjacent", plan={"run": {"name": "after"}})
    assert other.system == "after"
    assert other.clean.value == named.clean.value


def test_options_as_in_the_issue_work() -> None:
    data = [{"message": row["text"], "queue": row["label"]} for row in ROWS]
    plan = {"measure": {"level": 0.9}, "run": {"limit": 8}}
    system = lambda batch: answer([{"text": x["message"]} for x in batch])  # noqa: E731
    r = unswayed.check(system, data, "@typing", input="message", gold="queue", draws=3, seed=7, plan=plan)
    assert r.clean.n == 8
    assert "level=0.9" in r.clean.signature


def test_a_removed_keyword_is_shown_in_the_plan() -> None:
    told = 'check() takes level in its plan: plan={"measure": {"level": 0.9}}.'
    with pytest.raises(UsageError, match=re.escape(told)):
        unswayed.check(answer, ROWS, "keyboard/adjacent", level=0.9)  # type: ignore[call-arg]


def test_a_plan_that_names_no_engine_uses_the_chosen_one() -> None:
    assert Plan().engine_in_use == Engine()
    with using(Engine(workers=3)):
        assert Plan().engine_in_use == Engine(workers=3)
        assert Plan(engine=Engine(workers=2)).engine_in_use == Engine(workers=2)


def test_a_plan_survives_json() -> None:
    made = plan_of({"gate": {"max_drop": {"all": 0.1}}, "vary": {"operators": ["keyboard/adjacent"]}})
    assert msgspec.json.decode(msgspec.json.encode(made), type=Plan) == made

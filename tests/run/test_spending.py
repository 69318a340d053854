"""Runs that cost money, on a real chat server on this machine: estimates, budgets, prices, and what is counted."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import unswayed as package
from tests.chat_server import ChatServer, chat_server
from tests.commands import unswayed
from unswayed.base.errors import UsageError
from unswayed.base.values import Estimate
from unswayed.run.record import Run
from unswayed.run.spending import Purse, Spending, total
from unswayed.systems.system import Prices

pytestmark = pytest.mark.usefixtures("asked_once")

PRICES = ("--price-in", "0.15", "--price-out", "0.60")
EXAMPLES = 40


def sums(request: dict[str, Any], times: int) -> str:
    """The sum, unless the words are not whole; a judge compares the last numbers."""
    text = request["messages"][-1]["content"]
    numbers = [int(n) for n in re.findall(r"\d+", text)]
    if "apples" not in text and "Sam" not in text:
        return "yes" if len(text) % 4 else "no"
    wavers = sum(map(ord, text)) % 5 == 0 and times == 3
    return f"Let me see. The answer is {sum(numbers) + ('apples' not in text) + wavers}."


@pytest.fixture(scope="module")
def server() -> Iterator[ChatServer]:
    with chat_server(sums) as one:
        yield one


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, rng = tmp_path_factory.mktemp("money"), random.Random(3)
    rows = []
    for i in range(EXAMPLES):
        a, b = rng.randint(2, 90), rng.randint(2, 90)
        more = " near the old station" * (i % 5)
        question = f"Sam has {a} apples and buys {b} more at the market{more}. How many does Sam have now?"
        rows.append({"question": question, "answer": f"{a}+{b}\n#### {a + b}"})
    (folder / "gsm.jsonl").write_text("\n".join(map(json.dumps, rows)))
    vary = "vary gsm.jsonl --with keyboard/adjacent --draws 3 --seed 7 --lang en -o suite/"
    unswayed(*vary.split(), cwd=folder, check=True)
    return folder


@pytest.fixture
def asked(server: ChatServer) -> ChatServer:
    server.asked.clear()
    server.tokens.clear()
    return server


def run(place: Path, server: ChatServer, to: str, *more: object, code: int = 0) -> Any:
    """The line of the issue, with more options, from suite to JSON."""
    line = f"run suite/ --system {server.url} --model m --repeats 3 -o {to} --format json --canary 0"
    done = unswayed(*line.split(), *more, cwd=place)
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout) | {"stderr": done.stderr} if code == 0 else done.stderr


def varied(place: Path) -> int:
    """Requests for variants: those of an example that are equal are one."""
    groups = package.Suite(place / "suite").groups()
    return sum(len({v.inputs["question"] for v in own} - {e.inputs["question"]}) for e, own in groups)


def cost(server: ChatServer) -> float:
    return (server.tokens["prompt_tokens"] * 0.15 + server.tokens["completion_tokens"] * 0.60) / 1e6


def test_from_an_estimate_over_a_budget_that_is_spent_to_the_end(place: Path, asked: ChatServer) -> None:
    """Estimate, stop, resume: nothing is asked twice, and the estimate holds what it then cost."""
    found = run(place, asked, "whole/", *PRICES, "--estimate")
    sample = sum(asked.asked.values())
    every = EXAMPLES * 4 + varied(place)
    assert 65 <= sample <= 70, "a fourth of 40 examples, with all of their requests"
    assert found["requests"] == every - sample
    assert found["spent"] == pytest.approx(cost(asked))
    budget = 2 * cost(asked)

    results = run(place, asked, "whole/", *PRICES, "--budget", f"{budget:.6f}")
    spent = cost(asked)
    assert 0.9 * budget < spent <= budget, "every request costs about the same, so the budget is not exceeded"
    measured = results["validity"]["sample"]
    assert measured["why"] == "budget"
    assert 10 < measured["examples"] < 25
    assert results["clean"]["n"] == measured["examples"]
    assert results["used"]["cost"] == pytest.approx(spent)
    assert results["reused"] == sample
    assert f"Estimate from 10 examples: {every - sample} more requests" in results["stderr"]
    assert "Stopped: the budget of" in results["stderr"]

    again = run(place, asked, "whole/", *PRICES, "--budget", f"{budget:.6f}")
    assert again["asked"] == 0
    assert cost(asked) == spent

    results = run(place, asked, "whole/", *PRICES, "--budget", "2.00")
    assert "sample" not in results["validity"]
    assert sum(asked.asked.values()) == every == results["asked"] + results["reused"]
    assert max(asked.asked.values()) == 4, "a clean input is asked once, and again for each repeat"
    assert results["used"]["cost"] == pytest.approx(cost(asked))
    assert results["used_now"]["cost"] == pytest.approx(cost(asked) - spent)
    whole = cost(asked) - found["spent"]
    assert found["cost"]["low"] <= whole <= found["cost"]["high"]
    assert "Cost: " in results["stderr"]


def test_the_summary_counts_clean_and_varied_apart(place: Path, asked: ChatServer) -> None:
    results = run(place, asked, "apart/", *PRICES, "--budget", "2.00")
    clean, other = results["requests"]["clean"], results["requests"]["varied"]
    assert clean["tokens_in"] + other["tokens_in"] == asked.tokens["prompt_tokens"] == results["used"]["tokens in"]
    assert clean["tokens_out"] + other["tokens_out"] == asked.tokens["completion_tokens"]
    assert (clean["answers"], other["answers"]) == (EXAMPLES * 4, varied(place))
    for side in (clean, other):
        assert 0 < side["p50"]["low"] <= side["p50"]["value"] <= side["p50"]["high"] <= side["p95"]["high"]
    assert results["used"]["answers of m-2026-11-01"] == EXAMPLES * 4 + varied(place)
    settings = Run(place / "apart").manifest.settings
    assert settings == {"model": "m", "temperature": 0.0, "max_tokens": 1024, "seed": None}
    unswayed("report", "apart/", "-o", "report.html", cwd=place, check=True)
    page = (place / "report.html").read_text()
    for text in (
        "What the server&#39;s answers took",
        "p95, seconds",
        "temperature (sampling)",
        "answers of m-2026-11-01",
    ):
        assert text in page


def test_a_judge_at_the_same_url_is_counted_and_priced(place: Path, asked: ChatServer) -> None:
    """Its model is the system's, its answers are in the budget, and none is asked twice."""
    judged = ("--equivalent", f"judge:{asked.url}", *PRICES)
    results = run(place, asked, "judged/", *judged, "--budget", "2.00")
    used = results["used"]
    assert used["judge calls"] == used["judge requests"] > 0
    assert results["compared"]["equivalent"] == f"judge:{asked.url}#m"
    assert used["cost"] + used["judge cost"] == pytest.approx(cost(asked))
    assert used["tokens in"] + used["judge tokens in"] == asked.tokens["prompt_tokens"]
    whole = cost(asked)
    again = run(place, asked, "judged/", *judged, "--budget", "2.00")
    assert again["asked"] == 0

    asked.asked.clear()
    asked.tokens.clear()
    budget = whole / 2
    results = run(place, asked, "poor/", *judged, "--budget", f"{budget:.6f}")
    assert results["validity"]["sample"]["why"] == "budget"
    assert 0.6 * budget < cost(asked) <= 1.05 * budget, "what judging will cost is kept back"
    assert results["used"]["judge cost"] > 0


def test_the_same_from_python_and_a_plan(place: Path, asked: ChatServer, tmp_path: Path) -> None:
    options = f'options = {{ model = "m", price_in = 0.15, price_out = 0.6, seed = 3 }}\nsystem = "{asked.url}"'
    (tmp_path / "plan.toml").write_text(f'[run]\n{options}\nsuite = "{place / "suite"}"\nrepeats = 1\nbudget = 2.0\n')
    plan = package.read_plan(tmp_path / "plan.toml")
    found = package.estimate_cost(plan, tmp_path / "run")
    assert found.requests == EXAMPLES * 2 + varied(place) - sum(asked.asked.values())
    assert found.cost is not None
    verdict = package.carry_out(plan, tmp_path / "run")
    assert verdict.exit_code == 0
    assert verdict.results.requests is not None
    assert Run(tmp_path / "run").manifest.settings["seed"] == 3

    system = package.open_system(asked.url, model="m", price_in=0.15, price_out=0.6)
    suite = package.Suite(place / "suite")
    results = package.check(system, suite, plan={"run": {"budget": cost(asked) / 2, "asking": {"rate": 1000}}})
    assert results.validity["sample"]["why"] == "budget"
    system.close()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--budget", "5.00"), "--budget needs prices. Add --price-in and --price-out"),
        (("--budget", "0", *PRICES), "--budget must be a number above 0, not 0.0."),
        (("--budget", "-1", *PRICES), "--budget must be a number above 0"),
        (("--budget", "nan", *PRICES), "--budget must be a number above 0"),
        (("--budget", "five", *PRICES), "'five' is not a valid float"),
        (("--rate", "0"), "--rate must be a number above 0"),
        (("--rate", "-3"), "--rate must be a number above 0"),
        (("--rate", "inf"), "--rate must be a number above 0"),
        (("--rate", "many"), "'many' is not a valid float"),
        (("--price-in", "cheap"), "'cheap' is not a valid float"),
        (("--option", "price_in=cheap"), "--price-in must be a number of 0 or more"),
        (("--price-out", "-1"), "-1"),
    ],
)
def test_what_is_no_price_budget_or_rate_is_told_before_anything_is_asked(
    place: Path, asked: ChatServer, given: tuple[str, ...], said: str
) -> None:
    assert said in run(place, asked, "bad/", *given, code=4)
    assert not asked.asked


def test_a_server_that_counts_no_tokens_can_t_be_held_to_a_budget(place: Path, tmp_path: Path) -> None:
    def answer(batch: list[dict[str, str]]) -> list[str]:
        return ["7" for _ in batch]

    with pytest.raises(UsageError, match="needs prices"):
        package.check(answer, package.Suite(place / "suite"), plan={"run": {"budget": 5.0}})
    purse = Purse(Spending(budget=1.0), Prices(1.0, 1.0), tmp_path)
    with pytest.raises(UsageError, match="does not say how many tokens"):
        purse.pay(0.0, [package.Output("7")], "the server")


def test_refusals_and_cut_answers_are_counted_apart(place: Path, tmp_path: Path) -> None:
    """Of each kind: a refusal, an answer that is cut off, an empty one, 429 and 500."""

    def answers(request: dict[str, Any], times: int) -> str | dict[str, Any]:
        text = request["messages"][-1]["content"]
        kind = sum(map(ord, text)) % 11
        if kind == 1:
            return {"content": None, "finish_reason": "content_filter"}
        if kind == 2:
            return {"content": "Let me see. The", "finish_reason": "length"}
        if kind == 3:
            return ""
        if kind in (4, 5) and times == 1:
            return {"status": 429 if kind == 4 else 500, "content": ""}
        return sums(request, times)

    with chat_server(answers) as server:
        line = f"run suite/ --system {server.url} --model m -o {tmp_path}/run --format json --allow-missing 1"
        done = unswayed(*line.split(), "--option", "backoff=0.01", cwd=place)
    found, text = json.loads(done.stdout), done.stderr
    used = found["used"]
    for name in ("429", "5xx", "refusals", "cut off"):
        assert used[name] > 0
    assert f"{used['429']:.0f} × 429 (too many requests)" in text
    assert f"{used['cut off']:.0f} × answers cut off by the token limit" in text
    assert f"{used['refusals']:.0f} × answers refused" in text
    more = used["refusals"] + used["cut off"] - found["validity"]["failed"]  # equal variants are one request,
    assert -2 <= more <= 20  # and 20 clean inputs were asked twice
    assert "empty" in text


def test_a_total_holds_what_it_is_of_in_19_of_20_samples() -> None:
    rng = random.Random(5)
    inside = 0
    for _ in range(400):
        requests = [rng.choice((3, 4, 5)) for _ in range(20)]
        took = [sum(rng.lognormvariate(0, 0.5) for _ in range(many)) for many in requests]
        found = total(took, requests, 1000, "tokens")
        assert isinstance(found, Estimate)
        inside += (found.low or 0) <= 1000 * 1.1331 <= (found.high or 0)
    assert 0.92 <= inside / 400 <= 0.98


def test_checks_of_stored_answers_are_paid_from_the_budget(place: Path, asked: ChatServer, tmp_path: Path) -> None:
    line = f"run suite/ --system {asked.url} --model m -o {tmp_path / 'run'} --format json".split()
    unswayed(*line, "--limit", "20", *PRICES, cwd=place, check=True)
    first, requests = cost(asked), sum(asked.asked.values())  # some are asked twice
    budget = 1.5 * first
    again = unswayed(*line, "--budget", f"{budget:.8f}", *PRICES, cwd=place, check=True)
    assert json.loads(again.stdout)["validity"]["sample"]["why"] == "budget"
    (checked,) = re.findall(r"\((\d+) of them checked; a change of up to \d+% could go unseen\)", again.stderr)
    assert 0 < 2 * int(checked) <= 0.05 * budget / (first / requests)
    assert cost(asked) <= budget

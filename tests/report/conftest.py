"""Plausible results and flips, in several scripts, and hostile ones; made by hand so that reports are tested alone."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from unswayed.base.values import Estimate, Example, Output, Variant
from unswayed.measure.changes import Flip
from unswayed.measure.results import Block, Named, Naming, Results

BROWSER, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --disable-dev-shm-usage"
)

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "'\" onmouseover='alert(1)' x=\"",
    "</title></style></svg><iframe src=//evil.example>",
    "{{ 7*7 }}{% raw %}",
    "\u202egnp.exe\u202c \x00\x1b[31mred\x1b[0m \x85",
    "lone \ud800 surrogate",
    "a|b`c`*d*\n\t]]><!--",
    "javascript:alert(1)",
)


def estimate(value: float | None, half: float = 0.02, n: int = 400, missing: int = 0) -> Estimate:
    if value is None:
        return Estimate(None, None, None, 0, missing, "nothing")
    return Estimate(value, round(value - half, 6), round(value + half, 6), n, missing, f"accuracy|v:1|n:{n}|b:10000")


def block(clean: float, average: float, worst: float, flips: float, half: float = 0.02) -> Block:
    return Block(
        clean=estimate(clean, half),
        average=estimate(average, half),
        worst=estimate(worst, half),
        drop=estimate(round(clean - average, 6), half),
        flips=estimate(flips, half / 2),
        consistency=estimate(1 - flips, half),
    )


def named(drop: float, rest: float, p: float, hurt: str = "") -> Named:
    low, high = round(drop - 0.03, 6), round(drop + 0.03, 6)
    return Named(drop=drop, low=low, high=high, shrunk=drop, rest=rest, p=p, hurt=hurt)


def told_apart() -> Naming:
    return Naming(
        sets={
            "operator": {
                "keyboard/adjacent": named(0.23, 0.065, 0.0004, "most"),
                "spoken/filler_end": named(0.05, 0.125, 0.02),
                "spoken/filler_begin": named(0.005, 0.14, 0.001),
                "paraphrase/给我换个说法": named(0.14, 0.095, 0.31),
            },
            "domain": {"music": named(0.06, 0.18, 0.07), "weather": named(0.18, 0.06, 0.07)},
            "length": {"short": named(0.21, 0.01, 0.0004, "more"), "long": named(0.01, 0.21, 0.0004)},
        },
        grid={"keyboard/adjacent": ["domain=weather", "length=short"], "paraphrase/给我换个说法": ["domain=weather"]},
    )


def plausible(**changes: Any) -> Results:
    operators = {
        "keyboard/adjacent": block(0.94, 0.71, 0.52, 0.24),
        "spoken/filler_end": block(0.94, 0.89, 0.83, 0.06),
        "spoken/filler_begin": block(0.94, 0.935, 0.91, 0.031),
        "paraphrase/给我换个说法": block(0.94, 0.80, 0.69, 0.15, half=0.05),
    }
    domains = {"music": block(0.96, 0.90, 0.80, 0.08), "weather": block(0.93, 0.75, 0.55, 0.19, 0.04)}
    lengths = {"short": block(0.91, 0.70, 0.50, 0.22), "long": block(0.97, 0.96, 0.94, 0.01)}
    columns = ["domain=music", "domain=weather", "length=short", "length=long"]
    drops = [(0.11, 0.31, 0.27, 0.004), (0.02, 0.09, 0.06, -0.01), (0.0, 0.01, -0.03, 0.02), (0.1, 0.2, 0.17, None)]
    grid = {
        name: {column: estimate(drop) for column, drop in zip(columns, row, strict=True)}
        for name, row in zip(operators, drops, strict=True)
    }
    fields: dict[str, Any] = {
        "score": "accuracy",
        "task": "classify",
        "suite": "snips/test",
        "system": "my_module:predict",
        "clean": estimate(0.94),
        "average": estimate(0.81),
        "worst": estimate(0.67),
        "drop": estimate(0.13),
        "flip_rate": estimate(0.12),
        "consistency": estimate(0.79),
        "noticed": None,
        "sets": {
            "operator": operators,
            "family": {
                "keyboard": block(0.94, 0.71, 0.52, 0.24),
                "paraphrase": block(0.94, 0.80, 0.69, 0.15),
                "spoken": block(0.94, 0.91, 0.86, 0.04),
            },
            "domain": domains,
            "length": lengths,
        },
        "grid": grid,
        "naming": told_apart(),
        "scores": {"macro_f1": {"clean": estimate(0.93), "average": estimate(0.78), "drop": estimate(0.15)}},
        "validity": {
            "examples": 400,
            "variants": 4800,
            "failed": 3,
            "not_asked": 0,
            "operators": dict.fromkeys(operators, 1200),
            "unseen_labels": {"count": 0, "labels": []},
            "warnings": ["keyboard/adjacent found nothing to change in 4 examples."],
        },
    }
    return Results(**{**fields, **changes})


TEXTS = [
    ("play some jazz by miles davis", "play some jazx by miles davis", "keyboard/adjacent", "z→x at 13"),
    ("will it rain in paris tomorrow", "will it rain in paris tomorrow , you know", "spoken/filler_end", "you know"),
    ("北京明天会下雨吗？", "北京名天会下鱼吗？", "paraphrase/给我换个说法", "明→名"),
    ("ما حالة الطقس غدا في القاهرة", "ما حالة الطقس بكرا في القاهرة", "paraphrase/给我换个说法", "غدا→بكرا"),
    ("add this 🎵 song to my list 👩‍👩‍👧", "so add this 🎵 song to my list 👩‍👩‍👧", "spoken/filler_begin", "so"),
    ("<script>alert('gold')</script> please", "<script>alrt('gold')</script> please", "keyboard/adjacent", "e dropped"),
]


def flips_of(count: int = 12) -> Iterator[Flip]:
    for i in range(count):
        old, new, source, note = TEXTS[i % len(TEXTS)]
        example = Example(i, f"ex-{i}", {"text": old}, "PlayMusic", {"domain": "music", "length": "short"})
        variant = Variant(i, example.id, i % 3, source, source.split("/")[0], "same", {"text": new}, "PlayMusic", note)
        right = i % 4 != 3
        after = "GetWeather" if right or i % 8 == 3 else "PlayMusic"
        yield Flip(
            example,
            variant,
            Output("PlayMusic" if right else "BookRestaurant"),
            Output(after),
            right,
            not right and after == "PlayMusic",
        )


def run_like(**changes: Any) -> Any:
    """Has what the report reads of a Run, without a folder."""
    manifest = SimpleNamespace(
        **{
            "unswayed": "0.1.0",
            "content": "3f2a" * 8,
            "plan": "91bc" * 8,
            "task": "classify",
            "language": "en",
            "labels": ["PlayMusic", "GetWeather"],
            "seed": 7,
            "draws": 3,
            "operators": [{"name": "keyboard/adjacent", "version": 1, "params": {"rate": 0.0}}],
            "made": {
                "data": {"path": "my data.csv", "task": "classify"},
                "vary": {"operators": [{"name": "keyboard/adjacent", "params": {"rate": 0.1}}], "draws": 3, "seed": 7},
            },
            "hashes": {"examples.parquet": "ab" * 32},
            **changes,
        }
    )
    suite = SimpleNamespace(path=Path("suite"), name="suite", manifest=manifest, id=manifest.content)
    failed = [Output(error="TimeoutError: no answer within 30 s")] * 2 + [Output(error="ValueError: empty input")]
    items = [(None, Output("PlayMusic"), [(None, output) for output in failed])]
    return SimpleNamespace(
        used=dict,
        path=Path("run"),
        name="run",
        plan={
            "run": {"system": "my_module:predict", "limit": 200, "stop_when": ["drop±0.02"], "repeats": 3},
            "measure": {"scores": ["accuracy"]},
        },
        suite=suite,
        manifest=SimpleNamespace(limit=200, stop_when=["drop±0.02"], repeats=3, settings={}, prompts={}),
        system="my_module:predict",
        identity="callable:5f0c9a",
        items=lambda: iter(items),
    )


class AGate(SimpleNamespace):
    """As `measure` gives them."""


def gates_of() -> list[Any]:
    return [
        AGate(name="worst at least 0.6", passed=True, limit=0.6, bound=0.65, sentence="worst is 0.65, at least 0.6."),
        AGate(name="drop at most 0.1", passed=False, limit=0.1, bound=0.15, sentence="drop is 0.15, above 0.1."),
    ]


@pytest.fixture
def hostile() -> tuple[str, ...]:
    return HOSTILE


@pytest.fixture
def results() -> Results:
    return plausible()


@pytest.fixture
def make_results() -> Callable[..., Results]:
    return plausible


@pytest.fixture
def make_block() -> Callable[..., Block]:
    return block


@pytest.fixture
def make_estimate() -> Callable[..., Estimate]:
    return estimate


@pytest.fixture
def make_flips() -> Callable[..., Iterator[Flip]]:
    return flips_of


@pytest.fixture
def make_run() -> Callable[..., Any]:
    return run_like


@pytest.fixture
def gates() -> list[Any]:
    return gates_of()


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Chromium without a window, which logs what the pages say and ask for."""
    if not (BROWSER and DRIVER):
        pytest.skip("Chromium and its driver are not installed")
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for flag in (*FLAGS.split(" "), f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    yield driver
    driver.quit()

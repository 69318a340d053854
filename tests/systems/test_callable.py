from __future__ import annotations

import enum
import functools
import importlib
import math
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from unswayed.base.errors import SystemBroken, UsageError
from unswayed.systems.callable import CallableSystem
from unswayed.systems.system import Failed

BATCH = [{"text": "a"}, {"text": "b"}]


def outputs_of(returned: Any) -> list[Any]:
    return list(CallableSystem(lambda batch: returned).predict(BATCH))


class Colour(enum.StrEnum):
    RED = "red"


@pytest.mark.parametrize(
    ("returned", "expected"),
    [
        (["x", "y"], ["x", "y"]),
        (("x", None), ["x", None]),
        ((x for x in (1, 2.5)), [1, 2.5]),
        (iter([True, {"a": (1, 2)}]), [True, {"a": [1, 2]}]),
        (np.array([1, 2]), [1, 2]),
        (np.array([[0.5], [0.25]]), [[0.5], [0.25]]),
        ([np.float32(0.5), np.int64(3)], [0.5, 3]),
        ([np.bool_(True), np.str_("x")], [True, "x"]),
        ([{"p": np.array([1.0])}, np.array(2)], [{"p": [1.0]}, 2]),
        ([Colour.RED, "é"], ["red", "é"]),
    ],
)
def test_outputs_become_plain_json(returned: Any, expected: list[Any]) -> None:
    found = outputs_of(returned)
    assert found == expected
    assert [type(x) for x in found] == [type(x) for x in expected]


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (math.nan, "the output is NaN"),
        (math.inf, "the output is infinite"),
        ({"score": [1.0, math.nan]}, "the output['score'][1] is NaN"),
        (np.float32("nan"), "the output is NaN"),
        (np.array([1.0, np.nan]), "the output[1] is NaN"),
        (object(), "builtins.object"),
        ({1, 2}, "builtins.set"),
        ({1: "x"}, "a key of type int"),
        ("\ud800", "half a surrogate pair"),
        (b"bytes", "builtins.bytes"),
        (int, "builtins.type"),
        (1 << 70, "more than 64 bits"),
    ],
)
def test_one_bad_output_fails_one_item(value: Any, says: str) -> None:
    failed, fine = outputs_of([value, "fine"])
    assert isinstance(failed, Failed)
    assert says in failed.error
    assert failed.final
    assert fine == "fine"


def test_an_output_that_holds_itself_fails() -> None:
    endless: list[Any] = []
    endless.append(endless)
    assert isinstance(outputs_of([endless, 1])[0], Failed)


def test_a_function_may_fail_items_itself() -> None:
    failed = Failed("busy")
    assert outputs_of([failed, 1]) == [failed, 1]


def forever(batch: list[Any]) -> Iterator[int]:
    while True:
        yield 1


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (lambda batch: ["x"], "returned 1 outputs for 2 inputs"),
        (lambda batch: [], "returned 0 outputs for 2 inputs"),
        (lambda batch: list("xyz"), "returned 3 outputs for 2 inputs"),
        (forever, "forever returned more than 2 outputs for 2 inputs"),
        (lambda batch: "xy", "returned str for 2 inputs"),
        (lambda batch: {"a": 1, "b": 2}, "returned dict for 2 inputs"),
        (lambda batch: {1, 2}, "returned set for 2 inputs"),
        (lambda batch: None, "returned None for 2 inputs"),
        (lambda batch: np.array(1), "returned int for 2 inputs"),
    ],
)
def test_a_wrong_number_or_kind_breaks_the_contract(function: Callable[..., Any], says: str) -> None:
    with pytest.raises(SystemBroken, match=says):
        CallableSystem(function).predict(BATCH)


def test_what_the_function_raises_comes_through() -> None:
    def broken(batch: list[Any]) -> list[Any]:
        raise KeyError("label")

    with pytest.raises(KeyError):
        CallableSystem(broken).predict(BATCH)


def test_editing_the_inputs_in_place_changes_nothing_outside() -> None:
    batch = [{"text": "a"}]
    CallableSystem(lambda b: [b[0].pop("text")]).predict(batch)
    assert batch == [{"text": "a"}]


def imported(folder: Path, name: str, body: str) -> Any:
    (folder / f"{name}.py").write_text(body)
    sys.path.insert(0, str(folder))
    try:
        sys.modules.pop(name, None)
        importlib.invalidate_caches()
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(folder))


def test_an_edited_module_is_a_new_system(tmp_path: Path) -> None:
    seen = []
    for helper in ("1", "22"):
        module = imported(
            tmp_path, "edited", f"def helper(): return {helper}\ndef predict(b): return [helper() for _ in b]\n"
        )
        seen.append(CallableSystem(module.predict).identity)
    assert seen[0].startswith("edited:predict ")
    assert seen[0] != seen[1]


def made(factor: int) -> Callable[[list[Any]], list[int]]:
    return lambda batch: [factor for _ in batch]


class Model:
    def __init__(self, path: str, threshold: float = 0.5) -> None:
        self.path, self.threshold = path, threshold
        self.calls: list[int] = []

    def __call__(self, batch: list[Any]) -> list[Any]:
        self.calls.append(len(batch))
        return [self.path for _ in batch]

    def other(self, batch: list[Any]) -> list[Any]:
        return [self.threshold for _ in batch]


def identity(function: Callable[..., Any]) -> str:
    return CallableSystem(function).identity


def test_what_tells_callables_apart() -> None:
    different = [
        lambda batch: [1 for _ in batch],
        lambda batch: [2 for _ in batch],
        made(1),
        made(2),
        Model("a"),
        Model("b"),
        Model("a", 0.7),
        Model("a").other,
        functools.partial(len),
        functools.partial(int, base=2),
        functools.partial(int, base=8),
        Model,
        len,
        sorted,
    ]
    assert len({identity(f) for f in different}) == len(different)


def test_equal_callables_are_equal_and_calls_change_nothing() -> None:
    assert identity(made(1)) == identity(made(1))
    model = Model("a")
    before = identity(model)
    CallableSystem(model).predict(BATCH)
    assert identity(model) == before == identity(Model("a"))


def test_identity_can_be_said() -> None:
    def predict(batch: list[Any]) -> list[Any]:
        return batch

    assert CallableSystem(predict, identity="v1").identity == "v1"
    predict.unswayed_identity = "v2"  # type: ignore[attr-defined]
    assert CallableSystem(predict).identity == "v2"


def test_a_system_can_be_declared_deterministic() -> None:
    class Sure:
        unswayed_deterministic = True

        def __call__(self, batch: list[Any]) -> list[Any]:
            return batch

        def answers(self, batch: list[Any]) -> list[Any]:
            return batch

    assert CallableSystem(Sure(), identity="a").deterministic is True
    assert CallableSystem(Sure().answers, identity="a").deterministic is True
    assert CallableSystem(Sure(), identity="a", deterministic=False).deterministic is False
    assert CallableSystem(lambda batch: batch).deterministic is None


def test_a_partial_of_something_untellable_asks_for_an_identity() -> None:
    with pytest.raises(UsageError, match="identity="):
        CallableSystem(functools.partial(made, [1]))
    assert CallableSystem(functools.partial(made, [1]), identity="mine").identity == "mine"


PROMPT = """
from unswayed.systems.callable import CallableSystem
labels = ("a", "b")
def helper(x): return x in {"k", "l", "m", "n"}
def predict(batch): return [labels[helper(i["text"])] for i in batch]
print(CallableSystem(predict).identity)
print(CallableSystem(lambda batch: [{"x", "y", "z"} and 1 for _ in batch]).identity)
"""


def test_code_without_a_file_has_a_stable_identity_that_knows_its_helpers() -> None:
    def said(program: str, seed: str) -> list[str]:
        env = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run([sys.executable, "-"], input=program, env=env, capture_output=True, text=True, check=True)
        return done.stdout.split("\n")

    first = said(PROMPT, "1")
    assert first == said(PROMPT, "2")
    assert first[0] != said(PROMPT.replace('"m", "n"', '"m"'), "1")[0]
    assert first[0] != said(PROMPT.replace('"a", "b"', '"a", "c"'), "1")[0]
    assert first[1] == said(PROMPT.replace('"a", "b"', '"a", "c"'), "1")[1]


class Threshold:
    """A model as scikit-learn's are: it learns when it is fitted."""

    def fit(self, words: list[str]) -> Threshold:
        self.words_ = {word: np.ones(2) for word in words}
        return self

    def predict(self, texts: list[str]) -> list[int]:
        return [int(text in self.words_) for text in texts]


TRAINED = Threshold().fit(["a"])
WEIGHTS = np.array([1.0, 2.0])


def _inner(batch: list[Any]) -> list[Any]:
    return [WEIGHTS.sum() for _ in batch]


def of_a_global_model(batch: list[Any]) -> list[Any]:
    return TRAINED.predict([inputs["text"] for inputs in batch])


def of_a_helper(batch: list[Any]) -> list[Any]:
    return _inner(batch)


def closed_over(model: Any) -> Callable[[list[Any]], list[Any]]:
    return lambda batch: model.predict([inputs["text"] for inputs in batch])


class Holder:
    def __init__(self, model: Any) -> None:
        self.model = model

    def __call__(self, batch: list[Any]) -> list[Any]:
        return self.model.predict([inputs["text"] for inputs in batch])


def test_a_retrained_model_is_a_new_system_wherever_the_function_finds_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def identities(words: list[str], weights: list[float]) -> list[str]:
        model = Threshold().fit(words)
        monkeypatch.setitem(globals(), "TRAINED", model)
        monkeypatch.setitem(globals(), "WEIGHTS", np.array(weights))
        bound = functools.partial(lambda model, batch: [model for _ in batch], model)
        functions = (of_a_global_model, of_a_helper, closed_over(model), Holder(model), bound, model.predict)
        return [identity(function) for function in functions]

    first, same, retrained = identities(["a"], [1]), identities(["a"], [1]), identities(["b"], [2])
    assert first == same
    assert all(one != other for one, other in zip(first, retrained, strict=True))


def test_the_weights_of_a_network_are_part_of_the_identity() -> None:
    torch = pytest.importorskip("torch")
    network = torch.nn.Linear(2, 1)
    before = identity(closed_over(network))
    assert identity(closed_over(network)) == before
    with torch.no_grad():
        network.weight += 1
    assert identity(closed_over(network)) != before


METHOD = """
from unswayed.systems.callable import CallableSystem
class Model:
    def answer(self, batch): return [1 for _ in batch]
print(CallableSystem(Model().answer).identity)
"""


def test_a_method_that_was_typed_again_at_a_prompt_is_a_new_system() -> None:
    programs = METHOD, METHOD, METHOD.replace("[1 ", "[2 ")
    done = [subprocess.run([sys.executable, "-"], input=p, capture_output=True, text=True) for p in programs]
    first, same, edited = (process.stdout for process in done)
    assert first == same != edited


class Proxy:
    """As those of web frameworks, which stand for something that is there only during a request."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError("working outside of a request")


PROXY = Proxy()


def with_a_proxy(batch: list[Any]) -> list[Any]:
    return [PROXY.user for _ in batch]


def test_a_global_that_cannot_be_looked_at_is_left_alone() -> None:
    assert identity(with_a_proxy) == identity(with_a_proxy)
    assert identity(closed_over(PROXY)) == identity(closed_over(Proxy()))

"""Options of plain structs: what callers may give for them, and what they are told if it is wrong."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
import pytest

from unswayed.base.errors import UsageError, at_command_line, option
from unswayed.base.options import Count, Positive, Share, doc, options_in_plan, options_of, with_values


class Inner(msgspec.Struct, frozen=True, kw_only=True):
    rate: Annotated[Positive | None, doc("Requests a second.")] = None


class Part(msgspec.Struct, frozen=True, kw_only=True):
    count: Annotated[Count | None, doc("How many.", metavar="N")] = None
    share: Annotated[Share, doc("A share.")] = 0.0
    names: Annotated[tuple[str, ...], doc("A name. Repeatable.", "--name", column=True)] = ()
    labels: Annotated[tuple[str, ...] | None, doc("Labels.", commas=True)] = None
    kind: Annotated[Literal["z", "a"], doc("The kind.")] = "z"
    sure: Annotated[bool, doc("Is it sure?")] = True
    limits: Annotated[dict[str, float], doc("Limits.", pairs="=", expects="NAME=LIMIT, such as a=0.1")] = {}
    most: Annotated[float | dict[str, float] | None, doc("The most.", pairs=":", expects="[SET:]LIMIT")] = None
    inner: Inner = Inner()


class Whole(msgspec.Struct, frozen=True, kw_only=True):
    part: Part = Part()


def changed(**values: Any) -> Part:
    return with_values(Whole(), {"part": values}, lambda one: ".".join(one.path)).part


@pytest.mark.parametrize(
    ("name", "given", "found"),
    [
        ("count", np.int64(3), 3),
        ("share", 1, 1.0),
        ("names", "one", ("one",)),
        ("names", ["one", 2], ("one", "2")),
        ("names", np.array(["one", "two"]), ("one", "two")),
        ("labels", "a, b,,c", ("a", "b", "c")),
        ("labels", ["a,b"], ("a,b",)),
        ("kind", "a", "a"),
        ("sure", False, False),
        ("limits", {"a": 1}, {"a": 1.0}),
        ("limits", ["a=0.1", "x=y=2"], {"a": 0.1, "x=y": 2.0}),
        ("most", 0.1, 0.1),
        ("most", "0.1", {"all": 0.1}),
        ("most", ["k/a:0.2"], {"k/a": 0.2}),
        ("inner", {"rate": 2}, Inner(rate=2.0)),
        ("inner", Inner(rate=3.0), Inner(rate=3.0)),
        ("count", None, None),
    ],
)
def test_what_callers_may_give(name: str, given: object, found: object) -> None:
    assert getattr(changed(**{name: given}), name) == found


@pytest.mark.parametrize(
    ("name", "given", "told"),
    [
        ("count", 0, "part.count must be a whole number of 1 or more, not 0."),
        ("count", True, "part.count must be a whole number of 1 or more, not True."),
        ("count", "3", "not '3'."),
        ("share", 2, "part.share must be a number between 0 and 1, not 2."),
        ("names", [["x"]], "part.names must be a text or a list of texts"),
        ("kind", "b", "part.kind must be z or a, not 'b'."),
        ("sure", 1, "part.sure must be true or false, not 1."),
        ("limits", ["a=high"], "The limit of 'a' must be a number, not 'high'. Write NAME=LIMIT, such as a=0.1."),
        ("limits", {"a": float("nan")}, "must be a number"),
        ("limits", {"a": True}, "must be a number"),
        ("inner", {"rate": float("inf")}, "part.inner.rate must be a number above 0, not inf."),
        ("inner", 5, "part.inner must be a table of options, or Inner(…), not 5."),
        ("cuont", 1, "There is no option of part named 'cuont'. Did you mean 'count'?"),
    ],
)
def test_what_is_wrong_is_named(name: str, given: object, told: str) -> None:
    with pytest.raises(UsageError, match=re.escape(told)):
        changed(**{name: given})


def test_an_option_that_stands_outside_its_section_is_shown_its_home() -> None:
    with pytest.raises(UsageError, match="no section of a plan named 'count'. It belongs to part"):
        with_values(Whole(), {"count": 1}, lambda one: one.path[-1])


def test_an_unknown_option_is_not_taken_for_none() -> None:
    with pytest.raises(UsageError, match="no option of part named 'zzz'"):
        changed(zzz=None)


def test_options_know_their_flags_defaults_and_choices() -> None:
    options = options_of(Whole)
    assert options[("part", "names")].flag == "--name"
    assert options[("part", "sure")].flag == "--no-sure"
    assert options[("part", "kind")].choices == ("z", "a")
    assert options[("part", "limits")].default == {}
    assert ("part", "inner", "rate") in options
    assert options[("part", "inner", "rate")].as_plan(2) == 'plan={"part": {"inner": {"rate": 2}}}'


@options_in_plan(Whole, "part")
def call(data: object, *, name: str = "", plan: object = None) -> object:
    return plan


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"count": 3}, 'call() takes count in its plan: plan={"part": {"count": 3}}.'),
        ({"rate": 2.0}, 'call() takes rate in its plan: plan={"part": {"inner": {"rate": 2.0}}}.'),
        ({"inner": Inner()}, 'call() takes inner in its plan: plan={"part": {"inner": …}}.'),
        ({"cuont": 3}, 'call() has no argument \'cuont\'. Did you mean plan={"part": {"count": …}}?'),
        ({"nam": 3}, "call() has no argument 'nam'. Did you mean name?"),
        ({"zzzzzz": 3}, "call() has no argument 'zzzzzz'."),
    ],
)
def test_a_keyword_that_is_in_the_plan_is_shown_there(given: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageError, match=re.escape(told)):
        call([], **given)
    with pytest.raises(TypeError):
        call([], **given)
    assert call([], name="x", plan=5) == 5


def test_messages_spell_options_as_the_caller_does() -> None:
    import unswayed.run.plan  # noqa: F401 - whose options are in a plan in Python

    assert option("limit") == 'plan={"run": {"limit": …}}'
    assert option("no-sanity", value="False") == 'plan={"measure": {"sanity": False}}'
    assert option("gate-on", "compare.on", "at-best") == 'plan={"compare": {"on": "at-best"}}'
    assert (option("o", "to"), option("draws")) == ("to=", "draws=")
    with at_command_line():
        assert option("limit") == "--limit"
        assert option("no-sanity", value="False") == "--no-sanity"
        assert option("gate-on", "compare.on", "at-best") == "--gate-on at-best"
        assert option("o", "to") == "-o"

"""What systems share: inputs that lack something fail by themselves, a system around another one passes things on."""

from __future__ import annotations

from unswayed.base.values import Failed, Inputs, Json
from unswayed.systems.system import System, SystemAround, missing_input, predict_readable


def test_inputs_with_a_problem_fail_and_the_others_are_asked_together() -> None:
    asked: list[list[Inputs]] = []

    def lengths(batch: list[Inputs]) -> list[Json]:
        asked.append(batch)
        return [len(inputs["text"]) for inputs in batch]

    def lacks(inputs: Inputs) -> str | None:
        return missing_input(inputs, ["text"])

    first, second, third = predict_readable([{"text": "a"}, {"said": "b"}, {"text": "ccc"}], lacks, lengths)
    assert (first, third) == (1, 3)
    assert isinstance(second, Failed)
    assert (second.error, second.final) == ("the input has no 'text'", True)
    assert asked == [[{"text": "a"}, {"text": "ccc"}]]
    assert isinstance(predict_readable([{"said": "b"}], lacks, lengths)[0], Failed)
    assert len(asked) == 1  # where nothing is readable, nobody is asked


def test_a_system_around_another_one_has_its_settings_and_its_identity() -> None:
    class Inner(System):
        name, batch_size, deterministic, _identity = "inner", 7, True, "inner 1"

        def used(self) -> dict[str, float]:
            return {"requests": 2}

    around = SystemAround(Inner())
    assert (around.name, around.batch_size, around.deterministic, around.identity) == ("inner", 7, True, "inner 1")
    assert around.used() == {"requests": 2}

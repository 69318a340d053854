"""A solver for Inspect AI that says prompts differently: `solver=[varied("keyboard/adjacent"), generate()]`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from unswayed.base.errors import UsageError
from unswayed.run.texts import vary_text

try:
    from inspect_ai.solver import Generate, TaskState, solver
except ImportError as error:
    raise UsageError("This solver is for Inspect AI. Install it with:  pip install inspect-ai") from error

if TYPE_CHECKING:
    from inspect_ai.solver import Solver


@solver  # type: ignore[untyped-decorator]
def varied(operators: str | Sequence[str] = "@typing", seed: int = 0, language: str | None = None) -> Solver:
    """Varies the user's last message; each epoch asks another variant. Compare with the task without it.

    The metadata of a sample hold the text `unswayed_before` and the operator `unswayed_source`, which is empty where no
    operator found something to change.

    Example: `Task(dataset, solver=[varied("keyboard/adjacent"), generate()], scorer=match(), epochs=3)`.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        before = state.user_prompt.text
        variants = vary_text(before, operators, state.epoch, seed=seed, language=language)
        variants.sort(key=lambda variant: variant.draw)  # one of each operator, then the next of each
        chosen = variants[(state.epoch - 1) % len(variants)] if variants else None
        state.metadata["unswayed_before"], state.metadata["unswayed_source"] = before, chosen.source if chosen else ""
        if chosen is not None:
            state.user_prompt.text = chosen.inputs["text"]
        return state

    return solve

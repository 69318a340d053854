from unswayed.run.engine import run_system
from unswayed.run.making import make_suite
from unswayed.run.plan import NATURE
from unswayed.run.record import Run

__all__ = ["NATURE", "Run", "make_suite", "run_system"]

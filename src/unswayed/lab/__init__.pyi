from unswayed.lab.realism.compare import looks as typing_errors

__all__ = ["typing_errors"]

"""Answers that other tools logged: a file for each tool, and the system that answers from their logs."""

from unswayed.base.registry import Registry
from unswayed.data.logs._logged import LoggedAnswer, LoggedSystem, LogReader

log_readers: Registry[LogReader] = Registry("log", LogReader, "unswayed.data.logs")

__all__ = ["LogReader", "LoggedAnswer", "LoggedSystem", "log_readers"]

"""The version, read from the installed package so that it is written in one place."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

try:
    VERSION = version("unfazed")
except PackageNotFoundError:  # a checkout that was not installed
    VERSION = "0+unknown"

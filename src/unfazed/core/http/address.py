"""Where a request goes and which key it takes along: what might go elsewhere than it seems to is refused."""

from __future__ import annotations

import os
import re
from urllib.parse import SplitResult, quote, urlsplit

from unfazed.core.errors import UsageError

KEY = "OPENAI_API_KEY"
LOOPBACK = ("localhost", "127.0.0.1", "::1")


def checked_url(url: str) -> SplitResult:
    """The URL in parts, fit to be asked; what could go elsewhere than it seems to is refused."""
    if any(c <= " " or c == "\x7f" for c in url):
        raise UsageError("The URL has a space or a control character in it.")
    try:
        parts = urlsplit(url)
        _ = parts.port
        host = (
            (parts.hostname or "").encode("idna").decode() if not (parts.hostname or "").isascii() else parts.hostname
        )
    except (ValueError, UnicodeError) as error:
        raise UsageError(f"{url!r} is not a URL: {error}.") from error
    if parts.scheme not in ("http", "https") or not host:
        raise UsageError(
            f"A server's URL begins with http://HOST or https://HOST; {parts.scheme}://{host or ''} does not."
        )
    if parts.username is not None or parts.password is not None:
        raise UsageError(
            "A URL with a user or a password in it would be stored with the run; put a key in the environment."
        )
    shown = f"[{host}]" if ":" in host else host
    netloc = shown if parts.port is None else f"{shown}:{parts.port}"
    path, query = (quote(text, safe="/%:@!$&'()*+,;=~?") for text in (parts.path, parts.query))
    return SplitResult(parts.scheme, netloc, path, query, "")


def key_for(url: SplitResult, name: str | None, default: bool) -> str | None:
    """The key in the environment under that name, or, by `default`, OpenAI's where it can't be read on the way."""
    if name is None and default and (url.scheme == "https" or url.hostname in LOOPBACK):
        name = KEY if os.environ.get(KEY) else None
    if name is None:
        return None
    key = os.environ.get(name, "").strip()
    if not key:
        raise UsageError(
            f"The environment has no {name}. Set it to the server's key, then give the same command again."
        )
    if not re.fullmatch(r"[\x21-\x7e]+", key):
        raise UsageError(f"The key in {name} has a character that no key has, such as a space or a line's end.")
    return key

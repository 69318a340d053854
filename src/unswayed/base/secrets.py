"""Keys and passwords in commands, addresses and options: found by name, and masked in all that is kept or printed."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any
from urllib.parse import SplitResult, quote, unquote

import msgspec

from unswayed.base.lazy_pattern import lazy_pattern

MASK = "***"
_NAMES = r"api_?key|access_?key|private_?key|secret_?key|subscription_?key|token|secret|password|passwd|passphrase|pwd"
_NAMES += r"|credentials?|authorization|bearer|cookie|sig|signature"
_SECRET = lazy_pattern(rf"(?:.*_)?(?:{_NAMES})", re.I)
_NOT_SECRET = lazy_pattern(
    r"(?:.*_)?(?:pad|eos|bos|unk|sep|cls|mask|stop|start|end|text|label|next|first|last)_token", re.I
)
_PERHAPS = lazy_pattern(r"(?:.*_)?(?:key|auth|pass)", re.I)  # secret unless the value is a plain word
_WORD = lazy_pattern(r"[a-z_]{1,24}|\d{1,3}", re.I)
_ENVIRONMENT = lazy_pattern(r"(?:.*_)?(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?|AUTH)(?:_\d+)?", re.I)
_HEADER = lazy_pattern(r"([\w-]+)\s*:\s*(?:(?:bearer|basic|token|key)\s+)?(\S.*)", re.I)
_USER = lazy_pattern(r"://[^/\s:@]*:([^/\s@]+)@")
_QUERY = lazy_pattern(r"[?&;]([\w.-]+)=([^&#\s]+)")
_OPTION = rf"(?<!\w)--?[\w-]*(?:{_NAMES.replace('_?', '[-_]?')})[= ]"
_IN_TEXT = lazy_pattern(rf"({_OPTION}|\bbearer\s+|[?&][\w-]*(?:{_NAMES}|key)=)([^\s'\"&#]+)", re.I)

_SHORTEST = 6  # characters of what is masked without being named
_LONG_WORD = 8  # letters from which on the plain word in PASSWORD or TOKEN is masked: such a word is no label

_told: list[str] = []  # the longest first


def hide(secrets: Iterable[str], named: bool = False) -> None:
    """Has these texts masked from now on wherever they stand, in this process.

    Unless the user named it, a plain word is not: if a password is `music`, answers may well have the word too.
    """
    found = {secret for secret in secrets if secret and (named or _is_strong(secret))}
    _told[:] = sorted({*_told, *found}, key=lambda secret: (-len(secret), secret))


def _is_strong(secret: str) -> bool:
    return len(secret) >= _SHORTEST and not _WORD.fullmatch(secret)


@cache
def _variable_kind(name: str) -> str:
    """KEY, TOKEN, PASSWORD, … if a variable of the environment has the name of a secret."""
    found = _ENVIRONMENT.fullmatch(name)
    return found[1].upper() if found and not _NOT_SECRET.fullmatch(name) else ""


_is_path = cache(os.path.exists)  # of a key's file, whose path is no secret


def _environment() -> Iterator[str]:
    """The values of the environment's secrets, such as of OPENAI_API_KEY, as they are now: programs load .env late.

    A short value, the path of a file and a plain word, such as KEY=name, stay as they are; of a token or a password, a
    word of eight letters or more does not.
    """
    for name, value in os.environ.items():
        if (kind := _variable_kind(name)) and len(value) >= _SHORTEST:
            word_is_secret = kind not in ("KEY", "AUTH") and len(value) >= _LONG_WORD and not value.isdecimal()
            if (word_is_secret or _is_strong(value)) and not _is_path(value):
                yield value


def _known() -> list[str]:
    """All secrets that are masked now, the longest first."""
    told = set(_told)
    new = [form for secret in _environment() for form in (secret, quote(secret, safe="")) if form not in told]
    return sorted({*told, *new}, key=lambda secret: (-len(secret), secret)) if new else _told


def masked(text: str) -> str:
    """A text for people to read, without secrets that are known and without what looks like one."""
    return _IN_TEXT.sub(rf"\g<1>{MASK}", without_known(text))


def without_known(text: str) -> str:
    """The text without the secrets that were found, named, or are in the environment."""
    for secret in _known():
        if secret in text:
            text = text.replace(secret, MASK)
    return text


def without_known_bytes(content: bytes) -> bytes:
    """The same of JSON, in which a secret may be written in two ways."""
    for secret in _known():
        for form in (secret.encode(errors="replace"), msgspec.json.encode(secret)[1:-1]):
            content = content.replace(form, MASK.encode())
    return content


def masked_command(words: Sequence[str]) -> list[str]:
    """The words of a command with its secrets masked, which are masked wherever else they stand from now on."""
    found: list[str] = []
    done = [_masked_word(word, words[i - 1] if i else "", found) for i, word in enumerate(words)]
    hide(found)
    return [without_known(word) for word in done]


def masked_spec(spec: str) -> str:
    """What names a system, such as `cmd:COMMAND` or a URL, with secrets masked."""
    scheme, colon, rest = spec.partition(":")
    if "://" in spec and " " not in spec:
        return masked_url(spec)
    try:
        words = shlex.split(rest if colon else spec)
    except ValueError:
        return masked(spec)
    kept = masked_command(words)
    if kept == words:
        return without_known(spec)
    shown = " ".join(word if MASK in word and " " not in word else shlex.quote(word) for word in kept)
    return f"{scheme}:{shown}" if colon else shown


def masked_url(url: str | SplitResult) -> str:
    """An address without its password and without values of its query that are secrets."""
    text = url if isinstance(url, str) else url.geturl()
    found: list[str] = []
    done = _masked_address(text, found)
    hide(unquote(secret) for secret in found)
    hide(found)
    return without_known(done)


def masked_data(value: Any) -> Any:
    """Plain data, such as options and parameters, with secrets masked; the very same where there are none."""
    try:
        plain = msgspec.to_builtins(value)
    except TypeError:  # an object of the user's own
        return value
    done = _masked_value(plain)
    return value if done == plain else done


def has_secret(url: SplitResult) -> bool:
    """Does the address itself hold a key?"""
    return any(_is_secret(name, value) for name, value in _QUERY.findall(f"?{url.query}"))


def _masked_value(value: Any, name: str = "") -> Any:
    if isinstance(value, dict):
        return {key: _masked_value(item, str(key)) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_masked_value(item, name) for item in value]
    if not isinstance(value, str):
        return value
    if name and _is_secret(name, value):
        hide([value])
        return MASK
    return masked_spec(value) if "://" in value or value.startswith(("cmd:", "command:")) else without_known(value)


def _masked_word(word: str, before: str, found: list[str]) -> str:
    """A word of a command, after the word before it; secrets are added to those found."""
    if before.startswith("-") and "=" not in before and not word.startswith("-"):
        if _is_secret(before.lstrip("-"), word):
            found.append(word)
            return MASK
        if before.lstrip("-") in ("u", "user") and ":" in word:
            found.append(word.partition(":")[2])
            return f"{word.partition(':')[0]}:{MASK}"
    if " " in word and not _HEADER.fullmatch(word):  # a command inside the command, as after sh -c
        try:
            inner = shlex.split(word)
        except ValueError:
            inner = []
        if len(inner) > 1:
            secrets: list[str] = []
            for i, one in enumerate(inner):
                _masked_word(one, inner[i - 1] if i else "", secrets)
            found += secrets
            for secret in sorted(secrets, key=len, reverse=True):
                word = word.replace(secret, MASK)
    name, equals, value = word.partition("=")
    if equals and value and re.fullmatch(r"-*[\w.-]+", name) and _is_secret(name.lstrip("-"), value):
        found.append(value)
        return f"{name}={MASK}"
    header = _HEADER.fullmatch(value if equals and name.startswith("-") else word)
    if header and _is_secret(header[1], header[2]):
        found.append(header[2])
        return word.replace(header[2], MASK)
    for secret in _environment():
        if secret in word:
            found.append(secret)
            word = word.replace(secret, MASK)
    return _masked_address(word, found)


def _masked_address(text: str, found: list[str]) -> str:
    if "://" in text:
        values = [value for name, value in _QUERY.findall(text) if _is_secret(name, value)]
        for secret in _USER.findall(text) + values:
            if secret != MASK:
                found.append(secret)
                text = text.replace(secret, MASK)
    return text


def _is_secret(name: str, value: str) -> bool:
    plain = name.replace("-", "_").replace(".", "_")
    if _NOT_SECRET.fullmatch(plain) or not value:
        return False
    return bool(_SECRET.fullmatch(plain) or (_PERHAPS.fullmatch(plain) and not _WORD.fullmatch(value)))

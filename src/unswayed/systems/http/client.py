"""Retrying JSON client: honours Retry-After, never logs the key. And any server of one's own that takes JSON."""

from __future__ import annotations

import math
import ssl
import time
import weakref
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from threading import Condition, Event, Lock
from typing import TypeVar

import msgspec

from unswayed.base.chat import as_sent
from unswayed.base.errors import SystemBroken, UsageError
from unswayed.base.ids import content_id
from unswayed.base.registry import VERSION
from unswayed.base.reply import tokens_in_usage
from unswayed.base.secrets import masked_url
from unswayed.base.seeds import Stream
from unswayed.base.values import REFUSED, Inputs, Json
from unswayed.systems.http import Pace, spend
from unswayed.systems.http.connection import Connection, CutShort, Limits, Reply, Unreachable, checked_url, key_for
from unswayed.systems.system import Failed, Prices, System, plain, prices_of

T = TypeVar("T")
_NAMES = {"tokens_in": "tokens in", "tokens_out": "tokens out", "timeouts": "time-outs", "cut": "cut off"}
_FALSE_STARTS = 5  # failures to connect before any answer at all: the address is wrong, or nobody is there
_PASSING = {408, 409, 425, 429}  # of the request's own faults, those that another try may mend
_BUSY = {429, 503, 529}  # the server takes no more for now
_BROKEN = {401, 404, 405, 407}  # and those that every other request will have too
_NO_KEY = (b"API key not valid", b"API_KEY_INVALID", b"insufficient_quota")  # the same, under other numbers


class Unanswered(Exception):
    """A request has no usable answer, for the reason given, and asking again does not help."""

    def __init__(self, reason: str, reached: bool = True) -> None:
        super().__init__(reason)
        self.reached = reached  # if not, it is nothing about this request


class Refused(Unanswered):
    """The server will not answer this very request; `content` is what it sent instead."""

    def __init__(self, reason: str, content: bytes = b"") -> None:
        super().__init__(reason)
        self.content = content


class Malformed(Exception):
    """What came is not the answer that was agreed on; raised by those who read it."""


class TryAgain(Exception):
    """This try failed, another may not. `wait` is how many seconds the server wants to be left alone."""

    def __init__(self, reason: str, wait: float = 0.0, reached: bool = True) -> None:
        super().__init__(reason)
        self.wait, self.reached = wait, reached


class HttpSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How long to wait, in seconds, and how often to try. Retries wait `backoff` × 1, 2, 4, … less up to half of it.

    `timeout` is how long an answer may take, as for every system; it stands for `read_timeout` and `total_timeout`.
    """

    timeout: float | None = None
    connect_timeout: float = 10.0
    read_timeout: float = 120.0
    total_timeout: float = 300.0
    backoff: float = 0.5
    longest_wait: float = 120.0  # if the server asks for a longer wait, the request fails
    largest: int = 16 << 20  # bytes of an answer
    rate: float | None = None  # requests a second, at most

    def __post_init__(self) -> None:
        for name in ("timeout", "connect_timeout", "read_timeout", "total_timeout", "largest"):
            if (value := getattr(self, name)) is not None and not value > 0:
                raise UsageError(f"{name} must be more than 0.")
        if self.rate is not None and not (self.rate > 0 and math.isfinite(self.rate)):
            raise UsageError(f"rate must be a number above 0, of requests a second, not {self.rate!r:.60}.")
        if not (self.backoff >= 0 and self.longest_wait >= 0):
            raise UsageError("backoff and longest_wait must be 0 or more.")


class Endpoint:
    """Something that requests are sent to from many threads: paced, tried again and counted. Extend with `_send`.

    All threads share one pace, which slows down where requests are refused because there are too many.
    """

    shown: str  # for people

    def __init__(self, settings: HttpSettings | None = None, retries: int = 6) -> None:
        self.retries = retries
        self._settings = settings or HttpSettings()
        self._lock = Lock()
        self._closed = Event()
        self.pace, self._turn = Pace(self._settings.rate), Condition()
        self._used: Counter[str] = Counter()
        self._answered = False
        self._unreachable = 0

    def _send(self, content: bytes) -> Reply:
        """The reply to one request. Raises TryAgain where there is none and another try may have one."""
        raise NotImplementedError

    def _data_in(self, reply: Reply) -> Json:
        """What an answer holds. Raises DecodeError or ValueError where that can't be read."""
        return msgspec.json.decode(reply.content)

    def post(self, body: Json, read: Callable[[Json], T]) -> T:
        """What `read` makes of the answer; where it raises Malformed, the request is made again."""
        try:
            content = msgspec.json.encode(body)
        except UnicodeEncodeError as error:
            raise Unanswered(f"the input is not a text: {error.reason}") from error
        attempt = 1
        while True:
            try:
                reply = self._exchange(content)
                if 200 <= (status := reply.status) < 300:
                    try:
                        return read(self._data_in(reply))
                    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                        raise TryAgain(f"the answer is not JSON: {_quote_content(reply.content)}") from None
                    except Malformed as problem:
                        raise TryAgain(f"{problem}: {_quote_content(reply.content)}") from None
                told = f"the server answered {status}: {_quote_content(reply.content)}"
                if 300 <= status < 400:
                    location = reply.headers.get("location", "").partition("?")[0]
                    to = location[:200]
                    raise SystemBroken(
                        f"{self.shown} redirects to {to!r}. Redirects are not followed, since they might take the key "
                        f"and the data elsewhere; name that address yourself if it is the right one."
                    )
                if status in _BROKEN or any(mark in reply.content for mark in _NO_KEY):
                    hint = " Is the key right, and in the environment?" if status == 401 else ""
                    raise SystemBroken(f"{self.shown}: {told}.{hint}")
                if status == 429 or status >= 500:
                    self.use(**{"429" if status == 429 else "5xx": 1})
                if status in _PASSING or status >= 500:
                    raise TryAgain(told, retry_after(reply.headers))
                if b"content_filter" in reply.content or b"content_policy" in reply.content:
                    self.use(refusals=1)
                    told = f"{REFUSED}: {told}"
                raise Refused(told, reply.content)
            except TryAgain as trouble:
                if self._closed.is_set():
                    raise self._was_closed() from None
                if attempt > self.retries:
                    times = "once" if attempt == 1 else f"{attempt} times"
                    raise Unanswered(f"{trouble} (asked {times})", trouble.reached) from trouble
                if trouble.wait > self._settings.longest_wait:
                    asked = f"to be asked again after {trouble.wait:,.0f} s, which is too long"
                    raise Unanswered(f"{trouble} ({asked})") from trouble
                # How long to wait is derived from the request, so that threads spread out.
                spread = 1 - Stream(content + attempt.to_bytes(4, "big")).random() / 2
                backoff = self._settings.backoff * 2.0 ** min(attempt - 1, 30) * spread
                self.use(retries=1)
                self._closed.wait(max(trouble.wait, min(backoff, self._settings.longest_wait)))
                attempt += 1

    def use(self, **amounts: float) -> None:
        """Adds to what is counted."""
        with self._lock:
            for name, amount in amounts.items():
                self._used[_NAMES.get(name, name)] += amount  # type: ignore[assignment]

    def use_tokens(self, found: Mapping[str, int], prices: Prices | None) -> None:
        """Counts the tokens that a server says it used, and their cost."""
        spend(**found)
        self.use(**found)
        if prices is not None and found:
            self.use(cost=prices.cost(found.get("tokens_in"), found.get("tokens_out")))

    def used(self) -> dict[str, float]:
        """What was used since this was asked last: requests, retries, and what readers of answers counted."""
        with self._lock:
            used, self._used = self._used, Counter()
        return dict(used)

    def close(self) -> None:
        """Ends waits between requests at once."""
        self._closed.set()
        with self._turn:
            self._turn.notify_all()

    def _exchange(self, content: bytes) -> Reply:
        """The reply to one request, which waits until the server's limits let it be sent."""
        with self._turn:
            while not self._closed.is_set() and (wait := self.pace.delay(now := time.monotonic())) != 0.0:
                self._turn.wait(wait)
            if self._closed.is_set():
                raise self._was_closed()
            sent_at = self.pace.send(now)
        reply: Reply | None = None
        try:
            self.use(requests=1, retries=0)
            reply = self._send(content)
            self._answered = True
        finally:
            with self._turn:
                now = time.monotonic()
                if reply is not None and reply.status in _BUSY:
                    wait = min(retry_after(reply.headers), self._settings.longest_wait)
                    self.pace.refuse(sent_at, now, wait)
                else:
                    self.pace.accept()
                self._turn.notify()
        spend(seconds=now - sent_at)
        return reply

    def _was_closed(self) -> UsageError:
        return UsageError(f"{self.shown} was closed; open it again to use it.")


class Client(Endpoint):
    """Posts to one URL. A connection is opened for each request that is under way at the same time, and kept for the
    next."""

    def __init__(
        self, url: str, key: str | None = None, settings: HttpSettings | None = None, retries: int = 6,
        key_header: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__(settings, retries)
        self.url = checked_url(url)
        self.shown = self.url._replace(query="").geturl()
        s = self._settings
        self._limits = Limits(s.connect_timeout, s.timeout or s.read_timeout, s.timeout or s.total_timeout, s.largest)
        # A server may well say the key back, in an error or an answer; the second form is JSON's.
        self._key_forms = [] if key is None else [form.encode() for form in {key, key.replace("/", "\\/")}]
        self._headers = {"Content-Type": "application/json", "Accept": "application/json"}
        self._headers["User-Agent"] = f"unswayed/{VERSION}"
        if key is not None:
            own = key_header not in (None, "Authorization")
            self._headers[key_header if own and key_header else "Authorization"] = key if own else f"Bearer {key}"
        self._free: list[Connection] = []
        self._busy: set[Connection] = set()
        weakref.finalize(self, _close_all, self._free)  # also where nobody called close()

    def close(self) -> None:
        """Ends requests that are under way, and waits between them, at once."""
        super().close()
        with self._lock:
            for connection in self._busy:
                connection.interrupt()
            _close_all(self._free)

    def _send(self, content: bytes) -> Reply:
        connection: Connection | None = None
        try:
            with self._lock:
                if self._closed.is_set():
                    raise self._was_closed()
                connection = self._free.pop() if self._free else Connection(self.url, self._limits, self._headers)
                self._busy.add(connection)
            reply = connection.exchange(content)
        except Unreachable as error:
            self._unreachable += 1
            lasting = isinstance(error.__cause__, ssl.SSLCertVerificationError)
            if lasting or (not self._answered and self._unreachable >= _FALSE_STARTS):
                raise SystemBroken(
                    f"{self.shown} can't be reached: {error}. Is the address right, and the server up?"
                ) from error
            raise TryAgain(f"the server can't be reached: {error}", reached=False) from error
        except TimeoutError:
            self.use(timeouts=1)
            raise TryAgain("no answer in time") from None
        except CutShort as error:
            told = "the answer was cut off before its end" if error.began else "the server hung up without an answer"
            raise TryAgain(told) from error
        except (OSError, ValueError) as error:
            raise TryAgain(f"the connection broke: {error or type(error).__name__}") from error
        finally:
            if connection is not None:
                with self._lock:
                    self._busy.discard(connection)
                    if not self._closed.is_set():
                        self._free.append(connection)
                if self._closed.is_set():
                    connection.close()
        if self._key_forms and "location" in reply.headers:
            shown = self._without_key(reply.headers["location"].encode(errors="replace")).decode()
            reply = reply._replace(headers={**reply.headers, "location": shown})
        return reply._replace(content=self._without_key(reply.content))

    def _without_key(self, content: bytes) -> bytes:
        for form in self._key_forms:
            content = content.replace(form, b"***")
        return content


def _close_all(connections: list[Connection]) -> None:
    while connections:
        connections.pop().close()


def retry_after(headers: Mapping[str, str]) -> float:
    """How many seconds the server wants to be left alone; given as a number or as a date, by its own clock."""
    text = headers.get("retry-after", "").strip()
    if not text:
        return 0.0
    try:
        seconds = float(text)
        return max(seconds, 0.0) if math.isfinite(seconds) else 0.0
    except ValueError:
        pass
    from email.utils import parsedate_to_datetime  # which few servers make necessary

    dates: list[datetime | None] = []
    for written in (text, headers.get("date", "")):
        try:
            date = parsedate_to_datetime(written)
            dates.append(date if date.tzinfo else date.replace(tzinfo=UTC))
        except (ValueError, TypeError, IndexError, OverflowError):
            dates.append(None)
    until, now = dates
    return max((until - (now or datetime.now(UTC))).total_seconds(), 0.0) if until else 0.0


def _quote_content(content: bytes) -> str:
    """The beginning of what a server said: its own message, where it has the usual form."""
    try:
        reply = msgspec.json.decode(content)
        error = (reply[0] if isinstance(reply, list) else reply)["error"]  # Gemini puts it into a list
        text = str(error["message"] if isinstance(error, dict) else error)
    except Exception:  # whatever it is, it is shown as it is
        text = content[:2000].decode(errors="replace")
    text = " ".join(text.split())
    return repr(text[:200]) + ("…" if len(text) > 200 else "")


class HttpSystem(System):
    """A system that asks a server through `_client`."""

    retries = 6
    _client: Endpoint

    def post(self, body: Json, read: Callable[[Json], T]) -> T:
        """What `read` makes of the answer, once the system's own number of retries is known to the client."""
        self._client.retries = self.retries
        return self._client.post(body, read)

    def used(self) -> dict[str, float]:
        return self._client.used()

    def limit(self, rate: float) -> bool:
        self._client.pace.cap = rate
        return True

    def close(self) -> None:
        self._client.close()


class JsonSystem(HttpSystem):
    """Posts `{"inputs": [{…}, …]}` and reads `{"outputs": […]}`, one output for each input, in order.

    An item that the server has no output for is named in `"errors"`, a list as long, of texts and nulls.
    """

    batch_size = 16
    concurrency = 4

    def __init__(
        self, url: str, key_env: str | None = None, identity: str | None = None, insecure: bool = False,
        price_in: float | None = None, price_out: float | None = None, **waits: float,
    ) -> None:  # fmt: skip
        parts = checked_url(url)
        self.prices = prices_of(price_in, price_out)
        key = key_for(parts, key_env, default=False, insecure=insecure)
        self._client = client = Client(url, key, HttpSettings(**waits))  # type: ignore[arg-type]
        self.name = client.shown
        self._identity = f"http {content_id(masked_url(parts))} {self.name}" if identity is None else identity

    def predict(self, batch: Sequence[Inputs]) -> Sequence[Json | Failed]:
        if not batch:
            return []
        try:
            return self.post({"inputs": list(map(as_sent, batch))}, lambda value: self._read(value, len(batch)))
        except Unanswered as problem:
            if len(batch) > 1 and problem.reached:
                raise  # one of them may be to blame: they are asked one by one
            return [Failed(str(problem), final=True) for _ in batch]

    def _read(self, value: Json, asked: int) -> list[Json | Failed]:
        outputs = value.get("outputs") if isinstance(value, dict) else None
        if not isinstance(outputs, list):
            raise Malformed('the answer is not {"outputs": […]}')
        errors = value.get("errors") or [None] * asked
        if len(outputs) != asked or not isinstance(errors, list) or len(errors) != asked:
            raise SystemBroken(
                f"{self.name} returned {len(outputs)} outputs for {asked} inputs; it must return one for each, "
                f"in order, and as many errors, if any."
            )
        self._client.use_tokens(tokens_in_usage(value), self.prices)
        return [
            plain(output) if error is None else Failed(str(error)[:2000], final=True)
            for output, error in zip(outputs, errors, strict=True)
        ]

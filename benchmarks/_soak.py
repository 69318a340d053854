"""One study, many sessions one after another: each arrives, agrees, answers an item and leaves; the server's memory."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from benchmarks._traffic import resident_megabytes, started

AT_ONCE = 20


async def soak(folder: Path, sessions: int, looks: list[int]) -> list[float]:
    """The megabytes of the server after so many sessions, for each of the looks."""
    from unswayed.collect.database import open_database
    from unswayed.collect.people import hashed, invite
    from unswayed.collect.site import signed
    from unswayed.collect.study import read_study

    found = []
    with started(folder, items=sessions) as (process, port):
        study = read_study(folder / "served" / "study.toml")
        with open_database(study.place) as database:
            names = [f"p{n}" for n in range(sessions)]
            tokens = database.write(lambda tx: [invite(tx, study, name) for name in names])
            ((secret,),) = database.read(lambda tx: tx.rows("SELECT value FROM facts WHERE name = 'secret'"))

        async def session(token: str) -> None:
            csrf, cookie = signed(secret, hashed(token)), f"cookie: token={token}"
            reader, writer = await asyncio.open_connection("127.0.0.1", port)

            async def ask(method: str, path: str, body: str = "", *headers: str) -> str:
                lines = [f"{method} {path} HTTP/1.1", "host: x", f"content-length: {len(body)}", cookie, *headers]
                writer.write("\r\n".join([*lines, "", body]).encode())
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
                size = int(head.partition("content-length: ")[2].partition("\r\n")[0] or 0)
                assert int(head.split()[1]) < 400, head
                return (await reader.readexactly(size)).decode()

            await ask("GET", f"/i/{token}")
            await ask("POST", "/consent", f"csrf={csrf}&agree=yes", "content-type: application/x-www-form-urlencoded")
            item = (await ask("GET", "/task")).partition('data-item="')[2].partition('"')[0]
            log = [{"t": n, "e": "down", "k": "Process", "c": "KeyA"} for n in range(40)]
            body = json.dumps({"item": item, "answer": {"choice": ["speech"]}, "log": log})
            await ask("POST", "/answer", body, f"x-csrf: {csrf}")
            writer.close()
            await writer.wait_closed()

        for first, last in zip((0, *looks), looks, strict=False):
            for at in range(first, last, AT_ONCE):
                await asyncio.gather(*map(session, tokens[at : min(at + AT_ONCE, last)]))
            found.append(resident_megabytes(process.pid))
    return found

"""Commands of unswayed in processes of their own that begin at once: forks of a process that has imported it already.

`unswayed("vary", "mine.jsonl", …)` is what `subprocess.run([sys.executable, "-m", "unswayed", …])` is, for a tenth of
the time; with `path()` in front of PATH, so is `unswayed` in a shell. Take a real process where its start matters, or
where it is killed.
"""

from __future__ import annotations

import atexit
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

Done = subprocess.CompletedProcess[str]
CLIENT = f"""#!{sys.executable} -IS
import json, os, socket, sys
line = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
line.connect(os.path.join(os.path.dirname(__file__), "line"))
asked = os.memfd_create("asked")
os.write(asked, json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode())
socket.send_fds(line, [b"."], [asked, 0, 1, 2])
sys.exit(int(line.recv(16)))
"""


def unswayed(*arguments: object, cwd: object = None, env: dict[str, str] | None = None, check: bool = False) -> Done:
    """The command's exit code and all that it printed."""
    words = [str(word) for word in arguments]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        given = {**os.environ, **(env or {})}
        command = [path() / "unswayed", *words]
        code = subprocess.run(command, cwd=str(cwd or "."), env=given, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        out.seek(0)
        err.seek(0)
        printed, told = (file.read().decode(errors="replace") for file in (out, err))
    assert not check or code.returncode == 0, told
    return Done(words, code.returncode, printed, told)


@cache
def path() -> Path:
    """A folder with a program `unswayed`, behind which is a process that forks. Both end with this process."""
    folder = Path(tempfile.mkdtemp(prefix="unswayed-"))
    program = folder / "unswayed"
    program.write_text(CLIENT)
    program.chmod(0o755)
    line = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    line.bind(str(folder / "line"))
    line.listen(64)
    ours, theirs = socket.socketpair()
    command = [sys.executable, __file__, str(line.fileno()), str(theirs.fileno())]
    process = subprocess.Popen(command, pass_fds=[line.fileno(), theirs.fileno()], stdin=subprocess.DEVNULL, cwd="/")
    line.close()
    theirs.close()

    def end() -> None:
        ours.close()
        process.wait()
        shutil.rmtree(folder)

    atexit.register(end)
    return folder


def serve(line: socket.socket, alive: socket.socket) -> None:
    """Forks a process for each request until whoever started this one is gone."""
    import select

    import unswayed.report.html  # noqa: F401  here, so that not every fork has to
    from unswayed import cli, make_suite, measure_run, run_system  # noqa: F401

    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those that wait for the commands
    while line in select.select([line, alive], [], [])[0]:
        caller, _ = line.accept()
        if not os.fork():
            break
        caller.close()
    else:
        return
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    line.close()
    alive.close()
    files = socket.recv_fds(caller, 16, 4)[1]
    if child := os.fork():
        for file in files:
            os.close(file)
        caller.send(b"%d" % (os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) % 256))
        os._exit(0)
    caller.close()
    become(*files)
    cli.main()


def become(asked: int, *files: int) -> None:
    """This fork has the request's words, folder, environment and files from now on."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.lseek(asked, 0, os.SEEK_SET)
    with open(asked) as request:
        words, folder, environment = json.load(request)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.argv = ["unswayed", *words]
    sys.path[0] = folder  # as `python -m` has it


if __name__ == "__main__":
    serve(*(socket.socket(fileno=int(number)) for number in sys.argv[1:]))

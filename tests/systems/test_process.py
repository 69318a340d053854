from __future__ import annotations

import gc
import os
import shutil
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from unswayed.base.errors import SystemBroken, UsageError
from unswayed.base.values import Json
from unswayed.systems.process import ProcessSystem
from unswayed.systems.system import Failed, System

ECHO = "for r in requests(): answer(r, output=text(r))\n"


def asked(*texts: str) -> list[dict[str, str]]:
    return [{"text": text} for text in texts]


def ask(system: System, *texts: str) -> list[Json | Failed]:
    return list(system.predict(asked(*texts)))


def error(output: Json | Failed) -> str:
    assert isinstance(output, Failed), output
    return output.error


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{pid}/stat")
    return not state.exists() or state.read_text().rpartition(")")[2].split()[0] != "Z"


def test_answers_come_back_in_order_whatever_theirs(program) -> None:
    system = program(
        "rs = [r for _, r in zip(range(5), requests())]\nfor r in reversed(rs): answer(r, output=text(r))\n"
    )
    assert ask(system, *"abcde") == list("abcde")


def test_ten_thousand_items(program) -> None:
    system = program(ECHO)
    texts = [f"text {i}" for i in range(10_000)]
    found = [o for at in range(0, 10_000, 64) for o in ask(system, *texts[at : at + 64])]
    assert found == texts


def test_full_pipes_do_not_deadlock(program) -> None:
    noisy = "for r in requests():\n    sys.stderr.write('e' * 300_000)\n    answer(r, output=text(r) * 2)\n"
    texts = [c * 300_000 for c in "abcdefgh"]
    assert ask(program(noisy), *texts) == [t * 2 for t in texts]


def test_unicode_and_line_ends_survive(program) -> None:
    texts = ["a\nb", "🙂", "שלום", "\u2028", "\x00", ""]
    assert ask(program(ECHO), *texts) == texts


CRASH = """
for r in requests():
    if 'crash' in text(r): print('out of luck', file=sys.stderr); os._exit(3)
    answer(r, output=text(r))
"""


def test_the_item_that_kills_the_process_fails_and_no_other(program) -> None:
    found = ask(program(CRASH), "a", "b", "crash", "c", "crash too", "d")
    assert [o for o in found if not isinstance(o, Failed)] == ["a", "b", "c", "d"]
    assert "ended with code 3" in error(found[2])
    assert "out of luck" in error(found[2])
    assert isinstance(found[4], Failed)
    assert found[4].final


def test_a_signal_is_named(program) -> None:
    system = program("for r in requests():\n    if text(r) == 'x': os.kill(os.getpid(), 9)\n    answer(r, output=1)\n")
    assert "SIGKILL" in error(ask(system, "a", "x")[1])


def test_crashes_for_no_fault_of_the_items_lose_none(program) -> None:
    leaky = "for n, r in enumerate(requests()):\n    if n == 7: os._exit(1)\n    answer(r, output=text(r))\n"
    texts = [str(i) for i in range(40)]
    assert ask(program(leaky), *texts) == texts


def test_one_answer_a_process_works(program) -> None:
    assert ask(program("r = next(requests()); answer(r, output=text(r))\n"), "a", "b", "c") == ["a", "b", "c"]


def test_a_hanging_item_fails_and_no_other(program) -> None:
    system = program(
        "for r in requests():\n    if text(r) == 'hang': time.sleep(600)\n    answer(r, output=text(r))\n",
        timeout=2.0,
    )
    assert ask(system, "warm") == ["warm"]
    found = ask(system, "a", "hang", "b")
    assert (found[0], found[2]) == ("a", "b")
    assert "no answer within" in error(found[1])


def test_a_line_that_is_not_ended_is_quoted(program) -> None:
    system = program("for r in requests(): print('half', end='', flush=True)\n", timeout=0.3, start_timeout=4)
    assert "it wrote 'half" in error(ask(system, "a")[0])


def test_a_slow_start_is_waited_for(program) -> None:
    assert ask(program("time.sleep(2.5)\n" + ECHO, timeout=2, start_timeout=100), "a", "b") == ["a", "b"]


def test_garbage_on_one_item_fails_that_item(program) -> None:
    system = program(
        "for r in requests():\n"
        "    if text(r) == 'g': print('Warning: deprecated!', flush=True)\n"
        "    answer(r, output=text(r))\n"
    )
    found = ask(system, "a", "g", "b")
    assert (found[0], found[2]) == ("a", "b")
    assert "not JSON" in error(found[1])
    assert "'Warning: deprecated!'" in error(found[1])


def test_a_banner_on_standard_output_breaks_the_system(program) -> None:
    system = program("print('Loading the model ' + 'm' * 500, flush=True)\n" + ECHO)
    with pytest.raises(SystemBroken, match=r"5 times in a row before its first answer.*'Loading the model m+'…"):
        ask(system, *"abcdefgh")


def test_a_program_that_never_works_breaks_the_system(program) -> None:
    with pytest.raises(SystemBroken, match="ModuleNotFoundError"):
        ask(program("import no_such_module_anywhere\n"), *"abcdefgh")


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('{"id": n, "error": "too long"}', "too long"),
        ('{"id": n}', 'neither "output" nor "error"'),
        ('{"id": n, "output": NaN}', "the output is NaN"),
        ('{"id": n, "output": {"p": [1, Infinity]}}', "the output['p'][1] is infinite"),
        ('{"id": n, "output": "\\ud800"}', "half a surrogate pair"),
        ('{"output": 1}', "is not {"),
        ('{"id": "n", "output": 1}', "is not {"),
        ('{"id": true, "output": 1}', "is not {"),
        ("[1, 2]", "is not {"),
        ("17", "is not {"),
        ('{"id": n, "output": ', "not JSON"),
        ("\\xff\\xfe", "not JSON"),
    ],
)
def test_bad_answers_fail_their_item(program, line: str, says: str) -> None:
    body = f"""
for r in requests():
    if text(r) != 'bad': answer(r, output=text(r)); continue
    line = {line!r}.replace('n, ', str(r['id']) + ', ').replace('n}}', str(r['id']) + '}}')
    sys.stdout.buffer.write(line.encode('latin-1') + b'\\n'); sys.stdout.flush()
"""
    if line.startswith("\\x"):
        body = body.replace(repr(line), "'\\xff\\xfe'")
    found = ask(program(body), "a", "bad", "b")
    assert (found[0], found[2]) == ("a", "b")
    assert says in error(found[1])


def test_ids_written_as_decimals_are_understood(program) -> None:
    assert ask(
        program("for r in requests(): print('{\"id\": %.1f, \"output\": 5}' % r['id'], flush=True)\n"), "a", "b"
    ) == [5, 5]


@pytest.mark.parametrize("body", ["r['id'] = 99", "answer(r, output=0)", "r['id'] = 0"])
def test_ids_that_were_not_asked_or_come_twice_break_the_system(program, body: str) -> None:
    system = program(f"for r in requests():\n    {body}\n    answer(r, output=1)\n")
    with pytest.raises(SystemBroken, match="answered id"):
        [ask(system, "a", "b") for _ in range(3)]  # what comes after a batch's last answer is read with the next


def test_a_huge_line_fails_its_item(program) -> None:
    body = "for r in requests(): answer(r, output='h' * (3_000_000 if text(r) == 'huge' else 5))\n"
    found = ask(program(body, max_line=1_000_000), "a", "huge", "b")
    assert (found[0], found[2]) == ("hhhhh", "hhhhh")
    assert "more than 1,000,000 bytes" in error(found[1])


def test_closing_its_output_is_the_end(program) -> None:
    system = program(
        "for r in requests():\n    if text(r) == 'x': os.close(1); time.sleep(600)\n    answer(r, output=text(r))\n"
    )
    found = ask(system, "a", "x", "b")
    assert (found[0], found[2]) == ("a", "b")
    assert "closed its standard output" in error(found[1])


def test_a_dead_process_whose_child_holds_the_pipe_is_noticed(program) -> None:
    system = program("r = next(requests())\nif os.fork() == 0: time.sleep(600)\nos._exit(4)\n")
    assert "code 4" in error(ask(system, "a")[0])


def test_close_ends_processes_that_resist_and_their_children(program) -> None:
    system = program(
        """
import signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = os.fork()
if child == 0: time.sleep(600)
for r in requests(): answer(r, output=[os.getpid(), child])
time.sleep(600)
"""
    )
    [pids] = ask(system, "a")
    assert all(alive(pid) for pid in pids)
    system.close()
    system.close()
    for _ in range(500):  # an orphan is reaped by init in its own time
        if not any(alive(pid) for pid in pids):
            break
        time.sleep(0.01)
    assert not any(alive(pid) for pid in pids)
    with pytest.raises(ChildProcessError):
        os.waitpid(pids[0], os.WNOHANG)


def test_a_system_that_is_forgotten_ends_its_process(program, tmp_path: Path) -> None:
    (tmp_path / "echo.py").write_text(
        Path(program(ECHO).command[1]).read_text().replace("text(r))\n", "os.getpid())\n")
    )
    system = ProcessSystem([sys.executable, str(tmp_path / "echo.py")])
    [pid] = ask(system, "a")
    del system
    gc.collect()
    assert not alive(pid)


def test_closing_while_it_is_asked_gives_up_at_once(program) -> None:
    system = program("for r in requests(): time.sleep(600)\n")
    with ThreadPoolExecutor(1) as pool:
        asking = pool.submit(ask, system, "a")
        threading.Event().wait(0.3)
        system.close()
        with pytest.raises(UsageError, match="was closed"):
            asking.result()
    with pytest.raises(UsageError, match="was closed"):
        ask(system, "a")


def test_an_interrupted_batch_leaves_no_answers_behind(program, monkeypatch: pytest.MonkeyPatch) -> None:
    system = program(ECHO)
    assert ask(system, "a") == ["a"]

    def interrupted(line: bytes) -> int:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("unswayed.systems.process.read_answer", interrupted)
        with pytest.raises(KeyboardInterrupt):
            ask(system, "b", "c")
    assert ask(system, "d") == ["d"]


def test_processes_work_side_by_side(program) -> None:
    system = program("for r in requests(): answer(r, output=[os.getpid(), text(r)])\n", concurrency=2)
    meet = threading.Barrier(2)

    def one(i: int) -> list[Json]:
        meet.wait()
        return [o for k in range(50) for o in ask(system, f"{i} {k}")]

    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(one, range(2)))
    assert [[o[1] for o in r] for r in results] == [[f"{i} {k}" for k in range(50)] for i in range(2)]
    assert len({o[0] for r in results for o in r}) <= 2


def test_more_threads_than_processes_take_turns(program) -> None:
    system = program(ECHO)
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda i: ask(system, str(i)), range(40))) == [[str(i)] for i in range(40)]


def test_an_input_that_is_no_text_fails_alone(program) -> None:
    found = ask(program(ECHO), "a", "\ud800", "b")
    assert (found[0], found[2]) == ("a", "b")
    assert "not a text" in error(found[1])


JS = """
const lines = require('readline').createInterface({ input: process.stdin });
lines.on('line', line => {
  const { id, inputs } = JSON.parse(line);
  console.log(JSON.stringify({ id, output: inputs.text.length }));
});
"""
AWK = r"""{ match($0, /"id":[0-9]+/); id = substr($0, RSTART + 5, RLENGTH - 5)
print "{\"id\": " id ", \"output\": \"seen\"}"; fflush() }"""
SH = r"""while IFS= read -r line; do id=${line#*'"id":'}; id=${id%%,*}
echo "{\"id\": $id, \"output\": \"seen\"}"; done"""


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (["sh", "-c", SH], ["seen", "seen"]),
        (["awk", AWK], ["seen", "seen"]),
        (["node", "-e", JS], [3, 5]),
    ],
)
def test_any_language(command: list[str], expected: list[Json]) -> None:
    if shutil.which(command[0]) is None:
        pytest.skip(f"there is no {command[0]} on this machine")
    if command[0] == "awk":  # mawk reads its input in blocks unless told otherwise
        mawk = "mawk" in os.path.realpath(shutil.which("awk") or "")
        command = ["awk", "-W", "interactive", AWK] if mawk else ["awk", AWK]
    system = ProcessSystem(command)
    try:
        assert ask(system, "one", "three") == expected
    finally:
        system.close()


def test_what_can_not_be_started_is_named() -> None:
    with pytest.raises(UsageError, match="no-such-command-here"):
        ProcessSystem(["no-such-command-here", "x"])
    with pytest.raises(UsageError, match="a list such as"):
        ProcessSystem("node answer.js")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="a list such as"):
        ProcessSystem([])
    with pytest.raises(UsageError, match="timeout"):
        ProcessSystem(["sh"], timeout=0)


def test_a_file_that_is_no_program_is_named(tmp_path: Path) -> None:
    file = tmp_path / "data.bin"
    file.write_bytes(b"\x00\x01\x02")
    file.chmod(0o755)
    system = ProcessSystem([str(file)])
    with pytest.raises(UsageError, match=r"data\.bin"):
        ask(system, "a")
    system.close()


def test_identity_follows_the_command_and_its_files(tmp_path: Path) -> None:
    file = tmp_path / "program.sh"
    seen = []
    for content, command in [
        ("one", ["sh", str(file)]),
        ("two", ["sh", str(file)]),
        ("two", ["sh", str(file), "-v"]),
        ("two", ["sh", f"--program={file}"]),
        ("one", ["sh", f"--program={file}"]),
    ]:
        file.write_text(content)
        seen.append(ProcessSystem(command).identity)
        assert ProcessSystem(command, timeout=5).identity == seen[-1]
    assert len(set(seen)) == len(seen)
    assert ProcessSystem(["sh"], identity="mine").identity == "mine"

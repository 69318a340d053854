"""The command line: one file a command, found by listing this folder, loaded only when it is used."""

from __future__ import annotations

import atexit
import importlib
import os
import signal
import sys
import threading
import traceback
import types
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.resources import files
from inspect import cleandoc
from textwrap import fill

import click

from unswayed.base.errors import Interrupted, UnswayedError, at_command_line
from unswayed.base.gc_pause import collect_no_more, collect_seldom
from unswayed.base.registry import public_modules


def _debug(context: click.Context, parameter: click.Parameter, wanted: bool) -> None:
    if wanted:
        before = os.environ.get("UNSWAYED_DEBUG")
        os.environ["UNSWAYED_DEBUG"] = "1"  # which workers have as well
        context.find_root().call_on_close(lambda: _restore("UNSWAYED_DEBUG", before))


def _restore(variable: str, value: str | None) -> None:
    if value is None:
        os.environ.pop(variable, None)
    else:
        os.environ[variable] = value


_WIDTH = 80
_DEBUG = click.Option(
    ["--debug"], is_flag=True, expose_value=False, is_eager=True, callback=_debug,
    help="Show the whole traceback of an error. UNSWAYED_DEBUG=1 does the same.",
)  # fmt: skip


def debuggable(command: click.Command) -> click.Command:
    """The command with --debug, and with help that fits a narrow terminal."""
    if _DEBUG not in command.params:
        command.params.append(_DEBUG)
        command.help = _narrow(command.help or "")
        for inner in command.commands.values() if isinstance(command, click.Group) else ():
            debuggable(inner)
    return command


def _narrow(text: str) -> str:
    """Help whose examples fit 80 columns: a long command goes on in the next line, and its comment before it."""
    blocks = cleandoc(text).split("\n\n")
    return "\n\n".join(
        "\n".join(part for line in block.split("\n") for part in _parts(line)) if block.startswith("\b") else block
        for block in blocks
    )


def _parts(line: str) -> list[str]:
    room = _WIDTH - 4  # click moves help to the right by two
    if len(line) <= room:
        return [line]
    line, _, comment = line.partition("  # ")
    before = fill(comment, room, initial_indent="  # ", subsequent_indent="  # ").split("\n") if comment else []
    if len(line.rstrip()) <= room:
        return [*before, line.rstrip()]
    parts = fill(line.strip(), room - 2, initial_indent="  ", subsequent_indent="    ", break_long_words=False,
                 break_on_hyphens=False).split("\n")  # fmt: skip
    return [*before, *(f"{part} \\" for part in parts[:-1]), parts[-1]]


class _Commands(click.Group):
    """A group whose commands are the files of this folder."""

    def list_commands(self, context: click.Context) -> list[str]:
        return [name.replace("_", "-") for name in public_modules(files("unswayed.cli"))]

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in self.list_commands(context):
            return None
        command: click.Command = importlib.import_module(f"unswayed.cli.{name.replace('-', '_')}").command
        return debuggable(command)

    def invoke(self, context: click.Context) -> object:
        with at_command_line():
            return super().invoke(context)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80})
@click.version_option(package_name="unswayed", prog_name="unswayed")
@click.option(
    "--debug", is_flag=True, expose_value=False, callback=_debug, help="Show the whole traceback of an error."
)
def unswayed() -> None:
    """When people say the same thing differently, does your NLP system stay unswayed?

    Make variants of your data, run your system on them, and read what changed and how sure that is:

    \b
      unswayed vary mine.jsonl --with keyboard/adjacent --draws 3 -o suite/
      unswayed run suite/ --system my_module:predict -o run/
      unswayed report run/ -o report.html

    Results go to standard output, progress and messages to standard error. Exit codes: 0 fine, 1 a gate failed,
    2 interrupted, 3 internal error or incomplete, 4 wrong usage or data, 5 nothing evaluated or a broken set-up.
    """


_GRACE = 10.0  # seconds after SIGTERM in which a command saves what it has
_terminated = threading.Event()


def main() -> None:
    """Runs a command and turns every way it can end into its exit code."""
    signal.signal(signal.SIGTERM, _terminate)
    collect_seldom()
    if "_UNSWAYED_COMPLETE" in os.environ:
        from unswayed.cli._completion import complete

        if (answered := complete(unswayed)) is not None:
            _leave(answered)
    try:
        # Not click's own `main`, which would end a broken pipe with 1, our code for a failed gate.
        with unswayed.make_context("unswayed", sys.argv[1:]) as context, _traceback_shown():
            code = unswayed.invoke(context) or 0
    except click.exceptions.Exit as end:
        code = end.exit_code
    except click.ClickException as error:
        error.show()
        code = 4
    except UnswayedError as error:
        click.echo(f"unswayed: {_shown(error)}", err=True)
        code = error.exit_code
    except (KeyboardInterrupt, click.Abort):
        click.echo("unswayed: stopped.", err=True)
        code = Interrupted.exit_code
    except BrokenPipeError:  # the reader of our output went away; that is its right
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except BaseException as error:  # also SystemExit: only what we load, such as a plug-in, calls exit()
        with at_command_line():
            click.echo(f"unswayed: {_shown(_explained(error))}", err=True)
        code = UnswayedError.exit_code
    # A signal's exception that came up inside native code may be told as that code's own failure.
    _leave(Interrupted.exit_code if _terminated.is_set() else code if isinstance(code, int) else 0)


def _shown(message: object) -> str:
    """A message may quote a secret, or names from somebody's file, which must not control the terminal."""
    from unswayed.base.secrets import masked
    from unswayed.base.text import visible

    return visible(masked(str(message)))


def _explained(error: BaseException) -> str:
    """An error that nobody expected: of the user's code, of the machine, or ours."""
    from unswayed.base.own_code import debug_hint, error_summary, own_frames, own_traceback

    if own_frames(error):
        how = f"Fix it, then rerun the same command.{debug_hint()}"
        return f"your code raised an error:\n\n{own_traceback(error)}\n\n{how}"
    if isinstance(error, OSError):
        where = f"{os.fsdecode(error.filename)}: " if isinstance(error.filename, (str, bytes)) else ""
        return f"{where}{error.strerror or error}."
    return f"internal error: {error_summary(error)}.{debug_hint()} Please report it."


@contextmanager
def _traceback_shown() -> Iterator[None]:
    """With --debug, every error also shows the way that it came, before the command's own message."""
    try:
        yield
    except (click.ClickException, click.exceptions.Exit, KeyboardInterrupt, BrokenPipeError):
        raise
    except BaseException:
        if os.environ.get("UNSWAYED_DEBUG"):
            click.echo(_shown(traceback.format_exc()), err=True)
        raise


def _leave(code: int) -> None:
    """Ends the process, also where a system left threads running that would keep it alive for ever."""
    collect_no_more()
    if all(thread.daemon or thread is threading.main_thread() for thread in threading.enumerate()):
        sys.exit(code)
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(code)


def _terminate(signal_number: int, frame: types.FrameType | None) -> None:
    """Ends the command as Ctrl-C does, and also where a system or a library swallows that or never returns."""
    if not _terminated.is_set():
        _terminated.set()
        last = threading.Timer(_GRACE, os._exit, (Interrupted.exit_code,))
        last.daemon = True
        last.start()
    raise KeyboardInterrupt

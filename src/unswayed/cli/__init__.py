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
from contextlib import suppress
from importlib.resources import files
from inspect import cleandoc
from textwrap import fill

import click

from unswayed.base.errors import Interrupted, UnswayedError, at_command_line, environment_set
from unswayed.base.gc_pause import collect_no_more, collect_seldom
from unswayed.base.registry import public_modules


def _debug(context: click.Context, parameter: click.Parameter, wanted: bool) -> None:
    if wanted:
        context.find_root().with_resource(environment_set({"UNSWAYED_DEBUG": "1"}))  # which workers have as well


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
    room, lines, is_example = _WIDTH - 4, [], False  # click moves help to the right by two
    for line in cleandoc(text).split("\n"):
        is_example = line.startswith("\b") or (is_example and line != "")
        if len(line) <= room or not is_example:
            lines.append(line)
            continue
        line, _, comment = line.partition("  # ")
        lines += [fill(comment, room, initial_indent="  # ", subsequent_indent="  # ")] if comment else []
        parts = [line.rstrip()]
        if len(parts[0]) > room:
            parts = fill(line.strip(), room - 2, initial_indent="  ", subsequent_indent="    ", break_long_words=False,
                         break_on_hyphens=False).split("\n")  # fmt: skip
        lines.append(" \\\n".join(parts))
    return "\n".join(lines)


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
            try:
                return super().invoke(context)
            except (click.ClickException, click.exceptions.Exit, KeyboardInterrupt, BrokenPipeError):
                raise
            except BaseException:  # with --debug, every error also shows the way that it came, before its message
                if os.environ.get("UNSWAYED_DEBUG"):
                    click.echo(_shown(traceback.format_exc()), err=True)
                raise


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
        with unswayed.make_context("unswayed", sys.argv[1:]) as context:
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

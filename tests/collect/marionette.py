"""Firefox over its own protocol, Marionette: a socket that takes WebDriver's commands, without a driver program.

In Firefox's own context it also has an input method: `nsITextInputProcessor` makes real composition events.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import time
import uuid
from pathlib import Path
from typing import Any

BROWSER = shutil.which("firefox-esr") or shutil.which("firefox")
PULSE = shutil.which("pulseaudio")
_ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
_PREFERENCES = {
    "marionette.port": 0,  # any that is free; it is written to the profile
    "media.navigator.permission.disabled": True,
    "media.autoplay.default": 0,
    "media.navigator.streams.fake": True,  # a tone instead of a microphone
    "browser.shell.checkDefaultBrowser": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "app.update.disabledForTesting": True,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
}
_COMPOSE = """
const [steps, done] = arguments;
const tip = Cc['@mozilla.org/text-input-processor;1'].createInstance(Ci.nsITextInputProcessor);
if (!tip.beginInputTransactionForTests(window)) return done('no transaction');
for (const [kind, value] of steps) {
  if (kind === 'compose') {
    tip.setPendingCompositionString(value);
    if (value) tip.appendClauseToPendingComposition(value.length, tip.ATTR_RAW_CLAUSE);
    tip.setCaretInPendingComposition(value.length);
    tip.flushPendingComposition();
  } else if (kind === 'commit') tip.commitCompositionWith(value);
  else {
    const event = new KeyboardEvent('', { key: value[0], code: value[1], keyCode: value[2] });
    tip.keydown(event);
    tip.keyup(event);
  }
}
done('');
"""


class Failed(Exception):
    """What Firefox says went wrong."""


def _sound(folder: Path) -> tuple[subprocess.Popen[bytes] | None, dict[str, str]]:
    """Firefox's audio stands still on a machine without a sound card: PulseAudio gives it one that nobody hears."""
    home = {**os.environ, "HOME": str(folder), "XDG_RUNTIME_DIR": str(folder)}
    if PULSE is None:
        return None, home
    place = Path(f"/tmp/unswayed-pulse-{uuid.uuid4().hex[:8]}")  # short: the socket's path may have 107 characters
    modules = ["-L", f"module-native-protocol-unix socket={place}", "-L", "module-null-sink"]
    command = [PULSE, "-n", "--daemonize=no", "--exit-idle-time=-1", "--use-pid-file=no", *modules]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=home)
    return process, {**home, "PULSE_SERVER": f"unix:{place}"}


class Firefox:
    def __init__(self, folder: Path) -> None:
        lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in _PREFERENCES.items()]
        (folder / "user.js").write_text("".join(lines))
        self.sound, environment = _sound(folder)
        command = [BROWSER, "--headless", "--marionette", "-remote-allow-system-access", "--no-remote"]
        self.process = subprocess.Popen(
            [*command, "--profile", str(folder)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment
        )
        written = folder / "MarionetteActivePort"
        end = time.monotonic() + 180
        while not (written.exists() and written.read_text().strip()):
            if self.process.poll() is not None or time.monotonic() > end:
                raise Failed("Firefox did not start")
            time.sleep(0.1)
        self.socket = socket.create_connection(("127.0.0.1", int(written.read_text())), 180)
        self.file = self.socket.makefile("rb")
        self._read()
        self.count = 0
        self.call("WebDriver:NewSession", capabilities={"alwaysMatch": {"acceptInsecureCerts": True}})

    def _read(self) -> Any:
        size = b""
        while (byte := self.file.read(1)) != b":":
            if not byte:
                raise Failed("Firefox ended")
            size += byte
        return json.loads(self.file.read(int(size)))

    def call(self, name: str, **given: Any) -> Any:
        self.count += 1
        message = json.dumps([0, self.count, name, given])
        self.socket.sendall(f"{len(message.encode())}:{message}".encode())
        _, _, error, result = self._read()
        if error:
            raise Failed(f"{error['error']}: {error['message']}")
        return result.get("value", result) if isinstance(result, dict) else result

    def get(self, url: str) -> None:
        self.call("WebDriver:Navigate", url=url)

    def find(self, css: str) -> str:
        return str(self.call("WebDriver:FindElement", using="css selector", value=css)[_ELEMENT])

    def text(self, css: str) -> str:
        return str(self.call("WebDriver:GetElementText", id=self.find(css)))

    def click(self, css: str) -> None:
        self.call("WebDriver:ElementClick", id=self.find(css))

    def type(self, css: str, text: str) -> None:
        self.call("WebDriver:ElementSendKeys", id=self.find(css), text=text)

    def script(self, script: str, *given: Any) -> Any:
        return self.call("WebDriver:ExecuteScript", script=script, args=list(given))

    def compose(self, steps: list[tuple[str, Any]]) -> None:
        """What an input method does: ("compose", text), ("commit", text), ("key", (key, code, number))."""
        self.call("Marionette:SetContext", value="chrome")
        try:
            problem = self.call("WebDriver:ExecuteAsyncScript", script=_COMPOSE, args=[steps])
        finally:
            self.call("Marionette:SetContext", value="content")
        if problem:
            raise Failed(problem)

    def wait(self, test: Any, what: str, seconds: float = 60) -> Any:
        end = time.monotonic() + seconds
        while True:
            try:
                if found := test():
                    return found
            except Failed:  # the page is just being replaced by the next
                pass
            assert time.monotonic() < end, f"{what}: {self.script('return document.body.innerText')}"
            time.sleep(0.1)

    def close(self) -> None:
        self.socket.close()
        for process in filter(None, (self.process, self.sound)):
            process.terminate()
            process.wait(30)

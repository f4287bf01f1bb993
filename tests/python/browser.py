"""A headless Chromium, driven over its DevTools protocol. Waits are long, as other work may keep the machine busy."""

import base64
import json
import os
import shutil
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path

import websocket

PATIENCE = 180  # seconds


def find():
    """Chromium's program, or None."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)


def is_missing():
    """Whether tests in a browser are skipped: never in CI, except on Ubuntu, where Chromium is a snap."""
    system = Path("/etc/os-release").read_text() if Path("/etc/os-release").exists() else ""
    return not find() and ("CI" not in os.environ or "ID=ubuntu" in system.split())


class Browser:
    """One page of a browser of its own, with software WebGL; all its requests and console messages
    are kept."""

    def __init__(self, width=1280, height=800):
        self.folder = tempfile.TemporaryDirectory(prefix="kith-browser-", ignore_cleanup_errors=True)
        flags = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu-sandbox",
            "--use-angle=swiftshader-webgl",  # what Chromium does without a GPU
            "--enable-unsafe-swiftshader",
            "--disable-dev-shm-usage",
            "--disable-background-networking",
            "--disable-extensions",
            "--no-first-run",
            "--remote-debugging-port=0",
            "--remote-allow-origins=*",
            f"--window-size={width},{height}",
            f"--user-data-dir={self.folder.name}",
            "about:blank",
        ]
        self.process = subprocess.Popen(
            [find(), *flags], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        self.requests, self.messages, self.number = [], [], 0
        try:
            self.socket = websocket.create_connection(self._address(), timeout=PATIENCE)
            for domain in ("Page", "Runtime", "Network", "Log"):
                self.call(f"{domain}.enable")
            self.resize(width, height)
        except Exception:
            self.close()
            raise

    def _address(self):
        file = Path(self.folder.name, "DevToolsActivePort")
        deadline = time.monotonic() + PATIENCE
        while not (file.exists() and file.read_text().count("\n")):
            if time.monotonic() > deadline or self.process.poll() is not None:
                raise RuntimeError("Chromium does not start")
            time.sleep(0.05)
        port = file.read_text().split()[0]
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list", timeout=PATIENCE) as answer:
            pages = json.load(answer)
        return next(page["webSocketDebuggerUrl"] for page in pages if page["type"] == "page")

    def call(self, method, **parameters):
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "method": method, "params": parameters}))
        while True:
            answer = json.loads(self.socket.recv())
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self._note(answer)

    def _note(self, event):
        kind, what = event.get("method"), event.get("params", {})
        if kind == "Network.requestWillBeSent":
            self.requests.append(what["request"]["url"])
        elif kind == "Runtime.exceptionThrown":
            self.messages.append(what["exceptionDetails"].get("exception", {}).get("description", "exception"))
        elif kind == "Runtime.consoleAPICalled" and what["type"] in ("error", "warning"):
            self.messages.append(" ".join(str(a.get("value", a.get("description"))) for a in what["args"]))
        elif kind == "Log.entryAdded" and what["entry"]["level"] == "error":
            self.messages.append(what["entry"]["text"])

    def resize(self, width, height):
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False
        )

    def theme(self, name):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])

    def open(self, address):
        self.call("Page.navigate", url=address)

    def value(self, expression):
        """What an expression of JavaScript is."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails'].get('text')}")
        return answer["result"].get("value")

    def wait(self, expression, seconds=PATIENCE):
        """Waits until an expression is true; fails with what the page says."""
        deadline = time.monotonic() + seconds
        while not (value := self._value_or_none(expression)):
            if time.monotonic() > deadline:
                raise AssertionError(f"{expression} does not come true; {self.messages}; {self.text()}")
            time.sleep(0.03)
        return value

    def _value_or_none(self, expression):
        try:
            return self.value(expression)
        except RuntimeError:  # as long as there is no page
            return None

    def text(self):
        return self.value("document.body.innerText")

    def key(self, key, code=None, modifiers=0):
        what = {"key": key, "code": code or key, "modifiers": modifiers}
        if len(key) == 1:
            what["text"] = key
        self.call("Input.dispatchKeyEvent", type="keyDown", **what)
        self.call("Input.dispatchKeyEvent", type="keyUp", **what)

    def mouse(self, kind, x, y, **more):
        button = "none" if kind == "mouseWheel" else "left"
        held = 1 if kind in ("mousePressed", "mouseMoved") else 0
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button=button, buttons=held, clickCount=1, **more)

    def picture(self):
        """A PNG of the page, as bytes."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])

    def processor_seconds(self):
        """Of all processes of the browser."""
        kids, spent = {}, {}
        for file in Path("/proc").glob("[0-9]*/stat"):
            try:
                words = file.read_text().rpartition(")")[2].split()
            except OSError:  # it has just ended
                continue
            kids.setdefault(int(words[1]), []).append(int(file.parent.name))
            spent[int(file.parent.name)] = int(words[11]) + int(words[12])
        waiting, ticks = [self.process.pid], 0
        while waiting:
            process = waiting.pop()
            ticks += spent.get(process, 0)
            waiting += kids.get(process, [])
        return ticks / os.sysconf("SC_CLK_TCK")

    def close(self):
        if hasattr(self, "socket"):
            try:
                self.call("Browser.close")
                self.socket.close()
            except Exception:
                pass
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.folder.cleanup()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

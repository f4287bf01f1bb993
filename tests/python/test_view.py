"""kith run --view and kith view in a real browser: what the page shows, what it can do, and who is let in."""

import http.client
import json
import os
import re
import signal
import socket
import struct
import subprocess
import tempfile
import time
import unittest
from pathlib import Path
from urllib.parse import urlsplit

from browser import PATIENCE, Browser, is_missing

KITH = os.environ["KITH_PROGRAM"]


class Viewed:
    """A kith command with its address; ended with the block."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen(
            [KITH, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        line = self.process.stderr.readline()
        found = re.search(r"http://127\.0\.0\.1:\d+/[0-9a-f]{32}/", line)
        if not found:
            self.process.kill()
            raise AssertionError(f"no address: {line}{self.process.stderr.read()}")
        self.address = found.group()
        parts = urlsplit(self.address)
        self.port, self.path = parts.port, parts.path

    def status(self, path, method="GET", **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        connection.request(method, path, headers=headers)
        status = connection.getresponse().status
        connection.close()
        return status

    def frame(self, after=-1):
        """A frame newer than `after`, of a file frame `after`: whether it is paused, its step and its content."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
            connection.request("GET", f"{self.path}frame?after={after}")
            answer = connection.getresponse()
            content = answer.read()
            connection.close()
            if answer.status == 200:
                (flags,) = struct.unpack_from("<I", content, 8)
                (step,) = struct.unpack_from("<d", content, 24)
                return flags & 1 != 0, int(step), content
            time.sleep(0.01)
        raise AssertionError("no frame comes")

    def step(self):
        """The step of the last frame that was taken."""
        return self.frame()[1]

    def step_when_paused(self):
        """The step at which the run is paused, once it says so itself: a request may be on its way for a while."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            paused, step, _ = self.frame()
            if paused:
                return step
            time.sleep(0.01)
        raise AssertionError("the run is not paused")

    def reaches(self, step):
        """Whether the run comes to a step, however slowly."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            if self.step() >= step:
                return True
            time.sleep(0.02)
        return False

    def moves(self):
        return self.reaches(self.step() + 1)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(PATIENCE)
        finally:
            self.process.kill()
            self.process.stderr.close()


LONG = ("run", "six", "--dt", "1e-4", "--until", "1e6", "--threads", "1", "--view", "--steps-per-second", "500")


@unittest.skipIf(is_missing(), "there is no Chromium")
class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.browser = Browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()

    def open(self, address):
        self.browser.open("about:blank")  # so that the page of before asks no more
        self.browser.wait("location.href == 'about:blank'")
        self.browser.requests.clear()
        self.browser.messages.clear()
        self.browser.open(address)
        self.browser.wait(f"location.href == '{address}' && document.body.dataset.painted > 0")

    def step(self):
        return int(self.browser.wait("(document.getElementById('step').textContent.match(/step (\\d+)/) ?? [])[1]"))

    def assert_own(self, address):
        elsewhere = [r for r in self.browser.requests if not r.startswith((address, "data:", "blob:"))]
        self.assertEqual(elsewhere, [])
        self.assertEqual(self.browser.messages, [])

    def test_a_run_is_shown_paused_and_turned(self):
        browser = self.browser
        with Viewed(*LONG) as run:
            self.open(run.address)
            self.assertIn("step ", browser.text())
            first = self.step()
            browser.wait(f"Number(document.getElementById('step').textContent.slice(5)) > {first}")
            points = int(browser.value("document.getElementById('energy').dataset.points"))
            browser.wait(f"document.getElementById('energy').dataset.points > {points}")

            browser.key(" ", "Space")
            browser.wait("document.getElementById('status').textContent.includes('paused')")
            held = run.step_when_paused()
            time.sleep(0.3)
            self.assertEqual(run.step(), held)
            browser.wait(f"document.getElementById('step').textContent == 'step {held}'")

            browser.key("s", "KeyS")
            browser.wait(f"document.getElementById('step').textContent == 'step {held + 1}'")
            self.assertEqual(run.step_when_paused(), held + 1)
            still = "page.camera.now.yaw === page.camera.wanted.yaw && !page.isDirty"
            browser.wait(still)
            before = browser.picture()
            for _ in range(4):
                browser.key("ArrowRight")
            browser.wait(still)
            self.assertNotEqual(browser.picture(), before)
            self.assertEqual(run.step(), held + 1)

            browser.key(" ", "Space")
            browser.wait(f"Number(document.getElementById('step').textContent.slice(5)) > {held + 1}")
            self.assert_own(run.address)

    def test_it_fits_a_narrow_screen_in_light_and_dark(self):
        browser = self.browser
        with Viewed(*LONG) as run:
            try:
                browser.resize(400, 800)
                self.open(run.address)
                self.assertEqual(browser.value("document.documentElement.scrollWidth"), 400)
                outside = "[...document.querySelectorAll('header, nav, section:not([hidden])')].filter(e => {"
                outside += "const b = e.getBoundingClientRect();"
                outside += "return b.left < 0 || b.right > 400 || b.bottom > 800 }).map(e => e.id)"
                self.assertEqual(browser.value(outside), [])
                theme = browser.value("document.documentElement.dataset.theme")
                browser.key("l", "KeyL")
                browser.wait(f"document.documentElement.dataset.theme != '{theme}'")
                browser.key("h", "KeyH")
                browser.wait("document.getElementById('help').open")
                self.assertIn("pause or continue", browser.text())
                self.assert_own(run.address)
            finally:
                browser.resize(1280, 800)

    def test_many_bodies_are_drawn(self):
        command = "run plummer -n 3000 --dt 1e-3 --until 1e3 --threads 1 --view"
        with Viewed(*command.split()) as run:
            self.open(run.address)
            lit = """(() => { const c = document.createElement('canvas'); page.compose(c);
                const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
                let n = 0; for (let k = 0; k < d.length; k += 4) n += d[k] + d[k + 1] + d[k + 2] > 150;
                return n })()"""
            self.browser.value("page.setTheme('dark')")
            redrawn = "page.renderer.draw(page.camera, page.style, 1)"
            self.assertGreater(self.browser.value(f"{redrawn}, {lit}"), 2000)
            self.assert_own(run.address)

    def test_bodies_that_have_merged_are_gone(self):
        """Four pairs meet, one after another: each leaves a body of twice the mass."""
        browser = self.browser
        with tempfile.TemporaryDirectory() as folder:
            bodies = Path(folder, "pairs.csv")
            rows = [
                f"{side * (0.2 + 0.1 * k)},{k},0,{-side},0,0,1,0.05" for k in range(4) for side in (-1, 1)
            ]
            bodies.write_text("x,y,z,vx,vy,vz,mass,radius\n" + "\n".join(rows) + "\n")
            command = "--dt 1e-3 --until 1e6 --collisions merge --g 1e-9 --steps-per-second 200 --view"
            with Viewed("run", str(bodies), *command.split()) as run:
                self.open(run.address)
                browser.value("page.setColumn('mass').then(() => page.follow(7))")
                count = "document.getElementById('count').textContent"
                browser.wait(f"{count} === '4 bodies'")
                browser.wait("page.columns.get('mass').filter((m) => m === 2).length === 4")
                self.assertEqual(browser.value("page.columns.get('mass').filter((m) => m > 0).length"), 4)
                self.assertEqual(browser.value("page.followed"), -1)
                gone = "[0, 1, 2, 3, 4, 5, 6, 7].filter((i) => isGone(page.frame.position, i)).length"
                self.assertEqual(browser.value(gone), 4)
                self.assertEqual(browser.value("[page.range.low, page.range.high]"), [2, 2])
                self.assert_own(run.address)

    def test_a_hundred_thousand_bodies_turn_at_a_bearable_price(self):
        """20 frames a second need 50 ms of a core each; this bound is for slow machines under load."""
        browser = self.browser
        command = "run plummer -n 100000 --theta 0.9 --softening 0.02 --dt 1e-3 --until 1e3 --view"
        with Viewed(*command.split()) as run:
            self.open(run.address)
            browser.key(" ", "Space")
            run.step_when_paused()
            browser.wait("page.isPaused")
            turn = "window.turn = () => { page.camera.rotate(0.05, 0); requestAnimationFrame(turn) }, turn(), 0"
            browser.value(turn)
            painted = "Number(document.body.dataset.painted)"
            browser.wait(f"{painted} > {browser.value(painted)} + 5")
            before, first, begin = browser.processor_seconds(), browser.value(painted), time.monotonic()
            browser.wait(f"{painted} > {first} + 60")
            seconds, spent = time.monotonic() - begin, browser.processor_seconds() - before
            pictures = browser.value(painted) - first
            print(f"100000 bodies: {pictures / seconds:.1f} frames/s, {1e3 * spent / pictures:.0f} ms of a core each")
            self.assertLess(spent / pictures, 0.2)
            self.assert_own(run.address)

    def test_a_run_ends_while_its_page_is_open(self):
        ended = "document.getElementById('status').textContent.includes('the run has ended')"
        # Steps of ten minutes each, so that the page, which asks for more, is there before the last.
        with Viewed(
            "run", "six", "--dt", "1e-3", "--until", "4e-3", "--view", "--steps-per-second", "0.0016", "-q"
        ) as run:
            self.open(run.address)
            self.browser.key(" ", "Space")
            for step in range(run.step_when_paused() + 1, 5):
                self.browser.key("s", "KeyS")
                self.browser.wait(f"document.getElementById('step').textContent == 'step {step}'")
            self.browser.key(" ", "Space")  # the last state stays as long as it is paused
            self.assertEqual(run.process.wait(PATIENCE), 0)
            self.browser.wait(ended)
        with Viewed(*LONG) as run:
            self.open(run.address)
            run.process.send_signal(signal.SIGINT)
            self.assertEqual(run.process.wait(PATIENCE), 130)
            self.browser.wait(ended)

    def test_a_file_is_played(self):
        browser = self.browser
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder, "run.h5"))
            subprocess.run(
                [KITH, "run", "six", "--dt", "0.01", "--until", "1", "--every", "2", "-q", "-o", path], check=True
            )
            with Viewed("view", path) as view:
                self.open(view.address)
                browser.wait("document.getElementById('step').textContent.match(/^frame [2-9]/)")
                self.assertIn("of 51", browser.text())
                self.assertEqual(browser.value("document.getElementById('energy').dataset.points"), "51")
                browser.key(" ", "Space")
                browser.wait("document.getElementById('status').textContent.includes('paused')")
                self.assertEqual(view.status(view.path + "frame?after=51"), 404)
                self.assertEqual(view.status(view.path + "pause", "POST"), 409)
                self.assert_own(view.address)

    def test_a_scene_has_the_frames_of_its_file(self):
        browser = self.browser
        with tempfile.TemporaryDirectory() as folder:
            run, scene = Path(folder, "run.h5"), Path(folder, "scene.html")
            command = "run plummer -n 300 --dt 0.02 --until 0.2 --every 1 --softening 0.1 -q -o".split()
            subprocess.run([KITH, *command, run], check=True)
            subprocess.run([KITH, "plot", run, "--what", "scene", "-o", scene, "-q"], check=True)
            with Viewed("view", str(run)) as view:
                served = struct.unpack_from("<900f300f", view.frame(7)[2], 72)
            self.open(scene.as_uri())
            browser.wait("document.getElementById('step').textContent.match(/^frame [2-9]/)")
            shown = browser.value(
                "page.source.frame(7).then(f => [...f.position, ...f.speed, f.time, page.about.shown])"
            )
            self.assertEqual(len(shown), 1202)
            self.assertAlmostEqual(shown[1200], 0.14)
            size, fastest = max(map(abs, served[:900])), max(served[900:])
            self.assertLess(max(abs(a - b) for a, b in zip(shown[:900], served[:900])), size / 30000)
            self.assertLess(max(abs(a - b) for a, b in zip(shown[900:1200], served[900:])), fastest / 200)
            self.assert_own(scene.as_uri())


class Server(unittest.TestCase):
    def test_others_are_not_let_in(self):
        with Viewed(*LONG) as run:
            self.assertEqual(run.status(run.path), 200)
            wrong = run.path.replace(run.path[1], "0" if run.path[1] != "0" else "1")
            self.assertEqual(run.status(wrong), 403)
            self.assertEqual(run.status("/"), 403)
            self.assertEqual(run.status(run.path, Host="evil.example"), 403)
            self.assertEqual(run.status(run.path, Host=f"evil.example:{run.port}"), 403)
            self.assertEqual(run.status(run.path, Origin="http://evil.example"), 403)
            self.assertEqual(run.status(run.path + "pause", "POST", Origin="http://evil.example"), 403)
            self.assertTrue(run.moves())
            here = [line.split()[1] for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
            listening = [place for place in here if place.endswith(f":{run.port:04X}")]
            self.assertEqual(set(listening), {f"0100007F:{run.port:04X}"})

    def test_half_requests_and_a_hundred_connections_do_not_stop_the_run(self):
        with Viewed(*LONG) as run:
            self.assertTrue(run.moves())
            sockets = []
            for k in range(100):
                s = socket.create_connection(("127.0.0.1", run.port), timeout=PATIENCE)
                sockets.append(s)
                half = f"GET {run.path}frame HTTP/1.1\r\nHost: 127.0.0.1:{run.port}\r\n"
                try:
                    s.sendall((half if k % 2 else "GE").encode())
                except OSError:
                    pass  # beyond the limit the server closes
            # The server takes 48 connections: of 60 fewer some are left for this test's own.
            for s in sockets[:60]:
                s.close()
            self.assertTrue(run.reaches(run.step() + 100))
            for s in sockets[60:]:
                s.close()
            self.assertTrue(run.moves())

    def test_a_run_that_mostly_waits_shows_frames(self):
        """Its steps take a thousandth of the time: waits count as time spent, too."""
        with Viewed(*LONG) as run:
            after, begin = -1, time.monotonic()
            for _ in range(20):
                (after,) = struct.unpack_from("<d", run.frame(after)[2], 32)
            self.assertLess(time.monotonic() - begin, PATIENCE)

    def test_a_slow_reader_does_not_stop_the_run(self):
        arguments = ("run", "plummer", "-n", "10000", "--theta", "0.9", "--dt", "1e-4", "--until", "1e3", "--view")
        with Viewed(*arguments, "--threads", "1") as run:
            run.step()
            slow = []
            for _ in range(20):
                s = socket.create_connection(("127.0.0.1", run.port), timeout=PATIENCE)
                s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                request = f"GET {run.path}frame?after=-1 HTTP/1.1\r\nHost: 127.0.0.1:{run.port}\r\n\r\n"
                s.sendall(request.encode())
                slow.append(s)
            self.assertTrue(run.moves())
            for s in slow:
                s.close()

    def test_ctrl_c_ends_a_run_that_is_paused(self):
        with Viewed(*LONG) as run:
            self.assertEqual(run.status(run.path + "pause", "POST"), 200)
            run.step_when_paused()
            run.process.send_signal(signal.SIGINT)
            self.assertEqual(run.process.wait(PATIENCE), 130)

    def test_a_port_that_is_taken_is_an_error(self):
        with Viewed(*LONG) as run:
            done = subprocess.run([KITH, *LONG[:-3], f"--view={run.port}"], capture_output=True, text=True)
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"cannot listen on port {run.port}", done.stderr)

    def test_what_a_run_says_is_what_it_says_without_a_view(self):
        run = [KITH, "run", "six", "--dt", "0.01", "--until", "1", "--json"]
        alone = subprocess.run(run, capture_output=True, text=True, check=True)
        viewed = subprocess.run([*run, "--view"], capture_output=True, text=True, check=True)
        self.assertEqual(json.loads(viewed.stdout)["energy_final"], json.loads(alone.stdout)["energy_final"])
        self.assertRegex(viewed.stderr, r"^kith run: view at http:")


if __name__ == "__main__":
    unittest.main()

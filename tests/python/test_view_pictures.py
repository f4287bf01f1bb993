"""What the page of a view draws, saves and does by keys, in a real browser: pictures are compared with stored
ones, and with those of another path to the same picture."""

import base64
import os
import random
import shutil
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from browser import PATIENCE, Browser, is_missing

KITH = os.environ["KITH_PROGRAM"]
STORED = Path(__file__).parent / "pictures"
STORES = "KITH_STORE_PICTURES" in os.environ  # instead of comparing

SIX = "run six --dt 0.01 --until 1.2 --every 2"
CLUSTER = "run plummer -n 2000 --seed 1 --dt 0.01 --until 0.02 --every 1 --softening 0.1"

# The same picture whenever it is drawn: the camera has arrived, the light is sharp, and the exposure is one.
SETTLE = """(() => { const { renderer: r, camera } = page;
    r.resize(page.pixels().width, page.pixels().height);
    camera.jump(); r.exposure = r.wantedExposure = 1; r.untilAdapt = 9; })()"""

# The means of 6 x 6 pixels of two pictures, of which edges of bodies that are a part of a pixel
# elsewhere change little: the mean and the largest difference of 0 to 255.
DIFFERENCE = """(async () => {
    const draw = async (url) => {
        const image = await createImageBitmap(new Blob([bytesOf(url.split(',')[1])]));
        const canvas = new OffscreenCanvas(image.width, image.height);
        const context = canvas.getContext('2d');
        context.drawImage(image, 0, 0);
        return context.getImageData(0, 0, image.width, image.height);
    };
    const [a, b] = [await draw('%s'), await draw('%s')], size = 6;
    if (a.width !== b.width || a.height !== b.height)
        return [255, 255];
    let sum = 0, most = 0, count = 0;
    for (let y = 0; y + size <= a.height; y += size)
        for (let x = 0; x + size <= a.width; x += size)
            for (let c = 0; c < 3; c++, count++) {
                let d = 0;
                for (let k = 0; k < size * size; k++) {
                    const at = 4 * ((y + Math.floor(k / size)) * a.width + x + k %% size) + c;
                    d += (a.data[at] - b.data[at]) / size / size;
                }
                sum += Math.abs(d);
                most = Math.max(most, Math.abs(d));
            }
    return [sum / count, most];
})()"""


@unittest.skipIf(is_missing(), "there is no Chromium")
class Pictures(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.browser = Browser(480, 300)

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.folder.cleanup()

    def scene(self, command, frames):
        """The page of a scene of frames of a run, open."""
        run, scene = Path(self.folder.name, "run.h5"), Path(self.folder.name, "scene.html")
        subprocess.run([KITH, *command.split(), "-q", "-o", str(run)], check=True)
        subprocess.run(
            [KITH, "plot", str(run), "--what", "scene", "--frames", frames, "-q", "-o", str(scene)], check=True
        )
        self.browser.messages.clear()
        self.browser.open("about:blank")
        self.browser.wait("location.href == 'about:blank'")
        self.browser.open(scene.as_uri())
        self.browser.wait(f"location.href == '{scene.as_uri()}' && document.body.dataset.painted > 0")

    def tearDown(self):
        self.assertEqual(self.browser.messages, [])

    def drawn(self, theme):
        """What the bodies' canvas shows, as the address of a PNG."""
        self.browser.value(f"page.setTheme('{theme}')")
        draw = "page.renderer.draw(page.camera, page.style, 1), document.getElementById('bodies').toDataURL()"
        return self.browser.value(f"{SETTLE}, {draw}")  # in one task: nothing is painted between

    def difference(self, one, other):
        return self.browser.value(DIFFERENCE % (one, other))

    def assert_like_stored(self, name, theme):
        file, drawn = STORED / f"{name}-{theme}.png", self.drawn(theme)
        if STORES:
            file.write_bytes(base64.b64decode(drawn.split(",")[1]))
        stored = "data:image/png;base64," + base64.b64encode(file.read_bytes()).decode()
        mean, most = self.difference(stored, drawn)
        self.assertLess(mean, 0.6, file.name)
        self.assertLess(most, 25, file.name)
        # A picture turned by a seventh of a radian is another one.
        self.browser.value("page.camera.rotate(0.15, 0)")
        turned = self.drawn(theme)
        self.browser.value("page.camera.rotate(-0.15, 0)")
        mean, most = self.difference(stored, turned)
        self.assertTrue(mean > 0.6 or most > 25, (file.name, mean, most))

    def test_few_bodies_look_as_they_did(self):
        self.scene(SIX, "1:1")
        for theme in ("dark", "light"):
            self.assert_like_stored("six", theme)

    def test_many_bodies_look_as_they_did(self):
        self.scene(CLUSTER, "1:1")
        for theme in ("dark", "light"):
            self.assert_like_stored("cluster", theme)

    def test_light_is_the_same_by_a_loop_and_by_shaders(self):
        self.scene(CLUSTER, "1:1")
        self.assertTrue(self.browser.value("!!page.renderer.splats"), "this browser draws on the processor")
        for theme in ("dark", "light"):
            looped = self.drawn(theme)
            self.browser.value("window.splats = page.renderer.splats, page.renderer.splats = null")
            self.browser.value("page.renderer.light = page.renderer.glow = null")
            self.browser.value("page.renderer.setFrame(page.frame.position, page.values(), false)")
            shaded = self.drawn(theme)
            self.browser.value("page.renderer.splats = splats, page.renderer.light = page.renderer.glow = null")
            mean, most = self.difference(looped, shaded)
            self.assertLess(mean, 0.5)
            self.assertLess(most, 8)

    def test_coarse_light_is_as_much_as_sharp_light(self):
        self.scene(CLUSTER, "1:1")
        light = """(() => {
            const { renderer: r, camera } = page, sums = [];
            for (const isCoarse of [false, true]) {
                const light = r.splats.paint(240, 150, camera, { position: r.position, sizes: r.sizes,
                    radius: r.bodyRadius, smallest: 3.2, largest: 55, isCoarse });
                sums.push([0, 1, 2, 3].map((c) => light.reduce((s, x, k) => k % 4 === c ? s + x : s, 0)));
            }
            return sums;
        })()"""
        self.drawn("dark")
        for sharp, coarse in zip(*self.browser.value(light)):
            self.assertGreater(sharp, 0)
            self.assertLess(abs(coarse / sharp - 1), 0.02)

    def test_light_is_sharp_when_it_rests(self):
        browser = self.browser
        self.scene(CLUSTER, "all")
        width = "document.getElementById('bodies').width"
        browser.wait(f"{width} === 240")  # half as wide, as long as it plays
        browser.key("v")
        browser.wait(f"{width} === 480")
        browser.value("page.save = () => {}")
        browser.key("v")
        browser.wait(f"{width} === 240")
        browser.key(" ", "Space")
        browser.wait(f"{width} === 480")
        home = self.drawn("dark")
        browser.key("ArrowLeft")
        browser.wait(f"{width} === 480 && page.camera.now.yaw === page.camera.wanted.yaw")
        self.assertNotEqual(self.drawn("dark"), home)

    def test_keys_move_the_camera_and_reset_brings_it_back(self):
        browser = self.browser
        self.scene(SIX, "1:1")
        wanted = "JSON.stringify(page.camera.wanted)"
        home = browser.value(wanted)
        for key, shift, changed in (
            ("ArrowLeft", False, "yaw"),
            ("ArrowUp", False, "pitch"),
            ("ArrowRight", True, "target"),
            ("+", False, "distance"),
            ("-", False, "distance"),
        ):
            part = f"JSON.stringify(page.camera.wanted.{changed})"
            before = browser.value(part)
            browser.key(key, modifiers=8 if shift else 0)
            self.assertNotEqual(browser.value(part), before, key)
        self.assertNotEqual(browser.value(wanted), home)
        browser.key("r")
        self.assertEqual(browser.value(wanted), home)

        browser.mouse("mousePressed", 240, 150)
        browser.mouse("mouseMoved", 300, 170)
        browser.mouse("mouseReleased", 300, 170)
        browser.wait(f"{wanted} !== '{home}'")
        browser.key("r")
        distance = browser.value("page.camera.wanted.distance")
        browser.mouse("mouseWheel", 240, 150, deltaX=0, deltaY=100)
        browser.wait(f"page.camera.wanted.distance > {distance}")

    def test_two_fingers_pan_and_zoom(self):
        browser = self.browser
        self.scene(SIX, "1:1")
        browser.call("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=2)
        before = browser.value("JSON.stringify(page.camera.wanted.target)")
        distance = browser.value("page.camera.wanted.distance")
        for kind, left, right in (
            ("touchStart", 260, 300),
            ("touchMove", 255, 340),
            ("touchMove", 250, 380),
            ("touchEnd", None, None),
        ):
            points = [{"x": x, "y": 150, "id": k} for k, x in enumerate((left, right)) if x]
            browser.call("Input.dispatchTouchEvent", type=kind, touchPoints=points)
        browser.wait(f"page.camera.wanted.distance < {distance}")
        self.assertNotEqual(browser.value("JSON.stringify(page.camera.wanted.target)"), before)

    def test_a_body_is_followed(self):
        browser = self.browser
        self.scene(SIX, "all")
        browser.wait("page.about.frames > 50")
        browser.key("f")
        browser.wait("document.getElementById('status').textContent.includes('following')")
        frame = browser.value("page.frame.step")
        browser.wait(f"page.frame.step > {frame} + 2 || page.frame.step < {frame}")
        at = "[...page.frame.position.subarray(0, 3)]"
        together = f"(() => {{ const x = {at}; return [x, page.camera.wanted.target] }})()"
        body, target = browser.value(together)
        self.assertEqual(body, target)
        browser.key("f")
        self.assertEqual(browser.value("page.followed"), 1)
        browser.key("Escape")
        self.assertEqual(browser.value("page.followed"), -1)

    def test_single_steps_and_pauses_of_a_file(self):
        browser = self.browser
        self.scene(SIX, "all")
        browser.key(" ", "Space")
        browser.wait("page.isPaused && page.frame.step === page.index")
        frame = browser.value("page.frame.step")
        browser.key("s")
        browser.wait(f"page.frame.step === ({frame} + 1) % page.about.frames")

    def test_other_keys_change_what_is_shown(self):
        browser = self.browser
        self.scene(SIX, "1:1")
        for key, shown in (
            ("c", "page.column"),
            ("t", "page.renderer.showsTrails"),
            ("]", "page.renderer.brightness"),
            (".", "page.renderer.scale"),
            ("l", "page.theme"),
        ):
            before = browser.value(shown)
            browser.key(key)
            browser.wait(f"{shown} !== {before!r}" if isinstance(before, str) else f"{shown} !== {str(before).lower()}")

    def test_every_column_colors_the_bodies(self):
        browser = self.browser
        self.scene(SIX, "1:1")
        pictures = {}
        for _ in range(browser.value("document.getElementById('color').options.length")):
            before = browser.value("page.column")
            browser.key("c")
            browser.wait(f"page.column !== '{before}'")
            pictures[browser.value("page.column")] = self.drawn("dark")
        self.assertEqual(set(pictures), {"speed", "mass", "body"})
        self.assertEqual(len(set(pictures.values())), 3)

    def test_bodies_stay_in_their_periodic_cell(self):
        browser, numbers = self.browser, random.Random(1)
        gas = Path(self.folder.name, "gas.csv")
        rows = ["x,y,z,vx,vy,vz"]
        for k in range(27):
            at = [2 * (k // 3**c % 3) + 0.5 for c in range(3)]
            rows.append(",".join(map(str, at + [numbers.gauss(0, 1) for _ in range(3)])))
        gas.write_text("\n".join(rows) + "\n")
        self.scene(
            f"run {gas} --law lennard-jones --cutoff 2.5 --box 6,6,6 --dt 5e-3 --until 15 --every 300", "all"
        )
        outside = """(async () => {
            let least = Infinity, most = -Infinity;
            for (let k = 0; k < page.about.frames; k++) {
                const { position } = await page.source.frame(k);
                position.forEach((x, i) => {
                    least = Math.min(least, x + page.about.origin[i % 3]);
                    most = Math.max(most, x + page.about.origin[i % 3]);
                });
            }
            return [least, most];
        })()"""
        least, most = browser.value(outside)
        self.assertGreater(least, -0.001)
        self.assertLess(most, 6.001)
        self.assertGreater(most - least, 5)
        with_cell = "page.drawOver(480, 300, 1), document.getElementById('overlay').toDataURL()"
        drawn = browser.value(f"page.isPaused = true, {with_cell}")
        self.assertNotEqual(browser.value(f"page.about.cell = null, {with_cell}"), drawn)

    def test_names_stand_next_to_their_spheres_and_those_behind_others_are_left_out(self):
        browser = self.browser
        stars = Path(self.folder.name, "stars.csv")
        stars.write_text("name,m,x,y,z\nsun,1000,0,0,0\nfar,1e-3,9,0,0\nbehind,1e-3,0,0,0\n")
        self.scene(f"run {stars} --dt 1e-9 --until 2e-9 --softening 0.1", "all")
        names = browser.value("""(() => {
            page.isPaused = true;
            const { overlay, camera, renderer, frame } = page, found = {};
            const fill = overlay.context.fillText;
            overlay.context.fillText = (text, x, y) => (found[text] = [x, y]);
            page.drawOver(480, 300, 1);
            overlay.context.fillText = fill;
            const p = camera.project(frame.position.subarray(0, 3), 480, 300);
            const [x, y] = found.sun ?? [0, 0], radius = renderer.radiusOf(0, p.scale);
            return [Object.keys(found), Math.hypot(x - p.x, y - p.y) / radius];
        })()""")
        self.assertIn("sun", names[0])
        self.assertIn("far", names[0])
        self.assertNotIn("behind", names[0])
        self.assertGreater(names[1], 1)

    def test_it_fits_a_telephone_in_dark_and_light(self):
        browser = self.browser
        try:
            browser.resize(400, 800)
            for theme in ("dark", "light"):
                browser.theme(theme)
                self.scene(SIX, "all")
                self.assertEqual(browser.value("document.documentElement.dataset.theme"), theme)
                self.assertEqual(browser.value("document.documentElement.scrollWidth"), 400)
        finally:
            browser.resize(480, 300)
            browser.theme("")

    def saved(self, extension):
        """The file that the page has just saved."""
        deadline = time.monotonic() + PATIENCE
        while not (files := list(Path(self.folder.name, "saved").glob(f"*.{extension}"))):
            self.assertLess(time.monotonic(), deadline, f"no {extension} is saved")
            time.sleep(0.05)
        return files[0]

    def test_pictures_and_films_are_saved(self):
        browser = self.browser
        folder = Path(self.folder.name, "saved")
        browser.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(folder))
        self.scene(SIX, "all")
        browser.key("p")
        picture = self.saved("png").read_bytes()
        self.assertEqual(picture[:8], b"\x89PNG\r\n\x1a\n")
        self.assertEqual([int.from_bytes(picture[k : k + 4], "big") for k in (16, 20)], [480, 300])

        browser.key("v")
        browser.wait("document.getElementById('status').textContent.includes('recording')")
        painted = int(browser.value("document.body.dataset.painted"))
        browser.wait(f"document.body.dataset.painted > {painted + 10}")
        browser.key("v")
        browser.wait("!document.getElementById('status').textContent.includes('recording')")
        film = self.saved("webm")
        self.assertEqual(film.read_bytes()[:4], b"\x1aE\xdf\xa3")  # EBML
        if shutil.which("ffprobe") or "CI" in os.environ:
            words = [
                "-v",
                "error",
                "-count_frames",
                "-show_entries",
                "stream=width,height,nb_read_frames",
                "-of",
                "csv=p=0",
            ]
            found = subprocess.run(["ffprobe", *words, str(film)], capture_output=True, text=True, check=True)
            width, height, frames = map(int, found.stdout.strip().split(","))
            self.assertEqual((width, height), (480, 300))
            self.assertGreater(frames, 0)


if __name__ == "__main__":
    unittest.main()

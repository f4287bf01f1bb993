"""Pictures of kith plot --what density, as Pillow and zlib read them."""

import os
import struct
import subprocess
import tempfile
import unittest
import zlib

import numpy
from PIL import Image

KITH = os.environ["KITH_PROGRAM"]


def chunks(png):
    at = 8
    while at < len(png):
        (size,) = struct.unpack(">I", png[at : at + 4])
        kind, data = png[at + 4 : at + 8], png[at + 8 : at + 8 + size]
        (checksum,) = struct.unpack(">I", png[at + 8 + size : at + 12 + size])
        yield kind, data, checksum
        at += 12 + size


class Picture(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()

    def tearDown(self):
        self.directory.cleanup()

    def draw(self, positions, *options):
        source = os.path.join(self.directory.name, "bodies.npy")
        target = os.path.join(self.directory.name, "picture.png")
        numpy.save(source, positions)
        command = [KITH, "plot", source, "--what", "density", "-q", "-o", target, *options]
        result = subprocess.run(command, capture_output=True, text=True)
        if "no libpng" in result.stderr and "CI" not in os.environ:
            self.skipTest(result.stderr)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return target

    def test_chunks_and_pixels_are_whole(self):
        path = self.draw(numpy.random.default_rng(1).normal(size=(2000, 3)), "--width", "321", "--height", "200")
        with open(path, "rb") as file:
            png = file.read()
        pixels = b""
        for kind, data, checksum in chunks(png):
            self.assertEqual(zlib.crc32(kind + data), checksum)
            pixels += data if kind == b"IDAT" else b""
        self.assertEqual(len(zlib.decompress(pixels)), 200 * (1 + 3 * 321))

    def test_bodies_are_where_they_belong(self):
        positions = numpy.concatenate([numpy.zeros((500, 2)), [[-1, -1], [1, 1]]])  # in a window of ±2
        image = Image.open(self.draw(positions, "--width", "500", "--height", "500", "--colors", "gray"))
        self.assertEqual((image.mode, image.size), ("RGB", (500, 500)))
        gray = numpy.asarray(image)[:, :, 0]
        for row, column in (250, 250), (125, 375), (375, 125):
            self.assertGreater(gray[row, column], 200)
        for row, column in (125, 125), (375, 375), (200, 250):
            self.assertEqual(gray[row, column], 0)


if __name__ == "__main__":
    unittest.main()

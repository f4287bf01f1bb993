"""bench/ without the package: reports compared and drawn, and contestants timed in turns; never how fast."""

import contextlib
import io
import json
import os
import sys
import tempfile
import unittest

BENCH = os.path.join(os.path.dirname(__file__), os.pardir, os.pardir, "bench")
sys.path.insert(0, BENCH)

import page  # noqa: E402
import report  # noqa: E402
import turns  # noqa: E402


def rows_of(rates, **more):
    rows = [{"what": name, "variant": "walk", "beads": 100, "seconds": 100 / rate, "beads_per_second": rate}
            for name, rate in rates.items()]
    return {"capability": "collisions", "machine": {"processor": "Old"}, "rows": rows} | more


class Reports(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)

    def write(self, name, content):
        path = os.path.join(self.directory.name, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(content if isinstance(content, str) else json.dumps(content))
        return path

    def compare(self, a, b):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            report.compare(a, b)
        return out.getvalue()

    def test_two_machines_are_compared_where_both_have_a_figure(self):
        whole = {"machine": {"processor": "Old"}, "capabilities": {"collisions": rows_of({"hash": 2e6, "sort": 5e6})}}
        text = self.compare(self.write("a.json", whole), self.write("b.json", rows_of({"hash": 3e6})))
        self.assertIn("Old", text)
        self.assertRegex(text, r"2e\+06 +3e\+06 +1.50")
        self.assertIn("B is 1.50 times as fast as A (geometric mean of 1 figures)", text)
        self.assertIn("1 figures of A and 0 of B have no counterpart", text)

    def test_files_that_do_not_fit_are_refused(self):
        good = self.write("good.json", rows_of({"hash": 1.0}))
        for content, words in ((rows_of({"sort": 1.0}), "no figure in common"),
                               (rows_of({"hash": 1.0}, quick=True), "--quick"), ({"pairs": 3}, "has no figures"),
                               ([], "has no figures"), ("no JSON", "has no figures"), ("", "has no figures"),
                               ({"capabilities": {"forces": {"rows": [3]}}}, "has no figures")):
            with self.assertRaises(SystemExit) as refused:
                self.compare(good, self.write("other.json", content))
            self.assertIn(words, str(refused.exception))
        with self.assertRaises(SystemExit) as refused:
            self.compare(good, os.path.join(self.directory.name, "none.json"))
        self.assertIn("cannot be read: No such file", str(refused.exception))

    def test_names_are_printed_escaped(self):
        bad = rows_of({"s\x1b\u202e": 1e6}) | {"machine": {"processor": "p\x1b\u202e"}}
        path = self.write("bad.json", bad)
        text = self.compare(path, path)
        self.assertNotIn("\x1b", text)
        self.assertNotIn("\u202e", text)

    def test_a_page_has_a_chart_and_a_table_of_every_unit(self):
        path = os.path.join(self.directory.name, "page.html")
        whole = {"machine": {"processor": "<b>"}, "capabilities": {"collisions": rows_of({"hash": 2e6})},
                 "peers": {"pairs": {"rows": [{"program": "vesin", "points": 10, "seconds": 0.5}]}}}
        page.write(whole, path)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        self.assertEqual(text.count("<img"), 2)
        self.assertIn("collisions, beads/s", text)
        self.assertIn("vesin", text)
        self.assertNotIn("<b>", text)
        self.assertNotIn("http", text)  # all is in it


class Pretended(turns.Contestant):
    """A call of which takes so long."""

    def __init__(self, name, each):
        self.name, self.each, self.calls = name, each, []

    def seconds(self, calls):
        self.calls.append(calls)
        return self.each * calls


class Turns(unittest.TestCase):
    def test_times_and_ratios_are_of_a_call(self):
        rows = turns.measure([Pretended("kith", 1e-3), Pretended("other", 4e-3)], None, 0.31)
        self.assertAlmostEqual(rows[0]["seconds"], 1e-3)
        self.assertAlmostEqual(rows[1]["best_seconds"], 4e-3)
        self.assertAlmostEqual(rows[1]["time_ratio_to_kith"], 4)
        self.assertEqual(rows[1]["repetitions"], turns.ROUNDS)

    def test_a_repetition_is_as_long_as_asked_for(self):
        one = Pretended("kith", 1e-6)
        turns.measure([one], None, 1e-3 * turns.ROUNDS)
        self.assertGreaterEqual(one.calls[-1], 1000)

    def test_what_is_not_installed_is_left_out(self):
        def missing():
            raise ImportError("no module")

        notes = []
        self.assertEqual(turns.made([missing], notes.append), [])
        self.assertIn("is left out: no module", notes[0])


if __name__ == "__main__":
    unittest.main()

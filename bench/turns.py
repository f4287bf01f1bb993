"""Times several things in turns, so that what else the machine does falls on all of them alike."""

import statistics
import time

ROUNDS = 31


class Contestant:
    """One way to do the work: `prepare(work)` takes what to work on, `call()` does it once."""

    name = version = ""
    precision = "double"

    def prepare(self, work):
        self.work = work

    def call(self):
        raise NotImplementedError

    def seconds(self, calls):
        start = time.perf_counter()
        for _ in range(calls):
            self.call()
        return time.perf_counter() - start


def made(kinds, complain=print):
    """A contestant of each class whose package is installed."""
    contestants = []
    for kind in kinds:
        try:
            contestants.append(kind())
        except ImportError as error:
            complain(f"{kind.__name__} is left out: {error}; python -m pip install -r bench/requirements.txt")
    return contestants


def _calls(contestant, seconds):
    """The number of calls that take this long."""
    calls = 1
    while True:
        taken = contestant.seconds(calls)
        if taken >= seconds:
            return calls
        calls = int(calls * min(8, 1.1 * seconds / taken if taken > 0 else 8)) + 1


def measure(contestants, work, seconds):
    """Rows of the contestants: median and best seconds of a call, and the ratio of their times to those of the first
    contestant, the median of the ratios within the rounds."""
    calls = []
    for contestant in contestants:
        contestant.prepare(work)
        contestant.seconds(1)  # what is compiled or allocated at first does not count
        calls.append(_calls(contestant, seconds / ROUNDS))
    times = [[] for _ in contestants]
    start = time.perf_counter()
    for turn in range(ROUNDS):
        order = range(len(contestants)) if turn % 2 == 0 else reversed(range(len(contestants)))
        for k in order:
            times[k].append(contestants[k].seconds(calls[k]) / calls[k])
        if turn >= 2 and time.perf_counter() - start > seconds * len(contestants):
            break
    return [{"program": one.name, "version": one.version, "precision": one.precision,
             "seconds": statistics.median(own), "best_seconds": min(own), "repetitions": len(own),
             "time_ratio_to_kith": statistics.median(a / b for a, b in zip(own, times[0]))}
            for one, own in zip(contestants, times)]

"""Times NumPy's unique for kith bench collisions --peers.

kith starts this script and asks; each request is a line, each answer too:

    peer NAME                   version V | missing | error WHY
    system PATH                 ok; a file of int32 beads[n][3]
    time NAME THREADS CALLS     seconds S: what CALLS counts took | error WHY

A count is sum k (k - 1) / 2 over the sites' numbers of beads. numpy packs a site into 64 bits first,
as sorting kith does; its unique along rows, without that, is several times slower.
"""

import importlib.metadata
import os
import sys
import time


class Numpy:
    def __init__(self):
        import numpy

        self.module = numpy

    def read(self, path):
        return self.module.fromfile(path, self.module.int32).reshape(-1, 3)

    def count(self, beads):
        numpy = self.module
        low, high = beads.min(axis=0), beads.max(axis=0)
        span = high.astype(numpy.int64) - low + 1
        x, y, z = (beads - low).astype(numpy.int64).T
        numbers = numpy.unique((x * span[1] + y) * span[2] + z, return_counts=True)[1]
        return int((numbers * (numbers - 1) // 2).sum())


class Conversation:
    kinds = {"numpy": Numpy}

    def __init__(self):
        self.peers = {}

    def peer(self, name):
        try:
            self.peers[name] = self.kinds[name]()
            return f"version {importlib.metadata.version(name)}"
        except (ModuleNotFoundError, importlib.metadata.PackageNotFoundError):
            return "missing"

    def system(self, path):
        self.beads = self.peers["numpy"].read(path)
        return "ok"

    def time(self, name, threads, calls):
        peer = self.peers[name]
        start = time.perf_counter()
        for _ in range(int(calls)):
            peer.count(self.beads)
        return f"seconds {time.perf_counter() - start!r}"

    def answer(self, line):
        request, *words = line.rstrip("\n").split(" ")
        return {"peer": self.peer, "system": self.system, "time": self.time}[request](*words)


def main():
    # What numpy prints must not get among the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    conversation = Conversation()
    for line in iter(sys.stdin.readline, ""):
        try:
            answer = conversation.answer(line)
        except Exception as error:
            answer = "error " + " ".join(f"{type(error).__name__}: {error}".split())
        print(answer, file=answers, flush=True)


main()

"""What the scripts beside this one have in common: kith bench --peers starts one of them and asks;
each request is a line, each answer too:

    peer NAME                   version V | missing | error WHY; NAME is a package's, or that and
                                :WAY for another way to do the work
    GIVEN ...                   ok; what to work on: the script's word for it, with what it says
    time NAME THREADS CALLS     seconds S: what CALLS calls took | error WHY

The build puts both into kith, which runs the script with this as the module it imports.
"""

import importlib.metadata
import os
import sys
import time


class Peer:
    """Another program. It is made once and raises ModuleNotFoundError if it is not installed."""

    def use(self, given):
        """Takes what to work on."""
        self.given = given

    def call(self, threads):
        """Does the work once."""
        raise NotImplementedError

    def seconds(self, threads, calls):
        start = time.perf_counter()
        for _ in range(calls):
            self.call(threads)
        return time.perf_counter() - start


class Conversation:
    """kinds: peers' names and classes; word: the request whose words `read` makes the given of."""

    def __init__(self, kinds, word, read):
        self.kinds = kinds
        self.read = read
        self.requests = {"peer": self.peer, word: self.give, "time": self.time}
        self.peers = {}
        self.given = None
        self.users = set()  # the peers that have it already

    def peer(self, name):
        try:
            if name not in self.peers:
                self.peers[name] = self.kinds[name]()
            return f"version {importlib.metadata.version(name.partition(':')[0])}"
        except (ModuleNotFoundError, importlib.metadata.PackageNotFoundError):
            return "missing"

    def give(self, *words):
        self.given = self.read(*words)
        self.users = set()
        return "ok"

    def time(self, name, threads, calls):
        peer = self.peers[name]
        if name not in self.users:
            peer.use(self.given)
            self.users.add(name)
        return f"seconds {peer.seconds(int(threads), int(calls))!r}"

    def answer(self, line):
        request, *words = line.rstrip("\n").split(" ")
        return self.requests[request](*words)


def converse(kinds, word, read):
    """Answers until the requests end."""
    # What the peers print must not get among the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    conversation = Conversation(kinds, word, read)
    for line in iter(sys.stdin.readline, ""):
        try:
            answer = conversation.answer(line)
        except Exception as error:
            answer = "error " + " ".join(f"{type(error).__name__}: {error}".split())
        print(answer, file=answers, flush=True)

"""Numbers that the tests share."""

import os
import signal
import sys
import threading
from pathlib import Path

import numpy
import pytest

sys.path.append(str(Path(__file__).parent))  # for refusals.py


@pytest.fixture
def interrupted():
    """Calls a function, and Ctrl-C after 0.3 s: KeyboardInterrupt must come out of it."""

    def call_and_interrupt(call):
        # A shell's background job is started with SIGINT ignored, and Python leaves it so.
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            call()
        timer.join()
        signal.signal(signal.SIGINT, before)

    return call_and_interrupt


@pytest.fixture
def numbers():
    return numpy.random.default_rng(20261121)


@pytest.fixture
def cloud(numbers):
    """Positions and masses of some hundred bodies."""
    return numbers.normal(size=(203, 3)), numbers.uniform(0.5, 2.0, size=203)

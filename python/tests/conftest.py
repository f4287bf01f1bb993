"""Numbers that the tests share."""

import numpy
import pytest


@pytest.fixture
def numbers():
    return numpy.random.default_rng(20261121)


@pytest.fixture
def cloud(numbers):
    """Positions and masses of some hundred bodies."""
    return numbers.normal(size=(203, 3)), numbers.uniform(0.5, 2.0, size=203)

#!/usr/bin/env python3
"""Prints reference states of Burrau's Pythagorean problem, for tests/simulation/test_ias15.c.

Needs mpmath: python3 tools/make_pythagorean.py (some minutes).
Masses 3, 4 and 5 at rest at (1, 3), (-2, -1) and (1, -1), G = 1: integrated by Taylor series of order 32 in 40
digits, whose steps keep the last two terms below 10^-34 of the coordinates (Burrau 1913; Szebehely & Peters 1967).
"""

from mpmath import mp, mpf, nstr

mp.dps = 40
ORDER = 32
MASSES = [mpf(3), mpf(4), mpf(5)]
TIMES = [10, 30, 50, 70]


def pull(d, n, squares, cubes):
    """The next term, number n, of |d|^-3, whose series is appended to."""
    squares.append(sum(d[c][k] * d[c][n - k] for c in range(2) for k in range(n + 1)))
    if n == 0:
        cubes.append(squares[0] ** mpf("-1.5"))
        return
    terms = sum((mpf(-3) / 2 * k - (n - k)) * squares[k] * cubes[n - k] for k in range(1, n + 1))
    cubes.append(terms / (n * squares[0]))


def series(x, v):
    """The Taylor coefficients of the coordinates, [body][component][power]."""
    terms = [[[x[i][c], v[i][c]] for c in range(2)] for i in range(3)]
    pairs = [(0, 1), (0, 2), (1, 2)]
    d = {pair: [[], []] for pair in pairs}
    squares, cubes = {pair: [] for pair in pairs}, {pair: [] for pair in pairs}
    for n in range(ORDER - 1):
        sums = [[mpf(0), mpf(0)] for _ in range(3)]
        for i, j in pairs:
            for c in range(2):
                d[i, j][c].append(terms[j][c][n] - terms[i][c][n])
            pull(d[i, j], n, squares[i, j], cubes[i, j])
            for c in range(2):
                field = sum(d[i, j][c][k] * cubes[i, j][n - k] for k in range(n + 1))
                sums[i][c] += MASSES[j] * field
                sums[j][c] -= MASSES[i] * field
        for i in range(3):
            for c in range(2):
                terms[i][c].append(sums[i][c] / ((n + 1) * (n + 2)))
    return terms


def step_of(terms):
    """A length that keeps the last two terms small."""
    length = mpf("inf")
    for k in (ORDER - 1, ORDER):
        largest = max(abs(terms[i][c][k]) for i in range(3) for c in range(2))
        if largest > 0:  # at rest every other term is 0
            length = min(length, (mpf("1e-34") / largest) ** (mpf(1) / k))
    return length


def at(terms, h):
    """Positions and velocities after h."""
    x, v = [], []
    for body in terms:
        x.append([sum(term * h**k for k, term in enumerate(one)) for one in body])
        v.append([sum(k * term * h ** (k - 1) for k, term in enumerate(one) if k) for one in body])
    return x, v


def main():
    """Prints the positions at some times."""
    x = [[mpf(1), mpf(3)], [mpf(-2), mpf(-1)], [mpf(1), mpf(-1)]]
    v = [[mpf(0), mpf(0)] for _ in range(3)]
    time = mpf(0)
    for until in TIMES:
        while time < until:
            terms = series(x, v)
            h = min(step_of(terms), until - time)
            x, v = at(terms, h)
            time += h
        numbers = ", ".join("{" + nstr(a, 20) + ", " + nstr(b, 20) + "}" for a, b in x)
        print(f"{{{until}, {{{numbers}}}}},", flush=True)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Prints the numbers of src/simulation/whfast_correctors.c.

The map exp(A/2) exp(B) exp(A/2) of a step is, to first order in B, that of A + (x/2)/sinh(x/2) B with x the
commutator with A. The corrector exp(C) with C = (1/(2 sinh(x/2)) - 1/x) B takes the difference away (Wisdom,
Holman & Touma 1996). exp(a A) exp(b B) exp(-2 a A) exp(-b B) exp(a A) is exp(2 b sinh(a x) B) to that order, and each of its pairs occurs in a corrector with both signs: of order 2 n + 1, the b of a = k sqrt(7/40), k = 1 ... n,
have the first n terms of C's series."""

from mpmath import bernoulli, factorial, lu_solve, matrix, mp, mpf, nstr, sqrt

mp.dps = 60


def term(k):
    """The coefficient of x^(2k - 1) in C."""
    return (mpf(2) ** (1 - 2 * k) - 1) * bernoulli(2 * k) / factorial(2 * k)


def numbers(pairs, time):
    """The b of a corrector."""
    sines = matrix(pairs, pairs)
    for row in range(pairs):
        for k in range(pairs):
            sines[row, k] = -4 * ((k + 1) * time) ** (2 * row + 1) / factorial(2 * row + 1)
    return lu_solve(sines, matrix([term(row + 1) for row in range(pairs)]))


TIME = sqrt(mpf(7) / 40)
print("time", nstr(TIME, 17))
for order in (3, 5, 7, 11, 17):
    print(order, ", ".join(nstr(b, 17) for b in numbers((order - 1) // 2, TIME)))

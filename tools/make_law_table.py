#!/usr/bin/env python3
"""Makes tests/testing/law_table.inc: values and forces of every law in 50 digits, rounded to doubles.

Needs mpmath: python3 tools/make_law_table.py >tests/testing/law_table.inc
The formulas are those of the documentation, with forces as numerical derivatives of the values, so
that nothing is shared with the code under test.
"""

import random

from mpmath import diff, exp, log, mp, mpf, sqrt

mp.dps = 50

LAWS = {
    "gravity": lambda s, m, q: -m[0] * m[1] / s,
    "coulomb": lambda s, m, q: q[0] * q[1] / s,
    "yukawa:2.5": lambda s, m, q: q[0] * q[1] * exp(-s / mpf(2.5)) / s,
    "yukawa:0.125": lambda s, m, q: q[0] * q[1] * exp(-s / mpf(0.125)) / s,
    "lennard-jones": lambda s, m, q: 4 * (s**-12 - s**-6),
    "lennard-jones:1.5,0.75": lambda s, m, q: 6 * ((mpf(0.75) / s) ** 12 - (mpf(0.75) / s) ** 6),
    "morse:2,1.5,1.25": lambda s, m, q: 2 * (exp(-3 * (s - mpf(1.25))) - 2 * exp(-mpf(1.5) * (s - mpf(1.25)))),
    "gaussian:0.75": lambda s, m, q: exp(-(s**2) / (2 * mpf(0.75) ** 2)),
    "multiquadric:0.5": lambda s, m, q: sqrt(s**2 + mpf(0.25)),
    "thin-plate": lambda s, m, q: s**2 * log(s),
    "distance": lambda s, m, q: s,
    "distance2": lambda s, m, q: s**2,
    "sum": lambda s, m, q: m[0] + m[1],
    "product": lambda s, m, q: m[0] * m[1],
}
for power in (-3, -2.5, -2, -1, -0.5, 0, 0.5, 1, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 12, 2.7182818284590452, -0.3, 1e-3):
    LAWS[f"power:{power!r}"] = lambda s, m, q, power=mpf(power): s**-power
LAWS["log2d"] = lambda s, m, q: q[0] * q[1] * log(s)


def number(low, high):
    """A random number that a float holds exactly."""
    return round(random.uniform(low, high) * 1024) / 1024


def hexadecimal(x):
    return float(x).hex()


def main():
    random.seed(6)
    print("/* law, {d, softening, m_i, m_j, q_i, q_j}, value, factor of d in the force: made by")
    print(" * tools/make_law_table.py. */")
    for law, value in LAWS.items():
        for scale in (0.25, 1, 3):
            while True:
                d = [number(-scale, scale) for _ in range(3)]
                if sum(x * x for x in d) > 0.15 * scale**2:
                    break
            softening = number(0.1, 0.5) if scale == 1 else 0.0
            m = [number(0.5, 3) for _ in range(2)]
            q = [number(-2, 2) for _ in range(2)]
            s = sqrt(sum(mpf(x) ** 2 for x in d) + mpf(softening) ** 2)
            force = diff(lambda x: value(x, m, q), s) / s
            numbers = ", ".join(hexadecimal(x) for x in (softening, *m, *q))
            place = ", ".join(hexadecimal(x) for x in d)
            print(f'{{"{law}", {{{{{place}}}, {numbers}}},\n {hexadecimal(value(s, m, q))}, {hexadecimal(force)}}},')


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Rotation curve and surface density of a thin exponential disk of unit mass and scale length.

    v^2(R) = 2 y^2 [I0(y) K0(y) - I1(y) K1(y)],  y = R / 2     (Freeman 1970, ApJ 160, 811)
    2 pi Sigma(R) = e^-R

Needs mpmath. Writes src/initial/disk_table.inc, a row for every eighth of a scale length.
"""

from pathlib import Path

from mpmath import besseli, besselk, exp, mp, mpf

mp.dps = 30
STEPS_PER_LENGTH = 8
LENGTHS = 6


def row(radius):
    if radius == 0:
        return 0.0, 1.0
    y = radius / 2
    speed2 = 2 * y * y * (besseli(0, y) * besselk(0, y) - besseli(1, y) * besselk(1, y))
    return float(speed2), float(exp(-radius))


if __name__ == "__main__":
    target = Path(__file__).resolve().parent.parent / "src/initial/disk_table.inc"
    lines = ["/* Made by tools/make_disk_table.py: v^2 and 2 pi Sigma at R = 0, 1/8, 2/8, ... 6. */\n"]
    for step in range(STEPS_PER_LENGTH * LENGTHS + 1):
        speed2, density = row(mpf(step) / STEPS_PER_LENGTH)
        lines.append(f"{{{speed2!r}, {density!r}}},\n")
    target.write_text("".join(lines))

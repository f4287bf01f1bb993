#!/usr/bin/env python3
"""The motions of the stars of kith make disk: a Hernquist bulge and an exponential disk, G = M = 1.

Bulge, by s = r / (r + a), isotropic (Hernquist 1990, 1993, ApJS 86, 389):
    sigma^2(r) = (1 / rho) int_r^inf rho(x) M(x) / x^2 dx, the mass inside a sphere of all stars
    escape^2(r) = 2 (phi(inf) - phi(r)), of that mass
Disk, by R:
    v_c^2(R) = R^2 M_b / (x (x + a)^2) + M_d 2 y^2 [I0(y) K0(y) - I1(y) K1(y)],
    x^2 = R^2 + h^2, y = R / 2     (Freeman 1970, ApJ 160, 811)
    kappa^2 = 2 v_c^2 / R^2 + (d v_c^2 / dR) / R
    sigma_R = 3.36 Q Sigma / kappa                             (Toomre 1964)
    sigma_phi = sigma_R kappa / (2 v_c / R)
    v_phi^2 = v_c^2 + sigma_R^2 (1 - kappa^2 R^2 / (4 v_c^2) + d ln(Sigma sigma_R^2) / d ln R)
                                                               (Binney & Tremaine 2008, 4.8.2)
    sigma_z^2 = h^2 M_b / (x (x + a)^2) + 2 sqrt(pi) Sigma h   (the vertical virial theorem)

Needs mpmath. Writes src/initial/disk_table.inc.
"""

from pathlib import Path

from mpmath import besseli, besselk, diff, exp, inf, log, mp, mpf, pi, quad, sqrt

mp.dps = 20
STEPS = 128  # of s from 0 to 1, and of R from 0 to EDGE
EDGE = mpf(6)  # of both; the masses are those inside
BULGE, SIZE = mpf("0.3"), mpf("0.2")
THICKNESS, TOOMRE_Q = mpf("0.05"), mpf("1.5")

bulge = BULGE * ((EDGE + SIZE) / EDGE) ** 2
disk = (1 - BULGE) / (1 - (1 + EDGE) * exp(-EDGE))


def mass(r):
    return bulge * (r / (r + SIZE)) ** 2 + disk * (1 - (1 + r) * exp(-r))


def density(r):
    return 1 / (r * (r + SIZE) ** 3)


def bulge_row(s):
    if s == 0:
        return 0.0, float(sqrt(2 * (bulge / SIZE + disk)))
    if s == 1:
        return 0.0, 0.0
    r = SIZE * s / (1 - s)
    sigma2 = quad(lambda x: density(x) * mass(x) / x**2, [r, 2 * r, 8 * r, 50 * r, inf]) / density(r)
    escape2 = 2 * quad(lambda x: mass(x) / x**2, [r, 2 * r, 8 * r, 50 * r, inf])
    return float(sqrt(sigma2)), float(sqrt(escape2))


def pull(radius):
    x = sqrt(radius**2 + THICKNESS**2)
    return bulge / (x * (x + SIZE) ** 2)


def speed2(radius):
    y = radius / 2
    freeman = 2 * y * y * (besseli(0, y) * besselk(0, y) - besseli(1, y) * besselk(1, y))
    return radius**2 * pull(radius) + disk * freeman


def surface(radius):
    return disk * exp(-radius) / (2 * pi)


def epicycle2(radius):
    return 2 * speed2(radius) / radius**2 + diff(speed2, radius) / radius


def sigma_r(radius):
    return mpf("3.36") * TOOMRE_Q * surface(radius) / sqrt(epicycle2(radius))


def disk_row(radius):
    radius = max(radius, EDGE / STEPS / 1000)
    sigma, circular2 = sigma_r(radius), speed2(radius)
    squeeze2 = epicycle2(radius) * radius**2 / (4 * circular2)
    slope = radius * diff(lambda x: log(surface(x) * sigma_r(x) ** 2), radius)
    mean2 = max(circular2 + sigma**2 * (1 - squeeze2 + slope), 0)
    vertical2 = THICKNESS**2 * pull(radius) + 2 * sqrt(pi) * surface(radius) * THICKNESS
    return tuple(float(x) for x in (sqrt(mean2), sigma, sigma * sqrt(squeeze2), sqrt(vertical2)))


def table(name, rows):
    body = "".join("    " + ", ".join(f"{number:.17g}" for number in row) + ",\n" for row in rows)
    return f"static const double {name}[] = {{\n{body}}};\n"


if __name__ == "__main__":
    target = Path(__file__).resolve().parent.parent / "src/initial/disk_table.inc"
    steps = [mpf(k) / STEPS for k in range(STEPS + 1)]
    target.write_text(
        "/* Made by tools/make_disk_table.py. */\n"
        f"enum {{ steps = {STEPS} }};\n"
        f"static const double bulge_mass = {float(BULGE):.17g};\n"
        f"static const double bulge_size = {float(SIZE):.17g};\n"
        f"static const double edge = {float(EDGE):.17g};\n"
        f"static const double thickness = {float(THICKNESS):.17g};\n"
        "\n/* sigma and escape speed at s = r / (r + a) = 0, 1/128, … 1. */\n"
        + table("bulge_motion", [bulge_row(s) for s in steps])
        + "\n/* v_phi, sigma_R, sigma_phi and sigma_z at R = 0, 6/128, … 6. */\n"
        + table("disk_motion", [disk_row(EDGE * s) for s in steps])
    )

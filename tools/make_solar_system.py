#!/usr/bin/env python3
"""States of the Sun, the eight planets and Pluto at J2000.0, from published Keplerian elements.

Elements: E. M. Standish, "Keplerian Elements for Approximate Positions of the Major Planets",
JPL Solar System Dynamics, table 1 (fitted to 1800-2050), at T = 0: the mean ecliptic and equinox of
J2000. Columns: a [AU], e, inclination, mean longitude, longitude of perihelion, longitude of the
ascending node [degrees]. Earth means the Earth-Moon barycenter.

Masses: Sun over planet, IAU 2009 system of astronomical constants (Luzum et al. 2011, Celestial
Mechanics 110, 293), each with its satellites; Earth + Moon from its Sun/Earth = 332946.0487 and
Moon/Earth = 0.0123000371.

The velocity is that of the Kepler orbit with these elements, mu = k^2 (1 + m), k = 0.01720209895
(Gauss). Positions and velocities are moved to the barycenter of the ten bodies.

Writes src/initial/solar_system_table.inc: AU, days, solar masses.
"""

from math import cos, fsum, radians, sin, sqrt
from pathlib import Path

GAUSS_K = 0.01720209895
PLANETS = (
    ("Mercury", 6023600.0, 0.38709927, 0.20563593, 7.00497902, 252.25032350, 77.45779628, 48.33076593),
    ("Venus", 408523.719, 0.72333566, 0.00677672, 3.39467605, 181.97909950, 131.60246718, 76.67984255),
    ("Earth", 332946.0487 / 1.0123000371, 1.00000261, 0.01671123, -0.00001531, 100.46457166, 102.93768193, 0.0),
    ("Mars", 3098703.59, 1.52371034, 0.09339410, 1.84969142, -4.55343205, -23.94362959, 49.55953891),
    ("Jupiter", 1047.348644, 5.20288700, 0.04838624, 1.30439695, 34.39644051, 14.72847983, 100.47390909),
    ("Saturn", 3497.9018, 9.53667594, 0.05386179, 2.48599187, 49.95424423, 92.59887831, 113.66242448),
    ("Uranus", 22902.98, 19.18916464, 0.04725744, 0.77263783, 313.23810451, 170.95427630, 74.01692503),
    ("Neptune", 19412.26, 30.06992276, 0.00859048, 1.77004347, -55.12002969, 44.96476227, 131.78422574),
    ("Pluto", 136566000.0, 39.48211675, 0.24882730, 17.14001206, 238.92903833, 224.06891629, 110.30393684),
)


def eccentric_anomaly(mean_anomaly, e):
    """Kepler's equation M = E - e sin E by Newton's method."""
    anomaly = mean_anomaly + e * sin(mean_anomaly)
    for _ in range(20):
        anomaly -= (anomaly - e * sin(anomaly) - mean_anomaly) / (1 - e * cos(anomaly))
    return anomaly


def heliocentric_state(mass, a, e, inclination, longitude, perihelion, node):
    """Position and velocity from the elements: in the orbit's plane, then turned by three angles."""
    anomaly = eccentric_anomaly(radians(longitude - perihelion), e)
    motion = GAUSS_K * sqrt((1 + mass) / a) / (1 - e * cos(anomaly))
    flattening = sqrt(1 - e * e)
    in_plane = (
        (a * (cos(anomaly) - e), a * flattening * sin(anomaly)),
        (-motion * sin(anomaly), motion * flattening * cos(anomaly)),
    )
    w, i, n = radians(perihelion - node), radians(inclination), radians(node)
    toward_perihelion = (
        cos(w) * cos(n) - sin(w) * sin(n) * cos(i),
        cos(w) * sin(n) + sin(w) * cos(n) * cos(i),
        sin(w) * sin(i),
    )
    ahead_of_it = (
        -sin(w) * cos(n) - cos(w) * sin(n) * cos(i),
        -sin(w) * sin(n) + cos(w) * cos(n) * cos(i),
        cos(w) * sin(i),
    )
    return [p * u + q * v for p, q in in_plane for u, v in zip(toward_perihelion, ahead_of_it)]


def barycentric_rows():
    rows = [("Sun", 1.0, [0.0] * 6)]
    for name, sun_over_planet, *elements in PLANETS:
        mass = 1 / sun_over_planet
        rows.append((name, mass, heliocentric_state(mass, *elements)))
    total = fsum(mass for _, mass, _ in rows)
    center = [fsum(mass * state[k] for _, mass, state in rows) / total for k in range(6)]
    return [(name, mass, [s - c for s, c in zip(state, center)]) for name, mass, state in rows]


if __name__ == "__main__":
    target = Path(__file__).resolve().parent.parent / "src/initial/solar_system_table.inc"
    lines = ["/* Made by tools/make_solar_system.py: name, mass, position, velocity. */\n"]
    for name, mass, state in barycentric_rows():
        x, y, z, vx, vy, vz = (repr(s) for s in state)
        lines.append(f'{{"{name}", {mass!r}, {{{x}, {y}, {z}}},\n {{{vx}, {vy}, {vz}}}}},\n')
    target.write_text("".join(lines))

#!/usr/bin/env python3
"""Makes src/simulation/radau_table.inc: Gauss-Radau nodes and their polynomials, of 60 digits, rounded.

Needs mpmath: python3 tools/make_radau_table.py >src/simulation/radau_table.inc
The nodes h_0 = 0 < h_1 < ... < h_7 < 1 of Radau's quadrature of order 15 are the zeros of P_7(x) + P_8(x), x = 2 h - 1
(Everhart 1985). With the acceleration as a polynomial a(s) = a_0 + sum_k b_k s^(k+1), s = t / h, k = 0 ... 6:

  radau_node[n]      h_(n+1)
  radau_power[n][k]  h_(n+1)^(k+1): what b_k adds to the acceleration at the node
  radau_place[n][k]  h_(n+1)^(k+3) / ((k+2)(k+3)): what h^2 b_k adds to the position at the node
  radau_basis[n][k]  the coefficient of s^(k+1) in s (s - h_1) ... (s - h_n), which is 0 at the nodes up to h_n
  radau_weight[n]    one over its value at h_(n+1)
"""

import mpmath

mpmath.mp.dps = 60


def nodes():
    """The nodes after h_0 = 0, ascending."""
    coefficients = mpmath.taylor(lambda x: mpmath.legendre(7, x) + mpmath.legendre(8, x), 0, 8)
    zeros = mpmath.polyroots(coefficients[::-1], maxsteps=500, extraprec=500)
    return sorted((mpmath.re(x) + 1) / 2 for x in zeros)[1:]


def basis(h, n):
    """The coefficients of s, s^2, ... in s (s - h_1) ... (s - h_n)."""
    polynomial = [mpmath.mpf(1)]
    for node in h[:n]:
        polynomial = [a - node * b for a, b in zip([mpmath.mpf(0), *polynomial], [*polynomial, mpmath.mpf(0)])]
    return polynomial + [mpmath.mpf(0)] * (6 - n)


def row(numbers):
    """A row of a table, in hexadecimal."""
    words = [str(int(number)) if number in (0, 1) else float(number).hex() for number in numbers]
    return "{" + ", ".join(words) + "}"


def main():
    """Prints the tables."""
    h = nodes()
    products = [mpmath.polyval(basis(h, n)[::-1], h[n]) * h[n] for n in range(7)]
    tables = {
        "power": [[h[n] ** (k + 1) for k in range(7)] for n in range(7)],
        "place": [[h[n] ** (k + 3) / ((k + 2) * (k + 3)) for k in range(7)] for n in range(7)],
        "basis": [basis(h, n) for n in range(7)],
    }
    lines = ["/* Written by tools/make_radau_table.py, which says what the numbers are. */", ""]
    lines += [f"SIMD_TABLE const double radau_node[7] = {row(h)};", ""]
    lines += [f"SIMD_TABLE const double radau_weight[7] = {row([1 / product for product in products])};"]
    for name, rows in tables.items():
        lines += ["", f"SIMD_TABLE const double radau_{name}[7][7] = {{"]
        lines += [f"    {row(numbers)}," for numbers in rows]
        lines += ["};"]
    print("\n".join(lines))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Makes src/core/simd_math_table.h: the polynomials of src/core/simd_math.h.

Each is the best approximation by Remez's exchange algorithm in 60 digits, weighted for the relative
error of the whole function. Needs mpmath: python3 tools/make_simd_math.py >src/core/simd_math_table.h
"""

from mpmath import cos, exp, expm1, linspace, log, lu_solve, matrix, mp, mpf, pi, sqrt

mp.dps = 60


def remez(function, weight, degree, low, high):
    """Coefficients c of the polynomial that makes max |weight (function − Σ c_k x^k)| least."""
    count = degree + 2
    nodes = [(low + high) / 2 - (high - low) / 2 * cos(pi * k / (count - 1)) for k in range(count)]
    grid = linspace(low, high, 2000)
    for _ in range(12):
        rows = matrix(count, count)
        right = matrix(count, 1)
        for row, x in enumerate(nodes):
            for power in range(degree + 1):
                rows[row, power] = x**power
            rows[row, degree + 1] = (-1) ** row / weight(x)
            right[row] = function(x)
        solution = lu_solve(rows, right)
        coefficients = [solution[k] for k in range(degree + 1)]

        def error(x):
            return weight(x) * (function(x) - sum(c * x**k for k, c in enumerate(coefficients)))

        errors = [error(x) for x in grid]
        extremes = [0]  # the largest error of each run of one sign
        for k in range(1, len(grid)):
            if (errors[k] > 0) == (errors[extremes[-1]] > 0):
                if abs(errors[k]) > abs(errors[extremes[-1]]):
                    extremes[-1] = k
            else:
                extremes.append(k)
        if len(extremes) < count:
            break
        while len(extremes) > count:
            extremes.pop(0 if abs(errors[extremes[0]]) < abs(errors[extremes[-1]]) else -1)
        nodes = [grid[k] for k in extremes]
    return coefficients, max(abs(e) for e in errors)


def power_of_two(degree):
    """(2^f − 1)/f on |f| ≤ ½; the error counts for 2^f."""

    def function(f):
        return log(2) if f == 0 else expm1(log(2) * f) / f

    half = mpf("0.501")
    return remez(function, lambda f: (abs(f) + mpf(10) ** -4) / mpf(2) ** f, degree, -half, half)


def exponential(degree):
    """(e^f − 1 − f)/f² on |f| ≤ ½ ln 2; the error counts for e^f."""

    def function(f):
        return mpf(1) / 2 + f / 6 if abs(f) < 1e-20 else (expm1(f) - f) / f**2

    half = mpf("0.501") * log(2)
    return remez(function, lambda f: f**2 / exp(f) + mpf(10) ** -3, degree, -half, half)


def logarithm(degree):
    """R of log((1 + s)/(1 − s)) = 2s + s·z·R(z), z = s², 0 ≤ z ≤ ((√2 − 1)/(√2 + 1))²."""

    def function(z):
        if z == 0:
            return mpf(2) / 3
        s = sqrt(z)
        return (log((1 + s) / (1 - s)) - 2 * s) / (s * z)

    top = ((sqrt(2) - 1) / (sqrt(2) + 1)) ** 2
    return remez(function, lambda z: (z + mpf(10) ** -4) / 2, degree, mpf(0), top * mpf("1.0001"))


def print_table(name, note, result, real):
    coefficients, error = result
    suffix = "f" if real == "float" else ""
    print(f"/* {note}; relative error at most 2^{float(log(error, 2)):.1f}. */")
    print(f"static const {real} simd_{name}_{real}[] = {{")
    for c in coefficients:
        text = mp.nstr(c, 12 if real == "float" else 20, strip_zeros=False)
        print(f"    {text}{suffix},")
    print("};")
    print()


def main():
    print("#ifndef CORE_SIMD_MATH_TABLE_H")
    print("#define CORE_SIMD_MATH_TABLE_H")
    print()
    print("/* Polynomials of simd_math.h, ascending powers, made by tools/make_simd_math.py. */")
    print()
    for real, degrees in (("float", (5, 4, 3)), ("double", (10, 9, 7))):
        print_table("exp2_terms", "(2^f − 1)/f, |f| ≤ ½", power_of_two(degrees[0]), real)
        print_table("exp_terms", "(e^f − 1 − f)/f², |f| ≤ ½ ln 2", exponential(degrees[1]), real)
        print_table("log_terms", "(log((1 + s)/(1 − s)) − 2s)/s³ in s², |s| ≤ 3 − 2√2", logarithm(degrees[2]), real)
    print("#endif")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Initial data of the figure-8 orbit to all digits of a double.

Chenciner & Montgomery (2000, Annals of Mathematics 152, 881) print C. Simo's data to 8 digits. Here
the position of the first body is held at Simo's value, which fixes the scale and the direction of
the orbit, and the common velocity of the two outer bodies and the period are solved for: a twelfth
of a period after the collinear start the three bodies form an isosceles triangle whose motion
mirrors itself when time is reversed.

Needs mpmath. Prints the numbers for src/initial/few_body.c.
"""

from mpmath import findroot, matrix, mp, mpf, odefun, sqrt

mp.dps = 30
X1 = (mpf("0.97000435669734"), mpf("-0.24308753153583"))


def acceleration(position):
    result = [mpf(0)] * 6
    for i in range(3):
        for j in range(3):
            if i == j:
                continue
            dx = position[2 * j] - position[2 * i]
            dy = position[2 * j + 1] - position[2 * i + 1]
            r2 = dx * dx + dy * dy
            r3 = r2 * sqrt(r2)
            result[2 * i] += dx / r3
            result[2 * i + 1] += dy / r3
    return result


def state_after(time, vx, vy):
    start = [X1[0], X1[1], -X1[0], -X1[1], 0, 0, vx, vy, vx, vy, -2 * vx, -2 * vy]
    solution = odefun(lambda t, y: y[6:] + acceleration(y[:6]), 0, [mpf(s) for s in start])
    return solution(time)


def mirrored(vx, vy, twelfth):
    """0 if the state after a twelfth of a period is symmetric about the line to the first body."""
    y = state_after(twelfth, vx, vy)
    apex, others = 0, (1, 2)

    def position(i):
        return matrix(y[2 * i : 2 * i + 2])

    def velocity(i):
        return matrix(y[6 + 2 * i : 8 + 2 * i])

    def dot(a, b):
        return a[0] * b[0] + a[1] * b[1]

    axis = position(apex)
    across = matrix([-axis[1], axis[0]])
    a, b = others
    return (
        dot(position(a) - position(b), axis),
        dot(velocity(apex), axis),
        dot(velocity(a) - velocity(b), across),
    )


if __name__ == "__main__":
    guess = (mpf("0.466203685"), mpf("0.432365730"), mpf("6.32591398") / 12)
    if max(abs(f) for f in mirrored(*guess)) > 1e-6:
        raise SystemExit("the first body is not the apex: the guess is another phase of the orbit")
    vx, vy, twelfth = findroot(mirrored, guess, tol=mpf(10) ** -44)
    end = state_after(12 * twelfth, vx, vy)
    start = state_after(mpf(0), vx, vy)
    for name, value in (("x1", X1[0]), ("y1", X1[1]), ("vx1", vx), ("vy1", vy), ("period", 12 * twelfth)):
        print(f"{name:7s} {mp.nstr(value, 20)}   {float(value)!r}")
    print("distance from the start after a period", mp.nstr(max(abs(e - s) for e, s in zip(end, start)), 3))

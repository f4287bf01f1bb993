"""How the energy error of compensated integrators grows with time.

    python3 bench/energy_growth.py --program build/kith [--starts 8] [--integrators ias15,whfast]

Runs of the outer solar system to 1000, 10 000 and 100 000 years from starts in which Jupiter is
moved by multiples of 1e-9 AU, at steps so short that the errors are those of rounding. Prints the
root mean square of the relative energy errors at each end, and the exponent of their growth with
time: 1/2 by Brouwer's law (1937, AJ 46, 149), where roundings are independent of each other, and 1
where they have a bias.
"""

import argparse
import json
import math
import subprocess
import tempfile
from pathlib import Path

OPTIONS = {
    "ias15": ["--dt", "10"],
    "whfast": ["--dt", "10", "--corrector", "17", "--kernel", "lazy"],
    "yoshida8": ["--dt", "25"],
}
DAYS_OF_YEAR = 365.25
YEARS = [1000, 10000, 100000]


def write_start(text, start, path):
    """The bodies of text with the x of the second, Jupiter, moved."""
    lines = text.splitlines()
    titles = next(k for k, line in enumerate(lines) if not line.startswith("#"))
    column = lines[titles].split(",").index("x")
    fields = lines[titles + 2].split(",")
    fields[column] = repr(float(fields[column]) + start * 1e-9)
    lines[titles + 2] = ",".join(fields)
    path.write_text("\n".join(lines) + "\n")


def error_of(program, integrator, bodies, years, folder):
    """The relative energy error at the end of a run."""
    days = years * DAYS_OF_YEAR
    command = [program, "run", str(bodies), "--integrator", integrator, *OPTIONS[integrator]]
    command += ["--until", repr(days), "--every-time", repr(days), "--threads", "1", "--json"]
    command += ["-o", str(folder / "run.h5")]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)["relative_energy_error"]


def root_mean_square(numbers):
    return math.sqrt(sum(number * number for number in numbers) / len(numbers))


def exponent_of(errors):
    """The slope of a straight line through the logarithms."""
    x = [math.log(years) for years in YEARS]
    y = [math.log(error) for error in errors]
    middle_x, middle_y = sum(x) / len(x), sum(y) / len(y)
    covariance = sum((a - middle_x) * (b - middle_y) for a, b in zip(x, y, strict=True))
    return covariance / sum((a - middle_x) ** 2 for a in x)


def measure(program, integrator, starts, text, folder):
    bodies = folder / "bodies.csv"
    errors = [[] for _ in YEARS]
    for start in range(starts):
        write_start(text, start, bodies)
        for k, years in enumerate(YEARS):
            errors[k].append(error_of(program, integrator, bodies, years, folder))
    return [root_mean_square(of_years) for of_years in errors]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default="build/kith")
    parser.add_argument("--starts", type=int, default=8)
    parser.add_argument("--integrators", default=",".join(OPTIONS))
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        made = folder / "outer.csv"
        subprocess.run(
            [arguments.program, "make", "outer-solar-system", "-o", str(made)],
            check=True,
            capture_output=True,
        )
        text = made.read_text()
        for integrator in arguments.integrators.split(","):
            rms = measure(arguments.program, integrator, arguments.starts, text, folder)
            ends = ", ".join(f"{error:.2g} at {years}" for error, years in zip(rms, YEARS, strict=True))
            print(f"{integrator}: rms {ends} years; exponent {exponent_of(rms):.2f}", flush=True)


if __name__ == "__main__":
    main()

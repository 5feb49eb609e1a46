#!/usr/bin/env python3
"""Runs a pulse of sound, entropy and vorticity in boxes with open boundaries for 50 crossings of a sound wave.

    tools/open-boundaries.py [PROGRAM] [--runs N] [--device cpu|cuda]

Conditions, numerical fluxes, shapes, orders, speeds, models and amplitudes are combined such that each pair of two
conditions and each flux occur. The disturbance must end smaller than it began, and must never grow to twice its
first size. Prints a table, and exits with 1 if a run fails.
"""

import argparse
import csv
import itertools
import pathlib
import subprocess
import sys
import tempfile

FLUXES = ["rusanov", "hll", "hllc", "roe", "roe-low-mach"]
SHAPES = ["quad", "tri"]
ORDERS = [1, 2, 3, 4, 5]
SPEEDS = [0.3, 0.05, 0.0, -0.05]
PRESSURE = 1 / 1.4  # the speed of sound is 1


def condition(kind, side, u):
    """The condition of this kind that the flow at the speed u along x keeps on a side of the box."""
    leaving = {"xmin": -u, "xmax": u}.get(side, 0.0)
    rise = 1 + 0.2 * min(leaving, 0.0) ** 2
    total = PRESSURE * rise**3.5
    state = f"rho: 1, u: {u}, v: 0, p: {PRESSURE!r}"
    return {
        "dirichlet": f"{{ type: dirichlet, {state} }}",
        "far-field": f"{{ type: far-field, {state} }}",
        "pressure-outlet": f"{{ type: pressure-outlet, p: {total!r}, temperature: {PRESSURE * rise!r} }}",
        "subsonic-inflow": f"{{ type: subsonic-inflow, total_pressure: {total!r}, total_temperature: {PRESSURE * rise!r} }}",
        "symmetry": "{ type: symmetry }",
    }[kind]


def cases():
    """Pairs of conditions, one across the flow and one along it, with the other choices in turn."""
    across = ["far-field", "pressure-outlet", "subsonic-inflow", "dirichlet"]
    along = ["symmetry", "far-field", "pressure-outlet"]
    pairs = itertools.cycle(itertools.product(across, along))
    for number in itertools.count():
        a, b = next(pairs)
        turn = number // 12
        yield {
            "across": a,
            # Gas leaves at one end, where the inflow of the other end would hold it up.
            "beyond": "pressure-outlet" if a == "subsonic-inflow" else a,
            "along": b,
            "riemann": FLUXES[(number + turn) % 5],
            "shape": SHAPES[(number + number // 2) % 2],
            "order": ORDERS[(number * 2 + turn) % 5],
            "u": SPEEDS[(number + number // 4) % 3] if a == "subsonic-inflow" else SPEEDS[(number + number // 4) % 4],
            "model": "navier-stokes, viscosity: { constant: 0.0001 }, prandtl: 0.72" if number % 6 == 5 else "euler",
            "amplitude": [1e-6, 1e-2, 0.1][(number + turn) % 3],
        }


def pipeline(case):
    u, eps = case["u"], case["amplitude"]
    pulse = "exp(-40*((x - 0.4)^2 + (y - 0.55)^2))"
    sides = {"xmin": case["across"], "xmax": case["beyond"], "ymin": case["along"], "ymax": case["along"]}
    boundaries = "\n".join(f"  {side}: {condition(kind, side, u)}" for side, kind in sides.items())
    return f"""\
mesh: {{ generate: {{ shape: {case["shape"]}, cells: [3, 3] }} }}
physics: {{ model: {case["model"]} }}
space: {{ order: {case["order"]}, riemann: {case["riemann"]} }}
initial:
  rho: 1 + {eps}*{pulse}*(1 + x)
  u: {u} + {eps}*{pulse}*(y - 0.55)*6
  v: -{eps}*{pulse}*(x - 0.4)*6
  p: {PRESSURE!r}*(1 + {eps}*{pulse})
boundaries:
{boundaries}
time: {{ end: 50 }}
output: {{ fields: none, checkpoint: none }}
monitors:
  - integral: {{ fields: [{{ e: "rho*((u - {u})^2 + v^2) + ((p - {PRESSURE!r})*1.4)^2 + (rho - 1)^2" }}], every: 0.5 }}
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="?", default="target/release/dgsuite")
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    failed = 0
    print(f"{'':3} {'across':16} {'along':16} {'flux':13} {'shape':5} p {'u':>5} {'model':6} {'start':>9} {'peak':>9} {'end':>9}")
    for number, case in enumerate(itertools.islice(cases(), options.runs)):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "case.yaml"
            file.write_text(pipeline(case))
            command = [options.program, "run", str(file), "--device", options.device, "--output", f"{folder}/out"]
            run = subprocess.run(command, capture_output=True, text=True)
            energy = []
            for table in pathlib.Path(folder).glob("out/**/integral.csv"):
                with table.open() as lines:
                    energy = [float(row[-1]) for row in csv.reader(lines) if row and row[0].isdigit()]
        start, peak, end = (energy[0], max(energy), energy[-1]) if energy else (0, float("nan"), float("nan"))
        # Rounding is what is left of a small disturbance.
        good = run.returncode == 0 and peak <= 2 * start and end <= max(0.5 * start, 1e-25)
        failed += not good
        print(
            f"{number:3} {case['across']:16} {case['along']:16} {case['riemann']:13} {case['shape']:5} {case['order']}"
            f" {case['u']:5} {case['model'][:6]:6} {start:9.2e} {peak:9.2e} {end:9.2e}{'' if good else '  FAILED'}",
            flush=True,
        )
        if run.returncode:
            print(run.stderr[-400:])
    print(f"{options.runs - failed} of {options.runs} disturbances ended smaller than they began")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()

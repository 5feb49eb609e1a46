"""Runs shock tubes over pairs of orders, fluxes, shapes and bases, and prints a table of what survives.

    python3 tools/survival.py [--jobs N] [PROGRAM]

Every pair of two of the factors below occurs in at least one run. Nothing is tuned: the files differ by the
factors alone. The program is `target/release/dgsuite` unless another one is given; as
many runs as there are cores go side by side. The exit status is 1 if a run with Rusanov's flux, HLL or HLLC failed.
"""

import argparse
import concurrent.futures
import itertools
import json
import os
import pathlib
import subprocess
import sys
import tempfile

FACTORS = {
    "problem": ["sod", "le-blanc", "blast-waves", "two-rarefactions"],
    "order": [1, 2, 3, 4, 5],
    "flux": ["rusanov", "hll", "hllc", "roe"],
    "shape": ["tri", "quad", "tet", "hex", "prism"],
    "basis": ["modal", "nodal", "fr"],
}
# Length of the tube, cells along it, and the end of the run.
TUBES = {
    "sod": (1, 40, 0.2),
    "le-blanc": (9, 60, 6),
    "blast-waves": (1, 24, 0.038),
    "two-rarefactions": (1, 40, 0.15),
}
SPACES = {"modal": "", "nodal": ", basis: nodal", "fr": ", scheme: fr"}


def covering():
    """Returns runs that cover all pairs of values of two factors; each is the best of all that are left."""
    names = list(FACTORS)
    everything = list(itertools.product(*FACTORS.values()))
    open_pairs = {
        (i, a, j, b)
        for i, j in itertools.combinations(range(len(names)), 2)
        for a in FACTORS[names[i]]
        for b in FACTORS[names[j]]
    }
    runs = []
    while open_pairs:
        def gain(run):
            return sum((i, run[i], j, run[j]) in open_pairs for i, j in itertools.combinations(range(len(run)), 2))

        best = max(everything, key=gain)
        runs.append(best)
        for i, j in itertools.combinations(range(len(best)), 2):
            open_pairs.discard((i, best[i], j, best[j]))
    return runs


def pipeline(problem, order, flux, shape, basis):
    """Returns the text of a file."""
    length, cells, end = TUBES[problem]
    space = shape in ("tet", "hex", "prism")
    width = length / cells
    sides = ["ymin", "ymax"] + (["zmin", "zmax"] if space else [])
    if problem == "blast-waves":
        initial = "{ rho: 1, u: 0, v: 0, " + ("w: 0, " if space else "")
        initial += 'p: "if(x < 0.1, 1000, if(x > 0.9, 100, 0.01))" }'
        ends = "{ type: slip-wall }"
    else:
        initial = f"{{ exact: {problem}" + (", diaphragm: 0.5 }" if problem == "sod" else " }")
        ends = f"{{ type: dirichlet, exact: {problem} }}"
    maximum = [length, width] + ([width] if space else [])
    counts = [cells, 1] + ([1] if space else [])
    boundaries = "".join(f"  {side}: {{ type: symmetry }}\n" for side in sides)
    return (
        f"mesh:\n  generate: {{ shape: {shape}, min: {[0] * len(counts)}, max: {maximum}, cells: {counts} }}\n"
        f"physics: {{ model: euler, gamma: {'5/3' if problem == 'le-blanc' else '1.4'} }}\n"
        f"space: {{ order: {order}, riemann: {flux}, shock: entropy-filter{SPACES[basis]} }}\n"
        f"initial: {initial}\nboundaries:\n  xmin: {ends}\n  xmax: {ends}\n{boundaries}"
        f"time: {{ end: {end} }}\n"
        "monitors:\n  - limited: { every_steps: 20 }\noutput: { fields: none, checkpoint: none }\n"
    )


def row(program, run):
    """Runs one file on one thread; returns its row of the table, and whether density and pressure stayed positive."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "case.yaml"
        file.write_text(pipeline(*run))
        command = [program, "run", file, "--output", pathlib.Path(folder) / "out", "--quiet", "--set", "threads=1"]
        outcome = subprocess.run(command, capture_output=True, text=True)
        cells = [str(x) for x in run]
        if outcome.returncode:
            return cells + [(outcome.stderr.strip().splitlines() or ["failed"])[0], "", "", "", ""], False
        summary = json.loads((pathlib.Path(folder) / "out/summary.json").read_text())
        time, limited = summary["time"], summary["limited"]
        cells += [f"{time['steps']:,}", str(time["retries"])]
        cells += [f"{limited['density']:.3g}", f"{limited['pressure']:.3g}", f"{limited['mean']:.1%}"]
        return cells, limited["density"] > 0 and limited["pressure"] > 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="?", default="target/release/dgsuite")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="runs at a time, each on one thread")
    arguments = parser.parse_args()
    program = pathlib.Path(arguments.program).resolve()
    print("| problem | p | flux | shape | basis | steps | retries | least ρ | least p | limited |")
    print("|---|---|---|---|---|---|---|---|---|---|", flush=True)
    failures = 0
    runs = covering()
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for run, (cells, positive) in zip(runs, pool.map(lambda run: row(program, run), runs)):
            failures += not positive and run[2] != "roe"
            print("| " + " | ".join(cells) + " |", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

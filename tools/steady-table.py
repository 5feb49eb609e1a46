#!/usr/bin/env python3
"""Runs steady flows by Newton steps over orders and prints a table of steps, iterations, seconds and memory.

    python3 tools/steady-table.py                                     # all cases, orders 1 to 4, on the CPU
    python3 tools/steady-table.py plate bump --orders 1,2             # some of them
    python3 tools/steady-table.py --device cuda --output steady.md    # on a GPU, into a file

The cases are files of examples/ with `--set` of the order; the bump has three meshes, and its entropy error with
the slope to the mesh before. A case whose residual does not reach 1e-10, whose order of the entropy error on the
finest mesh is below p + 1/2, or that takes more than 25 linear iterations a step where cells are thin, is named at
the end, and the exit code is 1. Times are those of the steps alone, of GPUs after a first run that compiles the
kernels; memory is that of the process (on a GPU that of the blocks and factors stands beside it).
"""

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Name, file, what is set, the result that is shown, and whether its cells are thin.
BUMP = "examples/euler/bump.yaml"
CASES = [
    *[(f"bump {n} x {n // 3}", BUMP, [f"mesh.generate.cells=[{n},{n // 3}]"], "integral.losses", False)
      for n in (12, 24, 48)],
    ("cylinder, Re 40", "examples/navier-stokes/cylinder.yaml", [], "forces.cylinder.cd", False),
    ("airfoil, inviscid", "examples/steady/naca0012-inviscid.yaml", [], "forces.ymin.cd", False),
    ("airfoil, Re 5000", "examples/navier-stokes/naca0012.yaml", [], "forces.airfoil.cd", False),
    ("plate", "examples/steady/plate.yaml", [], "forces.ymin.cd", True),
    ("graded airfoil", "examples/steady/naca0012-graded.yaml", [], "forces.ymin.cd", True),
]
MOST_ITERATIONS = 25

PARSER = argparse.ArgumentParser(description="A table of Newton steps over cases and orders.")
PARSER.add_argument("cases", nargs="*", help="only cases whose name starts with one of these")
PARSER.add_argument("--program", default=os.path.join(ROOT, "target/release/dgsuite"))
PARSER.add_argument("--device", default="cpu", help="cpu or cuda")
PARSER.add_argument("--orders", default="1,2,3,4")
PARSER.add_argument("--threads", default="2", help="threads of the CPU")
PARSER.add_argument("--output", help="a file for the table, beside the terminal; it is complete after each row")
PARSER.add_argument("--limit", type=float, default=600, help="seconds after which a run is given up")


def run(options, file, sets, folder):
    """The summary of a run, or the reason why there is none."""
    command = [options.program, "run", os.path.join(ROOT, file), "--device", options.device, "--quiet"]
    command += ["--overwrite", "--output", folder]
    sets = ["checks=[]", "output.fields=none", "output.checkpoint=none", f"threads={options.threads}", *sets]
    for one in sets:
        command += ["--set", one]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=options.limit)
    except subprocess.TimeoutExpired:
        return None, f"not in {options.limit:g} s"
    if done.returncode != 0:
        return None, (done.stderr.strip().splitlines() or ["failed"])[0]
    with open(os.path.join(folder, "summary.json")) as file:
        return json.load(file), None


def at(summary, path):
    for name in path.split("."):
        summary = summary[name]
    return summary


def row(options, case, order, before, folder):
    """The cells of a row, the error that the next mesh is compared with, and what is wrong."""
    name, file, sets, result, thin = case
    sets = [*sets, f"space.order={order}"]
    if options.device != "cpu":
        run(options, file, [*sets, "time.steady.max_steps=1"], folder)
    summary, failure = run(options, file, sets, folder)
    if failure:
        return [name, order, failure] + [""] * 8, None, [failure]
    newton, wrong, slope, error = summary["newton"], [], "", None
    value = at(summary, result)
    if file == BUMP:
        error = math.sqrt(abs(value))
        result, value = "entropy error", error
        if before:
            slope = f"{math.log2(before / error):.2f}"
            if name.startswith("bump 48") and math.log2(before / error) < order + 0.5:
                wrong.append(f"the entropy error falls with order {slope} only")
    most = max(newton["history"]["linear_iterations"], default=0)
    if thin and most > MOST_ITERATIONS:
        wrong.append(f"a step took {most} linear iterations")
    if summary["steady"]["residual"] > 1e-10:
        wrong.append(f"the residual is {summary['steady']['residual']:.1e}")
    cells = [name, order, sum(summary["mesh"]["elements"].values()), newton["steps"], newton["linear_iterations"]]
    cells += [most, newton["jacobian_products"], f"{summary['timing']['run_s']:.2f}"]
    cells += [f"{summary['memory']['peak'] / 2**20:.0f} ({newton['bytes'] / 2**20:.0f})"]
    cells += [f"{result} = {value:.6g}", slope]
    return cells, error, wrong


def main():
    options = PARSER.parse_args()
    orders = [int(order) for order in options.orders.split(",")]
    chosen = [case for case in CASES if not options.cases or case[0].startswith(tuple(options.cases))]
    if not chosen:
        sys.exit("no such case; there are: " + ", ".join(case[0] for case in CASES))
    head = ["case", "p", "elements", "Newton steps", "linear iterations", "most a step", "products", "seconds"]
    head += ["MiB (blocks)", "result", "slope"]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    faults = []

    def show(line):
        lines.append(line)
        print(line, flush=True)
        if options.output:
            with open(options.output, "w") as file:
                file.write("\n".join(lines) + "\n")

    print("\n".join(lines), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        errors = {}
        for case in chosen:
            for order in orders:
                before = errors.get((case[1], order))
                cells, error, wrong = row(options, case, order, before, os.path.join(folder, "run"))
                errors[case[1], order] = error
                show("| " + " | ".join(str(cell) for cell in cells) + " |")
                faults += [f"{case[0]}, p = {order}: {what}" for what in wrong]
    for fault in faults:
        print(fault, file=sys.stderr)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Times the example solve_matrix_market beside PyAMG (and pyamgcl, if it is installed) on problems of a million rows.

    cargo build --release -p dgsuite-amg --example solve_matrix_market
    python3 -m venv venv && venv/bin/pip install pyamg
    venv/bin/python crates/amg/tools/compare_pyamg.py target/release/examples/solve_matrix_market [PROBLEM ...]

Same matrices, same right-hand side (half smooth, half rough), conjugate gradients to 1e-8 of |b|. Prints a table of
set-up, solve and total in seconds, the best of a few runs, and ends with status 1 if anything else is faster in total.
"""

import re
import subprocess
import sys
import time

import numpy as np
import pyamg
import scipy.sparse as sp
import scipy.sparse.linalg

RUNS = 3


def poisson(shape):
    return pyamg.gallery.poisson(shape, format="csr")


def anisotropic(n):
    line = sp.diags([-1.0, 2.0, -1.0], [-1, 0, 1], (n, n))
    eye = sp.identity(n)
    return sp.csr_matrix(sp.kron(eye, line) + 1e-2 * sp.kron(line, eye))


PROBLEMS = {
    "poisson-5:1000": lambda: poisson((1000, 1000)),
    "poisson-7:100": lambda: poisson((100, 100, 100)),
    "anisotropic:1000": lambda: anisotropic(1000),
}


def iterate(a, preconditioner, b):
    """Iterations and the relative residual of conjugate gradients to 1e-8."""
    count = [0]

    def step(_):
        count[0] += 1

    x, failed = sp.linalg.cg(a, b, rtol=1e-8, maxiter=500, M=preconditioner, callback=step)
    if failed:
        return 500
    residual = np.linalg.norm(b - a @ x) / np.linalg.norm(b)
    assert residual < 1.1e-8, residual
    return count[0]


def pyamg_method(build):
    def run(a, b):
        start = time.perf_counter()
        levels = build(a)
        middle = time.perf_counter()
        count = iterate(a, levels.aspreconditioner(cycle="V"), b)
        return count, middle - start, time.perf_counter() - middle

    return run


def pyamgcl_run(a, b):
    import pyamgcl

    start = time.perf_counter()
    levels = pyamgcl.amgcl(a, {"coarsening.type": "smoothed_aggregation", "relax.type": "spai0"})
    middle = time.perf_counter()
    count = iterate(a, levels, b)
    return count, middle - start, time.perf_counter() - middle


def ours(program, problem):
    out = subprocess.run([program, problem], check=True, capture_output=True, text=True).stdout
    count = int(re.search(r"(\d+) iterations", out).group(1))
    return count, *(float(t) for t in re.search(r"set-up (\S+) s, solve (\S+) s", out).groups())


def main():
    program = sys.argv[1]
    methods = {
        "PyAMG, smoothed aggregation": pyamg_method(pyamg.smoothed_aggregation_solver),
        "PyAMG, Ruge-Stueben": pyamg_method(pyamg.ruge_stuben_solver),
    }
    try:
        import pyamgcl  # noqa: F401

        methods["pyamgcl, smoothed aggregation"] = pyamgcl_run
    except ImportError:
        print("pyamgcl is not installed")
    slower = False
    for problem in sys.argv[2:] or PROBLEMS:
        make = PROBLEMS[problem]
        best = min((ours(program, problem) for _ in range(RUNS)), key=lambda r: r[1] + r[2])
        rows = {"dgsuite-amg": best}
        a = make()
        b = 1.0 + np.sin(np.arange(a.shape[0]))
        for name, run in methods.items():
            rows[name] = min((run(a, b) for _ in range(2)), key=lambda r: r[1] + r[2])
        print(f"\n{problem:<32}{'iterations':>10}{'set-up':>9}{'solve':>9}{'total':>9}")
        for name, (count, setup, solve) in rows.items():
            print(f"{name:<32}{count:>10}{setup:>9.2f}{solve:>9.2f}{setup + solve:>9.2f}")
        slower |= min(rows, key=lambda name: rows[name][1] + rows[name][2]) != "dgsuite-amg"
    sys.exit(slower)


if __name__ == "__main__":
    main()

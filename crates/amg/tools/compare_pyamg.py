#!/usr/bin/env python3
"""Compares the example solve_matrix_market with PyAMG (and pyamgcl, if installed) on problems of a million rows.

    cargo build --release -p dgsuite-amg --example solve_matrix_market
    python3 -m venv venv && venv/bin/pip install pyamg
    CPLUS_INCLUDE_PATH=BOOST/include venv/bin/pip install pyamgcl  # built from source, needs the headers of Boost
    venv/bin/python crates/amg/tools/compare_pyamg.py target/release/examples/solve_matrix_market [PROBLEM ...]

All methods use the same matrices, the same right-hand side (half smooth, half rough) and conjugate gradients to
1e-8 of |b|. They run in turn, on one thread and on two (PyAMG on one). The script prints a table of the seconds
of set-up, solve and total, each the median by total of a few runs, and ends with status 1 if another method is
faster in total than dgsuite-amg on the same number of threads.
"""

import ctypes
import re
import subprocess
import sys
import time

import numpy as np
import pyamg
import scipy.sparse as sp
import scipy.sparse.linalg

RUNS = 3
MAX_ITERATIONS = 100
# A method that takes longer than this is run only once, s.
LONG = 5.0


def poisson(shape):
    return pyamg.gallery.poisson(shape, format="csr")


def anisotropic(n):
    line = sp.diags([-1.0, 2.0, -1.0], [-1, 0, 1], (n, n))
    eye = sp.identity(n)
    return sp.csr_matrix(sp.kron(eye, line) + 1e-2 * sp.kron(line, eye))


def sipdg(n):
    """The matrix of gallery::sipdg_triangles(n, 1.0): interior penalty, degree 1, two triangles to a square."""
    ends = [(0, 1), (1, 2), (2, 0)]
    slope = np.array([[1, 0, -1], [-2, 1, 1], [1, -1, 0]], float)
    square = [1.0, 2.0, 1.0]
    stiffness = np.array([[1, -0.5, -0.5], [-0.5, 0.5, 0], [-0.5, 0, 0.5]])
    element = np.arange(2 * n * n)
    upper, i, j = element % 2, element // 2 % n, element // 2 // n
    step = [np.where(upper, 2 * n - 1, -2 * n + 1), 1 - 2 * upper, np.where(upper, 1, -1)]
    inside = [np.where(upper, j + 1 < n, j > 0), element >= 0, np.where(upper, i + 1 < n, i > 0)]
    rows, columns, values = [], [], []

    def add(elements, others, block):
        for k in range(3):
            for l in range(3):
                rows.append(3 * elements + k)
                columns.append(3 * others + l)
                values.append(np.full(len(elements), block[k, l]))

    add(element, element, stiffness)
    for f, (a, b) in enumerate(ends):
        mean = np.array([0.5 if k in (a, b) else 0.0 for k in range(3)])
        mass = np.array([[(2 if k == l else 1) / 6 if mean[k] * mean[l] else 0.0 for l in range(3)] for k in range(3)])
        slopes = np.outer(mean, slope[f]) + np.outer(slope[f], mean)
        swap = [{a: b, b: a}.get(l, l) for l in range(3)]
        inner, outer = element[inside[f]], element[~inside[f]]
        add(inner, inner, 6 * square[f] * mass - 0.5 * slopes)
        add(inner, inner + step[f][inside[f]], 0.5 * slopes - 6 * square[f] * mass[:, swap])
        add(outer, outer, 12 * square[f] * mass - slopes)
    entries = np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))
    a = sp.csr_matrix(sp.coo_matrix(entries, (6 * n * n, 6 * n * n)))
    a.eliminate_zeros()
    return a


PROBLEMS = {
    "poisson-5:1000": lambda: poisson((1000, 1000)),
    "poisson-7:100": lambda: poisson((100, 100, 100)),
    "anisotropic:1000": lambda: anisotropic(1000),
    "sipdg:408": lambda: sipdg(408),
}


def iterate(a, preconditioner, b):
    """Iterations and the relative residual of conjugate gradients to 1e-8."""
    count = [0]

    def step(_):
        count[0] += 1

    x, failed = sp.linalg.cg(a, b, rtol=1e-8, maxiter=MAX_ITERATIONS, M=preconditioner, callback=step)
    if failed:
        return None
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
    levels = pyamgcl.amg(a, {"coarsening.type": "smoothed_aggregation", "relax.type": "spai0"})
    # The conjugate gradients of amgcl itself, so that only amgcl is timed.
    solve = pyamgcl.solver(levels, {"type": "cg", "tol": 1e-8, "maxiter": MAX_ITERATIONS})
    middle = time.perf_counter()
    x = solve(b)
    end = time.perf_counter()
    if solve.iters >= MAX_ITERATIONS:
        return None, middle - start, end - middle
    residual = np.linalg.norm(b - a @ x) / np.linalg.norm(b)
    assert residual < 1.1e-8, residual
    return solve.iters, middle - start, end - middle


def ours(program, problem, threads):
    out = subprocess.run([program, problem, f"threads={threads}"], check=True, capture_output=True, text=True).stdout
    count = int(re.search(r"(\d+) iterations", out).group(1))
    return count, *(float(t) for t in re.search(r"set-up (\S+) s, solve (\S+) s", out).groups())


def main():
    program = sys.argv[1]
    methods = {
        ("PyAMG, smoothed aggregation", 1): pyamg_method(pyamg.smoothed_aggregation_solver),
        ("PyAMG, Ruge-Stueben", 1): pyamg_method(pyamg.ruge_stuben_solver),
    }
    try:
        import pyamgcl  # noqa: F401

        openmp = ctypes.CDLL("libgomp.so.1")

        def with_threads(threads):
            def run(a, b):
                openmp.omp_set_num_threads(threads)
                return pyamgcl_run(a, b)

            return run

        for threads in (1, 2):
            methods["pyamgcl, smoothed aggregation", threads] = with_threads(threads)
    except ImportError:
        print("pyamgcl is not installed")
    slower = False
    for problem in sys.argv[2:] or PROBLEMS:
        a = PROBLEMS[problem]()
        b = 1.0 + np.sin(np.arange(a.shape[0]))
        runs = {}
        for _ in range(RUNS):
            for threads in (1, 2):
                runs.setdefault(("dgsuite-amg", threads), []).append(ours(program, problem, threads))
            for method, run in methods.items():
                before = runs.setdefault(method, [])
                if not before or sum(before[0][1:]) < LONG:
                    before.append(run(a, b))
        print(f"\n{problem:<30}{'threads':>8}{'iterations':>11}{'set-up':>9}{'solve':>9}{'total':>9}")
        medians = {method: sorted(some, key=lambda r: r[1] + r[2])[len(some) // 2] for method, some in runs.items()}
        for (name, threads), (count, setup, solve) in medians.items():
            count_shown = f"> {MAX_ITERATIONS}" if count is None else count
            print(f"{name:<30}{threads:>8}{count_shown:>11}{setup:>9.2f}{solve:>9.2f}{setup + solve:>9.2f}", flush=True)
            own = sum(medians["dgsuite-amg", threads][1:])
            slower |= count is not None and setup + solve < own
    sys.exit(slower)


if __name__ == "__main__":
    main()

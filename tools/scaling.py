#!/usr/bin/env python3
"""Weak and strong scaling over the GPUs of one machine, as a table.

    tools/scaling.py [--program target/release/dgsuite] [--devices 2] [--steps 2000] [--cases euler-hex,...]

Each case is a density wave in a periodic box, of order 3: on one GPU, on all GPUs with the same mesh (strong), and on
all GPUs with as many times the elements (weak). Times are those of a stage, from the summaries of the runs.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

CASES = {
    "euler-hex": ("hex", 40, "euler"),
    "navier-stokes-hex": ("hex", 40, "navier-stokes, viscosity: { constant: 0.001 }"),
    "euler-tet": ("tet", 32, "euler"),
}

FILE = """title: Scaling
mesh:
  generate: {{ shape: {shape}, min: [0, 0, 0], max: [{parts}, 1, 1], cells: [{along}, {n}, {n}] }}
  periodic: [[xmin, xmax], [ymin, ymax], [zmin, zmax]]
physics: {{ model: {model} }}
space: {{ order: 3 }}
initial: {{ rho: "1 + 0.2*sin(2*pi*(x + y + z))", u: 0.5, v: 0.3, w: 0.2, p: 1 }}
time: {{ steps: {steps} }}
output: {{ fields: none, checkpoint: none }}
"""


def stage(program, case, parts, devices, steps, folder):
    """Milliseconds of a stage and degrees of freedom."""
    shape, n, model = CASES[case]
    text = FILE.format(shape=shape, parts=parts, along=n * parts, n=n, model=model, steps=steps)
    file = folder / "case.yaml"
    file.write_text(text)
    where = ["--devices", str(devices)] if devices > 1 else ["--device", "cuda"]
    command = [program, "run", str(file), "--quiet", "--output", str(folder / "out"), "--overwrite", *where]
    subprocess.run(command, check=True)
    summary = json.loads((folder / "out" / "summary.json").read_text())
    timing = summary["timing"]
    return 1e3 * timing["run_s"] / timing["rhs_evaluations"], summary["space"]["dofs"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="target/release/dgsuite")
    parser.add_argument("--devices", type=int, default=2)
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--cases", default=",".join(CASES))
    arguments = parser.parse_args()
    program = str(pathlib.Path(arguments.program).resolve())
    n = arguments.devices
    print(f"| case | MDOF | 1 GPU, ms | {n} GPUs, same mesh | strong | {n} GPUs, {n} times the mesh | weak |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for case in arguments.cases.split(","):
            if case not in CASES:
                sys.exit(f"there is no case {case}: known are {', '.join(CASES)}")
            one, dofs = stage(program, case, 1, 1, arguments.steps, folder)
            strong, _ = stage(program, case, 1, n, arguments.steps, folder)
            weak, _ = stage(program, case, n, n, arguments.steps, folder)
            print(
                f"| {case} | {dofs / 1e6:.1f} | {one:.3f} | {strong:.3f} | {100 * one / n / strong:.0f} % "
                f"| {weak:.3f} | {100 * one / weak:.0f} % |",
                flush=True,
            )


if __name__ == "__main__":
    main()

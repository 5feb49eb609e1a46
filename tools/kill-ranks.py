#!/usr/bin/env python3
"""Kills a rank of a run, or the process that started the ranks, and checks that all end with a sentence.

    tools/kill-ranks.py 20                                two GPUs: `run --devices 0,1`
    tools/kill-ranks.py 20 --devices 0,1 --plane nccl     by NCCL (peer, staged)
    tools/kill-ranks.py 200 --how sockets --device cpu    processes of a launcher without MPI, here on the CPU
    tools/kill-ranks.py 20 --how mpi --device cuda        under DGSUITE_MPIEXEC
    tools/kill-ranks.py 40 --how sockets --device cpu --model incompressible     (newton, poisson)
    target/release/examples/emulate tools/kill-ranks.py 20 --devices 0,0      on the emulated device

Each trial starts a run, waits until it computes (every fifth trial: a random time), and sends SIGKILL to one of its
ranks, or every fourth time to the process that started them. Ten seconds later no process of the run may be left, its
exit code is not 0, its output says which rank has ended, and its summary that it has failed. Prints a line for each trial and a summary; the exit
code is 1 if a trial failed. The environment variable DGSUITE names the program. Needs python3 and Linux alone.
"""

import argparse
import collections
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
LIMIT = 10.0
CASE = """\
mesh: { generate: { shape: tri, cells: [CELLS, CELLS] }, periodic: [[xmin, xmax], [ymin, ymax]] }
physics: { model: euler }
space: { order: 3 }
initial: { rho: 1 + 0.1*sin(2*pi*x), u: 0.5, v: 0.2, p: 1 }
time: { steps: 100000000 }
output: { fields: none, checkpoint: { every_steps: 500, keep: 2 } }
monitors: [ { residual: { every_steps: 5 } } ]
threads: 1
"""
INCOMPRESSIBLE = """\
mesh: { generate: { shape: tri, cells: [CELLS, CELLS] }, periodic: [[xmin, xmax]] }
physics: { model: incompressible, viscosity: 0.01 }
space: { order: 3 }
initial: { u: 0.1*sin(2*pi*x)*y*(1 - y), v: 0 }
boundaries: { ymin: { type: no-slip-wall }, ymax: { type: no-slip-wall, velocity: [1, 0] } }
time: { dt: 1e-4, steps: 100000000 }
output: { fields: none, checkpoint: { every_steps: 50, keep: 2 } }
monitors: [ { residual: { every_steps: 1 } } ]
threads: 1
"""
NEWTON = """\
mesh: { generate: { shape: tri, cells: [CELLS, CELLS] }, map: { order: 1, x: x, y: 0.1*y + 0.9*y^3 } }
physics: { model: navier-stokes, viscosity: 0.002 }
space: { order: 2 }
initial: { rho: 1, u: 0.4, v: 0, p: 1/1.4 }
boundaries:
  xmin: { type: far-field, rho: 1, u: 0.4, v: 0, p: 1/1.4 }
  xmax: { type: pressure-outlet, p: 1/1.4 }
  ymin: { type: no-slip-wall }
  ymax: { type: slip-wall }
# Small steps, so that there are many.
time: { steady: { solver: newton, tolerance: 1e-15, max_steps: 1000000 }, newton: { start: 0.01, growth: 1 } }
output: { fields: none, checkpoint: { every_steps: 2, keep: 2 } }
monitors: [ { residual: { every_steps: 1 } } ]
threads: 1
"""
# Without a preconditioner, so that there are many iterations.
POISSON = """\
mesh: { generate: { shape: tri, cells: [CELLS, CELLS] } }
physics: { model: poisson, forcing: sin(3*x)*cos(2*y) }
space: { order: 8 }
boundaries: { xmin: { type: dirichlet, u: 0 }, xmax: { type: dirichlet, u: 0 }, ymin: { type: dirichlet, u: 0 }, ymax: { type: dirichlet, u: 0 } }
solver: { tolerance: 1e-13, max_iterations: 10000000, preconditioner: none }
output: { fields: none }
threads: 1
"""
CASES = {"euler": CASE, "incompressible": INCOMPRESSIBLE, "newton": NEWTON, "poisson": POISSON}
# What says that a rank is lost: our words, and those of mpiexec.
WORDS = ("has ended", "does not answer", "did not answer", "EXIT CODE", "exited on signal", "Killed")


def program():
    places = [HERE / "bin/dgsuite", HERE.parent / "target/release/dgsuite"]
    found = os.environ.get("DGSUITE") or next((str(p) for p in places if p.exists()), shutil.which("dgsuite"))
    if not found:
        sys.exit("kill-ranks: let DGSUITE name the program")
    return str(pathlib.Path(found).resolve())


def processes():
    """{process: (state, parent, session)} of this machine."""
    found = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat", encoding="utf-8", errors="replace") as file:
                    words = file.read().rsplit(")", 1)[1].split()
            except (OSError, IndexError):
                continue
            found[int(entry)] = (words[0], int(words[1]), int(words[3]))
    return found


def below(top):
    """The processes that `top` has started, and those that these have started."""
    all_of_them, found = processes(), []
    for process in sorted(all_of_them):
        at = process
        while at in all_of_them and at != top:
            at = all_of_them[at][1]
        if at == top and process != top:
            found.append(process)
    return found


def is_rank(process):
    try:
        return os.path.realpath(f"/proc/{process}/exe") == program()
    except OSError:
        return False


def is_alive(process):
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except (OSError, IndexError):
        return False


def name_of(process):
    try:
        state = pathlib.Path(f"/proc/{process}/stat").read_text(errors="replace").rsplit(")", 1)[1].split()[0]
        return f"{pathlib.Path(f'/proc/{process}/comm').read_text().strip()} ({state})"
    except OSError:
        return str(process)


class Run:
    """The processes of a run: `tops` were started here."""

    def __init__(self, options, folder, trial):
        self.folder, self.results = folder, folder / "out"
        self.stationary = options.model == "poisson"
        shutil.rmtree(self.results, ignore_errors=True)
        self.text = open(folder / "said.txt", "w+b")
        arguments = [program(), "run", str(folder / "case.yaml"), "--output", str(self.results)]
        env = dict(os.environ)
        if options.plane:
            env["DGSUITE_DEVICE_PLANE"] = options.plane
        self.tops = []
        if options.how == "devices":
            self.start([*arguments, "--devices", options.devices], env)
        elif options.how == "mpi":
            self.start([os.environ["DGSUITE_MPIEXEC"], "-n", str(options.ranks), *arguments, "--device", options.device], env)
        else:
            env |= {"DGSUITE_COMM_PLANE": "sockets", "WORLD_SIZE": str(options.ranks), "MASTER_ADDR": "127.0.0.1"}
            env["MASTER_PORT"] = str(20000 + os.getpid() % 500 * 20 + trial % 2 * 10)
            for rank in range(options.ranks):
                env |= {"RANK": str(rank), "LOCAL_RANK": str(rank)}
                self.start([*arguments, "--device", options.device], env)

    def start(self, arguments, env):
        self.tops.append(subprocess.Popen(arguments, env=env, stdin=subprocess.DEVNULL, stdout=self.text, stderr=self.text, start_new_session=True))

    def computes(self):
        # A problem without steps has no table before its end.
        log = self.results / "log.txt"
        if self.stationary:
            return log.exists() and "set-up in" in log.read_text()
        table = self.results / "monitors/residual.csv"
        return table.exists() and table.read_bytes().count(b"\n") > 2

    def status(self):
        summary = self.results / "summary.json"
        return json.loads(summary.read_text())["status"] if summary.exists() else None

    def all(self):
        return [p.pid for p in self.tops] + [process for top in self.tops for process in below(top.pid)]

    def said(self):
        self.text.flush()
        return (self.folder / "said.txt").read_text(errors="replace")

    def clean(self):
        for process in self.all():
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass
        for top in self.tops:
            top.wait()
        self.text.close()


def trial(options, folder, number, chance):
    """Returns (who was killed, seconds to the end or None, what is wrong or '')."""
    run = Run(options, folder, number)
    try:
        begun = time.monotonic()
        early = number % 5 == 4
        wait = chance.uniform(0.05, 2.0)
        while not (time.monotonic() - begun > wait if early else run.computes()):
            if time.monotonic() - begun > options.start:
                return "-", None, "it does not begin to compute: " + run.said()[-400:]
            if any(top.poll() is not None for top in run.tops):
                return "-", None, "it ended before: " + run.said()[-400:]
            time.sleep(0.02)
        if not early:
            time.sleep(chance.uniform(0, 0.3))
        everyone = run.all()
        ranks = [process for process in everyone if is_rank(process)]
        if options.how != "sockets":
            ranks = [process for process in ranks if process != run.tops[0].pid]
        to_parent = options.how != "sockets" and number % 4 == 3
        victim = run.tops[0].pid if to_parent or not ranks else chance.choice(ranks)
        who = "the parent" if victim == run.tops[0].pid and options.how != "sockets" else f"rank {ranks.index(victim)}"
        who += ", early" if early else ""
        os.kill(victim, signal.SIGKILL)
        killed = time.monotonic()
        while True:
            for top in run.tops:
                top.poll()
            left = [process for process in everyone if is_alive(process)]
            took = time.monotonic() - killed
            if not left or took > LIMIT:
                break
            time.sleep(0.02)
        if left:
            names = ", ".join(name_of(process) for process in left)
            return who, None, f"left after {LIMIT:.0f} s: {names}; said: {run.said()[-300:]!r}"
        if all(top.wait() == 0 for top in run.tops):
            return who, took, "the exit code is 0"
        # Before they have met, nobody may know of the others; mpiexec takes its ranks along at once.
        speaks = not early and not (to_parent and options.how == "mpi")
        if speaks and not any(word in run.said() for word in WORDS):
            return who, took, f"no sentence: {run.said()[-300:]!r}"
        # A rank that lives on says so in the summary; of `mpiexec` none may have the time.
        if not early and not to_parent and options.how != "mpi" and run.status() == "running":
            return who, took, "summary.json says that it is running"
        return who, took, ""
    finally:
        run.clean()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("trials", type=int, nargs="?", default=20)
    parser.add_argument("--how", choices=["devices", "sockets", "mpi"], default="devices")
    parser.add_argument("--devices", default="0,1", help="the list of --devices")
    parser.add_argument("--device", default="cuda", help="of sockets and mpi")
    parser.add_argument("--ranks", type=int, default=2, help="of sockets and mpi")
    parser.add_argument("--plane", help="DGSUITE_DEVICE_PLANE: nccl, peer or staged")
    parser.add_argument("--model", choices=sorted(CASES), default="euler")
    parser.add_argument("--cells", type=int, default=32, help="cells along a side")
    parser.add_argument("--start", type=float, default=240, help="seconds in which a run begins to compute")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="no new trial begins after this time")
    options = parser.parse_args()
    chance = random.Random(options.seed)
    failed, times, begun, ends = 0, [], time.monotonic(), collections.Counter()
    with tempfile.TemporaryDirectory(prefix="kill-ranks-") as name:
        folder = pathlib.Path(name)
        case = CASES[options.model]
        (folder / "case.yaml").write_text(case.replace("CELLS", str(options.cells)))
        for number in range(options.trials):
            if time.monotonic() - begun > options.seconds:
                print(f"no time is left for {options.trials - number} trials")
                break
            who, took, wrong = trial(options, folder, number, chance)
            failed += bool(wrong)
            times += [took] if took is not None else []
            ends["failed" if wrong else "ok"] += 1
            seconds = "  -  " if took is None else f"{took:5.2f}"
            print(f"{number:4}  {seconds} s  {who:18}  {wrong or 'ok'}", flush=True)
    longest = f", the longest {max(times):.2f} s" if times else ""
    middle = f", the median {sorted(times)[len(times) // 2]:.2f} s" if times else ""
    print(f"{options.how} {options.plane or ''}: {sum(ends.values())} trials, {failed} failed{middle}{longest}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

"""The program: where it is, and runs of it."""

import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile

from ._results import Run


class RunError(RuntimeError):
    """A run that failed: `code` is the exit code (1: the run or a check failed, 2: the input is wrong), `output` the last
    lines that the program printed, and `run` its results, if there are any."""

    def __init__(self, code, output, run=None):
        super().__init__(output.strip() or f"dgsuite ended with exit code {code}")
        self.code = code
        self.output = output
        self.run = run


def program():
    """Returns the path of the program: the one in the variable DGSUITE, else the one that was installed with this package,
    else the first one in PATH."""
    named = os.environ.get("DGSUITE")
    if named:
        return pathlib.Path(named)
    scripts = pathlib.Path(sysconfig.get_path("scripts"))
    for folder in (scripts, pathlib.Path(sys.executable).parent):
        if (folder / "dgsuite").is_file():
            return folder / "dgsuite"
    found = shutil.which("dgsuite")
    if found is None:
        raise FileNotFoundError("the program dgsuite was not found beside Python or in PATH; let DGSUITE name it")
    return pathlib.Path(found)


def run(case, overrides=None, *, output=None, device=None, restart=None, ci=False, quiet=False, check=True):
    """Runs a case and returns its results.

    case: the path of a pipeline file, or a dictionary with its keys; paths in a dictionary are relative to the working
    directory. overrides: values for keys, such as {"space.order": 4}. output: the directory of the results (default: that
    of the file; `out/run` for a dictionary). device: auto, cpu, cuda or cuda:N. restart: a checkpoint, "latest" or "auto".
    ci: the file's short form. quiet: print nothing; otherwise each line of the program is printed when it comes. check:
    raise RunError if the run or a check failed.
    """
    if isinstance(case, dict):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml", prefix=".dgsuite-", dir=".", delete=False) as file:
            json.dump(case, file, default=float)
        try:
            return _run(file.name, overrides, output or "out/run", device, restart, ci, quiet, check)
        finally:
            os.unlink(file.name)
    return _run(case, overrides, output, device, restart, ci, quiet, check)


def _run(file, overrides, output, device, restart, ci, quiet, check):
    command = [str(program()), "run", str(file)]
    for key, value in (overrides or {}).items():
        command += ["--set", f"{key}={json.dumps(value, default=float)}"]
    for option, value in (("--output", output), ("--device", device), ("--restart", restart)):
        if value is not None:
            command += [option, str(value)]
    if ci:
        command.append("--ci")
    last = collections.deque(maxlen=40)
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace") as process:
        try:
            for line in process.stdout:
                last.append(line)
                # The plan names the directory of the results.
                plan = re.match(r"output +([^;]+)", line)
                if plan and output is None:
                    output = plan[1].strip()
                if not quiet:
                    print(line, end="", flush=True)
        except KeyboardInterrupt:
            # The program has got the signal too, and writes a checkpoint.
            pass
        code = process.wait()
    done = output is not None and code != 2 and (pathlib.Path(output) / "summary.json").is_file()
    results = Run(output) if done else None
    if code and check:
        raise RunError(code, _message(last), results)
    return results


def _message(lines):
    """The error at the end of what was printed."""
    text = list(lines)
    starts = [i for i, line in enumerate(text) if line.startswith(("error:", "error[", "check FAILED"))]
    return "".join(text[starts[0]:] if starts else text[-10:])

"""The program: where it is, its command line, and its errors."""

import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig
import tempfile


class RunError(RuntimeError):
    """A command that failed: `code` is the exit code (1: the run or a check failed, 2: the input is wrong), `output` the
    last lines that the program printed, `run` the results, if there are any, and `mistakes` those that `check` has found,
    each a dictionary with code, message, place and hint."""

    def __init__(self, code, output, run=None, mistakes=()):
        super().__init__(output.strip() or f"dgsuite ended with exit code {code}")
        self.code = code
        self.output = output
        self.run = run
        self.mistakes = list(mistakes)


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


def plain(value):
    """A path, a NumPy array or number, or another number as a value of JSON."""
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, (set, frozenset, range)):
        return list(value)
    return float(value)


def text(value):
    """A value of a key as JSON, which is YAML too."""
    return json.dumps(value, default=plain)


@contextlib.contextmanager
def file_of(case):
    """The file of a case. That of a dictionary lies in the working directory, to which its paths are relative, and is
    removed at the end; `forget`, the second value, removes it before."""
    if not isinstance(case, dict):
        yield os.fspath(case), lambda: None
        return
    with tempfile.NamedTemporaryFile("w", suffix=".yaml", prefix=".dgsuite-", dir=".", delete=False) as file:
        file.write(text(case))

    def forget():
        with contextlib.suppress(FileNotFoundError):
            os.unlink(file.name)

    try:
        yield file.name, forget
    finally:
        forget()


def arguments(overrides=None, output=None, device=None, restart=None, threads=None, ci=False):
    """The options that `run` and `check` share."""
    options = []
    for key, value in (overrides or {}).items():
        options += ["--set", f"{key}={text(value)}"]
    if threads is not None:
        options += ["--set", f"threads={int(threads)}"]
    for option, value in (("--output", output), ("--device", device), ("--restart", restart)):
        if value is not None:
            options += [option, os.fspath(value)]
    return options + ["--ci"] * ci


def called(*words):
    """Calls the program and returns what it prints on standard output; an error is a RunError."""
    done = subprocess.run([str(program()), *map(str, words)], stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
    if done.returncode:
        raise RunError(done.returncode, done.stderr or done.stdout)
    return done.stdout

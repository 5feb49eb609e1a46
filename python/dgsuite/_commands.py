"""The commands of the program as functions."""

import collections
import contextlib
import json
import os
import pathlib
import re
import subprocess

from ._program import RunError, arguments, called, file_of, plain, program
from ._results import Run


def run(
    case,
    overrides=None,
    *,
    output=None,
    device=None,
    restart=None,
    threads=None,
    ci=False,
    quiet=False,
    check=True,
    callback=None,
    every=None,
    every_steps=None,
):
    """Runs a case and returns its results.

    case: the path of a pipeline file, or a dictionary with its keys; paths in a dictionary are relative to the working
    directory. Values may be NumPy arrays and numbers, and paths. overrides: values for keys, such as {"space.order": 4}.
    output: the directory of the results (default: that of the file; `out/run` for a dictionary). device: auto, cpu, cuda
    or cuda:N. restart: a checkpoint, "latest" or "auto". threads: number of threads of the CPU. ci: the file's short form.
    quiet: print nothing; otherwise each line of the program is printed when it comes. check: raise RunError if the run or
    a check failed.

    callback: a function of the results so far (a Run) and the time, which is called when fields have been written: at the
    start, then after each interval of time `every` or after each `every_steps` steps (default: as `output.fields` of the
    case says), and at the end. The run waits while it works. If it returns False, the run stops after its next step, with
    the status `stopped`; an exception does the same and is raised then.
    """
    overrides = dict(overrides or {})
    if callback is None and (every is not None or every_steps is not None):
        raise ValueError("every and every_steps say when to call the callback, and there is none")
    if every is not None and every_steps is not None:
        raise ValueError("every and every_steps exclude each other")
    if every is not None:
        overrides["output.fields.every"] = every
    if every_steps is not None:
        overrides["output.fields.every_steps"] = int(every_steps)
    with file_of(case) as (file, forget):
        if isinstance(case, dict):
            output = output or "out/run"
        command = [str(program()), "run", file, *arguments(overrides, output, device, restart, threads, ci)]
        return _run(command, forget, output, quiet, check, callback)


def _run(command, forget, output, quiet, check, callback):
    last = collections.deque(maxlen=40)
    stdin = subprocess.DEVNULL
    if callback is not None:
        command.append("--ask")
        stdin = subprocess.PIPE
    raised = None
    with subprocess.Popen(
        command, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as process:
        try:
            for line in process.stdout:
                # The file has been read.
                forget()
                asked = callback is not None and re.fullmatch(r"ask: step (\d+), t = (\S+)\n?", line)
                if asked:
                    goes_on = raised is None
                    try:
                        goes_on = goes_on and callback(Run(output), float(asked[2])) is not False
                    except BaseException as error:
                        raised, goes_on = error, False
                    # If the program has died, its output ends, and what it did not read must not be sent again when
                    # the pipe is closed.
                    try:
                        process.stdin.write("go\n" if goes_on else "stop\n")
                        process.stdin.flush()
                    except BrokenPipeError:
                        with contextlib.suppress(BrokenPipeError):
                            process.stdin.close()
                    continue
                last.append(line)
                # The plan names the directory of the results.
                plan = re.match(r"output +([^;]+)", line)
                if plan and output is None:
                    output = plan[1].strip()
                if not quiet:
                    print(line, end="", flush=True)
        except KeyboardInterrupt:
            # The program has got the signal too, and writes a checkpoint; it asks no more.
            if process.stdin is not None:
                with contextlib.suppress(BrokenPipeError):
                    process.stdin.close()
            last.extend(process.stdout)
        code = process.wait()
    if raised is not None:
        raise raised
    done = output is not None and code != 2 and (pathlib.Path(output) / "summary.json").is_file()
    results = Run(output) if done else None
    if code and check:
        raise RunError(code, _message(last), results)
    return results


def check(case, overrides=None, *, output=None, device=None, restart=None, threads=None, ci=False):
    """Checks a case with its mesh and formulas without running it, and returns the plan as text. Mistakes raise RunError,
    which lists them as `mistakes`. Arguments are those of `run`."""
    with file_of(case) as (file, _):
        if isinstance(case, dict):
            output = output or "out/run"
        words = ["check", file, *arguments(overrides, output, device, restart, threads, ci)]
        try:
            return called(*words)
        except RunError as error:
            found = subprocess.run([str(program()), *words, "--json"], stdin=subprocess.DEVNULL, capture_output=True, text=True)
            with contextlib.suppress(ValueError):
                error.mistakes = json.loads(found.stdout)["mistakes"]
            raise


def picture(runs, output=None, **options):
    """Draws fields of a run, or of several beside each other, and returns the path of the picture; with time="all" the
    list of its frames. Options are those of `dgsuite picture`, such as field="Mach", time=0.5, range=(0, 1), mesh=True,
    slice=["y=0", "z=0"]."""
    several = isinstance(runs, (list, tuple))
    words = [_folder(run) for run in (runs if several else [runs])]
    said = called("picture", *words, *_options(output, options)).strip()
    frames = re.match(r"\d+ frames: (.*)", said)
    if frames:
        return sorted(pathlib.Path(frames[1]).parent.glob("frame-*.png"))
    return pathlib.Path(said.splitlines()[-1])


def export(run, output=None, **options):
    """Writes a stored state of a run in another form, and returns the path of the file. Options are those of
    `dgsuite export`, such as field=["Mach", "head=p + rho*u^2/2"], slice="y=0", line="0,0 1,0", points=50."""
    if output is None:
        kind = next((name for name in ("line", "at", "slice", "surface") if options.get(name)), "export")
        name = {"line": "line.csv", "at": "samples.csv"}.get(kind, f"{kind}.vtu")
        output = pathlib.Path(_folder(run)) / name
        if options.get("all"):
            output = output.with_suffix(".vtkhdf")
    called("export", _folder(run), *_options(output, options))
    return pathlib.Path(output)


def report(run, output=None):
    """Writes a run as one HTML page and returns its path."""
    return pathlib.Path(called("report", _folder(run), *_options(output, {})).strip())


def _folder(run):
    return os.fspath(run.directory if isinstance(run, Run) else run)


def _options(output, options):
    """Options of the program: True is an option without a value, a list of texts repeats it, a pair of numbers is a range,
    and more numbers are separated by commas."""
    words = []
    for name, value in options.items():
        option = "--" + name.replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            words.append(option)
        elif isinstance(value, (str, os.PathLike)):
            words.append(f"{option}={os.fspath(value)}")
        elif isinstance(value, (list, tuple)) or hasattr(value, "tolist"):
            values = value.tolist() if hasattr(value, "tolist") else list(value)
            values = values if isinstance(values, list) else [values]
            if all(isinstance(one, str) for one in values):
                words += [f"{option}={one}" for one in values]
            else:
                words.append(f"{option}=" + (":" if name == "range" else ",").join(str(plain(one)) for one in values))
        else:
            words.append(f"{option}={value}")
    if output is not None:
        words += ["--output", os.fspath(output)]
    return words


def _message(lines):
    """The error at the end of what was printed."""
    text = list(lines)
    starts = [i for i, line in enumerate(text) if line.startswith(("error:", "error[", "check FAILED"))]
    return "".join(text[starts[0]:] if starts else text[-10:])

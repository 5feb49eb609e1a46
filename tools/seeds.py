#!/usr/bin/env python3
"""Runs all property tests, and only these, with fresh random cases.

    tools/seeds.py 200                     200 seeds for every test binary that contains a property test
    tools/seeds.py 200 mesh ops            only those of these crates (folders of crates/), built by themselves
    tools/seeds.py 200 --seconds 45        no new run begins after 45 s; each binary gets at least one seed
    tools/seeds.py 1 --first 123 mesh      the seed 123

The seeds are consecutive, from a random one; it is printed first. A failure is printed with its seed, its smallest
input and the command that repeats it. The exit code is 1 if a test failed. The gate, .ci/run, has fixed seeds, so
that its result does not depend on chance; this tool finds what they do not show. Tests that run long (mesh hostile)
get few of the seeds where `--seconds` is given: the binary that ran for the least time so far is next.
"""

import argparse
import json
import os
import pathlib
import re
import secrets
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
# A property test that runs for longer than this hangs.
LIMIT = 900


def property_tests(text):
    """The names of the tests in the blocks `proptest! { … }` of a source file."""
    names = set()
    for block in re.finditer(r"^([ \t]*)proptest! \{$(.*?)^\1\}", text, re.M | re.S):
        names.update(re.findall(r"#\[test\]\s*(?:#\[[^\]]*\]\s*)*fn (\w+)", block[2]))
    return names


def targets():
    """{(folder of the package, target): names of property tests}; a target is the name of a test, or None for the library."""
    found = {}
    for folder in [ROOT, *sorted((ROOT / "crates").iterdir())]:
        for path in sorted([*folder.glob("tests/**/*.rs"), *folder.glob("src/**/*.rs")]):
            text = path.read_text(encoding="utf-8")
            if names := property_tests(text):
                inside = path.relative_to(folder).parts
                target = None if inside[0] == "src" else inside[1].removesuffix(".rs")
                found.setdefault((folder, target), set()).update(names)
            elif "proptest!" in text:
                sys.exit(f"seeds: no test is found in the block proptest! of {path.relative_to(ROOT)}")
    return found


class Binary:
    """A test binary with the paths of its property tests."""

    def __init__(self, folder, package, target, path, names):
        self.folder, self.path, self.seconds, self.runs = folder, path, 0.0, 0
        self.name = f"{package} {target or 'lib'}"
        self.cargo = f"cargo test --release -p {package} " + (f"--test {target}" if target else "--lib")
        listed = subprocess.run([path, "--list", "--format", "terse"], cwd=folder, check=True, capture_output=True, text=True)
        paths = [line.removesuffix(": test") for line in listed.stdout.splitlines() if line.endswith(": test")]
        self.tests = [path for path in paths if path.split("::")[-1] in names]
        if missing := names - {path.split("::")[-1] for path in self.tests}:
            sys.exit(f"seeds: {self.name} does not contain {', '.join(sorted(missing))}")

    def run(self, seed):
        """Runs the property tests with a seed; returns {name: what was printed} of those that failed."""
        # Failures leave no files in the tree.
        env = dict(os.environ, PROPTEST_RNG_SEED=str(seed), PROPTEST_DISABLE_FAILURE_PERSISTENCE="1")
        began = time.monotonic()
        command = [self.path, "--exact", *self.tests]
        try:
            run = subprocess.run(command, cwd=self.folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LIMIT)
            status, text = run.returncode, run.stdout.decode(errors="replace")
        except subprocess.TimeoutExpired as error:
            status, text = f"longer than {LIMIT} s", (error.stdout or b"").decode(errors="replace")
        self.seconds += time.monotonic() - began
        self.runs += 1
        if status == 0:
            return {}
        failed = re.findall(r"^test (\S+) \.\.\. FAILED$", text, re.M)
        outputs = {name: re.search(rf"^---- {re.escape(name)} stdout ----\n(.*?)(?=^----|^failures:)", text, re.M | re.S) for name in failed}
        outputs = {name: match[1] if match else text for name, match in outputs.items()}
        return outputs or {"": f"exit status {status}\n{text[-4000:]}"}


def build(wanted):
    """Builds the binaries of the targets: those of the whole workspace at once, or crate by crate."""
    found = targets()
    folders = [ROOT / "crates" / name for name in wanted]
    if unknown := [folder.name for folder in folders if not folder.is_dir()]:
        sys.exit(f"seeds: there is no crate '{unknown[0]}' in crates/")
    # Of the whole workspace at once its crates keep the features of `cargo test --workspace`.
    groups = [[key for key in found if key[0] == folder] for folder in folders] if wanted else [list(found)]
    binaries = []
    for group in groups:
        command = ["cargo", "test", "--release", "--no-run", "--message-format", "json-render-diagnostics"]
        packages = {folder: re.search(r'^name = "(.*)"', (folder / "Cargo.toml").read_text(), re.M)[1] for folder, _ in group}
        command += [word for package in packages.values() for word in ("-p", package)] if wanted else ["--workspace"]
        command += [word for _, target in group for word in (("--test", target) if target else ("--lib",))]
        output = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        if output.returncode != 0:
            sys.exit(output.returncode)
        for message in map(json.loads, output.stdout.splitlines()):
            if message["reason"] != "compiler-artifact" or not message.get("executable"):
                continue
            folder = pathlib.Path(message["manifest_path"]).parent
            target = None if "lib" in message["target"]["kind"] else message["target"]["name"]
            if (folder, target) in group:
                names = found[folder, target]
                binaries.append(Binary(folder, packages[folder], target, message["executable"], names))
    return binaries


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("seeds", type=int, help="number of seeds")
    parser.add_argument("crates", nargs="*", help="folders of crates/")
    parser.add_argument("--first", type=int, default=secrets.randbelow(2**32), help="the first seed (default: random)")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="no new run begins after this time")
    options = parser.parse_args()
    binaries = build(options.crates)
    print(f"seeds: {options.seeds} from {options.first}, {sum(len(b.tests) for b in binaries)} property tests", flush=True)
    failures, began = 0, time.monotonic()
    while left := [b for b in binaries if b.runs < options.seeds]:
        binary = min(left, key=lambda b: b.seconds)
        if binary.runs > 0 and time.monotonic() - began > options.seconds:
            break
        seed = options.first + binary.runs
        for test, text in binary.run(seed).items():
            failures += 1
            print(f"\nFAILED {binary.name} {test}\n{text.rstrip()[:4000]}")
            print(f"repeat: PROPTEST_RNG_SEED={seed} {binary.cargo} -- {test}".rstrip(), flush=True)
    print(f"\n{'seeds':>5}  {'s each':>7}  tests  binary")
    for binary in sorted(binaries, key=lambda b: b.name):
        each = binary.seconds / binary.runs if binary.runs else 0.0
        print(f"{binary.runs:5}  {each:7.2f}  {len(binary.tests):5}  {binary.name}")
    print(f"{failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Plants faults into a copy of the sources, one at a time, and reports whether the tests find them.

    tools/planted-faults.py                 all faults of the table below
    tools/planted-faults.py roe shear mesh  those whose name or crate contains one of the words
    tools/planted-faults.py --check         only checks that each text of the table occurs once in the sources

A fault replaces a text of one file by another one; a narrow test should then fail. The copy is made from the last commit
(`git archive`), in target/planted-faults; the working tree is not touched. Each test must pass without a fault first.
Prints killed or SURVIVED for each fault. The exit code is 1 if one survived, 2 if the table does not fit the sources any
more. `CARGO_TARGET_DIR` is used, so that dependencies need not be built again.
"""

import io
import os
import pathlib
import subprocess
import sys
import tarfile
import time

# name: (file, text, replacement, package, arguments of `cargo test`)
FAULTS = {
    # limiter
    "a filtered element loses the change of its mean": (
        "crates/ops/src/rhs/limiter/element.rs",
        "self.modes[k] += lost / nu[0];",
        "self.modes[k] += 0.5 * lost / nu[0];",
        "dgsuite-ops", ["--test", "operators", "laws::limiter::a_limiter_keeps"],
    ),
    "pressure is not kept positive": (
        "crates/ops/src/rhs/limiter/element.rs",
        "if second < 1.0 {",
        "if second < 0.0 {",
        "dgsuite-ops", ["--test", "operators", "laws::limiter::density_and"],
    ),
    "the gate is ten times as sharp": (
        "crates/ops/src/rhs/limiter/tables.rs",
        "0.5 * 10.0_f64.powf(-1.8",
        "0.5 * 10.0_f64.powf(-5.4",
        "dgsuite-ops", ["--test", "operators", "laws::limiter::a_gated"],
    ),
    "the filter does not bound the density": (
        "crates/ops/src/rhs/limiter/element.rs",
        "(!density || (bounds.low..=bounds.high).contains(&rho))",
        "(!density || rho > 0.0)",
        "dgsuite-ops", ["--test", "operators", "laws::limiter::the_filter"],
    ),
    "a repeated step keeps the boundary fluxes of the failed one": (
        "crates/solve/src/flow/failure.rs",
        "self.engine.set_boundary_sums(&trail.integrals);",
        "",
        "dgsuite", ["--test", "shocks", "a_step_that"],
    ),
    "the step ignores the states that enter": (
        "crates/app/src/run/march/entering.rs",
        "if FASTER * limit < self.limit {",
        "if FASTER * limit < 0.0 {",
        "dgsuite", ["--test", "shocks", "a_flow_that"],
    ),
    # physics
    "shear of Roe's flux halved": (
        "crates/physics/src/flux/roe.rs",
        "let a_shear = middle * roe.rho;",
        "let a_shear = half * middle * roe.rho;",
        "dgsuite-physics", ["--test", "properties", "fluxes::"],
    ),
    "far field takes entropy from the wrong side": (
        "crates/physics/src/boundary/far_field.rs",
        "R::and(zero.lt(vn), R::not(all_in))",
        "R::and(vn.lt(zero), R::not(all_in))",
        "dgsuite-physics", ["--test", "properties", "boundaries::"],
    ),
    "a wall moves along its normal": (
        "crates/physics/src/boundary/no_slip.rs",
        "array!(D, |d| v[d] - vn * n[d])",
        "array!(D, |d| v[d] - R::lit(0.0) * vn * n[d])",
        "dgsuite-physics", ["--test", "properties", "boundaries::"],
    ),
    "pressures of the two-point flux do the work of their own sides": (
        "crates/physics/src/two_point/ranocha.rs",
        "half * (l.p * r.vn + r.p * l.vn)",
        "half * (l.p * l.vn + r.p * r.vn)",
        "dgsuite-physics", ["--test", "properties", "two_point::"],
    ),
    "level faces keep the slope along the normal": (
        "crates/physics/src/diffusion.rs",
        "along[d][k] = grad[d][k] - slope * n[d];",
        "along[d][k] = grad[d][k] - R::lit(0.5) * slope * n[d];",
        "dgsuite-physics", ["--test", "properties", "boundaries::"],
    ),
    "series of the error function cut short": (
        "crates/physics/src/real/special.rs",
        "const TERMS: i32 = 48;",
        "const TERMS: i32 = 24;",
        "dgsuite-physics", ["--lib", "special"],
    ),
    # basis
    "the inverse of a Vandermonde matrix is not refined": (
        "crates/basis/src/lagrange.rs",
        "rough.add_scaled(1.0, &rough.mul(&residual))",
        "rough.add_scaled(0.0, &rough.mul(&residual))",
        "dgsuite-basis", ["--test", "lagrange"],
    ),
    "diagonal of Jacobi's recurrence": (
        "crates/basis/src/jacobi.rs",
        "(b * b - a * a) / (h * (h + 2.0))",
        "(b * b - a * a) / (h * (h + 1.0))",
        "dgsuite-basis", ["--lib", "jacobi"],
    ),
    "two face points have the same partner": (
        "crates/basis/src/orientation.rs",
        "Some(j) if !taken[j] => {",
        "Some(j) => {",
        "dgsuite-basis", ["--lib", "orientation"],
    ),
    "parameter of the spectral difference scheme": (
        "crates/basis/src/correction.rs",
        "with_eta(shape, order, order as f64 / (order + 1) as f64)",
        "with_eta(shape, order, order as f64 / (order + 2) as f64)",
        "dgsuite-basis", ["--lib", "correction"],
    ),
    # mesh
    "neighbouring cells above are not searched": (
        "crates/mesh/src/nearby.rs",
        "index(upper.map(|x| x + margin), self.cell)",
        "index(upper, self.cell)",
        "dgsuite-mesh", ["--lib", "nearby"],
    ),
    "the digest ignores regions": (
        "crates/mesh/src/digest.rs",
        "set.regions.iter().for_each(|&r| d.word(u64::from(r)));",
        "set.regions.iter().for_each(|&_| d.word(0));",
        "dgsuite-mesh", ["--test", "connectivity", "digest"],
    ),
    "regular pyramids are not of quality 1": (
        "crates/mesh/src/quality.rs",
        "Shape::Tetrahedron | Shape::Pyramid => 2.0_f64.sqrt(),",
        "Shape::Tetrahedron => 2.0_f64.sqrt(),",
        "dgsuite-mesh", ["--lib", "quality"],
    ),
    "children of two shapes have the same numbers": (
        "crates/mesh/src/refine.rs",
        "*tag = (set.first + i + 1) as u64;",
        "*tag = (i + 1) as u64;",
        "dgsuite-mesh", ["--test", "refinement"],
    ),
    # timeint
    "stages at the time of the step's start": (
        "crates/timeint/src/stepper.rs",
        "let time = t + self.times[i] * dt;",
        "let time = t + 0.0 * self.times[i] * dt;",
        "dgsuite-timeint", ["--test", "order"],
    ),
    "side integrals are summed without carry": (
        "crates/timeint/src/integrals.rs",
        "let increment = *sum - *carry;",
        "let increment = *sum - 0.0 * *carry;",
        "dgsuite-timeint", ["--lib", "integrals"],
    ),
    # amg
    "roots of the fourth kind's polynomial": (
        "crates/amg/src/smoother.rs",
        "(PI * k / (degree as f64 + 0.5)).cos()",
        "(PI * k / (degree as f64 + 1.0)).cos()",
        "dgsuite-amg", ["--lib", "smoother"],
    ),
    "a direction without curvature is accepted": (
        "crates/amg/src/pcg/scalars.rs",
        "} else if curvature <= 0.0 {",
        "} else if curvature < 0.0 {",
        "dgsuite-amg", ["--test", "solvers", "pcg::"],
    ),
    "entries of coarse matrices treated as rounding errors": (
        "crates/amg/src/hierarchy/galerkin.rs",
        "const ROUNDING: f64 = 1e-12;",
        "const ROUNDING: f64 = 1e-3;",
        "dgsuite-amg", ["--test", "multigrid"],
    ),
    # gpu, on the host
    "sums lose the rounding errors of the right branch": (
        "crates/gpu/src/vector/reduce.rs",
        "Self { sum: joined.sum, error: joined.error + other.error }",
        "Self { sum: joined.sum, error: joined.error }",
        "dgsuite-gpu", ["--lib", "--test", "vector", "vector"],
    ),
    "the right branch of a threaded reduction starts at the left one": (
        "crates/gpu/src/vector/reduce.rs",
        "|| tree_mut(true, first + middle, right, leaf, join),",
        "|| tree_mut(true, first, right, leaf, join),",
        "dgsuite-gpu", ["--lib", "--test", "vector"],
    ),
    # ops
    "boundaries lift half of their jumps": (
        "crates/ops/src/rhs/published.rs",
        "*jump = *face - *minus;",
        "*jump = T::from_f64(0.5) * (*face - *minus);",
        "dgsuite-ops", ["--test", "operators", "laws::diffusion::"],
    ),
    "diffusive fluxes have the wrong sign in the tally": (
        "crates/ops/src/rhs/published.rs",
        "self.tally.add(face, &set.first, set.weight.iter().copied(), flux);",
        "self.tally.add(face, &set.first, set.weight.iter().map(|w| -w), flux);",
        "dgsuite-ops", ["--test", "operators", "laws::diffusion::"],
    ),
    # ranks
    "a cut face's trace is not sent": (
        "crates/ops/src/rhs/halo.rs",
        "for (send, end) in border.sends.iter().zip(ends) {",
        "for (send, end) in border.sends.iter().zip(ends).skip(1) {",
        "dgsuite-ops", ["--test", "operators", "laws::ranks::inviscid"],
    ),
    "the message of one neighbour is skipped": (
        "crates/ops/src/rhs/halo.rs",
        "exterior[border.exterior.clone()].copy_from_slice(",
        "if i > 0 { continue }\n            exterior[border.exterior.clone()].copy_from_slice(",
        "dgsuite-ops", ["--test", "operators", "laws::ranks::inviscid"],
    ),
    "the traces of the stage before are read": (
        "crates/ops/src/rhs/halo.rs",
        "let finished = self.exchange.finish();",
        "for (i, border) in self.borders.iter().enumerate() {\n            exterior[border.exterior.clone()]"
        "\n                .copy_from_slice(scalars(self.exchange.incoming(i)));\n        }\n        "
        "let finished = self.exchange.finish();\n        if !exterior.is_empty() {\n            return;\n        }",
        "dgsuite-ops", ["--test", "operators", "laws::ranks::inviscid"],
    ),
    "limiters take the messages of neighbours in the wrong order": (
        "crates/ops/src/rhs/halo.rs",
        "let message: &[f64] = scalars(self.exchange.incoming(i));",
        "let message: &[f64] = scalars(self.exchange.incoming(self.borders.len() - 1 - i));",
        "dgsuite-ops", ["--test", "operators", "laws::ranks::limiters"],
    ),
    "the traces of a cut face are read one face too late": (
        "crates/ops/src/space/connect.rs",
        "fixes[group as usize].push(fix(&groups[group as usize], slot, cut.own.face, exterior_len));",
        "fixes[group as usize].push(fix(&groups[group as usize], slot, cut.own.face, border.exterior.start));",
        "dgsuite-ops", ["--test", "operators", "laws::ranks::inviscid"],
    ),
    "traces are sent in the order of the sender's face": (
        "crates/ops/src/space/connect.rs",
        "code: cut.own.face * ORIENTATIONS as u8 + cut.orientation,",
        "code: cut.own.face * ORIENTATIONS as u8,",
        "dgsuite-ops", ["--test", "operators", "laws::ranks::inviscid"],
    ),
    "two parts list their common faces in different orders": (
        "crates/mesh/src/partition/cutter.rs",
        "cuts.sort_unstable_by_key(|&(part, face, _)| (part, face));",
        "cuts.sort_unstable_by_key(|&(part, _, cut)| (part, cut.own));",
        "dgsuite-ops", ["--test", "operators", "laws::ranks::inviscid"],
    ),
    "a step sends by an exchange that has failed": (
        "crates/ops/src/rhs/halo.rs",
        "self.failed = self.ranks.kept(finished).is_none();\n        if self.failed {",
        "if self.ranks.kept(finished).is_none() {",
        "dgsuite-ops", ["--test", "operators", "laws::ranks::a_lost"],
    ),
    "elements at cut faces of a device do not wait for the messages": (
        "crates/ops/src/cuda/parts/branches.rs",
        "if let Some(event) = self.after {",
        "if let Some(event) = self.after.filter(|_| false) {",
        "dgsuite", ["--test", "ranks", "two_processes_on"],
    ),
    "a device packs messages before their traces are there": (
        "crates/ops/src/cuda/run/halo.rs",
        "stream.wait(&self.begun)?;",
        "",
        "dgsuite", ["--test", "ranks", "two_processes_on"],
    ),
    "a message holds traces that are summed in another order than by the kernels": (
        "crates/ops/src/cuda/choose/plan.rs",
        "{ (0..n).collect() } else { fragments::sum_order(n) }",
        "{ (0..n).collect() } else { (0..n).rev().collect() }",
        "dgsuite", ["--test", "ranks", "two_processes_on"],
    ),
    "states of another rank are taken for jumps": (
        "crates/ops/src/cuda/run/measure_tables.rs",
        "copied[point] = OUTER | ABROAD | to as u32;",
        "copied[point] = OUTER | to as u32;",
        "dgsuite", ["--test", "ranks", "two_processes_on"],
    ),
    "limiters of a device do not wait for the messages": (
        "crates/ops/src/cuda/run/limiter/abroad.rs",
        "Some(arrived) => cuda.stream().wait(arrived),",
        "Some(_) => Ok(()),",
        "dgsuite", ["--test", "ranks", "limiters::"],
    ),
    "limiters leave elements without cut faces as they are": (
        "crates/ops/src/rhs/limiter/pass.rs",
        "&[Turn::Inner, Turn::Cut]",
        "&[Turn::Cut]",
        "dgsuite-ops", ["--test", "operators", "laws::ranks::limiters"],
    ),
    "published fluxes of cut faces do not arrive": (
        "crates/ops/src/rhs/published.rs",
        "halo.finish(&mut published.exterior);",
        "halo.finish(&mut published.exterior.clone());",
        "dgsuite-ops", ["--test", "operators", "laws::ranks::viscous"],
    ),
    "a limiter takes the bounds of the first cut face for all": (
        "crates/ops/src/rhs/halo.rs",
        "&self.numbers[face * self.width..(face + 1) * self.width]",
        "&self.numbers[..self.width.max(face.min(0))]",
        "dgsuite-ops", ["--test", "operators", "laws::ranks::limiters"],
    ),
    "a norm is that of one rank": (
        "crates/ops/src/fields/integrals.rs",
        "(ranks.sum(&mut own.sums), own.largest)",
        "(own.sums.iter().map(ExactSum::value).collect(), own.largest)",
        "dgsuite-ops", ["--test", "operators", "laws::ranks::inviscid"],
    ),
    "a rank writes its coefficients one number too late": (
        "crates/output/src/checkpoint/draft.rs",
        "out.seek(SeekFrom::Start(at + 8 * range.start as u64))?;",
        "out.seek(SeekFrom::Start(at + 8 * (range.start + range.start.min(1)) as u64))?;",
        "dgsuite", ["--lib", "checkpoint::draft"],
    ),
    "a restart loses what the rounded sums over the boundary lack": (
        "crates/solve/src/flow/saved.rs",
        ".chain(state.tally_rest.chunks_exact(n))",
        "",
        "dgsuite", ["--test", "restart", "a_run_with_a_sponge"],
    ),
    "the checksum of a checkpoint lacks all ranges but the first of a rank": (
        "crates/output/src/checkpoint/draft.rs",
        "sum = shift(sum, 8 * (range.end - end) as u64) ^ crc.finalize();",
        "sum = shift(sum, 8 * (range.end - end) as u64) ^ if end == 0 { crc.finalize() } else { 0 };",
        "dgsuite", ["--lib", "checkpoint::draft"],
    ),
    # app
    "an edge of VTK's prisms runs the other way": (
        "crates/output/src/writer/lagrange.rs",
        "Shape::Prism => &[[0, 1], [1, 2], [2, 0], [3, 4],",
        "Shape::Prism => &[[0, 1], [1, 2], [0, 2], [3, 4],",
        "dgsuite", ["--lib", "lagrange"],
    ),
}

ROOT = pathlib.Path(__file__).resolve().parent.parent
PLACE = ROOT / "target" / "planted-faults"
TREE = PLACE / "tree"
# A test that takes longer hangs, which counts as a failure.
LONGEST = 1800


def copy_sources():
    """Makes the tree that of the last commit. Files that are as they should be keep their times, others get the present one: cargo goes
    by times, and must neither build all again nor take what was built with a fault for what stands there now."""
    archive = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, check=True, capture_output=True).stdout
    wanted = set()
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        for member in filter(tarfile.TarInfo.isfile, tar):
            path, data = TREE / member.name, tar.extractfile(member).read()
            wanted.add(path)
            if not path.exists() or path.read_bytes() != data:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(data)
    for path in TREE.rglob("*"):
        if path.is_file() and path not in wanted:
            path.unlink()


def test(package, arguments):
    """Whether the tests pass: True, False, or the reason why there is no answer."""
    env = {**os.environ, "CARGO_TARGET_DIR": os.environ.get("CARGO_TARGET_DIR", str(PLACE / "build"))}
    command = ["cargo", "test", "--release", "-p", package, *arguments]
    try:
        run = subprocess.run(command, cwd=TREE, env=env, capture_output=True, text=True, timeout=LONGEST)
    except subprocess.TimeoutExpired:
        return False
    output = run.stdout + run.stderr
    if "could not compile" in output:
        return "it does not build: " + next(l for l in output.splitlines() if l.startswith("error"))
    counts = [int(l.split()[1]) for l in output.splitlines() if l.startswith("running ")]
    if not any(counts):
        return "no test was run by: " + " ".join(command)
    return run.returncode == 0


def misfits():
    found = []
    for name, (file, text, replacement, _, _) in FAULTS.items():
        path = ROOT / file
        count = path.read_text().count(text) if path.exists() else 0
        if count != 1 or text == replacement:
            found.append(f"{name}: {file} has the text {count} times")
    return found


def main(arguments):
    wrong = misfits()
    for line in wrong:
        print(line)
    if wrong or arguments == ["--check"]:
        return 2 if wrong else 0
    words = [word.lower() for word in arguments]
    chosen = [
        (name, fault)
        for name, fault in FAULTS.items()
        if not words or any(word in f"{name} {fault[3]}".lower() for word in words)
    ]
    copy_sources()
    sound, killed, survived, unclear = {}, [], [], []
    for name, (file, text, replacement, package, test_arguments) in chosen:
        begin = time.time()
        key = (package, *test_arguments)
        if key not in sound:
            sound[key] = test(package, test_arguments)
        path = TREE / file
        original = path.read_text()
        if sound[key] is True:
            path.write_text(original.replace(text, replacement))
            try:
                passes = test(package, test_arguments)
            finally:
                path.write_text(original)
        else:
            passes = sound[key] or "its tests fail without a fault"
        if isinstance(passes, str):
            unclear.append(name)
            verdict = f"UNCLEAR  ({passes})"
        elif passes:
            survived.append(name)
            verdict = "SURVIVED"
        else:
            killed.append(name)
            verdict = "killed"
        print(f"{verdict:8}  {package:16} {name}  [{time.time() - begin:.0f} s]", flush=True)
    print(f"{len(killed)} of {len(chosen)} killed, {len(survived)} survived, {len(unclear)} unclear")
    return 2 if unclear else 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

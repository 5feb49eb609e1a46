//! Incompressible flow by the program: mistakes of the input, and runs.

#![expect(clippy::unwrap_used, reason = "a failed preparation fails the test")]

#[path = "support/case.rs"]
mod support;

use support::{CHANNEL, Case, refused, with};

#[test]
fn incompressible_flow_without_sense() {
    let case = Case::new(CHANNEL);
    let refuses = |set: &str, parts: &[&str]| refused(&case, &["--set", set], parts);
    refuses("physics.viscosity=", &["`physics.viscosity` is missing", "Reynolds number and length"]);
    refuses("physics.viscosity=0", &["`physics.viscosity` is 0, but must be greater than 0"]);
    refuses("physics.gamma=1.4", &["does not belong to the model incompressible", "euler or navier-stokes"]);
    let both = "physics.reference={ reynolds: 10, length: 1 }";
    refuses(both, &["`physics.viscosity` and `physics.reference.reynolds` exclude each other"]);
    for key in ["space.riemann=roe", "space.limiter=none", "space.form=split", "space.viscous=br2"] {
        refuses(key, &["does not belong to the model incompressible"]);
    }
    refuses("space.basis=modal", &["the model incompressible has `basis: nodal`"]);
    refuses("space.order=0", &["`space.order` is 0, but must be from 1 to 10"]);
    refuses("space.penalties=off", &["`off` is not a value of `space.penalties`", "on, none"]);
    refuses("space.penalties={ divergence: -1 }", &["`space.penalties.divergence` is -1"]);
    refuses("time.scheme=lserk54", &["does not belong to the model incompressible", "bdf1, bdf2 and bdf3"]);
    refuses("time.scheme=bdf4", &["expected one of: bdf1, bdf2, bdf3"]);
    refuses("time.adaptive={ tolerance: 1e-4 }", &["does not belong to the model incompressible"]);
    refuses(
        "time.rotational=true",
        &["does not belong to dual splitting", "`splitting: pressure-correction`"],
    );
    refuses("solver.tolerance=1e-4", &["does not belong to the model incompressible", "the model poisson"]);
    refuses("solver.pressure.cycle=x", &["`x` is not a value of `solver.pressure.cycle`"]);
    refuses(
        "precision=single",
        &["`precision: single` is not supported", "`solver.pressure.inner_precision`"],
    );
    refuses("boundaries.ymin.type=slip-wall", &["does not belong to the model incompressible"]);
    refuses("boundaries.ymin.temperature=1", &["unknown key `temperature`"]);
    refuses("boundaries.xmax.kind=dongs", &["did you mean `dong`?"]);
    refuses(
        "boundaries.xmax.p=1",
        &["unknown key `p` in `boundaries.xmax`", "known keys: type, kind, exact"],
    );
    refuses("boundaries.xmin.rho=1", &["unknown key `rho` in `boundaries.xmin`"]);
    refuses("initial.exact={ u: y, v: 0 }", &["exclude each other"]);
    refuses("initial={ exact: { u: y, v: 0 } }", &["`initial.exact.p` is missing"]);
    refuses("initial={ u: y }", &["`initial.v` is missing"]);
    refuses("physics.forcing={ w: 1 }", &["unknown key `w` in `physics.forcing`"]);
    refuses("checks=[{ value: conservation.u, below: 1 }]", &["`conservation.u` is not a value"]);
    // The outflow is less than the inflow, then equal.
    let outlet =
        |u: &str| with(CHANNEL, "{ type: outflow }", &format!("{{ type: dirichlet, u: {u}, v: 0 }}"));
    refused(&outlet("0.8*y"), &[], &["let in 1.0000e-1 more than they let out", "case.yaml:7:"]);
    let equal = outlet("0.75*y*(2 - y)").dgsuite(&["check", "case.yaml"]);
    assert!(!equal.stderr.contains("let in"), "{}", equal.stderr);
    let solid =
        with(CHANNEL, "{ shape: quad, cells: [4, 2], max: [2, 1] }", "{ shape: pyramid, cells: [1, 1, 1] }");
    refused(&solid, &[], &["incompressible is not available on pyramids", "case.yaml:2:"]);
}

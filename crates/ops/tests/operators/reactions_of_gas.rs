//! A sponge and a body force on a gas, with coefficients that vary in space.

use dgsuite_ops::{Reacting, ReactionKernels};
use dgsuite_physics::coefficients::FormulaCoefficients;
use dgsuite_physics::formula::{Formula, Names};
use dgsuite_physics::reaction::{BodyForce, Sponge, SpongeCoefficients};
use dgsuite_physics::{Coefficients, Exact};
use std::sync::Arc;

/// The largest strength of the sponge on `[-1, 1]^d`.
pub(crate) const STRONGEST: f64 = 8.0;

/// Formulas in `x, y, z` as coefficients.
pub(crate) fn formulas(texts: &[&str]) -> Arc<dyn Coefficients> {
    let parse = |text: &&str| Formula::parse(text, &Names::new(["x", "y", "z"])).expect("a formula");
    Arc::new(FormulaCoefficients(texts.iter().map(parse).collect()))
}

/// The strength `σ` and the force `g`.
pub(crate) fn strength_and_force(dim: usize) -> [Arc<dyn Coefficients>; 2] {
    let force = ["0.7 - x*y", "2*cos(3*x) - 1", "z - 0.2"];
    [formulas(&["2 + 6*x*x*y*y"]), formulas(&force[..dim])]
}

/// A sponge towards `state`, and a body force.
pub(crate) fn reactions<T>(dim: usize, state: Arc<dyn Exact>) -> Vec<Box<dyn ReactionKernels<T>>>
where
    Reacting<Sponge, 4, 5>: ReactionKernels<T>,
    Reacting<Sponge, 5, 6>: ReactionKernels<T>,
    Reacting<BodyForce, 4, 2>: ReactionKernels<T>,
    Reacting<BodyForce, 5, 3>: ReactionKernels<T>,
{
    let [strength, force] = strength_and_force(dim);
    let sponge = Arc::new(SpongeCoefficients { strength, state });
    if dim == 2 {
        vec![
            Box::new(Reacting::<_, 4, 5> { reaction: Sponge, coefficients: sponge }),
            Box::new(Reacting::<_, 4, 2> { reaction: BodyForce, coefficients: force }),
        ]
    } else {
        vec![
            Box::new(Reacting::<_, 5, 6> { reaction: Sponge, coefficients: sponge }),
            Box::new(Reacting::<_, 5, 3> { reaction: BodyForce, coefficients: force }),
        ]
    }
}

//! What a user can do about a linear system of a step that was not solved.

use dgsuite_amg::SolveError;

use dgsuite_solve::LinearSystem;

/// Number of residuals that are printed.
const SHOWN: usize = 8;

/// Describes the residuals of a failed solve in one line: the first, the last, and some in between.
pub fn residuals(cause: &SolveError) -> String {
    let history = cause.history();
    let last = history.len().saturating_sub(1);
    let mut shown: Vec<usize> = (0..SHOWN).map(|i| i * last / (SHOWN - 1)).collect();
    shown.dedup();
    let one = |&i: &usize| history.get(i).map(|r| format!("{r:.2e} ({i})"));
    let list: Vec<String> = shown.iter().filter_map(one).collect();
    format!("residuals, with their iterations: {}", list.join(", "))
}

/// The causes of many iterations that are known of a case, or else to raise their number.
pub fn joined(causes: &[String], raise: &str) -> String {
    if causes.is_empty() { raise.to_owned() } else { format!("{}; or {raise}", causes.join("; ")) }
}

/// Returns what helps; `causes` are those known of this case.
pub fn hint(system: LinearSystem, cause: &SolveError, causes: &[String]) -> String {
    let (solver, more) = match system {
        LinearSystem::Pressure => ("solver.pressure", ""),
        LinearSystem::Velocity | LinearSystem::Scalars | LinearSystem::Penalties => {
            ("solver.velocity", "; smaller steps (`time.dt`) need fewer iterations")
        }
    };
    match cause {
        SolveError::MaxIterations { iterations, .. } => {
            let raise = format!(
                "raise `{solver}.max_iterations` above {iterations}, or allow a larger `{solver}.tolerance`{more}"
            );
            joined(causes, &raise)
        }
        SolveError::Stagnated { residual, target, .. } => format!(
            "rounding allows no smaller residual here: make `{solver}.tolerance` {:.0e} times as large",
            2.0 * residual / target
        ),
        SolveError::PreconditionerNotPositive { .. } if system == LinearSystem::Pressure => {
            "try `solver.pressure.inner_precision: double`, or `solver.pressure.cycle: v`".to_owned()
        }
        _ => "the flow has probably become unstable in the steps before: try a smaller `time.dt`, a lower \
              `space.order`, or a finer mesh"
            .to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_history_is_shown_by_its_ends_and_some_residuals_in_between() {
        let history: Vec<f64> = (0..=70).map(|i| 0.5_f64.powi(i)).collect();
        let cause = SolveError::MaxIterations { iterations: 70, residual: 1.0, target: 0.1, history };
        let text = residuals(&cause);
        assert!(text.contains(": 1.00e0 (0), 9.77e-4 (10), ") && text.ends_with(" (70)"), "{text}");
        assert_eq!(text.matches('(').count(), SHOWN);
        let short = SolveError::Diverged { iteration: 1, residual: 3.0, first: 2.0, history: vec![2.0, 3.0] };
        assert!(residuals(&short).ends_with(": 2.00e0 (0), 3.00e0 (1)"), "{}", residuals(&short));
    }
}

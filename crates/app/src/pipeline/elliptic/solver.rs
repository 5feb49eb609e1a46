//! The section `solver`: preconditioner, tolerance, and the parts of multigrid.

use dgsuite_amg::{Coarsening, Cycle};

use super::MODEL;
use crate::file::problem::{InputError, Problem};
use crate::file::section::Section;
use crate::pipeline::keys::Scope;
use dgsuite_solve::elliptic::{CoarseSpace, Orders, Preconditioning, SmootherKind, SolverOptions};
use dgsuite_solve::flow::Precision;

/// The keys that describe multigrid.
const MULTIGRID: [&str; 7] =
    ["cycle", "smoother", "degree", "coarsening", "coarse_space", "aggregation", "inner_precision"];

/// The largest degree of a smoother.
const MAX_DEGREE: usize = 20;

/// Reads the section of a model; all of it has defaults.
///
/// # Errors
/// Keys of other models; as [`read_from`].
pub fn read(top: &Section<'_>) -> Result<SolverOptions, InputError> {
    let section = top.section_or_empty("solver")?;
    section.of_model(MODEL)?;
    read_from(&section, SolverOptions::default())
}

/// Reads a section with the keys of a solver; what is not given is that of `default`.
///
/// # Errors
/// Unknown words, numbers out of range, keys of multigrid with another preconditioner.
pub fn read_from(section: &Section<'_>, default: SolverOptions) -> Result<SolverOptions, InputError> {
    let preconditioner = section.choice("preconditioner", &Preconditioning::WORDS)?;
    let preconditioner = preconditioner.map_or(default.preconditioner, |p| p.value);
    let word = preconditioner.word();
    let surplus = MULTIGRID.iter().find(|key| section.has(key));
    if let Some(key) = surplus.filter(|_| !preconditioner.is_multigrid()) {
        let owner = format!("the preconditioner {word}");
        return Err(section.misplaced(key, &owner, "the preconditioners pmg-amg and amg"));
    }
    for (key, meaning) in
        [("coarsening", "the orders of its levels"), ("coarse_space", "the space below its levels")]
    {
        if preconditioner == Preconditioning::Amg && section.has(key) {
            return Err(section.misplaced(key, "the preconditioner amg", &format!("pmg-amg: {meaning}")));
        }
    }
    let (tolerance, max_iterations) = read_limits(section)?;
    let degree = section.count("degree", 1)?;
    if let Some(degree) = degree.as_ref().filter(|d| d.value > MAX_DEGREE) {
        return Err(InputError::range(degree, format!("from 1 to {MAX_DEGREE}")));
    }
    let smoother = section.choice("smoother", &SmootherKind::WORDS)?;
    let blocks = smoother
        .as_ref()
        .filter(|smoother| matches!(smoother.value, SmootherKind::BlockJacobi | SmootherKind::Linelets));
    if let Some(blocks) = blocks.filter(|_| preconditioner == Preconditioning::Amg) {
        let problem = Problem::Misplaced {
            key: format!("{}: {}", blocks.key, blocks.value.word()),
            owner: "the preconditioner amg".into(),
            belongs: "pmg-amg; algebraic multigrid on a matrix has no elements".into(),
        };
        return Err(InputError::at(&blocks.place, problem));
    }
    let inner =
        section.choice("inner_precision", &[("single", Precision::Single), ("double", Precision::Double)])?;
    let orders = section.choice("coarsening", &Orders::WORDS)?;
    let coarse_space = section.choice("coarse_space", &CoarseSpace::WORDS)?;
    Ok(SolverOptions {
        preconditioner,
        tolerance: tolerance.unwrap_or(default.tolerance),
        max_iterations: max_iterations.unwrap_or(default.max_iterations),
        cycle: parsed::<Cycle>(section, "cycle")?.or(default.cycle),
        smoother: smoother.map(|s| s.value).or(default.smoother),
        degree: degree.map(|d| d.value).or(default.degree),
        orders: orders.map(|o| o.value).or(default.orders),
        coarse_space: coarse_space.map(|c| c.value).or(default.coarse_space),
        aggregation: parsed::<Coarsening>(section, "aggregation")?.or(default.aggregation),
        inner_precision: inner.map_or(default.inner_precision, |p| p.value),
    })
}

/// Reads the keys of every iteration: its tolerance and its largest number.
///
/// # Errors
/// Numbers out of range.
pub fn read_limits(section: &Section<'_>) -> Result<(Option<f64>, Option<usize>), InputError> {
    let tolerance = section.number("tolerance")?;
    if let Some(tolerance) = tolerance.as_ref().filter(|t| !(1e-15..1.0).contains(&t.value)) {
        return Err(InputError::range(tolerance, "from 1e-15 to below 1: it is relative"));
    }
    let max_iterations = section.count("max_iterations", 1)?;
    Ok((tolerance.map(|t| t.value), max_iterations.map(|n| n.value)))
}

/// A word that the type itself reads; the table of keys has the words that errors list.
fn parsed<T: std::str::FromStr>(section: &Section<'_>, key: &str) -> Result<Option<T>, InputError> {
    let Some(word) = section.text(key)? else { return Ok(None) };
    match word.value.parse() {
        Ok(value) => Ok(Some(value)),
        Err(_) => {
            let known = section.words(key, Scope::default()).into_iter().map(str::to_owned).collect();
            Err(InputError::at(
                &word.place,
                Problem::UnknownValue { key: word.key, found: word.value, known },
            ))
        }
    }
}

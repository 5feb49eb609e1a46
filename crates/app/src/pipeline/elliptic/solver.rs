//! The section `solver`: preconditioner, tolerance, and the parts of multigrid.

use dgsuite_amg::{Coarsening, Cycle};

use crate::pipeline::node::{Node, Value};
use crate::pipeline::problem::{InputError, Problem};
use crate::pipeline::section::Section;
use crate::pipeline::source::Located;
use crate::systems::elliptic::{CoarseSpace, Orders, Preconditioning, SmootherKind, SolverOptions};
use crate::systems::hyperbolic::Precision;

/// The solver as written: its options, each with a default.
pub type SolverSpec = SolverOptions;

/// The keys, and whether they describe multigrid.
const KEYS: [(&str, bool); 10] = [
    ("preconditioner", false),
    ("tolerance", false),
    ("max_iterations", false),
    ("cycle", true),
    ("smoother", true),
    ("degree", true),
    ("coarsening", true),
    ("coarse_space", true),
    ("aggregation", true),
    ("inner_precision", true),
];

/// Degrees of smoothers that make sense.
const MAX_DEGREE: usize = 20;

impl SolverOptions {
    /// Reads the section; all of it has defaults.
    ///
    /// # Errors
    /// Unknown words, numbers out of range, keys of multigrid beside a preconditioner that is none.
    pub fn read(top: &Section<'_>) -> Result<Self, InputError> {
        let known = KEYS.map(|(key, _)| key);
        let empty = Node { value: Value::Null, place: top.place().clone() };
        let section = match top.section("solver", &known)? {
            Some(section) => section,
            None => Section::open(&empty, "solver", &known, top.constants())?,
        };
        let default = Self::default();
        let preconditioner = section.choice("preconditioner", &Preconditioning::WORDS)?;
        let preconditioner = preconditioner.map_or(default.preconditioner, |p| p.value);
        let word = preconditioner.word();
        let surplus = KEYS.iter().find(|(key, multigrid)| *multigrid && section.has(key));
        if let Some((key, _)) = surplus.filter(|_| !preconditioner.is_multigrid()) {
            let owner = format!("the preconditioner {word}");
            return Err(section.misplaced(key, &owner, "the preconditioners pmg-amg and amg"));
        }
        for (key, meaning) in
            [("coarsening", "orders of its levels"), ("coarse_space", "what is below its levels")]
        {
            if preconditioner == Preconditioning::Amg && section.has(key) {
                return Err(section.misplaced(key, "the preconditioner amg", &format!("pmg-amg: {meaning}")));
            }
        }
        let tolerance = section.number("tolerance")?;
        if let Some(tolerance) = tolerance.as_ref().filter(|t| !(1e-15..1.0).contains(&t.value)) {
            let expected = "from 1e-15 to below 1: it is relative to the first residual";
            return Err(InputError::range(tolerance, expected));
        }
        let degree = section.count("degree", 1)?;
        if let Some(degree) = degree.as_ref().filter(|d| d.value > MAX_DEGREE) {
            return Err(InputError::range(degree, format!("from 1 to {MAX_DEGREE}")));
        }
        let smoother = section.choice("smoother", &SmootherKind::WORDS)?;
        let blocks = smoother.as_ref().filter(|smoother| smoother.value == SmootherKind::BlockJacobi);
        if let Some(blocks) = blocks.filter(|_| preconditioner == Preconditioning::Amg) {
            let problem = Problem::Misplaced {
                key: format!("{}: {}", blocks.key, blocks.value.word()),
                owner: "the preconditioner amg".into(),
                belongs: "pmg-amg: a matrix does not know of elements".into(),
            };
            return Err(InputError::at(&blocks.place, problem));
        }
        let inner = section
            .choice("inner_precision", &[("single", Precision::Single), ("double", Precision::Double)])?;
        let orders = section.choice("coarsening", &Orders::WORDS)?;
        let coarse_space = section.choice("coarse_space", &CoarseSpace::WORDS)?;
        let max_iterations = section.count("max_iterations", 1)?;
        Ok(Self {
            preconditioner,
            tolerance: tolerance.map_or(default.tolerance, |t| t.value),
            max_iterations: max_iterations.map_or(default.max_iterations, |n| n.value),
            cycle: parsed::<Cycle>(&section, "cycle", &["v", "w", "k", "k2"])?.or(default.cycle),
            smoother: smoother.map(|s| s.value).or(default.smoother),
            degree: degree.map(|d| d.value).or(default.degree),
            orders: orders.map(|o| o.value).or(default.orders),
            coarse_space: coarse_space.map(|c| c.value).or(default.coarse_space),
            aggregation: aggregation(&section)?.or(default.aggregation),
            inner_precision: inner.map_or(default.inner_precision, |p| p.value),
        })
    }
}

/// A word that the type itself reads; `known` is what errors list.
fn parsed<T: std::str::FromStr>(
    section: &Section<'_>,
    key: &str,
    known: &[&str],
) -> Result<Option<T>, InputError> {
    let Some(word) = section.text(key)? else { return Ok(None) };
    match word.value.parse() {
        Ok(value) => Ok(Some(value)),
        Err(_) => Err(unknown(word, known)),
    }
}

fn unknown(word: Located<String>, known: &[&str]) -> InputError {
    let known = known.iter().map(|&k| k.to_owned()).collect();
    InputError::at(&word.place, Problem::UnknownValue { key: word.key, found: word.value, known })
}

/// `aggregation`: how rows of the assembled levels are gathered.
fn aggregation(section: &Section<'_>) -> Result<Option<Coarsening>, InputError> {
    let words = ["pairwise", "pairwise-strict", "independent-sets", "independent-sets-negative", "smoothed"];
    parsed(section, "aggregation", &words)
}

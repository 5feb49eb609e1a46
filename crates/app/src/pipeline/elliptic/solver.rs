//! The section `solver`: preconditioner, tolerance, and the parts of multigrid.

use dgsuite_amg::{Coarsening, Cycle};

use super::MODEL;
use crate::file::key::{Declared, Key, Parts, Usual, key, keys};
use crate::file::keys::Range::{self, Below};
use crate::file::keys::{IMPLICIT, INCOMPRESSIBLE, Low, POISSON};
use crate::file::node::Value;
use crate::file::problem::{InputError, Problem};
use crate::file::section::Section;
use crate::file::tree::Tree;
use dgsuite_solve::elliptic::{CoarseSpace, Orders, Preconditioning, SmootherKind, SolverOptions};
use dgsuite_solve::flow::Precision;

/// The keys of a linear solver with a choice of preconditioners.
pub(crate) struct Linear {
    preconditioner: Usual<Preconditioning>,
    tolerance: Usual<f64>,
    max_iterations: Usual<usize>,
    cycle: Key<Cycle>,
    smoother: Key<SmootherKind>,
    degree: Key<usize>,
    coarsening: Key<Orders>,
    coarse_space: Key<CoarseSpace>,
    aggregation: Key<Coarsening>,
    inner_precision: Usual<Precision>,
}

/// A relative tolerance at which an iteration stops.
pub(crate) const RELATIVE: Range = Below(Low::From(1e-15), 1.0);

/// The keys of a linear solver in the section `$section`; its tolerance is relative to `$reference`.
macro_rules! linear {
    ($section:literal, $models:expr, $reference:literal) => {
        Linear {
            preconditioner: key(concat!($section, ".preconditioner"))
                .words(&Preconditioning::WORDS)
                .of($models)
                .text(
                    "The preconditioner: p-multigrid down to order 1 and algebraic multigrid below, algebraic \
                     multigrid on the matrix of the full order, the inverse mass matrix, the inverse diagonal, or \
                     none.",
                )
                .default(Preconditioning::PmgAmg),
            tolerance: key(concat!($section, ".tolerance"))
                .number(RELATIVE)
                .why(": it is relative")
                .of($models)
                .text(concat!("The residual at which the solver stops, relative to ", $reference, "."))
                .default(1e-8),
            max_iterations: key(concat!($section, ".max_iterations"))
                .whole(1, usize::MAX)
                .of($models)
                .text("The number of iterations after which the run fails.")
                .default(500),
            cycle: key(concat!($section, ".cycle"))
                .parsed(&["v", "w", "k", "kN"], |word| word.parse().ok(), |cycle: &Cycle| Some(cycle.to_string()))
                .of($models)
                .says(
                    "`v` with smoothed aggregation on the CPU, `k1` with it on a GPU; else `k` on the CPU, `k3` on \
                     a GPU",
                )
                .text(
                    "The cycle over the assembled levels: V, W, or K, which iterates on each coarser level, or as \
                     `k3` on the three finest of them. Levels of p-multigrid form a V-cycle.",
                ),
            smoother: key(concat!($section, ".smoother"))
                .words(&SmootherKind::WORDS)
                .of($models)
                .says(
                    "`linelets` on thin elements, from order 3 (on GPUs from 5) where all elements are \
                     quadrilaterals or hexahedra, from order 2 on other meshes in space, from order 7 on CPUs on \
                     those in the plane, and for penalties above 3; `block-jacobi` from order 3 on meshes with \
                     pyramids, else `chebyshev4`",
                )
                .text(
                    "The smoother: Chebyshev polynomials of the first or fourth kind, damped Jacobi sweeps, or (for \
                     `pmg-amg`) polynomials of the fourth kind with the inverse blocks of the elements, or with the \
                     diagonal, solves along lines of thin elements, and the diagonal of continuous functions.",
                ),
            degree: key(concat!($section, ".degree"))
                .whole(1, 20)
                .of($models)
                .says(
                    "3; on the CPU 4 from order 7 (`pmg-amg` without `block-jacobi`); on a GPU 4 from order 5 and \
                     5 from order 7",
                )
                .text("The degree of the smoother, or its number of sweeps, before and after each correction."),
            coarsening: key(concat!($section, ".coarsening"))
                .words(&Orders::WORDS)
                .of($models)
                .says("`half`; `minus-one` on the CPU on meshes with tetrahedra, without `block-jacobi`")
                .text("The orders of p-multigrid (`pmg-amg`): halved, or reduced by one, from level to level."),
            coarse_space: key(concat!($section, ".coarse_space"))
                .words(&CoarseSpace::WORDS)
                .of($models)
                .says(
                    "`continuous` on a GPU and with `linelets`; `discontinuous` on the CPU without them, and on a GPU \
                     for order 1 on elements other than simplices that are stretched by 30 or more",
                )
                .text(
                    "The space of algebraic multigrid below `pmg-amg`: continuous functions of the vertices below \
                     order 1, or the matrix of order 1.",
                ),
            aggregation: key(concat!($section, ".aggregation"))
                .parsed(
                    &["pairwise", "pairwise-strict", "independent-sets", "independent-sets-negative", "smoothed"],
                    |word| word.parse().ok(),
                    |_| None,
                )
                .of($models)
                .says(
                    "`smoothed` for continuous functions; else `independent-sets-negative` on simplices and \
                     `pairwise` elsewhere",
                )
                .text(
                    "How algebraic multigrid groups the rows of a matrix: in pairs, in pairs of a stricter quality, by \
                     independent sets with a symmetric strength or with one by negative entries, or by smoothed \
                     aggregation.",
                ),
            inner_precision: key(concat!($section, ".inner_precision"))
                .words(&[("single", Precision::Single), ("double", Precision::Double)])
                .of($models)
                .text(
                    "The arithmetic of multigrid. On a GPU `single` rounds some products to 11 bits on affine \
                     triangles and tetrahedra.",
                )
                .default(Precision::Single),
        }
    };
}

/// Those of Poisson's equation.
pub(crate) static OF_POISSON: Linear = linear!("solver", POISSON, "the first residual");
/// Those of the pressure.
pub(crate) static OF_PRESSURE: Linear = linear!("solver.pressure", INCOMPRESSIBLE, "the right-hand side");

keys! { SECTIONS:
    pub(crate) SOLVER: Key<Parts> = key("solver")
        .section()
        .of(IMPLICIT)
        .text("The linear solvers: conjugate gradients with a preconditioner.");
    pub(crate) PRESSURE: Key<Parts> =
        key("solver.pressure").section().of(INCOMPRESSIBLE).text("The solver of the pressure.");
    pub(crate) VELOCITY: Key<Parts> =
        key("solver.velocity").section().of(INCOMPRESSIBLE).text("The solver of the velocity components.");
}

impl Linear {
    /// The list of them.
    pub(crate) fn list(&'static self) -> [&'static dyn Declared; 10] {
        let Self { preconditioner, tolerance, max_iterations, cycle, smoother, .. } = self;
        let Self { degree, coarsening, coarse_space, aggregation, inner_precision, .. } = self;
        [
            preconditioner,
            tolerance,
            max_iterations,
            cycle,
            smoother,
            degree,
            coarsening,
            coarse_space,
            aggregation,
            inner_precision,
        ]
    }

    /// Reads the keys.
    ///
    /// # Errors
    /// Unknown words, numbers out of range, keys of multigrid with another preconditioner.
    pub(crate) fn read(&self, section: &Section<'_>) -> Result<SolverOptions, InputError> {
        let preconditioner = self.preconditioner.read(section)?;
        let of_multigrid = [
            self.cycle.name(),
            self.smoother.name(),
            self.degree.name(),
            self.coarsening.name(),
            self.coarse_space.name(),
            self.aggregation.name(),
            self.inner_precision.name(),
        ];
        let surplus = of_multigrid.iter().find(|name| section.has(name));
        if let Some(name) = surplus.filter(|_| !preconditioner.is_multigrid()) {
            let owner = format!("the preconditioner {}", preconditioner.word());
            return Err(section.misplaced(name, &owner, "the preconditioners pmg-amg and amg"));
        }
        for (name, meaning) in [
            (self.coarsening.name(), "the orders of its levels"),
            (self.coarse_space.name(), "the space below its levels"),
        ] {
            if preconditioner == Preconditioning::Amg && section.has(name) {
                return Err(section.misplaced(
                    name,
                    "the preconditioner amg",
                    &format!("pmg-amg: {meaning}"),
                ));
            }
        }
        let smoother = self.smoother.read(section)?;
        let blocks = smoother
            .as_ref()
            .filter(|found| matches!(found.value, SmootherKind::BlockJacobi | SmootherKind::Linelets));
        if let Some(blocks) = blocks.filter(|_| preconditioner == Preconditioning::Amg) {
            let problem = Problem::Misplaced {
                key: format!("{}: {}", blocks.key, blocks.value.word()),
                owner: "the preconditioner amg".into(),
                belongs: "pmg-amg; algebraic multigrid on a matrix has no elements".into(),
            };
            return Err(InputError::at(&blocks.place, problem));
        }
        Ok(SolverOptions {
            preconditioner,
            tolerance: self.tolerance.read(section)?,
            max_iterations: self.max_iterations.read(section)?,
            cycle: self.cycle.read(section)?.map(|found| found.value),
            smoother: smoother.map(|found| found.value),
            degree: self.degree.read(section)?.map(|found| found.value),
            orders: self.coarsening.read(section)?.map(|found| found.value),
            coarse_space: self.coarse_space.read(section)?.map(|found| found.value),
            aggregation: self.aggregation.read(section)?.map(|found| found.value),
            inner_precision: self.inner_precision.read(section)?,
        })
    }

    /// The options as a run writes them out; those of multigrid only if there is multigrid.
    fn entries(&self, solver: &SolverOptions) -> impl Iterator<Item = (&'static str, Value)> {
        let multigrid = solver.preconditioner.is_multigrid();
        let orders = solver.preconditioner == Preconditioning::PmgAmg;
        let aggregation = solver.aggregation.as_ref();
        let entries = [
            self.preconditioner.entry(&solver.preconditioner),
            self.smoother.entry(&solver.smoother()).filter(|_| multigrid),
            self.cycle.entry(&solver.cycle()).filter(|_| multigrid),
            aggregation.and_then(|aggregation| self.aggregation.entry(aggregation)).filter(|_| multigrid),
            self.coarsening.entry(&solver.orders()).filter(|_| orders),
            self.coarse_space.entry(&solver.coarse_space()).filter(|_| orders),
            self.inner_precision.entry(&solver.inner_precision).filter(|_| multigrid),
            self.tolerance.entry(&solver.tolerance),
            self.max_iterations.entry(&solver.max_iterations),
            self.degree.entry(&solver.degree()).filter(|_| multigrid),
        ];
        entries.into_iter().flatten()
    }

    /// Writes out the options.
    pub(crate) fn write(&self, tree: &mut Tree, solver: &SolverOptions) {
        self.entries(solver).for_each(|(path, value)| tree.default(path, value));
    }

    /// The options that are words, each behind the name of its key, without the preconditioner.
    pub(crate) fn words(&self, solver: &SolverOptions) -> Vec<String> {
        let word = |(path, value): (&str, Value)| match value {
            Value::Text(word) => Some(format!("{} {word}", path.rsplit('.').next().unwrap_or(path))),
            _ => None,
        };
        self.entries(solver).skip(1).filter_map(word).collect()
    }
}

/// Reads the section of Poisson's equation; all of it has defaults.
///
/// # Errors
/// Keys of other models; unknown words, numbers out of range, keys of multigrid with another preconditioner.
pub fn read(top: &Section<'_>) -> Result<SolverOptions, InputError> {
    let section = top.section_or_empty(SOLVER.name())?;
    section.of_model(MODEL)?;
    OF_POISSON.read(&section)
}

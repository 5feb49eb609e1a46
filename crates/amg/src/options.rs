//! Options of algebraic multigrid, as types and as words.

use std::fmt;
use std::str::FromStr;

use crate::AmgError;

/// How rows are grouped into aggregates, which become the rows of the next coarser level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Coarsening {
    /// Pairs, pairs of pairs and so on, each chosen and accepted by its quality (Notay 2010, 2012; Napov and
    /// Notay 2012).
    Pairwise {
        /// Number of pairings: aggregates have up to `2^passes` rows. From 1 to 3.
        passes: usize,
        /// The largest local two-grid condition number that an aggregate may have (κ); above 2.
        quality: f64,
    },
    /// Neighbourhoods of a maximal independent set of distance two in the graph of strong connections
    /// (Bell, Dalton and Olson 2012).
    IndependentSets {
        /// Which connections are strong.
        strength: Strength,
    },
    /// The same neighbourhoods with a smoothed prolongation, `P = (I − ω D⁻¹ A) P₀`, where `P₀` is constant
    /// on each aggregate and ω is 4/3 divided by the largest eigenvalue of `D⁻¹ A` (Vaněk, Mandel and Brezina
    /// 1996). V-cycles suffice. For matrices of continuous finite elements and of finite differences; with
    /// matrices of interior penalty methods the coarser levels fill in.
    SmoothedAggregation {
        /// Which connections are strong.
        strength: Strength,
    },
}

/// When row i is strongly connected with row j.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Strength {
    /// `|a_ij| > θ (a_ii a_jj)^½` (Vaněk, Mandel and Brezina 1996); θ = 0.08 is usual.
    Symmetric(f64),
    /// `−a_ij > θ max_k(−a_ik)`, with the maximum over row i (Ruge and Stüben 1987); θ = 0.5 selects few
    /// connections, 0.25 more.
    NegativeMaximum(f64),
}

/// The smoother, applied on each level before and after the coarse correction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Smoother {
    /// `x ← x + ω D⁻¹ (b − A x)`, where ω is 4/3 divided by the largest eigenvalue of `D⁻¹ A`.
    Jacobi {
        /// Number of sweeps.
        sweeps: usize,
    },
    /// The same with the row sums of `|A|` instead of D, and ω = 1: convergent for every symmetric positive
    /// definite matrix (Baker, Falgout, Kolev and Yang 2011).
    L1Jacobi {
        /// Number of sweeps.
        sweeps: usize,
    },
    /// Chebyshev polynomial in `D⁻¹ A` for the interval `[λ / ratio, λ]`, λ the largest eigenvalue
    /// (Adams, Brezina, Hu and Tuminaro 2003).
    Chebyshev {
        /// Degree: products with A.
        degree: usize,
        /// Ratio of the interval's ends.
        ratio: f64,
    },
    /// Chebyshev polynomial of the fourth kind, which needs no lower bound (Lottes 2023).
    ChebyshevFourth {
        /// Degree: products with A.
        degree: usize,
    },
}

/// The order in which a cycle visits the levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cycle {
    /// Each level once.
    V,
    /// Each coarser level twice for each visit of the next finer one.
    W,
    /// Up to two iterations of flexible conjugate gradients on each of the first `levels` coarser levels,
    /// counted from the finest; a V-cycle below (Notay 2008).
    K {
        /// Number of levels with such iterations. [`usize::MAX`] chooses it: four, and more where the levels
        /// are large and coarsening is fast ([`HierarchySummary::cycle`](crate::HierarchySummary) reports the
        /// choice).
        levels: usize,
    },
}

/// The null space of A.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NullSpace {
    /// None: a singular matrix is an error.
    None,
    /// Constants, on each connected part of the matrix whose rows sum to zero (pure Neumann problems).
    Constant,
}

/// Options of a multigrid method. The default works for scalar elliptic problems on any mesh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AmgOptions {
    /// How levels are made.
    pub coarsening: Coarsening,
    /// The smoother.
    pub smoother: Smoother,
    /// The cycle.
    pub cycle: Cycle,
    /// Whether the matrix may be singular.
    pub null_space: NullSpace,
    /// A level with at most this many rows is solved directly, with its dense inverse.
    pub direct_rows: usize,
    /// Largest number of levels, including the finest.
    pub max_levels: usize,
}

impl Default for AmgOptions {
    /// Double pairwise aggregation with κ = 8, Chebyshev smoother of degree 2, K-cycle on as many levels as
    /// are worthwhile.
    fn default() -> Self {
        Self {
            coarsening: Coarsening::PAIRWISE,
            smoother: Smoother::CHEBYSHEV,
            cycle: Cycle::K { levels: usize::MAX },
            null_space: NullSpace::None,
            direct_rows: 300,
            max_levels: 40,
        }
    }
}

impl AmgOptions {
    /// The default for devices ([`cuda`](crate::cuda)): K-cycles on the two finest levels only. A K-cycle on
    /// all levels needs hundreds of launches for levels of a few rows, which take longer than the iterations
    /// that they save.
    pub fn on_device() -> Self {
        Self { cycle: Cycle::K { levels: 2 }, ..Self::default() }
    }
}

impl Coarsening {
    /// Double pairwise aggregation with κ = 8 (Napov and Notay 2012). A smaller κ needs fewer iterations
    /// where penalties couple rows; a larger κ coarsens stretched grids faster.
    pub const PAIRWISE: Self = Self::Pairwise { passes: 2, quality: 8.0 };

    /// Double pairwise aggregation with κ = 4: aggregates of strongly coupled rows only. For interior penalty
    /// methods of degree 1, where it groups the values at one place: 9 to 12 iterations on any mesh, for any
    /// penalty, for 5 to 10 % more entries than with [`PAIRWISE`](Self::PAIRWISE). Stretched grids coarsen by
    /// a factor of two only.
    pub const PAIRWISE_STRICT: Self = Self::Pairwise { passes: 2, quality: 4.0 };

    /// Smoothed aggregation along the larger negative entries: all neighbours in matrices of linear and
    /// trilinear elements of regular shape, the neighbours across the thin direction in stretched ones.
    pub const SMOOTHED: Self = Self::SmoothedAggregation { strength: Strength::NegativeMaximum(0.25) };
}

impl Smoother {
    /// Degree 2 on `[λ / 4, λ]`.
    pub const CHEBYSHEV: Self = Self::Chebyshev { degree: 2, ratio: 4.0 };
}

impl Smoother {
    /// Checks that each number lies in its valid range.
    ///
    /// # Errors
    /// [`AmgError::OptionOutOfRange`].
    pub fn check(&self) -> Result<(), AmgError> {
        match *self {
            Self::Jacobi { sweeps: n } | Self::L1Jacobi { sweeps: n } => {
                within("sweeps", n as f64, 1.0, MAX_SWEEPS as f64)
            }
            Self::ChebyshevFourth { degree } => within("degree", degree as f64, 1.0, MAX_SWEEPS as f64),
            Self::Chebyshev { degree, ratio } => {
                within("degree", degree as f64, 1.0, MAX_SWEEPS as f64)?;
                within("ratio", ratio, 1.001, 1e6)
            }
        }
    }
}

fn within(option: &'static str, value: f64, least: f64, most: f64) -> Result<(), AmgError> {
    if (least..=most).contains(&value) {
        Ok(())
    } else {
        Err(AmgError::OptionOutOfRange { option, value, least, most })
    }
}

/// Largest number of rows for a dense inverse.
const MAX_DIRECT_ROWS: usize = 4000;
/// Largest number of sweeps, and largest degree, of a smoother.
const MAX_SWEEPS: usize = 64;

impl AmgOptions {
    /// Checks that each number lies in its valid range.
    ///
    /// # Errors
    /// [`AmgError::OptionOutOfRange`].
    pub fn check(&self) -> Result<(), AmgError> {
        match self.coarsening {
            Coarsening::Pairwise { passes, quality } => {
                within("passes", passes as f64, 1.0, 3.0)?;
                within("quality", quality, 2.001, 1e6)?;
            }
            Coarsening::IndependentSets { strength } | Coarsening::SmoothedAggregation { strength } => {
                match strength {
                    Strength::Symmetric(theta) => within("symmetric strength", theta, 0.0, 1.0)?,
                    Strength::NegativeMaximum(theta) => {
                        within("strength relative to the largest negative entry", theta, 0.0, 1.0)?;
                    }
                }
            }
        }
        self.smoother.check()?;
        within("direct_rows", self.direct_rows as f64, 1.0, MAX_DIRECT_ROWS as f64)?;
        within("max_levels", self.max_levels as f64, 1.0, 1000.0)
    }
}

fn unknown(option: &'static str, word: &str, expected: &'static str) -> AmgError {
    AmgError::UnknownOption { option, word: word.chars().take(40).collect(), expected }
}

impl FromStr for Coarsening {
    type Err = AmgError;

    /// `pairwise`, `pairwise-strict`, `independent-sets` (symmetric strength 0.08),
    /// `independent-sets-negative` (0.5 of the largest negative entry) or `smoothed` (aggregation by 0.25 of
    /// it).
    fn from_str(word: &str) -> Result<Self, AmgError> {
        match word {
            "pairwise" => Ok(Self::PAIRWISE),
            "pairwise-strict" => Ok(Self::PAIRWISE_STRICT),
            "independent-sets" => Ok(Self::IndependentSets { strength: Strength::Symmetric(0.08) }),
            "independent-sets-negative" => {
                Ok(Self::IndependentSets { strength: Strength::NegativeMaximum(0.5) })
            }
            "smoothed" => Ok(Self::SMOOTHED),
            _ => Err(unknown(
                "coarsening",
                word,
                "pairwise, pairwise-strict, independent-sets, independent-sets-negative or smoothed",
            )),
        }
    }
}

impl FromStr for Smoother {
    type Err = AmgError;

    /// `jacobi`, `l1-jacobi` (two sweeps), `chebyshev` or `chebyshev-4` (degree 2).
    fn from_str(word: &str) -> Result<Self, AmgError> {
        match word {
            "jacobi" => Ok(Self::Jacobi { sweeps: 2 }),
            "l1-jacobi" => Ok(Self::L1Jacobi { sweeps: 2 }),
            "chebyshev" => Ok(Self::CHEBYSHEV),
            "chebyshev-4" | "chebyshev4" => Ok(Self::ChebyshevFourth { degree: 2 }),
            _ => Err(unknown("smoother", word, "jacobi, l1-jacobi, chebyshev or chebyshev-4")),
        }
    }
}

impl FromStr for Cycle {
    type Err = AmgError;

    /// `v`, `w`, `k` (as many levels as are worthwhile) or `k2` (the two finest, and so on).
    fn from_str(word: &str) -> Result<Self, AmgError> {
        match word {
            "v" => Ok(Self::V),
            "w" => Ok(Self::W),
            "k" => Ok(Self::K { levels: usize::MAX }),
            _ => match word.strip_prefix('k').and_then(|levels| levels.parse().ok()) {
                Some(levels) => Ok(Self::K { levels }),
                None => Err(unknown("cycle", word, "v, w, k, or k with a number of levels")),
            },
        }
    }
}

impl fmt::Display for Cycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::V => f.write_str("v"),
            Self::W => f.write_str("w"),
            Self::K { levels: usize::MAX } => f.write_str("k"),
            Self::K { levels } => write!(f, "k{levels}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_and_others_named() {
        assert_eq!("k2".parse::<Cycle>().unwrap(), Cycle::K { levels: 2 });
        for cycle in [Cycle::V, Cycle::W, Cycle::K { levels: usize::MAX }, Cycle::K { levels: 3 }] {
            assert_eq!(cycle.to_string().parse::<Cycle>().unwrap(), cycle);
        }
        let refused = "f".parse::<Cycle>().unwrap_err().to_string();
        assert_eq!(refused, "unknown cycle 'f', expected v, w, k, or k with a number of levels");
        assert!(matches!("sor".parse::<Smoother>(), Err(AmgError::UnknownOption { option: "smoother", .. })));
        assert!("falgout".parse::<Coarsening>().is_err());
        assert_eq!("pairwise".parse::<Coarsening>().unwrap(), AmgOptions::default().coarsening);
    }

    #[test]
    fn numbers_without_a_meaning_are_refused() {
        let good = AmgOptions::default();
        good.check().unwrap();
        let refused = |options: AmgOptions| match options.check() {
            Err(AmgError::OptionOutOfRange { option, .. }) => option,
            other => panic!("{other:?}"),
        };
        let coarsening = Coarsening::Pairwise { passes: 4, quality: 8.0 };
        assert_eq!(refused(AmgOptions { coarsening, ..good }), "passes");
        let coarsening = Coarsening::Pairwise { passes: 2, quality: f64::NAN };
        assert_eq!(refused(AmgOptions { coarsening, ..good }), "quality");
        let smoother = Smoother::Chebyshev { degree: 2, ratio: 1.0 };
        assert_eq!(refused(AmgOptions { smoother, ..good }), "ratio");
        assert_eq!(refused(AmgOptions { smoother: Smoother::Jacobi { sweeps: 0 }, ..good }), "sweeps");
        assert_eq!(refused(AmgOptions { direct_rows: 0, ..good }), "direct_rows");
    }
}

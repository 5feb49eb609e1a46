//! The catalogue of explicit Runge–Kutta schemes.

mod butcher;
mod embedded;
mod stability;
mod tables;

use std::fmt;
use std::str::FromStr;

use butcher::Symbols;
pub use butcher::Tableau;
pub use tables::{Base, Mean, Row};

use crate::TimeError;

/// Makes the catalogue of rows
/// `Variant "word": order, SSP coefficient, limits of stability on the real and the imaginary axis, stages`.
macro_rules! schemes {
    (
        { $(#[$of_all:meta])* }
        $(
            #[doc = $text:literal]
            $variant:ident $word:literal: order $order:literal, ssp $ssp:expr, limits ($real:literal, $imaginary:literal),
            $rows:expr;
        )*
    ) => {
        $(#[$of_all])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Scheme {
            $(#[doc = $text] $variant,)*
        }

        impl Scheme {
            /// Every scheme.
            pub const ALL: [Self; [$($word),*].len()] = [$(Self::$variant),*];

            /// The word in pipeline files.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                }
            }

            /// Order of accuracy.
            pub fn order(self) -> usize {
                match self {
                    $(Self::$variant => $order,)*
                }
            }

            /// The SSP coefficient: the largest multiple of the forward Euler step for which the scheme
            /// preserves strong stability (total variation, positivity); `None` for schemes without such a
            /// step, for which the coefficient is zero, or not known.
            pub fn ssp_coefficient(self) -> Option<f64> {
                match self {
                    $(Self::$variant => $ssp,)*
                }
            }

            /// The stability limit on the negative real axis: the largest `x` for which `|R(−y)| ≤ 1` for all
            /// `0 ≤ y ≤ x`.
            pub fn real_limit(self) -> f64 {
                match self {
                    $(Self::$variant => $real,)*
                }
            }

            /// The stability limit on the imaginary axis: the largest `y` for which `|R(iω)| ≤ 1` for all
            /// `0 ≤ ω ≤ y`. Zero for schemes of two stages, which amplify a wave by `1 + (ω dt)⁴ / 8` in each
            /// step.
            pub fn imaginary_limit(self) -> f64 {
                match self {
                    $(Self::$variant => $imaginary,)*
                }
            }

            /// The stages, as rows of factors.
            pub fn rows(self) -> &'static [Row] {
                match self {
                    $(Self::$variant => &$rows,)*
                }
            }
        }
    };
}

schemes! {
    {
    /// An explicit Runge–Kutta scheme.
    ///
    /// | scheme | word | stages | order | vectors | source |
    /// |---|---|---|---|---|---|
    /// | [`Midpoint`](Self::Midpoint) | `rk2` | 2 | 2 | 4 | Runge (1895) |
    /// | [`Heun`](Self::Heun) | `heun` | 2 | 2 | 3 | Heun (1900), as 2N |
    /// | [`Rk4`](Self::Rk4) | `rk4` | 4 | 4 | 5 | Kutta (1901) |
    /// | [`SspRk22`](Self::SspRk22) | `ssprk22` | 2 | 2 | 4 | Shu and Osher (1988) |
    /// | [`SspRk33`](Self::SspRk33) | `ssprk33` | 3 | 3 | 4 | Shu and Osher (1988) |
    /// | [`SspRk43`](Self::SspRk43) | `ssprk43` | 4 | 3 | 4 | Kraaijevanger (1991) |
    /// | [`SspRk54`](Self::SspRk54) | `ssprk54` | 5 | 4 | 5 | Spiteri and Ruuth (2002) |
    /// | [`SspRk104`](Self::SspRk104) | `ssprk104` | 10 | 4 | 5 | Ketcheson (2008) |
    /// | [`Lserk54`](Self::Lserk54) | `lserk54` | 5 | 4 | 3 | Carpenter and Kennedy (1994) |
    /// | [`Rdpk35`](Self::Rdpk35) | `rdpk35` | 5 | 3 (2) | 7 | Ranocha, Dalcin, Parsani and Ketcheson (2022) |
    ///
    /// "Vectors" includes the state. [`Lserk54`](Self::Lserk54) needs the fewest and allows nearly the
    /// largest step per evaluation. Use it unless there is a reason against it.
    ///
    /// [`Rdpk35`](Self::Rdpk35) has an embedded solution of order 2, from which an
    /// [`Adaptive`](crate::Adaptive) control computes the step. Its stable step on spectra of upwind
    /// discontinuous Galerkin operators is 1.21 times that of [`Lserk54`](Self::Lserk54) at degree 1, 1.12
    /// times at degree 3, 1.06 times from degree 5 on (`data/pairs.py`). The stable step of the pair of
    /// Kennedy, Carpenter and Lewis (2000), RK4(3)5[2R+]C, is not larger than that of
    /// [`Lserk54`](Self::Lserk54). The nine-stage pair of order 4(3) by Ranocha et al. allows up to 1.07
    /// times the step per stage, but stores one more vector for each of nine stages, or reads and writes an
    /// error vector in each.
    }
    /// The explicit midpoint rule.
    Midpoint "rk2": order 2, ssp None, limits (2.0, 0.0), tables::MIDPOINT;
    /// Heun's method (the explicit trapezoidal rule) in 2N form: [`SspRk22`](Self::SspRk22) up to rounding.
    Heun "heun": order 2, ssp Some(1.0), limits (2.0, 0.0), tables::HEUN;
    /// The classical scheme of order four.
    Rk4 "rk4": order 4, ssp None, limits (2.785_293_563, 2.828_427_125), tables::RK4;
    /// Strong-stability preserving, two stages, order two.
    SspRk22 "ssprk22": order 2, ssp Some(1.0), limits (2.0, 0.0), tables::SSPRK22;
    /// Strong-stability preserving, three stages, order three.
    SspRk33 "ssprk33": order 3, ssp Some(1.0), limits (2.512_745_327, 1.732_050_808), tables::SSPRK33;
    /// Strong-stability preserving, four stages, order three.
    SspRk43 "ssprk43": order 3, ssp Some(2.0), limits (5.149_486_148, 2.156_179_640), tables::SSPRK43;
    /// Strong-stability preserving, five stages, order four.
    SspRk54 "ssprk54": order 4, ssp Some(1.508_180_049_189_83), limits (5.331_472_640, 3.278_355_597), tables::SSPRK54;
    /// Strong-stability preserving, ten stages, order four.
    SspRk104 "ssprk104": order 4, ssp Some(6.0), limits (13.917_047_465, 4.921_453_071), tables::SSPRK104;
    /// Low storage (2N), five stages, order four.
    Lserk54 "lserk54": order 4, ssp None, limits (4.656_757_066, 3.340_717_986), tables::LSERK54;
    /// Low storage (3S*), five stages, order three, with an embedded solution of order two.
    Rdpk35 "rdpk35": order 3, ssp None, limits (4.928_285_519, 2.739_335_108), embedded::RDPK35;
}

impl Scheme {
    /// Number of stages: evaluations of the right-hand side per step.
    pub fn n_stages(self) -> usize {
        self.rows().len()
    }

    /// Number of vectors that a step needs, including the state.
    pub fn n_vectors(self) -> usize {
        let rows = self.rows();
        let based = rows.iter().any(|row| row.base != Base::None);
        let summed = rows.iter().any(|row| row.sum.is_some());
        let means = rows.iter().filter(|row| row.mean.is_some()).count();
        3 + usize::from(based) + usize::from(summed) + means
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Scheme {
    type Err = TimeError;

    fn from_str(word: &str) -> Result<Self, TimeError> {
        Self::ALL
            .into_iter()
            .find(|scheme| scheme.name() == word)
            .ok_or_else(|| TimeError::UnknownScheme { word: word.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_read_back_and_the_error_lists_them_all() {
        let message = "rk5".parse::<Scheme>().unwrap_err().to_string();
        for scheme in Scheme::ALL {
            assert_eq!(scheme.name().parse::<Scheme>().unwrap(), scheme);
            assert!(message.contains(scheme.name()), "{message}");
        }
    }

    #[test]
    fn stages_and_vectors_are_those_of_the_table() {
        let counts = Scheme::ALL.map(|s| (s.n_stages(), s.order(), s.n_vectors()));
        let expected = [
            (2, 2, 4),
            (2, 2, 3),
            (4, 4, 5),
            (2, 2, 4),
            (3, 3, 4),
            (4, 3, 4),
            (5, 4, 5),
            (10, 4, 5),
            (5, 4, 3),
            (5, 3, 7),
        ];
        assert_eq!(counts, expected);
    }

    /// The coefficient is the smallest ratio α/β of the convex form: each stage is then a mean of Euler
    /// steps.
    #[test]
    fn ssp_coefficients_are_the_least_ratio_of_the_convex_form() {
        let ratio = |scheme: Scheme| {
            let rows = scheme.rows();
            rows.iter()
                .map(|r| if r.base == Base::Sum { 1.0 - r.b } else { (1.0 - r.b).max(0.0) } / r.c)
                .fold(f64::INFINITY, f64::min)
        };
        assert_eq!(ratio(Scheme::SspRk22), 1.0);
        assert!((ratio(Scheme::SspRk33) - 1.0).abs() < 1e-15);
        assert!((ratio(Scheme::SspRk43) - 2.0).abs() < 1e-15);
        assert!((ratio(Scheme::SspRk104) - 6.0).abs() < 1e-14);
        let spiteri_ruuth = Scheme::SspRk54.ssp_coefficient().unwrap();
        assert!((ratio(Scheme::SspRk54) - spiteri_ruuth).abs() < 1e-12);
        // The running sums contain an Euler step of their own, with the same smallest ratio.
        let fourth = Scheme::SspRk54.rows()[3].sum.unwrap();
        assert!((fourth.q / fourth.d - spiteri_ruuth).abs() < 1e-12);
        let fifth = Scheme::SspRk104.rows()[4].sum.unwrap();
        assert!((fifth.q / fifth.d - 6.0).abs() < 1e-14);
    }
}

//! Conditions of scalars that incompressible flow carries.

use super::Boundary;
use crate::incompressible::{Transport, VelocityFirst, WithScalars};
use crate::law::Law;
use crate::real::{Real, array, dot};

/// Convection of scalars across a boundary, for [`Transport`] with scalars in the place of `ũ`:
///
/// ```text
/// with a given velocity ḡ:   ū⁺ = 2ḡ − ū⁻,  enters where n·ḡ < 0
/// otherwise:                 ū⁺ = ū⁻,        enters where n·ū⁻ < 0
/// ũ⁺ = data where the fluid enters, and it brings values;   ũ⁺ = ũ⁻ elsewhere
/// ```
///
/// The mean velocity on the boundary is then the given one: through a wall at rest nothing is carried. The
/// data is `(ũ, ḡ)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CarriedIn {
    /// Whether the velocity is given.
    pub velocity: bool,
    /// Whether fluid that enters brings given values.
    pub values: bool,
}

impl<const D: usize, const N: usize> Boundary<Transport, D, N> for CarriedIn
where
    Transport: Law<D, N>,
{
    const NAME: &'static str = "carried-in";
    const USES_DATA: bool = true;

    #[inline(always)]
    fn outer<R: Real>(&self, _law: &Transport, um: &[R; N], n: &[R; D], data: &[R; N]) -> [R; N] {
        let by = if self.velocity { data } else { um };
        let enters = dot(&Transport::velocity(by, 1), n).lt(R::lit(0.0));
        array!(N, |k| if k >= D {
            if self.velocity { R::lit(2.0).mul_add(data[k], -um[k]) } else { um[k] }
        } else if self.values {
            R::select(enters, data[k], um[k])
        } else {
            um[k]
        })
    }
}

/// The mean of both sides has the given scalars and, if it is given, the velocity: `w⁺ = 2g − w⁻`; all other
/// entries of the state are those of the inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GivenScalars<const S: usize> {
    /// Whether the velocity is given.
    pub velocity: bool,
    /// Which scalars are given.
    pub scalars: [bool; S],
}

impl<const S: usize, const D: usize, const N: usize> Boundary<WithScalars<S>, D, N> for GivenScalars<S>
where
    WithScalars<S>: Law<D, N>,
{
    const NAME: &'static str = "given-scalars";
    const USES_DATA: bool = true;

    #[inline(always)]
    fn outer<R: Real>(&self, _law: &WithScalars<S>, um: &[R; N], _n: &[R; D], data: &[R; N]) -> [R; N] {
        array!(N, |k| {
            let given = if k > D { self.scalars[k - D - 1] } else { self.velocity && k < D };
            if given { R::lit(2.0).mul_add(data[k], -um[k]) } else { um[k] }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flux::NumericalFlux;
    use crate::incompressible::TransportFlux;

    #[test]
    fn nothing_is_carried_through_a_wall_at_rest() {
        let law = Transport { factor: 1.0 };
        let (um, n) = ([3.0, 1.0, 0.2, -0.1], [0.6, 0.8]);
        let up = CarriedIn { velocity: true, values: true }.outer(&law, &um, &n, &[9.0, 1.0, 0.0, 0.0]);
        assert_eq!(TransportFlux.eval(&law, &um, &up, &n), [0.0; 4]);
    }

    #[test]
    fn fluid_that_enters_brings_its_values() {
        let law = Transport { factor: 1.0 };
        let n = [1.0, 0.0];
        let data = [9.0, 1.0, -2.0, 0.0];
        let of = |by: f64, condition: CarriedIn| {
            let um = [3.0, 1.0, by, 0.5];
            TransportFlux.eval(&law, &um, &condition.outer(&law, &um, &n, &data), &n)
        };
        let given = CarriedIn { velocity: true, values: true };
        assert_eq!(of(-2.0, given)[..2], [-18.0, -2.0]);
        let open = CarriedIn { velocity: false, values: true };
        assert_eq!((of(-2.0, open)[0], of(2.0, open)[0]), (-18.0, 6.0));
        assert_eq!(of(-2.0, CarriedIn { values: false, ..open })[0], -6.0);
    }
}

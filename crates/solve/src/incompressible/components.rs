//! A vector field as one vector: all components of the velocity in one linear system.

use dgsuite_amg::{KrylovPart, KrylovVector};
use dgsuite_gpu::{GpuError, Vector};

/// The components of a vector field, vectors of equal length, as one [`Vector`]: sums and norms run over all
/// components.
pub(super) struct Components<V>(pub(super) Vec<V>);

impl<V: Vector> Components<V> {
    /// The pairs of components of two fields, for [`Vector::dots`].
    pub(super) fn paired<'a>(a: &'a Self, b: &'a Self) -> Vec<(&'a V, &'a V)> {
        a.0.iter().zip(&b.0).collect()
    }

    fn pairs<'a>(&'a mut self, x: &'a Self) -> impl Iterator<Item = (&'a mut V, &'a V)> {
        assert_eq!(self.0.len(), x.0.len(), "vector fields of the same dimension");
        self.0.iter_mut().zip(&x.0)
    }

    fn sum_of(&self, x: &Self, f: impl Fn(&V, &V) -> f64) -> f64 {
        assert_eq!(self.0.len(), x.0.len(), "vector fields of the same dimension");
        self.0.iter().zip(&x.0).map(|(a, b)| f(a, b)).sum()
    }
}

impl<V: Vector> Vector for Components<V> {
    type Scalar = V::Scalar;

    fn len(&self) -> usize {
        self.0.iter().map(Vector::len).sum()
    }

    fn zeros_like(&self) -> Result<Self, GpuError> {
        self.0.iter().map(Vector::zeros_like).collect::<Result<_, _>>().map(Self)
    }

    fn copy_from(&mut self, x: &Self) {
        self.pairs(x).for_each(|(a, b)| a.copy_from(b));
    }

    fn fill(&mut self, value: f64) {
        self.0.iter_mut().for_each(|a| a.fill(value));
    }

    fn axpby(&mut self, a: f64, x: &Self, b: f64) {
        V::axpby_each(&mut self.0, a, &x.0, b);
    }

    fn lincomb(&mut self, b: f64, terms: &[(f64, &Self)]) {
        let terms: Vec<(f64, &[V])> = terms.iter().map(|(factor, x)| (*factor, &x.0[..])).collect();
        V::lincomb_each(&mut self.0, b, &terms);
    }

    fn add_product(&mut self, a: f64, x: &Self, y: &Self, b: f64) {
        for ((own, x), y) in self.0.iter_mut().zip(&x.0).zip(&y.0) {
            own.add_product(a, x, y, b);
        }
    }

    fn dot(&self, x: &Self) -> f64 {
        self.sum_of(x, Vector::dot)
    }

    fn norm_max(&self) -> f64 {
        // `f64::max` would drop a NaN.
        self.0.iter().map(Vector::norm_max).fold(0.0, |m, x| if x.is_nan() || x > m { x } else { m })
    }

    fn sum(&self) -> f64 {
        self.0.iter().map(Vector::sum).sum()
    }
}

impl<V: KrylovPart> KrylovVector for Components<V> {
    type Part = V;

    fn parts(&self) -> &[V] {
        &self.0
    }

    fn parts_mut(&mut self) -> &mut [V] {
        &mut self.0
    }
}

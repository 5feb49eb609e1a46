//! Tables of functions of an element: its nodal basis, or fewer functions of the same space.

use super::tables::Tables;
use dgsuite_basis::Matrix;
use std::borrow::Cow;

/// Values and derivatives of functions at the cubature points of an element's volume and faces.
pub(super) struct Functions<'a> {
    /// `φ_i`, `[volume point][function]`.
    pub(super) value: Cow<'a, Matrix>,
    /// `∂φ_i/∂r_d`, `[d][volume point][function]`.
    pub(super) derivative: Vec<Cow<'a, Matrix>>,
    /// `φ_i`, `[face point][function]`.
    pub(super) trace: Cow<'a, Matrix>,
    /// `∂φ_i/∂r_d`, `[d][face point][function]`.
    pub(super) face_derivative: Vec<Cow<'a, Matrix>>,
}

impl<'a> Functions<'a> {
    /// The nodal basis.
    pub(super) fn nodal(tables: &'a Tables) -> Self {
        let (reference, dim) = (&tables.reference, tables.reference.spec.shape.dim());
        Self {
            value: Cow::Borrowed(&reference.interp_volume),
            derivative: reference.derivative[..dim].iter().map(Cow::Borrowed).collect(),
            trace: Cow::Borrowed(&reference.interp_face),
            face_derivative: tables.face_derivative[..dim].iter().map(Cow::Borrowed).collect(),
        }
    }

    /// The combinations `Σ_i φ_i c_ij` of these functions.
    pub(super) fn combined(&self, c: &Matrix) -> Functions<'static> {
        let product = |m: &Cow<'_, Matrix>| Cow::Owned(m.mul(c));
        Functions {
            value: product(&self.value),
            derivative: self.derivative.iter().map(product).collect(),
            trace: product(&self.trace),
            face_derivative: self.face_derivative.iter().map(product).collect(),
        }
    }

    /// Number of functions.
    pub(super) fn len(&self) -> usize {
        self.value.cols()
    }

    /// `[point][function]` physical normal derivatives `Σ_d b_d ∂φ/∂r_d` at the face points from `first` on.
    pub(super) fn slopes(&self, first: usize, conormals: impl IntoIterator<Item = [f64; 3]>) -> Vec<f64> {
        let conormals = conormals.into_iter();
        let mut out = Vec::with_capacity(conormals.size_hint().0 * self.len());
        for (q, b) in conormals.enumerate() {
            let start = out.len();
            out.resize(start + self.len(), 0.0);
            for (derivative, b) in self.face_derivative.iter().zip(b) {
                for (out, derivative) in out[start..].iter_mut().zip(derivative.row(first + q)) {
                    *out += b * derivative;
                }
            }
        }
        out
    }
}

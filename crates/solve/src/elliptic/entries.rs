//! Maps between vectors of operators: with and without padding, in double and single precision.

use dgsuite_amg::{Csr, Preconditioner};
use dgsuite_gpu::{Host, HostVector, Scalar, Vector as _};
use dgsuite_ops::PackScalar;
use dgsuite_ops::elliptic::{CompressedRows, Sipdg};

use super::EllipticError;

type Vector<T> = HostVector<T>;

/// Marks an entry of a vector that is not an unknown.
const NOWHERE: u32 = u32::MAX;

/// The positions of unknowns in vectors that have further entries.
pub(super) struct Unknowns {
    /// The entry of each unknown.
    entries: Vec<u32>,
    /// The unknown of each entry, or [`NOWHERE`].
    place: Vec<u32>,
}

impl Unknowns {
    fn of<T: PackScalar>(operator: &Sipdg<T>) -> Self {
        let entries = operator.unknowns();
        let mut place = vec![NOWHERE; operator.len()];
        for (k, &i) in entries.iter().enumerate() {
            place[i as usize] = k as u32;
        }
        Self { entries, place }
    }
}

/// Returns the assembled matrix of the unknowns alone, and their positions; `None` if the vectors contain
/// only unknowns in the same order.
pub(super) fn compact<T: PackScalar>(
    operator: &Sipdg<T>,
) -> Result<(Csr<f64>, Option<Unknowns>), EllipticError> {
    let CompressedRows { entries, starts, columns, values } = operator.compressed_rows();
    let n = entries.len();
    let matrix = Csr::from_arrays(n, n, starts, columns, values)?;
    if n == operator.len() && entries.iter().zip(0..).all(|(&entry, row)| entry == row) {
        return Ok((matrix, None));
    }
    let mut place = vec![NOWHERE; operator.len()];
    for (k, &i) in entries.iter().enumerate() {
        place[i as usize] = k as u32;
    }
    Ok((matrix, Some(Unknowns { entries, place })))
}

/// `1 / a_ii`.
pub(super) fn inverse_diagonal<T: PackScalar>(operator: &Sipdg<T>) -> Result<Vec<T>, EllipticError> {
    let mut diagonal = operator.diagonal();
    for (row, entry) in diagonal.iter_mut().enumerate() {
        let value = entry.to_f64();
        if !(value > 0.0 && value.is_finite()) {
            return Err(dgsuite_amg::MatrixError::DiagonalNotPositive { row, value }.into());
        }
        *entry = T::from_f64(1.0 / value);
    }
    Ok(diagonal)
}

/// A preconditioner of the unknowns alone, for vectors that have further entries; these stay 0.
pub(super) struct Compact<T: Scalar> {
    inner: Box<dyn Preconditioner<Vector<T>> + Send>,
    unknowns: Option<Unknowns>,
    r: Vector<T>,
    z: Vector<T>,
}

impl<T: Scalar> Compact<T> {
    pub(super) fn new(
        inner: Box<dyn Preconditioner<Vector<T>> + Send>,
        unknowns: Option<Unknowns>,
        host: &Host,
    ) -> Result<Self, EllipticError> {
        let n = unknowns.as_ref().map_or(0, |unknowns| unknowns.entries.len());
        Ok(Self { inner, unknowns, r: Vector::zeros(host, n)?, z: Vector::zeros(host, n)? })
    }
}

impl<T: Scalar> Preconditioner<Vector<T>> for Compact<T> {
    fn apply(&mut self, r: &Vector<T>, z: &mut Vector<T>) {
        let Some(unknowns) = &self.unknowns else { return self.inner.apply(r, z) };
        gather(&mut self.r, &unknowns.entries, |i| r[i]);
        self.inner.apply(&self.r, &mut self.z);
        gather(z, &unknowns.place, |k| self.z[k]);
    }
}

/// `to[i] = of(places[i])`; 0 for entries without a place.
fn gather<T: Scalar>(to: &mut Vector<T>, places: &[u32], of: impl Fn(usize) -> T + Sync + Send) {
    to.for_each_piece(|first, piece| {
        for (to, &place) in piece.iter_mut().zip(&places[first..]) {
            *to = if place == NOWHERE { T::ZERO } else { of(place as usize) };
        }
    });
}

/// A preconditioner in single precision inside a solve in double precision. Its operator stores twice as many
/// elements in a block, so vectors are reordered on the way in and out. Residuals are scaled to a largest
/// entry of 1, so that they neither overflow nor underflow.
pub(super) struct Reordered<M> {
    inner: M,
    r: Vector<f32>,
    z: Vector<f32>,
    /// The entry in double precision of each entry in single precision.
    inwards: Vec<u32>,
    /// The entry in single precision of each entry in double precision.
    outwards: Vec<u32>,
}

impl<M: Preconditioner<Vector<f32>>> Reordered<M> {
    pub(super) fn new(
        double: &Sipdg<f64>,
        single: &Sipdg<f32>,
        inner: M,
        host: &Host,
    ) -> Result<Self, EllipticError> {
        let (d, s) = (Unknowns::of(double), Unknowns::of(single));
        let through = |from: &Unknowns, to: &Unknowns| -> Vec<u32> {
            let entry = |&k: &u32| if k == NOWHERE { NOWHERE } else { to.entries[k as usize] };
            from.place.iter().map(entry).collect()
        };
        let n = single.len();
        Ok(Self {
            inner,
            r: Vector::zeros(host, n)?,
            z: Vector::zeros(host, n)?,
            inwards: through(&s, &d),
            outwards: through(&d, &s),
        })
    }

    /// Bytes of vectors and maps.
    pub(super) fn bytes(&self) -> usize {
        8 * self.r.len() + 4 * (self.inwards.len() + self.outwards.len())
    }
}

impl<M: Preconditioner<Vector<f32>>> Preconditioner<Vector<f64>> for Reordered<M> {
    fn apply(&mut self, r: &Vector<f64>, z: &mut Vector<f64>) {
        let size = r.norm_max();
        if size == 0.0 {
            z.fill(0.0);
            return;
        }
        let scale = 1.0 / size;
        gather(&mut self.r, &self.inwards, |i| (scale * r[i]) as f32);
        self.inner.apply(&self.r, &mut self.z);
        let inner = &self.z;
        gather(z, &self.outwards, |k| size * f64::from(inner[k]));
    }
}

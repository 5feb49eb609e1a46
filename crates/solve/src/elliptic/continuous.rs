//! The coarse space of continuous functions: its prolongation to p-multigrid, and its matrix.

use dgsuite_amg::Csr;
use dgsuite_gpu::{Host, Scalar};
use dgsuite_ops::PackScalar;
use dgsuite_ops::elliptic::{CompressedRows, Sipdg, VertexInterpolation};

use super::EllipticError;

/// The continuous functions in the space of an operator, one for each vertex.
pub(super) struct ContinuousSpace {
    /// `Pᵀ A P`.
    pub(super) matrix: Csr<f64>,
    interpolation: VertexInterpolation,
}

impl ContinuousSpace {
    pub(super) fn of<T: PackScalar>(operator: &Sipdg<T>, host: &Host) -> Result<Self, EllipticError> {
        let interpolation = operator.vertex_interpolation();
        let CompressedRows { entries, starts, columns, values } = operator.compressed_rows();
        let n = entries.len();
        let a = Csr::from_arrays(n, n, starts, columns, values)?;
        let VertexInterpolation { n_vertices, starts, columns, values } = &interpolation;
        let (mut own_columns, mut own_values) =
            (Vec::with_capacity(columns.len()), Vec::with_capacity(values.len()));
        let mut own = Vec::with_capacity(n + 1);
        own.push(0);
        for &entry in &entries {
            let row = starts[entry as usize]..starts[entry as usize + 1];
            own_columns.extend_from_slice(&columns[row.clone()]);
            own_values.extend_from_slice(&values[row]);
            own.push(own_columns.len());
        }
        let p = Csr::from_arrays(n, *n_vertices, own, own_columns, own_values)?;
        Ok(Self { matrix: a.galerkin(host, &p)?, interpolation })
    }

    /// Returns P. Its row for the entry i of the operator's vectors is `row_of[i]`, or i if `row_of` is
    /// `None`.
    pub(super) fn prolongation<T: Scalar>(&self, row_of: Option<&[u32]>) -> Result<Csr<T>, EllipticError> {
        let VertexInterpolation { n_vertices, starts, columns, values } = &self.interpolation;
        let n = starts.len() - 1;
        let number = |v: &f64| T::from_f64(*v);
        let Some(row_of) = row_of else {
            let values = values.iter().map(number).collect();
            return Ok(Csr::from_arrays(n, *n_vertices, starts.clone(), columns.clone(), values)?);
        };
        let mut entry_of = vec![0; n];
        for (entry, &row) in row_of.iter().enumerate() {
            entry_of[row as usize] = entry;
        }
        let (mut to, mut own_columns, mut own_values) =
            (Vec::with_capacity(n + 1), Vec::with_capacity(columns.len()), Vec::with_capacity(values.len()));
        to.push(0);
        for entry in entry_of {
            let range = starts[entry]..starts[entry + 1];
            own_columns.extend_from_slice(&columns[range.clone()]);
            own_values.extend(values[range].iter().map(number));
            to.push(own_columns.len());
        }
        Ok(Csr::from_arrays(n, *n_vertices, to, own_columns, own_values)?)
    }
}

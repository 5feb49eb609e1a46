//! The prolongation of an element from order one, and its projection.

use super::dense;

/// The prolongation of one field on a shape, `[fine basis function][coarse basis function]`, and the L²
/// projection that is its inverse on what it prolongates, `[coarse][fine]`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Between {
    pub(super) fine: usize,
    pub(super) coarse: usize,
    pub(super) up: Vec<f64>,
    pub(super) down: Vec<f64>,
}

impl Between {
    /// From the prolongation `P` and the coefficients `C` of orthonormal functions, `[fine][function]`, so
    /// that the mass is `M = (C Cᵀ)⁻¹`: the projection is `(PᵀMP)⁻¹ PᵀM`. Without orthonormal functions `M`
    /// is the unit matrix. `None` if the columns of the prolongation depend on each other.
    pub(super) fn new(up: Vec<f64>, coarse: usize, modes: Option<&[f64]>) -> Option<Self> {
        let fine = up.len() / coarse;
        let mut mass = vec![0.0; fine * fine];
        match modes.filter(|modes| modes.len() == fine * fine) {
            None => (0..fine).for_each(|i| mass[i * fine + i] = 1.0),
            Some(modes) => {
                for (i, a) in modes.chunks_exact(fine).enumerate() {
                    for (j, b) in modes.chunks_exact(fine).enumerate() {
                        mass[i * fine + j] = a.iter().zip(b).map(|(a, b)| a * b).sum();
                    }
                }
                if !dense::invert(&mut mass, fine) {
                    return None;
                }
            }
        }
        let mut down = vec![0.0; coarse * fine];
        for (row, mass) in up.chunks_exact(coarse).zip(mass.chunks_exact(fine)) {
            for (i, up) in row.iter().enumerate() {
                down[i * fine..(i + 1) * fine].iter_mut().zip(mass).for_each(|(d, m)| *d += up * m);
            }
        }
        let mut gram = vec![0.0; coarse * coarse];
        dense::subtract_product(&down, &up, coarse, fine, &mut gram);
        gram.iter_mut().for_each(|x| *x = -*x);
        if !dense::invert(&mut gram, coarse) {
            return None;
        }
        let mut scaled = vec![0.0; coarse * fine];
        dense::subtract_product(&gram, &down, coarse, coarse, &mut scaled);
        scaled.iter_mut().for_each(|x| *x = -*x);
        Some(Self { fine, coarse, up, down: scaled })
    }
}

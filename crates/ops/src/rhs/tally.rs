//! Rates of the integrals due to the fluxes through the boundary, face by face: sums over faces that do not
//! depend on the parts of a mesh need them one by one.

/// The rates `−∮ f* dS` over each face of the boundary, and their sums.
pub(crate) struct Tally {
    /// `[face][field]`, boundary after boundary.
    faces: Vec<f64>,
    total: Vec<f64>,
}

impl Tally {
    pub(crate) fn new(faces: usize, fields: usize) -> Self {
        Self { faces: vec![0.0; faces * fields], total: vec![0.0; fields] }
    }

    pub(crate) fn clear(&mut self) {
        self.faces.fill(0.0);
    }

    /// Adds the fluxes `[point][field]` at the points of the faces from `face` on, with the sign of their
    /// weights. `first` has the first point of each of these faces, then the number of points.
    pub(crate) fn add(
        &mut self,
        face: usize,
        first: &[usize],
        weights: impl Iterator<Item = f64>,
        flux: impl Iterator<Item = f64>,
    ) {
        let fields = self.total.len();
        let (mut weights, mut flux) = (weights, flux);
        let faces = self.faces[face * fields..].chunks_exact_mut(fields);
        for (own, points) in faces.zip(first.windows(2)) {
            for weight in weights.by_ref().take(points[1] - points[0]) {
                own.iter_mut().zip(flux.by_ref()).for_each(|(sum, flux)| *sum += weight * flux);
            }
        }
    }

    /// Sums the faces.
    pub(crate) fn sum(&mut self) {
        let fields = self.total.len();
        self.total.fill(0.0);
        for face in self.faces.chunks_exact(fields) {
            self.total.iter_mut().zip(face).for_each(|(sum, own)| *sum += own);
        }
    }

    pub(crate) fn total(&self) -> &[f64] {
        &self.total
    }

    pub(crate) fn faces(&self) -> &[f64] {
        &self.faces
    }
}

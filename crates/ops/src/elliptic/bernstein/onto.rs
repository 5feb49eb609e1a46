//! Which faces the coefficients of an element lie on.

/// Coefficients by how many faces they lie on, and what stands at the faces for them.
pub(super) struct OntoFaces {
    /// Those on `m` faces are `rows[first[m]..first[m + 1]]`.
    first: [usize; 6],
    rows: Vec<u32>,
    /// One behind the other: the first scalar at the face, `[k][face]`, and the face.
    sides: Vec<[u32; 2]>,
}

impl OntoFaces {
    /// From the coefficient of each `[face][k]`, of `count` coefficients. The first of each face stands in row `begin`.
    pub(super) fn new(
        of_face: &[u32],
        (n_face, n_faces): (usize, usize),
        count: usize,
        begin: usize,
        lanes: usize,
    ) -> Self {
        let mut on = vec![Vec::new(); count];
        for (i, &row) in of_face.iter().enumerate() {
            let (f, k) = (i / n_face, i % n_face);
            on[row as usize].push([(((begin + k) * n_faces + f) * lanes) as u32, f as u32]);
        }
        let mut out = Self { first: [0; 6], rows: Vec::new(), sides: Vec::new() };
        for m in 0..5 {
            for (row, sides) in on.iter().enumerate().filter(|(_, sides)| sides.len() == m) {
                out.rows.push(row as u32);
                out.sides.extend(sides);
            }
            out.first[m + 1] = out.rows.len();
        }
        out
    }

    /// Coefficients on `M` faces: `of` is given each, and the scalars and faces where it lies.
    #[inline(always)]
    pub(super) fn each<const M: usize>(&self, mut of: impl FnMut(usize, &[[u32; 2]; M])) {
        let before: usize = (0..M).map(|m| m * (self.first[m + 1] - self.first[m])).sum();
        let rows = &self.rows[self.first[M]..self.first[M + 1]];
        let mut sides = &self.sides[before..];
        for &row in rows {
            let Some((on, later)) = sides.split_first_chunk::<M>() else { return };
            of(row as usize, on);
            sides = later;
        }
    }
}

//! Index lists for adding face terms to the Bernstein coefficients of an element.

/// A run of coefficients with equal numbers of terms.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub(super) rows: usize,
    /// Number of values on faces, which are added.
    pub(super) plain: usize,
    /// Number of derivatives on faces, which are added with a factor.
    pub(super) factored: usize,
}

/// The terms of each coefficient. Places are offsets of rows of one block.
#[derive(Clone, Debug, Default)]
pub(super) struct Terms {
    pub(super) runs: Vec<Run>,
    /// Run by run and row by row: the place of the coefficient, then the places of its values on faces, then
    /// pairs of the places of a derivative and its factor.
    pub(super) places: Vec<u32>,
}

impl Terms {
    /// Builds the lists from the coefficient of each value `[face][k]` and the coefficients of which each
    /// derivative `[face][k]` consists, `[i]`. Rows at the faces are numbered `[k][face]`, derivatives after
    /// values; factors are numbered `[face][i]`.
    pub(super) fn new(
        values: &[usize],
        raised: &[usize],
        (count, n_face, n_faces): (usize, [usize; 2], usize),
        width: usize,
    ) -> Self {
        let mut plain = vec![Vec::new(); count];
        for (at, &row) in values.iter().enumerate() {
            let (f, k) = (at / n_face[0], at % n_face[0]);
            plain[row].push(k * n_faces + f);
        }
        let mut factored = vec![Vec::new(); count];
        for (at, &row) in raised.iter().enumerate() {
            let (i, side) = (at % n_faces, at / n_faces);
            let (f, k) = (side / n_face[1], side % n_face[1]);
            factored[row].push([(n_face[0] + k) * n_faces + f, f * n_faces + i]);
        }
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by_key(|&row| (plain[row].len(), factored[row].len()));
        let mut out = Self::default();
        for row in order {
            let counts = (plain[row].len(), factored[row].len());
            match out.runs.last_mut() {
                Some(run) if (run.plain, run.factored) == counts => run.rows += 1,
                _ => out.runs.push(Run { rows: 1, plain: counts.0, factored: counts.1 }),
            }
            let places = plain[row].iter().chain(factored[row].iter().flatten());
            out.places.extend([row].iter().chain(places).map(|&place| (place * width) as u32));
        }
        out
    }

    /// The number of terms.
    pub(super) fn len(&self) -> usize {
        self.runs.iter().map(|run| run.rows * (run.plain + run.factored)).sum()
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.runs[..]) + size_of_val(&self.places[..])
    }
}

//! Orbits of coefficients under reflections, and their sums and differences.
//!
//! If a matrix commutes with reflections, it maps sums of images to sums and differences to differences. With
//! the matrix `S` of these sums and differences, `m = Sᵀ m̂ S`, where `m̂` has entries within classes only: a
//! half of the entries for one reflection, a quarter for two.

use crate::lanes::panel::Rows;
use crate::lanes::simd::Pack;
use dgsuite_basis::Matrix;

/// Coordinates with a smaller difference are the same.
const SAME: f64 = 1e-9;

/// Entries smaller than this fraction of the largest are rounding errors.
const ROUNDING: f64 = 1e-10;

/// Orbits of one or two commuting reflections.
///
/// Sums and differences of the orbits are grouped in classes. Bit `k` of a class is set if reflection `k`
/// reverses the sign of its functions.
#[derive(Clone, Debug, Default)]
pub(super) struct Orbits {
    /// Start of each class.
    classes: Vec<usize>,
    /// `[item]`, and its `[place]`.
    ones: Vec<[[u32; 1]; 2]>,
    /// `[x, image]`, and the places of sum and difference.
    twos: Vec<[[u32; 2]; 2]>,
    /// `[x, first image, second image, image under both]`, and the places of their sums and differences in
    /// the same order.
    fours: Vec<[[u32; 4]; 2]>,
}

impl Orbits {
    /// Builds the orbits from the image of each item under each reflection.
    pub(super) fn new(images: &[Vec<usize>]) -> Option<Self> {
        let n = images.first()?.len();
        let mut found: Vec<(Vec<usize>, Vec<usize>)> = Vec::new();
        for first in 0..n {
            // Items, and the classes of their sums and differences.
            let mut orbit = vec![(first, 0)];
            for (k, image) in images.iter().enumerate() {
                for (x, class) in orbit.clone() {
                    if image[x] != x {
                        orbit.push((image[x], class + (1 << k)));
                    }
                }
            }
            if orbit.iter().all(|&(x, _)| x >= first) {
                let items: Vec<usize> = orbit.iter().map(|o| o.0).collect();
                let distinct = (1..items.len()).all(|i| !items[..i].contains(&items[i]));
                if !distinct || !items.len().is_power_of_two() {
                    return None;
                }
                found.push((items, orbit.iter().map(|o| o.1).collect()));
            }
        }
        let mut out = Self { classes: vec![0], ..Self::default() };
        let mut places: Vec<Vec<u32>> = found.iter().map(|(_, c)| vec![0; c.len()]).collect();
        let mut next = 0;
        for class in 0..1 << images.len() {
            for ((_, classes), places) in found.iter().zip(&mut places) {
                for (_, place) in classes.iter().zip(places).filter(|(c, _)| **c == class) {
                    *place = next as u32;
                    next += 1;
                }
            }
            out.classes.push(next);
        }
        for ((items, _), places) in found.iter().zip(&places) {
            let x = |i: usize| items[i] as u32;
            match items.len() {
                1 => out.ones.push([[x(0)], [places[0]]]),
                2 => out.twos.push([[x(0), x(1)], [places[0], places[1]]]),
                _ => out.fours.push([[x(0), x(1), x(2), x(3)], [places[0], places[1], places[2], places[3]]]),
            }
        }
        Some(out)
    }

    /// Orbits of points under the exchange of coordinates.
    pub(super) fn of_points(points: &[[f64; 4]], exchanges: &[[usize; 2]]) -> Option<Self> {
        let image = |x: &[f64; 4], [i, j]: [usize; 2]| {
            let mut y = *x;
            y.swap(i, j);
            points.iter().position(|z| (0..4).all(|k| (z[k] - y[k]).abs() < SAME))
        };
        let images = exchanges
            .iter()
            .map(|&e| points.iter().map(|x| image(x, e)).collect::<Option<Vec<_>>>())
            .collect::<Option<Vec<_>>>()?;
        Self::new(&images)
    }

    pub(super) fn len(&self) -> usize {
        self.classes.last().copied().unwrap_or(0)
    }

    /// The orbits, as lists of items and places.
    fn all(&self) -> impl Iterator<Item = (&[u32], &[u32])> {
        let ones = self.ones.iter().map(|[x, p]| (&x[..], &p[..]));
        let twos = self.twos.iter().map(|[x, p]| (&x[..], &p[..]));
        let fours = self.fours.iter().map(|[x, p]| (&x[..], &p[..]));
        ones.chain(twos).chain(fours)
    }

    /// The matrix S of the sums and differences, `[place][item]`, and the size of the orbit of each place.
    pub(super) fn matrix(&self) -> (Matrix, Vec<f64>) {
        let mut out = Matrix::zeros(self.len(), self.len());
        let mut sizes = vec![1.0; self.len()];
        for (items, places) in self.all() {
            for (i, &x) in items.iter().enumerate() {
                for (c, &place) in places.iter().enumerate() {
                    let sign = if (i & c).count_ones() % 2 == 0 { 1.0 } else { -1.0 };
                    out[(place as usize, x as usize)] = sign;
                    sizes[place as usize] = items.len() as f64;
                }
            }
        }
        (out, sizes)
    }

    /// `m̂` with `m = Sᵀ m̂ S`, where the rows of `m` have these orbits and its columns the orbits `columns`;
    /// `None` if `m` does not preserve classes.
    pub(super) fn reduce(&self, m: &Matrix, columns: &Self) -> Option<Matrix> {
        let (left, sizes) = self.matrix();
        let (right, sizes_right) = columns.matrix();
        let inverse = |s: &[f64]| s.iter().map(|x| 1.0 / x).collect::<Vec<_>>();
        let product = left
            .scale_rows(&inverse(&sizes))
            .mul(m)
            .mul(&right.transpose().scale_cols(&inverse(&sizes_right)));
        let largest = product.as_slice().iter().fold(0.0_f64, |a, x| a.max(x.abs()));
        let class = |o: &Self, i: usize| o.classes.partition_point(|&c| c <= i);
        for i in 0..product.rows() {
            for j in 0..product.cols() {
                if class(self, i) != class(columns, j) && product[(i, j)].abs() > ROUNDING * largest {
                    return None;
                }
            }
        }
        Some(product)
    }

    /// The entries within classes of a matrix of [`reduce`](Self::reduce), whose columns have these orbits
    /// and whose rows have the orbits `rows`.
    pub(super) fn rows(&self, m: &Matrix, rows: &Self) -> Rows {
        let mut out = Rows { cols: m.cols(), rows: Vec::new() };
        for (r, c) in rows.classes.windows(2).zip(self.classes.windows(2)) {
            out.rows.extend((r[0]..r[1]).map(|i| (c[0]..c[1]).map(|j| (j, m[(i, j)])).collect()));
        }
        out
    }

    /// Computes the sums and differences of all orbits, from items to places.
    #[inline(always)]
    pub(super) fn sums<V: Pack, const N: usize>(&self, from: &impl Read<V, N>, to: &impl Write<V, N>) {
        self.turn::<V, N, 0>(from, to);
    }

    /// The transpose of [`sums`](Self::sums), from places to items.
    #[inline(always)]
    pub(super) fn expand<V: Pack, const N: usize>(&self, from: &impl Read<V, N>, to: &impl Write<V, N>) {
        self.turn::<V, N, 1>(from, to);
    }

    #[inline(always)]
    fn turn<V: Pack, const N: usize, const FROM: usize>(
        &self,
        from: &impl Read<V, N>,
        to: &impl Write<V, N>,
    ) {
        // SAFETY (whole body): items and places are below the number of items.
        unsafe {
            for x in &self.ones {
                to.write(x[1 - FROM][0], from.read(x[FROM][0]));
            }
            for x in &self.twos {
                let (a, b) = (from.read(x[FROM][0]), from.read(x[FROM][1]));
                let (mut sum, mut difference) = (a, a);
                for k in 0..N {
                    (sum[k], difference[k]) = (a[k] + b[k], a[k] - b[k]);
                }
                to.write(x[1 - FROM][0], sum);
                to.write(x[1 - FROM][1], difference);
            }
            for x in &self.fours {
                let (a, b) = (from.read(x[FROM][0]), from.read(x[FROM][1]));
                let (c, d) = (from.read(x[FROM][2]), from.read(x[FROM][3]));
                let mut out = [a; 4];
                for k in 0..N {
                    let (even, odd) = (a[k] + b[k], a[k] - b[k]);
                    let (even_2, odd_2) = (c[k] + d[k], c[k] - d[k]);
                    (out[0][k], out[1][k]) = (even + even_2, odd + odd_2);
                    (out[2][k], out[3][k]) = (even - even_2, odd - odd_2);
                }
                for i in 0..4 {
                    to.write(x[1 - FROM][i], out[i]);
                }
            }
        }
    }
}

/// A source of `N` packs for each item.
pub(super) trait Read<V, const N: usize> {
    /// Loads the packs of item `i`.
    ///
    /// # Safety
    /// `i` is one of the items that the implementor's pointers cover.
    unsafe fn read(&self, i: u32) -> [V; N];
}

/// A destination of `N` packs for each item.
pub(super) trait Write<V, const N: usize> {
    /// Stores the packs of item `i`.
    ///
    /// # Safety
    /// `i` is one of the items that the implementor's pointers cover.
    unsafe fn write(&self, i: u32, x: [V; N]);
}

/// Consecutive rows of `N` packs.
pub(super) struct RowsOf<T>(pub(super) *mut T);

impl<V: Pack, const N: usize> Read<V, N> for RowsOf<V::T> {
    #[inline(always)]
    unsafe fn read(&self, i: u32) -> [V; N] {
        let mut out = [V::lit(0.0); N];
        for k in 0..N {
            // SAFETY: by the caller's contract.
            out[k] = unsafe { V::load(self.0.add((i as usize * N + k) * V::W)) };
        }
        out
    }
}

impl<V: Pack, const N: usize> Write<V, N> for RowsOf<V::T> {
    #[inline(always)]
    unsafe fn write(&self, i: u32, x: [V; N]) {
        for k in 0..N {
            // SAFETY: by the caller's contract.
            unsafe { x[k].store(self.0.add((i as usize * N + k) * V::W)) };
        }
    }
}

//! Thin elements of a mesh and the linelets that cross them, for plans, summaries and hints.

use std::sync::Arc;

use dgsuite_gpu::Host;
use dgsuite_mesh::Mesh;
use dgsuite_ops::PackScalar;
use dgsuite_ops::elliptic::{Linelets, Sipdg, SipdgOptions};

use super::shapes::{THIN, aspect_ratio};
use super::{EllipticError, EllipticKind};

/// A thin element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ThinElement {
    /// Its number in the mesh file.
    pub element: u64,
    /// The mean of its vertices.
    pub at: [f64; 3],
    /// Its [`aspect_ratio`].
    pub aspect_ratio: f64,
}

/// Elements of an aspect ratio above [`THIN`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ThinElements {
    /// Their number.
    pub count: usize,
    /// The thinnest of them.
    pub thinnest: Option<ThinElement>,
}

impl ThinElements {
    /// Counts those of a mesh.
    #[must_use]
    pub fn of(mesh: &Mesh) -> Self {
        Self::of_ratios(mesh, (0..mesh.n_elements()).map(|e| (e, aspect_ratio(mesh, e))))
    }

    /// Those of elements with these aspect ratios.
    fn of_ratios(mesh: &Mesh, ratios: impl Iterator<Item = (usize, f64)>) -> Self {
        let (mut count, mut thinnest) = (0, None);
        for (element, ratio) in ratios.filter(|(_, ratio)| *ratio > THIN) {
            count += 1;
            if thinnest.is_none_or(|(_, most)| ratio > most) {
                thinnest = Some((element, ratio));
            }
        }
        let thinnest = thinnest.map(|(element, aspect_ratio)| {
            let vertices = mesh.element_vertices(element);
            let mean = |d: usize| {
                vertices.iter().map(|&v| mesh.points[v as usize][d]).sum::<f64>() / vertices.len() as f64
            };
            let at = std::array::from_fn(mean);
            ThinElement { element: mesh.tag(element), at, aspect_ratio }
        });
        Self { count, thinnest }
    }
}

/// Linelets of so many elements are short.
pub const SHORT: usize = 3;

/// Finds the linelets of a mesh for a constant coefficient, as those of the pressure: the elements of each,
/// in their order.
///
/// # Errors
/// Elements that are inverted, and lack of memory.
pub fn linelets(mesh: &Arc<Mesh>) -> Result<Vec<Vec<u32>>, EllipticError> {
    Ok(find(mesh)?.elements())
}

/// As [`linelets`], for operators. Values are prescribed, so that a line of all elements stays whole: parts
/// of the mesh cut none.
pub(crate) fn find(mesh: &Arc<Mesh>) -> Result<Linelets, EllipticError> {
    let boundaries: Vec<(String, EllipticKind)> =
        mesh.boundaries.iter().map(|b| (b.name.clone(), EllipticKind::Dirichlet)).collect();
    let (one, zero) = (|_: usize, _: [f64; 3]| 1.0, |_: usize, _: [f64; 3]| 0.0);
    let (mesh, host) = (Arc::clone(mesh), Arc::new(Host::new(0)?));
    let operator = Sipdg::<f64>::new(mesh, &SipdgOptions::new(1), &one, &zero, &boundaries, host)?;
    Ok(operator.linelets().clone())
}

/// The linelets of a smoother.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LineDescription {
    /// Number of linelets.
    pub lines: usize,
    /// Elements in them.
    pub elements: usize,
    /// Elements of the longest.
    pub longest: usize,
    /// Thin elements in no linelet.
    pub without: ThinElements,
    /// Thin elements in no linelet of more than [`SHORT`] elements, those in none included. Many of them show
    /// that linelets end inside the layers.
    pub short: ThinElements,
    /// Bytes of the factors on all levels; 0 if they have not been set up.
    pub bytes: usize,
}

impl LineDescription {
    /// Describes lines, given by their elements.
    #[must_use]
    pub fn new(mesh: &Mesh, lines: &[Vec<u32>]) -> Self {
        let mut length = vec![0; mesh.n_elements()];
        for line in lines {
            line.iter().for_each(|&e| length[e as usize] = line.len());
        }
        let in_short = (0..mesh.n_elements()).filter(|e| length[*e] <= SHORT);
        let short: Vec<(usize, f64)> =
            in_short.map(|e| (e, aspect_ratio(mesh, e))).filter(|(_, ratio)| *ratio > THIN).collect();
        Self {
            lines: lines.len(),
            elements: lines.iter().map(Vec::len).sum(),
            longest: lines.iter().map(Vec::len).max().unwrap_or(0),
            without: ThinElements::of_ratios(mesh, short.iter().copied().filter(|(e, _)| length[*e] == 0)),
            short: ThinElements::of_ratios(mesh, short.iter().copied()),
            bytes: 0,
        }
    }

    /// Describes the linelets of an operator without setting them up.
    pub(crate) fn found<T: PackScalar>(operator: &Sipdg<T>) -> Self {
        Self::new(operator.mesh(), &operator.linelets().elements())
    }

    /// Elements of a linelet on average.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.elements as f64 / self.lines.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dgsuite_basis::Shape;
    use dgsuite_mesh::generate::Box as Rectangle;

    #[test]
    fn thin_elements_outside_of_lines_are_counted_and_the_thinnest_is_found() {
        let mut mesh = Rectangle::unit(Shape::Quadrilateral, 4).build().unwrap();
        // Layers of height 0.01, 0.05, 0.25 and 1.25, and width 0.25.
        mesh.map(|[x, y, z]| [x, 0.0025 * 5.0_f64.powf(4.0 * y) - 0.0025, z]).unwrap();
        let all = ThinElements::of(&mesh);
        assert_eq!(all.count, 12);
        let thinnest = all.thinnest.unwrap();
        assert!((thinnest.aspect_ratio - 25.0).abs() < 1e-9 && thinnest.at[1] < 0.01, "{thinnest:?}");
        let column: Vec<u32> = (0..16)
            .filter(|&e| mesh.points[mesh.element_vertices(e as usize)[0] as usize][0] < 0.1)
            .collect();
        let lines = LineDescription::new(&mesh, &[column[..3].to_vec(), column[3..].to_vec()]);
        assert_eq!((lines.lines, lines.elements, lines.longest, lines.without.count), (2, 4, 3, 9));
        assert_eq!(lines.short.count, 12);
        let whole = LineDescription::new(&mesh, &[column]);
        assert_eq!((whole.without.count, whole.short.count), (9, 9));
        assert_eq!(lines.mean(), 2.0);
    }
}

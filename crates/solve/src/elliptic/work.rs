//! The work of an element in elliptic problems and incompressible flow: the weights of parts.
//!
//! Most of a solve, and of a step of incompressible flow, is smoothing on the levels of p-multigrid. An
//! unknown costs there from 2 ns on hexahedra to 75 ns on curved prisms, so that unknowns are no measure of
//! the work on mixed meshes.

use dgsuite_basis::Shape;
use dgsuite_basis::lattice::lattice_len;
use dgsuite_mesh::Mesh;

use super::options::Orders;
use crate::device::Device;

/// Orders of the measured table.
const MEASURED: usize = 8;

/// Nanoseconds for an unknown of a smoothing step in single precision, at orders 1 to 8, on one core of an
/// AMD EPYC with AVX-512, December 2026: the least of three runs of
///
/// ```text
/// dgsuite bench --device cpu --threads 1 --model poisson --precision single --size 0.5 \
///     --geometry affine,curved --orders 1,2,3,4,5,6,7,8
/// ```
///
/// (`dofs` over the speed of the fused stage). There is no benchmark of pyramids, whose products are dense as
/// those of prisms, and none of curved elements of order 1, which count as those of order 2.
const fn nanoseconds(shape: Shape, affine: bool) -> [f64; MEASURED] {
    match (shape, affine) {
        (Shape::Triangle, true) => [8.0, 4.2, 3.8, 3.7, 3.6, 4.0, 5.8, 6.2],
        (Shape::Triangle, false) => [10.6, 10.6, 9.9, 8.6, 9.1, 9.9, 14.3, 13.2],
        (Shape::Line | Shape::Quadrilateral, true) => [12.9, 3.4, 2.7, 2.1, 2.0, 2.1, 2.0, 4.4],
        (Shape::Line | Shape::Quadrilateral, false) => [9.1, 9.1, 6.7, 6.0, 5.2, 5.4, 4.3, 5.1],
        (Shape::Tetrahedron, true) => [10.9, 5.3, 4.7, 5.2, 6.1, 6.9, 28.4, 38.0],
        (Shape::Tetrahedron, false) => [21.3, 21.3, 24.3, 28.0, 38.1, 47.1, 64.3, 79.1],
        (Shape::Hexahedron, true) => [13.9, 3.3, 2.2, 2.1, 2.2, 2.2, 2.2, 5.4],
        (Shape::Hexahedron, false) => [15.6, 15.6, 10.3, 9.7, 8.2, 9.8, 9.1, 9.7],
        (Shape::Prism | Shape::Pyramid, true) => [18.2, 15.9, 12.2, 16.7, 23.1, 29.0, 35.6, 49.7],
        (Shape::Prism | Shape::Pyramid, false) => [26.3, 26.3, 18.8, 23.1, 43.2, 51.8, 55.0, 74.9],
    }
}

/// The weight of each element, for parts of equal work: smoothing on the orders `order` to 2 of p-multigrid,
/// on elements of `lines` with linelets. Order 1 counts where it is the only one; elsewhere its matrix is
/// work that every rank does.
///
/// On GPUs the measured speeds of an operator differ less, and the weight is the number of unknowns.
#[must_use]
pub fn weights(mesh: &Mesh, order: usize, device: Device, lines: &[Vec<u32>]) -> Vec<f64> {
    let of_set = |set: usize| {
        let shape = mesh.sets[set].shape;
        let of = |affine| match device {
            Device::Cpu => smoothing(shape, affine, order),
            Device::Cuda(_) => lattice_len(shape, order) as f64 * if affine { 1.0 } else { 1.5 },
        };
        let [affine, curved] = [of(true), of(false)];
        (0..mesh.sets[set].len()).map(move |i| if mesh.is_affine(set, i, STRAIGHT) { affine } else { curved })
    };
    let mut weights: Vec<f64> = (0..mesh.sets.len()).flat_map(of_set).collect();
    if device == Device::Cpu {
        let on_lines = lines.iter().flatten().map(|&element| element as usize);
        on_lines.for_each(|element| weights[element] *= linelet(mesh.shape(element)));
    }
    weights
}

/// How many times as long an iteration takes with linelets as with the diagonal: on the same core, the mean
/// of orders 2, 3 and 5 (prisms: 2 and 3) on a box of elements that are all thin, of aspect ratio 100.
const fn linelet(shape: Shape) -> f64 {
    match shape {
        Shape::Line | Shape::Quadrilateral => 4.0,
        Shape::Hexahedron => 2.7,
        Shape::Prism | Shape::Pyramid => 6.0,
        Shape::Triangle | Shape::Tetrahedron => 10.0,
    }
}

/// Elements within this part of their size of an affine image have the kernels of affine elements.
const STRAIGHT: f64 = 1e-12;

/// Nanoseconds of a smoothing step on each of the levels of an element.
fn smoothing(shape: Shape, affine: bool, order: usize) -> f64 {
    let of_order = |order: usize| {
        let row = nanoseconds(shape, affine)[order.clamp(1, MEASURED) - 1];
        lattice_len(shape, order) as f64 * row
    };
    let levels = Orders::default().levels(order.max(1));
    levels.into_iter().filter(|&level| level > 1 || order <= 1).map(of_order).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dgsuite_mesh::generate::MixedBox;

    #[test]
    fn elements_weigh_as_measured_and_curved_ones_more() {
        let cells = MixedBox { dim: 2, min: [0.0; 3], max: [1.0, 1.0, 0.0], cells: [4, 4, 0] };
        let mut mesh = cells.build().expect("a box");
        let of = |mesh: &Mesh, shape| {
            let all = weights(mesh, 4, Device::Cpu, &[]);
            assert_eq!(all.len(), mesh.n_elements());
            let mut of = (0..mesh.n_elements()).filter(|&e| mesh.shape(e) == shape).map(|e| all[e]);
            let first = of.next().expect("an element of the shape");
            assert!(of.all(|other| other == first), "{shape:?}");
            first
        };
        // Orders 4 and 2.
        let triangle = 15.0 * 3.7 + 6.0 * 4.2;
        let square = 25.0 * 2.1 + 9.0 * 3.4;
        assert_eq!([of(&mesh, Shape::Triangle), of(&mesh, Shape::Quadrilateral)], [triangle, square]);
        mesh.elevate(2).expect("a mesh of order 2");
        assert_eq!(of(&mesh, Shape::Quadrilateral), square, "straight elements of a curved mesh");
        mesh.map(|[x, y, z]| [x + 0.1 * x * y, y + 0.1 * x * x, z]).expect("a bent mesh");
        assert_eq!(of(&mesh, Shape::Triangle), 15.0 * 8.6 + 6.0 * 10.6);
    }
}

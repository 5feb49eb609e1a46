//! Elements are accepted exactly if their Jacobian is positive everywhere, whatever their shape and order.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use dgsuite_basis::{LagrangeBasis, lattice::lattice};
use dgsuite_mesh::{
    ElementSet, Mesh, MeshError, Shape,
    generate::Box,
    gmsh::{self, ReadOptions},
};

const SHAPES: [Shape; 6] = [
    Shape::Triangle,
    Shape::Quadrilateral,
    Shape::Tetrahedron,
    Shape::Hexahedron,
    Shape::Prism,
    Shape::Pyramid,
];

/// A displacement that differs from node to node, between -1 and 1 in each direction.
fn displacement([x, y, z]: [f64; 3], seed: u32) -> [f64; 3] {
    [1.0, 2.0, 3.0].map(|d| {
        let phase = 127.1 * x + 311.7 * y + 74.7 * z + 17.3 * d + 3.7 * f64::from(seed);
        2.0 * (4.0e4 * phase.sin()).rem_euclid(1.0) - 1.0
    })
}

/// Jacobians of a set's elements on a lattice, of which the apices of pyramids are omitted.
struct Dense {
    dim: usize,
    grad: [dgsuite_basis::Matrix; 3],
}

impl Dense {
    fn new(shape: Shape, order: usize) -> Self {
        let mut points = lattice(shape, if shape.dim() == 2 { 24 } else { 12 });
        points.retain(|x| shape != Shape::Pyramid || x[2] < 0.99);
        Self { dim: shape.dim(), grad: LagrangeBasis::new(shape, order).grad(&points) }
    }

    /// The smallest and the largest Jacobian of some elements.
    fn range(&self, points: &[[f64; 3]], set: &ElementSet, some: std::ops::Range<usize>) -> (f64, f64) {
        let mut range = (f64::INFINITY, f64::NEG_INFINITY);
        for nodes in some.map(|i| set.element(i)) {
            for q in 0..self.grad[0].rows() {
                let column = |d: usize| {
                    let mut sum = [0.0; 3];
                    for (w, &n) in self.grad[d].row(q).iter().zip(nodes) {
                        (0..3).for_each(|j| sum[j] += w * points[n as usize][j]);
                    }
                    sum
                };
                let (a, b) = (column(0), column(1));
                let c = if self.dim == 2 { [0.0, 0.0, 1.0] } else { column(2) };
                let j = a[0] * (b[1] * c[2] - b[2] * c[1])
                    + a[1] * (b[2] * c[0] - b[0] * c[2])
                    + a[2] * (b[0] * c[1] - b[1] * c[0]);
                range = (range.0.min(j), range.1.max(j));
            }
        }
        range
    }
}

#[test]
fn the_bound_decides_as_dense_samples_do() {
    for shape in SHAPES {
        for order in 1..=gmsh::max_order(shape) {
            let mut mesh = Box::unit(shape, 1).build().unwrap();
            mesh.elevate(order).unwrap();
            let dense = Dense::new(shape, order);
            let (mut accepted, mut refused) = (0, 0);
            for seed in 0..24 {
                let size = 0.15 * f64::from(1 + seed % 8) / (order * order) as f64;
                let bend = |x: [f64; 3]| {
                    let by = displacement(x, seed);
                    std::array::from_fn(|d| if d < shape.dim() { x[d] + size * by[d] } else { 0.0 })
                };
                let moved: Vec<[f64; 3]> = mesh.points.iter().map(|&x| bend(x)).collect();
                let set = &mesh.sets[0];
                match mesh.clone().map(bend) {
                    Ok(()) => {
                        let (low, high) = dense.range(&moved, set, 0..set.len());
                        assert!(low > 0.0, "{shape} {order} {seed}: accepted with {low:e} to {high:e}");
                        accepted += 1;
                    }
                    Err(MeshError::Inverted { element, min, .. }) => {
                        let i = set.tags.iter().position(|&tag| tag == element).unwrap();
                        let (low, high) = dense.range(&moved, set, i..i + 1);
                        // Samples are close to the smallest value, and can miss a negative one.
                        let said = format!(
                            "{shape} {order} {seed}: refused with {min:e}, samples {low:e} to {high:e}"
                        );
                        assert!(low < 0.0 || low < 0.03 * high, "{said}");
                        assert!(min < 0.0 && min < low + 2e-3 * (high - low).abs() + 1e-12, "{said}");
                        refused += 1;
                    }
                    Err(error) => panic!("{shape} {order} {seed}: {error}"),
                }
            }
            assert!(accepted > 2 && refused > 2, "{shape} {order}: {accepted} accepted, {refused} refused");
        }
    }
}

/// Text of a mesh of one element.
fn one(kind: usize, points: &[[f64; 3]]) -> String {
    let n = points.len();
    let mut text = format!("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{n}\n");
    for (i, [x, y, z]) in points.iter().enumerate() {
        text += &format!("{} {x} {y} {z}\n", i + 1);
    }
    text += &format!("$EndNodes\n$Elements\n1\n1 {kind} 2 0 1");
    (1..=n).for_each(|i| text += &format!(" {i}"));
    text + "\n$EndElements\n"
}

fn read(kind: usize, points: &[[f64; 3]]) -> Result<Mesh, MeshError> {
    gmsh::read_bytes(one(kind, points).as_bytes(), &ReadOptions::default()).map(|(mesh, _)| mesh)
}

/// Both were accepted: their Jacobian is positive at all points of a lattice one order finer than the
/// geometry, and negative on 9 % of the triangle and 3 % of the hexahedron.
#[test]
fn elements_that_are_inverted_between_the_points_of_a_lattice_are_refused() {
    let triangle = [
        [0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0],
        [0.0, 1.0, 0.0],
        [0.786_952_905_971_322_7, -0.286_080_387_004_311_4, 0.0],
        [0.169_385_588_517_598_88, 0.231_879_418_601_988_4, 0.0],
        [-0.280_868_281_570_710_2, 0.808_053_554_811_714_6, 0.0],
    ];
    let error = read(9, &triangle).unwrap_err();
    let MeshError::Inverted { element: 1, shape: Shape::Triangle, min, at, max, .. } = error else {
        panic!("{error}")
    };
    let (low, high) = (-0.081, 1.0);
    assert!(min < 0.0 && min > low && max > 0.0 && max < high, "{error}");
    assert!(at.iter().all(|x| x.abs() < 1.0), "{error}");

    let hexahedron = [
        [0.506_453_514_851_325_4, 0.374_447_260_867_717_2, 0.539_853_871_231_202_9],
        [0.446_091_682_505_046_5, 0.590_510_975_430_517_8, -0.487_571_755_183_160_54],
        [0.771_001_809_095_152_4, 1.515_771_444_385_324_7, -0.691_667_867_502_482_7],
        [0.313_151_929_944_855_3, 0.320_131_178_878_970_14, 0.216_808_474_887_254_2],
        [-0.641_791_173_095_641_2, -0.274_241_131_052_417_2, 1.461_385_448_049_747],
        [1.664_395_088_491_066, -0.678_526_184_869_718_4, 1.502_535_972_417_822],
        [1.037_364_956_966_194, 0.982_966_159_590_346, 1.204_459_513_929_05],
        [-0.117_080_705_801_905_98, 1.530_148_864_385_970_4, 1.251_971_967_648_052_3],
    ];
    let error = read(5, &hexahedron).unwrap_err();
    assert!(
        matches!(error, MeshError::Inverted { shape: Shape::Hexahedron, min, .. } if min < 0.0),
        "{error}"
    );
    // Reversed, it is the same element.
    let mut other = hexahedron;
    other.swap(1, 3);
    other.swap(5, 7);
    let reversed = read(5, &other).unwrap_err();
    let (MeshError::Inverted { min: a, at: x, .. }, MeshError::Inverted { min: b, at: y, .. }) =
        (&error, &reversed)
    else {
        panic!("{reversed}")
    };
    assert!((a - b).abs() < 2e-3 && (0..3).all(|d| (x[d] - y[d]).abs() < 0.05), "{error}; {reversed}");
}

/// The triangle with one middle node moved towards the opposite vertex: its Jacobian at the end of the curved
/// side is `(1 − 4 s)/4` for a way `s` along the height, and zero for a quarter.
#[test]
fn a_minimum_at_a_vertex_is_exact() {
    let triangle = |s: f64| {
        let corners = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
        let middles = [[0.5, s, 0.0], [0.5, 0.5, 0.0], [0.0, 0.5, 0.0]];
        read(9, &[corners, middles].concat())
    };
    for s in [0.2499, 0.249_999_99] {
        assert_eq!(triangle(s).unwrap().n_elements(), 1);
    }
    assert!(matches!(triangle(0.25), Err(MeshError::NearlyInverted { .. })), "{:?}", triangle(0.25));
    let error = triangle(0.26).unwrap_err();
    let MeshError::Inverted { min, at, .. } = error else { panic!("{error}") };
    assert!((min - 0.25 * (1.0 - 4.0 * 0.26)).abs() < 1e-12 && at[1].abs() < 1e-12, "{error}");
}

/// A square whose upper side is a parabola that nearly touches the lower one: the minimum lies on a line.
#[test]
fn small_jacobians_inside_are_accepted_and_tiny_ones_refused() {
    let waist = |gap: f64| {
        // Jacobian (gap + (1 − gap) r²)/4 for the map (r, s h(r)) with h = gap + (1 − gap) r².
        let mut mesh = Box::unit(Shape::Quadrilateral, 1).build().unwrap();
        mesh.elevate(3).unwrap();
        mesh.map(|[x, y, _]| {
            let r = 2.0 * x - 1.0;
            [x, y * (gap + (1.0 - gap) * r * r), 0.0]
        })
    };
    for gap in [0.5, 1e-2, 1e-4, 1e-8] {
        assert!(waist(gap).is_ok(), "{gap}: {:?}", waist(gap));
    }
    assert!(matches!(waist(-1e-3), Err(MeshError::Inverted { min, .. }) if min < 0.0));
    assert!(waist(0.0).is_err() && waist(1e-16).is_err());
}

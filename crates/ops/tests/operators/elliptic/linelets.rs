//! Point Jacobi with linelets: symmetry, lines of columns, exactness, and the diagonal of its basis.

use crate::elliptic::{SHAPES, bend, dot, everywhere, full, host, noise, poisson, shear, unit};
use dgsuite_basis::{LagrangeBasis, Matrix, NodeSet};
use dgsuite_mesh::{Mesh, Shape, generate};
use dgsuite_ops::{EllipticBoundary, Sipdg, SipdgOptions};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Divides the last coordinate.
fn flatten(mesh: &mut Mesh, aspect: f64) {
    let last = mesh.dim - 1;
    mesh.map(|mut x| {
        x[last] /= aspect;
        x
    })
    .expect("affine");
}

fn apply(a: &Sipdg<f64>, r: &[f64]) -> Vec<f64> {
    apply_with(a, false, r)
}

/// With the continuous functions or without.
fn apply_with(a: &Sipdg<f64>, continuous: bool, r: &[f64]) -> Vec<f64> {
    let mut z = vec![f64::NAN; r.len()];
    a.linelet_inverse(continuous).expect("positive definite linelets").apply(r, &mut z);
    z
}

/// A random vector without entries in the padding.
fn random(a: &Sipdg<f64>, seed: u64) -> Vec<f64> {
    let all = noise(a.len(), seed);
    let mut out = vec![0.0; a.len()];
    a.unknowns().into_iter().for_each(|i| out[i as usize] = all[i as usize]);
    out
}

/// A single row of stretched elements: one line would be the whole operator, which is singular where nothing
/// prescribes a value.
#[test]
fn a_row_of_elements_without_prescribed_values_is_cut_in_two() {
    for (shape, cells, lines) in [
        (Shape::Triangle, [3, 1, 1], 2),
        (Shape::Triangle, [1, 5, 1], 2),
        (Shape::Quadrilateral, [3, 1, 1], 2),
    ] {
        let mut mesh = generate::Box { cells, ..generate::Box::unit(shape, 1) }.build().expect("a box");
        let along = cells.iter().position(|n| *n > 1).unwrap_or(0);
        mesh.map(|mut x| {
            x[along] /= 4.0;
            x
        })
        .expect("affine");
        let mesh = Arc::new(mesh);
        for (condition, found) in [(EllipticBoundary::Neumann, lines), (EllipticBoundary::Dirichlet, 1)] {
            let conditions = everywhere(&mesh, condition);
            let options = SipdgOptions::new(2);
            let a = Sipdg::new(Arc::clone(&mesh), &options, &|_, _| 1.0, &|_, _| 0.0, &conditions, host(1))
                .expect("an operator");
            assert_eq!(a.linelets().elements().len(), found, "{shape} {cells:?} {condition:?}");
            let r = random(&a, 5);
            assert!(dot(&apply(&a, &r), &r) > 0.0, "{shape} {cells:?} {condition:?}");
        }
    }
}

#[test]
fn it_is_symmetric_and_positive_for_all_shapes() {
    for (shape, dim, n) in SHAPES {
        for order in if full() { 1..=6 } else { 1..=3 } {
            for deformation in ["flat", "sheared", "curved"] {
                let mut mesh = unit(shape, dim, n.max(2));
                match deformation {
                    "sheared" => shear(&mut mesh),
                    "curved" => bend(&mut mesh, 2),
                    _ => {}
                }
                flatten(&mut mesh, 20.0);
                mesh.make_periodic("xmin", "xmax").expect("opposite sides match");
                let mut conditions = everywhere(&mesh, EllipticBoundary::Neumann);
                conditions[0].1 = EllipticBoundary::Dirichlet;
                let kappa = |e: usize, _: [f64; 3]| if e.is_multiple_of(3) { 100.0 } else { 1.0 };
                let options = SipdgOptions::new(order);
                let a = Sipdg::new(Arc::new(mesh), &options, &kappa, &|_, _| 0.5, &conditions, host(2))
                    .expect("an operator");
                let (r, s) = (random(&a, 3), random(&a, 4));
                for continuous in [false, true] {
                    let [br, bs] = [&r, &s].map(|v| apply_with(&a, continuous, v));
                    let what = format!("{shape:?} {dim} {order} {deformation} {continuous}");
                    let (x, y) = (dot(&br, &s), dot(&r, &bs));
                    assert!((x - y).abs() <= 1e-10 * dot(&br, &r), "{what}: {x} {y}");
                    assert!(dot(&br, &r) > 0.0 && dot(&bs, &s) > 0.0, "{what}");
                }
            }
        }
    }
}

#[test]
fn lines_are_whole_columns() {
    for (shape, n, lines, longest) in [
        (Shape::Quadrilateral, 5, 5, 5),
        (Shape::Triangle, 5, 5, 10),
        (Shape::Hexahedron, 3, 9, 3),
        (Shape::Prism, 3, 18, 3),
    ] {
        // An aspect ratio of exactly 2 is enough.
        for (aspect, counted) in [(1.0, 0), (2.0, lines), (1000.0, lines)] {
            let mut mesh = generate::Box::unit(shape, n).build().expect("a box");
            flatten(&mut mesh, aspect);
            let elements = mesh.n_elements();
            let a = poisson(&Arc::new(mesh), 2, EllipticBoundary::Dirichlet);
            let inverse = a.linelet_inverse(false).expect("linelets");
            let found = inverse.summary();
            assert_eq!(inverse.elements(), a.linelets().elements(), "{shape:?} {aspect}");
            assert_eq!(found.lines, counted, "{shape:?} {aspect}");
            if counted > 0 {
                assert_eq!((found.elements, found.longest), (elements, longest), "{shape:?} {aspect}");
            }
        }
    }
}

/// In a column, functions of degree 1 across it are in the space of its linelet, which is solved exactly.
#[test]
fn a_column_of_triangles_is_solved_exactly() {
    for order in 1..=5_usize {
        let cells = [1, 6, 1];
        let column = generate::Box { cells, ..generate::Box::unit(Shape::Triangle, 1) };
        let mut mesh = column.build().expect("a column");
        mesh.map(|[x, y, z]| [x, 0.05 * y * (1.0 + y), z]).expect("affine elements");
        let a = poisson(&Arc::new(mesh), order, EllipticBoundary::Dirichlet);
        let p = order as i32;
        let u =
            a.project(&|element, [x, y, _]| x.powi(p) + (1.0 + element as f64) * y * x.powi(p - 1) - 0.3 * y);
        let mut r = vec![0.0; a.len()];
        a.apply(&u, &mut r);
        let z = apply(&a, &r);
        // B A u = 0.7 (D⁻¹ A u + u).
        for (i, d) in a.diagonal().into_iter().enumerate() {
            let wanted = 0.7 * (r[i] / d + u[i]);
            assert!((z[i] - wanted).abs() < 1e-9, "{order} {i}: {} {wanted}", z[i]);
        }
    }
}

/// Without linelets it is `T D⁻¹ Tᵀ`, where T has the Gauss–Lobatto functions at the operator's nodes and D
/// is the diagonal of `Tᵀ A T`.
#[test]
fn on_square_elements_it_is_the_diagonal_for_the_lobatto_basis() {
    for (shape, curved) in [
        (Shape::Quadrilateral, false),
        (Shape::Quadrilateral, true),
        (Shape::Hexahedron, false),
        (Shape::Hexahedron, true),
    ] {
        for order in 1..=3 {
            let mut mesh = unit(Some(shape), shape.dim(), 2);
            if curved {
                bend(&mut mesh, 2);
            }
            let a = poisson(&Arc::new(mesh), order, EllipticBoundary::Dirichlet);
            let matrix = a.assemble();
            let gauss = LagrangeBasis::with_nodes(shape, order, NodeSet::GaussLegendre).expect("a basis");
            let lobatto = LagrangeBasis::with_nodes(shape, order, NodeSet::GaussLobatto).expect("a basis");
            let t = lobatto.eval(gauss.nodes());
            let r = random(&a, 5);
            let mut wanted = vec![0.0; a.len()];
            for block in a.blocks_of_unknowns() {
                for j in 0..t.cols() {
                    let mut function = vec![0.0; a.len()];
                    block.iter().enumerate().for_each(|(i, at)| function[*at as usize] = t[(i, j)]);
                    let image: Vec<f64> = matrix
                        .outer_iterator()
                        .map(|row| row.iter().map(|(k, v)| v * function[k]).sum())
                        .collect();
                    let factor = dot(&function, &r) / dot(&function, &image);
                    wanted.iter_mut().zip(&function).for_each(|(w, f)| *w += factor * f);
                }
            }
            let found = apply(&a, &r);
            for (found, wanted) in found.iter().zip(&wanted) {
                assert!((found - wanted).abs() < 1e-11, "{shape:?} {curved} {order}: {found} {wanted}");
            }
        }
    }
}

/// The nodes of the smoother's basis and the values of its functions at the operator's nodes, and those of
/// the operator's functions at its nodes.
fn bases(shape: Shape, order: usize) -> ([Matrix; 2], usize) {
    let with = |set: NodeSet| LagrangeBasis::with_nodes(shape, order, set).expect("a basis");
    let (ours, theirs) = match shape {
        Shape::Triangle | Shape::Tetrahedron => (with(NodeSet::WarpBlend), with(NodeSet::WarpBlend)),
        Shape::Pyramid => (with(NodeSet::Equispaced), with(NodeSet::Equispaced)),
        _ => (with(NodeSet::GaussLegendre), with(NodeSet::GaussLobatto)),
    };
    ([theirs.eval(ours.nodes()), ours.eval(theirs.nodes())], ours.nodes().len())
}

/// The sum of `q qᵀ r / qᵀAq` over the nodal functions of all elements, and over the continuous ones that
/// have several elements, whatever the penalty. Their nodes are found by their coordinates, and `qᵀAq` is
/// that of the assembled matrix.
#[test]
fn continuous_functions_are_scaled_by_their_diagonal() {
    for (shape, dim, n) in SHAPES {
        for (order, penalty) in [(1, 1.0), (2, 100.0), (3, 1.0)] {
            let mut mesh = unit(shape, dim, n.min(2));
            mesh.map(|[x, y, z]| [1.1 * x + 0.1 * y, y - 0.05 * z, z + 0.1 * x]).expect("affine");
            let mut conditions = everywhere(&mesh, EllipticBoundary::Neumann);
            (conditions[0].1, conditions[1].1) =
                (EllipticBoundary::Dirichlet, EllipticBoundary::Robin { alpha: 3.0 });
            let kappa = |e: usize, _: [f64; 3]| if e.is_multiple_of(3) { 1.5 } else { 1.0 };
            let options = SipdgOptions { penalty, ..SipdgOptions::new(order) };
            let a = Sipdg::new(Arc::new(mesh), &options, &kappa, &|_, _| 0.5, &conditions, host(2))
                .expect("an operator");
            let what = format!("{shape:?} {dim}, order {order}, penalty {penalty}");
            if !a.linelets().elements().is_empty() {
                assert_eq!((shape, dim), (None, 3), "{what}: square elements");
                continue;
            }
            let matrix = a.assemble();
            let coordinates = [0, 1, 2].map(|d| a.project(&|_, x| x[d]));
            // The functions at each place, as entries of vectors with their values.
            let mut at: BTreeMap<[i64; 3], Vec<Vec<(usize, f64)>>> = BTreeMap::new();
            for (element, block) in a.blocks_of_unknowns().iter().enumerate() {
                let ([values, back], n) = bases(a.mesh().shape(element), order);
                for j in 0..n {
                    let place = [0, 1, 2].map(|d| {
                        let x: f64 = (0..n).map(|i| back[(j, i)] * coordinates[d][block[i] as usize]).sum();
                        (x * 1e7).round() as i64
                    });
                    let function = (0..n).map(|i| (block[i] as usize, values[(i, j)])).collect();
                    at.entry(place).or_default().push(function);
                }
            }
            let r = random(&a, 5);
            let mut wanted = vec![0.0; a.len()];
            let mut add = |parts: &[Vec<(usize, f64)>]| {
                let mut q = vec![0.0; a.len()];
                parts.iter().flatten().for_each(|(i, v)| q[*i] += v);
                let mut image = vec![0.0; a.len()];
                for (i, row) in matrix.outer_iterator().enumerate() {
                    image[i] = row.iter().map(|(k, v)| v * q[k]).sum();
                }
                let factor = dot(&q, &r) / dot(&q, &image);
                wanted.iter_mut().zip(&q).for_each(|(w, q)| *w += factor * q);
            };
            let mut several = 0;
            for functions in at.values() {
                functions.iter().for_each(|function| add(std::slice::from_ref(function)));
                if functions.len() > 1 {
                    several += 1;
                    add(functions);
                }
            }
            assert!(several > 4, "{what}: {several} shared nodes");
            let found = apply_with(&a, true, &r);
            let largest = wanted.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
            for i in a.unknowns() {
                let (found, wanted) = (found[i as usize], wanted[i as usize]);
                assert!((found - wanted).abs() < 1e-9 * largest, "{what}: {found} {wanted}");
            }
        }
    }
}

#[test]
fn threads_do_not_change_a_bit() {
    let mut mesh = unit(Some(Shape::Triangle), 2, 9);
    flatten(&mut mesh, 100.0);
    let mesh = Arc::new(mesh);
    let boundaries = everywhere(&mesh, EllipticBoundary::Dirichlet);
    let of = |threads: usize| {
        let options = SipdgOptions::new(3);
        let a = Sipdg::<f64>::new(
            Arc::clone(&mesh),
            &options,
            &|_, _| 1.0,
            &|_, _| 0.0,
            &boundaries,
            host(threads),
        )
        .expect("an operator");
        let r = random(&a, 6);
        [apply(&a, &r), apply_with(&a, true, &r)]
    };
    let one = of(1);
    assert!(one == of(2) && one == of(3));
}

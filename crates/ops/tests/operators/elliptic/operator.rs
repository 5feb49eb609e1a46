//! The matrix-free operator: comparison with the assembled matrix, symmetry, definiteness, threads, refusals.

use crate::elliptic::{
    SHAPES, bend, bend_from, dot, everywhere, full, host, noise, poisson, shear, solve, unit,
};
use dgsuite_mesh::{Mesh, Shape};
use dgsuite_ops::{EllipticBoundary, OpsError, Sipdg, SipdgOptions};
use std::sync::Arc;

/// Jumps by a factor of 1000 between elements.
fn jumps(element: usize, _: [f64; 3]) -> f64 {
    if element.is_multiple_of(3) { 1000.0 } else { 1.0 + (element % 5) as f64 }
}

fn smooth(_: usize, x: [f64; 3]) -> f64 {
    1.0 + 0.5 * x[0] + 0.25 * (x[1] + x[2]).sin()
}

/// Dirichlet, Neumann and Robin boundaries, and a periodic pair.
fn mixed_boundaries(mesh: &mut Mesh) -> Vec<(String, EllipticBoundary)> {
    mesh.make_periodic("ymin", "ymax").expect("opposite sides match");
    let mut out = everywhere(mesh, EllipticBoundary::Neumann);
    for (name, condition) in &mut out {
        match name.as_str() {
            "xmin" => *condition = EllipticBoundary::Dirichlet,
            "xmax" => *condition = EllipticBoundary::Robin { alpha: 2.5 },
            _ => {}
        }
    }
    out
}

fn largest(v: &[f64]) -> f64 {
    v.iter().fold(0.0, |m, x| m.max(x.abs()))
}

/// Compares `A u` by both, and checks symmetry and whether Cholesky factorisation succeeds.
fn check(a: &Sipdg<f64>, definite: bool, what: &str) {
    let matrix = a.assemble();
    let u = noise(a.len(), 7);
    let mut by_pass = vec![0.0; a.len()];
    a.apply(&u, &mut by_pass);
    let mut by_matrix = vec![0.0; a.len()];
    for (i, row) in matrix.outer_iterator().enumerate() {
        by_matrix[i] = row.iter().map(|(j, v)| v * u[j]).sum();
    }
    let scale = largest(&by_matrix);
    let gap = by_pass.iter().zip(&by_matrix).fold(0.0_f64, |m, (x, y)| m.max((x - y).abs()));
    assert!(gap <= 1e-12 * scale, "{what}: apply and matrix differ by {:e}", gap / scale);

    let entries = largest(matrix.data());
    let transposed = matrix.transpose_view().to_csr();
    let mut gap = 0.0_f64;
    for (i, row) in matrix.outer_iterator().enumerate() {
        for (j, v) in row.iter() {
            gap = gap.max((v - transposed.get(i, j).copied().unwrap_or(0.0)).abs());
        }
    }
    assert!(gap <= 1e-13 * entries, "{what}: asymmetry {:e}", gap / entries);

    let diagonal = a.diagonal();
    for (i, d) in diagonal.iter().enumerate() {
        let entry = matrix.get(i, i).copied().unwrap_or(0.0);
        assert!((d - entry).abs() <= 1e-13 * entries, "{what}: diagonal {i}");
    }
    if definite && a.len() <= 1500 {
        assert!(cholesky(&matrix), "{what}: not positive definite");
    }
}

/// Whether a dense Cholesky factorisation exists.
fn cholesky(matrix: &sprs::CsMat<f64>) -> bool {
    let n = matrix.rows();
    let mut l = vec![vec![0.0; n]; n];
    for (i, row) in matrix.outer_iterator().enumerate() {
        row.iter().for_each(|(j, v)| l[i][j] = *v);
    }
    for i in 0..n {
        let (above, rest) = l.split_at_mut(i);
        let own = &mut rest[0];
        for (j, other) in above.iter().enumerate() {
            let sum: f64 = own[..j].iter().zip(&other[..j]).map(|(a, b)| a * b).sum();
            own[j] = (own[j] - sum) / other[j];
        }
        let d = own[i] - own[..i].iter().map(|v| v * v).sum::<f64>();
        if d <= 0.0 || !d.is_finite() {
            return false;
        }
        own[i] = d.sqrt();
    }
    true
}

/// Name, whether there are curved elements, whether κ jumps. In "half", affine and curved elements meet.
const KINDS: [(&str, bool, bool); 4] =
    [("affine", false, true), ("sheared", false, true), ("curved", true, false), ("half", true, true)];

#[test]
fn apply_is_the_matrix_and_the_matrix_is_positive_definite() {
    for (shape, dim, n) in SHAPES {
        let top = if full() {
            6
        } else if dim == 2 {
            4
        } else {
            2
        };
        for order in 1..=top {
            for (kind, curved, kappa) in KINDS {
                let mut mesh = unit(shape, dim, n);
                if kind == "sheared" {
                    shear(&mut mesh);
                }
                if curved {
                    bend_from(&mut mesh, 2, if kind == "half" { 0.49 } else { 0.0 }, 0.06);
                }
                let boundaries = mixed_boundaries(&mut mesh);
                // Stretched pyramids, and sheared ones from order 3 on, need a factor larger than one half.
                let pyramids = dim == 3 && matches!(shape, None | Some(Shape::Pyramid));
                let penalty = if pyramids { 0.7 } else { 0.5 };
                let options = SipdgOptions { penalty, ..SipdgOptions::new(order) };
                let kappa: &dgsuite_ops::elliptic::Field<'_> = if kappa { &jumps } else { &smooth };
                let lambda = |_: usize, x: [f64; 3]| if kind == "affine" { 0.0 } else { 1.0 + x[0] };
                let a = Sipdg::new(Arc::new(mesh), &options, kappa, &lambda, &boundaries, host(1))
                    .expect("set up");
                check(&a, true, &format!("{shape:?} {dim}D order {order} {kind}"));
            }
        }
    }
}

/// Tests orders beyond those of the other tests on few elements: affine ones for odd, curved ones for even
/// orders; in three dimensions order 7 only, to save time.
#[test]
fn apply_is_the_matrix_up_to_order_ten() {
    for (shape, dim, _) in SHAPES {
        let orders: &[usize] = match (dim, shape) {
            (2, _) => &[7, 8, 9, 10],
            (_, None) => &[],
            _ => &[7],
        };
        for &order in orders {
            let mut mesh = unit(shape, dim, 1);
            if order % 2 == 0 {
                bend(&mut mesh, 2);
            }
            let boundaries = everywhere(&mesh, EllipticBoundary::Dirichlet);
            let lambda = |_: usize, x: [f64; 3]| 1.0 + x[0];
            let options = SipdgOptions::new(order);
            let a =
                Sipdg::new(Arc::new(mesh), &options, &jumps, &lambda, &boundaries, host(1)).expect("set up");
            check(&a, dim == 2, &format!("{shape:?} {dim}D order {order}"));
        }
    }
}

/// The smallest eigenvalue of `M⁻¹ A` with Dirichlet conditions is that of the unit box, `d π²`; there is no
/// smaller, spurious one. Computed by inverse iteration, starting from noise, which contains all
/// eigenvectors.
#[test]
fn the_smallest_eigenvalue_is_that_of_the_box() {
    for (shape, dim, n) in SHAPES {
        for curved in [false, true] {
            let mut mesh = unit(shape, dim, n);
            if curved {
                bend(&mut mesh, 2);
            }
            let a = poisson(&Arc::new(mesh), if dim == 2 { 5 } else { 4 }, EllipticBoundary::Dirichlet);
            // Entries that are not unknowns stay zero.
            let one = a.project(&|_, _| 1.0);
            let mut u: Vec<f64> = noise(a.len(), 5)
                .iter()
                .zip(&one)
                .map(|(u, one)| if *one == 0.0 { 0.0 } else { *u })
                .collect();
            let mut mu = vec![0.0; a.len()];
            let mut eigenvalue = 0.0;
            // The next eigenvalues are at least twice as large: their components decrease by a factor of four
            // in each iteration, for any initial noise.
            for _ in 0..13 {
                a.mass(&u, &mut mu);
                let (next, _) = solve(&a, &mu, 1e-9);
                // uᵀMv / vᵀMv with A v = M u.
                let overlap = dot(&mu, &next);
                a.mass(&next, &mut mu);
                eigenvalue = overlap / dot(&next, &mu);
                let size = dot(&next, &mu).sqrt();
                u = next.iter().map(|v| v / size).collect();
            }
            let exact = dim as f64 * std::f64::consts::PI.powi(2);
            let gap = (eigenvalue / exact - 1.0).abs();
            // So few elements do not resolve the deformation.
            assert!(
                gap < if curved { 0.02 } else { 5e-3 },
                "{shape:?} {dim}D curved {curved}: {eigenvalue} for {exact}"
            );
        }
    }
}

#[test]
fn simplices_of_high_order_lose_no_accuracy() {
    let cases = [(Shape::Triangle, 2, &[2, 4, 6, 7][..]), (Shape::Tetrahedron, 3, &[3, 4, 6])];
    for (shape, dim, orders) in cases {
        for &order in orders {
            let mut mesh = unit(Some(shape), dim, 2);
            shear(&mut mesh);
            let boundaries = mixed_boundaries(&mut mesh);
            let lambda = |e: usize, _: [f64; 3]| 1.0 + (e % 3) as f64;
            let options = SipdgOptions::new(order);
            let a =
                Sipdg::new(Arc::new(mesh), &options, &jumps, &lambda, &boundaries, host(1)).expect("set up");
            let what = format!("{shape:?} order {order}");
            check(&a, false, &what);
            let roundings = roundings(&a);
            assert!(roundings <= 4.0, "{what}: apply is {roundings:.1} roundings from the matrix");
        }
    }
}

/// The largest difference between `A u` by `apply` and by the matrix, in units of √n ε Σ_j |A_ij| |u_j|,
/// where n is the number of entries of the longest row and the sum is the largest of all rows.
fn roundings(a: &Sipdg<f64>) -> f64 {
    let matrix = a.assemble();
    let u = noise(a.len(), 3);
    let mut by_pass = vec![0.0; a.len()];
    a.apply(&u, &mut by_pass);
    let (mut gap, mut sum, mut longest) = (0.0_f64, 0.0_f64, 0);
    for (row, y) in matrix.outer_iterator().zip(&by_pass) {
        let product: f64 = row.iter().map(|(j, v)| v * u[j]).sum();
        gap = gap.max((product - y).abs());
        sum = sum.max(row.iter().map(|(j, v)| (v * u[j]).abs()).sum());
        longest = longest.max(row.nnz());
    }
    gap / (f64::EPSILON * (longest as f64).sqrt() * sum)
}

/// A box with 3 cells in each direction, each with a different first corner and a different order of its
/// axes.
fn turned_boxes(dim: usize) -> Mesh {
    let node = |x: [usize; 3]| 1 + x[0] + 4 * x[1] + 16 * x[2];
    let (kind, corners) = if dim == 2 { (3, 4) } else { (5, 8) };
    let deep = if dim == 2 { 1 } else { 4 };
    let mut text = format!("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{}\n", 16 * deep);
    for k in 0..16 * deep {
        let (x, y, z) = (k % 4, k / 4 % 4, k / 16);
        text += &format!("{} {} {} {}\n", k + 1, 0.5 * x as f64, 0.3 * y as f64, 0.4 * z as f64);
    }
    let cells = 9 * if dim == 2 { 1 } else { 3 };
    text += &format!("$EndNodes\n$Elements\n{cells}\n");
    for e in 0..cells {
        let mut corner: Vec<usize> = Vec::new();
        for c in 0..corners {
            // The corner (a, b, c) of the element, in the order of the file format, rotated about the last
            // axis; then the axes are permuted.
            let c = (c & 4) + (c + e) % 4;
            let mut at = [usize::from(c % 4 == 1 || c % 4 == 2), c / 2 % 2, c / 4];
            if dim == 3 {
                at.rotate_left(e / 4 % 3);
            }
            corner.push(node([e % 3 + at[0], e / 3 % 3 + at[1], e / 9 + at[2]]));
        }
        let corner: Vec<String> = corner.iter().map(usize::to_string).collect();
        text += &format!("{} {kind} 2 1 1 {}\n", e + 1, corner.join(" "));
    }
    text += "$EndElements\n";
    dgsuite_mesh::gmsh::read_bytes(text.as_bytes(), &dgsuite_mesh::gmsh::ReadOptions::default())
        .expect("a mesh")
        .0
}

#[test]
fn boxes_may_be_turned() {
    for dim in [2, 3] {
        let mesh = Arc::new(turned_boxes(dim));
        for order in 1..=if dim == 2 { 5 } else { 3 } {
            let robin = everywhere(&mesh, EllipticBoundary::Robin { alpha: 0.7 });
            let options = SipdgOptions::new(order);
            let lambda = |element: usize, _: [f64; 3]| element as f64;
            let a =
                Sipdg::new(Arc::clone(&mesh), &options, &jumps, &lambda, &robin, host(1)).expect("set up");
            check(&a, true, &format!("turned {dim}D order {order}"));
        }
    }
}

#[test]
fn one_element_meets_itself_across_periodic_boundaries() {
    let mut mesh = unit(Some(Shape::Quadrilateral), 2, 2);
    mesh.make_periodic("xmin", "xmax").expect("periodic");
    mesh.make_periodic("ymin", "ymax").expect("periodic");
    let mesh = Arc::new(mesh);
    let a = poisson(&mesh, 3, EllipticBoundary::Neumann);
    assert!(a.is_singular());
    check(&a, false, "periodic");
    // Constants are in the null space.
    let (one, mut zero) = (a.project(&|_, _| 1.0), vec![0.0; a.len()]);
    a.apply(&one, &mut zero);
    assert!(largest(&zero) < 1e-11);
}

#[test]
fn threads_and_lanes_do_not_change_the_last_bit() {
    let triangle = Some(Shape::Triangle);
    for (shape, dim, cells, order, curved) in
        [(None, 3, 2, 2, true), (triangle, 2, 12, 4, false), (Some(Shape::Tetrahedron), 3, 4, 3, false)]
    {
        let mut mesh = unit(shape, dim, cells);
        if curved {
            bend(&mut mesh, 2);
        }
        let boundaries = mixed_boundaries(&mut mesh);
        let mesh = Arc::new(mesh);
        // Affine simplices with piecewise constant coefficients use a form of their own.
        let kappa: &dgsuite_ops::elliptic::Field<'_> = if curved { &smooth } else { &jumps };
        let of = |threads: usize| {
            let options = SipdgOptions::new(order);
            let a = Sipdg::new(Arc::clone(&mesh), &options, kappa, &kappa, &boundaries, host(threads))
                .expect("set up");
            let mut out = vec![0.0; a.len()];
            a.apply(&noise(a.len(), 3), &mut out);
            out
        };
        let one = of(1);
        for n in [2, 3, 8] {
            assert!(of(n).iter().zip(&one).all(|(a, b)| a.to_bits() == b.to_bits()), "{shape:?} {n} threads");
        }
    }
}

#[test]
fn single_precision_is_the_same_operator() {
    let mesh = Arc::new(unit(None, 2, 3));
    let a = poisson(&mesh, 3, EllipticBoundary::Dirichlet);
    let b = a.single().expect("single precision");
    let f = |_: usize, x: [f64; 3]| (3.0 * x[0]).sin() * (2.0 * x[1] + 0.3).cos();
    let (u, v) = (a.project(&f), b.project(&f));
    let (mut au, mut bv) = (vec![0.0; a.len()], vec![0.0; b.len()]);
    a.apply(&u, &mut au);
    b.apply(&v, &mut bv);
    // The layouts differ, so the effect on a function is compared.
    let energy = crate::elliptic::dot(&u, &au);
    let single: f64 = v.iter().zip(&bv).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum();
    assert!((energy / single - 1.0).abs() < 1e-4, "{energy} {single}");
}

/// Thus everything computed from a matrix, such as the levels of algebraic multigrid, does not depend on the
/// precision or on the SIMD level.
#[test]
fn the_matrix_is_the_same_in_both_precisions() {
    for (dim, cells) in [(2, 7), (3, 3)] {
        let mut mesh = unit(None, dim, cells);
        bend(&mut mesh, 2);
        let a = poisson(&Arc::new(mesh), 2, EllipticBoundary::Dirichlet);
        let b = a.single().expect("single precision");
        let (rows, single) = (a.compressed_rows(), b.compressed_rows());
        assert_eq!((&rows.starts, &rows.columns), (&single.starts, &single.columns));
        assert_eq!(rows.values, single.values);
        assert_ne!(rows.entries, single.entries, "the vectors differ");
        // The number of the unknown of each row, by element and node.
        let numbers = |entries: &[u32], unknowns: &[u32], n: usize| -> Vec<usize> {
            let mut number = vec![n; n];
            unknowns.iter().enumerate().for_each(|(k, &i)| number[i as usize] = k);
            entries.iter().map(|&i| number[i as usize]).collect()
        };
        let of_rows = numbers(&rows.entries, &a.unknowns(), a.len());
        assert_eq!(of_rows, numbers(&single.entries, &b.unknowns(), b.len()));
        let mut sorted = of_rows;
        sorted.sort_unstable();
        assert!(sorted.into_iter().eq(0..a.dofs()));
    }
}

#[test]
fn mass_and_its_inverse_undo_each_other() {
    for (shape, dim, n) in SHAPES {
        let mut mesh = unit(shape, dim, n);
        bend(&mut mesh, 2);
        let a = poisson(&Arc::new(mesh), 2, EllipticBoundary::Dirichlet);
        let u = noise(a.len(), 11);
        let (mut mu, mut back) = (vec![0.0; a.len()], vec![0.0; a.len()]);
        a.mass(&u, &mut mu);
        a.inverse_mass(&mu, &mut back);
        assert!(u.iter().zip(&back).all(|(x, y)| (x - y).abs() < 1e-11), "{shape:?}");
        let (mut unit, diagonal, blocks) = (vec![0.0; a.len()], a.mass_diagonal(), a.blocks_of_unknowns());
        for &i in blocks.iter().flatten().step_by(7) {
            unit[i as usize] = 1.0;
            a.mass(&unit, &mut mu);
            assert!((mu[i as usize] - diagonal[i as usize]).abs() < 1e-13, "{shape:?}: entry {i}");
            unit[i as usize] = 0.0;
        }
        let one = a.project(&|_, _| 1.0);
        a.mass(&one, &mut mu);
        assert!(
            (crate::elliptic::dot(&one, &mu) - 1.0).abs() < 1e-3 && (a.integral(&one) - 1.0).abs() < 1e-3
        );
    }
}

#[test]
fn block_jacobi_inverts_the_diagonal_blocks() {
    let mut mesh = unit(Some(Shape::Triangle), 2, 3);
    bend(&mut mesh, 2);
    let a = poisson(&Arc::new(mesh), 3, EllipticBoundary::Dirichlet);
    let (blocks, matrix) = (a.block_inverses().expect("regular"), a.assemble());
    // On one element alone: its block times the column of the inverse is a unit vector on the element.
    let mut r = vec![0.0; a.len()];
    r[0] = 1.0;
    let mut z = vec![0.0; a.len()];
    blocks.apply(&r, &mut z);
    let mut back = vec![0.0; a.len()];
    for (i, row) in matrix.outer_iterator().enumerate() {
        if z[i] != 0.0 {
            back[i] = row.iter().map(|(j, v)| v * z[j]).sum();
        }
    }
    assert!(back.iter().zip(&r).all(|(x, y)| (x - y).abs() < 1e-11));
}

#[test]
fn bad_problems_are_refused() {
    let mesh = Arc::new(unit(Some(Shape::Triangle), 2, 2));
    let dirichlet = everywhere(&mesh, EllipticBoundary::Dirichlet);
    let set_up =
        |options: SipdgOptions, kappa: f64, lambda: f64, boundaries: &[(String, EllipticBoundary)]| {
            Sipdg::<f64>::new(Arc::clone(&mesh), &options, &|_, _| kappa, &|_, _| lambda, boundaries, host(1))
                .err()
        };
    let ok = SipdgOptions::new(2);
    assert!(set_up(ok, 1.0, 0.0, &dirichlet).is_none());
    for order in [0, 11] {
        assert!(matches!(
            set_up(SipdgOptions::new(order), 1.0, 0.0, &dirichlet),
            Some(OpsError::Elliptic { .. })
        ));
    }
    for penalty in [0.4, -1.0, f64::NAN, f64::INFINITY] {
        let options = SipdgOptions { penalty, ..ok };
        assert!(matches!(set_up(options, 1.0, 0.0, &dirichlet), Some(OpsError::Elliptic { .. })));
    }
    for (kappa, lambda) in [(0.0, 0.0), (-1.0, 0.0), (f64::NAN, 0.0), (1.0, -1.0), (1.0, f64::INFINITY)] {
        assert!(matches!(set_up(ok, kappa, lambda, &dirichlet), Some(OpsError::Coefficient { .. })));
    }
    let missing = set_up(ok, 1.0, 0.0, &dirichlet[1..]);
    assert!(matches!(missing, Some(OpsError::BoundaryWithoutCondition { name }) if name == dirichlet[0].0));
    let robin = everywhere(&mesh, EllipticBoundary::Robin { alpha: -1.0 });
    assert!(matches!(set_up(ok, 1.0, 0.0, &robin), Some(OpsError::Elliptic { .. })));
    let a = poisson(&mesh, 2, EllipticBoundary::Dirichlet);
    assert!(Sipdg::transfer(&a, &a.at_order(3).expect("order 3")).is_err());
}

//! The interior penalty operator, block Jacobi and p-transfers give the same results on device and host.

use crate::device::compiled::Compiled;
use crate::device::elliptic_parts::{compare_lambda, compare_mass, compare_penalties};
use crate::device::emulated::{curved_row, quadrilaterals, row, row_with_end};
use crate::device::residual::device;
use crate::testkit::{Cells, PLANE, SPACE, mesh};
use dgsuite_basis::Shape;
use dgsuite_gpu::cuda::Cuda;
use dgsuite_gpu::{Host, Scalar};
use dgsuite_mesh::{Mesh, generate};
use dgsuite_ops::cuda::{CudaPTransfer, CudaPenalties, CudaSipdg};
use dgsuite_ops::{EllipticBoundary, Sipdg, SipdgOptions};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Kinds of coefficients: constants κ = 1 and λ = 0, constants that jump, or functions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Coefficients {
    One,
    Jumps,
    Smooth,
}

/// Pseudo-random numbers between −1 and 1.
fn noise(n: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    };
    (0..n).map(|_| next()).collect()
}

/// An operator with alternating Dirichlet, Robin and Neumann conditions.
pub(crate) fn operator(mesh: &Arc<Mesh>, order: usize, coefficients: Coefficients) -> Sipdg<f64> {
    let conditions =
        [EllipticBoundary::Dirichlet, EllipticBoundary::Robin { alpha: 2.5 }, EllipticBoundary::Neumann];
    let names = mesh.boundary_names();
    let boundaries: Vec<_> =
        names.iter().enumerate().map(|(i, name)| ((*name).to_owned(), conditions[i % 3])).collect();
    let kappa = |e: usize, x: [f64; 3]| match coefficients {
        Coefficients::One => 1.0,
        Coefficients::Jumps => [1.0, 40.0, 3.0][e % 3],
        Coefficients::Smooth => 1.5 + 0.3 * x[0] + 0.2 * x[1].sin(),
    };
    let lambda = |e: usize, x: [f64; 3]| match coefficients {
        Coefficients::One => 0.0,
        Coefficients::Jumps => [2.0, 0.5][e % 2],
        Coefficients::Smooth => 1.0 + 0.1 * x[0].cos(),
    };
    let host = Arc::new(Host::new(2).expect("a machine"));
    Sipdg::new(Arc::clone(mesh), &SipdgOptions::new(order), &kappa, &lambda, &boundaries, host)
        .expect("an operator")
}

/// The largest `|a_i − b_i|` divided by `scale`.
fn gap(a: &[f64], b: &[f64], scale: f64) -> f64 {
    a.iter().zip(b).fold(0.0_f64, |m, (x, y)| m.max((x - y).abs())) / scale
}

/// The largest `Σ_j |A_ij| |u_j|`, and the number of entries of the longest row.
fn magnitude(a: &sprs::CsMat<f64>, u: &[f64]) -> (f64, usize) {
    let rows = || a.outer_iterator();
    let sum = rows().map(|r| r.iter().map(|(j, v)| (v * u[j]).abs()).sum::<f64>()).fold(0.0, f64::max);
    (sum, rows().map(|r| r.nnz()).max().unwrap_or(0))
}

/// Applies the operator on both machines; with `levels` also block Jacobi and transfers.
pub(crate) fn compare_elliptic<T: Scalar>(
    cuda: &Cuda,
    mesh: &Arc<Mesh>,
    what: &str,
    order: usize,
    coefficients: Coefficients,
    levels: bool,
) {
    let mut host = operator(mesh, order, coefficients);
    let mut on_device = CudaSipdg::<T>::new(cuda, &host).expect("an operator on the device");
    assert_eq!(on_device.len(), host.len());
    let u = noise(host.len(), 3);
    let eps = if T::BYTES == 4 { f64::from(f32::EPSILON) } else { f64::EPSILON };
    let what = format!("{what} p = {order} {coefficients:?} {} bytes", T::BYTES);
    let (mut wanted, mut au) =
        (vec![0.0; host.len()], on_device.upload(&noise(host.len(), 4)).expect("room"));
    host.apply(&u, &mut wanted);
    let on = on_device.upload(&u).expect("room");
    on_device.apply(&on, &mut au).expect("a launch");
    let found = on_device.download(&au).expect("a result");
    let (scale, n) = magnitude(&host.assemble(), &u);
    let difference = gap(&found, &wanted, scale * eps * (n as f64).sqrt());
    assert!(difference <= 8.0, "{what}: A u differs by {difference:.1} roundings");
    compare_steps(&on_device, &u, &wanted, &what, scale * eps * (n as f64).sqrt());

    if levels {
        compare_levels(&host, &on_device, order, &u, &what, eps * (n as f64).sqrt());
    }
    compare_mass(&host, &on_device, &u, &what);
    compare_penalties(&host, &on_device, &|seed| noise(host.len(), seed), &what);
    let largest = wanted.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
    let allowed = 8.0 * scale / largest * (n as f64).sqrt();
    compare_lambda(&mut host, &mut on_device, &u, &what, allowed);
}

/// Compares the residual and a smoother's step, if the operator computes them itself; `au` is `A u`.
fn compare_steps<T: Scalar>(on_device: &CudaSipdg<T>, u: &[f64], au: &[f64], what: &str, rounding: f64) {
    let [b, d, old] = [6, 7, 8].map(|seed| noise(u.len(), seed));
    let [on, b_on, d_on] = [u, &b, &d].map(|v| on_device.upload(v).expect("room"));
    let beta = 0.75;
    let exact: Vec<f64> = (0..u.len()).map(|i| u[i] + beta * d[i] * (b[i] - au[i])).collect();
    // The sum of magnitudes to which rounding refers is at least the magnitude of the terms added to A u.
    let rounding = rounding.max(8.0 * if T::BYTES == 4 { f64::from(f32::EPSILON) } else { f64::EPSILON });
    let mut y = on_device.upload(&old).expect("room");
    if !on_device.relax(beta, &d_on, &b_on, &on, &mut y).expect("a launch") {
        return;
    }
    let difference = gap(&on_device.download(&y).expect("a result"), &exact, rounding);
    assert!(difference <= 8.0, "{what}: a step differs by {difference:.1} roundings");
    let mut y = on_device.upload(&old).expect("room");
    assert!(on_device.residual(&b_on, &on, &mut y).expect("a launch"), "{what}: a residual");
    let wanted: Vec<f64> = b.iter().zip(au).map(|(b, a)| b - a).collect();
    let difference = gap(&on_device.download(&y).expect("a result"), &wanted, rounding);
    assert!(difference <= 8.0, "{what}: the residual differs by {difference:.1} roundings");
}

/// A function u with its energy √(uᵀA u), the host's A u, and the difference of the device's result.
struct Applied {
    u: Vec<f64>,
    energy: f64,
    au: Vec<f64>,
    error: Vec<f64>,
}

/// Checks the operator of preconditioners: tested with smooth functions and noise, its error is a small
/// fraction of their energies (which do not depend on constants in them), and its results have no component
/// along constants.
pub(crate) fn compare_rounded(cuda: &Cuda, cells: Cells, n: usize, order: usize) {
    let mesh = mesh(cells, n, 1, false);
    let boundaries: Vec<_> =
        mesh.boundary_names().iter().map(|b| ((*b).to_owned(), EllipticBoundary::Neumann)).collect();
    let (kappa, zero) = (|e: usize, _: [f64; 3]| [1.0, 4.0, 2.5][e % 3], |_: usize, _: [f64; 3]| 0.0);
    let machine = Arc::new(Host::new(2).expect("a machine"));
    let options = SipdgOptions::new(order);
    let host = Sipdg::new(mesh, &options, &kappa, &zero, &boundaries, machine).expect("an operator");
    let on_device = CudaSipdg::<f32>::rounded(cuda, &host).expect("an operator on the device");
    let one = host.project(&|_, _| 1.0);
    let smooth = host.project(&|_, x: [f64; 3]| 5.0 + (x[0] + 0.5 * x[1] - x[2]).sin());
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    let of = |u: Vec<f64>| {
        let mut au = vec![0.0; u.len()];
        host.apply(&u, &mut au);
        let (on, mut result) = (on_device.upload(&u).expect("room"), on_device.upload(&u).expect("room"));
        on_device.apply(&on, &mut result).expect("a launch");
        let found = on_device.download(&result).expect("a result");
        let largest = found.iter().fold(1.0_f64, |m, v| m.max(v.abs()));
        compare_steps(&on_device, &u, &found, "rounded products", largest * f64::from(f32::EPSILON));
        let error: Vec<f64> = found.iter().zip(&au).map(|(x, y)| x - y).collect();
        Applied { energy: dot(&u, &au).sqrt(), u, error, au }
    };
    let smooth = of(smooth);
    let rough: Vec<Applied> = (3..11)
        .map(|seed| of(noise(host.len(), seed).iter().zip(&one).map(|(v, o)| v * o).collect()))
        .collect();
    // If u or the test function is noise, so is the result, and the mean square measures its magnitude.
    let tested = |what: &str, pairs: &mut dyn Iterator<Item = (&Applied, &Applied)>, most: f64| {
        let shares: Vec<f64> = pairs.map(|(u, v)| dot(&v.u, &u.error) / (u.energy * v.energy)).collect();
        let share = (dot(&shares, &shares) / shares.len() as f64).sqrt();
        println!("{cells:?} p = {order}: {what}: {share:.1e}");
        assert!(share <= most, "{cells:?} p = {order}: {what}: {share:.1e} of the energies");
    };
    tested("smooth by smooth", &mut [(&smooth, &smooth)].into_iter(), 2e-3);
    tested("smooth by noise", &mut rough.iter().map(|v| (&smooth, v)), 2e-3);
    tested("noise by smooth", &mut rough.iter().map(|u| (u, &smooth)), 5e-3);
    tested("noise by itself", &mut rough.iter().map(|u| (u, u)), 2e-3);
    for Applied { error, au, .. } in std::iter::once(&smooth).chain(&rough) {
        let share = dot(&one, error).abs() / au.iter().map(|v| v.abs()).sum::<f64>();
        assert!(share <= 1e-4, "{cells:?} p = {order}: {share:.1e} of the sum of A u, by constants");
    }
}

/// Compares what multigrid uses besides the operator: block Jacobi and transfers.
fn compare_levels<T: Scalar>(
    host: &Sipdg<f64>,
    on_device: &CudaSipdg<T>,
    order: usize,
    u: &[f64],
    what: &str,
    rounding: f64,
) {
    let cuda = on_device.cuda();
    let (on, mut au) = (on_device.upload(u).expect("room"), on_device.upload(u).expect("room"));
    let inverses = host.block_inverses().expect("inverses");
    let twin = on_device.block_inverses(&inverses).expect("inverses on the device");
    let mut z = vec![0.0; host.len()];
    inverses.apply(u, &mut z);
    twin.apply(&on, &mut au).expect("a launch");
    let largest = z.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
    let difference = gap(&on_device.download(&au).expect("a result"), &z, largest * rounding);
    assert!(difference <= 8.0, "{what}: block Jacobi differs by {difference:.1} roundings");

    // Entries that fill up the host's blocks are arbitrary.
    let real = |a: &Sipdg<f64>, v: Vec<f64>| {
        let one = a.project(&|_, _| 1.0);
        v.into_iter().zip(one).map(|(v, o)| if o == 0.0 { 0.0 } else { v }).collect::<Vec<_>>()
    };
    for continuous in [false, true] {
        let mut linelets = host.linelet_inverse(continuous).expect("linelets");
        let mut twin = on_device.linelets(&linelets).expect("linelets on the device");
        linelets.apply(u, &mut z);
        twin.apply(&on, &mut au).expect("a launch");
        let z = real(host, z.clone());
        let largest = z.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        let found = real(host, on_device.download(&au).expect("a result"));
        let difference = gap(&found, &z, largest * rounding);
        assert!(difference <= 64.0, "{what}: linelets differ by {difference:.1} roundings");
        // Whole steps of a smoother: y = x + β B (b − A x), and y = β B b.
        let (b, x) = (noise(host.len(), 11), noise(host.len(), 12));
        let [on_b, on_x] = [&b, &x].map(|v| on_device.upload(v).expect("room"));
        let residual: Vec<f64> = b.iter().zip(u).map(|(b, ax)| b - ax).collect();
        for (from, r, start) in [(Some([&on_x, &on]), &residual, x), (None, &b, vec![0.0; host.len()])] {
            if !twin.relax(0.7, &on_b, from, &mut au).expect("launches") {
                continue;
            }
            let mut z = vec![0.0; host.len()];
            linelets.apply(r, &mut z);
            let y = real(host, start.iter().zip(z).map(|(x, z)| x + 0.7 * z).collect());
            let largest = y.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
            let found = real(host, on_device.download(&au).expect("a result"));
            let difference = gap(&found, &y, largest * rounding);
            assert!(difference <= 64.0, "{what}: a step with linelets differs by {difference:.1} roundings");
        }
    }

    if order == 1 {
        return;
    }
    let coarse = host.at_order(order / 2).expect("a lower order");
    let transfer = Sipdg::transfer(host, &coarse).expect("a transfer");
    let coarse_twin = CudaSipdg::<T>::new(cuda, &coarse).expect("an operator");
    let twin = CudaPTransfer::new(cuda, on_device, &coarse_twin, &transfer).expect("a transfer");
    let c = noise(coarse.len(), 5);
    let (mut up, mut down) = (u.to_vec(), vec![0.0; coarse.len()]);
    transfer.prolong(&c, &mut up);
    transfer.restrict(u, &mut down);
    let mut fine = on_device.upload(u).expect("room");
    let mut low = coarse_twin.upload(&down.iter().map(|_| 9.0).collect::<Vec<_>>()).expect("room");
    twin.restrict(&on, &mut low).expect("a launch");
    twin.prolong_add(&coarse_twin.upload(&c).expect("room"), &mut fine).expect("a launch");
    for (name, a, found, wanted) in [
        ("prolongation", host, on_device.download(&fine).expect("a result"), up),
        ("restriction", &coarse, coarse_twin.download(&low).expect("a result"), down),
    ] {
        let largest = wanted.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        let difference = gap(&real(a, found), &real(a, wanted), largest * rounding);
        assert!(difference <= 8.0, "{what}: {name} differs by {difference:.1} roundings");
    }
}

/// A description, a mesh, an order and coefficients.
pub(crate) type Case = (String, Arc<Mesh>, usize, Coefficients);

/// All shapes, affine and curved, with numbers of elements for which groups are full, one short and one over.
pub(crate) fn few() -> Vec<Case> {
    use Coefficients::{Jumps, One, Smooth};
    let mut cases = Vec::new();
    let mut add = |cells: Cells, n: usize, geometry: usize, periodic: bool, p: usize, c: Coefficients| {
        cases.push((format!("{cells:?}"), mesh(cells, n, geometry, periodic), p, c));
    };
    add(Cells::Mixed2, 2, 2, false, 2, Smooth);
    add(Cells::Mixed3, 1, 1, false, 1, Jumps);
    add(Cells::Of(Shape::Hexahedron), 2, 2, false, 1, Smooth);
    add(Cells::Of(Shape::Quadrilateral), 3, 2, false, 2, One);
    // Affine elements with faces that are not orthogonal to lines, and with orthogonal ones.
    let mut sheared = generate::Box::unit(Shape::Hexahedron, 2).build().expect("a box");
    sheared.map(|[x, y, z]| [x + 0.3 * y, y + 0.1 * z, z + 0.2 * x]).expect("an affine map");
    cases.push(("sheared".to_owned(), Arc::new(sheared), 2, Jumps));
    cases.push(("row".to_owned(), quadrilaterals(33), 2, One));
    // Affine hexahedra beside curved ones, of which all have the kernel of lines.
    let mut half = generate::Box::unit(Shape::Hexahedron, 2).build().expect("a box");
    half.map(|[x, y, z]| [x + 0.2 * z, y * (1.0 + 0.4 * (x - 0.5).max(0.0) * (1.0 + z)), z])
        .expect("a smooth map");
    cases.push(("half curved".to_owned(), Arc::new(half), 2, Jumps));
    // Affine simplices with a faster kernel than the other elements.
    for (dim, p, c) in [(2, 3, Jumps), (3, 2, One)] {
        cases.push(("end curved".to_owned(), curved_row(dim, 33, 0.8), p, c));
    }
    cases.push(("quadrilaterals at the end".to_owned(), row_with_end(2, 33, 3), 2, Jumps));
    // Thin elements, which have linelets.
    for (cells, n, geometry, p) in [
        (Cells::Of(Shape::Triangle), 3, 1, 3),
        (Cells::Of(Shape::Quadrilateral), 3, 2, 3),
        (Cells::Mixed2, 3, 1, 2),
        (Cells::Of(Shape::Hexahedron), 2, 1, 2),
        (Cells::Of(Shape::Prism), 2, 1, 2),
        (Cells::Mixed3, 1, 1, 1),
    ] {
        let mut thin = mesh(cells, n, geometry, false);
        let thin_mesh = Arc::get_mut(&mut thin).expect("a mesh of its own");
        let last = thin_mesh.dim - 1;
        let flat = |mut x: [f64; 3]| {
            x[last] *= 0.05;
            x
        };
        thin_mesh.map(flat).expect("an affine map");
        cases.push((format!("thin {cells:?}"), thin, p, One));
    }
    // Lines with more elements than are loaded at a time, and lines of elements of two shapes.
    for (shape, layers) in [(Shape::Quadrilateral, 18), (Shape::Triangle, 34)] {
        let cells = [1, layers, 1];
        let tall =
            generate::Box { cells, max: [40.0 / layers as f64, 1.0, 1.0], ..generate::Box::unit(shape, 1) };
        cases.push((format!("thin column, {shape:?}"), Arc::new(tall.build().expect("a box")), 2, One));
    }
    let mut across = mesh(Cells::Mixed2, 3, 1, false);
    let turned = Arc::get_mut(&mut across).expect("a mesh of its own");
    turned.map(|[x, y, z]| [0.05 * x, y, z]).expect("an affine map");
    cases.push(("thin lines of two shapes".to_owned(), across, 2, One));
    // The same with affine and curved elements of one shape.
    let mut half = generate::Box::unit(Shape::Quadrilateral, 4).build().expect("a box");
    half.map(|[x, y, z]| [x, 0.05 * y * (1.0 + 0.3 * (x - 0.5).max(0.0) * (1.0 - y)), z])
        .expect("a smooth map");
    cases.push(("thin, half curved".to_owned(), Arc::new(half), 2, One));
    for n in [1, 7, 8, 9, 33] {
        cases.push(("row".to_owned(), row(2, n), [1, 2, 3, 4, 6][n % 5], if n == 8 { One } else { Jumps }));
        cases.push(("row".to_owned(), row(3, n), [3, 2, 1, 3, 2][n % 5], if n == 9 { One } else { Jumps }));
    }
    cases
}

/// Orders of simplices for which products may be rounded.
pub(crate) const ROUNDED: [(Shape, &[usize]); 2] =
    [(Shape::Triangle, &[3, 4, 5, 6, 8]), (Shape::Tetrahedron, &[2, 3])];

#[test]
fn elliptic_operators_on_the_device_are_the_hosts() {
    let Some(cuda) = device() else { return };
    for (what, mesh, p, coefficients) in few() {
        compare_elliptic::<f64>(&cuda, &mesh, &what, p, coefficients, true);
        compare_elliptic::<f32>(&cuda, &mesh, &what, p, coefficients, true);
    }
}

#[test]
fn elliptic_operators_with_rounded_products_are_near_the_hosts() {
    let cases: Vec<_> =
        ROUNDED.iter().flat_map(|(shape, orders)| orders.iter().map(|&p| (*shape, p))).collect();
    side_by_side(&cases, |cuda, &(shape, p)| compare_rounded(cuda, Cells::Of(shape), 3, p));
}

#[test]
fn elliptic_operators_of_all_orders_in_the_plane_are_the_hosts() {
    compare_orders(&PLANE, &[1, 2, 3, 4, 5, 6, 7, 8, 10], 5);
}

#[test]
fn elliptic_operators_of_all_orders_in_space_are_the_hosts() {
    compare_orders(&SPACE, &[1, 2, 3, 4, 6], 2);
}

/// Compares on boxes with `n` cells per direction: affine, with coefficients that jump, and curved.
fn compare_orders(cells: &[Cells], orders: &[usize], n: usize) {
    use Coefficients::{Jumps, One, Smooth};
    // The longest first.
    let cases: Vec<_> = orders.iter().rev().flat_map(|&p| cells.iter().map(move |&c| (c, p))).collect();
    side_by_side(&cases, |cuda, &(cells, p)| {
        for (c, geometry) in [(One, 1), (Jumps, 1), (Smooth, 2)] {
            let mesh = mesh(cells, n, geometry, c != Jumps && p % 2 == 1);
            let what = format!("{cells:?}, geometry {geometry}");
            compare_elliptic::<f64>(cuda, &mesh, &what, p, c, p <= 4);
            if p % 3 == 1 {
                compare_elliptic::<f32>(cuda, &mesh, &what, p, c, p <= 4);
            }
        }
    });
}

/// Runs cases on several threads, as the compilation of their kernels takes most of the time.
fn side_by_side<C: Sync>(cases: &[C], run: impl Fn(&Cuda, &C) + Sync) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                let Some(cuda) = device() else { return };
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    run(&cuda, case);
                }
            });
        }
    });
}

/// The device compiler accepts the texts of all kernels, and the fast ones keep their data in registers.
#[test]
fn elliptic_kernels_compile() {
    use Coefficients::{Jumps, One, Smooth};
    let of = Cells::Of;
    let (triangle, tetrahedron) = (of(Shape::Triangle), of(Shape::Tetrahedron));
    let (quadrilateral, hexahedron) = (of(Shape::Quadrilateral), of(Shape::Hexahedron));
    let cases = [
        (triangle, 1, 2, One, true),
        (triangle, 1, 3, Jumps, true),
        (triangle, 1, 6, One, true),
        (triangle, 1, 8, One, true),
        (tetrahedron, 1, 1, Jumps, true),
        (tetrahedron, 1, 2, One, true),
        (tetrahedron, 1, 4, One, true),
        (quadrilateral, 1, 5, One, true),
        (hexahedron, 1, 3, Jumps, true),
        (hexahedron, 2, 4, Smooth, true),
        (triangle, 2, 3, One, false),
        (of(Shape::Prism), 1, 2, One, false),
    ];
    let boxes = cases.map(|(cells, geometry, p, c, fast)| {
        let rounds = cells == triangle && [3, 8].contains(&p) || cells == tetrahedron && p == 4;
        (format!("{cells:?}"), mesh(cells, 2, geometry, false), p, c, fast, rounds)
    });
    let compiled = Compiled::of("elliptic");
    let end_curved = ("end curved".to_owned(), curved_row(2, 33, 0.8), 3, One, true, false);
    for (what, mesh, p, c, fast, rounds) in boxes.into_iter().chain([end_curved]) {
        let host = operator(&mesh, p, c);
        let mut double = CudaSipdg::<f64>::texts(&host).expect("texts");
        double.extend(CudaPenalties::<f64>::texts(&host).expect("texts"));
        let single = if p <= 3 { CudaSipdg::<f32>::texts(&host).expect("texts") } else { Vec::new() };
        let rounded =
            if rounds { CudaSipdg::<f32>::rounded_texts(&host).expect("texts") } else { Vec::new() };
        assert_eq!(double[0].name != "elliptic.cu", fast, "{what} p = {p}: {}", double[0].name);
        for source in double.iter().chain(&single).chain(&rounded) {
            let fast = source.name != "elliptic.cu";
            for architecture in if p == 3 { vec!["sm_90", "sm_80"] } else { vec!["sm_90"] } {
                for r in compiled.kernels(architecture, source) {
                    println!("{what} p = {p} {architecture}: {r:?}");
                    assert!(!fast || r.stack_bytes <= 128, "{what} p = {p}: {r:?}");
                }
            }
        }
    }
    compiled.close();
}

/// A few other elements leave the affine simplices of a mesh their kernel.
#[test]
fn affine_simplices_keep_their_kernel_beside_other_elements() {
    let names = |mesh: Arc<Mesh>, p: usize| -> Vec<String> {
        let texts = CudaSipdg::<f64>::texts(&operator(&mesh, p, Coefficients::One)).expect("texts");
        texts.iter().map(|text| text.name.clone()).collect()
    };
    let some = ["elliptic_simplex.cu", "elliptic.cu", "elliptic.cu"];
    assert_eq!(names(curved_row(2, 33, 0.8), 3), some);
    assert_eq!(names(row_with_end(2, 33, 3), 3), some);
    assert_eq!(names(row(2, 33), 3), some[..1]);
    assert_eq!(names(curved_row(2, 33, 0.2), 3), some[1..]);
    let (_, half, ..) = few().into_iter().find(|(what, ..)| what == "half curved").expect("a case");
    assert_eq!(names(half, 3), ["elliptic_lines.cu"]);
}

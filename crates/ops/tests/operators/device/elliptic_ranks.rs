//! Elliptic operators on the devices of several ranks: the bits of one, in own elements and in those beyond
//! the cuts.

use crate::device::residual::device;
use crate::elliptic::ranks::{Case, Coefficient, jump, noise, one, zero};
use crate::elliptic::{SHAPES, bend, bend_from, everywhere, full, shear, unit};
use dgsuite_basis::Shape;
use dgsuite_gpu::comm::{on_each, threads};
use dgsuite_gpu::cuda::Cuda;
use dgsuite_gpu::{CudaVector, Scalar, Vector};
use dgsuite_mesh::Partition;
use dgsuite_ops::cuda::{CudaGathering, CudaSipdg};
use dgsuite_ops::{EllipticBoundary, Sipdg};
use std::sync::Arc;

/// Bits of the entries of several vectors, by element.
type Found = Vec<(u32, Vec<u64>)>;

/// What multigrid does with an operator on a device, and sums of vectors.
fn everything(cuda: &Cuda, a: &Sipdg<f64>, found: &mut Found) -> Vec<u64> {
    let on_device = CudaSipdg::<f64>::new(cuda, a).expect("memory");
    let mut add = |values: Vec<f64>| {
        for (entries, (_, bits)) in a.blocks_of_unknowns().iter().zip(&mut *found) {
            bits.extend(entries.iter().map(|&entry| values[entry as usize].to_bits()));
        }
    };
    let u = on_device.upload(&a.numbered(noise)).expect("memory");
    let mut v = u.zeros_like().expect("memory");
    let down = |v: &CudaVector<f64>| on_device.download(v).expect("no failure");
    on_device.apply(&u, &mut v).expect("a product");
    add(down(&v));
    let mut sums = vec![u.dot(&v), u.norm_max(), v.sum()];
    sums.extend(u.dot_two(&v, &u));
    sums.extend(CudaVector::dots(&[(&u, &v), (&v, &v), (&u, &u)]));
    sums.push(v.add_and_square(-0.3, &u));
    add(down(&v));
    let blocks = on_device.block_inverses(&a.block_inverses().expect("regular blocks")).expect("memory");
    blocks.apply(&u, &mut v).expect("a product");
    add(down(&v));
    for continuous in [false, true] {
        let lines = a.linelet_inverse(continuous).expect("positive definite linelets");
        let mut lines = on_device.linelets(&lines).expect("memory");
        lines.apply(&u, &mut v).expect("a product");
        add(down(&v));
        let mut y = u.zeros_like().expect("memory");
        for from in [Some([&u, &v]), None] {
            if lines.relax(0.7, &u, from, &mut y).expect("a step") {
                add(down(&y));
            }
        }
    }
    if let Some(penalties) = on_device.penalties(a).expect("memory") {
        let of = |first: usize| on_device.upload(&a.numbered(|e, i| noise(e, i + first))).expect("memory");
        let velocity: Vec<_> = (0..a.mesh().dim).map(of).collect();
        let mut out: Vec<_> = (5..5 + a.mesh().dim).map(of).collect();
        penalties.apply(&on_device, [&of(8), &of(9)], 0.5, &velocity, &mut out).expect("penalties");
        out.iter().for_each(|component| add(down(component)));
    }
    let rounded = CudaSipdg::<f32>::rounded(cuda, a).expect("memory");
    let u = rounded.upload(&a.numbered(noise)).expect("memory");
    let mut v = u.zeros_like().expect("memory");
    rounded.apply(&u, &mut v).expect("a product");
    add(rounded.download(&v).expect("no failure"));
    sums.push(v.dot(&u));
    sums.into_iter().map(f64::to_bits).collect()
}

/// Vectors of the whole mesh, and back.
fn gathered<T: Scalar>(cuda: &Cuda, part: &Sipdg<f64>, whole: &Sipdg<f64>, what: &str) {
    let on_device = CudaSipdg::<T>::new(cuda, part).expect("memory");
    let gathering = CudaGathering::new(&on_device, part, whole).expect("ranks");
    let rounded = |values: Vec<f64>| values.into_iter().map(|v| T::from_f64(v).to_f64()).collect::<Vec<_>>();
    let u = on_device.upload(&part.numbered(noise)).expect("memory");
    let mut all = CudaVector::<T>::zeros(cuda, whole.len()).expect("memory");
    let mut back = on_device.zeros().expect("memory");
    gathering.gather(&u, &mut all).expect("messages");
    gathering.pick(&all, &mut back).expect("a copy");
    let rows = whole.device_rows().expect("few entries");
    let numbers = all.buffer().to_vec().expect("a copy");
    let all: Vec<f64> = rows.iter().map(|&row| numbers[row as usize].to_f64()).collect();
    assert!(all == rounded(whole.numbered(noise)), "{what}: the whole vector");
    assert!(on_device.download(&back).expect("a copy") == rounded(part.numbered(noise)), "{what}: and back");
}

fn check(cuda: &Cuda, case: &Case, counts: &[usize], what: &str) {
    let whole = case.whole();
    let mut expected: Found = (0..case.mesh.n_elements()).map(|e| (e as u32, Vec::new())).collect();
    let sums = everything(cuda, &whole, &mut expected);
    let lines = whole.linelets().elements();
    for &n in counts {
        let Ok(partition) = Partition::along_chains(&case.mesh, n, |_| 1.0, &lines) else { continue };
        let results = on_each(threads(n), |comm| {
            let part = case.part(&partition, Arc::new(comm));
            let elements = part.ranks().map_or_else(Vec::new, |ranks| ranks.elements().to_vec());
            let mut found: Found = elements.into_iter().map(|e| (e, Vec::new())).collect();
            let sums = everything(cuda, &part, &mut found);
            gathered::<f64>(cuda, &part, &whole, what);
            gathered::<f32>(cuda, &part, &whole, what);
            (found, sums)
        });
        for (rank, (found, of_rank)) in results.iter().enumerate() {
            for (element, bits) in found {
                let expected = &expected[*element as usize].1;
                let at = bits.iter().zip(expected).position(|(a, b)| a != b);
                assert_eq!(at, None, "{what}: rank {rank} of {n}, element {element}, {} entries", bits.len());
                assert_eq!(bits.len(), expected.len());
            }
            assert_eq!(*of_rank, sums, "{what}: rank {rank} of {n}");
        }
    }
}

fn case(
    (shape, dim, n): (Option<Shape>, usize, usize),
    deformation: &str,
    order: usize,
    (kappa, lambda): (Coefficient, Coefficient),
) -> Case {
    let mut mesh = unit(shape, dim, n);
    let last = dim - 1;
    let thin = |mut x: [f64; 3]| {
        x[last] /= 30.0;
        x
    };
    match deformation {
        "sheared" => shear(&mut mesh),
        "half curved" => bend_from(&mut mesh, 2, 0.5, 0.04),
        "curved" => bend(&mut mesh, 2),
        "thin" => mesh.map(thin).expect("affine"),
        _ => {}
    }
    let mut conditions = everywhere(&mesh, EllipticBoundary::Neumann);
    conditions[0].1 = EllipticBoundary::Dirichlet;
    conditions[1].1 = EllipticBoundary::Robin { alpha: 2.0 };
    Case { mesh: Arc::new(mesh), order, kappa, lambda, conditions }
}

/// The cases: each kind of kernels, with and without lines.
pub(crate) fn compare_elliptic_ranks(cuda: &Cuda) {
    for (shape, deformation, n) in [
        (Some(Shape::Quadrilateral), "thin", 5),
        (Some(Shape::Triangle), "sheared", 3),
        // A rank has affine elements only.
        (Some(Shape::Quadrilateral), "half curved", 4),
        // Most elements are simplices; a rank has no others.
        (None, "straight", 5),
    ] {
        let what = format!("{shape:?} {deformation}");
        check(cuda, &case((shape, 2, n), deformation, 2, (jump, one)), &[2, 3], &what);
    }
}

#[test]
fn elliptic_operators_on_devices_of_ranks_have_the_bits_of_one() {
    let Some(cuda) = device() else { return };
    compare_elliptic_ranks(&cuda);
    for (shape, dim, n) in SHAPES {
        for deformation in ["straight", "sheared", "half curved", "curved", "thin"] {
            for order in if full() { 1..=8 } else { 3..=3 } {
                let what = format!("{shape:?} {dim} {deformation} {order}");
                let case = case((shape, dim, n.max(3)), deformation, order, (jump, zero));
                check(&cuda, &case, &[2, 4], &what);
            }
        }
    }
}

//! Operators on several ranks: the bits of one, in own elements and in those beyond the cuts.

use crate::elliptic::{SHAPES, bend, bend_from, everywhere, full, host, shear, unit};
use dgsuite_gpu::comm::{Communicator, Joint, on_each, threads};
use dgsuite_gpu::{HostVector, Vector};
use dgsuite_mesh::{Mesh, Partition};
use dgsuite_ops::elliptic::{EllipticRanks, Field, Gathering};
use dgsuite_ops::{EllipticBoundary, PackScalar, Sipdg, SipdgOptions};
use std::sync::Arc;

pub(crate) type Coefficient = fn(usize, [f64; 3]) -> f64;

/// A problem; coefficients are functions of the number in the whole mesh.
pub(crate) struct Case {
    pub(crate) mesh: Arc<Mesh>,
    pub(crate) order: usize,
    pub(crate) kappa: Coefficient,
    pub(crate) lambda: Coefficient,
    pub(crate) conditions: Vec<(String, EllipticBoundary)>,
}

/// What is computed, by element of the whole mesh: bits of the entries of several vectors.
type Found = Vec<(u32, Vec<u64>)>;

pub(crate) fn noise(element: usize, node: usize) -> f64 {
    (0.7 * (element * 131 + node) as f64).sin()
}

impl Case {
    pub(crate) fn whole(&self) -> Sipdg<f64> {
        let (mesh, options) = (Arc::clone(&self.mesh), SipdgOptions::new(self.order));
        Sipdg::new(mesh, &options, &self.kappa, &self.lambda, &self.conditions, host(1)).expect("an operator")
    }

    pub(crate) fn part(&self, partition: &Partition, comm: Arc<dyn Communicator>) -> Sipdg<f64> {
        let lines = self.whole().linelets().clone();
        let ranks =
            EllipticRanks::new(Arc::clone(&self.mesh), partition.clone(), &lines, Arc::new(Joint::new(comm)));
        let ranks = Arc::new(ranks.expect("a part for each rank"));
        let of = |f: Coefficient| {
            let ranks = Arc::clone(&ranks);
            move |e: usize, x: [f64; 3]| f(ranks.elements()[e] as usize, x)
        };
        let (kappa, lambda, options) = (of(self.kappa), of(self.lambda), SipdgOptions::new(self.order));
        Sipdg::on_ranks(&ranks, &options, &kappa, &lambda, &self.conditions, host(2)).expect("an operator")
    }
}

/// Adds the bits of a vector to those of the elements.
fn add<T: PackScalar>(a: &Sipdg<T>, vector: &[T], found: &mut Found) {
    for (entries, (_, bits)) in a.blocks_of_unknowns().iter().zip(found) {
        bits.extend(entries.iter().map(|&entry| vector[entry as usize].to_f64().to_bits()));
    }
}

/// Everything that multigrid does with an operator.
fn everything(a: &Sipdg<f64>, conditions: usize) -> (Found, Vec<u64>) {
    let number = |local: usize| a.ranks().map_or(local as u32, |ranks| ranks.elements()[local]);
    let mut found: Found = (0..a.mesh().n_elements()).map(|e| (number(e), Vec::new())).collect();
    let u = a.numbered(noise);
    let mut v = vec![0.0; a.len()];
    a.apply(&u, &mut v);
    add(a, &v, &mut found);
    let product = {
        let of = |values: &[f64]| {
            HostVector::from_slice(a.host(), values).expect("memory").summed_by(a.summation())
        };
        let (x, y) = (of(&u), of(&v));
        [x.dot(&y), x.norm_max(), y.norm2(), y.sum()].map(f64::to_bits)
    };
    add(a, &a.diagonal(), &mut found);
    a.block_inverses().expect("regular blocks").apply(&u, &mut v);
    a.refresh(&mut v);
    add(a, &v, &mut found);
    for continuous in [false, true] {
        a.linelet_inverse(continuous).expect("positive definite linelets").apply(&u, &mut v);
        a.refresh(&mut v);
        add(a, &v, &mut found);
    }
    a.inverse_mass(&u, &mut v);
    add(a, &v, &mut found);
    let f = |_: usize, [x, y, z]: [f64; 3]| (x + 2.0 * y).sin() + z;
    let projected = a.project(&f);
    add(a, &projected, &mut found);
    let data: Vec<&Field<'_>> = vec![&f; conditions];
    add(a, &a.right_hand_side(&f, &data), &mut found);
    let single = a.single().expect("memory");
    let u = single.numbered(noise);
    let mut v = vec![0.0; single.len()];
    single.apply(&u, &mut v);
    add(&single, &v, &mut found);
    let coarse = a.at_order(1).expect("memory");
    let (u, mut v) = (a.numbered(noise), vec![0.0; coarse.len()]);
    Sipdg::transfer(a, &coarse).expect("two orders").restrict(&u, &mut v);
    add(&coarse, &v, &mut found);
    let errors = a.errors(&u, &f, Some(&|_, [x, ..]| [x, 1.0, 0.0]));
    let mut numbers = product.to_vec();
    numbers.extend([errors.l1, errors.l2, errors.linf, errors.energy.unwrap_or(0.0)].map(f64::to_bits));
    numbers.push(a.integral(&u).to_bits());
    numbers.push(u64::from(a.is_singular()) + 2 * a.dofs() as u64);
    (found, numbers)
}

#[track_caller]
fn check(case: &Case, counts: &[usize], what: &str) {
    let whole = case.whole();
    let (expected, numbers) = everything(&whole, case.conditions.len());
    let lines = whole.linelets().elements();
    for &n in counts {
        let Ok(partition) = Partition::along_chains(&case.mesh, n, |_| 1.0, &lines) else { continue };
        let results = on_each(threads(n), |comm| {
            let part = case.part(&partition, Arc::new(comm));
            // Vectors of the whole mesh, and back.
            let gathering = Gathering::new(&part, &whole).expect("ranks");
            let u = part.numbered(noise);
            let (mut all, mut back) = (whole.constant(0.0), part.constant(0.0));
            gathering.gather(&u, &mut all);
            gathering.pick(&all, &mut back);
            assert!(all == whole.numbered(noise) && back == u, "{what}: {n} ranks");
            everything(&part, case.conditions.len())
        });
        for (rank, (found, of_rank)) in results.iter().enumerate() {
            for (element, bits) in found {
                let (_, expected) = &expected[*element as usize];
                let at = bits.iter().zip(expected).position(|(a, b)| a != b);
                assert_eq!(at, None, "{what}: rank {rank} of {n}, element {element}, {} entries", bits.len());
                assert_eq!(bits.len(), expected.len());
            }
            assert_eq!(*of_rank, numbers, "{what}: rank {rank} of {n}");
        }
    }
}

pub(crate) fn one(_: usize, _: [f64; 3]) -> f64 {
    1.0
}

pub(crate) fn zero(_: usize, _: [f64; 3]) -> f64 {
    0.0
}

/// Constant in each element; it varies in a quarter of the mesh only.
pub(crate) fn jump(element: usize, _: [f64; 3]) -> f64 {
    if element.is_multiple_of(5) { 30.0 } else { 1.0 }
}

/// Varies within some elements and is constant in others.
fn bump(_: usize, [x, y, _]: [f64; 3]) -> f64 {
    1.0 + (x - 0.5).max(0.0) * (1.0 + y)
}

#[test]
fn operators_on_ranks_have_the_bits_of_one() {
    for (shape, dim, n) in SHAPES {
        for deformation in ["straight", "sheared", "half curved", "curved"] {
            let coefficients: [(Coefficient, Coefficient); 3] = [(one, zero), (jump, one), (bump, bump)];
            for (k, (kappa, lambda)) in coefficients.into_iter().enumerate() {
                let orders = if full() { 1..=4 } else { 2..=2 };
                for order in orders {
                    let mut mesh = unit(shape, dim, if dim == 2 { n.max(4) } else { n.max(2) });
                    match deformation {
                        "sheared" => shear(&mut mesh),
                        "half curved" => bend_from(&mut mesh, 2, 0.5, 0.04),
                        "curved" => bend(&mut mesh, 2),
                        _ => {}
                    }
                    if k == 1 {
                        mesh.make_periodic("ymin", "ymax").expect("opposite sides match");
                    }
                    let mut conditions = everywhere(&mesh, EllipticBoundary::Neumann);
                    match k {
                        0 => {}
                        1 => conditions[0].1 = EllipticBoundary::Dirichlet,
                        _ => conditions[1].1 = EllipticBoundary::Robin { alpha: 2.0 },
                    }
                    let case = Case { mesh: Arc::new(mesh), order, kappa, lambda, conditions };
                    let counts: &[usize] = if full() { &[1, 2, 3, 4, 7] } else { &[2 + k % 2] };
                    check(&case, counts, &format!("{shape:?} {dim} {order} {deformation} {k}"));
                }
            }
        }
    }
}

#[test]
fn thin_meshes_on_ranks_have_the_bits_of_one() {
    for (shape, dim, n) in SHAPES {
        for deformation in ["straight", "half curved"] {
            let mut mesh = unit(shape, dim, if dim == 2 { n.max(5) } else { n.max(3) });
            if deformation == "half curved" {
                bend_from(&mut mesh, 2, 0.5, 0.04);
            }
            let last = dim - 1;
            mesh.map(|mut x| {
                x[last] /= 30.0;
                x
            })
            .expect("affine");
            let conditions = everywhere(&mesh, EllipticBoundary::Dirichlet);
            let case = Case { mesh: Arc::new(mesh), order: 2, kappa: jump, lambda: zero, conditions };
            assert!(!case.whole().linelets().elements().is_empty());
            check(&case, &[2, 4], &format!("thin {shape:?} {dim} {deformation}"));
        }
    }
}

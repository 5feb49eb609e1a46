//! Results are bitwise the same for any number of parts of the mesh.

use crate::laws::diffusion::{self, VISCOUS};
use crate::reactions_of_gas::reactions;
use crate::testkit::{self, Cells, GAS, PLANE, SPACE, mesh, schemes, wavy};
use dgsuite_basis::Shape;
use dgsuite_gpu::Host;
use dgsuite_gpu::comm::{Communicator, Loss, ThreadOptions, on_each, threads, threads_with};
use dgsuite_mesh::{Mesh, Partition, SpaceFillingCurve};
use dgsuite_ops::{
    BoundaryBinding, Discretization, Distribution, EntropyFilter, Equation, Limiting, Neighbourhood, Ranks,
    Scheme, StageWeights,
};
use dgsuite_physics::{Exact, Rusanov};
use std::sync::Arc;
use std::time::Duration;

/// What a run leaves: the state and all that is summed over the mesh, as bits.
#[derive(Debug, PartialEq)]
struct Outcome {
    /// `[element][coefficient]`.
    state: Vec<Vec<u64>>,
    sums: Vec<u64>,
    /// Gradients at lattice points, by element.
    gradients: Vec<(usize, Vec<u64>)>,
}

type Problem = (Equation<f64>, Vec<BoundaryBinding<f64>>);

/// Takes some steps from a state with jumps. `elements` are the indices in the whole mesh.
fn run(d: &mut Discretization<f64>, mesh: &Mesh, elements: &[u32], exact: &dyn Exact) -> Outcome {
    let mut u = vec![0.0; d.len()];
    d.project(exact, 0.0, &mut u);
    let sizes: Vec<usize> = (0..mesh.n_elements())
        .map(|e| {
            let shape = mesh.shape(e);
            d.layouts().find(|(s, ..)| *s == shape).map_or(0, |(_, l, _)| l.rows * l.fields)
        })
        .collect();
    let split = |flat: &[f64]| -> Vec<Vec<f64>> {
        let mut rest = flat;
        sizes
            .iter()
            .map(|&n| {
                let (own, more) = rest.split_at(n);
                rest = more;
                own.to_vec()
            })
            .collect()
    };
    let shaken: Vec<f64> = split(&d.to_canonical(&u))
        .into_iter()
        .zip(elements)
        .flat_map(|(own, &e)| {
            let shake = move |(i, x): (usize, f64)| x * (1.0 + 0.02 * (f64::from(e) + 0.1 * i as f64).sin());
            own.into_iter().enumerate().map(shake).collect::<Vec<f64>>()
        })
        .collect();
    d.from_canonical(&shaken, &mut u).expect("it fits");
    let (mut register, mut next) = (vec![0.0; d.len()], vec![0.0; d.len()]);
    let mut sums = Vec::new();
    for step in 0..3 {
        let dt = 0.1 * d.time_step(&u, None).expect("a gas");
        for (a, c) in [(0.0, 0.5), (-0.7, 0.8), (-0.3, 0.4)] {
            let weights = StageWeights { a, b: 0.0, c, dt, keep: true };
            d.stage(0.1 * f64::from(step), weights, &u, None, &mut register, &mut next);
            std::mem::swap(&mut u, &mut next);
        }
        sums.push(dt);
    }
    sums.extend(d.limited().iter().flat_map(|limited| [limited.share, limited.least]));
    sums.extend(d.least(&u).iter().flatten());
    sums.push(d.norm(&u));
    sums.extend(d.totals(&u));
    sums.extend(d.absolute_totals(&u));
    sums.extend(d.integrate_gradients(&u, 0.3, 4, 1, &|at, out| {
        out.copy_from_slice(&at.gradients[..at.x.len()]);
    }));
    let (_, errors) = d.errors(&u, exact, 0.3);
    sums.extend(errors.l1.iter().chain(&errors.l2).chain(&errors.linf));
    let bits = |v: &[f64]| -> Vec<u64> { v.iter().map(|x| x.to_bits()).collect() };
    let mut gradients = Vec::new();
    for sample in d.sample_with_gradients(&u, 0.3, 2) {
        let nodes = sample.points.len() / sample.elements.len();
        for (i, &e) in sample.elements.iter().enumerate() {
            let columns = sample.gradients.iter().flatten();
            let own: Vec<u64> = columns.flat_map(|c| bits(&c[i * nodes..(i + 1) * nodes])).collect();
            gradients.push((elements[e] as usize, own));
        }
    }
    let state = split(&d.to_canonical(&u)).iter().map(|v| bits(v)).collect();
    Outcome { state, sums: bits(&sums), gradients }
}

/// Compares runs on several ranks with one on the whole mesh.
fn compare(
    what: &str,
    mesh: &Arc<Mesh>,
    scheme: &Scheme,
    partitions: &[Partition],
    limiting: Option<Limiting>,
    of: &(dyn Fn() -> Problem + Sync),
) {
    let exact = wavy(mesh.dim);
    let all: Vec<u32> = (0..mesh.n_elements() as u32).collect();
    let host = || Arc::new(Host::new(1).expect("a machine"));
    let (equation, bindings) = of();
    let mut whole =
        Discretization::new(Arc::clone(mesh), scheme, equation, bindings, host()).expect("a scheme");
    if let Some(limiting) = limiting {
        whole.limit_by(limiting, testkit::bounds(mesh.dim)).expect("the law fits");
    }
    let mut expected = run(&mut whole, mesh, &all, &exact);
    assert!(whole.limited().is_none_or(|limited| limited.share > 0.0), "{what}: nothing is limited");
    expected.gradients.sort_unstable();
    for (i, partition) in partitions.iter().enumerate() {
        // Also where stages wait for messages as soon as they are sent.
        let both = limiting.is_some() || i + 1 == partitions.len();
        let waits: &[bool] = if both { &[false, true] } else { &[false] };
        let on_rank = |comm: Arc<dyn Communicator>, waits: bool| {
            // The last rank alone has the mesh.
            let root = comm.size() - 1;
            let whole = (comm.rank() == root).then(|| Distribution::new(mesh, partition, comm.size()));
            let whole = whole.transpose().expect("one part a rank");
            let ranks = Ranks::distribute(comm, root, whole).expect("a part").overlapping(!waits);
            let ranks = Arc::new(ranks);
            let (equation, bindings) = of();
            let mut d =
                Discretization::on_ranks(&ranks, scheme, equation, bindings, host()).expect("a scheme");
            if let Some(limiting) = limiting {
                d.limit_by(limiting, testkit::bounds(mesh.dim)).expect("the law fits");
            }
            let outcome = run(&mut d, ranks.mesh(), ranks.elements(), &exact);
            assert!(ranks.take_failure().is_none());
            assert_eq!(d.whole().expect("several ranks").dofs, whole_dofs(mesh, &d));
            (ranks.elements().to_vec(), outcome)
        };
        let parts = partition.parts();
        for &waits in waits {
            let what = format!("{what}, {parts} parts, waits: {waits}");
            let outcomes = on_each(threads(parts), |comm| on_rank(Arc::new(comm), waits));
            let mut gradients = Vec::new();
            for (elements, outcome) in outcomes {
                assert_eq!(outcome.sums, expected.sums, "sums: {what}");
                for (e, own) in elements.into_iter().zip(outcome.state) {
                    assert_eq!(own, expected.state[e as usize], "element {e}: {what}");
                }
                gradients.extend(outcome.gradients);
            }
            gradients.sort_unstable();
            assert!(gradients == expected.gradients, "gradients: {what}");
        }
    }
}

fn whole_dofs(mesh: &Mesh, d: &Discretization<f64>) -> usize {
    let summary = &d.whole().expect("several ranks").summary;
    let size = |e| summary.iter().find(|p| p.shape == mesh.shape(e)).map_or(0, |p| p.n_basis);
    (0..mesh.n_elements()).map(size).sum::<usize>() * (mesh.dim + 2)
}

fn numbered(cells: Cells, n: usize, order: usize, periodic: bool) -> Arc<Mesh> {
    let mut mesh = Mesh::clone(&mesh(cells, n, order, periodic));
    mesh.renumber(SpaceFillingCurve::Hilbert);
    Arc::new(mesh)
}

fn along_curve(mesh: &Mesh, parts: &[usize]) -> Vec<Partition> {
    parts.iter().map(|&n| Partition::along_curve(mesh, n, |_| 1.0).expect("enough elements")).collect()
}

/// A partition without order: every part has many pieces, and most faces are cut.
fn scattered(mesh: &Mesh, parts: u32) -> Partition {
    let of = (0..mesh.n_elements() as u32).map(|e| e * 7 % (3 * parts) % parts).collect();
    Partition::of_elements(of).expect("enough elements")
}

#[test]
fn inviscid_flow_on_any_number_of_parts_has_the_same_bits() {
    for cells in PLANE.into_iter().chain(SPACE) {
        for (periodic, order) in [(true, 1), (false, 2)] {
            let mesh = numbered(cells, if cells.dim() == 2 { 6 } else { 2 }, order, periodic);
            let many: &[usize] = if cells.dim() == 2 { &[2, 7] } else { &[2] };
            let mut partitions = along_curve(&mesh, if periodic { many } else { &[3] });
            partitions.push(scattered(&mesh, 2));
            for (name, scheme) in schemes(cells, 2) {
                let data: Arc<dyn Exact> = Arc::new(wavy(cells.dim()));
                let what = format!("{cells:?}, {name}, geometry {order}");
                compare(&what, &mesh, &scheme, &partitions, None, &|| {
                    testkit::problem(&mesh, &scheme, Some(&data))
                });
            }
        }
    }
}

#[test]
fn viscous_flow_on_any_number_of_parts_has_the_same_bits() {
    let cells = [Cells::Of(Shape::Triangle), Cells::Mixed2, Cells::Of(Shape::Prism), Cells::Stacked];
    for cells in cells {
        let mesh = numbered(cells, if cells.dim() == 2 { 6 } else { 2 }, 2, false);
        let mut partitions = along_curve(&mesh, &[2, 4]);
        partitions.push(scattered(&mesh, 3));
        for scheme in [Scheme::modal(2), Scheme::collocated(2)] {
            let data: Arc<dyn Exact> = Arc::new(wavy(cells.dim()));
            let problem = || -> Problem {
                let data = Some(&data);
                if mesh.dim == 2 {
                    diffusion::problem::<_, _, _, _, 2, 4>(&mesh, &scheme, GAS, Rusanov, VISCOUS, data, None)
                } else {
                    diffusion::problem::<_, _, _, _, 3, 5>(&mesh, &scheme, GAS, Rusanov, VISCOUS, data, None)
                }
            };
            compare(&format!("viscous {cells:?}"), &mesh, &scheme, &partitions, None, &problem);
        }
    }
}

#[test]
fn reactions_on_any_number_of_parts_have_the_same_bits() {
    for cells in [Cells::Mixed2, Cells::Of(Shape::Tetrahedron)] {
        let mesh = numbered(cells, if cells.dim() == 2 { 6 } else { 2 }, 2, false);
        let mut partitions = along_curve(&mesh, &[3]);
        partitions.push(scattered(&mesh, 2));
        for scheme in [Scheme::modal(2), Scheme::collocated(2)] {
            let data: Arc<dyn Exact> = Arc::new(wavy(cells.dim()));
            let problem = || -> Problem {
                let (mut equation, bindings) = testkit::problem(&mesh, &scheme, Some(&data));
                equation.reactions = reactions(mesh.dim, Arc::clone(&data));
                (equation, bindings)
            };
            compare(&format!("reactions {cells:?}"), &mesh, &scheme, &partitions, None, &problem);
        }
    }
}

#[test]
fn limiters_on_any_number_of_parts_have_the_same_bits() {
    let filter = Limiting::EntropyFilter(EntropyFilter { gate: false, ..EntropyFilter::default() });
    for (cells, scheme) in [
        (Cells::Mixed2, Scheme::modal(2)),
        (Cells::Of(Shape::Triangle), Scheme::modal(1)),
        (Cells::Of(Shape::Tetrahedron), Scheme::modal(2)),
    ] {
        // So large in the plane that parts have blocks without a cut face.
        let mesh = numbered(cells, if cells.dim() == 2 { 12 } else { 2 }, 1, false);
        let mut partitions = along_curve(&mesh, &[3]);
        partitions.push(scattered(&mesh, 2));
        for limiting in [filter, Limiting::Slopes(Neighbourhood::Faces)] {
            let data: Arc<dyn Exact> = Arc::new(wavy(cells.dim()));
            let problem = || testkit::problem(&mesh, &scheme, Some(&data));
            let what = format!("{cells:?}, {limiting:?}");
            compare(&what, &mesh, &scheme, &partitions, Some(limiting), &problem);
        }
    }
}

#[test]
fn parts_with_one_kind_of_element_have_the_same_bits() {
    // Half of the mesh is curved, so that each part has affine elements or curved ones alone.
    let mut mesh = Mesh::clone(&mesh(Cells::Of(Shape::Quadrilateral), 8, 1, false));
    mesh.elevate(2).expect("the order is raised");
    mesh.map(|[x, y, z]| [x + if y > 0.0 { 0.1 * y * y } else { 0.0 }, y, z]).expect("the mesh is moved");
    let mesh = Arc::new(mesh);
    let of = (0..mesh.n_elements()).map(|e| u32::from(mesh.centroid(e)[1] > 0.0)).collect();
    let partitions = [Partition::of_elements(of).expect("two parts")];
    for (name, scheme) in schemes(Cells::Of(Shape::Quadrilateral), 3) {
        let data: Arc<dyn Exact> = Arc::new(wavy(2));
        compare(name, &mesh, &scheme, &partitions, None, &|| testkit::problem(&mesh, &scheme, Some(&data)));
    }
}

/// One message is lost: of traces, of viscous fluxes or of bounds. The stage in which it lacks ends, with the
/// failure, and so do the exchanges that follow in this stage.
#[test]
fn a_lost_message_ends_the_stage_with_a_failure() {
    let mesh = numbered(Cells::Of(Shape::Triangle), 4, 1, false);
    let partition = &along_curve(&mesh, &[2])[0];
    let scheme = Scheme::modal(2);
    let data: Arc<dyn Exact> = Arc::new(wavy(2));
    let filter = Limiting::EntropyFilter(EntropyFilter { gate: false, ..EntropyFilter::default() });
    for after in 0..6 {
        let on_rank = |comm: Arc<dyn Communicator>| {
            let ranks = Arc::new(Ranks::new(&mesh, partition, comm).expect("one part a rank"));
            let (equation, bindings) = diffusion::problem::<_, _, _, _, 2, 4>(
                &mesh,
                &scheme,
                GAS,
                Rusanov,
                VISCOUS,
                Some(&data),
                None,
            );
            let host = Arc::new(Host::new(1).expect("a machine"));
            let mut d =
                Discretization::on_ranks(&ranks, &scheme, equation, bindings, host).expect("a scheme");
            d.limit_by(filter, testkit::bounds(2)).expect("the law fits");
            let mut u = vec![0.0; d.len()];
            d.project(data.as_ref(), 0.0, &mut u);
            let (mut register, mut next) = (vec![0.0; d.len()], vec![0.0; d.len()]);
            let failure = (0..6).find_map(|_| {
                let weights = StageWeights { a: 0.0, b: 0.0, c: 0.5, dt: 1e-3, keep: true };
                d.stage(0.0, weights, &u, None, &mut register, &mut next);
                ranks.take_failure()
            });
            // A rank that needs nothing of the other one any more learns of it by the next sum.
            let failure = failure.or_else(|| {
                let _ = d.norm(&u);
                ranks.take_failure()
            });
            failure.expect("a failure").to_string()
        };
        let options = ThreadOptions {
            deadline: Duration::from_millis(100),
            delay: None,
            loss: Some(Loss { from: 0, to: 1, after }),
        };
        for failure in on_each(threads_with(2, &options), |comm| on_rank(Arc::new(comm))) {
            assert!(failure.contains("did not answer within 0.1 s"), "{after}: {failure}");
        }
    }
}

#[test]
fn bad_states_on_ranks_are_told_by_all_of_them_as_by_one() {
    // Triangles have the lower numbers, and the last rank has some.
    let mesh = numbered(Cells::Mixed2, 4, 1, true);
    let partition = &along_curve(&mesh, &[3])[0];
    let scheme = Scheme::modal(1);
    let of_rank = |rank: u32| (0..mesh.n_elements()).filter(move |&e| partition.of()[e] == rank);
    let bad = [of_rank(0).next_back(), of_rank(2).next()].map(|element| element.expect("elements"));
    assert!(bad[0] > bad[1] && mesh.shape(bad[0]) != mesh.shape(bad[1]), "{bad:?}");
    let error = |ranks: Option<&Arc<Ranks>>| {
        let (equation, bindings) = testkit::problem(&mesh, &scheme, None);
        let host = Arc::new(Host::new(1).expect("a machine"));
        let d = match ranks {
            Some(ranks) => Discretization::<f64>::on_ranks(ranks, &scheme, equation, bindings, host),
            None => Discretization::new(Arc::clone(&mesh), &scheme, equation, bindings, host),
        };
        let d = d.expect("a scheme");
        let mut u = vec![0.0; d.len()];
        d.project(&wavy(2), 0.0, &mut u);
        let mut states = d.to_canonical(&u);
        let number = |local: usize| ranks.map_or(local, |ranks| ranks.elements()[local] as usize);
        let mut first = 0;
        for local in 0..d.mesh().n_elements() {
            if bad.contains(&number(local)) {
                states[first] = f64::NAN;
            }
            first += 4 * dgsuite_ops::basis_size(&scheme, d.mesh().shape(local));
        }
        assert_eq!(first, states.len());
        d.from_canonical(&states, &mut u).expect("it fits");
        d.time_step(&u, None).expect_err("a bad state").to_string()
    };
    let one = error(None);
    assert!(one.contains("no longer finite"), "{one}");
    let several = on_each(threads(3), |comm| {
        let ranks = Ranks::new(&mesh, partition, Arc::new(comm)).expect("one part a rank");
        error(Some(&Arc::new(ranks)))
    });
    assert!(several.iter().all(|error| *error == one), "{one}: {several:?}");
}

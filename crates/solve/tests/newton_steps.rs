//! Newton steps on curved meshes of all shapes, with every condition: products, blocks, steady states,
//! restarts, threads, ranks, and set-ups that have none.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::Arc;

use dgsuite_basis::NodeSet;
use dgsuite_basis::correction::Parameter;
use dgsuite_gpu::comm::{Communicator, on_each, threads};
use dgsuite_mesh::{Across, Mesh, Shape, generate};
use dgsuite_ops::{Form, Height};
use dgsuite_physics::closures::EddyViscosity;
use dgsuite_physics::formula::{Formula, Names};
use dgsuite_physics::navier_stokes::Viscosity;
use dgsuite_physics::trace::{StateRecording, Sym};
use dgsuite_physics::{
    Closure, Euler, Exact, Given, Hllc, ModelledWall, NavierStokes, Real, SlipLengthWall, WallModel,
};
use dgsuite_solve::flow::{BoundaryKind, Flow, Law, Precision, Riemann, Setup, SplitFlux};
use dgsuite_solve::implicit::{consistency, lacks, rate_and_product};
use dgsuite_solve::own::{ModelSetting, flux, wall, wall_with_height};
use dgsuite_solve::setup::{Newton, ReactionTerm};
use dgsuite_timeint::NewtonStep;

/// A smooth subsonic flow that varies in all directions, `(ρ, ρv, ρE)`.
struct Smooth {
    dim: usize,
    size: f64,
}

impl Exact for Smooth {
    fn n_fields(&self) -> usize {
        self.dim + 2
    }

    fn eval(&self, _t: f64, points: &[[f64; 3]], out: &mut [Vec<f64>]) {
        out.iter_mut().for_each(Vec::clear);
        for x in points {
            let wave = |k: f64| self.size * (k + 2.0 * x[0] - 1.3 * x[1] + 0.7 * x[2]).sin();
            let rho = 1.0 + wave(0.3);
            let v = [0.4 + wave(1.1), 0.1 + wave(2.3), wave(0.7)];
            let p = 1.0 / 1.4 + wave(1.9);
            out[0].push(rho);
            (0..self.dim).for_each(|d| out[1 + d].push(rho * v[d]));
            let kinetic = 0.5 * rho * v[..self.dim].iter().map(|v| v * v).sum::<f64>();
            out[self.dim + 1].push(p / 0.4 + kinetic);
        }
    }

    fn is_steady(&self) -> bool {
        true
    }
}

fn stream(dim: usize) -> Arc<dyn Exact> {
    Arc::new(Smooth { dim, size: 0.0 })
}

/// A box with curved elements.
fn curved(shape: Shape, n: usize) -> Arc<Mesh> {
    let mut mesh = generate::Box::unit(shape, n).build().unwrap();
    mesh.elevate(2).unwrap();
    mesh.map(|x| {
        let bend = 0.06 * (3.0 * x[0]).sin() * (1.0 - x[1]);
        [x[0] + 0.03 * (4.0 * x[1]).sin(), x[1] + bend, x[2] + 0.04 * (3.0 * x[0]).cos() * x[1]]
    })
    .unwrap();
    Arc::new(mesh)
}

fn viscous() -> Law {
    let viscosity = Viscosity::PowerLaw { mu_ref: 0.02, t_ref: 1.0 / 1.4, exponent: 0.7 };
    Law::NavierStokes(NavierStokes {
        gas: Euler { gamma: 1.4 },
        prandtl: 0.72,
        viscosity,
        gas_constant: 1.0,
        closure: None,
    })
}

/// Viscous flow with eddies that count.
fn closed(closure: Closure) -> Law {
    let Law::NavierStokes(law) = viscous() else { unreachable!("a viscous law") };
    let closure = EddyViscosity { constant: 5.0 * closure.usual_constant(), ..EddyViscosity::usual(closure) };
    Law::NavierStokes(NavierStokes { closure: Some(closure), ..law })
}

/// A set-up with one condition of each kind on the sides of a box.
fn setup(mesh: &Arc<Mesh>, law: Law, order: usize) -> Setup {
    let dim = mesh.dim;
    let no_slip = |temperature: Option<f64>| BoundaryKind::NoSlipWall {
        velocity: Some([0.1, 0.0, 0.0].map(Given::Constant)),
        temperature: temperature.map(Given::Constant),
        data: None,
    };
    let inflow = BoundaryKind::SubsonicInflow {
        total_pressure: Given::Constant(0.85),
        total_temperature: Given::Constant(0.78),
        direction: None,
        data: None,
    };
    let outlet = BoundaryKind::PressureOutlet {
        p: Given::Constant(0.7),
        temperature: None,
        velocity: None,
        data: None,
    };
    let walls = match law {
        Law::NavierStokes(_) => [no_slip(None), no_slip(Some(0.8))],
        _ => [BoundaryKind::SlipWall, BoundaryKind::Symmetry],
    };
    let [lower, upper] = walls;
    let mut boundaries: Vec<(&str, BoundaryKind)> =
        vec![("xmin", inflow), ("xmax", outlet), ("ymin", lower), ("ymax", upper)];
    if dim == 3 {
        boundaries.push(("zmin", BoundaryKind::FarField(stream(3))));
        boundaries.push(("zmax", BoundaryKind::Prescribed(stream(3))));
    }
    let boundaries = boundaries.into_iter().map(|(name, kind)| (name.to_owned(), kind)).collect();
    Setup {
        boundaries,
        threads: 1,
        riemann: Riemann::Hllc,
        newton: Some(Newton::default()),
        ..Setup::new(Arc::clone(mesh), law, order)
    }
}

/// Entries without a pattern, of the size of one.
fn scattered(n: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    };
    (0..n).map(|_| next()).collect()
}

fn cases() -> Vec<(&'static str, Setup)> {
    use Shape::{Hexahedron, Prism, Quadrilateral, Tetrahedron, Triangle};
    let euler = || Law::Euler { gamma: 1.4, gas_constant: 1.0 };
    let of = |shape, n, law, order| setup(&curved(shape, n), law, order);
    let reconstructed =
        |shape| of(shape, 3, viscous(), 2).flux_reconstruction(NodeSet::GaussLegendre, Parameter::C(0.0));
    vec![
        ("modal triangles", of(Triangle, 3, viscous(), 2)),
        (
            "modal quadrilaterals, inviscid, Roe",
            Setup { riemann: Riemann::Roe, ..of(Quadrilateral, 3, euler(), 3) },
        ),
        ("collocated quadrilaterals", of(Quadrilateral, 3, viscous(), 2).collocated()),
        ("flux reconstruction", reconstructed(Quadrilateral)),
        ("tetrahedra", of(Tetrahedron, 2, viscous(), 1)),
        ("hexahedra, inviscid", of(Hexahedron, 2, euler(), 1).collocated()),
        ("prisms", of(Prism, 2, viscous(), 1)),
        // Vreman's closure and sigma have kinks where a determinant vanishes.
        ("triangles, closed by Smagorinsky", of(Triangle, 3, closed(Closure::Smagorinsky), 2)),
        ("hexahedra, closed by WALE", of(Hexahedron, 2, closed(Closure::Wale), 2).collocated()),
        ("quadrilaterals in split form", of(Quadrilateral, 3, euler(), 3).split(SplitFlux::Ranocha)),
        ("hexahedra in split form", of(Hexahedron, 2, viscous(), 2).split(SplitFlux::KennedyGruber)),
        ("formulas of the state", by_formulas(of(Triangle, 3, viscous(), 2))),
        ("formulas of the state in space", by_formulas(of(Prism, 2, euler(), 1))),
        ("flux and walls of another crate", own(of(Quadrilateral, 3, viscous(), 2))),
        ("flux of another crate in space", own(of(Tetrahedron, 2, euler(), 1))),
    ]
}

/// With a drag and cooling, and a valve at the outlet, all by formulas of the state and of place.
fn by_formulas(setup: Setup) -> Setup {
    let dim = setup.mesh.dim();
    let names = [&["rho", "u", "v"], &["w"][..dim - 2], &["p", "x", "y", "z"]].concat();
    let names = Names::new(names);
    let formula = |text: &str| Some(Formula::parse(text, &names).unwrap());
    let mut formulas = vec![None; dim + 2];
    formulas[1] = formula("-0.3*rho*u*sqrt(u^2 + v^2)*(1 + x)");
    formulas[dim + 1] = formula("0.2*(0.7 - p/rho)*exp(-y)");
    // The data of an outlet: unused numbers, then the pressure.
    let valve = StateRecording::new(dim + 2, |w, t, x| {
        let mut data = vec![Real::lit(0.0); w.len()];
        data[w.len() - 1] = Sym::lit(0.6) + w[0] * w[1] * w[1] * (Sym::lit(0.3) + x[1]) + t;
        data
    });
    let place = dgsuite_ops::place_and_time(&valve, dim, dim + 2);
    let outlet = BoundaryKind::PressureOutlet {
        p: Given::Prescribed,
        temperature: None,
        velocity: None,
        data: Some(Arc::new(place)),
    };
    let outlet = BoundaryKind::OfState { kind: Box::new(outlet), formulas: Arc::new(valve) };
    let mut boundaries = setup.boundaries;
    boundaries.insert("xmax".to_owned(), outlet);
    Setup { boundaries, reactions: vec![ReactionTerm::Formulas(formulas.into())], ..setup }
}

/// With a flux and conditions that another crate could bring: walls with slip, and with a model.
fn own(setup: Setup) -> Setup {
    let mut boundaries = setup.boundaries;
    boundaries.insert("ymin".to_owned(), BoundaryKind::Own(wall(SlipLengthWall { length: 0.2 }, Some(0.2))));
    if matches!(setup.law, Law::NavierStokes(_)) {
        let model = WallModel::Reichardt;
        let (temperature, velocity) = (Some(0.8), Some([0.1, 0.0, 0.0]));
        let height = Height::Share(0.8);
        let setting = ModelSetting { model, height, passes_heat: true, velocity };
        let modelled = wall_with_height(ModelledWall { model, temperature, velocity }, setting);
        boundaries.insert("ymax".to_owned(), BoundaryKind::Own(modelled));
    }
    Setup { boundaries, riemann: Riemann::Own(flux(Hllc)), ..setup }
}

fn largest(x: impl IntoIterator<Item = f64>) -> f64 {
    x.into_iter().fold(0.0, |m, x| m.max(x.abs()))
}

#[test]
fn products_are_derivatives_of_the_rate() {
    for (name, setup) in cases() {
        // Two-point fluxes differ in the third order of their jumps.
        let size = if setup.form == Form::Split { 0.2 } else { 0.05 };
        let smooth = Smooth { dim: setup.mesh.dim(), size };
        let mut flow = Flow::new(setup.clone(), &smooth, 0.0).unwrap();
        let u = flow.save().fields;
        let v = scattered(u.len(), 7);
        let (rate, product) = rate_and_product(&setup, &u, &v).unwrap();
        // Central differences; larger ones cross kinks of the numerical flux.
        let h = 3e-7;
        let at = |h: f64| {
            let moved: Vec<f64> = u.iter().zip(&v).map(|(u, v)| u + h * v).collect();
            rate_and_product(&setup, &moved, &v).unwrap().0
        };
        let (above, below) = (at(h), at(-h));
        let differences = above.iter().zip(&below).map(|(a, b)| (a - b) / (2.0 * h));
        let error = largest(product.iter().zip(differences).map(|(p, d)| p - d));
        let error = error / largest(product.iter().copied());
        assert!(error < 1e-6, "{name}: {error:.1e}");
        // The rate is that of the solver's steps.
        let dt = 1e-6 * flow.stable_dt().unwrap();
        flow.step(dt).unwrap();
        let after = flow.save().fields;
        let taken = after.iter().zip(&u).zip(&rate).map(|((a, b), r)| (a - b) / dt - r);
        let error = largest(taken) / largest(rate.iter().copied());
        assert!(error < 2e-5, "{name}: {error:.1e}");
    }
}

#[test]
fn blocks_and_the_problem_of_order_one_are_parts_of_the_products() {
    for (name, setup) in cases() {
        let smooth = Smooth { dim: setup.mesh.dim(), size: 0.05 };
        let u = Flow::new(setup.clone(), &smooth, 0.0).unwrap().save().fields;
        let mut seed = 3;
        let direction = |n: usize| {
            seed += 4;
            scattered(n, seed)
        };
        let Some(found) = consistency(&setup, &u, direction).unwrap() else {
            panic!("{name}: no order below")
        };
        assert!(found.blocks < 1e-12 && found.beyond == 0.0, "{name}: {found:?}");
        assert!(
            found.below < 1e-10 && found.matrices.iter().all(|error| *error < 1e-11),
            "{name}: {found:?}"
        );
    }
}

#[test]
fn a_flow_in_a_bent_channel_is_steady_in_a_few_steps_with_the_bits_of_one_thread() {
    let mut ends = Vec::new();
    for threads in [1, 2] {
        let setup = Setup { threads, ..setup(&curved(Shape::Triangle, 4), viscous(), 2) };
        let mut flow = Flow::new(setup, stream(2).as_ref(), 0.0).unwrap();
        let first = largest(flow.residual().unwrap());
        let mut steps = Vec::new();
        while largest(flow.residual().unwrap()) > 1e-10 * first && steps.len() < 30 {
            steps.push(flow.newton_step().unwrap());
        }
        assert!(steps.len() <= 14, "{steps:?}");
        assert!(steps.iter().all(|step| step.share > 0.0 && step.iterations <= 30), "{steps:?}");
        let statistics = flow.newton_statistics().unwrap();
        assert_eq!(statistics.steps, steps.len() as u64);
        ends.push(flow.save().fields);
    }
    assert_eq!(ends[0], ends[1]);
}

/// A bent box of all shapes of its dimension.
fn mixed(dim: usize, cells: [usize; 3]) -> Arc<Mesh> {
    let mut mesh = generate::MixedBox { dim, min: [0.0; 3], max: [1.0; 3], cells }.build().unwrap();
    mesh.elevate(2).unwrap();
    mesh.map(|x| [x[0], x[1] + 0.06 * (3.0 * x[0]).sin() * (1.0 - x[1]), x[2] + 0.03 * x[0] * x[1]]).unwrap();
    Arc::new(mesh)
}

#[test]
fn several_ranks_take_the_steps_of_one_to_the_last_bit() {
    // Steps, the place of the largest rate, and the state on rank 0.
    let run = |setup: Setup| {
        let dim = setup.mesh.dim();
        let mut flow = Flow::new(setup, stream(dim).as_ref(), 0.0).unwrap();
        let steps: Vec<NewtonStep> = (0..5).map(|_| flow.newton_step().unwrap()).collect();
        (steps, flow.largest_rate().unwrap(), flow.save().fields)
    };
    use Shape::{Quadrilateral, Triangle};
    let whole = Newton::default();
    let few = Newton { factor_bytes: 0, ..Newton::default() };
    let cases = [
        ("triangles and quadrilaterals", setup(&mixed(2, [5, 4, 0]), viscous(), 2), whole),
        ("their diagonal blocks", setup(&mixed(2, [5, 4, 0]), viscous(), 2), few),
        ("all shapes in space", setup(&mixed(3, [5, 1, 1]), viscous(), 1), whole),
        ("split form", setup(&curved(Quadrilateral, 4), viscous(), 2).split(SplitFlux::Ranocha), whole),
        ("formulas of the state", by_formulas(setup(&curved(Triangle, 3), viscous(), 2)), whole),
        ("flux and walls of another crate", own(setup(&curved(Quadrilateral, 4), viscous(), 2)), whole),
        ("one shape on a rank", setup(&mixed(2, [4, 1, 0]), viscous(), 2), whole),
    ];
    for (name, setup, newton) in cases {
        let setup = Setup { newton: Some(newton), ..setup };
        let (steps, largest, state) = run(setup.clone());
        assert!(steps.iter().all(|step| step.share > 0.0 && step.iterations > 0), "{name}: {steps:?}");
        for n in [2, 3, 5] {
            let all = on_each(threads(n), |comm| {
                let comm: Arc<dyn Communicator> = Arc::new(comm);
                run(Setup { comm, ..setup.clone() })
            });
            for (rank, of_rank) in all.into_iter().enumerate() {
                assert_eq!((&of_rank.0, &of_rank.1), (&steps, &largest), "{name}: rank {rank} of {n}");
                assert!(rank > 0 || of_rank.2 == state, "{name}: {n} ranks");
            }
        }
    }
}

#[test]
fn the_largest_rate_is_where_a_uniform_flow_is_disturbed() {
    let setup = setup(&curved(Shape::Triangle, 4), viscous(), 2);
    let sides = ["xmin", "xmax", "ymin", "ymax"];
    let boundaries = sides.map(|side| (side.to_owned(), BoundaryKind::FarField(stream(2)))).into();
    let mut flow = Flow::new(Setup { boundaries, ..setup }, stream(2).as_ref(), 0.0).unwrap();
    assert!(flow.largest_rate().unwrap().is_none_or(|rate| rate.change < 1e-12));
    let mut state = flow.save();
    let (element, per_element) = (13, state.fields.len() / 32);
    state.fields[element * per_element] *= 1.1;
    flow.restore(&state).unwrap();
    let rate = flow.largest_rate().unwrap().unwrap();
    assert!(rate.change > 1e-3 && rate.change < 1.0, "{rate:?}");
    let mesh = curved(Shape::Triangle, 4);
    let near = mesh.faces.iter().any(|face| {
        let (Across::Interior { plus, .. } | Across::Periodic { plus, .. }) = face.across else {
            return false;
        };
        let sides = [face.minus.element, plus.element].map(|e| e as usize);
        sides.contains(&element) && sides.contains(&rate.element)
    });
    assert!(near, "{rate:?}");
}

#[test]
fn blocks_take_the_place_of_factors_that_do_not_fit() {
    let mut ends = Vec::new();
    let mut bytes = Vec::new();
    for factor_bytes in [Newton::default().factor_bytes, 0] {
        let newton = Some(Newton { factor_bytes, ..Newton::default() });
        let setup = Setup { newton, ..setup(&curved(Shape::Triangle, 4), viscous(), 2) };
        let mut flow = Flow::new(setup, stream(2).as_ref(), 0.0).unwrap();
        let first = largest(flow.residual().unwrap());
        let mut steps = 0;
        while largest(flow.residual().unwrap()) > 1e-10 * first && steps < 30 {
            flow.newton_step().unwrap();
            steps += 1;
        }
        assert!(steps <= 14, "{steps}");
        bytes.push(flow.newton_statistics().unwrap().bytes);
        ends.push(flow.save().fields);
    }
    let difference = largest(ends[0].iter().zip(&ends[1]).map(|(a, b)| a - b));
    assert!(difference < 1e-8 && ends[0] != ends[1], "{difference:.1e}");
    assert!(bytes[1] < bytes[0] / 2, "{bytes:?}");
}

#[test]
fn a_restored_run_takes_the_same_steps_and_a_changed_one_begins_small() {
    let setup = setup(&curved(Shape::Triangle, 3), viscous(), 2);
    let flow = |setup: &Setup| Flow::new(setup.clone(), stream(2).as_ref(), 0.0).unwrap();
    let mut whole = flow(&setup);
    for _ in 0..4 {
        whole.newton_step().unwrap();
    }
    let saved = whole.save();
    let steps: Vec<NewtonStep> = (0..3).map(|_| whole.newton_step().unwrap()).collect();
    let mut restored = flow(&setup);
    restored.restore(&saved).unwrap();
    let again: Vec<NewtonStep> = (0..3).map(|_| restored.newton_step().unwrap()).collect();
    assert_eq!(steps, again);
    assert!(steps[0].cfl > 100.0 && whole.save().fields == restored.save().fields);
    // Another pressure at the outlet.
    let mut changed = setup;
    let outlet = changed.boundaries.iter_mut().find(|(name, _)| *name == "xmax").unwrap();
    if let BoundaryKind::PressureOutlet { p, .. } = &mut *outlet.1 {
        *p = Given::Constant(0.6);
    }
    let mut other = flow(&changed);
    other.restore(&saved).unwrap();
    assert_eq!(other.newton_step().unwrap().cfl, Newton::default().start);
}

#[test]
fn a_closed_flow_keeps_its_mass() {
    // Between a cold wall that moves and a warm one: steps of different size in each element.
    let wall = |x: f64, temperature: f64| BoundaryKind::NoSlipWall {
        velocity: Some([x, 0.0, 0.0].map(Given::Constant)),
        temperature: Some(Given::Constant(temperature)),
        data: None,
    };
    let mut mesh = generate::Box::unit(Shape::Quadrilateral, 4).build().unwrap();
    mesh.map(|x| [x[0], x[1] * x[1], 0.0]).unwrap();
    mesh.make_periodic("xmin", "xmax").unwrap();
    let boundaries = [("ymin", wall(0.0, 0.9)), ("ymax", wall(0.3, 0.6))];
    let boundaries = boundaries.map(|(side, kind)| (side.to_owned(), kind)).into();
    let setup =
        Setup { boundaries, newton: Some(Newton::default()), ..Setup::new(Arc::new(mesh), viscous(), 2) };
    let mut flow = Flow::new(setup.clone(), stream(2).as_ref(), 0.0).unwrap();
    let (mass, first) = (flow.conserved_totals()[0], largest(flow.residual().unwrap()));
    let mut steps = 0;
    while largest(flow.residual().unwrap()) > 1e-9 * first && steps < 40 {
        flow.newton_step().unwrap();
        steps += 1;
    }
    assert!(steps < 40 && (flow.conserved_totals()[0] / mass - 1.0).abs() < 1e-13, "{steps}");
    // A run that continues has the mass of the first state.
    let mut restored = Flow::new(setup, stream(2).as_ref(), 0.0).unwrap();
    restored.restore(&flow.save()).unwrap();
    restored.newton_step().unwrap();
    flow.newton_step().unwrap();
    assert_eq!(flow.save().fields, restored.save().fields);
}

#[test]
fn a_step_from_a_steady_flow_stays_there() {
    // A uniform flow through open sides.
    let mesh = curved(Shape::Quadrilateral, 3);
    let sides = ["xmin", "xmax", "ymin", "ymax"];
    let boundaries = sides.map(|side| (side.to_owned(), BoundaryKind::FarField(stream(2)))).into();
    let law = Law::Euler { gamma: 1.4, gas_constant: 1.0 };
    let setup = Setup { boundaries, newton: Some(Newton::default()), ..Setup::new(mesh, law, 2) };
    let mut flow = Flow::new(setup, stream(2).as_ref(), 0.0).unwrap();
    let before = flow.save().fields;
    for _ in 0..3 {
        flow.newton_step().unwrap();
    }
    let change = largest(flow.save().fields.iter().zip(&before).map(|(a, b)| a - b));
    assert!(change < 1e-12, "{change:.1e}");
}

#[test]
fn set_ups_without_newton_steps_are_told_why() {
    let mesh = curved(Shape::Quadrilateral, 2);
    let law = || Law::Euler { gamma: 1.4, gas_constant: 1.0 };
    let lack = |setup: &Setup| lacks(setup).unwrap_or_default();
    assert_eq!(lack(&setup(&mesh, law(), 2)), "");
    let single = Setup { precision: Precision::Single, ..setup(&mesh, law(), 2) };
    assert!(lack(&single).contains("precision: double"));
    let refused = Flow::new(single, stream(2).as_ref(), 0.0).err().map(|error| error.to_string());
    assert!(refused.is_some_and(|said| said.contains("in double precision")));
    // Between walls without a temperature; an outlet or implicit steps in time are fine.
    let walls = ["xmin", "xmax", "ymin", "ymax"].map(|side| (side.to_owned(), BoundaryKind::SlipWall)).into();
    let closed = Setup { boundaries: walls, ..setup(&mesh, law(), 2) };
    assert!(lack(&closed).contains("do not keep the energy"));
    assert_eq!(lack(&Setup { newton: None, ..closed }), "");
    let advection = Setup::new(mesh, Law::Advection { velocity: vec![1.0, 0.0] }, 1);
    assert!(lack(&advection).contains("not for advection"));
}

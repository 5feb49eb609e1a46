//! A time step of the whole solver allocates nothing: all kinds of faces, both schemes, one and two threads.

use dgsuite_mesh::generate::MixedBox;
use dgsuite_physics::Exact;
use dgsuite_physics::exact::{Context, Model, by_name};
use dgsuite_solve::flow::{BoundaryKind, Flow, Law, Setup};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The system's allocator with a counter.
struct Counting;

static CALLS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is forwarded to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        CALLS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's guarantees are forwarded.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's guarantees are forwarded.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// A vortex on triangles and quadrilaterals, periodic in y, with far-field boundaries.
fn solver(collocated: bool, curved: bool, threads: usize) -> Flow {
    let mut mesh =
        MixedBox { dim: 2, min: [-5.0; 3], max: [5.0; 3], cells: [12, 12, 1] }.build().expect("a box");
    mesh.make_periodic("ymin", "ymax").expect("periodic in y");
    if curved {
        mesh.elevate(2).expect("curved cells");
        mesh.map(|[x, y, z]| [x + 0.1 * (0.2 * std::f64::consts::PI * y).sin(), y, z])
            .expect("a curved mesh");
    }
    let context = Context { dim: 2, model: Model::Euler { gamma: 1.4 }, period: [0.0; 3] };
    let state = |name| -> Arc<dyn Exact> {
        Arc::from(by_name(name, &Default::default(), &context).expect("a known solution"))
    };
    let far = BoundaryKind::FarField(state("uniform"));
    let boundaries = [("xmin".to_owned(), far), ("xmax".to_owned(), BoundaryKind::Outflow)].into();
    let setup = Setup {
        boundaries,
        threads,
        ..Setup::new(Arc::new(mesh), Law::Euler { gamma: 1.4, gas_constant: 1.0 }, 3)
    };
    let setup = if collocated { setup.collocated() } else { setup };
    Flow::new(setup, state("isentropic-vortex").as_ref(), 0.0).expect("a solver")
}

/// Passing a step to the pool of threads may allocate a new segment of its queue, once for 63 jobs.
const QUEUE_SEGMENTS: usize = 1;
const STEPS: usize = 60;

#[test]
fn a_step_does_not_allocate() {
    // The global pool of the process makes meshes; its threads must have started, like those of the solvers.
    rayon::broadcast(|_| ());
    // The pools are kept until the end, because threads of a dropped pool allocate when they end, at any
    // time.
    let mut solvers = Vec::new();
    for (collocated, curved) in [(false, false), (true, false), (false, true), (true, true)] {
        for threads in [1, 2] {
            let mut solver = solver(collocated, curved, threads);
            let dt = 0.1 * solver.stable_dt().expect("a gas");
            solver.step(dt).expect("a step");
            let before = CALLS.load(Ordering::Relaxed);
            for _ in 0..STEPS {
                solver.step(dt).expect("a step");
            }
            let calls = CALLS.load(Ordering::Relaxed) - before;
            assert!(
                calls <= QUEUE_SEGMENTS,
                "{calls} allocations in {STEPS} steps (collocated {collocated}, curved {curved}, {threads} threads)"
            );
            solvers.push(solver);
        }
    }
}

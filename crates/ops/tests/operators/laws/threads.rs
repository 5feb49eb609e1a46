//! Results are bitwise the same for any number of threads.

use crate::testkit::{Cells, PLANE, euler, mesh, schemes, wavy};
use std::sync::Arc;

#[test]
fn one_thread_and_several_agree_to_the_last_bit() {
    for cells in PLANE.into_iter().chain([Cells::Mixed3]) {
        for periodic in [true, false] {
            // Enough elements for several tasks on each thread.
            let mesh = mesh(cells, if cells.dim() == 2 { 6 } else { 4 }, 2, periodic);
            for (name, scheme) in schemes(cells, 2) {
                let run = |threads: usize| {
                    let data: Arc<dyn dgsuite_physics::Exact> = Arc::new(wavy(cells.dim()));
                    let mut d = euler::<f64>(&mesh, &scheme, Some(&data), threads);
                    let (mut u, mut du) = (vec![0.0; d.len()], vec![0.0; d.len()]);
                    d.project(data.as_ref(), 0.0, &mut u);
                    d.eval(0.0, &u, &mut du);
                    let bits: Vec<u64> = du.iter().map(|v| v.to_bits()).collect();
                    let dt = d.time_step(&u, None).expect("a gas").to_bits();
                    let totals: Vec<u64> =
                        d.totals(&u).iter().chain(d.tally()).map(|v| v.to_bits()).collect();
                    let (_, errors) = d.errors(&u, data.as_ref(), 0.0);
                    let errors: Vec<u64> = errors.l2.iter().map(|v| v.to_bits()).collect();
                    (bits, dt, totals, errors)
                };
                let one = run(1);
                for threads in [2, 3] {
                    assert!(one == run(threads), "{cells:?} periodic {periodic} {name} on {threads} threads");
                }
            }
        }
    }
}

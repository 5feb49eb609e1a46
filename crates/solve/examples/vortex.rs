//! A solver without a pipeline file: the errors of the isentropic vortex on triangles, by order.
//!
//! ```text
//! cargo run --release -p dgsuite-solve --example vortex
//! ```

use std::error::Error;
use std::io::Write as _;
use std::sync::Arc;

use dgsuite_mesh::{Shape, generate};
use dgsuite_physics::exact::{Context, Model, by_name};
use dgsuite_solve::flow::{Flow, Law, Setup};

fn main() -> Result<(), Box<dyn Error>> {
    let gamma = 1.4;
    let mut square = generate::Box::unit(Shape::Triangle, 12);
    (square.min, square.max) = ([-5.0, -5.0, 0.0], [5.0, 5.0, 0.0]);
    let mut mesh = square.build()?;
    mesh.make_periodic("xmin", "xmax")?;
    mesh.make_periodic("ymin", "ymax")?;
    let mesh = Arc::new(mesh);
    let context = Context { dim: 2, model: Model::Euler { gamma }, period: [10.0, 10.0, 0.0] };
    let vortex = by_name("isentropic-vortex", &[].into(), &context)?;

    let mut out = std::io::stdout();
    writeln!(out, "order   unknowns  steps   L2 error of rho   of rho_u   conservation")?;
    for order in 1..=4 {
        let setup = Setup::new(Arc::clone(&mesh), Law::Euler { gamma, gas_constant: 1.0 }, order);
        let cfl = 0.7;
        let mut solver = Flow::new(setup, vortex.as_ref(), 0.0)?;
        let end = 1.0;
        while solver.time() < end {
            let dt = (cfl * solver.stable_dt()?).min(end - solver.time());
            solver.step(dt)?;
        }
        let errors = solver.errors(vortex.as_ref(), solver.time());
        writeln!(
            out,
            "{order:5} {:10} {:6} {:17.3e} {:10.3e} {:14.1e}",
            solver.describe().dofs,
            solver.steps(),
            errors.l2[0],
            errors.l2[1],
            solver.conservation()[0].1
        )?;
    }
    Ok(())
}

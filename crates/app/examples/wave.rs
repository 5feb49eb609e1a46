//! A pipeline file run from Rust: a wave crosses a periodic square, once for each order.
//!
//! ```text
//! cargo run --release -p dgsuite --example wave
//! ```

use std::error::Error;
use std::io::Write as _;

use dgsuite::job::Job;
use dgsuite::plan::Choices;
use dgsuite::run::log::Log;
use dgsuite::{file::source::Source, pipeline::Document};

fn main() -> Result<(), Box<dyn Error>> {
    let results = tempfile::tempdir()?;
    let mut out = std::io::stdout();
    writeln!(out, "order   steps   L2 error of u")?;
    for order in 1..=4 {
        let text = format!(
            "mesh: {{ generate: {{ shape: quad, cells: [8, 8] }}, periodic: [[xmin, xmax], [ymin, ymax]] }}
physics: {{ model: advection, velocity: [1, 0] }}
space: {{ order: {order} }}
initial: {{ exact: {{ u: sin(2*pi*(x - t)) }} }}
time: {{ end: 1 }}
output: {{ fields: none }}
"
        );
        // Results go to a folder of this name in the other one.
        let document = Document::parse(
            &Source::new("wave.yaml", &text),
            results.path(),
            &format!("order-{order}"),
            false,
            &[],
        )?;
        let report = Job::new(&document, &Choices::default())?.execute(&mut Log::new(true))?;
        let summary = &report.summary;
        writeln!(
            out,
            "{order:5} {:>7} {:>15.2e}",
            summary["time"]["steps"],
            summary["error"]["l2"]["u"].as_f64().unwrap_or(f64::NAN)
        )?;
    }
    Ok(())
}

//! The benchmark's table for readers: head and rows.

use super::{Limits, Row};

/// Returns the machine's limits and the names of the columns.
#[must_use]
pub fn head(name: &str, limits: &Limits) -> String {
    let launch =
        if limits.launch > 0.0 { format!(", launch {:.1} us", limits.launch * 1e6) } else { String::new() };
    format!(
        "{name}: copy {:.0} GB/s, read {:.0} GB/s, multiply-adds {:.0} GFLOP/s double, {:.0} single{launch}\n\
         {:<57} | {:^24} | {:^32} |\n\
         {:<44} {:>3} {:>8} | {:>9} {:>7} {:>6} | {:>9} {:>7} {:>7} {:>6} | {:>9}",
        limits.copy / 1e9,
        limits.read / 1e9,
        limits.double / 1e9,
        limits.single / 1e9,
        "",
        "residual",
        "fused stage",
        "elements",
        "p",
        "MDOF",
        "GDOF/s",
        "GB/s",
        "floor",
        "GDOF/s",
        "GB/s",
        "GFLOP/s",
        "floor",
        "registers"
    )
}

/// Returns one row.
#[must_use]
pub fn line(row: &Row, limits: &Limits) -> String {
    let rate = |which: usize, x: f64| row.dofs * x / row.time[which] / 1e9;
    let share = |which: usize| 100.0 * row.floor(which, limits) / row.time[which];
    let model = match row.model {
        "euler" => "",
        "euler-source" => "with source ",
        "poisson" => "poisson ",
        "incompressible" => "",
        _ => "viscous ",
    };
    let name = format!("{model}{} {} {} {}", row.geometry, row.shape, row.form, row.precision);
    let resources = match (row.of_parts, row.resources) {
        (Some(share), _) => format!("{:.0}%, {:.0}% of parts", 100.0 * share[0], 100.0 * share[1]),
        (None, None) => String::new(),
        (None, Some((registers, 0))) => registers.to_string(),
        (None, Some((registers, local))) => format!("{registers}+{local}B"),
    };
    format!(
        "{name:<44} {:>3} {:>8.2} | {:>9.3} {:>7.0} {:>5.0}% | {:>9.3} {:>7.0} {:>7.0} {:>5.0}% | {resources:>9}",
        row.order,
        row.dofs / 1e6,
        rate(0, 1.0),
        rate(0, row.bytes[0]),
        share(0),
        rate(1, 1.0),
        rate(1, row.bytes[1]),
        rate(1, row.flops),
        share(1),
    )
}

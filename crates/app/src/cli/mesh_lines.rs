//! `dgsuite mesh lines`: finds the linelets of a mesh as the smoother of linear solvers does, and shows them.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use dgsuite_mesh::{Mesh, SpaceFillingCurve};

use super::{mesh_cells, mesh_output};
use crate::file::number::{grouped, short as rounded};
use crate::plan::thin;
use dgsuite_output::writer::{Values, VtuOptions};
use dgsuite_solve::elliptic::{
    LineDescription, SHORT, SmootherKind, THIN, ThinElements, aspect_ratio, linelets,
};

pub(super) const HELP: &str = "\
Lines are those of the pressure, and of Poisson's equation with a constant kappa. Fields of the file: line, the
number of an element's line, or -1; place, its place in the line; aspect_ratio.

Examples:
  dgsuite mesh lines wall.msh
  dgsuite picture wall.lines.vtu --field line --mesh --zoom 0:0.2,0:0.1";

#[derive(Debug, Args)]
pub(super) struct LinesArgs {
    /// The mesh file (Gmsh 2.2 or 4.1, text or binary)
    file: PathBuf,
    /// The picture of the lines for ParaView and `dgsuite picture` (default: the name of the mesh with
    /// `.lines.vtu`, in this directory)
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// The order at which the default of the smoother is told.
const ORDER: usize = 3;

/// Finds the lines, writes the picture and returns the table.
///
/// # Errors
/// The errors of the reader and of the writer, and elements that are inverted.
pub(super) fn describe(args: &LinesArgs) -> anyhow::Result<String> {
    let stem = args.file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let path = args.output.clone().unwrap_or_else(|| PathBuf::from(format!("{stem}.lines.vtu")));
    mesh_output::named_as_cells(&path)?;
    let mut mesh = Mesh::read(&args.file)?;
    mesh.renumber(SpaceFillingCurve::Hilbert);
    let mesh = Arc::new(mesh);
    let lines = linelets(&mesh)?;
    let found = LineDescription::new(&mesh, &lines);
    let n = mesh.n_elements();
    let mut out = String::new();
    let mut line = |key: &str, value: String| {
        let _ = writeln!(out, "{key:<11} {value}");
    };
    let place = |found: ThinElements| {
        found
            .thinnest
            .map_or_else(String::new, |thinnest| format!(", at most {}", thin::place(&thinnest, &mesh)))
    };
    line("mesh", format!("{}: {} elements", args.file.display(), grouped(n)));
    let all = ThinElements::of(&mesh);
    line("thin", format!("{} with an aspect ratio above {THIN}{}", grouped(all.count), place(all)));
    let suited = SmootherKind::suited(ORDER, &mesh);
    line("smoother", format!("{} is the default at order {ORDER}", suited.word()));
    let of_lines = match found.lines {
        0 => "none".to_owned(),
        n => format!(
            "{} with {} elements, {} on average, {} at most",
            grouped(n),
            grouped(found.elements),
            rounded(found.mean()),
            grouped(found.longest)
        ),
    };
    line("lines", of_lines);
    for (low, high, n) in by_length(&lines) {
        let range = if high == low { grouped(low) } else { format!("{} to {}", grouped(low), grouped(high)) };
        line("", format!("{:>7} of {range} elements", grouped(n)));
    }
    let none = found.without;
    line("without", format!("{} thin elements in no line{}", grouped(none.count), place(none)));
    let short = found.short;
    line("", format!("{} in no line of more than {SHORT}{}", grouped(short.count), place(short)));
    let (mut number, mut at) = (vec![-1; n], vec![-1; n]);
    for (k, elements) in lines.iter().enumerate() {
        for (i, &element) in elements.iter().enumerate() {
            (number[element as usize], at[element as usize]) = (k as i64, i as i64);
        }
    }
    let ratios = (0..n).map(|element| aspect_ratio(&mesh, element)).collect();
    let fields = [
        ("line", Values::Integer(number)),
        ("place", Values::Integer(at)),
        ("aspect_ratio", Values::Real(ratios)),
    ];
    mesh_cells::elements(&mesh, &fields).write(&path, &VtuOptions::default())?;
    line("cells", path.display().to_string());
    Ok(out)
}

/// The numbers of lines whose lengths are between powers of two: shortest, longest, number.
fn by_length(lines: &[Vec<u32>]) -> Vec<(usize, usize, usize)> {
    let mut bins: Vec<(usize, usize, usize)> = Vec::new();
    let mut lengths: Vec<usize> = lines.iter().map(Vec::len).collect();
    lengths.sort_unstable();
    for length in lengths {
        match bins.last_mut().filter(|(low, ..)| low.ilog2() == length.ilog2()) {
            Some((_, high, n)) => (*high, *n) = (length, *n + 1),
            None => bins.push((length, length, 1)),
        }
    }
    bins
}

#[cfg(test)]
mod tests {
    use super::by_length;

    #[test]
    fn lengths_are_counted_between_powers_of_two() {
        let lines: Vec<Vec<u32>> = [9, 1, 3, 1, 2, 15, 40].map(|n| vec![0; n]).into();
        assert_eq!(by_length(&lines), [(1, 1, 2), (2, 3, 2), (9, 15, 2), (40, 40, 1)]);
        assert!(by_length(&[]).is_empty());
    }
}

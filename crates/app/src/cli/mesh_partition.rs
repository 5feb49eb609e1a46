//! `dgsuite mesh partition`: cuts a mesh as a run on several ranks does, and shows the parts.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use dgsuite_basis::{Quadrature, Shape};
use dgsuite_mesh::{Cutting, Mesh, Partition, SpaceFillingCurve};
use dgsuite_ops::Scheme;

use super::mesh_cells::{self, Values};
use crate::file::number::grouped;
use dgsuite_output::writer::VtuOptions;
use dgsuite_solve::setup::cost;

#[derive(Debug, Args)]
pub(super) struct PartitionArgs {
    /// The mesh file (Gmsh 2.2 or 4.1, text or binary)
    file: PathBuf,
    /// Number of parts, one for each rank
    #[arg(long, value_name = "N")]
    parts: usize,
    /// The way: curve, ranges of the Hilbert curve; graph, by METIS
    #[arg(long, default_value = "curve", value_parser = ["curve", "graph"])]
    method: String,
    /// Polynomial degree, for the sizes of the messages
    #[arg(long, default_value_t = 3)]
    order: usize,
    /// The picture of the parts for ParaView (default: the name of the mesh with `.parts.vtu`, in this
    /// directory)
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Parts that are listed one by one; of more parts the extremes are shown.
const LISTED: usize = 16;

/// Cuts the mesh, writes the picture and returns the table.
///
/// # Errors
/// The errors of the reader and of the writer, or more parts than elements.
pub(super) fn describe(args: &PartitionArgs) -> anyhow::Result<String> {
    let mut mesh = Mesh::read(&args.file)?;
    mesh.renumber(SpaceFillingCurve::Hilbert);
    let space = Scheme::modal(args.order);
    let weights: Vec<f64> = mesh.sets.iter().map(|set| cost(&space, set.shape, set.order)).collect();
    let weight = |element: usize| weights[mesh.locate(element).0];
    let (cutting, how) = match args.method.as_str() {
        "graph" => (Cutting::Graph, "by METIS"),
        _ => (Cutting::Curve, "along the Hilbert curve"),
    };
    let partition = Partition::new(&mesh, args.parts, cutting, weight)?;
    let statistics = partition.statistics(&mesh, weight);
    let bytes = message_bytes(&mesh, &partition, args.order);
    let mut out = format!(
        "{}: {} elements in {} parts, cut {how}\n\n part    elements   load   cut faces  neighbours  bytes a stage\n",
        args.file.display(),
        grouped(mesh.n_elements()),
        args.parts
    );
    let row = |out: &mut String, name: &str, i: usize| {
        let _ = writeln!(
            out,
            "{name:>5} {:>11} {:>6.3} {:>11} {:>11} {:>14}",
            grouped(statistics.elements[i]),
            statistics.load[i],
            grouped(statistics.cuts[i]),
            statistics.neighbours[i],
            grouped(bytes[i])
        );
    };
    for part in 0..args.parts.min(LISTED) {
        row(&mut out, &part.to_string(), part);
    }
    if args.parts > LISTED {
        let most = (0..args.parts).max_by_key(|&i| statistics.cuts[i]).unwrap_or(0);
        let _ = writeln!(out, "  ... part {most} has the most cut faces:");
        row(&mut out, &most.to_string(), most);
    }
    let worst = statistics.load.iter().copied().fold(0.0, f64::max);
    let cut = statistics.cuts.iter().sum::<usize>() / 2;
    let _ = writeln!(
        out,
        "\nlargest load {worst:.3} of the mean; {} of {} faces are cut ({:.2} %)",
        grouped(cut),
        grouped(mesh.faces.len()),
        100.0 * cut as f64 / mesh.faces.len().max(1) as f64
    );
    let _ = writeln!(
        out,
        "bytes are those of a gas in double precision at order {}; viscous terms send them twice",
        args.order
    );
    let stem = args.file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let path = args.output.clone().unwrap_or_else(|| PathBuf::from(format!("{stem}.parts.vtu")));
    let part = partition.of().iter().map(|&part| i64::from(part)).collect();
    mesh_cells::elements(&mesh, &[("part", Values::Integer(part))]).write(&path, &VtuOptions::default())?;
    let _ = writeln!(out, "the parts are shown in {}", path.display());
    Ok(out)
}

/// Bytes that each part sends in a stage of an inviscid gas.
fn message_bytes(mesh: &Mesh, partition: &Partition, order: usize) -> Vec<usize> {
    let fields = mesh.dim + 2;
    let points = |shape: Shape| Quadrature::new(shape, 2 * order + 1).weights.len();
    let of_shape: Vec<(Shape, usize)> =
        [Shape::Line, Shape::Triangle, Shape::Quadrilateral].map(|s| (s, points(s))).into();
    let of_face = |side| {
        let shape = mesh.side_shape(side);
        of_shape.iter().find(|(s, _)| *s == shape).map_or(0, |(_, n)| n * fields * size_of::<f64>())
    };
    let mut bytes = vec![0; partition.parts()];
    for (face, plus) in mesh.faces.iter().filter_map(|face| Some((face, face.across.plus()?))) {
        let parts = [face.minus, plus].map(|side| partition.of()[side.element as usize] as usize);
        if parts[0] != parts[1] {
            parts.into_iter().for_each(|part| bytes[part] += of_face(face.minus));
        }
    }
    bytes
}

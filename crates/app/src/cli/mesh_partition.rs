//! `dgsuite mesh partition`: cuts a mesh as a run on several ranks does, and shows the parts.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use dgsuite_basis::lattice::lattice_len;
use dgsuite_basis::{Quadrature, Shape};
use dgsuite_mesh::{Cutting, Mesh, Partition, SpaceFillingCurve};
use dgsuite_ops::Scheme;

use super::mesh_cells::{self, Values};
use crate::file::number::grouped;
use dgsuite_output::writer::VtuOptions;
use dgsuite_solve::elliptic::{linelets, weights};
use dgsuite_solve::flow::Device;
use dgsuite_solve::setup::cost;

#[derive(Debug, Args)]
pub(super) struct PartitionArgs {
    /// The mesh file (Gmsh 2.2 or 4.1, text or binary)
    file: PathBuf,
    /// Number of parts, one for each rank
    #[arg(long, value_name = "N")]
    parts: usize,
    /// One way alone: curve, ranges of the Hilbert curve, for compressible flow; graph, the same by METIS;
    /// lines, that of Poisson's equation and of incompressible flow, never through a line of thin elements
    /// (default: curve and lines)
    #[arg(long, value_parser = ["curve", "graph", "lines"])]
    method: Option<String>,
    /// Polynomial degree, for the loads and the sizes of the messages
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
    let mesh = Arc::new(mesh);
    let mut out =
        format!("{}: {} elements in {} parts\n", args.file.display(), grouped(mesh.n_elements()), args.parts);
    let mut fields = Vec::new();
    if args.method.as_deref() != Some("lines") {
        fields.push(("part", of_flow(args, &mesh, &mut out)?));
    }
    if matches!(args.method.as_deref(), None | Some("lines")) {
        let name = if fields.is_empty() { "part" } else { "part_lines" };
        fields.push((name, of_solvers(args, &mesh, &mut out)?));
    }
    draw(args, &mesh, &fields, &mut out)?;
    Ok(out)
}

/// The parts of compressible flow and of advection.
fn of_flow(args: &PartitionArgs, mesh: &Mesh, out: &mut String) -> anyhow::Result<Partition> {
    let space = Scheme::modal(args.order);
    let weights: Vec<f64> = mesh.sets.iter().map(|set| cost(&space, set.shape, set.order)).collect();
    let weight = |element: usize| weights[mesh.locate(element).0];
    let (cutting, how) = match args.method.as_deref() {
        Some("graph") => (Cutting::Graph, "by METIS"),
        _ => (Cutting::Curve, "along the Hilbert curve"),
    };
    let partition = Partition::new(mesh, args.parts, cutting, weight)?;
    let statistics = partition.statistics(mesh, weight);
    let bytes = message_bytes(mesh, &partition, args.order);
    let _ = writeln!(
        out,
        "\nCompressible flow: cut {how}\n part    elements   load   cut faces  neighbours  bytes a stage"
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
        row(out, &part.to_string(), part);
    }
    if args.parts > LISTED {
        let most = (0..args.parts).max_by_key(|&i| statistics.cuts[i]).unwrap_or(0);
        let _ = writeln!(out, "  ... part {most} has the most cut faces:");
        row(out, &most.to_string(), most);
    }
    let worst = statistics.load.iter().copied().fold(0.0, f64::max);
    let cut = statistics.cuts.iter().sum::<usize>() / 2;
    let _ = writeln!(
        out,
        "largest load {worst:.3} of the mean, in unknowns; {} of {} faces are cut ({:.2} %)",
        grouped(cut),
        grouped(mesh.faces.len()),
        100.0 * cut as f64 / mesh.faces.len().max(1) as f64
    );
    let _ = writeln!(
        out,
        "bytes are those of a gas in double precision at order {}; viscous terms send them twice",
        args.order
    );
    Ok(partition)
}

/// Writes the picture of the parts, with a field for each partition, and says where.
fn draw(
    args: &PartitionArgs,
    mesh: &Mesh,
    partitions: &[(&str, Partition)],
    out: &mut String,
) -> anyhow::Result<()> {
    let stem = args.file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let path = args.output.clone().unwrap_or_else(|| PathBuf::from(format!("{stem}.parts.vtu")));
    let numbers = |partition: &Partition| partition.of().iter().map(|&part| i64::from(part)).collect();
    let fields: Vec<_> = partitions.iter().map(|(name, p)| (*name, Values::Integer(numbers(p)))).collect();
    mesh_cells::elements(mesh, &fields).write(&path, &VtuOptions::default())?;
    let _ = writeln!(out, "\nthe parts are shown in {}", path.display());
    Ok(())
}

/// The parts of elliptic problems and of incompressible flow: each has its elements and one layer beyond
/// them, which a product brings up to date.
fn of_solvers(args: &PartitionArgs, mesh: &Arc<Mesh>, out: &mut String) -> anyhow::Result<Partition> {
    let lines = linelets(mesh)?;
    let weights = weights(mesh, args.order, Device::Cpu, &lines);
    let partition = Partition::along_chains(mesh, args.parts, |element| weights[element], &lines)?;
    let load = partition.statistics(mesh, |element| weights[element]).load;
    let shares = Shares::new(mesh, &partition, args.order);
    let n = args.parts;
    let _ = writeln!(
        out,
        "\nPoisson's equation and incompressible flow: cut along the Hilbert curve, not through any of {} lines\n part    elements   load    unknowns       layer  neighbours  bytes a product",
        grouped(lines.len()),
    );
    let mut row = |name: &str, i: usize| {
        let _ = writeln!(
            out,
            "{name:>5} {:>11} {:>6.3} {:>11} {:>11} {:>11} {:>16}",
            grouped(shares.elements[i]),
            load[i],
            grouped(shares.unknowns[i]),
            grouped(shares.layer[i]),
            shares.neighbours[i].len(),
            grouped(shares.bytes[i])
        );
    };
    (0..n.min(LISTED)).for_each(|part| row(&part.to_string(), part));
    if n > LISTED {
        let most = (0..n).max_by_key(|&i| shares.bytes[i]).unwrap_or(0);
        row("most", most);
    }
    let largest = load.iter().copied().fold(0.0, f64::max);
    let _ = writeln!(
        out,
        "largest load {largest:.3} of the mean, in measured times of smoothing on a CPU; the layer is work that two ranks do\nbytes are those of one vector in double precision at order {}; multigrid sends most in single precision",
        args.order
    );
    Ok(partition)
}

/// What each part has and sends.
struct Shares {
    elements: Vec<usize>,
    unknowns: Vec<usize>,
    /// Elements of others that the part has.
    layer: Vec<usize>,
    neighbours: Vec<BTreeSet<u32>>,
    /// Bytes of the part's entries of a vector that other parts have.
    bytes: Vec<usize>,
}

impl Shares {
    fn new(mesh: &Mesh, partition: &Partition, order: usize) -> Self {
        let part_of = |element: u32| partition.of()[element as usize];
        let unknowns = |element: usize| lattice_len(mesh.shape(element), order);
        // The elements that a part has beyond its own: each once for each part.
        let mut beyond: Vec<(u32, u32)> = Vec::new();
        for (face, plus) in mesh.faces.iter().filter_map(|face| Some((face, face.across.plus()?))) {
            let [a, b] = [face.minus.element, plus.element];
            if part_of(a) != part_of(b) {
                beyond.extend([(a, part_of(b)), (b, part_of(a))]);
            }
        }
        beyond.sort_unstable();
        beyond.dedup();
        let zeros = vec![0; partition.parts()];
        let mut out = Self {
            elements: zeros.clone(),
            unknowns: zeros.clone(),
            layer: zeros.clone(),
            neighbours: vec![BTreeSet::new(); partition.parts()],
            bytes: zeros,
        };
        for (element, &part) in partition.of().iter().enumerate() {
            out.elements[part as usize] += 1;
            out.unknowns[part as usize] += unknowns(element);
        }
        for (element, to) in beyond {
            let from = part_of(element) as usize;
            out.layer[to as usize] += 1;
            out.bytes[from] += unknowns(element as usize) * size_of::<f64>();
            out.neighbours[from].insert(to);
        }
        out
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use dgsuite_mesh::OverlappingPart;
    use dgsuite_mesh::generate::MixedBox;

    #[test]
    fn parts_of_solvers_have_the_layers_of_a_run() {
        let cells = MixedBox { dim: 2, min: [0.0; 3], max: [1.0, 1.0, 0.0], cells: [9, 7, 0] };
        let mut mesh = cells.build().expect("a box");
        mesh.make_periodic("xmin", "xmax").expect("opposite sides match");
        mesh.renumber(SpaceFillingCurve::Hilbert);
        let partition = Partition::along_chains(&mesh, 3, |_| 1.0, &[]).expect("three parts");
        let shares = Shares::new(&mesh, &partition, 2);
        for rank in 0..3 {
            let part = OverlappingPart::new(&mesh, &partition, rank);
            let own = part.own.iter().filter(|own| **own).count();
            assert_eq!([shares.elements[rank], shares.layer[rank]], [own, part.elements.len() - own]);
            let others: Vec<u32> = part.neighbours.iter().map(|n| n.part).collect();
            assert_eq!(shares.neighbours[rank].iter().copied().collect::<Vec<_>>(), others);
            let sends = part.neighbours.iter().flat_map(|n| &n.sends);
            let unknowns = sends.map(|&e| lattice_len(part.mesh.shape(e as usize), 2)).sum::<usize>();
            assert_eq!(shares.bytes[rank], 8 * unknowns);
        }
    }
}

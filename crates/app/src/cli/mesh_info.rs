//! `dgsuite mesh info`: describes a mesh file, as text, as JSON and as cells for ParaView.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use dgsuite_mesh::gmsh::{self, ReadOptions, Report};
use dgsuite_mesh::quality::{self, BINS, ElementQuality, Range, Statistics};
use dgsuite_mesh::{Mesh, PeriodicLink};
use serde_json::{Value, json};

use super::mesh_cells::{self, Values};
use super::mesh_output;
use crate::file::number::grouped;
use crate::pipeline::checks::rounded;
use crate::plan::print::{counted_shapes, shape_word};
use dgsuite_output::writer::{Precision, VtuOptions};

pub(super) const HELP: &str = "\
Examples:
  dgsuite mesh info wing.msh
  dgsuite mesh info wing.msh --json | jq .scaled_jacobian.min
  dgsuite mesh info wing.msh --vtu wing.vtu";

#[derive(Debug, Args)]
pub(super) struct InfoArgs {
    /// The mesh file (Gmsh 2.2 or 4.1, text or binary)
    file: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Also write the elements with their quality, size and region to this file, for ParaView
    #[arg(long, value_name = "FILE")]
    vtu: Option<PathBuf>,
}

/// Columns of the longest bar of the histogram.
const BAR: usize = 40;

/// A mesh with its measures.
struct Measured<'a> {
    args: &'a InfoArgs,
    mesh: Mesh,
    report: Report,
    quality: Vec<ElementQuality>,
    statistics: Statistics,
}

/// A set of elements with one physical group.
struct Region {
    number: u32,
    /// None where the group has no name, or where elements belong to no group.
    name: Option<String>,
    elements: usize,
    volume: f64,
}

/// Reads a mesh, writes its cells if asked, and returns its description.
///
/// # Errors
/// The errors of the reader and of the writer.
pub(super) fn describe(args: &InfoArgs) -> anyhow::Result<String> {
    if let Some(path) = &args.vtu {
        mesh_output::named_as_cells(path)?;
    }
    let (mesh, report) = gmsh::read(&args.file, &ReadOptions::default())?;
    let quality = quality::elements(&mesh);
    let statistics = quality::statistics_of(&mesh, &quality);
    let measured = Measured { args, mesh, report, quality, statistics };
    if let Some(path) = &args.vtu {
        let options = VtuOptions { precision: Precision::Double, ..VtuOptions::default() };
        measured.cells().write(path, &options)?;
    }
    Ok(if args.json { serde_json::to_string_pretty(&measured.json())? } else { measured.text() })
}

impl Measured<'_> {
    fn cells(&self) -> dgsuite_output::writer::UnstructuredFields {
        let pick = |f: fn(&ElementQuality) -> f64| Values::Real(self.quality.iter().map(f).collect());
        let fields = [
            ("scaled_jacobian", pick(|q| q.scaled_jacobian)),
            ("jacobian_ratio", pick(|q| q.jacobian_ratio)),
            ("size", pick(|q| q.size)),
        ];
        mesh_cells::elements(&self.mesh, &fields)
    }

    /// The regions in the order of their numbers; 0 has the elements without a group.
    fn regions(&self) -> Vec<Region> {
        let mut regions: Vec<Region> = Vec::new();
        for set in &self.mesh.sets {
            for (i, &number) in set.regions.iter().enumerate() {
                let at = regions.binary_search_by_key(&number, |r| r.number).unwrap_or_else(|at| {
                    let named = self.mesh.region_names.iter().find(|r| r.region == number);
                    let name = named.map(|r| r.name.clone());
                    regions.insert(at, Region { number, name, elements: 0, volume: 0.0 });
                    at
                });
                regions[at].elements += 1;
                regions[at].volume += self.quality[set.first + i].volume;
            }
        }
        regions
    }

    /// Names, numbers, faces and measures of the boundaries that have faces.
    fn boundaries(&self) -> Vec<(&str, i32, usize, f64)> {
        let counts = self.mesh.boundary_counts();
        let measures = quality::boundary_measures(&self.mesh);
        let all = self.mesh.boundaries.iter().zip(counts).zip(measures);
        all.filter(|((_, n), _)| *n > 0).map(|((b, n), m)| (b.name.as_str(), b.tag, n, m)).collect()
    }

    /// The links that join faces, with their number.
    fn links(&self) -> Vec<(&PeriodicLink, usize)> {
        let faces = |l: usize| self.mesh.periodic_faces.iter().filter(|f| f.link as usize == l).count();
        self.mesh.links.iter().enumerate().map(|(l, link)| (link, faces(l))).collect()
    }

    fn name(&self, boundary: u32) -> &str {
        self.mesh.boundaries.get(boundary as usize).map_or("?", |b| b.name.as_str())
    }

    fn text(&self) -> String {
        let Self { args, mesh, report, statistics, .. } = self;
        let mut out = String::new();
        let mut line = |key: &str, value: String| {
            let _ = writeln!(out, "{key:<11} {value}");
        };
        let form = if report.binary { "binary" } else { "text" };
        line(
            "mesh",
            format!("{}, {} dimensions, MSH {} {form}", args.file.display(), mesh.dim, report.version),
        );
        line("elements", format!("{} ({})", grouped(mesh.n_elements()), counted_shapes(&mesh.set_sizes())));
        line("order", format!("geometry of order {}", mesh.max_order()));
        line("nodes", grouped(mesh.points.len()));
        line("faces", grouped(mesh.faces.len()));
        let [low, high] = mesh.bounding_box();
        let axes = ["x", "y", "z"];
        let range = |d: usize| format!("{} from {} to {}", axes[d], rounded(low[d]), rounded(high[d]));
        let ranges: Vec<String> = (0..mesh.dim).map(range).collect();
        line("extent", ranges.join(", "));
        let (unit, boundary_unit) = if mesh.dim == 2 { ("area", "length") } else { ("volume", "area") };
        for region in self.regions() {
            let name = match (region.name, region.number) {
                (Some(name), _) => name,
                (None, 0) => "none".to_owned(),
                (None, number) => format!("#{number}"),
            };
            let (elements, volume) = (grouped(region.elements), rounded(region.volume));
            line("region", format!("{name} ({elements} elements, {unit} {volume})"));
        }
        let boundaries: Vec<String> = self
            .boundaries()
            .into_iter()
            .map(|(name, _, n, size)| format!("{name} ({}, {boundary_unit} {})", faces(n), rounded(size)))
            .collect();
        line("boundaries", if boundaries.is_empty() { "none".into() } else { boundaries.join(", ") });
        let links: Vec<String> = self
            .links()
            .into_iter()
            .map(|(l, n)| format!("{} - {} ({})", self.name(l.first), self.name(l.second), faces(n)))
            .collect();
        if !links.is_empty() {
            line("periodic", links.join(", "));
        }
        line(unit, format!("{:.6}", statistics.volume));
        let range = |r: Range| format!("{:.4e} to {:.4e}, mean {:.4e}", r.min, r.max, r.mean);
        line("size", range(statistics.size));
        // The reader has refused all others.
        line("jacobian", "positive everywhere in every element (bound by Bernstein coefficients)".to_owned());
        line("quality", format!("scaled Jacobian {}", range(statistics.scaled_jacobian)));
        let bins = quality::histogram(&self.quality);
        let most = bins.iter().copied().max().unwrap_or(0).max(1);
        let first = bins.iter().position(|&n| n > 0).unwrap_or(0);
        for (bin, &n) in bins.iter().enumerate().skip(first) {
            // Every bin with elements has a bar.
            let bar = "#".repeat((BAR * n).div_ceil(most));
            let (low, high) = (bin as f64 / BINS as f64, (bin + 1) as f64 / BINS as f64);
            let text = format!("{low:.1} to {high:.1} {:>12} {bar}", grouped(n));
            line("", text.trim_end().to_owned());
        }
        for worst in &statistics.worst {
            let [x, y, z] = worst.centroid;
            let place =
                if mesh.dim == 2 { format!("({x:.4}, {y:.4})") } else { format!("({x:.4}, {y:.4}, {z:.4})") };
            let text = format!(
                "element {} ({}) at {place}: scaled Jacobian {:.4}, size {:.4e}",
                worst.tag,
                shape_word(worst.shape),
                worst.quality.scaled_jacobian,
                worst.quality.size
            );
            line("worst", text);
        }
        report.warnings.iter().for_each(|warning| line("warning", warning.to_string()));
        if let Some(path) = &args.vtu {
            line("cells", path.display().to_string());
        }
        out
    }

    /// The object that `docs/src/meshing.md` describes.
    fn json(&self) -> Value {
        let Self { args, mesh, report, statistics, .. } = self;
        let [low, high] = mesh.bounding_box();
        let range = |r: Range| json!({ "min": r.min, "mean": r.mean, "max": r.max });
        let region = |r: &Region| json!({ "name": r.name, "number": r.number, "elements": r.elements, "volume": r.volume });
        let links = self.links().into_iter().map(|(l, n)| {
            json!({
                "first": self.name(l.first),
                "second": self.name(l.second),
                "faces": n,
                "translation": l.is_translation(),
                "matrix": l.linear,
                "offset": l.offset,
            })
        });
        let worst = statistics.worst.iter().map(|w| {
            let (set, i) = mesh.locate(w.element);
            json!({
                "element": w.tag,
                "shape": shape_word(w.shape),
                "region": mesh.sets[set].regions[i],
                "at": w.centroid[..mesh.dim],
                "scaled_jacobian": w.quality.scaled_jacobian,
                "jacobian_ratio": w.quality.jacobian_ratio,
                "size": w.quality.size,
            })
        });
        json!({
            "file": args.file.display().to_string(),
            "format": { "version": report.version.to_string(), "binary": report.binary },
            "dimension": mesh.dim,
            "elements": mesh.n_elements(),
            "shapes": mesh.sets.iter().map(|set| {
                json!({ "shape": shape_word(set.shape), "order": set.order, "elements": set.len() })
            }).collect::<Vec<_>>(),
            "nodes": mesh.points.len(),
            "faces": mesh.faces.len(),
            "extent": { "min": low[..mesh.dim], "max": high[..mesh.dim] },
            "regions": self.regions().iter().map(region).collect::<Vec<_>>(),
            "boundaries": self.boundaries().into_iter().map(|(name, number, faces, measure)| {
                json!({ "name": name, "number": number, "faces": faces, "measure": measure })
            }).collect::<Vec<_>>(),
            "periodic": links.collect::<Vec<_>>(),
            "volume": statistics.volume,
            "size": range(statistics.size),
            "scaled_jacobian": range(statistics.scaled_jacobian),
            "jacobian_ratio": range(statistics.jacobian_ratio),
            "histogram": quality::histogram(&self.quality),
            "worst": worst.collect::<Vec<_>>(),
            "warnings": report.warnings.iter().map(ToString::to_string).collect::<Vec<_>>(),
        })
    }
}

fn faces(n: usize) -> String {
    if n == 1 { "1 face".to_owned() } else { format!("{} faces", grouped(n)) }
}

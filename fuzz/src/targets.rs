//! The fuzz targets: the readers of files that come from outside.
//!
//! Each target accepts any bytes. It panics if the reader panics, or if the reader breaks a promise about the
//! files that it accepts.

use std::fs;
use std::path::Path;

use dgsuite::file::node::Node;
use dgsuite::file::source::Source;
use dgsuite::pipeline::Document;
use dgsuite::plan::Choices;
use dgsuite::run::flow::FlowRun;
use dgsuite_mesh::gmsh::{self, Format, ReadOptions, Version};
use dgsuite_mesh::{Across, Mesh};
use dgsuite_physics::Dual;
use dgsuite_physics::formula::{Formula, Names};

/// Elements, points and faces of a mesh: inner, periodic, on boundaries.
fn counts(mesh: &Mesh) -> [usize; 5] {
    let mut counts = [mesh.n_elements(), mesh.points.len(), 0, 0, 0];
    for face in &mesh.faces {
        match face.across {
            Across::Interior { .. } => counts[2] += 1,
            Across::Periodic { .. } => counts[3] += 1,
            Across::Boundary(_) => counts[4] += 1,
        }
    }
    counts
}

/// Gmsh files: an accepted mesh has elements of positive volume with every side in one face, and can be
/// written and read again.
pub fn mesh(data: &[u8]) {
    let Ok((mesh, report)) = gmsh::read_bytes(data, &ReadOptions::default()) else { return };
    report.warnings.iter().for_each(|warning| assert!(!warning.to_string().is_empty()));
    mesh.check_orientation().expect("positive volumes");
    let sides: usize = mesh.sets.iter().map(|set| set.len() * set.shape.n_faces()).sum();
    let [.., inner, periodic, boundary] = counts(&mesh);
    assert_eq!(sides, 2 * (inner + periodic) + boundary, "every side is in one face");
    for format in [
        Format { version: Version::V22, binary: false, big_endian: false },
        Format { version: Version::V41, binary: true, big_endian: false },
    ] {
        let written = gmsh::to_bytes(&mesh, &format);
        match gmsh::read_bytes(&written, &ReadOptions::default()) {
            Ok((again, _)) => assert_eq!(counts(&again), counts(&mesh), "{format:?}"),
            Err(error) => panic!("a file written as {format:?} is rejected: {error}"),
        }
    }
}

/// Pipeline files: a rejected file has a message, and the tree of an accepted file can be written and read
/// again.
pub fn pipeline(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let source = Source::new("case.yaml", text);
    for ci in [false, true] {
        let document = match Document::parse(&source, Path::new("."), "case", ci, &[]) {
            Ok(document) => document,
            Err(error) => {
                assert!(!error.to_string().is_empty());
                continue;
            }
        };
        if let Err(error) = document.sections() {
            assert!(!error.to_string().is_empty());
        }
        let written = document.root.to_yaml().expect("a tree can be written");
        Node::parse(&Source::new("again.yaml", written)).expect("a written tree can be read");
    }
}

/// The run that wrote the good checkpoints.
const TWO_CELLS: &str = "\
mesh: { generate: { shape: quad, cells: [2, 1] } }
physics: { model: euler, gamma: 1.3 }
space: { order: 1 }
initial: { rho: 1 + 0.1*x, u: 0.5, v: 0, p: 1 }
boundaries:
  xmin: { type: dirichlet, rho: 1, u: 0.5, v: 0, p: 1 }
  xmax: { type: outflow }
  ymin: { type: slip-wall }
  ymax: { type: symmetry }
time: { end: 0.1, dt: 0.025 }
device: cpu
threads: 1
output: { averages: { every_steps: 1, names: [rho] } }
";

/// Checkpoints: a run starts from every accepted file. Files are tried as they are and with matching
/// checksums, because otherwise the code after the checksums would hardly ever be reached.
pub fn checkpoint(data: &[u8]) {
    let source = Source::new("case.yaml", TWO_CELLS);
    let document = Document::parse(&source, Path::new("."), "case", false, &[]).expect("a pipeline file");
    let name = format!("dgsuite-fuzz-{}-{:?}.dgs", std::process::id(), std::thread::current().id());
    let path = std::env::temp_dir().join(name);
    for bytes in [data.to_vec(), sealed(data)] {
        fs::write(&path, bytes).expect("a temporary file");
        let choices = Choices { restart: Some(path.clone()), ..Choices::default() };
        if let Err(error) = FlowRun::new(&document, &choices) {
            assert!(!error.to_string().is_empty());
        }
    }
    fs::remove_file(&path).expect("a temporary file");
}

/// Returns a checkpoint of either format with the right checksums, as far as its lengths give their
/// positions.
fn sealed(data: &[u8]) -> Vec<u8> {
    let mut file = data.to_vec();
    let mut seal = |from: usize, to: usize| {
        let sum = crc32(&file[from..to]).to_le_bytes();
        file[to..to + 4].copy_from_slice(&sum);
    };
    if data.starts_with(b"DGSUITE1") && data.len() >= 12 {
        seal(0, data.len() - 4);
    }
    if data.starts_with(b"DGSUITE2") {
        let mut at = 8;
        while let Some(head) = data.get(at..at + 12) {
            let length = head[4..].iter().rev().fold(0_u64, |n, &byte| n << 8 | u64::from(byte));
            let end = (at as u64 + 12 + u64::from(head[0])).saturating_add(length);
            if end.saturating_add(4) > data.len() as u64 {
                break;
            }
            seal(at, end as usize);
            at = end as usize + 4;
        }
    }
    file
}

/// The CRC-32 of ISO 3309, bit by bit.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |sum, &byte| {
        (0..8).fold(sum ^ u32::from(byte), |sum, _| sum >> 1 ^ if sum & 1 == 1 { 0xedb8_8320 } else { 0 })
    })
}

/// Formulas: the value is the same whether points are evaluated alone or together, with or without
/// derivatives.
pub fn formula(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let names = Names::new(["x", "y", "z", "t"]).constant("gamma", 1.4).expect("a new name");
    let formula = match Formula::parse(text, &names) {
        Ok(formula) => formula,
        Err(error) => {
            assert!(!error.to_string().is_empty() && error.snippet().contains('^'));
            return;
        }
    };
    let points = [[0.0, 0.5, -1.0, 2.0], [-0.3, 1e-300, 1e300, 0.0], [3.0, -2.0, 0.25, f64::NAN]];
    let columns: Vec<Vec<f64>> = (0..4).map(|v| points.iter().map(|x| x[v]).collect()).collect();
    let columns: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
    let mut together = [0.0; 3];
    formula.eval_batch(&columns, &mut together);
    for (x, together) in points.iter().zip(together) {
        let alone = formula.eval(x);
        let with_derivative = formula.trace(&x.map(Dual::variable)).value;
        for other in [together, with_derivative] {
            assert!(same(alone, other), "{text}: {alone:?} at {x:?}, otherwise {other:?}");
        }
        if let Some(value) = formula.constant() {
            assert!(same(alone, value), "{text} is {value:?}, but {alone:?} at {x:?}");
        }
    }
    assert!(formula.variables().iter().all(|name| ["x", "y", "z", "t"].contains(name)));
}

/// The same bits, or both NaN.
fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()
}

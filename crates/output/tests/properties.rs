//! Properties of files and words, for random input.

#![expect(clippy::unwrap_used, reason = "a failed preparation fails the test")]

use std::fs;
use std::path::{Path, PathBuf};

use dgsuite_basis::{Shape, lattice::lattice};
use dgsuite_output::nearest::distance;
use dgsuite_output::picture::{self, PictureError, Run};
use dgsuite_output::writer::{
    CellBlock, Field, Precision, TimeSeries as _, UnstructuredFields, VtuOptions, vtkhdf,
};
use proptest::prelude::*;

/// One cell of a shape with random values.
fn cell(shape: Shape, order: usize, seed: u64) -> UnstructuredFields {
    let points = lattice(shape, order);
    // Numbers of many magnitudes, the same for the same seed.
    let number = |k: usize| {
        let x = (seed as f64 * 0.618 + k as f64 * 12.9898).sin() * 43_758.545_3;
        (x - x.floor() - 0.5) * 10_f64.powi((seed % 13) as i32 - 6)
    };
    let values = (0..points.len()).map(number).collect();
    let point_data = vec![Field::real("Pressure", 1, values)];
    let cell_data = vec![Field::real("size", 1, vec![(seed % 1000) as f64])];
    UnstructuredFields { time: 0.25, pieces: vec![CellBlock { shape, order, points, point_data, cell_data }] }
}

/// Writes the same fields in both formats.
fn written(folder: &Path, fields: &UnstructuredFields) -> [PathBuf; 2] {
    let options = VtuOptions { precision: Precision::Double, ..VtuOptions::default() };
    let [vtu, hdf] = ["a.vtu", "a.vtkhdf"].map(|name| folder.join(name));
    fields.write(&vtu, &options).unwrap();
    vtkhdf::Series::create(&hdf).write(fields, &options).unwrap();
    [vtu, hdf]
}

/// The first time of a file of either format.
fn read(path: &Path) -> Result<UnstructuredFields, PictureError> {
    if path.extension().is_some_and(|e| e == "vtu") {
        return picture::read(path);
    }
    Run::open(path)?.files()[0].1.read()
}

fn shapes() -> impl Strategy<Value = Shape> {
    use Shape::{Hexahedron, Prism, Pyramid, Quadrilateral, Tetrahedron, Triangle};
    prop::sample::select(vec![Triangle, Quadrilateral, Tetrahedron, Hexahedron, Prism, Pyramid])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// A file of either format reads back as what was written.
    #[test]
    fn fields_are_read_as_they_were_written(shape in shapes(), order in 1..5_usize, seed in any::<u64>()) {
        let folder = tempfile::tempdir().unwrap();
        // Pyramids of higher order are written as linear cells.
        let order = if shape == Shape::Pyramid { 1 } else { order };
        let fields = cell(shape, order, seed);
        for path in written(folder.path(), &fields) {
            prop_assert_eq!(&read(&path).unwrap().pieces, &fields.pieces);
        }
    }

    /// A damaged file is an error or other numbers, never a panic.
    #[test]
    fn damaged_files_are_refused(seed in any::<u64>(), at in 0.0..1.0_f64, byte in any::<u8>(), cut in any::<bool>()) {
        let folder = tempfile::tempdir().unwrap();
        for path in written(folder.path(), &cell(Shape::Triangle, 2, seed)) {
            let mut bytes = fs::read(&path).unwrap();
            let place = (at * bytes.len() as f64) as usize;
            if cut {
                bytes.truncate(place);
            } else {
                bytes[place] ^= byte;
            }
            fs::write(&path, bytes).unwrap();
            if let Err(error) = read(&path) {
                prop_assert!(!error.to_string().is_empty());
            }
        }
    }

    /// The distance of names is symmetric, zero only for equal names, and one for one wrong letter.
    #[test]
    fn the_distance_of_names_is_a_distance(a in "[a-z]{0,8}", b in "[a-z]{0,8}") {
        prop_assert_eq!(distance(&a, &b), distance(&b, &a));
        prop_assert_eq!(distance(&a, &b) == 0, a == b);
        prop_assert!(distance(&a, &b) <= a.len().max(b.len()));
    }
}

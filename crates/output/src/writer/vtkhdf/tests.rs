//! Killed runs, files of other programs, damaged files.

use std::path::Path;

use dgsuite_basis::{Shape, lattice::lattice};

use super::super::{CellBlock, Field};
use super::*;

/// Two triangles; with another `size` they are other cells.
fn at(time: f64, size: f64) -> UnstructuredFields {
    let points: Vec<[f64; 3]> = lattice(Shape::Triangle, 2)
        .into_iter()
        .flat_map(|[x, y, z]| [[size * x, y, z], [x + 9.0, y, z]])
        .collect();
    let block = CellBlock {
        shape: Shape::Triangle,
        order: 2,
        point_data: vec![Field::real("a/b", 1, points.iter().map(|x| x[0] + time).collect())],
        cell_data: vec![Field::integer("element_id", 1, vec![4, 7])],
        points,
    };
    UnstructuredFields { time, pieces: vec![block] }
}

/// Bytes of the head of a file: the only ones that an append may change.
const HEAD: usize = 48;

/// What a run leaves that is killed at any moment of an append: the former times, to which more are appended.
#[test]
fn a_killed_append_leaves_the_times_before() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("f.vtkhdf");
    let options = VtuOptions::default();
    let mut series = Series::create(&path);
    for time in [0.0, 1.0] {
        series.write(&at(time, 1.0), &options).unwrap();
    }
    // A new time, other cells, and a time that replaces the last one.
    for (time, size, after) in [
        (2.0, 1.0, &[0.0, 1.0, 2.0][..]),
        (3.0, 0.5, &[0.0, 1.0, 2.0, 3.0]),
        (3.0, 0.5, &[0.0, 1.0, 2.0, 3.0]),
    ] {
        let (old, before) = (fs::read(&path).unwrap(), series.times().unwrap());
        series.write(&at(time, size), &options).unwrap();
        assert_eq!(series.times().unwrap(), after);
        let new = fs::read(&path).unwrap();
        for done in [old.len(), (old.len() + new.len()) / 2, new.len(), HEAD] {
            let killed = directory.path().join("killed.vtkhdf");
            // What comes behind `done` was not written.
            let rest = old.get(done..).unwrap_or_default();
            fs::write(&killed, [&old[..HEAD], &new[HEAD..done], rest].concat()).unwrap();
            let mut continued = Series::resume(&killed, 9.0, &["a/b"], Precision::Single).unwrap();
            assert_eq!(continued.times().unwrap(), before);
            continued.write(&at(5.0, size), &options).unwrap();
            let last = read::read(&killed, before.len()).unwrap();
            assert_eq!((last.time, last.of_cells[0].2.as_slice()), (5.0, &[4.0, 7.0][..]));
        }
    }
}

#[test]
fn cells_and_numbers_of_elements_are_stored_once() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("f.vtkhdf");
    let options = VtuOptions::default();
    let mut series = Series::create(&path);
    for time in 0..4 {
        series.write(&at(f64::from(time), 1.0), &options).unwrap();
    }
    let mut series = Series::resume(&path, 2.0, &["a/b"], Precision::Single).unwrap();
    series.write(&at(3.0, 1.0), &options).unwrap();
    let catalog = State::load(&path).unwrap().catalog;
    let rows: Vec<_> = catalog.arrays.iter().map(|array| (array.path.as_str(), array.rows)).collect();
    // Numbers of elements are written again by another run; the values of the time that was dropped stay.
    let expected = [("Points", 12), ("Connectivity", 12), ("Offsets", 3), ("Types", 2)];
    assert_eq!(rows[..4], expected);
    assert_eq!(rows[4..], [("PointData/a\u{2215}b", 5 * 12), ("CellData/element_id", 2 * 2)]);
    assert_eq!(catalog.parts.len(), 1);
}

#[test]
fn other_and_damaged_files_are_errors() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("f.vtkhdf");
    fs::write(&path, "not HDF5").unwrap();
    let resumed = |path: &Path| Series::resume(path, 0.0, &["a/b"], Precision::Single);
    let error = resumed(&path).unwrap_err().to_string();
    assert!(error.contains("f.vtkhdf") && error.contains("move the file away"), "{error}");
    let mut series = Series::create(&path);
    series.write(&at(0.0, 1.0), &VtuOptions::default()).unwrap();
    let other = series.write(&UnstructuredFields { time: 1.0, ..without_data() }, &VtuOptions::default());
    assert!(matches!(other, Err(WriterError::Hdf { .. })), "{other:?}");
    assert_eq!(series.times().unwrap(), [0.0]);
    // Damaged files are refused or read as far as they go.
    let good = fs::read(&path).unwrap();
    let mut state = 1u64;
    for _ in 0..300 {
        let mut bad = good.clone();
        for _ in 0..3 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let at = (state >> 33) as usize % bad.len();
            bad[at] = bad[at].wrapping_add((state >> 20) as u8 | 1);
        }
        fs::write(&path, &bad).unwrap();
        let _ = (read::read(&path, 0), resumed(&path));
    }
}

/// A time comes back to the last bit: otherwise a run that continues from it drops it.
#[test]
fn times_come_back_to_the_last_bit() {
    let mut state = 1u64;
    let times: Vec<f64> = (0..20_000)
        .map(|k| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            // Multiples of an interval, sums, and any positive numbers.
            [f64::from(k) * 0.013, 0.1 * f64::from(k) + 0.2, f64::from_bits(state >> 2)][k as usize % 3]
        })
        .collect();
    let catalog = Catalog { times, ..Catalog::default() };
    let back: Catalog = serde_json::from_slice(&serde_json::to_vec(&catalog).unwrap()).unwrap();
    assert!(back.times.iter().zip(&catalog.times).all(|(a, b)| a.to_bits() == b.to_bits()));
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("f.vtkhdf");
    let mut series = Series::create(&path);
    let time = 9.0 * 0.013;
    for time in [0.0, time] {
        series.write(&at(time, 1.0), &VtuOptions::default()).unwrap();
    }
    let series = Series::resume(&path, time, &["a/b"], Precision::Single).unwrap();
    assert_eq!(series.times().unwrap(), [0.0, time]);
}

/// Files whose checksums fit, but which this program cannot have written.
#[test]
fn forged_numbers_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let [good, path] = ["good", "forged"].map(|name| directory.path().join(name).with_extension("vtkhdf"));
    let mut series = Series::create(&good);
    for time in [0.0, 1.0] {
        series.write(&at(time, 1.0), &VtuOptions::default()).unwrap();
    }
    let forged = |forge: &dyn Fn(&mut Catalog)| {
        fs::copy(&good, &path).unwrap();
        let mut state = State::load(&path).unwrap();
        forge(&mut state.catalog);
        state.commit(&path, &[]).unwrap();
        let mut series = Series::resume(&path, 9.0, &["a/b"], Precision::Single)?;
        // A file that is accepted can be continued, or says why not.
        series.write(&at(2.0, 0.5), &VtuOptions::default())
    };
    assert!(forged(&|_| {}).is_ok());
    for n in [1 << 40, 1 << 53, 1 << 62, u64::MAX - 7] {
        for i in 0..6 {
            let refused = |forge: &dyn Fn(&mut Dataset)| {
                let told =
                    forged(&|catalog| forge(&mut catalog.arrays[i])).map_err(|error| error.to_string());
                assert!(told.as_ref().is_err_and(|told| told.contains("damaged")), "{n} {i}: {told:?}");
            };
            refused(&|array| array.chunk = n);
            refused(&|array| array.chunk = 0);
            refused(&|array| array.columns = Some(n));
            refused(&|array| array.columns = Some(0));
            refused(&|array| array.chunks[0].number = n);
            refused(&|array| array.chunks[0].address = n);
            refused(&|array| array.chunks[0].size = u32::MAX);
            let _ = forged(&|catalog| catalog.arrays[i].rows = n);
        }
        let _ = forged(&|catalog| catalog.parts[0] = [n; 3]);
        let _ = forged(&|catalog| catalog.steps[1].geometry = [n; 4]);
        let _ = forged(&|catalog| catalog.steps[1].fields = vec![n; 2]);
        assert!(forged(&|catalog| catalog.steps[1].part = n).is_err());
    }
    assert!(forged(&|catalog| catalog.times[0] = 7.0).is_err());
}

fn without_data() -> UnstructuredFields {
    let mut fields = at(0.0, 1.0);
    fields.pieces[0].point_data.clear();
    fields
}

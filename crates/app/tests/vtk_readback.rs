//! VTK reads the files written by `writer`, and finds the polynomials that were written.
//!
//! Each shape is written at every order, with polynomial fields of this order on cells curved by a polynomial
//! map. VTK's own cells are evaluated at random points (`tests/tools/vtk_readback.py`) and compared with the
//! polynomials. The interpreter is `$DGSUITE_VTK_PYTHON`, or `python3` if it has the module `vtk` (from
//! PyPI). Without it the test prints that it is skipped; with `DGSUITE_REQUIRE_TOOLS=1` it fails.

#![expect(clippy::unwrap_used, reason = "a test that cannot write its files has failed")]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use dgsuite_basis::{Shape, lattice::lattice};
use dgsuite_mesh::{Mesh, generate, gmsh::Format, quality};
use dgsuite_output::writer::{
    CellBlock, Cells, Field, MAX_LAGRANGE_ORDER, Precision, UnstructuredFields, VtuOptions,
};
use dgsuite_output::writer::{TimeSeries as _, Values, vtkhdf};
use serde_json::{Value, json};

/// Numbers in [−1, 1) from a linear congruential generator (Knuth's MMIX constants).
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    /// A point of the reference shape.
    fn point(&mut self, shape: Shape) -> [f64; 3] {
        loop {
            let r = std::array::from_fn(|d| if d < shape.dim() { self.next() } else { 0.0 });
            if shape.contains(r, 0.0) {
                return r;
            }
        }
    }
}

/// A polynomial in the reference coordinates.
struct Polynomial(Vec<(f64, [i32; 3])>);

impl Polynomial {
    /// Random coefficients of every monomial of degree at most `degree` that the Lagrange cell of order
    /// `order` contains.
    fn random(shape: Shape, order: i32, degree: i32, size: f64, random: &mut Random) -> Self {
        let mut terms = Vec::new();
        for a in 0..=degree {
            for b in 0..=if shape.dim() > 1 { degree } else { 0 } {
                for c in 0..=if shape.dim() > 2 { degree } else { 0 } {
                    let total = match shape {
                        Shape::Quadrilateral | Shape::Hexahedron => a.max(b).max(c),
                        Shape::Prism => c.max(a + b),
                        _ => a + b + c,
                    };
                    if total <= order {
                        terms.push((size * random.next(), [a, b, c]));
                    }
                }
            }
        }
        Self(terms)
    }

    fn at(&self, r: [f64; 3]) -> f64 {
        self.0.iter().map(|(c, e)| c * r[0].powi(e[0]) * r[1].powi(e[1]) * r[2].powi(e[2])).sum()
    }
}

/// One cell: its map and its fields.
struct Cell {
    geometry: Vec<Polynomial>,
    pressure: Polynomial,
    velocity: Vec<Polynomial>,
}

impl Cell {
    /// Cell number `c` of a row, curved by a map of degree `min(order, 3)`, with fields of degree `order`.
    fn curved(shape: Shape, order: usize, c: usize, components: usize, random: &mut Random) -> Self {
        let n = order as i32;
        let mut geometry: Vec<_> =
            (0..shape.dim()).map(|_| Polynomial::random(shape, n, n.min(3), 0.04, random)).collect();
        for (d, x) in geometry.iter_mut().enumerate() {
            let mut unit = [0; 3];
            unit[d] = 1;
            x.0.push((1.0, unit));
        }
        geometry[0].0.push((3.0 * c as f64, [0; 3]));
        let mut field = || Polynomial::random(shape, n, n, 1.0, random);
        Self { pressure: field(), velocity: (0..components).map(|_| field()).collect(), geometry }
    }

    fn position(&self, r: [f64; 3]) -> [f64; 3] {
        std::array::from_fn(|d| self.geometry.get(d).map_or(0.0, |x| x.at(r)))
    }

    fn velocity(&self, r: [f64; 3]) -> Vec<f64> {
        self.velocity.iter().map(|v| v.at(r)).collect()
    }

    /// The values that VTK must find at `r`; vectors have three components there.
    fn expected(&self, r: [f64; 3]) -> Value {
        let mut velocity = self.velocity(r);
        velocity.resize(3, 0.0);
        json!({ "x": self.position(r), "Pressure": [self.pressure.at(r)], "Velocity": velocity })
    }
}

fn block(shape: Shape, order: usize, cells: &[Cell]) -> CellBlock {
    let nodes = lattice(shape, order);
    let pairs: Vec<_> = cells.iter().flat_map(|cell| nodes.iter().map(move |&r| (cell, r))).collect();
    let components = cells[0].velocity.len();
    let pressure = pairs.iter().map(|(cell, r)| cell.pressure.at(*r)).collect();
    let velocity = pairs.iter().flat_map(|(cell, r)| cell.velocity(*r)).collect();
    CellBlock {
        shape,
        order,
        points: pairs.iter().map(|(cell, r)| cell.position(*r)).collect(),
        point_data: vec![Field::real("Pressure", 1, pressure), Field::real("Velocity", components, velocity)],
        cell_data: vec![Field::integer("element_id", 1, (0..cells.len() as i64).map(|c| c + 7).collect())],
    }
}

/// Writes files and the values to be found in each.
struct Files {
    directory: PathBuf,
    expected: Vec<Value>,
    random: Random,
}

impl Files {
    fn write(&mut self, name: &str, pieces: Vec<CellBlock>, options: VtuOptions, mut expected: Value) {
        let file = self.directory.join(name);
        let time = self.random.next();
        UnstructuredFields { time, pieces }.write(&file, &options).unwrap();
        let (points, tolerance) = match options.precision {
            Precision::Single => ("Float32", 1e-5),
            Precision::Double => ("Float64", 1e-10),
        };
        expected["file"] = json!(name);
        expected["time"] = json!(time);
        expected["precision"] = json!(points);
        expected["tolerance"] = json!(tolerance);
        self.expected.push(expected);
    }

    /// Random points of the cells of a block whose first cell is number `first` in the file.
    fn probes(&mut self, shape: Shape, order: usize, first: usize, cells: &[Cell]) -> Vec<Value> {
        let mut probes = Vec::new();
        for (c, cell) in cells.iter().enumerate() {
            for _ in 0..8 {
                let r = self.random.point(shape);
                let vtk: Vec<f64> =
                    (0..3).map(|d| if d < shape.dim() { 0.5 * (1.0 + r[d]) } else { 0.0 }).collect();
                probes.push(json!({
                    "cell": first + c,
                    "type": vtk_type(shape, order),
                    "element_id": c + 7,
                    "at": vtk,
                    "expected": cell.expected(r),
                }));
            }
        }
        probes
    }

    /// Lagrange cells: probes inside them.
    fn lagrange(&mut self, shape: Shape, order: usize, precision: Precision) {
        let cells: Vec<_> =
            (0..3).map(|c| Cell::curved(shape, order, c, shape.dim().max(2), &mut self.random)).collect();
        let probes = self.probes(shape, order, 0, &cells);
        let options = VtuOptions { precision, ..VtuOptions::default() };
        let name = format!("{shape}-{order}-{precision:?}.vtu");
        self.write(
            &name,
            vec![block(shape, order, &cells)],
            options,
            json!({ "cells": 3, "probes": probes }),
        );
    }

    /// Pyramids, which are divided: for curved ones the values at every point of the file.
    fn pyramid(&mut self, order: usize, precision: Precision) {
        let cells: Vec<_> =
            (0..3).map(|c| Cell::curved(Shape::Pyramid, order, c, 3, &mut self.random)).collect();
        let points = expected_points(Shape::Pyramid, order, &cells);
        let options = VtuOptions { precision, ..VtuOptions::default() };
        let expected = json!({ "cells": 3 * pyramid_parts(order), "points": points });
        let name = format!("pyramid-{order}-{precision:?}.vtu");
        self.write(&name, vec![block(Shape::Pyramid, order, &cells)], options, expected);
    }

    /// Cells divided into linear ones: their sizes, that they leave no gap, and that linear fields on a
    /// straight cell are reproduced everywhere.
    fn linear(&mut self, shape: Shape, order: usize) {
        let dim = shape.dim();
        let matrix: Vec<Vec<f64>> = (0..dim)
            .map(|d| (0..dim).map(|e| f64::from(u8::from(d == e)) + 0.2 * self.random.next()).collect())
            .collect();
        let law: Vec<f64> = (0..4).map(|_| self.random.next()).collect();
        let unit = |d: usize| std::array::from_fn(|e| i32::from(d == e));
        let geometry: Vec<_> =
            (0..dim).map(|d| Polynomial((0..dim).map(|e| (matrix[d][e], unit(e))).collect())).collect();
        // p(r) = law₀ + Σ_d law_{d+1} x_d(r)
        let mut pressure = vec![(law[0], [0; 3])];
        for d in 0..dim {
            pressure.extend(geometry[d].0.iter().map(|(c, e)| (law[d + 1] * c, *e)));
        }
        let cell = Cell { pressure: Polynomial(pressure), velocity: vec![Polynomial(Vec::new())], geometry };
        let inside: Vec<_> = (0..20).map(|_| cell.position(self.random.point(shape))).collect();
        let m = |d: usize, e: usize| if d < dim { matrix[d][e] } else { f64::from(u8::from(d == e)) };
        let m = |d: usize, e: usize| if e < dim { m(d, e) } else { f64::from(u8::from(d == e)) };
        let determinant = m(0, 0) * (m(1, 1) * m(2, 2) - m(1, 2) * m(2, 1))
            - m(0, 1) * (m(1, 0) * m(2, 2) - m(1, 2) * m(2, 0))
            + m(0, 2) * (m(1, 0) * m(2, 1) - m(1, 1) * m(2, 0));
        let n_cells = match shape {
            Shape::Pyramid => pyramid_parts(order),
            Shape::Prism => 3 * order.pow(3),
            _ => order.pow(dim as u32),
        };
        let options =
            VtuOptions { precision: Precision::Double, cells: Cells::Linear, ..VtuOptions::default() };
        let expected = json!({
            "cells": n_cells,
            "linear": { "law": law, "inside": inside, "dim": dim, "size": determinant * shape.measure() },
        });
        self.write(
            &format!("{shape}-{order}-cut.vtu"),
            vec![block(shape, order, &[cell])],
            options,
            expected,
        );
    }

    /// Every shape in one file, each as a piece with its own order.
    fn mixed(&mut self) {
        let (mut pieces, mut probes, mut points) = (Vec::new(), Vec::new(), Vec::new());
        let mut n_cells = 0;
        let shapes = [
            (Shape::Prism, 2),
            (Shape::Hexahedron, 3),
            (Shape::Pyramid, 2),
            (Shape::Tetrahedron, 1),
            (Shape::Tetrahedron, 4),
        ];
        let mut first_point = 0;
        for (shape, order) in shapes {
            let cells: Vec<_> = (0..2).map(|c| Cell::curved(shape, order, c, 3, &mut self.random)).collect();
            if shape == Shape::Pyramid {
                points = expected_points(shape, order, &cells);
                points.iter_mut().enumerate().for_each(|(i, p)| p["point"] = json!(first_point + i));
                n_cells += 2 * pyramid_parts(order);
            } else {
                probes.extend(self.probes(shape, order, n_cells, &cells));
                n_cells += 2;
            }
            pieces.push(block(shape, order, &cells));
            first_point += pieces.last().unwrap().points.len();
        }
        let options = VtuOptions { precision: Precision::Double, ..VtuOptions::default() };
        let expected = json!({ "cells": n_cells, "probes": probes, "points": points });
        self.write("mixed.vtu", pieces, options, expected);
    }
}

fn expected_points(shape: Shape, order: usize, cells: &[Cell]) -> Vec<Value> {
    let nodes = lattice(shape, order);
    let pairs = cells.iter().flat_map(|cell| nodes.iter().map(move |&r| cell.expected(r)));
    pairs.enumerate().map(|(point, expected)| json!({ "point": point, "expected": expected })).collect()
}

const fn pyramid_parts(n: usize) -> usize {
    n * (2 * n * n + 1) / 3 + 2 * n * (n * n - 1) / 3
}

/// VTK's number of the cell type; linear prisms are Lagrange wedges too.
fn vtk_type(shape: Shape, order: usize) -> u8 {
    let (linear, lagrange) = match shape {
        Shape::Line => (3, 68),
        Shape::Triangle => (5, 69),
        Shape::Quadrilateral => (9, 70),
        Shape::Tetrahedron => (10, 71),
        Shape::Hexahedron => (12, 72),
        Shape::Prism => (73, 73),
        Shape::Pyramid => unreachable!("pyramids are cut"),
    };
    if order == 1 { linear } else { lagrange }
}

/// An interpreter with VTK and the script, or the reason why there is none.
fn tools() -> Result<(PathBuf, PathBuf), String> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/tools/vtk_readback.py");
    if !script.exists() {
        return Err(format!("{} is not there (published package)", script.display()));
    }
    let python = std::env::var_os("DGSUITE_VTK_PYTHON").map_or_else(|| "python3".into(), PathBuf::from);
    match Command::new(&python).args(["-c", "import vtk"]).output() {
        Ok(output) if output.status.success() => Ok((python, script)),
        Ok(_) => Err(format!("{} has no module vtk (set DGSUITE_VTK_PYTHON)", python.display())),
        Err(error) => Err(format!("{}: {error} (set DGSUITE_VTK_PYTHON)", python.display())),
    }
}

fn read_back(python: &Path, script: &Path, directory: &Path, expected: &Value) -> (bool, String) {
    let list = directory.join("expected.json");
    std::fs::write(&list, expected.to_string()).unwrap();
    let output = Command::new(python).arg(script).arg(&list).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&text).into_owned())
}

/// The tools, or none if they need not be there.
fn required_tools(test: &str) -> Option<(PathBuf, PathBuf)> {
    match tools() {
        Ok(tools) => Some(tools),
        Err(reason) => {
            assert!(std::env::var_os("DGSUITE_REQUIRE_TOOLS").is_none_or(|v| v != "1"), "{reason}");
            // Not eprintln!, because the harness would hide the line if the test passes.
            let _ = writeln!(std::io::stderr(), "SKIPPED {test}: {reason}");
            None
        }
    }
}

fn dgsuite(directory: &Path, args: &[&str]) {
    let output =
        Command::new(env!("CARGO_BIN_EXE_dgsuite")).args(args).current_dir(directory).output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// A box of 2 by 2 cubic quadrilaterals, bent by a map that they represent exactly.
fn bent_box() -> (Mesh, impl Fn([f64; 2]) -> [f64; 3]) {
    let bend = |[x, y]: [f64; 2]| [x + 0.3 * y * y * y, y + 0.2 * x * x, 0.0];
    let mut mesh = generate::Box::unit(Shape::Quadrilateral, 2).build().unwrap();
    mesh.elevate(3).unwrap();
    mesh.map(|[x, y, _]| bend([x, y])).unwrap();
    (mesh, bend)
}

#[test]
fn vtk_reads_the_cells_of_mesh_info() {
    let Some((python, script)) = required_tools("vtk_reads_the_cells_of_mesh_info") else { return };
    let directory = tempfile::tempdir().unwrap();
    let (mesh, bend) = bent_box();
    mesh.write(directory.path().join("bent.msh"), &Format::default()).unwrap();
    dgsuite(directory.path(), &["mesh", "info", "bent.msh", "--vtu", "bent.vtu"]);
    let quality = quality::elements(&mesh);
    let of = |f: fn(&quality::ElementQuality) -> f64| quality.iter().map(f).collect::<Vec<_>>();
    let probes: Vec<Value> = (0..4)
        .map(|cell| {
            let corner = [0.5 * f64::from(cell % 2), 0.5 * f64::from(cell / 2)];
            let x = bend([corner[0] + 0.5 * 0.3, corner[1] + 0.5 * 0.85]);
            let at = [0.3, 0.85, 0.0];
            json!({ "cell": cell, "type": 70, "element_id": cell + 1, "at": at, "expected": { "x": x } })
        })
        .collect();
    let expected = json!([{
        "file": "bent.vtu", "time": 0.0, "precision": "Float64", "tolerance": 1e-13, "cells": 4,
        "probes": probes,
        "data": {
            "scaled_jacobian": of(|q| q.scaled_jacobian),
            "jacobian_ratio": of(|q| q.jacobian_ratio),
            "size": of(|q| q.size),
            "region": [1, 1, 1, 1],
        },
    }]);
    let (passed, text) = read_back(&python, &script, directory.path(), &expected);
    assert!(passed, "{text}");
}

#[test]
fn vtk_reads_converted_meshes_with_their_groups() {
    let Some((python, script)) = required_tools("vtk_reads_converted_meshes_with_their_groups") else {
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let mut mesh = generate::Box::unit(Shape::Quadrilateral, 2).build().unwrap();
    mesh.elevate(3).unwrap();
    mesh.map(|[x, y, _]| [x + 0.3 * y * y * y, y, 0.0]).unwrap();
    mesh.make_periodic("xmin", "xmax").unwrap();
    mesh.write(directory.path().join("bent.msh"), &Format::default()).unwrap();
    dgsuite(directory.path(), &["mesh", "convert", "bent.msh", "bent.vtu"]);
    // Elements, then faces in the order of elements: 1, 2 (lower), 3, 4 (upper). The sides of an element are
    // numbered from the lower one, counter-clockwise.
    let expected = json!([{
        "file": "bent.vtu", "time": 0.0, "precision": "Float64", "tolerance": 0.0, "cells": 12,
        "data": {
            "region": [1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0],
            "element_id": [1, 2, 3, 4, 1, 1, 2, 2, 3, 3, 4, 4],
            "boundary": [0, 0, 0, 0, 3, 1, 2, 3, 4, 1, 2, 4],
            "partner": [0, 0, 0, 0, 0, 2, 1, 0, 0, 4, 3, 0],
        },
    }]);
    let (passed, text) = read_back(&python, &script, directory.path(), &expected);
    assert!(passed, "{text}");
}

#[test]
fn vtk_reads_every_shape_and_order() {
    let Some((python, script)) = required_tools("vtk_reads_every_shape_and_order") else { return };
    let directory = tempfile::tempdir().unwrap();
    let mut files =
        Files { directory: directory.path().to_owned(), expected: Vec::new(), random: Random(20_230_817) };
    for shape in Shape::ALL.into_iter().filter(|&s| s != Shape::Pyramid) {
        for order in 1..=MAX_LAGRANGE_ORDER {
            files.lagrange(shape, order, Precision::Double);
        }
        // Beyond order 5 the rounding of single precision is magnified too much to compare.
        for order in 1..=5 {
            files.lagrange(shape, order, Precision::Single);
        }
    }
    for order in 1..=5 {
        files.pyramid(order, Precision::Double);
        files.pyramid(order, Precision::Single);
        for shape in Shape::ALL {
            files.linear(shape, order);
        }
    }
    files.mixed();

    let mut expected = Value::Array(files.expected);
    let (passed, text) = read_back(&python, &script, directory.path(), &expected);
    assert!(passed, "{text}");
    assert!(text.contains(&format!("{} files agree", expected.as_array().unwrap().len())), "{text}");

    // The comparison itself must find a value that is wrong by 1e-8.
    let wrong = &mut expected[0]["probes"][3]["expected"]["Pressure"][0];
    *wrong = json!(wrong.as_f64().unwrap() + 1e-8);
    let first = Value::Array(vec![expected[0].take()]);
    let (passed, text) = read_back(&python, &script, directory.path(), &first);
    assert!(!passed && text.contains("Pressure"), "a wrong value went unnoticed: {text}");
}

/// Blocks of curved cells of several shapes, with fields that depend on `time`.
fn blocks(shapes: &[(Shape, usize)], components: usize, time: f64) -> UnstructuredFields {
    let mut random = Random(7);
    let mut pieces: Vec<CellBlock> = (shapes.iter())
        .map(|&(shape, order)| {
            let cells: Vec<_> =
                (0..2).map(|c| Cell::curved(shape, order, c, components, &mut random)).collect();
            block(shape, order, &cells)
        })
        .collect();
    for block in &mut pieces {
        let n = block.n_cells();
        for field in &mut block.point_data {
            let Values::Real(values) = &mut field.values else { panic!("a field of integers") };
            values.iter_mut().for_each(|x| *x += time);
        }
        block.cell_data.push(Field::real("Sensor", 1, vec![0.1 + time; n]));
        block.cell_data.push(Field::integer("Troubled / all", 1, vec![(2.0 * time) as i64; n]));
    }
    UnstructuredFields { time, pieces }
}

/// Series of mixed meshes: fields and cells that change, times that are replaced or dropped.
#[test]
fn vtk_reads_the_same_from_vtkhdf_as_from_vtu() {
    let Some((python, script)) = required_tools("vtk_reads_the_same_from_vtkhdf_as_from_vtu") else { return };
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    let plane = [(Shape::Triangle, 3), (Shape::Quadrilateral, 2), (Shape::Triangle, 1)];
    let solid = [(Shape::Prism, 2), (Shape::Hexahedron, 3), (Shape::Pyramid, 2), (Shape::Tetrahedron, 4)];
    let names = ["Pressure", "Velocity"];
    let mut expected = Vec::new();
    for (name, precision, shapes, components) in [
        ("plane", Precision::Double, &plane[..], 2),
        ("solid", Precision::Single, &solid[..], 3),
        ("same", Precision::Double, &solid[..1], 3),
    ] {
        let options = VtuOptions { precision, ..VtuOptions::default() };
        let file = at(&format!("{name}.vtkhdf"));
        let mut series = vtkhdf::Series::create(&file);
        let fields = |time: f64| {
            // Other cells at some times, as after a restart on another mesh.
            let shapes = if (1.0..2.0).contains(&time) { &shapes[..1] } else { shapes };
            blocks(shapes, components, time)
        };
        for time in [0.0, 0.5, 1.0, 1.25, 1.5, 2.0, 3.0] {
            series.write(&fields(time), &options).unwrap();
        }
        // A continued series drops later times; fields that are known are not written again.
        let mut series = vtkhdf::Series::resume(&file, 2.5, &names, precision).unwrap();
        let before = std::fs::metadata(&file).unwrap().len();
        series.write(&fields(2.25), &options).unwrap();
        assert_eq!(series.times().unwrap(), [0.0, 0.5, 1.0, 1.25, 1.5, 2.0, 2.25]);
        series.write(&fields(2.25), &options).unwrap();
        let times = [0.0, 0.5, 1.0, 1.25, 1.5, 2.0, 2.25];
        assert_eq!(series.times().unwrap(), times);
        assert!(std::fs::metadata(&file).unwrap().len() > before);
        let pairs: Vec<Value> = (times.iter())
            .map(|&time| {
                let vtu = format!("{name}-{time}.vtu");
                fields(time).write(&at(&vtu), &options).unwrap();
                json!([time, vtu])
            })
            .collect();
        expected.push(json!({ "file": format!("{name}.vtkhdf"), "times": pairs }));
        for (names, precision) in [(&names[..1], precision), (&["Pressure", "Mach"][..], precision)] {
            let error = vtkhdf::Series::resume(&file, 2.5, names, precision).unwrap_err().to_string();
            assert!(error.contains("it has the fields Pressure, Velocity"), "{error}");
        }
    }
    let (passed, text) = read_back(&python, &script, directory.path(), &Value::Array(expected.clone()));
    assert!(passed, "{text}");
    // The comparison itself must find a value of another time.
    let wrong = expected[0]["times"][1][1].take();
    expected[0]["times"][1][1] = json!("plane-0.vtu");
    let (passed, text) = read_back(&python, &script, directory.path(), &Value::Array(expected[..1].to_vec()));
    assert!(!passed && text.contains("differs"), "{wrong} went unnoticed: {text}");
}

//! Runs every fast kernel once, for NVIDIA's compute-sanitizer (`tools/gpu-sanitize.sh`).
//!
//! The numbers of elements are those for which groups are full, one short and one over.

use crate::device::emulated::{quadrilaterals, row};
use crate::device::residual::{compare_on, device};
use crate::device::viscous::compare_viscous;
use crate::testkit::{Cells, mesh, schemes};
use dgsuite_basis::Shape;
use dgsuite_mesh::Mesh;
use std::sync::Arc;

/// Numbers of elements.
const COUNTS: [usize; 5] = [1, 31, 32, 33, 37];

/// Runs all cases, or those with `DGSUITE_CASE` in their description.
#[test]
#[ignore = "run by tools/gpu-sanitize.sh"]
fn child() {
    let Some(cuda) = device() else { return };
    let only = std::env::var("DGSUITE_CASE").unwrap_or_default();
    let chosen = |mesh: &Arc<Mesh>, cells: Cells, name: &str, p: usize, what: &str| {
        let case = format!("{} {cells:?}, {name} p = {p}{what}", mesh.n_elements());
        let chosen = case.contains(&only);
        if chosen {
            println!("case {case}");
        }
        chosen.then(|| schemes(cells, p).into_iter().find(|s| s.0 == name).expect("a scheme of the shape").1)
    };
    let try_on = |mesh: &Arc<Mesh>, cells: Cells, name: &str, p: usize| {
        let Some(scheme) = chosen(mesh, cells, name, p, "") else { return };
        compare_on::<f64>(&cuda, mesh, name, &scheme);
    };
    let try_single = |mesh: &Arc<Mesh>, cells: Cells, name: &str, p: usize| {
        let Some(scheme) = chosen(mesh, cells, name, p, ", single") else { return };
        compare_on::<f32>(&cuda, mesh, name, &scheme);
    };
    let of = Cells::Of;
    for p in 1..=6 {
        // Every order is tested with two of the counts, and every count with several orders.
        for n in [COUNTS[p % 5], COUNTS[(p + 2) % 5]] {
            for name in ["nodal", "collocated"] {
                try_on(&row(2, n), of(Shape::Triangle), name, p);
                if p <= 5 {
                    try_on(&row(3, n), of(Shape::Tetrahedron), name, p);
                }
            }
            try_on(&quadrilaterals(n), of(Shape::Quadrilateral), "collocated", p);
        }
        try_on(&mesh(of(Shape::Hexahedron), 2, 1 + p % 2, false), of(Shape::Hexahedron), "collocated", p);
    }
    // Builds of hexahedra that are specific to the other geometry, and those of single precision.
    for (p, geometry) in [(3, 1), (5, 1), (7, 1), (7, 2)] {
        try_on(&mesh(of(Shape::Hexahedron), 1, geometry, false), of(Shape::Hexahedron), "collocated", p);
    }
    for p in [2, 3, 5] {
        try_single(&quadrilaterals(COUNTS[p % 5]), of(Shape::Quadrilateral), "collocated", p);
        try_single(&mesh(of(Shape::Hexahedron), 2, 1, false), of(Shape::Hexahedron), "collocated", p);
        try_single(&row(2, COUNTS[p % 5]), of(Shape::Triangle), "nodal", p);
    }
    for p in [1, 2, 3] {
        try_on(&mesh(of(Shape::Prism), 2, 1 + p % 2, false), of(Shape::Prism), "collocated", p);
    }
    // Racecheck records each of their many accesses, so there are few elements.
    for p in [2, 3] {
        try_on(&mesh(of(Shape::Hexahedron), 1, p - 1, false), of(Shape::Hexahedron), "collocated split", p);
        try_on(&quadrilaterals(7), of(Shape::Quadrilateral), "collocated split", p);
    }
    let try_viscous = |mesh: &Arc<Mesh>, cells: Cells, name: &str, p: usize| {
        let Some(scheme) = chosen(mesh, cells, name, p, ", viscous") else { return };
        compare_viscous::<f64>(&cuda, mesh, name, &scheme);
    };
    for p in 1..=4 {
        let n = COUNTS[(2 * p) % 5];
        try_viscous(&row(2, n), of(Shape::Triangle), "nodal", p);
        try_viscous(&quadrilaterals(n), of(Shape::Quadrilateral), "collocated", p);
        for name in ["nodal", "collocated"].into_iter().take(1 + p / 4) {
            try_viscous(&row(3, n), of(Shape::Tetrahedron), name, p);
        }
        if p <= 3 {
            for shape in [Shape::Hexahedron, Shape::Prism] {
                try_viscous(&mesh(of(shape), 2, 1 + p % 2, false), of(shape), "collocated", p);
            }
        }
    }
    try_viscous(&mesh(of(Shape::Hexahedron), 1, 2, false), of(Shape::Hexahedron), "collocated split", 2);
    try_viscous(&quadrilaterals(7), of(Shape::Quadrilateral), "collocated split", 3);
    try_on(&mesh(Cells::Mixed2, 3, 2, false), Cells::Mixed2, "modal", 2);
    try_on(&mesh(Cells::Mixed3, 1, 1, false), Cells::Mixed3, "nodal", 1);
}

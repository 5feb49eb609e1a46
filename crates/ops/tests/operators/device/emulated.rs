//! Runs the kernels on the host, on the emulated device of `gpu` (`shim::Emulator`), with sanitizers and
//! without.
//!
//! The test runs itself as a child process, which finds the emulated device.
//!
//! Meshes are small. Their numbers of elements are those for which groups of elements of a warp or a block
//! are full, one short and one over.

use crate::device::elliptic::{ROUNDED, compare_elliptic, compare_rounded, few};
use crate::device::elliptic_ranks::compare_elliptic_ranks;
use crate::device::integrals::compare_integrals;
use crate::device::limiter::{compare_flags, compare_limited};
use crate::device::march::same_after_a_hundred_steps;
use crate::device::ranks::compare_parts;
use crate::device::reactions::compare_reactions;
use crate::device::residual::{compare_on, device};
use crate::device::unknowns::compare_few;
use crate::device::viscous::{compare_closed, compare_source, compare_viscous};
use crate::testkit::{Cells, mesh, schemes};
use dgsuite_basis::Shape;
use dgsuite_gpu::shim::{Emulator, ShimError};
use dgsuite_mesh::Mesh;
use dgsuite_physics::Closure;
use std::fmt::Write;
use std::sync::Arc;

/// A row of triangles or tetrahedra: element i has the points i, i + 1, …
///
/// In three dimensions this is the Boerdijk–Coxeter helix of regular tetrahedra with edges of length 1.
pub(crate) fn row(dim: usize, n: usize) -> Arc<Mesh> {
    row_with_end(dim, n, 0)
}

/// [`row`], in the plane with quadrilaterals at its end.
pub(crate) fn row_with_end(dim: usize, n: usize, end: usize) -> Arc<Mesh> {
    let (radius, angle, rise) = (0.3 * 3.0_f64.sqrt(), (-2.0_f64 / 3.0).acos(), 0.1_f64.sqrt());
    let mut text = format!("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{}\n", n + dim + 2 * end);
    for i in 0..n + dim + 2 * end {
        let (s, c) = (i as f64 * angle).sin_cos();
        let [x, y, z] = match dim {
            2 => [0.3 * i as f64, if i % 2 == 0 { 0.0 } else { 0.4 }, 0.0],
            _ => [radius * c, radius * s, rise * i as f64],
        };
        let _ = writeln!(text, "{} {x:?} {y:?} {z:?}", i + 1);
    }
    let _ = write!(text, "$EndNodes\n$Elements\n{}\n", n + end);
    for i in 1..=n {
        let points: Vec<String> = (i..=i + dim).map(|p| p.to_string()).collect();
        let _ = writeln!(text, "{i} {} 2 1 1 {}", if dim == 2 { 2 } else { 4 }, points.join(" "));
    }
    for i in n + 1..=n + end {
        let first = 2 * i - n;
        let _ = writeln!(text, "{i} 3 2 1 1 {} {} {} {}", first - 1, first, first + 2, first + 1);
    }
    text.push_str("$EndElements\n");
    Arc::new(dgsuite_mesh::gmsh::read_bytes(text.as_bytes(), &Default::default()).expect("a mesh").0)
}

/// [`row`] with geometry of order 2, of which the second half is curved.
pub(crate) fn half_curved_row(dim: usize, n: usize) -> Arc<Mesh> {
    curved_row(dim, n, 0.5)
}

/// [`row`] with geometry of order 2, curved from a fraction of its length on.
pub(crate) fn curved_row(dim: usize, n: usize, from: f64) -> Arc<Mesh> {
    let mut mesh = Arc::unwrap_or_clone(row(dim, n));
    mesh.elevate(2).expect("the order is raised");
    let (along, aside) = if dim == 2 { (0, 1) } else { (2, 0) };
    let end = mesh.points.iter().map(|x| x[along]).fold(0.0, f64::max);
    mesh.map(|mut x| {
        x[aside] += 0.1 * (x[along] - from * end).max(0.0) * (x[along] - end);
        x
    })
    .expect("the mesh is moved");
    Arc::new(mesh)
}

/// A row of quadrilaterals.
pub(crate) fn quadrilaterals(n: usize) -> Arc<Mesh> {
    let (min, max) = ([-1.0; 3], [1.0; 3]);
    let (shape, diagonal) = (Shape::Quadrilateral, dgsuite_mesh::generate::Diagonal::Alternate);
    let row = dgsuite_mesh::generate::Box { shape, min, max, cells: [n, 1, 1], diagonal };
    Arc::new(row.build().expect("a mesh"))
}

/// The kind of a mesh, the mesh, its cells, and the name and order of the scheme to test on it.
type Case = (&'static str, Arc<Mesh>, Cells, &'static str, usize);

fn cases() -> Vec<Case> {
    let shape = |shape| Cells::Of(shape);
    let (triangle, tetrahedron) = (shape(Shape::Triangle), shape(Shape::Tetrahedron));
    let (quadrilateral, hexahedron) = (shape(Shape::Quadrilateral), shape(Shape::Hexahedron));
    let mut cases = Vec::new();
    // The cases with the most kernels come first.
    let mut on_box = |what, cells, order, periodic, scheme, p, n| {
        cases.push((what, mesh(cells, n, order, periodic), cells, scheme, p));
    };
    on_box("curved", Cells::Mixed2, 2, false, "nodal", 1, 2);
    on_box("box", Cells::Mixed3, 1, false, "nodal", 2, 1);
    on_box("box", Cells::Mixed2, 1, false, "collocated", 2, 3);
    on_box("box", Cells::Mixed3, 1, false, "modal", 1, 1);
    on_box("curved", quadrilateral, 2, false, "collocated", 3, 3);
    on_box("curved", quadrilateral, 2, false, "collocated Gauss", 2, 3);
    on_box("curved", quadrilateral, 2, true, "modal strong", 1, 3);
    on_box("periodic", hexahedron, 1, true, "collocated", 3, 2);
    on_box("curved", hexahedron, 2, false, "collocated", 2, 2);
    // Curved elements whose nodes do not preserve the free stream: the universal kernel on a planar layout.
    on_box("curved", hexahedron, 2, false, "collocated", 1, 2);
    on_box("curved", quadrilateral, 2, false, "collocated split", 2, 3);
    on_box("curved", hexahedron, 2, false, "collocated split", 2, 2);
    on_box("periodic", hexahedron, 1, true, "collocated split", 4, 2);
    on_box("box", hexahedron, 1, false, "modal", 1, 1);
    on_box("periodic", hexahedron, 1, true, "over-integrated", 1, 2);
    on_box("periodic", hexahedron, 1, true, "modal", 2, 2);
    // The first order whose step bound is computed with a chain of factors.
    on_box("box", hexahedron, 1, false, "modal", 3, 1);
    on_box("periodic", hexahedron, 1, true, "collocated", 4, 2);
    on_box("box", hexahedron, 1, false, "collocated", 6, 1);
    on_box("box", hexahedron, 1, false, "collocated", 7, 1);
    on_box("curved", triangle, 2, false, "nodal", 2, 2);
    on_box("curved", triangle, 2, true, "Taylor stored", 2, 3);
    on_box("curved", tetrahedron, 2, false, "modal stored", 1, 2);
    on_box("box", shape(Shape::Prism), 1, false, "nodal", 1, 1);
    on_box("curved", shape(Shape::Prism), 2, false, "collocated", 2, 1);
    on_box("periodic", shape(Shape::Prism), 1, true, "collocated strong", 3, 2);
    // Prisms integrated by a cubature, with more points than functions, processed in separate layers or not.
    on_box("periodic", shape(Shape::Prism), 1, true, "modal strong", 3, 2);
    on_box("curved", shape(Shape::Prism), 2, false, "modal", 2, 2);
    on_box("curved", shape(Shape::Prism), 2, false, "FR Gauss", 2, 1);
    on_box("curved", tetrahedron, 2, false, "nodal", 2, 2);
    on_box("curved", triangle, 2, true, "collocated", 3, 3);
    on_box("curved", triangle, 2, false, "modal", 4, 3);
    // Warps that process a second group of curved elements; metric terms that are read instead of computed.
    on_box("curved", triangle, 2, true, "nodal", 2, 6);
    on_box("curved", tetrahedron, 2, true, "nodal", 2, 3);
    on_box("curved", triangle, 3, false, "modal", 2, 2);
    on_box("box", shape(Shape::Pyramid), 1, false, "modal", 1, 1);
    // Flux reconstruction: nodal metrics on curved simplices, lifts that act in the whole element.
    on_box("curved", Cells::Mixed2, 2, false, "FR Gauss", 2, 2);
    on_box("curved", triangle, 2, false, "FR Lobatto", 2, 2);
    on_box("curved", tetrahedron, 2, false, "FR Gauss", 1, 1);
    on_box("curved", shape(Shape::Prism), 2, false, "FR Lobatto", 2, 1);
    on_box("curved", hexahedron, 2, false, "FR Gauss", 2, 1);
    on_box("curved", hexahedron, 2, false, "nodal", 2, 1);
    // Groups of 8 elements for each warp, blocks of 4 to 12 warps, 2 blocks.
    for n in [1, 7, 8, 9, 31, 33, 65] {
        cases.push(("row", row(2, n), triangle, "nodal", 3));
        cases.push(("row", row(3, n), tetrahedron, "nodal", 2));
        cases.push(("row", quadrilaterals(n), quadrilateral, "collocated", 2));
    }
    // Gauss points, eight elements per block.
    cases.push(("row", quadrilaterals(9), quadrilateral, "FR Gauss", 3));
    // Threads that exchange fluxes through registers.
    cases.push(("row", quadrilaterals(33), quadrilateral, "collocated", 1));
    // In single precision two elements per warp, which needs no barrier with other warps.
    cases.push(("row", quadrilaterals(9), quadrilateral, "collocated", 3));
    // Blocks of 32 elements, 128 threads.
    for n in [1, 31, 32, 33, 129] {
        cases.push(("row", row(2, n), triangle, "nodal", 1));
    }
    for (cells, scheme, p) in [
        (triangle, "FR Lobatto", 2),
        (triangle, "collocated", 2),
        (tetrahedron, "nodal", 1),
        (triangle, "modal", 0),
        (triangle, "modal", 3),
        (tetrahedron, "modal", 0),
        (tetrahedron, "modal", 3),
        (triangle, "nodal", 5),
        (triangle, "Taylor", 2),
        (tetrahedron, "nodal", 4),
        // Fluxes at nodes inside, values at nodes on the faces.
        (triangle, "FR Gauss", 2),
        (triangle, "FR Gauss", 3),
        (triangle, "FR Gauss", 4),
        (tetrahedron, "FR Gauss", 1),
    ] {
        cases.push(("row", row(cells.dim(), 9), cells, scheme, p));
    }
    // Affine and curved elements in one group.
    cases.push(("half curved", half_curved_row(2, 33), triangle, "nodal", 3));
    cases.push(("half curved", half_curved_row(3, 17), tetrahedron, "nodal", 3));
    // Warps that process a second group and load it while they work on the first.
    cases.push(("row", row(2, 201), triangle, "nodal", 5));
    cases.push(("row", row(3, 201), tetrahedron, "nodal", 2));
    cases
}

/// Cases that also march in time: the beginning of their descriptions, the flux and the boundary conditions.
const MARCHES: [(&str, usize, usize); 2] =
    [("row of 9 Of(Triangle), nodal p = 2", 2, 1), ("row of 9 Of(Quadrilateral), collocated p = 2", 3, 4)];
/// Cases that are also tested with diffusion, by the beginning of their descriptions. They cover the passes
/// of all parts, fast and universal, affine and curved; faces between groups occur once.
const VISCOUS: [&str; 23] = [
    "curved of 6 Mixed2, nodal p = 1",
    "curved of 9 Of(Quadrilateral), collocated p = 3",
    "periodic of 8 Of(Hexahedron), collocated p = 3",
    "curved of 2 Of(Prism), collocated p = 2",
    "periodic of 16 Of(Prism), collocated strong p = 3",
    "curved of 16 Of(Prism), modal p = 2",
    "periodic of 16 Of(Prism), modal strong p = 3",
    "curved of 9 Of(Quadrilateral), collocated split p = 2",
    "curved of 9 Of(Quadrilateral), collocated Gauss p = 2",
    "curved of 1 Of(Hexahedron), nodal p = 2",
    "periodic of 8 Of(Hexahedron), over-integrated p = 1",
    "periodic of 8 Of(Hexahedron), modal p = 2",
    "row of 9 Of(Triangle), nodal p = 3",
    "row of 9 Of(Triangle), collocated p = 2",
    "row of 9 Of(Triangle), FR Gauss p = 4",
    "row of 9 Of(Tetrahedron), nodal p = 2",
    "row of 9 Of(Tetrahedron), modal p = 3",
    "curved of 8 Of(Triangle), nodal p = 2",
    "curved of 18 Of(Triangle), collocated p = 3",
    "curved of 8 Of(Triangle), FR Lobatto p = 2",
    "curved of 48 Of(Tetrahedron), nodal p = 2",
    "half curved of 33 Of(Triangle), nodal p = 3",
    "half curved of 17 Of(Tetrahedron), nodal p = 3",
];

/// Cases that are tested with a closure: the first passes of all parts, fast and universal, affine and
/// curved, and the gradients of the step bound in all layouts.
const CLOSED: [(&str, Closure); 9] = [
    ("curved of 6 Mixed2, nodal p = 1", Closure::Vreman),
    ("curved of 9 Of(Quadrilateral), collocated split p = 2", Closure::Wale),
    ("periodic of 8 Of(Hexahedron), collocated p = 3", Closure::Vreman),
    ("curved of 1 Of(Hexahedron), nodal p = 2", Closure::Wale),
    ("curved of 2 Of(Prism), collocated p = 2", Closure::Sigma),
    ("curved of 16 Of(Prism), modal p = 2", Closure::Smagorinsky),
    ("row of 9 Of(Triangle), nodal p = 3", Closure::Smagorinsky),
    ("row of 9 Of(Tetrahedron), modal p = 3", Closure::Sigma),
    ("half curved of 17 Of(Tetrahedron), nodal p = 3", Closure::Wale),
];

/// Cases that are tested with a source in inviscid flow: all fast kernels, affine and curved.
const SOURCES: [&str; 9] = [
    "curved of 9 Of(Quadrilateral), modal strong p = 1",
    "curved of 9 Of(Quadrilateral), collocated p = 3",
    "curved of 9 Of(Quadrilateral), collocated split p = 2",
    "curved of 8 Of(Triangle), nodal p = 2",
    "curved of 1 Of(Hexahedron), nodal p = 2",
    "periodic of 8 Of(Hexahedron), collocated p = 3",
    "curved of 2 Of(Prism), collocated p = 2",
    "curved of 16 Of(Prism), modal p = 2",
    "half curved of 17 Of(Tetrahedron), nodal p = 3",
];

/// Cases of [`SOURCES`] that are tested with reactions too, beside a source and alone: points that are nodes
/// and others, chains of factors, planar and other layouts, affine and curved parts.
const REACTING: [&str; 4] = [
    "curved of 9 Of(Quadrilateral), modal strong p = 1",
    "curved of 1 Of(Hexahedron), nodal p = 2",
    "curved of 2 Of(Prism), collocated p = 2",
    "half curved of 17 Of(Tetrahedron), nodal p = 3",
];

/// Cases that are tested with limiters: lanes of a warp and single elements, planar and other layouts, points
/// that are nodes and others, affine and curved parts.
const LIMITED: [&str; 5] = [
    "curved of 6 Mixed2, nodal p = 1",
    "curved of 9 Of(Quadrilateral), collocated p = 3",
    "periodic of 16 Of(Prism), collocated strong p = 3",
    "row of 33 Of(Triangle), nodal p = 1",
    "half curved of 33 Of(Triangle), nodal p = 3",
];

/// Cases that are tested with integrals and norms: several shapes, lanes of a warp and single elements,
/// planar and other layouts, affine and curved parts, boundaries.
const MEASURED: [&str; 5] = [
    "curved of 6 Mixed2, nodal p = 1",
    "periodic of 8 Of(Hexahedron), collocated p = 3",
    "half curved of 33 Of(Triangle), nodal p = 3",
    "curved of 2 Of(Prism), collocated p = 2",
    "row of 9 Of(Tetrahedron), modal p = 3",
];

/// Further cases that are tested for the elements that limiters find.
const FLAGGED: [&str; 6] = [
    "curved of 16 Of(Prism), modal p = 2",
    "row of 9 Of(Tetrahedron), modal p = 3",
    "curved of 18 Of(Triangle), modal p = 4",
    "row of 9 Of(Triangle), Taylor p = 2",
    "row of 9 Of(Quadrilateral), FR Gauss p = 3",
    "periodic of 8 Of(Hexahedron), collocated p = 3",
];

/// The environment variable by which a child runs one share of the cases: `sanitized` every fourth one,
/// `plain` the others.
const SHARE: &str = "DGSUITE_SHARE";

/// A case of which kernels occur in none of every fourth case: prisms integrated by a cubature.
const ALSO: &str = "periodic of 16 Of(Prism), modal strong p = 3";

/// Every fourth item and those that are named, the others, or all, by [`SHARE`].
fn share<T>(all: Vec<T>, named: impl Fn(&T) -> bool) -> Vec<T> {
    let share = std::env::var(SHARE).unwrap_or_default();
    let sanitized = |(i, item): &(usize, T)| i.is_multiple_of(4) || named(item);
    let wanted = |item: &(usize, T)| match share.as_str() {
        "sanitized" => sanitized(item),
        "plain" => !sanitized(item),
        _ => true,
    };
    all.into_iter().enumerate().filter(wanted).map(|(_, item)| item).collect()
}

/// Runs all cases, a share of them, or those with `DGSUITE_CASE` in their description.
#[test]
#[ignore = "run by kernels_are_sound"]
fn child() {
    // All threads share the device and record graphs concurrently.
    let Some(cuda) = device() else { return };
    let only = std::env::var("DGSUITE_CASE").unwrap_or_default();
    let plain = std::env::var(SHARE).is_ok_and(|share| share == "plain");
    let described = |c: &Case| format!("{} of {} {:?}, {} p = {}", c.0, c.1.n_elements(), c.2, c.3, c.4);
    let mut cases = share(cases(), |c| described(c) == ALSO);
    cases.retain(|c| {
        described(c).contains(&only) || format!("{} {:?} {} {}", c.0, c.2, c.3, c.4).contains(&only)
    });
    let mut elliptic = share(few(), |_| false);
    elliptic.retain(|c| format!("elliptic {} {}", c.0, c.2).contains(&only));
    let of_cells = only.contains("Of(") || only.contains("Mixed");
    assert!(!of_cells || cases.len() + elliptic.len() > 0, "no case has {only} in its description");
    let next_elliptic = std::sync::atomic::AtomicUsize::new(0);
    let next = std::sync::atomic::AtomicUsize::new(0);
    let tried = std::sync::atomic::AtomicUsize::new(0);
    let work = || {
        while let Some((what, mesh, cells, name, p)) =
            cases.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed))
        {
            let list = schemes(*cells, *p);
            let scheme = list.iter().find(|s| s.0 == *name).expect("a scheme of the shape").1;
            let what = format!("{what} of {} {cells:?}, {name} p = {p}", mesh.n_elements());
            let start = std::time::Instant::now();
            compare_on::<f64>(&cuda, mesh, &what, &scheme);
            if VISCOUS.contains(&what.as_str()) {
                compare_viscous::<f64>(&cuda, mesh, &what, &scheme);
                tried.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            }
            if let Some((_, closure)) = CLOSED.iter().find(|(case, _)| *case == what) {
                compare_closed::<f64>(&cuda, mesh, &what, &scheme, *closure);
                if what.starts_with("curved of 6 Mixed2") {
                    compare_closed::<f32>(&cuda, mesh, &what, &scheme, *closure);
                }
                tried.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            }
            if SOURCES.contains(&what.as_str()) {
                compare_source::<f64>(&cuda, mesh, &what, &scheme);
                tried.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            }
            if REACTING.contains(&what.as_str()) {
                compare_reactions::<f64>(&cuda, mesh, &what, &scheme);
                tried.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            }
            if LIMITED.contains(&what.as_str()) {
                compare_limited::<f64>(&cuda, mesh, &what, &scheme, if *p == 1 { 2 } else { 0 });
                compare_flags(&cuda, mesh, &what, &scheme);
                if what.starts_with("curved of 6 Mixed2") {
                    compare_limited::<f32>(&cuda, mesh, &what, &scheme, 2);
                }
                tried.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            }
            if MEASURED.contains(&what.as_str()) {
                compare_integrals::<f64>(&cuda, mesh, &what, &scheme);
                if what.starts_with("curved of 6 Mixed2") {
                    compare_integrals::<f32>(&cuda, mesh, &what, &scheme);
                }
                tried.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            }
            if FLAGGED.contains(&what.as_str()) {
                compare_flags(&cuda, mesh, &what, &scheme);
                tried.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            }
            let simplices = what.starts_with("row") && matches!(*name, "modal" | "Taylor") || *p == 5;
            let quadrilaterals =
                what.starts_with("row") && *cells == Cells::Of(Shape::Quadrilateral) && *p == 3;
            if what.starts_with("curved") && *cells == Cells::Mixed2 && *name == "nodal"
                || simplices
                || quadrilaterals
            {
                compare_on::<f32>(&cuda, mesh, &what, &scheme);
            }
            if let Some((flux, shift)) = MARCHES.iter().find(|m| what.starts_with(m.0)).map(|m| (m.1, m.2)) {
                same_after_a_hundred_steps(&cuda, *cells, mesh, name, &scheme, flux, shift, false);
            }
            println!("{what}: {:.1} s", start.elapsed().as_secs_f64());
        }
        while let Some((what, mesh, p, coefficients)) =
            elliptic.get(next_elliptic.fetch_add(1, std::sync::atomic::Ordering::Relaxed))
        {
            let start = std::time::Instant::now();
            // All elements use the same vectors on the device; copies between them are tested on mixed
            // meshes.
            let levels = what.contains("Mixed") || what.contains("Quadrilateral") || what.starts_with("thin");
            compare_elliptic::<f64>(&cuda, mesh, what, *p, *coefficients, levels);
            if [7, 9].contains(&mesh.n_elements()) {
                compare_elliptic::<f32>(&cuda, mesh, what, *p, *coefficients, levels);
            }
            println!("elliptic {what} p = {p}: {:.1} s", start.elapsed().as_secs_f64());
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(work);
        }
        if !plain {
            scope.spawn(|| compare_few(&cuda, &only));
        }
        if (only.is_empty() || only == "parts") && !plain {
            scope.spawn(|| compare_parts(&cuda));
            scope.spawn(|| compare_elliptic_ranks(&cuda));
        }
    });
    for (shape, orders) in ROUNDED.into_iter().filter(|_| "rounded".contains(&only) && !plain) {
        let n = if shape == Shape::Triangle { 3 } else { 1 };
        // The others differ only in the launch; they are all tested on real devices.
        orders
            .iter()
            .filter(|p| [3, 8].contains(p))
            .for_each(|&p| compare_rounded(&cuda, Cells::Of(shape), n, p));
    }
    println!("{TRIED}{}", tried.into_inner());
}

/// Precedes the number of cases that a child tried with diffusion, a closure, a source, reactions, limiters
/// or integrals.
const TRIED: &str = "cases with more than convection: ";

/// Every kernel under sanitizers in some case, the other cases without, which takes a third of the time;
/// `DGSUITE_FULL=1` runs all cases under sanitizers.
#[test]
fn kernels_are_sound() {
    let emulators = [Emulator::new(), Emulator::plain()].into_iter().collect::<Result<Vec<_>, _>>();
    let emulators = match emulators {
        Ok(emulators) => emulators,
        Err(e @ ShimError::NoCompiler { .. }) => {
            assert!(std::env::var_os("DGSUITE_REQUIRE_TOOLS").is_none_or(|v| v != "1"), "{e}");
            println!("SKIPPED: {e}");
            return;
        }
        Err(e) => panic!("{e}"),
    };
    let full = std::env::var("DGSUITE_FULL").is_ok_and(|v| v == "1");
    let run = |emulator: &Emulator, share: &str| {
        let mut tests = vec!["device::emulated::child"];
        if share != "plain" {
            tests.push("device::residual::bad_states_are_found_where_they_are");
            tests.push("device::places::unknowns_on_the_device_are_permuted_vectors");
        }
        let output = emulator
            .command(std::env::current_exe().expect("this program"))
            .args(&tests)
            .args(["--exact", "--include-ignored", "--nocapture"])
            .envs([("DGSUITE_REQUIRE_GPU", "1"), (SHARE, share)])
            .output()
            .expect("a child");
        let [said, errors] = [output.stdout, output.stderr].map(|b| String::from_utf8_lossy(&b).into_owned());
        println!("{said}");
        let all = said.contains(&format!("test result: ok. {} passed", tests.len()));
        assert!(output.status.success() && all, "a kernel is wrong:\n{said}\n{errors}");
        let tried = said.lines().find_map(|line| line.split_once(TRIED));
        tried.map_or(0, |(_, n)| n.trim().parse::<usize>().expect("a number"))
    };
    let tried = if full {
        run(&emulators[0], "")
    } else {
        std::thread::scope(|scope| {
            let plain = scope.spawn(|| run(&emulators[1], "plain"));
            run(&emulators[0], "sanitized") + plain.join().expect("no panic")
        })
    };
    let lists = [
        VISCOUS.len(),
        CLOSED.len(),
        SOURCES.len(),
        REACTING.len(),
        LIMITED.len(),
        FLAGGED.len(),
        MEASURED.len(),
    ];
    let filtered = std::env::var_os("DGSUITE_CASE").is_some();
    assert!(tried == lists.iter().sum::<usize>() || filtered, "a case of a list was not found: {tried}");
    let [sanitized, plain] = [0, 1].map(|i| emulators[i].texts().expect("folders"));
    let only_plain: Vec<_> = plain.difference(&sanitized).collect();
    assert!(only_plain.is_empty() || filtered, "kernels that no case runs under sanitizers: {only_plain:?}");
}

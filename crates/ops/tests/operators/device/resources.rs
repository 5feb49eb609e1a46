//! The fast kernels keep their data in registers, at every order for which they are built.

use crate::device::compile::texts;
use crate::device::compiled::Compiled;
use crate::device::viscous::{closed_texts, texts_with_source, viscous_texts};
use crate::testkit::{Cells, schemes};
use dgsuite_basis::Shape;
use dgsuite_gpu::cuda::Source;
use dgsuite_ops::Scheme;
use dgsuite_physics::Closure;
use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Largest stack of a thread in bytes: spilled registers and arrays. The builds were chosen by speed, and
/// more threads with a few spilled numbers can be faster than fewer threads without; the best number depends
/// on the flux and the version of the compiler. An array indexed at run time would need much more stack.
const STACK: u32 = 256;
/// The first pass of diffusion on tetrahedra holds three gradients besides the rates, which do not fit into
/// the registers.
const STACK_OF_PASSES: u32 = 512;

/// Shape, scheme, order, geometry order, bytes of a number. Collocated simplices use the same text with fewer
/// products.
fn cases() -> Vec<(Shape, &'static str, usize, usize, usize)> {
    let mut cases = Vec::new();
    cases.extend((0..=6).map(|p| (Shape::Triangle, "nodal", p, 1, 8)));
    cases.extend((0..=5).map(|p| (Shape::Tetrahedron, "nodal", p, 1, 8)));
    // Order 4 takes as long to compile as a hundred others; it uses 255 registers and no stack.
    cases.extend((1..=3).map(|p| (Shape::Triangle, "nodal", p, 1, 4)));
    cases.push((Shape::Tetrahedron, "nodal", 1, 1, 4));
    cases.extend((1..=6).map(|p| (Shape::Triangle, "nodal", p, 2, 8)));
    cases.extend((1..=4).map(|p| (Shape::Tetrahedron, "nodal", p, 2, 8)));
    cases.extend([(Shape::Triangle, "nodal", 5, 1, 4), (Shape::Tetrahedron, "nodal", 3, 1, 4)]);
    cases.extend([Shape::Quadrilateral, Shape::Hexahedron].map(|shape| (shape, "collocated", 3, 1, 4)));
    cases.extend((1..=5).map(|p| (Shape::Prism, "collocated", p, 1, 8)));
    cases.extend((1..=5).map(|p| (Shape::Prism, "modal", p, 1, 8)));
    cases.extend([(Shape::Prism, "FR Gauss", 3, 1, 8), (Shape::Prism, "nodal", 3, 2, 8)]);
    for shape in [Shape::Quadrilateral, Shape::Hexahedron] {
        cases.extend((1..=7).map(|p| (shape, "collocated", p, 1, 8)));
        cases.extend((2..=7).map(|p| (shape, "collocated", p, 2, 8)));
        cases.extend([1, 2, 3, 5, 7].map(|p| (shape, "FR Gauss", p, 1, 8)));
        cases.extend([1, 3, 6].map(|p| (shape, "modal", p, 1, 8)));
        cases.extend([(shape, "nodal", 4, 2, 8), (shape, "modal", 3, 1, 4)]);
    }
    cases.extend(
        [(Shape::Quadrilateral, 3, 2), (Shape::Hexahedron, 3, 1), (Shape::Hexahedron, 7, 2)].map(split),
    );
    cases
}

/// A split form: two-point fluxes need more registers than fluxes.
fn split((shape, p, geometry): (Shape, usize, usize)) -> (Shape, &'static str, usize, usize, usize) {
    (shape, "collocated split", p, geometry, 8)
}

/// Whether a text is that of a stage.
pub(crate) fn is_stage(source: &Source) -> bool {
    source.defines.iter().any(|(name, value)| name == "STAGE" && value == "1")
}

/// Whether a text is that of a stage on small meshes.
pub(crate) fn is_small(source: &Source) -> bool {
    source.defines.iter().any(|(name, value)| name == "SMALL" && value == "1")
}

#[test]
fn fast_kernels_fit_registers() {
    let texts = |cells: Cells, scheme: &Scheme, geometry: usize, bytes: usize| {
        let all = if bytes == 8 { texts::<f64> } else { texts::<f32> }(cells, scheme, geometry);
        all.into_iter().filter(|source| source.name != "residual.cu" && is_stage(source)).collect::<Vec<_>>()
    };
    let large = |cells: Cells, scheme: &Scheme, geometry: usize, bytes: usize| {
        texts(cells, scheme, geometry, bytes).into_iter().filter(|source| !is_small(source)).collect()
    };
    fit_registers("stages", &cases(), &large, 1, STACK);
    let small = |cells: Cells, scheme: &Scheme, geometry: usize, bytes: usize| {
        texts(cells, scheme, geometry, bytes).into_iter().filter(is_small).collect()
    };
    fit_registers(
        "small",
        &[(Shape::Triangle, "nodal", 4, 1, 8), (Shape::Tetrahedron, "nodal", 3, 1, 8)],
        &small,
        1,
        STACK,
    );
}

#[test]
fn passes_of_diffusion_fit_registers() {
    let texts = |cells: Cells, scheme: &Scheme, geometry: usize, _: usize| {
        let wanted = |source: &Source| match source.name.as_str() {
            "tensor_gradient.cu"
            | "simplex_gradient.cu"
            | "prism_gradient.cu"
            | "gauss_gradient.cu"
            | "prism_cubature_gradient.cu" => true,
            "tensor_mean_flux.cu"
            | "simplex_mean_flux.cu"
            | "prism_mean_flux.cu"
            | "gauss_mean_flux.cu"
            | "prism_cubature_mean_flux.cu" => is_stage(source),
            _ => false,
        };
        viscous_texts::<f64>(cells, scheme, geometry).into_iter().filter(wanted).collect()
    };
    fit_registers("diffusion", &passes(), &texts, 2, STACK_OF_PASSES);
}

/// A closure needs further registers in the first pass; it must not spill much more for them.
#[test]
fn first_passes_with_a_closure_fit_registers() {
    let texts = |cells: Cells, scheme: &Scheme, geometry: usize, _: usize| {
        let closure = if cells.dim() == 2 { Closure::Vreman } else { Closure::Sigma };
        let first = |source: &Source| source.name.ends_with("_gradient.cu");
        closed_texts(cells, scheme, geometry, closure).into_iter().filter(first).collect()
    };
    let cases = [
        (Shape::Triangle, "nodal", 3, 2, 8),
        (Shape::Tetrahedron, "nodal", 3, 1, 8),
        (Shape::Quadrilateral, "collocated", 3, 2, 8),
        (Shape::Hexahedron, "collocated", 3, 1, 8),
        (Shape::Hexahedron, "nodal", 3, 2, 8),
        (Shape::Prism, "collocated", 3, 1, 8),
        (Shape::Prism, "nodal", 3, 2, 8),
    ];
    fit_registers("closures", &cases, &texts, 1, STACK_OF_PASSES);
}

#[test]
fn residuals_with_a_source_fit_registers() {
    let texts = |cells: Cells, scheme: &Scheme, geometry: usize, _: usize| {
        let wanted = |source: &Source| {
            let other = ["residual.cu", "speed.cu"].contains(&source.name.as_str());
            !other && is_stage(source) && !is_small(source)
        };
        texts_with_source::<f64>(cells, scheme, geometry).into_iter().filter(wanted).collect()
    };
    let cases = [
        (Shape::Triangle, "nodal", 3, 2, 8),
        (Shape::Tetrahedron, "nodal", 2, 1, 8),
        (Shape::Quadrilateral, "collocated", 3, 2, 8),
        (Shape::Quadrilateral, "collocated split", 3, 1, 8),
        (Shape::Quadrilateral, "modal", 3, 1, 8),
        (Shape::Hexahedron, "collocated", 3, 1, 8),
        (Shape::Hexahedron, "nodal", 3, 2, 8),
        (Shape::Prism, "collocated", 3, 1, 8),
        (Shape::Prism, "nodal", 3, 2, 8),
    ];
    fit_registers("source", &cases, &texts, 1, STACK);
}

/// Prints the resources of the kernels of the cases, `each` of one case, and fails for large stacks.
fn fit_registers(
    test: &str,
    cases: &[(Shape, &'static str, usize, usize, usize)],
    texts: &(dyn Fn(Cells, &Scheme, usize, usize) -> Vec<Source> + Sync),
    each: usize,
    most: u32,
) {
    let compiled = Compiled::of(test);
    let (next, rows) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some(&(shape, name, p, geometry, bytes)) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
            let cells = Cells::Of(shape);
            let scheme =
                schemes(cells, p).into_iter().find(|s| s.0 == name).expect("a scheme of the shape").1;
            for source in texts(cells, &scheme, geometry, bytes) {
                // Without a compiler nothing is known of new texts.
                let Some(r) = compiled.kernels("sm_90", &source).into_iter().next() else { continue };
                let what =
                    format!("{shape:?} {name} p = {p}, geometry {geometry}, {bytes} bytes: {}", source.name);
                rows.lock().expect("no panic").push((what, r));
            }
        }
    };
    std::thread::scope(|scope| {
        (0..2).for_each(|_| drop(scope.spawn(work)));
    });
    let mut rows = rows.into_inner().expect("no panic");
    rows.sort_by(|a, b| a.0.cmp(&b.0));
    for (what, r) in &rows {
        println!(
            "{what}: {} registers, {} bytes of stack, {} spilt",
            r.registers, r.stack_bytes, r.spill_stores
        );
    }
    // Every case has a fast kernel; the universal one would work too, but slower.
    let known: HashSet<&str> = rows.iter().map(|r| r.0.as_str()).collect();
    assert!(known.len() == each * cases.len() || !compiled.has_compiler(), "{} rows", known.len());
    let large: Vec<_> = rows.iter().filter(|(_, r)| r.stack_bytes > most).collect();
    assert!(large.is_empty(), "{large:?}");
    compiled.close();
}

/// The cases of both passes of diffusion.
fn passes() -> Vec<(Shape, &'static str, usize, usize, usize)> {
    let mut cases = Vec::new();
    cases.extend((1..=6).map(|p| (Shape::Triangle, "nodal", p, 1, 8)));
    cases.extend((1..=4).map(|p| (Shape::Tetrahedron, "nodal", p, 1, 8)));
    cases.extend((1..=5).map(|p| (Shape::Triangle, "nodal", p, 2, 8)));
    cases.extend((1..=4).map(|p| (Shape::Tetrahedron, "nodal", p, 2, 8)));
    cases.push((Shape::Triangle, "FR Lobatto", 3, 2, 8));
    cases.extend((1..=5).map(|p| (Shape::Prism, "collocated", p, 1, 8)));
    cases.extend([2, 4].map(|p| (Shape::Prism, "collocated", p, 2, 8)));
    cases.extend((1..=4).map(|p| (Shape::Prism, "modal", p, 1, 8)));
    cases.push((Shape::Prism, "nodal", 3, 2, 8));
    for shape in [Shape::Quadrilateral, Shape::Hexahedron] {
        cases.extend((1..=6).map(|p| (shape, "collocated", p, 1, 8)));
        cases.extend((2..=6).map(|p| (shape, "collocated", p, 2, 8)));
        cases.extend([(shape, "FR Gauss", 3, 1, 8), (shape, "FR Gauss", 5, 1, 8), (shape, "nodal", 3, 2, 8)]);
    }
    cases.extend(
        [(Shape::Quadrilateral, 3, 1), (Shape::Hexahedron, 3, 2), (Shape::Hexahedron, 7, 1)].map(split),
    );
    cases
}

//! The device compiler accepts the texts of all kernels, and register use stays within limits.

use crate::device::compiled::Compiled;
use crate::device::resources::{is_small, is_stage};
use crate::device::viscous::viscous_texts;
use crate::testkit::{Cells, GAS, PLANE, SPACE, bounds, mesh, schemes, two_point};
use dgsuite_basis::Shape;
use dgsuite_gpu::Host;
use dgsuite_gpu::cuda::Source;
use dgsuite_ops::cuda::{CudaAtNodes, CudaDiscretization};
use dgsuite_ops::{
    BoundKernels, BoundaryBinding, BoundaryOf, BoundsOf, Equation, PackScalar, PointKernels, Pointwise,
    Scheme,
};
use dgsuite_physics::trace::StateRecording;
use dgsuite_physics::{Hllc, Real, SlipWall};
use std::collections::HashSet;
use std::sync::Arc;

pub(crate) fn texts<T>(cells: Cells, scheme: &Scheme, order: usize) -> Vec<Source>
where
    T: PackScalar + Real,
    Pointwise<dgsuite_physics::Euler, Hllc, 2, 4>: PointKernels<T>,
    Pointwise<dgsuite_physics::Euler, Hllc, 3, 5>: PointKernels<T>,
{
    // With one cell per side, all lattice nodes would stay in place.
    let mesh = mesh(cells, order, order, false);
    let host = Arc::new(Host::new(1).expect("a machine"));
    let (law, flux, condition) = (GAS, Hllc, SlipWall);
    let plane = cells.dim() == 2;
    let bindings = mesh
        .boundary_names()
        .into_iter()
        .map(|name| BoundaryBinding {
            name: name.to_owned(),
            kernel: if plane {
                Box::new(BoundaryOf::<_, _, 2, 4> { law, condition })
            } else {
                Box::new(BoundaryOf::<_, _, 3, 5> { law, condition })
            },
            data: None,
        })
        .collect();
    let physics: Box<dyn PointKernels<T>> = if plane {
        Box::new(Pointwise::<_, _, 2, 4> { law, flux })
    } else {
        Box::new(Pointwise::<_, _, 3, 5> { law, flux })
    };
    let mut equation = Equation::from(physics);
    equation.two_point = two_point(mesh.dim, scheme);
    CudaDiscretization::texts(mesh, scheme, equation, bindings, host).expect("texts")
}

/// The texts of a limiter.
fn limiter_texts<T>(cells: Cells, scheme: &Scheme, order: usize) -> Vec<Source>
where
    T: PackScalar + Real,
    Pointwise<dgsuite_physics::Euler, Hllc, 2, 4>: PointKernels<T>,
    Pointwise<dgsuite_physics::Euler, Hllc, 3, 5>: PointKernels<T>,
    BoundsOf<dgsuite_physics::Euler, 2, 4>: BoundKernels<T>,
    BoundsOf<dgsuite_physics::Euler, 3, 5>: BoundKernels<T>,
{
    let mesh = mesh(cells, 3, order, true);
    let host = Arc::new(Host::new(1).expect("a machine"));
    let physics: Box<dyn PointKernels<T>> = if cells.dim() == 2 {
        Box::new(Pointwise::<_, _, 2, 4> { law: GAS, flux: Hllc })
    } else {
        Box::new(Pointwise::<_, _, 3, 5> { law: GAS, flux: Hllc })
    };
    let law = bounds(cells.dim());
    CudaDiscretization::limiter_texts(mesh, scheme, physics, Vec::new(), host, law).expect("texts")
}

/// The states at the points that a lane computes at a time stay in registers.
#[test]
fn limiters_fit_registers() {
    let compiled = Compiled::of("limiters");
    let mut seen = HashSet::new();
    let of = Cells::Of;
    for (cells, name, p, order) in [
        (of(Shape::Triangle), "modal", 1, 1),
        (of(Shape::Triangle), "modal", 3, 2),
        (of(Shape::Quadrilateral), "collocated", 3, 1),
        (of(Shape::Tetrahedron), "modal", 2, 1),
        (of(Shape::Hexahedron), "modal", 3, 1),
    ] {
        let scheme = schemes(cells, p).into_iter().find(|s| s.0 == name).expect("a scheme of the shape").1;
        let mut sources = limiter_texts::<f64>(cells, &scheme, order);
        if p == 2 {
            sources = limiter_texts::<f32>(cells, &scheme, order);
        }
        for source in sources {
            if !seen.insert(source.digest(&[])) {
                continue;
            }
            for r in compiled.kernels("sm_90", &source) {
                let what = format!("{cells:?} {name} p = {p} {}", r.kernel);
                println!("{what}: {} registers, {} bytes of stack", r.registers, r.stack_bytes);
                assert!(r.stack_bytes <= 256, "{what}: {} bytes of stack", r.stack_bytes);
            }
        }
    }
    compiled.close();
}

#[test]
fn every_kernel_compiles() {
    let compiled = Compiled::of("every");
    let mut seen = HashSet::new();
    let mut n = 0;
    let fr = |cells, p| schemes(cells, p).into_iter().filter(|s| s.0.starts_with("FR"));
    // Orders are distributed over the schemes, so that every order and every scheme occurs with every shape.
    for (i, cells) in PLANE.into_iter().chain(SPACE).enumerate() {
        for (j, order) in [1, 2].into_iter().enumerate() {
            let p = [1, 3, 2, 0, 4][(i + j) % 5];
            let list = schemes(cells, p.max(j));
            let (_, scheme) = list[(i + 2 * j) % list.len()];
            let mut double = texts::<f64>(cells, &scheme, order);
            // Flux reconstruction alternates between Gauss and Gauss–Lobatto points.
            if j == 0 && i.is_multiple_of(3) {
                double
                    .extend(fr(cells, 2).nth(i % 2).map_or(Vec::new(), |s| texts::<f64>(cells, &s.1, order)));
            }
            // These are compiled in resources.rs.
            double.retain(|source| !is_small(source));
            let single = texts::<f32>(cells, &scheme, order);
            let single = if (i + j) % 4 == 1 { &single[..] } else { &[] };
            // Of diffusion only the universal kernels, in two and three dimensions; resources.rs compiles the
            // others.
            let universal = ["gradient.cu", "mean_flux.cu", "speed.cu", "diffusive_boundary.cu"];
            let mut viscous = Vec::new();
            if matches!(cells, Cells::Of(Shape::Triangle | Shape::Pyramid)) && j == 1 {
                viscous = viscous_texts::<f64>(cells, &scheme, order);
                // The step bound in two dimensions is tested under emulation.
                let alone = |s: &Source| match s.name.as_str() {
                    "mean_flux.cu" => !is_stage(s),
                    "speed.cu" => cells == Cells::Of(Shape::Triangle),
                    _ => false,
                };
                viscous.retain(|s| universal.contains(&s.name.as_str()) && !alone(s));
            }
            for source in double.iter().chain(single).chain(&viscous) {
                if !seen.insert(source.digest(&[])) {
                    continue;
                }
                // A few are also compiled for the previous generation.
                if n % 12 == 5 {
                    compiled.kernels("sm_80", source);
                }
                n += 1;
                for r in compiled.kernels("sm_90", source) {
                    println!(
                        "{cells:?} p = {p} {} {}: {} registers, {} bytes of stack, {} spilt",
                        source.name, r.kernel, r.registers, r.stack_bytes, r.spill_stores
                    );
                }
            }
        }
    }
    let at_nodes = StateRecording::new(2, |w, t, x| vec![(w[0] + x[1] / t).powf(w[1]), w[1].max(t)]);
    compiled.kernels("sm_90", &CudaAtNodes::text(&at_nodes, 2).expect("a text"));
    n += 1;
    println!("{n} texts");
    compiled.close();
    assert!(n <= 160, "{n} kernels take too long to compile");
}

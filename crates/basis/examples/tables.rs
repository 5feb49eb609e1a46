//! Prints sizes of spaces, points of rules, conditioning of node sets, the error of summation by parts of an
//! element's matrices, and the time to build elements.
//!
//! `cargo run --release -p dgsuite-basis --example tables`
#![expect(clippy::print_stdout, reason = "a program that prints")]

use std::time::Instant;

use dgsuite_basis::conditioning::{condition_number, lebesgue_constant};
use dgsuite_basis::{
    BasisError, ElementSpec, LagrangeBasis, NodeSet, OrthonormalBasis, Polynomials, Quadrature,
    ReferenceElement, Shape,
};

fn main() -> Result<(), BasisError> {
    println!("Dimension of the spaces (total degree / tensor)");
    print!("{:<15}", "order");
    (1..=10).for_each(|p| print!("{p:>10}"));
    println!();
    for shape in Shape::ALL {
        print!("{:<15}", shape.name());
        for p in 1..=10 {
            let len = |space| OrthonormalBasis::new(shape, p, space).len();
            print!("{:>10}", format!("{}/{}", len(Polynomials::Total), len(Polynomials::Tensor)));
        }
        println!();
    }

    println!("\nPoints of the best rule");
    print!("{:<15}", "degree");
    let degrees = [1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 24];
    degrees.iter().for_each(|d| print!("{d:>7}"));
    println!();
    for shape in Shape::ALL {
        print!("{:<15}", shape.name());
        degrees.iter().for_each(|&d| print!("{:>7}", Quadrature::new(shape, d).len()));
        println!();
    }

    println!("\nNodes: Lebesgue constant / condition of the Vandermonde matrix");
    print!("{:<30}", "order");
    let orders = [2, 4, 6, 8, 10];
    orders.iter().for_each(|p| print!("{p:>16}"));
    println!();
    for shape in [Shape::Line, Shape::Triangle, Shape::Quadrilateral, Shape::Tetrahedron, Shape::Prism] {
        for set in NodeSet::ALL.into_iter().filter(|s| s.is_defined_on(shape)) {
            print!("{:<30}", format!("{shape}, {set}"));
            for p in orders {
                let basis = LagrangeBasis::with_nodes(shape, p, set)?;
                let samples = if shape.dim() == 3 { 18 } else { 40 };
                let lebesgue = lebesgue_constant(&basis, samples);
                let condition = condition_number(&basis.vandermonde());
                print!("{:>16}", format!("{lebesgue:.2} / {condition:.1}"));
            }
            println!();
        }
    }

    println!("\nCollocated elements of order 6: max |Σ_d (Π D_d + P_d) − L n_d I_f| over all directions");
    for (shape, set) in [
        (Shape::Triangle, NodeSet::WarpBlend),
        (Shape::Quadrilateral, NodeSet::GaussLobatto),
        (Shape::Tetrahedron, NodeSet::WarpBlend),
        (Shape::Prism, NodeSet::GaussLobatto),
    ] {
        let e = ReferenceElement::new(&ElementSpec::collocated(shape, 6, set))?;
        let mut worst: f64 = 0.0;
        for d in 0..shape.dim() {
            let mut normals = Vec::new();
            for f in 0..shape.n_faces() {
                let [a, b] = shape.face_tangents(f);
                let b = if shape.dim() == 2 { [0.0, 0.0, 1.0] } else { b };
                let (i, j) = ((d + 1) % 3, (d + 2) % 3);
                normals.resize(e.face_offsets[f + 1], a[i] * b[j] - a[j] * b[i]);
            }
            let boundary = e.lift.mul(&e.interp_face.scale_rows(&normals));
            let volume = e.project_volume.mul(&e.derivative[d]);
            let sum = volume.add_scaled(1.0, &e.project[d].mul(&e.interp_volume));
            worst = worst.max(sum.distance(&boundary));
        }
        println!("{:<30}{worst:>12.1e}", format!("{shape}, {set}"));
    }

    println!("\nTime to build an element");
    for (name, spec) in [
        (
            "hexahedron, order 8, Lobatto",
            ElementSpec::collocated(Shape::Hexahedron, 8, NodeSet::GaussLobatto),
        ),
        ("hexahedron, order 6, modal", ElementSpec::over_integrated(Shape::Hexahedron, 6)),
        ("tetrahedron, order 8, nodal", ElementSpec::collocated(Shape::Tetrahedron, 8, NodeSet::WarpBlend)),
        ("tetrahedron, order 10, modal", ElementSpec::over_integrated(Shape::Tetrahedron, 10)),
        ("prism, order 6, Lobatto", ElementSpec::collocated(Shape::Prism, 6, NodeSet::GaussLobatto)),
        ("pyramid, order 6, modal", ElementSpec::over_integrated(Shape::Pyramid, 6)),
    ] {
        let start = Instant::now();
        let e = ReferenceElement::new(&spec)?;
        let seconds = start.elapsed().as_secs_f64();
        println!("{name:<30}{:>6} functions{:>6} points{seconds:>9.3} s", e.n_basis, e.volume.len());
    }
    Ok(())
}

//! Invalid input of a discretisation is rejected with a clear message.

use dgsuite_gpu::Host;
use dgsuite_mesh::{Mesh, Shape, generate};
use dgsuite_ops::{Discretization, OpsError, Pointwise, Scheme};
use dgsuite_physics::{Euler, Rusanov};
use std::sync::Arc;

fn build(mesh: Mesh, scheme: &Scheme) -> Result<Discretization<f64>, OpsError> {
    let physics = Box::new(Pointwise::<_, _, 2, 4> { law: Euler { gamma: 1.4 }, flux: Rusanov });
    Discretization::new(
        Arc::new(mesh),
        scheme,
        physics,
        Vec::new(),
        Arc::new(Host::new(1).expect("a machine")),
    )
}

#[test]
fn vectors_do_not_cross_boundaries_that_are_periodic_by_a_rotation() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/meshes/sector-tri.msh");
    let sector = Mesh::read(file).expect("a mesh");
    let error = build(sector, &Scheme::modal(1)).err().expect("it is refused");
    assert!(matches!(error, OpsError::TurnedPeriodicity { .. }), "{error}");
}

#[test]
fn every_boundary_needs_a_condition() {
    let square = generate::Box::unit(Shape::Triangle, 2).build().expect("a square");
    let error = build(square, &Scheme::modal(1)).err().expect("it is refused");
    assert!(matches!(error, OpsError::BoundaryWithoutCondition { ref name } if name == "xmin"), "{error}");
}

#[test]
fn law_and_mesh_must_have_the_same_dimension() {
    let cube = generate::Box::unit(Shape::Hexahedron, 2).build().expect("a cube");
    let error = build(cube, &Scheme::modal(1)).err().expect("it is refused");
    assert!(matches!(error, OpsError::Dimension { law: 2, mesh: 3 }), "{error}");
}

#[test]
fn flux_reconstruction_is_nodal_collocated_and_strong() {
    use dgsuite_basis::correction::Parameter;
    use dgsuite_basis::{Cubature, NodeSet, Representation};
    use dgsuite_ops::Form;
    let fr = Scheme::flux_reconstruction(2, NodeSet::GaussLegendre, Parameter::C(0.0));
    let words = |scheme: &Scheme| {
        let square = generate::Box::unit(Shape::Quadrilateral, 2).build().expect("a square");
        build(square, scheme).err().expect("it is refused").to_string()
    };
    assert!(words(&Scheme { form: Form::Weak, ..fr }).contains("a strong form"));
    assert!(words(&Scheme { representation: Representation::Modal, ..fr }).contains("a nodal basis"));
    assert!(words(&Scheme { volume: Some(Cubature::Degree(4)), ..fr }).contains("at its solution points"));
    let low = Scheme::flux_reconstruction(2, NodeSet::GaussLegendre, Parameter::C(-1.0));
    assert!(words(&low).contains("needs a parameter c above"));
}

#[test]
fn split_forms_are_nodal_on_lines_and_have_a_two_point_flux() {
    use dgsuite_basis::{Cubature, NodeSet, Representation};
    use dgsuite_ops::Form;
    let words = |shape: Shape, scheme: &Scheme| {
        let mut square = generate::Box::unit(shape, 2).build().expect("a square");
        for pair in [["xmin", "xmax"], ["ymin", "ymax"]] {
            square.make_periodic(pair[0], pair[1]).expect("a periodic square");
        }
        build(square, scheme).err().expect("it is refused").to_string()
    };
    let split = Scheme::split(2);
    let quadrilaterals = |scheme: &Scheme| words(Shape::Quadrilateral, scheme);
    assert!(words(Shape::Triangle, &split).contains("quadrilaterals and hexahedra"));
    assert!(quadrilaterals(&Scheme::split(0)).contains("an order of 1 or more"));
    let gauss = Representation::Nodal(NodeSet::GaussLegendre);
    for other in [
        Scheme { representation: gauss, ..split },
        Scheme { face: Some(Cubature::Degree(5)), ..split },
        Scheme { form: Form::Split, ..Scheme::modal(2) },
    ] {
        assert!(quadrilaterals(&other).contains("need Gauss–Lobatto nodes"));
    }
    assert!(quadrilaterals(&split).contains("a two-point flux belongs to the split form"));
}

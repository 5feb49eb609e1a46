//! Parts of meshes as bytes: they come back as they were, and damaged bytes are refused or harmless.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use dgsuite_mesh::{
    BoundaryCurve, Cutter, Mesh, MeshError, Overview, Part, Partition, Shape, SpaceFillingCurve,
    generate::{Annulus, Box, MixedBox},
};
use proptest::prelude::*;

/// A mesh of one shape or of several, with all that a part can have: curved elements, periodic faces, names.
fn mesh(kind: usize, cells: usize) -> Mesh {
    let mut mesh = match kind {
        0 => Box::unit(Shape::Triangle, cells).build(),
        1 => Box::unit(Shape::Tetrahedron, cells).build(),
        2 => MixedBox { dim: 2, min: [0.0; 3], max: [1.0; 3], cells: [cells, 2, 0] }.build(),
        _ => MixedBox { dim: 3, min: [0.0; 3], max: [1.0; 3], cells: [5, cells, 2] }.build(),
    }
    .unwrap();
    mesh.make_periodic("xmin", "xmax").unwrap();
    if kind != 3 {
        mesh.elevate(2).unwrap();
        mesh.map(|[x, y, z]| [x, y + 0.05 * (std::f64::consts::TAU * x).sin(), z]).unwrap();
    }
    mesh.renumber(SpaceFillingCurve::Hilbert);
    mesh
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn parts_and_facts_come_back_as_they_were(kind in 0_usize..4, cells in 2_usize..5, n in 1_usize..9) {
        let mesh = mesh(kind, cells);
        // The smallest mesh has six elements, and no part is empty.
        let n = n.min(mesh.n_elements());
        let partition = Partition::along_curve(&mesh, n, |_| 1.0).unwrap();
        let mut cutter = Cutter::new(&mesh, &partition);
        // In this order, so that nothing of one part is left over in the next.
        for i in (0..n).rev() {
            let part = cutter.part(i);
            prop_assert_eq!(&part, &partition.part(&mesh, i));
            prop_assert_eq!(Part::from_bytes(&part.to_bytes()).unwrap(), part);
        }
        let overview = Overview::new(&mesh, mesh.digest());
        prop_assert_eq!(overview.n_elements(), mesh.n_elements());
        prop_assert_eq!(overview.boundary_names(), mesh.boundary_names());
        prop_assert_eq!(Overview::from_bytes(&overview.to_bytes()).unwrap(), overview);
    }

    #[test]
    fn damaged_bytes_are_refused_or_are_a_part_that_can_be_used(
        kind in 0_usize..4,
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
        end in any::<prop::sample::Index>(),
    ) {
        let mesh = mesh(kind, 2);
        let partition = Partition::along_curve(&mesh, 3, |_| 1.0).unwrap();
        for good in [partition.part(&mesh, 1).to_bytes(), Overview::new(&mesh, 7).to_bytes()] {
            let mut bytes = good.clone();
            bytes[at.index(good.len())] = byte;
            if let Ok(part) = Part::from_bytes(&bytes) {
                use_all_of(&part);
            }
            let _ = Overview::from_bytes(&bytes);
            // Cut short or too long.
            let short = &good[..end.index(good.len())];
            prop_assert!(Part::from_bytes(short).is_err() && Overview::from_bytes(short).is_err());
            let long = [&good[..], &[byte]].concat();
            prop_assert!(Part::from_bytes(&long).is_err() && Overview::from_bytes(&long).is_err());
        }
    }
}

/// Calls what follows the numbers of a part to what they refer to.
fn use_all_of(part: &Part) {
    let mesh = &part.mesh;
    let _ = (mesh.boundary_names(), mesh.bounding_box(), mesh.digest());
    for face in &mesh.faces {
        for side in [Some(face.minus), face.across.plus()].into_iter().flatten() {
            let _ = (mesh.side_nodes(side), mesh.side_centroid(side));
        }
    }
    for cut in &part.cuts {
        let _ = mesh.side_nodes(cut.own);
    }
    for element in 0..mesh.n_elements() {
        let _ = (mesh.centroid(element), mesh.tag(element), part.elements[element]);
    }
}

#[test]
fn numbers_without_a_meaning_are_refused() {
    let mesh = mesh(1, 2);
    let good = Partition::along_curve(&mesh, 3, |_| 1.0).unwrap().part(&mesh, 1);
    let refused = |change: &dyn Fn(&mut Part)| {
        let mut part = good.clone();
        change(&mut part);
        let error = Part::from_bytes(&part.to_bytes()).unwrap_err();
        assert!(matches!(error, MeshError::Message { .. }), "{error}");
        assert_eq!(error.to_string(), "the bytes of a part of a mesh are damaged");
    };
    refused(&|part| part.mesh.dim = 4);
    refused(&|part| part.mesh.sets[0].order = 0);
    refused(&|part| part.mesh.sets[0].order = 3);
    refused(&|part| part.mesh.sets[0].shape = Shape::Triangle);
    refused(&|part| part.mesh.sets[0].nodes[2] = part.mesh.points.len() as u32);
    refused(&|part| part.mesh.sets[0].regions.truncate(1));
    refused(&|part| part.mesh.faces.swap(2, 3));
    // The last face, so that faces stay sorted.
    refused(&|part| part.mesh.faces.last_mut().unwrap().minus.element = 10_000);
    refused(&|part| part.mesh.faces.last_mut().unwrap().minus.face = 4);
    refused(&|part| part.mesh.boundaries.clear());
    refused(&|part| part.mesh.links.clear());
    refused(&|part| part.elements[1] = part.elements[0]);
    refused(&|part| part.elements.truncate(1));
    refused(&|part| part.cuts[0].own.element = good.mesh.n_elements() as u32);
    assert!(Part::from_bytes(&[]).is_err());
}

#[test]
fn curves_of_boundaries_come_back_as_they_were() {
    let (shape, centre, cells) = (Shape::Triangle, [0.0; 2], [2, 12]);
    let ring = Annulus { shape, centre, inner: 1.0, outer: 2.0, cells, growth: 1.0, order: 1 };
    let mesh = ring.build().unwrap();
    let curve = mesh.boundary_curve(0, 0.7).unwrap();
    let bytes = curve.to_bytes();
    assert_eq!(BoundaryCurve::from_bytes(&bytes).unwrap(), curve);
    for n in 0..bytes.len() {
        assert!(BoundaryCurve::from_bytes(&bytes[..n]).is_err(), "{n} bytes");
    }
}

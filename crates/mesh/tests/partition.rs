//! Parts of meshes: every element once, common faces listed alike on both sides, balance.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use dgsuite_mesh::{
    Across, CUT, Mesh, MeshError, OverlappingPart, Part, Partition, Shape, Side, SpaceFillingCurve,
    generate::{Box, MixedBox},
};

fn meshes() -> Vec<Mesh> {
    let mut all: Vec<Mesh> =
        [Shape::Triangle, Shape::Quadrilateral, Shape::Tetrahedron, Shape::Hexahedron, Shape::Prism]
            .map(|shape| Box::unit(shape, if shape.dim() == 2 { 12 } else { 5 }).build().unwrap())
            .into();
    for (dim, cells) in [(2, [8, 6, 0]), (3, [5, 3, 3])] {
        all.push(MixedBox { dim, min: [0.0; 3], max: [1.0; 3], cells }.build().unwrap());
    }
    for mesh in &mut all {
        mesh.make_periodic("xmin", "xmax").unwrap();
        mesh.renumber(SpaceFillingCurve::Hilbert);
    }
    all
}

/// The faces of a part in numbers of the whole mesh: minus side, plus side or boundary.
fn faces_of(part: &Part) -> Vec<(Side, Across)> {
    let whole = |s: Side| Side { element: part.elements[s.element as usize], face: s.face };
    part.mesh
        .faces
        .iter()
        .map(|f| {
            let across = match f.across {
                Across::Interior { plus, orientation } => Across::Interior { plus: whole(plus), orientation },
                Across::Periodic { plus, orientation } => Across::Periodic { plus: whole(plus), orientation },
                boundary @ Across::Boundary(_) => boundary,
            };
            (whole(f.minus), across)
        })
        .collect()
}

#[test]
fn every_element_and_every_face_is_in_the_parts_and_cuts_agree() {
    for mesh in meshes() {
        for n in [1, 2, 3, 4, 7, 16] {
            let partition = Partition::along_curve(&mesh, n, |_| 1.0).unwrap();
            let parts: Vec<Part> = (0..n).map(|i| partition.part(&mesh, i)).collect();
            let mut all: Vec<u32> = parts.iter().flat_map(|p| p.elements.clone()).collect();
            all.sort_unstable();
            assert!(all.iter().enumerate().all(|(i, &e)| i == e as usize), "{n} parts");
            let whole: Vec<(Side, Across)> = mesh.faces.iter().map(|f| (f.minus, f.across)).collect();
            let cut: usize = parts.iter().map(|p| p.cuts.len()).sum();
            let inner: Vec<(Side, Across)> = parts.iter().flat_map(faces_of).collect();
            assert_eq!(inner.len() + cut / 2, whole.len());
            assert!(inner.iter().all(|f| whole.contains(f)));
            for (i, part) in parts.iter().enumerate() {
                part.mesh.check_orientation().unwrap();
                assert!(part.mesh.faces.windows(2).all(|w| w[0].minus < w[1].minus));
                for (local, &e) in part.elements.iter().enumerate() {
                    let own: Vec<[f64; 3]> = {
                        let (s, k) = part.mesh.locate(local);
                        part.mesh.element_points(s, k).collect()
                    };
                    let (s, k) = mesh.locate(e as usize);
                    assert!(mesh.element_points(s, k).eq(own));
                    assert_eq!(mesh.tag(e as usize), part.mesh.tag(local));
                }
                for j in (0..n).filter(|&j| j != i) {
                    let to = |p: &Part, other: usize| -> Vec<(Side, Side, u8)> {
                        let own = |s: Side| Side { element: p.elements[s.element as usize], face: s.face };
                        let cuts = p.cuts.iter().filter(|c| c.part as usize == other);
                        cuts.map(|c| (own(c.own), c.other, c.orientation)).collect()
                    };
                    let mirrored: Vec<_> = to(&parts[j], i).into_iter().map(|(a, b, o)| (b, a, o)).collect();
                    assert_eq!(to(part, j), mirrored, "parts {i} and {j} of {n}");
                }
            }
        }
    }
}

#[test]
fn parts_have_equal_weights_and_compact_shapes() {
    let mut mesh = Box::unit(Shape::Hexahedron, 16).build().unwrap();
    mesh.renumber(SpaceFillingCurve::Hilbert);
    for n in [2, 3, 8] {
        let statistics = Partition::along_curve(&mesh, n, |_| 1.0).unwrap().statistics(&mesh, |_| 1.0);
        assert!(statistics.load.iter().all(|l| (l - 1.0).abs() < 0.01), "{:?}", statistics.load);
        // A cube of N elements has 6 N^(2/3) faces.
        let most = statistics
            .elements
            .iter()
            .zip(&statistics.cuts)
            .map(|(&e, &c)| c as f64 / (e as f64).powf(2.0 / 3.0));
        assert!(most.fold(0.0, f64::max) < 6.0);
    }
    // Elements on one side cost three times as much.
    let weight = |e: usize| if mesh.centroid(e)[0] < 0.5 { 3.0 } else { 1.0 };
    let statistics = Partition::along_curve(&mesh, 4, weight).unwrap().statistics(&mesh, weight);
    assert!(statistics.load.iter().all(|l| (l - 1.0).abs() < 0.03), "{:?}", statistics.load);
    assert!(statistics.elements.iter().max() > statistics.elements.iter().min().map(|n| n * 3 / 2).as_ref());
}

#[test]
fn parts_may_be_given_and_disconnected_but_not_empty() {
    let mesh = Box::unit(Shape::Quadrilateral, 4).build().unwrap();
    let partition = Partition::of_elements((0..16).map(|e| e % 3).collect()).unwrap();
    assert_eq!(partition.part(&mesh, 1).elements, [1, 4, 7, 10, 13]);
    let refused = |r: Result<Partition, MeshError>| {
        assert!(r.unwrap_err().to_string().contains("each part needs an element"));
    };
    refused(Partition::of_elements(vec![0, 2]));
    refused(Partition::along_curve(&mesh, 17, |_| 1.0));
    assert_eq!(Partition::along_curve(&mesh, 16, |_| 1.0).unwrap().parts(), 16);
}

#[cfg(not(feature = "metis"))]
#[test]
fn without_metis_a_sentence_says_how_to_get_it() {
    let error = Partition::by_graph(&meshes()[0], 2, |_| 1.0).unwrap_err().to_string();
    assert!(error.contains("--features metis"), "{error}");
}

#[cfg(feature = "metis")]
#[test]
fn metis_cuts_fewer_faces_of_a_mesh_and_balances_weights() {
    let mesh = {
        let mut mesh = Box::unit(Shape::Triangle, 40).build().unwrap();
        mesh.renumber(SpaceFillingCurve::Hilbert);
        mesh
    };
    let weight = |e: usize| if e < 800 { 3.0 } else { 1.0 };
    for n in [1, 2, 3, 7, 16] {
        let of = |partition: Partition| partition.statistics(&mesh, weight);
        let graph = of(Partition::by_graph(&mesh, n, weight).unwrap());
        let curve = of(Partition::along_curve(&mesh, n, weight).unwrap());
        let cut = |s: &dgsuite_mesh::PartitionStatistics| s.cuts.iter().sum::<usize>();
        assert!(cut(&graph) <= cut(&curve), "{n} parts: {} against {}", cut(&graph), cut(&curve));
        assert!(graph.load.iter().all(|l| *l < 1.1), "{n} parts: {:?}", graph.load);
    }
    let again = || Partition::by_graph(&mesh, 3, weight).unwrap();
    assert_eq!(again(), again());
}

/// The faces of an overlapping part in numbers of the whole mesh, as [`faces_of`], without the cut ones.
fn inner_faces_of(part: &OverlappingPart) -> Vec<(Side, Across)> {
    let cut = part.mesh.boundaries.len() as u32 - 1;
    let of = Part { mesh: part.mesh.clone(), elements: part.elements.clone(), cuts: Vec::new() };
    faces_of(&of).into_iter().filter(|(_, across)| *across != Across::Boundary(cut)).collect()
}

#[test]
fn elements_of_overlapping_parts_have_all_their_neighbours() {
    for mesh in meshes() {
        let whole: Vec<(Side, Across)> = mesh.faces.iter().map(|f| (f.minus, f.across)).collect();
        for n in [1, 2, 3, 7] {
            let partition = Partition::along_curve(&mesh, n, |_| 1.0).unwrap();
            let parts: Vec<_> = (0..n).map(|i| OverlappingPart::new(&mesh, &partition, i)).collect();
            for (i, part) in parts.iter().enumerate() {
                assert!(part.mesh.boundaries.last().is_some_and(|b| b.name == CUT));
                part.mesh.check_orientation().unwrap();
                assert!(part.mesh.faces.is_sorted_by(|a, b| a.minus < b.minus));
                let of = |side: Side| part.elements.binary_search(&side.element).ok();
                for (local, &e) in part.elements.iter().enumerate() {
                    assert_eq!(part.own[local], partition.of()[e as usize] as usize == i);
                    assert_eq!(part.mesh.tag(local), mesh.tag(e as usize));
                    let (a, b) = (part.mesh.locate(local), mesh.locate(e as usize));
                    assert!(part.mesh.element_points(a.0, a.1).eq(mesh.element_points(b.0, b.1)));
                }
                // All faces of own elements are there, as they are in the whole mesh.
                let inner = inner_faces_of(part);
                assert!(inner.iter().all(|face| whole.contains(face)));
                for face in &whole {
                    let sides = [Some(face.0), face.1.plus()];
                    let own = sides.iter().flatten().any(|side| of(*side).is_some_and(|e| part.own[e]));
                    assert!(!own || inner.contains(face), "part {i} of {n}");
                }
                // What one part sends is what the other one receives.
                for neighbour in &part.neighbours {
                    let other = &parts[neighbour.part as usize];
                    let back = other.neighbours.iter().find(|back| back.part as usize == i).unwrap();
                    let numbers = |part: &OverlappingPart, list: &[u32]| -> Vec<u32> {
                        list.iter().map(|&e| part.elements[e as usize]).collect()
                    };
                    assert_eq!(numbers(part, &neighbour.sends), numbers(other, &back.receives));
                    assert!(neighbour.sends.iter().all(|&e| part.own[e as usize]));
                    assert!(neighbour.receives.iter().all(|&e| !part.own[e as usize]));
                }
                let received: usize = part.neighbours.iter().map(|n| n.receives.len()).sum();
                assert_eq!(received, part.own.iter().filter(|own| !**own).count());
            }
        }
    }
}

#[test]
fn chains_are_never_cut() {
    let mesh = Box::unit(Shape::Quadrilateral, 12).build().unwrap();
    // The columns of the lower half.
    let columns: Vec<Vec<u32>> = (0..12).map(|x| (0..6).map(|y| 12 * y + x).collect()).collect();
    for n in [1, 2, 3, 7] {
        let partition = Partition::along_chains(&mesh, n, |_| 1.0, &columns).unwrap();
        for column in &columns {
            let parts: Vec<u32> = column.iter().map(|&e| partition.of()[e as usize]).collect();
            assert!(parts.iter().all(|part| *part == parts[0]), "{parts:?}");
        }
        let load = partition.statistics(&mesh, |_| 1.0).load;
        assert!(load.iter().all(|load| (load - 1.0).abs() < 0.25), "{load:?}");
    }
    let all: Vec<Vec<u32>> = (0..3).map(|k| (48 * k..48 * k + 48).collect()).collect();
    let refused = Partition::along_chains(&mesh, 4, |_| 1.0, &all).unwrap_err();
    assert!(matches!(refused, MeshError::Chains { parts: 4, pieces: 3 }), "{refused}");
    let plain = Partition::along_chains(&mesh, 5, |_| 1.0, &[]).unwrap();
    assert_eq!(plain, Partition::along_curve(&mesh, 5, |_| 1.0).unwrap());
}

//! Parts with the elements beyond their cut faces, for operators that couple neighbours.

use super::cutter::subsets;
use super::{Partition, beyond};
use crate::{Across, BoundaryTag, Face, Mesh, PeriodicFace, Side};

/// The name of the boundary of an [`OverlappingPart`] where elements of other parts end.
pub const CUT: &str = "(cut)";

/// One part of a mesh with one layer of elements of other parts: those that share a face with it.
///
/// The mesh contains the part's own elements and those of the layer in the order of the whole mesh, and all
/// faces between them. Each own element has therefore all its neighbours. Faces of the layer towards elements
/// that are not here are on an additional last boundary, [`CUT`].
#[derive(Clone, Debug, PartialEq)]
pub struct OverlappingPart {
    /// The elements, points and faces.
    pub mesh: Mesh,
    /// For each element its index in the whole mesh; ascending.
    pub elements: Vec<u32>,
    /// Whether an element is the part's own.
    pub own: Vec<bool>,
    /// The parts that have or need elements of each other, ascending.
    pub neighbours: Vec<Neighbour>,
}

/// What a part and one of its neighbours need of each other. Elements are indices of the part's mesh. Both
/// parts list the same elements in the same order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Neighbour {
    /// The other part.
    pub part: u32,
    /// Own elements that are in the layer of the other part; ascending.
    pub sends: Vec<u32>,
    /// Elements of the other part in this part's layer; ascending.
    pub receives: Vec<u32>,
}

impl OverlappingPart {
    /// Part `part` of `mesh` with its layer.
    ///
    /// # Panics
    /// If there is no such part, or if the partition belongs to another mesh.
    #[must_use]
    pub fn new(mesh: &Mesh, partition: &Partition, part: usize) -> Self {
        assert!(part < partition.parts(), "part {part} of {}", partition.parts());
        assert!(partition.of.len() == mesh.n_elements(), "the partition has other elements than the mesh");
        let part = part as u32;
        let part_of = |side: Side| partition.of[side.element as usize];
        // Pairs of parts and elements that travel to them, or come from them.
        let (mut sends, mut receives) = (Vec::new(), Vec::new());
        for face in &mesh.faces {
            let Some((plus, _)) = beyond(face.across) else { continue };
            for (own, other) in [(face.minus, plus), (plus, face.minus)] {
                if part_of(own) == part && part_of(other) != part {
                    sends.push((part_of(other), own.element));
                    receives.push((part_of(other), other.element));
                }
            }
        }
        for pairs in [&mut sends, &mut receives] {
            pairs.sort_unstable();
            pairs.dedup();
        }
        let mut elements: Vec<u32> = (0..partition.of.len() as u32)
            .filter(|&element| partition.of[element as usize] == part)
            .chain(receives.iter().map(|&(_, element)| element))
            .collect();
        elements.sort_unstable();
        let local_of = |element: u32| elements.binary_search(&element).ok().map(|local| local as u32);
        let of_part = |pairs: &[(u32, u32)], other: u32| {
            let of = pairs.iter().filter(|&&(part, _)| part == other);
            of.filter_map(|&(_, element)| local_of(element)).collect()
        };
        let mut others: Vec<u32> = receives.iter().map(|&(part, _)| part).collect();
        others.dedup();
        let neighbours = others
            .into_iter()
            .map(|part| Neighbour { part, sends: of_part(&sends, part), receives: of_part(&receives, part) })
            .collect();
        let own = elements.iter().map(|&element| partition.of[element as usize] == part).collect();
        let mesh = Self::cut(mesh, &elements, local_of);
        Self { mesh, elements, own, neighbours }
    }

    /// The mesh of some elements; `local_of` returns their indices in it.
    fn cut(mesh: &Mesh, elements: &[u32], local_of: impl Fn(u32) -> Option<u32>) -> Mesh {
        let mut number = vec![u32::MAX; mesh.points.len()];
        let (sets, points) = subsets(mesh, elements, &mut number);
        let mut boundaries = mesh.boundaries.clone();
        let cut = boundaries.len() as u32;
        boundaries.push(BoundaryTag { name: CUT.to_owned(), tag: 0 });
        let local = |side: Side| Some(Side { element: local_of(side.element)?, face: side.face });
        let (mut faces, mut periodic_faces) = (Vec::new(), Vec::new());
        for face in &mesh.faces {
            let minus = local(face.minus);
            let Some((plus, orientation)) = beyond(face.across) else {
                faces.extend(minus.map(|minus| Face { minus, across: face.across }));
                continue;
            };
            match (minus, local(plus)) {
                (Some(minus), Some(plus)) => {
                    let across = match face.across {
                        Across::Periodic { .. } => Across::Periodic { plus, orientation },
                        _ => Across::Interior { plus, orientation },
                    };
                    faces.push(Face { minus, across });
                    let origin = mesh.periodic_faces.binary_search_by_key(&face.minus, |origin| origin.minus);
                    if let Ok(i) = origin {
                        periodic_faces.push(PeriodicFace { minus, ..mesh.periodic_faces[i] });
                    }
                }
                (Some(minus), None) | (None, Some(minus)) => {
                    faces.push(Face { minus, across: Across::Boundary(cut) });
                }
                (None, None) => {}
            }
        }
        faces.sort_unstable_by_key(|face| face.minus);
        Mesh {
            dim: mesh.dim,
            points,
            sets,
            faces,
            boundaries,
            region_names: mesh.region_names.clone(),
            links: mesh.links.clone(),
            periodic_faces,
        }
    }
}

//! Neighbours of elements, across groups and boundaries, for limiters.
//!
//! A neighbour is one number: the group in the three highest bits and the slot in the others. The highest
//! group stands for an outer state at a boundary; the other bits are then the index of its first number in
//! the exterior buffer. The group below it stands for elements of other ranks; the other bits are then the
//! index of the cut face.

use crate::lanes::simd::PackScalar;
use crate::space::connect::{Connectivity, places};
use crate::space::group::Group;
use dgsuite_mesh::{Across, Mesh};
use std::collections::HashMap;

/// The group of outer states at boundaries.
pub(crate) const EXTERIOR_GROUP: u32 = 7;
/// The group of the elements of other ranks.
pub(crate) const ABROAD_GROUP: u32 = 6;
const SLOT_BITS: u32 = 29;
/// No neighbour.
pub(crate) const NOTHING: u32 = u32::MAX;

pub(crate) fn pack(group: u32, slot: usize) -> u32 {
    u32::try_from(slot).ok().filter(|s| *s < (1 << SLOT_BITS) - 1).map_or(NOTHING, |s| group << SLOT_BITS | s)
}

pub(crate) const fn unpack(neighbour: u32) -> (u32, usize) {
    (neighbour >> SLOT_BITS, (neighbour & ((1 << SLOT_BITS) - 1)) as usize)
}

/// The neighbours across the faces of all slots, per group `[slot][face]`.
pub(crate) fn across<T: PackScalar>(
    mesh: &Mesh,
    groups: &[Group<T>],
    connectivity: &Connectivity,
) -> Vec<Vec<u32>> {
    let place = places(mesh, groups);
    let packed = |element: u32| {
        let (group, slot) = place[element as usize];
        pack(u32::from(group), slot as usize)
    };
    let mut of_element = vec![[NOTHING; 6]; mesh.n_elements()];
    for face in &mesh.faces {
        if let Across::Interior { plus, .. } | Across::Periodic { plus, .. } = face.across {
            of_element[face.minus.element as usize][face.minus.face as usize] = packed(plus.element);
            of_element[plus.element as usize][plus.face as usize] = packed(face.minus.element);
        }
    }
    for (faces, &first) in connectivity.boundaries.iter().zip(&connectivity.boundary_exterior) {
        let mut at = first;
        for face in faces {
            let group = &groups[face.group as usize];
            let (element, f) = (group.elements[face.slot as usize] as usize, face.face as usize);
            of_element[element][f] = pack(EXTERIOR_GROUP, at);
            at += (group.face_offsets[f + 1] - group.face_offsets[f]) * group.state.fields;
        }
    }
    let sends = connectivity.borders.iter().flat_map(|border| &border.sends);
    for (i, send) in sends.enumerate() {
        let element = groups[send.group as usize].elements[send.slot as usize] as usize;
        let face = usize::from(send.code) / crate::space::connect::ORIENTATIONS;
        of_element[element][face] = pack(ABROAD_GROUP, i);
    }
    let of_group = |group: &Group<T>| {
        let n = group.shape.n_faces();
        group.elements.iter().flat_map(|&e| of_element[e as usize][..n].to_vec()).collect()
    };
    groups.iter().map(of_group).collect()
}

/// The elements with a common vertex or face, per group: index of the first one of each slot, and all of
/// them.
pub(crate) fn vertex_neighbours<T: PackScalar>(
    mesh: &Mesh,
    groups: &[Group<T>],
) -> Vec<(Vec<u32>, Vec<u32>)> {
    let place = places(mesh, groups);
    let mut around: HashMap<u32, Vec<u32>> = HashMap::new();
    for e in 0..mesh.n_elements() {
        for v in mesh.element_vertices(e) {
            around.entry(v).or_default().push(e as u32);
        }
    }
    let mut periodic: HashMap<u32, Vec<u32>> = HashMap::new();
    for face in &mesh.faces {
        if let Across::Periodic { plus, .. } = face.across {
            periodic.entry(face.minus.element).or_default().push(plus.element);
            periodic.entry(plus.element).or_default().push(face.minus.element);
        }
    }
    let of_group = |group: &Group<T>| {
        let (mut first, mut all) = (vec![0], Vec::new());
        for &e in &group.elements {
            let vertices = mesh.element_vertices(e as usize);
            let mut near: Vec<u32> = vertices.iter().flat_map(|v| around[v].iter().copied()).collect();
            near.extend(periodic.get(&e).into_iter().flatten());
            near.sort_unstable();
            near.dedup();
            all.extend(near.into_iter().filter(|&n| n != e).map(|n| {
                let (group, slot) = place[n as usize];
                pack(u32::from(group), slot as usize)
            }));
            first.push(all.len() as u32);
        }
        (first, all)
    };
    groups.iter().map(of_group).collect()
}

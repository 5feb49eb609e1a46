//! The tables of linelets for a device.

use super::factor::factor_len;
use super::set_up::inverted;
use super::{LineletInverse, Reduced, WEIGHT};
use crate::error::OpsError;
use crate::lanes::panel::Rows;
use crate::lanes::simd::PackScalar;
use dgsuite_basis::{NodeSet, Shape, nodes};

/// The tables of the smoother for a device.
pub(crate) struct DeviceLinelets<'a, T> {
    /// By group, the elements of one shape: where the basis changes, the factors inwards and outwards.
    pub(crate) changes: Vec<(Shape, Option<[Vec<Rows>; 2]>)>,
    /// `W D⁻¹ W` for the host's vectors.
    pub(crate) diagonal: Vec<T>,
    pub(crate) members: Vec<DeviceMember>,
    /// The members of each line, and whether its functions are nodal along the layer.
    pub(crate) lines: Vec<(std::ops::Range<usize>, bool)>,
    /// Values of dense functions, `[node][function]`, one table after another.
    pub(crate) values: Vec<T>,
    /// For each node of an element with nodal functions, `256 j + k` with its number j along the layer and k
    /// across it, one table after another.
    pub(crate) places: Vec<u32>,
    /// The linear functions at the nodes across the layer.
    pub(crate) linear: Vec<T>,
    /// The system of each number along the layer, and the reverse, one table after another.
    pub(crate) systems: Vec<u32>,
    pub(crate) numbers: Vec<u32>,
    pub(crate) factors: &'a [T],
    pub(crate) n_unknowns: usize,
}

/// An element of a line for a device.
pub(crate) struct DeviceMember {
    pub(crate) group: usize,
    /// The entry of its first node in the host's vectors.
    pub(crate) entry: usize,
    pub(crate) nodes: usize,
    pub(crate) start: usize,
    /// Unknowns of each system.
    pub(crate) n: usize,
    /// First entry in `values` or `places`.
    pub(crate) reduced: usize,
    /// First entry in `systems` and `numbers`; `None` with dense functions.
    pub(crate) turn: Option<usize>,
    pub(crate) factor: usize,
}

impl<T: PackScalar> LineletInverse<T> {
    /// The factor of the linelets.
    pub(crate) const WEIGHT: f64 = WEIGHT;

    pub(crate) fn device_tables(&self, order: usize) -> Result<DeviceLinelets<'_, T>, OpsError> {
        let mut values = Vec::new();
        let mut places = Vec::new();
        // The first entry of each table in `values` or `places`.
        let mut first = Vec::with_capacity(self.reduced.len());
        for reduced in &self.reduced {
            match reduced {
                Reduced::Dense { values: own, .. } => {
                    first.push(values.len());
                    values.extend_from_slice(own);
                }
                Reduced::Nodal { count, nodes } => {
                    first.push(places.len());
                    let mut seen = vec![0; *count];
                    for (j, _) in nodes {
                        let along = &mut seen[*j as usize];
                        places.push(u32::from(*j) << 8 | *along);
                        *along += 1;
                    }
                }
            }
        }
        let line = nodes(Shape::Line, order, NodeSet::GaussLobatto)?;
        let linear = line.iter().flat_map(|x| [0.5 * (1.0 - x[0]), 0.5 * (1.0 + x[0])]).map(T::from_f64);
        let mut systems = Vec::new();
        let mut numbers = Vec::new();
        let mut first_turn = Vec::with_capacity(self.turns.len());
        for turn in &self.turns {
            first_turn.push(systems.len());
            systems.extend(turn.iter().map(|s| u32::from(*s)));
            numbers.extend(inverted(turn, turn.len()).into_iter().map(|j| j as u32));
        }
        let mut members = Vec::with_capacity(self.members.len());
        let mut lines = Vec::with_capacity(self.lines.len());
        for line in &self.lines {
            let mut factor = line.first_factor;
            let mut before = None;
            let mut nodal = false;
            for k in line.members.clone() {
                let member = &self.members[k];
                let (group, of) =
                    (&self.groups[member.group as usize], &self.reduced[member.reduced as usize]);
                nodal = matches!(of, Reduced::Nodal { .. });
                members.push(DeviceMember {
                    group: member.group as usize,
                    entry: group.offset + group.layout.index(member.slot as usize, 0, 0),
                    nodes: group.layout.rows,
                    start: self.starts[k],
                    n: of.size().n,
                    reduced: first[member.reduced as usize],
                    turn: nodal.then(|| first_turn[member.turn as usize]),
                    factor,
                });
                factor += factor_len(of.size(), before);
                before = Some(of.size());
            }
            lines.push((line.members.clone(), nodal));
        }
        Ok(DeviceLinelets {
            changes: self.groups.iter().map(|g| (g.shape, g.factors.clone())).collect(),
            diagonal: self.groups.iter().flat_map(|g| g.diagonal.iter().copied()).collect(),
            members,
            lines,
            values,
            places,
            linear: linear.collect(),
            systems,
            numbers,
            factors: &self.factors,
            n_unknowns: self.unknowns.len(),
        })
    }
}

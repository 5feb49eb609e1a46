//! The faces of one boundary: geometry, prescribed data, and buffers for traces and fluxes.

use crate::rhs::above_halo::{AboveHalo, Wall};
use crate::rhs::above_wall::{Above, find_above};
use crate::rhs::ranks::{Ranks, agree};
use crate::rhs::slopes::BoundarySlopes;
use std::sync::{Arc, Mutex, OnceLock};

use crate::error::OpsError;
use crate::formulas::boundary::BoundaryBinding;
use crate::lanes::simd::PackScalar;
use crate::space::connect::Connectivity;
use crate::space::group::Group;
use dgsuite_mesh::{BoundaryTag, Mesh};

/// The faces of one boundary with their condition.
pub(crate) struct BoundarySet<T> {
    pub(crate) binding: BoundaryBinding<T>,
    /// Index among the mesh's boundaries.
    pub(crate) boundary: usize,
    /// Index of the first point of each face, then the number of points.
    pub(crate) first: Vec<usize>,
    pub(crate) positions: Vec<[f64; 3]>,
    pub(crate) normal: Vec<T>,
    /// Cubature weight times `sJ`.
    pub(crate) weight: Vec<f64>,
    /// The coefficient of diffusion of each point's element; empty if the flux has none.
    pub(crate) coefficients: Vec<f64>,
    pub(crate) data: Vec<T>,
    /// Time at which `data` was evaluated.
    pub(crate) data_time: Option<f64>,
    pub(crate) data_buffer: Vec<Vec<f64>>,
    pub(crate) minus: Vec<T>,
    pub(crate) flux: Vec<T>,
    /// `u_b`, if there is diffusion.
    pub(crate) face: Vec<T>,
    /// The places from which the data come, if they come from above the boundary.
    pub(crate) above: Option<Above<T>>,
    /// Operators of the gradients at the points, made at their first use.
    pub(crate) slopes: OnceLock<BoundarySlopes>,
}

/// The boundaries with faces, and the exchange of states above them, if there are several ranks.
pub(crate) type Boundaries<T> = (Vec<BoundarySet<T>>, Option<Mutex<AboveHalo<T>>>);

/// The faces of all boundaries that have some, with their conditions.
///
/// # Errors
/// A boundary without a condition, or one without a diffusive part although there is `diffusion`; with data
/// from above a boundary also [`OpsError::NothingAbove`], and errors of other ranks.
pub(crate) fn boundary_sets<T: PackScalar>(
    mesh: &Mesh,
    groups: &[Group<T>],
    connectivity: &Connectivity,
    boundaries: Vec<BoundaryBinding<T>>,
    diffusion: bool,
    ranks: Option<&Arc<Ranks>>,
) -> Result<Boundaries<T>, OpsError> {
    let wall = |(boundary, tag): (usize, &BoundaryTag)| {
        let binding = boundaries.iter().find(|binding| binding.name == tag.name)?;
        let height = binding.kernel.above()?.height();
        Some(Wall { boundary, name: tag.name.clone(), height })
    };
    let walls: Vec<Wall> = mesh.boundaries.iter().enumerate().filter_map(wall).collect();
    let mut bindings: Vec<Option<BoundaryBinding<T>>> = boundaries.into_iter().map(Some).collect();
    let mut set = |b: usize, name: &str| {
        let found = bindings.iter_mut().find(|x| x.as_ref().is_some_and(|x| x.name == name));
        let Some(binding) = found.and_then(Option::take) else {
            return Err(OpsError::BoundaryWithoutCondition { name: name.to_owned() });
        };
        if diffusion && binding.kernel.diffusive().is_none() {
            return Err(OpsError::BoundaryWithoutDiffusion { name: name.to_owned() });
        }
        Ok(boundary_set(mesh, groups, connectivity, b, binding))
    };
    let with_faces =
        mesh.boundaries.iter().enumerate().filter(|(b, _)| !connectivity.boundaries[*b].is_empty());
    let sets: Result<Vec<_>, OpsError> = with_faces.map(|(b, tag)| set(b, &tag.name)).collect();
    // Other ranks may have no faces of the boundary at which this one finds a mistake.
    let mut sets = match ranks.filter(|_| !walls.is_empty()) {
        Some(ranks) => agree(ranks.comm().as_ref(), sets)?,
        None => sets?,
    };
    let above = find_above(mesh, groups, connectivity, &mut sets, &walls, ranks)?;
    Ok((sets, above.map(Mutex::new)))
}

/// Collects the points of one boundary: geometry and weights; allocates its buffers.
fn boundary_set<T: PackScalar>(
    mesh: &Mesh,
    groups: &[Group<T>],
    connectivity: &Connectivity,
    boundary: usize,
    binding: BoundaryBinding<T>,
) -> BoundarySet<T> {
    let fields = groups[0].state.fields;
    let mut first = vec![0];
    let (mut positions, mut normal, mut weight) = (Vec::new(), Vec::new(), Vec::new());
    let mut coefficients = Vec::new();
    for face in &connectivity.boundaries[boundary] {
        let group = &groups[face.group as usize];
        let f = face.face as usize;
        let range = group.face_offsets[f]..group.face_offsets[f + 1];
        let reference = &group.part_of(face.slot as usize / group.state.lanes).reference;
        let element = group.elements[face.slot as usize] as usize;
        positions.extend(crate::space::positions::positions(
            mesh,
            element,
            &reference.face_points[range.clone()],
        ));
        let (n, sj) = crate::space::positions::face_geometry(group, face.slot as usize, f, mesh.dim);
        for (i, q) in range.enumerate() {
            normal.extend(n[i].iter().take(mesh.dim).map(|&c| T::from_f64(c)));
            weight.push(reference.face_weights[q] * sj[i]);
        }
        first.push(positions.len());
        if let Some(c) = group.coefficients.get(face.slot as usize) {
            coefficients.resize(positions.len(), c.to_f64());
        }
    }
    let zeros = || vec![T::from_f64(0.0); positions.len() * fields];
    BoundarySet {
        binding,
        boundary,
        first,
        data: zeros(),
        minus: zeros(),
        flux: zeros(),
        face: zeros(),
        above: None,
        slopes: OnceLock::new(),
        positions,
        normal,
        weight,
        coefficients,
        data_time: None,
        data_buffer: vec![Vec::new(); fields],
    }
}

impl<T: PackScalar> BoundarySet<T> {
    /// Evaluates the prescribed states at time `t`; returns whether they have changed.
    pub(crate) fn update_data(&mut self, t: f64, fields: usize) -> bool {
        let Some(exact) = &self.binding.data else { return false };
        if self.data_time.is_some_and(|last| last == t || exact.is_steady()) {
            return false;
        }
        exact.eval(t, &self.positions, &mut self.data_buffer);
        for (k, values) in self.data_buffer.iter().enumerate() {
            for (i, &v) in values.iter().enumerate() {
                self.data[i * fields + k] = T::from_f64(v);
            }
        }
        self.data_time = Some(t);
        true
    }
}

/// Calls `run(first face, last face, …)` on halves, recursively, until the pieces are small.
pub(crate) fn split<T: Send>(
    n_faces: usize,
    first: &[usize],
    fields: usize,
    minus: &mut [T],
    plus: &mut [T],
    flux: &mut [T],
    run: &(impl Fn(usize, usize, &mut [T], &mut [T], &mut [T]) + Sync),
) {
    fn halve<T: Send>(
        f0: usize,
        f1: usize,
        first: &[usize],
        fields: usize,
        minus: &mut [T],
        plus: &mut [T],
        flux: &mut [T],
        run: &(impl Fn(usize, usize, &mut [T], &mut [T], &mut [T]) + Sync),
    ) {
        if f1 - f0 <= 64 {
            if f1 > f0 {
                run(f0, f1, minus, plus, flux);
            }
            return;
        }
        let middle = f0.midpoint(f1);
        let at = (first[middle] - first[f0]) * fields;
        let ((m0, m1), (p0, p1), (x0, x1)) =
            (minus.split_at_mut(at), plus.split_at_mut(at), flux.split_at_mut(at));
        rayon::join(
            || halve(f0, middle, first, fields, m0, p0, x0, run),
            || halve(middle, f1, first, fields, m1, p1, x1, run),
        );
    }
    halve(0, n_faces, first, fields, minus, plus, flux, run);
}

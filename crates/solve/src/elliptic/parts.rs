//! Disconnected parts of the mesh: the constant of u must be fixed in all of them or in none.

use dgsuite_gpu::{GpuError, Host, HostVector, Vector};
use dgsuite_mesh::{Across, Mesh};
use dgsuite_ops::elliptic::Sipdg;

use super::{EllipticError, EllipticKind, EllipticSetup, Imbalance};

/// The part of the mesh of each element.
#[derive(Debug, PartialEq)]
struct Parts {
    /// Index of the part, by element.
    of: Vec<u32>,
    count: usize,
}

impl Parts {
    /// Faces join elements, periodic faces too.
    fn new(mesh: &Mesh) -> Self {
        // The representative of each element's part; chains are halved along the way.
        let mut parent: Vec<u32> = (0..mesh.n_elements() as u32).collect();
        let root = |parent: &mut [u32], mut e: u32| {
            while parent[e as usize] != e {
                parent[e as usize] = parent[parent[e as usize] as usize];
                e = parent[e as usize];
            }
            e
        };
        for face in &mesh.faces {
            if let Across::Interior { plus, .. } | Across::Periodic { plus, .. } = face.across {
                let (a, b) = (root(&mut parent, face.minus.element), root(&mut parent, plus.element));
                parent[a.max(b) as usize] = a.min(b);
            }
        }
        let mut count = 0;
        let mut of = vec![0; parent.len()];
        for e in 0..parent.len() {
            let first = root(&mut parent, e as u32) as usize;
            of[e] = of[first];
            if first == e {
                of[e] = count;
                count += 1;
            }
        }
        Self { of, count: count as usize }
    }

    /// Returns whether something fixes u in each part: a boundary condition with u, or λ.
    fn fixed(&self, setup: &EllipticSetup) -> Vec<bool> {
        let mesh = &setup.mesh;
        let fixes: Vec<bool> = mesh
            .boundaries
            .iter()
            .map(|tag| {
                let condition = setup.boundaries.iter().find(|condition| condition.name == tag.name);
                condition.is_some_and(|condition| match condition.kind {
                    EllipticKind::Dirichlet => true,
                    EllipticKind::Neumann => false,
                    EllipticKind::Robin { alpha } => alpha > 0.0,
                })
            })
            .collect();
        let mut fixed = vec![false; self.count];
        for face in &mesh.faces {
            if let Across::Boundary(tag) = face.across {
                fixed[self.of[face.minus.element as usize] as usize] |= fixes[tag as usize];
            }
        }
        for (s, set) in mesh.sets.iter().enumerate() {
            for i in 0..set.len() {
                let (element, part) = (set.first + i, self.of[set.first + i] as usize);
                fixed[part] =
                    fixed[part] || mesh.element_points(s, i).any(|x| (setup.lambda)(element, x) > 0.0);
            }
        }
        fixed
    }
}

/// Rejects a problem that fixes u in some part of the mesh but not in another.
///
/// # Errors
/// [`EllipticError::Floating`].
pub(super) fn check(setup: &EllipticSetup) -> Result<(), EllipticError> {
    let parts = Parts::new(&setup.mesh);
    if parts.count < 2 {
        return Ok(());
    }
    let fixed = parts.fixed(setup);
    let floating = parts.of.iter().position(|&part| !fixed[part as usize]);
    match floating.filter(|_| fixed.contains(&true)) {
        None => Ok(()),
        Some(element) => {
            let vertices = setup.mesh.element_vertices(element);
            let at = vertices.first().map_or([0.0; 3], |&v| setup.mesh.points[v as usize]);
            Err(EllipticError::Floating { element: setup.mesh.tag(element), at })
        }
    }
}

/// Relative rounding error of a constant right-hand side after balancing; a solver would treat it as data.
const ROUNDING: f64 = 1e-13;

/// The constants in the null space: 1 in one part of the mesh and 0 in the others, with their loads `M 1`.
pub(super) struct Constants(Vec<[HostVector<f64>; 2]>);

impl Constants {
    /// Computes the constants of a singular problem.
    ///
    /// # Errors
    /// Not enough memory for two vectors for each part.
    pub(super) fn new(operator: &Sipdg<f64>, host: &Host) -> Result<Self, GpuError> {
        let parts = Parts::new(operator.whole_mesh());
        let one = |part: usize| {
            let inside = |element: usize, _: usize| f64::from(parts.of[element] as usize == part);
            let one =
                HostVector::from_slice(host, &operator.numbered(inside))?.summed_by(operator.summation());
            let mut load = one.zeros_like()?;
            operator.mass(&one, &mut load);
            Ok([one, load])
        };
        (0..parts.count).map(one).collect::<Result<_, _>>().map(Self)
    }

    /// Removes the part of a right-hand side for which no solution exists, evenly from f in each part of the
    /// mesh. Returns the imbalance of the part of the mesh with the largest share.
    pub(super) fn balance(&self, b: &mut HostVector<f64>) -> Option<Imbalance> {
        let before = b.norm_max();
        let mut worst: Option<Imbalance> = None;
        for [one, load] in &self.0 {
            let total = one.dot(b);
            let mut terms = one.clone();
            terms.iter_mut().zip(b.iter()).for_each(|(one, b)| *one = (*one * b).abs());
            let size = terms.sum();
            b.axpby(-total / one.dot(load), load, 1.0);
            let found = Imbalance { total, size };
            if worst.is_none_or(|worst| found.share() > worst.share()) {
                worst = Some(found);
            }
        }
        if b.norm_max() <= ROUNDING * before {
            b.fill(0.0);
        }
        worst
    }

    /// Adds constants such that u has the mean of a given function in each part, or mean 0.
    pub(super) fn set_means(&self, wanted: Option<&[f64]>, u: &mut HostVector<f64>) {
        for [one, load] in &self.0 {
            let wanted = wanted.map_or(0.0, |wanted| {
                let mut of = load.clone();
                of.copy_from_slice(wanted);
                load.dot(&of)
            });
            u.axpby((wanted - load.dot(u)) / load.dot(one), one, 1.0);
        }
    }
}

//! Periodic boundaries: joins two boundaries to one set of faces.
//!
//! A translation maps the faces of the first boundary to the second; if none fits, a rotation about a
//! coordinate axis through the origin (with a shift along it) does. Faces are matched vertex by vertex.

use std::collections::HashMap;

use crate::{
    Across, Face, Mesh, MeshError, PeriodicFace, PeriodicLink, Side,
    connect::Join,
    mesh::mean,
    nearby::{Nearby, distance},
    side_nodes::SideNodes,
    sides::Corners,
    topology::meeting_nodes,
};

/// Vertices match within this fraction of the shortest edge on the two boundaries.
pub(crate) const TOLERANCE: f64 = 1e-4;

pub(crate) const IDENTITY: [[f64; 3]; 3] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

impl Mesh {
    /// Join the boundaries `first` and `second` face by face, so that the domain is periodic.
    ///
    /// Vertices must match within 10⁻⁴ of the shortest edge on the two boundaries. The call does nothing if
    /// the two are already joined (for example by the file's `$Periodic`). On an error the mesh is unchanged.
    ///
    /// # Errors
    /// [`MeshError::UnknownBoundary`], [`MeshError::PeriodicSelf`], [`MeshError::AlreadyPeriodic`],
    /// [`MeshError::PeriodicMismatch`] if a face has no partner, [`MeshError::CurvedFace`] if two
    /// faces share their vertices but not their curved nodes.
    pub fn make_periodic(&mut self, first: &str, second: &str) -> Result<(), MeshError> {
        let ends = [self.boundary_index(first)?, self.boundary_index(second)?];
        if ends[0] == ends[1] {
            return Err(MeshError::PeriodicSelf { name: first.to_owned() });
        }
        let sides = ends.map(|b| self.boundary_sides(b));
        let joined = |l: &PeriodicLink| [l.first, l.second] == ends || [l.second, l.first] == ends;
        if sides.iter().all(Vec::is_empty) && self.links.iter().any(joined) {
            return Ok(());
        }
        for i in 0..2 {
            if sides[i].is_empty()
                && let Some(p) = self.partner_of(ends[i])
            {
                let name = self.boundaries[ends[i] as usize].name.clone();
                let other = self.boundaries[p as usize].name.clone();
                return Err(MeshError::AlreadyPeriodic { name, other });
            }
        }
        let link = self.links.len() as u32;
        let mut failure = None;
        let all = SideNodes::new(self);
        let nodes = [all.vertices(&sides[0]), all.vertices(&sides[1])];
        for (linear, offset) in candidates(&self.points, self.dim, [&nodes[0], &nodes[1]]) {
            let candidate = PeriodicLink { first: ends[0], second: ends[1], linear, offset };
            match self.match_sides(&candidate, link, &sides) {
                Ok(joins) => {
                    self.links.push(candidate);
                    self.join(&joins);
                    return Ok(());
                }
                Err(e) => failure = failure.or(Some(e)),
            }
        }
        // A boundary without faces has no candidates.
        let lonely = sides.iter().flatten().next().map_or([0.0; 3], |&s| self.side_centroid(s));
        Err(failure.unwrap_or_else(|| MeshError::PeriodicMismatch {
            first: first.to_owned(),
            second: second.to_owned(),
            n_first: sides[0].len(),
            n_second: sides[1].len(),
            centroid: lonely,
        }))
    }

    /// Split every periodic face into two boundary faces again.
    pub fn cut_periodic(&mut self) {
        let origin: HashMap<Side, PeriodicFace> = self.periodic_faces.iter().map(|&p| (p.minus, p)).collect();
        let mut faces = Vec::with_capacity(self.faces.len() + origin.len());
        for &face in &self.faces {
            if let (Across::Periodic { plus, .. }, Some(p)) = (face.across, origin.get(&face.minus)) {
                let link = &self.links[p.link as usize];
                let (m, q) = if p.reversed { (link.second, link.first) } else { (link.first, link.second) };
                faces.push(Face { minus: face.minus, across: Across::Boundary(m) });
                faces.push(Face { minus: plus, across: Across::Boundary(q) });
            } else {
                faces.push(face);
            }
        }
        faces.sort_unstable_by_key(|f| f.minus);
        self.faces = faces;
        self.links.clear();
        self.periodic_faces.clear();
    }

    /// The sides on a boundary.
    pub(crate) fn boundary_sides(&self, boundary: u32) -> Vec<Side> {
        let on = |f: &&Face| f.across == Across::Boundary(boundary);
        self.faces.iter().filter(on).map(|f| f.minus).collect()
    }

    fn partner_of(&self, boundary: u32) -> Option<u32> {
        self.links.iter().find_map(|l| match boundary {
            b if b == l.first => Some(l.second),
            b if b == l.second => Some(l.first),
            _ => None,
        })
    }

    /// Pair the sides of two boundaries under a link's map.
    fn match_sides(
        &self,
        link: &PeriodicLink,
        number: u32,
        sides: &[Vec<Side>; 2],
    ) -> Result<Vec<Join>, MeshError> {
        let mut all = SideNodes::new(self);
        let edge = sides.iter().flatten().map(|&s| all.shortest_edge(s)).fold(f64::INFINITY, f64::min);
        let tolerance = TOLERANCE * edge;
        let targets = all.vertices(&sides[1]);
        let near = Nearby::new(&self.points, &targets, edge);
        let image: HashMap<u32, Option<u32>> = all
            .vertices(&sides[0])
            .into_iter()
            .map(|v| (v, near.nearest(link.apply(self.points[v as usize]), tolerance)))
            .collect();
        let mut free: HashMap<[u32; 4], Side> = sides[1].iter().map(|&s| (all.corners(s).key(), s)).collect();
        let mut joins = Vec::with_capacity(sides[0].len());
        let mismatch = |side: Side| MeshError::PeriodicMismatch {
            first: self.boundaries[link.first as usize].name.clone(),
            second: self.boundaries[link.second as usize].name.clone(),
            n_first: sides[0].len(),
            n_second: sides[1].len(),
            centroid: self.side_centroid(side),
        };
        for &first in &sides[0] {
            let mapped: Option<Vec<u32>> = all.corners(first).as_slice().iter().map(|v| image[v]).collect();
            let mapped = Corners::new(mapped.ok_or_else(|| mismatch(first))?);
            let second = free.remove(&mapped.key()).ok_or_else(|| mismatch(first))?;
            let orientation = mapped.orientation(&all.corners(second)).ok_or_else(|| mismatch(first))?;
            let join = Join { first, second, orientation, link: number };
            all.check_curve(&join, |x| link.apply(x), tolerance)?;
            joins.push(join);
        }
        match free.values().min() {
            Some(&left) => Err(mismatch(left)),
            None => Ok(joins),
        }
    }

    /// Replace boundary faces by the periodic faces that `joins` describe.
    fn join(&mut self, joins: &[Join]) {
        let by_side: HashMap<Side, &Join> =
            joins.iter().flat_map(|j| [(j.first, j), (j.second, j)]).collect();
        let periodic_faces = &mut self.periodic_faces;
        self.faces.retain_mut(|face| match by_side.get(&face.minus) {
            Some(j) if matches!(face.across, Across::Boundary(_)) => {
                let (lower, plus) = (j.first.min(j.second), j.first.max(j.second));
                if face.minus != lower {
                    return false;
                }
                face.across = Across::Periodic { plus, orientation: j.orientation };
                let reversed = lower != j.first;
                periodic_faces.push(PeriodicFace { minus: lower, link: j.link, reversed });
                true
            }
            _ => true,
        });
        self.periodic_faces.sort_unstable_by_key(|p| p.minus);
    }

    /// The joins that describe the periodic faces of this mesh.
    pub(crate) fn joins(&self) -> Vec<Join> {
        let origin: HashMap<Side, PeriodicFace> = self.periodic_faces.iter().map(|&p| (p.minus, p)).collect();
        let join = |f: &Face| match (f.across, origin.get(&f.minus)) {
            (Across::Periodic { plus, orientation }, Some(p)) => {
                let (first, second) = if p.reversed { (plus, f.minus) } else { (f.minus, plus) };
                Some(Join { first, second, orientation, link: p.link })
            }
            _ => None,
        };
        self.faces.iter().filter_map(join).collect()
    }
}

/// Affine maps that may map the points `nodes[0]` to `nodes[1]`: the translation of the bounding boxes'
/// centres, then rotations about z, x and y that map mean to mean. Empty if there are no points.
pub(crate) fn candidates(
    points: &[[f64; 3]],
    dim: usize,
    nodes: [&[u32]; 2],
) -> Vec<([[f64; 3]; 3], [f64; 3])> {
    if nodes.iter().any(|n| n.is_empty()) {
        return Vec::new();
    }
    let centre = |ids: &[u32]| -> [f64; 3] {
        std::array::from_fn(|d| {
            let along = || ids.iter().map(|&i| points[i as usize][d]);
            0.5 * (along().fold(f64::INFINITY, f64::min) + along().fold(f64::NEG_INFINITY, f64::max))
        })
    };
    let (c, m) = (nodes.map(centre), nodes.map(|ids| mean(points, ids)));
    let mut out = vec![(IDENTITY, std::array::from_fn(|d| c[1][d] - c[0][d]))];
    for axis in if dim == 2 { &[2][..] } else { &[2, 0, 1] } {
        let (i, j) = ((axis + 1) % 3, (axis + 2) % 3);
        let angle = m[1][j].atan2(m[1][i]) - m[0][j].atan2(m[0][i]);
        let mut linear = IDENTITY;
        (linear[i][i], linear[i][j]) = (angle.cos(), -angle.sin());
        (linear[j][i], linear[j][j]) = (angle.sin(), angle.cos());
        let mut offset = [0.0; 3];
        offset[*axis] = m[1][*axis] - m[0][*axis];
        out.push((linear, offset));
    }
    out
}

/// For each link the pairs of nodes on its first and second boundary, sorted.
pub(crate) fn link_pairs(mesh: &Mesh) -> Vec<Vec<(u32, u32)>> {
    let mut pairs = vec![Vec::new(); mesh.links.len()];
    let sides = SideNodes::new(mesh);
    for join in mesh.joins() {
        let (first, second) = (sides.nodes(join.first), sides.nodes(join.second));
        if first.len() == second.len() {
            let (set, _) = mesh.locate(join.first.element as usize);
            let meet = meeting_nodes(mesh.side_shape(join.first), mesh.sets[set].order, join.orientation);
            pairs[join.link as usize].extend(meet.iter().zip(first).map(|(&at, f)| (f, second[at])));
        }
    }
    for p in &mut pairs {
        p.sort_unstable();
        p.dedup();
    }
    pairs
}

/// An affine map from the first to the second node of each pair, within `tolerance` times the extent of the
/// first nodes: `guess`, otherwise `linear` with the offset of the means, otherwise one of the
/// [`candidates`]. The error is the second node of a pair that no map fits.
pub(crate) fn fit(
    points: &[[f64; 3]],
    dim: usize,
    pairs: &[(u32, u32)],
    linear: [[f64; 3]; 3],
    guess: Option<[f64; 3]>,
    tolerance: f64,
) -> Result<([[f64; 3]; 3], [f64; 3]), u32> {
    let (a, b): (Vec<u32>, Vec<u32>) = pairs.iter().copied().unzip();
    let at = |i: u32| points[i as usize];
    let map = |linear, offset| PeriodicLink { first: 0, second: 0, linear, offset };
    let (m, q) = (mean(points, &a), mean(points, &b));
    let turned = map(linear, [0.0; 3]).apply(m);
    let centred = std::array::from_fn(|d| q[d] - turned[d]);
    let guesses = guess.map(|offset| (linear, offset)).into_iter().chain([(linear, centred)]);
    let size = a.iter().map(|&i| distance(at(i), m)).fold(0.0, f64::max);
    let mut worst = 0;
    for (linear, offset) in guesses.chain(candidates(points, dim, [&a, &b])) {
        let link = map(linear, offset);
        let far = |&&(i, j): &&(u32, u32)| distance(link.apply(at(i)), at(j)) > tolerance * size;
        match pairs.iter().find(far) {
            None => return Ok((linear, offset)),
            Some(&(_, j)) => worst = j,
        }
    }
    Err(worst)
}

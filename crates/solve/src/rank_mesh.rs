//! The mesh of a run as one rank knows it: the whole mesh on rank 0, a part and facts of the whole on others.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use dgsuite_gpu::comm::CommError;
use dgsuite_mesh::{BoundaryCurve, Mesh, MeshError, Overview, SetSize};
use dgsuite_ops::Ranks;

use super::words::{Reader, Words};

/// The rank that writes results.
pub const ROOT: usize = 0;

/// A point's element in the whole mesh, with the coordinates in it.
pub type Place = (usize, [f64; 3]);

/// The mesh of a run. In a run on several ranks, rank 0 alone holds the whole mesh: it cuts it, and sends the
/// others their parts. Numbers of elements are those of the whole mesh on all ranks.
#[derive(Clone)]
pub struct RankMesh {
    /// The whole mesh; if there is an overview, the part of this rank.
    seen: Arc<Mesh>,
    /// This rank's part among those of the others, if the mesh has been distributed.
    ranks: Option<Arc<Ranks>>,
    whole: Option<Arc<Facts>>,
}

/// What a rank with a part knows of the whole mesh.
struct Facts {
    overview: Overview,
    /// The curves of boundaries that conditions use, by the number of the boundary.
    curves: BTreeMap<u32, BoundaryCurve>,
}

impl From<Arc<Mesh>> for RankMesh {
    fn from(mesh: Arc<Mesh>) -> Self {
        Self { seen: mesh, ranks: None, whole: None }
    }
}

impl fmt::Debug for RankMesh {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = if self.is_part() { "part" } else { "mesh" };
        write!(f, "{what} with {} of {} elements", self.seen.n_elements(), self.n_elements())
    }
}

impl RankMesh {
    /// The mesh on rank 0 after it has sent the other ranks their parts.
    pub fn distributed(&self, ranks: Arc<Ranks>) -> Self {
        Self { ranks: Some(ranks), ..self.clone() }
    }

    /// What rank 0 tells the other ranks of the whole mesh: facts, and the curves of these boundaries, each
    /// with the angle from which on it has a corner.
    pub fn facts(&self, digest: u64, curved: &[(u32, f64)]) -> Vec<u8> {
        let mut words = Words::default();
        words.list(&Overview::new(&self.seen, digest).to_bytes());
        for &(boundary, corner) in curved {
            if let Some(curve) = self.seen.boundary_curve(boundary, corner) {
                words.number(boundary as usize);
                words.list(&curve.to_bytes());
            }
        }
        words.bytes().to_vec()
    }

    /// The mesh on another rank, which has received its part and the facts.
    ///
    /// # Errors
    /// [`MeshError::Message`] if the facts are damaged.
    pub fn of_part(ranks: Arc<Ranks>, facts: &[u8]) -> Result<Self, MeshError> {
        let mut reader = Reader::new(facts);
        let overview = Overview::from_bytes(reader.list())?;
        let mut curves = BTreeMap::new();
        while !reader.is_empty() {
            curves.insert(reader.number() as u32, BoundaryCurve::from_bytes(reader.list())?);
        }
        let whole = Some(Arc::new(Facts { overview, curves }));
        Ok(Self { seen: Arc::clone(ranks.mesh()), ranks: Some(ranks), whole })
    }

    /// The mesh that this rank holds: the whole mesh, or its part of it with all boundaries and links.
    #[must_use]
    pub fn seen(&self) -> &Arc<Mesh> {
        &self.seen
    }

    /// Whether this rank holds a part only.
    #[must_use]
    pub fn is_part(&self) -> bool {
        self.whole.is_some()
    }

    /// This rank's part among those of the others, if rank 0 has distributed the mesh.
    pub fn ranks(&self) -> Option<&Arc<Ranks>> {
        self.ranks.as_ref()
    }

    fn overview(&self) -> Option<&Overview> {
        self.whole.as_ref().map(|facts| &facts.overview)
    }

    /// Dimension of the elements.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.seen.dim
    }

    /// Number of elements of the whole mesh.
    #[must_use]
    pub fn n_elements(&self) -> usize {
        self.overview().map_or_else(|| self.seen.n_elements(), Overview::n_elements)
    }

    /// Number of faces of the whole mesh.
    #[must_use]
    pub fn n_faces(&self) -> usize {
        self.overview().map_or(self.seen.faces.len(), |whole| whole.faces)
    }

    /// The sets of elements of the whole mesh.
    #[must_use]
    pub fn set_sizes(&self) -> Vec<SetSize> {
        self.overview().map_or_else(|| self.seen.set_sizes(), |whole| whole.sets.clone())
    }

    /// Highest geometry order of the elements of the whole mesh.
    #[must_use]
    pub fn max_order(&self) -> usize {
        self.set_sizes().iter().map(|set| set.order).max().unwrap_or(1)
    }

    /// Least and greatest coordinates of the points of the whole mesh.
    #[must_use]
    pub fn bounding_box(&self) -> [[f64; 3]; 2] {
        self.overview().map_or_else(|| self.seen.bounding_box(), |whole| whole.bounding_box)
    }

    /// Names of the boundaries that have faces in the whole mesh.
    #[must_use]
    pub fn boundary_names(&self) -> Vec<&str> {
        self.overview().map_or_else(|| self.seen.boundary_names(), Overview::boundary_names)
    }

    /// The digest of the whole mesh.
    #[must_use]
    pub fn digest(&self) -> u64 {
        self.overview().map_or_else(|| self.seen.digest(), |whole| whole.digest)
    }

    /// As [`Mesh::boundary_curve`] of the whole mesh. A rank with a part has those that conditions use.
    #[must_use]
    pub fn boundary_curve(&self, boundary: u32, corner: f64) -> Option<BoundaryCurve> {
        match &self.whole {
            Some(facts) => facts.curves.get(&boundary).cloned(),
            None => self.seen.boundary_curve(boundary, corner),
        }
    }

    /// The number in the file of an element that this rank holds.
    ///
    /// # Panics
    /// If it does not hold this element.
    #[must_use]
    pub fn tag(&self, element: usize) -> u64 {
        self.seen.tag(self.position(element))
    }

    /// The position of an element in the mesh that this rank holds.
    ///
    /// # Panics
    /// If it does not hold this element.
    #[must_use]
    pub fn position(&self, element: usize) -> usize {
        let part = self.ranks.as_ref().filter(|_| self.is_part());
        let Some(ranks) = part else { return element };
        let local = ranks.elements().binary_search(&(element as u32));
        local.unwrap_or_else(|_| panic!("element {element} is that of another rank"))
    }

    /// The position in the mesh that this rank holds of element `i` of its part.
    pub(crate) fn position_of_part(&self, i: usize) -> usize {
        match &self.ranks {
            Some(ranks) if !self.is_part() => ranks.elements()[i] as usize,
            _ => i,
        }
    }

    /// The places of points in the whole mesh; `None` outside of it. Collective in a run on several ranks.
    ///
    /// # Errors
    /// Those of the communication.
    pub fn find(&self, points: &[[f64; 3]]) -> Result<Vec<Option<Place>>, CommError> {
        let mut words = Words::default();
        if !self.is_part() {
            let places: Vec<Option<Place>> = points.iter().map(|&x| self.seen.find_point(x)).collect();
            if self.ranks.is_none() {
                return Ok(places);
            }
            words.places(places.iter());
        }
        let mut bytes = words.bytes().to_vec();
        if let Some(ranks) = &self.ranks {
            ranks.comm().broadcast(ROOT, &mut bytes)?;
        }
        Ok(Reader::new(&bytes).places())
    }
}

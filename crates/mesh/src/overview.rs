//! What a process that has one part of a mesh knows of the whole mesh.

use dgsuite_basis::Shape;

use crate::bytes::{Reader, Writer};
use crate::partition::message::{
    read_boundary, read_link, read_shape, write_boundary, write_link, write_shape,
};
use crate::{BoundaryTag, Mesh, MeshError, PeriodicLink};

/// Facts of a whole mesh, of a size that does not depend on the number of its elements.
#[derive(Clone, Debug, PartialEq)]
pub struct Overview {
    /// Dimension of the elements: 2 or 3.
    pub dim: usize,
    /// The sets of elements, in their order.
    pub sets: Vec<SetSize>,
    /// Number of faces.
    pub faces: usize,
    /// Boundaries, as in the mesh, with their numbers of faces.
    pub boundaries: Vec<(BoundaryTag, usize)>,
    /// Pairs of boundaries that are periodic.
    pub links: Vec<PeriodicLink>,
    /// Least and greatest coordinates of the points.
    pub bounding_box: [[f64; 3]; 2],
    /// The digest of the mesh.
    pub digest: u64,
}

/// The elements of one shape and one geometry order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetSize {
    /// The shape.
    pub shape: Shape,
    /// Order of the geometry.
    pub order: usize,
    /// Number of elements.
    pub elements: usize,
}

impl Overview {
    /// The facts of `mesh`, whose digest is known.
    #[must_use]
    pub fn new(mesh: &Mesh, digest: u64) -> Self {
        Self {
            dim: mesh.dim,
            sets: mesh.set_sizes(),
            faces: mesh.faces.len(),
            boundaries: mesh.boundaries.iter().cloned().zip(mesh.boundary_counts()).collect(),
            links: mesh.links.clone(),
            bounding_box: mesh.bounding_box(),
            digest,
        }
    }

    /// Number of elements.
    #[must_use]
    pub fn n_elements(&self) -> usize {
        self.sets.iter().map(|set| set.elements).sum()
    }

    /// As [`Mesh::boundary_names`].
    #[must_use]
    pub fn boundary_names(&self) -> Vec<&str> {
        self.boundaries.iter().filter(|&&(_, faces)| faces > 0).map(|(b, _)| b.name.as_str()).collect()
    }

    /// The facts as bytes, the same on every machine.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::default();
        out.byte(self.dim as u8);
        out.list(&self.sets, |out, set| {
            write_shape(out, set.shape);
            out.length(set.order);
            out.length(set.elements);
        });
        out.length(self.faces);
        out.list(&self.boundaries, |out, (boundary, faces)| {
            write_boundary(out, boundary);
            out.length(*faces);
        });
        out.list(&self.links, write_link);
        self.bounding_box.iter().for_each(|corner| out.reals(corner));
        out.long(self.digest);
        out.finish()
    }

    /// The facts of these bytes.
    ///
    /// # Errors
    /// [`MeshError::Message`] if they are no facts of a mesh.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, MeshError> {
        let mut from = Reader::new(bytes, "the facts of a mesh");
        let dim = usize::from(from.byte()?);
        from.check(dim == 2 || dim == 3)?;
        let sets = from.list(|from| {
            Ok(SetSize { shape: read_shape(from, dim)?, order: from.length()?, elements: from.length()? })
        })?;
        let total = sets.iter().try_fold(0_usize, |sum, set| sum.checked_add(set.elements));
        from.check(total.is_some())?;
        let faces = from.length()?;
        let boundaries = from.list(|from| Ok((read_boundary(from)?, from.length()?)))?;
        let links = from.list(read_link)?;
        let there = |number: u32| (number as usize) < boundaries.len();
        from.check(links.iter().all(|link| there(link.first) && there(link.second)))?;
        let bounding_box = [from.reals()?, from.reals()?];
        let digest = from.long()?;
        from.finish()?;
        Ok(Self { dim, sets, faces, boundaries, links, bounding_box, digest })
    }
}

impl Mesh {
    /// The sizes of the sets of elements.
    #[must_use]
    pub fn set_sizes(&self) -> Vec<SetSize> {
        let size =
            |set: &crate::ElementSet| SetSize { shape: set.shape, order: set.order, elements: set.len() };
        self.sets.iter().map(size).collect()
    }
}

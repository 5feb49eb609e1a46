//! Curved meshes: elevation of the geometry order and maps of the coordinates.

use crate::{
    Mesh, MeshError, gmsh,
    periodic::{fit, link_pairs},
    skeleton::Skeleton,
};

impl Mesh {
    /// Raise the geometry order of all elements below `order` to `order`, by interpolation.
    ///
    /// The shape of the domain does not change; [`Mesh::map`] can bend it afterwards. Points are renumbered;
    /// elements and faces keep their numbers.
    ///
    /// # Errors
    /// [`MeshError::GeometryOrder`] beyond order 4 (pyramids: 2).
    pub fn elevate(&mut self, order: usize) -> Result<(), MeshError> {
        for set in &self.sets {
            let max = gmsh::max_order(set.shape);
            if order.max(set.order) > max {
                return Err(MeshError::GeometryOrder { shape: set.shape, order, max });
            }
        }
        let orders: Vec<usize> = self.sets.iter().map(|s| s.order.max(order)).collect();
        if self.sets.iter().zip(&orders).all(|(s, &o)| s.order == o) {
            return Ok(());
        }
        let Skeleton { points, nodes } = Skeleton::new(self, &orders)?;
        self.points = points;
        for ((set, order), nodes) in self.sets.iter_mut().zip(orders).zip(nodes) {
            (set.order, set.nodes) = (order, nodes);
        }
        // Sets of one shape are adjacent, so that joining them keeps all numbers.
        let mut joined: Vec<crate::ElementSet> = Vec::new();
        for set in self.sets.drain(..) {
            match joined.last_mut().filter(|last| last.shape == set.shape && last.order == set.order) {
                Some(last) => {
                    last.nodes.extend(set.nodes);
                    last.tags.extend(set.tags);
                    last.regions.extend(set.regions);
                }
                None => joined.push(set),
            }
        }
        self.sets = joined;
        Ok(())
    }

    /// Move every geometry node from `x` to `f(x)`; in the plane z stays zero.
    ///
    /// Elements keep their geometry order: call [`Mesh::elevate`] first if the image is curved. On an error
    /// the mesh is unchanged.
    ///
    /// # Errors
    /// [`MeshError::NotFinite`] (nodes counted from 1), [`MeshError::Inverted`],
    /// [`MeshError::Degenerate`], [`MeshError::PeriodicMismatch`] if the images of periodic
    /// boundaries are no longer a translation or a rotation of each other.
    ///
    /// ```
    /// use dgsuite_mesh::{Shape, generate::Box};
    /// let mut ring = Box::unit(Shape::Quadrilateral, 4).build()?;
    /// ring.elevate(4)?;
    /// ring.map(|[r, a, _]| [(1.0 + r) * a.cos(), (1.0 + r) * a.sin(), 0.0])?;
    /// let area: f64 = ring.volumes().iter().sum();
    /// assert!((area - 1.5).abs() < 1e-7); // (2² − 1²)/2 for one radian
    /// # Ok::<(), dgsuite_mesh::MeshError>(())
    /// ```
    pub fn map(&mut self, f: impl Fn([f64; 3]) -> [f64; 3]) -> Result<(), MeshError> {
        let (old_points, old_links) = (self.points.clone(), self.links.clone());
        for x in &mut self.points {
            *x = f(*x);
            if self.dim == 2 {
                x[2] = 0.0;
            }
        }
        let moved = self.check_finite().and_then(|()| self.check_orientation()).and_then(|()| self.relink());
        if moved.is_err() {
            (self.points, self.links) = (old_points, old_links);
        }
        moved
    }

    /// Multiply all coordinates by `factor`.
    ///
    /// # Errors
    /// [`MeshError::Scale`] unless the factor is positive and finite.
    pub fn scale(&mut self, factor: f64) -> Result<(), MeshError> {
        if !(factor > 0.0 && factor.is_finite()) {
            return Err(MeshError::Scale { factor });
        }
        self.points.iter_mut().flatten().for_each(|x| *x *= factor);
        self.links.iter_mut().flat_map(|l| l.offset.iter_mut()).for_each(|x| *x *= factor);
        Ok(())
    }

    fn check_finite(&self) -> Result<(), MeshError> {
        match self.points.iter().position(|x| !x.iter().all(|x| x.is_finite())) {
            Some(i) => Err(MeshError::NotFinite { node: i as u64 + 1 }),
            None => Ok(()),
        }
    }

    /// Recompute the maps of the periodic links from the nodes that they pair.
    fn relink(&mut self) -> Result<(), MeshError> {
        for (l, pairs) in link_pairs(self).into_iter().enumerate() {
            if pairs.is_empty() {
                continue;
            }
            let link = &self.links[l];
            match fit(&self.points, self.dim, &pairs, link.linear, None, 1e-8) {
                Ok((linear, offset)) => {
                    self.links[l].linear = linear;
                    self.links[l].offset = offset;
                }
                Err(node) => {
                    let name = |b: u32| self.boundaries[b as usize].name.clone();
                    let n = self.periodic_faces.iter().filter(|p| p.link as usize == l).count();
                    return Err(MeshError::PeriodicMismatch {
                        first: name(link.first),
                        second: name(link.second),
                        n_first: n,
                        n_second: n,
                        centroid: self.points[node as usize],
                    });
                }
            }
        }
        Ok(())
    }
}

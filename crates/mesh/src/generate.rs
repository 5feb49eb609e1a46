//! Generators of meshes: boxes of any shape, rings, and a channel with a cylinder.

use dgsuite_basis::{Shape, lattice::lattice_vertices};

use crate::{
    BoundaryTag, Mesh, MeshError, RegionTag, UNNAMED,
    connect::{Draft, Mark},
    mesh::ElementSet,
};

mod annulus;
mod channel;
mod mixed;
mod quilt;
mod stack;

pub use annulus::Annulus;
pub use channel::CylinderInChannel;
pub use mixed::MixedBox;
pub use stack::Stack;

/// The diagonal that cuts a rectangle into two triangles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Diagonal {
    /// From `(xmax, ymin)` to `(xmin, ymax)`.
    #[default]
    Anti,
    /// From `(xmin, ymin)` to `(xmax, ymax)`.
    Main,
    /// Anti-diagonal where the indices of the cell have an even sum, main diagonal elsewhere.
    Alternate,
}

/// A box `[min, max]` divided into equal cells, and the cells into elements of one shape.
///
/// | shape | elements of a cell |
/// |---|---|
/// | triangle | 2, by `diagonal` |
/// | quadrilateral, hexahedron | 1 |
/// | tetrahedron | 6 around the cell's main diagonal (Freudenthal 1942, Kuhn 1960) |
/// | prism | 2 over the triangles of the xy plane, by `diagonal` |
/// | pyramid | 6 over the faces, with the apex in the middle |
///
/// The boundaries are called `xmin xmax ymin ymax` and, in space, `zmin zmax`. Opposite boundaries match, so
/// that each pair can be made periodic. In the plane the third components are ignored.
///
/// ```
/// use dgsuite_mesh::{Shape, generate::{Box, Diagonal}};
/// let square = Box {
///     shape: Shape::Triangle,
///     min: [-5.0, -5.0, 0.0],
///     max: [5.0, 5.0, 0.0],
///     cells: [16, 16, 1],
///     diagonal: Diagonal::Anti,
/// };
/// let mut mesh = square.build()?;
/// mesh.make_periodic("xmin", "xmax")?;
/// assert_eq!((mesh.n_elements(), mesh.boundary_names()), (512, vec!["ymin", "ymax"]));
/// # Ok::<(), dgsuite_mesh::MeshError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Box {
    /// Shape of the elements.
    pub shape: Shape,
    /// Lower corner.
    pub min: [f64; 3],
    /// Upper corner.
    pub max: [f64; 3],
    /// Number of cells in each direction.
    pub cells: [usize; 3],
    /// The diagonals of triangles and prisms.
    pub diagonal: Diagonal,
}

impl Box {
    /// The unit square or cube with `n` cells in each direction.
    #[must_use]
    pub const fn unit(shape: Shape, n: usize) -> Self {
        Self { shape, min: [0.0; 3], max: [1.0; 3], cells: [n; 3], diagonal: Diagonal::Anti }
    }

    /// Build the mesh. Elements are numbered cell by cell, x fastest.
    ///
    /// # Errors
    /// [`MeshError::BoxShape`] for lines, [`MeshError::EmptyBox`], [`MeshError::TooFewCells`].
    pub fn build(&self) -> Result<Mesh, MeshError> {
        let dim = self.shape.dim();
        if dim == 1 {
            return Err(MeshError::BoxShape { shape: self.shape });
        }
        let mut grid = Grid::new(dim, self.min, self.max, self.cells)?;
        let mut elements = Elements::default();
        for cell in grid.cells() {
            elements.fill(&mut grid, cell, self.shape, self.cuts_main(cell));
        }
        grid.mesh(elements)
    }

    fn cuts_main(&self, [i, j, _]: [usize; 3]) -> bool {
        match self.diagonal {
            Diagonal::Anti => false,
            Diagonal::Main => true,
            Diagonal::Alternate => (i + j) % 2 == 1,
        }
    }
}

/// The two triangles of a rectangle with counter-clockwise corners.
fn triangles<T: Copy>(c: [T; 4], main: bool) -> [[T; 3]; 2] {
    if main { [[c[0], c[1], c[2]], [c[2], c[3], c[0]]] } else { [[c[0], c[1], c[3]], [c[2], c[3], c[1]]] }
}

/// The six tetrahedra around the diagonal from corner 0 to corner 6 of a hexahedron, one for each path along
/// three edges.
fn tetrahedra(c: &[u32; 8]) -> [[u32; 4]; 6] {
    const PATHS: [[usize; 2]; 6] = [[1, 2], [5, 1], [2, 3], [3, 7], [4, 5], [7, 4]];
    PATHS.map(|[a, b]| [c[0], c[a], c[b], c[6]])
}

/// Elements of order 1 by shape, while the mesh is built.
#[derive(Default)]
struct Elements {
    /// Vertices, in Gmsh's order, for each shape.
    vertices: Vec<(Shape, Vec<u32>)>,
}

impl Elements {
    fn add(&mut self, shape: Shape, vertices: &[u32]) {
        match self.vertices.iter_mut().find(|(s, _)| *s == shape) {
            Some((_, v)) => v.extend_from_slice(vertices),
            None => self.vertices.push((shape, vertices.to_vec())),
        }
    }

    /// Fill a cell with elements; `main` selects the diagonal of triangles and prisms.
    fn fill(&mut self, grid: &mut Grid, cell: [usize; 3], shape: Shape, main: bool) {
        let c = grid.corners(cell);
        match shape {
            Shape::Triangle => {
                triangles([c[0], c[1], c[2], c[3]], main).iter().for_each(|t| self.add(Shape::Triangle, t));
            }
            Shape::Prism => {
                for [a, b, d] in triangles([0, 1, 2, 3], main) {
                    self.add(Shape::Prism, &[c[a], c[b], c[d], c[a + 4], c[b + 4], c[d + 4]]);
                }
            }
            Shape::Tetrahedron => tetrahedra(&c).iter().for_each(|t| self.add(Shape::Tetrahedron, t)),
            Shape::Pyramid => {
                let apex = grid.add_centre(&c);
                for f in Shape::Hexahedron.faces() {
                    self.add(Shape::Pyramid, &[c[f[0]], c[f[3]], c[f[2]], c[f[1]], apex]);
                }
            }
            shape => self.add(shape, &c[..shape.n_vertices()]),
        }
    }
}

/// The points of a box and their places in the grid.
struct Grid {
    dim: usize,
    n: [usize; 3],
    points: Vec<[f64; 3]>,
    /// Number of grid points; centres of cells follow them.
    n_grid: usize,
}

impl Grid {
    fn new(dim: usize, min: [f64; 3], max: [f64; 3], cells: [usize; 3]) -> Result<Self, MeshError> {
        let mut n = [0; 3];
        for (d, axis) in ['x', 'y', 'z'].into_iter().enumerate().take(dim) {
            if cells[d] == 0 {
                return Err(MeshError::TooFewCells { axis, cells: 0, least: 1 });
            }
            // Written so that NaN is refused as well.
            if !(max[d] > min[d] && (max[d] - min[d]).is_finite()) {
                return Err(MeshError::EmptyBox { axis, min: min[d], max: max[d] });
            }
            n[d] = cells[d];
        }
        let count =
            n.iter().try_fold(1_usize, |p, &n| p.checked_mul(n.checked_add(1)?)).unwrap_or(usize::MAX);
        let limit = u32::MAX as usize / 32;
        if count > limit {
            return Err(MeshError::TooLarge { what: "nodes of the box", count, max: limit });
        }
        let at = |d: usize, i: usize| {
            if d >= dim {
                return 0.0;
            }
            let w = i as f64 / n[d] as f64;
            if i == n[d] { max[d] } else { min[d] + w * (max[d] - min[d]) }
        };
        let mut points = Vec::with_capacity(count);
        for k in 0..=n[2] {
            for j in 0..=n[1] {
                for i in 0..=n[0] {
                    points.push([at(0, i), at(1, j), at(2, k)]);
                }
            }
        }
        Ok(Self { dim, n, n_grid: points.len(), points })
    }

    fn cells(&self) -> impl Iterator<Item = [usize; 3]> + use<> {
        let [nx, ny, nz] = self.n;
        (0..nz.max(1)).flat_map(move |k| (0..ny).flat_map(move |j| (0..nx).map(move |i| [i, j, k])))
    }

    fn point(&self, [i, j, k]: [usize; 3]) -> u32 {
        ((k * (self.n[1] + 1) + j) * (self.n[0] + 1) + i) as u32
    }

    /// Corners of a cell in Gmsh's order of a hexahedron; in the plane only the first four are used.
    fn corners(&self, [i, j, k]: [usize; 3]) -> [u32; 8] {
        let top = (k + 1).min(self.n[2]);
        let level = |k| [[i, j, k], [i + 1, j, k], [i + 1, j + 1, k], [i, j + 1, k]];
        let (a, b) = (level(k), level(top));
        [a[0], a[1], a[2], a[3], b[0], b[1], b[2], b[3]].map(|x| self.point(x))
    }

    fn add_centre(&mut self, corners: &[u32; 8]) -> u32 {
        self.points.push(crate::mesh::mean(&self.points, corners));
        self.points.len() as u32 - 1
    }

    /// Boundary (0 xmin, 1 xmax, 2 ymin, …) that the points of a boundary face lie on.
    fn boundary(&self, nodes: &[u32]) -> Option<u32> {
        let place = |p: u32| {
            let p = p as usize;
            [
                p % (self.n[0] + 1),
                p / (self.n[0] + 1) % (self.n[1] + 1),
                p / ((self.n[0] + 1) * (self.n[1] + 1)),
            ]
        };
        if nodes.iter().any(|&p| p as usize >= self.n_grid) {
            return None;
        }
        (0..self.dim).find_map(|d| {
            let all = |v: usize| nodes.iter().all(|&p| place(p)[d] == v);
            if all(0) {
                Some(2 * d as u32)
            } else if all(self.n[d]) {
                Some(2 * d as u32 + 1)
            } else {
                None
            }
        })
    }

    fn mesh(mut self, elements: Elements) -> Result<Mesh, MeshError> {
        let mut draft = Draft { dim: self.dim, points: std::mem::take(&mut self.points), ..Draft::default() };
        for (shape, vertices) in elements.vertices {
            let place = lattice_vertices(shape, 1);
            let n = place.len();
            let mut nodes = vec![0; vertices.len()];
            for (to, from) in nodes.chunks_exact_mut(n).zip(vertices.chunks_exact(n)) {
                place.iter().zip(from).for_each(|(&l, &v)| to[l] = v);
            }
            let len = vertices.len() / n;
            let set =
                ElementSet { shape, order: 1, nodes, tags: vec![0; len], regions: vec![1; len], first: 0 };
            draft.sets.push(set);
        }
        let names = ["xmin", "xmax", "ymin", "ymax", "zmin", "zmax"];
        finished(draft, &names[..2 * self.dim], |face| self.boundary(face))
    }
}

/// The mesh of a draft: numbers elements, and puts each outer face on the boundary that `boundary` finds for
/// its corners, an index of `names`.
fn finished(
    mut draft: Draft,
    names: &[&str],
    boundary: impl Fn(&[u32]) -> Option<u32>,
) -> Result<Mesh, MeshError> {
    draft.settle()?;
    for set in &mut draft.sets {
        for (i, tag) in set.tags.iter_mut().enumerate() {
            *tag = (set.first + i + 1) as u64;
        }
    }
    draft.boundaries =
        names.iter().zip(1..).map(|(name, tag)| BoundaryTag { name: (*name).to_owned(), tag }).collect();
    draft.region_names = vec![RegionTag { region: 1, name: "domain".to_owned() }];
    let paired = draft.pair()?;
    let corners = crate::sides::face_corners(&draft.sets);
    let mut marks = Vec::new();
    for (number, _) in paired.partner.iter().enumerate().filter(|&(_, &p)| p == crate::sides::NONE) {
        let side = paired.numbers.side(number as u32);
        let e = side.element as usize;
        let s = draft.sets.iter().position(|s| e < s.first + s.len()).unwrap_or(0);
        let nodes = draft.sets[s].element(e - draft.sets[s].first);
        let face: Vec<u32> = corners[s][side.face as usize].iter().map(|&l| nodes[l]).collect();
        if let Some(boundary) = boundary(&face) {
            marks.push(Mark { side, boundary });
        }
    }
    let mesh = draft.connect(&paired, &marks, &[])?;
    debug_assert!(mesh.boundaries.iter().all(|b| b.name != UNNAMED), "a face of the hull is on no boundary");
    Ok(mesh)
}

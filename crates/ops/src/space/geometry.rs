//! Geometric factors of elements: `J` and `J∇r_d` at volume points, `n` and `sJ` at face points.
//!
//! An element is the image of its reference shape under `x(r) = Σ_m ψ_m(r) x_m`, with `ψ` the Lagrange basis
//! on the lattice of its geometry order. In two dimensions `J∇r = (y_s, −x_s)`, `J∇s = (−y_r, x_r)`; in three
//! `J∇r = x_s × x_t` and cyclic permutations (Hesthaven & Warburton 2008, §§6.1, 10.1). The scaled outward
//! normal `n sJ` is `τ` rotated by −90°, or `τ₁ × τ₂`, with the images `τ` of the columns of the face frame.
//!
//! Nodal (collocated) metrics in three dimensions use the conservative curl form
//! `Ja^i_n = −e_i · ∇_r × (x_l ∇_r x_m)`, `(n, m, l)` cyclic (Kopriva 2006), which satisfies the metric
//! identities discretely. If there are no nodes on the faces, the curl is evaluated at nodes that include the
//! faces and then interpolated, so that both sides of a face have the same normals.

use dgsuite_basis::lattice::lattice;
use dgsuite_basis::{Correction, LagrangeBasis, Matrix, NodeSet, ReferenceElement, Representation, Shape};

/// Values and gradients of the geometry basis of one order at a fixed set of points.
pub(crate) struct GeometryBasis {
    value: Matrix,
    grad: [Matrix; 3],
}

impl GeometryBasis {
    pub(crate) fn new(shape: Shape, order: usize, points: &[[f64; 3]]) -> Self {
        let basis = LagrangeBasis::new(shape, order);
        Self { value: basis.eval(points), grad: basis.grad(points) }
    }

    /// Number of points.
    pub(crate) fn len(&self) -> usize {
        self.value.rows()
    }

    /// Physical coordinates of point `q` of the element with lattice nodes `x`.
    pub(crate) fn position(&self, q: usize, x: &[[f64; 3]]) -> [f64; 3] {
        combine(&self.value, q, x)
    }

    /// `∂x/∂r_d` at point `q`.
    pub(crate) fn tangents(&self, q: usize, x: &[[f64; 3]]) -> [[f64; 3]; 3] {
        let [r, s, t] = &self.grad;
        [combine(r, q, x), combine(s, q, x), combine(t, q, x)]
    }
}

/// `Σ_m w_qm x_m`.
pub(crate) fn combine(weights: &Matrix, q: usize, x: &[[f64; 3]]) -> [f64; 3] {
    let mut out = [0.0; 3];
    let row = weights.row(q);
    for (m, x) in x.iter().enumerate() {
        let weight = row[m];
        for d in 0..3 {
            out[d] += weight * x[d];
        }
    }
    out
}

pub(crate) fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

pub(crate) fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// `J` and the rows `J∇r_d` from the tangents `∂x/∂r_d`.
pub(crate) fn volume_factors(dim: usize, t: &[[f64; 3]; 3]) -> (f64, [[f64; 3]; 3]) {
    if dim == 2 {
        let j = t[0][0] * t[1][1] - t[1][0] * t[0][1];
        (j, [[t[1][1], -t[1][0], 0.0], [-t[0][1], t[0][0], 0.0], [0.0; 3]])
    } else {
        let a = [cross(t[1], t[2]), cross(t[2], t[0]), cross(t[0], t[1])];
        (dot(t[0], a[0]), a)
    }
}

/// `∇r_d` from `J∇r_d` and `J`.
pub(crate) fn gradients(mut a: [[f64; 3]; 3], j: f64) -> [[f64; 3]; 3] {
    for row in &mut a {
        for v in row {
            *v /= j;
        }
    }
    a
}

/// Unit outward normal and surface Jacobian `sJ` (per unit of the face frame) on face `face`.
pub(crate) fn face_factors(shape: Shape, face: usize, t: &[[f64; 3]; 3]) -> ([f64; 3], f64) {
    let frame = shape.face_tangents(face);
    let along = |c: &[f64; 3], x: usize| t[0][x] * c[0] + t[1][x] * c[1] + t[2][x] * c[2];
    let image = |c: [f64; 3]| [along(&c, 0), along(&c, 1), along(&c, 2)];
    let n = if shape.dim() == 2 {
        let a = image(frame[0]);
        [a[1], -a[0], 0.0]
    } else {
        cross(image(frame[0]), image(frame[1]))
    };
    unit(n)
}

fn unit(n: [f64; 3]) -> ([f64; 3], f64) {
    let s = dot(n, n).sqrt();
    ([n[0] / s, n[1] / s, n[2] / s], s)
}

/// The reference normal `N̂` of a face, scaled so that `n sJ = Σ_d N̂_d J∇r_d` (Nanson).
pub(crate) fn reference_normal(shape: Shape, face: usize) -> [f64; 3] {
    let frame = shape.face_tangents(face);
    if shape.dim() == 2 { [frame[0][1], -frame[0][0], 0.0] } else { cross(frame[0], frame[1]) }
}

/// Geometry of one element at the points of its reference element.
#[derive(Clone, Debug, Default)]
pub(crate) struct ElementGeometry {
    /// `J` at volume points.
    pub(crate) jacobian: Vec<f64>,
    /// `J∇r_d` at volume points: `[q][d][x]`.
    pub(crate) metric: Vec<[[f64; 3]; 3]>,
    /// Unit normal and `sJ` at face points.
    pub(crate) face: Vec<([f64; 3], f64)>,
}

/// Tables for the geometry of the elements of one shape and geometry order.
pub(crate) struct GeometryTables {
    shape: Shape,
    pub(crate) volume: GeometryBasis,
    pub(crate) face: GeometryBasis,
    /// Face of each face point.
    face_of: Vec<usize>,
    curl_form: bool,
    /// Nodes, including the faces, at which the curl form is evaluated, if the volume points are others.
    curl_nodes: Option<CurlNodes>,
    /// The geometry reduced to the order of the solution, if its own order is higher and metrics are nodal.
    reduced: Option<Box<Reduced>>,
}

/// A geometry of lower order that interpolates the nodes which determine it on the faces, so that neighbours
/// still match.
struct Reduced {
    /// The nodes.
    nodes: GeometryBasis,
    /// Interpolation from the nodes to the lattice of the lower order.
    to_lattice: Matrix,
    /// Tables of the lower order.
    tables: GeometryTables,
}

impl Reduced {
    /// Returns `None` if the order need not be reduced. Nodal metrics of flux reconstruction are used for any
    /// geometry order.
    fn new(shape: Shape, order: usize, reference: &ReferenceElement) -> Option<Self> {
        let p = reference.spec.order;
        if order <= p || reference.spec.correction == Correction::Dg {
            return None;
        }
        let basis = LagrangeBasis::with_nodes(shape, p, face_nodes(shape)).ok()?;
        Some(Self {
            nodes: GeometryBasis::new(shape, order, basis.nodes()),
            to_lattice: basis.eval(&lattice(shape, p)),
            tables: GeometryTables::new(shape, p, reference, true),
        })
    }

    /// Lattice nodes of the reduced element.
    fn nodes(&self, x: &[[f64; 3]]) -> Vec<[f64; 3]> {
        let at: Vec<[f64; 3]> = (0..self.nodes.len()).map(|q| self.nodes.position(q, x)).collect();
        (0..self.to_lattice.rows()).map(|i| combine(&self.to_lattice, i, &at)).collect()
    }
}

/// The node family whose nodes on a face determine polynomials there.
const fn face_nodes(shape: Shape) -> NodeSet {
    match shape {
        Shape::Triangle | Shape::Tetrahedron => NodeSet::WarpBlend,
        _ => NodeSet::GaussLobatto,
    }
}

/// Nodes that determine a polynomial on each face by the nodes on that face.
struct CurlNodes {
    /// The geometry at the nodes.
    geometry: GeometryBasis,
    /// Derivatives at the nodes, of the Lagrange basis on them.
    derivative: [Matrix; 3],
    /// Interpolation from the nodes to the volume points.
    interp: Matrix,
}

impl CurlNodes {
    /// For volume points inside the element (Gauss points); `None` if the volume points already are such
    /// nodes.
    fn new(shape: Shape, order: usize, reference: &ReferenceElement) -> Option<Self> {
        if reference.spec.representation != Representation::Nodal(NodeSet::GaussLegendre) {
            return None;
        }
        let basis = LagrangeBasis::with_nodes(shape, reference.spec.order, face_nodes(shape)).ok()?;
        let geometry = GeometryBasis::new(shape, order, basis.nodes());
        let derivative = basis.grad(basis.nodes());
        Some(Self { geometry, derivative, interp: basis.eval(&reference.volume.points) })
    }
}

impl GeometryTables {
    pub(crate) fn new(shape: Shape, order: usize, reference: &ReferenceElement, curl_form: bool) -> Self {
        let volume = GeometryBasis::new(shape, order, &reference.volume.points);
        let face = GeometryBasis::new(shape, order, &reference.face_points);
        let offsets = &reference.face_offsets;
        let face_of = (0..shape.n_faces()).flat_map(|f| vec![f; offsets[f + 1] - offsets[f]]).collect();
        let reduced = if curl_form { Reduced::new(shape, order, reference).map(Box::new) } else { None };
        let curl_form = curl_form && shape.dim() == 3;
        let curl_nodes = if curl_form { CurlNodes::new(shape, order, reference) } else { None };
        Self { shape, volume, face, face_of, curl_form, curl_nodes, reduced }
    }

    /// Computes all factors of the element with lattice nodes `x`.
    pub(crate) fn element(&self, x: &[[f64; 3]], reference: &ReferenceElement) -> ElementGeometry {
        if let Some(reduced) = &self.reduced {
            return reduced.tables.element(&reduced.nodes(x), reference);
        }
        let dim = self.shape.dim();
        let mut out = ElementGeometry {
            jacobian: Vec::with_capacity(self.volume.len()),
            metric: Vec::with_capacity(self.volume.len()),
            face: Vec::with_capacity(self.face_of.len()),
        };
        for q in 0..self.volume.len() {
            let (j, a) = volume_factors(dim, &self.volume.tangents(q, x));
            out.jacobian.push(j);
            out.metric.push(a);
        }
        if self.curl_form {
            out.metric = self.curl_metric(x, reference);
            out.face = self.nodal_faces(&out.metric, reference);
        } else {
            for (q, &f) in self.face_of.iter().enumerate() {
                out.face.push(face_factors(self.shape, f, &self.face.tangents(q, x)));
            }
        }
        out
    }

    /// `Ja^i_n = −e_i · ∇_r × (x_l ∇_r x_m)` with nodal derivatives.
    fn curl_metric(&self, x: &[[f64; 3]], reference: &ReferenceElement) -> Vec<[[f64; 3]; 3]> {
        let (geometry, derivative) = match &self.curl_nodes {
            Some(nodes) => (&nodes.geometry, &nodes.derivative[..]),
            None => (&self.volume, &reference.derivative[..]),
        };
        let np = geometry.len();
        let position: Vec<[f64; 3]> = (0..np).map(|q| geometry.position(q, x)).collect();
        let derive = |values: &[f64], d: usize| derivative[d].mul_vec(values);
        let coordinate: [Vec<f64>; 3] = std::array::from_fn(|c| position.iter().map(|p| p[c]).collect());
        let mut out = vec![[[0.0; 3]; 3]; self.volume.len()];
        for n in 0..3 {
            let (m, l) = ((n + 1) % 3, (n + 2) % 3);
            // A_d = x_l ∂x_m/∂r_d at the nodes.
            let a: [Vec<f64>; 3] = std::array::from_fn(|d| {
                let grad = derive(&coordinate[m], d);
                grad.iter().zip(&coordinate[l]).map(|(g, xl)| g * xl).collect()
            });
            for i in 0..3 {
                let (j, k) = ((i + 1) % 3, (i + 2) % 3);
                let (first, second) = (derive(&a[k], j), derive(&a[j], k));
                let mut curl: Vec<f64> = second.iter().zip(&first).map(|(s, f)| s - f).collect();
                if let Some(nodes) = &self.curl_nodes {
                    curl = nodes.interp.mul_vec(&curl);
                }
                for (out, curl) in out.iter_mut().zip(curl) {
                    out[i][n] = curl;
                }
            }
        }
        out
    }

    /// Face normals from nodal metrics, interpolated to the face points.
    fn nodal_faces(&self, metric: &[[[f64; 3]; 3]], reference: &ReferenceElement) -> Vec<([f64; 3], f64)> {
        let interp = &reference.interp_face;
        self.face_of
            .iter()
            .enumerate()
            .map(|(q, &f)| {
                let normal = reference_normal(self.shape, f);
                let mut n = [0.0; 3];
                for (i, a) in metric.iter().enumerate() {
                    let w = interp[(q, i)];
                    if w != 0.0 {
                        for x in 0..3 {
                            n[x] += w * (0..3).map(|d| normal[d] * a[d][x]).sum::<f64>();
                        }
                    }
                }
                unit(n)
            })
            .collect()
    }
}

/// True if the map of an element with lattice nodes `x` is affine, up to `1e-12` of its size.
pub(crate) fn is_affine(shape: Shape, order: usize, lattice: &[[f64; 3]], x: &[[f64; 3]]) -> bool {
    if order == 1 && matches!(shape, Shape::Line | Shape::Triangle | Shape::Tetrahedron) {
        return true;
    }
    let corners = dgsuite_basis::lattice::lattice_vertices(shape, order);
    let origin = x[corners[0]];
    // Columns of the affine map from three independent edges at vertex 0.
    let ends: &[usize] = match shape {
        Shape::Line => &[1],
        Shape::Triangle => &[1, 2],
        Shape::Quadrilateral => &[1, 3],
        Shape::Hexahedron => &[1, 3, 4],
        Shape::Prism | Shape::Tetrahedron => &[1, 2, 3],
        Shape::Pyramid => &[1, 3, 4],
    };
    let r0 = lattice[corners[0]];
    let columns: Vec<[f64; 3]> =
        ends.iter().map(|&e| std::array::from_fn(|d| 0.5 * (x[corners[e]][d] - origin[d]))).collect();
    let size = columns.iter().flatten().fold(0.0_f64, |m, c| m.max(c.abs()));
    lattice.iter().zip(x).all(|(r, xm)| {
        let mut s = [r[0] - r0[0], r[1] - r0[1], r[2] - r0[2]];
        if shape == Shape::Pyramid {
            // Vertex 4 lies above the centre: its column contains half a step of r and of s.
            s[0] -= 0.5 * s[2];
            s[1] -= 0.5 * s[2];
        }
        (0..3).all(|d| {
            let affine: f64 = origin[d] + columns.iter().zip(&s).map(|(c, s)| c[d] * s).sum::<f64>();
            (affine - xm[d]).abs() <= 1e-12 * size
        })
    })
}

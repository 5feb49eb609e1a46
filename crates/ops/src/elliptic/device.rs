//! Tables of the elliptic operator for devices, in double precision and element by element.
//!
//! [`DeviceLayout`] defines the order of a device's vectors, `[element][function]`, part after part.
//! [`DevicePart`] has the tables of the universal kernels (`cuda/elliptic.cu`): matrices, coefficients and
//! neighbours, as in [`super::part`] but with one element after the other instead of blocks of lanes. The
//! submodules have the tables of the kernels for simplices and for quadrilaterals and hexahedra.

pub(crate) mod grids;
pub(crate) mod mass;
pub(crate) mod penalties;
pub(crate) mod simplices;

use self::simplices::Simplices;
use super::space::ranks::Kind;
use super::space::{Beyond, Space};
use super::tables::{Tables, clean};
use super::{EllipticBoundary, Sipdg};
use crate::error::OpsError;
use crate::lanes::panel::Rows;
use crate::space::scheme::MetricRule;
use dgsuite_basis::{Matrix, OrthonormalBasis, Polynomials, Shape};
use rayon::prelude::*;
use std::collections::HashMap;

/// Factors of tangential derivatives below this fraction of the normal factor are rounding errors.
const ORTHOGONAL: f64 = 1e-13;
/// The neighbour is a ghost of the element itself with the opposite values (Dirichlet boundary).
pub(crate) const GHOST: u32 = 1 << 31;
/// The side is a boundary with prescribed flux: nothing is published for it, and the penalty applies to `u`
/// itself.
pub(crate) const NATURAL: u32 = 1 << 30;

/// The elements of one part, in the order of the device.
pub(crate) struct DevicePart {
    pub(crate) shape: Shape,
    pub(crate) order: usize,
    /// Elements, in the order of the group's slots.
    pub(crate) elements: Vec<u32>,
    /// If these are not all elements of a span, their numbers in it; otherwise empty.
    pub(crate) numbers: Vec<u32>,
    /// The operator is applied to this number of elements, the first ones; others only publish.
    pub(crate) tested: usize,
    /// Offsets of the part: its first row in the device's vectors, and its first point in the published
    /// arrays.
    pub(crate) first_row: usize,
    pub(crate) first_point: usize,
    /// Numbers of functions and of face points.
    pub(crate) np: usize,
    pub(crate) nf: usize,
    /// The face of each face point.
    pub(crate) face_of: Vec<u32>,
    pub(crate) n_faces: usize,
    /// Number of points of the gradient; whether `λ u` follows it; numbers of the metric at a point.
    pub(crate) n_points: usize,
    pub(crate) n_values: usize,
    pub(crate) entries: usize,
    /// Whether there is a row of coefficients for each point; otherwise one for the element.
    pub(crate) per_point: bool,
    /// As in [`super::part::PartOperator`]; without rows where faces are orthogonal to the lines of nodes.
    pub(crate) publish: Rows,
    pub(crate) tangential: Rows,
    pub(crate) tangential_test: Rows,
    pub(crate) gradient: Rows,
    pub(crate) test: Rows,
    /// `[element][point or 1][G_00 G_01 …, λ]`.
    pub(crate) metric: Vec<f64>,
    /// `[element][face point or face][κ sJ c_0 …, κ sJ τ]`.
    pub(crate) face: Vec<f64>,
    /// `[element][face]`: the first published point of the neighbour, and the index in `meets` from which the
    /// matching points are listed, or [`GHOST`] or [`NATURAL`].
    pub(crate) sides: Vec<[u32; 2]>,
    pub(crate) meets: Vec<u32>,
}

/// The elements of one part in a device's vectors.
pub(crate) struct DeviceSpan {
    /// Group and part on the host.
    place: (usize, usize),
    pub(crate) shape: Shape,
    pub(crate) elements: Vec<u32>,
    pub(crate) first_row: usize,
    pub(crate) np: usize,
    first_point: usize,
    nf: usize,
}

/// The order of the rows in a device's vectors: `[element][function]`, part after part.
pub(crate) struct DeviceLayout {
    pub(crate) spans: Vec<DeviceSpan>,
    pub(crate) rows: Vec<u32>,
    /// Number of rows without padding; they come first.
    pub(crate) real: usize,
    /// Number of face points of all elements.
    pub(crate) points: usize,
    /// For each element, its span and its number in it.
    places: Vec<(u32, u32)>,
}

impl Sipdg<f64> {
    /// The order of a device's vectors.
    pub(crate) fn device_layout(&self) -> Result<DeviceLayout, OpsError> {
        DeviceLayout::new(&self.space)
    }

    /// The tables of all parts. Collective.
    pub(crate) fn device_parts(&self, layout: &DeviceLayout) -> Result<Vec<DevicePart>, OpsError> {
        let host = &self.space.problem.host;
        let of_span = |span| DevicePart::of_span(&self.space, layout, span);
        settled(&self.space, host.install(|| layout.spans.iter().map(of_span).collect()))
    }

    /// The tables of the elements that the kernel of simplices leaves to the universal kernels; empty if
    /// there are none. Collective.
    pub(crate) fn device_rest(
        &self,
        layout: &DeviceLayout,
        simplices: &Simplices,
    ) -> Result<Vec<DevicePart>, OpsError> {
        let Simplices { span, beside, near, .. } = simplices;
        if self.space.is_of_one_kind() {
            return Ok(Vec::new());
        }
        let unsettled = self.space.problem.host.install(|| {
            let of_span = |(i, whole): (usize, &DeviceSpan)| {
                if i != *span {
                    return DevicePart::of_span(&self.space, layout, whole);
                }
                let numbers = [&beside[..], near].concat();
                let elements = numbers.iter().map(|&i| whole.elements[i as usize]).collect();
                let of = DevicePart::of_span(&self.space, layout, &DeviceSpan { elements, ..*whole });
                let part = DevicePart { numbers, tested: beside.len(), ..of.part };
                Unsettled { part, ..of }
            };
            layout.spans.iter().enumerate().map(of_span).collect()
        });
        settled(&self.space, unsettled)
    }

    /// For each row of the host's vectors the row of a device's, as [`CudaSipdg::rows`] of this operator.
    ///
    /// # Errors
    /// [`OpsError::Elliptic`] for operators with more than 2³⁰ entries.
    ///
    /// [`CudaSipdg::rows`]: crate::cuda::CudaSipdg::rows
    pub fn device_rows(&self) -> Result<Vec<u32>, OpsError> {
        Ok(self.device_layout()?.rows)
    }
}

impl DeviceLayout {
    fn new(space: &Space<f64>) -> Result<Self, OpsError> {
        let mut places = vec![(0, 0); space.place.len()];
        let (mut spans, mut rows): (Vec<DeviceSpan>, _) = (Vec::new(), vec![u32::MAX; space.len()]);
        let (mut row, mut points) = (0, 0);
        for (g, group) in space.groups.iter().enumerate() {
            for (p, part) in group.parts.iter().enumerate() {
                let (np, nf) = (group.state.rows, group.trace.rows);
                let first = part.first_block * group.state.lanes;
                let slots = first..first + part.n_elements;
                for (i, slot) in slots.clone().enumerate() {
                    places[group.elements[slot] as usize] = (spans.len() as u32, i as u32);
                    for k in 0..np {
                        rows[group.offset + group.state.index(slot, k, 0)] = (row + i * np + k) as u32;
                    }
                }
                let elements = group.elements[slots].to_vec();
                let (place, shape) = ((g, p), group.shape);
                let n = elements.len();
                spans.push(DeviceSpan {
                    place,
                    shape,
                    elements,
                    first_row: row,
                    np,
                    first_point: points,
                    nf,
                });
                row += n * np;
                points += n * nf;
            }
        }
        let real = row;
        if space.len() >= NATURAL as usize || points >= NATURAL as usize {
            let reason = format!("a device's operator has at most {NATURAL} entries and face points");
            return Err(OpsError::Elliptic { reason });
        }
        for target in rows.iter_mut().filter(|r| **r == u32::MAX) {
            *target = row as u32;
            row += 1;
        }
        Ok(Self { spans, rows, real, points, places })
    }

    /// The number of an element among those of its shape, if all elements have this shape: its rows begin at
    /// this multiple of the number of functions.
    fn number(&self, element: u32) -> u32 {
        let (span, i) = self.places[element as usize];
        let before = &self.spans[..span as usize];
        before.iter().map(|span| span.elements.len() as u32).sum::<u32>() + i
    }
}

/// The matrices of the volume terms, as in [`super::part::PartOperator`].
fn volume(tables: &Tables, constant: bool) -> (Vec<Matrix>, Matrix, Vec<Matrix>, Matrix) {
    let reference = &tables.reference;
    let (shape, np) = (reference.spec.shape, reference.n_basis);
    let (dim, w) = (shape.dim(), &reference.volume.weights);
    if constant && matches!(shape, Shape::Triangle | Shape::Tetrahedron) {
        let modes = OrthonormalBasis::new(shape, reference.spec.order - 1, Polynomials::Total);
        let project = modes.eval(&reference.volume.points).scale_rows(w).transpose();
        let gradient: Vec<Matrix> = (0..dim).map(|d| clean(&project.mul(&reference.derivative[d]))).collect();
        let test = gradient.iter().map(Matrix::transpose).collect();
        return (gradient, Matrix::identity(np), test, reference.mass.clone());
    }
    let test = |m: &Matrix| if constant { m.transpose().scale_cols(w) } else { m.transpose() };
    let gradient: Vec<Matrix> = (0..dim).map(|d| clean(&reference.derivative[d])).collect();
    let values = clean(&reference.interp_volume);
    let (gradient_test, values_test) = (gradient.iter().map(test).collect(), test(&values));
    (gradient, values, gradient_test, values_test)
}

/// Stacks matrices vertically.
fn stack(parts: impl IntoIterator<Item = Rows>) -> Rows {
    let mut parts = parts.into_iter();
    let mut out = parts.next().unwrap_or_default();
    parts.for_each(|m| out.rows.extend(m.rows));
    out
}

/// Joins matrices horizontally.
fn beside(parts: impl IntoIterator<Item = Rows>) -> Rows {
    let mut parts = parts.into_iter();
    let first = parts.next().unwrap_or_default();
    parts.fold(first, |out, m| out.beside(&m))
}

/// The tables of a part before all ranks have agreed on its kind.
struct Unsettled {
    part: DevicePart,
    /// Group and part on the host.
    place: (usize, usize),
    /// Whether all tangential factors vanish.
    orthogonal: bool,
}

/// The parts with elements, in the form that all ranks need. Collective.
fn settled(space: &Space<f64>, parts: Vec<Unsettled>) -> Result<Vec<DevicePart>, OpsError> {
    let none = Kind { skew: false, jumps: false };
    let mut kinds: Vec<Vec<Kind>> = space.groups.iter().map(|g| vec![none; g.parts.len()]).collect();
    for of in &parts {
        kinds[of.place.0][of.place.1].skew = !of.orthogonal;
    }
    space.agree(&mut kinds)?;
    let settle = |Unsettled { mut part, place: (g, p), .. }: Unsettled| {
        if kinds[g][p].skew {
            part.add_tangential(&space.tables[g][p]);
        }
        part
    };
    Ok(parts.into_iter().map(settle).filter(|part| !part.elements.is_empty()).collect())
}

impl DevicePart {
    /// The tables of the elements of a span.
    fn of_span(space: &Space<f64>, layout: &DeviceLayout, span: &DeviceSpan) -> Unsettled {
        let (g, p) = span.place;
        let (group, tables) = (&space.groups[g], &space.tables[g][p]);
        let reference = &tables.reference;
        let (kappa, lambda) = (&space.problem.kappa, &space.problem.lambda);
        let constant = group.parts[p].spec.rule == MetricRule::Affine
            && kappa.is_piecewise_constant()
            && lambda.is_piecewise_constant();
        let (dim, n_faces) = (group.shape.dim(), group.shape.n_faces());
        let (gradient, values, gradient_test, values_test) = volume(tables, constant);
        let n_points = gradient[0].rows();
        let n_values = if lambda.is_zero() { 0 } else { values.rows() };
        let weights = &reference.face_weights;
        let trace = clean(&reference.interp_face);
        let across = &tables.frame_derivative[0];
        let tested = |m: &Matrix| Rows::dense(&m.transpose().scale_cols(weights));
        let dense = |m: &[Matrix]| m.iter().map(Rows::dense).collect::<Vec<_>>();
        let with_values = usize::from(n_values > 0);
        let mut out = Self {
            shape: group.shape,
            order: space.order,
            elements: span.elements.clone(),
            numbers: Vec::new(),
            tested: span.elements.len(),
            first_row: span.first_row,
            first_point: span.first_point,
            np: reference.n_basis,
            nf: reference.face_points.len(),
            face_of: (0..n_faces)
                .flat_map(|f| vec![f as u32; reference.face_offsets[f + 1] - reference.face_offsets[f]])
                .collect(),
            n_faces,
            n_points,
            n_values,
            entries: dim * (dim + 1) / 2 + with_values,
            per_point: !constant,
            publish: stack([Rows::dense(&trace), Rows::dense(across)]),
            tangential: Rows::default(),
            tangential_test: Rows::default(),
            gradient: stack(
                dense(&gradient).into_iter().chain([Rows::dense(&values)]).take(dim + with_values),
            ),
            test: beside(
                dense(&gradient_test)
                    .into_iter()
                    .chain([Rows::dense(&values_test)])
                    .take(dim + with_values)
                    .chain([tested(&trace), tested(across)]),
            ),
            metric: Vec::new(),
            face: Vec::new(),
            sides: Vec::new(),
            meets: Vec::new(),
        };
        let orthogonal = out.coefficients(space, tables);
        out.connect(space, layout);
        Unsettled { part: out, place: span.place, orthogonal }
    }

    /// Adds the matrices of tangential derivatives.
    fn add_tangential(&mut self, tables: &Tables) {
        let weights = &tables.reference.face_weights;
        // The transpose with respect to the weights of the points.
        let weighted = |m: &Matrix| {
            let inverse: Vec<f64> = weights.iter().map(|w| 1.0 / w).collect();
            Rows::dense(&m.transpose().scale_rows(&inverse).scale_cols(weights))
        };
        self.tangential = stack(tables.tangential.iter().map(Rows::dense));
        self.tangential_test = beside(tables.tangential.iter().map(weighted));
    }

    /// Computes the rows of coefficients of volume and faces; returns whether all tangential factors vanish.
    fn coefficients(&mut self, space: &Space<f64>, tables: &Tables) -> bool {
        let reference = &tables.reference;
        let (offsets, dim) = (&reference.face_offsets, self.shape.dim());
        let (n_faces, per_point, entries) = (self.n_faces, self.per_point, self.entries);
        let points = if per_point { reference.volume.points.len() } else { 1 };
        let face_rows = if per_point { self.nf } else { n_faces };
        let values = self.n_values > 0;
        self.metric = vec![0.0; self.elements.len() * points * entries];
        self.face = vec![0.0; self.elements.len() * face_rows * (dim + 1)];
        let of_element = |(&element, metric, face): (&u32, &mut [f64], &mut [f64])| -> bool {
            let element = element as usize;
            let terms = space.terms(element);
            for (q, row) in metric.chunks_exact_mut(entries).enumerate() {
                let jw = terms.jw[q] / if per_point { 1.0 } else { reference.volume.weights[q] };
                let a = &terms.metric[q];
                let pairs = (0..dim).flat_map(|d| (d..dim).map(move |e| (d, e)));
                for (v, (d, e)) in row.iter_mut().zip(pairs) {
                    *v = jw * terms.kappa[q] * (0..3).map(|x| a[d][x] * a[e][x]).sum::<f64>();
                }
                if values {
                    row[entries - 1] = jw * terms.lambda[q];
                }
            }
            let mut orthogonal = true;
            for f in 0..n_faces {
                let (tau, kappa) = space.face_coefficients(element, f);
                let natural = match space.across(element, f) {
                    Beyond::Element { .. } => None,
                    Beyond::Boundary(b) => match space.problem.boundary(b) {
                        EllipticBoundary::Dirichlet => None,
                        EllipticBoundary::Neumann => Some(0.0),
                        EllipticBoundary::Robin { alpha } => Some(alpha),
                    },
                };
                let count = if per_point { offsets[f + 1] - offsets[f] } else { 1 };
                for (i, kappa) in kappa.iter().enumerate().take(count) {
                    let q = offsets[f] + i;
                    let point = &terms.face[q];
                    let scale = point.weight / reference.face_weights[q];
                    let row = if per_point { q } else { f } * (dim + 1);
                    if let Some(alpha) = natural {
                        face[row + dim] = alpha * scale;
                        continue;
                    }
                    let b = point.conormal();
                    for m in 0..dim {
                        let dot: f64 = (0..dim).map(|d| tables.frame[f][m][d] * b[d]).sum();
                        face[row + m] = kappa * scale * dot;
                        orthogonal &= m == 0 || face[row + m].abs() <= ORTHOGONAL * face[row].abs();
                    }
                    face[row + dim] = kappa * scale * tau;
                }
            }
            orthogonal
        };
        let metric = self.metric.par_chunks_mut(points * entries);
        let face = self.face.par_chunks_mut(face_rows * (dim + 1));
        let all = self.elements.par_iter().zip(metric).zip(face).map(|((e, m), f)| of_element((e, m, f)));
        all.reduce(|| true, |a, b| a && b)
    }

    /// Computes the neighbour of each side.
    fn connect(&mut self, space: &Space<f64>, layout: &DeviceLayout) {
        let mut known: HashMap<(usize, u32, u8, u8), u32> = HashMap::new();
        let mut sides = Vec::with_capacity(self.elements.len() * self.n_faces);
        for &element in &self.elements {
            let element = element as usize;
            for face in 0..self.n_faces {
                sides.push(match space.across(element, face) {
                    Beyond::Boundary(b) => {
                        let dirichlet = space.problem.boundary(b) == EllipticBoundary::Dirichlet;
                        [0, if dirichlet { GHOST } else { NATURAL }]
                    }
                    Beyond::Element { side, orientation } => {
                        let (part, i) = layout.places[side.element as usize];
                        let (first, nf) =
                            (layout.spans[part as usize].first_point, layout.spans[part as usize].nf);
                        let at = known.entry((face, part, side.face, orientation)).or_insert_with(|| {
                            let at = self.meets.len() as u32;
                            let theirs = &space.tables_of(side.element as usize).reference.face_offsets;
                            let begin = theirs[side.face as usize];
                            let meets = space.meeting_points(element, face);
                            self.meets.extend(meets.iter().map(|m| (begin + m) as u32));
                            at
                        });
                        [(first + i as usize * nf) as u32, *at]
                    }
                });
            }
        }
        self.sides = sides;
    }
}

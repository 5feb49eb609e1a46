//! Tables of the penalties on divergence and normal jumps for devices, on affine elements.

use super::{DeviceLayout, DevicePart, volume};
use crate::elliptic::Sipdg;
use crate::elliptic::tables::clean;
use crate::lanes::panel::Rows;
use dgsuite_basis::Shape;
use rayon::prelude::*;

/// The tables of one part: those of its neighbours are in `part`.
pub(crate) struct DevicePenalties {
    pub(crate) part: DevicePart,
    /// `∂/∂r_d` at the points, and the tests with these derivatives, of each direction.
    pub(crate) gradient: Vec<Rows>,
    pub(crate) gradient_test: Vec<Rows>,
    /// Values at the face points, and the tests with them times the weights.
    pub(crate) trace: Rows,
    pub(crate) trace_test: Rows,
    /// `[element][∂r_d/∂x_0 …, J]`.
    pub(crate) frame: Vec<f64>,
    /// `[element][face][n_0 …, sJ]`.
    pub(crate) normals: Vec<f64>,
}

impl Sipdg<f64> {
    /// The tables of all parts; `None` if an element of the whole mesh is not affine, or a pyramid: the
    /// divergence of its functions is not in their space, to which the passes of first-order laws project it.
    pub(crate) fn device_penalties(&self, layout: &DeviceLayout) -> Option<Vec<DevicePenalties>> {
        let space = &self.space;
        let affine = match &space.problem.ranks {
            Some(ranks) => {
                ranks.needs().iter().all(|need| need.curved.is_none() && need.shape != Shape::Pyramid)
            }
            None => {
                let pyramids = space.groups.iter().any(|group| group.shape == Shape::Pyramid);
                !pyramids && (0..space.place.len()).all(|element| space.is_affine(element))
            }
        };
        if !affine {
            return None;
        }
        let of_span = |span: &super::DeviceSpan| {
            let part = DevicePart::of_span(space, layout, span).part;
            let (g, p) = span.place;
            let tables = &space.tables[g][p];
            let reference = &tables.reference;
            let (gradient, _, gradient_test, _) = volume(tables, true);
            let trace = clean(&reference.interp_face);
            let (dim, offsets) = (part.shape.dim(), &reference.face_offsets);
            let frame = span.elements.par_iter().flat_map_iter(|&element| {
                let terms = space.terms(element as usize);
                let j = terms.jw[0] / reference.volume.weights[0];
                let rows = (0..dim).flat_map(|d| terms.metric[0][d][..dim].to_vec());
                rows.chain([j]).collect::<Vec<_>>()
            });
            let normals = span.elements.par_iter().flat_map_iter(|&element| {
                let terms = space.terms(element as usize);
                let of_face = |f: usize| {
                    let point = &terms.face[offsets[f]];
                    let scale = point.weight / reference.face_weights[offsets[f]];
                    point.normal[..dim].iter().copied().chain([scale]).collect::<Vec<_>>()
                };
                (0..part.n_faces).flat_map(of_face).collect::<Vec<_>>()
            });
            DevicePenalties {
                gradient: gradient.iter().map(Rows::dense).collect(),
                gradient_test: gradient_test.iter().map(Rows::dense).collect(),
                trace_test: Rows::dense(&trace.transpose().scale_cols(&reference.face_weights)),
                trace: Rows::dense(&trace),
                frame: frame.collect(),
                normals: normals.collect(),
                part,
            }
        };
        let host = &space.problem.host;
        let parts: Vec<DevicePenalties> = host.install(|| layout.spans.iter().map(of_span).collect());
        Some(parts.into_iter().filter(|of| !of.part.elements.is_empty()).collect())
    }
}

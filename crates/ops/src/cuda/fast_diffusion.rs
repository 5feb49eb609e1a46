//! Which fast kernels run the two passes of diffusion of a part, if any do.

use crate::cuda::fragments::SimplexTables;
use crate::cuda::gauss_diffusion::{self, GaussDiffusion};
use crate::cuda::prism_cubature_diffusion::{self, CubatureDiffusion};
use crate::cuda::prism_diffusion::{self, PrismDiffusion};
use crate::cuda::simplex_diffusion::SimplexDiffusion;
use crate::cuda::source::{KernelText, LawText};
use crate::cuda::tensor_diffusion::{self, TensorDiffusion};
use crate::error::OpsError;
use crate::group::{Group, Part};
use crate::scheme::{Form, PartSpec};
use crate::simd::PackScalar;
use dgsuite_basis::{BasisError, Shape};

/// Whether the device's layout of a group whose affine and curved elements are `specs` has the unknowns one after the other: where
/// fast kernels run all of them and work on a node whose unknowns are odd in number.
///
/// # Errors
/// Those of reference elements.
pub(crate) fn is_planar(shape: Shape, specs: [Option<PartSpec>; 2], form: Form) -> Result<bool, BasisError> {
    match shape {
        Shape::Hexahedron => Ok(tensor_diffusion::is_planar(shape, specs, form)?
            || gauss_diffusion::is_planar(shape, specs, form)?),
        Shape::Prism => {
            Ok(prism_diffusion::is_known(specs, form)? || prism_cubature_diffusion::is_known(specs, form)?)
        }
        _ => Ok(false),
    }
}

/// The texts of both passes of a part, and their operators.
pub(super) struct FastDiffusion {
    /// The first pass, in one or two.
    pub(super) gradient: Vec<KernelText>,
    pub(super) residual: KernelText,
    pub(super) stage: KernelText,
    /// What writes the traces that the first pass reads, where it is another than the universal kernel.
    pub(super) traces: Option<KernelText>,
    entries: Vec<f64>,
    /// The nodes of faces, where traces are interpolated from them.
    pub(super) nodes: Option<SimplexTables>,
}

impl FastDiffusion {
    /// The fast kernels that can run `part`.
    ///
    /// # Errors
    /// Those of reference elements.
    pub(super) fn new<T: PackScalar>(
        law: &LawText,
        group: &Group<T>,
        part: &Part<T>,
        form: Form,
    ) -> Result<Option<Self>, OpsError> {
        let Some(lifts) = law.lifts else { return Ok(None) };
        // The kernels read pairs of numbers, which must begin at even places.
        let begin = part.first_block * group.state.lanes * group.state.rows * group.state.fields;
        let even = group.state.planar || (group.offset + begin).is_multiple_of(2);
        if !even || group.state.lanes != 1 {
            return Ok(None);
        }
        Ok(match group.shape {
            Shape::Quadrilateral | Shape::Hexahedron => {
                Self::tensor(law, group, part, form).or_else(|| Self::gauss(law, group, part, form))
            }
            Shape::Triangle | Shape::Tetrahedron => SimplexDiffusion::new(group, part, form, lifts.eta)?
                .and_then(|simplex| Self::simplex(law, group, part, simplex)),
            Shape::Prism => PrismDiffusion::new(group, part, form)
                .and_then(|prism| Self::prism(law, group, part, prism))
                .or_else(|| Self::cubature(law, group, part, form)),
            _ => None,
        })
    }

    fn prism<T: PackScalar>(
        law: &LawText,
        group: &Group<T>,
        part: &Part<T>,
        prism: PrismDiffusion,
    ) -> Option<Self> {
        Some(Self {
            gradient: vec![prism.gradient(law, group, part)?],
            residual: prism.mean_flux(law, group, part, false),
            stage: prism.mean_flux(law, group, part, true),
            traces: None,
            entries: prism.entries,
            nodes: None,
        })
    }

    fn tensor<T: PackScalar>(law: &LawText, group: &Group<T>, part: &Part<T>, form: Form) -> Option<Self> {
        let tensor = TensorDiffusion::new(group, part, form)?;
        Some(Self {
            gradient: vec![tensor.gradient(law, group, part)?],
            residual: tensor.mean_flux(law, group, part, false),
            stage: tensor.mean_flux(law, group, part, true),
            traces: None,
            entries: tensor.entries,
            nodes: None,
        })
    }

    fn gauss<T: PackScalar>(law: &LawText, group: &Group<T>, part: &Part<T>, form: Form) -> Option<Self> {
        let gauss = GaussDiffusion::new(law, group, part, form)?;
        Some(Self {
            gradient: vec![gauss.gradient(law, group, part)?],
            residual: gauss.mean_flux(law, group, part, false)?,
            stage: gauss.mean_flux(law, group, part, true)?,
            traces: Some(gauss.traces(law, group, part)?),
            entries: gauss.entries,
            nodes: None,
        })
    }

    fn cubature<T: PackScalar>(law: &LawText, group: &Group<T>, part: &Part<T>, form: Form) -> Option<Self> {
        let prism = CubatureDiffusion::new(group, part, form)?;
        Some(Self {
            gradient: vec![prism.gradient(law, group, part)?],
            residual: prism.mean_flux(law, group, part, false)?,
            stage: prism.mean_flux(law, group, part, true)?,
            traces: Some(prism.traces(law, group, part)?),
            entries: prism.entries,
            nodes: None,
        })
    }

    fn simplex<T: PackScalar>(
        law: &LawText,
        group: &Group<T>,
        part: &Part<T>,
        simplex: SimplexDiffusion,
    ) -> Option<Self> {
        Some(Self {
            gradient: simplex.gradient(law, group, part)?,
            residual: simplex.mean_flux(law, group, part, false)?,
            stage: simplex.mean_flux(law, group, part, true)?,
            traces: None,
            entries: simplex.entries,
            nodes: simplex.tables.face_interp.then_some(simplex.tables),
        })
    }

    /// The operators' entries.
    pub(super) fn entries(&self) -> &[f64] {
        &self.entries
    }
}

//! Selection of the fast kernels for the two passes of diffusion of a part, if there are any.

use crate::cuda::prisms::prism_cubature_diffusion::CubatureDiffusion;
use crate::cuda::prisms::prism_diffusion::PrismDiffusion;
use crate::cuda::simplices::simplex_diffusion::SimplexDiffusion;
use crate::cuda::tensors::gauss_diffusion::GaussDiffusion;
use crate::cuda::tensors::tensor_diffusion::TensorDiffusion;
use crate::cuda::text::kernel_text::{KernelText, LawText};
use crate::cuda::text::passes::Passes;
use crate::cuda::text::setting::Setting;
use crate::error::OpsError;
use crate::lanes::simd::PackScalar;
use crate::space::group::Group;
use crate::space::scheme::Form;
use dgsuite_basis::Shape;

/// The texts of both passes of a part, and their operators.
pub(crate) struct FastDiffusion {
    /// The first pass, as one or two kernels.
    pub(crate) gradient: Vec<KernelText>,
    pub(crate) residual: KernelText,
    pub(crate) stage: KernelText,
    /// The kernel that writes the traces that the first pass reads, if it is not the universal one.
    pub(crate) traces: Option<KernelText>,
    entries: Vec<f64>,
    /// The nodes of faces, if traces are interpolated from them.
    pub(crate) nodes: Option<Vec<Vec<usize>>>,
    /// Whether they take the derivatives of curved elements' maps.
    pub(crate) takes_map: bool,
}

impl FastDiffusion {
    /// The fast kernels that can run the parts of a group.
    ///
    /// # Errors
    /// Errors of reference elements.
    pub(crate) fn of_parts<T: PackScalar>(
        law: &LawText,
        group: &Group<T>,
        form: Form,
    ) -> Result<Vec<Option<Self>>, OpsError> {
        let mut found = group
            .parts
            .iter()
            .map(|part| Self::new(&Setting { law, group, part }, form))
            .collect::<Result<Vec<_>, _>>()?;
        // Kernels that interpolate traces leave none for those that read them.
        let makes = |passes: &Option<Self>| passes.as_ref().is_some_and(|passes| passes.nodes.is_some());
        if found.iter().any(makes) && !found.iter().all(makes) {
            found.iter_mut().for_each(|passes| *passes = None);
        }
        Ok(found)
    }

    /// The fast kernels that can run `part`.
    ///
    /// # Errors
    /// Errors of reference elements.
    fn new<T: PackScalar>(of: &Setting<'_, T>, form: Form) -> Result<Option<Self>, OpsError> {
        let Setting { law, group, part } = *of;
        let Some(lifts) = law.lifts else { return Ok(None) };
        // The kernels load pairs of numbers, which must begin at even offsets.
        let begin = part.first_block * group.state.lanes * group.state.rows * group.state.fields;
        let even = group.state.planar || (group.offset + begin).is_multiple_of(2);
        if !even || group.state.lanes != 1 {
            return Ok(None);
        }
        Ok(match group.shape {
            Shape::Quadrilateral | Shape::Hexahedron => TensorDiffusion::new(of, form)
                .and_then(|tensor| Self::of(of, tensor))
                .or_else(|| Self::gauss(of, form)),
            Shape::Triangle | Shape::Tetrahedron => {
                SimplexDiffusion::new(of, form, lifts.eta)?.and_then(|simplex| Self::simplex(of, simplex))
            }
            Shape::Prism => PrismDiffusion::new(of, form)
                .and_then(|prism| Self::of(of, prism))
                .or_else(|| Self::cubature(of, form)),
            _ => None,
        })
    }

    /// For kernels that read states, or traces written by the universal kernel.
    fn of<T: PackScalar>(of: &Setting<'_, T>, passes: impl Passes<T>) -> Option<Self> {
        Some(Self {
            gradient: passes.gradient(of)?,
            residual: passes.mean_flux(of, false)?,
            stage: passes.mean_flux(of, true)?,
            traces: None,
            entries: passes.into_entries(),
            nodes: None,
            takes_map: false,
        })
    }

    fn gauss<T: PackScalar>(of: &Setting<'_, T>, form: Form) -> Option<Self> {
        let gauss = GaussDiffusion::new(of, form)?;
        let traces = Some(gauss.traces(of)?);
        Some(Self { traces, ..Self::of(of, gauss)? })
    }

    fn cubature<T: PackScalar>(of: &Setting<'_, T>, form: Form) -> Option<Self> {
        let prism = CubatureDiffusion::new(of, form)?;
        let traces = Some(prism.traces(of)?);
        Some(Self { traces, ..Self::of(of, prism)? })
    }

    fn simplex<T: PackScalar>(of: &Setting<'_, T>, simplex: SimplexDiffusion) -> Option<Self> {
        let nodes = simplex.tables.face_interp.then(|| simplex.tables.face_nodes.clone());
        Some(Self { nodes, takes_map: true, ..Self::of(of, simplex)? })
    }

    /// The operators' entries.
    pub(crate) fn entries(&self) -> &[f64] {
        &self.entries
    }
}

//! Selection of the fast kernel of a part, if there is one, and its text.
//!
//! A part runs a fast kernel if its reference element has the structure that the kernel needs (the
//! constructors of the tables return `None` otherwise), if its metric rule is supported, and if the kernel's
//! registers and shared memory fit the device. Otherwise it runs the universal kernel.

use crate::cuda::prisms::prism::{self, PrismTables};
use crate::cuda::prisms::prism_cubature::CubatureTables;
use crate::cuda::simplices::element::{self, ElementTables};
use crate::cuda::simplices::fragments::SimplexTables;
use crate::cuda::simplices::simplex;
use crate::cuda::tensors::gauss::{self, GaussTables};
use crate::cuda::tensors::tensor::{self, TensorTables};
use crate::cuda::text::kernel_text::{KernelText, LawText};
use crate::cuda::text::setting::Setting;
use crate::error::OpsError;
use crate::lanes::simd::PackScalar;
use crate::space::group::{Group, Part, volume_matrices};
use crate::space::scheme::{Form, MetricRule};
use dgsuite_basis::{Representation, Shape};

/// Whether the fast kernels of elements of `order` need nodal values.
pub(crate) const fn wants_nodes(shape: Shape, order: usize) -> bool {
    matches!(shape, Shape::Triangle | Shape::Tetrahedron) && order > 0
}

/// Whether a part is collocated, and its mass matrix is that of the reference element times a factor for each
/// element or node.
fn is_diagonal<T: PackScalar>(part: &Part<T>) -> bool {
    part.collocated && matches!(part.spec.rule, MetricRule::Affine | MetricRule::Collocated)
}

/// Whether a part begins at an even offset: some kernels load and store pairs of numbers.
fn in_pairs<T: PackScalar>(group: &Group<T>, part: &Part<T>) -> bool {
    let begin = part.first_block * group.state.block_len();
    (group.offset + begin).is_multiple_of(2)
}

/// The fast kernel of a part, with its operators.
pub(crate) enum Fast {
    /// `element.cu`
    Element(ElementTables),
    /// `simplex.cu`
    Simplex(SimplexTables),
    /// `quadrilateral.cu` or `hexahedron.cu`
    Tensor(TensorTables),
    /// `gauss.cu` or `gauss_lines.cu`
    Gauss(GaussTables),
    /// `prism.cu`
    Prism(PrismTables),
    /// `prism_cubature.cu`
    Cubature(CubatureTables),
}

impl Fast {
    /// Selects the fast kernels of the parts of a group, without diffusion.
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
        // Kernels that interpolate traces themselves do not store them for other kernels.
        let makes = |fast: &Option<Self>| fast.as_ref().is_some_and(Self::makes_traces);
        let (some, all) = (found.iter().any(makes), found.iter().all(makes));
        if some && !all && group.face_nodes.is_none() {
            found.iter_mut().for_each(|fast| *fast = None);
        }
        Ok(found)
    }

    /// Selects the fast kernel of `part`.
    fn new<T: PackScalar>(of: &Setting<'_, T>, form: Form) -> Result<Option<Self>, OpsError> {
        let Setting { group, part, .. } = *of;
        if group.state.lanes == element::LANES {
            let project = volume_matrices(&part.reference, form, group.shape.dim());
            return Ok(ElementTables::new(&part.reference, &project)?.map(Self::Element));
        }
        let found = match group.shape {
            Shape::Triangle | Shape::Tetrahedron => Self::simplex(group, part, form)?,
            Shape::Quadrilateral | Shape::Hexahedron if group.face_nodes.is_some() => {
                Self::tensor(group, part, form)
            }
            Shape::Quadrilateral | Shape::Hexahedron => Self::gauss(group, part, form),
            Shape::Prism if group.face_nodes.is_some() && group.state.planar && is_diagonal(part) => {
                PrismTables::new(&part.reference, form).map(Self::Prism)
            }
            Shape::Prism if group.state.planar && gauss::knows(part.spec.rule, true) => {
                CubatureTables::new(&part.reference, form).map(Self::Cubature)
            }
            _ => None,
        };
        Ok(found.filter(|fast| fast.text(of, true).is_some()))
    }

    fn simplex<T: PackScalar>(
        group: &Group<T>,
        part: &Part<T>,
        form: Form,
    ) -> Result<Option<Self>, OpsError> {
        let Representation::Nodal(nodes) = part.spec.element.representation else { return Ok(None) };
        let weighted = part.spec.rule == MetricRule::WeightAdjusted;
        let known = part.spec.rule != MetricRule::Stored && !(weighted && part.collocated);
        if !known || group.state.rows < 3 || !in_pairs(group, part) {
            return Ok(None);
        }
        let project = volume_matrices(&part.reference, form, group.shape.dim());
        Ok(SimplexTables::new(&part.reference, nodes, &project, weighted)?.map(Self::Simplex))
    }

    fn tensor<T: PackScalar>(group: &Group<T>, part: &Part<T>, form: Form) -> Option<Self> {
        if !group.state.planar && !in_pairs(group, part) {
            return None;
        }
        if !is_diagonal(part) {
            return None;
        }
        TensorTables::new(&part.reference, form).map(Self::Tensor)
    }

    fn gauss<T: PackScalar>(group: &Group<T>, part: &Part<T>, form: Form) -> Option<Self> {
        let tables = GaussTables::new(&part.reference, form, part.spec.rule)?;
        let laid_out = group.state.planar || !tables.transform && in_pairs(group, part);
        laid_out.then_some(Self::Gauss(tables))
    }

    /// The nodes of each face, if the kernel interpolates face points from them.
    pub(crate) fn interpolated_nodes(&self) -> Option<&[Vec<usize>]> {
        match self {
            Self::Element(tables) if tables.face_interp => Some(&tables.face_nodes),
            Self::Simplex(tables) if tables.face_interp => Some(&tables.face_nodes),
            _ => None,
        }
    }

    /// Whether the kernel interpolates traces itself.
    pub(crate) const fn makes_traces(&self) -> bool {
        matches!(self, Self::Element(_) | Self::Simplex(_))
    }

    /// The operators' entries.
    pub(crate) fn entries(&self) -> &[f64] {
        match self {
            Self::Element(_) => &[],
            Self::Simplex(tables) => &tables.entries,
            Self::Tensor(tables) => &tables.entries,
            Self::Gauss(tables) => &tables.entries,
            Self::Prism(tables) => &tables.entries,
            Self::Cubature(tables) => &tables.entries,
        }
    }

    /// Builds the stage of a small mesh, for a number of runs of boundary points; `None` if there is no such
    /// kernel, or if `multiprocessors` cannot process all elements at once.
    pub(crate) fn small_text<T: PackScalar>(
        &self,
        of: &Setting<'_, T>,
        runs: usize,
        multiprocessors: usize,
    ) -> Option<KernelText> {
        match self {
            Self::Simplex(tables) if T::BYTES == 8 => simplex::small(of, tables, runs, multiprocessors),
            _ => None,
        }
    }

    /// Builds the kernel; `None` if it does not fit the device.
    pub(crate) fn text<T: PackScalar>(&self, of: &Setting<'_, T>, stage: bool) -> Option<KernelText> {
        match self {
            Self::Element(tables) => Some(element::text(of, tables, stage)),
            Self::Simplex(tables) => simplex::text(of, tables, stage),
            Self::Tensor(tables) => tensor::text(of, tables, stage),
            Self::Gauss(tables) => tables.text(of, stage),
            Self::Prism(tables) => prism::text(of, tables, stage),
            Self::Cubature(tables) => tables.text(of, stage),
        }
    }

    /// Builds the kernel that writes the traces that this one reads; `None` if it reads none, or if it does
    /// not fit.
    pub(crate) fn traces<T: PackScalar>(&self, of: &Setting<'_, T>) -> Option<KernelText> {
        match self {
            Self::Gauss(tables) => tables.traces(of),
            Self::Cubature(tables) => tables.traces(of),
            _ => None,
        }
    }
}

//! The plan of a group on a device: the kernels that run each of its parts, and where they read traces.

use crate::cuda::choose::fast::Fast;
use crate::cuda::choose::fast_diffusion::FastDiffusion;
use crate::cuda::simplices::fragments;
use crate::cuda::text::kernel_text::LawText;
use crate::error::OpsError;
use crate::lanes::simd::PackScalar;
use crate::space::group::Group;
use crate::space::scheme::Form;

/// The kernels that run a part.
pub(crate) enum Chosen {
    /// Those that run every scheme.
    Universal,
    /// Kernels made for such elements, without diffusion.
    Fast(Fast),
    /// Kernels made for such elements, for the two passes of diffusion.
    Passes(Box<FastDiffusion>),
}

impl Chosen {
    /// The fast kernel without diffusion.
    pub(crate) const fn fast(&self) -> Option<&Fast> {
        if let Self::Fast(fast) = self { Some(fast) } else { None }
    }

    /// The fast kernels of both passes of diffusion.
    pub(crate) fn passes(&self) -> Option<&FastDiffusion> {
        if let Self::Passes(passes) = self { Some(passes) } else { None }
    }

    /// The operators' entries, if the kernels are fast.
    pub(crate) fn entries(&self) -> Option<&[f64]> {
        match self {
            Self::Universal => None,
            Self::Fast(fast) => Some(fast.entries()),
            Self::Passes(passes) => Some(passes.entries()),
        }
    }

    /// Whether they take the derivatives of curved elements' maps.
    pub(crate) fn takes_map(&self) -> bool {
        match self {
            Self::Universal => false,
            Self::Fast(fast) => matches!(fast, Fast::Simplex(_)),
            Self::Passes(passes) => passes.takes_map,
        }
    }

    /// The nodes of each face, if the kernels interpolate traces from them.
    fn nodes(&self) -> Option<&[Vec<usize>]> {
        match self {
            Self::Universal => None,
            Self::Fast(fast) => fast.interpolated_nodes(),
            Self::Passes(passes) => passes.nodes.as_deref(),
        }
    }

    /// The order in which they add up the terms of `n` face nodes.
    fn sum_order(&self, n: usize) -> Vec<usize> {
        if let Self::Fast(Fast::Element(_)) = self { (0..n).collect() } else { fragments::sum_order(n) }
    }
}

/// The kernels of a group.
pub(crate) struct Plan {
    /// Those of each part.
    pub(crate) parts: Vec<Chosen>,
    /// Whether a kernel writes traces, which others read; otherwise these read the state.
    pub(crate) writes_traces: bool,
}

impl Plan {
    /// Chooses the kernels of a group.
    ///
    /// # Errors
    /// [`OpsError::NotOnDevices`] for split forms that no fast kernel runs, since the universal ones have no
    /// two-point fluxes; errors of reference elements.
    pub(crate) fn new<T: PackScalar>(law: &LawText, group: &Group<T>, form: Form) -> Result<Self, OpsError> {
        let parts: Vec<Chosen> = if law.lifts.is_some() {
            let passes = FastDiffusion::of_parts(law, group, form)?;
            let chosen = |found: Option<FastDiffusion>| {
                found.map_or(Chosen::Universal, |f| Chosen::Passes(Box::new(f)))
            };
            passes.into_iter().map(chosen).collect()
        } else {
            let fast = Fast::of_parts(law, group, form)?;
            fast.into_iter().map(|fast| fast.map_or(Chosen::Universal, Chosen::Fast)).collect()
        };
        if law.two_point && parts.iter().any(|part| matches!(part, Chosen::Universal)) {
            return Err(OpsError::NotOnDevices { what: "split forms of so high an order" });
        }
        let interpolated = parts.first().and_then(Chosen::nodes).is_some();
        Ok(Self { writes_traces: group.face_nodes.is_none() && !interpolated, parts })
    }

    /// The nodes of each face, and the order in which their terms are added up, if the kernels interpolate
    /// traces from them.
    pub(crate) fn nodes(&self) -> Option<(&[Vec<usize>], Vec<usize>)> {
        let first = self.parts.first()?;
        let nodes = first.nodes()?;
        Some((nodes, first.sum_order(nodes[0].len())))
    }

    /// Whether the first pass of diffusion of a part consists of several kernels.
    pub(crate) fn splits_gradient(&self) -> bool {
        self.parts.iter().filter_map(Chosen::passes).any(|passes| passes.gradient.len() > 1)
    }
}

//! The texts of all kernels of a discretisation, for compilation without a device.

use crate::cuda::choose::layout::layout;
use crate::cuda::choose::part_texts::kernel_texts;
use crate::cuda::choose::scheme::on_device;
use crate::cuda::run::clock::clock_text;
use crate::cuda::run::discretization::{CudaDiscretization, law_text};
use crate::cuda::run::measure::sample_texts;
use crate::cuda::run::small::gathered;
use crate::cuda::run::unknown_map::map_text;
use crate::cuda::terms::boundary::boundary_text;
use crate::cuda::terms::diffusive_boundary::diffusive_text;
use crate::cuda::terms::exact_sums::exact_sums_text;
use crate::cuda::terms::reaction::reaction_texts;
use crate::cuda::terms::source_term::source_term_texts;
use crate::cuda::text::kernel_text::{POINT_THREADS, REDUCE_THREADS, pointwise};
use crate::error::OpsError;
use crate::formulas::boundary::BoundaryBinding;
use crate::formulas::equation::Equation;
use crate::lanes::simd::PackScalar;
use crate::rhs::discretization::Discretization;
use crate::space::layout::{Lanes, Terms};
use crate::space::scheme::Scheme;
use dgsuite_gpu::Host;
use dgsuite_gpu::cuda::Source;
use dgsuite_mesh::Mesh;
use std::sync::Arc;

impl<T: PackScalar> CudaDiscretization<T> {
    /// The texts of all kernels that [`new`](Self::new) would compile, for compilation without a device.
    ///
    /// # Errors
    /// Errors of [`new`](Self::new), except those of the device.
    pub fn texts(
        mesh: Arc<Mesh>,
        scheme: &Scheme,
        equation: impl Into<Equation<T>>,
        boundaries: Vec<BoundaryBinding<T>>,
        host: Arc<Host>,
    ) -> Result<Vec<Source>, OpsError> {
        let scheme = &on_device(scheme, &mesh, None);
        let d = Discretization::laid_out(
            mesh,
            scheme,
            equation.into(),
            boundaries,
            host,
            Lanes::Device(layout::<T>, Terms::default()),
            None,
        )?;
        let law = law_text(&d)?;
        let (dim, fields) = (d.physics.dim(), d.physics.n_fields());
        let mut out = Vec::new();
        for group in &d.groups {
            out.extend(kernel_texts(&law, group, scheme.form)?.into_iter().flat_map(|part| part.texts));
        }
        out.extend(gathered(&d, &law, d.boundaries.len(), 1)?.into_iter().flatten().map(|text| text.source));
        if let Some((_, texts)) =
            d.source.as_ref().and_then(|source| source_term_texts(&law, source, &d.groups))
        {
            out.extend(texts.into_iter().map(|(_, _, text)| text.source));
        }
        if let Some(reactions) = &d.reactions {
            out.extend(reaction_texts(&law, reactions, &d.groups, scheme.form)?);
        }
        if !d.boundaries.is_empty() {
            out.push(boundary_text::<T>(&law, &d.boundaries, dim, fields)?.1);
        }
        for set in &d.boundaries {
            out.extend(diffusive_text::<T>(&law, set, dim, fields)?.map(|(_, source)| source));
        }
        let copies = pointwise::<T>("exchange.cu", include_str!("exchange.cu"), &law, dim, fields);
        out.push(copies.define("BLOCK", POINT_THREADS));
        let tally = pointwise::<T>("tally.cu", include_str!("../terms/tally.cu"), &law, dim, fields);
        out.push(tally.define("BLOCK", REDUCE_THREADS));
        out.push(clock_text::<T>(&law, dim, fields));
        out.extend(sample_texts::<T>(dim, fields));
        out.push(exact_sums_text::<T>(fields));
        out.push(map_text::<T>(fields));
        Ok(out)
    }
}

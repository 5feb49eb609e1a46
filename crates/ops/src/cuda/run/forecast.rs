//! Which kernels a device would run for a discretisation of the CPU, and what would make slow ones fast.
//!
//! The rule that chooses is asked with a few elements of each kind, so that a forecast costs little on any
//! mesh; and asked again with other schemes and straight elements, so that advice cannot differ from the
//! rule.

use crate::cuda::choose::layout::layout;
use crate::cuda::choose::part_texts::{ChosenKernels, kernel_texts};
use crate::cuda::choose::scheme::on_device;
use crate::cuda::run::discretization::{CudaDiscretization, law_text};
use crate::error::OpsError;
use crate::lanes::simd::PackScalar;
use crate::rhs::discretization::Discretization;
use crate::space::group::{build, needs};
use crate::space::layout::{Lanes, Terms};
use crate::space::lifting::add_lifting;
use crate::space::sample::sample;
use crate::space::scheme::{Need, Scheme};
use dgsuite_basis::{Cubature, NodeSet, Representation, Shape};
use dgsuite_mesh::Mesh;

/// Orders that are tried as changes: this many above and below.
const ORDERS_AWAY: usize = 3;

/// The kernels that a device would run for the elements of one shape that are affine, or for the curved ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forecast {
    /// The shape.
    pub shape: Shape,
    /// Whether the elements are curved.
    pub curved: bool,
    /// Whether the kernels were made for such elements; the universal kernels run all others.
    pub fast: bool,
    /// The file of the residual's kernel, as in [`ChosenKernels`].
    pub name: String,
    /// If they are not fast, changes each of which has fast kernels for the elements of this shape.
    pub faster: Vec<Change>,
}

/// A change of the scheme or of the mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Another order.
    Order(usize),
    /// Affine elements instead of curved ones.
    Straight,
    /// Orthonormal modes of the default space as basis.
    Modal,
    /// A nodal basis whose nodes are the points of the cubatures.
    Collocated,
}

impl<T: PackScalar> CudaDiscretization<T> {
    /// The kernels that a device would run for `host`, a discretisation of the CPU or the description of one
    /// on a device. No device is needed. One entry for the affine and one for the curved elements of each
    /// shape that this rank has.
    ///
    /// # Errors
    /// As [`new`](Self::new), but for those of the device.
    pub fn forecast(host: &Discretization<T>) -> Result<Vec<Forecast>, OpsError> {
        let own = host.ranks.as_ref().map_or_else(|| needs(&host.mesh), |ranks| ranks.needs.clone());
        let scheme = host.scheme;
        let few = sample(&host.mesh, false);
        let found = chosen(host, &few, &scheme, &own)?;
        let changes = if found.iter().all(|part| part.fast) { Vec::new() } else { changes(&scheme, &own) };
        let tried: Vec<(Change, Vec<ChosenKernels>)> = changes
            .into_iter()
            .filter_map(|(change, scheme)| {
                let tried = if change == Change::Straight {
                    let straight: Vec<Need> =
                        own.iter().map(|need| Need { affine: true, curved: None, ..*need }).collect();
                    chosen(host, &sample(&host.mesh, true), &scheme, &straight)
                } else {
                    chosen(host, &few, &scheme, &own)
                };
                // A scheme that does not exist on these elements is no advice.
                Some((change, tried.ok()?))
            })
            .collect();
        let faster = |part: &ChosenKernels| {
            let all_fast = |(_, parts): &&(Change, Vec<ChosenKernels>)| {
                let mut of_shape = parts.iter().filter(|other| other.shape == part.shape).peekable();
                of_shape.peek().is_some() && of_shape.all(|other| other.fast)
            };
            let mut found: Vec<Change> = tried.iter().filter(all_fast).map(|(change, _)| *change).collect();
            // Of several orders the nearest one, which was tried first, is enough.
            let mut orders = 0;
            found.retain(|change| {
                orders += usize::from(matches!(change, Change::Order(_)));
                orders <= 1 || !matches!(change, Change::Order(_))
            });
            found
        };
        let forecast = |part: &ChosenKernels| Forecast {
            shape: part.shape,
            curved: part.curved,
            fast: part.fast,
            name: part.name.clone(),
            faster: if part.fast { Vec::new() } else { faster(part) },
        };
        Ok(found.iter().map(forecast).collect())
    }
}

/// Schemes that differ in one point, the nearest orders first.
fn changes(scheme: &Scheme, needs: &[Need]) -> Vec<(Change, Scheme)> {
    let mut changes = Vec::new();
    for away in 1..=ORDERS_AWAY {
        for order in [Some(scheme.order + away), scheme.order.checked_sub(away)].into_iter().flatten() {
            if order > 0 {
                changes.push((Change::Order(order), Scheme { order, ..*scheme }));
            }
        }
    }
    if needs.iter().any(|need| need.curved.is_some()) {
        changes.push((Change::Straight, *scheme));
    }
    if scheme.representation == Representation::Taylor || scheme.polynomials.is_some() {
        let modal = Scheme { representation: Representation::Modal, polynomials: None, ..*scheme };
        changes.push((Change::Modal, modal));
    }
    if scheme.volume != Some(Cubature::Collocated) || scheme.face != Some(Cubature::Collocated) {
        let at = Some(Cubature::Collocated);
        let representation = match scheme.representation {
            Representation::Nodal(nodes) => Representation::Nodal(nodes),
            _ => Representation::Nodal(NodeSet::GaussLobatto),
        };
        let collocated = Scheme { representation, polynomials: None, volume: at, face: at, ..*scheme };
        changes.push((Change::Collocated, collocated));
    }
    changes
}

/// The kernels for the equation of `host` with another scheme on `mesh`, a part of a mesh of these needs.
fn chosen<T: PackScalar>(
    host: &Discretization<T>,
    mesh: &Mesh,
    scheme: &Scheme,
    needs: &[Need],
) -> Result<Vec<ChosenKernels>, OpsError> {
    let scheme = on_device(scheme, mesh, Some(needs));
    let rows = host.source.is_some() || host.reactions.is_some();
    let lanes = Lanes::Device(layout::<T>, Terms { diffusion: host.diffusion.is_some(), rows });
    let law = law_text(host)?;
    let mut found = Vec::new();
    for mut group in build::<T>(mesh, &scheme, host.physics.n_fields(), lanes, Some(needs), &[])? {
        if host.diffusion.is_some() {
            add_lifting(&mut group, mesh, host.eta, lanes)?;
        }
        found.extend(kernel_texts(&law, &group, scheme.form)?);
    }
    Ok(found)
}

//! Preconditioners of the viscous step `(s M + ν A) u = b`, chosen by the size of the step and the mesh.
//!
//! Which is best depends on the ratio of `ν A` and `s M`. On thin elements it is large across the layers
//! only, so that linelets suffice. Iterations of a channel with cells of aspect ratio 500 (8 × 48, order 5)
//! and of a cavity (16 × 16, order 5), for a tolerance of 1e-8:
//!
//! ```text
//!                        νΔt (p + 1)²/h², largest   mass   diagonal   linelets   multigrid
//! channel                                      4     16         20          7           3
//! channel                                     40     55         57         12           4
//! channel                                  4,000      -        209         21           6
//! channel                                400,000      -          -         38           9
//! cavity                                    0.09     20         19         17           -
//! cavity                                    0.28     35         32         19           -
//! cavity                                     0.9     63         54         28          10
//! cavity                                     9      194        155         74          12
//! cavity                                    92      559        446        211          13
//! ```
//!
//! On quadrilaterals and hexahedra linelets are better than the diagonal without any thin element, since they
//! have the diagonal of the Gauss–Lobatto basis. An iteration with multigrid costs as much as about six with
//! linelets.

use crate::SystemError;
use crate::elliptic::SmootherKind;
use crate::elliptic::machine::Apply;
use crate::elliptic::shapes::{aspect_ratio, is_of_tensors};
use crate::incompressible::components::Components;
use crate::incompressible::machine::{Machine, Screened};
use crate::incompressible::slip::Slip;
use crate::setup::VelocityPreconditioner;
use dgsuite_amg::{KrylovPart, Preconditioner};
use dgsuite_gpu::Vector;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;

/// The inverse mass matrix is the best preconditioner if the largest ratio of the diagonals of `ν A` and
/// `s M` is below this, without and with linelets.
const STIFF: f64 = 30.0;
const STIFF_FOR_LINELETS: f64 = 10.0;

/// Multigrid is the best preconditioner if that ratio, divided by the square of the aspect ratio of the
/// element, is somewhere above this.
const STIFF_ALONG: f64 = 500.0;

/// Preconditioners are computed for values of s that are powers of these numbers, so that they do not change
/// with every small change of the step: diagonals, and those that cost more.
const RASTER: f64 = 1.25;
const COARSE_RASTER: f64 = 4.0;

/// The preconditioner, for one value of s at a time.
pub(super) struct Inverse<V: Vector> {
    /// The numbers of the components.
    range: Range<usize>,
    viscosity: f64,
    /// `None`: chosen by the step.
    wanted: Option<VelocityPreconditioner>,
    /// Whether linelets are better than the diagonal.
    linelets: bool,
    /// The diagonals of A and M, in the order of the host.
    diagonals: Vec<Vec<f64>>,
    masses: Vec<f64>,
    /// The largest ratio of both, and that divided by the squares of aspect ratios.
    ratio: f64,
    ratio_along: f64,
    /// Whether the components are coupled.
    coupled: bool,
    known: Option<Known<V>>,
    /// Number of preconditioners so far.
    made: u64,
}

/// A preconditioner with its kind and the number of s.
struct Known<V> {
    kind: VelocityPreconditioner,
    step: i32,
    apply: Approximate<V>,
}

impl<V: KrylovPart<Scalar = f64> + 'static> Inverse<V> {
    pub(super) fn new<M: Machine<V = V>>(
        machine: &M,
        range: Range<usize>,
        slip: Option<&Slip<V>>,
        viscosity: f64,
        wanted: Option<VelocityPreconditioner>,
    ) -> Result<Self, SystemError> {
        let elliptics = machine.elliptics();
        let elementwise =
            matches!(wanted, Some(VelocityPreconditioner::Linelets | VelocityPreconditioner::PmgAmg));
        if let (true, true, Some(name)) = (elementwise, slip.is_some(), elliptics.oblique.first()) {
            let word = wanted.map_or("", VelocityPreconditioner::word);
            let what = format!(
                "with `solver.velocity.preconditioner: {word}`, because the boundary \"{name}\" of symmetry is not normal \
                 to an axis and couples the components of the velocity"
            );
            return Err(SystemError::Unavailable { law: "incompressible", what });
        }
        let masses = elliptics.nodes.mass_diagonal();
        let components = &elliptics.components[range.clone()];
        let mut diagonals: Vec<Vec<f64>> = Vec::with_capacity(components.len());
        for (d, a) in components.iter().enumerate() {
            let known = components[..d].iter().position(|b| Arc::ptr_eq(a, b));
            diagonals.push(known.map_or_else(|| a.diagonal(), |k| diagonals[k].clone()));
        }
        if let Some(slip) = slip {
            for (diagonal, terms) in diagonals.iter_mut().zip(&slip.diagonals) {
                terms.iter().for_each(|&(i, v)| diagonal[i] += v);
            }
        }
        let (mesh, order) = (elliptics.nodes.mesh(), elliptics.nodes.order());
        let whole = elliptics.nodes.whole_mesh();
        // The largest ratio of each element, and that divided by the square of its aspect ratio.
        let of_element = |(e, block): (usize, &Vec<u32>)| {
            let ratios =
                diagonals.iter().flat_map(|d| block.iter().map(|&i| d[i as usize] / masses[i as usize]));
            let largest = ratios.fold(0.0, f64::max);
            [largest, largest / aspect_ratio(mesh, e).powi(2)]
        };
        let blocks = elliptics.nodes.blocks_of_unknowns();
        let [mut ratio, mut ratio_along] = elliptics.nodes.host().install(|| {
            let all = blocks.par_iter().enumerate().map(of_element);
            all.reduce(|| [0.0; 2], |a, b| [a[0].max(b[0]), a[1].max(b[1])])
        });
        if let Some(ranks) = elliptics.nodes.ranks() {
            let mut largest = [ratio, ratio_along];
            ranks.joint().max(&mut largest);
            [ratio, ratio_along] = largest;
        }
        Ok(Self {
            range,
            viscosity,
            wanted,
            linelets: match SmootherKind::suited(order, whole) {
                SmootherKind::Linelets => true,
                SmootherKind::BlockJacobi => false,
                _ => is_of_tensors(whole),
            },
            diagonals,
            masses,
            ratio,
            ratio_along,
            coupled: slip.is_some(),
            known: None,
            made: 0,
        })
    }

    /// The largest ratio of the diagonals of A and M.
    pub(super) fn ratio(&self) -> f64 {
        self.ratio
    }

    fn kind(&self, s: f64) -> VelocityPreconditioner {
        let weight = self.viscosity / s;
        self.wanted.unwrap_or(match () {
            () if !self.coupled && weight * self.ratio_along > STIFF_ALONG => VelocityPreconditioner::PmgAmg,
            () if self.linelets && !self.coupled => match weight * self.ratio < STIFF_FOR_LINELETS {
                true => VelocityPreconditioner::Mass,
                false => VelocityPreconditioner::Linelets,
            },
            () if weight * self.ratio < STIFF => VelocityPreconditioner::Mass,
            () => VelocityPreconditioner::Jacobi,
        })
    }

    /// The preconditioner for `s M + ν A`; `None` for the inverse mass matrix.
    pub(super) fn of<M: Machine<V = V>>(
        &mut self,
        machine: &M,
        s: f64,
    ) -> Result<Option<&mut Approximate<V>>, SystemError> {
        let kind = self.kind(s);
        let raster = match kind {
            VelocityPreconditioner::Mass => return Ok(None),
            VelocityPreconditioner::Jacobi => RASTER,
            VelocityPreconditioner::Linelets | VelocityPreconditioner::PmgAmg => COARSE_RASTER,
        };
        let step = (s.ln() / raster.ln()).round() as i32;
        let known = match self.known.take().filter(|known| known.kind == kind && known.step == step) {
            Some(known) => known,
            None => {
                let s = raster.powi(step);
                self.made += 1;
                let apply = match kind {
                    VelocityPreconditioner::PmgAmg => self.screened(machine, s, Screened::PmgAmg)?,
                    VelocityPreconditioner::Linelets => self.screened(machine, s, Screened::Linelets)?,
                    _ => self.diagonal(machine, s)?,
                };
                Known { kind, step, apply }
            }
        };
        Ok(Some(&mut self.known.insert(known).apply))
    }

    fn diagonal<M: Machine<V = V>>(&self, machine: &M, s: f64) -> Result<Approximate<V>, SystemError> {
        let inverse = |d: &Vec<f64>| {
            let of = |(a, m): (&f64, &f64)| 1.0 / (self.viscosity * a + s * m);
            let entries: Vec<f64> =
                d.iter().zip(&self.masses).map(|e| if *e.1 > 0.0 { of(e) } else { 1.0 }).collect();
            machine.upload(&entries)
        };
        let entries = self.diagonals.iter().map(inverse).collect::<Result<_, _>>()?;
        Ok(Approximate::Diagonal(Components(entries), self.made))
    }

    fn screened<M: Machine<V = V>>(
        &self,
        machine: &M,
        s: f64,
        kind: Screened,
    ) -> Result<Approximate<V>, SystemError> {
        let operators = &machine.elliptics().components[self.range.clone()];
        let (mut inverses, mut of) = (Vec::new(), Vec::new());
        for (d, a) in operators.iter().enumerate() {
            let same = operators[..d].iter().position(|known| Arc::ptr_eq(known, a));
            of.push(match same {
                Some(d) => of[d],
                None => {
                    inverses.push(machine.screened(self.range.start + d, s / self.viscosity, kind)?);
                    inverses.len() - 1
                }
            });
        }
        Ok(Approximate::Screened { kind, number: self.made, inverses, of })
    }
}

/// An approximate inverse; a factor would not change the iterates.
pub(super) enum Approximate<V> {
    /// The inverse diagonal, and its number.
    Diagonal(Components<V>, u64),
    /// One for each operator, and its index for each component.
    Screened { kind: Screened, number: u64, inverses: Vec<Box<Apply<V>>>, of: Vec<usize> },
}

impl<V> Approximate<V> {
    /// Whether it is slightly nonlinear: multigrid in single precision.
    pub(super) fn is_nonlinear(&self) -> bool {
        matches!(self, Self::Screened { kind: Screened::PmgAmg, .. })
    }
}

impl<V: Vector> Preconditioner<Components<V>> for Approximate<V> {
    fn apply(&mut self, r: &Components<V>, z: &mut Components<V>) {
        match self {
            Self::Diagonal(inverse, _) => z.add_product(1.0, inverse, r, 0.0),
            Self::Screened { inverses, of, .. } => {
                for ((r, z), k) in r.0.iter().zip(&mut z.0).zip(of) {
                    inverses[*k].apply(r, z);
                }
            }
        }
    }

    fn recordable(&self) -> Option<u64> {
        match self {
            Self::Diagonal(_, number) => Some(*number),
            Self::Screened { kind, number, .. } => (*kind == Screened::Linelets).then_some(*number),
        }
    }
}

//! Limiters: changes of a state after each stage that keep it free of oscillations, and density and pressure
//! positive.
//!
//! **Positivity.** Density and pressure stay positive at all points where the scheme evaluates states: the
//! deviation from the mean is scaled, first of the density, then of all unknowns
//! (Zhang and Shu, J. Comput. Phys. 229 (2010) 8918). The factor of the second step assumes only that the
//! pressure is a concave function of the state
//! (Wang, Zhang, Shu, Ning, J. Comput. Phys. 231 (2012) 653, eq. (3.9)).
//!
//! **Entropy filter.** The modes of degree `k > 0` of a troubled element are multiplied by `f^(k²)`, with one
//! `f` for all unknowns, the largest one for which
//!
//! ```text
//! s ≥ s* + ln(1 − ε),   s = ln p − γ ln ρ,   ρ* ≤ ρ ≤ ρ**
//! ```
//!
//! at all points. `s*` is the smallest entropy of the stage's input in the element, in its face neighbours
//! and in the outer states of its boundary faces; `ρ*` and `ρ**` are the extrema of the density there
//! (Dzanic and Witherden, J. Comput. Phys. 468 (2022) 111501).
//!
//! **Gate.** An element is troubled if the modes of the highest degree hold more than the share
//! `½ · 10^(−1.8 (p + 1)^¼)` of the squares of the modes of `ρ p`
//! (Hennemann, Rueda-Ramírez, Hindenlang, Gassner, J. Comput. Phys. 426 (2021) 109935, eq. (43)), or if
//! density or pressure is below half of its value for the mean at one of the points. All other elements keep
//! their state bit by bit.
//!
//! **Slopes.** Barth and Jespersen (AIAA 89-0366): the linear part of each unknown is multiplied by the
//! largest factor for which the values at all points lie within the means of the element and its neighbours.
//! An element of order above 1 that needs a factor below 1 keeps only its linear part.
//!
//! The mean is the one that the scheme conserves: the cubature of the scheme with the Jacobian of the
//! element. Mode 0 is changed so that it stays the same to rounding.

mod across;
mod between;
mod element;
mod pass;
mod screen;
mod strengths;
mod tables;

pub(crate) use across::{ABROAD_GROUP, EXTERIOR_GROUP, NOTHING, across, pack, unpack, vertex_neighbours};
pub use between::StateFloor;
pub(crate) use element::{BISECTIONS, ENERGY_FLOOR, FLOOR, Range, Work, limit, within_means};
pub(crate) use pass::RANGE;
pub(crate) use screen::{BlockTables, Screen};
pub(crate) use tables::Tables;

use crate::error::OpsError;
use crate::lanes::simd::PackScalar;
use crate::rhs::halo::ElementHalo;
use crate::space::group::Group;
use dgsuite_gpu::{Element, SimdLevel};
use dgsuite_physics::Bounded;
use dgsuite_physics::trace::{Parameters, TraceError, device_fn};
use std::sync::Mutex;

/// The largest number of unknowns of a law with bounds.
const FIELDS: usize = 5;

/// The elements whose means bound an element's values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Neighbourhood {
    /// Those with a common face.
    #[default]
    Faces,
    /// Those with a common vertex. Elements that touch only across a periodic boundary count where they share
    /// a face.
    Vertices,
}

/// The entropy filter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EntropyFilter {
    /// The relative tolerance `ε` of `p/ρ^γ`.
    pub tolerance: f64,
    /// Whether only troubled elements are filtered.
    pub gate: bool,
    /// Whether the density is bounded as well.
    pub density: bool,
}

impl Default for EntropyFilter {
    fn default() -> Self {
        Self { tolerance: 1e-3, gate: true, density: true }
    }
}

/// A limiter. Density and pressure are kept positive in each case.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Limiting {
    /// Positivity alone.
    #[default]
    Positivity,
    /// The entropy filter.
    EntropyFilter(EntropyFilter),
    /// Slopes by Barth and Jespersen.
    Slopes(Neighbourhood),
}

impl Limiting {
    /// The entropy filter, if this is one.
    pub(crate) const fn filter(&self) -> Option<EntropyFilter> {
        match *self {
            Self::EntropyFilter(filter) => Some(filter),
            _ => None,
        }
    }
}

/// The quantities of a law that a limiter bounds.
pub trait Bounds: Send + Sync {
    /// Number of unknowns.
    fn n_fields(&self) -> usize;

    /// Density, pressure and entropy of one state.
    fn bounded(&self, u: &[f64]) -> [f64; 3];

    /// Returns the text of the CUDA functions `bounded(u, out)`, `tangent(u, out)` (density, pressure and its
    /// gradient) and `remainder(u, delta, out)` (that of the pressure, see [`Bounded::pressure_remainder`]),
    /// and adds their parameters to `parameters`.
    ///
    /// # Errors
    /// [`TraceError`] if a parameter has two values.
    fn device_source(&self, parameters: &mut Parameters) -> Result<String, TraceError>;
}

/// The same quantities for blocks of elements.
pub trait BoundKernels<T>: Bounds {
    /// Computes, per lane, the smallest density and the smallest pressure of `n` states `u`,
    /// `[n][field][lane]`; and the product of density and pressure of the first ones, `product`, `[n][lane]`.
    fn least(&self, level: SimdLevel, n: usize, u: &[T], least: [&mut [T]; 2], product: &mut [T]);
}

/// The [`BoundKernels`] of a law.
#[derive(Clone, Copy, Debug)]
pub struct BoundsOf<L, const D: usize, const N: usize> {
    /// The law.
    pub law: L,
}

impl<L: Bounded<D, N>, const D: usize, const N: usize> Bounds for BoundsOf<L, D, N> {
    fn n_fields(&self) -> usize {
        N
    }

    fn bounded(&self, u: &[f64]) -> [f64; 3] {
        let mut state = [0.0; N];
        state.copy_from_slice(&u[..N]);
        self.law.bounded(&state)
    }

    fn device_source(&self, parameters: &mut Parameters) -> Result<String, TraceError> {
        let state = ("u", N);
        let bounded = device_fn("bounded", &[state], parameters, |a| self.law.bounded(&a.array::<N>("u")))?;
        let tangent = device_fn("tangent", &[state], parameters, |a| {
            let u = a.array::<N>("u");
            let [rho, p] = self.law.density_and_pressure(&u);
            [rho, p].into_iter().chain(self.law.pressure_gradient(&u))
        })?;
        let remainder = device_fn("remainder", &[state, ("delta", N)], parameters, |a| {
            [self.law.pressure_remainder(&a.array::<N>("u"), &a.array::<N>("delta"))]
        })?;
        Ok(format!("{bounded}{tangent}{remainder}"))
    }
}

/// Result of the last use of a limiter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limited {
    /// Share of the elements that were changed.
    pub share: f64,
    /// The smallest factor of all elements.
    pub least: f64,
}

/// A limiter with its tables and work space.
pub(crate) struct Limiter<T: Element> {
    pub(crate) limiting: Limiting,
    pub(crate) law: Box<dyn BoundKernels<T>>,
    /// Per group and part.
    pub(crate) tables: Vec<Vec<Tables>>,
    blocks: Vec<Vec<BlockTables<T>>>,
    /// Per group, `[slot][face]`; see `across.rs`.
    pub(crate) across: Vec<Vec<u32>>,
    /// Per group, for slopes by vertices: neighbours of each slot, with the index of the first one.
    pub(crate) vertices: Vec<(Vec<u32>, Vec<u32>)>,
    /// Per group, the factor of each slot in the last use; 1 for elements that were not changed.
    pub(crate) factors: Vec<Vec<f32>>,
    /// Slopes: per group, `[slot][field]`.
    means: Vec<Vec<f64>>,
    /// What the limiter needs of elements of other ranks: entropy and extrema of the density, or means.
    abroad: Option<ElementHalo>,
    /// Work space of each thread, for an element and for its neighbours.
    work: Vec<Mutex<[Work; 2]>>,
    /// Work space of each thread, for a block.
    screens: Vec<Mutex<Screen<T>>>,
}

impl<T: PackScalar> Limiter<T> {
    pub(crate) fn new(
        limiting: Limiting,
        law: Box<dyn BoundKernels<T>>,
        (mesh, groups, connectivity): (
            &dgsuite_mesh::Mesh,
            &[Group<T>],
            &crate::space::connect::Connectivity,
        ),
        (threads, level): (usize, SimdLevel),
    ) -> Result<Self, OpsError> {
        let tables: Vec<Vec<Tables>> =
            groups.iter().map(|g| g.parts.iter().map(|p| Tables::new(g, p)).collect()).collect();
        let slots = |g: &Group<T>| g.state.blocks * g.state.lanes;
        let by_vertices = limiting == Limiting::Slopes(Neighbourhood::Vertices);
        let slopes = matches!(limiting, Limiting::Slopes(_));
        let fields = law.n_fields();
        let blocks = groups
            .iter()
            .zip(&tables)
            .map(|(g, t)| g.parts.iter().zip(t).map(|(_, t)| BlockTables::new(g, t, level)).collect())
            .collect();
        let screens: Result<_, OpsError> =
            (0..threads.max(1)).map(|_| Ok(Mutex::new(Screen::new(groups)?))).collect();
        let means = groups.iter().map(|g| if slopes { vec![0.0; slots(g) * fields] } else { Vec::new() });
        Ok(Self {
            screens: screens?,
            blocks,
            across: across(mesh, groups, connectivity),
            vertices: if by_vertices { vertex_neighbours(mesh, groups) } else { Vec::new() },
            factors: groups.iter().map(|g| vec![1.0; slots(g)]).collect(),
            means: means.collect(),
            abroad: None,
            work: (0..threads.max(1))
                .map(|_| Mutex::new([Work::new(&tables, fields), Work::new(&tables, fields)]))
                .collect(),
            limiting,
            law,
            tables,
        })
    }
}

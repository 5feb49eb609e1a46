//! Elliptic problems by the symmetric interior penalty method, matrix-free on the CPU.
//!
//! [`Sipdg`] discretises the screened Poisson equation
//!
//! ```text
//! −∇·(κ ∇u) + λ u = f,   κ > 0, λ ≥ 0,
//! ```
//!
//! with nodal polynomials of order p on every shape, affine and curved: with jumps `[v] = v⁻ − v⁺` and the
//! normal from minus to plus,
//!
//! ```text
//! a(u, v) = Σ_E ∫ κ ∇u·∇v + λ u v + Σ_f ∫ κ_f ( τ [u][v] − [v] {∂u/∂n} − [u] {∂v/∂n} )
//! ```
//!
//! (Arnold 1982). `{·}` is the mean of both sides. The coefficient of a face is the harmonic mean
//! `κ_f = 2 κ⁻ κ⁺ / (κ⁻ + κ⁺)` of its two sides at each point. This is equivalent to the mean of the fluxes
//! `κ ∂u/∂n` with weights `κ⁺ / (κ⁻ + κ⁺)` and `κ⁻ / (κ⁻ + κ⁺)`, whose constants do not depend on the
//! contrast (Ern, Stephansen & Zunino 2009).
//!
//! **Penalty.** `τ = penalty · max over both sides of C |f| / |E|`, where C is the smallest constant of the
//! trace inequality `∫_f v² ≤ C |f|/|E| ∫_E v²` for functions of order p: `(p + 1)(p + 2)/2` on triangles,
//! `(p + 1)(p + 3)/3` on tetrahedra (Warburton & Hesthaven 2003; Shahbazi 2005), `(p + 1)²` on quadrilaterals
//! and hexahedra, computed numerically for prisms and pyramids. On curved elements `|f|/|E|` is the largest
//! `sJ/J` at the points of the face, times the ratio of the reference measures. With the factor ½, small
//! meshes of each shape, sheared and curved, have positive definite matrices, except sheared pyramids of
//! order 3 and mixtures with pyramids stretched by 5, for which the factor 0.7 suffices. Factors below ½ are
//! rejected.
//!
//! **Boundaries** are imposed by ghost states with the same normal derivative: `u⁺ = 2g − u⁻` where `u = g`
//! is prescribed, so that the penalty of a Dirichlet face counts twice, and `u⁺ = u⁻` where the flux is
//! prescribed.
//!
//! **Nodes** are warp & blend nodes on simplices, Gauss points along lines (quadrilaterals, hexahedra, and
//! the line of prisms), and equispaced nodes on pyramids. Products of two functions are integrated exactly on
//! affine elements.
//!
//! A vector of the operator is `[block][node][lane]`, group after group. Lanes that only fill up a block have
//! rows of the identity and zeros in right-hand sides.
//!
//! How `A u` is evaluated depends on the elements: in Bernstein form for groups of affine simplices with
//! constant coefficients (`elliptic/bernstein.rs`), along lines of nodes for quadrilaterals and hexahedra
//! (`elliptic/lines.rs`, and `elliptic/lines/boxes.rs` for boxes), and by dense products otherwise
//! (`elliptic/apply.rs`).
//!
//! ```
//! use dgsuite_gpu::Host;
//! use dgsuite_mesh::{Shape, generate::Box as Square};
//! use dgsuite_ops::{EllipticBoundary, Sipdg, SipdgOptions};
//! use std::sync::Arc;
//!
//! let mesh = Arc::new(Square::unit(Shape::Triangle, 4).build()?);
//! let boundaries: Vec<_> =
//!     ["xmin", "xmax", "ymin", "ymax"].map(|n| (n.to_owned(), EllipticBoundary::Dirichlet)).into();
//! let host = Arc::new(Host::new(1)?);
//! let a = Sipdg::<f64>::new(mesh, &SipdgOptions::new(2), &|_, _| 1.0, &|_, _| 0.0, &boundaries, host)?;
//! let u = a.project(&|_, x| x[0]);
//! let mut au = vec![0.0; a.len()];
//! a.apply(&u, &mut au);
//! let g = |_: usize, x: [f64; 3]| x[0];
//! let b = a.right_hand_side(&|_, _| 0.0, &[&g, &g, &g, &g]);
//! assert!(au.iter().zip(&b).all(|(x, y)| (x - y).abs() < 1e-12)); // a linear function is solved exactly
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod apply;
mod assemble;
pub(crate) mod bernstein;
mod block_jacobi;
mod boundary_points;
mod coefficient;
mod continuous;
pub(crate) mod device;
mod field;
mod flux_points;
mod foreign;
mod functions;
mod linelets;
pub(crate) mod lines;
mod mass;
mod part;
mod places;
pub(crate) mod point_kernels;
mod reaction;
pub(crate) mod reflections;
mod schedule;
pub(crate) mod simplex;
mod space;
mod tables;
mod transfer;

pub use assemble::CompressedRows;
pub use block_jacobi::BlockInverse;
pub use boundary_points::above::{PointsAbove, SharedPlaces};
pub use boundary_points::{BoundaryPoints, Triplet};
pub use continuous::VertexInterpolation;
pub use field::{EllipticErrors, Force, ForceTables};
pub use flux_points::FluxPoints;

pub(crate) use linelets::Conforming;
pub use linelets::{LineletInverse, LineletSummary, Linelets};
pub use places::elliptic_places;
pub(crate) use reaction::check_factor;
pub use space::gathering::Gathering;
pub use space::ranks::EllipticRanks;
pub(crate) use space::ranks::Entries;
pub use transfer::PTransfer;

use crate::error::OpsError;
use crate::lanes::simd::{PackScalar, checked};
use crate::rhs::ranks::agree;
use apply::Scratch;
use coefficient::Coefficient;
use dgsuite_basis::lattice::lattice_len;
use dgsuite_gpu::{Buffer, Element, Host, SimdLevel, Summation};
use dgsuite_mesh::{CUT, Mesh};
use foreign::ForeignLanes;
use mass::Mass;
use part::PartOperator;
use schedule::{Schedule, Sizes};
use space::ranks::{Kind, Refresh};
use space::{Beyond, Problem, Space};
use std::sync::{Arc, Mutex, OnceLock};

/// The highest polynomial order of an elliptic operator.
pub const MAX_ORDER: usize = 10;

/// The smallest factor of the penalty that is accepted.
pub const MIN_PENALTY: f64 = 0.5;

/// A function of the element (numbered as in the mesh) and the position.
pub type Field<'a> = dyn Fn(usize, [f64; 3]) -> f64 + Sync + 'a;

/// A function of the element, the position on its boundary and the outward unit normal there, for data of a
/// boundary.
pub type BoundaryField<'a> = dyn Fn(usize, [f64; 3], [f64; 3]) -> f64 + Sync + 'a;

/// A gradient as a function of the element and the position.
pub type GradientField<'a> = dyn Fn(usize, [f64; 3]) -> [f64; 3] + Sync + 'a;

/// The condition of a boundary, with data g.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EllipticBoundary {
    /// `u = g`.
    Dirichlet,
    /// `κ ∂u/∂n = g`.
    Neumann,
    /// `κ ∂u/∂n + α u = g`.
    Robin {
        /// α ≥ 0.
        alpha: f64,
    },
}

/// Options of the method.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SipdgOptions {
    /// Polynomial order, 1 to [`MAX_ORDER`].
    pub order: usize,
    /// Factor of the penalty, at least [`MIN_PENALTY`]. The default 1 is safe. Smaller factors lead to better
    /// conditioned operators: 0.7 was positive definite on every mesh tested.
    pub penalty: f64,
}

impl SipdgOptions {
    /// The options with the default penalty, for the given order.
    #[must_use]
    pub const fn new(order: usize) -> Self {
        Self { order, penalty: 1.0 }
    }
}

/// The operator of a screened Poisson problem on a mesh, see the [module](self).
pub struct Sipdg<T: Element> {
    space: Space<T>,
    level: SimdLevel,
    /// `[group][part]`.
    operators: Vec<Vec<PartOperator<T>>>,
    /// By group.
    foreign: Vec<ForeignLanes<T>>,
    /// By group.
    schedules: Vec<Schedule<1>>,
    /// By group and block: whether another group reads the published values of the block.
    read_by_others: Vec<Vec<bool>>,
    /// By group: the values that other groups read, `[block][u, p][face point][lane]`; empty if there are no
    /// other groups.
    published: Mutex<Vec<Buffer<T>>>,
    scratch: Vec<Mutex<Scratch<T>>>,
    mass: OnceLock<Mass<T>>,
    /// Brings results of elements of other ranks.
    refresh: Option<Refresh>,
    /// By group and block: whether results of the block come from other ranks; empty on one rank.
    idle: Vec<Vec<bool>>,
}

impl<T: PackScalar> Sipdg<T> {
    /// Sets up the operator. `boundaries` binds the conditions to the boundaries of the mesh by name; a
    /// boundary without faces needs none. `kappa` and `lambda` are projected, in each element, to polynomials
    /// of the given order (constants remain unchanged).
    ///
    /// # Errors
    /// [`OpsError::Elliptic`] for an order, penalty or α out of range, [`OpsError::Coefficient`] if a
    /// coefficient is not admissible, [`OpsError::BoundaryWithoutCondition`], [`OpsError::Jacobian`], and
    /// errors of memory allocation.
    pub fn new(
        mesh: Arc<Mesh>,
        options: &SipdgOptions,
        kappa: &Field<'_>,
        lambda: &Field<'_>,
        boundaries: &[(String, EllipticBoundary)],
        host: Arc<Host>,
    ) -> Result<Self, OpsError> {
        Self::with(mesh, (options, options.order), [kappa, lambda], boundaries, host, None)
    }

    /// The operator of another order for the problem of [`new`](Self::new), with its coefficients: that of
    /// [`at_order`](Self::at_order), without setting up the operator of the problem's order.
    ///
    /// # Errors
    /// As for [`new`](Self::new) and [`at_order`](Self::at_order).
    pub fn at(
        mesh: Arc<Mesh>,
        (options, order): (&SipdgOptions, usize),
        kappa: &Field<'_>,
        lambda: &Field<'_>,
        boundaries: &[(String, EllipticBoundary)],
        host: Arc<Host>,
    ) -> Result<Self, OpsError> {
        check_order(order)?;
        Self::with(mesh, (options, order), [kappa, lambda], boundaries, host, None)
    }

    /// Sets up the operator on several ranks, on each for its share. Functions of elements are called with
    /// the numbers of the rank's mesh. Collective.
    ///
    /// # Errors
    /// As for [`new`](Self::new), and errors of the communication.
    pub fn on_ranks(
        ranks: &Arc<EllipticRanks>,
        options: &SipdgOptions,
        kappa: &Field<'_>,
        lambda: &Field<'_>,
        boundaries: &[(String, EllipticBoundary)],
        host: Arc<Host>,
    ) -> Result<Self, OpsError> {
        let mut all = boundaries.to_vec();
        all.push((CUT.to_owned(), EllipticBoundary::Neumann));
        let ranks = Arc::clone(ranks);
        let options = (options, options.order);
        Self::with(Arc::clone(ranks.mesh()), options, [kappa, lambda], &all, host, Some(ranks))
    }

    fn with(
        mesh: Arc<Mesh>,
        (options, at): (&SipdgOptions, usize),
        [kappa, lambda]: [&Field<'_>; 2],
        boundaries: &[(String, EllipticBoundary)],
        host: Arc<Host>,
        ranks: Option<Arc<EllipticRanks>>,
    ) -> Result<Self, OpsError> {
        check_order(options.order)?;
        let refuse = |reason: String| Err(OpsError::Elliptic { reason });
        if !(options.penalty >= MIN_PENALTY && options.penalty.is_finite()) {
            return refuse(format!(
                "the penalty factor is {}, and has to be at least {MIN_PENALTY}",
                options.penalty
            ));
        }
        if mesh.n_elements() == 0 {
            return Err(OpsError::Empty);
        }
        for (name, condition) in boundaries {
            if let EllipticBoundary::Robin { alpha } = condition
                && !(*alpha >= 0.0 && alpha.is_finite())
            {
                return refuse(format!(
                    "alpha = {alpha} of boundary \"{name}\" has to be finite and not negative"
                ));
            }
        }
        let mut condition = Vec::new();
        for (tag, faces) in mesh.boundaries.iter().zip(mesh.boundary_counts()) {
            let found = boundaries.iter().position(|(name, _)| *name == tag.name);
            if found.is_none() && faces > 0 {
                return Err(OpsError::BoundaryWithoutCondition { name: tag.name.clone() });
            }
            condition.push(found);
        }
        let order = options.order;
        let on = ranks.as_deref();
        let kappa = Coefficient::new("kappa", &mesh, order, kappa, &host)?.on(on)?;
        let lambda = Coefficient::new("lambda", &mesh, order, lambda, &host)?.on(on)?;
        let (options, boundaries) = (*options, boundaries.to_vec());
        let packings = crate::space::packing::Packings::default();
        let lines = Arc::new(OnceLock::new());
        let problem =
            Problem { mesh, host, options, kappa, lambda, boundaries, condition, packings, ranks, lines };
        Self::of_problem(Arc::new(problem), at, None)
    }

    /// The operator of a problem, with the penalty of another order if its trace constants are given.
    fn of_problem(problem: Arc<Problem>, order: usize, trace: Option<&[f64]>) -> Result<Self, OpsError> {
        let level = checked(problem.host.simd());
        let host = Arc::clone(&problem.host);
        let ranks = problem.ranks.clone();
        let space = Space::<T>::new(problem, order, level);
        let mut space = match &ranks {
            Some(ranks) => agree(ranks.joint().comm().as_ref(), space)?,
            None => space?,
        };
        if let Some(trace) = trace {
            space.trace = trace.to_vec();
        }
        let of_part = |g: usize, p: usize| part::coefficients(&space, g, p);
        let of_group = |g: usize| (0..space.groups[g].parts.len()).map(|p| of_part(g, p)).collect();
        let found: Vec<Vec<(_, Kind)>> =
            (0..space.groups.len()).map(of_group).collect::<Result<_, OpsError>>()?;
        let mut kinds: Vec<Vec<Kind>> =
            found.iter().map(|parts| parts.iter().map(|(_, kind)| *kind).collect()).collect();
        space.agree(&mut kinds)?;
        let mut operators = Vec::new();
        for (g, (found, kinds)) in found.into_iter().zip(kinds).enumerate() {
            let parts = found.into_iter().zip(kinds).enumerate();
            let part = |(p, ((found, _), kind))| PartOperator::new(&space, [g, p], level, (found, kind));
            operators.push(parts.map(part).collect::<Result<Vec<_>, OpsError>>()?);
        }
        let foreign: Vec<ForeignLanes<T>> =
            (0..operators.len()).map(|g| ForeignLanes::new(&space, g)).collect();
        let meets: Vec<bool> = foreign.iter().map(ForeignLanes::meets_others).collect();
        for (g, meets) in space.meet_others(&meets)?.into_iter().enumerate() {
            if space.is_uniform(g) && !meets {
                let lanes = space.groups[g].state.lanes;
                operators[g][0].change_form(&space.tables[g][0], (level, lanes))?;
            }
        }
        let several = space.groups.len() > 1;
        let published = space
            .groups
            .iter()
            .map(|g| Buffer::zeros_on(&host, if several { 2 * g.trace.len() } else { 0 }))
            .collect::<Result<_, _>>()?;
        let mut read_by_others: Vec<Vec<bool>> =
            space.groups.iter().map(|g| vec![false; g.state.blocks]).collect();
        for (group, block) in foreign.iter().flat_map(|m| m.read_blocks(&space)) {
            read_by_others[group][block] = true;
        }
        let uniform: Vec<bool> = (0..space.groups.len()).map(|g| space.is_uniform(g)).collect();
        let schedules: Vec<Schedule<1>> = space
            .groups
            .iter()
            .zip(uniform)
            .zip(&mut space.connectivity.neighbours)
            .zip(&mut operators)
            .map(|(((g, uniform), n), parts)| {
                if let [part] = &mut parts[..]
                    && uniform
                    && part.rectangular
                {
                    part.meet(n, &g.face_offsets, g.state.lanes);
                    return Schedule::default();
                }
                let (blocks, threads) = (g.state.blocks, host.n_threads());
                if let Some(form) = &mut parts[0].bernstein {
                    form.meet(n, g.state.lanes, (blocks, threads));
                    return Schedule::default();
                }
                let bytes = parts[0].published_len(&g.trace) * size_of::<T>();
                Schedule::new(n, &Sizes { blocks, n_faces: g.shape.n_faces(), bytes, threads })
            })
            .collect();
        let scratch = (0..host.n_threads())
            .map(|_| Scratch::new(&space.groups, &operators, &schedules).map(Mutex::new))
            .collect::<Result<_, _>>()?;
        let published = Mutex::new(published);
        let mass = OnceLock::new();
        let refresh = ranks.map(|ranks| Refresh::new(&space, &ranks)).transpose()?;
        let idle = space.foreign_blocks();
        Ok(Self {
            space,
            level,
            operators,
            foreign,
            schedules,
            read_by_others,
            published,
            scratch,
            mass,
            refresh,
            idle,
        })
    }

    /// The operator of the same problem for another order.
    ///
    /// # Errors
    /// [`OpsError::Elliptic`] for an order out of range, [`OpsError::Coefficient`] if a coefficient is not
    /// admissible at the points of that order, and errors of memory allocation.
    pub fn at_order(&self, order: usize) -> Result<Self, OpsError> {
        check_order(order)?;
        Self::of_problem(Arc::clone(&self.space.problem), order, None)?.with_lambda(self.lambda_factor())
    }

    /// The operator of the same problem for a lower order, with the penalty of this order. With the
    /// interpolation P of [`transfer`](Self::transfer) it is `Pᵀ A P`, if elements are affine, none is a
    /// pyramid, and coefficients are constant in each of them.
    ///
    /// # Errors
    /// [`OpsError::Elliptic`] for an order that is higher than that of this operator, otherwise as for
    /// [`at_order`](Self::at_order).
    pub fn at_lower_order(&self, order: usize) -> Result<Self, OpsError> {
        check_order(order)?;
        if order > self.space.order {
            let reason = format!("order {order} is not lower than {}", self.space.order);
            return Err(OpsError::Elliptic { reason });
        }
        let problem = Arc::clone(&self.space.problem);
        Self::of_problem(problem, order, Some(&self.space.trace))?.with_lambda(self.lambda_factor())
    }

    /// The same operator in single precision.
    ///
    /// # Errors
    /// Errors of memory allocation.
    pub fn single(&self) -> Result<Sipdg<f32>, OpsError> {
        Sipdg::of_problem(Arc::clone(&self.space.problem), self.space.order, Some(&self.space.trace))?
            .with_lambda(self.lambda_factor())
    }

    /// Length of a vector, padding included.
    #[must_use]
    #[allow(clippy::len_without_is_empty)] // a mesh without elements is refused
    pub fn len(&self) -> usize {
        self.space.len()
    }

    /// Number of unknowns; on several ranks that of all of them.
    #[must_use]
    pub fn dofs(&self) -> usize {
        let of_set = |set: &dgsuite_mesh::ElementSet| set.len() * lattice_len(set.shape, self.space.order);
        self.whole_mesh().sets.iter().map(of_set).sum()
    }

    /// This rank's share, if there are several.
    #[must_use]
    pub fn ranks(&self) -> Option<&Arc<EllipticRanks>> {
        self.space.problem.ranks.as_ref()
    }

    /// How vectors are summed: by element, over all ranks.
    #[must_use]
    pub fn summation(&self) -> Arc<Summation> {
        Arc::new(self.space.summation())
    }

    /// The number of unknowns of the largest element of the whole mesh.
    #[must_use]
    pub fn largest_element(&self) -> usize {
        let of = |shape| lattice_len(shape, self.order());
        self.whole_mesh().sets.iter().map(|set| of(set.shape)).max().unwrap_or(0)
    }

    /// Whether this rank counts an element in sums.
    pub(crate) fn counts(&self, element: usize) -> bool {
        self.space.counts(element)
    }

    /// The entries of an element in a vector.
    pub(crate) fn entries(&self, element: usize) -> Entries {
        self.space.entries(element)
    }

    /// Replaces the entries of elements of other ranks by theirs. Functions that couple elements do it
    /// themselves; inverses of blocks and of linelets need it afterwards. Collective.
    ///
    /// # Panics
    /// If the vector does not have [`len`](Self::len) entries.
    pub fn refresh(&self, vector: &mut [T]) {
        assert!(vector.len() == self.len(), "vectors of {} entries", self.len());
        if let Some(refresh) = &self.refresh {
            refresh.run(vector);
        }
    }

    /// Polynomial order.
    #[must_use]
    pub fn order(&self) -> usize {
        self.space.order
    }

    /// Memory in bytes: geometry, matrices, tables of neighbours and published values.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let operators: usize = self.operators.iter().flatten().map(PartOperator::bytes).sum();
        let published: usize = if self.space.groups.len() > 1 {
            self.space.groups.iter().map(|g| 2 * g.trace.len() * size_of::<T>()).sum()
        } else {
            0
        };
        let neighbours: usize = self.space.connectivity.neighbours.iter().map(|n| n.bytes()).sum();
        operators + published + neighbours
    }

    /// Multiply–adds of [`apply`](Self::apply) in products with reference matrices, which are nearly all of
    /// its arithmetic.
    #[must_use]
    pub fn multiply_adds(&self) -> usize {
        let of_group = |g: usize| -> usize {
            let (group, parts) = (&self.space.groups[g], &self.operators[g]);
            let own: usize =
                parts.iter().zip(&group.parts).map(|(o, p)| o.multiply_adds() * p.n_elements).sum();
            // All lanes of a neighbouring block are multiplied.
            let donors = || self.donors_across(g) * group.state.lanes;
            own + self.boxes(g).map_or(0, |lines| donors() * lines.multiply_adds_of_donor())
        };
        (0..self.operators.len()).map(of_group).sum()
    }

    /// The whole mesh; without several ranks it is [`mesh`](Self::mesh).
    #[must_use]
    pub fn whole_mesh(&self) -> &Arc<Mesh> {
        self.ranks().map_or_else(|| self.mesh(), |ranks| ranks.whole())
    }

    /// The factor of the penalty.
    #[must_use]
    pub fn penalty(&self) -> f64 {
        self.space.problem.options.penalty
    }

    /// The mesh; on several ranks that of this one.
    #[must_use]
    pub fn mesh(&self) -> &Arc<Mesh> {
        &self.space.problem.mesh
    }

    /// The machine on which the operator runs.
    #[must_use]
    pub fn host(&self) -> &Arc<Host> {
        &self.space.problem.host
    }

    /// Whether constants are in the null space: neither Dirichlet nor Robin boundaries, and λ = 0.
    #[must_use]
    pub fn is_singular(&self) -> bool {
        let problem = &self.space.problem;
        problem.lambda.is_zero()
            && self.whole_mesh().boundary_counts().iter().enumerate().all(|(b, &faces)| {
                faces == 0
                    || match problem.boundary(b as u32) {
                        EllipticBoundary::Dirichlet => false,
                        EllipticBoundary::Neumann => true,
                        EllipticBoundary::Robin { alpha } => alpha == 0.0,
                    }
            })
    }
}

fn check_order(order: usize) -> Result<(), OpsError> {
    if (1..=MAX_ORDER).contains(&order) {
        return Ok(());
    }
    Err(OpsError::Elliptic { reason: format!("the order is {order}, and has to be 1 to {MAX_ORDER}") })
}

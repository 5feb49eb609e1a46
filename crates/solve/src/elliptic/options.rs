//! The options of the linear solver.

use dgsuite_amg::{AmgOptions, Coarsening, Cycle, Smoother, Strength};
use dgsuite_basis::Shape;
use dgsuite_mesh::Mesh;
use dgsuite_ops::PackScalar;
use dgsuite_ops::elliptic::Sipdg;

use super::shapes::{is_of_tensors, is_simplicial, is_stretched, is_thin};
use crate::device::Device;
use crate::precision::Precision;

/// The preconditioner of conjugate gradients.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preconditioning {
    /// p-multigrid down to order 1, then algebraic multigrid on its matrix.
    #[default]
    PmgAmg,
    /// Algebraic multigrid on the matrix of the full order.
    Amg,
    /// The inverse mass matrix.
    Mass,
    /// The inverse diagonal.
    Jacobi,
    /// None.
    None,
}

impl Preconditioning {
    /// The values of the key in the pipeline file.
    pub const WORDS: [(&'static str, Self); 5] = [
        ("pmg-amg", Self::PmgAmg),
        ("amg", Self::Amg),
        ("mass", Self::Mass),
        ("jacobi", Self::Jacobi),
        ("none", Self::None),
    ];

    /// The value of the key in the pipeline file.
    #[must_use]
    pub fn word(self) -> &'static str {
        word_of(&Self::WORDS, self)
    }

    /// Whether it has levels.
    #[must_use]
    pub const fn is_multigrid(self) -> bool {
        matches!(self, Self::PmgAmg | Self::Amg)
    }
}

/// The smoother on each level, before and after the correction from the coarser one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SmootherKind {
    /// Chebyshev polynomial in `D⁻¹ A` on the upper part of its spectrum.
    Chebyshev,
    /// Chebyshev polynomial of the fourth kind, for all of the spectrum (Lottes 2023).
    #[default]
    Chebyshev4,
    /// Damped Jacobi sweeps.
    Jacobi,
    /// Chebyshev polynomial of the fourth kind with the inverses of the element blocks instead of the
    /// diagonal. With the polynomial of the first kind it takes 166 instead of 145 iterations on
    /// quadrilaterals of order 4 stretched by 100, 16 instead of 15 on a mesh of all shapes, and 12 instead
    /// of 13 on square ones.
    BlockJacobi,
    /// Chebyshev polynomial of the fourth kind with point Jacobi, on quadrilaterals, hexahedra and prisms in
    /// the Gauss–Lobatto basis, reduced solves along linelets where elements are stretched, and elsewhere, on
    /// meshes with other shapes than quadrilaterals and hexahedra, the diagonal of the continuous functions.
    Linelets,
}

impl SmootherKind {
    /// The values of the key in the pipeline file.
    pub const WORDS: [(&'static str, Self); 5] = [
        ("chebyshev", Self::Chebyshev),
        ("chebyshev4", Self::Chebyshev4),
        ("jacobi", Self::Jacobi),
        ("block-jacobi", Self::BlockJacobi),
        ("linelets", Self::Linelets),
    ];

    /// The value of the key in the pipeline file.
    #[must_use]
    pub fn word(self) -> &'static str {
        word_of(&Self::WORDS, self)
    }

    /// Returns a suitable smoother for levels of p-multigrid: linelets where elements are thin. On square
    /// elements the diagonal takes 10 to 15 iterations to 1e-8 at orders 1 to 7; with an aspect ratio of 100
    /// it takes 130 to 330 on quadrilaterals and triangles of orders 2 to 4, and linelets take 6 to 10.
    ///
    /// The nodal functions of pyramids, whose nodes
    /// are equispaced, are ill conditioned at higher orders, and the diagonal does not improve this: 162
    /// pyramids of orders 3 to 6 take 18 23 44 72 iterations to 1e-8 with the diagonal, and 13 11 14 13 with
    /// blocks, in the same time at order 3 and in less at order 6.
    #[must_use]
    pub fn suited(order: usize, mesh: &Mesh) -> Self {
        let pyramids = mesh.sets.iter().any(|set| set.shape == Shape::Pyramid && !set.is_empty());
        match pyramids && order >= BLOCKS_ON_PYRAMIDS {
            true => Self::BlockJacobi,
            false if is_thin(mesh) => Self::Linelets,
            false => Self::default(),
        }
    }

    /// The same on a device. Linelets are the default at higher orders also where no element is thin, for
    /// what comes with them.
    ///
    /// On quadrilaterals and hexahedra alone this is the diagonal in the Gauss–Lobatto basis: at orders 3, 5
    /// and 7 hexahedra take 9, 10 and 8 iterations instead of 13, 20 and 20. A step of the smoother changes
    /// the basis twice, which on GPUs costs as much as it saves up to order 4 (24³ hexahedra on an H200,
    /// orders 4, 5 and 7: 8, 12 and 24 ms instead of 7, 15 and 32).
    ///
    /// On other shapes it is the diagonal of continuous functions: on an H200, 82,944 tetrahedra of orders 2
    /// to 6 take 11, 12, 12, 14 and 18 iterations instead of 21, 22, 24, 24 and 28, and 6, 10, 17, 38 and
    /// 196 ms instead of 9, 13, 24, 52 and 276; 27,648 prisms 8, 9, 9, 9 and 10 instead of 13, 16, 14, 16 and
    /// 18, and 9, 23, 47, 113 and 263 ms instead of 12, 36, 62, 180 and 434. Triangles save one to two
    /// iterations of 9 to 12, which on GPUs and up to order 6 on CPUs cost as much.
    fn suited_on(device: Device, order: usize, mesh: &Mesh) -> Self {
        let on_gpu = usize::from(matches!(device, Device::Cuda(_)));
        let least = match (is_of_tensors(mesh), mesh.dim) {
            (true, _) => LOBATTO[on_gpu],
            (false, 3) => CONTINUOUS,
            (false, _) => CONTINUOUS_IN_2D[on_gpu],
        };
        match Self::suited(order, mesh) {
            suited if suited == Self::default() && order >= least => Self::Linelets,
            suited => suited,
        }
    }
}

/// The order from which meshes with pyramids are smoothed by blocks.
const BLOCKS_ON_PYRAMIDS: usize = 3;

/// The orders from which the Gauss–Lobatto basis pays on quadrilaterals and hexahedra, on CPUs and on GPUs.
const LOBATTO: [usize; 2] = [3, 5];

/// The orders from which the diagonal of continuous functions pays on other meshes, in space and, on CPUs and
/// on GPUs, in the plane.
const CONTINUOUS: usize = 2;
const CONTINUOUS_IN_2D: [usize; 2] = [7, usize::MAX];

/// Multiples of the usual penalty above this need other levels.
const LARGE_PENALTY: f64 = 3.0;

/// Whether linelets come with the diagonal of the continuous functions for an operator.
pub(super) fn with_continuous<T: PackScalar>(a: &Sipdg<T>) -> bool {
    a.penalty() > LARGE_PENALTY || !is_of_tensors(a.whole_mesh())
}

/// The orders of the levels of p-multigrid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Orders {
    /// Halved from level to level: 8 4 2 1.
    #[default]
    Half,
    /// One less from level to level: 4 3 2 1.
    MinusOne,
}

impl Orders {
    /// The values of the key in the pipeline file.
    pub const WORDS: [(&'static str, Self); 2] = [("half", Self::Half), ("minus-one", Self::MinusOne)];

    /// The value of the key in the pipeline file.
    #[must_use]
    pub fn word(self) -> &'static str {
        word_of(&Self::WORDS, self)
    }

    /// Returns suitable orders for a smoother on a mesh, on the CPU. On tetrahedra, point smoothers leave
    /// error components to the next level that half of the order cannot represent: 1,296 tetrahedra of orders
    /// 3 to 6 take 13 12 19 25 iterations to 1e-8 with halved orders and 9 9 10 13 with all orders, which
    /// is 0.89 to 1.02 of the products with the operator.
    #[must_use]
    pub fn suited(smoother: SmootherKind, mesh: &Mesh) -> Self {
        let tetrahedra = mesh.sets.iter().any(|set| set.shape == Shape::Tetrahedron && !set.is_empty());
        match tetrahedra && smoother != SmootherKind::BlockJacobi {
            true => Self::MinusOne,
            false => Self::Half,
        }
    }

    /// Returns the orders of the levels, from `order` to 1.
    ///
    /// ```
    /// use dgsuite_solve::elliptic::Orders;
    /// assert_eq!(Orders::Half.levels(7), [7, 3, 1]);
    /// assert_eq!(Orders::MinusOne.levels(3), [3, 2, 1]);
    /// ```
    #[must_use]
    pub fn levels(self, order: usize) -> Vec<usize> {
        let next = |&p: &usize| match (p, self) {
            (0 | 1, _) => None,
            (p, Self::Half) => Some(p / 2),
            (p, Self::MinusOne) => Some(p - 1),
        };
        std::iter::successors(Some(order), next).collect()
    }
}

/// The space of algebraic multigrid, below the levels of p-multigrid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CoarseSpace {
    /// The continuous functions of order 1, one unknown at each vertex; order 1 is a level of p-multigrid.
    Continuous,
    /// All functions of order 1.
    #[default]
    Discontinuous,
}

impl CoarseSpace {
    /// The values of the key in the pipeline file.
    pub const WORDS: [(&'static str, Self); 2] =
        [("continuous", Self::Continuous), ("discontinuous", Self::Discontinuous)];

    /// The value of the key in the pipeline file.
    #[must_use]
    pub fn word(self) -> &'static str {
        word_of(&Self::WORDS, self)
    }
}

fn word_of<T: Copy + PartialEq>(words: &[(&'static str, T)], value: T) -> &'static str {
    words.iter().find(|(_, v)| *v == value).map_or("", |(word, _)| word)
}

/// The value of the key in the pipeline file for an aggregation.
const fn aggregation_word(aggregation: Coarsening) -> &'static str {
    match aggregation {
        Coarsening::PAIRWISE_STRICT => "pairwise-strict",
        Coarsening::Pairwise { .. } => "pairwise",
        Coarsening::IndependentSets { strength: Strength::Symmetric(_) } => "independent-sets",
        Coarsening::IndependentSets { strength: Strength::NegativeMaximum(_) } => "independent-sets-negative",
        Coarsening::SmoothedAggregation { .. } => "smoothed",
    }
}

/// The linear solver: conjugate gradients with a preconditioner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SolverOptions {
    /// The preconditioner.
    pub preconditioner: Preconditioning,
    /// Ratio of the last residual's norm to that of the first.
    pub tolerance: f64,
    /// Largest number of iterations.
    pub max_iterations: usize,
    /// Order in which the assembled levels are visited; the levels of p-multigrid form a V-cycle. `None`:
    /// chosen by the aggregation.
    pub cycle: Option<Cycle>,
    /// Smoother of all levels. `None`: chosen by shapes and order.
    pub smoother: Option<SmootherKind>,
    /// Degree or number of sweeps of the smoother: products with the operator before and after each
    /// correction. `None`: chosen by order and device.
    pub degree: Option<usize>,
    /// Orders of p-multigrid. `None`: chosen by the shapes.
    pub orders: Option<Orders>,
    /// The space of algebraic multigrid. `None`: chosen by the device.
    pub coarse_space: Option<CoarseSpace>,
    /// The aggregation of rows of the assembled levels. `None`: chosen by the shapes of the mesh.
    pub aggregation: Option<Coarsening>,
    /// Precision of multigrid. On GPUs operators in single precision may multiply rounded numbers
    /// ([`CudaSipdg::rounded`](dgsuite_ops::cuda::CudaSipdg::rounded)).
    pub inner_precision: Precision,
}

impl Default for SolverOptions {
    /// pMG-AMG with Chebyshev smoothing (fourth kind) of degree 3 in single precision; residual reduced by
    /// 10⁻⁸.
    fn default() -> Self {
        Self {
            preconditioner: Preconditioning::default(),
            tolerance: 1e-8,
            max_iterations: 500,
            cycle: None,
            smoother: None,
            degree: None,
            orders: None,
            coarse_space: None,
            aggregation: None,
            inner_precision: Precision::Single,
        }
    }
}

impl SolverOptions {
    /// Fills in the defaults for a device, an order and a mesh. On a GPU each visit of a level costs
    /// launches, however small the level, and products with stored matrices cost more than products with the
    /// operator. So order 1 is a level of p-multigrid, and the matrix below it belongs to the continuous
    /// functions, with few and small levels. The second of these levels is visited twice, because iterations
    /// grow with the mesh for V-cycles: on an H200 with four million unknowns V-cycles took 12.4 ms and 15
    /// iterations at order 1 and 15.8 ms and 13 at order 6; the default takes 10.3 ms and 11, and 15.2 ms
    /// and 12. If other levels are chosen, K-cycles end after three levels. With two, as in
    /// [`AmgOptions::on_device`], iterations grow with the mesh: a problem of order 1 with four million
    /// unknowns took 33 iterations and 141 ms; with three levels it took 12 and 58 ms.
    ///
    /// Continuous functions take many iterations on stretched elements other than simplices: 176 instead of
    /// 17 at order 1 on quadrilaterals of aspect ratio 100, each with a fifth of the work. There the default
    /// at order 1 is the matrix of order 1; at higher orders neither is better.
    ///
    /// On any device, levels of p-multigrid with pyramids are smoothed by blocks from some order on, see
    /// [`SmootherKind::suited`].
    #[must_use]
    pub fn on(self, device: Device, order: usize, mesh: &Mesh) -> Self {
        let smoother = self.smoother.unwrap_or_else(|| match self.preconditioner {
            Preconditioning::PmgAmg => SmootherKind::suited_on(device, order, mesh),
            _ => SmootherKind::default(),
        });
        let smoothed = Self { smoother: Some(smoother), ..self };
        match device {
            Device::Cpu => {
                let orders = self.orders.unwrap_or_else(|| Orders::suited(smoother, mesh));
                // Products with the operator for 1e-8 on 10,082 triangles, with degrees 3 and 4: 157 and 160
                // at order 5, 193 and 184 at order 7, 220 and 200 at order 8.
                let more = order >= 7
                    && self.preconditioner == Preconditioning::PmgAmg
                    && smoother != SmootherKind::BlockJacobi;
                let degree = self.degree.or(more.then_some(4));
                // With linelets at order 1, too, continuous functions take 6 to 9 iterations where the matrix
                // of order 1 takes 12 to 15, whatever the aspect ratio.
                let continuous = smoother == SmootherKind::Linelets
                    && self.preconditioner == Preconditioning::PmgAmg
                    && self.aggregation.is_none();
                let coarse_space = self.coarse_space.or(continuous.then_some(CoarseSpace::Continuous));
                Self { orders: Some(orders), degree, coarse_space, ..smoothed }
            }
            Device::Cuda(_) => smoothed.on_gpu(order, mesh),
        }
    }

    /// Returns the options with suitable defaults for a multiple of the usual penalty; before
    /// [`on`](Self::on).
    ///
    /// Large penalties make functions stiff that jump between elements, and coarse levels and smoother have
    /// to represent those that do not: at order 4, 100 times the penalty takes 8 iterations on squares, 9 on
    /// triangles, 7 on hexahedra, 12 on prisms and 11 on tetrahedra with the continuous space of order 1 and
    /// the diagonal of continuous functions; without both it took 132 on squares and 93 on triangles.
    #[must_use]
    pub fn for_penalty(self, penalty: f64, order: usize, mesh: &Mesh) -> Self {
        let pmg = self.preconditioner == Preconditioning::PmgAmg;
        if !pmg || penalty <= LARGE_PENALTY || self.aggregation.is_some() {
            return self;
        }
        let point = SmootherKind::suited(order, mesh) == SmootherKind::default();
        Self {
            smoother: self.smoother.or(point.then_some(SmootherKind::Linelets)),
            coarse_space: self.coarse_space.or(Some(CoarseSpace::Continuous)),
            ..self
        }
    }

    fn on_gpu(self, order: usize, mesh: &Mesh) -> Self {
        // The work of an iteration besides smoothing costs as much as some products, so more smoothing pays
        // if it saves iterations: on an H200 18.1 ms with degree 5 and 19.5 ms with 4 at order 7, 14.0 ms
        // with 4 and 15.7 ms with 3 at order 5.
        let degree = match order {
            0..=4 => 3,
            5..=6 => 4,
            _ => 5,
        };
        let point = self.smoother() != SmootherKind::Linelets;
        let coarse_space =
            self.coarse_space.unwrap_or_else(|| match order == 1 && point && is_stretched(mesh) {
                true => CoarseSpace::Discontinuous,
                false => CoarseSpace::Continuous,
            });
        let chosen = Self { coarse_space: Some(coarse_space), degree: self.degree.or(Some(degree)), ..self };
        let levels = if chosen.is_smoothed() { 1 } else { 3 };
        Self { cycle: chosen.cycle.or(Some(Cycle::K { levels })), ..chosen }
    }

    /// The smoother.
    #[must_use]
    pub fn smoother(&self) -> SmootherKind {
        self.smoother.unwrap_or_default()
    }

    /// Whether the smoother has linelets.
    #[must_use]
    pub fn has_lines(&self) -> bool {
        self.preconditioner == Preconditioning::PmgAmg && self.smoother() == SmootherKind::Linelets
    }

    /// The orders of p-multigrid.
    #[must_use]
    pub fn orders(&self) -> Orders {
        self.orders.unwrap_or_default()
    }

    /// The degree of the smoother.
    #[must_use]
    pub fn degree(&self) -> usize {
        self.degree.unwrap_or(3)
    }

    /// The space of algebraic multigrid.
    #[must_use]
    pub fn coarse_space(&self) -> CoarseSpace {
        self.coarse_space.unwrap_or_default()
    }

    /// Whether assembled levels come from smoothed aggregation, whose default is a V-cycle.
    fn is_smoothed(&self) -> bool {
        let continuous =
            self.preconditioner == Preconditioning::PmgAmg && self.coarse_space() == CoarseSpace::Continuous;
        self.aggregation.map_or(continuous, |a| matches!(a, Coarsening::SmoothedAggregation { .. }))
    }

    /// The order in which assembled levels are visited.
    #[must_use]
    pub fn cycle(&self) -> Cycle {
        self.cycle.unwrap_or(if self.is_smoothed() { Cycle::V } else { AmgOptions::default().cycle })
    }

    /// Returns the aggregation on a mesh: as chosen, or else by matrix and shapes. Matrices of continuous
    /// functions need smoothed aggregation. For other matrices on simplices, the couplings of neighbours are
    /// negative and sets of strongest neighbours are best; on other shapes there are couplings of both signs,
    /// which need pairs of controlled quality.
    #[must_use]
    pub fn aggregation_on(&self, simplices: bool) -> Coarsening {
        self.aggregation.unwrap_or(match simplices {
            _ if self.is_smoothed() => Coarsening::SMOOTHED,
            true => Coarsening::IndependentSets { strength: Strength::NegativeMaximum(0.5) },
            false => Coarsening::PAIRWISE,
        })
    }

    /// The value of the key in the pipeline file for the aggregation on a mesh.
    #[must_use]
    pub fn aggregation_word_on(&self, mesh: &Mesh) -> &'static str {
        aggregation_word(self.aggregation_on(is_simplicial(mesh)))
    }

    /// Returns the options of algebraic multigrid. A matrix has no element blocks, so with this smoother its
    /// levels are smoothed by the diagonal.
    pub(super) fn amg(&self, singular: bool, simplices: bool) -> AmgOptions {
        let default = AmgOptions::default();
        let degree = self.degree();
        let smoother = match (self.smoother(), default.smoother) {
            (SmootherKind::Chebyshev, Smoother::Chebyshev { ratio, .. }) => {
                Smoother::Chebyshev { degree, ratio }
            }
            (SmootherKind::Chebyshev, other) => other,
            (SmootherKind::Chebyshev4 | SmootherKind::BlockJacobi | SmootherKind::Linelets, _) => {
                Smoother::ChebyshevFourth { degree }
            }
            (SmootherKind::Jacobi, _) => Smoother::Jacobi { sweeps: degree },
        };
        let null_space = if singular { dgsuite_amg::NullSpace::Constant } else { default.null_space };
        let cycle = self.cycle();
        AmgOptions { coarsening: self.aggregation_on(simplices), smoother, cycle, null_space, ..default }
    }
}

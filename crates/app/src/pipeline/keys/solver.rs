//! Keys of the section `solver`: the linear solvers of Poisson's equation and of incompressible flow.

use crate::file::keys::Absent::{Nothing, Says, Value};
use crate::file::keys::Kind::{Number, Section, Whole, Words};
use crate::file::keys::Range::Below;
use crate::file::keys::{IMPLICIT, INCOMPRESSIBLE, Low, POISSON, Row, row};

/// The keys of a linear solver with a choice of preconditioners in the section `$section`; its tolerance is
/// relative to `$reference`.
macro_rules! linear {
    ($section:literal, $models:expr, $reference:literal) => {
        &[
            row(
                concat!($section, ".preconditioner"),
                &[Words(&["pmg-amg", "amg", "mass", "jacobi", "none"])],
                Value("pmg-amg"),
                "The preconditioner: p-multigrid down to order 1 and algebraic multigrid below, algebraic \
                 multigrid on the matrix of the full order, the inverse mass matrix, the inverse diagonal, or \
                 none.",
            )
            .of($models),
            row(
                concat!($section, ".tolerance"),
                &[Number(Below(Low::From(1e-15), 1.0))],
                Value("1e-8"),
                concat!("The residual at which the solver stops, relative to ", $reference, "."),
            )
            .of($models),
            row(
                concat!($section, ".max_iterations"),
                &[Whole(1, usize::MAX)],
                Value("500"),
                "The number of iterations after which the run fails.",
            )
            .of($models),
            row(
                concat!($section, ".cycle"),
                &[Words(&["v", "w", "k", "kN"])],
                Says(
                    "`v` with smoothed aggregation on the CPU, `k1` with it on a GPU; else `k` on the CPU, `k3` on \
                     a GPU",
                ),
                "The cycle over the assembled levels: V, W, or K, which iterates on each coarser level, or as `k3` \
                 on the three finest of them. Levels of p-multigrid form a V-cycle.",
            )
            .of($models),
            row(
                concat!($section, ".smoother"),
                &[Words(&["chebyshev", "chebyshev4", "jacobi", "block-jacobi", "linelets"])],
                Says(
                    "`linelets` on thin elements, from order 3 (on GPUs from 5) where all elements are \
                     quadrilaterals or hexahedra, from order 2 on other meshes in space, from order 7 on CPUs on \
                     those in the plane, and for penalties above 3; `block-jacobi` from order 3 on meshes with \
                     pyramids, else `chebyshev4`",
                ),
                "The smoother: Chebyshev polynomials of the first or fourth kind, damped Jacobi sweeps, or (for \
                 `pmg-amg`) polynomials of the fourth kind with the inverse blocks of the elements, or with the \
                 diagonal, solves along lines of thin elements, and the diagonal of continuous functions.",
            )
            .of($models),
            row(
                concat!($section, ".degree"),
                &[Whole(1, 20)],
                Says(
                    "3; on the CPU 4 from order 7 (`pmg-amg` without `block-jacobi`); on a GPU 4 from order 5 and \
                     5 from order 7",
                ),
                "The degree of the smoother, or its number of sweeps, before and after each correction.",
            )
            .of($models),
            row(
                concat!($section, ".coarsening"),
                &[Words(&["half", "minus-one"])],
                Says("`half`; `minus-one` on the CPU on meshes with tetrahedra, without `block-jacobi`"),
                "The orders of p-multigrid (`pmg-amg`): halved, or reduced by one, from level to level.",
            )
            .of($models),
            row(
                concat!($section, ".coarse_space"),
                &[Words(&["continuous", "discontinuous"])],
                Says(
                    "`continuous` on a GPU and with `linelets`; `discontinuous` on the CPU without them, and on a GPU \
                     for order 1 on elements other than simplices that are stretched by 30 or more",
                ),
                "The space of algebraic multigrid below `pmg-amg`: continuous functions of the vertices below \
                 order 1, or the matrix of order 1.",
            )
            .of($models),
            row(
                concat!($section, ".aggregation"),
                &[Words(&[
                    "pairwise",
                    "pairwise-strict",
                    "independent-sets",
                    "independent-sets-negative",
                    "smoothed",
                ])],
                Says(
                    "`smoothed` for continuous functions; else `independent-sets-negative` on simplices and \
                     `pairwise` elsewhere",
                ),
                "How algebraic multigrid groups the rows of a matrix: in pairs, in pairs of a stricter quality, by \
                 independent sets with a symmetric strength or with one by negative entries, or by smoothed \
                 aggregation.",
            )
            .of($models),
            row(
                concat!($section, ".inner_precision"),
                &[Words(&["single", "double"])],
                Value("single"),
                "The arithmetic of multigrid. On a GPU `single` rounds some products to 11 bits on affine \
                 triangles and tetrahedra.",
            )
            .of($models),
        ]
    };
}

pub(super) const KEYS: &[Row] = linear!("solver", POISSON, "the first residual");
pub(super) const PRESSURE: &[Row] = linear!("solver.pressure", INCOMPRESSIBLE, "the right-hand side");

pub(super) const VELOCITY: &[Row] = &[
    row(
        "solver.velocity.preconditioner",
        &[Words(&["auto", "mass", "jacobi", "linelets", "pmg-amg"])],
        Value("auto"),
        "The preconditioner of the viscous step: the inverse mass matrix; the inverse diagonal; that with \
         linelets, lines of elements across thin layers; or multigrid. `auto` chooses it in each step: `mass` if the \
         step is small for the viscosity on all elements, `pmg-amg` if it is large in all directions of some, \
         `linelets` if it is large across thin elements only, otherwise `jacobi`.",
    )
    .of(INCOMPRESSIBLE),
    row(
        "solver.velocity.tolerance",
        &[Number(Below(Low::From(1e-15), 1.0))],
        Value("1e-8"),
        "The residual at which the solver stops, relative to the right-hand side; that of the penalties also stops at a \
         thousandth of its first residual.",
    )
    .of(INCOMPRESSIBLE),
    row(
        "solver.velocity.max_iterations",
        &[Whole(1, usize::MAX)],
        Value("500"),
        "The number of iterations after which the run fails.",
    )
    .of(INCOMPRESSIBLE),
];

pub(super) const SECTIONS: &[Row] = &[
    row("solver", &[Section], Nothing, "The linear solvers: conjugate gradients with a preconditioner.")
        .of(IMPLICIT),
    row("solver.pressure", &[Section], Nothing, "The solver of the pressure.").of(INCOMPRESSIBLE),
    row("solver.velocity", &[Section], Nothing, "The solver of the velocity components.").of(INCOMPRESSIBLE),
];

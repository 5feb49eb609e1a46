//! Keys of the section `space`.

use crate::file::keys::Absent::{Nothing, Says, Value};
use crate::file::keys::Kind::{Number, Section, Whole, Words};
use crate::file::keys::Range::{Any, AtLeast, Between};
use crate::file::keys::{EXPLICIT, GAS, IMPLICIT, INCOMPRESSIBLE, NAVIER_STOKES, POISSON, Row, row};
use dgsuite_solve::flow::Riemann;

pub(super) const KEYS: &[Row] = &[
    row("space", &[Section], Nothing, "The discretisation in space."),
    row("space.order", &[Whole(0, 10)], Value("3"), "The polynomial degree p of the solution.").of(EXPLICIT),
    row("space.order", &[Whole(1, 10)], Value("3"), "The polynomial degree p of the solution.").of(IMPLICIT),
    row(
        "space.scheme",
        &[Words(&["dg", "fr"])],
        Value("dg"),
        "Discontinuous Galerkin, or flux reconstruction: `basis: nodal`, `form: strong`, fluxes at the \
         nodes, not on pyramids.",
    )
    .of(EXPLICIT),
    row("space.scheme", &[Words(&["dg"])], Value("dg"), "Discontinuous Galerkin.").of(IMPLICIT),
    row(
        "space.vcjh",
        &[Words(&["dg", "sd", "hu"]), Number(Any)],
        Value("dg"),
        "The correction of `scheme: fr`: `dg` (c = 0), `sd` (spectral difference), `hu` (Huynh) or the \
         number c.",
    )
    .of(EXPLICIT),
    row(
        "space.basis",
        &[Words(&["modal", "nodal", "taylor"])],
        Says("`modal`; `nodal` with `scheme: fr`, `form: split`, `nodes` or a collocated cubature"),
        "The basis functions: orthonormal modes, Lagrange polynomials at nodes, or scaled monomials about \
         the centroid.",
    )
    .of(EXPLICIT),
    row("space.basis", &[Words(&["nodal"])], Value("nodal"), "Lagrange polynomials at nodes.").of(IMPLICIT),
    row(
        "space.nodes",
        &[Words(&["lobatto", "gauss", "warp-blend"])],
        Says("`lobatto` (warp & blend on simplices); `gauss` with `scheme: fr`"),
        "The nodes of a nodal basis.",
    )
    .of(EXPLICIT),
    row(
        "space.polynomials",
        &[Words(&["total", "tensor"])],
        Says("`total` on simplices and for a Taylor basis, `tensor` elsewhere"),
        "The polynomial space: total degree p, or degree p in each direction.",
    )
    .of(EXPLICIT),
    row(
        "space.form",
        &[Words(&["weak", "strong", "split"])],
        Says("`weak`; `strong` with `scheme: fr`"),
        "The form of the volume term. `split` uses two-point fluxes, for under-resolved flow, at Lobatto \
         nodes of quadrilaterals and hexahedra.",
    )
    .of(EXPLICIT),
    row(
        "space.split_flux",
        &[Words(&["kennedy-gruber", "ranocha"])],
        Value("ranocha"),
        "The two-point flux of `form: split`: Kennedy and Gruber's (faster), or Ranocha's (conserves \
         entropy and kinetic energy).",
    )
    .of(GAS),
    row(
        "space.riemann",
        &[Words(Riemann::WORDS)],
        Says("`hllc`; `rusanov` with `shock`, and for advection"),
        "The numerical flux. `llf` is another name for `rusanov`; `roe-low-mach` dissipates less at low \
         Mach numbers. Advection has `rusanov` only, which is its upwind flux.",
    )
    .of(EXPLICIT),
    row(
        "space.dissipation",
        &[Number(Between(0.0, 1.0))],
        Says("the whole of Roe's flux"),
        "The share of the dissipation of `riemann: roe` or `roe-low-mach` that is kept between elements.",
    )
    .of(GAS),
    row(
        "space.viscous",
        &[Words(&["br2"]), Section],
        Value("br2"),
        "The discretisation of the viscous terms: the second scheme of Bassi and Rebay.",
    )
    .of(NAVIER_STOKES),
    row("space.viscous.br2", &[Section], Nothing, "The second scheme of Bassi and Rebay with its factor.")
        .of(NAVIER_STOKES),
    row(
        "space.viscous.br2.eta",
        &[Number(AtLeast(1.0))],
        Says("the number of an element's faces"),
        "The factor η on the lifted jumps. The scheme is stable from the number of an element's faces on.",
    )
    .of(NAVIER_STOKES),
    row(
        "space.viscous",
        &[Words(&["sipdg"]), Section],
        Value("sipdg"),
        "The discretisation of the diffusion: the symmetric interior penalty method.",
    )
    .of(POISSON),
    row("space.viscous.sipdg", &[Section], Nothing, "The symmetric interior penalty method with its factor.")
        .of(POISSON),
    row(
        "space.viscous.sipdg.penalty",
        &[Number(Between(0.5, 100.0))],
        Value("1"),
        "A factor on the penalty for which the method is known to be stable.",
    )
    .of(POISSON),
    row(
        "space.pressure_order",
        &[Words(&["equal", "lower"])],
        Value("equal"),
        "The polynomial order of the pressure: that of the velocity, or one less, which needs `order` 2 or \
         more and the penalty on the divergence.",
    )
    .of(INCOMPRESSIBLE),
    row(
        "space.penalties",
        &[Words(&["on", "none"]), Section],
        Value("on"),
        "The penalties on divergence and normal jumps of the velocity, which keep under-resolved flow \
         stable: both, none, or a section with their factors.",
    )
    .of(INCOMPRESSIBLE),
    row(
        "space.penalties.{divergence,continuity}",
        &[Number(AtLeast(0.0))],
        Value("1"),
        "The factor of the penalty on the divergence in elements, or on the normal jumps between them; 0 \
         for none.",
    )
    .of(INCOMPRESSIBLE),
    row(
        "space.lax_friedrichs",
        &[Number(AtLeast(0.0))],
        Value("1"),
        "The factor of |n·u| in the numerical flux of convection: 1 for the speed of the flow, 2 for the \
         largest wave speed of the convective term.",
    )
    .of(INCOMPRESSIBLE),
];

/// Those of the numerical integration, which stand behind those of limiters.
pub(super) const CUBATURE: &[Row] = &[
    row(
        "space.cubature",
        &[Words(&["collocated", "2p", "3p", "4p"]), Section],
        Says("`2p`; `collocated` with `scheme: fr` and `form: split`"),
        "The numerical integration. `2p`, `3p` and `4p` are degrees of exactness for the order p in the volume, \
         with one more on faces, raised on curved elements; from `3p` on the integrals of the flux are \
         over-integrated, which dealiases under-resolved flow. `collocated` integrates at the nodes of a nodal \
         basis.",
    )
    .of(EXPLICIT),
    row(
        "space.cubature.{volume,face}",
        &[Whole(0, 40), Words(&["collocated"])],
        Says("2p in the volume and 2p + 1 on faces, raised on curved elements"),
        "The degree of the polynomials that the rule integrates exactly, or `collocated`.",
    )
    .of(EXPLICIT),
];

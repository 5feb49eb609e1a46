//! The section `space`: polynomial order, basis, numerical flux, form and cubature.

pub(crate) mod limiting;

use dgsuite_basis::correction::Parameter;
use dgsuite_basis::{Correction, Cubature, NodeSet, Polynomials, Representation};
use dgsuite_ops::Limiting;

use self::limiting::limiting;
use crate::file::key::{Key, Parts, Usual, key, keys};
use crate::file::keys::Range::{Any, AtLeast, Between};
use crate::file::keys::{EXPLICIT, GAS, IMPLICIT, INCOMPRESSIBLE_FLOW, NAVIER_STOKES};
use crate::file::node::Value;
use crate::file::problem::InputError;
use crate::file::section::Section;
use crate::file::source::{Located, Place};
use crate::file::tree::Tree;
use crate::own;
use dgsuite_solve::flow::{Form, Law, Riemann, Setup, SplitFlux};
use dgsuite_solve::setup::MAX_ORDER;

/// The correction with which flux reconstruction is discontinuous Galerkin.
const DG: Parameter = Parameter::C(0.0);

keys! { KEYS:
    SPACE: Key<Parts> = key("space").section().text("The discretisation in space.");
    ORDER: Usual<usize> = key("space.order")
        .whole(0, MAX_ORDER)
        .of(EXPLICIT)
        .text("The polynomial degree p of the solution.")
        .default(3);
    pub(super) ORDER_OF_IMPLICIT: Usual<usize> = key("space.order")
        .whole(1, MAX_ORDER)
        .of(IMPLICIT)
        .text("The polynomial degree p of the solution.")
        .default(3);
    SCHEME: Usual<bool> = key("space.scheme")
        .words(&[("dg", false), ("fr", true)])
        .of(EXPLICIT)
        .text("Discontinuous Galerkin, or flux reconstruction: `basis: nodal`, `form: strong`, fluxes at \
               the nodes, not on pyramids.")
        .default(false);
    SCHEME_OF_IMPLICIT: Usual<bool> = key("space.scheme")
        .words(&[("dg", false)])
        .of(IMPLICIT)
        .text("Discontinuous Galerkin.")
        .default(false);
    VCJH: Usual<Parameter> = key("space.vcjh")
        .words(&[("dg", DG), ("sd", Parameter::SpectralDifference), ("hu", Parameter::Huynh)])
        .or_number(Any, Parameter::C, |parameter| match parameter {
            Parameter::C(c) => Some(*c),
            _ => None,
        })
        .of(EXPLICIT)
        .text("The correction of `scheme: fr`: `dg` (c = 0), `sd` (spectral difference), `hu` (Huynh) or \
               the number c.")
        .default(DG);
    BASIS: Key<BasisSpec> = key("space.basis")
        .words(&[("modal", BasisSpec::Modal), ("nodal", BasisSpec::Nodal), ("taylor", BasisSpec::Taylor)])
        .of(EXPLICIT)
        .says("`modal`; `nodal` with `scheme: fr`, `form: split`, `nodes` or a collocated cubature")
        .text("The basis functions: orthonormal modes, Lagrange polynomials at nodes, or scaled monomials \
               about the centroid.");
    BASIS_OF_IMPLICIT: Usual<BasisSpec> = key("space.basis")
        .words(&[("nodal", BasisSpec::Nodal)])
        .of(IMPLICIT)
        .text("Lagrange polynomials at nodes.")
        .default(BasisSpec::Nodal);
    NODES: Key<NodeSet> = key("space.nodes")
        .words(&[
            ("lobatto", NodeSet::GaussLobatto),
            ("gauss", NodeSet::GaussLegendre),
            ("warp-blend", NodeSet::WarpBlend),
        ])
        .of(EXPLICIT)
        .says("`lobatto` (warp & blend on simplices); `gauss` with `scheme: fr`")
        .text("The nodes of a nodal basis.");
    POLYNOMIALS: Key<Polynomials> = key("space.polynomials")
        .words(&[("total", Polynomials::Total), ("tensor", Polynomials::Tensor)])
        .of(EXPLICIT)
        .says("`total` on simplices and for a Taylor basis, `tensor` elsewhere")
        .text("The polynomial space: total degree p, or degree p in each direction.");
    FORM: Key<Form> = key("space.form")
        .words(&[("weak", Form::Weak), ("strong", Form::Strong), ("split", Form::Split)])
        .of(EXPLICIT)
        .says("`weak`; `strong` with `scheme: fr`")
        .text("The form of the volume term. `split` uses two-point fluxes, for under-resolved flow, at \
               Lobatto nodes of quadrilaterals and hexahedra.");
    SPLIT_FLUX: Usual<SplitFlux> = key("space.split_flux")
        .words(&[("kennedy-gruber", SplitFlux::KennedyGruber), ("ranocha", SplitFlux::Ranocha)])
        .of(GAS)
        .text("The two-point flux of `form: split`: Kennedy and Gruber's (faster), or Ranocha's (conserves \
               entropy and kinetic energy).")
        .default(SplitFlux::Ranocha);
    RIEMANN: Key<Riemann> = key("space.riemann")
        .found(fluxes)
        .of(EXPLICIT)
        .says("`hllc`; `rusanov` with `shock`, and for advection")
        .text("The numerical flux. `llf` is another name for `rusanov`; `roe-low-mach` dissipates less at \
               low Mach numbers. Advection has `rusanov` only, which is its upwind flux.");
    DISSIPATION: Key<f64> = key("space.dissipation")
        .number(Between(0.0, 1.0))
        .of(GAS)
        .says("the whole of Roe's flux")
        .text("The share of the dissipation of `riemann: roe` or `roe-low-mach` that is kept between \
               elements.");
    pub(super) VISCOUS: Usual<()> = key("space.viscous")
        .words(&[("br2", ())])
        .section()
        .of(NAVIER_STOKES)
        .text("The discretisation of the viscous terms: the second scheme of Bassi and Rebay.")
        .default(());
    BR2: Key<Parts> = key("space.viscous.br2")
        .section()
        .of(NAVIER_STOKES)
        .text("The second scheme of Bassi and Rebay with its factor.");
    ETA: Key<f64> = key("space.viscous.br2.eta")
        .number(AtLeast(1.0))
        .why("; the scheme is stable from the number of faces on")
        .of(NAVIER_STOKES)
        .says("the number of an element's faces")
        .text("The factor η on the lifted jumps. The scheme is stable from the number of an element's faces \
               on.");
}

keys! { CUBATURES:
    CUBATURE: Key<Option<usize>> = key("space.cubature")
        .words(&[("collocated", None), ("2p", Some(2)), ("3p", Some(3)), ("4p", Some(4))])
        .section()
        .of(EXPLICIT)
        .says("`2p`; `collocated` with `scheme: fr` and `form: split`")
        .text("The numerical integration. `2p`, `3p` and `4p` are degrees of exactness for the order p in \
               the volume, with one more on faces, raised on curved elements; from `3p` on the integrals of \
               the flux are over-integrated, which dealiases under-resolved flow. `collocated` integrates \
               at the nodes of a nodal basis.");
    DEGREE: Key<Cubature> = key("space.cubature.{volume,face}")
        .or_whole(0, 4 * MAX_ORDER, Cubature::Degree, |cubature| match cubature {
            Cubature::Degree(degree) => Some(*degree),
            _ => None,
        })
        .words(&[("collocated", Cubature::Collocated)])
        .of(EXPLICIT)
        .says("2p in the volume and 2p + 1 on faces, raised on curved elements")
        .text("The degree of the polynomials that the rule integrates exactly, or `collocated`.");
}

/// The words of all fluxes, and what they mean.
fn fluxes() -> Vec<(&'static str, Riemann)> {
    let all = Riemann::ALL.iter().map(|&flux| (flux.name(), flux));
    let own = own::fluxes().iter().map(|&flux| (flux.0.name(), Riemann::Own(flux)));
    all.chain([(Riemann::LLF, Riemann::Rusanov)]).chain(own).collect()
}

/// The discretisation as written; the plan replaces `None` by a default.
#[derive(Clone, Debug)]
pub struct SpaceSpec {
    /// Polynomial degree p.
    pub order: usize,
    /// The parameter of flux reconstruction; `None` for discontinuous Galerkin.
    pub correction: Option<Located<Parameter>>,
    /// Modal, nodal or Taylor.
    pub basis: Option<BasisSpec>,
    /// The numerical flux.
    pub riemann: Located<Riemann>,
    /// The share of the dissipation of Roe's flux.
    pub dissipation: Option<f64>,
    /// Total-degree or tensor spaces on quadrilaterals, hexahedra and prisms.
    pub polynomials: Option<Polynomials>,
    /// The node set of a nodal basis.
    pub nodes: Option<Located<NodeSet>>,
    /// Weak, strong or split form.
    pub form: Form,
    /// The factor η of the lifted jumps in the viscous terms.
    pub eta: Option<f64>,
    /// Two-point flux of the split form.
    pub split_flux: SplitFlux,
    /// Volume quadrature.
    pub volume: Option<Cubature>,
    /// Face quadrature.
    pub face: Option<Cubature>,
    /// Limiter of each stage.
    pub limiting: Option<Limiting>,
    /// Where the section starts, or the file.
    pub place: Place,
}

/// The kind of basis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BasisSpec {
    /// Orthonormal polynomials.
    Modal,
    /// Lagrange polynomials.
    Nodal,
    /// Scaled monomials about the centroid.
    Taylor,
}

impl SpaceSpec {
    /// Reads the section; all of it has defaults.
    ///
    /// # Errors
    /// Unknown words, orders out of range, choices of other models or later versions.
    pub fn read(top: &Section<'_>, model: &str) -> Result<Self, InputError> {
        let section = top.section_or_empty("space")?;
        if model == INCOMPRESSIBLE_FLOW {
            return Self::incompressible(&section);
        }
        let order = ORDER.read(&section)?;
        let correction = correction(&section)?;
        let limiting = limiting(&section, model)?;
        let eta = viscous(&section, model)?;
        let basis = BASIS.read(&section)?;
        let nodes = NODES.read(&section)?;
        let without_nodes = basis.as_ref().and_then(|basis| match basis.value {
            BasisSpec::Modal => Some("a modal basis"),
            BasisSpec::Taylor => Some("a Taylor basis"),
            BasisSpec::Nodal => None,
        });
        if let (Some(_), Some(owner)) = (&nodes, without_nodes) {
            return Err(section.misplaced("nodes", owner, "`basis: nodal`"));
        }
        let form = FORM.read(&section)?;
        let (mut volume, mut face) = cubature(&section, order)?;
        let collocated = volume == Some(Cubature::Collocated);
        if let (true, Some(owner)) = (collocated, without_nodes) {
            return Err(section.misplaced("cubature", owner, "`basis: nodal`"));
        }
        if correction.is_some() {
            if let Some(basis) = basis.as_ref().filter(|b| b.value != BasisSpec::Nodal) {
                return Err(InputError::range(
                    &basis.with(BASIS.shown(&basis.value)),
                    "nodal, as `scheme: fr` interpolates fluxes",
                ));
            }
            if let Some(form) = form.as_ref().filter(|f| f.value != Form::Strong) {
                return Err(InputError::range(
                    &form.with(FORM.shown(&form.value)),
                    "strong, as `scheme: fr` corrects fluxes",
                ));
            }
            if let Some(Cubature::Degree(_)) = volume {
                let owner = "`scheme: fr`, whose fluxes are evaluated at the nodes";
                return Err(section.misplaced(
                    "cubature",
                    owner,
                    "`scheme: dg` (or give a degree for `face` only)",
                ));
            }
            volume = Some(Cubature::Collocated);
            face = face.or(volume);
        }
        let split = form.as_ref().is_some_and(|f| f.value == Form::Split);
        if split {
            if let Some(basis) = basis.as_ref().filter(|b| b.value != BasisSpec::Nodal) {
                return Err(InputError::range(
                    &basis.with(BASIS.shown(&basis.value)),
                    "nodal, as `form: split` uses fluxes between nodes",
                ));
            }
            if let Some(nodes) = nodes.as_ref().filter(|n| n.value != NodeSet::GaussLobatto) {
                return Err(InputError::range(
                    &nodes.with(NODES.shown(&nodes.value)),
                    "lobatto, as `form: split` needs nodes at the ends of lines",
                ));
            }
            if [volume, face].iter().any(|c| matches!(c, Some(Cubature::Degree(_)))) {
                let owner = "`form: split`, whose fluxes are evaluated at the nodes";
                return Err(section.misplaced("cubature", owner, "`form: weak` and `form: strong`"));
            }
            (volume, face) = (Some(Cubature::Collocated), Some(Cubature::Collocated));
        }
        // A node set or a collocated cubature implies a nodal basis.
        let implied = (nodes.is_some() || volume == Some(Cubature::Collocated)).then_some(BasisSpec::Nodal);
        let default_form = if correction.is_some() { Form::Strong } else { Form::Weak };
        let basis = basis.map(|b| b.value).or(implied);
        let riemann = riemann(&section, model, limiting.is_some())?;
        section.of_model(model)?;
        Ok(Self {
            order,
            correction,
            basis,
            dissipation: dissipation(&section, riemann.value)?,
            riemann,
            eta,
            polynomials: polynomials(&section, basis)?,
            nodes,
            form: form.map_or(default_form, |f| f.value),
            split_flux: split_flux(&section, model, split)?,
            volume,
            face,
            limiting,
            place: section.place().clone(),
        })
    }
}

impl SpaceSpec {
    /// Reads the section of incompressible flow: nodes of the elliptic operators, and convection in weak
    /// form.
    fn incompressible(section: &Section<'_>) -> Result<Self, InputError> {
        section.of_model(INCOMPRESSIBLE_FLOW)?;
        only_words(section, INCOMPRESSIBLE_FLOW)?;
        Ok(Self {
            order: ORDER_OF_IMPLICIT.read(section)?,
            correction: None,
            basis: Some(BasisSpec::Nodal),
            riemann: default_flux(section, Riemann::Rusanov),
            dissipation: None,
            polynomials: None,
            nodes: None,
            form: Form::Weak,
            eta: None,
            split_flux: SplitFlux::default(),
            volume: None,
            face: None,
            limiting: None,
            place: section.place().clone(),
        })
    }
}

/// Reads the words that the models with linear solvers have; those of other models are refused with a hint.
pub(super) fn only_words(section: &Section<'_>, model: &str) -> Result<(), InputError> {
    SCHEME_OF_IMPLICIT.refuse_others(&SCHEME, section, model)?;
    BASIS_OF_IMPLICIT.refuse_others(&BASIS, section, model)?;
    SCHEME_OF_IMPLICIT.read(section)?;
    BASIS_OF_IMPLICIT.read(section).map(drop)
}

/// A default flux, as if it stood at the start of the section.
fn default_flux(section: &Section<'_>, value: Riemann) -> Located<Riemann> {
    Located { value, key: section.key("riemann"), place: section.place().clone() }
}

/// `scheme: fr` with its parameter: a name, or a number.
fn correction(section: &Section<'_>) -> Result<Option<Located<Parameter>>, InputError> {
    let Some(scheme) = SCHEME.given(section)?.filter(|scheme| scheme.value) else {
        return match VCJH.is_given(section) {
            true => Err(section.misplaced("vcjh", "discontinuous Galerkin", "`scheme: fr`")),
            false => Ok(None),
        };
    };
    Ok(Some(VCJH.given(section)?.unwrap_or_else(|| scheme.with(VCJH.usual()))))
}

/// The two-point flux of `form: split`.
fn split_flux(section: &Section<'_>, model: &str, split: bool) -> Result<SplitFlux, InputError> {
    let found = SPLIT_FLUX.read(section)?;
    if SPLIT_FLUX.is_given(section) && !split {
        return Err(section.misplaced("split_flux", "weak and strong forms", "`form: split`"));
    }
    if SPLIT_FLUX.is_given(section) && model == "advection" {
        let hint = "the model euler; the two-point flux of advection is the mean";
        return Err(section.misplaced("split_flux", "the model advection", hint));
    }
    Ok(found)
}

/// Total-degree or tensor; a Taylor basis is one of total degree.
fn polynomials(section: &Section<'_>, basis: Option<BasisSpec>) -> Result<Option<Polynomials>, InputError> {
    match (POLYNOMIALS.read(section)?, basis) {
        (Some(found), Some(BasisSpec::Taylor)) if found.value == Polynomials::Tensor => {
            Err(InputError::range(
                &found.with(POLYNOMIALS.shown(&found.value)),
                "total, as a Taylor basis has a total degree",
            ))
        }
        (found, _) => Ok(found.map(|p| p.value)),
    }
}

/// Reads `viscous: br2`, or `viscous: { br2: { eta: 4 } }`.
fn viscous(section: &Section<'_>, model: &str) -> Result<Option<f64>, InputError> {
    if !VISCOUS.is_given(section) {
        return Ok(None);
    }
    if model != "navier-stokes" {
        return Err(section.misplaced("viscous", &format!("the model {model}"), "the model navier-stokes"));
    }
    if !VISCOUS.is_section(section) {
        let instead = "the model navier-stokes discretises its viscous terms by br2";
        section.lacks("viscous", &["sipdg", "br1", "ldg"], instead)?;
        return VISCOUS.read(section).map(|()| None);
    }
    let Some(kind) = VISCOUS.open(section)? else { return Ok(None) };
    let Some(br2) = BR2.open(&kind)? else { return Ok(None) };
    Ok(ETA.read(&br2)?.map(|eta| eta.value))
}

/// The numerical flux. That of a gas resolves contacts and shear layers, but for flows with a limiter.
fn riemann(section: &Section<'_>, model: &str, limited: bool) -> Result<Located<Riemann>, InputError> {
    let Some(found) = RIEMANN.read(section)? else {
        let default = if model == "advection" || limited { Riemann::Rusanov } else { Riemann::Hllc };
        return Ok(default_flux(section, default));
    };
    if model == "advection" && !matches!(found.value, Riemann::Rusanov) {
        let hint = "the model euler; rusanov is the upwind flux of advection";
        return Err(section.misplaced("riemann", "the model advection", hint));
    }
    Ok(found)
}

/// The share of the dissipation of Roe's flux, from 0 to 1.
fn dissipation(section: &Section<'_>, riemann: Riemann) -> Result<Option<f64>, InputError> {
    let Some(share) = DISSIPATION.read(section)? else { return Ok(None) };
    if !matches!(riemann, Riemann::Roe | Riemann::RoeLowMach) {
        let owner = format!("`riemann: {}`", riemann.name());
        return Err(section.misplaced("dissipation", &owner, "`riemann: roe` and `riemann: roe-low-mach`"));
    }
    Ok(Some(share.value))
}

/// `collocated`, a multiple of the order `p`, or a degree of exactness for volume and face each.
fn cubature(section: &Section<'_>, p: usize) -> Result<(Option<Cubature>, Option<Cubature>), InputError> {
    if let Some(Value::Text(_)) = section.node(CUBATURE.name()).map(|node| &node.value) {
        let both = |volume, face| Ok((Some(volume), Some(face)));
        return match CUBATURE.read(section)?.and_then(|choice| choice.value) {
            // As by default, faces have one degree more.
            Some(times) => both(Cubature::Degree(times * p), Cubature::Degree(times * p + 1)),
            None => both(Cubature::Collocated, Cubature::Collocated),
        };
    }
    let Some(inner) = CUBATURE.open(section)? else { return Ok((None, None)) };
    let degree = |name: &str| DEGREE.read_as(&inner, name);
    Ok((degree("volume")?.map(|found| found.value), degree("face")?.map(|found| found.value)))
}

/// Writes out the discretisation of a model with explicit steps.
pub(crate) fn write(tree: &mut Tree, setup: &Setup) {
    if matches!(setup.law, Law::NavierStokes(_)) && setup.eta.is_none() {
        VISCOUS.write(tree, &());
    }
    ORDER.write(tree, &setup.order);
    SCHEME.write(tree, &matches!(setup.correction, Correction::Vcjh(_)));
    if let Correction::Vcjh(parameter) = &setup.correction {
        VCJH.write(tree, parameter);
    }
    match &setup.representation {
        Representation::Modal => BASIS.write(tree, &BasisSpec::Modal),
        Representation::Taylor => BASIS.write(tree, &BasisSpec::Taylor),
        Representation::Nodal(nodes) => {
            BASIS.write(tree, &BasisSpec::Nodal);
            NODES.write(tree, nodes);
        }
    }
    RIEMANN.write(tree, &setup.riemann);
    if let Some(limiting) = setup.limiting {
        limiting::write(tree, limiting);
    }
    if let Some(polynomials) = &setup.polynomials {
        POLYNOMIALS.write(tree, polynomials);
    }
    FORM.write(tree, &setup.form);
    if setup.form == Form::Split && !matches!(setup.law, Law::Advection { .. }) {
        SPLIT_FLUX.write(tree, &setup.split_flux);
    }
    if !tree.has_text("space.cubature") {
        for (name, choice) in [("volume", &setup.volume), ("face", &setup.face)] {
            if let Some(cubature) = choice {
                DEGREE.write_as(tree, name, cubature);
            }
        }
    }
}

/// Writes out what the models with linear solvers have in common.
pub(crate) fn write_implicit(tree: &mut Tree, order: usize) {
    ORDER_OF_IMPLICIT.write(tree, &order);
    SCHEME_OF_IMPLICIT.write(tree, &false);
    BASIS_OF_IMPLICIT.write(tree, &BasisSpec::Nodal);
}

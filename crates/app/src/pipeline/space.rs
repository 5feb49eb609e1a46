//! The section `space`: polynomial order, basis, numerical flux, form and cubature.

pub(crate) mod limiting;

use dgsuite_basis::correction::Parameter;
use dgsuite_basis::{Cubature, NodeSet, Polynomials};
use dgsuite_ops::Limiting;

use self::limiting::limiting;
use crate::file::keys::INCOMPRESSIBLE_FLOW;
use crate::file::problem::InputError;
use crate::file::section::Section;
use crate::file::source::{Located, Place};
use crate::own;
use dgsuite_solve::flow::{Form, Riemann, SplitFlux};
use dgsuite_solve::setup::MAX_ORDER;

/// The default order.
const DEFAULT_ORDER: usize = 3;

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
        let order = section.count("order", 0)?;
        if let Some(order) = order.as_ref().filter(|p| p.value > MAX_ORDER) {
            return Err(InputError::range(order, format!("from 0 to {MAX_ORDER}")));
        }
        if model == INCOMPRESSIBLE_FLOW {
            return Self::incompressible(&section, order);
        }
        let correction = correction(&section)?;
        let limiting = limiting(&section, model)?;
        let eta = viscous(&section, model)?;
        let basis = section.choice(
            "basis",
            &[("modal", BasisSpec::Modal), ("nodal", BasisSpec::Nodal), ("taylor", BasisSpec::Taylor)],
        )?;
        let nodes = section.choice(
            "nodes",
            &[
                ("gauss", NodeSet::GaussLegendre),
                ("lobatto", NodeSet::GaussLobatto),
                ("warp-blend", NodeSet::WarpBlend),
            ],
        )?;
        let without_nodes = basis.as_ref().and_then(|basis| match basis.value {
            BasisSpec::Modal => Some("a modal basis"),
            BasisSpec::Taylor => Some("a Taylor basis"),
            BasisSpec::Nodal => None,
        });
        if let (Some(_), Some(owner)) = (&nodes, without_nodes) {
            return Err(section.misplaced("nodes", owner, "`basis: nodal`"));
        }
        let form = section
            .choice("form", &[("weak", Form::Weak), ("strong", Form::Strong), ("split", Form::Split)])?;
        let (mut volume, mut face) = cubature(&section, order.as_ref().map_or(DEFAULT_ORDER, |p| p.value))?;
        let collocated = volume == Some(Cubature::Collocated);
        if let (true, Some(owner)) = (collocated, without_nodes) {
            return Err(section.misplaced("cubature", owner, "`basis: nodal`"));
        }
        if correction.is_some() {
            if let Some(basis) = basis.as_ref().filter(|b| b.value != BasisSpec::Nodal) {
                let word = format!("{:?}", basis.value).to_lowercase();
                return Err(InputError::range(
                    &basis.with(word),
                    "nodal, as `scheme: fr` interpolates fluxes",
                ));
            }
            if let Some(form) = form.as_ref().filter(|f| f.value != Form::Strong) {
                let word = if form.value == Form::Weak { "weak" } else { "split" };
                return Err(InputError::range(&form.with(word), "strong, as `scheme: fr` corrects fluxes"));
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
                let word = format!("{:?}", basis.value).to_lowercase();
                return Err(InputError::range(
                    &basis.with(word),
                    "nodal, as `form: split` uses fluxes between nodes",
                ));
            }
            if let Some(nodes) = nodes.as_ref().filter(|n| n.value != NodeSet::GaussLobatto) {
                let word = if nodes.value == NodeSet::GaussLegendre { "gauss" } else { "warp-blend" };
                return Err(InputError::range(
                    &nodes.with(word),
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
            order: order.map_or(DEFAULT_ORDER, |p| p.value),
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
    fn incompressible(section: &Section<'_>, order: Option<Located<usize>>) -> Result<Self, InputError> {
        section.of_model(INCOMPRESSIBLE_FLOW)?;
        if let Some(order) = order.as_ref().filter(|p| p.value == 0) {
            return Err(InputError::range(order, format!("from 1 to {MAX_ORDER}")));
        }
        for (key, word, others) in
            [("scheme", "dg", &["fr"][..]), ("basis", "nodal", &["modal", "taylor"][..])]
        {
            section.lacks(key, others, &format!("the model incompressible has `{key}: {word}`"))?;
            section.choice(key, &[(word, ())])?;
        }
        Ok(Self {
            order: order.map_or(DEFAULT_ORDER, |p| p.value),
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

/// A default flux, as if it stood at the start of the section.
fn default_flux(section: &Section<'_>, value: Riemann) -> Located<Riemann> {
    Located { value, key: section.key("riemann"), place: section.place().clone() }
}

/// `scheme: fr` with its parameter: a name, or a number.
fn correction(section: &Section<'_>) -> Result<Option<Located<Parameter>>, InputError> {
    let scheme = section.choice("scheme", &[("dg", false), ("fr", true)])?;
    let Some(scheme) = scheme.filter(|scheme| scheme.value) else {
        return match section.has("vcjh") {
            true => Err(section.misplaced("vcjh", "discontinuous Galerkin", "`scheme: fr`")),
            false => Ok(None),
        };
    };
    let words = [("dg", Parameter::C(0.0)), ("sd", Parameter::SpectralDifference), ("hu", Parameter::Huynh)];
    let found = match section.node("vcjh").map(|node| &node.value) {
        None => scheme.with(Parameter::C(0.0)),
        Some(crate::file::node::Value::Text(word)) if word.chars().all(char::is_alphabetic) => {
            section.choice("vcjh", &words)?.unwrap_or_else(|| scheme.with(Parameter::C(0.0)))
        }
        Some(_) => match section.number("vcjh")? {
            Some(c) => c.with(Parameter::C(c.value)),
            None => scheme.with(Parameter::C(0.0)),
        },
    };
    Ok(Some(found))
}

/// The two-point flux of `form: split`.
fn split_flux(section: &Section<'_>, model: &str, split: bool) -> Result<SplitFlux, InputError> {
    let words = [("kennedy-gruber", SplitFlux::KennedyGruber), ("ranocha", SplitFlux::Ranocha)];
    let Some(found) = section.choice("split_flux", &words)? else { return Ok(SplitFlux::default()) };
    if !split {
        return Err(section.misplaced("split_flux", "weak and strong forms", "`form: split`"));
    }
    if model == "advection" {
        let hint = "the model euler; the two-point flux of advection is the mean";
        return Err(section.misplaced("split_flux", "the model advection", hint));
    }
    Ok(found.value)
}

/// Total-degree or tensor; a Taylor basis is one of total degree.
fn polynomials(section: &Section<'_>, basis: Option<BasisSpec>) -> Result<Option<Polynomials>, InputError> {
    let words = [("total", Polynomials::Total), ("tensor", Polynomials::Tensor)];
    let found = section.choice("polynomials", &words)?;
    match (found, basis) {
        (Some(found), Some(BasisSpec::Taylor)) if found.value == Polynomials::Tensor => {
            Err(InputError::range(&found.with("tensor"), "total, as a Taylor basis has a total degree"))
        }
        (found, _) => Ok(found.map(|p| p.value)),
    }
}

/// Reads `viscous: br2`, or `viscous: { br2: { eta: 4 } }`.
fn viscous(section: &Section<'_>, model: &str) -> Result<Option<f64>, InputError> {
    let Some(node) = section.node("viscous") else { return Ok(None) };
    if model != "navier-stokes" {
        return Err(section.misplaced("viscous", &format!("the model {model}"), "the model navier-stokes"));
    }
    if !matches!(node.value, crate::file::node::Value::Map(_)) {
        section.lacks(
            "viscous",
            &["sipdg", "br1", "ldg"],
            "the model navier-stokes discretises its viscous terms by br2",
        )?;
        section.choice("viscous", &[("br2", ())])?;
        return Ok(None);
    }
    let Some(kind) = section.section("viscous")? else { return Ok(None) };
    let Some(br2) = kind.section("br2")? else { return Ok(None) };
    let eta = br2.number("eta")?;
    match eta {
        Some(eta) if eta.value < 1.0 => {
            Err(InputError::range(&eta, "at least 1; the scheme is stable from the number of faces on"))
        }
        eta => Ok(eta.map(|eta| eta.value)),
    }
}

/// The numerical flux. That of a gas resolves contacts and shear layers, but for flows with a limiter.
fn riemann(section: &Section<'_>, model: &str, limited: bool) -> Result<Located<Riemann>, InputError> {
    let all = Riemann::ALL.iter().map(|&flux| (flux.name(), flux));
    let own = own::fluxes().iter().map(|&flux| (flux.0.name(), Riemann::Own(flux)));
    let words: Vec<_> = all.chain([(Riemann::LLF, Riemann::Rusanov)]).chain(own).collect();
    let Some(found) = section.choice("riemann", &words)? else {
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
    let Some(share) = section.number("dissipation")? else { return Ok(None) };
    if !matches!(riemann, Riemann::Roe | Riemann::RoeLowMach) {
        let owner = format!("`riemann: {}`", riemann.name());
        return Err(section.misplaced("dissipation", &owner, "`riemann: roe` and `riemann: roe-low-mach`"));
    }
    match share.value {
        value if (0.0..=1.0).contains(&value) => Ok(Some(value)),
        _ => Err(InputError::range(&share, "from 0 to 1")),
    }
}

/// `collocated`, a multiple of the order `p`, or a degree of exactness for volume and face each.
fn cubature(section: &Section<'_>, p: usize) -> Result<(Option<Cubature>, Option<Cubature>), InputError> {
    let Some(node) = section.node("cubature") else { return Ok((None, None)) };
    if let crate::file::node::Value::Text(_) = node.value {
        let words = [("collocated", None), ("2p", Some(2)), ("3p", Some(3)), ("4p", Some(4))];
        let both = |volume, face| Ok((Some(volume), Some(face)));
        return match section.choice("cubature", &words)?.and_then(|choice| choice.value) {
            // As by default, faces have one degree more.
            Some(times) => both(Cubature::Degree(times * p), Cubature::Degree(times * p + 1)),
            None => both(Cubature::Collocated, Cubature::Collocated),
        };
    }
    let Some(inner) = section.section("cubature")? else { return Ok((None, None)) };
    let one = |key: &str| -> Result<Option<Cubature>, InputError> {
        match inner.node(key).map(|n| &n.value) {
            Some(crate::file::node::Value::Text(word)) if word == "collocated" => {
                Ok(Some(Cubature::Collocated))
            }
            Some(_) => {
                let degree = inner.count(key, 0)?;
                if let Some(d) = degree.as_ref().filter(|d| d.value > 4 * MAX_ORDER) {
                    return Err(InputError::range(
                        d,
                        format!("a degree from 0 to {}, or `collocated`", 4 * MAX_ORDER),
                    ));
                }
                Ok(degree.map(|d| Cubature::Degree(d.value)))
            }
            None => Ok(None),
        }
    };
    Ok((one("volume")?, one("face")?))
}

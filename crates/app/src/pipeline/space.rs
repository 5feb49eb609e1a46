//! The section `space`: polynomial order, basis, numerical flux, form and cubature.

use dgsuite_basis::{Cubature, NodeSet, Polynomials};

use super::problem::{InputError, Problem};
use super::section::Section;
use super::source::{Located, Place};
use crate::systems::hyperbolic::{Form, Riemann};

/// The highest polynomial order: reference matrices are well conditioned and tested up to it.
pub const MAX_ORDER: usize = 10;

/// The order where the file gives none.
const DEFAULT_ORDER: usize = 3;

/// The discretisation as written; `None` where the plan chooses.
#[derive(Clone, Debug)]
pub struct SpaceSpec {
    /// Polynomial degree p.
    pub order: usize,
    /// Modal, nodal or Taylor.
    pub basis: Option<BasisSpec>,
    /// The numerical flux.
    pub riemann: Located<Riemann>,
    /// Total-degree or tensor spaces on quadrilaterals, hexahedra and prisms.
    pub polynomials: Option<Polynomials>,
    /// The node set of a nodal basis.
    pub nodes: Option<Located<NodeSet>>,
    /// Weak or strong form.
    pub form: Form,
    /// Volume quadrature.
    pub volume: Option<Cubature>,
    /// Face quadrature.
    pub face: Option<Cubature>,
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

/// A value of the contract that is there, or why it is not.
#[derive(Clone, Copy)]
enum Offer<T> {
    Have(T),
    Lack(&'static str),
}

fn offered<T: Copy>(found: &Located<Offer<T>>, word: &str) -> Result<Located<T>, InputError> {
    match found.value {
        Offer::Have(value) => Ok(found.with(value)),
        Offer::Lack(instead) => Err(InputError::at(
            &found.place,
            Problem::Unsupported { key: found.key.clone(), value: word.into(), instead: instead.into() },
        )),
    }
}

/// One of the words of a key; words of the contract that are not there yet are refused by a sentence of their own.
fn offer<T: Copy>(
    section: &Section<'_>,
    key: &str,
    words: &[(&str, Offer<T>)],
) -> Result<Option<Located<T>>, InputError> {
    let Some(found) = section.choice(key, words)? else { return Ok(None) };
    let word = section.text(key)?.map_or(String::new(), |t| t.value);
    offered(&found, &word).map(Some)
}

impl SpaceSpec {
    /// Reads the section; all of it has defaults.
    ///
    /// # Errors
    /// Unknown words, orders out of range, choices of other models or later versions.
    pub fn read(top: &Section<'_>, model: &str) -> Result<Self, InputError> {
        use Offer::{Have, Lack};
        let known = [
            "order",
            "scheme",
            "basis",
            "riemann",
            "viscous",
            "limiter",
            "polynomials",
            "nodes",
            "form",
            "cubature",
        ];
        let empty = super::node::Node { value: super::node::Value::Null, place: top.place().clone() };
        let section = match top.section("space", &known)? {
            Some(section) => section,
            None => Section::open(&empty, "space", &known, top.constants())?,
        };
        let order = section.count("order", 0)?;
        if let Some(order) = order.as_ref().filter(|p| p.value > MAX_ORDER) {
            return Err(InputError::range(order, format!("from 0 to {MAX_ORDER}")));
        }
        let dg_only = Lack("the scheme of this version is dg");
        offer(&section, "scheme", &[("dg", Have(())), ("fr", dg_only)])?;
        let plain = Lack("limiters are not part of this version; use none");
        offer(&section, "limiter", &[("none", Have(())), ("barth-jespersen", plain), ("positivity", plain)])?;
        if section.has("viscous") {
            return Err(section.misplaced(
                "viscous",
                &format!("the model {model}"),
                "the viscous and elliptic models",
            ));
        }
        let basis = offer(
            &section,
            "basis",
            &[
                ("modal", Have(BasisSpec::Modal)),
                ("nodal", Have(BasisSpec::Nodal)),
                ("taylor", Have(BasisSpec::Taylor)),
            ],
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
        let form = offer(
            &section,
            "form",
            &[
                ("weak", Have(Form::Weak)),
                ("strong", Have(Form::Strong)),
                ("split", Lack("the forms of this version are weak and strong")),
            ],
        )?;
        let (volume, face) = cubature(&section)?;
        let collocated = volume == Some(Cubature::Collocated);
        if let (true, Some(owner)) = (collocated, without_nodes) {
            return Err(section.misplaced("cubature", owner, "`basis: nodal`"));
        }
        // A node set or a collocated cubature is the choice of a nodal basis.
        let implied = (nodes.is_some() || collocated).then_some(BasisSpec::Nodal);
        let basis = basis.map(|b| b.value).or(implied);
        Ok(Self {
            order: order.map_or(DEFAULT_ORDER, |p| p.value),
            basis,
            riemann: riemann(&section, model)?,
            polynomials: polynomials(&section, basis)?,
            nodes,
            form: form.map_or(Form::Weak, |f| f.value),
            volume,
            face,
            place: section.place().clone(),
        })
    }
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

fn riemann(section: &Section<'_>, model: &str) -> Result<Located<Riemann>, InputError> {
    let words = [
        ("rusanov", Riemann::Rusanov),
        ("llf", Riemann::Rusanov),
        ("hll", Riemann::Hll),
        ("hllc", Riemann::Hllc),
        ("roe", Riemann::Roe),
    ];
    let Some(found) = section.choice("riemann", &words)? else {
        return Ok(Located {
            value: Riemann::Rusanov,
            key: section.key("riemann"),
            place: section.place().clone(),
        });
    };
    if model == "advection" && !matches!(found.value, Riemann::Rusanov) {
        let hint = "the model euler; rusanov is the upwind flux of advection";
        return Err(section.misplaced("riemann", "the model advection", hint));
    }
    Ok(found)
}

/// `collocated`, or a degree of exactness for volume and face each.
fn cubature(section: &Section<'_>) -> Result<(Option<Cubature>, Option<Cubature>), InputError> {
    let Some(node) = section.node("cubature") else { return Ok((None, None)) };
    if let super::node::Value::Text(_) = node.value {
        section.choice("cubature", &[("collocated", ())])?;
        return Ok((Some(Cubature::Collocated), Some(Cubature::Collocated)));
    }
    let Some(inner) = section.section("cubature", &["volume", "face"])? else { return Ok((None, None)) };
    let one = |key: &str| -> Result<Option<Cubature>, InputError> {
        match inner.node(key).map(|n| &n.value) {
            Some(super::node::Value::Text(word)) if word == "collocated" => Ok(Some(Cubature::Collocated)),
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

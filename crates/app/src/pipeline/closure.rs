//! The section `physics.closure`: a model of unresolved scales and its numbers.

use std::borrow::Cow;

use dgsuite_physics::Closure;
use dgsuite_physics::closures::EddyViscosity;
use dgsuite_solve::flow::Setup;

use crate::file::key::{Key, Parts, Usual, key, keys};
use crate::file::keys::Range::Above;
use crate::file::keys::VISCOUS;
use crate::file::problem::InputError;
use crate::file::section::Section;
use crate::file::source::{Located, Place};
use crate::file::tree::Tree;

/// A closure as written.
#[derive(Clone, Debug)]
pub struct ClosureSpec {
    /// The model.
    pub closure: Closure,
    /// Its constant.
    pub constant: f64,
    /// The filter width, a formula; `None` for that of the element.
    pub length: Option<Located<String>>,
    /// The turbulent Prandtl number.
    pub prandtl: f64,
    /// Where the closure was chosen.
    pub place: Place,
}

keys! { KEYS:
    CLOSURE: Usual<Option<Closure>> = key("physics.closure")
        .found(closures)
        .section()
        .of(VISCOUS)
        .text("A model of the scales that the mesh does not resolve: an eddy viscosity ν_t beside the \
               molecular one. A section with the name of a closure sets its numbers.")
        .default(None);
    NUMBERS: Key<Parts> = key("physics.closure.{smagorinsky,wale,vreman,sigma}")
        .section()
        .of(VISCOUS)
        .text("A closure with its numbers.");
    SMAGORINSKY: Usual<f64> = key("physics.closure.smagorinsky.constant")
        .number(Above(0.0))
        .of(VISCOUS)
        .text("The constant C of ν_t = (CΔ)²|S|; 0.1 is usual in channels.")
        .default(Closure::Smagorinsky.usual_constant());
    WALE: Usual<f64> = key("physics.closure.wale.constant")
        .number(Above(0.0))
        .of(VISCOUS)
        .text("The constant C, with the width as CΔ.")
        .default(Closure::Wale.usual_constant());
    VREMAN: Usual<f64> = key("physics.closure.vreman.constant")
        .number(Above(0.0))
        .of(VISCOUS)
        .text("The constant c, with the width as cΔ².")
        .default(Closure::Vreman.usual_constant());
    SIGMA: Usual<f64> = key("physics.closure.sigma.constant")
        .number(Above(0.0))
        .of(VISCOUS)
        .text("The constant C, with the width as CΔ.")
        .default(Closure::Sigma.usual_constant());
    LENGTH: Usual<Cow<'static, str>> = key("physics.closure.{smagorinsky,wale,vreman,sigma}.length")
        .formula_with_default("x, y, z, delta")
        .of(VISCOUS)
        .text("The filter width Δ of each element, a length: a formula of `delta`, which is the default \
               |E|^(1/d)/(p + 1), and of the mean of the element's nodes, such as `2*delta` or `min(delta, \
               0.41*y)`.")
        .default(Cow::Borrowed("delta"));
    PRANDTL: Usual<f64> = key("physics.closure.{smagorinsky,wale,vreman,sigma}.turbulent_prandtl")
        .number(Above(0.0))
        .of(VISCOUS)
        .text("The Prandtl number of the heat that eddies carry, μ_t c_p/κ_t, and of all scalars of \
               incompressible flow.")
        .default(EddyViscosity::usual(Closure::Vreman).prandtl);
}

/// The words of closures.
fn closures() -> Vec<(&'static str, Option<Closure>)> {
    let all = Closure::ALL.iter().map(|&closure| (closure.name(), Some(closure)));
    [("none", None)].into_iter().chain(all).collect()
}

/// The key of the constant of a closure.
const fn constant_of(closure: Closure) -> &'static Usual<f64> {
    match closure {
        Closure::Smagorinsky => &SMAGORINSKY,
        Closure::Wale => &WALE,
        Closure::Vreman => &VREMAN,
        Closure::Sigma => &SIGMA,
    }
}

impl ClosureSpec {
    /// Reads `closure: none | vreman | { vreman: { constant, length, turbulent_prandtl } }`.
    ///
    /// # Errors
    /// An unknown closure, several closures, numbers that are not positive.
    pub fn read(physics: &Section<'_>) -> Result<Option<Self>, InputError> {
        if !CLOSURE.is_section(physics) {
            let Some(found) = CLOSURE.given(physics)? else { return Ok(None) };
            let plain = |closure| Self {
                closure,
                constant: constant_of(closure).usual(),
                length: None,
                prandtl: PRANDTL.usual(),
                place: found.place,
            };
            return Ok(found.value.map(plain));
        }
        let Some(section) = CLOSURE.open(physics)? else { return Ok(None) };
        for (i, first) in Closure::ALL.iter().enumerate() {
            for second in &Closure::ALL[i + 1..] {
                section.exclusive(first.name(), second.name())?;
            }
        }
        for &closure in Closure::ALL {
            let Some(inner) = section.section(closure.name())? else { continue };
            let length = LENGTH.given(&inner)?.filter(|text| text.value.trim() != LENGTH.usual());
            return Ok(Some(Self {
                closure,
                constant: constant_of(closure).read(&inner)?,
                length: length.map(|text| text.with(text.value.clone().into_owned())),
                prandtl: PRANDTL.read(&inner)?,
                place: inner.place().clone(),
            }));
        }
        let names: Vec<_> = Closure::ALL.iter().map(|closure| closure.name()).collect();
        let expected = format!("one of {}, such as {{ vreman: {{}} }}", names.join(", "));
        Err(section.missing("vreman", &expected))
    }
}

/// Writes out the closure with its numbers.
pub(crate) fn write(tree: &mut Tree, setup: &Setup) {
    let Some(closure) = setup.law.closure() else {
        CLOSURE.write(tree, &None);
        return;
    };
    let above = format!("physics.closure.{}", closure.closure.name());
    constant_of(closure.closure).write_below(tree, &above, &closure.constant);
    if setup.filter_width.is_none() {
        LENGTH.write_below(tree, &above, &LENGTH.usual());
    }
    PRANDTL.write_below(tree, &above, &closure.prandtl);
}

//! `space` of an elliptic problem: polynomial order and penalty of the symmetric interior penalty method.

use super::MODEL;
use crate::file::key::{Key, Parts, Usual, key, keys};
use crate::file::keys::POISSON;
use crate::file::keys::Range::Between;
use crate::file::problem::InputError;
use crate::file::section::Section;
use crate::file::source::Place;
use crate::file::tree::Tree;
use crate::pipeline::space::{self, ORDER_OF_IMPLICIT, only_words};

keys! { KEYS:
    VISCOUS: Usual<()> = key("space.viscous")
        .words(&[("sipdg", ())])
        .section()
        .of(POISSON)
        .text("The discretisation of the diffusion: the symmetric interior penalty method.")
        .default(());
    SIPDG: Key<Parts> = key("space.viscous.sipdg")
        .section()
        .of(POISSON)
        .text("The symmetric interior penalty method with its factor.");
    PENALTY: Usual<f64> = key("space.viscous.sipdg.penalty")
        .number(Between(0.5, 100.0))
        .why(": a factor on the penalty for which the method is known to be stable")
        .of(POISSON)
        .text("A factor on the penalty for which the method is known to be stable.")
        .default(1.0);
}

/// The discretisation as written.
#[derive(Clone, Debug)]
pub struct SipdgSpec {
    /// Polynomial degree p.
    pub order: usize,
    /// Factor on the penalty for which the method is known to be stable.
    pub penalty: f64,
    /// Where the section starts.
    pub place: Place,
}

impl SipdgSpec {
    /// Reads the section; all of it has defaults.
    ///
    /// # Errors
    /// Keys of flow models, orders and penalties out of range.
    pub fn read(top: &Section<'_>) -> Result<Self, InputError> {
        let section = top.section_or_empty("space")?;
        section.of_model(MODEL)?;
        only_words(&section, MODEL)?;
        let mut penalty = PENALTY.usual();
        if VISCOUS.is_section(&section) {
            if let Some(kind) = VISCOUS.open(&section)?
                && let Some(sipdg) = SIPDG.open(&kind)?
            {
                penalty = PENALTY.read(&sipdg)?;
            }
        } else {
            VISCOUS.refuse_others(&space::VISCOUS, &section, MODEL)?;
            VISCOUS.read(&section)?;
        }
        Ok(Self { order: ORDER_OF_IMPLICIT.read(&section)?, penalty, place: section.place().clone() })
    }

    /// Writes out the defaults.
    pub fn write(&self, tree: &mut Tree) {
        ORDER_OF_IMPLICIT.write(tree, &self.order);
        VISCOUS.write(tree, &());
    }
}

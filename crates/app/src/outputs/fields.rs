//! Fields for ParaView: `output.fields`.

use std::sync::Arc;

use super::named::{self, Elements, FieldSpec, OutputField};
use super::series::Files;
use super::{Context, Kind, NAMES, Opener, Resolved, Spec};
use crate::file::beginning::Beginning;
use crate::file::every::Every;
use crate::file::keys::Absent::{Says, Value};
use crate::file::keys::Kind::{Section as Of, Words};
use crate::file::keys::row;
use crate::file::problem::InputError;
use crate::file::section::Section;
use dgsuite_output::writer::{Format, Precision, VtuOptions};

/// Fields for ParaView.
pub static OUTPUT: Kind = Kind {
    name: "fields",
    keys: &[
        row(
            "output.fields",
            &[Words(&["none"]), Of],
            Says("the usual fields at the start and the end"),
            "Fields for ParaView, in `fields.pvd` and `fields/*.vtu` or in `fields.vtkhdf`; `none` writes none.",
        ),
        row(
            "output.fields.names",
            &[NAMES],
            Says("Density, Velocity and Pressure; u of advection; u and error of poisson"),
            "The fields: predefined names, variables, derivatives, or names of your own with a formula of the solution.",
        ),
        row(
            "output.fields.format",
            &[Words(&["vtu", "vtkhdf"])],
            Value("vtu"),
            "The format of these fields and of those on boundaries: `vtu`, a file for each time and a list of them, or \
             `vtkhdf`, one file with all times.",
        ),
        row(
            "output.fields.precision",
            &[Words(&["single", "double"])],
            Value("single"),
            "The precision of the numbers in the files.",
        ),
    ],
    read: |section| Ok(Arc::new(FieldsSpec::read(section)?)),
    usual: |case, _| (!case).then(|| Arc::new(FieldsSpec::default()) as _),
    writes_files: true,
    after_all: false,
};

/// Which fields are written, and when.
#[derive(Clone, Debug)]
pub struct FieldsSpec {
    from: Option<Beginning>,
    every: Every,
    /// Names such as Density or rho, or a new name with a formula; `None` for the default fields of the
    /// model.
    pub names: Option<Vec<FieldSpec>>,
    /// 64-bit numbers in the files (32-bit by default).
    pub double: bool,
    /// The format of the files.
    pub format: Format,
}

impl Default for FieldsSpec {
    fn default() -> Self {
        Self { from: None, every: Every::End, names: None, double: false, format: Format::Vtu }
    }
}

impl FieldsSpec {
    pub(super) fn read(section: &Section<'_>) -> Result<Self, InputError> {
        let format = section.choice("format", &[("vtu", Format::Vtu), ("vtkhdf", Format::Vtkhdf)])?;
        let names = FieldSpec::read_all(section)?;
        let double = section.choice("precision", &[("single", false), ("double", true)])?;
        Ok(Self {
            from: Beginning::read(section)?,
            every: Every::read(section, Every::End)?,
            names,
            double: double.is_some_and(|d| d.value),
            format: format.map_or(Format::Vtu, |format| format.value),
        })
    }

    pub(super) fn plan(&self, context: &Context<'_>) -> Result<FieldsPlan, InputError> {
        let elements = Elements::Allowed { limited: context.limited };
        let fields = named::resolve(self.names.as_deref(), context.variables, context.constants, elements)?;
        Ok(FieldsPlan { fields: fields.into(), double: self.double, format: self.format })
    }
}

impl Spec for FieldsSpec {
    fn resolve(&self, context: &Context<'_>) -> Result<Resolved, InputError> {
        let every = self.every;
        let names = context.fields.map_or_else(String::new, |plan| named::list(&plan.fields));
        let open: Opener = Box::new(move |opening| Ok(Box::new(Files::of_all(opening, every)?)));
        Ok(Resolved { every, about: format!("fields {names}"), open })
    }

    fn from(&self) -> Option<&Beginning> {
        self.from.as_ref()
    }
}

/// The fields of a run, and how they are written.
#[derive(Debug)]
pub struct FieldsPlan {
    /// The fields.
    pub fields: Arc<[OutputField]>,
    /// Whether numbers have 64 bits.
    pub double: bool,
    /// The format of the files.
    pub format: Format,
}

impl FieldsPlan {
    /// Returns the options of the writer.
    pub fn options(&self) -> VtuOptions {
        let precision = if self.double { Precision::Double } else { Precision::Single };
        VtuOptions { precision, ..VtuOptions::default() }
    }
}

//! The section `output`: the directory of the results, fields, means and checkpoints, and when they are
//! written.

use std::path::PathBuf;

use crate::file::beginning::Beginning;
use crate::file::every::Every;
use crate::file::node::Value;
use crate::file::problem::InputError;
use crate::file::section::{self, Section};
use crate::file::source::{Located, Place};
use dgsuite_output::writer::Format;

/// Results as written.
#[derive(Clone, Debug)]
pub struct OutputSpec {
    /// The directory, relative to the pipeline file.
    pub directory: Option<Located<PathBuf>>,
    /// Fields for ParaView.
    pub fields: Wanted<FieldsSpec>,
    /// Fields on boundaries alone.
    pub surfaces: Option<SurfacesSpec>,
    /// Means over time.
    pub averages: Option<AveragesSpec>,
    /// Checkpoints.
    pub checkpoint: Wanted<CheckpointSpec>,
    /// Where it was written, if it was.
    pub place: Option<Place>,
}

/// A result that is written unless the file has the word `none`.
#[derive(Clone, Debug, PartialEq)]
pub enum Wanted<T> {
    /// The file does not mention it.
    Default,
    /// `none`.
    Off,
    /// As described.
    Given(T),
}

impl<T> Wanted<T> {
    /// Reads the section at `key` by `read`, the word `none`, or nothing.
    fn read<'a>(
        parent: &Section<'a>,
        key: &str,
        read: impl FnOnce(&Section<'a>) -> Result<T, InputError>,
    ) -> Result<Self, InputError> {
        match parent.node(key).map(|n| &n.value) {
            None => Ok(Self::Default),
            Some(Value::Text(word)) if word == "none" => Ok(Self::Off),
            Some(_) => match parent.section(key)? {
                Some(section) => read(&section).map(Self::Given),
                None => Ok(Self::Default),
            },
        }
    }

    /// What was described, where nothing is the default.
    fn given(self) -> Option<T> {
        match self {
            Self::Given(described) => Some(described),
            Self::Default | Self::Off => None,
        }
    }
}

/// Which fields are written, and when.
#[derive(Clone, Debug)]
pub struct FieldsSpec {
    /// From when on; the end is always written.
    pub from: Option<Beginning>,
    /// When; also at the start.
    pub every: Every,
    /// Names such as Density or rho, or a new name with a formula; `None` for the default fields of the
    /// model.
    pub names: Option<Vec<FieldSpec>>,
    /// 64-bit numbers in the files (32-bit by default).
    pub double: bool,
    /// The format of the files.
    pub format: Format,
}

/// The words of `output.fields.format`.
const FORMATS: &[(&str, Format)] = &[("vtu", Format::Vtu), ("vtkhdf", Format::Vtkhdf)];

/// A field of the output.
#[derive(Clone, Debug)]
pub struct FieldSpec {
    /// Its name in the file.
    pub name: Located<String>,
    /// Its formula in the primitive variables, if it is not a known field.
    pub formula: Option<Located<String>>,
}

/// Fields that are written on boundaries alone.
#[derive(Clone, Debug)]
pub struct SurfacesSpec {
    /// The boundaries.
    pub boundaries: Vec<Located<String>>,
    /// From when on; the end is always written.
    pub from: Option<Beginning>,
    /// When; also at the start.
    pub every: Every,
    /// The fields; `None` for the model's usual ones.
    pub names: Option<Vec<FieldSpec>>,
}

/// Fields whose means over time are written at the end.
#[derive(Clone, Debug)]
pub struct AveragesSpec {
    /// From when on.
    pub from: Beginning,
    /// How often samples are taken; `None` for as often as is cheap.
    pub every: Option<Every>,
    /// The fields; `None` for the model's usual ones.
    pub names: Option<Vec<FieldSpec>>,
    /// Whether standard deviations are written beside the means.
    pub deviations: bool,
    /// Whether the covariances of the velocity are written.
    pub reynolds_stresses: Option<Located<bool>>,
}

impl AveragesSpec {
    /// Returns how often samples are taken: by default in each step at first, later at intervals of up to
    /// `most` steps.
    ///
    /// The means of a short run need each step. In a long one the steps between two samples, a hundredth of
    /// all, carry nothing that the means would notice.
    #[must_use]
    pub fn sampled(&self, most: usize) -> Every {
        self.every.unwrap_or(if most == 1 { Every::Steps(1) } else { Every::Growing(most) })
    }
}

/// When checkpoints are written and how many are kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CheckpointSpec {
    /// When; also at the end.
    pub every: Every,
    /// The number of checkpoints that are kept, the latest ones.
    pub keep: usize,
}

/// The default number of checkpoints that are kept.
pub const DEFAULT_KEEP: usize = 2;

impl OutputSpec {
    /// Reads the section; all of it has defaults.
    ///
    /// # Errors
    /// Values of the wrong kind.
    pub fn read(top: &Section<'_>) -> Result<Self, InputError> {
        let Some(section) = top.section("output")? else {
            return Ok(Self {
                directory: None,
                fields: Wanted::Default,
                surfaces: None,
                averages: None,
                checkpoint: Wanted::Default,
                place: None,
            });
        };
        let directory = section.text("directory")?;
        if let Some(nothing) = directory.as_ref().filter(|d| d.value.is_empty()) {
            return Err(InputError::range(&nothing.with("empty"), "the path of a directory"));
        }
        Ok(Self {
            directory: directory.map(|d| d.with(PathBuf::from(&d.value))),
            place: Some(section.place().clone()),
            fields: Wanted::read(&section, "fields", FieldsSpec::read)?,
            surfaces: match section.section("surfaces")? {
                Some(inner) => {
                    let key = inner.key("boundaries");
                    let expected = "a list of names of boundaries";
                    let items =
                        inner.list("boundaries")?.ok_or_else(|| inner.missing("boundaries", expected))?;
                    let names = items.iter().map(|item| section::text(item, &key, expected));
                    let boundaries = names.collect::<Result<Vec<_>, _>>()?;
                    section::once(&boundaries)?;
                    Some(SurfacesSpec {
                        boundaries,
                        from: Beginning::read(&inner)?,
                        every: Every::read(&inner, Every::End)?,
                        names: FieldSpec::read_all(&inner)?,
                    })
                }
                None => None,
            },
            averages: Wanted::read(&section, "averages", AveragesSpec::read)?.given(),
            checkpoint: Wanted::read(&section, "checkpoint", |c| {
                let keep = c.count("keep", 1)?.map_or(DEFAULT_KEEP, |n| n.value);
                Ok(CheckpointSpec { every: Every::read(c, Every::End)?, keep })
            })?,
        })
    }
}

impl AveragesSpec {
    fn read(section: &Section<'_>) -> Result<Self, InputError> {
        Ok(Self {
            from: Beginning::read(section)?.unwrap_or(Beginning::Time(0.0)),
            every: Every::given_or_auto(section)?,
            names: FieldSpec::read_all(section)?,
            deviations: section.flag("deviations")?.is_some_and(|flag| flag.value),
            reynolds_stresses: section.flag("reynolds_stresses")?.filter(|flag| flag.value),
        })
    }
}

impl FieldsSpec {
    fn read(section: &Section<'_>) -> Result<Self, InputError> {
        let format = section.choice("format", FORMATS)?.map_or(Format::Vtu, |format| format.value);
        let names = FieldSpec::read_all(section)?;
        let double = section.choice("precision", &[("single", false), ("double", true)])?;
        let double = double.is_some_and(|d| d.value);
        let from = Beginning::read(section)?;
        Ok(Self { from, every: Every::read(section, Every::End)?, names, double, format })
    }
}

impl FieldSpec {
    /// The list `names` of a section.
    fn read_all(section: &Section<'_>) -> Result<Option<Vec<Self>>, InputError> {
        Ok(match section.list("names")? {
            None => None,
            Some([]) => {
                let place = section.node("names").map_or(section.place(), |node| &node.place);
                let nothing = Located { value: "[]", key: section.key("names"), place: place.clone() };
                return Err(InputError::range(
                    &nothing,
                    "at least one name; `fields: none` writes no fields",
                ));
            }
            Some(items) => {
                let key = section.key("names");
                let fields = items.iter().map(|item| FieldSpec::read(item, &key, section));
                let fields = fields.collect::<Result<Vec<_>, _>>()?;
                section::once(&fields.iter().map(|field| field.name.clone()).collect::<Vec<_>>())?;
                Some(fields)
            }
        })
    }

    /// A name, or a section with one key: `Swirl: sqrt(u^2 + v^2)`.
    fn read(item: &crate::file::node::Node, key: &str, section: &Section<'_>) -> Result<Self, InputError> {
        let expected = "the name of a field, or NAME: FORMULA";
        match &item.value {
            Value::Map(entries) => match entries.as_slice() {
                [only] => {
                    let path = format!("{key}.{}", only.key);
                    let formula = section.constants().text(&only.node, &path)?;
                    let name = Located { value: only.key.clone(), key: path, place: only.place.clone() };
                    section::plain(&name)?;
                    Ok(Self { name, formula: Some(formula) })
                }
                _ => Err(crate::file::expression::wrong_type(item, key, expected)),
            },
            _ => Ok(Self { name: section::text(item, key, expected)?, formula: None }),
        }
    }
}

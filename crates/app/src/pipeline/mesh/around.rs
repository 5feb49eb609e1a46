//! The kinds of `mesh.generate` that are not boxes: domains around a circle.

use dgsuite_basis::Shape;
use dgsuite_mesh::MeshError;
use dgsuite_mesh::generate::{Annulus, CylinderInChannel};

use super::{
    CELLS, CENTRE, CURVE, Filling, GROWTH, INNER, Kind, MAX, MIN, OUTER, RADIUS, SHAPE, shown, whole_numbers,
};
use crate::file::key::Key;
use crate::file::problem::{InputError, Problem};
use crate::file::section::Section;
use crate::file::source::{Located, Place};

/// A domain around a circle.
#[derive(Clone, Debug)]
pub struct Around {
    /// The domain.
    pub domain: Domain,
    /// Where the generator was written.
    pub place: Place,
}

/// The generators of domains around a circle.
#[derive(Clone, Copy, Debug)]
pub enum Domain {
    /// Between two circles.
    Annulus(Annulus),
    /// A channel with a cylinder.
    ChannelCylinder(CylinderInChannel),
}

impl Domain {
    /// The elements' shape, and the numbers of layers and of cells around the circle.
    pub fn cells(&self) -> (Shape, [usize; 2]) {
        match self {
            Self::Annulus(ring) => (ring.shape, ring.cells),
            Self::ChannelCylinder(channel) => (channel.shape, channel.cells),
        }
    }

    /// What is generated, in words.
    pub fn words(&self) -> &'static str {
        match self {
            Self::Annulus(_) => "annulus",
            Self::ChannelCylinder(_) => "channel with a cylinder",
        }
    }
}

impl Around {
    pub(super) fn read(section: &Section<'_>, kind: Kind) -> Result<Self, InputError> {
        let (others, word): (&[(&str, &str)], _) = match kind {
            Kind::ChannelCylinder => {
                let annulus = "the kind annulus";
                (&[("inner", annulus), ("outer", annulus), ("diagonal", "the kind box")], "channel-cylinder")
            }
            _ => {
                let sides = "the kinds box and channel-cylinder";
                let (channel, diagonal) = ("the kind channel-cylinder", ("diagonal", "the kind box"));
                (&[("min", sides), ("max", sides), ("radius", channel), diagonal], "annulus")
            }
        };
        if let Some((key, belongs)) = others.iter().find(|(key, _)| section.has(key)) {
            return Err(section.misplaced(key, &format!("the kind {word}"), belongs));
        }
        let filled = SHAPE.read(section)?;
        let Filling::One(shape @ (Shape::Triangle | Shape::Quadrilateral)) = filled.value else {
            let place = section.entry("shape").map_or(section.place(), |entry| &entry.place);
            let given = section.node("shape").and_then(|node| node.value.scalar_text()).unwrap_or_default();
            let what = Located { value: given, key: section.key("shape"), place: place.clone() };
            return Err(InputError::range(&what, format!("tri or quad for the kind {word}")));
        };
        let order = CURVE.read(section)?;
        let cells = whole_numbers(&CELLS.read(section)?, 2)?;
        let cells = [cells[0], cells[1]];
        let growth = GROWTH.read(section)?;
        let point = |key: &Key<Vec<f64>>, default: [f64; 2]| match key.read(section)? {
            None => Ok(default),
            Some(given) => <[f64; 2]>::try_from(given.value.as_slice())
                .map_err(|_| InputError::range(&given.with(shown(&given.value)), "a list of 2 numbers")),
        };
        let domain = match kind {
            Kind::ChannelCylinder => {
                let dfg = CylinderInChannel::dfg();
                Domain::ChannelCylinder(CylinderInChannel {
                    shape,
                    min: point(&MIN, dfg.min)?,
                    max: point(&MAX, dfg.max)?,
                    centre: point(&CENTRE, dfg.centre)?,
                    radius: RADIUS.read(section)?.map_or(dfg.radius, |radius| radius.value),
                    cells,
                    growth,
                    order,
                })
            }
            _ => {
                let radius = |key: &Key<f64>| match key.read(section)? {
                    Some(radius) => Ok(radius.value),
                    None => Err(section.missing(key.name(), "the radius of this circle")),
                };
                let (inner, outer) = (radius(&INNER)?, radius(&OUTER)?);
                let centre = point(&CENTRE, [0.0; 2])?;
                Domain::Annulus(Annulus { shape, centre, inner, outer, cells, growth, order })
            }
        };
        match domain {
            Domain::Annulus(ring) => ring.check(),
            Domain::ChannelCylinder(channel) => channel.check(),
        }
        .map_err(|error| {
            let entry = match &error {
                MeshError::Generator { key, .. } => section.entry(key),
                _ => None,
            };
            InputError::at(entry.map_or(section.place(), |e| &e.place), Problem::Generate { error })
        })?;
        Ok(Self { domain, place: section.place().clone() })
    }
}

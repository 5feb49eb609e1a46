//! Files of fields at the times of a run, of all elements or of boundaries alone.

use std::path::Path;
use std::sync::Arc;

use super::named::OutputField;
use super::pieces::Pieces;
use super::schedule::Schedule;
use super::{At, Kept, Opening, Writer, sampled, surfaces};
use crate::file::every::{Every, STEPS, TIME};
use crate::file::keys::Absent::{Nothing, Says};
use crate::file::keys::Kind::{Number, Section};
use crate::file::keys::Range::Any;
use crate::file::keys::{FLOW, Row, row};
use crate::monitors::MonitorError;
use crate::monitors::not_finite::NotFinite;
use dgsuite_mesh::Mesh;
use dgsuite_output::writer::Format;
use dgsuite_output::writer::background::BackgroundSeries;
use dgsuite_output::writer::pvd::Series;
use dgsuite_solve::ROOT;
use dgsuite_solve::flow::Flow;

/// The keys of outputs that are such files.
pub(super) static KEYS: &[Row] = &[
    row(
        "output.{fields,surfaces}.every",
        &[TIME],
        Nothing,
        "The interval of time between files, beside those at the start and the end.",
    )
    .of(FLOW),
    row(
        "output.{fields,surfaces}.every_steps",
        &[STEPS],
        Nothing,
        "The number of steps between files, in place of `every`.",
    )
    .of(FLOW),
    row(
        "output.{fields,surfaces}.from",
        &[Number(Any), Section],
        Says("the start"),
        "The time from which files are written, or `when: CONDITION`. The end is always written.",
    )
    .of(FLOW),
];

/// A series of files.
pub(super) struct Files {
    to: To,
    schedule: Schedule,
    fields: Arc<[OutputField]>,
    lattice_order: usize,
    not_finite: NotFinite,
}

enum To {
    /// Of all elements on rank 0, or of the faces of boundaries, written while the run continues.
    Gathered(BackgroundSeries, Option<(Arc<Mesh>, Arc<[String]>)>),
    /// Of several ranks, which write together.
    Ranked(Pieces),
}

impl Files {
    /// Opens the files of all elements.
    pub(super) fn of_all(opening: &Opening<'_>, every: Every) -> Result<Self, MonitorError> {
        let (comm, plan) = (&opening.setup.comm, opening.fields);
        // Rank 0 gathers what one file of all times needs.
        if comm.size() == 1 || plan.format != Format::Vtu {
            let series = gathered(opening, &opening.directory.fields(), &plan.fields)?;
            return Ok(Self::new(opening, To::Gathered(series, None), every, &plan.fields));
        }
        // All ranks write into the directory of rank 0.
        let path = opening.shared.join("fields.pvd");
        let series = match (comm.rank(), opening.saved) {
            (ROOT, Some(_)) => Some(Series::resume(&path, opening.now.t)?),
            (ROOT, None) => Some(Series::create(&path)?),
            _ => None,
        };
        let pieces = Pieces::new(Arc::clone(comm), path, series, plan.options());
        Ok(Self::new(opening, To::Ranked(pieces), every, &plan.fields))
    }

    /// Opens the files of boundaries.
    pub(super) fn of_boundaries(
        opening: &Opening<'_>,
        every: Every,
        (fields, boundaries): (&Arc<[OutputField]>, &Arc<[String]>),
    ) -> Result<Self, MonitorError> {
        let series = gathered(opening, &opening.directory.surfaces(), fields)?;
        let to = To::Gathered(series, Some((Arc::clone(opening.setup.mesh.seen()), Arc::clone(boundaries))));
        Ok(Self::new(opening, to, every, fields))
    }

    fn new(opening: &Opening<'_>, to: To, every: Every, fields: &Arc<[OutputField]>) -> Self {
        let (schedule, not_finite) = (Schedule::new(every, opening.now), opening.not_finite.clone());
        Self { to, schedule, fields: Arc::clone(fields), lattice_order: opening.lattice_order(), not_finite }
    }
}

/// Opens a series that a thread writes; that of a continued run continues.
fn gathered(
    opening: &Opening<'_>,
    path: &Path,
    fields: &[OutputField],
) -> Result<BackgroundSeries, MonitorError> {
    let (format, options) = (opening.fields.format, opening.fields.options());
    let at_points = fields.iter().filter(|field| field.of_element.is_none());
    let names: Vec<&str> = at_points.map(|field| field.name.as_str()).collect();
    let series = match opening.saved {
        Some(_) => format.resume(path, opening.now.t, &names, &options)?,
        None => format.create(path)?,
    };
    Ok(BackgroundSeries::new(series, options)?)
}

impl Writer for Files {
    fn schedule(&mut self) -> &mut Schedule {
        &mut self.schedule
    }

    fn write(&mut self, solver: &mut Flow, at: &At, _: Kept) -> Result<(), MonitorError> {
        let (t, order, fields) = (at.now.t, self.lattice_order, &self.fields);
        match &mut self.to {
            To::Gathered(series, boundaries) => {
                let make = sampled::sample_later(solver, t, order, fields).unwrap_or_else(|| {
                    let sampled = sampled::sample(solver, t, order, fields, false);
                    Box::new(move || Ok(sampled))
                });
                let not_finite = self.not_finite.clone();
                let boundaries = boundaries.clone();
                let looked = move || {
                    let fields = match boundaries {
                        Some((mesh, names)) => surfaces::restrict(&make()?, &mesh, &names),
                        None => make()?,
                    };
                    not_finite.look_at_fields(&fields);
                    Ok(fields)
                };
                Ok(series.write_made(Box::new(looked))?)
            }
            To::Ranked(pieces) => {
                let own = sampled::sample_own(solver, t, order, fields);
                pieces.write(&own, &self.not_finite)
            }
        }
    }

    fn flush(&mut self, last: bool) -> Result<(), MonitorError> {
        match &mut self.to {
            To::Gathered(series, _) if last => Ok(series.finish()?),
            To::Gathered(series, _) => Ok(series.flush()?),
            To::Ranked(_) => Ok(()),
        }
    }
}

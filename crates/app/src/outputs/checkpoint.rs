//! Checkpoints, from which a run can be continued: `output.checkpoint`.

use std::path::PathBuf;
use std::sync::Arc;

use super::schedule::Schedule;
use super::{At, Context, Kept, Kind, Opener, Resolved, Spec, Writer, shared};
use crate::directory::CHECKPOINTS;
use crate::file::every::{Every, STEPS, TIME};
use crate::file::keys::Absent::{Nothing, Says, Value};
use crate::file::keys::Kind::{Section as Of, Whole, Words};
use crate::file::keys::{FLOW, row};
use crate::file::problem::InputError;
use crate::monitors::MonitorError;
use dgsuite_gpu::comm::Communicator;
use dgsuite_output::checkpoint::{self, Checkpoint};
use dgsuite_solve::ROOT;
use dgsuite_solve::flow::Flow;

/// Checkpoints.
pub static OUTPUT: Kind = Kind {
    name: "checkpoint",
    keys: &[
        row(
            "output.checkpoint",
            &[Words(&["none"]), Of],
            Says("one checkpoint at the end"),
            "Checkpoints, from which a run can be continued; `none` writes none.",
        )
        .of(FLOW),
        row(
            "output.checkpoint.every",
            &[TIME],
            Nothing,
            "The interval of time between checkpoints, beside the one at the end.",
        )
        .of(FLOW),
        row(
            "output.checkpoint.every_steps",
            &[STEPS],
            Nothing,
            "The number of steps between checkpoints, in place of `every`.",
        )
        .of(FLOW),
        row(
            "output.checkpoint.keep",
            &[Whole(1, usize::MAX)],
            Value("2"),
            "The number of checkpoints that are kept, the latest ones.",
        )
        .of(FLOW),
    ],
    read: |section| {
        let keep = section.count("keep", 1)?.map_or(KEEP, |n| n.value);
        Ok(Arc::new(Checkpoints { every: Every::read(section, Every::End)?, keep }))
    },
    usual: |case, continued| {
        (!case || continued).then(|| Arc::new(Checkpoints { every: Every::End, keep: KEEP }) as _)
    },
    writes_files: true,
    after_all: true,
};

/// The default number of checkpoints that are kept.
const KEEP: usize = 2;

/// When checkpoints are written, also at the end, and how many are kept, the latest ones.
#[derive(Clone, Copy, Debug)]
struct Checkpoints {
    every: Every,
    keep: usize,
}

impl Spec for Checkpoints {
    fn resolve(&self, _: &Context<'_>) -> Result<Resolved, InputError> {
        let Self { every, keep } = *self;
        let open: Opener = Box::new(move |opening| {
            let comm = Arc::clone(&opening.setup.comm);
            let local = opening.directory.checkpoints();
            let written = match opening.continues && comm.rank() == ROOT {
                true => checkpoint::present(&local, opening.now.step)?,
                false => Vec::new(),
            };
            let schedule = Schedule::new(every, opening.now);
            let (shared, mesh) = (opening.shared.join(CHECKPOINTS), opening.mesh_digest);
            Ok(Box::new(Open { keep, schedule, comm, local, shared, mesh, written }))
        });
        Ok(Resolved { every, about: "checkpoints".to_owned(), open })
    }
}

struct Open {
    keep: usize,
    schedule: Schedule,
    comm: Arc<dyn Communicator>,
    local: PathBuf,
    shared: PathBuf,
    mesh: u64,
    written: Vec<PathBuf>,
}

impl Writer for Open {
    fn schedule(&mut self) -> &mut Schedule {
        &mut self.schedule
    }

    // A continued run does not write its start again.
    fn wanted(&mut self, at: &At) -> bool {
        self.schedule.due(at.now) || at.end
    }

    fn write(&mut self, solver: &mut Flow, at: &At, stored: Kept) -> Result<(), MonitorError> {
        let Kept { averages, sections } = stored;
        let saved = Checkpoint { now: at.now, state: solver.save_own(), averages, sections };
        let path = match solver.own_ranges() {
            None => Some(checkpoint::write(&self.local, &saved, self.mesh)?),
            // All ranks write into the directory of rank 0.
            Some(ranges) => shared::write(self.comm.as_ref(), &self.shared, &saved, &ranges, self.mesh)?,
        };
        if let Some(path) = path {
            checkpoint::prune(&mut self.written, path, self.keep)?;
        }
        Ok(())
    }

    fn latest(&self) -> Option<&PathBuf> {
        self.written.last()
    }
}

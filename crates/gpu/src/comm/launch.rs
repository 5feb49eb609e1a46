//! How a process was started: as one of several ranks of a launcher, or alone; and how it reaches the others.

use std::sync::Arc;

use super::mpi::{MPI_VARIABLE, Mpi, mpi_library};
use super::{Alone, CommError, Communicator, deadline, sockets};

/// The environment variable that chooses the plane of launched processes: `mpi` or `sockets`.
pub const COMM_PLANE_VARIABLE: &str = "DGSUITE_COMM_PLANE";

const TORCHRUN: &str = "torchrun";
const SRUN: &str = "srun";

/// The place of this process among those that a launcher started together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launch {
    /// Its rank.
    pub rank: usize,
    /// The number of ranks, unless only the MPI library knows it.
    pub size: Option<usize>,
    /// Its rank among the processes of this machine, which chooses its device and cores.
    pub local_rank: Option<usize>,
    /// The name of the launcher.
    pub launcher: &'static str,
}

/// The variables of one launcher.
struct Row {
    launcher: &'static str,
    rank: &'static str,
    /// The first one that is set counts.
    size: &'static [&'static str],
    local_rank: &'static str,
    /// A variable that must be set as well, since the others have common names or outlive their launcher.
    also: Option<&'static str>,
}

/// The first row whose rank is set counts. Those of MPI's launchers and of `torchrun`'s agents precede
/// Slurm's: inside a Slurm job they start one process a machine through Slurm, whose variables their ranks
/// inherit. A batch script of Slurm has a rank and a number of tasks, too, but no step. Names such as `RANK`
/// are in common use, and count last unless `torchrun` sets its own.
const ROWS: [Row; 7] = [
    Row {
        launcher: TORCHRUN,
        rank: "RANK",
        size: &["WORLD_SIZE"],
        local_rank: "LOCAL_RANK",
        also: Some("TORCHELASTIC_RUN_ID"),
    },
    Row {
        launcher: "mpiexec of Open MPI",
        rank: "OMPI_COMM_WORLD_RANK",
        size: &["OMPI_COMM_WORLD_SIZE"],
        local_rank: "OMPI_COMM_WORLD_LOCAL_RANK",
        also: None,
    },
    Row {
        launcher: "PALS",
        rank: "PALS_RANKID",
        size: &["PALS_SIZE", "PMI_SIZE"],
        local_rank: "PALS_LOCAL_RANKID",
        also: None,
    },
    Row {
        launcher: "mpiexec",
        rank: "PMI_RANK",
        size: &["PMI_SIZE"],
        local_rank: "MPI_LOCALRANKID",
        also: Some("PMI_SIZE"),
    },
    Row {
        launcher: SRUN,
        rank: "SLURM_PROCID",
        size: &["SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"],
        local_rank: "SLURM_LOCALID",
        also: Some("SLURM_STEP_ID"),
    },
    Row {
        launcher: "a launcher with PMIx",
        rank: "PMIX_RANK",
        size: &["PMIX_SIZE"],
        local_rank: "PMIX_LOCAL_RANK",
        also: None,
    },
    Row {
        launcher: TORCHRUN,
        rank: "RANK",
        size: &["WORLD_SIZE"],
        local_rank: "LOCAL_RANK",
        also: Some("WORLD_SIZE"),
    },
];

impl Launch {
    /// The launch described by environment variables.
    fn from_variables(get: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let number = |name: &str| get(name)?.trim().parse::<usize>().ok();
        let launch = ROWS.iter().find_map(|row| {
            let rank = number(row.rank)?;
            if row.also.is_some_and(|name| get(name).is_none()) {
                return None;
            }
            let size = row.size.iter().find_map(|name| number(name));
            let local_rank = number(row.local_rank).or_else(|| number("SLURM_LOCALID"));
            // A step of Slurm with one task is an ordinary process.
            let alone = row.launcher == SRUN && size.is_none_or(|size| size < 2);
            (!alone).then_some(Self { rank, size, local_rank, launcher: row.launcher })
        });
        launch.filter(|launch| launch.size.is_none_or(|size| launch.rank < size))
    }

    /// Whether nothing says where the processes could meet without MPI: launchers of MPI do not.
    fn has_no_place(&self) -> bool {
        self.launcher != SRUN && std::env::var_os("MASTER_ADDR").is_none()
    }
}

/// How this process was started: `None` if no launcher is recognised.
///
/// | launcher | variables |
/// |---|---|
/// | `mpiexec` of Open MPI | `OMPI_COMM_WORLD_RANK`, `_SIZE`, `_LOCAL_RANK` |
/// | PALS | `PALS_RANKID`, `PALS_LOCAL_RANKID`, `PMI_SIZE` |
/// | `mpiexec` of MPICH, Intel MPI, … | `PMI_RANK`, `PMI_SIZE`, `MPI_LOCALRANKID` |
/// | `srun`, a step of more than one task | `SLURM_PROCID`, `SLURM_STEP_NUM_TASKS`, `SLURM_LOCALID` |
/// | others with PMIx | `PMIX_RANK` |
/// | `torchrun` | `RANK`, `WORLD_SIZE`, `LOCAL_RANK` |
pub fn launched() -> Option<Launch> {
    Launch::from_variables(|name| std::env::var(name).ok())
}

/// The largest number of ranks that is not taken for a mistake of the launcher.
const MOST_RANKS: usize = 1 << 20;

/// The communicator of this process: [`Alone`] without a launch, or with one of a single rank. Otherwise the
/// plane is that of [`COMM_PLANE_VARIABLE`]; without it, processes of `torchrun` are connected by `sockets`,
/// others by [`Mpi`] or, if no MPI library is found, [`MPI_VARIABLE`] does not name one, and they have a
/// place to meet, by `sockets`.
///
/// # Errors
/// [`CommError::NoMpi`], [`CommError::Strangers`], [`CommError::Mpi`]; [`CommError::Meeting`] without MPI;
/// [`CommError::Variable`] for a deadline or plane that makes no sense.
pub fn connect(launch: Option<&Launch>) -> Result<Arc<dyn Communicator>, CommError> {
    let launch = match launch {
        None | Some(Launch { size: Some(1), .. }) => return Ok(Arc::new(Alone)),
        Some(launch) => launch,
    };
    if let Some(size) = launch.size.filter(|&size| size > MOST_RANKS) {
        let variable = if launch.launcher == TORCHRUN { "WORLD_SIZE" } else { "with the number of ranks" };
        let value = size.to_string();
        return Err(CommError::Variable { variable, value, expected: "at most 1048576" });
    }
    let named = std::env::var_os(MPI_VARIABLE).is_some();
    let by_mpi = match std::env::var(COMM_PLANE_VARIABLE).as_deref() {
        Ok("mpi") => true,
        Ok("sockets") => false,
        Ok(value) => {
            let (variable, value) = (COMM_PLANE_VARIABLE, value.to_owned());
            return Err(CommError::Variable { variable, value, expected: "mpi or sockets" });
        }
        Err(_) => launch.launcher != TORCHRUN && (named || mpi_library().is_ok() || launch.has_no_place()),
    };
    match by_mpi {
        true => Ok(Arc::new(Mpi::connect(launch, deadline()?)?)),
        false => sockets::connect(launch, deadline()?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launch(variables: &str) -> Option<Launch> {
        let pairs: Vec<_> = variables.split(' ').filter_map(|pair| pair.split_once('=')).collect();
        Launch::from_variables(|name| Some(pairs.iter().find(|(key, _)| *key == name)?.1.to_owned()))
    }

    #[test]
    fn launchers_are_recognised_by_their_variables() {
        for (variables, launcher, local_rank) in [
            ("PMI_RANK=2 PMI_SIZE=4 MPI_LOCALRANKID=0", "mpiexec", Some(0)),
            ("OMPI_COMM_WORLD_RANK=2 OMPI_COMM_WORLD_SIZE=4 PMIX_RANK=2", "mpiexec of Open MPI", None),
            ("SLURM_PROCID=2 SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=4 SLURM_LOCALID=1", "srun", Some(1)),
            ("PALS_RANKID=2 PMI_RANK=2 PMI_SIZE=4 PALS_LOCAL_RANKID=2", "PALS", Some(2)),
            ("RANK=2 WORLD_SIZE=4 LOCAL_RANK=0", "torchrun", Some(0)),
        ] {
            let expected = Launch { rank: 2, size: Some(4), local_rank, launcher };
            assert_eq!(launch(variables), Some(expected), "{variables}");
        }
        assert_eq!(launch("PMIX_RANK=3").map(|launch| (launch.rank, launch.size)), Some((3, None)));
    }

    #[test]
    fn launchers_inside_a_slurm_job_come_first() {
        let inside = "SLURM_PROCID=1 SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=2 PMI_RANK=5 PMI_SIZE=8";
        assert_eq!(launch(inside).map(|launch| launch.rank), Some(5));
        let agents = "SLURM_PROCID=1 SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=2 RANK=9 WORLD_SIZE=16";
        assert_eq!(launch(agents).map(|launch| launch.launcher), Some("srun"));
        let agents = format!("{agents} TORCHELASTIC_RUN_ID=none");
        assert_eq!(launch(&agents).map(|launch| launch.rank), Some(9));
    }

    #[test]
    fn ordinary_processes_are_alone() {
        for variables in [
            "",
            // A batch script, an interactive step, names in common use, nonsense.
            "SLURM_PROCID=0 SLURM_NTASKS=8 SLURM_JOB_ID=7",
            "SLURM_PROCID=0 SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=1 SLURM_NTASKS=8",
            "RANK=3",
            "PMI_RANK=x PMI_SIZE=2",
            "PMI_RANK=4 PMI_SIZE=4",
        ] {
            assert_eq!(launch(variables), None, "{variables}");
        }
        assert_eq!(connect(None).map(|comm| comm.plane()), Ok("alone"));
    }
}

//! Runs on several ranks: the start and the end that they have in common.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, OnceLock};

use dgsuite_gpu::comm::{self, CommError, Communicator, Counted, Guard, Launch};
use dgsuite_gpu::cores;
use dgsuite_gpu::cuda::Cuda;
use dgsuite_ops::{OpsError, agree};

use super::signals;
use crate::code::Code;
use crate::file::problem::InputError;
use crate::machine;
use crate::plan::Choices;
use crate::run::summary;
use crate::study::StudyError;
use dgsuite_solve::ROOT;
use dgsuite_solve::flow::{Device, DeviceError};

/// The environment variable that leaves the processes of `--devices` on all cores if it is `0`.
const BIND: &str = "DGSUITE_BIND";

/// The ranks of this run.
#[derive(Clone, Default)]
pub(super) struct Team {
    /// Ends this process if it hangs after another rank has ended. Before `comm`, so that it leaves first.
    guard: Option<Arc<Guard>>,
    comm: Option<Arc<dyn Communicator>>,
    place: Place,
    /// Where the results are, once the run begins.
    results: Arc<OnceLock<PathBuf>>,
}

/// A rank among those of its host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Place {
    /// Its number among the ranks of the host.
    local_rank: usize,
    /// Number of ranks that may run on the same cores.
    share: usize,
    /// The cores of each rank of the host, if each has its own.
    cores: String,
}

impl Team {
    /// Joins the other ranks if a launcher such as `mpiexec` or `srun`, or `--devices`, has started several.
    ///
    /// # Errors
    /// [`CommError`] if they cannot be reached.
    pub(super) fn join() -> Result<Self, CommError> {
        let comm = match comm::child_rank()? {
            Some(child) => child,
            None => match comm::launched() {
                Some(launch) => comm::connect(Some(&launch))?,
                None => return Ok(Self::default()),
            },
        };
        if comm.size() == 1 {
            return Ok(Self::default());
        }
        let place = place(comm.as_ref())?;
        let rank = comm.rank();
        let results = Arc::new(OnceLock::new());
        let known = Arc::clone(&results);
        let guard = Guard::new(&comm, move |error| {
            tell(rank, Some(Code::Ranks), &error.to_string());
            conclude(rank, known.get(), error);
            1
        })?;
        Ok(Self { guard: Some(Arc::new(guard)), comm: Some(Counted::new(comm)), place, results })
    }

    /// Notes where the results are: if a rank ends, the summary says so.
    pub(super) fn writes_to(&self, directory: &Path) {
        self.results.get_or_init(|| directory.to_owned());
    }

    /// Sets what the ranks have to do with a run.
    pub(super) fn choices(&self, choices: Choices) -> Choices {
        let Place { local_rank, share, cores } = self.place.clone();
        Choices { comm: self.comm.clone(), local_rank, cores_shared_by: share, cores, ..choices }
    }

    /// The ranks, if there are several.
    pub(super) fn comm(&self) -> Option<&Arc<dyn Communicator>> {
        self.comm.as_ref()
    }

    /// The number of this rank among those of its host.
    pub(super) fn local_rank(&self) -> usize {
        self.place.local_rank
    }

    /// Whether this rank prints.
    pub(super) fn prints(&self) -> bool {
        self.comm.as_ref().is_none_or(|comm| comm.rank() == ROOT)
    }

    /// The result if all ranks have one; see [`agree`].
    pub(super) fn agree<V>(&self, result: anyhow::Result<V>) -> anyhow::Result<V> {
        match &self.comm {
            Some(comm) => agree(comm.as_ref(), result),
            None => result,
        }
    }

    /// Returns the exit code of rank 0 on all ranks. A failure after the start, which other ranks may not
    /// know of, ends all ranks.
    pub(super) fn finish(&self, result: anyhow::Result<u8>) -> anyhow::Result<u8> {
        let result = self.finish_together(result);
        if let (Some(comm), false) = (&self.comm, matches!(result, Ok(0)))
            && let Some(error) = comm.failure()
        {
            conclude(comm.rank(), self.results.get(), &error);
        }
        if let Some(guard) = &self.guard {
            match &result {
                Ok(0) => guard.release(),
                Ok(code) => guard.leave((*code).into()),
                Err(_) => guard.leave(1),
            }
        }
        result
    }

    fn finish_together(&self, result: anyhow::Result<u8>) -> anyhow::Result<u8> {
        let Some(comm) = &self.comm else { return result };
        match result {
            Ok(code) => {
                let mut bytes = vec![code];
                match comm.broadcast(ROOT, &mut bytes) {
                    Ok(()) => {
                        // No rank ends while another one still works. Its failure here is its own.
                        let _ = comm.barrier();
                        Ok(bytes.first().copied().unwrap_or(code))
                    }
                    // This rank has told its failure.
                    Err(_) if code != 0 && self.prints() => Ok(code),
                    // Not as an error of the start, which is one of the environment.
                    Err(error) => Err(OpsError::from(error).into()),
                }
            }
            Err(error) if input_of(&error).is_some() || is_elsewhere(&error) => Err(error),
            Err(error) => {
                let text = error.to_string();
                tell(comm.rank(), Code::of(&error).first().copied(), &text);
                comm.abort(&text);
                Err(error)
            }
        }
    }
}

/// Says why a rank fails.
fn tell(rank: usize, code: Option<Code>, text: &str) {
    let code = code.map_or_else(String::new, |code| format!("[{code}]"));
    let _ = writeln!(io::stderr(), "rank {rank}: error{code}: {text}");
}

/// Says in the summary of a run in progress that it has failed, on the rank that writes it, or on the next
/// one if that has ended.
fn conclude(rank: usize, results: Option<&PathBuf>, error: &CommError) {
    let lost = matches!(error, CommError::Left { rank: ROOT });
    if let (Some(results), true) = (results, rank == usize::from(lost)) {
        summary::conclude(results, Code::Ranks, &format!("rank {rank}: {error}"));
    }
}

/// Whether another rank reports the cause.
pub(super) fn is_elsewhere(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(OpsError::OtherRank { .. }))
        || input_of(error).is_some_and(|e| e.problem.is_elsewhere())
}

/// The mistake in the input, if it is one.
fn input_of(error: &anyhow::Error) -> Option<&InputError> {
    let of_study = error.downcast_ref::<StudyError>().and_then(StudyError::input);
    of_study.or_else(|| error.downcast_ref())
}

/// Finds the other ranks of this host and those that run on the same cores. Collective.
fn place(comm: &dyn Communicator) -> Result<Place, CommError> {
    let host = machine::host();
    let own = format!("{}\t{}", host, cores::list_of_cores(&cores::allowed_cores()));
    let all = comm.gather(ROOT, own.as_bytes())?;
    let mut text = all.map_or_else(Vec::new, |all| all.join(&b'\n'));
    comm.broadcast(ROOT, &mut text)?;
    let text = String::from_utf8_lossy(&text).into_owned();
    Ok(place_among(comm.rank(), &text.split('\n').collect::<Vec<_>>()))
}

/// The place of a rank, from the host and the cores of all ranks, separated by a tab.
fn place_among(rank: usize, all: &[&str]) -> Place {
    let Some(own) = all.get(rank) else { return Place::default() };
    let host = |line: &str| line.split('\t').next().map(str::to_owned);
    let local_rank = all[..rank].iter().filter(|line| host(line) == host(own)).count();
    let here: Vec<&str> = all.iter().copied().filter(|line| host(line) == host(own)).collect();
    let alone = |line: &&str| here.iter().filter(|other| *other == line).count() == 1;
    let cores = match here.len() > 1 && here.iter().all(alone) {
        true => listed(&here.iter().map(|line| line.split('\t').nth(1).unwrap_or("")).collect::<Vec<_>>()),
        false => String::new(),
    };
    Place { local_rank, share: all.iter().filter(|line| *line == own).count(), cores }
}

/// The cores of each process, as one text.
pub(super) fn listed(cores: &[&str]) -> String {
    const SHOWN: usize = 8;
    let more = if cores.len() > SHOWN { " | …" } else { "" };
    format!("{}{more}", cores[..cores.len().min(SHOWN)].join(" | "))
}

/// The cores for a process of each of some devices; `None` if they cannot be shared out, or shall not be.
pub(super) fn cores_of(devices: &[usize]) -> Option<Vec<Vec<usize>>> {
    if std::env::var_os(BIND).is_some_and(|value| value == "0") {
        return None;
    }
    let addresses: Vec<_> = devices.iter().map(|&device| Cuda::bus_address(device).ok()).collect();
    cores::cores_beside(Path::new("/sys"), &cores::allowed_cores(), &addresses)
}

/// Runs this command once for each device of a list, such as `all`, `2` or `0,2`, and returns the first exit
/// code other than 0.
pub(super) fn on_devices(list: &str) -> anyhow::Result<u8> {
    refuse_inside(list, comm::launched())?;
    let devices = parse(list, Device::count())?;
    let program = std::env::current_exe()?;
    let arguments = without_devices(std::env::args_os().skip(1));
    // The numbers are those of the devices that this process sees.
    let visible = std::env::var("CUDA_VISIBLE_DEVICES").unwrap_or_default();
    let names: Vec<&str> = visible.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    let cores = cores_of(&devices);
    let command = |(process, &device): (usize, &usize)| {
        let mut command = Command::new(&program);
        let name = names.get(device).map_or_else(|| device.to_string(), ToString::to_string);
        command.args(&arguments).args(["--device", "cuda"]).env("CUDA_VISIBLE_DEVICES", name);
        if let Some(cores) = &cores {
            cores::bind(&mut command, &cores[process]);
        }
        command
    };
    let signal = signals::forwarded()?;
    let endings = comm::run_children(devices.iter().enumerate().map(command).collect(), signal)?;
    // The others have told it, if one of them has ended by itself.
    let failed_alone =
        |(rank, &code): (usize, &i32)| code != 0 && code < 128 && !endings.hung.contains(&rank);
    if let Some((rank, signal)) = endings.killed
        && !endings.codes.iter().enumerate().any(failed_alone)
    {
        let text = format!("rank {rank} has ended by signal {signal}, but other ranks still wait for it");
        let _ = writeln!(io::stderr(), "error[{}]: {text}", Code::Ranks);
    }
    let code = endings.codes.into_iter().find(|&code| code != 0).unwrap_or(0);
    Ok(u8::try_from(code).unwrap_or(1))
}

/// Each process of a launcher would start processes of its own, and all would write the same results.
fn refuse_inside(list: &str, launch: Option<Launch>) -> Result<(), DeviceError> {
    let Some((launcher, size)) = launch.and_then(|launch| Some((launch.launcher, launch.size?))) else {
        return Ok(());
    };
    if size == 1 {
        return Ok(());
    }
    let reason = format!(
        "{launcher} has started {size} processes, each of which would start one for each GPU: leave out \
         --devices, as processes with `device: cuda` take the GPUs of their machine in turn"
    );
    Err(DeviceError::Unusable { device: format!("--devices {list}"), reason })
}

/// The devices of a list; `count` are there.
fn parse(list: &str, count: usize) -> Result<Vec<usize>, DeviceError> {
    let refused = |reason: String| DeviceError::Unusable { device: format!("--devices {list}"), reason };
    let numbers: Result<Vec<usize>, _> = list.split(',').map(|word| word.trim().parse()).collect();
    let devices = match (list.trim(), numbers) {
        ("all", _) => (0..count).collect(),
        (_, Ok(numbers)) if list.contains(',') => numbers,
        (_, Ok(numbers)) => (0..numbers.first().copied().unwrap_or(0)).collect(),
        (_, Err(_)) => {
            return Err(refused("give `all`, a number of GPUs, or a list such as 0,2".to_owned()));
        }
    };
    match devices.iter().max() {
        None => Err(refused(format!("there must be a GPU; the driver shows {count}"))),
        Some(most) if *most >= count => {
            Err(refused(format!("the driver shows {count} GPUs, counted from 0")))
        }
        Some(_) => Ok(devices),
    }
}

/// The arguments without `--devices` and its value.
fn without_devices(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut skip = false;
    let keep = |argument: &OsString| {
        let value = std::mem::take(&mut skip);
        let text = argument.to_string_lossy();
        skip = text == "--devices";
        !(value || skip || text.starts_with("--devices="))
    };
    let mut keep = keep;
    arguments.filter(|argument| keep(argument)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_numbers_lists_or_all() {
        assert_eq!(parse("all", 3), Ok(vec![0, 1, 2]));
        assert_eq!(parse("2", 3), Ok(vec![0, 1]));
        assert_eq!(parse("0,2", 3), Ok(vec![0, 2]));
        for (list, part) in
            [("4", "shows 3 GPUs"), ("1,3", "shows 3 GPUs"), ("0", "must be"), ("x", "give `all`")]
        {
            let error = parse(list, 3).unwrap_err().to_string();
            assert!(error.contains(part), "{list}: {error}");
        }
        assert!(parse("all", 0).is_err());
    }

    #[test]
    fn one_process_starts_others() {
        let launch = |size| Some(Launch { rank: 0, size, local_rank: Some(0), launcher: "srun" });
        // A launcher with PMIx does not say how many there are; a step of one task is an ordinary process.
        for alone in [None, launch(None), launch(Some(1))] {
            assert_eq!(refuse_inside("all", alone), Ok(()), "{alone:?}");
        }
        let error = refuse_inside("all", launch(Some(4))).unwrap_err().to_string();
        assert!(error.contains("`--devices all`") && error.contains("srun has started 4"), "{error}");
    }

    #[test]
    fn the_children_get_all_other_arguments() {
        let arguments = ["run", "a.yaml", "--devices", "2", "--quiet", "--devices=all", "--set", "x=1"];
        let kept = without_devices(arguments.iter().map(OsString::from));
        assert_eq!(kept, ["run", "a.yaml", "--quiet", "--set", "x=1"]);
    }

    #[test]
    fn ranks_of_a_host_share_cores_unless_they_are_bound() {
        let free = ["a\t0-7", "b\t0-7", "a\t0-7", "b\t0-7"];
        assert_eq!(place_among(2, &free), Place { local_rank: 1, share: 2, cores: String::new() });
        let bound = ["a\t0-3", "b\t0-7", "a\t4-7"];
        let place = place_among(2, &bound);
        assert_eq!(place, Place { local_rank: 1, share: 1, cores: "0-3 | 4-7".to_owned() });
        // One rank of a host has all of its cores.
        assert_eq!(place_among(1, &bound), Place { local_rank: 0, share: 1, cores: String::new() });
        assert_eq!(listed(&["0"; 9]), "0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | …");
    }
}

//! The processes of ranks: which of them run on this host, and whether one has ended.

use super::{CommError, Communicator};

/// This process: its host since the last start, its name space, its number.
pub(crate) fn process() -> String {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let space = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    format!("{} {} {}", boot.trim(), space.display(), std::process::id())
}

/// The processes of all ranks. Collective.
pub(super) fn processes(comm: &dyn Communicator) -> Result<Vec<String>, CommError> {
    let all = comm.gather(0, process().as_bytes())?;
    let mut text = all.map_or_else(Vec::new, |all| all.join(&b'\n'));
    comm.broadcast(0, &mut text)?;
    Ok(String::from_utf8_lossy(&text).split('\n').map(str::to_owned).collect())
}

/// The ranks of other processes that this process sees, with the numbers of the processes.
pub(crate) fn others(rank: usize, processes: &[String]) -> Vec<(usize, i32)> {
    let Some(own) = processes.get(rank) else { return Vec::new() };
    let number = |process: &String| {
        let (space, number) = process.rsplit_once(' ')?;
        (process != own && own.rsplit_once(' ')?.0 == space).then(|| number.parse().ok())?
    };
    processes.iter().enumerate().filter_map(|(rank, process)| Some((rank, number(process)?))).collect()
}

/// Whether there is no process of this number, or one that has ended and that its parent has not asked for.
#[cfg(unix)]
pub(crate) fn has_ended(process: i32) -> bool {
    // SAFETY: signal 0 only asks whether the process exists.
    let found = unsafe { libc::kill(process, 0) };
    if found != 0 && std::io::Error::last_os_error().raw_os_error() == Some(libc::ESRCH) {
        return true;
    }
    // The name of the program, in parentheses, may have any letters. Other systems have no such file.
    let status = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    status.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with(['Z', 'X']))
}

#[cfg(not(unix))]
pub(crate) const fn has_ended(_: i32) -> bool {
    false
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_process_has_ended_also_before_its_parent_asks() {
        let own = i32::try_from(std::process::id()).expect("a number");
        assert!(!has_ended(own));
        let mut child = std::process::Command::new("sleep").arg("60").spawn().expect("sleep");
        let number = i32::try_from(child.id()).expect("a number");
        assert!(!has_ended(number));
        child.kill().expect("a child");
        let begin = std::time::Instant::now();
        while !cfg!(target_os = "linux") || !has_ended(number) {
            assert!(begin.elapsed().as_secs() < 10, "it is not seen");
            if !cfg!(target_os = "linux") {
                break;
            }
        }
        child.wait().expect("its end");
        assert!(has_ended(number));
    }

    #[test]
    fn others_are_those_of_the_same_host() {
        let processes = ["a s 7", "b s 8", "a s 9", "a t 7"].map(str::to_owned);
        assert_eq!(others(0, &processes), [(2, 9)]);
        assert_eq!(others(1, &processes), []);
        assert_eq!(others(4, &processes), []);
    }
}

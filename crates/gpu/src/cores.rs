//! The cores of this machine: those that a process may use, and those beside devices.
//!
//! Linux describes them in files: `/sys/bus/pci/devices/…/numa_node` is the memory node beside a device,
//! `/sys/devices/system/node/node…/cpulist` has the processors of a node, and
//! `/sys/devices/system/cpu/cpu…/topology/thread_siblings_list` those of one core, which share its arithmetic
//! units.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

/// The processors that this process may use, in ascending order; empty where this is not known.
#[must_use]
pub fn allowed_cores() -> Vec<usize> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    list.and_then(parse).unwrap_or_default()
}

/// The processors of `allowed` shared out among processes, each of which uses a device: processors of the
/// memory node beside the device, whole cores, about as many for each process of the node. `devices` are
/// their addresses on the PCI bus, such as `0000:17:00.0`; if one is `None`, or has no node, all processors
/// count as one node. `None` if there are fewer cores beside a device than processes. `sys` is `/sys`.
///
/// Result: `[process][processor]`, in ascending order.
#[must_use]
pub fn cores_beside(sys: &Path, allowed: &[usize], devices: &[Option<String>]) -> Option<Vec<Vec<usize>>> {
    let nodes: Option<Vec<usize>> = devices.iter().map(|device| node_of(sys, device.as_deref()?)).collect();
    let one_node = nodes.is_none();
    let nodes = nodes.unwrap_or_else(|| vec![0; devices.len()]);
    let mut shares = vec![Vec::new(); devices.len()];
    let mut users: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (process, &node) in nodes.iter().enumerate() {
        users.entry(node).or_default().push(process);
    }
    for (node, users) in users {
        let beside = match one_node {
            true => allowed.to_vec(),
            false => read_list(&sys.join(format!("devices/system/node/node{node}/cpulist")))?,
        };
        let cores = whole_cores(sys, allowed, &beside);
        if cores.len() < users.len() {
            return None;
        }
        for (i, &process) in users.iter().enumerate() {
            let of = |i: usize| i * cores.len() / users.len();
            shares[process] = cores[of(i)..of(i + 1)].concat();
            shares[process].sort_unstable();
        }
    }
    Some(shares)
}

/// The memory node beside a device; machines with one node may say −1.
fn node_of(sys: &Path, device: &str) -> Option<usize> {
    let file = sys.join("bus/pci/devices").join(device).join("numa_node");
    std::fs::read_to_string(file).ok()?.trim().parse().ok()
}

/// The processors that are both `allowed` and `beside` a device, by cores.
fn whole_cores(sys: &Path, allowed: &[usize], beside: &[usize]) -> Vec<Vec<usize>> {
    let mut cores: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for &processor in beside.iter().filter(|processor| allowed.contains(processor)) {
        let file = format!("devices/system/cpu/cpu{processor}/topology/thread_siblings_list");
        let first = read_list(&sys.join(file)).and_then(|siblings| siblings.first().copied());
        cores.entry(first.unwrap_or(processor)).or_default().push(processor);
    }
    cores.into_values().collect()
}

fn read_list(file: &Path) -> Option<Vec<usize>> {
    parse(&std::fs::read_to_string(file).ok()?)
}

/// A list such as `0-3,8`.
fn parse(list: &str) -> Option<Vec<usize>> {
    const MOST: usize = 1 << 16;
    let mut all = Vec::new();
    for range in list.trim().split(',').filter(|range| !range.is_empty()) {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (usize, usize) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        if last >= MOST {
            return None;
        }
        all.extend(first..=last);
    }
    Some(all)
}

/// Processors in ascending order as a list such as `0-3,8`.
#[must_use]
pub fn list_of_cores(cores: &[usize]) -> String {
    let mut text = String::new();
    for run in cores.chunk_by(|a, b| a + 1 == *b) {
        let comma = if text.is_empty() { "" } else { "," };
        let _ = match run {
            [first, .., last] => write!(text, "{comma}{first}-{last}"),
            _ => write!(text, "{comma}{}", run[0]),
        };
    }
    text
}

/// Lets a command run on these processors only. Other systems than Linux ignore it.
#[cfg(target_os = "linux")]
pub fn bind(command: &mut Command, cores: &[usize]) {
    use std::os::unix::process::CommandExt as _;
    const BITS: usize = libc::c_ulong::BITS as usize;
    let Some(most) = cores.iter().max() else { return };
    let mut mask = vec![libc::c_ulong::default(); most / BITS + 1];
    for core in cores {
        mask[core / BITS] |= 1 << (core % BITS);
    }
    let set = move || {
        // SAFETY: the mask has as many bytes as the call is told. Processors that do not exist are ignored.
        let code = unsafe { libc::sched_setaffinity(0, size_of_val(&mask[..]), mask.as_ptr().cast()) };
        // A process that cannot be bound is slower, no failure.
        let _ = code;
        Ok(())
    };
    // SAFETY: between fork and exec nothing is allocated: the mask is there, and the call is one of the
    // system.
    unsafe { command.pre_exec(set) };
}

/// Lets a command run on these processors only. Other systems than Linux ignore it.
#[cfg(not(target_os = "linux"))]
pub fn bind(_: &mut Command, _: &[usize]) {}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine with two nodes of four cores of two processors each, numbered as Linux does.
    fn machine(devices: &[(&str, &str)]) -> tempfile::TempDir {
        let sys = tempfile::tempdir().expect("a folder");
        let write = |file: String, text: &str| {
            let file = sys.path().join(file);
            std::fs::create_dir_all(file.parent().expect("a parent")).expect("a folder");
            std::fs::write(file, text).expect("a file");
        };
        write("devices/system/node/node0/cpulist".to_owned(), "0-3,8-11\n");
        write("devices/system/node/node1/cpulist".to_owned(), "4-7,12-15\n");
        for processor in 0..16 {
            let core = processor % 8;
            let file = format!("devices/system/cpu/cpu{processor}/topology/thread_siblings_list");
            write(file, &format!("{core},{}\n", core + 8));
        }
        for (device, node) in devices {
            write(format!("bus/pci/devices/{device}/numa_node"), node);
        }
        sys
    }

    fn shares(sys: &Path, allowed: &str, devices: &[&str]) -> Option<Vec<String>> {
        let allowed = parse(allowed).expect("a list");
        let devices: Vec<_> = devices.iter().map(|&device| Some(device.to_owned())).collect();
        let shares = cores_beside(sys, &allowed, &devices)?;
        Some(shares.iter().map(|share| list_of_cores(share)).collect())
    }

    #[test]
    fn processes_share_the_whole_cores_beside_their_devices() {
        let sys = machine(&[("a", "0\n"), ("b", "1\n"), ("c", "1\n")]);
        let all = shares(sys.path(), "0-15", &["a", "b", "c"]).expect("shares");
        assert_eq!(all, ["0-3,8-11", "4-5,12-13", "6-7,14-15"]);
        // Only some processors are allowed.
        assert_eq!(shares(sys.path(), "2-5", &["a", "c"]).expect("shares"), ["2-3", "4-5"]);
        assert_eq!(shares(sys.path(), "0-7", &["c", "b", "c"]).expect("shares"), ["4", "5", "6-7"]);
    }

    #[test]
    fn nobody_is_bound_where_cores_are_lacking() {
        let sys = machine(&[("a", "0\n"), ("b", "1\n")]);
        assert_eq!(shares(sys.path(), "0-3", &["a", "b"]), None);
        // Two processors of one core are no two cores.
        assert_eq!(shares(sys.path(), "1,9", &["a", "a"]), None);
        assert_eq!(shares(sys.path(), "", &["a"]), None);
    }

    #[test]
    fn machines_without_nodes_are_shared_as_a_whole() {
        let sys = machine(&[("a", "-1\n"), ("b", "1\n")]);
        let expected = ["0-3,8-11", "4-7,12-15"];
        assert_eq!(shares(sys.path(), "0-15", &["a", "b"]).expect("shares"), expected);
        assert_eq!(shares(sys.path(), "0-15", &["b", "unknown"]).expect("shares"), expected);
        let nowhere = Path::new("/no/such/folder");
        assert_eq!(shares(nowhere, "0-2", &["a", "b"]).expect("shares"), ["0", "1-2"]);
    }

    #[test]
    fn lists_read_back() {
        for list in ["", "0", "0-3,8", "1,3,5-6"] {
            assert_eq!(list_of_cores(&parse(list).expect("a list")), list);
        }
        for wrong in ["x", "3-", "0-99999999"] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_bound_command_sees_its_cores() {
        let allowed = allowed_cores();
        let last = *allowed.last().expect("a core");
        let mut command = Command::new("grep");
        command.args(["Cpus_allowed_list", "/proc/self/status"]);
        bind(&mut command, &[last]);
        let text = String::from_utf8(command.output().expect("grep").stdout).expect("text");
        assert_eq!(text.trim(), format!("Cpus_allowed_list:\t{last}"));
    }
}

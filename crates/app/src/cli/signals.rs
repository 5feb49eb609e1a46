//! Signals that end a run: at once during preparation, after the current step during the run.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use signal_hook::consts::TERM_SIGNALS;
use signal_hook::flag::{register, register_conditional_shutdown};

use crate::plan::Choices;

/// SIGHUP (a lost terminal) and the signals that batch systems send some time before they end a job. They may
/// arrive more than once.
#[cfg(unix)]
const NOTICES: [i32; 3] =
    [signal_hook::consts::SIGHUP, signal_hook::consts::SIGUSR1, signal_hook::consts::SIGUSR2];
#[cfg(not(unix))]
const NOTICES: [i32; 0] = [];

/// Signals that arrive within this time of the first one are the same request: `timeout` sends SIGTERM to the
/// process and then to its group, and a terminal sends SIGINT to a whole pipeline.
const SAME_REQUEST: Duration = Duration::from_secs(1);

/// Makes signals set `choices.stop`. While `choices.preparing` is set, signals end the program with the exit
/// code that a shell uses for them (128 + number); so does a later SIGINT or SIGTERM at any time.
///
/// # Errors
/// The errors of the operating system.
pub(super) fn listen(choices: &Choices) -> io::Result<()> {
    let (first, insisted) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    for &signal in TERM_SIGNALS {
        register_conditional_shutdown(signal, 128 + signal, Arc::clone(&choices.preparing))?;
        register_conditional_shutdown(signal, 128 + signal, Arc::clone(&insisted))?;
        register(signal, Arc::clone(&first))?;
        register(signal, Arc::clone(&choices.stop))?;
    }
    // A signal handler cannot measure time, so a thread waits for the first signal.
    thread::Builder::new().name("signals".to_owned()).spawn(move || {
        while !first.load(Ordering::Relaxed) {
            thread::sleep(SAME_REQUEST / 4);
        }
        thread::sleep(SAME_REQUEST);
        insisted.store(true, Ordering::Relaxed);
    })?;
    for signal in NOTICES.into_iter().filter(|&signal| !is_ignored(signal)) {
        register_conditional_shutdown(signal, 128 + signal, Arc::clone(&choices.preparing))?;
        register(signal, Arc::clone(&choices.stop))?;
    }
    // A file beyond the limit of the shell is an error of the writer, with its name, not the end of the
    // program.
    #[cfg(target_os = "linux")]
    register(FILE_SIZE, Arc::new(AtomicBool::new(false)))?;
    Ok(())
}

/// SIGXFSZ.
#[cfg(target_os = "linux")]
const FILE_SIZE: i32 = 25;

/// Makes signals that end a run go to other processes: returns a function that returns each of them once.
///
/// # Errors
/// The errors of the operating system.
pub(super) fn forwarded() -> io::Result<impl Fn() -> Option<i32>> {
    let mut flags = Vec::new();
    for signal in TERM_SIGNALS.iter().copied().chain(NOTICES).filter(|&signal| !is_ignored(signal)) {
        let flag = Arc::new(AtomicBool::new(false));
        register(signal, Arc::clone(&flag))?;
        flags.push((signal, flag));
    }
    Ok(move || flags.iter().find(|(_, flag)| flag.swap(false, Ordering::Relaxed)).map(|(signal, _)| *signal))
}

/// Returns whether the program was started with a signal ignored, as `nohup` does. Only Linux reports it.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask >> (signal - 1) & 1 == 1
}

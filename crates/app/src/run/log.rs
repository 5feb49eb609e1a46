//! What a run says: lines on the terminal, the same lines in `log.txt`, and a progress bar.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::writer::WriterError;

/// The voice of a run. Results go to standard output, progress and warnings to standard error.
pub struct Log {
    quiet: bool,
    bars: bool,
    file: Option<(PathBuf, File)>,
    bar: ProgressBar,
}

/// Parts of the progress bar.
const PARTS: u64 = 10_000;

impl Log {
    /// A log without a file. `quiet` leaves only warnings and errors on the terminal.
    pub fn new(quiet: bool) -> Self {
        Self { quiet, bars: !quiet, file: None, bar: ProgressBar::hidden() }
    }

    /// A log for a part of this run: it says nothing but warnings, and shows a bar if this one does.
    #[must_use]
    pub fn for_a_part(&self) -> Self {
        Self { quiet: true, bars: self.bars, file: None, bar: ProgressBar::hidden() }
    }

    /// Whether only warnings and errors are shown.
    pub fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Starts `log.txt`, or continues it after a restart.
    ///
    /// # Errors
    /// [`WriterError::Io`].
    pub fn open(&mut self, path: &Path, append: bool) -> Result<(), WriterError> {
        let opened = File::options().create(true).write(true).append(append).truncate(!append).open(path);
        let file = opened.map_err(|source| WriterError::Io { path: path.to_owned(), source })?;
        self.file = Some((path.to_owned(), file));
        Ok(())
    }

    /// A result: standard output and the file.
    pub fn result(&mut self, text: &str) {
        self.record(text);
        if !self.quiet {
            // Nobody may be reading; that is no reason to stop a run.
            self.bar.suspend(|| {
                let _ = writeln!(io::stdout(), "{text}");
            });
        }
    }

    /// A remark: standard error and the file.
    pub fn note(&mut self, text: &str) {
        self.record(text);
        if !self.quiet {
            self.show(text);
        }
    }

    /// A warning, also when quiet.
    pub fn warn(&mut self, text: &str) {
        self.record(text);
        self.show(text);
    }

    fn show(&self, text: &str) {
        self.bar.suspend(|| {
            let _ = writeln!(io::stderr(), "{text}");
        });
    }

    fn record(&mut self, text: &str) {
        if let Some((_, file)) = &mut self.file {
            // A log that cannot be written (a full disk) is reported by the next result that cannot be written either.
            let _ = writeln!(file, "{text}");
        }
    }

    /// Shows the progress bar, if standard error is a terminal.
    pub fn start_bar(&mut self) {
        if !self.bars {
            return;
        }
        let bar = ProgressBar::with_draw_target(Some(PARTS), ProgressDrawTarget::stderr_with_hz(5));
        if let Ok(style) = ProgressStyle::with_template("[{bar:24}] {msg}") {
            bar.set_style(style.progress_chars("=> "));
        }
        self.bar = bar;
    }

    /// Whether anybody sees the bar.
    pub fn has_bar(&self) -> bool {
        !self.bar.is_hidden()
    }

    /// Moves the bar to a share of the run.
    pub fn progress(&self, share: f64, message: String) {
        self.bar.set_position((share.clamp(0.0, 1.0) * PARTS as f64) as u64);
        self.bar.set_message(message);
    }

    /// Removes the bar.
    pub fn stop_bar(&mut self) {
        self.bar.finish_and_clear();
        self.bar = ProgressBar::hidden();
    }
}

/// A duration as `1:02:03` or `2:03`.
pub fn clock(time: Duration) -> String {
    let s = time.as_secs();
    match s / 3600 {
        0 => format!("{}:{:02}", s / 60, s % 60),
        h => format!("{h}:{:02}:{:02}", s / 60 % 60, s % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_holds_what_was_said_also_when_quiet() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log.txt");
        let mut log = Log::new(true);
        log.open(&path, false).unwrap();
        log.note("one");
        log.result("two");
        let mut again = Log::new(true);
        again.open(&path, true).unwrap();
        again.note("three");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "one\ntwo\nthree\n");
    }

    #[test]
    fn times_are_readable() {
        assert_eq!(clock(Duration::from_secs(62)), "1:02");
        assert_eq!(clock(Duration::from_secs(3723)), "1:02:03");
    }
}

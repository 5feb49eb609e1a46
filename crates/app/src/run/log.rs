//! The messages of a run: lines on the terminal, the same lines in `log.txt`, and a progress bar.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use dgsuite_output::escape::printable;
use dgsuite_output::writer::WriterError;

/// Prints the messages of a run: results to standard output, progress and warnings to standard error.
pub struct Log {
    quiet: bool,
    /// Prints nothing at all.
    mute: bool,
    bars: bool,
    file: Option<(PathBuf, File)>,
    bar: ProgressBar,
    started: Instant,
    /// Least time between two lines of progress if there is no terminal.
    lines: Duration,
}

/// Time between two updates of the progress bar.
const BAR_INTERVAL: Duration = Duration::from_millis(200);

/// Least time between two lines of progress.
const LINE_INTERVAL: Duration = Duration::from_secs(5);

/// A line of progress also waits for 1/100 of the time so far, so that a run of a week prints a few hundred
/// of them.
const LINE_SHARE: u32 = 100;

/// Parts of the progress bar.
const PARTS: u64 = 10_000;

impl Log {
    /// Makes a log without a file. `quiet` prints only warnings and errors.
    pub fn new(quiet: bool) -> Self {
        Self {
            quiet,
            mute: false,
            bars: !quiet,
            file: None,
            bar: ProgressBar::hidden(),
            started: Instant::now(),
            lines: LINE_INTERVAL,
        }
    }

    /// Makes a log that prints nothing, not even warnings: another rank prints the same lines.
    pub fn mute() -> Self {
        Self { mute: true, ..Self::new(true) }
    }

    /// Sets another least time between two lines of progress.
    #[must_use]
    pub fn with_lines_every(mut self, interval: Duration) -> Self {
        self.lines = interval;
        self
    }

    /// Makes a log for a part of this run: it prints only warnings, and shows a bar if this one does.
    #[must_use]
    pub fn for_a_part(&self) -> Self {
        Self { bars: self.bars, lines: self.lines, ..Self::new(true) }
    }

    /// Returns whether only warnings and errors are printed.
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

    /// Prints a result to standard output and the file.
    pub fn result(&mut self, text: &str) {
        let text = &printable(text);
        self.record(text);
        if !self.quiet {
            // Standard output may be closed; that is no reason to stop a run.
            self.bar.suspend(|| {
                let _ = writeln!(io::stdout(), "{text}");
            });
        }
    }

    /// Prints a note to standard error and the file.
    pub fn note(&mut self, text: &str) {
        let text = &printable(text);
        self.record(text);
        if !self.quiet {
            self.show(text);
        }
    }

    /// Prints a warning, also when quiet.
    pub fn warn(&mut self, text: &str) {
        let text = &printable(text);
        self.record(text);
        self.show(text);
    }

    fn show(&self, text: &str) {
        if self.mute {
            return;
        }
        self.bar.suspend(|| {
            let _ = writeln!(io::stderr(), "{text}");
        });
    }

    fn record(&mut self, text: &str) {
        if let Some((_, file)) = &mut self.file {
            // If the log cannot be written (a full disk), other results cannot either, and they report it.
            let _ = writeln!(file, "{text}");
        }
    }

    /// Shows the progress bar if standard error is a terminal; otherwise lines of progress are printed.
    pub fn start_bar(&mut self) {
        self.started = Instant::now();
        if !self.bars {
            return;
        }
        let bar = ProgressBar::with_draw_target(Some(PARTS), ProgressDrawTarget::stderr_with_hz(5));
        if let Ok(style) = ProgressStyle::with_template("[{bar:24}] {msg}") {
            bar.set_style(style.progress_chars("=> "));
        }
        self.bar = bar;
    }

    /// Returns the time between two reports of the progress; `None` if none are printed.
    pub fn interval(&self) -> Option<Duration> {
        match (self.bar.is_hidden(), self.bars) {
            (false, _) => Some(BAR_INTERVAL),
            (true, true) => Some(self.lines.max(self.started.elapsed() / LINE_SHARE)),
            (true, false) => None,
        }
    }

    /// Moves the bar to a share of the run, or prints a line.
    pub fn progress(&mut self, share: f64, message: String) {
        let share = share.clamp(0.0, 1.0);
        if self.bar.is_hidden() {
            let line = format!("{:5.1} %  {message}", 100.0 * share);
            self.record(&line);
            self.show(&line);
            return;
        }
        self.bar.set_position((share * PARTS as f64) as u64);
        self.bar.set_message(message);
    }

    /// Removes the bar.
    pub fn stop_bar(&mut self) {
        self.bar.finish_and_clear();
        self.bar = ProgressBar::hidden();
    }
}

/// Formats a duration as `1:02:03` or `2:03`.
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
    fn progress_without_a_terminal_is_a_line_now_and_then() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log.txt");
        let mut log = Log::new(false);
        log.open(&path, false).unwrap();
        assert_eq!(log.interval(), Some(LINE_INTERVAL));
        log.progress(0.25, "step 7".into());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), " 25.0 %  step 7\n");
        assert_eq!(Log::new(true).interval(), None, "quiet: no lines of progress");
        assert_eq!(log.for_a_part().interval(), Some(LINE_INTERVAL));
    }

    #[test]
    fn times_are_readable() {
        assert_eq!(clock(Duration::from_secs(62)), "1:02");
        assert_eq!(clock(Duration::from_secs(3723)), "1:02:03");
    }
}

//! A time series that a separate thread writes while the run continues.

use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;

use super::{TimeSeries, UnstructuredFields, VtuOptions, WriterError};

/// A function that makes fields when they are about to be written.
pub type Making = Box<dyn FnOnce() -> Result<UnstructuredFields, WriterError> + Send>;

/// What the thread is given.
enum Item {
    Fields(Making),
    /// Answered when everything before it is on the disk.
    Mark(SyncSender<()>),
}

/// A [`TimeSeries`] that a thread compresses and writes, in the order given.
///
/// Only one set of fields waits while another is written. A run that makes fields faster than the disk
/// accepts them has to wait, and needs memory for at most three sets.
///
/// ```
/// use dgsuite_output::writer::{UnstructuredFields, VtuOptions, background::BackgroundSeries, pvd::Series};
/// let directory = tempfile::tempdir()?;
/// let series = Series::create(directory.path().join("fields.pvd"))?;
/// let mut writer = BackgroundSeries::new(series, VtuOptions::default())?;
/// writer.write(UnstructuredFields::default())?;
/// writer.finish()?;
/// assert!(directory.path().join("fields/fields_000000.vtu").exists());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct BackgroundSeries {
    /// `None` after the end, or after an error was returned.
    sender: Option<SyncSender<Item>>,
    worker: Option<JoinHandle<Result<(), WriterError>>>,
}

impl BackgroundSeries {
    /// Starts the thread.
    ///
    /// # Errors
    /// [`WriterError::Thread`] if the operating system cannot start one.
    pub fn new(
        mut series: impl TimeSeries + Send + 'static,
        options: VtuOptions,
    ) -> Result<Self, WriterError> {
        let (sender, receiver) = sync_channel::<Item>(1);
        let write = move || {
            receiver.iter().try_for_each(|item| match item {
                Item::Fields(make) => series.write(&make()?, &options),
                Item::Mark(reached) => {
                    // Who asked may have ended.
                    let _ = reached.send(());
                    Ok(())
                }
            })
        };
        let worker = std::thread::Builder::new()
            .name("dgsuite-writer".to_owned())
            .spawn(write)
            .map_err(|source| WriterError::Thread { source })?;
        Ok(Self { sender: Some(sender), worker: Some(worker) })
    }

    /// Passes fields to the thread; waits if two earlier sets are not on the disk yet.
    ///
    /// # Errors
    /// The error of earlier fields, which ends the series: fields passed later are dropped.
    pub fn write(&mut self, fields: UnstructuredFields) -> Result<(), WriterError> {
        self.write_made(Box::new(move || Ok(fields)))
    }

    /// As [`write`](Self::write), for fields that the thread makes first, from data that may still be being
    /// copied.
    ///
    /// # Errors
    /// As for [`write`](Self::write); an error of `make` is returned with the next fields.
    pub fn write_made(&mut self, make: Making) -> Result<(), WriterError> {
        match &self.sender {
            Some(sender) if sender.send(Item::Fields(make)).is_err() => self.finish(),
            _ => Ok(()),
        }
    }

    /// Waits until everything passed so far is on the disk.
    ///
    /// # Errors
    /// As for [`write`](Self::write).
    pub fn flush(&mut self) -> Result<(), WriterError> {
        let Some(sender) = &self.sender else { return Ok(()) };
        let (mark, reached) = sync_channel(1);
        match sender.send(Item::Mark(mark)).is_ok() && reached.recv().is_ok() {
            true => Ok(()),
            false => self.finish(),
        }
    }

    /// Waits until everything is on the disk. Nothing can be written afterwards.
    ///
    /// # Errors
    /// The first error of the series, if it was not returned before.
    pub fn finish(&mut self) -> Result<(), WriterError> {
        self.sender = None;
        match self.worker.take().map(JoinHandle::join) {
            Some(Ok(result)) => result,
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            None => Ok(()),
        }
    }
}

/// Fields passed earlier are written even if a run fails.
impl Drop for BackgroundSeries {
    fn drop(&mut self) {
        self.sender = None;
        if let Some(worker) = self.worker.take() {
            let _ = worker.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use super::super::pvd::Series;
    use super::*;

    fn at(time: f64) -> UnstructuredFields {
        UnstructuredFields { time, pieces: Vec::new() }
    }

    #[test]
    fn files_appear_in_order_also_without_a_finish() {
        let directory = tempfile::tempdir().unwrap();
        let pvd = directory.path().join("fields.pvd");
        let mut writer = BackgroundSeries::new(Series::create(&pvd).unwrap(), VtuOptions::default()).unwrap();
        for step in 0..7 {
            writer.write(at(f64::from(step))).unwrap();
        }
        drop(writer);
        let series = Series::resume(&pvd, 100.0).unwrap();
        let expected: Vec<(f64, String)> =
            (0..7).map(|n| (f64::from(n), format!("fields/fields_{n:06}.vtu"))).collect();
        assert_eq!(series.entries(), expected);
        assert!(expected.iter().all(|(_, file)| directory.path().join(file).exists()));
    }

    /// A series whose disk is slow.
    struct Slow(Arc<AtomicUsize>);

    impl TimeSeries for Slow {
        fn write(&mut self, _: &UnstructuredFields, _: &VtuOptions) -> Result<(), WriterError> {
            std::thread::sleep(Duration::from_millis(20));
            self.0.fetch_add(1, Ordering::Relaxed);
            Ok(())
        }
    }

    #[test]
    fn after_a_flush_everything_is_on_the_disk() {
        let written = Arc::new(AtomicUsize::new(0));
        let mut writer = BackgroundSeries::new(Slow(Arc::clone(&written)), VtuOptions::default()).unwrap();
        for n in [1, 2, 3, 5] {
            (written.load(Ordering::Relaxed)..n).for_each(|_| writer.write(at(0.0)).unwrap());
            writer.flush().unwrap();
            assert_eq!(written.load(Ordering::Relaxed), n);
        }
        writer.finish().unwrap();
        assert!(writer.flush().is_ok());
    }

    #[test]
    fn a_flush_returns_the_error_of_earlier_fields() {
        let directory = tempfile::tempdir().unwrap();
        let series = Series::create(directory.path().join("fields.pvd")).unwrap();
        std::fs::write(directory.path().join("fields"), "in the way").unwrap();
        let mut writer = BackgroundSeries::new(series, VtuOptions::default()).unwrap();
        writer.write(at(0.0)).unwrap();
        assert!(writer.flush().is_err());
        assert!(writer.flush().is_ok());
    }

    #[test]
    fn an_error_comes_out_once_and_ends_the_series() {
        let directory = tempfile::tempdir().unwrap();
        let series = Series::create(directory.path().join("fields.pvd")).unwrap();
        // A file in place of the directory of the series.
        std::fs::write(directory.path().join("fields"), "in the way").unwrap();
        let mut writer = BackgroundSeries::new(series, VtuOptions::default()).unwrap();
        let results: Vec<bool> = (0..50).map(|step| writer.write(at(f64::from(step))).is_err()).collect();
        assert_eq!(results.iter().filter(|&&failed| failed).count(), 1, "{results:?}");
        assert!(writer.finish().is_ok());
    }
}

//! A time series written by a thread of its own, while the run goes on.

use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;

use super::pvd::Series;
use super::{UnstructuredFields, VtuOptions, WriterError};

/// Fields that are made where they are written.
pub type Making = Box<dyn FnOnce() -> Result<UnstructuredFields, WriterError> + Send>;

/// A [`Series`] that is compressed and written behind the caller's back, in the order given.
///
/// Only one set of fields waits while another is written: a run that makes fields faster than the disk takes
/// them is held up, and needs no more memory than three sets.
///
/// ```
/// use dgsuite::writer::{UnstructuredFields, VtuOptions, background::BackgroundSeries, pvd::Series};
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
    /// None after the end, or after an error was handed out.
    sender: Option<SyncSender<Making>>,
    worker: Option<JoinHandle<Result<(), WriterError>>>,
}

impl BackgroundSeries {
    /// Starts the thread.
    ///
    /// # Errors
    /// [`WriterError::Thread`] if the system has none left.
    pub fn new(mut series: Series, options: VtuOptions) -> Result<Self, WriterError> {
        let (sender, receiver) = sync_channel::<Making>(1);
        let write = move || receiver.iter().try_for_each(|make| series.write(&make()?, &options).map(|_| ()));
        let worker = std::thread::Builder::new()
            .name("dgsuite-writer".to_owned())
            .spawn(write)
            .map_err(|source| WriterError::Thread { source })?;
        Ok(Self { sender: Some(sender), worker: Some(worker) })
    }

    /// Hands fields over; waits if two sets before them are not on the disk yet.
    ///
    /// # Errors
    /// That of fields before these, which ends the series: whatever is handed over later is dropped.
    pub fn write(&mut self, fields: UnstructuredFields) -> Result<(), WriterError> {
        self.write_made(Box::new(move || Ok(fields)))
    }

    /// As [`write`](Self::write), of fields that the thread makes first, where what they are made of may
    /// still be on its way.
    ///
    /// # Errors
    /// As for [`write`](Self::write); what `make` returns comes with the next fields.
    pub fn write_made(&mut self, make: Making) -> Result<(), WriterError> {
        match &self.sender {
            Some(sender) if sender.send(make).is_err() => self.finish(),
            _ => Ok(()),
        }
    }

    /// Waits until everything is on the disk. Nothing can be written after it.
    ///
    /// # Errors
    /// The first of the series, if it was not handed out before.
    pub fn finish(&mut self) -> Result<(), WriterError> {
        self.sender = None;
        match self.worker.take().map(JoinHandle::join) {
            Some(Ok(result)) => result,
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            None => Ok(()),
        }
    }
}

/// What was handed over is written, also when a run fails.
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

    #[test]
    fn an_error_comes_out_once_and_ends_the_series() {
        let directory = tempfile::tempdir().unwrap();
        let series = Series::create(directory.path().join("fields.pvd")).unwrap();
        // A file where the directory of the series would be.
        std::fs::write(directory.path().join("fields"), "in the way").unwrap();
        let mut writer = BackgroundSeries::new(series, VtuOptions::default()).unwrap();
        let results: Vec<bool> = (0..50).map(|step| writer.write(at(f64::from(step))).is_err()).collect();
        assert_eq!(results.iter().filter(|&&failed| failed).count(), 1, "{results:?}");
        assert!(writer.finish().is_ok());
    }
}

//! A time series for ParaView: `.vtu` files and the `.pvd` file that lists them with their times.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use super::{TimeSeries, UnstructuredFields, VtuOptions, WriterError, atomic};
use crate::escape;

/// A `.pvd` file, rewritten atomically after every new entry, so that ParaView can follow a run.
///
/// ```
/// use dgsuite_output::writer::{UnstructuredFields, VtuOptions, pvd::Series};
/// let directory = tempfile::tempdir()?;
/// let mut series = Series::create(directory.path().join("fields.pvd"))?;
/// let file = series.write(&UnstructuredFields::default(), &VtuOptions::default())?;
/// assert_eq!(file, directory.path().join("fields/fields_000000.vtu"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    path: PathBuf,
    entries: Vec<(f64, String)>,
}

impl Series {
    /// Starts an empty series at `path` and creates its directory.
    ///
    /// # Errors
    /// [`WriterError::Io`].
    pub fn create(path: impl Into<PathBuf>) -> Result<Self, WriterError> {
        let series = Self { path: path.into(), entries: Vec::new() };
        make_directory(&series.path)?;
        series.save()?;
        Ok(series)
    }

    /// Continues the series at `path` from time `time`: later entries are dropped from it. If there is no
    /// such file, a new series is started.
    ///
    /// # Errors
    /// [`WriterError::Series`] if the file is not one of these series; [`WriterError::Read`] and
    /// [`WriterError::Io`] from the system.
    pub fn resume(path: impl Into<PathBuf>, time: f64) -> Result<Self, WriterError> {
        let path = path.into();
        let mut series = match Self::read(&path) {
            Ok(series) => series,
            Err(WriterError::Read { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
                return Self::create(path);
            }
            Err(error) => return Err(error),
        };
        let (kept, dropped) = series.entries.into_iter().partition(|&(t, _)| t <= time);
        series.entries = kept;
        series.save()?;
        // The pieces of a list that is no longer valid may be written anew, one after the other.
        let lists = |(_, file): (f64, String)| file.ends_with(".pvtu").then_some(file);
        for list in Vec::into_iter(dropped).filter_map(lists) {
            let list = series.path.with_file_name("").join(list);
            match fs::remove_file(&list) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(WriterError::io(&list)(error));
                }
                _ => {}
            }
        }
        Ok(series)
    }

    /// Reads the series at `path`, without changing anything.
    ///
    /// # Errors
    /// [`WriterError::Series`] if the file is not one of these series; [`WriterError::Read`] from the system.
    pub fn read(path: &Path) -> Result<Self, WriterError> {
        let path = path.to_path_buf();
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(source) => return Err(WriterError::Read { path, source }),
        };
        let mut entries = Vec::new();
        for (number, line) in text.lines().enumerate() {
            if line.trim_start().starts_with("<DataSet") {
                let Some(entry) = parse_entry(line) else {
                    return Err(WriterError::Series { path, line: number + 1, text: line.to_owned() });
                };
                entries.push(entry);
            }
        }
        Ok(Self { path, entries })
    }

    /// Writes the fields to the next file of the series, `<stem>/<stem>_<number>.vtu` beside the `.pvd` file,
    /// and lists it. Returns its path.
    ///
    /// # Errors
    /// The errors of [`UnstructuredFields::write`].
    pub fn write(
        &mut self,
        fields: &UnstructuredFields,
        options: &VtuOptions,
    ) -> Result<PathBuf, WriterError> {
        let path = Self::file(&self.path, self.next(), "vtu");
        make_directory(&path)?;
        fields.write(&path, options)?;
        self.push(fields.time, &path)?;
        Ok(path)
    }

    /// The number of the next file.
    #[must_use]
    pub fn next(&self) -> usize {
        // One more than the highest number listed, because entries may have been replaced or dropped.
        let number = |file: &str| {
            let stem = file.strip_suffix(".vtu").or_else(|| file.strip_suffix(".pvtu"))?;
            stem.rsplit('_').next()?.parse::<usize>().ok()
        };
        self.entries.iter().filter_map(|(_, file)| number(file)).max().map_or(0, |n| n + 1)
    }

    /// The path of a file of the series at `path`.
    #[must_use]
    pub fn file(path: &Path, number: usize, extension: &str) -> PathBuf {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        path.with_file_name(&stem).join(format!("{stem}_{number:06}.{extension}"))
    }

    /// Lists an existing file; replaces an entry of the same time.
    ///
    /// # Errors
    /// [`WriterError::Io`].
    pub fn push(&mut self, time: f64, file: &Path) -> Result<(), WriterError> {
        let relative = self.path.parent().and_then(|parent| file.strip_prefix(parent).ok()).unwrap_or(file);
        let parts: Vec<_> = relative.components().map(|c| c.as_os_str().to_string_lossy()).collect();
        self.entries.retain(|&(t, _)| t != time);
        self.entries.push((time, parts.join("/")));
        self.entries.sort_by(|a, b| a.0.total_cmp(&b.0));
        self.save()
    }

    /// Times and files in increasing order of time; files relative to the `.pvd` file.
    #[must_use]
    pub fn entries(&self) -> &[(f64, String)] {
        &self.entries
    }

    fn save(&self) -> Result<(), WriterError> {
        let mut xml = String::from(concat!(
            "<?xml version=\"1.0\"?>\n",
            "<VTKFile type=\"Collection\" version=\"1.0\" byte_order=\"LittleEndian\">\n",
            "<Collection>\n",
        ));
        for (time, file) in &self.entries {
            let file = escape::xml(file);
            let _ = writeln!(xml, "<DataSet timestep=\"{time:?}\" part=\"0\" file=\"{file}\"/>");
        }
        xml.push_str("</Collection>\n</VTKFile>\n");
        atomic::write(&self.path, xml.as_bytes())
    }
}

pub(super) fn make_directory(path: &Path) -> Result<(), WriterError> {
    let parent = path.parent().unwrap_or(Path::new(""));
    if parent.as_os_str().is_empty() {
        return Ok(());
    }
    fs::create_dir_all(parent).map_err(WriterError::io(parent))
}

impl TimeSeries for Series {
    fn write(&mut self, fields: &UnstructuredFields, options: &VtuOptions) -> Result<(), WriterError> {
        Self::write(self, fields, options).map(|_| ())
    }
}

/// Reads time and file from a line as [`Series::save`] writes it.
fn parse_entry(line: &str) -> Option<(f64, String)> {
    let attribute = |name: &str| {
        let (_, rest) = line.split_once(&format!(" {name}=\""))?;
        rest.split_once('"').map(|(value, _)| value)
    };
    let file = attribute("file")?;
    let file = file.replace("&quot;", "\"").replace("&gt;", ">").replace("&lt;", "<").replace("&amp;", "&");
    Some((attribute("timestep")?.parse().ok()?, file))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(time: f64) -> UnstructuredFields {
        UnstructuredFields { time, pieces: Vec::new() }
    }

    #[test]
    fn a_resumed_series_forgets_what_comes_after_the_restart() {
        let directory = tempfile::tempdir().unwrap();
        let pvd = directory.path().join("out").join("fields.pvd");
        let options = VtuOptions::default();
        let mut series = Series::create(&pvd).unwrap();
        for time in [0.0, 0.1, 1.0 / 3.0, 1e-7 + 0.5] {
            series.write(&at(time), &options).unwrap();
        }
        assert_eq!(Series::resume(&pvd, 9.0).unwrap(), series);
        let mut resumed = Series::resume(&pvd, 1.0 / 3.0).unwrap();
        assert_eq!(resumed.entries(), &series.entries()[..3]);
        let again = resumed.write(&at(1.0 / 3.0), &options).unwrap();
        assert_eq!(again, directory.path().join("out/fields/fields_000003.vtu"));
        resumed.write(&at(0.6), &options).unwrap();
        let listed: Vec<&str> = resumed.entries().iter().map(|(_, file)| file.as_str()).collect();
        let expected = [0, 1, 3, 4].map(|n| format!("fields/fields_{n:06}.vtu"));
        assert_eq!(listed, expected);
        for (_, file) in resumed.entries() {
            assert!(directory.path().join("out").join(file).exists());
        }
    }

    #[test]
    fn names_survive_and_strange_lines_are_refused() {
        let directory = tempfile::tempdir().unwrap();
        let pvd = directory.path().join("a.pvd");
        let mut series = Series::resume(&pvd, 0.0).unwrap();
        series.push(2.5, Path::new("a & \"b\" <c>.vtu")).unwrap();
        assert_eq!(Series::resume(&pvd, 3.0).unwrap(), series);
        std::fs::write(&pvd, "<Collection>\n<DataSet timestep=\"x\" file=\"f.vtu\"/>\n").unwrap();
        let error = Series::resume(&pvd, 3.0).unwrap_err();
        assert!(matches!(error, WriterError::Series { line: 2, .. }), "{error}");
    }
}

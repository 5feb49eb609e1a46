//! The results of a run that pictures are made of: its fields over time, its title and its gas.

use std::path::{Path, PathBuf};

use super::{PictureError, read};
use crate::writer::UnstructuredFields;
use crate::writer::pvd::Series;
use crate::writer::vtkhdf;

/// A run with its files of fields.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Its name: that of its folder, or of the file.
    pub name: String,
    /// Its title, if known.
    pub title: Option<String>,
    /// Whether the times of its fields are numbers of local steps, which have no common time.
    pub local_steps: bool,
    /// The ratio of specific heats of its gas, if known.
    pub gamma: Option<f64>,
    /// The series of fields.
    path: PathBuf,
    /// Times, and where their fields are.
    files: Vec<(f64, Source)>,
}

/// Where the fields of one time are.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// In a `.vtu` file of their own.
    File(PathBuf),
    /// In a `.vtkhdf` file, under this number.
    Step(PathBuf, usize),
}

impl Source {
    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        match self {
            Self::File(path) => path,
            Self::Step(path, _) => path,
        }
    }

    /// Reads the fields.
    ///
    /// # Errors
    /// Those of [`read`](super::read).
    pub fn read(&self) -> Result<UnstructuredFields, PictureError> {
        match self {
            Self::File(path) => read::read(path),
            Self::Step(path, step) => read::read_step(path, *step),
        }
    }
}

/// Which fields of a series are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Moment {
    /// The last ones.
    #[default]
    Last,
    /// Those of a time: the nearest.
    Time(f64),
    /// A number in the series, from 0.
    Number(usize),
}

impl Run {
    /// Finds the fields of a run: `path` is its folder, a series (`.pvd`, `.vtkhdf`) or one file (`.vtu`,
    /// `.pvtu`).
    /// Of a folder with series of both formats, as after a restart with the other one, it is that with the
    /// later end.
    ///
    /// # Errors
    /// [`PictureError::NoRun`] if there is none, and errors from reading the series.
    pub fn open(path: &Path) -> Result<Self, PictureError> {
        let ends = |end: &str| path.extension().is_some_and(|e| e.eq_ignore_ascii_case(end));
        let missing = || PictureError::NoRun { path: path.to_owned(), inside: runs_inside(path) };
        let named = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let (folder, series) = match path {
            _ if (ends("vtu") || ends("pvtu")) && path.is_file() => {
                let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                let files = vec![(f64::NAN, Source::File(path.to_owned()))];
                return Ok(Self {
                    name: stem,
                    title: None,
                    local_steps: false,
                    gamma: None,
                    path: path.to_owned(),
                    files,
                });
            }
            _ if SERIES.iter().any(|end| ends(end)) && path.is_file() => {
                (path.parent().unwrap_or(Path::new(".")), vec![path.to_owned()])
            }
            _ => (path, SERIES.map(|end| path.join("fields").with_extension(end)).to_vec()),
        };
        let mut found = Vec::new();
        for path in series.into_iter().filter(|path| path.is_file()) {
            found.push((list(&path)?, path));
        }
        let end = |files: &[(f64, Source)]| files.last().map_or(f64::NEG_INFINITY, |(time, _)| *time);
        found.sort_by(|(a, _), (b, _)| end(b).total_cmp(&end(a)));
        let Some((files, series)) = found.into_iter().next() else { return Err(missing()) };
        if files.is_empty() {
            return Err(PictureError::Empty { what: format!("{} lists no file", series.display()) });
        }
        let name = match named(folder) {
            name if name.is_empty() => folder.canonicalize().map_or(name, |folder| named(&folder)),
            name => name,
        };
        let read = |file: &str| std::fs::read_to_string(folder.join(file)).ok();
        let summary = read("summary.json").and_then(|text| serde_json::from_str(&text).ok());
        let summary: serde_json::Value = summary.unwrap_or_default();
        let title = summary["title"].as_str().map(str::to_owned);
        let local_steps = summary["time"]["local_steps"] == true;
        let gamma = read("pipeline.yaml").and_then(|text| gamma_of(&text));
        let title = title.filter(|title| !title.is_empty());
        Ok(Self { name, title, local_steps, gamma, path: series, files })
    }

    /// Times and files of the fields.
    #[must_use]
    pub fn files(&self) -> &[(f64, Source)] {
        &self.files
    }

    /// The time and the file of a moment.
    ///
    /// # Errors
    /// [`PictureError::Time`] if the series has no such number, or the time is farther outside of it than two
    /// files are apart.
    pub fn at(&self, moment: Moment) -> Result<(f64, &Source), PictureError> {
        let missing = |wanted: String| PictureError::Time {
            path: self.path.clone(),
            wanted,
            have: match &self.files[..] {
                [(time, _)] => format!("one, at time {time}"),
                files => format!("{}, at times {} to {}", files.len(), files[0].0, files[files.len() - 1].0),
            },
        };
        let (time, file) = match moment {
            Moment::Last => self.files.last().ok_or_else(|| missing("the end".to_owned()))?,
            Moment::Number(number) => {
                self.files.get(number).ok_or_else(|| missing(format!("number {number}")))?
            }
            Moment::Time(wanted) => {
                let far = |file: &&(f64, Source)| (file.0 - wanted).abs();
                let nearest = self.files.iter().min_by(|a, b| far(a).total_cmp(&far(b)));
                let (first, last) = (self.files[0].0, self.files[self.files.len() - 1].0);
                let room = (last - first) / (self.files.len().max(2) - 1) as f64 + 1e-9 * last.abs();
                let known = |file: &&(f64, Source)| far(file) <= room || (first..=last).contains(&wanted);
                nearest.filter(known).ok_or_else(|| missing(format!("time {wanted}")))?
            }
        };
        Ok((*time, file))
    }
}

/// The ends of the names of series.
const SERIES: [&str; 2] = ["pvd", "vtkhdf"];
/// The times of a series, and where their fields are.
fn list(series: &Path) -> Result<Vec<(f64, Source)>, PictureError> {
    if series.extension().is_some_and(|end| end.eq_ignore_ascii_case("vtkhdf")) {
        let times = vtkhdf::read::times(series);
        let times = times.map_err(|what| PictureError::Damaged { path: series.to_owned(), what })?;
        let step = |(number, time)| (time, Source::Step(series.to_owned(), number));
        return Ok(times.into_iter().enumerate().map(step).collect());
    }
    let folder = series.parent().unwrap_or(Path::new("."));
    let file = |(time, file): &(f64, String)| (*time, Source::File(folder.join(file)));
    Ok(Series::read(series)?.entries().iter().map(file).collect())
}

/// The names of folders inside of one that have fields, as those of a study.
fn runs_inside(path: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    let with_fields = entries.filter(|e| has_fields(&e.path()));
    let mut names: Vec<String> = with_fields.map(|e| e.path().display().to_string()).collect();
    names.sort();
    names
}

/// Whether a folder has a series of fields.
fn has_fields(folder: &Path) -> bool {
    SERIES.iter().any(|end| folder.join("fields").with_extension(end).is_file())
}

/// The key `physics.gamma` of a resolved pipeline file.
fn gamma_of(text: &str) -> Option<f64> {
    let physics = text.lines().skip_while(|line| !line.starts_with("physics:")).skip(1);
    let mut inside = physics.take_while(|line| line.starts_with(' '));
    inside.find_map(|line| line.trim().strip_prefix("gamma:")?.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_found_by_time_and_number() {
        let files = [0.0, 0.5, 1.0].map(|t| (t, Source::File(format!("{t}.vtu").into()))).to_vec();
        let run = Run {
            name: "a".into(),
            title: None,
            local_steps: false,
            gamma: None,
            path: "a/fields.pvd".into(),
            files,
        };
        let time = |moment| run.at(moment).map(|(time, _)| time).ok();
        assert_eq!(time(Moment::Last), Some(1.0));
        assert_eq!(
            [time(Moment::Time(0.6)), time(Moment::Time(1.2)), time(Moment::Time(9.0))],
            [Some(0.5), Some(1.0), None]
        );
        assert_eq!([time(Moment::Number(1)), time(Moment::Number(3))], [Some(0.5), None]);
        let message = run.at(Moment::Time(9.0)).unwrap_err().to_string();
        assert!(message.contains("no fields at time 9; it has 3, at times 0 to 1"), "{message}");
    }

    #[test]
    fn the_gas_is_that_of_the_resolved_file() {
        assert_eq!(
            gamma_of("mesh:\n  gamma: 2\nphysics:\n  model: euler\n  gamma: 1.6\nspace:\n"),
            Some(1.6)
        );
        assert_eq!(gamma_of("physics:\n  model: euler\nspace:\n  gamma: 3\n"), None);
    }
}

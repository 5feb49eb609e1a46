//! `dgsuite picture`: draws fields of finished runs.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::{Args, ValueEnum};

use dgsuite_output::draw::{ColourMap, Scene};
use dgsuite_output::nearest::nearest;
use dgsuite_output::picture::{Moment, Picture, PictureError, Run, Slice, Surface};
use dgsuite_output::writer::{WriterError, atomic};

pub(super) const HELP: &str = "\
A solid is shown as the cut through its middle along z, unless --slice, --surface, --level or --view say otherwise.
For fields of both signs and schlieren, few values far outside of the rest do not take colours: the bar has a tip
then, and --range shows them.

Examples:
  dgsuite picture out/vortex
  dgsuite picture out/vortex --field rho --time all
  dgsuite picture out/cylinder --field u --contours 16 --zoom -1:5,-1.2:1.2 -o cylinder.svg
  dgsuite picture out/p2 out/p4 --field Mach --range 0:0.8 --mesh
  dgsuite picture out/sphere --field speed --slice y=0 --mesh
  dgsuite picture out/sphere --slice y=0 --slice z=0 --surface inside --view 1,-2,1
  dgsuite picture out/taylor-green --level QCriterion=4 --field speed";

#[derive(Debug, Args)]
pub(super) struct PictureArgs {
    /// Folders of results, drawn beside each other with the same colours (or .pvd, .vtkhdf and .vtu files of
    /// runs)
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// Field to draw: Density or rho, p, u, Velocity.x, speed, Mach, … (default: the one that tells most)
    #[arg(long, short, value_name = "FIELD")]
    field: Option<String>,
    /// Time to draw, the nearest one in the files: a number, first, last or all (a series of frames)
    #[arg(long, value_name = "T|first|last|all", default_value = "last", allow_hyphen_values = true)]
    time: When,
    /// Number of the file in the series, from 0
    #[arg(long, value_name = "N", conflicts_with = "time")]
    number: Option<usize>,
    /// Values of the first and the last colour
    #[arg(long, value_name = "A:B", allow_hyphen_values = true, value_parser = range)]
    range: Option<[f64; 2]>,
    /// Colour map (default: viridis; vik, centred on 0, for fields of both signs)
    #[arg(long, value_enum)]
    map: Option<Map>,
    /// Contour lines: their number, or their values separated by commas (one value as 1.0)
    #[arg(long, value_name = "N|VALUES", allow_hyphen_values = true)]
    contours: Option<Contours>,
    /// Draw the outlines of the elements
    #[arg(long)]
    mesh: bool,
    /// Show this part of the page's axes, or where most elements are (auto)
    #[arg(long, value_name = "X0:X1,Y0:Y1|auto", allow_hyphen_values = true, value_parser = zoom)]
    zoom: Option<Zoom>,
    /// Cut through a solid (may be repeated)
    #[arg(long = "slice", value_name = "x|y|z=VALUE", value_parser = slice)]
    slices: Vec<Slice>,
    /// Show the boundary of a solid from outside, or from inside: bodies, and the far walls behind them
    #[arg(long, value_enum, num_args = 0..=1, default_missing_value = "outside")]
    surface: Option<Faces>,
    /// Show the surface where a field has a value
    #[arg(long, value_name = "FIELD=VALUE", value_parser = level)]
    level: Option<(String, f64)>,
    /// Direction towards the eye, for solids
    #[arg(long, value_name = "X,Y,Z", allow_hyphen_values = true, value_parser = view)]
    view: Option<View>,
    /// Width and height of the picture in pixels; the height may be left out
    #[arg(long, value_name = "WxH", value_parser = size)]
    size: Option<Size>,
    /// Title (default: that of the run)
    #[arg(long)]
    title: Option<String>,
    /// The picture, .png or .svg; with --time all a folder (default: picture-FIELD.png in the first run's
    /// folder)
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum When {
    At(Moment),
    All,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Map {
    Viridis,
    Cividis,
    Inferno,
    Batlow,
    Vik,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Faces {
    Outside,
    Inside,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Zoom {
    To(Corners),
    Auto,
}

#[derive(Clone, Debug, PartialEq)]
enum Contours {
    Even(usize),
    At(Vec<f64>),
}

/// Lower and upper corner. (A type of its own: `clap` would take a list for repeated values.)
type Corners = [[f64; 2]; 2];
type View = [f64; 3];
type Size = (Option<f64>, Option<f64>);

impl FromStr for When {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "all" => Ok(Self::All),
            "last" => Ok(Self::At(Moment::Last)),
            "first" => Ok(Self::At(Moment::Number(0))),
            _ => match text.parse::<f64>() {
                Ok(time) if time.is_finite() => Ok(Self::At(Moment::Time(time))),
                _ => Err("needs a number, first, last or all".to_owned()),
            },
        }
    }
}

impl FromStr for Contours {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Ok(n) = text.parse::<usize>() {
            return if n <= 1000 { Ok(Self::Even(n)) } else { Err("needs at most 1000 lines".to_owned()) };
        }
        let values: Option<Vec<f64>> = text.split(',').map(number).collect();
        values
            .map(Self::At)
            .ok_or_else(|| "needs a number of lines, or values such as 0.5,1.0,1.5".to_owned())
    }
}

fn number(text: &str) -> Option<f64> {
    text.trim().parse::<f64>().ok().filter(|x| x.is_finite())
}

fn range(text: &str) -> Result<[f64; 2], String> {
    let pair = text.split_once(':').and_then(|(a, b)| Some([number(a)?, number(b)?]));
    pair.filter(|[a, b]| a < b)
        .ok_or_else(|| "needs two numbers, the smaller one first, such as 0:1.5".to_owned())
}

fn zoom(text: &str) -> Result<Zoom, String> {
    let wrong = || "needs two ranges, such as -1:5,-1.2:1.2, or auto".to_owned();
    if text == "auto" {
        return Ok(Zoom::Auto);
    }
    let (x, y) = text.split_once(',').ok_or_else(wrong)?;
    let ([x0, x1], [y0, y1]) = (range(x).map_err(|_| wrong())?, range(y).map_err(|_| wrong())?);
    Ok(Zoom::To([[x0, y0], [x1, y1]]))
}

pub(super) fn slice(text: &str) -> Result<Slice, String> {
    let parsed = text.split_once('=').and_then(|(axis, at)| {
        Some(Slice { axis: ["x", "y", "z"].iter().position(|name| *name == axis.trim())?, at: number(at)? })
    });
    parsed.ok_or_else(|| "needs an axis and a coordinate, such as z=0.5".to_owned())
}

fn level(text: &str) -> Result<(String, f64), String> {
    let parsed =
        text.rsplit_once('=').and_then(|(field, value)| Some((field.trim().to_owned(), number(value)?)));
    parsed.ok_or_else(|| "needs a field and a value, such as QCriterion=4".to_owned())
}

fn view(text: &str) -> Result<View, String> {
    let parts: Option<Vec<f64>> = text.split(',').map(number).collect();
    let direction = parts.and_then(|parts| <[f64; 3]>::try_from(parts).ok());
    direction
        .filter(|d| d.iter().any(|x| *x != 0.0))
        .ok_or_else(|| "needs a direction, such as 1,-2,1".to_owned())
}

fn size(text: &str) -> Result<Size, String> {
    let (w, h) = text.split_once(['x', 'X', '×']).unwrap_or((text, ""));
    let side = |text: &str| -> Option<Option<f64>> {
        if text.is_empty() {
            return Some(None);
        }
        number(text).filter(|x| (100.0..=8_000.0).contains(x) && x.fract() == 0.0).map(Some)
    };
    match (side(w), side(h)) {
        (Some(Some(w)), Some(h)) => Ok((Some(w), h)),
        (Some(None), Some(Some(h))) => Ok((None, Some(h))),
        _ => Err("needs 100 to 8000 pixels a side, such as 1200x800, 1200 or x800".to_owned()),
    }
}

impl PictureArgs {
    fn picture(&self) -> Picture {
        let map = self.map.map(|map| match map {
            Map::Viridis => ColourMap::Viridis,
            Map::Cividis => ColourMap::Cividis,
            Map::Inferno => ColourMap::Inferno,
            Map::Batlow => ColourMap::Batlow,
            Map::Vik => ColourMap::Vik,
        });
        let (contours, even_contours) = match &self.contours {
            Some(Contours::Even(n)) => (None, *n),
            Some(Contours::At(values)) => (Some(values.clone()), 0),
            None => (None, 0),
        };
        Picture {
            field: self.field.clone(),
            moment: match (self.number, self.time) {
                (Some(number), _) => Moment::Number(number),
                (None, When::At(moment)) => moment,
                (None, When::All) => Moment::Last,
            },
            map,
            range: self.range,
            contours,
            even_contours,
            mesh: self.mesh,
            zoom: self.zoom.and_then(|zoom| if let Zoom::To(corners) = zoom { Some(corners) } else { None }),
            close: self.zoom == Some(Zoom::Auto),
            slices: self.slices.clone(),
            surface: self.surface.map(|faces| match faces {
                Faces::Outside => Surface::Outside,
                Faces::Inside => Surface::Inside,
            }),
            level: self.level.clone(),
            view: self.view,
            size: self.size.unwrap_or_default(),
            title: self.title.clone(),
            density: 1,
        }
    }
}

/// Draws the pictures and returns their paths, one a line.
pub(super) fn draw(args: &PictureArgs) -> Result<String, PictureError> {
    let runs = args.runs.iter().map(|path| Run::open(path)).collect::<Result<Vec<_>, _>>()?;
    let mut picture = args.picture();
    let folder = if args.runs[0].is_dir() { args.runs[0].clone() } else { beside(&args.runs[0]) };
    if args.time == When::All && args.number.is_none() {
        return frames(args, &runs, &picture, &folder);
    }
    let output = match &args.output {
        Some(output) => output.clone(),
        None => folder.join(format!("picture-{}.png", picture.quantity(&runs[0])?.word())),
    };
    let vector = is_vector(&output)?;
    // A vector picture will be enlarged; its fields have twice the pixels.
    picture.density = if vector { 2 } else { 1 };
    save(&picture.draw(&runs)?, &output, vector)?;
    Ok(output.display().to_string())
}

/// Draws each moment of the first run, and of the others the nearest one, all with the same colours.
fn frames(
    args: &PictureArgs,
    runs: &[Run],
    picture: &Picture,
    folder: &Path,
) -> Result<String, PictureError> {
    let moments: Vec<Moment> = match runs {
        [run] => (0..run.files().len()).map(Moment::Number).collect(),
        _ => runs[0].files().iter().map(|(time, _)| Moment::Time(*time)).collect(),
    };
    let output = match &args.output {
        Some(output) => output.clone(),
        None => folder.join(format!("frames-{}", picture.quantity(&runs[0])?.word())),
    };
    if output.extension().is_some() {
        return Err(PictureError::Option {
            option: "--output",
            found: output.display().to_string(),
            expected: "with --time all it names a folder, for frame-0001.png and so on".to_owned(),
        });
    }
    std::fs::create_dir_all(&output).map_err(WriterError::io(&output))?;
    let at = |moment: Moment, picture: &Picture| Picture { moment, ..picture.clone() };
    let mut same = picture.clone();
    if picture.range.is_none() {
        let mut all: Option<[f64; 2]> = None;
        let mut diverging = false;
        for &moment in &moments {
            let (map, [low, high]) = at(moment, picture).range(runs)?;
            let [a, b] = all.unwrap_or([low, high]);
            all = Some([a.min(low), b.max(high)]);
            diverging |= map.is_diverging();
        }
        let [low, high] = all.unwrap_or([0.0, 1.0]);
        let most = low.abs().max(high.abs());
        same.range = Some(if diverging { [-most, most] } else { [low, high] });
        same.map = picture.map.or(diverging.then_some(ColourMap::Vik));
    }
    for (number, &moment) in moments.iter().enumerate() {
        let file = output.join(format!("frame-{:04}.png", number + 1));
        save(&at(moment, &same).draw(runs)?, &file, false)?;
    }
    let pattern = output.join("frame-%04d.png").display().to_string();
    Ok(format!("{} frames: {pattern}", moments.len()))
}

/// The folder of a file.
fn beside(path: &Path) -> PathBuf {
    path.parent().map(Path::to_path_buf).unwrap_or_default()
}

/// Whether a picture is an SVG file and not a PNG file.
fn is_vector(path: &Path) -> Result<bool, PictureError> {
    let extension = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    match extension.as_str() {
        "png" => Ok(false),
        "svg" => Ok(true),
        _ => {
            let hint = nearest(&extension, &["png", "svg"]).map(|h| format!(" (did you mean .{h}?)"));
            Err(PictureError::Option {
                option: "--output",
                found: path.display().to_string(),
                expected: format!("the name ends in .png or .svg{}", hint.unwrap_or_default()),
            })
        }
    }
}

fn save(scene: &Scene, path: &Path, vector: bool) -> Result<(), WriterError> {
    if vector {
        atomic::write(path, scene.svg().as_bytes())
    } else {
        atomic::write(path, &scene.image(1.0).png())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_or_say_what_they_need() {
        assert_eq!("0.5".parse(), Ok(When::At(Moment::Time(0.5))));
        assert_eq!("12".parse(), Ok(Contours::Even(12)));
        assert_eq!("-1,0.5".parse(), Ok(Contours::At(vec![-1.0, 0.5])));
        assert_eq!(zoom("-1:5,-1.2:1.2"), Ok(Zoom::To([[-1.0, -1.2], [5.0, 1.2]])));
        assert_eq!(slice("y=-0.5"), Ok(Slice { axis: 1, at: -0.5 }));
        assert_eq!(level("a=b=2"), Ok(("a=b".to_owned(), 2.0)));
        assert_eq!([size("800"), size("x600")], [Ok((Some(800.0), None)), Ok((None, Some(600.0)))]);
        for text in ["0x0", "0", "axb", "1e9", ""] {
            assert!(size(text).unwrap_err().contains("1200x800"), "{text}");
        }
        assert!(
            range("1:0").is_err()
                && range("nan:1").is_err()
                && view("0,0,0").is_err()
                && slice("q=1").is_err()
        );
        assert!(is_vector(Path::new("a.jpg")).is_err() && is_vector(Path::new("a.SVG")).unwrap());
    }
}

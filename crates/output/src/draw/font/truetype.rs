//! The tables of a TrueType font that drawing texts needs: glyphs of characters, widths, outlines.
//!
//! See the OpenType specification, chapters `cmap` (format 12), `hmtx`, `loca` and `glyf`. Parts of composite
//! glyphs are moved only; a font in which they are scaled or turned has no outlines for these.

/// A place in units of the font, `y` upward.
pub(super) type Point = [f32; 2];

/// A closed curve of an outline.
pub(super) struct Contour {
    /// Where it starts and ends.
    pub(super) start: Point,
    /// Its parts: the control point of a parabola, if it is no straight line, and the end.
    pub(super) parts: Vec<(Option<Point>, Point)>,
}

/// The tables of a font.
pub(super) struct Face<'a> {
    /// Runs of characters with consecutive glyphs: first and last character, first glyph.
    runs: Vec<[u32; 3]>,
    widths: &'a [u8],
    n_widths: u16,
    places: &'a [u8],
    long_places: bool,
    glyphs: &'a [u8],
    units_per_em: u16,
}

/// How deep composite glyphs may be nested.
const DEEPEST: usize = 4;

fn unsigned(data: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(data.get(at..at + 2)?.try_into().ok()?))
}

fn signed(data: &[u8], at: usize) -> Option<i16> {
    Some(i16::from_be_bytes(data.get(at..at + 2)?.try_into().ok()?))
}

fn long(data: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(data.get(at..at + 4)?.try_into().ok()?))
}

/// A table of a file.
fn table<'a>(file: &'a [u8], tag: &[u8; 4]) -> Option<&'a [u8]> {
    let mut entries = (0..usize::from(unsigned(file, 4)?)).map(|k| 12 + 16 * k);
    let entry = entries.find(|&at| file.get(at..at + 4) == Some(tag))?;
    let (from, length) = (long(file, entry + 8)? as usize, long(file, entry + 12)? as usize);
    file.get(from..from.checked_add(length)?)
}

/// The runs of the first table of format 12.
fn runs(cmap: &[u8]) -> Option<Vec<[u32; 3]>> {
    let mut tables = (0..usize::from(unsigned(cmap, 2)?)).filter_map(|k| long(cmap, 4 + 8 * k + 4));
    let at = tables.find(|&at| unsigned(cmap, at as usize) == Some(12))? as usize;
    let run = |k: usize| {
        let word = |i: usize| long(cmap, at + 16 + 12 * k + 4 * i);
        Some([word(0)?, word(1)?, word(2)?])
    };
    (0..long(cmap, at + 12)? as usize).map(run).collect()
}

impl<'a> Face<'a> {
    /// Finds the tables of a file; `None` if it is no such font.
    pub(super) fn parse(file: &'a [u8]) -> Option<Self> {
        let head = table(file, b"head")?;
        Some(Self {
            runs: runs(table(file, b"cmap")?)?,
            widths: table(file, b"hmtx")?,
            n_widths: unsigned(table(file, b"hhea")?, 34)?,
            places: table(file, b"loca")?,
            long_places: signed(head, 50)? != 0,
            glyphs: table(file, b"glyf")?,
            units_per_em: unsigned(head, 18)?,
        })
    }

    /// The units of the height of a line.
    pub(super) fn units_per_em(&self) -> f32 {
        f32::from(self.units_per_em)
    }

    /// The number of the glyph of a character.
    pub(super) fn glyph(&self, c: char) -> Option<u16> {
        let c = u32::from(c);
        let [first, _, glyph] = self.runs.iter().find(|[first, last, _]| (*first..=*last).contains(&c))?;
        u16::try_from(glyph + (c - first)).ok().filter(|&glyph| glyph != 0)
    }

    /// The width of a glyph.
    pub(super) fn width(&self, glyph: u16) -> f32 {
        // Those behind the last number are as wide as it says.
        let entry = glyph.min(self.n_widths.saturating_sub(1));
        f32::from(unsigned(self.widths, 4 * usize::from(entry)).unwrap_or(0))
    }

    /// The outline of a glyph; `None` for one without, such as a space.
    pub(super) fn outline(&self, glyph: u16) -> Option<Vec<Contour>> {
        let mut contours = Vec::new();
        self.add(glyph, [0.0; 2], 0, &mut contours)?;
        Some(contours)
    }

    /// Adds the outline of a glyph, moved by `shift`.
    fn add(&self, glyph: u16, shift: Point, depth: usize, contours: &mut Vec<Contour>) -> Option<()> {
        let place = |k: usize| match self.long_places {
            true => long(self.places, 4 * k).map(|at| at as usize),
            false => unsigned(self.places, 2 * k).map(|half| 2 * usize::from(half)),
        };
        let data = self.glyphs.get(place(glyph.into())?..place(usize::from(glyph) + 1)?)?;
        match usize::try_from(signed(data, 0)?) {
            Ok(count) => simple(data, count, shift, contours),
            Err(_) if depth < DEEPEST => self.add_parts(data, shift, depth, contours),
            Err(_) => None,
        }
    }

    /// Adds the parts of a composite glyph.
    fn add_parts(&self, data: &[u8], shift: Point, depth: usize, contours: &mut Vec<Contour>) -> Option<()> {
        const WORDS: u16 = 1;
        const OFFSETS: u16 = 2;
        const TRANSFORMED: u16 = 0x8 | 0x40 | 0x80;
        const MORE: u16 = 0x20;
        let mut at = 10;
        loop {
            let (flags, glyph) = (unsigned(data, at)?, unsigned(data, at + 2)?);
            if flags & OFFSETS == 0 || flags & TRANSFORMED != 0 {
                return None;
            }
            let [x, y] = match flags & WORDS {
                0 => [i8::from_be_bytes([*data.get(at + 4)?]), i8::from_be_bytes([*data.get(at + 5)?])]
                    .map(i16::from),
                _ => [signed(data, at + 4)?, signed(data, at + 6)?],
            };
            self.add(glyph, [shift[0] + f32::from(x), shift[1] + f32::from(y)], depth + 1, contours)?;
            if flags & MORE == 0 {
                return Some(());
            }
            at += if flags & WORDS == 0 { 6 } else { 8 };
        }
    }
}

/// Adds the contours of a glyph that has `count` of them.
fn simple(data: &[u8], count: usize, shift: Point, contours: &mut Vec<Contour>) -> Option<()> {
    const ON_CURVE: u8 = 1;
    const REPEATED: u8 = 8;
    let ends: Vec<usize> =
        (0..count).map(|k| unsigned(data, 10 + 2 * k).map(usize::from)).collect::<Option<_>>()?;
    let n = ends.last().map_or(0, |last| last + 1);
    let instructions = unsigned(data, 10 + 2 * count)?;
    let mut at = 12 + 2 * count + usize::from(instructions);
    let mut flags = Vec::with_capacity(n);
    while flags.len() < n {
        let flag = *data.get(at)?;
        at += 1;
        flags.push(flag);
        if flag & REPEATED != 0 {
            let more = flags.len() + usize::from(*data.get(at)?);
            flags.resize(more.min(n), flag);
            at += 1;
        }
    }
    let x = coordinates(data, &mut at, &flags, (0x02, 0x10))?;
    let y = coordinates(data, &mut at, &flags, (0x04, 0x20))?;
    let point =
        |k: usize| ([shift[0] + f32::from(x[k]), shift[1] + f32::from(y[k])], flags[k] & ON_CURVE != 0);
    let mut first = 0;
    for end in ends {
        contours.extend(contour(&(first..=end).map(point).collect::<Vec<_>>()));
        first = end + 1;
    }
    Some(())
}

/// The coordinates of points along one axis, from their differences: `short` is the flag of those in one
/// byte, `same` says that a short one is positive, or that another one is the same as the one before.
fn coordinates(data: &[u8], at: &mut usize, flags: &[u8], (short, same): (u8, u8)) -> Option<Vec<i16>> {
    let mut value = 0_i16;
    let mut all = Vec::with_capacity(flags.len());
    for flag in flags {
        let change = match (flag & short != 0, flag & same != 0) {
            (true, positive) => {
                let size = i16::from(*data.get(*at)?);
                *at += 1;
                if positive { size } else { -size }
            }
            (false, true) => 0,
            (false, false) => {
                *at += 2;
                signed(data, *at - 2)?
            }
        };
        value = value.wrapping_add(change);
        all.push(value);
    }
    Some(all)
}

fn middle(a: Point, b: Point) -> Point {
    [a[0] + 0.5 * (b[0] - a[0]), a[1] + 0.5 * (b[1] - a[1])]
}

/// The curve through points, of which some are on it and the others control parabolas; between two of these
/// lies a point of the curve.
fn contour(points: &[(Point, bool)]) -> Option<Contour> {
    let (start, rest) = match points {
        [(start, true), rest @ ..] => (*start, [rest, &[(*start, true)]].concat()),
        [first, (start, true), rest @ ..] => (*start, [rest, &[*first, (*start, true)]].concat()),
        [first, second, ..] => {
            let start = middle(first.0, second.0);
            (start, [&points[1..], &[*first, (start, true)]].concat())
        }
        _ => return None,
    };
    let (mut parts, mut control) = (Vec::with_capacity(rest.len()), None);
    for (point, on_curve) in rest {
        match (control, on_curve) {
            (control_of_it, true) => {
                parts.push((control_of_it, point));
                control = None;
            }
            (Some(before), false) => {
                parts.push((Some(before), middle(before, point)));
                control = Some(point);
            }
            (None, false) => control = Some(point),
        }
    }
    Some(Contour { start, parts })
}

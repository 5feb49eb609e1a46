//! Colours, and the colour maps that give a colour to a number between 0 and 1.

use std::sync::LazyLock;

/// Red, green, blue and opacity, each from 0 to 255.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Colour(pub [u8; 4]);

impl Colour {
    /// Black.
    pub const BLACK: Self = Self::rgb(0, 0, 0);
    /// White.
    pub const WHITE: Self = Self::rgb(255, 255, 255);
    /// Nothing: fully transparent.
    pub const CLEAR: Self = Self([0; 4]);

    /// An opaque colour.
    #[must_use]
    pub const fn rgb(red: u8, green: u8, blue: u8) -> Self {
        Self([red, green, blue, 255])
    }

    /// The same colour with an opacity from 0 to 1.
    #[must_use]
    pub fn faded(self, opacity: f64) -> Self {
        let Self([r, g, b, _]) = self;
        Self([r, g, b, (255.0 * opacity.clamp(0.0, 1.0)).round() as u8])
    }
}

/// A scientific colour map: equal steps of the value look like equal steps of the colour, also to readers who
/// do not distinguish red from green.
///
/// The tables are those of the authors, with their licences, in `src/draw/maps`.
///
/// | map | for | authors | licence |
/// |---|---|---|---|
/// | `viridis`, `inferno` | any range | van der Walt and Smith (2015) | CC0 |
/// | `cividis` | any range | Nuñez, Anderton and Renslow (2018) | CC0 |
/// | `batlow` | any range | Crameri (2018) | MIT |
/// | `vik` | both signs, centred on zero | Crameri (2018) | MIT |
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ColourMap {
    /// From dark violet over green to yellow.
    #[default]
    Viridis,
    /// From dark blue over grey to yellow.
    Cividis,
    /// From black over red to light yellow.
    Inferno,
    /// From dark blue over green and orange to pink.
    Batlow,
    /// From blue over white to red: diverging.
    Vik,
}

/// Number of colours of a map.
const COLOURS: usize = 256;

impl ColourMap {
    /// Every map with its name.
    pub const ALL: [(&'static str, Self); 5] = [
        ("viridis", Self::Viridis),
        ("cividis", Self::Cividis),
        ("inferno", Self::Inferno),
        ("batlow", Self::Batlow),
        ("vik", Self::Vik),
    ];

    /// Returns whether the middle colour stands for zero.
    #[must_use]
    pub const fn is_diverging(self) -> bool {
        matches!(self, Self::Vik)
    }

    /// The colour of a number from 0 to 1: one of 256. Numbers outside get the first or the last one, and NaN
    /// none.
    ///
    /// ```
    /// use dgsuite_output::draw::{Colour, ColourMap};
    /// assert_eq!(ColourMap::Viridis.colour(0.0), Colour::rgb(0x44, 0x01, 0x54));
    /// assert_eq!(ColourMap::Viridis.colour(2.0), Colour::rgb(0xfd, 0xe7, 0x25));
    /// ```
    #[must_use]
    pub fn colour(self, x: f64) -> Colour {
        if x.is_nan() {
            return Colour::CLEAR;
        }
        self.table()[((x * COLOURS as f64).max(0.0) as usize).min(COLOURS - 1)]
    }

    /// All colours, from the lowest value to the highest.
    #[must_use]
    pub fn table(self) -> &'static [Colour; COLOURS] {
        static TABLES: LazyLock<[[Colour; COLOURS]; 5]> = LazyLock::new(|| {
            [
                include_str!("maps/viridis.txt"),
                include_str!("maps/cividis.txt"),
                include_str!("maps/inferno.txt"),
                include_str!("maps/batlow.txt"),
                include_str!("maps/vik.txt"),
            ]
            .map(parse)
        });
        &TABLES[self as usize]
    }
}

/// Reads a table: comments, then `rrggbb` 256 times.
fn parse(text: &str) -> [Colour; COLOURS] {
    let words = text.lines().filter(|line| !line.starts_with('#')).flat_map(str::split_whitespace);
    let mut table = [Colour::BLACK; COLOURS];
    for (colour, word) in table.iter_mut().zip(words) {
        let [_, r, g, b] = u32::from_str_radix(word, 16).unwrap_or(0).to_be_bytes();
        *colour = Colour::rgb(r, g, b);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lightness from 0 to 1, roughly.
    fn light(Colour([r, g, b, _]): Colour) -> f64 {
        (0.2126 * f64::from(r) + 0.7152 * f64::from(g) + 0.0722 * f64::from(b)) / 255.0
    }

    #[test]
    fn tables_are_complete_and_become_lighter() {
        for (name, map) in ColourMap::ALL {
            let table = map.table();
            assert_ne!(table[COLOURS - 1], table[COLOURS - 2], "{name}: an entry is missing");
            assert!(table.iter().filter(|&&c| c == Colour::BLACK).count() == 0, "{name}");
            if !map.is_diverging() {
                assert!(table.windows(2).all(|c| light(c[1]) > light(c[0]) - 0.01), "{name}");
            }
        }
        let vik = ColourMap::Vik.table();
        assert!(light(vik[127]) > 0.85 && light(vik[128]) > 0.85, "the middle of vik is nearly white");
        assert!(vik[10].0[2] > vik[10].0[0] && vik[240].0[0] > vik[240].0[2], "from blue to red");
    }

    /// First, middle and last colours as published.
    #[test]
    fn colours_are_those_of_the_authors() {
        let hex = |c: Colour| format!("{:02x}{:02x}{:02x}", c.0[0], c.0[1], c.0[2]);
        let ends = |map: ColourMap| [0, 128, 255].map(|k| hex(map.table()[k]));
        assert_eq!(ends(ColourMap::Viridis), ["440154", "21918c", "fde725"]);
        assert_eq!(ends(ColourMap::Inferno), ["000004", "bc3754", "fcffa4"]);
        assert_eq!(ends(ColourMap::Batlow), ["011959", "828231", "faccfa"]);
        assert_eq!(ColourMap::Vik.colour(f64::NAN), Colour::CLEAR);
    }
}

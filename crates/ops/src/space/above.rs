//! Heights above points of a boundary.

/// The height above each point of a boundary.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Height {
    /// The same length at all points.
    Length(f64),
    /// This share of the thickness of the element at the point: its volume divided by the area of its face.
    Share(f64),
}

impl Height {
    /// The height above a face from the volume of its element and its area.
    #[must_use]
    pub fn above(self, volume: f64, area: f64) -> f64 {
        match self {
            Self::Length(h) => h,
            Self::Share(share) => share * volume / area,
        }
    }
}

/// A point of a boundary with its height.
#[derive(Clone, Copy, Debug)]
pub struct Base {
    /// The element of its face.
    pub element: usize,
    /// Its position.
    pub at: [f64; 3],
    /// The outward unit normal.
    pub normal: [f64; 3],
    /// The height.
    pub height: f64,
}

impl Base {
    /// The place at this height above it.
    pub(crate) fn up(&self, h: f64) -> [f64; 3] {
        std::array::from_fn(|d| self.at[d] - h * self.normal[d])
    }
}

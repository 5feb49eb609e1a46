//! Places at a height above points of a boundary.
//!
//! The element of the point's face is tried first, so that the places do not depend on the parts of a mesh.

use crate::error::OpsError;
use dgsuite_mesh::{Locator, Mesh};

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
    fn up(&self, h: f64) -> [f64; 3] {
        std::array::from_fn(|d| self.at[d] - h * self.normal[d])
    }
}

/// Finds the elements at the heights above points of the boundary `name`, with reference coordinates, also
/// across periodic boundaries; without `beyond` in the elements of the faces only.
///
/// # Errors
/// [`OpsError::NothingAbove`] if there is no element at the height of a point.
pub fn places_above(
    mesh: &Mesh,
    name: &str,
    points: &[Base],
    beyond: bool,
) -> Result<Vec<(usize, [f64; 3])>, OpsError> {
    let locator = Locator::new(mesh);
    let find = |point: &Base, h: f64| {
        let (element, x) = (point.element, point.up(h));
        let own = locator.find_in(element, x).map(|r| (element, r));
        own.or_else(|| beyond.then(|| locator.find_across(x)).flatten())
    };
    let found: Vec<_> = points.iter().map(|point| find(point, point.height)).collect();
    let mut missing = points.iter().zip(&found).filter(|(_, place)| place.is_none()).map(|(point, _)| point);
    let Some(first) = missing.next() else { return Ok(found.into_iter().flatten().collect()) };
    // The largest height that all points allow, by bisection.
    let largest = |point: &Base| {
        let (mut inside, mut outside) = (0.0, point.height);
        for _ in 0..30 {
            let middle = 0.5 * (inside + outside);
            *(if find(point, middle).is_some() { &mut inside } else { &mut outside }) = middle;
        }
        inside
    };
    Err(OpsError::NothingAbove {
        boundary: name.to_owned(),
        height: first.height,
        at: first.at,
        largest: std::iter::once(first).chain(missing).map(largest).fold(f64::INFINITY, f64::min),
        beyond,
    })
}

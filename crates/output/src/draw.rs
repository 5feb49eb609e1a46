//! Drawing: lines, areas, text and images on a page, which becomes an SVG or a PNG file.
//!
//! | to draw | use |
//! |---|---|
//! | a page of lines, areas, text and images | [`Scene`] |
//! | a value as a colour | [`ColourMap`] |
//! | ticks and labels of an axis | [`axis::Ticks`] |
//! | pixels, and a PNG file | [`Image`] |
//!
//! This module depends neither on the pipeline file nor on results: it knows points of a page alone, in
//! pixels from the upper left corner.
//!
//! ```
//! use dgsuite_output::draw::{Anchor, Colour, ColourMap, Scene};
//! let mut scene = Scene::new(200.0, 100.0);
//! scene.rectangle([10.0, 10.0], [100.0, 80.0], ColourMap::Viridis.colour(0.5));
//! scene.text([120.0, 50.0], "p = 0.5", 14.0, Anchor::Start, Colour::BLACK);
//! assert!(scene.svg().contains("p = 0.5"));
//! let image = scene.image(1.0);
//! assert_eq!(image.at(50, 50), ColourMap::Viridis.colour(0.5));
//! assert_eq!(&image.png()[1..4], b"PNG");
//! ```

pub mod axis;
mod colour;
mod font;
mod image;
mod raster;
mod scene;
mod svg;

pub use colour::{Colour, ColourMap};
pub use font::width;
pub use image::Image;
pub use scene::{Anchor, Scene, Stroke};

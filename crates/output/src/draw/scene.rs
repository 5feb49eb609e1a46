//! A page of drawings, in the order in which they cover each other.

use super::{Colour, Image};

/// The pen of lines.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stroke {
    /// Colour.
    pub colour: Colour,
    /// Width in pixels.
    pub width: f64,
}

/// Which point of a text is at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// Its begin.
    Start,
    /// Its middle.
    Middle,
    /// Its end.
    End,
}

/// A page of drawings: later ones cover earlier ones.
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) items: Vec<Drawn>,
    window: Option<[[f64; 2]; 2]>,
}

/// A drawing and the rectangle (lower and upper corner) outside of which it is invisible.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Drawn {
    pub(super) item: Item,
    pub(super) window: Option<[[f64; 2]; 2]>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Item {
    Lines { lines: Vec<Vec<[f64; 2]>>, stroke: Stroke },
    Area { points: Vec<[f64; 2]>, fill: Colour },
    Circle { centre: [f64; 2], radius: f64, fill: Colour },
    Text { at: [f64; 2], text: String, size: f64, anchor: Anchor, upward: bool, colour: Colour },
    Image { at: [f64; 2], size: [f64; 2], image: Image },
}

impl Scene {
    /// A white page of a size in pixels.
    #[must_use]
    pub fn new(width: f64, height: f64) -> Self {
        let mut scene = Self { width, height, items: Vec::new(), window: None };
        scene.rectangle([0.0, 0.0], [width, height], Colour::WHITE);
        scene
    }

    /// Width and height in pixels.
    #[must_use]
    pub const fn size(&self) -> [f64; 2] {
        [self.width, self.height]
    }

    /// Cuts what is drawn from now on to a rectangle between two corners; `None` ends this.
    pub const fn cut(&mut self, window: Option<[[f64; 2]; 2]>) {
        self.window = window;
    }

    fn push(&mut self, item: Item) {
        self.items.push(Drawn { item, window: self.window });
    }

    /// Draws a line through points.
    pub fn line(&mut self, points: &[[f64; 2]], stroke: Stroke) {
        self.lines(vec![points.to_vec()], stroke);
    }

    /// Draws many lines, each through its points.
    pub fn lines(&mut self, lines: Vec<Vec<[f64; 2]>>, stroke: Stroke) {
        self.push(Item::Lines { lines, stroke });
    }

    /// Fills the area inside a closed line.
    pub fn area(&mut self, points: &[[f64; 2]], fill: Colour) {
        self.push(Item::Area { points: points.to_vec(), fill });
    }

    /// Fills a rectangle, given its upper left corner and its size.
    pub fn rectangle(&mut self, [x, y]: [f64; 2], [w, h]: [f64; 2], fill: Colour) {
        self.area(&[[x, y], [x + w, y], [x + w, y + h], [x, y + h]], fill);
    }

    /// Draws the border of a rectangle, given its upper left corner and its size.
    pub fn border(&mut self, [x, y]: [f64; 2], [w, h]: [f64; 2], stroke: Stroke) {
        self.line(&[[x, y], [x + w, y], [x + w, y + h], [x, y + h], [x, y]], stroke);
    }

    /// Fills a circle.
    pub fn circle(&mut self, centre: [f64; 2], radius: f64, fill: Colour) {
        self.push(Item::Circle { centre, radius, fill });
    }

    /// Writes a text; `at` is on its base line.
    pub fn text(&mut self, at: [f64; 2], text: &str, size: f64, anchor: Anchor, colour: Colour) {
        self.push(Item::Text { at, text: text.to_owned(), size, anchor, upward: false, colour });
    }

    /// Writes a text that is read from below upward; `at` is on its base line.
    pub fn upward(&mut self, at: [f64; 2], text: &str, size: f64, anchor: Anchor, colour: Colour) {
        self.push(Item::Text { at, text: text.to_owned(), size, anchor, upward: true, colour });
    }

    /// Draws an image with its upper left corner at a point, stretched to a size.
    pub fn picture(&mut self, at: [f64; 2], size: [f64; 2], image: Image) {
        self.push(Item::Image { at, size, image });
    }

    /// The images on the page, in the order in which they were drawn: upper left corner, size, pixels.
    pub fn images(&self) -> impl Iterator<Item = ([f64; 2], [f64; 2], &Image)> {
        self.items.iter().filter_map(|drawn| match &drawn.item {
            Item::Image { at, size, image } => Some((*at, *size, image)),
            _ => None,
        })
    }
}

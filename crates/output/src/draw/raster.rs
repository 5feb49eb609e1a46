//! A page as an image.

use tiny_skia::{
    FillRule, FilterQuality, LineCap, LineJoin, Mask, Paint, Path, PathBuilder, Pixmap, PixmapPaint,
    PremultipliedColorU8, Rect, Transform,
};

use super::scene::{Anchor, Drawn, Item, Scene};
use super::{Colour, Image, font};

/// Largest width and height of an image, in pixels.
const LARGEST: f64 = 32_767.0;

impl Scene {
    /// The page as an image of `scale` pixels for each pixel of the page.
    #[must_use]
    pub fn image(&self, scale: f64) -> Image {
        let side = |length: f64| (length * scale).round().clamp(1.0, LARGEST) as u32;
        let (w, h) = (side(self.width), side(self.height));
        let Some(mut pixels) = Pixmap::new(w, h) else { return Image::new(1, 1, Colour::WHITE) };
        let zoom = Transform::from_scale(scale as f32, scale as f32);
        let mut mask: Option<([[f64; 2]; 2], Mask)> = None;
        for Drawn { item, window } in &self.items {
            match (window, &mask) {
                (Some(window), Some((of, _))) if of == window => {}
                (Some(window), _) => mask = window_mask(w, h, *window, zoom).map(|m| (*window, m)),
                (None, _) => mask = None,
            }
            draw(&mut pixels, item, zoom, mask.as_ref().map(|(_, mask)| mask));
        }
        let mut image = Image::new(w as usize, h as usize, Colour::CLEAR);
        for (to, from) in image.pixels_mut().iter_mut().zip(pixels.pixels()) {
            let c = from.demultiply();
            *to = Colour([c.red(), c.green(), c.blue(), c.alpha()]);
        }
        image
    }
}

fn window_mask(w: u32, h: u32, [[x0, y0], [x1, y1]]: [[f64; 2]; 2], zoom: Transform) -> Option<Mask> {
    let mut mask = Mask::new(w, h)?;
    let rectangle = Rect::from_ltrb(x0 as f32, y0 as f32, x1 as f32, y1 as f32)?;
    mask.fill_path(&PathBuilder::from_rect(rectangle), FillRule::Winding, true, zoom);
    Some(mask)
}

fn draw(pixels: &mut Pixmap, item: &Item, zoom: Transform, mask: Option<&Mask>) {
    match item {
        Item::Lines { lines, stroke } => {
            let pen = tiny_skia::Stroke {
                width: stroke.width as f32,
                line_cap: LineCap::Round,
                line_join: LineJoin::Round,
                ..tiny_skia::Stroke::default()
            };
            if let Some(path) = path(lines, false) {
                pixels.stroke_path(&path, &paint(stroke.colour), &pen, zoom, mask);
            }
        }
        Item::Area { points, fill } => {
            if let Some(path) = path(std::slice::from_ref(points), true) {
                pixels.fill_path(&path, &paint(*fill), FillRule::Winding, zoom, mask);
            }
        }
        Item::Circle { centre, radius, fill } => {
            let [x, y] = centre.map(|x| x as f32);
            if let Some(path) = PathBuilder::from_circle(x, y, *radius as f32) {
                pixels.fill_path(&path, &paint(*fill), FillRule::Winding, zoom, mask);
            }
        }
        Item::Text { at, text, size, anchor, upward, colour } => {
            let Some(path) = font::outline(text, *size) else { return };
            let before = match anchor {
                Anchor::Start => 0.0,
                Anchor::Middle => 0.5,
                Anchor::End => 1.0,
            } * font::width(text, *size);
            let to = Transform::from_translate(at[0] as f32, at[1] as f32).post_concat(zoom);
            let to = if *upward { to.pre_concat(Transform::from_rotate(-90.0)) } else { to };
            let to = to.pre_translate(-before as f32, 0.0);
            pixels.fill_path(&path, &paint(*colour), FillRule::Winding, to, mask);
        }
        Item::Image { at, size, image } => {
            let Some(from) = pixmap(image) else { return };
            let [sx, sy] = [size[0] / image.width() as f64, size[1] / image.height() as f64];
            let to = zoom.pre_translate(at[0] as f32, at[1] as f32).pre_scale(sx as f32, sy as f32);
            // Pixel by pixel where the image has the pixels of the page, so that colours are exact.
            let exact = (to.sx - 1.0).abs() < 1e-6 && (to.sy - 1.0).abs() < 1e-6;
            let quality = if exact { FilterQuality::Nearest } else { FilterQuality::Bilinear };
            let how = PixmapPaint { quality, ..PixmapPaint::default() };
            pixels.draw_pixmap(0, 0, from.as_ref(), &how, to, mask);
        }
    }
}

fn paint(Colour([r, g, b, a]): Colour) -> Paint<'static> {
    let mut paint = Paint::default();
    paint.set_color_rgba8(r, g, b, a);
    paint
}

fn path(lines: &[Vec<[f64; 2]>], closed: bool) -> Option<Path> {
    let mut path = PathBuilder::new();
    for line in lines {
        for (n, [x, y]) in line.iter().enumerate() {
            let (x, y) = (*x as f32, *y as f32);
            if n == 0 {
                path.move_to(x, y);
            } else {
                path.line_to(x, y);
            }
        }
        if closed {
            path.close();
        }
    }
    path.finish()
}

fn pixmap(image: &Image) -> Option<Pixmap> {
    let mut out = Pixmap::new(image.width() as u32, image.height() as u32)?;
    for (to, from) in out.pixels_mut().iter_mut().zip(image.pixels()) {
        let [r, g, b, a] = from.0;
        let times = |c: u8| ((u32::from(c) * u32::from(a) + 127) / 255) as u8;
        *to = PremultipliedColorU8::from_rgba(times(r), times(g), times(b), a).unwrap_or(*to);
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::Stroke;

    #[test]
    fn each_drawing_is_at_its_place_and_cut_to_its_window() {
        let red = Colour::rgb(255, 0, 0);
        let mut scene = Scene::new(40.0, 30.0);
        scene.cut(Some([[0.0, 0.0], [10.0, 30.0]]));
        scene.line(&[[0.0, 15.0], [40.0, 15.0]], Stroke { colour: red, width: 4.0 });
        scene.cut(None);
        let mut dot = Image::new(2, 2, Colour::rgb(0, 0, 255));
        dot.pixels_mut()[3] = Colour::CLEAR;
        scene.picture([20.0, 10.0], [2.0, 2.0], dot);
        scene.circle([30.0, 5.0], 3.0, Colour::rgb(0, 128, 0));
        let image = scene.image(1.0);
        assert_eq!([image.at(5, 15), image.at(15, 15)], [red, Colour::WHITE]);
        assert_eq!([image.at(20, 10), image.at(21, 11)], [Colour::rgb(0, 0, 255), Colour::WHITE]);
        assert_eq!([image.at(30, 5), image.at(30, 9)], [Colour::rgb(0, 128, 0), Colour::WHITE]);
        assert_eq!(scene.image(2.0).at(10, 30), red);
    }

    #[test]
    fn texts_cover_the_width_that_they_are_said_to_have() {
        for (anchor, from) in [(Anchor::Start, 100.0), (Anchor::Middle, 65.0), (Anchor::End, 30.0)] {
            let mut scene = Scene::new(200.0, 40.0);
            let size = 20.0 * 70.0 / crate::draw::width("HHHHH", 20.0);
            scene.text([100.0, 30.0], "HHHHH", size, anchor, Colour::BLACK);
            let image = scene.image(1.0);
            let dark: Vec<usize> = (0..200).filter(|&x| (0..40).any(|y| image.at(x, y).0[0] < 128)).collect();
            let (first, last) = (dark[0] as f64, dark[dark.len() - 1] as f64);
            assert!((first - from - 2.0).abs() < 2.0 && (last - from - 68.0).abs() < 2.0, "{first} {last}");
        }
    }
}
